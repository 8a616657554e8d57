/*-------------------------------------------------------------------------
 *
 * sf_zone_write.c
 *	  Zone maps of a column of a row group, as they are written.
 *
 * One minimum and one maximum per vector, over the values that are not null,
 * in the order of the btree operator family whose OID stands beside them
 * (readers ignore zones of any other family).  Vectors of nulls only have
 * bounds that mean nothing; their null count tells.
 *
 * Strings keep prefixes (sf_zone.h).  Other types passed by reference are
 * compared by the server's function and kept whole; a vector whose bounds are
 * too long for that is flagged.
 *
 *	 | opfamily v | minima | maxima | flags |
 *
 * Arrays stand behind their length in bytes.  Flags: strings and bytes only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"

#include "sf_bytes.h"
#include "sf_zone.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_numeric.h"

/* Calls for every value of a vector that is not null. */
#define FOR_VALUES(z, vec, row) \
	for (uint32 row = (z)->first[vec]; row < (z)->first[(vec) + 1]; row++) \
		if ((z)->valid == NULL || ((z)->valid[row >> 6] >> (row & 63)) & 1)

/* Vectors of nulls only repeat their neighbour. */
#define DEFINE_NUMBERS(name, type, less, put_array) \
static void \
name(const SfZoneInput *z, StringInfo meta) \
{ \
	const type *values = z->values; \
	type	   *min = palloc0(2 * z->n * sizeof(type)); \
	type	   *max = min + z->n; \
\
	for (uint32 vec = 0; vec < z->n; vec++) \
	{ \
		bool		seen = false; \
\
		FOR_VALUES(z, vec, row) \
		{ \
			type		v = values[row]; \
\
			if (!seen || less(v, min[vec])) \
				min[vec] = v; \
			if (!seen || less(max[vec], v)) \
				max[vec] = v; \
			seen = true; \
		} \
		if (!seen && vec > 0) \
		{ \
			min[vec] = min[vec - 1]; \
			max[vec] = max[vec - 1]; \
		} \
	} \
	put_array(meta, min, z->n); \
	put_array(meta, max, z->n); \
	pfree(min); \
}

DEFINE_NUMBERS(write_i64, int64, SF_INT_LESS, sf_put_int_array)
DEFINE_NUMBERS(write_i128, int128, SF_INT_LESS, sf_put_wide_array)
DEFINE_NUMBERS(write_f64, double, SF_FLOAT_LESS, sf_put_float8_array)
DEFINE_NUMBERS(write_f32, float, SF_FLOAT_LESS, sf_put_float4_array)

/* ---- strings, by their bytes ---- */

/* Bounds of one vector by codes; false if all values are null. */
static bool
code_bounds(const SfZoneInput *z, uint32 vec, StStr *min, StStr *max)
{
	uint32		least = PG_UINT32_MAX;
	uint32		greatest = 0;

	FOR_VALUES(z, vec, row)
	{
		least = Min(least, z->codes[row]);
		greatest = Max(greatest, z->codes[row]);
	}
	if (least == PG_UINT32_MAX)
		return false;
	*min = z->entries[least];
	*max = z->entries[greatest];
	return true;
}

