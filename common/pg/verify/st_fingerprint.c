/*-------------------------------------------------------------------------
 *
 * st_fingerprint.c
 *	  fingerprint(): a hash of a table's contents, whatever stores it.
 *
 * An aggregate over whole rows: for each column the sum, modulo 2^128, of a
 * 128-bit hash of every value, and one more sum of a hash of each row's
 * hashes, so that values that have changed rows are seen, too.  A sum does not
 * depend on the order of rows, and partial ones can be added: the server runs
 * the aggregate in parallel.
 *
 * A value is hashed in a form that does not depend on how it is stored: its
 * bytes without TOAST and header; of a numeric what it sends, of a jsonb and
 * an enum what they print, because equal ones may differ in bytes, or in
 * another database.
 *
 * A fingerprint is no proof against somebody who wants two tables to have the
 * same: it is for accidents.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"
#include "utils/uuid.h"

#include "st_checksum.h"
#include "st_compat.h"
#include "st_inspect.h"
#include "st_options.h"
#include "st_progress.h"

/* Seeds, so that a null is no value and a row no column. */
#define SEED_VALUE	0
#define SEED_NULL	1
#define SEED_ROW	2

/* How a value becomes bytes. */
typedef enum Form
{
	FORM_NONE,					/* dropped column */
	FORM_BYTES,
	FORM_SENT,
	FORM_PRINTED
} Form;

typedef struct Column
{
	Form		form;
	int16		typlen;
	bool		typbyval;
	FmgrInfo	function;		/* send or output */
} Column;

typedef struct Fingerprint
{
	int			natts;
	StHash128  *sums;			/* [natts + 1], the last one of rows */
	int64		rows;			/* for progress */

	/* for adding rows: of the row type that came last */
	Oid			type;
	int32		typmod;
	TupleDesc	desc;
	Column	   *columns;
	Datum	   *values;
	bool	   *isnull;
	StHash128  *hashes;			/* of the row at hand, without dropped columns */
	MemoryContext mcxt;			/* of all of this */
	MemoryContext row_mcxt;
} Fingerprint;

static void
add(StHash128 *sum, StHash128 hash)
{
	uint64		low = sum->low + hash.low;

	sum->high += hash.high + (low < sum->low);
	sum->low = low;
}

static Fingerprint *
make(MemoryContext mcxt, int natts)
{
	Fingerprint *f = MemoryContextAllocZero(mcxt, sizeof(Fingerprint));

	f->natts = natts;
	f->sums = MemoryContextAllocZero(mcxt, (natts + 1) * sizeof(StHash128));
	f->mcxt = mcxt;
	return f;
}

/* ---- rows ---- */

static void
describe_column(Column *column, Form_pg_attribute att)
{
	Oid			type;
	Oid			function;
	bool		varlena;

	if (att->attisdropped)
		return;
	type = getBaseType(att->atttypid);
	column->typlen = att->attlen;
	column->typbyval = att->attbyval;
	column->form = FORM_BYTES;
	if (type == NUMERICOID)
	{
		getTypeBinaryOutputInfo(type, &function, &varlena);
		column->form = FORM_SENT;
	}
	else if (type == JSONBOID || get_typtype(type) == TYPTYPE_ENUM)
	{
		getTypeOutputInfo(type, &function, &varlena);
		column->form = FORM_PRINTED;
	}
	if (column->form != FORM_BYTES)
		fmgr_info(function, &column->function);
}

/* Rows of this type come now; mostly all that come are of one. */
static void
describe(Fingerprint *f, Oid type, int32 typmod)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, typmod);
	MemoryContext oldcxt = MemoryContextSwitchTo(f->mcxt);

	if (desc->natts != f->natts)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("rows of different numbers of columns have no fingerprint")));
	f->desc = CreateTupleDescCopy(desc);
	f->columns = palloc0(Max(1, f->natts) * sizeof(Column));
	f->values = palloc(Max(1, f->natts) * sizeof(Datum));
	f->isnull = palloc(Max(1, f->natts) * sizeof(bool));
	f->hashes = palloc(Max(1, f->natts) * sizeof(StHash128));
	if (f->row_mcxt == NULL)
		f->row_mcxt = AllocSetContextCreate(f->mcxt, "row of a fingerprint",
											ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < f->natts; i++)
		describe_column(&f->columns[i], TupleDescAttr(f->desc, i));
	f->type = type;
	f->typmod = typmod;
	MemoryContextSwitchTo(oldcxt);
	ReleaseTupleDesc(desc);
}

