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

#endif							/* ZM_VACUUM_H */
