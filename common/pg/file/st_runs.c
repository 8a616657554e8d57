/*-------------------------------------------------------------------------
 *
 * st_runs.c
 *	  Where the pages of a row group are: contiguous, or in a few runs.
 *
 * Compaction puts a row group into several free extents where none is large
 * enough for it, so that the file does not grow while much of it is free.
 * Everything else writes contiguous extents.
 *
 * Owns the list of runs that follows the payload of a descriptor or of a
 * retired group's entry; who may see them is not its business.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "st_checksum.h"
#include "st_file.h"

int
st_group_extents(const StGroup *group, StExtentRange *out)
{
	if (group->nruns > 0)
	{
		memcpy(out, group->runs, group->nruns * sizeof(StExtentRange));
		return group->nruns;
	}
	if (group->nblocks == 0)
		return 0;
	out[0].start = group->start_block;
	out[0].end = group->start_block + group->nblocks;
	return 1;
}

void
st_group_set_extents(StGroup *group, const StExtentRange *runs, int n)
{
	uint32		nruns = 0;

	memset(group->runs, 0, sizeof(group->runs));
	group->nblocks = 0;
	for (int i = 0; i < n; i++)
	{
		if (nruns > 0 && group->runs[nruns - 1].end == runs[i].start)
			group->runs[nruns - 1].end = runs[i].end;
		else
			group->runs[nruns++] = runs[i];
		group->nblocks += runs[i].end - runs[i].start;
	}
	Assert(nruns > 0 && nruns <= ST_MAX_RUNS);
	group->start_block = group->runs[0].start;
	group->nruns = nruns > 1 ? nruns : 0;
}

BlockNumber
st_group_block(const StGroup *group, uint32 pageno)
{
	for (uint32 i = 0; i < group->nruns; i++)
	{
		uint32		n = group->runs[i].end - group->runs[i].start;

		if (pageno < n)
			return group->runs[i].start + pageno;
		pageno -= n;
	}
	return group->start_block + pageno;
}

char *
st_group_blocks(const StGroup *group)
{
	StExtentRange runs[ST_MAX_RUNS];
	int			n = st_group_extents(group, runs);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < n; i++)
		appendStringInfo(&text, "%s%u to %u", i == 0 ? "" : ", ",
						 runs[i].start, runs[i].end - 1);
	return text.data;
}

BlockNumber
st_group_end(const StGroup *group)
{
	BlockNumber end = 0;

	if (group->nruns == 0)
		return group->start_block + group->nblocks;
	for (uint32 i = 0; i < group->nruns; i++)
		end = Max(end, group->runs[i].end);
	return end;
}

int
st_compare_ranges(const void *a, const void *b)
{
	BlockNumber x = ((const StExtentRange *) a)->start;
	BlockNumber y = ((const StExtentRange *) b)->start;

	return x < y ? -1 : x > y ? 1 : 0;
}

int
st_compare_rows(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y ? 1 : 0;
}

StExtentRange *
st_list_extents(const StGroupList *groups, int *n)
{
	StExtentRange *out;
	uint64		nranges = 1;

	for (int i = 0; i < groups->ngroups; i++)
		nranges += Max(1, groups->groups[i].nruns);
	out = palloc_extended(nranges * sizeof(StExtentRange), MCXT_ALLOC_HUGE);
	*n = 0;
	for (int i = 0; i < groups->ngroups; i++)
		*n += st_group_extents(&groups->groups[i], out + *n);
	if (*n > 1)
		qsort(out, *n, sizeof(StExtentRange), st_compare_ranges);
	return out;
}

static uint64
runs_checksum(const StRunsPayload *payload, uint64 first_row)
{
	return st_checksum64(payload, offsetof(StRunsPayload, checksum),
						 first_row);
}

void
st_runs_encode(const StGroup *group, StRunsPayload *payload)
{
	memset(payload, 0, sizeof(*payload));
	payload->nruns = group->nruns;
	memcpy(payload->runs, group->runs, sizeof(payload->runs));
	payload->checksum = runs_checksum(payload, group->first_row);
}

bool
st_runs_decode(const StRunsPayload *payload, StGroup *group)
{
	uint64		nblocks = 0;

	if (payload->checksum != runs_checksum(payload, group->first_row) ||
		payload->nruns < 2 || payload->nruns > ST_MAX_RUNS ||
		payload->runs[0].start != group->start_block)
		return false;
	for (uint32 i = 0; i < payload->nruns; i++)
	{
		if (payload->runs[i].start >= payload->runs[i].end)
			return false;
		nblocks += payload->runs[i].end - payload->runs[i].start;
	}
	if (nblocks != group->nblocks)
		return false;
	group->nruns = payload->nruns;
	memcpy(group->runs, payload->runs, sizeof(group->runs));
	return true;
}
