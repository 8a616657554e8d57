/*-------------------------------------------------------------------------
 *
 * st_column_stats.h
 *	  What the server's statistics say of a column, remembered per backend.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_COLUMN_STATS_H
#define ST_COLUMN_STATS_H

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

/* Bytes of a value on average, or what is usual for the type; 0: dropped. */
extern int32 st_column_width(RelOptInfo *rel, Relation relation,
							 AttrNumber attno);

/*
 * Correlation of a column of a plain table with the order of the rows,
 * squared; 0 = unknown.
 */
extern double st_squared_correlation(PlannerInfo *root, Var *column);

extern void st_column_stats_init(void);

#endif							/* ST_COLUMN_STATS_H */
