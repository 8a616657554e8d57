/*-------------------------------------------------------------------------
 *
 * vx_expr_cache.c
 *	  Functions of one varying argument that is passed by value, remembered
 *	  by that argument: extract(year from d), date_trunc('day', ts), and any
 *	  other that has no kernel.
 *
 * A direct-mapped table remembers results.  Functions that take a time apart
 * are remembered by the day, hour or minute that their result depends on, so
 * a million timestamps cost a few hundred calls.  The server's own function
 * is called for every result, only for values of rows that are asked for,
 * and what it raises is raised.
 *
 * Where results repeat too seldom the table is given up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "pgtime.h"
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "st_numeric.h"

#define CACHE_BITS	11
#define CACHE_SIZE	(1 << CACHE_BITS)

/* Lookups before the cache is judged, and results kept in memory. */
#define TRIAL_LOOKUPS	8192
#define MAX_BYTES		(1024 * 1024)

typedef struct VxResult
{
	int64		key;
	Datum		value;			/* or the scaled integer of a numeric */
	uint8		state;			/* VX_MEMO_* */
	bool		decimal;
	uint8		scale;
} VxResult;

struct VxCache
{
	Oid			funcid;
	int			arg;			/* that varies */
	bool		known_time;		/* a function of time that may be called early */
	MemoryContext mcxt;

	/* of this generation */
	uint64		generation;
	const pg_tz *zone;
	VxTimeStep	step;
	int64		width;
	uint64		lookups;
	uint64		calls;
	bool		given_up;
	VxResult   *results;
};

void
vx_cache_set(VxNode *node, Oid funcid)
{
	VxCache    *cache;
	int			varying = -1;

	if (!node->flinfo->fn_strict || node->nargs == 0)
		return;
	for (int i = 0; i < node->nargs; i++)
	{
		VxNode	   *arg = node->args[i];

		if (arg->eval == vx_eval_constant)
			continue;
		if (varying >= 0 || vx_node_rep(arg) != VX_REP_INT64)
			return;
		varying = i;
	}
	if (varying < 0)
		return;

	cache = palloc0(sizeof(VxCache));
	cache->funcid = funcid;
	cache->arg = varying;
	cache->known_time = vx_time_is_known(funcid);
	cache->mcxt = AllocSetContextCreate(node->expr->set->mcxt, "vector results",
										ALLOCSET_DEFAULT_SIZES);
	node->cache = cache;
}

bool
vx_cache_allowed(const VxNode *node)
{
	if (node->expr->safely)
		return node->cache->known_time;
	return !node->cache->given_up ||
		node->cache->generation != node->expr->set->generation;
}

static void
start_over(VxNode *node, const VxVector *const *args)
{
	VxCache    *cache = node->cache;

	MemoryContextReset(cache->mcxt);
	cache->results = MemoryContextAllocZero(cache->mcxt, sizeof(VxResult) * CACHE_SIZE);
	if (cache->generation == node->expr->set->generation && cache->zone == session_timezone)
		return;

	cache->width = 1;
	cache->step = VX_STEP_NONE;
	if (cache->known_time)
	{
		const text *unit = NULL;

		/* the constant is not null: there are rows to call the function for */
		if (vx_time_has_unit(cache->funcid) && cache->arg != 0)
			unit = (const text *) DatumGetPointer(vx_vector_datum(args[0], 0));
		cache->step = vx_time_step(cache->funcid, unit, &cache->width);
	}
	cache->lookups = cache->calls = 0;
	cache->given_up = false;
	cache->zone = session_timezone;
	cache->generation = node->expr->set->generation;
}

static inline int64
floor_divide(int64 value, int64 width)
{
	int64		q = value / width;

	return value % width < 0 ? q - 1 : q;
}

/* Calls the function and keeps its result in mcxt. */
static void
call(VxNode *node, const VxVector *const *args, int row, MemoryContext mcxt,
	 VxResult *result)
{
	bool		isnull;
	Datum		value = vx_call_row(node, args, row, &isnull);
	int128		v;
	int			scale;

	result->state = VX_MEMO_UNKNOWN;
	result->decimal = false;
	result->value = value;
	if (!isnull && node->type == NUMERICOID &&
		st_numeric_to_int128(value, &v, &scale) && v == (int64) v)
	{
		result->decimal = true;
		result->value = (Datum) (int64) v;
		result->scale = scale;
	}
	else if (!isnull)
		result->value = vx_node_keep(node, value, mcxt);
	ResetExprContext(node->expr->set->econtext);
	result->state = isnull ? VX_MEMO_NULL : VX_MEMO_VALUE;
	node->cache->calls++;
}

