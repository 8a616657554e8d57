/*-------------------------------------------------------------------------
 *
 * zm_scan.h
 *	  Scans of a zonemap, as the server and other parts of the library ask for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_SCAN_H
#define ZM_SCAN_H

#include "postgres.h"

#include "access/genam.h"
#include "access/itup.h"
#include "executor/tuptable.h"
#include "nodes/tidbitmap.h"

/* zm_scan.c */
extern IndexScanDesc zm_begin_scan(Relation index, int nkeys, int norderbys);
extern void zm_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
					  ScanKey orderbys, int norderbys);
extern bool zm_get_tuple(IndexScanDesc scan, ScanDirection direction);
extern int64 zm_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void zm_end_scan(IndexScanDesc scan);
extern void zm_scan_after(IndexScanDesc scan, IndexTuple key);

/* zm_parallel.c */
typedef struct ZmShared ZmShared;
extern Size zm_parallel_size(void);
extern void zm_parallel_init(void *target);
extern void zm_parallel_restart(ZmShared *shared);
extern void zm_parallel_rescan(IndexScanDesc scan);
extern void zm_scan_share(IndexScanDesc scan, ZmShared *shared);
extern void zm_scan_share_counts(IndexScanDesc scan);

/* zm_rows.c */
extern bool zm_get_row(IndexScanDesc scan, ScanDirection direction,
					   TupleTableSlot *slot);
extern void zm_scan_counts(IndexScanDesc scan, int64 *pages, int64 *exact);

#endif							/* ZM_SCAN_H */
