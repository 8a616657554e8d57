/*-------------------------------------------------------------------------
 *
 * vx_join.h
 *	  The custom node that joins vectors to rows by hash.
 *
 *	 vx_join_node.c		the node: set up, rows for a node above, EXPLAIN
 *	 vx_join_build.c	the build side: rows in memory
 *	 vx_join_batches.c	they come as vectors
 *	 vx_join_spill.c	both sides in parts on disk
 *	 vx_join_probe.c	the probe side: from a batch of it to batches of the join
 *	 vx_join_parallel.c	participants of a parallel plan
 *	 vx_join_share.c	the build side, read once by all of them
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_JOIN_H
#define VX_JOIN_H

#include "postgres.h"

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "vx_arms.h"
#include "vx_expr.h"
#include "vx_hash.h"
#include "vx_producer.h"
#include "vx_row_vectors.h"

/* How the rows of the node's batch follow from those of the probe side's. */
typedef enum VxJoinForm
{
	VX_JOIN_PASS,				/* they are its rows */
	VX_JOIN_GATHER,				/* row i has the columns of its row from[i] */
	VX_JOIN_BUILD_ONLY			/* they have nulls for its columns */
} VxJoinForm;

/* What is to be done with the probe side's batch. */
typedef enum VxJoinStep
{
	VX_JOIN_NEXT_BATCH,			/* it is used up */
	VX_JOIN_BEGIN,				/* it is there */
	VX_JOIN_MATCHES,			/* rows with a match */
	VX_JOIN_UNMATCHED,			/* then those without */
	VX_JOIN_BUILD_ROWS			/* behind the last batch: the build side's without one */
} VxJoinStep;

/* A condition: program, or what the server evaluates row by row. */
typedef struct VxJoinQual
{
	VxExpr	   *program;
	ExprState  *state;
} VxJoinQual;

/* What a join did, for EXPLAIN. */
typedef struct VxJoinStats
{
	uint64		built;			/* rows of the build side */
	uint64		probed;			/* rows of the probe side, */
	uint64		unmatched;		/* and those without candidates */
	uint64		parts;			/* on disk */
	Size		peak;			/* memory of the table: the largest one */
} VxJoinStats;

/* In shared memory: counters of the workers. */
typedef struct VxSharedJoin
{
	uint32		nworkers;
	VxJoinStats stats[FLEXIBLE_ARRAY_MEMBER];
} VxSharedJoin;

typedef struct VxJoinBatches VxJoinBatches;
typedef struct VxJoinSpill VxJoinSpill;
typedef struct VxJoinShare VxJoinShare;
typedef struct VxSharedBuild VxSharedBuild;

typedef struct VxJoinState
{
	CustomScanState css;		/* must be first */
	VxProducer	producer;

	JoinType	jointype;
	bool		turned;			/* SEMI, ANTI: rows of the build side come out */
	int			nouter;			/* columns of the probe side, in front */
	TupleDesc	desc;			/* all columns */
	Bitmapset  *needed;			/* of them, that anything refers to */
	List	   *clauses;		/* equalities of keys */
	PlanState  *outer;
	PlanState  *inner;
	VxExprSet  *exprs;
	int			njoinquals;
	VxJoinQual *joinquals;
	int			nfilters;
	VxJoinQual *filters;

	/* build side */
	VxHash	   *hash;
	bool		keys_have_params;	/* on this side */
	bool		built;			/* it holds the rows of the inner plan, or of a part */
	int16	   *stored_of;		/* inner column -> column of the table, or -1 */
	ExprState **key_states;		/* by column of the table; NULL: not computed */
	TupleTableSlot *build_slot; /* a row of all columns, the inner plan's set */
	VxJoinBatches *batches;		/* NULL: rows come one by one */
	uint64		looked_at;		/* number of rows when memory was looked at last */
	bool		overflown;		/* they go to disk from here on */
	uint64		nspread;		/* rows with a null key that were kept */
	bool		build_shown;	/* rows without a match have come out, up to: */
	uint64		next_row;
	VxJoinSpill *spill;			/* NULL: never any */

	/* the participants of a parallel plan divide its plan's rows */
	bool		shares_build;
	VxJoinShare *share;			/* NULL: there are no others */
	VxHash	   *collected;		/* rows of this participant's share, or NULL */
	VxHash	   *into;			/* where rows go: hash, or collected */

	/* probe side */
	VxProducer *probe;			/* NULL: any plan, */
	VxArms	   *probe_arms;		/* which is the only arm of these */
	AttrNumber *probe_columns;	/* of the batch */
	uint64		probe_group;	/* its number of the batch at hand */
	VxBatch    *probe_batch;	/* that batch, or one from disk */
	MemoryContext batch_mcxt;	/* while a batch of it is worked on */
	int			nkeys;
	VxExpr	  **keys;
	const VxVector **key_vectors;
	VxJoinStep	step;
	bool		done;			/* no batch is left */
	int			nrows;
	uint64		rows[VX_SELECTION_WORDS];	/* that are to be joined */
	uint64		pending[VX_SELECTION_WORDS];	/* that have a candidate */
	uint64		matched[VX_SELECTION_WORDS];
	uint64		hashes[ST_VECTOR_SIZE];
	VxHashRow  *candidates[ST_VECTOR_SIZE];

	/* batch of the node */
	VxJoinForm	form;
	VxHashRow  *build_rows[ST_VECTOR_SIZE]; /* NULL: null */
	uint16		from[ST_VECTOR_SIZE];
	VxVector  **vectors;		/* by column, made when needed */

	/* rows for a node above */
	int			word;
	uint64		left;

	/* for EXPLAIN */
	VxJoinStats *stats;			/* this process counts here: own_stats, or shared */
	VxJoinStats own_stats;
	VxJoinStats workers;		/* of earlier set-ups */
	VxSharedJoin *shared;		/* leader of a parallel plan, until shutdown */
} VxJoinState;

