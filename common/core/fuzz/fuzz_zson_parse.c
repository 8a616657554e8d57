/*-------------------------------------------------------------------------
 *
 * fuzz_zson_parse.c
 *	  Any bytes as JSON text, as they come in through type zson's input and
 *	  receive functions: what is taken gives a canonical image, which encodes
 *	  and decodes to itself.
 *
 * What is refused goes to the server's own parser.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_jsonb.h"
#include "st_zson_cases.h"

static uint8_t block[ST_ZSON_BLOCK];

static void
encode_and_decode(const StZsonDict *dict, const uint8_t *image, size_t len)
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
	FUZZ_ASSERT(st_zson_image_size(&doc, &root, &cap) == ST_OK);
	again = malloc(cap);
	/* strings may hold a NUL byte here, which no text of the server has */
	if (st_zson_image(&doc, &root, again, cap, &again_len) == ST_OK)
		FUZZ_ASSERT(again_len == len && memcmp(again, image, len) == 0);
	else
		FUZZ_ASSERT(memchr(image, 0, len) != NULL);
	free(again);
	free(coded);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static StZsonDict dict;
	static uint8_t *blob = NULL;
	size_t		cap = st_zson_parse_bound(size);
	void	   *work;
	const uint8_t *image;
	size_t		len;

	if (blob == NULL)
	{
		blob = case_dict_blob(true, &len);
		case_dict_open(&dict, blob, len);
	}
	work = malloc(cap);
	if (st_zson_parse(data, size, work, cap, &image, &len) == ST_OK)
	{
		FUZZ_ASSERT(st_jsonb_check(image, len, 100) == ST_OK);
		encode_and_decode(NULL, image, len);
		encode_and_decode(&dict, image, len);
	}
	free(work);
	return 0;
}
