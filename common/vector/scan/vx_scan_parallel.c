/*-------------------------------------------------------------------------
 *
 * vx_scan_parallel.c
 *	  How the participants of a parallel scan share row groups and delta.
 *
 * The leader puts the list of visible row groups into shared memory, so that
 * every participant reads exactly the same ones.  A participant takes a whole
 * row group at a time, because opening one and unpacking its dictionaries is
 * work that is not to be done twice; its vectors it takes in chunks, so that
 * others can help with what is left when no row group is untouched any more.
 * A row group that the zone tests rule out gets no chunks left.
 *
 * Under ORDER BY ... LIMIT the leader puts row groups, and each participant
 * the vectors of one, in the order of the best keys, and all share the worst
 * rank that may still be among the first ones (vx_ranks.h).
 *
 * All coordination is by atomic counters; there are no locks.
 *
 * Counters for EXPLAIN stand in shared memory, one set per worker, where the
 * leader reads them before that memory goes away.  They go on counting over
 * rescans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_scan.h"

/* A row group's next chunk from here on: nothing is left. */
#define NOTHING_LEFT (PG_UINT32_MAX / 2)

static Size
stats_offset(int ngroups)
{
	return MAXALIGN(add_size(offsetof(VxSharedScan, groups),
							 mul_size(sizeof(VxSharedGroup), ngroups)));
}

static VxScanStats *
worker_stats(VxSharedScan *shared, int worker)
{
	return (VxScanStats *) ((char *) shared + shared->stats_offset) + worker;
}

static inline VxSource *
source_of(CustomScanState *node)
{
	return ((VxScanState *) node)->source;
}

static void
set_shared(VxSource *source, VxSharedScan *shared)
{
	source->shared = shared;
	if (source->filter->topn)
		vx_topn_share(source->filter->topn, shared ? &shared->topn_rank : NULL);
}

Size
vx_scan_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	VxSource   *source = source_of(node);

	vx_source_start(source);
	vx_source_order_groups(source);
	return add_size(stats_offset(source->groups->ngroups),
					mul_size(sizeof(VxScanStats), pcxt->nworkers));
}

void
vx_scan_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxSource   *source = source_of(node);
	VxSharedScan *shared = coordinate;

	((VxScanState *) node)->shared = shared;
	shared->ngroups = source->groups->ngroups;
	shared->ndelta = source->ndelta;
	shared->nworkers = pcxt->nworkers;
	shared->stats_offset = stats_offset(shared->ngroups);
	pg_atomic_init_u32(&shared->next_group, 0);
	pg_atomic_init_u32(&shared->next_delta, 0);
	for (uint32 i = 0; i < shared->ngroups; i++)
	{
		shared->groups[i].group = source->groups->groups[i];
		pg_atomic_init_u32(&shared->groups[i].next_chunk, 0);
		pg_atomic_init_u32(&shared->groups[i].entered, 0);
		shared->groups[i].order = source->group_order ? source->group_order[i] : i;
	}
	memset(worker_stats(shared, 0), 0, sizeof(VxScanStats) * pcxt->nworkers);
	pg_atomic_init_u64(&shared->topn_rank, VX_RANKS_NONE);
	set_shared(source, shared);
	vx_source_count_pass(source);
}

void
vx_scan_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxSharedScan *shared = coordinate;

	vx_source_count_pass(source_of(node));
	pg_atomic_write_u64(&shared->topn_rank, VX_RANKS_NONE);
	pg_atomic_write_u32(&shared->next_group, 0);
	pg_atomic_write_u32(&shared->next_delta, 0);
	for (uint32 i = 0; i < shared->ngroups; i++)
	{
		pg_atomic_write_u32(&shared->groups[i].next_chunk, 0);
		pg_atomic_write_u32(&shared->groups[i].entered, 0);
	}
}

