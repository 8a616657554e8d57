/*-------------------------------------------------------------------------
 *
 * test_jsonb.c
 *	  jsonb containers: walking, checking, writing.
 *
 *-------------------------------------------------------------------------
 */
#include "st_jsonb.h"
#include "st_test.h"

#define MAX_PAIRS 200
#define CAP (1 << 20)

static uint8_t buf[CAP] __attribute__((aligned(8)));
static uint8_t again[CAP] __attribute__((aligned(8)));

/* {"a": 1, "bc": "x", "cc": {"": null}} as PostgreSQL 15 to 18 write it. */
static const uint8_t server_bytes[] = {
	0x03, 0x00, 0x00, 0x20,		/* object of 3 pairs */
	0x01, 0x00, 0x00, 0x80,		/* key, end at 1 */
	0x02, 0x00, 0x00, 0x00,
	0x02, 0x00, 0x00, 0x00,
	0x0b, 0x00, 0x00, 0x10,		/* numeric, 3 bytes of padding */
	0x01, 0x00, 0x00, 0x00,
	0x0f, 0x00, 0x00, 0x50,		/* container, 3 bytes of padding */
	'a', 'b', 'c', 'c', 'c',
	0, 0, 0,
	0x20, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00,
	'x',
	0, 0, 0,
	0x01, 0x00, 0x00, 0x20,
	0x00, 0x00, 0x00, 0x80,
	0x00, 0x00, 0x00, 0x40
};

static StStatus
check_any(const uint8_t *src, size_t len, void *arg)
{
	(void) arg;
	return st_jsonb_check(src, len, 10);
}

