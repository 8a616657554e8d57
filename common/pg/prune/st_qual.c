/*-------------------------------------------------------------------------
 *
 * st_qual.c
 *	  Takes conditions of a scan apart into predicates on single columns,
 *	  and evaluates their right sides.
 *
 * Knows operators by their btree operator families, never by name, so
 * cross-type operators and commuted ones come out right.  Only comparison
 * functions that are built in or leakproof are accepted: a zone or a vector
 * also holds rows that a security barrier hides.
 *
 * Takes no locks.  Does not look at any row: see st_zone.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "st_compat.h"
#include "st_qual.h"

/* Of pg_opfamily.dat, without a symbol there. */
#define UUID_BTREE_FAM_OID	2968

/* text ^@ text, of pg_operator.dat */
#define TEXT_STARTS_WITH_OP 3877

typedef struct PredContext
{
	Index		varno;
	PlanState  *parent;
	MemoryContext values_mcxt;
} PredContext;

static StPred *pred_of(Node *node, const PredContext *cxt);

static bool
is_string_type(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

/* Families whose zones and comparisons go by the bytes of the values. */
static bool
is_string_family(Oid opfamily)
{
	return opfamily == TEXT_BTREE_FAM_OID ||
		opfamily == TEXT_PATTERN_BTREE_FAM_OID ||
		opfamily == BPCHAR_BTREE_FAM_OID ||
		opfamily == BPCHAR_PATTERN_BTREE_FAM_OID ||
		opfamily == BYTEA_BTREE_FAM_OID ||
		opfamily == UUID_BTREE_FAM_OID;
}

/*
 * The scanned column behind node.  Looks through relabellings that leave the
 * type, or the order of the bytes of a string, as it is: an int4 seen as an
 * oid has another order.
 */
static bool
column_of(Node *node, const PredContext *cxt, AttrNumber *attno, Oid *coltype)
{
	Oid			type = exprType(node);
	Var		   *var;

	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node == NULL || !IsA(node, Var))
		return false;
	var = (Var *) node;
	if (var->varno != cxt->varno || var->varattno <= 0 || var->varlevelsup != 0)
		return false;

	*attno = var->varattno;
	*coltype = getBaseType(var->vartype);
	type = getBaseType(type);
	return type == *coltype || (is_string_type(type) && is_string_type(*coltype));
}

/* An expression that has one value for a whole scan. */
static bool
is_scan_constant(Node *node)
{
	return !contain_var_clause(node) &&
		!contain_volatile_functions(node) &&
		!contain_subplans(node);
}

static StPred *
pred_make(StPredKind kind, AttrNumber attno, Oid coltype)
{
	StPred	   *pred = palloc0(sizeof(StPred));

	pred->kind = kind;
	pred->attno = attno;
	pred->coltype = coltype;
	return pred;
}

static void
pred_set_expr(StPred *pred, Node *expr, const PredContext *cxt)
{
	pred->expr = ExecInitExpr((Expr *) expr, cxt->parent);
	pred->econtext = cxt->parent->ps_ExprContext;
	pred->values_mcxt = cxt->values_mcxt;
}

/*
 * Finds the family of a comparison: the column type's own btree family, or
 * one of the strings' others.  False if the operator is in none of them.
 */
