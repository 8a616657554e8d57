/*-------------------------------------------------------------------------
 *
 * cc_zone_read.c
 *	  Zone maps of a column chunk, as they are read.
 *
 * The arrays of minima and maxima are decoded when the first zone of the
 * column is asked for, the Datums made one by one.  A zone whose operator
 * family is not the one of the column's type today is not shown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/float.h"

#include "cc_reader.h"
#include "st_bytes.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_float.h"
#include "st_int.h"
#include "st_numeric.h"

/* One more than the vectors: the last element is the whole chunk. */
#define NZONES (CC_MAX_VECTORS + 1)

typedef struct ZoneBound
{
	union
	{
		int64	   *i64;
		int128	   *i128;
		double	   *f64;
		float	   *f32;
		StStr	   *str;
	}			u;
	Datum	   *datum;			/* made at first use */
	bool	   *made;
} ZoneBound;

typedef struct CcZoneArrays
{
	CcZoneKind	kind;
	Oid			opfamily;
	ZoneBound	min;
	ZoneBound	max;
	int64	   *truncated;		/* strings */
} CcZoneArrays;

static Size
bound_size(CcZoneKind kind)
{
	switch (kind)
	{
		case CC_ZONE_INT128:
			return sizeof(int128);
		case CC_ZONE_FLOAT4:
			return sizeof(float);
		case CC_ZONE_STRING:
			return sizeof(StStr);
		default:
			return sizeof(int64);
	}
}

static void
read_strings(StReader *r, const uint8 *p, Size len, StStr *dst)
{
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	uint32		off[ST_VECTOR_SIZE];
	uint32		lens[ST_VECTOR_SIZE];
	size_t		need;
	uint8	   *arena;

	st_str_scheme_raw(raw);
	if (st_str_decoded_size(raw, p, len, r->nvectors, 0, 1, &need) != ST_OK)
		cc_corrupt(r, "zones of a column");
	arena = MemoryContextAlloc(r->mcxt, Max(1, need));
	if (st_str_decode(raw, p, len, r->nvectors, 0, 1, arena, need, off, lens) != ST_OK)
		cc_corrupt(r, "zones of a column");
	for (uint32 i = 0; i < r->nvectors; i++)
		dst[i] = (StStr) {arena + off[i], lens[i]};
	pfree(raw);
}

static void
read_bound(StReader *r, CcZoneKind kind, StByteReader *b, ZoneBound *bound)
{
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);
	int			n = r->nvectors;
	StStatus	status = ST_OK;

	if (p == NULL)
		cc_corrupt(r, "zones of a column");
	bound->u.i64 = MemoryContextAllocZero(r->mcxt, NZONES * bound_size(kind));
	bound->datum = MemoryContextAllocZero(r->mcxt, NZONES * sizeof(Datum));
	bound->made = MemoryContextAllocZero(r->mcxt, NZONES * sizeof(bool));
	switch (kind)
	{
		case CC_ZONE_INT64:
			status = st_int_decode(p, len, n, (int64_t *) bound->u.i64);
			break;
		case CC_ZONE_INT128:
			status = st_int128_decode(p, len, n, (StInt128 *) bound->u.i128);
			break;
		case CC_ZONE_FLOAT8:
			status = st_f64_decode(p, len, n, bound->u.f64);
			break;
		case CC_ZONE_FLOAT4:
			status = st_f32_decode(p, len, n, bound->u.f32);
			break;
		case CC_ZONE_STRING:
			read_strings(r, p, len, bound->u.str);
			break;
		case CC_ZONE_NONE:
			break;
	}
	if (status != ST_OK)
		cc_corrupt(r, "zones of a column");
}

/* Is bound value a of kind less than b? */
static bool
bound_less(CcZoneKind kind, const ZoneBound *bound, uint32 a, uint32 b)
{
	switch (kind)
	{
		case CC_ZONE_INT128:
			return bound->u.i128[a] < bound->u.i128[b];
		case CC_ZONE_FLOAT8:
			return float8_lt(bound->u.f64[a], bound->u.f64[b]);
		case CC_ZONE_FLOAT4:
			return float4_lt(bound->u.f32[a], bound->u.f32[b]);
		case CC_ZONE_STRING:
			return st_str_compare(&bound->u.str[a], &bound->u.str[b]) < 0;
		default:
			return bound->u.i64[a] < bound->u.i64[b];
	}
}

static void
copy_bound(CcZoneKind kind, ZoneBound *bound, uint32 to, uint32 from)
{
	Size		size = bound_size(kind);

	memcpy((char *) bound->u.i64 + to * size,
		   (char *) bound->u.i64 + from * size, size);
}

/* Bounds of the whole chunk, behind those of the vectors. */
static void
sum_up(StReader *r, const CcChunk *chunk, CcZoneArrays *z)
{
	bool		first = true;

	for (uint32 i = 0; i < r->nvectors; i++)
	{
		if (chunk->vectors[i].nnulls == cc_reader_vector_rows(r, i))
			continue;
		if (first || bound_less(z->kind, &z->min, i, CC_MAX_VECTORS))
			copy_bound(z->kind, &z->min, CC_MAX_VECTORS, i);
		if (first || bound_less(z->kind, &z->max, CC_MAX_VECTORS, i))
		{
			copy_bound(z->kind, &z->max, CC_MAX_VECTORS, i);
			if (z->truncated)
				z->truncated[CC_MAX_VECTORS] = z->truncated[i];
		}
		/* equal prefixes, of which one was cut: the cut one is wider */
		else if (z->truncated && z->truncated[i] &&
				 !bound_less(z->kind, &z->max, i, CC_MAX_VECTORS))
			z->truncated[CC_MAX_VECTORS] = true;
		first = false;
	}
}

