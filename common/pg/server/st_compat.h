/*-------------------------------------------------------------------------
 *
 * st_compat.h
 *	  Differences between the supported server versions, 15 to 19.
 *
 * The only header in which PG_VERSION_NUM stands.  A wrapper has the newest
 * version's name and signature, or a name starting with st_ where that is
 * impossible; ST_HAVE_* macros tell callbacks of which shape the server has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_COMPAT_H
#define ST_COMPAT_H

#include "postgres.h"

#include "access/tableam.h"
#include "access/transam.h"
#include "nodes/pathnodes.h"
#include "pgtime.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/rel.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "PostgreSQL 15 to 19 are supported"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#include "storage/relfilelocator.h"
#else
#include "storage/relfilenode.h"
#endif

/* 19: what other headers gave before. */
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#if PG_VERSION_NUM >= 170000
#include "storage/procnumber.h"
#include "storage/read_stream.h"
#else
#include "storage/backendid.h"
#endif

/* ---- functions that do not return (18: 28f04984f0c) ---- */

#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/* ---- arguments ---- */

/*
 * An argument that 19 has and servers before do not, or the other way round,
 * in declarations and calls alike.  One that is not the last has its comma
 * inside, one that is the last has it before itself, inside, too:
 * f(a, ST_SINCE_19(b,) c ST_UNTIL_18(, d)).
 */
#if PG_VERSION_NUM >= 190000
#define ST_SINCE_19(...) __VA_ARGS__
#define ST_UNTIL_18(...)
#else
#define ST_SINCE_19(...)
#define ST_UNTIL_18(...) __VA_ARGS__
#endif

/* ---- words of the language (19) ---- */

#if PG_VERSION_NUM < 190000
#define pg_fallthrough __attribute__((fallthrough))
#endif

/* ---- relation files (16: b0a55e43299) ---- */

#if PG_VERSION_NUM >= 160000
#define st_relation_locator(rel) ((rel)->rd_locator)
#define st_smgr_locator(smgr) ((smgr)->smgr_rlocator.locator)
#define st_smgr_backend_locator(smgr) ((smgr)->smgr_rlocator)
#else
typedef RelFileNode RelFileLocator;
typedef Oid RelFileNumber;

#define RelFileLocatorEquals(a, b) RelFileNodeEquals(a, b)
#define st_relation_locator(rel) ((rel)->rd_node)
#define st_smgr_locator(smgr) ((smgr)->smgr_rnode.node)
#define st_smgr_backend_locator(smgr) ((smgr)->smgr_rnode)
#endif

#if PG_VERSION_NUM >= 160000
#define st_locator_number(loc) ((loc).relNumber)
#else
#define st_locator_number(loc) ((loc).relNode)
#endif

/* ---- old_snapshot_threshold (gone in 17: f691f5b80a8) ---- */

#if PG_VERSION_NUM < 170000
#include "utils/snapmgr.h"
#define st_test_for_old_snapshot(snapshot, rel, page) \
	TestForOldSnapshot(snapshot, rel, page)
#else
#define st_test_for_old_snapshot(snapshot, rel, page) ((void) 0)
#endif

/*
 * ---- _bt_search() without its stack: heap relation (16: 61b313e47eb), no
 * snapshot (17), no stack unless asked for (19) ----
 */

#if PG_VERSION_NUM >= 190000
#define st_bt_search(rel, heap, key, buffer) \
	((void) _bt_search(rel, heap, key, buffer, BT_READ, false))
#elif PG_VERSION_NUM >= 170000
#define st_bt_search(rel, heap, key, buffer) \
	_bt_freestack(_bt_search(rel, heap, key, buffer, BT_READ))
#elif PG_VERSION_NUM >= 160000
#define st_bt_search(rel, heap, key, buffer) \
	_bt_freestack(_bt_search(rel, heap, key, buffer, BT_READ, NULL))
#else
#define st_bt_search(rel, heap, key, buffer) \
	_bt_freestack(_bt_search(rel, key, buffer, BT_READ, NULL))
#endif

/* ---- kinds of processes (17: 372700cba00) ---- */

#if PG_VERSION_NUM < 170000
#include "postmaster/autovacuum.h"
#define AmAutoVacuumWorkerProcess() IsAutoVacuumWorkerProcess()
#endif

/* ---- backend numbers (17: 024c5211176) ---- */

#if PG_VERSION_NUM < 170000
typedef BackendId ProcNumber;

