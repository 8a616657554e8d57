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
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "st_callbacks.h"
#include "st_zone_cost.h"

/* Tables remembered: one takes the place of another in its slot. */
#define TABLE_SLOTS	1024

typedef struct ColumnStats
{
	int32		width;			/* -1: not looked up */
	float		correlation;	/* squared; -1: not looked up */
} ColumnStats;

typedef struct TableStats
{
	Oid			relid;			/* invalid: an empty slot */
	int			ncolumns;
	uint64		round;
	ColumnStats *columns;		/* by attno - 1, in CacheMemoryContext */
} TableStats;

static TableStats tables[TABLE_SLOTS];

/* What was entered in another round is forgotten. */
static uint64 current_round = 0;

/* Raised by every invalidation, also while something is looked up. */
static uint64 invalidations = 0;

static void
relcache_callback(Datum arg, Oid relid)
{
	invalidations++;
	if (!OidIsValid(relid))
		current_round++;
	else if (tables[relid % TABLE_SLOTS].relid == relid)
		tables[relid % TABLE_SLOTS].relid = InvalidOid;
}

static void
statistic_callback(Datum arg, int cacheid, uint32 hashvalue)
{
	invalidations++;
	current_round++;
}

static ColumnStats *
find_column(Oid relid, AttrNumber attno)
{
	TableStats *table = &tables[relid % TABLE_SLOTS];

	return table->relid == relid && table->round == current_round &&
		attno <= table->ncolumns ? &table->columns[attno - 1] : NULL;
}

/* The entry of a column, made if need be; no invalidation comes in between. */
static ColumnStats *
enter_column(const RelOptInfo *rel, Oid relid, AttrNumber attno)
{
	TableStats *table = &tables[relid % TABLE_SLOTS];
	ColumnStats *column = find_column(relid, attno);

	if (column != NULL)
		return column;
	table->relid = InvalidOid;
	if (table->columns != NULL)
		pfree(table->columns);
	table->columns = NULL;
	table->columns = MemoryContextAlloc(CacheMemoryContext,
										rel->max_attr * sizeof(ColumnStats));
	for (int i = 0; i < rel->max_attr; i++)
		table->columns[i].width = table->columns[i].correlation = -1;
	table->ncolumns = rel->max_attr;
	table->round = current_round;
	table->relid = relid;
	return &table->columns[attno - 1];
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
