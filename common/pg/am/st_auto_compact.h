/*-------------------------------------------------------------------------
 *
 * st_auto_compact.h
 *	  Option auto_compact: background workers that compact tables whose delta
 *	  has grown.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_AUTO_COMPACT_H
#define ST_AUTO_COMPACT_H

#include "postgres.h"

/* Value of the setting enable_auto_compact, which the extension defines. */
extern bool st_auto_compact_enabled;

/*
 * From _PG_init, after st_options_init().  worker is the name of the library's
 * function that calls st_auto_compact_worker_main(); the library has the
 * access method's name.
 */
extern void st_auto_compact_init(const char *worker);
extern void st_auto_compact_worker_main(Datum main_arg);

#endif							/* ST_AUTO_COMPACT_H */
