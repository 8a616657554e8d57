/*-------------------------------------------------------------------------
 *
 * zm_paths.h
 *	  Paths that read whole heap pages by a zonemap, and their execution.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_PATHS_H
#define ZM_PATHS_H

#include "postgres.h"

#include "nodes/extensible.h"

extern void zm_paths_init(void);

/* ---- zm_page_scan.c ---- */

extern const CustomScanMethods zm_page_scan_methods;

#endif							/* ZM_PATHS_H */
