/*-------------------------------------------------------------------------
 *
 * st_policy_run.c
 *	  run_policies(): partitions that have come of age are adopted, merged,
 *	  dropped.
 *
 * The access method's function policy_due() says what is due.  Each action has
 * transactions of its own, and its outcome is recorded in one more, before and
 * after (policy_record()): whatever ends a run, the next one goes on.  An error
 * of one action ends that alone.
 *
 * Rights: a caller runs policies of tables that he has the owner's rights on.
 * Adopting and dropping are done as the owner of the partitioned table, in a
 * security-restricted operation; merge() runs functions of indexes as the owner
 * of the partition.  What policies say is in labels that only owners can set.
 * So a superuser who runs them runs nobody's code, and does nothing that the
 * owner could not.
 *
 * A session's advisory lock, of a kind that SQL cannot take, keeps a policy from
 * being run twice at a time; who comes second leaves it out.
 *
 * merge() runs VACUUM, which no procedure or function can.  So this is for calls
 * at top level only, and an error can be cleaned up after by ending the whole
 * transaction, as SPI_rollback() does; it would stop at our connection, but not
 * at those of others above it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "st_compact.h"
#include "st_compat.h"
#include "st_error.h"
#include "st_options.h"
#include "st_policy.h"
#include "st_progress.h"
#include "st_store.h"
#include "st_switch.h"

/* Fourth field of advisory lock tags; others: st_compact_start.c. */
#define POLICY_LOCK_KIND	5008

/* How long an action waits for its locks. */
static const Interval patience = {.time = 10 * USECS_PER_SEC};

typedef struct Run
{
	const char *am_name;
	const char *schema;			/* am_name, quoted */
	Oid			recorder;		/* owner of the table of outcomes */
	MemoryContext mcxt;			/* of the call */
} Run;

typedef struct Action
{
	const Run  *run;
	Oid			parent;
	Oid			partition;
	const char *verb;			/* adopt, merge, drop */
	char	   *name;			/* of the partition */
	bool		undone;			/* there was nothing to do any more */
} Action;

/* What one policy has to do. */
typedef struct WhatIsDue
{
	const Run  *run;
	Oid			parent;
	bool		at_once;
	List	   *actions;
} WhatIsDue;

/* ---- questions in SQL ---- */

/* Runs a query with such arguments, '\0' for those that are not null. */
static void
query(const char *sql, int nargs, Oid *types, Datum *values, const char *nulls)
{
	MemoryContext old = CurrentMemoryContext;

	PushActiveSnapshot(GetTransactionSnapshot());
	if (SPI_execute_with_args(sql, nargs, types, values, nulls, false, 0) < 0)
		elog(ERROR, "query failed: %s", sql);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old); /* SPI's own is gone before our call ends */
}

static Oid
result_oid(int row, int column)
{
	bool		isnull;

	return DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
										  column, &isnull));
}

/* Partitioned tables whose policies the caller may run, in mcxt. */
static List *
policies_of_caller(const Run *run)
{
	List	   *result = NIL;

	query(psprintf("SELECT parent FROM %s.policy_parents() AS parent", run->schema),
		  0, NULL, NULL, NULL);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(run->mcxt);

		result = lappend_oid(result, result_oid(i, 1));
		MemoryContextSwitchTo(old);
	}
	return result;
}

/* What is due (Action), in mcxt; at_once: although it has failed before. */
static List *
due_actions(const Run *run, Oid parent, bool at_once)
{
	Oid			types[] = {REGCLASSOID, BOOLOID};
	Datum		values[] = {ObjectIdGetDatum(parent), BoolGetDatum(at_once)};
	List	   *result = NIL;

	query(psprintf("SELECT partition, action FROM %s.policy_due($1, $2)", run->schema),
		  2, types, values, NULL);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		char	   *verb = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2);
		MemoryContext old = MemoryContextSwitchTo(run->mcxt);
		Action	   *action = palloc0(sizeof(Action));

		action->run = run;
		action->parent = parent;
		action->partition = result_oid(i, 1);
		action->verb = pstrdup(verb);
		result = lappend(result, action);
		MemoryContextSwitchTo(old);
	}
	return result;
}