extern CustomScanMethods vx_join_methods;

/* From vx_init(). */
extern void vx_join_init(void);

/* The node, if it is such a join, or NULL. */
extern VxJoinState *vx_join_state(PlanState *ps);

/*
 * Rows of the probe side, or of the build side, come out by themselves: those without
 * a match, of a turned SEMI join those that have one.
 */
static inline bool
vx_join_keeps_probe(const VxJoinState *state)
{
	return state->jointype == JOIN_LEFT || state->jointype == JOIN_FULL ||
		(state->jointype == JOIN_ANTI && !state->turned);
}

static inline bool
vx_join_keeps_build(const VxJoinState *state)
{
	return state->jointype == JOIN_RIGHT || state->jointype == JOIN_FULL || state->turned;
}

/* ---- vx_join_build.c ---- */

/* Sets up the table, for keys of these kinds. */
extern void vx_join_build_init(VxJoinState *state, const List *kinds);

/*
 * Makes the table stand: of all rows, or of those of the next part.  False if
 * there are no more.
 */
extern bool vx_join_build_next(VxJoinState *state);

/* The next batch of the probe side, in memory or on disk; its selection to rows. */
extern bool vx_join_probe_batch(VxJoinState *state);

/* A column of it. */
extern const VxVector *vx_join_probe_vector(VxJoinState *state, AttrNumber attno);

/* Rows of it that nobody will ask for need not be decoded. */
extern void vx_join_probe_narrow(VxJoinState *state, const uint64 *rows);

/* keep: the rows in memory, if they are all there are. */
extern void vx_join_build_reset(VxJoinState *state, bool keep);

/* All rows are in memory. */
extern bool vx_join_is_whole(const VxJoinState *state);

/* ---- vx_join_batches.c ---- */

/* NULL: the inner plan hands out no vectors, or not all that is needed as such. */
extern VxJoinBatches *vx_join_batches_create(VxJoinState *state);

/* Adds all rows of the inner plan. */
extern void vx_join_read_batches(VxJoinState *state);

/* ---- vx_join_spill.c ---- */

/* Adds a row to the table, or to a part, by columns of the table. */
extern void vx_join_add_row(VxJoinState *state, uint64 hashed, const Datum *values,
							const bool *isnull);

/* After rows were added: if they have no room, they go to disk. */
extern void vx_join_look_at_memory(VxJoinState *state);

/* In place of the hash of a null key: any part will do. */
extern uint64 vx_join_spread(VxJoinState *state);

/*
 * All of the build side is on disk: takes rows of the probe side's batch that meet
 * nothing there out of the selection, by their hashes.
 */
extern void vx_join_spill_filter(VxJoinState *state, uint64 *rows);

/* A row of the probe side's batch goes there. */
extern void vx_join_spill_probe(VxJoinState *state, uint64 hash, int row);

/* What was written becomes parts to be joined. */
extern void vx_join_spill_finish(VxJoinState *state);

/* The next part becomes the input; false: there is none. */
extern bool vx_join_spill_next(VxJoinState *state);

/* A part is the input: its rows, its batches; NULL at the end. */
extern bool vx_join_from_disk(const VxJoinState *state);
extern TupleTableSlot *vx_join_spilled_row(VxJoinState *state);
extern VxBatch *vx_join_spilled_batch(VxJoinState *state);

/* Rows have gone to disk since the last reset. */
extern bool vx_join_spill_is_used(const VxJoinState *state);
extern void vx_join_spill_reset(VxJoinState *state);

/* ---- vx_join_share.c ---- */

/* Shared memory that so many participants take. */
extern Size vx_join_share_bytes(int nparticipants);

/* It is set up, by the leader; it is found, by a worker. */
extern void vx_join_share_init(VxJoinState *state, ParallelContext *pcxt,
							   VxSharedBuild *dsm);
extern void vx_join_share_attach(VxJoinState *state, VxSharedBuild *dsm);

/* All workers are gone; others will come. */
extern void vx_join_share_restart(VxJoinState *state);

/*
 * From here on rows that are added are those of this participant's share, until the
 * end, which waits for the others.  False: all shares have been read.
 */
extern bool vx_join_share_begin(VxJoinState *state);
extern void vx_join_share_end(VxJoinState *state);

/* After rows were added: if they are many, others get them. */
extern void vx_join_share_look(VxJoinState *state);

/* Adds the rows of all shares. */
extern void vx_join_read_shares(VxJoinState *state);

/* ---- vx_join_probe.c ---- */

extern void vx_join_probe_init(VxJoinState *state);

/* The node's next batch. */
extern bool vx_join_next_batch(CustomScanState *node);

/*
 * Makes the node's batch stand on the probe side's rows, as they are, with
 * the null row of the build side.
 */
extern void vx_join_pass(VxJoinState *state, const uint64 *selection);

/* ---- vx_join_parallel.c: callbacks of the node ---- */

extern Size vx_join_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void vx_join_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
								   void *coordinate);
extern void vx_join_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									 void *coordinate);
extern void vx_join_initialize_worker(CustomScanState *node, shm_toc *toc,
									  void *coordinate);
extern void vx_join_shutdown(CustomScanState *node);

/* Of all participants. */
extern VxJoinStats vx_join_total_stats(const VxJoinState *state);

#endif							/* VX_JOIN_H */
