/*-------------------------------------------------------------------------
 *
 * rc_image.c
 *	  The image of a row group: batches, metas, footer (rc_format.h).
 *
 * Batch by batch, rows are encoded, and encoded anew while rc_cut.c wants
 * another number of them; only then large values, and the batch behind them,
 * go to the image.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "rc_image.h"
#include "sf_bytes.h"
#include "st_checksum.h"
#include "st_compat.h"
#include "st_yield.h"

/* Batches under construction, and their index. */
typedef struct ImageBatches
{
	RcRows	   *rows;
	const RcScheme *schemes;
	StImage    *img;
	RcBatches	batches;
	int64		first[RC_MAX_BATCHES];
	int64		off[RC_MAX_BATCHES];
	int64		len[RC_MAX_BATCHES];
	int64		large[RC_MAX_BATCHES];

	/* of the batch at hand */
	StringInfoData buf;			/* its pieces, */
	uint32	   *ends;			/* where they end in it, */
	uint64	   *large_ends;		/* and where each column's large values do in
								 * the image */
} ImageBatches;

/* Entries of a directory are as short as its pieces allow. */
static Size
directory_entry(const ImageBatches *b)
{
	return b->buf.len <= PG_UINT16_MAX ? sizeof(uint16) : sizeof(uint32);
}

/* Encodes rows; returns the bytes of the batch, large values left out. */
static Size
encode_batch(ImageBatches *b, uint32 first, uint32 n)
{
	RcRows	   *rows = b->rows;
	uint64		large_off = st_image_len(b->img);

	resetStringInfo(&b->buf);
	for (int i = 0; i < rows->natts; i++)
	{
		rc_piece_encode(&rows->columns[i], &rows->codec, &b->schemes[i], first, n,
						&large_off, &b->buf);
		b->ends[i] = b->buf.len;
		b->large_ends[i] = large_off;
	}
	return b->buf.len + rows->natts * directory_entry(b);
}

/*
 * Leaves the rest of a page empty if the batch touches fewer pages then; not
 * if that is much, compared with what is written.
 */
static void
skip_to_page(StImage *img, Size len, uint64 large)
{
	static const char zeros[1024] = {0};
	uint32		page = st_image_page_bytes();
	uint32		used = st_image_len(img) % page;
	uint32		rest = page - used;

	if (used == 0 || len == 0 || (used + len - 1) / page == (len - 1) / page ||
		rest > (page + large) / RC_GAP_SHARE)
		return;
	for (uint32 n; rest > 0; rest -= n)
	{
		n = Min(rest, sizeof(zeros));
		st_image_append(img, zeros, n);
	}
}

static void
append_directory(ImageBatches *b)
{
	int			natts = b->rows->natts;
	uint16	   *short_ends;

	if (directory_entry(b) == sizeof(uint32))
	{
		st_image_append(b->img, b->ends, natts * sizeof(uint32));
		return;
	}
	short_ends = palloc(Max(1, natts) * sizeof(uint16));
	for (int i = 0; i < natts; i++)
		short_ends[i] = (uint16) b->ends[i];
	st_image_append(b->img, short_ends, natts * sizeof(uint16));
	pfree(short_ends);
}

/* The encoded batch goes to the image. */
static void
append_batch(ImageBatches *b, uint32 first, uint32 n, Size len, RcFooterColumn *entries)
{
	RcRows	   *rows = b->rows;
	StImage    *img = b->img;
	uint64		start = st_image_len(img);
	uint32		k = b->batches.n - 1;

	for (int i = 0; i < rows->natts; i++)
	{
		rc_large_write(&rows->columns[i], first, n, img);
		Assert(st_image_len(img) == b->large_ends[i]);
		entries[i].stored_bytes += b->ends[i] - (i > 0 ? b->ends[i - 1] : 0);
		entries[i].stored_bytes += b->large_ends[i] - (i > 0 ? b->large_ends[i - 1] : start);
	}
	b->first[k] = first;
	b->large[k] = st_image_len(img) - start;
	skip_to_page(img, len, b->large[k]);
	b->off[k] = st_image_len(img);
	b->len[k] = len;
	append_directory(b);
	st_image_append(img, b->buf.data, b->buf.len);
	Assert(st_image_len(img) - b->off[k] == len);
}

