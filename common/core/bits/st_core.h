/*-------------------------------------------------------------------------
 *
 * st_core.h
 *	  Ground rules of Strata's plain C library.
 *
 * Everything in common/core is plain C11 without postgres.h: no palloc, no
 * elog, no globals that change.  The caller owns every buffer.  Functions
 * that can fail return an StStatus.  Decoders treat every byte as hostile:
 * they never read or write outside of the given buffers and never loop for
 * longer than the size of their output allows.
 *
 * Values on disk are little-endian and unaligned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CORE_H
#define ST_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Values per vector: the unit of encoding, decoding and zone maps. */
#define ST_VECTOR_SIZE 1024

/* Numbers are pinned: tests and callers of another version rely on them. */
typedef enum StStatus
{
	ST_OK = 0,
	ST_CORRUPT = 1,				/* input bytes are not what an encoder wrote */
	ST_NOSPACE = 2,				/* output buffer (or limit) too small */
	ST_UNSUPPORTED = 3,			/* format or codec from another version */
	ST_NOTFIT = 4,				/* the method cannot represent these values */
	ST_NOMEM = 5				/* a library under us ran out of memory */
} StStatus;

#define ST_INLINE static inline __attribute__((always_inline))
#define st_likely(x) __builtin_expect(!!(x), 1)
#define st_unlikely(x) __builtin_expect(!!(x), 0)

/* Unaligned little-endian loads and stores (x86-64, aarch64: plain moves). */
#define ST_DEFINE_LOADSTORE(name, type) \
	ST_INLINE type st_load_##name(const void *p) \
	{ type v; memcpy(&v, p, sizeof v); return v; } \
	ST_INLINE void st_store_##name(void *p, type v) \
	{ memcpy(p, &v, sizeof v); }

ST_DEFINE_LOADSTORE(u16, uint16_t)
ST_DEFINE_LOADSTORE(u32, uint32_t)
ST_DEFINE_LOADSTORE(u64, uint64_t)
ST_DEFINE_LOADSTORE(i64, int64_t)
ST_DEFINE_LOADSTORE(f32, float)
ST_DEFINE_LOADSTORE(f64, double)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
			   "the on-disk format is little-endian");

/* Bytes of one value of a string-like column, without any header. */
typedef struct StStr
{
	const uint8_t *data;
	uint32_t	len;
} StStr;

#endif							/* ST_CORE_H */
