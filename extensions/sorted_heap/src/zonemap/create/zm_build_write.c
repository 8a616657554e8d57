/*-------------------------------------------------------------------------
 *
 * zm_build_write.c
 *	  Writes the tree of a new zonemap from its entries in order.
 *
 * Pages are filled from left to right and never looked at again; the
 * downlinks of a level wait in memory until it is finished.  The caller logs
 * the whole index afterwards.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "zm_build.h"
#include "zm_tree.h"

#define PAGE_SPACE \
	(BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(ZmOpaqueData)))
#define ENTRY_SPACE(itup) (MAXALIGN(IndexTupleSize(itup)) + sizeof(ItemIdData))

/* Entries that fit on a page: a zone before all keys takes the least room. */
#define MAX_ENTRIES (PAGE_SPACE / (sizeof(IndexTupleData) + sizeof(ItemIdData)))

/* A growing array of entries. */
typedef struct EntryList
{
	IndexTuple *entries;
	int64		count;
	int64		room;
} EntryList;

struct ZmWriter
{
	const ZmSpace *space;
	Relation	index;
	MemoryContext context;		/* of downlinks */
	MemoryContext page_context; /* of the entries of the current page */
	Size		limit;			/* bytes to which leaves are filled */
	uint32		level;
	bool		first_page;		/* of the level is not written yet */
	EntryList	downlinks;		/* to the level's pages */

	/* the page that is being filled */
	int			count;
	Size		bytes;
	IndexTuple	entries[MAX_ENTRIES];
};

static void
list_append(EntryList *list, IndexTuple itup)
{
	if (list->count == list->room)
	{
		Size		size;

		list->room = Max(64, list->room * 2);
		size = list->room * sizeof(IndexTuple);
		list->entries = list->entries == NULL ?
			MemoryContextAllocHuge(CurrentMemoryContext, size) :
			repalloc_huge(list->entries, size);
	}
	list->entries[list->count++] = itup;
}

static void
write_page(Relation index, BlockNumber block, Page image)
{
	Buffer		buf;

	if (block == P_NEW)
		buf = st_extend_locked(index, NULL);
	else
	{
		buf = ReadBuffer(index, block);
		LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	}
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buf), image, BLCKSZ);
	MarkBufferDirty(buf);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buf);
}

ZmWriter *
zm_writer_begin(const ZmSpace *space, int fillfactor)
{
	Relation	index = space->index;
	ZmWriter   *writer = palloc0(sizeof(ZmWriter));
	PGAlignedBlock image;

	writer->space = space;
	writer->index = index;
	writer->context = AllocSetContextCreate(CurrentMemoryContext,
											"zonemap downlinks",
											ALLOCSET_DEFAULT_SIZES);
	writer->page_context = AllocSetContextCreate(CurrentMemoryContext,
												 "zonemap page",
												 ALLOCSET_DEFAULT_SIZES);
	writer->limit = PAGE_SPACE * fillfactor / 100;
	writer->first_page = true;

	zm_meta_init(image.data);
	write_page(index, P_NEW, image.data);
	zm_page_init(image.data, 0);
	write_page(index, P_NEW, image.data);
	return writer;
}

/*
 * Writes the current page.  `start` is the first entry of the page that comes
 * after it, NULL if there is none: the only page of a level is the root.
 */
static void
flush_page(ZmWriter *writer, IndexTuple start)
{
	BlockNumber block = RelationGetNumberOfBlocks(writer->index);
	bool		root = start == NULL && writer->first_page;
	OffsetNumber off = FirstOffsetNumber;
	PGAlignedBlock image;
	MemoryContext old;

	zm_page_init(image.data, writer->level);
	if (start != NULL)
	{
		IndexTuple	high = zm_copy_as(start, block + 1);

		ZmPageGetOpaque(image.data)->right = block + 1;
		zm_page_add(image.data, high, off++);
		pfree(high);
	}
	for (int i = 0; i < writer->count; i++)
		zm_page_add(image.data, writer->entries[i], off++);
	write_page(writer->index, root ? ZM_ROOT_BLOCK : P_NEW, image.data);

	old = MemoryContextSwitchTo(writer->context);
	list_append(&writer->downlinks, zm_copy_as(writer->entries[0], block));
	MemoryContextSwitchTo(old);
	writer->first_page = false;
}

/*
 * The zone with which a page begins whose first entry is an exact one: that
 * of the current page's last zone, which goes on.
 */
static IndexTuple
zone_before(ZmWriter *writer, IndexTuple exact)
{
	int			i = writer->count - 1;

	while (!ZmIsZone(writer->entries[i]))
		i--;
	return zm_continue_zone(writer->space, writer->entries[i],
							writer->entries[writer->count - 1], exact);
}

/* Writes the current page and begins the next one, with what did not fit. */
static void
next_page(ZmWriter *writer, IndexTuple itup)
{
	IndexTuple	carried[MAX_ENTRIES];
	int			ncarried = 0;
	IndexTuple	start;
	MemoryContext next;

	carried[ncarried++] = itup;
	for (;;)
	{
		start = carried[ncarried - 1];
		if (!ZmIsZone(start))
			start = zone_before(writer, start);
		if (writer->bytes + ENTRY_SPACE(start) <= PAGE_SPACE)
			break;
		carried[ncarried++] = writer->entries[--writer->count];
		writer->bytes -= ENTRY_SPACE(writer->entries[writer->count]);
	}
	flush_page(writer, start);

	next = AllocSetContextCreate(CurrentMemoryContext, "zonemap page",
								 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(next);
	writer->count = 0;
	writer->bytes = 0;
	if (start != carried[ncarried - 1])
		carried[ncarried++] = start;
	while (ncarried > 0)
	{
		IndexTuple	copy = CopyIndexTuple(carried[--ncarried]);

		writer->entries[writer->count++] = copy;
		writer->bytes += ENTRY_SPACE(copy);
	}
	MemoryContextDelete(writer->page_context);
	writer->page_context = next;
}

/* Adds the next entry, which is copied. */
void
zm_writer_add(ZmWriter *writer, IndexTuple itup)
{
	MemoryContext old = MemoryContextSwitchTo(writer->page_context);
	MemoryContext parent = MemoryContextGetParent(writer->page_context);

	CHECK_FOR_INTERRUPTS();
	if (writer->count > 1 &&
		writer->bytes + ENTRY_SPACE(itup) >
		(writer->level == 0 ? writer->limit : PAGE_SPACE))
	{
		MemoryContextSwitchTo(parent);
		next_page(writer, itup);
	}
	else
	{
		writer->entries[writer->count++] = CopyIndexTuple(itup);
		writer->bytes += ENTRY_SPACE(itup);
	}
	MemoryContextSwitchTo(old);
}

/* Finishes the leaves, and writes all levels above them. */
void
zm_writer_end(ZmWriter *writer)
{
	for (;;)
	{
		EntryList	children;

		flush_page(writer, NULL);
		children = writer->downlinks;
		if (children.count == 1)
			return;
		writer->downlinks = (EntryList) {0};
		writer->level++;
		writer->first_page = true;
		writer->count = 0;
		writer->bytes = 0;
		for (int64 i = 0; i < children.count; i++)
			zm_writer_add(writer, children.entries[i]);
		pfree(children.entries);
	}
}
