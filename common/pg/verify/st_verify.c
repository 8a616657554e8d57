/*-------------------------------------------------------------------------
 *
 * st_verify.c
 *	  Body of verify(): reads everything that a table's row groups are made of and
 *	  reports what is damaged or does not fit together.
 *
 * For every row group that the snapshot sees: the extent lies inside of the
 * file and overlaps no other and no free one; every page is what was written
 * (checksum);
 * every column decodes; null counts and bounds of zones hold; tombstones
 * name rows of the group.  Then every index is compared with the rows.
 *
 * Comparison functions of user-defined types are called as the owner of the
 * table in a security-restricted operation.  Each step that may raise runs in
 * a subtransaction, so that one damaged page does not hide the others.
 *
 * Lock: AccessShareLock until the end of the statement.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "st_compat.h"
#include "st_error.h"
#include "st_inspect.h"
#include "st_progress.h"
#include "st_space.h"

/* Bytes of an image read at a time. */
#define READ_CHUNK (256 * 1024)

typedef struct VerifyState
{
	Relation	rel;
	ReturnSetInfo *rsinfo;
	StGroupList *groups;
	StExtentRange *free_extents;	/* sorted */
	int			nfree;
	int			groupno;		/* 0-based, of the group being checked, or -1 */
	Oid			indexoid;		/* index being checked */
	int64		index_bytes;	/* for progress */
	AttrNumber	attno;			/* of the column being checked, or 0 */
	StCheckColumn check_column; /* of the format */
	MemoryContext mcxt;			/* of one step */
} VerifyState;

static void
report(VerifyState *state, int64 part, const char *message)
{
	Datum		values[5] = {0};
	bool		nulls[5] = {0};

	nulls[0] = nulls[1] = state->groupno < 0;
	if (state->groupno >= 0)
	{
		values[0] = Int32GetDatum(state->groupno + 1);
		values[1] = Int64GetDatum((int64) state->groups->groups[state->groupno].first_row);
	}
	nulls[2] = state->attno == 0;
	if (!nulls[2])
		values[2] = NameGetDatum(&TupleDescAttr(RelationGetDescr(state->rel),
												state->attno - 1)->attname);
	nulls[3] = part < 0;
	values[3] = Int32GetDatum((int32) part);
	values[4] = CStringGetTextDatum(message);
	tuplestore_putvalues(state->rsinfo->setResult, state->rsinfo->setDesc,
						 values, nulls);
}

/* Damage that a step raises is a finding; anything else goes on up. */
static bool
is_damage(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_DATA_CORRUPTED ||
		error->sqlerrcode == ERRCODE_INDEX_CORRUPTED ||
		error->sqlerrcode == ERRCODE_FEATURE_NOT_SUPPORTED ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_TO_CATEGORY(ERRCODE_IO_ERROR);
}

/* Returns the damage that it was stopped by, in mcxt. */
static ErrorData *
try_step(VerifyState *state, StTryStep step)
{
	ErrorData  *error;

	CHECK_FOR_INTERRUPTS();
	error = st_try(step, state, state->mcxt);
	/* A subtransaction left open would outlive a cancelled statement. */
	if (error != NULL && !is_damage(error))
		ReThrowError(error);
	return error;
}

static void
run_step(VerifyState *state, StTryStep step)
{
	ErrorData  *error = try_step(state, step);

	if (error != NULL)
		report(state, -1, error->detail ?
			   psprintf("%s: %s", error->message, error->detail) : error->message);
	MemoryContextReset(state->mcxt);
}

static bool
runs_overlap(const StExtentRange *runs, int nruns, const StExtentRange *other)
{
	for (int i = 0; i < nruns; i++)
	{
		if (other->start < runs[i].end && runs[i].start < other->end)
			return true;
	}
	return false;
}

static bool
extents_overlap(const StExtentRange *runs, int nruns, const StGroup *other)
{
	StExtentRange others[ST_MAX_RUNS];
	int			nothers = st_group_extents(other, others);

	for (int k = 0; k < nothers; k++)
	{
		if (runs_overlap(runs, nruns, &others[k]))
			return true;
	}
	return false;
}

