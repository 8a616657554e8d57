/*-------------------------------------------------------------------------
 *
 * vx_window_func.c
 *	  Window functions over partitions in memory, and their results as vectors.
 *
 * Each function makes an array of results, one partition after another.
 * Counts, sums and averages of any frame are differences of sums from the
 * partition's start, in an int128, which is exact for integers and for
 * numerics of one scale; what a frame excludes is taken away likewise.  Least
 * and greatest values keep the positions that may still win in a queue, as
 * both ends of a frame only move forward.  Sums of floats
 * are added in order, as a float cannot be taken away again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

#include "vx_window.h"
#include "st_numeric.h"

/* ---- numbers of rows ---- */

/* Rows of a partition are divided as evenly as can be, the larger parts first. */
static int64
bucket_of(uint32 row, uint32 total, int nbuckets)
{
	uint32		size = total / nbuckets;
	uint32		larger = total % nbuckets;
	uint64		in_larger = (uint64) larger * (size + 1);

	if (row < in_larger)
		return row / (size + 1) + 1;
	return larger + (row - in_larger) / size + 1;
}

static void
number_rows(VxWindowFunction *f, const VxFrames *frames)
{
	uint32		total = frames->end - frames->begin;
	int64		dense = 0;

	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		uint32		row = p - frames->begin;
		uint32		rank = frames->peer_start[p] - frames->begin;

		dense += frames->peer_start[p] == p;
		switch (f->kind)
		{
			case VX_WINDOW_ROW_NUMBER:
				f->ints[p] = row + 1;
				break;
			case VX_WINDOW_RANK:
				f->ints[p] = rank + 1;
				break;
			case VX_WINDOW_DENSE_RANK:
				f->ints[p] = dense;
				break;
			case VX_WINDOW_NTILE:
				f->ints[p] = bucket_of(row, total, f->number);
				break;
			case VX_WINDOW_PERCENT_RANK:
				f->floats[p] = total <= 1 ? 0 : (double) rank / (double) (total - 1);
				break;
			default:
				f->floats[p] = (double) (frames->peer_end[p] - frames->begin) /
					(double) total;
				break;
		}
	}
}

/* ---- rows whose value it is ---- */

static void
shift_rows(VxWindowFunction *f, const VxFrames *frames, const uint32 *order)
{
	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		int64		from = (int64) p + f->number;

		f->rows[p] = from >= frames->begin && from < frames->end ? order[from] :
			PG_UINT32_MAX;
	}
}

static void
nth_rows(VxWindowFunction *f, const VxFrames *frames, const uint32 *order)
{
	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		int64		from = f->number > 0 ? (int64) frames->start[p] + f->number - 1 :
			(int64) frames->stop[p] + f->number;

		f->rows[p] = from >= frames->start[p] && from < frames->stop[p] ? order[from] :
			PG_UINT32_MAX;
	}
}

/* ---- aggregates ---- */

static inline bool
counts(const VxSorter *sorter, const VxWindowFunction *f, uint32 row)
{
	if (f->other >= 0)
	{
		const VxStore *filter = &sorter->columns[f->other];

		if (vx_store_isnull(filter, row) || filter->values[row] == 0)
			return false;
	}
	return f->column < 0 || !vx_store_isnull(&sorter->columns[f->column], row);
}

/* Sums and counts of the partition's rows in front of each of its positions. */
static void
add_up(const VxWindowState *state, const VxWindowFunction *f, VxFrames *frames)
{
	const VxSorter *sorter = state->sorter;
	const int64 *values = f->kind == VX_WINDOW_COUNT ? NULL :
		sorter->columns[f->column].values;
	int128		sum = 0;
	uint32		count = 0;
	uint32		n = frames->end - frames->begin;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		row = sorter->order[frames->begin + i];

		frames->prefix[i] = sum;
		frames->prefix_count[i] = count;
		if (counts(sorter, f, row))
		{
			count++;
			if (values)
				sum += values[row];
		}
	}
	frames->prefix[n] = sum;
	frames->prefix_count[n] = count;
}

typedef struct Total
{
	int128		sum;
	uint32		count;
} Total;

static inline void
add_range(Total *total, const VxFrames *frames, uint32 start, uint32 stop, int sign)
{
	if (start >= stop)
		return;
	start -= frames->begin;
	stop -= frames->begin;
	total->sum += sign * (frames->prefix[stop] - frames->prefix[start]);
	total->count += sign * (int) (frames->prefix_count[stop] - frames->prefix_count[start]);
}

/* The part of a range that is in the frame. */
static void
exclude(Total *total, const VxFrames *frames, uint32 p, uint32 start, uint32 stop, int sign)
{
	add_range(total, frames, Max(start, frames->start[p]), Min(stop, frames->stop[p]), sign);
}

