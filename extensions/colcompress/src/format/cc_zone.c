/*-------------------------------------------------------------------------
 *
 * cc_zone.c
 *	  Zone maps of a column chunk, as they are written: | kind u8 | what
 *	  sf_zone_write.c tells |.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_column.h"
#include "sf_zone.h"
#include "st_compat.h"

void
cc_zone_write(const CcColumn *col, StringInfo meta)
{
	static const struct
	{
		SfZoneKind	kind;
		CcZoneKind	on_disk;
	}			kinds[] = {
		[SF_STORE_NONE] = {SF_ZONE_NONE, CC_ZONE_NONE},
		[SF_STORE_INT64] = {SF_ZONE_INT64, CC_ZONE_INT64},
		[SF_STORE_INT128] = {SF_ZONE_INT128, CC_ZONE_INT128},
		[SF_STORE_FLOAT8] = {SF_ZONE_FLOAT8, CC_ZONE_FLOAT8},
		[SF_STORE_FLOAT4] = {SF_ZONE_FLOAT4, CC_ZONE_FLOAT4},
		[SF_STORE_BYTES] = {SF_ZONE_STRING, CC_ZONE_STRING}
	};
	uint32		first[CC_MAX_VECTORS + 1];
	SfZoneInput z = {
		.kind = kinds[col->storage].kind,
		.type = &col->type,
		.valid = col->nnulls > 0 ? col->valid : NULL,
		.values = col->storage == SF_STORE_BYTES ? (void *) col->strings : col->u.i64,
		.codes = col->codes,
		.entries = col->entries,
		.nentries = col->nentries,
		.max_len = PG_UINT32_MAX,
		.n = (col->nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE,
		.first = first
	};

	for (uint32 i = 0; i <= z.n; i++)
		first[i] = Min(i * ST_VECTOR_SIZE, col->nrows);
	if (!OidIsValid(col->type.opfamily) ||
		(z.kind == SF_ZONE_STRING && !col->type.byte_order))
		z.kind = SF_ZONE_NONE;
	appendStringInfoChar(meta, z.kind == SF_ZONE_NONE ? CC_ZONE_NONE :
						 (char) kinds[col->storage].on_disk);
	sf_zones_write(&z, meta);
}
