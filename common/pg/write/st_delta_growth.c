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
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_write.h"

/* Tables whose committed rows a session counts; then it begins anew. */
#define MAX_TABLES	1000

/* Workers that one commit starts, at most. */
#define MAX_STARTS	8

/*
 * Rows of a table: those that a subtransaction has written, or those that were
 * committed since the session's last worker for it (no subid).  First come
 * entries of the latter kind.
 */
typedef struct Growth
{
	Oid			relid;
	SubTransactionId subid;
	uint64		rows;
} Growth;

static Growth *growth = NULL;	/* in TopMemoryContext */
static int	ngrowth = 0;
static int	ncommitted = 0;
static int	maxgrowth = 0;

static StCompactionWanted compaction_wanted = NULL;
static BackgroundWorker starts[MAX_STARTS];
static int	nstarts = 0;

void
st_delta_grew(Relation rel, uint64 rows)
{
	Oid			relid = RelationGetRelid(rel);
	SubTransactionId subid = GetCurrentSubTransactionId();

	for (int i = ngrowth - 1; i >= ncommitted; i--)
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

/*
 * The transaction is about to commit: adds rows of it to the committed ones,
 * and prepares a worker for the table if that makes enough.  The count begins
 * anew whether there will be one or not, so that this is rare.
 */
static void
count_committed(const Growth *g)
{
	Relation	rel = try_relation_open(g->relid, AccessShareLock);
	int			i = 0;

	if (rel == NULL)
		return;
	if (compaction_wanted != NULL && st_relation_format(rel) != NULL)
	{
		while (i < ncommitted && growth[i].relid != g->relid)
			i++;
		if (i < ncommitted)
			growth[i].rows += g->rows;
		else
		{
			/* it has a place of its own, here or further on */
			growth[ncommitted].relid = g->relid;
			growth[ncommitted].rows = g->rows;
			growth[ncommitted++].subid = InvalidSubTransactionId;
		}
		if (growth[i].rows >= ST_WORKER_ROWS && nstarts < MAX_STARTS)
		{
			growth[i].rows = 0;
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
			for (int i = ncommitted; i < ngrowth; i++)
			{
				Growth		g = growth[i];

				count_committed(&g);
			}
			if (ncommitted > MAX_TABLES)
				ncommitted = 0;
			ngrowth = ncommitted;
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
			ngrowth = ncommitted;
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
	int			kept = ncommitted;

	if (ngrowth == ncommitted ||
		(event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB))
		return;
	for (int i = ncommitted; i < ngrowth; i++)
	{
		Growth	   *last = kept > ncommitted ? &growth[kept - 1] : NULL;

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
