/*-------------------------------------------------------------------------
 *
 * st_compact_worker.c
 *	  Compaction by a background worker (option auto_compact).
 *
 * Who starts one, and how many there are: st_compact_start.c.  A worker does all
 * there is to do, in rounds: steps of compaction (st_compact.c) until there is none
 * worth taking, then VACUUM if the table has pages or dead entries that only
 * VACUUM can free, then a TOAST relation that is mostly free is packed
 * (st_toast_pack.c), then from the start.  So compaction and VACUUM never wait
 * for one another's lock.
 *
 * One worker serves a database, table by table.  It begins with the one that it
 * was started for.  After each round it looks for another table that has
 * something to do, and goes on there; the tables take turns.  It leaves when none
 * has had anything for some seconds, or when what is left has waited in vain for
 * ten minutes: an old snapshot keeps space from being free.
 *
 * It rests as long as it works (st_pace.c).  A round that changes nothing makes it
 * look less often.
 *
 * It never waits for a table's lock, because somebody who waits makes
 * autovacuum give up: it comes again, for two minutes.
 *
 * Temporary tables have no worker: only their own session can read them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "st_compact_int.h"
#include "st_compat.h"
#include "st_options.h"
#include "st_progress.h"

/*
 * How often a worker looks for other tables, how long one look may take, and how
 * long a table that it is done with is not looked at.
 */
#define LOOK_NAP_MS			5000
#define LOOK_MS				200
#define FORGET_MS			10000

#define MAX_NAP_MS			10000
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
 * A round is over after so long, so that VACUUM follows, and rests as long as it
 * took, but a moment at least: what comes meanwhile is taken together.
 */
#define ROUND_MS			5000
#define MIN_ROUND_NAP_MS	1000

/*
 * Of a table that is changed all the time the order is restored only now and
 * then: after so many times as long as that took.
 */
#define ORDER_REST			20
#define MIN_ORDER_REST_MS	60000

/*
 * VACUUM rests so many times as long as it took.  One that took less than the last
 * of these is short.
 */
#define VACUUM_REST			8
#define MAX_VACUUM_REST_MS	60000
#define SHORT_VACUUM_MS		500

/*
 * For how long a group that somebody held is left alone.  A step that wants it
 * again rewrites the groups that go with it, so this is not short.
 */
#define JOB_MS				15000

/* A table that the worker is at. */
typedef struct Served
{
	Oid			relid;
	StCompactJob job;			/* of the round, with what was found in vain */
	TimestampTz due;			/* of the next round */
	TimestampTz last_progress;
	TimestampTz job_start;		/* what was found in vain counts from then */
	TimestampTz next_vacuum;
	TimestampTz next_order;
	TransactionId mark;			/* after the last step */
	TransactionId job_horizon;
	TransactionId vacuum_horizon;
	bool		vacuum_due;
	long		vacuum_ms;		/* what the last one took of a processor */
	bool		quiet;			/* nothing was left to do but to tidy up */
	bool		goes_on;		/* the last round tidied up and was cut short */
	bool		tidied;
	bool		done;			/* until due it is not looked at */
	int			busy;			/* rounds in which somebody else had it */
	long		idle_nap;
} Served;


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
	st_step_begin();
	if (!ConditionalLockRelationOid(relid, lockmode))
		result = TURN_BUSY;
	else
	{
		Relation	rel = try_relation_open(relid, NoLock);

		if (rel != NULL)
		{
			if (st_relation_format(rel) != NULL && st_worker_may_serve(rel))
			{
				if (function == st_compact_step)
					st_progress_begin(ST_COMMAND_COMPACT, rel->rd_rel->relam, relid);
				if (st_compact_as_owner(rel, job, function))
					result = TURN_DONE;
			}
			relation_close(rel, NoLock);
		}
	}
	CommitTransactionCommand();
	pgstat_report_stat(false);
	return result;
}

/* Shows what the worker is at, and why it waits. */
static void
show(const char *what, Oid relid)
{
	char		text[NAMEDATALEN + 64];

	snprintf(text, sizeof(text), "%s compaction: %s relation %u",
			 st_options_set()->provider, what, relid);
	pgstat_report_activity(STATE_RUNNING, text);
}

