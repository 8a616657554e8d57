/*-------------------------------------------------------------------------
 *
 * st_inspect.h
 *	  Functions that show what tables are made of, and check it: what does
 *	  not depend on the row-group format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_INSPECT_H
#define ST_INSPECT_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "st_store.h"
#include "st_zone.h"

/* Opens a table of ours, AccessShareLock; raises WRONG_OBJECT_TYPE. */
extern Relation st_open_table(Oid relid);

/* The same for whoever may look into it; lists the row groups. */
extern Relation st_open_for_inspection(Oid relid, StGroupList **groups);

/* Raises INSUFFICIENT_PRIVILEGE unless the user may see counts and sizes. */
extern void st_check_may_inspect(Relation rel);

/* May the caller see values of the column? */
extern bool st_may_see_values(Relation rel, AttrNumber attno);

/*
 * Bounds of a zone as text in values[0] and values[1]; null where they are
 * not known (zone may be NULL), or not for the caller to see.
 */
extern void st_show_bounds(Relation rel, Form_pg_attribute att, const StZone *zone,
						   Datum *values, bool *nulls);

/*
 * A function of a table (its first argument) that returns rows: put() puts
 * those of one row group, the groupno-th from 1, into the tuplestore of rsinfo.
 */
typedef void (*StPutGroup) (ReturnSetInfo *rsinfo, Relation rel, const StGroup *group,
							int groupno);
extern Datum st_show_groups(FunctionCallInfo fcinfo, StPutGroup put);

/*
 * The first seven values of column_chunks(relation): row_group, first_row,
 * attnum, column_name, type, encoding, codec.
 */
extern void st_show_column(const StGroup *group, int groupno, Form_pg_attribute att,
						   const char *encoding, const char *codec, Datum *values);

/*
 * row_groups(relation): row_group, first_row, rows, deleted_rows,
 * start_block, pages, bytes, footer_bytes, format_version.
 */
extern Datum st_row_groups_function(FunctionCallInfo fcinfo);

/*
 * table_info(relation): row_groups, row_group_rows, deleted_rows,
 * row_group_bytes, delta_bytes, total_bytes, as one row.  Pages that are
 * neither metapage nor extents of visible row groups count as delta.
 */
extern Datum st_table_info_function(FunctionCallInfo fcinfo);

/* health_facts(relation): st_health.c */
extern Datum st_health_facts_function(FunctionCallInfo fcinfo);

/* ---- st_verify.c ---- */

/* A problem that was found in a part of a row group. */
typedef struct StProblem
{
	int64		part;			/* vector or batch of the row group, or -1 */
	char	   *message;
} StProblem;

/* Adds a problem to a list of StProblem *, in the current context. */
extern List *st_problem_add(List *problems, int64 part, const char *fmt,...) pg_attribute_printf(3, 4);

/*
 * Compares an index with the rows that the snapshot sees.  Returns problems
 * (part -1); none for access methods that cannot be asked: st_verify_index.c
 */
extern List *st_check_index(Relation rel, Oid indexoid, Snapshot snapshot);


/*
 * Decodes column attno of a row group and compares it with its zones; attno 0:
 * computes the expressions that have zones.
 * Returns a list of StProblem *, in the current context, which also takes
 * the work memory; raises what the reader raises for damaged bytes.
 */
typedef List *(*StCheckColumn) (Relation rel, const StGroup *group, AttrNumber attno);

/*
 * verify(relation): row_group, first_row, column_name, part, problem.  No
 * row means that nothing is wrong.
 */
extern Datum st_verify_function(FunctionCallInfo fcinfo, StCheckColumn check_column);

/*
 * estimate_sizes(relation, compression, level, seconds): what, name,
 * bytes_now, bytes_estimated, detail.  seconds: for alternatives.
 * st_estimate.c
 */
extern Datum st_estimate_sizes_function(FunctionCallInfo fcinfo, const StFormat *format);

/* ---- st_fingerprint.c: functions of the aggregate fingerprint_of(record) ---- */

extern Datum st_fingerprint_step(FunctionCallInfo fcinfo);
extern Datum st_fingerprint_combine(FunctionCallInfo fcinfo);
extern Datum st_fingerprint_serialize(FunctionCallInfo fcinfo);
extern Datum st_fingerprint_deserialize(FunctionCallInfo fcinfo);
extern Datum st_fingerprint_result(FunctionCallInfo fcinfo);

/* Begins to report (relation, rows or NULL: not known), or ends: relation NULL. */
extern void st_fingerprint_progress(FunctionCallInfo fcinfo);

/* ---- st_zone_check.c: values against zones ---- */

typedef struct StZoneCheck
{
	Form_pg_attribute att;
	struct TypeCacheEntry *type;
	Oid			collation;
	Oid			bytes_type;		/* for st_string_bytes() */
} StZoneCheck;

extern void st_zone_check_init(StZoneCheck *check, Form_pg_attribute att);

/* Can values be compared with the bounds of the zone at all, here and now? */
extern bool st_zone_check_usable(const StZoneCheck *check, const StZone *zone);

/*
 * A value that is not null against the bounds of a usable zone: NULL, or
 * what is wrong ("less than its zone's minimum").
 */
extern const char *st_zone_check_value(const StZoneCheck *check, const StZone *zone,
									   Datum value);

#endif							/* ST_INSPECT_H */
