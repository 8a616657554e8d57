/*-------------------------------------------------------------------------
 *
 * vx_agg_unnest.c
 *	  Elements of arrays and documents as vectors, for the node that aggregates them.
 *
 * What the node takes rows of may be unnest() of an array of each row, or a function
 * that gives the elements or keys of a document, in the target list (ProjectSet) or
 * beside the table (a nested loop over a function scan), where the table's rows come
 * from a node that hands out vectors.  Then the array is evaluated on those, and its
 * elements go straight into a vector; what else is needed of the rows is repeated for
 * each element.  The server's nodes between are set up, and never run.  An array is a
 * document, too, below.
 *
 * A format may have elements of documents' arrays in vectors of their own: then these
 * are the batches, and what stands at paths of elements comes from there.
 *
 * Strings become codes of a dictionary that grows, while there are few different
 * ones.  Of an array that is a value of a dictionary, they are looked up once.
 *
 * Memory: copies of arrays until the next batch from below, of elements those of one batch.
 * Large arrays are fetched one by one, and only one is in memory; computed ones are made
 * for so many rows that their elements are not many.  Of a row group's dictionary of arrays a code for each
 * element, as long as it is in use.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "miscadmin.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "vx_agg.h"
#include "vx_elements.h"
#include "vx_agg_unnest.h"
#include "vx_row_column.h"
#include "vx_scan.h"
#include "st_compat.h"

#define NULL_CODE	PG_UINT32_MAX

/* Arrays are computed for rows that have about so many elements. */
#define SLICE_ELEMENTS	(64 * 1024)
#define MIN_SLICE		16
#define FIRST_SLICE		64

/* Codes of the elements of an array. */
typedef struct ElementList
{
	bool		known;
	uint32		start;
	uint32		n;
} ElementList;

struct VxAggUnnest
{
	PlanState  *child;
	PlanState  *below;			/* it, or a node below it */
	VxProducer *source;
	VxExprSet  *array_exprs;	/* over its columns */
	VxExpr	   *array;			/* of them */
	List	   *quals;			/* of VxExpr, over the columns of batch */

	/* its columns, and behind them the element */
	VxBatch    *batch;
	VxProducer	producer;
	VxPathSet  *paths;			/* of elements that are documents, behind it */
	VxVector  **gathered;		/* by column, made when needed */
	uint16		from[ST_VECTOR_SIZE];	/* row that the element is of */

	/* the element of rows that were put out so far */
	AttrNumber	element;		/* its column */
	VxRowColumn column;
	VxCodes		codes;
	bool		coded;			/* those at hand are codes of it */
	VxVector	coded_vector;

	/* by code of a dictionary of arrays */
	MemoryContext lists_mcxt;
	uint64		lists_group;
	const VxDictionary *lists_dict;
	uint64		lists_made;
	ElementList *lists;
	uint32		nlists;
	uint32	   *elements;
	uint32		nelements;
	uint32		max_elements;

	/* position */
	MemoryContext arrays_mcxt;
	MemoryContext items_mcxt;	/* elements of the batch, and what its conditions leave */
	AttrNumber	large;			/* column of arrays that are fetched one by one, or 0 */
	AttrNumber	plain;			/* column that is the arrays, as they are, or 0 */
	bool	   *fetched;		/* of the source: that column alone */
	Datum	   *values;
	bool	   *isnull;
	const VxVector *v;			/* else arrays of the source's batch, */
	uint16		rows[ST_VECTOR_SIZE];	/* selected ones, */
	int			nrows;
	int			ready;			/* those of which v has arrays, */
	int			at;				/* and those that are done */
	int			slice;			/* for so many arrays are computed next */
	int			slice_rows;		/* for so many they were, */
	int64		slice_elements; /* which have so many elements */
	VxElements	items;			/* elements of the last of them, */
	int			next;
	int			nitems;
	const uint32 *list;			/* or their codes */
	VxElementPlaces *places;	/* where elements of the source's batch are, */
	bool		direct;			/* if they are in vectors of their own */
};

/* ---- set up ---- */

