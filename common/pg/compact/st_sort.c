/*-------------------------------------------------------------------------
 *
 * st_sort.c
 *	  Sorting rows by a table's option orderby.
 *
 * What the option names may be columns and expressions.  Rows that go through
 * a sort carry the values of expressions behind their columns, and behind
 * these all keys as one string, where bytes have their order (st_sort_key.c).
 * Expressions call immutable functions of the server alone (st_order_expr.c),
 * so it does not matter in whose name they are evaluated.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_type_d.h"
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
#include "st_sort_key.h"

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
	Oid			base_types[ST_MAX_ORDERBY];
	bool		joined;			/* rows are sorted by all keys as one string first, */
	StringInfoData string;		/* which is their last column */
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

static bool
can_join_keys(const StOrder *order)
{
	for (int i = 0; i < order->nkeys; i++)
	{
		if (!st_sort_key_is_supported(order->base_types[i], order->keys[i].collation))
			return false;
	}
	return order->nkeys > 1;
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
	{
		set_key(rel, &orderby.columns[i], &order->keys[i], &order->exprs[i]);
		order->base_types[i] = getBaseType(order->keys[i].type);
	}
	make_states(order);
	set_identity(order);
	order->joined = can_join_keys(order);
	if (order->joined)
		initStringInfo(&order->string);
	return order;
}

void
st_order_end(StOrder *order)
{
	if (order == NULL)
		return;
	FreeExecutorState(order->estate);
	if (order->joined)
		pfree(order->string.data);
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
	int			nkeys = st_order_computes(order) ? order->nkeys : 0;

	order->natts = desc->natts;
	if (nkeys == 0 && !order->joined)
		return desc;
	result = CreateTemplateTupleDesc(desc->natts + nkeys + order->joined);
	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(result, i, desc, i);
	for (int i = 0; i < nkeys; i++)
	{
		TupleDescInitEntry(result, ++attno, "key", order->keys[i].type, -1, 0);
		TupleDescInitEntryCollation(result, attno, order->keys[i].collation);
	}
	if (order->joined)
		TupleDescInitEntry(result, ++attno, "keys", BYTEAOID, -1, 0);
	TupleDescFinalize(result);
	return result;
}

const StKeys *
st_order_zoned(const StOrder *order)
{
	return &order->zoned;
}

/* The string comes first: where it ends alike, the keys themselves are compared. */
Tuplesortstate *
st_order_sort(const StOrder *order, TupleDesc desc)
{
	AttrNumber	attnos[ST_MAX_ORDERBY + 1];
	Oid			operators[ST_MAX_ORDERBY + 1];
	Oid			collations[ST_MAX_ORDERBY + 1];
	bool		nulls_first[ST_MAX_ORDERBY + 1];
	int			n = 0;

	if (order->joined)
	{
		attnos[n] = desc->natts;
		operators[n] = lookup_type_cache(BYTEAOID, TYPECACHE_LT_OPR)->lt_opr;
		collations[n] = InvalidOid;
		nulls_first[n++] = false;
	}
	for (int i = 0; i < order->nkeys; i++)
	{
		attnos[n] = order->exprs[i] == NULL ? order->keys[i].attno :
			order->natts + i + 1;
		operators[n] = order->keys[i].ordering;
		collations[n] = order->keys[i].collation;
		nulls_first[n++] = order->keys[i].nulls_first;
	}
	return tuplesort_begin_heap(desc, n, attnos, operators, collations, nulls_first,
								maintenance_work_mem, NULL, TUPLESORT_NONE);
}

/* The keys as one string, or as much of it as is kept, which stands until the next row's. */
static Datum
join_keys(StOrder *order, const Datum *values, const bool *isnull)
{
	StringInfo	string = &order->string;

	resetStringInfo(string);
	appendStringInfoSpaces(string, VARHDRSZ);
	for (int i = 0; i < order->nkeys && string->len < VARHDRSZ + ST_SORT_KEY_BYTES; i++)
	{
		const OrderKey *key = &order->keys[i];

		st_sort_key_add(string, order->base_types[i], key->desc, key->nulls_first, values[i],
						isnull[i]);
	}
	SET_VARSIZE(string->data, Min(string->len, VARHDRSZ + ST_SORT_KEY_BYTES));
	return PointerGetDatum(string->data);
}

/*
 * Keys that are columns are left null: the sort reads the columns.
 */
void
st_order_put(StOrder *order, Tuplesortstate *sort, TupleTableSlot *slot)
{
	Datum		values[ST_MAX_ORDERBY];
	bool		isnull[ST_MAX_ORDERBY];
	bool		computes = st_order_computes(order);
	int			ncomputed = slot->tts_tupleDescriptor->natts - order->natts;

	if (ncomputed > 0)
	{
		/* until they are computed, for whoever looks at the slot */
		memset(slot->tts_isnull + order->natts, true, ncomputed * sizeof(bool));
		st_order_values(order, slot, values, isnull);
	}
	for (int i = 0; computes && i < order->nkeys; i++)
	{
		if (order->exprs[i] == NULL)
			continue;
		slot->tts_values[order->natts + i] = values[i];
		slot->tts_isnull[order->natts + i] = isnull[i];
	}
	if (order->joined)
	{
		slot->tts_values[order->natts + ncomputed - 1] = join_keys(order, values, isnull);
		slot->tts_isnull[order->natts + ncomputed - 1] = false;
	}
	tuplesort_puttupleslot(sort, slot);
}

uint64
st_order_hash(const StOrder *order)
{
	return order == NULL ? 0 : order->hash;
}
