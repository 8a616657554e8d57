/*-------------------------------------------------------------------------
 *
 * sf_type.h
 *	  From a column's type to how its values are held, and back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_TYPE_H
#define SF_TYPE_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"

#include "vx_vector.h"

/* How the values of a column are held, decided by the column's type.  On disk. */
typedef enum SfKind
{
	SF_KIND_ABSENT = 0,			/* dropped column: nothing */
	SF_KIND_INT = 1,			/* pass-by-value, as int64 */
	SF_KIND_FLOAT8 = 2,
	SF_KIND_FLOAT4 = 3,
	SF_KIND_NUMERIC = 4,		/* scaled integers, or bytes if they do not fit */
	SF_KIND_BYTES = 5,			/* varlena: bytes behind the header */
	SF_KIND_FIXED = 6,			/* pass-by-reference of fixed length */
	SF_KIND_CSTRING = 7			/* zero-terminated */
} SfKind;

/*
 * May values of the kind stand in an encoding?  Both formats number those of
 * numbers alike from 1 on, and three more of bytes behind them.
 */
extern bool sf_encoding_fits(SfKind kind, int encoding);

/* In which array a writer buffers the values of a column. */
typedef enum SfStorage
{
	SF_STORE_NONE,				/* dropped column */
	SF_STORE_INT64,				/* ints, and numerics of one scale */
	SF_STORE_INT128,			/* numerics of one scale that need it */
	SF_STORE_FLOAT8,
	SF_STORE_FLOAT4,
	SF_STORE_BYTES
} SfStorage;

/* Numerics are bytes here. */
extern SfStorage sf_storage(SfKind kind);

/* Gives value i, which is null, what the one before has (0 at the start). */
static inline void
sf_repeat_value(void *values, uint32 i, Size size)
{
	char	   *p = (char *) values + i * size;

	if (i > 0)
		memcpy(p, p - size, size);
	else
		memset(p, 0, size);
}

/* What the code needs to know about a column's type. */
typedef struct SfColumnType
{
	Oid			typid;			/* base type, domains looked through */
	SfKind		kind;
	int16		typlen;
	bool		typbyval;
	bool		is_signed;
	uint8		align;			/* of the Datum in memory */
	Oid			opfamily;		/* btree family of its zones, or InvalidOid */
	bool		byte_order;		/* zones of strings, in byte order */
	PGFunction	compare;		/* order of other types passed by reference */
} SfColumnType;

extern void sf_column_type(Form_pg_attribute att, SfColumnType *type);

/* The same of an expression's type. */
extern void sf_expression_type(Oid typid, SfColumnType *type);

/* oid over a column written as int4, or the other way round. */
extern int64 sf_change_sign(const SfColumnType *type, int64 v);

/* Free bytes in front of a value of bytes, and its alignment. */
extern uint32 sf_value_room(const SfColumnType *type);
extern uint32 sf_value_align(const SfColumnType *type);

/*
 * Makes a Datum of the len bytes at data.  The bytes in front are free, and
 * one behind.
 */
extern Datum sf_value_datum(const SfColumnType *type, uint8 *data, uint32 len);

/* The same of n values, which stand at offsets of an arena. */
extern void sf_value_datums(const SfColumnType *type, uint8 *arena, const uint32 *off,
							const uint32 *lens, uint32 n, Datum *values);

/*
 * Decodes a dictionary of n values: parts of up to ST_VECTOR_SIZE, each an
 * array of plain strings.  False if the bytes are damaged.
 */
extern bool sf_dictionary_decode(const SfColumnType *type, const uint8 *bytes,
								 Size len, uint32 n, Datum *values,
								 MemoryContext mcxt);

/*
 * A vector for all rows of a column that a row group does not have: nulls, or
 * where the column was added later (ALTER TABLE ADD COLUMN ... DEFAULT) its
 * missing value.
 */
extern VxVector *sf_missing_vector(TupleDesc desc, AttrNumber attno, bool added,
								   MemoryContext mcxt);

#endif							/* SF_TYPE_H */
