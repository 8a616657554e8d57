/*-------------------------------------------------------------------------
 *
 * vx_delta.c
 *	  Batches of the delta's rows.
 *
 * A batch is made of whole pages.  They stay pinned while it is at hand, so
 * its rows need no copies: a column is taken out of the tuples when somebody
 * asks for it, for the rows that are selected by then.  Quals so deform what
 * they look at, and all else is deformed only for rows that passed them.
 * Values that stand on a page as a vector wants them stay there.
 *
 * The first batch of a scan is one page, and each one doubles, up to
 * the pins that a backend may fairly hold: LIMIT 1 does not read ahead.
 *
 * Memory: values that have to be copied live until the next batch; a batch
 * ends early where its toasted values would take too much.  Dictionaries
 * live as long as the scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "vx_delta.h"
#include "vx_intern.h"
#include "vx_row_column.h"
#include "st_compat.h"

#define MAX_PAGES	64

/* A batch is full when its toasted values take so many bytes. */
#define MAX_BYTES	((Size) 8 * 1024 * 1024)

/*
 * Where a column has few distinct values, giving them codes lets expressions
 * run once per value, as they do in row groups; an array or a string is
 * compared with one hash.  Codes are kept over all of the scan.  A column with
 * too many values, or long ones, gives up for the rest of it.
 */
typedef struct DeltaColumn
{
	VxRowColumn row;
	bool		together;
	VxCodes		dictionary;
	uint32	   *codes;
	bool		coded;			/* in the batch at hand */
	VxVector	code_vector;
} DeltaColumn;

struct VxDelta
{
	VxBatch    *batch;
	TupleDesc	desc;
	MemoryContext mcxt;
	MemoryContext values_mcxt;	/* of the batch at hand */
	int			ncolumns;
	DeltaColumn *columns;		/* as the batch's */
	int			fixed;			/* attributes before this one have offsets: */
	int		   *offsets;		/* in tuples without nulls */

	/* the batch at hand */
	int			nrows;
	HeapTupleData *tuples;
	uint8	   *page_of;		/* row -> index in buffers */
	int			npages;
	Buffer		buffers[MAX_PAGES];
	bool		is_local;		/* in local buffers */
	int			page_limit;		/* of the next batch */

	/* rows of the last page that are for the next batch */
	int			page_next;
	int			page_rows;
	HeapTupleData page_tuples[MaxHeapTuplesPerPage];
};

/* Local buffers that this backend has not pinned, before their first use too. */
static int
unpinned_local_buffers(void)
{
	int			n = NLocBuffer == 0 ? num_temp_buffers : 0;

	for (int i = 0; i < NLocBuffer; i++)
		n += LocalRefCount[i] == 0;
	return n;
}

/*
 * Pins that one scan may hold.  Of local buffers there are few, and any number
 * of cursors may be open: a share of what is left.
 */
static int
most_pages(const VxDelta *delta)
{
	int			n = delta->is_local ? unpinned_local_buffers() / 16 :
		NBuffers / (8 * (MaxBackends + 1));

	return Max(1, Min(n, MAX_PAGES));
}

static const VxVector *delta_vector(void *rows, AttrNumber attno);

/* Offsets of the attributes before the first one of varying length. */
static void
set_offsets(VxDelta *delta)
{
	TupleDesc	desc = delta->desc;
	int			offset = 0;

	delta->offsets = palloc(sizeof(int) * (desc->natts + 1));
	for (delta->fixed = 0; delta->fixed < desc->natts; delta->fixed++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, delta->fixed);

		if (attr->attlen < 0)
			break;
		offset = att_align_nominal(offset, attr->attalign);
		delta->offsets[delta->fixed] = offset;
		offset += attr->attlen;
	}
}

