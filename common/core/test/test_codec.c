/*-------------------------------------------------------------------------
 *
 * test_codec.c
 *	  zstd and lz4 behind st_codec.h, with and without dictionaries.
 *
 *-------------------------------------------------------------------------
 */
#include "st_codec_cases.h"
#include "st_golden.h"
#include "st_test.h"

#define NSAMPLES 2000
#define SAMPLE_MAX 200

static const int all_codecs[] = {ST_CODEC_NONE, ST_CODEC_LZ4, ST_CODEC_ZSTD};

/* Text with repeats: digits of a counter in a sentence. */
static size_t
make_text(uint8_t *dst, size_t n)
{
	size_t		used = 0;

	for (int i = 0; used + SAMPLE_MAX < n; i++)
		used += (size_t) sprintf((char *) dst + used,
								 "{\"row\": %d, \"name\": \"user%llu\"}\n", i,
								 (unsigned long long) test_random_below(1000));
	return used;
}

static void
check_roundtrip(StCodecCtx *ctx, int codec, int level,
				const uint8_t *raw, size_t n)
{
	size_t		bound = codec_bound(codec, n);
	uint8_t    *comp = malloc(bound ? bound : 1);
	uint8_t    *copy;
	uint8_t    *back = malloc(n ? n : 1);
	size_t		len = 0;

	CHECK(st_codec_compress(ctx, codec, level, raw, n, comp, bound,
							&len) == ST_OK);
	CHECK_MSG(len <= bound, "codec %d level %d", codec, level);
	copy = test_exact_copy(comp, len);
	CHECK(st_codec_decompress(ctx, codec, copy, len, back, n) == ST_OK);
	CHECK_MSG(memcmp(back, raw, n) == 0, "codec %d level %d", codec, level);
	if (n > 0)
		CHECK(st_codec_decompress(ctx, codec, copy, len, back,
								  n - 1) == ST_CORRUPT);
	if (len > 0)
	{
		uint8_t    *cut = test_exact_copy(comp, len - 1);

		CHECK(st_codec_compress(ctx, codec, level, raw, n, cut, len - 1,
								&bound) == ST_NOSPACE);
		free(cut);
	}
	free(comp);
	free(copy);
	free(back);
}

static void
test_names_and_levels(void)
{
	CHECK(strcmp(st_codec_name(ST_CODEC_NONE), "none") == 0);
	CHECK(strcmp(st_codec_name(ST_CODEC_LZ4), "lz4") == 0);
	CHECK(strcmp(st_codec_name(ST_CODEC_ZSTD), "zstd") == 0);
	CHECK(st_codec_name(3) == NULL && st_codec_name(-1) == NULL);
	for (int i = 0; i < 3; i++)
	{
		int			codec = all_codecs[i];

		CHECK(st_codec_level_valid(codec, st_codec_level_default(codec)));
		CHECK(st_codec_level_valid(codec, st_codec_level_min(codec)));
		CHECK(st_codec_level_valid(codec, st_codec_level_max(codec)));
		CHECK(!st_codec_level_valid(codec, st_codec_level_min(codec) - 1));
		CHECK(!st_codec_level_valid(codec, st_codec_level_max(codec) + 1));
	}
	CHECK(st_codec_level_default(ST_CODEC_ZSTD) == 3);
	CHECK(st_codec_level_max(ST_CODEC_LZ4) == 12);
	CHECK(!st_codec_level_valid(7, 0));
}

static void
test_roundtrip(void)
{
	static uint8_t text[100000];
	static uint8_t noise[5000];
	StCodecCtx *ctx = st_codec_ctx_create();
	size_t		n = make_text(text, sizeof(text));

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t) test_random();
	for (int c = 0; c < 3; c++)
	{
		static const int levels[] = {-5, 0, 1, 2, 3, 9, 12, 19};

		for (size_t l = 0; l < sizeof(levels) / sizeof(levels[0]); l++)
		{
			if (!st_codec_level_valid(all_codecs[c], levels[l]))
				continue;
			for (int reuse = 0; reuse < 2; reuse++)
			{
				StCodecCtx *use = reuse ? ctx : NULL;

				check_roundtrip(use, all_codecs[c], levels[l], text, n);
				check_roundtrip(use, all_codecs[c], levels[l], text, 0);
				check_roundtrip(use, all_codecs[c], levels[l], text, 1);
				check_roundtrip(use, all_codecs[c], levels[l], noise,
								sizeof(noise));
			}
		}
	}
	st_codec_ctx_free(ctx);
}

