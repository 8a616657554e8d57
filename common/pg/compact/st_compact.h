/*-------------------------------------------------------------------------
 *
 * st_compact.h
 *	  Online compaction of a table of the store (I5).
 *
 * An extension offers it as a procedure: it gives each step a transaction of
 * its own and takes care of rights, partitions and reports.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_COMPACT_H
#define ST_COMPACT_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "storage/buf.h"
#include "storage/off.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

#include "st_store.h"

/* How far the end of a large delta has come, which goes first: st_compact_end.c */
typedef enum StEndPhase
{
	ST_END_NONE,				/* it does not, or is done */
	ST_END_HEAD,				/* rows of the first pages go behind the file's end */
	ST_END_FREED,				/* VACUUM frees these pages, or has done so */
	ST_END_TAIL,				/* rows of the last pages go there */
	ST_END_CLEAR				/* so does what else stands there now */
} StEndPhase;

/*
 * The wishes of one call of compact() or merge(), and what it has done so far.
 * Zeroed at the start.
 */
typedef struct StCompactJob
{
	/* wishes */
	bool		to_the_end;		/* all rows of the delta, all groups, full order */
	bool		tidy;			/* all rows of the delta, so that its pages go,
								 * and the last deleted ones */
	bool		any_order;		/* no step is worth the order alone */
	bool		end_first;		/* of a large delta; VACUUM runs when vacuum_first says so */
	bool		again;			/* first_new_row and the steps that only sorted are
								 * those of jobs before */

	/* life of one call; in mcxt */
	MemoryContext mcxt;
	BlockNumber next_block;		/* delta pages before are done, for now */
	BlockNumber reached;		/* delta pages from here on were not looked at, nor
								 * those between rest_start and rest_end */
	BlockNumber part;			/* the same when the last VACUUM in between began */
	bool		disturbed;		/* rows were changed since, while they were copied */
	BlockNumber stop_block;		/* delta pages from here on have to wait */
	BlockNumber end_block;		/* delta pages from here on came later */
	bool		extended;		/* what had come later was taken, too, once */
	StEndPhase	end_phase;
	BlockNumber head_pages;		/* how many the first pages are */
	BlockNumber head_written;	/* pages of the row groups that they have become */
	BlockNumber head_end;		/* of the file, when it began */
	bool		head_grew;		/* others have made the file longer since */
	BlockNumber rest_start;		/* where the job goes on after that */
	BlockNumber rest_end;		/* the last pages begin here */
	int			looks;			/* how often a phase has looked at its pages again */
	int64		looked_rows;	/* delta_rows before the last such look */
	int64		delta_bytes;	/* of the delta, when its phase began */
	int64		delta_left;		/* of it, before the last step */
	uint64	   *skipped;		/* first rows of groups that others held */
	int			nskipped;
	int			maxskipped;
	uint64		first_new_row;	/* groups from here on were made by this call */
	double		blocks_left;	/* pages of row groups that may be rewritten */
	bool		thorough;		/* for few deleted rows, and all of them */
	int			order_steps;	/* that only sorted */
	int			order_groups;	/* of the table, when that was first thought of */
	int			groups;			/* of the table, when it began */
	int			small_steps;	/* that put small groups together */
	bool		started;
	bool		released;		/* extents of replaced groups, as far as may be */
	bool		moved_last;		/* the last group of the file was moved once */
	BlockNumber moved_from;		/* this block, if that was the last step */

	/* results */
	bool		vacuum_first;	/* no step is left, but after a VACUUM */
	int64		delta_rows;		/* moved out of the delta */
	int64		group_rows;		/* moved from one group to another */
	int64		groups_in;
	int64		groups_out;
	int			steps;
	int			progress;		/* steps that moved rows, or all of their groups */
} StCompactJob;

/* Value of the setting enable_compact_beside_writers; st_compact_take.c */
extern bool st_take_last;

/*
 * One step: reads and writes about a row group (some, where rows are sorted).
 * To be called at the start of a transaction that does nothing else, with
 * ShareUpdateExclusiveLock on rel and an active snapshot; the caller commits.
 * False, having changed nothing: nothing is left to do, at all or before a VACUUM
 * (job->vacuum_first).  A step that only makes room for the next one is not counted in
 * job->steps.
 *
 * Runs functions of indexes: the caller has switched to the table's owner.
 * Raises an error if anything fails; then nothing has happened.
 */
extern bool st_compact_step(Relation rel, StCompactJob *job);

/* Where a pass over all rows of row groups goes on: all zeros at its beginning. */
typedef struct StExpandPlace
{
	uint64		group;			/* of this first row, or one behind it */
	uint64		row;
} StExpandPlace;

/*
 * The other direction, under the same rules: puts rows of row groups into the
 * delta, from *place on, which it sets to where to go on.  False if it has begun
 * at the beginning and there was none, or none that nobody holds (_left()).
 */
extern bool st_expand_step(Relation rel, StCompactJob *job, StExpandPlace *place);
extern int64 st_expand_rows(Relation rel);	/* that are to go */
extern bool st_expand_left(Relation rel, StCompactJob *job);

/* A cheap look from outside: would a step find work? */
extern bool st_compact_needed(Relation rel, StCompactJob *job);

/*
 * Another one: is so much of the table outside of its row groups (and so, if
 * a job went to the end, free or dead) that VACUUM is worth it?
 */
extern bool st_compact_wastes(Relation rel, StCompactJob *job);

/*
 * A step after which the next VACUUM makes the file short, as far as the job has reached,
 * if there are row groups.
 */
extern bool st_compact_want_pages(Relation rel, StCompactJob *job);

/*
 * One more: have steps replaced row groups that VACUUM has not done with yet?
 * It can once no older snapshot is left.
 */
