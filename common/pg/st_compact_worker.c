/*-------------------------------------------------------------------------
 *
 * st_compact_worker.c
 *	  Compaction by a background worker (option auto_compact).
 *
 * A dynamic worker for one table: started when autovacuum finds many rows in
 * the delta, or a session has committed many (st_delta_growth.c), gone when there is nothing to do any more.  It rests after each
 * step as long as that took, at most ten seconds, so that it takes half of
 * one processor.  It never waits for the table's lock, because somebody who
 * waits makes autovacuum give up: it comes again, for two minutes.
 *
 * An advisory lock of a kind that SQL cannot take keeps a second worker for
 * the same table away.
 *
 * The extension names its library and the function that calls
 * st_compact_worker_main(), and decides whether a table is to be compacted.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "st_compact.h"
#include "st_compat.h"
#include "st_store.h"

/* Fourth field of advisory lock tags: SQL uses 1 and 2. */
#define WORKER_LOCK_KIND	5005

#define MAX_NAP_MS			10000
#define BUSY_NAP_MS			1000
#define MAX_BUSY			120

/* Of the access method whose library this is; NULL before it says so. */
static const char *commit_library = NULL;
static const char *commit_function = NULL;
static StCompactAllowed commit_allowed = NULL;

static void
describe_worker(BackgroundWorker *worker, Relation rel, const char *library,
				const char *function)
{
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
			 "%s", function);
	snprintf(worker->bgw_type, sizeof(worker->bgw_type), "%s compaction",
			 library);
	snprintf(worker->bgw_name, sizeof(worker->bgw_name),
			 "%s compaction of relation %u", library, RelationGetRelid(rel));
}

bool
st_compact_worker_start(Relation rel, const char *library,
						const char *function)
{
	BackgroundWorker worker;

	describe_worker(&worker, rel, library, function);
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

void
st_compact_on_commit(const char *library, const char *function,
					 StCompactAllowed allowed)
{
	commit_library = library;
	commit_function = function;
	commit_allowed = allowed;
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

bool
st_compact_worker_wanted(Relation rel, StCompactWorker *w)
{
	if (commit_allowed == NULL || !commit_allowed(rel) ||
		worker_at_work(RelationGetRelid(rel)))
		return false;
	describe_worker(&w->worker, rel, commit_library, commit_function);
	return true;
}

void
st_compact_worker_register(StCompactWorker *w)
{
	(void) RegisterDynamicBackgroundWorker(&w->worker, NULL);
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

static void
nap(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

typedef enum StepResult
{
	STEP_DONE,					/* and there may be more */
	STEP_NOTHING,
	STEP_BUSY					/* somebody else has the table */
} StepResult;

static StepResult
run_step(Oid relid, StCompactJob *job, StCompactAllowed allowed)
{
	StepResult	result = STEP_NOTHING;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	XactIsoLevel = XACT_SERIALIZABLE;
	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		result = STEP_BUSY;
	else
	{
		Relation	rel = try_relation_open(relid, NoLock);

		if (rel != NULL)
		{
			if (st_relation_format(rel) != NULL && allowed(rel) &&
				st_compact_as_owner(rel, job, st_compact_step))
				result = STEP_DONE;
			relation_close(rel, NoLock);
		}
	}
	CommitTransactionCommand();
	return result;
}

void
st_compact_worker_main(Datum main_arg, StCompactAllowed allowed)
{
	Oid			relid = DatumGetObjectId(main_arg);
	StCompactJob job = {0};
	int			busy = 0;
	Oid			database;

	memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof(database));
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	if (!lock_as_worker(relid))
		return;

	job.mcxt = TopMemoryContext;
	pgstat_report_activity(STATE_RUNNING, MyBgworkerEntry->bgw_name);
	for (;;)
	{
		TimestampTz start = GetCurrentTimestamp();
		StepResult	result = run_step(relid, &job, allowed);
		long		ms = TimestampDifferenceMilliseconds(start,
														 GetCurrentTimestamp());

		if (result == STEP_NOTHING)
			return;
		if (result == STEP_BUSY && ++busy > MAX_BUSY)
			return;
		nap(result == STEP_BUSY ? BUSY_NAP_MS : Min(ms, MAX_NAP_MS));
	}
}
