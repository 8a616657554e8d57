/*-------------------------------------------------------------------------
 *
 * vx_topn.c
 *	  What a scan under ORDER BY ... LIMIT n needs not hand out.
 *
 * A rank is a monotone image of the key in int64: the number itself, a
 * numeric's floor at one scale, the bits of a float put in order, the first
 * eight bytes of a string; complemented if the order is descending.  Nulls
 * are at one end.  As images of different keys may be equal, rows are left
 * out only if they are worse, never if they are equal (vx_ranks.h); strings
 * whose images are equal are compared (vx_ties.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bswap.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "vx_paths.h"
#include "vx_ranks.h"
#include "vx_select.h"
#include "vx_ties.h"
#include "vx_topn.h"
#include "st_numeric.h"
#include "st_qual.h"

/* Decimals that ranks of numerics keep. */
#define RANK_SCALE	6

struct VxTopN
{
	Expr	   *key_expr;
	VxExpr	   *key;
	Oid			type;			/* base type of the key */
	bool		descending;
	bool		nulls_first;
	AttrNumber	attno;			/* the key is this column, or key column, or 0 */
	const VxKeys *keys;
	VxRanks    *ranks;
	VxTies	   *ties;			/* the key is a string; or NULL */
	uint64		removed;
};

/* ---- plan ---- */

List *
vx_scan_quals(CustomScan *plan)
{
	List	   *fields = list_nth(plan->custom_private, VX_SCAN_TOPN);

	if (fields == NIL)
		return plan->custom_exprs;
	return list_truncate(list_copy(plan->custom_exprs),
						 list_nth_int(fields, VX_TOPN_NQUALS));
}

/* The sort key over path columns; NULL: no limit is known. */
static Expr *
key_over_paths(CustomScan *plan, VxPathSet *paths)
{
	List	   *fields = list_nth(plan->custom_private, VX_SCAN_TOPN);
	int			first;

	if (fields == NIL)
		return NULL;
	first = list_nth_int(fields, VX_TOPN_NQUALS);
	return (Expr *) vx_path_set_replace(paths, list_nth(plan->custom_exprs,
														first + VX_TOPN_KEY));
}

void
vx_topn_add_paths(CustomScan *plan, VxPathSet *paths)
{
	(void) key_over_paths(plan, paths);
}

VxTopN *
vx_topn_create(CustomScan *plan, PlanState *node, VxExprSet *exprs, VxPathSet *paths,
			   const VxKeys *keys)
{
	VxTopN	   *topn;
	List	   *fields = list_nth(plan->custom_private, VX_SCAN_TOPN);
	int			first;

	if (fields == NIL)
		return NULL;
	first = list_nth_int(fields, VX_TOPN_NQUALS);
	topn = palloc0(sizeof(VxTopN));
	topn->key_expr = list_nth(plan->custom_exprs, first + VX_TOPN_KEY);
	topn->key = vx_expr_compile(exprs, key_over_paths(plan, paths), VX_EXPR_ANY_SCALE);
	if (topn->key == NULL)
		return NULL;
	topn->attno = vx_expr_plain_column(topn->key);
	topn->keys = keys;

	/*
	 * Paths have no zones.  Nor have expressions of orderby in a parallel plan:
	 * its participants take vectors in one order, and the option may change
	 * before the last of them has begun.
	 */
	if (topn->attno == InvalidAttrNumber || topn->attno > paths->desc->natts)
		topn->attno = plan->scan.plan.parallel_aware ? InvalidAttrNumber :
			vx_keys_find(keys, topn->key_expr);
	topn->type = getBaseType(exprType((Node *) topn->key_expr));
	topn->descending = list_nth_int(fields, VX_TOPN_DESCENDING);
	topn->nulls_first = list_nth_int(fields, VX_TOPN_NULLS_FIRST);
	topn->ranks = vx_ranks_create(list_nth(plan->custom_exprs, first + VX_TOPN_LIMIT),
								  list_nth(plan->custom_exprs, first + VX_TOPN_OFFSET),
								  node);
	if (topn->type == TEXTOID || topn->type == VARCHAROID || topn->type == BYTEAOID)
		topn->ties = vx_ties_create(topn->descending);
	return topn;
}

