/*-------------------------------------------------------------------------
 *
 * st_zson_format.h
 *	  Tags and layouts of st_zson documents: private to st_zson*.c.
 *
 * v is a LEB128 varint.  Numbers of values are on disk: none is ever given
 * another meaning.
 *
 *	00 .. 3f	value 0 .. 63 of the dictionary
 *	40 .. 5f	+ u8: value 64 + ((tag & 1f) << 8 | u8)
 *	60 .. 7f	string of 0 .. 31 bytes
 *	80 .. 9f	string of 0 .. 31 bytes of FSST codes; in a document with a
 *				tail: string in the tail of 5 .. 36 bytes
 *	a0 .. bf	integer 0 .. 31
 *	c0 .. c2	null, false, true
 *	c3			string: bytes v of codes of its bytes
 *	c4 .. cb	positive integer of 1, 2, 3, 4, 5, 6, 7, 8 bytes
 *	cc .. cf	negative integer, -1 - n, n of 1, 2, 4, 8 bytes
 *	d0 .. db	decimal of scale 1 + k / 4 and 1 + k % 4 bytes
 *	dc			decimal: u8 scale, zigzag v
 *	dd			numeric: bytes v, payload
 *	e0			string: bytes v, bytes
 *	e1			string: bytes v of FSST codes
 *	e2			string: u8 n, n bytes as 2n lower-case hexadecimal digits
 *	e3			string: v as decimal digits
 *	e4			string: 16 bytes as a lower-case UUID
 *	e5			string in the tail: bytes v
 *	e6, e7		string: time of seconds (5 bytes), milliseconds (6 bytes),
 *				"2024-01-31T23:59:59Z", "2024-01-31T23:59:59.999Z"
 *	e8 .. ef	string: 4, 6, 8, 10, 12, 16, 20, 32 bytes as hexadecimal digits
 *	f0, f1		empty array, empty object
 *	f2			array: sizes, count v, strides, values
 *	f3			object: sizes, shape v, strides, values
 *	f4			object: sizes, count v, bytes of the keys v, strides, keys,
 *				values
 *	f5, f6		string: u8 template of the dictionary, what fills its one
 *				hole, its two holes
 *	f7			string: u8 number of a repeated string
 *	f8 .. ff	string: repeated string 0 .. 7
 *
 * Repeated strings, those that occur more than once in a document, stand one
 * after the other behind its header, and what fills a hole in its place, both
 * as in a document without a tail.  A repeated string has one of the tags 60
 * to 9f, c3, e0 to ef; what fills a hole may also be a value of the dictionary or
 * a repeated string.
 *
 * sizes, not for the root: bytes behind the sizes v and, if the document has
 * a tail, bytes v of the tail that the members use.
 *
 * strides, for more than ST_ZSON_STRIDE members: for each member that is a
 * multiple of it but the first, u32 offsets from the start of the values, (if
 * there is a tail:) of the tail, (f4:) of the keys.
 *
 * A key in f4: v = number of the key * 2 + 1, or length * 2 and bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZSON_FORMAT_H
#define ST_ZSON_FORMAT_H

#include "st_bytes.h"
#include "st_jsonb.h"
#include "st_str_internal.h"
#include "st_zson.h"

#define ZS_VERSION 0x10
#define ZS_VERSION_MASK 0xf0
#define ZS_HAS_DICT 0x01
#define ZS_HAS_TAIL 0x02
#define ZS_HAS_BASE 0x04
#define ZS_HAS_REPEATS 0x08

/* The headers of an object of one of the first shapes: see st_zson.h. */
#define ZS_SMALL 0x20
#define ZS_SMALL_REPEATS 0x30
#define ZS_SMALL_SHAPES 16

/* Repeated strings of a document, and bytes that they take. */
#define ZS_MAX_REPEATS 64
#define ZS_MAX_REPEAT_BYTES 8192

