/*-------------------------------------------------------------------------
 *
 * zs_learn.c
 *	  Learns a dictionary from example documents.
 *
 * 1. Count keys and the key sets of objects (shapes), look for templates of
 *	  strings, then count values: strings, what fills the templates' holes,
 *	  and numbers that take some bytes.
 * 2. Keep what occurs in enough documents, by the bytes it saves, within
 *	  budgets: the most frequent values get the numbers of one byte.
 * 3. Train symbols (FSST) and a code of bytes on the strings that are left, and
 *	  a zstd dictionary on what would go to the tails.
 * 4. Measure on the hold-out, with and without the zstd dictionary, repeated
 *	  strings and the code, and keep what gains.
 *
 * Memory is bounded by the sample and by BUDGET_* below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "st_error.h"
#include "st_str_internal.h"
#include "zs_counter.h"
#include "zs_datum.h"
#include "zs_learn.h"
#include "zs_templates.h"

#define HOLDOUT 5				/* one of five documents */
#define COUNTER_BYTES (64 * 1024 * 1024)

/* Bytes of a dictionary's parts. */
#define BUDGET_KEYS 24000
#define BUDGET_SHAPES 16000
#define BUDGET_VALUES 64000
#define BUDGET_ZSTD (64 * 1024)
#define BUDGET_SAMPLES (4 * 1024 * 1024)

#define LEVEL 2

/*
 * A part is kept if it saves one of so many bytes: a tail is slower to read,
 * looking for repeated strings takes time to write.
 */
#define TAIL_SHARE 32
#define REPEATS_SHARE 32
#define CODE_SHARE 128

/* Templates save at least this part of the examples' bytes as jsonb. */
#define TEMPLATES_GAIN 0.01

typedef struct Learner
{
	const ZsLearnOptions *options;
	Jsonb	   *const *docs;
	int			ndocs;
	ZsCounter	keys;
	ZsCounter	shapes;			/* strings of uint32 numbers of keys */
	ZsCounter	values;			/* encoded scalars */
	ZsCounter	roots;			/* hashes */
	StZsonParts parts;
	StZsonDict	draft;			/* keys, shapes, templates */
	StStrScheme scheme;
	uint8_t		code_lengths[256];
} Learner;

/*
 * One of each five documents, not the same one every time: what comes in
 * turns in the table would be in all of the hold-out and never be learned.
 */
static bool
is_held_out(int i)
{
	uint32		turn = (uint32) i / HOLDOUT * UINT32_C(2654435769) >> 16;

	return i % HOLDOUT == HOLDOUT - 1 - (int) (turn % HOLDOUT);
}

static void
walk_examples(Learner *l, ZsScalarFunction function, void *arg)
{
	for (int i = 0; i < l->ndocs; i++)
	{
		if (!is_held_out(i))
			zs_walk_scalars(&l->docs[i]->root, -1, &l->draft, i, function, arg);
	}
}

/* ---- 1. counting ---- */

static void
count_string(Learner *l, const StStr *s, uint32 doc)
{
	uint8_t		buf[300];
	size_t		n;

	if (s->len < l->options->min_length || s->len > l->options->max_length ||
		s->len > 255)
		return;
	if (st_zson_encode_string(s, buf, sizeof(buf), &n) == ST_OK)
		zs_counter_add(&l->values, buf, n, doc);
}

static void
count_number(Learner *l, Numeric numeric, uint32 doc)
{
	uint8_t		buf[64];
	size_t		n;

	if (VARSIZE_ANY_EXHDR(numeric) <= 48 &&
		st_zson_encode_number((const uint8_t *) VARDATA_ANY(numeric),
							  VARSIZE_ANY_EXHDR(numeric), buf, sizeof(buf),
							  &n) == ST_OK && n >= 2)
		zs_counter_add(&l->values, buf, n, doc);
}

