/*-------------------------------------------------------------------------
 *
 * fuzz_zson.c
 *	  Documents of any bytes, with and without a dictionary: what decodes
 *	  encodes again to the same image, and every member is found.
 *
 * Input: u8, odd: with the dictionary; the document.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_fuzz.h"

static void
check_object(StZsonDoc *doc, const StZsonValue *root)
{
	StZsonCursor c;

	st_zson_begin(root, &c);
	while (c.i < root->count)
	{
		StStr		key;
		StZsonValue v;
		StZsonValue w;
		bool		found;

		if (st_zson_next(doc, &c, root->kind == ST_ZSON_OBJECT ? &key : NULL,
						 &v) != ST_OK)
			return;
		(void) st_zson_at(doc, root, c.i - 1, &w);
		if (root->kind == ST_ZSON_OBJECT)
			(void) st_zson_find(doc, root, &key,
								st_zson_dict_key(doc->dict, key.data, key.len),
								&found, &w);
		{
			size_t		n = st_zson_cut_bound(doc, &v);
			uint8_t    *cut = n < 1 << 24 ? malloc(n) : NULL;

			if (cut != NULL)
				(void) st_zson_cut(doc, &v, cut, n, &n);
			free(cut);
		}
	}
}

static void
check_quick(const StZsonDict *dict, const uint8_t *data, size_t size)
{
	StZsonQuick q;
	StZsonDoc	doc;
	StZsonValue v;
	StStr		s;
	uint32_t	id;
	const uint8_t *scalar = st_zson_quick_scalar(data, size, &id);

	if (scalar != NULL)
		(void) st_zson_quick_string(dict, scalar, &s);
	if (!st_zson_quick_open(data, size, &q))
		return;
	for (uint32_t i = 0; i < ST_ZSON_QUICK_KEYS; i++)
	{
		const uint8_t *p;
		uint32_t	n;
		uint8_t    *cut;

		if (!st_zson_quick_at(&q, i, 1, &p, &n))
			return;
		cut = malloc(ST_ZSON_QUICK_CUT(&q, n));
		(void) st_zson_quick_cut(&q, data, p, n, cut);
		(void) st_zson_quick_string(dict, p, &s);
		(void) st_zson_quick_value(&doc, dict, p, n, &v);
		free(cut);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static StZsonDict dict;
	static uint8_t *blob = NULL;
	size_t		len;
	StZsonDoc	doc;
	StZsonValue root;
	size_t		cap;
	uint8_t    *image;
	StStatus	status = ST_NOSPACE;

	if (blob == NULL)
	{
		blob = case_dict_blob(CASE_TAIL | CASE_TEMPLATES, &len);
		case_dict_open(&dict, blob, len);
	}
	if (size > 0)
		check_quick(&dict, data + 1, size - 1);
	if (size < 1 || st_zson_open(&doc, data + 1, size - 1, size - 1) != ST_OK)
		return 0;
	if (doc.dict_id != 0 && !(data[0] & 1))
		return 0;
	doc.dict = doc.dict_id != 0 ? &dict : NULL;
	doc.block = block;
	doc.enter = case_enter;
	if (st_zson_root(&doc, &root) != ST_OK)
		return 0;
	if (root.kind >= ST_ZSON_ARRAY)
		check_object(&doc, &root);
	for (cap = 64; status == ST_NOSPACE && cap <= 1 << 24; cap *= 8)
	{
		image = malloc(cap);
		status = st_zson_image(&doc, &root, image, cap, &len);
		if (status == ST_OK)
			encode_and_decode(doc.dict, image, len, false);
		free(image);
	}
	return 0;
}