/* Bytes of a repeated string, or of what fills a hole: as text, encoded. */
#define ZS_MAX_PART 255
#define ZS_MAX_PART_ENCODED (ZS_MAX_PART + 3)

#define ST_ZSON_STRIDE 64

/* Shorter strings do not go to the tail. */
#define ZS_TAIL_MIN 5

enum
{
	ZS_VALUE1 = 0x00,
	ZS_VALUE2 = 0x40,
	ZS_STR = 0x60,
	ZS_FSST = 0x80,
	ZS_INT = 0xa0,
	ZS_NULL = 0xc0,
	ZS_FALSE = 0xc1,
	ZS_TRUE = 0xc2,
	ZS_CODE = 0xc3,
	ZS_POS = 0xc4,
	ZS_NEG1 = 0xcc,
	ZS_NEG2 = 0xcd,
	ZS_NEG4 = 0xce,
	ZS_NEG8 = 0xcf,
	ZS_DEC = 0xd0,
	ZS_DECIMAL = 0xdc,
	ZS_NUMERIC = 0xdd,
	ZS_LONG_STR = 0xe0,
	ZS_LONG_FSST = 0xe1,
	ZS_HEX = 0xe2,
	ZS_DIGITS = 0xe3,
	ZS_UUID = 0xe4,
	ZS_TAIL = 0xe5,
	ZS_SECONDS = 0xe6,
	ZS_MILLIS = 0xe7,
	ZS_HASH = 0xe8,
	ZS_EMPTY_ARRAY = 0xf0,
	ZS_EMPTY_OBJECT = 0xf1,
	ZS_ARRAY = 0xf2,
	ZS_SHAPED = 0xf3,
	ZS_OBJECT = 0xf4,
	ZS_TEMPLATE1 = 0xf5,
	ZS_TEMPLATE2 = 0xf6,
	ZS_REPEAT = 0xf7,
	ZS_REPEAT0 = 0xf8
};

/* Tags of strings that stand where they are, in a document without a tail. */
ST_INLINE bool
zs_is_plain_string(unsigned tag)
{
	return (tag >= ZS_STR && tag < ZS_INT) || tag == ZS_CODE ||
		(tag >= ZS_LONG_STR && tag < ZS_EMPTY_ARRAY);
}

ST_INLINE bool
zs_is_container(unsigned tag)
{
	return tag >= ZS_ARRAY && tag <= ZS_OBJECT;
}

/* A child of a container of the image. */
typedef struct ZsChild
{
	uint32_t	type;			/* StJsonbType */
	const uint8_t *data;
	uint32_t	len;
} ZsChild;

/* Child i, which begins at *off behind data; *off moves behind it. */
ST_INLINE void
zs_next_child(const uint8_t *entries, const uint8_t *data, uint32_t i,
			  uint32_t *off, ZsChild *child)
{
	uint32_t	entry = st_load_u32(entries + 4 * i);
	uint32_t	start = *off;

	*off = entry & ST_JSONB_HAS_OFFSET ? entry & ST_JSONB_LENGTH_MASK : start + (entry & ST_JSONB_LENGTH_MASK);
	child->type = entry >> ST_JSONB_TYPE_SHIFT & 7;
	if (child->type == ST_JSONB_NUMERIC || child->type == ST_JSONB_CONTAINER)
		start = (start + 3) & ~3u;
	child->data = data + start;
	child->len = *off - start;
}

/* Little-endian number of 1 to 8 bytes that lie within the buffer. */
ST_INLINE uint64_t
zs_load_bytes(const uint8_t *p, unsigned n)
{
	uint64_t	v = 0;

	memcpy(&v, p, n);
	return v;
}

/*
 * Varint at *p; false if it does not end before end.  Longer forms than
 * needed are damage, too.
 */
ST_INLINE bool
zs_varint(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	StByteReader r;

	if (st_likely(*p < end && **p < 0x80))
	{
		*v = *(*p)++;
		return true;
	}
	st_reader_init(&r, *p, (size_t) (end - *p));
	*v = st_read_varint(&r);
	*p = r.p;
	return r.status == ST_OK;
}

