/*-------------------------------------------------------------------------
 *
 * st_fsst.c
 *	  FSST: strings as codes for symbols of up to 8 bytes.
 *
 * Method: Boncz, Neumann, Leis, "FSST: Fast Random Access String
 * Compression", PVLDB 13(11), 2020.  Code 255 escapes the byte that follows.
 * Codes never cross the end of a string, so any string decodes alone.
 *
 * A vector's payload:
 *
 *		u8			log2 of the strings per group: 0 or 4
 *		varint		bytes of the next
 *		st_int		code bytes of each group
 *		codes
 *
 * The groups are what gives access to one string: long strings form a group
 * each, short ones share it with 15 others, which are skipped code by code.
 * A damaged code decodes to other bytes, never to more than the length says.
 *
 *-------------------------------------------------------------------------
 */
#include "st_str_internal.h"

#include "st_bytes.h"
#include "st_int.h"

/* Strings of at least this many bytes on average get a group each. */
#define FSST_LONG_STRING 128
#define FSST_GROUP_SHIFT 4

/* ---- encoding ---- */

/* Counting sort of the longer symbols by bucket, longest first in each. */
void
st_fsst_encoder_init(StFsstEncoder *enc, const StFsstTable *table)
{
	unsigned	next[ST_FSST_BUCKETS + 1] = {0};

	memset(enc->single, ST_FSST_ESCAPE, sizeof(enc->single));
	memset(enc->pair, ST_FSST_ESCAPE, sizeof(enc->pair));
	for (unsigned c = 0; c < table->nsym; c++)
	{
		if (table->len[c] == 1)
			enc->single[table->sym[c] & 0xff] = (uint8_t) c;
		else if (table->len[c] == 2)
			enc->pair[table->sym[c] & 0xffff] = (uint8_t) c;
		else
			next[st_fsst_bucket(table->sym[c]) + 1]++;
	}
	for (unsigned b = 0; b < ST_FSST_BUCKETS; b++)
	{
		next[b + 1] += next[b];
		enc->start[b] = (uint8_t) next[b];
	}
	enc->start[ST_FSST_BUCKETS] = (uint8_t) next[ST_FSST_BUCKETS];
	for (unsigned len = 8; len >= 3; len--)
	{
		for (unsigned c = 0; c < table->nsym; c++)
		{
			unsigned	k;

			if (table->len[c] != len)
				continue;
			k = next[st_fsst_bucket(table->sym[c])]++;
			enc->sym[k] = table->sym[c];
			enc->len[k] = (uint8_t) len;
			enc->code[k] = (uint8_t) c;
		}
	}
}

/*
 * Encodes what begins in the first len bytes of p, of which remaining are
 * the string's; 8 bytes can be read at each of them.  Returns the end of the
 * codes, NULL if they reach beyond end; *used tells how far it came.
 */
ST_INLINE uint8_t *
encode_bytes(const StFsstEncoder *enc, const uint8_t *p, size_t len,
			 size_t remaining, uint8_t *out, const uint8_t *end, size_t *used)
{
	size_t		pos = 0;

	while (pos < len)
	{
		unsigned	symlen;
		unsigned	code;

		code = st_fsst_match(enc, st_load_u64(p + pos), remaining - pos,
							 &symlen);
		if (end - out < 2 && (end == out || code == ST_FSST_ESCAPE))
			return NULL;
		*out++ = (uint8_t) code;
		if (code == ST_FSST_ESCAPE)
			*out++ = p[pos];
		pos += symlen;
	}
	*used = pos;
	return out;
}

/* The last bytes are encoded from a copy that is zero padded. */
uint8_t *
st_fsst_encode_string(const StFsstEncoder *enc, const StStr *s,
					  uint8_t *out, uint8_t *end)
{
	uint8_t		tail[16] = {0};
	size_t		used = 0;
	size_t		rest;

	if (s->len >= 8)
		out = encode_bytes(enc, s->data, s->len - 7, s->len, out, end, &used);
	rest = s->len - used;
	if (out == NULL || rest == 0)
		return out;
	memcpy(tail, s->data + used, rest);
	return encode_bytes(enc, tail, rest, rest, out, end, &used);
}

