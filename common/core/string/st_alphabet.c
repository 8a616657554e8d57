/*-------------------------------------------------------------------------
 *
 * st_alphabet.c
 *	  Strings of few different characters at 1 to 6 bits each.
 *
 * With a template, every string has the template's length, fixed places are
 * not stored at all, and the alphabet is that of the other places: a UUID's
 * text needs 32 x 4 bits.  Strings that do not fit are exceptions, kept
 * apart as they are.
 *
 * A vector's payload:
 *
 *		varint		number of exceptions
 *		u16 each	their positions, ascending
 *		bits		characters of all other strings, one after the other,
 *					low bits first, padded to a whole byte
 *		bytes		the exceptions, one after the other
 *
 * Decoding takes eight characters at a time out of a 64-bit load, two per
 * look-up in a table of pairs.
 *
 *-------------------------------------------------------------------------
 */
#include "st_str_internal.h"

#include "st_bytes.h"

#define NOT_IN_ALPHABET 255

/* More exceptions than one string in this many: do not pack the vector. */
#define EXCEPTION_SHARE 8

/* ---- alphabets ---- */

static void
derive_tables(StAlphabet *a)
{
	unsigned	mask = (1u << a->bits) - 1;

	memset(a->code, NOT_IN_ALPHABET, sizeof(a->code));
	for (unsigned c = 0; c < a->nchars; c++)
		a->code[a->chars[c]] = (uint8_t) c;
	memset(a->pair, 0, sizeof(a->pair));
	for (unsigned two = 0; two < 1u << (2 * a->bits); two++)
	{
		unsigned	first = two & mask;
		unsigned	second = two >> a->bits;

		/* codes beyond the alphabet come from damage: any character will do */
		first = a->chars[first < a->nchars ? first : 0];
		second = a->chars[second < a->nchars ? second : 0];
		a->pair[two] = (uint16_t) (first | second << 8);
	}
}

bool
st_alphabet_prepare(StAlphabet *a)
{
	if (a->nchars < 1 || a->nchars > ST_ALPHABET_MAX_CHARS ||
		a->bits < 1 || a->bits > 6 || a->nchars > 1 << a->bits ||
		a->template_len > ST_ALPHABET_MAX_TEMPLATE)
		return false;
	if (a->template_len < 64 && a->template_fixed >> a->template_len != 0)
		return false;
	for (int c = 1; c < a->nchars; c++)
	{
		if (a->chars[c] <= a->chars[c - 1])
			return false;
	}
	derive_tables(a);
	return true;
}

/* Characters per string that are stored, if there is a template. */
static uint32_t
template_nvar(const StAlphabet *a)
{
	return a->template_len -
		(uint32_t) __builtin_popcountll(a->template_fixed);
}

/*
 * A place is fixed if all strings of the sample have the same byte there.
 * False if their lengths differ or nothing is fixed.
 */
static bool
learn_template(const StStr *sample, int n, StAlphabet *a)
{
	uint32_t	len = sample[0].len;

	if (n < 16 || len < 2 || len > ST_ALPHABET_MAX_TEMPLATE)
		return false;
	a->template_len = (uint8_t) len;
	a->template_fixed = UINT64_MAX >> (64 - len);
	memcpy(a->template, sample[0].data, len);
	for (int i = 1; i < n; i++)
	{
		if (sample[i].len != len)
			return false;
		for (uint32_t k = 0; k < len; k++)
		{
			if (sample[i].data[k] != a->template[k])
				a->template_fixed &= ~(UINT64_C(1) << k);
		}
	}
	for (uint32_t k = 0; k < len; k++)
	{
		if ((a->template_fixed >> k & 1) == 0)
			a->template[k] = 0;
	}
	return a->template_fixed != 0;
}

/* Adds the characters of a class if there is room for all that are missing. */
static void
complete_class(bool *present, int *n, int limit, const char *class)
{
	int			missing = 0;
	int			have = 0;

	for (const char *c = class; *c; c++)
	{
		if (present[(uint8_t) *c])
			have++;
		else
			missing++;
	}
	if (have == 0 || *n + missing > limit)
		return;
	for (const char *c = class; *c; c++)
		present[(uint8_t) *c] = true;
	*n += missing;
}

