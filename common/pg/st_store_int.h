/*-------------------------------------------------------------------------
 *
 * st_store_int.h
 *	  What the files of the store share with one another, and with no one
 *	  else.  README.store.md explains the whole; st_store.h is the contract.
 *
 * Lock order: relation lock, row mutex (LockTuple on a virtual TID), buffer
 * lock of an index or TOAST page, relation extension lock, buffer lock of
 * the metapage or of a new page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_STORE_INT_H
#define ST_STORE_INT_H

#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "commands/vacuum.h"
#include "nodes/execnodes.h"
#include "storage/bufpage.h"
#include "storage/lmgr.h"

#include "st_catalog.h"
#include "st_compat.h"
#include "st_store.h"

/* heapam's own routine, to which everything about the delta is delegated. */
#define st_heapam() GetHeapamTableAmRoutine()

/* ------------------------------------------------------------------------
 * Metapage: st_meta.c
 * ------------------------------------------------------------------------
 */

#define ST_META_BLOCK	0

typedef struct StMeta
{
	uint64		next_row;		/* first row number that nobody reserved */
	uint64		incarnation;	/* random, new after every truncation */
	bool		has_row_groups; /* false: TOAST holds no descriptor, do not
								 * look there (it may be stale, see README) */
} StMeta;

/*
 * Reads the metapage of rel.  A relation of zero blocks reads as fresh.
 * Raises DATA_CORRUPTED or FEATURE_NOT_SUPPORTED for a page that is not ours.
 */
extern void st_meta_read(Relation rel, StMeta *meta);

/*
 * Has rel row groups?  If so *incarnation (may be NULL) is that of its file.
 * Once a file has some it always has, so yes is remembered with the relcache
 * entry and costs no look at the page.  Errors as of st_meta_read().
 */
extern bool st_meta_has_row_groups(Relation rel, uint64 *incarnation);

/* Forgets that: the file of rel is truncated. */
extern void st_meta_forget(Relation rel);

/* Makes block 0 of an empty main fork; WAL-logs it where the relation is. */
extern void st_meta_create(Relation rel);

/* The same for a new file, that rel may not point to yet, with INIT fork. */
extern void st_meta_create_file(const RelFileLocator *locator, char persistence,
								const char *am_name);

/*
 * Reserves nrows row numbers and returns the first; the range starts at a
 * multiple of ST_ROWS_PER_VBLOCK and crosses no multiple of 2^32.  Sets
 * has_row_groups.  Never undone by an abort.
 */
extern uint64 st_reserve_rows(Relation rel, uint32 nrows);

/* Gives back [used_end, reserved_end) if nobody reserved behind it. */
extern void st_release_rows(Relation rel, uint64 used_end, uint64 reserved_end);

/* ------------------------------------------------------------------------
 * Extents: st_extent.c
 *
 *	 +------------------+--------------------+---------------------------+
 *	 | PageHeaderData   | StExtentPageHeader | payload                   |
 *	 +------------------+--------------------+---------------------------+
 *	 0                  24                   72                       8192
 *
 * pd_lower = pd_upper = pd_special = 24: to heap an empty page with no room.
 * ------------------------------------------------------------------------
 */

#define ST_EXTENT_MAGIC		0x58455453	/* "STEX" in the file */
#define ST_EXTENT_VERSION	1

typedef struct StExtentPageHeader
{
	uint32		magic;
	uint16		layout_version;
	uint16		unused;
	uint64		checksum;		/* XXH3 of what follows, payload included */
	uint64		first_row;		/* of the row group */
	uint64		xid;			/* full transaction id of the writer */
	uint32		pageno;			/* of this page in the extent, from 0 */
	uint32		npages;			/* of the extent */
	uint32		payload_len;
	uint32		unused2;
} StExtentPageHeader;

StaticAssertDecl(sizeof(StExtentPageHeader) == 48, "on-disk size");

#define ST_EXTENT_PAYLOAD_OFF (SizeOfPageHeaderData + sizeof(StExtentPageHeader))
#define ST_EXTENT_PAYLOAD (BLCKSZ - ST_EXTENT_PAYLOAD_OFF)

/*
 * Writes the image to free extents, or to new pages at the end of rel, and
 * sets the place and image_len of the group, whose first_row is set.  max_runs:
 * into how many runs of pages it may be cut.  Free extents before block
 * `before` may be taken: none (0) unless the group's descriptor belongs to the
 * running subtransaction and goes if that is rolled back.
 */
