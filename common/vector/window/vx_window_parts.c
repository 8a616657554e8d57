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
 * and end.  The first time they are cut into equal parts; later, rows that are
 * in no range go to a new part, or to the one beside if they are few.  So rows
 * that come in the order of the key, or nearly so, fill one part after the other.
 *
 * A part that has no room in memory in the end is cut once more.  If it has none
 * because many rows agree in the key, there are no parts: the server's way is taken,
 * before any row has come out.
 *
 * Memory: a buffer of a file for each part, and one chunk.
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

/* Rows in memory that no part has are cut into so many at least. */
#define MIN_SLICES		4

/* Values by reference make a chunk smaller if they take more than this. */
#define CHUNK_BYTES		((Size) 1024 * 1024)

/* Bytes in memory for each value by reference, beside its own. */
#define VALUE_BYTES		40

/* Strings of so few values that there are this many rows for each are written as codes. */
#define ROWS_PER_CODE	8

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
	double		bytes;			/* that its rows will take in memory, sort included */
} Part;

struct VxWindowParts
{
	MemoryContext mcxt;
	MemoryContext chunk_mcxt;	/* one chunk, or comparison of a key */
	SortSupportData order;		/* of the first key */
	Size		limit;			/* of the sorter */
	double		slices;			/* that the next rows are cut into, if no part has them */
	int			nparts;
	Part		parts[VX_MAX_PARTS];
	int			at;				/* in memory, or -1 */
	int		   *scales;			/* by column: of numerics that are added or compared, or -1 */
	VxBytes		bytes;
	VxVector	gathered;
	VxVector  **vectors;		/* by column */
	uint32	   *codes;			/* of ST_VECTOR_SIZE rows */
	uint64		ndicts;			/* that have been read */
};

/* ---- set up ---- */

static bool
uses_values(const VxWindowFunction *f)
{
	return f->kind >= VX_WINDOW_SUM_INT || f->kind == VX_WINDOW_MIN ||
		f->kind == VX_WINDOW_MAX;
}

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

		if (!uses_values(f) || f->column < 0)
			continue;
		store = &state->sorter->columns[f->column];
		if (!vx_is_number_type(store->type) && store->type != NUMERICOID)
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
	/* half of the memory for each, if as many rows come as are expected */
	parts->slices = 2 * state->child->plan->plan_rows / state->sorter->nrows;
	parts->at = -1;
	parts->scales = palloc(sizeof(int) * ncolumns);
	parts->vectors = palloc(sizeof(VxVector *) * ncolumns);
	parts->codes = palloc(sizeof(uint32) * ST_VECTOR_SIZE);
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
		if (parts->parts[i].file)
			BufFileClose(parts->parts[i].file);
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

static void
keep_key(VxWindowParts *parts, const VxSorter *sorter, uint32 position, Key *kept)
{
	const VxStore *store = &sorter->columns[sorter->keys[0].column];
	MemoryContext old = MemoryContextSwitchTo(parts->mcxt);
	Key			key = key_at(sorter, position);

	if (!key.isnull)
		key.value = datumCopy(key.value, store->byval, store->typlen);
	MemoryContextSwitchTo(old);
	*kept = key;
}

/* The row at a position against a key. */
static int
compare_at(VxWindowParts *parts, const VxSorter *sorter, uint32 position, const Key *key)
{
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);
	Key			own = key_at(sorter, position);
	int			result = ApplySortComparator(own.value, own.isnull, key->value, key->isnull,
											 &parts->order);

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
	if (store->nentries < sorter->nrows / ROWS_PER_CODE)
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

static void
put_chunk(VxWindowParts *parts, const VxSorter *sorter, Part *part, uint32 position, int n)
{
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);
	VxBytes    *bytes = &parts->bytes;
	Chunk		head = {0, n};
	int			nvalues = 0;

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
	part->bytes += bytes->used + (double) VALUE_BYTES * nvalues +
		(double) n * (sorter->row_bytes + sizeof(int64) / 2 * sorter->ncolumns);
	MemoryContextSwitchTo(old);
	MemoryContextReset(parts->chunk_mcxt);
}

static void
put_rows(VxWindowParts *parts, const VxSorter *sorter, Part *part, uint32 from, uint32 to)
{
	while (from < to)
	{
		int			n = choose_rows(sorter, from, to - from);

		CHECK_FOR_INTERRUPTS();
		put_chunk(parts, sorter, part, from, n);
		from += n;
	}
}

/* Rows of a range that no part has: a new part, before the i-th one. */
static void
add_part(VxWindowParts *parts, const VxSorter *sorter, int i, uint32 from, uint32 to)
{
	Part	   *part = &parts->parts[i];
	MemoryContext old = MemoryContextSwitchTo(parts->mcxt);

	memmove(part + 1, part, sizeof(Part) * (parts->nparts - i));
	memset(part, 0, sizeof(Part));
	parts->nparts++;
	part->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	keep_key(parts, sorter, from, &part->least);
	keep_key(parts, sorter, to - 1, &part->greatest);
	put_rows(parts, sorter, part, from, to);
}

/*
 * Rows between the parts i - 1 and i.  Returns how many parts stand there now that did
 * not before.
 */
