/*-------------------------------------------------------------------------
 *
 * st_scan_columns.h
 *	  Which columns the server's own scans of our tables need.
 *
 * An access method is asked for whole rows, although a query mostly wants a
 * few columns of them.  An extension with tables of this library calls
 *
 *		st_scan_columns_exact(rel);				in set_rel_pathlist_hook
 *		st_scan_columns_register(planstate);	in its ExecutorStart hook
 *		st_utility_scan_begin(stmt) and _end()	in its ProcessUtility hook
 *
 * and row-group rows are then fetched with the columns alone that their scan
 * looks at.  A plan that was started without the hook (EvalPlanQual's) gets
 * all columns: it is slower, never wrong.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SCAN_COLUMNS_H
#define ST_SCAN_COLUMNS_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* Setting: rows have the columns alone that somebody looks at. */
extern bool st_partial_rows_enabled;

/* Asks the planner for scans whose target list is what the query needs. */
extern void st_scan_columns_exact(RelOptInfo *rel);

/*
 * Walks a plan state tree (NULL is allowed) and notes what the scans of our
 * tables in it need.  The notes vanish with the plan's memory.
 */
extern void st_scan_columns_register(PlanState *planstate);

/*
 * A utility command that scans a table begins; it ends, or a query begins
 * within it.  (st_utility_scan.c)
 */
extern void st_utility_scan_begin(Node *stmt);
extern void st_utility_scan_end(void);

#endif							/* ST_SCAN_COLUMNS_H */