/* Steps of a round, with rests. */
static TurnResult
run_steps(Oid relid, StCompactJob *job)
{
	TimestampTz begin = GetCurrentTimestamp();

	for (;;)
	{
		TimestampTz start = GetCurrentTimestamp();
		TurnResult	result = run_turn(relid, job, st_compact_step,
									  ShareUpdateExclusiveLock);

		if (result != TURN_DONE ||
			(job->progress > 0 && TimestampDifferenceExceeds(begin, start, ROUND_MS)))
		{
			st_progress_end(ST_COMMAND_COMPACT);
			return result;
		}
		st_pace_settle();
	}
}

/* Asks a question about the table; no for an answer if it is busy. */
static bool
ask(Oid relid, StCompactFunction question)
{
	StCompactJob job = {.mcxt = TopMemoryContext};

	return run_turn(relid, &job, question, AccessShareLock) == TURN_DONE;
}

/*
 * Beside writers VACUUM rests as autovacuum does, unless the last one was long: it
 * must not fall behind, and other tables wait.
 */
static void
set_vacuum_delay(const Served *t)
{
	const char *delay = GetConfigOption("autovacuum_vacuum_cost_delay", false, false);
	bool		rests = st_pace_beside_writers() && t->vacuum_ms < SHORT_VACUUM_MS &&
		delay[0] != '-';

	SetConfigOption("vacuum_cost_delay", rests ? delay : NULL, PGC_USERSET, PGC_S_SESSION);
}

/* VACUUM has transactions of its own; it frees what is behind the horizon. */
static void
vacuum_table(Served *t, bool quiet, MemoryContext mcxt)
{
	long		before = st_processor_ms();

	set_vacuum_delay(t);
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	st_compact_vacuum(t->relid, quiet ? ST_VACUUM_BESIDE : ST_VACUUM_BESIDE_SHORT, mcxt);
	CommitTransactionCommand();
	MemoryContextReset(mcxt);
	pgstat_report_stat(false);
	t->vacuum_ms = st_processor_ms() - before;
	st_pace_settle();
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
 * until the horizon has moved, as it does once a holder has ended.  Steps of a round
 * that goes on count for it, so that it ends whatever the order is.
 */
static void
begin_round(Served *t)
{
	StCompactJob *job = &t->job;
	StCompactJob next = {.mcxt = job->mcxt};

	if ((job->nskipped > 0 || job->order_steps > 0) &&
		(!TimestampDifferenceExceeds(t->job_start, GetCurrentTimestamp(), JOB_MS) ||
		 !horizon_moved(t->relid, &t->job_horizon)))
	{
		next.skipped = job->skipped;
		next.nskipped = job->nskipped;
		next.maxskipped = job->maxskipped;
		next.order_steps = job->order_steps;
	}
	else
	{
		MemoryContextReset(job->mcxt);
		t->job_start = GetCurrentTimestamp();
	}
	if (t->goes_on)
	{
		next.order_steps = job->order_steps;
		next.order_groups = job->order_groups;
		next.small_steps = job->small_steps;
	}
	*job = next;
	/* Does nobody see any more what stood where before the last step? */
	job->tidy = t->quiet && !t->tidied && ask(t->relid, look_at_horizon) &&
		TransactionIdFollowsOrEquals(horizon, t->mark);
	job->any_order = !t->quiet && GetCurrentTimestamp() < t->next_order;
}

/* Is there something that cannot be done yet, and time to wait for it? */
static bool
may_stay(const Served *t, bool waits)
{
	long		ms = waits ? MAX_VAIN_MS : t->job.nskipped > 0 ? MAX_HELD_MS : MAX_IDLE_MS;

	return !TimestampDifferenceExceeds(t->last_progress, GetCurrentTimestamp(), ms);
}

/*
 * Is there something for VACUUM: what steps have left, what has waited for an
 * old snapshot, or many old deletions of groups that are not to be rewritten for
 * them?  The latter two are asked for only once the horizon has moved.
 */
static bool
vacuum_is_due(Served *t, bool waits)
{
	bool		moved = horizon_moved(t->relid, &t->vacuum_horizon);

	return ((t->job.progress > 0 || t->job.tidy || (waits && moved)) &&
			ask(t->relid, st_compact_wastes)) ||
		(moved && ask(t->relid, st_compact_fold_due));
}

/*
 * VACUUM does not follow each round of a table with large indexes, which it reads
 * from end to end.
 */
static void
vacuum_if_due(Served *t, bool waits, MemoryContext mcxt)
{
	if (!t->vacuum_due)
		t->vacuum_due = vacuum_is_due(t, waits);
	if (!t->vacuum_due ||
		(t->job.progress > 0 && GetCurrentTimestamp() < t->next_vacuum))
		return;
	show("vacuums", t->relid);
	vacuum_table(t, t->job.progress == 0, mcxt);
	t->next_vacuum = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
												 Min(t->vacuum_ms * VACUUM_REST, MAX_VACUUM_REST_MS));
	t->vacuum_due = false;
}

