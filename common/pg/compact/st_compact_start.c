/*-------------------------------------------------------------------------
 *
 * st_compact_start.c
 *	  Workers of auto_compact: who starts one, and how many there are.
 *
 * A commit starts a worker when its session has left much to do in a table
 * (st_delta_growth.c), and autovacuum when it finds as much.  There is one for
 * each database, which serves all tables (st_compact_worker.c): where one is at
 * work none is started.
 *
 * A server has max_workers of them at most, none of which takes one of the last
 * two places for background workers.  Two more wait for a place, for up to a
 * minute; for their sake another one leaves after a while, and if that has not
 * finished it has a successor started, which waits in its turn.
 *
 * A worker leaves within about a second when somebody wants to drop or to copy
 * the database.
 *
 * Advisory locks of kinds that SQL cannot take stand for what there is one of:
 * the worker of a database, a place among the server's workers, a place among
 * those that wait.  Each access method has its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_database.h"
#include "common/hashfn.h"
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
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "st_compact_int.h"
#include "st_compat.h"
#include "st_options.h"
#include "st_write.h"

/* Fourth field of advisory lock tags: SQL uses 1 and 2. */
#define WORKER_LOCK_KIND	5005
#define WAITER_LOCK_KIND	5006
#define PLACE_LOCK_KIND		5007

/* Places for background workers that are left to others. */
#define OTHERS_PLACES		2

/* How many workers wait for a place, how long, and how often they look. */
#define MAX_WAITERS			2
#define MAX_PLACE_WAIT_MS	60000
#define PLACE_NAP_MS		250

/* How long one may keep its place although another waits for it. */
#define PLACE_MS			10000

#define MAX_DEAF_MS			1000	/* between looks at who wants the database */

bool		st_auto_compact_enabled = true;
int			st_max_workers = 1;

/* Function of the library that has the access method's name. */
static const char *worker_function = NULL;

bool
st_worker_may_serve(Relation rel)
{
	return st_auto_compact_enabled && st_options_get(rel)->auto_compact &&
		rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
}

static void
describe_worker(BackgroundWorker *worker, Oid relid)
{
	const char *library = st_options_set()->provider;

	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	worker->bgw_main_arg = ObjectIdGetDatum(relid);
	memcpy(worker->bgw_extra, &MyDatabaseId, sizeof(MyDatabaseId));
	snprintf(worker->bgw_library_name, sizeof(worker->bgw_library_name), "%s",
			 library);
	snprintf(worker->bgw_function_name, sizeof(worker->bgw_function_name),
			 "%s", worker_function);
	snprintf(worker->bgw_type, sizeof(worker->bgw_type), "%s compaction",
			 library);
	snprintf(worker->bgw_name, sizeof(worker->bgw_name),
			 "%s compaction of relation %u", library, relid);
}

/* ---- locks ---- */

/* Of a database, or of the whole server; number: 0, or that of the place. */
static void
set_tag(LOCKTAG *tag, Oid database, uint32 number, uint16 kind)
{
	const char *library = st_options_set()->provider;

	SET_LOCKTAG_ADVISORY(*tag, database,
						 hash_bytes((const unsigned char *) library, strlen(library)),
						 number, kind);
}

/* For this session. */
static bool
try_lock(Oid database, uint32 number, uint16 kind)
{
	LOCKTAG		tag;

	set_tag(&tag, database, number, kind);
	return LockAcquire(&tag, ExclusiveLock, true, true) != LOCKACQUIRE_NOT_AVAIL;
}

static void
unlock(Oid database, uint32 number, uint16 kind)
{
	LOCKTAG		tag;

	set_tag(&tag, database, number, kind);
	(void) LockRelease(&tag, ExclusiveLock, true);
}

