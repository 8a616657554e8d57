/*-------------------------------------------------------------------------
 *
 * vx_sorter.c
 *	  Rows in memory, column by column, and their order by some of the columns.
 *
 * A column is an array of 8 bytes a row.  What is no number stands in entries
 * beside it: one for each value, or one for each code of a dictionary that a
 * row has, so that strings of few values are neither copied nor compared
 * row by row.  Numerics are integers of one scale until one comes that does
 * not fit; then all of the column become entries.
 *
 * Memory: everything is in one context, whose size is looked at after every
 * batch.  What the sort and the caller will need is counted in advance, so
 * that a sorter that has taken all rows has room to sort them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "vx_radix.h"
#include "vx_sorter.h"
#include "st_numeric.h"

#define NO_ENTRY		PG_UINT32_MAX
#define FIRST_ROWS		ST_VECTOR_SIZE
#define FIRST_ENTRIES	1024

/* Room for values is taken by so many bytes, which are no part of a context's larger blocks. */
#define VALUES_BYTES	(2 * 8192)

static VxStoreForm
first_form(const VxStore *store)
{
	if (store->type == NUMERICOID)
		return VX_STORE_DECIMAL;
	switch (vx_type_rep(store->type, store->byval))
	{
		case VX_REP_INT64:
			return VX_STORE_INT;
		case VX_REP_FLOAT4:
		case VX_REP_FLOAT8:
			return VX_STORE_FLOAT;
		default:
			return VX_STORE_ENTRY;
	}
}

static void
start_columns(VxSorter *sorter)
{
	for (int c = 0; c < sorter->ncolumns; c++)
	{
		VxStore    *store = &sorter->columns[c];

		store->form = first_form(store);
		store->scale = -1;
		store->values = NULL;
		store->nulls = NULL;
		store->entries = NULL;
		store->nentries = 0;
		store->max_entries = 0;
		store->dict = NULL;
		store->dict_entries = NULL;
		store->ncodes = 0;
	}
}

VxSorter *
vx_sorter_create(int ncolumns, VxStore *columns, int nkeys, VxSortKey *keys, Size limit,
				 Size row_bytes)
{
	VxSorter   *sorter = palloc0(sizeof(VxSorter));

	Assert(nkeys <= VX_SORT_MAX_KEYS);
	sorter->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector sort",
										 ALLOCSET_DEFAULT_SIZES);
	sorter->limit = limit;
	sorter->ncolumns = ncolumns;
	sorter->columns = columns;
	sorter->nkeys = nkeys;
	sorter->keys = keys;
	/* two arrays of items and as many words as keys; then the order and words again */
	sorter->row_bytes = row_bytes + sizeof(uint32) +
		(nkeys > 0 ? 2 * sizeof(VxSortItem) + 2 * sizeof(uint64) * nkeys : 0);
	for (int k = 0; k < nkeys; k++)
		keys[k].integral = vx_sort_is_integral(columns[keys[k].column].type, keys[k].sortop,
											   &keys[k].descending);
	start_columns(sorter);
	return sorter;
}

void
vx_sorter_reset(VxSorter *sorter)
{
	MemoryContextReset(sorter->mcxt);
	sorter->nrows = 0;
	sorter->max_rows = 0;
	sorter->values_left = 0;
	sorter->peak = 0;
	sorter->order = NULL;
	sorter->nwords = 0;
	start_columns(sorter);
}

/* ---- room ---- */

static void *
grow(VxSorter *sorter, void *array, Size bytes)
{
	return array ? repalloc_huge(array, bytes) :
		MemoryContextAllocHuge(sorter->mcxt, bytes);
}

/* For n rows more.  False: there is none. */
static bool
make_room(VxSorter *sorter, int n)
{
	uint64		wanted = (uint64) sorter->nrows + n;
	uint64		max_rows = sorter->max_rows;

	if (wanted > sorter->max_rows)
	{
		max_rows = Max(FIRST_ROWS, max_rows + max_rows / 2);
		max_rows = Max(max_rows, wanted);
		if (max_rows >= PG_UINT32_MAX)
			return false;
		for (int c = 0; c < sorter->ncolumns; c++)
		{
			VxStore    *store = &sorter->columns[c];

			store->values = grow(sorter, store->values, sizeof(int64) * max_rows);
			if (store->nulls)
				store->nulls = grow(sorter, store->nulls, sizeof(bool) * max_rows);
		}
		sorter->max_rows = (uint32) max_rows;
	}
	return MemoryContextMemAllocated(sorter->mcxt, true) + wanted * sorter->row_bytes <=
		sorter->limit;
}