static bool
find_family(Oid opno, Oid coltype, Oid *opfamily, int *strategy,
			Oid *lefttype, Oid *righttype)
{
	Oid			negator = get_negator(opno);
	Oid			families[5];
	int			nfamilies = 0;

	families[nfamilies++] = lookup_type_cache(coltype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	if (is_string_type(coltype))
	{
		families[nfamilies++] = TEXT_BTREE_FAM_OID;
		families[nfamilies++] = BPCHAR_BTREE_FAM_OID;
		families[nfamilies++] = TEXT_PATTERN_BTREE_FAM_OID;
		families[nfamilies++] = BPCHAR_PATTERN_BTREE_FAM_OID;
	}

	for (int i = 0; i < nfamilies; i++)
	{
		if (!OidIsValid(families[i]))
			continue;
		*opfamily = families[i];
		if (op_in_opfamily(opno, families[i]))
		{
			get_op_opfamily_properties(opno, families[i], false,
									   strategy, lefttype, righttype);
			return true;
		}
		if (OidIsValid(negator) && op_in_opfamily(negator, families[i]))
		{
			get_op_opfamily_properties(negator, families[i], false,
									   strategy, lefttype, righttype);
			if (*strategy != BTEqualStrategyNumber)
				return false;
			*strategy = ST_NOT_EQUAL_STRATEGY;
			return true;
		}
	}
	return false;
}

/* Strings can be compared as bytes only where their collation agrees. */
static bool
collation_allows(Oid opfamily, int strategy, Oid collation)
{
	if (opfamily != TEXT_BTREE_FAM_OID && opfamily != BPCHAR_BTREE_FAM_OID)
		return true;
	if (!OidIsValid(collation))
		return false;
	if (strategy == BTEqualStrategyNumber || strategy == ST_NOT_EQUAL_STRATEGY)
		return get_collation_isdeterministic(collation);
	return st_collation_is_c(collation);
}

static bool
set_comparison(FmgrInfo *finfo, Oid opfamily, Oid lefttype, Oid righttype)
{
	Oid			proc = get_opfamily_proc(opfamily, lefttype, righttype, BTORDER_PROC);

	if (!OidIsValid(proc) ||
		(proc >= FirstNormalObjectId && !get_func_leakproof(proc)))
		return false;
	fmgr_info(proc, finfo);
	return true;
}

/*
 * Types whose values st_string_bytes() knows.  (The family of text has name,
 * too, which is an array of 64 characters.)
 */
static bool
has_bytes(Oid type)
{
	return is_string_type(type) || type == BYTEAOID || type == UUIDOID;
}

/* Sets operator, family and functions of a comparison; false if unknown. */
static bool
pred_set_operator(StPred *pred, Oid opno, Oid collation)
{
	Oid			lefttype;

	if (!find_family(opno, pred->coltype, &pred->opfamily, &pred->strategy,
					 &lefttype, &pred->valtype))
		return false;

	pred->string = is_string_family(pred->opfamily);
	if (pred->string)
		return has_bytes(pred->coltype) && has_bytes(lefttype) &&
			has_bytes(pred->valtype) &&
			collation_allows(pred->opfamily, pred->strategy, collation);

	/* Any other order that depends on a collation is not ours to judge. */
	return !OidIsValid(collation) &&
		set_comparison(&pred->cmp, pred->opfamily, lefttype, pred->valtype) &&
		set_comparison(&pred->cmp_values, pred->opfamily, pred->valtype, pred->valtype);
}

static StPred *
pred_compare(Node *column, Oid opno, Node *value, Oid collation,
			 const PredContext *cxt)
{
	AttrNumber	attno;
	Oid			coltype;
	StPred	   *pred;

	if (!OidIsValid(opno) || !column_of(column, cxt, &attno, &coltype) ||
		!is_scan_constant(value))
		return NULL;
	pred = pred_make(ST_PRED_COMPARE, attno, coltype);
	if (!pred_set_operator(pred, opno, collation))
		return NULL;
	pred_set_expr(pred, value, cxt);
	return pred;
}

/* column LIKE pattern, starts_with(column, prefix), column ^@ prefix */
static StPred *
pred_prefix(Oid opno, List *args, Oid collation, const PredContext *cxt)
{
	AttrNumber	attno;
	Oid			coltype;
	StPred	   *pred;

	if (list_length(args) != 2 ||
		!column_of(linitial(args), cxt, &attno, &coltype) ||
		!is_scan_constant(lsecond(args)))
		return NULL;
	if (coltype != BYTEAOID &&
		(!is_string_type(coltype) || !OidIsValid(collation) ||
		 !get_collation_isdeterministic(collation)))
		return NULL;

	pred = pred_make(ST_PRED_PREFIX, attno, coltype);
	pred->string = true;
	pred->like = opno != TEXT_STARTS_WITH_OP;
	pred->lossy = pred->like;
	pred->valtype = exprType(lsecond(args));
	pred_set_expr(pred, lsecond(args), cxt);
	return pred;
}

static StPred *
pred_of_operator(OpExpr *op, const PredContext *cxt)
{
	StPred	   *pred;

	switch (op->opno)
	{
		case OID_TEXT_LIKE_OP:
		case OID_BPCHAR_LIKE_OP:
		case OID_BYTEA_LIKE_OP:
		case TEXT_STARTS_WITH_OP:
			return pred_prefix(op->opno, op->args, op->inputcollid, cxt);
		default:
			break;
	}
	if (list_length(op->args) != 2)
		return NULL;
	pred = pred_compare(linitial(op->args), op->opno, lsecond(op->args),
						op->inputcollid, cxt);
	if (pred == NULL)
		pred = pred_compare(lsecond(op->args), get_commutator(op->opno),
							linitial(op->args), op->inputcollid, cxt);
	return pred;
}

static StPred *
pred_of_array(ScalarArrayOpExpr *op, const PredContext *cxt)
{
	AttrNumber	attno;
	Oid			coltype;
	StPred	   *pred;

	if (!column_of(linitial(op->args), cxt, &attno, &coltype) ||
		!is_scan_constant(lsecond(op->args)))
		return NULL;
	pred = pred_make(op->useOr ? ST_PRED_ANY : ST_PRED_ALL, attno, coltype);
	if (!pred_set_operator(pred, op->opno, op->inputcollid))
		return NULL;
	/* These two would each need a rule of their own, and nobody writes them. */
	if (pred->strategy == (op->useOr ? ST_NOT_EQUAL_STRATEGY : BTEqualStrategyNumber))
		return NULL;
	pred_set_expr(pred, lsecond(op->args), cxt);
	return pred;
}

/* (a, b) < (x, y) implies a <= x. */
static StPred *
pred_of_row_compare(RowCompareExpr *row, const PredContext *cxt)
{
	Oid			opno = linitial_oid(row->opnos);
	Oid			opfamily = linitial_oid(row->opfamilies);
	Oid			collation = linitial_oid(row->inputcollids);
	Oid			lefttype;
	Oid			righttype;
	int			strategy;
	StPred	   *pred;

	get_op_opfamily_properties(opno, opfamily, false, &strategy, &lefttype, &righttype);
	if (strategy == BTLessStrategyNumber)
		strategy = BTLessEqualStrategyNumber;
	else if (strategy == BTGreaterStrategyNumber)
		strategy = BTGreaterEqualStrategyNumber;
	opno = get_opfamily_member(opfamily, lefttype, righttype, strategy);
	if (!OidIsValid(opno))
		return NULL;

	pred = pred_compare(linitial(row->largs), opno, linitial(row->rargs), collation, cxt);
	if (pred == NULL)
		pred = pred_compare(linitial(row->rargs), get_commutator(opno),
							linitial(row->largs), collation, cxt);
	if (pred)
		pred->lossy = true;
	return pred;
}

static StPred *
pred_null_test(Node *node, bool isnull, const PredContext *cxt)
{
	AttrNumber	attno;
	Oid			coltype;

	if (!column_of(node, cxt, &attno, &coltype))
		return NULL;
	return pred_make(isnull ? ST_PRED_ISNULL : ST_PRED_NOTNULL, attno, coltype);
}

/* A boolean column that is to be true, or false. */
static StPred *
pred_boolean(Node *node, bool value, const PredContext *cxt)
{
	AttrNumber	attno;
	Oid			coltype;
	StPred	   *pred;

	if (!column_of(node, cxt, &attno, &coltype) || coltype != BOOLOID)
		return NULL;
	pred = pred_make(ST_PRED_COMPARE, attno, coltype);
	if (!pred_set_operator(pred, BooleanEqualOperator, InvalidOid))
		return NULL;
	pred->value = BoolGetDatum(value);
	return pred;
}

static StPred *
pred_combine(StPredKind kind, StPred *a, StPred *b)
{
	StPred	   *pred = pred_make(kind, InvalidAttrNumber, InvalidOid);

	pred->nargs = 2;
	pred->args = palloc(2 * sizeof(StPred *));
	pred->args[0] = a;
	pred->args[1] = b;
	return pred;
}

static StPred *
pred_of_boolean_test(BooleanTest *test, const PredContext *cxt)
{
	Node	   *arg = (Node *) test->arg;
	StPred	   *value;

	switch (test->booltesttype)
	{
		case IS_UNKNOWN:
			return pred_null_test(arg, true, cxt);
		case IS_NOT_UNKNOWN:
			return pred_null_test(arg, false, cxt);
		case IS_TRUE:
			return pred_boolean(arg, true, cxt);
		case IS_FALSE:
			return pred_boolean(arg, false, cxt);
		case IS_NOT_TRUE:
			value = pred_boolean(arg, false, cxt);
			break;
		case IS_NOT_FALSE:
			value = pred_boolean(arg, true, cxt);
			break;
		default:
			return NULL;
	}
	if (value == NULL)
		return NULL;
	return pred_combine(ST_PRED_OR, value, pred_null_test(arg, true, cxt));
}

/*
 * AND of what is known about its arguments, OR if all of them are known.
 * An AND that loses an argument becomes lossy.
 */
static StPred *
pred_of_junction(StPredKind kind, List *args, const PredContext *cxt)
{
	StPred	   *pred = pred_make(kind, InvalidAttrNumber, InvalidOid);
	ListCell   *lc;

	pred->args = palloc(list_length(args) * sizeof(StPred *));
	foreach(lc, args)
	{
		StPred	   *arg = pred_of(lfirst(lc), cxt);

		if (arg == NULL)
		{
			if (kind == ST_PRED_OR)
				return NULL;
			pred->lossy = true;
			continue;
		}
		pred->args[pred->nargs++] = arg;
	}
	return pred->nargs > 0 ? pred : NULL;
}

static StPred *
pred_of_bool_expr(BoolExpr *expr, const PredContext *cxt)
{
	switch (expr->boolop)
	{
		case AND_EXPR:
			return pred_of_junction(ST_PRED_AND, expr->args, cxt);
		case OR_EXPR:
			return pred_of_junction(ST_PRED_OR, expr->args, cxt);
		case NOT_EXPR:
			/* The planner has pushed NOT down as far as it goes. */
			return pred_boolean(linitial(expr->args), false, cxt);
	}
	return NULL;
}

static StPred *
pred_of(Node *node, const PredContext *cxt)
{
	StPred	   *pred;

	if (is_scan_constant(node))
	{
		pred = pred_make(ST_PRED_VALUE, InvalidAttrNumber, InvalidOid);
		pred->valtype = BOOLOID;
		pred_set_expr(pred, node, cxt);
		return pred;
	}

	switch (nodeTag(node))
	{
		case T_BoolExpr:
			return pred_of_bool_expr((BoolExpr *) node, cxt);
		case T_OpExpr:
			return pred_of_operator((OpExpr *) node, cxt);
		case T_ScalarArrayOpExpr:
			return pred_of_array((ScalarArrayOpExpr *) node, cxt);
		case T_RowCompareExpr:
			return pred_of_row_compare((RowCompareExpr *) node, cxt);
		case T_NullTest:
			if (((NullTest *) node)->argisrow)
				return NULL;
			return pred_null_test((Node *) ((NullTest *) node)->arg,
								  ((NullTest *) node)->nulltesttype == IS_NULL, cxt);
		case T_BooleanTest:
			return pred_of_boolean_test((BooleanTest *) node, cxt);
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcid == F_STARTS_WITH)
				return pred_prefix(TEXT_STARTS_WITH_OP, ((FuncExpr *) node)->args,
								   ((FuncExpr *) node)->inputcollid, cxt);
			return NULL;
		case T_Var:
		case T_RelabelType:
			return pred_boolean(node, true, cxt);
		default:
			return NULL;
	}
}

