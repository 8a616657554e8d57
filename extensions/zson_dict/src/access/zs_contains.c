/*-------------------------------------------------------------------------
 *
 * zs_contains.c
 *	  Operators @> and <@ of type zson.
 *
 * The left side is searched as it is stored; the right side, which is mostly
 * the same for all rows, is turned into a tree of patterns once.  What
 * contains what is jsonb's rule: an object's pairs, an array's elements in any
 * order and number, and an array at the root may contain a scalar.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "zs_datum.h"

PG_FUNCTION_INFO_V1(zson_contains);
PG_FUNCTION_INFO_V1(zson_contained);

typedef struct Pattern
{
	uint8		kind;			/* StZsonKind */
	StStr		string;
	Numeric		numeric;
	bool		compact;		/* the numeric is num * 10^-scale */
	int64_t		num;
	int			scale;
	uint32		n;				/* members */
	struct Pattern *members;
	StStr	   *keys;			/* of an object's members */
	int		   *key_ids;		/* their numbers in dictionary dict_id */
	uint32		dict_id;
	bool		ids_known;
} Pattern;

/* The right side of the last call. */
typedef struct Template
{
	struct varlena *stored;
	MemoryContext context;
	Pattern		pattern;
} Template;

/* ---- patterns ---- */

static void make_pattern(Pattern *p, const JsonbValue *jv);

static void
make_members(Pattern *p, JsonbContainer *jc)
{
	JsonbIterator *it = JsonbIteratorInit(jc);
	JsonbIteratorToken token;
	JsonbValue	v;
	uint32		i = 0;

	check_stack_depth();
	p->kind = JsonContainerIsObject(jc) ? ST_ZSON_OBJECT : ST_ZSON_ARRAY;
	p->n = JsonContainerSize(jc);
	p->members = palloc0((p->n + 1) * sizeof(Pattern));
	p->keys = palloc0((p->n + 1) * sizeof(StStr));
	p->key_ids = palloc0((p->n + 1) * sizeof(int));
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			p->keys[i] = (StStr) {(const uint8_t *) v.val.string.val,
				v.val.string.len};
		else if (token == WJB_VALUE || token == WJB_ELEM)
			make_pattern(&p->members[i++], &v);
	}
}

static void
make_pattern(Pattern *p, const JsonbValue *jv)
{
	switch (jv->type)
	{
		case jbvNull:
			p->kind = ST_ZSON_NULL;
			break;
		case jbvBool:
			p->kind = jv->val.boolean ? ST_ZSON_TRUE : ST_ZSON_FALSE;
			break;
		case jbvString:
			p->kind = ST_ZSON_STRING;
			p->string = (StStr) {(const uint8_t *) jv->val.string.val,
				jv->val.string.len};
			break;
		case jbvNumeric:
			p->kind = ST_ZSON_NUMBER;
			p->numeric = jv->val.numeric;
			p->compact = st_zson_numeric_read((const uint8_t *) VARDATA_ANY(p->numeric),
											  VARSIZE_ANY_EXHDR(p->numeric),
											  &p->num, &p->scale);
			break;
		default:
			make_members(p, jv->val.binary.data);
	}
}

/* The pattern of a whole document; it points into jb. */
static void
make_root(Pattern *p, Jsonb *jb)
{
	memset(p, 0, sizeof(*p));
	if (JB_ROOT_IS_SCALAR(jb))
		make_pattern(p, getIthJsonbValueFromContainer(&jb->root, 0));
	else
		make_members(p, &jb->root);
}

/* ---- scalars ---- */

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
equals_number(const StZsonValue *v, const Pattern *p)
{
	if (v->form != ST_ZSON_NUMERIC && p->compact)
		return same_decimal(v->num, v->form == ST_ZSON_DECIMAL ? v->scale : 0,
							p->num, p->scale);
	return DatumGetBool(DirectFunctionCall2(numeric_eq,
											NumericGetDatum(zs_value_numeric(v)),
											NumericGetDatum(p->numeric)));
}

static bool
equals_scalar(ZsDoc *z, const StZsonValue *v, const Pattern *p)
{
	if (v->kind != p->kind)
		return false;
	if (v->kind == ST_ZSON_STRING)
		return zs_value_equals(z, v, &p->string);
	return v->kind != ST_ZSON_NUMBER || equals_number(v, p);
}

/* ---- containers ---- */

