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
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "st_callbacks.h"
#include "st_column_stats.h"

/* Tables remembered; when there are more, all are forgotten. */
#define ST_MAX_TABLES	1024

typedef struct ColumnStats
{
	int32		width;			/* -1: not looked up */
	float		correlation;	/* squared; -1: not looked up */
} ColumnStats;

typedef struct TableStats
{
	Oid			relid;			/* first: hash key */
	int			ncolumns;
	ColumnStats *columns;		/* by attno - 1 */
} TableStats;

static HTAB *tables = NULL;
static MemoryContext tables_mcxt = NULL;
static TableStats *last_table = NULL;

/* Raised by every invalidation, also while something is looked up. */
static uint64 invalidations = 0;

static void
forget_tables(void)
{
	invalidations++;
	last_table = NULL;
	tables = NULL;
	if (tables_mcxt != NULL)
		MemoryContextReset(tables_mcxt);
}

static void
relcache_callback(Datum arg, Oid relid)
{
	TableStats *table;

	if (!OidIsValid(relid))
	{
		forget_tables();
		return;
	}
	invalidations++;
	last_table = NULL;
	table = tables == NULL ? NULL :
		hash_search(tables, &relid, HASH_FIND, NULL);
	if (table == NULL)
		return;
	pfree(table->columns);
	hash_search(tables, &relid, HASH_REMOVE, NULL);
}

static void
statistic_callback(Datum arg, int cacheid, uint32 hashvalue)
{
	forget_tables();
}

static ColumnStats *
find_column(Oid relid, AttrNumber attno)
{
	if (last_table == NULL || last_table->relid != relid)
	{
		TableStats *table = tables == NULL ? NULL :
			hash_search(tables, &relid, HASH_FIND, NULL);

		if (table == NULL)
			return NULL;
		last_table = table;
	}
	return attno <= last_table->ncolumns ?
		&last_table->columns[attno - 1] : NULL;
}

/* Makes the entry of a table; no invalidation comes in between. */
static void
enter_table(Oid relid, int ncolumns)
{
	TableStats *table;
	ColumnStats *columns;

	if (tables_mcxt == NULL)
		tables_mcxt = AllocSetContextCreate(CacheMemoryContext,
											"column statistics",
											ALLOCSET_SMALL_SIZES);
	if (tables != NULL && hash_get_num_entries(tables) >= ST_MAX_TABLES)
		forget_tables();
	if (tables == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(TableStats);
		ctl.hcxt = tables_mcxt;
		tables = hash_create("column statistics", 32, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	columns = MemoryContextAlloc(tables_mcxt, ncolumns * sizeof(ColumnStats));
	for (int i = 0; i < ncolumns; i++)
	{
		columns[i].width = -1;
		columns[i].correlation = -1;
	}
	last_table = NULL;
	table = hash_search(tables, &relid, HASH_ENTER, NULL);
	table->ncolumns = ncolumns;
	table->columns = columns;
}

/* The entry of a column, made if need be. */
static ColumnStats *
enter_column(const RelOptInfo *rel, Oid relid, AttrNumber attno)
{
	ColumnStats *column = find_column(relid, attno);

	if (column == NULL)
	{
		enter_table(relid, rel->max_attr);
		column = find_column(relid, attno);
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
		enter_column(rel, relid, attno)->width = width;
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
	RelOptInfo *rel = find_base_rel(root, var->varno);
	Oid			relid = planner_rt_fetch(var->varno, root)->relid;
	ColumnStats *column = find_column(relid, var->varattno);
	uint64		before;
	double		correlation;

	if (column != NULL && column->correlation >= 0)
		return column->correlation;

	before = invalidations;
	correlation = look_up_correlation(root, var);
	if (before == invalidations && get_relation_stats_hook == NULL)
		enter_column(rel, relid, var->varattno)->correlation = correlation;
	return correlation;
}

void
st_column_stats_init(void)
{
	st_callbacks_relcache(relcache_callback, (Datum) 0);
	CacheRegisterSyscacheCallback(STATRELATTINH, statistic_callback, (Datum) 0);
}
