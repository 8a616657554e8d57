/*-------------------------------------------------------------------------
 *
 * vx_agg_kernels.h
 *	  Loops that advance the states of groups by the values of a vector.
 *
 * A state stands in its group's record at a fixed place: states points to
 * that of group 0, and stride bytes further is the next group's.  Kernels
 * see only rows that count: nulls, and rows that an aggregate's filter takes
 * away, were counted as skipped before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_KERNELS_H
#define VX_AGG_KERNELS_H

#include "postgres.h"

/* Rows of a batch and their groups. */
typedef struct VxAggRows
{
	int			n;
	const uint16 *rows;			/* positions; NULL: 0 .. n-1 */
	const uint64 *selection;	/* bits of just these rows, or NULL */
	const uint32 *gids;			/* n group numbers; NULL: all rows are of */
	uint32		only;			/* this group */
	uint32		ngroups;		/* numbers of groups are below; 0: not known */
} VxAggRows;

static inline int
vx_agg_row(const VxAggRows *r, int i)
{
	return r->rows ? r->rows[i] : i;
}

static inline uint32
vx_agg_gid(const VxAggRows *r, int i)
{
	return r->gids ? r->gids[i] : r->only;
}

/* Every state starts with the number of rows that did not count. */
typedef struct VxCountState
{
	int64		skipped;
} VxCountState;

typedef struct VxInt64State
{
	int64		skipped;
	int64		value;			/* sum, least or greatest value */
} VxInt64State;

typedef struct VxInt128State
{
	int64		skipped;
	int128		sum;
} VxInt128State;

typedef struct VxFloatState
{
	int64		skipped;
	double		value;
	bool		special;		/* an infinity or NaN is in the sum */
} VxFloatState;

typedef struct VxFloat4State
{
	int64		skipped;
	float		value;
	bool		special;
} VxFloat4State;

/* Part of a numeric's sum or bound that is no int64 of the common scale. */
typedef struct VxSlowNumeric VxSlowNumeric;

typedef struct VxNumericState
{
	int64		skipped;
	int128		value;
	VxSlowNumeric *slow;		/* or NULL */
} VxNumericState;

/* All values of a group, as integers that are ordered like them. */
typedef struct VxOrderedState
{
	int64		skipped;
	int64		n;
	int64		capacity;
	int64	   *values;
} VxOrderedState;

/* Adds one per row: to the counts of rows at the start of records. */
extern void vx_agg_count_rows(char *states, Size stride, const VxAggRows *r);

extern void vx_agg_sum_int64(char *states, Size stride, const VxAggRows *r,
							 const int64 *values);

/* VxInt128State and VxNumericState alike. */
extern void vx_agg_sum_int128(char *states, Size stride, const VxAggRows *r,
							  const int64 *values);

/* Of VxInt64State; int128: of VxNumericState. */
typedef void VxAggInt64Kernel(char *states, Size stride, const VxAggRows *r,
							  const int64 *values);
extern VxAggInt64Kernel vx_agg_min_int64,
			vx_agg_max_int64,
			vx_agg_min_int128,
			vx_agg_max_int128;

/* Finite values only (vx_agg_all_finite8); gids is not NULL. */
extern void vx_agg_sum_float8(char *states, Size stride, const VxAggRows *r,
							  const double *values);

/*
 * The same with gids NULL; false, with nothing done, if a value, or their
 * sum, is not finite.
 */
extern bool vx_agg_sum_finite8(char *states, Size stride, const VxAggRows *r,
							   const double *values);

extern void vx_agg_sum_float4(char *states, Size stride, const VxAggRows *r,
							  const float *values);
extern bool vx_agg_all_finite8(const double *values, const VxAggRows *r);
extern bool vx_agg_all_finite4(const float *values, const VxAggRows *r);

/* The server's order: NaN is greater than everything else. */
extern void vx_agg_min_float8(char *states, Size stride, const VxAggRows *r,
							  const double *values);
extern void vx_agg_max_float8(char *states, Size stride, const VxAggRows *r,
							  const double *values);

/*
 * Local numbers of n rows (positions in rows, or NULL: 0 .. n-1) for the
 * direct table: values less base, or codes.  They are added to index, what
 * stands there multiplied by size before, or if it is the first key, nothing.
 * False if a number is not below limit.
 */
extern bool vx_agg_index_int64(const int64 *values, const uint16 *rows, int n, int64 base,
							   uint64 limit, uint32 size, bool first, uint32 *index);
extern bool vx_agg_index_code(const uint32 *values, const uint16 *rows, int n,
							  uint64 limit, uint32 size, bool first, uint32 *index);

/* Looks all of them up; false if an entry is PG_UINT32_MAX. */
extern bool vx_agg_lookup(const uint32 *table, const uint32 *index, int n, uint32 *gids);

/* How many of n group numbers differ from the one before. */
extern int	vx_agg_count_changes(const uint32 *gids, int n);

#endif							/* VX_AGG_KERNELS_H */
