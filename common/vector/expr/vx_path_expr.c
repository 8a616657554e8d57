/*-------------------------------------------------------------------------
 *
 * vx_path_expr.c
 *	  Gives path expressions over jsonb columns (vx_path_find.c) columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_format.h"
#include "vx_path_expr.h"
#include "vx_settings.h"
#include "st_compat.h"

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
	path->call_mcxt = AllocSetContextCreate(set->mcxt, "path operators",
											ALLOCSET_DEFAULT_SIZES);
	path->words = palloc0(ST_VECTOR_SIZE * sizeof(int64));
	path->codes = palloc0(ST_VECTOR_SIZE * sizeof(uint32));
	if (path->kind == VX_PATH_TEXT)
		vx_codes_init(&path->dictionary, set->mcxt, TEXTOID, -1);
	path->hints = palloc0(Max(1, path->nkeys) * sizeof(StJsonbHint));
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
	ListCell   *lc;

	place->use = intVal(linitial(list));
	place->keys = palloc(list_length(list) * sizeof(StStr));
	place->below = palloc(list_length(list) * sizeof(StStr));
	place->hints = palloc0(list_length(list) * sizeof(StJsonbHint));
	for_each_from(lc, list, 1)
	{
		const char *key;
		StStr	   *end;

		if (IsA(lfirst(lc), Integer))
		{
			place->elements = true;
			continue;
		}
		end = place->elements ? &place->below[place->nbelow++] : &place->keys[place->nkeys++];
		key = strVal(lfirst(lc));
		*end = (StStr) {(const uint8_t *) key, strlen(key)};
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
	path.places = palloc0(Max(1, path.nplaces) * sizeof(VxPathPlace));
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
over_part(VxPathSet *set, Node *node, bool condition)
{
	VxPathUse	use;
	DocumentSwap swap;

	if (!vx_enable_document_parts || !vx_path_use(node, condition, &use) || !use.part ||
		vx_path_document_column(set, (Node *) use.document) == InvalidAttrNumber)
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

	if (!vx_path_take_call(node, &funcid, &document, &arg, &collation) ||
		(funcid != F_JSONB_EXISTS_ANY && funcid != F_JSONB_EXISTS_ALL) ||
		vx_path_document_column(set, document) == InvalidAttrNumber ||
		!vx_path_array_keys(arg->constvalue, &keys))
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

/*
 * The document less some places, or that as text: a column, and the expression
 * itself over the documents for which it has none.  NULL: not so.
 */
static Node *
less_column(VxPathSet *set, Node *node)
{
	CoerceViaIO *cast = IsA(node, CoerceViaIO) ? (CoerceViaIO *) node : NULL;
	VxPath		path = {0};
	Form_pg_attribute att;
	DocumentSwap swap;
	CoalesceExpr *either;
	Var		   *less;

	if ((cast != NULL && cast->resulttype != TEXTOID) ||
		!vx_path_find_less(set, cast != NULL ? (Node *) cast->arg : node, &path))
		return NULL;
	att = TupleDescAttr(set->desc, path.attno - 1);
	swap.document = makeVar(set->varno, path.attno, att->atttypid, -1, InvalidOid, 0);
	path.kind = cast != NULL ? VX_PATH_PRINT : VX_PATH_LESS;
	less = path_column(set, node, &path);
	path.kind = VX_PATH_REST;
	path.less = less->varattno;
	/* stands for the documents that are left to the expression, and has their type */
	swap.part = path_column(set, (Node *) makeRelabelType((Expr *) list_make1(node),
														  att->atttypid, -1, InvalidOid,
														  COERCE_IMPLICIT_CAST), &path);
	swap.argument = NULL;
	either = makeNode(CoalesceExpr);
	either->coalescetype = exprType(node);
	either->coalescecollid = exprCollation(node);
	either->args = list_make2(less, swap_document(node, &swap));
	either->location = -1;
	return (Node *) either;
}

static Node *replace(Node *node, VxPathSet *set);

/* condition: null is as good as false. */
static Node *
replace_as(Node *node, VxPathSet *set, bool condition)
{
	VxPath		path = {0};
	Node	   *list;

	if (condition && (is_andclause(node) || is_orclause(node)))
	{
		List	   *args = NIL;
		ListCell   *lc;

		foreach(lc, ((BoolExpr *) node)->args)
			args = lappend(args, replace_as(lfirst(lc), set, true));
		return (Node *) makeBoolExpr(((BoolExpr *) node)->boolop, args, -1);
	}
	list = less_column(set, node);
	if (list != NULL)
		return list;
	list = exists_list(set, node);
	if (list != NULL)
		node = list;
	if (vx_path_find(set, node, &path))
		return (Node *) path_column(set, node, &path);
	list = over_part(set, node, condition);
	return expression_tree_mutator(list != NULL ? list : node, replace, set);
}