StPred *
st_pred_create(Expr *clause, Index varno, PlanState *parent,
			   MemoryContext values_mcxt)
{
	PredContext cxt = {varno, parent, values_mcxt};

	return pred_of((Node *) clause, &cxt);
}

StStr
st_string_bytes(Datum value, Oid type)
{
	StStr		str;

	if (type == UUIDOID)
	{
		str.data = DatumGetUUIDP(value)->data;
		str.len = UUID_LEN;
		return str;
	}
	str.data = (const uint8_t *) VARDATA_ANY(DatumGetPointer(value));
	str.len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	if (type == BPCHAROID)
		while (str.len > 0 && str.data[str.len - 1] == ' ')
			str.len--;
	return str;
}

int
st_string_compare(StStr a, StStr b)
{
	int			d = memcmp(a.data, b.data, Min(a.len, b.len));

	if (d != 0)
		return d;
	return a.len < b.len ? -1 : a.len > b.len;
}

static int
compare_values(const void *a, const void *b, void *arg)
{
	StPred	   *pred = arg;
	Datum		x = *(const Datum *) a;
	Datum		y = *(const Datum *) b;

	if (pred->string)
		return st_string_compare(st_string_bytes(x, pred->valtype),
								 st_string_bytes(y, pred->valtype));
	return DatumGetInt32(FunctionCall2Coll(&pred->cmp_values, InvalidOid, x, y));
}

