/*-------------------------------------------------------------------------
 *
 * zm_paths.h
 *	  Paths that read whole heap pages by a zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_PATHS_H
#define ZM_PATHS_H

#include "postgres.h"

#include "nodes/extensible.h"

extern void zm_paths_init(const CustomScanMethods *methods);

#endif							/* ZM_PATHS_H */
