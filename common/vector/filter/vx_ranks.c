/*-------------------------------------------------------------------------
 *
 * vx_ranks.c
 *	  The n best ranks seen under ORDER BY ... LIMIT n.
 *
 * They stand in a heap with the worst on top.
 *
 * Memory: the heap has room for n ranks, at most work_mem; a larger limit is
 * none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "vx_ranks.h"

struct VxRanks
{
	ExprState  *limit;
	ExprState  *offset;
	ExprContext *econtext;
	MemoryContext mcxt;

	bool		ready;			/* bound is known, until rescan */
	uint64		bound;			/* n; 0: there is none */
	binaryheap *heap;			/* worst first; NULL: none yet */
	pg_atomic_uint64 *shared;	/* int64: worst of all participants, or NULL */
};

VxRanks *
vx_ranks_create(Expr *limit, Expr *offset, PlanState *node)
{
	VxRanks    *ranks = palloc0(sizeof(VxRanks));

	ranks->limit = ExecInitExpr(limit, node);
	ranks->offset = ExecInitExpr(offset, node);
	ranks->econtext = node->ps_ExprContext;
	ranks->mcxt = CurrentMemoryContext;
	return ranks;
}

void
vx_ranks_rescan(VxRanks *ranks)
{
	ranks->ready = false;
}

static int
compare_ranks(Datum a, Datum b, void *arg)
{
	int64		x = DatumGetInt64(a);
	int64		y = DatumGetInt64(b);

	return (x > y) - (x < y);
}

/* A bad LIMIT is the Limit node's to complain about: here it is none. */
static void
set_bound(VxRanks *ranks)
{
	bool		isnull;
	int64		limit = DatumGetInt64(ExecEvalExprSwitchContext(ranks->limit, ranks->econtext, &isnull));
	int64		offset;
	uint64		most = Min((Size) work_mem * 1024, MaxAllocSize / 2) / sizeof(Datum);
	MemoryContext old;

	ranks->ready = true;
	ranks->bound = 0;
	if (isnull || limit <= 0)
		return;
	offset = DatumGetInt64(ExecEvalExprSwitchContext(ranks->offset, ranks->econtext, &isnull));
	if (isnull)
		offset = 0;
	if (offset < 0 || limit > most || offset > most || (uint64) limit + offset > most)
		return;
	ranks->bound = limit + offset;
	if (ranks->heap)
		binaryheap_free(ranks->heap);
	old = MemoryContextSwitchTo(ranks->mcxt);
	ranks->heap = binaryheap_allocate((int) ranks->bound, compare_ranks, NULL);
	MemoryContextSwitchTo(old);
}

bool
vx_ranks_begin(VxRanks *ranks)
{
	if (!ranks->ready)
		set_bound(ranks);
	return ranks->bound > 0;
}

uint64
vx_ranks_bound(const VxRanks *ranks)
{
	return ranks->bound;
}

static inline bool
is_full(const VxRanks *ranks)
{
	return ranks->ready && ranks->bound > 0 && ranks->heap->bh_size == (int) ranks->bound;
}

static inline int64
worst_rank(const VxRanks *ranks)
{
	return DatumGetInt64(binaryheap_first(ranks->heap));
}

void
vx_ranks_add(VxRanks *ranks, int64 rank)
{
	if (!is_full(ranks))
		binaryheap_add(ranks->heap, Int64GetDatum(rank));
	else if (rank < worst_rank(ranks))
		binaryheap_replace_first(ranks->heap, Int64GetDatum(rank));
}

int64
vx_ranks_last(const VxRanks *ranks)
{
	int64		last = is_full(ranks) ? worst_rank(ranks) : PG_INT64_MAX;

	if (ranks->shared)
		last = Min(last, (int64) pg_atomic_read_u64(ranks->shared));
	return last;
}

void
vx_ranks_share(VxRanks *ranks, pg_atomic_uint64 *last)
{
	ranks->shared = last;
}

void
vx_ranks_publish(VxRanks *ranks)
{
	uint64		known;

	if (ranks->shared == NULL || !is_full(ranks))
		return;
	known = pg_atomic_read_u64(ranks->shared);
	while (worst_rank(ranks) < (int64) known &&
		   !pg_atomic_compare_exchange_u64(ranks->shared, &known,
										   (uint64) worst_rank(ranks)))
		;
}
