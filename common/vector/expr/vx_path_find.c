/*-------------------------------------------------------------------------
 *
 * vx_path_find.c
 *	  Finds path expressions over jsonb columns.
 *
 * The operators taken here are immutable, raise nothing on a jsonb (what may raise
 * is left to the expression: VX_PATH_REST), and see nothing but their document: that
 * a path column's vector may be made for rows that a later condition takes away
 * shows nobody anything.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "vx_path_expr.h"
#include "st_compat.h"

/* Objects within the right side of @>, and scalars in it. */
#define MAX_DEPTH 16
#define MAX_TESTS 32

bool
vx_path_take_call(Node *node, Oid *funcid, Node **document, Const **arg, Oid *collation)
{
	List	   *args;
	Node	   *right;

	if (IsA(node, OpExpr))
	{
		*funcid = ((OpExpr *) node)->opfuncid;
		*collation = ((OpExpr *) node)->inputcollid;
		args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		*funcid = ((FuncExpr *) node)->funcid;
		*collation = ((FuncExpr *) node)->inputcollid;
		args = ((FuncExpr *) node)->args;
	}
	else
		return false;
	if (list_length(args) != 2)
		return false;
	*document = linitial(args);
	right = lsecond(args);
	if (*funcid == F_JSONB_CONTAINED)
	{
		*funcid = F_JSONB_CONTAINS;
		*document = lsecond(args);
		right = linitial(args);
	}
	*arg = (Const *) right;
	return IsA(right, Const) && !(*arg)->constisnull;
}

AttrNumber
vx_path_document_column(const VxPathSet *set, Node *node)
{
	Var		   *var;

	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	var = (Var *) node;
	if (!IsA(node, Var) || var->varno != (int) set->varno || var->varlevelsup != 0 ||
		var->varattno <= 0 || var->varattno > set->desc->natts ||
		getBaseType(var->vartype) != JSONBOID)
		return InvalidAttrNumber;
	return var->varattno;
}

static StStr
text_key(Datum text)
{
	struct varlena *v = PG_DETOAST_DATUM(text);

	return (StStr) {(const uint8_t *) VARDATA(v), VARSIZE(v) - VARHDRSZ};
}

bool
vx_path_array_keys(Datum array, VxPath *path)
{
	ArrayType  *a = DatumGetArrayTypeP(array);
	Datum	   *elems;
	bool	   *nulls;

	if (ARR_NDIM(a) > 1)
		return false;
	deconstruct_array(a, TEXTOID, -1, false, TYPALIGN_INT, &elems, &nulls, &path->nkeys);
	path->keys = palloc(Max(1, path->nkeys) * sizeof(StStr));
	for (int i = 0; i < path->nkeys; i++)
	{
		if (nulls[i])
			return false;
		path->keys[i] = text_key(elems[i]);
	}
	return path->nkeys > 0;
}

/* Tests that an object is, behind the given keys; false if it is too much. */
static bool
object_tests(VxPath *path, const uint8 *data, uint32 len, StStr *keys, int nkeys)
{
	StJsonb		c;
	StJsonbCursor key_at = {0, 0};
	StJsonbCursor at;

	if (st_jsonb_open(data, len, &c) != ST_OK || !c.object || c.count == 0 ||
		nkeys == MAX_DEPTH || st_jsonb_skip_keys(&c, &at) != ST_OK)
		return false;
	for (uint32 i = 0; i < c.count; i++)
	{
		StJsonbItem key,
					value;
		VxPathTest *test;

		if (st_jsonb_next(&c, &key_at, &key) != ST_OK ||
			st_jsonb_next(&c, &at, &value) != ST_OK)
			return false;
		keys[nkeys] = (StStr) {key.data, key.len};
		if (value.type == ST_JSONB_CONTAINER)
		{
			if (!object_tests(path, value.data, value.len, keys, nkeys + 1))
				return false;
			continue;
		}
		if (path->ntests == MAX_TESTS)
			return false;
		test = &path->tests[path->ntests++];
		test->nkeys = nkeys + 1;
		test->keys = palloc(test->nkeys * sizeof(StStr));
		memcpy(test->keys, keys, test->nkeys * sizeof(StStr));
		test->value = value;
	}
	return true;
}

static bool
contains_tests(VxPath *path, Datum constant)
{
	Jsonb	   *jb = DatumGetJsonbP(constant);
	StStr		keys[MAX_DEPTH];

	path->tests = palloc(MAX_TESTS * sizeof(VxPathTest));
	return object_tests(path, (uint8 *) &jb->root, VARSIZE(jb) - VARHDRSZ, keys, 0);
}

static void
add_step(VxPath *path, Oid funcid, Datum arg, Oid collation)
{
	VxPathStep *step = &path->steps[path->nsteps++];

	fmgr_info(funcid, &step->function);
	step->arg = arg;
	step->collation = collation;
	step->nkeys = 1;
}

