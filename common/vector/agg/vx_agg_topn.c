/*-------------------------------------------------------------------------
 *
 * vx_agg_topn.c
 *	  Groups that ORDER BY ... LIMIT above an aggregation cannot want.
 *
 * When the groups in memory are complete, the ranks of all of them are read
 * out of their records, and only those that may be among the first n are made
 * rows of.  The server's Sort decides about order and ties.  If it has no
 * further key, n of those that are equal to the worst are enough.
 *
 * Keys and states that are integers have ranks; the planner asks for no
 * others.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "vx_agg.h"
#include "vx_ranks.h"

/* Groups between looks at interrupts. */
#define CHECK_GROUPS	(64 * 1024)

struct VxAggTopN
{
	int			entry;			/* of custom_scan_tlist, that is sorted by */
	bool		descending;
	bool		nulls_first;
	bool		any_tie;		/* equal groups are alike */
	VxRanks    *ranks;
	bool		bounded;		/* there is a limit that leaves groups out */
	int64		tie;			/* rank of which so many groups have passed */
	uint64		nties;
	uint64		removed;
};

VxAggTopN *
vx_agg_topn_create(VxAggState *state)
{
	const CustomScan *plan = (const CustomScan *) state->css.ss.ps.plan;
	List	   *fields;
	VxAggTopN  *topn;
	int			first;

	if (list_length(plan->custom_private) <= VX_AGG_PRIVATE_TOPN)
		return NULL;
	fields = list_nth(plan->custom_private, VX_AGG_PRIVATE_TOPN);
	topn = palloc0(sizeof(VxAggTopN));
	topn->entry = list_nth_int(fields, VX_AGG_TOPN_ENTRY);
	topn->descending = list_nth_int(fields, VX_AGG_TOPN_DESCENDING);
	topn->nulls_first = list_nth_int(fields, VX_AGG_TOPN_NULLS_FIRST);
	topn->any_tie = list_nth_int(fields, VX_AGG_TOPN_ANY_TIE);
	first = list_nth_int(fields, VX_AGG_TOPN_FIRST_EXPR);
	topn->ranks = vx_ranks_create(list_nth(plan->custom_exprs, first),
								  list_nth(plan->custom_exprs, first + 1),
								  &state->css.ss.ps);
	return topn;
}

void
vx_agg_topn_rescan(VxAggTopN *topn)
{
	vx_ranks_rescan(topn->ranks);
	topn->nties = 0;
}

/* As the result is made of it, or the end of int64 that it is beyond. */
static int64
rank_of_sum(const VxAggOutput *output, int128 sum, int64 count)
{
	int128		value;

	if (__builtin_mul_overflow(sum, (int128) output->factor, &value))
		return (sum < 0) == (output->factor < 0) ? PG_INT64_MAX : PG_INT64_MIN;
	value += (int128) count * output->offset;
	return value > PG_INT64_MAX ? PG_INT64_MAX :
		value < PG_INT64_MIN ? PG_INT64_MIN : (int64) value;
}

/* The key's or aggregate's value for a group in an int64; false if it is null. */
static bool
integer_value(const VxAggState *state, int entry, uint32 gid, int64 *value)
{
	VxGroups   *groups = state->groups;
	const char *record = vx_group_record(groups, gid);
	const VxAggOutput *output;
	const VxAggTrans *trans;
	const void *s;
	int64		count;

	if (entry < groups->nkeys)
	{
		const uint64 *words = vx_group_words(groups, gid);

		*value = (int64) words[entry];
		return (words[groups->nkeys] & (UINT64CONST(1) << entry)) == 0;
	}
	output = &state->outputs[entry - groups->nkeys];
	trans = &state->trans[output->trans];
	s = record + trans->offset;
	count = *(const int64 *) record - ((const VxCountState *) s)->skipped;
	switch (trans->kind)
	{
		case VX_TRANS_COUNT:
			*value = count;
			return true;
		case VX_TRANS_SUM_INT8:
			*value = rank_of_sum(output, ((const VxInt128State *) s)->sum, count);
			break;
		case VX_TRANS_SUM_INT:
			*value = rank_of_sum(output, ((const VxInt64State *) s)->value, count);
			break;
		case VX_TRANS_MIN_INT:
		case VX_TRANS_MAX_INT:
			*value = ((const VxInt64State *) s)->value;
			break;
		default:
			elog(ERROR, "groups have no ranks by this aggregate");
	}
	return count > 0;
}

static int64
rank_of_group(const VxAggState *state, const VxAggTopN *topn, uint32 gid)
{
	int64		value;

	if (!integer_value(state, topn->entry, gid, &value))
		return topn->nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
	return topn->descending ? ~value : value;
}

void
vx_agg_topn_start(VxAggState *state)
{
	VxAggTopN  *topn = state->topn;

	topn->bounded = vx_ranks_begin(topn->ranks);
	for (uint32 gid = state->next; topn->bounded && gid < state->groups->ngroups; gid++)
	{
		if (gid % CHECK_GROUPS == 0)
			CHECK_FOR_INTERRUPTS();
		vx_ranks_add(topn->ranks, rank_of_group(state, topn, gid));
	}
}

/* May a group pass that is equal to the worst?  Ends stand for what is beyond them. */
static bool
tie_passes(VxAggTopN *topn, int64 rank)
{
	if (!topn->any_tie || rank == PG_INT64_MIN || rank == PG_INT64_MAX)
		return true;
	if (topn->nties > 0 && topn->tie != rank)
		topn->nties = 0;
	topn->tie = rank;
	return topn->nties++ < vx_ranks_bound(topn->ranks);
}

bool
vx_agg_topn_passes(VxAggState *state, uint32 gid)
{
	VxAggTopN  *topn = state->topn;
	int64		rank;
	int64		last;

	if (!topn->bounded)
		return true;
	rank = rank_of_group(state, topn, gid);
	last = vx_ranks_last(topn->ranks);
	if (rank < last || (rank == last && tie_passes(topn, rank)))
		return true;
	topn->removed++;
	return false;
}

int
vx_agg_topn_entry(const VxAggTopN *topn, uint64 *removed)
{
	*removed = topn->removed;
	return topn->entry;
}
