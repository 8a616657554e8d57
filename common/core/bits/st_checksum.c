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
