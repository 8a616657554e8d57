/*-------------------------------------------------------------------------
 *
 * st_meta.c
 *	  The metapage of every relation of the hybrid store, and where it is.
 *
 * Owns the row number counter and what identifies the relation's file.  To
 * heap the page is an empty page without free space, so heap leaves it alone.
 *
 * A file that was made for us has it at block 0.  A heap table that was adopted
 * has rows there.  Then it is the block that was the end of the file, and a
 * visibility tuple names it (st_meta_place.c, in a room below, which tells us
 * by a function that it registers).  Block 0 is always asked first: rewrites
 * and truncations make a file with the metapage there, and VACUUM moves it
 * there once compaction has emptied the block (st_meta_move_home()), or to
 * another block if it cuts the file off before that (st_truncate.c).  Whoever
 * remembers the old block finds no metapage in it, and asks again.
 *
 *	 +----------------+------------+-----------------------------------+
 *	 | PageHeaderData | StMetaPage | zeros                             |
 *	 +----------------+------------+-----------------------------------+
 *	 0                24           88                               8192
 *
 * Changes are made under the buffer's exclusive lock and logged with
 * st_wal_overwrite(); they are not undone by an abort.  Nothing here waits for a
 * heavyweight lock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "st_checksum.h"
#include "st_error.h"
#include "st_file.h"
#include "st_wal.h"

#define ST_META_MAGIC	0x544d5453	/* "STMT" in the file */
#define ST_META_VERSION	1

/* StMetaPage.flags */
#define ST_META_HAS_ROW_GROUPS	0x0001
#define ST_META_LEAVING			0x0002

typedef struct StMetaPage
{
	uint32		magic;
	uint16		layout_version;
	uint16		flags;
	char		am_name[24];	/* zero-padded */
	uint64		incarnation;
	uint64		next_row;
	uint64		unused;
	uint64		checksum;		/* XXH3 of all before */
} StMetaPage;

StaticAssertDecl(sizeof(StMetaPage) == 64, "on-disk size");

/* ---- which tables are ours, and in which format their row groups are ---- */

bool
st_relation_needs_toast_table(Relation rel)
{
	return true;
}

const StFormat *
st_relation_format(Relation rel)
{
	if (rel->rd_tableam == NULL ||
		rel->rd_tableam->relation_needs_toast_table != st_relation_needs_toast_table)
		return NULL;
	return ((const StTableAm *) rel->rd_tableam)->format;
}

const StFormat *
st_table_format(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	const StFormat *format = st_relation_format(rel);

	table_close(rel, NoLock);
	return format;
}

void
st_error_not_ours(Relation rel, const char *am_name)
{
	bool		parted = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool		heap = rel->rd_rel->relam == HEAP_TABLE_AM_OID &&
		RelationGetRelid(rel) >= FirstNormalObjectId;

	char	   *name = st_qualified_name(RelationGetRelid(rel));

	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a %s table",
					RelationGetRelationName(rel), am_name),
			 parted ? errhint("Ask for its partitions one by one.") : 0,
			 heap ? errhint("SELECT %s.adopt(%s) makes it one.", am_name,
							quote_literal_cstr(name)) : 0));
}

/* ---- the metapage ---- */

static inline StMetaPage *
meta_of_page(Page page)
{
	return (StMetaPage *) ((char *) page + SizeOfPageHeaderData);
}

static uint64
meta_checksum(const StMetaPage *meta)
{
	return st_checksum64(meta, offsetof(StMetaPage, checksum), ST_META_MAGIC);
}

/*
 * Makes an empty page that heap leaves alone: no line pointers, no free
 * space, the body behind the header is ours.
 */
void
st_page_init(Page page)
{
	PageHeader	header = (PageHeader) page;

	memset(page, 0, BLCKSZ);
	header->pd_lower = SizeOfPageHeaderData;
	header->pd_upper = SizeOfPageHeaderData;
	header->pd_special = SizeOfPageHeaderData;
	PageSetPageSizeAndVersion(page, BLCKSZ, PG_PAGE_LAYOUT_VERSION);
}

