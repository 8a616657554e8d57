/*-------------------------------------------------------------------------
 *
 * st_estimate.c
 *	  estimate_sizes(): what a table of any access method would take as one
 *	  of ours.
 *
 * Row groups are made of a sample, by the writer that would make them, and
 * thrown away: nothing is written but temporary files, so that a standby can
 * be asked, too.  The sample is of runs of about one row group each
 * (st_run_sample.c); a small table is encoded as a whole.
 *
 * Then alternatives: the rows of the sample in the order of one column or
 * another, and other codecs, as long as the caller has given time.  A sample
 * in order has gaps that the whole table does not have: unless the sample is
 * the table, an order saves more than what is said here.
 *
 * Memory: one row group under construction, the sample in a tuplestore, one
 * sort.  Types whose order is not the server's own code are not tried as
 * orders: no user code is run.
 *
 * Lock: AccessShareLock until the end of the statement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "commands/defrem.h"
#include "funcapi.h"
#include "lib/hyperloglog.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

#include "st_compat.h"
#include "st_inspect.h"
#include "st_options.h"
#include "st_progress.h"
#include "st_run_sample.h"
#include "st_store.h"

/* Row groups of a sample. */
#define RUNS 3

/* One row in so many is looked at for how often values repeat. */
#define DISTINCT_STEP 8
#define DISTINCT_BITS 11

/* A column whose values repeat less is not tried as an order. */
#define MIN_REPEATS 2.0

/* Orders to try, at most. */
#define MAX_ORDERS 6

/* Pages beside row groups: metapage; descriptors in TOAST, its index and maps; maps. */
#define FIXED_PAGES (1 + 7 + 4)

/* The stronger setting to compare with. */
#define STRONG_CODEC "zstd"
#define STRONG_LEVEL 9

/* Rows in, sizes of row groups out. */
typedef struct Encoder
{
	Relation	rel;
	const StFormat *format;
	const StOptions *options;
	MemoryContext mcxt;			/* of this; a writer may keep things in it */
	MemoryContext group_mcxt;
	StWriter   *writer;			/* NULL: no row yet */
	uint32		nrows;			/* of the open row group */

	/* of all row groups that are finished */
	uint64		groups;
	uint64		pages;
	uint64	   *column_bytes;	/* [natts] */
} Encoder;

/* What a sample tells about a column. */
typedef struct SampledColumn
{
	uint64		value_bytes;	/* as the rows have them */
	hyperLogLogState distinct;	/* of every DISTINCT_STEPth row */
	bool		orderable;
} SampledColumn;

typedef struct Estimate
{
	Relation	rel;
	ReturnSetInfo *rsinfo;
	const StOptions *options;
	SampledColumn *columns;
	Tuplestorestate *sample;	/* NULL: no alternatives are asked for */
	uint64		rows;			/* of the sample */
	uint64		first_rows;		/* of its first row group, */
	uint64		first_pages;	/* and what that takes */
	uint64		pages;			/* of all its row groups */
	uint64	   *column_bytes;
	double		table_rows;
	bool		whole;			/* the sample is the table */
	instr_time	began;
	double		seconds;		/* that the caller gives */
	double		encode_seconds; /* that the sample took */
} Estimate;

/* ---- rows in, sizes out ---- */

static void
encoder_begin(Encoder *e, Relation rel, const StFormat *format,
			  const StOptions *options)
{
	memset(e, 0, sizeof(*e));
	e->rel = rel;
	e->format = format;
	e->options = options;
	e->mcxt = AllocSetContextCreate(CurrentMemoryContext, "estimate",
									ALLOCSET_DEFAULT_SIZES);
	e->group_mcxt = AllocSetContextCreate(e->mcxt, "estimated row group",
										  ALLOCSET_DEFAULT_SIZES);
	e->column_bytes = MemoryContextAllocZero(e->mcxt,
											 Max(RelationGetNumberOfAttributes(rel), 1) *
											 sizeof(uint64));
}

/* Ends the row group under construction. */
static void
encoder_flush(Encoder *e)
{
	StGroup		group = {0};
	StImage    *img;
	const void *footer;

	if (e->writer == NULL)
		return;
	CHECK_FOR_INTERRUPTS();
	group.nrows = e->nrows;
	img = st_image_create(e->group_mcxt);
	e->format->writer_finish(e->writer, img, &group);
	e->pages += (st_image_len(img) + st_image_page_bytes() - 1) / st_image_page_bytes();
	e->groups++;
	footer = st_image_at(img, group.footer_off);
	for (int i = 0; i < RelationGetNumberOfAttributes(e->rel); i++)
		e->column_bytes[i] += e->format->column_bytes(footer, i + 1);
	e->writer = NULL;
	e->nrows = 0;
	MemoryContextReset(e->group_mcxt);
}

