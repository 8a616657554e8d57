/*-------------------------------------------------------------------------
 *
 * fuzz_codec.c
 *	  Hostile bytes into the codecs' decompressors, and a round trip.
 *
 * Input: u8 codec modulo 3, with a dictionary if 0x80 is set; u16 raw
 * length; bytes: taken as a compressed block, and as raw data.
 *
 *-------------------------------------------------------------------------
 */
#include "st_codec_cases.h"
#include "st_fuzz.h"

static const char dictionary[] = "the quick brown fox jumps over the lazy dog";

static StStatus
decompress(const StCodecDict *dict, int codec, const uint8_t *src, size_t n,
		   size_t rawlen)
{
	uint8_t    *out = malloc(rawlen ? rawlen : 1);
	StStatus	status;

	if (out == NULL)
		abort();
	status = dict ? st_codec_decompress_dict(NULL, dict, src, n, out, rawlen) :
		st_codec_decompress(NULL, codec, src, n, out, rawlen);
	free(out);
	return status;
}

static void
roundtrip(const StCodecDict *dict, int codec, const uint8_t *raw, size_t n)
{
	size_t		bound = codec_bound(codec, n);
	uint8_t    *comp = malloc(bound ? bound : 1);
	uint8_t    *back = malloc(n ? n : 1);
	int			level = st_codec_level_default(codec);
	size_t		len = 0;

	if (comp == NULL || back == NULL)
		abort();
	if (dict)
	{
		FUZZ_ASSERT(st_codec_compress_dict(NULL, dict, raw, n, comp, bound,
										   &len) == ST_OK);
		FUZZ_ASSERT(st_codec_decompress_dict(NULL, dict, comp, len, back,
											 n) == ST_OK);
	}
	else
	{
		FUZZ_ASSERT(st_codec_compress(NULL, codec, level, raw, n, comp, bound,
									  &len) == ST_OK);
		FUZZ_ASSERT(st_codec_decompress(NULL, codec, comp, len, back,
										n) == ST_OK);
	}
	FUZZ_ASSERT(memcmp(back, raw, n) == 0);
	free(comp);
	free(back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StCodecDict *dict = NULL;
	size_t		rawlen;
	int			codec;
	StStatus	status;

	if (size < 3)
		return 0;
	codec = (data[0] & 0x7f) % 3;
	if (data[0] & 0x80 && codec != ST_CODEC_NONE)
		dict = st_codec_dict_create(codec, st_codec_level_default(codec),
									BOTH_WAYS, dictionary, sizeof(dictionary));
	rawlen = st_load_u16(data + 1);
	data += 3;
	size -= 3;
	status = decompress(dict, codec, data, size, rawlen);
	FUZZ_ASSERT(status == ST_OK || status == ST_CORRUPT);
	roundtrip(dict, codec, data, size);
	st_codec_dict_free(dict);
	return 0;
}
