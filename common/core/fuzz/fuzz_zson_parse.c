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
#include "st_jsonb.h"
#include "st_zson_fuzz.h"

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
		blob = case_dict_blob(CASE_TAIL | CASE_TEMPLATES, &len);
		case_dict_open(&dict, blob, len);
	}
	work = malloc(cap);
	if (st_zson_parse(data, size, work, cap, &image, &len) == ST_OK)
	{
		FUZZ_ASSERT(st_jsonb_check(image, len, 100) == ST_OK);
		encode_and_decode(NULL, image, len, true);
		encode_and_decode(&dict, image, len, true);
	}
	free(work);
	return 0;
}
