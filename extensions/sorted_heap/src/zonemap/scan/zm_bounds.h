/*-------------------------------------------------------------------------
 *
 * zm_bounds.h
 *	  Which keys of a heap page qualify.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_BOUNDS_H
#define ZM_BOUNDS_H

#include "postgres.h"

#include "zm_scan_int.h"

typedef struct ZmBounds
{
	const ZmCursor *cursor;

	/* as numbers, if keys are integers and nothing but a range is asked for */
	bool		fast;
	bool		empty;
	int64		low;			/* inclusive; above `high`: none qualifies */
	int64		high;

	/* the zone's bounds; NULL: none */
	IndexTuple	zone;
	IndexTuple	end;
	bool		have_zone;		/* the targets are made */
	ZmTarget	zone_lower;
	ZmTarget	zone_upper;
} ZmBounds;

extern void zm_bounds_init(ZmBounds *bounds, const ZmCursor *cursor,
						   IndexTuple zone, IndexTuple end);
extern bool zm_key_qualifies(ZmBounds *bounds, const Datum *values,
							 const bool *nulls);

#endif							/* ZM_BOUNDS_H */