static int
bits_for(int nchars)
{
	int			bits = 1;

	while (1 << bits < nchars)
		bits++;
	return bits;
}

bool
st_alphabet_learn(const StStr *sample, int n, StAlphabet *a)
{
	static const char *const classes[] = {
		"0123456789", "abcdef", "ABCDEF", "abcdefghijklmnopqrstuvwxyz",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "+-.", "+/=", "-_", " ,:;"
	};
	bool		present[256] = {false};
	int			nchars = 0;

	memset(a, 0, sizeof(*a));
	if (n == 0)
		return false;
	if (!learn_template(sample, n, a))
		memset(a, 0, sizeof(*a));
	for (int i = 0; i < n; i++)
	{
		for (uint32_t k = 0; k < sample[i].len; k++)
		{
			bool	   *seen = &present[sample[i].data[k]];

			if (*seen || (a->template_len > 0 && a->template_fixed >> k & 1))
				continue;
			*seen = true;
			nchars++;
		}
	}
	if (nchars == 0 || nchars > ST_ALPHABET_MAX_CHARS)
		return false;

	/* unused codes cost nothing: give them to what is likely to come */
	a->bits = (uint8_t) bits_for(nchars);
	for (size_t c = 0; c < sizeof(classes) / sizeof(classes[0]); c++)
		complete_class(present, &nchars, 1 << a->bits, classes[c]);
	for (int b = 0; b < 256; b++)
	{
		if (present[b])
			a->chars[a->nchars++] = (uint8_t) b;
	}
	derive_tables(a);
	return true;
}

/* Is s packed, rather than an exception? */
static bool
string_fits(const StAlphabet *a, const StStr *s)
{
	if (a->template_len == 0)
	{
		for (uint32_t k = 0; k < s->len; k++)
		{
			if (a->code[s->data[k]] == NOT_IN_ALPHABET)
				return false;
		}
		return true;
	}
	if (s->len != a->template_len)
		return false;
	for (uint32_t k = 0; k < s->len; k++)
	{
		if (a->template_fixed >> k & 1)
		{
			if (s->data[k] != a->template[k])
				return false;
		}
		else if (a->code[s->data[k]] == NOT_IN_ALPHABET)
			return false;
	}
	return true;
}

uint64_t
st_alphabet_measure(const StAlphabet *a, const StStr *s)
{
	if (!string_fits(a, s))
		return 16 + 8 * (uint64_t) s->len;
	return (uint64_t) a->bits * (a->template_len ? template_nvar(a) : s->len);
}

/* ---- encoding ---- */

typedef struct BitWriter
{
	uint8_t    *out;
	uint64_t	acc;
	int			fill;			/* bits in acc, below 8 between characters */
} BitWriter;

static void
pack_string(BitWriter *w, const StAlphabet *a, const StStr *s)
{
	for (uint32_t k = 0; k < s->len; k++)
	{
		if (a->template_len > 0 && a->template_fixed >> k & 1)
			continue;
		w->acc |= (uint64_t) a->code[s->data[k]] << w->fill;
		w->fill += a->bits;
		if (w->fill >= 8)
		{
			*w->out++ = (uint8_t) w->acc;
			w->acc >>= 8;
			w->fill -= 8;
		}
	}
}

size_t
st_alphabet_overhead(int n)
{
	return ST_VARINT_MAX + 2 * (size_t) n;
}

