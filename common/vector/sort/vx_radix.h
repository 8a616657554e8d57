/*-------------------------------------------------------------------------
 *
 * vx_radix.h
 *	  Sorts words of 64 bits, each with the number of its row.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_RADIX_H
#define VX_RADIX_H

#include "postgres.h"

typedef struct VxSortItem
{
	uint64		word;
	uint32		row;
	bool		same;			/* as the item before: for who knows more than words */
} VxSortItem;

/*
 * Puts n items into ascending order of their words, of which the lowest bits
 * count and the others are 0; items with equal words keep their order.  spare
 * has room for n items.  Returns items or spare, whichever has the result.
 * Checks for interrupts.
 */
extern VxSortItem *vx_radix_sort(VxSortItem *items, VxSortItem *spare, uint32 n, int bits);

#endif							/* VX_RADIX_H */
