/*-------------------------------------------------------------------------
 *
 * vx_window_parts.c
 *	  Rows that have no room in memory, in parts on disk.
 *
 * A part has all rows whose first sort key lies in a range; ranges of parts do
 * not overlap, and stand in order.  So partitions of windows, and rows that
 * agree in keys of DISTINCT ON, are in one part, and each part is sorted in
 * memory like a result of its own, one after the other, in either direction.
 *
 * Whenever the memory is full its rows are sorted, and cut where ranges begin
 * and end.  The first time they are cut into equal parts, as many as are expected to
 * be needed, or two if they came in order.  Later, rows that are in no range go to
 * the parts beside, until these are half as large as the memory, and then to new ones.
 * So rows that come in the order of the key fill one part after the other.
 *
 * A part that has no room in memory in the end is cut once more, by a sample of its
 * keys.  If it has none because many rows agree in the key, there are no parts: the
 * server's way is taken, before any row has come out.
 *
 * Memory: a buffer of a file for each part, its sample, and one chunk.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "vx_vector_bytes.h"
#include "vx_window.h"

/* Larger rows, on average, are left to the server: it may sort pointers to what is TOASTed. */
#define MOST_ROW_BYTES	1024

/* Keys of a part's sample, and bytes of one. */
#define SAMPLE_KEYS		32
#define SAMPLE_BYTES	256

/* Parts are cut once more until so many times their bytes have been written. */
#define MOST_WRITES		4

/* Values by reference make a chunk smaller if they take more than this. */
#define CHUNK_BYTES		((Size) 1024 * 1024)

/* Bytes in memory for each value by reference, beside its own. */
#define VALUE_BYTES		24

/* Strings of few values, with this many rows for each, are written as codes. */
#define ROWS_PER_CODE	8
#define MOST_CODES		(16 * ST_VECTOR_SIZE)

/* In a file; columns follow (vx_vector_bytes.h). */
typedef struct Chunk
{
	Size		size;			/* bytes, this included */
	uint64		nrows;
} Chunk;

typedef struct Key
{
	Datum		value;
	bool		isnull;
} Key;

typedef struct Part
{
	Key			least;
	Key			greatest;
	BufFile    *file;
	uint64		nchunks;
	uint64		nrows;
	double		bytes;			/* that its rows will take in memory, sort included */
	uint64		stride;			/* each so-many-th row is in the sample */
	int			nsampled;
	Key			sample[SAMPLE_KEYS];
} Part;

struct VxWindowParts
{
	MemoryContext mcxt;
	MemoryContext chunk_mcxt;	/* one chunk, or comparison of a key */
	SortSupportData order;		/* of the first key */
	Size		limit;			/* of the sorter */
	bool		cutting;		/* a part: its rows go to parts that are there */
	double		written;		/* bytes, as parts count them */
	int			nparts;
	Part	   *parts[VX_MAX_PARTS + 1];
	int			at;				/* in memory, or -1 */
	int		   *scales;			/* by column: of numerics that are added or compared, or -1 */
	VxBytes		bytes;
	VxVector	gathered;
	VxVector  **vectors;		/* by column */
	uint64		ndicts;			/* that have been read */
};

/* ---- set up ---- */

/* Partitions are ranges of the first key, and stay within a part. */
static bool
may_be_parts(const VxWindowState *state)
{
	if (state->sorter->nkeys == 0)
		return false;
	for (int w = 0; w < state->nwindows; w++)
		if (state->windows[w].npartition == 0)
			return false;
	return true;
}

/*
 * Will functions find the values of each part in a form that they take?  Numerics are
 * of one scale so far, or not.
 */
