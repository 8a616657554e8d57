/*-------------------------------------------------------------------------
 *
 * st_zone_cost.h
 *	  What zones are expected to spare a scan, for cost estimates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZONE_COST_H
#define ST_ZONE_COST_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * Share of the rows that zones over zone_rows rows each are expected to
 * leave to be read, by the column whose conditions help most.  *ntested:
 * columns whose zones are looked at.
 */
extern double st_zone_read_share(PlannerInfo *root, RelOptInfo *rel,
								 double zone_rows, int *ntested);

#endif							/* ST_ZONE_COST_H */