extern bool st_compact_waits(Relation rel, StCompactJob *job);

/* Are there many old deletions of which VACUUM would make bitmaps? */
extern bool st_compact_fold_due(Relation rel, StCompactJob *job);

/*
 * Tuples of a page of the delta, pinned, that the snapshot sees: how many, and
 * where (room for MaxHeapTuplesPerPage of them).  If unheld, without those that
 * a running transaction has locked or changed.
 */
extern int	st_page_tuples(Relation rel, Buffer buffer, Snapshot snapshot,
						   bool unheld, OffsetNumber *offsets);

/*
 * st_toast_pack.c: is the TOAST relation mostly free?  And: if so, and if
 * nobody is at work there, writes it anew, in a transaction that does nothing
 * else, with ShareUpdateExclusiveLock on rel.
 */
extern bool st_toast_wastes(Relation rel, StCompactJob *job);
extern bool st_toast_pack(Relation rel, StCompactJob *job);

/*
 * At the start of a transaction that is one step.  It is serializable, and does not
 * wait for its commit to be flushed: writers who wait for it would wait for that, too.
 * A step that a crash undoes is done anew.
 */
extern void st_step_begin(void);

/*
 * Large jobs run VACUUM after each of so many parts.  It reads all indexes each time;
 * twice as many parts did not keep them any smaller.
 */
#define ST_VACUUM_PARTS	8

/* Runs one of these as the owner of the table, with a snapshot. */
typedef bool (*StCompactFunction) (Relation rel, StCompactJob *job);
extern bool st_compact_as_owner(Relation rel, StCompactJob *job,
								StCompactFunction function);

/* st_pace.c: runs one with its cost counted; rests if it is time to. */
extern bool st_paced(Relation rel, StCompactJob *job, StCompactFunction step);
extern void st_pace_rest(void);

/* ---- st_compact_call.c: bodies of SQL procedures and functions ---- */

/*
 * VACUUM of the table, in transactions of its own: it ends the running one and
 * begins another.  At top level only.  Its statement is left in mcxt, which is
 * the current context afterwards.  beside: does nothing if somebody has the
 * table; _SHORT: nor tries for seconds to cut off the end of the file.
 */
typedef enum StVacuumBeside
{
	ST_VACUUM_WAITS,
	ST_VACUUM_BESIDE,
	ST_VACUUM_BESIDE_SHORT
} StVacuumBeside;

extern void st_compact_vacuum(Oid relid, StVacuumBeside beside, MemoryContext mcxt);

/* compact(relation regclass, max_steps integer), merge(relation regclass) */
extern void st_compact_call(FunctionCallInfo fcinfo, const char *am_name);
extern void st_merge_call(FunctionCallInfo fcinfo, const char *am_name);

/*
 * merge() of one table that is ours, in transactions of its own, for the body of
 * another procedure: at top level, with SPI connected for that, and no snapshot
 * active.  mcxt lives as long as the call.  Raises an error if somebody releases
 * the table.
 */
extern void st_merge_table(Oid relid, const char *am_name, MemoryContext mcxt);

/* ---- st_compact_worker.c ---- */

/* Values of enable_auto_compact and max_workers, which the extension defines. */
extern bool st_auto_compact_enabled;
extern int	st_max_workers;

/*
 * From _PG_init, after st_options_init().  worker is the name of the library's
 * function that calls st_auto_compact_worker_main(); the library has the
 * access method's name.
 */
extern void st_auto_compact_init(const char *worker);
extern void st_auto_compact_worker_main(Datum main_arg);

/*
 * Starts one for the table, if it is to be compacted so and none is at work in
 * the database.  Is there one now that will find the table?
 */
extern bool st_auto_compact_start(Relation rel);

/* ---- sorting rows by a table's option orderby: st_sort.c ---- */

typedef struct StOrder StOrder;

/*
 * The order of rel, in the current memory context, which has to stay until
 * st_order_end(); NULL if rel has none.
 */
extern StOrder *st_order_begin(Relation rel);
extern void st_order_end(StOrder *order);	/* NULL is allowed */

/* Identifies the order, with its types; 0 for NULL. */
extern uint64 st_order_hash(const StOrder *order);

/* Are there expressions among its keys? */
extern bool st_order_computes(const StOrder *order);

/*
 * The keys of which row groups have zones.  Rows out of the sort have the
 * values behind their columns, if the order computes any.
 */
extern const StKeys *st_order_zoned(const StOrder *order);

/*
 * The type of rows to be sorted: desc, whose first columns are those of the
 * table, and what the order computes.  Then a sort of them, with
 * maintenance_work_mem.
 */
extern TupleDesc st_order_descriptor(StOrder *order, TupleDesc desc);
extern Tuplesortstate *st_order_sort(const StOrder *order, TupleDesc desc);

/*
 * Puts a row into that sort.  slot is virtual, of the descriptor's type, and
 * full but for what the order computes.  Raises what its expressions raise.
 */
extern void st_order_put(StOrder *order, Tuplesortstate *sort,
						 TupleTableSlot *slot);

/*
 * For comparisons of single rows: sets needed[attno - 1] for the columns that
 * the order reads; gives the comparison of each key, and the number of them;
 * the values of a row, valid until the next call as far as they are computed,
 * else as long as the row; what is to be known to copy a value.
 */
extern void st_order_columns(const StOrder *order, bool *needed);
extern int	st_order_sort_support(const StOrder *order, SortSupport *keys);
extern void st_order_values(StOrder *order, TupleTableSlot *row, Datum *values,
							bool *isnull);
extern void st_order_key_type(const StOrder *order, int key, int16 *len, bool *byval);

#endif							/* ST_COMPACT_H */