static void
count_scalar(void *arg, int key, const JsonbValue *v, uint32 doc)
{
	Learner    *l = arg;

	if (v->type == jbvString)
	{
		StStr		s = {(const uint8_t *) v->val.string.val, v->val.string.len};
		StStr		fill[2];
		int			template = st_zson_template_find(&l->draft, key, &s, fill);

		if (template < 0)
			count_string(l, &s, doc);
		else
			for (uint32 i = 0; i < l->draft.templates[template].nholes; i++)
				count_string(l, &fill[i], doc);
	}
	else if (v->type == jbvNumeric)
		count_number(l, v->val.numeric, doc);
}

static void
count_container(Learner *l, JsonbContainer *jc, uint32 doc)
{
	uint32		n = JsonContainerSize(jc);
	uint32	   *ids = NULL;
	uint32		nids = 0;
	JsonbIterator *it = JsonbIteratorInit(jc);
	JsonbValue	v;
	JsonbIteratorToken token;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (JsonContainerIsObject(jc) && n > 0 && n <= ST_ZSON_MAX_SHAPE_KEYS)
		ids = palloc(n * sizeof(uint32));
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			ZsCount    *key = NULL;

			if (v.val.string.len <= 255)
				key = zs_counter_add(&l->keys, v.val.string.val,
									 v.val.string.len, doc);
			if (key != NULL && ids != NULL)
				ids[nids++] = key - l->keys.entries;
		}
		else if ((token == WJB_VALUE || token == WJB_ELEM) &&
				 v.type == jbvBinary)
			count_container(l, v.val.binary.data, doc);
	}
	if (ids != NULL)
	{
		if (nids == n)
			zs_counter_add(&l->shapes, ids, n * sizeof(uint32), doc);
		pfree(ids);
	}
}

/* ---- 2. choice ---- */

static int
by_count(const void *a, const void *b)
{
	const ZsCount *x = *(ZsCount *const *) a;
	const ZsCount *y = *(ZsCount *const *) b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->s.len != y->s.len)
		return x->s.len > y->s.len ? -1 : 1;
	return memcmp(x->s.data, y->s.data, x->s.len);
}

/*
 * Bytes that a number for a value saves: without one, a string takes about
 * half its length.  One occurrence is taken for chance.
 */
static double
value_gain(const ZsCount *v)
{
	double		without = v->s.len <= 6 ? v->s.len : 4 + (v->s.len - 4) * 0.5;

	return (v->count - 1) * (without - 2);
}

static int
by_gain(const void *a, const void *b)
{
	const ZsCount *x = *(ZsCount *const *) a;
	const ZsCount *y = *(ZsCount *const *) b;
	double		gx = value_gain(x);
	double		gy = value_gain(y);

	if (gx != gy)
		return gx > gy ? -1 : 1;
	return by_count(a, b);
}

/* Entries that occur in enough documents, sorted. */
static ZsCount **
frequent(ZsCounter *c, uint32 min_docs, uint32 *n,
		 int (*compare) (const void *, const void *))
{
	ZsCount   **list = palloc((Size) (c->n + 1) * sizeof(ZsCount *));

	*n = 0;
	for (uint32 i = 0; i < c->n; i++)
	{
		c->entries[i].id = PG_UINT32_MAX;
		if (c->entries[i].ndocs >= min_docs)
			list[(*n)++] = &c->entries[i];
	}
	qsort(list, *n, sizeof(ZsCount *), compare);
	return list;
}

static void
choose_keys(Learner *l)
{
	uint32		n;
	ZsCount   **list = frequent(&l->keys, l->options->min_count, &n, by_count);
	StStr	   *keys = palloc((n + 1) * sizeof(StStr));
	Size		bytes = 0;
	uint32		kept = 0;

	for (uint32 i = 0; i < n && kept < ST_ZSON_MAX_KEYS; i++)
	{
		bytes += list[i]->s.len + 1 + sizeof(StStr);
		if (bytes > BUDGET_KEYS * 2)
			break;
		list[i]->id = kept;
		keys[kept++] = list[i]->s;
	}
	l->parts.keys = keys;
	l->parts.nkeys = kept;
}

