/*-------------------------------------------------------------------------
 *
 * fuzz_jsonb.c
 *	  Any bytes as a jsonb container: what is accepted is written again as
 *	  the same bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "st_jsonb.h"
#include "st_fuzz.h"

#define MAX_DEPTH 20

static void
copy_object(const uint8_t *src, size_t len, StJsonbWriter *w, StJsonbBuild *b)
{
	StJsonb		c;
	StJsonbCursor at = {0, 0};

	FUZZ_ASSERT(st_jsonb_open(src, len, &c) == ST_OK);
	st_jsonb_begin(w, b, ST_JSONB_OBJECT, c.count);
	while (at.i < c.nentries)
	{
		StJsonbItem item;

		FUZZ_ASSERT(st_jsonb_next(&c, &at, &item) == ST_OK);
		if (item.type == ST_JSONB_CONTAINER &&
			(st_load_u32(item.data) & ST_JSONB_OBJECT) != 0)
		{
			StJsonbBuild child;

			copy_object(item.data, item.len, w, &child);
			st_jsonb_put_child(w, b, &child);
		}
		else
			st_jsonb_put(w, b, item.type, item.data, item.len);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StJsonbWriter w;
	StJsonbBuild b;
	StJsonb		c;
	uint8_t    *out;

	if (st_jsonb_check(data, size, MAX_DEPTH) != ST_OK ||
		st_jsonb_open(data, size, &c) != ST_OK || !c.object)
		return 0;
	out = malloc(size);
	if (out == NULL)
		abort();
	st_jsonb_writer_init(&w, out, size);
	copy_object(data, size, &w, &b);
	FUZZ_ASSERT(w.status == ST_OK && w.len == size);
	FUZZ_ASSERT(memcmp(out, data, size) == 0);
	free(out);
	return 0;
}