/* The same of keys in an array; path->keys end with them. */
static void
add_array_step(VxPath *path, Oid funcid, Datum arg, Oid collation)
{
	VxPathStep *step = &path->steps[path->nsteps];
	Datum	   *elems;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(arg), TEXTOID, -1, false, TYPALIGN_INT,
					  &elems, NULL, &n);
	add_step(path, funcid, arg, collation);
	step->nkeys = n;
	step->behind = palloc(n * sizeof(Datum));
	for (int i = 0; i < n; i++)
		step->behind[i] =
			PointerGetDatum(construct_array(elems + i, n - i, TEXTOID, -1, false, TYPALIGN_INT));
}

/* Adds a place of n keys that goes. */
static void
add_place(VxPath *path, int n, const StStr *keys)
{
	VxPathPlace *place;

	path->places = path->nplaces == 0 ? palloc(sizeof(VxPathPlace)) :
		repalloc(path->places, (path->nplaces + 1) * sizeof(VxPathPlace));
	place = &path->places[path->nplaces++];
	memset(place, 0, sizeof(*place));
	place->use = VX_USE_VALUE;
	place->nkeys = n;
	place->keys = palloc(n * sizeof(StStr));
	memcpy(place->keys, keys, n * sizeof(StStr));
	place->hints = palloc0(n * sizeof(StJsonbHint));
}

/* What an operator or function takes away; false if it is none of these. */
static bool
find_gone(Node *node, VxPath *path, Node **document)
{
	FuncExpr   *call = (FuncExpr *) node;
	VxPath		keys = {0};
	Oid			funcid;
	Oid			collation;
	Const	   *arg;
	StStr		key;

	if (IsA(node, FuncExpr) && call->funcid == F_JSONB_STRIP_NULLS)
	{
		*document = linitial(call->args);
		path->no_nulls = true;
		/* 18: and of arrays?  It does not matter: those with a null are left to it. */
		return list_length(call->args) == 1 || IsA(lsecond(call->args), Const);
	}
	if (!vx_path_take_call(node, &funcid, document, &arg, &collation))
		return false;
	switch (funcid)
	{
		case F_JSONB_DELETE_JSONB_TEXT:
			key = text_key(arg->constvalue);
			add_place(path, 1, &key);
			return true;
		case F_JSONB_DELETE_JSONB__TEXT:
			if (!vx_path_array_keys(arg->constvalue, &keys))
				return false;
			for (int i = 0; i < keys.nkeys; i++)
				add_place(path, 1, &keys.keys[i]);
			return true;
		case F_JSONB_DELETE_PATH:
			if (!vx_path_array_keys(arg->constvalue, &keys))
				return false;
			add_place(path, keys.nkeys, keys.keys);
			return true;
		default:
			return false;
	}
}

bool
vx_path_find_less(const VxPathSet *set, Node *node, VxPath *path)
{
	Node	   *document;

	if (!find_gone(node, path, &document))
		return false;
	path->attno = vx_path_document_column(set, document);
	return path->attno != InvalidAttrNumber || vx_path_find_less(set, document, path);
}

/* The json path of the keys from nth on. */
static Datum
keys_json_path(const VxPath *path, int nth)
{
	StringInfoData s;

	initStringInfo(&s);
	appendStringInfoChar(&s, '$');
	for (int i = nth; i < path->nkeys; i++)
	{
		appendStringInfoChar(&s, '.');
		escape_json(&s, pnstrdup((const char *) path->keys[i].data, path->keys[i].len));
	}
	return DirectFunctionCall1(jsonpath_in, CStringGetDatum(s.data));
}

/* JSON_VALUE(document, '$.key.key'), or JSON_QUERY() */
static bool
fill_json_expr(const VxPathSet *set, Node *node, VxPath *path)
{
	Node	   *document;
	Node	   *path_spec;
	StJsonResult result = st_json_result(node);
	List	   *keys;

	if (result == ST_JSON_OTHER || !st_json_expr(node, &document, &path_spec) ||
		!vx_path_lax_keys(path_spec, &keys))
		return false;
	path->attno = vx_path_document_column(set, document);
	path->kind = result == ST_JSON_TEXT ? VX_PATH_TEXT : VX_PATH_JSON;
	path->lax = true;
	path->nkeys = list_length(keys);
	path->keys = palloc(path->nkeys * sizeof(StStr));
	for (int i = 0; i < path->nkeys; i++)
	{
		const char *key = strVal(list_nth(keys, i));

		path->keys[i] = (StStr) {(const uint8_t *) key, strlen(key)};
	}
	path->json_paths = palloc(path->nkeys * sizeof(Datum));
	for (int i = 0; i < path->nkeys; i++)
		path->json_paths[i] = keys_json_path(path, i);
	return path->attno != InvalidAttrNumber;
}

