/*-------------------------------------------------------------------------
 *
 * zs_contains.c
 *	  Operators @> and <@ of type zson.
 *
 * The left side is searched as it is stored; the right side, which is mostly
 * the same for all rows, is turned into jsonb once.  What contains what is
 * jsonb's rule: an object's pairs, an array's elements in any order and
 * number, and an array at the root may contain a scalar.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "zs_datum.h"

PG_FUNCTION_INFO_V1(zson_contains);
PG_FUNCTION_INFO_V1(zson_contained);

/* The right side of the last call. */
typedef struct Template
{
	struct varlena *stored;
	Jsonb	   *jb;
} Template;

static StStatus contains(ZsDoc *z, const StZsonValue *v, JsonbContainer *jc,
						 bool *result);

/* Do num * 10^-scale and num2 * 10^-scale2 differ in zeros at most? */
static bool
same_decimal(int64 num, int scale, int64 num2, int scale2)
{
	while (scale > scale2 && num % 10 == 0)
	{
		num /= 10;
		scale--;
	}
	while (scale2 > scale && num2 % 10 == 0)
	{
		num2 /= 10;
		scale2--;
	}
	return scale == scale2 && num == num2;
}

static bool
equals_number(const StZsonValue *v, Numeric numeric)
{
	int64_t		num;
	int			scale;

	if (v->form != ST_ZSON_NUMERIC &&
		st_zson_numeric_read((const uint8_t *) VARDATA_ANY(numeric),
							 VARSIZE_ANY_EXHDR(numeric), &num, &scale))
		return same_decimal(v->num, v->form == ST_ZSON_DECIMAL ? v->scale : 0,
							num, scale);
	return DatumGetBool(DirectFunctionCall2(numeric_eq,
											NumericGetDatum(zs_value_numeric(v)),
											NumericGetDatum(numeric)));
}

static bool
equals_string(ZsDoc *z, const StZsonValue *v, const JsonbValue *jv)
{
	StStr		s;
	bool		result;

	if (st_zson_string_bound(v) < (Size) jv->val.string.len)
		return false;
	s = zs_value_string(z, v);
	result = s.len == jv->val.string.len &&
		memcmp(s.data, jv->val.string.val, s.len) == 0;
	if (v->form != ST_ZSON_PLAIN)
		pfree((void *) s.data);
	return result;
}

static bool
equals_scalar(ZsDoc *z, const StZsonValue *v, const JsonbValue *jv)
{
	switch (jv->type)
	{
		case jbvNull:
			return v->kind == ST_ZSON_NULL;
		case jbvBool:
			return v->kind == (jv->val.boolean ? ST_ZSON_TRUE : ST_ZSON_FALSE);
		case jbvNumeric:
			return v->kind == ST_ZSON_NUMBER &&
				equals_number(v, jv->val.numeric);
		case jbvString:
			return v->kind == ST_ZSON_STRING && equals_string(z, v, jv);
		default:
			return false;
	}
}

/* One value against one of the template. */
static StStatus
contains_value(ZsDoc *z, const StZsonValue *v, const JsonbValue *jv,
			   bool *result)
{
	if (jv->type == jbvBinary)
		return contains(z, v, jv->val.binary.data, result);
	*result = equals_scalar(z, v, jv);
	return ST_OK;
}

static StStatus
contains_pairs(ZsDoc *z, const StZsonValue *v, JsonbContainer *jc,
			   bool *result)
{
	JsonbIterator *it = JsonbIteratorInit(jc);
	JsonbIteratorToken token;
	JsonbValue	jv;
	StStatus	status = ST_OK;

	*result = v->count >= JsonContainerSize(jc);
	JsonbIteratorNext(&it, &jv, true);
	while (*result && status == ST_OK &&
		   (token = JsonbIteratorNext(&it, &jv, true)) != WJB_END_OBJECT)
	{
		StStr		key = {(const uint8_t *) jv.val.string.val, jv.val.string.len};
		StZsonValue member;

		Assert(token == WJB_KEY);
		status = st_zson_find(&z->doc, v, &key,
							  st_zson_dict_key(z->doc.dict, key.data, key.len),
							  result, &member);
		JsonbIteratorNext(&it, &jv, true);
		if (status == ST_OK && *result)
			status = contains_value(z, &member, &jv, result);
	}
	return status;
}

