/*-------------------------------------------------------------------------
 *
 * st_compat.c
 *	  Differences between the supported server versions: see st_compat.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"

#include "st_compat.h"

Buffer
st_extend_locked(Relation rel, BufferAccessStrategy strategy)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(rel), MAIN_FORKNUM, strategy,
							 EB_LOCK_FIRST | EB_SKIP_EXTENSION_LOCK);
#else
	return ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK,
							  strategy);
#endif
}

Buffer
st_extend_file_locked(RelFileLocator locator, bool permanent)
{
	return ReadBufferWithoutRelcache(locator, MAIN_FORKNUM, P_NEW,
									 RBM_ZERO_AND_LOCK, NULL, permanent);
}

void
st_xlog_register_data(const void *data, uint32 len)
{
#if PG_VERSION_NUM >= 180000
	XLogRegisterData(data, len);
#else
	XLogRegisterData(unconstify(char *, (const char *) data), len);
#endif
}
