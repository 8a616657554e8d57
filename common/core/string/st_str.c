/*-------------------------------------------------------------------------
 *
 * st_str.c
 *	  Vectors of strings: the frame that all schemes share.
 *
 *		u8			0 = payload is raw, 1 = payload is the scheme's
 *		u16			bytes of the next
 *		st_int		lengths of the strings
 *		payload		raw: the strings' bytes, one after the other
 *
 * Saved schemes:
 *
 *		u8			kind
 *		fsst:		u8 number of symbols, u8 length of each, their bytes
 *		alphabet:	u8 bits, u8 number of characters, these, u8 length of the
 *					template; if not 0: u64 fixed places, a byte for each
 *
 *-------------------------------------------------------------------------
 */
#include "st_str_internal.h"

#include "st_bytes.h"
#include "st_int.h"

/* On disk. */
#define MODE_RAW 0
#define MODE_SCHEME 1

#define FRAME_HEADER 3

/* ---- schemes ---- */

void
st_str_scheme_raw(StStrScheme *scheme)
{
	memset(scheme, 0, sizeof(*scheme));
	scheme->kind = ST_STR_RAW;
	scheme->estimate_permille = 1000;
}

const char *
st_str_scheme_name(const StStrScheme *scheme)
{
	switch (scheme->kind)
	{
		case ST_STR_FSST:
			return "fsst";
		case ST_STR_ALPHABET:
			return "alphabet";
		default:
			return "raw";
	}
}

size_t
st_str_scheme_bound(void)
{
	return 2 + ST_FSST_MAX_SYMBOLS * 9;
}

static void
save_fsst(StByteWriter *w, const StFsstTable *t)
{
	st_write_u8(w, (uint8_t) t->nsym);
	st_write_bytes(w, t->len, t->nsym);
	for (uint32_t c = 0; c < t->nsym; c++)
		st_write_bytes(w, &t->sym[c], t->len[c]);
}

static StStatus
load_fsst(StByteReader *r, StFsstTable *t)
{
	memset(t, 0, sizeof(*t));
	t->nsym = st_read_u8(r);
	for (uint32_t c = 0; c < t->nsym; c++)
	{
		t->len[c] = st_read_u8(r);
		if (t->len[c] < 1 || t->len[c] > 8)
			return ST_CORRUPT;
	}
	for (uint32_t c = 0; c < t->nsym; c++)
	{
		const uint8_t *p = st_read_span(r, t->len[c]);

		if (p == NULL)
			return ST_CORRUPT;
		t->sym[c] = st_load_partial(p, t->len[c]);
	}
	return st_reader_finish(r);
}

static void
save_alphabet(StByteWriter *w, const StAlphabet *a)
{
	st_write_u8(w, a->bits);
	st_write_u8(w, a->nchars);
	st_write_bytes(w, a->chars, a->nchars);
	st_write_u8(w, a->template_len);
	if (a->template_len == 0)
		return;
	st_write_u64(w, a->template_fixed);
	for (int k = 0; k < a->template_len; k++)
	{
		if (a->template_fixed >> k & 1)
			st_write_u8(w, a->template[k]);
	}
}

static StStatus
load_alphabet(StByteReader *r, StAlphabet *a)
{
	const uint8_t *chars;

	memset(a, 0, sizeof(*a));
	a->bits = st_read_u8(r);
	a->nchars = st_read_u8(r);
	chars = st_read_span(r, a->nchars);
	if (chars == NULL || a->nchars > ST_ALPHABET_MAX_CHARS)
		return ST_CORRUPT;
	memcpy(a->chars, chars, a->nchars);
	a->template_len = st_read_u8(r);
	if (a->template_len > ST_ALPHABET_MAX_TEMPLATE)
		return ST_CORRUPT;
	if (a->template_len > 0)
	{
		a->template_fixed = st_read_u64(r);
		for (int k = 0; k < a->template_len; k++)
		{
			if (a->template_fixed >> k & 1)
				a->template[k] = st_read_u8(r);
		}
	}
	if (st_reader_finish(r) != ST_OK || !st_alphabet_prepare(a))
		return ST_CORRUPT;
	return ST_OK;
}

