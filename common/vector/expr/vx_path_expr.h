/*-------------------------------------------------------------------------
 *
 * vx_path_expr.h
 *	  Path expressions over jsonb columns as columns of a batch.
 *
 * A node makes one set.  vx_path_set_replace() copies an expression and puts
 * a Var in place of each part of it like doc ->> 'key', whose attribute
 * number is behind the table's own: a *path column*.  Its vectors are taken
 * from sub-columns where the row group has them, and made by the operator
 * where it has not.
 *
 * Understood are ->, ->>, #>, #>>, ?, ?|, ?& and subscripts with constants,
 * -> in a row, and @> (<@) with an object of scalars and objects.  What else
 * looks at some places alone is evaluated by the server, over the *part* of
 * the document that agrees with it there.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_PATH_EXPR_H
#define VX_PATH_EXPR_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "nodes/primnodes.h"

#include "vx_batch.h"
#include "vx_path.h"

typedef struct VxPathSet
{
	MemoryContext mcxt;
	TupleDesc	desc;			/* of the table */
	Index		varno;			/* of Vars of the table */
	int			npaths;
	VxPath	  **paths;			/* by path column */
	Node	  **exprs;			/* what they stand for */
} VxPathSet;

/* A set in the current memory context. */
extern VxPathSet *vx_path_set_create(TupleDesc desc, Index varno);

/*
 * A copy of an expression (or list) with path columns in it; the expression
 * itself if there are none.  An expression that refers to a whole row or to a
 * system column, or has a subplan, is left alone.
 */
extern Node *vx_path_set_replace(VxPathSet *set, Node *node);

/* The same of a condition, whose null is as good as false. */
extern Node *vx_path_set_replace_condition(VxPathSet *set, Node *node);

/*
 * A copy of an expression (or list) with parts of the documents of a column in
 * place of these: they agree in the places (vx_path_use.h).
 */
extern Node *vx_path_set_swap(VxPathSet *set, Node *node, AttrNumber attno, List *places);

/* For EXPLAIN: a string for each part of a document that is looked at. */
extern List *vx_path_set_describe(const VxPathSet *set);

/* The row type of the table with path columns behind; as of now. */
extern TupleDesc vx_path_set_desc(const VxPathSet *set);

/* Makes a batch have the set's path columns, those of later replacements too. */
extern void vx_path_set_attach(VxPathSet *set, VxBatch *batch);

/*
 * Is it a cast of a column of documents' values to numeric, or of their text to
 * an integer?  If the column is a path column, and selected rows have numbers
 * there, and integers for these, the result of that type needs no text:
 * vx_path_column_numbers() gives it, or NULL.
 */
extern bool vx_is_path_number(Node *node);
extern const VxVector *vx_path_column_numbers(VxBatch *batch, AttrNumber attno, Oid type,
											  const uint64 *rows);

/*
 * vx_path_find.c: what a node is.  All of it is allocated in the current context.
 *
 * A path expression; its VxPath is zeros before.
 */
extern bool vx_path_find(const VxPathSet *set, Node *node, VxPath *path);

/* document - key, - keys in an array, #- keys, jsonb_strip_nulls(document), several in a row. */
extern bool vx_path_find_less(const VxPathSet *set, Node *node, VxPath *path);

/* function(document, constant), by operator or call. */
extern bool vx_path_take_call(Node *node, Oid *funcid, Node **document, Const **arg,
							  Oid *collation);

/* The attribute number of a jsonb column of the table, or 0. */
extern AttrNumber vx_path_document_column(const VxPathSet *set, Node *node);

/* The keys of a path given as an array; false if one is null. */
extern bool vx_path_array_keys(Datum array, VxPath *path);

#endif							/* VX_PATH_EXPR_H */
