/*-------------------------------------------------------------------------
 *
 * st_sort.c
 *	  Sorting rows by a table's option orderby.
 *
 * What the option names may be columns and expressions.  Rows that go through
 * a sort carry the values of expressions behind their columns.  Expressions
 * call immutable functions of the server alone (st_order_expr.c), so it does
 * not matter in whose name they are evaluated.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "st_checksum.h"
#include "st_compat.h"
#include "st_options.h"
#include "st_compact.h"

/* The comparison of one column of the order. */
typedef struct OrderKey
{
	Oid			type;
	Oid			collation;
	Oid			ordering;		/* operator */
	int16		attno;
	bool		desc;
	bool		nulls_first;
} OrderKey;

struct StOrder
{
	Relation	rel;
	int			nkeys;
	OrderKey	keys[ST_MAX_ORDERBY];
	Expr	   *exprs[ST_MAX_ORDERBY];	/* NULL: a column */
	ExprState  *states[ST_MAX_ORDERBY];
	StKeys		zoned;			/* the expressions, by key */
	uint64		hash;
	EState	   *estate;
	int			natts;			/* columns of sorted rows before the values of
								 * expressions */
};

static void
set_key(Relation rel, const StOrderColumn *column, OrderKey *key, Expr **expr)
{
	TypeCacheEntry *type;

	if (column->expr != NULL)
	{
		*expr = st_order_expr_analyse(rel, column->expr);
		key->type = exprType((Node *) *expr);
		key->collation = exprCollation((Node *) *expr);
	}
	else
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel),
											  column->attno - 1);

		*expr = NULL;
		key->type = att->atttypid;
		key->collation = att->attcollation;
	}
	type = lookup_type_cache(key->type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	key->attno = column->attno;
	key->desc = column->desc;
	key->nulls_first = column->nulls_first;
	key->ordering = column->desc ? type->gt_opr : type->lt_opr;
}

static void
make_states(StOrder *order)
{
	MemoryContext old;

	order->estate = CreateExecutorState();
	old = MemoryContextSwitchTo(order->estate->es_query_cxt);
	for (int i = 0; i < order->nkeys; i++)
	{
		if (order->exprs[i] != NULL)
			order->states[i] = ExecPrepareExpr(order->exprs[i], order->estate);
	}
	MemoryContextSwitchTo(old);
}

/*
 * What row groups are told of the order.  Keys of columns alone are hashed as
 * they always were: row groups on disk have noted it.
 */
static void
set_identity(StOrder *order)
{
	order->hash = st_checksum64(order->keys, order->nkeys * sizeof(OrderKey),
								order->nkeys);
	order->zoned.n = order->nkeys;
	for (int i = 0; i < order->nkeys; i++)
	{
		uint64		id;

		order->zoned.types[i] = order->keys[i].type;
		if (order->exprs[i] == NULL)
			continue;
		id = st_order_expr_id(order->exprs[i]);
		order->hash = st_checksum64(&id, sizeof(id), order->hash + i);
		if (st_order_expr_is_zoned(order->exprs[i]))
			order->zoned.ids[i] = id;
	}
	order->hash = Max(1, order->hash);
}

StOrder *
st_order_begin(Relation rel)
{
	/* a copy: analysis may look at options of tables */
	StOrderBy	orderby = st_options_get(rel)->orderby;
	StOrder    *order;

	if (orderby.ncolumns == 0)
		return NULL;
	order = palloc0(sizeof(StOrder));
	order->rel = rel;
	order->nkeys = orderby.ncolumns;
	for (int i = 0; i < order->nkeys; i++)
	{
		if (orderby.columns[i].expr != NULL)
			orderby.columns[i].expr = pstrdup(orderby.columns[i].expr);
	}
	for (int i = 0; i < order->nkeys; i++)
		set_key(rel, &orderby.columns[i], &order->keys[i], &order->exprs[i]);
	make_states(order);
	set_identity(order);
	return order;
}

void
st_order_end(StOrder *order)
{
	if (order == NULL)
		return;
	FreeExecutorState(order->estate);
	pfree(order);
}

/* ---- values of rows ---- */

/* An error of a function tells neither the table nor why it was called. */
static void
value_error_callback(void *arg)
{
	errcontext("option \"orderby\" of table \"%s\"",
			   RelationGetRelationName(((StOrder *) arg)->rel));
}

