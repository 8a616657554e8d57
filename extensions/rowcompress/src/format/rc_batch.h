/*-------------------------------------------------------------------------
 *
 * rc_batch.h
 *	  What the reader hands out: batches of rows, the values of their columns,
 *	  and the zones that tell what a batch or a whole row group holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_BATCH_H
#define RC_BATCH_H

#include "postgres.h"

#include "rc_format.h"

typedef struct RcBatch RcBatch;

/*
 * Reader of one row group.  Column numbers are attribute numbers (1-based).
 * rc_reader_attach(): a reader kept from one statement to the next works with
 * the relation given last.  rc_reader_describe(): see StFormat.
 */
extern StReader *rc_reader_open(Relation rel, const StGroup *group, MemoryContext mcxt);
extern void rc_reader_close(StReader *r);
extern void rc_reader_attach(StReader *r, Relation rel);
extern void rc_reader_describe(StReader *r, TupleDesc desc);
extern uint32 rc_reader_nbatches(const StReader *r);

/* First row of a batch, in the group; of batch nbatches: the group's rows. */
extern uint32 rc_reader_batch_start(const StReader *r, uint32 batchno);

/* The batch that holds a row of the group. */
extern uint32 rc_reader_batch_of_row(const StReader *r, uint32 row);

/* Bytes of a batch as stored, large values left out. */
extern uint32 rc_reader_batch_bytes(const StReader *r, uint32 batchno);

/* Pages that reading these bytes touches. */
extern uint32 rc_reader_batch_pages(const StReader *r, uint32 batchno);

/* One row's values: the index fetch (StFormat). */
extern void rc_reader_row(StReader *r, uint32 row, const bool *needed,
						  Datum *values, bool *isnull);

/*
 * A batch for a scan: valid until freed or the reader is closed.  It does not
 * pass through the cache of batches.  Read as a whole, or column by column.
 */
extern RcBatch *rc_batch_load(StReader *r, uint32 batchno, bool whole);
extern void rc_batch_free(RcBatch *batch);

/*
 * All values of a column, decoded at first use.  Large ones are 0: ask
 * rc_vector_value(), or have those of some rows decoded, too.
 */
extern const VxVector *rc_batch_vector(RcBatch *batch, AttrNumber attno);
extern const VxVector *rc_batch_vector_selected(RcBatch *batch, AttrNumber attno,
												const uint64 *rows);

/*
 * What stands at a path of these rows' documents (VxFormat.path).  NULL: the
 * vector is as good.
 */
extern const VxVector *rc_batch_path(RcBatch *batch, VxPath *path, const uint64 *rows);

/*
 * One value of a decoded column; decimals and large values take a buffer.
 * Valid until the same column's next value is asked for.
 */
extern Datum rc_vector_value(RcBatch *batch, AttrNumber attno, const VxVector *v,
							 uint32 row);

/* batchno = -1: the whole row group.  False if nothing at all is known. */
extern bool rc_reader_zone(StReader *r, AttrNumber attno, int64 batchno, StZone *zone);
extern bool rc_reader_key_zone(StReader *r, const StOrderExpr *key, int64 batchno,
							   StZone *zone);

/* Counters for EXPLAIN. */
extern uint64 rc_reader_bytes_decoded(const StReader *r);

/* What views show of a column: VxFormat. */
extern bool rc_reader_column_info(StReader *r, AttrNumber attno, VxColumnInfo *info);

#endif							/* RC_BATCH_H */