/* Does it look like a metapage?  No heap page does: its pd_upper is higher. */
static bool
is_meta(Page page)
{
	return !PageIsNew(page) && meta_of_page(page)->magic == ST_META_MAGIC &&
		((PageHeader) page)->pd_upper == SizeOfPageHeaderData;
}

static void
meta_set(StMetaPage *meta, const char *am_name)
{
	memset(meta, 0, sizeof(*meta));
	meta->magic = ST_META_MAGIC;
	meta->layout_version = ST_META_VERSION;
	strncpy(meta->am_name, am_name, sizeof(meta->am_name) - 1);
	if (!pg_strong_random(&meta->incarnation, sizeof(meta->incarnation)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random number")));
	meta->checksum = meta_checksum(meta);
}

static void
meta_init(Page page, const char *am_name)
{
	st_page_init(page);
	meta_set(meta_of_page(page), am_name);
}

/* Fills a new, exclusively locked buffer and releases it. */
static void
meta_write(Buffer buffer, const char *am_name, bool wal)
{
	PGAlignedBlock image;

	meta_init(image.data, am_name);
	st_wal_write_page(NULL, buffer, image.data, wal, InvalidBuffer);
	UnlockReleaseBuffer(buffer);
}

/* The first page of an empty file. */
static Buffer
first_page(Buffer buffer)
{
	if (BufferGetBlockNumber(buffer) != ST_META_BLOCK)
		elog(ERROR, "metapage would be at block %u",
			 BufferGetBlockNumber(buffer));
	return buffer;
}

void
st_meta_create(Relation rel)
{
	meta_write(first_page(st_extend_locked(rel, NULL)),
			   st_relation_format(rel)->am_name, RelationNeedsWAL(rel));
}

/* Writes the metapage of a fork past the buffer pool. */
static void
meta_write_smgr(SMgrRelation smgr, ForkNumber fork, const char *am_name,
				bool wal)
{
	PGIOAlignedBlock image;

	meta_init(image.data, am_name);
	st_wal_write_first_page(smgr, fork, image.data, wal);
}

/*
 * Gives a new, empty file its metapage.  With wal_level = minimal a file made
 * in this transaction is not logged but synced at commit, as heap's is.
 */
void
st_meta_create_file(const RelFileLocator *locator, char persistence,
					const char *am_name)
{
	SMgrRelation smgr;

	if (persistence == RELPERSISTENCE_TEMP)
	{
		smgr = smgropen(*locator, ProcNumberForTempRelations());
		meta_write_smgr(smgr, MAIN_FORKNUM, am_name, false);
		return;
	}

	meta_write(first_page(st_extend_file_locked(*locator, persistence)), am_name,
			   persistence == RELPERSISTENCE_PERMANENT && XLogIsNeeded());
	if (persistence == RELPERSISTENCE_UNLOGGED)
	{
		smgr = smgropen(*locator, INVALID_PROC_NUMBER);
		meta_write_smgr(smgr, INIT_FORKNUM, am_name, true);
	}
}

/* Checks a metapage under the caller's buffer lock. */
static StMetaPage *
meta_check(Relation rel, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	StMetaPage *meta = meta_of_page(page);
	const StFormat *format = st_relation_format(rel);

	if (!is_meta(page))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("relation \"%s\" has no valid metapage",
						RelationGetRelationName(rel)),
				 errdetail("Block %u is not one that access method \"%s\" wrote.",
						   BufferGetBlockNumber(buffer), format->am_name)));
	if (meta->layout_version > ST_META_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("relation \"%s\" was written by a newer version of %s",
						RelationGetRelationName(rel), format->am_name),
				 errdetail("Its layout version is %u, this build reads up to %u.",
						   meta->layout_version, ST_META_VERSION),
				 errhint("Install the newer version of %s.", format->am_name)));
	if (meta->checksum != meta_checksum(meta))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("metapage of relation \"%s\" is damaged",
						RelationGetRelationName(rel)),
				 errdetail("The checksum of block %u does not match its contents.",
						   BufferGetBlockNumber(buffer))));
	if (strncmp(meta->am_name, format->am_name, sizeof(meta->am_name)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("relation \"%s\" belongs to another access method",
						RelationGetRelationName(rel)),
				 errdetail("Its metapage is not that of access method \"%s\".",
						   format->am_name)));
	return meta;
}