#define INVALID_PROC_NUMBER InvalidBackendId
#define ProcNumberForTempRelations() BackendIdForTempRelations()
#endif

/* ---- pages that are written past the buffer pool (16: faeedbcefd4) ---- */

#if PG_VERSION_NUM < 160000
#define PGIOAlignedBlock PGAlignedBlock
#endif

/* ---- TU_UpdateIndexes (16: 19d8e2308bc) ---- */

#if PG_VERSION_NUM < 160000
typedef bool TU_UpdateIndexes;

#define TU_None false
#define TU_All true
#endif

/* ---- pgstat_count_heap_update: newpage (16: ae4fdde1352) ---- */

#if PG_VERSION_NUM >= 160000
#define st_count_update(rel, hot, newpage) \
	pgstat_count_heap_update(rel, hot, newpage)
#else
#define st_count_update(rel, hot, newpage) pgstat_count_heap_update(rel, hot)
#endif

/* ---- shapes of table AM callbacks ---- */

/* Options of insertions, and what VACUUM is told (19: const). */
#if PG_VERSION_NUM >= 190000
typedef uint32 StInsertOptions;
typedef const struct VacuumParams StVacuumParams;
#else
typedef int StInsertOptions;
typedef struct VacuumParams StVacuumParams;
#endif

/* Options of changes: what logical decoding is not to hear of (19). */
#if PG_VERSION_NUM >= 190000
#define st_delete_no_logical(options) (((options) & TABLE_DELETE_NO_LOGICAL) != 0)
#define st_update_no_logical(options) (((options) & TABLE_UPDATE_NO_LOGICAL) != 0)
#define st_changing_part(options, moved) \
	(((options) & TABLE_DELETE_CHANGING_PARTITION) != 0)
#else
#define st_delete_no_logical(options) false
#define st_update_no_logical(options) false
#define st_changing_part(options, moved) (moved)
#endif

/* 15: relation_set_new_filenode, later relation_set_new_filelocator. */
#if PG_VERSION_NUM < 160000
#define relation_set_new_filelocator relation_set_new_filenode
#endif

/* 17 on: ANALYZE hands out blocks by a ReadStream (041b96802ef). */
#if PG_VERSION_NUM >= 170000
#define ST_HAVE_ANALYZE_STREAM 1
#endif

/* 18 on: the table AM iterates over bitmaps itself (2b73a8cd33b). */
#if PG_VERSION_NUM >= 180000
#define ST_HAVE_BITMAP_STREAM 1
#endif

/*
 * Extends the main fork by one page and returns it locked exclusively,
 * pinned and zeroed.  The caller holds the relation extension lock.
 */
extern Buffer st_extend_locked(Relation rel, BufferAccessStrategy strategy);

/*
 * Makes n blocks of zeros from start on, the end of the main fork, and sees to
 * it that there is room for them on disk.  Before 16 it does nothing: there the
 * blocks come as a hole, by a write behind them, and whoever is the first to
 * use one calls st_fill_hole(), with the page locked and its zeros in buffer,
 * which nobody else writes meanwhile.  Both raise an error if the disk is full.
 */
extern void st_zero_extend(Relation rel, BlockNumber start, uint32 n);
extern void st_fill_hole(Relation rel, Buffer buffer);

/* Like st_extend_locked() for a file that no relcache entry points to. */
extern Buffer st_extend_file_locked(RelFileLocator locator, char persistence);

/* 18: XLogRegisterData takes const void * (8c0d7bafad3 made it const). */
extern void st_xlog_register_data(const void *data, uint32 len);

/* 16: tuplesort_getdatum got the argument copy (24d2b2680a8). */
#if PG_VERSION_NUM >= 160000
#define st_tuplesort_getdatum(state, forward, copy, value, isnull) \
	tuplesort_getdatum(state, forward, copy, value, isnull, NULL)
#else
#define st_tuplesort_getdatum(state, forward, copy, value, isnull) \
	tuplesort_getdatum(state, forward, value, isnull, NULL)
#endif

/* 18: vac_update_relstats got the count of all-frozen pages (99f8f3fbbc8). */
#if PG_VERSION_NUM >= 180000
#define st_update_relstats(rel, pages, tuples, all_visible, all_frozen) \
	vac_update_relstats(rel, pages, tuples, all_visible, all_frozen, \
						(rel)->rd_rel->relhasindex, InvalidTransactionId, \
						InvalidMultiXactId, NULL, NULL, false)
