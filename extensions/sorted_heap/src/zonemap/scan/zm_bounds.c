/*-------------------------------------------------------------------------
 *
 * zm_bounds.c
 *	  Which keys of a heap page qualify: those that its zone covers, in the range
 *	  of the scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "zm_scan_int.h"

/* Raises the lower number to that of a bound; exclusive of it if open. */
static void
raise_low(ZmBounds *bounds, int64 number, bool open)
{
	if (open && number == PG_INT64_MAX)
		bounds->empty = true;
	else
		bounds->low = Max(bounds->low, number + open);
}

static void
lower_high(ZmBounds *bounds, int64 number, bool open)
{
	if (open && number == PG_INT64_MIN)
		bounds->empty = true;
	else
		bounds->high = Min(bounds->high, number - open);
}

static int64
entry_number(const ZmSpace *space, IndexTuple itup)
{
	return zm_fast_fetch(space->fast, (char *) itup +
						 MAXALIGN(sizeof(IndexTupleData)));
}

/*
 * Bounds of the page's rows as numbers, if all are.  Nulls do not come here:
 * they are checked on their own.
 */
static void
number_bounds(ZmBounds *bounds)
{
	const ZmCursor *cursor = bounds->cursor;
	const ZmSpace *space = &cursor->space;
	const ZmRange *range = &cursor->quals.range;
	bool		nulls_first = space->columns[0].nulls_first;

	bounds->low = PG_INT64_MIN;
	bounds->high = PG_INT64_MAX;
	bounds->fast = space->fast != ZM_FAST_NONE &&
		cursor->quals.nfilters == 0 &&
		(range->lower.fast || range->lower.ncolumns == 0 ||
		 range->lower.parts[0].null) &&
		(range->upper.fast || range->upper.ncolumns == 0 ||
		 range->upper.parts[0].null);
	if (!bounds->fast)
		return;
	if (range->lower.fast)
		raise_low(bounds, range->lower.number,
				  range->lower.tie == ZM_TIE_AFTER);
	else if (range->lower.ncolumns > 0 && !nulls_first)
		bounds->empty = true;
	if (range->upper.fast)
		lower_high(bounds, range->upper.number,
				   range->upper.tie == ZM_TIE_BEFORE);
	else if (range->upper.ncolumns > 0 && nulls_first)
		bounds->empty = true;
	if (bounds->zone != NULL)
	{
		if (!IndexTupleHasNulls(bounds->zone))
			raise_low(bounds, entry_number(space, bounds->zone),
					  (ZmFlags(bounds->zone) & ZM_OPEN) != 0);
		else if (!nulls_first)
			bounds->empty = true;
	}
	if (bounds->end != NULL)
	{
		if (!IndexTupleHasNulls(bounds->end))
			lower_high(bounds, entry_number(space, bounds->end),
					   (ZmFlags(bounds->end) & ZM_FENCED) != 0);
		else if (nulls_first)
			bounds->empty = true;
	}
	if (bounds->empty || bounds->low > bounds->high)
	{
		/* No number qualifies; nulls may. */
		bounds->low = PG_INT64_MAX;
		bounds->high = PG_INT64_MIN;
	}
}

/* Bounds of the rows of a zone that ends at a bound, NULL if it has no end. */
void
zm_bounds_init(ZmBounds *bounds, const ZmCursor *cursor, IndexTuple zone,
			   IndexTuple end)
{
	bounds->cursor = cursor;
	bounds->zone = ZmFlags(zone) & ZM_NO_KEY ? NULL : zone;
	bounds->end = end;
	bounds->have_zone = false;
	bounds->empty = false;
	number_bounds(bounds);
}

/* Whether a row qualifies, and its zone covers it. */
bool
zm_key_qualifies(ZmBounds *bounds, const Datum *values, const bool *nulls)
{
	const ZmCursor *cursor = bounds->cursor;

	if (!bounds->have_zone)
	{
		if (bounds->zone != NULL)
			zm_target_from_entry(&cursor->space, &bounds->zone_lower,
								 bounds->zone);
		if (bounds->end != NULL)
			zm_target_from_entry(&cursor->space, &bounds->zone_upper,
								 bounds->end);
		bounds->have_zone = true;
	}
	/* the targets are the zone's, so signs are the other way round */
	if (bounds->zone != NULL &&
		!zm_zone_begins(bounds->zone,
						-zm_compare_key(&cursor->space, &bounds->zone_lower,
										values, nulls)))
		return false;
	if (bounds->end != NULL &&
		!zm_bound_allows(bounds->end,
						 -zm_compare_key(&cursor->space, &bounds->zone_upper,
										 values, nulls)))
		return false;
	return zm_range_contains(&cursor->space, &cursor->quals.range, values,
							 nulls) &&
		zm_filter(&cursor->quals, values, nulls);
}