/* ---- where it is ---- */

/* In rd_amcache, of a file whose metapage was found. */
typedef struct MetaKnown
{
	RelFileLocator locator;
	BlockNumber block;			/* where it was: it may have moved to block 0 */
	bool		has_row_groups; /* once true it stays so */
	uint64		incarnation;	/* then */
} MetaKnown;

static StMetaPlace meta_place = NULL;

void
st_meta_place_init(StMetaPlace place)
{
	meta_place = place;
}

static MetaKnown *
known_of(Relation rel)
{
	MetaKnown  *known = rel->rd_amcache;

	if (known == NULL ||
		!RelFileLocatorEquals(known->locator, st_relation_locator(rel)))
		return NULL;
	return known;
}

static void
remember(Relation rel, BlockNumber block)
{
	MetaKnown  *known = rel->rd_amcache;

	if (known == NULL)
		rel->rd_amcache = known = MemoryContextAlloc(CacheMemoryContext,
													 sizeof(*known));
	memset(known, 0, sizeof(*known));
	known->locator = st_relation_locator(rel);
	known->block = block;
}

void
st_meta_forget(Relation rel)
{
	if (rel->rd_amcache != NULL)
		pfree(rel->rd_amcache);
	rel->rd_amcache = NULL;
}

/* The block, locked, if it is a metapage; else an invalid buffer. */
static Buffer
lock_if_meta(Relation rel, BlockNumber block, int lockmode)
{
	Buffer		buffer;

	/* VACUUM may have cut off where the metapage was before it moved */
	if (block != ST_META_BLOCK && block >= RelationGetNumberOfBlocks(rel))
		return InvalidBuffer;
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, lockmode);
	if (is_meta(BufferGetPage(buffer)))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Finds the metapage and locks its buffer.  If it moves to block 0 between two
 * looks, it is there when that is asked again.
 */
static Buffer
meta_lock(Relation rel, int lockmode)
{
	MetaKnown  *known = known_of(rel);
	BlockNumber block = known != NULL ? known->block : ST_META_BLOCK;
	Buffer		buffer = lock_if_meta(rel, block, lockmode);

	if (!BufferIsValid(buffer) && block != ST_META_BLOCK)
	{
		st_meta_forget(rel);
		block = ST_META_BLOCK;
		buffer = lock_if_meta(rel, block, lockmode);
	}
	if (!BufferIsValid(buffer) && meta_place != NULL)
	{
		block = meta_place(rel);
		if (block != InvalidBlockNumber)
			buffer = lock_if_meta(rel, block, lockmode);
	}
	if (!BufferIsValid(buffer))
	{
		/* that it is none is an error, unless it has moved here just now */
		block = ST_META_BLOCK;
		buffer = ReadBuffer(rel, block);
		LockBuffer(buffer, lockmode);
	}
	if (is_meta(BufferGetPage(buffer)) && known_of(rel) == NULL)
		remember(rel, block);
	return buffer;
}

BlockNumber
st_meta_block(Relation rel)
{
	if (known_of(rel) == NULL)
	{
		StMeta		meta;

		st_meta_read(rel, &meta);
		if (known_of(rel) == NULL)	/* of zero blocks */
			return ST_META_BLOCK;
	}
	return known_of(rel)->block;
}

