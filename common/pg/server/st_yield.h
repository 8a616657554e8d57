/*-------------------------------------------------------------------------
 *
 * st_yield.h
 *	  Maintenance lets others have the processor in good time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_YIELD_H
#define ST_YIELD_H

/* Does this process do what nobody waits for?  Who sets it resets it, after errors, too. */
extern bool st_yields;

/*
 * Loops that maintenance has in common with others call it as often as
 * CHECK_FOR_INTERRUPTS(), and like that not while a buffer is locked.
 */
extern void st_yield_in_time(void);

static inline void
st_yield(void)
{
	if (st_yields)
		st_yield_in_time();
}

#endif							/* ST_YIELD_H */
