/*-------------------------------------------------------------------------
 *
 * st_catalog.c
 *	  Visibility tuples: descriptors, tombstones, pieces and anchors, kept in the
 *	  TOAST relation of the table under chunk_ids that the server never
 *	  gives to toasted values (it starts at 10000).
 *
 *	 chunk_id = base + (row >> 32)   chunk_seq = low 32 bits, order kept
 *	 chunk_data = bytea with one of the payload structs of st_catalog.h
 *
 * Owns the keys, the payloads and how they are inserted and scanned.  What
 * a snapshot makes of them is the business of st_group.c and st_fetch.c.
 * Callers hold a lock on the table; st_toast_index.c opens and locks the TOAST
 * relation and its indexes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

#include "st_catalog.h"
#include "st_checksum.h"
#include "st_wal.h"

/* Columns of every TOAST relation. */
#define TOAST_CHUNK_ID		1
#define TOAST_CHUNK_SEQ		2
#define TOAST_CHUNK_DATA	3
#define TOAST_NATTS			3

static inline Oid
key_chunk_id(StKeyBase base, uint64 row)
{
	return (Oid) base + (Oid) (row >> 32);
}

static inline int32
key_chunk_seq(uint64 row)
{
	return (int32) ((uint32) row ^ 0x80000000);
}

static inline uint64
key_row(StKeyBase base, Oid chunk_id, int32 chunk_seq)
{
	return ((uint64) (chunk_id - (Oid) base) << 32) |
		((uint32) chunk_seq ^ 0x80000000);
}

void
st_catalog_key(StKeyBase base, uint64 row, Datum *values)
{
	values[0] = ObjectIdGetDatum(key_chunk_id(base, row));
	values[1] = Int32GetDatum(key_chunk_seq(row));
}

void
st_catalog_insert(StCatalog *cat, StKeyBase base, uint64 row,
				  const void *payload, Size len, CommandId cid, int options,
				  ItemPointer tid)
{
	Datum		values[TOAST_NATTS];
	bool		isnull[TOAST_NATTS] = {0};
	union
	{
		int32		align;
		char		bytes[VARHDRSZ + ST_MAX_PAYLOAD];
	}			data;
	HeapTuple	tuple;

	Assert(len <= ST_MAX_PAYLOAD);
	SET_VARSIZE(data.bytes, VARHDRSZ + len);
	memcpy(VARDATA(data.bytes), payload, len);

	st_catalog_key(base, row, values);
	values[2] = PointerGetDatum(data.bytes);
	tuple = heap_form_tuple(RelationGetDescr(cat->toast), values, isnull);

	heap_insert(cat->toast, tuple, cid, options | HEAP_INSERT_NO_LOGICAL,
				NULL);
	for (int i = 0; i < cat->nindexes; i++)
	{
		Relation	index = cat->indexes[i];

		if (cat->ready[i])
			index_insert(index, values, isnull, &tuple->t_self, cat->toast,
						 index->rd_index->indisunique ?
						 UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
						 false, NULL);
	}
	if (tid != NULL)
		*tid = tuple->t_self;
	heap_freetuple(tuple);
}

void
st_catalog_scan_begin(StCatalogScan *scan, StCatalog *cat, StKeyBase base,
					  uint64 first, uint64 last, Snapshot snapshot)
{
	ScanKeyData keys[3];
	int			nkeys = 0;
	Oid			low = key_chunk_id(base, first);
	Oid			high = key_chunk_id(base, last);

	Assert(first <= last && last >> 32 <= ST_KEY_HIGH_MAX);
	if (low == high)
	{
		ScanKeyInit(&keys[nkeys++], TOAST_CHUNK_ID, BTEqualStrategyNumber,
					F_OIDEQ, ObjectIdGetDatum(low));
		ScanKeyInit(&keys[nkeys++], TOAST_CHUNK_SEQ,
					BTGreaterEqualStrategyNumber, F_INT4GE,
					Int32GetDatum(key_chunk_seq(first)));
		ScanKeyInit(&keys[nkeys++], TOAST_CHUNK_SEQ,
					BTLessEqualStrategyNumber, F_INT4LE,
					Int32GetDatum(key_chunk_seq(last)));
	}
	else
	{
		ScanKeyInit(&keys[nkeys++], TOAST_CHUNK_ID,
					BTGreaterEqualStrategyNumber, F_OIDGE,
					ObjectIdGetDatum(low));
		ScanKeyInit(&keys[nkeys++], TOAST_CHUNK_ID,
					BTLessEqualStrategyNumber, F_OIDLE,
					ObjectIdGetDatum(high));
	}

	scan->cat = cat;
	scan->base = base;
	scan->first = first;
	scan->last = last;
	scan->scan = systable_beginscan_ordered(cat->toast, cat->index, snapshot,
											nkeys, keys);
}