VxDelta *
vx_delta_create(VxBatch *batch, Relation rel, const Bitmapset *together)
{
	VxDelta    *delta = palloc0(sizeof(VxDelta));

	delta->batch = batch;
	delta->desc = RelationGetDescr(rel);
	delta->mcxt = CurrentMemoryContext;
	delta->values_mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector delta",
											   ALLOCSET_DEFAULT_SIZES);
	delta->tuples = palloc(sizeof(HeapTupleData) * ST_VECTOR_SIZE);
	delta->page_of = palloc(sizeof(uint8) * ST_VECTOR_SIZE);
	delta->is_local = RelationUsesLocalBuffers(rel);
	delta->page_limit = 1;
	delta->ncolumns = batch->ncolumns;
	delta->columns = palloc0(sizeof(DeltaColumn) * (batch->ncolumns + 1));
	set_offsets(delta);
	for (int i = 0; i < batch->ncolumns; i++)
	{
		DeltaColumn *column = &delta->columns[i];
		AttrNumber	attno = batch->columns[i].attno;

		vx_row_column_init(&column->row, TupleDescAttr(delta->desc, attno - 1));
		column->together = bms_is_member(attno, together);
		if (!column->row.byval && !column->row.numeric && column->row.typlen != -2)
		{
			vx_codes_init(&column->dictionary, delta->mcxt, column->row.type,
						  column->row.typlen);
			column->codes = palloc0(sizeof(uint32) * ST_VECTOR_SIZE);
		}
	}
	batch->rows = delta;
	batch->rows_vector = delta_vector;
	return delta;
}

/* ---- rows ---- */

/* Pages of the batch at hand, but the last one if rows of it are to come. */
static void
release_pages(VxDelta *delta, bool keep_last)
{
	int			n = keep_last ? delta->npages - 1 : delta->npages;

	for (int i = 0; i < n; i++)
		ReleaseBuffer(delta->buffers[i]);
	if (keep_last)
		delta->buffers[0] = delta->buffers[delta->npages - 1];
	delta->npages -= n;
}

void
vx_delta_release(VxDelta *delta)
{
	release_pages(delta, false);
	delta->page_next = delta->page_rows = 0;
	delta->nrows = 0;
	delta->page_limit = 1;
}

/* Bytes that the batch's toasted values in a tuple will take. */
static Size
toasted_bytes(const VxDelta *delta, HeapTuple tuple)
{
	Size		bytes = 0;

	if (!HeapTupleHasExternal(tuple))
		return 0;
	for (int i = 0; i < delta->ncolumns; i++)
	{
		bool		isnull;
		Datum		value;

		if (delta->columns[i].row.typlen != -1)
			continue;
		value = heap_getattr(tuple, delta->columns[i].row.attno, delta->desc, &isnull);
		if (!isnull)
			bytes += toast_raw_datum_size(value);
	}
	return bytes;
}

/* Rows of the page at hand, as far as the batch has room for them. */
static void
take_rows(VxDelta *delta, Size *bytes)
{
	while (delta->page_next < delta->page_rows && delta->nrows < ST_VECTOR_SIZE)
	{
		HeapTuple	tuple = &delta->page_tuples[delta->page_next];

		*bytes += toasted_bytes(delta, tuple);
		if (*bytes > MAX_BYTES && delta->nrows > 0)
			return;
		delta->tuples[delta->nrows] = *tuple;
		delta->page_of[delta->nrows] = delta->npages - 1;
		delta->nrows++;
		delta->page_next++;
	}
}

bool
vx_delta_next(VxDelta *delta, VxSource *source)
{
	Size		bytes = 0;
	int			limit;

	release_pages(delta, delta->page_next < delta->page_rows);
	MemoryContextReset(delta->values_mcxt);
	delta->nrows = 0;
	take_rows(delta, &bytes);
	limit = Min(delta->page_limit, most_pages(delta));
	while (delta->page_next == delta->page_rows && delta->npages < limit &&
		   delta->nrows < ST_VECTOR_SIZE)
	{
		delta->page_next = 0;
		delta->page_rows = vx_source_delta_page(source, delta->page_tuples,
												&delta->buffers[delta->npages]);
		if (delta->page_rows == 0)
			break;
		delta->npages++;
		take_rows(delta, &bytes);
	}
	delta->page_limit = Min(limit * 2, MAX_PAGES);
	if (delta->nrows == 0)
		return false;
	vx_batch_set_rows(delta->batch, delta->nrows);
	for (int i = 0; i < delta->ncolumns; i++)
	{
		vx_row_column_reset(&delta->columns[i].row);
		delta->columns[i].coded = false;
	}
	return true;
}

