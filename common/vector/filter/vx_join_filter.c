/*-------------------------------------------------------------------------
 *
 * vx_join_filter.c
 *	  What the build side of a hash join tells a scan on its probe side.
 *
 * When the scan is asked for rows, the join's hash table mostly stands.  Its
 * keys are read once: their range and, if there are few, they themselves
 * against zones; a bitmap, or a Bloom filter if they are sparse, against the
 * rows of a vector; strings by a hash of their bytes, once per distinct value
 * of a dictionary.  Rows with a null key find no match either.
 *
 * A filter only ever takes rows away that the join would drop, so having
 * none is always right: before the table stands (the join may look whether
 * the probe side is empty first), when it is in several batches, of which
 * only one is in memory, or when it does not help.  A rescan of the scan
 * comes before any row for another table, and makes the filter forget.
 *
 * Memory: keys and bits live until the next table is looked at; at most
 * MAX_KEYS keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "executor/hashjoin.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/dsa.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_join_filter.h"
#include "vx_select.h"
#include "st_checksum.h"

/* Beyond these the table's keys are known by their range alone. */
#define MAX_KEYS		(1 << 20)

/* So many keys are kept, sorted, to be tested against zones. */
#define MAX_SORTED		16384

/* Bits of a bitmap of the whole range, and of a Bloom filter, per key. */
#define BITMAP_BITS		64
#define BLOOM_BITS		16
#define MIN_BITMAP_BITS	(1 << 20)
#define MIN_BLOOM_BITS	(1 << 16)

/* After so many rows a filter's use is known. */
#define TRIAL_ROWS		32768

/* A filter that takes less than one row of so many is not asked any more. */
#define MIN_SHARE		16

/*
 * A filter that lets so many times fewer rows through than the scan's own quals goes
 * before them: its column is decoded for all rows then, and the quals' for few.
 */
#define LEAD			4

struct VxJoinFilter
{
	HashJoinState *join;		/* NULL: of a join of vectors */
	VxHash	   *hash;			/* its table */
	AttrNumber	inner;			/* column of what the build side returns, or table */
	Oid			inner_type;		/* base type */
	VxKeyKind	kind;
	Expr	   *column;			/* of the scan */
	AttrNumber	attno;
	Oid			type;			/* its base type */
	TupleTableSlot *slot;
	MemoryContext mcxt;			/* what follows */

	bool		built;			/* the table that stands has been looked at */
	bool		active;
	bool		useless;		/* for rows; zones are still tested */
	bool		leads;			/* goes before the scan's quals */
	bool		may_lead;		/* no role is kept from seeing rows */
	uint64		nkeys;			/* not null, with duplicates */
	int64	   *keys;			/* sorted, each once; NULL: too many */
	uint64		capacity;
	uint64		nsorted;
	int64		min;
	int64		max;
	bool		exact;			/* bits by key - min, else a Bloom filter */
	uint64	   *bits;			/* NULL: none */
	uint64		mask;
	uint64		dict_group;		/* row group of the dictionary */
	const VxDictionary *dict;
	char	   *dict_passes;	/* by code: 0 not known, 1 yes, 2 no */

	uint64		seen;			/* rows before the scan's quals, since the last table */
	uint64		tested;			/* behind them, and before them once it leads */
	uint64		removed;
	uint64		total_keys;		/* that were read, and rows that were tested, */
	uint64		total_tested;	/* for all tables */
};

static VxJoinFilter *
create(VxKeyKind kind, Expr *column, AttrNumber inner, Oid inner_type)
{
	VxJoinFilter *filter = palloc0(sizeof(VxJoinFilter));

	filter->kind = kind;
	filter->inner = inner;
	filter->inner_type = getBaseType(inner_type);
	filter->column = column;
	filter->attno = castNode(Var, column)->varattno;
	filter->type = getBaseType(castNode(Var, column)->vartype);
	filter->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector join filter",
										 ALLOCSET_DEFAULT_SIZES);
	return filter;
}

