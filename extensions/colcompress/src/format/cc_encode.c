/*-------------------------------------------------------------------------
 *
 * cc_encode.c
 *	  From a buffered column to its chunk: numbers.
 *
 * A vector's bytes are its null bitmap (only if it has both nulls and
 * values; behind its length as u16), then the encoded values, nulls holding
 * a copy of their neighbour.  A vector of nulls only has no bytes at all.
 *
 *	 meta = | layout | zones | sum | what the encoding needs |
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cc_column.h"
#include "sf_bytes.h"
#include "st_bitmap.h"
#include "st_compat.h"
#include "st_float.h"
#include "st_int.h"
#include "st_yield.h"

/*
 * Writes the null bitmap of rows [first, first + n) if they need one.
 * Returns the bytes written; *nnulls is the number of nulls.
 */
Size
cc_put_validity(const CcColumn *col, uint32 first, uint32 n, uint32 *nnulls,
				uint8 *dst)
{
	uint64		words[ST_BITMAP_WORDS];
	uint32		nwords = (n + 63) / 64;
	size_t		len;

	*nnulls = 0;
	if (col->nnulls == 0)
		return 0;
	memcpy(words, &col->valid[first / 64], nwords * sizeof(uint64));
	*nnulls = n - st_bitmap_popcount((uint64_t *) words, n);
	if (*nnulls == 0 || *nnulls == n)
		return 0;
	if (st_bitmap_encode((uint64_t *) words, n, dst + sizeof(uint16),
						 CC_VALIDITY_BOUND - sizeof(uint16), &len) != ST_OK)
		elog(ERROR, "could not encode a null bitmap");
	st_store_u16(dst, (uint16) len);
	return sizeof(uint16) + len;
}

static Size
vector_bound(const CcColumn *col, uint32 n)
{
	switch (col->storage)
	{
		case SF_STORE_INT64:
			return st_int_bound(n);
		case SF_STORE_INT128:
			return st_int128_bound(n);
		case SF_STORE_FLOAT8:
			return st_f64_bound(n);
		case SF_STORE_FLOAT4:
			return st_f32_bound(n);
		default:
			return 0;
	}
}

static StStatus
encode_vector(const CcColumn *col, uint32 first, uint32 n, StIntHint *hint,
			  uint8 *dst, Size cap, size_t *len)
{
	switch (col->storage)
	{
		case SF_STORE_INT64:
			return st_int_encode_next((int64_t *) col->u.i64 + first, n, hint, dst, cap, len);
		case SF_STORE_INT128:
			return st_int128_encode((StInt128 *) col->u.i128 + first, n, dst, cap, len);
		case SF_STORE_FLOAT8:
			return st_f64_encode(col->u.f64 + first, n, dst, cap, len);
		case SF_STORE_FLOAT4:
			return st_f32_encode(col->u.f32 + first, n, dst, cap, len);
		default:
			return ST_NOTFIT;
	}
}

static CcEncoding
encode_numbers(CcColumn *col, CcChunkWriter *w)
{
	StIntHint	hint = {0};

	for (uint32 first = 0; first < col->nrows; first += ST_VECTOR_SIZE)
	{
		uint32		n = Min(ST_VECTOR_SIZE, col->nrows - first);
		uint32		nnulls;
		Size		bound = vector_bound(col, n);
		uint8	   *dst = cc_chunk_reserve(w, CC_VALIDITY_BOUND + bound);
		size_t		len = 0;
		Size		prefix = cc_put_validity(col, first, n, &nnulls, dst);

		CHECK_FOR_INTERRUPTS();
		st_yield();
		if (nnulls < n &&
			encode_vector(col, first, n, &hint, dst + prefix, bound, &len) != ST_OK)
			elog(ERROR, "could not encode a vector of %u values", n);
		cc_chunk_add_vector(w, prefix + len, nnulls);
	}
	switch (col->storage)
	{
		case SF_STORE_INT64:
			return col->type.kind == SF_KIND_NUMERIC ? CC_ENC_DECIMAL64 : CC_ENC_INT;
		case SF_STORE_INT128:
			return CC_ENC_DECIMAL128;
		case SF_STORE_FLOAT8:
			return CC_ENC_FLOAT8;
		default:
			return CC_ENC_FLOAT4;
	}
}

/* Sum of the values that are not null, as 16 bytes; flag 0 if not kept. */
static void
write_sum(const CcColumn *col, StringInfo meta)
{
	int128		sum = 0;
	bool		known = col->storage == SF_STORE_INT64;

	appendStringInfoChar(meta, known ? 1 : 0);
	if (!known)
		return;
	for (uint32 i = 0; i < col->nrows; i++)
	{
		if (col->nnulls == 0 || !cc_column_isnull(col, i))
			sum += col->u.i64[i];
	}
	appendBinaryStringInfo(meta, (char *) &sum, sizeof(sum));
}

void
cc_column_encode(CcColumn *col, StImage *img, int codec, int level,
				 StCodecCtx *ctx, CcFooterColumn *entry)
{
	CcChunkWriter *w;
	StringInfoData meta,
				extra;
	CcEncoding	encoding = CC_ENC_NULLS;

	memset(entry, 0, sizeof(*entry));
	entry->kind = col->type.kind;
	entry->typid = col->type.typid;
	entry->is_signed = col->type.is_signed;
	entry->nnulls = col->nnulls;
	if (col->storage == SF_STORE_NONE || col->nnulls == col->nrows)
	{
		entry->nnulls = col->nrows;
		return;
	}

	w = palloc(sizeof(*w));
	cc_chunk_begin(w, img, col->block_target, codec, level, ctx);
	initStringInfo(&extra);
	if (col->storage == SF_STORE_BYTES)
		encoding = cc_encode_bytes(col, w, &extra);
	else
	{
		encoding = encode_numbers(col, w);
		sf_put_varint(&extra, col->scale);
	}
	cc_chunk_end_blocks(w);

	initStringInfo(&meta);
	cc_chunk_write_layout(w, &meta);
	cc_zone_write(col, &meta);
	write_sum(col, &meta);
	if (col->codes)
	{
		pfree(col->codes);
		pfree(col->entries);
		col->codes = NULL;
	}
	if (col->strings)
		pfree(col->strings);
	col->strings = NULL;
	sf_put_bytes(&meta, extra.data, extra.len);
	st_image_append(img, meta.data, meta.len);

	entry->chunk_off = w->start;
	entry->blob_len = w->blob_len;
	entry->blocks_len = w->blocks_len;
	entry->meta_len = meta.len;
	entry->encoding = encoding;
	pfree(w);
}
