/*-------------------------------------------------------------------------
 *
 * st_compat.c
 *	  Differences between the supported server versions: see st_compat.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "access/amapi.h"
#include "access/heapam.h"
#include "access/nbtree.h"
#include "access/nbtxlog.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "catalog/pg_proc.h"
#if PG_VERSION_NUM >= 190000
#include "commands/defrem.h"
#include "commands/repack.h"
#else
#include "commands/cluster.h"
#endif
#include "commands/vacuum.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonpath.h"
#include "utils/lsyscache.h"

/* Nothing of ICU is needed here, and its headers may not be installed. */
#undef USE_ICU
#include "utils/pg_locale.h"
#include "utils/pgstat_internal.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "st_compat.h"

Buffer
st_extend_locked(Relation rel, BufferAccessStrategy strategy)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(rel), MAIN_FORKNUM, strategy,
							 EB_LOCK_FIRST | EB_SKIP_EXTENSION_LOCK);
#else
	return ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK,
							  strategy);
#endif
}

void
st_zero_extend(Relation rel, BlockNumber start, uint32 n)
{
#if PG_VERSION_NUM >= 160000
	if (n > 0)
		smgrzeroextend(RelationGetSmgr(rel), MAIN_FORKNUM, start, n, false);
#endif
}

void
st_fill_hole(Relation rel, Buffer buffer)
{
#if PG_VERSION_NUM < 160000
	/* Nothing was logged for it, so that no sync is asked for. */
	smgrwrite(RelationGetSmgr(rel), MAIN_FORKNUM, BufferGetBlockNumber(buffer),
			  BufferGetPage(buffer), true);
#endif
}

Buffer
st_extend_file_locked(RelFileLocator locator, char persistence)
{
#if PG_VERSION_NUM >= 160000
	SMgrRelation smgr = smgropen(locator, INVALID_PROC_NUMBER);

	return ExtendBufferedRel(BMR_SMGR(smgr, persistence), MAIN_FORKNUM, NULL,
							 EB_LOCK_FIRST | EB_SKIP_EXTENSION_LOCK);
#else
	return ReadBufferWithoutRelcache(locator, MAIN_FORKNUM, P_NEW,
									 RBM_ZERO_AND_LOCK, NULL,
									 persistence == RELPERSISTENCE_PERMANENT);
#endif
}

void
st_xlog_register_data(const void *data, uint32 len)
{
#if PG_VERSION_NUM >= 180000
	XLogRegisterData(data, len);
#else
	XLogRegisterData(unconstify(char *, (const char *) data), len);
#endif
}

#if PG_VERSION_NUM < 160000
bool
st_object_ownercheck(Oid classid, Oid objectid, Oid roleid)
{
	if (classid != RelationRelationId)
		elog(ERROR, "unexpected catalog %u", classid);
	return pg_class_ownercheck(objectid, roleid);
}
#endif

bool
st_can_maintain(Relation rel)
{
#if PG_VERSION_NUM >= 170000
	return pg_class_aclcheck(RelationGetRelid(rel), GetUserId(),
							 ACL_MAINTAIN) == ACLCHECK_OK;
#else
	return object_ownercheck(RelationRelationId, RelationGetRelid(rel), GetUserId());
#endif
}

void
st_restrict_search_path(void)
{
#if PG_VERSION_NUM >= 170000
	RestrictSearchPath();
#else
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
#endif
}

#ifdef __GLIBC__
/* A name of that locale: C.UTF-8, C.utf8 */
static bool
is_name_of_c_utf8(const char *name)
{
	return strncmp(name, "C.", 2) == 0 &&
		(pg_strcasecmp(name + 2, "utf-8") == 0 || pg_strcasecmp(name + 2, "utf8") == 0);
}