/* Values stand side by side: as chunks of the context they would take half as much again. */
static char *
value_room(VxSorter *sorter, Size size)
{
	char	   *result;

	size = MAXALIGN(size);
	if (size > VALUES_BYTES / 2)
		return MemoryContextAllocHuge(sorter->mcxt, size);
	if (size > sorter->values_left)
	{
		sorter->values = MemoryContextAlloc(sorter->mcxt, VALUES_BYTES);
		sorter->values_left = VALUES_BYTES;
	}
	result = sorter->values;
	sorter->values += size;
	sorter->values_left -= size;
	return result;
}

static Datum
copy_value(VxSorter *sorter, const VxStore *store, Datum value)
{
	Size		size;
	char	   *copy;

	if (store->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	size = datumGetSize(value, false, store->typlen);
	copy = value_room(sorter, size);
	memcpy(copy, DatumGetPointer(value), size);
	return PointerGetDatum(copy);
}

static uint32
add_entry(VxSorter *sorter, VxStore *store, Datum value)
{
	if (store->nentries == store->max_entries)
	{
		store->max_entries = Max(FIRST_ENTRIES, store->max_entries * 2);
		store->entries = grow(sorter, store->entries, sizeof(Datum) * store->max_entries);
	}
	if (!store->byval)
		value = copy_value(sorter, store, value);
	store->entries[store->nentries] = value;
	return store->nentries++;
}

/* ---- rows in ---- */

/* The nulls of rows that are there, of which there were none so far. */
static void
start_nulls(VxSorter *sorter, VxStore *store)
{
	store->nulls = MemoryContextAllocHuge(sorter->mcxt, sizeof(bool) * sorter->max_rows);
	memset(store->nulls, false, sizeof(bool) * sorter->nrows);
}

static void
add_nulls(VxSorter *sorter, VxStore *store, const VxVector *v, const uint16 *rows, int n)
{
	if (v->has_nulls && store->nulls == NULL)
		start_nulls(sorter, store);
	if (store->nulls == NULL)
		return;
	for (int i = 0; i < n; i++)
		store->nulls[sorter->nrows + i] = vx_vector_isnull(v, rows[i]);
}

/* Numerics so far become entries. */
static void
leave_decimals(VxSorter *sorter, VxStore *store)
{
	char		buffer[ST_NUMERIC_MAX_BYTES];

	for (uint32 row = 0; row < sorter->nrows; row++)
	{
		if (vx_store_isnull(store, row))
			continue;
		if (row % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		st_numeric_write_int64(buffer, store->values[row], store->scale);
		store->values[row] = add_entry(sorter, store, PointerGetDatum(buffer));
	}
	store->form = VX_STORE_ENTRY;
}

static void
look_at_dictionary(VxSorter *sorter, VxStore *store, const VxVector *v, uint64 group)
{
	uint32		ncodes = vx_dict_limit(v->dict);

	if (store->dict == v->dict && store->dict_made == v->dict->made &&
		store->dict_group == group && store->ncodes >= ncodes)
		return;
	if (store->ncodes < ncodes)
	{
		store->dict_entries = grow(sorter, store->dict_entries, sizeof(uint32) * ncodes);
		store->ncodes = ncodes;
	}
	memset(store->dict_entries, 0xFF, sizeof(uint32) * store->ncodes);
	store->dict = v->dict;
	store->dict_made = v->dict->made;
	store->dict_group = group;
}

static void
add_codes(VxSorter *sorter, VxStore *store, const VxVector *v, const uint16 *rows, int n,
		  uint64 group)
{
	int64	   *to = store->values + sorter->nrows;

	look_at_dictionary(sorter, store, v, group);
	for (int i = 0; i < n; i++)
	{
		uint32		code;

		if (vx_vector_isnull(v, rows[i]))
			continue;
		code = v->u.code[rows[i]];
		if (store->dict_entries[code] == NO_ENTRY)
			store->dict_entries[code] = add_entry(sorter, store, v->dict->values[code]);
		to[i] = store->dict_entries[code];
	}
}

static void
add_entries(VxSorter *sorter, VxStore *store, const VxVector *v, const uint16 *rows, int n,
			uint64 group)
{
	char		buffer[ST_NUMERIC_MAX_BYTES];

	if (v->rep == VX_REP_CODE)
	{
		add_codes(sorter, store, v, rows, n, group);
		return;
	}
	for (int i = 0; i < n; i++)
		if (!vx_vector_isnull(v, rows[i]))
			store->values[sorter->nrows + i] =
				add_entry(sorter, store, vx_vector_datum_in(v, rows[i], buffer));
}

static void
add_numbers(VxStore *store, const VxVector *v, const uint16 *rows, int n, int64 *to)
{
	if (v->rep == VX_REP_FLOAT4)
	{
		for (int i = 0; i < n; i++)
		{
			double		x = v->u.f32[rows[i]];

			memcpy(&to[i], &x, sizeof(x));
		}
	}
	else
		for (int i = 0; i < n; i++)
			to[i] = v->u.i64[rows[i]];
}

static bool
all_null(const VxVector *v, const uint16 *rows, int n)
{
	if (!v->has_nulls)
		return false;
	for (int i = 0; i < n; i++)
		if (!vx_vector_isnull(v, rows[i]))
			return false;
	return true;
}

static void
add_column(VxSorter *sorter, VxStore *store, const VxVector *v, const uint16 *rows, int n,
		   uint64 group)
{
	/* such a vector of numerics may have any form */
	if (all_null(v, rows, n))
	{
		add_nulls(sorter, store, v, rows, n);
		return;
	}
	if (store->form == VX_STORE_DECIMAL)
	{
		if (v->rep == VX_REP_DECIMAL64 && (store->scale < 0 || store->scale == v->scale))
			store->scale = v->scale;
		else
			leave_decimals(sorter, store);
	}
	if (store->form == VX_STORE_ENTRY)
		add_entries(sorter, store, v, rows, n, group);
	else
		add_numbers(store, v, rows, n, store->values + sorter->nrows);
	add_nulls(sorter, store, v, rows, n);
}

bool
vx_sorter_add(VxSorter *sorter, const VxVector *const *vectors, const uint16 *rows, int n,
			  uint64 group)
{
	if (!make_room(sorter, n))
		return false;
	for (int c = 0; c < sorter->ncolumns; c++)
		add_column(sorter, &sorter->columns[c], vectors[c], rows, n, group);
	sorter->nrows += n;
	return true;
}

/* ---- the sort ---- */

static bool
is_in_order(const VxSorter *sorter)
{
	for (uint32 row = 1; row < sorter->nrows; row++)
	{
		int			w = 0;

		while (w < sorter->nwords && sorter->words[w][row] == sorter->words[w][row - 1])
			w++;
		if (w < sorter->nwords && sorter->words[w][row] < sorter->words[w][row - 1])
			return false;
	}
	return true;
}

/* Words come by row and go by position. */
static void
put_in_order(VxSorter *sorter, const VxSortItem *items)
{
	uint64	   *sorted = NULL;

	for (uint32 i = 0; i < sorter->nrows; i++)
		sorter->order[i] = items[i].row;
	for (int w = 0; w < sorter->nwords; w++)
	{
		uint64	   *words = sorter->words[w];

		CHECK_FOR_INTERRUPTS();
		if (w == 0)
		{
			for (uint32 i = 0; i < sorter->nrows; i++)
				words[i] = items[i].word;
			continue;
		}
		if (sorted == NULL)
			sorted = MemoryContextAllocHuge(sorter->mcxt, sizeof(uint64) * sorter->nrows);
		for (uint32 i = 0; i < sorter->nrows; i++)
			sorted[i] = words[sorter->order[i]];
		sorter->words[w] = sorted;
		sorted = words;
	}
	if (sorted)
		pfree(sorted);
}

void
vx_sorter_sort(VxSorter *sorter)
{
	Size		bytes = sizeof(VxSortItem) * Max(sorter->nrows, 1);
	VxSortItem *items;
	VxSortItem *spare;
	VxSortItem *sorted;

	sorter->order = MemoryContextAllocHuge(sorter->mcxt,
										   sizeof(uint32) * Max(sorter->nrows, 1));
	vx_sorter_pack(sorter);
	for (uint32 i = 0; i < sorter->nrows; i++)
		sorter->order[i] = i;
	CHECK_FOR_INTERRUPTS();
	if (is_in_order(sorter))
		return;
	sorted = items = MemoryContextAllocHuge(sorter->mcxt, bytes);
	spare = MemoryContextAllocHuge(sorter->mcxt, bytes);
	sorter->peak = MemoryContextMemAllocated(sorter->mcxt, true);
	for (uint32 i = 0; i < sorter->nrows; i++)
		sorted[i].row = i;
	for (int w = sorter->nwords - 1; w >= 0; w--)
	{
		VxSortItem *other = sorted == items ? spare : items;

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < sorter->nrows; i++)
			sorted[i].word = sorter->words[w][sorted[i].row];
		sorted = vx_radix_sort(sorted, other, sorter->nrows, vx_sorter_bits(sorter, w));
	}
	put_in_order(sorter, sorted);
	pfree(items);
	pfree(spare);
}

/* ---- rows out ---- */

Datum
vx_sorter_value(const VxSorter *sorter, int column, uint32 row)
{
	const VxStore *store = &sorter->columns[column];
	int64		value = store->values[row];
	double		x;

	switch (store->form)
	{
		case VX_STORE_ENTRY:
			return store->entries[value];
		case VX_STORE_DECIMAL:
			{
				void	   *buffer = palloc(ST_NUMERIC_MAX_BYTES);

				st_numeric_write_int64(buffer, value, store->scale);
				return PointerGetDatum(buffer);
			}
		case VX_STORE_FLOAT:
			memcpy(&x, &value, sizeof(x));
			return store->type == FLOAT4OID ? Float4GetDatum((float) x) : Float8GetDatum(x);
		default:
			return vx_int_datum(store->typlen, value);
	}
}

static void
gather_nulls(const VxStore *store, const uint32 *rows, int n, VxVector *v)
{
	memset(v->valid, 0, sizeof(v->valid));
	v->has_nulls = false;
	for (int i = 0; i < n; i++)
	{
		if (rows[i] == PG_UINT32_MAX || vx_store_isnull(store, rows[i]))
			v->has_nulls = true;
		else
			v->valid[i >> 6] |= UINT64CONST(1) << (i & 63);
	}
}

void
vx_sorter_gather(const VxSorter *sorter, int column, const uint32 *rows, int n, VxVector *v)
{
	const VxStore *store = &sorter->columns[column];
	bool		any_null = store->nulls != NULL;

	v->n = n;
	v->typlen = store->typlen;
	v->constant = false;
	v->dict = NULL;
	v->scale = 0;
	for (int i = 0; i < n && !any_null; i++)
		any_null = rows[i] == PG_UINT32_MAX;
	v->has_nulls = false;
	if (any_null)
		gather_nulls(store, rows, n, v);
	v->rep = vx_type_rep(store->type, store->byval);
	if (store->form == VX_STORE_DECIMAL)
	{
		v->rep = VX_REP_DECIMAL64;
		v->scale = Max(store->scale, 0);
	}
	else if (store->type == NUMERICOID)
		v->rep = VX_REP_DATUM;
	for (int i = 0; i < n; i++)
	{
		int64		value;
		double		x;

		if (v->has_nulls && vx_vector_isnull(v, i))
			continue;
		value = store->values[rows[i]];
		if (store->form == VX_STORE_ENTRY)
		{
			v->u.datum[i] = store->entries[value];
			/* values stand anywhere, and will be asked for one after the other */
			if (!store->byval)
				__builtin_prefetch(DatumGetPointer(v->u.datum[i]));
		}
		else if (v->rep == VX_REP_FLOAT4)
		{
			memcpy(&x, &value, sizeof(x));
			v->u.f32[i] = (float) x;
		}
		else
			v->u.i64[i] = value;
	}
}
