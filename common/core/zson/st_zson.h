/*-------------------------------------------------------------------------
 *
 * st_zson.h
 *	  Compact, navigable encoding of JSON documents with dictionaries.
 *
 * A document is encoded from jsonb's binary image (the server's own bytes,
 * trusted) and decoded to it; in between any one value is found without
 * decoding its neighbours.  The encoded bytes, and a dictionary's, are
 * hostile: everything that reads them checks them.
 *
 *		| header u8 | dictionary id v | repeated strings | tail directory
 *		| root value | tail |
 *
 *	header			high nibble: version 1; bit 0: dictionary id follows;
 *					bit 1: there is a tail; bit 2: the tail is a cut of one;
 *					bit 3: there are repeated strings
 *					high nibble 2: dictionary id follows, no tail, the root is
 *					an object of the shape in the low nibble: just its values
 *					high nibble 3: the same with repeated strings
 *	repeated strings	bytes v, encoded strings
 *	tail directory	bytes of the root value v, raw bytes of the tail v,
 *					(cut: raw bytes before the first string v,) compressed
 *					bytes v of each block of ST_ZSON_BLOCK raw bytes
 *	tail			zstd frames, one per block, made with the dictionary
 *
 * A value is a tag byte and what belongs to it (st_zson_format.h).  Strings
 * stand in place, as a number of the dictionary, or in the tail, whose offset
 * is the sum of the lengths before.  What a dictionary holds is immutable:
 * its id is all that ties a document to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZSON_H
#define ST_ZSON_H

#include "st_codec.h"
#include "st_core.h"
#include "st_str.h"

/* Raw bytes of a tail's block: what is decompressed to read one string. */
#define ST_ZSON_BLOCK 8192

/* Limits of a dictionary. */
#define ST_ZSON_MAX_KEYS 16384
#define ST_ZSON_MAX_SHAPES 16384
#define ST_ZSON_MAX_VALUES 8256
#define ST_ZSON_SHORT_VALUES 64 /* the first ones: numbers of one byte */
#define ST_ZSON_MAX_SHAPE_KEYS 4096
#define ST_ZSON_MAX_DICT (1 << 20)	/* bytes */

/*
 * The stack is guarded by the caller: enter() is called at every level of
 * nesting with the depth so far and returns false, or does not return, when
 * it is too deep (ST_NOTFIT).
 */
typedef bool (*StZsonEnter) (int depth);

/* Returns zeroed memory or NULL (or does not return). */
typedef void *(*StZsonAlloc) (void *arg, size_t size);

/* ---- dictionaries ---- */

typedef struct StZsonShape
{
	uint32_t	nkeys;
	const uint16_t *keys;		/* ids, in jsonb's order of keys */
} StZsonShape;

/* A string with one or two holes. */
typedef struct StZsonTemplate
{
	uint32_t	nholes;
	StStr		parts[3];		/* before, between and behind them */
} StZsonTemplate;

/* A key whose strings are tried with a template. */
typedef struct StZsonKeyTemplate
{
	uint16_t	key;
	uint16_t	number;
} StZsonKeyTemplate;

#define ST_ZSON_MAX_TEMPLATES 256
#define ST_ZSON_MAX_KEY_TEMPLATES 4096
#define ST_ZSON_TEMPLATE_MIN 5	/* bytes of its parts */

/* Longest code of a byte. */
#define ST_ZSON_CODE_BITS 11