size_t
st_str_scheme_save(const StStrScheme *scheme, uint8_t *dst, size_t cap)
{
	StByteWriter w;

	st_writer_init(&w, dst, cap);
	st_write_u8(&w, (uint8_t) scheme->kind);
	if (scheme->kind == ST_STR_FSST)
		save_fsst(&w, &scheme->u.fsst);
	else if (scheme->kind == ST_STR_ALPHABET)
		save_alphabet(&w, &scheme->u.alphabet);
	return w.status == ST_OK ? st_writer_len(&w) : 0;
}

StStatus
st_str_scheme_load(const uint8_t *src, size_t len, StStrScheme *scheme)
{
	StByteReader r;

	st_reader_init(&r, src, len);
	if (len == 0)
		return ST_CORRUPT;
	scheme->kind = st_read_u8(&r);
	scheme->estimate_permille = 0;
	switch (scheme->kind)
	{
		case ST_STR_RAW:
			return st_reader_finish(&r);
		case ST_STR_FSST:
			return load_fsst(&r, &scheme->u.fsst);
		case ST_STR_ALPHABET:
			return load_alphabet(&r, &scheme->u.alphabet);
		default:
			return ST_UNSUPPORTED;
	}
}

/* ---- encoding ---- */

static size_t
scheme_overhead(const StStrScheme *scheme, int n)
{
	switch (scheme->kind)
	{
		case ST_STR_FSST:
			return st_fsst_overhead(n);
		case ST_STR_ALPHABET:
			return st_alphabet_overhead(n);
		default:
			return 0;
	}
}

size_t
st_str_bound(const StStrScheme *scheme, const StStr *v, int n)
{
	size_t		total = 0;

	for (int i = 0; i < n; i++)
		total += v[i].len;
	return FRAME_HEADER + st_int_bound(n) + scheme_overhead(scheme, n) + total;
}

static StStatus
encode_raw(const StStr *v, int n, uint8_t *dst, size_t cap, size_t *len)
{
	StByteWriter w;

	st_writer_init(&w, dst, cap);
	for (int i = 0; i < n; i++)
		st_write_bytes(&w, v[i].data, v[i].len);
	*len = st_writer_len(&w);
	return w.status;
}

/* Anything but ST_OK: store the vector raw. */
static StStatus
encode_scheme(const StStrScheme *scheme, const StStr *v, int n,
			  size_t total, uint8_t *dst, size_t cap, size_t *len)
{
	switch (scheme->kind)
	{
		case ST_STR_FSST:
			return st_fsst_encode(&scheme->u.fsst, v, n, dst, cap, total, len);
		case ST_STR_ALPHABET:
			return st_alphabet_encode(&scheme->u.alphabet, v, n, dst, cap,
									  total, len);
		default:
			return ST_NOTFIT;
	}
}

StStatus
st_str_encode(const StStrScheme *scheme, const StStr *v, int n,
			  uint8_t *dst, size_t cap, size_t *len)
{
	int64_t		lens[ST_VECTOR_SIZE];
	size_t		total = 0;
	size_t		lenslen;
	size_t		payload;
	uint8_t    *p;
	StStatus	status;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_NOTFIT;
	for (int i = 0; i < n; i++)
	{
		if (v[i].len > ST_STR_MAX_LEN)
			return ST_NOTFIT;
		lens[i] = v[i].len;
		total += v[i].len;
	}
	if (cap < FRAME_HEADER)
		return ST_NOSPACE;
	status = st_int_encode(lens, n, dst + FRAME_HEADER, cap - FRAME_HEADER,
						   &lenslen);
	if (status != ST_OK)
		return status;
	p = dst + FRAME_HEADER + lenslen;
	cap -= FRAME_HEADER + lenslen;

	dst[0] = MODE_SCHEME;
	st_store_u16(dst + 1, (uint16_t) lenslen);
	if (encode_scheme(scheme, v, n, total, p, cap, &payload) != ST_OK)
	{
		dst[0] = MODE_RAW;
		status = encode_raw(v, n, p, cap, &payload);
	}
	*len = FRAME_HEADER + lenslen + payload;
	return status;
}

/* ---- decoding ---- */

