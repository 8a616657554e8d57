/*-------------------------------------------------------------------------
 *
 * st_codec.c
 *	  zstd and lz4 behind one interface: names, levels, contexts, and
 *	  (de)compression of blocks without a dictionary.
 *
 * st_codec_dict.c does the same with dictionaries; both share the contexts
 * declared in st_codec_internal.h.
 *
 *-------------------------------------------------------------------------
 */
#include <limits.h>
#include <stdlib.h>

#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "st_codec_internal.h"

typedef struct CodecInfo
{
	const char *name;
	int			level_default;
} CodecInfo;

static const CodecInfo codecs[] = {
	[ST_CODEC_NONE] = {"none", 0},
	[ST_CODEC_LZ4] = {"lz4", 1},
	[ST_CODEC_ZSTD] = {"zstd", ZSTD_CLEVEL_DEFAULT},
};

#define NUM_CODECS ((int) (sizeof(codecs) / sizeof(codecs[0])))

static bool
codec_known(int codec)
{
	return codec >= 0 && codec < NUM_CODECS;
}

const char *
st_codec_name(int codec)
{
	return codec_known(codec) ? codecs[codec].name : NULL;
}

int
st_codec_by_name(const char *name)
{
	for (int codec = 0; codec < NUM_CODECS; codec++)
	{
		if (strcmp(name, codecs[codec].name) == 0)
			return codec;
	}
	return -1;
}

int
st_codec_level_min(int codec)
{
	switch (codec)
	{
		case ST_CODEC_LZ4:
			return 1;
		case ST_CODEC_ZSTD:
			return ZSTD_minCLevel();
		default:
			return 0;
	}
}

int
st_codec_level_max(int codec)
{
	switch (codec)
	{
		case ST_CODEC_LZ4:
			return LZ4HC_CLEVEL_MAX;
		case ST_CODEC_ZSTD:
			return ZSTD_maxCLevel();
		default:
			return 0;
	}
}

int
st_codec_level_default(int codec)
{
	return codec_known(codec) ? codecs[codec].level_default : 0;
}

bool
st_codec_level_valid(int codec, int level)
{
	return codec_known(codec) && level >= st_codec_level_min(codec) &&
		level <= st_codec_level_max(codec);
}

size_t
st_codec_bound(int codec, size_t n)
{
	switch (codec)
	{
		case ST_CODEC_NONE:
			return n;
		case ST_CODEC_LZ4:
			if (n > LZ4_MAX_INPUT_SIZE)
				return 0;
			return (size_t) LZ4_compressBound((int) n);
		case ST_CODEC_ZSTD:
			n = ZSTD_compressBound(n);
			return ZSTD_isError(n) ? 0 : n;
		default:
			return 0;
	}
}

/* ---- contexts ---- */

StCodecCtx *
st_codec_ctx_create(void)
{
	return calloc(1, sizeof(StCodecCtx));
}

void
st_codec_ctx_free(StCodecCtx *ctx)
{
	if (ctx == NULL)
		return;
	st_codec_ctx_release(ctx);
	free(ctx);
}

void
st_codec_ctx_release(StCodecCtx *ctx)
{
	ZSTD_freeCCtx(ctx->cctx);
	ZSTD_freeDCtx(ctx->dctx);
	free(ctx->lz4_state);
}

ZSTD_CCtx *
st_codec_ctx_cctx(StCodecCtx *ctx)
{
	if (ctx->cctx == NULL)
		ctx->cctx = ZSTD_createCCtx();
	return ctx->cctx;
}

ZSTD_DCtx *
st_codec_ctx_dctx(StCodecCtx *ctx)
{
	if (ctx->dctx == NULL)
		ctx->dctx = ZSTD_createDCtx();
	return ctx->dctx;
}

/* Either compressor's state: the high compression one is the larger. */
void *
st_codec_ctx_lz4(StCodecCtx *ctx)
{
	if (ctx->lz4_state == NULL)
		ctx->lz4_state = malloc(sizeof(StLz4State));
	return ctx->lz4_state;
}

StStatus
st_codec_zstd_status(size_t result)
{
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

/* ---- compression ---- */

StStatus
st_codec_zstd_compress(ZSTD_CCtx *cctx, int level, const ZSTD_CDict *cdict,
					   const void *src, size_t n,
					   void *dst, size_t cap, size_t *len)
{
	size_t		result;

	if (cctx == NULL)
		return ST_NOMEM;
	ZSTD_CCtx_reset(cctx, ZSTD_reset_session_and_parameters);
	result = ZSTD_CCtx_setParameter(cctx, ZSTD_c_dictIDFlag, 0);
	if (!ZSTD_isError(result))
		result = cdict ? ZSTD_CCtx_refCDict(cctx, cdict) :
			ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, level);
	if (!ZSTD_isError(result))
		result = ZSTD_compress2(cctx, dst, cap, src, n);
	*len = result;
	return st_codec_zstd_status(result);
}

