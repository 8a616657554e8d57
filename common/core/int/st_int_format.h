/*-------------------------------------------------------------------------
 *
 * st_int_format.h
 *	  Layout of the nesting schemes of st_int.h.  Private to st_int*.c.
 *
 *		delta			| 5 | start z | leaf of n differences |
 *		delta of delta	| 6 | start z | delta z | leaf of n differences |
 *		gcd				| 7 | divisor v | offset v | level <= 1 |
 *		rle				| 8 | nruns v | length v of next | level <= 3 of
 *						  nruns values | level <= 3 of nruns lengths |
 *		dictionary		| 9 | nvalues v | length v of next | level <= 2 of
 *						  nvalues values | leaf of n codes |
 *
 * v = LEB128 varint, z = zigzag varint.  The last part extends to the end of
 * the vector's bytes.  All arithmetic is modulo 2^64:
 *
 *		delta			v = start; each i: v += d[i], value is v
 *		delta of delta	each i: delta += d[i], v += delta, value is v
 *		gcd				value = offset + divisor * quotient
 *		dictionary		value = values[code]
 *
 * A scheme nests only schemes of a lower level, so that hostile bytes cannot
 * make a decoder recurse: leaves are level 0, deltas 1, gcd 2, dictionary 3,
 * rle 4.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_INT_FORMAT_H
#define ST_INT_FORMAT_H

#include "st_bytes.h"
#include "st_int.h"
#include "st_int_leaf.h"

#define ST_INT_LEVEL_LEAF	0
#define ST_INT_LEVEL_DELTA	1
#define ST_INT_LEVEL_GCD	2
#define ST_INT_LEVEL_DICT	3
#define ST_INT_LEVEL_RLE	4

/* ---- st_int_distinct.c ---- */

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

#endif							/* ST_INT_FORMAT_H */
