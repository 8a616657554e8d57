/*-------------------------------------------------------------------------
 *
 * cc_encode_bytes.c
 *	  From a buffered column to its chunk: everything that is bytes.
 *
 * Five forms: a sorted dictionary where few distinct values repeat; arrays of
 * objects as a column of their elements (cc_array.h); values one by one, each
 * in its own codec frame, where they are large (one value is then fetched
 * without its neighbours); jsonb in sub-columns (cc_shred.h); else st_str
 * vectors (alphabet, FSST or raw) inside of block frames.
 *
 * Dictionary in the extra part of the meta:
 *	 | entries | bytes raw | bytes stored | frame of: per 1,024 entries,
 *	   length and st_str raw vector |
 * Vector of large values:
 *	 | u64 offset in the blob region | u16 length | lengths | stored lengths |
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_array.h"
#include "cc_column.h"
#include "cc_shred.h"
#include "sf_bytes.h"
#include "st_compat.h"
#include "st_int.h"
#include "st_str.h"
#include "st_yield.h"

/* A dictionary has at most these bytes. */
#define DICT_MAX_BYTES (4 * 1024 * 1024)

/* Neighbouring values that a sample takes together. */
#define SAMPLE_RUN 128

/* jsonb in sub-columns may be larger than plain by one part in this many. */
#define SHRED_MAX_LOSS 8

/* ---- dictionary ---- */

static void
write_dictionary(CcChunkWriter *w, const StStr *entries, uint32 n, StringInfo extra)
{
	StringInfoData raw;
	Size		stored;

	sf_dictionary_encode(entries, n, &raw);
	stored = cc_codec_frame(w, raw.data, raw.len);
	sf_dictionary_put(extra, n, &raw, w->packed, stored);
}

static bool
encode_dictionary(CcColumn *col, CcChunkWriter *w, const StStr *values,
				  StringInfo extra)
{
	int64	   *wide;
	StIntHint	hint = {0};

	if (!sf_dictionary_build(values, col->nrows, col->nbytes, DICT_MAX_BYTES,
							 &col->codes, &col->entries, &col->nentries))
		return false;
	wide = palloc(ST_VECTOR_SIZE * sizeof(int64));
	for (uint32 first = 0; first < col->nrows; first += ST_VECTOR_SIZE)
	{
		uint32		count = Min(ST_VECTOR_SIZE, col->nrows - first);
		uint32		nnulls;
		uint8	   *dst = cc_chunk_reserve(w, CC_VALIDITY_BOUND + st_int_bound(count));
		Size		prefix = cc_put_validity(col, first, count, &nnulls, dst);
		size_t		len = 0;

		CHECK_FOR_INTERRUPTS();
		st_yield();
		for (uint32 i = 0; i < count; i++)
			wide[i] = values[first + i].data == NULL && i > 0 ? wide[i - 1] :
				col->codes[first + i];
		if (nnulls < count &&
			st_int_encode_next((int64_t *) wide, count, &hint, dst + prefix,
							   st_int_bound(count), &len) != ST_OK)
			elog(ERROR, "could not encode a vector of %u codes", count);
		cc_chunk_add_vector(w, prefix + len, nnulls);
	}
	pfree(wide);
	write_dictionary(w, col->entries, col->nentries, extra);
	return true;
}

/* ---- large values ---- */

static void
encode_blobs(CcColumn *col, CcChunkWriter *w, const StStr *values)
{
	int64	   *stored = MemoryContextAllocHuge(CurrentMemoryContext,
												col->nrows * sizeof(int64));
	int64	   *raw = palloc(ST_VECTOR_SIZE * sizeof(int64));
	uint64		offset = 0;

	for (uint32 i = 0; i < col->nrows; i++)
	{
		CHECK_FOR_INTERRUPTS();
		st_yield();
		stored[i] = cc_codec_frame(w, values[i].data, values[i].len);
		st_image_append(w->img,
						stored[i] < values[i].len ? w->packed : values[i].data,
						stored[i]);
		w->blob_len += stored[i];
	}
	for (uint32 first = 0; first < col->nrows; first += ST_VECTOR_SIZE)
	{
		uint32		n = Min(ST_VECTOR_SIZE, col->nrows - first);
		uint32		nnulls;
		Size		bound = st_int_bound(n);
		uint8	   *dst = cc_chunk_reserve(w, CC_VALIDITY_BOUND + 16 + 2 * bound);
		uint8	   *p = dst + cc_put_validity(col, first, n, &nnulls, dst);
		size_t		len1,
					len2;

		if (nnulls == n)
		{
			cc_chunk_add_vector(w, 0, nnulls);
			continue;
		}
		for (uint32 i = 0; i < n; i++)
			raw[i] = values[first + i].len;
		st_store_u64(p, offset);
		if (st_int_encode((int64_t *) raw, n, p + 10, bound, &len1) != ST_OK ||
			st_int_encode((int64_t *) stored + first, n, p + 10 + len1, bound,
						  &len2) != ST_OK)
			elog(ERROR, "could not encode lengths");
		st_store_u16(p + 8, (uint16) len1);
		cc_chunk_add_vector(w, p + 10 + len1 + len2 - dst, nnulls);
		for (uint32 i = 0; i < n; i++)
			offset += stored[first + i];
	}
	pfree(stored);
	pfree(raw);
}

/* ---- vectors of strings ---- */

/*
 * Up to one vector of values, nulls left out: runs of neighbours, since what
 * a codec finds depends on them, spread over the column.
 */
