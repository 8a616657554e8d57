/*-------------------------------------------------------------------------
 *
 * zm_key.c
 *	  The key space of a zonemap index: comparison of keys and of positions.
 *
 * Entries are in the order of (key, tie), where the tie is
 *
 *	- an exact entry's TID;
 *	- before all TIDs for a zone that is fenced (nothing left of it holds its
 *	  key), otherwise the TID that the zone carries.
 *
 * Comparisons run the opclass' function with the index' collation, under page
 * locks, as nbtree does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_index.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "zm_key.h"

/* timestamptz has a name of its own for timestamp's function */
#define F_TIMESTAMPTZ_CMP_OID 1314

static ZmFast
fast_of(Oid cmp)
{
	switch (cmp)
	{
		case F_BTINT2CMP:
			return ZM_FAST_INT16;
		case F_BTINT4CMP:
		case F_DATE_CMP:
			return ZM_FAST_INT32;
		case F_BTOIDCMP:
			return ZM_FAST_UINT32;
		case F_BTINT8CMP:
		case F_TIMESTAMP_CMP:
		case F_TIMESTAMPTZ_CMP_OID:
		case F_TIME_CMP:
			return ZM_FAST_INT64;
		default:
			return ZM_FAST_NONE;
	}
}

void
zm_space_init(ZmSpace *space, Relation index)
{
	space->index = index;
	space->desc = RelationGetDescr(index);
	space->ncolumns = IndexRelationGetNumberOfKeyAttributes(index);
	space->toastable = false;
	for (int i = 0; i < space->ncolumns; i++)
	{
		ZmColumn   *column = &space->columns[i];
		int16		option = index->rd_indoption[i];

		column->cmp = index_getprocinfo(index, i + 1, BTORDER_PROC);
		column->collation = index->rd_indcollation[i];
		column->descending = (option & INDOPTION_DESC) != 0;
		column->nulls_first = (option & INDOPTION_NULLS_FIRST) != 0;
		column->heap_attno = index->rd_index->indkey.values[i];
		if (TupleDescAttr(space->desc, i)->attlen == -1)
			space->toastable = true;
	}
	space->fast = ZM_FAST_NONE;
	if (space->ncolumns == 1 && !space->columns[0].descending)
		space->fast = fast_of(space->columns[0].cmp->fn_oid);
}

void
zm_target_from_values(const ZmSpace *space, ZmTarget *target, Datum *values,
					  bool *nulls, ZmTie tie, ItemPointer tid)
{
	target->ncolumns = space->ncolumns;
	target->tie = tie;
	if (tie == ZM_TIE_TID)
		target->tid = *tid;
	target->fast = space->fast != ZM_FAST_NONE && !nulls[0];
	if (target->fast)
		target->number = zm_fast_datum(space->fast, values[0]);
	for (int i = 0; i < space->ncolumns; i++)
	{
		target->parts[i].value = values[i];
		target->parts[i].null = nulls[i];
		target->parts[i].cmp = space->columns[i].cmp;
	}
}

/* The position of an entry, which has to stay where it is. */
void
zm_target_from_entry(const ZmSpace *space, ZmTarget *target, IndexTuple itup)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	ItemPointerData tid = itup->t_tid;
	ZmTie		tie = ZM_TIE_TID;

	if (ZmIsZone(itup))
	{
		if (ZmFlags(itup) & ZM_NO_KEY)
		{
			target->ncolumns = 0;
			target->tie = ZM_TIE_BEFORE;
			target->fast = false;
			return;
		}
		if (ZmFlags(itup) & ZM_TIE)
			tid = zm_get_tie(itup);
		else
			tie = ZM_TIE_BEFORE;
	}
	for (int i = 0; i < space->ncolumns; i++)
		values[i] = index_getattr(itup, i + 1, space->desc, &nulls[i]);
	zm_target_from_values(space, target, values, nulls, tie, &tid);
}

/* Sign of (index value - other value) in the order of the column. */
static inline int
compare_part(const ZmColumn *column, FmgrInfo *cmp, Datum value, bool null,
			 Datum other, bool other_null)
{
	int			result;

	if (null || other_null)
	{
		if (null && other_null)
			return 0;
		return null == column->nulls_first ? -1 : 1;
	}
	result = DatumGetInt32(FunctionCall2Coll(cmp, column->collation, value,
											 other));
	/* not negated: INT_MIN has no opposite */
	if (column->descending)
		return result < 0 ? 1 : result > 0 ? -1 : 0;
	return result;
}

