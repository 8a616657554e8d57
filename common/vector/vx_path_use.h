/*-------------------------------------------------------------------------
 *
 * vx_path_use.h
 *	  Which places of a document an expression looks at.
 *
 * A *place* is a list: an Integer, VxPlaceUse, then the keys as Strings; behind
 * another Integer, keys of the elements of an array that stands there.  An
 * expression with a known use gives the same result, errors included, on any
 * document that agrees with its own in these places: a *part* of it.
 *
 * Known are operators and functions of jsonb that look at one path, and json
 * paths: in lax mode the keys behind each $ are a place, as it does not
 * matter there whether an object on the way is missing or lacks the key.  So do
 * those behind [*], and behind each @ in a filter of elements that is the last
 * part of a path of which it only matters whether it finds something.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_PATH_USE_H
#define VX_PATH_USE_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

typedef enum VxPlaceUse
{
	VX_USE_VALUE,				/* all that stands there */
	VX_USE_KEYS,				/* strings, and keys of an object; of all else the type */
	VX_USE_TYPE,				/* its type, and keys of an object */
	VX_USE_NO_OBJECT,			/* all that stands there, unless that is an object */
	VX_USE_THERE				/* whether anything does */
} VxPlaceUse;

typedef struct VxPathUse
{
	Var		   *document;
	Node	   *argument;		/* with the document: all else may be evaluated beside it */
	List	   *places;			/* none: is it null? */
	bool		part;			/* no path column is its value: take a part */
} VxPathUse;

/*
 * Does the expression look at one jsonb column in some places alone?  Of a condition
 * null is as good as false.
 */
extern bool vx_path_use(Node *node, bool condition, VxPathUse *use);

/* Is it a lax json path of keys alone?  They are Strings, at least one. */
extern bool vx_path_lax_keys(Node *path, List **keys);

/*
 * The places that all expressions of a query look at in a column; false if one
 * of them may look at the whole.  Of a planned query.
 */
extern bool vx_path_query_use(Query *query, Index varno, AttrNumber attno,
							  List **places);

#endif							/* VX_PATH_USE_H */
