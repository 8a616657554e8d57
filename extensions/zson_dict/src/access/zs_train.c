/*-------------------------------------------------------------------------
 *
 * zs_train.c
 *	  zson_learn() and zson_train(): sample documents, learn, keep.
 *
 * Documents are sampled with SPI as the calling user, who must own the tables.
 * A dictionary that saves bytes on the hold-out becomes a function in schema
 * zson_dict, created as the schema's owner; it is used for writing from the
 * moment this transaction commits (zs_dict_cache.c), and a rollback leaves
 * nothing but a gap in the ids.  An advisory transaction lock lets one session
 * at a time train for a column.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#include "st_compat.h"
#include "zs_dict.h"
#include "zs_learn.h"

PG_FUNCTION_INFO_V1(zson_learn);
PG_FUNCTION_INFO_V1(zson_train);

/* Most bytes of example documents; their number is the caller's. */
#define SAMPLE_BYTES (96 * 1024 * 1024)

/* A dictionary must save a fiftieth of what documents take without it. */
#define MIN_GAIN(before) ((before) / 50)

#define LOCK_CLASS 0x7a736f6e

/* zson_retrain() reads it. */
#define ZS_HELD_OUT "%.1f of %.1f bytes"

typedef struct Sample
{
	MemoryContext context;
	Jsonb	  **docs;
	int			n;
	int			max;
	Size		bytes;
} Sample;

typedef struct Source
{
	char	   *relation;		/* quoted, qualified */
	char	   *column;			/* quoted */
	char	   *label;			/* schema.table.column */
	float4		reltuples;
	char		relkind;
} Source;

static void
resolve(Oid relid, const char *column, Source *source)
{
	HeapTuple	tuple;
	Form_pg_class form;
	AttrNumber	attno = get_attnum(relid, column);

	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(form->relkind),
					   NameStr(form->relname));
	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, NameStr(form->relname))));
	source->relation =
		quote_qualified_identifier(get_namespace_name(form->relnamespace),
								   NameStr(form->relname));
	source->column = pstrdup(quote_identifier(column));
	source->label = psprintf("%s.%s", source->relation, source->column);
	source->reltuples = form->reltuples;
	source->relkind = form->relkind;
	ReleaseSysCache(tuple);
}

/* ---- sampling ---- */

static void
add_document(Sample *s, Datum doc)
{
	Jsonb	   *jb = (Jsonb *) PG_DETOAST_DATUM_COPY(doc);

	if (s->bytes + VARSIZE(jb) <= SAMPLE_BYTES && s->n < s->max)
	{
		s->docs[s->n++] = jb;
		s->bytes += VARSIZE(jb);
	}
	else
		pfree(jb);
}

/* Samples up to limit documents of a source, from all parts of it. */
static void
sample_source(Sample *s, const Source *source, int limit)
{
	StringInfoData sql;
	Portal		portal;
	SPIPlanPtr	plan;
	bool		tables = source->relkind == RELKIND_RELATION ||
		source->relkind == RELKIND_MATVIEW ||
		source->relkind == RELKIND_PARTITIONED_TABLE;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT %s::text::pg_catalog.jsonb FROM %s",
					 source->column, source->relation);
	if (tables && source->reltuples > 3.0 * limit)
		appendStringInfo(&sql, " TABLESAMPLE SYSTEM (%f)",
						 Min(100.0, 250.0 * limit / source->reltuples));
	appendStringInfo(&sql, " WHERE %s IS NOT NULL", source->column);
	plan = SPI_prepare(sql.data, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "could not prepare \"%s\": %s", sql.data,
			 SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	while (s->n < s->max && limit > 0 && s->bytes < SAMPLE_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, Min(limit, 200));
		if (SPI_processed == 0)
			break;
		for (uint64 i = 0; i < SPI_processed; i++)
		{
			bool		isnull;
			Datum		d = SPI_getbinval(SPI_tuptable->vals[i],
										  SPI_tuptable->tupdesc, 1, &isnull);
			MemoryContext old = MemoryContextSwitchTo(s->context);

			if (!isnull)
				add_document(s, d);
			MemoryContextSwitchTo(old);
		}
		limit -= SPI_processed;
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
}

/* ---- keeping ---- */