StStatus
st_alphabet_encode(const StAlphabet *a, const StStr *v, int n,
				   uint8_t *dst, size_t cap, size_t limit, size_t *len)
{
	uint16_t	except[ST_VECTOR_SIZE / EXCEPTION_SHARE + 1];
	int			nexcept = 0;
	int			next = 0;
	uint64_t	nchars = 0;
	uint64_t	except_bytes = 0;
	uint32_t	nvar = template_nvar(a);
	StByteWriter w;
	BitWriter	bits;
	uint8_t    *packed;

	for (int i = 0; i < n; i++)
	{
		if (string_fits(a, &v[i]))
		{
			nchars += a->template_len ? nvar : v[i].len;
			continue;
		}
		if (nexcept >= n / EXCEPTION_SHARE + 1 ||
			nexcept >= (int) (sizeof(except) / sizeof(except[0])))
			return ST_NOTFIT;
		except[nexcept++] = (uint16_t) i;
		except_bytes += v[i].len;
	}

	st_writer_init(&w, dst, cap < limit ? cap : limit);
	st_write_varint(&w, (uint64_t) nexcept);
	for (int k = 0; k < nexcept; k++)
		st_write_u16(&w, except[k]);
	packed = st_write_span(&w, (nchars * a->bits + 7) / 8);
	(void) st_write_span(&w, except_bytes);
	if (w.status != ST_OK)
		return w.status;
	bits = (BitWriter) {.out = packed};
	for (int i = 0; i < n; i++)
	{
		if (next < nexcept && except[next] == i)
			next++;
		else
			pack_string(&bits, a, &v[i]);
	}
	if (bits.fill > 0)
		*bits.out++ = (uint8_t) bits.acc;
	for (int k = 0; k < nexcept; k++)
	{
		const StStr *s = &v[except[k]];

		if (s->len > 0)
			memcpy(bits.out, s->data, s->len);
		bits.out += s->len;
	}
	*len = st_writer_len(&w);
	return ST_OK;
}

/* ---- decoding ---- */

typedef struct AlphabetPayload
{
	int			nexcept;
	const uint8_t *except;		/* positions, 2 bytes each */
	const uint8_t *packed;
	const uint8_t *raw;			/* the exceptions' bytes */
	const uint8_t *end;			/* of the whole payload */
} AlphabetPayload;

/* Checks everything but the packed bits, which can be anything. */
static StStatus
parse_payload(const StAlphabet *a, const uint8_t *src, size_t len, int n,
			  const uint32_t *lens, AlphabetPayload *p)
{
	StByteReader r;
	uint64_t	count;
	uint64_t	nchars = 0;
	uint64_t	except_bytes = 0;
	uint32_t	nvar = template_nvar(a);
	int			next = 0;

	st_reader_init(&r, src, len);
	count = st_read_varint(&r);
	if (count > (uint64_t) n)
		return ST_CORRUPT;
	p->nexcept = (int) count;
	p->except = st_read_span(&r, count * 2);
	if (p->except == NULL)
		return ST_CORRUPT;
	for (int i = 0; i < n; i++)
	{
		if (next < p->nexcept && st_load_u16(p->except + 2 * next) == i)
		{
			next++;
			except_bytes += lens[i];
		}
		else if (a->template_len == 0)
			nchars += lens[i];
		else if (lens[i] == a->template_len)
			nchars += nvar;
		else
			return ST_CORRUPT;
	}
	/* positions that are out of range or do not ascend were not met */
	if (next != p->nexcept)
		return ST_CORRUPT;
	p->packed = st_read_span(&r, (nchars * a->bits + 7) / 8);
	p->raw = st_read_span(&r, except_bytes);
	p->end = r.p;
	return st_reader_finish(&r);
}

StStatus
st_alphabet_check(const StAlphabet *a, const uint8_t *src, size_t len, int n,
				  const uint32_t *lens)
{
	AlphabetPayload p;

	return parse_payload(a, src, len, n, lens, &p);
}

/* Eight characters from the low 8 * width bits of a word. */
ST_INLINE uint64_t
unpack_eight(const uint16_t *pair, uint64_t word, int width)
{
	unsigned	mask = (1u << (2 * width)) - 1;

	return (uint64_t) pair[word & mask] |
		(uint64_t) pair[(word >> (2 * width)) & mask] << 16 |
		(uint64_t) pair[(word >> (4 * width)) & mask] << 32 |
		(uint64_t) pair[(word >> (6 * width)) & mask] << 48;
}

/* 8 bytes from p, zeros from end on. */
ST_INLINE uint64_t
load_bounded(const uint8_t *p, const uint8_t *end)
{
	if (st_likely(end - p >= 8))
		return st_load_u64(p);
	return st_load_partial(p, (size_t) (end - p));
}

