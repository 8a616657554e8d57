/*-------------------------------------------------------------------------
 *
 * st_fuzz_values.h
 *	  Turns fuzz input into integer vectors of many shapes.
 *
 * Input: u16 n modulo ST_VECTOR_SIZE + 1, bytes per value, number of running
 * sums, length of runs, exponent of a common factor of 6, values (repeated
 * if too few).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_FUZZ_VALUES_H
#define ST_FUZZ_VALUES_H

#include "st_core.h"

#define FUZZ_VALUES_HEADER 6

/* Fills v and returns n, or -1 if the input is too short. */
static inline int
fuzz_values(const uint8_t *data, size_t size, int64_t *v)
{
	int			n;
	size_t		width;
	int			order;
	int			run;
	uint64_t	factor = 1;

	if (size <= FUZZ_VALUES_HEADER)
		return -1;
	n = st_load_u16(data) % (ST_VECTOR_SIZE + 1);
	width = data[2] % 8 + 1;
	order = data[3] % 3;
	run = data[4] % 32 + 1;
	for (int i = 0; i < data[5] % 20; i++)
		factor *= 6;
	data += FUZZ_VALUES_HEADER;
	size -= FUZZ_VALUES_HEADER;

	for (int i = 0; i < n; i++)
	{
		uint64_t	x = 0;

		for (size_t b = 0; b < width; b++)
			x |= (uint64_t) data[((size_t) (i / run) * width + b) % size] << (8 * b);
		v[i] = (int64_t) (x * factor);
	}
	for (int o = 0; o < order; o++)
		for (int i = 1; i < n; i++)
			v[i] = (int64_t) ((uint64_t) v[i] + (uint64_t) v[i - 1]);
	return n;
}

#endif							/* ST_FUZZ_VALUES_H */
