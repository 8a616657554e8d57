/*-------------------------------------------------------------------------
 *
 * vx_agg_spec.h
 *	  Which aggregates the vector engine knows, and how it computes each.
 *
 * Shared by the planner, which asks whether a query can be served, and the
 * executor, which does it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_SPEC_H
#define VX_AGG_SPEC_H

#include "postgres.h"

#include "nodes/primnodes.h"

/*
 * A node of aggregation:
 *
 *	 plan->custom_scan_tlist	group keys, then the aggregates, then GROUPING()
 *								of sets; a partial node
 *								has its output, a bytea, at the end
 *	 plan->custom_private		list of the keys' equality operators, list of
 *								one VxAggMode, whether sums of linear
 *								expressions are derived, a VxAggSetOpKind, and of VX_AGG_SHARES
 *								the key; NIL or, for rows that the
 *								node makes vectors of, where in them each of
 *								vx_agg_operands() is (-1 alone: there are none);
 *								NIL or, of GROUPING SETS, the keys' numbers and
 *								then those of each set;
 *								and where only the first groups are wanted, the
 *								list of integers VxAggTopNField
 *	 plan->custom_exprs			parameters of it all, then LIMIT and OFFSET
 *	 plan->custom_plans			the scan below; what returns rows; what
 *								returns states of partial nodes; or the arms of a set
 *								operation
 */
typedef enum VxAggMode
{
	VX_AGG_PLAIN,				/* rows to groups */
	VX_AGG_PARTIAL,				/* in a parallel worker: rows to states of groups */
	VX_AGG_FINAL,				/* those to groups */
	VX_AGG_SHARED,				/* in all participants: rows to groups of partitions */
	VX_AGG_SHARES				/* in all participants: all rows to groups of shares of a key */
} VxAggMode;

/* Whose rows are taken: those of one plan, or of several. */
typedef enum VxAggSetOpKind
{
	VX_AGG_NO_SETOP,
	VX_AGG_UNION,
	VX_AGG_SETOP				/* and above: with a SetOpCmd added to it */
} VxAggSetOpKind;

/* In custom_private. */
#define VX_AGG_PRIVATE_SETS	3
#define VX_AGG_PRIVATE_TOPN	4

typedef enum VxAggTopNField
{
	VX_AGG_TOPN_FIRST_EXPR,		/* LIMIT in custom_exprs */
	VX_AGG_TOPN_ENTRY,			/* of custom_scan_tlist: the first sort key */
	VX_AGG_TOPN_DESCENDING,
	VX_AGG_TOPN_NULLS_FIRST,
	VX_AGG_TOPN_ANY_TIE			/* there is no other sort key */
} VxAggTopNField;

/* What is kept per group while rows are read. */
typedef enum VxTransKind
{
	VX_TRANS_COUNT,				/* rows whose argument is not null */
	VX_TRANS_SUM_INT,			/* int2, int4: in an int64 */
	VX_TRANS_SUM_INT8,			/* int8: in an int128 */
	VX_TRANS_SUM_NUMERIC,		/* in an int128 of one scale, and what does not fit */
	VX_TRANS_SUM_FLOAT4,		/* in a float, as the server does */
	VX_TRANS_SUM_FLOAT8,		/* float8, and average of float4 */
	VX_TRANS_MIN_INT,			/* everything that is ordered as an integer; bool_and() */
	VX_TRANS_MAX_INT,
	VX_TRANS_MIN_FLOAT,			/* float4, float8 */
	VX_TRANS_MAX_FLOAT,
	VX_TRANS_MIN_NUMERIC,
	VX_TRANS_MAX_NUMERIC,
	VX_TRANS_ORDERED,			/* all values, for percentiles and the mode */
	VX_TRANS_SERVER				/* the server's transition function, row by row */
} VxTransKind;

/* What the values of VX_TRANS_ORDERED are for. */
typedef enum VxOrderedKind
{
	VX_ORDERED_DISC,			/* percentile_disc(float8) */
	VX_ORDERED_CONT,			/* percentile_cont(float8) of float8 */
	VX_ORDERED_MODE
} VxOrderedKind;

typedef struct VxAggSpec
{
	VxTransKind trans;
	bool		average;		/* sum divided by count */
	VxOrderedKind ordered;
	bool		descending;		/* order of VX_TRANS_ORDERED */
} VxAggSpec;

/* False if the engine cannot compute it. */
extern bool vx_agg_resolve(const Aggref *agg, VxAggSpec *spec);

/* Of VX_TRANS_SERVER: has it a combine function, for states that are values? */
extern bool vx_agg_server_combines(const Aggref *agg);

/*
 * Expressions over rows that a grouping by keys needs: the keys, then each
 * aggregate's arguments and its filter.
 */
extern List *vx_agg_operands(List *keys, List *aggregates);

/*
 * Equality of the type is that of the int64 that vectors hold; eqop is the
 * operator that the query uses.
 */
extern bool vx_is_integer_key(Oid type, Oid eqop);

/* Likewise that of the bytes, bpchar's without trailing blanks. */
extern bool vx_is_bytes_key(Oid type, Oid eqop, Oid collation);

#endif							/* VX_AGG_SPEC_H */
