/*-------------------------------------------------------------------------
 *
 * st_options_order.h
 *	  The option orderby as text and as expressions: what the files of this
 *	  room share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_OPTIONS_ORDER_H
#define ST_OPTIONS_ORDER_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/rel.h"

#include "st_options.h"

/* One item of an order list, as text. */
typedef struct StOrderItem
{
	char	   *name;			/* of a column, or NULL: */
	char	   *expr;			/* an expression, without its parentheses */
	bool		desc;
	bool		nulls_first;
} StOrderItem;

/* ---- st_options_order.c ---- */

/*
 * List of StOrderItem of a stored text, read without the server's parser;
 * *valid is false after a syntax error.
 */
extern List *st_order_parse(const char *text, bool *valid);

extern char *st_order_text(List *items);

/* Bodies of st_option_store() and st_option_value_text(). */
extern bool st_order_store(const char *text, Relation rel, StOrderBy *order,
						   int elevel);
extern char *st_order_value_text(const StOrderBy *order, Relation rel);

/* ---- st_order_expr.c ---- */

/*
 * List of StOrderItem of what a user has written, by the server's parser under
 * the search path in force; expressions are checked, and come back as the
 * option keeps them.
 */
extern List *st_order_parse_sql(Relation rel, const char *text);

/* Names of the columns of a stored expression, without a look at catalogs. */
extern List *st_order_expr_columns(const char *expr);

/* The stored expression with a column renamed; NULL if it does not use it. */
extern char *st_order_expr_rename(const char *expr, const char *oldname,
								  const char *newname);

/* What st_options_order_exprs() keeps, in the current memory context. */
extern List *st_order_exprs_make(Relation rel, const StOrderBy *order);

#endif							/* ST_OPTIONS_ORDER_H */
