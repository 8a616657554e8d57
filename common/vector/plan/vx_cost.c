/*-------------------------------------------------------------------------
 *
 * vx_cost.c
 *	  What a custom scan of vectors costs.
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
#include <unistd.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "st_options.h"
#include "vx_format.h"
#include "vx_paths.h"
#include "st_compat.h"
#include "st_core.h"
#include "st_read.h"
#include "st_zone_cost.h"

/* Share of a qual's cost when it runs on vectors: by a loop or once per distinct
 * value, and value by value. */
#define VX_LOOP_QUAL_COST	0.04
#define VX_QUAL_COST	0.5

/* Strings from this width on share a block with others. */
#define VX_WIDE_VALUE	64

/*
 * What parallel_setup_cost is short of: workers start, load libraries, and map shared
 * memory in the time in which vectors of ten million integers are read; and each of
 * them takes a processor's time for it.
 */
#define VX_WORKERS_COST	1.2
#define VX_WORKER_COST	0.8

/* Share of a page's cost that is unpacking, which participants of a parallel plan share. */
#define VX_UNPACK_SHARE	0.5

/* Share of a row's and a column's cost for a row that a vector is decoded with. */
#define VX_DECODE_COST	0.5

/* What a session keeps of a fetched column for each row of the group: so much, and of its width. */
#define VX_KEPT_BYTES	0.25
#define VX_KEPT_SHARE	(1.0 / 64)

/* Share of the rows up to which distinct values are taken for a dictionary's. */
#define VX_DISTINCT_SHARE	0.05

/* As a tuple of heap. */
static double
row_width(RelOptInfo *rel, Relation relation)
{
	double		width = MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);

	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
		width += st_column_width(rel, relation, attno);
	return width;
}

double
vx_heap_pages(RelOptInfo *rel, Relation relation)
{
	return Max(rel->pages, ceil(rel->tuples * row_width(rel, relation) / BLCKSZ));
}

static inline bool
is_referenced(const Bitmapset *attnos, AttrNumber attno)
{
	return bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attnos) ||
		bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attnos);
}

/*
 * A word is read out of its vector; of strings all lengths are decoded, and
 * wide ones mostly stand in a block that is unpacked as a whole.  What was unpacked
 * of a row group stays at hand until others take its place.
 */
Cost
vx_row_fetch_cost(RelOptInfo *rel, Relation relation, const Bitmapset *attnos, Cost *far)
{
	const VxCosts *c = &vx_format->costs;
	double		cost = c->fetch;
	double		kept = 0;

	*far = 0;
	if (c->fetch == 0)
		return 0;
	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(relation), attno - 1);
		double		width = st_column_width(rel, relation, attno);

		if (att->attisdropped || !is_referenced(attnos, attno))
			continue;
		cost += c->fetch_word;
		kept += VX_KEPT_BYTES + VX_KEPT_SHARE * width;
		if (att->attlen < 0)
			cost += c->fetch_byte * width;
		if (att->attlen < 0 && width >= VX_WIDE_VALUE)
			cost += c->fetch_block;
	}
	if (kept * rel->tuples > ST_READER_CACHE_BYTES)
		*far = c->fetch_far * kept * st_options_get(relation)->row_group_rows * cpu_tuple_cost *
			(1 - ST_READER_CACHE_BYTES / (kept * rel->tuples));
	return cost * cpu_tuple_cost;
}

void
vx_columns_needed(RelOptInfo *rel, Relation relation, const Bitmapset *attnos,
				  VxColumnsNeeded *needed)
{
	double		total = 0;

	memset(needed, 0, sizeof(*needed));
	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
	{
		double		width = st_column_width(rel, relation, attno);

		total += width;
		if (is_referenced(attnos, attno))
		{
			needed->width += width;
			needed->n++;
		}
	}
	needed->share = vx_format->costs.reads_columns && total > 0 ? needed->width / total : 1.0;
}

/* Making a row out of vectors, and the columns of it. */
static Cost
row_cost(bool vectors)
{
	const VxCosts *c = &vx_format->costs;

	return cpu_tuple_cost * (vectors ? c->vector_row : c->row);
}