static StStatus
lz4_compress(void *state, int level, const void *src, size_t n,
			 void *dst, size_t cap, size_t *len)
{
	int			dstcap = cap > INT_MAX ? INT_MAX : (int) cap;
	int			result;

	if (n > LZ4_MAX_INPUT_SIZE)
		return ST_NOTFIT;
	if (state == NULL)
		return ST_NOMEM;
	if (level < LZ4HC_CLEVEL_MIN)
		result = LZ4_compress_fast_extState(state, src, dst, (int) n, dstcap,
											1);
	else
		result = LZ4_compress_HC_extStateHC(state, src, dst, (int) n, dstcap,
											level);
	*len = (size_t) result;
	return result > 0 ? ST_OK : ST_NOSPACE;
}

StStatus
st_codec_compress(StCodecCtx *ctx, int codec, int level,
				  const void *src, size_t n,
				  void *dst, size_t cap, size_t *len)
{
	StCodecCtx	oneshot = {0};
	StCodecCtx *use = ctx ? ctx : &oneshot;
	StStatus	status = ST_OK;

	if (!st_codec_level_valid(codec, level))
		return ST_UNSUPPORTED;
	if (codec == ST_CODEC_ZSTD)
		status = st_codec_zstd_compress(st_codec_ctx_cctx(use), level, NULL,
										src, n, dst, cap, len);
	else if (codec == ST_CODEC_LZ4)
		status = lz4_compress(st_codec_ctx_lz4(use), level, src, n,
							  dst, cap, len);
	else if (n > cap)
		status = ST_NOSPACE;
	else
	{
		if (n > 0)
			memcpy(dst, src, n);
		*len = n;
	}
	if (ctx == NULL)
		st_codec_ctx_release(&oneshot);
	return status;
}

/* ---- decompression ---- */

/*
 * The frame's own claim of its size is checked first: it costs nothing and
 * catches most damage before any work is done.  The window that a frame
 * claims does not matter, as one-shot decompression works inside dst.
 */
StStatus
st_codec_zstd_decompress(ZSTD_DCtx *dctx, const ZSTD_DDict *ddict,
						 const void *src, size_t n, void *dst, size_t rawlen)
{
	uint8_t		none;
	size_t		result;

	if (dctx == NULL)
		return ST_NOMEM;
	if (ZSTD_getFrameContentSize(src, n) != rawlen)
		return ST_CORRUPT;
	result = ZSTD_decompress_usingDDict(dctx, rawlen ? dst : &none, rawlen,
										src, n, ddict);
	if (!ZSTD_isError(result))
		return result == rawlen ? ST_OK : ST_CORRUPT;
	return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ?
		ST_NOMEM : ST_CORRUPT;
}

StStatus
st_codec_lz4_decompress(const void *src, size_t n, void *dst, size_t rawlen,
						const void *dict, int dictlen)
{
	char		none;
	int			result;

	if (n > INT_MAX || rawlen > LZ4_MAX_INPUT_SIZE)
		return ST_CORRUPT;
	if (n == 0)
		return ST_CORRUPT;
	result = LZ4_decompress_safe_usingDict(src, rawlen ? dst : &none, (int) n,
										   (int) rawlen, dict, dictlen);
	return result >= 0 && (size_t) result == rawlen ? ST_OK : ST_CORRUPT;
}

StStatus
st_codec_decompress(StCodecCtx *ctx, int codec, const void *src, size_t n,
					void *dst, size_t rawlen)
{
	StCodecCtx	oneshot = {0};
	StStatus	status;

	switch (codec)
	{
		case ST_CODEC_NONE:
			if (n != rawlen)
				return ST_CORRUPT;
			if (n > 0)
				memcpy(dst, src, n);
			return ST_OK;
		case ST_CODEC_LZ4:
			return st_codec_lz4_decompress(src, n, dst, rawlen, NULL, 0);
		case ST_CODEC_ZSTD:
			status =
				st_codec_zstd_decompress(st_codec_ctx_dctx(ctx ? ctx : &oneshot),
										 NULL, src, n, dst, rawlen);
			if (ctx == NULL)
				st_codec_ctx_release(&oneshot);
			return status;
		default:
			return ST_UNSUPPORTED;
	}
}