void
vx_topn_rescan(VxTopN *topn)
{
	vx_ranks_rescan(topn->ranks);
	if (topn->ties)
		vx_ties_rescan(topn->ties);
}

Expr *
vx_topn_key(const VxTopN *topn)
{
	return topn->key_expr;
}

uint64
vx_topn_removed(const VxTopN *topn)
{
	return topn->removed;
}

bool
vx_topn_has_zones(const VxTopN *topn)
{
	return topn->attno != InvalidAttrNumber;
}

bool
vx_topn_may_pass(const VxTopN *topn, int64 rank)
{
	return rank <= vx_ranks_last(topn->ranks);
}

void
vx_topn_share(VxTopN *topn, pg_atomic_uint64 *last)
{
	vx_ranks_share(topn->ranks, last);
}

/* ---- ranks in ascending order of the keys ---- */

/* value * 10^(RANK_SCALE - scale) without decimals, or the end it is beyond. */
static int64
rank_of_decimal(int128 value, int scale)
{
	for (; scale < RANK_SCALE; scale++)
	{
		if (value > PG_INT64_MAX || value < PG_INT64_MIN)
			break;				/* more digits make it only larger */
		value *= 10;
	}
	for (; scale > RANK_SCALE; scale--)
		value /= 10;
	return value > PG_INT64_MAX ? PG_INT64_MAX :
		value < PG_INT64_MIN ? PG_INT64_MIN : (int64) value;
}

/* Any numeric: NaN, infinities and what is too long is beyond an end. */
static int64
rank_of_numeric(Datum num)
{
	int128		value;
	int			scale;
	bool		negative;

	if (st_numeric_to_int128(num, &value, &scale))
		return rank_of_decimal(value, scale);
	if (numeric_is_nan(DatumGetNumeric(num)))
		return PG_INT64_MAX;
	if (!numeric_is_inf(DatumGetNumeric(num)) &&
		st_numeric_to_int128(DirectFunctionCall2(numeric_trunc, num,
												 Int32GetDatum(RANK_SCALE)),
							 &value, &scale))
		return rank_of_decimal(value, scale);
	negative = DatumGetBool(DirectFunctionCall2(numeric_lt, num,
												NumericGetDatum(int64_to_numeric(0))));
	return negative ? PG_INT64_MIN : PG_INT64_MAX;
}

/* The first bytes, the first of them weighing most; pad fills up. */
static int64
rank_of_bytes(StStr s, uint8 pad)
{
	uint64		rank = 0;

	if (s.len >= sizeof(rank))
	{
		memcpy(&rank, s.data, sizeof(rank));
		rank = pg_ntoh64(rank);
	}
	else
		for (int i = 0; i < sizeof(rank); i++)
			rank = rank << 8 | (i < s.len ? (uint8) s.data[i] : pad);
	return (int64) (rank ^ (UINT64CONST(1) << 63));
}

/* Of a value of the key's type that vectors or zones hold as a Datum. */
static int64
rank_of_datum(const VxTopN *topn, Datum value, uint8 pad)
{
	switch (topn->type)
	{
		case FLOAT8OID:
			return vx_rank_of_float8(DatumGetFloat8(value));
		case FLOAT4OID:
			return vx_rank_of_float8(DatumGetFloat4(value));
		case NUMERICOID:
			return rank_of_numeric(PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)));
		case UUIDOID:
			return rank_of_bytes(st_string_bytes(value, UUIDOID), pad);
		case TEXTOID:
		case VARCHAROID:
		case BYTEAOID:
			return rank_of_bytes(st_string_bytes(PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)),
												 TEXTOID), pad);
		default:
			return vx_integer_of(topn->type, value);
	}
}

