/*-------------------------------------------------------------------------
 *
 * test_zson.c
 *	  Documents of st_zson: round trips, access to every member, cuts,
 *	  sizes, damage.
 *
 *-------------------------------------------------------------------------
 */
/* gcc 14 takes a bounded writer for one that writes to address zero. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#include "st_bytes.h"
#include "st_test.h"
#include "st_zson_cases.h"

#define NDOCS 3000

static uint8_t block[ST_ZSON_BLOCK];

typedef struct Coded
{
	uint8_t    *p;
	size_t		len;
} Coded;

static Coded
encode(const StZsonDict *dict, const CaseImage *im, bool no_tail)
{
	StZsonEncoding e = {.dict = dict,.enter = case_enter,.no_tail = no_tail};
	size_t		cap = st_zson_encode_bound(im->len);
	Coded		c = {malloc(cap), 0};

	CHECK(st_zson_encode(&e, im->p, im->len, c.p, cap, &c.len) == ST_OK);
	return c;
}

static StStatus
open_doc(StZsonDoc *doc, const StZsonDict *dict, const uint8_t *p, size_t len,
		 StZsonValue *root)
{
	StStatus	status = st_zson_open(doc, p, len, len);

	if (status != ST_OK)
		return status;
	if (doc->dict_id != 0 && (dict == NULL || doc->dict_id != dict->id))
		return ST_CORRUPT;
	doc->dict = doc->dict_id != 0 ? dict : NULL;
	doc->block = block;
	doc->enter = case_enter;
	return st_zson_root(doc, root);
}

/* The image of a value; malloced, NULL if the bytes are damaged. */
static uint8_t *
image_of(StZsonDoc *doc, const StZsonValue *v, size_t *len)
{
	StStatus	status = ST_NOSPACE;

	for (size_t cap = 64; status == ST_NOSPACE && cap < 1 << 26; cap *= 2)
	{
		uint8_t    *p = malloc(cap);

		status = st_zson_image(doc, v, p, cap, len);
		if (status == ST_OK)
			return p;
		free(p);
	}
	return NULL;
}

static unsigned nquick = 0;

/* Strings of these forms that were met. */
static unsigned ntemplates = 0;
static unsigned nrepeats = 0;
static unsigned ncoded = 0;

/* Every member by place, by key, and as a cut, is what the walk gives. */
static void
check_members(StZsonDoc *doc, const StZsonDict *dict, const StZsonValue *of)
{
	StZsonCursor c;
	StStr		absent = {(const uint8_t *) "key-00001", 9};
	bool		found;

	st_zson_begin(of, &c);
	while (c.i < of->count)
	{
		uint32_t	i = c.i;
		StZsonValue v;
		StZsonValue w;
		StStr		key = {NULL, 0};
		uint8_t    *image;
		uint8_t    *again;
		size_t		len = 0;
		size_t		len2 = 0;
		size_t		cap;
		uint8_t    *cut;
		StZsonDoc	cutdoc;

		CHECK(st_zson_next(doc, &c, of->kind == ST_ZSON_OBJECT ? &key : NULL,
						   &v) == ST_OK);
		CHECK(st_zson_at(doc, of, i, &w) == ST_OK);
		CHECK(w.start == v.start && w.tail == v.tail && w.next == v.next);
		if (of->kind == ST_ZSON_OBJECT)
		{
			CHECK(st_zson_find(doc, of, &key,
							   st_zson_dict_key(doc->dict, key.data, key.len),
							   &found, &w) == ST_OK);
			CHECK(found && w.start == v.start && w.tail == v.tail);
		}
		ntemplates += v.kind == ST_ZSON_STRING && v.form == ST_ZSON_TEMPLATE;
		ncoded += v.kind == ST_ZSON_STRING && v.form == ST_ZSON_CODE;
		nrepeats += *v.start >= 0xf7;
		image = image_of(doc, &v, &len);
		cap = st_zson_cut_bound(doc, &v);
		cut = malloc(cap);
		CHECK(st_zson_cut(doc, &v, cut, cap, &cap) == ST_OK);
		CHECK(open_doc(&cutdoc, dict, cut, cap, &w) == ST_OK);
		again = image_of(&cutdoc, &w, &len2);
		CHECK(image != NULL && again != NULL && len == len2 &&
			  memcmp(image, again, len) == 0);
		doc->block_no = -1;
		if (v.kind >= ST_ZSON_ARRAY)
			check_members(doc, dict, &v);
		free(image);
		free(again);
		free(cut);
	}
	if (of->kind == ST_ZSON_OBJECT)
	{
		CHECK(st_zson_find(doc, of, &absent, -1, &found, NULL) == ST_OK);
		CHECK(!found);
	}
}

