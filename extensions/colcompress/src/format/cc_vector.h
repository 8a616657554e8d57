/*-------------------------------------------------------------------------
 *
 * cc_vector.h
 *	  What the reader hands out: vectors of up to 1,024 values of one column,
 *	  and the zones that tell what a vector or a whole column chunk holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_VECTOR_H
#define CC_VECTOR_H

#include "postgres.h"

#include "st_core.h"
#include "st_store.h"
#include "st_zone.h"

#define CC_VALIDITY_WORDS (ST_VECTOR_SIZE / 64)

/* How the values of a vector stand in memory. */
typedef enum CcRep
{
	CC_REP_INT64,				/* i64: bool, "char", int2/4/8, oid, date, time, timestamp(tz) */
	CC_REP_FLOAT8,				/* f64 */
	CC_REP_FLOAT4,				/* f32 */
	CC_REP_DECIMAL64,			/* i64 times 10^-scale: numeric of one display scale */
	CC_REP_DECIMAL128,			/* i128 likewise */
	CC_REP_CODE,				/* code[i] indexes dict->values */
	CC_REP_DATUM				/* datum[i]: anything else, pointers into the vector */
} CcRep;

/* Distinct values of one column chunk.  Sorted bytewise if sorted is set. */
typedef struct CcDictionary
{
	uint32		nvalues;
	uint32		capacity;		/* above 0: it grows, but not beyond this */
	bool		sorted;			/* code order = byte order of the values */
	Datum	   *values;			/* ready to use Datums */
	uint64		made;			/* tells apart what stands here in turn, else 0 */
} CcDictionary;

typedef struct CcVector
{
	CcRep		rep;
	int			n;				/* values, nulls included */
	bool		has_nulls;		/* if false, valid[] is not to be read */
	int16		scale;			/* CC_REP_DECIMAL* */
	bool		constant;		/* every value equals the first one, no nulls */
	uint64		valid[CC_VALIDITY_WORDS];	/* bit set = not null */
	union
	{
		int64	   *i64;
		double	   *f64;
		float	   *f32;
		int128	   *i128;
		uint32	   *code;
		Datum	   *datum;
	}			u;				/* values at null positions are undefined */
	const CcDictionary *dict;	/* CC_REP_CODE */
	int16		typlen;			/* of the column's type */
} CcVector;

/* Codes are, and stay, below this. */
static inline uint32
cc_dict_limit(const CcDictionary *dict)
{
	return Max(dict->capacity, dict->nvalues);
}

static inline bool
cc_vector_isnull(const CcVector *v, int i)
{
	return v->has_nulls && (v->valid[i >> 6] & (UINT64CONST(1) << (i & 63))) == 0;
}

/*
 * The value at i (not null) as a Datum of the column's type.  Only decimals
 * and, on 32-bit machines, 8-byte types allocate (in the current context).
 */
extern Datum cc_vector_datum(const CcVector *v, int i);

/* Zone of a vector or of a column chunk. */
typedef StZone CcZone;

/*
 * Reader of one row group.  Column numbers are attribute numbers (1-based).
 * Vectors returned stay valid until the same column's next vector is asked
 * for, or close.  Zones' Datums stay valid until close.
 */
extern StReader *cc_reader_open(Relation rel, const StGroup *group, MemoryContext mcxt);
extern void cc_reader_close(StReader *r);

/* No value that was handed out is in use any more: their memory may be used again. */
extern void cc_reader_rescan(StReader *r);

/*
 * A reader kept from one statement to the next works with the relation given
 * last; its descriptor must be that of cc_reader_open's (drop the reader when
 * the relation's cache entry is invalidated).
 */
extern void cc_reader_attach(StReader *r, Relation rel);

/*
 * Sets the row type that values are returned in, before any is asked for.
 * Needed while ALTER TABLE rewrites a table: the relcache has the new types.
 */
extern void cc_reader_describe(StReader *r, TupleDesc desc);
extern uint32 cc_reader_nvectors(const StReader *r);
extern uint32 cc_reader_vector_rows(const StReader *r, uint32 vecno);

/* Decodes one vector of one column. */
extern const CcVector *cc_reader_vector(StReader *r, AttrNumber attno, uint32 vecno);

/*
 * The same for the rows with a bit in rows: what costs much per value, large
 * values and shredded documents, is made for no other row.  Those have
 * anything of the type's length, or an empty value.  Values stay valid as
 * above, also when the vector is asked for again with other rows.
 */
extern const CcVector *cc_reader_vector_selected(StReader *r, AttrNumber attno,
												 uint32 vecno, const uint64 *rows);

/* Do the column's values stand one by one, so that a vector saves nothing? */
extern bool cc_reader_is_large(StReader *r, AttrNumber attno);

/* vecno = -1: the whole column chunk.  False if nothing at all is known. */
extern bool cc_reader_zone(StReader *r, AttrNumber attno, int64 vecno, CcZone *zone);

/*
 * Sum of the chunk's values that are not null, times 10^scale: of integers
 * (scale 0), and of numerics that have all one scale.  False: not kept.
 */
extern bool cc_reader_sum(StReader *r, AttrNumber attno, int128 *sum, int *scale);

/*
 * The sum of some rows' values (a bitmap of the group's rows), with how many
 * of them are null.  False: cc_reader_sum() knows no sum either.
 */
extern bool cc_reader_sum_rows(StReader *r, AttrNumber attno, const uint64 *rows,
							   int128 *sum, uint32 *nnulls);

/* One row's values: the index fetch.  Decodes only the blocks that hold it. */
extern void cc_reader_row(StReader *r, uint32 row, const bool *needed,
						  Datum *values, bool *isnull);

/* For EXPLAIN: bytes of encoded data that this reader has read and decoded. */
extern uint64 cc_reader_bytes_decoded(const StReader *r);

#endif							/* CC_VECTOR_H */
