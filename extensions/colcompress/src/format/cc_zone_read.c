/*-------------------------------------------------------------------------
 *
 * cc_zone_read.c
 *	  Zone maps of a column chunk, as they are read.
 *
 * A zone whose operator family is not the one of the column's type today is
 * not shown.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_reader.h"
#include "sf_key.h"
#include "sf_zone.h"
#include "st_compat.h"

static SfZones *
chunk_zones(StReader *r, CcChunk *chunk)
{
	static const SfZoneKind kinds[] = {
		[CC_ZONE_NONE] = SF_ZONE_NONE,
		[CC_ZONE_INT64] = SF_ZONE_INT64,
		[CC_ZONE_INT128] = SF_ZONE_INT128,
		[CC_ZONE_FLOAT8] = SF_ZONE_FLOAT8,
		[CC_ZONE_FLOAT4] = SF_ZONE_FLOAT4,
		[CC_ZONE_STRING] = SF_ZONE_STRING
	};
	SfZones    *z = chunk->zone_arrays;
	bool		is_empty[CC_MAX_VECTORS];
	StByteReader b;
	uint8		kind;

	if (z != NULL)
		return z;
	z = MemoryContextAllocZero(r->mcxt, sizeof(SfZones));
	st_reader_init(&b, chunk->zones, chunk->zones_len);
	kind = st_read_u8(&b);
	if (kind >= lengthof(kinds))
		cc_corrupt(r, "zones of a column");
	z->kind = kinds[kind];
	z->type = chunk->type;
	z->scale = chunk->scale;
	z->n = chunk->nvectors;
	z->mcxt = r->mcxt;
	for (uint32 i = 0; i < chunk->nvectors; i++)
		is_empty[i] = chunk->vectors[i].nnulls == cc_chunk_vector_rows(chunk, i);
	if (z->kind != SF_ZONE_NONE &&
		(!sf_zones_read(z, &b) || !sf_zones_sum_up(z, is_empty)))
		cc_corrupt(r, "zones of a column");
	chunk->zone_arrays = z;
	return z;
}

bool
cc_reader_zone(StReader *r, AttrNumber attno, int64 vecno, StZone *zone)
{
	CcChunk    *chunk;
	SfZones    *z;

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
	z = chunk_zones(r, chunk);
	zone->opfamily = z->opfamily;
	zone->byte_order = chunk->type.byte_order && chunk->type.kind != SF_KIND_FIXED;
	if (!sf_zones_get(z, vecno < 0 ? SF_ZONE_WHOLE : (uint32) vecno, zone))
		cc_corrupt(r, "zones of a column");
	return true;
}

bool
cc_reader_key_zone(StReader *r, const StOrderExpr *key, int64 vecno, StZone *zone)
{
	return sf_key_zone(r, &r->keys, r->rel, &r->group, r->mcxt, key, vecno, zone);
}
