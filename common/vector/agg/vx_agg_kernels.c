/*-------------------------------------------------------------------------
 *
 * vx_agg_kernels.c
 *	  Loops that advance the states of groups by the values of a vector.
 *
 * Two templates make most kernels.  EACH_ROW runs a statement per row, with
 * the row's position and its group's state: one group after another is
 * touched, which no vector instruction can do.  ONE_GROUP reduces rows of one
 * group to one value, which the compiler does with vector instructions, and
 * adds that to the group.
 *
 * Of few groups, the next row's mostly is one that was just added to, and its
 * addition has to wait.  So integers are first added up in several lanes.
 *
 * Allocates nothing and raises nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "vx_agg_kernels.h"

/* At -O2, gcc leaves loops of unknown length as they are. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* clang before 18 gives clones a name that other files do not find. */
#if defined(__x86_64__) && defined(__linux__) && \
	(!defined(__clang__) || __clang_major__ >= 18)
#define VX_KERNEL __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define VX_KERNEL
#endif

/* Rows ahead whose group is asked for. */
#define PREFETCH_ROWS	16

/*
 * Runs statement for each row: x is its value, s the state of its group.
 * type: of values; state_type: of the states.
 */
#define EACH_ROW(type, state_type, statement) \
	do { \
		if (r->rows == NULL) \
		{ \
			for (int i = 0; i < r->n; i++) \
			{ \
				state_type *s = (state_type *) (states + (Size) r->gids[i] * stride); \
				type		x = values[i]; \
				statement; \
			} \
		} \
		else \
		{ \
			for (int i = 0; i < r->n; i++) \
			{ \
				state_type *s = (state_type *) (states + (Size) r->gids[i] * stride); \
				type		x = values[r->rows[i]]; \
				statement; \
			} \
		} \
	} while (0)

/*
 * Runs statement for each row, all of one group: x is its value, acc what the
 * statement gathers, of which lanes independent ones are kept so that one
 * addition need not wait for the last; merge then takes each of them as x
 * into s, the group's state.
 */
#define ONE_GROUP(type, acc_type, start, state_type, statement, merge) \
	do { \
		state_type *s = (state_type *) (states + (Size) r->only * stride); \
		acc_type	lanes[16]; \
		int			i = 0; \
		for (int l = 0; l < 16; l++) \
			lanes[l] = (start); \
		if (r->rows == NULL) \
		{ \
			for (; i + 16 <= r->n; i += 16) \
				for (int l = 0; l < 16; l++) \
				{ \
					type		x = values[i + l]; \
					acc_type	acc = lanes[l]; \
					statement; \
					lanes[l] = acc; \
				} \
			for (; i < r->n; i++) \
			{ \
				type		x = values[i]; \
				acc_type	acc = lanes[0]; \
				statement; \
				lanes[0] = acc; \
			} \
		} \
		else \
		{ \
			for (; i + 4 <= r->n; i += 4) \
				for (int l = 0; l < 4; l++) \
				{ \
					type		x = values[r->rows[i + l]]; \
					acc_type	acc = lanes[l]; \
					statement; \
					lanes[l] = acc; \
				} \
			for (; i < r->n; i++) \
			{ \
				type		x = values[r->rows[i]]; \
				acc_type	acc = lanes[0]; \
				statement; \
				lanes[0] = acc; \
			} \
		} \
		for (int l = 0; l < 16; l++) \
		{ \
			acc_type	x = lanes[l]; \
			merge; \
		} \
	} while (0)

/* Eight integers, which the compiler spreads over what registers there are. */
typedef int64 Lanes __attribute__((vector_size(64)));
typedef uint64 ULanes __attribute__((vector_size(64)));

/* Eight values, or 0 where the bit of the position is not set. */
static inline __attribute__((always_inline)) void
mask_lanes(const int64 *values, const uint64 *selection, int base, Lanes *x)
{
	const Lanes bits = {1, 2, 4, 8, 16, 32, 64, 128};

	memcpy(x, values + base, sizeof(*x));
	*x &= (bits & (uint8) (selection[base / 64] >> (base % 64))) != 0;
}

/*
 * Runs statement for all positions up to the last row's, eight at a time: x has their
 * values, 0 where there is no row.  Where most have one, this is faster than to look
 * up each.  Then rest is run for each of the positions that are left.
 */
