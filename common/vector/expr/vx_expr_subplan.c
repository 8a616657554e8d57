/*-------------------------------------------------------------------------
 *
 * vx_expr_subplan.c
 *	  x IN (SELECT ...) and x NOT IN (SELECT ...) in vector expressions.
 *
 * Where the server would look each row's value up in a hash table of the
 * subquery's rows, a vector of values is looked up in one of ours
 * (vx_hash.c).  The table is made when the first row asks, and anew when a
 * parameter has changed that the subquery depends on, as the server does.
 *
 * Only where x is a column, so that no row is ever left to the server: it
 * would run the subquery a second time, for a table of its own.
 *
 * Memory: the table, which the planner expects to fit, as it does for the
 * server's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "vx_hash.h"
#include "vx_join_spec.h"
#include "vx_settings.h"

typedef struct VxSubplan
{
	PlanState  *plan;
	VxHash	   *hash;
	bool		built;
	bool		any_row;		/* the subquery has one, */
	bool		any_null;		/* one that is null */
	bool		false_if_null;	/* null need not be told from false */
} VxSubplan;

/* The clause without NOT. */
static SubPlan *
subplan_of(Node *clause)
{
	if (is_notclause(clause))
		clause = (Node *) get_notclausearg(clause);
	return clause && IsA(clause, SubPlan) ? (SubPlan *) clause : NULL;
}

static bool
is_column(const VxExprSet *set, Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node && IsA(node, Var) && ((Var *) node)->varno == set->varno &&
		((Var *) node)->varlevelsup == 0 && ((Var *) node)->varattno > 0;
}

bool
vx_subplan_is_known(const VxExprSet *set, Node *clause)
{
	SubPlan    *subplan = subplan_of(clause);
	OpExpr	   *test;
	Oid			left;
	Oid			right;

	if (!vx_enable_vector_expressions || subplan == NULL ||
		subplan->subLinkType != ANY_SUBLINK || !subplan->useHashTable ||
		subplan->testexpr == NULL || !IsA(subplan->testexpr, OpExpr))
		return false;
	test = (OpExpr *) subplan->testexpr;
	return list_length(test->args) == 2 && is_column(set, linitial(test->args)) &&
		IsA(lsecond(test->args), Param) && op_strict(test->opno) &&
		get_op_hash_functions(test->opno, &left, &right);
}

/* An empty table for the subquery's one column. */
static VxSubplan *
create(VxNode *node, const SubPlan *subplan, const OpExpr *test)
{
	EState	   *estate = node->expr->set->plan->state;
	VxSubplan  *result = palloc0(sizeof(VxSubplan));
	VxHashKey  *key = palloc0(sizeof(VxHashKey));
	Node	   *x = linitial(test->args);
	Node	   *column = lsecond(test->args);

	result->plan = list_nth(estate->es_subplanstates, subplan->plan_id - 1);
	result->false_if_null = subplan->unknownEqFalse;
	if (!vx_join_key_kind(test->opno, test->inputcollid, exprType(x), exprType(column),
						  &key->kind) ||
		(key->kind == VX_KEY_INT && IsA(x, RelabelType)))
		key->kind = VX_KEY_SERVER;
	key->type = getBaseType(exprType(column));
	key->probe_type = getBaseType(exprType(x));
	key->collation = test->inputcollid;
	result->hash = vx_hash_create(ExecGetResultType(result->plan), 1, key, &test->opno);
	return result;
}

static void
build(VxNode *node, VxSubplan *subplan)
{
	ExprContext *econtext = node->expr->set->econtext;
	MemoryContext old = MemoryContextSwitchTo(node->expr->set->plan->state->es_query_cxt);

	vx_hash_reset(subplan->hash);
	subplan->any_row = subplan->any_null = false;
	ExecReScan(subplan->plan);
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(subplan->plan);
		uint64		hashed;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			break;
		slot_getallattrs(slot);
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (vx_hash_of_row(subplan->hash, slot->tts_values, slot->tts_isnull, &hashed))
			vx_hash_add(subplan->hash, hashed, slot->tts_values, slot->tts_isnull);
		else
			subplan->any_null = true;
		subplan->any_row = true;
		MemoryContextSwitchTo(node->expr->set->plan->state->es_query_cxt);
		ResetExprContext(econtext);
	}
	MemoryContextSwitchTo(old);
	vx_hash_finish(subplan->hash);
	subplan->built = true;
}

/* The rows whose value the table has. */
static void
find(VxHash *hash, const VxVector *v, const uint64 *rows, int nrows, uint64 *found)
{
	uint64		hashes[ST_VECTOR_SIZE];
	VxHashRow  *candidates[ST_VECTOR_SIZE];
	uint64		keyed[VX_SELECTION_WORDS];

	memcpy(keyed, rows, sizeof(uint64) * ((nrows + 63) / 64));
	vx_hash_of_vectors(hash, &v, true, nrows, keyed, hashes);
	vx_hash_find(hash, hashes, keyed, nrows, candidates);
	VX_FOREACH_ROW(row, keyed, (nrows + 63) / 64)
	{
		VxHashRow  *row_found = candidates[row];

		while (row_found && !hash->exact && !vx_hash_keys_equal(hash, row_found, &v, row))
			row_found = row_found->next;
		if (row_found)
			vx_rows_set(found, row);
	}
}

static void
truth_of_subplan(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	VxSubplan  *subplan = node->own_state;
	const VxVector *v = vx_node_eval(node->args[0], rows);
	MemoryContext old;

	if (!subplan->built || subplan->plan->chgParam != NULL)
		build(node, subplan);
	if (!subplan->any_row)
		return;
	old = MemoryContextSwitchTo(node->expr->arena);
	find(subplan->hash, v, rows, node->expr->batch->nrows, truth->istrue);
	MemoryContextSwitchTo(old);
	if (subplan->false_if_null)
		return;
	for (int w = 0; w < VX_EXPR_WORDS(node->expr); w++)
	{
		uint64		is_null = v->has_nulls ? ~v->valid[w] : 0;

		if (subplan->any_null)
			is_null = ~truth->istrue[w];
		truth->isnull[w] = rows[w] & is_null;
	}
}

bool
vx_subplan_compile(VxNode *node)
{
	const SubPlan *subplan = (const SubPlan *) node->clause;
	OpExpr	   *test;

	if (!IsA(subplan, SubPlan))
		return false;
	test = castNode(OpExpr, subplan->testexpr);
	vx_node_compile_args(node, list_make1(linitial(test->args)));
	node->own_state = create(node, subplan, test);
	node->truth = truth_of_subplan;
	return true;
}