static int
group_count(int n, int shift)
{
	return (n + (1 << shift) - 1) >> shift;
}

size_t
st_fsst_overhead(int n)
{
	return 1 + ST_VARINT_MAX + st_int_bound(n);
}

StStatus
st_fsst_encode(const StFsstTable *table, const StStr *v, int n,
			   uint8_t *dst, size_t cap, size_t limit, size_t *len)
{
	StFsstEncoder enc;
	int64_t		sizes[ST_VECTOR_SIZE];
	uint64_t	total = 0;
	int			shift;
	size_t		reserved = st_fsst_overhead(n);
	uint8_t    *codes;
	uint8_t    *out;
	uint8_t    *end;
	size_t		sizeslen;
	StByteWriter w;
	StStatus	status;

	if (cap < reserved)
		return ST_NOSPACE;
	for (int i = 0; i < n; i++)
		total += v[i].len;
	shift = total >= (uint64_t) n * FSST_LONG_STRING ? 0 : FSST_GROUP_SHIFT;

	/* the codes' place is known only after their sizes: move them then */
	st_fsst_encoder_init(&enc, table);
	codes = out = dst + reserved;
	end = codes + (limit < cap - reserved ? limit : cap - reserved);
	memset(sizes, 0, sizeof(sizes));
	for (int i = 0; i < n; i++)
	{
		uint8_t    *start = out;

		out = st_fsst_encode_string(&enc, &v[i], out, end);
		if (out == NULL)
			return ST_NOSPACE;
		sizes[i >> shift] += out - start;
	}

	st_writer_init(&w, dst, reserved);
	st_write_u8(&w, (uint8_t) shift);
	status = st_int_encode(sizes, group_count(n, shift),
						   dst + 1 + ST_VARINT_MAX,
						   reserved - 1 - ST_VARINT_MAX, &sizeslen);
	if (status != ST_OK)
		return status;
	st_write_varint(&w, sizeslen);
	memmove(w.p, dst + 1 + ST_VARINT_MAX, sizeslen);
	memmove(w.p + sizeslen, codes, (size_t) (out - codes));
	*len = (size_t) (w.p - dst) + sizeslen + (size_t) (out - codes);
	return *len <= limit ? ST_OK : ST_NOSPACE;
}

/* ---- decoding ---- */

typedef struct FsstPayload
{
	int			shift;
	const uint8_t *sizes;		/* encoded sizes of the groups */
	size_t		sizeslen;
	const uint8_t *codes;
	size_t		codeslen;
} FsstPayload;

static StStatus
parse_payload(const uint8_t *src, size_t len, FsstPayload *p)
{
	StByteReader r;

	st_reader_init(&r, src, len);
	p->shift = st_read_u8(&r);
	if (p->shift != 0 && p->shift != FSST_GROUP_SHIFT)
		return ST_CORRUPT;
	p->sizeslen = st_read_varint(&r);
	p->sizes = st_read_span(&r, p->sizeslen);
	p->codes = st_read_rest(&r, &p->codeslen);
	return st_reader_finish(&r);
}

StStatus
st_fsst_check(const uint8_t *src, size_t len, int n, uint64_t total)
{
	FsstPayload p;
	StStatus	status = parse_payload(src, len, &p);

	(void) n;
	if (status != ST_OK)
		return status;
	return total <= (uint64_t) p.codeslen * 8 ? ST_OK : ST_CORRUPT;
}

/*
 * Decodes one string of outlen bytes.  slack: up to 7 bytes behind the
 * string may be overwritten.  Returns the end of its codes, NULL if they do
 * not make outlen bytes.
 */
