/*-------------------------------------------------------------------------
 *
 * vx_window_frame.c
 *	  Partitions, peers and frames, by position in the order.
 *
 * All are ranges of positions whose end is the first position behind them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "vx_window.h"

/* An array for all positions, and one behind them. */
static void *
make_array(const VxWindowState *state, Size size)
{
	return MemoryContextAllocHuge(state->sorter->mcxt,
								  size * ((Size) state->sorter->nrows + 1));
}

VxFrames *
vx_frames_create(const VxWindowState *state)
{
	VxFrames   *frames = MemoryContextAllocZero(state->sorter->mcxt, sizeof(VxFrames));
	bool		needs_frame = false;
	bool		needs_groups = false;

	frames->peer_start = make_array(state, sizeof(uint32));
	frames->peer_end = make_array(state, sizeof(uint32));
	for (int i = 0; i < state->nwindows; i++)
	{
		needs_frame |= state->windows[i].needs_frame;
		needs_groups |= (state->windows[i].frame & FRAMEOPTION_GROUPS) != 0;
	}
	if (needs_frame)
	{
		frames->start = make_array(state, sizeof(uint32));
		frames->stop = make_array(state, sizeof(uint32));
	}
	if (needs_groups)
		frames->groups = make_array(state, sizeof(uint32));
	for (int i = 0; i < state->nfunctions; i++)
	{
		VxWindowKind kind = state->functions[i].kind;

		if ((kind == VX_WINDOW_MIN || kind == VX_WINDOW_MAX) && frames->queue == NULL)
			frames->queue = make_array(state, sizeof(uint32));
		else if (kind >= VX_WINDOW_COUNT && frames->prefix == NULL)
		{
			frames->prefix = make_array(state, sizeof(int128));
			frames->prefix_count = make_array(state, sizeof(uint32));
		}
	}
	return frames;
}

/* Peers of each position, and the end of the partition. */
static void
find_peers(VxFrames *frames, const VxSorter *sorter, const VxWindow *window)
{
	uint32		start = frames->begin;
	uint32		position = frames->begin;

	frames->ngroups = 0;
	do
	{
		bool		last;

		position++;
		last = position == sorter->nrows ||
			!vx_sorter_same(sorter, position, window->npartition);
		if (last || !vx_sorter_same(sorter, position, window->npeers))
		{
			if (frames->groups)
				frames->groups[frames->ngroups] = start;
			frames->ngroups++;
			for (uint32 p = start; p < position; p++)
			{
				frames->peer_start[p] = start;
				frames->peer_end[p] = position;
			}
			start = position;
		}
		if (last)
			break;
	} while (true);
	frames->end = position;
	if (frames->groups)
		frames->groups[frames->ngroups] = position;
}

static uint32
clamp(const VxFrames *frames, int64 position)
{
	return (uint32) Min(Max(position, (int64) frames->begin), (int64) frames->end);
}

/* ROWS; current: the position itself, or the one behind it. */
static uint32
row_bound(const VxFrames *frames, int options, int unbounded, int preceding, int following,
		  uint32 current, int64 offset)
{
	if (options & unbounded)
		return PG_UINT32_MAX;
	if (options & preceding)
		return clamp(frames, (int64) current - offset);
	if (options & following)
		return clamp(frames, (int64) current + offset);
	return current;
}

static void
find_row_frames(VxFrames *frames, const VxWindow *window)
{
	int			options = window->frame;

	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		uint32		start = row_bound(frames, options, FRAMEOPTION_START_UNBOUNDED_PRECEDING,
									  FRAMEOPTION_START_OFFSET_PRECEDING,
									  FRAMEOPTION_START_OFFSET_FOLLOWING, p, window->start);
		uint32		stop = row_bound(frames, options, FRAMEOPTION_END_UNBOUNDED_FOLLOWING,
									 FRAMEOPTION_END_OFFSET_PRECEDING,
									 FRAMEOPTION_END_OFFSET_FOLLOWING, p + 1, window->end);

		frames->start[p] = start == PG_UINT32_MAX ? frames->begin : start;
		frames->stop[p] = stop == PG_UINT32_MAX ? frames->end : stop;
	}
}

/* The group so many away, its start or, with behind, the start of the next one. */
static uint32
group_bound(const VxFrames *frames, int64 group, int behind)
{
	group += behind;
	return frames->groups[Min(Max(group, 0), (int64) frames->ngroups)];
}

/* RANGE and GROUPS: all peers have the same frame. */
static void
find_group_frames(VxFrames *frames, const VxWindow *window)
{
	int			options = window->frame;
	int64		group = -1;
	uint32		start = frames->begin;
	uint32		stop = frames->end;

	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		if (frames->peer_start[p] == p)
		{
			group++;
			if (options & FRAMEOPTION_START_OFFSET_PRECEDING)
				start = group_bound(frames, group - window->start, 0);
			else if (options & FRAMEOPTION_START_OFFSET_FOLLOWING)
				start = group_bound(frames, group + window->start, 0);
			else if (options & FRAMEOPTION_START_CURRENT_ROW)
				start = p;
			if (options & FRAMEOPTION_END_OFFSET_PRECEDING)
				stop = group_bound(frames, group - window->end, 1);
			else if (options & FRAMEOPTION_END_OFFSET_FOLLOWING)
				stop = group_bound(frames, group + window->end, 1);
			else if (options & FRAMEOPTION_END_CURRENT_ROW)
				stop = frames->peer_end[p];
		}
		frames->start[p] = start;
		frames->stop[p] = stop;
	}
}

bool
vx_frames_next(VxFrames *frames, const VxSorter *sorter, const VxWindow *window, uint32 begin)
{
	if (begin >= sorter->nrows)
		return false;
	frames->begin = begin;
	find_peers(frames, sorter, window);
	if (!window->needs_frame)
		return true;
	if (window->frame & FRAMEOPTION_ROWS)
		find_row_frames(frames, window);
	else
		find_group_frames(frames, window);
	return true;
}
