/*-------------------------------------------------------------------------
 *
 * vx_agg_distinct.c
 *	  DISTINCT arguments of aggregates: which values a group has seen.
 *
 * A value is the word that it would be as a group key: an integer, or the
 * number of a value of another type.  As long as they are few and close
 * together, a group keeps one bit per possible word, in a bitmap that starts
 * at some word and grows both ways.  When bitmaps would take too much memory,
 * words outside of those that there are go to one hash table of (group, word).
 * A word is looked for in the bitmap if that covers it and in the hash table
 * otherwise; bitmaps do not change their range any more when the hash table
 * has begun, so each has its one place.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_agg.h"

#define INITIAL_SLOTS	1024

typedef struct Bitmap
{
	int64		base;			/* word of the first bit, a multiple of 64 */
	uint64		nbits;
	uint64	   *bits;
} Bitmap;

typedef struct Slot
{
	uint64		word;
	uint32		group;			/* number + 1; 0: free */
} Slot;

struct VxDistinct
{
	VxAggKey	key;
	uint32		nbitmaps;		/* allocated: by group number */
	Bitmap	   *bitmaps;
	Size		bitmap_bytes;
	bool		hashing;		/* bitmaps keep their range */
	uint32		nslots;
	uint32		nused;
	Slot	   *slots;

	/* when groups are complete: their words in slots, one group after another */
	uint64	   *words;
	uint32	   *ends;			/* of each group's; NULL: not made */
};

VxDistinct *
vx_distinct_create(VxAggState *state, int input, Oid eqop)
{
	VxDistinct *distinct = palloc0(sizeof(VxDistinct));

	vx_key_init(state, &distinct->key, input, eqop);
	return distinct;
}

void
vx_distinct_reset(VxDistinct *distinct)
{
	/* The arrays are in the context that the caller has reset. */
	vx_key_reset(&distinct->key);
	distinct->nbitmaps = 0;
	distinct->bitmaps = NULL;
	distinct->bitmap_bytes = 0;
	distinct->hashing = false;
	distinct->nslots = 0;
	distinct->nused = 0;
	distinct->slots = NULL;
	distinct->words = NULL;
	distinct->ends = NULL;
}

/* ---- bitmaps ---- */

static Size
bitmap_limit(void)
{
	return Max((Size) work_mem * 1024 / 2, (Size) 1024 * 1024);
}

