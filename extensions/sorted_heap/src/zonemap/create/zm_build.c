/*-------------------------------------------------------------------------
 *
 * zm_build.c
 *	  CREATE INDEX ... USING zonemap.
 *
 * The first pass over the heap notes the range of keys of every page.  Zones
 * are assigned from that.  A second pass, over pages with rows outside of
 * their zones only, spools the keys of those rows.  Then the tree is written
 * from zones and spooled rows in key order.
 *
 * Rows come from the table access method's scan for index builds, so dead
 * rows, broken HOT chains and CREATE INDEX CONCURRENTLY are as for any index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "st_compat.h"
#include "zm_build.h"
#include "zm_heap.h"
#include "zm_wal.h"

/* Pages between two that have to be read again that are read along. */
#define SKIP_AT_LEAST 32

/* Rows of the current page, first ones of HOT chains only. */
typedef struct PageRows
{
	BlockNumber block;
	int			count;
	IndexTuple	rows[MaxHeapTuplesPerPage];
} PageRows;

typedef struct BuildState
{
	ZmSpace		space;
	MemoryContext page_context; /* of the current page's rows */
	MemoryContext keys_context; /* of everything about pages */
	PageRows	page;
	double		rows;

	/* first pass: pages in the order of their blocks */
	ZmPageKeys **pages;
	int64		npages;
	int64		pages_room;
	BlockNumber summarised;		/* pages from here on have no ZmPageKeys */

	Tuplesortstate *unique;		/* keys of live rows, or NULL */

	/* second pass */
	int64		next_page;		/* in pages, by block */
	Tuplesortstate *spool;
} BuildState;

typedef void (*PageFunction) (BuildState *state);

/* ---- checks ---- */

static void
check_supported(Relation heap, Relation index, IndexInfo *info)
{
	if (!zm_is_heap(heap))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("access method \"zonemap\" does not support table \"%s\"",
					   RelationGetRelationName(heap)),
				errdetail("Its table access method does not keep rows as heap does."),
				errhint("Use a btree index, or a table of access method heap or sorted_heap."));
	if (info->ii_Expressions != NIL || info->ii_Predicate != NIL)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("access method \"zonemap\" does not support %s",
					   info->ii_Predicate != NIL ?
					   "partial indexes" : "indexes on expressions"),
				errhint("Use a btree index, or add a generated column."));
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		if (index->rd_index->indkey.values[i] <= 0)
			ereport(ERROR,
					errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					errmsg("access method \"zonemap\" does not support indexes on system columns"));
}

/* ---- rows, page by page ---- */

static void
end_page(BuildState *state, PageFunction function)
{
	if (state->page.count > 0)
		function(state);
	state->page.count = 0;
	MemoryContextReset(state->page_context);
}

static void
add_row(BuildState *state, ItemPointer tid, Datum *values, bool *nulls,
		PageFunction function)
{
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	MemoryContext old;

	if (state->page.count > 0 && state->page.block != block)
		end_page(state, function);
	if (state->page.count == MaxHeapTuplesPerPage)
		elog(ERROR, "too many rows in block %u", block);
	state->page.block = block;
	old = MemoryContextSwitchTo(state->page_context);
	state->page.rows[state->page.count++] =
		zm_form_exact(state->space.index, values, nulls, tid);
	MemoryContextSwitchTo(old);
}

/* ---- first pass ---- */

/* Notes the range of the current page's keys. */
static void
note_page(BuildState *state)
{
	IndexTuple *rows = state->page.rows;
	IndexTuple	low = rows[0];
	IndexTuple	high = rows[0];
	ZmPageKeys *keys;
	MemoryContext old;

	if (MemoryContextMemAllocated(state->keys_context, true) >
		maintenance_work_mem * (Size) 1024)
	{
		/* Everything from here on gets exact entries. */
		state->summarised = Min(state->summarised, state->page.block);
		return;
	}
	for (int i = 1; i < state->page.count; i++)
	{
		ZmTarget	target;

		zm_target_from_entry(&state->space, &target, rows[i]);
		if (zm_compare_entry_key(&state->space, &target, high) > 0)
			high = rows[i];
		else if (zm_compare_entry_key(&state->space, &target, low) < 0)
			low = rows[i];
	}
	old = MemoryContextSwitchTo(state->keys_context);
	if (state->npages == state->pages_room)
	{
		state->pages_room = Max(1024, state->pages_room * 2);
		state->pages = state->pages == NULL ?
			MemoryContextAllocHuge(state->keys_context,
								   state->pages_room * sizeof(ZmPageKeys *)) :
			repalloc_huge(state->pages,
						  state->pages_room * sizeof(ZmPageKeys *));
	}
	keys = palloc0(sizeof(ZmPageKeys));
	keys->block = state->page.block;
	keys->low = CopyIndexTuple(low);
	keys->high = CopyIndexTuple(high);
	keys->middle = CopyIndexTuple(rows[state->page.count / 2]);
	state->pages[state->npages++] = keys;
	MemoryContextSwitchTo(old);
}

