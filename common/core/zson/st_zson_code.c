/*-------------------------------------------------------------------------
 *
 * st_zson_code.c
 *	  Strings by a prefix code of a dictionary: a Huffman code of their bytes.
 *
 * Symbols (FSST) stand for what repeats between strings.  Where nothing does,
 * as in names and tokens made up by machines, they save little, and a code of
 * the bytes' frequencies saves more.
 *
 * The code is canonical and known by its lengths, at most ST_ZSON_CODE_BITS:
 * one look at a table decodes a byte.  A string's bits begin with the number
 * of unused bits at the end, in three bits.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

#define NBYTES 256
#define TABLE_SIZE (1 << ST_ZSON_CODE_BITS)
#define PAD_BITS 3

/* ---- lengths from frequencies ---- */

/*
 * Lengths of a Huffman code: repeatedly the two rarest trees become one.
 * Returns the greatest length.
 */
static unsigned
huffman(const uint64_t *given, uint8_t *lengths)
{
	uint64_t	freq[2 * NBYTES];
	uint16_t	parent[2 * NBYTES] = {0};
	unsigned	ntrees = 0;
	unsigned	n = NBYTES;
	unsigned	max = 0;

	memset(freq, 0, sizeof(freq));
	memcpy(freq, given, NBYTES * sizeof(uint64_t));
	for (unsigned i = 0; i < NBYTES; i++)
		ntrees += freq[i] > 0;
	for (; ntrees > 1; ntrees--, n++)
	{
		unsigned	two[2] = {0, 0};

		for (unsigned k = 0; k < 2; k++)
		{
			uint64_t	least = UINT64_MAX;

			for (unsigned i = 0; i < n; i++)
			{
				if (freq[i] > 0 && freq[i] < least &&
					(k == 0 || i != two[0]))
				{
					least = freq[i];
					two[k] = i;
				}
			}
		}
		freq[n] = freq[two[0]] + freq[two[1]];
		freq[two[0]] = freq[two[1]] = 0;
		parent[two[0]] = parent[two[1]] = (uint16_t) n;
	}
	for (unsigned i = 0; i < NBYTES; i++)
	{
		unsigned	len = 0;

		for (unsigned at = i; parent[at] != 0; at = parent[at])
			len++;
		lengths[i] = (uint8_t) len;
		max = len > max ? len : max;
	}
	return max;
}

bool
st_zson_code_train(const uint8_t *sample, size_t n, uint8_t *lengths)
{
	uint64_t	freq[NBYTES] = {0};
	unsigned	different = 0;

	for (size_t i = 0; i < n; i++)
		freq[sample[i]]++;
	for (unsigned i = 0; i < NBYTES; i++)
	{
		/* what is very rare is not worth room in the code */
		if (freq[i] < n >> 14)
			freq[i] = 0;
		different += freq[i] > 0;
	}
	if (different < 2)
		return false;
	/* flatter frequencies make shorter codes */
	while (huffman(freq, lengths) > ST_ZSON_CODE_BITS)
	{
		for (unsigned i = 0; i < NBYTES; i++)
			freq[i] = freq[i] > 0 ? freq[i] / 2 + 1 : 0;
	}
	return true;
}

/* ---- digest ---- */

/* First codes of each length; false: the lengths are those of no whole code. */
static bool
first_codes(const uint8_t *lengths, uint32_t *first)
{
	uint32_t	count[ST_ZSON_CODE_BITS + 1] = {0};
	uint32_t	code = 0;

	for (unsigned i = 0; i < NBYTES; i++)
	{
		if (lengths[i] > ST_ZSON_CODE_BITS)
			return false;
		count[lengths[i]]++;
	}
	count[0] = 0;
	for (unsigned len = 1; len <= ST_ZSON_CODE_BITS; len++)
	{
		code = (code + count[len - 1]) << 1;
		first[len] = code;
	}
	return code + count[ST_ZSON_CODE_BITS] == TABLE_SIZE;
}

