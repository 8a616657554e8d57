/*-------------------------------------------------------------------------
 *
 * st_compact_worker.c
 *	  Compaction by a background worker (option auto_compact).
 *
 * A dynamic worker for one table.  A commit starts it when its session has
 * left much to do (st_delta_growth.c), and autovacuum when it finds as much.  It
 * does all there is to do, in rounds: steps of compaction (st_compact.c) until
 * there is none worth taking, then VACUUM if the table has pages or dead entries
 * that only VACUUM can free, then a TOAST relation that is mostly free is packed
 * (st_toast_pack.c), then from the start.  So compaction and VACUUM never wait
 * for one another's lock.
 *
 * After each step the worker rests as long as that took, at most ten seconds,
 * so that it takes half of one processor.  A round that changes nothing makes
 * it look less often.  It leaves when nothing was left to do for some seconds,
 * or when what is left has waited in vain for ten minutes: an old snapshot
 * keeps space from being free.  Only few workers of a server wait so.
 *
 * It never waits for the table's lock, because somebody who waits makes
 * autovacuum give up: it comes again, for two minutes.
 *
 * It leaves within about a second when somebody wants to drop or to copy the
 * database.
 *
 * An advisory lock of a kind that SQL cannot take keeps a second worker for
 * the same table away.
 *
 * Temporary tables have none: only their own session can read them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "st_compact.h"
#include "st_compat.h"
#include "st_options.h"
#include "st_write.h"

/* Fourth field of advisory lock tags: SQL uses 1 and 2. */
#define WORKER_LOCK_KIND	5005
#define WAITER_LOCK_KIND	5006

/* Workers that wait in vain keep others' places: so many may. */
#define MAX_WAITERS			2

#define MAX_NAP_MS			10000
#define MAX_DEAF_MS			1000	/* between looks at who wants the database */
#define BUSY_NAP_MS			1000
#define MAX_BUSY			120

/* Naps between looks at a table of which nothing has changed. */
#define MIN_IDLE_NAP_MS		1000
#define MAX_IDLE_NAP_MS		5000

/*
 * How long the worker stays after it has done something: without anything to
 * do (DROP DATABASE waits five seconds), where others hold what there is to do,
 * and where that waits for an old snapshot.
 */
#define MAX_IDLE_MS			3000
#define MAX_HELD_MS			60000
#define MAX_VAIN_MS			600000

/*
 * For how long a group that somebody held is left alone.  A step that wants it
 * again rewrites the groups that go with it, so this is not short.
 */
#define JOB_MS				15000

bool		st_auto_compact_enabled = true;

/* Function of the library that has the access method's name. */
static const char *worker_function = NULL;

static bool
is_allowed(Relation rel)
{
	return st_auto_compact_enabled && st_options_get(rel)->auto_compact &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
}

static void
describe_worker(BackgroundWorker *worker, Relation rel)
{
	const char *library = st_options_set()->provider;

	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	worker->bgw_main_arg = ObjectIdGetDatum(RelationGetRelid(rel));
	memcpy(worker->bgw_extra, &MyDatabaseId, sizeof(MyDatabaseId));
	snprintf(worker->bgw_library_name, sizeof(worker->bgw_library_name), "%s",
			 library);
	snprintf(worker->bgw_function_name, sizeof(worker->bgw_function_name),
			 "%s", worker_function);
	snprintf(worker->bgw_type, sizeof(worker->bgw_type), "%s compaction",
			 library);
	snprintf(worker->bgw_name, sizeof(worker->bgw_name),
			 "%s compaction of relation %u", library, RelationGetRelid(rel));
}

void
st_auto_compact_start(Relation rel)
{
	BackgroundWorker worker;

	if (!is_allowed(rel))
		return;
	describe_worker(&worker, rel);
	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(DEBUG1,
				(errmsg_internal("no background worker is left to compact \"%s\"",
								 RelationGetRelationName(rel))));
}

/* One of the few on the server that may wait for old snapshots to end? */
static bool
lock_as_waiter(void)
{
	static bool locked = false;

	for (int i = 0; i < MAX_WAITERS && !locked; i++)
	{
		LOCKTAG		tag;

		SET_LOCKTAG_ADVISORY(tag, InvalidOid, 0, i, WAITER_LOCK_KIND);
		locked = LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
	}
	return locked;
}

static void
set_worker_tag(LOCKTAG *tag, Oid relid)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, 0, relid, WORKER_LOCK_KIND);
}