static int
fill_gap(VxWindowParts *parts, const VxSorter *sorter, int i, uint32 from, uint32 to,
		 uint32 slice)
{
	int			added = 0;

	while (from < to)
	{
		uint32		end = to - from < slice + slice / 2 ? to : from + slice;

		if (parts->nparts > 0 && (end - from < slice / 2 || parts->nparts == VX_MAX_PARTS))
		{
			Part	   *beside = &parts->parts[i + added > 0 ? i + added - 1 : 0];

			if (i + added > 0)
				keep_key(parts, sorter, to - 1, &beside->greatest);
			else
				keep_key(parts, sorter, from, &beside->least);
			put_rows(parts, sorter, beside, from, to);
			return added;
		}
		/* rows that agree in the key are not parted */
		while (end < to && vx_sorter_same(sorter, end, 1))
			end++;
		add_part(parts, sorter, i + added, from, end);
		added++;
		from = end;
	}
	return added;
}

bool
vx_parts_put(VxWindowState *state)
{
	VxSorter   *sorter = state->sorter;
	VxWindowParts *parts;
	uint32		slice;
	uint32		at = 0;
	int			i = 0;

	if (sorter->nrows == 0 || !may_be_parts(state))
		return false;
	if (state->parts == NULL)
		state->parts = make_parts(state);
	parts = state->parts;
	if (!functions_go_on(state, parts->scales))
		return false;
	vx_sorter_sort(sorter);
	state->peak = Max(state->peak, sorter->peak);
	slice = Max(1, (uint32) (sorter->nrows / Min(Max(parts->slices, MIN_SLICES), VX_MAX_PARTS / 2)));
	parts->slices = MIN_SLICES;
	while (at < sorter->nrows)
	{
		uint32		end;

		while (i < parts->nparts && compare_at(parts, sorter, at, &parts->parts[i].greatest) > 0)
			i++;
		if (i < parts->nparts && compare_at(parts, sorter, at, &parts->parts[i].least) >= 0)
		{
			end = find_position(parts, sorter, at, &parts->parts[i].greatest, true);
			put_rows(parts, sorter, &parts->parts[i], at, end);
		}
		else
		{
			end = i == parts->nparts ? sorter->nrows :
				find_position(parts, sorter, at, &parts->parts[i].least, false);
			i += fill_gap(parts, sorter, i, at, end, slice);
		}
		at = end;
	}
	vx_sorter_reset(sorter);
	return true;
}

/* ---- and into it ---- */

static void
read_exactly(BufFile *file, void *bytes, Size size)
{
	if (BufFileRead(file, bytes, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read rows of a sort from a temporary file")));
}

static void
read_chunk(VxWindowState *state, BufFile *file)
{
	VxWindowParts *parts = state->parts;
	MemoryContext old = MemoryContextSwitchTo(parts->chunk_mcxt);
	VxBytes    *bytes = &parts->bytes;
	uint16		rows[ST_VECTOR_SIZE];
	Chunk		head;
	char	   *at;

	read_exactly(file, &head, sizeof(head));
	bytes->used = 0;
	vx_bytes_room(bytes, head.size);
	read_exactly(file, bytes->data + sizeof(head), head.size - sizeof(head));
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

/* Rows of a part through memory into smaller ones; false: they cannot be parted. */
static bool
split(VxWindowState *state, int i)
{
	VxWindowParts *parts = state->parts;
	VxSorter   *sorter = state->sorter;
	Part		part = parts->parts[i];
	int			others;
	bool		done = true;

	if (ApplySortComparator(part.least.value, part.least.isnull, part.greatest.value,
							part.greatest.isnull, &parts->order) == 0 ||
		parts->nparts + MIN_SLICES > VX_MAX_PARTS)
		return false;
	others = --parts->nparts;
	memmove(&parts->parts[i], &parts->parts[i + 1], sizeof(Part) * (others - i));
	parts->slices = 2 * part.bytes / parts->limit;
	begin_reading(state, &part);
	for (uint64 c = 0; done && c < part.nchunks; c++)
	{
		CHECK_FOR_INTERRUPTS();
		read_chunk(state, part.file);
		if (c + 1 == part.nchunks || MemoryContextMemAllocated(sorter->mcxt, true) +
			sorter->nrows * sorter->row_bytes > parts->limit / 2)
			done = vx_parts_put(state);
	}
	BufFileClose(part.file);
	/* most rows may agree in the key */
	for (int p = i; p < i + parts->nparts - others; p++)
		done &= parts->parts[p].bytes < 0.9 * part.bytes;
	return done;
}

static void
load(VxWindowState *state, int i)
{
	VxWindowParts *parts = state->parts;
	Part	   *part = &parts->parts[i];

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

	if (state->sorter->nrows > 0 && !vx_parts_put(state))
		return false;
	for (int i = 0; i < parts->nparts; i++)
	{
		if (parts->parts[i].bytes <= parts->limit)
			continue;
		if (!split(state, i))
			return false;
		/* some of its rows may have gone to parts beside it */
		i = -1;
	}
	state->parts_on_disk = parts->nparts;
	for (int i = 0; i < parts->nparts; i++)
		state->disk += BufFileSize(parts->parts[i].file);
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
