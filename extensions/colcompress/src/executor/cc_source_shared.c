/*-------------------------------------------------------------------------
 *
 * cc_source_shared.c
 *	  How the participants of a parallel scan share row groups and delta.
 *
 * The leader puts the list of visible row groups into shared memory, so that
 * every participant reads exactly the same ones.  A participant takes a whole
 * row group at a time, because opening one and unpacking its dictionaries is
 * work that is not to be done twice; its vectors it takes in chunks, so that
 * others can help with what is left when no row group is untouched any more.
 * A row group that the zone tests rule out gets no chunks left.
 *
 * All coordination is by atomic counters; there are no locks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_source.h"

static uint32
group_chunks(const StGroup *group)
{
	uint32		rows = CC_CHUNK_VECTORS * ST_VECTOR_SIZE;

	return (group->nrows + rows - 1) / rows;
}

static Size
stats_offset(int ngroups)
{
	return MAXALIGN(add_size(offsetof(CcSharedScan, groups),
							 mul_size(sizeof(CcSharedGroup), ngroups)));
}

static CcScanStats *
worker_stats(CcSharedScan *shared, int worker)
{
	return (CcScanStats *) ((char *) shared + shared->stats_offset) + worker;
}

Size
cc_shared_size(CcSource *source, int nworkers)
{
	cc_source_start(source);
	return add_size(stats_offset(source->groups->ngroups),
					mul_size(sizeof(CcScanStats), nworkers));
}

void
cc_shared_init(CcSource *source, CcSharedScan *shared, int nworkers)
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
	memset(worker_stats(shared, 0), 0, sizeof(CcScanStats) * nworkers);
	source->shared = shared;
	cc_source_count_pass(source);
}

void
cc_shared_reset(CcSource *source, CcSharedScan *shared)
{
	cc_source_count_pass(source);
	pg_atomic_write_u32(&shared->next_group, 0);
	pg_atomic_write_u32(&shared->next_delta, 0);
	for (uint32 i = 0; i < shared->ngroups; i++)
	{
		pg_atomic_write_u32(&shared->groups[i].next_chunk, 0);
		pg_atomic_write_u32(&shared->groups[i].entered, 0);
	}
}

void
cc_shared_attach(CcSource *source, CcSharedScan *shared, int worker)
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
cc_shared_stats(CcSharedScan *shared, CcScanStats *sum)
{
	for (uint32 i = 0; i < shared->nworkers; i++)
		cc_stats_add(sum, worker_stats(shared, i));
}

/* Takes a chunk of the row group at hand. */
static bool
take_chunk(CcSource *source)
{
	uint32		group = source->group;
	const StGroup *g = &source->groups->groups[group];
	uint32		nvectors = (g->nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;
	uint32		chunk;

	chunk = pg_atomic_fetch_add_u32(&source->shared->groups[group].next_chunk, 1);
	if (chunk >= group_chunks(g))
		return false;
	source->vecno = chunk * CC_CHUNK_VECTORS;
	source->vec_end = Min(source->vecno + CC_CHUNK_VECTORS, nvectors);
	return true;
}

bool
cc_shared_take_rest(CcSource *source)
{
	const StGroup *g = &source->groups->groups[source->group];
	uint32		taken = 1;

	if (group_chunks(g) == 1)
		return true;
	if (source->vecno > CC_CHUNK_VECTORS ||
		!pg_atomic_compare_exchange_u32(&source->shared->groups[source->group].next_chunk,
										&taken, group_chunks(g)))
		return false;
	source->vec_end = (g->nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;
	return true;
}

static bool
take_chunk_of(CcSource *source, uint32 group)
{
	CHECK_FOR_INTERRUPTS();
	if (cc_source_enter(source, group))
		return take_chunk(source);
	pg_atomic_write_u32(&source->shared->groups[group].next_chunk,
						group_chunks(&source->groups->groups[group]));
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

CcSourceUnit
cc_shared_take(CcSource *source)
{
	CcSharedScan *shared = source->shared;
	uint32		n;

	if (source->group >= 0 && source->group_tested && source->group_passes &&
		take_chunk(source))
		return CC_SOURCE_BATCH;

	while ((n = take_number(&shared->next_group, shared->ngroups)) < shared->ngroups)
		if (take_chunk_of(source, n))
			return CC_SOURCE_BATCH;

	n = take_number(&shared->next_delta, shared->ndelta);
	if (n < shared->ndelta)
	{
		st_delta_set_chunk(source->delta, n);
		return CC_SOURCE_DELTA;
	}

	/* Help the others. */
	for (; source->steal_from < shared->ngroups; source->steal_from++)
	{
		n = source->steal_from;
		if (pg_atomic_read_u32(&shared->groups[n].next_chunk) <
			group_chunks(&source->groups->groups[n]) &&
			take_chunk_of(source, n))
			return CC_SOURCE_BATCH;
	}
	return CC_SOURCE_END;
}
