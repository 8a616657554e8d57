/*-------------------------------------------------------------------------
 *
 * vx_path.h
 *	  Values at paths of jsonb documents: of whole documents here, and by a
 *	  format from sub-columns where documents are shredded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_PATH_H
#define VX_PATH_H

#include "postgres.h"

#include "access/attnum.h"
#include "fmgr.h"

#include "vx_intern.h"
#include "vx_json_text.h"
#include "vx_path_use.h"
#include "st_jsonb.h"

typedef enum VxPathKind
{
	VX_PATH_TEXT,				/* ->>, #>>, JSON_VALUE(): text */
	VX_PATH_JSON,				/* ->, #>, JSON_QUERY(): jsonb */
	VX_PATH_PRINT,				/* a document, or less some places, or what -> gives, as text */
	VX_PATH_LESS,				/* -, #-, jsonb_strip_nulls(); null where these are to be asked */
	VX_PATH_REST,				/* the document, at least where LESS, or PRINT of it, is null */
	VX_PATH_PART,				/* a document that agrees with the row's in some places */
	VX_PATH_EXISTS,				/* ?: bool */
	VX_PATH_CONTAINS			/* @>: bool */
} VxPathKind;

/* "The value at these keys is this scalar": @> is a conjunction of such. */
typedef struct VxPathTest
{
	int			nkeys;
	StStr	   *keys;
	StJsonbHint *hints;			/* one for each key */
	StJsonbItem value;
} VxPathTest;

/* Of a PART: where it agrees (vx_path_use.h).  Of LESS: what goes. */
typedef struct VxPathPlace
{
	VxPlaceUse	use;
	int			nkeys;
	StStr	   *keys;
	StJsonbHint *hints;			/* one for each key */
	bool		elements;		/* of an array: its elements agree in a place; */
	int			nbelow;			/* all else there agrees as a whole */
	StStr	   *below;
} VxPathPlace;

/* An operator with a constant right side. */
typedef struct VxPathStep
{
	FmgrInfo	function;
	Oid			collation;
	Datum		arg;
	int			nkeys;			/* that it takes */
	Datum	   *behind;			/* the right side for what stands behind some of them */
} VxPathStep;

#define VX_PATH_MAX_STEPS 8

/* Of so few rows a document is made one by one, out of no vectors. */
#define VX_SPARSE_ROWS	32

/* A path expression: document OP constant, or several -> in a row. */
typedef struct VxPath
{
	uint64		id;				/* of no other path in this backend */
	AttrNumber	attno;			/* of the document */
	VxPathKind	kind;
	int			nsteps;
	VxPathStep	steps[VX_PATH_MAX_STEPS];

	int			nkeys;			/* all but CONTAINS and those with places */
	StStr	   *keys;
	StJsonbHint *hints;			/* one for each key */
	bool		lax;			/* TEXT, JSON, PRINT: of a json path, not of steps: */
	Datum	   *json_paths;		/* for what stands behind some of the keys */
	int			ntests;			/* CONTAINS */
	VxPathTest *tests;
	int			nplaces;		/* PART, LESS, REST, PRINT of LESS */
	VxPathPlace *places;
	bool		no_nulls;		/* all but PART: pairs whose value is JSON null go */
	AttrNumber	less;			/* REST: the column of the LESS, or PRINT of it */

	/* vector at hand */
	MemoryContext mcxt;			/* values that it points to */
	MemoryContext call_mcxt;	/* one call of the operators, and what it leaves behind */
	VxVector	v;
	VxVector	integers;		/* numbers at the path, as integers */
	int64	   *words;			/* ST_VECTOR_SIZE values of up to 8 bytes */
	VxCodes		dictionary;		/* of strings, for TEXT */
	uint32	   *codes;			/* as words, */
	bool		coded;			/* of all values in the vector so far */
	VxText		text;			/* of PRINT and TEXT */
} VxPath;

/* Is it made of all of a document, or of all but some places? */
static inline bool
vx_path_is_whole(const VxPath *path)
{
	return path->kind == VX_PATH_LESS || path->kind == VX_PATH_REST ||
		(path->kind == VX_PATH_PRINT && path->nkeys == 0);
}

/* Does something of the document go? */
static inline bool
vx_path_is_less(const VxPath *path)
{
	return path->kind != VX_PATH_PART && (path->nplaces > 0 || path->no_nulls);
}

/* Is it JSON_VALUE(): of scalars alone, booleans as their type prints them? */
static inline bool
vx_path_is_json_value(const VxPath *path)
{
	return path->lax && path->kind == VX_PATH_TEXT;
}

/* The operators themselves, on any document. */
extern Datum vx_path_call(VxPath *path, Datum document, bool *isnull);

/* The same for what stands behind the first nkeys keys. */
extern Datum vx_path_call_behind(VxPath *path, int nkeys, Datum value, bool *isnull);

/*
 * May the document, the len bytes of its root, have something in one of the
 * places?  So it may where a container on the way is no object.
 */
extern bool vx_path_touches(const VxPath *path, const uint8 *document, uint32 len);

/* May the container have a JSON null, at any depth? */
extern bool vx_has_json_null(const uint8 *container, uint32 len);

/* The path's own vector, no nulls, for values of that form. */
extern VxVector *vx_path_begin(VxPath *path, VxRep rep, int n);

/* The same, to be filled by vx_path_put(); then vx_path_finish() gives it. */
extern VxVector *vx_path_begin_put(VxPath *path, int n);
extern const VxVector *vx_path_finish(VxPath *path);

/*
 * Puts what stands at the path of a document, the len bytes of a jsonb's
 * root, into a row of the path's vector: as the operators do, which are
 * called where a container on the way is no object (LESS is null there).  The document need not
 * be aligned; the value is allocated in the current memory context.
 */
extern void vx_path_put(VxPath *path, VxVector *v, int row, const uint8 *document,
						uint32 len);

/* The same for rows [first, last) with a bit in rows, whose documents follow each other. */
extern void vx_path_put_run(VxPath *path, VxVector *v, const uint64 *rows, uint32 first,
							uint32 last, const uint8 *documents, const uint32 *lens);

static inline void
vx_path_set_null(VxVector *v, int row)
{
	v->has_nulls = true;
	v->valid[row >> 6] &= ~(UINT64CONST(1) << (row & 63));
}

#endif							/* VX_PATH_H */
