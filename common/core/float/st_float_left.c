/*-------------------------------------------------------------------------
 *
 * st_float_left.c
 *	  ALP-RD's left parts: plan, encode, decode.
 *
 * The paper stores a dictionary of up to eight left parts, codes of three
 * bits, and exceptions.  The exponents of numbers drawn from an interval
 * halve in frequency from one to the next, for which fixed width codes waste
 * a bit or more per value.  So there is a second form, unary codes as bit
 * planes:
 *
 *		plane 0		a bit per value: is it not dict[0]?
 *		plane 1		a bit for each 1 of plane 0: is it not dict[1] either?
 *		...
 *
 * which costs two bits per value there, the entropy.  A plane is brought
 * back to the values' positions by depositing its bits into those of the
 * plane before (PDEP); one value is found by counting bits.
 *
 * Layout:
 *
 *		u8			number of dictionary entries; 0x80 set: unary
 *		zigzag		first entry, then differences to the one before
 *		varint		number of exceptions
 *		u16 each	their positions
 *		u16 each	their left parts
 *		codes		fixed: st_bitpack of the width that the entries need
 *					unary: the planes one after the other, low bits first
 *
 * Exceptions have code 0 in the fixed form, and the code after the last
 * entry in the unary one.
 *
 *-------------------------------------------------------------------------
 */
#include "st_float_internal.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "st_bitpack.h"

#define FLAG_UNARY 0x80

/* Position and value of an exception. */
#define EXCEPTION_BITS 32

#define WORDS (ST_VECTOR_SIZE / 64)
#define MAX_PLANES (ST_LEFT_MAX_CODES - 1)

/* Planes in memory, with room for a load of 8 bytes at the last bit. */
#define PLANES_BYTES (ST_VECTOR_SIZE / 8 * MAX_PLANES + 16)

/* ---- exceptions ---- */

