/*-------------------------------------------------------------------------
 *
 * sh_merge.c
 *	  Strays put where they belong, group by group.
 *
 * A stray is a row of a group (a zone and the exact entries up to the next
 * zone) that is not on the zone's page.  That page is full, as a rule.  So as
 * many rows as there are strays, those with the greatest keys of all rows of
 * the group, move to new pages, which groups that follow each other share: a
 * first pass.  When nobody sees their old tuples any more, which are pruned
 * as the page is read, a second pass moves the strays into the room.  There
 * the zone covers them already.  VACUUM then finds no row on the zone's page
 * from the first one that left on, and gives the rows that left a zone of
 * their new page (zm_fold.c).  So two rows move per stray, not all rows.
 *
 * Where that is no gain, because half of the rows are strays or a zone has few
 * rows, the group moves to new pages as a whole.
 *
 * All of it is placement.  Each row moves by itself, as an update does, and is
 * found where it is, whatever the others do: what comes between a look at a
 * group and its moves leaves a row on a page that is not the best one.
 *
 * Locks: the group's page shared, while it is copied.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sh_move.h"
#include "st_compat.h"
#include "zm_scan.h"
#include "zm_vacuum.h"

/* A zone with fewer rows is not worth being kept apart. */
#define FEWEST_OWN 16

typedef struct MergeRow
{
	HeapTuple	tuple;
	HeapTupleData own;			/* what that is, for a row of the page */
	bool		stray;			/* on another page, and a copy */
	bool		begins;			/* its key is not that of the row before */
} MergeRow;

/* The visible rows of one group, in key order. */
typedef struct MergeGroup
{
	BlockNumber block;			/* the zone's page; invalid: it is a hole */
	int			room;			/* bytes for rows on it, if positive */
	int			nstrays;
	int			nrows;
	PGAlignedBlock page;		/* copy of it */
	MergeRow	rows[ZM_MAX_ITEMS];
} MergeGroup;

/* ---- what a group consists of ---- */

/* Begins with the group that the scan has loaded. */
static void
begin_group(MergeGroup *group, Relation rel, ZmScan *scan)
{
	Buffer		buf = scan->page_buf;

	group->block = zm_cursor_block(&scan->cursor);
	group->nrows = group->nstrays = 0;
	group->room = 0;
	if (group->block == InvalidBlockNumber)
		return;
	if (!BufferIsValid(buf) || BufferGetBlockNumber(buf) != group->block)
	{
		/* The table ends before it. */
		group->block = InvalidBlockNumber;
		return;
	}
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(group->page.data, BufferGetPage(buf), BLCKSZ);
	LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	group->room = (int) PageGetHeapFreeSpace((Page) group->page.data) -
		(int) RelationGetTargetPageFreeSpace(rel, HEAP_DEFAULT_FILLFACTOR);
}

/* Adds the row that the scan is at, which the slot holds. */
static void
add_row(MergeGroup *group, TupleTableSlot *slot, bool begins)
{
	MergeRow   *row = &group->rows[group->nrows++];
	OffsetNumber off = ItemPointerGetOffsetNumber(&slot->tts_tid);
	Page		page = (Page) group->page.data;

	row->begins = begins;
	row->stray = ItemPointerGetBlockNumber(&slot->tts_tid) != group->block;
	if (row->stray)
	{
		row->tuple = ExecCopySlotHeapTuple(slot);
		group->nstrays++;
		return;
	}
	/* Since the scan has the page pinned, nothing on it moves. */
	row->tuple = &row->own;
	row->own.t_self = slot->tts_tid;
	row->own.t_tableOid = slot->tts_tableOid;
	row->own.t_data = (HeapTupleHeader)
		PageGetItem(page, PageGetItemId(page, off));
	row->own.t_len = ItemIdGetLength(PageGetItemId(page, off));
}

/*
 * Reads the group of the slot's row, which the scan has just returned, and
 * leaves the slot with the first row after it.  Returns whether there is one.
 */
static bool
read_group(MergeGroup *group, Relation rel, IndexScanDesc scan,
		   TupleTableSlot *slot)
{
	ZmScan	   *state = scan->opaque;
	int64		number = state->groups;
	int			before = -1;
	bool		more;

	begin_group(group, rel, state);
	do
	{
		add_row(group, slot, before < 0 ||
				!zm_same_key(state, before, state->item));
		before = state->item;
		more = zm_get_row(scan, ForwardScanDirection, slot);
	} while (more && state->groups == number);
	return more;
}

static void
forget_group(MergeGroup *group)
{
	for (int i = 0; i < group->nrows; i++)
		if (group->rows[i].stray && group->rows[i].tuple != NULL)
			heap_freetuple(group->rows[i].tuple);
}

/* ---- what is to be done with it ---- */

/* Whether rows, from one on to before another, are on some pages in turn. */
static bool
is_mixed(const MergeGroup *group, int from, int end)
{
	int			changes = 0;

	for (int i = from + 1; i < end; i++)
		changes +=
			ItemPointerGetBlockNumber(&group->rows[i].tuple->t_self) !=
			ItemPointerGetBlockNumber(&group->rows[i - 1].tuple->t_self);
	return changes > 1 + (end - from) / 64;
}

