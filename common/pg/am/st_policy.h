/*-------------------------------------------------------------------------
 *
 * st_policy.h
 *	  Policies of partitioned tables: bodies of SQL functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_POLICY_H
#define ST_POLICY_H

#include "postgres.h"

#include "fmgr.h"

/*
 * policy_setting(relation regclass, name text): what the table's policy says, as
 * an interval; NULL if nothing.
 */
extern Datum st_policy_setting_function(FunctionCallInfo fcinfo);

/*
 * policy_ranges(parent regclass, complain boolean): a row (partition, upper bound
 * as timestamptz) for each partition of a table that is partitioned by range of a
 * time and whose range ends.  No row for any other table, or WRONG_OBJECT_TYPE.
 */
extern Datum st_policy_ranges_function(FunctionCallInfo fcinfo);

/* run_policies(parent regclass), a procedure: st_policy_run.c */
extern void st_policy_run_call(FunctionCallInfo fcinfo, const char *am_name);

#endif							/* ST_POLICY_H */