/* Descriptors against the file and against each other. */
static void
check_extent(void *arg)
{
	VerifyState *state = arg;
	const StGroup *group = &state->groups->groups[state->groupno];
	uint64		nblocks = RelationGetNumberOfBlocks(state->rel);
	BlockNumber meta = st_meta_block(state->rel);
	StExtentRange runs[ST_MAX_RUNS];
	int			nruns = st_group_extents(group, runs);

	for (int r = 0; r < nruns; r++)
	{
		if ((runs[r].start <= meta && runs[r].end > meta) || runs[r].end > nblocks ||
			runs[r].end < runs[r].start)
			report(state, -1, psprintf("extent of blocks %u to %u is not inside of the relation's " UINT64_FORMAT " blocks",
									   runs[r].start, runs[r].end, nblocks));
	}
	if ((uint64) group->footer_off + group->footer_len > group->image_len)
		report(state, -1, "footer is not inside of the image");
	for (int i = 0; i < state->nfree; i++)
	{
		if (runs_overlap(runs, nruns, &state->free_extents[i]))
			report(state, -1, psprintf("extent overlaps the free one of blocks %u to %u",
									   state->free_extents[i].start,
									   state->free_extents[i].end));
	}
	for (int i = 0; i < state->groups->ngroups; i++)
	{
		const StGroup *other = &state->groups->groups[i];

		if (i == state->groupno)
			continue;
		if (extents_overlap(runs, nruns, other))
			report(state, -1, psprintf("extent overlaps that of the row group at row " UINT64_FORMAT,
									   other->first_row));
		if (other->first_row < group->first_row + group->nrows &&
			group->first_row < other->first_row + other->nrows)
			report(state, -1, psprintf("rows overlap those of the row group at row " UINT64_FORMAT,
									   other->first_row));
	}
}

/* The directory of free extents, as the snapshot has it. */
static void
check_free_extents(void *arg)
{
	VerifyState *state = arg;
	uint64		nblocks = RelationGetNumberOfBlocks(state->rel);
	BlockNumber meta = st_meta_block(state->rel);
	const StExtentRange *last = NULL;
	MemoryContext oldcxt;
	StCatalog	cat;

	if (!st_catalog_open(&cat, state->rel, AccessShareLock))
		return;
	oldcxt = MemoryContextSwitchTo(GetMemoryChunkContext(state->groups));
	state->free_extents = st_free_extent_all(&cat, GetActiveSnapshot(),
											 &state->nfree);
	MemoryContextSwitchTo(oldcxt);
	st_catalog_close(&cat);

	for (int i = 0; i < state->nfree; i++)
	{
		const StExtentRange *e = &state->free_extents[i];

		if ((e->start <= meta && e->end > meta) || e->end > nblocks ||
			e->end < e->start)
			report(state, -1, psprintf("free extent of blocks %u to %u is not inside of the relation's " UINT64_FORMAT " blocks",
									   e->start, e->end, nblocks));
		if (last != NULL && e->start < last->end)
			report(state, -1, psprintf("free extent of blocks %u to %u overlaps that of blocks %u to %u",
									   e->start, e->end, last->start, last->end));
		last = e;
	}
}

/* Every page of the image; the store compares checksums. */
static void
check_pages(void *arg)
{
	VerifyState *state = arg;
	const StGroup *group = &state->groups->groups[state->groupno];
	char	   *buf = palloc(READ_CHUNK);

	for (uint64 off = 0; off < group->image_len; off += READ_CHUNK)
	{
		CHECK_FOR_INTERRUPTS();
		st_read_image(state->rel, group, off,
					  Min(READ_CHUNK, group->image_len - off), buf);
	}
}

static void
check_column(void *arg)
{
	VerifyState *state = arg;
	const StGroup *group = &state->groups->groups[state->groupno];
	ListCell   *lc;

	foreach(lc, state->check_column(state->rel, group, state->attno))
	{
		StProblem  *problem = lfirst(lc);

		report(state, problem->part, problem->message);
	}
}

/* Tombstones, swaths and pieces; whatever is wrong with one of these is an error. */
static void
check_deletions(void *arg)
{
	VerifyState *state = arg;
	const StGroup *group = &state->groups->groups[state->groupno];
	TransactionId newest = InvalidTransactionId;
	uint64	   *folded = NULL;
	uint64	   *mown = NULL;
	StGroup		noted = *group;
	uint32		ndeleted;
	StCatalog	cat;

	(void) st_deleted_rows(state->rel, group, GetActiveSnapshot(),
						   CurrentMemoryContext, &ndeleted);
	if (ndeleted > group->nrows)
		report(state, -1, psprintf("%u deleted rows of %u", ndeleted, group->nrows));

	if ((group->folded && group->mown) ||
		!st_catalog_open(&cat, state->rel, AccessShareLock))
		return;
	noted.mown = true;
	if (!group->mown &&
		st_mark_mown(&cat, &noted, 0, group->nrows - 1, GetActiveSnapshot(),
					 CurrentMemoryContext, &mown, &newest) > 0)
		report(state, -1, "there are swaths of deleted rows, which the descriptor does not say");
	if (!group->folded &&
		st_mark_folded(&cat, group, 0, group->nrows - 1, GetActiveSnapshot(),
					   CurrentMemoryContext, &folded, &newest) > 0)
		report(state, -1, "there are bitmaps of deleted rows, which the descriptor does not say");
	st_catalog_close(&cat);
}