/* The name of the libc locale that a collation, or the database, sorts by; or NULL. */
static char *
libc_locale(Oid collation)
{
	bool		is_default = collation == DEFAULT_COLLATION_OID;
	HeapTuple	tuple = is_default ?
		SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId)) :
		SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	char		provider;
	Datum		name;
	char	   *result = NULL;
	bool		isnull = true;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	provider = is_default ? ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider :
		((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
	name = is_default ?
		SysCacheGetAttr(DATABASEOID, tuple, Anum_pg_database_datcollate, &isnull) :
		SysCacheGetAttr(COLLOID, tuple, Anum_pg_collation_collcollate, &isnull);
	if (provider == COLLPROVIDER_LIBC && !isnull)
		result = TextDatumGetCString(name);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * The C.UTF-8 of glibc, which has it from 2.35 on, sorts by code points: in UTF-8 that
 * is by bytes.  The server does not know.
 */
static bool
is_c_utf8(Oid collation)
{
	static int	version = 0;	/* of the library that is loaded */
	char	   *name;

	if (version == 0)
	{
		int			major = 0;
		int			minor = 0;

		(void) sscanf(gnu_get_libc_version(), "%d.%d", &major, &minor);
		version = major * 1000 + minor;
	}
	if (version < 2035 || GetDatabaseEncoding() != PG_UTF8)
		return false;
	name = libc_locale(collation);
	return name != NULL && is_name_of_c_utf8(name);
}
#else
#define is_c_utf8(collation) false
#endif

bool
st_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c || is_c_utf8(collation);
#else
	return lc_collate_is_c(collation) || is_c_utf8(collation);
#endif
}

bool
st_ctype_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->ctype_is_c;
#else
	return lc_ctype_is_c(collation);
#endif
}

void
st_report_live_rows(Relation rel, double rows)
{
	PgStat_EntryRef *ref;
	PgStat_StatTabEntry *entry;

	if (!pgstat_track_counts)
		return;
	ref = pgstat_get_entry_ref_locked(PGSTAT_KIND_RELATION, MyDatabaseId,
									  RelationGetRelid(rel), false);
	entry = &((PgStatShared_Relation *) ref->shared_stats)->stats;
#if PG_VERSION_NUM >= 160000
	entry->live_tuples = rows;
#else
	entry->n_live_tuples = rows;
#endif
	pgstat_unlock_entry(ref);
}

double
st_estimate_array_length(PlannerInfo *root, Node *array)
{
#if PG_VERSION_NUM >= 170000
	return estimate_array_length(root, array);
#else
	return estimate_array_length(array);
#endif
}

void
st_path_disable(Path *path)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes++;
#else
	path->startup_cost += disable_cost;
	path->total_cost += disable_cost;
#endif
}

void
st_path_inherit_disabled(Path *path, const Path *input, const Path *other)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = input->disabled_nodes + (other ? other->disabled_nodes : 0);
#endif
}

void
st_copy_range_table_entry(Query *into, const Query *from, RangeTblEntry *rte)
{
	RangeTblEntry *copy = copyObject(rte);

#if PG_VERSION_NUM >= 160000
	if (rte->perminfoindex != 0)
	{
		into->rteperminfos = lappend(into->rteperminfos,
									 copyObject(getRTEPermissionInfo(from->rteperminfos, rte)));
		copy->perminfoindex = list_length(into->rteperminfos);
	}
#endif
	into->rtable = lappend(into->rtable, copy);
}

bool
st_conditional_xact_lock_wait(TransactionId xid, bool log_failure)
{
#if PG_VERSION_NUM >= 180000
	return ConditionalXactLockTableWait(xid, log_failure && log_lock_failures);
#else
	return ConditionalXactLockTableWait(xid);
#endif
}

void
st_fill_reuse_page(xl_btree_reuse_page *record, Relation rel,
				   FullTransactionId removed_by)
{
	memset(record, 0, sizeof(*record));
#if PG_VERSION_NUM >= 160000
	record->locator = rel->rd_locator;
	record->snapshotConflictHorizon = removed_by;
	record->isCatalogRel = RelationIsAccessibleInLogicalDecoding(rel);
#else
	record->node = rel->rd_node;
	record->latestRemovedFullXid = removed_by;
#endif
	record->block = InvalidBlockNumber;
}

