/*-------------------------------------------------------------------------
 *
 * zs_inspect.c
 *	  What is in dictionaries, and what a value takes: zson_info(),
 *	  zson_words(), zson_storage(), zson_target(), zson_extract_strings(),
 *	  zson_cache_bytes(); and what uses a dictionary: zson_uses(),
 *	  zson_is_chosen().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "st_compat.h"
#include "zs_datum.h"
#include "zs_dict.h"

PG_FUNCTION_INFO_V1(zson_info);
PG_FUNCTION_INFO_V1(zson_words);
PG_FUNCTION_INFO_V1(zson_storage);
PG_FUNCTION_INFO_V1(zson_target);
PG_FUNCTION_INFO_V1(zson_extract_strings);
PG_FUNCTION_INFO_V1(zson_cache_bytes);

Datum
zson_info(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, zs_dict_list())
	{
		ZsDictInfo *info = lfirst(lc);
		const StZsonDict *dict = zs_dict_read(info->id);
		Datum		values[10];
		bool		nulls[10] = {false};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int32GetDatum(info->id);
		nulls[1] = info->column == NULL || info->column[0] == '\0';
		values[1] = nulls[1] ? (Datum) 0 : CStringGetTextDatum(info->column);
		values[2] = CStringGetTextDatum(info->note);
		values[3] = Int32GetDatum(dict->nkeys);
		values[4] = Int32GetDatum(dict->nshapes);
		values[5] = Int32GetDatum(dict->nvalues);
		values[6] = Int32GetDatum(dict->ntemplates);
		values[7] = Int32GetDatum(dict->fsst ? dict->fsst->nsym : 0);
		values[8] = Int32GetDatum(dict->zdictlen);
		values[9] = Int32GetDatum(dict->len);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* The keys that dictionaries have numbers for: dict_id, word_id, word. */
Datum
zson_words(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, zs_dict_list())
	{
		ZsDictInfo *info = lfirst(lc);
		const StZsonDict *dict = zs_dict_read(info->id);

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < dict->nkeys; i++)
		{
			const StStr *key = &dict->keys[i];
			Datum		values[3] = {
				Int32GetDatum(info->id), Int32GetDatum(i),
				PointerGetDatum(cstring_to_text_with_len((const char *) key->data, key->len))
			};
			bool		nulls[3] = {false};

			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}
	return (Datum) 0;
}

/* Keys of the value and below, and those the dictionary does not know. */
static void
count_keys(ZsDoc *z, const StZsonValue *v, int32 *keys, int32 *unknown)
{
	StZsonCursor c;

	if (v->kind < ST_ZSON_ARRAY || v->count == 0)
		return;
	check_stack_depth();
	st_zson_begin(v, &c);
	while (c.i < v->count)
	{
		StZsonValue member;
		StStr		key = {NULL, 0};
		StStatus	status;

		status = st_zson_next(&z->doc, &c,
							  v->kind == ST_ZSON_OBJECT ? &key : NULL, &member);
		if (status != ST_OK)
			zs_raise(&z->doc, status);
		if (v->kind == ST_ZSON_OBJECT)
		{
			++*keys;
			*unknown += v->form == ST_ZSON_FREE &&
				st_zson_dict_key(z->doc.dict, key.data, key.len) < 0;
		}
		count_keys(z, &member, keys, unknown);
	}
}

Datum
zson_storage(PG_FUNCTION_ARGS)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};
	int32		keys = 0;
	int32		unknown = 0;
	ZsDoc		z;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	zs_open(&z, PointerGetDatum(v));
	count_keys(&z, &z.root, &keys, &unknown);
	nulls[0] = z.doc.dict_id == 0;
	values[0] = Int32GetDatum(z.doc.dict_id);
	values[1] = Int32GetDatum(VARSIZE_ANY_EXHDR(v));
	values[2] = Int32GetDatum(z.doc.has_tail ? z.doc.len - z.doc.tail_at : 0);
	values[3] = Int32GetDatum(keys);
	values[4] = Int32GetDatum(unknown);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* The dictionary that the document would be stored with now. */