#define EACH_MASKED(statement, rest) \
	do { \
		int			end = r->rows[r->n - 1] + 1; \
		int			base = 0; \
		for (; base + 8 <= end; base += 8) \
		{ \
			Lanes		x; \
			mask_lanes(values, r->selection, base, &x); \
			statement; \
		} \
		for (; base < end; base++) \
			if (r->selection[base / 64] & (UINT64CONST(1) << (base % 64))) \
			{ \
				int64		x = values[base]; \
				rest; \
			} \
	} while (0)

static inline __attribute__((always_inline)) uint64
add_lanes(const ULanes *x)
{
	uint64		sum = 0;

	for (int l = 0; l < 8; l++)
		sum += (*x)[l];
	return sum;
}

static inline bool
are_most_selected(const VxAggRows *r)
{
	return r->selection != NULL && r->n > 0 && r->n >= r->rows[r->n - 1] / 2;
}

/* Groups that are few, and lanes of these. */
#define FEW_GROUPS	32
#define LANES	4

/* Rows for each group that make the lanes worth while. */
#define LANE_ROWS	8

static inline bool
has_few_groups(const VxAggRows *r)
{
	return r->ngroups > 0 && r->ngroups <= FEW_GROUPS && r->n >= r->ngroups * LANE_ROWS;
}

/* Runs statement for each row: at is its place among r's, g its group, l the lane. */
#define FEW_LANES(statement) \
	do { \
		int			i = 0; \
		for (; i + LANES <= r->n; i += LANES) \
			for (int l = 0; l < LANES; l++) \
			{ \
				int			at = i + l; \
				uint32		g = r->gids[at]; \
				statement; \
			} \
		for (int l = 0; i < r->n; i++) \
		{ \
			int			at = i; \
			uint32		g = r->gids[at]; \
			statement; \
		} \
	} while (0)

static void
count_few(char *states, Size stride, const VxAggRows *r)
{
	int64		counts[LANES][FEW_GROUPS] = {0};

	FEW_LANES(counts[l][g]++);
	for (uint32 g = 0; g < r->ngroups; g++)
		for (int l = 0; l < LANES; l++)
			*(int64 *) (states + (Size) g * stride) += counts[l][g];
}

void
vx_agg_count_rows(char *states, Size stride, const VxAggRows *r)
{
	if (r->gids == NULL)
	{
		*(int64 *) (states + (Size) r->only * stride) += r->n;
		return;
	}
	if (has_few_groups(r))
	{
		count_few(states, stride, r);
		return;
	}
	/* The first kernel that comes to the records: they may be far away. */
	for (int i = 0; i < r->n; i++)
	{
		if (i + PREFETCH_ROWS < r->n)
			__builtin_prefetch(states + (Size) r->gids[i + PREFETCH_ROWS] * stride, 1);
		(*(int64 *) (states + (Size) r->gids[i] * stride))++;
	}
}

static inline __attribute__((always_inline)) void
sum_few(char *states, Size stride, const VxAggRows *r, const int64 *values)
{
	uint64		sums[LANES][FEW_GROUPS] = {0};

	FEW_LANES(sums[l][g] += (uint64) values[vx_agg_row(r, at)]);
	for (uint32 g = 0; g < r->ngroups; g++)
	{
		VxInt64State *s = (VxInt64State *) (states + (Size) g * stride);

		for (int l = 0; l < LANES; l++)
			s->value = (int64) ((uint64) s->value + sums[l][g]);
	}
}

VX_KERNEL void
vx_agg_sum_int64(char *states, Size stride, const VxAggRows *r, const int64 *values)
{
	if (r->gids == NULL && are_most_selected(r))
	{
		VxInt64State *s = (VxInt64State *) (states + (Size) r->only * stride);
		ULanes		sums = {s->value};

		EACH_MASKED(sums += (ULanes) x, sums[0] += (uint64) x);
		s->value = (int64) add_lanes(&sums);
	}
	else if (r->gids == NULL)
		ONE_GROUP(int64, uint64, 0, VxInt64State,
				  acc += (uint64) x,
				  s->value = (int64) ((uint64) s->value + x));
	else if (has_few_groups(r))
		sum_few(states, stride, r, values);
	else
		EACH_ROW(int64, VxInt64State,
				 s->value = (int64) ((uint64) s->value + (uint64) x));
}

