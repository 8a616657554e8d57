/*-------------------------------------------------------------------------
 *
 * st_zson_cases.h
 *	  Random documents as jsonb images, and a dictionary for them: for the
 *	  unit tests and fuzz targets of st_zson.
 *
 * The image writer is independent of the library's own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZSON_CASES_H
#define ST_ZSON_CASES_H

#include <stdio.h>
#include <stdlib.h>

#include "st_str_internal.h"
#include "st_zson.h"

#define CASE_UNUSED __attribute__((unused))

/* In jsonb's order. */
static const char *const case_keys[] = {
	"", "a", "b", "id", "os", "app", "url", "name", "tags", "type", "user",
	"count", "price", "created_at", "unknown-key"
};

#define CASE_NKEYS 15
#define CASE_KNOWN_KEYS 13		/* the dictionary does not know the rest */

static const char *const case_strings[] = {
	"", "android", "ios", "windows", "mobile", "x", "5", "PushEvent",
	"4f3c9a0b11d2e7a8c6b5", "550e8400-e29b-41d4-a716-446655440000",
	"550e8400-e29b-41d4-a716-44665544000G", "38472938475", "0123456", "12345678901234567890",
	"2024-02-29T23:59:59Z", "2023-02-29T23:59:59Z", "1999-12-31T00:00:00.001Z",
	"0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z", "2024-02-29T24:00:00Z",
	"https://api.github.com/users/somebody/followers",
	"https://api.github.com/users/somebody-else/gists{/gist_id}",
	"\xc3\xa4\xc3\xb6\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80", "DEADBEEF", "deadbeef00", "deadbeef0"
};

#define CASE_NSTRINGS (sizeof(case_strings) / sizeof(case_strings[0]))

typedef struct CaseImage
{
	uint8_t    *p;
	size_t		len;
	size_t		cap;
	uint64_t	(*random) (void);
	int			budget;			/* values that may still be made */
} CaseImage;

static CASE_UNUSED uint8_t *
case_grow(CaseImage *im, size_t n)
{
	uint8_t    *at;

	while (im->len + n > im->cap)
	{
		im->cap = im->cap ? 2 * im->cap : 4096;
		im->p = realloc(im->p, im->cap);
		if (im->p == NULL)
			abort();
	}
	at = im->p + im->len;
	memset(at, 0, n);
	im->len += n;
	return at;
}

static uint32_t case_container(CaseImage *im, int depth, bool object);

/* A numeric of digits with a point anywhere; the server's own normal form. */
static CASE_UNUSED void
case_numeric(CaseImage *im)
{
	uint64_t	r = im->random();
	int			ndigits = r % 11 == 0 ? (int) ((r >> 8) % 20) :
		(int) ((r >> 8) % 4);
	int			weight = ndigits == 0 ? 0 : (int) ((r >> 20) % 9) - 4;
	int			behind = 4 * (ndigits - 1 - weight);
	int			scale = behind > 0 ? behind : 0;
	bool		is_short;
	unsigned	digit = 0;

	if (r % 7 == 0)
		weight *= 20;
	behind = 4 * (ndigits - 1 - weight);
	scale = behind > 0 ? behind : 0;
	/* the last digit's zeros may lie beyond the scale */
	if (scale > 0 && r % 3 == 0)
		scale -= (int) ((r >> 40) % 4);
	else if (r % 5 == 0)
		scale += (int) ((r >> 40) % 9);
	is_short = scale <= 63 && weight >= -64 && weight <= 63;
	{
		size_t		n = 4 + (is_short ? 2 : 4) + 2 * (size_t) ndigits;
		uint8_t    *p = case_grow(im, n);
		bool		neg = ndigits > 0 && (r >> 50) % 4 == 0;

		st_store_u32(p, (uint32_t) n << 2);
		p += 4;
		if (is_short)
		{
			st_store_u16(p, (uint16_t) (0x8000 | (neg ? 0x2000 : 0) |
										scale << 7 | (weight & 0x7f)));
			p += 2;
		}
		else
		{
			st_store_u16(p, (uint16_t) ((neg ? 0x4000 : 0) | scale));
			st_store_u16(p + 2, (uint16_t) weight);
			p += 4;
		}
		for (int i = 0; i < ndigits; i++)
		{
			digit = 1 + (unsigned) (im->random() % 9999);
			if (i == ndigits - 1 && scale < behind)
			{
				unsigned	unit = behind - scale == 1 ? 10 :
					behind - scale == 2 ? 100 : 1000;

				digit = digit / unit * unit;
				if (digit == 0)
					digit = unit;
			}
			st_store_u16(p + 2 * i, (uint16_t) digit);
		}
	}
}