/*
 * Unpacks n characters that begin at a bit position to out, rounded up to a
 * multiple of 8.
 */
ST_INLINE void
unpack_width(const StAlphabet *a, int width, const uint8_t *packed,
			 const uint8_t *end, uint64_t bit, uint8_t *out, uint32_t n)
{
	/* eight characters are width bytes: the shift within a byte stays */
	const uint8_t *p = packed + bit / 8;
	int			shift = (int) (bit & 7);

	for (uint32_t k = 0; k < n; k += 8, p += width)
		st_store_u64(out + k, unpack_eight(a->pair,
										   load_bounded(p, end) >> shift,
										   width));
}

/*
 * The template as pieces of up to 8 places, left to right, each either fixed
 * or stored.  A piece is written as a word of 8 bytes: the next one covers
 * what is too much.
 */
typedef struct TemplatePieces
{
	int			npieces;
	struct
	{
		uint64_t	fixed;		/* bytes of a fixed piece */
		uint8_t		start;		/* in the string */
		uint8_t		len;
		uint8_t		nvar;		/* len, 0 for a fixed piece */
	}			piece[ST_ALPHABET_MAX_TEMPLATE];
} TemplatePieces;

static void
split_template(const StAlphabet *a, TemplatePieces *t)
{
	bool		last_fixed = false;

	t->npieces = 0;
	for (int k = 0; k < a->template_len; k++)
	{
		bool		fixed = a->template_fixed >> k & 1;
		int			last = t->npieces - 1;

		if (last < 0 || last_fixed != fixed || t->piece[last].len == 8)
		{
			last = t->npieces++;
			t->piece[last].fixed = 0;
			t->piece[last].start = (uint8_t) k;
			t->piece[last].len = 0;
			t->piece[last].nvar = 0;
			last_fixed = fixed;
		}
		t->piece[last].fixed |=
			(uint64_t) a->template[k] << (8 * t->piece[last].len);
		t->piece[last].len++;
		t->piece[last].nvar += !fixed;
	}
}

/* Writes up to 7 bytes more than template_len at out. */
ST_INLINE void
unpack_template(const StAlphabet *a, int width, const TemplatePieces *t,
				const uint8_t *packed, const uint8_t *end, uint64_t bit,
				uint8_t *out)
{
	for (int k = 0; k < t->npieces; k++)
	{
		unsigned	nvar = t->piece[k].nvar;
		uint64_t	word = t->piece[k].fixed;

		if (nvar > 0)
		{
			word = load_bounded(packed + bit / 8, end) >> (bit & 7);
			word = unpack_eight(a->pair, word, width);
		}
		st_store_u64(out + t->piece[k].start, word);
		bit += nvar * (unsigned) width;
	}
}

ST_INLINE void
decode_width(const StAlphabet *a, int width, const AlphabetPayload *p, int n,
			 const uint32_t *lens, const uint32_t *off, uint8_t *arena)
{
	TemplatePieces t;
	const uint8_t *raw = p->raw;
	uint32_t	nvar = template_nvar(a);
	uint64_t	bit = 0;
	int			next = 0;
	int			next_except = p->nexcept > 0 ? st_load_u16(p->except) : n;

	if (a->template_len > 0)
		split_template(a, &t);
	for (int i = 0; i < n; i++)
	{
		if (st_unlikely(i == next_except))
		{
			memcpy(arena + off[i], raw, lens[i]);
			raw += lens[i];
			next++;
			next_except = next < p->nexcept ?
				st_load_u16(p->except + 2 * next) : n;
		}
		else if (a->template_len > 0)
		{
			unpack_template(a, width, &t, p->packed, p->end, bit,
							arena + off[i]);
			bit += (uint64_t) nvar * (unsigned) width;
		}
		else
		{
			unpack_width(a, width, p->packed, p->end, bit, arena + off[i],
						 lens[i]);
			bit += (uint64_t) lens[i] * (unsigned) width;
		}
	}
}

