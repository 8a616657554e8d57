/*-------------------------------------------------------------------------
 *
 * st_delta.h
 *	  Scan of the delta: what table scans need beyond st_store.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_DELTA_H
#define ST_DELTA_H

#include "postgres.h"

#include "st_store_int.h"

/* Like st_delta_next(), in either direction. */
extern bool st_delta_fetch(StDeltaScan *scan, ScanDirection direction,
						   TupleTableSlot *slot);

#endif							/* ST_DELTA_H */