void
st_catalog_entry_fill(StCatalog *cat, HeapTuple tuple, StKeyBase base,
					  Buffer buffer, StCatalogEntry *entry)
{
	TupleDesc	desc = RelationGetDescr(cat->toast);
	bool		isnull[TOAST_NATTS];
	Datum		id = fastgetattr(tuple, TOAST_CHUNK_ID, desc, &isnull[0]);
	Datum		seq = fastgetattr(tuple, TOAST_CHUNK_SEQ, desc, &isnull[1]);
	Datum		data = fastgetattr(tuple, TOAST_CHUNK_DATA, desc, &isnull[2]);

	if (isnull[0] || isnull[1] || isnull[2])
		elog(ERROR, "null value in a visibility tuple of relation \"%s\"",
			 RelationGetRelationName(cat->rel));
	entry->row = key_row(base, DatumGetObjectId(id), DatumGetInt32(seq));
	entry->payload = VARDATA_ANY(DatumGetPointer(data));
	entry->len = VARSIZE_ANY_EXHDR(DatumGetPointer(data));
	entry->tuple = tuple;
	entry->buffer = buffer;
}

bool
st_catalog_entry_is(StCatalog *cat, HeapTuple tuple, StKeyBase base,
					uint64 row)
{
	TupleDesc	desc = RelationGetDescr(cat->toast);
	bool		isnull;
	Datum		id = fastgetattr(tuple, TOAST_CHUNK_ID, desc, &isnull);
	Datum		seq;

	if (isnull || DatumGetObjectId(id) != key_chunk_id(base, row))
		return false;
	seq = fastgetattr(tuple, TOAST_CHUNK_SEQ, desc, &isnull);
	return !isnull && DatumGetInt32(seq) == key_chunk_seq(row);
}

/*
 * The next entry in key order, or NULL.  With a dirty snapshot, its xmin and
 * xmax tell about this entry.
 */
StCatalogEntry *
st_catalog_scan_next(StCatalogScan *scan, ScanDirection direction)
{
	StCatalogEntry *entry = &scan->entry;
	HeapTuple	tuple;

	while ((tuple = systable_getnext_ordered(scan->scan, direction)) != NULL)
	{
		st_catalog_entry_fill(scan->cat, tuple, scan->base,
							  ((BufferHeapTupleTableSlot *) scan->scan->slot)->buffer,
							  entry);
		if (entry->row >= scan->first && entry->row <= scan->last)
			return entry;
	}
	return NULL;
}

/* All that has a chunk_id of ours. */
static SysScanDesc
scan_all(StCatalog *cat, ScanKeyData *key)
{
	ScanKeyInit(key, TOAST_CHUNK_ID, BTLessStrategyNumber, F_OIDLT,
				ObjectIdGetDatum(ST_KEYS_END));
	return systable_beginscan_ordered(cat->toast, cat->index, SnapshotSelf, 1,
									  key);
}

bool
st_catalog_any(StCatalog *cat)
{
	ScanKeyData key;
	SysScanDesc scan = scan_all(cat, &key);
	bool		found = systable_getnext_ordered(scan, ForwardScanDirection) != NULL;

	systable_endscan_ordered(scan);
	return found;
}

