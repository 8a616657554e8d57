/*-------------------------------------------------------------------------
 *
 * cc_path.h
 *	  Values at paths of jsonb documents, taken from sub-columns where a
 *	  document is shredded.
 *
 *	 cc_path.c			vectors of what stands at a path
 *	 cc_path_contain.c	vectors of "document @> constant"
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_PATH_H
#define CC_PATH_H

#include "postgres.h"

#include "fmgr.h"

#include "cc_vector.h"
#include "st_jsonb.h"

typedef enum CcPathKind
{
	CC_PATH_TEXT,				/* ->>, #>>: text */
	CC_PATH_JSON,				/* ->, #>: jsonb */
	CC_PATH_EXISTS,				/* ?: bool */
	CC_PATH_CONTAINS			/* @>: bool */
} CcPathKind;

/* "The value at these keys is this scalar": @> is a conjunction of such. */
typedef struct CcPathTest
{
	int			nkeys;
	StStr	   *keys;
	StJsonbItem value;
} CcPathTest;

/* An operator with a constant right side. */
typedef struct CcPathStep
{
	FmgrInfo	function;
	Oid			collation;
	Datum		arg;
} CcPathStep;

#define CC_PATH_MAX_STEPS 8

/* A path expression: document OP constant, or several -> in a row. */
typedef struct CcPath
{
	uint64		id;				/* of no other path in this backend */
	AttrNumber	attno;			/* of the document */
	CcPathKind	kind;
	int			nsteps;
	CcPathStep	steps[CC_PATH_MAX_STEPS];

	int			nkeys;			/* all but CONTAINS */
	StStr	   *keys;
	int			ntests;			/* CONTAINS */
	CcPathTest *tests;

	/* vector at hand */
	MemoryContext mcxt;			/* values that it points to */
	CcVector	v;
	int64	   *words;			/* ST_VECTOR_SIZE values of up to 8 bytes */
} CcPath;

/*
 * What stands at the path in the selected rows of a vector; other rows are
 * undefined.  NULL if the documents of the row group are not shredded.  Valid
 * until the path's next vector, or the reader's next vector of that column.
 *
 * Raises what the operator raises for a document, which is nothing.
 */
extern const CcVector *cc_reader_path(StReader *r, CcPath *path, uint32 vecno,
									  const uint64 *selection);

/*
 * The numbers at a TEXT or JSON path, as numeric: the leaf's own vector, if
 * every selected row has a number there, or null.  NULL if not.
 */
extern const CcVector *cc_reader_path_numbers(StReader *r, CcPath *path, uint32 vecno,
											  const uint64 *selection);

/* The operators themselves, on any document. */
extern Datum cc_path_call(CcPath *path, Datum document, bool *isnull);

/* The path's own vector, no nulls, for values of that form. */
extern CcVector *cc_path_begin(CcPath *path, CcRep rep, int n);

static inline void
cc_path_set_null(CcVector *v, int row)
{
	v->has_nulls = true;
	v->valid[row >> 6] &= ~(UINT64CONST(1) << (row & 63));
}

#endif							/* CC_PATH_H */