/* A copy that lives until reset; varlenas come out plain. */
static Datum
copy_value(Datum value, int16 typlen, bool typbyval)
{
	if (typlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, typbyval, typlen);
}

/* The array of ANY or ALL: its values sorted, each once. */
static void
set_array_values(StPred *pred, Datum array)
{
	ArrayType  *arr = DatumGetArrayTypeP(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *elems;
	bool	   *nulls;
	int			nelems;
	int			n = 0;

	get_typlenbyvalalign(ARR_ELEMTYPE(arr), &typlen, &typbyval, &typalign);
	deconstruct_array(arr, ARR_ELEMTYPE(arr), typlen, typbyval, typalign,
					  &elems, &nulls, &nelems);
	pred->has_null = false;
	for (int i = 0; i < nelems; i++)
	{
		if (nulls[i])
			pred->has_null = true;
		else
			elems[n++] = copy_value(elems[i], typlen, typbyval);
	}
	pfree(nulls);

	qsort_arg(elems, n, sizeof(Datum), compare_values, pred);
	pred->nvalues = 0;
	for (int i = 0; i < n; i++)
	{
		if (i > 0 && compare_values(&elems[i], &elems[pred->nvalues - 1], pred) == 0)
			continue;
		elems[pred->nvalues++] = elems[i];
	}
	pred->values = elems;

	/* column < ANY (array) means column < the greatest of them, and so on. */
	if (pred->nvalues > 0)
	{
		bool		less = pred->strategy == BTLessStrategyNumber ||
			pred->strategy == BTLessEqualStrategyNumber;

		pred->value = elems[less == (pred->kind == ST_PRED_ANY) ? pred->nvalues - 1 : 0];
	}
}

/*
 * Replaces LIKE's pattern by the literal bytes that it starts with, a text
 * value.  Exact if nothing but one % comes behind them.
 */
static void
set_like_prefix(StPred *pred)
{
	StStr		pat = st_string_bytes(pred->value, TEXTOID);
	text	   *result = palloc(VARHDRSZ + pat.len);
	uint8	   *dst = (uint8 *) VARDATA(result);
	uint32		len = 0;
	uint32		i;

	for (i = 0; i < pat.len; i++)
	{
		if (pat.data[i] == '%' || pat.data[i] == '_')
			break;
		if (pat.data[i] == '\\' && ++i >= pat.len)
			break;
		dst[len++] = pat.data[i];
	}
	SET_VARSIZE(result, VARHDRSZ + len);
	pred->value = PointerGetDatum(result);
	pred->lossy = i + 1 != pat.len || pat.data[i] != '%';
}

void
st_pred_evaluate(StPred *pred)
{
	Datum		value;
	MemoryContext oldcontext;
	int16		typlen;
	bool		typbyval;

	if (pred->evaluated || pred->expr == NULL)
		return;
	value = ExecEvalExprSwitchContext(pred->expr, pred->econtext, &pred->isnull);
	pred->evaluated = true;
	pred->converted = NULL;
	if (pred->isnull)
		return;

	oldcontext = MemoryContextSwitchTo(pred->values_mcxt);
	if (pred->kind == ST_PRED_ANY || pred->kind == ST_PRED_ALL)
		set_array_values(pred, value);
	else
	{
		get_typlenbyval(pred->valtype, &typlen, &typbyval);
		pred->value = copy_value(value, typlen, typbyval);
		if (pred->like)
			set_like_prefix(pred);
	}
	MemoryContextSwitchTo(oldcontext);
}

void
st_pred_reset(StPred *pred)
{
	for (int i = 0; i < pred->nargs; i++)
		st_pred_reset(pred->args[i]);
	if (pred->expr)
		pred->evaluated = false;
}
