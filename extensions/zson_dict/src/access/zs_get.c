/*-------------------------------------------------------------------------
 *
 * zs_get.c
 *	  Values by key, index and path, and whether keys are there: operators
 *	  ->, ->>, #>, #>>, ?, ?|, ?& of type zson.
 *
 * They decode what they return and nothing else.  What jsonb does with odd
 * arguments (an index into an object, a path through a scalar) is done here,
 * too.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/string.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "zs_datum.h"
#include "zs_get.h"

PG_FUNCTION_INFO_V1(zson_object_field);
PG_FUNCTION_INFO_V1(zson_object_field_text);
PG_FUNCTION_INFO_V1(zson_array_element);
PG_FUNCTION_INFO_V1(zson_array_element_text);
PG_FUNCTION_INFO_V1(zson_extract_path);
PG_FUNCTION_INFO_V1(zson_extract_path_text);
PG_FUNCTION_INFO_V1(zson_exists);
PG_FUNCTION_INFO_V1(zson_exists_any);
PG_FUNCTION_INFO_V1(zson_exists_all);
PG_FUNCTION_INFO_V1(zson_typeof);
PG_FUNCTION_INFO_V1(zson_array_length);

static StStr
text_bytes(Datum d)
{
	text	   *t = (text *) DatumGetPointer(d);

	if (unlikely(VARATT_IS_EXTERNAL(t) || VARATT_IS_COMPRESSED(t)))
		t = DatumGetTextPP(d);
	return (StStr) {(const uint8_t *) VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t)};
}

/* How a value is given back. */
typedef Datum (*Give) (FunctionCallInfo fcinfo, ZsDoc *z, const StZsonValue *v);

static Datum
return_zson(FunctionCallInfo fcinfo, ZsDoc *z, const StZsonValue *v)
{
	PG_RETURN_POINTER(zs_value_zson(z, v));
}

