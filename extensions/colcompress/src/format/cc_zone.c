/*-------------------------------------------------------------------------
 *
 * cc_zone.c
 *	  Zone maps of a column chunk, as they are written.
 *
 * One minimum and one maximum per vector, over the values that are not null,
 * in the order of the btree operator family whose OID stands beside them
 * (readers ignore zones of any other family).  Vectors of nulls only repeat
 * their neighbour; their null count tells.
 *
 * Strings keep prefixes (sf_zone.h).
 *
 *	 | kind u8 | opfamily varint | minima | maxima | flags (strings) |
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"

#include "cc_column.h"
#include "sf_bytes.h"
#include "sf_zone.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_str.h"

/* Calls visit(col, row, vector) for every value that is not null. */
#define FOR_VALUES(col, vec, row) \
	for (uint32 vec = 0, row = 0; row < (col)->nrows; row++, vec = row / ST_VECTOR_SIZE) \
		if ((col)->nnulls == 0 || !cc_column_isnull(col, row))

#define DEFINE_MINMAX(name, type, field, less) \
static void \
name(const CcColumn *col, type *min, type *max, bool *seen) \
{ \
	FOR_VALUES(col, vec, row) \
	{ \
		type		v = col->u.field[row]; \
\
		if (!seen[vec] || less(v, min[vec])) \
			min[vec] = v; \
		if (!seen[vec] || less(max[vec], v)) \
			max[vec] = v; \
		seen[vec] = true; \
	} \
	for (uint32 i = 1; i < CC_MAX_VECTORS; i++) \
	{ \
		if (!seen[i]) \
		{ \
			min[i] = min[i - 1]; \
			max[i] = max[i - 1]; \
		} \
	} \
}

DEFINE_MINMAX(minmax_i64, int64, i64, SF_INT_LESS)
DEFINE_MINMAX(minmax_i128, int128, i128, SF_INT_LESS)
DEFINE_MINMAX(minmax_f64, double, f64, SF_FLOAT_LESS)
DEFINE_MINMAX(minmax_f32, float, f32, SF_FLOAT_LESS)

typedef struct MinMax
{
	bool		seen[CC_MAX_VECTORS];
	union
	{
		int64		i64[CC_MAX_VECTORS];
		int128		i128[CC_MAX_VECTORS];
		double		f64[CC_MAX_VECTORS];
		float		f32[CC_MAX_VECTORS];
		StStr		str[CC_MAX_VECTORS];
	}			min,
				max;
} MinMax;

static void
minmax_codes(const CcColumn *col, MinMax *mm)
{
	uint32		min[CC_MAX_VECTORS];
	uint32		max[CC_MAX_VECTORS];

	FOR_VALUES(col, vec, row)
	{
		uint32		code = col->codes[row];

		if (!mm->seen[vec])
			min[vec] = max[vec] = code;
		min[vec] = Min(min[vec], code);
		max[vec] = Max(max[vec], code);
		mm->seen[vec] = true;
	}
	for (uint32 i = 0; i < CC_MAX_VECTORS; i++)
	{
		if (mm->seen[i])
		{
			mm->min.str[i] = col->entries[min[i]];
			mm->max.str[i] = col->entries[max[i]];
		}
	}
}

static void
minmax_strings(const CcColumn *col, MinMax *mm)
{
	bool		bpchar = col->type.typid == BPCHAROID;

	FOR_VALUES(col, vec, row)
	{
		StStr		s = cc_column_bytes(col, row);

		if (bpchar)
			s.len = sf_zone_trimmed(&s);
		if (!mm->seen[vec] || st_str_compare(&s, &mm->min.str[vec]) < 0)
			mm->min.str[vec] = s;
		if (!mm->seen[vec] || st_str_compare(&s, &mm->max.str[vec]) > 0)
			mm->max.str[vec] = s;
		mm->seen[vec] = true;
	}
}

static void
zone_of_strings(const CcColumn *col, MinMax *mm, uint32 nvectors, StringInfo meta)
{
	int64	   *truncated = palloc0(CC_MAX_VECTORS * sizeof(int64));

	if (col->codes != NULL &&
		sf_zone_codes_ordered(&col->type, col->entries, col->nentries))
		minmax_codes(col, mm);
	else
		minmax_strings(col, mm);
	for (uint32 i = 0; i < nvectors; i++)
	{
		if (!mm->seen[i])
			mm->min.str[i] = mm->max.str[i] = (StStr) {(const uint8 *) "", 0};
		(void) sf_zone_cut(&col->type, &mm->min.str[i]);
		truncated[i] = sf_zone_cut(&col->type, &mm->max.str[i]);
	}
	sf_put_string_array(meta, mm->min.str, nvectors);
	sf_put_string_array(meta, mm->max.str, nvectors);
	sf_put_int_array(meta, truncated, nvectors);
	pfree(truncated);
}

static CcZoneKind
zone_kind(const CcColumn *col)
{
	if (!OidIsValid(col->type.opfamily))
		return CC_ZONE_NONE;
	switch (col->storage)
	{
		case CC_STORE_INT64:
			return CC_ZONE_INT64;
		case CC_STORE_INT128:
			return CC_ZONE_INT128;
		case CC_STORE_FLOAT8:
			return CC_ZONE_FLOAT8;
		case CC_STORE_FLOAT4:
			return CC_ZONE_FLOAT4;
		case CC_STORE_BYTES:
			return col->type.byte_order ? CC_ZONE_STRING : CC_ZONE_NONE;
		default:
			return CC_ZONE_NONE;
	}
}

void
cc_zone_write(const CcColumn *col, StringInfo meta)
{
	CcZoneKind	kind = zone_kind(col);
	uint32		nvectors = (col->nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;
	MinMax	   *mm;

	appendStringInfoChar(meta, (char) kind);
	if (kind == CC_ZONE_NONE)
		return;
	sf_put_varint(meta, col->type.opfamily);
	mm = palloc0(sizeof(MinMax));
	switch (kind)
	{
		case CC_ZONE_INT64:
			minmax_i64(col, mm->min.i64, mm->max.i64, mm->seen);
			sf_put_int_array(meta, mm->min.i64, nvectors);
			sf_put_int_array(meta, mm->max.i64, nvectors);
			break;
		case CC_ZONE_INT128:
			minmax_i128(col, mm->min.i128, mm->max.i128, mm->seen);
			sf_put_wide_array(meta, mm->min.i128, nvectors);
			sf_put_wide_array(meta, mm->max.i128, nvectors);
			break;
		case CC_ZONE_FLOAT8:
			minmax_f64(col, mm->min.f64, mm->max.f64, mm->seen);
			sf_put_float8_array(meta, mm->min.f64, nvectors);
			sf_put_float8_array(meta, mm->max.f64, nvectors);
			break;
		case CC_ZONE_FLOAT4:
			minmax_f32(col, mm->min.f32, mm->max.f32, mm->seen);
			sf_put_float4_array(meta, mm->min.f32, nvectors);
			sf_put_float4_array(meta, mm->max.f32, nvectors);
			break;
		case CC_ZONE_STRING:
			zone_of_strings(col, mm, nvectors, meta);
			break;
		case CC_ZONE_NONE:
			break;
	}
	pfree(mm);
}
