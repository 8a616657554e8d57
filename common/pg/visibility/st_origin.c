/*-------------------------------------------------------------------------
 *
 * st_origin.c
 *	  Origin maps: where compaction moved rows (I5).
 *
 * A writer that waited for a compaction, or whose snapshot is older than it,
 * finds its row deleted.  The map tells where the row is now, so that it goes
 * on there as after an update.  (A virtual TID must not stand in t_ctid: heap
 * would follow it.)
 *
 * A map is kept as visibility tuples of the compacting transaction:
 *
 *	 rows of row groups: chunks, keyed by the first old row number in them.  A
 *	 chunk holds rows of one group, and a row moves once, so the chunk of a row
 *	 is the nearest one before it.
 *
 *	 rows of the delta: heap TIDs are used again, so a TID is looked up with
 *	 the transaction that deleted it.  An entry keyed by that transaction id
 *	 tells where its chunks are; they are sorted by position.
 *
 * A chunk lists runs of neighbours that stayed neighbours.  The entries serve
 * statements whose snapshots are older than the move, and go when there are
 * none: nobody else can meet the old version.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "st_bytes.h"
#include "st_checksum.h"
#include "st_visibility.h"

#define ST_ORIGIN_VERSION	1

/* Head of a chunk's payload; runs follow. */
typedef struct StOriginPayload
{
	uint16		version;
	uint16		unused;
	uint32		nruns;
	uint64		first;			/* least and greatest old place */
	uint64		last;
	uint64		checksum;		/* XXH3 of the runs */
} StOriginPayload;

StaticAssertDecl(sizeof(StOriginPayload) == 32, "on-disk size");

/* Payload of the entry of a transaction that moved rows of the delta. */
typedef struct StMovePayload
{
	uint16		version;
	uint16		unused;
	uint32		nchunks;
	uint64		first_key;		/* of the chunks, which are numbered from here */
} StMovePayload;

StaticAssertDecl(sizeof(StMovePayload) == 16, "on-disk size");

/* Longest encoding of a run. */
#define RUN_MAX (3 * ST_VARINT_MAX)

/* ---- writing ---- */

typedef struct ChunkWriter
{
	StOriginPayload head;
	StByteWriter out;
	uint64		prev_old;		/* behind the last run */
	uint64		prev_row;
	char		bytes[ST_MAX_PAYLOAD];
} ChunkWriter;

static void
chunk_begin(ChunkWriter *w, uint64 first)
{
	memset(&w->head, 0, sizeof(w->head));
	w->head.version = ST_ORIGIN_VERSION;
	w->head.first = first;
	w->prev_old = first;
	w->prev_row = 0;
	st_writer_init(&w->out, w->bytes + sizeof(w->head),
				   sizeof(w->bytes) - sizeof(w->head));
}

static void
chunk_add(ChunkWriter *w, const StMoved *run, uint32 n)
{
	st_write_varint(&w->out, run->old - w->prev_old);
	st_write_zigzag(&w->out, (int64) (run->row - w->prev_row));
	st_write_varint(&w->out, n);
	w->prev_old = run->old + n;
	w->prev_row = run->row + n;
	w->head.last = w->prev_old - 1;
	w->head.nruns++;
}

static void
chunk_end(ChunkWriter *w, StCatalog *cat, StKeyBase base, uint64 key)
{
	Size		len = st_writer_len(&w->out);

	Assert(w->out.status == ST_OK);
	w->head.checksum = st_checksum64(w->bytes + sizeof(w->head), len,
									 w->head.first);
	memcpy(w->bytes, &w->head, sizeof(w->head));
	st_catalog_insert(cat, base, key, w->bytes, sizeof(w->head) + len,
					  GetCurrentCommandId(true), 0, NULL);
}

/*
 * Writes chunks.  Their keys are the old row numbers, or first_key and the
 * following if by_number.  Returns how many there are; only counts them if
 * cat is NULL.
 */
static uint32
write_chunks(StCatalog *cat, StKeyBase base, bool by_number, uint64 first_key,
			 const StMoved *moved, uint32 n)
{
	ChunkWriter w;
	uint32		nchunks = 0;
	uint32		i = 0;

	while (i < n)
	{
		uint64		key = by_number ? first_key + nchunks : moved[i].old;

		CHECK_FOR_INTERRUPTS();
		chunk_begin(&w, moved[i].old);
		while (i < n && st_writer_left(&w.out) >= RUN_MAX)
		{
			uint32		len = 1;

			while (i + len < n && moved[i + len].old == moved[i].old + len &&
				   moved[i + len].row == moved[i].row + len)
				len++;
			chunk_add(&w, &moved[i], len);
			i += len;
		}
		if (cat != NULL)
			chunk_end(&w, cat, base, key);
		nchunks++;
	}
	return nchunks;
}

