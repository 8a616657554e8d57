/*-------------------------------------------------------------------------
 *
 * test_str.c
 *	  String encodings: raw, FSST, alphabet.
 *
 *-------------------------------------------------------------------------
 */
#include "st_golden.h"
#include "st_int.h"
#include "st_str.h"
#include "st_str_cases.h"
#include "st_test.h"

/* ---- round trips ---- */

static void
check_decode(const StStrScheme *scheme, const uint8_t *enc, size_t len, int n,
			 uint32_t room, uint32_t align)
{
	size_t		arenasize = 0;
	uint8_t    *arena;
	uint32_t   *off = malloc(sizeof(uint32_t) * (size_t) (n + 1));
	uint32_t   *lens = malloc(sizeof(uint32_t) * (size_t) (n + 1));
	uint64_t	end = 0;

	CHECK(st_str_decoded_size(scheme, enc, len, n, room, align,
							  &arenasize) == ST_OK);
	arena = malloc(arenasize);
	CHECK(st_str_decode(scheme, enc, len, n, room, align, arena,
						arenasize - 1, off, lens) == ST_NOSPACE);
	CHECK(st_str_decode(scheme, enc, len, n, room, align, arena,
						arenasize, off, lens) == ST_OK);
	for (int i = 0; i < n; i++)
	{
		CHECK(lens[i] == values[i].len);
		CHECK((off[i] - room) % align == 0);
		CHECK(off[i] >= end + room);
		CHECK((uint64_t) off[i] + lens[i] <= arenasize);
		CHECK_MSG(memcmp(arena + off[i], values[i].data, lens[i]) == 0,
				  "value %d of %d, scheme %s", i, n,
				  st_str_scheme_name(scheme));
		end = (uint64_t) off[i] + lens[i];
	}
	free(arena);
	free(off);
	free(lens);
}

static void
check_at(const StStrScheme *scheme, const uint8_t *enc, size_t len, int n)
{
	uint32_t	outlen = 0;

	for (int i = 0; i < n; i++)
	{
		uint8_t    *out = malloc(values[i].len ? values[i].len : 1);

		CHECK(st_str_at(scheme, enc, len, n, i, NULL, 0, &outlen) == ST_OK);
		CHECK(outlen == values[i].len);
		CHECK(st_str_at(scheme, enc, len, n, i, out, values[i].len,
						&outlen) == ST_OK);
		CHECK_MSG(memcmp(out, values[i].data, values[i].len) == 0,
				  "value %d of %d, scheme %s", i, n,
				  st_str_scheme_name(scheme));
		if (values[i].len > 0)
			CHECK(st_str_at(scheme, enc, len, n, i, out, values[i].len - 1,
							&outlen) == ST_NOSPACE);
		free(out);
	}
	CHECK(st_str_at(scheme, enc, len, n, n, NULL, 0, &outlen) == ST_CORRUPT);
	CHECK(st_str_at(scheme, enc, len, n, -1, NULL, 0, &outlen) == ST_CORRUPT);
}

/* Encodes values[0 .. n) and checks every way of reading them. */
static size_t
check_roundtrip(const StStrScheme *scheme, int n)
{
	size_t		bound = st_str_bound(scheme, values, n);
	uint8_t    *enc = malloc(bound);
	uint8_t    *copy;
	size_t		len = 0;

	CHECK(st_str_encode(scheme, values, n, enc, bound, &len) == ST_OK);
	CHECK(len <= bound);
	copy = test_exact_copy(enc, len);
	free(enc);
	check_decode(scheme, copy, len, n, 0, 1);
	check_decode(scheme, copy, len, n, 1, 1);
	check_decode(scheme, copy, len, n, 4, 4);
	check_decode(scheme, copy, len, n, 4, 8);
	check_at(scheme, copy, len, n);
	free(copy);
	return len;
}

/* What a reader makes of the scheme, by way of its saved bytes. */
static void
reload_scheme(const StStrScheme *scheme, StStrScheme *loaded)
{
	size_t		bound = st_str_scheme_bound();
	uint8_t    *buf = malloc(bound);
	uint8_t    *copy;
	size_t		len = st_str_scheme_save(scheme, buf, bound);

	CHECK(len > 0 && len <= bound);
	CHECK(st_str_scheme_save(scheme, buf, len - 1) == 0);
	(void) st_str_scheme_save(scheme, buf, len);
	copy = test_exact_copy(buf, len);
	memset(loaded, 0xaa, sizeof(*loaded));
	CHECK(st_str_scheme_load(copy, len, loaded) == ST_OK);
	CHECK(loaded->kind == scheme->kind);
	free(buf);
	free(copy);
}