/* Is a worker at this table?  A look only: two may find that none is. */
static bool
worker_at_work(Oid relid)
{
	LOCKTAG		tag;

	set_worker_tag(&tag, relid);
	if (LockAcquire(&tag, ShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, ShareLock, false);
	return false;
}

/* StCompactionWanted */
static bool
worker_wanted(Relation rel, BackgroundWorker *worker)
{
	if (!is_allowed(rel) || worker_at_work(RelationGetRelid(rel)))
		return false;
	describe_worker(worker, rel);
	return true;
}

void
st_auto_compact_init(const char *worker)
{
	worker_function = worker;
	st_on_delta_growth(worker_wanted);
}

/* False: another worker is at this table. */
static bool
lock_as_worker(Oid relid)
{
	LOCKTAG		tag;

	set_worker_tag(&tag, relid);
	return LockAcquire(&tag, ExclusiveLock, true, true) !=
		LOCKACQUIRE_NOT_AVAIL;
}

/*
 * DROP DATABASE and CREATE DATABASE with this one as the template lock it, and
 * give up if somebody is connected for five seconds more.  They end autovacuum's
 * workers, but do not know ours.
 */
static bool
database_is_wanted(void)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
	if (LockAcquire(&tag, RowExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, RowExclusiveLock, true);
	return false;
}

static void
nap(long ms)
{
	do
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(ms, MAX_DEAF_MS), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		if (database_is_wanted())
			proc_exit(0);
		ms -= MAX_DEAF_MS;
	} while (ms > 0);
}

typedef enum TurnResult
{
	TURN_DONE,					/* and there may be more */
	TURN_NOTHING,				/* nothing to do, or the table is gone */
	TURN_BUSY					/* somebody else has the table */
} TurnResult;

/* One transaction of the worker: asks or works, as `function` does. */
static TurnResult
run_turn(Oid relid, StCompactJob *job, StCompactFunction function,
		 LOCKMODE lockmode)
{
	TurnResult	result = TURN_NOTHING;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	XactIsoLevel = XACT_SERIALIZABLE;
	if (!ConditionalLockRelationOid(relid, lockmode))
		result = TURN_BUSY;
	else
	{
		Relation	rel = try_relation_open(relid, NoLock);

		if (rel != NULL)
		{
			if (st_relation_format(rel) != NULL && is_allowed(rel) &&
				st_compact_as_owner(rel, job, function))
				result = TURN_DONE;
			relation_close(rel, NoLock);
		}
	}
	CommitTransactionCommand();
	pgstat_report_stat(false);
	return result;
}

/* Steps until there is none, with rests.  False: the table is always busy. */
static bool
run_steps(Oid relid, StCompactJob *job)
{
	int			busy = 0;

	for (;;)
	{
		TimestampTz start = GetCurrentTimestamp();
		TurnResult	result = run_turn(relid, job, st_compact_step,
									  ShareUpdateExclusiveLock);
		long		ms = TimestampDifferenceMilliseconds(start,
														 GetCurrentTimestamp());

		if (result == TURN_NOTHING)
			return true;
		if (result == TURN_BUSY && ++busy > MAX_BUSY)
			return false;
		nap(result == TURN_BUSY ? BUSY_NAP_MS : Min(ms, MAX_NAP_MS));
	}
}

/* Asks a question about the table; no for an answer if it is busy. */
static bool
ask(Oid relid, StCompactFunction question)
{
	StCompactJob job = {.mcxt = TopMemoryContext};

	return run_turn(relid, &job, question, AccessShareLock) == TURN_DONE;
}

/* VACUUM has transactions of its own; it frees what is behind the horizon. */
static void
vacuum_table(Oid relid, MemoryContext mcxt)
{
	TimestampTz start = GetCurrentTimestamp();

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	st_compact_vacuum(relid, true, mcxt);
	CommitTransactionCommand();
	MemoryContextReset(mcxt);
	pgstat_report_stat(false);
	nap(Min(TimestampDifferenceMilliseconds(start, GetCurrentTimestamp()),
			MAX_NAP_MS));
}

/* What VACUUM could free rows up to; a question, see st_compact.h. */
static TransactionId horizon;

static bool
look_at_horizon(Relation rel, StCompactJob *job)
{
	horizon = GetOldestNonRemovableTransactionId(rel);
	return true;
}

static bool
horizon_moved(Oid relid, TransactionId *last)
{
	bool		moved = ask(relid, look_at_horizon) && horizon != *last;

	*last = horizon;
	return moved;
}

/*
 * A round has a job of its own, but for what was found in vain: groups that
 * others held, and steps that only sorted.  That counts for some time, and
 * until the horizon has moved, as it does once a holder has ended.
 */