void
vx_scan_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	VxSource   *source = source_of(node);
	VxSharedScan *shared = coordinate;
	StGroupList *list = MemoryContextAlloc(source->mcxt, sizeof(StGroupList));

	list->ngroups = shared->ngroups;
	list->groups = MemoryContextAllocHuge(source->mcxt,
										  mul_size(sizeof(StGroup), shared->ngroups + 1));
	for (uint32 i = 0; i < shared->ngroups; i++)
		list->groups[i] = shared->groups[i].group;
	source->groups = list;
	set_shared(source, shared);
	source->stats = worker_stats(shared, ParallelWorkerNumber);
	source->counted_stats = *source->stats;
}

void
vx_shared_stats(VxSharedScan *shared, VxScanStats *sum)
{
	for (uint32 i = 0; i < shared->nworkers; i++)
		vx_stats_add(sum, worker_stats(shared, i));
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
	set_shared(state->source, NULL);
}

/* Takes a chunk of the row group at hand. */
static bool
take_chunk(VxSource *source)
{
	pg_atomic_uint32 *next_chunk = &source->shared->groups[source->group].next_chunk;
	uint32		nvectors = vx_format->vectors(source->reader);
	uint32		chunk = pg_atomic_fetch_add_u32(next_chunk, 1);

	if (chunk >= NOTHING_LEFT || chunk * VX_CHUNK_VECTORS >= nvectors)
		return false;
	source->vecno = chunk * VX_CHUNK_VECTORS;
	source->vec_end = Min(source->vecno + VX_CHUNK_VECTORS, nvectors);
	/* so that nobody opens the row group to find that out */
	if (source->vec_end == nvectors)
		pg_atomic_write_u32(next_chunk, NOTHING_LEFT);
	return true;
}

bool
vx_shared_take_rest(VxSource *source)
{
	uint32		nvectors = vx_format->vectors(source->reader);
	uint32		taken = 1;

	if (nvectors <= VX_CHUNK_VECTORS)
		return true;
	if (source->vecno > VX_CHUNK_VECTORS ||
		!pg_atomic_compare_exchange_u32(&source->shared->groups[source->group].next_chunk,
										&taken, NOTHING_LEFT))
		return false;
	source->vec_end = nvectors;
	return true;
}

static bool
take_chunk_of(VxSource *source, uint32 group)
{
	CHECK_FOR_INTERRUPTS();
	if (vx_source_enter(source, group))
	{
		vx_source_order_vectors(source);
		return take_chunk(source);
	}
	pg_atomic_write_u32(&source->shared->groups[group].next_chunk, NOTHING_LEFT);
	return false;
}

/* The next number below limit, or limit if there is none. */
static uint32
take_number(pg_atomic_uint32 *counter, uint32 limit)
{
	uint32		n;

	/* So that the counter does not run away with every caller at the end. */
	if (pg_atomic_read_u32(counter) >= limit)
		return limit;
	n = pg_atomic_fetch_add_u32(counter, 1);
	return Min(n, limit);
}

VxSourceUnit
vx_shared_take(VxSource *source)
{
	VxSharedScan *shared = source->shared;
	uint32		n;

	if (source->group >= 0 && source->group_tested && source->group_passes &&
		take_chunk(source))
		return VX_SOURCE_BATCH;

	while ((n = take_number(&shared->next_group, shared->ngroups)) < shared->ngroups)
		if (take_chunk_of(source, shared->groups[n].order))
			return VX_SOURCE_BATCH;

	n = take_number(&shared->next_delta, shared->ndelta);
	if (n < shared->ndelta)
	{
		st_delta_set_chunk(source->delta, n);
		return VX_SOURCE_DELTA;
	}

	/* Help the others. */
	for (; source->steal_from < shared->ngroups; source->steal_from++)
	{
		n = shared->groups[source->steal_from].order;
		if (pg_atomic_read_u32(&shared->groups[n].next_chunk) < NOTHING_LEFT &&
			take_chunk_of(source, n))
			return VX_SOURCE_BATCH;
	}
	return VX_SOURCE_END;
}
