/*-------------------------------------------------------------------------
 *
 * st_int_distinct.h
 *	  Distinct values of an integer vector.  Private to st_int*.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_INT_DISTINCT_H
#define ST_INT_DISTINCT_H

#include "st_core.h"

/* More distinct values than this make no dictionary. */
#define ST_INT_DISTINCT_MAX 256

/*
 * Finds the distinct values of v[0 .. n-1], n <= ST_VECTOR_SIZE, sorts them
 * as signed numbers into value[] (ST_INT_DISTINCT_MAX entries) and sets
 * code[i] to the index of v[i] in it.  Returns their number, or -1 if there
 * are more than ST_INT_DISTINCT_MAX, or half as many as values, which is
 * noticed after few values.
 */
extern int	st_int_distinct(const uint64_t *v, int n,
							uint64_t *value, uint64_t *code);

#endif							/* ST_INT_DISTINCT_H */
