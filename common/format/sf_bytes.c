/*-------------------------------------------------------------------------
 *
 * sf_bytes.c
 *	  Small pieces of metas, as writers append them; and what readers say of
 *	  bytes that nobody wrote.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_dict.h"
#include "st_float.h"
#include "st_int.h"
#include "st_options.h"
#include "st_file.h"

void
sf_put_varint(StringInfo buf, uint64 v)
{
	uint8		bytes[ST_VARINT_MAX];
	StByteWriter w;

	st_writer_init(&w, bytes, sizeof(bytes));
	st_write_varint(&w, v);
	appendBinaryStringInfo(buf, (char *) bytes, st_writer_len(&w));
}

void
sf_put_bytes(StringInfo buf, const void *data, Size len)
{
	sf_put_varint(buf, len);
	appendBinaryStringInfo(buf, data, len);
}

#define DEFINE_PUT_ARRAY(name, type, core_type, codec) \
void \
name(StringInfo buf, const type *v, int n) \
{ \
	uint8	   *bytes = palloc(codec##_bound(n)); \
	size_t		len; \
\
	if (codec##_encode((const core_type *) v, n, bytes, codec##_bound(n), &len) != ST_OK) \
		elog(ERROR, "could not encode an array of %d numbers", n); \
	sf_put_bytes(buf, bytes, len); \
	pfree(bytes); \
}

DEFINE_PUT_ARRAY(sf_put_int_array, int64, int64_t, st_int)
DEFINE_PUT_ARRAY(sf_put_wide_array, int128, StInt128, st_int128)
DEFINE_PUT_ARRAY(sf_put_float8_array, double, double, st_f64)
DEFINE_PUT_ARRAY(sf_put_float4_array, float, float, st_f32)

void
sf_put_string_array(StringInfo buf, const StStr *v, int n)
{
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	uint8	   *bytes;
	size_t		bound;
	size_t		len;

	st_str_scheme_raw(raw);
	bound = st_str_bound(raw, v, n);
	bytes = palloc(bound);
	if (st_str_encode(raw, v, n, bytes, bound, &len) != ST_OK)
		elog(ERROR, "could not encode an array of %d strings", n);
	sf_put_bytes(buf, bytes, len);
	pfree(bytes);
	pfree(raw);
}

void
sf_ensure(MemoryContext mcxt, uint8 **buf, Size *cap, Size need, Size least)
{
	if (need <= *cap)
		return;
	if (*buf)
		pfree(*buf);
	*buf = NULL;
	*cap = 0;
	need = Max(need, least);
	*buf = MemoryContextAllocHuge(mcxt, need);
	*cap = need;
}

void
sf_grow_rows(MemoryContext mcxt, void **values, Size element, uint64 **valid,
			 uint32 *capacity)
{
	uint32		cap = Max(ST_VECTOR_SIZE, *capacity * 2);
	Size		words = cap / 64 * sizeof(uint64);
	Size		old_words = *capacity / 64 * sizeof(uint64);

	if (*capacity == 0)
	{
		*values = MemoryContextAllocHuge(mcxt, cap * element);
		*valid = MemoryContextAllocHuge(mcxt, words);
	}
	else
	{
		*values = repalloc_huge(*values, cap * element);
		*valid = repalloc_huge(*valid, words);
	}
	memset((char *) *valid + old_words, 0, words - old_words);
	*capacity = cap;
}

static void
release_codec(void *arg)
{
	st_codec_ctx_free((StCodecCtx *) arg);
}

StCodecCtx *
sf_codec_ctx_create(MemoryContext mcxt)
{
	MemoryContextCallback *release = MemoryContextAlloc(mcxt, sizeof(*release));
	StCodecCtx *ctx = st_codec_ctx_create();

	if (ctx == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	release->func = release_codec;
	release->arg = ctx;
	MemoryContextRegisterResetCallback(mcxt, release);
	return ctx;
}

StCodecCtx *
sf_codec_ctx_shared(void)
{
	static StCodecCtx *ctx = NULL;

	if (ctx == NULL)
		ctx = sf_codec_ctx_create(TopMemoryContext);
	return ctx;
}

/* ---- dictionaries ---- */

#define DICT_MAX_ENTRIES 32768

/* True if coding by dictionary is clearly smaller than the bytes. */
static bool
dictionary_pays(const StStr *entries, size_t n, uint32 nrows, uint64 total,
				Size max_bytes)
{
	uint64		bytes = 0;
	int			bits = 1;

	for (size_t i = 0; i < n; i++)
		bytes += entries[i].len + 1;
	while (((size_t) 1 << bits) < n)
		bits++;
	return bytes <= max_bytes &&
		bytes + (uint64) nrows * bits / 8 < (total + nrows) * 3 / 4;
}

bool
sf_dictionary_build(const StStr *values, uint32 nrows, uint64 total, Size max_bytes,
					uint32 **codes, StStr **entries, uint32 *nentries)
{
	size_t		max = Min(DICT_MAX_ENTRIES, Max(16, nrows / 3));
	size_t		worklen = st_dict_worksize(nrows);
	void	   *work = MemoryContextAllocHuge(CurrentMemoryContext, worklen);
	size_t		n = 0;
	bool		ok;

	*codes = MemoryContextAllocHuge(CurrentMemoryContext, nrows * sizeof(uint32));
	*entries = palloc(max * sizeof(StStr));
	ok = st_dict_build(values, nrows, max, work, worklen, *codes, *entries,
					   &n) == ST_OK &&
		dictionary_pays(*entries, n, nrows, total, max_bytes);
	*nentries = n;
	pfree(work);
	if (ok)
		return true;
	pfree(*codes);
	pfree(*entries);
	*codes = NULL;
	*entries = NULL;
	*nentries = 0;
	return false;
}

void
sf_dictionary_encode(const StStr *entries, uint32 n, StringInfo raw)
{
	initStringInfo(raw);
	for (uint32 first = 0; first < n; first += ST_VECTOR_SIZE)
		sf_put_string_array(raw, entries + first, Min(ST_VECTOR_SIZE, n - first));
}

void
sf_dictionary_put(StringInfo buf, uint32 n, StringInfo raw, const void *frame,
				  Size stored)
{
	sf_put_varint(buf, n);
	sf_put_varint(buf, raw->len);
	sf_put_bytes(buf, stored < raw->len ? frame : raw->data, stored);
	pfree(raw->data);
}

void
sf_put_scheme(StringInfo buf, const StStrScheme *scheme)
{
	uint8	   *saved = palloc(st_str_scheme_bound());

	sf_put_bytes(buf, saved, st_str_scheme_save(scheme, saved, st_str_scheme_bound()));
	pfree(saved);
}

void
sf_corrupt(Relation rel, const StGroup *group, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("row group " UINT64_FORMAT " of table \"%s\" is damaged",
					group->first_row, RelationGetRelationName(rel)),
			 errdetail("The %s is not what was written (blocks %s).", what,
					   st_group_blocks(group))));
}

void
sf_check_version(Relation rel, const StGroup *group, uint32 version, uint32 supported)
{
	if (version > supported)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("row group " UINT64_FORMAT " of table \"%s\" has format version %u, but this library reads up to %u",
						group->first_row, RelationGetRelationName(rel),
						version, supported),
				 errhint("Install a newer version of %s.",
						 st_options_set()->provider)));
}