StStatus
st_alphabet_decode(const StAlphabet *a, const uint8_t *src, size_t len, int n,
				   const uint32_t *lens, const uint32_t *off, uint8_t *arena)
{
	AlphabetPayload p;
	StStatus	status = parse_payload(a, src, len, n, lens, &p);

	if (status != ST_OK)
		return status;
	/* a loop for each width */
#define DECODE_WIDTH(width) \
	case width: \
		decode_width(a, width, &p, n, lens, off, arena); \
		break;
	switch (a->bits)
	{
			DECODE_WIDTH(1)
			DECODE_WIDTH(2)
			DECODE_WIDTH(3)
			DECODE_WIDTH(4)
			DECODE_WIDTH(5)
			DECODE_WIDTH(6)
	}
	return ST_OK;
}

/*
 * Finds the characters of string i.  Returns its bytes if they are raw; else
 * NULL, and sets *bit to their position.
 */
static const uint8_t *
locate(const StAlphabet *a, const AlphabetPayload *p, const uint32_t *lens,
	   int i, uint64_t *bit)
{
	const uint8_t *raw = p->raw;
	uint32_t	nvar = template_nvar(a);
	uint64_t	nchars = 0;
	int			next = 0;

	for (int k = 0; k <= i; k++)
	{
		bool		is_except = next < p->nexcept &&
			st_load_u16(p->except + 2 * next) == k;

		if (k == i)
		{
			*bit = nchars * a->bits;
			return is_except ? raw : NULL;
		}
		if (is_except)
		{
			raw += lens[k];
			next++;
		}
		else
			nchars += a->template_len ? nvar : lens[k];
	}
	return NULL;
}

/* Exactly len characters from a bit position on. */
static void
unpack_exactly(const StAlphabet *a, const AlphabetPayload *p, uint64_t bit,
			   uint8_t *dst, uint32_t len)
{
	uint32_t	whole = len & ~UINT32_C(7);
	uint8_t		last[8];

	unpack_width(a, a->bits, p->packed, p->end, bit, dst, whole);
	if (whole == len)
		return;
	unpack_width(a, a->bits, p->packed, p->end,
				 bit + (uint64_t) whole * a->bits, last, len - whole);
	memcpy(dst + whole, last, len - whole);
}

/* The packed string at a bit position, exactly len bytes of it. */
static void
unpack_string(const StAlphabet *a, const AlphabetPayload *p, uint64_t bit,
			  uint8_t *dst, uint32_t len)
{
	TemplatePieces t;
	uint8_t		string[ST_STR_SLACK];

	if (a->template_len == 0)
	{
		unpack_exactly(a, p, bit, dst, len);
		return;
	}
	split_template(a, &t);
	unpack_template(a, a->bits, &t, p->packed, p->end, bit, string);
	memcpy(dst, string, len);
}

StStatus
st_alphabet_at(const StAlphabet *a, const uint8_t *src, size_t len, int n,
			   const uint32_t *lens, int i, uint8_t *dst)
{
	AlphabetPayload p;
	const uint8_t *raw;
	uint64_t	bit = 0;
	StStatus	status = parse_payload(a, src, len, n, lens, &p);

	if (status != ST_OK || lens[i] == 0)
		return status;
	raw = locate(a, &p, lens, i, &bit);
	if (raw != NULL)
		memcpy(dst, raw, lens[i]);
	else
		unpack_string(a, &p, bit, dst, lens[i]);
	return ST_OK;
}

StStatus
st_alphabet_even_at(const StAlphabet *a, const uint8_t *src, size_t len, int n,
					uint32_t each, int i, uint8_t *dst)
{
	AlphabetPayload p = {0};
	uint64_t	bits = (uint64_t) a->bits *
		(a->template_len ? template_nvar(a) : each);
	StByteReader r;

	st_reader_init(&r, src, len);
	if (st_read_varint(&r) != 0 || (a->template_len && a->template_len != each))
		return ST_NOTFIT;
	p.packed = st_read_span(&r, (bits * (uint64_t) n + 7) / 8);
	p.end = r.p;
	if (st_reader_finish(&r) != ST_OK)
		return ST_NOTFIT;
	if (each > 0)
		unpack_string(a, &p, bits * (uint64_t) i, dst, each);
	return ST_OK;
}
