/*-------------------------------------------------------------------------
 *
 * rc_reader.c
 *	  Opens row groups: footer, index of batches.
 *
 * A reader owns a memory context below the caller's: footer, schemes of the
 * columns that were asked for, zones, and its batches.  It reads through
 * st_read_image(), which checks every page; what it parses it treats as
 * hostile all the same.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "rc_reader.h"
#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_checksum.h"
#include "st_compat.h"
#include "st_file.h"
#include "st_int.h"

void
rc_corrupt(const StReader *r, const char *what)
{
	sf_corrupt(r->rel, &r->group, what);
}

void
rc_ensure(StReader *r, uint8 **buf, Size *cap, Size need)
{
	sf_ensure(r->mcxt, buf, cap, need, 128);
}

static void
take_int_array(StReader *r, StByteReader *b, int64 *dst)
{
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	if (p == NULL || st_int_decode(p, len, r->nbatches, (int64_t *) dst) != ST_OK)
		rc_corrupt(r, "index of batches");
}

/*
 * Rows and places of batches.  Proves that batches have rows, at most
 * RC_MAX_BATCH_ROWS each, and lie inside of the image.
 */
static void
read_index(StReader *r, const uint8 *bytes, Size len)
{
	int64	   *v = palloc(ST_VECTOR_SIZE * sizeof(int64));
	int64	   *lens = palloc(ST_VECTOR_SIZE * sizeof(int64));
	uint64		image_len = r->group.image_len;
	StByteReader b;

	r->batch_first = MemoryContextAlloc(r->mcxt, (r->nbatches + 1) * sizeof(uint32));
	r->batch_off = MemoryContextAlloc(r->mcxt, r->nbatches * sizeof(uint64));
	r->batch_len = MemoryContextAlloc(r->mcxt, r->nbatches * sizeof(uint32));
	st_reader_init(&b, bytes, len);

	take_int_array(r, &b, v);
	for (uint32 i = 0; i < r->nbatches; i++)
	{
		int64		end = i + 1 < r->nbatches ? v[i + 1] : r->nrows;

		if ((i == 0 && v[0] != 0) || end <= v[i] || end > r->nrows ||
			end - v[i] > RC_MAX_BATCH_ROWS)
			rc_corrupt(r, "index of batches");
		r->batch_first[i] = (uint32) v[i];
	}
	r->batch_first[r->nbatches] = r->nrows;

	take_int_array(r, &b, v);
	take_int_array(r, &b, lens);
	for (uint32 i = 0; i < r->nbatches; i++)
	{
		if (v[i] < 0 || (uint64) v[i] > image_len || lens[i] < 0 ||
			lens[i] > MaxAllocSize || (uint64) lens[i] > image_len - v[i])
			rc_corrupt(r, "index of batches");
		r->batch_off[i] = v[i];
		r->batch_len[i] = (uint32) lens[i];
	}
	/* bytes of large values: whether there are any */
	take_int_array(r, &b, v);
	for (uint32 i = 0; i < r->nbatches; i++)
		r->has_large |= v[i] != 0;
	if (st_reader_finish(&b) != ST_OK)
		rc_corrupt(r, "index of batches");
	pfree(lens);
	pfree(v);
}

static void
read_footer(StReader *r)
{
	const StGroup *g = &r->group;
	RcFooterHeader h;
	Size		entries_len;
	uint8	   *index;

	sf_check_version(r->rel, g, g->format_version, RC_FORMAT_VERSION);
	if (g->footer_len < sizeof(h) || g->footer_len > g->image_len ||
		g->footer_off > g->image_len - g->footer_len)
		rc_corrupt(r, "footer's place");
	st_read_image(r->rel, g, g->footer_off, sizeof(h), &h);
	if (h.magic != RC_FOOTER_MAGIC)
		rc_corrupt(r, "footer");
	sf_check_version(r->rel, g, h.version, RC_FORMAT_VERSION);
	entries_len = h.natts * sizeof(RcFooterColumn);
	if (h.nrows != g->nrows || h.nrows == 0 || h.nrows > SF_MAX_ROWS ||
		h.nbatches == 0 || h.nbatches > RC_MAX_BATCHES ||
		h.natts > MaxAttrNumber || st_codec_name(h.codec) == NULL ||
		h.index_len > g->footer_len ||
		g->footer_len != sizeof(h) + entries_len + h.index_len)
		rc_corrupt(r, "footer");
	r->natts = h.natts;
	r->nrows = h.nrows;
	r->nbatches = h.nbatches;
	r->codec = h.codec;
	r->entries = MemoryContextAllocZero(r->mcxt, Max(1, entries_len));
	if (entries_len > 0)
		st_read_image(r->rel, g, g->footer_off + sizeof(h), entries_len, r->entries);
	index = palloc(Max(1, h.index_len));
	if (h.index_len > 0)
		st_read_image(r->rel, g, g->footer_off + sizeof(h) + entries_len,
					  h.index_len, index);
	if ((st_checksum64(r->entries, entries_len, RC_FOOTER_MAGIC) ^
		 st_checksum64(index, h.index_len, h.nrows)) != h.checksum)
		rc_corrupt(r, "footer");
	read_index(r, index, h.index_len);
	pfree(index);
}

