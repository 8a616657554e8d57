/*-------------------------------------------------------------------------
 *
 * vx_join_share.c
 *	  The build side of a vector hash join, read once by all participants of a
 *	  parallel plan.
 *
 * The build side's plan hands each participant its share of the rows.  They are
 * collected in a table beside the node's own, and go to chunks that all can read:
 * columns of up to ST_VECTOR_SIZE rows, in the forms that the table has, with the
 * hashes of their keys.  When all shares have been read, each participant puts the
 * rows of all chunks into its own table, as if its plan had handed them out.
 *
 *	 DSM: barrier | list of chunks | files | chunks in each participant's file
 *
 * A chunk is in shared memory, where each participant may have a share of what a
 * hash table may take; what goes beyond it is in a file of the participant.  Both
 * stay until a rescan, or the end of the query: another participant may come late.
 *
 * Who waits for whom: a participant waits for those that have attached to the
 * barrier and not arrived, so that they are reading their share.  While it reads it
 * returns no row to a node above, and so never waits for one that would have to take
 * it; it may wait at the barrier of a join below this one, whose own participants are
 * further down again.  A participant that comes when all shares have been read goes on
 * to the chunks, and nobody waits for one that does not come.
 *
 * Not here: chunks are never freed one by one, and nothing in them is a pointer
 * but the link to the next one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/barrier.h"
#include "storage/buffile.h"
#include "storage/sharedfileset.h"
#include "utils/datum.h"
#include "utils/dsa.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "vx_join.h"
#include "vx_shared_chunks.h"
#include "vx_vector_bytes.h"

/* A participant has so many bytes of chunks in shared memory at most. */
#define MOST_SHARED_BYTES	((Size) 64 * 1024 * 1024)

/* Rows that are collected take so many bytes at most: they should stay in caches. */
#define MOST_COLLECTED_BYTES	((Size) 1024 * 1024)

/* Values by reference make a chunk smaller if they take more than this. */
#define CHUNK_BYTES			((Size) 1024 * 1024)

/* A chunk; hashes of the rows follow, and then the columns (vx_vector_bytes.h). */
typedef struct Chunk
{
	VxSharedChunk link;
	Size		size;			/* bytes, this included */
	uint64		nrows;
} Chunk;

/* In shared memory. */
struct VxSharedBuild
{
	dsm_handle	segment;		/* this memory */
	int			nparticipants;
	Barrier		barrier;		/* phase 0: shares are read */
	dsa_pointer_atomic chunks;
	SharedFileSet files;
	uint64		in_file[FLEXIBLE_ARRAY_MEMBER]; /* chunks, by participant */
};

/* Of this participant. */
struct VxJoinShare
{
	VxSharedBuild *dsm;
	MemoryContext mcxt;
	Size		shared_bytes;	/* of chunks in shared memory, written here */
	BufFile    *file;			/* being written; NULL: none yet */

	VxBytes		bytes;			/* the chunk that is made, or comes from a file */
	VxVector	gathered;		/* a column of rows that are written */
	Datum		words[ST_VECTOR_SIZE];	/* its values */
	VxHashRow  *rows[ST_VECTOR_SIZE];

	VxVector  **vectors;		/* by column, of rows that are read */
	uint64		ndicts;			/* that have been read */
};

/* ---- shared memory ---- */

Size
vx_join_share_bytes(int nparticipants)
{
	return add_size(offsetof(VxSharedBuild, in_file),
					mul_size(sizeof(uint64), nparticipants));
}

static void
make_share(VxJoinState *state, VxSharedBuild *dsm)
{
	MemoryContext mcxt = state->css.ss.ps.state->es_query_cxt;
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	VxJoinShare *share = palloc0(sizeof(VxJoinShare));
	int			ncolumns = state->hash->ncolumns;

	share->dsm = dsm;
	share->mcxt = share->bytes.mcxt = mcxt;
	share->gathered.u.datum = share->words;
	share->vectors = palloc(sizeof(VxVector *) * (ncolumns + 1));
	for (int c = 0; c < ncolumns; c++)
		share->vectors[c] = palloc0(sizeof(VxVector));
	state->share = share;
	MemoryContextSwitchTo(old);
}

static void
start_pass(VxSharedBuild *dsm)
{
	BarrierInit(&dsm->barrier, 0);
	dsa_pointer_atomic_init(&dsm->chunks, InvalidDsaPointer);
	memset(dsm->in_file, 0, sizeof(uint64) * dsm->nparticipants);
}

