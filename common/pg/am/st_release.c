/*-------------------------------------------------------------------------
 *
 * st_release.c
 *	  release(): the way back to heap.
 *
 * A table that never had a row group is heap already, but for the catalogs: it
 * is released in the caller's transaction, like an adoption.
 *
 * Otherwise row groups are given up beside readers and writers, each step in a
 * transaction of its own (so not in a transaction block):
 *
 *	1. The metapage says that the table is leaving: loads write to the delta
 *	   only, and nobody compacts, unless somebody calls compact() or merge().
 *	2. Rows move to the delta (st_expand.c), until no group has any, with a VACUUM
 *	   before each part of them.  A step first makes pages of heap of free extents.
 *	3. VACUUM reclaims the groups, once no older snapshot is left.
 *	4. Index entries that lead to no row are removed (a cancelled load may have
 *	   left some), and free extents become pages of heap.
 *	5. Under AccessExclusiveLock, if no row number was given out since 4: all
 *	   visibility tuples and the options go, and the catalogs say heap.
 *	6. The metapage becomes a page of heap, and VACUUM gives back what is left of
 *	   the TOAST relation.
 *
 * With verify, a ShareLock of the session keeps writers away all the time, and
 * the table's fingerprint at the end must be that of the start.
 *
 * Whatever ends it before 5 leaves a table of ours that is whole; the next call
 * goes on.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "st_compact.h"
#include "st_compat.h"
#include "st_options.h"
#include "st_progress.h"
#include "st_space.h"
#include "st_switch.h"
#include "st_write.h"

#define WAIT_MS		200

/* VACUUM follows each part of the rows, if that is so many. */
#define VACUUM_ROWS		200000

typedef struct Release
{
	StCompactJob job;			/* first: steps get this */
	Oid			relid;
	const char *am_name;
	const Interval *patience;
	bool		verify;
	char	   *before;			/* fingerprint before the first step, or NULL */
	MemoryContext mcxt;			/* of the call */
	TimestampTz until;			/* no longer */
	int64		rows;			/* that go to the delta */
	int64		vacuumed;		/* how many of them had gone at the last VACUUM */
	StExpandPlace place;		/* of the next step */

	uint64		swept;			/* index entries of rows before are gone */
	StForgotten forgotten;		/* extents that are to become heap's */
	uint64		incarnation;	/* of the file, when these were noted */
} Release;

static void
check_ours(Relation rel, const char *am_name)
{
	const StFormat *format = st_relation_format(rel);

	if (format == NULL || strcmp(format->am_name, am_name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a %s table",
						RelationGetRelationName(rel), am_name)));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (!object_ownercheck(RelationRelationId, RelationGetRelid(rel), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
}

static Relation
open_ours(const Release *r, LOCKMODE lockmode)
{
	Relation	rel = try_relation_open(r->relid, lockmode);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", r->relid)));
	check_ours(rel, r->am_name);
	return rel;
}

/* ---- the change ---- */

/* Is nothing of ours left that matters? */
static bool
is_all_heap(Relation rel, const Release *r)
{
	StCatalog	cat;
	StMeta		meta;
	bool		gone = true;

	st_flush_pending(rel);
	st_meta_read(rel, &meta);
	if (!meta.has_row_groups)
		return true;
	if (!meta.leaving || meta.next_row != r->swept ||
		meta.incarnation != r->incarnation)
		return false;
	if (st_catalog_open(&cat, rel, AccessShareLock))
	{
		int			nfree;

		gone = st_groups_are_gone(rel, &cat,
								  GetOldestNonRemovableTransactionId(rel));
		(void) st_free_extent_all(&cat, SnapshotSelf, &nfree);
		gone = gone && nfree == 0;
		st_catalog_close(&cat);
	}
	return gone;
}

/* The catalogs say heap; returns where the metapage was. */
static BlockNumber
become_heap(Relation rel)
{
	BlockNumber block = st_meta_block(rel);
	StCatalog	cat;

	if (st_catalog_open(&cat, rel, RowExclusiveLock))
	{
		if (!st_catalog_delete_all(&cat))
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("entries of relation \"%s\" are being used",
							RelationGetRelationName(rel))));
		st_catalog_close(&cat);
	}
	st_options_remove(RelationGetRelid(rel));
	st_own_changes_forget(rel);
	st_meta_forget(rel);
	st_switch_am(rel, HEAP_TABLE_AM_OID);
	return block;
}

/*
 * In the running transaction; false if there are row groups.  *block is where
 * the metapage was.
 */
static bool
try_to_finish(Release *r, BlockNumber *block)
{
	Relation	rel = st_switch_open(r->relid, r->patience, check_ours, r->am_name);
	bool		done;

	PushActiveSnapshot(GetTransactionSnapshot());
	done = is_all_heap(rel, r);
	if (done)
	{
		if (r->verify && r->before == NULL)
			r->before = st_switch_fingerprint(rel, r->am_name);
		*block = become_heap(rel);
		if (r->verify)
			st_switch_compare(rel, r->am_name, r->before);
	}
	PopActiveSnapshot();
	relation_close(rel, NoLock);
	return done;
}

