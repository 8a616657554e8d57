/*-------------------------------------------------------------------------
 *
 * zm_vacuum.h
 *	  VACUUM of a zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_VACUUM_H
#define ZM_VACUUM_H

#include "postgres.h"

#include "access/genam.h"
#include "storage/bufmgr.h"
#include "utils/relcache.h"

#include "zm_heap.h"

/* What VACUUM does with leaves that are not full. */
typedef enum ZmPacking
{
	ZM_PACK_SPARSE,				/* packs them if a tenth would go */
	ZM_PACK_NEVER,				/* leaves them: room will be used again */
	ZM_PACK_ALWAYS,				/* packs them if one would go */
} ZmPacking;

extern ZmPacking zm_packing;

extern IndexBulkDeleteResult *zm_bulk_delete(IndexVacuumInfo *info,
											 IndexBulkDeleteResult *stats,
											 IndexBulkDeleteCallback callback,
											 void *callback_state);
extern IndexBulkDeleteResult *zm_vacuum_cleanup(IndexVacuumInfo *info,
												IndexBulkDeleteResult *stats);

/* ---- zm_fold.c ---- */

/* Fewer exact entries than this in a row become no zone: they are smaller. */
#define ZM_FEWEST_ENTRIES 2

extern void zm_fold(Relation index, Relation heap,
					BufferAccessStrategy strategy);

/* ---- zm_shrink.c ---- */

extern bool zm_shrink(Relation index, BufferAccessStrategy strategy);

#endif							/* ZM_VACUUM_H */