/* Bounds of one vector; false if all values are null, or one is too long. */
static bool
string_bounds(const SfZoneInput *z, uint32 vec, StStr *min, StStr *max)
{
	const StStr *values = z->values;
	bool		bpchar = z->type->typid == BPCHAROID;
	bool		seen = false;

	FOR_VALUES(z, vec, row)
	{
		StStr		s = values[row];

		if (s.len > z->max_len)
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

/* Room for a value of up to SF_ZONE_MAX_BYTES, and its header. */
typedef uint64 ValueBuffer[(VARHDRSZ + SF_ZONE_MAX_BYTES) / 8 + 1];

/* A Datum of the value's bytes, which are copied to buf. */
static Datum
reference_datum(const SfZoneInput *z, const StStr *s, uint64 *buf)
{
	Size		header = z->type->kind == SF_KIND_FIXED ? 0 : VARHDRSZ;

	memcpy((char *) buf + header, s->data, s->len);
	if (header > 0)
		SET_VARSIZE(buf, VARHDRSZ + s->len);
	return PointerGetDatum(buf);
}

static int
compare_values(const SfZoneInput *z, const StStr *a, const StStr *b)
{
	ValueBuffer x;
	ValueBuffer y;

	return DatumGetInt32(DirectFunctionCall2(z->type->compare,
											 reference_datum(z, a, x),
											 reference_datum(z, b, y)));
}

/*
 * Bounds of one vector of numerics of one scale, without the server's
 * function; false if it is not that, or all are null.
 */
static bool
decimal_bounds(const SfZoneInput *z, uint32 vec, StStr *min, StStr *max)
{
	const StStr *values = z->values;
	int128		least = 0;
	int128		greatest = 0;
	int			scale = -1;

	FOR_VALUES(z, vec, row)
	{
		const StStr *s = &values[row];
		ValueBuffer buf;
		int128		v;
		int			own;

		if (z->type->kind != SF_KIND_NUMERIC || s->len > z->max_len ||
			!st_numeric_to_int128(reference_datum(z, s, buf), &v, &own) ||
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

/* Bounds of one vector; false if all are null, or one is too long for them. */
static bool
value_bounds(const SfZoneInput *z, uint32 vec, StStr *min, StStr *max)
{
	const StStr *values = z->values;
	bool		seen = false;

	if (decimal_bounds(z, vec, min, max))
		return true;
	FOR_VALUES(z, vec, row)
	{
		const StStr *s = &values[row];

		if (s->len > z->max_len)
			return false;
		if (!seen || compare_values(z, s, min) < 0)
			*min = *s;
		if (!seen || compare_values(z, s, max) > 0)
			*max = *s;
		seen = true;
	}
	return seen;
}

static void
write_references(const SfZoneInput *z, StringInfo meta)
{
	bool		by_codes = z->codes != NULL &&
		sf_zone_codes_ordered(z->type, z->entries, z->nentries);
	StStr	   *min = palloc(2 * z->n * sizeof(StStr));
	StStr	   *max = min + z->n;
	int64	   *flags = palloc0(z->n * sizeof(int64));

	for (uint32 vec = 0; vec < z->n; vec++)
	{
		bool		known;

		if (z->kind == SF_ZONE_BYTES)
			known = value_bounds(z, vec, &min[vec], &max[vec]);
		else if (by_codes)
			known = code_bounds(z, vec, &min[vec], &max[vec]);
		else
			known = string_bounds(z, vec, &min[vec], &max[vec]);
		if (!known)
		{
			min[vec] = max[vec] = (StStr) {(const uint8 *) "", 0};
			flags[vec] = z->unknown;
		}
		else if (z->kind == SF_ZONE_STRING)
		{
			(void) sf_zone_cut(z->type, &min[vec]);
			flags[vec] = sf_zone_cut(z->type, &max[vec]) ? SF_ZONE_CUT : 0;
		}
	}
	sf_put_string_array(meta, min, z->n);
	sf_put_string_array(meta, max, z->n);
	sf_put_int_array(meta, flags, z->n);
	pfree(flags);
	pfree(min);
}

void
sf_zones_write(const SfZoneInput *z, StringInfo meta)
{
	if (z->kind == SF_ZONE_NONE)
		return;
	sf_put_varint(meta, z->type->opfamily);
	switch (z->kind)
	{
		case SF_ZONE_INT64:
			write_i64(z, meta);
			break;
		case SF_ZONE_INT128:
			write_i128(z, meta);
			break;
		case SF_ZONE_FLOAT8:
			write_f64(z, meta);
			break;
		case SF_ZONE_FLOAT4:
			write_f32(z, meta);
			break;
		default:
			write_references(z, meta);
			break;
	}
}
