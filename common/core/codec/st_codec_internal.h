/*-------------------------------------------------------------------------
 *
 * st_codec_internal.h
 *	  What st_codec.c and st_codec_dict.c share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CODEC_INTERNAL_H
#define ST_CODEC_INTERNAL_H

#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include "st_codec.h"

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

/* Frees the parts but not the struct. */
extern void st_codec_ctx_release(StCodecCtx *ctx);

/* The parts, opened if need be; NULL if memory is short. */
extern ZSTD_CCtx *st_codec_ctx_cctx(StCodecCtx *ctx);
extern ZSTD_DCtx *st_codec_ctx_dctx(StCodecCtx *ctx);
extern void *st_codec_ctx_lz4(StCodecCtx *ctx);

/* Status of a zstd compression's result. */
extern StStatus st_codec_zstd_status(size_t result);

/* cdict NULL: at that level without a dictionary; else the level is cdict's. */
extern StStatus st_codec_zstd_compress(ZSTD_CCtx *cctx, int level,
									   const ZSTD_CDict *cdict,
									   const void *src, size_t n,
									   void *dst, size_t cap, size_t *len);
extern StStatus st_codec_zstd_decompress(ZSTD_DCtx *dctx,
										 const ZSTD_DDict *ddict,
										 const void *src, size_t n,
										 void *dst, size_t rawlen);
extern StStatus st_codec_lz4_decompress(const void *src, size_t n,
										void *dst, size_t rawlen,
										const void *dict, int dictlen);

#endif							/* ST_CODEC_INTERNAL_H */
