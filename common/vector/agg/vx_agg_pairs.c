/*-------------------------------------------------------------------------
 *
 * vx_agg_pairs.c
 *	  A set of (group, word): what groups have seen, for DISTINCT.
 *
 * The slot is what the highest bits of the hash say, so that a table that is
 * made larger is filled from one end to the other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "vx_agg_pairs.h"
#include "vx_memory.h"

#define INITIAL_SLOTS	1024

/* So small a table is made four times as large at once. */
#define SMALL_SLOTS		(256 * 1024)

void
vx_pairs_reset(VxPairs *pairs)
{
	/* The slots are in the context that the caller has reset. */
	pairs->has_zero = false;
	pairs->nslots = 0;
	pairs->nused = 0;
	pairs->slots = NULL;
}

static inline uint64
next_slot(const VxPairs *pairs, uint64 at)
{
	return (at + 1) & (pairs->nslots - 1);
}

/* Puts a pair that is not there. */
static void
put(VxPairs *pairs, const uint64 *pair)
{
	int			width = vx_pairs_width(pairs);
	uint64		at = vx_pairs_hash(pair[0], width > 1 ? pair[1] : 0) >> pairs->shift;

	while (pairs->slots[at * width + width - 1] != 0)
		at = next_slot(pairs, at);
	memcpy(&pairs->slots[at * width], pair, sizeof(uint64) * width);
}

static void
grow(VxPairs *pairs, MemoryContext mcxt)
{
	int			width = vx_pairs_width(pairs);
	uint64		nold = pairs->nslots;
	uint64	   *old = pairs->slots;

	pairs->nslots = nold == 0 ? INITIAL_SLOTS : nold * (nold < SMALL_SLOTS ? 4 : 2);
	pairs->shift = 64 - pg_leftmost_one_pos64(pairs->nslots);
	pairs->slots = vx_table_alloc(mcxt, sizeof(uint64) * width * pairs->nslots, true);
	for (uint64 i = 0; i < nold; i++)
		if (old[i * width + width - 1] != 0)
			put(pairs, &old[i * width]);
	if (old)
		pfree(old);
}

void
vx_pairs_reserve(VxPairs *pairs, MemoryContext mcxt, uint64 n)
{
	while (pairs->nused + n > pairs->nslots / 8 * 5)
		grow(pairs, mcxt);
}

static bool
add_zero(VxPairs *pairs)
{
	bool		is_new = !pairs->has_zero;

	pairs->has_zero = true;
	return is_new;
}

bool
vx_pairs_add(VxPairs *pairs, uint64 word, uint32 gid)
{
	uint64		first = vx_pairs_first(pairs, word, gid);
	uint64		second = (uint64) gid + 1;
	uint64		at = vx_pairs_hash_of(pairs, word, gid) >> pairs->shift;
	uint64	   *slots = pairs->slots;

	if (pairs->form == VX_PAIRS_WIDE)
	{
		while (slots[at * 2 + 1] != 0)
		{
			if (slots[at * 2] == first && slots[at * 2 + 1] == second)
				return false;
			at = next_slot(pairs, at);
		}
		slots[at * 2] = first;
		slots[at * 2 + 1] = second;
	}
	else
	{
		if (first == 0)
			return add_zero(pairs);
		while (slots[at] != 0)
		{
			if (slots[at] == first)
				return false;
			at = next_slot(pairs, at);
		}
		slots[at] = first;
	}
	pairs->nused++;
	return true;
}

bool
vx_pairs_get(const VxPairs *pairs, uint64 at, uint64 *word, uint32 *gid)
{
	const uint64 *slot;

	*word = 0;
	*gid = 0;
	if (at == pairs->nslots)
		return pairs->has_zero;
	slot = &pairs->slots[at * vx_pairs_width(pairs)];
	*word = slot[0];
	switch (pairs->form)
	{
		case VX_PAIRS_WORD:
			return *word != 0;
		case VX_PAIRS_PACKED:
			*gid = (uint32) (slot[0] >> 32) - 1;
			*word = (uint32) slot[0];
			return slot[0] != 0;
		case VX_PAIRS_WIDE:
			*gid = (uint32) slot[1] - 1;
			return slot[1] != 0;
	}
	pg_unreachable();
}