static void
sum_frames(const VxWindowState *state, VxWindowFunction *f, VxFrames *frames, int options)
{
	add_up(state, f, frames);
	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		Total		total = {0, 0};

		add_range(&total, frames, frames->start[p], frames->stop[p], 1);
		if (options & FRAMEOPTION_EXCLUDE_CURRENT_ROW)
			exclude(&total, frames, p, p, p + 1, -1);
		if (options & (FRAMEOPTION_EXCLUDE_GROUP | FRAMEOPTION_EXCLUDE_TIES))
			exclude(&total, frames, p, frames->peer_start[p], frames->peer_end[p], -1);
		if (options & FRAMEOPTION_EXCLUDE_TIES)
			exclude(&total, frames, p, p, p + 1, 1);
		if (f->form == VX_RESULT_SUM)
			f->sums[p] = total.sum;
		else
			f->ints[p] = f->kind == VX_WINDOW_COUNT ? total.count : (int64) total.sum;
		if (f->counts)
			f->counts[p] = total.count;
	}
}

/* Frames begin where the partition does, and none ends before the one before it. */
static void
sum_floats(const VxWindowState *state, VxWindowFunction *f, VxFrames *frames)
{
	const VxSorter *sorter = state->sorter;
	const int64 *values = sorter->columns[f->column].values;
	double		sum = 0;
	uint32		count = 0;
	uint32		at = frames->begin;

	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		for (; at < frames->stop[p]; at++)
		{
			uint32		row = sorter->order[at];
			double		x;

			if (!counts(sorter, f, row))
				continue;
			memcpy(&x, &values[row], sizeof(x));
			sum = count++ == 0 ? x : float8_pl(sum, x);
		}
		f->floats[p] = sum;
		f->counts[p] = count;
	}
}

/* Of values that are equal the last one counts, as in the server. */
static void
find_extremes(const VxWindowState *state, VxWindowFunction *f, VxFrames *frames)
{
	const VxSorter *sorter = state->sorter;
	uint32		head = 0;
	uint32		tail = 0;
	uint32		at = frames->begin;

	for (uint32 p = frames->begin; p < frames->end; p++)
	{
		at = Max(at, frames->start[p]);
		for (; at < frames->stop[p]; at++)
		{
			int64		rank;

			if (!counts(sorter, f, sorter->order[at]))
				continue;
			rank = f->ranks[sorter->order[at]];
			while (tail > head)
			{
				int64		last = f->ranks[sorter->order[frames->queue[tail - 1]]];

				if (f->kind == VX_WINDOW_MIN ? last < rank : last > rank)
					break;
				tail--;
			}
			frames->queue[tail++] = at;
		}
		while (head < tail && frames->queue[head] < frames->start[p])
			head++;
		f->rows[p] = head < tail && frames->queue[head] < frames->stop[p] ?
			sorter->order[frames->queue[head]] : PG_UINT32_MAX;
	}
}

/* ---- all functions ---- */

static VxResultForm
form_of(const VxWindowFunction *f)
{
	switch (f->kind)
	{
		case VX_WINDOW_PERCENT_RANK:
		case VX_WINDOW_CUME_DIST:
		case VX_WINDOW_SUM_FLOAT8:
			return VX_RESULT_FLOAT;
		case VX_WINDOW_SUM_NUMERIC:
		case VX_WINDOW_AVG:
			return VX_RESULT_SUM;
		case VX_WINDOW_SHIFT:
		case VX_WINDOW_NTH:
		case VX_WINDOW_MIN:
		case VX_WINDOW_MAX:
			return VX_RESULT_ROW;
		default:
			return VX_RESULT_INT;
	}
}

static void *
results(const VxWindowState *state, Size size)
{
	return MemoryContextAllocHuge(state->sorter->mcxt,
								  size * Max(state->sorter->nrows, 1));
}

/* False: the argument has values of no such form. */
static bool
start_function(VxWindowState *state, VxWindowFunction *f)
{
	const VxStore *store = f->column < 0 ? NULL : &state->sorter->columns[f->column];

	f->form = form_of(f);
	f->counts = NULL;
	switch (f->form)
	{
		case VX_RESULT_INT:
			f->ints = results(state, sizeof(int64));
			break;
		case VX_RESULT_FLOAT:
			f->floats = results(state, sizeof(double));
			break;
		case VX_RESULT_SUM:
			f->sums = results(state, sizeof(int128));
			f->scale = store->form == VX_STORE_DECIMAL ? Max(store->scale, 0) : 0;
			break;
		case VX_RESULT_ROW:
			f->rows = results(state, sizeof(uint32));
			break;
	}
	if (f->kind == VX_WINDOW_MIN || f->kind == VX_WINDOW_MAX)
		return (f->ranks = vx_sorter_ranks(state->sorter, f->column)) != NULL;
	if (f->kind < VX_WINDOW_SUM_INT)
		return true;
	f->counts = results(state, sizeof(uint32));
	return store->form != VX_STORE_ENTRY;
}

