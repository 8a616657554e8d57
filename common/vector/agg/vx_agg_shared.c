/*-------------------------------------------------------------------------
 *
 * vx_agg_shared.c
 *	  Many groups on all cores: partitions of groups that participants share.
 *
 * Every participant of a parallel plan aggregates the rows that it reads in a
 * table of its own.  The states of its groups go to partitions, divided by the
 * hash of the keys: whenever the table has no room for more groups, and when
 * there are no more rows.  When all participants have come so far, each takes
 * one partition after another, puts together the states that all have written
 * to it, and returns the groups, which are complete.
 *
 * A partition is a list of chunks in shared memory, up to a share of what a
 * hash table may take, and files for what goes beyond it.
 *
 *	 DSM: barrier | next partition | lists | a SharedTuplestore per partition
 *
 * A participant that comes when the others have written everything finds no
 * rows left, and goes on to the partitions.  Nobody waits for it: whoever
 * waits, waits for those that read rows, and these wait at most for those that
 * read the build side of a join below (vx_join_share.c).
 *
 * Where reading rows takes little of the time, participants do without partitions
 * (VX_AGG_SHARES): each takes a share of the values of a key, reads all rows, and
 * groups those of its share.  Its groups are complete, its table is small, and
 * nothing but the number of the next share stands in shared memory.  Whoever is
 * ready takes the next one, so that a worker that does not come is not missed.
 *
 * A table in which each group gets few rows is not worth its size: looking for
 * groups in memory far away costs more than putting a few more states
 * together.  So a table starts small, and may grow to all of the memory where
 * it brings many rows into few groups.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/sharedfileset.h"
#include "utils/dsa.h"
#include "utils/memutils.h"
#include "utils/sharedtuplestore.h"
#include "utils/wait_event.h"

#include "vx_agg.h"
#include "vx_shared_chunks.h"
#include "st_numeric.h"

/* Memory of a participant's table at first: the caches hold most of what it needs. */
#define FIRST_TABLE_BYTES	((Size) 32 * 1024 * 1024)

/* Rows per group that make a larger table worth while. */
#define ROWS_PER_GROUP	3

/* Of states in shared memory, a participant writes so many bytes at most. */
#define MOST_SHARED_BYTES	((Size) 64 * 1024 * 1024)

/* A chunk in shared memory: states follow, as vx_states_write() has them. */
#define CHUNK_HEADER	MAXALIGN(sizeof(VxSharedChunk))

typedef struct SharedPartitions
{
	dsm_handle	segment;		/* this memory */
	int			nparticipants;
	Barrier		barrier;		/* phase 0: rows are read */
	pg_atomic_uint32 next;		/* partition that nobody has taken */
	pg_atomic_uint64 nstates;	/* written, for EXPLAIN */
	dsa_pointer_atomic chunks[VX_AGG_PARTS];
	SharedFileSet files;
	/* a SharedTuplestore per partition follows */
} SharedPartitions;

struct VxAggShared
{
	SharedPartitions *dsm;
	SharedTuplestoreAccessor *parts[VX_AGG_PARTS];
	Size		chunk_bytes;	/* in shared memory, written here */
	int			input;			/* partition being read, or -1 */
	dsa_pointer read;			/* chunk that was read, and may be freed */
	dsa_pointer chunk;			/* the next one */
	bool		building;		/* rows are read */
	bool		built;			/* all of them, by all participants */
	Size		limit;			/* of this participant's table */
	uint64		rows;			/* that came since it was empty */
};

/* In shared memory. */
typedef struct SharedShares
{
	pg_atomic_uint32 next;		/* share that nobody has taken */
	uint32		n;
} SharedShares;

struct VxAggShares
{
	SharedShares *dsm;			/* NULL: there are no workers, all rows are one share */
	int			key;			/* number of the group key */
	uint32		n;
	uint32		share;			/* taken by this participant, */
	bool		taken;			/* if any is */

	MemoryContext mcxt;
	VxCodeWords codes;			/* share by code */
	uint64		nrows;			/* of the share at hand, */
	uint64		most_rows;		/* and of the largest one of this participant */
};

/* Of what a hash table may take, half is for the table and half for chunks. */
static Size
share_of_memory(void)
{
	return get_hash_memory_limit() / 2;
}

static Size
store_bytes(int nparticipants)
{
	return MAXALIGN(sts_estimate(nparticipants));
}

static SharedTuplestore *
store_of(SharedPartitions *dsm, int part)
{
	return (SharedTuplestore *) ((char *) dsm + MAXALIGN(sizeof(SharedPartitions)) +
								 part * store_bytes(dsm->nparticipants));
}