static CASE_UNUSED void
case_string(CaseImage *im)
{
	uint64_t	r = im->random();
	const char *s = case_strings[r % CASE_NSTRINGS];

	if ((r >> 32) % 8 == 0)
	{
		size_t		n = (r >> 40) % ((r >> 60) ? 60 : 3000);
		uint8_t    *p = case_grow(im, n);

		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t) ((r >> 61) & 1 ? (unsigned) "etaoin shrdlu"[im->random() % 13] :
							  1 + (unsigned) im->random() % 255);
	}
	else
		memcpy(case_grow(im, strlen(s)), s, strlen(s));
}

/* Appends a value and returns its type. */
static CASE_UNUSED uint32_t
case_value(CaseImage *im, int depth)
{
	uint64_t	r = im->random() % (depth > 0 && im->budget > 0 ? 12 : 9);

	im->budget--;
	switch (r)
	{
		case 0:
			return 0x40000000;
		case 1:
			return 0x20000000;
		case 2:
			return 0x30000000;
		case 3:
		case 4:
		case 5:
			while (im->len % 4 != 0)
				case_grow(im, 1);
			case_numeric(im);
			return 0x10000000;
		case 6:
		case 7:
		case 8:
			case_string(im);
			return 0;
		default:
			return case_container(im, depth - 1, r == 9);
	}
}

static CASE_UNUSED void
case_entry(CaseImage *im, size_t entries, size_t i, uint32_t type, size_t data,
		   size_t from)
{
	uint32_t	v = i % 32 == 0 ? 0x80000000 | (uint32_t) (im->len - data) :
		(uint32_t) (im->len - from);

	st_store_u32(im->p + entries + 4 * i, type | v);
}

static CASE_UNUSED uint32_t
case_container(CaseImage *im, int depth, bool object)
{
	uint64_t	r = im->random();
	uint32_t	n = 0;
	char		keys[600][16];
	uint32_t	max = r % 16 == 0 ? 200 : 10;
	size_t		entries;
	size_t		data;

	if (object && r % 16 == 0)
	{
		/* many keys that no dictionary knows */
		n = (uint32_t) (r >> 8) % 300;
		for (uint32_t i = 0; i < n; i++)
			snprintf(keys[i], sizeof(keys[i]), "key-%05u", i * 7);
	}
	else if (object)
	{
		for (int i = 0; i < CASE_NKEYS; i++)
		{
			/* often the shape that the dictionary knows */
			if (r % 3 == 0 ? i >= 3 && i < 9 : (r >> (8 + i)) & 1)
				strcpy(keys[n++], case_keys[i]);
		}
	}
	else
		n = (uint32_t) (r >> 8) % max;
	while (im->len % 4 != 0)
		case_grow(im, 1);
	st_store_u32(case_grow(im, 4), n | (object ? 0x20000000 : 0x40000000));
	entries = im->len;
	case_grow(im, 4 * (size_t) n * (object ? 2 : 1));
	data = im->len;
	for (uint32_t i = 0; object && i < n; i++)
	{
		size_t		from = im->len;

		memcpy(case_grow(im, strlen(keys[i])), keys[i], strlen(keys[i]));
		case_entry(im, entries, i, 0, data, from);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		size_t		from = im->len;
		uint32_t	type = case_value(im, depth);

		case_entry(im, entries, i + (object ? n : 0), type, data, from);
	}
	return 0x50000000;
}

