/*-------------------------------------------------------------------------
 *
 * st_row_log.c
 *	  Rows of a row group under construction, as logical decoding wants them
 *	  (I7).
 *
 * Decoding knows heap's records, not row groups.  So a load of a table that
 * is logically logged says its rows twice: encoded in the pages of the row
 * group, and as tuples in records of heap's multi-insert, which change no page
 * when they are redone (st_wal_log_rows()).  The metapage carries them: it is
 * there before the row group is, and has nothing else to do.
 *
 * Tuples are gathered until a record is full.  The rest is written when the
 * command that inserts the rows ends, before its AFTER triggers, and before
 * any other command that may write: that may change what a tuple of the table
 * looks like, and decoding is to see changes in their order; and before the
 * row group is finished, because from then on rows can be deleted.
 *
 * Lengths in WAL have 16 bits.  Of a row that is longer, the longest values go
 * ahead as pieces, as heap's toasted values do; nothing is written to the
 * TOAST relation.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "st_file.h"
#include "st_options.h"
#include "st_row_log.h"
#include "st_wal.h"

/* The first buffer of a log; most commands write few rows. */
#define FIRST_BYTES		4096

/* A piece of a value; its record must stay below 64 kB. */
#define PIECE_BYTES		60000

struct StRowLog
{
	TransactionId xid;
	char	   *rows;			/* as in the record */
	uint32		allocated;
	uint32		len;
	int			nrows;
	MemoryContext work;			/* of one row */
};

bool
st_row_log_wanted(Relation rel)
{
	return RelationIsLogicallyLogged(rel) &&
		!OidIsValid(rel->rd_rel->relrewrite) &&
		st_options_get(rel)->logical_inserts;
}

StRowLog *
st_row_log_create(MemoryContext mcxt, TransactionId xid)
{
	StRowLog   *log = MemoryContextAllocZero(mcxt, sizeof(StRowLog));

	log->xid = xid;
	log->allocated = FIRST_BYTES;
	log->rows = MemoryContextAlloc(mcxt, log->allocated);
	log->work = AllocSetContextCreate(mcxt, "row for logical decoding",
									  ALLOCSET_SMALL_SIZES);
	return log;
}

bool
st_row_log_is_empty(const StRowLog *log)
{
	return log->nrows == 0;
}

Size
st_row_log_memory(const StRowLog *log)
{
	return log->allocated;
}

void
st_row_log_write(StRowLog *log, Relation rel)
{
	if (log->nrows > 0)
		st_wal_log_rows(rel, st_meta_block(rel), log->xid, log->rows, log->len,
						log->nrows);
	log->len = 0;
	log->nrows = 0;
}

/* A row on its way: values as they stand in the tuple. */
typedef struct Row
{
	TupleDesc	desc;
	Datum	   *values;
	const bool *isnull;
	bool		hasnull;
	uint32		hoff;
	Size		data_size;
} Row;

static void
measure(Row *row)
{
	row->hasnull = false;
	for (int i = 0; i < row->desc->natts && !row->hasnull; i++)
		row->hasnull = row->isnull[i];
	row->hoff = SizeofHeapTupleHeader;
	if (row->hasnull)
		row->hoff += BITMAPLEN(row->desc->natts);
	row->hoff = MAXALIGN(row->hoff);
	row->data_size = heap_compute_data_size(row->desc, row->values,
											unconstify(bool *, row->isnull));
}

/* Bytes in the record, with a byte of alignment before. */
static Size
record_bytes(const Row *row)
{
	return 1 + SizeOfMultiInsertTuple +
		row->hoff - SizeofHeapTupleHeader + row->data_size;
}

/* Values must not point to toasted ones: these are another table's. */
static void
fetch_external(Row *row)
{
	for (int i = 0; i < row->desc->natts; i++)
	{
		if (!row->isnull[i] && TupleDescAttr(row->desc, i)->attlen == -1 &&
			VARATT_IS_EXTERNAL(DatumGetPointer(row->values[i])))
			row->values[i] = PointerGetDatum(detoast_external_attr((struct varlena *)
																   DatumGetPointer(row->values[i])));
	}
}

/* ---- rows that are too long for a record ---- */

