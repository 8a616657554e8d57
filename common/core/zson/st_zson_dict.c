/*-------------------------------------------------------------------------
 *
 * st_zson_dict.c
 *	  Dictionaries of documents: their bytes, and the digest of them.
 *
 *		"ZSD" and the version, 1 or 2
 *		info		bytes v, text
 *		keys		count v; each: bytes v, bytes
 *		shapes		count v; each: count v, numbers of its keys v
 *		values		count v; each: bytes v, an encoded scalar
 *		fsst		bytes v, a saved scheme, or 0
 *		zstd		bytes v, a zstd dictionary, or 0
 *		templates	version 2 only: st_zson_template.c
 *		checksum	u64 of all that is before
 *
 * The digest points into these bytes.  Its tables hold numbers of 16 bits,
 * so that it costs little more than the bytes themselves.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

#include "st_checksum.h"

static const uint8_t magic[4] = {'Z', 'S', 'D', 1};

#define VERSION_TEMPLATES 2

#define CHECKSUM_SEED UINT64_C(0x7a736f6e)

int
st_zson_key_compare(const StStr *a, const StStr *b)
{
	return st_jsonb_compare_keys(a->data, a->len, b->data, b->len);
}

static uint64_t
shape_hash(const uint16_t *keys, uint32_t n)
{
	return st_checksum64(keys, n * sizeof(uint16_t), 2);
}

/* Size - 1 of a table for n entries, half full at most. */
static uint32_t
table_mask(uint32_t n)
{
	uint32_t	size = 8;

	while (size < 2 * n)
		size *= 2;
	return size - 1;
}

/* Takes the first free place for entry i. */
static void
enter(uint16_t *table, uint32_t mask, uint64_t slot, uint32_t i)
{
	while (table[slot & mask] != 0)
		slot++;
	table[slot & mask] = (uint16_t) (i + 1);
}

/* ---- look-up ---- */

int
st_zson_dict_key(const StZsonDict *dict, const void *key, size_t len)
{
	uint64_t	slot;

	if (dict == NULL || dict->nkeys == 0)
		return -1;
	slot = st_checksum64(key, len, 1);
	for (;; slot++)
	{
		unsigned	entry = dict->key_table[slot & dict->key_mask];

		if (entry == 0)
			return -1;
		if (dict->keys[entry - 1].len == len &&
			memcmp(dict->keys[entry - 1].data, key, len) == 0)
			return (int) entry - 1;
	}
}

int
st_zs_dict_shape(const StZsonDict *dict, const uint16_t *keys, uint32_t n)
{
	uint64_t	slot;

	if (dict->nshapes == 0)
		return -1;
	slot = shape_hash(keys, n);
	for (;; slot++)
	{
		unsigned	entry = dict->shape_table[slot & dict->shape_mask];

		if (entry == 0)
			return -1;
		if (dict->shapes[entry - 1].nkeys == n &&
			memcmp(dict->shapes[entry - 1].keys, keys,
				   n * sizeof(uint16_t)) == 0)
			return (int) entry - 1;
	}
}

int
st_zs_dict_value(const StZsonDict *dict, const void *encoded, size_t len)
{
	uint64_t	slot;
	unsigned	bit;

	if (dict->nvalues == 0)
		return -1;
	bit = st_zs_value_bit(encoded, len);
	if ((dict->value_filter[bit / 64] >> (bit % 64) & 1) == 0)
		return -1;
	slot = st_checksum64(encoded, len, 3);
	for (;; slot++)
	{
		unsigned	entry = dict->value_table[slot & dict->value_mask];
		uint32_t	at;

		if (entry == 0)
			return -1;
		at = dict->values[entry - 1];
		if (dict->value_ends[entry - 1] - at == len &&
			memcmp(dict->blob + at, encoded, len) == 0)
			return (int) entry - 1;
	}
}

/* ---- load ---- */

typedef struct Loader
{
	StZsonDict *dict;
	StByteReader r;
	StZsonAlloc alloc;
	void	   *arg;
	StStatus	status;
} Loader;

