/*-------------------------------------------------------------------------
 *
 * st_utility_scan.c
 *	  Which columns the scan of a utility command needs.
 *
 * COPY TO, and ALTER TABLE where it checks rows, scan a table without a plan
 * that could be asked (st_scan_columns.c).  So the command itself is asked: the
 * names that its parse tree has are kept while it runs, and looked up when the
 * scan begins, under the lock of the command.  Names that are no columns, like
 * that of the table, and all that is not known here ask for whole rows.
 *
 * The note is for the first scan of that table, and dies when a query or
 * another utility command starts meanwhile: functions of conditions and event
 * triggers may read the table, too, and want something else of it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "st_read.h"
#include "st_scan_columns.h"

static struct
{
	const RangeVar *table;		/* NULL: no command */
	List	   *names;			/* of lists of names, one of which is a column */
	bool		all;			/* all columns */
	bool		not_null;		/* those that must not be null: all are tested */
} command;

static bool
collect_names(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, ColumnRef))
	{
		command.names = lappend(command.names, ((ColumnRef *) node)->fields);
		return false;
	}
	return raw_expression_tree_walker(node, collect_names, context);
}

/* Columns that a new constraint looks at; false: unknown. */
static bool
constraint_names(Constraint *constraint)
{
	switch (constraint->contype)
	{
		case CONSTR_CHECK:
			return constraint->raw_expr != NULL &&
				!collect_names(constraint->raw_expr, NULL);
		case CONSTR_NOTNULL:
			command.not_null = true;
			return true;
		default:
			return false;
	}
}

static bool
alter_names(AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_SetNotNull)
			command.not_null = true;
		else if (cmd->subtype != AT_AddConstraint || !IsA(cmd->def, Constraint) ||
				 !constraint_names((Constraint *) cmd->def))
			return false;
	}
	return true;
}

static void
copy_names(CopyStmt *stmt)
{
	ListCell   *lc;

	command.all = stmt->attlist == NIL;
	foreach(lc, stmt->attlist)
		command.names = lappend(command.names, list_make1(lfirst(lc)));
}

void
st_utility_scan_begin(Node *stmt)
{
	st_utility_scan_end();
	if (IsA(stmt, CopyStmt) && !((CopyStmt *) stmt)->is_from &&
		((CopyStmt *) stmt)->relation != NULL)
	{
		copy_names((CopyStmt *) stmt);
		command.table = ((CopyStmt *) stmt)->relation;
	}
	else if (IsA(stmt, AlterTableStmt) && alter_names((AlterTableStmt *) stmt))
		command.table = ((AlterTableStmt *) stmt)->relation;
}

void
st_utility_scan_end(void)
{
	command.table = NULL;
	command.names = NIL;
	command.all = false;
	command.not_null = false;
}

/*
 * Marks the column that the names end with; false if they end with something
 * else: a star, or a function of whole rows, although another one of the names
 * may be that of a column.
 */
static bool
want_names(Relation rel, List *names, bool *needed)
{
	Node	   *last = llast(names);
	AttrNumber	attno;

	if (!IsA(last, String))
		return false;
	attno = get_attnum(RelationGetRelid(rel), strVal(last));
	if (attno <= 0)
		return false;
	needed[attno - 1] = true;
	return true;
}

/* A generated column may stand for others. */
static bool
any_generated(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (TupleDescAttr(desc, i)->attgenerated != '\0')
			return true;
	}
	return false;
}

const StScanColumns *
st_utility_scan_columns(Relation rel, MemoryContext mcxt)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		all = command.all;
	StScanColumns *columns;
	bool	   *needed;
	ListCell   *lc;

	if (command.table == NULL || !st_partial_rows_enabled ||
		strcmp(command.table->relname, RelationGetRelationName(rel)) != 0 ||
		RangeVarGetRelid(command.table, NoLock, true) != RelationGetRelid(rel))
		return NULL;
	needed = MemoryContextAllocZero(mcxt, Max(desc->natts, 1) * sizeof(bool));
	all = all || any_generated(desc);
	foreach(lc, command.names)
		all = all || !want_names(rel, lfirst(lc), needed);
	for (int i = 0; i < desc->natts; i++)
	{
		if (all || (command.not_null && TupleDescAttr(desc, i)->attnotnull))
			needed[i] = true;
	}
	st_utility_scan_end();

	columns = MemoryContextAlloc(mcxt, sizeof(StScanColumns));
	columns->output = columns->recheck = needed;
	return columns;
}
