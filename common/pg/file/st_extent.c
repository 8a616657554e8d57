/*-------------------------------------------------------------------------
 *
 * st_extent.c
 *	  Images of row groups, and the pages that hold them on disk.
 *
 * A page of a row group is written once, as one full image in WAL, and never
 * changed.  It is marked all-visible and all-frozen at once, so that vacuum
 * skips it.  Which pages an image gets is decided in st_extent_write.c.
 *
 * Does not know what the bytes mean, nor who may see them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "st_checksum.h"
#include "st_file.h"
#include "st_wal.h"

/* What an image begins with. */
#define MIN_IMAGE_BYTES	(256 * 1024)

struct StImage
{
	uint64		len;
	uint64		allocated;
	char	   *bytes;
};

/* The checksum begins behind its own field. */
#define CHECKSUM_FROM offsetof(StExtentPageHeader, first_row)

/*
 * An empty image whose bytes live in mcxt.
 */
StImage *
st_image_create(MemoryContext mcxt)
{
	StImage    *img = MemoryContextAllocZero(mcxt, sizeof(StImage));

	img->allocated = MIN_IMAGE_BYTES;
	img->bytes = MemoryContextAlloc(mcxt, img->allocated);
	return img;
}

/* Appends len bytes (copied). */
void
st_image_append(StImage *img, const void *data, Size len)
{
	if (len == 0)
		return;
	if (img->len + len > img->allocated)
	{
		img->allocated = Max(img->allocated * 2, img->len + len);
		img->bytes = repalloc_huge(img->bytes, img->allocated);
	}
	memcpy(img->bytes + img->len, data, len);
	img->len += len;
}

/* Bytes appended so far. */
uint64
st_image_len(const StImage *img)
{
	return img->len;
}

/* The bytes from an offset on, until more are appended. */
const void *
st_image_at(const StImage *img, uint64 off)
{
	Assert(off <= img->len);
	return img->bytes + off;
}

/* Bytes of an image that are on one page. */
uint32
st_image_page_bytes(void)
{
	return ST_EXTENT_PAYLOAD;
}

/* Takes back what was appended behind the first len bytes. */
void
st_image_truncate(StImage *img, uint64 len)
{
	Assert(len <= img->len);
	img->len = len;
}

static uint64
page_checksum(const StExtentPageHeader *header)
{
	return st_checksum64((const char *) header + CHECKSUM_FROM,
						 sizeof(StExtentPageHeader) - CHECKSUM_FROM +
						 header->payload_len,
						 header->first_row + header->pageno);
}

void
st_extent_fill_page(Page page, const StImage *img, const StGroup *group,
					uint32 pageno, uint64 xid)
{
	uint64		off = (uint64) pageno * ST_EXTENT_PAYLOAD;
	StExtentPageHeader *header;

	st_page_init(page);
	header = (StExtentPageHeader *) ((char *) page + SizeOfPageHeaderData);
	header->magic = ST_EXTENT_MAGIC;
	header->layout_version = ST_EXTENT_VERSION;
	header->first_row = group->first_row;
	header->xid = xid;
	header->pageno = pageno;
	header->npages = group->nblocks;
	header->payload_len = Min(img->len - off, ST_EXTENT_PAYLOAD);
	if (header->payload_len > 0)
		memcpy((char *) page + ST_EXTENT_PAYLOAD_OFF, img->bytes + off,
			   header->payload_len);
	header->checksum = page_checksum(header);
	PageSetAllVisible(page);
}

/*
 * No line pointer in use: no index entry, scan or chain leads here.  A page of
 * zeros is one, too: whoever has made the file longer looks at it again.
 */
bool
st_page_is_unused(Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	if (PageIsNew(page))
		return true;
	if (st_extent_header(page) != NULL)
		return false;
	for (OffsetNumber off = FirstOffsetNumber; off <= last; off++)
	{
		if (ItemIdIsUsed(PageGetItemId(page, off)))
			return false;
	}
	return true;
}

void
st_extent_fill_free_page(Page page)
{
	static const StImage no_image = {0};
	static const StGroup no_group = {.first_row = PG_UINT64_MAX};

	st_extent_fill_page(page, &no_image, &no_group, 0,
						U64FromFullTransactionId(GetTopFullTransactionId()));
}

/*
 * Needs a cleanup lock: another backend's pin could mean that it still uses a
 * tuple there.  An insert looks at the free space under the page's lock, and
 * will find none.
 */
