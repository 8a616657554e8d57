/*-------------------------------------------------------------------------
 *
 * st_space.h
 *	  Space of the main fork: how row groups get pages, and how VACUUM gets
 *	  them back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SPACE_H
#define ST_SPACE_H

#include "postgres.h"

#include "access/transam.h"
#include "commands/vacuum.h"
#include "storage/buf.h"

#include "st_visibility.h"

/* ------------------------------------------------------------------------
 * Pages for row groups: st_extent_write.c, st_free_extent.c
 * ------------------------------------------------------------------------
 */

/*
 * Writes the image to free extents, or to new pages at the end of rel, and
 * sets the place and image_len of the group, whose first_row is set.  max_runs:
 * into how many runs of pages it may be cut.  Free extents before block
 * `before` may be taken: none (0) unless the group's descriptor belongs to the
 * running subtransaction and goes if that is rolled back.
 */
extern void st_extent_write(Relation rel, const StImage *img, StGroup *group,
							int max_runs, BlockNumber before);

extern StExtentRange *st_free_extent_all(StCatalog *cat, Snapshot snapshot,
										 int *n);
extern void st_free_extent_add(StCatalog *cat, BlockNumber start, uint32 nblocks);
extern bool st_free_extent_known(StCatalog *cat, BlockNumber block);

/* What of it can be taken now: the directory, read once. */
typedef struct StFreeSpace StFreeSpace;
extern StFreeSpace *st_free_space_read(StCatalog *cat);
extern BlockNumber st_free_space_total(const StFreeSpace *space);
extern BlockNumber st_free_space_usable(const StFreeSpace *space, BlockNumber before);
extern BlockNumber st_free_space_missing(const StFreeSpace *space,
										 BlockNumber nblocks, BlockNumber before);
extern int	st_free_extent_take(Relation rel, uint32 nblocks, int max_runs,
								BlockNumber before, StExtentRange *runs);
extern void st_free_extent_coalesce(StCatalog *cat);
extern void st_free_extent_cut(StCatalog *cat, BlockNumber end);
extern StExtentRange *st_free_extent_take_all(StCatalog *cat, TransactionId oldest_xmin,
											  int *n);

/* ---- entries with a payload of one length: st_note.c ---- */

/* Reads the entry of the row.  False if there is none of that length. */
extern bool st_note_read(StCatalog *cat, StKeyBase base, uint64 row,
						 void *payload, Size len, ItemPointer tid);

/* Adds one, as the running command; all of these need RowExclusiveLock. */
extern void st_note_add(StCatalog *cat, StKeyBase base, uint64 row,
						const void *payload, Size len);

/* ---- extents that are in use: st_extent_ranges.c ---- */

/* Blocks that are no pages of the delta, sorted. */
typedef struct StExtentRanges
{
	int			n;
	StExtentRange *v;
} StExtentRanges;

extern void st_extent_ranges(StExtentRanges *out, const StGroupVersions *groups);
extern void st_extent_ranges_add_free(StExtentRanges *out, StCatalog *cat,
									  Snapshot snapshot);

/*
 * All extents that something refers to: of groups that are not dead to all,
 * of retired ones, and free ones.  Returns the groups.
 */
extern StGroupVersions *st_known_extents(Relation rel, StCatalog *cat,
										 TransactionId oldest_xmin,
										 StExtentRanges *out);

/* ---- a table that leaves us: st_give_back.c ---- */

/*
 * Has VACUUM done with all row groups, and is every free extent older than
 * oldest_xmin, so that nobody can look into its pages?
 */
extern bool st_groups_are_gone(Relation rel, StCatalog *cat,
							   TransactionId oldest_xmin);

/*
 * Removes index entries of rows with numbers below end: nobody has such a row.
 * There are some, if a load was cancelled whose entries no VACUUM has found.
 */
extern void st_sweep_indexes(Relation rel, uint64 end);

