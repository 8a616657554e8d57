/*-------------------------------------------------------------------------
 *
 * rc_zone_read.c
 *	  Zone maps of a column's batches, as they are read.
 *
 * The arrays of bounds are decoded when the first zone of the column is
 * asked for, the Datums made one by one.  A zone whose operator family is
 * not the one of the column's type today is not shown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/float.h"

#include "rc_reader.h"
#include "rc_zone.h"
#include "st_bytes.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_float.h"
#include "st_int.h"

/* One more than the batches: the last element is the whole row group. */
#define NZONES (RC_MAX_BATCHES + 1)
#define GROUP_ZONE RC_MAX_BATCHES

typedef struct ZoneBound
{
	union
	{
		int64	   *i64;
		double	   *f64;
		float	   *f32;
		StStr	   *str;
	}			u;
	Datum	   *datum;			/* made at first use */
	bool	   *made;
} ZoneBound;

typedef struct RcZoneArrays
{
	RcZoneKind	kind;
	Oid			opfamily;
	int64	   *nnulls;
	ZoneBound	min;
	ZoneBound	max;
	int64	   *flags;			/* strings, bytes */
} RcZoneArrays;

static Size
bound_size(RcZoneKind kind)
{
	switch (kind)
	{
		case RC_ZONE_FLOAT4:
			return sizeof(float);
		case RC_ZONE_STRING:
		case RC_ZONE_BYTES:
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
	if (st_str_decoded_size(raw, p, len, r->nbatches, 0, 1, &need) != ST_OK)
		rc_corrupt(r, "zones of a column");
	arena = MemoryContextAlloc(r->mcxt, Max(1, need));
	if (st_str_decode(raw, p, len, r->nbatches, 0, 1, arena, need, off, lens) != ST_OK)
		rc_corrupt(r, "zones of a column");
	for (uint32 i = 0; i < r->nbatches; i++)
		dst[i] = (StStr) {arena + off[i], lens[i]};
	pfree(raw);
}

static const uint8 *
take_bytes(StReader *r, StByteReader *b, Size *len)
{
	const uint8 *p;

	*len = st_read_varint(b);
	p = st_read_span(b, *len);
	if (p == NULL)
		rc_corrupt(r, "zones of a column");
	return p;
}

static int64 *
read_ints(StReader *r, StByteReader *b)
{
	int64	   *v = MemoryContextAllocZero(r->mcxt, NZONES * sizeof(int64));
	Size		len;
	const uint8 *p = take_bytes(r, b, &len);

	if (st_int_decode(p, len, r->nbatches, (int64_t *) v) != ST_OK)
		rc_corrupt(r, "zones of a column");
	return v;
}

static void
read_bound(StReader *r, RcZoneKind kind, StByteReader *b, ZoneBound *bound)
{
	StStatus	status = ST_OK;
	const uint8 *p;
	Size		len;

	bound->datum = MemoryContextAllocZero(r->mcxt, NZONES * sizeof(Datum));
	bound->made = MemoryContextAllocZero(r->mcxt, NZONES * sizeof(bool));
	if (kind == RC_ZONE_INT)
	{
		bound->u.i64 = read_ints(r, b);
		return;
	}
	p = take_bytes(r, b, &len);
	bound->u.i64 = MemoryContextAllocZero(r->mcxt, NZONES * bound_size(kind));
	if (kind == RC_ZONE_FLOAT8)
		status = st_f64_decode(p, len, r->nbatches, bound->u.f64);
	else if (kind == RC_ZONE_FLOAT4)
		status = st_f32_decode(p, len, r->nbatches, bound->u.f32);
	else
		read_strings(r, p, len, bound->u.str);
	if (status != ST_OK)
		rc_corrupt(r, "zones of a column");
}

static bool
is_reference(const RcZoneArrays *z)
{
	return z->kind == RC_ZONE_STRING || z->kind == RC_ZONE_BYTES;
}

/* A Datum of a bound's bytes, in the reader's memory. */
static Datum
string_datum(StReader *r, const RcChunk *chunk, const StStr *s)
{
	bool		fixed = chunk->type.kind == RC_KIND_FIXED;
	char	   *p = MemoryContextAlloc(r->mcxt, VARHDRSZ + s->len);

	/* bounds of fixed length are never cut */
	if (fixed && s->len != chunk->type.typlen)
		rc_corrupt(r, "zones of a column");
	if (!fixed)
		SET_VARSIZE(p, VARHDRSZ + s->len);
	memcpy(p + (fixed ? 0 : VARHDRSZ), s->data, s->len);
	return PointerGetDatum(p);
}

static Datum
bound_datum(StReader *r, const RcChunk *chunk, RcZoneKind kind, ZoneBound *bound, uint32 i)
{
	if (bound->made[i])
		return bound->datum[i];
	switch (kind)
	{
		case RC_ZONE_INT:
			bound->datum[i] = rc_int_datum(chunk->type.typlen, bound->u.i64[i]);
			break;
		case RC_ZONE_FLOAT8:
			bound->datum[i] = Float8GetDatum(bound->u.f64[i]);
			break;
		case RC_ZONE_FLOAT4:
			bound->datum[i] = Float4GetDatum(bound->u.f32[i]);
			break;
		default:
			bound->datum[i] = string_datum(r, chunk, &bound->u.str[i]);
			break;
	}
	bound->made[i] = true;
	return bound->datum[i];
}

/* ---- the whole row group ---- */

/* Is bound a less than b? */
static bool
bound_less(StReader *r, const RcChunk *chunk, RcZoneKind kind, ZoneBound *bound,
		   uint32 a, uint32 b)
{
	switch (kind)
	{
		case RC_ZONE_INT:
			return bound->u.i64[a] < bound->u.i64[b];
		case RC_ZONE_FLOAT8:
			return float8_lt(bound->u.f64[a], bound->u.f64[b]);
		case RC_ZONE_FLOAT4:
			return float4_lt(bound->u.f32[a], bound->u.f32[b]);
		case RC_ZONE_STRING:
			return st_str_compare(&bound->u.str[a], &bound->u.str[b]) < 0;
		default:
			return DatumGetInt32(DirectFunctionCall2(chunk->type.compare,
													 bound_datum(r, chunk, kind, bound, a),
													 bound_datum(r, chunk, kind, bound, b))) < 0;
	}
}

static void
copy_bound(RcZoneKind kind, ZoneBound *bound, uint32 from)
{
	Size		size = bound_size(kind);

	memcpy((char *) bound->u.i64 + GROUP_ZONE * size,
		   (char *) bound->u.i64 + from * size, size);
	bound->made[GROUP_ZONE] = false;
}

/* Bounds of the whole group, behind those of the batches. */
static void
sum_up(StReader *r, const RcChunk *chunk, RcZoneArrays *z)
{
	bool		first = true;

	for (uint32 i = 0; i < r->nbatches; i++)
	{
		if (z->nnulls[i] == r->batch_first[i + 1] - r->batch_first[i])
			continue;
		if (z->flags && (z->flags[i] & RC_ZONE_UNKNOWN))
		{
			z->flags[GROUP_ZONE] = RC_ZONE_UNKNOWN;
			return;
		}
		if (first || bound_less(r, chunk, z->kind, &z->min, i, GROUP_ZONE))
			copy_bound(z->kind, &z->min, i);
		if (first || bound_less(r, chunk, z->kind, &z->max, GROUP_ZONE, i))
		{
			copy_bound(z->kind, &z->max, i);
			if (z->flags)
				z->flags[GROUP_ZONE] = z->flags[i];
		}
		/* equal prefixes, of which one was cut: the cut one is wider */
		else if (z->flags && (z->flags[i] & RC_ZONE_CUT) &&
				 !bound_less(r, chunk, z->kind, &z->max, i, GROUP_ZONE))
			z->flags[GROUP_ZONE] |= RC_ZONE_CUT;
		first = false;
	}
}

/* The form that zones of the column have, if they have one. */
static bool
kind_fits(const RcChunk *chunk, RcZoneKind kind)
{
	switch (kind)
	{
		case RC_ZONE_INT:
			return chunk->type.kind == RC_KIND_INT;
		case RC_ZONE_FLOAT8:
			return chunk->type.kind == RC_KIND_FLOAT8;
		case RC_ZONE_FLOAT4:
			return chunk->type.kind == RC_KIND_FLOAT4;
		case RC_ZONE_STRING:
		case RC_ZONE_BYTES:
			return chunk->type.kind >= RC_KIND_NUMERIC;
		default:
			return true;
	}
}

static RcZoneArrays *
zone_arrays(StReader *r, RcChunk *chunk)
{
	const RcFooterColumn *e = chunk->entry;
	RcZoneArrays *z = chunk->zones;
	uint8	   *bytes;
	StByteReader b;

	if (z != NULL)
		return z;
	if (e->zones_len == 0)
		rc_corrupt(r, "zones of a column");
	z = MemoryContextAllocZero(r->mcxt, sizeof(RcZoneArrays));
	bytes = palloc(e->zones_len);
	rc_read(r, e->meta_off, e->zones_len, bytes);
	st_reader_init(&b, bytes, e->zones_len);
	z->kind = st_read_u8(&b);
	if (z->kind > RC_ZONE_BYTES || !kind_fits(chunk, z->kind))
		rc_corrupt(r, "zones of a column");
	z->nnulls = read_ints(r, &b);
	for (uint32 i = 0; i < r->nbatches; i++)
		if (z->nnulls[i] < 0 || z->nnulls[i] > r->batch_first[i + 1] - r->batch_first[i])
			rc_corrupt(r, "null counts of a column");
	if (z->kind != RC_ZONE_NONE)
	{
		z->opfamily = (Oid) st_read_varint(&b);
		read_bound(r, z->kind, &b, &z->min);
		read_bound(r, z->kind, &b, &z->max);
		if (is_reference(z))
			z->flags = read_ints(r, &b);
	}
	if (st_reader_finish(&b) != ST_OK)
		rc_corrupt(r, "zones of a column");
	/* of another type: nothing here knows how to compare the bounds */
	if (z->opfamily != chunk->type.opfamily ||
		(z->kind == RC_ZONE_BYTES && chunk->type.compare == NULL) ||
		(z->kind == RC_ZONE_STRING && !chunk->type.byte_order))
		z->kind = RC_ZONE_NONE;
	if (z->kind != RC_ZONE_NONE)
		sum_up(r, chunk, z);
	pfree(bytes);
	chunk->zones = z;
	return z;
}

bool
rc_reader_zone(StReader *r, AttrNumber attno, int64 batchno, StZone *zone)
{
	RcChunk    *chunk;
	RcZoneArrays *z;
	uint32		i = batchno < 0 ? GROUP_ZONE : (uint32) batchno;

	memset(zone, 0, sizeof(*zone));
	zone->nrows = batchno < 0 ? r->nrows : r->batch_first[i + 1] - r->batch_first[i];
	if (rc_column_is_missing(r, attno))
	{
		/* nulls, unless the column was added later with a default */
		zone->nnulls = zone->nrows;
		return attno <= r->natts;
	}
	chunk = rc_chunk_open(r, attno);
	z = zone_arrays(r, chunk);
	zone->nnulls = batchno < 0 ? chunk->entry->nnulls : (uint32) z->nnulls[i];
	zone->opfamily = z->opfamily;
	zone->byte_order = z->kind == RC_ZONE_STRING && chunk->type.kind != RC_KIND_FIXED;
	if (zone->nnulls == zone->nrows || z->kind == RC_ZONE_NONE ||
		(z->flags && (z->flags[i] & RC_ZONE_UNKNOWN)))
		return true;
	zone->has_minmax = true;
	zone->max_truncated = z->flags != NULL && (z->flags[i] & RC_ZONE_CUT);
	zone->min = bound_datum(r, chunk, z->kind, &z->min, i);
	zone->max = bound_datum(r, chunk, z->kind, &z->max, i);
	return true;
}
