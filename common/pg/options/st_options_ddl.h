/*-------------------------------------------------------------------------
 *
 * st_options_ddl.h
 *	  Bodies of the hooks and SQL functions through which options are set.
 *
 * The extension owns hooks and functions; it calls these.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_OPTIONS_DDL_H
#define ST_OPTIONS_DDL_H

#include "postgres.h"

#include "catalog/objectaccess.h"
#include "fmgr.h"
#include "tcop/utility.h"

/* Of object_access_hook, after the previous hook was called. */
extern void st_options_object_access(ObjectAccessType access, Oid classId,
									 Oid objectId, int subId);

/* Of ProcessUtility_hook; next is the previous hook, or NULL. */
extern void st_options_utility(ProcessUtility_hook_type next, PlannedStmt *pstmt,
							   const char *queryString, bool readOnlyTree,
							   ProcessUtilityContext context, ParamListInfo params,
							   QueryEnvironment *queryEnv, DestReceiver *dest,
							   QueryCompletion *qc);

/*
 * set_options(relation, <one argument per option, in the order of the
 * definitions>, reset text[]): NULL leaves an option as it is.
 */
extern Datum st_options_set_function(FunctionCallInfo fcinfo);

/*
 * table_options(relation): name, value, source, default_value, description of
 * every option; no row if the table is gone.
 */
extern Datum st_options_table_function(FunctionCallInfo fcinfo);

#endif							/* ST_OPTIONS_DDL_H */
