/*-------------------------------------------------------------------------
 *
 * st_zson_fuzz.h
 *	  What the fuzz targets of zson share: an image encodes, and decodes to
 *	  itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZSON_FUZZ_H
#define ST_ZSON_FUZZ_H

#include "st_fuzz.h"
#include "st_zson_cases.h"

static uint8_t block[ST_ZSON_BLOCK];

/*
 * any_string: one may hold a NUL byte, which no text of the server has, so that
 * decoding refuses the image.
 */
static void
encode_and_decode(const StZsonDict *dict, const uint8_t *image, size_t len,
				  bool any_string)
{
	StZsonEncoding e = {.dict = dict,.enter = case_enter};
	size_t		cap = st_zson_encode_bound(len);
	uint8_t    *coded = malloc(cap);
	size_t		n;
	StZsonDoc	doc;
	StZsonValue root;
	uint8_t    *again;
	size_t		again_len = 0;

	FUZZ_ASSERT(st_zson_encode(&e, image, len, coded, cap, &n) == ST_OK);
	FUZZ_ASSERT(n <= len + 2);
	FUZZ_ASSERT(st_zson_open(&doc, coded, n, n) == ST_OK);
	doc.dict = doc.dict_id ? dict : NULL;
	doc.block = block;
	doc.enter = case_enter;
	FUZZ_ASSERT(st_zson_root(&doc, &root) == ST_OK);
	/* the bound of a string is eight times its codes */
	cap = 9 * len + 256;
	again = malloc(cap);
	if (st_zson_image(&doc, &root, again, cap, &again_len) == ST_OK)
		FUZZ_ASSERT(again_len == len && memcmp(again, image, len) == 0);
	else
		FUZZ_ASSERT(any_string && memchr(image, 0, len) != NULL);
	free(again);
	free(coded);
}

#endif							/* ST_ZSON_FUZZ_H */
