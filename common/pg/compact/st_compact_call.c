/*-------------------------------------------------------------------------
 *
 * st_compact_call.c
 *	  What an access method's procedures compact() and merge() do.
 *
 * A call first looks whether there is anything to do, in the caller's own
 * transaction and with AccessShareLock; mostly there is not.  Then every step
 * (st_compact.c) has a transaction of its own, with ShareUpdateExclusiveLock
 * on the table: one compaction or VACUUM at a time, readers and writers go
 * on.  So neither can run in a transaction block.
 *
 * merge() goes on until the file is as small as it can be made.  Rows that
 * leave the delta leave pages behind.  Only VACUUM can free those, because it
 * removes index entries.  Then the last row groups of the file can move there,
 * and VACUUM cuts off where they were.  So it runs VACUUM where that is worth
 * it: in the end, and before that after each part of a large delta, so that
 * neither the file nor its indexes become much larger on the way; the end of the
 * file is such a part, which comes early (st_compact_end.c).  Not if it was
 * called by another procedure or a DO block, whose transactions the server's
 * VACUUM could not end: then it leaves VACUUM to a background worker, and says
 * so.  Last, it packs the TOAST relation (st_toast_pack.c).
 *
 * A step runs functions of indexes: as the owner of the table, in a
 * security-restricted operation, with a safe search path.
 *
 * A partitioned table stands for its partitions of this access method.
 *
 * While VACUUM runs it reports its own progress, and ours is not shown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_compact.h"
#include "st_compat.h"
#include "st_file.h"
#include "st_progress.h"
#include "st_store.h"

/*
 * When all steps are taken merge() runs VACUUM so many times at most, and after so many
 * only as long as each makes the file shorter by such a share.
 */
#define MAX_VACUUMS		5
#define ENOUGH_VACUUMS	3
#define WORTHY_SHARE	16

/* And before that after each part of the delta, if that is so much. */
#define VACUUM_BYTES	(64 * 1024 * 1024)

/* How long it waits for older snapshots after one, and between looks. */
#define SNAPSHOT_MS		1000
#define SNAPSHOT_NAP_MS	10

typedef struct CompactCall
{
	const char *verb;			/* for messages */
	const char *am_name;
	StCompactJob job;			/* of the table at hand */
	bool		to_the_end;
	bool		may_vacuum;
	bool		unfinished;		/* the job goes on after VACUUM */
	TransactionId held;			/* a snapshot older than this was waited for in vain */
	int64		delta_bytes;	/* of the delta, when the job began, or 0 */
	int64		vacuumed;		/* what was left of them at the last VACUUM */
	int			max_steps;		/* of all tables together */
	int			steps;
	MemoryContext mcxt;
} CompactCall;

/*
 * Opens a table that may be compacted.  NULL if it is gone, or is to be left
 * out: then a warning says so, if that was not to be expected.
 */
static Relation
open_table(const CompactCall *call, Oid relid, LOCKMODE lockmode)
{
	Relation	rel = try_relation_open(relid, lockmode);

	if (rel == NULL)
		return NULL;
	if (st_relation_format(rel) != NULL && !RELATION_IS_OTHER_TEMP(rel) &&
		!st_can_maintain(rel))
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to compact \"%s\", skipping it",
						RelationGetRelationName(rel))));
	else if (st_relation_format(rel) != NULL && !RELATION_IS_OTHER_TEMP(rel))
		return rel;
	relation_close(rel, lockmode);
	return NULL;
}

void
st_step_begin(void)
{
	XactIsoLevel = XACT_SERIALIZABLE;
	(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
}

bool
st_compact_as_owner(Relation rel, StCompactJob *job, StCompactFunction step)
{
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;
	bool		result;

	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   save_sec_context | SECURITY_RESTRICTED_OPERATION);
	save_nestlevel = NewGUCNestLevel();
	st_restrict_search_path();
	PushActiveSnapshot(GetTransactionSnapshot());

	result = st_paced(rel, job, step);

	PopActiveSnapshot();
	AtEOXact_GUC(false, save_nestlevel);
	SetUserIdAndSecContext(save_userid, save_sec_context);
	return result;
}

/* In the running transaction: one of the two questions of st_compact.h. */
static bool
ask(CompactCall *call, Oid relid, StCompactFunction question)
{
	StCompactJob probe = {.to_the_end = call->to_the_end};
	Relation	rel = open_table(call, relid, AccessShareLock);
	bool		result;

	if (rel == NULL)
		return false;
	probe.mcxt = call->mcxt;
	result = st_compact_as_owner(rel, &probe, question);
	relation_close(rel, AccessShareLock);
	return result;
}

