/*-------------------------------------------------------------------------
 *
 * st_float.h
 *	  Encodings for vectors of double and float.
 *
 * Every bit pattern survives: NaN payloads, -0, infinities, denormals.  Each
 * vector describes itself; the encoder takes the smallest of
 *
 *	constant	one bit pattern
 *	alp			decimals or binary fractions of few digits as integers
 *	alprd		real doubles: common high parts by a small dictionary, low
 *				parts as they are
 *	raw
 *
 * After Afroozeh, Kuffo, Boncz, "ALP: Adaptive Lossless floating-Point
 * Compression", SIGMOD 2023.  st_alp.c and st_float_left.c tell what differs;
 * st_float_template.h has the layout.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FLOAT_H
#define ST_FLOAT_H

#include "st_core.h"
#include "st_int.h"

/* Largest encoded size of n values. */
extern size_t st_f64_bound(int n);
extern size_t st_f32_bound(int n);

/*
 * Encodes n (0 .. ST_VECTOR_SIZE) values.  ST_NOSPACE: cap is smaller than
 * st_f64_bound(n) (the encoders ask for it beforehand, whatever the result).
 * ST_NOTFIT: n is out of range.
 */
extern StStatus st_f64_encode(const double *v, int n,
							  uint8_t *dst, size_t cap, size_t *len);
extern StStatus st_f32_encode(const float *v, int n,
							  uint8_t *dst, size_t cap, size_t *len);

/*
 * Which schemes did not pay for the earlier vectors of a run.  All zero in the
 * beginning.
 */
typedef struct StFloatHint
{
	StIntHint	ints;
	uint8_t		skip_alp;		/* vectors to go without a try of alp */
	uint8_t		wait_alp;		/* as many after the next try that fails */
} StFloatHint;

/* Likewise for the next vector of a run of alike ones: see st_int.h. */
extern StStatus st_f64_encode_next(const double *v, int n, StFloatHint *hint,
								   uint8_t *dst, size_t cap, size_t *len);
extern StStatus st_f32_encode_next(const float *v, int n, StFloatHint *hint,
								   uint8_t *dst, size_t cap, size_t *len);

/* Decodes n values (n as given to the encoder) into dst.  ST_CORRUPT. */
extern StStatus st_f64_decode(const uint8_t *src, size_t len, int n,
							  double *dst);
extern StStatus st_f32_decode(const uint8_t *src, size_t len, int n,
							  float *dst);

/* Value i of n alone.  ST_CORRUPT, also if i is out of range. */
extern StStatus st_f64_at(const uint8_t *src, size_t len, int n, int i,
						  double *out);
extern StStatus st_f32_at(const uint8_t *src, size_t len, int n, int i,
						  float *out);

#endif							/* ST_FLOAT_H */
