/*-------------------------------------------------------------------------
 *
 * vx_keyed.h
 *	  Correlated subqueries that are answered out of one grouped pass.
 *
 *	 vx_keyed_query.c	the query: which subqueries, and what is grouped
 *	 vx_keyed_safe.c	what may be computed for rows that nobody asks for
 *	 vx_keyed_asked.c	the keys that can be asked for
 *	 vx_keyed_path.c	paths and plans
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_KEYED_H
#define VX_KEYED_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"

/* What custom_private of a plan has: list of integers, list of VxKeyKind. */
typedef enum VxKeyedField
{
	VX_KEYED_NRESULTS,			/* columns of the result; keys stand behind */
	VX_KEYED_CALLS,				/* answered by the plan before rows are grouped */
	VX_KEYED_ASKED				/* number of the key that the third plan gives; -1: none */
} VxKeyedField;

/* A correlated aggregate, taken apart. */
typedef struct VxKeyedQuery
{
	List	   *clauses;		/* OpExprs: value from outside = expression of rows */
	Query	   *grouped;		/* the query without them; not grouped yet */
} VxKeyedQuery;

/*
 * Puts correlated aggregates over tables of ours into subqueries of their own,
 * in the whole query, which is changed in place.  Means the same.
 */
extern void vx_keyed_prepare(Query *parse);

/*
 * Takes an aggregate without GROUP BY apart.  False if it is not correlated by
 * equalities alone, or cannot be computed ahead.
 */
extern bool vx_keyed_split(const Query *query, VxKeyedQuery *result);

/* The query as a relation. */
extern RangeTblEntry *vx_keyed_entry(Query *query, const char *name);

/* It reads a table of ours.  outers: queries around it, the nearest first. */
extern bool vx_keyed_has_table(const Query *query, List *outers);

/* All that must hold, one by one, behind result; quals: a condition, or a list of them. */
extern List *vx_keyed_conjuncts(Node *quals, List *result);

/*
 * The query, expression or list may be computed for rows that the server would not
 * have looked at: nothing is volatile, and no function can fail for a row.
 */
extern bool vx_keyed_is_safe(void *node);

/*
 * A query of the values that one of the keys can have, as the query around, which is
 * being planned, says; sets *key to its number.  NULL: that does not leave any out.
 */
extern Query *vx_keyed_asked(const Query *around, const VxKeyedQuery *keyed, int *key);

/* For set_rel_pathlist_hook: rel is a subquery. */
extern void vx_keyed_set_paths(PlannerInfo *root, RelOptInfo *rel, Index rti,
							   RangeTblEntry *rte);

/* From vx_init(). */
extern void vx_keyed_path_init(void);

#endif							/* VX_KEYED_H */