static void
test_columns(void)
{
	static const int ns[] = {0, 1, 2, 15, 16, 17, 33, 1000, ST_VECTOR_SIZE};

	for (int c = 0; c < NUM_COLUMNS; c++)
	{
		StStrScheme scheme;
		StStrScheme loaded;
		size_t		len = 0;

		make_column(columns[c].make, ST_VECTOR_SIZE);
		st_str_choose(values, ST_VECTOR_SIZE, &scheme);
		CHECK_MSG(columns[c].kind < 0 || scheme.kind == columns[c].kind,
				  "%s: %s", columns[c].name, st_str_scheme_name(&scheme));
		reload_scheme(&scheme, &loaded);
		for (size_t k = 0; k < sizeof(ns) / sizeof(ns[0]); k++)
		{
			make_column(columns[c].make, ns[k]);
			len = check_roundtrip(&loaded, ns[k]);
		}
		if (pool_used > 0)
			CHECK_MSG(len * 1000 <= pool_used * columns[c].max_permille,
					  "%s: %zu -> %zu", columns[c].name, pool_used, len);
	}
}

/* Data that has nothing to do with the sample. */
static void
test_foreign_data(void)
{
	for (int c = 0; c < NUM_COLUMNS; c++)
	{
		StStrScheme scheme;

		make_column(columns[c].make, ST_VECTOR_SIZE);
		st_str_choose(values, ST_VECTOR_SIZE, &scheme);
		for (int d = 0; d < NUM_COLUMNS; d++)
		{
			size_t		len;

			make_column(columns[d].make, 100);
			len = check_roundtrip(&scheme, 100);
			/* at worst raw, plus lengths of up to 4 bytes */
			CHECK_MSG(len <= pool_used + 500, "%s as %s", columns[d].name,
					  columns[c].name);
		}
	}
}

/* A few strings outside of the alphabet do not spoil the vector. */
static void
test_alphabet_exceptions(void)
{
	for (int template = 0; template < 2; template++)
	{
		MakeValue	make = template ? make_uuid : make_octal;
		StStrScheme scheme;
		size_t		clean;
		size_t		few;
		size_t		many;

		make_column(make, ST_VECTOR_SIZE);
		st_str_choose(values, ST_VECTOR_SIZE, &scheme);
		CHECK(scheme.kind == ST_STR_ALPHABET);
		CHECK((scheme.u.alphabet.template_len > 0) == (template == 1));
		clean = check_roundtrip(&scheme, ST_VECTOR_SIZE);
		set_value(0, "n/a", 3);
		set_value(500, "", 0);
		set_value(501, "a somewhat longer exception", 27);
		set_value(ST_VECTOR_SIZE - 1, "n/a", 3);
		few = check_roundtrip(&scheme, ST_VECTOR_SIZE);
		CHECK_MSG(few < clean + 1500, "%zu, %zu", clean, few);
		for (int i = 0; i < 300; i++)
			set_value(i * 3, "n/a", 3);
		many = check_roundtrip(&scheme, ST_VECTOR_SIZE);
		CHECK(many > few);
	}
}

/* The sample misses digits that come later: the class is completed. */
static void
test_alphabet_classes(void)
{
	StStrScheme scheme;
	size_t		len;

	reset_values();
	for (int i = 0; i < 100; i++)
	{
		char		buf[16];
		size_t		len = 8 + test_random_below(8);

		for (size_t k = 0; k < len; k++)
			buf[k] = "0123456789abce"[test_random_below(14)];
		set_value(i, buf, len);
	}
	st_str_choose(values, 100, &scheme);
	CHECK(scheme.kind == ST_STR_ALPHABET && scheme.u.alphabet.bits == 4);
	reset_values();
	for (int i = 0; i < 100; i++)
		set_value(i, "dff1dddf", 8);
	len = check_roundtrip(&scheme, 100);
	CHECK_MSG(len < 420, "%zu", len);
}

static void
test_small_samples(void)
{
	StStrScheme scheme;
	StStr		null = {NULL, 0};

	st_str_choose(values, 0, &scheme);
	CHECK(scheme.kind == ST_STR_RAW);
	st_str_choose(&null, 1, &scheme);
	CHECK(scheme.kind == ST_STR_RAW);
	for (int n = 1; n < 40; n++)
	{
		make_column(make_url, n);
		values[n / 2].data = NULL;
		values[n / 2].len = 0;
		st_str_choose(values, n, &scheme);
		make_column(make_url, 50);
		check_roundtrip(&scheme, 50);
	}
}