static StHash128
hash_varlena(struct varlena *value)
{
	struct varlena *plain = pg_detoast_datum_packed(value);

	return st_hash128(VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain), SEED_VALUE);
}

static StHash128
hash_bytes_of(const Column *column, Datum value)
{
	if (column->typbyval)
	{
		char		bytes[sizeof(Datum)];

		store_att_byval(bytes, value, column->typlen);
		return st_hash128(bytes, column->typlen, SEED_VALUE);
	}
	if (column->typlen == -1)
		return hash_varlena((struct varlena *) DatumGetPointer(value));
	return st_hash128(DatumGetPointer(value),
					  column->typlen > 0 ? (Size) column->typlen :
					  strlen(DatumGetCString(value)), SEED_VALUE);
}

static StHash128
hash_value(Column *column, Datum value, bool isnull)
{
	char	   *text;

	if (isnull)
		return st_hash128(NULL, 0, SEED_NULL);
	switch (column->form)
	{
		case FORM_SENT:
			return hash_varlena(SendFunctionCall(&column->function, value));
		case FORM_PRINTED:
			text = OutputFunctionCall(&column->function, value);
			return st_hash128(text, strlen(text), SEED_VALUE);
		default:
			return hash_bytes_of(column, value);
	}
}

/* A worker has a place of its own, which ends with it. */
static void
report_rows(const Fingerprint *f)
{
	if (IsParallelWorker())
		st_progress_begin(ST_COMMAND_FINGERPRINT, InvalidOid, get_typ_typrelid(f->type));
	st_progress_set(ST_PROGRESS_ROWS, f->rows);
}

static void
add_row(Fingerprint *f, HeapTupleHeader row)
{
	MemoryContext oldcxt;
	HeapTupleData tuple;
	int			n = 0;

	if (f->desc == NULL || f->type != HeapTupleHeaderGetTypeId(row) ||
		f->typmod != HeapTupleHeaderGetTypMod(row))
		describe(f, HeapTupleHeaderGetTypeId(row), HeapTupleHeaderGetTypMod(row));

	oldcxt = MemoryContextSwitchTo(f->row_mcxt);
	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, f->desc, f->values, f->isnull);
	for (int i = 0; i < f->natts; i++)
	{
		if (f->columns[i].form == FORM_NONE)
			continue;
		f->hashes[n] = hash_value(&f->columns[i], f->values[i], f->isnull[i]);
		add(&f->sums[i], f->hashes[n++]);
	}
	add(&f->sums[f->natts], st_hash128(f->hashes, n * sizeof(StHash128), SEED_ROW));
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(f->row_mcxt);
	if (++f->rows % ST_PROGRESS_EVERY == 0)
		report_rows(f);
}

/* ---- progress ---- */

void
st_fingerprint_progress(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
	{
		st_progress_end(ST_COMMAND_FINGERPRINT);
		return;
	}
	st_progress_begin(ST_COMMAND_FINGERPRINT,
					  get_table_am_oid(st_options_set()->provider, false), PG_GETARG_OID(0));
	st_progress_phase(ST_PHASE_FINGERPRINT, PG_ARGISNULL(1) ? -1 : PG_GETARG_INT64(1), -1);
}

/* ---- the aggregate ---- */

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext mcxt;

	if (!AggCheckCallContext(fcinfo, &mcxt))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function was called outside of an aggregate")));
	return mcxt;
}

