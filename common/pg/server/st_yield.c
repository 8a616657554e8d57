/*-------------------------------------------------------------------------
 *
 * st_yield.c
 *	  Maintenance lets others have the processor in good time.
 *
 * A writer whose commit has reached the disk wakes up, often on the processor on
 * which compaction computes.  Kernels let who runs go on for some milliseconds
 * then (Linux: until a tick of its clock, 4 ms, where it does not find the other
 * more deserving), so that one transaction in a hundred takes that longer.  So
 * maintenance offers its processor after a quarter of a millisecond.  That costs
 * a system call where nobody wants it.
 *
 * Who takes it may have much to compute.  So the next offer comes after as much time
 * as the last one took, within limits: beside any number of others this process has
 * about half of a processor, or what the kernel says is its share.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sched.h>

#include "portability/instr_time.h"

#include "st_yield.h"

#define RUN_US		250
#define MOST_RUN_US	20000

bool		st_yields = false;

void
st_yield_in_time(void)
{
	static instr_time ready;	/* when it was back from the last offer */
	static uint64 away_us;		/* how long that took */
	instr_time	start;
	instr_time	now;

	INSTR_TIME_SET_CURRENT(start);
	now = start;
	INSTR_TIME_SUBTRACT(now, ready);
	if (INSTR_TIME_GET_MICROSEC(now) < Max(RUN_US, away_us))
		return;
	(void) sched_yield();
	INSTR_TIME_SET_CURRENT(ready);
	now = ready;
	INSTR_TIME_SUBTRACT(now, start);
	away_us = Min(INSTR_TIME_GET_MICROSEC(now), MOST_RUN_US);
}
