/*-------------------------------------------------------------------------
 *
 * sf_library.c
 *	  All hooks of an access method on the store, its label provider, the
 *	  names of its plan nodes, and its settings.
 *
 * Each library links a copy of this, and has it take the hooks and register
 * names from its _PG_init(): under the library's own name, chained to what
 * was there.  DDL sets options and follows columns (st_options_ddl.c); labels
 * keep them.  What the hooks of planner and executor do is said in
 * vx_engine.h; those of the planner leave at once until this backend has
 * opened a table of ours.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "commands/seclabel.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "sf_library.h"
#include "st_bitmap_scan.h"
#include "st_counters.h"
#include "st_error.h"
#include "st_read.h"
#include "st_scan_columns.h"
#include "vx_engine.h"
#include "vx_vec.h"

static StTableAm tableam;

static ExecutorStart_hook_type prev_executor_start = NULL;
static ExecutorFinish_hook_type prev_executor_finish = NULL;
static planner_hook_type prev_planner = NULL;
#ifdef ST_HAVE_SIMPLE_REL_HOOK
static build_simple_rel_hook_type prev_simple_rel = NULL;
#else
static get_relation_info_hook_type prev_get_relation_info = NULL;
#endif
static set_rel_pathlist_hook_type prev_set_rel_pathlist = NULL;
static set_join_pathlist_hook_type prev_set_join_pathlist = NULL;
static create_upper_paths_hook_type prev_create_upper_paths = NULL;
static object_access_hook_type prev_object_access = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;

static bool
may_write(const QueryDesc *queryDesc)
{
	return queryDesc->operation != CMD_SELECT ||
		queryDesc->plannedstmt->hasModifyingCTE;
}

static void
executor_start(QueryDesc *queryDesc, int eflags)
{
	if (st_store_in_use && may_write(queryDesc) &&
		(eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		st_log_rows_before_command();
	st_utility_scan_end();
	vx_executor_start(queryDesc, eflags, prev_executor_start);
}

static void
executor_finish(QueryDesc *queryDesc)
{
	/* Before AFTER triggers, whose changes decoding is to see afterwards. */
	if (st_store_in_use && may_write(queryDesc))
		st_log_rows_before_command();
	if (prev_executor_finish)
		prev_executor_finish(queryDesc);
	else
		standard_ExecutorFinish(queryDesc);
}

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options, ParamListInfo params
		   ST_SINCE_19(, ExplainState *es))
{
	List	   *notes = vx_fallback_begin();
	PlannedStmt *result;

	PG_TRY();
	{
		if (st_store_in_use && vx_enable_keyed_subqueries)
			vx_keyed_prepare(parse);
		if (prev_planner)
			result = prev_planner(parse, query_string, cursor_options, params ST_SINCE_19(, es));
		else
			result = standard_planner(parse, query_string, cursor_options, params ST_SINCE_19(, es));
	}
	PG_FINALLY();
	{
		vx_fallback_end(notes);
	}
	PG_END_TRY();
	return result;
}

static void
look_at_table(PlannerInfo *root, RelOptInfo *rel, Oid relid, bool inh)
{
	if (!st_store_in_use)
		return;
	st_bitmap_forbid_in_recheck(root, rel, relid);
	if (!inh)
		vx_note_unique_keys(root, rel, relid);
}

#ifdef ST_HAVE_SIMPLE_REL_HOOK
static void
simple_rel(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	if (prev_simple_rel)
		prev_simple_rel(root, rel, rte);
	if (rte->rtekind == RTE_RELATION)
		look_at_table(root, rel, rte->relid, rte->inh);
}
#else
static void
relation_info(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (prev_get_relation_info)
		prev_get_relation_info(root, relid, inhparent, rel);
	look_at_table(root, rel, relid, inhparent);
}
#endif

static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (prev_set_rel_pathlist)
		prev_set_rel_pathlist(root, rel, rti, rte);
	if (st_store_in_use)
		vx_set_rel_pathlist(root, rel, rti, rte);
}

static void
join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_set_join_pathlist)
		prev_set_join_pathlist(root, joinrel, outerrel, innerrel, jointype, extra);
	if (st_store_in_use)
		vx_set_join_pathlist(root, joinrel, outerrel, innerrel, jointype, extra);
}

static void
upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
			RelOptInfo *output_rel, void *extra)
{
	if (prev_create_upper_paths)
		prev_create_upper_paths(root, stage, input_rel, output_rel, extra);
	if (st_store_in_use)
		vx_create_upper_paths(root, stage, input_rel, output_rel, extra);
}

static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId,
			  void *arg)
{
	if (prev_object_access)
		prev_object_access(access, classId, objectId, subId, arg);
	st_options_object_access(access, classId, objectId, subId);
}