static bool
functions_go_on(const VxWindowState *state, int *scales)
{
	for (int i = 0; i < state->nfunctions; i++)
	{
		const VxWindowFunction *f = &state->functions[i];
		const VxStore *store;

		/* others only move values, or count */
		if (f->kind < VX_WINDOW_SUM_INT || f->column < 0)
			continue;
		store = &state->sorter->columns[f->column];
		if (!vx_is_number_type(store->type))
			return false;
		if (store->type != NUMERICOID || (store->form == VX_STORE_DECIMAL && store->scale < 0))
			continue;
		if (store->form != VX_STORE_DECIMAL ||
			(scales[f->column] >= 0 && scales[f->column] != store->scale))
			return false;
		scales[f->column] = store->scale;
	}
	return true;
}

static VxWindowParts *
make_parts(VxWindowState *state)
{
	MemoryContext mcxt = AllocSetContextCreate(state->css.ss.ps.state->es_query_cxt,
											   "vector sort on disk", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	VxWindowParts *parts = palloc0(sizeof(VxWindowParts));
	const VxSortKey *key = &state->sorter->keys[0];
	int			ncolumns = state->sorter->ncolumns;

	parts->mcxt = parts->bytes.mcxt = mcxt;
	parts->chunk_mcxt = AllocSetContextCreate(mcxt, "vector sort chunk", ALLOCSET_DEFAULT_SIZES);
	parts->order.ssup_cxt = mcxt;
	parts->order.ssup_collation = key->collation;
	parts->order.ssup_nulls_first = key->nulls_first;
	PrepareSortSupportFromOrderingOp(key->sortop, &parts->order);
	parts->limit = state->sorter->limit;
	parts->at = -1;
	parts->scales = palloc(sizeof(int) * ncolumns);
	parts->vectors = palloc(sizeof(VxVector *) * ncolumns);
	parts->gathered.u.i128 = palloc(sizeof(int128) * ST_VECTOR_SIZE);
	for (int c = 0; c < ncolumns; c++)
	{
		parts->scales[c] = -1;
		parts->vectors[c] = palloc0(sizeof(VxVector));
	}
	MemoryContextSwitchTo(old);
	return parts;
}

void
vx_parts_reset(VxWindowState *state)
{
	VxWindowParts *parts = state->parts;

	if (parts == NULL)
		return;
	for (int i = 0; i < parts->nparts; i++)
		BufFileClose(parts->parts[i]->file);
	state->sorter->limit = parts->limit;
	MemoryContextDelete(parts->mcxt);
	state->parts = NULL;
}

/* ---- keys ---- */

/* Of the row at a position, in the current memory context if it is made. */
static Key
key_at(const VxSorter *sorter, uint32 position)
{
	int			column = sorter->keys[0].column;
	uint32		row = sorter->order[position];
	Key			key = {(Datum) 0, vx_store_isnull(&sorter->columns[column], row)};

	if (!key.isnull)
		key.value = vx_sorter_value(sorter, column, row);
	return key;
}

/* A key of the first column as *kept, which has another one or none so far (null). */
static void
keep_key(VxWindowParts *parts, const VxSorter *sorter, Key key, Key *kept)
{
	const VxStore *store = &sorter->columns[sorter->keys[0].column];
	MemoryContext old = MemoryContextSwitchTo(parts->mcxt);

	if (!key.isnull)
		key.value = datumCopy(key.value, store->byval, store->typlen);
	if (!kept->isnull && !store->byval)
		pfree(DatumGetPointer(kept->value));
	MemoryContextSwitchTo(old);
	*kept = key;
}

static void
keep_key_at(VxWindowParts *parts, const VxSorter *sorter, uint32 position, Key *kept)
{
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);

	keep_key(parts, sorter, key_at(sorter, position), kept);
	MemoryContextSwitchTo(old);
	MemoryContextReset(parts->chunk_mcxt);
}

static int
compare_keys(VxWindowParts *parts, const Key *a, const Key *b)
{
	return ApplySortComparator(a->value, a->isnull, b->value, b->isnull, &parts->order);
}

/* The row at a position against a key. */
static int
compare_at(VxWindowParts *parts, const VxSorter *sorter, uint32 position, const Key *key)
{
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);
	Key			own = key_at(sorter, position);
	int			result = compare_keys(parts, &own, key);

	MemoryContextSwitchTo(old);
	MemoryContextReset(parts->chunk_mcxt);
	return result;
}

