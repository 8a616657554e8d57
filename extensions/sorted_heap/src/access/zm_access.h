/*-------------------------------------------------------------------------
 *
 * zm_access.h
 *	  Callbacks of the index access method zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_ACCESS_H
#define ZM_ACCESS_H

#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"

/* zm_build.c */
extern IndexBuildResult *zm_build(Relation heap, Relation index,
								  IndexInfo *info);
extern void zm_build_empty(Relation index);

/* zm_insert.c */
extern bool zm_insert(Relation index, Datum *values, bool *nulls,
					  ItemPointer tid, Relation heap, IndexUniqueCheck check,
					  bool unchanged, IndexInfo *info);
extern void zm_insert_hint(Relation index, BlockNumber leaf, XLogRecPtr lsn,
						   OffsetNumber position, OffsetNumber zone);
extern void zm_insert_hint_adds(void);

/* zm_insert_many.c */
extern void zm_insert_many(Relation index, Relation heap, IndexInfo *info,
						   IndexTuple *entries, int n);

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

/* zm_vacuum.c */
extern IndexBulkDeleteResult *zm_bulk_delete(IndexVacuumInfo *info,
											 IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback,
											 void *callback_state);

/* What VACUUM does with leaves that are not full. */
typedef enum ZmPacking
{
	ZM_PACK_SPARSE,				/* packs them if a tenth would go */
	ZM_PACK_NEVER,				/* leaves them: room will be used again */
	ZM_PACK_ALWAYS,				/* packs them if one would go */
} ZmPacking;
extern ZmPacking zm_packing;
extern IndexBulkDeleteResult *zm_vacuum_cleanup(IndexVacuumInfo *info,
												IndexBulkDeleteResult *stats);

/* zm_validate.c */
extern bool zm_validate(Oid opclass);

/* zm_options.c */
#define ZM_DEFAULT_FILLFACTOR 90
extern void zm_options_init(void);
extern bytea *zm_options(Datum reloptions, bool validate);
extern int	zm_fillfactor(Relation index);

#endif							/* ZM_ACCESS_H */
