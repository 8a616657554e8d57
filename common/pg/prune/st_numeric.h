/*-------------------------------------------------------------------------
 *
 * st_numeric.h
 *	  numeric values as scaled integers and back, byte for byte.
 *
 * A numeric of display scale s whose value is v * 10^-s is held as the
 * integer v.  Going back gives exactly the bytes that the server's own
 * make_result() gives, so equality, hashing and output are the same.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_NUMERIC_H
#define ST_NUMERIC_H

#include "postgres.h"

/* Bytes that st_numeric_write_* needs at most (44 digits and a header). */
#define ST_NUMERIC_MAX_BYTES 64

/* Display scales that the scaled form takes: 10^38 fits into an int128. */
#define ST_NUMERIC_MAX_SCALE 38

/*
 * numeric Datum (plain, possibly with a short header) to (value, scale).
 * False if it is NaN or infinite, or does not fit.
 */
extern bool st_numeric_to_int128(Datum num, int128 *value, int *scale);

/*
 * Writes the numeric value * 10^-scale with display scale scale to buf
 * (int32-aligned, ST_NUMERIC_MAX_BYTES); returns its size in bytes.  The
 * 4-byte varlena header is set.
 */
extern Size st_numeric_write_int64(void *buf, int64 value, int scale);
extern Size st_numeric_write_int128(void *buf, int128 value, int scale);

#endif							/* ST_NUMERIC_H */
