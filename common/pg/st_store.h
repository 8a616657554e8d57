/*-------------------------------------------------------------------------
 *
 * st_store.h
 *	  The hybrid store: heap pages for new rows, row groups for old ones,
 *	  one relation for both.  (DESIGN section 3; README.md beside this.)
 *
 * An access method plugs in a row-group format (StFormat) and gets a table
 * access method.  The store owns: the metapage, row numbers and virtual TIDs,
 * extents, descriptors and tombstones in the TOAST relation, pending writers,
 * and every table AM callback.  It does not know what the bytes of a row
 * group mean.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_STORE_H
#define ST_STORE_H

#include "postgres.h"

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * Virtual TIDs (I2).  A row of a row group has a 64-bit row number, unique
 * in its relation file for ever.  Block numbers from 0x80000000 on never
 * exist in the file; 291 is the limit of tidbitmaps for offsets of a block.
 */
#define ST_VIRTUAL_BLOCK	((BlockNumber) 0x80000000)
#define ST_ROWS_PER_VBLOCK	291
#define ST_MAX_ROW_NUMBER	((uint64) 0x7FFFFFFE * ST_ROWS_PER_VBLOCK)

static inline bool
st_tid_is_virtual(const ItemPointerData *tid)
{
	return ItemPointerGetBlockNumberNoCheck(tid) >= ST_VIRTUAL_BLOCK &&
		ItemPointerGetBlockNumberNoCheck(tid) != InvalidBlockNumber;
}

static inline void
st_tid_from_row(ItemPointer tid, uint64 row)
{
	ItemPointerSet(tid, ST_VIRTUAL_BLOCK + (BlockNumber) (row / ST_ROWS_PER_VBLOCK),
				   (OffsetNumber) (1 + row % ST_ROWS_PER_VBLOCK));
}

static inline uint64
st_row_from_tid(const ItemPointerData *tid)
{
	return (uint64) (ItemPointerGetBlockNumberNoCheck(tid) - ST_VIRTUAL_BLOCK) *
		ST_ROWS_PER_VBLOCK + ItemPointerGetOffsetNumberNoCheck(tid) - 1;
}

/* A range of blocks. */
typedef struct StExtentRange
{
	BlockNumber start;
	BlockNumber end;			/* exclusive */
} StExtentRange;

/* Into how many runs of pages a row group may be cut. */
#define ST_MAX_RUNS 8

/*
 * A row group as its descriptor tells it.  Rows are numbered
 * first_row .. first_row + nrows - 1; first_row is the group's identity.
 * The image (encoded bytes) lies in nblocks pages: contiguous ones, or a few
 * runs of them (st_runs.c).
 */
typedef struct StGroup
{
	uint64		first_row;
	uint32		nrows;
	BlockNumber start_block;	/* of the first page */
	uint32		nblocks;
	uint32		nruns;			/* 0: contiguous */
	StExtentRange runs[ST_MAX_RUNS];	/* in the order of the image */
	uint64		image_len;		/* bytes of the image */
	uint64		footer_off;		/* the format's footer inside the image */
	uint32		footer_len;
	uint32		format_version; /* written by the format, checked by it */
	uint64		incarnation;	/* of the relation file: cache key, random */
	bool		full;			/* it ended because no more was to go in */
	bool		folded;			/* there may be bitmaps of its deleted rows */
	bool		mown;			/* there may be swaths: rows deleted many at once */
	bool		copied;			/* written while its rows counted elsewhere */
	uint64		order_hash;		/* rows are sorted by the orderby of this hash */
	uint32		dropped_rows;	/* VACUUM is removing it; nrows is 0 then */
	TransactionId xmin;			/* raw xmin and cmin of the descriptor: */
	CommandId	cmin;			/* system columns of the rows */
} StGroup;

/* Row groups visible to one snapshot, sorted by first_row. */
typedef struct StGroupList
{
	int			ngroups;
	StGroup    *groups;
} StGroupList;

/* An image under construction: append-only bytes, any length. */
typedef struct StImage StImage;
extern StImage *st_image_create(MemoryContext mcxt);
extern void st_image_append(StImage *img, const void *data, Size len);
extern uint64 st_image_len(const StImage *img);
extern const void *st_image_at(const StImage *img, uint64 off);
extern void st_image_truncate(StImage *img, uint64 len);
extern uint32 st_image_page_bytes(void);

