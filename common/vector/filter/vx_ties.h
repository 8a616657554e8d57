/*-------------------------------------------------------------------------
 *
 * vx_ties.h
 *	  Under ORDER BY string LIMIT n: strings with the rank of the worst of the
 *	  n best (vx_ranks.h), told apart by all their bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_TIES_H
#define VX_TIES_H

#include "postgres.h"

#include "st_qual.h"

typedef struct VxTies VxTies;

/* In the current memory context, and there later. */
extern VxTies *vx_ties_create(bool descending);
extern void vx_ties_rescan(VxTies *ties);

/*
 * A string whose rank is that of the worst of the n best: false if at least n
 * strings of this rank that have passed come before it.  Strings that equal
 * the worst of these pass.
 */
extern bool vx_ties_pass(VxTies *ties, int64 rank, uint64 n, StStr string);

#endif							/* VX_TIES_H */