BlockNumber
st_delta_start(Relation rel)
{
	return st_meta_block(rel) == ST_META_BLOCK ? ST_META_BLOCK + 1 : 0;
}

/* ---- reading ---- */

void
st_meta_read(Relation rel, StMeta *out)
{
	Buffer		buffer;
	StMetaPage *meta;

	memset(out, 0, sizeof(*out));
	if (RelationGetNumberOfBlocks(rel) == 0)
		return;

	buffer = meta_lock(rel, BUFFER_LOCK_SHARE);
	meta = meta_check(rel, buffer);
	out->next_row = meta->next_row;
	out->incarnation = meta->incarnation;
	out->has_row_groups = (meta->flags & ST_META_HAS_ROW_GROUPS) != 0;
	out->leaving = (meta->flags & ST_META_LEAVING) != 0;
	UnlockReleaseBuffer(buffer);
}

bool
st_meta_has_row_groups(Relation rel, uint64 *incarnation)
{
	MetaKnown  *known = known_of(rel);
	StMeta		meta;

	if (known == NULL || !known->has_row_groups)
	{
		st_meta_read(rel, &meta);
		if (!meta.has_row_groups)
			return false;
		known = known_of(rel);
		if (known == NULL)
			elog(ERROR, "metapage of relation \"%s\" was not remembered",
				 RelationGetRelationName(rel));
		known->has_row_groups = true;
		known->incarnation = meta.incarnation;
	}
	if (incarnation != NULL)
		*incarnation = known->incarnation;
	return true;
}

/* ---- changing ---- */

/* A change of the metapage: begin, write into the result, end. */
typedef struct MetaChange
{
	Buffer		buffer;
	StMetaPage	meta;
} MetaChange;

static StMetaPage *
meta_change_begin(Relation rel, MetaChange *change)
{
	change->buffer = meta_lock(rel, BUFFER_LOCK_EXCLUSIVE);
	change->meta = *meta_check(rel, change->buffer);
	return &change->meta;
}

static void
meta_change_end(Relation rel, MetaChange *change)
{
	change->meta.checksum = meta_checksum(&change->meta);
	st_wal_overwrite(rel, change->buffer, SizeOfPageHeaderData, &change->meta,
					 sizeof(change->meta), false);
	UnlockReleaseBuffer(change->buffer);
}

static void
meta_change_cancel(MetaChange *change)
{
	UnlockReleaseBuffer(change->buffer);
}

static uint64
round_up_row(uint64 row)
{
	return (row + ST_ROWS_PER_VBLOCK - 1) / ST_ROWS_PER_VBLOCK *
		ST_ROWS_PER_VBLOCK;
}

uint64
st_reserve_rows(Relation rel, uint32 nrows)
{
	MetaChange	change;
	StMetaPage *meta = meta_change_begin(rel, &change);
	uint64		first = round_up_row(meta->next_row);

	/* The lower 32 bits are the chunk_seq of visibility tuples. */
	if (first >> 32 != (first + nrows - 1) >> 32)
		first = round_up_row(((first >> 32) + 1) << 32);
	if (first + nrows > ST_MAX_ROW_NUMBER)
	{
		meta_change_cancel(&change);
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("relation \"%s\" has no row numbers left",
						RelationGetRelationName(rel)),
				 errhint("VACUUM FULL numbers the rows anew.")));
	}

	meta->next_row = first + nrows;
	meta->flags |= ST_META_HAS_ROW_GROUPS;
	meta_change_end(rel, &change);
	return first;
}

void
st_release_rows(Relation rel, uint64 used_end, uint64 reserved_end)
{
	MetaChange	change;
	StMetaPage *meta;

	if (used_end == reserved_end)
		return;
	meta = meta_change_begin(rel, &change);
	if (meta->next_row != reserved_end)
	{
		meta_change_cancel(&change);
		return;
	}
	meta->next_row = used_end;
	meta_change_end(rel, &change);
}