typedef struct StZsonDict
{
	uint32_t	id;
	const uint8_t *blob;		/* the caller's, must outlive the digest */
	size_t		len;
	const uint8_t *info;		/* text for people */
	uint32_t	infolen;
	uint32_t	nkeys;
	StStr	   *keys;
	uint32_t	nshapes;
	StZsonShape *shapes;
	uint32_t	nvalues;
	uint32_t   *values;			/* offsets of encoded scalars in the blob */
	uint32_t   *value_ends;
	StFsstTable *fsst;			/* NULL: none */
	const uint8_t *zdict;		/* for the tail; len 0: none */
	uint32_t	zdictlen;
	bool		find_repeats;	/* documents have repeated strings */
	uint32_t	ntemplates;
	StZsonTemplate *templates;
	uint32_t	nkey_templates;
	StZsonKeyTemplate *key_templates;	/* by key, then in the order of trial */
	const uint8_t *code_lengths;	/* of bytes, 4 bits each; NULL: no code */
	uint16_t   *code_table;		/* by ST_ZSON_CODE_BITS bits: length, byte */
	uint32_t	key_mask;		/* hash tables hold id + 1, 0: free */
	uint16_t   *key_table;
	/* for writing, see st_zson_dict_prepare_write() */
	uint32_t	shape_mask;
	uint16_t   *shape_table;
	uint32_t	value_mask;
	uint16_t   *value_table;
	uint64_t   *value_filter;	/* what st_zs_value_bit() is there */
	struct StFsstEncoder *fsst_encoder;
	uint16_t   *codes;			/* of bytes */
	uint16_t   *first_template; /* of key i among key_templates; nkeys + 1 */
	/* made by whoever owns the digest, and freed by it */
	StCodecDict *unpack;
	StCodecDict *pack;
} StZsonDict;

/*
 * Checks and digests a dictionary's bytes.  Everything is allocated by alloc;
 * the owner adds unpack and pack.  ST_CORRUPT, ST_UNSUPPORTED, ST_NOMEM.
 */
extern StStatus st_zson_dict_load(StZsonDict *dict, uint32_t id,
								  const uint8_t *blob, size_t len,
								  StZsonAlloc alloc, void *arg);

/* Adds what encoding needs.  ST_NOMEM. */
extern StStatus st_zson_dict_prepare_write(StZsonDict *dict,
										   StZsonAlloc alloc, void *arg);

/* Number of a key, -1 if the dictionary (may be NULL) does not know it. */
extern int	st_zson_dict_key(const StZsonDict *dict, const void *key,
							 size_t len);

/* What a dictionary is made of. */
typedef struct StZsonParts
{
	StStr		info;
	const StStr *keys;			/* distinct; most frequent first */
	uint32_t	nkeys;
	const StZsonShape *shapes;	/* distinct, keys in jsonb's order */
	uint32_t	nshapes;
	const StStr *values;		/* encoded scalars, most useful first */
	uint32_t	nvalues;
	const StStrScheme *scheme;	/* of FSST, or NULL */
	StStr		zdict;			/* len 0: none */
	const uint8_t *code_lengths;	/* of 256 bytes, or NULL */
	bool		find_repeats;	/* templates need it */
	const StZsonTemplate *templates;
	uint32_t	ntemplates;
	const StZsonKeyTemplate *key_templates; /* sorted by key */
	uint32_t	nkey_templates;
} StZsonParts;

extern size_t st_zson_dict_bound(const StZsonParts *parts);
extern StStatus st_zson_dict_build(const StZsonParts *parts, uint8_t *dst,
								   size_t cap, size_t *len);

/*
 * Lengths of the code for 256 bytes, 0 for those that have none; false: there
 * is no code for the sample.
 */
extern bool st_zson_code_train(const uint8_t *sample, size_t n,
							   uint8_t *lengths);

/* Is there a short form of the string, that of a hash, a time, a number? */
extern bool st_zson_has_form(const StStr *s);

/* Does the string have the template's form?  What fills the holes. */
extern bool st_zson_template_match(const StZsonTemplate *template,
								   const StStr *s, StStr fill[2]);

/* The first template of the key, -1 if none matches. */
extern int	st_zson_template_find(const StZsonDict *dict, int key,
								  const StStr *s, StStr fill[2]);

/* jsonb's order of keys: by length, then by bytes. */
extern int	st_zson_key_compare(const StStr *a, const StStr *b);

/* ---- parsing ---- */

/* Longer texts are not parsed here. */
#define ST_ZSON_PARSE_MAX (4 << 20)

/* Bytes of work space that parsing len bytes of text needs. */
extern size_t st_zson_parse_bound(size_t len);

/*
 * JSON text to the image that the server's parser would make, within work,
 * which is aligned for pointers.  ST_NOTFIT: this is for the server's parser
 * to read, or to refuse.
 */