static StStatus contains(ZsDoc *z, const StZsonValue *v, Pattern *p,
						 bool *result);

static StStatus
contains_pairs(ZsDoc *z, const StZsonValue *v, Pattern *p, bool *result)
{
	StStatus	status = ST_OK;

	*result = v->count >= p->n;
	if (!p->ids_known || p->dict_id != z->doc.dict_id)
	{
		for (uint32 i = 0; i < p->n; i++)
			p->key_ids[i] = st_zson_dict_key(z->doc.dict, p->keys[i].data,
											 p->keys[i].len);
		p->dict_id = z->doc.dict_id;
		p->ids_known = true;
	}
	for (uint32 i = 0; i < p->n && *result && status == ST_OK; i++)
	{
		StZsonValue member;

		status = st_zson_find(&z->doc, v, &p->keys[i], p->key_ids[i], result,
							  &member);
		if (status == ST_OK && *result)
			status = contains(z, &member, &p->members[i], result);
	}
	return status;
}

static StStatus
contains_element(ZsDoc *z, const StZsonValue *v, Pattern *p, bool *result)
{
	StZsonCursor c;
	StStatus	status = ST_OK;

	*result = false;
	st_zson_begin(v, &c);
	while (!*result && status == ST_OK && c.i < v->count)
	{
		StZsonValue member;

		CHECK_FOR_INTERRUPTS();
		status = st_zson_next(&z->doc, &c, NULL, &member);
		if (status == ST_OK)
			status = contains(z, &member, p, result);
	}
	return status;
}

/* Both of one kind, or there is nothing to be found. */
static StStatus
contains(ZsDoc *z, const StZsonValue *v, Pattern *p, bool *result)
{
	StStatus	status = ST_OK;

	if (v->kind < ST_ZSON_ARRAY || v->kind != p->kind)
	{
		*result = equals_scalar(z, v, p);
		return ST_OK;
	}
	check_stack_depth();
	if (v->kind == ST_ZSON_OBJECT)
		return contains_pairs(z, v, p, result);
	*result = true;
	for (uint32 i = 0; i < p->n && *result && status == ST_OK; i++)
		status = contains_element(z, v, &p->members[i], result);
	return status;
}

static bool
contains_datum(Datum stored, Pattern *p)
{
	ZsDoc		z;
	StStatus	status;
	bool		result;

	zs_open(&z, stored);
	do
	{
		/* an array at the root contains a scalar among its elements */
		if (z.root.kind == ST_ZSON_ARRAY && p->kind < ST_ZSON_ARRAY)
			status = contains_element(&z, &z.root, p, &result);
		else
			status = contains(&z, &z.root, p, &result);
	} while (unlikely(status != ST_OK) && zs_more(&z, status));
	return result;
}

/* The pattern of the argument, that of the last call if it is the same. */
static Pattern *
template_of(FunctionCallInfo fcinfo, Datum arg)
{
	struct varlena *v = pg_detoast_datum_packed((struct varlena *)
												DatumGetPointer(arg));
	Template   *t = fcinfo->flinfo->fn_extra;
	MemoryContext context;
	MemoryContext old;

	if (likely(t != NULL && VARSIZE_ANY(t->stored) == VARSIZE_ANY(v) &&
			   memcmp(t->stored, v, VARSIZE_ANY(v)) == 0))
		return &t->pattern;
	fcinfo->flinfo->fn_extra = NULL;
	if (t != NULL)
		MemoryContextDelete(t->context);
	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "zson pattern",
									ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	t = palloc0(sizeof(Template));
	t->context = context;
	t->stored = palloc(VARSIZE_ANY(v));
	memcpy(t->stored, v, VARSIZE_ANY(v));
	make_root(&t->pattern, zs_to_jsonb(PointerGetDatum(v)));
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = t;
	return &t->pattern;
}

Datum
zson_contains(PG_FUNCTION_ARGS)
{
	Pattern    *p = template_of(fcinfo, PG_GETARG_DATUM(1));

	PG_RETURN_BOOL(contains_datum(PG_GETARG_DATUM(0), p));
}

Datum
zson_contained(PG_FUNCTION_ARGS)
{
	Pattern		p;

	make_root(&p, zs_to_jsonb(PG_GETARG_DATUM(0)));
	PG_RETURN_BOOL(contains_datum(PG_GETARG_DATUM(1), &p));
}
