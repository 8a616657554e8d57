/*-------------------------------------------------------------------------
 *
 * rc_cache.c
 *	  Batches that fetches by TID have used, kept for the next one.
 *
 * The store keeps readers of row groups across statements, by file,
 * incarnation and group; each reader knows its batches by number, and here
 * all of them stand in one list, least recently used first.  They may have
 * three quarters of rowcompress.cache_size, so that single batches leave before
 * the store closes a reader with all that it has.  The batch that a reader's
 * last fetch was from stays: its values may be in use.
 *
 * A batch leaves with its reader: when the row group's relation changes, or
 * the memory context goes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rc_reader.h"
#include "st_compat.h"
#include "st_read.h"

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
	Size		limit = ST_READER_CACHE_BYTES / 4 * 3;
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
