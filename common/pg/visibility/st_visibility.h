/*-------------------------------------------------------------------------
 *
 * st_visibility.h
 *	  Who sees what: row groups and deleted rows by snapshot and as VACUUM
 *	  sees them, and where compaction moved rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_VISIBILITY_H
#define ST_VISIBILITY_H

#include "postgres.h"

#include "access/heapam.h"
#include "storage/itemptr.h"
#include "utils/snapshot.h"

#include "st_catalog.h"
#include "st_file.h"

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

/*
 * As st_deleted_rows(), with the catalog open.  *ntombstones: how many tuples
 * were read for that, besides bitmaps.  Both numbers may be NULL.
 */
extern uint64 *st_deleted_rows_in(StCatalog *cat, const StGroup *group,
								  Snapshot snapshot, MemoryContext mcxt,
								  uint32 *ndeleted, uint32 *ntombstones);

/* The same of the rows first..last; what it says of others is not to be asked. */
extern uint64 *st_deleted_rows_among(StCatalog *cat, const StGroup *group,
									 uint32 first, uint32 last, Snapshot snapshot,
									 MemoryContext mcxt);

/*
 * Sets the bits of those rows among first..last of the group that have a
 * tombstone or are in a swath in *bitmap, which is made in mcxt if it is NULL and there are any.
 * Returns how many these are; *newest becomes the newest deleter, if that is
 * newer.
 */
extern uint32 st_mark_deleted(StCatalog *cat, const StGroup *group, uint32 first,
							  uint32 last, Snapshot snapshot, MemoryContext mcxt,
							  uint64 **bitmap, TransactionId *newest);

/* Bytes of a bitmap of the group's rows. */
static inline Size
st_bitmap_bytes(const StGroup *group)
{
	return (group->nrows + 63) / 64 * sizeof(uint64);
}

/* The newer of two, of which frozen ones are the oldest. */
static inline TransactionId
st_newer_xid(TransactionId a, TransactionId b)
{
	if (!TransactionIdIsNormal(a))
		return b;
	if (!TransactionIdIsNormal(b))
		return a;
	return TransactionIdPrecedes(a, b) ? b : a;
}

/* What one MVCC snapshot sees of a group's tombstones: all zeros at the start. */
typedef enum StNearKnown
{
	ST_NEAR_UNKNOWN,
	ST_NEAR_NONE,				/* no row is deleted */
	ST_NEAR_SOME,				/* ask the windows */
	ST_NEAR_ALL					/* every row is */
} StNearKnown;

typedef struct StDeletedNear
{
	StNearKnown known;
	uint8	   *windows;
	uint32		ahead;			/* windows to be loaded together, at most */
	uint64	   *bitmap;			/* of the windows that are loaded */
	uint32		ndeleted;		/* in these */
	TransactionId newest;		/* their newest deleter */
} StDeletedNear;

/*
 * Is the row of the group deleted?  Memory comes from mcxt.  The catalog is
 * open.  (st_deleted_near.c)
 */
extern bool st_deleted_near(StDeletedNear *near, StCatalog *cat, const StGroup *group,
							uint64 row, Snapshot snapshot, MemoryContext mcxt);
extern void st_deleted_near_free(StDeletedNear *near);

/* ------------------------------------------------------------------------
 * Old deletions as bitmaps, in pieces of a group: st_piece.c
 * ------------------------------------------------------------------------
 */

typedef struct StPiece
{
	uint64		first_row;
	uint32		nrows;
	uint64		bits[ST_PIECE_WORDS];
} StPiece;

static inline void
st_piece_set(StPiece *piece, uint64 row)
{
	uint64		off = row - piece->first_row;

	piece->bits[off >> 6] |= UINT64CONST(1) << (off & 63);
}

