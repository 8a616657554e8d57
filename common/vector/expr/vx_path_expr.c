/*-------------------------------------------------------------------------
 *
 * vx_path_expr.c
 *	  Finds path expressions over jsonb columns, and gives them columns.
 *
 * The operators taken here are immutable, raise nothing on a jsonb, and see
 * nothing but their document: that a path column's vector may be made for
 * rows that a later condition takes away shows nobody anything.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_format.h"
#include "vx_path_expr.h"
#include "vx_settings.h"
#include "st_compat.h"

/* Objects within the right side of @>, and scalars in it. */
#define MAX_DEPTH 16
#define MAX_TESTS 32

/* jsonb ? text, of pg_operator.dat, which has no symbol for it. */
#define JSONB_EXISTS_OPERATOR 3247

static uint64 last_id = 0;

VxPathSet *
vx_path_set_create(TupleDesc desc, Index varno)
{
	VxPathSet  *set = palloc0(sizeof(VxPathSet));

	set->mcxt = CurrentMemoryContext;
	set->desc = desc;
	set->varno = varno;
	return set;
}

/* ---- recognising ---- */

/* function(document, constant), by operator or call; NULL if it is not. */
static bool
take_call(Node *node, Oid *funcid, Node **document, Const **arg, Oid *collation)
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

/* The attribute number of a jsonb column of the table, or 0. */
static AttrNumber
document_column(const VxPathSet *set, Node *node)
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

/* The keys of a path given as an array; false if one is null. */
static bool
array_keys(Datum array, VxPath *path)
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

static bool fill_path(const VxPathSet *set, Node *node, VxPath *path);

/* "document -> key" or "->> key", behind a path of others. */
static bool
fill_field(const VxPathSet *set, Node *document, Const *arg, VxPath *path)
{
	VxPath		inner = {0};

	path->attno = document_column(set, document);
	path->nkeys = 0;
	if (path->attno == InvalidAttrNumber)
	{
		if (!fill_path(set, document, &inner) || inner.kind != VX_PATH_JSON ||
			inner.nsteps >= VX_PATH_MAX_STEPS)
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

	path->attno = document_column(set, (Node *) ref->refexpr);
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
	return array_keys(path->steps[0].arg, path);
}

/* Is the node a path expression?  Allocates in the current context. */
static bool
fill_path(const VxPathSet *set, Node *node, VxPath *path)
{
	Oid			funcid;
	Oid			collation;
	Node	   *document;
	Const	   *arg;

	if (IsA(node, SubscriptingRef))
		return fill_subscript(set, (SubscriptingRef *) node, path);
	if (!take_call(node, &funcid, &document, &arg, &collation))
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
			path->attno = document_column(set, document);
			if (path->attno == InvalidAttrNumber || !array_keys(arg->constvalue, path))
				return false;
			add_array_step(path, funcid, arg->constvalue, collation);
			return true;
		case F_JSONB_EXISTS:
			path->kind = VX_PATH_EXISTS;
			path->attno = document_column(set, document);
			path->nkeys = 1;
			path->keys = palloc(sizeof(StStr));
			path->keys[0] = text_key(arg->constvalue);
			break;
		case F_JSONB_CONTAINS:
			path->kind = VX_PATH_CONTAINS;
			path->attno = document_column(set, document);
			if (path->attno == InvalidAttrNumber || !contains_tests(path, arg->constvalue))
				return false;
			break;
		default:
			return false;
	}
	add_step(path, funcid, arg->constvalue, collation);
	return path->attno != InvalidAttrNumber;
}

/* ---- replacing ---- */

/* Appends a path column, which stands for an expression. */
static void
add_path(VxPathSet *set, Node *node, const VxPath *found)
{
	Size		n = set->npaths + 1;
	VxPath	   *path = palloc(sizeof(VxPath));

	set->paths = n == 1 ? palloc(sizeof(VxPath *)) : repalloc(set->paths, n * sizeof(VxPath *));
	set->exprs = n == 1 ? palloc(sizeof(Node *)) : repalloc(set->exprs, n * sizeof(Node *));
	*path = *found;
	path->id = ++last_id;
	path->mcxt = AllocSetContextCreate(set->mcxt, "path column", ALLOCSET_DEFAULT_SIZES);
	path->words = palloc0(ST_VECTOR_SIZE * sizeof(int64));
	path->codes = palloc0(ST_VECTOR_SIZE * sizeof(uint32));
	if (path->kind == VX_PATH_TEXT)
		vx_codes_init(&path->dictionary, set->mcxt, TEXTOID, -1);
	path->hints = palloc0(path->nkeys * sizeof(StJsonbHint));
	for (int t = 0; t < path->ntests; t++)
		path->tests[t].hints = palloc0(path->tests[t].nkeys * sizeof(StJsonbHint));
	set->paths[set->npaths] = path;
	set->exprs[set->npaths++] = copyObject(node);
}