/* A step in a transaction of its own, which is begun here. */
static bool
run_step(CompactCall *call, Oid relid, StCompactFunction step)
{
	Relation	rel;
	bool		result;

	SPI_commit();
	st_step_begin();
	rel = open_table(call, relid, ShareUpdateExclusiveLock);
	if (rel == NULL)
		return false;
	result = st_compact_as_owner(rel, &call->job, step);
	relation_close(rel, NoLock);
	return result;
}

/* Have steps taken so much of the delta that VACUUM should come next? */
static bool
vacuum_is_due(CompactCall *call)
{
	if (!call->may_vacuum)
		return false;
	if (call->delta_bytes == 0)
		call->vacuumed = call->delta_bytes = call->job.delta_left;
	if (call->job.end_phase != ST_END_NONE)
		return false;
	call->vacuumed = Max(call->vacuumed, call->job.delta_left);
	if (call->vacuumed - call->job.delta_left <
		Max(VACUUM_BYTES, call->delta_bytes / ST_VACUUM_PARTS))
		return false;
	call->vacuumed = call->job.delta_left;
	return true;
}

static void
begin_job(CompactCall *call)
{
	call->job = (StCompactJob)
	{
		.to_the_end = call->to_the_end,
		.end_first = call->to_the_end && call->may_vacuum && !call->job.started,
		.mcxt = call->mcxt,
		.again = call->job.started,
		.first_new_row = call->job.first_new_row,
		.order_steps = call->job.order_steps,
		.order_groups = call->job.order_groups
	};
	call->delta_bytes = 0;
	st_progress_phase(ST_PHASE_LOOK, -1, -1);
}

/* Is there a snapshot older than that transaction, for which VACUUM keeps the table's rows? */
static bool
is_held(Oid relid, TransactionId before)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	bool		held;

	if (rel == NULL)
		return false;
	InvalidateCatalogSnapshot();	/* opening has made one, of this session */
	held = TransactionIdPrecedes(GetOldestNonRemovableTransactionId(rel), before);
	relation_close(rel, AccessShareLock);
	return held;
}

/* Is the snapshot still there that was waited for in vain? */
static bool
still_held(const CompactCall *call, Oid relid)
{
	return TransactionIdIsValid(call->held) && is_held(relid, call->held);
}

/*
 * VACUUM frees what steps have left once no snapshot is older than they are, and
 * the pages that it has freed are for row groups once none is older than it is.
 * Beside short transactions that is a moment, for which it is worth waiting.  A long
 * one is waited for once.
 */
