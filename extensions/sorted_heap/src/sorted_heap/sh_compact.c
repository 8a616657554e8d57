/*-------------------------------------------------------------------------
 *
 * sh_compact.c
 *	  CALL sorted_heap.compact() and merge(): order restored while others read
 *	  and write.
 *
 * Rows are read in key order and moved, a bounded number per transaction: all
 * of them, to empty pages (sh_move.c), or those that are out of order
 * (sh_merge.c).  To everybody else a move is an update: a writer that waited
 * follows the row.  Old snapshots see old tuples, VACUUM removes them, and
 * folds the new rows' entries into zones.  It runs between steps when old
 * pages have lost all rows, so that the next steps fill those (sh_room.c).  In
 * the end, if there are enough empty pages for VACUUM to cut off, rows on the
 * last pages move forward.
 *
 * Rows that somebody else is changing or has locked stay where they are.
 * Logical decoding sees nothing: no row has changed.
 *
 * Locks: SHARE UPDATE EXCLUSIVE on the table, per step.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sh_move.h"
#include "sh_tableam.h"
#include "st_compat.h"
#include "st_progress.h"
#include "zm_scan.h"
#include "zm_scan_int.h"

PG_FUNCTION_INFO_V1(zm_compact);
PG_FUNCTION_INFO_V1(sh_progress);

/* The table may grow by this share, and by as many pages, between VACUUMs. */
#define GROWTH_SHARE 8
#define LEAST_GROWTH 128

/* VACUUM cuts off no fewer pages than these, or this share of the table. */
#define LEAST_CUT 1000
#define CUT_SHARE 16

/* Writers beside compaction use pages at the end: again, but not for ever. */
#define SETTLE_PASSES 3

/* What a pass over the table moves. */
typedef enum Pass
{
	PASS_ALL,					/* all rows */
	PASS_MERGE,					/* strays, and rows in their way */
	PASS_REFILL,				/* strays that have room now */
	PASS_SETTLE,				/* rows on the last pages */
} Pass;

/* One CALL: passes over the table, each of many transactions. */
typedef struct Compaction
{
	Oid			relid;
	Pass		pass;
	int			limit;			/* rows per step */
	MemoryContext context;		/* for keys */
	MemoryContext step_context;
	ShRoom		room;
	int64		all_moved;		/* rows, for progress */
	int64		moved;			/* rows: in the passes before settle(), or in one
								 * of its */
	bool		made_room;		/* for strays */
	TransactionId first_xid;	/* no step has an older one */
	BlockNumber first_pages;	/* of the table, at first */
	BlockNumber growth;			/* so many more call for VACUUM */
	double		rows;			/* of the table, as far as is known */
	BlockNumber pages;			/* of the table, at the last look */
	BlockNumber empty;			/* then */
	bool		reclaim;		/* before the next step */
	Oid			index;			/* whose keys tell where a step begins */
} Compaction;

/* One transaction's work. */
typedef struct Step
{
	Relation	rel;
	Compaction *call;
	Relation	index;
	ShMover    *mover;
} Step;

/* The rights and settings that expressions of indexes run with. */
typedef struct Rights
{
	Oid			user;
	int			context;
	int			nest;
} Rights;

/* The key of a row's tuple, allocated in `context`. */
IndexTuple
sh_row_key(const ZmSpace *space, Relation rel, HeapTuple tuple,
		   MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	IndexTuple	key;

	for (int i = 0; i < space->ncolumns; i++)
		values[i] = heap_getattr(tuple, space->columns[i].heap_attno,
								 RelationGetDescr(rel), &nulls[i]);
	key = index_form_tuple(space->desc, values, nulls);
	MemoryContextSwitchTo(old);
	return key;
}

bool
sh_row_has_key(const ZmSpace *space, TupleTableSlot *row, IndexTuple key)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	ZmTarget	target;

	for (int i = 0; i < space->ncolumns; i++)
		values[i] = slot_getattr(row, space->columns[i].heap_attno,
								 &nulls[i]);
	zm_target_from_entry(space, &target, key);
	return zm_compare_key(space, &target, values, nulls) == 0;
}

