/*-------------------------------------------------------------------------
 *
 * vx_radix.c
 *	  Sorts words of 64 bits, each with the number of its row.
 *
 * Least significant digit first, a byte at a time (Seward 1954): one pass
 * counts all digits, then each digit that differs anywhere is a pass over the
 * items.  No comparison is made, so the time is that of moving 16 bytes per
 * item and digit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "vx_radix.h"

#define DIGIT_BITS	8
#define DIGITS		(1 << DIGIT_BITS)
#define MAX_PASSES	(64 / DIGIT_BITS)

static inline int
digit_of(uint64 word, int pass)
{
	return (int) (word >> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

static void
count_digits(const VxSortItem *items, uint32 n, int npasses, uint32 counts[][DIGITS])
{
	memset(counts, 0, sizeof(uint32) * DIGITS * npasses);
	for (uint32 i = 0; i < n; i++)
		for (int pass = 0; pass < npasses; pass++)
			counts[pass][digit_of(items[i].word, pass)]++;
}

VxSortItem *
vx_radix_sort(VxSortItem *items, VxSortItem *spare, uint32 n, int bits)
{
	uint32		counts[MAX_PASSES][DIGITS];
	int			npasses = (bits + DIGIT_BITS - 1) / DIGIT_BITS;

	if (n < 2 || npasses == 0)
		return items;
	count_digits(items, n, npasses, counts);
	for (int pass = 0; pass < npasses; pass++)
	{
		uint32	   *next = counts[pass];
		uint32		start = 0;
		VxSortItem *moved = spare;

		CHECK_FOR_INTERRUPTS();
		if (next[digit_of(items[0].word, pass)] == n)
			continue;
		for (int digit = 0; digit < DIGITS; digit++)
		{
			uint32		count = next[digit];

			next[digit] = start;
			start += count;
		}
		for (uint32 i = 0; i < n; i++)
			moved[next[digit_of(items[i].word, pass)]++] = items[i];
		spare = items;
		items = moved;
	}
	return items;
}
