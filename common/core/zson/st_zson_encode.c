/*-------------------------------------------------------------------------
 *
 * st_zson_encode.c
 *	  From jsonb's binary image to a document.
 *
 * Two encodings are made and compared.  The first keeps every string in
 * place: by its number in the dictionary, in a special form, in FSST codes or
 * as it is.  The second moves the strings that have no number to the tail,
 * where zstd finds what repeats between them; it is slower to read, so it
 * must save a good part.
 *
 * The image is the server's own and is not checked, except for what costs
 * nothing.  Stack use per level of nesting is small: the server's own parser
 * must be the one that gives up first.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_plan.h"

/*
 * Hashes of so many bytes go to the tail, too: they often stand in another
 * string of the document again.
 */
#define TAIL_MIN_HEX 16

/* A tail is tried for this many bytes of such strings. */
#define TAIL_MIN_DICT 160
#define TAIL_MIN_PLAIN 400

/* For this many, zstd always beats symbols. */
#define TAIL_SURE 600

/* For images of so many bytes, the second encoding is tried first. */
#define TAIL_FIRST 1200

/* It must save this much: a sixteenth, and some bytes. */
#define TAIL_GAIN(total) ((total) / 16 + 24)

/* Zstd's effort without a dictionary. */
#define PLAIN_LEVEL 3

/* Before the members of a nested container: tag, two varints of 32 bits. */
#define SIZES_ROOM 11

#define MAX_STRIDES(n) (((n) - 1) / ST_ZSON_STRIDE)

/* zstd's magic number is not stored. */
#define MAGIC_SIZE 4

typedef struct Encoder
{
	StZsonEncoding *e;
	ZsPlan	   *plan;
	StByteWriter w;
	bool		to_tail;
	uint8_t    *tail;
	size_t		tail_len;
	size_t		tail_cap;
	size_t		tailable;		/* bytes of strings that could go there */
	size_t		tail_sure;		/* with more of them, they will: no symbols */
	uint16_t   *ids;			/* scratch for one object */
	int			depth;
	bool		failed;
} Encoder;

size_t
st_zson_encode_bound(size_t len)
{
	return 7 * len + (len / ST_ZSON_BLOCK + 1) * 1024 + 4096 +
		st_zs_plan_bound(len);
}

/* A string that is not in the dictionary, in a form of its own. */
static __attribute__((noinline)) void
write_new_string(Encoder *enc, const StStr *s)
{
	ZsForm		form;

	if (st_zs_form_find(s, &form) &&
		!(enc->to_tail && !enc->plan->made && s->len >= 2 * TAIL_MIN_HEX &&
		  st_zs_is_hex(form.tag)))
	{
		st_write_u8(&enc->w, form.tag);
		st_write_bytes(&enc->w, form.payload, form.n);
		return;
	}
	if (s->len >= ZS_TAIL_MIN)
	{
		enc->tailable += s->len;
		if (enc->to_tail && enc->tail_len + s->len <= enc->tail_cap)
		{
			memcpy(enc->tail + enc->tail_len, s->data, s->len);
			enc->tail_len += s->len;
			if (s->len < ZS_TAIL_MIN + 32)
				st_write_u8(&enc->w, (uint8_t) (ZS_FSST + s->len - ZS_TAIL_MIN));
			else
			{
				st_write_u8(&enc->w, ZS_TAIL);
				st_write_varint(&enc->w, s->len);
			}
			return;
		}
	}
	if (enc->to_tail || enc->tailable > enc->tail_sure ||
		!st_zs_put_packed(&enc->w, enc->e->dict, s))
		st_zs_put_plain(&enc->w, s);
}

static void
write_template(Encoder *enc, const ZsPlanned *p)
{
	st_write_u8(&enc->w, (uint8_t) (ZS_TEMPLATE1 + p->nfill - 1));
	st_write_u8(&enc->w, (uint8_t) p->number);
	for (unsigned i = 0; i < p->nfill; i++)
		st_zs_plan_put(enc->plan, p->fill[i], enc->e->dict, &enc->w);
}