bool
st_catalog_delete_all(StCatalog *cat)
{
	ScanKeyData key;
	SysScanDesc scan = scan_all(cat, &key);
	HeapTuple	tuple;
	bool		done = true;

	while (done &&
		   (tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		done = st_catalog_delete(cat, &tuple->t_self);
	}
	systable_endscan_ordered(scan);
	return done;
}

bool
st_catalog_tuple_row(const StCatalog *cat, HeapTuple tuple, StKeyBase base,
					 uint64 *row)
{
	struct
	{
		Oid			chunk_id;
		int32		chunk_seq;
	}		   *key = (void *) GETSTRUCT(tuple);

	if (HeapTupleHasNulls(tuple))
		elog(ERROR, "null value in a tuple of relation \"%s\"",
			 RelationGetRelationName(cat->toast));
	if (key->chunk_id < (Oid) base || key->chunk_id > (Oid) base + ST_KEY_HIGH_MAX)
		return false;
	*row = key_row(base, key->chunk_id, key->chunk_seq);
	return true;
}

void
st_catalog_scan_end(StCatalogScan *scan)
{
	systable_endscan_ordered(scan->scan);
}

Buffer
st_catalog_scan_end_pinned(StCatalogScan *scan, HeapTuple tuple)
{
	Buffer		buffer = scan->entry.buffer;

	*tuple = *scan->entry.tuple;
	IncrBufferRefCount(buffer);
	st_catalog_scan_end(scan);
	return buffer;
}

static uint64
descriptor_checksum(const StDescriptorPayload *payload)
{
	return st_checksum64(payload, offsetof(StDescriptorPayload, checksum),
						 ST_DESCRIPTOR);
}

/* In version 1 the checksum stood where order_hash is now. */
static uint64
descriptor_v1_checksum(const StDescriptorPayload *payload)
{
	return st_checksum64(payload, offsetof(StDescriptorPayload, order_hash),
						 ST_DESCRIPTOR);
}

/* Do version, length and checksum fit? */
static bool
descriptor_is_intact(const StDescriptorPayload *payload, Size len)
{
	Size		of_version[] = {
		0, ST_DESCRIPTOR_V1_SIZE, sizeof(*payload), sizeof(StDescriptorRunsPayload)
	};

	if (payload->version < lengthof(of_version) &&
		len != of_version[payload->version])
		return false;
	if (len == ST_DESCRIPTOR_V1_SIZE)
		return payload->order_hash == descriptor_v1_checksum(payload);
	return payload->checksum == descriptor_checksum(payload);
}

Size
st_descriptor_encode(const StGroup *group, bool finished,
					 StDescriptorRunsPayload *out)
{
	StDescriptorPayload *payload = &out->base;

	memset(out, 0, sizeof(*out));
	payload->version = group->mown ? 5 : group->folded ? 4 : group->nruns > 0 ? 3 : 2;
	payload->flags = (finished ? ST_DESCRIPTOR_FINISHED : 0) |
		(group->full ? ST_DESCRIPTOR_FULL : 0) |
		(group->folded ? ST_DESCRIPTOR_FOLDED : 0) |
		(group->mown ? ST_DESCRIPTOR_MOWN : 0) |
		(group->copied ? ST_DESCRIPTOR_COPIED : 0);
	payload->nrows = group->nrows;
	payload->first_row = group->first_row;
	payload->start_block = group->start_block;
	payload->nblocks = group->nblocks;
	payload->image_len = group->image_len;
	payload->footer_off = group->footer_off;
	payload->footer_len = group->footer_len;
	payload->format_version = group->format_version;
	payload->order_hash = group->order_hash;
	payload->checksum = descriptor_checksum(payload);
	if (group->nruns == 0)
		return sizeof(*payload);
	st_runs_encode(group, &out->runs);
	return sizeof(*out);
}

void
st_entry_corrupt(Relation rel, const StCatalogEntry *entry, const char *kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("%s of row " UINT64_FORMAT " of relation \"%s\" is damaged",
					kind, entry->row, RelationGetRelationName(rel)),
			 errdetail("It is tuple (%u,%u) of the relation's TOAST relation.",
					   ItemPointerGetBlockNumber(&entry->tuple->t_self),
					   ItemPointerGetOffsetNumber(&entry->tuple->t_self))));
}