static void
choose_shapes(Learner *l)
{
	uint32		n;
	ZsCount   **list = frequent(&l->shapes, l->options->min_count, &n,
								by_count);
	StZsonShape *shapes = palloc((n + 1) * sizeof(StZsonShape));
	Size		bytes = 0;
	uint32		kept = 0;

	for (uint32 i = 0; i < n && kept < ST_ZSON_MAX_SHAPES; i++)
	{
		uint32		nkeys = list[i]->s.len / sizeof(uint32);
		uint16_t   *ids = palloc(nkeys * sizeof(uint16_t));
		bool		known = true;

		for (uint32 k = 0; k < nkeys && known; k++)
		{
			uint32		key;

			memcpy(&key, list[i]->s.data + k * sizeof(uint32), sizeof(uint32));
			known = l->keys.entries[key].id != PG_UINT32_MAX;
			ids[k] = (uint16_t) l->keys.entries[key].id;
		}
		bytes += sizeof(StZsonShape) + 2 * nkeys;
		if (bytes > BUDGET_SHAPES)
			break;
		if (known)
			shapes[kept++] = (StZsonShape) {nkeys, ids};
	}
	l->parts.shapes = shapes;
	l->parts.nshapes = kept;
}

/*
 * Values of two bytes gain only by a number of one: the most frequent ones
 * behind the first kept entries of the list move there.  Returns how many are
 * kept then.
 */
static uint32
add_short_values(ZsCount **list, uint32 kept, uint32 n)
{
	uint32		nshort = 0;

	for (uint32 i = kept; i < n; i++)
	{
		ZsCount    *v = list[i];

		if (v->s.len != 2)
			continue;
		list[i] = list[kept + nshort];
		list[kept + nshort++] = v;
	}
	qsort(list + kept, nshort, sizeof(ZsCount *), by_count);
	return kept + Min(nshort, ST_ZSON_SHORT_VALUES);
}

static void
choose_values(Learner *l)
{
	uint32		n;
	ZsCount   **list = frequent(&l->values, Max(l->options->min_count, 2), &n,
								by_gain);
	Size		bytes = 0;
	uint32		kept = 0;
	uint32		used = 0;
	StStr	   *values;

	while (kept < n && kept < ST_ZSON_MAX_VALUES &&
		   value_gain(list[kept]) > 0)
	{
		bytes += list[kept]->s.len + 12;
		if (bytes > BUDGET_VALUES * 2)
			break;
		kept++;
	}
	/* the numbers of one byte go to the most frequent */
	kept = add_short_values(list, kept, n);
	qsort(list, kept, sizeof(ZsCount *), by_count);
	values = palloc((kept + 1) * sizeof(StStr));
	for (uint32 i = 0; i < kept; i++)
	{
		if (used < ST_ZSON_SHORT_VALUES || list[i]->s.len > 2)
			values[used++] = list[i]->s;
	}
	l->parts.values = values;
	l->parts.nvalues = Min(used, ST_ZSON_MAX_VALUES);
}

static void
choose_roots(Learner *l, ZsLearned *result)
{
	uint32		n;
	ZsCount   **list = frequent(&l->roots, 1, &n, by_count);

	for (uint32 i = 0; i < n && result->nroots < ZS_MAX_ROOTS; i++)
		memcpy(&result->roots[result->nroots++], list[i]->s.data,
			   sizeof(uint64));
}

/* ---- 3. symbols and the zstd dictionary ---- */

static void
check(StStatus status)
{
	if (status != ST_OK)
		st_raise_status(status, NULL, InvalidBlockNumber, 0, "dictionary");
}

static bytea *
build(const StZsonParts *parts)
{
	Size		cap = st_zson_dict_bound(parts);
	bytea	   *blob = palloc(cap + VARHDRSZ);
	size_t		len;

	check(st_zson_dict_build(parts, (uint8_t *) VARDATA(blob), cap, &len));
	SET_VARSIZE(blob, len + VARHDRSZ);
	return blob;
}

static void
load(StZsonDict *dict, bytea *blob, MemoryContext context)
{
	check(st_zson_dict_load(dict, 1, (const uint8_t *) VARDATA(blob),
							VARSIZE(blob) - VARHDRSZ, zs_dict_alloc, context));
	check(st_zson_dict_prepare_write(dict, zs_dict_alloc, context));
}

