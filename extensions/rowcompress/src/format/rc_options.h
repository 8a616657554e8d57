/*-------------------------------------------------------------------------
 *
 * rc_options.h
 *	  Options of a rowcompress table (docs/reference.md lists them).
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_OPTIONS_H
#define RC_OPTIONS_H

#include "st_options.h"

/* Definitions, in the order in which labels and views show them. */
extern const StOptionSet rc_option_set;

/* What the writer of row groups asks for. */
typedef struct RcWriteOptions
{
	int			codec;			/* enum StCodec */
	int			level;			/* valid for the codec */
	uint32		row_group_rows;
	Size		row_group_bytes;
	uint32		batch_bytes;
} RcWriteOptions;

extern void rc_write_options(Relation rel, RcWriteOptions *options);

#endif							/* RC_OPTIONS_H */
