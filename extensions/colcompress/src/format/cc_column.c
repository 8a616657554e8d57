/*-------------------------------------------------------------------------
 *
 * cc_column.c
 *	  Buffers the values of one column until its row group is full.
 *
 * Numerics are held as integers of one display scale as long as they fit:
 * first int64, then int128, then plain bytes.  A value that does not fit
 * moves the whole column on; nothing is lost, since going back from integer
 * and scale to the numeric is exact.
 *
 * Memory is that of the values and 1 bit a row; arrays double when full.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "cc_column.h"
#include "sf_bytes.h"
#include "st_compat.h"
#include "st_numeric.h"

static Size
element_size(const CcColumn *col)
{
	switch (col->storage)
	{
		case SF_STORE_INT128:
			return sizeof(int128);
		case SF_STORE_FLOAT4:
			return sizeof(float);
		default:
			return sizeof(int64);
	}
}

void
cc_column_init(CcColumn *col, Form_pg_attribute att, MemoryContext mcxt)
{
	memset(col, 0, sizeof(*col));
	col->mcxt = mcxt;
	col->block_target = CC_BLOCK_TARGET;
	sf_column_type(att, &col->type);
	col->storage = col->type.kind == SF_KIND_NUMERIC ? SF_STORE_INT64 :
		sf_storage(col->type.kind);
}

/* Room for one more row. */
static void
grow_rows(CcColumn *col)
{
	sf_grow_rows(col->mcxt, &col->u.any, element_size(col), &col->valid, &col->capacity);
}

static pg_noinline void
grow_arena(CcColumn *col, uint64 need)
{
	uint64		cap = Max(Max(8192, col->arena_cap * 2), need);

	/* a huge value gets just its own size: no doubling of gigabytes */
	if (cap > 64 * 1024 * 1024)
		cap = Max(need, col->arena_cap + 32 * 1024 * 1024);
	if (col->arena == NULL)
		col->arena = MemoryContextAllocHuge(col->mcxt, cap);
	else
		col->arena = repalloc_huge(col->arena, cap);
	col->arena_cap = cap;
}

static inline void
arena_append(CcColumn *col, const void *data, Size len)
{
	uint64		used = col->nrows == 0 ? 0 : col->u.end[col->nrows - 1];

	if (unlikely(used + len > col->arena_cap))
		grow_arena(col, used + len);
	if (len > 0)
		memcpy(col->arena + used, data, len);
	col->u.end[col->nrows] = used + len;
}

/* From scaled integers to plain numeric bytes. */
static void
numeric_to_bytes(CcColumn *col)
{
	void	   *old = col->u.i64;
	bool		wide = col->storage == SF_STORE_INT128;
	uint32		n = col->nrows;

	col->storage = SF_STORE_BYTES;
	if (col->capacity == 0)
		return;
	col->u.end = MemoryContextAllocHuge(col->mcxt,
										(Size) col->capacity * sizeof(uint64));
	for (col->nrows = 0; col->nrows < n; col->nrows++)
	{
		int32		buf[ST_NUMERIC_MAX_BYTES / sizeof(int32)];
		Size		len = VARHDRSZ;

		if (!cc_column_isnull(col, col->nrows))
			len = wide ?
				st_numeric_write_int128(buf, ((int128 *) old)[col->nrows], col->scale) :
				st_numeric_write_int64(buf, ((int64 *) old)[col->nrows], col->scale);
		arena_append(col, (char *) buf + VARHDRSZ, len - VARHDRSZ);
	}
	pfree(old);
}

static void
numeric_to_int128(CcColumn *col)
{
	int64	   *old = col->u.i64;
	int128	   *wide = NULL;

	col->storage = SF_STORE_INT128;
	if (col->capacity == 0)
		return;
	wide = MemoryContextAllocHuge(col->mcxt, (Size) col->capacity * sizeof(int128));
	for (uint32 i = 0; i < col->nrows; i++)
		wide[i] = old[i];
	pfree(old);
	col->u.i128 = wide;
}

/* True if the value went into the array; else the column became bytes. */
static bool
add_numeric(CcColumn *col, Datum value)
{
	int128		v;
	int			scale;

	if (!st_numeric_to_int128(value, &v, &scale) ||
		(col->has_scale && scale != col->scale))
	{
		numeric_to_bytes(col);
		return false;
	}
	col->has_scale = true;
	col->scale = scale;
	if (col->storage == SF_STORE_INT64 && (v > PG_INT64_MAX || v < PG_INT64_MIN))
		numeric_to_int128(col);
	if (col->storage == SF_STORE_INT64)
		col->u.i64[col->nrows] = (int64) v;
	else
		col->u.i128[col->nrows] = v;
	return true;
}