int
st_exception_find(const uint8_t *position, int n, int i)
{
	int			low = 0;
	int			high = n;

	while (low < high)
	{
		int			mid = (low + high) / 2;
		int			here = st_load_u16(position + 2 * mid);

		if (here == i)
			return mid;
		if (here < i)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

bool
st_exceptions_valid(const uint8_t *position, int n, int limit)
{
	int			last = -1;

	for (int k = 0; k < n; k++)
	{
		int			here = st_load_u16(position + 2 * k);

		if (here <= last || here >= limit)
			return false;
		last = here;
	}
	return true;
}

/* ---- plan ---- */

/* Radix sort, one byte at a time. */
static void
sort_u16(uint16_t *v, int n)
{
	uint16_t	tmp[ST_VECTOR_SIZE];

	for (int shift = 0; shift < 16; shift += 8)
	{
		const uint16_t *from = shift == 0 ? v : tmp;
		uint16_t   *to = shift == 0 ? tmp : v;
		int			start[257] = {0};

		for (int i = 0; i < n; i++)
			start[(from[i] >> shift & 0xff) + 1]++;
		for (int b = 0; b < 256; b++)
			start[b + 1] += start[b];
		for (int i = 0; i < n; i++)
			to[start[from[i] >> shift & 0xff]++] = from[i];
	}
}

/* The most frequent values, most frequent first. */
typedef struct TopCounts
{
	int			n;
	int			count[ST_LEFT_MAX_CODES];
	uint16_t	value[ST_LEFT_MAX_CODES];
} TopCounts;

static void
top_add(TopCounts *t, uint16_t value, int count)
{
	int			k;

	if (t->n < ST_LEFT_MAX_CODES)
		t->n++;
	else if (t->count[t->n - 1] >= count)
		return;
	for (k = t->n - 1; k > 0 && t->count[k - 1] < count; k--)
	{
		t->count[k] = t->count[k - 1];
		t->value[k] = t->value[k - 1];
	}
	t->count[k] = count;
	t->value[k] = value;
}

/* Runs of equal values in a sorted sequence. */
typedef struct Runs
{
	int			n;
	uint16_t	value[ST_VECTOR_SIZE];
	uint16_t	count[ST_VECTOR_SIZE];
} Runs;

static void
find_runs(const uint16_t *sorted, int n, Runs *runs)
{
	runs->n = 0;
	for (int i = 0; i < n; i++)
	{
		if (i == 0 || sorted[i] != sorted[i - 1])
		{
			runs->value[runs->n] = sorted[i];
			runs->count[runs->n++] = 0;
		}
		runs->count[runs->n - 1]++;
	}
}

/* Drops the lowest bit of all values. */
static void
halve_runs(Runs *runs)
{
	int			kept = 0;

	for (int i = 0; i < runs->n; i++)
	{
		uint16_t	value = runs->value[i] >> 1;

		if (kept > 0 && runs->value[kept - 1] == value)
			runs->count[kept - 1] += runs->count[i];
		else
		{
			runs->value[kept] = value;
			runs->count[kept++] = runs->count[i];
		}
	}
	runs->n = kept;
}

static void
find_top(const Runs *runs, TopCounts *t)
{
	t->n = 0;
	for (int i = 0; i < runs->n; i++)
		top_add(t, runs->value[i], runs->count[i]);
}

static int
code_width(int ndict)
{
	return st_bit_width((uint64_t) ndict - 1);
}

/*
 * The cheapest way of coding n left parts with these counts, added to the
 * bits of their right parts.
 */
static void
plan_codes(const TopCounts *t, int n, int bits, uint64_t right_bits,
		   StLeftPlan *plan)
{
	uint64_t	covered = 0;
	uint64_t	unary = 0;		/* bits of the codes of those covered */

	for (int ndict = 1; ndict <= t->n; ndict++)
	{
		uint64_t	dict_bits = 8 * (uint64_t) ndict + 8;
		uint64_t	rest;
		uint64_t	fixed_total;
		uint64_t	unary_total;
		bool		use_unary;

		covered += (uint64_t) t->count[ndict - 1];
		unary += (uint64_t) t->count[ndict - 1] * (unsigned) ndict;
		rest = (uint64_t) n - covered;
		fixed_total = right_bits + dict_bits + rest * EXCEPTION_BITS +
			(uint64_t) n * (unsigned) code_width(ndict);
		/* without exceptions the last entry needs no plane of its own */
		unary_total = right_bits + dict_bits + rest * EXCEPTION_BITS + unary +
			rest * (unsigned) ndict -
			(rest == 0 ? (uint64_t) t->count[ndict - 1] : 0);
		use_unary = ndict < ST_LEFT_MAX_CODES && unary_total < fixed_total;
		if ((use_unary ? unary_total : fixed_total) >= plan->total_bits)
			continue;
		plan->total_bits = use_unary ? unary_total : fixed_total;
		plan->bits = bits;
		plan->unary = use_unary;
		plan->ndict = ndict;
	}
	if (plan->bits == bits && plan->ndict > 0)
		memcpy(plan->dict, t->value,
			   (size_t) plan->ndict * sizeof(plan->dict[0]));
}

void
st_left_plan(uint16_t *top, int n, int width, StLeftPlan *plan)
{
	int			max_bits = width < ST_LEFT_MAX_BITS ? width : ST_LEFT_MAX_BITS;
	Runs		runs;

	memset(plan, 0, sizeof(*plan));
	plan->bits = -1;
	plan->total_bits = UINT64_MAX;
	sort_u16(top, n);
	find_runs(top, n, &runs);
	for (int bits = max_bits; bits >= 0; bits--)
	{
		TopCounts	t;

		find_top(&runs, &t);
		plan_codes(&t, n, bits, (uint64_t) n * (unsigned) (width - bits),
				   plan);
		halve_runs(&runs);
	}
}

/* ---- encode ---- */

static int
find_code(const StLeftPlan *plan, uint16_t left)
{
	int			code = 0;

	while (code < plan->ndict && plan->dict[code] != left)
		code++;
	return code;
}

static void
write_planes(const uint8_t *code, int n, int nplanes, StByteWriter *w)
{
	uint8_t		alive[ST_VECTOR_SIZE];
	int			nalive = n;
	unsigned	acc = 0;
	int			fill = 0;

	memcpy(alive, code, (size_t) n);
	for (int plane = 0; plane < nplanes; plane++)
	{
		int			kept = 0;

		for (int i = 0; i < nalive; i++)
		{
			unsigned	bit = alive[i] > plane;

			acc |= bit << fill;
			if (++fill == 8)
			{
				st_write_u8(w, (uint8_t) acc);
				acc = 0;
				fill = 0;
			}
			alive[kept] = alive[i];
			kept += (int) bit;
		}
		nalive = kept;
	}
	if (fill > 0)
		st_write_u8(w, (uint8_t) acc);
}

static void
write_fixed(const uint8_t *code, int n, int width, StByteWriter *w)
{
	uint64_t	wide[ST_VECTOR_SIZE];
	uint8_t    *out = st_write_span(w, st_bitpack_size(n, width));

	if (out == NULL)
		return;
	for (int i = 0; i < n; i++)
		wide[i] = code[i];
	st_bitpack(wide, n, 0, width, out);
}

void
st_left_encode(const StLeftPlan *plan, const uint16_t *left, int n,
			   StByteWriter *w)
{
	uint8_t		code[ST_VECTOR_SIZE];
	uint16_t	position[ST_VECTOR_SIZE];
	int			nexcept = 0;

	for (int i = 0; i < n; i++)
	{
		int			c = find_code(plan, left[i]);

		if (c == plan->ndict)
		{
			position[nexcept++] = (uint16_t) i;
			c = plan->unary ? c : 0;
		}
		code[i] = (uint8_t) c;
	}
	st_write_u8(w, (uint8_t) (plan->ndict | (plan->unary ? FLAG_UNARY : 0)));
	for (int k = 0; k < plan->ndict; k++)
		st_write_zigzag(w, plan->dict[k] - (k > 0 ? plan->dict[k - 1] : 0));
	st_write_varint(w, (uint64_t) nexcept);
	for (int k = 0; k < nexcept; k++)
		st_write_u16(w, position[k]);
	for (int k = 0; k < nexcept; k++)
		st_write_u16(w, left[position[k]]);
	if (plan->unary)
		write_planes(code, n, plan->ndict - (nexcept == 0), w);
	else
		write_fixed(code, n, code_width(plan->ndict), w);
}

/* ---- decode ---- */

typedef struct LeftHeader
{
	bool		unary;
	int			ndict;
	int			nplanes;		/* unary */
	uint16_t	dict[ST_LEFT_MAX_CODES];	/* zero padded */
	StLeftExceptions except;
	const uint8_t *codes;
	size_t		codeslen;
} LeftHeader;

static StStatus
read_header(StByteReader *r, int n, LeftHeader *h)
{
	uint8_t		first = st_read_u8(r);
	int64_t		entry = 0;
	uint64_t	nexcept;

	h->unary = (first & FLAG_UNARY) != 0;
	h->ndict = first & ~FLAG_UNARY;
	if (h->ndict < 1 || h->ndict > ST_LEFT_MAX_CODES - h->unary)
		return ST_CORRUPT;
	memset(h->dict, 0, sizeof(h->dict));
	for (int k = 0; k < h->ndict; k++)
	{
		int64_t		step = st_read_zigzag(r);

		if (step < -UINT16_MAX || step > UINT16_MAX)
			return ST_CORRUPT;
		entry += step;
		if (entry < 0 || entry > UINT16_MAX)
			return ST_CORRUPT;
		h->dict[k] = (uint16_t) entry;
	}
	nexcept = st_read_varint(r);
	if (nexcept > (uint64_t) n)
		return ST_CORRUPT;
	h->except.n = (int) nexcept;
	h->except.position = st_read_span(r, 2 * nexcept);
	h->except.value = st_read_span(r, 2 * nexcept);
	h->nplanes = h->ndict - (nexcept == 0);
	h->codes = st_read_rest(r, &h->codeslen);
	if (st_reader_finish(r) != ST_OK ||
		!st_exceptions_valid(h->except.position, h->except.n, n))
		return ST_CORRUPT;
	return ST_OK;
}

/* 64 bits of a buffer with room for it, from a bit position on. */
ST_INLINE uint64_t
load_bits(const uint8_t *p, uint32_t bit)
{
	uint64_t	low = st_load_u64(p + bit / 8) >> (bit & 7);

	if ((bit & 7) != 0)
		low |= (uint64_t) p[bit / 8 + 8] << (64 - (bit & 7));
	return low;
}

ST_INLINE uint64_t
deposit_generic(uint64_t bits, uint64_t mask)
{
	uint64_t	out = 0;

	while (mask != 0)
	{
		uint64_t	low = mask & (0 - mask);

		if (bits & 1)
			out |= low;
		bits >>= 1;
		mask ^= low;
	}
	return out;
}

/*
 * Brings the planes to the values' positions.  plane[k][w] has bit i set if
 * value 64 * w + i is none of dict[0 .. k]; planes behind nplanes are not
 * touched.  Returns the number of bits read.
 */
#define DEFINE_EXPAND_PLANES(name, deposit, attributes) \
attributes static uint32_t \
name(const uint8_t *stream, int n, int nplanes, uint64_t plane[][WORDS]) \
{ \
	uint32_t	bit = 0; \
	int			words = (n + 63) / 64; \
	for (int w = 0; w < words; w++, bit += 64) \
		plane[0][w] = load_bits(stream, bit); \
	if (n % 64 != 0) \
		plane[0][words - 1] &= UINT64_MAX >> (64 - n % 64); \
	bit = (uint32_t) n; \
	for (int k = 1; k < nplanes; k++) \
	{ \
		for (int w = 0; w < words; w++) \
		{ \
			uint64_t	before = plane[k - 1][w]; \
			plane[k][w] = deposit(load_bits(stream, bit), before); \
			bit += (uint32_t) __builtin_popcountll(before); \
		} \
	} \
	return bit; \
}

DEFINE_EXPAND_PLANES(expand_planes_generic, deposit_generic,)
#ifdef __x86_64__
DEFINE_EXPAND_PLANES(expand_planes_bmi2, _pdep_u64,
					 __attribute__((target("bmi2,popcnt"))))
#endif

static uint32_t
expand_planes(const uint8_t *stream, int n, int nplanes,
			  uint64_t plane[][WORDS])
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
		return expand_planes_bmi2(stream, n, nplanes, plane);
#endif
	return expand_planes_generic(stream, n, nplanes, plane);
}

/* Bit i of an index as the lowest bit of byte i. */
#define SPREAD1(b) ((uint64_t) ((b) & 1) | (uint64_t) ((b) >> 1 & 1) << 8 | \
	(uint64_t) ((b) >> 2 & 1) << 16 | (uint64_t) ((b) >> 3 & 1) << 24 | \
	(uint64_t) ((b) >> 4 & 1) << 32 | (uint64_t) ((b) >> 5 & 1) << 40 | \
	(uint64_t) ((b) >> 6 & 1) << 48 | (uint64_t) ((b) >> 7 & 1) << 56)
