/*-------------------------------------------------------------------------
 *
 * fuzz_str_encode.c
 *	  Strings through choice, encoding and decoding.
 *
 * Input: u8 length of the sample in strings, then strings: u8 length (255:
 * repeat the string before), bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "st_fuzz.h"
#include "st_str.h"

static int
split_strings(const uint8_t *data, size_t size, StStr *v)
{
	int			n = 0;

	while (size > 0 && n < ST_VECTOR_SIZE)
	{
		size_t		len = *data++;

		size--;
		if (len == 255 && n > 0)
		{
			v[n] = v[n - 1];
			n++;
			continue;
		}
		if (len > size)
			len = size;
		v[n++] = (StStr) {data, (uint32_t) len};
		data += len;
		size -= len;
	}
	return n;
}

static void
check_roundtrip(const StStrScheme *scheme, const StStr *v, int n)
{
	size_t		bound = st_str_bound(scheme, v, n);
	uint8_t    *enc = malloc(bound);
	uint8_t    *arena;
	size_t		len = 0;
	size_t		arenasize = 0;
	uint32_t	off[ST_VECTOR_SIZE];
	uint32_t	lens[ST_VECTOR_SIZE];

	if (enc == NULL)
		abort();
	FUZZ_ASSERT(st_str_encode(scheme, v, n, enc, bound, &len) == ST_OK);
	FUZZ_ASSERT(st_str_decoded_size(scheme, enc, len, n, 1, 1,
									&arenasize) == ST_OK);
	arena = malloc(arenasize);
	if (arena == NULL)
		abort();
	FUZZ_ASSERT(st_str_decode(scheme, enc, len, n, 1, 1, arena, arenasize,
							  off, lens) == ST_OK);
	for (int i = 0; i < n; i++)
	{
		FUZZ_ASSERT(lens[i] == v[i].len);
		FUZZ_ASSERT(memcmp(arena + off[i], v[i].data, v[i].len) == 0);
	}
	for (int i = 0; i < n; i += 1 + n / 16)
	{
		uint32_t	outlen;

		FUZZ_ASSERT(st_str_at(scheme, enc, len, n, i, arena, v[i].len,
							  &outlen) == ST_OK);
		FUZZ_ASSERT(outlen == v[i].len);
		FUZZ_ASSERT(memcmp(arena, v[i].data, v[i].len) == 0);
	}
	free(arena);
	free(enc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	StStr		v[ST_VECTOR_SIZE];
	StStrScheme scheme;
	StStrScheme loaded;
	uint8_t		saved[4096];
	size_t		savedlen;
	int			nsample;
	int			n;

	if (size < 1)
		return 0;
	n = split_strings(data + 1, size - 1, v);
	nsample = data[0] < n ? data[0] : n;
	st_str_choose(v, nsample, &scheme);
	FUZZ_ASSERT(st_str_scheme_bound() <= sizeof(saved));
	savedlen = st_str_scheme_save(&scheme, saved, st_str_scheme_bound());
	FUZZ_ASSERT(savedlen > 0);
	FUZZ_ASSERT(st_str_scheme_load(saved, savedlen, &loaded) == ST_OK);
	check_roundtrip(&loaded, v, n);
	return 0;
}
