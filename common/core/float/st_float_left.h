/*-------------------------------------------------------------------------
 *
 * st_float_left.h
 *	  ALP-RD's left parts: the high bits of real doubles and floats.
 *
 * A vector's words are cut in two: right parts, random bits, are stored as
 * they are; left parts (sign, exponent, perhaps some of the mantissa; up to
 * 16 bits) have few different values, of very unequal frequency.  This
 * module decides where to cut and stores the left parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FLOAT_LEFT_H
#define ST_FLOAT_LEFT_H

#include "st_bytes.h"

#define ST_LEFT_MAX_BITS 16
#define ST_LEFT_MAX_CODES 16	/* one of them may stand for "exception" */

typedef struct StLeftPlan
{
	int			bits;			/* width of the left parts, 0 .. 16 */
	uint64_t	total_bits;		/* estimated size of left and right parts */
	bool		unary;
	int			ndict;			/* 1 .. 16; 15 if unary */
	uint16_t	dict[ST_LEFT_MAX_CODES];	/* most frequent first */
} StLeftPlan;

typedef struct StLeftExceptions
{
	int			n;
	const uint8_t *position;	/* u16 each, ascending */
	const uint8_t *value;		/* u16 each */
} StLeftExceptions;

/*
 * Plans the cut for n words of width bits each (1 .. 64), of which top[i]
 * holds the highest min(width, 16) bits.  top is sorted by this.
 */
extern void st_left_plan(uint16_t *top, int n, int width, StLeftPlan *plan);

/* Writes n left parts; w's status tells of lack of space. */
extern void st_left_encode(const StLeftPlan *plan, const uint16_t *left,
						   int n, StByteWriter *w);

/*
 * Reads all that is left in r as n left parts: value i is dict[code[i]],
 * unless it is an exception.  dict has ST_LEFT_MAX_CODES entries, code room
 * for ST_VECTOR_SIZE.
 */
extern StStatus st_left_decode(StByteReader *r, int n, uint16_t *dict,
							   uint8_t *code, StLeftExceptions *exceptions);

/* Value i alone. */
extern StStatus st_left_at(StByteReader *r, int n, int i, uint16_t *out);

/*
 * The exceptions' list that ALP and ALP-RD share: index of position i among
 * n ascending u16 positions, -1 if it is not there.
 */
extern int	st_exception_find(const uint8_t *position, int n, int i);

/* Are the n positions ascending and below limit? */
extern bool st_exceptions_valid(const uint8_t *position, int n, int limit);

#endif							/* ST_FLOAT_LEFT_H */