Size
vx_agg_estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	if (((VxAggState *) node)->shares)
		return sizeof(SharedShares);
	return add_size(MAXALIGN(sizeof(SharedPartitions)),
					mul_size(VX_AGG_PARTS, store_bytes(pcxt->nworkers + 1)));
}

/* There are as many shares as participants. */
static void
init_shares(VxAggShares *shares, ParallelContext *pcxt, SharedShares *dsm)
{
	pg_atomic_init_u32(&dsm->next, 0);
	dsm->n = Max(1, pcxt->nworkers + (parallel_leader_participation ? 1 : 0));
	shares->dsm = dsm;
}

static VxAggShared *
make_shared(VxAggState *state, SharedPartitions *dsm)
{
	VxAggShared *shared;

	/* below a LIMIT there is one run after another */
	if (state->shared_mcxt == NULL)
		state->shared_mcxt = AllocSetContextCreate(state->css.ss.ps.state->es_query_cxt,
												   "shared groups", ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(state->shared_mcxt);
	shared = MemoryContextAllocZero(state->shared_mcxt, sizeof(VxAggShared));
	shared->dsm = dsm;
	shared->input = -1;
	state->shared = shared;
	return shared;
}

/* The leader's accessors; the files are empty. */
static void
make_stores(VxAggState *state, SharedPartitions *dsm)
{
	VxAggShared *shared = make_shared(state, dsm);
	MemoryContext old = MemoryContextSwitchTo(state->shared_mcxt);

	for (int i = 0; i < VX_AGG_PARTS; i++)
	{
		char		name[16];

		snprintf(name, sizeof(name), "groups%d", i);
		shared->parts[i] = sts_initialize(store_of(dsm, i), dsm->nparticipants, 0, 0,
										  SHARED_TUPLESTORE_SINGLE_PASS, &dsm->files, name);
	}
	MemoryContextSwitchTo(old);
}

static void
start_pass(SharedPartitions *dsm)
{
	BarrierInit(&dsm->barrier, 0);
	pg_atomic_write_u32(&dsm->next, 0);
	for (int i = 0; i < VX_AGG_PARTS; i++)
		dsa_pointer_atomic_init(&dsm->chunks[i], InvalidDsaPointer);
}

void
vx_agg_initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	SharedPartitions *dsm = coordinate;

	/* Without a segment there are no workers: the node aggregates by itself. */
	if (pcxt->seg == NULL)
		return;
	if (((VxAggState *) node)->shares)
	{
		init_shares(((VxAggState *) node)->shares, pcxt, coordinate);
		return;
	}
	dsm->segment = dsm_segment_handle(pcxt->seg);
	dsm->nparticipants = pcxt->nworkers + 1;
	pg_atomic_init_u32(&dsm->next, 0);
	pg_atomic_init_u64(&dsm->nstates, 0);
	SharedFileSetInit(&dsm->files, pcxt->seg);
	start_pass(dsm);
	make_stores((VxAggState *) node, dsm);
}

static void
free_read_chunk(VxAggState *state)
{
	if (DsaPointerIsValid(state->shared->read))
		dsa_free(state->css.ss.ps.state->es_query_dsa, state->shared->read);
	state->shared->read = InvalidDsaPointer;
}

/* Shared memory that is not read any more goes with the query's. */
static void
end_reading(VxAggShared *shared)
{
	shared->read = InvalidDsaPointer;
	shared->chunk = InvalidDsaPointer;
	shared->chunk_bytes = 0;
	for (int i = 0; i < VX_AGG_PARTS; i++)
		sts_end_parallel_scan(shared->parts[i]);
	shared->input = -1;
}

/* All workers are gone. */
void
vx_agg_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	VxAggState *state = (VxAggState *) node;
	SharedPartitions *dsm = coordinate;

	if (state->shares && pcxt->seg != NULL)
		init_shares(state->shares, pcxt, coordinate);
	if (state->shared == NULL)
		return;
	vx_agg_shared_rescan(state);
	for (int i = 0; i < VX_AGG_PARTS; i++)
		vx_shared_chunks_free(&node->ss.ps, &dsm->chunks[i]);
	SharedFileSetDeleteAll(&dsm->files);
	start_pass(dsm);
	make_stores(state, dsm);
}

void
vx_agg_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	VxAggState *state = (VxAggState *) node;
	SharedPartitions *dsm = coordinate;
	VxAggShared *shared;
	MemoryContext old;

	if (state->shares)
	{
		state->shares->dsm = coordinate;
		return;
	}
	shared = make_shared(state, dsm);
	old = MemoryContextSwitchTo(state->shared_mcxt);

	SharedFileSetAttach(&dsm->files, dsm_find_mapping(dsm->segment));
	for (int i = 0; i < VX_AGG_PARTS; i++)
		shared->parts[i] = sts_attach(store_of(dsm, i), ParallelWorkerNumber + 1, &dsm->files);
	MemoryContextSwitchTo(old);
}

