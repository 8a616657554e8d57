/*-------------------------------------------------------------------------
 *
 * vx_agg_dependent.c
 *	  Columns that the keys of a group determine.
 *
 * GROUP BY a primary key lets a query ask for any column of the table.  All rows of a
 * group have the same value, so that of its first row is kept: nothing is compared, and
 * vectors without a new group are not looked at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"

#include "vx_agg.h"
#include "st_numeric.h"

/* Behind the states in the record of a group. */
typedef struct Kept
{
	Datum		value;			/* in the groups' memory context */
	bool		isnull;
} Kept;

Size
vx_agg_dependents_init(VxAggState *state, const List *entries, Size offset)
{
	ListCell   *lc;

	state->dependents = palloc(sizeof(int) * (list_length(entries) + 1));
	state->dependents_at = offset;
	foreach(lc, entries)
		state->dependents[state->ndependents++] =
			vx_agg_input(state, lfirst_node(TargetEntry, lc)->expr, -1, 0);
	return offset + sizeof(Kept) * state->ndependents;
}

static Kept *
kept(const VxAggState *state, uint32 gid)
{
	return (Kept *) (vx_group_record(state->groups, gid) + state->dependents_at);
}

static void
keep(VxAggState *state, int number, uint32 gid, const uint16 *rows, int n)
{
	const VxAggInput *input = &state->inputs[state->dependents[number]];
	const VxVector *v = vx_agg_vector(state, state->dependents[number]);
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);
	MemoryContext old = MemoryContextSwitchTo(state->groups->mcxt);

	for (int i = 0; i < n; i++)
	{
		Kept	   *to = &kept(state, gid + i)[number];

		to->isnull = vx_vector_isnull(v, rows[i]);
		if (!to->isnull)
			to->value = datumCopy(vx_vector_datum_in(v, rows[i], buffer), input->typbyval,
								  input->typlen);
	}
	MemoryContextSwitchTo(old);
}

void
vx_agg_dependents_keep(VxAggState *state, uint32 before, const uint16 *rows, int n)
{
	const VxGroups *groups = state->groups;
	uint16		first[ST_VECTOR_SIZE];
	int			nfirst = 0;

	/* new groups have numbers in the order of their first rows */
	for (int i = 0; i < n && before + nfirst < groups->ngroups; i++)
		if (groups->gids[i] == before + nfirst)
			first[nfirst++] = rows[i];
	Assert(before + nfirst == groups->ngroups);
	for (int d = 0; d < state->ndependents && nfirst > 0; d++)
		keep(state, d, before, first, nfirst);
}

Datum
vx_agg_dependent(const VxAggState *state, int number, uint32 gid, bool *isnull)
{
	const Kept *from = &kept(state, gid)[number];

	*isnull = from->isnull;
	return from->value;
}