StStatus
st_zs_code_load(StZsonDict *dict, const uint8_t *packed, StZsonAlloc alloc,
				void *arg)
{
	uint32_t	next[ST_ZSON_CODE_BITS + 1];
	uint8_t		lengths[NBYTES];

	for (unsigned i = 0; i < NBYTES; i++)
		lengths[i] = packed[i / 2] >> (i % 2 * 4) & 0x0f;
	if (!first_codes(lengths, next))
		return ST_CORRUPT;
	dict->code_lengths = packed;
	dict->code_table = alloc(arg, TABLE_SIZE * sizeof(uint16_t));
	if (dict->code_table == NULL)
		return ST_NOMEM;
	for (unsigned i = 0; i < NBYTES; i++)
	{
		unsigned	shift = ST_ZSON_CODE_BITS - lengths[i];
		uint32_t	from;

		if (lengths[i] == 0)
			continue;
		from = next[lengths[i]]++ << shift;
		for (uint32_t at = from; at < from + (1u << shift); at++)
			dict->code_table[at] = (uint16_t) (lengths[i] << 8 | i);
	}
	return ST_OK;
}

StStatus
st_zs_code_prepare(StZsonDict *dict, StZsonAlloc alloc, void *arg)
{
	dict->codes = alloc(arg, NBYTES * sizeof(uint16_t));
	if (dict->codes == NULL)
		return ST_NOMEM;
	/* a code's first place in the table is the code and zeros */
	for (uint32_t at = TABLE_SIZE; at-- > 0;)
	{
		unsigned	entry = dict->code_table[at];

		dict->codes[entry & 0xff] =
			(uint16_t) (at >> (ST_ZSON_CODE_BITS - (entry >> 8)));
	}
	return ST_OK;
}

void
st_zs_code_build(const uint8_t *lengths, StByteWriter *w)
{
	for (unsigned i = 0; i < NBYTES; i += 2)
		st_write_u8(w, (uint8_t) (lengths[i] | lengths[i + 1] << 4));
}

/* ---- strings ---- */

static unsigned
code_length(const StZsonDict *dict, unsigned byte)
{
	return dict->code_lengths[byte / 2] >> (byte % 2 * 4) & 0x0f;
}

size_t
st_zs_code_size(const StZsonDict *dict, const StStr *s)
{
	size_t		bits = PAD_BITS;

	if (dict->codes == NULL || s->len == 0)
		return 0;
	for (uint32_t i = 0; i < s->len; i++)
	{
		unsigned	len = code_length(dict, s->data[i]);

		if (len == 0)
			return 0;
		bits += len;
	}
	return (bits + 7) / 8;
}

void
st_zs_code_write(const StZsonDict *dict, const StStr *s, size_t size,
				 StByteWriter *w)
{
	uint64_t	acc = 0;
	unsigned	nbits = PAD_BITS;
	uint8_t    *start = st_write_span(w, size);
	uint8_t    *out = start;

	if (start == NULL)
		return;
	for (uint32_t i = 0; i < s->len; i++)
	{
		unsigned	len = code_length(dict, s->data[i]);

		acc = acc << len | dict->codes[s->data[i]];
		nbits += len;
		while (nbits >= 8)
		{
			nbits -= 8;
			*out++ = (uint8_t) (acc >> nbits);
		}
	}
	if (nbits > 0)
		*out = (uint8_t) (acc << (8 - nbits));
	*start |= (uint8_t) ((8 - nbits) % 8 << (8 - PAD_BITS));
}

StStatus
st_zs_code_read(const StZsonDict *dict, const uint8_t *in, size_t n,
				uint8_t *dst, uint32_t *len)
{
	const uint8_t *end = in + n;
	uint8_t    *out = dst;
	uint64_t	acc;
	unsigned	have;			/* bits of acc that are left */
	uint64_t	left;

	if (dict == NULL || dict->code_table == NULL || n == 0)
		return ST_CORRUPT;
	left = 8 * (uint64_t) n - PAD_BITS;
	if (left < (*in >> (8 - PAD_BITS)))
		return ST_CORRUPT;
	left -= *in >> (8 - PAD_BITS);
	acc = *in++;
	have = 8 - PAD_BITS;
	while (left > 0)
	{
		unsigned	entry;

		while (have <= 48)
		{
			acc = acc << 8 | (in < end ? *in : 0);
			in++;
			have += 8;
		}
		entry = dict->code_table[acc >> (have - ST_ZSON_CODE_BITS) &
								 (TABLE_SIZE - 1)];
		if (entry >> 8 > left)
			return ST_CORRUPT;
		have -= entry >> 8;
		left -= entry >> 8;
		*out++ = (uint8_t) entry;
	}
	*len = (uint32_t) (out - dst);
	return ST_OK;
}