/* ---- steps ---- */

static bool
leave(Relation rel, StCompactJob *job)
{
	st_meta_set_leaving(rel, true);
	((Release *) job)->rows = job->delta_rows + st_expand_rows(rel);
	return true;
}

/*
 * Pages of the extents noted before become heap's, if the transaction that noted
 * them has committed; true if there are more.  In a file that TRUNCATE has made
 * since, row groups may stand there.
 */
static bool
yield_extents(Relation rel, StCompactJob *job)
{
	Release    *r = (Release *) job;
	StCatalog	cat;
	StMeta		meta;
	bool		more = false;

	st_meta_read(rel, &meta);
	if (meta.incarnation == r->incarnation &&
		st_catalog_open(&cat, rel, RowExclusiveLock))
	{
		more = st_free_extents_yield(&cat, &r->forgotten);
		st_catalog_close(&cat);
	}
	else
		r->forgotten.next = r->forgotten.n;
	return more;
}

/* Notes the extents that are free now, for later steps. */
static void
forget_extents(Relation rel, Release *r)
{
	StCatalog	cat;
	StMeta		meta;

	Assert(r->forgotten.next == r->forgotten.n);
	st_meta_read(rel, &meta);
	r->incarnation = meta.incarnation;
	if (st_catalog_open(&cat, rel, RowExclusiveLock))
	{
		st_free_extents_forget(&cat, &r->forgotten, r->mcxt);
		st_catalog_close(&cat);
	}
}

/* Others may have given the table a new file since, which does not leave yet. */
static bool
expand(Relation rel, StCompactJob *job)
{
	Release    *r = (Release *) job;

	st_meta_set_leaving(rel, true);
	if (!yield_extents(rel, job))
		forget_extents(rel, r);
	return st_expand_step(rel, job, &r->place);
}

/* Has VACUUM done its part? */
static bool
groups_gone(Relation rel, StCompactJob *job)
{
	StCatalog	cat;
	bool		gone;

	if (!st_catalog_open(&cat, rel, RowExclusiveLock))
		return true;
	gone = st_groups_are_gone(rel, &cat, GetOldestNonRemovableTransactionId(rel));
	st_catalog_close(&cat);
	return gone;
}

static bool
sweep(Relation rel, StCompactJob *job)
{
	Release    *r = (Release *) job;
	StMeta		meta;

	st_meta_read(rel, &meta);
	st_sweep_indexes(rel, meta.next_row);
	r->swept = meta.next_row;
	forget_extents(rel, r);
	return true;
}

/* A step in a transaction of its own, which is begun here. */
static bool
run(Release *r, StCompactFunction step)
{
	Relation	rel;
	bool		result;

	SPI_commit();
	st_pace_rest();
	st_step_begin();
	rel = open_ours(r, ShareUpdateExclusiveLock);
	result = st_compact_as_owner(rel, &r->job, step);
	relation_close(rel, NoLock);
	return result;
}

static void
wait_for_others(Release *r)
{
	st_progress_phase(ST_PHASE_WAIT_OTHERS, -1, -1);
	SPI_commit();
	if (GetCurrentTimestamp() >= r->until)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("row groups of \"%s\" are still in use",
						get_rel_name(r->relid)),
				 errdetail("Transactions have locked rows of it, or snapshots are older than the last step."),
				 errhint("Call it again when they have ended, or with more patience; compact() keeps the table what it is.")));
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 WAIT_MS, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* patience counts from the last moment that something was done */
static void
be_patient(Release *r)
{
	r->until = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
													   TimestampTzGetDatum(GetCurrentTimestamp()),
													   IntervalPGetDatum(r->patience)));
}

