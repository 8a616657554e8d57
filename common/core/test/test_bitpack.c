/*-------------------------------------------------------------------------
 *
 * test_bitpack.c
 *	  Bit packing: every width, every instruction set, both layouts.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack.h"
#include "st_test.h"

static const int sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 500,
1000, 1022, 1023, 1024};

#define NSIZES ((int) (sizeof(sizes) / sizeof(sizes[0])))

static void
random_values(uint64_t *v, int n, int width, uint64_t base)
{
	for (int i = 0; i < n; i++)
	{
		uint64_t	x = test_random();

		/* both ends of the range often */
		if ((x & 7) == 0)
			x = 0;
		else if ((x & 7) == 1)
			x = UINT64_MAX;
		else
			x = test_random();
		v[i] = base + (width == 0 ? 0 : x >> (64 - width));
	}
}

/* Pack, unpack, get: in blocks of exactly the promised size. */
static void
check_width(int n, int width, uint64_t base)
{
	uint64_t	v[ST_VECTOR_SIZE];
	uint64_t	back[ST_VECTOR_SIZE];
	size_t		size = st_bitpack_size(n, width);
	uint8_t    *packed = malloc(size ? size : 1);
	bool		same = true;

	if (packed == NULL)
		abort();
	random_values(v, n, width, base);
	st_bitpack(v, n, base, width, packed);
	memset(back, 0x5a, sizeof(back));
	st_bitunpack(packed, n, base, width, back);
	CHECK_MSG(memcmp(v, back, (size_t) n * 8) == 0, "n=%d width=%d", n, width);
	for (int i = 0; i < n; i++)
		same &= st_bitpack_get(packed, n, width, i) + base == v[i];
	CHECK_MSG(same, "get: n=%d width=%d", n, width);

	if (width <= 32)
	{
		uint32_t	back32[ST_VECTOR_SIZE];

		same = true;
		st_bitunpack32(packed, n, (uint32_t) base, width, back32);
		for (int i = 0; i < n; i++)
			same &= back32[i] == (uint32_t) v[i];
		CHECK_MSG(same, "32 bits: n=%d width=%d", n, width);
	}
	free(packed);
}

static void
test_round_trip(void)
{
	for (int s = 0; s < NSIZES; s++)
		for (int width = 0; width <= 64; width++)
		{
			check_width(sizes[s], width, 0);
			check_width(sizes[s], width, test_random());
		}
}

/* Bits above the width are dropped: patched encodings rely on it. */
static void
test_truncation(void)
{
	for (int s = 0; s < NSIZES; s++)
		for (int width = 0; width <= 64; width++)
		{
			int			n = sizes[s];
			uint64_t	mask = width == 0 ? 0 : UINT64_MAX >> (64 - width);
			uint64_t	v[ST_VECTOR_SIZE];
			uint64_t	back[ST_VECTOR_SIZE];
			uint8_t		packed[ST_VECTOR_SIZE * 8];
			bool		same = true;

			random_values(v, n, 64, 0);
			st_bitpack(v, n, 12345, width, packed);
			st_bitunpack(packed, n, 0, width, back);
			for (int i = 0; i < n; i++)
				same &= back[i] == ((v[i] - 12345) & mask);
			CHECK_MSG(same, "n=%d width=%d", n, width);
		}
}

/* The layout is on disk: one value set, one bit where the drawing says. */
static void
test_layout(void)
{
	for (int width = 1; width <= 64; width++)
	{
		int			word_bits = width <= 32 ? 32 : 64;
		int			lanes = ST_VECTOR_SIZE / word_bits;

		for (int i = 0; i < ST_VECTOR_SIZE; i += 37)
		{
			uint64_t	v[ST_VECTOR_SIZE] = {0};
			uint8_t		packed[ST_VECTOR_SIZE * 8] = {0};
			int			bit_in_lane = i / lanes * width + width - 1;
			int			word = bit_in_lane / word_bits * lanes + i % lanes;
			int			bit = word * word_bits + bit_in_lane % word_bits;
			int			nset = 0;

			v[i] = UINT64_C(1) << (width - 1);
			st_bitpack(v, ST_VECTOR_SIZE, 0, width, packed);
			for (size_t b = 0; b < st_bitpack_size(ST_VECTOR_SIZE, width); b++)
				nset += __builtin_popcount(packed[b]);
			CHECK_MSG(nset == 1 && (packed[bit / 8] >> (bit % 8) & 1),
					  "width=%d i=%d", width, i);

			memset(packed, 0, sizeof(packed));
			st_bitpack(v, ST_VECTOR_SIZE - 1, 0, width, packed);
			bit = i * width + width - 1;
			CHECK_MSG(i == ST_VECTOR_SIZE - 1 ||
					  (packed[bit / 8] >> (bit % 8) & 1),
					  "sequential: width=%d i=%d", width, i);
		}
	}
}

/* Every instruction set gives the bytes and values of the plain one. */
static void
test_instruction_sets(void)
{
	const StBitpackKernels *plain = st_bitpack_kernels(ST_ISA_DEFAULT);

	CHECK(plain != NULL);
	CHECK(st_bitpack_kernels(st_bitpack_best_isa()) != NULL);
	CHECK(st_bitpack_kernels(ST_ISA_COUNT) == NULL);
	for (int isa = 0; isa < ST_ISA_COUNT; isa++)
	{
		const StBitpackKernels *k = st_bitpack_kernels((StIsa) isa);

		for (int width = 0; k != NULL && width <= 64; width++)
		{
			uint64_t	v[ST_VECTOR_SIZE];
			uint64_t	back[ST_VECTOR_SIZE];
			uint32_t	back32[ST_VECTOR_SIZE];
			uint32_t	plain32[ST_VECTOR_SIZE];
			size_t		size = st_bitpack_size(ST_VECTOR_SIZE, width);
			uint64_t	base = test_random();
			uint8_t    *a = malloc(size + 2);
			uint8_t    *b = malloc(size + 2);

			if (a == NULL || b == NULL)
				abort();
			/* odd addresses: nothing in a page is aligned */
			random_values(v, ST_VECTOR_SIZE, 64, 0);
			plain->pack[width] (v, base, a + 1);
			k->pack[width] (v, base, b + 1);
			CHECK_MSG(memcmp(a + 1, b + 1, size) == 0, "pack %d %d", isa, width);
			plain->unpack[width] (a + 1, base, v);
			k->unpack[width] (a + 1, base, back);
			CHECK_MSG(memcmp(v, back, sizeof(v)) == 0, "unpack %d %d", isa,
					  width);
			if (width <= 32)
			{
				plain->unpack32[width] (a + 1, (uint32_t) base, plain32);
				k->unpack32[width] (a + 1, (uint32_t) base, back32);
				CHECK_MSG(memcmp(plain32, back32, sizeof(back32)) == 0,
						  "unpack32 %d %d", isa, width);
			}
			free(a);
			free(b);
		}
	}
}

static void
test_bit_width(void)
{
	CHECK(st_bit_width(0) == 0);
	for (int bit = 0; bit < 64; bit++)
	{
		CHECK(st_bit_width(UINT64_C(1) << bit) == bit + 1);
		CHECK(st_bit_width(UINT64_MAX >> bit) == 64 - bit);
	}
}

int
main(void)
{
	RUN(test_round_trip);
	RUN(test_truncation);
	RUN(test_layout);
	RUN(test_instruction_sets);
	RUN(test_bit_width);
	return test_summary("bitpack");
}
