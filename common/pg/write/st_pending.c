/*-------------------------------------------------------------------------
 *
 * st_pending.c
 *	  Pending writers: row groups under construction in this backend.
 *
 * A command that writes many rows reserves a range of row numbers, inserts a
 * provisional descriptor of that range, and gathers rows in a writer of the
 * format under their final (virtual) TIDs.  A flush writes the extent and
 * finishes the descriptor in place, so that it may happen at any moment:
 * in parallel mode, in another subtransaction, before commit.  xmin and cmin
 * of the rows are always the descriptor's.
 *
 * A group belongs to one (relation file, transaction id, command id).  It is
 * flushed when it is full, when another command or (sub)transaction writes
 * to the relation, when anything in this backend is about to read it, when
 * too much memory is pending, and before commit or prepare.  An abort
 * forgets it; the reserved numbers stay unused.
 *
 * An error inside of a flush leaves a writer that cannot be finished again.
 * If the flush ran in a subtransaction of the one that owns the rows, that
 * survives the error; so the entry is marked, and every later attempt to use
 * it fails until its owner is rolled back.  No row is lost silently.  Such a
 * flush cannot be cancelled (it takes about a second at most).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_index.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "st_options.h"
#include "st_row_log.h"
#include "st_space.h"
#include "st_write.h"

/* Memory of all writers of a backend together. */
#define ST_PENDING_MEMORY	((Size) 256 * 1024 * 1024)

/* A forced flush of a small group makes the next one begin this much later. */
#define ST_THRESHOLD_GROWTH	8

typedef struct StPendingKey
{
	Oid			relid;
	RelFileNumber file;
} StPendingKey;

struct StPending
{
	StPendingKey key;			/* first: hash key */
	dlist_node	node;			/* in entries */

	/* whose rows these are */
	TransactionId xid;
	SubTransactionId subid;
	CommandId	cid;

	bool		delta_only;		/* this command writes no row group */
	bool		bulk;			/* past the threshold */
	uint32		delta_rows;		/* written to the delta before that */
	uint32		threshold;

	/* the group under construction, writer == NULL if there is none */
	StWriter   *writer;
	const StFormat *format;
	MemoryContext mcxt;
	uint64		first_row;
	uint32		reserved;
	uint32		nrows;
	uint32		nversions;		/* of these, new versions of updated rows */
	Size		memory;
	StRowLog   *log;			/* for logical decoding, or NULL */
	bool		told;			/* log is NULL or has no rows */
	dlist_node	untold_node;	/* in untold otherwise */
	bool		flushing;		/* in a flush, or a flush failed */

	StGrowth	updated;		/* old versions of rows, see st_update_many.c */
};

static HTAB *pendings = NULL;	/* of the running transaction */

/*
 * The same in another order: those of the running subtransaction come first,
 * so that its end looks at no others.
 */
static dlist_head entries = DLIST_STATIC_INIT(entries);

/* Those whose log may have rows. */
static dlist_head untold = DLIST_STATIC_INIT(untold);
static Oid	held_relid = InvalidOid;	/* see st_catalog_hold() */
static int	active_writers = 0;
static Size pending_memory = 0;

/* ---- entries ---- */

static StPendingKey
pending_key(Relation rel)
{
	StPendingKey key;

	memset(&key, 0, sizeof(key));
	key.relid = RelationGetRelid(rel);
	key.file = st_locator_number(st_relation_locator(rel));
	return key;
}

static StPending *
pending_find(Relation rel)
{
	StPendingKey key;

	if (active_writers == 0)
		return NULL;
	key = pending_key(rel);
	return hash_search(pendings, &key, HASH_FIND, NULL);
}

static void
pending_set_told(StPending *p, bool told)
{
	if (p->told == told)
		return;
	p->told = told;
	if (told)
		dlist_delete(&p->untold_node);
	else
		dlist_push_head(&untold, &p->untold_node);
}

static void
pending_tell_rows(StPending *p, Relation rel)
{
	if (p->told)
		return;
	st_row_log_write(p->log, rel);
	pending_set_told(p, true);
}

/* Drops the group under construction, written or not. */
static void
pending_end_group(StPending *p)
{
	if (p->writer == NULL)
		return;
	pending_set_told(p, true);
	pending_memory -= p->memory;
	active_writers--;
	p->writer = NULL;
	p->log = NULL;
	p->memory = 0;
	p->flushing = false;
	MemoryContextDelete(p->mcxt);
	p->mcxt = NULL;
}

/* ---- flush ---- */

/*
 * Writes the group of an entry; rel is its relation.  forced: something other
 * than a full group asks for it.
 */