/* VxRowsVector: a column of the rows from below, or the element. */
static const VxVector *
make_column(void *rows, AttrNumber attno)
{
	VxAggUnnest *u = rows;
	VxVector  **v = &u->gathered[attno - 1];

	if (attno == u->element && u->direct)
		return vx_format->vector(u->places->reader, attno, u->batch->vecno,
								 u->batch->selection);
	if (attno == u->element)
		return u->coded ? &u->coded_vector : &u->column.v;
	if (*v == NULL)
	{
		*v = MemoryContextAllocZero(u->batch->mcxt, sizeof(VxVector));
		(*v)->u.i128 = MemoryContextAllocZero(u->batch->mcxt,
											  sizeof(int128) * ST_VECTOR_SIZE);
	}
	vx_vector_gather(*v, vx_batch_vector(u->source->batch, attno), u->from, u->batch->nrows);
	return *v;
}

static TupleDesc
make_desc(TupleDesc source, const Var *element)
{
	int			natts = source->natts;
	TupleDesc	desc = CreateTemplateTupleDesc(natts + 1);

	for (int i = 1; i <= natts; i++)
		TupleDescCopyEntry(desc, i, source, i);
	TupleDescInitEntry(desc, natts + 1, NULL, element->vartype, -1, 0);
	TupleDescInitEntryCollation(desc, natts + 1, element->varcollid);
	TupleDescFinalize(desc);
	return desc;
}

static void
init_element(VxAggUnnest *u, Form_pg_attribute attr)
{
	vx_row_column_init(&u->column, attr);
	if (u->items.typlen != -1 || u->column.numeric)
		return;
	vx_codes_init(&u->codes, CurrentMemoryContext, u->column.type, -1);
	u->coded_vector.rep = VX_REP_CODE;
	u->coded_vector.typlen = -1;
	u->coded_vector.dict = &u->codes.dict;
	u->coded_vector.u.code = palloc0(sizeof(uint32) * ST_VECTOR_SIZE);
}

static Bitmapset *
columns_of(List *exprs, Index varno)
{
	Bitmapset  *attrs = NULL;
	Bitmapset  *result = NULL;
	int			member = -1;

	pull_varattnos((Node *) exprs, varno, &attrs);
	while ((member = bms_next_member(attrs, member)) >= 0)
		result = bms_add_member(result, member + FirstLowInvalidHeapAttributeNumber);
	return result;
}

/*
 * Elements that are documents have path columns, too.  Returns the columns that are
 * needed: documents in place of these.
 */
static Bitmapset *
set_element_paths(VxAggUnnest *u, VxUnnestShape *shape, TupleDesc desc)
{
	Bitmapset  *columns;
	Bitmapset  *result = NULL;
	int			attno = -1;

	u->paths = vx_path_set_create(desc, u->source->varno);
	if (u->items.kind == VX_ELEMENTS_JSON)
		shape->exprs = (List *) vx_path_set_replace(u->paths, (Node *) shape->exprs);
	columns = columns_of(shape->exprs, u->source->varno);
	while ((attno = bms_next_member(columns, attno)) >= 0)
		result = bms_add_member(result, attno <= desc->natts ? attno :
								u->paths->paths[attno - desc->natts - 1]->attno);
	return result;
}

/* Everything can be evaluated on vectors; then quals has what is a condition. */
static bool
compile(VxAggUnnest *u, VxExprSet *exprs, const VxUnnestShape *shape)
{
	ListCell   *lc;

	foreach(lc, shape->exprs)
	{
		VxExpr	   *program = vx_expr_compile(exprs, lfirst(lc), 0);

		if (program == NULL)
			return false;
		if (foreach_current_index(lc) >= shape->ncolumns)
			u->quals = lappend(u->quals, program);
	}
	return true;
}

/*
 * Paths of documents become columns of a scan.  What the call needs of its document is
 * found by the call as a whole.
 */
static TupleDesc
replace_paths(VxUnnestShape *shape, AttrNumber *plain)
{
	VxScanState *scan = vx_scan_state(shape->below);
	Node	   *array;

	if (scan == NULL)
		return vx_producer(shape->below)->desc;
	array = vx_scan_replace_paths(scan, linitial(shape->call->args));
	*plain = IsA(array, Var) ? ((Var *) array)->varattno : 0;
	/* no values of jsonb_each() are asked for */
	if (shape->call->funcresulttype != shape->element->vartype)
		shape->call->funcid = F_JSONB_OBJECT_KEYS;
	shape->call = (FuncExpr *) vx_scan_replace_paths(scan, (Node *) shape->call);
	shape->exprs = (List *) vx_scan_replace_paths(scan, (Node *) shape->exprs);
	return vx_path_set_desc(scan->paths);
}

