/*-------------------------------------------------------------------------
 *
 * sf_zone.c
 *	  Zone maps of a column of a row group: prefixes that are written, and
 *	  all of them as they are read.
 *
 * The arrays of bounds are decoded when the first zone of the column is asked
 * for, the Datums made one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "mb/pg_wchar.h"
#include "utils/float.h"

#include "sf_zone.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"
#include "st_qual.h"

#define NZONES (SF_ZONE_WHOLE + 1)

/* ---- writing ---- */

uint32
sf_zone_trimmed(const StStr *s)
{
	uint32		len = s->len;

	while (len > 0 && s->data[len - 1] == ' ')
		len--;
	return len;
}

bool
sf_zone_codes_ordered(const SfColumnType *type, const StStr *entries, uint32 n)
{
	for (uint32 i = 0; type->typid == BPCHAROID && i < n; i++)
		if (sf_zone_trimmed(&entries[i]) < entries[i].len)
			return false;
	return true;
}

bool
sf_zone_cut(const SfColumnType *type, StStr *s)
{
	if (s->len <= SF_ZONE_PREFIX)
		return false;
	if (type->opfamily == TEXT_BTREE_FAM_OID || type->opfamily == BPCHAR_BTREE_FAM_OID)
		s->len = pg_mbcliplen((const char *) s->data, s->len, SF_ZONE_PREFIX);
	else
		s->len = SF_ZONE_PREFIX;
	return true;
}

/* ---- reading ---- */

static Size
bound_size(SfZoneKind kind)
{
	switch (kind)
	{
		case SF_ZONE_INT128:
			return sizeof(int128);
		case SF_ZONE_FLOAT4:
			return sizeof(float);
		case SF_ZONE_STRING:
		case SF_ZONE_BYTES:
			return sizeof(StStr);
		default:
			return sizeof(int64);
	}
}

static bool
read_strings(const SfZones *z, const uint8 *p, Size len, StStr *dst)
{
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	uint32		off[ST_VECTOR_SIZE];
	uint32		lens[ST_VECTOR_SIZE];
	size_t		need;
	uint8	   *arena;

	st_str_scheme_raw(raw);
	if (st_str_decoded_size(raw, p, len, z->n, 0, 1, &need) != ST_OK)
		return false;
	arena = MemoryContextAlloc(z->mcxt, Max(1, need));
	if (st_str_decode(raw, p, len, z->n, 0, 1, arena, need, off, lens) != ST_OK)
		return false;
	for (uint32 i = 0; i < z->n; i++)
		dst[i] = (StStr) {arena + off[i], lens[i]};
	pfree(raw);
	return true;
}

int64 *
sf_zone_ints(StByteReader *b, uint32 n, MemoryContext mcxt)
{
	int64	   *v = MemoryContextAllocZero(mcxt, NZONES * sizeof(int64));
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	return p != NULL && st_int_decode(p, len, n, (int64_t *) v) == ST_OK ? v : NULL;
}

static bool
read_bound(SfZones *z, StByteReader *b, SfZoneBound *bound)
{
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	if (p == NULL)
		return false;
	bound->u.i64 = MemoryContextAllocZero(z->mcxt, NZONES * bound_size(z->kind));
	bound->datum = MemoryContextAllocZero(z->mcxt, NZONES * sizeof(Datum));
	bound->made = MemoryContextAllocZero(z->mcxt, NZONES * sizeof(bool));
	switch (z->kind)
	{
		case SF_ZONE_INT64:
			return st_int_decode(p, len, z->n, (int64_t *) bound->u.i64) == ST_OK;
		case SF_ZONE_INT128:
			return st_int128_decode(p, len, z->n, (StInt128 *) bound->u.i128) == ST_OK;
		case SF_ZONE_FLOAT8:
			return st_f64_decode(p, len, z->n, bound->u.f64) == ST_OK;
		case SF_ZONE_FLOAT4:
			return st_f32_decode(p, len, z->n, bound->u.f32) == ST_OK;
		default:
			return read_strings(z, p, len, bound->u.str);
	}
}

bool
sf_zones_read(SfZones *z, StByteReader *b)
{
	if (z->kind != SF_ZONE_NONE)
	{
		z->opfamily = (Oid) st_read_varint(b);
		if (!read_bound(z, b, &z->min) || !read_bound(z, b, &z->max))
			return false;
		if ((z->kind == SF_ZONE_STRING || z->kind == SF_ZONE_BYTES) &&
			(z->flags = sf_zone_ints(b, z->n, z->mcxt)) == NULL)
			return false;
	}
	return st_reader_finish(b) == ST_OK;
}

/* A Datum of a bound's bytes; bounds of fixed length are never cut. */
static bool
make_string(SfZones *z, const StStr *s, Datum *datum)
{
	bool		fixed = z->type.kind == SF_KIND_FIXED;
	char	   *p;

	if (fixed && s->len != z->type.typlen)
		return false;
	p = MemoryContextAlloc(z->mcxt, VARHDRSZ + s->len);
	if (!fixed)
		SET_VARSIZE(p, VARHDRSZ + s->len);
	memcpy(p + (fixed ? 0 : VARHDRSZ), s->data, s->len);
	*datum = PointerGetDatum(p);
	return true;
}