Datum
st_fingerprint_step(FunctionCallInfo fcinfo)
{
	MemoryContext mcxt = aggregate_context(fcinfo);
	Fingerprint *f = PG_ARGISNULL(0) ? NULL : (Fingerprint *) PG_GETARG_POINTER(0);
	HeapTupleHeader row;

	if (PG_ARGISNULL(1))
	{
		if (f == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(f);
	}
	row = PG_GETARG_HEAPTUPLEHEADER(1);
	if (f == NULL)
	{
		TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
												  HeapTupleHeaderGetTypMod(row));

		f = make(mcxt, desc->natts);
		ReleaseTupleDesc(desc);
	}
	add_row(f, row);
	PG_FREE_IF_COPY(row, 1);
	PG_RETURN_POINTER(f);
}

Datum
st_fingerprint_combine(FunctionCallInfo fcinfo)
{
	MemoryContext mcxt = aggregate_context(fcinfo);
	Fingerprint *f = PG_ARGISNULL(0) ? NULL : (Fingerprint *) PG_GETARG_POINTER(0);
	Fingerprint *other = PG_ARGISNULL(1) ? NULL : (Fingerprint *) PG_GETARG_POINTER(1);

	if (other == NULL)
	{
		if (f == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(f);
	}
	if (f == NULL)
		f = make(mcxt, other->natts);
	if (f->natts != other->natts)
		elog(ERROR, "fingerprints of %d and %d columns", f->natts, other->natts);
	for (int i = 0; i <= f->natts; i++)
		add(&f->sums[i], other->sums[i]);
	f->rows += other->rows;
	st_progress_set(ST_PROGRESS_ROWS, f->rows);
	PG_RETURN_POINTER(f);
}

Datum
st_fingerprint_serialize(FunctionCallInfo fcinfo)
{
	Fingerprint *f = (Fingerprint *) PG_GETARG_POINTER(0);
	Size		len = (f->natts + 1) * sizeof(StHash128);
	bytea	   *out;

	(void) aggregate_context(fcinfo);
	out = palloc(VARHDRSZ + len + sizeof(f->rows));
	SET_VARSIZE(out, VARHDRSZ + len + sizeof(f->rows));
	memcpy(VARDATA(out), f->sums, len);
	memcpy(VARDATA(out) + len, &f->rows, sizeof(f->rows));
	/* from here on the leader says how many a worker has added */
	if (IsParallelWorker())
		st_progress_end(ST_COMMAND_FINGERPRINT);
	PG_RETURN_BYTEA_P(out);
}

Datum
st_fingerprint_deserialize(FunctionCallInfo fcinfo)
{
	bytea	   *in = PG_GETARG_BYTEA_PP(0);
	Size		len = VARSIZE_ANY_EXHDR(in) - sizeof(int64);
	Fingerprint *f;

	(void) aggregate_context(fcinfo);
	f = make(CurrentMemoryContext, len / sizeof(StHash128) - 1);
	memcpy(f->sums, VARDATA_ANY(in), len);
	memcpy(&f->rows, VARDATA_ANY(in) + len, sizeof(f->rows));
	PG_RETURN_POINTER(f);
}

/* The sums as they are written, high half first, in an array by column. */
Datum
st_fingerprint_result(FunctionCallInfo fcinfo)
{
	Fingerprint *f = PG_ARGISNULL(0) ? NULL : (Fingerprint *) PG_GETARG_POINTER(0);
	Datum	   *elems;

	(void) aggregate_context(fcinfo);
	if (f == NULL)
		PG_RETURN_NULL();
	elems = palloc((f->natts + 1) * sizeof(Datum));
	for (int i = 0; i <= f->natts; i++)
	{
		pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

		for (int b = 0; b < 8; b++)
		{
			uuid->data[b] = (unsigned char) (f->sums[i].high >> (56 - 8 * b));
			uuid->data[8 + b] = (unsigned char) (f->sums[i].low >> (56 - 8 * b));
		}
		elems[i] = UUIDPGetDatum(uuid);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(elems, f->natts + 1, UUIDOID, UUID_LEN,
										  false, TYPALIGN_CHAR));
}
