/*-------------------------------------------------------------------------
 *
 * st_run_sample.h
 *	  A sample of a table of any access method: all rows of a few runs of
 *	  neighbouring blocks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_RUN_SAMPLE_H
#define ST_RUN_SAMPLE_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

typedef struct StRunSample StRunSample;

/* Of up to so many runs; the whole table if it is hardly longer than those. */
extern StRunSample *st_run_sample_begin(Relation rel, Snapshot snapshot, int runs);

/* The next row into the slot (table_slot_create()); false at the end. */
extern bool st_run_sample_next(StRunSample *sample, TupleTableSlot *slot);

/*
 * The rows since the last call are a run.  The first one tells how many blocks
 * a run takes, and so where the others are.
 */
extern void st_run_sample_end_run(StRunSample *sample);

/* Were these all rows that the table has?  To be asked at the end. */
extern bool st_run_sample_is_whole(const StRunSample *sample);

/* How many rows the table has, about; reads some more of it. */
extern double st_run_sample_table_rows(const StRunSample *sample);

extern void st_run_sample_end(StRunSample *sample);

#endif							/* ST_RUN_SAMPLE_H */
