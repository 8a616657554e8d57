/*-------------------------------------------------------------------------
 *
 * st_empty_pages.c
 *	  VACUUM: pages that the delta left empty become free extents.
 *
 * When compaction has moved the rows of the delta, and VACUUM has removed what
 * was left of them, whole runs of heap pages are empty.  Heap would use them
 * for new rows, but not for row groups; so a table whose rows all came
 * through the delta could not shrink.  Here runs of such pages are written as
 * pages of a free extent and entered into the directory.
 *
 * Only as many pages become extents as compaction can use, because each costs
 * a page image in WAL.  They are the first ones of the file, so that row
 * groups move to the front and the end can be cut off.  Some empty pages stay
 * for the rows to come: a good part in a table that is compacted now and then,
 * for a merge as many as writers need.  It leaves a note, which says how far it has
 * come.  Where to look tells the free space map, which VACUUM has just brought up to
 * date; what a page is, is decided under its lock.
 *
 * For a merge those that stay are the first of the file, and the free space map
 * offers none behind, up to where the merge has come: rows that are written meanwhile
 * would else lie all over the file, and the next VACUUM could not cut it off.  A note
 * says from where on.  Each VACUUM looks at what is left of these pages anew; the first
 * that no merge has called offers them again.  In a table that goes back to heap that
 * is all that happens here.
 *
 * Crashes: a page is one of an extent at once, but in the directory only if
 * the transaction commits.  So before the first page is written, those from
 * there on are noted to be looked at again (st_orphan.c).
 *
 * Readers: a page without line pointers has nothing to show to any snapshot,
 * whatever its form, and the extent is used by a row group only once all
 * snapshots are newer than the entry.
 *
 * Locks: ShareUpdateExclusiveLock on the table, as always for VACUUM.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/smgr.h"
#include "utils/inval.h"

#include "st_space.h"

/*
 * Shortest run of pages that is worth an extent.  Beside writers long ones come first,
 * of such a share of all that are wanted, so that a row group finds a place in few of
 * them.  Others wait until a merge has taken all rows: they are cut short by rows that
 * were just written there, and are longer at the next VACUUM.
 */
#define MIN_RUN		8
#define MIN_RUN_SHARE	8
#define MAX_MIN_RUN	64

/* Free space of an empty page that keeps an array of unused line pointers. */
#define EMPTY_PAGE_SPACE \
	(BLCKSZ - SizeOfPageHeaderData - (MaxHeapTuplesPerPage + 1) * sizeof(ItemIdData) - 32)

/*
 * Pages that stay heap's: so many, or this share of those of row groups.
 */
#define RESERVED_PAGES	16
#define RESERVED_SHARE	4

/*
 * For a merge so many times as many as were written to, but at most this share of all
 * that are empty (the next VACUUM leaves a share of these in turn), or half as many as
 * row groups have, if that is more.
 */
#define BESIDE_TIMES	16
#define BESIDE_SHARE	4
#define BESIDE_GROUPS	2

/*
 * Row of the entry among those of ST_VACUUM_STATE: before which block a merge has taken
 * all rows.
 */
#define ST_WANTED_ROW		5
#define ST_WANTED_VERSION	1

typedef struct StWantedPayload
{
	uint16		version;
	uint16		pages;			/* StWantedPages */
	BlockNumber reached;
} StWantedPayload;

StaticAssertDecl(sizeof(StWantedPayload) == 8, "on-disk size");

/*
 * Likewise: from which block on the free space map offers no page, InvalidBlockNumber
 * if it still offers all.
 */
#define ST_HIDDEN_ROW		4
#define ST_HIDDEN_VERSION	1

typedef struct StHiddenPayload
{
	uint16		version;
	uint16		unused;
	BlockNumber from;
} StHiddenPayload;

StaticAssertDecl(sizeof(StHiddenPayload) == 8, "on-disk size");

/*
 * The free extents wanted, as a share of the pages of row groups.  If far more
 * pages are empty, so many are wanted that all row groups find a place: then
 * they can move to the front.
 */
#define FREE_SHARE			4
#define MANY_EMPTY_SHARE	2

/* Counts of the file's pages by kind. */
typedef struct Pages
{
	Relation	rel;
	StCatalog  *cat;
	BufferAccessStrategy strategy;
	BlockNumber nblocks;		/* pages behind are left alone */
	StExtentRanges known;		/* extents, sorted; may overlap */
	StExtentRange *free_extents;	/* sorted */
	int			nfree;
	BlockNumber groups;			/* pages in use */
	BlockNumber free;			/* pages of free extents */
	BlockNumber empty;			/* pages of the delta that seem empty */
	BlockNumber written;		/* others */
	BlockNumber stay;			/* how many of the empty ones are for new rows */
	BlockNumber hidden;			/* pages from here on were kept out of the free space map */
	bool		merge;			/* a merge wants the file to become short */
	StWantedPages pages;		/* how many it has a use for */
} Pages;