/* The first position from one on that is not in front of the key; behind: that is behind it. */
static uint32
find_position(VxWindowParts *parts, const VxSorter *sorter, uint32 from, const Key *key,
			  bool behind)
{
	uint32		end = sorter->nrows;

	while (from < end)
	{
		uint32		middle = from + (end - from) / 2;
		int			order = compare_at(parts, sorter, middle, key);

		if (order < 0 || (behind && order == 0))
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

/* ---- rows out of memory ---- */

/* The column's values in rows; strings of few values as codes. */
static void
gather(VxWindowParts *parts, const VxSorter *sorter, int column, const uint32 *rows, int n)
{
	const VxStore *store = &sorter->columns[column];
	VxVector   *v = &parts->gathered;

	vx_sorter_gather(sorter, column, rows, n, v);
	if (store->form != VX_STORE_ENTRY)
		return;
	if (store->nentries < Min(sorter->nrows / ROWS_PER_CODE, MOST_CODES))
	{
		VxDictionary *dict = palloc0(sizeof(VxDictionary));

		dict->nvalues = store->nentries;
		dict->values = store->entries;
		for (int i = 0; i < n; i++)
			if (!vx_vector_isnull(v, i))
				v->u.code[i] = (uint32) store->values[rows[i]];
		v->rep = VX_REP_CODE;
		v->dict = dict;
		return;
	}
	for (int i = 0; i < n; i++)
		if (vx_vector_isnull(v, i))
			v->u.datum[i] = (Datum) 0;
}

/* How many rows from a position on, of n, are to be a chunk. */
static int
choose_rows(const VxSorter *sorter, uint32 position, uint32 n)
{
	Size		size = 0;
	int			i = 0;

	for (; i < ST_VECTOR_SIZE && i < n && size < CHUNK_BYTES; i++)
		for (int c = 0; c < sorter->ncolumns; c++)
		{
			const VxStore *store = &sorter->columns[c];
			uint32		row = sorter->order[position + i];

			if (store->form == VX_STORE_ENTRY && !vx_store_isnull(store, row))
				size += datumGetSize(store->entries[store->values[row]], store->byval,
									 store->typlen);
		}
	return i;
}

/* Keys of some of n more rows; of twice as many rows half as many are kept. */
static void
take_sample(VxWindowParts *parts, const VxSorter *sorter, Part *part, uint32 position, int n)
{
	const VxStore *store = &sorter->columns[sorter->keys[0].column];

	for (uint64 row = (part->nrows + part->stride - 1) / part->stride * part->stride;
		 row < part->nrows + n; row += part->stride)
	{
		Key			key = key_at(sorter, position + (uint32) (row - part->nrows));

		if (!key.isnull && !store->byval &&
			datumGetSize(key.value, false, store->typlen) > SAMPLE_BYTES)
			continue;
		if (part->nsampled == SAMPLE_KEYS)
		{
			part->stride *= 2;
			part->nsampled /= 2;
			for (int i = 0; i < part->nsampled; i++)
			{
				Key			swap = part->sample[i];

				part->sample[i] = part->sample[2 * i];
				part->sample[2 * i] = swap;
			}
			continue;
		}
		keep_key(parts, sorter, key, &part->sample[part->nsampled++]);
	}
	part->nrows += n;
}

static void
put_chunk(VxWindowState *state, Part *part, uint32 position, int n)
{
	VxWindowParts *parts = state->parts;
	const VxSorter *sorter = state->sorter;
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);
	VxBytes    *bytes = &parts->bytes;
	Chunk		head = {0, n};
	int			nvalues = 0;
	double		size;

	bytes->used = 0;
	vx_bytes_add(bytes, &head, sizeof(head));
	for (int c = 0; c < sorter->ncolumns; c++)
	{
		gather(parts, sorter, c, sorter->order + position, n);
		nvalues += parts->gathered.rep == VX_REP_DATUM ? n : 0;
		vx_bytes_add_vector(bytes, &parts->gathered);
	}
	((Chunk *) bytes->data)->size = bytes->used;
	BufFileWrite(part->file, bytes->data, bytes->used);
	part->nchunks++;
	/* arrays grow by halves */
	size = bytes->used + (double) VALUE_BYTES * nvalues +
		(double) n * (sorter->row_bytes + sizeof(int64) / 2 * sorter->ncolumns);
	part->bytes += size;
	parts->written += size;
	state->disk += bytes->used;
	take_sample(parts, sorter, part, position, n);
	MemoryContextSwitchTo(old);
	MemoryContextReset(parts->chunk_mcxt);
}

static void
put_rows(VxWindowState *state, Part *part, uint32 from, uint32 to)
{
	while (from < to)
	{
		int			n = choose_rows(state->sorter, from, to - from);

		CHECK_FOR_INTERRUPTS();
		put_chunk(state, part, from, n);
		from += n;
	}
}

/* A new part, before the i-th one. */
static Part *
add_part(VxWindowParts *parts, int i)
{
	MemoryContext old = MemoryContextSwitchTo(parts->mcxt);
	Part	   *part = palloc0(sizeof(Part));

	part->file = BufFileCreateTemp(false);
	part->stride = 1;
	part->least.isnull = part->greatest.isnull = true;
	for (int k = 0; k < SAMPLE_KEYS; k++)
		part->sample[k].isnull = true;
	memmove(&parts->parts[i + 1], &parts->parts[i], sizeof(Part *) * (parts->nparts - i));
	parts->parts[i] = part;
	parts->nparts++;
	MemoryContextSwitchTo(old);
	return part;
}

/* Rows that agree in the key are not parted: the end of rows from a position on, or a later one. */
static uint32
end_of_key(const VxSorter *sorter, uint32 from, uint32 end, uint32 to)
{
	while (end > from && end < to && vx_sorter_same(sorter, end, 1))
		end++;
	return end;
}

/* How many rows a part may still take, so that it is half as large as the memory. */
static uint32
room_in(const VxWindowParts *parts, const Part *part, const VxSorter *sorter)
{
	double		left = parts->limit / 2 - part->bytes;

	return left <= 0 ? 0 : (uint32) (left / parts->limit * sorter->nrows);
}

/*
 * Rows between the parts i - 1 and i, in slices of so many where they go to new parts.
 * Returns how many parts stand there now that did not before.
 */
static int
fill_gap(VxWindowState *state, int i, uint32 from, uint32 to, uint32 slice)
{
	VxWindowParts *parts = state->parts;
	const VxSorter *sorter = state->sorter;
	Part	   *left = i > 0 ? parts->parts[i - 1] : NULL;
	Part	   *right = i < parts->nparts ? parts->parts[i] : NULL;
	bool		all = parts->cutting || parts->nparts == VX_MAX_PARTS;
	int			added = 0;
	uint32		end = from;

	/* to the part in front, the one behind, and new ones */
	if (left)
	{
		end = all ? to : end_of_key(sorter, from, Min(to, from + room_in(parts, left, sorter)), to);
		if (to - end < slice / 4)
			end = to;
	}
	if (end > from)
	{
		put_rows(state, left, from, end);
		keep_key_at(parts, sorter, end - 1, &left->greatest);
		from = end;
	}
	if (right && from < to && (all || left == NULL))
	{
		uint32		start = all ? from : to - Min(to - from, room_in(parts, right, sorter));

		start = start - from < slice / 4 ? from : end_of_key(sorter, from, start, to);
		if (start < to)
		{
			put_rows(state, right, start, to);
			keep_key_at(parts, sorter, start, &right->least);
			to = start;
		}
	}
	while (from < to)
	{
		Part	   *part;

		end = to - from < slice + slice / 2 || parts->nparts + 1 == VX_MAX_PARTS ? to :
			end_of_key(sorter, from, from + slice, to);
		part = add_part(parts, i + added++);
		put_rows(state, part, from, end);
		keep_key_at(parts, sorter, from, &part->least);
		keep_key_at(parts, sorter, end - 1, &part->greatest);
		from = end;
	}
	return added;
}

/* Did the rows come in the order of the keys, or the other way round? */
static bool
came_in_order(const VxSorter *sorter)
{
	uint32		last = sorter->nrows - 1;
	uint32		turned = sorter->order[0] == 0 ? 0 : last;

	for (uint32 p = 0; p <= last; p++)
		if (sorter->order[p] != (turned ? last - p : p))
			return false;
	return true;
}

/* Half of the memory for each part, if as many rows come as are expected. */
static uint32
slice_rows(const VxWindowState *state)
{
	uint32		nrows = state->sorter->nrows;
	double		nslices = 2;

	if (state->parts->nparts == 0 && !came_in_order(state->sorter))
		nslices = Min(Max(nslices, 2 * state->child->plan->plan_rows / nrows), VX_MAX_PARTS / 2);
	return Max(1, (uint32) (nrows / nslices));
}

bool
vx_parts_put(VxWindowState *state)
{
	VxSorter   *sorter = state->sorter;
	VxWindowParts *parts;
	uint32		slice;
	uint32		at = 0;
	int			i = 0;

	if (state->parts == NULL)
	{
		if (sorter->nrows < sorter->limit / MOST_ROW_BYTES || !may_be_parts(state))
			return false;
		state->parts = make_parts(state);
	}
	parts = state->parts;
	if (!functions_go_on(state, parts->scales))
		return false;
	vx_sorter_sort(sorter);
	state->peak = Max(state->peak, sorter->peak);
	slice = slice_rows(state);
	while (at < sorter->nrows)
	{
		uint32		end;

		while (i < parts->nparts && compare_at(parts, sorter, at, &parts->parts[i]->greatest) > 0)
			i++;
		if (i < parts->nparts && compare_at(parts, sorter, at, &parts->parts[i]->least) >= 0)
		{
			end = find_position(parts, sorter, at, &parts->parts[i]->greatest, true);
			put_rows(state, parts->parts[i], at, end);
		}
		else
		{
			end = i == parts->nparts ? sorter->nrows :
				find_position(parts, sorter, at, &parts->parts[i]->least, false);
			i += fill_gap(state, i, at, end, slice);
		}
		at = end;
	}
	vx_sorter_reset(sorter);
	return true;
}

/* ---- and into it ---- */

static void
read_chunk(VxWindowState *state, BufFile *file)
{
	VxWindowParts *parts = state->parts;
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);
	VxBytes    *bytes = &parts->bytes;
	uint16		rows[ST_VECTOR_SIZE];
	Chunk		head;
	char	   *at;

	vx_read_exactly(file, &head, sizeof(head));
	bytes->used = 0;
	vx_bytes_room(bytes, head.size);
	vx_read_exactly(file, bytes->data + sizeof(head), head.size - sizeof(head));
	at = bytes->data + MAXALIGN(sizeof(head));
	for (int c = 0; c < state->nstored; c++)
		vx_bytes_take_vector(bytes->data, &at, (int) head.nrows,
							 state->sorter->columns[c].typlen, ++parts->ndicts,
							 parts->vectors[c]);
	for (int i = 0; i < head.nrows; i++)
		rows[i] = i;
	if (!vx_sorter_add(state->sorter, (const VxVector *const *) parts->vectors, rows,
					   (int) head.nrows, 0))
		elog(ERROR, "a part of a sort has too many rows");
	MemoryContextSwitchTo(old);
	MemoryContextReset(parts->chunk_mcxt);
}