/* Room for the bitmaps of all groups that there are. */
static void
add_bitmaps(VxAggState *state, VxDistinct *distinct)
{
	uint32		n = Max(state->groups->ngroups, 16);
	Bitmap	   *bitmaps;

	if (distinct->nbitmaps > 0)
		n = Max(n, distinct->nbitmaps * 2);
	bitmaps = MemoryContextAllocExtended(state->mcxt, sizeof(Bitmap) * n,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (distinct->bitmaps)
	{
		memcpy(bitmaps, distinct->bitmaps, sizeof(Bitmap) * distinct->nbitmaps);
		pfree(distinct->bitmaps);
	}
	distinct->bitmaps = bitmaps;
	distinct->nbitmaps = n;
}

/*
 * Makes a bitmap cover a word, and as much again as it covered before.  False
 * if that would take too much memory.
 */
static bool
cover_word(VxAggState *state, VxDistinct *distinct, Bitmap *bitmap, int64 word)
{
	int128		lo = word;
	int128		hi = (int128) word + 1;
	uint64		nbits;
	uint64	   *bits;

	if (bitmap->nbits > 0)
	{
		lo = Min(lo, bitmap->base);
		hi = Max(hi, (int128) bitmap->base + bitmap->nbits);
		if (word < bitmap->base)
			lo = Max(lo - bitmap->nbits, (int128) PG_INT64_MIN);
		else
			hi += bitmap->nbits;
	}
	else
		hi += 1024;
	lo = lo - ((lo % 64) + 64) % 64;
	if (lo < PG_INT64_MIN || hi - lo > (int128) bitmap_limit() * 8)
		return false;
	nbits = (uint64) ((hi - lo + 63) / 64 * 64);
	if (distinct->bitmap_bytes + nbits / 8 > bitmap_limit())
		return false;

	bits = MemoryContextAllocExtended(state->mcxt, nbits / 8,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	if (bitmap->nbits > 0)
	{
		memcpy(bits + (Size) ((bitmap->base - lo) / 64), bitmap->bits, bitmap->nbits / 8);
		pfree(bitmap->bits);
	}
	distinct->bitmap_bytes += (nbits - bitmap->nbits) / 8;
	bitmap->base = (int64) lo;
	bitmap->nbits = nbits;
	bitmap->bits = bits;
	return true;
}

/* ---- the hash table ---- */

static inline uint32
hash_slot(uint64 word, uint32 group)
{
	uint64		h = (word ^ ((uint64) group << 40 | group)) * UINT64CONST(0x9E3779B97F4A7C15);

	return (uint32) ((h ^ (h >> 29)) >> 20);
}

static void
grow_slots(VxAggState *state, VxDistinct *distinct)
{
	uint32		nslots = distinct->nslots == 0 ? INITIAL_SLOTS : distinct->nslots * 2;
	Slot	   *slots = MemoryContextAllocExtended(state->mcxt, sizeof(Slot) * nslots,
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 i = 0; i < distinct->nslots; i++)
	{
		Slot	   *slot = &distinct->slots[i];
		uint32		at = hash_slot(slot->word, slot->group) & (nslots - 1);

		if (slot->group == 0)
			continue;
		while (slots[at].group != 0)
			at = (at + 1) & (nslots - 1);
		slots[at] = *slot;
	}
	if (distinct->slots)
		pfree(distinct->slots);
	distinct->slots = slots;
	distinct->nslots = nslots;
}

/* True if the word is new. */
static bool
add_to_slots(VxAggState *state, VxDistinct *distinct, uint64 word, uint32 gid)
{
	uint32		at;

	if (distinct->nused >= distinct->nslots / 2)
		grow_slots(state, distinct);
	at = hash_slot(word, gid + 1) & (distinct->nslots - 1);
	while (distinct->slots[at].group != 0)
	{
		if (distinct->slots[at].group == gid + 1 && distinct->slots[at].word == word)
			return false;
		at = (at + 1) & (distinct->nslots - 1);
	}
	distinct->slots[at].word = word;
	distinct->slots[at].group = gid + 1;
	distinct->nused++;
	return true;
}

/* The word is not covered by the group's bitmap. */
static bool
add_elsewhere(VxAggState *state, VxDistinct *distinct, uint64 word, uint32 gid)
{
	Bitmap	   *bitmap = &distinct->bitmaps[gid];

	if (!distinct->hashing && cover_word(state, distinct, bitmap, (int64) word))
	{
		uint64		at = word - (uint64) bitmap->base;

		bitmap->bits[at / 64] |= UINT64CONST(1) << (at % 64);
		return true;
	}
	distinct->hashing = true;
	return add_to_slots(state, distinct, word, gid);
}

/* Room for all groups. */
static inline void
cover_groups(VxAggState *state, VxDistinct *distinct)
{
	if (state->groups->ngroups > distinct->nbitmaps)
		add_bitmaps(state, distinct);
}

/* True if the word is new. */
static inline bool
add_word(VxAggState *state, VxDistinct *distinct, uint64 word, uint32 gid)
{
	Bitmap	   *bitmap = &distinct->bitmaps[gid];
	uint64		at = word - (uint64) bitmap->base;
	uint64		bit = UINT64CONST(1) << (at % 64);
	bool		is_new;

	if (at >= bitmap->nbits)
		return add_elsewhere(state, distinct, word, gid);
	is_new = (bitmap->bits[at / 64] & bit) == 0;
	bitmap->bits[at / 64] |= bit;
	return is_new;
}

int
vx_distinct_filter(VxAggState *state, VxAggTrans *trans, const VxVector *v,
				   uint16 *rows, uint32 *gids, int n)
{
	VxDistinct *distinct = trans->distinct;
	VxGroups   *groups = state->groups;
	char	   *states = groups->states + trans->offset;
	bool		integer = distinct->key.integer;
	int			kept = 0;

	cover_groups(state, distinct);
	for (int i = 0; i < n; i++)
	{
		uint16		row = rows[i];
		uint32		gid = gids[i];
		uint64		word;
		bool		is_new;

		if (integer)
			word = v->u.i64[row];
		else
			(void) vx_key_word(state, &distinct->key, v, row, true, &word);
		is_new = add_word(state, distinct, word, gid);
		rows[kept] = row;
		gids[kept] = gid;
		kept += is_new;
		((VxCountState *) (states + (Size) gid * groups->stride))->skipped += !is_new;
	}
	return kept;
}

/* ---- between participants of a parallel aggregation ---- */

/* Puts the words of the hash table in the order of groups; nothing is added any more. */
static void
sort_words(VxAggState *state, VxDistinct *distinct)
{
	uint32		ngroups = state->groups->ngroups;
	uint32	   *ends = MemoryContextAllocExtended(state->mcxt, sizeof(uint32) * (ngroups + 1),
												  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint64	   *words = MemoryContextAllocHuge(state->mcxt,
											   sizeof(uint64) * (distinct->nused + 1));

	/* ends[g + 1] counts, then begins, and in the end is where g's words end */
	for (uint32 i = 0; i < distinct->nslots; i++)
		if (distinct->slots[i].group != 0)
			ends[distinct->slots[i].group]++;
	for (uint32 g = 1; g < ngroups; g++)
		ends[g] += ends[g - 1];
	for (uint32 i = 0; i < distinct->nslots; i++)
		if (distinct->slots[i].group != 0)
			words[ends[distinct->slots[i].group - 1]++] = distinct->slots[i].word;
	distinct->words = words;
	distinct->ends = ends;
}

static void
write_word(VxAggState *state, VxDistinct *distinct, StringInfo out, uint64 word)
{
	if (distinct->key.integer)
		appendBinaryStringInfo(out, (char *) &word, sizeof(word));
	else
		vx_state_value_write(out, vx_intern_value(distinct->key.intern, word),
							 &state->inputs[distinct->key.input]);
}

void
vx_distinct_write(VxAggState *state, VxDistinct *distinct, StringInfo out, uint32 gid)
{
	uint64		n = 0;
	int			at;

	if (distinct->ends == NULL)
		sort_words(state, distinct);
	while (out->len % sizeof(int) != 0)
		appendStringInfoChar(out, 0);
	at = out->len;
	appendBinaryStringInfo(out, (char *) &n, sizeof(n));
	for (uint32 i = gid == 0 ? 0 : distinct->ends[gid - 1]; i < distinct->ends[gid]; i++, n++)
		write_word(state, distinct, out, distinct->words[i]);
	if (gid < distinct->nbitmaps)
	{
		const Bitmap *bitmap = &distinct->bitmaps[gid];

		for (uint64 w = 0; w < bitmap->nbits / 64; w++)
			for (uint64 left = bitmap->bits[w]; left != 0; left &= left - 1, n++)
				write_word(state, distinct, out,
						   (uint64) bitmap->base + w * 64 + __builtin_ctzll(left));
	}
	memcpy(out->data + at, &n, sizeof(n));
}

const char *
vx_distinct_merge(VxAggState *state, VxAggTrans *trans, uint32 gid, const char *p)
{
	VxDistinct *distinct = trans->distinct;
	VxCountState *s = (VxCountState *) (vx_group_record(state->groups, gid) + trans->offset);
	uint64		n;

	p = (const char *) INTALIGN(p);
	memcpy(&n, p, sizeof(n));
	p += sizeof(n);
	cover_groups(state, distinct);
	for (uint64 i = 0; i < n; i++)
	{
		uint64		word;
		Datum		value;

		if (distinct->key.integer)
		{
			memcpy(&word, p, sizeof(word));
			p += sizeof(word);
		}
		else
		{
			p = vx_state_value_read(&state->inputs[distinct->key.input], p, &value);
			word = vx_intern(distinct->key.intern, value, true);
		}
		s->skipped += !add_word(state, distinct, word, gid);
	}
	return p;
}
