/*-------------------------------------------------------------------------
 *
 * rc_writer.c
 *	  Rows in; rc_image.c makes a row group of them.
 *
 * Owns one RcColumn per attribute and loose cuts between batches, which are
 * made as rows come: a batch ends when heap would need batch_bytes for it.
 * rc_cut.c makes the final ones.  A group is full at row_group_rows rows,
 * row_group_bytes bytes or RC_MAX_BATCHES loose batches; or when by the groups
 * before it, it takes as many pages as it may have batches.
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

#include "rc_image.h"
#include "rc_reader.h"
#include "sf_bytes.h"
#include "st_compat.h"

struct StWriter
{
	MemoryContext own;			/* of the writer, kept from group to group */
	MemoryContext mcxt;			/* of the group */
	struct GroupHold *hold;		/* in the group's context; NULL: a spare */
	Oid			relid;
	RcOptions	options;
	RcRows		rows;
	uint32		capacity;		/* rows that there are weights for */
	uint32		batch_weight;	/* of the open batch, */
	uint64		weight;			/* and of all rows */
	uint64		full_weight;	/* that makes the group full */
	RcTotals	totals;
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
	for (int i = 0; i < w->rows.natts && w->rows.columns; i++)
		rc_column_release(&w->rows.columns[i]);
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
	w->rows.columns = MemoryContextAllocZero(own, Max(1, desc->natts) * sizeof(RcColumn));
	w->rows.natts = desc->natts;
	for (int i = 0; i < w->rows.natts; i++)
	{
		SfColumnType type;

		sf_column_type(TupleDescAttr(desc, i), &type);
		rc_column_init(&w->rows.columns[i], &type, &w->totals, own);
	}
	w->rows.codec.mcxt = own;
	w->rows.codec.ctx = sf_codec_ctx_create(own);
	return w;
}

static bool
same_type(const SfColumnType *a, const SfColumnType *b)
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
	if (w->relid != RelationGetRelid(rel) || w->rows.natts != desc->natts ||
		MemoryContextGetParent(w->own) != parent)
	{
		MemoryContextDelete(w->own);
		return NULL;
	}
	for (int i = 0; i < w->rows.natts; i++)
	{
		SfColumnType type;

		sf_column_type(TupleDescAttr(desc, i), &type);
		if (!same_type(&type, &w->rows.columns[i].type))
		{
			MemoryContextDelete(w->own);
			return NULL;
		}
		rc_column_reset(&w->rows.columns[i]);
	}
	w->rows.nrows = 0;
	w->rows.loose.n = 0;
	w->batch_weight = 0;
	w->weight = 0;
	w->totals.bytes = 0;
	w->totals.memory -= w->totals.large;
	w->totals.large = 0;
	return w;
}

static StWriter *
writer_create(Relation rel, const StOptions *options, MemoryContext mcxt)
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

	w->options = *(const RcOptions *) options;
	w->rows.codec.codec = w->options.store.codec;
	w->rows.codec.level = w->options.store.level;
	w->rows.codec.group_mcxt = mcxt;
	w->rows.batch_bytes = w->options.batch_bytes;
	w->rows.keys = NULL;
	w->full_weight = rc_cut_group_weight(&w->rows.density, st_image_page_bytes());
	return w;
}

/* ---- rows ---- */

static void
writer_keys(StWriter *w, const StKeys *keys)
{
	w->rows.keys = sf_keys_create(keys, w->mcxt);
}

static void
writer_add_keys(StWriter *w, const Datum *values, const bool *isnull)
{
	sf_keys_add(w->rows.keys, values, isnull);
}

static pg_noinline void
grow_weights(StWriter *w)
{
	uint32		cap = Max(RC_MAX_BATCH_ROWS, 2 * w->capacity);
	Size		bytes = (Size) cap * sizeof(uint32);

	w->rows.weights = w->rows.weights ? repalloc_huge(w->rows.weights, bytes) :
		MemoryContextAllocHuge(w->own, bytes);
	w->totals.memory += (Size) (cap - w->capacity) * sizeof(uint32);
	w->capacity = cap;
}

static void
writer_add(StWriter *w, const Datum *values, const bool *isnull)
{
	RcBatches  *loose = &w->rows.loose;
	Size		weight = ROW_WEIGHT;

	if (w->rows.nrows == 0 || w->batch_weight >= w->options.batch_bytes ||
		w->rows.nrows - loose->first[loose->n - 1] >= RC_MAX_BATCH_ROWS)
	{
		Assert(loose->n < RC_MAX_BATCHES);
		loose->first[loose->n++] = w->rows.nrows;
		w->batch_weight = 0;
	}
	if (w->rows.nrows == w->capacity)
		grow_weights(w);
	for (int i = 0; i < w->rows.natts; i++)
		weight += rc_column_add(&w->rows.columns[i], &w->rows.codec, values[i], isnull[i]);
	weight = Min(weight, PG_INT32_MAX);
	w->rows.weights[w->rows.nrows++] = (uint32) weight;
	w->batch_weight += weight;
	w->weight += weight;
}

static Size
writer_memory(const StWriter *w)
{
	return w->totals.memory + w->rows.codec.packed_cap + sf_keys_memory(w->rows.keys);
}

/*
 * Full by rows, by bytes, or when the next row might need one batch too many,
 * or all batches would not fit one page each.
 */
static bool
writer_full(const StWriter *w)
{
	return w->rows.nrows >= w->options.store.row_group_rows ||
		w->totals.bytes >= w->options.store.row_group_bytes ||
		w->weight >= w->full_weight ||
		(w->rows.loose.n == RC_MAX_BATCHES &&
		 (w->batch_weight >= w->options.batch_bytes ||
		  w->rows.nrows - w->rows.loose.first[RC_MAX_BATCHES - 1] >= RC_MAX_BATCH_ROWS));
}

static void
writer_finish(StWriter *w, StImage *img, StGroup *group)
{
	w->rows.loose.first[w->rows.loose.n] = w->rows.nrows;
	rc_image_write(&w->rows, w->mcxt, img, group);
}

static uint64
column_bytes(const void *footer, AttrNumber attno)
{
	RcFooterColumn entry;

	memcpy(&entry, (const char *) footer + sizeof(RcFooterHeader) +
		   (attno - 1) * sizeof(entry), sizeof(entry));
	return entry.stored_bytes;
}

const StFormat rc_format = {
	.am_name = "rowcompress",
	.format_version = RC_FORMAT_VERSION,
	.writer_create = writer_create,
	.writer_keys = writer_keys,
	.writer_add_keys = writer_add_keys,
	.writer_add = writer_add,
	.writer_memory = writer_memory,
	.writer_full = writer_full,
	.writer_finish = writer_finish,
	.column_bytes = column_bytes,
	.reader_open = rc_reader_open,
	.reader_attach = rc_reader_attach,
	.reader_describe = rc_reader_describe,
	.reader_row = rc_reader_row,
	.reader_close = rc_reader_close
};