void
st_vacuum_full(Oid relid)
{
	ClusterParams params = {0};

#if PG_VERSION_NUM >= 190000
	cluster_rel(REPACK_COMMAND_VACUUMFULL, table_open(relid, AccessExclusiveLock),
				InvalidOid, &params, false);
#elif PG_VERSION_NUM >= 180000
	cluster_rel(table_open(relid, AccessExclusiveLock), InvalidOid, &params);
#else
	cluster_rel(relid, InvalidOid, &params);
#endif
}

const RangeVar *
st_repacked_concurrently(const Node *stmt)
{
#if PG_VERSION_NUM >= 190000
	const RepackStmt *repack = (const RepackStmt *) stmt;
	ListCell   *lc;

	if (!IsA(stmt, RepackStmt) || repack->relation == NULL)
		return NULL;
	foreach(lc, repack->params)
	{
		DefElem    *param = lfirst_node(DefElem, lc);

		if (strcmp(param->defname, "concurrently") == 0)
			return defGetBoolean(param) ? repack->relation->relation : NULL;
	}
#endif
	return NULL;
}

TM_Result
st_heap_delete(Relation rel, ItemPointer tid)
{
	TM_FailureData failure;

	return heap_delete(rel, tid, GetCurrentCommandId(true), ST_SINCE_19(0,)
					   InvalidSnapshot, false, &failure ST_UNTIL_18(, false));
}

void
st_heap_prune(Relation rel, Buffer buffer)
{
#if PG_VERSION_NUM >= 190000
	Buffer		vmbuffer = InvalidBuffer;

	heap_page_prune_opt(rel, buffer, &vmbuffer, false);
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
#else
	heap_page_prune_opt(rel, buffer);
#endif
}

void
st_set_all_visible(Relation rel, Buffer buffer, Buffer vmbuffer)
{
	const uint8 flags = VISIBILITYMAP_ALL_VISIBLE | VISIBILITYMAP_ALL_FROZEN;
	BlockNumber block = BufferGetBlockNumber(buffer);

#if PG_VERSION_NUM >= 190000
	LockBuffer(vmbuffer, BUFFER_LOCK_EXCLUSIVE);
	visibilitymap_set(block, vmbuffer, flags, rel->rd_locator);
	if (RelationNeedsWAL(rel))
		log_heap_prune_and_freeze(rel, buffer, vmbuffer, flags,
								  InvalidTransactionId, false, PRUNE_VACUUM_SCAN,
								  NULL, 0, NULL, 0, NULL, 0, NULL, 0);
	LockBuffer(vmbuffer, BUFFER_LOCK_UNLOCK);
#else
	visibilitymap_set(rel, block, buffer, InvalidXLogRecPtr, vmbuffer,
					  InvalidTransactionId, flags);
#endif
}

void
st_vacuum_params_quiet(VacuumParams *params)
{
#if PG_VERSION_NUM >= 190000
	params->log_vacuum_min_duration = -1;
	params->log_analyze_min_duration = -1;
#else
	params->log_min_duration = -1;
#endif
}

bool
st_may_truncate(Relation rel)
{
	StdRdOptions *options = (StdRdOptions *) rel->rd_options;

#if PG_VERSION_NUM >= 190000
	if (options == NULL || options->vacuum_truncate == PG_TERNARY_UNSET)
		return vacuum_truncate;
#elif PG_VERSION_NUM >= 180000
	if (options == NULL || !options->vacuum_truncate_set)
		return vacuum_truncate;
#else
	if (options == NULL)
		return true;
#endif
	return options->vacuum_truncate != 0;
}

AclResult
st_function_aclcheck(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE);
#endif
}

IndexAmRoutine *
st_index_am_result(IndexAmRoutine *routine)
{
#if PG_VERSION_NUM >= 190000
	return routine;
#else
	return memcpy(palloc(sizeof(*routine)), routine, sizeof(*routine));
#endif
}

void
st_index_am_set_ordered(struct IndexAmRoutine *routine)
{
	routine->amcanorder = true;
#if PG_VERSION_NUM >= 180000
	routine->amconsistentequality = true;
	routine->amconsistentordering = true;
	routine->amtranslatestrategy = bttranslatestrategy;
	routine->amtranslatecmptype = bttranslatecmptype;
#endif
}