/* ---- st_zson_text.c: strings of special forms ---- */

typedef struct ZsForm
{
	uint8_t		tag;			/* 0: none */
	uint8_t		n;				/* bytes of payload */
	uint8_t		payload[128];
} ZsForm;

/* A shorter form of the string, if it has one; never longer than its bytes. */
extern bool st_zs_form_find(const StStr *s, ZsForm *form);

extern size_t st_zs_hex_write(const uint8_t *p, size_t n, uint8_t *dst);
extern size_t st_zs_digits_write(uint64_t v, uint8_t *dst);
extern size_t st_zs_uuid_write(const uint8_t *p, uint8_t *dst);
extern size_t st_zs_time_write(int64_t v, bool ms, uint8_t *dst);

/* Hashes of usual lengths have a tag of their own. */
#define ZS_NHASHES 8

ST_INLINE bool
st_zs_is_hex(unsigned tag)
{
	return tag == ZS_HEX || (tag >= ZS_HASH && tag < ZS_HASH + ZS_NHASHES);
}

/* Largest values that st_zs_time_write() takes. */
#define ZS_MAX_SECONDS INT64_C(315569519999)	/* 9999-12-31T23:59:59 from 0000 */

/* ---- shared ---- */

/* Most strings that are not in a dictionary are told by length and end. */
#define ZS_FILTER_BITS 4096

ST_INLINE unsigned
st_zs_value_bit(const void *encoded, size_t len)
{
	const uint8_t *p = encoded;

	return ((unsigned) (len & 31) << 7 | (p[len - 1] & 0x7f)) ^
		(p[len / 2] & 0x1f);
}

/* High bits of the bytes that are 128 or more, or 0 (or behind one of 0). */
#define ZS_ODD_BYTES(w, ones) (((w) | ((w) - (ones))) & 0x80 * (ones))

/* ASCII without NUL; words overlap at the end. */
ST_INLINE bool
st_zs_plain_ascii(const uint8_t *p, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t	odd = 0;

	if (n >= 8)
	{
		for (size_t i = 0; i + 8 < n; i += 8)
			odd |= ZS_ODD_BYTES(st_load_u64(p + i), ones);
		return (odd | ZS_ODD_BYTES(st_load_u64(p + n - 8), ones)) == 0;
	}
	if (n >= 4)
		return ((ZS_ODD_BYTES(st_load_u32(p), (uint32_t) ones)) |
				ZS_ODD_BYTES(st_load_u32(p + n - 4), (uint32_t) ones)) == 0;
	for (size_t i = 0; i < n; i++)
		odd |= ZS_ODD_BYTES(p[i], 1u);
	return odd == 0;
}

/* Text without NUL: strings and keys that stand in a document. */
extern bool st_zs_text_valid(const StZsonDoc *doc, const uint8_t *p, size_t n);

extern int	st_zs_dict_shape(const StZsonDict *dict, const uint16_t *keys,
						  uint32_t n);
extern int	st_zs_dict_value(const StZsonDict *dict, const void *encoded,
						  size_t len);

/* Bytes of values by tag, without and with a tail; 0: not fixed. */
extern const uint8_t st_zs_fixed_size[2][256];

/*
 * Bytes of a value of the forms without a fixed size, whose tag is at p; 0:
 * there is none, or what tells does not end before limit.  *tail: the bytes
 * of the tail that it uses.
 */
extern size_t st_zs_long_size(const uint8_t *p, const uint8_t *limit,
							  bool has_tail, uint64_t *tail);

/* Reads a value that is not the root. */
extern StStatus st_zs_value(StZsonDoc *doc, const uint8_t *p, const uint8_t *end,
						 uint32_t tail, StZsonValue *v);

