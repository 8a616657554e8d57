/*-------------------------------------------------------------------------
 *
 * st_health.c
 *	  health_facts(): what health() judges a table by.
 *
 * Of descriptors, the directory of free extents, and the questions that
 * compaction asks before it begins: no row group is read, nor the delta.
 *
 * Lock: AccessShareLock until the end of the statement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_compact.h"
#include "st_compat.h"
#include "st_inspect.h"
#include "st_options.h"
#include "st_space.h"

/* In the order of the function's results. */
typedef struct Facts
{
	int64		small_groups;	/* that compaction would join to others */
	int64		unordered_groups;	/* not known to be sorted by orderby */
	int64		rows;			/* of row groups, deleted ones included */
	int64		deleted_rows;
	int64		group_blocks;
	int64		free_blocks;	/* extents free for reuse */
	int64		delta_blocks;	/* all others but the metapage */
	bool		foldable;		/* old deletions that VACUUM makes bitmaps of */
	bool		toast_wastes;	/* the TOAST relation is mostly free */
	bool		waits;			/* replaced row groups that VACUUM has not freed */
} Facts;

typedef struct Look
{
	StCompactJob job;			/* first: a question gets this */
	const StGroupList *groups;
	Facts	   *facts;
} Look;

static void
look_at_group(Relation rel, const StGroup *group, uint64 order, Facts *facts)
{
	uint32		ndeleted = 0;
	uint64	   *deleted = st_deleted_rows(rel, group, GetActiveSnapshot(),
										  CurrentMemoryContext, &ndeleted);
	uint64		live = deleted == NULL ? group->nrows : group->nrows - ndeleted;

	if (deleted != NULL)
	{
		facts->deleted_rows += ndeleted;
		pfree(deleted);
	}
	facts->rows += group->nrows;
	facts->group_blocks += group->nblocks;
	facts->unordered_groups += order != 0 && group->order_hash != order;
	facts->small_groups += live < st_options_get(rel)->row_group_rows / 2 &&
		(!group->full || live < group->nrows / 2);
}

/* A StCompactFunction: as the owner, for orderby may have expressions. */
static bool
look(Relation rel, StCompactJob *job)
{
	Look	   *l = (Look *) job;
	Facts	   *facts = l->facts;
	StOrder    *order = st_order_begin(rel);
	StCatalog	cat;

	for (int i = 0; i < l->groups->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		look_at_group(rel, &l->groups->groups[i], st_order_hash(order), facts);
	}
	st_order_end(order);
	if (st_catalog_open(&cat, rel, AccessShareLock))
	{
		facts->free_blocks = st_free_space_total(st_free_space_read(&cat));
		st_catalog_close(&cat);
	}
	facts->delta_blocks = Max((int64) RelationGetNumberOfBlocks(rel) - 1 -
							  facts->group_blocks - facts->free_blocks, 0);
	/* nobody compacts on a standby */
	if (!RecoveryInProgress())
	{
		facts->foldable = st_compact_fold_due(rel, job);
		facts->toast_wastes = st_toast_wastes(rel, job);
		facts->waits = st_compact_waits(rel, job);
	}
	return true;
}

Datum
st_health_facts_function(FunctionCallInfo fcinfo)
{
	StGroupList *groups;
	Relation	rel = st_open_for_inspection(PG_GETARG_OID(0), &groups);
	Facts		facts = {0};
	Look		l = {.groups = groups, .facts = &facts};
	TupleDesc	desc;
	Datum		values[11];
	bool		nulls[11] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	l.job.mcxt = CurrentMemoryContext;
	(void) st_compact_as_owner(rel, &l.job, look);
	values[0] = Int64GetDatum((int64) groups->ngroups);
	values[1] = Int64GetDatum(facts.small_groups);
	values[2] = Int64GetDatum(facts.unordered_groups);
	values[3] = Int64GetDatum(facts.rows);
	values[4] = Int64GetDatum(facts.deleted_rows);
	values[5] = Int64GetDatum(facts.group_blocks * BLCKSZ);
	values[6] = Int64GetDatum(facts.free_blocks * BLCKSZ);
	values[7] = Int64GetDatum(facts.delta_blocks * BLCKSZ);
	values[8] = BoolGetDatum(facts.foldable);
	values[9] = BoolGetDatum(facts.toast_wastes);
	values[10] = BoolGetDatum(facts.waits);
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
