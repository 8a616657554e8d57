/*-------------------------------------------------------------------------
 *
 * vx_path.c
 *	  Paths of jsonb documents: the operators themselves, what they do to the
 *	  bytes of a document, and the vector of a path.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "vx_path.h"

/* The text of a scalar, but JSON null. */
static Datum
scalar_text(const JsonbValue *v, bool *isnull)
{
	switch (v->type)
	{
		case jbvString:
			return PointerGetDatum(cstring_to_text_with_len(v->val.string.val,
															v->val.string.len));
		case jbvNumeric:
			return CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(numeric_out,
																		   NumericGetDatum(v->val.numeric))));
		case jbvBool:
			return CStringGetTextDatum(v->val.boolean ? "t" : "f");
		default:
			*isnull = true;
			return (Datum) 0;
	}
}

/* The only item that the json path gives. */
static Datum
call_json_path(VxPath *path, int nkeys, Datum value, bool *isnull)
{
	Datum		vars = DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"));
	Jsonb	   *items = DatumGetJsonbP(DirectFunctionCall4(jsonb_path_query_array, value,
														   path->json_paths[nkeys], vars,
														   BoolGetDatum(true)));
	JsonbValue *item;

	*isnull = JB_ROOT_COUNT(items) != 1;
	if (*isnull)
		return (Datum) 0;
	item = getIthJsonbValueFromContainer(&items->root, 0);
	if (path->kind == VX_PATH_TEXT)
		return scalar_text(item, isnull);
	return JsonbPGetDatum(JsonbValueToJsonb(item));
}

static Datum
call_steps(VxPath *path, int nkeys, Datum value, bool *isnull)
{
	*isnull = false;
	for (int i = 0; i < path->nsteps && !*isnull; i++)
	{
		VxPathStep *step = &path->steps[i];
		LOCAL_FCINFO(fcinfo, 2);

		if (nkeys > 0 && nkeys >= step->nkeys)
		{
			nkeys -= step->nkeys;
			continue;
		}
		InitFunctionCallInfoData(*fcinfo, &step->function, 2, step->collation, NULL, NULL);
		fcinfo->args[0].value = value;
		fcinfo->args[0].isnull = false;
		fcinfo->args[1].value = nkeys > 0 ? step->behind[nkeys] : step->arg;
		fcinfo->args[1].isnull = false;
		value = FunctionCallInvoke(fcinfo);
		*isnull = fcinfo->isnull;
		nkeys = 0;
	}
	return value;
}

Datum
vx_path_call_behind(VxPath *path, int nkeys, Datum value, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(path->call_mcxt);

	value = path->lax ? call_json_path(path, nkeys, value, isnull) :
		call_steps(path, nkeys, value, isnull);
	if (path->kind == VX_PATH_PRINT && !*isnull)
		value = CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(jsonb_out, value)));
	MemoryContextSwitchTo(old);
	if (path->kind < VX_PATH_EXISTS && !*isnull)
		value = datumCopy(value, false, -1);
	MemoryContextReset(path->call_mcxt);
	return value;
}

Datum
vx_path_call(VxPath *path, Datum document, bool *isnull)
{
	return vx_path_call_behind(path, 0, document, isnull);
}

VxVector *
vx_path_begin(VxPath *path, VxRep rep, int n)
{
	VxVector   *v = &path->v;

	v->rep = rep;
	v->n = n;
	v->has_nulls = false;
	v->constant = false;
	v->scale = 0;
	v->typlen = rep == VX_REP_INT64 ? 1 : -1;
	memset(&path->text, 0, sizeof(path->text));
	v->u.i64 = path->words;
	memset(v->valid, 0xFF, sizeof(v->valid));
	return v;
}

VxVector *
vx_path_begin_put(VxPath *path, int n)
{
	path->coded = path->dictionary.values != NULL;
	return vx_path_begin(path, path->kind >= VX_PATH_EXISTS ? VX_REP_INT64 : VX_REP_DATUM, n);
}

const VxVector *
vx_path_finish(VxPath *path)
{
	if (path->coded)
	{
		path->v.rep = VX_REP_CODE;
		path->v.u.code = path->codes;
		path->v.dict = &path->dictionary.dict;
	}
	return &path->v;
}

/* ---- bytes of documents ---- */

/*
 * The value behind the keys; item may be NULL, if it only matters whether
 * there is one.  ST_NOTFIT: there is none.  ST_CORRUPT: the operator is to say.
 */
