/*-------------------------------------------------------------------------
 *
 * st_adopt.c
 *	  adopt(): a heap table becomes one of ours where it is.
 *
 * A heap table is a table of ours that is all delta.  So no row is touched:
 * the catalogs name another access method, and the table gets what ours has
 * beside its rows, a TOAST relation and a metapage.  That stands behind the
 * last page of heap (st_meta.c).  Indexes, TIDs, statistics and whatever else
 * hangs on the table's OID stay.
 *
 * All of it is undone by a rollback, but for one page: to heap an empty one
 * without room, which VACUUM cuts off or the next adoption takes.  A crash is
 * no other case.
 *
 * What could not work is refused before anything is changed.
 *
 * Lock: AccessExclusiveLock until the transaction ends, like ALTER TABLE.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "st_error.h"
#include "st_progress.h"
#include "st_switch.h"
#include "st_visibility.h"

/* ---- what is refused ---- */

/* An index that thinks of a row's place as a page of the file. */
static void
check_index(Relation rel, Oid indexoid)
{
	Relation	index = index_open(indexoid, AccessShareLock);
	char	   *method = get_am_name(index->rd_rel->relam);

	if (index->rd_rel->relam == BRIN_AM_OID || strcmp(method, "zonemap") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" of table \"%s\" is of access method \"%s\"",
						RelationGetRelationName(index),
						RelationGetRelationName(rel), method),
				 errdetail("Such an index needs rows that are numbered by blocks of the file."),
				 errhint("Drop it; the table will keep the minimum and maximum of every column by itself.")));
	pfree(method);
	index_close(index, NoLock);
}

/*
 * The server gives toasted values chunk_ids from 10000 on, and we take those
 * below.  Whatever else stands there would look like entries of ours.
 */
static void
check_toast(Relation rel, const char *am_name)
{
	StCatalog	cat;
	bool		found;

	if (!st_catalog_open(&cat, rel, AccessShareLock))
		return;
	found = st_catalog_any(&cat);
	st_catalog_close(&cat);
	if (found)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the TOAST relation of \"%s\" has values with a chunk_id below 10000",
						RelationGetRelationName(rel)),
				 errdetail("The access method uses these numbers."),
				 errhint("ALTER TABLE ... SET ACCESS METHOD %s writes it anew.",
						 quote_identifier(am_name))));
}

static void
check_adoptable(Relation rel, const char *am_name)
{
	List	   *indexes;
	ListCell   *lc;

	if (rel->rd_rel->relam == get_table_am_oid(am_name, false))
		return;
	st_check_kind(rel, am_name);
	st_check_extension(rel);
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
		check_index(rel, lfirst_oid(lc));
	list_free(indexes);
}

/* ---- all that is refused, as a list ---- */

/* One check of one table, or of one of its indexes. */
typedef struct Obstacle
{
	Relation	rel;
	const char *am_name;
	Oid			index;
} Obstacle;

static void
try_kind(void *arg)
{
	const Obstacle *o = arg;

	st_check_kind(o->rel, o->am_name);
}

static void
try_extension(void *arg)
{
	st_check_extension(((const Obstacle *) arg)->rel);
}

static void
try_index(void *arg)
{
	const Obstacle *o = arg;

	check_index(o->rel, o->index);
}

static void
try_toast(void *arg)
{
	const Obstacle *o = arg;

	check_toast(o->rel, o->am_name);
}

