/*-------------------------------------------------------------------------
 *
 * vx_key.h
 *	  Expressions of a table's option orderby, of which its row groups may
 *	  have zones.
 *
 * In a condition that zones are asked about, each stands as a *key column*: a
 * Var with an attribute number that no column has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_KEY_H
#define VX_KEY_H

#include "postgres.h"

#include "nodes/primnodes.h"
#include "utils/rel.h"

#include "st_options.h"
#include "vx_format.h"

/* Key columns have numbers from here on, path columns lower ones. */
#define VX_FIRST_KEY 30000

typedef struct VxKeys
{
	Index		varno;			/* of Vars of the table */
	int			n;
	StOrderExpr *keys;
} VxKeys;

/* In the current memory context. */
extern VxKeys *vx_keys_create(Relation rel, Index varno);

/* A copy of the clause with key columns in it; the clause itself if none are. */
extern Expr *vx_keys_replace(const VxKeys *keys, Expr *clause);

/* The number of the key column that stands for the expression, or 0. */
extern AttrNumber vx_keys_find(const VxKeys *keys, const Expr *expr);

/* VxFormat.zone() of a column of the table or a key column. */
static inline bool
vx_keys_zone(const VxKeys *keys, StReader *reader, AttrNumber attno, int64 vecno,
			 StZone *zone)
{
	if (attno >= VX_FIRST_KEY)
		return vx_format->key_zone(reader, &keys->keys[attno - VX_FIRST_KEY],
								   vecno, zone);
	return vx_format->zone(reader, attno, vecno, zone);
}

#endif							/* VX_KEY_H */
