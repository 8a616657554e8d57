/*-------------------------------------------------------------------------
 *
 * vx_sort_words.c
 *	  Sort keys as words whose unsigned order is the keys'.
 *
 * First each key becomes an int64 a row: what is ordered as a number is it
 * already; of anything else the entries are sorted (vx_sort_entries.c) and their
 * ranks taken, with one rank for those that compare equal.  So all that follows knows
 * only integers.
 *
 * Then the keys, less their least value, are packed side by side into as few
 * words as their bits need, the first key on top, a bit for null in front of
 * those that have any.  Few bits are few passes of the sort; and whether two
 * rows agree in their first keys is a comparison of words under a mask.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "vx_sorter.h"
#include "st_compat.h"

bool
vx_sort_is_integral(Oid type, Oid sortop, bool *descending)
{
	Oid			opfamily;
	Oid			opcintype;

	return vx_is_number_type(type) &&
		st_is_ordering_op(sortop, &opfamily, &opcintype, descending) &&
		opcintype == type && opfamily < FirstNormalObjectId;
}

/* ---- ranks of entries ---- */

/* By-value types without an order of numbers: each row is an entry. */
static Datum *
values_as_entries(VxSorter *sorter, int column)
{
	Datum	   *entries = MemoryContextAllocHuge(sorter->mcxt,
												 sizeof(Datum) * Max(sorter->nrows, 1));

	for (uint32 row = 0; row < sorter->nrows; row++)
		entries[row] = vx_store_isnull(&sorter->columns[column], row) ? (Datum) 0 :
			vx_sorter_value(sorter, column, row);
	return entries;
}

