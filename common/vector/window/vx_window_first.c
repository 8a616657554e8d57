/*-------------------------------------------------------------------------
 *
 * vx_window_first.c
 *	  Rows that cannot be among the first of their partition are dropped
 *	  before anything is sorted.
 *
 * Where a query keeps rows whose row_number() or rank() is k at most, a row
 * is of no use if k rows of its partition have a smaller first sort key.  For
 * each partition the k smallest so far are kept, as numbers of the same
 * order; a row above the greatest of them goes.  What stays is
 * sorted and numbered as ever, so this need not be exact: rows that are equal
 * stay, and partitions that differ in bytes alone may count as two.
 *
 * Memory is bounded: when there are too many partitions, or when few rows go,
 * it stops, and all rows stay from then on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "vx_batch.h"
#include "vx_intern.h"
#include "vx_window.h"

#define FIRST_SLOTS		4096
#define MAX_BYTES_SHARE	2		/* of the sorter's memory */
#define TRIAL_ROWS		(256 * ST_VECTOR_SIZE)

/* A partition: mask of null keys, words of keys, number of ranks, ranks. */
struct VxFirst
{
	MemoryContext mcxt;
	const VxSorter *sorter;
	int			npartition;
	int			limit;
	const VxSortKey *order;		/* the first key behind the partition's */
	int			scale;			/* of its numerics; -1: none seen */
	VxIntern  **interns;		/* by key; NULL: integers */
	bool		off;
	uint64		seen;
	uint64		kept;

	int			width;			/* words of a partition */
	uint64	   *records;
	uint32		npartitions;
	uint32		capacity;
	uint32	   *slots;			/* number + 1; 0: free */
	uint32		nslots;			/* a power of two */
	uint64	   *batch_words;	/* by row: mask and words */
	uint64		batch_hashes[ST_VECTOR_SIZE];
	int64		batch_ranks[ST_VECTOR_SIZE];
};

static bool
has_words(const VxStore *store)
{
	return vx_is_integer_type(store->type) || store->typlen == -1;
}

VxFirst *
vx_first_create(const VxSorter *sorter, int npartition, int limit)
{
	VxFirst    *first;
	const VxSortKey *order = &sorter->keys[npartition];

	if (sorter->nkeys <= npartition || !order->integral)
		return NULL;
	for (int k = 0; k < npartition; k++)
		if (!has_words(&sorter->columns[sorter->keys[k].column]))
			return NULL;
	first = palloc0(sizeof(VxFirst));
	first->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector first rows",
										ALLOCSET_DEFAULT_SIZES);
	first->sorter = sorter;
	first->npartition = npartition;
	first->limit = limit;
	first->order = order;
	first->width = 2 + npartition + limit;
	first->batch_words = palloc(sizeof(uint64) * (1 + npartition) * ST_VECTOR_SIZE);
	first->interns = palloc0(sizeof(VxIntern *) * (npartition + 1));
	for (int k = 0; k < npartition; k++)
	{
		const VxStore *store = &sorter->columns[sorter->keys[k].column];

		if (!vx_is_integer_type(store->type))
			first->interns[k] = vx_intern_create(first->mcxt, store->type, InvalidOid,
												 InvalidOid, true);
	}
	vx_first_reset(first);
	return first;
}

void
vx_first_reset(VxFirst *first)
{
	for (int k = 0; k < first->npartition; k++)
		if (first->interns[k])
			vx_intern_reset(first->interns[k]);
	if (first->records)
	{
		pfree(first->records);
		pfree(first->slots);
	}
	first->off = false;
	first->seen = first->kept = 0;
	first->scale = -1;
	first->npartitions = 0;
	first->capacity = FIRST_SLOTS / 2;
	first->nslots = FIRST_SLOTS;
	first->records = MemoryContextAlloc(first->mcxt,
										sizeof(uint64) * first->width * first->capacity);
	first->slots = MemoryContextAllocZero(first->mcxt, sizeof(uint32) * first->nslots);
}

bool
vx_first_uses(const VxFirst *first, int column)
{
	for (int k = 0; k <= first->npartition; k++)
		if (first->sorter->keys[k].column == column)
			return true;
	return false;
}

/* ---- a batch's words ---- */

static uint64
word_of(VxFirst *first, int k, const VxVector *v, int row)
{
	char		buffer[64];

	if (first->interns[k] == NULL)
		return (uint64) v->u.i64[row];
	return vx_intern(first->interns[k], vx_vector_datum_in(v, row, buffer), true);
}

/* Numbers of a dictionary's values, each asked for once. */
static void
fill_codes(VxFirst *first, int k, const VxVector *v, const uint16 *rows, int n)
{
	int			stride = first->npartition + 1;
	uint32		limit = vx_dict_limit(v->dict);
	uint32	   *numbers = palloc(sizeof(uint32) * limit);

	memset(numbers, 0xFF, sizeof(uint32) * limit);
	for (int i = 0; i < n; i++)
	{
		uint64	   *words = first->batch_words + (Size) i * stride;
		uint32		code;

		if (vx_vector_isnull(v, rows[i]))
		{
			words[0] |= UINT64CONST(1) << k;
			words[k + 1] = 0;
			continue;
		}
		code = v->u.code[rows[i]];
		if (numbers[code] == VX_NO_WORD)
			numbers[code] = vx_intern(first->interns[k], v->dict->values[code], true);
		words[k + 1] = numbers[code];
	}
	pfree(numbers);
}

