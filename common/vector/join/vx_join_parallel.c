/*-------------------------------------------------------------------------
 *
 * vx_join_parallel.c
 *	  A vector hash join in a parallel plan.
 *
 * The participants share the rows of the probe side: a parallel scan, or
 * another such join, hands each of them its own.  Each has a table of all rows
 * of the build side, and parts on disk of its own, so they need not know of
 * each other.  Only what EXPLAIN shows stands in shared memory, a set of
 * counters per worker, where the leader reads it before that memory goes away.
 * They go on counting over rescans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"

#include "vx_join.h"

static void
add_stats(VxJoinStats *sum, const VxJoinStats *stats)
{
	sum->built += stats->built;
	sum->probed += stats->probed;
	sum->unmatched += stats->unmatched;
	sum->parts += stats->parts;
	sum->peak = Max(sum->peak, stats->peak);
}

static void
add_workers(const VxJoinState *state, VxJoinStats *sum)
{
	for (uint32 i = 0; i < state->shared->nworkers; i++)
		add_stats(sum, &state->shared->stats[i]);
}

Size
vx_join_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	return add_size(offsetof(VxSharedJoin, stats),
					mul_size(sizeof(VxJoinStats), pcxt->nworkers));
}

void
vx_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxSharedJoin *shared = coordinate;

	shared->nworkers = pcxt->nworkers;
	memset(shared->stats, 0, sizeof(VxJoinStats) * pcxt->nworkers);
	((VxJoinState *) node)->shared = shared;
}

void
vx_join_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	VxSharedJoin *shared = coordinate;

	((VxJoinState *) node)->stats = &shared->stats[ParallelWorkerNumber];
}

/* The leader's shared memory is about to go: keep the workers' counters. */
void
vx_join_shutdown(CustomScanState *node)
{
	VxJoinState *state = (VxJoinState *) node;

	if (state->shared == NULL)
		return;
	add_workers(state, &state->workers);
	state->shared = NULL;
}

VxJoinStats
vx_join_total_stats(const VxJoinState *state)
{
	VxJoinStats sum = state->workers;

	add_stats(&sum, &state->own_stats);
	if (state->shared)
		add_workers(state, &sum);
	return sum;
}
