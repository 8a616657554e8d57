/*-------------------------------------------------------------------------
 *
 * rc_paths.h
 *	  Paths over rowcompress tables, offered beside the server's own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_PATHS_H
#define RC_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/rel.h"

/* Names under which the executor registers its nodes. */
#define RC_SCAN_NAME "RowcompressScan"

/* Installs the planner's hook and settings; from _PG_init. */
extern void rc_paths_init(void);

/*
 * Sets rows and costs of a scan path.  attnos: what the scan decodes, offset
 * by FirstLowInvalidHeapAttributeNumber.  path has its target, parameters
 * and number of workers already.
 */
extern void rc_cost_scan(Path *path, PlannerInfo *root, RelOptInfo *rel,
						 Relation relation, const Bitmapset *attnos);

/* Adds to the server's own scan path what taking rows out of batches costs. */
extern void rc_cost_plain_scan(Path *path, RelOptInfo *rel, Relation relation);

/* Pages that the rows would take in a heap: the measure of work to share. */
extern double rc_heap_pages(RelOptInfo *rel, Relation relation);

#endif							/* RC_PATHS_H */