static pg_attribute_always_inline StStatus
find_value(const uint8 *document, uint32 len, int nkeys, const StStr *keys,
		   StJsonbHint *hints, StJsonbItem *item)
{
	int			last = nkeys - 1;
	StJsonbItem inner;

	for (int i = 0; i < last; i++)
	{
		StStatus	status = st_jsonb_find(document, len, keys[i], &hints[i], &inner);

		if (status != ST_OK)
			return status;
		if (inner.type != ST_JSONB_CONTAINER)
			return ST_NOTFIT;
		document = inner.data;
		len = inner.len;
	}
	return st_jsonb_find(document, len, keys[last], &hints[last], item);
}

static bool
is_object(const StJsonbItem *item)
{
	StJsonb		c;

	return item->type == ST_JSONB_CONTAINER &&
		st_jsonb_open(item->data, item->len, &c) == ST_OK && c.object;
}

bool
vx_path_touches(const VxPath *path, const uint8 *document, uint32 len)
{
	for (int i = 0; i < path->nplaces; i++)
	{
		const VxPathPlace *place = &path->places[i];
		StJsonbItem item;
		StStatus	status;

		if (place->nkeys == 0)
			return true;
		status = find_value(document, len, place->nkeys, place->keys, place->hints,
							place->use == VX_USE_NO_OBJECT ? &item : NULL);
		if (status != ST_NOTFIT &&
			!(status == ST_OK && place->use == VX_USE_NO_OBJECT && is_object(&item)))
			return true;
	}
	return false;
}

bool
vx_has_json_null(const uint8 *container, uint32 len)
{
	StJsonb		c;
	StJsonbCursor at = {0, 0};
	StJsonbItem item;

	check_stack_depth();
	if (st_jsonb_open(container, len, &c) != ST_OK ||
		(c.object && st_jsonb_skip_keys(&c, &at) != ST_OK))
		return true;
	for (uint32 i = 0; i < c.count; i++)
	{
		if (st_jsonb_next(&c, &at, &item) != ST_OK || item.type == ST_JSONB_NULL ||
			(item.type == ST_JSONB_CONTAINER && vx_has_json_null(item.data, item.len)))
			return true;
	}
	return false;
}

/* An aligned copy of a numeric or container, behind room bytes. */
static void *
item_copy(const StJsonbItem *item, Size room)
{
	char	   *copy = palloc(room + item->len);

	memcpy(copy + room, item->data, item->len);
	return copy;
}

static pg_noinline bool
numerics_equal(const StJsonbItem *a, const StJsonbItem *b)
{
	return DatumGetBool(DirectFunctionCall2(numeric_eq, PointerGetDatum(item_copy(a, 0)),
											PointerGetDatum(item_copy(b, 0))));
}

static inline bool
items_equal(const StJsonbItem *a, const StJsonbItem *b)
{
	return a->type == b->type &&
		((a->len == b->len && memcmp(a->data, b->data, a->len) == 0) ||
		 (a->type == ST_JSONB_NUMERIC && numerics_equal(a, b)));
}

/* ST_OK: the document passes all tests.  Else as find_value(). */
static pg_attribute_always_inline StStatus
run_tests(const VxPath *path, const uint8 *document, uint32 len)
{
	for (int i = 0; i < path->ntests; i++)
	{
		VxPathTest *test = &path->tests[i];
		StJsonbItem item;
		StStatus	status = find_value(document, len, test->nkeys, test->keys,
										test->hints, &item);

		if (status != ST_OK)
			return status;
		if (!items_equal(&item, &test->value))
			return ST_NOTFIT;
	}
	return ST_OK;
}

static Datum
item_json(const StJsonbItem *item)
{
	JsonbValue	value;
	Jsonb	   *container;

	switch (item->type)
	{
		case ST_JSONB_STRING:
			value.type = jbvString;
			value.val.string.val = (char *) item->data;
			value.val.string.len = item->len;
			break;
		case ST_JSONB_NUMERIC:
			value.type = jbvNumeric;
			value.val.numeric = item_copy(item, 0);
			break;
		case ST_JSONB_CONTAINER:
			container = item_copy(item, VARHDRSZ);
			SET_VARSIZE(container, VARHDRSZ + item->len);
			return JsonbPGetDatum(container);
		case ST_JSONB_NULL:
			value.type = jbvNull;
			break;
		default:
			value.type = jbvBool;
			value.val.boolean = item->type == ST_JSONB_TRUE;
			break;
	}
	return JsonbPGetDatum(JsonbValueToJsonb(&value));
}

