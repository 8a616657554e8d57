/*-------------------------------------------------------------------------
 *
 * vx_path.h
 *	  Values at paths of jsonb documents, taken from sub-columns where a
 *	  document is shredded.
 *
 *	 vx_path.c			vectors of what stands at a path
 *	 vx_path_contain.c	vectors of "document @> constant"
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_PATH_H
#define VX_PATH_H

#include "postgres.h"

#include "access/attnum.h"
#include "fmgr.h"

#include "vx_vector.h"
#include "st_jsonb.h"

typedef enum VxPathKind
{
	VX_PATH_TEXT,				/* ->>, #>>: text */
	VX_PATH_JSON,				/* ->, #>: jsonb */
	VX_PATH_EXISTS,				/* ?: bool */
	VX_PATH_CONTAINS			/* @>: bool */
} VxPathKind;

/* "The value at these keys is this scalar": @> is a conjunction of such. */
typedef struct VxPathTest
{
	int			nkeys;
	StStr	   *keys;
	StJsonbItem value;
} VxPathTest;

/* An operator with a constant right side. */
typedef struct VxPathStep
{
	FmgrInfo	function;
	Oid			collation;
	Datum		arg;
} VxPathStep;

#define VX_PATH_MAX_STEPS 8

/* A path expression: document OP constant, or several -> in a row. */
typedef struct VxPath
{
	uint64		id;				/* of no other path in this backend */
	AttrNumber	attno;			/* of the document */
	VxPathKind	kind;
	int			nsteps;
	VxPathStep	steps[VX_PATH_MAX_STEPS];

	int			nkeys;			/* all but CONTAINS */
	StStr	   *keys;
	int			ntests;			/* CONTAINS */
	VxPathTest *tests;

	/* vector at hand */
	MemoryContext mcxt;			/* values that it points to */
	VxVector	v;
	int64	   *words;			/* ST_VECTOR_SIZE values of up to 8 bytes */
} VxPath;

/* The operators themselves, on any document. */
extern Datum vx_path_call(VxPath *path, Datum document, bool *isnull);

/* The path's own vector, no nulls, for values of that form. */
extern VxVector *vx_path_begin(VxPath *path, VxRep rep, int n);

static inline void
vx_path_set_null(VxVector *v, int row)
{
	v->has_nulls = true;
	v->valid[row >> 6] &= ~(UINT64CONST(1) << (row & 63));
}

#endif							/* VX_PATH_H */
