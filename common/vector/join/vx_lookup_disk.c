/*-------------------------------------------------------------------------
 *
 * vx_lookup_disk.c
 *	  Groups that have no room in memory, found by their keys.
 *
 * Rows are sorted by the hash of their keys, within work_mem, and written to a
 * temporary file in blocks.  In memory there is one entry for each block: the
 * first hash in it, and where it is.  A lookup reads the block, or the few,
 * that may have its hash, and compares keys.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "st_compat.h"
#include "vx_lookup.h"

/* Of one row at least. */
#define BLOCK_BYTES		8192

typedef struct DiskBlock
{
	int64		first;			/* hash of its first row */
	int			fileno;
	off_t		offset;
	uint32		size;
} DiskBlock;

struct VxLookupDisk
{
	MemoryContext mcxt;
	Tuplesortstate *sort;		/* NULL: the file stands */
	TupleTableSlot *write;		/* the hash, then a row */
	TupleTableSlot *read;
	BufFile    *file;
	uint64		nblocks;
	uint64		nallocated;
	DiskBlock  *blocks;
	int64		at;				/* number of the block in memory, or -1 */
	uint32		used;			/* bytes in it */
	uint32		capacity;
	char	   *bytes;
};

VxLookupDisk *
vx_lookup_disk_create(TupleDesc rows)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "groups on disk",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	VxLookupDisk *disk = palloc0(sizeof(VxLookupDisk));
	TupleDesc	desc = CreateTemplateTupleDesc(rows->natts + 1);
	AttrNumber	key = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	TupleDescInitEntry(desc, 1, "hash", INT8OID, -1, 0);
	for (int i = 1; i <= rows->natts; i++)
		TupleDescCopyEntry(desc, i + 1, rows, i);
	TupleDescFinalize(desc);
	disk->mcxt = mcxt;
	disk->sort = tuplesort_begin_heap(desc, 1, &key, &less, &collation, &nulls_first,
									  work_mem, NULL, TUPLESORT_NONE);
	disk->write = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	disk->read = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	disk->capacity = BLOCK_BYTES;
	disk->bytes = palloc(disk->capacity);
	MemoryContextSwitchTo(old);
	return disk;
}

void
vx_lookup_disk_add(VxLookupDisk *disk, uint64 hash, const Datum *values, const bool *isnull)
{
	TupleTableSlot *slot = disk->write;
	int			natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	slot->tts_values[0] = Int64GetDatum((int64) hash);
	slot->tts_isnull[0] = false;
	memcpy(&slot->tts_values[1], values, sizeof(Datum) * (natts - 1));
	memcpy(&slot->tts_isnull[1], isnull, sizeof(bool) * (natts - 1));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(disk->sort, slot);
}

/* ---- the file ---- */

static void
write_block(VxLookupDisk *disk, int64 first)
{
	DiskBlock  *block;

	if (disk->used == 0)
		return;
	if (disk->nblocks == disk->nallocated)
	{
		disk->nallocated = Max(64, disk->nallocated * 2);
		disk->blocks = disk->blocks ?
			repalloc_huge(disk->blocks, sizeof(DiskBlock) * disk->nallocated) :
			palloc(sizeof(DiskBlock) * disk->nallocated);
	}
	block = &disk->blocks[disk->nblocks++];
	block->first = first;
	block->size = disk->used;
	BufFileTell(disk->file, &block->fileno, &block->offset);
	BufFileWrite(disk->file, disk->bytes, disk->used);
	disk->used = 0;
}

static void
make_room(VxLookupDisk *disk, uint32 size)
{
	if (size <= disk->capacity)
		return;
	disk->capacity = size;
	disk->bytes = repalloc_huge(disk->bytes, size);
}

void
vx_lookup_disk_finish(VxLookupDisk *disk)
{
	MemoryContext old = MemoryContextSwitchTo(disk->mcxt);
	int64		first = 0;

	tuplesort_performsort(disk->sort);
	disk->file = BufFileCreateTemp(false);
	while (tuplesort_gettupleslot(disk->sort, true, false, disk->read, NULL))
	{
		bool		isnull;
		bool		free_tuple;
		int64		hash = DatumGetInt64(slot_getattr(disk->read, 1, &isnull));
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(disk->read, &free_tuple);
		uint32		size = MAXALIGN(tuple->t_len);

		CHECK_FOR_INTERRUPTS();
		if (disk->used + size > BLOCK_BYTES)
			write_block(disk, first);
		if (disk->used == 0)
			first = hash;
		make_room(disk, disk->used + size);
		memcpy(disk->bytes + disk->used, tuple, tuple->t_len);
		disk->used += size;
		if (free_tuple)
			pfree(tuple);
	}
	write_block(disk, first);
	ExecClearTuple(disk->read);
	tuplesort_end(disk->sort);
	disk->sort = NULL;
	disk->at = -1;
	MemoryContextSwitchTo(old);
}

static void
read_block(VxLookupDisk *disk, int64 number)
{
	const DiskBlock *block = &disk->blocks[number];

	if (disk->at == number)
		return;
	disk->at = -1;
	ExecClearTuple(disk->read);
	make_room(disk, block->size);
	if (BufFileSeek(disk->file, block->fileno, block->offset, SEEK_SET) != 0 ||
		BufFileRead(disk->file, disk->bytes, block->size) != block->size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read groups from a temporary file")));
	disk->at = number;
}

/* ---- lookups ---- */

/* The last block that starts before the hash, or the first of all. */
static int64
first_block(const VxLookupDisk *disk, int64 hash)
{
	int64		low = 0;
	int64		high = (int64) disk->nblocks;

	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		if (disk->blocks[middle].first < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return Max(low - 1, 0);
}

/* The row of the block at hand, in the slot; false: it has none. */
static bool
find_in_block(VxLookupDisk *disk, VxHash *table, int64 hash, const Datum *keys)
{
	uint32		size = disk->blocks[disk->at].size;

	for (uint32 at = 0; at < size;)
	{
		MinimalTuple tuple = (MinimalTuple) (disk->bytes + at);
		bool		isnull;

		ExecStoreMinimalTuple(tuple, disk->read, false);
		if (DatumGetInt64(slot_getattr(disk->read, 1, &isnull)) == hash)
		{
			slot_getallattrs(disk->read);
			if (vx_hash_values_equal(table, &disk->read->tts_values[1], keys))
				return true;
		}
		at += MAXALIGN(tuple->t_len);
	}
	return false;
}

bool
vx_lookup_disk_find(VxLookupDisk *disk, VxHash *table, const Datum *keys,
					const Datum **values, const bool **isnull)
{
	int64		hash = (int64) vx_hash_of_keys(table, keys);

	for (int64 number = first_block(disk, hash);
		 number < (int64) disk->nblocks && disk->blocks[number].first <= hash; number++)
	{
		CHECK_FOR_INTERRUPTS();
		read_block(disk, number);
		if (!find_in_block(disk, table, hash, keys))
			continue;
		*values = &disk->read->tts_values[1];
		*isnull = &disk->read->tts_isnull[1];
		return true;
	}
	return false;
}

void
vx_lookup_disk_end(VxLookupDisk *disk)
{
	ExecDropSingleTupleTableSlot(disk->write);
	ExecDropSingleTupleTableSlot(disk->read);
	if (disk->sort)
		tuplesort_end(disk->sort);
	if (disk->file)
		BufFileClose(disk->file);
	MemoryContextDelete(disk->mcxt);
}
