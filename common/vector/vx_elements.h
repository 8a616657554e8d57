/*-------------------------------------------------------------------------
 *
 * vx_elements.h
 *	  Elements of a value, one after another: of an array, or of a document.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_ELEMENTS_H
#define VX_ELEMENTS_H

#include "postgres.h"

#include "nodes/primnodes.h"
#include "utils/arrayaccess.h"
#include "utils/jsonb.h"

typedef enum VxElementKind
{
	VX_ELEMENTS_NONE,
	VX_ELEMENTS_ARRAY,			/* unnest() */
	VX_ELEMENTS_KEYS,			/* jsonb_object_keys(), the first column of jsonb_each() */
	VX_ELEMENTS_JSON,			/* jsonb_array_elements() */
	VX_ELEMENTS_TEXT			/* jsonb_array_elements_text() */
} VxElementKind;

typedef struct VxElements
{
	VxElementKind kind;
	const char *function;		/* for errors, as the server's */
	int16		typlen;			/* of an element */
	bool		byval;
	char		align;

	int			nitems;
	array_iter	array;
	JsonbIterator *json;
} VxElements;

/* Is it a call of a function that gives elements of its argument, in its first column? */
extern VxElementKind vx_elements_kind(const Expr *expr);

extern void vx_elements_init(VxElements *e, const FuncExpr *call);

/*
 * Elements of a value follow, e->nitems of them.  ERROR, as the function's, where it
 * is a document that has none.
 */
extern void vx_elements_begin(VxElements *e, Datum value);

/* The next one, i from 0 on, in the value's memory or the current context. */
extern Datum vx_elements_next(VxElements *e, int i, bool *isnull);

#endif							/* VX_ELEMENTS_H */