static int
take_sample(const CcColumn *col, const StStr *values, StStr *sample)
{
	uint32		nruns = ST_VECTOR_SIZE / SAMPLE_RUN;
	uint32		step = Max(SAMPLE_RUN, col->nrows / nruns);
	int			n = 0;

	for (uint32 start = 0; start < col->nrows; start += step)
	{
		for (uint32 i = start; i < Min(start + SAMPLE_RUN, col->nrows); i++)
		{
			if (values[i].data != NULL && n < ST_VECTOR_SIZE)
				sample[n++] = values[i];
		}
	}
	return n;
}

/* Bytes of the sample under a scheme, with a codec frame if that pays. */
static Size
sample_size(CcChunkWriter *w, const StStrScheme *scheme, const StStr *sample, int n)
{
	Size		bound = st_str_bound(scheme, sample, n);
	uint8	   *tmp = MemoryContextAllocHuge(CurrentMemoryContext, bound);
	size_t		len;

	if (st_str_encode(scheme, sample, n, tmp, bound, &len) != ST_OK)
		elog(ERROR, "could not encode a sample of %d values", n);
	len = cc_codec_frame(w, tmp, len);
	pfree(tmp);
	return len;
}

/*
 * The scheme that makes the sample smallest, framed or not.  Inside of frames
 * FSST costs time twice: it must save a tenth against raw bytes.  Returns an
 * estimate of the whole column's size.
 */
static uint64
choose_scheme(const CcColumn *col, CcChunkWriter *w, const StStr *values,
			  StStrScheme *scheme)
{
	StStr	   *sample = palloc(ST_VECTOR_SIZE * sizeof(StStr));
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	int			n = take_sample(col, values, sample);
	uint64		sample_bytes = 0;
	Size		raw_size,
				size;

	for (int i = 0; i < n; i++)
		sample_bytes += sample[i].len;
	st_str_scheme_raw(raw);
	raw_size = size = sample_size(w, raw, sample, n);
	st_str_choose(sample, n, scheme);
	if (scheme->kind != ST_STR_RAW)
	{
		size = sample_size(w, scheme, sample, n);
		if (scheme->kind == ST_STR_FSST)
			raw_size -= raw_size / 10;
		if (raw_size < size)
		{
			memcpy(scheme, raw, sizeof(*raw));
			size = raw_size;
		}
	}
	pfree(raw);
	pfree(sample);
	return (double) size / Max(1, sample_bytes) * col->nbytes;
}

static void
encode_strings(CcColumn *col, CcChunkWriter *w, const StStr *values,
			   const StStrScheme *scheme, StringInfo extra)
{
	sf_put_scheme(extra, scheme);
	for (uint32 first = 0; first < col->nrows; first += ST_VECTOR_SIZE)
	{
		uint32		n = Min(ST_VECTOR_SIZE, col->nrows - first);
		uint32		nnulls;
		Size		bound = st_str_bound(scheme, values + first, n);
		uint8	   *dst = cc_chunk_reserve(w, CC_VALIDITY_BOUND + bound);
		Size		prefix = cc_put_validity(col, first, n, &nnulls, dst);
		size_t		len = 0;

		CHECK_FOR_INTERRUPTS();
		st_yield();
		if (nnulls < n &&
			st_str_encode(scheme, values + first, n, dst + prefix, bound,
						  &len) != ST_OK)
			elog(ERROR, "could not encode a vector of %u strings", n);
		cc_chunk_add_vector(w, prefix + len, nnulls);
	}
}

/* A jsonb column shredded, if that is smaller than as strings; or strings. */
static CcEncoding
encode_documents_or_strings(CcColumn *col, CcChunkWriter *w, const StStr *values,
							const StStrScheme *scheme, uint64 limit, StringInfo extra)
{
	if (col->type.typid != JSONBOID || col->is_leaf ||
		!cc_shred_encode(col, w, values, limit, extra))
	{
		encode_strings(col, w, values, scheme, extra);
		return CC_ENC_STR;
	}
	return CC_ENC_SHRED;
}

/* All but dictionaries. */
static CcEncoding
encode_values(CcColumn *col, CcChunkWriter *w, const StStr *values, StringInfo extra)
{
	StStrScheme *scheme;
	uint64		plain;
	uint64		limit;
	CcEncoding	encoding;

	if (col->nbytes / (col->nrows - col->nnulls) > CC_BLOB_AVERAGE)
	{
		encode_blobs(col, w, values);
		return CC_ENC_BLOB;
	}
	scheme = palloc(sizeof(StStrScheme));
	plain = choose_scheme(col, w, values, scheme);
	limit = plain + plain / SHRED_MAX_LOSS;
	if (col->type.typid == JSONBOID && col->depth < CC_ARRAY_MAX_DEPTH &&
		cc_array_likely(col, values) && cc_array_encode(col, w, values, limit, extra))
		encoding = CC_ENC_ARRAY;
	else
		encoding = encode_documents_or_strings(col, w, values, scheme, limit, extra);
	pfree(scheme);
	return encoding;
}

CcEncoding
cc_encode_bytes(CcColumn *col, CcChunkWriter *w, StringInfo extra)
{
	if (col->strings == NULL)
	{
		col->strings = MemoryContextAllocHuge(CurrentMemoryContext,
											  col->nrows * sizeof(StStr));
		for (uint32 i = 0; i < col->nrows; i++)
			col->strings[i] = cc_column_bytes(col, i);
	}
	for (uint32 i = 0; i < col->nrows; i++)
		col->nbytes += col->strings[i].len;
	if (encode_dictionary(col, w, col->strings, extra))
		return CC_ENC_DICT;
	return encode_values(col, w, col->strings, extra);
}