/* base64 by the server's own function, without its line breaks. */
static char *
base64(bytea *blob)
{
	char	   *digits;
	char	   *out;

	digits = TextDatumGetCString(DirectFunctionCall2(binary_encode,
												   PointerGetDatum(blob),
												   CStringGetTextDatum("base64")));
	out = digits;
	for (char *p = digits; *p; p++)
	{
		if (*p != '\n')
			*out++ = *p;
	}
	*out = '\0';
	return digits;
}

static void
execute(const char *sql)
{
	int			result = SPI_execute(sql, false, 0);

	if (result < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
}

static uint32
next_id(void)
{
	Oid			sequence = get_relname_relid("dictionary_id",
											 get_namespace_oid(ZS_SCHEMA, false));
	List	   *list;

	for (;;)
	{
		int64		id = nextval_internal(sequence, false);
		bool		taken = false;
		ListCell   *lc;

		if (id <= 0 || id > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("no ids of dictionaries are left")));
		/* after a partial restore the sequence may be behind */
		list = zs_dict_list();
		foreach(lc, list)
			taken = taken || ((ZsDictInfo *) lfirst(lc))->id == id;
		if (!taken)
			return (uint32) id;
	}
}

/* Creates the dictionary's function; returns its id. */
static uint32
keep(const ZsLearned *learned, const char *label, const char *note)
{
	Oid			nsp = get_namespace_oid(ZS_SCHEMA, false);
	ZsDictInfo	info = {.column = (char *) label,.note = (char *) note};
	StringInfoData sql;
	HeapTuple	tuple;
	Oid			owner;
	Oid			save_user;
	int			save_context;

	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(nsp));
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	info.nroots = learned->nroots;
	info.roots = (uint64 *) learned->roots;

	GetUserIdAndSecContext(&save_user, &save_context);
	SetUserIdAndSecContext(owner, save_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	info.id = next_id();
	initStringInfo(&sql);
	/* the label holds names that users chose: quote_literal() is in order */
	appendStringInfo(&sql, "CREATE FUNCTION %s.%s%u() RETURNS pg_catalog.bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %s",
					 ZS_SCHEMA, ZS_DICT_PREFIX, info.id,
					 quote_literal_cstr(psprintf("%sSELECT pg_catalog.decode('%s', 'base64')",
												 zs_dict_describe(&info),
												 base64(learned->blob))));
	execute(sql.data);
	resetStringInfo(&sql);
	appendStringInfo(&sql, "ALTER FUNCTION %s.%s%u() DEPENDS ON EXTENSION zson_dict",
					 ZS_SCHEMA, ZS_DICT_PREFIX, info.id);
	execute(sql.data);
	SetUserIdAndSecContext(save_user, save_context);
	return info.id;
}

/* One at a time for each column, and for the default. */
static void
lock_column(const char *label)
{
	uint32		hash = hash_bytes((const unsigned char *) label, strlen(label));

	if (!DatumGetBool(DirectFunctionCall2(pg_try_advisory_xact_lock_int4,
										  Int32GetDatum(LOCK_CLASS),
										  Int32GetDatum((int32) hash))))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a dictionary for \"%s\" is being learned by another session",
						*label ? label : "default")));
}

/* Samples, learns and keeps; label: "" for the default dictionary. */
static uint32
train(Source *sources, int nsources, const char *label, int max_examples,
	  const ZsLearnOptions *options, ZsLearned *learned)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "zson training",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Sample		sample = {.context = context,.max = max_examples};
	uint32		id = 0;
	char	   *note;
	bool		identical = true;

	if (max_examples < 1 || max_examples > 1000000)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_examples must be between 1 and 1000000")));
	if (options->min_length < 1 || options->max_length < options->min_length ||
		options->min_count < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("min_length and min_count must be at least 1, max_length at least min_length")));
	lock_column(label);
	sample.docs = palloc(max_examples * sizeof(Jsonb *));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	for (int i = 0; i < nsources; i++)
		sample_source(&sample, &sources[i],
					  Max(1, (max_examples - sample.n) / (nsources - i)));
	MemoryContextSwitchTo(context);
	if (sample.n < 2)
		ereport(ERROR,
				(errcode(ERRCODE_NO_DATA_FOUND),
				 errmsg("not enough documents to learn from"),
				 errdetail("Found %d, at least 2 are needed.", sample.n)));
	for (int i = 1; i < sample.n && identical; i++)
		identical = VARSIZE(sample.docs[i]) == VARSIZE(sample.docs[0]) &&
			memcmp(sample.docs[i], sample.docs[0], VARSIZE(sample.docs[0])) == 0;
	if (identical)
		ereport(NOTICE,
				(errmsg("all %d example documents are the same", sample.n)));
	/* a few documents are used more than once, so that some are held out */
	if (sample.n < 5)
	{
		Jsonb	  **docs = palloc(5 * sizeof(Jsonb *));

		for (int i = 0; i < 5; i++)
			docs[i] = sample.docs[i % sample.n];
		sample.docs = docs;
		sample.n = 5;
	}
	note = psprintf("learned %s from %d documents",
					timestamptz_to_str(GetCurrentTransactionStartTimestamp()),
					sample.n);
	zs_learn(sample.docs, sample.n, options,
			 psprintf("%s; %s", *label ? label : "default", note), learned);
	if (learned->before_bytes - learned->after_bytes >
		MIN_GAIN(learned->before_bytes))
		id = keep(learned, label,
				  psprintf("%s, " ZS_HELD_OUT, note,
						   (double) learned->after_bytes / learned->nholdout,
						   (double) learned->jsonb_bytes / learned->nholdout));
	SPI_finish();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return id;
}

