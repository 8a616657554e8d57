/*-------------------------------------------------------------------------
 *
 * st_codec_dict.c
 *	  Dictionaries for zstd and lz4: training, digesting, and compression
 *	  with them.
 *
 * zstd digests a dictionary once (CDict for compression, DDict for
 * decompression).  For lz4 we keep a compressor state into which the
 * dictionary has been loaded, and copy that state (16 or 256 kB) per block
 * instead of hashing the dictionary again.
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>
#include <stdlib.h>

#include <zdict.h>
#include <zstd.h>

#include "st_codec_internal.h"

/* LZ4 looks back at most this far, so more of a dictionary is no use. */
#define LZ4_DICT_MAX 65536

struct StCodecDict
{
	int			codec;
	int			level;
	ZSTD_CDict *cdict;			/* zstd */
	ZSTD_DDict *ddict;
	uint8_t    *bytes;			/* lz4: own copy, the states point into it */
	int			len;
	StLz4State *lz4_loaded;
};

StStatus
st_codec_train(const void *samples, const size_t *sizes, unsigned nsamples,
			   void *dict, size_t cap, size_t *len)
{
	size_t		result;

	result = ZDICT_trainFromBuffer(dict, cap, samples, sizes, nsamples);
	*len = result;
	return ZDICT_isError(result) ? ST_NOTFIT : ST_OK;
}

static bool
zstd_digest(StCodecDict *dict, const void *bytes, size_t len)
{
	dict->cdict = ZSTD_createCDict(bytes, len, dict->level);
	dict->ddict = ZSTD_createDDict(bytes, len);
	return dict->cdict != NULL && dict->ddict != NULL;
}

/* Keeps the last bytes of a dictionary: lz4 needs them to decompress. */
static bool
lz4_keep_bytes(StCodecDict *dict, const void *bytes, size_t len)
{
	if (len > LZ4_DICT_MAX)
	{
		bytes = (const uint8_t *) bytes + (len - LZ4_DICT_MAX);
		len = LZ4_DICT_MAX;
	}
	dict->bytes = malloc(len ? len : 1);
	if (dict->bytes == NULL)
		return false;
	if (len > 0)
		memcpy(dict->bytes, bytes, len);
	dict->len = (int) len;
	return true;
}

static bool
lz4_digest(StCodecDict *dict, const void *bytes, size_t len)
{
	if (!lz4_keep_bytes(dict, bytes, len))
		return false;
	dict->lz4_loaded = malloc(sizeof(StLz4State));
	if (dict->lz4_loaded == NULL)
		return false;
	if (dict->level < LZ4HC_CLEVEL_MIN)
	{
		LZ4_initStream(&dict->lz4_loaded->fast, sizeof(LZ4_stream_t));
		LZ4_loadDict(&dict->lz4_loaded->fast, (const char *) dict->bytes,
					 dict->len);
	}
	else
	{
		LZ4_initStreamHC(&dict->lz4_loaded->hc, sizeof(LZ4_streamHC_t));
		LZ4_resetStreamHC_fast(&dict->lz4_loaded->hc, dict->level);
		LZ4_loadDictHC(&dict->lz4_loaded->hc, (const char *) dict->bytes,
					   dict->len);
	}
	return true;
}

StCodecDict *
st_codec_dict_create(int codec, int level, const void *bytes, size_t len)
{
	StCodecDict *dict;
	bool		ok;

	if (codec == ST_CODEC_NONE || !st_codec_level_valid(codec, level))
		return NULL;
	dict = calloc(1, sizeof(StCodecDict));
	if (dict == NULL)
		return NULL;
	dict->codec = codec;
	dict->level = level;
	ok = codec == ST_CODEC_ZSTD ? zstd_digest(dict, bytes, len) :
		lz4_digest(dict, bytes, len);
	if (!ok)
	{
		st_codec_dict_free(dict);
		return NULL;
	}
	return dict;
}

