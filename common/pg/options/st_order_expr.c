/*-------------------------------------------------------------------------
 *
 * st_order_expr.c
 *	  Expressions in the option orderby.
 *
 * The option keeps an expression as the server writes it (ruleutils), with
 * pg_catalog alone in the search path, and reads it under the same settings: so
 * the text means the same in every session, and in a restored database.
 *
 * An expression calls nothing but immutable functions that come with the
 * server, by operators that do, too.  They cannot be dropped or replaced, so a
 * stored expression goes on to be valid; and compaction, which runs for whoever
 * starts it, never executes what another user has written.
 *
 * Names of columns are found in the raw parse tree, which needs no catalog:
 * they follow a rename when the catalogs still have the old name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "st_checksum.h"
#include "st_compat.h"
#include "st_options_order.h"

/* What makes an order list a statement that the server's parser takes. */
#define PREFIX "SELECT ORDER BY "

/* ---- raw parse trees ---- */

static void
set_for_text(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Settings under which a text means the same to everybody, until
 * AtEOXact_GUC(true, the result).
 */
static int
begin_text(void)
{
	int			nest = NewGUCNestLevel();

	set_for_text("search_path", "pg_catalog, pg_temp");
	set_for_text("standard_conforming_strings", "on");
	set_for_text("DateStyle", "ISO");
	set_for_text("IntervalStyle", "postgres");
	set_for_text("TimeZone", "GMT");
	set_for_text("bytea_output", "hex");
	set_for_text("extra_float_digits", "1");
	set_for_text("quote_all_identifiers", "off");
	return nest;
}

/* Positions of errors are those of a statement that the user does not see. */
static void
parse_error_callback(void *arg)
{
	errposition(0);
	errcontext("option \"orderby\", \"%s\"", (const char *) arg);
}

static void
begin_context(ErrorContextCallback *callback, const char *text)
{
	callback->callback = parse_error_callback;
	callback->arg = unconstify(char *, text);
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

static void
report_not_a_list(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"orderby\": \"%s\"", text),
			 errdetail("Expected a list of column [ASC | DESC] [NULLS { FIRST | LAST }] separated by commas, with expressions in parentheses.")));
}

/* List of SortBy; raises what the parser raises, and if it is anything else. */
static List *
raw_order(const char *text)
{
	List	   *statements = raw_parser(psprintf(PREFIX "%s", text),
										RAW_PARSE_DEFAULT);
	SelectStmt *select;

	if (list_length(statements) != 1)
		report_not_a_list(text);
	select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	if (!IsA(select, SelectStmt) || select->op != SETOP_NONE ||
		select->sortClause == NIL || select->limitCount != NULL ||
		select->limitOffset != NULL || select->lockingClause != NIL)
		report_not_a_list(text);
	return select->sortClause;
}

/* The column's name, if the node is nothing but that; else NULL. */
static char *
column_name(Node *node)
{
	ColumnRef  *ref = (ColumnRef *) node;

	if (!IsA(node, ColumnRef) || list_length(ref->fields) != 1 ||
		!IsA(linitial(ref->fields), String))
		return NULL;
	return strVal(linitial(ref->fields));
}

typedef struct ColumnUse
{
	char	   *name;
	int			offset;			/* in the expression's text */
} ColumnUse;

static bool
collect_columns(Node *node, List **uses)
{
	if (node == NULL)
		return false;
	if (column_name(node) != NULL)
	{
		ColumnUse  *use = palloc(sizeof(ColumnUse));

		use->name = column_name(node);
		use->offset = ((ColumnRef *) node)->location - strlen(PREFIX);
		*uses = lappend(*uses, use);
		return false;
	}
	return raw_expression_tree_walker(node, collect_columns, uses);
}

/* List of ColumnUse, in the order of the text. */
static List *
columns_used(const char *expr)
{
	List	   *uses = NIL;
	int			nest = begin_text();
	SortBy	   *item = linitial_node(SortBy, raw_order(expr));

	AtEOXact_GUC(true, nest);
	(void) collect_columns(item->node, &uses);
	return uses;
}

List *
st_order_expr_columns(const char *expr)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, columns_used(expr))
		names = lappend(names, ((ColumnUse *) lfirst(lc))->name);
	return names;
}

/* Of the name, quoted or not, that the text begins with. */
static int
identifier_length(const char *text)
{
	const char *p = text;

	if (*p != '"')
	{
		while (IS_HIGHBIT_SET(*p) || isalnum((unsigned char) *p) || *p == '_' || *p == '$')
			p++;
		return p - text;
	}
	for (p++; *p != '\0'; p++)
	{
		if (*p == '"' && *++p != '"')
			break;
	}
	return p - text;
}

static int
compare_offsets(const ListCell *a, const ListCell *b)
{
	return ((ColumnUse *) lfirst(a))->offset - ((ColumnUse *) lfirst(b))->offset;
}