/* Few megabytes in one value, and the limits. */
static void
test_large_values(void)
{
	static uint8_t enc[POOL + 100000];
	size_t		len;
	size_t		arena;
	StStrScheme scheme;

	for (int c = 0; c < NUM_COLUMNS; c++)
	{
		char		buf[8192];

		reset_values();
		for (int i = 0; i < 20000; i++)
		{
			len = columns[c].make(buf, i);
			if (pool_used + len > POOL / 2)
				break;
			memcpy(pool + pool_used, buf, len);
			pool_used += len;
		}
		values[0] = (StStr) {pool, 0};
		values[1] = (StStr) {pool, (uint32_t) pool_used};
		values[2] = (StStr) {pool, 5 < pool_used ? 5 : 0};
		st_str_choose(values, 3, &scheme);
		check_roundtrip(&scheme, 3);
	}

	st_str_scheme_raw(&scheme);
	CHECK(st_str_encode(&scheme, values, 3, enc, sizeof(enc), &len) == ST_OK);
	/* arenas of more than 4 GB cannot be told in offsets */
	CHECK(st_str_decoded_size(&scheme, enc, len, 3, 1 << 30, 8,
							  &arena) == ST_OK);
	CHECK(st_str_decoded_size(&scheme, enc, len, 3, (uint32_t) 1 << 31, 8,
							  &arena) == ST_NOSPACE);
	values[0].len = ST_STR_MAX_LEN + 1;
	CHECK(st_str_encode(&scheme, values, 3, enc, sizeof(enc),
						&len) == ST_NOTFIT);
	CHECK(st_str_encode(&scheme, values, -1, enc, sizeof(enc),
						&len) == ST_NOTFIT);
	CHECK(st_str_encode(&scheme, values, ST_VECTOR_SIZE + 1, enc, sizeof(enc),
						&len) == ST_NOTFIT);
}

/* A cap below what is needed is refused and respected. */
static void
test_small_caps(void)
{
	for (int c = 0; c < NUM_COLUMNS; c++)
	{
		StStrScheme scheme;
		size_t		bound;
		size_t		len = 0;

		make_column(columns[c].make, ST_VECTOR_SIZE);
		st_str_choose(values, ST_VECTOR_SIZE, &scheme);
		bound = st_str_bound(&scheme, values, 20);
		for (size_t cap = 0; cap <= bound;
			 cap += cap < 40 || cap + 40 > bound ? 1 : 1 + bound / 100)
		{
			uint8_t    *enc = malloc(cap ? cap : 1);
			StStatus	status;

			status = st_str_encode(&scheme, values, 20, enc, cap, &len);
			CHECK(status == ST_OK || status == ST_NOSPACE);
			CHECK(status != ST_OK || len <= cap);
			CHECK(cap < bound || status == ST_OK);
			free(enc);
		}
	}
}

/* ---- hostile bytes ---- */

typedef struct HostileArg
{
	const StStrScheme *scheme;
	int			n;
} HostileArg;

static StStatus
hostile_decode(const uint8_t *src, size_t len, void *opaque)
{
	const HostileArg *arg = opaque;
	uint32_t	off[ST_VECTOR_SIZE];
	uint32_t	lens[ST_VECTOR_SIZE];
	uint8_t		one[64];
	size_t		size = 0;
	StStatus	status;

	for (int i = 0; i < arg->n; i += 13)
		(void) st_str_at(arg->scheme, src, len, arg->n, i, one, sizeof(one),
						 lens);
	status = st_str_decoded_size(arg->scheme, src, len, arg->n, 4, 4, &size);
	if (status != ST_OK)
		return status;
	/* damage must not make anybody allocate much */
	CHECK_MSG(size <= 80 * len + 80 * (size_t) arg->n + 1000,
			  "%zu bytes for %zu", size, len);
	{
		uint8_t    *arena = malloc(size);

		status = st_str_decode(arg->scheme, src, len, arg->n, 4, 4, arena,
							   size, off, lens);
		free(arena);
	}
	return status;
}

static StStatus
hostile_scheme(const uint8_t *src, size_t len, void *opaque)
{
	const HostileArg *arg = opaque;
	StStrScheme scheme;
	StStatus	status = st_str_scheme_load(src, len, &scheme);
	uint8_t		enc[8192];
	size_t		enclen;

	if (status != ST_OK)
		return status;
	/* a damaged scheme that loads must serve for reading */
	if (st_str_encode(arg->scheme, values, arg->n, enc, sizeof(enc),
					  &enclen) == ST_OK)
	{
		HostileArg	inner = {&scheme, arg->n};

		(void) hostile_decode(enc, enclen, &inner);
	}
	return ST_OK;
}