extern void st_extent_write(Relation rel, const StImage *img, StGroup *group,
							int max_runs, BlockNumber before);

/* Sets up an empty page whose body heap leaves alone (metapage, extents). */
extern void st_page_init(Page page);

/*
 * The header of a page that looks like an extent's (right page header and
 * magic; its checksum is not examined), or NULL.  The caller holds a lock.
 */
extern StExtentPageHeader *st_extent_header(Page page);

/* Is it a page of the delta without any line pointer in use? */
extern bool st_page_is_unused(Page page);

/*
 * Makes such a page one of a free extent, which belongs to no row group.
 * False if it is not one, or if somebody is looking at it.
 */
extern bool st_extent_claim_page(Relation rel, BlockNumber block,
								 Buffer *vmbuffer,
								 BufferAccessStrategy strategy);

/* ------------------------------------------------------------------------
 * Row groups by snapshot: st_group.c
 * ------------------------------------------------------------------------
 */

/*
 * The group whose range holds the row, seen by the snapshot.  incarnation is
 * left 0.  finished may
 * be NULL: then groups without an image count as absent.
 */
extern bool st_group_lookup(StCatalog *cat, uint64 row, Snapshot snapshot,
							StGroup *group, bool *finished);

/*
 * The descriptor of the group that holds the row, as the snapshot sees it;
 * false if there is none.  *finished as st_descriptor_decode() says.  Its
 * tuple stays good until the caller releases *buffer.  (st_descriptor.c)
 */
extern bool st_descriptor_find(StCatalog *cat, uint64 row, Snapshot snapshot,
							   StGroup *group, bool *finished,
							   HeapTuple tuple, Buffer *buffer);

/*
 * Groups all of whose rows are deleted for good: every snapshot that was
 * taken after newest, the last deleter, had ended sees so.  Notes that the
 * MVCC snapshot has found it so; asks whether it is known of the group.
 */
extern void st_group_note_dead(StCatalog *cat, const StGroup *group,
							   Snapshot snapshot, TransactionId newest);
extern bool st_group_is_dead(StCatalog *cat, const StGroup *group,
							 Snapshot snapshot);

/*
 * True: the snapshot sees that no row of the group was ever deleted.  False
 * tells nothing.  Cheaper than a probe for one tombstone.  (st_untouched.c)
 */
extern bool st_group_untouched(StCatalog *cat, const StGroup *group,
							   Snapshot snapshot);

/*
 * As st_visible_groups(), with the catalog open and nothing pending; NULL: of
 * a table that has no groups.
 */
extern StGroupList *st_visible_groups_in(StCatalog *cat, Snapshot snapshot,
										 MemoryContext mcxt);

/* As st_deleted_rows(), with the catalog open. */
extern uint64 *st_deleted_rows_in(StCatalog *cat, const StGroup *group,
								  Snapshot snapshot, MemoryContext mcxt,
								  uint32 *ndeleted);

/* Does the snapshot see a tombstone of the row? */
extern bool st_tombstone_seen(StCatalog *cat, uint64 row, Snapshot snapshot);

/* ------------------------------------------------------------------------
 * Where compaction moved rows: st_origin.c
 * ------------------------------------------------------------------------
 */

/* A moved row: place before (row number, or position of a heap TID), and now. */
typedef struct StMoved
{
	uint64		old;
	uint64		row;
} StMoved;

