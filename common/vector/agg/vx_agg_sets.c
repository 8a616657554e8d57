/*-------------------------------------------------------------------------
 *
 * vx_agg_sets.c
 *	  GROUPING SETS, ROLLUP and CUBE out of the groups of all keys.
 *
 * The node groups by all keys at once, as it would without sets.  When the
 * groups in memory are complete, each is merged into one group of every set:
 * the input is read once, whatever the number of sets, and coarse groups cost
 * no more than the groups below them.
 *
 * Groups of sets have a table of their own, with keys numbered anew, because
 * that stays while rows come back from disk part by part; it is returned at
 * the end.  The mask of a group's null keys has those too that its set does
 * not have, and the number of the set above SET_SHIFT.  Set 0 is that of all
 * keys, whose groups are returned as they are.
 *
 * Memory: the planner offers this where groups of all sets are expected to
 * fit into memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "vx_agg.h"

#define SET_SHIFT	32

/* Groups between looks at interrupts. */
#define CHECK_GROUPS	1024

/* Of a key that is no integer: its numbers in the sets' table by those of the groups. */
typedef struct Numbers
{
	uint32		n;
	uint32	   *numbers;		/* VX_NO_WORD: not known yet */
} Numbers;

struct VxAggSets
{
	int			nsets;
	uint64	   *missing;		/* of each: mask of the keys that it does not have */
	bool		returns_all;	/* set 0 is one of the query's */
	VxGroups   *groups;			/* of the other sets */
	VxGroups   *fine;			/* of all keys */
	MemoryContext mcxt;			/* states of these groups */
	MemoryContext keys_mcxt;
	int		   *scales;			/* of their transitions */
	Numbers    *numbers;		/* by key */
	int			ngroupings;		/* GROUPING() of each: by bit a mask of keys */
	int		   *nbits;
	uint64	  **bits;
};

/* ---- set-up ---- */

static int
key_of_ref(const List *refs, int ref)
{
	ListCell   *lc;

	foreach(lc, refs)
		if (lfirst_int(lc) == ref)
			return foreach_current_index(lc);
	elog(ERROR, "grouping set refers to an unknown key");
}

static uint64
mask_of_set(const List *refs, const List *set)
{
	uint64		mask = (UINT64CONST(1) << list_length(refs)) - 1;
	ListCell   *lc;

	foreach(lc, set)
		mask &= ~(UINT64CONST(1) << key_of_ref(refs, lfirst_int(lc)));
	return mask;
}

static void
init_grouping(VxAggSets *sets, const List *refs, const GroupingFunc *func)
{
	int			i = sets->ngroupings++;
	ListCell   *lc;

	sets->bits[i] = palloc(sizeof(uint64) * (list_length(func->refs) + 1));
	foreach(lc, func->refs)
		sets->bits[i][sets->nbits[i]++] =
			UINT64CONST(1) << key_of_ref(refs, lfirst_int(lc));
}

VxAggSets *
vx_agg_sets_create(VxAggState *state, int nkeys, int nentries)
{
	const CustomScan *plan = (const CustomScan *) state->css.ss.ps.plan;
	List	   *fields = list_nth(plan->custom_private, VX_AGG_PRIVATE_SETS);
	List	   *refs;
	VxAggSets  *sets;
	ListCell   *lc;

	if (fields == NIL || state->mode == VX_AGG_PARTIAL)
		return NULL;
	refs = linitial(fields);
	sets = palloc0(sizeof(VxAggSets));
	sets->missing = palloc0(sizeof(uint64) * list_length(fields));
	sets->nsets = 1;
	for_each_from(lc, fields, 1)
	{
		uint64		mask = mask_of_set(refs, lfirst(lc));

		if (mask == 0 && !sets->returns_all)
			sets->returns_all = true;
		else
			sets->missing[sets->nsets++] = mask;
	}
	sets->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector groups of sets",
									   ALLOCSET_DEFAULT_SIZES);
	sets->keys_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector group keys of sets",
											ALLOCSET_SMALL_SIZES);
	sets->scales = palloc0(sizeof(int) * (state->ntrans + 1));
	sets->numbers = palloc0(sizeof(Numbers) * (nkeys + 1));
	sets->fine = state->groups;
	sets->groups = vx_groups_create(state, nkeys, state->groups->state_bytes);
	sets->groups->mcxt = sets->mcxt;
	sets->groups->expected = 0;
	sets->groups->of_sets = true;
	for (int i = 0; i < nkeys; i++)
		vx_key_copy(state, &sets->groups->keys[i], &state->groups->keys[i],
					list_nth_oid(linitial(plan->custom_private), i), sets->keys_mcxt);

	sets->nbits = palloc0(sizeof(int) * (list_length(plan->custom_scan_tlist) + 1));
	sets->bits = palloc0(sizeof(uint64 *) * (list_length(plan->custom_scan_tlist) + 1));
	for_each_from(lc, plan->custom_scan_tlist, nentries)
		init_grouping(sets, refs,
					  castNode(GroupingFunc, lfirst_node(TargetEntry, lc)->expr));
	return sets;
}

