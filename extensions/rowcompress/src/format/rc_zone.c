/*-------------------------------------------------------------------------
 *
 * rc_zone.c
 *	  Zone maps of a column's batches, as they are written.
 *
 * One minimum and one maximum per batch, over the values that are not null,
 * in the order of the btree operator family whose OID stands beside them
 * (readers ignore zones of any other family).  Batches of nulls only have
 * bounds that mean nothing; their null count tells.
 *
 * Strings are ordered bytewise and keep a prefix of RC_ZONE_PREFIX bytes, cut
 * at a character's boundary; a maximum that was cut is flagged.  bpchar is
 * taken without its trailing blanks, which do not count in comparisons.
 * Other types passed by reference are compared by the server's function and
 * kept whole; a batch whose bounds are too long for that is flagged.
 *
 *	 | kind u8 | null counts | opfamily v | minima | maxima | flags |
 *
 * Arrays stand behind their length in bytes.  Flags: strings and bytes only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"

#include "rc_column.h"
#include "sf_bytes.h"
#include "sf_zone.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"
#include "st_str.h"

/* Calls for every value of a batch that is not null. */
#define FOR_VALUES(col, batches, b, row) \
	for (uint32 row = (batches)->first[b]; row < (batches)->first[(b) + 1]; row++) \
		if ((col)->nnulls == 0 || !rc_column_isnull(col, row))

#define DEFINE_MINMAX(name, type, field, less) \
static void \
name(const RcColumn *col, const RcBatches *batches, type *min, type *max) \
{ \
	for (uint32 b = 0; b < batches->n; b++) \
	{ \
		bool		seen = false; \
\
		FOR_VALUES(col, batches, b, row) \
		{ \
			type		v = col->u.field[row]; \
\
			if (!seen || less(v, min[b])) \
				min[b] = v; \
			if (!seen || less(max[b], v)) \
				max[b] = v; \
			seen = true; \
		} \
		if (!seen && b > 0) \
		{ \
			min[b] = min[b - 1]; \
			max[b] = max[b - 1]; \
		} \
	} \
}

DEFINE_MINMAX(minmax_i64, int64, i64, SF_INT_LESS)
DEFINE_MINMAX(minmax_f64, double, f64, SF_FLOAT_LESS)
DEFINE_MINMAX(minmax_f32, float, f32, SF_FLOAT_LESS)

typedef struct MinMax
{
	union
	{
		int64		i64[RC_MAX_BATCHES];
		double		f64[RC_MAX_BATCHES];
		float		f32[RC_MAX_BATCHES];
		StStr		str[RC_MAX_BATCHES];
	}			min,
				max;
} MinMax;

/* ---- strings, by their bytes ---- */

/* Bounds of one batch by codes; false if all values are null. */
static bool
code_bounds(const RcColumn *col, const RcScheme *scheme, const RcBatches *batches,
			uint32 b, StStr *min, StStr *max)
{
	uint32		least = PG_UINT32_MAX;
	uint32		greatest = 0;

	FOR_VALUES(col, batches, b, row)
	{
		least = Min(least, scheme->codes[row]);
		greatest = Max(greatest, scheme->codes[row]);
	}
	if (least == PG_UINT32_MAX)
		return false;
	*min = scheme->entries[least];
	*max = scheme->entries[greatest];
	return true;
}

/* Bounds of one batch; false if a value is large, and so not at hand. */
static bool
string_bounds(const RcColumn *col, const RcBatches *batches, uint32 b,
			  StStr *min, StStr *max)
{
	bool		bpchar = col->type.typid == BPCHAROID;
	bool		seen = false;

	FOR_VALUES(col, batches, b, row)
	{
		StStr		s = col->u.str[row];

		if (s.len >= RC_LARGE_BYTES)
			return false;
		if (bpchar)
			s.len = sf_zone_trimmed(&s);
		if (!seen || st_str_compare(&s, min) < 0)
			*min = s;
		if (!seen || st_str_compare(&s, max) > 0)
			*max = s;
		seen = true;
	}
	return seen;
}

/* ---- other types passed by reference ---- */

/* A Datum of the value's bytes; varlenas are copied to *buf. */
static Datum
reference_datum(const RcColumn *col, const StStr *s, uint64 *buf)
{
	if (col->type.kind == SF_KIND_FIXED)
	{
		memcpy(buf, s->data, s->len);	/* aligned */
		return PointerGetDatum(buf);
	}
	SET_VARSIZE(buf, VARHDRSZ + s->len);
	memcpy((char *) buf + VARHDRSZ, s->data, s->len);
	return PointerGetDatum(buf);
}

/*
 * A numeric as an integer and its scale, to compare without the server's
 * function; false if it is none.
 */
static bool
decimal_value(const RcColumn *col, const StStr *s, int128 *v, int *scale)
{
	uint64		buf[(VARHDRSZ + RC_ZONE_MAX_BYTES) / 8 + 1];

	return col->type.kind == SF_KIND_NUMERIC &&
		st_numeric_to_int128(reference_datum(col, s, buf), v, scale);
}

static int
compare_values(const RcColumn *col, const StStr *a, const StStr *b)
{
	uint64		x[(VARHDRSZ + RC_ZONE_MAX_BYTES) / 8 + 1];
	uint64		y[(VARHDRSZ + RC_ZONE_MAX_BYTES) / 8 + 1];

	return DatumGetInt32(DirectFunctionCall2(col->type.compare,
											 reference_datum(col, a, x),
											 reference_datum(col, b, y)));
}

/*
 * Bounds of one batch of numerics of one scale; false if they are not that,
 * or all are null.
 */
