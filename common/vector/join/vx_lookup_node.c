/*-------------------------------------------------------------------------
 *
 * vx_lookup_node.c
 *	  The custom node that answers a correlated aggregate out of groups.
 *
 * It returns one row, and is rescanned with other parameters for each row
 * that asks (vx_keyed_path.c).  Two plans are below: the server's, which
 * computes the row for the parameters at hand, and one that gives the rows of
 * all keys.  The first calls run the server's plan; then the rows of all keys
 * are put into a hash table, and calls look theirs up.
 *
 * A key without rows: an aggregate of nothing is the same for all of
 * them.  The server's plan computes it for the first, and it is kept; a null in place of
 * the key spares it from looking for rows.
 *
 * A third plan may give the keys that can be asked for (vx_keyed_asked.c).  They are
 * read first, and scans below the grouped plan leave out rows with others
 * (vx_join_link.c).  Whether they did or not: the groups of those keys are complete.  When
 * another one is asked for all the same, the table is made anew, of all keys.
 *
 * Groups that take more than hash_mem go to disk, sorted by the hash of their
 * keys (vx_lookup_disk.c).  The table is made anew when parameters have changed that
 * the grouped plan depends on, after as many calls as before.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "vx_format.h"
#include "vx_hash.h"
#include "vx_keyed.h"
#include "vx_lookup.h"
#include "st_compat.h"

/* So many rows, or bytes of their values, are added before memory is looked at. */
#define CHECK_ROWS	256
#define CHECK_BYTES	(64 * 1024)

/* Keys that can be asked for are kept if they take no more of hash_mem. */
#define ASKED_SHARE	4

typedef enum VxLookupStage
{
	VX_LOOKUP_COUNTING,			/* calls are few so far */
	VX_LOOKUP_READY,			/* the table stands */
	VX_LOOKUP_ON_DISK			/* it had no room in memory */
} VxLookupStage;

struct VxLookupState
{
	CustomScanState css;		/* must be first */

	PlanState  *server;			/* computes a row for the parameters */
	PlanState  *grouped;		/* gives the rows of all keys */
	PlanState  *asked;			/* gives the keys that can be asked for, or NULL, */
	int			asked_key;		/* and which of the keys it is */
	bool		asked_read;
	VxHash	   *asked_hash;		/* those keys; not finished if all are grouped */
	int			nresults;
	int			ncalls;			/* before rows are grouped */
	List	   *clauses;
	int			nkeys;
	ExprState **keys;			/* values that are looked for */

	VxLookupStage stage;
	int			calls;			/* of the server's plan, while counting */
	bool		server_ran;		/* since it was rescanned */
	bool		done;			/* the row has been returned */
	VxHash	   *hash;
	VxLookupDisk *disk;			/* VX_LOOKUP_ON_DISK */
	HeapTuple	empty;			/* row of a key without rows, or NULL */

	/* for EXPLAIN */
	uint64		by_plan;
	uint64		by_key;
	uint64		groups;
	uint64		nasked;
	bool		on_disk;
	Size		peak;
};

