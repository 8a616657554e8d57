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
 * (vx_agg_pairs.c) has begun, so each has its one place.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_agg.h"
#include "vx_agg_pairs.h"

/* Rows that are looked up together: what they need fits into the caches. */
#define BLOCK_ROWS		128

typedef struct Bitmap
{
	int64		base;			/* word of the first bit, a multiple of 64 */
	uint64		nbits;
	uint64	   *bits;
} Bitmap;

struct VxDistinct
{
	VxAggKey	key;
	uint32		nbitmaps;		/* allocated: by group number */
	Bitmap	   *bitmaps;
	Size		bitmap_bytes;
	VxPairs		pairs;			/* words elsewhere, of all groups; once it has slots,
								 * bitmaps keep their range */

	/* when groups are complete: their words in pairs, one group after another */
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

/* Numbers of values, and integers of up to four bytes, are known by their lower half. */
static VxPairsForm
pairs_form(const VxAggState *state, const VxAggKey *key)
{
	if (state->groups->nkeys == 0)
		return VX_PAIRS_WORD;
	if (key->integer && state->inputs[key->input].typlen > sizeof(uint32))
		return VX_PAIRS_WIDE;
	return VX_PAIRS_PACKED;
}

void
vx_distinct_reset(VxAggState *state, VxDistinct *distinct)
{
	/* The arrays are in the context that the caller has reset. */
	vx_key_reset(&distinct->key);
	distinct->nbitmaps = 0;
	distinct->bitmaps = NULL;
	distinct->bitmap_bytes = 0;
	distinct->pairs.form = pairs_form(state, &distinct->key);
	vx_pairs_reset(&distinct->pairs);
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

/* ---- words ---- */

/* The word is not covered by the group's bitmap. */
static bool
add_elsewhere(VxAggState *state, VxDistinct *distinct, uint64 word, uint32 gid)
{
	Bitmap	   *bitmap = &distinct->bitmaps[gid];

	if (distinct->pairs.slots == NULL && cover_word(state, distinct, bitmap, (int64) word))
	{
		uint64		at = word - (uint64) bitmap->base;

		bitmap->bits[at / 64] |= UINT64CONST(1) << (at % 64);
		return true;
	}
	if (distinct->pairs.slots == NULL)
		vx_pairs_reserve(&distinct->pairs, state->mcxt, BLOCK_ROWS);
	return vx_pairs_add(&distinct->pairs, word, gid);
}

/* True if the word is new. */
static inline bool
add_word(VxAggState *state, VxDistinct *distinct, uint64 word, uint32 gid)
{
	Bitmap	   *bitmap = &distinct->bitmaps[gid];
	uint64		at = word - (uint64) bitmap->base;
	uint64		bit = UINT64CONST(1) << (at % 64);

	if (at >= bitmap->nbits)
		return add_elsewhere(state, distinct, word, gid);
	if ((bitmap->bits[at / 64] & bit) != 0)
		return false;
	bitmap->bits[at / 64] |= bit;
	return true;
}

/*
 * Makes room for up to BLOCK_ROWS words and for all groups, and asks for what
 * add_word() will look at.  (gcc takes a function that does nothing but ask for
 * one without effect, and leaves its calls out.)
 */
static void
prepare_words(VxAggState *state, VxDistinct *distinct, const uint64 *words,
			  const uint32 *gids, int n)
{
	const VxPairs *pairs = &distinct->pairs;

	if (state->groups->ngroups > distinct->nbitmaps)
		add_bitmaps(state, distinct);
	if (distinct->pairs.slots != NULL)
		vx_pairs_reserve(&distinct->pairs, state->mcxt, n);
	else if (state->groups->nkeys == 0)
		return;
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&distinct->bitmaps[gids[i]]);
	for (int i = 0; i < n; i++)
	{
		const Bitmap *bitmap = &distinct->bitmaps[gids[i]];
		uint64		at = words[i] - (uint64) bitmap->base;

		if (at < bitmap->nbits)
			__builtin_prefetch(&bitmap->bits[at / 64], 1);
		else if (pairs->slots != NULL)
			__builtin_prefetch(vx_pairs_slot(pairs, words[i], gids[i]), 1);
	}
}

int
vx_distinct_filter(VxAggState *state, VxAggTrans *trans, const VxVector *v,
				   uint16 *rows, uint32 *gids, int n)
{
	VxDistinct *distinct = trans->distinct;
	VxGroups   *groups = state->groups;
	char	   *states = groups->states + trans->offset;
	uint64		words[ST_VECTOR_SIZE];
	int			kept = 0;

	vx_key_words(state, &distinct->key, v, rows, n, true, words, 1);
	for (int i = 0; i < n; i++)
	{
		uint16		row = rows[i];
		uint32		gid = gids[i];
		bool		is_new;

		if (i % BLOCK_ROWS == 0)
			prepare_words(state, distinct, words + i, gids + i, Min(n - i, BLOCK_ROWS));
		is_new = add_word(state, distinct, words[i], gid);
		rows[kept] = row;
		gids[kept] = gid;
		kept += is_new;
		if (groups->nkeys > 0)
			((VxCountState *) (states + (Size) gid * groups->stride))->skipped += !is_new;
	}
	if (groups->nkeys == 0)
		((VxCountState *) states)->skipped += n - kept;
	return kept;
}

/* ---- between participants of a parallel aggregation ---- */

/* A word of which the hash table may have kept the lower half. */
static uint64
whole_word(const VxAggState *state, const VxDistinct *distinct, uint64 word)
{
	const VxAggKey *key = &distinct->key;

	if (distinct->pairs.form != VX_PAIRS_PACKED || !key->integer ||
		state->inputs[key->input].type == OIDOID)
		return word;
	return (uint64) (int64) (int32) word;
}

/* Puts the words of the hash table in the order of groups; nothing is added any more. */
static void
sort_words(VxAggState *state, VxDistinct *distinct)
{
	const VxPairs *pairs = &distinct->pairs;
	uint32		ngroups = state->groups->ngroups;
	uint32	   *ends = MemoryContextAllocExtended(state->mcxt, sizeof(uint32) * (ngroups + 1),
												  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint64	   *words = MemoryContextAllocHuge(state->mcxt,
											   sizeof(uint64) * (pairs->nused + 1));
	uint64		word;
	uint32		gid;

	/* ends[g + 1] counts, then begins, and in the end is where g's words end */
	for (uint64 i = 0; i <= pairs->nslots; i++)
		if (vx_pairs_get(pairs, i, &word, &gid))
			ends[gid + 1]++;
	for (uint32 g = 1; g < ngroups; g++)
		ends[g] += ends[g - 1];
	for (uint64 i = 0; i <= pairs->nslots; i++)
		if (vx_pairs_get(pairs, i, &word, &gid))
			words[ends[gid]++] = whole_word(state, distinct, word);
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
		prepare_words(state, distinct, &word, &gid, 1);
		s->skipped += !add_word(state, distinct, word, gid);
	}
	return p;
}