static void
first_pass_row(Relation index, ItemPointer tid, Datum *values, bool *nulls,
			   bool alive, void *arg)
{
	BuildState *state = arg;

	state->rows++;
	add_row(state, tid, values, nulls, note_page);
	if (state->unique != NULL && alive)
		tuplesort_putindextuplevalues(state->unique, index, tid, values, nulls);
}

/* A sort of exact entries by (key, TID); of a unique index, it raises violations. */
static Tuplesortstate *
begin_sort(Relation heap, Relation index, bool unique)
{
	return tuplesort_begin_index_btree(heap, zm_sort_order(index), unique,
									   index->rd_index->indnullsnotdistinct,
									   maintenance_work_mem, NULL,
									   TUPLESORT_NONE);
}

/* ---- second pass ---- */

static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber left = (*(ZmPageKeys *const *) a)->block;
	BlockNumber right = (*(ZmPageKeys *const *) b)->block;

	return left < right ? -1 : left > right;
}

/* Spools the rows of the current page that its zone does not cover. */
static void
spool_page(BuildState *state)
{
	ZmPageKeys *keys = NULL;
	bool		covered[MaxHeapTuplesPerPage];
	int			ncovered = 0;

	while (state->next_page < state->npages &&
		   state->pages[state->next_page]->block < state->page.block)
		state->next_page++;
	if (state->next_page < state->npages &&
		state->pages[state->next_page]->block == state->page.block)
		keys = state->pages[state->next_page];
	if (keys != NULL ? !keys->exact_rows :
		state->page.block < state->summarised)
		return;

	for (int i = 0; i < state->page.count; i++)
	{
		ZmTarget	target;

		zm_target_from_entry(&state->space, &target, state->page.rows[i]);
		covered[i] = keys != NULL &&
			zm_page_keys_cover(&state->space, keys, &target);
		ncovered += covered[i];
	}
	/* A zone that holds little costs lookups a page for nothing. */
	if (keys != NULL && ncovered < (state->page.count + 3) / 4)
		keys->dropped = true;
	for (int i = 0; i < state->page.count; i++)
	{
		IndexTuple	itup = state->page.rows[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (covered[i] && !keys->dropped)
			continue;
		index_deform_tuple(itup, state->space.desc, values, nulls);
		tuplesort_putindextuplevalues(state->spool, state->space.index,
									  &itup->t_tid, values, nulls);
	}
}

static void
second_pass_row(Relation index, ItemPointer tid, Datum *values, bool *nulls,
				bool alive, void *arg)
{
	add_row(arg, tid, values, nulls, spool_page);
}

static void
scan_again(BuildState *state, Relation heap, IndexInfo *info,
		   BlockNumber from, BlockNumber to)
{
	CHECK_FOR_INTERRUPTS();
	table_index_build_range_scan(heap, state->space.index, info, false, false,
								 false, from, to - from, second_pass_row,
								 state, NULL);
	end_page(state, spool_page);
}

/* Reads pages with exact rows again, in runs. */
static void
second_pass(BuildState *state, Relation heap, IndexInfo *info,
			BlockNumber nblocks)
{
	BlockNumber from = InvalidBlockNumber;
	BlockNumber to = 0;

	qsort(state->pages, state->npages, sizeof(ZmPageKeys *), compare_blocks);
	for (int64 i = 0; i < state->npages; i++)
	{
		ZmPageKeys *keys = state->pages[i];

		if (!keys->exact_rows)
			continue;
		if (from != InvalidBlockNumber && keys->block - to > SKIP_AT_LEAST)
		{
			scan_again(state, heap, info, from, to);
			from = InvalidBlockNumber;
		}
		if (from == InvalidBlockNumber)
			from = keys->block;
		to = keys->block + 1;
	}
	if (from != InvalidBlockNumber)
		scan_again(state, heap, info, from, to);
	if (state->summarised < nblocks)
		scan_again(state, heap, info, state->summarised, nblocks);
}

/* ---- the tree ---- */

/* The zone of a page that the tree gets: a hole if it was dropped. */
static IndexTuple
zone_entry(const ZmSpace *space, ZmPageKeys *keys, bool *hole)
{
	if (!keys->dropped)
	{
		*hole = false;
		return space->fast == ZM_FAST_NONE ? keys->zone :
			zm_add_note(keys->zone);
	}
	if (*hole)
		return NULL;
	*hole = true;
	return zm_copy_as(keys->zone, InvalidBlockNumber);
}

static void
write_tree(BuildState *state, ZmPageKeys *keys)
{
	const ZmSpace *space = &state->space;
	ZmWriter   *writer = zm_writer_begin(space, zm_fillfactor(space->index));
	IndexTuple	exact = tuplesort_getindextuple(state->spool, true);
	bool		hole = true;

	zm_writer_add(writer, zm_form_zone(space->index, NULL, NULL,
									   InvalidBlockNumber, ZM_NO_KEY, NULL));
	for (; keys != NULL; keys = keys->next)
	{
		IndexTuple	zone = zone_entry(space, keys, &hole);
		ZmTarget	position;

		if (zone == NULL)
			continue;
		zm_target_from_entry(space, &position, zone);
		while (exact != NULL && zm_compare(space, &position, exact) > 0)
		{
			zm_writer_add(writer, exact);
			exact = tuplesort_getindextuple(state->spool, true);
		}
		zm_writer_add(writer, zone);
	}
	for (; exact != NULL; exact = tuplesort_getindextuple(state->spool, true))
		zm_writer_add(writer, exact);
	zm_writer_end(writer);
}

IndexBuildResult *
zm_build(Relation heap, Relation index, IndexInfo *info)
{
	BuildState *state = palloc0(sizeof(BuildState));
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	MemoryContext build = AllocSetContextCreate(CurrentMemoryContext,
												"zonemap build",
												ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(build);
	BlockNumber nblocks = RelationGetNumberOfBlocks(heap);
	ZmPageKeys *first;

	check_supported(heap, index, info);
	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	zm_space_init(&state->space, index);
	state->summarised = InvalidBlockNumber;
	state->page_context = AllocSetContextCreate(build, "zonemap heap page",
												ALLOCSET_DEFAULT_SIZES);
	state->keys_context = AllocSetContextCreate(build, "zonemap keys",
												ALLOCSET_DEFAULT_SIZES);

	if (info->ii_Unique)
		state->unique = begin_sort(heap, index, true);

	/* No synchronised scan: pages must come in the order of their blocks. */
	table_index_build_scan(heap, index, info, false, true, first_pass_row,
						   state, NULL);
	end_page(state, note_page);
	if (state->unique != NULL)
	{
		tuplesort_performsort(state->unique);
		tuplesort_end(state->unique);
	}

	MemoryContextSwitchTo(state->keys_context);
	zm_assign_zones(&state->space, state->pages, state->npages);
	/* The sorted pages' first one has the first zone. */
	first = state->npages > 0 ? state->pages[0] : NULL;
	MemoryContextSwitchTo(build);

	state->spool = begin_sort(heap, index, false);
	second_pass(state, heap, info, nblocks);
	tuplesort_performsort(state->spool);
	write_tree(state, first);
	tuplesort_end(state->spool);

	zm_log_index(index);
	result->heap_tuples = result->index_tuples = state->rows;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(build);
	return result;
}

/* The index of an unlogged table after a crash. */
void
zm_build_empty(Relation index)
{
	for (BlockNumber block = ZM_META_BLOCK; block <= ZM_ROOT_BLOCK; block++)
	{
		Buffer		buf = ReadBufferExtended(index, INIT_FORKNUM, P_NEW,
											 RBM_NORMAL, NULL);
		Page		page = BufferGetPage(buf);

		Assert(BufferGetBlockNumber(buf) == block);
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
		START_CRIT_SECTION();
		if (block == ZM_META_BLOCK)
			zm_meta_init(page);
		else
		{
			IndexTupleData none = {.t_info = MAXALIGN(sizeof(none)) |
			INDEX_AM_RESERVED_BIT};

			ItemPointerSet(&none.t_tid, InvalidBlockNumber, ZM_NO_KEY);
			zm_page_init(page, 0);
			zm_page_add(page, &none, FirstOffsetNumber);
		}
		zm_log_new_page(buf);
		END_CRIT_SECTION();
		UnlockReleaseBuffer(buf);
	}
}
