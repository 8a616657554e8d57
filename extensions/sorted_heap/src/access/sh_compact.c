/*-------------------------------------------------------------------------
 *
 * sh_compact.c
 *	  CALL sorted_heap.compact() and merge(): order restored while others read
 *	  and write.
 *
 * Rows are read in key order and moved to empty pages, a bounded number per
 * transaction (sh_move.c).  To everybody else a move is an update: a writer
 * that waited follows the row.  Old snapshots see old tuples, VACUUM removes
 * them, and folds the new rows' entries into zones.
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
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "sh_move.h"
#include "sh_tableam.h"
#include "st_compat.h"
#include "zm_access.h"
#include "zm_scan.h"

PG_FUNCTION_INFO_V1(zm_compact);

/* One transaction's work. */
typedef struct Step
{
	Relation	rel;
	bool		all;			/* not only groups out of order */
	int			limit;			/* rows */
	int			nmoves;
	ZmMover    *mover;
} Step;

/*
 * Whether the visible rows of the scan's group are out of order: a page with
 * rows of its own alone, or one after the other, is not.
 */
static bool
group_is_mixed(const ZmScan *scan)
{
	int			changes = 0;

	for (int i = 1; i < scan->nitems; i++)
		changes += ItemPointerGetBlockNumber(&scan->items[i].tid) !=
			ItemPointerGetBlockNumber(&scan->items[i - 1].tid);
	return changes > 1 + scan->nitems / 64;
}

/*
 * Moves rows from the key `from` on (exclusive; NULL: from the beginning), and
 * returns the key of the last one, allocated in `context`; NULL at the end.
 */
static IndexTuple
move_rows(Step *step, Relation index, IndexTuple from, MemoryContext context)
{
	IndexScanDesc scan = st_index_beginscan(step->rel, index,
											GetActiveSnapshot());
	ZmScan	   *state = scan->opaque;
	TupleTableSlot *row = table_slot_create(step->rel, NULL);
	IndexTuple	last = NULL;
	int64		group = -1;
	bool		take = false;
	bool		full = false;

	index_rescan(scan, NULL, 0, NULL, 0);
	zm_scan_after(scan, from);
	while (zm_get_row(scan, ForwardScanDirection, row))
	{
		ZmSpace    *space = &state->cursor.space;
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (state->groups != group)
			take = step->all || group_is_mixed(state);
		group = state->groups;
		/* Rows with the last key all belong to the same step. */
		if (step->nmoves >= step->limit || full)
		{
			ZmTarget	target;

			full = true;
			for (int i = 0; i < space->ncolumns; i++)
				values[i] = slot_getattr(row, space->columns[i].heap_attno,
										 &nulls[i]);
			zm_target_from_entry(space, &target, last);
			if (zm_compare_key(space, &target, values, nulls) != 0)
				break;
		}
		if (!take)
			continue;
		zm_move_row(step->mover, row);
		step->nmoves++;
		if (step->nmoves >= step->limit && last == NULL)
		{
			old = MemoryContextSwitchTo(context);
			for (int i = 0; i < space->ncolumns; i++)
				values[i] = slot_getattr(row, space->columns[i].heap_attno,
										 &nulls[i]);
			last = index_form_tuple(space->desc, values, nulls);
			MemoryContextSwitchTo(old);
		}
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
	if (!OidIsValid(zm_place_index(rel)))
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("table \"%s\" has no zonemap index",
					   RelationGetRelationName(rel)),
				errhint("Create one: its key is the order of the table."));
}

/* One step, in the current transaction. */
static IndexTuple
run_step(Oid relid, bool all, int limit, IndexTuple from, BlockNumber *target,
		 MemoryContext context)
{
	Step	   *step = palloc0(sizeof(Step));
	Relation	rel = table_open(relid, ShareUpdateExclusiveLock);
	Relation	index;
	IndexTuple	last;
	Oid			owner;
	int			security;
	int			nest;

	check_table(rel);
	/* A step that a crash takes back is no loss. */
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
	PushActiveSnapshot(GetTransactionSnapshot());
	/* Expressions of indexes run with the owner's rights. */
	GetUserIdAndSecContext(&owner, &security);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   security | SECURITY_RESTRICTED_OPERATION);
	nest = NewGUCNestLevel();
	st_restrict_search_path();

	step->rel = rel;
	step->all = all;
	step->limit = limit;
	if (*target >= RelationGetNumberOfBlocks(rel))
		*target = InvalidBlockNumber;
	step->mover = zm_move_begin(rel, *target);
	index = index_open(zm_place_index(rel), RowExclusiveLock);
	last = move_rows(step, index, from, context);
	*target = zm_move_end(step->mover);
	index_close(index, NoLock);
	AtEOXact_GUC(false, nest);
	SetUserIdAndSecContext(owner, security);
	PopActiveSnapshot();
	table_close(rel, NoLock);
	return last;
}

/* compact(relation regclass, all boolean, step_rows integer) */
Datum
zm_compact(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		all = PG_GETARG_BOOL(1);
	int			limit = PG_GETARG_INT32(2);
	CallContext *call = castNode(CallContext, fcinfo->context);
	MemoryContext context;
	IndexTuple	from = NULL;
	BlockNumber target = InvalidBlockNumber;

	if (limit < 1 || limit > 1000000)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("step_rows must be between 1 and 1000000"));
	if (call->atomic)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_TRANSACTION_TERMINATION),
				errmsg("compaction cannot run inside a transaction block, or in a function"),
				errhint("It commits each step: CALL it on its own."));

	SPI_connect_ext(SPI_OPT_NONATOMIC);
	context = AllocSetContextCreate(PortalContext, "compaction",
									ALLOCSET_SMALL_SIZES);
	do
	{
		IndexTuple	last = run_step(relid, all, limit, from, &target, context);

		if (from != NULL)
			pfree(from);
		from = last;
		SPI_commit();
		CHECK_FOR_INTERRUPTS();
	} while (from != NULL);
	MemoryContextDelete(context);
	SPI_finish();
	PG_RETURN_VOID();
}