static void
pending_flush(StPending *p, Relation rel, bool forced)
{
	bool		foreign = p->subid != GetCurrentSubTransactionId();
	StGroup		group;
	StImage    *img;
	StCatalog	cat;

	if (p->writer == NULL)
		return;
	if (p->flushing)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rows inserted into relation \"%s\" by an earlier command cannot be written",
						RelationGetRelationName(rel)),
				 errdetail("Writing them was interrupted by an error."),
				 errhint("Roll back the transaction that inserted them.")));
	p->flushing = true;

	/* A cancel that rolls back a subtransaction must not cost older rows. */
	if (foreign)
		HOLD_CANCEL_INTERRUPTS();

	memset(&group, 0, sizeof(group));
	group.first_row = p->first_row;
	group.nrows = p->nrows;
	group.full = !forced;
	img = st_image_create(p->mcxt);
	p->format->writer_finish(p->writer, img, &group);

	/*
	 * A free extent is taken by deleting a tuple, and that must not be undone
	 * while the descriptor, inserted by another subtransaction, stays.
	 */
	st_extent_write(rel, img, &group, 1, foreign ? 0 : MaxBlockNumber);
	pending_tell_rows(p, rel);

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		elog(ERROR, "relation \"%s\" has lost its TOAST relation",
			 RelationGetRelationName(rel));
	st_descriptor_finish(&cat, &group);
	st_catalog_close(&cat);
	st_release_rows(rel, group.first_row + group.nrows,
					p->first_row + p->reserved);
	pgstat_count_heap_insert(rel, group.nrows - p->nversions);
	if (foreign)
		RESUME_CANCEL_INTERRUPTS();

	/* Alternating reads and writes must not make a swarm of small groups. */
	if (forced && p->nrows < ST_BULK_THRESHOLD)
	{
		p->bulk = false;
		p->delta_rows = 0;
		if (p->threshold < PG_INT32_MAX / ST_THRESHOLD_GROWTH)
			p->threshold *= ST_THRESHOLD_GROWTH;
	}
	pending_end_group(p);
}

/*
 * Flushes an entry whose relation the caller has not open.  Returns false if
 * the relation is gone or has got another file; an aborted subtransaction
 * may bring it back, so that the rows are kept.
 */
static bool
pending_flush_closed(StPending *p)
{
	Relation	rel;
	bool		same;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(p->key.relid)))
		return false;
	rel = table_open(p->key.relid, NoLock);
	same = p->key.file == st_locator_number(st_relation_locator(rel));
	if (same)
		pending_flush(p, rel, true);
	table_close(rel, NoLock);
	return same;
}

void
st_flush_pending(Relation rel)
{
	StPending  *p = pending_find(rel);

	if (p != NULL)
		pending_flush(p, rel, true);
}

/*
 * Rows of the running command, or of one that it is part of: a snapshot that
 * was taken for it does not see them.
 */
static bool
pending_is_hidden(const StPending *p, Snapshot snapshot)
{
	return snapshot != NULL && snapshot->snapshot_type == SNAPSHOT_MVCC &&
		p->cid >= snapshot->curcid;
}

void
st_flush_pending_for(Relation rel, Snapshot snapshot)
{
	StPending  *p = pending_find(rel);

	if (p != NULL && !pending_is_hidden(p, snapshot))
		pending_flush(p, rel, true);
}

void
st_pending_flush_stale(Relation rel)
{
	StPending  *p = pending_find(rel);

	if (p != NULL && p->cid != GetCurrentCommandId(false))
		pending_flush(p, rel, true);
}

void
st_pending_flush_row(Relation rel, uint64 row)
{
	StPending  *p = pending_find(rel);

	if (p != NULL && p->writer != NULL &&
		row - p->first_row < p->reserved)
		pending_flush(p, rel, true);
}

bool
st_pending_hides_row(Relation rel, uint64 row, Snapshot snapshot)
{
	StPending  *p = pending_find(rel);

	return p != NULL && p->writer != NULL && row - p->first_row < p->reserved &&
		pending_is_hidden(p, snapshot);
}

void
st_pending_discard(Relation rel)
{
	StPending  *p = pending_find(rel);

	if (p != NULL)
		pending_end_group(p);
}

/* Flushes the largest groups until enough memory is free. */
static void
pending_limit_memory(void)
{
	while (pending_memory > ST_PENDING_MEMORY)
	{
		HASH_SEQ_STATUS seq;
		StPending  *p;
		StPending  *largest = NULL;

		hash_seq_init(&seq, pendings);
		while ((p = hash_seq_search(&seq)) != NULL)
		{
			if (p->writer != NULL && !p->flushing &&
				(largest == NULL || p->memory > largest->memory))
				largest = p;
		}
		if (largest == NULL || !pending_flush_closed(largest))
			return;
	}
}

/* ---- inserts ---- */