int
zm_compare_values(const ZmSpace *space, const Datum *avalues,
				  const bool *anulls, const Datum *bvalues,
				  const bool *bnulls)
{
	for (int i = 0; i < space->ncolumns; i++)
	{
		const ZmColumn *column = &space->columns[i];
		int			result = compare_part(column, column->cmp, avalues[i],
										  anulls[i], bvalues[i], bnulls[i]);

		if (result != 0)
			return result;
	}
	return 0;
}

/* Sign of (target - key), ties aside. */
int
zm_compare_key(const ZmSpace *space, const ZmTarget *target,
			   const Datum *values, const bool *nulls)
{
	for (int i = 0; i < target->ncolumns; i++)
	{
		const ZmPart *part = &target->parts[i];
		int			result = compare_part(&space->columns[i], part->cmp,
										  values[i], nulls[i], part->value,
										  part->null);

		if (result != 0)
			return result < 0 ? 1 : -1;
	}
	return 0;
}

/* The same for the key of an entry. */
int
zm_compare_entry_key(const ZmSpace *space, const ZmTarget *target,
					 IndexTuple itup)
{
	if (ZmIsZone(itup) && (ZmFlags(itup) & ZM_NO_KEY))
		return target->ncolumns == 0 && target->tie == ZM_TIE_BEFORE ? 0 : 1;
	if (target->fast && !IndexTupleHasNulls(itup))
	{
		int64		number = zm_fast_fetch(space->fast, (char *) itup +
										   MAXALIGN(sizeof(IndexTupleData)));

		return (target->number > number) - (target->number < number);
	}
	for (int i = 0; i < target->ncolumns; i++)
	{
		const ZmPart *part = &target->parts[i];
		bool		null;
		Datum		value = index_getattr(itup, i + 1, space->desc, &null);
		int			result = compare_part(&space->columns[i], part->cmp, value,
										  null, part->value, part->null);

		if (result != 0)
			return result < 0 ? 1 : -1;
	}
	return 0;
}

/* Sign of (target - position of the entry). */
int
zm_compare(const ZmSpace *space, const ZmTarget *target, IndexTuple itup)
{
	int			result = zm_compare_entry_key(space, target, itup);
	ItemPointerData tie;

	if (result != 0)
		return result;
	if (target->tie == ZM_TIE_AFTER)
		return 1;
	if (ZmIsZone(itup))
	{
		if (ZmFlags(itup) & ZM_NO_KEY)
			return 0;
		if (!(ZmFlags(itup) & ZM_TIE))
		{
			if (target->tie == ZM_TIE_TID)
				return 1;
			/* a prefix is before all keys that begin with it */
			return target->ncolumns == space->ncolumns ? 0 : -1;
		}
		tie = zm_get_tie(itup);
	}
	else
		tie = itup->t_tid;
	if (target->tie == ZM_TIE_BEFORE)
		return -1;
	return ItemPointerCompare(unconstify(ItemPointerData *, &target->tid), &tie);
}

/* Whether an entry's position is not after the target's. */
static inline bool
not_after(const ZmSpace *space, const ZmTarget *target, IndexTuple itup)
{
	if (target->fast && !IndexTupleHasNulls(itup) &&
		!(ZmIsZone(itup) && (ZmFlags(itup) & ZM_NO_KEY)))
	{
		int64		number = zm_fast_fetch(space->fast, (char *) itup +
										   MAXALIGN(sizeof(IndexTupleData)));

		if (number != target->number)
			return number < target->number;
	}
	return zm_compare(space, target, itup) >= 0;
}

/*
 * The last entry of the page that is not after the target.  The first entry
 * counts as such, because what it covers begins where the page begins.
 */
OffsetNumber
zm_search(const ZmSpace *space, Page page, const ZmTarget *target)
{
	OffsetNumber low = ZmPageFirst(page);
	OffsetNumber high = PageGetMaxOffsetNumber(page) + 1;

	if (high <= low)
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" contains a page without entries",
					   RelationGetRelationName(space->index)),
				errhint("Please REINDEX it."));
	/* Keys that only grow */
	if (not_after(space, target, ZmPageGetEntry(page, high - 1)))
		return high - 1;
	while (high - low > 1)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (not_after(space, target, ZmPageGetEntry(page, middle)))
			low = middle;
		else
			high = middle;
	}
	return low;
}