static bool
make_datum(SfZones *z, SfZoneBound *bound, uint32 i)
{
	char	   *buf;

	if (bound->made[i])
		return true;
	switch (z->kind)
	{
		case SF_ZONE_INT64:
			if (z->type.kind == SF_KIND_INT)
			{
				bound->datum[i] = vx_int_datum(z->type.typlen, bound->u.i64[i]);
				break;
			}
			buf = MemoryContextAlloc(z->mcxt, ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int64(buf, bound->u.i64[i], z->scale);
			bound->datum[i] = PointerGetDatum(buf);
			break;
		case SF_ZONE_INT128:
			buf = MemoryContextAlloc(z->mcxt, ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int128(buf, bound->u.i128[i], z->scale);
			bound->datum[i] = PointerGetDatum(buf);
			break;
		case SF_ZONE_FLOAT8:
			bound->datum[i] = Float8GetDatum(bound->u.f64[i]);
			break;
		case SF_ZONE_FLOAT4:
			bound->datum[i] = Float4GetDatum(bound->u.f32[i]);
			break;
		default:
			if (!make_string(z, &bound->u.str[i], &bound->datum[i]))
				return false;
			break;
	}
	bound->made[i] = true;
	return true;
}

/* Is bound a less than b? */
static bool
bound_less(const SfZones *z, const SfZoneBound *bound, uint32 a, uint32 b)
{
	switch (z->kind)
	{
		case SF_ZONE_INT128:
			return bound->u.i128[a] < bound->u.i128[b];
		case SF_ZONE_FLOAT8:
			return float8_lt(bound->u.f64[a], bound->u.f64[b]);
		case SF_ZONE_FLOAT4:
			return float4_lt(bound->u.f32[a], bound->u.f32[b]);
		case SF_ZONE_STRING:
			return st_str_compare(&bound->u.str[a], &bound->u.str[b]) < 0;
		case SF_ZONE_BYTES:
			return DatumGetInt32(DirectFunctionCall2(z->type.compare, bound->datum[a],
													 bound->datum[b])) < 0;
		default:
			return bound->u.i64[a] < bound->u.i64[b];
	}
}

static bool
is_cut(const SfZones *z, uint32 i)
{
	return z->flags && (z->flags[i] & SF_ZONE_CUT);
}

/*
 * Is maximum a less than b?  One that was cut is above all strings that begin with it, and so
 * above a longer maximum: cut prefixes differ in length where characters do.
 */
static bool
max_less(const SfZones *z, uint32 a, uint32 b)
{
	const StStr *max = z->max.u.str;

	if (is_cut(z, a) && st_string_starts_with(max[b], max[a]))
		return false;
	return (is_cut(z, b) && st_string_starts_with(max[a], max[b])) || bound_less(z, &z->max, a, b);
}

/* Makes a vector's bound that of the whole. */
static void
take_bound(const SfZones *z, SfZoneBound *bound, uint32 from)
{
	Size		size = bound_size(z->kind);

	memcpy((char *) bound->u.i64 + SF_ZONE_WHOLE * size,
		   (char *) bound->u.i64 + from * size, size);
	bound->datum[SF_ZONE_WHOLE] = bound->datum[from];
	bound->made[SF_ZONE_WHOLE] = bound->made[from];
}

bool
sf_zones_sum_up(SfZones *z, const bool *is_empty)
{
	bool		first = true;

	for (uint32 i = 0; i < z->n; i++)
	{
		if (is_empty[i])
			continue;
		if (z->flags && (z->flags[i] & SF_ZONE_UNKNOWN))
		{
			z->flags[SF_ZONE_WHOLE] = SF_ZONE_UNKNOWN;
			return true;
		}
		if (z->kind == SF_ZONE_BYTES &&
			(!make_datum(z, &z->min, i) || !make_datum(z, &z->max, i)))
			return false;
		if (first || bound_less(z, &z->min, i, SF_ZONE_WHOLE))
			take_bound(z, &z->min, i);
		if (first || max_less(z, SF_ZONE_WHOLE, i))
		{
			take_bound(z, &z->max, i);
			if (z->flags)
				z->flags[SF_ZONE_WHOLE] = z->flags[i];
		}
		first = false;
	}
	return true;
}

bool
sf_zones_get(SfZones *z, uint32 i, StZone *zone)
{
	if (z->kind == SF_ZONE_NONE || z->opfamily != z->type.opfamily ||
		(z->flags && (z->flags[i] & SF_ZONE_UNKNOWN)))
		return true;
	if (!make_datum(z, &z->min, i) || !make_datum(z, &z->max, i))
		return false;
	zone->has_minmax = true;
	zone->max_truncated = z->flags != NULL && (z->flags[i] & SF_ZONE_CUT);
	zone->min = z->min.datum[i];
	zone->max = z->max.datum[i];
	return true;
}