typedef struct StrFrame
{
	bool		raw;
	uint64_t	total;			/* bytes of all strings */
	const uint8_t *payload;
	size_t		payloadlen;
	uint32_t	lens[ST_VECTOR_SIZE];
} StrFrame;

static StStatus
parse_frame(const uint8_t *src, size_t len, int n, StrFrame *f)
{
	StByteReader r;
	uint8_t		mode;
	size_t		lenslen;
	const uint8_t *lens;
	uint32_t	longest = 0;
	StStatus	status;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	mode = st_read_u8(&r);
	lenslen = st_read_u16(&r);
	lens = st_read_span(&r, lenslen);
	if (lens == NULL || mode > MODE_SCHEME)
		return ST_CORRUPT;
	f->payload = st_read_rest(&r, &f->payloadlen);
	f->raw = mode == MODE_RAW;
	status = st_int_decode_u32(lens, lenslen, n, f->lens);
	if (status != ST_OK)
		return status;
	f->total = 0;
	for (int i = 0; i < n; i++)
	{
		longest = f->lens[i] > longest ? f->lens[i] : longest;
		f->total += f->lens[i];
	}
	return longest <= ST_STR_MAX_LEN ? ST_OK : ST_CORRUPT;
}

/*
 * Can the payload be that of strings of these lengths?  After this, the
 * bytes that a damaged length makes anybody allocate are bounded by a small
 * multiple of the bytes that were read.
 */
static StStatus
check_payload(const StStrScheme *scheme, const StrFrame *f, int n)
{
	if (f->raw)
		return f->total == f->payloadlen ? ST_OK : ST_CORRUPT;
	switch (scheme->kind)
	{
		case ST_STR_FSST:
			return st_fsst_check(f->payload, f->payloadlen, n, f->total);
		case ST_STR_ALPHABET:
			return st_alphabet_check(&scheme->u.alphabet, f->payload,
									 f->payloadlen, n, f->lens);
		default:
			return ST_CORRUPT;
	}
}

/*
 * Places the strings in the arena; off may be NULL.  Returns the arena's
 * size, 0 if that is more than offsets can tell.
 */
static size_t
layout_arena(const uint32_t *lens, int n, uint32_t room, uint32_t align,
			 uint32_t *off)
{
	uint64_t	pos = 0;

	for (int i = 0; i < n; i++)
	{
		pos = (pos + align - 1) & ~(uint64_t) (align - 1);
		pos += room;
		if (off != NULL)
			off[i] = (uint32_t) pos;
		pos += lens[i];
	}
	pos += ST_STR_SLACK;
	return pos <= UINT32_MAX ? (size_t) pos : 0;
}

StStatus
st_str_decoded_size(const StStrScheme *scheme, const uint8_t *src, size_t len,
					int n, uint32_t room, uint32_t align, size_t *arena)
{
	StrFrame	f;
	StStatus	status = parse_frame(src, len, n, &f);

	if (status == ST_OK)
		status = check_payload(scheme, &f, n);
	if (status != ST_OK)
		return status;
	*arena = layout_arena(f.lens, n, room, align, NULL);
	return *arena > 0 ? ST_OK : ST_NOSPACE;
}

/* Strings are put down one after another, so what is written behind one is overwritten. */
#define RAW_AT_ONCE 32

_Static_assert(RAW_AT_ONCE <= ST_STR_SLACK, "slack of the arena");

static StStatus
decode_raw(const StrFrame *f, int n, const uint32_t *off, uint8_t *arena)
{
	const uint8_t *from = f->payload;
	const uint8_t *end = from + f->payloadlen;
	int			i = 0;

	if (f->total != f->payloadlen)
		return ST_CORRUPT;
	for (; i < n && end - from >= RAW_AT_ONCE; i++)
	{
		if (f->lens[i] <= RAW_AT_ONCE)
			memcpy(arena + off[i], from, RAW_AT_ONCE);
		else
			memcpy(arena + off[i], from, f->lens[i]);
		from += f->lens[i];
	}
	for (; i < n; i++)
	{
		memcpy(arena + off[i], from, f->lens[i]);
		from += f->lens[i];
	}
	return ST_OK;
}