void
st_entry_check(Relation rel, const StCatalogEntry *entry, Size len,
			   uint16 newest, const char *kind)
{
	uint16		version;

	if (entry->len < sizeof(version))
		st_entry_corrupt(rel, entry, kind);
	memcpy(&version, entry->payload, sizeof(version));
	if (version > newest)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s of row " UINT64_FORMAT " of relation \"%s\" was written by a newer version",
						kind, entry->row, RelationGetRelationName(rel)),
				 errdetail("Its version is %u, this build reads up to %u.",
						   version, newest)));
	if (version == 0 || entry->len != len)
		st_entry_corrupt(rel, entry, kind);
}

bool
st_descriptor_decode(Relation rel, const StCatalogEntry *entry, StGroup *group)
{
	StDescriptorRunsPayload whole;
	StDescriptorPayload payload;
	Size		len = sizeof(payload);
	bool		intact;

	if (entry->len == ST_DESCRIPTOR_V1_SIZE || entry->len == sizeof(whole))
		len = entry->len;
	st_entry_check(rel, entry, len, ST_DESCRIPTOR_VERSION, "descriptor");

	/* It may be finished in place at this very moment. */
	memset(&whole, 0, sizeof(whole));
	LockBuffer(entry->buffer, BUFFER_LOCK_SHARE);
	memcpy(&whole, entry->payload, len);
	LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	payload = whole.base;
	intact = descriptor_is_intact(&payload, len);
	if (len == ST_DESCRIPTOR_V1_SIZE)
		payload.order_hash = 0; /* its checksum */
	if (!intact || payload.first_row != entry->row)
		st_entry_corrupt(rel, entry, "descriptor");

	memset(group, 0, sizeof(*group));
	group->first_row = payload.first_row;
	group->nrows = payload.nrows;
	group->start_block = payload.start_block;
	group->nblocks = payload.nblocks;
	if (len == sizeof(whole) && !st_runs_decode(&whole.runs, group))
		st_entry_corrupt(rel, entry, "descriptor");
	group->image_len = payload.image_len;
	group->footer_off = payload.footer_off;
	group->footer_len = payload.footer_len;
	group->format_version = payload.format_version;
	group->order_hash = payload.order_hash;
	if ((payload.flags & ST_DESCRIPTOR_DROPPED) != 0)
	{
		group->dropped_rows = payload.nrows;
		group->nrows = 0;
	}
	group->full = (payload.flags & ST_DESCRIPTOR_FULL) != 0;
	group->folded = (payload.flags & ST_DESCRIPTOR_FOLDED) != 0;
	group->mown = (payload.flags & ST_DESCRIPTOR_MOWN) != 0;
	group->copied = (payload.flags & ST_DESCRIPTOR_COPIED) != 0;
	group->xmin = HeapTupleHeaderGetRawXmin(entry->tuple->t_data);
	group->cmin = HeapTupleHeaderGetRawCommandId(entry->tuple->t_data);
	return (payload.flags & ST_DESCRIPTOR_FINISHED) != 0;
}

/*
 * The tuple keeps its length and header, so its place on the page changes
 * only in the payload.
 */
bool
st_catalog_overwrite(StCatalog *cat, StKeyBase base, uint64 row,
					 const void *payload, Size len)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found;

	st_catalog_scan_begin(&scan, cat, base, row, row, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	found = entry != NULL && entry->len == len;
	if (found)
	{
		LockBuffer(entry->buffer, BUFFER_LOCK_EXCLUSIVE);
		st_wal_overwrite(cat->toast, entry->buffer,
						 entry->payload - (char *) BufferGetPage(entry->buffer),
						 payload, len, true);
		LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	}
	st_catalog_scan_end(&scan);
	return found;
}

void
st_descriptor_finish(StCatalog *cat, const StGroup *group)
{
	StDescriptorRunsPayload payload;
	Size		len = st_descriptor_encode(group, true, &payload);

	if (!st_catalog_overwrite(cat, ST_DESCRIPTOR, group->first_row, &payload,
							  len))
		elog(ERROR, "descriptor of row " UINT64_FORMAT " of relation \"%s\" is missing",
			 group->first_row, RelationGetRelationName(cat->rel));
}

