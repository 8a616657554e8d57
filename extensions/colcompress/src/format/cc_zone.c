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
 * Strings are ordered bytewise.  They keep a prefix of CC_ZONE_PREFIX bytes,
 * cut at a character's boundary; a maximum that was cut is flagged.  bpchar
 * is taken without its trailing blanks, which do not count in comparisons.
 *
 *	 | kind u8 | opfamily varint | minima | maxima | flags (strings) |
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "mb/pg_wchar.h"
#include "utils/float.h"

#include "cc_column.h"
#include "cc_zone.h"
#include "st_compat.h"
#include "st_dict.h"
#include "st_float.h"
#include "st_int.h"
#include "st_str.h"

/* Calls visit(col, row, vector) for every value that is not null. */
#define FOR_VALUES(col, vec, row) \
	for (uint32 vec = 0, row = 0; row < (col)->nrows; row++, vec = row / ST_VECTOR_SIZE) \
		if ((col)->nnulls == 0 || !cc_column_isnull(col, row))

/* PostgreSQL's order of floats: NaN equals itself and is above all else. */
#define FLOAT_LESS(a, b) (isnan(b) ? !isnan(a) : (a) < (b))

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

#define INT_LESS(a, b) ((a) < (b))

DEFINE_MINMAX(minmax_i64, int64, i64, INT_LESS)
DEFINE_MINMAX(minmax_i128, int128, i128, INT_LESS)
DEFINE_MINMAX(minmax_f64, double, f64, FLOAT_LESS)
DEFINE_MINMAX(minmax_f32, float, f32, FLOAT_LESS)

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
put_encoded(StringInfo meta, StStatus status, const uint8 *buf, size_t len)
{
	if (status != ST_OK)
		elog(ERROR, "could not encode zones");
	cc_put_bytes(meta, buf, len);
}

#define DEFINE_WRITE(name, type, core_type, codec) \
static void \
name(StringInfo meta, const type *v, int n) \
{ \
	uint8	   *buf = palloc(codec##_bound(n)); \
	size_t		len; \
	StStatus	status; \
\
	status = codec##_encode((const core_type *) v, n, buf, codec##_bound(n), &len); \
	put_encoded(meta, status, buf, len); \
	pfree(buf); \
}

DEFINE_WRITE(write_i128, int128, StInt128, st_int128)
DEFINE_WRITE(write_f64, double, double, st_f64)
DEFINE_WRITE(write_f32, float, float, st_f32)

static void
write_strings(StringInfo meta, const StStr *v, int n)
{
	StStrScheme *scheme = palloc(sizeof(StStrScheme));
	size_t		bound,
				len;
	uint8	   *buf;
	StStatus	status;

	st_str_scheme_raw(scheme);
	bound = st_str_bound(scheme, v, n);
	buf = palloc(bound);
	status = st_str_encode(scheme, v, n, buf, bound, &len);
	put_encoded(meta, status, buf, len);
	pfree(buf);
	pfree(scheme);
}

static uint32
without_trailing_blanks(const StStr *s)
{
	uint32		len = s->len;

	while (len > 0 && s->data[len - 1] == ' ')
		len--;
	return len;
}

/* Cuts to CC_ZONE_PREFIX bytes; true if something was lost. */
static bool
cut(const CcColumn *col, StStr *s)
{
	if (s->len <= CC_ZONE_PREFIX)
		return false;
	if (col->type.opfamily == TEXT_BTREE_FAM_OID ||
		col->type.opfamily == BPCHAR_BTREE_FAM_OID)
		s->len = pg_mbcliplen((const char *) s->data, s->len, CC_ZONE_PREFIX);
	else
		s->len = CC_ZONE_PREFIX;
	return true;
}

/* Do the codes of the column's dictionary stand in the order of its values? */
static bool
codes_are_ordered(const CcColumn *col)
{
	if (col->codes == NULL)
		return false;
	for (uint32 i = 0; i < col->nentries && col->type.typid == BPCHAROID; i++)
	{
		const StStr *s = &col->entries[i];

		if (s->len > 0 && s->data[s->len - 1] == ' ')
			return false;
	}
	return true;
}

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
			s.len = without_trailing_blanks(&s);
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

	if (codes_are_ordered(col))
		minmax_codes(col, mm);
	else
		minmax_strings(col, mm);
	for (uint32 i = 0; i < nvectors; i++)
	{
		if (!mm->seen[i])
			mm->min.str[i] = mm->max.str[i] = (StStr) {(const uint8 *) "", 0};
		(void) cut(col, &mm->min.str[i]);
		truncated[i] = cut(col, &mm->max.str[i]);
	}
	write_strings(meta, mm->min.str, nvectors);
	write_strings(meta, mm->max.str, nvectors);
	cc_put_int_array(meta, truncated, nvectors);
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
	cc_put_varint(meta, col->type.opfamily);
	mm = palloc0(sizeof(MinMax));
	switch (kind)
	{
		case CC_ZONE_INT64:
			minmax_i64(col, mm->min.i64, mm->max.i64, mm->seen);
			cc_put_int_array(meta, mm->min.i64, nvectors);
			cc_put_int_array(meta, mm->max.i64, nvectors);
			break;
		case CC_ZONE_INT128:
			minmax_i128(col, mm->min.i128, mm->max.i128, mm->seen);
			write_i128(meta, mm->min.i128, nvectors);
			write_i128(meta, mm->max.i128, nvectors);
			break;
		case CC_ZONE_FLOAT8:
			minmax_f64(col, mm->min.f64, mm->max.f64, mm->seen);
			write_f64(meta, mm->min.f64, nvectors);
			write_f64(meta, mm->max.f64, nvectors);
			break;
		case CC_ZONE_FLOAT4:
			minmax_f32(col, mm->min.f32, mm->max.f32, mm->seen);
			write_f32(meta, mm->min.f32, nvectors);
			write_f32(meta, mm->max.f32, nvectors);
			break;
		case CC_ZONE_STRING:
			zone_of_strings(col, mm, nvectors, meta);
			break;
		case CC_ZONE_NONE:
			break;
	}
	pfree(mm);
}
