/*-------------------------------------------------------------------------
 *
 * rc_writer.c
 *	  Rows in, image of a row group out.
 *
 * Owns one RcColumn per attribute and the cuts between batches, which are
 * made as rows come: a batch ends when heap would need batch_bytes for it.  A
 * group is full at row_group_rows rows, row_group_bytes bytes or
 * RC_MAX_BATCHES batches.
 *
 * A load writes group after group of the same table.  What they can share
 * (buffers, working memory of codecs, trained dictionaries, hints of
 * encoders) belongs to the writer, whose context hangs beside the group's,
 * below the same parent: when a group's context goes, its writer is kept for
 * the next group, one writer at most.  Large values, and all that is made at
 * the end of a group, are in the group's own context.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/itemid.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "rc_column.h"
#include "rc_options.h"
#include "rc_reader.h"
#include "rc_writer.h"
#include "st_checksum.h"
#include "st_compat.h"

struct StWriter
{
	MemoryContext own;			/* of the writer, kept from group to group */
	MemoryContext mcxt;			/* of the group */
	struct GroupHold *hold;		/* in the group's context; NULL: a spare */
	Oid			relid;
	int			natts;
	uint32		nrows;
	RcWriteOptions options;
	RcBatches	batches;
	uint32		batch_weight;	/* of the open batch */
	RcCodec		codec;
	RcTotals	totals;
	RcColumn   *columns;
	MemoryContextCallback release;
};

/* Ties a writer to the context of its group. */
typedef struct GroupHold
{
	StWriter   *w;
	MemoryContextCallback release;
} GroupHold;

/* What a row costs a heap page beside its values. */
#define ROW_WEIGHT (MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData))

/* A writer that holds more is not kept for the next group. */
#define SPARE_MAX_BYTES ((Size) 128 * 1024 * 1024)

/* The writer of the last group that ended, if its load may go on. */
static StWriter *spare = NULL;

/* ---- writers from group to group ---- */

/* The group's context goes: the writer stays for the next one. */
static void
group_ended(void *arg)
{
	GroupHold  *hold = (GroupHold *) arg;
	StWriter   *w = hold->w;

	if (w == NULL)
		return;					/* it went first */
	w->hold = NULL;
	if (spare == NULL && w->totals.memory - w->totals.large <= SPARE_MAX_BYTES)
		spare = w;
	else
		MemoryContextDelete(w->own);
}

/* The writer's context goes, with that of the load at the latest. */
static void
release_writer(void *arg)
{
	StWriter   *w = (StWriter *) arg;

	if (spare == w)
		spare = NULL;
	if (w->hold)
		w->hold->w = NULL;
	for (int i = 0; i < w->natts && w->columns; i++)
		rc_column_release(&w->columns[i]);
	st_codec_ctx_free(w->codec.ctx);
}

static StWriter *
make_writer(Relation rel, MemoryContext parent)
{
	TupleDesc	desc = RelationGetDescr(rel);
	MemoryContext own = AllocSetContextCreate(parent, "rowcompress writer",
											  ALLOCSET_DEFAULT_SIZES);
	StWriter   *w = MemoryContextAllocZero(own, sizeof(StWriter));

	w->own = own;
	w->relid = RelationGetRelid(rel);
	w->release.func = release_writer;
	w->release.arg = w;
	MemoryContextRegisterResetCallback(own, &w->release);
	w->columns = MemoryContextAllocZero(own, Max(1, desc->natts) * sizeof(RcColumn));
	w->natts = desc->natts;
	for (int i = 0; i < w->natts; i++)
	{
		RcColumnType type;

		rc_column_type(TupleDescAttr(desc, i), &type);
		rc_column_init(&w->columns[i], &type, &w->totals, own);
	}
	w->codec.mcxt = own;
	w->codec.ctx = st_codec_ctx_create();
	if (w->codec.ctx == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	return w;
}

static bool
same_type(const RcColumnType *a, const RcColumnType *b)
{
	return a->typid == b->typid && a->kind == b->kind && a->typlen == b->typlen &&
		a->typbyval == b->typbyval && a->is_signed == b->is_signed &&
		a->align == b->align && a->opfamily == b->opfamily &&
		a->byte_order == b->byte_order && a->compare == b->compare;
}

/* The spare writer, emptied, if it is one for this table and load. */
static StWriter *
take_spare(Relation rel, MemoryContext parent)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StWriter   *w = spare;

	if (w == NULL)
		return NULL;
	spare = NULL;
	if (w->relid != RelationGetRelid(rel) || w->natts != desc->natts ||
		MemoryContextGetParent(w->own) != parent)
	{
		MemoryContextDelete(w->own);
		return NULL;
	}
	for (int i = 0; i < w->natts; i++)
	{
		RcColumnType type;

		rc_column_type(TupleDescAttr(desc, i), &type);
		if (!same_type(&type, &w->columns[i].type))
		{
			MemoryContextDelete(w->own);
			return NULL;
		}
		rc_column_reset(&w->columns[i]);
	}
	w->nrows = 0;
	w->batches.n = 0;
	w->batch_weight = 0;
	w->totals.bytes = 0;
	w->totals.memory -= w->totals.large;
	w->totals.large = 0;
	return w;
}

