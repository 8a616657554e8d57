/*-------------------------------------------------------------------------
 *
 * st_scan_back.h
 *	  Custom scans that can run backwards, for cursors.
 *
 * A custom scan node that is started with EXEC_FLAG_BACKWARD makes a
 * StScanBack and asks it for rows.  Its path carries
 * CUSTOMPATH_SUPPORT_BACKWARD_SCAN.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SCAN_BACK_H
#define ST_SCAN_BACK_H

#include "postgres.h"

#include "nodes/execnodes.h"

typedef struct StScanBack StScanBack;

/* In the current memory context. */
extern StScanBack *st_scan_back_create(void);

/*
 * The row before or behind the last one, as the executor's direction says.
 * next() makes the scan's next row forwards, in the scan slot; it returns an
 * empty slot or NULL at the end.  *again is set for a row that had been
 * returned before: the scan slot then holds all of it.  NULL at either end.
 */
extern TupleTableSlot *st_scan_back_next(StScanBack *back, ScanState *node,
										 TupleTableSlot *(*next) (ScanState *node),
										 bool *again);

/* The scan starts over. */
extern void st_scan_back_rescan(StScanBack *back);
extern void st_scan_back_end(StScanBack *back);

#endif							/* ST_SCAN_BACK_H */