/* A member alone is known as a scalar by its bytes, all of them. */
static void
check_quick_scalar(const uint8_t *data, size_t len, const StZsonQuick *q)
{
	uint32_t	id;
	const uint8_t *p = st_zson_quick_scalar(data, len, &id);

	CHECK(p == NULL || (p == data + q->header && id == q->dict_id));
	CHECK(p != NULL || data[q->header] >= 0xc0);
	for (size_t cut = 0; p != NULL && cut < len; cut++)
		CHECK(st_zson_quick_scalar(data, cut, &id) == NULL);
}

/* The short way finds what the long way finds, or says that it cannot. */
static void
check_quick(StZsonDoc *doc, const StZsonValue *root, const uint8_t *data,
			size_t len, unsigned *nquick)
{
	StZsonQuick q;

	if (!st_zson_quick_open(data, len, &q))
		return;
	CHECK(root->kind == ST_ZSON_OBJECT && root->shape != NULL);
	CHECK(q.dict_id == doc->dict_id);
	CHECK(&doc->dict->shapes[q.shape] == root->shape);
	if (root->count > ST_ZSON_QUICK_KEYS)
		return;
	for (uint32_t i = 0; i < root->count; i++)
	{
		const uint8_t *p;
		uint32_t	n;
		StZsonValue v;
		StZsonValue w;
		StZsonDoc	alone;
		size_t		cap;
		uint8_t    *slow;
		uint8_t    *fast;
		StStr		s;

		CHECK(st_zson_at(doc, root, i, &v) == ST_OK);
		if (!st_zson_quick_at(&q, i, root->count, &p, &n))
			continue;
		(*nquick)++;
		/* a repeated string's bytes stand elsewhere */
		CHECK(*v.start >= 0xf7 || (p == v.start && p + n == v.next));
		cap = st_zson_cut_bound(doc, &v);
		slow = malloc(cap);
		fast = malloc(ST_ZSON_QUICK_CUT(&q, n));
		CHECK(st_zson_cut(doc, &v, slow, cap, &cap) == ST_OK);
		CHECK(st_zson_quick_cut(&q, data, p, n, fast) == cap &&
			  memcmp(fast, slow, cap) == 0);
		check_quick_scalar(fast, cap, &q);
		CHECK(st_zson_quick_value(&alone, doc->dict, p, n, &w) == ST_OK);
		CHECK(w.kind == v.kind);
		CHECK((v.kind != ST_ZSON_STRING && v.kind != ST_ZSON_NUMBER) ||
			  w.form == v.form);
		if (st_zson_quick_string(doc->dict, p, &s))
			CHECK(v.kind == ST_ZSON_STRING && s.data == v.data &&
				  s.len == v.len);
		free(slow);
		free(fast);
	}
}


