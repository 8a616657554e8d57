/*-------------------------------------------------------------------------
 *
 * st_am_rows.h
 *	  Rows of row groups for table AM callbacks that are neither DML nor
 *	  plain scans: index builds, ANALYZE, TABLESAMPLE, TID ranges, CLUSTER.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_AM_ROWS_H
#define ST_AM_ROWS_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/execnodes.h"

#include "st_store_int.h"

/*
 * Fetches single rows, keeping the reader of the last row group open.  The
 * caller decides which groups and rows are visible.
 */
typedef struct StRowReader
{
	Relation	rel;
	const bool *needed;			/* natts booleans, or NULL for all columns */
	StCachedReader *reader;		/* of the group below, or NULL */
	uint64		first_row;
	Datum	   *values;			/* natts of each */
	bool	   *isnull;
} StRowReader;

extern void st_row_reader_init(StRowReader *rr, Relation rel, const bool *needed);
extern void st_row_reader_fetch(StRowReader *rr, const StGroup *group, uint32 row,
								TupleTableSlot *slot);
extern void st_row_reader_end(StRowReader *rr);

/* The columns that an index build reads, or NULL for all of them. */
extern bool *st_index_needed_columns(Relation rel, const IndexInfo *info);

/*
 * Rows of the groups visible to an MVCC snapshot, addressed by row number.
 * Only one group is open at a time, so ascending or descending access is
 * cheap and random access across groups is not.
 */
typedef struct StRowCursor
{
	StRowReader rows;
	Snapshot	snapshot;
	StGroupList *groups;		/* sorted by first_row */
	int			current;		/* group that deleted[] is of, or -1 */
	uint64	   *deleted;		/* bit set = row deleted; NULL = none */
	MemoryContext mcxt;
	MemoryContext bitmap_mcxt;	/* life of deleted[] */
} StRowCursor;

extern StRowCursor *st_row_cursor_begin(Relation rel, Snapshot snapshot, const bool *needed);
extern bool st_row_cursor_visible(StRowCursor *cursor, int group, uint32 row);
extern void st_row_cursor_store(StRowCursor *cursor, int group, uint32 row,
								TupleTableSlot *slot);
extern int	st_row_cursor_group(const StRowCursor *cursor, uint64 row);
extern void st_row_cursor_end(StRowCursor *cursor);

#endif							/* ST_AM_ROWS_H */
