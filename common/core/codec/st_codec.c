/*-------------------------------------------------------------------------
 *
 * st_codec.c
 *	  zstd and lz4 behind one interface: names, levels, contexts,
 *	  dictionaries, (de)compression of blocks.
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

#include <lz4.h>
#include <lz4hc.h>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "st_codec.h"

/* LZ4 looks back at most this far, so more of a dictionary is no use. */
#define LZ4_DICT_MAX 65536

typedef union StLz4State
{
	LZ4_stream_t fast;
	LZ4_streamHC_t hc;
} StLz4State;

/* Each part is NULL until it is needed. */
struct StCodecCtx
{
	ZSTD_CCtx  *cctx;
	ZSTD_DCtx  *dctx;
	StLz4State *lz4_state;
};

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

/* ---- names and levels ---- */

static const char *const names[] = {
	[ST_CODEC_NONE] = "none",
	[ST_CODEC_LZ4] = "lz4",
	[ST_CODEC_ZSTD] = "zstd"
};

const char *
st_codec_name(int codec)
{
	return codec >= ST_CODEC_NONE && codec <= ST_CODEC_ZSTD ? names[codec] : NULL;
}

int
st_codec_level_min(int codec)
{
	return codec == ST_CODEC_ZSTD ? ZSTD_minCLevel() : codec == ST_CODEC_LZ4;
}

int
st_codec_level_max(int codec)
{
	return codec == ST_CODEC_ZSTD ? ZSTD_maxCLevel() :
		codec == ST_CODEC_LZ4 ? LZ4HC_CLEVEL_MAX : 0;
}

int
st_codec_level_default(int codec)
{
	return codec == ST_CODEC_ZSTD ? ZSTD_CLEVEL_DEFAULT : codec == ST_CODEC_LZ4;
}

bool
st_codec_level_valid(int codec, int level)
{
	return st_codec_name(codec) != NULL && level >= st_codec_level_min(codec) &&
		level <= st_codec_level_max(codec);
}

/* ---- contexts ---- */

StCodecCtx *
st_codec_ctx_create(void)
{
	return calloc(1, sizeof(StCodecCtx));
}

/* Frees the parts but not the struct. */
static void
release(StCodecCtx *ctx)
{
	ZSTD_freeCCtx(ctx->cctx);
	ZSTD_freeDCtx(ctx->dctx);
	free(ctx->lz4_state);
}

void
st_codec_ctx_free(StCodecCtx *ctx)
{
	if (ctx == NULL)
		return;
	release(ctx);
	free(ctx);
}

/* ---- dictionaries ---- */

