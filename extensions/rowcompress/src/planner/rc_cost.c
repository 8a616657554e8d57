/*-------------------------------------------------------------------------
 *
 * rc_cost.c
 *	  What a custom scan of a rowcompress table costs.
 *
 * Pages: all of them, as batches are read whole, but for those of batches
 * that zones are expected to rule out (st_zone_cost.h).  The end of each row
 * group, with footer and zones, is a jump.
 *
 * CPU: decoding the columns that the scan needs, by their width, and making
 * rows of them; a little less than taking heap's tuples apart.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "rc_paths.h"
#include "st_column_stats.h"
#include "st_compat.h"
#include "st_zone_cost.h"

/* Share of cpu_tuple_cost for making one row out of a batch. */
#define RC_ROW_COST		0.4

/* The same for every column that is put into it, and for 64 bytes of it. */
#define RC_COLUMN_COST	0.03

/* cpu_tuple_costs of opening a row group: footer, zones, dictionaries. */
#define RC_GROUP_COST	200

/* Rows of a batch, for lack of knowledge. */
#define RC_BATCH_BYTES	(64 * 1024)

static double
row_width(RelOptInfo *rel, Relation relation)
{
	double		width = MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);

	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
		width += st_column_width(rel, relation, attno);
	return width;
}

double
rc_heap_pages(RelOptInfo *rel, Relation relation)
{
	return Max(rel->pages, ceil(rel->tuples * row_width(rel, relation) / BLCKSZ));
}

/* cpu_tuple_costs of decoding one row's columns. */
static double
decode_cost(RelOptInfo *rel, Relation relation, const Bitmapset *attnos)
{
	bool		whole_row = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attnos);
	double		cost = 0;

	for (AttrNumber attno = 1; attno <= RelationGetNumberOfAttributes(relation); attno++)
	{
		if (!whole_row && !bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, attnos))
			continue;
		cost += RC_COLUMN_COST * (1 + (double) st_column_width(rel, relation, attno) / 64);
	}
	return cost;
}

/* Participants that share the CPU's work. */
static double
cpu_divisor(int workers)
{
	double		divisor = workers;

	if (workers == 0)
		return 1;
	if (parallel_leader_participation)
		divisor += Max(0.0, 1.0 - 0.3 * workers);
	return divisor;
}

/*
 * The server has costed its own scan as if the rows were heap's; they are
 * taken out of batches one by one, all columns of them.
 */
void
rc_cost_plain_scan(Path *path, RelOptInfo *rel, Relation relation)
{
	Bitmapset  *whole_row = bms_make_singleton(0 - FirstLowInvalidHeapAttributeNumber);

	path->total_cost += rel->tuples * cpu_tuple_cost *
		(RC_ROW_COST + decode_cost(rel, relation, whole_row)) /
		cpu_divisor(path->parallel_workers);
	bms_free(whole_row);
}

void
rc_cost_scan(Path *path, PlannerInfo *root, RelOptInfo *rel, Relation relation,
			 const Bitmapset *attnos)
{
	double		seq_page_cost;
	double		random_page_cost;
	double		batch_rows = Max(1, RC_BATCH_BYTES / row_width(rel, relation));
	int			ntested;
	double		share = st_zone_read_share(root, rel, batch_rows, &ntested);
	double		tuples = rel->tuples * share;
	double		groups = ceil(rel->tuples / 122880);
	QualCost	qual_cost = rel->baserestrictcost;
	double		disk_cost;
	double		cpu_cost;

	path->rows = path->param_info ? path->param_info->ppi_rows : rel->rows;
	if (path->param_info)
	{
		QualCost	param_cost;

		cost_qual_eval(&param_cost, path->param_info->ppi_clauses, root);
		qual_cost.startup += param_cost.startup;
		qual_cost.per_tuple += param_cost.per_tuple;
	}

	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);
	disk_cost = seq_page_cost * rel->pages * share +
		Max(0, random_page_cost - seq_page_cost) * groups;
	cpu_cost = cpu_tuple_cost * RC_GROUP_COST * groups +
		tuples * (cpu_tuple_cost * (RC_ROW_COST + decode_cost(rel, relation, attnos)) +
				  qual_cost.per_tuple);
	cpu_cost += path->rows * path->pathtarget->cost.per_tuple;

	if (path->parallel_workers > 0)
	{
		double		divisor = cpu_divisor(path->parallel_workers);

		cpu_cost /= divisor;
		path->rows = clamp_row_est(path->rows / divisor);
	}
	path->startup_cost = qual_cost.startup + path->pathtarget->cost.startup;
	path->total_cost = path->startup_cost + disk_cost + cpu_cost;
	if (!enable_seqscan)
		st_path_disable(path);
}