VxAggUnnest *
vx_agg_unnest_create(VxAggState *state, PlanState *child, List *operands, List *columns)
{
	VxUnnestShape shape = {0};
	VxAggUnnest *u;
	VxProducer *source;
	TupleDesc	source_desc;
	TupleDesc	desc;
	VxExprSet  *exprs;
	Bitmapset  *columns_needed;

	if (!vx_unnest_find_shape(&shape, child, columns) ||
		contain_volatile_functions((Node *) shape.exprs) ||
		contain_subplans((Node *) shape.exprs))
		return NULL;
	source = vx_producer(shape.below);
	if (vx_needs_row(lappend(list_copy(shape.exprs), shape.call), source->varno))
		return NULL;
	u = palloc0(sizeof(VxAggUnnest));
	u->child = child;
	u->below = shape.below;
	u->source = source;
	vx_elements_init(&u->items, shape.call);
	source_desc = replace_paths(&shape, &u->plain);
	u->element = source_desc->natts + 1;
	desc = make_desc(source_desc, shape.element);
	vx_unnest_set_element(&shape, source->varno, u->element);
	u->array_exprs = vx_exprs_create(source_desc, source->varno, shape.below);
	u->array = vx_expr_compile(u->array_exprs, linitial(shape.call->args), 0);
	columns_needed = set_element_paths(u, &shape, desc);
	exprs = vx_exprs_create(vx_path_set_desc(u->paths), source->varno, shape.below);
	if (u->array == NULL || !compile(u, exprs, &shape))
		return NULL;
	u->batch = vx_batch_create(desc->natts, columns_needed);
	vx_path_set_attach(u->paths, u->batch);
	u->batch->rows = u;
	u->batch->rows_vector = make_column;
	u->gathered = palloc0(sizeof(VxVector *) * desc->natts);
	u->fetched = palloc0(sizeof(bool) * desc->natts);
	u->values = palloc0(sizeof(Datum) * desc->natts);
	u->isnull = palloc0(sizeof(bool) * desc->natts);
	init_element(u, TupleDescAttr(desc, desc->natts - 1));
	u->slice = FIRST_SLICE;
	if (u->items.kind == VX_ELEMENTS_JSON && vx_format->elements != NULL &&
		vx_scan_state(shape.below) != NULL)
		u->places = palloc(sizeof(VxElementPlaces));
	u->lists_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector unnest of a dictionary",
										  ALLOCSET_DEFAULT_SIZES);
	u->arrays_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector unnest of a batch",
										   ALLOCSET_DEFAULT_SIZES);
	u->items_mcxt = AllocSetContextCreate(CurrentMemoryContext, "elements of a batch",
										  ALLOCSET_DEFAULT_SIZES);

	state->batch = u->batch;
	state->desc = desc;
	state->producer = &u->producer;
	state->exprs = exprs;
	state->operands = operands;
	state->fused = operands == NIL ? NIL : list_truncate(shape.exprs, shape.ncolumns);
	return u;
}

void
vx_agg_unnest_rescan(VxAggUnnest *u)
{
	vx_producer_rescan_through(u->child, u->below);
	u->nrows = u->ready = u->at = 0;
	u->next = u->nitems = 0;
	u->direct = false;
	u->lists_dict = NULL;
	vx_exprs_rescan(u->array_exprs);
}

/* ---- elements ---- */

/* There are too many different strings: from here on they are values. */
static void
give_up_codes(VxAggUnnest *u, int n)
{
	const uint32 *code = u->coded_vector.u.code;

	u->coded = false;
	vx_row_column_reset(&u->column);
	for (int i = 0; i < n; i++)
		if (vx_vector_isnull(&u->coded_vector, i))
			vx_row_column_put_null(&u->column, i);
		else
			vx_row_column_put(&u->column, i, u->codes.dict.values[code[i]]);
}