/* From here on the sorter takes what it is given: what has room is looked at here. */
static void
begin_reading(VxWindowState *state, const Part *part)
{
	vx_sorter_reset(state->sorter);
	state->sorter->limit = SIZE_MAX;
	if (BufFileSeek(part->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind a temporary file of a sort")));
}

static int
compare_sampled(const void *a, const void *b, void *parts)
{
	return compare_keys(parts, a, b);
}

/*
 * New parts in place of one, from keys of its sample on, without rows so far.  False: there
 * are no two.
 */
static bool
cut_by_sample(VxWindowState *state, Part *part, int i)
{
	VxWindowParts *parts = state->parts;
	int			wanted = (int) Min(2 * part->bytes / parts->limit + 1, SAMPLE_KEYS);
	int			nkeys = 0;
	const Key  *last = &part->least;

	/* its keys are too long for a sample */
	if (part->nsampled == 0)
		return false;
	qsort_arg(part->sample, part->nsampled, sizeof(Key), compare_sampled, parts);
	wanted = Min(wanted, VX_MAX_PARTS - parts->nparts - 1);
	for (int k = 0; k < wanted; k++)
	{
		const Key  *key = k == 0 ? &part->least : &part->sample[k * part->nsampled / wanted];
		Part	   *made;

		if (k > 0 && compare_keys(parts, last, key) == 0)
			continue;
		made = add_part(parts, i + nkeys++);
		keep_key(parts, state->sorter, *key, &made->least);
		keep_key(parts, state->sorter, *key, &made->greatest);
		last = key;
	}
	return nkeys > 1;
}

/* Rows of a part through memory into smaller ones; false: they cannot be parted. */
static bool
cut(VxWindowState *state, int i, double total)
{
	VxWindowParts *parts = state->parts;
	VxSorter   *sorter = state->sorter;
	Part	   *part = parts->parts[i];
	int			others = --parts->nparts;
	bool		done;

	memmove(&parts->parts[i], &parts->parts[i + 1], sizeof(Part *) * (others - i));
	begin_reading(state, part);
	parts->cutting = true;
	done = parts->written < MOST_WRITES * total && cut_by_sample(state, part, i);
	for (uint64 c = 0; done && c < part->nchunks; c++)
	{
		CHECK_FOR_INTERRUPTS();
		read_chunk(state, part->file);
		if (c + 1 == part->nchunks || MemoryContextMemAllocated(sorter->mcxt, true) +
			sorter->nrows * sorter->row_bytes > parts->limit / 2)
			done = vx_parts_put(state);
	}
	parts->cutting = false;
	/* most rows may agree in the key */
	for (int p = i; p < i + parts->nparts - others; p++)
		done &= parts->parts[p]->nrows > 0 && parts->parts[p]->bytes < 0.95 * part->bytes;
	BufFileClose(part->file);
	pfree(part);
	return done;
}

static void
load(VxWindowState *state, int i)
{
	VxWindowParts *parts = state->parts;
	Part	   *part = parts->parts[i];

	begin_reading(state, part);
	for (uint64 c = 0; c < part->nchunks; c++)
	{
		CHECK_FOR_INTERRUPTS();
		read_chunk(state, part->file);
	}
	parts->at = i;
	state->peak = Max(state->peak, MemoryContextMemAllocated(state->sorter->mcxt, true));
	vx_sorter_sort(state->sorter);
	state->peak = Max(state->peak, state->sorter->peak);
}

bool
vx_parts_end(VxWindowState *state)
{
	VxWindowParts *parts = state->parts;
	double		total;

	if (state->sorter->nrows > 0 && !vx_parts_put(state))
		return false;
	total = parts->written;
	for (int i = 0; i < parts->nparts; i++)
	{
		if (parts->parts[i]->bytes <= parts->limit)
			continue;
		if (!cut(state, i, total))
			return false;
		/* some of its rows may have gone to parts beside it */
		i = -1;
	}
	state->parts_on_disk = parts->nparts;
	load(state, 0);
	return true;
}

bool
vx_parts_move(VxWindowState *state, int by)
{
	VxWindowParts *parts = state->parts;

	if (parts == NULL || parts->at + by < 0 || parts->at + by >= parts->nparts)
		return false;
	load(state, parts->at + by);
	if (!vx_window_compute(state))
		elog(ERROR, "a part of a sort has values of another form");
	state->position = 0;
	state->next = 0;
	return true;
}