static Node *
replace(Node *node, VxPathSet *set)
{
	return node == NULL ? NULL : replace_as(node, set, false);
}

static bool
has_documents(Node *node, VxPathSet *set)
{
	if (node == NULL)
		return false;
	if (vx_path_document_column(set, node) != InvalidAttrNumber)
		return true;
	return expression_tree_walker(node, has_documents, set);
}

static Node *
replace_in_set(VxPathSet *set, Node *node, bool condition)
{
	MemoryContext old;
	int			before = set->npaths;
	Node	   *result;

	if (!vx_enable_path_columns || !has_documents(node, set) ||
		has_odd_columns(node, set))
		return node;
	old = MemoryContextSwitchTo(set->mcxt);
	result = replace_as(node, set, condition);
	MemoryContextSwitchTo(old);
	if (set->npaths == before && equal(result, node))
		return node;
	return result;
}

Node *
vx_path_set_replace(VxPathSet *set, Node *node)
{
	return replace_in_set(set, node, false);
}

Node *
vx_path_set_replace_condition(VxPathSet *set, Node *node)
{
	return replace_in_set(set, node, true);
}

/* {a,b} */
static void
describe_keys(int nkeys, const StStr *from, StringInfo s)
{
	Datum	   *keys = palloc(Max(1, nkeys) * sizeof(Datum));
	Oid			out;
	bool		varlena;

	for (int i = 0; i < nkeys; i++)
		keys[i] = PointerGetDatum(cstring_to_text_with_len((char *) from[i].data,
														   from[i].len));
	getTypeOutputInfo(TEXTARRAYOID, &out, &varlena);
	appendStringInfoString(s, OidOutputFunctionCall(out,
													PointerGetDatum(construct_array(keys, nkeys, TEXTOID, -1,
																					false, TYPALIGN_INT))));
}

static void
describe_place(const VxPathPlace *place, StringInfo s)
{
	int			n = place->nkeys + (place->elements ? 1 + place->nbelow : 0);
	StStr	   *keys = palloc(Max(1, n) * sizeof(StStr));

	memcpy(keys, place->keys, place->nkeys * sizeof(StStr));
	if (place->elements)
	{
		keys[place->nkeys] = (StStr) {(const uint8_t *) "[]", 2};
		memcpy(keys + place->nkeys + 1, place->below, place->nbelow * sizeof(StStr));
	}
	describe_keys(n, keys, s);
}

List *
vx_path_set_describe(const VxPathSet *set)
{
	List	   *parts = NIL;

	for (int i = 0; i < set->npaths; i++)
	{
		const VxPath *path = set->paths[i];
		StringInfoData s;

		if (path->kind == VX_PATH_REST || (path->kind != VX_PATH_PART && !vx_path_is_less(path)))
			continue;
		initStringInfo(&s);
		appendStringInfo(&s, "%s:", NameStr(TupleDescAttr(set->desc, path->attno - 1)->attname));
		if (vx_path_is_less(path))
			appendStringInfoString(&s, path->no_nulls ? " all but nulls" : " all but");
		for (int p = 0; p < path->nplaces; p++)
		{
			const VxPathPlace *place = &path->places[p];

			appendStringInfoString(&s, p == 0 && !path->no_nulls ? " " : ", ");
			appendStringInfoString(&s, place->use == VX_USE_VALUE ? "" :
								   place->use == VX_USE_NO_OBJECT ? "no object at " :
								   place->use == VX_USE_THERE ? "existence of " : "keys of ");
			describe_place(place, &s);
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

/* The reader of the path's documents, or NULL. */
static StReader *
reader_of(const VxBatch *batch, const VxPath *path)
{
	return batch->elements == 0 || batch->elements == path->attno ? batch->documents : NULL;
}

/* The vector of a path column for the selected rows. */
static const VxVector *
path_column_vector(VxBatch *batch, VxPath *path)
{
	StReader   *reader = reader_of(batch, path);
	const VxVector *v = NULL;

	if (reader != NULL)
		v = vx_format->path(reader, path, batch->vecno, batch->selection);
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
	StReader   *reader;
	const VxVector *numbers;

	if (attno <= batch->natts || vx_format->path_numbers == NULL)
		return NULL;
	path = batch->paths[attno - batch->natts - 1];
	reader = reader_of(batch, path);
	if (reader == NULL)
		return NULL;
	numbers = vx_format->path_numbers(reader, path, batch->vecno, rows);
	if (numbers == NULL || type == NUMERICOID)
		return numbers;
	return integers_of(path, numbers, type, rows);
}