static void
check_document(const StZsonDict *dict, const CaseImage *im, bool no_tail)
{
	Coded		c = encode(dict, im, no_tail);
	uint8_t    *exact = test_exact_copy(c.p, c.len);
	StZsonDoc	doc;
	StZsonValue root;
	uint8_t    *image;
	size_t		len = 0;

	CHECK_MSG(c.len <= im->len + 2, "%zu for %zu bytes", c.len, im->len);
	CHECK(open_doc(&doc, dict, exact, c.len, &root) == ST_OK);
	image = image_of(&doc, &root, &len);
	CHECK_MSG(image != NULL && len == im->len &&
			  memcmp(image, im->p, len) == 0, "image of %zu bytes", im->len);
	if (root.kind >= ST_ZSON_ARRAY)
		check_members(&doc, dict, &root);
	check_quick(&doc, &root, exact, c.len, &nquick);
	free(image);
	free(exact);
	free(c.p);
}

static void
test_roundtrip(void)
{
	for (unsigned with = 0; with < 5; with++)
	{
		size_t		len;
		uint8_t    *blob = case_dict_blob(with == 0 ? 0 : with - 1, &len);
		StZsonDict	dict;

		case_dict_open(&dict, blob, len);
		for (int i = 0; i < NDOCS; i++)
		{
			CaseImage	im;

			case_document(&im, test_random);
			check_document(with == 0 ? NULL : &dict, &im, i % 5 == 0);
			free(im.p);
			if (test_nbad > 0)
				break;
		}
		case_dict_close(&dict);
		free(blob);
	}
	CHECK_MSG(nquick > 100, "%u members by the short way", nquick);
	CHECK_MSG(ntemplates > 100 && nrepeats > 1000 && ncoded > 100,
			  "%u strings of templates, %u repeated, %u by codes", ntemplates,
			  nrepeats, ncoded);
}

/* A prefix of a document is enough, or the reader says that it is not. */
static void
test_prefix(void)
{
	size_t		len;
	uint8_t    *blob = case_dict_blob(CASE_TAIL | CASE_TEMPLATES, &len);
	StZsonDict	dict;

	case_dict_open(&dict, blob, len);
	for (int i = 0; i < 200; i++)
	{
		CaseImage	im;
		Coded		c;

		case_document(&im, test_random);
		c = encode(&dict, &im, false);
		for (size_t avail = 0; avail < c.len; avail += 1 + avail / 9)
		{
			uint8_t    *copy = test_exact_copy(c.p, avail);
			StZsonDoc	doc;
			StZsonValue v;
			StStatus	status = st_zson_open(&doc, copy, avail, c.len);

			if (status == ST_OK)
			{
				StZsonCursor cur;

				doc.dict = doc.dict_id ? &dict : NULL;
				doc.enter = case_enter;
				status = st_zson_root(&doc, &v);
				if (status == ST_OK && v.kind >= ST_ZSON_ARRAY)
				{
					StZsonValue root = v;

					st_zson_begin(&root, &cur);
					while (status == ST_OK && cur.i < root.count)
						status = st_zson_next(&doc, &cur, NULL, &v);
				}
			}
			CHECK_MSG(status == ST_OK || status == ST_NOSPACE, "status %d",
					  status);
			free(copy);
		}
		free(c.p);
		free(im.p);
	}
	case_dict_close(&dict);
	free(blob);
}

static StStatus
decode_any(const uint8_t *src, size_t len, void *arg)
{
	StZsonDoc	doc;
	StZsonValue root;
	StStatus	status = open_doc(&doc, arg, src, len, &root);
	uint8_t    *image;
	size_t		n;

	if (status != ST_OK)
		return status;
	image = image_of(&doc, &root, &n);
	if (image == NULL)
		return ST_CORRUPT;
	free(image);
	return ST_OK;
}

static void
test_damage(void)
{
	size_t		len;
	uint8_t    *blob = case_dict_blob(CASE_TAIL | CASE_TEMPLATES, &len);
	StZsonDict	dict;

	case_dict_open(&dict, blob, len);
	for (int i = 0; i < 60; i++)
	{
		CaseImage	im;
		Coded		c;

		do
		{
			case_document(&im, test_random);
			c = encode(i % 4 == 0 ? NULL : &dict, &im, i % 3 == 0);
			if (c.len <= 1500)
				break;
			free(c.p);
			free(im.p);
		} while (true);
		test_hostile(c.p, c.len, false, decode_any, &dict);
		free(c.p);
		free(im.p);
	}
	case_dict_close(&dict);
	free(blob);
}

