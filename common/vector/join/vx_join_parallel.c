/*-------------------------------------------------------------------------
 *
 * vx_join_parallel.c
 *	  A vector hash join in a parallel plan.
 *
 * The participants share the rows of the probe side: a parallel scan, or
 * another such join, hands each of them its own.  Each has a table of all rows
 * of the build side, and parts on disk of its own.  It runs the build side's plan
 * by itself, or all participants divide its rows among them (vx_join_share.c).
 *
 *	 DSM: counters of each worker | what the build side's rows go through
 *
 * The leader reads the counters before that memory goes away.  They go on counting
 * over rescans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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

static Size
bytes_of_counters(int nworkers)
{
	return MAXALIGN(add_size(offsetof(VxSharedJoin, stats),
							 mul_size(sizeof(VxJoinStats), nworkers)));
}

static VxSharedBuild *
shared_build(VxSharedJoin *shared)
{
	return (VxSharedBuild *) ((char *) shared + bytes_of_counters(shared->nworkers));
}

Size
vx_join_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	Size		size = bytes_of_counters(pcxt->nworkers);

	if (((VxJoinState *) node)->shares_build)
		size = add_size(size, vx_join_share_bytes(pcxt->nworkers + 1));
	return size;
}

void
vx_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxJoinState *state = (VxJoinState *) node;
	VxSharedJoin *shared = coordinate;

	shared->nworkers = pcxt->nworkers;
	memset(shared->stats, 0, sizeof(VxJoinStats) * pcxt->nworkers);
	state->shared = shared;
	/* without a segment there are no workers: the plan hands out all rows */
	if (state->shares_build && pcxt->seg != NULL)
		vx_join_share_init(state, pcxt, shared_build(shared));
}

void
vx_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	if (((VxJoinState *) node)->share)
		vx_join_share_restart((VxJoinState *) node);
}

void
vx_join_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	VxJoinState *state = (VxJoinState *) node;
	VxSharedJoin *shared = coordinate;

	state->stats = &shared->stats[ParallelWorkerNumber];
	if (state->shares_build)
		vx_join_share_attach(state, shared_build(shared));
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
	state->share = NULL;
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