/*
 * Sum of 64-bit integers beyond 64 bits: the upper halves (signed) and the
 * lower ones (unsigned) apart, neither of which can overflow.
 */
static inline __attribute__((always_inline)) int128
sum_wide(const VxAggRows *r, const int64 *values)
{
	int64		high = 0;
	uint64		low = 0;

	if (r->rows == NULL)
	{
		for (int i = 0; i < r->n; i++)
		{
			high += values[i] >> 32;
			low += (uint32) values[i];
		}
	}
	else if (are_most_selected(r))
	{
		Lanes		highs = {0};
		ULanes		lows = {0};

		EACH_MASKED(highs += x >> 32;
					lows += (ULanes) x & PG_UINT32_MAX,
					high += x >> 32;
					low += (uint32) x);
		high += (int64) add_lanes((const ULanes *) &highs);
		low += add_lanes(&lows);
	}
	else
	{
		for (int i = 0; i < r->n; i++)
		{
			int64		x = values[r->rows[i]];

			high += x >> 32;
			low += (uint32) x;
		}
	}
	return (int128) high * ((int128) 1 << 32) + low;
}

/* Likewise by group, in lanes. */
static inline __attribute__((always_inline)) void
sum_wide_of_few(char *states, Size stride, const VxAggRows *r, const int64 *values)
{
	int64		high[LANES][FEW_GROUPS] = {0};
	uint64		low[LANES][FEW_GROUPS] = {0};

	FEW_LANES(int64 x = values[vx_agg_row(r, at)];
			  high[l][g] += x >> 32;
			  low[l][g] += (uint32) x);
	for (uint32 g = 0; g < r->ngroups; g++)
	{
		VxInt128State *s = (VxInt128State *) (states + (Size) g * stride);

		for (int l = 0; l < LANES; l++)
			s->sum += (int128) high[l][g] * ((int128) 1 << 32) + low[l][g];
	}
}

VX_KERNEL void
vx_agg_sum_int128(char *states, Size stride, const VxAggRows *r, const int64 *values)
{
	if (r->gids == NULL)
		((VxInt128State *) (states + (Size) r->only * stride))->sum += sum_wide(r, values);
	else if (has_few_groups(r))
		sum_wide_of_few(states, stride, r, values);
	else
		EACH_ROW(int64, VxInt128State, s->sum += x);
}

/* The better of what there was and the values; worst is what any value beats. */
#define BOUND_KERNEL(name, state_type, better, worst) \
VX_KERNEL void \
name(char *states, Size stride, const VxAggRows *r, const int64 *values) \
{ \
	if (r->gids == NULL) \
		ONE_GROUP(int64, int64, worst, state_type, \
				  acc = x better acc ? x : acc, \
				  s->value = x better s->value ? x : s->value); \
	else \
		EACH_ROW(int64, state_type, s->value = x better s->value ? x : s->value); \
}

BOUND_KERNEL(vx_agg_min_int64, VxInt64State, <, PG_INT64_MAX)
BOUND_KERNEL(vx_agg_max_int64, VxInt64State, >, PG_INT64_MIN)
BOUND_KERNEL(vx_agg_min_int128, VxNumericState, <, PG_INT64_MAX)
BOUND_KERNEL(vx_agg_max_int128, VxNumericState, >, PG_INT64_MIN)

VX_KERNEL void
vx_agg_sum_float8(char *states, Size stride, const VxAggRows *r, const double *values)
{
	EACH_ROW(double, VxFloatState, s->value += x);
}

VX_KERNEL bool
vx_agg_sum_finite8(char *states, Size stride, const VxAggRows *r, const double *values)
{
	VxFloatState sum = {.value = -0.0};
	VxFloatState *only = (VxFloatState *) (states + (Size) r->only * stride);

	/* A sum is finite only if all that was added is. */
	states = (char *) &sum;
	stride = 0;
	ONE_GROUP(double, double, -0.0, VxFloatState, acc += x, s->value += x);
	if (!isfinite(sum.value))
		return false;
	only->value += sum.value;
	return true;
}

