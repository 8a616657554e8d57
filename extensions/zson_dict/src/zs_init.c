/*-------------------------------------------------------------------------
 *
 * zs_init.c
 *	  Entry point of the library.  It has no hooks and no settings.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;