static void
write_string(Encoder *enc, const StStr *s)
{
	ZsPlan	   *plan = enc->plan;

	if (plan->made)
	{
		const ZsPlanned *p = &plan->planned[plan->at++];

		if (p->kind == ZS_PLAN_NUMBER)
			st_zs_put_number(&enc->w, p->number);
		else if (p->kind == ZS_PLAN_TEMPLATE)
			write_template(enc, p);
		else if (p->kind == ZS_PLAN_STRING &&
				 plan->strings[p->number].repeat >= 0)
			st_zs_plan_put(plan, p->number, enc->e->dict, &enc->w);
		else
			write_new_string(enc, s);
	}
	else
	{
		int			number = st_zs_string_number(enc->e->dict, s);

		if (number >= 0)
			st_zs_put_number(&enc->w, number);
		else
			write_new_string(enc, s);
	}
}

/* varlena of a numeric, as the image holds it */
static __attribute__((noinline)) void
write_numeric(Encoder *enc, const uint8_t *p, uint32_t len)
{
	const StZsonDict *dict = enc->e->dict;
	uint32_t	header = len > 0 && (p[0] & 1) ? 1 : 4;
	uint8_t    *start = enc->w.p;
	size_t		n;
	int			number;

	if (len < header ||
		!st_zs_put_numeric(&enc->w, p + header, len - header))
	{
		enc->failed = true;
		return;
	}
	n = (size_t) (enc->w.p - start);
	if (dict == NULL || n < 2 || enc->w.status != ST_OK)
		return;
	number = st_zs_dict_value(dict, start, n);
	if (number < 0 || (number >= 64 && n < 3))
		return;
	enc->w.p = start;
	st_zs_put_number(&enc->w, number);
}

static void write_container(Encoder *enc, const uint8_t *image, bool is_root);

static void
write_child(Encoder *enc, const ZsChild *child, bool is_root)
{
	StStr		s = {child->data, child->len};

	switch (child->type)
	{
		case ST_JSONB_STRING:
			write_string(enc, &s);
			break;
		case ST_JSONB_NUMERIC:
			write_numeric(enc, child->data, child->len);
			break;
		case ST_JSONB_FALSE:
			st_write_u8(&enc->w, ZS_FALSE);
			break;
		case ST_JSONB_TRUE:
			st_write_u8(&enc->w, ZS_TRUE);
			break;
		case ST_JSONB_NULL:
			st_write_u8(&enc->w, ZS_NULL);
			break;
		case ST_JSONB_CONTAINER:
			write_container(enc, child->data, is_root);
			break;
		default:
			enc->failed = true;
	}
}

static void
write_key(Encoder *enc, const StStr *key, int id)
{
	if (id >= 0)
		st_write_varint(&enc->w, (uint64_t) id * 2 + 1);
	else
	{
		st_write_varint(&enc->w, (uint64_t) key->len * 2);
		st_write_bytes(&enc->w, key->data, key->len);
	}
}

#define NO_KEY UINT16_MAX

/*
 * Numbers of an object's keys into enc->ids; the shape's number, -1 if the
 * dictionary has none.  *off: behind the keys.
 */
static int
find_shape(Encoder *enc, const uint8_t *entries, const uint8_t *data,
		   uint32_t n, uint32_t *off)
{
	const StZsonDict *dict = enc->e->dict;
	uint32_t	known = 0;

	*off = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		ZsChild		key;
		int			id;

		zs_next_child(entries, data, i, off, &key);
		id = st_zson_dict_key(dict, key.data, key.len);
		enc->ids[i] = id < 0 ? NO_KEY : (uint16_t) id;
		known += id >= 0;
	}
	enc->e->known_keys += known;
	enc->e->unknown_keys += n - known;
	return known == n && dict != NULL ? st_zs_dict_shape(dict, enc->ids, n) : -1;
}

