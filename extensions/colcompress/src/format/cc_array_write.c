/*-------------------------------------------------------------------------
 *
 * cc_array_write.c
 *	  Arrays of a jsonb column into a column of their elements.
 *
 * An array is walked once before any element is taken: the walk proves that
 * its bytes are those that the server's serialisation makes (st_jsonb.h), so
 * that writing the same elements again gives the same bytes.  The elements'
 * own bytes stay where they are, in the arrays; only scalars are copied.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_array.h"
#include "cc_shred.h"
#include "sf_bytes.h"
#include "st_compat.h"
#include "st_int.h"
#include "st_yield.h"

/* Values that are looked at, and elements of each. */
#define SAMPLE_VALUES 1024
#define SAMPLE_ELEMENTS 32

/* Fewer elements than this are not worth it. */
#define MIN_ELEMENTS 64

/* Bytes in front of a scalar that stands alone. */
#define SCALAR_HEAD (2 * sizeof(uint32))

/* Arrays that are taken apart. */
typedef struct Splitter
{
	CcColumn	parts[CC_ARRAY_PARTS];
	int64	   *lengths;		/* of each row: elements + 1, 0: kept whole */
	StStr	   *elements;		/* of all of them */
	uint32		nelements;
	uint32		max_elements;
} Splitter;

/* Opens an array that is none around a scalar. */
static bool
open_array(const StStr *value, StJsonb *c)
{
	return st_jsonb_open(value->data, value->len, c) == ST_OK && !c->object &&
		(st_load_u32(value->data) & ST_JSONB_SCALAR) == 0;
}

/* ---- is it worth it ---- */

typedef struct Sample
{
	uint32		nvalues;
	uint32		narrays;
	uint32		nelements;
	uint32		nobjects;		/* of the elements */
} Sample;

static void
sample_value(Sample *s, const StStr *value)
{
	StJsonbCursor at = {0, 0};
	StJsonb		c;

	s->nvalues++;
	if (!open_array(value, &c))
		return;
	s->narrays++;
	for (uint32 i = 0; i < Min(c.count, SAMPLE_ELEMENTS); i++)
	{
		StJsonbItem item;

		if (st_jsonb_next(&c, &at, &item) != ST_OK)
			return;
		s->nelements++;
		s->nobjects += item.type == ST_JSONB_CONTAINER &&
			(st_load_u32(item.data) & ST_JSONB_OBJECT) != 0;
	}
}

bool
cc_array_likely(const CcColumn *col, const StStr *values)
{
	uint32		step = Max(1, (col->nrows - col->nnulls) / SAMPLE_VALUES);
	uint32		n = 0;
	Sample		s = {0};

	for (uint32 i = 0; i < col->nrows; i++)
	{
		if (values[i].data != NULL && n++ % step == 0)
			sample_value(&s, &values[i]);
	}
	return s.narrays > s.nvalues / 2 && s.nelements >= MIN_ELEMENTS &&
		s.nobjects > s.nelements / 2;
}

/* ---- one array ---- */

/*
 * Would writing the array's elements again give its bytes?  An array around a
 * scalar could not be told from a scalar.
 */
static bool
is_canonical(const StJsonb *c)
{
	StJsonbCursor at = {0, 0};

	while (at.i < c->nentries)
	{
		StJsonbItem item;

		if (st_jsonb_next(c, &at, &item) != ST_OK ||
			(item.type == ST_JSONB_CONTAINER &&
			 (st_load_u32(item.data) & ST_JSONB_SCALAR) != 0))
			return false;
	}
	return st_jsonb_finish(c, &at) == ST_OK;
}

/* A scalar as a document. */
static StStr
scalar_document(const StJsonbItem *item)
{
	Size		size = SCALAR_HEAD + item->len;
	StJsonbWriter w;
	StJsonbBuild b;

	st_jsonb_writer_init(&w, palloc(size), size);
	st_jsonb_begin(&w, &b, ST_JSONB_ARRAY | ST_JSONB_SCALAR, 1);
	st_jsonb_put(&w, &b, item->type, item->data, item->len);
	if (w.status != ST_OK)
		elog(ERROR, "could not write an element of an array");
	return (StStr) {w.buf, w.len};
}

static void
add_element(Splitter *s, const StJsonbItem *item)
{
	if (s->nelements == s->max_elements)
	{
		s->max_elements = Max(1024, 2 * s->max_elements);
		s->elements = s->elements == NULL ?
			MemoryContextAllocHuge(CurrentMemoryContext, s->max_elements * sizeof(StStr)) :
			repalloc_huge(s->elements, s->max_elements * sizeof(StStr));
	}
	s->elements[s->nelements++] = item->type == ST_JSONB_CONTAINER ?
		(StStr) {item->data, item->len} : scalar_document(item);
}

