/*-------------------------------------------------------------------------
 *
 * st_progress.c
 *	  How far a long command of ours is, for the view progress.
 *
 * It is reported as the server's own commands do it, in the place that each
 * session has for that, under a command number that the server's views do not
 * know.  The server empties the place when a transaction or subtransaction is
 * aborted.  VACUUM, which some of our commands run, takes it, and leaves it
 * empty: so what was reported last is kept here, to be put back.
 *
 * A command ends, here as there, when what it began in is aborted; and when its
 * transaction ends, unless it is one that has transactions of its own.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "st_compat.h"
#include "st_progress.h"

/* A number that is none of the server's. */
#define PROGRESS_COMMAND_ST ((ProgressCommandType) 1005)

static const char *const command_names[] = {
	[ST_COMMAND_ADOPT] = "adopt",
	[ST_COMMAND_COMPACT] = "compact",
	[ST_COMMAND_DROP] = "drop",
	[ST_COMMAND_ESTIMATE] = "estimate",
	[ST_COMMAND_FINGERPRINT] = "fingerprint",
	[ST_COMMAND_MERGE] = "merge",
	[ST_COMMAND_RELEASE] = "release",
	[ST_COMMAND_VERIFY] = "verify"
};

static const char *const phase_names[] = {
	[ST_PHASE_LOOK] = "looking for work",
	[ST_PHASE_WAIT_LOCK] = "waiting for a lock",
	[ST_PHASE_WAIT_OTHERS] = "waiting for other transactions",
	[ST_PHASE_DELTA] = "moving rows of the delta",
	[ST_PHASE_GROUPS] = "rewriting row groups",
	[ST_PHASE_ROWS] = "moving rows",
	[ST_PHASE_FRONT] = "moving rows to the front",
	[ST_PHASE_EXPAND] = "moving rows to the delta",
	[ST_PHASE_VACUUM] = "vacuuming",
	[ST_PHASE_SWEEP] = "cleaning up",
	[ST_PHASE_READ_GROUPS] = "reading row groups",
	[ST_PHASE_READ_INDEXES] = "reading indexes",
	[ST_PHASE_SAMPLE] = "reading a sample",
	[ST_PHASE_ALTERNATIVES] = "trying alternatives",
	[ST_PHASE_FINGERPRINT] = "computing a fingerprint"
};

/* What was reported last, and of which table; InvalidOid: no command runs. */
static int64 reported[ST_PROGRESS_PARAMS];
static Oid	target = InvalidOid;

/* Nesting level of the transaction that the command began in. */
static int	level;

StaticAssertDecl(ST_PROGRESS_PARAMS <= PGSTAT_NUM_PROGRESS_PARAM,
				 "the server has no place for so many parameters");

static bool
has_place(void)
{
	return OidIsValid(target) && MyBEEntry != NULL &&
		MyBEEntry->st_progress_command == PROGRESS_COMMAND_ST &&
		MyBEEntry->st_progress_command_target == target;
}

static void
send_all(void)
{
	int			params[ST_PROGRESS_PARAMS];

	for (int i = 0; i < ST_PROGRESS_PARAMS; i++)
		params[i] = i;
	pgstat_progress_update_multi_param(ST_PROGRESS_PARAMS, params, reported);
}

/* Rows that the whole command has moved. */
static int64
rows_moved(const int64 *params)
{
	return params[ST_PROGRESS_DELTA_ROWS] + params[ST_PROGRESS_GROUP_ROWS] +
		params[ST_PROGRESS_TAKEN];
}

static void
end_command(void)
{
	if (has_place())
		pgstat_progress_end_command();
	target = InvalidOid;
}

static bool
has_own_transactions(StCommand command)
{
	return command == ST_COMMAND_COMPACT || command == ST_COMMAND_MERGE ||
		command == ST_COMMAND_RELEASE;
}

static void
progress_xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
			end_command();
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PREPARE:
			if (!has_own_transactions((StCommand) reported[ST_PROGRESS_COMMAND]))
				end_command();
			break;
		default:
			break;
	}
}

/* The server has emptied the place already. */
static void
progress_subxact_callback(SubXactEvent event, SubTransactionId mine,
						  SubTransactionId parent, void *arg)
{
	int			nesting = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB && nesting <= level)
		end_command();
	else if (event == SUBXACT_EVENT_ABORT_SUB)
		st_progress_resume();
	else if (event == SUBXACT_EVENT_COMMIT_SUB && nesting == level)
		level--;
}

static void
watch_transactions(void)
{
	static bool watched = false;

	if (watched)
		return;
	RegisterXactCallback(progress_xact_callback, NULL);
	RegisterSubXactCallback(progress_subxact_callback, NULL);
	watched = true;
}