/* Returns whether the row has ended a row group. */
static bool
encoder_add(Encoder *e, TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	if (e->writer == NULL)
		e->writer = e->format->writer_create(e->rel, e->options, e->group_mcxt);
	e->format->writer_add(e->writer, slot->tts_values, slot->tts_isnull);
	e->nrows++;
	if (e->nrows < e->options->row_group_rows &&
		!e->format->writer_full(e->writer))
		return false;
	encoder_flush(e);
	return true;
}

static void
encoder_end(Encoder *e)
{
	MemoryContextDelete(e->mcxt);
}

/* ---- the sample ---- */

static double
seconds_since(instr_time began)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, began);
	return INSTR_TIME_GET_DOUBLE(now);
}

static Oid
order_operator(Form_pg_attribute att)
{
	return lookup_type_cache(att->atttypid, TYPECACHE_LT_OPR)->lt_opr;
}

static void
describe_columns(Estimate *est)
{
	TupleDesc	desc = RelationGetDescr(est->rel);

	est->columns = palloc0(Max(desc->natts, 1) * sizeof(SampledColumn));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		SampledColumn *column = &est->columns[i];
		Oid			op;

		if (att->attisdropped || est->sample == NULL)
			continue;
		op = order_operator(att);
		column->orderable = OidIsValid(op) && op < FirstNormalObjectId;
		if (column->orderable)
			initHyperLogLog(&column->distinct, DISTINCT_BITS);
	}
}

static Size
value_size(Form_pg_attribute att, Datum value)
{
	if (att->attlen > 0)
		return att->attlen;
	if (att->attlen == -1)
		return toast_datum_size(value);
	return strlen(DatumGetCString(value)) + 1;
}

static void
look_at_row(Estimate *est, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(est->rel);
	bool		count = est->rows % DISTINCT_STEP == 0;

	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		SampledColumn *column = &est->columns[i];
		Datum		value = slot->tts_values[i];

		if (att->attisdropped || slot->tts_isnull[i])
			continue;
		column->value_bytes += value_size(att, value);
		if (!count || !column->orderable)
			continue;
		if (att->attlen == -1 && VARATT_IS_EXTERNAL(DatumGetPointer(value)))
			column->orderable = false;
		else
			addHyperLogLog(&column->distinct,
						   datum_image_hash(value, att->attbyval, att->attlen));
	}
}

/* Reads and encodes the sample, and keeps it for the alternatives. */
static void
encode_sample(Estimate *est, const StFormat *format)
{
	TupleTableSlot *slot = table_slot_create(est->rel, NULL);
	StRunSample *sample = st_run_sample_begin(est->rel, GetActiveSnapshot(), RUNS);
	Encoder		e;

	encoder_begin(&e, est->rel, format, est->options);
	while (st_run_sample_next(sample, slot))
	{
		bool		full;

		look_at_row(est, slot);
		full = encoder_add(&e, slot);
		if (est->sample != NULL)
			tuplestore_puttupleslot(est->sample, slot);
		if (++est->rows % ST_PROGRESS_EVERY == 0)
			st_progress_set(ST_PROGRESS_ROWS, est->rows);
		if (full)
			st_run_sample_end_run(sample);
		if (full && est->first_pages == 0)
		{
			est->first_rows = est->rows;
			est->first_pages = e.pages;
		}
	}
	encoder_flush(&e);
	if (est->first_pages == 0)
	{
		est->first_rows = est->rows;
		est->first_pages = e.pages;
	}
	est->pages = e.pages;
	est->column_bytes = palloc(Max(RelationGetNumberOfAttributes(est->rel), 1) *
							   sizeof(uint64));
	memcpy(est->column_bytes, e.column_bytes,
		   RelationGetNumberOfAttributes(est->rel) * sizeof(uint64));
	encoder_end(&e);
	est->whole = st_run_sample_is_whole(sample);
	est->table_rows = st_run_sample_table_rows(sample);
	st_run_sample_end(sample);
	ExecDropSingleTupleTableSlot(slot);
	est->encode_seconds = seconds_since(est->began);
}

/* ---- what is said ---- */

