/*-------------------------------------------------------------------------
 *
 * zs_subscript.c
 *	  Subscripts of type zson: x['key'], x[0]['key'], and assignment to them.
 *
 * A subscript is text or an integer, taken as a step of a path, as in #>.
 * What is read, and assigned, is zson.  Assignment goes through jsonb.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/execExpr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/subscripting.h"
#include "parser/parse_coerce.h"
#include "parser/parse_expr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "zs_datum.h"
#include "zs_get.h"

PG_FUNCTION_INFO_V1(zson_subscript_handler);

/* Steps of the path; text Datums. */
typedef struct Workspace
{
	Datum	   *steps;
	bool	   *is_int;
} Workspace;

static void
transform(SubscriptingRef *ref, List *indirection, ParseState *pstate,
		  bool is_slice, bool is_assignment)
{
	List	   *steps = NIL;
	ListCell   *lc;

	foreach(lc, indirection)
	{
		A_Indices  *ai = lfirst_node(A_Indices, lc);
		Node	   *expr;
		Node	   *step;
		Oid			type;

		if (is_slice)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("zson subscript does not support slices"),
					 parser_errposition(pstate,
										exprLocation(ai->uidx ? ai->uidx :
													 ai->lidx))));
		expr = transformExpr(pstate, ai->uidx, pstate->p_expr_kind);
		type = exprType(expr);
		step = NULL;
		if (type == INT4OID || type == TEXTOID)
			step = expr;
		else if (type == UNKNOWNOID || can_coerce_type(1, &type,
													   (Oid[]) {TEXTOID},
													   COERCION_IMPLICIT))
			step = coerce_type(pstate, expr, type, TEXTOID, -1,
							   COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
		else if (can_coerce_type(1, &type, (Oid[]) {INT4OID},
								 COERCION_IMPLICIT))
			step = coerce_type(pstate, expr, type, INT4OID, -1,
							   COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
		if (step == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("subscript type %s is not supported",
							format_type_be(type)),
					 errhint("zson subscript must be coercible to either integer or text."),
					 parser_errposition(pstate, exprLocation(expr))));
		steps = lappend(steps, step);
	}
	ref->refupperindexpr = steps;
	ref->reflowerindexpr = NIL;
	ref->refrestype = ref->refcontainertype;
	ref->reftypmod = -1;
}

/* Makes the path; a null subscript reads null and cannot be assigned to. */
static bool
check_subscripts(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *sbs = op->d.sbsref_subscript.state;
	Workspace  *ws = sbs->workspace;

	for (int i = 0; i < sbs->numupper; i++)
	{
		if (sbs->upperindexnull[i])
		{
			if (sbs->isassignment)
				ereport(ERROR,
						(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						 errmsg("zson subscript in assignment must not be null")));
			*op->resnull = true;
			return false;
		}
		if (ws->is_int[i])
			ws->steps[i] =
				PointerGetDatum(cstring_to_text(DatumGetCString(DirectFunctionCall1(int4out,
																					sbs->upperindex[i]))));
		else
			ws->steps[i] = sbs->upperindex[i];
	}
	return true;
}

static void
fetch(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *sbs = op->d.sbsref.state;
	Workspace  *ws = sbs->workspace;

	*op->resvalue = zs_path_value(*op->resvalue, ws->steps, sbs->numupper,
								  op->resnull);
}

static void
fetch_old(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *sbs = op->d.sbsref.state;
	Workspace  *ws = sbs->workspace;

	sbs->prevnull = *op->resnull;
	sbs->prevvalue = (Datum) 0;
	if (!*op->resnull)
		sbs->prevvalue = zs_path_value(*op->resvalue, ws->steps,
									   sbs->numupper, &sbs->prevnull);
}

static void
assign(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	SubscriptingRefState *sbs = op->d.sbsref.state;
	Workspace  *ws = sbs->workspace;
	JsonbValue	value;
	Jsonb	   *target;

	if (sbs->replacenull)
		value.type = jbvNull;
	else
		JsonbToJsonbValue(zs_to_jsonb(sbs->replacevalue), &value);
	if (*op->resnull)
	{
		/* a document is made: an array if the first subscript is a number */
		const char *empty = ws->is_int[0] ? "[]" : "{}";

		target = DatumGetJsonbP(DirectFunctionCall1(jsonb_in,
													CStringGetDatum(empty)));
	}
	else
		target = zs_to_jsonb(*op->resvalue);
	*op->resvalue =
		PointerGetDatum(zs_from_jsonb(DatumGetJsonbP(jsonb_set_element(target,
																	   ws->steps,
																	   sbs->numupper,
																	   &value))));
	*op->resnull = false;
}

static void
exec_setup(const SubscriptingRef *ref, SubscriptingRefState *sbs,
		   SubscriptExecSteps *methods)
{
	int			n = list_length(ref->refupperindexpr);
	Workspace  *ws = palloc(sizeof(Workspace));
	ListCell   *lc;
	int			i = 0;

	ws->steps = palloc(n * sizeof(Datum));
	ws->is_int = palloc(n * sizeof(bool));
	foreach(lc, ref->refupperindexpr)
		ws->is_int[i++] = exprType(lfirst(lc)) == INT4OID;
	sbs->workspace = ws;
	methods->sbs_check_subscripts = check_subscripts;
	methods->sbs_fetch = fetch;
	methods->sbs_assign = assign;
	methods->sbs_fetch_old = fetch_old;
}

Datum
zson_subscript_handler(PG_FUNCTION_ARGS)
{
	static const SubscriptRoutines routines = {
		.transform = transform,
		.exec_setup = exec_setup,
		.fetch_strict = true,
		.fetch_leakproof = false,
		.store_leakproof = false
	};

	PG_RETURN_POINTER(&routines);
}
