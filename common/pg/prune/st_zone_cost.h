/*-------------------------------------------------------------------------
 *
 * st_zone_cost.h
 *	  What columns hold, and what zones are expected to spare a scan, for
 *	  cost estimates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZONE_COST_H
#define ST_ZONE_COST_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

/*
 * Share of the rows that zones over zone_rows rows each are expected to
 * leave to be read, by the column whose conditions help most.  *ntested:
 * columns whose zones are looked at.
 */
extern double st_zone_read_share(PlannerInfo *root, RelOptInfo *rel,
								 double zone_rows, int *ntested);

/* Is it a comparison that zones may decide?  Of what, without coercions. */
extern bool st_zone_comparison(Node *clause, Node **left, Node **right);

/* Values that a comparison is with, each under a zone of its own. */
extern double st_zone_compared_values(PlannerInfo *root, Node *clause);

/* ---- what the server's statistics say of a column: st_column_stats.c ---- */

/* Bytes of a value on average, or what is usual for the type; 0: dropped. */
extern int32 st_column_width(RelOptInfo *rel, Relation relation,
							 AttrNumber attno);

/*
 * Correlation of a column of a plain table with the order of the rows,
 * squared; 0 = unknown.
 */
extern double st_squared_correlation(PlannerInfo *root, Var *column);

extern void st_column_stats_init(void);

#endif							/* ST_ZONE_COST_H */