/* Is it still? */
static bool
is_due(const Action *action)
{
	Oid			types[] = {REGCLASSOID, REGCLASSOID, TEXTOID};
	Datum		values[] = {
		ObjectIdGetDatum(action->parent), ObjectIdGetDatum(action->partition),
		CStringGetTextDatum(action->verb)
	};

	query(psprintf("SELECT FROM %s.policy_due($1, true) d"
				   " WHERE d.partition OPERATOR(pg_catalog.=) $2"
				   " AND d.action OPERATOR(pg_catalog.=) $3", action->run->schema),
		  3, types, values, NULL);
	return SPI_processed > 0;
}

/* ---- the record ---- */

/* Runs a query as the one who owns the table of outcomes. */
static void
query_as_recorder(const Run *run, const char *sql, int nargs, Oid *types,
				  Datum *values, const char *nulls)
{
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;

	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	XactIsoLevel = XACT_READ_COMMITTED; /* others record, too */
	SetUserIdAndSecContext(run->recorder,
						   save_sec_context | SECURITY_RESTRICTED_OPERATION);
	save_nestlevel = NewGUCNestLevel();
	st_restrict_search_path();
	query(sql, nargs, types, values, nulls);
	AtEOXact_GUC(false, save_nestlevel);
	SetUserIdAndSecContext(save_userid, save_sec_context);
}

/*
 * In a transaction of its own, which is ended.  outcome NULL: forgets that the
 * action was to run.
 */
static void
record(const Action *action, const char *outcome, const char *message)
{
	Oid			types[] = {OIDOID, OIDOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID};
	Datum		values[] = {
		ObjectIdGetDatum(action->parent), ObjectIdGetDatum(action->partition),
		CStringGetTextDatum(action->name), CStringGetTextDatum(action->verb),
		outcome == NULL ? (Datum) 0 : CStringGetTextDatum(outcome), (Datum) 0
	};
	char		nulls[] = "     n";

	if (outcome == NULL)
		nulls[4] = 'n';
	if (message != NULL)
	{
		values[5] = CStringGetTextDatum(message);
		nulls[5] = ' ';
	}
	query_as_recorder(action->run,
					  psprintf("SELECT %s.policy_record($1, $2, $3, $4, $5, $6)",
							   action->run->schema),
					  6, types, values, nulls);
	SPI_commit();
}

/*
 * Before a policy is run: what is said to be running is not, for we have the
 * lock.  And old outcomes go.
 */
static void
tidy_record(const Run *run, Oid parent)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(parent)};

	query_as_recorder(run, psprintf("SELECT %s.policy_tidy($1)", run->schema),
					  1, types, values, NULL);
	SPI_commit();
}

/* ---- actions ---- */

static void
drop_partition(void *arg)
{
	Action	   *action = arg;
	const char *kind;

	/* in the server's order */
	LockRelationOid(action->parent, AccessExclusiveLock);
	LockRelationOid(action->partition, AccessExclusiveLock);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	action->undone = !is_due(action);
	if (!action->undone)
	{
		kind = get_rel_relkind(action->partition) == RELKIND_FOREIGN_TABLE ?
			"FOREIGN TABLE" : "TABLE";
		query(psprintf("DROP %s %s", kind, st_qualified_name(action->partition)),
			  0, NULL, NULL, NULL);
	}
	SPI_finish();
}

/* As the owner of the parent, in the running transaction. */
static void
act(Action *action)
{
	if (strcmp(action->verb, "adopt") == 0)
		st_adopt(action->partition, false, &patience, action->run->am_name);
	else
	{
		st_progress_begin(ST_COMMAND_DROP, get_table_am_oid(action->run->am_name, false),
						  action->partition);
		st_switch_in_turns(drop_partition, action, action->partition, &patience);
		st_progress_end(ST_COMMAND_DROP);
	}
}

static void
act_as(Oid owner, Action *action)
{
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;

	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(owner, save_sec_context | SECURITY_RESTRICTED_OPERATION);
	save_nestlevel = NewGUCNestLevel();
	st_restrict_search_path();
	PushActiveSnapshot(GetTransactionSnapshot());
	act(action);
	PopActiveSnapshot();
	AtEOXact_GUC(false, save_nestlevel);
	SetUserIdAndSecContext(save_userid, save_sec_context);
}

/* InvalidOid if the table is gone. */
static Oid
owner_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