static Var *
path_var(const VxPathSet *set, int i)
{
	Node	   *node = set->exprs[i];

	return makeVar(set->varno, set->desc->natts + i + 1, exprType(node), -1,
				   exprCollation(node), 0);
}

/* The path column for an expression; made if there is none yet. */
static Var *
path_column(VxPathSet *set, Node *node, const VxPath *found)
{
	MemoryContext old = MemoryContextSwitchTo(set->mcxt);
	int			i = 0;

	while (i < set->npaths && !equal(set->exprs[i], node))
		i++;
	if (i == set->npaths)
		add_path(set, node, found);
	MemoryContextSwitchTo(old);
	return path_var(set, i);
}

/*
 * Whole rows and system columns have no place beside path columns; subplans
 * are not to be set up twice.
 */
static bool
has_odd_columns(Node *node, VxPathSet *set)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno <= 0;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, has_odd_columns, set);
}

/* ---- parts of documents ---- */

static void
fill_place(List *list, VxPathPlace *place)
{
	place->use = intVal(linitial(list));
	place->nkeys = list_length(list) - 1;
	place->keys = palloc(Max(1, place->nkeys) * sizeof(StStr));
	place->hints = palloc0(Max(1, place->nkeys) * sizeof(StJsonbHint));
	for (int i = 0; i < place->nkeys; i++)
	{
		const char *key = strVal(list_nth(list, i + 1));

		place->keys[i] = (StStr) {(const uint8_t *) key, strlen(key)};
	}
}

/*
 * The column for a part of a document, with the places where it agrees with it.
 */
static Var *
part_column(VxPathSet *set, Var *document, List *places)
{
	MemoryContext old = MemoryContextSwitchTo(set->mcxt);
	/* stands for the column and these places, and has its type */
	Node	   *node = (Node *) makeRelabelType((Expr *) list_make2(document, places),
												document->vartype, -1, InvalidOid,
												COERCE_IMPLICIT_CAST);
	VxPath		path = {0};
	Var		   *column;

	path.kind = VX_PATH_PART;
	path.attno = document->varattno;
	path.nplaces = list_length(places);
	path.places = palloc(Max(1, path.nplaces) * sizeof(VxPathPlace));
	for (int i = 0; i < path.nplaces; i++)
		fill_place(copyObject(list_nth(places, i)), &path.places[i]);
	column = path_column(set, node, &path);
	MemoryContextSwitchTo(old);
	return column;
}

typedef struct DocumentSwap
{
	const Var  *document;
	Var		   *part;
	const Node *argument;		/* within which it is meant; NULL: here */
} DocumentSwap;

static Node *
swap_document(Node *node, DocumentSwap *swap)
{
	DocumentSwap inside = {swap->document, swap->part, NULL};

	if (node == NULL)
		return NULL;
	if (node == swap->argument)
		return swap_document(node, &inside);
	if (swap->argument == NULL && IsA(node, Var) && ((Var *) node)->varlevelsup == 0 &&
		((Var *) node)->varno == swap->document->varno &&
		((Var *) node)->varattno == swap->document->varattno)
		return (Node *) copyObject(swap->part);
	return expression_tree_mutator(node, swap_document, swap);
}

/* An expression that looks at parts of a document alone, over the part; or NULL. */
static Node *
over_part(VxPathSet *set, Node *node)
{
	VxPathUse	use;
	DocumentSwap swap;

	if (!vx_enable_document_parts || !vx_path_use(node, &use) || !use.part ||
		document_column(set, (Node *) use.document) == InvalidAttrNumber)
		return NULL;
	swap.document = use.document;
	swap.part = part_column(set, use.document, use.places);
	swap.argument = use.argument;
	return expression_tree_mutator(node, swap_document, &swap);
}

Node *
vx_path_set_swap(VxPathSet *set, Node *node, AttrNumber attno, List *places)
{
	MemoryContext old = MemoryContextSwitchTo(set->mcxt);
	Form_pg_attribute att = TupleDescAttr(set->desc, attno - 1);
	Var		   *document = makeVar(set->varno, attno, att->atttypid, att->atttypmod,
								   att->attcollation, 0);
	DocumentSwap swap = {document, NULL, NULL};
	Bitmapset  *attrs = NULL;

	pull_varattnos(node, set->varno, &attrs);
	if (bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attrs) &&
		!has_odd_columns(node, set))
	{
		swap.part = part_column(set, document, places);
		node = swap_document(node, &swap);
	}
	MemoryContextSwitchTo(old);
	return node;
}

