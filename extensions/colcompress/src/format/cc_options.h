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

/* Definitions, in the order in which labels and views show them. */
extern const StOptionSet cc_option_set;

/* What the planner shall think of index and bitmap scans of the table. */
typedef enum CcIndexScan
{
	CC_INDEX_SCAN_AUTO,			/* what costs less */
	CC_INDEX_SCAN_ON,			/* take one, where an index has a condition */
	CC_INDEX_SCAN_OFF			/* take none, where there is another way */
} CcIndexScan;

typedef struct CcOptions
{
	StOptions	store;
	int			index_scan;		/* CcIndexScan */
} CcOptions;

static inline CcIndexScan
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