/* An entry of the strides, if there is one for member i. */
static void
write_stride(Encoder *enc, uint8_t *strides, uint32_t size, uint32_t i,
			 size_t offset, size_t at)
{
	if (i > 0 && i % ST_ZSON_STRIDE == 0 && strides != NULL &&
		enc->w.status == ST_OK)
		st_store_u32(strides + (i / ST_ZSON_STRIDE - 1) * size + at,
					 (uint32_t) offset);
}

/* The keys of an object without a shape, behind their size. */
static void
write_keys(Encoder *enc, const uint8_t *entries, const uint8_t *data,
		   uint32_t n, uint8_t *strides, uint32_t stride_size)
{
	uint8_t    *start = enc->w.p;
	uint32_t	off = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		ZsChild		key;
		StStr		s;

		zs_next_child(entries, data, i, &off, &key);
		s = (StStr) {key.data, key.len};
		write_stride(enc, strides, stride_size, i,
					 (size_t) (enc->w.p - start), stride_size - 4);
		write_key(enc, &s, enc->ids[i] == NO_KEY ? -1 : enc->ids[i]);
	}
}

/* Bytes that the keys will take. */
static uint64_t
keys_size(Encoder *enc, const uint8_t *entries, uint32_t n)
{
	uint64_t	size = 0;
	uint32_t	off = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		ZsChild		key;

		zs_next_child(entries, NULL, i, &off, &key);
		size += enc->ids[i] == NO_KEY ?
			(uint64_t) st_varint_size((uint64_t) key.len * 2) + key.len :
			(uint64_t) st_varint_size((uint64_t) enc->ids[i] * 2 + 1);
	}
	return size;
}

/* Writes what stands between the sizes and the values.  Returns the tag. */
static __attribute__((noinline)) int
write_prologue(Encoder *enc, const uint8_t *image, uint32_t *off,
			   uint8_t **strides, uint32_t *stride_size)
{
	uint32_t	header = st_load_u32(image);
	uint32_t	n = header & ST_JSONB_COUNT_MASK;
	const uint8_t *entries = image + 4;
	int			tag = ZS_ARRAY;
	int			shape = -1;

	*off = 0;
	*strides = NULL;
	*stride_size = enc->to_tail ? 8 : 4;
	if (header & ST_JSONB_OBJECT)
	{
		shape = find_shape(enc, entries, entries + 8 * (size_t) n, n, off);
		tag = shape < 0 ? ZS_OBJECT : ZS_SHAPED;
	}
	st_write_varint(&enc->w, tag == ZS_SHAPED ? (uint32_t) shape : n);
	if (tag == ZS_OBJECT)
	{
		st_write_varint(&enc->w, keys_size(enc, entries, n));
		*stride_size += 4;
	}
	if (n > ST_ZSON_STRIDE)
		*strides = st_write_span(&enc->w, (uint64_t) MAX_STRIDES(n) *
								 *stride_size);
	if (tag == ZS_OBJECT)
		write_keys(enc, entries, entries + 8 * (size_t) n, n, *strides,
				   *stride_size);
	return tag;
}

/* Puts the tag and the sizes before the members that begin at start. */
static __attribute__((noinline)) void
write_sizes(Encoder *enc, uint8_t *start, int tag, size_t tail_before)
{
	uint8_t    *members = start + SIZES_ROOM;
	size_t		n = (size_t) (enc->w.p - members);
	StByteWriter sizes;

	if (enc->w.status != ST_OK)
		return;
	st_writer_init(&sizes, start, SIZES_ROOM);
	st_write_u8(&sizes, (uint8_t) tag);
	st_write_varint(&sizes, n);
	if (enc->to_tail)
		st_write_varint(&sizes, enc->tail_len - tail_before);
	memmove(sizes.p, members, n);
	enc->w.p = sizes.p + n;
}