typedef struct StWriter StWriter;	/* each format defines its own */
typedef struct StReader StReader;
struct StOptions;				/* st_options.h */

/*
 * Expressions of which a row group keeps zones, as it does of columns: their
 * identities (st_order_expr_id(); 0: none of this one) and types.
 */
typedef struct StKeys
{
	int			n;
	uint64		ids[INDEX_MAX_KEYS];
	Oid			types[INDEX_MAX_KEYS];
} StKeys;

/*
 * What an access method's row-group format provides.
 *
 * Writer: rows are added one by one (values are copied if kept; varlena
 * values may be toasted or compressed, the writer detoasts), finish() turns
 * them into an image and fills group->footer_off, footer_len and
 * format_version.  Everything lives in the given context, which the store
 * deletes.  A writer must be able to finish inside of parallel mode and at
 * pre-commit (no catalog writes, no CommandCounterIncrement).  The options are
 * those of the table, or what somebody asks about: a writer looks at no others,
 * and copies what it keeps.  column_bytes() reads a finished image's footer.
 * Who has values of expressions beside the rows, because they were sorted by
 * them, says so by keys() before the first row, and hands them in by
 * add_keys() with each row, before add().
 *
 * Reader: opened on one group; row() returns the values of one row (0-based
 * in the group).  needed is NULL for all columns or natts booleans; values
 * of other columns are left alone.  Attributes that the group does not have
 * (added later) get their missing value.  Returned pointers stay valid until
 * the next row() or close().  Sequential and random access are both fast.
 * The store keeps readers open across statements: a reader owns no buffer
 * pin, lock or resource of a transaction, and attach() gives it the relcache
 * entry to use from then on (same relation, same row type).  describe(),
 * called before any value is asked for, sets another row type than that of
 * the relcache: ALTER TABLE reads rows of the old type, with the values that
 * were missing in it, when the relcache already has the new one.
 */
typedef struct StFormat
{
	const char *am_name;		/* "colcompress": also label provider, schema */
	uint32		format_version; /* newest that this build writes */

	StWriter   *(*writer_create) (Relation rel, const struct StOptions *options,
								  MemoryContext mcxt);
	void		(*writer_keys) (StWriter *w, const StKeys *keys);
	void		(*writer_add_keys) (StWriter *w, const Datum *values, const bool *isnull);
	void		(*writer_add) (StWriter *w, const Datum *values, const bool *isnull);
	Size		(*writer_memory) (const StWriter *w);
	bool		(*writer_full) (const StWriter *w);
	void		(*writer_finish) (StWriter *w, StImage *img, StGroup *group);
	uint64		(*column_bytes) (const void *footer, AttrNumber attno);

	StReader   *(*reader_open) (Relation rel, const StGroup *group, MemoryContext mcxt);
	void		(*reader_row) (StReader *r, uint32 row, const bool *needed,
							   Datum *values, bool *isnull);
	void		(*reader_attach) (StReader *r, Relation rel);
	void		(*reader_describe) (StReader *r, TupleDesc desc);
	void		(*reader_close) (StReader *r);
} StFormat;

/* A table access method of ours: rel->rd_tableam points to .routine. */
typedef struct StTableAm
{
	TableAmRoutine routine;
	const StFormat *format;
} StTableAm;

/* Fills am->routine; call once from _PG_init. */
extern void st_tableam_init(StTableAm *am, const StFormat *format);

/*
 * What the handler of the access method returns.  The server asks it for each
 * relation of ours that a backend opens; the first time, callbacks at the ends
 * of transactions are registered, so that a backend without such relations
 * pays nothing for them.
 */
extern const TableAmRoutine *st_tableam_handler(StTableAm *am);

/*
 * For hooks, which are called for every query: has this backend opened a
 * relation of this library's yet?  And does a plan that was started have one?
 */
extern bool st_store_in_use;
extern bool st_plan_is_ours(const EState *estate);