void
vx_join_share_init(VxJoinState *state, ParallelContext *pcxt, VxSharedBuild *dsm)
{
	dsm->segment = dsm_segment_handle(pcxt->seg);
	dsm->nparticipants = pcxt->nworkers + 1;
	SharedFileSetInit(&dsm->files, pcxt->seg);
	start_pass(dsm);
	make_share(state, dsm);
}

void
vx_join_share_attach(VxJoinState *state, VxSharedBuild *dsm)
{
	SharedFileSetAttach(&dsm->files, dsm_find_mapping(dsm->segment));
	make_share(state, dsm);
}

void
vx_join_share_restart(VxJoinState *state)
{
	VxSharedBuild *dsm = state->share->dsm;

	vx_shared_chunks_free(&state->css.ss.ps, &dsm->chunks);
	SharedFileSetDeleteAll(&dsm->files);
	start_pass(dsm);
}

/* ---- a chunk is made ---- */

/* Rows from the first one on that are to be a chunk; sets rows. */
static int
choose_rows(VxJoinShare *share, const VxHash *hash, uint64 first)
{
	Size		size = 0;
	int			n = 0;

	while (n < ST_VECTOR_SIZE && first + n < hash->nrows && size < CHUNK_BYTES)
	{
		VxHashRow  *row = vx_hash_row(hash, first + n);

		for (int c = 0; c < hash->ncolumns; c++)
			if (hash->columns[c].rep == VX_REP_DATUM && row->values[c] != 0)
				size += datumGetSize(row->values[c], false, hash->columns[c].typlen);
		share->rows[n++] = row;
	}
	return n;
}

/* The number of rows that it has. */
static int
make_chunk(VxJoinShare *share, const VxHash *hash, uint64 first)
{
	Chunk		head = {{InvalidDsaPointer}};
	VxBytes    *bytes = &share->bytes;
	int			n = choose_rows(share, hash, first);
	Size		hashes;

	bytes->used = 0;
	vx_bytes_add(bytes, &head, sizeof(head));
	hashes = vx_bytes_room(bytes, sizeof(uint64) * n);
	for (int i = 0; i < n; i++)
		((uint64 *) (bytes->data + hashes))[i] = share->rows[i]->hash;
	for (int c = 0; c < hash->ncolumns; c++)
	{
		vx_hash_gather(hash, c, share->rows, n, &share->gathered);
		vx_bytes_add_vector(bytes, &share->gathered);
	}
	((Chunk *) bytes->data)->size = bytes->used;
	((Chunk *) bytes->data)->nrows = n;
	return n;
}

/* ---- it goes where all can read it ---- */

/* False: this participant has written as much as it may. */
static bool
put_in_memory(VxJoinState *state)
{
	VxJoinShare *share = state->share;
	PlanState  *ps = &state->css.ss.ps;
	dsa_pointer chunk;

	if (share->shared_bytes + share->bytes.used > Min(get_hash_memory_limit() / 2, MOST_SHARED_BYTES))
		return false;
	chunk = dsa_allocate(ps->state->es_query_dsa, share->bytes.used);
	share->shared_bytes += share->bytes.used;
	memcpy(vx_shared_chunk(ps, chunk), share->bytes.data, share->bytes.used);
	vx_shared_chunk_put(ps, &share->dsm->chunks, chunk);
	return true;
}

static void
name_of_file(int participant, char *name, Size size)
{
	snprintf(name, size, "build%d", participant);
}

static void
put_in_file(VxJoinShare *share)
{
	if (share->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(share->mcxt);
		char		name[32];

		name_of_file(ParallelWorkerNumber + 1, name, sizeof(name));
		share->file = BufFileCreateFileSet(&share->dsm->files.fs, name);
		MemoryContextSwitchTo(old);
	}
	BufFileWrite(share->file, share->bytes.data, share->bytes.used);
	share->dsm->in_file[ParallelWorkerNumber + 1]++;
}

/* Rows that have been collected go to chunks. */
static void
put_rows(VxJoinState *state)
{
	VxHash	   *collected = state->into;

	for (uint64 i = 0; i < collected->nrows;)
	{
		CHECK_FOR_INTERRUPTS();
		i += make_chunk(state->share, collected, i);
		if (!put_in_memory(state))
			put_in_file(state->share);
	}
	vx_hash_reset(collected);
	state->looked_at = 0;
}