static StStatus
load_any(const uint8_t *src, size_t len, void *arg)
{
	StZsonDict	dict;
	StStatus	status = st_zson_dict_load(&dict, 1, src, len, case_alloc, NULL);

	(void) arg;
	dict.pack = dict.unpack = NULL;
	case_dict_close(&dict);
	return status;
}

static void
test_dictionary(void)
{
	size_t		len;
	uint8_t    *blob = case_dict_blob(CASE_TAIL | CASE_TEMPLATES, &len);
	StZsonDict	dict;

	case_dict_open(&dict, blob, len);
	CHECK(dict.nkeys == CASE_KNOWN_KEYS && dict.nshapes == CASE_NSHAPES &&
		  dict.nvalues == 100 && dict.fsst != NULL && dict.infolen == 4 &&
		  dict.ntemplates == CASE_NTEMPLATES);
	for (int i = 0; i < CASE_NKEYS; i++)
		CHECK(st_zson_dict_key(&dict, case_keys[i], strlen(case_keys[i])) ==
			  (i < CASE_KNOWN_KEYS ? i : -1));
	test_hostile(blob, len, true, load_any, NULL);
	case_dict_close(&dict);
	free(blob);
}

/* Which strings have a template's form, and what fills it. */
static void
test_templates(void)
{
	static const struct
	{
		const char *s;
		const char *fill[2];	/* NULL: no match */
	}			cases[] = {
		{"https://a/users/b", {"a", "b"}},
		{"https://a/b/users/c/users/d", {"a/b", "c/users/d"}},
		{"https:///users/b", {NULL, NULL}},
		{"https://a/users/", {NULL, NULL}},
		{"https://a/users", {NULL, NULL}},
		{"https:///users//users/x", {"/users/", "x"}},
		{"https://", {NULL, NULL}},
		{"", {NULL, NULL}},
	};
	StZsonParts parts = {0};
	StStr		fill[2];

	case_templates(&parts);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		StStr		s = {(const uint8_t *) cases[i].s,
		(uint32_t) strlen(cases[i].s)};
		bool		found = st_zson_template_match(&parts.templates[1], &s,
												   fill);

		CHECK_MSG(found == (cases[i].fill[0] != NULL), "%s", cases[i].s);
		for (int k = 0; found && k < 2; k++)
			CHECK_MSG(fill[k].len == strlen(cases[i].fill[k]) &&
					  memcmp(fill[k].data, cases[i].fill[k], fill[k].len) == 0,
					  "%s, hole %d", cases[i].s, k);
	}
}

/* One member under key "a": an array of strings. */
static void
array_of(CaseImage *im, const StStr *strings, uint32_t n)
{
	size_t		entries;
	size_t		data;

	memset(im, 0, sizeof(*im));
	st_store_u32(case_grow(im, 12), 1 | 0x20000000);
	*case_grow(im, 1) = 'a';
	case_entry(im, 4, 0, 0, 12, 12);
	case_grow(im, 3);
	st_store_u32(case_grow(im, 4), n | 0x40000000);
	entries = im->len;
	case_grow(im, 4 * (size_t) n);
	data = im->len;
	for (uint32_t i = 0; i < n; i++)
	{
		size_t		from = im->len;

		memcpy(case_grow(im, strings[i].len), strings[i].data, strings[i].len);
		case_entry(im, entries, i, 0, data, from);
	}
	case_entry(im, 4, 1, 0x50000000, 12, 13);
}

/*
 * What fills a hole and is too long for one; more repeated strings than there
 * is room for.  No document is longer than its image.
 */
