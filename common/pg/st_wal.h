/*-------------------------------------------------------------------------
 *
 * st_wal.h
 *	  WAL of maintenance commands, written so that others need not wait for it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_WAL_H
#define ST_WAL_H

#include "postgres.h"

/*
 * Called between any two small changes, with nothing locked but relations, in a
 * transaction but in no subtransaction, whose end would not end the delay of
 * checkpoints: flushes this backend's WAL when a fair amount of it has come
 * together, and makes the segment file that comes next.
 */
extern void st_wal_keep_up(void);

#endif							/* ST_WAL_H */