VxJoinFilter *
vx_join_filter_create(HashJoinState *join, AttrNumber inner, Oid inner_type,
					  VxKeyKind kind, Expr *column)
{
	VxJoinFilter *filter = create(kind, column, inner, inner_type);
	PlanState  *below = outerPlanState(innerPlanState(&join->js.ps));

	filter->join = join;
	filter->slot = MakeSingleTupleTableSlot(ExecGetResultType(below), &TTSOpsMinimalTuple);
	return filter;
}

VxJoinFilter *
vx_join_filter_create_for(VxHash *hash, int key, VxKeyKind kind, Expr *column)
{
	VxJoinFilter *filter = create(kind, column, hash->keys[key].column,
								  hash->keys[key].type);

	filter->hash = hash;
	return filter;
}

void
vx_join_filter_may_lead(VxJoinFilter *filter)
{
	filter->may_lead = true;
}

Expr *
vx_join_filter_column(const VxJoinFilter *filter)
{
	return filter->column;
}

/* ---- keys ---- */

static int64
hash_of_bytes(Datum value, Oid type)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	char	   *data = VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);
	int64		hash;

	if (type == BPCHAROID)
		len = bpchartruelen(data, len);
	hash = (int64) st_checksum64(data, len, 0);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return hash;
}

static void
add_key(VxJoinFilter *filter, int64 key)
{
	if (filter->nkeys == 0)
		filter->min = filter->max = key;
	filter->min = Min(filter->min, key);
	filter->max = Max(filter->max, key);
	filter->nkeys++;
	if (filter->nkeys > MAX_KEYS)
		return;
	if (filter->nkeys > filter->capacity)
	{
		filter->capacity = Max(filter->capacity * 2, 1024);
		filter->keys = filter->keys == NULL ?
			MemoryContextAlloc(filter->mcxt, sizeof(int64) * filter->capacity) :
			repalloc(filter->keys, sizeof(int64) * filter->capacity);
	}
	filter->keys[filter->nkeys - 1] = key;
}

static void
add_tuple(VxJoinFilter *filter, HashJoinTuple tuple)
{
	bool		isnull;
	Datum		value;

	ExecStoreMinimalTuple(HJTUPLE_MINTUPLE(tuple), filter->slot, false);
	value = slot_getattr(filter->slot, filter->inner, &isnull);
	if (isnull)
		return;
	add_key(filter, filter->kind == VX_KEY_INT ?
			vx_integer_of(filter->inner_type, value) :
			hash_of_bytes(value, filter->inner_type));
}

static void
add_chain(VxJoinFilter *filter, HashJoinTuple tuple)
{
	for (; tuple != NULL; tuple = tuple->next.unshared)
		add_tuple(filter, tuple);
}

static void
add_shared_chain(VxJoinFilter *filter, dsa_area *area, dsa_pointer pointer)
{
	while (DsaPointerIsValid(pointer))
	{
		HashJoinTuple tuple = dsa_get_address(area, pointer);

		add_tuple(filter, tuple);
		pointer = tuple->next.shared;
	}
}

static void
read_table(VxJoinFilter *filter, HashJoinTable table)
{
	for (int i = 0; i < table->nbuckets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (table->parallel_state)
			add_shared_chain(filter, table->area,
							 dsa_pointer_atomic_read(&table->buckets.shared[i]));
		else
			add_chain(filter, table->buckets.unshared[i]);
	}
	for (int i = 0; table->skewEnabled && i < table->nSkewBuckets; i++)
		add_chain(filter, table->skewBucket[table->skewBucketNums[i]]->tuples);
	ExecClearTuple(filter->slot);
}

