/*-------------------------------------------------------------------------
 *
 * st_column_stats.c
 *	  What the server's statistics say of a column, remembered per backend.
 *
 * Costs of scans over columns need the width of every column, also of those
 * that the query does not name, and the correlation of those that it compares.
 * For a short query, looking that up in pg_statistic each time costs more
 * than all other reckoning, so it is remembered until a row of pg_statistic
 * or the table's relcache entry changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "st_column_stats.h"

/* Columns remembered; when there are more, all are forgotten. */
#define ST_MAX_COLUMNS	4096

typedef struct ColumnKey
{
	Oid			relid;
	int32		attno;
} ColumnKey;

typedef struct ColumnStats
{
	ColumnKey	key;			/* first: hash key */
	int32		width;			/* -1: not looked up */
	double		correlation;	/* squared; -1: not looked up */
} ColumnStats;

static HTAB *columns = NULL;

/* Raised by every invalidation, also while something is looked up. */
static uint64 invalidations = 0;

static void
forget_columns(void)
{
	invalidations++;
	if (columns != NULL)
		hash_destroy(columns);
	columns = NULL;
}

static void
relcache_callback(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	ColumnStats *column;

	if (!OidIsValid(relid))
	{
		forget_columns();
		return;
	}
	invalidations++;
	if (columns == NULL)
		return;
	hash_seq_init(&status, columns);
	while ((column = hash_seq_search(&status)) != NULL)
	{
		if (column->key.relid == relid)
			hash_search(columns, &column->key, HASH_REMOVE, NULL);
	}
}

static void
statistic_callback(Datum arg, int cacheid, uint32 hashvalue)
{
	forget_columns();
}

static ColumnStats *
find_column(Oid relid, AttrNumber attno)
{
	ColumnKey	key = {.relid = relid, .attno = attno};

	return columns == NULL ? NULL :
		hash_search(columns, &key, HASH_FIND, NULL);
}

/* The entry of a column, made if need be; no invalidation comes in between. */
static ColumnStats *
enter_column(Oid relid, AttrNumber attno)
{
	ColumnKey	key = {.relid = relid, .attno = attno};
	ColumnStats *column;
	bool		found;

	if (columns != NULL && hash_get_num_entries(columns) >= ST_MAX_COLUMNS)
	{
		hash_destroy(columns);
		columns = NULL;
	}
	if (columns == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(ColumnKey);
		ctl.entrysize = sizeof(ColumnStats);
		ctl.hcxt = CacheMemoryContext;
		columns = hash_create("column statistics", 64, &ctl,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	column = hash_search(columns, &key, HASH_ENTER, &found);
	if (!found)
	{
		column->width = -1;
		column->correlation = -1;
	}
	return column;
}

int32
st_column_width(RelOptInfo *rel, Relation relation, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(relation), attno - 1);
	Oid			relid = RelationGetRelid(relation);
	ColumnStats *column;
	uint64		before;
	int32		width;

	if (att->attisdropped)
		return 0;
	if (rel->attr_widths[attno - rel->min_attr] > 0)
		return rel->attr_widths[attno - rel->min_attr];
	column = find_column(relid, attno);
	if (column != NULL && column->width >= 0)
		return column->width;

	before = invalidations;
	width = get_attavgwidth(relid, attno);
	if (width <= 0)
		width = get_typavgwidth(att->atttypid, att->atttypmod);
	if (before == invalidations && get_attavgwidth_hook == NULL)
		enter_column(relid, attno)->width = width;
	return width;
}

static double
look_up_correlation(PlannerInfo *root, Var *var)
{
	VariableStatData vardata;
	AttStatsSlot sslot;
	double		result = 0;

	examine_variable(root, (Node *) var, 0, &vardata);
	if (HeapTupleIsValid(vardata.statsTuple) &&
		get_attstatsslot(&sslot, vardata.statsTuple, STATISTIC_KIND_CORRELATION,
						 InvalidOid, ATTSTATSSLOT_NUMBERS))
	{
		if (sslot.nnumbers == 1)
			result = (double) sslot.numbers[0] * sslot.numbers[0];
		free_attstatsslot(&sslot);
	}
	ReleaseVariableStats(vardata);
	return result;
}

double
st_squared_correlation(PlannerInfo *root, Var *var)
{
	Oid			relid = planner_rt_fetch(var->varno, root)->relid;
	ColumnStats *column = find_column(relid, var->varattno);
	uint64		before;
	double		correlation;

	if (column != NULL && column->correlation >= 0)
		return column->correlation;

	before = invalidations;
	correlation = look_up_correlation(root, var);
	if (before == invalidations && get_relation_stats_hook == NULL)
		enter_column(relid, var->varattno)->correlation = correlation;
	return correlation;
}

void
st_column_stats_init(void)
{
	CacheRegisterRelcacheCallback(relcache_callback, (Datum) 0);
	CacheRegisterSyscacheCallback(STATRELATTINH, statistic_callback, (Datum) 0);
}
