/*-------------------------------------------------------------------------
 *
 * cc_writer.c
 *	  Rows in, image of a row group out.
 *
 * Owns one CcColumn per attribute.  A group is full at row_group_rows rows
 * or row_group_bytes bytes of buffered values.  Everything is allocated in
 * the store's context for the pending group, except for the codecs' working
 * memory, which a reset callback of that context gives back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "cc_column.h"
#include "cc_reader.h"
#include "sf_bytes.h"
#include "sf_key.h"
#include "st_checksum.h"
#include "st_compat.h"

struct StWriter
{
	MemoryContext mcxt;
	int			natts;
	uint32		nrows;
	uint32		max_rows;
	Size		max_bytes;
	Size		memory;			/* of the buffered values, as of last look */
	int			codec;
	int			level;
	CcColumn   *columns;
	SfKeys	   *keys;			/* NULL: none */
	StCodecCtx *codec_ctx;
};

/* Rows between two looks at the memory of all columns. */
#define MEMORY_CHECK_ROWS 64

static StWriter *
writer_create(Relation rel, const StOptions *options, MemoryContext mcxt)
{
	TupleDesc	desc = RelationGetDescr(rel);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StWriter   *w = palloc0(sizeof(StWriter));

	w->mcxt = mcxt;
	w->natts = desc->natts;
	w->max_rows = options->row_group_rows;
	w->max_bytes = options->row_group_bytes;
	w->codec = options->codec;
	w->level = options->level;
	w->columns = palloc0(Max(1, desc->natts) * sizeof(CcColumn));
	for (int i = 0; i < desc->natts; i++)
		cc_column_init(&w->columns[i], TupleDescAttr(desc, i), mcxt);

	w->codec_ctx = sf_codec_ctx_create(mcxt);
	MemoryContextSwitchTo(old);
	return w;
}

static Size
sum_memory(const StWriter *w)
{
	Size		bytes = 0;

	for (int i = 0; i < w->natts; i++)
		bytes += cc_column_memory(&w->columns[i]);
	return bytes;
}

static void
writer_keys(StWriter *w, const StKeys *keys)
{
	w->keys = sf_keys_create(keys, w->mcxt);
}

static void
writer_add_keys(StWriter *w, const Datum *values, const bool *isnull)
{
	sf_keys_add(w->keys, values, isnull);
}

static void
writer_add(StWriter *w, const Datum *values, const bool *isnull)
{
	bool		large = false;

	for (int i = 0; i < w->natts; i++)
	{
		CcColumn   *col = &w->columns[i];
		uint64		before = col->arena_cap;

		cc_column_add(col, values[i], isnull[i]);
		large |= col->arena_cap != before;
	}
	w->nrows++;
	if (large || w->nrows % MEMORY_CHECK_ROWS == 0)
		w->memory = sum_memory(w);
}

static Size
writer_memory(const StWriter *w)
{
	return w->memory + sf_keys_memory(w->keys);
}

static bool
writer_full(const StWriter *w)
{
	return w->nrows >= w->max_rows || w->memory >= w->max_bytes;
}

static void
write_keys(const StWriter *w, StImage *img)
{
	uint32		first[CC_MAX_VECTORS + 1];
	uint32		n = (w->nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;

	for (uint32 i = 0; i <= n; i++)
		first[i] = Min(i * ST_VECTOR_SIZE, w->nrows);
	sf_keys_write(w->keys, n, first, img);
}

static void
writer_finish(StWriter *w, StImage *img, StGroup *group)
{
	MemoryContext work = AllocSetContextCreate(w->mcxt, "colcompress encode",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(w->mcxt);
	CcFooterColumn *entries = palloc0(Max(1, w->natts) * sizeof(CcFooterColumn));
	CcFooterHeader header = {
		.magic = CC_FOOTER_MAGIC,
		.version = CC_VERSION_NO_ARRAYS,
		.natts = w->natts,
		.nrows = w->nrows,
		.vector_size = ST_VECTOR_SIZE
	};

	for (int i = 0; i < w->natts; i++)
	{
		MemoryContextSwitchTo(work);
		cc_column_encode(&w->columns[i], img, w->codec, w->level,
						 w->codec_ctx, &entries[i]);
		if (w->columns[i].has_arrays)
			header.version = CC_FORMAT_VERSION;
		MemoryContextReset(work);
	}
	MemoryContextSwitchTo(old);

	group->format_version = header.version;
	header.checksum = st_checksum64(entries, w->natts * sizeof(CcFooterColumn),
									CC_FOOTER_MAGIC);
	group->footer_off = st_image_len(img);
	group->footer_len = sizeof(header) + w->natts * sizeof(CcFooterColumn);
	st_image_append(img, &header, sizeof(header));
	st_image_append(img, entries, w->natts * sizeof(CcFooterColumn));
	write_keys(w, img);
	MemoryContextDelete(work);
}

static uint64
column_bytes(const void *footer, AttrNumber attno)
{
	CcFooterColumn entry;

	memcpy(&entry, (const char *) footer + sizeof(CcFooterHeader) +
		   (attno - 1) * sizeof(entry), sizeof(entry));
	return entry.blob_len + entry.blocks_len + entry.meta_len;
}

const StFormat cc_format = {
	.am_name = "colcompress",
	.format_version = CC_FORMAT_VERSION,
	.writer_create = writer_create,
	.writer_keys = writer_keys,
	.writer_add_keys = writer_add_keys,
	.writer_add = writer_add,
	.writer_memory = writer_memory,
	.writer_full = writer_full,
	.writer_finish = writer_finish,
	.column_bytes = column_bytes,
	.reader_open = cc_reader_open,
	.reader_attach = cc_reader_attach,
	.reader_describe = cc_reader_describe,
	.reader_row = cc_reader_row,
	.reader_close = cc_reader_close
};