/*
 * Moves rows from the key `from` on (exclusive; NULL: from the beginning), all
 * or those on the last pages, and returns the key of the last one, allocated
 * in the call's context; NULL at the end.
 */
static IndexTuple
move_rows(Step *step, IndexTuple from)
{
	Compaction *call = step->call;
	IndexScanDesc scan = st_index_beginscan(step->rel, step->index,
											GetActiveSnapshot());
	ZmScan	   *state = scan->opaque;
	ZmSpace    *space = &state->cursor.space;
	TupleTableSlot *row = table_slot_create(step->rel, NULL);
	BlockNumber first = call->pass == PASS_SETTLE ? call->room.end : 0;
	IndexTuple	last = NULL;
	int			nmoves = 0;
	bool		full = false;

	index_rescan(scan, NULL, 0, NULL, 0);
	zm_scan_after(scan, from);
	state->skip_below = first;
	while (zm_get_row(scan, ForwardScanDirection, row))
	{
		HeapTuple	tuple;
		bool		free_tuple;

		CHECK_FOR_INTERRUPTS();
		/* Rows with the last key all belong to the same step. */
		if (last != NULL && !sh_row_has_key(space, row, last))
		{
			full = true;
			break;
		}
		if (ItemPointerGetBlockNumber(&row->tts_tid) < first)
			continue;
		sh_move_tuple(step->mover, ExecCopySlotHeapTuple(row),
					  InvalidBlockNumber);
		nmoves++;
		if (nmoves < call->limit || last != NULL)
			continue;
		tuple = ExecFetchSlotHeapTuple(row, false, &free_tuple);
		last = sh_row_key(space, step->rel, tuple, call->context);
		if (free_tuple)
			heap_freetuple(tuple);
	}
	if (!full && last != NULL)
	{
		pfree(last);
		last = NULL;
	}
	ExecDropSingleTupleTableSlot(row);
	index_endscan(scan);
	return last;
}

/* The same with strays. */
static IndexTuple
merge_rows(Step *step, IndexTuple from)
{
	Compaction *call = step->call;
	ShMergeStep merge = {.rel = step->rel,.index = step->index,
		.mover = step->mover,.context = call->context,.limit = call->limit,
	.refill = call->pass == PASS_REFILL};
	IndexTuple	last = sh_merge_rows(&merge, from);

	call->made_room |= merge.made_room;
	return last;
}

static void
check_table(Relation rel)
{
	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not a table or materialized view",
					   RelationGetRelationName(rel)),
				rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
				errhint("Compact its partitions.") : 0);
	if (!st_can_maintain(rel))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   RelationGetRelationName(rel));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
	if (!OidIsValid(sh_place_index(rel)))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table \"%s\" has no zonemap index",
					   RelationGetRelationName(rel)),
				errhint("Create one: its key is the order of the table."));
}

/* Before a lock is asked for that VACUUM and others wait for. */
static void
check_first(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);

	check_table(rel);
	table_close(rel, AccessShareLock);
}

static Relation
open_table(Oid relid, Rights *rights)
{
	Relation	rel;

	/* Steps become serializable when they write (sh_move.c), not before. */
	if (!FirstSnapshotSet)
		XactIsoLevel = XACT_READ_COMMITTED;
	rel = table_open(relid, ShareUpdateExclusiveLock);
	check_table(rel);
	/* A step that a crash takes back is no loss. */
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
	PushActiveSnapshot(GetTransactionSnapshot());
	GetUserIdAndSecContext(&rights->user, &rights->context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   rights->context | SECURITY_RESTRICTED_OPERATION);
	rights->nest = NewGUCNestLevel();
	st_restrict_search_path();
	return rel;
}