/* When the table is due again; done: it need not be served until then. */
static void
set_due(Served *t, bool done, long ms, const char *what)
{
	t->done = done;
	t->due = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms);
	show(what, t->relid);
}

/*
 * One round.  When the table is quiet, and no snapshot is older than the last
 * step, a last round takes the last rows of the delta, rewrites groups of a table
 * that is not large for a few deleted rows, and has VACUUM free the pages of the
 * delta.  If it is cut short, the next one goes on, unless somebody writes.
 */
static void
take_round(Served *t, MemoryContext mcxt)
{
	long		start = st_processor_ms();
	TurnResult	result;
	bool		waits;

	show("compacts", t->relid);
	begin_round(t);
	result = run_steps(t->relid, &t->job);
	if (result == TURN_BUSY)
	{
		t->busy++;
		set_due(t, t->busy > MAX_BUSY, t->busy > MAX_BUSY ? FORGET_MS : BUSY_NAP_MS,
				"waits for others' lock of");
		return;
	}
	t->busy = 0;
	if (t->job.progress > 0)
		t->mark = ReadNextTransactionId();
	if (t->job.order_steps > 0)
		t->next_order = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													ORDER_REST * (st_processor_ms() - start));
	/* what waits is for VACUUM, which does not come for a few pages */
	waits = ask(t->relid, st_compact_waits) && ask(t->relid, st_compact_wastes);
	vacuum_if_due(t, waits, mcxt);
	if (ask(t->relid, st_toast_wastes))
		(void) run_turn(t->relid, &t->job, st_toast_pack, ShareUpdateExclusiveLock);
	t->tidied = t->job.progress == 0 && (t->tidied || t->job.tidy);
	t->goes_on = result == TURN_DONE && t->job.tidy && !st_pace_beside_writers();
	t->quiet = t->job.progress == 0 || t->goes_on;
	if (t->job.progress > 0)
	{
		t->last_progress = GetCurrentTimestamp();
		t->idle_nap = MIN_IDLE_NAP_MS;
		set_due(t, false, !st_pace_beside_writers() ? MIN_ROUND_NAP_MS :
				Min(Max(st_processor_ms() - start, MIN_ROUND_NAP_MS), MAX_NAP_MS),
				"rests after a round of");
	}
	else if (may_stay(t, waits || !t->tidied))
	{
		set_due(t, false, t->idle_nap, waits ? "waits for old snapshots of" :
				t->job.nskipped > 0 ? "waits for locks in" : "finds nothing to do in");
		t->idle_nap = Min(t->idle_nap * 2, MAX_IDLE_NAP_MS);
	}
	else
		set_due(t, true, FORGET_MS, "is done with");
}

/* ---- tables ---- */

static List *served = NIL;		/* of Served, in mcxt of the worker */

static Served *
find_served(Oid relid)
{
	ListCell   *lc;

	foreach(lc, served)
	{
		if (((Served *) lfirst(lc))->relid == relid)
			return lfirst(lc);
	}
	return NULL;
}

/* Begins to serve a table, or does so again. */
static void
serve(Oid relid, MemoryContext mcxt)
{
	Served	   *t = find_served(relid);
	MemoryContext job_mcxt;

	if (t == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);

		t = palloc0(sizeof(Served));
		t->job.mcxt = AllocSetContextCreate(mcxt, "compaction job",
											ALLOCSET_SMALL_SIZES);
		served = lappend(served, t);
		MemoryContextSwitchTo(oldcxt);
	}
	job_mcxt = t->job.mcxt;
	MemoryContextReset(job_mcxt);
	memset(t, 0, sizeof(*t));
	t->relid = relid;
	t->job.mcxt = job_mcxt;
	t->due = t->job_start = t->last_progress = t->next_vacuum = GetCurrentTimestamp();
	t->next_order = TimestampTzPlusMilliseconds(t->due, MIN_ORDER_REST_MS);
	t->mark = ReadNextTransactionId();
	t->idle_nap = MIN_IDLE_NAP_MS;
	t->vacuum_ms = LONG_MAX;
}