static void *
get_memory(Loader *l, size_t size)
{
	void	   *p = l->status == ST_OK ? l->alloc(l->arg, size ? size : 1) : NULL;

	if (p == NULL && l->status == ST_OK)
		l->status = ST_NOMEM;
	return p;
}

static void
corrupt(Loader *l)
{
	if (l->status == ST_OK)
		l->status = ST_CORRUPT;
}

/* A count of things that take at least a byte each. */
static uint32_t
read_count(Loader *l, uint32_t limit)
{
	uint64_t	n = st_read_varint(&l->r);

	if (n > limit || n > st_reader_left(&l->r))
	{
		st_reader_fail(&l->r);
		corrupt(l);
		return 0;
	}
	return (uint32_t) n;
}

static StStr
read_bytes(Loader *l)
{
	StStr		s = st_read_sized(&l->r);

	if (s.data == NULL)
		corrupt(l);
	return s;
}

static void
load_keys(Loader *l)
{
	StZsonDict *dict = l->dict;

	dict->nkeys = read_count(l, ST_ZSON_MAX_KEYS);
	dict->keys = get_memory(l, dict->nkeys * sizeof(StStr));
	dict->key_mask = table_mask(dict->nkeys);
	dict->key_table = get_memory(l, (dict->key_mask + 1) * sizeof(uint16_t));
	for (uint32_t i = 0; i < dict->nkeys && l->status == ST_OK; i++)
	{
		StStr		key = read_bytes(l);

		if (l->status != ST_OK)
			return;
		/* two numbers for one key would make look-ups miss */
		if (st_zson_dict_key(dict, key.data, key.len) >= 0)
		{
			corrupt(l);
			return;
		}
		dict->keys[i] = key;
		enter(dict->key_table, dict->key_mask,
			  st_checksum64(key.data, key.len, 1), i);
	}
}

static void
load_shapes(Loader *l)
{
	StZsonDict *dict = l->dict;
	StByteReader ahead;
	uint64_t	total = 0;
	uint16_t   *ids;

	dict->nshapes = read_count(l, ST_ZSON_MAX_SHAPES);
	dict->shapes = get_memory(l, dict->nshapes * sizeof(StZsonShape));
	ahead = l->r;
	for (uint32_t i = 0; i < dict->nshapes; i++)
	{
		uint64_t	n = st_read_varint(&ahead);

		total += n;
		if (n == 0 || n > ST_ZSON_MAX_SHAPE_KEYS)
			st_reader_fail(&ahead);
		for (uint64_t k = 0; k < n && ahead.status == ST_OK; k++)
			st_read_varint(&ahead);
		if (ahead.status != ST_OK)
		{
			corrupt(l);
			return;
		}
	}
	ids = get_memory(l, total * sizeof(uint16_t));
	for (uint32_t i = 0; i < dict->nshapes && l->status == ST_OK; i++)
	{
		StZsonShape *shape = &dict->shapes[i];

		shape->nkeys = (uint32_t) st_read_varint(&l->r);
		shape->keys = ids;
		for (uint32_t k = 0; k < shape->nkeys; k++)
		{
			uint64_t	id = st_read_varint(&l->r);

			if (id >= dict->nkeys ||
				(k > 0 && st_zson_key_compare(&dict->keys[ids[-1]],
											  &dict->keys[id]) >= 0))
			{
				corrupt(l);
				return;
			}
			*ids++ = (uint16_t) id;
		}
	}
}

static void
load_values(Loader *l)
{
	StZsonDict *dict = l->dict;
	StZsonDoc	none = {0};

	dict->nvalues = read_count(l, ST_ZSON_MAX_VALUES);
	dict->values = get_memory(l, dict->nvalues * sizeof(uint32_t));
	dict->value_ends = get_memory(l, dict->nvalues * sizeof(uint32_t));
	for (uint32_t i = 0; i < dict->nvalues && l->status == ST_OK; i++)
	{
		StStr		s = read_bytes(l);
		StZsonValue v;

		none.avail_end = s.data + s.len;
		if (l->status != ST_OK || s.len == 0 ||
			st_zs_value(&none, s.data, s.data + s.len, 0, &v) != ST_OK ||
			v.next != s.data + s.len ||
			(v.kind != ST_ZSON_STRING && v.kind != ST_ZSON_NUMBER))
		{
			corrupt(l);
			return;
		}
		dict->values[i] = (uint32_t) (s.data - dict->blob);
		dict->value_ends[i] = (uint32_t) (v.next - dict->blob);
	}
}

