/*-------------------------------------------------------------------------
 *
 * st_counters.h
 *	  What was done with each table since a while, for the view stats.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_COUNTERS_H
#define ST_COUNTERS_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/rel.h"

/* In the order of the columns of table_counters(). */
typedef enum StCounter
{
	ST_COUNT_GROUPS_READ,		/* row groups, by scans */
	ST_COUNT_GROUPS_PRUNED,
	ST_COUNT_VECTORS_READ,
	ST_COUNT_VECTORS_PRUNED,
	ST_COUNT_DELTA_ROWS,
	ST_COUNT_CACHE_HITS,		/* row groups, by fetches */
	ST_COUNT_CACHE_MISSES,
	ST_COUNT_COMPACTIONS,		/* steps */
	ST_COUNT_COMPACTED_ROWS,
	ST_COUNT_BYTES_SAVED,		/* may be negative */
	ST_COUNTERS					/* how many */
} StCounter;

/* Once per library, which has the name. */
extern void st_counters_init(const char *name);

/*
 * Counts for a table, in this process.  All others see it a second later, when
 * a transaction ends, or when the process exits.
 */
extern void st_count(Relation rel, StCounter counter, int64 n);

/*
 * The same of what counts only if this transaction commits.  It may do so for
 * one table.
 */
extern void st_count_change(Relation rel, StCounter counter, int64 n);

/*
 * Set of (relid oid, the counters as bigint, since timestamptz), of this
 * database, tables among them that are gone.  A WARNING if there is no shared
 * memory for them.
 */
extern void st_counters_function(FunctionCallInfo fcinfo);

/* Begins anew for a table (relation oid), or, if that is NULL, for this database. */
extern void st_counters_reset(FunctionCallInfo fcinfo);

#endif							/* ST_COUNTERS_H */