Buffer
st_lock_unused_page(Relation rel, BlockNumber block, Buffer *vmbuffer,
					BufferAccessStrategy strategy)
{
	Buffer		buffer;

	visibilitymap_pin(rel, block, vmbuffer);
	buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	if (!ConditionalLockBufferForCleanup(buffer))
	{
		ReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	if (!st_page_is_unused(BufferGetPage(buffer)))
	{
		UnlockReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	return buffer;
}

bool
st_extent_claim_page(Relation rel, BlockNumber block, Buffer *vmbuffer,
					 BufferAccessStrategy strategy)
{
	PGAlignedBlock image;
	Buffer		buffer;

	if (block == st_meta_block(rel))
		return false;
	st_extent_fill_free_page((Page) image.data);
	buffer = st_lock_unused_page(rel, block, vmbuffer, strategy);
	if (!BufferIsValid(buffer))
		return false;
	if (PageIsNew(BufferGetPage(buffer)))
		st_fill_hole(rel, buffer);
	st_wal_write_page(rel, buffer, image.data, RelationNeedsWAL(rel), *vmbuffer);
	UnlockReleaseBuffer(buffer);
	return true;
}

void
st_write_heap_page(Relation rel, Buffer buffer, Buffer vmbuffer)
{
	PGAlignedBlock image;

	PageInit((Page) image.data, BLCKSZ, 0);
	PageSetAllVisible((Page) image.data);
	st_wal_write_page(rel, buffer, image.data, RelationNeedsWAL(rel), vmbuffer);
}

bool
st_extent_yield_page(Relation rel, BlockNumber block, uint64 before, Buffer *vmbuffer,
					 BufferAccessStrategy strategy)
{
	StExtentPageHeader *header;
	Buffer		buffer;
	bool		yields;

	visibilitymap_pin(rel, block, vmbuffer);
	buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	header = st_extent_header(BufferGetPage(buffer));
	yields = header != NULL && header->xid < before;
	if (yields)
		st_write_heap_page(rel, buffer, *vmbuffer);
	UnlockReleaseBuffer(buffer);
	return yields;
}

StExtentPageHeader *
st_extent_header(Page page)
{
	PageHeader	pageheader = (PageHeader) page;
	StExtentPageHeader *header;

	if (PageIsNew(page) ||
		pageheader->pd_lower != SizeOfPageHeaderData ||
		pageheader->pd_upper != SizeOfPageHeaderData)
		return NULL;
	header = (StExtentPageHeader *) ((char *) page + SizeOfPageHeaderData);
	return header->magic == ST_EXTENT_MAGIC ? header : NULL;
}

/*
 * Raises DATA_CORRUPTED unless the page is the one that was written.
 * known_whole: the checksum need not be computed again.
 */
static void
extent_check_page(Relation rel, const StGroup *group, uint32 pageno, Page page,
				  bool known_whole)
{
	const StExtentPageHeader *header = st_extent_header(page);
	const char *problem = NULL;

	if (header == NULL)
		problem = "It is not a page of a row group.";
	else if (header->layout_version > ST_EXTENT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("block %u of relation \"%s\" was written by a newer version",
						st_group_block(group, pageno),
						RelationGetRelationName(rel)),
				 errdetail("Its layout version is %u, this build reads up to %u.",
						   header->layout_version, ST_EXTENT_VERSION)));
	else if (header->payload_len > ST_EXTENT_PAYLOAD ||
			 (!known_whole && header->checksum != page_checksum(header)))
		problem = "Its checksum does not match its contents.";
	else if (header->first_row != group->first_row ||
			 header->pageno != pageno || header->npages != group->nblocks)
		problem = "It belongs to another place of another row group.";

	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("block %u of relation \"%s\" is damaged",
						st_group_block(group, pageno),
						RelationGetRelationName(rel)),
				 errdetail_internal("%s", problem)));
}

/*
 * Copies image bytes [off, off + len) to dst.  A range outside of the image,
 * as a damaged footer may ask for, is DATA_CORRUPTED too.  Every page that is
 * touched is verified.  No lock is held between pages: extents never change
 * while a snapshot may see them.
 */
void
st_read_image(Relation rel, const StGroup *group, uint64 off, Size len,
			  void *dst)
{
	st_read_image_verified(rel, group, off, len, dst, NULL);
}

void
st_read_image_verified(Relation rel, const StGroup *group, uint64 off,
					   Size len, void *dst, uint64 *verified)
{
	char	   *to = dst;

	if (off > group->image_len || len > group->image_len - off)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("row group " UINT64_FORMAT " of relation \"%s\" is damaged",
						group->first_row, RelationGetRelationName(rel)),
				 errdetail("Bytes " UINT64_FORMAT " to " UINT64_FORMAT " lie outside of its image of " UINT64_FORMAT " bytes, which lies in blocks %s.",
						   off, off + (uint64) len, group->image_len,
						   st_group_blocks(group))));

	while (len > 0)
	{
		uint32		pageno = off / ST_EXTENT_PAYLOAD;
		Size		skip = off % ST_EXTENT_PAYLOAD;
		Size		n = Min(len, ST_EXTENT_PAYLOAD - skip);
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBuffer(rel, st_group_block(group, pageno));
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		page = BufferGetPage(buffer);
		extent_check_page(rel, group, pageno, page,
						  verified != NULL &&
						  (verified[pageno >> 6] & (UINT64CONST(1) << (pageno & 63))) != 0);
		if (verified != NULL)
			verified[pageno >> 6] |= UINT64CONST(1) << (pageno & 63);
		memcpy(to, (char *) page + ST_EXTENT_PAYLOAD_OFF + skip, n);
		UnlockReleaseBuffer(buffer);

		to += n;
		off += n;
		len -= n;
	}
}