void
st_origin_add_rows(StCatalog *cat, const StMoved *moved, uint32 n)
{
	(void) write_chunks(cat, ST_ORIGIN_ROWS, false, 0, moved, n);
}

/*
 * The chunks' keys are row numbers that are reserved for them: unique, and
 * there are enough.
 */
void
st_origin_add_delta(StCatalog *cat, const StMoved *moved, uint32 n)
{
	StMovePayload payload = {0};

	if (n == 0)
		return;
	payload.version = ST_ORIGIN_VERSION;
	payload.nchunks = write_chunks(NULL, ST_ORIGIN_DELTA, true, 0, moved, n);
	payload.first_key = st_reserve_rows(cat->rel, payload.nchunks);
	(void) write_chunks(cat, ST_ORIGIN_DELTA, true, payload.first_key, moved,
						n);
	st_catalog_insert(cat, ST_ORIGIN_MOVE, GetCurrentTransactionId(),
					  &payload, sizeof(payload), GetCurrentCommandId(true), 0,
					  NULL);
}

/* ---- looking up ---- */

static void
corrupt_map(StCatalog *cat, const StCatalogEntry *entry)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("origin map " UINT64_FORMAT " of relation \"%s\" is damaged",
					entry->row, RelationGetRelationName(cat->rel)),
			 errdetail("It is tuple (%u,%u) of the relation's TOAST relation.",
					   ItemPointerGetBlockNumber(&entry->tuple->t_self),
					   ItemPointerGetOffsetNumber(&entry->tuple->t_self))));
}

static void
check_version(StCatalog *cat, const StCatalogEntry *entry, uint16 version)
{
	if (version > ST_ORIGIN_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("origin map " UINT64_FORMAT " of relation \"%s\" was written by a newer version",
						entry->row, RelationGetRelationName(cat->rel))));
	if (version == 0)
		corrupt_map(cat, entry);
}

static void
read_head(StCatalog *cat, const StCatalogEntry *entry, StOriginPayload *head)
{
	if (entry->len < sizeof(*head))
		corrupt_map(cat, entry);
	memcpy(head, entry->payload, sizeof(*head));
	check_version(cat, entry, head->version);
}

/* Looks for an old place in a chunk. */
static bool
search_chunk(StCatalog *cat, const StCatalogEntry *entry, uint64 old,
			 uint64 *row)
{
	StOriginPayload head;
	StByteReader r;
	uint64		prev_old;
	uint64		prev_row = 0;

	read_head(cat, entry, &head);
	if (old < head.first || old > head.last)
		return false;
	if (head.checksum != st_checksum64(entry->payload + sizeof(head),
									   entry->len - sizeof(head), head.first))
		corrupt_map(cat, entry);

	st_reader_init(&r, entry->payload + sizeof(head),
				   entry->len - sizeof(head));
	prev_old = head.first;
	for (uint32 i = 0; i < head.nruns; i++)
	{
		uint64		first = prev_old + st_read_varint(&r);
		uint64		first_row = prev_row + st_read_zigzag(&r);
		uint64		len = st_read_varint(&r);

		if (r.status != ST_OK)
			corrupt_map(cat, entry);
		if (old < first)
			return false;
		if (old - first < len)
		{
			*row = first_row + (old - first);
			if (*row >= ST_MAX_ROW_NUMBER)
				corrupt_map(cat, entry);
			return true;
		}
		prev_old = first + len;
		prev_row = first_row + len;
	}
	return false;
}

bool
st_origin_of_row(StCatalog *cat, uint64 row, ItemPointer now)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	uint64		new_row;
	bool		found = false;

	st_catalog_scan_begin(&scan, cat, ST_ORIGIN_ROWS,
						  row & ~UINT64CONST(0xffffffff), row, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, BackwardScanDirection);
	if (entry != NULL && search_chunk(cat, entry, row, &new_row))
	{
		st_tid_from_row(now, new_row);
		found = true;
	}
	st_catalog_scan_end(&scan);
	return found;
}

