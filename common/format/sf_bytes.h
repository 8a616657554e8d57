/*-------------------------------------------------------------------------
 *
 * sf_bytes.h
 *	  Small pieces of metas, as writers append them; and what readers say of
 *	  bytes that nobody wrote.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_BYTES_H
#define SF_BYTES_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "st_codec.h"
#include "st_compat.h"
#include "st_store.h"
#include "st_str.h"

extern void sf_put_varint(StringInfo buf, uint64 v);

/* Bytes behind their length. */
extern void sf_put_bytes(StringInfo buf, const void *data, Size len);

/* Arrays of up to ST_VECTOR_SIZE values, behind their length in bytes. */
extern void sf_put_int_array(StringInfo buf, const int64 *v, int n);
extern void sf_put_wide_array(StringInfo buf, const int128 *v, int n);
extern void sf_put_float8_array(StringInfo buf, const double *v, int n);
extern void sf_put_float4_array(StringInfo buf, const float *v, int n);
extern void sf_put_string_array(StringInfo buf, const StStr *v, int n);

/* Makes *buf at least need bytes large, and least; contents are not kept. */
extern void sf_ensure(MemoryContext mcxt, uint8 **buf, Size *cap, Size need,
					  Size least);

/*
 * Arrays of a column's values, and its bitmap of rows that are not null, with
 * room for twice as many rows: capacity stays a multiple of a bitmap word.
 */
extern void sf_grow_rows(MemoryContext mcxt, void **values, Size element,
						 uint64 **valid, uint32 *capacity);

/* Working memory of the codecs, which goes with the memory context. */
extern StCodecCtx *sf_codec_ctx_create(MemoryContext mcxt);

/*
 * That of the session's readers: one takes hundreds of kB, and fetches that go to
 * and fro among groups find it in the processor's cache.
 */
extern StCodecCtx *sf_codec_ctx_shared(void);

/*
 * A sorted dictionary of values, of total bytes (data NULL: null), in the
 * current context; false if it takes more than max_bytes, or is not clearly
 * smaller than the values.
 */
extern bool sf_dictionary_build(const StStr *values, uint32 nrows, uint64 total,
								Size max_bytes, uint32 **codes, StStr **entries,
								uint32 *nentries);

/*
 * Its bytes, as sf_dictionary_decode() takes them; and these with what leads
 * to them, stored in so many bytes of a codec frame if that is less.
 */
extern void sf_dictionary_encode(const StStr *entries, uint32 n, StringInfo raw);
extern void sf_dictionary_put(StringInfo buf, uint32 n, StringInfo raw,
							  const void *frame, Size stored);

/* A string scheme, behind its length. */
extern void sf_put_scheme(StringInfo buf, const StStrScheme *scheme);

pg_noreturn extern void sf_corrupt(Relation rel, const StGroup *group, const char *what);

/* Refuses a row group of a version above the one that is supported. */
extern void sf_check_version(Relation rel, const StGroup *group, uint32 version,
							 uint32 supported);

#endif							/* SF_BYTES_H */