/* Shared memory is about to go. */
void
vx_agg_shutdown(CustomScanState *node)
{
	VxAggState *state = (VxAggState *) node;

	if (state->shares)
		state->shares->dsm = NULL;
	if (state->shared == NULL)
		return;
	state->nshared = pg_atomic_read_u64(&state->shared->dsm->nstates);
	end_reading(state->shared);
	state->shared = NULL;
}

void
vx_agg_shared_rescan(VxAggState *state)
{
	if (state->shared == NULL)
		return;
	end_reading(state->shared);
	state->shared->building = false;
	state->shared->built = false;
}

bool
vx_agg_shared_begin(VxAggState *state)
{
	VxAggShared *shared = state->shared;

	if (BarrierAttach(&shared->dsm->barrier) > 0)
		return false;
	shared->building = true;
	shared->rows = 0;
	state->groups->expected = 0;
	shared->limit = Min(FIRST_TABLE_BYTES, share_of_memory());
	return true;
}

bool
vx_agg_shared_is_building(const VxAggState *state)
{
	return state->shared && state->shared->building;
}

bool
vx_agg_shared_is_due(VxAggState *state, int nrows)
{
	VxAggShared *shared = state->shared;
	uint32		ngroups = state->groups->ngroups;

	shared->rows += nrows;
	if (ngroups <= VX_AGG_MIN_GROUPS)
		return false;
	while (vx_groups_memory(state) > shared->limit)
	{
		if (shared->limit >= share_of_memory() ||
			shared->rows < (uint64) ngroups * ROWS_PER_GROUP)
		{
			shared->rows = 0;
			state->groups->expected = ngroups;
			return true;
		}
		shared->limit = Min(shared->limit * 2, share_of_memory());
	}
	return false;
}

/* False: this participant has written as much as it may. */
static bool
put_chunk(VxAggState *state, int part, const VxStates *states, Size bytes)
{
	VxAggShared *shared = state->shared;
	PlanState  *ps = &state->css.ss.ps;
	dsa_pointer chunk;

	if (shared->chunk_bytes + bytes > Min(share_of_memory(), MOST_SHARED_BYTES))
		return false;
	chunk = dsa_allocate(ps->state->es_query_dsa, CHUNK_HEADER + bytes);
	shared->chunk_bytes += bytes;
	vx_states_write(state, states, (char *) vx_shared_chunk(ps, chunk) + CHUNK_HEADER);
	vx_shared_chunk_put(ps, &shared->dsm->chunks[part], chunk);
	return true;
}

void
vx_agg_shared_put(VxAggState *state, int part, const VxStates *states)
{
	Size		bytes = vx_states_bytes(state, states);
	MinimalTuple tuple;

	if (put_chunk(state, part, states, bytes))
		return;
	/* a length is all that the store wants to know of a tuple */
	tuple = palloc(bytes);
	vx_states_write(state, states, (char *) tuple);
	tuple->t_len = bytes;
	sts_puttuple(state->shared->parts[part], NULL, tuple);
	pfree(tuple);
}

void
vx_agg_shared_end(VxAggState *state, uint64 nstates)
{
	VxAggShared *shared = state->shared;

	if (shared->building)
	{
		for (int i = 0; i < VX_AGG_PARTS; i++)
			sts_end_write(shared->parts[i]);
		pg_atomic_fetch_add_u64(&shared->dsm->nstates, nstates);
		shared->building = false;
		BarrierArriveAndWait(&shared->dsm->barrier, PG_WAIT_EXTENSION);
	}
	BarrierDetach(&shared->dsm->barrier);
	shared->built = true;
}

bool
vx_agg_shared_is_built(const VxAggState *state)
{
	return state->shared && state->shared->built;
}

bool
vx_agg_shared_next(VxAggState *state)
{
	VxAggShared *shared = state->shared;
	uint32		part = VX_AGG_PARTS;

	if (shared->input >= 0)
		end_reading(shared);
	if (pg_atomic_read_u32(&shared->dsm->next) < VX_AGG_PARTS)
		part = pg_atomic_fetch_add_u32(&shared->dsm->next, 1);
	if (part >= VX_AGG_PARTS)
		return false;
	shared->input = part;
	shared->chunk = dsa_pointer_atomic_read(&shared->dsm->chunks[part]);
	dsa_pointer_atomic_write(&shared->dsm->chunks[part], InvalidDsaPointer);
	state->groups->expected = state->css.ss.ps.plan->plan_rows * shared->dsm->nparticipants /
		VX_AGG_PARTS;
	shared->read = InvalidDsaPointer;
	sts_begin_parallel_scan(shared->parts[part]);
	return true;
}

