/*-------------------------------------------------------------------------
 *
 * rc_column.c
 *	  Buffers the values of one column until its row group is full.
 *
 * Bytes are copied into pieces of memory that never move, so that a value's
 * place is a pointer.  A large value is compressed when it comes: what is
 * buffered of a gigabyte is its frame, and its group is soon full.  Memory of
 * other values is kept from one group of a load to the next.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "rc_column.h"
#include "sf_bytes.h"
#include "st_bitmap.h"
#include "st_compat.h"

#define ARENA_BYTES ((Size) 64 * 1024)

static Size
element_size(SfStorage storage)
{
	switch (storage)
	{
		case SF_STORE_FLOAT4:
			return sizeof(float);
		case SF_STORE_BYTES:
			return sizeof(StStr);
		default:
			return sizeof(int64);
	}
}

void
rc_column_init(RcColumn *col, const SfColumnType *type, RcTotals *totals,
			   MemoryContext mcxt)
{
	memset(col, 0, sizeof(*col));
	col->mcxt = mcxt;
	col->totals = totals;
	col->type = *type;
	col->storage = sf_storage(col->type.kind);
}

void
rc_column_reset(RcColumn *col)
{
	col->nrows = 0;
	col->nnulls = 0;
	col->nlarge = 0;
	col->bytes = 0;
	if (col->capacity > 0)
		memset(col->valid, 0, col->capacity / 64 * sizeof(uint64));
	col->arena.nused = 0;
	col->arena.left = 0;
}

void
rc_column_release(RcColumn *col)
{
	st_codec_dict_free(col->trained.digested);
	col->trained.digested = NULL;
}

/* Room for one more row. */
static void
grow_rows(RcColumn *col)
{
	uint32		before = col->capacity;
	Size		element = element_size(col->storage);

	sf_grow_rows(col->mcxt, &col->u.any, element, &col->valid, &col->capacity);
	col->totals->memory += (col->capacity - before) * element;
}

Size
rc_codec_frame(RcCodec *codec, const StCodecDict *dict, const void *src, Size n)
{
	Size		cap = n - n / RC_CODEC_MIN_GAIN;
	StStatus	status;
	size_t		len;

	if (codec->codec == ST_CODEC_NONE || n < RC_CODEC_MIN_BYTES)
		return n;
	if (cap > codec->packed_cap)
	{
		if (codec->packed)
			pfree(codec->packed);
		codec->packed = NULL;
		codec->packed_cap = 0;
		codec->packed = MemoryContextAllocHuge(codec->mcxt, Max(cap, ARENA_BYTES));
		codec->packed_cap = Max(cap, ARENA_BYTES);
	}
	if (dict)
		status = st_codec_compress_dict(codec->ctx, dict, src, n, codec->packed, cap, &len);
	else
		status = st_codec_compress(codec->ctx, codec->codec, codec->level, src, n,
								   codec->packed, cap, &len);
	return status == ST_OK ? len : n;
}

static const uint8 *
keep_large(RcColumn *col, RcCodec *codec, const void *data, Size len)
{
	Size		stored = rc_codec_frame(codec, NULL, data, len);
	Size		size = offsetof(RcLarge, data) + stored;
	RcLarge    *large = MemoryContextAllocHuge(codec->group_mcxt, size);

	large->stored = stored;
	memcpy(large->data, stored < len ? codec->packed : data, stored);
	col->nlarge++;
	col->totals->memory += size;
	col->totals->large += size;
	return (const uint8 *) large;
}

/* The next piece of memory for bytes. */
static pg_noinline void
next_piece(RcColumn *col)
{
	RcArena    *arena = &col->arena;

	if (arena->nused == arena->npieces)
	{
		if (arena->npieces == arena->cap)
		{
			int			cap = Max(16, 2 * arena->cap);
			Size		size = cap * sizeof(uint8 *);

			arena->pieces = arena->pieces ? repalloc_huge(arena->pieces, size) :
				MemoryContextAlloc(col->mcxt, size);
			arena->cap = cap;
		}
		arena->pieces[arena->npieces] = MemoryContextAlloc(col->mcxt, ARENA_BYTES);
		arena->npieces++;
		col->totals->memory += ARENA_BYTES;
	}
	arena->next = arena->pieces[arena->nused++];
	arena->left = ARENA_BYTES;
}