static void
read_rows(VxJoinFilter *filter, const VxHash *hash)
{
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		const VxHashRow *row = vx_hash_row(hash, i);
		Datum		value = row->values[filter->inner];

		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		if ((row->nulls & hash->key_columns) != 0)
			continue;
		add_key(filter, filter->kind == VX_KEY_INT ? (int64) value :
				hash_of_bytes(value, filter->inner_type));
	}
}

/*
 * Are the keys all integers between two, as those of a primary key?  Then these two
 * are all that a filter can know, and rows need not be read for them.
 */
static bool
has_all_between(const VxHash *hash)
{
	return hash->places != NULL && hash->unique && hash->nrows == hash->nplaces;
}

static void
take_bounds(VxJoinFilter *filter, const VxHash *hash)
{
	filter->min = hash->first_key;
	filter->max = hash->first_key + (int64) (hash->nplaces - 1);
	filter->nkeys = hash->nrows;
}

/* ---- bits ---- */

static inline void
set_bit(VxJoinFilter *filter, uint64 bit)
{
	filter->bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
}

static inline bool
has_bit(const VxJoinFilter *filter, uint64 bit)
{
	return (filter->bits[bit / 64] & (UINT64CONST(1) << (bit % 64))) != 0;
}

static void
make_bits(VxJoinFilter *filter)
{
	uint64		span = (uint64) filter->max - (uint64) filter->min;
	uint64		nbits;

	filter->exact = filter->kind == VX_KEY_INT &&
		span < Max(filter->nkeys * BITMAP_BITS, MIN_BITMAP_BITS);
	/* of a bitmap, one bit for all that lies outside */
	nbits = filter->exact ? span + 2 :
		pg_nextpower2_64(Max(filter->nkeys * BLOOM_BITS, MIN_BLOOM_BITS));
	filter->mask = nbits - 1;
	filter->bits = MemoryContextAllocZero(filter->mcxt, (nbits + 63) / 64 * sizeof(uint64));
	for (uint64 i = 0; i < filter->nkeys; i++)
	{
		uint64		h = vx_mix(filter->keys[i]);

		if (filter->exact)
			set_bit(filter, (uint64) filter->keys[i] - (uint64) filter->min);
		else
		{
			set_bit(filter, h & filter->mask);
			set_bit(filter, (h >> 32) & filter->mask);
		}
	}
}

static inline bool
may_match(const VxJoinFilter *filter, int64 key)
{
	uint64		h;

	if (key < filter->min || key > filter->max)
		return false;
	if (filter->bits == NULL)
		return true;
	if (filter->exact)
		return has_bit(filter, (uint64) key - (uint64) filter->min);
	h = vx_mix(key);
	return has_bit(filter, h & filter->mask) && has_bit(filter, (h >> 32) & filter->mask);
}

/* ---- making it ---- */

static void
sort_keys(VxJoinFilter *filter)
{
	if (filter->kind != VX_KEY_INT || filter->nkeys > MAX_SORTED)
	{
		if (filter->keys)
			pfree(filter->keys);
		filter->keys = NULL;
		return;
	}
	if (filter->nkeys == 0)
		return;
	qsort(filter->keys, filter->nkeys, sizeof(int64), vx_compare_int64);
	filter->nsorted = 1;
	for (uint64 i = 1; i < filter->nkeys; i++)
		if (filter->keys[i] != filter->keys[i - 1])
			filter->keys[filter->nsorted++] = filter->keys[i];
}

/*
 * The table stands if there is one: a join that builds it takes no rows from
 * its probe side meanwhile.  A shared one can be read once the join has
 * attached to its first batch.
 */
static bool
stands(const VxJoinFilter *filter)
{
	HashJoinTable table;

	if (filter->hash)
		return filter->hash->finished;
	table = filter->join->hj_HashTable;
	return table != NULL &&
		!(table->parallel_state && table->nbatch == 1 && table->curbatch != 0);
}