static inline uint64
st_delta_position(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/*
 * Remember moves of the running transaction; moved is sorted by old.  For
 * rows: those of one row group.  The catalog is open with RowExclusiveLock.
 */
extern void st_origin_add_rows(StCatalog *cat, const StMoved *moved, uint32 n);
extern void st_origin_add_delta(StCatalog *cat, const StMoved *moved, uint32 n);

/*
 * Where is the row now that was at this virtual TID, or at this TID of the
 * delta where xmax deleted it?  False if no compaction moved it.
 */
extern bool st_origin_of_row(StCatalog *cat, uint64 row, ItemPointer now);
extern bool st_origin_of_tid(Relation rel, const ItemPointerData *tid,
							 TransactionId xmax, ItemPointer now);

/* Forgets moves that are older than every snapshot; VACUUM calls it. */
extern bool st_origin_expired(StCatalog *cat, TransactionId oldest_xmin);
extern void st_origin_expire(StCatalog *cat, TransactionId oldest_xmin);

/* ------------------------------------------------------------------------
 * Pending writers: st_pending.c
 * ------------------------------------------------------------------------
 */

extern void st_pending_init(void);	/* once per backend */

/* Rows of the delta, for the option auto_compact: st_delta_growth.c */
extern void st_delta_grew(Relation rel, uint64 rows);
extern void st_delta_growth_init(void);
extern void st_toast_pack_init(void);

/* Locks what a unique check may read, before there is an index page lock. */
extern void st_catalog_hold(Relation rel);

/* Flushes if the row lies in a range that this backend still has pending. */
extern void st_pending_flush_row(Relation rel, uint64 row);

/* Forgets what is pending for rel's file (it is being emptied). */
extern void st_pending_discard(Relation rel);

/* Flushes rows that an earlier command left pending. */
extern void st_pending_flush_stale(Relation rel);

/* ------------------------------------------------------------------------
 * Rows into slots: st_row.c
 * ------------------------------------------------------------------------
 */

/*
 * Stores a row-group row with the given values (copied) into a slot of the
 * table, complete with TID and system columns of the group.
 */
extern void st_store_row(TupleTableSlot *slot, Relation rel, const StGroup *group,
						 uint32 row, const Datum *values, const bool *isnull);

/*
 * Makes the slot hold a row without a tuple header, whose values the caller
 * has put into the slot's arrays and keeps alive.
 */
extern void st_store_virtual_row(TupleTableSlot *slot, Relation rel, uint64 row);

/* TID and system columns of a slot whose row was added to a row group. */
extern void st_stamp_row(TupleTableSlot *slot, Relation rel, uint64 row,
						 TransactionId xmin, CommandId cmin);
extern void st_stamp_deleter(TupleTableSlot *slot, Relation rel);

/* ------------------------------------------------------------------------
 * Open readers, kept across statements: st_reader_cache.c
 * ------------------------------------------------------------------------
 */

typedef struct StCachedReader StCachedReader;
extern void st_reader_cache_init(void); /* once per backend */

/*
 * The reader of a group (incarnation set), pinned until it is released.
 * rel stays open meanwhile.
 */
extern StCachedReader *st_reader_acquire(Relation rel, const StGroup *group);
extern void st_reader_release(StCachedReader *cached);

/*
 * Looks how large a pinned reader has become.  Returns false if the cache is
 * above its limit and pins are in the way of making room.
 */
extern bool st_reader_account(StCachedReader *cached);

/* One row of it; the values stay valid until the next call. */
extern void st_reader_row(StCachedReader *cached, uint32 row, const bool *needed,
						  Datum *values, bool *isnull);

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

/* A row group as one MVCC snapshot sees it. */
typedef struct StFetchGroup
{
	StGroup		group;
	uint32		probes;			/* single rows that were asked for */
	bool		bitmap_loaded;
	uint64	   *deleted;		/* NULL: none, once loaded */
	StCachedReader *reader;		/* pinned, or NULL */
} StFetchGroup;

typedef struct StFetch
{
	Relation	rel;
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
	char	   *arena;			/* values of the slot that are no words */
	Size		arena_size;
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

/* ------------------------------------------------------------------------
 * Row locks: st_lock.c, st_lock_group.c, st_lock_tuple.c
 * ------------------------------------------------------------------------
 */

extern void st_lock_init(void); /* once per backend */

/* Forgets locked groups of rel's file, whose row numbers start again. */
extern void st_lock_forget(Relation rel);

/* The wish to lock, delete or update one row of a row group. */
typedef struct StRowOp
{
	Relation	rel;
	StCatalog	catalog;		/* RowExclusiveLock */
	ItemPointerData tid;
	uint64		row;
	CommandId	cid;
	LockTupleMode mode;
	LockWaitPolicy policy;
	XLTW_Oper	oper;
	bool		keep_lock;		/* leave an anchor: the row is to stay */
	TupleTableSlot *new_row;	/* UPDATE: mode depends on it, see st_lock.c */
	TM_FailureData *tmfd;
	TransactionId updater;		/* raw xmin of the tombstone that was met */
} StRowOp;

extern void st_row_op_begin(StRowOp *op, Relation rel, ItemPointer tid,
							CommandId cid, TM_FailureData *tmfd);
extern void st_row_op_end(StRowOp *op);

/*
 * Acquires the row for op->mode.  TM_Ok: nobody else can change the row, and
 * the row mutex is held until st_row_release().  Otherwise tmfd is filled as
 * heap does it, and no mutex is held.
 */
extern TM_Result st_row_acquire(StRowOp *op);
extern void st_row_release(StRowOp *op);

/* Key locks of others hold on the new version, too: st_lock_copy.c */
extern void st_copy_key_locks(StRowOp *op, ItemPointer new_tid);

/*
 * Under the row mutex, about an UPDATE in progress (op->updater) that made
 * the version at new_tid: does it leave the key alone, and KEY SHARE of this
 * transaction on that version.  False: rather wait for it.
 */
extern bool st_update_keeps_key(StRowOp *op, ItemPointer new_tid);
extern bool st_add_key_lock(StRowOp *op, ItemPointer new_tid);

/*
 * The group of a row whose descriptor the running transaction has locked: it
 * stays until the transaction ends, whatever others do.  Only the group that
 * was locked last is asked.
 */
extern bool st_locked_group(Relation rel, uint64 row, StGroup *group);

/*
 * Has the running transaction made a tombstone of the row, that still counts?
 * Unknown for rows of other groups than the one that was locked last.
 */
typedef enum StBuried
{
	ST_BURIED_UNKNOWN,
	ST_NOT_BURIED,
	ST_BURIED
} StBuried;

extern StBuried st_row_buried(Relation rel, uint64 row);
extern void st_note_buried(Relation rel, uint64 row, CommandId cid);

/*
 * Has it made one that the MVCC snapshot, of this transaction, sees?  False
 * if unknown.
 */
extern bool st_row_buried_before(Relation rel, uint64 row, Snapshot snapshot);

/*
 * The lock that heap_update() would ask for: NO KEY UPDATE unless a column
 * of a unique key changes.
 */
extern LockTupleMode st_update_lock_mode(Relation rel, ItemPointer otid,
										 TupleTableSlot *new_row);

/*
 * Heap says that the row at *tid, inserted by prior if that is valid, is
 * deleted.  TM_Updated if compaction has moved it to tmfd->ctid.
 */
extern TM_Result st_deleted_or_moved(Relation rel, const ItemPointerData *tid,
									 TransactionId prior, TM_FailureData *tmfd);

extern TM_Result st_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
							   TupleTableSlot *slot, CommandId cid,
							   LockTupleMode mode, LockWaitPolicy policy,
							   uint8 flags, TM_FailureData *tmfd);

/* ------------------------------------------------------------------------
 * Writes: st_insert.c, st_modify.c, st_logical.c
 * ------------------------------------------------------------------------
 */

extern void st_tuple_insert_speculative(Relation rel, TupleTableSlot *slot,
										CommandId cid, int options,
										struct BulkInsertStateData *bistate,
										uint32 token);
extern void st_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
							int options, struct BulkInsertStateData *bistate);