/* What stands in the tuple in place of a value. */
static Datum
external_pointer(Relation rel, struct varlena *value, Oid id)
{
	struct varatt_external pointer;
	struct varlena *datum = palloc(TOAST_POINTER_SIZE);
	uint32		len = VARSIZE(value) - VARHDRSZ;

	memset(&pointer, 0, sizeof(pointer));
	if (VARATT_IS_COMPRESSED(value))
	{
		pointer.va_rawsize = VARDATA_COMPRESSED_GET_EXTSIZE(value) + VARHDRSZ;
		VARATT_EXTERNAL_SET_SIZE_AND_COMPRESS_METHOD(pointer, len,
													 VARDATA_COMPRESSED_GET_COMPRESS_METHOD(value));
	}
	else
	{
		pointer.va_rawsize = VARSIZE(value);
		pointer.va_extinfo = len;
	}
	pointer.va_valueid = id;
	pointer.va_toastrelid = rel->rd_rel->reltoastrelid;
	SET_VARTAG_EXTERNAL(datum, VARTAG_ONDISK);
	memcpy(VARDATA_EXTERNAL(datum), &pointer, sizeof(pointer));
	return PointerGetDatum(datum);
}

/* Writes a value in pieces. */
static void
write_pieces(const StRowLog *log, Relation toast, const struct varlena *value,
			 Oid id)
{
	const char *from = VARDATA(value);
	uint32		left = VARSIZE(value) - VARHDRSZ;
	struct varlena *piece = palloc(PIECE_BYTES + VARHDRSZ);

	for (int32 seq = 0; left > 0; seq++)
	{
		uint32		n = Min(left, PIECE_BYTES);
		Datum		values[3] = {ObjectIdGetDatum(id), Int32GetDatum(seq), PointerGetDatum(piece)};
		bool		isnull[3] = {false, false, false};
		HeapTuple	tuple;

		CHECK_FOR_INTERRUPTS();
		SET_VARSIZE(piece, n + VARHDRSZ);
		memcpy(VARDATA(piece), from, n);
		tuple = heap_form_tuple(RelationGetDescr(toast), values, isnull);
		/* Its first page is there: the descriptor stands in the relation. */
		st_wal_log_toast_piece(toast, 0, log->xid, tuple);
		heap_freetuple(tuple);
		from += n;
		left -= n;
	}
	pfree(piece);
}

/* The longest value that is in the tuple itself, or -1. */
static int
longest_value(const Row *row)
{
	Size		longest = TOAST_POINTER_SIZE;
	int			found = -1;

	for (int i = 0; i < row->desc->natts; i++)
	{
		void	   *value = DatumGetPointer(row->values[i]);

		if (!row->isnull[i] && TupleDescAttr(row->desc, i)->attlen == -1 &&
			!VARATT_IS_EXTERNAL(value) && !VARATT_IS_SHORT(value) &&
			VARSIZE(value) > longest)
		{
			longest = VARSIZE(value);
			found = i;
		}
	}
	return found;
}

/*
 * The number of the next value that goes ahead.  It does not start over with
 * each row, so that pieces whose row decoding has skipped are not met again at
 * once; a value that is stored has a greater one.
 */
static Oid
next_value_id(void)
{
	static Oid	last = InvalidOid;

	last = last % (FirstGenbkiObjectId - 1) + 1;
	return last;
}

/*
 * Sends the longest values ahead until the rest fits into a heap page, as
 * decoding expects of a row that has pieces, or nothing more can be sent.
 */
static void
shorten(const StRowLog *log, Row *row, Relation rel)
{
	Relation	toast = table_open(rel->rd_rel->reltoastrelid, RowExclusiveLock);

	while (MAXALIGN(row->hoff + row->data_size) > MaxHeapTupleSize)
	{
		int			i = longest_value(row);
		Oid			id = next_value_id();
		struct varlena *value;

		if (i < 0)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("row is too big: size %zu, maximum size %zu",
							row->hoff + row->data_size,
							(Size) MaxHeapTupleSize)));
		value = (struct varlena *) DatumGetPointer(row->values[i]);
		write_pieces(log, toast, value, id);
		row->values[i] = external_pointer(rel, value, id);
		measure(row);
	}
	table_close(toast, NoLock);
}