/* Nulls have no value: entries of them are left out. */
static int64 *
ranks_of_rows(VxSorter *sorter, const VxSortKey *key)
{
	VxStore    *store = &sorter->columns[key->column];
	int64	   *result = MemoryContextAllocHuge(sorter->mcxt,
												sizeof(int64) * Max(sorter->nrows, 1));
	MemoryContext mcxt = AllocSetContextCreate(sorter->mcxt, "vector sort entries",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	bool		own = store->form == VX_STORE_ENTRY;
	Datum	   *entries = own ? store->entries : values_as_entries(sorter, key->column);
	uint32		n = 0;
	uint32	   *ranks;

	if (own)
		n = store->nentries;
	else
		for (uint32 row = 0; row < sorter->nrows; row++)
			if (!vx_store_isnull(store, row))
				entries[n++] = entries[row];
	ranks = vx_sorter_rank_entries(sorter, key, entries, n);
	n = 0;
	for (uint32 row = 0; row < sorter->nrows; row++)
		if (!vx_store_isnull(store, row))
			result[row] = ranks[own ? store->values[row] : n++];
	pfree(ranks);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	if (!own)
		pfree(entries);
	return result;
}

const int64 *
vx_sorter_ranks(VxSorter *sorter, int column)
{
	VxStore    *store = &sorter->columns[column];
	int64	   *ranks;

	if (store->form == VX_STORE_INT || store->form == VX_STORE_DECIMAL)
		return store->values;
	if (store->form != VX_STORE_FLOAT)
		return NULL;
	ranks = MemoryContextAllocHuge(sorter->mcxt, sizeof(int64) * Max(sorter->nrows, 1));
	for (uint32 row = 0; row < sorter->nrows; row++)
	{
		double		x;

		memcpy(&x, &store->values[row], sizeof(x));
		ranks[row] = vx_rank_of_float8(x);
	}
	return ranks;
}

static const int64 *
key_values(VxSorter *sorter, const VxSortKey *key, bool *own)
{
	const int64 *values = key->integral ? vx_sorter_ranks(sorter, key->column) : NULL;

	if (values == NULL)
		values = ranks_of_rows(sorter, key);
	*own = values != sorter->columns[key->column].values;
	return values;
}

/* ---- packing ---- */

/* The least and the greatest value; false: there is none. */
static bool
range_of(const VxStore *store, const int64 *values, uint32 n, int64 *low, int64 *high)
{
	bool		any = false;

	for (uint32 row = 0; row < n; row++)
	{
		if (vx_store_isnull(store, row))
			continue;
		if (!any || values[row] < *low)
			*low = values[row];
		if (!any || values[row] > *high)
			*high = values[row];
		any = true;
	}
	return any;
}

static int
bits_of(uint64 range)
{
	return range == 0 ? 0 : pg_leftmost_one_pos64(range) + 1;
}

typedef struct Packing
{
	int			word;
	int			left;			/* bits that it has left */
} Packing;

/*
 * Room for a field of some bits: its shift, in the word at hand or the next
 * one.  Words are filled from the top; vx_sorter_bits() knows.
 */
static int
place(VxSorter *sorter, Packing *packing, int key, int bits)
{
	uint64		mask = bits == 64 ? ~UINT64CONST(0) : (UINT64CONST(1) << bits) - 1;

	if (packing->word < 0 || packing->left < bits)
	{
		packing->word++;
		packing->left = 64;
		sorter->nwords = packing->word + 1;
		sorter->words[packing->word] =
			MemoryContextAllocHuge(sorter->mcxt, sizeof(uint64) * Max(sorter->nrows, 1));
		memset(sorter->words[packing->word], 0, sizeof(uint64) * sorter->nrows);
	}
	packing->left -= bits;
	for (int k = key + 1; k <= sorter->nkeys; k++)
		sorter->masks[k][packing->word] |= mask << packing->left;
	return packing->left;
}

static void
pack_nulls(VxSorter *sorter, Packing *packing, int k)
{
	const VxSortKey *key = &sorter->keys[k];
	const VxStore *store = &sorter->columns[key->column];
	int			shift;

	if (store->nulls == NULL)
		return;
	shift = place(sorter, packing, k, 1);
	for (uint32 row = 0; row < sorter->nrows; row++)
		sorter->words[packing->word][row] |=
			(uint64) (store->nulls[row] != key->nulls_first) << shift;
}

static void
pack_values(VxSorter *sorter, Packing *packing, int k, const int64 *values)
{
	const VxSortKey *key = &sorter->keys[k];
	const VxStore *store = &sorter->columns[key->column];
	int64		low = 0;
	int64		high = 0;
	bool		descending = key->integral && store->form != VX_STORE_ENTRY && key->descending;
	uint64	   *words;
	int			bits;
	int			shift;

	if (!range_of(store, values, sorter->nrows, &low, &high) || low == high)
		return;
	bits = bits_of((uint64) high - (uint64) low);
	shift = place(sorter, packing, k, bits);
	words = sorter->words[packing->word];
	for (uint32 row = 0; row < sorter->nrows; row++)
	{
		uint64		value = descending ? (uint64) high - (uint64) values[row] :
			(uint64) values[row] - (uint64) low;

		if (!vx_store_isnull(store, row))
			words[row] |= value << shift;
	}
}

void
vx_sorter_pack(VxSorter *sorter)
{
	Packing		packing = {-1, 0};

	sorter->nwords = 0;
	memset(sorter->masks, 0, sizeof(sorter->masks));
	for (int k = 0; k < sorter->nkeys; k++)
	{
		bool		own;
		const int64 *values = key_values(sorter, &sorter->keys[k], &own);

		CHECK_FOR_INTERRUPTS();
		pack_nulls(sorter, &packing, k);
		pack_values(sorter, &packing, k, values);
		if (own)
			pfree(unconstify(int64 *, values));
	}

	/* fields stand at the top of a word: the sort looks at its lowest bits */
	for (int w = 0; w < sorter->nwords; w++)
	{
		uint64		used = sorter->masks[sorter->nkeys][w];
		int			shift = __builtin_ctzll(used);

		for (uint32 row = 0; shift > 0 && row < sorter->nrows; row++)
			sorter->words[w][row] >>= shift;
		for (int k = 0; k <= sorter->nkeys; k++)
			sorter->masks[k][w] >>= shift;
	}
}

int
vx_sorter_bits(const VxSorter *sorter, int word)
{
	return bits_of(sorter->masks[sorter->nkeys][word]);
}