/* True if the result holds for all values of the same step. */
static bool
find(VxNode *node, const VxVector *const *args, int row, VxResult *result)
{
	VxCache    *cache = node->cache;
	int64		value = args[cache->arg]->u.i64[row];
	int64		key = value;
	VxResult   *place;

	/* infinities stay apart: no quotient is that large */
	if (cache->width > 1 && value != PG_INT64_MIN && value != PG_INT64_MAX)
		key = floor_divide(value, cache->width);
	place = &cache->results[((uint64) key * UINT64CONST(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS)];
	if (likely(place->state != VX_MEMO_UNKNOWN && place->key == key))
	{
		*result = *place;
		return true;
	}
	if (cache->given_up ||
		(cache->step == VX_STEP_ZONED && cache->width > 1 && key != value &&
		 !vx_time_is_steady(key * cache->width, cache->width)))
	{
		call(node, args, row, node->expr->arena, result);
		return false;
	}
	call(node, args, row, cache->mcxt, place);
	place->key = key;
	*result = *place;
	return true;
}

/*
 * Results that are numbers of 64 bits go straight into the vector, and a
 * value that gives the same as the one before it is not even looked up.
 * False: numerics that are no scaled integers of one scale.
 */
static bool
find_numbers(VxNode *node, const VxVector *const *args, const uint64 *rows,
			 const uint64 *live)
{
	VxCache    *cache = node->cache;
	const int64 *values = args[cache->arg]->u.i64;
	bool		numeric = node->type == NUMERICOID;
	int			words = VX_EXPR_WORDS(node->expr);
	VxResult	result = {0};
	int64		start = 0;		/* the values for which result holds */
	uint64		width = 0;
	int			scale = -1;

	vx_node_begin(node, numeric ? VX_REP_DECIMAL64 : vx_node_rep(node));
	vx_node_set_nulls(node, rows, live);
	VX_FOREACH_ROW(row, live, words)
	{
		int64		value = values[row];

		if ((uint64) value - (uint64) start >= width)
		{
			/* a result of an unsteady hour holds for its own value alone */
			start = value;
			width = 1;
			if (find(node, args, row, &result) && value != PG_INT64_MIN && value != PG_INT64_MAX)
			{
				width = cache->width;
				start = floor_divide(value, cache->width) * cache->width;
			}
			if (numeric && result.state != VX_MEMO_NULL)
			{
				if (!result.decimal || (scale >= 0 && result.scale != scale))
					return false;
				scale = result.scale;
			}
		}
		node->out.u.i64[row] = (int64) result.value;
		if (result.state == VX_MEMO_NULL)
			vx_node_put(node, row, (Datum) 0, true);
	}
	node->out.scale = Max(scale, 0);
	return true;
}

static Datum
numeric_of(VxNode *node, const VxResult *r)
{
	char	   *buf = MemoryContextAlloc(node->expr->arena, ST_NUMERIC_MAX_BYTES);

	st_numeric_write_int64(buf, (int64) r->value, r->scale);
	return PointerGetDatum(buf);
}

const VxVector *
vx_cache_eval(VxNode *node, const VxVector *const *args, const uint64 *rows,
			  const uint64 *live)
{
	VxCache    *cache = node->cache;
	int			words = VX_EXPR_WORDS(node->expr);
	VxRep		rep = vx_node_rep(node);
	uint64		calls;
	VxResult   *results;

	if (cache->results == NULL || cache->generation != node->expr->set->generation ||
		cache->zone != session_timezone ||
		MemoryContextMemAllocated(cache->mcxt, true) > MAX_BYTES)
		start_over(node, args);
	cache->lookups += vx_selection_count(live, node->expr->batch->nrows);
	if (cache->lookups > TRIAL_LOOKUPS && cache->calls * 2 > cache->lookups)
		cache->given_up = true;

	calls = cache->calls;
	if ((rep == VX_REP_INT64 || rep == VX_REP_FLOAT8 || node->type == NUMERICOID) &&
		find_numbers(node, args, rows, live))
		return &node->out;
	cache->calls = calls;
	results = MemoryContextAlloc(node->expr->arena, sizeof(VxResult) * ST_VECTOR_SIZE);
	VX_FOREACH_ROW(row, live, words)
		find(node, args, row, &results[row]);

	vx_node_begin(node, vx_node_rep(node));
	vx_node_set_nulls(node, rows, live);
	VX_FOREACH_ROW(row, live, words)
	{
		const VxResult *r = &results[row];

		vx_node_put(node, row, r->decimal ? numeric_of(node, r) : r->value,
					r->state == VX_MEMO_NULL);
	}
	return node->type == NUMERICOID ? vx_node_numerics(node, live) : &node->out;
}