static bool
is_ready(VxJoinFilter *filter)
{
	MemoryContext old;

	if (filter->built)
		return filter->active;
	if (!stands(filter))
		return false;
	filter->built = true;
	/* many tables, for few rows each: not worth reading */
	if ((filter->join && filter->join->hj_HashTable->nbatch != 1) ||
		filter->total_keys > Max(4 * filter->total_tested, 4 * MAX_SORTED))
		return false;

	MemoryContextReset(filter->mcxt);
	filter->nkeys = filter->capacity = filter->nsorted = 0;
	filter->keys = NULL;
	filter->bits = NULL;
	filter->dict = NULL;
	filter->dict_passes = NULL;
	filter->useless = filter->leads = false;
	filter->seen = filter->tested = filter->removed = 0;
	old = MemoryContextSwitchTo(filter->mcxt);
	if (filter->hash && filter->hash->nrows > MAX_SORTED && has_all_between(filter->hash))
		take_bounds(filter, filter->hash);
	else if (filter->hash)
		read_rows(filter, filter->hash);
	else
		read_table(filter, filter->join->hj_HashTable);
	MemoryContextSwitchTo(old);
	filter->total_keys += filter->nkeys;
	if (filter->nkeys <= MAX_KEYS && filter->keys)
		make_bits(filter);
	sort_keys(filter);
	filter->active = filter->kind == VX_KEY_INT || filter->nkeys <= MAX_KEYS;
	return filter->active;
}

void
vx_join_filters_rescan(List *filters)
{
	ListCell   *lc;

	foreach(lc, filters)
	{
		VxJoinFilter *filter = lfirst(lc);

		filter->built = false;
		filter->active = false;
	}
}

/* ---- zones ---- */

/* Some key lies between the bounds. */
static bool
has_key_between(const VxJoinFilter *filter, int64 lo, int64 hi)
{
	uint64		left = 0;
	uint64		right = filter->nsorted;

	if (hi < filter->min || lo > filter->max)
		return false;
	if (filter->keys == NULL)
		return true;
	while (left < right)
	{
		uint64		middle = (left + right) / 2;

		if (filter->keys[middle] < lo)
			left = middle + 1;
		else
			right = middle;
	}
	return left < filter->nsorted && filter->keys[left] <= hi;
}

static bool
zone_may_pass(VxJoinFilter *filter, StReader *reader, int64 vecno)
{
	StZone		zone;

	if (!is_ready(filter))
		return true;
	if (filter->nkeys == 0)
		return false;
	if (!vx_format->zone(reader, filter->attno, vecno, &zone))
		return true;
	if (zone.nnulls == zone.nrows)
		return false;
	if (filter->kind != VX_KEY_INT || !zone.has_minmax)
		return true;
	return has_key_between(filter, vx_integer_of(filter->type, zone.min),
						   vx_integer_of(filter->type, zone.max));
}

bool
vx_join_filters_may_pass(List *filters, StReader *reader, int64 vecno)
{
	ListCell   *lc;

	foreach(lc, filters)
		if (!zone_may_pass(lfirst(lc), reader, vecno))
			return false;
	return true;
}

/* ---- rows ---- */

/* Once per distinct value of the row group. */
static bool
code_may_match(VxJoinFilter *filter, const VxVector *v, uint32 code)
{
	if (filter->dict_passes[code] == 0)
		filter->dict_passes[code] =
			may_match(filter, hash_of_bytes(v->dict->values[code], filter->type)) ? 1 : 2;
	return filter->dict_passes[code] == 1;
}

static void
use_dictionary(VxJoinFilter *filter, const VxVector *v, uint64 group)
{
	if (filter->dict_passes && filter->dict == v->dict && filter->dict_group == group)
		return;
	if (filter->dict_passes)
		pfree(filter->dict_passes);
	filter->dict_passes = MemoryContextAllocZero(filter->mcxt, vx_dict_limit(v->dict) + 1);
	filter->dict = v->dict;
	filter->dict_group = group;
}