static inline const uint8 *
keep_small(RcColumn *col, const void *data, Size len)
{
	uint8	   *p;

	if (len > col->arena.left)
		next_piece(col);
	p = col->arena.next;
	memcpy(p, data, len);
	col->arena.next += len;
	col->arena.left -= len;
	return p;
}

static inline Size
add_bytes(RcColumn *col, RcCodec *codec, const void *data, Size len)
{
	StStr	   *s = &col->u.str[col->nrows];

	s->len = len;
	if (len >= RC_LARGE_BYTES)
		s->data = keep_large(col, codec, data, len);
	else if (len > 0)
		s->data = keep_small(col, data, len);
	else
		s->data = (const uint8 *) "";
	col->bytes += len;
	col->totals->bytes += len;
	return len >= RC_LARGE_BYTES ? RC_LARGE_WEIGHT : len + 1;
}

static inline Size
add_reference(RcColumn *col, RcCodec *codec, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	Size		weight;

	if (col->type.kind == SF_KIND_FIXED)
		return add_bytes(col, codec, DatumGetPointer(value), col->type.typlen);
	if (col->type.kind == SF_KIND_CSTRING)
		return add_bytes(col, codec, DatumGetCString(value), strlen(DatumGetCString(value)));
	if (!VARATT_IS_EXTERNAL(v) && !VARATT_IS_COMPRESSED(v))
		return add_bytes(col, codec, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v));
	v = PG_DETOAST_DATUM_PACKED(value);
	weight = add_bytes(col, codec, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v));
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return weight;
}

static inline Size
add_value(RcColumn *col, RcCodec *codec, Datum value)
{
	switch (col->storage)
	{
		case SF_STORE_INT64:
			col->u.i64[col->nrows] = vx_datum_to_int(col->type.typid, col->type.typlen,
													 value);
			break;
		case SF_STORE_FLOAT8:
			col->u.f64[col->nrows] = DatumGetFloat8(value);
			break;
		case SF_STORE_FLOAT4:
			col->u.f32[col->nrows] = DatumGetFloat4(value);
			break;
		default:
			return add_reference(col, codec, value);
	}
	col->bytes += col->type.typlen;
	col->totals->bytes += col->type.typlen;
	return col->type.typlen;
}

static void
add_null(RcColumn *col)
{
	col->nnulls++;
	if (col->storage == SF_STORE_BYTES)
		col->u.str[col->nrows] = (StStr) {NULL, 0};
	else
		sf_repeat_value(col->u.any, col->nrows, element_size(col->storage));
}

Size
rc_column_add(RcColumn *col, RcCodec *codec, Datum value, bool isnull)
{
	Size		weight = 0;

	if (col->storage == SF_STORE_NONE)
	{
		col->nrows++;
		return 0;
	}
	if (col->nrows == col->capacity)
		grow_rows(col);
	if (isnull)
		add_null(col);
	else
	{
		weight = add_value(col, codec, value);
		col->valid[col->nrows >> 6] |= UINT64CONST(1) << (col->nrows & 63);
	}
	col->nrows++;
	return weight;
}

/* Returns the number of nulls. */
uint32
rc_column_validity(const RcColumn *col, uint32 first, uint32 n, uint64 *words)
{
	int			shift = first & 63;
	const uint64 *src = &col->valid[first >> 6];
	uint32		have = (shift + n + 63) / 64;	/* words that hold the bits */

	for (uint32 i = 0; i < (n + 63) / 64; i++)
	{
		words[i] = src[i] >> shift;
		if (shift > 0 && i + 1 < have)
			words[i] |= src[i + 1] << (64 - shift);
	}
	return n - st_bitmap_popcount((uint64_t *) words, n);
}