StWriter *
rc_writer_create(Relation rel, MemoryContext mcxt)
{
	MemoryContext parent = MemoryContextGetParent(mcxt);
	GroupHold  *hold = MemoryContextAllocZero(mcxt, sizeof(GroupHold));
	StWriter   *w = take_spare(rel, parent);

	if (w == NULL)
		w = make_writer(rel, parent);
	w->mcxt = mcxt;
	w->hold = hold;
	hold->w = w;
	hold->release.func = group_ended;
	hold->release.arg = hold;
	MemoryContextRegisterResetCallback(mcxt, &hold->release);

	rc_write_options(rel, &w->options);
	w->codec.codec = w->options.codec;
	w->codec.level = w->options.level;
	w->codec.group_mcxt = mcxt;
	return w;
}

/* ---- rows ---- */

void
rc_writer_add(StWriter *w, const Datum *values, const bool *isnull)
{
	RcBatches  *batches = &w->batches;
	Size		weight = ROW_WEIGHT;

	if (w->nrows == 0 || w->batch_weight >= w->options.batch_bytes ||
		w->nrows - batches->first[batches->n - 1] >= RC_MAX_BATCH_ROWS)
	{
		Assert(batches->n < RC_MAX_BATCHES);
		batches->first[batches->n++] = w->nrows;
		w->batch_weight = 0;
	}
	for (int i = 0; i < w->natts; i++)
		weight += rc_column_add(&w->columns[i], &w->codec, values[i], isnull[i]);
	w->nrows++;
	w->batch_weight += Min(weight, PG_INT32_MAX);
}

uint32
rc_writer_rows(const StWriter *w)
{
	return w->nrows;
}

Size
rc_writer_memory(const StWriter *w)
{
	return w->totals.memory + w->codec.packed_cap;
}

/* Full by rows, by bytes, or when the next row might need one batch too many. */
bool
rc_writer_full(const StWriter *w)
{
	return w->nrows >= w->options.row_group_rows ||
		w->totals.bytes >= w->options.row_group_bytes ||
		(w->batches.n == RC_MAX_BATCHES &&
		 (w->batch_weight >= w->options.batch_bytes ||
		  w->nrows - w->batches.first[RC_MAX_BATCHES - 1] >= RC_MAX_BATCH_ROWS));
}

/* ---- image ---- */

/* Index of batches under construction. */
typedef struct BatchIndex
{
	int64		first[RC_MAX_BATCHES];
	int64		off[RC_MAX_BATCHES];
	int64		len[RC_MAX_BATCHES];
	int64		large[RC_MAX_BATCHES];
} BatchIndex;

/*
 * One batch: its pieces gather in buf while large values go to the image,
 * then the directory and the pieces follow.
 */
static void
write_batch(StWriter *w, const RcScheme *schemes, uint32 b, StImage *img,
			StringInfo buf, BatchIndex *index, RcFooterColumn *entries)
{
	uint32		first = w->batches.first[b];
	uint32		n = w->batches.first[b + 1] - first;
	uint64		start = st_image_len(img);
	uint32	   *ends = palloc(Max(1, w->natts) * sizeof(uint32));

	resetStringInfo(buf);
	for (int i = 0; i < w->natts; i++)
	{
		uint64		before = st_image_len(img) + buf->len;

		rc_piece_encode(&w->columns[i], &w->codec, &schemes[i], first, n, img, buf);
		entries[i].stored_bytes += st_image_len(img) + buf->len - before;
		ends[i] = buf->len;
	}
	index->first[b] = first;
	index->off[b] = st_image_len(img);
	index->large[b] = index->off[b] - start;
	if (buf->len <= PG_UINT16_MAX)
	{
		uint16	   *short_ends = palloc(Max(1, w->natts) * sizeof(uint16));

		for (int i = 0; i < w->natts; i++)
			short_ends[i] = (uint16) ends[i];
		st_image_append(img, short_ends, w->natts * sizeof(uint16));
		pfree(short_ends);
	}
	else
		st_image_append(img, ends, w->natts * sizeof(uint32));
	st_image_append(img, buf->data, buf->len);
	index->len[b] = st_image_len(img) - index->off[b];
	pfree(ends);
}

