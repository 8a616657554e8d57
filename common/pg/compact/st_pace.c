/*-------------------------------------------------------------------------
 *
 * st_pace.c
 *	  The pace of compact(), merge() and release(): that of VACUUM.
 *
 * The server's vacuum_cost_delay and vacuum_cost_limit say it, with the costs of
 * pages found, read and dirtied, which the buffer manager counts.  Without a delay
 * nobody counts.  A step rests where nobody waits for what it holds.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/wait_event.h"

#include "st_compact.h"

/* At most, so that a step of release() need not be paid for as a whole. */
#define MAX_REST_MS	200

bool
st_paced(Relation rel, StCompactJob *job, StCompactFunction step)
{
	bool		result;

	VacuumCostActive = VacuumCostDelay > 0;
	PG_TRY();
	{
		result = step(rel, job);
	}
	PG_FINALLY();
	{
		VacuumCostActive = false;
	}
	PG_END_TRY();
	return result;
}

void
st_pace_rest(void)
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
