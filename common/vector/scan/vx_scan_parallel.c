/*-------------------------------------------------------------------------
 *
 * vx_scan_parallel.c
 *	  Parallel callbacks of the custom scan node.
 *
 * Counters for EXPLAIN stand in shared memory, one set per worker, where the
 * leader reads them before that memory goes away.  They go on counting over
 * rescans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"

#include "vx_scan.h"

Size
vx_scan_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	VxScanState *state = (VxScanState *) node;

	return vx_shared_size(state->source, pcxt->nworkers);
}

void
vx_scan_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxScanState *state = (VxScanState *) node;

	state->shared = coordinate;
	vx_shared_init(state->source, state->shared, pcxt->nworkers);
}

void
vx_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxScanState *state = (VxScanState *) node;

	vx_shared_reset(state->source, coordinate);
}

void
vx_scan_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	VxScanState *state = (VxScanState *) node;

	vx_shared_attach(state->source, coordinate, ParallelWorkerNumber);
}

/* The leader's shared memory is about to go: keep the workers' counters. */
void
vx_scan_shutdown(CustomScanState *node)
{
	VxScanState *state = (VxScanState *) node;

	if (state->shared == NULL)
		return;
	vx_shared_stats(state->shared, &state->workers);
	state->shared = NULL;
	state->source->shared = NULL;
}