VX_KERNEL void
vx_agg_sum_float4(char *states, Size stride, const VxAggRows *r, const float *values)
{
	/* In a row's order: lanes would differ too much from the server's sum. */
	if (r->gids == NULL)
	{
		VxFloat4State *s = (VxFloat4State *) (states + (Size) r->only * stride);

		for (int i = 0; i < r->n; i++)
			s->value += values[vx_agg_row(r, i)];
	}
	else
		EACH_ROW(float, VxFloat4State, s->value += x);
}

VX_KERNEL bool
vx_agg_all_finite8(const double *values, const VxAggRows *r)
{
	uint64		special = 0;

	/* All ones in the exponent: adding one to it carries into the sign. */
	if (r->rows == NULL)
	{
		for (int i = 0; i < r->n; i++)
		{
			uint64		bits;

			memcpy(&bits, &values[i], sizeof(bits));
			special |= ((bits & UINT64CONST(0x7FFFFFFFFFFFFFFF)) +
						UINT64CONST(0x0010000000000000));
		}
		return (special >> 63) == 0;
	}
	for (int i = 0; i < r->n; i++)
		if (!isfinite(values[r->rows[i]]))
			return false;
	return true;
}

VX_KERNEL bool
vx_agg_all_finite4(const float *values, const VxAggRows *r)
{
	for (int i = 0; i < r->n; i++)
		if (!isfinite(values[vx_agg_row(r, i)]))
			return false;
	return true;
}

/* ---- group numbers ---- */

/*
 * Multiplies the indexes of n rows by size and adds local, an expression over
 * x, the row's value; with first, there is nothing to multiply yet.
 */
#define LOCAL_NUMBERS(type, local) \
	do { \
		uint64		wrong = 0; \
		if (rows == NULL && first) \
			for (int i = 0; i < n; i++) \
			{ \
				type		x = values[i]; \
				uint64		number = (local); \
				wrong |= number >= limit; \
				index[i] = (uint32) number; \
			} \
		else \
			for (int i = 0; i < n; i++) \
			{ \
				type		x = values[rows ? rows[i] : i]; \
				uint64		number = (local); \
				wrong |= number >= limit; \
				index[i] = (first ? 0 : index[i] * size) + (uint32) number; \
			} \
		return wrong == 0; \
	} while (0)

VX_KERNEL bool
vx_agg_index_int64(const int64 *values, const uint16 *rows, int n, int64 base,
				   uint64 limit, uint32 size, bool first, uint32 *index)
{
	LOCAL_NUMBERS(int64, (uint64) x - (uint64) base);
}

VX_KERNEL bool
vx_agg_index_code(const uint32 *values, const uint16 *rows, int n,
				  uint64 limit, uint32 size, bool first, uint32 *index)
{
	LOCAL_NUMBERS(uint32, x);
}

VX_KERNEL bool
vx_agg_lookup(const uint32 *table, const uint32 *index, int n, uint32 *gids)
{
	uint32		missing = 0;

	for (int i = 0; i < n; i++)
	{
		uint32		gid = table[index[i]];

		missing |= gid == PG_UINT32_MAX;
		gids[i] = gid;
	}
	return missing == 0;
}

VX_KERNEL int
vx_agg_count_changes(const uint32 *gids, int n)
{
	int			changes = 0;

	for (int i = 1; i < n; i++)
		changes += gids[i] != gids[i - 1];
	return changes;
}

/*
 * Of equal values (0 and -0) the last one stays, as in the server.  The least
 * starts as NaN, which anything replaces; the greatest as -Infinity.
 */
#define FLOAT_BOUND_KERNEL(name, takes) \
VX_KERNEL void \
name(char *states, Size stride, const VxAggRows *r, const double *values) \
{ \
	for (int i = 0; i < r->n; i++) \
	{ \
		VxFloatState *s = (VxFloatState *) (states + (Size) vx_agg_gid(r, i) * stride); \
		double		x = values[vx_agg_row(r, i)]; \
		if (takes) \
			s->value = x; \
	} \
}

FLOAT_BOUND_KERNEL(vx_agg_min_float8, !(s->value < x) && (x == x || s->value != s->value))
FLOAT_BOUND_KERNEL(vx_agg_max_float8, !(s->value > x) && s->value == s->value)
