/*-------------------------------------------------------------------------
 *
 * zm_page_scan.h
 *	  Execution of scans of whole heap pages by a zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_PAGE_SCAN_H
#define ZM_PAGE_SCAN_H

#include "postgres.h"

#include "nodes/extensible.h"

extern const CustomScanMethods zm_page_scan_methods;

extern void zm_page_scan_init(void);

#endif							/* ZM_PAGE_SCAN_H */