/* Reads the entry of st_empty_pages_wanted(), if there is one, and sets its TID. */
static bool
find_wanted(StCatalog *cat, StWantedPayload *payload, ItemPointer tid)
{
	return st_note_read(cat, ST_VACUUM_STATE, ST_WANTED_ROW, payload,
						sizeof(*payload), tid);
}

/* Likewise the entry about hidden pages. */
static bool
find_hidden(StCatalog *cat, StHiddenPayload *payload, ItemPointer tid)
{
	return st_note_read(cat, ST_VACUUM_STATE, ST_HIDDEN_ROW, payload,
						sizeof(*payload), tid);
}

/* Called by a compaction that goes to the end, before each VACUUM. */
void
st_empty_pages_wanted(StCatalog *cat, BlockNumber reached, StWantedPages pages)
{
	StWantedPayload wanted = {
		.version = ST_WANTED_VERSION,.pages = pages,.reached = reached
	};
	StWantedPayload before;
	StHiddenPayload hidden = {.version = ST_HIDDEN_VERSION,.from = InvalidBlockNumber};
	ItemPointerData tid;

	if (!find_wanted(cat, &before, &tid))
		st_note_add(cat, ST_VACUUM_STATE, ST_WANTED_ROW, &wanted, sizeof(wanted));
	else if (before.reached != reached || before.pages != pages)
		(void) st_catalog_overwrite(cat, ST_VACUUM_STATE, ST_WANTED_ROW, &wanted,
									sizeof(wanted));
	if (!find_hidden(cat, &hidden, &tid))
		st_note_add(cat, ST_VACUUM_STATE, ST_HIDDEN_ROW, &hidden, sizeof(hidden));
}

/* Is the block, in no extent, empty if the free space map is right? */
bool
st_page_seems_empty(Relation rel, BlockNumber block)
{
	return GetRecordedFreeSpace(rel, block) >= EMPTY_PAGE_SPACE;
}

/*
 * The next run of blocks that seem empty, from `from` on; *pos is a cursor of
 * the extents.  False behind the last.
 */
static bool
next_run(const Pages *p, int *pos, BlockNumber from, StExtentRange *run)
{
	BlockNumber block = Max(from, ST_META_BLOCK + 1);

	run->start = run->end = InvalidBlockNumber;
	while (block < p->nblocks)
	{
		st_vacuum_delay_point(false);
		while (*pos < p->known.n && p->known.v[*pos].end <= block)
			(*pos)++;
		if (*pos < p->known.n && p->known.v[*pos].start <= block)
		{
			if (run->start != InvalidBlockNumber)
				return true;
			block = p->known.v[*pos].end;
			continue;
		}
		if (st_page_seems_empty(p->rel, block))
		{
			if (run->start == InvalidBlockNumber)
				run->start = block;
			run->end = block + 1;
		}
		else if (run->start != InvalidBlockNumber)
			return true;
		block++;
	}
	return run->start != InvalidBlockNumber;
}

static void
count_pages(Pages *p)
{
	StExtentRange run = {0};
	BlockNumber end = 0;
	BlockNumber others = 1;		/* block 0, and what is not written to */
	int			pos = 0;

	p->free_extents = st_free_extent_all(p->cat, SnapshotSelf, &p->nfree);
	for (int i = 0; i < p->nfree; i++)
		p->free += p->free_extents[i].end - p->free_extents[i].start;
	for (int i = 0; i < p->known.n; i++)
	{
		const StExtentRange *r = &p->known.v[i];

		if (r->end > end)
			p->groups += r->end - Max(r->start, end);
		if (Min(r->end, p->nblocks) > end)
			others += Min(r->end, p->nblocks) - Min(Max(r->start, end), p->nblocks);
		end = Max(end, r->end);
	}
	p->groups -= Min(p->groups, p->free);
	while (next_run(p, &pos, run.end, &run))
		p->empty += run.end - run.start;
	others += p->empty;
	p->written = p->nblocks - Min(p->nblocks, others);
}

/* How many of the file's first so many pages that are free or empty are empty? */
static BlockNumber
empty_among_first(const Pages *p, BlockNumber pages)
{
	StExtentRange run = {0};
	BlockNumber free = 0;
	BlockNumber empty = 0;
	int			next = 0;
	int			pos = 0;

	while (next_run(p, &pos, run.end, &run))
	{
		for (; next < p->nfree && p->free_extents[next].start < run.start; next++)
			free += p->free_extents[next].end - p->free_extents[next].start;
		if (free + empty >= pages)
			break;
		empty += Min(run.end - run.start, pages - free - empty);
	}
	return empty;
}

