/*-------------------------------------------------------------------------
 *
 * st_pace.c
 *	  The pace of compaction: when it rests, and for how long.
 *
 * compact(), merge() and release() have that of VACUUM: the server's
 * vacuum_cost_delay and vacuum_cost_limit say it, with the costs of pages found,
 * read and dirtied, which the buffer manager counts.  Without a delay nobody counts.
 *
 * A worker rests as long as it has worked, by what it has used of a processor, so
 * that it takes half of one; where many want it, its share.  It does so in slices of
 * some milliseconds, which queries and writers feel less than long ones.  Where
 * nobody in the whole server has begun to write for some seconds, it rests a quarter
 * of that.
 *
 * Between rests all of them let others have the processor in good time (st_yield.c),
 * also while somebody waits for what a step holds: he waits a little longer, and all
 * others less.
 *
 * A step rests where nobody waits for what it holds, or for a moment only
 * (st_expand.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/resource.h>

#include "access/transam.h"
#include "miscadmin.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "st_compact_int.h"
#include "st_yield.h"

/* At most, whatever a stretch without a rest has cost. */
#define MAX_REST_MS	200

/* A worker's slices, after how many calls it looks, and its longest rest. */
#define SLICE_MS		10
#define CALLS			128
#define MAX_NAP_MS		10000
#define ALONE_SHARE		4
#define ALONE_MS		2000

static bool may_rest = true;	/* nobody waits long for what a step holds */
static void (*nap) (long ms) = NULL;	/* of a worker */
static TimestampTz writers_seen;	/* the last time, while this process rested */
static long rested_at;			/* processor time up to which was rested for */

void
st_pace_allow(bool allow)
{
	may_rest = allow;
}

bool
st_paced(Relation rel, StCompactJob *job, StCompactFunction step)
{
	bool		result;

	VacuumCostActive = VacuumCostDelay > 0;
	st_yields = true;
	PG_TRY();
	{
		result = step(rel, job);
	}
	PG_FINALLY();
	{
		VacuumCostActive = false;
		st_yields = false;
		may_rest = true;
	}
	PG_END_TRY();
	return result;
}

static void
rest_for_cost(void)
{
	double		ms;

	if (VacuumCostDelay <= 0 || VacuumCostBalance < VacuumCostLimit)
		return;
	ms = Min(VacuumCostDelay * VacuumCostBalance / VacuumCostLimit, MAX_REST_MS);
	pgstat_report_wait_start(WAIT_EVENT_VACUUM_DELAY);
	pg_usleep(ms * 1000);
	pgstat_report_wait_end();
	VacuumCostBalance = 0;
	CHECK_FOR_INTERRUPTS();
}

/* ---- workers ---- */

long
st_processor_ms(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
		(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

bool
st_pace_beside_writers(void)
{
	return !TimestampDifferenceExceeds(writers_seen, GetCurrentTimestamp(), ALONE_MS);
}

/* While it rests this process takes no transaction id. */
void
st_pace_settle(void)
{
	TransactionId next = ReadNextTransactionId();
	long		ms = Min(st_processor_ms() - rested_at, MAX_NAP_MS);
	long		first = ms / ALONE_SHARE;

	nap(first);
	if (ReadNextTransactionId() != next)
		writers_seen = GetCurrentTimestamp();
	if (st_pace_beside_writers())
		nap(ms - first);
	rested_at = st_processor_ms();
}

void
st_pace_by_processor(void (*worker_nap) (long ms))
{
	nap = worker_nap;
	rested_at = st_processor_ms();
	writers_seen = GetCurrentTimestamp();
}

void
st_pace_rest(void)
{
	static int	calls = 0;

	st_yield();
	if (!may_rest)
		return;
	if (nap == NULL)
		rest_for_cost();
	else if (++calls % CALLS == 0 && st_processor_ms() - rested_at >= SLICE_MS)
		st_pace_settle();
}