static void
close_table(Relation rel, const Rights *rights)
{
	AtEOXact_GUC(false, rights->nest);
	SetUserIdAndSecContext(rights->user, rights->context);
	PopActiveSnapshot();
	table_close(rel, NoLock);
}

/* One step, in a transaction. */
static IndexTuple
run_step(Compaction *call, IndexTuple from)
{
	MemoryContext old = MemoryContextSwitchTo(call->step_context);
	Rights		rights;
	Relation	rel = open_table(call->relid, &rights);
	Step		step = {.rel = rel,.call = call};
	ShRoom	   *room = &call->room;
	IndexTuple	last;
	int64		moved;
	BlockNumber pages;

	if (room->target != InvalidBlockNumber &&
		room->target >= RelationGetNumberOfBlocks(rel))
		room->target = InvalidBlockNumber;
	step.mover = sh_move_begin(rel, room);
	step.index = index_open(sh_place_index(rel), RowExclusiveLock);
	/* Another index has another order, and other types perhaps. */
	if (RelationGetRelid(step.index) != call->index)
		from = NULL;
	call->index = RelationGetRelid(step.index);
	if (call->pass == PASS_MERGE || call->pass == PASS_REFILL)
		last = merge_rows(&step, from);
	else
		last = move_rows(&step, from);
	if (!sh_move_end(step.mover, &moved) && last != NULL)
	{
		/* There will be no page for others either. */
		pfree(last);
		last = NULL;
	}
	call->moved += moved;
	call->all_moved += moved;
	st_progress_set(ST_PROGRESS_DELTA_ROWS, call->all_moved);
	index_close(step.index, NoLock);
	pages = RelationGetNumberOfBlocks(rel);
	call->reclaim = room->end == InvalidBlockNumber &&
		room->next >= call->pages && pages > call->first_pages &&
		pages - call->first_pages >= call->growth &&
		room->emptied >= call->growth / 2;
	close_table(rel, &rights);
	MemoryContextSwitchTo(old);
	SPI_commit();
	MemoryContextReset(call->step_context);
	return last;
}

/* ---- passes ---- */

/*
 * VACUUM, if asked for, and a look at what is empty, in a transaction.  Where
 * old snapshots keep it from freeing much, the next one comes later.
 */
static void
look(Compaction *call, bool vacuum, bool last)
{
	MemoryContext old = MemoryContextSwitchTo(call->step_context);
	Rights		rights;
	Relation	rel;

	if (vacuum)
		sh_room_begin();
	rel = open_table(call->relid, &rights);
	if (vacuum)
	{
		sh_room_reclaim(rel, last);
		st_progress_resume();
	}
	call->rows = rel->rd_rel->reltuples;
	call->pages = RelationGetNumberOfBlocks(rel);
	call->empty = sh_room_count(rel);
	if (vacuum && call->empty < call->room.emptied / 2)
		call->growth *= 2;
	ereport(DEBUG1,
			errmsg_internal("\"%s\": %u pages, %u of them empty; %lld rows moved, %lld pages emptied",
							RelationGetRelationName(rel), call->pages,
							call->empty, (long long) call->moved,
							(long long) call->room.emptied));
	call->room.emptied = 0;
	call->room.next = 0;
	call->reclaim = false;
	close_table(rel, &rights);
	MemoryContextSwitchTo(old);
	SPI_commit();
	MemoryContextReset(call->step_context);
}

/*
 * Makes the room that rows have left, where steps cannot prune their pages: a
 * transaction of another database that is older keeps their snapshots old.  One
 * of this database keeps VACUUM from it, too.
 */
static void
prune(Compaction *call)
{
	MemoryContext old = MemoryContextSwitchTo(call->step_context);
	Rights		rights;
	Relation	rel;

	sh_room_begin();
	rel = open_table(call->relid, &rights);
	if (TransactionIdPrecedes(GetActiveSnapshot()->xmin, call->first_xid) &&
		TransactionIdPrecedes(call->first_xid,
							  GetOldestNonRemovableTransactionId(rel)))
	{
		sh_room_prune(rel);
		st_progress_resume();
	}
	close_table(rel, &rights);
	MemoryContextSwitchTo(old);
	SPI_commit();
	MemoryContextReset(call->step_context);
}