static void
wait_for_older_snapshots(CompactCall *call, Oid relid)
{
	TransactionId next = ReadNextTransactionId();

	if (still_held(call, relid))
		return;
	call->held = InvalidTransactionId;
	for (int ms = 0; is_held(relid, next); ms += SNAPSHOT_NAP_MS)
	{
		if (ms >= SNAPSHOT_MS)
		{
			call->held = next;
			return;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SNAPSHOT_NAP_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * What a step leaves of a free extent can be used once no snapshot is older, and while
 * the end of the delta goes first the file must not grow instead.
 */
static bool
run_next_step(CompactCall *call, Oid relid)
{
	if (call->job.end_phase == ST_END_TAIL || call->job.end_phase == ST_END_CLEAR)
	{
		SPI_commit();
		wait_for_older_snapshots(call, relid);
	}
	return run_step(call, relid, st_compact_step);
}

/*
 * Steps until nothing is left to do, or VACUUM is due in between; false if there
 * was nothing.
 */
static bool
run_steps(CompactCall *call, Oid relid)
{
	if (!call->unfinished)
	{
		if (!ask(call, relid, st_compact_needed))
			return false;
		begin_job(call);
	}
	call->unfinished = false;
	while (!call->unfinished &&
		   call->steps + call->job.steps < call->max_steps &&
		   run_next_step(call, relid))
		call->unfinished = vacuum_is_due(call);
	if (call->job.vacuum_first)
	{
		call->job.vacuum_first = false;
		call->vacuumed = call->job.delta_left;
		call->unfinished = true;
	}
	if (!call->unfinished)
		call->steps += call->job.steps;
	SPI_commit();
	return call->job.steps > 0;
}

/*
 * Left to itself, VACUUM leaves dead line pointers alone if they stand on few
 * pages.  Such a page at the end of the file keeps all before it from being cut
 * off.
 *
 * The VACUUM of a worker, or of who has set a pace, has no workers of its own: it is
 * to take a share of one processor, and not all that there are from those who write.
 */
void
st_compact_vacuum(Oid relid, StVacuumBeside beside, MemoryContext mcxt)
{
	VacuumStmt *stmt;

	MemoryContextSwitchTo(mcxt);
	stmt = makeNode(VacuumStmt);
	stmt->is_vacuumcmd = true;
	stmt->rels = list_make1(makeVacuumRelation(NULL, relid, NIL));
	stmt->options = list_make1(makeDefElem("index_cleanup", (Node *) makeString("on"), -1));
	if (beside != ST_VACUUM_WAITS)
		stmt->options = lappend(stmt->options, makeDefElem("skip_locked", NULL, -1));
	if (beside != ST_VACUUM_WAITS || VacuumCostDelay > 0)
		stmt->options = lappend(stmt->options,
								makeDefElem("parallel", (Node *) makeInteger(0), -1));
	if (beside == ST_VACUUM_BESIDE_SHORT)
		stmt->options = lappend(stmt->options,
								makeDefElem("truncate", (Node *) makeBoolean(false), -1));
	ExecVacuum(make_parsestate(NULL), stmt, true);
	/* What was current before may be gone with the transaction. */
	MemoryContextSwitchTo(mcxt);
}

/* The size of the table's file, or 0. */
static BlockNumber
file_size(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	BlockNumber result = 0;

	if (rel != NULL)
	{
		result = RelationGetNumberOfBlocks(rel);
		relation_close(rel, AccessShareLock);
	}
	return result;
}

/*
 * VACUUM has transactions of its own, which SPI must not see.  True if it has made the
 * file shorter by a share that is worth another one.
 */
static bool
vacuum_table(CompactCall *call, Oid relid)
{
	MemoryContext oldcxt;
	BlockNumber before;
	bool		shorter;

	st_progress_phase(ST_PHASE_VACUUM, -1, -1);
	SPI_commit();
	SPI_finish();
	oldcxt = CurrentMemoryContext;
	wait_for_older_snapshots(call, relid);
	before = file_size(relid);
	st_compact_vacuum(relid, ST_VACUUM_WAITS, call->mcxt);
	MemoryContextSwitchTo(oldcxt);
	shorter = file_size(relid) < before - before / WORTHY_SHARE;
	wait_for_older_snapshots(call, relid);
	st_progress_resume();
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	return shorter;
}

/*
 * A merge asks the next VACUUM for a short file, as far as steps have come: behind that
 * are rows to be moved, among which new ones may stand.
 */
static void
want_short_file(CompactCall *call, Oid relid)
{
	if (!call->to_the_end)
		return;
	(void) run_step(call, relid, st_compact_want_pages);
	SPI_commit();
}

/* Is VACUUM worth it? */
static bool
wastes(CompactCall *call, Oid relid)
{
	if (!ask(call, relid, st_compact_wastes))
		return false;
	if (!call->unfinished)
		call->job.reached = MaxBlockNumber;
	want_short_file(call, relid);
	return true;
}

/*
 * Before a VACUUM in between.  Beside writers there are rows again on pages that steps
 * have left: versions that were made while those were copied.  They would keep the free
 * pages apart, in pieces that are too small for row groups.  So the next step takes
 * them, too.
 */
static void
look_again(StCompactJob *job)
{
	if (job->disturbed)
		job->next_block = Min(job->next_block, job->part);
	job->part = job->reached;
	job->disturbed = false;
}

/*
 * A worker may have done all steps before, and a snapshot of a moment, the
 * worker's own for one, may keep VACUUM from freeing what they have left.
 */
static void
run_steps_and_vacuum(CompactCall *call, Oid relid)
{
	int			vacuums = 0;

	for (;;)
	{
		bool		moved = run_steps(call, relid);
		bool		shorter;

		if (call->unfinished)
		{
			(void) wastes(call, relid);
			look_again(&call->job);
			(void) vacuum_table(call, relid);
			continue;
		}
		/* steps behind the last VACUUM have the next one make the file short */
		if (!call->may_vacuum ||
			(vacuums > 0 &&
			 (still_held(call, relid) ||
			  !(moved || ask(call, relid, st_compact_waits)))) ||
			!wastes(call, relid))
			return;
		shorter = vacuum_table(call, relid);
		if (++vacuums == MAX_VACUUMS || (vacuums >= ENOUGH_VACUUMS && !shorter))
			return;
	}
}

/* Who calls this has changed his mind about a release() that did not end. */
static bool
stay(Relation rel, StCompactJob *job)
{
	st_meta_set_leaving(rel, false);
	return true;
}

/* Who calls this does not know of a release() that somebody has begun. */
static bool
check_staying(Relation rel, StCompactJob *job)
{
	if (st_meta_leaving(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" is being released", RelationGetRelationName(rel)),
				 errhint("CALL merge takes a release back that has not ended.")));
	return true;
}

/* VACUUM is worth it, but cannot run here. */
static bool
hand_vacuum_on(Relation rel, StCompactJob *job)
{
	char	   *name = RelationGetRelationName(rel);

	if (st_auto_compact_start(rel))
		ereport(NOTICE,
				(errmsg("VACUUM of \"%s\" is left to a background worker", name),
				 errdetail("merge cannot run it inside a procedure or DO block.")));
	else
		ereport(NOTICE,
				(errmsg("\"%s\" is left larger than it needs to be", name),
				 errdetail("merge cannot run VACUUM inside a procedure or DO block, and no background worker may or can."),
				 errhint("CALL merge on its own, or run VACUUM.")));
	return true;
}

static void
compact_table(CompactCall *call, Oid relid)
{
	(void) ask(call, relid, stay);
	st_progress_begin(call->to_the_end ? ST_COMMAND_MERGE : ST_COMMAND_COMPACT,
					  get_table_am_oid(call->am_name, false), relid);
	call->job = (StCompactJob) {0};
	call->unfinished = false;
	call->held = InvalidTransactionId;
	run_steps_and_vacuum(call, relid);
	if (call->to_the_end && ask(call, relid, st_toast_wastes))
	{
		st_progress_phase(ST_PHASE_SWEEP, -1, -1);
		(void) run_step(call, relid, st_toast_pack);
		SPI_commit();
	}
	XLogFlush(XactLastCommitEnd);	/* when the command ends, its last step is safe */
	st_progress_end(call->to_the_end ? ST_COMMAND_MERGE : ST_COMMAND_COMPACT);
	if (call->to_the_end && !call->may_vacuum &&
		(call->steps > 0 ? wastes(call, relid) : ask(call, relid, st_compact_wastes)))
		(void) ask(call, relid, hand_vacuum_on);
}

/* The table itself, or what a partitioned table consists of. */
static List *
tables_of(const CompactCall *call, Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	MemoryContext oldcxt = MemoryContextSwitchTo(call->mcxt);
	List	   *result;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
		st_relation_format(rel) == NULL)
		st_error_not_ours(rel, call->am_name);
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (!st_can_maintain(rel))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));

	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		result = find_all_inheritors(relid, NoLock, NULL);
	else
		result = list_make1_oid(relid);
	MemoryContextSwitchTo(oldcxt);
	relation_close(rel, AccessShareLock);
	return result;
}