static char *
report(uint32 id, const ZsLearned *l)
{
	return psprintf("%s: %d documents held out take %.1f bytes each, %.1f before, %.1f as jsonb",
					id ? psprintf("dictionary %u is in use from the end of this transaction", id) :
					"nothing is gained, no dictionary was made",
					l->nholdout, (double) l->after_bytes / l->nholdout,
					(double) l->before_bytes / l->nholdout,
					(double) l->jsonb_bytes / l->nholdout);
}

Datum
zson_train(PG_FUNCTION_ARGS)
{
	Source		source;
	ZsLearnOptions options;
	ZsLearned	learned;
	uint32		id;
	TupleDesc	desc;
	Datum		values[7];
	bool		nulls[7] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	resolve(PG_GETARG_OID(0), NameStr(*PG_GETARG_NAME(1)), &source);
	options.min_length = PG_GETARG_INT32(3);
	options.max_length = PG_GETARG_INT32(4);
	options.min_count = PG_GETARG_INT32(5);
	id = train(&source, 1, source.label, PG_GETARG_INT32(2), &options,
			   &learned);
	nulls[0] = id == 0;
	values[0] = Int32GetDatum(id);
	values[1] = Int32GetDatum(learned.ntrain);
	values[2] = Int32GetDatum(learned.nholdout);
	values[3] = Float8GetDatum((double) learned.jsonb_bytes / learned.nholdout);
	values[4] = Float8GetDatum((double) learned.before_bytes / learned.nholdout);
	values[5] = Float8GetDatum((double) learned.after_bytes / learned.nholdout);
	values[6] = CStringGetTextDatum(report(id, &learned));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

Datum
zson_learn(PG_FUNCTION_ARGS)
{
	ArrayType  *pairs = PG_GETARG_ARRAYTYPE_P(0);
	Datum	   *elems;
	bool	   *nulls;
	int			n;
	Source	   *sources;
	ZsLearnOptions options;
	ZsLearned	learned;
	uint32		id;

	if (ARR_NDIM(pairs) != 2 || ARR_DIMS(pairs)[1] != 2)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("tables and columns must be an array of pairs"),
				 errhint("Write '{{\"table\", \"column\"}}'.")));
	deconstruct_array(pairs, TEXTOID, -1, false, TYPALIGN_INT, &elems, &nulls,
					  &n);
	sources = palloc(n / 2 * sizeof(Source));
	for (int i = 0; i < n; i += 2)
	{
		List	   *names;
		Oid			relid;

		if (nulls[i] || nulls[i + 1])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("names of tables and columns must not be null")));
		names = textToQualifiedNameList(DatumGetTextPP(elems[i]));
		relid = RangeVarGetRelid(makeRangeVarFromNameList(names),
								 AccessShareLock, false);
		resolve(relid, TextDatumGetCString(elems[i + 1]), &sources[i / 2]);
	}
	options.min_length = PG_GETARG_INT32(2);
	options.max_length = PG_GETARG_INT32(3);
	options.min_count = PG_GETARG_INT32(4);
	id = train(sources, n / 2, "", PG_GETARG_INT32(1), &options, &learned);
	PG_RETURN_TEXT_P(cstring_to_text(report(id, &learned)));
}