/* The table that has been due for longest; else *due is when one will be, or 0. */
static Served *
next_served(TimestampTz *due)
{
	Served	   *next = NULL;
	ListCell   *lc;

	foreach(lc, served)
	{
		Served	   *t = lfirst(lc);

		if (!t->done && (next == NULL || t->due < next->due))
			next = t;
	}
	*due = next == NULL ? 0 : next->due;
	return next != NULL && next->due <= GetCurrentTimestamp() ? next : NULL;
}

/* Tables of the access method, in the order of their OIDs, in mcxt. */
static List *
all_tables(MemoryContext mcxt)
{
	ScanKeyData key;
	List	   *result = NIL;
	Relation	pg_class;
	SysScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	ScanKeyInit(&key, Anum_pg_class_relam, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(get_am_oid(st_options_set()->provider, true)));
	pg_class = table_open(RelationRelationId, AccessShareLock);
	scan = systable_beginscan(pg_class, InvalidOid, false, NULL, 1, &key);
	while ((tuple = systable_getnext(scan)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		MemoryContext oldcxt = MemoryContextSwitchTo(mcxt);

		if (RELKIND_HAS_STORAGE(form->relkind) &&
			form->relpersistence != RELPERSISTENCE_TEMP)
			result = lappend_oid(result, form->oid);
		MemoryContextSwitchTo(oldcxt);
	}
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	CommitTransactionCommand();
	list_sort(result, list_oid_cmp);
	return result;
}

static bool
has_work(Relation rel, StCompactJob *job)
{
	return st_compact_needed(rel, job) || st_compact_fold_due(rel, job);
}

/*
 * Looks at tables that are not served, from where it has stopped the last time.
 * True: one has something to do, or not all were looked at.
 */
static bool
look_for_others(MemoryContext mcxt)
{
	static Oid	last = InvalidOid;
	TimestampTz start = GetCurrentTimestamp();
	MemoryContext list_mcxt = AllocSetContextCreate(mcxt, "compacted tables",
													ALLOCSET_SMALL_SIZES);
	bool		found = false;
	ListCell   *lc;
	List	   *tables = all_tables(list_mcxt);

	foreach(lc, tables)
	{
		Oid			relid = lfirst_oid(lc);
		Served	   *t = find_served(relid);

		CHECK_FOR_INTERRUPTS();
		if (relid <= last ||
			(t != NULL && (!t->done || t->due > GetCurrentTimestamp())))
			continue;
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(), LOOK_MS))
			break;
		last = relid;
		if (ask(relid, has_work))
		{
			serve(relid, mcxt);
			found = true;
		}
	}
	if (lc == NULL)
		last = InvalidOid;
	MemoryContextDelete(list_mcxt);
	return found || lc != NULL;
}

/* Until there is nothing to do, or another worker wants the place. */
static void
serve_tables(MemoryContext mcxt)
{
	MemoryContext vacuum_mcxt = AllocSetContextCreate(mcxt, "compaction's vacuum",
													  ALLOCSET_SMALL_SIZES);
	TimestampTz looked = GetCurrentTimestamp();

	for (;;)
	{
		TimestampTz due;
		Served	   *t = next_served(&due);
		TimestampTz now = GetCurrentTimestamp();

		CHECK_FOR_INTERRUPTS();
		if (t != NULL)
			take_round(t, vacuum_mcxt);
		else if (due != 0)
			st_worker_nap(Min(TimestampDifferenceMilliseconds(now, due) + 1, MAX_IDLE_NAP_MS));
		if (due == 0 || TimestampDifferenceExceeds(looked, now, LOOK_NAP_MS))
		{
			bool		found = look_for_others(mcxt);

			looked = GetCurrentTimestamp();
			if (due == 0 && !found)
				return;
		}
		if (st_worker_should_leave())
		{
			t = next_served(&due);
			st_worker_make_way(t == NULL ? InvalidOid : t->relid);
			return;
		}
	}
}

void
st_worker_serve(Oid relid)
{
	MemoryContext mcxt = AllocSetContextCreate(TopMemoryContext, "compaction worker",
											   ALLOCSET_DEFAULT_SIZES);

	/* VACUUM's memory is a portal's, which a worker has none of. */
	PortalContext = AllocSetContextCreate(TopMemoryContext, "compaction portal",
										  ALLOCSET_DEFAULT_SIZES);
	st_pace_by_processor(st_worker_nap);
	serve(relid, mcxt);
	serve_tables(mcxt);
}
