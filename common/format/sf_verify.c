/*-------------------------------------------------------------------------
 *
 * sf_verify.c
 *	  verify(): values of a column of a row group, or of the expressions that
 *	  its rows are sorted by, against what its zones claim.
 *
 * Decodes every vector, as a scan does, for expressions row by row.  Raises what
 * the reader raises for damaged bytes; returns what decodes but contradicts a
 * zone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "sf_library.h"
#include "st_compat.h"

/* One column under check. */
typedef struct ColumnCheck
{
	StZoneCheck zone;
	int64		vecno;
	List	   *problems;		/* of StProblem * */
} ColumnCheck;

#define add_problem(check, ...) \
	((check)->problems = st_problem_add((check)->problems, (check)->vecno, __VA_ARGS__))

/* Compares the values of one vector with a zone, its own or the row group's. */
static void
check_vector(ColumnCheck *check, const VxVector *vector, const StZone *zone)
{
	bool		compare = st_zone_check_usable(&check->zone, zone);

	for (int i = 0; i < vector->n; i++)
	{
		const char *wrong;

		if (!compare || vx_vector_isnull(vector, i))
			continue;
		wrong = st_zone_check_value(&check->zone, zone, vx_vector_datum(vector, i));
		if (wrong == NULL)
			continue;
		add_problem(check, "value of row %d is %s", i, wrong);
		return;					/* one per vector tells enough */
	}
}

/* Adds a problem if the zone tells of other numbers of values and nulls. */
static void
check_counts(ColumnCheck *check, const StZone *zone, uint64 nrows, uint64 nnulls)
{
	if (zone->nrows != nrows || zone->nnulls != nnulls)
		add_problem(check, "zone tells of %u values and %u nulls where there are " UINT64_FORMAT " and " UINT64_FORMAT,
					zone->nrows, zone->nnulls, nrows, nnulls);
}

static uint32
count_nulls(const VxVector *vector)
{
	uint32		nnulls = 0;

	for (int i = 0; i < vector->n; i++)
		nnulls += vx_vector_isnull(vector, i);
	return nnulls;
}

static List *
check_values(Relation rel, const StGroup *group, AttrNumber attno)
{
	StReader   *reader = vx_format->store->reader_open(rel, group, CurrentMemoryContext);
	ColumnCheck check = {0};
	StZone		whole;
	bool		has_whole = vx_format->zone(reader, attno, -1, &whole);
	uint64		all[VX_VALIDITY_WORDS];
	uint64		nnulls = 0;
	uint64		nrows = 0;

	memset(all, 0xFF, sizeof(all));
	st_zone_check_init(&check.zone, TupleDescAttr(RelationGetDescr(rel), attno - 1));
	for (uint32 v = 0; v < vx_format->vectors(reader); v++)
	{
		const VxVector *vector = vx_format->vector(reader, attno, v, all);
		uint32		vector_nulls = count_nulls(vector);
		StZone		zone;

		CHECK_FOR_INTERRUPTS();
		check.vecno = v;
		if (vector->n != (int) vx_vector_rows(reader, v))
			add_problem(&check, "there are %d values where %u are expected",
						vector->n, vx_vector_rows(reader, v));
		if (vx_format->zone(reader, attno, v, &zone))
		{
			check_counts(&check, &zone, vector->n, vector_nulls);
			check_vector(&check, vector, &zone);
		}
		if (has_whole)
			check_vector(&check, vector, &whole);
		nnulls += vector_nulls;
		nrows += vector->n;
	}
	check.vecno = -1;
	if (has_whole)
		check_counts(&check, &whole, nrows, nnulls);
	vx_format->store->reader_close(reader);
	return check.problems;
}

/* ---- expressions that rows are sorted by ---- */

typedef struct KeyCheck
{
	StOrderExpr key;
	ExprState  *state;
	ColumnCheck check;
	StZone		whole;
	StZone		zone;			/* of the vector at hand */
	uint64		nnulls;			/* in it, */
	uint64		all_nulls;
} KeyCheck;

