/*-------------------------------------------------------------------------
 *
 * vx_vector.h
 *	  Vectors of up to 1,024 values of one column: what the formats decode
 *	  into, and what the vector engine computes on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_VECTOR_H
#define VX_VECTOR_H

#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"

#include "st_core.h"

#define VX_VALIDITY_WORDS (ST_VECTOR_SIZE / 64)

/* How the values of a vector stand in memory. */
typedef enum VxRep
{
	VX_REP_INT64,				/* i64: bool, "char", int2/4/8, oid, date, time, timestamp(tz) */
	VX_REP_FLOAT8,				/* f64 */
	VX_REP_FLOAT4,				/* f32 */
	VX_REP_DECIMAL64,			/* i64 times 10^-scale: numeric of one display scale */
	VX_REP_DECIMAL128,			/* i128 likewise */
	VX_REP_CODE,				/* code[i] indexes dict->values */
	VX_REP_DATUM				/* datum[i]: anything else, pointers into the vector */
} VxRep;

/* Distinct values of one column of a row group.  Sorted bytewise if sorted is set. */
typedef struct VxDictionary
{
	uint32		nvalues;
	uint32		capacity;		/* above 0: it grows, but not beyond this */
	bool		sorted;			/* code order = byte order of the values */
	Datum	   *values;			/* ready to use Datums */
	uint64		made;			/* tells apart what stands here in turn, else 0 */
} VxDictionary;

typedef struct VxVector
{
	VxRep		rep;
	int			n;				/* values, nulls included */
	bool		has_nulls;		/* if false, valid[] is not to be read */
	int16		scale;			/* VX_REP_DECIMAL* */
	bool		constant;		/* every value equals the first one, no nulls */
	uint64		valid[VX_VALIDITY_WORDS];	/* bit set = not null */
	union
	{
		int64	   *i64;
		double	   *f64;
		float	   *f32;
		int128	   *i128;
		uint32	   *code;
		Datum	   *datum;
	}			u;				/* values at null positions are undefined */
	const VxDictionary *dict;	/* VX_REP_CODE */
	int16		typlen;			/* of the column's type */
} VxVector;

/* Codes are, and stay, below this. */
static inline uint32
vx_dict_limit(const VxDictionary *dict)
{
	return Max(dict->capacity, dict->nvalues);
}

static inline bool
vx_vector_isnull(const VxVector *v, int i)
{
	return v->has_nulls && (v->valid[i >> 6] & (UINT64CONST(1) << (i & 63))) == 0;
}

/*
 * An integer as it stands in a vector, as a Datum of a type of that length: as
 * fetch_att() gives it.
 */
static inline Datum
vx_int_datum(int16 typlen, int64 v)
{
	switch (typlen)
	{
		case 1:
			return CharGetDatum((char) v);
		case 2:
			return Int16GetDatum((int16) v);
		case 4:
			return Int32GetDatum((int32) v);
		default:
			return Int64GetDatum(v);
	}
}

/* Value i if it need not be made; false: of decimals, and of float4. */
static inline bool
vx_vector_at(const VxVector *v, int i, Datum *value)
{
	switch (v->rep)
	{
		case VX_REP_DATUM:
		case VX_REP_FLOAT8:
			*value = v->u.datum[i];
			return true;
		case VX_REP_CODE:
			*value = v->dict->values[v->u.code[i]];
			return true;
		case VX_REP_INT64:
			*value = vx_int_datum(v->typlen, v->u.i64[i]);
			return true;
		default:
			return false;
	}
}

static inline bool
vx_is_decimal(const VxVector *v)
{
	return v->rep == VX_REP_DECIMAL64 || v->rep == VX_REP_DECIMAL128;
}

static inline bool
vx_is_bytes(const VxVector *v)
{
	return v->rep == VX_REP_DATUM || v->rep == VX_REP_CODE;
}

/* Of decimals. */
static inline int128
vx_decimal(const VxVector *v, int i)
{
	return v->rep == VX_REP_DECIMAL128 ? v->u.i128[i] : v->u.i64[i];
}

/*
 * The value at i (not null) as a Datum of the column's type.  Decimals are
 * written to the buffer, of ST_NUMERIC_MAX_BYTES, or to the current context.
 */
extern Datum vx_vector_datum_in(const VxVector *v, int i, void *buffer);
extern Datum vx_vector_datum(const VxVector *v, int i);

/* Values of v at n positions; out has room for ST_VECTOR_SIZE of any kind. */
extern void vx_vector_gather(VxVector *out, const VxVector *v, const uint16 *from, int n);

/* The representation in which single Datums of a base type are put. */
extern VxRep vx_type_rep(Oid type, bool byval);

/*
 * Types that vectors hold as int64, in the order of these; and they, floats
 * and numeric.
 */
extern bool vx_is_integer_type(Oid type);
extern bool vx_is_number_type(Oid type);

/* A Datum passed by value, not a float, as vectors hold it. */
static inline int64
vx_datum_to_int(Oid type, int16 typlen, Datum value)
{
	switch (typlen)
	{
		case 1:
			return type == BOOLOID || type == CHAROID ?
				(int64) (uint8) value : (int64) (int8) value;
		case 2:
			return (int16) value;
		case 4:
			return type == OIDOID ? (int64) (uint32) value : (int64) (int32) value;
		default:
			return (int64) value;
	}
}

/* The same of an integer type. */
static inline int64
vx_integer_of(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
		case CHAROID:
			return (uint8) value;
		case INT2OID:
			return (int16) value;
		case INT4OID:
		case DATEOID:
			return (int32) value;
		case OIDOID:
			return (uint32) value;
		default:
			return (int64) value;
	}
}

/* Puts a value of the base type at i; by reference: the pointer as it is. */
static inline void
vx_vector_put(VxVector *v, Oid type, int i, Datum value)
{
	switch (v->rep)
	{
		case VX_REP_INT64:
			v->u.i64[i] = vx_datum_to_int(type, v->typlen, value);
			break;
		case VX_REP_FLOAT4:
			v->u.f32[i] = DatumGetFloat4(value);
			break;
		default:
			v->u.datum[i] = value;
			break;
	}
}

/* Follows the server's order: NaN, of any sign, is the greatest, and -0 is 0. */
static inline int64
vx_rank_of_float8(double x)
{
	int64		bits;

	if (isnan(x))
		return PG_INT64_MAX;
	if (x == 0)
		x = 0;
	memcpy(&bits, &x, sizeof(bits));
	return bits ^ ((bits >> 63) & PG_INT64_MAX);
}

/* For qsort() of int64. */
extern int	vx_compare_int64(const void *a, const void *b);

#endif							/* VX_VECTOR_H */
