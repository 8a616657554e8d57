/*-------------------------------------------------------------------------
 *
 * st_float_internal.h
 *	  What the double and the float encodings share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FLOAT_INTERNAL_H
#define ST_FLOAT_INTERNAL_H

#include "st_bytes.h"

/* First byte of a vector.  On disk. */
enum StFloatScheme
{
	ST_FLOAT_CONSTANT = 1,
	ST_FLOAT_RAW = 2,
	ST_FLOAT_ALP = 3,
	ST_FLOAT_ALPRD = 4
};

/* How ALP makes a value of an integer d.  On disk. */
enum StAlpMode
{
	ST_ALP_DIVIDE = 0,			/* d / 10^k: what decimal text reads as */
	ST_ALP_FRACTION = 1,		/* d * 10^-k: what arithmetic gives */
	ST_ALP_MULTIPLE = 2,		/* d * 10^k */
	ST_ALP_BINARY = 3			/* d * 2^-k, exact */
};

#define ST_ALP_MAX_DECIMAL 22	/* 10^22 is the last power that is exact */
#define ST_ALP_MAX_BINARY 1000

/* A mode with its exponent, as constants for the loops. */
typedef struct StAlpParam
{
	int			mode;
	int			k;
	bool		divide;			/* value = d / constant, else d * constant */
	double		constant;
	double		scale;			/* d = round(value * scale) */
} StAlpParam;

/* Fills in the constants; false if there is no such mode and exponent. */
extern bool st_alp_param(int mode, int k, StAlpParam *param);

/*
 * The value of d.  A single rounding (two with the conversion to float), so
 * that no compiler option or instruction set can change it.
 */
ST_INLINE double
st_alp_value(const StAlpParam *param, int64_t d)
{
	return param->divide ? (double) d / param->constant :
		(double) d * param->constant;
}

/* dst[i] = st_alp_value(param, d[i]), vectorised. */
extern void st_alp_values(const StAlpParam *param, const int64_t *d, int n,
						  double *dst);

/* The same into floats. */
extern void st_alp_values32(const StAlpParam *param, const int64_t *d, int n,
							float *dst);

/* Integers beyond 2^53 are not for ALP: not all of them are doubles. */
#define ST_ALP_LIMIT 9007199254740992.0

/*
 * Rounds x to an integer; false if it is too large or NaN.  The caller finds
 * out whether the integer makes the value again.
 */
ST_INLINE bool
st_alp_round(double x, int64_t *d)
{
	const double magic = 6755399441055744.0;	/* 1.5 * 2^52 */
	const double magic_limit = 2251799813685248.0;	/* 2^51 */

	/* adding it leaves no bits for a fraction, subtracting it the integer */
	if (st_likely(x < magic_limit && x > -magic_limit))
	{
		*d = (int64_t) ((x + magic) - magic);
		return true;
	}
	if (!(x < ST_ALP_LIMIT && x > -ST_ALP_LIMIT))
		return false;
	*d = (int64_t) x;
	return true;
}

/* Values looked at to choose the mode and exponent. */
#define ST_ALP_SAMPLE 32

/* ---- st_float_left.c: ALP-RD's left parts, the high bits of real numbers ---- */

/*
 * A vector's words are cut in two: right parts, random bits, are stored as
 * they are; left parts (sign, exponent, perhaps some of the mantissa; up to
 * 16 bits) have few different values, of very unequal frequency.  This
 * module decides where to cut and stores the left parts.
 */
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

#endif							/* ST_FLOAT_INTERNAL_H */
