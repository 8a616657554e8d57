/*-------------------------------------------------------------------------
 *
 * st_progress.h
 *	  How far a long command of ours is, for the view progress.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_PROGRESS_H
#define ST_PROGRESS_H

#include "postgres.h"

#include "fmgr.h"

typedef enum StCommand
{
	ST_COMMAND_ADOPT,
	ST_COMMAND_COMPACT,
	ST_COMMAND_DROP,			/* of a policy */
	ST_COMMAND_ESTIMATE,
	ST_COMMAND_FINGERPRINT,
	ST_COMMAND_MERGE,
	ST_COMMAND_RELEASE,
	ST_COMMAND_VERIFY
} StCommand;

typedef enum StPhase
{
	ST_PHASE_LOOK,				/* for what there is to do */
	ST_PHASE_WAIT_LOCK,
	ST_PHASE_WAIT_OTHERS,
	ST_PHASE_DELTA,
	ST_PHASE_GROUPS,
	ST_PHASE_ROWS,
	ST_PHASE_FRONT,
	ST_PHASE_EXPAND,
	ST_PHASE_VACUUM,
	ST_PHASE_SWEEP,
	ST_PHASE_READ_GROUPS,
	ST_PHASE_READ_INDEXES,
	ST_PHASE_SAMPLE,
	ST_PHASE_ALTERNATIVES,
	ST_PHASE_FINGERPRINT
} StPhase;

/*
 * Parameters of the server's progress reporting.  The first ones are those of
 * the view compact_progress; they count on from phase to phase, until one looks
 * for work again.
 */
typedef enum StProgressParam
{
	ST_PROGRESS_STEPS,
	ST_PROGRESS_DELTA_ROWS,
	ST_PROGRESS_GROUP_ROWS,
	ST_PROGRESS_GROUPS_READ,
	ST_PROGRESS_GROUPS_WRITTEN,
	ST_PROGRESS_TAKEN,
	ST_PROGRESS_WRITTEN,
	ST_PROGRESS_COMPACT_PARAMS, /* how many these are */
	ST_PROGRESS_COMMAND = ST_PROGRESS_COMPACT_PARAMS,
	ST_PROGRESS_AM,				/* OID of the access method */
	ST_PROGRESS_STARTED,
	ST_PROGRESS_PHASE,
	ST_PROGRESS_PHASE_STARTED,
	ST_PROGRESS_ROWS,			/* of the phase, beside what it has moved */
	ST_PROGRESS_MOVED_BEFORE,	/* in phases before */
	ST_PROGRESS_ROWS_TOTAL,		/* -1: not known */
	ST_PROGRESS_BYTES,
	ST_PROGRESS_BYTES_TOTAL,	/* -1: not known */
	ST_PROGRESS_LEADER,			/* of a parallel worker, or 0 */
	ST_PROGRESS_PARAMS			/* how many */
} StProgressParam;

/* Rows after which a loop over them reports anew. */
#define ST_PROGRESS_EVERY	1000

/*
 * Begins to report a command about a table, in a transaction; an error ends
 * that by itself.  Nothing is reported while another command has the session's
 * place for it: of one of ours the caller becomes a phase, then.
 */
extern void st_progress_begin(StCommand command, Oid am, Oid relid);

/*
 * Goes to a phase; false if that is the present one, or nothing is reported.
 * Totals are of what is left to do in it; -1 if not known.
 */
extern bool st_progress_phase(StPhase phase, int64 rows_total, int64 bytes_total);
extern void st_progress_set(StProgressParam param, int64 value);

/* Several at once, so that nobody sees some of them without the others. */
extern void st_progress_set_many(int n, const int *params, const int64 *values);

/* Shows the command again, after VACUUM. */
extern void st_progress_resume(void);

/* Ends it, if it is this one. */
extern void st_progress_end(StCommand command);

/*
 * Set of (pid, leader integer, datid, relid, am oid, command, phase text,
 * started, phase_started timestamptz, rows, rows_total, bytes, bytes_total
 * bigint), of every command that the user may see; of leader NULL unless the
 * process is a parallel worker of it.
 */
extern void st_progress_function(FunctionCallInfo fcinfo);

/*
 * Set of (pid integer, database oid, relation oid, then as bigint the first
 * ST_PROGRESS_COMPACT_PARAMS), of every compaction that the user may see.
 */
extern void st_progress_compactions(FunctionCallInfo fcinfo);

#endif							/* ST_PROGRESS_H */
