/*-------------------------------------------------------------------------
 *
 * zs_datum.c
 *	  Opens values of type zson, and makes them.
 *
 * A value in memory is read where it is, short header or not.  Of one stored
 * out of line the first chunk is fetched, then, if need be, the root value,
 * then everything; blocks of the tail are fetched one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "st_error.h"
#include "zs_datum.h"
#include "zs_dict.h"

/* A chunk of a TOAST table. */
#define FIRST_BYTES 1990

/* Largest room for encoding that is kept. */
#define KEPT_ROOM (256 * 1024)

static uint8 *block_buffer = NULL;
static StCodecCtx *codec_ctx = NULL;

bool
zs_enter(int depth)
{
	check_stack_depth();
	return true;
}

bool
zs_text_valid(const uint8_t *s, size_t n)
{
	return pg_verify_mbstr(GetDatabaseEncoding(), (const char *) s, (int) n,
						   true);
}

void
zs_raise(const StZsonDoc *doc, StStatus status)
{
	if (status == ST_CORRUPT)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("value of type zson is damaged"),
				 doc == NULL || doc->dict_id == 0 ? 0 :
				 errdetail("It was stored with dictionary %u.", doc->dict_id)));
	if (status == ST_UNSUPPORTED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("value of type zson was stored by a newer version of the extension")));
	if (status == ST_NOTFIT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document is too large or nested too deeply")));
	st_raise_status(status, NULL, InvalidBlockNumber, 0, "value of type zson");
}

static void
need_buffers(void)
{
	if (block_buffer == NULL)
		block_buffer = MemoryContextAlloc(TopMemoryContext, ST_ZSON_BLOCK);
	if (codec_ctx == NULL)
		codec_ctx = st_codec_ctx_create();
	if (codec_ctx == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
}

static const uint8_t *
fetch_slice(void *arg, size_t off, size_t n)
{
	struct varlena *slice;

	slice = detoast_attr_slice((struct varlena *) arg, (int32) off, (int32) n);
	if (VARSIZE_ANY_EXHDR(slice) != n)
		zs_raise(NULL, ST_CORRUPT);
	return (const uint8_t *) VARDATA_ANY(slice);
}

/* Opens the bytes and their dictionary, and reads the root. */
static StStatus
open_bytes(ZsDoc *z, const char *data, Size avail, Size len)
{
	StStatus	status;

	status = st_zson_open(&z->doc, (const uint8_t *) data, avail, len);
	if (unlikely(status != ST_OK))
		return status;
	if (z->doc.dict_id != 0)
		z->doc.dict = zs_dict_read(z->doc.dict_id);
	if (z->doc.has_tail)
	{
		need_buffers();
		z->doc.block = block_buffer;
		z->doc.ctx = codec_ctx;
		if (z->toasted)
		{
			z->doc.fetch = fetch_slice;
			z->doc.fetch_arg = z->toasted;
		}
	}
	z->doc.enter = zs_enter;
	z->doc.valid = zs_text_valid;
	return st_zson_root(&z->doc, &z->root);
}

void
zs_open(ZsDoc *z, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	StStatus	status;

	z->toasted = NULL;
	z->whole = true;
	if (unlikely(VARATT_IS_EXTERNAL_ONDISK(v)))
	{
		Size		len = toast_raw_datum_size(value) - VARHDRSZ;
		struct varlena *slice;

		if (len > FIRST_BYTES)
		{
			slice = detoast_attr_slice(v, 0, FIRST_BYTES);
			z->toasted = v;
			z->whole = false;
			status = open_bytes(z, VARDATA_ANY(slice),
								VARSIZE_ANY_EXHDR(slice), len);
			if (status == ST_NOSPACE)
				zs_more(z, status);
			else if (status != ST_OK)
				zs_raise(&z->doc, status);
			return;
		}
	}
	v = pg_detoast_datum_packed(v);
	status = open_bytes(z, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v),
						VARSIZE_ANY_EXHDR(v));
	if (unlikely(status != ST_OK))
		zs_raise(&z->doc, status);
}

bool
zs_more(ZsDoc *z, StStatus status)
{
	struct varlena *slice;
	Size		want;
	Size		len = z->doc.len;

	if (status != ST_NOSPACE || z->whole)
		zs_raise(&z->doc, status);
	/* all of the root value, then all */
	want = z->doc.has_tail && z->doc.tail_at > z->doc.avail ?
		z->doc.tail_at : len;
	slice = detoast_attr_slice(z->toasted, 0, (int32) want);
	z->whole = want == len;
	status = open_bytes(z, VARDATA_ANY(slice), VARSIZE_ANY_EXHDR(slice), len);
	if (status == ST_NOSPACE)
		return zs_more(z, status);
	if (status != ST_OK)
		zs_raise(&z->doc, status);
	return true;
}