static inline bool
row_may_match(VxJoinFilter *filter, const VxVector *v, int row)
{
	if (vx_vector_isnull(v, row))
		return false;
	switch (v->rep)
	{
		case VX_REP_INT64:
			return may_match(filter, v->u.i64[row]);
		case VX_REP_CODE:
			return code_may_match(filter, v, v->u.code[row]);
		default:
			return may_match(filter, hash_of_bytes(v->u.datum[row], filter->type));
	}
}

/* The vector's values are in a form that the filter takes. */
static bool
is_testable(VxJoinFilter *filter, const VxVector *v, uint64 group)
{
	if (filter->kind == VX_KEY_INT)
		return v->rep == VX_REP_INT64;
	if (v->rep == VX_REP_CODE)
		use_dictionary(filter, v, group);
	return v->rep == VX_REP_CODE || v->rep == VX_REP_DATUM;
}

static void
filter_rows(VxJoinFilter *filter, const VxVector *v, uint64 *selection)
{
	for (int w = 0; w < (v->n + 63) / 64; w++)
	{
		uint64		passed = 0;

		for (uint64 left = selection[w]; left != 0; left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);

			passed |= (uint64) row_may_match(filter, v, w * 64 + bit) << bit;
		}
		selection[w] = passed;
	}
}

static void
filter_integers(const VxJoinFilter *filter, const VxVector *v, uint64 *selection)
{
	if (v->has_nulls)
		for (int w = 0; w < (v->n + 63) / 64; w++)
			selection[w] &= v->valid[w];
	if (filter->bits == NULL)
		vx_select_int64(v->u.i64, v->n, filter->min, filter->max, false, selection);
	else
		vx_select_bits(v->u.i64, v->n, filter->min, filter->mask, filter->bits, selection);
}

static uint64
filter_batch(VxJoinFilter *filter, VxBatch *batch, uint64 group)
{
	int			before = vx_selection_count(batch->selection, batch->nrows);
	int			after;
	const VxVector *v;

	if (before == 0)
		return 0;
	v = vx_batch_vector(batch, filter->attno);
	if (!is_testable(filter, v, group))
		return 0;
	if (filter->kind == VX_KEY_INT && (filter->exact || filter->bits == NULL))
		filter_integers(filter, v, batch->selection);
	else
		filter_rows(filter, v, batch->selection);
	after = vx_selection_count(batch->selection, batch->nrows);
	filter->tested += before;
	filter->total_tested += before;
	filter->removed += before - after;
	return before - after;
}

/* What is known of the filter once it has tested rows behind the scan's quals. */
static void
rank(VxJoinFilter *filter)
{
	uint64		passed = filter->tested - filter->removed;

	if (filter->tested >= TRIAL_ROWS)
		filter->useless = filter->removed < filter->tested / MIN_SHARE;
	/* it passes passed / tested, the quals tested / seen; one more, for too few rows */
	if (filter->may_lead && filter->seen >= TRIAL_ROWS)
		filter->leads = (double) (passed + 1) * filter->seen * LEAD <
			(double) filter->tested * filter->tested;
}

uint64
vx_join_filters_first(List *filters, VxBatch *batch, uint64 group)
{
	uint64		removed = 0;
	ListCell   *lc;

	foreach(lc, filters)
	{
		VxJoinFilter *filter = lfirst(lc);

		if (is_ready(filter) && filter->leads)
			removed += filter_batch(filter, batch, group);
	}
	return removed;
}

uint64
vx_join_filters_rest(List *filters, VxBatch *batch, uint64 group, int nseen)
{
	uint64		removed = 0;
	ListCell   *lc;

	foreach(lc, filters)
	{
		VxJoinFilter *filter = lfirst(lc);

		if (!is_ready(filter) || filter->leads || filter->useless)
			continue;
		removed += filter_batch(filter, batch, group);
		filter->seen += nseen;
		rank(filter);
	}
	return removed;
}
