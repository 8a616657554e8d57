/*-------------------------------------------------------------------------
 *
 * zm_quals.c
 *	  Turns scan keys into ranges of positions and filters, at execution
 *	  (I12): values are those of this execution, compared by the operator
 *	  family's function for the types at hand.
 *
 * Equalities on the first columns, one array among them, then bounds of the
 * next column make the ranges; all other keys are filters.  A bound of one
 * side alone leaves out nulls by a bound on the other side.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "zm_scan_int.h"

void
zm_quals_init(ZmQuals *quals, const ZmSpace *space, int nkeys)
{
	memset(quals, 0, sizeof(*quals));
	quals->space = space;
	quals->nkeys = nkeys;
	quals->parent = CurrentMemoryContext;
}

void
zm_quals_end(ZmQuals *quals)
{
	if (quals->context != NULL)
		MemoryContextDelete(quals->context);
	if (quals->filters != NULL)
		pfree(quals->filters);
	if (quals->cross_types != NULL)
		pfree(quals->cross_types);
	if (quals->cross_cmps != NULL)
		pfree(quals->cross_cmps);
}

/* Memory of this execution's arrays. */
static MemoryContext
array_context(ZmQuals *quals)
{
	if (quals->context == NULL)
		quals->context = AllocSetContextCreate(quals->parent,
											   "zonemap scan keys",
											   ALLOCSET_SMALL_SIZES);
	return quals->context;
}

/* The type of a scan key's value, or of the elements of its array. */
static Oid
key_type(const ZmSpace *space, ScanKey key)
{
	return OidIsValid(key->sk_subtype) ? key->sk_subtype :
		space->index->rd_opcintype[key->sk_attno - 1];
}

/* The function that compares the column with the key's type, or NULL. */
static FmgrInfo *
key_comparison(ZmQuals *quals, ScanKey key, int number)
{
	const ZmSpace *space = quals->space;
	int			i = key->sk_attno - 1;
	Oid			type = key_type(space, key);
	Oid			function;

	if (type == space->index->rd_opcintype[i])
		return space->columns[i].cmp;
	if (quals->cross_types == NULL)
	{
		quals->cross_types = MemoryContextAllocZero(quals->parent,
													quals->nkeys * sizeof(Oid));
		quals->cross_cmps = MemoryContextAllocZero(quals->parent,
												   quals->nkeys *
												   sizeof(FmgrInfo));
	}
	if (quals->cross_types[number] == type)
		return &quals->cross_cmps[number];
	function = get_opfamily_proc(space->index->rd_opfamily[i],
								 space->index->rd_opcintype[i], type,
								 BTORDER_PROC);
	if (!OidIsValid(function))
		return NULL;
	fmgr_info_cxt(function, &quals->cross_cmps[number], quals->parent);
	quals->cross_types[number] = type;
	return &quals->cross_cmps[number];
}

/* Lets the kernel for integers have a bound that is one. */
static void
set_fast(const ZmSpace *space, ZmTarget *target, Oid type)
{
	target->fast = false;
	if (space->fast == ZM_FAST_NONE || target->ncolumns != 1 ||
		target->parts[0].null)
		return;
	if (type == space->index->rd_opcintype[0])
		target->number = zm_fast_datum(space->fast, target->parts[0].value);
	else if (type == INT2OID)
		target->number = DatumGetInt16(target->parts[0].value);
	else if (type == INT4OID)
		target->number = DatumGetInt32(target->parts[0].value);
	else if (type == INT8OID)
		target->number = DatumGetInt64(target->parts[0].value);
	else
		return;
	target->fast = true;
}

/* ---- arrays ---- */

typedef struct ElementOrder
{
	FmgrInfo	cmp;
	Oid			collation;
	bool		descending;
} ElementOrder;

static int
compare_elements(const void *a, const void *b, void *arg)
{
	ElementOrder *order = arg;
	int			result = DatumGetInt32(FunctionCall2Coll(&order->cmp,
														 order->collation,
														 *(const Datum *) a,
														 *(const Datum *) b));

	if (order->descending)
		return result < 0 ? 1 : result > 0 ? -1 : 0;
	return result;
}

/* The elements of an array key that are not null. */
static Datum *
array_elements(ZmQuals *quals, ScanKey key, int *count)
{
	MemoryContext old = MemoryContextSwitchTo(array_context(quals));
	ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);
	Datum	   *elements;
	bool	   *nulls;
	int16		length;
	bool		byval;
	char		align;
	int			n = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, byval, align,
					  &elements, &nulls, count);
	for (int i = 0; i < *count; i++)
		if (!nulls[i])
			elements[n++] = elements[i];
	*count = n;
	MemoryContextSwitchTo(old);
	return elements;
}

