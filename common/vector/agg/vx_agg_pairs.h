/*-------------------------------------------------------------------------
 *
 * vx_agg_pairs.h
 *	  A set of (group, word): what groups have seen, for DISTINCT.
 *
 * Open addressing.  A slot is one integer where word and group fit into it:
 * the group has 32 bits, so the word has 32, or 64 if there is only one group.
 * Else it is two.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_PAIRS_H
#define VX_AGG_PAIRS_H

#include "postgres.h"

typedef enum VxPairsForm
{
	VX_PAIRS_WORD,				/* the word: all groups are number 0 */
	VX_PAIRS_PACKED,			/* group + 1, and the lower half of the word */
	VX_PAIRS_WIDE				/* the word, and group + 1 */
} VxPairsForm;

typedef struct VxPairs
{
	VxPairsForm form;
	bool		has_zero;		/* VX_PAIRS_WORD: 0 stands for a free slot */
	int			shift;			/* of a hash, whose highest bits are the slot */
	uint64		nslots;			/* a power of two, or 0 */
	uint64		nused;
	uint64	   *slots;			/* times the form's width; last integer 0: free */
} VxPairs;

extern void vx_pairs_reset(VxPairs *pairs);

/* Room for n more. */
extern void vx_pairs_reserve(VxPairs *pairs, MemoryContext mcxt, uint64 n);

static inline int
vx_pairs_width(const VxPairs *pairs)
{
	return pairs->form == VX_PAIRS_WIDE ? 2 : 1;
}

/* What stands in the slot for a pair; second: VX_PAIRS_WIDE only. */
static inline uint64
vx_pairs_first(const VxPairs *pairs, uint64 word, uint32 gid)
{
	return pairs->form == VX_PAIRS_PACKED ?
		((uint64) gid + 1) << 32 | (uint32) word : word;
}

static inline uint64
vx_pairs_hash(uint64 first, uint64 second)
{
	uint64		h = (first ^ second << 44) * UINT64CONST(0x9E3779B97F4A7C15);

	return (h ^ h >> 32) * UINT64CONST(0xD6E8FEB86659FD93);
}

static inline uint64
vx_pairs_hash_of(const VxPairs *pairs, uint64 word, uint32 gid)
{
	return vx_pairs_hash(vx_pairs_first(pairs, word, gid),
						 pairs->form == VX_PAIRS_WIDE ? (uint64) gid + 1 : 0);
}

/* What vx_pairs_add() looks at first, to be prefetched.  There are slots. */
static inline const uint64 *
vx_pairs_slot(const VxPairs *pairs, uint64 word, uint32 gid)
{
	return pairs->slots +
		(vx_pairs_hash_of(pairs, word, gid) >> pairs->shift) * vx_pairs_width(pairs);
}

/* True if the pair is new.  There is room for it. */
extern bool vx_pairs_add(VxPairs *pairs, uint64 word, uint32 gid);

/*
 * The pair in a slot; false: it is free.  Behind the last one stands the word 0 of
 * VX_PAIRS_WORD.
 */
extern bool vx_pairs_get(const VxPairs *pairs, uint64 at, uint64 *word, uint32 *gid);

#endif							/* VX_AGG_PAIRS_H */
