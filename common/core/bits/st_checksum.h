/*-------------------------------------------------------------------------
 *
 * st_checksum.h
 *	  The checksum of everything that we write: XXH3, 64 bits;
 *	  and a hash of 128 bits.
 *
 * Detects damage, does not authenticate.  Part of the on-disk format: XXH3's
 * output is stable since xxHash 0.8.0, the tests pin known answers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CHECKSUM_H
#define ST_CHECKSUM_H

#include "st_core.h"

/*
 * Checksum of len bytes at p (p may be NULL if len is 0).  The seed keeps
 * equal bytes of different purposes or places apart.
 */
extern uint64_t st_checksum64(const void *p, size_t len, uint64_t seed);

/*
 * Hash of 128 bits, in two halves: XXH3, too.  Not part of what is stored.
 */
typedef struct StHash128
{
	uint64_t	low;
	uint64_t	high;
} StHash128;

extern StHash128 st_hash128(const void *p, size_t len, uint64_t seed);

#endif							/* ST_CHECKSUM_H */
