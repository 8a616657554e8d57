/*-------------------------------------------------------------------------
 *
 * st_am_states.h
 *	  Row groups and their rows as vacuum sees them: not by a snapshot but by
 *	  who inserted and deleted them and whether anybody can still see them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_AM_STATES_H
#define ST_AM_STATES_H

#include "postgres.h"

#include "access/heapam.h"

#include "st_store.h"

/*
 * A version of a row group's descriptor.  xid is the inserter for
 * HEAPTUPLE_INSERT_IN_PROGRESS, the deleter for HEAPTUPLE_DELETE_IN_PROGRESS.
 * A group can have several versions while its descriptor is being replaced.
 */
typedef struct StGroupVersion
{
	StGroup		group;
	HTSV_Result state;
	TransactionId xid;
	TransactionId xmin;			/* inserter, FrozenTransactionId if frozen */
	TransactionId xmax;			/* who replaces or has replaced it, or invalid */
	bool		aborted;		/* state is HEAPTUPLE_DEAD as xmin aborted */
	bool		finished;		/* has an image */
	ItemPointerData tid;		/* of the descriptor in the TOAST relation */
} StGroupVersion;

typedef struct StGroupVersions
{
	int			n;
	StGroupVersion *v;			/* sorted by first_row */
} StGroupVersions;

/*
 * The effect of a tombstone on its row: HEAPTUPLE_DEAD (nobody sees the row),
 * HEAPTUPLE_RECENTLY_DEAD or HEAPTUPLE_DELETE_IN_PROGRESS (by xid).
 */
typedef struct StRowDeath
{
	uint32		row;			/* 0-based in the group */
	HTSV_Result state;
	TransactionId xid;			/* who deletes; frozen counts as old */
	TransactionId raw_xid;		/* the same, as if never frozen */
	CommandId	cid;			/* raw: good if this transaction deletes */
	ItemPointerData forward;	/* as in t_ctid of a heap tuple */
} StRowDeath;

typedef struct StRowDeaths
{
	uint32		n;
	uint32		next;			/* cursor of st_row_state() */
	StRowDeath *d;				/* sorted by row, at most one per row */
} StRowDeaths;

extern StGroupVersions *st_group_versions(Relation rel, TransactionId oldest_xmin,
										  MemoryContext mcxt);
extern StGroupVersions *st_group_versions_all(Relation rel,
											  TransactionId oldest_xmin,
											  MemoryContext mcxt);
extern bool st_group_version_refresh(Relation rel, TransactionId oldest_xmin,
									 StGroupVersion *version);
extern StGroupList *st_group_versions_list(const StGroupVersions *versions);
extern StRowDeaths *st_row_deaths(Relation rel, const StGroup *group,
								  TransactionId oldest_xmin, MemoryContext mcxt);
extern StRowDeaths *st_row_deaths_of(Relation rel, const StGroup *group,
									 uint64 first, uint32 nrows,
									 TransactionId oldest_xmin,
									 MemoryContext mcxt);
extern const StRowDeath *st_row_death(StRowDeaths *deaths, uint32 row);
extern HTSV_Result st_row_state(const StGroupVersion *version, StRowDeaths *deaths,
								uint32 row, TransactionId *xid);

#endif							/* ST_AM_STATES_H */
