/*-------------------------------------------------------------------------
 *
 * vx_agg_setop.c
 *	  INTERSECT and EXCEPT, with and without ALL, over groups.
 *
 * Rows that are equal, nulls included, are a group.  A group counts the rows of
 * the first arm, and those of the second; when both have been read, that tells
 * how many of them come out.  Only rows of the first arm make groups: of a row of the
 * second that has none, nothing is kept, unless the first arm's rows went to disk,
 * where its group may be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"

#include "vx_agg.h"

struct VxAggSetOp
{
	SetOpCmd	cmd;
	int			arm;			/* input: number of the row's arm */
	uint32		gid;			/* the group whose rows come out, */
	int64		left;			/* and how many of them are still to come */
};

/* What a group's record has. */
typedef struct Counts
{
	int64		first;			/* rows of the first arm */
	int64		second;
} Counts;

VxAggSetOp *
vx_agg_setop_create(VxAggState *state, SetOpCmd cmd)
{
	VxAggSetOp *setop = palloc0(sizeof(VxAggSetOp));

	setop->cmd = cmd;
	setop->arm = vx_agg_input(state, (Expr *) makeVar(INDEX_VAR, state->desc->natts, INT4OID,
													  -1, InvalidOid, 0), -1, 0);
	return setop;
}

Size
vx_agg_setop_layout(void)
{
	return sizeof(Counts);
}

void
vx_agg_setop_reset(VxAggSetOp *setop)
{
	setop->left = 0;
}

/* The groups of n rows have one more each, at offset in their records. */
static void
count_rows(VxGroups *groups, int n, Size offset)
{
	VxAggRows	r = {.n = n, .gids = groups->gids};

	vx_agg_count_rows(groups->states + offset, groups->stride, &r);
}

void
vx_agg_setop_advance(VxAggState *state, uint16 *rows, int n)
{
	const VxVector *arm = vx_agg_vector(state, state->setop->arm);
	uint16		second[ST_VECTOR_SIZE];
	int			nfirst = 0;
	int			nsecond = 0;

	/* a batch of rows from disk may have some of both */
	for (int i = 0; i < n; i++)
		if (arm->u.i64[rows[i]] == 0)
			rows[nfirst++] = rows[i];
		else
			second[nsecond++] = rows[i];
	if (nfirst > 0)
		count_rows(state->groups, vx_groups_assign(state, rows, nfirst),
				   offsetof(Counts, first));
	if (nsecond > 0)
		count_rows(state->groups, vx_groups_assign_known(state, second, nsecond),
				   offsetof(Counts, second));
}

bool
vx_agg_setop_is_empty(const VxAggState *state)
{
	return state->groups->ngroups == 0 && !state->groups->full;
}

bool
vx_agg_setop_is_complete(const VxAggState *state)
{
	return state->setop != NULL && vx_agg_arms_current(state->arms) > 0 &&
		!vx_spill_is_input(state);
}

static int64
rows_of_group(const VxAggSetOp *setop, const Counts *counts)
{
	switch (setop->cmd)
	{
		case SETOPCMD_INTERSECT:
			return counts->second > 0;
		case SETOPCMD_INTERSECT_ALL:
			return Min(counts->first, counts->second);
		case SETOPCMD_EXCEPT:
			return counts->second == 0;
		default:
			return Max(counts->first - counts->second, 0);
	}
}

bool
vx_agg_setop_next(VxAggState *state, uint32 *gid)
{
	VxAggSetOp *setop = state->setop;

	while (setop->left == 0)
	{
		CHECK_FOR_INTERRUPTS();
		if (state->next >= state->groups->ngroups)
			return false;
		setop->gid = state->next++;
		setop->left = rows_of_group(setop, (const Counts *) vx_group_record(state->groups,
																			setop->gid));
	}
	setop->left--;
	*gid = setop->gid;
	return true;
}

const char *
vx_agg_setop_name(const VxAggSetOp *setop)
{
	static const char *const names[] = {
		[SETOPCMD_INTERSECT] = "Intersect",
		[SETOPCMD_INTERSECT_ALL] = "Intersect All",
		[SETOPCMD_EXCEPT] = "Except",
		[SETOPCMD_EXCEPT_ALL] = "Except All"
	};

	return names[setop->cmd];
}
