/*-------------------------------------------------------------------------
 *
 * sf_key_write.c
 *	  Zones of expressions that rows are sorted by, as they are written.
 *
 * Where a format cuts its vectors is known when the row group is full, so the
 * values of all rows are kept until then: of strings no more than what zones
 * can tell apart, and equal ones that follow each other once.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/memutils.h"

#include "sf_bytes.h"
#include "sf_key.h"
#include "sf_zone.h"
#include "st_checksum.h"
#include "st_compat.h"

/* A string's zone has SF_ZONE_PREFIX bytes, and says whether there are more. */
#define KEPT_PREFIX (2 * SF_ZONE_PREFIX)

/* A value passed by reference. */
typedef struct KeptBytes
{
	uint32		off;			/* in the arena */
	uint32		len;			/* in full */
} KeptBytes;

typedef struct KeyColumn
{
	uint64		id;				/* 0: no zones */
	SfColumnType type;
	SfKeyZoneKind kind;
	Size		element;		/* of values */
	void	   *values;
	uint64	   *valid;
	uint32		capacity;
	uint32		nnulls;
	StringInfoData arena;
} KeyColumn;

struct SfKeys
{
	MemoryContext mcxt;
	uint32		nrows;
	int			n;
	KeyColumn	columns[FLEXIBLE_ARRAY_MEMBER];
};

static const SfZoneKind zone_kinds[] = {
	[SF_KEY_ZONE_NONE] = SF_ZONE_NONE,
	[SF_KEY_ZONE_INT] = SF_ZONE_INT64,
	[SF_KEY_ZONE_FLOAT8] = SF_ZONE_FLOAT8,
	[SF_KEY_ZONE_FLOAT4] = SF_ZONE_FLOAT4,
	[SF_KEY_ZONE_STRING] = SF_ZONE_STRING,
	[SF_KEY_ZONE_BYTES] = SF_ZONE_BYTES
};

static SfKeyZoneKind
kind_of(const SfColumnType *type)
{
	if (!OidIsValid(type->opfamily))
		return SF_KEY_ZONE_NONE;
	switch (type->kind)
	{
		case SF_KIND_INT:
			return SF_KEY_ZONE_INT;
		case SF_KIND_FLOAT8:
			return SF_KEY_ZONE_FLOAT8;
		case SF_KIND_FLOAT4:
			return SF_KEY_ZONE_FLOAT4;
		default:
			return type->byte_order ? SF_KEY_ZONE_STRING : SF_KEY_ZONE_BYTES;
	}
}

SfKeys *
sf_keys_create(const StKeys *keys, MemoryContext mcxt)
{
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	SfKeys	   *result = palloc0(offsetof(SfKeys, columns) + keys->n * sizeof(KeyColumn));

	result->mcxt = mcxt;
	result->n = keys->n;
	for (int i = 0; i < keys->n; i++)
	{
		KeyColumn  *col = &result->columns[i];

		col->id = keys->ids[i];
		if (col->id == 0)
			continue;
		sf_expression_type(keys->types[i], &col->type);
		col->kind = kind_of(&col->type);
		col->element = col->kind == SF_KEY_ZONE_FLOAT4 ? sizeof(float) : sizeof(int64);
		initStringInfo(&col->arena);
	}
	MemoryContextSwitchTo(old);
	return result;
}

/* What zones need of a value's bytes. */
static void
keep_bytes(KeyColumn *col, uint32 row, StStr s)
{
	KeptBytes  *kept = (KeptBytes *) col->values + row;
	uint32		len;

	if (col->kind == SF_KEY_ZONE_STRING)
		len = Min(s.len, KEPT_PREFIX);
	else
		len = s.len > SF_ZONE_MAX_BYTES ? 0 : s.len;

	if (row > 0 && kept[-1].len == s.len &&
		memcmp(col->arena.data + kept[-1].off, s.data, len) == 0)
	{
		*kept = kept[-1];
		return;
	}
	kept->off = col->arena.len;
	kept->len = s.len;
	appendBinaryStringInfoNT(&col->arena, (const char *) s.data, len);
}

static void
keep_reference(KeyColumn *col, uint32 row, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	StStr		s = {(const uint8 *) v, col->type.typlen};

	if (col->type.kind != SF_KIND_FIXED)
	{
		v = PG_DETOAST_DATUM_PACKED(value);
		s = (StStr) {(const uint8 *) VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v)};
	}
	keep_bytes(col, row, s);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
}