extern StStatus st_zson_parse(const uint8_t *text, size_t len, void *work,
							  size_t cap, const uint8_t **image,
							  size_t *outlen);

/* How many of n bytes stand in the strings of JSON text as they are. */
ST_INLINE size_t
st_zson_plain_bytes(const uint8_t *p, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t		i = 0;

	for (; i + 8 <= n; i += 8)
	{
		uint64_t	w = st_load_u64(p + i);
		uint64_t	quote = w ^ ('"' * ones);
		uint64_t	slash = w ^ ('\\' * ones);

		/* bytes below 32, 0 in quote or slash; exact up to the first one */
		w = (((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
			 ((w - 0x20 * ones) & ~w)) & 0x80 * ones;
		if (w != 0)
			return i + (size_t) __builtin_ctzll(w) / 8;
	}
	while (i < n && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

/* ---- writing ---- */

typedef struct StZsonEncoding
{
	const StZsonDict *dict;		/* prepared for writing, or NULL */
	StCodecCtx *ctx;
	StZsonEnter enter;
	bool		no_tail;		/* keep every string in place */
	/* filled in: */
	uint32_t	unknown_keys;	/* keys that the dictionary does not know */
	uint32_t	known_keys;
	uint32_t	tail_raw;		/* bytes in the tail, 0 if there is none */
} StZsonEncoding;

/* Room that encoding an image of len bytes needs, scratch included. */
extern size_t st_zson_encode_bound(size_t len);

/*
 * Encodes the jsonb image (behind its varlena header) into dst, which has
 * room for st_zson_encode_bound(len) bytes; the result is the first *outlen.
 * It is at most 2 bytes longer than the image.
 * ST_NOTFIT: too deep, or not an image.  ST_NOMEM.
 */
extern StStatus st_zson_encode(StZsonEncoding *e,
							   const uint8_t *image, size_t len,
							   uint8_t *dst, size_t cap, size_t *outlen);

/*
 * The bytes that encoding would put into the tail, before compression: what a
 * zstd dictionary is trained on.  They stand at *tail within dst.
 */
extern StStatus st_zson_tail_bytes(StZsonEncoding *e, const uint8_t *image,
								   size_t len, uint8_t *dst, size_t cap,
								   StStr *tail);

/*
 * One scalar as it stands in a dictionary: a string, or a number given by
 * the payload of its numeric.  At most len + 8 bytes.
 */
extern StStatus st_zson_encode_string(const StStr *s, uint8_t *dst,
									  size_t cap, size_t *outlen);
extern StStatus st_zson_encode_number(const uint8_t *numeric, size_t len,
									  uint8_t *dst, size_t cap,
									  size_t *outlen);

/* ---- reading ---- */

enum StZsonKind
{
	ST_ZSON_NULL = 0,
	ST_ZSON_STRING = 1,
	ST_ZSON_NUMBER = 2,
	ST_ZSON_FALSE = 3,
	ST_ZSON_TRUE = 4,
	ST_ZSON_ARRAY = 5,
	ST_ZSON_OBJECT = 6
};

enum StZsonForm
{
	ST_ZSON_PLAIN = 0,			/* string: the bytes; number: an integer */
	ST_ZSON_FSST,
	ST_ZSON_CODE,				/* by the dictionary's code of bytes */
	ST_ZSON_HEX,
	ST_ZSON_DIGITS,
	ST_ZSON_UUID,
	ST_ZSON_TIME,				/* num: seconds, scale 0, or ms, scale 3 */
	ST_ZSON_TAIL,
	ST_ZSON_TEMPLATE,			/* num: its number; data: what fills it */
	ST_ZSON_DECIMAL,			/* number: num * 10^-scale */
	ST_ZSON_NUMERIC,			/* number: payload of a numeric */
	ST_ZSON_SHAPE,				/* object: keys are the dictionary's */
	ST_ZSON_FREE				/* object: keys stand in it */
};

typedef struct StZsonDoc
{
	const StZsonDict *dict;		/* set by the caller after open, or NULL */
	uint32_t	dict_id;		/* 0: none */
	bool		has_tail;
	const uint8_t *data;		/* the whole document */
	size_t		len;			/* its length */
	size_t		avail;			/* bytes of it that are there */
	const uint8_t *repeats;		/* NULL: none */
	const uint8_t *repeats_end;
	const uint8_t *root;		/* its tag; with root_shape the byte before */
	uint32_t	root_shape;		/* told by the header: number + 1, or 0 */
	const uint8_t *head_end;	/* end of the root value */
	const uint8_t *avail_end;	/* first byte of it that is not there */
	uint32_t	tail_raw;		/* raw bytes of all blocks */
	uint32_t	tail_base;
	uint32_t	nblocks;
	const uint8_t *dir;			/* nblocks varints */
	const uint8_t *dir_end;
	size_t		tail_at;		/* offset of the first block in the document */

	/* for strings of the tail; the caller's */
	StCodecCtx *ctx;
	uint8_t    *block;			/* room for ST_ZSON_BLOCK bytes */
	int64_t		block_no;		/* what it holds, -1: nothing */
	const uint8_t *(*fetch) (void *arg, size_t off, size_t n);	/* or NULL */
	void	   *fetch_arg;
	StZsonEnter enter;

	/*
	 * Is this text of the server's encoding?  Asked for strings and keys of
	 * the document that are not ASCII; NULL: they are taken as they are.
	 */
	bool		(*valid) (const uint8_t *s, size_t n);
} StZsonDoc;

typedef struct StZsonValue
{
	uint8_t		kind;
	uint8_t		form;
	uint8_t		scale;
	const uint8_t *start;		/* its tag */
	const uint8_t *next;		/* behind it */
	int64_t		num;
	const uint8_t *data;		/* of strings, of numerics */
	uint32_t	len;			/* ST_ZSON_TEMPLATE: of the string, at most */
	uint32_t	tail;			/* tail offset of it, or of what it holds */
	uint32_t	tail_len;		/* tail bytes that it, or what is in it, uses */
	/* containers */
	uint32_t	count;
	uint32_t	stride_size;	/* bytes of an entry of strides */
	const StZsonShape *shape;
	const uint8_t *strides;
	const uint8_t *keys;		/* ST_ZSON_FREE */
	const uint8_t *keys_end;
	const uint8_t *values;
	const uint8_t *end;
} StZsonValue;

/*
 * Reads the header.  avail < len: only a prefix is in memory; then a reader
 * that needs more gives ST_NOSPACE.
 */
extern StStatus st_zson_open(StZsonDoc *doc, const uint8_t *data, size_t avail,
							 size_t len);

/* The root.  doc->dict must be set if doc->dict_id is not 0. */
extern StStatus st_zson_root(StZsonDoc *doc, StZsonValue *v);

/* A place among the members of a container. */
typedef struct StZsonCursor
{
	const StZsonValue *of;
	uint32_t	i;
	const uint8_t *p;			/* value i */
	const uint8_t *key;			/* ST_ZSON_FREE: key i */
	uint32_t	tail;
} StZsonCursor;

extern void st_zson_begin(const StZsonValue *container, StZsonCursor *c);

/* The next member; key may be NULL (and must be for arrays).  i < count. */
extern StStatus st_zson_next(StZsonDoc *doc, StZsonCursor *c, StStr *key,
							 StZsonValue *v);

/*
 * Member of an object by key; key_id is st_zson_dict_key() of it.  *found
 * tells whether there is one.  v may be NULL: then only *found is set.
 */
extern StStatus st_zson_find(StZsonDoc *doc, const StZsonValue *object,
							 const StStr *key, int key_id,
							 bool *found, StZsonValue *v);

/* Member i < count of a container. */
extern StStatus st_zson_at(StZsonDoc *doc, const StZsonValue *container,
						   uint32_t i, StZsonValue *v);

/*
 * The short way to a member, for documents that are all in memory, whose root
 * is an object with a shape of at most ST_ZSON_QUICK_KEYS keys.  Nothing is read
 * of the dictionary; the caller knows the shape's number of keys.
 */
#define ST_ZSON_QUICK_KEYS 64

typedef struct StZsonQuick
{
	uint32_t	dict_id;
	uint32_t	shape;			/* not checked against the dictionary */
	uint32_t	header;			/* bytes of the header and the dictionary's id */
	bool		has_tail;
	const uint8_t *repeats;
	const uint8_t *repeats_end;
	const uint8_t *values;
	const uint8_t *end;
} StZsonQuick;

/* False: not such a document, or damaged. */
extern bool st_zson_quick_open(const uint8_t *data, size_t len,
							   StZsonQuick *q);

/*
 * Member i of nkeys; false if it needs more than its bytes (a container, or a
 * string of the tail), or something is unusual.  The n bytes at *p may stand
 * alone as a document's root.
 */
extern bool st_zson_quick_at(const StZsonQuick *q, uint32_t i, uint32_t nkeys,
							 const uint8_t **p, uint32_t *n);

/*
 * The root of a document that is one scalar of a fixed size, made with a
 * dictionary; NULL: anything else.
 */
extern const uint8_t *st_zson_quick_scalar(const uint8_t *data, size_t len,
										   uint32_t *dict_id);

/* Room for a document of one member of n bytes. */
#define ST_ZSON_QUICK_CUT(q, n) ((q)->header + (size_t) (n))

/* The member as a document, as st_zson_cut() makes it. */
extern size_t st_zson_quick_cut(const StZsonQuick *q, const uint8_t *data,
								const uint8_t *p, uint32_t n, uint8_t *dst);

/*
 * The member's string, if it is ASCII that stands there or in the dictionary
 * as it is.
 */
extern bool st_zson_quick_string(const StZsonDict *dict, const uint8_t *p,
								 StStr *s);

/* Is it worth asking st_zson_quick_string() first? */
#define ST_ZSON_IS_SHORT_STRING(p) (*(p) < 0x80)

/*
 * The member's number, if it is one of the usual integers; without a
 * dictionary (NULL), if it stands there.
 */
extern bool st_zson_quick_integer(const StZsonDict *dict, const uint8_t *p,
								  int64_t *num);

/* The member as a value; doc is for functions that take it with the value. */
extern StStatus st_zson_quick_value(StZsonDoc *doc, const StZsonDict *dict,
									const uint8_t *p, uint32_t n,
									StZsonValue *v);

/* Most bytes that the string has. */
extern size_t st_zson_string_bound(const StZsonValue *v);

/*
 * The string's bytes: *out points to them, in the document or dictionary, or
 * at buf (room for st_zson_string_bound() bytes).
 */
extern StStatus st_zson_string(StZsonDoc *doc, const StZsonValue *v,
							   uint8_t *buf, StStr *out);

/* ---- numbers: payload of a numeric (behind its varlena header) ---- */

#define ST_ZSON_NUMERIC_MAX 64	/* bytes st_zson_numeric_write() needs */

/* Number to payload; for ST_ZSON_NUMERIC the value's own bytes are it. */
extern size_t st_zson_numeric_write(int64_t num, int scale, uint8_t *dst);

/* False: not of this form, keep the payload. */
extern bool st_zson_numeric_read(const uint8_t *p, size_t len, int64_t *num,
								 int *scale);

/* Could the server have made this payload? */
extern bool st_zson_numeric_valid(const uint8_t *p, size_t len);

/* ---- back to jsonb ---- */

/*
 * The jsonb image of the value (a scalar is wrapped, as jsonb does at its
 * root): at most cap bytes, 4-byte aligned dst.  ST_NOSPACE: try with more.
 */
extern StStatus st_zson_image(StZsonDoc *doc, const StZsonValue *v,
							  uint8_t *dst, size_t cap, size_t *size);

/*
 * The value as a document of its own, with the same dictionary.  At most
 * cap bytes, st_zson_cut_bound() of them at least.
 */
extern size_t st_zson_cut_bound(const StZsonDoc *doc, const StZsonValue *v);
extern StStatus st_zson_cut(StZsonDoc *doc, const StZsonValue *v,
							uint8_t *dst, size_t cap, size_t *outlen);

#endif							/* ST_ZSON_H */