void
st_order_values(StOrder *order, TupleTableSlot *row, Datum *values, bool *isnull)
{
	ErrorContextCallback callback = {
		.callback = value_error_callback,
		.arg = order,
		.previous = error_context_stack
	};
	ExprContext *econtext;

	econtext = GetPerTupleExprContext(order->estate);
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = row;
	error_context_stack = &callback;
	for (int i = 0; i < order->nkeys; i++)
	{
		if (order->states[i] == NULL)
			values[i] = slot_getattr(row, order->keys[i].attno, &isnull[i]);
		else
			values[i] = ExecEvalExprSwitchContext(order->states[i], econtext,
												  &isnull[i]);
	}
	error_context_stack = callback.previous;
}

void
st_order_columns(const StOrder *order, bool *needed)
{
	for (int i = 0; i < order->nkeys; i++)
	{
		Bitmapset  *attnos = NULL;
		int			bit = -1;

		if (order->exprs[i] == NULL)
			needed[order->keys[i].attno - 1] = true;
		pull_varattnos((Node *) order->exprs[i], 1, &attnos);
		while ((bit = bms_next_member(attnos, bit)) >= 0)
			needed[bit + FirstLowInvalidHeapAttributeNumber - 1] = true;
	}
}

int
st_order_sort_support(const StOrder *order, SortSupport *result)
{
	SortSupport ssup = palloc0(order->nkeys * sizeof(SortSupportData));

	for (int i = 0; i < order->nkeys; i++)
	{
		ssup[i].ssup_cxt = CurrentMemoryContext;
		ssup[i].ssup_collation = order->keys[i].collation;
		ssup[i].ssup_nulls_first = order->keys[i].nulls_first;
		PrepareSortSupportFromOrderingOp(order->keys[i].ordering, &ssup[i]);
	}
	*result = ssup;
	return order->nkeys;
}

void
st_order_key_type(const StOrder *order, int key, int16 *len, bool *byval)
{
	get_typlenbyval(order->keys[key].type, len, byval);
}

/* ---- sorts ---- */

bool
st_order_computes(const StOrder *order)
{
	for (int i = 0; i < order->nkeys; i++)
	{
		if (order->exprs[i] != NULL)
			return true;
	}
	return false;
}

TupleDesc
st_order_descriptor(StOrder *order, TupleDesc desc)
{
	TupleDesc	result;
	AttrNumber	attno = desc->natts;

	order->natts = desc->natts;
	if (!st_order_computes(order))
		return desc;
	result = CreateTemplateTupleDesc(desc->natts + order->nkeys);
	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(result, i, desc, i);
	for (int i = 0; i < order->nkeys; i++)
	{
		TupleDescInitEntry(result, ++attno, "key", order->keys[i].type, -1, 0);
		TupleDescInitEntryCollation(result, attno, order->keys[i].collation);
	}
	TupleDescFinalize(result);
	return result;
}

const StKeys *
st_order_zoned(const StOrder *order)
{
	return &order->zoned;
}

Tuplesortstate *
st_order_sort(const StOrder *order, TupleDesc desc)
{
	AttrNumber	attnos[ST_MAX_ORDERBY];
	Oid			operators[ST_MAX_ORDERBY];
	Oid			collations[ST_MAX_ORDERBY];
	bool		nulls_first[ST_MAX_ORDERBY];

	for (int i = 0; i < order->nkeys; i++)
	{
		attnos[i] = order->exprs[i] == NULL ? order->keys[i].attno :
			order->natts + i + 1;
		operators[i] = order->keys[i].ordering;
		collations[i] = order->keys[i].collation;
		nulls_first[i] = order->keys[i].nulls_first;
	}
	return tuplesort_begin_heap(desc, order->nkeys, attnos, operators, collations,
								nulls_first, maintenance_work_mem, NULL,
								TUPLESORT_NONE);
}

/*
 * Keys that are columns are left null: the sort reads the columns.
 */
void
st_order_put(StOrder *order, Tuplesortstate *sort, TupleTableSlot *slot)
{
	Datum		values[ST_MAX_ORDERBY];
	bool		isnull[ST_MAX_ORDERBY];

	if (st_order_computes(order))
	{
		/* until they are computed, for whoever looks at the slot */
		memset(slot->tts_isnull + order->natts, true, order->nkeys * sizeof(bool));
		st_order_values(order, slot, values, isnull);
		for (int i = 0; i < order->nkeys; i++)
		{
			if (order->exprs[i] == NULL)
				continue;
			slot->tts_values[order->natts + i] = values[i];
			slot->tts_isnull[order->natts + i] = isnull[i];
		}
	}
	tuplesort_puttupleslot(sort, slot);
}

uint64
st_order_hash(const StOrder *order)
{
	return order == NULL ? 0 : order->hash;
}
