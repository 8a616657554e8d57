/*-------------------------------------------------------------------------
 *
 * test_bytes.c
 *	  Reader and writer of st_bytes.h, and the checksum.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bytes.h"
#include "st_checksum.h"
#include "st_test.h"

static void
test_fixed_width(void)
{
	uint8_t		buf[64];
	StByteWriter w;
	StByteReader r;

	st_writer_init(&w, buf, sizeof(buf));
	st_write_u8(&w, 0xab);
	st_write_u16(&w, 0x1234);
	st_write_u32(&w, 0x89abcdef);
	st_write_u64(&w, UINT64_C(0x0123456789abcdef));
	st_write_i64(&w, INT64_MIN);
	st_write_f32(&w, 1.5f);
	st_write_f64(&w, -2.25);
	st_write_bytes(&w, "xyz", 3);
	CHECK(w.status == ST_OK);
	CHECK(st_writer_len(&w) == 1 + 2 + 4 + 8 + 8 + 4 + 8 + 3);
	/* little-endian on every machine */
	CHECK(buf[1] == 0x34 && buf[2] == 0x12 && buf[3] == 0xef);

	st_reader_init(&r, buf, st_writer_len(&w));
	CHECK(st_read_u8(&r) == 0xab);
	CHECK(st_read_u16(&r) == 0x1234);
	CHECK(st_read_u32(&r) == 0x89abcdef);
	CHECK(st_read_u64(&r) == UINT64_C(0x0123456789abcdef));
	CHECK(st_read_i64(&r) == INT64_MIN);
	CHECK(st_read_f32(&r) == 1.5f);
	CHECK(st_read_f64(&r) == -2.25);
	CHECK(st_reader_finish(&r) == ST_CORRUPT);
	CHECK(memcmp(st_read_span(&r, 3), "xyz", 3) == 0);
	CHECK(st_reader_finish(&r) == ST_OK);
}

static void
test_sticky_status(void)
{
	uint8_t		buf[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	StByteReader r;
	StByteWriter w;
	size_t		rest;

	st_reader_init(&r, buf, 3);
	CHECK(st_read_u16(&r) == 0x0201);
	CHECK(st_read_u32(&r) == 0 && r.status == ST_CORRUPT);
	CHECK(st_read_u8(&r) == 0);
	CHECK(st_read_span(&r, 0) == NULL);
	CHECK(st_reader_finish(&r) == ST_CORRUPT);

	st_reader_init(&r, buf, 3);
	CHECK(st_read_span(&r, UINT64_MAX) == NULL && r.status == ST_CORRUPT);

	st_reader_init(&r, buf, 3);
	(void) st_read_u8(&r);
	CHECK(st_read_rest(&r, &rest) == buf + 1 && rest == 2);
	CHECK(st_reader_finish(&r) == ST_OK);

	st_writer_init(&w, buf, 3);
	st_write_u16(&w, 7);
	st_write_u32(&w, 7);
	CHECK(w.status == ST_NOSPACE);
	st_write_u8(&w, 99);
	CHECK(w.status == ST_NOSPACE && buf[2] == 3);
	CHECK(st_write_span(&w, 0) == NULL);
}

static void
check_varint(uint64_t v)
{
	uint8_t		buf[ST_VARINT_MAX];
	StByteWriter w;
	StByteReader r;

	st_writer_init(&w, buf, sizeof(buf));
	st_write_varint(&w, v);
	CHECK(w.status == ST_OK);
	CHECK(st_writer_len(&w) == (size_t) st_varint_size(v));
	st_reader_init(&r, buf, st_writer_len(&w));
	CHECK(st_read_varint(&r) == v);
	CHECK(st_reader_finish(&r) == ST_OK);

	/* cut at every length */
	for (size_t cut = 0; cut < st_writer_len(&w); cut++)
	{
		st_reader_init(&r, buf, cut);
		CHECK(st_read_varint(&r) == 0 && r.status == ST_CORRUPT);
	}
	CHECK(st_zigzag_encode(st_zigzag_decode(v)) == v);
	CHECK((uint64_t) st_zigzag_decode(st_zigzag_encode((int64_t) v)) == v);
}

static void
test_varint(void)
{
	for (int bit = 0; bit < 64; bit++)
	{
		check_varint(UINT64_C(1) << bit);
		check_varint((UINT64_C(1) << bit) - 1);
		check_varint(UINT64_MAX << bit);
		check_varint(test_random() >> bit);
	}
	CHECK(st_zigzag_encode(-1) == 1 && st_zigzag_encode(1) == 2);
	CHECK(st_zigzag_encode(INT64_MIN) == UINT64_MAX);
}

static void
test_varint_damaged(void)
{
	static const uint8_t overflow[] = {0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0x02};
	static const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0x81, 0x01};
	static const uint8_t overlong[] = {0x81, 0x00};
	static const uint8_t zero[] = {0x00};
	StByteReader r;

	st_reader_init(&r, overflow, sizeof(overflow));
	CHECK(st_read_varint(&r) == 0 && r.status == ST_CORRUPT);
	st_reader_init(&r, endless, sizeof(endless));
	CHECK(st_read_varint(&r) == 0 && r.status == ST_CORRUPT);
	st_reader_init(&r, overlong, sizeof(overlong));
	CHECK(st_read_varint(&r) == 0 && r.status == ST_CORRUPT);
	st_reader_init(&r, zero, sizeof(zero));
	CHECK(st_read_varint(&r) == 0 && r.status == ST_OK);
}

static void
test_checksum(void)
{
	uint8_t		buf[1000];
	uint64_t	sum;

	/* known answers of XXH3: the format depends on them */
	CHECK(st_checksum64(NULL, 0, 0) == UINT64_C(0x2d06800538d394c2));
	CHECK(st_checksum64("a", 1, 0) == UINT64_C(0xe6c632b61e964e1f));
	CHECK(st_checksum64("abc", 3, 0) == UINT64_C(0x78af5f94892f3950));

	CHECK(st_hash128("", 0, 0).low == UINT64_C(0x6001c324468d497f));
	CHECK(st_hash128("", 0, 0).high == UINT64_C(0x99aa06d3014798d8));
	CHECK(st_hash128("abc", 3, 0).low == UINT64_C(0x78af5f94892f3950));
	CHECK(st_hash128("abc", 3, 0).high == UINT64_C(0x06b05ab6733a6185));
	CHECK(st_hash128("abc", 3, 0).low != st_hash128("abc", 3, 1).low);

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t) test_random();
	sum = st_checksum64(buf, sizeof(buf), 42);
	CHECK(sum != st_checksum64(buf, sizeof(buf), 43));
	CHECK(sum != st_checksum64(buf, sizeof(buf) - 1, 42));
	for (size_t bit = 0; bit < 8 * sizeof(buf); bit++)
	{
		buf[bit / 8] ^= (uint8_t) (1 << (bit % 8));
		CHECK(sum != st_checksum64(buf, sizeof(buf), 42));
		buf[bit / 8] ^= (uint8_t) (1 << (bit % 8));
	}
	CHECK(sum == st_checksum64(buf, sizeof(buf), 42));
}

int
main(void)
{
	RUN(test_fixed_width);
	RUN(test_sticky_status);
	RUN(test_varint);
	RUN(test_varint_damaged);
	RUN(test_checksum);
	return test_summary("bytes");
}