static inline void
add_bytes(CcColumn *col, Datum value)
{
	if (col->type.kind == SF_KIND_FIXED)
		arena_append(col, DatumGetPointer(value), col->type.typlen);
	else if (col->type.kind == SF_KIND_CSTRING)
		arena_append(col, DatumGetCString(value), strlen(DatumGetCString(value)));
	else
	{
		struct varlena *v = (struct varlena *) DatumGetPointer(value);

		if (VARATT_IS_EXTERNAL(v) || VARATT_IS_COMPRESSED(v))
			v = PG_DETOAST_DATUM_PACKED(value);
		arena_append(col, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v));
		if ((Pointer) v != DatumGetPointer(value))
			pfree(v);
	}
}

static void
add_null(CcColumn *col)
{
	col->nnulls++;
	if (col->storage == SF_STORE_BYTES)
		arena_append(col, NULL, 0);
	else
		sf_repeat_value(col->u.any, col->nrows, element_size(col));
}

static inline void
add_value(CcColumn *col, Datum value)
{
	uint32		i = col->nrows;

	switch (col->storage)
	{
		case SF_STORE_INT64:
		case SF_STORE_INT128:
			if (col->type.kind == SF_KIND_INT)
				col->u.i64[i] = vx_datum_to_int(col->type.typid, col->type.typlen, value);
			else
			{
				struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

				if (!add_numeric(col, PointerGetDatum(v)))
					add_bytes(col, PointerGetDatum(v));
				if ((Pointer) v != DatumGetPointer(value))
					pfree(v);
			}
			break;
		case SF_STORE_FLOAT8:
			col->u.f64[i] = DatumGetFloat8(value);
			break;
		case SF_STORE_FLOAT4:
			col->u.f32[i] = DatumGetFloat4(value);
			break;
		case SF_STORE_BYTES:
			add_bytes(col, value);
			break;
		case SF_STORE_NONE:
			break;
	}
}

void
cc_column_add(CcColumn *col, Datum value, bool isnull)
{
	if (col->storage == SF_STORE_NONE)
	{
		col->nrows++;
		return;
	}
	if (col->nrows == col->capacity)
		grow_rows(col);
	if (isnull)
		add_null(col);
	else
	{
		add_value(col, value);
		col->valid[col->nrows >> 6] |= UINT64CONST(1) << (col->nrows & 63);
	}
	col->nrows++;
}

static inline void
begin_row(CcColumn *col)
{
	if (col->nrows == col->capacity)
		grow_rows(col);
}

static inline void
end_row(CcColumn *col)
{
	col->valid[col->nrows >> 6] |= UINT64CONST(1) << (col->nrows & 63);
	col->nrows++;
}

void
cc_column_add_nulls(CcColumn *col, uint32 row)
{
	while (col->nrows < row)
		cc_column_add(col, (Datum) 0, true);
}

void
cc_column_add_bytes(CcColumn *col, const void *data, Size len)
{
	Assert(col->storage == SF_STORE_BYTES);
	begin_row(col);
	arena_append(col, data, len);
	end_row(col);
}

void
cc_column_add_numeric(CcColumn *col, const void *data, Size len)
{
	int32		buf[ST_NUMERIC_MAX_BYTES / sizeof(int32)];

	begin_row(col);
	if (col->storage != SF_STORE_BYTES && len <= sizeof(buf))
		memcpy(buf, data, len);
	else if (col->storage != SF_STORE_BYTES)
		numeric_to_bytes(col);	/* too many digits for an integer */
	if (col->storage == SF_STORE_BYTES || !add_numeric(col, PointerGetDatum(buf)))
		arena_append(col, (const char *) data + VARHDRSZ, len - VARHDRSZ);
	end_row(col);
}

void
cc_column_borrow(CcColumn *col, StStr *values, uint32 n)
{
	Size		bitmap = ((Size) n + 63) / 64 * sizeof(uint64);

	Assert(col->storage == SF_STORE_BYTES && col->capacity == 0);
	col->strings = values;
	col->nrows = n;
	col->valid = MemoryContextAllocHuge(col->mcxt, bitmap);
	memset(col->valid, 0xff, bitmap);
}

void
cc_column_free(CcColumn *col)
{
	if (col->capacity > 0)
	{
		pfree(col->u.i64);
		pfree(col->valid);
	}
	if (col->arena)
		pfree(col->arena);
	col->capacity = 0;
	col->arena = NULL;
}

Size
cc_column_memory(const CcColumn *col)
{
	Size		bytes = (Size) col->nrows * (element_size(col) + 1);

	if (col->storage == SF_STORE_NONE)
		return 0;
	if (col->storage == SF_STORE_BYTES && col->nrows > 0)
		bytes += col->u.end[col->nrows - 1];
	return bytes;
}
