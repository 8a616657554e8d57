/*-------------------------------------------------------------------------
 *
 * vx_elements.c
 *	  Elements of a value, one after another: of an array, or of a document.
 *
 * What functions that return sets of them give, by the server's own iterators.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "st_compat.h"
#include "vx_elements.h"

VxElementKind
vx_elements_kind(const Expr *expr)
{
	const FuncExpr *call = (const FuncExpr *) expr;

	if (!IsA(call, FuncExpr))
		return VX_ELEMENTS_NONE;
	switch (call->funcid)
	{
		case F_UNNEST_ANYARRAY:
			return type_is_rowtype(call->funcresulttype) ||
				get_typlen(call->funcresulttype) == -2 ? VX_ELEMENTS_NONE : VX_ELEMENTS_ARRAY;
		case F_JSONB_OBJECT_KEYS:
		case F_JSONB_EACH:
		case F_JSONB_EACH_TEXT:
			return VX_ELEMENTS_KEYS;
		case F_JSONB_ARRAY_ELEMENTS:
			return VX_ELEMENTS_JSON;
		case F_JSONB_ARRAY_ELEMENTS_TEXT:
			return VX_ELEMENTS_TEXT;
		default:
			return VX_ELEMENTS_NONE;
	}
}

void
vx_elements_init(VxElements *e, const FuncExpr *call)
{
	e->kind = vx_elements_kind((const Expr *) call);
	e->function = get_func_name(call->funcid);
	e->typlen = -1;
	if (e->kind == VX_ELEMENTS_ARRAY)
		get_typlenbyvalalign(call->funcresulttype, &e->typlen, &e->byval, &e->align);
}

static void
check_object(const VxElements *e, const Jsonb *document)
{
	if (JB_ROOT_IS_OBJECT(document))
		return;
	if (strcmp(e->function, "jsonb_object_keys") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 JB_ROOT_IS_SCALAR(document) ?
				 errmsg("cannot call %s on a scalar", e->function) :
				 errmsg("cannot call %s on an array", e->function)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("cannot call %s on a non-object", e->function)));
}

static void
check_array(const Jsonb *document)
{
	if (JB_ROOT_IS_SCALAR(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot extract elements from a scalar")));
	if (!JB_ROOT_IS_ARRAY(document))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot extract elements from an object")));
}

void
vx_elements_begin(VxElements *e, Datum value)
{
	Jsonb	   *document;
	JsonbValue	v;

	if (e->kind == VX_ELEMENTS_ARRAY)
	{
		AnyArrayType *array = DatumGetAnyArrayP(value);

		e->nitems = ArrayGetNItems(AARR_NDIM(array), AARR_DIMS(array));
		array_iter_setup(&e->array, array
						 ST_SINCE_19(, e->typlen, e->byval, e->align));
		return;
	}
	document = DatumGetJsonbP(value);
	if (e->kind == VX_ELEMENTS_KEYS)
		check_object(e, document);
	else
		check_array(document);
	e->nitems = JB_ROOT_COUNT(document);
	e->json = JsonbIteratorInit(&document->root);
	(void) JsonbIteratorNext(&e->json, &v, true);
}

/* As ->> gives it. */
static Datum
text_of(JsonbValue *v, bool *isnull)
{
	switch (v->type)
	{
		case jbvNull:
			*isnull = true;
			return (Datum) 0;
		case jbvString:
			return PointerGetDatum(cstring_to_text_with_len(v->val.string.val,
															v->val.string.len));
		case jbvNumeric:
			return CStringGetTextDatum(DatumGetCString(
				DirectFunctionCall1(numeric_out, NumericGetDatum(v->val.numeric))));
		case jbvBool:
			return CStringGetTextDatum(v->val.boolean ? "true" : "false");
		default:
			return CStringGetTextDatum(JsonbToCString(NULL, v->val.binary.data,
													  v->val.binary.len));
	}
}

Datum
vx_elements_next(VxElements *e, int i, bool *isnull)
{
	JsonbValue	v;
	JsonbValue	skipped;

	if (e->kind == VX_ELEMENTS_ARRAY)
		return array_iter_next(&e->array, isnull, i
							   ST_UNTIL_18(, e->typlen, e->byval, e->align));
	*isnull = false;
	(void) JsonbIteratorNext(&e->json, &v, true);
	if (e->kind == VX_ELEMENTS_JSON)
		return JsonbPGetDatum(JsonbValueToJsonb(&v));
	if (e->kind == VX_ELEMENTS_KEYS)
		(void) JsonbIteratorNext(&e->json, &skipped, true);
	return text_of(&v, isnull);
}