extern void st_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
							CommandId cid, int options,
							struct BulkInsertStateData *bistate);
extern void st_finish_bulk_insert(Relation rel, int options);
extern TM_Result st_tuple_delete(Relation rel, ItemPointer tid, CommandId cid,
								 Snapshot snapshot, Snapshot crosscheck,
								 bool wait, TM_FailureData *tmfd,
								 bool changing_part);
extern TM_Result st_tuple_update(Relation rel, ItemPointer otid,
								 TupleTableSlot *slot, CommandId cid,
								 Snapshot snapshot, Snapshot crosscheck,
								 bool wait, TM_FailureData *tmfd,
								 LockTupleMode *lockmode,
								 TU_UpdateIndexes *update_indexes);

/*
 * Tells logical decoding about the deletion of a row-group row, where the
 * relation's replica identity asks for it.
 */
extern void st_logical_delete(Relation rel, ItemPointer tid, CommandId cid);

/* Is it the tuple that stood for such a row?  (The page may be unlocked.) */
extern bool st_is_logical_dummy(HeapTuple tuple);

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

/*
 * Row groups handed out to the participants of a scan: the next group of
 * the list (sorted by first_row) that nobody took, or NULL.  The lists of the
 * participants may differ.  *pos is the caller's, 0 at the start.
 */
extern const StGroup *st_scan_take_group(StScan *scan, const StGroupList *groups, int *pos);