/* VACUUM has transactions of its own, which SPI must not see. */
static void
vacuum_table(Release *r, StVacuumBeside beside)
{
	MemoryContext oldcxt;

	r->vacuumed = r->job.delta_rows;
	st_progress_phase(ST_PHASE_VACUUM, -1, -1);
	SPI_commit();
	SPI_finish();
	oldcxt = CurrentMemoryContext;
	st_compact_vacuum(r->relid, beside, r->mcxt);
	MemoryContextSwitchTo(oldcxt);
	st_progress_resume();
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

static void
yield_all(Release *r)
{
	while (run(r, yield_extents))
		;
}

/* It would find extents that are noted, and enter them again. */
static void
vacuum_groups(Release *r)
{
	yield_all(r);
	vacuum_table(r, ST_VACUUM_WAITS);
}

/*
 * Have so many rows gone that VACUUM should come next?  It turns their tombstones
 * into bits and removes their old index entries, so that neither the TOAST relation
 * nor the indexes become much larger on the way.
 */
static bool
vacuum_is_due(Release *r)
{
	return r->job.delta_rows - r->vacuumed >= Max(r->rows / ST_VACUUM_PARTS, VACUUM_ROWS);
}

/* 2, again and again: a load that began before 1 makes row groups. */
static void
empty_groups(Release *r)
{
	for (;;)
	{
		st_progress_phase(ST_PHASE_EXPAND, r->rows - r->job.delta_rows, -1);
		if (run(r, expand))
		{
			if (vacuum_is_due(r))
				vacuum_groups(r);
			be_patient(r);
		}
		else if (!run(r, st_expand_left))
			break;
		else
			wait_for_others(r);
	}
}

/*
 * From 1 to 4; false if pages that are not heap's are left.  The first VACUUM offers
 * heap the pages that a merge has kept from it.
 */
static bool
give_up_groups(Release *r)
{
	(void) run(r, leave);
	vacuum_groups(r);
	be_patient(r);
	empty_groups(r);
	be_patient(r);
	for (;;)
	{
		vacuum_groups(r);
		if (run(r, groups_gone))
			break;
		wait_for_others(r);
		empty_groups(r);
	}
	st_progress_phase(ST_PHASE_SWEEP, -1, -1);
	(void) run(r, sweep);
	yield_all(r);
	return !r->forgotten.spared;
}

/* 6, when 5 is committed; a table that is gone, or ours again, is left alone. */
static void
erase_metapage(Oid relid, BlockNumber block)
{
	Relation	rel = try_relation_open(relid, ShareUpdateExclusiveLock);

	if (rel == NULL)
		return;
	if (rel->rd_rel->relam == HEAP_TABLE_AM_OID)
		st_meta_erase(rel, block);
	relation_close(rel, ShareUpdateExclusiveLock);
}

/* ---- the call ---- */

/* May it be released at once?  Begins to report. */
static bool
look(Release *r)
{
	Relation	rel = open_ours(r, AccessShareLock);
	bool		at_once;

	st_flush_pending(rel);
	at_once = !st_meta_has_row_groups(rel, NULL);
	st_progress_begin(ST_COMMAND_RELEASE, rel->rd_rel->relam, r->relid);
	relation_close(rel, AccessShareLock);
	return at_once;
}

/*
 * Keeps writers away until the end, and notes what the table contains.  The
 * session's lock goes with an error, too.
 */
static void
begin_proof(Release *r, LockRelId *locked)
{
	Relation	rel;

	SPI_commit();
	rel = open_ours(r, ShareLock);
	*locked = rel->rd_lockInfo.lockRelId;
	LockRelationIdForSession(locked, ShareLock);
	PushActiveSnapshot(GetTransactionSnapshot());
	r->before = MemoryContextStrdup(r->mcxt, st_switch_fingerprint(rel, r->am_name));
	PopActiveSnapshot();
	relation_close(rel, NoLock);
}

/* After the catalog change, which is committed here. */
static void
commit_and_erase(Release *r, BlockNumber block)
{
	SPI_commit();
	erase_metapage(r->relid, block);
}

static void
release_in_steps(Release *r, bool top_level)
{
	BlockNumber block;
	LockRelId	locked;
	bool		done;

	if (!top_level)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("release of a table with row groups cannot run inside a transaction block or procedure"),
				 errdetail("It has transactions of its own, and runs VACUUM."),
				 errhint("CALL it at top level.")));
	if (r->verify)
		begin_proof(r, &locked);
	do
	{
		done = give_up_groups(r);
		SPI_commit();
	} while (!done || !try_to_finish(r, &block));
	commit_and_erase(r, block);
	if (r->verify)
		UnlockRelationIdForSession(&locked, ShareLock);
	/* what visibility tuples leave in the TOAST relation; if need be, autovacuum's */
	vacuum_table(r, ST_VACUUM_BESIDE);
}

void
st_release_call(FunctionCallInfo fcinfo, const char *am_name)
{
	CallContext *context = (CallContext *) fcinfo->context;
	Release		r = {0};
	BlockNumber block;
	bool		top_level;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments must not be null")));
	PreventCommandIfReadOnly("release");
	PreventCommandDuringRecovery("release");
	PreventCommandIfParallelMode("release");

	r.mcxt = AllocSetContextCreate(PortalContext, "release", ALLOCSET_SMALL_SIZES);
	r.am_name = am_name;
	r.relid = PG_GETARG_OID(0);
	r.patience = MemoryContextAlloc(r.mcxt, sizeof(Interval));
	memcpy((void *) r.patience, PG_GETARG_INTERVAL_P(2), sizeof(Interval));
	r.verify = PG_GETARG_BOOL(1);
	r.job.mcxt = r.mcxt;
	top_level = context != NULL && IsA(context, CallContext) && !context->atomic &&
		!SPI_inside_nonatomic_context() && !IsInTransactionBlock(true);
	if (SPI_connect_ext(top_level ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (!look(&r) || !try_to_finish(&r, &block))
		release_in_steps(&r, top_level);
	else if (top_level)
		commit_and_erase(&r, block);
	st_progress_end(ST_COMMAND_RELEASE);
	SPI_finish();
	MemoryContextDelete(r.mcxt);
}
