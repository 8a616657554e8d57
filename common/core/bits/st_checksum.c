/*-------------------------------------------------------------------------
 *
 * st_checksum.c
 *	  XXH3 of xxHash, compiled in from its header: there is no run-time
 *	  library and no symbol that could meet another extension's.
 *
 *-------------------------------------------------------------------------
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "st_checksum.h"

uint64_t
st_checksum64(const void *p, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(p, len, seed);
}

StHash128
st_hash128(const void *p, size_t len, uint64_t seed)
{
	XXH128_hash_t hash = XXH3_128bits_withSeed(p, len, seed);
	StHash128	out = {.low = hash.low64,.high = hash.high64};

	return out;
}