StCodecDict *
st_codec_dict_create_pack(int codec, int level, const void *bytes, size_t len)
{
	StCodecDict *dict;

	if (codec != ST_CODEC_ZSTD || !st_codec_level_valid(codec, level))
		return NULL;
	dict = calloc(1, sizeof(StCodecDict));
	if (dict == NULL)
		return NULL;
	dict->codec = codec;
	dict->level = level;
	dict->cdict = ZSTD_createCDict(bytes, len, level);
	if (dict->cdict != NULL)
		return dict;
	free(dict);
	return NULL;
}

StCodecDict *
st_codec_dict_create_unpack(int codec, const void *bytes, size_t len)
{
	StCodecDict *dict;
	bool		ok;

	if (codec != ST_CODEC_ZSTD && codec != ST_CODEC_LZ4)
		return NULL;
	dict = calloc(1, sizeof(StCodecDict));
	if (dict == NULL)
		return NULL;
	dict->codec = codec;
	if (codec == ST_CODEC_ZSTD)
		ok = (dict->ddict = ZSTD_createDDict(bytes, len)) != NULL;
	else
		ok = lz4_keep_bytes(dict, bytes, len);
	if (ok)
		return dict;
	st_codec_dict_free(dict);
	return NULL;
}

size_t
st_codec_dict_memory(const StCodecDict *dict)
{
	return sizeof(*dict) + ZSTD_sizeof_CDict(dict->cdict) +
		ZSTD_sizeof_DDict(dict->ddict) + (size_t) dict->len +
		(dict->lz4_loaded ? sizeof(StLz4State) : 0);
}

void
st_codec_dict_free(StCodecDict *dict)
{
	if (dict == NULL)
		return;
	ZSTD_freeCDict(dict->cdict);
	ZSTD_freeDDict(dict->ddict);
	free(dict->bytes);
	free(dict->lz4_loaded);
	free(dict);
}

static StStatus
lz4_compress_dict(StLz4State *state, const StCodecDict *dict,
				  const void *src, size_t n,
				  void *dst, size_t cap, size_t *len)
{
	int			dstcap = cap > INT_MAX ? INT_MAX : (int) cap;
	int			result;

	if (n > LZ4_MAX_INPUT_SIZE)
		return ST_NOTFIT;
	if (state == NULL)
		return ST_NOMEM;
	if (dict->level < LZ4HC_CLEVEL_MIN)
	{
		memcpy(&state->fast, &dict->lz4_loaded->fast, sizeof(state->fast));
		result = LZ4_compress_fast_continue(&state->fast, src, dst, (int) n,
											dstcap, 1);
	}
	else
	{
		memcpy(&state->hc, &dict->lz4_loaded->hc, sizeof(state->hc));
		result = LZ4_compress_HC_continue(&state->hc, src, dst, (int) n,
										  dstcap);
	}
	*len = (size_t) result;
	return result > 0 ? ST_OK : ST_NOSPACE;
}

StStatus
st_codec_compress_dict(StCodecCtx *ctx, const StCodecDict *dict,
					   const void *src, size_t n,
					   void *dst, size_t cap, size_t *len)
{
	StCodecCtx	oneshot = {0};
	StCodecCtx *use = ctx ? ctx : &oneshot;
	StStatus	status;

	if (dict->codec == ST_CODEC_ZSTD)
		status = st_codec_zstd_compress(st_codec_ctx_cctx(use), dict->level,
										dict->cdict, src, n, dst, cap, len);
	else
		status = lz4_compress_dict(st_codec_ctx_lz4(use), dict, src, n,
								   dst, cap, len);
	if (ctx == NULL)
		st_codec_ctx_release(&oneshot);
	return status;
}

StStatus
st_codec_decompress_dict(StCodecCtx *ctx, const StCodecDict *dict,
						 const void *src, size_t n, void *dst, size_t rawlen)
{
	StCodecCtx	oneshot = {0};
	StStatus	status;

	if (dict->codec == ST_CODEC_LZ4)
		return st_codec_lz4_decompress(src, n, dst, rawlen,
									   dict->bytes, dict->len);
	status = st_codec_zstd_decompress(st_codec_ctx_dctx(ctx ? ctx : &oneshot),
									  dict->ddict, src, n, dst, rawlen);
	if (ctx == NULL)
		st_codec_ctx_release(&oneshot);
	return status;
}