static void
test_parts(void)
{
	size_t		len;
	uint8_t    *blob = case_dict_blob(CASE_TEMPLATES, &len);
	StZsonDict	dict;

	case_dict_open(&dict, blob, len);
	for (uint32_t longest = 200; longest < 320; longest += 11)
	{
		uint8_t		bytes[80][700];
		StStr		strings[80];
		CaseImage	im;

		for (uint32_t i = 0; i < 80; i++)
		{
			uint32_t	n = 0;

			memcpy(bytes[i], "https://", 8);
			n = 8;
			for (uint32_t k = 0; k < longest - 5; k++, n++)
				bytes[i][n] = (uint8_t) (i % 2 ? bytes[i - 1][n] :
										 1 + test_random() % 127);
			memcpy(bytes[i] + n, "/users/", 7);
			n += 7;
			for (uint32_t k = 0; k < longest; k++)
				bytes[i][n++] = (uint8_t) (1 + test_random() % 127);
			strings[i] = (StStr) {bytes[i], n};
		}
		array_of(&im, strings, 80);
		check_document(&dict, &im, false);
		check_document(&dict, &im, true);
		free(im.p);
	}
	case_dict_close(&dict);
	free(blob);
}

/* A repeated string is bounded, so that a byte cannot stand for a megabyte. */
static void
test_repeat_limits(void)
{
	static const struct
	{
		size_t		len;		/* of the string */
		size_t		behind;		/* bytes after it */
		StStatus	status;
	}			cases[] = {
		{255, 0, ST_OK},
		{256, 0, ST_CORRUPT},
		{255, 7900, ST_OK},
		{255, 8000, ST_CORRUPT}
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint8_t		bytes[9000];
		uint8_t		text[9000];
		StByteWriter w;
		StZsonDoc	doc;
		StZsonValue root;
		StStr		string;
		StStatus	status;

		memset(text, 'x', sizeof(text));
		st_writer_init(&w, bytes, sizeof(bytes));
		st_write_u8(&w, 0x18);
		st_write_varint(&w, 3 + cases[i].len + cases[i].behind);
		st_write_u8(&w, 0xe0);
		st_write_varint(&w, cases[i].len);
		st_write_bytes(&w, text, cases[i].len + cases[i].behind);
		st_write_u8(&w, 0xf8);
		CHECK(w.status == ST_OK);
		status = open_doc(&doc, NULL, bytes, st_writer_len(&w), &root);
		CHECK_MSG(status == cases[i].status, "case %zu: status %d", i, status);
		if (status == ST_OK)
			CHECK(st_zson_string(&doc, &root, text, &string) == ST_OK &&
				  string.len == cases[i].len);
	}
}

/* Numbers and strings whose forms are near their limits. */
static void
test_numbers(void)
{
	static const int64_t values[] = {
		0, 1, 31, 32, 255, 256, 65535, 65536, 16777215, 16777216,
		UINT32_MAX, INT64_C(1) << 40, (INT64_C(1) << 48) - 1, INT64_MAX,
		-1, -256, -257, -65536, -65537, INT32_MIN, -INT64_C(4294967297),
		-INT64_MAX
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
	{
		for (int scale = 0; scale <= 63; scale++)
		{
			uint8_t		payload[ST_ZSON_NUMERIC_MAX];
			size_t		n = st_zson_numeric_write(values[i], scale, payload);
			int64_t		num = 0;
			int			s = -1;

			CHECK(st_zson_numeric_valid(payload, n));
			CHECK_MSG(st_zson_numeric_read(payload, n, &num, &s) &&
					  num == values[i] && s == scale, "%lld scale %d",
					  (long long) values[i], scale);
		}
	}
}

int
main(void)
{
	RUN(test_numbers);
	RUN(test_dictionary);
	RUN(test_templates);
	RUN(test_roundtrip);
	RUN(test_parts);
	RUN(test_repeat_limits);
	RUN(test_prefix);
	RUN(test_damage);
	return test_summary("zson");
}