static void
test_bad_arguments(void)
{
	uint8_t		buf[64] = {0};
	size_t		len;

	CHECK(st_codec_compress(NULL, 9, 0, buf, 8, buf + 8, 50,
							&len) == ST_UNSUPPORTED);
	CHECK(st_codec_compress(NULL, ST_CODEC_ZSTD, 99, buf, 8, buf + 8, 50,
							&len) == ST_UNSUPPORTED);
	CHECK(st_codec_decompress(NULL, 9, buf, 8, buf + 8, 8) == ST_UNSUPPORTED);
	CHECK(st_codec_decompress(NULL, ST_CODEC_NONE, buf, 8, buf + 8,
							  9) == ST_CORRUPT);
	CHECK(st_codec_decompress(NULL, ST_CODEC_LZ4, buf, 0, buf + 8,
							  9) == ST_CORRUPT);
	CHECK(st_codec_decompress(NULL, ST_CODEC_ZSTD, buf, 0, buf + 8,
							  0) == ST_CORRUPT);
	CHECK(st_codec_dict_create(ST_CODEC_NONE, 0, BOTH_WAYS, buf, 8) == NULL);
	CHECK(st_codec_dict_create(ST_CODEC_LZ4, 13, BOTH_WAYS, buf, 8) == NULL);
	CHECK(st_codec_dict_create(9, 0, BOTH_WAYS, buf, 8) == NULL);
	st_codec_dict_free(NULL);
	st_codec_ctx_free(NULL);
}

typedef struct HostileArg
{
	int			codec;
	size_t		rawlen;
	const StCodecDict *dict;
	StCodecCtx *ctx;
} HostileArg;

static StStatus
hostile_decode(const uint8_t *src, size_t len, void *opaque)
{
	HostileArg *arg = opaque;
	uint8_t    *out = malloc(arg->rawlen);
	StStatus	status;

	if (arg->dict)
		status = st_codec_decompress_dict(arg->ctx, arg->dict, src, len, out,
										  arg->rawlen);
	else
		status = st_codec_decompress(arg->ctx, arg->codec, src, len, out,
									 arg->rawlen);
	free(out);
	return status;
}

static void
test_hostile_bytes(void)
{
	static uint8_t text[2000];
	uint8_t		comp[4000];
	size_t		n = make_text(text, sizeof(text));

	for (int c = 0; c < 3; c++)
	{
		HostileArg	arg = {.codec = all_codecs[c],.rawlen = n};
		size_t		len;

		arg.ctx = st_codec_ctx_create();
		CHECK(st_codec_compress(NULL, arg.codec,
								st_codec_level_default(arg.codec),
								text, n, comp, sizeof(comp), &len) == ST_OK);
		/* an empty frame may follow a zstd frame: not strict */
		test_hostile(comp, len, arg.codec != ST_CODEC_ZSTD, hostile_decode,
					 &arg);
		st_codec_ctx_free(arg.ctx);
	}
}

/* ---- dictionaries ---- */

typedef struct Samples
{
	uint8_t		bytes[NSAMPLES * SAMPLE_MAX];
	size_t		sizes[NSAMPLES];
	size_t		total;
} Samples;

static void
make_samples(Samples *s)
{
	static const char *const cities[] = {"Lisbon", "Oslo", "Nairobi", "Lima"};

	s->total = 0;
	for (int i = 0; i < NSAMPLES; i++)
	{
		s->sizes[i] = (size_t)
			sprintf((char *) s->bytes + s->total,
					"{\"id\": %llu, \"city\": \"%s\", \"status\": \"%s\"}",
					(unsigned long long) test_random_below(1000000),
					cities[test_random_below(4)],
					test_random_below(2) ? "active" : "suspended");
		s->total += s->sizes[i];
	}
}

static size_t
check_dict_roundtrip(StCodecCtx *ctx, const StCodecDict *dict,
					 const StCodecDict *unpack, const uint8_t *raw, size_t n)
{
	uint8_t		comp[2 * SAMPLE_MAX + 512];
	uint8_t		back[SAMPLE_MAX];
	uint8_t    *copy;
	size_t		len = 0;

	CHECK(st_codec_compress_dict(ctx, dict, raw, n, comp, sizeof(comp),
								 &len) == ST_OK);
	copy = test_exact_copy(comp, len);
	CHECK(st_codec_decompress_dict(ctx, dict, copy, len, back, n) == ST_OK);
	CHECK(memcmp(back, raw, n) == 0);
	memset(back, 0, sizeof(back));
	CHECK(st_codec_decompress_dict(ctx, unpack, copy, len, back, n) == ST_OK);
	CHECK(memcmp(back, raw, n) == 0);
	free(copy);
	return len;
}

