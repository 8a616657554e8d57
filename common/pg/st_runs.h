/*-------------------------------------------------------------------------
 *
 * st_runs.h
 *	  Where the pages of a row group are (st_runs.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_RUNS_H
#define ST_RUNS_H

#include "postgres.h"

#include "st_store.h"

/* The ranges of its pages, in the order of the image; returns how many. */
extern int	st_group_extents(const StGroup *group, StExtentRange *out);

/* Sets them; neighbours become one. */
extern void st_group_set_extents(StGroup *group, const StExtentRange *runs,
								 int n);

/* The block of a page of the image. */
extern BlockNumber st_group_block(const StGroup *group, uint32 pageno);

/* Where they are, for a message: "8 to 11, 20 to 27", palloc'd. */
extern char *st_group_blocks(const StGroup *group);

/* The last page's block is below this. */
extern BlockNumber st_group_end(const StGroup *group);

/* Extents of all groups of a list, sorted by start, palloc'd. */
extern StExtentRange *st_list_extents(const StGroupList *groups, int *n);

/*
 * Follows the payload of a descriptor or of a retired group whose pages are
 * not contiguous.
 */
typedef struct StRunsPayload
{
	uint32		nruns;
	uint32		unused;
	StExtentRange runs[ST_MAX_RUNS];
	uint64		checksum;		/* XXH3 of all before */
} StRunsPayload;

StaticAssertDecl(sizeof(StRunsPayload) == 80, "on-disk size");

extern void st_runs_encode(const StGroup *group, StRunsPayload *payload);

/* False: damaged.  start_block and nblocks of the group are set. */
extern bool st_runs_decode(const StRunsPayload *payload, StGroup *group);

#endif							/* ST_RUNS_H */
