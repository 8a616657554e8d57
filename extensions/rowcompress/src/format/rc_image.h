/*-------------------------------------------------------------------------
 *
 * rc_image.h
 *	  Rows that a writer has gathered, and the image of a row group that is
 *	  made of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_IMAGE_H
#define RC_IMAGE_H

#include "rc_column.h"
#include "rc_cut.h"
#include "sf_key.h"

typedef struct RcRows
{
	int			natts;
	uint32		nrows;
	RcColumn   *columns;
	RcCodec		codec;
	uint32		batch_bytes;
	uint32	   *weights;		/* of each row, as heap would store it */
	RcBatches	loose;			/* cut by these */
	RcDensity	density;		/* kept from group to group of a load */
	SfKeys	   *keys;			/* of the group; NULL: none */
} RcRows;

/* Appends the image, fills in the group's footer; works below mcxt. */
extern void rc_image_write(RcRows *rows, MemoryContext mcxt, StImage *img,
						   StGroup *group);

#endif							/* RC_IMAGE_H */