/* Puts what the check refuses into the set, if it does; other errors go on up. */
static bool
put_obstacle(ReturnSetInfo *rsinfo, StTryStep check, Obstacle *obstacle)
{
	ErrorData  *error = st_try(check, obstacle, CurrentMemoryContext);
	Datum		values[2] = {0};
	bool		nulls[2] = {0};

	if (error == NULL)
		return false;
	if (error->sqlerrcode != ERRCODE_WRONG_OBJECT_TYPE &&
		error->sqlerrcode != ERRCODE_FEATURE_NOT_SUPPORTED &&
		error->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE &&
		error->sqlerrcode != ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
		ReThrowError(error);
	values[0] = CStringGetTextDatum(error->message);
	nulls[1] = error->hint == NULL;
	if (!nulls[1])
		values[1] = CStringGetTextDatum(error->hint);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return true;
}

Datum
st_obstacles_function(FunctionCallInfo fcinfo, const char *am_name)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Obstacle	obstacle = {.rel = rel, .am_name = am_name};
	List	   *indexes = RelationGetIndexList(rel);
	bool		fit = true;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (rel->rd_rel->relam != get_table_am_oid(am_name, false))
		fit = !put_obstacle(rsinfo, try_kind, &obstacle);
	(void) put_obstacle(rsinfo, try_extension, &obstacle);
	foreach(lc, indexes)
	{
		obstacle.index = lfirst_oid(lc);
		(void) put_obstacle(rsinfo, try_index, &obstacle);
	}
	if (fit && rel->rd_rel->relam == HEAP_TABLE_AM_OID)
		(void) put_obstacle(rsinfo, try_toast, &obstacle);
	list_free(indexes);
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* ---- the change ---- */

static void
adopt(Relation rel, const char *am_name)
{
	StCatalog	cat;
	BlockNumber block;

	st_switch_am(rel, get_table_am_oid(am_name, false));
	if (!st_catalog_ensure(rel) || !st_catalog_open(&cat, rel, RowExclusiveLock))
		elog(ERROR, "could not make a TOAST relation for \"%s\"",
			 RelationGetRelationName(rel));
	block = st_meta_adopt(rel, st_used_rows_end(&cat));
	if (block != ST_META_BLOCK)
		st_place_set(&cat, block);
	st_catalog_close(&cat);
	CommandCounterIncrement();
}

/* ---- proof ---- */

char *
st_switch_fingerprint(Relation rel, const char *am_name)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(RelationGetRelid(rel))};
	char	   *query = psprintf("SELECT pg_catalog.string_agg(fingerprint::pg_catalog.text, ' ')"
								 " FROM %s.fingerprint($1::pg_catalog.regclass)",
								 quote_identifier(am_name));
	char	   *text;
	char	   *copy;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(query, 1, types, values, NULL, false, 0) != SPI_OK_SELECT ||
		SPI_processed != 1)
		elog(ERROR, "fingerprint of relation \"%s\" failed",
			 RelationGetRelationName(rel));
	text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	copy = SPI_palloc(strlen(text) + 1);
	strcpy(copy, text);
	SPI_finish();
	pfree(query);
	return copy;
}

void
st_switch_compare(Relation rel, const char *am_name, const char *before)
{
	if (strcmp(before, st_switch_fingerprint(rel, am_name)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("contents of \"%s\" are not what they were",
						RelationGetRelationName(rel)),
				 errdetail("Their fingerprints before and after the change of the access method differ.")));
}

void
st_adopt(Oid relid, bool verify, const Interval *patience, const char *am_name)
{
	Relation	rel;

	st_progress_begin(ST_COMMAND_ADOPT, get_table_am_oid(am_name, false), relid);
	rel = st_switch_open(relid, patience, check_adoptable, am_name);
	if (rel->rd_rel->relam == get_table_am_oid(am_name, false))
		ereport(NOTICE,
				(errmsg("\"%s\" is a %s table already",
						RelationGetRelationName(rel), am_name)));
	else
	{
		char	   *before = NULL;

		check_toast(rel, am_name);
		if (verify)
			before = st_switch_fingerprint(rel, am_name);
		adopt(rel, am_name);
		if (verify)
			st_switch_compare(rel, am_name, before);
	}
	st_progress_end(ST_COMMAND_ADOPT);
	relation_close(rel, NoLock);
}

void
st_adopt_call(FunctionCallInfo fcinfo, const char *am_name)
{
	PreventCommandIfReadOnly("adopt");
	PreventCommandDuringRecovery("adopt");
	PreventCommandIfParallelMode("adopt");
	st_adopt(PG_GETARG_OID(0), PG_GETARG_BOOL(1), PG_GETARG_INTERVAL_P(2), am_name);
}