/* False for rows that are not among the piece's, too. */
static inline bool
st_piece_has(const StPiece *piece, uint64 row)
{
	uint64		off = row - piece->first_row;

	return off < piece->nrows &&
		(piece->bits[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
}

/*
 * The piece that the row of the group is in; false, and all bits 0, if there is
 * none.  If the snapshot is no MVCC one, with the bits of all its versions; and
 * whatever group->folded says.
 */
extern bool st_piece_read(StCatalog *cat, const StGroup *group, uint64 row,
						  Snapshot snapshot, StPiece *piece);

/* Has the row's bit been set?  By the same rules. */
extern bool st_row_folded(StCatalog *cat, const StGroup *group, uint64 row,
						  Snapshot snapshot);

/*
 * Sets the bits of all pieces that have rows among first..last of the group in
 * *bitmap, as st_mark_deleted() does.  Returns how many were not set before.
 */
extern uint32 st_mark_folded(StCatalog *cat, const StGroup *group, uint32 first,
							 uint32 last, Snapshot snapshot, MemoryContext mcxt,
							 uint64 **bitmap, TransactionId *newest);

/*
 * Puts the piece into the place of its last version.  The catalog is open with
 * RowExclusiveLock, and the caller keeps others from doing the same.
 */
extern void st_piece_replace(StCatalog *cat, const StPiece *piece);

/* ------------------------------------------------------------------------
 * Rows deleted or updated by one command: st_swath.c
 * ------------------------------------------------------------------------
 */

typedef struct StSwath
{
	uint64		first_row;
	uint32		nrows;
	bool		updated;		/* its rows have new versions, */
	uint64		new_row;		/* from this one on */
	uint64		bits[ST_SWATH_WORDS];
} StSwath;

static inline bool
st_swath_has(const StSwath *swath, uint64 row)
{
	uint64		off = row - swath->first_row;

	return off < swath->nrows &&
		(swath->bits[off >> 6] & (UINT64CONST(1) << (off & 63))) != 0;
}

/* Reads the entry, of ST_SWATH, and checks it (DATA_CORRUPTED). */
extern void st_swath_decode(Relation rel, const StCatalogEntry *entry, StSwath *swath);

/* Where a row of the swath is now: at its own TID if it was deleted. */
extern void st_swath_forward(const StSwath *swath, uint64 row, ItemPointer forward);

/*
 * Deletes the swath's rows, as command cid.  Row 0 of it is one of them.  The
 * catalog is open with RowExclusiveLock, and the caller keeps others from
 * changing these rows.
 */
extern void st_swath_insert(StCatalog *cat, const StSwath *swath, CommandId cid);

/*
 * A swath of version 2 that the running command adds rows to, one by one and
 * in ascending order.  Others keep it from that by st_swath_stop().
 */
typedef struct StGrowth
{
	bool		growing;
	ItemPointerData tid;		/* of its tuple */
	uint64		group_first;	/* first row of the group */
	uint64		first_row;
	uint64		last_row;		/* that was added */
	uint64		end;			/* rows from here on are not for it */
	uint64		new_row;
	uint32		nrows;			/* that were added */
	uint64		taken[ST_SWATH_WORDS];	/* rows that were not free when it began */
	StSwathPayload payload;

	/* for who decides whether another one is worth it */
	uint64		row_before;
	uint64		tried_stretch;
	uint32		tries;
} StGrowth;

/*
 * Makes the swath of the row alone, whose new version is new_row, as command
 * cid; first_row, end and taken are set.  The catalog is open with
 * RowExclusiveLock, and the caller keeps others from the rows up to end.
 */
extern void st_swath_begin(StCatalog *cat, StGrowth *g, uint64 new_row, CommandId cid);

/* Adds a row, with the next new version.  False: it was stopped. */
extern bool st_swath_grow(Relation toast, StGrowth *g, uint64 row);

/*
 * Rows of the swath, as it was read, are going to be locked or changed: it gets
 * none any more.  Reads it once again.
 */
extern void st_swath_stop(StCatalog *cat, const StCatalogEntry *entry, StSwath *swath);

/* A scan of all swaths that may have rows among first..last of a group. */
extern void st_swath_scan_begin(StCatalogScan *scan, StCatalog *cat, uint64 first,
								uint64 last, Snapshot snapshot);

/* Does the descriptor of the row's group say now that there may be swaths? */
extern bool st_may_be_mown(StCatalog *cat, uint64 row);

/*
 * Sets the bits of those rows among first..last of the group that are in a
 * swath, as st_mark_deleted() does.  Returns how many were not set before.
 */
extern uint32 st_mark_mown(StCatalog *cat, const StGroup *group, uint32 first,
						   uint32 last, Snapshot snapshot, MemoryContext mcxt,
						   uint64 **bitmap, TransactionId *newest);

/* Are there swaths in the row's group? */
typedef enum StMown
{
	ST_NOT_MOWN,
	ST_MAY_BE_MOWN,
	ST_ASK_MOWN					/* the descriptor */
} StMown;

/* What an MVCC snapshot that has seen the group's descriptor knows. */
static inline StMown
st_group_mown(const StGroup *group)
{
	return group->mown ? ST_MAY_BE_MOWN : ST_NOT_MOWN;
}

/*
 * The deletion of one row that the snapshot sees: a tombstone or a swath,
 * whose tuple tells who made it.  NULL: there is none.  Either way it ends with
 * st_deletion_end().
 */
typedef struct StDeletion
{
	StCatalogScan scan;
	bool		mown;			/* it is a swath */
} StDeletion;

extern StCatalogEntry *st_deletion_begin(StDeletion *d, StCatalog *cat, uint64 row,
										 Snapshot snapshot, StMown mown);

/*
 * The same for who is going to lock or change the row if there is none, under
 * its mutex: swaths that grow do not get it.
 */
extern StCatalogEntry *st_deletion_begin_for_change(StDeletion *d, StCatalog *cat,
													uint64 row, Snapshot snapshot);
extern void st_deletion_forward(StDeletion *d, Relation rel, uint64 row,
								ItemPointer forward);
extern void st_deletion_end(StDeletion *d);

/* Does the snapshot see one? */
extern bool st_deletion_seen(StCatalog *cat, uint64 row, Snapshot snapshot,
							 StMown mown);

/* ------------------------------------------------------------------------
 * Row groups as VACUUM sees them: st_versions.c
 *
 * Not by a snapshot but by who inserted and deleted them, and whether anybody
 * can still see them.
 * ------------------------------------------------------------------------
 */

/*
 * A version of a row group's descriptor.  xid is the inserter for
 * HEAPTUPLE_INSERT_IN_PROGRESS, the deleter for HEAPTUPLE_DELETE_IN_PROGRESS.
 * A group can have several versions while its descriptor is being replaced.
 */
typedef struct StGroupVersion
{
	StGroup		group;
	HTSV_Result state;
	TransactionId xid;
	TransactionId xmin;			/* inserter, FrozenTransactionId if frozen */
	TransactionId xmax;			/* who replaces or has replaced it, or invalid */
	bool		aborted;		/* state is HEAPTUPLE_DEAD as xmin aborted */
	bool		finished;		/* has an image */
	ItemPointerData tid;		/* of the descriptor in the TOAST relation */
} StGroupVersion;

typedef struct StGroupVersions
{
	int			n;
	StGroupVersion *v;			/* sorted by first_row */
} StGroupVersions;

/*
 * The effect of a tombstone on its row: HEAPTUPLE_DEAD (nobody sees the row),
 * HEAPTUPLE_RECENTLY_DEAD or HEAPTUPLE_DELETE_IN_PROGRESS (by xid).
 */
typedef struct StRowDeath
{
	uint32		row;			/* 0-based in the group */
	HTSV_Result state;
	TransactionId xid;			/* who deletes; frozen counts as old */
	TransactionId raw_xid;		/* the same, as if never frozen */
	CommandId	cid;			/* raw: good if this transaction deletes */
	bool		folded;			/* a bit says so: dead, xid frozen, no forward */
	ItemPointerData forward;	/* as in t_ctid of a heap tuple */
} StRowDeath;

typedef struct StRowDeaths
{
	uint32		n;
	uint32		next;			/* cursor of st_row_state() */
	StRowDeath *d;				/* sorted by row, at most one per row */
} StRowDeaths;

extern StGroupVersions *st_group_versions(Relation rel, TransactionId oldest_xmin,
										  MemoryContext mcxt);
extern StGroupVersions *st_group_versions_from(Relation rel, uint64 row, int limit,
											   TransactionId oldest_xmin,
											   MemoryContext mcxt);
extern StGroupVersions *st_group_versions_all(Relation rel,
											  TransactionId oldest_xmin,
											  MemoryContext mcxt);
extern bool st_group_version_refresh(Relation rel, TransactionId oldest_xmin,
									 StGroupVersion *version);
extern StGroupList *st_group_versions_list(const StGroupVersions *versions);
extern StRowDeaths *st_row_deaths(Relation rel, const StGroup *group,
								  TransactionId oldest_xmin, MemoryContext mcxt);
extern StRowDeaths *st_row_deaths_of(Relation rel, const StGroup *group,
									 uint64 first, uint32 nrows,
									 TransactionId oldest_xmin,
									 MemoryContext mcxt);
extern const StRowDeath *st_row_death(StRowDeaths *deaths, uint32 row);
extern HTSV_Result st_row_state(const StGroupVersion *version, StRowDeaths *deaths,
								uint32 row, TransactionId *xid);

/* ------------------------------------------------------------------------
 * What the running transaction has locked and deleted: st_own_changes.c
 * ------------------------------------------------------------------------
 */

extern void st_own_changes_init(void);	/* once per backend */

/* Forgets locked groups of rel's file, whose row numbers start again. */
extern void st_own_changes_forget(Relation rel);

/* A group whose descriptor the running transaction has locked, or made. */
typedef struct StLockedGroup StLockedGroup;

/*
 * The group of the row, if it is the one that was asked for last; the group
 * with that first row.  NULL: not locked by this transaction.
 */
extern StLockedGroup *st_locked_group_of_row(Relation rel, uint64 row);
extern StLockedGroup *st_locked_group_find(Relation rel, uint64 first_row);

/* Its descriptor is locked from now on. */
extern void st_locked_group_add(Relation rel, const StGroup *group,
								HeapTupleHeader descriptor);

/* Did the transaction make it itself, as this command or a later one? */
extern bool st_locked_group_is_new(const StLockedGroup *known, CommandId cid);

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
extern void st_note_mown(Relation rel, const StSwath *swath, CommandId cid);

/*
 * Has it made one that the MVCC snapshot, of this transaction, sees?  False
 * if unknown.
 */
extern bool st_row_buried_before(Relation rel, uint64 row, Snapshot snapshot);

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
 * Where the metapage of an adopted table is: st_meta_place.c
 * ------------------------------------------------------------------------
 */

extern void st_place_init(void);	/* once per backend */

/* The entry is made and removed by the running transaction. */
extern void st_place_set(StCatalog *cat, BlockNumber block);
extern void st_place_clear(StCatalog *cat);

/* Another one is named at once, and that is not undone by an abort. */
extern void st_place_overwrite(StCatalog *cat, BlockNumber block);

/*
 * The first row number of a table that is adopted: no entry in the TOAST
 * relation, dead ones included, is about it or a later one.
 */
extern uint64 st_used_rows_end(StCatalog *cat);

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

#endif							/* ST_VISIBILITY_H */