static void
test_hostile_bytes(void)
{
	for (int c = 0; c < NUM_COLUMNS; c++)
	{
		static const int ns[] = {1, 40};
		StStrScheme scheme;
		uint8_t		enc[8192];
		uint8_t		saved[4096];
		size_t		len;

		make_column(columns[c].make, ST_VECTOR_SIZE);
		st_str_choose(values, ST_VECTOR_SIZE, &scheme);
		for (int k = 0; k < 2; k++)
		{
			HostileArg	arg = {&scheme, ns[k]};

			if (st_str_encode(&scheme, values, ns[k], enc, sizeof(enc),
							  &len) != ST_OK)
				continue;		/* the long ones */
			test_hostile(enc, len, true, hostile_decode, &arg);
		}
		len = st_str_scheme_save(&scheme, saved, sizeof(saved));
		{
			HostileArg	arg = {&scheme, 10};

			test_hostile(saved, len, true, hostile_scheme, &arg);
		}
	}
}

static void
test_scheme_errors(void)
{
	StStrScheme scheme;
	static const uint8_t future[] = {9, 1, 2, 3};
	static const uint8_t zero_symbol[] = {ST_STR_FSST, 1, 0};
	static const uint8_t long_symbol[] = {ST_STR_FSST, 1, 9, 1, 2, 3, 4, 5,
	6, 7, 8, 9};
	static const uint8_t unsorted[] = {ST_STR_ALPHABET, 1, 2, 'b', 'a', 0};
	static const uint8_t crowded[] = {ST_STR_ALPHABET, 1, 3, 'a', 'b', 'c', 0};
	static const uint8_t seven_bits[] = {ST_STR_ALPHABET, 7, 1, 'a', 0};
	static const uint8_t nothing[] = {ST_STR_ALPHABET, 1, 0, 0};

	CHECK(st_str_scheme_load(future, 0, &scheme) == ST_CORRUPT);
	CHECK(st_str_scheme_load(future, 4, &scheme) == ST_UNSUPPORTED);
	CHECK(st_str_scheme_load(zero_symbol, 3, &scheme) == ST_CORRUPT);
	CHECK(st_str_scheme_load(long_symbol, 12, &scheme) == ST_CORRUPT);
	CHECK(st_str_scheme_load(unsorted, 6, &scheme) == ST_CORRUPT);
	CHECK(st_str_scheme_load(crowded, 7, &scheme) == ST_CORRUPT);
	CHECK(st_str_scheme_load(seven_bits, 5, &scheme) == ST_CORRUPT);
	CHECK(st_str_scheme_load(nothing, 4, &scheme) == ST_CORRUPT);
}

/*
 * An FSST vector of "aaaa" and "b" by hand, in groups of 1 << shift: the size
 * of a group must be that of its codes.
 */
static StStatus
decode_groups(int shift, const int64_t *sizes,
			  const uint8_t *codes, size_t ncodes)
{
	static const uint8_t saved[] = {ST_STR_FSST, 1, 4, 'a', 'a', 'a', 'a'};
	static const int64_t lengths[] = {4, 1};
	StStrScheme scheme;
	uint8_t		enc[100];
	uint8_t		arena[200];
	uint32_t	off[2];
	uint32_t	lens[2];
	size_t		len;
	size_t		pos = 3;
	StStatus	status;

	CHECK(st_str_scheme_load(saved, sizeof(saved), &scheme) == ST_OK);
	enc[0] = 1;
	CHECK(st_int_encode(lengths, 2, enc + pos, 50, &len) == ST_OK);
	st_store_u16(enc + 1, (uint16_t) len);
	pos += len;
	enc[pos++] = (uint8_t) shift;
	CHECK(st_int_encode(sizes, shift ? 1 : 2, enc + pos + 1, 30,
						&len) == ST_OK);
	enc[pos] = (uint8_t) len;
	pos += 1 + len;
	memcpy(enc + pos, codes, ncodes);
	status = st_str_decode(&scheme, enc, pos + ncodes, 2, 0, 1, arena,
						   sizeof(arena), off, lens);
	CHECK(status != ST_OK || (memcmp(arena + off[0], "aaaa", 4) == 0 &&
							  arena[off[1]] == 'b'));
	return status;
}

static StStatus
decode_handmade(int64_t size, const uint8_t *codes, size_t ncodes)
{
	return decode_groups(4, &size, codes, ncodes);
}