#else
#define st_update_relstats(rel, pages, tuples, all_visible, all_frozen) \
	vac_update_relstats(rel, pages, tuples, all_visible, \
						(rel)->rd_rel->relhasindex, InvalidTransactionId, \
						InvalidMultiXactId, NULL, NULL, false)
#endif

/* 18: vacuum_delay_point got the argument is_analyze (bb8dff9995f). */
#if PG_VERSION_NUM < 180000
#define st_vacuum_delay_point(is_analyze) vacuum_delay_point()
#else
#define st_vacuum_delay_point(is_analyze) vacuum_delay_point(is_analyze)
#endif

/* 19: the caller may say what is to be done besides (SO_NONE: nothing). */
#if PG_VERSION_NUM >= 190000
#define st_table_beginscan(rel, snapshot, nkeys, keys) \
	table_beginscan(rel, snapshot, nkeys, keys, SO_NONE)
#else
#define st_table_beginscan(rel, snapshot, nkeys, keys) \
	table_beginscan(rel, snapshot, nkeys, keys)
#endif

/* 18: index_beginscan got the argument instrument (0fbceae841c), 19: flags. */
#if PG_VERSION_NUM >= 190000
#define st_index_beginscan_keys(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, 0, SO_NONE)
#elif PG_VERSION_NUM >= 180000
#define st_index_beginscan_keys(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, 0)
#else
#define st_index_beginscan_keys(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, nkeys, 0)
#endif
/*
 * Parallel index scans: 17 tells the access method the numbers of keys, 18 the
 * index; 18 renamed the offset of its memory.
 */
#if PG_VERSION_NUM >= 180000
#define ST_ESTIMATE_PARALLEL_INDEX_ARGS Relation index, int nkeys, int norderbys
#define st_parallel_index_state(scan) \
	((void *) ((char *) (scan) + (scan)->ps_offset_am))
#elif PG_VERSION_NUM >= 170000
#define ST_ESTIMATE_PARALLEL_INDEX_ARGS int nkeys, int norderbys
#else
#define ST_ESTIMATE_PARALLEL_INDEX_ARGS void
#endif
#if PG_VERSION_NUM < 180000
#define st_parallel_index_state(scan) \
	((void *) ((char *) (scan) + (scan)->ps_offset))
#endif

#define st_index_beginscan(heap, index, snapshot) \
	st_index_beginscan_keys(heap, index, snapshot, 0)

/* 16: IndexVacuumInfo knows the heap (61b313e47eb). */
#if PG_VERSION_NUM >= 160000
#define st_index_vacuum_info_set_heap(info, rel) ((info)->heaprel = (rel))
#else
#define st_index_vacuum_info_set_heap(info, rel) ((void) (rel))
#endif

/* Btree's record for a page to be reused, of no page (16: 6af1793954e). */
struct xl_btree_reuse_page;
extern void st_fill_reuse_page(struct xl_btree_reuse_page *record, Relation rel,
							   FullTransactionId removed_by);

/*
 * VACUUM FULL of a relation that the caller has locked exclusively and does
 * not have open (18: cluster_rel() takes it open).
 */
extern void st_vacuum_full(Oid relid);

/* The table of a REPACK (CONCURRENTLY), which came with 19, or NULL. */
extern const RangeVar *st_repacked_concurrently(const Node *stmt);

/*
 * Tells whether VACUUM may cut off a table's empty end (18: also a setting).
 */
extern bool st_may_truncate(Relation rel);

/* ---- index access methods ---- */

struct IndexAmRoutine;

/*
 * What the handler of an index access method returns for a routine that is
 * there for ever (19: itself; before, the caller frees what it gets).
 */
extern struct IndexAmRoutine *st_index_am_result(struct IndexAmRoutine *routine);

/*
 * Marks an index access method as ordered by a btree's strategies (18: how
 * strategies are to be read is its own business, 622f678c102).
 */
extern void st_index_am_set_ordered(struct IndexAmRoutine *routine);

/* ---- rights ---- */

/* 16: one function for all kinds of objects (c727f511bd7). */
#if PG_VERSION_NUM < 160000
#define object_ownercheck(classid, objectid, roleid) \
	st_object_ownercheck(classid, objectid, roleid)
extern bool st_object_ownercheck(Oid classid, Oid objectid, Oid roleid);
#endif

/* Right to call a function (16: object_aclcheck, c727f511bd7). */
extern AclResult st_function_aclcheck(Oid function, Oid role);

/*
 * The operator is < or > of some btree operator family (18: a CompareType
 * instead of a strategy number, 8123e91f5ae).
 */
