/*-------------------------------------------------------------------------
 *
 * zm_spool.h
 *	  Sorts exact entries, within maintenance_work_mem.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_SPOOL_H
#define ZM_SPOOL_H

#include "postgres.h"

#include "zm_key.h"

typedef struct ZmSpool ZmSpool;

extern ZmSpool *zm_spool_begin(const ZmSpace *space);
extern void zm_spool_put(ZmSpool *spool, IndexTuple itup);
extern void zm_spool_sort(ZmSpool *spool);
extern IndexTuple zm_spool_next(ZmSpool *spool);
extern void zm_spool_end(ZmSpool *spool);

#endif							/* ZM_SPOOL_H */
