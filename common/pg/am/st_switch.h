/*-------------------------------------------------------------------------
 *
 * st_switch.h
 *	  From heap to ours and back: bodies of adopt() and release(), and what
 *	  they share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SWITCH_H
#define ST_SWITCH_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "st_error.h"

/* Raises an error if the relation, locked in any mode, is not fit. */
typedef void (*StSwitchCheck) (Relation rel, const char *am_name);

/*
 * Opens the relation with AccessExclusiveLock, if the caller owns it and check()
 * lets it pass.  Waits for the lock in short turns, for so long altogether, so
 * that those who come later do not stand in line behind a long transaction:
 * st_switch_lock.c
 */
extern Relation st_switch_open(Oid relid, const Interval *patience,
							   StSwitchCheck check, const char *am_name);

/*
 * Runs a step that wants AccessExclusiveLock of relid, and whatever else, in
 * subtransactions, with so short a lock_timeout that nobody stands behind it for
 * long, until it has had all locks or the patience is at an end (then
 * LOCK_NOT_AVAILABLE): st_switch_lock.c
 */
extern void st_switch_in_turns(StTryStep step, void *arg, Oid relid,
							   const Interval *patience);

/*
 * Checks for adopt(): is it a heap table (or materialized view), and of no
 * extension?  st_switch.c
 */
extern void st_check_kind(Relation rel, const char *am_name);
extern void st_check_extension(Relation rel);

/* Makes it the access method of rel, in the catalogs: st_switch.c */
extern void st_switch_am(Relation rel, Oid am);

/*
 * What fingerprint() says of the table, as one text; raises DATA_CORRUPTED if
 * it says something else than before: st_adopt.c
 */
extern char *st_switch_fingerprint(Relation rel, const char *am_name);
extern void st_switch_compare(Relation rel, const char *am_name,
							  const char *before);

/* adopt(relation, verify, patience), and what it does */
extern void st_adopt_call(FunctionCallInfo fcinfo, const char *am_name);
extern void st_adopt(Oid relid, bool verify, const Interval *patience,
					 const char *am_name);

/*
 * obstacles(relation): obstacle, hint, a row for all that adopt() would refuse
 * to whoever owns the table.  Reads only.
 */
extern Datum st_obstacles_function(FunctionCallInfo fcinfo, const char *am_name);

/* release(relation, verify, patience), a procedure: st_release.c */
extern void st_release_call(FunctionCallInfo fcinfo, const char *am_name);

#endif							/* ST_SWITCH_H */