bool
vx_agg_shared_is_input(const VxAggState *state)
{
	return state->shared && state->shared->input >= 0;
}

bool
vx_agg_shared_read(VxAggState *state, Datum *states)
{
	VxAggShared *shared = state->shared;
	MinimalTuple tuple;

	free_read_chunk(state);
	if (DsaPointerIsValid(shared->chunk))
	{
		VxSharedChunk *c = vx_shared_chunk(&state->css.ss.ps, shared->chunk);

		*states = PointerGetDatum((char *) c + CHUNK_HEADER);
		shared->read = shared->chunk;
		shared->chunk = c->next;
		return true;
	}
	tuple = sts_parallel_scan_next(shared->parts[shared->input], NULL);
	if (tuple == NULL)
		return false;
	SET_VARSIZE(tuple, tuple->t_len);
	*states = PointerGetDatum(tuple);
	return true;
}

/* ---- shares of a key ---- */

VxAggShares *
vx_agg_shares_create(int key)
{
	VxAggShares *shares = palloc0(sizeof(VxAggShares));

	shares->key = key;
	shares->mcxt = CurrentMemoryContext;
	return shares;
}

bool
vx_agg_shares_next(VxAggShares *shares)
{
	uint32		share = shares->taken ? 1 : 0;

	shares->n = shares->dsm == NULL ? 1 : shares->dsm->n;
	if (shares->dsm != NULL && pg_atomic_read_u32(&shares->dsm->next) < shares->n)
		share = pg_atomic_fetch_add_u32(&shares->dsm->next, 1);
	else if (shares->dsm != NULL)
		share = shares->n;
	if (share >= shares->n)
		return false;
	shares->share = share;
	shares->taken = true;
	shares->nrows = 0;
	return true;
}

bool
vx_agg_shares_is_taken(const VxAggShares *shares)
{
	return shares->taken;
}

uint64
vx_agg_shares_most_rows(const VxAggShares *shares)
{
	return shares->most_rows;
}

void
vx_agg_shares_rescan(VxAggShares *shares)
{
	shares->taken = false;
}

/* Bits that a hash table takes for its slots must not tell shares apart. */
static inline uint32
share_of(const VxAggShares *shares, uint64 hash)
{
	hash = (hash ^ hash >> 29) * UINT64CONST(0xBF58476D1CE4E5B9);
	return (hash >> 32) * shares->n >> 32;
}

static uint32
share_of_row(VxAggState *state, VxAggKey *key, const VxVector *v, int row)
{
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);
	VxAggShares *shares = state->shares;
	uint32	   *share;

	if (vx_vector_isnull(v, row))
		return 0;
	if (key->integer)
		return share_of(shares, v->u.i64[row]);
	if (v->rep != VX_REP_CODE)
		return share_of(shares, vx_intern_hash(key->intern,
											   vx_vector_datum_in(v, row, buffer)));
	share = vx_code_word(&shares->codes, shares->mcxt, state->producer->group, v->dict,
						 v->u.code[row]);
	if (*share == VX_NO_WORD)
		*share = share_of(shares, vx_intern_hash(key->intern,
												 v->dict->values[v->u.code[row]]));
	return *share;
}

/* Integers that are not null. */
static int
keep_integers(const VxAggShares *shares, const int64 *values, uint16 *rows, int n)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		uint16		row = rows[i];

		rows[kept] = row;
		kept += share_of(shares, values[row]) == shares->share;
	}
	return kept;
}

int
vx_agg_shares_keep(VxAggState *state, uint16 *rows, int n)
{
	VxAggShares *shares = state->shares;
	VxAggKey   *key = &state->groups->keys[shares->key];
	const VxVector *v;
	int			kept = 0;

	/* rows on disk are of the share */
	if (shares->n == 1 || vx_spill_is_input(state))
		return n;
	v = vx_agg_vector(state, key->input);
	if (key->integer && !v->has_nulls)
		kept = keep_integers(shares, v->u.i64, rows, n);
	else
		for (int i = 0; i < n; i++)
			if (share_of_row(state, key, v, rows[i]) == shares->share)
				rows[kept++] = rows[i];
	/* what else is computed is computed for these rows alone */
	memset(state->batch->selection, 0, (state->batch->nrows + 63) / 64 * sizeof(uint64));
	for (int i = 0; i < kept; i++)
		vx_rows_set(state->batch->selection, rows[i]);
	shares->nrows += kept;
	shares->most_rows = Max(shares->most_rows, shares->nrows);
	return kept;
}
