/*-------------------------------------------------------------------------
 *
 * vx_agg_linear.c
 *	  Sums of x + c, x - c, c - x, x * c and the like from the sum of x.
 *
 * sum(a * x + b) is a * sum(x) + b * count(x), so all such aggregates over one
 * x share its transition and cost nothing per row.  What is left per row are
 * the server's errors: a guard knows the range of x in which no step of an
 * expression overflows.  A batch whose values are in there is done with; for
 * any other the expressions themselves are evaluated, and raise what they
 * have to raise.  Their values are not needed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"

#include "vx_agg.h"
#include "vx_linear.h"
#include "vx_vec.h"

/* Over one base: where it has to be, and what to evaluate if it is not. */
struct VxAggGuard
{
	int64		lo;
	int64		hi;
	List	   *inputs;			/* the expressions */
};

const Aggref *
vx_agg_linear_base(VxAggState *state, const Aggref *ref, VxAggSpec *spec, VxLinear *linear)
{
	Aggref	   *base;
	TargetEntry *arg;
	Oid			type;

	if (!state->algebra || ref->aggdistinct != NIL ||
		(spec->trans != VX_TRANS_SUM_INT && spec->trans != VX_TRANS_SUM_INT8) ||
		!vx_linear_resolve(linitial_node(TargetEntry, ref->args)->expr, linear))
		return NULL;
	arg = copyObject(linitial_node(TargetEntry, ref->args));
	arg->expr = linear->base;
	base = copyObject(unconstify(Aggref *, ref));
	base->args = list_make1(arg);
	type = exprType((Node *) linear->base);
	spec->trans = type == INT8OID ? VX_TRANS_SUM_INT8 : VX_TRANS_SUM_INT;
	return base;
}

void
vx_agg_guard(VxAggState *state, VxAggTrans *trans, const Aggref *ref, const VxLinear *linear)
{
	Oid			type = exprType((Node *) linear->base);
	int64		max = type == INT2OID ? PG_INT16_MAX : type == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;
	VxAggGuard *guard = trans->guard;

	/* a final node has no rows, and whatever the type holds may be in range */
	if (state->mode == VX_AGG_FINAL || (linear->lo <= -max - 1 && linear->hi >= max))
		return;
	if (guard == NULL)
	{
		guard = trans->guard = palloc(sizeof(VxAggGuard));
		guard->lo = PG_INT64_MIN;
		guard->hi = PG_INT64_MAX;
		guard->inputs = NIL;
	}
	guard->lo = Max(guard->lo, linear->lo);
	guard->hi = Min(guard->hi, linear->hi);
	guard->inputs =
		list_append_unique_int(guard->inputs,
							   vx_agg_input(state, linitial_node(TargetEntry, ref->args)->expr,
											trans->filter, 0));
}

bool
vx_agg_guard_allows(const VxAggTrans *trans, int64 least, int64 greatest)
{
	return trans->guard == NULL ||
		(trans->guard->lo <= least && trans->guard->hi >= greatest);
}

/* Are the values of the rows within the guard's range?  Nulls do not matter. */
static bool
values_are_allowed(const VxAggTrans *trans, const VxVector *v, const uint16 *rows, int n)
{
	int			width = vx_vec_kernels()->int64_width(v->u.i64, v->n);
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;

	/* mostly the widest value, of whatever row, says enough */
	if (width < 63 &&
		vx_agg_guard_allows(trans, -(INT64CONST(1) << width), (INT64CONST(1) << width) - 1))
		return true;
	for (int i = 0; i < n; i++)
	{
		int64		value = v->u.i64[rows[i]];

		if (vx_vector_isnull(v, rows[i]))
			continue;
		least = Min(least, value);
		greatest = Max(greatest, value);
	}
	return least > greatest || vx_agg_guard_allows(trans, least, greatest);
}

void
vx_agg_check_guards(VxAggState *state, const uint16 *rows, int n)
{
	for (int i = 0; i < state->ntrans; i++)
	{
		const VxAggTrans *trans = &state->trans[i];
		ListCell   *lc;

		if (trans->guard == NULL || trans->from_footer ||
			values_are_allowed(trans, vx_agg_vector(state, trans->inputs[0]), rows, n))
			continue;
		foreach(lc, trans->guard->inputs)
			(void) vx_agg_vector(state, lfirst_int(lc));
	}
}