Datum
zson_target(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = zs_to_jsonb(PG_GETARG_DATUM(0));
	const StZsonDict *dict;

	dict = zs_dict_route((const uint8 *) VARDATA(jb), VARSIZE(jb) - VARHDRSZ);
	if (dict == NULL)
		PG_RETURN_NULL();
	PG_RETURN_INT32(dict->id);
}

Datum
zson_extract_strings(PG_FUNCTION_ARGS)
{
	Jsonb	   *jb = PG_GETARG_JSONB_P(0);
	JsonbIterator *it = JsonbIteratorInit(&jb->root);
	JsonbValue	v;
	JsonbIteratorToken token;
	ArrayBuildState *state = initArrayResult(TEXTOID, CurrentMemoryContext,
											 false);

	while ((token = JsonbIteratorNext(&it, &v, false)) != WJB_DONE)
	{
		if ((token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM) &&
			v.type == jbvString)
			state = accumArrayResult(state,
									 PointerGetDatum(cstring_to_text_with_len(v.val.string.val,
																			  v.val.string.len)),
									 false, TEXTOID, CurrentMemoryContext);
	}
	PG_RETURN_DATUM(makeArrayResult(state, CurrentMemoryContext));
}

Datum
zson_cache_bytes(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) zs_dict_cache_size());
}

/* ---- for zson_drop_dictionary() ---- */

PG_FUNCTION_INFO_V1(zson_uses);
PG_FUNCTION_INFO_V1(zson_is_chosen);

static bool value_uses(Datum value, Oid type, Oid zson, uint32 id);

static bool
array_uses(Datum value, Oid zson, uint32 id)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	Oid			elemtype = ARR_ELEMTYPE(array);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(elemtype, &typlen, &typbyval, &typalign);
	deconstruct_array(array, elemtype, typlen, typbyval, typalign, &elems,
					  &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i] && value_uses(elems[i], elemtype, zson, id))
			return true;
	}
	return false;
}

static bool
row_uses(Datum value, Oid zson, uint32 id)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(value);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
											  HeapTupleHeaderGetTypMod(row));
	bool		result = false;

	for (int i = 0; i < desc->natts && !result; i++)
	{
		bool		isnull;
		Datum		d = GetAttributeByNum(row, i + 1, &isnull);

		result = !isnull && value_uses(d, TupleDescAttr(desc, i)->atttypid,
									   zson, id);
	}
	ReleaseTupleDesc(desc);
	return result;
}

static bool
value_uses(Datum value, Oid type, Oid zson, uint32 id)
{
	check_stack_depth();
	type = getBaseType(type);
	if (type == zson)
	{
		struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
		StZsonDoc	doc;
		StStatus	status = st_zson_open(&doc, (uint8_t *) VARDATA_ANY(v),
										  VARSIZE_ANY_EXHDR(v),
										  VARSIZE_ANY_EXHDR(v));

		if (status != ST_OK)
			zs_raise(NULL, status);
		return doc.dict_id == id;
	}
	if (type == ANYARRAYOID || OidIsValid(get_element_type(type)))
		return array_uses(value, zson, id);
	if (type == RECORDOID || type_is_rowtype(type))
		return row_uses(value, zson, id);
	return false;
}

/* Is a zson in the value, itself or in an array or row, of this dictionary? */
Datum
zson_uses(PG_FUNCTION_ARGS)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);

	if (PG_ARGISNULL(0))
		PG_RETURN_BOOL(false);
	PG_RETURN_BOOL(value_uses(PG_GETARG_DATUM(0), type, PG_GETARG_OID(2),
							  (uint32) PG_GETARG_INT32(1)));
}

/* May a new document be stored with this dictionary? */
Datum
zson_is_chosen(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(zs_dict_is_chosen((uint32) PG_GETARG_INT32(0)));
}