/* The server does it for heap alone, and says so without a way out. */
static void
refuse_repack_concurrently(const Node *stmt)
{
	const RangeVar *name = st_repacked_concurrently(stmt);
	Relation	rel;

	if (name == NULL)
		return;
	rel = relation_openrv_extended(name, AccessShareLock, true);
	if (rel != NULL && st_relation_format(rel) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot execute %s on relation \"%s\"",
						"REPACK (CONCURRENTLY)", RelationGetRelationName(rel)),
				 errdetail("The server rewrites only tables of access method heap beside writers."),
				 errhint("CALL %s.merge(%s) writes the table anew beside them.",
						 st_relation_format(rel)->am_name,
						 quote_literal_cstr(st_qualified_name(RelationGetRelid(rel))))));
	if (rel != NULL)
		relation_close(rel, AccessShareLock);
}

static void
process_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *queryEnv, DestReceiver *dest,
				QueryCompletion *qc)
{
	refuse_repack_concurrently(pstmt->utilityStmt);
	st_flush_before_utility(pstmt);
	st_utility_scan_begin(pstmt->utilityStmt);
	PG_TRY();
	{
		st_options_utility(prev_process_utility, pstmt, queryString, readOnlyTree,
						   context, params, queryEnv, dest, qc);
	}
	PG_FINALLY();
	{
		st_utility_scan_end();
	}
	PG_END_TRY();
}

/* The setting's name, which lives as long as the backend. */
static const char *
setting_name(const char *name)
{
	return MemoryContextStrdup(TopMemoryContext,
							   psprintf("%s.%s", st_options_set()->provider, name));
}

static void
define_settings(const SfLibrary *library)
{
	DefineCustomBoolVariable(setting_name("enable_auto_compact"),
							 "Lets background workers compact tables whose delta has grown.",
							 NULL, &st_auto_compact_enabled, true,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(setting_name("max_workers"),
							"Sets how many background workers compact tables at the same time, on the whole server.",
							NULL, &st_max_workers, 1, 0, 64,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable(setting_name("cache_size"),
							"Sets the memory that a session keeps of what fetches by index have decoded.",
							"Least recently used row groups go first; all is given back after a minute without use.",
							&st_cache_size_kb, 64 * 1024, 64, 1024 * 1024,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable(setting_name("enable_compact_beside_writers"),
							 "Lets compaction copy rows before it takes them away.",
							 NULL, &st_take_last, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(setting_name("enable_deletion_bitmaps"),
							 "Lets VACUUM turn old deletions of row groups' rows into bitmaps.",
							 NULL, &st_fold_enabled, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable(setting_name("enable_partial_rows"),
							 "Lets scans of the server decode the columns alone that are looked at.",
							 NULL, &st_partial_rows_enabled, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	for (const VxSwitch *s = vx_switches; s->name != NULL; s++)
	{
		const char *name = s->name;

		if (s->value == &vx_enable_footer_aggregate && library->footer_switch != NULL)
			name = library->footer_switch;
		DefineCustomBoolVariable(setting_name(name), s->description, NULL, s->value,
								 true, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	}
	DefineCustomBoolVariable(setting_name("explain_fallback"),
							 "Shows in EXPLAIN (VERBOSE) why something is not done in vectors.",
							 NULL, &vx_explain_fallback, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable(setting_name("simd"),
							 "Best instruction set that vector expressions may use.",
							 NULL, &vx_simd, VX_SIMD_AVX512, vx_simd_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
}

void
sf_library_init(const SfLibrary *library)
{
	st_tableam_init(&tableam, library->format->store);
	st_options_init(library->options);
	st_counters_init(library->options->provider);
	st_auto_compact_init(library->worker);
	vx_init(library->format);
	define_settings(library);
	RegisterCustomScanMethods(&vx_scan_methods);
	RegisterCustomScanMethods(&vx_agg_methods);
	RegisterCustomScanMethods(&vx_join_methods);
	RegisterCustomScanMethods(&vx_append_methods);
	RegisterCustomScanMethods(&vx_setop_methods);
	RegisterCustomScanMethods(&vx_lookup_methods);
	RegisterCustomScanMethods(&vx_window_methods);
	register_label_provider(library->options->provider, st_options_check_label);
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
	prev_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = executor_finish;
	prev_planner = planner_hook;
	planner_hook = plan_query;
#ifdef ST_HAVE_SIMPLE_REL_HOOK
	prev_simple_rel = build_simple_rel_hook;
	build_simple_rel_hook = simple_rel;
#else
	prev_get_relation_info = get_relation_info_hook;
	get_relation_info_hook = relation_info;
#endif
	prev_set_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist;
	prev_set_join_pathlist = set_join_pathlist_hook;
	set_join_pathlist_hook = join_pathlist;
	prev_create_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = upper_paths;
	prev_object_access = object_access_hook;
	object_access_hook = object_access;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	MarkGUCPrefixReserved(library->options->provider);
}

const TableAmRoutine *
sf_tableam_routine(void)
{
	return st_tableam_handler(&tableam);
}