static Node *create_lookup_state(CustomScan *cscan);
static void begin_lookup(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_lookup(CustomScanState *node);
static void end_lookup(CustomScanState *node);
static void rescan_lookup(CustomScanState *node);
static void explain_lookup(CustomScanState *node, List *ancestors, ExplainState *es);

CustomScanMethods vx_lookup_methods = {
	.CreateCustomScanState = create_lookup_state,
};

static CustomExecMethods exec_methods = {
	.BeginCustomScan = begin_lookup,
	.ExecCustomScan = exec_lookup,
	.EndCustomScan = end_lookup,
	.ReScanCustomScan = rescan_lookup,
	.ExplainCustomScan = explain_lookup,
};

static Node *
create_lookup_state(CustomScan *cscan)
{
	VxLookupState *state = (VxLookupState *) newNode(sizeof(VxLookupState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

static void
init_table(VxLookupState *state, const List *kinds)
{
	VxHashKey  *keys = palloc0(sizeof(VxHashKey) * state->nkeys);
	Oid		   *eqops = palloc(sizeof(Oid) * state->nkeys);
	ListCell   *lc;

	state->keys = palloc(sizeof(ExprState *) * state->nkeys);
	foreach(lc, state->clauses)
	{
		OpExpr	   *clause = lfirst_node(OpExpr, lc);
		int			k = foreach_current_index(lc);

		state->keys[k] = ExecInitExpr(linitial(clause->args), &state->css.ss.ps);
		keys[k].kind = list_nth_int(kinds, k);
		keys[k].column = state->nresults + k;
		keys[k].type = getBaseType(exprType(lsecond(clause->args)));
		keys[k].probe_type = getBaseType(exprType(linitial(clause->args)));
		keys[k].collation = clause->inputcollid;
		eqops[k] = clause->opno;
	}
	state->hash = vx_hash_create(ExecGetResultType(state->grouped), state->nkeys, keys, eqops);
	if (state->asked)
	{
		VxHashKey  *key = palloc(sizeof(VxHashKey));

		*key = keys[state->asked_key];
		key->column = 0;
		key->type = key->probe_type;
		state->asked_hash = vx_hash_create(ExecGetResultType(state->asked), 1, key,
										   &eqops[state->asked_key]);
	}
}

static void
begin_lookup(CustomScanState *node, EState *estate, int eflags)
{
	VxLookupState *state = (VxLookupState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *fields = linitial(plan->custom_private);

	state->server = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	state->grouped = ExecInitNode(lsecond(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make2(state->server, state->grouped);
	state->asked_key = list_nth_int(fields, VX_KEYED_ASKED);
	if (state->asked_key >= 0)
	{
		state->asked = ExecInitNode(lthird(plan->custom_plans), estate, eflags);
		node->custom_ps = lappend(node->custom_ps, state->asked);
	}
	state->nresults = list_nth_int(fields, VX_KEYED_NRESULTS);
	state->ncalls = list_nth_int(fields, VX_KEYED_CALLS);
	state->clauses = plan->custom_exprs;
	state->nkeys = list_length(state->clauses);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		init_table(state, lsecond(plan->custom_private));
}

VxLookupState *
vx_lookup_state(PlanState *ps)
{
	return IsA(ps, CustomScanState) && ((CustomScanState *) ps)->methods == &exec_methods ?
		(VxLookupState *) ps : NULL;
}

VxHash *
vx_lookup_asked(VxLookupState *state, PlanState **grouped, AttrNumber *attno, OpExpr **clause)
{
	*grouped = state->grouped;
	*attno = state->nresults + state->asked_key + 1;
	if (state->asked_hash)
		*clause = list_nth_node(OpExpr, state->clauses, state->asked_key);
	return state->asked_hash;
}

/* ---- keys that can be asked for ---- */

static void
read_asked(VxLookupState *state)
{
	VxHash	   *hash = state->asked_hash;

	state->asked_read = true;
	for (;;)
	{
		TupleTableSlot *slot;
		uint64		hashed;

		CHECK_FOR_INTERRUPTS();
		slot = ExecProcNode(state->asked);
		if (TupIsNull(slot))
			break;
		slot_getallattrs(slot);
		if (vx_hash_of_row(hash, slot->tts_values, slot->tts_isnull, &hashed))
			vx_hash_add(hash, hashed, slot->tts_values, slot->tts_isnull);
		if (hash->nrows % CHECK_ROWS == 0 &&
			vx_hash_memory(hash) > get_hash_memory_limit() / ASKED_SHARE)
		{
			vx_hash_reset(hash);
			ExecReScan(state->asked);
			return;
		}
	}
	/* the plan gives back what it holds */
	ExecReScan(state->asked);
	state->nasked = hash->nrows;
	vx_hash_finish(hash);
}

/* The groups that were made are all of the keys', or the key was left out. */
static bool
has_groups_of(VxLookupState *state, const Datum *keys)
{
	return state->asked == NULL || !state->asked_hash->finished ||
		vx_hash_lookup(state->asked_hash, &keys[state->asked_key]) != NULL;
}

/* ---- rows of all keys ---- */

/* False: they have no room in memory. */
static bool
has_room(VxLookupState *state)
{
	VxHash	   *hash = state->hash;
	Size		size;

	if (hash->nrows % CHECK_ROWS != 0 && hash->unseen < CHECK_BYTES)
		return true;
	hash->unseen = 0;
	size = vx_hash_memory(hash);
	state->peak = Max(state->peak, size);
	return size <= get_hash_memory_limit();
}

/* The rows in memory go to disk. */
static void
move_to_disk(VxLookupState *state)
{
	VxHash	   *hash = state->hash;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
	Datum		values[VX_HASH_MAX_COLUMNS];
	bool		isnull[VX_HASH_MAX_COLUMNS];

	state->disk = vx_lookup_disk_create(ExecGetResultType(state->grouped));
	state->stage = VX_LOOKUP_ON_DISK;
	state->on_disk = true;
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		VxHashRow  *row = vx_hash_row(hash, i);

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		for (int c = 0; c < hash->ncolumns; c++)
			values[c] = vx_hash_value(hash, row, c, &isnull[c]);
		vx_lookup_disk_add(state->disk, row->hash, values, isnull);
		ResetExprContext(econtext);
	}
	MemoryContextSwitchTo(old);
	vx_hash_reset(hash);
}

static void
read_groups(VxLookupState *state)
{
	state->stage = VX_LOOKUP_READY;
	for (;;)
	{
		TupleTableSlot *slot;
		uint64		hash;

		CHECK_FOR_INTERRUPTS();
		slot = ExecProcNode(state->grouped);
		if (TupIsNull(slot))
			break;
		slot_getallattrs(slot);
		/* a key that is null is found by nobody */
		if (!vx_hash_of_row(state->hash, slot->tts_values, slot->tts_isnull, &hash))
			continue;
		state->groups++;
		if (state->disk)
		{
			vx_lookup_disk_add(state->disk, hash, slot->tts_values, slot->tts_isnull);
			continue;
		}
		vx_hash_add(state->hash, hash, slot->tts_values, slot->tts_isnull);
		if (!has_room(state))
			move_to_disk(state);
	}
}

static void
fill_table(VxLookupState *state)
{
	state->groups = 0;
	if (state->asked && !state->asked_read)
		read_asked(state);
	read_groups(state);
	/* the plan gives back what it holds: its own groups, workers */
	ExecReScan(state->grouped);
	if (state->disk)
	{
		vx_lookup_disk_finish(state->disk);
		return;
	}
	state->peak = Max(state->peak, vx_hash_memory(state->hash));
	vx_hash_finish(state->hash);
}

/* The parameters' key; false: part of it is null, and equals nothing. */
static bool
eval_keys(VxLookupState *state, Datum *values)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;

	for (int k = 0; k < state->nkeys; k++)
	{
		bool		isnull;

		values[k] = ExecEvalExprSwitchContext(state->keys[k], econtext, &isnull);
		if (isnull)
			return false;
	}
	return true;
}

/* ---- the row ---- */

static TupleTableSlot *
start_slot(VxLookupState *state)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	return slot;
}

/* As the server computes it; the first nresults columns. */
static TupleTableSlot *
run_plan(VxLookupState *state)
{
	TupleTableSlot *slot = start_slot(state);
	TupleTableSlot *row;

	/* with other parameters it is rescanned by itself */
	if (state->server_ran && state->server->chgParam == NULL)
		ExecReScan(state->server);
	state->server_ran = true;
	row = ExecProcNode(state->server);
	if (TupIsNull(row))
		return slot;
	slot_getallattrs(row);
	memcpy(slot->tts_values, row->tts_values, sizeof(Datum) * state->nresults);
	memcpy(slot->tts_isnull, row->tts_isnull, sizeof(bool) * state->nresults);
	return ExecStoreVirtualTuple(slot);
}

/* The parameter that is the first key, unless that is computed of others; or NULL. */
static Param *
key_param(VxLookupState *state)
{
	Param	   *param = linitial(linitial_node(OpExpr, state->clauses)->args);

	return IsA(param, Param) && param->paramkind == PARAM_EXEC ? param : NULL;
}

/* The server's plan learns that the parameter is another one. */
static void
note_param(VxLookupState *state, const Param *param)
{
	MemoryContext old = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
	Bitmapset  *changed = bms_make_singleton(param->paramid);

	UpdateChangedParamSet(state->server, changed);
	bms_free(changed);
	MemoryContextSwitchTo(old);
}

/* Of a key without rows: a null equals nothing, which a scan knows before it reads. */
static TupleTableSlot *
run_plan_for_null(VxLookupState *state)
{
	Param	   *param = key_param(state);
	ParamExecData *value;
	ParamExecData saved;
	TupleTableSlot *slot;

	if (param == NULL)
		return run_plan(state);
	value = &state->css.ss.ps.state->es_param_exec_vals[param->paramid];
	saved = *value;
	value->isnull = true;
	note_param(state, param);
	slot = run_plan(state);
	*value = saved;
	note_param(state, param);
	return slot;
}

/* Of a key without rows. */
static TupleTableSlot *
empty_row(VxLookupState *state)
{
	TupleTableSlot *slot;
	MemoryContext old;

	if (state->empty == NULL)
	{
		state->by_plan++;
		slot = run_plan_for_null(state);
		old = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
		state->empty = ExecCopySlotHeapTuple(slot);
		MemoryContextSwitchTo(old);
	}
	slot = start_slot(state);
	heap_deform_tuple(state->empty, slot->tts_tupleDescriptor, slot->tts_values,
					  slot->tts_isnull);
	return ExecStoreVirtualTuple(slot);
}

/* Its row, or NULL. */
static TupleTableSlot *
row_in_memory(VxLookupState *state, const Datum *keys)
{
	const VxHashRow *row = vx_hash_lookup(state->hash, keys);
	TupleTableSlot *slot = start_slot(state);
	MemoryContext old;

	if (row == NULL)
		return NULL;
	old = MemoryContextSwitchTo(state->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	for (int i = 0; i < state->nresults; i++)
		slot->tts_values[i] = vx_hash_value(state->hash, row, i, &slot->tts_isnull[i]);
	MemoryContextSwitchTo(old);
	return ExecStoreVirtualTuple(slot);
}

static TupleTableSlot *
row_on_disk(VxLookupState *state, const Datum *keys)
{
	TupleTableSlot *slot = start_slot(state);
	const Datum *values;
	const bool *isnull;

	if (!vx_lookup_disk_find(state->disk, state->hash, keys, &values, &isnull))
		return NULL;
	memcpy(slot->tts_values, values, sizeof(Datum) * state->nresults);
	memcpy(slot->tts_isnull, isnull, sizeof(bool) * state->nresults);
	return ExecStoreVirtualTuple(slot);
}

static void
free_groups(VxLookupState *state)
{
	if (state->hash)
		vx_hash_reset(state->hash);
	if (state->disk)
		vx_lookup_disk_end(state->disk);
	state->disk = NULL;
}

/* The row of the key that is asked for, or NULL. */
static TupleTableSlot *
row_of_key(VxLookupState *state)
{
	Datum		keys[VX_HASH_MAX_COLUMNS];

	if (!eval_keys(state, keys))
		return NULL;
	if (!has_groups_of(state, keys))
	{
		vx_hash_reset(state->asked_hash);
		free_groups(state);
		fill_table(state);
		/* which may have taken the memory of the keys */
		(void) eval_keys(state, keys);
	}
	return state->disk ? row_on_disk(state, keys) : row_in_memory(state, keys);
}

static TupleTableSlot *
result_row(VxLookupState *state)
{
	TupleTableSlot *slot;

	if (state->stage == VX_LOOKUP_COUNTING && state->calls++ >= state->ncalls)
		fill_table(state);
	if (state->stage == VX_LOOKUP_COUNTING)
	{
		state->by_plan++;
		return run_plan(state);
	}
	slot = row_of_key(state);
	if (slot == NULL)
		return empty_row(state);
	state->by_key++;
	return slot;
}

static TupleTableSlot *
exec_lookup(CustomScanState *node)
{
	VxLookupState *state = (VxLookupState *) node;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	ResetExprContext(econtext);
	if (state->done)
		return projection ? ExecClearTuple(projection->pi_state.resultslot) :
			ExecClearTuple(node->ss.ss_ScanTupleSlot);
	state->done = true;
	econtext->ecxt_scantuple = result_row(state);
	return projection ? ExecProject(projection) : econtext->ecxt_scantuple;
}

/* The executor knows of children on the left and on the right alone. */
static void
rescan_lookup(CustomScanState *node)
{
	VxLookupState *state = (VxLookupState *) node;

	state->done = false;
	if (node->ss.ps.chgParam == NULL)
		return;
	UpdateChangedParamSet(state->server, node->ss.ps.chgParam);
	UpdateChangedParamSet(state->grouped, node->ss.ps.chgParam);
	if (state->grouped->chgParam == NULL)
		return;
	/* other groups; the plan is rescanned when it is asked */
	state->stage = VX_LOOKUP_COUNTING;
	state->calls = 0;
	free_groups(state);
	if (state->empty)
		heap_freetuple(state->empty);
	state->empty = NULL;
}

static void
end_lookup(CustomScanState *node)
{
	VxLookupState *state = (VxLookupState *) node;

	free_groups(state);
	ExecEndNode(state->server);
	ExecEndNode(state->grouped);
	if (state->asked)
		ExecEndNode(state->asked);
}

/* ---- EXPLAIN ---- */

static void
explain_lookup(CustomScanState *node, List *ancestors, ExplainState *es)
{
	VxLookupState *state = (VxLookupState *) node;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);

	ExplainPropertyText("Lookup Cond",
						deparse_expression((Node *) make_ands_explicit(state->clauses), context,
										   true, false), es);
	ExplainPropertyInteger("Calls Before Grouping", NULL, state->ncalls, es);
	if (!es->analyze || state->hash == NULL)
		return;
	ExplainPropertyUInteger("Answered By Key", NULL, state->by_key, es);
	ExplainPropertyUInteger("Answered By Plan", NULL, state->by_plan, es);
	if (state->asked)
		ExplainPropertyUInteger("Keys Looked For", NULL, state->nasked, es);
	ExplainPropertyUInteger("Groups", NULL, state->groups, es);
	if (state->on_disk || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyBool("Groups On Disk", state->on_disk, es);
	ExplainPropertyUInteger("Memory", "kB", (state->peak + 1023) / 1024, es);
}

void
vx_lookup_init(void)
{
	vx_lookup_methods.CustomName = vx_format->lookup_name;
	exec_methods.CustomName = vx_format->lookup_name;
}
