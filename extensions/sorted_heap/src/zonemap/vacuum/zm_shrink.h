/*-------------------------------------------------------------------------
 *
 * zm_shrink.h
 *	  Makes a zonemap smaller whose pages have become empty.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_SHRINK_H
#define ZM_SHRINK_H

#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/relcache.h"

extern bool zm_shrink(Relation index, BufferAccessStrategy strategy);

#endif							/* ZM_SHRINK_H */