#define SPREAD4(b) SPREAD1(b), SPREAD1((b) + 1), SPREAD1((b) + 2), \
	SPREAD1((b) + 3)
#define SPREAD16(b) SPREAD4(b), SPREAD4((b) + 4), SPREAD4((b) + 8), \
	SPREAD4((b) + 12)
#define SPREAD64(b) SPREAD16(b), SPREAD16((b) + 16), SPREAD16((b) + 32), \
	SPREAD16((b) + 48)

static const uint64_t spread[256] = {
	SPREAD64(0), SPREAD64(64), SPREAD64(128), SPREAD64(192)
};

/*
 * Codes of 64 values out of their planes.  A code is the number of planes
 * that have the value's bit.  As each plane is contained in the one before,
 * the bits of that number are exclusive ors of planes.
 */
ST_INLINE void
planes_to_codes(uint64_t plane[][WORDS], int nplanes, int w, uint8_t *code)
{
	uint64_t	bit[4] = {0};

	for (int k = 0; k < nplanes; k++)
	{
		/* counting from k to k + 1 flips these bits */
		unsigned	flips = (unsigned) k ^ (unsigned) (k + 1);

		for (int b = 0; b < 4; b++)
		{
			if (flips >> b & 1)
				bit[b] ^= plane[k][w];
		}
	}
	for (int byte = 0; byte < 8; byte++)
	{
		int			shift = 8 * byte;

		st_store_u64(code + shift,
					 spread[bit[0] >> shift & 0xff] |
					 spread[bit[1] >> shift & 0xff] << 1 |
					 spread[bit[2] >> shift & 0xff] << 2 |
					 spread[bit[3] >> shift & 0xff] << 3);
	}
}

