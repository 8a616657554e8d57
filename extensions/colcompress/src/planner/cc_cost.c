/*-------------------------------------------------------------------------
 *
 * cc_cost.c
 *	  What a custom scan of a colcompress table costs.
 *
 * Pages: those of the columns that are read, by their share of the row's
 * width, and of these what zones are expected to leave: a column that is
 * correlated with the order of the rows lets a condition on it skip nearly
 * all that it does not select, an uncorrelated one lets it skip nothing.
 *
 * CPU: a row that stands in vectors costs less than a tuple that has to be
 * taken apart, and quals mostly run on vectors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "cc_format.h"
#include "cc_paths.h"
#include "st_column_stats.h"
#include "st_compat.h"
#include "st_core.h"
#include "st_zone_cost.h"

/* Share of cpu_tuple_cost for making one row out of vectors. */
#define CC_ROW_COST		0.3

/* The same for every column that is put into it. */
#define CC_COLUMN_COST	0.02

/* The same for a node that takes vectors, of which no rows are made. */
#define CC_VECTOR_ROW_COST		0.03
#define CC_VECTOR_COLUMN_COST	0.01

/* Share of a qual's cost when it runs on vectors: by a loop or once per distinct
 * value, and value by value. */
#define CC_LOOP_QUAL_COST	0.1
#define CC_QUAL_COST	0.5

/* cpu_tuple_costs of starting a scan, of looking into a row group, there of
 * reading what is known of a column before its vectors, and of a vector's zone. */
#define CC_START_COST	200
#define CC_GROUP_COST	1000
#define CC_CHUNK_COST	100
#define CC_ZONE_COST	5

/* cpu_tuple_costs of fetching one row by its TID: as such, per value, per
 * byte of a string, and for one that shares a block with many others. */
#define CC_FETCH_COST	1.0
#define CC_FETCH_WORD_COST	0.5
#define CC_FETCH_BYTE_COST	0.05
#define CC_FETCH_BLOCK_COST	100
#define CC_WIDE_VALUE	64

/* Share of a row's and a column's cost for a row that a vector is decoded with. */
#define CC_DECODE_COST	0.5

/* Share of the rows up to which distinct values are taken for a dictionary's. */
#define CC_DISTINCT_SHARE	0.05

double
cc_heap_pages(RelOptInfo *rel, Relation relation)
{
	double		width = MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);

	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
		width += st_column_width(rel, relation, attno);
	return Max(rel->pages, ceil(rel->tuples * width / BLCKSZ));
}

static inline bool
is_referenced(const Bitmapset *attnos, AttrNumber attno)
{
	return bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attnos) ||
		bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attnos);
}

/*
 * A word is read out of its vector; of strings all lengths are decoded, and
 * wide ones mostly stand in a block that is unpacked as a whole.
 */
Cost
cc_row_fetch_cost(RelOptInfo *rel, Relation relation, const Bitmapset *attnos)
{
	double		cost = CC_FETCH_COST;

	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(relation), attno - 1);
		double		width = st_column_width(rel, relation, attno);

		if (att->attisdropped || !is_referenced(attnos, attno))
			continue;
		cost += CC_FETCH_WORD_COST;
		if (att->attlen < 0)
			cost += CC_FETCH_BYTE_COST * width;
		if (att->attlen < 0 && width >= CC_WIDE_VALUE)
			cost += CC_FETCH_BLOCK_COST;
	}
	return cost * cpu_tuple_cost;
}

double
cc_column_share(RelOptInfo *rel, Relation relation, const Bitmapset *attnos, int *ncolumns)
{
	double		needed = 0;
	double		total = 0;

	*ncolumns = 0;
	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
	{
		double		width = st_column_width(rel, relation, attno);

		total += width;
		if (is_referenced(attnos, attno))
		{
			needed += width;
			(*ncolumns)++;
		}
	}
	return total > 0 ? needed / total : 1.0;
}

/* As the server's get_parallel_divisor(). */
double
cc_parallel_divisor(const Path *path)
{
	double		divisor = path->parallel_workers;

	if (parallel_leader_participation)
		divisor += Max(0.0, 1.0 - 0.3 * path->parallel_workers);
	return divisor;
}

/*
 * Looking into all row groups, and there into so many columns.  Rows that fill
 * no group may stand in the delta.
 */
Cost
cc_group_cost(RelOptInfo *rel, Relation relation, double ncolumns)
{
	return cpu_tuple_cost * (CC_GROUP_COST + CC_CHUNK_COST * ncolumns) *
		rel->tuples / cc_format.max_rows(relation);
}

Cost
cc_least_scan_cost(void)
{
	return CC_START_COST * cpu_tuple_cost;
}

/* check_functions_in_node() callback: more than a plain operator? */
static bool
is_dear_function(Oid funcid, void *context)
{
	QualCost	cost = {0, 0};

	add_function_cost((PlannerInfo *) context, funcid, NULL, &cost);
	return cost.per_tuple > cpu_operator_cost;
}

/* Does the expression call what no loop over a vector replaces? */
static bool
calls_dear_functions(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		check_functions_in_node(node, is_dear_function, context))
		return true;
	return expression_tree_walker(node, calls_dear_functions, context);
}

/*
 * Is a condition tested on vectors by a loop, or once per distinct value?  Then
 * it saves nothing to test it on fewer rows of a vector.  Strings and documents
 * of many values are tested one by one.
 */