/* The row after the last one of the page, and after others of its key. */
static int
own_end(const MergeGroup *group)
{
	int			end = group->nrows;

	while (end > 0 && group->rows[end - 1].stray)
		end--;
	while (end > 0 && end < group->nrows && !group->rows[end].begins)
		end++;
	return end;
}

static int
row_bytes(const MergeRow *row)
{
	return MAXALIGN(row->tuple->t_len);
}

/*
 * The first row that has to leave, so that strays before it fit on the page;
 * `end`, if none has to.  A zone begins where a key does, and with so many rows
 * at least.
 */
static int
find_cut(const MergeGroup *group, int end)
{
	int			room = group->room;
	int			nstrays = 0;
	int			cut = end;

	for (int i = 0; i < end; i++)
		if (group->rows[i].stray)
		{
			room -= row_bytes(&group->rows[i]) + (int) sizeof(ItemIdData);
			nstrays++;
		}
	if (room >= 0 || nstrays == 0)
		return end;
	while (cut > 0 && (room < 0 || end - cut < ZM_FEWEST_ENTRIES ||
					   !group->rows[cut].begins))
	{
		const MergeRow *row = &group->rows[--cut];

		/* Line pointers stay until VACUUM. */
		room += row_bytes(row);
		if (row->stray)
			room += sizeof(ItemIdData);
	}
	return cut;
}

/* Moves a row to a page, or, if that is invalid, to one that is being filled. */
static void
move_row(ShMergeStep *step, MergeRow *row, BlockNumber page)
{
	sh_move_tuple(step->mover,
				  row->stray ? row->tuple : heap_copytuple(row->tuple), page);
	if (row->stray)
		row->tuple = NULL;
	step->nmoves++;
}

static void
move_rows(ShMergeStep *step, MergeGroup *group, int from, int end)
{
	for (int i = from; i < end; i++)
		move_row(step, &group->rows[i], InvalidBlockNumber);
}

/* Moves the strays before a row to their page, as far as there is room. */
static void
fill_page(ShMergeStep *step, MergeGroup *group, int end)
{
	int			room = group->room;

	for (int i = 0; i < end; i++)
	{
		MergeRow   *row = &group->rows[i];

		if (!row->stray)
			continue;
		room -= row_bytes(row) + (int) sizeof(ItemIdData);
		if (room < 0)
			break;
		move_row(step, row, group->block);
	}
}

static void
merge_group(ShMergeStep *step, MergeGroup *group)
{
	int			end = own_end(group);
	int			nown = group->nrows - group->nstrays;
	int			cut;

	if (group->block == InvalidBlockNumber)
	{
		if (!step->refill && is_mixed(group, 0, group->nrows))
			move_rows(step, group, 0, group->nrows);
		return;
	}
	if (step->refill)
	{
		fill_page(step, group, end);
		return;
	}
	/* Rows after the page's own may have a page already. */
	if (group->nrows - end < ZM_FEWEST_ENTRIES ||
		is_mixed(group, end, group->nrows))
		end = group->nrows;
	cut = find_cut(group, end);
	if (cut == end)
		fill_page(step, group, end);
	else if (cut == 0 || nown < FEWEST_OWN || group->nstrays > nown / 2)
		move_rows(step, group, 0, group->nrows);
	else
	{
		move_rows(step, group, cut, end);
		step->made_room = true;
	}
}

/* ---- all groups ---- */

/*
 * Moves rows from the key `from` on (exclusive; NULL: from the beginning), and
 * returns the key of the last group's last row, allocated in the step's
 * context; NULL at the end.  Groups with rows of one key belong together.
 */
IndexTuple
sh_merge_rows(ShMergeStep *step, IndexTuple from)
{
	IndexScanDesc scan = st_index_beginscan(step->rel, step->index,
											GetActiveSnapshot());
	ZmScan	   *state = scan->opaque;
	ZmSpace    *space = &state->cursor.space;
	TupleTableSlot *slot = table_slot_create(step->rel, NULL);
	MergeGroup	   *group = palloc(sizeof(MergeGroup));
	IndexTuple	last = NULL;
	bool		more;

	index_rescan(scan, NULL, 0, NULL, 0);
	zm_scan_after(scan, from);
	/* Groups without exact entries have no strays. */
	state->skip_below = InvalidBlockNumber;
	more = zm_get_row(scan, ForwardScanDirection, slot);
	while (more && (last == NULL || sh_row_has_key(space, slot, last)))
	{
		CHECK_FOR_INTERRUPTS();
		more = read_group(group, step->rel, scan, slot);
		if (more && step->nmoves + group->nrows >= step->limit)
		{
			if (last != NULL)
				pfree(last);
			last = sh_row_key(space, step->rel,
							  group->rows[group->nrows - 1].tuple,
							  step->context);
		}
		merge_group(step, group);
		forget_group(group);
	}
	if (!more && last != NULL)
	{
		pfree(last);
		last = NULL;
	}
	pfree(group);
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	return last;
}