/*
 * A string's value in the dictionary, and its code.  Once the dictionary has
 * given up, or a value that is no string has come, there are no codes.
 */
static bool
string_code(VxPath *path, int row, const StJsonbItem *item, Datum *value)
{
	struct
	{
		int32		header;
		char		data[VX_CODES_MAX_LENGTH];
	}			text;

	path->coded = path->coded && item->type == ST_JSONB_STRING &&
		item->len <= VX_CODES_MAX_LENGTH;
	if (!path->coded)
		return false;
	SET_VARSIZE(&text, VARHDRSZ + item->len);
	memcpy(text.data, item->data, item->len);
	path->coded = vx_codes_find(&path->dictionary, PointerGetDatum(&text),
								&path->codes[row]);
	if (path->coded)
		*value = path->dictionary.dict.values[path->codes[row]];
	return path->coded;
}

static Datum
item_print(VxPath *path, const StJsonbItem *item)
{
	vx_text_begin(&path->text);
	vx_text_item(&path->text, item);
	return vx_text_finish(&path->text);
}

/* But JSON null. */
static Datum
item_text(VxPath *path, const StJsonbItem *item)
{
	return item->type != ST_JSONB_STRING ? item_print(path, item) :
		PointerGetDatum(cstring_to_text_with_len((const char *) item->data, item->len));
}

static pg_attribute_always_inline void
put(VxPath *path, VxVector *v, int row, const uint8 *document, uint32 len)
{
	StJsonbItem item;
	bool		boolean = path->kind >= VX_PATH_EXISTS;
	bool		isnull = false;
	StStatus	status;
	Datum		value = (Datum) 0;

	if (path->kind == VX_PATH_CONTAINS)
		status = run_tests(path, document, len);
	else if (vx_path_is_whole(path))
	{
		bool		complete = !vx_path_touches(path, document, len) &&
			!(path->no_nulls && vx_has_json_null(document, len));

		item = (StJsonbItem) {ST_JSONB_CONTAINER, len, document};
		status = complete == (path->kind == VX_PATH_REST) ? ST_NOTFIT : ST_OK;
	}
	else
		status = find_value(document, len, path->nkeys, path->keys, path->hints,
							boolean ? NULL : &item);
	if (status != ST_OK && status != ST_NOTFIT)
	{
		MemoryContext old = MemoryContextSwitchTo(path->call_mcxt);

		path->coded = false;
		item = (StJsonbItem) {ST_JSONB_CONTAINER, len, document};
		value = item_json(&item);
		MemoryContextSwitchTo(old);
		value = vx_path_call(path, value, &isnull);
		if (boolean && !isnull)
			value = (Datum) DatumGetBool(value);
	}
	else if (boolean)
		value = (Datum) (status == ST_OK);
	else if (status == ST_NOTFIT)
		isnull = true;
	else if (path->kind == VX_PATH_JSON || path->kind == VX_PATH_LESS ||
			 path->kind == VX_PATH_REST)
		value = item_json(&item);
	else if (path->kind == VX_PATH_PRINT)
		value = item_print(path, &item);
	else if (item.type == ST_JSONB_NULL ||
			 (path->lax && item.type == ST_JSONB_CONTAINER))
		isnull = true;
	else if (path->lax && (item.type == ST_JSONB_TRUE || item.type == ST_JSONB_FALSE))
	{
		path->coded = false;
		value = CStringGetTextDatum(item.type == ST_JSONB_TRUE ? "t" : "f");
	}
	else if (!path->coded || !string_code(path, row, &item, &value))
		value = item_text(path, &item);
	if (isnull)
		vx_path_set_null(v, row);
	v->u.datum[row] = value;
}

void
vx_path_put(VxPath *path, VxVector *v, int row, const uint8 *document, uint32 len)
{
	put(path, v, row, document, len);
}

void
vx_path_put_run(VxPath *path, VxVector *v, const uint64 *rows, uint32 first, uint32 last,
				const uint8 *documents, const uint32 *lens)
{
	for (uint32 i = first; i < last; documents += lens[i++])
		if ((rows[i >> 6] & (UINT64CONST(1) << (i & 63))) != 0 && !vx_vector_isnull(v, i))
			put(path, v, i, documents, lens[i]);
}