StStatus
st_str_decode(const StStrScheme *scheme, const uint8_t *src, size_t len,
			  int n, uint32_t room, uint32_t align,
			  uint8_t *arena, size_t cap, uint32_t *off, uint32_t *lens)
{
	StrFrame	f;
	size_t		size;
	StStatus	status = parse_frame(src, len, n, &f);

	if (status != ST_OK)
		return status;
	size = layout_arena(f.lens, n, room, align, off);
	if (size == 0 || size > cap)
		return ST_NOSPACE;
	memcpy(lens, f.lens, (size_t) n * sizeof(uint32_t));
	if (f.raw)
		return decode_raw(&f, n, off, arena);
	switch (scheme->kind)
	{
		case ST_STR_FSST:
			return st_fsst_decode(&scheme->u.fsst, f.payload, f.payloadlen, n,
								  f.lens, off, arena);
		case ST_STR_ALPHABET:
			return st_alphabet_decode(&scheme->u.alphabet, f.payload,
									  f.payloadlen, n, f.lens, off, arena);
		default:
			return ST_CORRUPT;
	}
}

static StStatus
raw_at(const StrFrame *f, int i, uint8_t *dst)
{
	uint64_t	before = 0;

	if (f->total != f->payloadlen)
		return ST_CORRUPT;
	for (int k = 0; k < i; k++)
		before += f->lens[k];
	memcpy(dst, f->payload + before, f->lens[i]);
	return ST_OK;
}

/*
 * String i where all are of one length, as hashes and keys are: nothing has
 * to be added up to find it.  ST_NOTFIT if they are not.
 */
static StStatus
even_at(const StStrScheme *scheme, const uint8_t *src, size_t len, int n,
		int i, uint8_t *dst, size_t cap, uint32_t *outlen)
{
	StByteReader r;
	uint8_t		mode;
	size_t		lenslen;
	const uint8_t *lens;
	const uint8_t *payload;
	size_t		payloadlen;
	int64_t		each;

	st_reader_init(&r, src, len);
	mode = st_read_u8(&r);
	lenslen = st_read_u16(&r);
	lens = st_read_span(&r, lenslen);
	if (lens == NULL || n > ST_VECTOR_SIZE ||
		!st_int_constant(lens, lenslen, &each) ||
		each < 0 || each > ST_STR_MAX_LEN || (size_t) each > cap)
		return ST_NOTFIT;
	payload = st_read_rest(&r, &payloadlen);
	*outlen = (uint32_t) each;
	if (mode == MODE_RAW && payloadlen == (size_t) n * (size_t) each)
	{
		if (each > 0)
			memcpy(dst, payload + (size_t) i * (size_t) each, (size_t) each);
		return ST_OK;
	}
	if (mode == MODE_SCHEME && scheme->kind == ST_STR_ALPHABET)
		return st_alphabet_even_at(&scheme->u.alphabet, payload, payloadlen, n,
								   (uint32_t) each, i, dst);
	return ST_NOTFIT;
}

StStatus
st_str_at(const StStrScheme *scheme, const uint8_t *src, size_t len, int n,
		  int i, uint8_t *dst, size_t cap, uint32_t *outlen)
{
	StrFrame	f;
	StStatus	status;

	if (i < 0 || i >= n)
		return ST_CORRUPT;
	if (dst != NULL &&
		even_at(scheme, src, len, n, i, dst, cap, outlen) == ST_OK)
		return ST_OK;
	status = parse_frame(src, len, n, &f);
	if (status == ST_OK)
		status = check_payload(scheme, &f, n);
	if (status != ST_OK)
		return status;
	*outlen = f.lens[i];
	if (dst == NULL)
		return ST_OK;
	if (f.lens[i] > cap)
		return ST_NOSPACE;
	if (f.raw)
		return raw_at(&f, i, dst);
	switch (scheme->kind)
	{
		case ST_STR_FSST:
			return st_fsst_at(&scheme->u.fsst, f.payload, f.payloadlen, n,
							  f.lens, i, dst);
		default:
			return st_alphabet_at(&scheme->u.alphabet, f.payload,
								  f.payloadlen, n, f.lens, i, dst);
	}
}