/* Moves all rows that are to move, once. */
static void
run_pass(Compaction *call, Pass pass)
{
	IndexTuple	from = NULL;

	call->pass = pass;
	st_progress_phase(pass == PASS_SETTLE ? ST_PHASE_FRONT : ST_PHASE_ROWS,
					  pass == PASS_ALL && call->rows > 0 ? (int64) call->rows : -1, -1);
	do
	{
		IndexTuple	last = run_step(call, from);

		if (from != NULL)
			pfree(from);
		from = last;
		CHECK_FOR_INTERRUPTS();
		if (call->reclaim && from != NULL)
			look(call, true, false);
	} while (from != NULL);
}

/*
 * Moves rows from the end of the table to pages before that are empty, so that
 * VACUUM can cut the end off.
 */
static void
settle(Compaction *call)
{
	for (int i = 0; i < SETTLE_PASSES; i++)
	{
		BlockNumber before = call->pages;
		/* Pages are not filled to the last byte as they were before. */
		BlockNumber spare = call->empty - call->empty / 64;

		if (spare < Min(LEAST_CUT, call->pages / CUT_SHARE + 1))
			break;
		call->room.target = InvalidBlockNumber;
		call->room.end = before - Min(before, spare);
		call->moved = 0;
		run_pass(call, PASS_SETTLE);
		if (call->moved == 0)
			break;
		look(call, true, true);
		if (call->pages >= before)
			break;
	}
}

/* compact(relation regclass, all boolean, step_rows integer) */
Datum
zm_compact(PG_FUNCTION_ARGS)
{
	Compaction	call = {.relid = PG_GETARG_OID(0),.limit = PG_GETARG_INT32(2)};
	bool		all = PG_GETARG_BOOL(1);

	PreventCommandIfReadOnly("CALL sorted_heap.compact()");
	if (call.limit < 1 || call.limit > 1000000)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("step_rows must be between 1 and 1000000"));
	if (castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				errmsg("compaction cannot run inside a transaction block, or in a function"),
				errhint("It commits each step: CALL it on its own."));

	check_first(call.relid);
	SPI_connect_ext(SPI_OPT_NONATOMIC);
	call.context = AllocSetContextCreate(PortalContext, "compaction",
										 ALLOCSET_SMALL_SIZES);
	call.step_context = AllocSetContextCreate(PortalContext,
											  "compaction step",
											  ALLOCSET_DEFAULT_SIZES);
	call.room.target = InvalidBlockNumber;
	call.room.end = InvalidBlockNumber;
	look(&call, false, false);
	st_progress_begin(all ? ST_COMMAND_COMPACT : ST_COMMAND_MERGE,
					  get_table_am_oid("sorted_heap", false), call.relid);
	call.first_pages = call.pages;
	call.growth = Max(LEAST_GROWTH, call.pages / GROWTH_SHARE);
	call.first_xid = ReadNextTransactionId();
	run_pass(&call, all ? PASS_ALL : PASS_MERGE);
	if (call.made_room)
	{
		prune(&call);
		run_pass(&call, PASS_REFILL);
	}
	if (call.moved > 0 || call.made_room)
		look(&call, true, true);
	settle(&call);
	st_progress_end(all ? ST_COMMAND_COMPACT : ST_COMMAND_MERGE);
	MemoryContextDelete(call.step_context);
	MemoryContextDelete(call.context);
	SPI_finish();
	PG_RETURN_VOID();
}

/* running_commands(): what is running, st_progress.h */
Datum
sh_progress(PG_FUNCTION_ARGS)
{
	st_progress_function(fcinfo);
	return (Datum) 0;
}