List *
st_group_input(PlannerInfo *root, List *keys)
{
#if PG_VERSION_NUM >= 180000
	if (root->group_rtindex > 0)
		return (List *) remove_nulling_relids((Node *) keys,
											  bms_make_singleton(root->group_rtindex), NULL);
#endif
	return keys;
}

bool
st_is_ordering_op(Oid opno, Oid *opfamily, Oid *opcintype, bool *descending)
{
#if PG_VERSION_NUM >= 180000
	CompareType order;

	if (!get_ordering_op_properties(opno, opfamily, opcintype, &order))
		return false;
	*descending = order == COMPARE_GT;
#else
	int16		order;

	if (!get_ordering_op_properties(opno, opfamily, opcintype, &order))
		return false;
	*descending = order == BTGreaterStrategyNumber;
#endif
	return true;
}

struct PgBackendStatus *
st_backend_status(int index)
{
	LocalPgBackendStatus *local;

#if PG_VERSION_NUM >= 160000
	local = pgstat_get_local_beentry_by_index(index);
#else
	local = pgstat_fetch_stat_local_beentry(index);
#endif
	return local == NULL ? NULL : &local->backendStatus;
}

List *
st_translate_to_child(PlannerInfo *root, List *exprs, RelOptInfo *child)
{
	if (exprs == NIL)
		return NIL;
#if PG_VERSION_NUM >= 160000
	return (List *) adjust_appendrel_attrs_multilevel(root, (Node *) exprs, child,
													  child->top_parent);
#else
	return (List *) adjust_appendrel_attrs_multilevel(root, (Node *) exprs, child->relids,
													  child->top_parent_relids);
#endif
}

bool
st_json_expr(Node *node, Node **document, Node **path)
{
#if PG_VERSION_NUM >= 170000
	if (IsA(node, JsonExpr))
	{
		*document = ((JsonExpr *) node)->formatted_expr;
		*path = ((JsonExpr *) node)->path_spec;
		return true;
	}
#endif
	return false;
}

#if PG_VERSION_NUM >= 170000
static bool
gives_null(const JsonBehavior *behavior)
{
	return behavior == NULL || behavior->btype == JSON_BEHAVIOR_NULL;
}
#endif

StJsonResult
st_json_result(Node *node)
{
#if PG_VERSION_NUM >= 170000
	JsonExpr   *expr = (JsonExpr *) node;

	if (!IsA(node, JsonExpr) || expr->passing_values != NIL || !gives_null(expr->on_empty) ||
		!gives_null(expr->on_error) || expr->returning->typmod != -1)
		return ST_JSON_OTHER;
	if (expr->op == JSON_VALUE_OP && expr->returning->typid == TEXTOID)
		return ST_JSON_TEXT;
	if (expr->op == JSON_QUERY_OP && expr->returning->typid == JSONBOID &&
		!expr->omit_quotes && (expr->wrapper == JSW_UNSPEC || expr->wrapper == JSW_NONE))
		return ST_JSON_JSONB;
#endif
	return ST_JSON_OTHER;
}

bool
st_jsonpath_is_method(int type)
{
#if PG_VERSION_NUM >= 170000
	switch (type)
	{
		case jpiBigint:
		case jpiBoolean:
		case jpiDate:
		case jpiDecimal:
		case jpiInteger:
		case jpiNumber:
		case jpiStringFunc:
		case jpiTime:
		case jpiTimeTz:
		case jpiTimestamp:
		case jpiTimestampTz:
			return true;
		default:
			break;
	}
#endif
	return false;
}

Node *
st_json_constructor_mutate(Node *node, Node *(*mutator) (Node *, void *), void *context)
{
#if PG_VERSION_NUM >= 160000
	if (IsA(node, JsonConstructorExpr))
	{
		JsonConstructorExpr *made = copyObject((JsonConstructorExpr *) node);

		made->args = (List *) mutator((Node *) made->args, context);
		made->func = (Expr *) mutator((Node *) made->func, context);
		return (Node *) made;
	}
#endif
	return NULL;
}