/* Makes one range per distinct element of an array key, if it can. */
static bool
use_array(ZmQuals *quals, ScanKey key)
{
	const ZmSpace *space = quals->space;
	int			i = key->sk_attno - 1;
	Oid			type = key_type(space, key);
	ElementOrder order;
	Oid			function;
	int			count;
	int			n = 0;

	function = get_opfamily_proc(space->index->rd_opfamily[i], type, type,
								 BTORDER_PROC);
	if (!OidIsValid(function))
		return false;
	quals->elements = array_elements(quals, key, &count);
	fmgr_info_cxt(function, &order.cmp, array_context(quals));
	order.collation = space->columns[i].collation;
	order.descending = space->columns[i].descending;
	qsort_arg(quals->elements, count, sizeof(Datum), compare_elements, &order);
	for (int j = 0; j < count; j++)
		if (n == 0 || compare_elements(&quals->elements[n - 1],
									   &quals->elements[j], &order) != 0)
			quals->elements[n++] = quals->elements[j];
	if (n == 0)
		quals->impossible = true;
	quals->nranges = n;
	quals->array_column = i;
	quals->array_type = type;
	return true;
}

/* ---- ranges ---- */

static void
set_part(ZmTarget *target, int column, Datum value, bool null, FmgrInfo *cmp)
{
	target->parts[column].value = value;
	target->parts[column].null = null;
	target->parts[column].cmp = cmp;
	target->ncolumns = column + 1;
}

/* An equality on a column: both bounds.  False if no key is one. */
static bool
use_equality(ZmQuals *quals, ScanKey keys, int nkeys, bool *used, int column,
			 Oid *type)
{
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		FmgrInfo   *cmp = NULL;
		Datum		value = 0;
		bool		null = (key->sk_flags & SK_SEARCHNULL) != 0;

		if (key->sk_attno != column + 1 || used[i] ||
			(key->sk_flags & SK_SEARCHNOTNULL))
			continue;
		if (!null)
		{
			if (key->sk_strategy != BTEqualStrategyNumber)
				continue;
			cmp = key_comparison(quals, key, i);
			if (cmp == NULL)
				continue;
			value = key->sk_argument;
			if (key->sk_flags & SK_SEARCHARRAY)
			{
				if (quals->array_column >= 0 || !use_array(quals, key))
					continue;
				value = quals->nranges > 0 ? quals->elements[0] : (Datum) 0;
			}
		}
		used[i] = true;
		set_part(&quals->range.lower, column, value, null, cmp);
		set_part(&quals->range.upper, column, value, null, cmp);
		*type = key_type(quals->space, key);
		return true;
	}
	return false;
}

/* Bounds of the column after those with equalities. */
static void
use_bounds(ZmQuals *quals, ScanKey keys, int nkeys, bool *used, int column,
		   Oid *lower_type, Oid *upper_type)
{
	const ZmColumn *order = &quals->space->columns[column];
	ZmRange    *range = &quals->range;
	bool		lower = false;
	bool		upper = false;
	bool		not_null = false;

	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		StrategyNumber strategy = key->sk_strategy;
		bool		greater = strategy >= BTGreaterEqualStrategyNumber;
		bool		equal = strategy == BTGreaterEqualStrategyNumber ||
			strategy == BTLessEqualStrategyNumber;
		FmgrInfo   *cmp;

		if (key->sk_attno != column + 1 || used[i])
			continue;
		if (key->sk_flags & SK_SEARCHNOTNULL)
		{
			not_null = used[i] = true;
			continue;
		}
		if ((key->sk_flags & (SK_SEARCHARRAY | SK_SEARCHNULL)) ||
			strategy == BTEqualStrategyNumber ||
			(greater != order->descending ? lower : upper))
			continue;
		cmp = key_comparison(quals, key, i);
		if (cmp == NULL)
			continue;
		used[i] = true;
		if (greater != order->descending)
		{
			lower = true;
			set_part(&range->lower, column, key->sk_argument, false, cmp);
			range->lower.tie = equal ? ZM_TIE_BEFORE : ZM_TIE_AFTER;
			*lower_type = key_type(quals->space, key);
		}
		else
		{
			upper = true;
			set_part(&range->upper, column, key->sk_argument, false, cmp);
			range->upper.tie = equal ? ZM_TIE_AFTER : ZM_TIE_BEFORE;
			*upper_type = key_type(quals->space, key);
		}
	}
	if (!lower && !upper && !not_null)
		return;
	if (!lower && order->nulls_first)
	{
		set_part(&range->lower, column, 0, true, NULL);
		range->lower.tie = ZM_TIE_AFTER;
	}
	if (!upper && !order->nulls_first)
	{
		set_part(&range->upper, column, 0, true, NULL);
		range->upper.tie = ZM_TIE_BEFORE;
	}
}