/*
 * Returns how many of the empty pages shall become free extents.  After a merge
 * it is the first pages of the file that are to be free: what is free behind them
 * is no place to move to the front to.
 */
static BlockNumber
wanted_pages(const Pages *p)
{
	BlockNumber want = p->groups / FREE_SHARE;
	BlockNumber first;

	if (p->merge || p->empty > p->groups / MANY_EMPTY_SHARE)
		want = p->groups + Max(p->groups / 8, MIN_RUN);
	if (p->pages != ST_WANT_SHORT_FILE)
		want = MaxBlockNumber - p->stay;
	if (p->merge)
	{
		first = empty_among_first(p, want + p->stay);
		return first - Min(first, p->stay);
	}
	if (p->free >= want || p->empty <= p->stay)
		return 0;
	return Min(want - p->free, p->empty - p->stay);
}

/*
 * How many empty pages are left to heap.  After a merge that goes by how many were
 * written to since it took all rows from where they are: the time until the next VACUUM
 * differs, and if they are too few, new rows come behind all others and the file cannot
 * be cut off.  None if nobody writes.
 */
static BlockNumber
staying_pages(const Pages *p)
{
	BlockNumber most;

	if (!p->merge)
		return Max(RESERVED_PAGES, p->groups / RESERVED_SHARE);
	if (p->pages == ST_WANT_HALF)
		return p->empty / 2;
	if (p->pages == ST_WANT_ALL)
		return RESERVED_PAGES;	/* somebody may come */
	if (p->written == 0)
		return 0;
	most = Max(p->empty / BESIDE_SHARE, Min(p->groups, p->empty) / BESIDE_GROUPS);
	return Max(RESERVED_PAGES, Min((uint64) BESIDE_TIMES * p->written, most));
}

/* The block behind the first of the empty pages, which stay. */
static BlockNumber
end_of_staying(const Pages *p)
{
	StExtentRange run = {0};
	BlockNumber left = p->stay;
	int			pos = 0;

	while (next_run(p, &pos, run.end, &run))
	{
		if (run.end - run.start >= left)
			return run.start + left;
		left -= run.end - run.start;
	}
	return p->nblocks;
}

/* Claims pages of one run; returns how many. */
static BlockNumber
claim_run(Pages *p, const StExtentRange *run, BlockNumber limit,
		  Buffer *vmbuffer)
{
	BlockNumber end = Min(run->end, run->start + limit);
	BlockNumber start = run->start;
	BlockNumber claimed = 0;

	for (BlockNumber block = run->start; block <= end; block++)
	{
		st_vacuum_delay_point(false);
		if (block < end &&
			st_extent_claim_page(p->rel, block, vmbuffer, p->strategy))
		{
			RecordPageWithFreeSpace(p->rel, block, 0);
			claimed++;
			continue;
		}
		if (block > start)
			st_free_extent_add(p->cat, start, block - start);
		start = block + 1;
	}
	FreeSpaceMapVacuumRange(p->rel, run->start, end);
	return claimed;
}

/* Claims pages from a block on; returns how many are still wanted. */
static BlockNumber
claim_pages(Pages *p, BlockNumber from, BlockNumber wanted, BlockNumber min_run)
{
	Buffer		vmbuffer = InvalidBuffer;
	StExtentRange run = {.end = from};
	bool		begun = false;
	int			pos = 0;

	while (wanted > 0 && next_run(p, &pos, run.end, &run))
	{
		if (run.end - run.start < min_run)
			continue;
		if (!begun)
		{
			st_vacuum_begin_writing();
			st_orphans_from(p->cat, run.start);
			begun = true;
		}
		wanted -= claim_run(p, &run, wanted, &vmbuffer);
	}
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
	if (begun)
		st_free_extent_coalesce(p->cat);
	return wanted;
}

/*
 * Lets the free space map offer no page from a block on.  Each session fills the
 * page that it inserted into last without a look at that map; with this message its
 * next transaction does not know any more which one that was.
 *
 * What happens to the map is not undone by an abort.  So the note is overwritten in
 * place: it was added by who wanted this.
 */
static void
offer_none(Pages *p, BlockNumber from)
{
	StHiddenPayload payload = {.version = ST_HIDDEN_VERSION, .from = from};
	StHiddenPayload before;
	ItemPointerData tid;

	if (!find_hidden(p->cat, &before, &tid))
		return;
	if (from < before.from)
		(void) st_catalog_overwrite(p->cat, ST_VACUUM_STATE, ST_HIDDEN_ROW,
									&payload, sizeof(payload));
	for (BlockNumber block = from; block < p->nblocks; block++)
	{
		st_vacuum_delay_point(false);
		if (GetRecordedFreeSpace(p->rel, block) > 0)
			RecordPageWithFreeSpace(p->rel, block, 0);
	}
	FreeSpaceMapVacuumRange(p->rel, Min(from, p->hidden), p->nblocks);
	CacheInvalidateSmgr(st_smgr_backend_locator(RelationGetSmgr(p->rel)));
}

