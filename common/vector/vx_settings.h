/*-------------------------------------------------------------------------
 *
 * vx_settings.h
 *	  Settings of the engine.  The extension registers them under its own
 *	  prefix; none of them ever changes a result.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_SETTINGS_H
#define VX_SETTINGS_H

#include "postgres.h"

#include "utils/guc.h"

/* Setting: the best instruction set that may be used. */
typedef enum VxSimd
{
	VX_SIMD_NONE,				/* what every processor of the kind has */
	VX_SIMD_AVX2,
	VX_SIMD_AVX512
} VxSimd;

extern bool vx_enable_custom_scan;
extern bool vx_enable_pruning;
extern bool vx_enable_vector_filter;
extern bool vx_enable_vector_expressions;
extern bool vx_enable_regex;
extern bool vx_enable_path_columns;
extern bool vx_enable_document_parts;
extern bool vx_enable_vector_aggregate;
extern bool vx_enable_aggregate_algebra;
extern bool vx_enable_partitioned_aggregate;
extern bool vx_enable_footer_aggregate;
extern bool vx_enable_topn;
extern bool vx_enable_join_filter;
extern bool vx_enable_vector_join;
extern bool vx_enable_robust_joins;
extern bool vx_enable_keyed_subqueries;
extern bool vx_enable_vector_sort;
extern bool vx_enable_bitmap_vectors;
extern bool vx_enable_bulk_delete;
extern bool vx_explain_fallback;
extern int	vx_simd;			/* VxSimd */
extern const struct config_enum_entry vx_simd_options[];

/* A switch, on by default. */
typedef struct VxSwitch
{
	const char *name;
	const char *description;
	bool	   *value;
} VxSwitch;

extern const VxSwitch vx_switches[];	/* the last one has no name */

#endif							/* VX_SETTINGS_H */