/* ---- adding ---- */

static void
make_room(StRowLog *log, uint32 bytes)
{
	if (log->len + bytes <= log->allocated)
		return;
	while (log->len + bytes > log->allocated)
		log->allocated *= 2;
	log->rows = repalloc(log->rows, log->allocated);
}

/* Puts a tuple that fits behind the others. */
static void
append(StRowLog *log, HeapTupleHeader tuple, uint32 tuple_len)
{
	xl_multi_insert_tuple header;
	uint32		len = tuple_len - SizeofHeapTupleHeader;

	header.datalen = len;
	header.t_infomask = tuple->t_infomask & ~HEAP_XACT_MASK;
	header.t_infomask2 = tuple->t_infomask2 & HEAP_NATTS_MASK;
	header.t_hoff = tuple->t_hoff;

	make_room(log, 1 + SizeOfMultiInsertTuple + len);
	if (log->len != SHORTALIGN(log->len))
		log->rows[log->len++] = 0;
	memcpy(log->rows + log->len, &header, SizeOfMultiInsertTuple);
	memcpy(log->rows + log->len + SizeOfMultiInsertTuple,
		   (char *) tuple + SizeofHeapTupleHeader, len);
	log->len += SizeOfMultiInsertTuple + len;
	log->nrows++;
}

/* Makes a tuple of a row that fits. */
static void
append_row(StRowLog *log, const Row *row)
{
	static union
	{
		HeapTupleHeaderData header;
		char		bytes[ST_WAL_ROWS_BYTES + SizeofHeapTupleHeader + MAXIMUM_ALIGNOF];
		double		aligned;
	}			tuple;
	uint32		len = row->hoff + row->data_size;

	Assert(len <= sizeof(tuple));
	memset(tuple.bytes, 0, len);
	HeapTupleHeaderSetNatts(&tuple.header, row->desc->natts);
	tuple.header.t_hoff = row->hoff;
	heap_fill_tuple(row->desc, row->values, unconstify(bool *, row->isnull),
					tuple.bytes + row->hoff, row->data_size,
					&tuple.header.t_infomask,
					row->hasnull ? tuple.header.t_bits : NULL);
	append(log, &tuple.header, len);
}

/* The tuple that the slot holds already, if it can be logged as it is. */
static HeapTuple
ready_tuple(const TupleTableSlot *slot, TupleDesc desc)
{
	HeapTuple	tuple;

	if (!TTS_IS_HEAPTUPLE(slot) && !TTS_IS_BUFFERTUPLE(slot))
		return NULL;
	tuple = ((const HeapTupleTableSlot *) slot)->tuple;
	return tuple != NULL && !HeapTupleHasExternal(tuple) &&
		HeapTupleHeaderGetNatts(tuple->t_data) == desc->natts ? tuple : NULL;
}

void
st_row_log_add(StRowLog *log, Relation rel, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(rel);
	HeapTuple	ready = ready_tuple(slot, desc);
	Row			row = {.desc = desc, .isnull = slot->tts_isnull};
	MemoryContext old;

	if (ready != NULL && ready->t_len < ST_WAL_ROWS_BYTES)
	{
		if (log->len + 1 + SizeOfMultiInsertTuple + ready->t_len > ST_WAL_ROWS_BYTES)
			st_row_log_write(log, rel);
		append(log, ready->t_data, ready->t_len);
		return;
	}

	old = MemoryContextSwitchTo(log->work);
	row.values = palloc(Max(desc->natts, 1) * sizeof(Datum));
	memcpy(row.values, slot->tts_values, desc->natts * sizeof(Datum));
	fetch_external(&row);
	measure(&row);
	if (log->len + record_bytes(&row) > ST_WAL_ROWS_BYTES)
		st_row_log_write(log, rel);
	if (record_bytes(&row) > ST_WAL_ROWS_BYTES)
	{
		/* Decoding forgets pieces behind the last row of a record. */
		shorten(log, &row, rel);
		append_row(log, &row);
		st_row_log_write(log, rel);
	}
	else
		append_row(log, &row);
	MemoryContextSwitchTo(old);
	MemoryContextReset(log->work);
}