void
vx_delta_store(VxDelta *delta, int row, TupleTableSlot *slot)
{
	ExecStoreBufferHeapTuple(&delta->tuples[row], slot,
							 delta->buffers[delta->page_of[row]]);
}

/* ---- columns ---- */

/* As vectors want it: with a plain header, on the page or in a copy. */
static Datum
plain_value(VxDelta *delta, Datum value, int16 typlen)
{
	MemoryContext old;

	if (typlen != -1 || VARATT_IS_4B_U(DatumGetPointer(value)))
		return value;
	old = MemoryContextSwitchTo(delta->values_mcxt);
	value = PointerGetDatum(PG_DETOAST_DATUM(value));
	MemoryContextSwitchTo(old);
	return value;
}

static inline bool
is_toasted(Datum value, int16 typlen)
{
	return typlen == -1 && (VARATT_IS_EXTERNAL(DatumGetPointer(value)) ||
							VARATT_IS_COMPRESSED(DatumGetPointer(value)));
}

/* The column has no dictionary after all: values for the codes so far. */
static void
stop_coding(DeltaColumn *column)
{
	VxRowColumn *row = &column->row;

	column->coded = false;
	for (int i = 0; i < ST_VECTOR_SIZE; i++)
		if (row->v.valid[i / 64] & (UINT64CONST(1) << (i % 64)))
			row->v.u.datum[i] = column->dictionary.dict.values[column->codes[i]];
}

static void
put(VxDelta *delta, DeltaColumn *column, int row, Datum value)
{
	int16		typlen = column->row.typlen;

	if (column->row.byval)
	{
		vx_row_column_put(&column->row, row, value);
		return;
	}
	if (column->coded)
	{
		if (!is_toasted(value, typlen) &&
			vx_codes_find(&column->dictionary, value, &column->codes[row]))
		{
			column->row.v.valid[row / 64] |= UINT64CONST(1) << (row % 64);
			return;
		}
		stop_coding(column);
	}
	if (!column->row.numeric || is_toasted(value, typlen))
		value = plain_value(delta, value, typlen);
	vx_row_column_put(&column->row, row, value);
}

/*
 * Columns of one tuple.  targets: by attribute, what is wanted of it, or
 * NULL; the last one wanted is at natts - 1.
 */
static void
deform(VxDelta *delta, int row, DeltaColumn *const *targets, int natts)
{
	HeapTuple	tuple = &delta->tuples[row];
	HeapTupleHeader header = tuple->t_data;
	int			stored = Min(HeapTupleHeaderGetNatts(header), natts);
	uint8	   *nulls = HeapTupleHasNulls(tuple) ? header->t_bits : NULL;
	char	   *data = (char *) header + header->t_hoff;
	int			offset = 0;

	for (int a = 0; a < stored; a++)
	{
		Form_pg_attribute attr = TupleDescAttr(delta->desc, a);

		if (nulls && att_isnull(a, nulls))
		{
			if (targets[a])
				vx_row_column_put_null(&targets[a]->row, row);
			continue;
		}
		if (attr->attlen == -1)
			offset = att_align_pointer(offset, attr->attalign, -1, data + offset);
		else
			offset = att_align_nominal(offset, attr->attalign);
		if (targets[a])
			put(delta, targets[a], row, fetch_att(data + offset, attr->attbyval, attr->attlen));
		offset = att_addlength_pointer(offset, attr->attlen, data + offset);
	}
	/* columns that were added when the row was there */
	for (int a = stored; a < natts; a++)
	{
		bool		isnull;
		Datum		value;

		if (targets[a] == NULL)
			continue;
		value = getmissingattr(delta->desc, a + 1, &isnull);
		if (isnull)
			vx_row_column_put_null(&targets[a]->row, row);
		else
			put(delta, targets[a], row, value);
	}
}