/*
 * Looks again at pages that offer_none() has hidden, and offers them, unless they
 * are to be hidden again: then the note stays, whatever becomes of the transaction.
 */
static void
offer_again(Pages *p, bool hide)
{
	StHiddenPayload payload;
	ItemPointerData tid;
	int			pos = 0;

	if (!find_hidden(p->cat, &payload, &tid))
		return;
	for (BlockNumber block = payload.from; block < p->nblocks; block++)
	{
		Buffer		buffer;
		Page		page;
		Size		space;

		st_vacuum_delay_point(false);
		while (pos < p->known.n && p->known.v[pos].end <= block)
			pos++;
		if (pos < p->known.n && p->known.v[pos].start <= block)
		{
			block = p->known.v[pos].end - 1;
			continue;
		}
		buffer = ReadBufferExtended(p->rel, MAIN_FORKNUM, block, RBM_NORMAL,
									p->strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		space = PageIsNew(page) ? 0 : PageGetHeapFreeSpace(page);
		UnlockReleaseBuffer(buffer);
		RecordPageWithFreeSpace(p->rel, block, space);
	}
	p->hidden = payload.from;
	if (hide)
		return;
	if (payload.from < p->nblocks)
		FreeSpaceMapVacuumRange(p->rel, payload.from, p->nblocks);
	st_vacuum_begin_writing();
	(void) st_catalog_delete(p->cat, &tid);
}

/*
 * An adopted table keeps its metapage where the heap's file ended, and the
 * file could not become shorter than that.  So it moves to block 0 as soon as
 * that is empty.
 */
static void
bring_meta_home(StCatalog *cat, BufferAccessStrategy strategy)
{
	BlockNumber old = st_meta_block(cat->rel);

	if (old == ST_META_BLOCK || !st_page_seems_empty(cat->rel, ST_META_BLOCK))
		return;
	st_vacuum_begin_writing();
	st_orphans_from(cat, old);
	old = st_meta_move_home(cat->rel, strategy);
	if (old == InvalidBlockNumber)
		return;
	RecordPageWithFreeSpace(cat->rel, ST_META_BLOCK, 0);
	st_free_extent_add(cat, old, 1);
	st_place_clear(cat);
}

/* Called by VACUUM after heap's part and ours. */
void
st_free_empty_pages(Relation rel, BlockNumber settled, bool may_cut,
					TransactionId oldest_xmin, BufferAccessStrategy strategy)
{
	Pages		p = {0};
	StCatalog	cat;
	StMeta		meta;
	StWantedPayload asked;
	ItemPointerData tid;
	BlockNumber reached;
	BlockNumber wanted;
	BlockNumber from = 0;
	bool		hide;

	st_meta_read(rel, &meta);
	if (!meta.has_row_groups || !st_catalog_open(&cat, rel, RowExclusiveLock))
		return;
	if (!meta.leaving)
		bring_meta_home(&cat, strategy);
	p.rel = rel;
	p.cat = &cat;
	p.strategy = strategy;
	p.nblocks = Min(RelationGetNumberOfBlocks(rel), settled);
	(void) st_known_extents(rel, &cat, oldest_xmin, &p.known);
	p.merge = find_wanted(&cat, &asked, &tid) && !meta.leaving;
	if (p.merge)
		p.pages = asked.pages;
	hide = p.merge && may_cut;
	reached = p.merge ? Min(p.nblocks, asked.reached) : p.nblocks;
	if (hide)
		p.nblocks = reached;
	p.hidden = MaxBlockNumber;
	offer_again(&p, hide);
	p.nblocks = reached;
	if (meta.leaving)
	{
		st_catalog_close(&cat);
		return;
	}
	count_pages(&p);
	p.stay = staying_pages(&p);
	wanted = wanted_pages(&p);
	if (hide)
		from = end_of_staying(&p);
	if (from > 0 && p.stay > 0 && wanted / MIN_RUN_SHARE > MIN_RUN)
	{
		wanted = claim_pages(&p, from, wanted,
							 Min(wanted / MIN_RUN_SHARE, MAX_MIN_RUN));
		if (asked.reached < MaxBlockNumber)
			wanted = 0;
	}
	if (wanted >= MIN_RUN)
		(void) claim_pages(&p, from, wanted, MIN_RUN);
	if (p.merge)
	{
		st_vacuum_begin_writing();
		if (hide)
			offer_none(&p, from);
		(void) st_catalog_delete(&cat, &tid);
	}
	st_catalog_close(&cat);
}
