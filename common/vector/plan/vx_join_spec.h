/*-------------------------------------------------------------------------
 *
 * vx_join_spec.h
 *	  Hash joins of vectors as planner and executor see them.
 *
 * A node of a join:
 *
 *	 plan->custom_plans			the probe side, a node that hands out vectors (of full
 *								joins any plan), and the build side, any plan
 *	 plan->custom_scan_tlist	columns of the one, then of the other
 *	 plan->custom_exprs			equalities of the keys, the probe side's on the
 *								left; then the other conditions of the join
 *	 plan->custom_private		see VxJoinField; list of the kinds of keys
 *	 plan->scan.plan.qual		conditions on what comes out
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_JOIN_SPEC_H
#define VX_JOIN_SPEC_H

#include "postgres.h"

#include "vx_hash.h"

/* Integers in the first list of custom_private. */
typedef enum VxJoinField
{
	VX_JOIN_TYPE,				/* JoinType */
	VX_JOIN_TURNED,				/* of SEMI and ANTI: rows of the build side come out */
	VX_JOIN_NOUTER,				/* columns of the probe side */
	VX_JOIN_NKEYS,
	VX_JOIN_SHARES_BUILD,		/* participants divide the build side's rows */
	VX_JOIN_NFIELDS
} VxJoinField;

/*
 * How an operator compares values of the two sides' types; false if not
 * without the server.
 */
extern bool vx_join_key_kind(Oid operator, Oid collation, Oid outer_type, Oid inner_type,
							 VxKeyKind *kind);

#endif							/* VX_JOIN_SPEC_H */