/* ---- from heap and back ---- */

bool
st_meta_leaving(Relation rel)
{
	StMeta		meta;

	st_meta_read(rel, &meta);
	return meta.leaving;
}

void
st_meta_set_leaving(Relation rel, bool leaving)
{
	MetaChange	change;
	StMetaPage *meta;

	if (RelationGetNumberOfBlocks(rel) == 0 || st_meta_leaving(rel) == leaving)
		return;
	meta = meta_change_begin(rel, &change);
	meta->flags = leaving ? meta->flags | ST_META_LEAVING :
		meta->flags & ~ST_META_LEAVING;
	meta_change_end(rel, &change);
}

void
st_meta_erase(Relation rel, BlockNumber block)
{
	Buffer		vmbuffer = InvalidBuffer;
	Buffer		buffer;

	if (block >= RelationGetNumberOfBlocks(rel))
		return;
	visibilitymap_pin(rel, block, &vmbuffer);
	buffer = ReadBuffer(rel, block);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (is_meta(BufferGetPage(buffer)))
		st_write_heap_page(rel, buffer, vmbuffer);
	UnlockReleaseBuffer(buffer);
	ReleaseBuffer(vmbuffer);
}

/* Tables that a transaction has adopted; in its memory, so valid while it runs. */
static FullTransactionId adopter;
static List *adopted;

static void
note_adopted(Relation rel)
{
	FullTransactionId top = GetTopFullTransactionId();
	MemoryContext oldcxt = MemoryContextSwitchTo(TopTransactionContext);

	if (!FullTransactionIdEquals(adopter, top))
		adopted = NIL;
	adopter = top;
	adopted = list_append_unique_oid(adopted, RelationGetRelid(rel));
	MemoryContextSwitchTo(oldcxt);
}

bool
st_meta_adopted_now(Relation rel)
{
	return FullTransactionIdEquals(adopter, GetTopFullTransactionIdIfAny()) &&
		list_member_oid(adopted, RelationGetRelid(rel));
}

/* Makes a page that is a metapage already a fresh one. */
static void
meta_renew(Relation rel, Buffer buffer)
{
	StMetaPage	meta;

	meta_set(&meta, st_relation_format(rel)->am_name);
	st_wal_overwrite(rel, buffer, SizeOfPageHeaderData, &meta, sizeof(meta),
					 false);
	UnlockReleaseBuffer(buffer);
}

/*
 * A metapage that was made before, by an adoption that was rolled back, is
 * taken again if it is the first page or the last one.
 */
BlockNumber
st_meta_adopt(Relation rel, uint64 first_row)
{
	MetaChange	change;
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BlockNumber block = ST_META_BLOCK;
	Buffer		buffer = InvalidBuffer;

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, false));
	if (nblocks > 0)
		buffer = lock_if_meta(rel, block, BUFFER_LOCK_EXCLUSIVE);
	if (nblocks > 1 && !BufferIsValid(buffer))
	{
		block = nblocks - 1;
		buffer = lock_if_meta(rel, block, BUFFER_LOCK_EXCLUSIVE);
	}
	if (BufferIsValid(buffer))
		meta_renew(rel, buffer);
	else
	{
		LockRelationForExtension(rel, ExclusiveLock);
		buffer = st_extend_locked(rel, NULL);
		block = BufferGetBlockNumber(buffer);
		meta_write(buffer, st_relation_format(rel)->am_name,
				   RelationNeedsWAL(rel));
		UnlockRelationForExtension(rel, ExclusiveLock);
	}
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		smgrnblocks(RelationGetSmgr(rel), INIT_FORKNUM) == 0)
		meta_write_smgr(RelationGetSmgr(rel), INIT_FORKNUM,
						st_relation_format(rel)->am_name, true);
	if (first_row > 0)
	{
		change.buffer = ReadBuffer(rel, block);
		LockBuffer(change.buffer, BUFFER_LOCK_EXCLUSIVE);
		change.meta = *meta_of_page(BufferGetPage(change.buffer));
		change.meta.next_row = first_row;
		meta_change_end(rel, &change);
	}
	note_adopted(rel);
	st_meta_forget(rel);
	return block;
}

