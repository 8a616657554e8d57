/*-------------------------------------------------------------------------
 *
 * rc_cut.h
 *	  Where the batches of a row group end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_CUT_H
#define RC_CUT_H

#include "postgres.h"

#include "rc_column.h"

/*
 * What a byte of rows, as heap would store them, takes in a batch, and by
 * what share batches differ from that.  Kept from group to group of a load.
 */
typedef struct RcDensity
{
	double		bytes;			/* 0: not known yet */
	double		spread;
} RcDensity;

typedef struct RcCut
{
	/* the group */
	const uint32 *weights;		/* of each row, as heap would store it */
	uint32		nrows;
	uint32		limit;			/* weight that ends a batch */
	uint32		page;			/* bytes of the image on a page */
	const RcBatches *loose;		/* batches that are cut by the limit alone */
	RcDensity  *density;
	uint64		weight_left;	/* of the rows that no batch has yet */
	RcBatches  *batches;		/* the result */

	/* the batch that is being tried */
	uint32		first;
	uint32		least;			/* rows that it must have, */
	uint32		most;			/* and may have */
	uint32		n;
	uint64		weight;			/* of these n */
	double		target;			/* bytes that it may take */
	int			tries;
} RcCut;

/* Weight of all rows of batches that fill the pages of a whole group. */
extern uint64 rc_cut_group_weight(const RcDensity *density, uint32 page);

extern void rc_cut_begin(RcCut *cut, const uint32 *weights, uint32 nrows, uint32 limit,
						 const RcBatches *loose, RcDensity *density, uint32 page,
						 RcBatches *batches);

/*
 * Proposes the rows of the next batch, first and n, for the end of an image
 * of that length; false if all rows have a batch.
 */
extern bool rc_cut_propose(RcCut *cut, uint64 image_len);

/*
 * Tells how many bytes these rows take.  True: they are the batch; false: n
 * is another now.
 */
extern bool rc_cut_accept(RcCut *cut, Size len);

#endif							/* RC_CUT_H */
