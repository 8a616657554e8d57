/*-------------------------------------------------------------------------
 *
 * st_read.h
 *	  Rows of row groups for those who read: by TID, one after another, in
 *	  scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_READ_H
#define ST_READ_H

#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"

#include "st_visibility.h"

/* ------------------------------------------------------------------------
 * Open readers, kept across statements: st_reader_cache.c
 * ------------------------------------------------------------------------
 */

/* Setting cache_size: what a session keeps of them, with all they have decoded. */
extern int	st_cache_size_kb;
#define ST_READER_CACHE_BYTES	((Size) st_cache_size_kb * 1024)

typedef struct StCachedReader StCachedReader;
extern void st_reader_cache_init(void); /* once per backend */

/*
 * The reader of a group (incarnation set), pinned until it is released.
 * rel stays open meanwhile.
 */
extern StCachedReader *st_reader_acquire(Relation rel, const StGroup *group);
extern void st_reader_release(StCachedReader *cached);

/*
 * The reader that was acquired last, pinned again, if it has the row, which the
 * caller has seen; else NULL.  *first_row: its group's.  _soon() releases it,
 * and looks now and then how large it has become.
 */
extern StCachedReader *st_reader_acquire_last(Relation rel, uint64 row, uint64 *first_row);
extern void st_reader_release_soon(StCachedReader *cached);

/*
 * Looks how large a pinned reader has become.  Returns false if the cache is
 * above its limit and pins are in the way of making room.
 */
extern bool st_reader_account(StCachedReader *cached);

/* One row of it; the values stay valid until the next call. */
extern void st_reader_row(StCachedReader *cached, uint32 row, const bool *needed,
						  Datum *values, bool *isnull);

/*
 * Memory that readers do not need, for what is quickly read once more; NULL if there
 * is none.  The next call, or the release of a reader, may take all of it away: then
 * the epoch is another one.
 */
extern uint64 st_spare_epoch;
extern void *st_spare_alloc(Size len);

/* ------------------------------------------------------------------------
 * Fetching rows by virtual TID: st_fetch.c
 * ------------------------------------------------------------------------
 */

/*
 * What a scan looks at of a row: booleans by attribute number - 1, or NULL if
 * it looks at nothing (st_scan_columns.c).
 */
typedef struct StScanColumns
{
	const bool *output;			/* always */
	const bool *recheck;		/* if its conditions are to be rechecked */
} StScanColumns;

/* The columns that the scan which owns the slot needs, or NULL: all. */
extern const StScanColumns *st_scan_columns_of(TupleTableSlot *slot);

/*
 * Those that the running utility command needs, in mcxt, if this is its first
 * scan of the table; else NULL: all, with a header.  (st_utility_scan.c)
 */
extern const StScanColumns *st_utility_scan_columns(Relation rel, MemoryContext mcxt);

/* Values of a slot that are no words, where no reader overwrites them. */
typedef struct StKeptValues
{
	MemoryContext mcxt;
	char	   *bytes;
	Size		size;
} StKeptValues;

/* Copies the needed values of the slot there; those of its last row go. */
extern void st_keep_values(StKeptValues *kept, TupleTableSlot *slot, const bool *needed);

/* A row group as one MVCC snapshot sees it. */
typedef struct StFetchGroup
{
	StGroup		group;
	StDeletedNear deleted;
	StCachedReader *reader;		/* pinned, or NULL */
} StFetchGroup;

typedef struct StFetch
{
	Relation	rel;
	bool		by_index;		/* set after init: rows come from index entries */
	uint64		incarnation;
	bool		catalog_open;
	StCatalog	catalog;
	MemoryContext mcxt;			/* of what follows; NULL until needed */

	/* what the last MVCC snapshot saw */
	Snapshot	snapshot;
	TransactionId snap_xmin;
	TransactionId snap_xmax;
	CommandId	snap_curcid;
	MemoryContext seen_mcxt;	/* of the groups */
	uint32		misses;			/* lookups of single groups */
	StFetchGroup *groups;		/* all of them after some misses, else one */
	int			ngroups;
	bool		all_groups;
	int			current;		/* group of the last row */
	StPiece    *piece;			/* the last one that was read, or NULL */

	/* decoding */
	StCachedReader *reader;		/* of snapshots that are not MVCC ones */
	uint64		reader_first_row;
	int			npinned;		/* readers of groups */
	uint32		nrows;			/* decoded */
	Datum	   *values;
	bool	   *isnull;

	/* the slot that was filled last, and what its scan needs */
	TupleTableSlot *slot;
	const StScanColumns *columns;
	bool		recheck;		/* set by the scan: recheck columns, too */
	StKeptValues kept;			/* of that slot */
} StFetch;