static StStatus
decode_unary(const LeftHeader *h, int n, uint8_t *code)
{
	uint8_t		stream[PLANES_BYTES];
	uint64_t	plane[MAX_PLANES][WORDS];
	uint32_t	bits = 0;

	if (h->codeslen > sizeof(stream) - 16)
		return ST_CORRUPT;
	memcpy(stream, h->codes, h->codeslen);
	memset(stream + h->codeslen, 0, sizeof(stream) - h->codeslen);
	if (h->nplanes > 0)
		bits = expand_planes(stream, n, h->nplanes, plane);
	if ((bits + 7) / 8 != h->codeslen)
		return ST_CORRUPT;
	for (int w = 0; w * 64 < n; w++)
		planes_to_codes(plane, h->nplanes, w, code + 64 * w);
	return ST_OK;
}

static StStatus
decode_fixed(const LeftHeader *h, int n, uint8_t *code)
{
	uint32_t	wide[ST_VECTOR_SIZE];
	int			width = code_width(h->ndict);

	if (st_bitpack_size(n, width) != h->codeslen)
		return ST_CORRUPT;
	if (width == 0)
	{
		memset(code, 0, (size_t) n);
		return ST_OK;
	}
	st_bitunpack32(h->codes, n, 0, width, wide);
	for (int i = 0; i < n; i++)
		code[i] = (uint8_t) wide[i];
	return ST_OK;
}

