/*-------------------------------------------------------------------------
 *
 * st_compact_order.c
 *	  Compaction: bringing the row groups into the order of the option
 *	  orderby, a bounded number of them at a time.
 *
 * A table is in order when the rows of every group are sorted and no two
 * groups overlap.  Groups whose rows are not sorted are sorted first, some at
 * once, which makes groups that do not overlap one another.  Then those that
 * overlap, beginning at the low end: the groups of least first rows that hang
 * together are sorted into groups that do not overlap.  What lies below all
 * others after that is in its final place; the rest has become narrower.
 *
 * Whether the rows of a group are sorted stands in its descriptor.  If it
 * does not, because the group was loaded, the rows are compared until two of
 * them are in the wrong order; if there are none, that is noted there.  Where
 * the order has expressions such a group is sorted in any case.
 *
 * The bounds of sorted groups are their first and last rows, deleted or not.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "st_compact_int.h"
#include "st_options.h"

/* What the order compares of a row. */
typedef struct OrderRow
{
	Datum		values[ST_MAX_ORDERBY];
	bool		isnull[ST_MAX_ORDERBY];
} OrderRow;

typedef struct Ordering
{
	StOrder    *order;
	uint64		hash;
	int			nkeys;
	SortSupport keys;
	StRowReader rows;
	TupleTableSlot *slot;
} Ordering;

/* A sorted group. */
typedef struct OrderedGroup
{
	StCandidate *candidate;
	OrderRow	low;
	OrderRow	high;
} OrderedGroup;

static void
ordering_begin(Ordering *o, Relation rel, StOrder *order)
{
	bool	   *needed = palloc0(Max(RelationGetNumberOfAttributes(rel), 1) *
								 sizeof(bool));

	o->order = order;
	o->hash = st_order_hash(order);
	o->nkeys = st_order_sort_support(order, &o->keys);
	st_order_columns(order, needed);
	st_row_reader_init(&o->rows, rel, needed);
	o->slot = table_slot_create(rel, NULL);
}

static void
ordering_end(Ordering *o)
{
	ExecDropSingleTupleTableSlot(o->slot);
	st_row_reader_end(&o->rows);
	st_order_end(o->order);
}

/* A row of a group, copied. */
static void
read_row(Ordering *o, const StGroup *group, uint32 row, OrderRow *out)
{
	st_row_reader_fetch(&o->rows, group, row, o->slot);
	st_order_values(o->order, o->slot, out->values, out->isnull);
	for (int i = 0; i < o->nkeys; i++)
	{
		int16		len;
		bool		byval;

		st_order_key_type(o->order, i, &len, &byval);
		if (!out->isnull[i])
			out->values[i] = datumCopy(out->values[i], byval, len);
	}
	ExecClearTuple(o->slot);
}

static int
compare_rows(const Ordering *o, const OrderRow *a, const OrderRow *b)
{
	for (int i = 0; i < o->nkeys; i++)
	{
		int			result = ApplySortComparator(a->values[i], a->isnull[i],
												 b->values[i], b->isnull[i],
												 &o->keys[i]);

		if (result != 0)
			return result;
	}
	return 0;
}

/* Are the rows of the group sorted? */
static bool
is_sorted(Ordering *o, StCatalog *catalog, const StGroup *group, bool note)
{
	MemoryContext mcxt;
	MemoryContext oldcxt;
	OrderRow	rows[2];
	bool		sorted = true;

	if (group->order_hash == o->hash)
		return true;
	/* a sort gives it the zones of expressions */
	if (st_order_computes(o->order))
		return false;

	/* Two contexts' worth of a row: the previous one must stay. */
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "rows in order",
								 ALLOCSET_SMALL_SIZES);
	oldcxt = MemoryContextSwitchTo(mcxt);
	read_row(o, group, 0, &rows[0]);
	for (uint32 row = 1; row < group->nrows && sorted; row++)
	{
		CHECK_FOR_INTERRUPTS();
		read_row(o, group, row, &rows[row % 2]);
		sorted = compare_rows(o, &rows[(row + 1) % 2], &rows[row % 2]) <= 0;
		if (row % 1024 == 0)
		{
			MemoryContextReset(mcxt);
			read_row(o, group, row, &rows[row % 2]);
		}
	}
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(mcxt);

	if (sorted && note)
	{
		StGroup		noted = *group;

		noted.order_hash = o->hash;
		st_descriptor_sorted(catalog, &noted);
	}
	return sorted;
}

static int
compare_low(const void *a, const void *b, void *arg)
{
	return compare_rows(arg, &((const OrderedGroup *) a)->low,
						&((const OrderedGroup *) b)->low);
}

/* Chooses groups whose rows are not sorted; the others are put into sorted. */
static int
choose_unsorted(Ordering *o, StCatalog *catalog, StCandidate *c, int n,
				uint64 max_rows, bool note, OrderedGroup *sorted, int *nsorted)
{
	uint64		total = 0;
	int			chosen = 0;

	*nsorted = 0;
	for (int i = 0; i < n; i++)
	{
		const StGroup *group = &c[i].version->group;

		if (is_sorted(o, catalog, group, note))
		{
			sorted[(*nsorted)++].candidate = &c[i];
			continue;
		}
		if (chosen > 0 && total + c[i].live > max_rows)
			continue;
		c[i].chosen = true;
		total += c[i].live;
		chosen++;
	}
	return chosen;
}

/*
 * Chooses groups that overlap, from the low end.  sorted is ordered by low.
 */
static int
choose_overlapping(const Ordering *o, OrderedGroup *sorted, int n,
				   uint64 max_rows)
{
	int			first = 0;
	int			chosen;
	uint64		total;
	const OrderRow *high;

	while (first + 1 < n &&
		   compare_rows(o, &sorted[first + 1].low, &sorted[first].high) >= 0)
		first++;
	if (first + 1 >= n)
		return 0;

	chosen = 1;
	total = sorted[first].candidate->live;
	high = &sorted[first].high;
	sorted[first].candidate->chosen = true;
	for (int i = first + 1; i < n; i++)
	{
		total += sorted[i].candidate->live;
		if (compare_rows(o, &sorted[i].low, high) >= 0 ||
			(chosen >= 2 && total > max_rows))
			break;
		sorted[i].candidate->chosen = true;
		chosen++;
		if (compare_rows(o, high, &sorted[i].high) < 0)
			high = &sorted[i].high;
	}
	return chosen;
}

int
st_compact_choose_order(Relation rel, StCatalog *catalog, StCandidate *c,
						int n, uint64 max_rows, bool note)
{
	StOrder    *order = n == 0 ? NULL : st_order_begin(rel);
	OrderedGroup *sorted;
	Ordering	o;
	int			nsorted;
	int			chosen;

	if (order == NULL)
		return 0;
	ordering_begin(&o, rel, order);
	sorted = palloc_extended(n * sizeof(OrderedGroup), MCXT_ALLOC_HUGE);
	chosen = choose_unsorted(&o, catalog, c, n, max_rows, note, sorted,
							 &nsorted);
	if (chosen == 0)
	{
		for (int i = 0; i < nsorted; i++)
		{
			const StGroup *group = &sorted[i].candidate->version->group;

			CHECK_FOR_INTERRUPTS();
			read_row(&o, group, 0, &sorted[i].low);
			read_row(&o, group, group->nrows - 1, &sorted[i].high);
		}
		qsort_arg(sorted, nsorted, sizeof(OrderedGroup), compare_low, &o);
		chosen = choose_overlapping(&o, sorted, nsorted, max_rows);
	}
	ordering_end(&o);
	pfree(sorted);
	return chosen;
}
