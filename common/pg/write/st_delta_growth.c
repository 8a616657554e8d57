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
 * Entries are a stack.  A subtransaction that runs has pushed those on top, as
 * what its own subtransactions have pushed is gone or has become its own.  So
 * its end looks at no others, and a table's newest entry is found by hash.
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

/* Tables whose committed rows a session counts; then it begins anew. */
#define MAX_TABLES	1000

/* Workers that one commit starts, at most. */
#define MAX_STARTS	8

/* Rows of a table that a subtransaction has written. */
typedef struct Growth
{
	Oid			relid;
	SubTransactionId subid;
	uint64		rows;
	int			below;			/* the table's entry before, or -1 */
} Growth;

typedef struct GrowthTable
{
	Oid			relid;			/* first: hash key */
	uint64		committed;		/* rows since the session's last worker for it */
	int			newest;			/* its entry in growth, or -1 */
} GrowthTable;

/* Both live as long as the session. */
static HTAB *tables = NULL;
static Growth *growth = NULL;
static int	ngrowth = 0;
static int	maxgrowth = 0;

static StCompactionWanted compaction_wanted = NULL;
static BackgroundWorker starts[MAX_STARTS];
static int	nstarts = 0;

static GrowthTable *
table_of(Oid relid)
{
	return hash_search(tables, &relid, HASH_FIND, NULL);
}

static GrowthTable *
table_enter(Oid relid)
{
	GrowthTable *table;
	bool		found;

	if (tables == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(GrowthTable)};

		ctl.hcxt = TopMemoryContext;
		tables = hash_create("tables whose delta grows", 16, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	table = hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
	{
		table->committed = 0;
		table->newest = -1;
	}
	return table;
}

static void
make_room(void)
{
	int			n = Max(16, maxgrowth * 2);

	if (ngrowth < maxgrowth)
		return;
	growth = growth == NULL ?
		MemoryContextAlloc(TopMemoryContext, n * sizeof(Growth)) :
		repalloc_huge(growth, n * sizeof(Growth));
	maxgrowth = n;
}

void
st_delta_grew(Relation rel, uint64 rows)
{
	Oid			relid = RelationGetRelid(rel);
	SubTransactionId subid = GetCurrentSubTransactionId();
	int			newest = ngrowth - 1;
	GrowthTable *table = NULL;

	/* Most often the table is the one of the row before. */
	if (newest < 0 || growth[newest].relid != relid)
	{
		table = table_enter(relid);
		newest = table->newest;
	}
	if (newest >= 0 && growth[newest].subid == subid)
	{
		growth[newest].rows += rows;
		return;
	}
	make_room();
	if (table == NULL)
		table = table_of(relid);
	growth[ngrowth].relid = relid;
	growth[ngrowth].subid = subid;
	growth[ngrowth].rows = rows;
	growth[ngrowth].below = newest;
	table->newest = ngrowth++;
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
	GrowthTable *table = table_of(g->relid);

	if (rel == NULL)
		return;
	if (compaction_wanted != NULL && st_relation_format(rel) != NULL)
	{
		table->committed += g->rows;
		if (table->committed >= ST_WORKER_ROWS && nstarts < MAX_STARTS)
		{
			table->committed = 0;
			if (compaction_wanted(rel, &starts[nstarts]))
				nstarts++;
		}
	}
	relation_close(rel, NoLock);
}

/* The transaction has ended: what is on the stack counts no more. */
static void
forget_growth(void)
{
	for (int i = 0; i < ngrowth; i++)
		table_of(growth[i].relid)->newest = -1;
	ngrowth = 0;
	if (tables != NULL && hash_get_num_entries(tables) > MAX_TABLES)
	{
		hash_destroy(tables);
		tables = NULL;
	}
}

static void
growth_xact_callback(XactEvent event, void *arg)
{
	int			n = nstarts;

	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			for (int i = 0; i < ngrowth; i++)
			{
				Growth		g = growth[i];

				count_committed(&g);
			}
			break;
		case XACT_EVENT_COMMIT:
			forget_growth();
			nstarts = 0;
			for (int i = 0; i < n; i++)
				(void) RegisterDynamicBackgroundWorker(&starts[i], NULL);
			break;
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			forget_growth();
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
	int			first = ngrowth;
	int			kept;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	while (first > 0 && growth[first - 1].subid == subid)
		first--;
	kept = first;
	for (int i = first; i < ngrowth; i++)
	{
		Growth		g = growth[i];
		GrowthTable *table = table_of(g.relid);

		table->newest = g.below;
		if (event == SUBXACT_EVENT_ABORT_SUB)
			continue;
		if (g.below >= 0 && growth[g.below].subid == parent)
			growth[g.below].rows += g.rows;
		else
		{
			g.subid = parent;
			table->newest = kept;
			growth[kept++] = g;
		}
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