static void
write_container(Encoder *enc, const uint8_t *image, bool is_root)
{
	uint32_t	n = st_load_u32(image) & ST_JSONB_COUNT_MASK;
	uint32_t	nkeys = st_load_u32(image) & ST_JSONB_OBJECT ? n : 0;
	const uint8_t *entries = image + 4;
	uint8_t    *start = enc->w.p;
	size_t		tail_before = enc->tail_len;
	size_t		values;
	uint8_t    *strides;
	uint32_t	stride_size;
	uint32_t	off;
	int			tag;

	if (n == 0)
	{
		st_write_u8(&enc->w, st_load_u32(image) & ST_JSONB_OBJECT ?
					ZS_EMPTY_OBJECT : ZS_EMPTY_ARRAY);
		return;
	}
	if (!enc->e->enter(++enc->depth))
	{
		enc->failed = true;
		return;
	}
	st_write_span(&enc->w, is_root ? 1 : SIZES_ROOM);
	tag = write_prologue(enc, image, &off, &strides, &stride_size);
	values = st_writer_len(&enc->w);
	for (uint32_t i = 0; i < n && !enc->failed; i++)
	{
		ZsChild		child;

		zs_next_child(entries + 4 * (size_t) nkeys,
				   entries + 4 * ((size_t) nkeys + n), i, &off, &child);
		write_stride(enc, strides, stride_size, i,
					 st_writer_len(&enc->w) - values, 0);
		if (enc->to_tail)
			write_stride(enc, strides, stride_size, i,
						 enc->tail_len - tail_before, 4);
		write_child(enc, &child, false);
	}
	if (is_root && enc->w.status == ST_OK)
		*start = (uint8_t) tag;
	else if (!is_root)
		write_sizes(enc, start, tag, tail_before);
	enc->depth--;
}

/* The root value; a scalar is wrapped in an array of one. */
static StStatus
write_root(Encoder *enc, const uint8_t *image)
{
	uint32_t	header = st_load_u32(image);

	enc->e->known_keys = enc->e->unknown_keys = 0;
	enc->plan->at = 0;
	if (header & ST_JSONB_SCALAR)
	{
		ZsChild		child;
		uint32_t	off = 0;

		zs_next_child(image + 4, image + 8, 0, &off, &child);
		write_child(enc, &child, true);
	}
	else
		write_container(enc, image, true);
	if (enc->failed)
		return ST_NOTFIT;
	return enc->w.status;
}

/* Compressed blocks of the tail to dst, their sizes as varints to dir. */
static StStatus
pack_tail(StZsonEncoding *e, const uint8_t *tail, size_t len, StByteWriter *dir,
		  StByteWriter *out)
{
	for (size_t at = 0; at < len; at += ST_ZSON_BLOCK)
	{
		size_t		n = len - at < ST_ZSON_BLOCK ? len - at : ST_ZSON_BLOCK;
		uint8_t		packed[ST_ZSON_BLOCK];
		size_t		packed_len;
		StStatus	status;

		/* what does not get smaller is stored raw, which its size tells */
		if (e->dict != NULL && e->dict->pack != NULL)
			status = st_codec_compress_dict(e->ctx, e->dict->pack, tail + at,
											n, packed, sizeof(packed),
											&packed_len);
		else
			status = st_codec_compress(e->ctx, ST_CODEC_ZSTD, PLAIN_LEVEL,
									   tail + at, n, packed, sizeof(packed),
									   &packed_len);
		if (status == ST_OK && packed_len < n + MAGIC_SIZE)
		{
			st_write_varint(dir, packed_len - MAGIC_SIZE);
			st_write_bytes(out, packed + MAGIC_SIZE, packed_len - MAGIC_SIZE);
		}
		else if (status == ST_OK || status == ST_NOSPACE)
		{
			st_write_varint(dir, n);
			st_write_bytes(out, tail + at, n);
		}
		else
			return status;
	}
	return ST_OK;
}

