/*-------------------------------------------------------------------------
 *
 * st_catalog.h
 *	  Visibility tuples: the entries that the store keeps in a table's TOAST
 *	  relation, their payloads on disk, and how to read and write them.
 *
 *		chunk_id = base + (row >> 32)
 *		chunk_seq = (int32) ((row & 0xffffffff) ^ 0x80000000)
 *
 * Other rooms include st_visibility.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CATALOG_H
#define ST_CATALOG_H

#include "postgres.h"

#include "access/genam.h"
#include "access/htup.h"
#include "access/sdir.h"
#include "access/transam.h"
#include "storage/buf.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "st_file.h"

typedef enum StKeyBase
{
	ST_DESCRIPTOR = 1000,
	ST_SWATH = 1500,			/* row: first one that was deleted */
	ST_TOMBSTONE = 2000,
	ST_PIECE = 2500,			/* row: first one that the bitmap is about */
	ST_ANCHOR = 3000,
	ST_VACUUM_STATE = 4000,		/* rows: state, walk, -, place, hidden, wanted */
	ST_FREE_EXTENT = 5000,		/* row: first block of the extent */
	ST_RETIRED = 6000,			/* row: first row of a group that was compacted */
	ST_ORIGIN_ROWS = 7000,		/* row: first old row of a chunk */
	ST_ORIGIN_DELTA = 8000,		/* row: number of a chunk, of rows reserved for it */
	ST_ORIGIN_MOVE = 9000		/* row: transaction id of the compaction */
} StKeyBase;

/* Keys of a base: chunk_ids base .. base + ST_KEY_HIGH_MAX. */
#define ST_KEY_HIGH_MAX ((uint32) (ST_MAX_ROW_NUMBER >> 32))

StaticAssertDecl(ST_MAX_ROW_NUMBER >> 32 < 500, "key bases must not overlap");

/* Toasted values have chunk_ids from here on. */
#define ST_KEYS_END		10000

/* Longest payload of a visibility tuple: a page holds four, as of TOAST. */
#define ST_MAX_PAYLOAD	1900

#define ST_DESCRIPTOR_VERSION	5
#define ST_TOMBSTONE_VERSION	2	/* 1, unless it forwards to a row group */
#define ST_PIECE_VERSION		1
#define ST_SWATH_VERSION		2	/* 1, unless its rows were updated */
#define ST_ANCHOR_VERSION	1

/* Flags of a descriptor */
#define ST_DESCRIPTOR_FINISHED	0x0001	/* the extent is written */
#define ST_DESCRIPTOR_FULL		0x0002	/* StGroup.full */
#define ST_DESCRIPTOR_DROPPED	0x0004	/* all rows are dead to everyone, the
										 * extent may be gone */
#define ST_DESCRIPTOR_FOLDED	0x0008	/* StGroup.folded; version 4 */
#define ST_DESCRIPTOR_MOWN		0x0010	/* StGroup.mown; version 5 */
#define ST_DESCRIPTOR_COPIED	0x0020	/* StGroup.copied; older builds wait for
										 * the writer instead */

/* chunk_data of a descriptor. */
typedef struct StDescriptorPayload
{
	uint16		version;
	uint16		flags;
	uint32		nrows;			/* reserved rows until finished */
	uint64		first_row;
	BlockNumber start_block;	/* invalid until finished */
	uint32		nblocks;
	uint64		image_len;
	uint64		footer_off;
	uint32		footer_len;
	uint32		format_version;
	uint64		order_hash;		/* of the orderby that rows are sorted by, or 0;
								 * not in version 1 */
	uint64		checksum;		/* XXH3 of all before */
} StDescriptorPayload;

StaticAssertDecl(sizeof(StDescriptorPayload) == 64, "on-disk size");

#define ST_DESCRIPTOR_V1_SIZE	56

/*
 * Version 3 of a descriptor; without runs it is written as version 2.  Version
 * 4 has the flag ST_DESCRIPTOR_FOLDED, version 5 ST_DESCRIPTOR_MOWN; their length
 * is that of any version before.
 */
typedef struct StDescriptorRunsPayload
{
	StDescriptorPayload base;
	StRunsPayload runs;
} StDescriptorRunsPayload;

/* chunk_data of a tombstone. */
typedef struct StTombstonePayload
{
	uint16		version;
	uint16		forward[3];		/* ItemPointerData: own TID = deleted, TID of
								 * the new version, or moved partitions */
} StTombstonePayload;

StaticAssertDecl(sizeof(StTombstonePayload) == 8, "on-disk size");

/* Rows of a piece, the last one of a row group aside. */
#define ST_PIECE_ROWS	8192
#define ST_PIECE_WORDS	(ST_PIECE_ROWS / 64)

/*
 * chunk_data of a piece: which rows of a part of a row group are deleted for
 * everybody.  A part begins at a multiple of ST_PIECE_ROWS in the group.
 */
typedef struct StPiecePayload
{
	uint16		version;
	uint16		unused;
	uint32		nrows;			/* bits that mean anything, the others are 0 */
	uint32		ndeleted;		/* set bits */
	uint32		unused2;
	uint64		checksum;		/* XXH3 of all else, with first row as seed */
	uint64		bits[ST_PIECE_WORDS];	/* as many as nrows need */
} StPiecePayload;

