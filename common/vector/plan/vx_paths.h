/*-------------------------------------------------------------------------
 *
 * vx_paths.h
 *	  Scan paths over tables of the format, offered beside the server's own.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_PATHS_H
#define VX_PATHS_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "utils/rel.h"

/* For set_rel_pathlist_hook. */
extern void vx_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
								RangeTblEntry *rte);

/* From vx_init(). */
extern void vx_paths_init(void);

/*
 * A scan of the relation for a node that takes its vectors and not its rows,
 * partial if there are workers; target holds nothing but columns.  NULL if our
 * scan cannot serve.
 */
extern CustomPath *vx_make_vector_scan_path(PlannerInfo *root, RelOptInfo *rel,
											Relation relation, PathTarget *target,
											int workers);

/* A table of ours is among those that rel, or its children, stand for. */
extern bool vx_has_table(PlannerInfo *root, RelOptInfo *rel);

/* The query, or one that it is made of, reads such a table; NULL: it is not planned yet. */
extern bool vx_query_has_table(PlannerInfo *root);

/*
 * Among the columns are some of type record, which a CTE or subquery makes.  No type
 * names their fields: EXPLAIN looks for the names in the plan of the CTE or subquery,
 * which it does not find below a custom scan.
 */
extern bool vx_has_records(Node *exprs);

/* Some condition is the same for all rows: the server tests it above the scan. */
extern bool vx_has_pseudoconstant(RelOptInfo *rel);

/*
 * An expression that the executor can compute from a row of the table; relid
 * 0: that a plan below can compute.
 */
extern bool vx_is_computable(Node *expr, Index relid);

/*
 * Adds the rels that rows of an append relation come from.  False if one of
 * them is to be left to the server.
 */
extern bool vx_collect_children(PlannerInfo *root, RelOptInfo *parent, List **children);

/*
 * Sets rows and costs of a scan path.  attnos: what the scan decodes, offset
 * by FirstLowInvalidHeapAttributeNumber.  path has its target, parameters
 * and number of workers already.
 */
extern void vx_cost_scan(Path *path, PlannerInfo *root, RelOptInfo *rel,
						 Relation relation, const Bitmapset *attnos, bool vectors);

/* The same for one that reads only the rows that the bitmap's index finds. */
extern void vx_cost_bitmap_vectors(Path *path, PlannerInfo *root, RelOptInfo *rel,
								   Relation relation, const Bitmapset *attnos,
								   bool vectors, Path *bitmap);

/* What a scan path starts with, however little it reads. */
extern Cost vx_least_scan_cost(void);

/*
 * Share of the rows that zones of the expressions in orderby, over zone_rows rows
 * each, are expected to leave to be read.  *ntested goes up by these expressions.
 */
extern double vx_order_read_share(PlannerInfo *root, RelOptInfo *rel, Relation relation,
								  double zone_rows, int *ntested);

/* Of looking into all row groups of a table, and there into so many columns. */
extern Cost vx_group_cost(RelOptInfo *rel, Relation relation, double ncolumns);

/* What is to be added to the server's own sequential scan. */
extern Cost vx_plain_scan_cost(RelOptInfo *rel, Relation relation);

/*
 * The same for the server's index and bitmap scans of the relation, which
 * option index_scan may make the only ones, or disable.
 */
extern void vx_cost_index_paths(PlannerInfo *root, RelOptInfo *rel, Relation relation,
								const Bitmapset *attnos);

/*
 * For get_relation_info_hook: unique indexes of the table count as keys that what is joined by
 * all their columns refers to.
 */
extern void vx_note_unique_keys(PlannerInfo *root, RelOptInfo *rel, Oid relid);

/* Is there an index or bitmap scan with conditions, and without parameters? */
extern bool vx_prefers_index(const RelOptInfo *rel);

/* Share of the row's width that the columns have; *ncolumns: their number. */
typedef struct VxColumnsNeeded
{
	int			n;
	double		width;			/* of a row's values */
	double		share;			/* of the table's pages that is read */
} VxColumnsNeeded;

extern void vx_columns_needed(RelOptInfo *rel, Relation relation, const Bitmapset *attnos,
							  VxColumnsNeeded *needed);

/*
 * CPU cost of taking one row's values of the columns out of their vectors.  *far: more,
 * where these are not at hand, because the table has more than a session keeps.
 */
extern Cost vx_row_fetch_cost(RelOptInfo *rel, Relation relation,
							  const Bitmapset *attnos, Cost *far);

/* Participants that share the work of a parallel path. */
extern double vx_parallel_divisor(const Path *path);

/* What workers cost beyond parallel_setup_cost before they read the first vector. */
extern Cost vx_workers_cost(int workers);

/*
 * Share of the rows that have the most common value of a key; and of how many values.
 * selected: share of the table's rows.  A value that more rows have is one that
 * conditions leave out.
 */
extern double vx_most_common_share(PlannerInfo *root, Node *key, double selected, double *nvalues);

/* Of so many workers, those that find a processor, beside the leader. */
extern int	vx_busy_workers(int workers);

/* Pages that the rows would take in a heap: the measure of work to share. */
extern double vx_heap_pages(RelOptInfo *rel, Relation relation);