/* The format behind a relation, or NULL if it is not one of this library's. */
extern const StFormat *st_relation_format(Relation rel);

/* The same by OID; somebody holds a lock on it. */
extern const StFormat *st_table_format(Oid relid);

/*
 * Reading.  All of these first flush rows that this backend has pending for
 * the relation, so that a statement sees what its transaction wrote.
 */
extern void st_flush_pending(Relation rel);

/*
 * The same for every relation.  To be called before parallel workers may
 * start: they see the transaction's rows, but not this backend's memory.
 */
extern void st_flush_all_pending(void);

/* To be called in ProcessUtility_hook, before the previous hook. */
struct PlannedStmt;
extern void st_flush_before_utility(const struct PlannedStmt *pstmt);

/*
 * To be called when a command that may write begins, and when it ends, before
 * its triggers: tells logical decoding of rows that wait for their row group.
 */
extern void st_log_rows_before_command(void);

/*
 * The row groups visible to the snapshot, sorted by first_row, allocated in
 * mcxt.  Without those that are being written.
 */
extern StGroupList *st_visible_groups(Relation rel, Snapshot snapshot, MemoryContext mcxt);

/*
 * Rows of the group that the snapshot sees as deleted: bitmap of nrows bits
 * (bit set = deleted), or NULL when there are none.  *ndeleted may be NULL.
 */
extern uint64 *st_deleted_rows(Relation rel, const StGroup *group, Snapshot snapshot,
							   MemoryContext mcxt, uint32 *ndeleted);

/*
 * The same for a scan that asks for one group after the other, ngroups of
 * them in all (0: nobody knows).  Lives in mcxt; *ndeleted is always set.
 */
typedef struct StDeletions StDeletions;
extern StDeletions *st_deletions_create(Relation rel, Snapshot snapshot, uint32 ngroups,
										MemoryContext mcxt);
extern uint64 *st_deletions_of(StDeletions *deletions, const StGroup *group,
							   MemoryContext mcxt, uint32 *ndeleted);

/*
 * Copies image bytes [off, off+len) to dst.  Raises DATA_CORRUPTED with
 * relation and block when a page is not the one that was written.
 */
extern void st_read_image(Relation rel, const StGroup *group, uint64 off, Size len, void *dst);

/*
 * The same for a reader that keeps a bitmap of the extent's pages (nblocks
 * bits, 0 at the start): a page's checksum is computed once.
 */
extern void st_read_image_verified(Relation rel, const StGroup *group, uint64 off,
								   Size len, void *dst, uint64 *verified);

/*
 * Scan of the delta (heap pages) only, skipping the extents of the groups.
 * Rows come as in heap_getnextslot.  nparts/part: the i-th of n equal block
 * ranges, for parallel workers.  The slot is a TTSOpsBufferHeapTuple one.
 */
typedef struct StDeltaScan StDeltaScan;
extern StDeltaScan *st_delta_begin(Relation rel, Snapshot snapshot, const StGroupList *groups);
extern uint32 st_delta_nchunks(StDeltaScan *scan);	/* units of up to 128 blocks */
extern void st_delta_set_chunk(StDeltaScan *scan, uint32 chunk);
extern bool st_delta_next(StDeltaScan *scan, TupleTableSlot *slot);	/* in the current chunk */
extern void st_delta_end(StDeltaScan *scan);

/*
 * The same for the rows of one block; false if it is none of the delta's.  For
 * st_delta_next_page() only.
 */
extern bool st_delta_set_block(StDeltaScan *scan, BlockNumber block);

/*
 * Instead of st_delta_next(): all visible rows of the chunk's next page that
 * has any, in tuples, which has room for MaxHeapTuplesPerPage of them.  They
 * stay valid until the caller releases the buffer.  Returns how many there
 * are, 0 at the end of the chunk.
 */
extern int	st_delta_next_page(StDeltaScan *scan, HeapTupleData *tuples, Buffer *buffer);

/* Rows of the delta, or deleted ones of row groups, that are worth a worker. */
#define ST_WORKER_ROWS	10000

/* Share of deleted rows from which a row group is rewritten. */
#define ST_DELETED_SHARE	0.10

#endif							/* ST_STORE_H */