static void
compute(VxWindowState *state, VxWindowFunction *f, VxFrames *frames)
{
	const VxWindow *window = &state->windows[f->window];

	switch (f->kind)
	{
		case VX_WINDOW_SHIFT:
			shift_rows(f, frames, state->sorter->order);
			break;
		case VX_WINDOW_NTH:
			nth_rows(f, frames, state->sorter->order);
			break;
		case VX_WINDOW_COUNT:
		case VX_WINDOW_SUM_INT:
		case VX_WINDOW_SUM_NUMERIC:
		case VX_WINDOW_AVG:
			sum_frames(state, f, frames, window->frame);
			break;
		case VX_WINDOW_SUM_FLOAT8:
			sum_floats(state, f, frames);
			break;
		case VX_WINDOW_MIN:
		case VX_WINDOW_MAX:
			find_extremes(state, f, frames);
			break;
		default:
			number_rows(f, frames);
			break;
	}
}

bool
vx_window_compute(VxWindowState *state)
{
	VxFrames   *frames;

	if (state->nfunctions == 0)
		return true;
	for (int i = 0; i < state->nfunctions; i++)
		if (!start_function(state, &state->functions[i]))
			return false;
	frames = vx_frames_create(state);
	for (int w = 0; w < state->nwindows; w++)
	{
		frames->end = 0;
		while (vx_frames_next(frames, state->sorter, &state->windows[w], frames->end))
			for (int i = 0; i < state->nfunctions; i++)
			{
				CHECK_FOR_INTERRUPTS();
				if (state->functions[i].window == w)
					compute(state, &state->functions[i], frames);
			}
	}
	return true;
}

/* ---- vectors ---- */

static void
set_nulls(const VxWindowFunction *f, uint32 position, int n, VxVector *v)
{
	v->has_nulls = false;
	if (f->counts == NULL)
		return;
	memset(v->valid, 0, sizeof(v->valid));
	for (int i = 0; i < n; i++)
	{
		if (f->counts[position + i] == 0)
			v->has_nulls = true;
		else
			vx_rows_set(v->valid, i);
	}
}

static Datum
average(const VxWindowFunction *f, uint32 position)
{
	char		buffer[ST_NUMERIC_MAX_BYTES];

	st_numeric_write_int128(buffer, f->sums[position], f->scale);
	return DirectFunctionCall2(numeric_div, PointerGetDatum(buffer),
							   NumericGetDatum(int64_to_numeric(f->counts[position])));
}

static void
sums_of(const VxWindowFunction *f, uint32 position, int n, VxVector *v)
{
	bool		fit = true;

	v->scale = f->scale;
	for (int i = 0; i < n; i++)
		fit &= f->sums[position + i] == (int64) f->sums[position + i];
	v->rep = fit ? VX_REP_DECIMAL64 : VX_REP_DECIMAL128;
	for (int i = 0; i < n; i++)
	{
		if (fit)
			v->u.i64[i] = (int64) f->sums[position + i];
		else
			v->u.i128[i] = f->sums[position + i];
	}
}

static void
averages_of(const VxWindowFunction *f, uint32 position, int n, VxVector *v)
{
	v->rep = VX_REP_DATUM;
	for (int i = 0; i < n; i++)
	{
		if (i % 64 == 0)
			CHECK_FOR_INTERRUPTS();
		if (f->counts[position + i] > 0)
			v->u.datum[i] = average(f, position + i);
	}
}

/* lag() and lead() with a default. */
static void
values_or_default(VxWindowState *state, VxWindowFunction *f, uint32 position, int n,
				  VxVector *v)
{
	const VxSorter *sorter = state->sorter;

	vx_row_column_reset(f->mixed);
	for (int i = 0; i < n; i++)
	{
		uint32		row = f->rows[position + i];
		int			column = row == PG_UINT32_MAX ? f->other : f->column;

		if (row == PG_UINT32_MAX)
			row = sorter->order[position + i];
		if (vx_store_isnull(&sorter->columns[column], row))
			vx_row_column_put_null(f->mixed, i);
		else
			vx_row_column_put(f->mixed, i, vx_sorter_value(sorter, column, row));
	}
	vx_row_column_finish(f->mixed, n);
	*v = f->mixed->v;
}

void
vx_window_result(VxWindowState *state, VxWindowFunction *f, uint32 position, int n,
				 VxVector *v)
{
	v->n = n;
	v->typlen = f->attr->attlen;
	v->constant = false;
	v->dict = NULL;
	v->scale = 0;
	if (f->form == VX_RESULT_ROW)
	{
		if (f->mixed)
			values_or_default(state, f, position, n, v);
		else
			vx_sorter_gather(state->sorter, f->column, f->rows + position, n, v);
		return;
	}
	set_nulls(f, position, n, v);
	if (f->kind == VX_WINDOW_AVG)
		averages_of(f, position, n, v);
	else if (f->form == VX_RESULT_SUM)
		sums_of(f, position, n, v);
	else
	{
		v->rep = f->form == VX_RESULT_FLOAT ? VX_REP_FLOAT8 : VX_REP_INT64;
		memcpy(v->u.i64, f->form == VX_RESULT_FLOAT ? (void *) (f->floats + position) :
			   (void *) (f->ints + position), sizeof(int64) * n);
	}
}
