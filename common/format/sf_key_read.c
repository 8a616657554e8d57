/*-------------------------------------------------------------------------
 *
 * sf_key_read.c
 *	  Zones of expressions that rows are sorted by, as they are read.
 *
 * The section is read when the first zone is asked for, a key's zones are
 * decoded when it is asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "sf_bytes.h"
#include "sf_key.h"
#include "sf_zone.h"
#include "st_checksum.h"
#include "st_compat.h"
#include "st_file.h"
#include "vx_format.h"

typedef struct ReadKey
{
	uint64		id;
	const uint8 *bytes;			/* behind the id */
	Size		len;
	bool		decoded;
	uint32		all_nulls;
	int64	   *nnulls;
	SfZones		z;
} ReadKey;

struct SfKeyZones
{
	Relation	rel;			/* of the call at hand */
	const StGroup *group;
	MemoryContext mcxt;
	int			n;
	ReadKey    *keys;
};

pg_noreturn static void
corrupt(const SfKeyZones *zones)
{
	sf_corrupt(zones->rel, zones->group, "zones of an expression");
}

/* Where each key is. */
static void
find_keys(SfKeyZones *zones, const uint8 *bytes, Size len)
{
	StByteReader b;

	zones->keys = MemoryContextAllocZero(zones->mcxt, INDEX_MAX_KEYS * sizeof(ReadKey));
	st_reader_init(&b, bytes, len);
	while (b.p < b.end)
	{
		uint64		key_len = st_read_varint(&b);
		const uint8 *p = st_read_span(&b, key_len);
		ReadKey    *key;

		if (p == NULL || key_len < sizeof(uint64) || zones->n == INDEX_MAX_KEYS)
			corrupt(zones);
		key = &zones->keys[zones->n++];
		memcpy(&key->id, p, sizeof(uint64));
		key->bytes = p + sizeof(uint64);
		key->len = key_len - sizeof(uint64);
	}
	if (st_reader_finish(&b) != ST_OK)
		corrupt(zones);
}

static void
read_section(SfKeyZones *zones)
{
	const StGroup *group = zones->group;
	uint64		off = group->footer_off + group->footer_len;
	SfKeysHeader header;
	uint8	   *bytes;

	if (group->image_len - off < sizeof(header))
		return;
	st_read_image(zones->rel, group, off, sizeof(header), &header);
	if (header.magic != SF_KEYS_MAGIC)
		return;
	off += sizeof(header);
	if (header.len > group->image_len - off || header.len > MaxAllocSize)
		corrupt(zones);
	bytes = MemoryContextAlloc(zones->mcxt, Max(1, header.len));
	st_read_image(zones->rel, group, off, header.len, bytes);
	if (st_checksum64(bytes, header.len, SF_KEYS_MAGIC) != header.checksum)
		corrupt(zones);
	find_keys(zones, bytes, header.len);
}

/* The form in memory; false if the expression's type cannot have it. */
static bool
zone_kind(uint8 kind, const SfColumnType *type, SfZoneKind *result)
{
	switch (kind)
	{
		case SF_KEY_ZONE_NONE:
			*result = SF_ZONE_NONE;
			return true;
		case SF_KEY_ZONE_INT:
			*result = SF_ZONE_INT64;
			return type->kind == SF_KIND_INT;
		case SF_KEY_ZONE_FLOAT8:
			*result = SF_ZONE_FLOAT8;
			return type->kind == SF_KIND_FLOAT8;
		case SF_KEY_ZONE_FLOAT4:
			*result = SF_ZONE_FLOAT4;
			return type->kind == SF_KIND_FLOAT4;
		case SF_KEY_ZONE_STRING:
			*result = SF_ZONE_STRING;
			return type->kind >= SF_KIND_NUMERIC && type->byte_order;
		case SF_KEY_ZONE_BYTES:
			*result = SF_ZONE_BYTES;
			return type->kind >= SF_KIND_NUMERIC && type->compare != NULL;
		default:
			return false;
	}
}

static void
decode_key(SfKeyZones *zones, ReadKey *key, StReader *r, const SfColumnType *type)
{
	uint32		n = vx_format->vectors(r);
	SfZones    *z = &key->z;
	bool		is_empty[ST_VECTOR_SIZE];
	StByteReader b;

	st_reader_init(&b, key->bytes, key->len);
	key->all_nulls = 0;
	key->nnulls = sf_zone_ints(&b, n, zones->mcxt);
	for (uint32 v = 0; key->nnulls != NULL && v < n; v++)
	{
		if (key->nnulls[v] < 0 || key->nnulls[v] > vx_vector_rows(r, v))
			corrupt(zones);
		is_empty[v] = key->nnulls[v] == vx_vector_rows(r, v);
		key->all_nulls += key->nnulls[v];
	}
	z->type = *type;
	z->n = n;
	z->mcxt = zones->mcxt;
	if (key->nnulls == NULL || !zone_kind(st_read_u8(&b), type, &z->kind) ||
		!sf_zones_read(z, &b))
		corrupt(zones);
	/* of another order: nothing here knows how to compare the bounds */
	if (z->kind != SF_ZONE_NONE && z->opfamily != type->opfamily)
		z->kind = SF_ZONE_NONE;
	if (z->kind != SF_ZONE_NONE && !sf_zones_sum_up(z, is_empty))
		corrupt(zones);
	key->decoded = true;
}

bool
sf_key_zone(StReader *r, SfKeyZones **state, Relation rel, const StGroup *group,
			MemoryContext mcxt, const StOrderExpr *expr, int64 vecno, StZone *zone)
{
	SfKeyZones *zones = *state;
	ReadKey    *key = NULL;
	uint32		i = vecno < 0 ? SF_ZONE_WHOLE : (uint32) vecno;

	if (zones == NULL)
	{
		zones = MemoryContextAllocZero(mcxt, sizeof(SfKeyZones));
		zones->rel = rel;
		zones->group = group;
		zones->mcxt = mcxt;
		read_section(zones);
		*state = zones;
	}
	zones->rel = rel;
	for (int k = 0; k < zones->n && key == NULL; k++)
	{
		if (zones->keys[k].id == expr->id)
			key = &zones->keys[k];
	}
	if (key == NULL)
		return false;
	if (!key->decoded)
	{
		SfColumnType type;

		sf_expression_type(exprType((Node *) expr->expr), &type);
		decode_key(zones, key, r, &type);
	}

	memset(zone, 0, sizeof(*zone));
	zone->nrows = vecno < 0 ? group->nrows : vx_vector_rows(r, vecno);
	zone->nnulls = vecno < 0 ? key->all_nulls : (uint32) key->nnulls[vecno];
	zone->opfamily = key->z.opfamily;
	zone->byte_order = key->z.kind == SF_ZONE_STRING && key->z.type.kind != SF_KIND_FIXED;
	if (zone->nnulls < zone->nrows && !sf_zones_get(&key->z, i, zone))
		corrupt(zones);
	return true;
}