static void
add_value(KeyColumn *col, uint32 row, Datum value)
{
	switch (col->kind)
	{
		case SF_KEY_ZONE_INT:
			((int64 *) col->values)[row] = vx_datum_to_int(col->type.typid,
														   col->type.typlen, value);
			break;
		case SF_KEY_ZONE_FLOAT8:
			((double *) col->values)[row] = DatumGetFloat8(value);
			break;
		case SF_KEY_ZONE_FLOAT4:
			((float *) col->values)[row] = DatumGetFloat4(value);
			break;
		case SF_KEY_ZONE_NONE:
			break;
		default:
			keep_reference(col, row, value);
			break;
	}
}

void
sf_keys_add(SfKeys *keys, const Datum *values, const bool *isnull)
{
	uint32		row = keys->nrows++;

	for (int i = 0; i < keys->n; i++)
	{
		KeyColumn  *col = &keys->columns[i];

		if (col->id == 0)
			continue;
		if (row == col->capacity)
			sf_grow_rows(keys->mcxt, &col->values, col->element, &col->valid,
						 &col->capacity);
		if (isnull[i])
		{
			col->nnulls++;
			sf_repeat_value(col->values, row, col->element);
			continue;
		}
		col->valid[row >> 6] |= UINT64CONST(1) << (row & 63);
		add_value(col, row, values[i]);
	}
}

Size
sf_keys_memory(const SfKeys *keys)
{
	Size		bytes = 0;

	for (int i = 0; keys != NULL && i < keys->n; i++)
	{
		const KeyColumn *col = &keys->columns[i];

		if (col->id != 0)
			bytes += col->capacity * (col->element + 1) + col->arena.maxlen;
	}
	return bytes;
}

/* ---- the section ---- */

static StStr *
kept_strings(const KeyColumn *col, uint32 nrows)
{
	const KeptBytes *kept = col->values;
	StStr	   *strings = palloc_extended(nrows * sizeof(StStr), MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < nrows; i++)
	{
		uint32		len = kept[i].len;

		/* longer ones of other types give no bounds */
		if (col->kind == SF_KEY_ZONE_STRING)
			len = Min(len, KEPT_PREFIX);
		strings[i] = (StStr) {(const uint8 *) col->arena.data + kept[i].off, len};
	}
	return strings;
}

static void
write_null_counts(const KeyColumn *col, uint32 n, const uint32 *first, StringInfo buf)
{
	int64	   *counts = palloc0(n * sizeof(int64));

	for (uint32 v = 0; v < n && col->nnulls > 0; v++)
	{
		for (uint32 row = first[v]; row < first[v + 1]; row++)
			counts[v] += ((col->valid[row >> 6] >> (row & 63)) & 1) == 0;
	}
	sf_put_int_array(buf, counts, n);
	pfree(counts);
}

static void
write_key(const KeyColumn *col, uint32 nrows, uint32 n, const uint32 *first,
		  StringInfo buf)
{
	bool		references = col->kind >= SF_KEY_ZONE_STRING;
	SfZoneInput z = {
		.kind = zone_kinds[col->kind],
		.type = &col->type,
		.valid = col->nnulls > 0 ? col->valid : NULL,
		.values = references ? kept_strings(col, nrows) : col->values,
		.max_len = col->kind == SF_KEY_ZONE_BYTES ? SF_ZONE_MAX_BYTES : PG_UINT32_MAX,
		.unknown = SF_ZONE_UNKNOWN,
		.n = n,
		.first = first
	};

	appendBinaryStringInfo(buf, (const char *) &col->id, sizeof(col->id));
	write_null_counts(col, n, first, buf);
	appendStringInfoChar(buf, (char) col->kind);
	sf_zones_write(&z, buf);
}

void
sf_keys_write(const SfKeys *keys, uint32 n, const uint32 *first, StImage *img)
{
	SfKeysHeader header = {.magic = SF_KEYS_MAGIC};
	MemoryContext work;
	MemoryContext old;
	StringInfoData all;
	StringInfoData one;

	if (keys == NULL)
		return;
	work = AllocSetContextCreate(keys->mcxt, "zones of expressions",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(work);
	initStringInfo(&all);
	initStringInfo(&one);
	for (int i = 0; i < keys->n; i++)
	{
		if (keys->columns[i].id == 0)
			continue;
		resetStringInfo(&one);
		write_key(&keys->columns[i], keys->nrows, n, first, &one);
		sf_put_bytes(&all, one.data, one.len);
	}
	header.len = all.len;
	header.checksum = st_checksum64(all.data, all.len, SF_KEYS_MAGIC);
	st_image_append(img, &header, sizeof(header));
	st_image_append(img, all.data, all.len);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}