static void
write_batches(StWriter *w, const RcScheme *schemes, StImage *img,
			  RcFooterColumn *entries, StringInfo index_bytes)
{
	BatchIndex *index = palloc(sizeof(BatchIndex));
	StringInfoData buf;

	initStringInfo(&buf);
	for (uint32 b = 0; b < w->batches.n; b++)
	{
		CHECK_FOR_INTERRUPTS();
		write_batch(w, schemes, b, img, &buf, index, entries);
	}
	rc_put_int_array(index_bytes, index->first, w->batches.n);
	rc_put_int_array(index_bytes, index->off, w->batches.n);
	rc_put_int_array(index_bytes, index->len, w->batches.n);
	rc_put_int_array(index_bytes, index->large, w->batches.n);
	pfree(buf.data);
	pfree(index);
}

/* Fills the entry; zones and scheme go to the image. */
static void
write_meta(StWriter *w, int att, const RcScheme *scheme, StringInfo zones,
		   StImage *img, RcFooterColumn *entry)
{
	RcColumn   *col = &w->columns[att];
	StringInfoData meta;

	entry->kind = col->type.kind;
	entry->typid = col->type.typid;
	entry->is_signed = col->type.is_signed;
	entry->nnulls = col->storage == RC_STORE_NONE ? w->nrows : col->nnulls;
	entry->raw_bytes = col->bytes;
	entry->meta_off = st_image_len(img);
	if (entry->nnulls == w->nrows)
		return;

	initStringInfo(&meta);
	rc_scheme_write(col, &w->codec, scheme, &meta);
	entry->zones_len = zones->len;
	entry->scheme_len = meta.len;
	entry->stored_bytes += zones->len + meta.len;
	st_image_append(img, zones->data, zones->len);
	st_image_append(img, meta.data, meta.len);
	pfree(meta.data);
}

static void
write_footer(StWriter *w, const RcFooterColumn *entries, const StringInfo index,
			 StImage *img, StGroup *group)
{
	RcFooterHeader header = {
		.magic = RC_FOOTER_MAGIC,
		.version = RC_FORMAT_VERSION,
		.natts = w->natts,
		.nrows = w->nrows,
		.nbatches = w->batches.n,
		.index_len = index->len,
		.codec = w->codec.codec
	};
	Size		entries_len = w->natts * sizeof(RcFooterColumn);

	header.checksum = st_checksum64(entries, entries_len, RC_FOOTER_MAGIC) ^
		st_checksum64(index->data, index->len, w->nrows);
	group->footer_off = st_image_len(img);
	group->footer_len = sizeof(header) + entries_len + index->len;
	group->format_version = RC_FORMAT_VERSION;
	st_image_append(img, &header, sizeof(header));
	st_image_append(img, entries, entries_len);
	st_image_append(img, index->data, index->len);
}

void
rc_writer_finish(StWriter *w, StImage *img, StGroup *group)
{
	MemoryContext work = AllocSetContextCreate(w->mcxt, "rowcompress encode",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	RcFooterColumn *entries = palloc0(Max(1, w->natts) * sizeof(RcFooterColumn));
	RcScheme   *schemes = palloc0(Max(1, w->natts) * sizeof(RcScheme));
	StringInfo	zones = palloc0(Max(1, w->natts) * sizeof(StringInfoData));
	StringInfoData index;

	w->batches.first[w->batches.n] = w->nrows;
	for (int i = 0; i < w->natts; i++)
	{
		/* zones now: writing batches gives large values away */
		initStringInfo(&zones[i]);
		rc_scheme_choose(&w->columns[i], &w->codec, &w->batches, &schemes[i]);
		if (w->columns[i].storage != RC_STORE_NONE)
			rc_zone_write(&w->columns[i], &schemes[i], &w->batches, &zones[i]);
	}
	initStringInfo(&index);
	write_batches(w, schemes, img, entries, &index);
	for (int i = 0; i < w->natts; i++)
		write_meta(w, i, &schemes[i], &zones[i], img, &entries[i]);
	write_footer(w, entries, &index, img, group);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}

uint32
rc_max_rows(Relation rel)
{
	RcWriteOptions options;

	rc_write_options(rel, &options);
	return options.row_group_rows;
}

const StFormat rc_format = {
	.am_name = "rowcompress",
	.format_version = RC_FORMAT_VERSION,
	.writer_create = rc_writer_create,
	.writer_add = rc_writer_add,
	.writer_rows = rc_writer_rows,
	.writer_memory = rc_writer_memory,
	.writer_full = rc_writer_full,
	.writer_finish = rc_writer_finish,
	.reader_open = rc_reader_open,
	.reader_attach = rc_reader_attach,
	.reader_describe = rc_reader_describe,
	.reader_row = rc_reader_row,
	.reader_close = rc_reader_close,
	.max_rows = rc_max_rows
};