/* Writes the container of src again, child by child. */
static void
copy_object(const uint8_t *src, size_t len, StJsonbWriter *w, StJsonbBuild *b)
{
	StJsonb		c;
	StJsonbCursor at = {0, 0};

	CHECK(st_jsonb_open(src, len, &c) == ST_OK && c.object);
	st_jsonb_begin(w, b, ST_JSONB_OBJECT, c.count);
	while (at.i < c.nentries)
	{
		StJsonbItem item;

		CHECK(st_jsonb_next(&c, &at, &item) == ST_OK);
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
	CHECK(st_jsonb_finish(&c, &at) == ST_OK);
}

static void
check_copy(const uint8_t *src, size_t len)
{
	StJsonbWriter w;
	StJsonbBuild b;

	CHECK(st_jsonb_check(src, len, 10) == ST_OK);
	st_jsonb_writer_init(&w, again, len);
	copy_object(src, len, &w, &b);
	CHECK(w.status == ST_OK && w.len == len && memcmp(src, again, len) == 0);
	for (size_t cap = 0; cap < len && cap < 300; cap++)
	{
		st_jsonb_writer_init(&w, again, cap);
		copy_object(src, len, &w, &b);
		CHECK(w.status == ST_NOSPACE);
	}
}

static void
test_server(void)
{
	StJsonb		c;
	StJsonbCursor at;
	StJsonbItem item;

	check_copy(server_bytes, sizeof(server_bytes));
	CHECK(st_jsonb_open(server_bytes, sizeof(server_bytes), &c) == ST_OK);
	CHECK(c.object && c.count == 3 && c.nentries == 6);
	CHECK(st_jsonb_skip_keys(&c, &at) == ST_OK && at.i == 3 && at.off == 5);
	CHECK(st_jsonb_next(&c, &at, &item) == ST_OK &&
		  item.type == ST_JSONB_NUMERIC && item.len == 8);
	CHECK(st_jsonb_next(&c, &at, &item) == ST_OK &&
		  item.type == ST_JSONB_STRING && item.len == 1 && *item.data == 'x');
	CHECK(st_jsonb_finish(&c, &at) == ST_CORRUPT);
	CHECK(st_jsonb_next(&c, &at, &item) == ST_OK &&
		  item.type == ST_JSONB_CONTAINER && item.len == 12);
	CHECK(st_jsonb_finish(&c, &at) == ST_OK);
	CHECK(st_jsonb_next(&c, &at, &item) == ST_CORRUPT);
	test_hostile(server_bytes, sizeof(server_bytes), true, check_any, NULL);
}

/* Every deviation from what the server writes, however readable, is seen. */
static void
test_canonical(void)
{
	static const struct
	{
		int			at;
		uint8_t		byte;
	}			changes[] = {
		{7, 0x00},				/* a length where an offset belongs */
		{11, 0x80},				/* an offset where a length belongs */
		{33, 1},				/* padding */
		{36, 0x21},				/* length of the numeric */
		{28, 'b'},				/* keys in order still: a change is needed */
		{29, 'd'}				/* keys "dc" > "cc" */
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
	{
		uint8_t    *copy = test_exact_copy(server_bytes, sizeof(server_bytes));
		bool		fine = changes[i].at == 28;

		copy[changes[i].at] = changes[i].byte;
		CHECK_MSG((st_jsonb_check(copy, sizeof(server_bytes), 10) == ST_OK) == fine,
				  "change %zu", i);
		free(copy);
	}
	CHECK(st_jsonb_check(server_bytes, sizeof(server_bytes), 1) == ST_NOTFIT);
}

/* An object of n random pairs, nested to some depth. */
static void
random_object(StJsonbWriter *w, StJsonbBuild *b, uint32_t n, int depth)
{
	uint8_t		bytes[64];

	st_jsonb_begin(w, b, ST_JSONB_OBJECT, n);
	for (uint32_t i = 0; i < n; i++)
	{
		/* two bytes that ascend, and more as keys get longer */
		uint32_t	len = 2 + i / 50;

		memset(bytes, 'k', sizeof(bytes));
		bytes[0] = (uint8_t) (i >> 8);
		bytes[1] = (uint8_t) i;
		st_jsonb_put(w, b, ST_JSONB_STRING, bytes, len);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	type = (uint32_t) test_random_below(depth > 0 ? 6 : 5);
		uint32_t	len = 0;

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t) test_random();
		if (type == ST_JSONB_STRING)
			len = (uint32_t) test_random_below(20);
		else if (type == ST_JSONB_NUMERIC)
		{
			len = 6 + 2 * (uint32_t) test_random_below(5);
			st_store_u32(bytes, len << 2);
		}
		else if (type == ST_JSONB_CONTAINER)
		{
			StJsonbBuild child;

			random_object(w, &child, (uint32_t) test_random_below(5), depth - 1);
			st_jsonb_put_child(w, b, &child);
			continue;
		}
		st_jsonb_put(w, b, type, bytes, len);
	}
}

static void
test_random_objects(void)
{
	for (uint32_t n = 0; n < MAX_PAIRS; n++)
	{
		StJsonbWriter w;
		StJsonbBuild b;

		st_jsonb_writer_init(&w, buf, CAP);
		random_object(&w, &b, n, 4);
		CHECK(w.status == ST_OK && b.next == b.nentries);
		check_copy(buf, w.len);
	}
}

/* An object begun with the keys of another one. */
static void
test_block(void)
{
	StJsonbWriter w;
	StJsonbBuild b;

	memcpy(buf, server_bytes, sizeof(server_bytes));
	memset(buf + 16, 0xee, 12);
	st_jsonb_writer_init(&w, again, CAP);
	st_jsonb_begin_block(&w, &b, 3, buf, 4 + 24 + 5);
	st_jsonb_put(&w, &b, ST_JSONB_NUMERIC, server_bytes + 36, 8);
	st_jsonb_put(&w, &b, ST_JSONB_STRING, (const uint8_t *) "x", 1);
	st_jsonb_put(&w, &b, ST_JSONB_CONTAINER, server_bytes + 48, 12);
	CHECK(w.status == ST_OK && w.len == sizeof(server_bytes) &&
		  memcmp(again, server_bytes, w.len) == 0);
	st_jsonb_put(&w, &b, ST_JSONB_NULL, NULL, 0);
	CHECK(w.status == ST_NOTFIT);
}

int
main(void)
{
	RUN(test_server);
	RUN(test_canonical);
	RUN(test_random_objects);
	RUN(test_block);
	return test_summary("jsonb");
}