ST_INLINE const uint8_t *
decode_string(const StFsstTable *table, const uint8_t *in,
			  const uint8_t *in_end, uint8_t *out, size_t outlen, bool slack)
{
	uint8_t    *out_end = out + outlen;

	/* four at a time while four symbols surely fit */
	while (out_end - out >= 32 && in_end - in >= 4)
	{
		uint32_t	four = st_load_u32(in);

		/* is one of the bytes 0xff? */
		if ((~four - 0x01010101u) & four & 0x80808080u)
		{
			unsigned	code = *in++;

			if (code == ST_FSST_ESCAPE)
				*out++ = *in++;
			else
			{
				st_store_u64(out, table->sym[code]);
				out += table->len[code];
			}
			continue;
		}
		for (int k = 0; k < 4; k++)
		{
			unsigned	code = (four >> (8 * k)) & 0xff;

			st_store_u64(out, table->sym[code]);
			out += table->len[code];
		}
		in += 4;
	}
	while (out < out_end)
	{
		unsigned	code;

		if (st_unlikely(in >= in_end))
			return NULL;
		code = *in++;
		if (code == ST_FSST_ESCAPE)
		{
			if (in >= in_end)
				return NULL;
			*out++ = *in++;
		}
		else if (slack || out_end - out >= 8)
		{
			st_store_u64(out, table->sym[code]);
			out += table->len[code];
		}
		else
		{
			if (table->len[code] > out_end - out)
				return NULL;
			memcpy(out, &table->sym[code], table->len[code]);
			out += table->len[code];
		}
	}
	return out == out_end ? in : NULL;
}

StStatus
st_fsst_decode(const StFsstTable *table, const uint8_t *src, size_t len,
			   int n, const uint32_t *lens, const uint32_t *off,
			   uint8_t *arena)
{
	FsstPayload p;
	uint32_t	sizes[ST_VECTOR_SIZE];
	const uint8_t *in;
	const uint8_t *end;
	StStatus	status = parse_payload(src, len, &p);

	if (status == ST_OK)
		status = st_int_decode_u32(p.sizes, p.sizeslen,
								   group_count(n, p.shift), sizes);
	if (status != ST_OK)
		return status;
	in = p.codes;
	end = in + p.codeslen;
	for (int g = 0; g < group_count(n, p.shift); g++)
	{
		int			last = (g + 1) << p.shift;
		const uint8_t *group_end;

		if (sizes[g] > (size_t) (end - in))
			return ST_CORRUPT;
		group_end = in + sizes[g];
		for (int i = g << p.shift; i < n && i < last; i++)
		{
			in = decode_string(table, in, group_end, arena + off[i], lens[i],
							   true);
			if (in == NULL)
				return ST_CORRUPT;
		}
		if (in != group_end)
			return ST_CORRUPT;
	}
	return in == end ? ST_OK : ST_CORRUPT;
}

/* Skips the codes of so many bytes; NULL if they do not end there. */
static const uint8_t *
skip_bytes(const StFsstTable *table, const uint8_t *in, const uint8_t *end,
		   uint64_t bytes)
{
	uint64_t	skipped = 0;

	while (skipped < bytes && in < end)
	{
		unsigned	code = *in++;

		if (code == ST_FSST_ESCAPE)
		{
			in++;
			skipped++;
		}
		else
			skipped += table->len[code];
	}
	return skipped == bytes && in <= end ? in : NULL;
}

StStatus
st_fsst_at(const StFsstTable *table, const uint8_t *src, size_t len, int n,
		   const uint32_t *lens, int i, uint8_t *dst)
{
	FsstPayload p;
	uint32_t	sizes[ST_VECTOR_SIZE];
	uint64_t	before = 0;		/* codes of earlier groups */
	uint64_t	skip = 0;		/* bytes of earlier strings of the group */
	int			group;
	const uint8_t *in;
	StStatus	status = parse_payload(src, len, &p);

	if (status != ST_OK)
		return status;
	status = st_int_decode_u32(p.sizes, p.sizeslen, group_count(n, p.shift),
							   sizes);
	if (status != ST_OK)
		return status;
	group = i >> p.shift;
	for (int g = 0; g < group; g++)
		before += sizes[g];
	if (before > p.codeslen || sizes[group] > p.codeslen - before)
		return ST_CORRUPT;
	for (int k = group << p.shift; k < i; k++)
		skip += lens[k];
	in = skip_bytes(table, p.codes + before, p.codes + before + sizes[group],
					skip);
	if (in == NULL)
		return ST_CORRUPT;
	in = decode_string(table, in, p.codes + before + sizes[group],
					   dst, lens[i], false);
	return in != NULL ? ST_OK : ST_CORRUPT;
}
