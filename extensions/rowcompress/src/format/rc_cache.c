/*-------------------------------------------------------------------------
 *
 * rc_cache.c
 *	  Batches that fetches by TID have used, kept for the next one.
 *
 * The store keeps readers of row groups across statements, by file,
 * incarnation and group; each reader knows its batches by number, and here
 * all of them stand in one list, least recently used first, whose memory is
 * bounded by rowcompress.batch_cache_size.  The batch that a reader's last
 * fetch was from stays: its values may be in use.
 *
 * A batch leaves with its reader: when the row group's relation changes, or
 * the memory context goes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"

#include "rc_reader.h"
#include "st_compat.h"

static int	batch_cache_kb = 16 * 1024;

static dlist_head lru_list = DLIST_STATIC_INIT(lru_list);
static Size cache_bytes = 0;

/* Memory counted for a batch; it grows as columns are decoded. */
static void
batch_drop(RcBatch *batch, Size counted)
{
	dlist_delete(&batch->lru);
	cache_bytes -= counted;
	batch->reader->cached[batch->batchno] = NULL;
}

/* What the batch has grown since it was counted last. */
static void
recount(StReader *r)
{
	RcBatch    *batch = r->current;

	if (batch != NULL)
	{
		cache_bytes += batch->memory - batch->counted;
		batch->counted = batch->memory;
	}
}

static void
make_room(void)
{
	Size		limit = (Size) batch_cache_kb * 1024;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &lru_list)
	{
		RcBatch    *batch = dlist_container(RcBatch, lru, iter.cur);

		if (cache_bytes <= limit)
			return;
		if (batch->reader->current == batch)
			continue;
		batch_drop(batch, batch->counted);
		rc_batch_free(batch);
	}
}

RcBatch *
rc_cache_get(StReader *r, uint32 batchno, bool whole)
{
	RcBatch    *batch;

	if (r->current != NULL && r->current->batchno == batchno)
		return r->current;
	recount(r);
	r->current = NULL;
	if (r->cached == NULL)
		r->cached = MemoryContextAllocZero(r->mcxt, r->nbatches * sizeof(RcBatch *));
	batch = r->cached[batchno];
	if (batch != NULL)
	{
		if (whole)
			rc_batch_read_all(batch);
		dlist_delete(&batch->lru);
	}
	else
	{
		make_room();
		batch = rc_batch_load(r, batchno, whole);
		batch->counted = batch->memory;
		cache_bytes += batch->counted;
		r->cached[batchno] = batch;
	}
	dlist_push_tail(&lru_list, &batch->lru);
	r->current = batch;
	return batch;
}

void
rc_cache_forget(StReader *r)
{
	for (uint32 i = 0; r->cached != NULL && i < r->nbatches; i++)
		if (r->cached[i] != NULL)
			batch_drop(r->cached[i], r->cached[i]->counted);
	r->current = NULL;
}

void
rc_cache_init(void)
{
	DefineCustomIntVariable("rowcompress.batch_cache_size",
							"Sets the memory that a session keeps decoded row batches in.",
							"Row batches that index fetches have used; least recently used ones go first.",
							&batch_cache_kb,
							16 * 1024,
							64, 1024 * 1024,
							PGC_USERSET, GUC_UNIT_KB,
							NULL, NULL, NULL);
}
