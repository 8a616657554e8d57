/*-------------------------------------------------------------------------
 *
 * st_codec.h
 *	  One interface over the general purpose codecs, zstd and lz4.
 *
 * Frames hold no length of their own that is relied on: the caller stores the
 * codec and the raw length.  Compressed bytes are standard zstd frames (with
 * content size, without checksum or dictionary id) and plain LZ4 blocks, so
 * any version of the two libraries reads them.
 *
 * The codecs allocate their working memory through their library, with
 * malloc: the one exception to the "no malloc" rule of common/core.  Hence
 * StCodecCtx and StCodecDict live until st_codec_ctx_free() and
 * st_codec_dict_free(), whatever happens to the caller's memory contexts.
 * Neither is for use by two threads at a time, but a dictionary may be shared
 * by any number of contexts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CODEC_H
#define ST_CODEC_H

#include "st_core.h"

/* Numbers are on disk. */
enum StCodec
{
	ST_CODEC_NONE = 0,			/* plain copy */
	ST_CODEC_LZ4 = 1,
	ST_CODEC_ZSTD = 2
};

/* Reusable working memory of the codecs; opened lazily per codec. */
typedef struct StCodecCtx StCodecCtx;

/* A dictionary, digested for one codec and level. */
typedef struct StCodecDict StCodecDict;

/* "none", "lz4", "zstd"; NULL for a number that is no codec. */
extern const char *st_codec_name(int codec);

/*
 * Levels.  zstd: the library's own, negative ones included, 0 means its
 * default.  lz4: 1 and 2 are the fast compressor, 3 to 12 the high
 * compression one.  none: only 0.  All are 0 or false for an unknown codec.
 */
extern int	st_codec_level_min(int codec);
extern int	st_codec_level_max(int codec);
extern int	st_codec_level_default(int codec);
extern bool st_codec_level_valid(int codec, int level);

/* NULL if memory is short.  st_codec_ctx_free(NULL) does nothing. */
extern StCodecCtx *st_codec_ctx_create(void);
extern void st_codec_ctx_free(StCodecCtx *ctx);

/*
 * Compresses n bytes from src into dst, which has room for cap bytes, and
 * sets *len.  ctx may be NULL: then the working memory is allocated for this
 * call alone.
 *
 * ST_NOSPACE: the result does not fit cap.  (So a caller who wants to keep
 * only what saves 10 % passes a cap of 0.9 * n and needs no larger buffer.)
 * ST_NOTFIT: more bytes than the codec can take.  ST_UNSUPPORTED: unknown
 * codec or level.  ST_NOMEM.
 */
extern StStatus st_codec_compress(StCodecCtx *ctx, int codec, int level,
								  const void *src, size_t n,
								  void *dst, size_t cap, size_t *len);

/*
 * Decompresses n bytes from src into exactly rawlen bytes at dst.  Never
 * writes outside of dst[0 .. rawlen), reads outside of src[0 .. n), or
 * allocates in proportion to anything that the input claims.
 *
 * ST_CORRUPT: the input is damaged, or is not of rawlen bytes.
 * ST_UNSUPPORTED: unknown codec.  ST_NOMEM.
 */
extern StStatus st_codec_decompress(StCodecCtx *ctx, int codec,
									const void *src, size_t n,
									void *dst, size_t rawlen);

/*
 * Trains a dictionary (zstd's ZDICT; useful for lz4 too, as its content is
 * ordered by usefulness).  samples: nsamples byte strings one after the
 * other, their sizes in sizes.  Writes at most cap bytes to dict, sets *len.
 *
 * ST_NOTFIT: too few or too uniform samples; do without a dictionary.
 */
extern StStatus st_codec_train(const void *samples, const size_t *sizes,
							   unsigned nsamples,
							   void *dict, size_t cap, size_t *len);

/* What a dictionary is for; the less, the less memory it takes. */
enum StCodecUse
{
	ST_CODEC_PACK = 1,
	ST_CODEC_UNPACK = 2
};

/*
 * Digests a dictionary: a trained one, or any bytes that resemble the data,
 * which are copied.  uses: of StCodecUse, at least one; it must not be used
 * for anything else.  The level counts for packing only.  NULL if the codec
 * is unknown or none, the level is not valid, or memory is short.
 */
extern StCodecDict *st_codec_dict_create(int codec, int level, int uses,
										 const void *bytes, size_t len);
extern void st_codec_dict_free(StCodecDict *dict);

/* Bytes of memory that it takes. */
extern size_t st_codec_dict_memory(const StCodecDict *dict);

/*
 * As st_codec_compress() and st_codec_decompress(), with the dictionary's
 * codec and level.  Decompression needs a dictionary of the same codec and
 * bytes; the level may differ.  With other bytes the result is ST_CORRUPT or
 * other data of the right length: keep a checksum.
 */
extern StStatus st_codec_compress_dict(StCodecCtx *ctx,
									   const StCodecDict *dict,
									   const void *src, size_t n,
									   void *dst, size_t cap, size_t *len);
extern StStatus st_codec_decompress_dict(StCodecCtx *ctx,
										 const StCodecDict *dict,
										 const void *src, size_t n,
										 void *dst, size_t rawlen);

#endif							/* ST_CODEC_H */