/* ---- merge ---- */

/* Number in the sets' table of a group's value. */
static uint32
number_of(VxAggSets *sets, int k, uint32 number)
{
	Numbers    *known = &sets->numbers[k];
	VxIntern   *from = sets->fine->keys[k].intern;

	if (known->numbers == NULL)
	{
		(void) vx_intern_values(from, &known->n);
		known->numbers = MemoryContextAllocHuge(sets->fine->mcxt, sizeof(uint32) * known->n);
		memset(known->numbers, 0xFF, sizeof(uint32) * known->n);
	}
	if (known->numbers[number] == VX_NO_WORD)
		known->numbers[number] = vx_intern(sets->groups->keys[k].intern,
										   vx_intern_value(from, number), true);
	return known->numbers[number];
}

static void
merge_group(VxAggState *state, uint32 gid)
{
	VxAggSets  *sets = state->sets;
	VxGroups   *fine = sets->fine;
	const uint64 *from = vx_group_words(fine, gid);
	int			nkeys = fine->nkeys;
	uint64		all[64];
	uint64		words[64];

	for (int k = 0; k < nkeys; k++)
		all[k] = fine->keys[k].integer || (from[nkeys] & (UINT64CONST(1) << k)) ? from[k] :
			number_of(sets, k, from[k]);
	for (int set = 1; set < sets->nsets; set++)
	{
		uint32		into;

		for (int k = 0; k < nkeys; k++)
			words[k] = sets->missing[set] & (UINT64CONST(1) << k) ? 0 : all[k];
		words[nkeys] = from[nkeys] | sets->missing[set] | (uint64) set << SET_SHIFT;
		into = vx_groups_find(sets->groups, words);
		vx_states_merge(state, vx_group_record(sets->groups, into),
						vx_group_record(fine, gid), sets->scales);
	}
}

/* The set of no keys has a group even if there were no rows. */
static void
add_empty_sets(VxAggState *state)
{
	VxAggSets  *sets = state->sets;
	int			nkeys = sets->fine->nkeys;
	uint64		words[64];

	memset(words, 0, sizeof(words));
	for (int set = 1; set < sets->nsets; set++)
	{
		if (sets->missing[set] != (UINT64CONST(1) << nkeys) - 1)
			continue;
		words[nkeys] = sets->missing[set] | (uint64) set << SET_SHIFT;
		(void) vx_groups_find(sets->groups, words);
	}
}

void
vx_agg_sets_merge(VxAggState *state)
{
	VxAggSets  *sets = state->sets;
	MemoryContext mcxt = state->mcxt;
	MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);

	memset(sets->numbers, 0, sizeof(Numbers) * sets->fine->nkeys);
	for (uint32 gid = 0; gid < sets->fine->ngroups; gid++)
	{
		if (gid % CHECK_GROUPS == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(state->batch_mcxt);
		}
		/* what states allocate is to stay with the sets' groups */
		state->mcxt = sets->mcxt;
		merge_group(state, gid);
		state->mcxt = mcxt;
	}
	add_empty_sets(state);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->batch_mcxt);
	if (!sets->returns_all)
		state->next = sets->fine->ngroups;
}

bool
vx_agg_sets_next(VxAggState *state)
{
	VxAggSets  *sets = state->sets;

	if (state->groups == sets->groups)
		return false;
	state->groups = sets->groups;
	state->next = 0;
	for (int i = 0; i < state->ntrans; i++)
		state->trans[i].scale = sets->scales[i];
	return true;
}

void
vx_agg_sets_start(VxAggState *state)
{
	VxAggSets  *sets = state->sets;

	state->groups = sets->fine;
	memcpy(sets->groups->initial, sets->fine->initial, sets->fine->stride);
	MemoryContextReset(sets->mcxt);
	vx_groups_reset(sets->groups);
	for (int i = 0; i < state->ntrans; i++)
		sets->scales[i] = -1;
}

/* ---- results ---- */

int
vx_agg_sets_grouping(const VxAggState *state, uint32 gid, int number)
{
	const VxAggSets *sets = state->sets;
	int			set = vx_group_words(state->groups, gid)[state->groups->nkeys] >> SET_SHIFT;
	int			result = 0;

	for (int i = 0; i < sets->nbits[number]; i++)
		result = result << 1 | ((sets->missing[set] & sets->bits[number][i]) != 0);
	return result;
}

int
vx_agg_sets_ngroupings(const VxAggState *state)
{
	return state->sets ? state->sets->ngroupings : 0;
}