static void
write_header(Encoder *enc, int flags)
{
	const StZsonDict *dict = enc->e->dict;
	const StStr *repeats = &enc->plan->repeats;

	if (dict != NULL)
		flags |= ZS_HAS_DICT;
	if (repeats->len > 0)
		flags |= ZS_HAS_REPEATS;
	st_write_u8(&enc->w, (uint8_t) (ZS_VERSION | flags));
	if (dict != NULL)
		st_write_varint(&enc->w, dict->id);
	if (repeats->len > 0)
		st_write_sized(&enc->w, repeats->data, repeats->len);
}

/*
 * Leaves out the tag and the shape of a root object that has one of the first
 * shapes: the header names the shape.
 */
static void
shorten_header(Encoder *enc)
{
	uint8_t    *start = enc->w.start;
	const StStr *repeats = &enc->plan->repeats;
	uint8_t    *p = start + 1;

	if (enc->e->dict == NULL)
		return;
	p += st_varint_size(enc->e->dict->id);
	if (repeats->len > 0)
		p += st_varint_size(repeats->len) + repeats->len;
	if (*p != ZS_SHAPED || p[1] >= ZS_SMALL_SHAPES)
		return;
	*start = (uint8_t) ((repeats->len > 0 ? ZS_SMALL_REPEATS : ZS_SMALL) |
						p[1]);
	memmove(p, p + 2, (size_t) (enc->w.p - p) - 2);
	enc->w.p -= 2;
}

/*
 * The second encoding.  scratch: behind the first one.  *outlen is set to
 * its length, which may be more than the first one's.
 */
static StStatus
encode_with_tail(StZsonEncoding *e, ZsPlan *plan, const uint8_t *image,
				 size_t len, uint16_t *ids, uint8_t *scratch, size_t cap, uint8_t *dst,
				 size_t dstcap, size_t limit, size_t *outlen)
{
	size_t		headcap = 2 * len + len / 2 + 64;
	size_t		dircap = (len / ST_ZSON_BLOCK + 1) * 4;
	Encoder		enc = {.e = e,.plan = plan,.to_tail = true,.ids = ids,
	.tail_cap = len};
	StByteWriter dir;
	StByteWriter packed;
	size_t		head_len;
	StStatus	status;

	if (cap < headcap + 2 * len + dircap)
		return ST_NOSPACE;
	enc.tail = scratch + headcap;
	st_writer_init(&enc.w, scratch, headcap);
	st_writer_init(&dir, enc.tail + len, dircap);
	status = write_root(&enc, image);
	if (status != ST_OK)
		return status;
	head_len = st_writer_len(&enc.w);
	*outlen = limit;
	if (head_len >= limit || enc.tail_len == 0)
		return ST_OK;
	st_writer_init(&packed, dir.end, len);
	status = pack_tail(e, enc.tail, enc.tail_len, &dir, &packed);
	if (status != ST_OK)
		return status;
	if (dir.status != ST_OK || packed.status != ST_OK)
		return ST_OK;
	*outlen = head_len + st_writer_len(&dir) + st_writer_len(&packed) +
		plan->repeats.len + 14;
	if (*outlen >= limit)
		return ST_OK;
	st_writer_init(&enc.w, dst, dstcap);
	write_header(&enc, ZS_HAS_TAIL);
	st_write_varint(&enc.w, head_len);
	st_write_varint(&enc.w, enc.tail_len);
	st_write_bytes(&enc.w, dir.start, st_writer_len(&dir));
	st_write_bytes(&enc.w, scratch, head_len);
	st_write_bytes(&enc.w, packed.start, st_writer_len(&packed));
	*outlen = st_writer_len(&enc.w);
	e->tail_raw = (uint32_t) enc.tail_len;
	return enc.w.status;
}

/* Takes aligned scratch space for the plan off the end of the room. */
static StStatus
make_plan(const StZsonEncoding *e, const uint8_t *image, size_t len,
		  uint8_t *dst, size_t *cap, ZsPlan *plan)
{
	size_t		size = st_zs_plan_bound(len);
	uintptr_t	at = ((uintptr_t) dst + *cap - size) & ~(uintptr_t) 7;

	*cap = (size_t) (at - (uintptr_t) dst);
	return st_zs_plan(e, image, len, (uint8_t *) at, plan);
}

