/*-------------------------------------------------------------------------
 *
 * st_meta.c
 *	  The metapage: block 0 of every relation of the hybrid store.
 *
 * Owns the row number counter and what identifies the relation's file.  To
 * heap the page is an empty page without free space, so heap leaves it alone.
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

#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/memutils.h"

#include "st_checksum.h"
#include "st_file.h"
#include "st_wal.h"

#define ST_META_MAGIC	0x544d5453	/* "STMT" in the file */
#define ST_META_VERSION	1

/* StMetaPage.flags */
#define ST_META_HAS_ROW_GROUPS	0x0001

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

static void
meta_init(Page page, const char *am_name)
{
	StMetaPage *meta = meta_of_page(page);

	st_page_init(page);
	meta->magic = ST_META_MAGIC;
	meta->layout_version = ST_META_VERSION;
	strncpy(meta->am_name, am_name, sizeof(meta->am_name) - 1);
	if (!pg_strong_random(&meta->incarnation, sizeof(meta->incarnation)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random number")));
	meta->checksum = meta_checksum(meta);
}

/* Fills a new, exclusively locked buffer and releases it. */
static void
meta_write(Buffer buffer, const char *am_name, bool wal)
{
	PGAlignedBlock image;

	if (BufferGetBlockNumber(buffer) != ST_META_BLOCK)
		elog(ERROR, "metapage would be at block %u",
			 BufferGetBlockNumber(buffer));
	meta_init(image.data, am_name);
	st_wal_write_page(NULL, buffer, image.data, wal, InvalidBuffer);
	UnlockReleaseBuffer(buffer);
}

void
st_meta_create(Relation rel)
{
	meta_write(st_extend_locked(rel, NULL),
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

	meta_write(st_extend_file_locked(*locator, persistence), am_name,
			   persistence == RELPERSISTENCE_PERMANENT && XLogIsNeeded());
	if (persistence == RELPERSISTENCE_UNLOGGED)
	{
		smgr = smgropen(*locator, INVALID_PROC_NUMBER);
		meta_write_smgr(smgr, INIT_FORKNUM, am_name, true);
	}
}

/* Checks a metapage under the caller's buffer lock. */
static StMetaPage *
meta_check(Relation rel, Page page)
{
	StMetaPage *meta = meta_of_page(page);
	const StFormat *format = st_relation_format(rel);

	if (PageIsNew(page) || meta->magic != ST_META_MAGIC ||
		((PageHeader) page)->pd_upper != SizeOfPageHeaderData)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("relation \"%s\" has no valid metapage",
						RelationGetRelationName(rel)),
				 errdetail("Block %u is not one that access method \"%s\" wrote.",
						   ST_META_BLOCK, format->am_name)));
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
						   ST_META_BLOCK)));
	if (strncmp(meta->am_name, format->am_name, sizeof(meta->am_name)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("relation \"%s\" belongs to another access method",
						RelationGetRelationName(rel)),
				 errdetail("Its metapage is not that of access method \"%s\".",
						   format->am_name)));
	return meta;
}

void
st_meta_read(Relation rel, StMeta *out)
{
	Buffer		buffer;
	StMetaPage *meta;

	memset(out, 0, sizeof(*out));
	if (RelationGetNumberOfBlocks(rel) == 0)
		return;

	buffer = ReadBuffer(rel, ST_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	meta = meta_check(rel, BufferGetPage(buffer));
	out->next_row = meta->next_row;
	out->incarnation = meta->incarnation;
	out->has_row_groups = (meta->flags & ST_META_HAS_ROW_GROUPS) != 0;
	UnlockReleaseBuffer(buffer);
}

/* In rd_amcache, of a file that has row groups. */
typedef struct MetaKnown
{
	RelFileLocator locator;
	uint64		incarnation;
} MetaKnown;

bool
st_meta_has_row_groups(Relation rel, uint64 *incarnation)
{
	MetaKnown  *known = rel->rd_amcache;
	StMeta		meta;

	if (known == NULL ||
		!RelFileLocatorEquals(known->locator, st_relation_locator(rel)))
	{
		st_meta_read(rel, &meta);
		if (!meta.has_row_groups)
			return false;
		if (known == NULL)
			known = MemoryContextAlloc(CacheMemoryContext, sizeof(*known));
		known->locator = st_relation_locator(rel);
		known->incarnation = meta.incarnation;
		rel->rd_amcache = known;
	}
	if (incarnation != NULL)
		*incarnation = known->incarnation;
	return true;
}

void
st_meta_forget(Relation rel)
{
	if (rel->rd_amcache != NULL)
		pfree(rel->rd_amcache);
	rel->rd_amcache = NULL;
}

/* A change of the metapage: begin, write into the result, end. */
typedef struct MetaChange
{
	Buffer		buffer;
	StMetaPage	meta;
} MetaChange;

static StMetaPage *
meta_change_begin(Relation rel, MetaChange *change)
{
	change->buffer = ReadBuffer(rel, ST_META_BLOCK);
	LockBuffer(change->buffer, BUFFER_LOCK_EXCLUSIVE);
	change->meta = *meta_check(rel, BufferGetPage(change->buffer));
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