/* The struct is the caller's; nothing is opened before the first fetch. */
extern void st_fetch_init(StFetch *fetch, Relation rel);
extern void st_fetch_end(StFetch *fetch);

/*
 * The row at a virtual TID, if the snapshot (of any kind) sees it.  slot may
 * be NULL to ask for visibility only.
 */
extern bool st_fetch_row(StFetch *fetch, ItemPointer tid, Snapshot snapshot,
						 TupleTableSlot *slot);

/*
 * st_old_rows.c: the row that an UPDATE makes its new version of, if the slot
 * is one for such rows; false if it is not, or the row is to be looked up.
 */
extern bool st_old_row_fetch(Relation rel, uint64 row, TupleTableSlot *slot);

/* ------------------------------------------------------------------------
 * Rows for callbacks that are neither DML nor plain scans: st_row_reader.c
 * ------------------------------------------------------------------------
 */

/*
 * Fetches single rows, keeping the reader of the last row group open.  The
 * caller decides which groups and rows are visible.
 */
typedef struct StRowReader
{
	Relation	rel;
	const bool *needed;			/* natts booleans, or NULL: what the slot's
								 * scan looks at (st_scan_columns.c) */
	TupleTableSlot *slot;		/* filled last */
	const struct StScanColumns *columns;	/* what is looked at in it */
	MemoryContext mcxt;			/* of the reader */
	MemoryContext copies;		/* values of that slot, or NULL */
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

/* ------------------------------------------------------------------------
 * Table scans: st_scan.c
 * ------------------------------------------------------------------------
 */

/* Behind heap's own part of a parallel scan descriptor. */
typedef struct StParallelScan
{
	pg_atomic_uint64 next_chunk;	/* of the delta */
	pg_atomic_uint64 next_row;	/* groups below are taken */
} StParallelScan;

typedef struct StScan
{
	TableScanDescData base;
	TableScanDesc inner;		/* heap's own scan: st_scan_inner() */
	MemoryContext mcxt;
	StParallelScan *shared;		/* NULL if not parallel */

	/* sequential scan: private to st_scan.c */
	struct StSeqScan *seq;

	/* for the callbacks in st_am_*.c: allocated in mcxt, NULL at the start */
	void	   *am_state;
	void		(*am_rescan) (struct StScan *scan); /* called by scan_rescan, or NULL */
	void		(*am_end) (struct StScan *scan);	/* called by scan_end, or NULL */
} StScan;

extern TableScanDesc st_scan_begin(Relation rel, Snapshot snapshot, int nkeys,
								   struct ScanKeyData *key,
								   ParallelTableScanDesc pscan, uint32 flags);
extern void st_scan_end(TableScanDesc scan);
extern void st_scan_rescan(TableScanDesc scan, struct ScanKeyData *key,
						   bool set_params, bool allow_strat, bool allow_sync,
						   bool allow_pagemode);
extern bool st_scan_getnextslot(TableScanDesc scan, ScanDirection direction,
								TupleTableSlot *slot);
extern Size st_parallelscan_estimate(Relation rel);
extern Size st_parallelscan_initialize(Relation rel, ParallelTableScanDesc pscan);
extern void st_parallelscan_reinitialize(Relation rel, ParallelTableScanDesc pscan);

/*
 * Heap's scan over the whole main fork with the same snapshot and flags,
 * begun when first asked for.  Parallel if this scan is.
 */
extern TableScanDesc st_scan_inner(StScan *scan);

/* Like st_delta_next(), in either direction. */
extern bool st_delta_fetch(StDeltaScan *scan, ScanDirection direction,
						   TupleTableSlot *slot);

/*
 * Row groups handed out to the participants of a scan: the next group of
 * the list (sorted by first_row) that nobody took, or NULL.  The lists of the
 * participants may differ.  *pos is the caller's, 0 at the start.
 */
extern const StGroup *st_scan_take_group(StScan *scan, const StGroupList *groups, int *pos);

#endif							/* ST_READ_H */