static void
begin_groups(const VerifyState *state)
{
	int64		rows = 0;
	int64		bytes = 0;

	for (int i = 0; i < state->groups->ngroups; i++)
	{
		rows += state->groups->groups[i].nrows;
		bytes += state->groups->groups[i].image_len;
	}
	st_progress_phase(ST_PHASE_READ_GROUPS, rows, bytes);
}

static void
verify_groups(VerifyState *state)
{
	TupleDesc	desc = RelationGetDescr(state->rel);
	int64		rows = 0;
	int64		bytes = 0;

	begin_groups(state);
	state->groupno = -1;
	run_step(state, check_free_extents);
	for (int i = 0; i < state->groups->ngroups; i++)
	{
		state->groupno = i;
		state->attno = 0;
		run_step(state, check_extent);
		run_step(state, check_pages);
		run_step(state, check_deletions);
		run_step(state, check_column);	/* the expressions */
		for (int a = 1; a <= desc->natts; a++)
		{
			state->attno = a;
			if (!TupleDescAttr(desc, a - 1)->attisdropped)
				run_step(state, check_column);
		}
		rows += state->groups->groups[i].nrows;
		bytes += state->groups->groups[i].image_len;
		st_progress_set_many(2, (const int[]) {ST_PROGRESS_ROWS, ST_PROGRESS_BYTES},
							 (const int64[]) {rows, bytes});
	}
}

static void
check_index(void *arg)
{
	VerifyState *state = arg;
	ListCell   *lc;

	foreach(lc, st_check_index(state->rel, state->indexoid, GetActiveSnapshot()))
		report(state, -1, ((StProblem *) lfirst(lc))->message);
}

/* For progress.  What it is stopped by check_index() reports. */
static void
add_bytes(void *arg)
{
	VerifyState *state = arg;
	Relation	index = index_open(state->indexoid, AccessShareLock);

	state->index_bytes += (int64) RelationGetNumberOfBlocks(index) * BLCKSZ;
	index_close(index, AccessShareLock);
}

static void
verify_indexes(VerifyState *state)
{
	List	   *indexes = RelationGetIndexList(state->rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		state->indexoid = lfirst_oid(lc);
		(void) try_step(state, add_bytes);
	}
	st_progress_phase(ST_PHASE_READ_INDEXES, -1, state->index_bytes);
	state->index_bytes = 0;
	state->groupno = -1;
	state->attno = 0;
	foreach(lc, indexes)
	{
		state->indexoid = lfirst_oid(lc);
		run_step(state, check_index);
		(void) try_step(state, add_bytes);
		st_progress_set(ST_PROGRESS_BYTES, state->index_bytes);
	}
	list_free(indexes);
}

Datum
st_verify_function(FunctionCallInfo fcinfo, StCheckColumn check_column)
{
	VerifyState state = {0};
	Relation	rel = st_open_table(PG_GETARG_OID(0));
	Oid			save_userid;
	int			save_sec_context;
	int			save_nestlevel;

	if (!st_can_maintain(rel))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	InitMaterializedSRF(fcinfo, 0);
	state.rel = rel;
	state.check_column = check_column;
	state.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	state.mcxt = AllocSetContextCreate(CurrentMemoryContext, "verify",
									   ALLOCSET_DEFAULT_SIZES);

	GetUserIdAndSecContext(&save_userid, &save_sec_context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   save_sec_context | SECURITY_RESTRICTED_OPERATION);
	save_nestlevel = NewGUCNestLevel();
	st_restrict_search_path();

	st_progress_begin(ST_COMMAND_VERIFY, rel->rd_rel->relam, RelationGetRelid(rel));
	state.groups = st_visible_groups(rel, GetActiveSnapshot(), CurrentMemoryContext);
	verify_groups(&state);
	verify_indexes(&state);
	st_progress_end(ST_COMMAND_VERIFY);

	AtEOXact_GUC(false, save_nestlevel);
	SetUserIdAndSecContext(save_userid, save_sec_context);
	MemoryContextDelete(state.mcxt);
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
