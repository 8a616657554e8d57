/*-------------------------------------------------------------------------
 *
 * rc_zone.c
 *	  Zone maps of a column's batches, as they are written: | kind u8 | null
 *	  counts | what sf_zone_write.c tells |.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rc_column.h"
#include "sf_bytes.h"
#include "sf_zone.h"
#include "st_compat.h"

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
		case SF_STORE_INT64:
			return RC_ZONE_INT;
		case SF_STORE_FLOAT8:
			return RC_ZONE_FLOAT8;
		case SF_STORE_FLOAT4:
			return RC_ZONE_FLOAT4;
		case SF_STORE_BYTES:
			return col->type.byte_order ? RC_ZONE_STRING : RC_ZONE_BYTES;
		default:
			return RC_ZONE_NONE;
	}
}

void
rc_zone_write(const RcColumn *col, const RcScheme *scheme, const RcBatches *batches,
			  StringInfo meta)
{
	RcZoneKind	kind = zone_kind(col);
	SfZoneInput z = {
		.kind = rc_zone_kinds[kind],
		.type = &col->type,
		.valid = col->nnulls > 0 ? col->valid : NULL,
		.values = col->u.i64,
		.codes = scheme->dictionary ? scheme->codes : NULL,
		.entries = scheme->entries,
		.nentries = scheme->nentries,
		/* large values are not at hand any more */
		.max_len = kind == RC_ZONE_BYTES ? SF_ZONE_MAX_BYTES : RC_LARGE_BYTES - 1,
		.unknown = SF_ZONE_UNKNOWN,
		.n = batches->n,
		.first = batches->first
	};

	appendStringInfoChar(meta, (char) kind);
	write_null_counts(col, batches, meta);
	sf_zones_write(&z, meta);
}
