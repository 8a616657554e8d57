/*-------------------------------------------------------------------------
 *
 * cc_access.h
 *	  What SQL reaches of colcompress beside the table access method: options
 *	  (label provider, CREATE TABLE ... WITH) and functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ACCESS_H
#define CC_ACCESS_H

#include "postgres.h"

/* cc_label.c: options, their label provider and hooks. */
extern void cc_label_init(void);

/* cc_bitmap_scan.c: the executor's bitmap heap scans. */
extern void cc_bitmap_scan_init(void);

/* cc_auto_compact.c: background workers that compact. */
extern void cc_auto_compact_init(void);

#endif							/* CC_ACCESS_H */
