/*-------------------------------------------------------------------------
 *
 * cc_label.c
 *	  Label provider "colcompress", which keeps the options of tables, the hooks
 *	  through which DDL sets them and follows columns, and the SQL functions.
 *
 * Owns object_access_hook and ProcessUtility_hook; what they do is in
 * st_options_ddl.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/seclabel.h"
#include "fmgr.h"

#include "cc_access.h"
#include "cc_options.h"
#include "st_options_ddl.h"

PG_FUNCTION_INFO_V1(cc_set_options);
PG_FUNCTION_INFO_V1(cc_table_options);

static object_access_hook_type prev_object_access_hook = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;

static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId,
			  void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, classId, objectId, subId, arg);
	st_options_object_access(access, classId, objectId, subId);
}

static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *queryEnv, DestReceiver *dest,
				QueryCompletion *qc)
{
	st_options_utility(prev_process_utility, pstmt, queryString, readOnlyTree,
					   context, params, queryEnv, dest, qc);
}

Datum
cc_set_options(PG_FUNCTION_ARGS)
{
	return st_options_set_function(fcinfo);
}

Datum
cc_table_options(PG_FUNCTION_ARGS)
{
	return st_options_table_function(fcinfo);
}

void
cc_label_init(void)
{
	st_options_init(&cc_option_set);
	register_label_provider(cc_option_set.provider, st_options_check_label);
	prev_object_access_hook = object_access_hook;
	object_access_hook = object_access;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