/*
 * Adds to the descriptor of a group in place, and keeps what others have added:
 * flags, the version that has them, and order_hash unless it is 0.  Version 1
 * has no order_hash.  False: the descriptor is gone.
 */
static bool
descriptor_amend(StCatalog *cat, const StGroup *group, uint16 version,
				 uint16 flags, uint64 order_hash)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found;

	st_catalog_scan_begin(&scan, cat, ST_DESCRIPTOR, group->first_row,
						  group->first_row, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);
	found = entry != NULL;
	if (found)
	{
		StDescriptorRunsPayload payload;

		LockBuffer(entry->buffer, BUFFER_LOCK_EXCLUSIVE);
		memcpy(&payload, entry->payload, Min(entry->len, sizeof(payload)));
		if (entry->len > sizeof(payload) ||
			!descriptor_is_intact(&payload.base, entry->len))
		{
			LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
			st_entry_corrupt(cat->rel, entry, "descriptor");
		}
		payload.base.version = Max(payload.base.version, version);
		payload.base.flags |= flags;
		if (entry->len == ST_DESCRIPTOR_V1_SIZE)
			payload.base.order_hash = descriptor_v1_checksum(&payload.base);
		else
		{
			if (order_hash != 0)
				payload.base.order_hash = order_hash;
			payload.base.checksum = descriptor_checksum(&payload.base);
		}
		st_wal_overwrite(cat->toast, entry->buffer,
						 entry->payload - (char *) BufferGetPage(entry->buffer),
						 &payload, entry->len, true);
		LockBuffer(entry->buffer, BUFFER_LOCK_UNLOCK);
	}
	st_catalog_scan_end(&scan);
	return found;
}

void
st_descriptor_sorted(StCatalog *cat, const StGroup *group)
{
	(void) descriptor_amend(cat, group, 0, 0, group->order_hash);
}

bool
st_descriptor_folded(StCatalog *cat, const StGroup *group)
{
	return descriptor_amend(cat, group, 4, ST_DESCRIPTOR_FOLDED, 0);
}

bool
st_descriptor_mown(StCatalog *cat, const StGroup *group)
{
	return descriptor_amend(cat, group, 5, ST_DESCRIPTOR_MOWN, 0);
}

void
st_descriptor_drop(StCatalog *cat, const StGroup *group)
{
	StDescriptorRunsPayload payload;
	Size		len = st_descriptor_encode(group, true, &payload);

	payload.base.flags |= ST_DESCRIPTOR_DROPPED;
	payload.base.checksum = descriptor_checksum(&payload.base);
	(void) st_catalog_overwrite(cat, ST_DESCRIPTOR, group->first_row, &payload,
								len);
}

void
st_tombstone_encode(const ItemPointerData *forward, StTombstonePayload *payload)
{
	StaticAssertStmt(sizeof(ItemPointerData) == sizeof(payload->forward),
					 "a TID has 6 bytes");
	payload->version = 1;
	memcpy(payload->forward, forward, sizeof(payload->forward));
}

void
st_tombstone_decode(Relation rel, const StCatalogEntry *entry,
					ItemPointer forward)
{
	StTombstonePayload payload;

	st_entry_check(rel, entry, sizeof(payload), ST_TOMBSTONE_VERSION,
				   "tombstone");
	memcpy(&payload, entry->payload, sizeof(payload));
	memcpy(forward, payload.forward, sizeof(payload.forward));
}

FullTransactionId
st_full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, xid);
}

bool
st_catalog_delete(StCatalog *cat, ItemPointer tid)
{
	return st_heap_delete(cat->toast, tid) == TM_Ok;
}

bool
st_tuple_is_held(Relation rel, const ItemPointerData *tid)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	HeapTupleData tuple;
	Page		page;
	ItemId		item;
	bool		held = true;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	if (ItemIdIsNormal(item))
	{
		tuple.t_self = *tid;
		tuple.t_tableOid = RelationGetRelid(rel);
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		held = HeapTupleSatisfiesUpdate(&tuple, GetCurrentCommandId(false),
										buffer) != TM_Ok;
	}
	UnlockReleaseBuffer(buffer);
	return held;
}