/* The entry of a transaction that moved rows of the delta. */
static bool
find_move(StCatalog *cat, TransactionId xid, StMovePayload *move)
{
	StCatalogScan scan;
	StCatalogEntry *entry;
	bool		found = false;

	st_catalog_scan_begin(&scan, cat, ST_ORIGIN_MOVE, xid, xid, SnapshotSelf);
	entry = st_catalog_scan_next(&scan, ForwardScanDirection);

	/* A frozen entry is of a transaction of the same id long ago. */
	if (entry != NULL && !HeapTupleHeaderXminFrozen(entry->tuple->t_data))
	{
		if (entry->len != sizeof(*move))
			corrupt_map(cat, entry);
		memcpy(move, entry->payload, sizeof(*move));
		check_version(cat, entry, move->version);
		found = true;
	}
	st_catalog_scan_end(&scan);
	return found;
}

/* Binary search among the chunks of a move. */
static bool
search_move(StCatalog *cat, const StMovePayload *move, uint64 old, uint64 *row)
{
	uint32		lo = 0;
	uint32		hi = move->nchunks;
	bool		found = false;

	while (lo < hi && !found)
	{
		uint32		mid = lo + (hi - lo) / 2;
		uint64		key = move->first_key + mid;
		StCatalogScan scan;
		StCatalogEntry *entry;
		StOriginPayload head;

		st_catalog_scan_begin(&scan, cat, ST_ORIGIN_DELTA, key, key,
							  SnapshotSelf);
		entry = st_catalog_scan_next(&scan, ForwardScanDirection);
		if (entry == NULL)		/* VACUUM has just forgotten the move */
		{
			st_catalog_scan_end(&scan);
			return false;
		}
		read_head(cat, entry, &head);
		if (old < head.first)
			hi = mid;
		else if (old > head.last)
			lo = mid + 1;
		else
		{
			found = search_chunk(cat, entry, old, row);
			lo = hi;
		}
		st_catalog_scan_end(&scan);
	}
	return found;
}

bool
st_origin_of_tid(Relation rel, const ItemPointerData *tid, TransactionId xmax,
				 ItemPointer now)
{
	StMovePayload move;
	StCatalog	cat;
	uint64		row;
	bool		found = false;

	if (!TransactionIdIsNormal(xmax) || !st_meta_has_row_groups(rel, NULL) ||
		!st_catalog_open(&cat, rel, AccessShareLock))
		return false;
	if (find_move(&cat, xmax, &move) &&
		search_move(&cat, &move, st_delta_position(tid), &row))
	{
		st_tid_from_row(now, row);
		found = true;
	}
	st_catalog_close(&cat);
	return found;
}

/* ---- forgetting ---- */

static const StKeyBase map_bases[] = {
	ST_ORIGIN_MOVE, ST_ORIGIN_DELTA, ST_ORIGIN_ROWS
};

/*
 * Visits entries older than every snapshot, deleting them if asked.  True if
 * there are any.
 */
static bool
visit_expired(StCatalog *cat, TransactionId oldest_xmin, bool remove)
{
	bool		any = false;

	for (int i = 0; i < lengthof(map_bases); i++)
	{
		StCatalogScan scan;
		StCatalogEntry *entry;

		st_catalog_scan_begin(&scan, cat, map_bases[i], 0,
							  map_bases[i] == ST_ORIGIN_MOVE ?
							  PG_UINT32_MAX : ST_MAX_ROW_NUMBER,
							  SnapshotSelf);
		while ((any == false || remove) &&
			   (entry = st_catalog_scan_next(&scan, ForwardScanDirection)) != NULL)
		{
			TransactionId xmin = HeapTupleHeaderGetXmin(entry->tuple->t_data);
			ItemPointerData tid = entry->tuple->t_self;

			st_vacuum_delay_point(false);
			if (!TransactionIdPrecedes(xmin, oldest_xmin))
				continue;
			any = true;
			if (remove)
				(void) st_catalog_delete(cat, &tid);
		}
		st_catalog_scan_end(&scan);
	}
	return any;
}

bool
st_origin_expired(StCatalog *cat, TransactionId oldest_xmin)
{
	return visit_expired(cat, oldest_xmin, false);
}

void
st_origin_expire(StCatalog *cat, TransactionId oldest_xmin)
{
	(void) visit_expired(cat, oldest_xmin, true);
}