extern bool st_is_ordering_op(Oid opno, Oid *opfamily, Oid *opcintype,
							  bool *descending);

/*
 * Keys of GROUPING SETS as they are before a set makes them null (18: they are
 * marked for that, f5050f795ae).
 */
extern List *st_group_input(PlannerInfo *root, List *keys);

/* Of GROUP BY, without keys that others determine (16: beside the query's own, 8d83a5d0a26). */
#if PG_VERSION_NUM >= 160000
#define st_fewer_group_clauses(root) ((root)->processed_groupClause)
#else
#define st_fewer_group_clauses(root) ((root)->parse->groupClause)
#endif

/* 17: MAINTAIN (ecb0fd33720), before that the owner's right. */
extern bool st_can_maintain(Relation rel);

/*
 * Search path for maintenance as the table's owner, until the caller's GUC
 * nest level ends (17: RestrictSearchPath).
 */
extern void st_restrict_search_path(void);

/* The collation orders strings by their bytes: C, C.UTF-8 (18: lc_collate_is_c is gone). */
extern bool st_collation_is_c(Oid collation);

/* Its classes of characters are those of ASCII (18: lc_ctype_is_c is gone). */
extern bool st_ctype_is_c(Oid collation);

/*
 * Sets the number of live rows in the statistics of a table that VACUUM has
 * just reported (16: live_tuples, d7e39d72ca1).
 */
extern void st_report_live_rows(Relation rel, double rows);

/* 17: estimate_array_length() got the planner's state (9391f71523b). */
extern double st_estimate_array_length(PlannerInfo *root, Node *array);

/*
 * Marks a path as one that a planner setting forbids (18: disabled_nodes
 * instead of a cost, e2225346933).
 */
extern void st_path_disable(Path *path);

/* Conditions that stop a window early, or drop rows (17: in the path). */
#if PG_VERSION_NUM >= 170000
#define st_window_run_condition(path) ((path)->runCondition)
#else
#define st_window_run_condition(path) ((path)->winclause->runCondition)
#endif

/*
 * A copy of a constructor of SQL/JSON (16: 7081ac46ace) whose arguments have been mutated; NULL
 * if the node is none.  In its coercion, CaseTestExpr stands for what it has made.
 */
extern Node *st_json_constructor_mutate(Node *node, Node *(*mutator) (Node *, void *),
										void *context);

/* Does the call say IGNORE NULLS or RESPECT NULLS? */
#if PG_VERSION_NUM >= 190000
#define st_window_treats_nulls(func) ((func)->ignore_nulls != NO_NULLTREATMENT)
#else
#define st_window_treats_nulls(func) false
#endif

/* Is it?  (Before 18 its cost says so.) */
#if PG_VERSION_NUM >= 180000
#define st_path_is_disabled(path) ((path)->disabled_nodes > 0)
#else
#define st_path_is_disabled(path) false
#endif

/* A path above others is as forbidden as these; other may be NULL. */
extern void st_path_inherit_disabled(Path *path, const Path *input, const Path *other);

/* Outer joins may make the column null (16: it is marked, 2489d76c490). */
#if PG_VERSION_NUM >= 160000
#define st_var_is_nulled(var) (!bms_is_empty((var)->varnullingrels))
#else
#define st_var_is_nulled(var) false
#endif

/*
 * Adds a copy of a range table's entry to a query; from 16 on with what is needed
 * to check its rights (a61b1f74823).
 */
extern void st_copy_range_table_entry(struct Query *into, const struct Query *from,
									  struct RangeTblEntry *rte);

/* Expressions over a rel's topmost parent, as over the rel itself (16: 2489d76c490). */
extern List *st_translate_to_child(struct PlannerInfo *root, List *exprs,
								   struct RelOptInfo *child);

/*
 * A hash join of this type drops rows of its outer side that find no match
 * (16: 16dc2703c54, JOIN_RIGHT_ANTI; 18: aa86129e19d, JOIN_RIGHT_SEMI).
 */
#if PG_VERSION_NUM >= 180000
#define st_join_drops_outer(type) \
	((type) == JOIN_INNER || (type) == JOIN_SEMI || (type) == JOIN_RIGHT || \
	 (type) == JOIN_RIGHT_ANTI || (type) == JOIN_RIGHT_SEMI)
#elif PG_VERSION_NUM >= 160000
#define st_join_drops_outer(type) \
	((type) == JOIN_INNER || (type) == JOIN_SEMI || (type) == JOIN_RIGHT || \
	 (type) == JOIN_RIGHT_ANTI)