/* A document; im->p is the caller's to free. */
static CASE_UNUSED void
case_document(CaseImage *im, uint64_t (*random) (void))
{
	uint64_t	r;

	memset(im, 0, sizeof(*im));
	im->random = random;
	im->budget = 400;
	r = random();
	if (r % 8 == 0)
	{
		st_store_u32(case_grow(im, 8), 0x50000001);
		case_entry(im, 4, 0, case_value(im, 0), 8, 8);
	}
	else
		case_container(im, (int) ((r >> 8) % 5), r % 3 != 0);
}

/* ---- dictionary ---- */

static CASE_UNUSED void *
case_alloc(void *arg, size_t size)
{
	(void) arg;
	return calloc(1, size);
}

/* What a dictionary has besides keys, shapes, values and symbols. */
#define CASE_TAIL 1
#define CASE_TEMPLATES 2

/* One of several keys, and others of one key. */
#define CASE_NSHAPES 17

#define CASE_NTEMPLATES 3

/* One or two templates for each key. */
static CASE_UNUSED void
case_templates(StZsonParts *parts)
{
	static const char *const texts[CASE_NTEMPLATES][3] = {
		{"https://api.github.com/users/", "/followers", NULL},
		{"https://", "/users/", ""},
		{"2024-", "T", "Z"}
	};
	static const char sample[] =
		"etaoin shrdlu etaoin shrdlu etaoin shrdlu eeeeeeeeeetttttttaaaa"
		"0123456789abcdefghijklmnopqrstuvwxyz-:/._ETAOIN";
	static uint8_t lengths[256];
	static StZsonTemplate templates[CASE_NTEMPLATES];
	static StZsonKeyTemplate keys[2 * CASE_KNOWN_KEYS];

	for (int i = 0; i < CASE_NTEMPLATES; i++)
	{
		templates[i].nholes = texts[i][2] == NULL ? 1 : 2;
		for (uint32_t k = 0; k <= templates[i].nholes; k++)
			templates[i].parts[k] = (StStr) {(const uint8_t *) texts[i][k],
			(uint32_t) strlen(texts[i][k])};
	}
	if (!st_zson_code_train((const uint8_t *) sample, strlen(sample), lengths))
		abort();
	parts->nkey_templates = 0;
	for (uint16_t key = 0; key < CASE_KNOWN_KEYS; key++)
	{
		keys[parts->nkey_templates++] = (StZsonKeyTemplate) {key, key % 3};
		if (key % 2)
			keys[parts->nkey_templates++] =
				(StZsonKeyTemplate) {key, (uint16_t) ((key + 1) % 3)};
	}
	parts->code_lengths = lengths;
	parts->find_repeats = true;
	parts->templates = templates;
	parts->ntemplates = CASE_NTEMPLATES;
	parts->key_templates = keys;
}

/*
 * Bytes of the test dictionary; malloced.  The shape of several keys is the
 * first one, or without a tail one that no header tells.
 */
