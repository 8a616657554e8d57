/*-------------------------------------------------------------------------
 *
 * vx_agg_state_parts.c
 *	  Groups for which a final node has no memory.
 *
 * A final node gets states of groups, not rows.  When its groups have filled
 * the memory that a hash table may take, the states of all of them go to disk,
 * divided into parts by the hash of their keys, and the node starts with an
 * empty table.  When all states are in, what is left in memory goes to disk,
 * too, and one part after another is read back and merged in the same way; it
 * may be divided again, by other bits of the hash.  So every group is complete
 * when it is returned.  In the same way participants of a parallel plan write
 * their groups to partitions that they share (vx_agg_shared.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "st_compat.h"
#include "vx_agg.h"

#define PART_BITS	VX_AGG_PART_BITS
#define PARTS		VX_AGG_PARTS

/* Bits of a hash are used up at this level: its groups are kept in memory. */
#define MAX_LEVEL	(64 / PART_BITS)

/* Bytes of states that are written at a time, and that a part keeps in memory, kB. */
#define CHUNK_BYTES	(8 * 1024)
#define PART_MEMORY	64

typedef struct Part
{
	Tuplestorestate *states;
	int			level;			/* how often its groups have been divided */
} Part;

struct VxStateParts
{
	MemoryContext mcxt;
	TupleDesc	desc;			/* one bytea */
	TupleTableSlot *slot;
	Tuplestorestate *parts[PARTS];	/* being written, or NULL */
	bool		written;		/* any of them */
	List	   *pending;		/* of Part, to be read */
	Part	   *input;			/* being read, or NULL: the plan below is */
	uint64		ngroups;
	uint64		nparts;
};

static VxStateParts *
get_parts(VxAggState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old;
	VxStateParts *parts;

	if (state->state_parts)
		return state->state_parts;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	parts = palloc0(sizeof(VxStateParts));
	parts->mcxt = estate->es_query_cxt;
	parts->desc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(parts->desc, 1, "states", BYTEAOID, -1, 0);
	TupleDescFinalize(parts->desc);
	parts->slot = ExecInitExtraTupleSlot(estate, parts->desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(old);
	state->state_parts = parts;
	return parts;
}

/* How often the groups of the input have been divided: those of a shared partition once. */
static int
level_of(const VxAggState *state)
{
	if (state->state_parts && state->state_parts->input)
		return state->state_parts->input->level;
	return vx_agg_shared_is_input(state) ? 1 : 0;
}

bool
vx_state_parts_are_due(VxAggState *state)
{
	return state->groups->nkeys > 0 && state->groups->ngroups > VX_AGG_MIN_GROUPS &&
		vx_groups_memory(state) > get_hash_memory_limit() && level_of(state) < MAX_LEVEL;
}

static void
put_states(VxAggState *state, VxStateParts *parts, int part, VxStates *states)
{
	MemoryContext old = MemoryContextSwitchTo(parts->mcxt);

	if (states->n > 0 && vx_agg_shared_is_building(state))
		vx_agg_shared_put(state, part, states);
	else if (states->n > 0)
	{
		bool		isnull = false;
		char	   *bytes = palloc(vx_states_bytes(state, states));
		Datum		value = PointerGetDatum(bytes);

		vx_states_write(state, states, bytes);
		if (parts->parts[part] == NULL)
			parts->parts[part] = tuplestore_begin_heap(false, false, PART_MEMORY);
		tuplestore_putvalues(parts->parts[part], parts->desc, &value, &isnull);
		pfree(bytes);
	}
	MemoryContextSwitchTo(old);
	vx_states_reset(states);
}

/* All groups in memory; then there are none. */
static void
write_groups(VxAggState *state)
{
	VxStateParts *parts = get_parts(state);
	int			shift = 64 - PART_BITS * (level_of(state) + 1);
	VxStates	states[PARTS];

	for (int i = 0; i < PARTS; i++)
		vx_states_begin(&states[i]);
	for (uint32 gid = 0; gid < state->groups->ngroups; gid++)
	{
		int			part = (vx_group_hash(state->groups, gid) >> shift) & (PARTS - 1);

		CHECK_FOR_INTERRUPTS();
		vx_states_add(state, &states[part], gid);
		if (vx_states_bytes(state, &states[part]) >= CHUNK_BYTES)
			put_states(state, parts, part, &states[part]);
	}
	for (int i = 0; i < PARTS; i++)
		put_states(state, parts, i, &states[i]);
	if (!vx_agg_shared_is_building(state))
	{
		parts->written = true;
		parts->ngroups += state->groups->ngroups;
	}
	vx_agg_start(state);
}

void
vx_state_parts_write(VxAggState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);

	write_groups(state);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->batch_mcxt);
}

/* What was written becomes parts to be read. */
static void
finish_parts(VxStateParts *parts, int level)
{
	MemoryContext old = MemoryContextSwitchTo(parts->mcxt);

	for (int i = 0; i < PARTS; i++)
	{
		Part	   *part;

		if (parts->parts[i] == NULL)
			continue;
		part = palloc(sizeof(Part));
		part->states = parts->parts[i];
		part->level = level + 1;
		parts->pending = lcons(part, parts->pending);
		parts->parts[i] = NULL;
		parts->nparts++;
	}
	parts->written = false;
	MemoryContextSwitchTo(old);
}

void
vx_state_parts_end_input(VxAggState *state)
{
	VxStateParts *parts = state->state_parts;
	int			level = level_of(state);

	if (parts == NULL)
		return;
	/* groups of which some states are on disk are not complete */
	if (parts->written && state->groups->ngroups > 0)
		vx_state_parts_write(state);
	finish_parts(parts, level);
	if (parts->input)
	{
		ExecClearTuple(parts->slot);
		tuplestore_end(parts->input->states);
		pfree(parts->input);
		parts->input = NULL;
	}
}

bool
vx_state_parts_next(VxAggState *state)
{
	VxStateParts *parts = state->state_parts;

	if (parts == NULL || parts->pending == NIL)
		return false;
	parts->input = linitial(parts->pending);
	parts->pending = list_delete_first(parts->pending);
	return true;
}

TupleTableSlot *
vx_state_parts_read(VxAggState *state)
{
	VxStateParts *parts = state->state_parts;

	if (tuplestore_gettupleslot(parts->input->states, true, false, parts->slot))
		return parts->slot;
	return NULL;
}

bool
vx_state_parts_are_input(const VxAggState *state)
{
	return state->state_parts && state->state_parts->input;
}

void
vx_state_parts_reset(VxAggState *state)
{
	VxStateParts *parts = state->state_parts;
	ListCell   *lc;

	if (parts == NULL)
		return;
	finish_parts(parts, 0);
	if (parts->input)
		parts->pending = lappend(parts->pending, parts->input);
	parts->input = NULL;
	ExecClearTuple(parts->slot);
	foreach(lc, parts->pending)
		tuplestore_end(((Part *) lfirst(lc))->states);
	list_free_deep(parts->pending);
	parts->pending = NIL;
}

void
vx_state_parts_counts(const VxAggState *state, uint64 *groups, uint64 *nparts)
{
	*groups = state->state_parts ? state->state_parts->ngroups : 0;
	*nparts = state->state_parts ? state->state_parts->nparts : 0;
}
