/*-------------------------------------------------------------------------
 *
 * st_switch_lock.c
 *	  The lock of adopt() and release(), and of who drops a partition: exclusive,
 *	  for a moment, and without a jam behind it.
 *
 * Who waits for AccessExclusiveLock makes everybody wait who comes later, as
 * long as the longest transaction that has used the table.  So we wait for a
 * fraction of a second, let those go on who stand behind us, and try again.
 *
 * Each turn is a subtransaction with a lock_timeout of its own, and with a
 * deadlock_timeout below that: an autovacuum gives way when that has passed.  Rights, and
 * whether the table is fit at all, are checked before the first, so that nobody
 * disturbs a table in vain, and once more when it is locked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "st_compat.h"
#include "st_error.h"
#include "st_options.h"
#include "st_progress.h"
#include "st_switch.h"

/* How long a turn stands in line, and how long it lets others go on. */
#define TURN_MS		50
#define REST_MS		100

/* A turn is long enough to have the server cancel an autovacuum of the table. */
#define DEADLOCK_MS	"25"

/* What each turn does. */
typedef struct Turn
{
	StTryStep	step;
	void	   *arg;
} Turn;

static void
take_turn(void *arg)
{
	const Turn *turn = arg;
	int			nestlevel = NewGUCNestLevel();
	char		text[16];

	/* the user's own, if it is shorter */
	snprintf(text, sizeof(text), "%d",
			 LockTimeout > 0 ? Min(TURN_MS, LockTimeout) : TURN_MS);
	(void) set_config_option("lock_timeout", text, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("deadlock_timeout", DEADLOCK_MS, PGC_SUSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	turn->step(turn->arg);
	AtEOXact_GUC(true, nestlevel);
}

/* False if others have not let go of a table. */
static bool
try_turn(const Turn *turn)
{
	ErrorData  *error = st_try(take_turn, unconstify(Turn *, turn),
							   CurrentMemoryContext);

	if (error == NULL)
		return true;
	if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

static void
rest(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 REST_MS, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

void
st_switch_in_turns(StTryStep step, void *arg, Oid relid, const Interval *patience)
{
	Turn		turn = {.step = step, .arg = arg};
	TimestampTz until = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
																TimestampTzGetDatum(GetCurrentTimestamp()),
																IntervalPGetDatum(patience)));

	st_progress_phase(ST_PHASE_WAIT_LOCK, -1, -1);
	while (!try_turn(&turn))
	{
		if (GetCurrentTimestamp() >= until)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("could not obtain lock on relation \"%s\"",
							get_rel_name(relid)),
					 errdetail("Other transactions have used it all the time."),
					 errhint("Call it when they have ended, or with more patience.")));
		rest();
	}
}

static void
lock_table(void *arg)
{
	LockRelationOid(*(const Oid *) arg, AccessExclusiveLock);
}

Relation
st_switch_open(Oid relid, const Interval *patience, StSwitchCheck check,
			   const char *am_name)
{
	Relation	rel;

	st_check_owner(relid);
	rel = relation_open(relid, AccessShareLock);
	check(rel, am_name);
	relation_close(rel, AccessShareLock);
	st_switch_in_turns(lock_table, &relid, relid, patience);
	rel = relation_open(relid, NoLock);
	st_check_owner(relid);
	check(rel, am_name);
	CheckTableNotInUse(rel, "change the access method of");
	return rel;
}