void
st_progress_begin(StCommand command, Oid am, Oid relid)
{
	if (MyBEEntry == NULL || OidIsValid(target) || !OidIsValid(relid) ||
		MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
		return;
	watch_transactions();
	target = relid;
	level = GetCurrentTransactionNestLevel();
	memset(reported, 0, sizeof(reported));
	reported[ST_PROGRESS_COMMAND] = command;
	reported[ST_PROGRESS_AM] = am;
	reported[ST_PROGRESS_STARTED] = GetCurrentTimestamp();
	reported[ST_PROGRESS_PHASE] = ST_PHASE_LOOK;
	reported[ST_PROGRESS_PHASE_STARTED] = reported[ST_PROGRESS_STARTED];
	reported[ST_PROGRESS_ROWS_TOTAL] = reported[ST_PROGRESS_BYTES_TOTAL] = -1;
	if (IsParallelWorker() && MyProc->lockGroupLeader != NULL)
		reported[ST_PROGRESS_LEADER] = MyProc->lockGroupLeader->pid;
	pgstat_progress_start_command(PROGRESS_COMMAND_ST, relid);
	send_all();
}

bool
st_progress_phase(StPhase phase, int64 rows_total, int64 bytes_total)
{
	if (!has_place() || reported[ST_PROGRESS_PHASE] == phase)
		return false;
	reported[ST_PROGRESS_PHASE] = phase;
	reported[ST_PROGRESS_PHASE_STARTED] = GetCurrentTimestamp();
	/* a round begins, which counts anew */
	if (phase == ST_PHASE_LOOK)
		memset(reported, 0, ST_PROGRESS_COMPACT_PARAMS * sizeof(int64));
	reported[ST_PROGRESS_ROWS] = 0;
	reported[ST_PROGRESS_MOVED_BEFORE] = rows_moved(reported);
	reported[ST_PROGRESS_ROWS_TOTAL] = rows_total;
	reported[ST_PROGRESS_BYTES] = 0;
	reported[ST_PROGRESS_BYTES_TOTAL] = bytes_total;
	send_all();
	return true;
}

void
st_progress_set(StProgressParam param, int64 value)
{
	st_progress_set_many(1, (const int[]) {param}, &value);
}

void
st_progress_set_many(int n, const int *params, const int64 *values)
{
	if (!has_place())
		return;
	for (int i = 0; i < n; i++)
		reported[params[i]] = values[i];
	pgstat_progress_update_multi_param(n, params, values);
}

void
st_progress_resume(void)
{
	if (!OidIsValid(target) || MyBEEntry->st_progress_command != PROGRESS_COMMAND_INVALID)
		return;
	pgstat_progress_start_command(PROGRESS_COMMAND_ST, target);
	send_all();
}

void
st_progress_end(StCommand command)
{
	if (OidIsValid(target) && reported[ST_PROGRESS_COMMAND] == command)
		end_command();
}

/* ---- what is running ---- */

/* That of another process, if there is one that the user may see. */
static const PgBackendStatus *
running_command(int index)
{
	const PgBackendStatus *entry = st_backend_status(index);

	if (entry == NULL || entry->st_progress_command != PROGRESS_COMMAND_ST ||
		!(has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		  has_privs_of_role(GetUserId(), entry->st_userid)))
		return NULL;
	return entry;
}

/* Of a library that knows more of them, too. */
static const char *
name_of(const char *const *names, int n, int64 number)
{
	return number >= 0 && number < n ? names[number] : "unknown";
}

static int64
rows_of_phase(const int64 *params)
{
	return params[ST_PROGRESS_ROWS] + rows_moved(params) - params[ST_PROGRESS_MOVED_BEFORE];
}

void
st_progress_function(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			n = pgstat_fetch_stat_numbackends();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 1; i <= n; i++)
	{
		const PgBackendStatus *entry = running_command(i);
		const int64 *params;
		Datum		values[13] = {0};
		bool		nulls[13] = {0};

		if (entry == NULL)
			continue;
		params = entry->st_progress_param;
		values[0] = Int32GetDatum(entry->st_procpid);
		values[1] = Int32GetDatum((int32) params[ST_PROGRESS_LEADER]);
		nulls[1] = params[ST_PROGRESS_LEADER] == 0;
		values[2] = ObjectIdGetDatum(entry->st_databaseid);
		values[3] = ObjectIdGetDatum(entry->st_progress_command_target);
		values[4] = ObjectIdGetDatum((Oid) params[ST_PROGRESS_AM]);
		values[5] = CStringGetTextDatum(name_of(command_names, lengthof(command_names),
												params[ST_PROGRESS_COMMAND]));
		values[6] = CStringGetTextDatum(name_of(phase_names, lengthof(phase_names),
												params[ST_PROGRESS_PHASE]));
		values[7] = TimestampTzGetDatum(params[ST_PROGRESS_STARTED]);
		values[8] = TimestampTzGetDatum(params[ST_PROGRESS_PHASE_STARTED]);
		values[9] = Int64GetDatum(rows_of_phase(params));
		values[10] = Int64GetDatum(params[ST_PROGRESS_ROWS_TOTAL]);
		nulls[10] = params[ST_PROGRESS_ROWS_TOTAL] < 0;
		values[11] = Int64GetDatum(params[ST_PROGRESS_BYTES]);
		values[12] = Int64GetDatum(params[ST_PROGRESS_BYTES_TOTAL]);
		nulls[11] = nulls[12] = params[ST_PROGRESS_BYTES_TOTAL] < 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

void
st_progress_compactions(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			n = pgstat_fetch_stat_numbackends();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 1; i <= n; i++)
	{
		const PgBackendStatus *entry = running_command(i);
		Datum		values[3 + ST_PROGRESS_COMPACT_PARAMS];
		bool		nulls[3 + ST_PROGRESS_COMPACT_PARAMS] = {0};

		if (entry == NULL ||
			(entry->st_progress_param[ST_PROGRESS_COMMAND] != ST_COMMAND_COMPACT &&
			 entry->st_progress_param[ST_PROGRESS_COMMAND] != ST_COMMAND_MERGE))
			continue;
		values[0] = Int32GetDatum(entry->st_procpid);
		values[1] = ObjectIdGetDatum(entry->st_databaseid);
		values[2] = ObjectIdGetDatum(entry->st_progress_command_target);
		for (int p = 0; p < ST_PROGRESS_COMPACT_PARAMS; p++)
			values[3 + p] = Int64GetDatum(entry->st_progress_param[p]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}
