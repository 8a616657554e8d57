/*-------------------------------------------------------------------------
 *
 * rc_agg_paths.h
 *	  Aggregates over a whole rowcompress table that need no rows.
 *
 * The plan's custom_private: list of RcAggKind, list of attribute numbers,
 * list with the table's OID.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_AGG_PATHS_H
#define RC_AGG_PATHS_H

/* Name under which the executor registers the node. */
#define RC_AGG_NAME "RowcompressAggregate"

typedef enum RcAggKind
{
	RC_AGG_COUNT_ROWS,
	RC_AGG_COUNT,				/* of values that are not null */
	RC_AGG_MIN,
	RC_AGG_MAX
} RcAggKind;

/* Installs the planner's hook and setting; from _PG_init. */
extern void rc_agg_paths_init(void);

#endif							/* RC_AGG_PATHS_H */
