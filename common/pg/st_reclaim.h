/*-------------------------------------------------------------------------
 *
 * st_reclaim.h
 *	  What st_reclaim.c and st_free_extent.c share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_RECLAIM_H
#define ST_RECLAIM_H

#include "postgres.h"

#include "access/transam.h"

#include "st_store_int.h"

/*
 * Deletes a visibility tuple without waiting; false if somebody else has
 * locked or deleted it.  The catalog is open with RowExclusiveLock.
 */
extern bool st_catalog_delete(StCatalog *cat, ItemPointer tid);

/* The full transaction id of a normal xid that is not in the future. */
extern FullTransactionId st_full_xid(TransactionId xid);

#endif							/* ST_RECLAIM_H */