/* doc ?| '{a,b}' as doc ? 'a' OR doc ? 'b'; ?& with AND.  NULL: not so. */
static Node *
exists_list(VxPathSet *set, Node *node)
{
	Oid			funcid;
	Oid			collation;
	Node	   *document;
	Const	   *arg;
	VxPath		keys = {0};
	List	   *args = NIL;

	if (!take_call(node, &funcid, &document, &arg, &collation) ||
		(funcid != F_JSONB_EXISTS_ANY && funcid != F_JSONB_EXISTS_ALL) ||
		document_column(set, document) == InvalidAttrNumber ||
		!array_keys(arg->constvalue, &keys))
		return NULL;
	for (int i = 0; i < keys.nkeys; i++)
	{
		Const	   *key = makeConst(TEXTOID, -1, InvalidOid, -1,
									PointerGetDatum(cstring_to_text_with_len((char *) keys.keys[i].data,
																			 keys.keys[i].len)),
									false, false);
		OpExpr	   *op = makeNode(OpExpr);

		op->opno = JSONB_EXISTS_OPERATOR;
		op->opfuncid = F_JSONB_EXISTS;
		op->opresulttype = BOOLOID;
		op->args = list_make2(copyObject(document), key);
		op->location = -1;
		args = lappend(args, op);
	}
	if (list_length(args) == 1)
		return linitial(args);
	return (Node *) makeBoolExpr(funcid == F_JSONB_EXISTS_ANY ? OR_EXPR : AND_EXPR, args, -1);
}

static Node *
replace(Node *node, VxPathSet *set)
{
	VxPath		path = {0};
	Node	   *list;

	if (node == NULL)
		return NULL;
	list = exists_list(set, node);
	if (list != NULL)
		node = list;
	if (fill_path(set, node, &path))
		return (Node *) path_column(set, node, &path);
	list = over_part(set, node);
	return expression_tree_mutator(list != NULL ? list : node, replace, set);
}

static bool
has_documents(Node *node, VxPathSet *set)
{
	if (node == NULL)
		return false;
	if (document_column(set, node) != InvalidAttrNumber)
		return true;
	return expression_tree_walker(node, has_documents, set);
}

Node *
vx_path_set_replace(VxPathSet *set, Node *node)
{
	MemoryContext old;
	int			before = set->npaths;
	Node	   *result;

	if (!vx_enable_path_columns || !has_documents(node, set) ||
		has_odd_columns(node, set))
		return node;
	old = MemoryContextSwitchTo(set->mcxt);
	result = replace(node, set);
	MemoryContextSwitchTo(old);
	if (set->npaths == before && equal(result, node))
		return node;
	return result;
}

/* "{a,b}", "keys of {a,b}", or "all but {a}" */
static void
describe_place(const VxPathPlace *place, StringInfo s)
{
	Datum	   *keys = palloc(Max(1, place->nkeys) * sizeof(Datum));
	Oid			out;
	bool		varlena;

	for (int i = 0; i < place->nkeys; i++)
		keys[i] = PointerGetDatum(cstring_to_text_with_len((char *) place->keys[i].data,
														   place->keys[i].len));
	getTypeOutputInfo(TEXTARRAYOID, &out, &varlena);
	if (place->use == VX_USE_OTHERS)
		appendStringInfoString(s, "all but ");
	else if (place->use != VX_USE_VALUE)
		appendStringInfoString(s, "keys of ");
	appendStringInfoString(s, OidOutputFunctionCall(out,
													PointerGetDatum(construct_array(keys, place->nkeys, TEXTOID, -1,
																					false, TYPALIGN_INT))));
}

List *
vx_path_set_describe(const VxPathSet *set)
{
	List	   *parts = NIL;

	for (int i = 0; i < set->npaths; i++)
	{
		const VxPath *path = set->paths[i];
		StringInfoData s;

		if (path->kind != VX_PATH_PART)
			continue;
		initStringInfo(&s);
		appendStringInfo(&s, "%s:", NameStr(TupleDescAttr(set->desc, path->attno - 1)->attname));
		for (int p = 0; p < path->nplaces; p++)
		{
			appendStringInfoString(&s, p == 0 ? " " : ", ");
			describe_place(&path->places[p], &s);
		}
		parts = lappend(parts, s.data);
	}
	return parts;
}

