/*-------------------------------------------------------------------------
 *
 * vx_upper_paths.c
 *	  What the planner is offered above scans: aggregation, set operations, windows,
 *	  and the first rows of ORDER BY ... LIMIT.
 *
 * For create_upper_paths_hook: which stage of which query is for whom.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

#include "vx_agg_path_int.h"
#include "vx_format.h"
#include "vx_paths.h"
#include "vx_settings.h"
#include "st_compat.h"
#include "st_store.h"

static List *
equality_operators(List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		result = lappend_oid(result, lfirst_node(SortGroupClause, lc)->eqop);
	return result;
}

/* GROUPING() makes sense without grouping sets, too; only Agg knows it. */
static bool
uses_grouping(PlannerInfo *root)
{
	return vx_agg_collect(root->processed_tlist, T_GroupingFunc) != NIL ||
		vx_agg_collect(root->parse->havingQual, T_GroupingFunc) != NIL;
}

static bool
stage_is_ours(PlannerInfo *root, UpperRelationKind stage, void *extra)
{
	switch (stage)
	{
		case UPPERREL_ORDERED:
		case UPPERREL_WINDOW:
			return true;
		case UPPERREL_GROUP_AGG:
			return vx_enable_vector_aggregate && extra != NULL &&
				(root->parse->groupingSets != NIL || !uses_grouping(root));
		case UPPERREL_DISTINCT:
			return vx_enable_vector_aggregate && !root->parse->hasDistinctOn &&
				!root->parse->hasTargetSRFs;
		default:
			return false;
	}
}

/*
 * What the stage groups by and computes; clauses: of GROUP BY, or of DISTINCT,
 * which is grouping without aggregates.
 */
static VxAggQuery *
make_query(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
		   RelOptInfo *output_rel, void *extra, List *clauses)
{
	VxAggQuery *query = palloc0(sizeof(VxAggQuery));

	if (stage == UPPERREL_DISTINCT)
		query->target = input_rel->reltarget;
	else
	{
		query->target = output_rel->reltarget;
		query->having = (List *) ((GroupPathExtraData *) extra)->havingQual;
	}
	query->keys = get_sortgrouplist_exprs(clauses, root->processed_tlist);
	if (IS_OTHER_REL(input_rel))
		query->keys = st_translate_to_child(root, query->keys, input_rel);
	query->eqops = equality_operators(clauses);
	query->aggregates = vx_agg_collect(list_concat_copy(query->target->exprs, query->having), T_Aggref);
	if (stage == UPPERREL_GROUP_AGG)
	{
		query->sets = vx_agg_sets(root, clauses);
		query->dependents = vx_agg_dependents(query);
	}
	return query;
}

/*
 * The lists of clauses to group by: fewer ones, if they determine the others, and then all,
 * which is what participants of a parallel plan can do.
 */
static List *
grouping_clauses(PlannerInfo *root, UpperRelationKind stage)
{
	List	   *all = stage == UPPERREL_DISTINCT ? root->parse->distinctClause :
		root->parse->groupClause;
	List	   *fewer = st_fewer_group_clauses(root);

	if (stage == UPPERREL_DISTINCT || root->parse->groupingSets != NIL || fewer == NIL ||
		list_length(fewer) == list_length(all))
		return list_make1(all);
	return list_make2(fewer, all);
}

/* The stage's paths for a table of ours. */
static void
add_paths_of_table(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, void *extra)
{
	/* The planner holds a lock on it. */
	Relation	relation = table_open(planner_rt_fetch(input_rel->relid, root)->relid, NoLock);

	if (st_relation_format(relation) == vx_format->store)
	{
		if (stage == UPPERREL_ORDERED)
			vx_topn_add_path(root, input_rel, output_rel, relation);
		else
		{
			ListCell   *lc;

			foreach(lc, grouping_clauses(root, stage))
			{
				List	   *clauses = lfirst(lc);
				VxAggQuery *query = make_query(root, stage, input_rel, output_rel, extra,
											   clauses);

				if (!expression_returns_set((Node *) query->keys))
					vx_agg_add_table_paths(root, input_rel, output_rel, query, clauses, relation);
				else if (query->sets == NIL && vx_agg_is_supported(root, input_rel, query, clauses, 0))
					vx_agg_add_append_paths(root, input_rel, output_rel, query);
			}
		}
	}
	table_close(relation, NoLock);
}

/*
 * Partitions, children by inheritance, arms of UNION ALL, joins, security
 * barriers: with a table of ours among them, or a join of vectors.
 */
static void
add_paths_of_many(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				  RelOptInfo *output_rel, void *extra)
{
	ListCell   *lc;
	Cost		cost;

	if (IS_OTHER_REL(input_rel) ||
		!(vx_has_table(root, input_rel) ||
		  (IS_JOIN_REL(input_rel) && vx_join_vector_path(input_rel->pathlist, &cost))))
		return;
	if (stage == UPPERREL_ORDERED)
	{
		if (IS_SIMPLE_REL(input_rel))
			vx_topn_add_append_path(root, input_rel, output_rel);
		return;
	}
	foreach(lc, grouping_clauses(root, stage))
	{
		VxAggQuery *query = make_query(root, stage, input_rel, output_rel, extra, lfirst(lc));

		if (vx_agg_is_supported(root, input_rel, query, lfirst(lc), 0))
			vx_agg_add_append_paths(root, input_rel, output_rel, query);
	}
}

void
vx_create_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *output_rel, void *extra)
{
	RangeTblEntry *rte = NULL;

	/* set operations have no input */
	if (stage == UPPERREL_SETOP)
		vx_setop_add_paths(root, output_rel);
	if (input_rel == NULL || vx_has_records((Node *) input_rel->reltarget->exprs))
		return;
	if (stage == UPPERREL_DISTINCT && !IS_DUMMY_REL(input_rel))
		vx_distinct_on_add_paths(root, output_rel);
	if (!stage_is_ours(root, stage, extra) || IS_DUMMY_REL(input_rel))
		return;
	if (stage == UPPERREL_WINDOW)
	{
		vx_window_add_paths(root, output_rel);
		return;
	}
	if (stage == UPPERREL_ORDERED)
		vx_sort_add_paths(root, output_rel);
	if (stage == UPPERREL_ORDERED && IS_UPPER_REL(input_rel))
		vx_agg_add_topn_paths(root, input_rel, output_rel);
	if (IS_SIMPLE_REL(input_rel))
		rte = planner_rt_fetch(input_rel->relid, root);
	if (rte && !rte->inh && rte->rtekind == RTE_RELATION)
		add_paths_of_table(root, stage, input_rel, output_rel, extra);
	else if (IS_JOIN_REL(input_rel) || (rte && rte->inh) ||
			 (rte && rte->rtekind == RTE_SUBQUERY && stage != UPPERREL_ORDERED))
		add_paths_of_many(root, stage, input_rel, output_rel, extra);
}