#else
#define st_join_drops_outer(type) \
	((type) == JOIN_INNER || (type) == JOIN_SEMI || (type) == JOIN_RIGHT)
#endif

/* 18: ConditionalXactLockTableWait() can log a failure (f10ec3c1b21). */
extern bool st_conditional_xact_lock_wait(TransactionId xid, bool log_failure);

/* 18: so can ConditionalLockTuple(). */
#if PG_VERSION_NUM >= 180000
#define st_conditional_lock_tuple(rel, tid, mode) \
	ConditionalLockTuple(rel, tid, mode, false)
#else
#define st_conditional_lock_tuple(rel, tid, mode) \
	ConditionalLockTuple(rel, tid, mode)
#endif

/* 16: pgstat_fetch_stat_local_beentry renamed (8dfa37b797f).  From 1 on. */
struct PgBackendStatus;
extern struct PgBackendStatus *st_backend_status(int index);

/* ---- planning a subquery (17: what set operations want, 66c0185a3d1) ---- */

#if PG_VERSION_NUM >= 190000
#define st_subquery_planner(glob, query, parent, fraction) \
	subquery_planner(glob, query, choose_plan_name(glob, "keyed", false), parent, \
					 NULL, false, fraction, NULL)
#elif PG_VERSION_NUM >= 170000
#define st_subquery_planner(glob, query, parent, fraction) \
	subquery_planner(glob, query, parent, false, fraction, NULL)
#else
#define st_subquery_planner(glob, query, parent, fraction) \
	subquery_planner(glob, query, parent, false, fraction)
#endif

/* 16: the caller knows whether it only passes columns on. */
#if PG_VERSION_NUM >= 160000
#define st_create_subqueryscan_path(root, rel, path) \
	create_subqueryscan_path(root, rel, path, false, NIL, NULL)
#else
#define st_create_subqueryscan_path(root, rel, path) \
	create_subqueryscan_path(root, rel, path, NIL, NULL)
#endif

/* 19: lists of an Append in one struct. */
#if PG_VERSION_NUM >= 190000
#define st_create_append_path(root, rel, subpaths, partial, workers) \
	create_append_path(root, rel, (AppendPathInput) {subpaths, partial, NIL}, NIL, NULL, \
					   workers, (workers) > 0, -1)
#else
#define st_create_append_path(root, rel, subpaths, partial, workers) \
	create_append_path(root, rel, subpaths, partial, NIL, NULL, workers, \
					   (workers) > 0, -1)
#endif

/* Removes adjacent duplicates; 19 gave it the name of what it replaced. */
#if PG_VERSION_NUM >= 190000
#define T_StUniquePath T_UniquePath
typedef UniquePath StUniquePath;
#else
#define T_StUniquePath T_UpperUniquePath
typedef UpperUniquePath StUniquePath;
#endif

/* 19: get_relation_info_hook became build_simple_rel_hook. */
#if PG_VERSION_NUM >= 190000
#define ST_HAVE_SIMPLE_REL_HOOK 1
#endif

/* ---- executor ---- */

/* 19: a row type that is put together has to be finished before it is used. */
#if PG_VERSION_NUM < 190000
#define TupleDescFinalize(desc) ((void) 0)
#endif

/* 19: nodes have instrumentation of their own kind. */
#if PG_VERSION_NUM < 190000
typedef struct Instrumentation NodeInstrumentation;
#endif

/* 19: flags of the slot, too. */
#if PG_VERSION_NUM >= 190000
#define st_init_scan_slot(estate, node, desc, ops) \
	ExecInitScanTupleSlot(estate, node, desc, ops, 0)
#else
#define st_init_scan_slot(estate, node, desc, ops) \
	ExecInitScanTupleSlot(estate, node, desc, ops)
#endif

/* ---- shared memory ---- */

/* 19: the name is in shared memory, so that processes need not register it. */
#if PG_VERSION_NUM >= 190000
#define st_new_tranche(name) LWLockNewTrancheId(name)
#define st_register_tranche(id, name) ((void) 0)
#else
#define st_new_tranche(name) LWLockNewTrancheId()
#define st_register_tranche(id, name) LWLockRegisterTranche(id, name)
#endif

/* ---- heap ---- */

/* Deletes a tuple now and without waiting (19: options). */
extern TM_Result st_heap_delete(Relation rel, ItemPointer tid);

