/*-------------------------------------------------------------------------
 *
 * rc_scan_parallel.c
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

#include "rc_scan.h"

Size
rc_scan_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	RcScanState *state = (RcScanState *) node;

	return rc_shared_size(state->source, pcxt->nworkers);
}

void
rc_scan_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	RcScanState *state = (RcScanState *) node;

	state->shared = coordinate;
	rc_shared_init(state->source, state->shared, pcxt->nworkers);
}

void
rc_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	RcScanState *state = (RcScanState *) node;

	rc_shared_reset(state->source, coordinate);
}

void
rc_scan_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	RcScanState *state = (RcScanState *) node;

	rc_shared_attach(state->source, coordinate, ParallelWorkerNumber);
}

/* The leader's shared memory is about to go: keep the workers' counters. */
void
rc_scan_shutdown(CustomScanState *node)
{
	RcScanState *state = (RcScanState *) node;

	if (state->shared == NULL)
		return;
	rc_shared_stats(state->shared, &state->workers);
	state->shared = NULL;
	state->source->shared = NULL;
}