static bool
is_cheap_on_vectors(PlannerInfo *root, RelOptInfo *rel, Node *clause)
{
	List	   *vars = pull_var_clause(clause, PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);
		VariableStatData stats;
		double		ndistinct;
		bool		isdefault;

		if (!IsA(var, Var))
			return false;
		if (var->varno != rel->relid)
			continue;
		if (var->vartype == NUMERICOID || get_typlen(var->vartype) > 0)
			continue;
		examine_variable(root, (Node *) var, 0, &stats);
		ndistinct = get_variable_numdistinct(&stats, &isdefault);
		ReleaseVariableStats(stats);
		if (isdefault || ndistinct > rel->tuples * CC_DISTINCT_SHARE)
			return false;
	}
	return !calls_dear_functions(clause, root);
}

/*
 * Cost of the conditions (list of RestrictInfo) where found of the rows of
 * vectors of n are tested.
 */
static Cost
vector_qual_cost(PlannerInfo *root, RelOptInfo *rel, List *clauses, double n, double found)
{
	Cost		cost = 0;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		QualCost	qual_cost;

		cost_qual_eval_node(&qual_cost, (Node *) rinfo, root);
		if (is_cheap_on_vectors(root, rel, (Node *) rinfo->clause))
			cost += CC_LOOP_QUAL_COST * qual_cost.per_tuple * n;
		else
			cost += CC_QUAL_COST * qual_cost.per_tuple * found;
	}
	return cost;
}

void
cc_cost_scan(Path *path, PlannerInfo *root, RelOptInfo *rel, Relation relation,
			 const Bitmapset *attnos, bool vectors)
{
	double		row_cost = vectors ? CC_VECTOR_ROW_COST : CC_ROW_COST;
	double		column_cost = vectors ? CC_VECTOR_COLUMN_COST : CC_COLUMN_COST;
	double		seq_page_cost;
	int			ncolumns;
	int			ntested;
	double		share = cc_column_share(rel, relation, attnos, &ncolumns);
	double		read = st_zone_read_share(root, rel, ST_VECTOR_SIZE, &ntested);
	double		tuples = rel->tuples * read;
	Cost		startup_cost = rel->baserestrictcost.startup;
	double		disk_cost;
	double		cpu_cost;

	path->rows = path->param_info ? path->param_info->ppi_rows : rel->rows;
	cpu_cost = vector_qual_cost(root, rel, rel->baserestrictinfo, tuples, tuples);
	if (path->param_info)
	{
		List	   *clauses = path->param_info->ppi_clauses;
		QualCost	param_cost;

		cost_qual_eval(&param_cost, clauses, root);
		startup_cost += param_cost.startup;
		cpu_cost += vector_qual_cost(root, rel, clauses, tuples, tuples);
	}

	get_tablespace_page_costs(rel->reltablespace, NULL, &seq_page_cost);
	disk_cost = seq_page_cost * rel->pages * share * read;
	cpu_cost += tuples * row_cost * cpu_tuple_cost +
		Min(tuples, path->rows) * column_cost * cpu_tuple_cost * ncolumns;
	cpu_cost += path->rows * path->pathtarget->cost.per_tuple;
	cpu_cost += cc_group_cost(rel, relation, ntested + read * ncolumns);
	cpu_cost += cpu_tuple_cost * CC_ZONE_COST * ntested * rel->tuples / ST_VECTOR_SIZE;

	if (path->parallel_workers > 0)
	{
		double		divisor = cc_parallel_divisor(path);

		cpu_cost /= divisor;
		path->rows = clamp_row_est(path->rows / divisor);
	}
	path->startup_cost = startup_cost + path->pathtarget->cost.startup +
		CC_START_COST * cpu_tuple_cost;
	path->total_cost = path->startup_cost + disk_cost + cpu_cost;
	if (!enable_seqscan)
		st_path_disable(path);
}

/*
 * Rows that an index finds may stand in any vector: so many have one of them
 * at least.  They are decoded as a whole, but what comes above sees only the
 * rows that were found.
 */
void
cc_cost_bitmap_vectors(Path *path, PlannerInfo *root, RelOptInfo *rel, Relation relation,
					   const Bitmapset *attnos, bool vectors, Path *bitmap)
{
	double		row_cost = vectors ? CC_VECTOR_ROW_COST : CC_ROW_COST;
	double		column_cost = vectors ? CC_VECTOR_COLUMN_COST : CC_COLUMN_COST;
	double		random_page_cost;
	double		seq_page_cost;
	int			ncolumns;
	double		share = cc_column_share(rel, relation, attnos, &ncolumns);
	double		groups = ceil(rel->tuples / cc_format.max_rows(relation));
	Cost		group_cost = cc_group_cost(rel, relation, ncolumns);
	Cost		index_cost;
	Selectivity selectivity;
	double		found;
	double		read;
	double		page_cost;
	double		cpu_cost;

	cost_bitmap_tree_node(bitmap, &index_cost, &selectivity);
	found = clamp_row_est(selectivity * rel->tuples);
	read = 1.0 - pow(1.0 - Min(selectivity, 1.0), ST_VECTOR_SIZE);
	path->rows = rel->rows;

	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);
	page_cost = random_page_cost - (random_page_cost - seq_page_cost) * sqrt(read);
	cpu_cost = found * row_cost * cpu_tuple_cost +
		vector_qual_cost(root, rel, rel->baserestrictinfo, rel->tuples * read, found) +
		Min(found, path->rows) * column_cost * cpu_tuple_cost * ncolumns +
		path->rows * path->pathtarget->cost.per_tuple;
	cpu_cost += rel->tuples * read * CC_DECODE_COST * cpu_tuple_cost *
		(CC_VECTOR_ROW_COST + CC_VECTOR_COLUMN_COST * ncolumns);
	cpu_cost += group_cost * Min(1.0, found / groups);

	path->startup_cost = index_cost + rel->baserestrictcost.startup +
		path->pathtarget->cost.startup + CC_START_COST * cpu_tuple_cost;
	path->total_cost = path->startup_cost + cpu_cost +
		page_cost * ceil(rel->pages * share * read);
}