bool
vx_join_share_begin(VxJoinState *state)
{
	VxJoinShare *share = state->share;

	if (BarrierAttach(&share->dsm->barrier) > 0)
	{
		BarrierDetach(&share->dsm->barrier);
		return false;
	}
	share->shared_bytes = 0;
	state->into = state->collected;
	return true;
}

void
vx_join_share_look(VxJoinState *state)
{
	if (vx_hash_memory(state->into) > Min(get_hash_memory_limit() / 4, MOST_COLLECTED_BYTES))
		put_rows(state);
}

/* Others may read a file as soon as all have arrived. */
void
vx_join_share_end(VxJoinState *state)
{
	VxJoinShare *share = state->share;

	put_rows(state);
	state->into = state->hash;
	if (share->file)
	{
		BufFileExportFileSet(share->file);
		BufFileClose(share->file);
		share->file = NULL;
	}
	BarrierArriveAndWait(&share->dsm->barrier, PG_WAIT_EXTENSION);
	BarrierDetach(&share->dsm->barrier);
}

/* ---- chunks are read ---- */

static void
add_row(VxJoinState *state, int row, uint64 hash)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	Datum		values[VX_HASH_MAX_COLUMNS];
	bool		isnull[VX_HASH_MAX_COLUMNS];

	for (int c = 0; c < state->hash->ncolumns; c++)
	{
		const VxVector *v = state->share->vectors[c];

		isnull[c] = vx_vector_isnull(v, row);
		values[c] = isnull[c] ? (Datum) 0 : vx_vector_datum(v, row);
	}
	vx_join_add_row(state, hash, values, isnull);
	MemoryContextSwitchTo(old);
	ResetExprContext(econtext);
}

/* Its rows into the table, or to parts on disk. */
static void
add_chunk(VxJoinState *state, char *chunk)
{
	VxJoinShare *share = state->share;
	MemoryContext old = MemoryContextSwitchTo(state->batch_mcxt);
	int			n = ((Chunk *) chunk)->nrows;
	char	   *at = chunk + MAXALIGN(sizeof(Chunk));
	const uint64 *hashes = vx_bytes_take(&at, sizeof(uint64) * n);

	CHECK_FOR_INTERRUPTS();
	for (int c = 0; c < state->hash->ncolumns; c++)
		vx_bytes_take_vector(chunk, &at, n, state->hash->columns[c].typlen,
							 ++share->ndicts, share->vectors[c]);
	for (int base = 0; base < n; base += 64)
	{
		int			end = Min(n, base + 64);

		if (!state->overflown)
			vx_hash_add_vectors(state->hash, (const VxVector *const *) share->vectors, 0, hashes,
								base / 64, ~UINT64CONST(0) >> (64 - (end - base)));
		else
			for (int row = base; row < end; row++)
				add_row(state, row, hashes[row]);
		vx_join_look_at_memory(state);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->batch_mcxt);
}

static void
read_file(VxJoinState *state, int participant)
{
	VxJoinShare *share = state->share;
	char		name[32];
	BufFile    *file;

	name_of_file(participant, name, sizeof(name));
	file = BufFileOpenFileSet(&share->dsm->files.fs, name, O_RDONLY, false);
	for (uint64 i = 0; i < share->dsm->in_file[participant]; i++)
	{
		Chunk		head;

		vx_read_exactly(file, &head, sizeof(head));
		share->bytes.used = 0;
		vx_bytes_add(&share->bytes, &head, sizeof(head));
		vx_bytes_room(&share->bytes, head.size - share->bytes.used);
		vx_read_exactly(file, share->bytes.data + MAXALIGN(sizeof(head)),
						head.size - MAXALIGN(sizeof(head)));
		add_chunk(state, share->bytes.data);
	}
	BufFileClose(file);
}

void
vx_join_read_shares(VxJoinState *state)
{
	VxJoinShare *share = state->share;
	dsa_pointer chunk = dsa_pointer_atomic_read(&share->dsm->chunks);

	while (DsaPointerIsValid(chunk))
	{
		Chunk	   *c = vx_shared_chunk(&state->css.ss.ps, chunk);

		add_chunk(state, (char *) c);
		chunk = c->link.next;
	}
	for (int i = 0; i < share->dsm->nparticipants; i++)
		if (share->dsm->in_file[i] > 0)
			read_file(state, i);
	if (share->bytes.data)
		pfree(share->bytes.data);
	share->bytes.data = NULL;
	share->bytes.capacity = 0;
}