TupleDesc
vx_path_set_desc(const VxPathSet *set)
{
	int			natts = set->desc->natts;
	TupleDesc	desc = CreateTemplateTupleDesc(natts + set->npaths);

	for (int i = 1; i <= natts; i++)
		TupleDescCopyEntry(desc, i, set->desc, i);
	for (int i = 0; i < set->npaths; i++)
	{
		TupleDescInitEntry(desc, natts + i + 1, NULL, exprType(set->exprs[i]), -1, 0);
		TupleDescInitEntryCollation(desc, natts + i + 1, exprCollation(set->exprs[i]));
	}
	TupleDescFinalize(desc);
	return desc;
}

static const VxVector *path_column_vector(VxBatch *batch, VxPath *path);

void
vx_path_set_attach(VxPathSet *set, VxBatch *batch)
{
	vx_batch_set_paths(batch, set->npaths, set->paths, path_column_vector);
}

/* ---- vectors ---- */

/* From the documents, as the column's vector has them. */
static const VxVector *
document_values(VxBatch *batch, VxPath *path)
{
	VxBatchColumn *column = vx_batch_column(batch, path->attno);
	MemoryContext old;
	VxVector   *v;

	(void) vx_batch_vector(batch, path->attno);
	MemoryContextReset(path->mcxt);
	old = MemoryContextSwitchTo(path->mcxt);
	v = vx_path_begin_put(path, batch->nrows);
	for (int w = 0; w < (batch->nrows + 63) / 64; w++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 left = batch->selection[w]; left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			Datum		value;
			bool		isnull;
			struct varlena *document;

			vx_batch_value(column, row, &value, &isnull);
			if (isnull)
			{
				vx_path_set_null(v, row);
				continue;
			}
			document = PG_DETOAST_DATUM_PACKED(value);
			vx_path_put(path, v, row, (uint8 *) VARDATA_ANY(document),
						VARSIZE_ANY_EXHDR(document));
			if (document != (struct varlena *) DatumGetPointer(value))
				pfree(document);
		}
	}
	MemoryContextSwitchTo(old);
	return vx_path_finish(path);
}

/* The vector of a path column for the selected rows. */
static const VxVector *
path_column_vector(VxBatch *batch, VxPath *path)
{
	const VxVector *v = NULL;

	if (batch->reader != NULL)
		v = vx_format->path(batch->reader, path, batch->vecno, batch->selection);
	if (v == NULL && path->kind == VX_PATH_PART)
		return vx_batch_vector(batch, path->attno);
	return v != NULL ? v : document_values(batch, path);
}

/* Types that text of an integer can be cast to; length 0: none. */
static int16
integer_length(Oid type)
{
	return type == INT8OID ? 8 : type == INT4OID ? 4 : type == INT2OID ? 2 : 0;
}

bool
vx_is_path_number(Node *node)
{
	Node	   *arg = NULL;
	Oid			type = exprType(node);

	if (IsA(node, CoerceViaIO) && (type == NUMERICOID || integer_length(type) > 0))
		arg = (Node *) ((CoerceViaIO *) node)->arg;
	else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcid == F_NUMERIC_JSONB)
		arg = linitial(((FuncExpr *) node)->args);
	return arg != NULL && IsA(arg, Var) &&
		(((Var *) arg)->vartype == TEXTOID || ((Var *) arg)->vartype == JSONBOID);
}

/* Numbers without a fraction, all of which the type holds, as its values; or NULL. */
static const VxVector *
integers_of(VxPath *path, const VxVector *numbers, Oid type, const uint64 *rows)
{
	int16		length = integer_length(type);
	int64		limit = length == 8 ? PG_INT64_MAX : length == 4 ? PG_INT32_MAX : PG_INT16_MAX;

	if (path->kind != VX_PATH_TEXT || numbers->rep != VX_REP_DECIMAL64 || numbers->scale != 0)
		return NULL;
	VX_FOREACH_ROW(row, rows, (numbers->n + 63) / 64)
	{
		int64		value = numbers->u.i64[row];

		if ((value > limit || value < -limit - 1) && !vx_vector_isnull(numbers, row))
			return NULL;
	}
	path->integers = *numbers;
	path->integers.rep = VX_REP_INT64;
	path->integers.typlen = length;
	return &path->integers;
}

const VxVector *
vx_path_column_numbers(VxBatch *batch, AttrNumber attno, Oid type, const uint64 *rows)
{
	VxPath	   *path;
	const VxVector *numbers;

	if (attno <= batch->natts || batch->reader == NULL || vx_format->path_numbers == NULL)
		return NULL;
	path = batch->paths[attno - batch->natts - 1];
	numbers = vx_format->path_numbers(batch->reader, path, batch->vecno, rows);
	if (numbers == NULL || type == NUMERICOID)
		return numbers;
	return integers_of(path, numbers, type, rows);
}