StStatus
st_codec_train(const void *samples, const size_t *sizes, unsigned nsamples,
			   void *dict, size_t cap, size_t *len)
{
	size_t		result;

	result = ZDICT_trainFromBuffer(dict, cap, samples, sizes, nsamples);
	*len = result;
	return ZDICT_isError(result) ? ST_NOTFIT : ST_OK;
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

/* The state that blocks are compressed from. */
static bool
lz4_load(StCodecDict *dict)
{
	StLz4State *state = dict->lz4_loaded = malloc(sizeof(StLz4State));

	if (state == NULL)
		return false;
	if (dict->level < LZ4HC_CLEVEL_MIN)
	{
		LZ4_initStream(&state->fast, sizeof(LZ4_stream_t));
		LZ4_loadDict(&state->fast, (const char *) dict->bytes, dict->len);
	}
	else
	{
		LZ4_initStreamHC(&state->hc, sizeof(LZ4_streamHC_t));
		LZ4_resetStreamHC_fast(&state->hc, dict->level);
		LZ4_loadDictHC(&state->hc, (const char *) dict->bytes, dict->len);
	}
	return true;
}

StCodecDict *
st_codec_dict_create(int codec, int level, int uses, const void *bytes,
					 size_t len)
{
	bool		pack = (uses & ST_CODEC_PACK) != 0;
	bool		unpack = (uses & ST_CODEC_UNPACK) != 0;
	StCodecDict *dict;
	bool		ok;

	if (codec == ST_CODEC_NONE || st_codec_name(codec) == NULL ||
		(pack && !st_codec_level_valid(codec, level)))
		return NULL;
	dict = calloc(1, sizeof(StCodecDict));
	if (dict == NULL)
		return NULL;
	dict->codec = codec;
	dict->level = level;
	if (codec == ST_CODEC_ZSTD)
		ok = (!pack || (dict->cdict = ZSTD_createCDict(bytes, len, level))) &&
			(!unpack || (dict->ddict = ZSTD_createDDict(bytes, len)));
	else
		ok = lz4_keep_bytes(dict, bytes, len) && (!pack || lz4_load(dict));
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

/* ---- compression ---- */

static StStatus
zstd_compress(StCodecCtx *ctx, int level, const StCodecDict *dict,
			  const void *src, size_t n, void *dst, size_t cap, size_t *len)
{
	size_t		result;

	if (ctx->cctx == NULL && (ctx->cctx = ZSTD_createCCtx()) == NULL)
		return ST_NOMEM;
	ZSTD_CCtx_reset(ctx->cctx, ZSTD_reset_session_and_parameters);
	result = ZSTD_CCtx_setParameter(ctx->cctx, ZSTD_c_dictIDFlag, 0);
	if (!ZSTD_isError(result))
		result = dict ? ZSTD_CCtx_refCDict(ctx->cctx, dict->cdict) :
			ZSTD_CCtx_setParameter(ctx->cctx, ZSTD_c_compressionLevel, level);
	if (!ZSTD_isError(result))
		result = ZSTD_compress2(ctx->cctx, dst, cap, src, n);
	*len = result;
	switch (ZSTD_getErrorCode(result))
	{
		case ZSTD_error_no_error:
			return ST_OK;
		case ZSTD_error_memory_allocation:
			return ST_NOMEM;
		case ZSTD_error_dstSize_tooSmall:
			return ST_NOSPACE;
		case ZSTD_error_srcSize_wrong:
			return ST_NOTFIT;
		default:
			return ST_UNSUPPORTED;
	}
}

static StStatus
lz4_compress(StCodecCtx *ctx, int level, const StCodecDict *dict,
			 const void *src, size_t n, void *dst, size_t cap, size_t *len)
{
	bool		fast = level < LZ4HC_CLEVEL_MIN;
	int			room = cap > INT_MAX ? INT_MAX : (int) cap;
	StLz4State *state;
	int			result;

	if (n > LZ4_MAX_INPUT_SIZE)
		return ST_NOTFIT;
	/* either compressor's state: the high compression one is the larger */
	if (ctx->lz4_state == NULL &&
		(ctx->lz4_state = malloc(sizeof(StLz4State))) == NULL)
		return ST_NOMEM;
	state = ctx->lz4_state;
	if (dict != NULL)
		memcpy(state, dict->lz4_loaded,
			   fast ? sizeof(state->fast) : sizeof(state->hc));
	if (fast && dict != NULL)
		result = LZ4_compress_fast_continue(&state->fast, src, dst, (int) n,
											room, 1);
	else if (fast)
		result = LZ4_compress_fast_extState(state, src, dst, (int) n, room, 1);
	else if (dict != NULL)
		result = LZ4_compress_HC_continue(&state->hc, src, dst, (int) n, room);
	else
		result = LZ4_compress_HC_extStateHC(state, src, dst, (int) n, room,
											level);
	*len = (size_t) result;
	return result > 0 ? ST_OK : ST_NOSPACE;
}

static StStatus
compress(StCodecCtx *ctx, int codec, int level, const StCodecDict *dict,
		 const void *src, size_t n, void *dst, size_t cap, size_t *len)
{
	StCodecCtx	oneshot = {0};
	StCodecCtx *use = ctx ? ctx : &oneshot;
	StStatus	status = ST_OK;

	if (codec == ST_CODEC_ZSTD)
		status = zstd_compress(use, level, dict, src, n, dst, cap, len);
	else if (codec == ST_CODEC_LZ4)
		status = lz4_compress(use, level, dict, src, n, dst, cap, len);
	else if (n > cap)
		status = ST_NOSPACE;
	else
	{
		if (n > 0)
			memcpy(dst, src, n);
		*len = n;
	}
	release(&oneshot);
	return status;
}

StStatus
st_codec_compress(StCodecCtx *ctx, int codec, int level,
				  const void *src, size_t n,
				  void *dst, size_t cap, size_t *len)
{
	if (!st_codec_level_valid(codec, level))
		return ST_UNSUPPORTED;
	return compress(ctx, codec, level, NULL, src, n, dst, cap, len);
}

StStatus
st_codec_compress_dict(StCodecCtx *ctx, const StCodecDict *dict,
					   const void *src, size_t n,
					   void *dst, size_t cap, size_t *len)
{
	return compress(ctx, dict->codec, dict->level, dict, src, n, dst, cap, len);
}

/* ---- decompression ---- */

/*
 * The frame's own claim of its size is checked first: it costs nothing and
 * catches most damage before any work is done.  The window that a frame
 * claims does not matter, as one-shot decompression works inside dst.
 */
static StStatus
zstd_decompress(StCodecCtx *ctx, const StCodecDict *dict,
				const void *src, size_t n, void *dst, size_t rawlen)
{
	size_t		result;

	if (ctx->dctx == NULL && (ctx->dctx = ZSTD_createDCtx()) == NULL)
		return ST_NOMEM;
	if (ZSTD_getFrameContentSize(src, n) != rawlen)
		return ST_CORRUPT;
	result = ZSTD_decompress_usingDDict(ctx->dctx, dst, rawlen, src, n,
										dict ? dict->ddict : NULL);
	if (!ZSTD_isError(result))
		return result == rawlen ? ST_OK : ST_CORRUPT;
	return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ?
		ST_NOMEM : ST_CORRUPT;
}

static StStatus
decompress(StCodecCtx *ctx, int codec, const StCodecDict *dict,
		   const void *src, size_t n, void *dst, size_t rawlen)
{
	StCodecCtx	oneshot = {0};
	uint8_t		none;
	StStatus	status;
	int			result;

	if (rawlen == 0)
		dst = &none;
	switch (codec)
	{
		case ST_CODEC_NONE:
			if (n != rawlen)
				return ST_CORRUPT;
			if (n > 0)
				memcpy(dst, src, n);
			return ST_OK;
		case ST_CODEC_LZ4:
			if (n == 0 || n > INT_MAX || rawlen > LZ4_MAX_INPUT_SIZE)
				return ST_CORRUPT;
			result = LZ4_decompress_safe_usingDict(src, dst, (int) n, (int) rawlen,
												   dict ? (char *) dict->bytes : NULL,
												   dict ? dict->len : 0);
			return result >= 0 && (size_t) result == rawlen ? ST_OK : ST_CORRUPT;
		case ST_CODEC_ZSTD:
			status = zstd_decompress(ctx ? ctx : &oneshot, dict, src, n, dst, rawlen);
			release(&oneshot);
			return status;
		default:
			return ST_UNSUPPORTED;
	}
}

StStatus
st_codec_decompress(StCodecCtx *ctx, int codec, const void *src, size_t n,
					void *dst, size_t rawlen)
{
	return decompress(ctx, codec, NULL, src, n, dst, rawlen);
}

StStatus
st_codec_decompress_dict(StCodecCtx *ctx, const StCodecDict *dict,
						 const void *src, size_t n, void *dst, size_t rawlen)
{
	return decompress(ctx, dict->codec, dict, src, n, dst, rawlen);
}