static Datum
return_text(FunctionCallInfo fcinfo, ZsDoc *z, const StZsonValue *v)
{
	text	   *t = zs_value_text(z, v);

	if (t == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(t);
}

Datum
zson_object_field(PG_FUNCTION_ARGS)
{
	StStr		key = text_bytes(PG_GETARG_DATUM(1));
	ZsSpot		spot;
	StZsonValue v;
	ZsDoc		z;

	switch (zs_quick_field(PG_GETARG_DATUM(0), &key, &spot))
	{
		case ZS_QUICK_FOUND:
			PG_RETURN_POINTER(zs_quick_zson(&spot));
		case ZS_QUICK_ABSENT:
			PG_RETURN_NULL();
		case ZS_QUICK_NO:
			break;
	}
	zs_open(&z, PG_GETARG_DATUM(0));
	if (!zs_field(&z, &key, &v))
		PG_RETURN_NULL();
	return return_zson(fcinfo, &z, &v);
}

Datum
zson_object_field_text(PG_FUNCTION_ARGS)
{
	StStr		key = text_bytes(PG_GETARG_DATUM(1));
	ZsSpot		spot;
	text	   *t;
	StZsonValue v;
	ZsDoc		z;

	switch (zs_quick_field(PG_GETARG_DATUM(0), &key, &spot))
	{
		case ZS_QUICK_FOUND:
			if ((t = zs_quick_text(&spot)) != NULL)
				PG_RETURN_TEXT_P(t);
			break;
		case ZS_QUICK_ABSENT:
			PG_RETURN_NULL();
		case ZS_QUICK_NO:
			break;
	}
	zs_open(&z, PG_GETARG_DATUM(0));
	if (!zs_field(&z, &key, &v))
		PG_RETURN_NULL();
	return return_text(fcinfo, &z, &v);
}

static Datum
get_element(FunctionCallInfo fcinfo, Give give)
{
	StZsonValue v;
	ZsDoc		z;

	zs_open(&z, PG_GETARG_DATUM(0));
	if (!zs_element(&z, PG_GETARG_INT32(1), &v))
		PG_RETURN_NULL();
	return give(fcinfo, &z, &v);
}

Datum
zson_array_element(PG_FUNCTION_ARGS)
{
	return get_element(fcinfo, return_zson);
}

Datum
zson_array_element_text(PG_FUNCTION_ARGS)
{
	return get_element(fcinfo, return_text);
}

/* An element of a path as an index: false if it is none. */
static bool
path_index(const StStr *step, int64 *index)
{
	char	   *s = pnstrdup((const char *) step->data, step->len);
	char	   *end;

	errno = 0;
	*index = strtoint(s, &end, 10);
	return end != s && *end == '\0' && errno == 0;
}

/* One step from *v down; false: there is nothing. */
static StStatus
path_step(ZsDoc *z, StZsonValue *v, const StStr *step, bool *found)
{
	StZsonValue from = *v;
	int64		index;

	*found = false;
	if (from.kind == ST_ZSON_OBJECT)
		return st_zson_find(&z->doc, &from, step,
							st_zson_dict_key(z->doc.dict, step->data,
											 step->len),
							found, v);
	if (from.kind != ST_ZSON_ARRAY || !path_index(step, &index))
		return ST_OK;
	if (index < 0)
		index += from.count;
	if (index < 0 || index >= from.count)
		return ST_OK;
	*found = true;
	return st_zson_at(&z->doc, &from, (uint32) index, v);
}

static bool
walk_path(ZsDoc *z, const Datum *steps, int n, StZsonValue *v)
{
	StStatus	status;
	bool		found;

	do
	{
		*v = z->root;
		found = true;
		status = ST_OK;
		for (int i = 0; i < n && found && status == ST_OK; i++)
		{
			StStr		step = text_bytes(steps[i]);

			status = path_step(z, v, &step, &found);
		}
		if (found && status == ST_OK)
			status = zs_is_here(z, v);
	} while (status != ST_OK && zs_more(z, status));
	return found;
}

static Datum
get_path(FunctionCallInfo fcinfo, Give give)
{
	ArrayType  *path = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *steps;
	bool	   *nulls;
	int			n;
	StZsonValue v;
	ZsDoc		z;

	/* as jsonb: a null in the path gives null, whatever it would lead to */
	if (array_contains_nulls(path))
		PG_RETURN_NULL();
	deconstruct_array(path, TEXTOID, -1, false, TYPALIGN_INT, &steps, &nulls,
					  &n);
	zs_open(&z, PG_GETARG_DATUM(0));
	if (!walk_path(&z, steps, n, &v))
		PG_RETURN_NULL();
	return give(fcinfo, &z, &v);
}

Datum
zs_path_value(Datum value, const Datum *steps, int n, bool *isnull)
{
	StZsonValue v;
	ZsDoc		z;

	zs_open(&z, value);
	*isnull = !walk_path(&z, steps, n, &v);
	return *isnull ? (Datum) 0 : PointerGetDatum(zs_value_zson(&z, &v));
}

Datum
zson_extract_path(PG_FUNCTION_ARGS)
{
	return get_path(fcinfo, return_zson);
}

Datum
zson_extract_path_text(PG_FUNCTION_ARGS)
{
	return get_path(fcinfo, return_text);
}

/* Is one of the root's strings the key? */
static StStatus
array_has_string(ZsDoc *z, const StStr *key, bool *found)
{
	StZsonCursor c;
	StZsonValue root = z->root;
	StZsonValue v;

	*found = false;
	st_zson_begin(&root, &c);
	while (c.i < root.count && !*found)
	{
		StStatus	status = st_zson_next(&z->doc, &c, NULL, &v);

		CHECK_FOR_INTERRUPTS();
		if (status != ST_OK)
			return status;
		*found = v.kind == ST_ZSON_STRING && zs_value_equals(z, &v, key);
	}
	return ST_OK;
}

/* Key of an object, string of an array, or the string itself. */
static bool
has_key(ZsDoc *z, const StStr *key)
{
	StStatus	status = ST_OK;
	bool		found = false;

	do
	{
		switch (z->root.kind)
		{
			case ST_ZSON_OBJECT:
				return zs_field(z, key, NULL);
			case ST_ZSON_ARRAY:
				status = array_has_string(z, key, &found);
				break;
			case ST_ZSON_STRING:
				return zs_value_equals(z, &z->root, key);
			default:
				return false;
		}
	} while (status != ST_OK && zs_more(z, status));
	return found;
}

Datum
zson_exists(PG_FUNCTION_ARGS)
{
	StStr		key = text_bytes(PG_GETARG_DATUM(1));
	ZsSpot		spot;
	ZsQuick		quick;
	ZsDoc		z;

	quick = zs_quick_field(PG_GETARG_DATUM(0), &key, &spot);
	if (quick != ZS_QUICK_NO)
		PG_RETURN_BOOL(quick == ZS_QUICK_FOUND);
	zs_open(&z, PG_GETARG_DATUM(0));
	PG_RETURN_BOOL(has_key(&z, &key));
}

static bool
exists_many(FunctionCallInfo fcinfo, bool all)
{
	ArrayType  *keys = PG_GETARG_ARRAYTYPE_P(1);
	Datum	   *elems;
	bool	   *nulls;
	int			n;
	ZsDoc		z;

	deconstruct_array(keys, TEXTOID, -1, false, TYPALIGN_INT, &elems, &nulls,
					  &n);
	zs_open(&z, PG_GETARG_DATUM(0));
	for (int i = 0; i < n; i++)
	{
		StStr		key;

		if (nulls[i])
			continue;
		key = text_bytes(elems[i]);
		if (has_key(&z, &key) != all)
			return !all;
	}
	return all;
}

Datum
zson_exists_any(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(exists_many(fcinfo, false));
}

Datum
zson_exists_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(exists_many(fcinfo, true));
}

Datum
zson_typeof(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"null", "string", "number", "boolean", "boolean", "array", "object"
	};
	ZsDoc		z;

	zs_open(&z, PG_GETARG_DATUM(0));
	PG_RETURN_TEXT_P(cstring_to_text(names[z.root.kind]));
}

Datum
zson_array_length(PG_FUNCTION_ARGS)
{
	ZsDoc		z;

	zs_open(&z, PG_GETARG_DATUM(0));
	if (z.root.kind == ST_ZSON_ARRAY)
		PG_RETURN_INT32(z.root.count);
	if (z.root.kind == ST_ZSON_OBJECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot get array length of a non-array")));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("cannot get array length of a scalar")));
}
