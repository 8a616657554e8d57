/*-------------------------------------------------------------------------
 *
 * st_codec_cases.h
 *	  What the test and the fuzz target of codecs share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_CODEC_CASES_H
#define ST_CODEC_CASES_H

#include <lz4.h>
#include <zstd.h>

#include "st_codec.h"

#define BOTH_WAYS (ST_CODEC_PACK | ST_CODEC_UNPACK)

/* Largest compressed size of n bytes. */
static size_t
codec_bound(int codec, size_t n)
{
	if (codec == ST_CODEC_NONE)
		return n;
	return codec == ST_CODEC_ZSTD ? ZSTD_compressBound(n) :
		(size_t) LZ4_compressBound((int) n);
}

#endif							/* ST_CODEC_CASES_H */
