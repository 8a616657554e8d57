/*-------------------------------------------------------------------------
 *
 * st_functions.h
 *	  C functions behind the SQL of common/sql, for one access method.
 *
 * SQL finds a C function by a name that no other library has.  So the
 * extension writes ST_STORE_FUNCTIONS(cc) once, outside of any function, and
 * has cc_set_options() and so on, and the entry point of its workers,
 * cc_compact_worker_main().
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FUNCTIONS_H
#define ST_FUNCTIONS_H

#include "postgres.h"

#include "fmgr.h"

#include "st_compact.h"
#include "st_counters.h"
#include "st_space.h"
#include "st_inspect.h"
#include "st_options.h"
#include "st_policy.h"
#include "st_progress.h"
#include "st_switch.h"

/* A function that SQL can call; body says what it returns, given fcinfo. */
#define ST_SQL_FUNCTION(name, body) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		return (body); \
	}

/* The same for one that returns nothing, or a set. */
#define ST_SQL_PROCEDURE(name, call) \
	ST_SQL_FUNCTION(name, (call, (Datum) 0))

#define ST_STORE_FUNCTIONS(c) \
	ST_SQL_FUNCTION(c##_set_options, st_options_set_function(fcinfo)) \
	ST_SQL_FUNCTION(c##_table_options, st_options_table_function(fcinfo)) \
	ST_SQL_FUNCTION(c##_row_groups, st_row_groups_function(fcinfo)) \
	ST_SQL_FUNCTION(c##_table_info, st_table_info_function(fcinfo)) \
	ST_SQL_PROCEDURE(c##_compact, st_compact_call(fcinfo, st_options_set()->provider)) \
	ST_SQL_PROCEDURE(c##_merge, st_merge_call(fcinfo, st_options_set()->provider)) \
	ST_SQL_PROCEDURE(c##_adopt, st_adopt_call(fcinfo, st_options_set()->provider)) \
	ST_SQL_PROCEDURE(c##_release, st_release_call(fcinfo, st_options_set()->provider)) \
	ST_SQL_FUNCTION(c##_obstacles, st_obstacles_function(fcinfo, st_options_set()->provider)) \
	ST_SQL_FUNCTION(c##_health_facts, st_health_facts_function(fcinfo)) \
	ST_SQL_FUNCTION(c##_policy_setting, st_policy_setting_function(fcinfo)) \
	ST_SQL_FUNCTION(c##_policy_ranges, st_policy_ranges_function(fcinfo)) \
	ST_SQL_PROCEDURE(c##_run_policies, st_policy_run_call(fcinfo, st_options_set()->provider)) \
	ST_SQL_FUNCTION(c##_fingerprint_step, st_fingerprint_step(fcinfo)) \
	ST_SQL_FUNCTION(c##_fingerprint_combine, st_fingerprint_combine(fcinfo)) \
	ST_SQL_FUNCTION(c##_fingerprint_serialize, st_fingerprint_serialize(fcinfo)) \
	ST_SQL_FUNCTION(c##_fingerprint_deserialize, st_fingerprint_deserialize(fcinfo)) \
	ST_SQL_FUNCTION(c##_fingerprint_result, st_fingerprint_result(fcinfo)) \
	ST_SQL_PROCEDURE(c##_table_counters, st_counters_function(fcinfo)) \
	ST_SQL_PROCEDURE(c##_reset_stats, st_counters_reset(fcinfo)) \
	ST_SQL_PROCEDURE(c##_progress, st_progress_function(fcinfo)) \
	ST_SQL_PROCEDURE(c##_fingerprint_progress, st_fingerprint_progress(fcinfo)) \
	ST_SQL_PROCEDURE(c##_compact_progress, st_progress_compactions(fcinfo)) \
	extern PGDLLEXPORT void c##_compact_worker_main(Datum main_arg); \
	void \
	c##_compact_worker_main(Datum main_arg) \
	{ \
		st_auto_compact_worker_main(main_arg); \
	} \
	extern void c##_compact_worker_main(Datum main_arg)

#endif							/* ST_FUNCTIONS_H */