/* Of the sample to those of the table. */
static double
scaled(const Estimate *est, double amount)
{
	return est->rows == 0 ? 0 : amount * est->table_rows / est->rows;
}

static int64
table_bytes(const Estimate *est, double sample_pages)
{
	return (int64) ((ceil(scaled(est, sample_pages)) + FIXED_PAGES) * BLCKSZ);
}

static void
put(Estimate *est, const char *what, const char *name, int64 now,
	int64 estimated, const char *detail)
{
	Datum		values[5] = {0};
	bool		nulls[5] = {0};

	values[0] = CStringGetTextDatum(what);
	nulls[1] = name == NULL;
	if (name != NULL)
		values[1] = CStringGetTextDatum(name);
	values[2] = Int64GetDatum(now);
	values[3] = Int64GetDatum(estimated);
	nulls[4] = detail == NULL;
	if (detail != NULL)
		values[4] = CStringGetTextDatum(detail);
	tuplestore_putvalues(est->rsinfo->setResult, est->rsinfo->setDesc, values, nulls);
}

static void
put_table(Estimate *est)
{
	TupleDesc	desc = RelationGetDescr(est->rel);
	Datum		now = DirectFunctionCall1(pg_table_size,
										  ObjectIdGetDatum(RelationGetRelid(est->rel)));

	put(est, "table", NULL, DatumGetInt64(now), table_bytes(est, est->pages),
		est->whole ? psprintf("all " UINT64_FORMAT " rows", est->rows) :
		psprintf("sample of " UINT64_FORMAT " rows of about %.0f", est->rows,
				 est->table_rows));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped)
			put(est, "column", NameStr(att->attname),
				(int64) scaled(est, est->columns[i].value_bytes),
				(int64) scaled(est, est->column_bytes[i]), NULL);
	}
}

/* ---- alternatives ---- */

/* Is there time for another encoding of so many rows of the sample? */
static bool
has_time(const Estimate *est, uint64 rows)
{
	return seconds_since(est->began) +
		est->encode_seconds * rows / Max(est->rows, 1) <= est->seconds;
}

/* Pages of the sample's rows in the order of a column. */
static uint64
encode_in_order(Estimate *est, const StFormat *format, AttrNumber attno)
{
	TupleDesc	desc = RelationGetDescr(est->rel);
	Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
	Oid			operator = order_operator(att);
	bool		nulls_first = false;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = tuplesort_begin_heap(desc, 1, &attno, &operator,
												&att->attcollation, &nulls_first,
												maintenance_work_mem, NULL,
												TUPLESORT_NONE);
	uint64		pages;
	Encoder		e;

	tuplestore_rescan(est->sample);
	while (tuplestore_gettupleslot(est->sample, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		tuplesort_puttupleslot(sort, slot);
	}
	tuplesort_performsort(sort);
	encoder_begin(&e, est->rel, format, est->options);
	while (tuplesort_gettupleslot(sort, true, false, slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		(void) encoder_add(&e, slot);
	}
	encoder_flush(&e);
	pages = e.pages;
	encoder_end(&e);
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(slot);
	return pages;
}

/*
 * The column that promises most as an order and was not tried: its values
 * repeat, and take most bytes nevertheless.  0: none is left.
 */
static AttrNumber
next_order(Estimate *est)
{
	AttrNumber	best = 0;
	double		seen = (double) est->rows / DISTINCT_STEP;

	for (int i = 0; i < RelationGetNumberOfAttributes(est->rel); i++)
	{
		SampledColumn *column = &est->columns[i];
		double		distinct;

		if (!column->orderable)
			continue;
		distinct = estimateHyperLogLog(&column->distinct);
		if (distinct < 1.5 || seen < distinct * MIN_REPEATS)
			column->orderable = false;
		else if (best == 0 || est->column_bytes[i] > est->column_bytes[best - 1])
			best = i + 1;
	}
	if (best != 0)
		est->columns[best - 1].orderable = false;
	return best;
}

static void
put_orders(Estimate *est, const StFormat *format)
{
	for (int n = 0; n < MAX_ORDERS && has_time(est, est->rows); n++)
	{
		AttrNumber	attno = next_order(est);
		const char *name;

		if (attno == 0)
			return;
		name = NameStr(TupleDescAttr(RelationGetDescr(est->rel), attno - 1)->attname);
		put(est, "orderby", quote_identifier(name),
			table_bytes(est, est->pages),
			table_bytes(est, encode_in_order(est, format, attno)),
			est->whole ? NULL : "at most: only the sample was sorted");
	}
}

/* Pages of the rows of the sample's first row group. */
static uint64
encode_first(Estimate *est, const StFormat *format, const StOptions *options)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(est->rel),
													&TTSOpsMinimalTuple);
	uint64		left = est->first_rows;
	uint64		pages;
	Encoder		e;

	tuplestore_rescan(est->sample);
	encoder_begin(&e, est->rel, format, options);
	for (; left > 0 && tuplestore_gettupleslot(est->sample, true, false, slot); left--)
	{
		CHECK_FOR_INTERRUPTS();
		(void) encoder_add(&e, slot);
	}
	encoder_flush(&e);
	pages = e.pages;
	encoder_end(&e);
	ExecDropSingleTupleTableSlot(slot);
	return pages;
}