/* Has another session this lock?  A look only: two may find that none has. */
static bool
is_locked(Oid database, uint32 number, uint16 kind, bool session)
{
	LOCKTAG		tag;

	set_tag(&tag, database, number, kind);
	if (LockAcquire(&tag, ShareLock, session, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, ShareLock, session);
	return false;
}

/* ---- starting one ---- */

static bool
may_have_one(Relation rel)
{
	return st_worker_may_serve(rel) && st_max_workers > 0;
}

/* Is one at work in this database?  It will find every table there. */
static bool
is_at_work(void)
{
	return is_locked(MyDatabaseId, 0, WORKER_LOCK_KIND, false);
}

bool
st_auto_compact_start(Relation rel)
{
	BackgroundWorker worker;

	if (!may_have_one(rel))
		return false;
	if (is_at_work())
		return true;
	describe_worker(&worker, RelationGetRelid(rel));
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
		return true;
	ereport(DEBUG1,
			(errmsg_internal("no background worker is left to compact \"%s\"",
							 RelationGetRelationName(rel))));
	return false;
}

/* StCompactionWanted */
static bool
worker_wanted(Relation rel, BackgroundWorker *worker)
{
	if (!may_have_one(rel) || is_at_work())
		return false;
	describe_worker(worker, RelationGetRelid(rel));
	return true;
}

void
st_auto_compact_init(const char *worker)
{
	worker_function = worker;
	st_on_delta_growth(worker_wanted);
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

void
st_worker_nap(long ms)
{
	do
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(ms, MAX_DEAF_MS), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending && !IsTransactionState())
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		if (database_is_wanted())
			proc_exit(0);
		ms -= MAX_DEAF_MS;
	} while (ms > 0);
}

/* ---- a place among the server's workers ---- */

static int	my_place = -1;
static TimestampTz place_since;

static bool
take_place(void)
{
	for (int i = 0; i < st_max_workers && my_place < 0; i++)
	{
		if (try_lock(InvalidOid, i, PLACE_LOCK_KIND))
			my_place = i;
	}
	place_since = GetCurrentTimestamp();
	return my_place >= 0;
}

/*
 * Waits for one; false if that is in vain, or if enough others wait.  Those who
 * wait stand in a line, and the first of them takes the place: one who has made
 * way and comes again at once must not be quicker.
 */
static bool
get_place(void)
{
	bool		taken = false;
	int			number = MAX_WAITERS - 1;

	while (!try_lock(InvalidOid, number, WAITER_LOCK_KIND))
	{
		if (number-- == 0)
			return false;
	}
	for (int ms = 0; ms < MAX_PLACE_WAIT_MS && !taken; ms += PLACE_NAP_MS)
	{
		while (number > 0 && try_lock(InvalidOid, number - 1, WAITER_LOCK_KIND))
			unlock(InvalidOid, number--, WAITER_LOCK_KIND);
		taken = number == 0 && take_place();
		if (!taken)
			st_worker_nap(PLACE_NAP_MS);
	}
	unlock(InvalidOid, number, WAITER_LOCK_KIND);
	return taken;
}

/* Would this worker take one of the places that are left to others? */
static bool
server_is_full(void)
{
	int			n = pgstat_fetch_stat_numbackends();
	int			workers = 0;

	for (int i = 1; i <= n; i++)
	{
		PgBackendStatus *entry = st_backend_status(i);

		workers += entry != NULL && entry->st_backendType == B_BG_WORKER;
	}
	pgstat_clear_backend_activity_snapshot();
	return workers > max_worker_processes - OTHERS_PLACES;
}

/* Leaves to another one; relid: what is to be gone on with later, if any. */
void
st_worker_make_way(Oid relid)
{
	BackgroundWorker worker;

	unlock(MyDatabaseId, 0, WORKER_LOCK_KIND);
	unlock(InvalidOid, my_place, PLACE_LOCK_KIND);
	if (!OidIsValid(relid))
		return;
	describe_worker(&worker, relid);
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

bool
st_worker_should_leave(void)
{
	bool		waiting = false;

	if (!TimestampDifferenceExceeds(place_since, GetCurrentTimestamp(), PLACE_MS))
		return false;
	for (int i = 0; i < MAX_WAITERS && !waiting; i++)
		waiting = is_locked(InvalidOid, i, WAITER_LOCK_KIND, true);
	return waiting;
}

void
st_auto_compact_worker_main(Datum main_arg)
{
	Oid			database;

	memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof(database));
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	if (!try_lock(MyDatabaseId, 0, WORKER_LOCK_KIND) || server_is_full() || !get_place())
		return;

	st_worker_serve(DatumGetObjectId(main_arg));
}
