/*-------------------------------------------------------------------------
 *
 * rc_source_shared.c
 *	  How the participants of a parallel scan share row groups and delta.
 *
 * The leader puts the list of visible row groups into shared memory, so that
 * every participant reads exactly the same ones.  A participant takes row
 * groups in turn, and chunks of batches of the one it has, so that others can
 * help with what is left when no row group is untouched any more.  How many
 * chunks a group has is known to whoever has opened it.  A group that zones
 * rule out, or that has no chunk left, gets a counter that nobody passes.
 *
 * All coordination is by atomic counters; there are no locks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "rc_source.h"

/* A counter from here on: nothing is left. */
#define NOTHING_LEFT (PG_UINT32_MAX / 2)

static Size
stats_offset(int ngroups)
{
	return MAXALIGN(add_size(offsetof(RcSharedScan, groups),
							 mul_size(sizeof(RcSharedGroup), ngroups)));
}

static RcScanStats *
worker_stats(RcSharedScan *shared, int worker)
{
	return (RcScanStats *) ((char *) shared + shared->stats_offset) + worker;
}

Size
rc_shared_size(RcSource *source, int nworkers)
{
	rc_source_start(source);
	return add_size(stats_offset(source->groups->ngroups),
					mul_size(sizeof(RcScanStats), nworkers));
}

void
rc_shared_init(RcSource *source, RcSharedScan *shared, int nworkers)
{
	shared->ngroups = source->groups->ngroups;
	shared->ndelta = source->ndelta;
	shared->nworkers = nworkers;
	shared->stats_offset = stats_offset(shared->ngroups);
	pg_atomic_init_u32(&shared->next_group, 0);
	pg_atomic_init_u32(&shared->next_delta, 0);
	for (uint32 i = 0; i < shared->ngroups; i++)
	{
		shared->groups[i].group = source->groups->groups[i];
		pg_atomic_init_u32(&shared->groups[i].next_chunk, 0);
		pg_atomic_init_u32(&shared->groups[i].entered, 0);
	}
	memset(worker_stats(shared, 0), 0, sizeof(RcScanStats) * nworkers);
	source->shared = shared;
	rc_source_count_pass(source);
}

void
rc_shared_reset(RcSource *source, RcSharedScan *shared)
{
	rc_source_count_pass(source);
	pg_atomic_write_u32(&shared->next_group, 0);
	pg_atomic_write_u32(&shared->next_delta, 0);
	for (uint32 i = 0; i < shared->ngroups; i++)
	{
		pg_atomic_write_u32(&shared->groups[i].next_chunk, 0);
		pg_atomic_write_u32(&shared->groups[i].entered, 0);
	}
}

void
rc_shared_attach(RcSource *source, RcSharedScan *shared, int worker)
{
	StGroupList *list = MemoryContextAlloc(source->mcxt, sizeof(StGroupList));

	list->ngroups = shared->ngroups;
	list->groups = MemoryContextAllocHuge(source->mcxt,
										  mul_size(sizeof(StGroup), shared->ngroups + 1));
	for (uint32 i = 0; i < shared->ngroups; i++)
		list->groups[i] = shared->groups[i].group;
	source->groups = list;
	source->shared = shared;
	source->stats = worker_stats(shared, worker);
}

void
rc_shared_stats(RcSharedScan *shared, RcScanStats *sum)
{
	for (uint32 i = 0; i < shared->nworkers; i++)
		rc_stats_add(sum, worker_stats(shared, i));
}

/* Takes a chunk of the row group at hand. */
static bool
take_chunk(RcSource *source)
{
	RcSharedGroup *shared = &source->shared->groups[source->group];
	uint32		nbatches = rc_reader_nbatches(source->reader);
	uint32		chunk = pg_atomic_fetch_add_u32(&shared->next_chunk, 1);

	if (chunk >= NOTHING_LEFT || chunk * RC_CHUNK_BATCHES >= nbatches)
	{
		pg_atomic_write_u32(&shared->next_chunk, NOTHING_LEFT);
		return false;
	}
	source->next_batch = chunk * RC_CHUNK_BATCHES;
	source->batch_end = Min(source->next_batch + RC_CHUNK_BATCHES, nbatches);
	return true;
}

static bool
take_chunk_of(RcSource *source, uint32 group)
{
	CHECK_FOR_INTERRUPTS();
	if (rc_source_enter(source, group))
		return take_chunk(source);
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

RcSourceUnit
rc_shared_take(RcSource *source)
{
	RcSharedScan *shared = source->shared;
	uint32		n;

	if (source->group >= 0 && source->group_tested && source->group_passes &&
		take_chunk(source))
		return RC_SOURCE_BATCH;

	while ((n = take_number(&shared->next_group, shared->ngroups)) < shared->ngroups)
		if (take_chunk_of(source, n))
			return RC_SOURCE_BATCH;

	n = take_number(&shared->next_delta, shared->ndelta);
	if (n < shared->ndelta)
	{
		st_delta_set_chunk(source->delta, n);
		return RC_SOURCE_DELTA;
	}

	/* Help the others. */
	for (; source->steal_from < shared->ngroups; source->steal_from++)
	{
		n = source->steal_from;
		if (pg_atomic_read_u32(&shared->groups[n].next_chunk) < NOTHING_LEFT &&
			take_chunk_of(source, n))
			return RC_SOURCE_BATCH;
	}
	return RC_SOURCE_END;
}
