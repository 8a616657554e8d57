/*-------------------------------------------------------------------------
 *
 * st_reclaim.h
 *	  What the files about dead row groups and their space share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_RECLAIM_H
#define ST_RECLAIM_H

#include "postgres.h"

#include "access/transam.h"

#include "st_store_int.h"

/*
 * Deletes a visibility tuple without waiting; false if somebody else has
 * locked or deleted it.  The catalog is open with RowExclusiveLock.
 */
extern bool st_catalog_delete(StCatalog *cat, ItemPointer tid);

/* A row group that a compaction, transaction xid, replaced: st_retired.c */
typedef struct StRetired
{
	StGroup		group;			/* rows and extent only */
	TransactionId xid;
	ItemPointerData tid;		/* of the entry */
} StRetired;

extern void st_retired_add(StCatalog *cat, const StGroup *group);
extern StRetired *st_retired_read(StCatalog *cat, TransactionId oldest_xmin,
								  int *n);
extern bool st_retired_release(StCatalog *cat);
extern void st_free_extents_of(StCatalog *cat, const StGroup *group);

/* Forgets the spare row numbers of a group: st_spare.c */
extern void st_spare_forget(StCatalog *cat, uint64 first_row);

/* Removes anchors that nobody locks any more: st_reclaim_anchors.c */
extern uint64 st_reclaim_anchors(Relation rel, TransactionId oldest_xmin,
								 void (*begin_writing) (void));

/* Extents that nothing refers to: st_orphan.c */
extern void st_free_orphans(Relation rel, TransactionId oldest_xmin,
							BufferAccessStrategy strategy,
							void (*begin_writing) (void));
extern void st_orphans_from(StCatalog *cat, BlockNumber block);

/*
 * Makes free extents of pages that the delta left empty: st_empty_pages.c.
 * _wanted(): the next time of all but a few, because a compaction has taken
 * all there is.
 */
extern void st_empty_pages_wanted(StCatalog *cat);
extern void st_free_empty_pages(Relation rel, TransactionId oldest_xmin,
								BufferAccessStrategy strategy);

/*
 * A TOAST relation that is mostly free is written anew after this VACUUM:
 * st_toast_pack.c
 */
struct VacuumParams;
extern void st_toast_pack_later(Relation rel, const struct VacuumParams *params);

/* VACUUM's transaction is about to make its first change. */
extern void st_vacuum_begin_writing(void);

/* The full transaction id of a normal xid that is not in the future. */
extern FullTransactionId st_full_xid(TransactionId xid);

#endif							/* ST_RECLAIM_H */