/* Extents that were free, and are no longer in the directory. */
typedef struct StForgotten
{
	int			n;
	int			next;			/* those before are done */
	StExtentRange *ranges;		/* sorted; NULL at first */
	uint64		before;			/* whoever may write there since has a full id from here on */
	BlockNumber walked;			/* st_orphans_from() */
	bool		spared;			/* are there pages that stay as they are? */
} StForgotten;

/*
 * In one transaction, takes free extents out of the directory which no snapshot
 * sees otherwise; in later ones, makes pages of the delta of these, some at a time:
 * false when all are done.  An abort or a crash between them leaves orphans
 * (st_orphan.c); what is in the directory again, or was written since, is spared.
 */
extern void st_free_extents_forget(StCatalog *cat, StForgotten *out, MemoryContext mcxt);
extern bool st_free_extents_yield(StCatalog *cat, StForgotten *forgotten);

/* ------------------------------------------------------------------------
 * What VACUUM does: st_reclaim.c
 * ------------------------------------------------------------------------
 */

extern void st_reclaim_coalesce(Relation rel);
extern bool st_reclaim(Relation rel, const VacuumParams *params,
					   TransactionId oldest_xmin, BufferAccessStrategy strategy,
					   BlockNumber *settled);
extern TransactionId st_not_before_vacuum(Relation rel, TransactionId horizon);

/*
 * Turns tombstones of the group that are older than oldest_xmin into bits of its
 * pieces; returns how many.  The rows' index entries must be gone, and the catalog
 * be open with RowExclusiveLock.  (st_fold.c)
 */
extern uint32 st_fold_group(StCatalog *cat, const StGroup *group, TransactionId oldest_xmin);

/* Would VACUUM fold so many tombstones that it is worth it? */
extern bool st_fold_due(Relation rel);

/* Value of the setting enable_deletion_bitmaps, which the extension defines. */
extern bool st_fold_enabled;

/* Gives free pages at the end of the file back: st_truncate.c */
extern void st_truncate(Relation rel, int elevel);

/* Row groups that compactions replaced: st_retired.c */
extern void st_retired_add(StCatalog *cat, const StGroup *group);
extern StGroupVersions *st_retired_read(StCatalog *cat, TransactionId oldest_xmin);
extern bool st_retired_release(StCatalog *cat);
extern void st_free_extents_of(StCatalog *cat, const StGroup *group);

/* Removes anchors that nobody locks any more: st_reclaim_anchors.c */
extern void st_reclaim_anchors(Relation rel, TransactionId oldest_xmin);

/* Extents that nothing refers to: st_orphan.c */
extern BlockNumber st_free_orphans(Relation rel, TransactionId oldest_xmin,
								   BufferAccessStrategy strategy);
extern BlockNumber st_orphans_from(StCatalog *cat, BlockNumber block);
extern void st_orphans_until(StCatalog *cat, BlockNumber block);

/* What a merge wants VACUUM to make of empty pages. */
typedef enum StWantedPages
{
	ST_WANT_SHORT_FILE,			/* as many as row groups need to move to the front */
	ST_WANT_ALL,				/* all: many row groups are to come there */
	ST_WANT_HALF				/* half of them, the others are for writers */
} StWantedPages;

/*
 * Makes free extents of pages that the delta left empty, before block settled:
 * st_empty_pages.c.
 * _wanted(): the next time of so many pages before that block, because a compaction has
 * taken all that was there.  may_cut: VACUUM may cut the file off.
 */
extern void st_empty_pages_wanted(StCatalog *cat, BlockNumber reached,
								  StWantedPages pages);
extern bool st_page_seems_empty(Relation rel, BlockNumber block);
extern void st_free_empty_pages(Relation rel, BlockNumber settled,
								bool may_cut, TransactionId oldest_xmin,
								BufferAccessStrategy strategy);

/* VACUUM's transaction is about to make its first change. */
extern void st_vacuum_begin_writing(void);

#endif							/* ST_SPACE_H */