static void
fill_key(VxFirst *first, int k, const VxVector *v, const uint16 *rows, int n)
{
	int			stride = first->npartition + 1;

	if (v->rep == VX_REP_CODE)
	{
		fill_codes(first, k, v, rows, n);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		uint64	   *words = first->batch_words + (Size) i * stride;
		bool		isnull = vx_vector_isnull(v, rows[i]);

		words[0] |= (uint64) isnull << k;
		words[k + 1] = isnull ? 0 : word_of(first, k, v, rows[i]);
	}
}

/* The first sort key as a number that is smaller for rows in front; false: no such form. */
static bool
fill_ranks(VxFirst *first, const VxVector *v, const uint16 *rows, int n)
{
	bool		descending = first->order->descending;
	int64		of_null = first->order->nulls_first ? PG_INT64_MIN : PG_INT64_MAX;

	if (vx_is_decimal(v) && first->scale < 0)
		first->scale = v->scale;
	if (v->rep != VX_REP_INT64 && v->rep != VX_REP_FLOAT8 && v->rep != VX_REP_FLOAT4 &&
		(v->rep != VX_REP_DECIMAL64 || first->scale != v->scale))
		return false;
	for (int i = 0; i < n; i++)
	{
		int			row = rows[i];
		int64		rank = of_null;

		if (!vx_vector_isnull(v, row))
		{
			rank = v->rep == VX_REP_FLOAT8 ? vx_rank_of_float8(v->u.f64[row]) :
				v->rep == VX_REP_FLOAT4 ? vx_rank_of_float8(v->u.f32[row]) : v->u.i64[row];
			if (descending)
				rank = ~rank;
		}
		first->batch_ranks[i] = rank;
	}
	return true;
}

static inline uint64
hash_words(const uint64 *words, int n)
{
	uint64		hash = 0;

	for (int i = 0; i < n; i++)
	{
		hash = (hash ^ words[i]) * UINT64CONST(0x9E3779B97F4A7C15);
		hash ^= hash >> 32;
	}
	return hash;
}

/* ---- partitions ---- */

static void
grow_slots(VxFirst *first)
{
	uint32		mask;

	first->capacity *= 2;
	first->records = repalloc_huge(first->records,
								   sizeof(uint64) * first->width * first->capacity);
	pfree(first->slots);
	first->nslots *= 2;
	mask = first->nslots - 1;
	first->slots = MemoryContextAllocExtended(first->mcxt, sizeof(uint32) * first->nslots,
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 p = 0; p < first->npartitions; p++)
	{
		const uint64 *record = first->records + (Size) p * first->width;
		uint32		slot = (uint32) hash_words(record, first->npartition + 1) & mask;

		while (first->slots[slot] != 0)
			slot = (slot + 1) & mask;
		first->slots[slot] = p + 1;
	}
}

/* The record of the partition; made if there is none. */
static uint64 *
find_partition(VxFirst *first, const uint64 *words, uint64 hash)
{
	uint32		mask = first->nslots - 1;
	uint32		slot = (uint32) hash & mask;
	Size		bytes = sizeof(uint64) * (first->npartition + 1);
	uint64	   *record;

	for (; first->slots[slot] != 0; slot = (slot + 1) & mask)
	{
		int			w = first->npartition;

		record = first->records + (Size) (first->slots[slot] - 1) * first->width;
		while (w >= 0 && record[w] == words[w])
			w--;
		if (w < 0)
			return record;
	}
	record = first->records + (Size) first->npartitions * first->width;
	first->slots[slot] = ++first->npartitions;
	memcpy(record, words, bytes);
	record[first->npartition + 1] = 0;
	return record;
}

/* Is a row of that rank wanted?  Then it counts. */
static inline bool
take_rank(VxFirst *first, uint64 *record, int64 rank)
{
	uint64	   *count = record + first->npartition + 1;
	int64	   *ranks = (int64 *) (count + 1);
	int			at;

	if (*count == (uint64) first->limit)
	{
		if (rank >= ranks[first->limit - 1])
			return rank == ranks[first->limit - 1];
	}
	else
		(*count)++;
	for (at = (int) *count - 1; at > 0 && ranks[at - 1] > rank; at--)
		ranks[at] = ranks[at - 1];
	ranks[at] = rank;
	return true;
}

/* It costs more than it brings, or memory. */
static bool
is_useless(VxFirst *first)
{
	return (first->seen >= TRIAL_ROWS && first->kept > first->seen / 2) ||
		MemoryContextMemAllocated(first->mcxt, true) > first->sorter->limit / MAX_BYTES_SHARE;
}

int
vx_first_select(VxFirst *first, const VxVector *const *vectors, uint16 *rows, int n,
				uint64 group)
{
	int			stride = first->npartition + 1;
	int			left = 0;

	if (first->off)
		return n;
	if (!fill_ranks(first, vectors[first->order->column], rows, n))
	{
		first->off = true;
		return n;
	}
	for (int i = 0; i < n; i++)
		first->batch_words[(Size) i * stride] = 0;
	for (int k = 0; k < first->npartition; k++)
		fill_key(first, k, vectors[first->sorter->keys[k].column], rows, n);
	while (first->npartitions + n > first->capacity)
		grow_slots(first);
	for (int i = 0; i < n; i++)
	{
		uint64		hash = hash_words(first->batch_words + (Size) i * stride, stride);

		first->batch_hashes[i] = hash;
		__builtin_prefetch(&first->slots[(uint32) hash & (first->nslots - 1)]);
	}
	for (int i = 0; i < n; i++)
	{
		uint64	   *record = find_partition(first, first->batch_words + (Size) i * stride,
											first->batch_hashes[i]);

		if (take_rank(first, record, first->batch_ranks[i]))
			rows[left++] = rows[i];
	}
	first->seen += n;
	first->kept += left;
	first->off = is_useless(first);
	return left;
}