static void
begin_round(StCompactJob *job, Oid relid, TimestampTz *since,
			TransactionId *last_horizon)
{
	StCompactJob next = {.mcxt = job->mcxt};

	if ((job->nskipped > 0 || job->order_steps > 0) &&
		(!TimestampDifferenceExceeds(*since, GetCurrentTimestamp(), JOB_MS) ||
		 !horizon_moved(relid, last_horizon)))
	{
		next.skipped = job->skipped;
		next.nskipped = job->nskipped;
		next.maxskipped = job->maxskipped;
		next.order_steps = job->order_steps;
	}
	else
	{
		MemoryContextReset(job->mcxt);
		*since = GetCurrentTimestamp();
	}
	*job = next;
}

/* Does nobody see any more what stood where before the steps of a worker? */
static bool
settled(Oid relid, TransactionId mark)
{
	return ask(relid, look_at_horizon) &&
		TransactionIdFollowsOrEquals(horizon, mark);
}

/* Is there something that the worker cannot do yet, and time to wait for it? */
static bool
may_stay(bool waits, bool held, TimestampTz last_progress)
{
	return (waits || held) &&
		!TimestampDifferenceExceeds(last_progress, GetCurrentTimestamp(),
									waits ? MAX_VAIN_MS : MAX_HELD_MS) &&
		lock_as_waiter();
}

/*
 * Rounds until the worker may leave.  What steps have left is worth a VACUUM,
 * and what waits for an old snapshot, once the horizon has moved; so are many
 * old deletions of groups that are not to be rewritten for them.
 *
 * When the table is quiet, and no snapshot is older than the last step, a last
 * round takes the last rows of the delta and has VACUUM free its pages.
 */
static void
run_rounds(Oid relid, MemoryContext mcxt)
{
	StCompactJob job = {.mcxt = AllocSetContextCreate(mcxt, "compaction job",
													  ALLOCSET_SMALL_SIZES)};
	MemoryContext vacuum_mcxt = AllocSetContextCreate(mcxt, "compaction's vacuum",
													  ALLOCSET_SMALL_SIZES);
	TimestampTz job_start = GetCurrentTimestamp();
	TimestampTz last_progress = job_start;
	TransactionId mark = ReadNextTransactionId();	/* after the last step */
	TransactionId job_horizon = InvalidTransactionId;
	TransactionId vacuum_horizon = InvalidTransactionId;
	long		idle_nap = MIN_IDLE_NAP_MS;
	bool		quiet = false;
	bool		tidied = false;

	for (;;)
	{
		bool		waits;

		begin_round(&job, relid, &job_start, &job_horizon);
		job.tidy = quiet && !tidied && settled(relid, mark);
		if (!run_steps(relid, &job))
			return;
		if (job.progress > 0)
			mark = ReadNextTransactionId();
		waits = ask(relid, st_compact_waits);
		if (((job.progress > 0 || job.tidy ||
			  (waits && horizon_moved(relid, &vacuum_horizon))) &&
			 ask(relid, st_compact_wastes)) ||
			ask(relid, st_compact_fold_due))
			vacuum_table(relid, vacuum_mcxt);
		if (ask(relid, st_toast_wastes))
			(void) run_turn(relid, &job, st_toast_pack, ShareUpdateExclusiveLock);
		tidied = job.progress == 0 && (tidied || job.tidy);
		quiet = job.progress == 0;
		if (job.progress > 0)
		{
			last_progress = GetCurrentTimestamp();
			idle_nap = MIN_IDLE_NAP_MS;
			continue;
		}
		if (TimestampDifferenceExceeds(last_progress, GetCurrentTimestamp(),
									   MAX_IDLE_MS) &&
			!may_stay(waits || !tidied, job.nskipped > 0, last_progress))
			return;
		nap(idle_nap);
		idle_nap = Min(idle_nap * 2, MAX_IDLE_NAP_MS);
	}
}

void
st_auto_compact_worker_main(Datum main_arg)
{
	Oid			relid = DatumGetObjectId(main_arg);
	Oid			database;
	MemoryContext mcxt;

	memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof(database));
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	if (!lock_as_worker(relid))
		return;

	mcxt = AllocSetContextCreate(TopMemoryContext, "compaction worker",
								 ALLOCSET_DEFAULT_SIZES);
	/* VACUUM's memory is a portal's, which a worker has none of. */
	PortalContext = AllocSetContextCreate(TopMemoryContext, "compaction portal",
										  ALLOCSET_DEFAULT_SIZES);
	pgstat_report_activity(STATE_RUNNING, MyBgworkerEntry->bgw_name);
	run_rounds(relid, mcxt);
}