/* Prunes a page if that is worth it (19: with its page of the map at hand). */
extern void st_heap_prune(Relation rel, Buffer buffer);

/* 19: whether the caller wants the horizon looked at again. */
#if PG_VERSION_NUM >= 190000
#define st_is_removable_xid(vistest, xid) GlobalVisTestIsRemovableXid(vistest, xid, true)
#else
#define st_is_removable_xid(vistest, xid) GlobalVisTestIsRemovableXid(vistest, xid)
#endif

/*
 * Sets both bits of the visibility map for a page that is locked, all-visible
 * and pinned in the map, and logs that; in a critical section (19: a record of
 * pruning says it, which is the caller's business).
 */
extern void st_set_all_visible(Relation rel, Buffer buffer, Buffer vmbuffer);

/* ---- WAL ---- */

/* 19: PageSetChecksum() has lost "Inplace". */
#if PG_VERSION_NUM < 190000
#define PageSetChecksum(page, block) PageSetChecksumInplace(page, block)
#endif

/* 19: replication origins. */
#if PG_VERSION_NUM >= 190000
#define st_session_origin() (replorigin_xact_state.origin)
#else
#define st_session_origin() (replorigin_session_origin)
#define ReplOriginId RepOriginId
#define InvalidReplOriginId InvalidRepOriginId
#endif

/* ---- progress of CLUSTER (19: REPACK) ---- */

#if PG_VERSION_NUM < 190000
#define PROGRESS_REPACK_PHASE PROGRESS_CLUSTER_PHASE
#define PROGRESS_REPACK_HEAP_TUPLES_SCANNED PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED
#define PROGRESS_REPACK_HEAP_TUPLES_INSERTED PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN
#define PROGRESS_REPACK_TOTAL_HEAP_BLKS PROGRESS_CLUSTER_TOTAL_HEAP_BLKS
#define PROGRESS_REPACK_HEAP_BLKS_SCANNED PROGRESS_CLUSTER_HEAP_BLKS_SCANNED
#define PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP
#define PROGRESS_REPACK_PHASE_INDEX_SCAN_HEAP PROGRESS_CLUSTER_PHASE_INDEX_SCAN_HEAP
#define PROGRESS_REPACK_PHASE_SORT_TUPLES PROGRESS_CLUSTER_PHASE_SORT_TUPLES
#define PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP
#endif

/* ---- UPDATE ---- */

/*
 * Lists of the columns that an UPDATE sets, one for each result relation (18:
 * of those that pruning has left).
 */
#if PG_VERSION_NUM >= 180000
#define st_update_columns(mt) ((mt)->mt_updateColnosLists)
#else
#define st_update_columns(mt) (((ModifyTable *) (mt)->ps.plan)->updateColnosLists)
#endif

/* ---- VACUUM ---- */

struct VacuumParams;

/* Says nothing in the log, however long it takes (19: of ANALYZE neither). */
extern void st_vacuum_params_quiet(struct VacuumParams *params);

/* ---- SQL/JSON (17: 6185c9737cf), more methods of json paths (17: 66ea94e8e60) ---- */

/*
 * A jsonb document that SQL/JSON query functions and JSON_TABLE() look at, by
 * an expression for a json path.
 */
extern bool st_json_expr(Node *node, Node **document, Node **path);

typedef enum StJsonResult
{
	ST_JSON_OTHER,
	ST_JSON_TEXT,				/* JSON_VALUE() as text, */
	ST_JSON_JSONB				/* JSON_QUERY() as jsonb: null if empty or in error */
} StJsonResult;

/* Of such an expression, without variables. */
extern StJsonResult st_json_result(Node *node);

/* Is a JsonPathItemType a method that 15 does not know?  They take constants. */
extern bool st_jsonpath_is_method(int type);

/* Is it an abbreviation of the session's time zone, which 18 looks at before its table? */
static inline bool
st_zone_knows(const char *abbreviation)
{
#if PG_VERSION_NUM >= 180000
	bool		isfixed;
	long int	offset;
	int			isdst;

	return pg_timezone_abbrev_is_known(abbreviation, &isfixed, &offset, &isdst,
									   session_timezone);
#else
	return false;
#endif
}

/* All relations of a query, and from 16 on outer joins, which have numbers, too. */
#if PG_VERSION_NUM >= 160000
#define st_all_query_rels(root) ((root)->all_query_rels)
#else
#define st_all_query_rels(root) ((root)->all_baserels)
#endif

#endif							/* ST_COMPAT_H */
