/*-------------------------------------------------------------------------
 *
 * rc_zone_read.c
 *	  Zone maps of a column's batches, as they are read.
 *
 * A zone whose operator family is not the one of the column's type today is
 * not shown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rc_reader.h"
#include "sf_key.h"
#include "sf_zone.h"
#include "st_compat.h"

const SfZoneKind rc_zone_kinds[] = {
	[RC_ZONE_NONE] = SF_ZONE_NONE,
	[RC_ZONE_INT] = SF_ZONE_INT64,
	[RC_ZONE_FLOAT8] = SF_ZONE_FLOAT8,
	[RC_ZONE_FLOAT4] = SF_ZONE_FLOAT4,
	[RC_ZONE_STRING] = SF_ZONE_STRING,
	[RC_ZONE_BYTES] = SF_ZONE_BYTES
};

struct RcZones
{
	int64	   *nnulls;
	SfZones		z;
};

/* The form that zones of the column have, if they have one. */
static bool
kind_fits(const RcChunk *chunk, RcZoneKind kind)
{
	switch (kind)
	{
		case RC_ZONE_INT:
			return chunk->type.kind == SF_KIND_INT;
		case RC_ZONE_FLOAT8:
			return chunk->type.kind == SF_KIND_FLOAT8;
		case RC_ZONE_FLOAT4:
			return chunk->type.kind == SF_KIND_FLOAT4;
		case RC_ZONE_STRING:
		case RC_ZONE_BYTES:
			return chunk->type.kind >= SF_KIND_NUMERIC;
		default:
			return true;
	}
}

/* Null counts of all batches, and which of them are null as a whole. */
static void
read_null_counts(StReader *r, struct RcZones *zones, StByteReader *b, bool *is_empty)
{
	zones->nnulls = sf_zone_ints(b, r->nbatches, r->mcxt);
	if (zones->nnulls == NULL)
		rc_corrupt(r, "zones of a column");
	for (uint32 i = 0; i < r->nbatches; i++)
	{
		int64		nrows = r->batch_first[i + 1] - r->batch_first[i];

		if (zones->nnulls[i] < 0 || zones->nnulls[i] > nrows)
			rc_corrupt(r, "null counts of a column");
		is_empty[i] = zones->nnulls[i] == nrows;
	}
}

static struct RcZones *
column_zones(StReader *r, RcChunk *chunk)
{
	const RcFooterColumn *e = chunk->entry;
	struct RcZones *zones = chunk->zones;
	bool		is_empty[RC_MAX_BATCHES];
	SfZones    *z;
	uint8	   *bytes;
	StByteReader b;
	uint8		kind;

	if (zones != NULL)
		return zones;
	if (e->zones_len == 0)
		rc_corrupt(r, "zones of a column");
	zones = MemoryContextAllocZero(r->mcxt, sizeof(struct RcZones));
	bytes = palloc(e->zones_len);
	rc_read(r, e->meta_off, e->zones_len, bytes);
	st_reader_init(&b, bytes, e->zones_len);
	kind = st_read_u8(&b);
	if (kind > RC_MAX_ZONE_KIND || !kind_fits(chunk, kind))
		rc_corrupt(r, "zones of a column");
	read_null_counts(r, zones, &b, is_empty);
	z = &zones->z;
	z->kind = rc_zone_kinds[kind];
	z->type = chunk->type;
	z->n = r->nbatches;
	z->mcxt = r->mcxt;
	if (!sf_zones_read(z, &b))
		rc_corrupt(r, "zones of a column");
	/* of another type: nothing here knows how to compare the bounds */
	if (z->opfamily != chunk->type.opfamily ||
		(z->kind == SF_ZONE_BYTES && chunk->type.compare == NULL) ||
		(z->kind == SF_ZONE_STRING && !chunk->type.byte_order))
		z->kind = SF_ZONE_NONE;
	if (z->kind != SF_ZONE_NONE && !sf_zones_sum_up(z, is_empty))
		rc_corrupt(r, "zones of a column");
	pfree(bytes);
	chunk->zones = zones;
	return zones;
}

bool
rc_reader_zone(StReader *r, AttrNumber attno, int64 batchno, StZone *zone)
{
	RcChunk    *chunk;
	struct RcZones *zones;

	memset(zone, 0, sizeof(*zone));
	zone->nrows = batchno < 0 ? r->nrows :
		r->batch_first[batchno + 1] - r->batch_first[batchno];
	if (rc_column_is_missing(r, attno))
	{
		/* nulls, unless the column was added later with a default */
		zone->nnulls = zone->nrows;
		return attno <= r->natts;
	}
	chunk = rc_chunk_open(r, attno);
	zones = column_zones(r, chunk);
	zone->nnulls = batchno < 0 ? chunk->entry->nnulls : (uint32) zones->nnulls[batchno];
	zone->opfamily = zones->z.opfamily;
	zone->byte_order = zones->z.kind == SF_ZONE_STRING && chunk->type.kind != SF_KIND_FIXED;
	if (zone->nnulls < zone->nrows &&
		!sf_zones_get(&zones->z, batchno < 0 ? SF_ZONE_WHOLE : (uint32) batchno, zone))
		rc_corrupt(r, "zones of a column");
	return true;
}

bool
rc_reader_key_zone(StReader *r, const StOrderExpr *key, int64 batchno, StZone *zone)
{
	return sf_key_zone(r, &r->keys, r->rel, &r->group, r->mcxt, key, batchno, zone);
}