static CcZoneArrays *
zone_arrays(StReader *r, CcChunk *chunk)
{
	CcZoneArrays *z = chunk->zone_arrays;
	StByteReader b;

	if (z != NULL)
		return z;
	z = MemoryContextAllocZero(r->mcxt, sizeof(CcZoneArrays));
	st_reader_init(&b, chunk->zones, chunk->zones_len);
	z->kind = st_read_u8(&b);
	if (z->kind > CC_ZONE_STRING)
		cc_corrupt(r, "zones of a column");
	if (z->kind != CC_ZONE_NONE)
	{
		z->opfamily = (Oid) st_read_varint(&b);
		read_bound(r, z->kind, &b, &z->min);
		read_bound(r, z->kind, &b, &z->max);
		if (z->kind == CC_ZONE_STRING)
		{
			uint64		len = st_read_varint(&b);
			const uint8 *p = st_read_span(&b, len);

			z->truncated = MemoryContextAllocZero(r->mcxt, NZONES * sizeof(int64));
			if (p == NULL || st_int_decode(p, len, r->nvectors,
										   (int64_t *) z->truncated) != ST_OK)
				cc_corrupt(r, "zones of a column");
		}
		if (st_reader_finish(&b) != ST_OK)
			cc_corrupt(r, "zones of a column");
		sum_up(r, chunk, z);
	}
	chunk->zone_arrays = z;
	return z;
}

static Datum
string_datum(StReader *r, const CcChunk *chunk, const StStr *s)
{
	/* a uuid is never cut: its zone is the value */
	bool		fixed = chunk->type.kind == CC_KIND_FIXED;
	char	   *p = MemoryContextAlloc(r->mcxt, VARHDRSZ + s->len);

	if (fixed && s->len != chunk->type.typlen)
		cc_corrupt(r, "zones of a column");
	memcpy(p + (fixed ? 0 : VARHDRSZ), s->data, s->len);
	if (!fixed)
		SET_VARSIZE(p, VARHDRSZ + s->len);
	return PointerGetDatum(p);
}

static Datum
bound_datum(StReader *r, const CcChunk *chunk, CcZoneKind kind, ZoneBound *bound, uint32 i)
{
	char	   *buf;

	if (bound->made[i])
		return bound->datum[i];
	switch (kind)
	{
		case CC_ZONE_INT64:
			if (chunk->type.kind == CC_KIND_INT)
			{
				bound->datum[i] = cc_int_datum(chunk->type.typlen, bound->u.i64[i]);
				break;
			}
			buf = MemoryContextAlloc(r->mcxt, ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int64(buf, bound->u.i64[i], chunk->scale);
			bound->datum[i] = PointerGetDatum(buf);
			break;
		case CC_ZONE_INT128:
			buf = MemoryContextAlloc(r->mcxt, ST_NUMERIC_MAX_BYTES);
			st_numeric_write_int128(buf, bound->u.i128[i], chunk->scale);
			bound->datum[i] = PointerGetDatum(buf);
			break;
		case CC_ZONE_FLOAT8:
			bound->datum[i] = Float8GetDatum(bound->u.f64[i]);
			break;
		case CC_ZONE_FLOAT4:
			bound->datum[i] = Float4GetDatum(bound->u.f32[i]);
			break;
		default:
			bound->datum[i] = string_datum(r, chunk, &bound->u.str[i]);
			break;
	}
	bound->made[i] = true;
	return bound->datum[i];
}

bool
cc_reader_zone(StReader *r, AttrNumber attno, int64 vecno, CcZone *zone)
{
	CcChunk    *chunk;
	CcZoneArrays *z;
	uint32		i = vecno < 0 ? CC_MAX_VECTORS : (uint32) vecno;

	memset(zone, 0, sizeof(*zone));
	zone->nrows = vecno < 0 ? r->nrows : cc_reader_vector_rows(r, vecno);
	if (cc_column_is_missing(r, attno))
	{
		/* nulls, unless the column was added later with a default */
		zone->nnulls = zone->nrows;
		return attno <= r->natts;
	}
	chunk = cc_chunk_open(r, attno);
	zone->nnulls = vecno < 0 ? chunk->entry->nnulls : chunk->vectors[vecno].nnulls;
	if (zone->nnulls == zone->nrows)
		return true;
	z = zone_arrays(r, chunk);
	zone->opfamily = z->opfamily;
	zone->byte_order = chunk->type.byte_order && chunk->type.kind != CC_KIND_FIXED;
	if (z->kind == CC_ZONE_NONE || z->opfamily != chunk->type.opfamily)
		return true;
	zone->has_minmax = true;
	zone->max_truncated = z->truncated != NULL && z->truncated[i] != 0;
	zone->min = bound_datum(r, chunk, z->kind, &z->min, i);
	zone->max = bound_datum(r, chunk, z->kind, &z->max, i);
	return true;
}