/* The key at *p, which moves behind it; *id is -1 if it stands there. */
extern StStatus st_zs_key(const StZsonDoc *doc, const StZsonValue *v,
						  const uint8_t **p, int *id, StStr *key);

/* The string's bytes, not checked to be text. */
extern StStatus st_zs_string(StZsonDoc *doc, const StZsonValue *v,
							 uint8_t *buf, StStr *out);

/* ---- st_zson_template.c: strings that are made of others ---- */

/* Templates and the code of a dictionary: behind its zstd dictionary. */
extern StStatus st_zs_templates_load(StZsonDict *dict, StByteReader *r,
									 StZsonAlloc alloc, void *arg);
extern StStatus st_zs_templates_prepare(StZsonDict *dict, StZsonAlloc alloc,
										void *arg);
extern void st_zs_templates_build(const StZsonParts *parts, StByteWriter *w);

/*
 * Sets *size to the bytes of a template's value, or of what fills a hole, at
 * p.  Returns false if there is none, or if it does not end before limit.
 */
extern bool st_zs_template_size(const uint8_t *p, const uint8_t *limit,
								size_t *size);

/* A template's value at v->start, that ends at v->next. */
extern StStatus st_zs_template(StZsonDoc *doc, StZsonValue *v);
extern StStatus st_zs_template_string(StZsonDoc *doc, const StZsonValue *v,
									  uint8_t *buf, StStr *out);

/* Number of the repeated string that the tag at p names. */
ST_INLINE unsigned
zs_repeat_number(const uint8_t *p)
{
	return *p == ZS_REPEAT ? p[1] : (unsigned) (*p - ZS_REPEAT0);
}

/* Its n bytes at *p, of those from repeats to end; false: there is none. */
extern bool st_zs_repeat_bytes(const uint8_t *repeats, const uint8_t *end,
							   unsigned number, const uint8_t **p, size_t *n);

/* The repeated string that the value at v->start names. */
extern StStatus st_zs_repeat(StZsonDoc *doc, StZsonValue *v);

/* ---- st_zson_code.c: codes of bytes ---- */

#define ZS_CODE_LENGTHS 128		/* bytes of the lengths in a dictionary */

extern StStatus st_zs_code_load(StZsonDict *dict, const uint8_t *packed,
								StZsonAlloc alloc, void *arg);
extern StStatus st_zs_code_prepare(StZsonDict *dict, StZsonAlloc alloc,
								   void *arg);
extern void st_zs_code_build(const uint8_t *lengths, StByteWriter *w);

/* Bytes that the string takes; 0: it has bytes that have no code. */
extern size_t st_zs_code_size(const StZsonDict *dict, const StStr *s);
extern void st_zs_code_write(const StZsonDict *dict, const StStr *s,
							 size_t size, StByteWriter *w);

/* dst has room for 8 bytes for each of n. */
extern StStatus st_zs_code_read(const StZsonDict *dict, const uint8_t *in,
								size_t n, uint8_t *dst, uint32_t *len);

/* ---- st_zson_put.c: scalars as they stand in a document ---- */

/* Number of the string in the dictionary (may be NULL), or -1. */
extern int	st_zs_string_number(const StZsonDict *dict, const StStr *s);

extern void st_zs_put_number(StByteWriter *w, int number);

/* A string as it is; the head is its tag and length. */
extern void st_zs_put_plain_head(StByteWriter *w, size_t len);
extern void st_zs_put_plain(StByteWriter *w, const StStr *s);

/* The payload of a numeric; false: it is not one of the server's. */
extern bool st_zs_put_numeric(StByteWriter *w, const uint8_t *numeric,
							  size_t len);

/* False: nothing was written. */
extern bool st_zs_put_packed(StByteWriter *w, const StZsonDict *dict,
						   const StStr *s);

/* In its shortest form, as in a document without a tail. */
extern void st_zs_put_string(StByteWriter *w, const StZsonDict *dict,
							 const StStr *s);

#endif							/* ST_ZSON_FORMAT_H */
