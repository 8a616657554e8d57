/*-------------------------------------------------------------------------
 *
 * st_fuzz.h
 *	  What the fuzz targets share.
 *
 * A target is one file fuzz_<name>.c that defines LLVMFuzzerTestOneInput.
 * It feeds the bytes to a decoder (must not crash, nor read or write out of
 * bounds: the sanitizers see to that), or takes them as values, encodes,
 * decodes and compares.  Runs under libFuzzer (make fuzz) and, without it,
 * over the committed corpus (make check).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FUZZ_H
#define ST_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "st_core.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that the target promises; aborts so that the input is kept. */
#define FUZZ_ASSERT(cond) \
	do \
	{ \
		if (!(cond)) \
		{ \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

#endif							/* ST_FUZZ_H */