StStatus
zs_is_here(const ZsDoc *z, const StZsonValue *v)
{
	if (z->whole)
		return ST_OK;
	/* a root is copied with its tail */
	if (v->start == z->doc.root)
		return ST_NOSPACE;
	return v->next <= z->doc.avail_end ? ST_OK : ST_NOSPACE;
}

bool
zs_element(ZsDoc *z, int64 index, StZsonValue *v)
{
	StStatus	status;

	do
	{
		int64		i = index;

		/* jsonb's root scalars are arrays of one */
		if (z->root.kind < ST_ZSON_ARRAY && (index == 0 || index == -1))
		{
			*v = z->root;
			return true;
		}
		if (z->root.kind != ST_ZSON_ARRAY)
			return false;
		if (i < 0)
			i += z->root.count;
		if (i < 0 || i >= z->root.count)
			return false;
		status = st_zson_at(&z->doc, &z->root, (uint32) i, v);
		if (status == ST_OK)
			status = zs_is_here(z, v);
	} while (unlikely(status != ST_OK) && zs_more(z, status));
	return true;
}

void
zs_open_whole(ZsDoc *z, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);

	zs_open(z, PointerGetDatum(pg_detoast_datum_packed(v)));
}

Jsonb *
zs_to_jsonb(Datum value)
{
	ZsDoc		z;

	zs_open_whole(&z, value);
	return zs_value_jsonb(&z, &z.root);
}

/* Memory that is kept for documents of usual size. */
typedef struct Room
{
	uint8_t    *p;
	Size		size;
} Room;

/*
 * Room to work in, so that a value takes no more memory than its bytes; what
 * exceeds KEPT_ROOM is the caller's to free.
 */
static uint8_t *
get_room(Room *room, Size cap)
{
	if (cap > KEPT_ROOM)
		return MemoryContextAllocHuge(CurrentMemoryContext, cap);
	if (cap > room->size)
	{
		Size		size = Max(cap, 2 * room->size);

		if (room->p != NULL)
			pfree(room->p);
		*room = (Room) {NULL, 0};
		room->p = MemoryContextAlloc(TopMemoryContext, size);
		room->size = size;
	}
	return room->p;
}

struct varlena *
zs_from_image(const uint8 *image, Size len, const StZsonDict *dict,
			  StZsonEncoding *stats)
{
	static Room encode_room;
	StZsonEncoding e = {.dict = dict,.enter = zs_enter};
	Size		cap = st_zson_encode_bound(len);
	uint8_t    *room;
	struct varlena *result;
	size_t		outlen;
	StStatus	status;

	need_buffers();
	e.ctx = codec_ctx;
	if (stats)
		e.no_tail = stats->no_tail;
	room = get_room(&encode_room, cap);
	status = st_zson_encode(&e, image, len, room, cap, &outlen);
	if (status != ST_OK)
		zs_raise(NULL, status);
	if (outlen + VARHDRSZ > MaxAllocSize)
		zs_raise(NULL, ST_NOTFIT);
	result = palloc(outlen + VARHDRSZ);
	memcpy(VARDATA(result), room, outlen);
	SET_VARSIZE(result, outlen + VARHDRSZ);
	if (cap > KEPT_ROOM)
		pfree(room);
	if (stats)
		*stats = e;
	return result;
}

struct varlena *
zs_from_jsonb(const Jsonb *jb)
{
	const uint8 *image = (const uint8 *) VARDATA_ANY(jb);
	Size		len = VARSIZE_ANY_EXHDR(jb);

	return zs_from_image(image, len, zs_dict_route(image, len), NULL);
}

struct varlena *
zs_from_text(const char *text, Size len)
{
	static Room parse_room;
	Size		cap;
	uint8_t    *room;
	const uint8 *image;
	size_t		image_len;
	struct varlena *result = NULL;

	if (len > ST_ZSON_PARSE_MAX)
		return NULL;
	cap = st_zson_parse_bound(len);
	room = get_room(&parse_room, cap);
	if (st_zson_parse((const uint8_t *) text, len, room, cap, &image,
					  &image_len) == ST_OK)
		result = zs_from_image(image, image_len,
							   zs_dict_route(image, image_len), NULL);
	if (cap > KEPT_ROOM)
		pfree(room);
	return result;
}