/* One column that stands at the same place in every tuple without nulls. */
static void
fetch_fixed(VxDelta *delta, int row, DeltaColumn *const *targets, int natts)
{
	HeapTuple	tuple = &delta->tuples[row];
	Form_pg_attribute attr = TupleDescAttr(delta->desc, natts - 1);
	char	   *data = (char *) tuple->t_data + tuple->t_data->t_hoff;

	if (HeapTupleHasNulls(tuple) || HeapTupleHeaderGetNatts(tuple->t_data) < natts)
		deform(delta, row, targets, natts);
	else
		put(delta, targets[natts - 1], row,
			fetch_att(data + delta->offsets[natts - 1], attr->attbyval, attr->attlen));
}

/* Numerics of several scales: as they are, with plain headers. */
static void
finish_numerics(VxDelta *delta, VxRowColumn *row)
{
	if (!row->numeric || row->scaled)
		return;
	for (int i = 0; i < delta->nrows; i++)
		if (row->v.valid[i / 64] & (UINT64CONST(1) << (i % 64)))
			row->datums[i] = plain_value(delta, row->datums[i], -1);
}

static const VxVector *
finish(VxDelta *delta, DeltaColumn *column)
{
	VxRowColumn *row = &column->row;
	VxVector   *v = &row->v;

	finish_numerics(delta, row);
	vx_row_column_finish(row, delta->nrows);
	if (!column->coded)
		return v;
	v = &column->code_vector;
	v->rep = VX_REP_CODE;
	v->n = delta->nrows;
	v->has_nulls = row->v.has_nulls;
	v->typlen = row->typlen;
	v->u.code = column->codes;
	v->dict = &column->dictionary.dict;
	memcpy(v->valid, row->v.valid, sizeof(v->valid));
	return v;
}

/* What is decoded with a column; returns the last attribute's number. */
static int
set_targets(VxDelta *delta, int index, DeltaColumn **targets)
{
	int			natts = 0;

	memset(targets, 0, sizeof(DeltaColumn *) * delta->desc->natts);
	for (int i = 0; i < delta->ncolumns; i++)
	{
		DeltaColumn *column = &delta->columns[i];

		if (i != index &&
			(!column->together || !delta->columns[index].together ||
			 delta->batch->columns[i].access != VX_ACCESS_NONE))
			continue;
		targets[column->row.attno - 1] = column;
		column->coded = column->dictionary.values != NULL;
		natts = Max(natts, column->row.attno);
	}
	return natts;
}

/* A column of the batch at hand; rows that are not selected hold anything. */
static const VxVector *
delta_vector(void *rows, AttrNumber attno)
{
	VxDelta    *delta = rows;
	VxBatch    *batch = delta->batch;
	int			index = batch->column_of[attno - 1];
	DeltaColumn *targets[MaxTupleAttributeNumber];
	int			natts = set_targets(delta, index, targets);
	bool		fixed = natts <= delta->fixed && !delta->columns[index].together;

	VX_FOREACH_ROW(row, batch->selection, (delta->nrows + 63) / 64)
	{
		if (fixed)
			fetch_fixed(delta, row, targets, natts);
		else
			deform(delta, row, targets, natts);
	}
	for (int a = 0; a < natts; a++)
	{
		if (targets[a] && a != attno - 1)
			vx_batch_attach(batch, vx_batch_column(batch, a + 1),
							finish(delta, targets[a]));
	}
	return finish(delta, &delta->columns[index]);
}
