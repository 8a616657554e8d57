/*-------------------------------------------------------------------------
 *
 * st_delta_growth.c
 *	  Option auto_compact: a commit that finds that this session has added
 *	  many rows to the delta of a table, or deleted as many of its row groups,
 *	  has it compacted by a background worker.
 *
 * Rows are counted as they are written: an entry for each relation and
 * subtransaction, which is forgotten if that is rolled back; at commit they
 * join the session's count of committed rows.  The count is a hint: it knows
 * nothing of other sessions.  What there is to do is found
 * out by the worker, and what no session sees, autovacuum does (st_am_vacuum.c).
 *
 * The decision is made before the commit, when the catalogs can still be read
 * and an error is an ordinary one.  Afterwards nothing may fail: the worker is
 * only registered then, which neither allocates memory nor reads anything, and
 * that there is no place for it is no error.  So it never starts before the
 * rows are committed.  A prepared transaction's rows are not counted: another
 * session may commit it.  Parallel workers write no rows of ours.
 *
 * Cost: a few instructions for each row of the delta.  A worker is registered
 * once per so many rows, and not while one is at work on the table, as its lock
 * tells; of two that are started at once the second gives way to the first
 * (st_compact_worker.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_write.h"

/* Tables that a session counts; then it begins anew. */
#define MAX_TABLES	1000

/* Workers that one commit starts, at most. */
#define MAX_STARTS	8

/* Rows of the running transaction. */
typedef struct Growth
{
	Oid			relid;
	SubTransactionId subid;
	uint64		rows;
} Growth;

/* Committed rows of this session since its last worker for the table. */
typedef struct Committed
{
	Oid			relid;			/* hash key */
	uint64		rows;
} Committed;

static Growth *growth = NULL;	/* in TopMemoryContext */
static int	ngrowth = 0;
static int	maxgrowth = 0;
static HTAB *tables = NULL;

static StCompactionWanted compaction_wanted = NULL;
static BackgroundWorker starts[MAX_STARTS];
static int	nstarts = 0;

void
st_delta_grew(Relation rel, uint64 rows)
{
	Oid			relid = RelationGetRelid(rel);
	SubTransactionId subid = GetCurrentSubTransactionId();

	for (int i = ngrowth - 1; i >= 0; i--)
	{
		if (growth[i].relid == relid && growth[i].subid == subid)
		{
			growth[i].rows += rows;
			return;
		}
	}
	if (ngrowth == maxgrowth)
	{
		int			n = Max(16, maxgrowth * 2);

		growth = growth == NULL ?
			MemoryContextAlloc(TopMemoryContext, n * sizeof(Growth)) :
			repalloc_huge(growth, n * sizeof(Growth));
		maxgrowth = n;
	}
	growth[ngrowth].relid = relid;
	growth[ngrowth].subid = subid;
	growth[ngrowth++].rows = rows;
}

/* The session's entry of a table. */
static Committed *
find_table(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Committed  *t;
	bool		found;

	if (tables != NULL && hash_get_num_entries(tables) >= MAX_TABLES)
	{
		hash_destroy(tables);
		tables = NULL;
	}
	if (tables == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(Committed)};

		tables = hash_create("rows added to the delta", 16, &ctl,
							 HASH_ELEM | HASH_BLOBS);
	}
	t = hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
		t->rows = 0;
	return t;
}

/*
 * The transaction is about to commit: adds its rows, and prepares a worker
 * for the table if that makes enough.  The count begins anew whether there
 * will be one or not, so that this is rare.
 */
static void
count_committed(const Growth *g)
{
	Relation	rel = try_relation_open(g->relid, AccessShareLock);
	Committed  *t;

	if (rel == NULL)
		return;
	if (compaction_wanted != NULL && st_relation_format(rel) != NULL)
	{
		t = find_table(rel);
		t->rows += g->rows;
		if (t->rows >= ST_WORKER_ROWS && nstarts < MAX_STARTS)
		{
			t->rows = 0;
			if (compaction_wanted(rel, &starts[nstarts]))
				nstarts++;
		}
	}
	relation_close(rel, NoLock);
}

static void
growth_xact_callback(XactEvent event, void *arg)
{
	int			n = nstarts;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			for (int i = 0; i < ngrowth; i++)
				count_committed(&growth[i]);
			ngrowth = 0;
			break;
		case XACT_EVENT_COMMIT:
			nstarts = 0;
			for (int i = 0; i < n; i++)
				(void) RegisterDynamicBackgroundWorker(&starts[i], NULL);
			break;
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			ngrowth = 0;
			nstarts = 0;
			break;
		default:
			break;
	}
}

static void
growth_subxact_callback(SubXactEvent event, SubTransactionId subid,
						SubTransactionId parent, void *arg)
{
	int			kept = 0;

	if (ngrowth == 0 ||
		(event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;
	for (int i = 0; i < ngrowth; i++)
	{
		Growth	   *last = kept > 0 ? &growth[kept - 1] : NULL;

		if (growth[i].subid == subid)
		{
			if (event == SUBXACT_EVENT_ABORT_SUB)
				continue;
			growth[i].subid = parent;
		}
		if (last != NULL && last->relid == growth[i].relid &&
			last->subid == growth[i].subid)
			last->rows += growth[i].rows;
		else
			growth[kept++] = growth[i];
	}
	ngrowth = kept;
}

void
st_on_delta_growth(StCompactionWanted wanted)
{
	compaction_wanted = wanted;
}

void
st_delta_growth_init(void)
{
	RegisterXactCallback(growth_xact_callback, NULL);
	RegisterSubXactCallback(growth_subxact_callback, NULL);
}