/* Before the memory of the batches goes, which is before the reader's. */
static void
release_batches(void *arg)
{
	rc_cache_forget((StReader *) arg);
}

/* Before the context's memory goes: what does not live in it. */
static void
release_reader(void *arg)
{
	StReader   *r = (StReader *) arg;

	for (int i = 0; i < r->nchunks && r->chunks != NULL; i++)
		if (r->chunks[i] != NULL)
			st_codec_dict_free(r->chunks[i]->codec_dict);
}

StReader *
rc_reader_open(Relation rel, const StGroup *group, MemoryContext mcxt)
{
	MemoryContext own = AllocSetContextCreate(mcxt, "rowcompress reader",
											  ALLOCSET_SMALL_SIZES);
	StReader   *r = MemoryContextAllocZero(own, sizeof(StReader));

	r->mcxt = own;
	r->rel = rel;
	r->desc = RelationGetDescr(rel);
	r->group = *group;
	r->verified = MemoryContextAllocZero(own, (group->nblocks + 63) / 64 * sizeof(uint64));
	r->release.func = release_reader;
	r->release.arg = r;
	MemoryContextRegisterResetCallback(own, &r->release);

	read_footer(r);
	r->chunks = MemoryContextAllocZero(own, Max(1, r->desc->natts) * sizeof(RcChunk *));
	r->nchunks = r->desc->natts;
	r->batch_mcxt = AllocSetContextCreate(own, "rowcompress batches",
										  ALLOCSET_DEFAULT_SIZES);
	r->release_batches.func = release_batches;
	r->release_batches.arg = r;
	MemoryContextRegisterResetCallback(r->batch_mcxt, &r->release_batches);
	return r;
}

void
rc_reader_attach(StReader *r, Relation rel)
{
	r->rel = rel;
	r->desc = RelationGetDescr(rel);
}

void
rc_reader_describe(StReader *r, TupleDesc desc)
{
	Assert(desc->natts <= r->nchunks);
	r->desc = desc;
}

void
rc_reader_close(StReader *r)
{
	MemoryContextDelete(r->mcxt);
}

uint32
rc_reader_nbatches(const StReader *r)
{
	return r->nbatches;
}

uint32
rc_reader_batch_start(const StReader *r, uint32 batchno)
{
	Assert(batchno <= r->nbatches);
	return r->batch_first[batchno];
}

uint32
rc_reader_batch_of_row(const StReader *r, uint32 row)
{
	uint32		lo = 0;
	uint32		hi = r->nbatches;

	while (hi - lo > 1)
	{
		uint32		mid = lo + (hi - lo) / 2;

		if (r->batch_first[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

uint32
rc_reader_batch_bytes(const StReader *r, uint32 batchno)
{
	Assert(batchno < r->nbatches);
	return r->batch_len[batchno];
}

uint32
rc_reader_batch_pages(const StReader *r, uint32 batchno)
{
	uint32		page = st_image_page_bytes();
	uint32		before = r->batch_off[batchno] % page;

	Assert(batchno < r->nbatches);
	return (before + r->batch_len[batchno] + page - 1) / page;
}

uint64
rc_reader_bytes_decoded(const StReader *r)
{
	return r->bytes_decoded;
}

void
rc_read(StReader *r, uint64 off, Size len, void *dst)
{
	st_read_image_verified(r->rel, &r->group, off, len, dst, r->verified);
}