/*
 * Must all rows go to the delta?  An exclusion constraint looks at values of
 * rows that another backend may still keep in memory; a table that output
 * plugins read as a catalog must be heap's; and one that becomes heap, or may
 * become heap again by a rollback, gets no row groups.
 */
static bool
relation_delta_only(Relation rel)
{
	List	   *indexes;
	ListCell   *lc;
	bool		exclusion = false;

	if (RelationIsAccessibleInLogicalDecoding(rel) || st_meta_leaving(rel) ||
		st_meta_adopted_now(rel))
		return true;

	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for index %u", lfirst_oid(lc));
		exclusion = ((Form_pg_index) GETSTRUCT(tuple))->indisexclusion;
		ReleaseSysCache(tuple);
		if (exclusion)
			break;
	}
	list_free(indexes);
	return exclusion;
}

static void
pendings_create(void)
{
	HASHCTL		ctl = {.keysize = sizeof(StPendingKey), .entrysize = sizeof(StPending)};

	ctl.hcxt = TopTransactionContext;
	pendings = hash_create("pending row groups", 16, &ctl,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * Locks the TOAST relation of rel and its indexes until the transaction ends,
 * if index entries are going to be made.  A unique check may have to look
 * there while it holds an index page, and must not wait for a lock then.
 */
void
st_catalog_hold(Relation rel)
{
	StCatalog	cat;

	if (!rel->rd_rel->relhasindex || held_relid == RelationGetRelid(rel))
		return;
	if (st_catalog_open(&cat, rel, RowExclusiveLock))
		st_catalog_close(&cat);
	held_relid = RelationGetRelid(rel);
}

StPending *
st_pending_get(Relation rel, CommandId cid)
{
	TransactionId xid = GetCurrentTransactionId();
	StPendingKey key = pending_key(rel);
	StPending  *p;
	bool		found;

	st_catalog_hold(rel);
	if (pendings == NULL)
		pendings_create();
	p = hash_search(pendings, &key, HASH_ENTER, &found);
	if (found && p->xid == xid && p->cid == cid)
		return p->delta_only ? NULL : p;

	if (found)
	{
		pending_flush(p, rel, true);
		dlist_delete(&p->node);
	}
	memset((char *) p + sizeof(p->key), 0, sizeof(*p) - sizeof(p->key));
	p->told = true;
	dlist_push_head(&entries, &p->node);
	p->xid = xid;
	p->subid = GetCurrentSubTransactionId();
	p->cid = cid;
	p->threshold = ST_BULK_THRESHOLD;
	p->format = st_relation_format(rel);
	return p;
}

/*
 * Begins a row group.  The descriptor comes first: from now on a dirty
 * snapshot finds the inserting transaction, and vacuum the range.
 */
static void
pending_begin_group(StPending *p, Relation rel, CommandId cid, StInsertOptions options)
{
	StGroup		group;
	StDescriptorRunsPayload payload;
	Size		len;
	StCatalog	cat;

	CheckForSerializableConflictIn(rel, NULL, InvalidBlockNumber);

	memset(&group, 0, sizeof(group));
	group.nrows = st_options_get(rel)->row_group_rows;
	group.first_row = st_reserve_rows(rel, group.nrows);
	group.start_block = InvalidBlockNumber;
	len = st_descriptor_encode(&group, false, &payload);

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		elog(ERROR, "relation \"%s\" has no TOAST relation",
			 RelationGetRelationName(rel));
	st_catalog_insert(&cat, ST_DESCRIPTOR, group.first_row, &payload,
					  len, cid, options & HEAP_INSERT_FROZEN,
					  NULL);
	st_catalog_close(&cat);

	p->first_row = group.first_row;
	p->reserved = group.nrows;
	p->nrows = 0;
	p->nversions = 0;
	p->memory = 0;
	p->flushing = false;
	p->mcxt = AllocSetContextCreate(TopTransactionContext,
									"pending row group",
									ALLOCSET_DEFAULT_SIZES);
	p->writer = p->format->writer_create(rel, st_options_get(rel), p->mcxt);
	p->log = st_row_log_wanted(rel) && (options & HEAP_INSERT_NO_LOGICAL) == 0 ?
		st_row_log_create(p->mcxt, p->xid) : NULL;
	active_writers++;
}

int
st_pending_delta_share(StPending *p, Relation rel, int nrows, CommandId cid,
					   StInsertOptions options)
{
	int			share;

	if (p->bulk)
		return 0;
	share = Min(nrows, p->threshold - p->delta_rows);
	p->delta_rows += share;
	if (share == nrows)
		return share;

	/* The threshold is passed: decide once for the command. */
	if (relation_delta_only(rel) || !st_catalog_ensure(rel))
	{
		p->delta_only = true;
		return nrows;
	}
	p->bulk = true;
	return share;
}

void
st_pending_add(StPending *p, Relation rel, TupleTableSlot *slot, CommandId cid,
			   StInsertOptions options)
{
	Size		memory;

	if (p->writer == NULL)
		pending_begin_group(p, rel, cid, options);
	else if (p->flushing)
		pending_flush(p, rel, true);	/* raises the error */

	slot_getallattrs(slot);
	p->format->writer_add(p->writer, slot->tts_values, slot->tts_isnull);
	st_stamp_row(slot, rel, p->first_row + p->nrows, p->xid, p->cid);
	p->nrows++;
	memory = p->format->writer_memory(p->writer);
	if (p->log != NULL)
	{
		pending_set_told(p, false);
		st_row_log_add(p->log, rel, slot);
		memory += st_row_log_memory(p->log);
	}

	pending_memory += memory - p->memory;
	p->memory = memory;

	if (p->nrows == p->reserved || p->format->writer_full(p->writer))
		pending_flush(p, rel, false);
	else if (pending_memory > ST_PENDING_MEMORY)
		pending_limit_memory();
}

StPending *
st_pending_for_update(Relation rel, CommandId cid)
{
	StPending  *p = st_pending_get(rel, cid);

	if (p == NULL)
		return NULL;
	/* Versions that went to the delta so far count. */
	if (p->threshold == ST_BULK_THRESHOLD)
		p->delta_rows = p->threshold;
	return st_pending_delta_share(p, rel, 1, cid, 0) == 0 ? p : NULL;
}

StGrowth *
st_pending_updated(StPending *p)
{
	return &p->updated;
}

uint64
st_pending_next_row(StPending *p, Relation rel, CommandId cid)
{
	if (p->writer == NULL)
		pending_begin_group(p, rel, cid, 0);
	return p->first_row + p->nrows;
}

void
st_pending_add_version(StPending *p, Relation rel, TupleTableSlot *slot, CommandId cid)
{
	p->nversions++;
	st_pending_add(p, rel, slot, cid, 0);
}

/* ---- end of transactions ---- */

/* at_commit: a relation that is gone now is gone for good. */
static void
pendings_flush_all(bool at_commit)
{
	HASH_SEQ_STATUS seq;
	StPending  *p;

	if (active_writers == 0)
		return;
	hash_seq_init(&seq, pendings);
	while ((p = hash_seq_search(&seq)) != NULL)
	{
		if (p->writer != NULL && !pending_flush_closed(p) && at_commit)
			pending_end_group(p);
	}
}

/* Flushes what is pending for any relation: parallel workers see no memory. */
void
st_flush_all_pending(void)
{
	pendings_flush_all(false);
}

/* Tells logical decoding of all rows that wait. */
static void
pendings_log_rows(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &untold)
	{
		StPending  *p = dlist_container(StPending, untold_node, iter.cur);
		Relation	rel;

		if (p->flushing ||
			!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(p->key.relid)))
			continue;
		rel = table_open(p->key.relid, NoLock);
		if (p->key.file == st_locator_number(st_relation_locator(rel)))
			pending_tell_rows(p, rel);
		table_close(rel, NoLock);
	}
}