StaticAssertDecl(offsetof(StPiecePayload, bits) == 24, "on-disk size");
StaticAssertDecl(sizeof(StPiecePayload) <= ST_MAX_PAYLOAD, "a piece is one tuple");

/* Rows that a swath can be about: its first one, and those that follow it. */
#define ST_SWATH_ROWS	1024
#define ST_SWATH_WORDS	(ST_SWATH_ROWS / 64)

/*
 * chunk_data of a swath: rows that one command has deleted or updated.  Bit i
 * stands for row number key + i; bit 0 is set, so that no two swaths of rows
 * that are deleted have the same key.  Version 2: the rows were updated, and
 * behind the bits stands the row number of the first one's new version; those
 * of the others follow it, in their order.
 */
typedef struct StSwathPayload
{
	uint16		version;
	uint16		nwords;
	uint32		flags;
	uint64		checksum;		/* XXH3 of all else, with key row as seed */
	uint64		bits[ST_SWATH_WORDS + 1];	/* nwords of them, or one more */
} StSwathPayload;

/* Of version 2, while its transaction runs: it gets no more rows. */
#define ST_SWATH_STOPPED	0x0001

StaticAssertDecl(offsetof(StSwathPayload, bits) == 16, "on-disk size");

/* chunk_data of an anchor: nothing but its version. */
typedef struct StAnchorPayload
{
	uint16		version;
	uint16		unused;
} StAnchorPayload;

StaticAssertDecl(sizeof(StAnchorPayload) == 4, "on-disk size");

/*
 * chunk_data of the vacuum state: index entries of rows whose tombstones are
 * older than cleaned_xid have been removed.
 */
typedef struct StVacuumStatePayload
{
	uint16		version;
	uint16		unused[3];
	uint64		cleaned_xid;	/* full transaction id */
} StVacuumStatePayload;

StaticAssertDecl(sizeof(StVacuumStatePayload) == 16, "on-disk size");

/*
 * chunk_data of a free extent.  The tuple's inserter freed it: it may be
 * used again once nobody has a snapshot from before.
 */
typedef struct StFreeExtentPayload
{
	uint16		version;
	uint16		remainder;		/* 1: of an extent that the inserter took */
	uint32		nblocks;
} StFreeExtentPayload;

StaticAssertDecl(sizeof(StFreeExtentPayload) == 8, "on-disk size");

/*
 * chunk_data of a retired group: what VACUUM has to know about a group that
 * a compaction replaced.  The tuple's inserter is the compaction; once nobody
 * has a snapshot from before, the group's extent is free.  (The descriptor
 * itself may be pruned before VACUUM sees it.)
 */
typedef struct StRetiredPayload
{
	uint16		version;
	uint16		unused;
	uint32		nrows;
	BlockNumber start_block;
	uint32		nblocks;		/* 0: they are free already */
} StRetiredPayload;

StaticAssertDecl(sizeof(StRetiredPayload) == 16, "on-disk size");

/* Version 2 of it; without runs it is written as version 1. */
typedef struct StRetiredRunsPayload
{
	StRetiredPayload base;
	StRunsPayload runs;
} StRetiredRunsPayload;

/* An open TOAST relation with its indexes. */
typedef struct StCatalog
{
	Relation	rel;			/* the table */
	Relation	toast;
	Relation   *indexes;
	int			nindexes;
	Relation	index;			/* the valid one: for reading */
	bool	   *ready;			/* [nindexes]: to be inserted into */
	bool		all_valid;		/* none is being built, or left behind */
	LOCKMODE	lockmode;
} StCatalog;

/*
 * Opens the visibility tuples of rel.  Returns false, with nothing open, if
 * the table has no TOAST relation.  st_catalog_close() keeps locks stronger
 * than AccessShareLock until the transaction ends.
 */
extern bool st_catalog_open(StCatalog *cat, Relation rel, LOCKMODE lockmode);
extern void st_catalog_close(StCatalog *cat);

/*
 * Creates the TOAST relation of rel if it has none.  Returns false if that is
 * impossible here: in parallel mode, or without AccessExclusiveLock.
 */
extern bool st_catalog_ensure(Relation rel);
extern void st_catalog_retire_indexes(Relation rel);

/*
 * To be called before the server may toast a value of ours: the relation
 * cache may be wrong about the indexes (see st_toast_index.c).
 */
extern void st_catalog_correct_flags(Relation rel);
extern void st_toast_index_init(void);	/* once per backend */

/* The two key columns of an entry. */
extern void st_catalog_key(StKeyBase base, uint64 row, Datum *values);

/*
 * Inserts one visibility tuple as command cid of the current transaction;
 * options as for heap_insert (HEAP_INSERT_NO_LOGICAL is added).  The catalog
 * is open with RowExclusiveLock.  tid may be NULL.
 */
extern void st_catalog_insert(StCatalog *cat, StKeyBase base, uint64 row,
							  const void *payload, Size len, CommandId cid,
							  int options, ItemPointer tid);