/* ------------------------------------------------------------------------
 * Callbacks of the table AM in st_am_*.c (types as in TableAmRoutine)
 * ------------------------------------------------------------------------
 */

extern double st_am_index_build_range_scan(Relation rel, Relation index,
										   struct IndexInfo *info, bool allow_sync,
										   bool anyvisible, bool progress,
										   BlockNumber start, BlockNumber nblocks,
										   IndexBuildCallback callback,
										   void *callback_state, TableScanDesc scan);
extern void st_am_index_validate_scan(Relation rel, Relation index,
									  struct IndexInfo *info, Snapshot snapshot,
									  struct ValidateIndexState *state);
extern void st_am_relation_vacuum(Relation rel, struct VacuumParams *params,
								  BufferAccessStrategy strategy);
#ifdef ST_HAVE_ANALYZE_STREAM
extern bool st_am_scan_analyze_next_block(TableScanDesc scan, ReadStream *stream);
#else
extern bool st_am_scan_analyze_next_block(TableScanDesc scan, BlockNumber block,
										  BufferAccessStrategy strategy);
#endif
extern bool st_am_scan_analyze_next_tuple(TableScanDesc scan, TransactionId oldest_xmin,
										  double *liverows, double *deadrows,
										  TupleTableSlot *slot);

/* What VACUUM does about row groups: st_reclaim.c */
extern void st_reclaim_coalesce(Relation rel);
extern bool st_reclaim(Relation rel, struct VacuumParams *params,
					   TransactionId oldest_xmin, BufferAccessStrategy strategy);

/* Free extents: st_free_extent.c */
extern StExtentRange *st_free_extent_all(StCatalog *cat, Snapshot snapshot,
										 int *n);
extern void st_free_extent_add(StCatalog *cat, BlockNumber start, uint32 nblocks);
extern bool st_free_extent_known(StCatalog *cat, BlockNumber block);

/* What of it can be taken now: the directory, read once. */
typedef struct StFreeSpace StFreeSpace;
extern StFreeSpace *st_free_space_read(StCatalog *cat);
extern BlockNumber st_free_space_total(const StFreeSpace *space);
extern BlockNumber st_free_space_missing(const StFreeSpace *space,
										 BlockNumber nblocks, BlockNumber before);
extern void st_free_extent_coalesce(StCatalog *cat);
extern BlockNumber st_free_extent_tail(StCatalog *cat, BlockNumber end);
extern void st_free_extent_cut(StCatalog *cat, BlockNumber end);

/* Gives free pages at the end of the file back: st_truncate.c */
extern void st_truncate(Relation rel, int elevel);
extern int	st_free_extent_take(Relation rel, uint32 nblocks, int max_runs,
								BlockNumber before, StExtentRange *runs);

extern void st_am_relation_copy_for_cluster(Relation from, Relation to, Relation index,
											bool use_sort, TransactionId oldest_xmin,
											TransactionId *xid_cutoff,
											MultiXactId *multi_cutoff,
											double *num_tuples, double *tups_vacuumed,
											double *tups_recently_dead);
#ifdef ST_HAVE_BITMAP_STREAM
extern bool st_am_scan_bitmap_next_tuple(TableScanDesc scan, TupleTableSlot *slot,
										 bool *recheck, uint64 *lossy_pages,
										 uint64 *exact_pages);
#else
extern bool st_am_scan_bitmap_next_block(TableScanDesc scan, struct TBMIterateResult *tbmres);
extern bool st_am_scan_bitmap_next_tuple(TableScanDesc scan, struct TBMIterateResult *tbmres,
										 TupleTableSlot *slot);
#endif
extern bool st_am_scan_sample_next_block(TableScanDesc scan, struct SampleScanState *state);
extern bool st_am_scan_sample_next_tuple(TableScanDesc scan, struct SampleScanState *state,
										 TupleTableSlot *slot);
extern void st_am_scan_set_tidrange(TableScanDesc scan, ItemPointer mintid,
									ItemPointer maxtid);
extern bool st_am_scan_getnextslot_tidrange(TableScanDesc scan, ScanDirection direction,
											TupleTableSlot *slot);
extern uint64 st_am_relation_size(Relation rel, ForkNumber fork);
extern void st_am_relation_estimate_size(Relation rel, int32 *attr_widths,
										 BlockNumber *pages, double *tuples,
										 double *allvisfrac);

#endif							/* ST_STORE_INT_H */