static StStatus
contains_element(ZsDoc *z, const StZsonValue *v, const JsonbValue *jv,
				 bool *result)
{
	StZsonCursor c;
	StStatus	status = ST_OK;

	*result = false;
	st_zson_begin(v, &c);
	while (!*result && status == ST_OK && c.i < v->count)
	{
		StZsonValue member;

		status = st_zson_next(&z->doc, &c, NULL, &member);
		if (status == ST_OK && (jv->type == jbvBinary) ==
			(member.kind >= ST_ZSON_ARRAY))
			status = contains_value(z, &member, jv, result);
	}
	return status;
}

static StStatus
contains_elements(ZsDoc *z, const StZsonValue *v, JsonbContainer *jc,
				  bool *result)
{
	JsonbIterator *it = JsonbIteratorInit(jc);
	JsonbValue	jv;
	StStatus	status = ST_OK;

	*result = true;
	JsonbIteratorNext(&it, &jv, true);
	while (*result && status == ST_OK &&
		   JsonbIteratorNext(&it, &jv, true) != WJB_END_ARRAY)
		status = contains_element(z, v, &jv, result);
	return status;
}

static StStatus
contains(ZsDoc *z, const StZsonValue *v, JsonbContainer *jc, bool *result)
{
	check_stack_depth();
	*result = false;
	if (v->kind == ST_ZSON_OBJECT && JsonContainerIsObject(jc))
		return contains_pairs(z, v, jc, result);
	if (v->kind == ST_ZSON_ARRAY && JsonContainerIsArray(jc))
		return contains_elements(z, v, jc, result);
	if (v->kind < ST_ZSON_ARRAY && JsonContainerIsScalar(jc))
	{
		JsonbValue *jv = getIthJsonbValueFromContainer(jc, 0);

		*result = equals_scalar(z, v, jv);
	}
	return ST_OK;
}

static bool
contains_datum(Datum stored, Jsonb *jb)
{
	ZsDoc		z;
	StStatus	status;
	bool		result;

	zs_open(&z, stored);
	do
	{
		status = contains(&z, &z.root, &jb->root, &result);
	} while (unlikely(status != ST_OK) && zs_more(&z, status));
	return result;
}

/* The argument as jsonb, that of the last call if it is the same. */
static Jsonb *
template_of(FunctionCallInfo fcinfo, Datum arg)
{
	struct varlena *v = pg_detoast_datum_packed((struct varlena *)
												DatumGetPointer(arg));
	Template   *t = fcinfo->flinfo->fn_extra;
	MemoryContext old;

	if (t != NULL && VARSIZE_ANY(t->stored) == VARSIZE_ANY(v) &&
		memcmp(t->stored, v, VARSIZE_ANY(v)) == 0)
		return t->jb;
	if (t != NULL)
	{
		fcinfo->flinfo->fn_extra = NULL;
		pfree(t->stored);
		pfree(t->jb);
		pfree(t);
	}
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	t = palloc(sizeof(Template));
	t->stored = palloc(VARSIZE_ANY(v));
	memcpy(t->stored, v, VARSIZE_ANY(v));
	t->jb = zs_to_jsonb(PointerGetDatum(v));
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = t;
	return t->jb;
}

Datum
zson_contains(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = template_of(fcinfo, PG_GETARG_DATUM(1));

	PG_RETURN_BOOL(contains_datum(PG_GETARG_DATUM(0), jb));
}

Datum
zson_contained(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = zs_to_jsonb(PG_GETARG_DATUM(0));

	PG_RETURN_BOOL(contains_datum(PG_GETARG_DATUM(1), jb));
}
