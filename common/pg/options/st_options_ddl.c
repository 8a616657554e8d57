/*-------------------------------------------------------------------------
 *
 * st_options_ddl.c
 *	  Options in DDL: CREATE TABLE ... WITH (<am>.x = ...), CREATE TABLE AS,
 *	  CREATE MATERIALIZED VIEW, ALTER TABLE ... SET / RESET; columns that are
 *	  renamed or dropped; the copies that pg_repack makes.
 *
 * Bodies of two hooks that each extension owns.  The server checks
 * reloptions before it calls the access method, so the utility hook takes
 * ours out of the statement, runs the rest, and sets the label.  It is in
 * force in sessions that have the library loaded: preload it to have it in
 * all of them.  The statement tree may be in a plan cache: what changes is a
 * copy.
 *
 * Everything that can rename or drop a column of a table of ours has opened
 * the table before, which loads the library, so the object access hook is
 * there without any preload.  It ignores all but columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/tablecmds.h"
#include "nodes/parsenodes.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "st_options.h"

/*
 * The next table of that name that this backend creates gets these options
 * at once (list of DefElem).
 */
static const char *awaited_name = NULL;
static List *awaited_changes = NIL;

/* Is the relation, made by the running command, the table waited for? */
static bool
is_awaited_table(Oid relid)
{
	Relation	classrel = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = false;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(classrel, ClassOidIndexId, true, SnapshotSelf,
							  1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		/* its sequences come first, its TOAST relation comes after */
		result = (form->relkind == RELKIND_RELATION ||
				  form->relkind == RELKIND_MATVIEW ||
				  form->relkind == RELKIND_PARTITIONED_TABLE) &&
			strcmp(NameStr(form->relname), awaited_name) == 0;
	}
	systable_endscan(scan);
	table_close(classrel, AccessShareLock);
	return result;
}

void
st_options_object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId)
{
	if (classId != RelationRelationId)
		return;
	if (access == OAT_POST_ALTER && subId > 0)
		st_options_column_altered(objectId, subId);
	else if (access == OAT_DROP && subId > 0)
		st_options_column_dropped(objectId, subId);
	else if (access == OAT_POST_CREATE && subId == 0 &&
			 awaited_name != NULL && is_awaited_table(objectId))
	{
		awaited_name = NULL;
		st_options_set_new(objectId, awaited_changes);
	}
}

static bool
is_ours(const DefElem *option)
{
	return option->defnamespace != NULL &&
		strcmp(option->defnamespace, st_options_set()->provider) == 0;
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

/*
 * pg_repack fills a table repack.table_<oid> and gives its file to the table
 * of that OID, whose access method it does not look at: the copy would be a
 * heap table, and the table's file unreadable.  It has put a trigger on the
 * table before, which has loaded the library.  Is this the statement that
 * makes such a copy of a table of ours?
 */
static bool
is_copy_of_ours(const CreateTableAsStmt *stmt)
{
	const RangeVar *rel = stmt->into->rel;
	Oid			am = get_am_oid(st_options_set()->provider, true);
	unsigned int relid;
	int			end = 0;
	HeapTuple	tuple;
	bool		result;

	if (stmt->into->accessMethod != NULL || rel->schemaname == NULL ||
		strcmp(rel->schemaname, "repack") != 0 ||
		sscanf(rel->relname, "table_%u%n", &relid, &end) != 1 || rel->relname[end] != '\0' ||
		!OidIsValid(get_extension_oid("pg_repack", true)))
		return false;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum((Oid) relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = OidIsValid(am) && ((Form_pg_class) GETSTRUCT(tuple))->relam == am;
	ReleaseSysCache(tuple);
	return result;
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
}

void
st_options_utility(ProcessUtility_hook_type next, PlannedStmt *pstmt,
				   const char *queryString, bool readOnlyTree,
				   ProcessUtilityContext context, ParamListInfo params,
				   QueryEnvironment *queryEnv, DestReceiver *dest,
				   QueryCompletion *qc)
{
	if (next == NULL)
		next = standard_ProcessUtility;
	if (IsA(pstmt->utilityStmt, CreateTableAsStmt) &&
		is_copy_of_ours((CreateTableAsStmt *) pstmt->utilityStmt))
	{
		pstmt = copyObject(pstmt);
		((CreateTableAsStmt *) pstmt->utilityStmt)->into->accessMethod =
			pstrdup(st_options_set()->provider);
	}
	if (!is_ours_to_do(pstmt->utilityStmt))
	{
		next(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
		return;
	}

	pstmt = copyObject(pstmt);
	if (IsA(pstmt->utilityStmt, AlterTableStmt))
	{
		alter_options((AlterTableStmt *) pstmt->utilityStmt);
		next(pstmt, queryString, false, context, params, queryEnv, dest, qc);
		return;
	}

	if (IsA(pstmt->utilityStmt, CreateStmt))
	{
		CreateStmt *stmt = (CreateStmt *) pstmt->utilityStmt;

		awaited_changes = take_ours(&stmt->options, NIL, false);
		awaited_name = stmt->relation->relname;
	}
	else
	{
		IntoClause *into = ((CreateTableAsStmt *) pstmt->utilityStmt)->into;

		awaited_changes = take_ours(&into->options, NIL, false);
		awaited_name = into->rel->relname;
	}
	PG_TRY();
	{
		next(pstmt, queryString, false, context, params, queryEnv, dest, qc);
	}
	PG_FINALLY();
	{
		awaited_name = NULL;	/* IF NOT EXISTS, and it did */
	}
	PG_END_TRY();
}