static Cost
columns_cost(const VxColumnsNeeded *needed, bool vectors)
{
	const VxCosts *c = &vx_format->costs;

	return cpu_tuple_cost *
		((vectors ? c->vector_column : c->column) * needed->n +
		 (vectors ? c->vector_width : c->width) * needed->width / 64);
}

/*
 * The server has costed its own scan as if the rows were heap's.  It looks
 * into all row groups, and takes all columns of each row out of vectors.
 */
Cost
vx_plain_scan_cost(RelOptInfo *rel, Relation relation)
{
	Bitmapset  *whole_row = bms_make_singleton(0 - FirstLowInvalidHeapAttributeNumber);
	Cost		cost = vx_group_cost(rel, relation, RelationGetNumberOfAttributes(relation));
	VxColumnsNeeded needed;

	if (vx_format->costs.plain_rows)
	{
		vx_columns_needed(rel, relation, whole_row, &needed);
		cost += rel->tuples * (row_cost(false) + columns_cost(&needed, false));
	}
	bms_free(whole_row);
	return cost;
}

/* Rows of a vector. */
static double
vector_rows(RelOptInfo *rel, Relation relation)
{
	double		bytes = vx_format->costs.vector_bytes;

	if (bytes == 0)
		return ST_VECTOR_SIZE;
	return Min(ST_VECTOR_SIZE, Max(1, bytes / row_width(rel, relation)));
}

/* As the server's get_parallel_divisor(). */
double
vx_parallel_divisor(const Path *path)
{
	double		divisor = path->parallel_workers;

	if (parallel_leader_participation)
		divisor += Max(0.0, 1.0 - 0.3 * path->parallel_workers);
	return divisor;
}

Cost
vx_workers_cost(int workers)
{
	return (VX_WORKERS_COST + VX_WORKER_COST * workers) * parallel_setup_cost;
}

static int
processors(void)
{
	static int	result = 0;

	if (result == 0)
		result = Max(1, (int) sysconf(_SC_NPROCESSORS_ONLN));
	return result;
}

int
vx_busy_workers(int workers)
{
	int			most = processors() - (parallel_leader_participation ? 1 : 0);

	return Min(workers, Max(1, most));
}

/*
 * Participants by which CPU time is divided: vectors keep a processor busy, and the leader
 * has little else to do.
 */
static double
busy_divisor(int workers)
{
	return Min(workers + (parallel_leader_participation ? 1 : 0), processors());
}

double
vx_most_common_share(PlannerInfo *root, Node *key, double selected, double *nvalues)
{
	VariableStatData stats;
	AttStatsSlot slot;
	double		share = 0;
	bool		isdefault;

	examine_variable(root, key, 0, &stats);
	*nvalues = get_variable_numdistinct(&stats, &isdefault);
	if (HeapTupleIsValid(stats.statsTuple))
	{
		double		nulls = ((Form_pg_statistic) GETSTRUCT(stats.statsTuple))->stanullfrac;

		if (nulls <= selected)
			share = nulls;
		if (get_attstatsslot(&slot, stats.statsTuple, STATISTIC_KIND_MCV, InvalidOid,
							 ATTSTATSSLOT_NUMBERS))
		{
			for (int i = 0; i < slot.nnumbers; i++)
				if (slot.numbers[i] <= selected)
					share = Max(share, slot.numbers[i]);
			free_attstatsslot(&slot);
		}
	}
	ReleaseVariableStats(stats);
	return Min(1, share / selected);
}

/*
 * Looking into all row groups, and there into so many columns.  Rows that fill
 * no group may stand in the delta.
 */
Cost
vx_group_cost(RelOptInfo *rel, Relation relation, double ncolumns)
{
	return cpu_tuple_cost * (vx_format->costs.group + vx_format->costs.chunk * ncolumns) *
		rel->tuples / st_options_get(relation)->row_group_rows;
}

Cost
vx_least_scan_cost(void)
{
	return vx_format->costs.start * cpu_tuple_cost;
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
		if (isdefault || ndistinct > rel->tuples * VX_DISTINCT_SHARE)
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
			cost += VX_LOOP_QUAL_COST * qual_cost.per_tuple * n;
		else
			cost += VX_QUAL_COST * qual_cost.per_tuple * found;
	}
	return cost;
}