StStatus
st_zson_tail_bytes(StZsonEncoding *e, const uint8_t *image, size_t len,
				   uint8_t *dst, size_t cap, StStr *tail)
{
	size_t		headcap = 2 * len + len / 2 + 64;
	ZsPlan		plan;
	Encoder		enc = {.e = e,.plan = &plan,.to_tail = true};
	StStatus	status;

	if (cap < st_zson_encode_bound(len) || len < 4)
		return ST_NOSPACE;
	status = make_plan(e, image, len, dst, &cap, &plan);
	if (status != ST_OK)
		return status;
	enc.tail = dst + headcap;
	enc.tail_cap = 2 * len;
	enc.ids = (uint16_t *) (((uintptr_t) enc.tail + enc.tail_cap + 1) &
							~(uintptr_t) 1);
	st_writer_init(&enc.w, dst, headcap);
	status = write_root(&enc, image);
	/* symbols are for the strings that stand beside the tail, too */
	for (uint32_t i = 0; i < plan.nstrings && status == ST_OK; i++)
	{
		const ZsPlanString *string = &plan.strings[i];

		if (string->number < 0 && (string->filled || string->repeat >= 0) &&
			!st_zson_has_form(&string->s) &&
			enc.tail_len + string->s.len <= enc.tail_cap)
		{
			memcpy(enc.tail + enc.tail_len, string->s.data, string->s.len);
			enc.tail_len += string->s.len;
		}
	}
	*tail = (StStr) {enc.tail, (uint32_t) enc.tail_len};
	return status;
}

StStatus
st_zson_encode(StZsonEncoding *e, const uint8_t *image, size_t len,
			   uint8_t *dst, size_t cap, size_t *outlen)
{
	ZsPlan		plan;
	Encoder		enc = {.e = e,.plan = &plan};
	size_t		idslen = len / 4 + 16;
	bool		packs = e->dict != NULL && e->dict->pack != NULL;
	size_t		tail_min = packs ? TAIL_MIN_DICT : TAIL_MIN_PLAIN;
	size_t		first;
	size_t		second;
	StStatus	status;

	if (cap < st_zson_encode_bound(len) || len < 4)
		return ST_NOSPACE;
	status = make_plan(e, image, len, dst, &cap, &plan);
	if (status != ST_OK)
		return status;
	/* the scratch for keys is aligned, whatever dst is */
	enc.ids = (uint16_t *) (((uintptr_t) dst + cap - idslen) & ~(uintptr_t) 1);
	cap -= idslen + 1;
	e->tail_raw = 0;
	if (len >= TAIL_FIRST && !e->no_tail && packs && !plan.made)
	{
		/* most likely the second encoding wins by far: save the first */
		first = len + 64;
		status = encode_with_tail(e, &plan, image, len, enc.ids, dst + first,
								  cap - first, dst, first, len / 2, outlen);
		if (status != ST_OK || e->tail_raw > 0)
			return status;
	}
	enc.tail_sure = e->no_tail || !packs || plan.made ? SIZE_MAX : TAIL_SURE;
	st_writer_init(&enc.w, dst, 2 * len + len / 2 + 64);
	write_header(&enc, 0);
	status = write_root(&enc, image);
	if (status != ST_OK)
		return status;
	shorten_header(&enc);
	first = *outlen = st_writer_len(&enc.w);
	if (e->no_tail || enc.tailable < tail_min || first <= TAIL_GAIN(first))
		return ST_OK;
	status = encode_with_tail(e, &plan, image, len, enc.ids, dst + first,
							  cap - first, dst, first,
							  first - TAIL_GAIN(first), &second);
	if (status == ST_OK && e->tail_raw > 0)
		*outlen = second;
	return status;
}