/* Ranks of the selected rows, not null ones; the rest is undefined. */
static void
ascending_ranks(const VxTopN *topn, const VxVector *v, const uint64 *rows, int64 *ranks)
{
	if (v->rep == VX_REP_INT64)
	{
		memcpy(ranks, v->u.i64, sizeof(int64) * v->n);
		return;
	}
	VX_FOREACH_ROW(row, rows, (v->n + 63) / 64)
	{
		if (vx_vector_isnull(v, row))
			continue;
		if (v->rep == VX_REP_FLOAT8)
			ranks[row] = vx_rank_of_float8(v->u.f64[row]);
		else if (v->rep == VX_REP_FLOAT4)
			ranks[row] = vx_rank_of_float8(v->u.f32[row]);
		else if (vx_is_decimal(v))
			ranks[row] = rank_of_decimal(vx_decimal(v, row), v->scale);
		else
			ranks[row] = rank_of_datum(topn, vx_vector_datum(v, row), 0);
	}
}

static inline int64
null_rank(const VxTopN *topn)
{
	return topn->nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
}

/* ---- units ---- */

int64
vx_topn_best(VxTopN *topn, StReader *reader, int64 vecno)
{
	StZone		zone;

	if (topn->attno == InvalidAttrNumber ||
		!vx_keys_zone(topn->keys, reader, topn->attno, vecno, &zone))
		return PG_INT64_MIN;
	if (zone.nnulls == zone.nrows)
		return null_rank(topn);
	if (!zone.has_minmax || (zone.nnulls > 0 && topn->nulls_first))
		return PG_INT64_MIN;
	/* a prefix may stand for anything that begins with it */
	return topn->descending ? ~rank_of_datum(topn, zone.max, 0xFF) :
		rank_of_datum(topn, zone.min, 0);
}

/* Leaves out rows that are worse than the n best known ones. */
static void
remove_worse(const VxTopN *topn, const int64 *ranks, VxBatch *batch)
{
	int64		last = vx_ranks_last(topn->ranks);

	if (last < PG_INT64_MAX)
		vx_select_int64(ranks, batch->nrows, PG_INT64_MIN, last, false, batch->selection);
}

/* Leaves out strings of the rank of the worst that come behind n known ones. */
static void
remove_worse_strings(VxTopN *topn, const VxVector *v, const int64 *ranks, VxBatch *batch)
{
	int64		last = vx_ranks_last(topn->ranks);
	uint64		n = vx_ranks_bound(topn->ranks);

	if (topn->ties == NULL || last == PG_INT64_MAX)
		return;
	VX_FOREACH_ROW(row, batch->selection, (batch->nrows + 63) / 64)
	{
		Datum		value;

		if (ranks[row] != last || vx_vector_isnull(v, row))
			continue;
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(vx_vector_datum(v, row)));
		if (!vx_ties_pass(topn->ties, last, n, st_string_bytes(value, TEXTOID)))
			vx_rows_clear(batch->selection, row);
	}
}

void
vx_topn_batch(VxTopN *topn, VxBatch *batch)
{
	int			before = vx_selection_count(batch->selection, batch->nrows);
	const VxVector *v;
	int64		ranks[ST_VECTOR_SIZE];

	if (before == 0 || !vx_ranks_begin(topn->ranks))
		return;
	v = vx_expr_eval(topn->key, batch, batch->selection);
	ascending_ranks(topn, v, batch->selection, ranks);
	if (topn->descending)
		for (int i = 0; i < batch->nrows; i++)
			ranks[i] = ~ranks[i];
	if (v->has_nulls)
		for (int i = 0; i < batch->nrows; i++)
			if (vx_vector_isnull(v, i))
				ranks[i] = null_rank(topn);

	remove_worse(topn, ranks, batch);
	VX_FOREACH_ROW(row, batch->selection, (batch->nrows + 63) / 64)
	{
		vx_ranks_add(topn->ranks, ranks[row]);
	}
	vx_ranks_publish(topn->ranks);
	remove_worse(topn, ranks, batch);
	remove_worse_strings(topn, v, ranks, batch);
	topn->removed += before - vx_selection_count(batch->selection, batch->nrows);
}