static void
perform(void *arg)
{
	Action	   *action = arg;
	Oid			owner = owner_of(action->parent);

	action->undone = !OidIsValid(owner) || get_rel_name(action->partition) == NULL;
	if (action->undone)
		return;
	/* It may have changed hands since the run began. */
	if (!has_privs_of_role(GetUserId(), owner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(action->parent));
	if (strcmp(action->verb, "merge") != 0)
		act_as(owner, action);
	else if (object_ownercheck(RelationRelationId, action->partition, owner))
		st_merge_table(action->partition, action->run->am_name, action->run->mcxt);
	else
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(action->partition));
	SPI_commit();
}

/*
 * Runs a step, which begins and ends a transaction; returns the error that it
 * ended with, if any, all of it undone.
 */
static ErrorData *
attempt(const Run *run, void (*step) (void *), void *arg)
{
	ErrorData  *volatile error = NULL;

	PG_TRY();
	{
		XactIsoLevel = XACT_READ_COMMITTED; /* what a lock was awaited for is seen */
		step(arg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(run->mcxt);
		error = CopyErrorData();
		FlushErrorState();
		/* ends our connection to SPI, and any that the action has left */
		AbortCurrentTransaction();
		ActivePortal->portalSnapshot = NULL;
		StartTransactionCommand();
		MemoryContextSwitchTo(PortalContext);
		if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect failed");
	}
	PG_END_TRY();
	return error;
}

/* Would it be refused again, whenever it is tried? */
static bool
is_refusal(const Action *action, const ErrorData *error)
{
	return strcmp(action->verb, "adopt") == 0 &&
		(error->sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED ||
		 error->sqlerrcode == ERRCODE_WRONG_OBJECT_TYPE ||
		 error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
}

/* A cancel ends the run, but not one that the owner's functions have raised. */
static void
rethrow_cancel(ErrorData *error)
{
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED && error->funcname != NULL &&
		strcmp(error->funcname, "ProcessInterrupts") == 0)
		ReThrowError(error);
}

static void
record_error(const Action *action, ErrorData *error)
{
	bool		refused = is_refusal(action, error);
	const char *message = error->hint == NULL ? error->message :
		psprintf("%s (%s)", error->message, error->hint);

	record(action, refused ? "refused" : "failed", message);
	rethrow_cancel(error);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("%s of partition %s %s: %s", action->verb, action->name,
					refused ? "is refused" : "has failed", error->message),
			 error->hint == NULL ? 0 : errhint("%s", error->hint)));
}

static void
warn_of_policy(Oid parent, ErrorData *error)
{
	const char *name = get_rel_name(parent);

	rethrow_cancel(error);
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("policy of \"%s\" cannot be run: %s", name ? name : "?",
					error->message),
			 error->hint == NULL ? 0 : errhint("%s", error->hint)));
}

/* The action's name, if it is still due, or NULL. */
static void
ask(void *arg)
{
	Action	   *action = arg;
	MemoryContext old;

	action->name = NULL;
	if (is_due(action) && get_rel_name(action->partition) != NULL)
	{
		old = MemoryContextSwitchTo(action->run->mcxt);
		action->name = st_qualified_name(action->partition);
		MemoryContextSwitchTo(old);
	}
	SPI_commit();
}

/*
 * perform(), which waits for no lock longer than for ten seconds, unless the
 * caller wants that.  Its transactions are many, and no setting would last from
 * one to the next and end with the last one.
 */
static ErrorData *
attempt_within_limit(Action *action)
{
	const int	limit = patience.time / 1000;
	const bool	limited = LockTimeout == 0;
	ErrorData  *error;

	if (limited)
		LockTimeout = limit;
	PG_TRY();
	{
		error = attempt(action->run, perform, action);
	}
	PG_FINALLY();
	{
		/* unless somebody has set another one meanwhile */
		if (limited && LockTimeout == limit)
			LockTimeout = 0;
	}
	PG_END_TRY();
	return error;
}

/*
 * Begins and ends in a transaction that has done nothing.  Actions before may have
 * taken hours, so it is asked once more whether this one is due.
 */