static void
run_call(FunctionCallInfo fcinfo, CompactCall *call)
{
	CallContext *context = (CallContext *) fcinfo->context;
	List	   *tables;
	ListCell   *lc;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation must not be null")));
	if (context == NULL || !IsA(context, CallContext) || context->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", call->verb),
				 errdetail("It has transactions of its own."),
				 errhint("CALL it on its own: without BEGIN, and not in a function.")));
	PreventCommandIfReadOnly(call->verb);
	PreventCommandDuringRecovery(call->verb);

	call->mcxt = AllocSetContextCreate(PortalContext, "compaction calls",
									   ALLOCSET_SMALL_SIZES);
	call->may_vacuum = call->to_the_end &&
		!SPI_inside_nonatomic_context() && !IsInTransactionBlock(true);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	tables = tables_of(call, PG_GETARG_OID(0));
	foreach(lc, tables)
		compact_table(call, lfirst_oid(lc));
	SPI_finish();
	MemoryContextDelete(call->mcxt);
}

void
st_compact_call(FunctionCallInfo fcinfo, const char *am_name)
{
	CompactCall call = {.verb = "compact", .am_name = am_name};

	call.max_steps = PG_ARGISNULL(1) ? PG_INT32_MAX : PG_GETARG_INT32(1);
	if (call.max_steps < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_steps must be at least 1")));
	run_call(fcinfo, &call);
}

void
st_merge_call(FunctionCallInfo fcinfo, const char *am_name)
{
	CompactCall call = {.verb = "merge", .am_name = am_name};

	call.max_steps = PG_INT32_MAX;
	call.to_the_end = true;
	run_call(fcinfo, &call);
}

void
st_merge_table(Oid relid, const char *am_name, MemoryContext mcxt)
{
	CompactCall call = {.verb = "merge", .am_name = am_name};

	call.max_steps = PG_INT32_MAX;
	call.to_the_end = true;
	call.may_vacuum = true;
	call.mcxt = mcxt;
	(void) ask(&call, relid, check_staying);
	compact_table(&call, relid);
}
