/*-------------------------------------------------------------------------
 *
 * st_am.h
 *	  Callbacks of the table AM in st_am_*.c (types as in TableAmRoutine).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_AM_H
#define ST_AM_H

#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "commands/vacuum.h"
#include "nodes/execnodes.h"

#include "st_compat.h"

extern double st_am_index_build_range_scan(Relation rel, Relation index,
										   struct IndexInfo *info, bool allow_sync,
										   bool anyvisible, bool progress,
										   BlockNumber start, BlockNumber nblocks,
										   IndexBuildCallback callback,
										   void *callback_state, TableScanDesc scan);
extern void st_am_index_validate_scan(Relation rel, Relation index,
									  struct IndexInfo *info, Snapshot snapshot,
									  struct ValidateIndexState *state);
extern void st_am_relation_vacuum(Relation rel, StVacuumParams *params,
								  BufferAccessStrategy strategy);
#ifdef ST_HAVE_ANALYZE_STREAM
extern bool st_am_scan_analyze_next_block(TableScanDesc scan, ReadStream *stream);
#else
extern bool st_am_scan_analyze_next_block(TableScanDesc scan, BlockNumber block,
										  BufferAccessStrategy strategy);
#endif
extern bool st_am_scan_analyze_next_tuple(TableScanDesc scan, ST_UNTIL_18(TransactionId oldest_xmin,)
										  double *liverows, double *deadrows,
										  TupleTableSlot *slot);
extern void st_am_relation_copy_for_cluster(Relation from, Relation to, Relation index,
											bool use_sort, TransactionId oldest_xmin,
											ST_SINCE_19(Snapshot snapshot,)
											TransactionId *xid_cutoff,
											MultiXactId *multi_cutoff,
											double *num_tuples, double *tups_vacuumed,
											double *tups_recently_dead);
#ifdef ST_HAVE_BITMAP_STREAM
extern bool st_am_scan_bitmap_next_tuple(TableScanDesc scan, TupleTableSlot *slot,
										 bool *recheck, uint64 *lossy_pages,
										 uint64 *exact_pages);
#else
extern bool st_am_scan_bitmap_next_block(TableScanDesc scan, struct TBMIterateResult *tbmres);
extern bool st_am_scan_bitmap_next_tuple(TableScanDesc scan, struct TBMIterateResult *tbmres,
										 TupleTableSlot *slot);
#endif
extern bool st_am_scan_sample_next_block(TableScanDesc scan, struct SampleScanState *state);
extern bool st_am_scan_sample_next_tuple(TableScanDesc scan, struct SampleScanState *state,
										 TupleTableSlot *slot);
extern void st_am_scan_set_tidrange(TableScanDesc scan, ItemPointer mintid,
									ItemPointer maxtid);
extern bool st_am_scan_getnextslot_tidrange(TableScanDesc scan, ScanDirection direction,
											TupleTableSlot *slot);

#endif							/* ST_AM_H */