static inline void
put_code(VxAggUnnest *u, int i, uint32 code)
{
	if (code == NULL_CODE)
	{
		u->coded_vector.has_nulls = true;
		u->coded_vector.u.code[i] = 0;
		return;
	}
	u->coded_vector.u.code[i] = code;
	vx_rows_set(u->coded_vector.valid, i);
}

static void
put_element(VxAggUnnest *u, int i, Datum value, bool isnull)
{
	uint32		code = NULL_CODE;

	if (!isnull && u->items.typlen == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	if (u->coded && (isnull || vx_codes_find(&u->codes, value, &code)))
	{
		put_code(u, i, code);
		return;
	}
	if (u->coded)
		give_up_codes(u, i);
	if (isnull)
		vx_row_column_put_null(&u->column, i);
	else
		vx_row_column_put(&u->column, i, value);
}

/* ---- dictionaries of arrays ---- */

static void
add_list_element(VxAggUnnest *u, uint32 code)
{
	if (u->nelements == u->max_elements)
	{
		u->max_elements = Max(u->max_elements * 2, 1024);
		u->elements = u->elements == NULL ?
			MemoryContextAllocHuge(u->lists_mcxt, sizeof(uint32) * u->max_elements) :
			repalloc_huge(u->elements, sizeof(uint32) * u->max_elements);
	}
	u->elements[u->nelements++] = code;
}

/* Codes of the elements of a dictionary's array; false: codes have been given up. */
static bool
make_list(VxAggUnnest *u, ElementList *list, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(u->items_mcxt);
	bool		known = true;

	list->start = u->nelements;
	vx_elements_begin(&u->items, value);
	for (int i = 0; i < u->items.nitems && known; i++)
	{
		bool		isnull;
		Datum		element = vx_elements_next(&u->items, i, &isnull);
		uint32		code = NULL_CODE;

		known = isnull || vx_codes_find(&u->codes, element, &code);
		if (known)
			add_list_element(u, code);
	}
	MemoryContextSwitchTo(old);
	if (!known)
		u->nelements = list->start;
	list->n = u->items.nitems;
	list->known = known;
	return known;
}

static void
grow_lists(VxAggUnnest *u, uint32 code)
{
	uint32		n = Max(Max(u->nlists * 2, u->lists_dict->nvalues), code + 1);

	u->lists = u->lists == NULL ?
		MemoryContextAllocHuge(u->lists_mcxt, sizeof(ElementList) * n) :
		repalloc_huge(u->lists, sizeof(ElementList) * n);
	memset(u->lists + u->nlists, 0, sizeof(ElementList) * (n - u->nlists));
	u->nlists = n;
}

/* The list of a code; NULL: codes have been given up. */
static const ElementList *
list_of_code(VxAggUnnest *u, uint32 code)
{
	const VxDictionary *dict = u->v->dict;

	if (u->lists_dict != dict || u->lists_made != dict->made ||
		u->lists_group != u->source->group)
	{
		MemoryContextReset(u->lists_mcxt);
		u->lists = NULL;
		u->nlists = 0;
		u->elements = NULL;
		u->nelements = u->max_elements = 0;
		u->lists_dict = dict;
		u->lists_made = dict->made;
		u->lists_group = u->source->group;
	}
	if (code >= u->nlists)
		grow_lists(u, code);
	if (!u->lists[code].known && !make_list(u, &u->lists[code], dict->values[code]))
		return NULL;
	return &u->lists[code];
}

/* ---- batches ---- */

static void
begin_array(VxAggUnnest *u, Datum value)
{
	vx_elements_begin(&u->items, value);
	u->list = NULL;
	u->nitems = u->items.nitems;
	u->slice_elements += u->nitems;
}

/* An array that is a value of a dictionary; false: codes have been given up. */
static bool
begin_list(VxAggUnnest *u, uint32 code)
{
	const ElementList *list = list_of_code(u, code);

	if (list == NULL)
		return false;
	u->list = u->elements + list->start;
	u->nitems = list->n;
	u->slice_elements += u->nitems;
	return true;
}

/* A large array, in memory until the next one; false: it is null. */
static bool
fetch_array(VxAggUnnest *u, int row)
{
	const VxBatch *from = u->source->batch;

	vx_format->store->reader_row(from->reader, from->start + row, u->fetched, u->values,
								 u->isnull);
	if (u->isnull[u->large - 1])
		return false;
	begin_array(u, PointerGetDatum(PG_DETOAST_DATUM_COPY(u->values[u->large - 1])));
	return true;
}

/*
 * Goes on to the next array that is there; false if there is none.  n: elements
 * that were put out so far.
 */
static bool
next_array(VxAggUnnest *u, int n)
{
	while (u->at < u->ready)
	{
		int			row = u->rows[u->at++];

		u->next = u->nitems = 0;
		if (u->large > 0)
		{
			if (!fetch_array(u, row))
				continue;
			return true;
		}
		if (vx_vector_isnull(u->v, row))
			continue;
		if (u->v->rep == VX_REP_CODE && u->coded)
		{
			if (begin_list(u, u->v->u.code[row]))
				return true;
			give_up_codes(u, n);
		}
		begin_array(u, vx_vector_datum(u->v, row));
		return true;
	}
	return false;
}

/* Elements of the array at hand, from row n on; returns the number of rows then. */
static int
put_elements(VxAggUnnest *u, int n)
{
	uint16		row = u->rows[u->at - 1];
	MemoryContext old = MemoryContextSwitchTo(u->items_mcxt);

	for (; u->next < u->nitems && n < ST_VECTOR_SIZE; u->next++, n++)
	{
		u->from[n] = row;
		if (u->list)
			/* nothing is added to the dictionary, and so not given up, meanwhile */
			put_code(u, n, u->list[u->next]);
		else
		{
			bool		isnull;
			Datum		value = vx_elements_next(&u->items, u->next, &isnull);

			put_element(u, n, value, isnull);
		}
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* Of a part of documents in whose keys the call is interested: the documents. */
static AttrNumber
document_of(const VxBatch *from, AttrNumber attno)
{
	const VxPath *path;

	if (attno <= from->natts)
		return attno;
	path = from->paths[attno - from->natts - 1];
	return path->kind == VX_PATH_PART && path->nplaces == 1 && path->places[0].nkeys == 0 ?
		path->attno : 0;
}

/* Are the elements of the source's rows in vectors of their own? */
static bool
find_places(VxAggUnnest *u)
{
	VxBatch    *from = u->source->batch;
	AttrNumber	attno = u->plain;
	const VxPath *path = NULL;

	if (u->places == NULL || from->reader == NULL || attno <= 0)
		return false;
	if (attno > from->natts)
	{
		path = from->paths[attno - from->natts - 1];
		if (path->kind != VX_PATH_JSON || path->lax)
			return false;
		attno = path->attno;
	}
	return vx_format->elements(from->reader, attno, path, from->vecno, from->selection,
							   u->places);
}

static bool
next_source(VxAggUnnest *u)
{
	VxBatch    *from = u->source->batch;

	if (!vx_producer_next(u->below))
		return false;
	u->nrows = vx_selection_rows(from->selection, from->nrows, u->rows);
	u->at = u->ready = 0;
	u->next = u->nitems = 0;
	u->direct = find_places(u);
	u->large = document_of(from, vx_expr_plain_column(u->array));
	if (u->large > 0 && (!vx_batch_is_large(from, u->large) ||
						 vx_batch_column(from, u->large)->access != VX_ACCESS_NONE))
		u->large = 0;
	if (u->large > 0)
	{
		memset(u->fetched, 0, sizeof(bool) * from->natts);
		u->fetched[u->large - 1] = true;
	}
	return true;
}

/* Makes arrays of the next rows be there.  No element of those before is in use. */
static void
make_arrays(VxAggUnnest *u)
{
	VxBatch    *from = u->source->batch;
	uint64		rows[VX_SELECTION_WORDS] = {0};

	MemoryContextReset(u->arrays_mcxt);
	if (u->large > 0 || vx_expr_plain_column(u->array) > 0)
	{
		u->ready = u->nrows;
		if (u->large == 0)
			u->v = vx_expr_eval(u->array, from, from->selection);
		return;
	}
	if (u->slice_rows > 0)
		u->slice = Min(Max(SLICE_ELEMENTS / (u->slice_elements / u->slice_rows + 1),
						   MIN_SLICE), ST_VECTOR_SIZE);
	u->ready = Min(u->at + u->slice, u->nrows);
	u->slice_rows = u->ready - u->at;
	u->slice_elements = 0;
	for (int i = u->at; i < u->ready; i++)
		vx_rows_set(rows, u->rows[i]);
	u->v = vx_expr_eval(u->array, from, rows);
}

/* Elements of the rows at hand, as many as go into a batch; their number. */
static int
fill(VxAggUnnest *u)
{
	int			n = 0;

	/* of the batch before nothing is in use any more; codes are those of copies */
	MemoryContextReset(u->items_mcxt);
	u->coded = u->codes.values != NULL;
	u->coded_vector.has_nulls = false;
	memset(u->coded_vector.valid, 0, sizeof(u->coded_vector.valid));
	vx_row_column_reset(&u->column);
	if (u->large > 0 && u->next == u->nitems)
		MemoryContextReset(u->arrays_mcxt);
	while (n < ST_VECTOR_SIZE)
	{
		/* where arrays are large, a batch has elements of one alone */
		if (u->next == u->nitems && n > 0 && u->large > 0)
			break;
		if (u->next < u->nitems || next_array(u, n))
			n = put_elements(u, n);
		else if (n > 0 || u->at == u->nrows)
			break;
		else
			make_arrays(u);
	}
	u->coded_vector.n = n;
	vx_row_column_finish(&u->column, n);
	return n;
}

/*
 * Elements of the rows at hand that are in one vector of elements: that is the batch,
 * elements of other rows not selected.  False: there are no more.
 */
static bool
fill_direct(VxAggUnnest *u)
{
	const VxElementPlaces *p = u->places;
	uint32		vecno;
	uint32		first;
	uint32		end;

	MemoryContextReset(u->items_mcxt);
	while (u->at < u->nrows && (uint32) u->next == p->length[u->rows[u->at]])
	{
		u->at++;
		u->next = 0;
	}
	if (u->at == u->nrows)
		return false;
	vecno = (p->start[u->rows[u->at]] + u->next) / ST_VECTOR_SIZE;
	first = vx_format->vector_start(p->reader, vecno);
	end = vx_format->vector_start(p->reader, vecno + 1);
	vx_batch_set_rows(u->batch, end - first);
	u->batch->documents = p->reader;
	u->batch->elements = u->element;
	u->batch->vecno = vecno;
	memset(u->batch->selection, 0, sizeof(u->batch->selection));
	memset(u->from, 0, sizeof(u->from));
	for (; u->at < u->nrows; u->at++, u->next = 0)
	{
		uint16		row = u->rows[u->at];

		for (; (uint32) u->next < p->length[row]; u->next++)
		{
			uint32		element = p->start[row] + u->next;

			if (element >= end)
				return true;
			u->from[element - first] = row;
			vx_rows_set(u->batch->selection, element - first);
		}
	}
	return true;
}

/* The next rows of the batch; false: the source is to go on. */
static bool
next_rows(VxAggUnnest *u)
{
	int			n;

	if (u->direct)
		return fill_direct(u);
	n = fill(u);
	if (n > 0)
		vx_batch_set_rows(u->batch, n);
	return n > 0;
}

static void
run_quals(VxAggUnnest *u)
{
	VxBatch    *batch = u->batch;
	ListCell   *lc;

	foreach(lc, u->quals)
	{
		const VxVector *v;

		if (vx_selection_is_empty(batch->selection, batch->nrows))
			return;
		v = vx_expr_eval(lfirst(lc), batch, batch->selection);
		VX_FOREACH_ROW(row, batch->selection, (batch->nrows + 63) / 64)
			if (vx_vector_isnull(v, row) || v->u.i64[row] == 0)
				vx_rows_clear(batch->selection, row);
	}
}

bool
vx_agg_unnest_next(VxAggUnnest *u)
{
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(u->arrays_mcxt);
		bool		found = next_rows(u);

		MemoryContextSwitchTo(old);
		CHECK_FOR_INTERRUPTS();
		if (!found)
		{
			if (!next_source(u))
				return false;
			continue;
		}
		u->batch->first_row = u->producer.group = u->source->group;
		MemoryContextSwitchTo(u->items_mcxt);
		run_quals(u);
		MemoryContextSwitchTo(old);
		if (!vx_selection_is_empty(u->batch->selection, u->batch->nrows))
			return true;
	}
}