static CASE_UNUSED uint8_t *
case_dict_blob(unsigned with, size_t *len)
{
	StStr		keys[CASE_KNOWN_KEYS];
	uint16_t	ids[6];
	StZsonShape shapes[CASE_NSHAPES];
	uint16_t	single[CASE_NSHAPES];
	StStr		values[100];
	uint8_t		bytes[100][80];
	StStrScheme scheme;
	StStr		sample[CASE_NSTRINGS];
	StZsonParts parts = {0};
	const char *content = "https://api.github.com/users/somebody/followers "
		"etaoin shrdlu etaoin shrdlu quite some text that may well repeat";
	uint8_t    *blob;
	size_t		n;

	for (int i = 0; i < CASE_KNOWN_KEYS; i++)
		keys[i] = (StStr) {(const uint8_t *) case_keys[i],
		(uint32_t) strlen(case_keys[i])};
	for (int i = 0; i < 6; i++)
		ids[i] = (uint16_t) (i + 3);
	for (int i = 0; i < CASE_NSHAPES; i++)
	{
		single[i] = (uint16_t) (i % CASE_KNOWN_KEYS);
		shapes[i] = (StZsonShape) {1, &single[i]};
	}
	shapes[with & CASE_TAIL ? 0 : CASE_NSHAPES - 1] = (StZsonShape) {6, ids};
	for (int i = 0; i < 100; i++)
	{
		char		text[32];
		StStr		s = {(const uint8_t *) text, 0};

		if (i < 8)
			strcpy(text, case_strings[i]);
		else
			snprintf(text, sizeof(text), "some other %d", i);
		s.len = (uint32_t) strlen(text);
		if (st_zson_encode_string(&s, bytes[i], 80, &n) != ST_OK)
			abort();
		values[i] = (StStr) {bytes[i], (uint32_t) n};
	}
	for (size_t i = 0; i < CASE_NSTRINGS; i++)
		sample[i] = (StStr) {(const uint8_t *) case_strings[i],
		(uint32_t) strlen(case_strings[i])};
	scheme.kind = ST_STR_FSST;
	st_fsst_train(sample, (int) CASE_NSTRINGS, &scheme.u.fsst);
	parts.info = (StStr) {(const uint8_t *) "test", 4};
	parts.keys = keys;
	parts.nkeys = CASE_KNOWN_KEYS;
	parts.shapes = shapes;
	parts.nshapes = CASE_NSHAPES;
	parts.values = values;
	parts.nvalues = 100;
	parts.scheme = &scheme;
	if (with & CASE_TEMPLATES)
		case_templates(&parts);
	if (with & CASE_TAIL)
		parts.zdict = (StStr) {(const uint8_t *) content,
		(uint32_t) strlen(content)};
	n = st_zson_dict_bound(&parts);
	blob = malloc(n);
	if (blob == NULL || st_zson_dict_build(&parts, blob, n, len) != ST_OK)
		abort();
	return blob;
}

static CASE_UNUSED void
case_dict_open(StZsonDict *dict, const uint8_t *blob, size_t len)
{
	if (st_zson_dict_load(dict, 7, blob, len, case_alloc, NULL) != ST_OK ||
		st_zson_dict_prepare_write(dict, case_alloc, NULL) != ST_OK)
		abort();
	if (dict->zdictlen > 0)
	{
		dict->pack = st_codec_dict_create(ST_CODEC_ZSTD, 3, ST_CODEC_PACK,
										  dict->zdict, dict->zdictlen);
		dict->unpack = st_codec_dict_create(ST_CODEC_ZSTD, 0, ST_CODEC_UNPACK,
											dict->zdict, dict->zdictlen);
	}
}

static CASE_UNUSED void
case_dict_close(StZsonDict *dict)
{
	free(dict->keys);
	free(dict->shapes ? (void *) dict->shapes[0].keys : NULL);
	free(dict->shapes);
	free(dict->values);
	free(dict->value_ends);
	free(dict->fsst);
	free(dict->key_table);
	free(dict->shape_table);
	free(dict->value_table);
	free(dict->value_filter);
	free(dict->fsst_encoder);
	free(dict->templates);
	free(dict->key_templates);
	free(dict->first_template);
	free(dict->code_table);
	free(dict->codes);
	st_codec_dict_free(dict->pack);
	st_codec_dict_free(dict->unpack);
}

static CASE_UNUSED bool
case_enter(int depth)
{
	return depth < 200;
}

#endif							/* ST_ZSON_CASES_H */
