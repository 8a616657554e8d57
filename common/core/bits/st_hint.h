/*-------------------------------------------------------------------------
 *
 * st_hint.h
 *	  What encoders remember from one vector of a run to the next: a kind of
 *	  scheme that has lost is tried again later and later.
 *
 * Owns nothing; callers keep two counters per kind, zero in the beginning.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_HINT_H
#define ST_HINT_H

#include "st_core.h"

/* Vectors to go without a try, at most. */
#define ST_HINT_MAX_WAIT 15

/* Is it time for another try? */
ST_INLINE bool
st_hint_due(uint8_t *skip)
{
	if (*skip == 0)
		return true;
	(*skip)--;
	return false;
}

/* A try has paid, or has not: then the next one waits twice as long. */
ST_INLINE void
st_hint_learn(bool paid, uint8_t *skip, uint8_t *wait, int max_wait)
{
	int			longer = *wait * 2 + 1;

	*wait = (uint8_t) (paid ? 0 : longer < max_wait ? longer : max_wait);
	*skip = *wait;
}

#endif							/* ST_HINT_H */