char *
st_order_expr_rename(const char *expr, const char *oldname, const char *newname)
{
	StringInfoData buf;
	List	   *uses = columns_used(expr);
	int			done = 0;
	ListCell   *lc;

	initStringInfo(&buf);
	list_sort(uses, compare_offsets);
	foreach(lc, uses)
	{
		ColumnUse  *use = lfirst(lc);

		if (strcmp(use->name, oldname) != 0)
			continue;
		appendBinaryStringInfo(&buf, expr + done, use->offset - done);
		appendStringInfoString(&buf, quote_identifier(newname));
		done = use->offset + identifier_length(expr + use->offset);
	}
	if (done == 0)
		return NULL;
	appendStringInfoString(&buf, expr + done);
	return buf.data;
}

/* ---- analysis ---- */

static bool
function_is_foreign(Oid funcid, void *context)
{
	return funcid >= FirstNormalObjectId;
}

/* The operator by which a node calls its function; it may be dropped alone. */
static Oid
operator_of(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return ((const OpExpr *) node)->opno;
		case T_ScalarArrayOpExpr:
			return ((const ScalarArrayOpExpr *) node)->opno;
		default:
			return InvalidOid;
	}
}

/* A constant that stands for an object, such as a text search configuration. */
static bool
names_foreign(const Const *value)
{
	switch (value->consttype)
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
			return !value->constisnull &&
				DatumGetObjectId(value->constvalue) >= FirstNormalObjectId;
		default:
			return false;
	}
}

/*
 * Does the expression need anything that does not come with the server?  Types
 * of columns count: functions of arrays and rows call those of their parts.
 */
static bool
uses_foreign(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (operator_of(node) >= FirstNormalObjectId)
		return true;
	if (IsA(node, Const) && names_foreign((Const *) node))
		return true;
	if (IsA(node, CollateExpr) && ((CollateExpr *) node)->collOid >= FirstNormalObjectId)
		return true;
	if (!IsA(node, List) && exprType(node) >= FirstNormalObjectId)
		return true;
	if (check_functions_in_node(node, function_is_foreign, NULL))
		return true;
	return expression_tree_walker(node, uses_foreign, context);
}

static bool
has_unfit_column(Node *node, TupleDesc desc)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		AttrNumber	attno = ((Var *) node)->varattno;

		/* 'v': generated and not stored, from PostgreSQL 18 on */
		return attno <= 0 || TupleDescAttr(desc, attno - 1)->attgenerated == 'v';
	}
	return expression_tree_walker(node, has_unfit_column, desc);
}

static void
check_ordered(Relation rel, Node *expr)
{
	Oid			type = exprType(expr);

	if (get_typtype(type) == TYPTYPE_PSEUDO ||
		!OidIsValid(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot order table \"%s\" by an expression of type %s",
						RelationGetRelationName(rel), format_type_be(type)),
				 errdetail("Type %s has no default btree operator class.",
						   format_type_be(type))));
	if (type_is_collatable(type) && !OidIsValid(exprCollation(expr)))
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_COLLATION),
				 errmsg("could not determine which collation to use for an expression in option \"orderby\""),
				 errhint("Use the COLLATE clause to set the collation explicitly.")));
}

/* Makes an expression of a raw one, under the search path in force. */
static Node *
analyse(Relation rel, Node *raw)
{
	ParseState *pstate = make_parsestate(NULL);
	ParseNamespaceItem *item;
	Node	   *expr;

	item = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL,
										 false, true);
	addNSItemToQuery(pstate, item, true, true, true);
	expr = transformExpr(pstate, raw, EXPR_KIND_INDEX_EXPRESSION);
	assign_expr_collations(pstate, expr);
	free_parsestate(pstate);

	if (contain_var_clause(expr) == false)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an expression in option \"orderby\" has no column")));
	if (has_unfit_column(expr, RelationGetDescr(rel)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"orderby\" cannot use system columns, whole rows or virtual generated columns")));
	if (contain_mutable_functions(expr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("functions in option \"orderby\" must be marked IMMUTABLE")));
	if (uses_foreign(expr, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("an expression in option \"orderby\" cannot use functions, operators, types and other objects that do not come with the server"),
				 errhint("Order the table by a stored generated column.")));
	check_ordered(rel, expr);
	return expr;
}

Expr *
st_order_expr_analyse(Relation rel, const char *text)
{
	ErrorContextCallback callback;
	int			nest;
	Node	   *expr;

	begin_context(&callback, text);
	nest = begin_text();
	expr = analyse(rel, linitial_node(SortBy, raw_order(text))->node);
	AtEOXact_GUC(true, nest);
	error_context_stack = callback.previous;
	return (Expr *) expr;
}

/* ---- identity ---- */

/*
 * Types whose text is the same under all settings.  The server calls the
 * output of floats, bytea and the like immutable, too.
 */
static bool
has_one_text(Oid type)
{
	switch (getBaseType(type))
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case NUMERICOID:
		case CHAROID:
		case NAMEOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case UUIDOID:
		case JSONOID:
		case JSONBOID:
		case INETOID:
		case CIDROID:
			return true;
		default:
			return false;
	}
}

/* Functions that the server calls immutable, and that look at settings. */
static bool
function_depends_on_settings(const FuncExpr *func)
{
	return func->funcresulttype == CSTRINGOID ||
		func->funcid == F_TIMEZONE_TEXT_TIMESTAMP ||	/* abbreviations */
		func->funcid == F_TIMEZONE_TEXT_TIMESTAMPTZ ||
		func->funcid == F_QUOTE_IDENT;
}

