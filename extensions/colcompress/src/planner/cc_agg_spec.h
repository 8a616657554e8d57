/*-------------------------------------------------------------------------
 *
 * cc_agg_spec.h
 *	  Which aggregates the vector engine knows, and how it computes each.
 *
 * Shared by the planner, which asks whether a query can be served, and the
 * executor, which does it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_AGG_SPEC_H
#define CC_AGG_SPEC_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* What is kept per group while rows are read. */
typedef enum CcTransKind
{
	CC_TRANS_COUNT,				/* rows whose argument is not null */
	CC_TRANS_SUM_INT,			/* int2, int4: in an int64 */
	CC_TRANS_SUM_INT8,			/* int8: in an int128 */
	CC_TRANS_SUM_NUMERIC,		/* in an int128 of one scale, and what does not fit */
	CC_TRANS_SUM_FLOAT4,		/* in a float, as the server does */
	CC_TRANS_SUM_FLOAT8,		/* float8, and average of float4 */
	CC_TRANS_MIN_INT,			/* everything that is ordered as an integer */
	CC_TRANS_MAX_INT,
	CC_TRANS_MIN_FLOAT,			/* float4, float8 */
	CC_TRANS_MAX_FLOAT,
	CC_TRANS_MIN_NUMERIC,
	CC_TRANS_MAX_NUMERIC,
	CC_TRANS_BOOL_AND,
	CC_TRANS_BOOL_OR,
	CC_TRANS_ORDERED,			/* all values, for percentiles and the mode */
	CC_TRANS_SERVER				/* the server's transition function, row by row */
} CcTransKind;

/* What the values of CC_TRANS_ORDERED are for. */
typedef enum CcOrderedKind
{
	CC_ORDERED_DISC,			/* percentile_disc(float8) */
	CC_ORDERED_CONT,			/* percentile_cont(float8) of float8 */
	CC_ORDERED_MODE
} CcOrderedKind;

typedef struct CcAggSpec
{
	CcTransKind trans;
	bool		average;		/* sum divided by count */
	CcOrderedKind ordered;
	bool		descending;		/* order of CC_TRANS_ORDERED */
} CcAggSpec;

/* False if the engine cannot compute it. */
extern bool cc_agg_resolve(const Aggref *agg, CcAggSpec *spec);

/*
 * Expressions over rows that a grouping by keys needs: the keys, then each
 * aggregate's arguments and its filter.
 */
extern List *cc_agg_operands(List *keys, List *aggregates);

/*
 * Equality of the type is that of the int64 that vectors hold; eqop is the
 * operator that the query uses.
 */
extern bool cc_is_integer_key(Oid type, Oid eqop);

/* Likewise that of the bytes, bpchar's without trailing blanks. */
extern bool cc_is_bytes_key(Oid type, Oid eqop, Oid collation);

#endif							/* CC_AGG_SPEC_H */
