/*-------------------------------------------------------------------------
 *
 * vx_settings.c
 *	  Settings of the engine, and what they are called.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_settings.h"

bool		vx_enable_custom_scan = true;
bool		vx_enable_pruning = true;
bool		vx_enable_vector_filter = true;
bool		vx_enable_vector_expressions = true;
bool		vx_enable_regex = true;
bool		vx_enable_path_columns = true;
bool		vx_enable_document_parts = true;
bool		vx_enable_vector_aggregate = true;
bool		vx_enable_aggregate_algebra = true;
bool		vx_enable_partitioned_aggregate = true;
bool		vx_enable_footer_aggregate = true;
bool		vx_enable_topn = true;
bool		vx_enable_join_filter = true;
bool		vx_enable_vector_join = true;
bool		vx_enable_robust_joins = true;
bool		vx_enable_keyed_subqueries = true;
bool		vx_enable_vector_sort = true;
bool		vx_enable_bitmap_vectors = true;
bool		vx_enable_bulk_delete = true;
bool		vx_explain_fallback = false;

int			vx_simd = VX_SIMD_AVX512;

const struct config_enum_entry vx_simd_options[] = {
	{"none", VX_SIMD_NONE, false},
	{"avx2", VX_SIMD_AVX2, false},
	{"avx512", VX_SIMD_AVX512, false},
	{NULL, 0, false}
};

const VxSwitch vx_switches[] = {
	{"enable_custom_scan",
		"Enables the planner's use of scans over compressed columns.",
	&vx_enable_custom_scan},
	{"enable_pruning",
		"Skips row groups and vectors whose minimum and maximum rule out a condition.",
	&vx_enable_pruning},
	{"enable_vector_filter",
		"Evaluates conditions on whole vectors and once per distinct value where possible.",
	&vx_enable_vector_filter},
	{"enable_vector_expressions",
		"Evaluates functions and operators on whole vectors where there is a way.",
	&vx_enable_vector_expressions},
	{"enable_regex",
		"Matches usual regular expressions by automata of our own.",
	&vx_enable_regex},
	{"enable_path_columns",
		"Takes values at paths of jsonb columns from sub-columns, or from the bytes of documents.",
	&vx_enable_path_columns},
	{"enable_document_parts",
		"Evaluates what looks at parts of a jsonb document on documents of these parts alone.",
	&vx_enable_document_parts},
	{"enable_vector_aggregate",
		"Enables the planner's use of aggregation over vectors of compressed columns.",
	&vx_enable_vector_aggregate},
	{"enable_aggregate_algebra",
		"Computes sums of x + constant, x * constant and the like from the sum of x.",
	&vx_enable_aggregate_algebra},
	{"enable_partitioned_aggregate",
		"Lets parallel workers share many groups by partitions or shares of their keys.",
	&vx_enable_partitioned_aggregate},
	{"enable_footer_aggregate",
		"Takes counts, sums and bounds of whole row groups from what is stored with them.",
	&vx_enable_footer_aggregate},
	{"enable_topn",
		"Lets a scan under ORDER BY ... LIMIT skip rows that cannot be among the first ones.",
	&vx_enable_topn},
	{"enable_join_filter",
		"Lets the build side of a hash join tell scans below its other side which rows can match.",
	&vx_enable_join_filter},
	{"enable_vector_join",
		"Enables the planner's use of hash joins that take vectors of one side.",
	&vx_enable_vector_join},
	{"enable_robust_joins",
		"Lets the planner prefer a hash join to a nested loop that would lose much if more rows come.",
	&vx_enable_robust_joins},
	{"enable_keyed_subqueries",
		"Answers correlated aggregates out of one pass that groups by what correlates them.",
	&vx_enable_keyed_subqueries},
	{"enable_vector_sort",
		"Enables the planner's use of sorts and window functions over vectors.",
	&vx_enable_vector_sort},
	{"enable_bitmap_vectors",
		"Lets the bitmap of an index say which rows of vectors a scan reads.",
	&vx_enable_bitmap_vectors},
	{"enable_bulk_delete",
		"Lets DELETE delete the rows of a vector at once.",
	&vx_enable_bulk_delete},
	{NULL, NULL, NULL}
};