static void
split_array(Splitter *s, uint32 row, const StStr *value)
{
	CcColumn   *whole = &s->parts[CC_ARRAY_WHOLE];
	StJsonbCursor at = {0, 0};
	StJsonb		c;

	if (!open_array(value, &c) || c.count > CC_ARRAY_MAX_ELEMENTS - s->nelements ||
		!is_canonical(&c))
	{
		cc_column_add_nulls(whole, row);
		cc_column_add_bytes(whole, value->data, value->len);
		s->lengths[row] = 0;
		return;
	}
	for (uint32 i = 0; i < c.count; i++)
	{
		StJsonbItem item;

		(void) st_jsonb_next(&c, &at, &item);
		add_element(s, &item);
	}
	s->lengths[row] = (int64) c.count + 1;
}

static void
split_column(Splitter *s, const CcColumn *col, const StStr *values)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < CC_ARRAY_PARTS; i++)
		cc_leaf_init(&s->parts[i], JSONBOID);
	s->parts[CC_ARRAY_ELEMENTS].is_leaf = false;
	s->parts[CC_ARRAY_ELEMENTS].depth = col->depth + 1;
	s->lengths = MemoryContextAllocHuge(CurrentMemoryContext, col->nrows * sizeof(int64));
	for (uint32 i = 0; i < col->nrows; i++)
	{
		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		st_yield();
		if (values[i].data != NULL)
			split_array(s, i, &values[i]);
		else
			s->lengths[i] = i > 0 ? s->lengths[i - 1] : 0;
	}
	cc_column_add_nulls(&s->parts[CC_ARRAY_WHOLE], col->nrows);
	cc_column_borrow(&s->parts[CC_ARRAY_ELEMENTS], s->elements, s->nelements);
}

/* ---- the chunk ---- */

/* Vectors of lengths; first gets how many elements are before each. */
static void
write_lengths(const CcColumn *col, CcChunkWriter *w, const int64 *lengths, int64 *before)
{
	StIntHint	hint = {0};
	int64		nelements = 0;

	for (uint32 first = 0; first < col->nrows; first += ST_VECTOR_SIZE)
	{
		uint32		n = Min(ST_VECTOR_SIZE, col->nrows - first);
		uint32		nnulls;
		Size		bound = st_int_bound(n);
		uint8	   *dst = cc_chunk_reserve(w, CC_VALIDITY_BOUND + bound);
		Size		prefix = cc_put_validity(col, first, n, &nnulls, dst);
		size_t		len = 0;

		if (nnulls < n &&
			st_int_encode_next(lengths + first, n, &hint, dst + prefix, bound, &len) != ST_OK)
			elog(ERROR, "could not encode a vector of %u lengths", n);
		cc_chunk_add_vector(w, prefix + len, nnulls);
		before[first / ST_VECTOR_SIZE] = nelements;
		for (uint32 i = first; i < first + n; i++)
		{
			if (!cc_column_isnull(col, i) && lengths[i] > 0)
				nelements += lengths[i] - 1;
		}
	}
}

/* Do elements of that encoding answer questions without being put together? */
static bool
pays(uint8 encoding)
{
	return encoding == CC_ENC_SHRED || encoding == CC_ENC_DICT;
}

/* Elements, and what is kept whole, into the image; false: not worth it. */
static bool
write_parts(Splitter *s, CcChunkWriter *w, uint64 limit, CcFooterColumn *entries)
{
	uint64		start = st_image_len(w->img);

	for (int i = 0; i < CC_ARRAY_PARTS; i++)
	{
		cc_column_encode(&s->parts[i], w->img, w->codec, w->level, w->codec_ctx, &entries[i]);
		cc_column_free(&s->parts[i]);
		if (st_image_len(w->img) - start >= limit ||
			!pays(entries[CC_ARRAY_ELEMENTS].encoding))
		{
			st_image_truncate(w->img, start);
			return false;
		}
	}
	w->blob_len += st_image_len(w->img) - start;
	return true;
}

bool
cc_array_encode(CcColumn *col, CcChunkWriter *w, const StStr *values, uint64 limit,
				StringInfo extra)
{
	/* What elements take goes before the next column takes as much. */
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "elements of a column",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	CcFooterColumn entries[CC_ARRAY_PARTS];
	Splitter	s;

	split_column(&s, col, values);
	col->has_arrays = write_parts(&s, w, limit, entries);
	MemoryContextSwitchTo(old);
	if (col->has_arrays)
	{
		int64	   *before = palloc(CC_MAX_VECTORS * sizeof(int64));

		write_lengths(col, w, s.lengths, before);
		sf_put_varint(extra, s.parts[CC_ARRAY_ELEMENTS].nrows);
		sf_put_int_array(extra, before, w->nvectors);
		appendBinaryStringInfo(extra, (char *) entries, sizeof(entries));
		pfree(before);
	}
	MemoryContextDelete(mcxt);
	return col->has_arrays;
}