static bool
run_action(Action *action)
{
	MemoryContext mcxt = action->run->mcxt;
	ErrorData  *error;

	CHECK_FOR_INTERRUPTS();
	MemoryContextSwitchTo(mcxt);
	error = attempt(action->run, ask, action);
	MemoryContextSwitchTo(mcxt);
	if (error != NULL)
		warn_of_policy(action->parent, error);
	if (action->name == NULL)
		return false;
	record(action, "running", NULL);
	error = attempt_within_limit(action);
	MemoryContextSwitchTo(mcxt);
	if (error != NULL)
		record_error(action, error);
	else
		record(action, action->undone ? NULL : "done", NULL);
	return error == NULL && !action->undone;
}

/* ---- policies ---- */

static void
set_tag(LOCKTAG *tag, const Run *run, Oid parent)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId,
						 hash_bytes((const unsigned char *) run->am_name,
									strlen(run->am_name)),
						 parent, POLICY_LOCK_KIND);
}

static void
find_due(void *arg)
{
	WhatIsDue  *due = arg;

	due->actions = due_actions(due->run, due->parent, due->at_once);
	SPI_commit();
}

static void
run_actions(const Run *run, Oid parent, bool at_once)
{
	WhatIsDue	due = {run, parent, at_once, NIL};
	ErrorData  *error;
	ListCell   *lc;

	tidy_record(run, parent);
	error = attempt(run, find_due, &due);
	if (error != NULL)
		warn_of_policy(parent, error);
	foreach(lc, due.actions)
	{
		Action	   *action = lfirst(lc);

		if (run_action(action) && strcmp(action->verb, "adopt") == 0)
		{
			action->verb = "merge";
			(void) run_action(action);
		}
	}
}

static void
run_policy(const Run *run, Oid parent, bool at_once)
{
	LOCKTAG		tag;
	char	   *name = get_rel_name(parent);

	if (name == NULL)
		return;
	set_tag(&tag, run, parent);
	if (LockAcquire(&tag, ExclusiveLock, true, true) == LOCKACQUIRE_NOT_AVAIL)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("policy of \"%s\" is left out: another session is running it",
						name)));
		return;
	}
	PG_TRY();
	{
		run_actions(run, parent, at_once);
	}
	PG_FINALLY();
	{
		(void) LockRelease(&tag, ExclusiveLock, true);
	}
	PG_END_TRY();
}

/* ---- the call ---- */

static void
check_place(FunctionCallInfo fcinfo)
{
	CallContext *context = (CallContext *) fcinfo->context;

	PreventCommandIfReadOnly("run_policies");
	PreventCommandDuringRecovery("run_policies");
	if (context == NULL || !IsA(context, CallContext) || context->atomic ||
		SPI_inside_nonatomic_context() || IsInTransactionBlock(true))
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("run_policies cannot run inside a transaction block or procedure"),
				 errdetail("It has transactions of its own, and runs VACUUM."),
				 errhint("CALL it at top level.")));
}

static Oid
owner_of_outcomes(const char *am_name)
{
	Oid			schema = get_namespace_oid(am_name, false);

	return owner_of(get_relname_relid("policy_log", schema));
}

void
st_policy_run_call(FunctionCallInfo fcinfo, const char *am_name)
{
	bool		one = !PG_ARGISNULL(0);
	MemoryContext outer = CurrentMemoryContext;
	Run			run = {.am_name = am_name};
	List	   *parents;
	ListCell   *lc;

	check_place(fcinfo);
	if (one)
		st_check_owner(PG_GETARG_OID(0));
	run.mcxt = AllocSetContextCreate(PortalContext, "policies", ALLOCSET_SMALL_SIZES);
	run.schema = MemoryContextStrdup(run.mcxt, quote_identifier(am_name));
	run.recorder = owner_of_outcomes(am_name);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	parents = policies_of_caller(&run);
	if (one && !list_member_oid(parents, PG_GETARG_OID(0)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no policy", get_rel_name(PG_GETARG_OID(0))),
				 errhint("SELECT %s.set_policy() gives it one.", run.schema)));
	if (one)
		run_policy(&run, PG_GETARG_OID(0), true);
	else
	{
		foreach(lc, parents)
			run_policy(&run, lfirst_oid(lc), false);
	}
	SPI_finish();
	MemoryContextSwitchTo(outer);
	MemoryContextDelete(run.mcxt);
}
