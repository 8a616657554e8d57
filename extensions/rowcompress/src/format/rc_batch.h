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
#include "st_store.h"
#include "st_zone.h"

typedef struct RcBatch RcBatch;

/* How the values of a column stand in memory. */
typedef enum RcRep
{
	RC_REP_INT64,				/* i64: bool, "char", int2/4/8, oid, date, time, timestamp(tz) */
	RC_REP_FLOAT8,				/* f64 */
	RC_REP_FLOAT4,				/* f32 */
	RC_REP_DECIMAL64,			/* i64 times 10^-scale: numeric of one display scale */
	RC_REP_DECIMAL128,			/* i128 likewise */
	RC_REP_CODE,				/* code[i] indexes dict */
	RC_REP_DATUM				/* datum[i] */
} RcRep;

/*
 * All values of one column in one batch.  Values at null positions are
 * undefined; those of large values (RC_REP_DATUM) are 0: ask rc_batch_value().
 */
typedef struct RcVector
{
	RcRep		rep;
	bool		constant;		/* datum[0] stands for all (missing columns) */
	int16		scale;			/* RC_REP_DECIMAL* */
	int16		typlen;
	uint32		nlarge;
	const uint64 *valid;		/* bit set = not null; NULL = no nulls */
	const Datum *dict;
	union
	{
		int64	   *i64;
		double	   *f64;
		float	   *f32;
		int128	   *i128;
		uint32	   *code;
		Datum	   *datum;
	}			u;
} RcVector;

static inline bool
rc_vector_isnull(const RcVector *v, uint32 i)
{
	return v->valid != NULL && (v->valid[i >> 6] & (UINT64CONST(1) << (i & 63))) == 0;
}

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

/* All values of a column, decoded at first use. */
extern const RcVector *rc_batch_vector(RcBatch *batch, AttrNumber attno);

/*
 * One value.  Decodes nothing but that value unless the column is decoded
 * already; valid until the same column's next value is asked for.
 */
extern Datum rc_batch_value(RcBatch *batch, AttrNumber attno, uint32 row, bool *isnull);

/* The same of a decoded column; decimals and large values take a buffer. */
extern Datum rc_vector_value(RcBatch *batch, AttrNumber attno, const RcVector *v,
							 uint32 row);

/* A value held as int64 as a Datum of that length. */
extern Datum rc_int_datum(int16 typlen, int64 v);

/* batchno = -1: the whole row group.  False if nothing at all is known. */
extern bool rc_reader_zone(StReader *r, AttrNumber attno, int64 batchno, StZone *zone);

/* Counters for EXPLAIN. */
extern uint64 rc_reader_bytes_decoded(const StReader *r);

/* For views: a column of the group. */
typedef struct RcColumnInfo
{
	const char *encoding;
	const char *codec;
	uint64		raw_bytes;
	uint64		stored_bytes;
	uint64		nulls;
	uint64		distinct;		/* 0: no dictionary */
	uint64		codec_dict_bytes;
} RcColumnInfo;

/* False if the group does not have the column. */
extern bool rc_reader_column_info(StReader *r, AttrNumber attno, RcColumnInfo *info);

/* rc_cache.c: setting rowcompress.batch_cache_size. */
extern void rc_cache_init(void);

#endif							/* RC_BATCH_H */
