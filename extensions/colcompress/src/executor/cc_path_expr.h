/*-------------------------------------------------------------------------
 *
 * cc_path_expr.h
 *	  Path expressions over jsonb columns as columns of a batch.
 *
 * A node makes one set.  cc_path_set_replace() copies an expression and puts
 * a Var in place of each part of it like doc ->> 'key', whose attribute
 * number is behind the table's own: a *path column*.  Its vectors are taken
 * from sub-columns where the row group has them, and made by the operator
 * where it has not.
 *
 * Understood are ->, ->>, #>, #>>, ?, ?|, ?& and subscripts with constants,
 * -> in a row, and @> (<@) with an object of scalars and objects.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_PATH_EXPR_H
#define CC_PATH_EXPR_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/primnodes.h"

#include "cc_batch.h"
#include "cc_path.h"

typedef struct CcPathSet
{
	MemoryContext mcxt;
	TupleDesc	desc;			/* of the table */
	Index		varno;			/* of Vars of the table */
	int			npaths;
	CcPath	  **paths;			/* by path column */
	Node	  **exprs;			/* what they stand for */
} CcPathSet;

/* Setting: off, and documents are always built. */
extern bool cc_enable_path_columns;

/* A set in the current memory context. */
extern CcPathSet *cc_path_set_create(TupleDesc desc, Index varno);

/*
 * A copy of an expression (or list) with path columns in it; the expression
 * itself if there are none.  An expression that refers to a whole row or to a
 * system column, or has a subplan, is left alone.
 */
extern Node *cc_path_set_replace(CcPathSet *set, Node *node);

/* The row type of the table with path columns behind; as of now. */
extern TupleDesc cc_path_set_desc(const CcPathSet *set);

/* Makes a batch have the set's path columns, those of later replacements too. */
extern void cc_path_set_attach(CcPathSet *set, CcBatch *batch);

/*
 * Is it a cast of a column of documents' values to numeric?  If the column is
 * a path column, and selected rows have numbers there, the result needs no
 * text: cc_path_column_numbers() gives it, or NULL.
 */
extern bool cc_is_path_number(Node *node);
extern const CcVector *cc_path_column_numbers(CcBatch *batch, AttrNumber attno,
											  const uint64 *rows);

/* The vector of a path column for the selected rows; from cc_batch_decode(). */
extern const CcVector *cc_path_column_vector(CcBatch *batch, CcPath *path);

#endif							/* CC_PATH_EXPR_H */