/* Those expressions of which the row group has zones. */
static KeyCheck *
begin_keys(Relation rel, StReader *reader, EState *estate, int *n)
{
	List	   *exprs = st_options_order_exprs(rel);
	KeyCheck   *keys = palloc0(Max(1, list_length(exprs)) * sizeof(KeyCheck));
	TupleDesc	desc;
	ListCell   *lc;

	*n = 0;
	foreach(lc, exprs)
	{
		keys[*n].key = *(const StOrderExpr *) lfirst(lc);
		keys[*n].key.expr = copyObject(keys[*n].key.expr);
		if (vx_format->key_zone(reader, &keys[*n].key, -1, &keys[*n].whole))
			(*n)++;
	}
	desc = CreateTemplateTupleDesc(*n);
	for (int i = 0; i < *n; i++)
	{
		Node	   *expr = (Node *) keys[i].key.expr;

		TupleDescInitEntry(desc, i + 1, "key", exprType(expr), -1, 0);
		TupleDescInitEntryCollation(desc, i + 1, exprCollation(expr));
		st_zone_check_init(&keys[i].check.zone, TupleDescAttr(desc, i));
		keys[i].state = ExecPrepareExpr(keys[i].key.expr, estate);
	}
	return keys;
}

/* The value of the row in the slot against the zones. */
static void
check_key_value(KeyCheck *key, ExprContext *econtext, uint32 row)
{
	bool		isnull;
	Datum		value = ExecEvalExprSwitchContext(key->state, econtext, &isnull);
	const StZone *zones[] = {&key->zone, &key->whole};

	key->nnulls += isnull;
	for (int i = 0; !isnull && i < lengthof(zones); i++)
	{
		const char *wrong = NULL;

		if (st_zone_check_usable(&key->check.zone, zones[i]))
			wrong = st_zone_check_value(&key->check.zone, zones[i], value);
		if (wrong != NULL)
			add_problem(&key->check, "value of an expression of orderby in row %u is %s",
						row, wrong);
	}
}

/* The columns that the expressions refer to. */
static bool *
key_columns(const KeyCheck *keys, int n, int natts)
{
	bool	   *needed = palloc0(Max(1, natts) * sizeof(bool));
	Bitmapset  *attnos = NULL;
	int			bit = -1;

	for (int k = 0; k < n; k++)
		pull_varattnos((Node *) keys[k].key.expr, 1, &attnos);
	while ((bit = bms_next_member(attnos, bit)) >= 0)
		needed[bit + FirstLowInvalidHeapAttributeNumber - 1] = true;
	return needed;
}

static void
check_key_vector(KeyCheck *keys, int n, StReader *reader, uint32 vecno,
				 const bool *needed, TupleTableSlot *slot, EState *estate)
{
	ExprContext *econtext = GetPerTupleExprContext(estate);
	uint32		first = vx_format->vector_start(reader, vecno);
	uint32		nrows = vx_vector_rows(reader, vecno);

	for (int k = 0; k < n; k++)
	{
		keys[k].nnulls = 0;
		keys[k].check.vecno = vecno;
		(void) vx_format->key_zone(reader, &keys[k].key, vecno, &keys[k].zone);
	}
	for (uint32 i = 0; i < nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		vx_format->store->reader_row(reader, first + i, needed, slot->tts_values,
									 slot->tts_isnull);
		ExecStoreVirtualTuple(slot);
		ResetExprContext(econtext);
		econtext->ecxt_scantuple = slot;
		/* one problem per vector tells enough */
		for (int k = 0; k < n; k++)
		{
			if (keys[k].check.problems == NIL)
				check_key_value(&keys[k], econtext, i);
		}
	}
	for (int k = 0; k < n; k++)
	{
		if (keys[k].check.problems == NIL)
			check_counts(&keys[k].check, &keys[k].zone, nrows, keys[k].nnulls);
		keys[k].all_nulls += keys[k].nnulls;
	}
}

static List *
check_keys(Relation rel, const StGroup *group)
{
	StReader   *reader = vx_format->store->reader_open(rel, group, CurrentMemoryContext);
	EState	   *estate = CreateExecutorState();
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
	List	   *problems = NIL;
	int			n;
	KeyCheck   *keys = begin_keys(rel, reader, estate, &n);
	int			natts = RelationGetNumberOfAttributes(rel);
	bool	   *needed = key_columns(keys, n, natts);

	memset(slot->tts_isnull, true, natts * sizeof(bool));
	for (uint32 v = 0; n > 0 && v < vx_format->vectors(reader); v++)
		check_key_vector(keys, n, reader, v, needed, slot, estate);
	for (int k = 0; k < n; k++)
	{
		keys[k].check.vecno = -1;
		if (keys[k].check.problems == NIL)
			check_counts(&keys[k].check, &keys[k].whole, group->nrows, keys[k].all_nulls);
		problems = list_concat(problems, keys[k].check.problems);
	}
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	vx_format->store->reader_close(reader);
	return problems;
}

List *
sf_check_column(Relation rel, const StGroup *group, AttrNumber attno)
{
	if (attno == InvalidAttrNumber)
		return check_keys(rel, group);
	return check_values(rel, group, attno);
}