static void
load_fsst(Loader *l)
{
	StStr		s = read_bytes(l);
	StStrScheme scheme;
	StStatus	status;

	if (s.len == 0 || l->status != ST_OK)
		return;
	status = st_str_scheme_load(s.data, s.len, &scheme);
	if (status != ST_OK || scheme.kind != ST_STR_FSST)
	{
		l->status = status != ST_OK ? status : ST_CORRUPT;
		return;
	}
	l->dict->fsst = get_memory(l, sizeof(StFsstTable));
	if (l->status == ST_OK)
		*l->dict->fsst = scheme.u.fsst;
}

StStatus
st_zson_dict_load(StZsonDict *dict, uint32_t id, const uint8_t *blob,
				  size_t len, StZsonAlloc alloc, void *arg)
{
	Loader		l = {.dict = dict,.alloc = alloc,.arg = arg};
	StStr		s;

	memset(dict, 0, sizeof(*dict));
	if (len < sizeof(magic) + 8 || len > ST_ZSON_MAX_DICT ||
		memcmp(blob, magic, 3) != 0)
		return ST_CORRUPT;
	if (blob[3] != magic[3] && blob[3] != VERSION_TEMPLATES)
		return ST_UNSUPPORTED;
	if (st_load_u64(blob + len - 8) !=
		st_checksum64(blob, len - 8, CHECKSUM_SEED))
		return ST_CORRUPT;
	dict->id = id;
	dict->blob = blob;
	dict->len = len;
	st_reader_init(&l.r, blob + 4, len - 12);
	s = read_bytes(&l);
	dict->info = s.data;
	dict->infolen = s.len;
	load_keys(&l);
	if (l.status == ST_OK)
		load_shapes(&l);
	if (l.status == ST_OK)
		load_values(&l);
	if (l.status == ST_OK)
		load_fsst(&l);
	if (l.status != ST_OK)
		return l.status;
	s = read_bytes(&l);
	dict->zdict = s.data;
	dict->zdictlen = s.len;
	if (l.status == ST_OK && blob[3] == VERSION_TEMPLATES)
		l.status = st_zs_templates_load(dict, &l.r, alloc, arg);
	if (l.status == ST_OK && st_reader_finish(&l.r) != ST_OK)
		l.status = ST_CORRUPT;
	return l.status;
}

StStatus
st_zson_dict_prepare_write(StZsonDict *dict, StZsonAlloc alloc, void *arg)
{
	Loader		l = {.dict = dict,.alloc = alloc,.arg = arg};

	if (dict->shape_table != NULL)
		return ST_OK;
	dict->shape_mask = table_mask(dict->nshapes);
	dict->value_mask = table_mask(dict->nvalues);
	dict->value_table = get_memory(&l, (dict->value_mask + 1) *
								   sizeof(uint16_t));
	dict->value_filter = get_memory(&l, ZS_FILTER_BITS / 8);
	if (dict->fsst != NULL)
		dict->fsst_encoder = get_memory(&l, sizeof(StFsstEncoder));
	dict->shape_table = get_memory(&l, (dict->shape_mask + 1) *
								   sizeof(uint16_t));
	if (l.status != ST_OK)
		return l.status;
	if (dict->fsst != NULL)
		st_fsst_encoder_init(dict->fsst_encoder, dict->fsst);
	for (uint32_t i = 0; i < dict->nshapes; i++)
		enter(dict->shape_table, dict->shape_mask,
			  shape_hash(dict->shapes[i].keys, dict->shapes[i].nkeys), i);
	for (uint32_t i = 0; i < dict->nvalues; i++)
	{
		const uint8_t *value = dict->blob + dict->values[i];
		size_t		len = dict->value_ends[i] - dict->values[i];
		unsigned	bit = st_zs_value_bit(value, len);

		dict->value_filter[bit / 64] |= UINT64_C(1) << (bit % 64);
		enter(dict->value_table, dict->value_mask,
			  st_checksum64(value, len, 3), i);
	}
	return st_zs_templates_prepare(dict, alloc, arg);
}