/* What a path gives, or a document, as text. */
static bool
fill_print(const VxPathSet *set, CoerceViaIO *cast, VxPath *path)
{
	if (cast->resulttype != TEXTOID)
		return false;
	path->attno = vx_path_document_column(set, (Node *) cast->arg);
	if (path->attno == InvalidAttrNumber &&
		(!vx_path_find(set, (Node *) cast->arg, path) || path->kind != VX_PATH_JSON))
		return false;
	path->kind = VX_PATH_PRINT;
	return true;
}

/* "document -> key" or "->> key", behind a path of others. */
static bool
fill_field(const VxPathSet *set, Node *document, Const *arg, VxPath *path)
{
	VxPath		inner = {0};

	path->attno = vx_path_document_column(set, document);
	path->nkeys = 0;
	if (path->attno == InvalidAttrNumber)
	{
		if (!vx_path_find(set, document, &inner) || inner.kind != VX_PATH_JSON ||
			inner.lax || inner.nsteps >= VX_PATH_MAX_STEPS)
			return false;
		path->attno = inner.attno;
		path->nsteps = inner.nsteps;
		memcpy(path->steps, inner.steps, sizeof(inner.steps));
		path->nkeys = inner.nkeys;
	}
	path->keys = palloc((path->nkeys + 1) * sizeof(StStr));
	if (path->nkeys > 0)
		memcpy(path->keys, inner.keys, path->nkeys * sizeof(StStr));
	path->keys[path->nkeys++] = text_key(arg->constvalue);
	return true;
}

/* doc['key']['key']: what #> does. */
static bool
fill_subscript(const VxPathSet *set, SubscriptingRef *ref, VxPath *path)
{
	int			n = list_length(ref->refupperindexpr);
	Datum	   *keys = palloc(n * sizeof(Datum));
	ListCell   *lc;

	path->attno = vx_path_document_column(set, (Node *) ref->refexpr);
	if (path->attno == InvalidAttrNumber || ref->refcontainertype != JSONBOID ||
		ref->reflowerindexpr != NIL || ref->refassgnexpr != NULL)
		return false;
	foreach(lc, ref->refupperindexpr)
	{
		Const	   *key = lfirst(lc);

		if (key == NULL || !IsA(key, Const) || key->constisnull || key->consttype != TEXTOID)
			return false;
		keys[foreach_current_index(lc)] = key->constvalue;
	}
	path->kind = VX_PATH_JSON;
	add_array_step(path, F_JSONB_EXTRACT_PATH,
				   PointerGetDatum(construct_array(keys, n, TEXTOID, -1, false, TYPALIGN_INT)),
				   InvalidOid);
	return vx_path_array_keys(path->steps[0].arg, path);
}

bool
vx_path_find(const VxPathSet *set, Node *node, VxPath *path)
{
	Oid			funcid;
	Oid			collation;
	Node	   *document;
	Const	   *arg;

	if (IsA(node, SubscriptingRef))
		return fill_subscript(set, (SubscriptingRef *) node, path);
	if (IsA(node, CoerceViaIO))
		return fill_print(set, (CoerceViaIO *) node, path);
	if (fill_json_expr(set, node, path))
		return true;
	if (!vx_path_take_call(node, &funcid, &document, &arg, &collation))
		return false;
	switch (funcid)
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
			path->kind = funcid == F_JSONB_OBJECT_FIELD ? VX_PATH_JSON : VX_PATH_TEXT;
			if (!fill_field(set, document, arg, path))
				return false;
			break;
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
			path->kind = funcid == F_JSONB_EXTRACT_PATH ? VX_PATH_JSON : VX_PATH_TEXT;
			path->attno = vx_path_document_column(set, document);
			if (path->attno == InvalidAttrNumber || !vx_path_array_keys(arg->constvalue, path))
				return false;
			add_array_step(path, funcid, arg->constvalue, collation);
			return true;
		case F_JSONB_EXISTS:
			path->kind = VX_PATH_EXISTS;
			path->attno = vx_path_document_column(set, document);
			path->nkeys = 1;
			path->keys = palloc(sizeof(StStr));
			path->keys[0] = text_key(arg->constvalue);
			break;
		case F_JSONB_CONTAINS:
			path->kind = VX_PATH_CONTAINS;
			path->attno = vx_path_document_column(set, document);
			if (path->attno == InvalidAttrNumber || !contains_tests(path, arg->constvalue))
				return false;
			break;
		default:
			return false;
	}
	add_step(path, funcid, arg->constvalue, collation);
	return path->attno != InvalidAttrNumber;
}