/* Collects the strings of all documents' tails, one after the other. */
static uint8_t *
collect_tails(Learner *l, const StZsonDict *dict, size_t *sizes, uint32 *n,
			  Size *total)
{
	uint8_t    *samples = palloc(BUDGET_SAMPLES);

	*n = 0;
	*total = 0;
	for (int i = 0; i < l->ndocs; i++)
	{
		StZsonEncoding e = {.dict = dict,.enter = zs_enter};
		const uint8_t *image = (const uint8_t *) VARDATA(l->docs[i]);
		Size		len = VARSIZE(l->docs[i]) - VARHDRSZ;
		Size		cap = st_zson_encode_bound(len);
		uint8_t    *buf;
		StStr		tail;

		CHECK_FOR_INTERRUPTS();
		if (is_held_out(i))
			continue;
		buf = MemoryContextAllocHuge(CurrentMemoryContext, cap);
		check(st_zson_tail_bytes(&e, image, len, buf, cap, &tail));
		if (tail.len > ST_ZSON_BLOCK)
			tail.len = ST_ZSON_BLOCK;
		if (*total + tail.len <= BUDGET_SAMPLES && tail.len >= 8)
		{
			memcpy(samples + *total, tail.data, tail.len);
			*total += tail.len;
			sizes[(*n)++] = tail.len;
		}
		pfree(buf);
	}
	return samples;
}

static void
train_symbols(Learner *l, const uint8_t *samples, const size_t *sizes,
			  uint32 n)
{
	StStr	   *strings = palloc((n + 1) * sizeof(StStr));
	Size		bytes = 0;
	uint32		used = 0;
	uint32		step;
	Size		total = 0;
	Size		at = 0;

	for (uint32 i = 0; i < n; i++)
		total += sizes[i];
	/* from all over the sample */
	step = Max(1, total / (4 * ST_FSST_SAMPLE));
	for (uint32 i = 0; i < n && bytes < 4 * ST_FSST_SAMPLE; at += sizes[i++])
	{
		if (i % step != 0)
			continue;
		strings[used++] = (StStr) {samples + at, sizes[i]};
		bytes += sizes[i];
	}
	if (bytes < 256)
		return;
	l->scheme.kind = ST_STR_FSST;
	st_fsst_train(strings, used, &l->scheme.u.fsst);
	l->parts.scheme = &l->scheme;
}

/* ---- 4. measuring ---- */

static int64
measure(Learner *l, const StZsonDict *dict)
{
	int64		total = 0;

	for (int i = 0; i < l->ndocs; i++)
	{
		const uint8_t *image = (const uint8_t *) VARDATA(l->docs[i]);
		Size		len = VARSIZE(l->docs[i]) - VARHDRSZ;
		struct varlena *v;

		CHECK_FOR_INTERRUPTS();
		if (!is_held_out(i))
			continue;
		v = zs_from_image(image, len,
						  dict ? dict : zs_dict_route(image, len), NULL);
		total += VARSIZE(v) - VARHDRSZ;
		pfree(v);
	}
	return total;
}

/* A dictionary with these parts: its bytes, and what the hold-out takes. */
static bytea *
try_parts(Learner *l, int64 *total)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zson learn",
												  ALLOCSET_DEFAULT_SIZES);
	bytea	   *blob = build(&l->parts);
	StZsonDict	dict;

	load(&dict, blob, context);
	if (dict.zdictlen > 0)
		dict.pack = st_codec_dict_create(ST_CODEC_ZSTD, LEVEL, ST_CODEC_PACK,
										 dict.zdict, dict.zdictlen);
	PG_TRY();
	{
		*total = measure(l, &dict);
	}
	PG_FINALLY();
	{
		st_codec_dict_free(dict.pack);
	}
	PG_END_TRY();
	MemoryContextDelete(context);
	return blob;
}