/* ---- build ---- */

size_t
st_zson_dict_bound(const StZsonParts *parts)
{
	size_t		n = 64 + parts->info.len + parts->zdict.len +
		st_str_scheme_bound();

	for (uint32_t i = 0; i < parts->nkeys; i++)
		n += ST_VARINT_MAX + parts->keys[i].len;
	for (uint32_t i = 0; i < parts->nshapes; i++)
		n += 3 + 3 * (size_t) parts->shapes[i].nkeys;
	for (uint32_t i = 0; i < parts->nvalues; i++)
		n += ST_VARINT_MAX + parts->values[i].len;
	for (uint32_t i = 0; i < parts->ntemplates; i++)
	{
		n += 1;
		for (uint32_t k = 0; k <= parts->templates[i].nholes; k++)
			n += ST_VARINT_MAX + parts->templates[i].parts[k].len;
	}
	n += 1 + ZS_CODE_LENGTHS;
	return n + (ST_VARINT_MAX + 1) * ((size_t) parts->nkey_templates + 2);
}

StStatus
st_zson_dict_build(const StZsonParts *parts, uint8_t *dst, size_t cap,
				   size_t *len)
{
	StByteWriter w;
	bool		second = parts->find_repeats || parts->code_lengths != NULL;

	if (parts->nkeys > ST_ZSON_MAX_KEYS ||
		parts->nshapes > ST_ZSON_MAX_SHAPES ||
		parts->nvalues > ST_ZSON_MAX_VALUES ||
		parts->ntemplates > ST_ZSON_MAX_TEMPLATES ||
		parts->nkey_templates > ST_ZSON_MAX_KEY_TEMPLATES)
		return ST_NOTFIT;
	st_writer_init(&w, dst, cap);
	st_write_bytes(&w, magic, 3);
	st_write_u8(&w, second ? VERSION_TEMPLATES : magic[3]);
	st_write_sized(&w, parts->info.data, parts->info.len);
	st_write_varint(&w, parts->nkeys);
	for (uint32_t i = 0; i < parts->nkeys; i++)
		st_write_sized(&w, parts->keys[i].data, parts->keys[i].len);
	st_write_varint(&w, parts->nshapes);
	for (uint32_t i = 0; i < parts->nshapes; i++)
	{
		st_write_varint(&w, parts->shapes[i].nkeys);
		for (uint32_t k = 0; k < parts->shapes[i].nkeys; k++)
			st_write_varint(&w, parts->shapes[i].keys[k]);
	}
	st_write_varint(&w, parts->nvalues);
	for (uint32_t i = 0; i < parts->nvalues; i++)
		st_write_sized(&w, parts->values[i].data, parts->values[i].len);
	if (parts->scheme != NULL && parts->scheme->kind == ST_STR_FSST)
	{
		uint8_t		saved[4096];

		if (st_str_scheme_bound() > sizeof(saved))
			return ST_NOTFIT;
		st_write_sized(&w, saved, st_str_scheme_save(parts->scheme, saved,
													 sizeof(saved)));
	}
	else
		st_write_varint(&w, 0);
	st_write_sized(&w, parts->zdict.data, parts->zdict.len);
	if (second)
		st_zs_templates_build(parts, &w);
	if (w.status == ST_OK)
		st_write_u64(&w, st_checksum64(dst, st_writer_len(&w),
									   CHECKSUM_SEED));
	*len = st_writer_len(&w);
	if (w.status == ST_OK && *len > ST_ZSON_MAX_DICT)
		return ST_NOTFIT;
	return w.status;
}