StStatus
st_left_decode(StByteReader *r, int n, uint16_t *dict, uint8_t *code,
			   StLeftExceptions *exceptions)
{
	LeftHeader	h;
	StStatus	status = read_header(r, n, &h);

	if (status != ST_OK)
		return status;
	memcpy(dict, h.dict, sizeof(h.dict));
	*exceptions = h.except;
	return h.unary ? decode_unary(&h, n, code) : decode_fixed(&h, n, code);
}

/* Set bits among count bits from a bit position on. */
static uint32_t
count_bits(const uint8_t *stream, uint32_t bit, uint32_t count)
{
	uint32_t	ones = 0;

	for (; count >= 64; bit += 64, count -= 64)
		ones += (uint32_t) __builtin_popcountll(load_bits(stream, bit));
	if (count > 0)
		ones += (uint32_t)
			__builtin_popcountll(load_bits(stream, bit) << (64 - count));
	return ones;
}

static StStatus
unary_at(const LeftHeader *h, int n, int i, int *code)
{
	uint8_t		stream[PLANES_BYTES];
	uint32_t	start = 0;		/* of the plane */
	uint32_t	count = (uint32_t) n;	/* its bits */
	uint32_t	pos = (uint32_t) i;

	if (h->codeslen > sizeof(stream) - 16)
		return ST_CORRUPT;
	memcpy(stream, h->codes, h->codeslen);
	memset(stream + h->codeslen, 0, sizeof(stream) - h->codeslen);
	for (*code = 0; *code < h->nplanes; (*code)++)
	{
		uint32_t	ones;

		if ((load_bits(stream, start + pos) & 1) == 0)
			break;
		pos = count_bits(stream, start, pos);
		ones = count_bits(stream, start, count);
		start += count;
		count = ones;
	}
	return ST_OK;
}

StStatus
st_left_at(StByteReader *r, int n, int i, uint16_t *out)
{
	LeftHeader	h;
	int			k;
	int			code = 0;
	int			width;
	StStatus	status = read_header(r, n, &h);

	if (status != ST_OK)
		return status;
	k = st_exception_find(h.except.position, h.except.n, i);
	if (k >= 0)
	{
		*out = st_load_u16(h.except.value + 2 * k);
		return ST_OK;
	}
	if (h.unary)
	{
		status = unary_at(&h, n, i, &code);
		if (status != ST_OK)
			return status;
	}
	else
	{
		width = code_width(h.ndict);
		if (st_bitpack_size(n, width) != h.codeslen)
			return ST_CORRUPT;
		if (width > 0)
			code = (int) st_bitpack_get(h.codes, n, width, i);
	}
	*out = h.dict[code];
	return ST_OK;
}