/*
 * May a value depend on a setting, though all functions are immutable?  What
 * has rules of its own for texts, as SQL/JSON and XML have, counts as such.
 */
static bool
depends_on_settings(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_CoerceViaIO:
			if (!has_one_text(exprType((Node *) ((CoerceViaIO *) node)->arg)))
				return true;
			break;
		case T_FuncExpr:
			if (function_depends_on_settings((FuncExpr *) node))
				return true;
			break;
		case T_List:
		case T_Var:
		case T_Const:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_RelabelType:
		case T_CollateExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_SubscriptingRef:
		case T_ArrayExpr:
		case T_ArrayCoerceExpr:
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, depends_on_settings, context);
}

/* Puts parameters in place of columns; their types go to the text. */
static Node *
number_columns(Node *node, void *text)
{
	Var		   *var = (Var *) node;
	Param	   *param;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, number_columns, text);
	param = makeNode(Param);
	param->paramkind = PARAM_EXTERN;
	param->paramid = var->varattno;
	param->paramtype = var->vartype;
	param->paramtypmod = -1;
	param->paramcollid = var->varcollid;
	param->location = -1;
	appendStringInfo((StringInfo) text, "%d %u %u,", var->varattno, var->vartype,
					 var->varcollid);
	return (Node *) param;
}

/*
 * Has it parts without columns that the planner computes beforehand?  These may
 * raise an error, though no row comes to them.
 */
static bool
has_constant_call(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Const:
		case T_RelabelType:
		case T_CollateExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
			break;
		default:
			if (!contain_var_clause(node))
				return true;
			break;
	}
	return expression_tree_walker(node, has_constant_call, context);
}

/* A bpchar's blanks are no part of it, but may stand where a zone ends. */
bool
st_order_expr_is_zoned(const Expr *expr)
{
	return getBaseType(exprType((const Node *) expr)) != BPCHAROID &&
		!depends_on_settings((Node *) expr, NULL) &&
		!has_constant_call((Node *) expr, NULL);
}

uint64
st_order_expr_id(const Expr *expr)
{
	StringInfoData text;
	Node	   *numbered;
	uint64		id;
	int			nest;

	initStringInfo(&text);
	appendStringInfo(&text, "%u %u,", exprType((Node *) expr),
					 exprCollation((Node *) expr));
	numbered = number_columns((Node *) expr, &text);
	nest = begin_text();
	appendStringInfoString(&text, deparse_expression(numbered, NIL, false, true));
	AtEOXact_GUC(true, nest);
	id = st_checksum64(text.data, text.len, 0);
	pfree(text.data);
	return Max(1, id);
}

List *
st_order_exprs_make(Relation rel, const StOrderBy *order)
{
	List	   *exprs = NIL;

	for (int i = 0; i < order->ncolumns; i++)
	{
		StOrderExpr *expr;
		Expr	   *analysed;

		if (order->columns[i].expr == NULL)
			continue;
		analysed = st_order_expr_analyse(rel, order->columns[i].expr);
		if (!st_order_expr_is_zoned(analysed))
			continue;
		expr = palloc(sizeof(StOrderExpr));
		expr->id = st_order_expr_id(analysed);
		expr->position = i;
		expr->expr = (Expr *) eval_const_expressions(NULL, (Node *) analysed);
		exprs = lappend(exprs, expr);
	}
	return exprs;
}

/* The expression as the option keeps it. */
static char *
expression_text(Relation rel, Node *expr)
{
	List	   *context = deparse_context_for(RelationGetRelationName(rel),
											  RelationGetRelid(rel));
	int			nest = begin_text();
	char	   *text = deparse_expression(expr, context, false, false);

	AtEOXact_GUC(true, nest);
	return text;
}

static void
set_item(StOrderItem *item, Relation rel, Node *expr)
{
	if (IsA(expr, Var))
		item->name = get_attname(RelationGetRelid(rel), ((Var *) expr)->varattno, false);
	else
		item->expr = expression_text(rel, expr);
}

List *
st_order_parse_sql(Relation rel, const char *text)
{
	ErrorContextCallback callback;
	List	   *items = NIL;
	ListCell   *lc;

	begin_context(&callback, text);
	foreach(lc, raw_order(text))
	{
		SortBy	   *sort = lfirst_node(SortBy, lc);
		StOrderItem *item = palloc0(sizeof(StOrderItem));

		if (sort->sortby_dir == SORTBY_USING)
			report_not_a_list(text);
		item->name = column_name(sort->node);
		if (item->name == NULL)
			set_item(item, rel, analyse(rel, sort->node));
		item->desc = sort->sortby_dir == SORTBY_DESC;
		item->nulls_first = sort->sortby_nulls == SORTBY_NULLS_FIRST ||
			(sort->sortby_nulls == SORTBY_NULLS_DEFAULT && item->desc);
		items = lappend(items, item);
	}
	error_context_stack = callback.previous;
	return items;
}