/*
 * Deletes a visibility tuple without waiting; false if somebody else has
 * locked or deleted it.  The catalog is open with RowExclusiveLock.
 */
extern bool st_catalog_delete(StCatalog *cat, ItemPointer tid);

/*
 * Has a running transaction locked or deleted the tuple, so that a deletion
 * without waiting would fail?
 */
extern bool st_tuple_is_held(Relation rel, const ItemPointerData *tid);

/*
 * Scan of the visibility tuples with rows first..last of one base.  Any kind
 * of snapshot; a dirty one is filled as by heap.  The payload of an entry is
 * in the buffer: valid until the next call.
 */
typedef struct StCatalogEntry
{
	uint64		row;
	const char *payload;
	Size		len;
	HeapTuple	tuple;			/* header and TID of the TOAST tuple */
	Buffer		buffer;			/* pinned, not locked */
} StCatalogEntry;

typedef struct StCatalogScan
{
	StCatalog  *cat;
	StKeyBase	base;
	uint64		first;
	uint64		last;
	struct SysScanDescData *scan;
	StCatalogEntry entry;
} StCatalogScan;

/* Reads an entry from a tuple of the TOAST relation, whose page is pinned. */
extern void st_catalog_entry_fill(StCatalog *cat, HeapTuple tuple,
								  StKeyBase base, Buffer buffer,
								  StCatalogEntry *entry);

/* Is it the visibility tuple with that key?  Its page is locked. */
extern bool st_catalog_entry_is(StCatalog *cat, HeapTuple tuple,
								StKeyBase base, uint64 row);

extern void st_catalog_scan_begin(StCatalogScan *scan, StCatalog *cat,
								  StKeyBase base, uint64 first, uint64 last,
								  Snapshot snapshot);
extern StCatalogEntry *st_catalog_scan_next(StCatalogScan *scan,
											ScanDirection direction);
extern void st_catalog_scan_end(StCatalogScan *scan);

/*
 * Does SnapshotSelf see anything with a chunk_id of ours?  _delete_all() deletes
 * that; false if somebody else is at it.
 */
extern bool st_catalog_any(StCatalog *cat);
extern bool st_catalog_delete_all(StCatalog *cat);

/* Is it an entry of the base, and for which row?  Of a tuple from any scan. */
extern bool st_catalog_tuple_row(const StCatalog *cat, HeapTuple tuple,
								 StKeyBase base, uint64 *row);

/*
 * Ends the scan, but keeps the page of its last entry pinned: *tuple is good
 * until the caller releases the buffer.
 */
extern Buffer st_catalog_scan_end_pinned(StCatalogScan *scan, HeapTuple tuple);

/*
 * Raise an error: the entry is damaged; its payload has another length or is of
 * a newer version.
 */
extern void st_entry_corrupt(Relation rel, const StCatalogEntry *entry, const char *kind);
extern void st_entry_check(Relation rel, const StCatalogEntry *entry, Size len,
						   uint16 newest, const char *kind);

/*
 * Decodes a descriptor and checks it (DATA_CORRUPTED).  Returns false for one
 * that is not finished: group then holds first_row and the reserved nrows.
 */
extern bool st_descriptor_decode(Relation rel, const StCatalogEntry *entry,
								 StGroup *group);

/* Returns how many bytes of the payload are to be written. */
extern Size st_descriptor_encode(const StGroup *group, bool finished,
								 StDescriptorRunsPayload *payload);

/*
 * Overwrites the descriptor of group->first_row, which the running
 * transaction inserted, with its finished form.  No new tuple version.
 */
extern void st_descriptor_finish(StCatalog *cat, const StGroup *group);

/* Notes in place that the rows of the group are sorted: group->order_hash. */
extern void st_descriptor_sorted(StCatalog *cat, const StGroup *group);

/*
 * Notes in place that there may be pieces of the group, before the first one is
 * made.  False: its descriptor is gone.
 */
extern bool st_descriptor_folded(StCatalog *cat, const StGroup *group);

/* The same of swaths. */
extern bool st_descriptor_mown(StCatalog *cat, const StGroup *group);

/*
 * Marks the descriptor of a group of which nobody sees a row, in place: from
 * now on nobody looks into its extent, whether the running transaction commits
 * or not.
 */
extern void st_descriptor_drop(StCatalog *cat, const StGroup *group);

/*
 * Overwrites the payload of the entry of a row, in place: no new version, not
 * undone by an abort.  False if there is none of that length.
 */
extern bool st_catalog_overwrite(StCatalog *cat, StKeyBase base, uint64 row,
								 const void *payload, Size len);

/*
 * Forwarding TID <-> payload of a tombstone.  Encoded as version 1: who forwards
 * to a row group has to raise it.
 */
extern void st_tombstone_encode(const ItemPointerData *forward,
								StTombstonePayload *payload);
extern void st_tombstone_decode(Relation rel, const StCatalogEntry *entry,
								ItemPointer forward);

/* The full transaction id of a normal xid that is not in the future. */
extern FullTransactionId st_full_xid(TransactionId xid);

#endif							/* ST_CATALOG_H */