void
st_log_rows_before_command(void)
{
	pendings_log_rows();
}

/*
 * A utility command may change what rows look like, but for one that begins or
 * ends a transaction, maybe a failed one.  And ANALYZE counts blocks before it
 * asks the access method for anything.
 */
void
st_flush_before_utility(const PlannedStmt *pstmt)
{
	if (IsA(pstmt->utilityStmt, VacuumStmt))
		st_flush_all_pending();
	else if (!IsA(pstmt->utilityStmt, TransactionStmt) && IsTransactionState())
		pendings_log_rows();
}

static void
pending_xact_callback(XactEvent event, void *arg)
{
	held_relid = InvalidOid;
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
		case XACT_EVENT_PARALLEL_PRE_COMMIT:
			pendings_flush_all(true);
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			/* all of it lives in TopTransactionContext, which is about to go */
			pendings = NULL;
			dlist_init(&entries);
			dlist_init(&untold);
			active_writers = 0;
			pending_memory = 0;
			break;
	}
}

static void
pending_subxact_callback(SubXactEvent event, SubTransactionId subid,
						 SubTransactionId parent, void *arg)
{
	dlist_mutable_iter iter;

	held_relid = InvalidOid;
	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;

	dlist_foreach_modify(iter, &entries)
	{
		StPending  *p = dlist_container(StPending, node, iter.cur);

		if (p->subid != subid)
			break;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			p->subid = parent;
		else
		{
			pending_end_group(p);
			dlist_delete(&p->node);
			hash_search(pendings, &p->key, HASH_REMOVE, NULL);
		}
	}
}

void
st_pending_init(void)
{
	RegisterXactCallback(pending_xact_callback, NULL);
	RegisterSubXactCallback(pending_subxact_callback, NULL);
}