static void
write_batches(ImageBatches *b, RcFooterColumn *entries)
{
	RcRows	   *rows = b->rows;
	RcCut		cut;

	initStringInfo(&b->buf);
	b->ends = palloc(Max(1, rows->natts) * sizeof(uint32));
	b->large_ends = palloc(Max(1, rows->natts) * sizeof(uint64));
	rc_cut_begin(&cut, rows->weights, rows->nrows, rows->batch_bytes, &rows->loose,
				 &rows->density, st_image_page_bytes(), &b->batches);
	while (rc_cut_propose(&cut, st_image_len(b->img)))
	{
		Size		len;

		do
		{
			CHECK_FOR_INTERRUPTS();
			st_yield();
			len = encode_batch(b, cut.first, cut.n);
		} while (!rc_cut_accept(&cut, len));
		append_batch(b, cut.first, cut.n, len, entries);
	}
	pfree(b->buf.data);
	pfree(b->ends);
	pfree(b->large_ends);
}

/* Fills the entry; zones and scheme go to the image. */
static void
write_meta(ImageBatches *b, int att, RcFooterColumn *entry)
{
	RcColumn   *col = &b->rows->columns[att];
	const RcScheme *scheme = &b->schemes[att];
	StImage    *img = b->img;
	StringInfoData meta;

	entry->kind = col->type.kind;
	entry->typid = col->type.typid;
	entry->is_signed = col->type.is_signed;
	entry->nnulls = col->storage == SF_STORE_NONE ? b->rows->nrows : col->nnulls;
	entry->raw_bytes = col->bytes;
	entry->meta_off = st_image_len(img);
	if (entry->nnulls == b->rows->nrows)
		return;

	/* large values are gone, but zones do not look at them */
	initStringInfo(&meta);
	rc_zone_write(col, scheme, &b->batches, &meta);
	entry->zones_len = meta.len;
	rc_scheme_write(col, &b->rows->codec, scheme, &meta);
	entry->scheme_len = meta.len - entry->zones_len;
	entry->stored_bytes += meta.len;
	st_image_append(img, meta.data, meta.len);
	pfree(meta.data);
}

static void
write_footer(const ImageBatches *b, const RcFooterColumn *entries, StGroup *group)
{
	const RcRows *rows = b->rows;
	RcFooterHeader header = {
		.magic = RC_FOOTER_MAGIC,
		.version = RC_FORMAT_VERSION,
		.natts = rows->natts,
		.nrows = rows->nrows,
		.nbatches = b->batches.n,
		.codec = rows->codec.codec
	};
	Size		entries_len = rows->natts * sizeof(RcFooterColumn);
	StringInfoData index;

	initStringInfo(&index);
	sf_put_int_array(&index, b->first, b->batches.n);
	sf_put_int_array(&index, b->off, b->batches.n);
	sf_put_int_array(&index, b->len, b->batches.n);
	sf_put_int_array(&index, b->large, b->batches.n);
	header.index_len = index.len;
	header.checksum = st_checksum64(entries, entries_len, RC_FOOTER_MAGIC) ^
		st_checksum64(index.data, index.len, rows->nrows);
	group->footer_off = st_image_len(b->img);
	group->footer_len = sizeof(header) + entries_len + index.len;
	group->format_version = RC_FORMAT_VERSION;
	st_image_append(b->img, &header, sizeof(header));
	st_image_append(b->img, entries, entries_len);
	st_image_append(b->img, index.data, index.len);
	pfree(index.data);
}

void
rc_image_write(RcRows *rows, MemoryContext mcxt, StImage *img, StGroup *group)
{
	MemoryContext work = AllocSetContextCreate(mcxt, "rowcompress encode",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(work);
	int			natts = Max(1, rows->natts);
	RcFooterColumn *entries = palloc0(natts * sizeof(RcFooterColumn));
	RcScheme   *schemes = palloc0(natts * sizeof(RcScheme));
	ImageBatches *b = palloc(sizeof(ImageBatches));

	for (int i = 0; i < rows->natts; i++)
		rc_scheme_choose(&rows->columns[i], &rows->codec, &rows->loose, &schemes[i]);
	b->rows = rows;
	b->schemes = schemes;
	b->img = img;
	write_batches(b, entries);
	for (int i = 0; i < rows->natts; i++)
		write_meta(b, i, &entries[i]);
	write_footer(b, entries, group);
	sf_keys_write(rows->keys, b->batches.n, b->batches.first, img);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
}
