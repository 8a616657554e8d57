/*-------------------------------------------------------------------------
 *
 * st_file.h
 *	  The main fork of a table: metapage, pages of row groups, and which
 *	  blocks a row group has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FILE_H
#define ST_FILE_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "storage/bufpage.h"

#include "st_compat.h"
#include "st_store.h"

/* heapam's own routine, to which everything about the delta is delegated. */
#define st_heapam() GetHeapamTableAmRoutine()

/*
 * Part of every routine of ours, and of no other: st_relation_format() knows
 * them by it.  (st_meta.c)
 */
extern bool st_relation_needs_toast_table(Relation rel);

/* ------------------------------------------------------------------------
 * Metapage: st_meta.c
 * ------------------------------------------------------------------------
 */

/* Where it is in a file that was made for us; see st_meta_block(). */
#define ST_META_BLOCK	0

typedef struct StMeta
{
	uint64		next_row;		/* first row number that nobody reserved */
	uint64		incarnation;	/* random, new after every truncation */
	bool		has_row_groups; /* false: TOAST holds no descriptor, do not
								 * look there (it may be stale, see README) */
	bool		leaving;		/* release() is at work: no new row groups */
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

/*
 * The block of the metapage: not ST_META_BLOCK in a heap table that was adopted
 * and whose block 0 has rows.  Everybody who skips or spares the metapage asks
 * here.
 */
extern BlockNumber st_meta_block(Relation rel);

/* The first block that can be a page of the delta: 1, or 0 in such a table. */
extern BlockNumber st_delta_start(Relation rel);

/*
 * What finds the metapage of a table whose block 0 is none: the visibility room
 * registers it.  InvalidBlockNumber: nothing says so.
 */
typedef BlockNumber (*StMetaPlace) (Relation rel);
extern void st_meta_place_init(StMetaPlace place);

/*
 * Is the table on its way back to heap?  Says so, or not any more: not undone
 * by an abort, forgotten when the file is made anew.
 */
extern bool st_meta_leaving(Relation rel);
extern void st_meta_set_leaving(Relation rel, bool leaving);

/*
 * Makes a page of heap of what was the metapage of a table that is heap now.
 * ShareUpdateExclusiveLock.
 */
extern void st_meta_erase(Relation rel, BlockNumber block);

/*
 * Gives a heap table that becomes ours, locked with AccessExclusiveLock, a
 * metapage (of an unlogged one, also in the init fork) and returns its block.
 * Row numbers begin at first_row.
 */
extern BlockNumber st_meta_adopt(Relation rel, uint64 first_row);

/*
 * Has the running transaction adopted the table?  It may become heap again, whose
 * indexes must have no entry of a row group then: an abort leaves entries behind.
 */
extern bool st_meta_adopted_now(Relation rel);

/*
 * Moves the metapage to block 0 if that is a page of the delta without a line
 * pointer in use.  Returns where it was, now a page of a free extent, or
 * InvalidBlockNumber.  Not undone by an abort.  ShareUpdateExclusiveLock.
 */
extern BlockNumber st_meta_move_home(Relation rel, BufferAccessStrategy strategy);

/*
 * Moves it to another page of the delta without a line pointer in use, not block 0,
 * under AccessExclusiveLock; `name` makes the entry of its place say so, at once.
 * The old page becomes an empty one of the delta.  False: the page is in use.  Not
 * undone by an abort.
 */
typedef void (*StMetaName) (void *arg, BlockNumber block);

extern bool st_meta_move(Relation rel, BlockNumber to, StMetaName name, void *arg);

/* Makes it block 0 of an empty main fork; WAL-logs it where the relation is. */
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

/* Sets up an empty page whose body heap leaves alone (metapage, extents). */
extern void st_page_init(Page page);

/*
 * Fills page number pageno of the image of a group, whose first_row and
 * nblocks are set; xid is the writer's.
 */
extern void st_extent_fill_page(Page page, const StImage *img,
								const StGroup *group, uint32 pageno, uint64 xid);

/*
 * The header of a page that looks like an extent's (right page header and
 * magic; its checksum is not examined), or NULL.  The caller holds a lock.
 */
extern StExtentPageHeader *st_extent_header(Page page);

/*
 * Makes an empty page of the delta of a page of an extent, which nothing refers
 * to; false if it is none, or one whose writer's full transaction id is not
 * before that.
 */
extern bool st_extent_yield_page(Relation rel, BlockNumber block, uint64 before,
								 Buffer *vmbuffer, BufferAccessStrategy strategy);

/* Writes an empty page of heap: all-visible, with vmbuffer pinned for it. */
extern void st_write_heap_page(Relation rel, Buffer buffer, Buffer vmbuffer);

/* Is it a page of the delta without any line pointer in use, or a new one? */
extern bool st_page_is_unused(Page page);

/* Fills a page of a free extent, which belongs to no row group. */
extern void st_extent_fill_free_page(Page page);

/*
 * Locks such a page for cleanup and pins its page of the visibility map.
 * InvalidBuffer if it is not one, or if somebody is looking at it.
 * _claim_page() makes it one of a free extent, unless it is the metapage.
 */
extern Buffer st_lock_unused_page(Relation rel, BlockNumber block,
								  Buffer *vmbuffer,
								  BufferAccessStrategy strategy);
extern bool st_extent_claim_page(Relation rel, BlockNumber block,
								 Buffer *vmbuffer,
								 BufferAccessStrategy strategy);

/* ------------------------------------------------------------------------
 * Which blocks a row group has: st_runs.c
 * ------------------------------------------------------------------------
 */

/* The ranges of its pages, in the order of the image; returns how many. */
extern int	st_group_extents(const StGroup *group, StExtentRange *out);

/* Sets them; neighbours become one. */
extern void st_group_set_extents(StGroup *group, const StExtentRange *runs,
								 int n);

/* The block of a page of the image. */
extern BlockNumber st_group_block(const StGroup *group, uint32 pageno);

/* The blocks of a group, for a message: "8 to 11, 20 to 27", palloc'd. */
extern char *st_group_blocks(const StGroup *group);

/* The last page's block is below this. */
extern BlockNumber st_group_end(const StGroup *group);

/* For qsort(): of structs that begin with a StExtentRange, or a row number. */
extern int	st_compare_ranges(const void *a, const void *b);
extern int	st_compare_rows(const void *a, const void *b);

/* Extents of all groups of a list, sorted by start, palloc'd. */
extern StExtentRange *st_list_extents(const StGroupList *groups, int *n);

/*
 * Follows the payload of a descriptor or of a retired group whose pages are
 * not contiguous.
 */
typedef struct StRunsPayload
{
	uint32		nruns;
	uint32		unused;
	StExtentRange runs[ST_MAX_RUNS];
	uint64		checksum;		/* XXH3 of all before */
} StRunsPayload;

StaticAssertDecl(sizeof(StRunsPayload) == 80, "on-disk size");

extern void st_runs_encode(const StGroup *group, StRunsPayload *payload);

/* False: damaged.  start_block and nblocks of the group are set. */
extern bool st_runs_decode(const StRunsPayload *payload, StGroup *group);

/* Raises WRONG_OBJECT_TYPE for a relation that is not ours, and says what to do. */
extern void st_error_not_ours(Relation rel, const char *am_name);

#endif							/* ST_FILE_H */