void
vx_cost_scan(Path *path, PlannerInfo *root, RelOptInfo *rel, Relation relation,
			 const Bitmapset *attnos, bool vectors)
{
	double		random_page_cost;
	double		seq_page_cost;
	VxColumnsNeeded needed;
	int			ntested;
	double		nrows = vector_rows(rel, relation);
	double		read = st_zone_read_share(root, rel, nrows, &ntested);
	double		tuples;
	Cost		startup_cost = rel->baserestrictcost.startup;
	double		disk_cost;
	double		cpu_cost;

	read = Min(read, vx_order_read_share(root, rel, relation, nrows, &ntested));
	tuples = rel->tuples * read;
	vx_columns_needed(rel, relation, attnos, &needed);
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

	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);
	disk_cost = seq_page_cost * rel->pages * needed.share * read;
	/* the end of a row group, with footer and zones, is a jump */
	if (!vx_format->costs.reads_columns)
		disk_cost += Max(0, random_page_cost - seq_page_cost) *
			ceil(rel->tuples / st_options_get(relation)->row_group_rows);
	/* conditions leave rows out before they are made */
	cpu_cost += tuples * row_cost(true) +
		Min(tuples, path->rows) * (row_cost(vectors) - row_cost(true) +
								   columns_cost(&needed, vectors));
	cpu_cost += path->rows * path->pathtarget->cost.per_tuple;
	cpu_cost += vx_group_cost(rel, relation, ntested + read * needed.n);
	cpu_cost += cpu_tuple_cost * vx_format->costs.zone * ntested * rel->tuples / nrows;

	if (path->parallel_workers > 0)
	{
		double		divisor = busy_divisor(path->parallel_workers);

		/* they start once for all children, whose Append is ours to charge, or the server's */
		if (rel->reloptkind == RELOPT_BASEREL)
			startup_cost += vx_workers_cost(path->parallel_workers);
		cpu_cost /= divisor;
		disk_cost *= 1 - VX_UNPACK_SHARE + VX_UNPACK_SHARE / divisor;
		path->rows = clamp_row_est(path->rows / vx_parallel_divisor(path));
	}
	path->startup_cost = startup_cost + path->pathtarget->cost.startup +
		vx_format->costs.start * cpu_tuple_cost;
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
vx_cost_bitmap_vectors(Path *path, PlannerInfo *root, RelOptInfo *rel, Relation relation,
					   const Bitmapset *attnos, bool vectors, Path *bitmap)
{
	double		random_page_cost;
	double		seq_page_cost;
	VxColumnsNeeded needed;
	double		groups = ceil(rel->tuples / st_options_get(relation)->row_group_rows);
	Cost		group_cost;
	Cost		index_cost;
	Selectivity selectivity;
	double		found;
	double		read;
	double		nread;
	double		pages;
	double		page_cost;
	double		cpu_cost;

	vx_columns_needed(rel, relation, attnos, &needed);
	group_cost = vx_group_cost(rel, relation, needed.n);
	cost_bitmap_tree_node(bitmap, &index_cost, &selectivity);
	found = clamp_row_est(selectivity * rel->tuples);
	read = 1.0 - pow(1.0 - Min(selectivity, 1.0), vector_rows(rel, relation));
	path->rows = rel->rows;

	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);
	page_cost = random_page_cost - (random_page_cost - seq_page_cost) * sqrt(read);
	/* a vector stands in a page at least, which others share with it that are not read */
	nread = rel->tuples / vector_rows(rel, relation) * read;
	pages = rel->pages * needed.share;
	pages = Max(pages * read,
				Min(pages, nread * (vx_format->costs.reads_columns ? needed.n : 1)));
	cpu_cost = found * row_cost(vectors) +
		vector_qual_cost(root, rel, rel->baserestrictinfo, rel->tuples * read, found) +
		Min(found, path->rows) * columns_cost(&needed, vectors) +
		path->rows * path->pathtarget->cost.per_tuple;
	cpu_cost += rel->tuples * read * VX_DECODE_COST *
		(row_cost(true) + columns_cost(&needed, true));
	cpu_cost += group_cost * Min(1.0, found / groups);

	path->startup_cost = index_cost + rel->baserestrictcost.startup +
		path->pathtarget->cost.startup + vx_format->costs.start * cpu_tuple_cost;
	path->total_cost = path->startup_cost + cpu_cost + page_cost * ceil(pages);
}