/* Options with another codec; level 0: the codec's usual one. */
static const StOptions *
options_with_codec(Relation rel, const char *codec, int level)
{
	Node	   *value = level == 0 ? NULL : (Node *) makeString(psprintf("%d", level));

	return st_options_with(rel, list_make2(makeDefElem("compression",
													   (Node *) makeString(pstrdup(codec)), -1),
										   makeDefElem("level", value, -1)));
}

static void
put_codec(Estimate *est, const StFormat *format, const char *codec, int level)
{
	const StOptions *options = options_with_codec(est->rel, codec, level);
	double		pages;

	if ((options->codec == est->options->codec &&
		 options->level == est->options->level) ||
		est->first_pages == 0 || !has_time(est, est->first_rows))
		return;
	pages = (double) est->pages * encode_first(est, format, options) / est->first_pages;
	put(est, "compression",
		level == 0 ? codec : psprintf("%s, level %d", codec, level),
		table_bytes(est, est->pages), table_bytes(est, pages), NULL);
}

/* ---- the function ---- */

static void
open_estimate(Estimate *est, Oid relid)
{
	est->rel = relation_open(relid, AccessShareLock);
	if (est->rel->rd_rel->relkind != RELKIND_RELATION &&
		est->rel->rd_rel->relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table or materialized view",
						RelationGetRelationName(est->rel)),
				 est->rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
				 errhint("Ask for its partitions one by one.") : 0));
	if (RELATION_IS_OTHER_TEMP(est->rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	st_check_may_inspect(est->rel);
	if (est->rel->rd_rel->relkind == RELKIND_MATVIEW && !est->rel->rd_rel->relispopulated)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(est->rel))));
}

static const StOptions *
asked_options(FunctionCallInfo fcinfo, Relation rel)
{
	List	   *changes = NIL;

	if (!PG_ARGISNULL(1))
		return options_with_codec(rel, text_to_cstring(PG_GETARG_TEXT_PP(1)),
								  PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2));
	if (!PG_ARGISNULL(2))
		changes = list_make1(makeDefElem("level",
										 (Node *) makeString(psprintf("%d", PG_GETARG_INT32(2))),
										 -1));
	return st_options_with(rel, changes);
}

Datum
st_estimate_sizes_function(FunctionCallInfo fcinfo, const StFormat *format)
{
	Estimate	est = {.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo};

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation must not be null")));
	INSTR_TIME_SET_CURRENT(est.began);
	open_estimate(&est, PG_GETARG_OID(0));
	InitMaterializedSRF(fcinfo, 0);
	est.options = asked_options(fcinfo, est.rel);
	est.seconds = PG_ARGISNULL(3) ? 0 : PG_GETARG_FLOAT8(3);
	if (est.seconds > 0)
		est.sample = tuplestore_begin_heap(false, false, maintenance_work_mem);
	describe_columns(&est);
	st_progress_begin(ST_COMMAND_ESTIMATE, get_table_am_oid(format->am_name, false),
					  RelationGetRelid(est.rel));
	st_progress_phase(ST_PHASE_SAMPLE, -1, -1);
	encode_sample(&est, format);
	put_table(&est);
	if (est.sample != NULL)
	{
		st_progress_phase(ST_PHASE_ALTERNATIVES, -1, -1);
		put_orders(&est, format);
		put_codec(&est, format, "lz4", 0);
		put_codec(&est, format, STRONG_CODEC, STRONG_LEVEL);
		tuplestore_end(est.sample);
	}
	st_progress_end(ST_COMMAND_ESTIMATE);
	relation_close(est.rel, AccessShareLock);
	return (Datum) 0;
}
