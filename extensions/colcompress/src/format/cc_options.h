/*-------------------------------------------------------------------------
 *
 * cc_options.h
 *	  Options of a colcompress table (docs/reference.md lists them).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_OPTIONS_H
#define CC_OPTIONS_H

#include "st_options.h"
#include "vx_format.h"

/* Definitions, in the order in which labels and views show them. */
extern const StOptionSet cc_option_set;

typedef struct CcOptions
{
	StOptions	store;
	int			index_scan;		/* VxIndexScan */
} CcOptions;

static inline VxIndexScan
cc_index_scan_option(Relation rel)
{
	return ((const CcOptions *) st_options_get(rel))->index_scan;
}

/* What the writer of row groups asks for. */
typedef struct CcWriteOptions
{
	int			codec;			/* enum StCodec */
	int			level;			/* valid for the codec */
	uint32		row_group_rows;
	Size		row_group_bytes;
} CcWriteOptions;

extern void cc_write_options(Relation rel, CcWriteOptions *options);

#endif							/* CC_OPTIONS_H */
