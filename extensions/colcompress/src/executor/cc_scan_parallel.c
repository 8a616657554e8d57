/*-------------------------------------------------------------------------
 *
 * cc_scan_parallel.c
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

#include "cc_scan.h"

Size
cc_scan_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	CcScanState *state = (CcScanState *) node;

	return cc_shared_size(state->source, pcxt->nworkers);
}

void
cc_scan_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	CcScanState *state = (CcScanState *) node;

	state->shared = coordinate;
	cc_shared_init(state->source, state->shared, pcxt->nworkers);
}

void
cc_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	CcScanState *state = (CcScanState *) node;

	cc_shared_reset(state->source, coordinate);
}

void
cc_scan_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	CcScanState *state = (CcScanState *) node;

	cc_shared_attach(state->source, coordinate, ParallelWorkerNumber);
}

/* The leader's shared memory is about to go: keep the workers' counters. */
void
cc_scan_shutdown(CustomScanState *node)
{
	CcScanState *state = (CcScanState *) node;

	if (state->shared == NULL)
		return;
	cc_shared_stats(state->shared, &state->workers);
	state->shared = NULL;
	state->source->shared = NULL;
}
