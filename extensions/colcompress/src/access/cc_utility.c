/*-------------------------------------------------------------------------
 *
 * cc_utility.c
 *	  Options in CREATE TABLE ... WITH (colcompress.x = ...), CREATE TABLE AS,
 *	  CREATE MATERIALIZED VIEW and ALTER TABLE ... SET / RESET.
 *
 * Sugar for colcompress.set_options().  The server checks reloptions before
 * it calls the access method, so the hook takes ours out of the statement,
 * runs the rest, and sets the label.  It is in force in sessions that have
 * the library loaded: preload it to have it in all of them.
 *
 * The statement tree may be in a plan cache: what changes is a copy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"

#include "cc_access.h"
#include "cc_options.h"

static ProcessUtility_hook_type prev_process_utility = NULL;

static bool
is_ours(const DefElem *option)
{
	return option->defnamespace != NULL &&
		strcmp(option->defnamespace, cc_option_set.provider) == 0;
}

static bool
has_ours(List *options)
{
	ListCell   *lc;

	foreach(lc, options)
		if (is_ours(lfirst_node(DefElem, lc)))
			return true;
	return false;
}

/*
 * Moves our options from *options to the end of changes.  An option without
 * a value means true, and goes back to its default if reset is set.
 */
static List *
take_ours(List **options, List *changes, bool reset)
{
	ListCell   *lc;

	foreach(lc, *options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (!is_ours(option))
			continue;
		*options = foreach_delete_current(*options, lc);
		if (reset)
			option->arg = NULL;
		else if (option->arg == NULL)
			option->arg = (Node *) makeString("true");
		changes = lappend(changes, option);
	}
	return changes;
}

static bool
is_reloptions_command(const AlterTableCmd *cmd)
{
	return cmd->subtype == AT_SetRelOptions || cmd->subtype == AT_ResetRelOptions;
}

/* Does the statement carry options of ours? */
static bool
is_ours_to_do(Node *stmt)
{
	ListCell   *lc;

	switch (nodeTag(stmt))
	{
		case T_CreateStmt:
			return has_ours(((CreateStmt *) stmt)->options);
		case T_CreateTableAsStmt:
			return has_ours(((CreateTableAsStmt *) stmt)->into->options);
		case T_AlterTableStmt:
			foreach(lc, ((AlterTableStmt *) stmt)->cmds)
			{
				AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

				if (is_reloptions_command(cmd) && has_ours((List *) cmd->def))
					return true;
			}
			return false;
		default:
			return false;
	}
}

/* Takes our options out of an ALTER TABLE, and commands left empty with them. */
static List *
take_from_alter(AlterTableStmt *stmt)
{
	List	   *changes = NIL;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		List	   *options;

		if (!is_reloptions_command(cmd))
			continue;
		options = (List *) cmd->def;
		changes = take_ours(&options, changes, cmd->subtype == AT_ResetRelOptions);
		cmd->def = (Node *) options;
		if (options == NIL)
			stmt->cmds = foreach_delete_current(stmt->cmds, lc);
	}
	return changes;
}

/*
 * Options first: a rewrite in the same statement shall use them.  The lock
 * is the whole statement's, so that it need not be raised afterwards.
 */
static void
alter_options(AlterTableStmt *stmt)
{
	LOCKMODE	lockmode = AlterTableGetLockLevel(stmt->cmds);
	List	   *changes = take_from_alter(stmt);
	Oid			relid;
	Relation	rel;

	relid = RangeVarGetRelidExtended(stmt->relation, lockmode,
									 stmt->missing_ok ? RVR_MISSING_OK : 0,
									 RangeVarCallbackOwnsRelation, NULL);
	if (!OidIsValid(relid))
		return;					/* the server reports it */
	rel = relation_open(relid, NoLock);
	st_options_change(rel, changes);
	relation_close(rel, NoLock);
}

static void
run(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
	ProcessUtilityContext context, ParamListInfo params,
	QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	ProcessUtility_hook_type next = prev_process_utility ?
		prev_process_utility : standard_ProcessUtility;

	next(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

static void
label_created_table(List *changes)
{
	Oid			relid = cc_label_created();
	Relation	rel;

	if (!OidIsValid(relid))
		return;					/* IF NOT EXISTS, and it did */
	rel = relation_open(relid, NoLock);
	st_options_change(rel, changes);
	relation_close(rel, NoLock);
}

static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *queryEnv, DestReceiver *dest,
				QueryCompletion *qc)
{
	List	   *changes;

	if (!is_ours_to_do(pstmt->utilityStmt))
	{
		run(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
		return;
	}

	pstmt = copyObject(pstmt);
	if (IsA(pstmt->utilityStmt, AlterTableStmt))
	{
		alter_options((AlterTableStmt *) pstmt->utilityStmt);
		run(pstmt, queryString, false, context, params, queryEnv, dest, qc);
		return;
	}

	if (IsA(pstmt->utilityStmt, CreateStmt))
	{
		CreateStmt *stmt = (CreateStmt *) pstmt->utilityStmt;

		changes = take_ours(&stmt->options, NIL, false);
		cc_label_await_table(stmt->relation->relname, changes);
	}
	else
	{
		IntoClause *into = ((CreateTableAsStmt *) pstmt->utilityStmt)->into;

		changes = take_ours(&into->options, NIL, false);
		cc_label_await_table(into->rel->relname, changes);
	}
	PG_TRY();
	{
		run(pstmt, queryString, false, context, params, queryEnv, dest, qc);
	}
	PG_CATCH();
	{
		(void) cc_label_created();
		PG_RE_THROW();
	}
	PG_END_TRY();
	label_created_table(changes);
}

void
cc_utility_init(void)
{
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