/* Prepares for an execution: the first range, and the filters. */
void
zm_quals_prepare(ZmQuals *quals, ScanKey keys, int nkeys)
{
	const ZmSpace *space = quals->space;
	ZmRange    *range = &quals->range;
	Oid			lower_type = InvalidOid;
	Oid			upper_type = InvalidOid;
	bool		used[INDEX_MAX_KEYS * 4];
	bool	   *used_keys = nkeys <= lengthof(used) ? used : palloc(nkeys);
	int			column = 0;

	if (quals->context != NULL)
		MemoryContextReset(quals->context);
	memset(used_keys, 0, nkeys);
	quals->impossible = false;
	quals->nfilters = 0;
	quals->nranges = 1;
	quals->current = 0;
	quals->array_column = -1;
	range->lower.ncolumns = range->upper.ncolumns = 0;
	range->lower.tie = ZM_TIE_BEFORE;
	range->upper.tie = ZM_TIE_AFTER;

	/* Operators are strict. */
	for (int i = 0; i < nkeys; i++)
		if ((keys[i].sk_flags & SK_ISNULL) &&
			!(keys[i].sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)))
			quals->impossible = true;
	if (quals->impossible)
		return;

	while (column < space->ncolumns &&
		   use_equality(quals, keys, nkeys, used_keys, column, &lower_type))
		column++;
	upper_type = lower_type;
	if (column < space->ncolumns)
		use_bounds(quals, keys, nkeys, used_keys, column, &lower_type,
				   &upper_type);
	set_fast(space, &range->lower, lower_type);
	set_fast(space, &range->upper, upper_type);

	for (int i = 0; i < nkeys; i++)
		if (!used_keys[i])
		{
			ZmFilter   *filter;

			if (quals->filters == NULL)
				quals->filters = MemoryContextAlloc(quals->parent, nkeys *
													sizeof(ZmFilter));
			filter = &quals->filters[quals->nfilters++];
			filter->key = &keys[i];
			if (keys[i].sk_flags & SK_SEARCHARRAY)
				filter->elements = array_elements(quals, &keys[i],
												  &filter->nelements);
		}
	if (used_keys != used)
		pfree(used_keys);
}

/* Goes to another element of the array. */
void
zm_quals_range(ZmQuals *quals, int number)
{
	ZmRange    *range = &quals->range;

	quals->current = number;
	if (quals->array_column < 0)
		return;
	range->lower.parts[quals->array_column].value = quals->elements[number];
	range->upper.parts[quals->array_column].value = quals->elements[number];
	if (quals->array_column == 0)
	{
		set_fast(quals->space, &range->lower, quals->array_type);
		set_fast(quals->space, &range->upper, quals->array_type);
	}
}

/* ---- rows ---- */

bool
zm_range_contains(const ZmSpace *space, const ZmRange *range,
				  const Datum *values, const bool *nulls)
{
	int			result = zm_compare_key(space, &range->lower, values, nulls);

	if (result > 0 || (result == 0 && range->lower.tie == ZM_TIE_AFTER))
		return false;
	result = zm_compare_key(space, &range->upper, values, nulls);
	return result > 0 || (result == 0 && range->upper.tie == ZM_TIE_AFTER);
}

static bool
filter_passes(const ZmFilter *filter, Datum value, bool null)
{
	ScanKey		key = filter->key;

	if (key->sk_flags & SK_SEARCHNULL)
		return null;
	if (null)
		return false;
	if (key->sk_flags & SK_SEARCHNOTNULL)
		return true;
	if (!(key->sk_flags & SK_SEARCHARRAY))
		return DatumGetBool(FunctionCall2Coll(&key->sk_func,
											  key->sk_collation, value,
											  key->sk_argument));
	for (int i = 0; i < filter->nelements; i++)
		if (DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation,
										   value, filter->elements[i])))
			return true;
	return false;
}

bool
zm_filter(const ZmQuals *quals, const Datum *values, const bool *nulls)
{
	for (int i = 0; i < quals->nfilters; i++)
	{
		const ZmFilter *filter = &quals->filters[i];
		int			column = filter->key->sk_attno - 1;

		if (!filter_passes(filter, values[column], nulls[column]))
			return false;
	}
	return true;
}
