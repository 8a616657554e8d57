/*-------------------------------------------------------------------------
 *
 * vx_window_spec.h
 *	  What a node that sorts vectors has in its plan, windows included.
 *
 * Shared by the planner, which asks whether a window can be served, and the
 * executor, which does it.
 *
 *	 plan->custom_scan_tlist	columns of the plan below, then window functions
 *	 plan->qual					run conditions, if it is the topmost window
 *	 plan->custom_exprs			inputs: keys and arguments
 *	 plan->custom_private		list of integers by VxWindowField;
 *								list of keys, each a list of integers by VxWindowKey;
 *								list of windows, likewise by VxWindowClause;
 *								list of functions, likewise by VxWindowFunc
 *	 plan->custom_plans			what is sorted; and the server's plan for the
 *								same result, for more rows than there is memory
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_WINDOW_SPEC_H
#define VX_WINDOW_SPEC_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/* Sort keys at most. */
#define VX_SORT_MAX_KEYS	16

/* Parts of rows that have no room in memory (vx_window_parts.c), at most. */
#define VX_MAX_PARTS		512

typedef enum VxWindowField
{
	VX_WINDOW_NCOLUMNS,			/* of the plan below */
	VX_WINDOW_NINPUTS,
	VX_WINDOW_FIRST,			/* of each partition of the window only so many
								 * rows in front are wanted; 0: all */
	VX_WINDOW_DISTINCT,			/* the first row alone of those that agree in so
								 * many keys in front; 0: all */
	VX_WINDOW_NFIELDS
} VxWindowField;

typedef enum VxWindowKey
{
	VX_WINDOW_KEY_INPUT,
	VX_WINDOW_KEY_SORTOP,
	VX_WINDOW_KEY_NULLS_FIRST
} VxWindowKey;

/* Keys of a window are the first ones of the sort. */
typedef enum VxWindowClause
{
	VX_WINDOW_NPARTITION,		/* keys that partitions agree in */
	VX_WINDOW_NPEERS,			/* keys that peers agree in, those included */
	VX_WINDOW_FRAME,			/* frameOptions */
	VX_WINDOW_START,			/* offsets, where the frame has any */
	VX_WINDOW_END
} VxWindowClause;

typedef enum VxWindowKind
{
	VX_WINDOW_ROW_NUMBER,
	VX_WINDOW_RANK,
	VX_WINDOW_DENSE_RANK,
	VX_WINDOW_PERCENT_RANK,
	VX_WINDOW_CUME_DIST,
	VX_WINDOW_NTILE,			/* number: of buckets */
	VX_WINDOW_SHIFT,			/* lag and lead; number: rows ahead */
	VX_WINDOW_NTH,				/* number: from the start of the frame; below 0: from its end */
	VX_WINDOW_COUNT,
	VX_WINDOW_SUM_INT,			/* int2, int4: an int8 */
	VX_WINDOW_SUM_NUMERIC,		/* int8 and numeric: a numeric */
	VX_WINDOW_SUM_FLOAT8,
	VX_WINDOW_AVG,				/* of integers and numerics: a numeric */
	VX_WINDOW_MIN,				/* of what is ordered as a number */
	VX_WINDOW_MAX
} VxWindowKind;

typedef enum VxWindowFunc
{
	VX_WINDOW_FUNC_KIND,
	VX_WINDOW_FUNC_CLAUSE,		/* among the windows */
	VX_WINDOW_FUNC_ARG,			/* an input, or -1 */
	VX_WINDOW_FUNC_OTHER,		/* lag, lead: default; aggregates: FILTER; or -1 */
	VX_WINDOW_FUNC_NUMBER
} VxWindowFunc;

/* Can the engine compute it?  Sets its kind and number. */
extern bool vx_window_resolve(const WindowFunc *func, const WindowClause *clause,
							  VxWindowKind *kind, int *number);

/*
 * The column of values that a function takes first.  The server asks an aggregate's filter
 * before it computes the argument, so one that may fail is computed where the filter is true.
 */
extern Node *vx_window_input(const WindowFunc *func);

/*
 * May a function's arguments and its filter be computed for every row that comes in?  An
 * aggregate's are, by the server as well, if each row is in some frame: in its own.  Other
 * functions look at few rows, and the server leaves rows out that a run condition makes
 * superfluous.
 */
extern bool vx_window_may_compute_all(const WindowFunc *func, const WindowAggPath *path);

/* Can it find the window's frames?  Sets the offsets. */
extern bool vx_window_frame_is_supported(const WindowClause *clause, int *start, int *end);

/* Bytes that a row's result takes, the frame's included. */
#define VX_WINDOW_RESULT_BYTES	32

#endif							/* VX_WINDOW_SPEC_H */