/* Takes the parts if they gain more than one of so many bytes. */
static bool
try_gain(Learner *l, ZsLearned *result, int64 share)
{
	int64		bytes;
	bytea	   *blob = try_parts(l, &bytes);

	if (bytes >= result->after_bytes - result->after_bytes / share)
		return false;
	result->blob = blob;
	result->after_bytes = bytes;
	return true;
}

/* Templates, if they save a good part; draft has the keys. */
static void
choose_templates(Learner *l, int64 trained_bytes)
{
	ZsTemplates *t;
	double		gain;

	load(&l->draft, build(&l->parts), CurrentMemoryContext);
	t = zs_templates_begin(&l->draft);
	walk_examples(l, zs_templates_count_words, t);
	walk_examples(l, zs_templates_count_forms, t);
	gain = zs_templates_choose(t, &l->parts);
	if (l->parts.ntemplates > 0 && gain >= trained_bytes * TEMPLATES_GAIN)
	{
		l->parts.find_repeats = true;
		load(&l->draft, build(&l->parts), CurrentMemoryContext);
	}
	else
		l->parts.ntemplates = l->parts.nkey_templates = 0;
}

static void
learn_parts(Learner *l, ZsLearned *result)
{
	size_t	   *sizes = palloc((l->ndocs + 1) * sizeof(size_t));
	StZsonDict	draft;
	uint32		n;
	Size		total;
	uint8_t    *samples;
	uint8_t    *zdict;
	size_t		zlen;

	load(&draft, build(&l->parts), CurrentMemoryContext);
	samples = collect_tails(l, &draft, sizes, &n, &total);
	train_symbols(l, samples, sizes, n);
	result->blob = try_parts(l, &result->after_bytes);
	zdict = palloc(BUDGET_ZSTD);
	CHECK_FOR_INTERRUPTS();
	if (n >= 8 && st_codec_train(samples, sizes, n, zdict,
								 Min(BUDGET_ZSTD, Max(total / 8, 1024)),
								 &zlen) == ST_OK)
	{
		l->parts.zdict = (StStr) {zdict, zlen};
		if (!try_gain(l, result, TAIL_SHARE))
			l->parts.zdict.len = 0;
	}
	if (!l->parts.find_repeats)
	{
		l->parts.find_repeats = true;
		l->parts.find_repeats = try_gain(l, result, REPEATS_SHARE);
	}
	if (st_zson_code_train(samples, total, l->code_lengths))
	{
		l->parts.code_lengths = l->code_lengths;
		try_gain(l, result, CODE_SHARE);
	}
}

void
zs_learn(Jsonb *const *docs, int ndocs, const ZsLearnOptions *options,
		 const char *info, ZsLearned *result)
{
	Learner    *l = palloc0(sizeof(Learner));
	int64		trained_bytes = 0;

	memset(result, 0, sizeof(*result));
	l->options = options;
	l->docs = docs;
	l->ndocs = ndocs;
	zs_counter_init(&l->keys, COUNTER_BYTES / 8);
	zs_counter_init(&l->shapes, COUNTER_BYTES / 4);
	zs_counter_init(&l->values, COUNTER_BYTES);
	zs_counter_init(&l->roots, COUNTER_BYTES / 8);
	for (int i = 0; i < ndocs; i++)
	{
		uint64		root = zs_root_hash((const uint8 *) VARDATA(docs[i]));

		if (is_held_out(i))
		{
			result->nholdout++;
			result->jsonb_bytes += VARSIZE(docs[i]) - VARHDRSZ;
			continue;
		}
		result->ntrain++;
		trained_bytes += VARSIZE(docs[i]) - VARHDRSZ;
		count_container(l, &docs[i]->root, i);
		if (root != 0)
			zs_counter_add(&l->roots, &root, sizeof(root), i);
	}
	choose_keys(l);
	choose_shapes(l);
	choose_templates(l, trained_bytes);
	walk_examples(l, count_scalar, l);
	choose_values(l);
	choose_roots(l, result);
	l->parts.info = (StStr) {(const uint8_t *) info, strlen(info)};
	learn_parts(l, result);
	result->before_bytes = measure(l, NULL);
}
