/*-------------------------------------------------------------------------
 *
 * st_zson_string.c
 *	  Bytes of a document's strings: special forms, FSST codes, the tail,
 *	  templates.
 *
 * The tail is cut into blocks of ST_ZSON_BLOCK raw bytes, each a zstd frame
 * without its magic number.  One block is kept decompressed; a string that
 * spans several is put together.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

#define MAGIC_SIZE 4
static const uint8_t zstd_magic[MAGIC_SIZE] = {0x28, 0xb5, 0x2f, 0xfd};

size_t
st_zson_string_bound(const StZsonValue *v)
{
	switch (v->form)
	{
		case ST_ZSON_FSST:
		case ST_ZSON_CODE:
			return (size_t) v->len * 8;
		case ST_ZSON_HEX:
			return (size_t) v->len * 2;
		case ST_ZSON_DIGITS:
		case ST_ZSON_UUID:
		case ST_ZSON_TIME:
			return 36;
		default:
			return v->len;
	}
}

bool
st_zs_text_valid(const StZsonDoc *doc, const uint8_t *p, size_t n)
{
	if (st_likely(st_zs_plain_ascii(p, n)))
		return true;
	/* no JSON text has NUL, and output would end there */
	if (memchr(p, 0, n) != NULL)
		return false;
	return doc->valid == NULL || doc->valid(p, n);
}

/* dst has room for 8 bytes per code; its end is not passed. */
static StStatus
fsst_decode(const StFsstTable *table, const uint8_t *in, size_t n,
			uint8_t *dst, uint32_t *len)
{
	const uint8_t *end = in + n;
	uint8_t    *out = dst;

	if (table == NULL)
		return ST_CORRUPT;
	while (in < end)
	{
		unsigned	code = *in++;

		if (code != ST_FSST_ESCAPE)
		{
			st_store_u64(out, table->sym[code]);
			out += table->len[code];
		}
		else if (in < end)
			*out++ = *in++;
		else
			return ST_CORRUPT;
	}
	*len = (uint32_t) (out - dst);
	return ST_OK;
}

/* Makes doc->block hold block i. */
static StStatus
load_block(StZsonDoc *doc, uint32_t i)
{
	const uint8_t *p = doc->dir;
	size_t		at = doc->tail_at;
	size_t		raw = i + 1 < doc->nblocks ? ST_ZSON_BLOCK :
		doc->tail_raw - (size_t) i * ST_ZSON_BLOCK;
	uint8_t		frame[MAGIC_SIZE + ST_ZSON_BLOCK];
	const uint8_t *packed;
	uint64_t	size = 0;

	if (doc->block_no == (int64_t) i)
		return ST_OK;
	for (uint32_t k = 0; k <= i; k++)
	{
		at += size;
		if (!zs_varint(&p, doc->dir_end, &size) || at > doc->len ||
			size > doc->len - at)
			return ST_CORRUPT;
	}
	if (size > raw)
		return ST_CORRUPT;
	if (at + size <= doc->avail)
		packed = doc->data + at;
	else if (doc->fetch != NULL)
		packed = doc->fetch(doc->fetch_arg, at, size);
	else
		return ST_NOSPACE;
	doc->block_no = -1;
	if (size == raw)
		memcpy(doc->block, packed, raw);
	else
	{
		StStatus	status;

		memcpy(frame, zstd_magic, MAGIC_SIZE);
		memcpy(frame + MAGIC_SIZE, packed, size);
		if (doc->dict != NULL && doc->dict->unpack != NULL)
			status = st_codec_decompress_dict(doc->ctx, doc->dict->unpack,
											  frame, size + MAGIC_SIZE,
											  doc->block, raw);
		else
			status = st_codec_decompress(doc->ctx, ST_CODEC_ZSTD, frame,
										 size + MAGIC_SIZE, doc->block, raw);
		if (status != ST_OK)
			return status;
	}
	doc->block_no = i;
	return ST_OK;
}

static StStatus
tail_string(StZsonDoc *doc, const StZsonValue *v, uint8_t *buf, StStr *out)
{
	size_t		at = (size_t) v->tail + doc->tail_base;
	uint32_t	done = 0;

	if (doc->block == NULL || at + v->len > doc->tail_raw)
		return ST_CORRUPT;
	while (done < v->len)
	{
		size_t		within = at % ST_ZSON_BLOCK;
		size_t		n = ST_ZSON_BLOCK - within;
		StStatus	status = load_block(doc, (uint32_t) (at / ST_ZSON_BLOCK));

		if (status != ST_OK)
			return status;
		if (n > v->len - done)
			n = v->len - done;
		memcpy(buf + done, doc->block + within, n);
		done += (uint32_t) n;
		at += n;
	}
	*out = (StStr) {buf, v->len};
	return ST_OK;
}

StStatus
st_zs_string(StZsonDoc *doc, const StZsonValue *v, uint8_t *buf, StStr *out)
{
	out->data = buf;
	switch (v->form)
	{
		case ST_ZSON_PLAIN:
			*out = (StStr) {v->data, v->len};
			return ST_OK;
		case ST_ZSON_FSST:
			return fsst_decode(doc->dict ? doc->dict->fsst : NULL, v->data,
							   v->len, buf, &out->len);
		case ST_ZSON_CODE:
			return st_zs_code_read(doc->dict, v->data, v->len, buf, &out->len);
		case ST_ZSON_HEX:
			out->len = (uint32_t) st_zs_hex_write(v->data, v->len, buf);
			return ST_OK;
		case ST_ZSON_DIGITS:
			out->len = (uint32_t) st_zs_digits_write((uint64_t) v->num, buf);
			return ST_OK;
		case ST_ZSON_UUID:
			out->len = (uint32_t) st_zs_uuid_write(v->data, buf);
			return ST_OK;
		case ST_ZSON_TIME:
			out->len = (uint32_t) st_zs_time_write(v->num, v->scale == 3, buf);
			return ST_OK;
		case ST_ZSON_TAIL:
			return tail_string(doc, v, buf, out);
		case ST_ZSON_TEMPLATE:
			return st_zs_template_string(doc, v, buf, out);
		default:
			return ST_CORRUPT;
	}
}

StStatus
st_zson_string(StZsonDoc *doc, const StZsonValue *v, uint8_t *buf, StStr *out)
{
	StStatus	status = st_zs_string(doc, v, buf, out);

	/* the other forms are ASCII whatever their bytes are */
	if (status == ST_OK &&
		(v->form == ST_ZSON_PLAIN || v->form == ST_ZSON_FSST ||
		 v->form == ST_ZSON_CODE || v->form == ST_ZSON_TAIL || v->form == ST_ZSON_TEMPLATE) &&
		!st_zs_text_valid(doc, out->data, out->len))
		return ST_CORRUPT;
	return status;
}
