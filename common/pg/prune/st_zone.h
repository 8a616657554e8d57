/*-------------------------------------------------------------------------
 *
 * st_zone.h
 *	  Zones: what is known about a run of values, and what that says about a
 *	  condition.
 *
 * A zone is always conservative: it may be wider than the values, never
 * narrower.  A test on it is made at execution time only, with the values
 * that the condition's expressions have then.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZONE_H
#define ST_ZONE_H

#include "postgres.h"

#include "st_qual.h"

/*
 * What is known about the values of one column in a run of rows.  min and
 * max are valid only if has_minmax; they bound the values that are not null
 * under the btree operator family given.
 *
 * Strings (byte_order) are bounded in the order of their bytes, whatever the
 * column's collation; opfamily is then only the type's.  If max_truncated
 * is set, max is only a prefix: every value either is bytewise <= max or
 * starts with it.  min may be a truncated prefix too, which is a valid lower
 * bound as it is.
 */
typedef struct StZone
{
	uint32		nrows;
	uint32		nnulls;
	bool		has_minmax;
	bool		max_truncated;
	bool		byte_order;
	Oid			opfamily;
	Datum		min;
	Datum		max;
} StZone;

/* How many rows of a run satisfy a condition. */
typedef enum StZoneMatch
{
	ST_ZONE_NONE,				/* certainly no row */
	ST_ZONE_SOME,				/* nothing is certain */
	ST_ZONE_ALL					/* certainly every row */
} StZoneMatch;

/*
 * Gives the zone of a column (attribute number) for the run under test; false
 * if nothing is known about it.  Its Datums must stay valid for the test.
 */
typedef bool (*StZoneLookup) (void *arg, AttrNumber attno, StZone *zone);

/*
 * Tests a predicate against the zones of a run of rows.  Evaluates right
 * sides as far as they are needed; runs no other function on the zones'
 * values than built-in or leakproof btree comparisons.
 */
extern StZoneMatch st_zone_test(StPred *pred, StZoneLookup lookup, void *arg);

#endif							/* ST_ZONE_H */