/*
 * Block 0 is written first.  After a crash between the two, there are two
 * metapages, of which the first counts; nobody has changed the other one.
 * The old page is locked all the time, so that nobody changes it after it was
 * copied.
 */
BlockNumber
st_meta_move_home(Relation rel, BufferAccessStrategy strategy)
{
	BlockNumber old = st_meta_block(rel);
	PGAlignedBlock image;
	PGAlignedBlock free_page;
	Buffer		home_map = InvalidBuffer;
	Buffer		old_map = InvalidBuffer;
	Buffer		home;

	if (old == ST_META_BLOCK)
		return InvalidBlockNumber;
	st_extent_fill_free_page((Page) free_page.data);
	visibilitymap_pin(rel, old, &old_map);
	home = st_lock_unused_page(rel, ST_META_BLOCK, &home_map, strategy);
	if (BufferIsValid(home))
	{
		Buffer		buffer = meta_lock(rel, BUFFER_LOCK_EXCLUSIVE);

		(void) meta_check(rel, buffer);
		memcpy(image.data, BufferGetPage(buffer), BLCKSZ);
		PageSetAllVisible((Page) image.data);
		st_wal_write_page(rel, home, image.data, RelationNeedsWAL(rel), home_map);
		st_wal_write_page(rel, buffer, free_page.data, RelationNeedsWAL(rel), old_map);
		UnlockReleaseBuffer(buffer);
		UnlockReleaseBuffer(home);
		st_meta_forget(rel);
	}
	ReleaseBuffer(old_map);
	ReleaseBuffer(home_map);
	return BufferIsValid(home) ? old : InvalidBlockNumber;
}

/*
 * The copy is written first, then the place is named, then the old page is given to
 * heap.  A crash before the second leaves a copy that nobody finds, a crash after it
 * a metapage that nobody finds.  An error must leave no two that are found: all that
 * can fail comes before the first, but for what `name` reads.
 */
bool
st_meta_move(Relation rel, BlockNumber to, StMetaName name, void *arg)
{
	PGAlignedBlock image;
	Buffer		to_map = InvalidBuffer;
	Buffer		old_map = InvalidBuffer;
	Buffer		target;
	Buffer		old;

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, false));
	Assert(to != ST_META_BLOCK && to != st_meta_block(rel));
	visibilitymap_pin(rel, st_meta_block(rel), &old_map);
	old = meta_lock(rel, BUFFER_LOCK_SHARE);
	(void) meta_check(rel, old);
	memcpy(image.data, BufferGetPage(old), BLCKSZ);
	PageSetAllVisible((Page) image.data);
	LockBuffer(old, BUFFER_LOCK_UNLOCK);

	target = st_lock_unused_page(rel, to, &to_map, NULL);
	if (BufferIsValid(target))
	{
		if (PageIsNew(BufferGetPage(target)))
			st_fill_hole(rel, target);
		HOLD_INTERRUPTS();
		st_wal_write_page(rel, target, image.data, RelationNeedsWAL(rel), to_map);
		UnlockReleaseBuffer(target);
		name(arg, to);
		LockBuffer(old, BUFFER_LOCK_EXCLUSIVE);
		st_write_heap_page(rel, old, old_map);
		LockBuffer(old, BUFFER_LOCK_UNLOCK);
		st_meta_forget(rel);
		RESUME_INTERRUPTS();
	}
	ReleaseBuffer(old);
	ReleaseBuffer(to_map);
	ReleaseBuffer(old_map);
	return BufferIsValid(target);
}