/* What custom_private of a scan's plan has. */
typedef enum VxScanPrivate
{
	VX_SCAN_TOPN,				/* integers by VxTopNField, or NIL */
	VX_SCAN_PARTS,				/* (attribute number, places): documents of which
								 * parts are handed up (vx_path_use.h) */
	VX_SCAN_FALLBACK,			/* strings: what is not done in vectors, and why */
	VX_SCAN_HIDES				/* integer: its quals may hide rows from a role */
} VxScanPrivate;

/* ---- vx_topn_path.c: ORDER BY ... LIMIT over one table ---- */

/*
 * A scan that knows the limit has three expressions behind its quals in
 * custom_exprs: the first sort key, LIMIT and OFFSET (null: none).  Its
 * private integers:
 */
typedef enum VxTopNField
{
	VX_TOPN_NQUALS,
	VX_TOPN_DESCENDING,
	VX_TOPN_NULLS_FIRST,
	VX_TOPN_NFIELDS
} VxTopNField;

/* Expressions behind the quals. */
typedef enum VxTopNExpr
{
	VX_TOPN_KEY,
	VX_TOPN_LIMIT,
	VX_TOPN_OFFSET,
	VX_TOPN_NEXPRS
} VxTopNExpr;

/* For create_upper_paths_hook at UPPERREL_ORDERED; input_rel is our table. */
extern void vx_topn_add_path(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *ordered_rel, Relation relation);

/* The same for partitions, children by inheritance, and arms of UNION ALL. */
extern void vx_topn_add_append_path(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *ordered_rel);

/* The first sort key, if it has ranks; NULL: not a query for us. */
extern Node *vx_topn_first_key(PlannerInfo *root, SortGroupClause **clause,
							   bool *descending);

/* LIMIT and OFFSET, a null constant where there is none. */
extern List *vx_topn_limits(PlannerInfo *root);

/* Their sum; -1: not known yet. */
extern double vx_topn_limit(PlannerInfo *root);

/* The server's Sort above the path, and the query's target list. */
extern void vx_topn_add_sorted_path(PlannerInfo *root, RelOptInfo *ordered_rel,
									Path *path);

/* ---- vx_join_path.c ---- */

/* For set_join_pathlist_hook. */
extern void vx_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
								 RelOptInfo *outerrel, RelOptInfo *innerrel,
								 JoinType jointype, JoinPathExtraData *extra);

/* It is a join of vectors, maybe below a projection. */
extern bool vx_is_join_path(const Path *path);

/*
 * The node above may stop before it has all rows, although nothing here
 * shows it that a limit does so anywhere above.
 */
extern bool vx_may_stop_early(PlannerInfo *root);

/*
 * Conditions run for all rows of a vector before the first one is handed out: may
 * these, that is, is none of them volatile, and may none tell what it sees?
 */
extern bool vx_is_safe_ahead(PlannerInfo *root, Node *exprs);

/*
 * The best join of vectors among the paths of a relation, and what it costs for a
 * node that takes its vectors; or NULL.
 */
extern Path *vx_join_vector_path(List *paths, Cost *cost);

/*
 * vx_join_risk.c: nested loops among the join's paths that bet on few rows are
 * costed as such.
 */
extern void vx_join_weigh_loops(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
								RelOptInfo *inner, JoinType type, JoinPathExtraData *extra);

/* From vx_init(). */
extern void vx_join_path_init(void);

/* ---- vx_append_path.c ---- */

/*
 * A path that hands out vectors of all the relation's children, to the participants of a
 * parallel plan if it is to be partial; NULL: there is none.
 */
extern Path *vx_append_vector_path(PlannerInfo *root, RelOptInfo *rel, bool partial);

/* Why there is none; NULL: it has no table of ours, or there is one. */
extern const char *vx_append_trouble(PlannerInfo *root, RelOptInfo *rel);

/*
 * A scan of a table by vectors of these columns, shared by so many workers, or 0.
 * NULL: the table is not ours.
 */
extern Path *vx_table_vector_path(PlannerInfo *root, RelOptInfo *rel, PathTarget *target,
								  int workers);

/* From vx_init(). */
extern void vx_append_path_init(void);

/* ---- vx_sort_path.c ---- */

/* For create_upper_paths_hook at UPPERREL_ORDERED and UPPERREL_DISTINCT. */
extern void vx_sort_add_paths(PlannerInfo *root, RelOptInfo *ordered_rel);
extern void vx_distinct_on_add_paths(PlannerInfo *root, RelOptInfo *distinct_rel);

/* ---- vx_window_path.c ---- */

/* For create_upper_paths_hook at UPPERREL_WINDOW. */
extern void vx_window_add_paths(PlannerInfo *root, RelOptInfo *window_rel);

/* From vx_init(). */
extern void vx_window_path_init(void);

/* ---- vx_upper_paths.c, vx_agg_path.c ---- */

/* For create_upper_paths_hook. */
extern void vx_create_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								  RelOptInfo *input_rel, RelOptInfo *output_rel,
								  void *extra);

/* From vx_init(). */
extern void vx_agg_path_init(void);

#endif							/* VX_PATHS_H */