static void
test_fsst_by_hand(void)
{
	static const int64_t right[] = {1, 2};
	static const int64_t overlapping[] = {2, 2};
	static const int64_t shifted[] = {2, 1};
	static const uint8_t codes[] = {0, 255, 'b', 0};
	static const uint8_t unused[] = {0, 1, 255, 'b'};
	static const uint8_t crossing[] = {255, 'a', 0, 255, 'b'};

	CHECK(decode_handmade(3, codes, 3) == ST_OK);
	CHECK(decode_handmade(2, codes, 3) == ST_CORRUPT);
	CHECK(decode_handmade(4, codes, 3) == ST_CORRUPT);
	CHECK(decode_handmade(4, codes, 4) == ST_CORRUPT);
	CHECK(decode_handmade(3, codes, 4) == ST_CORRUPT);
	CHECK(decode_handmade(2, codes, 2) == ST_CORRUPT);
	CHECK(decode_handmade(5, crossing, 5) == ST_CORRUPT);
	CHECK(decode_groups(0, right, codes, 3) == ST_OK);
	CHECK(decode_groups(0, overlapping, codes, 3) == ST_CORRUPT);
	CHECK(decode_groups(0, shifted, codes, 3) == ST_CORRUPT);
	CHECK(decode_groups(3, right, codes, 3) == ST_CORRUPT);
	/* a code without a symbol makes no bytes: here "b" ends a code late */
	CHECK(decode_handmade(4, unused, 4) == ST_OK);
	CHECK(decode_handmade(3, unused, 3) == ST_CORRUPT);
}

/*
 * ---- golden bytes: values are length and bytes of each string; the
 * encoding is u16 length of the scheme, scheme, vector ----
 */

static StStatus
golden_decode(const uint8_t *src, size_t len, uint32_t n,
			  uint8_t *out, size_t cap, size_t *outlen)
{
	StStrScheme scheme;
	size_t		schemelen = st_load_u16(src);
	static uint8_t arena[100000];
	uint32_t	off[ST_VECTOR_SIZE];
	uint32_t	lens[ST_VECTOR_SIZE];
	StStatus	status;

	status = st_str_scheme_load(src + 2, schemelen, &scheme);
	if (status == ST_OK)
		status = st_str_decode(&scheme, src + 2 + schemelen,
							   len - 2 - schemelen, (int) n, 0, 1,
							   arena, sizeof(arena), off, lens);
	*outlen = 0;
	for (uint32_t i = 0; status == ST_OK && i < n; i++)
	{
		if (*outlen + 4 + lens[i] > cap)
			return ST_NOSPACE;
		st_store_u32(out + *outlen, lens[i]);
		memcpy(out + *outlen + 4, arena + off[i], lens[i]);
		*outlen += 4 + lens[i];
	}
	return status;
}

static void
golden_case(const char *name, int n)
{
	uint8_t    *raw = malloc(POOL);
	uint8_t    *enc = malloc(POOL);
	size_t		rawlen = 0;
	size_t		schemelen;
	size_t		len;
	StStrScheme scheme;

	for (int i = 0; i < n; i++)
	{
		st_store_u32(raw + rawlen, values[i].len);
		memcpy(raw + rawlen + 4, values[i].data, values[i].len);
		rawlen += 4 + values[i].len;
	}
	st_str_choose(values, n, &scheme);
	schemelen = st_str_scheme_save(&scheme, enc + 2, POOL - 2);
	st_store_u16(enc, (uint16_t) schemelen);
	CHECK(st_str_encode(&scheme, values, n, enc + 2 + schemelen,
						POOL - 2 - schemelen, &len) == ST_OK);
	golden_check(name, (uint32_t) n, raw, rawlen, enc, 2 + schemelen + len,
				 golden_decode);
	free(raw);
	free(enc);
}

static void
test_golden(void)
{
	/* not of ST_TEST_SEED: the cases must stay what they were */
	test_rng = 1;
	make_column(make_hex, 40);
	golden_case("str-hex-v1", 40);
	make_column(make_uuid, 40);
	set_value(7, "none", 4);
	golden_case("str-uuid-v1", 40);
	make_column(make_base64, 30);
	golden_case("str-base64-v1", 30);
	make_column(make_url, 60);
	golden_case("str-fsst-v1", 60);
	make_column(make_long, 5);
	golden_case("str-fsst-long-v1", 5);
	make_column(make_noise, 20);
	golden_case("str-raw-v1", 20);
}

int
main(void)
{
	RUN(test_columns);
	RUN(test_foreign_data);
	RUN(test_alphabet_exceptions);
	RUN(test_alphabet_classes);
	RUN(test_small_samples);
	RUN(test_large_values);
	RUN(test_small_caps);
	RUN(test_hostile_bytes);
	RUN(test_scheme_errors);
	RUN(test_fsst_by_hand);
	RUN(test_golden);
	return test_summary("str");
}