static void
check_dict(int codec, int level, const Samples *s,
		   const void *bytes, size_t dictlen)
{
	StCodecDict *dict = st_codec_dict_create(codec, level, BOTH_WAYS, bytes,
											 dictlen);
	StCodecDict *unpack = st_codec_dict_create(codec, 0, ST_CODEC_UNPACK, bytes,
											   dictlen);
	StCodecCtx *ctx = st_codec_ctx_create();
	size_t		sum = 0;
	size_t		pos = 0;

	CHECK(dict != NULL && unpack != NULL);
	for (int i = 0; i < 200; i++)
	{
		sum += check_dict_roundtrip(i % 2 ? ctx : NULL, dict, unpack, s->bytes + pos,
									s->sizes[i]);
		pos += s->sizes[i];
	}
	/* these documents shrink to less than a half with, hardly without */
	if (dictlen > 1000)
		CHECK_MSG(sum < pos / 2, "codec %d level %d: %zu of %zu", codec, level,
				  sum, pos);
	check_dict_roundtrip(ctx, dict, unpack, s->bytes, 0);
	{
		HostileArg	arg = {.codec = codec,.rawlen = s->sizes[0],.dict = dict,
		.ctx = ctx};
		uint8_t		comp[512];
		size_t		len;

		CHECK(st_codec_compress_dict(ctx, dict, s->bytes, s->sizes[0], comp,
									 sizeof(comp), &len) == ST_OK);
		test_hostile(comp, len, codec != ST_CODEC_ZSTD, hostile_decode, &arg);
		CHECK(st_codec_compress_dict(ctx, dict, s->bytes, s->sizes[0], comp,
									 len - 1, &len) == ST_NOSPACE);
	}
	st_codec_ctx_free(ctx);
	st_codec_dict_free(unpack);
	st_codec_dict_free(dict);
}

static void
test_dictionaries(void)
{
	static Samples s;
	static uint8_t dict[8000];
	static uint8_t big[100000];
	size_t		dictlen = 0;

	make_samples(&s);
	CHECK(st_codec_train(s.bytes, s.sizes, NSAMPLES, dict, sizeof(dict),
						 &dictlen) == ST_OK);
	CHECK(dictlen > 1000 && dictlen <= sizeof(dict));
	check_dict(ST_CODEC_ZSTD, 3, &s, dict, dictlen);
	check_dict(ST_CODEC_ZSTD, 19, &s, dict, dictlen);
	check_dict(ST_CODEC_LZ4, 1, &s, dict, dictlen);
	check_dict(ST_CODEC_LZ4, 9, &s, dict, dictlen);
	/* any bytes will do, also none and more than lz4's window */
	check_dict(ST_CODEC_ZSTD, 3, &s, "city", 4);
	check_dict(ST_CODEC_LZ4, 1, &s, "city", 4);
	check_dict(ST_CODEC_LZ4, 9, &s, "", 0);
	memcpy(big + sizeof(big) - dictlen, dict, dictlen);
	check_dict(ST_CODEC_LZ4, 1, &s, big, sizeof(big));
	/* too little to learn from */
	CHECK(st_codec_train(s.bytes, s.sizes, 2, dict, sizeof(dict),
						 &dictlen) == ST_NOTFIT);
}

/* ---- golden bytes: values are "codec byte, raw bytes" ---- */

static const char golden_dict[] = "city status active suspended Lisbon Nairobi";
static int	golden_codec;
static bool golden_use_dict;

static StStatus
golden_decode(const uint8_t *src, size_t len, uint32_t n,
			  uint8_t *out, size_t cap, size_t *outlen)
{
	StCodecDict *dict;
	StStatus	status;

	if (n > cap)
		return ST_NOSPACE;
	*outlen = n;
	if (!golden_use_dict)
		return st_codec_decompress(NULL, golden_codec, src, len, out, n);
	dict = st_codec_dict_create(golden_codec,
								st_codec_level_default(golden_codec), BOTH_WAYS,
								golden_dict, sizeof(golden_dict));
	status = st_codec_decompress_dict(NULL, dict, src, len, out, n);
	st_codec_dict_free(dict);
	return status;
}

static void
test_golden(void)
{
	static const char raw[] =
	"{\"city\": \"Lisbon\", \"status\": \"active\"}"
	"{\"city\": \"Nairobi\", \"status\": \"suspended\"}"
	"{\"city\": \"Lisbon\", \"status\": \"suspended\"}";
	uint8_t		comp[512];
	size_t		len;

	for (int c = 1; c < 3; c++)
	{
		int			level = st_codec_level_default(all_codecs[c]);
		StCodecDict *dict;
		char		name[64];

		golden_codec = all_codecs[c];
		golden_use_dict = false;
		CHECK(st_codec_compress(NULL, golden_codec, level, raw, sizeof(raw),
								comp, sizeof(comp), &len) == ST_OK);
		snprintf(name, sizeof(name), "codec-%s-v1",
				 st_codec_name(golden_codec));
		golden_check(name, sizeof(raw), raw, sizeof(raw), comp, len,
					 golden_decode);

		golden_use_dict = true;
		dict = st_codec_dict_create(golden_codec, level, BOTH_WAYS,
									golden_dict, sizeof(golden_dict));
		CHECK(st_codec_compress_dict(NULL, dict, raw, sizeof(raw), comp,
									 sizeof(comp), &len) == ST_OK);
		st_codec_dict_free(dict);
		snprintf(name, sizeof(name), "codec-%s-dict-v1",
				 st_codec_name(golden_codec));
		golden_check(name, sizeof(raw), raw, sizeof(raw), comp, len,
					 golden_decode);
	}
}

int
main(void)
{
	RUN(test_names_and_levels);
	RUN(test_roundtrip);
	RUN(test_bad_arguments);
	RUN(test_hostile_bytes);
	RUN(test_dictionaries);
	RUN(test_golden);
	return test_summary("codec");
}