static bool
decimal_bounds(const RcColumn *col, const RcBatches *batches, uint32 b,
			   StStr *min, StStr *max)
{
	int128		least = 0;
	int128		greatest = 0;
	int			scale = -1;

	FOR_VALUES(col, batches, b, row)
	{
		const StStr *s = &col->u.str[row];
		int128		v;
		int			own;

		if (s->len > RC_ZONE_MAX_BYTES || !decimal_value(col, s, &v, &own) ||
			(scale >= 0 && own != scale))
			return false;
		if (scale < 0 || v < least)
		{
			least = v;
			*min = *s;
		}
		if (scale < 0 || v > greatest)
		{
			greatest = v;
			*max = *s;
		}
		scale = own;
	}
	return scale >= 0;
}

/* Bounds of one batch; false if a value is too long for them. */
static bool
value_bounds(const RcColumn *col, const RcBatches *batches, uint32 b,
			 StStr *min, StStr *max)
{
	bool		seen = false;

	if (decimal_bounds(col, batches, b, min, max))
		return true;
	FOR_VALUES(col, batches, b, row)
	{
		const StStr *s = &col->u.str[row];

		if (s->len > RC_ZONE_MAX_BYTES)
			return false;
		if (!seen || compare_values(col, s, min) < 0)
			*min = *s;
		if (!seen || compare_values(col, s, max) > 0)
			*max = *s;
		seen = true;
	}
	return seen;
}

static void
zone_of_references(const RcColumn *col, const RcScheme *scheme,
				   const RcBatches *batches, MinMax *mm, StringInfo meta)
{
	bool		ordered = scheme->dictionary &&
		sf_zone_codes_ordered(&col->type, scheme->entries, scheme->nentries);
	int64	   *flags = palloc0(RC_MAX_BATCHES * sizeof(int64));

	for (uint32 b = 0; b < batches->n; b++)
	{
		StStr	   *min = &mm->min.str[b];
		StStr	   *max = &mm->max.str[b];
		bool		known;

		if (col->type.byte_order && ordered)
			known = code_bounds(col, scheme, batches, b, min, max);
		else if (col->type.byte_order)
			known = string_bounds(col, batches, b, min, max);
		else
			known = value_bounds(col, batches, b, min, max);
		if (!known)
		{
			*min = *max = (StStr) {(const uint8 *) "", 0};
			flags[b] = SF_ZONE_UNKNOWN;
		}
		else if (col->type.byte_order)
		{
			(void) sf_zone_cut(&col->type, min);
			flags[b] = sf_zone_cut(&col->type, max) ? SF_ZONE_CUT : 0;
		}
	}
	sf_put_string_array(meta, mm->min.str, batches->n);
	sf_put_string_array(meta, mm->max.str, batches->n);
	sf_put_int_array(meta, flags, batches->n);
	pfree(flags);
}

/* ---- all ---- */

static void
write_null_counts(const RcColumn *col, const RcBatches *batches, StringInfo meta)
{
	int64	   *counts = palloc0(RC_MAX_BATCHES * sizeof(int64));

	for (uint32 b = 0; b < batches->n && col->nnulls > 0; b++)
	{
		uint64		words[RC_MAX_BATCH_ROWS / 64];

		counts[b] = rc_column_validity(col, batches->first[b],
									   batches->first[b + 1] - batches->first[b], words);
	}
	sf_put_int_array(meta, counts, batches->n);
	pfree(counts);
}

static RcZoneKind
zone_kind(const RcColumn *col)
{
	if (!OidIsValid(col->type.opfamily) || col->nnulls == col->nrows)
		return RC_ZONE_NONE;
	switch (col->storage)
	{
		case RC_STORE_INT:
			return RC_ZONE_INT;
		case RC_STORE_FLOAT8:
			return RC_ZONE_FLOAT8;
		case RC_STORE_FLOAT4:
			return RC_ZONE_FLOAT4;
		case RC_STORE_BYTES:
			return col->type.byte_order ? RC_ZONE_STRING : RC_ZONE_BYTES;
		case RC_STORE_NONE:
			break;
	}
	return RC_ZONE_NONE;
}

void
rc_zone_write(const RcColumn *col, const RcScheme *scheme, const RcBatches *batches,
			  StringInfo meta)
{
	RcZoneKind	kind = zone_kind(col);
	MinMax	   *mm;

	appendStringInfoChar(meta, (char) kind);
	write_null_counts(col, batches, meta);
	if (kind == RC_ZONE_NONE)
		return;
	sf_put_varint(meta, col->type.opfamily);
	mm = palloc0(sizeof(MinMax));
	switch (kind)
	{
		case RC_ZONE_INT:
			minmax_i64(col, batches, mm->min.i64, mm->max.i64);
			sf_put_int_array(meta, mm->min.i64, batches->n);
			sf_put_int_array(meta, mm->max.i64, batches->n);
			break;
		case RC_ZONE_FLOAT8:
			minmax_f64(col, batches, mm->min.f64, mm->max.f64);
			sf_put_float8_array(meta, mm->min.f64, batches->n);
			sf_put_float8_array(meta, mm->max.f64, batches->n);
			break;
		case RC_ZONE_FLOAT4:
			minmax_f32(col, batches, mm->min.f32, mm->max.f32);
			sf_put_float4_array(meta, mm->min.f32, batches->n);
			sf_put_float4_array(meta, mm->max.f32, batches->n);
			break;
		default:
			zone_of_references(col, scheme, batches, mm, meta);
			break;
	}
	pfree(mm);
}
