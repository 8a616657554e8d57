/*-------------------------------------------------------------------------
 *
 * zm_scan_int.h
 *	  State of a scan of a zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_SCAN_INT_H
#define ZM_SCAN_INT_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/sdir.h"
#include "access/skey.h"

#include "zm_heap.h"
#include "zm_key.h"
#include "zm_scan.h"
#include "zm_tree.h"

/* ---- zm_quals.c: scan keys as ranges of positions and filters ---- */

/*
 * From lower, inclusive if its tie is ZM_TIE_BEFORE, to upper, inclusive if its
 * tie is ZM_TIE_AFTER.
 */
typedef struct ZmRange
{
	ZmTarget	lower;
	ZmTarget	upper;
} ZmRange;

typedef struct ZmFilter
{
	ScanKey		key;
	Datum	   *elements;		/* of an array, not null ones */
	int			nelements;
} ZmFilter;

typedef struct ZmQuals
{
	const ZmSpace *space;
	MemoryContext parent;
	MemoryContext context;		/* of one execution's arrays, or NULL */
	bool		impossible;		/* no row qualifies */
	int			nfilters;
	ZmFilter   *filters;		/* what the range does not imply */
	ZmRange		range;			/* the current one */

	/* One range per element of an array on column array_column, or one. */
	int			nranges;
	int			current;
	int			array_column;	/* -1: no array */
	Oid			array_type;
	Datum	   *elements;		/* in the index' order, distinct */

	/* Comparisons with other types, kept from one execution to the next */
	int			nkeys;
	Oid		   *cross_types;
	FmgrInfo   *cross_cmps;
} ZmQuals;

extern void zm_quals_init(ZmQuals *quals, const ZmSpace *space, int nkeys);
extern void zm_quals_end(ZmQuals *quals);
extern void zm_quals_prepare(ZmQuals *quals, ScanKey keys, int nkeys);
extern void zm_quals_range(ZmQuals *quals, int number);
extern bool zm_range_contains(const ZmSpace *space, const ZmRange *range,
							  const Datum *values, const bool *nulls);
extern bool zm_filter(const ZmQuals *quals, const Datum *values,
					  const bool *nulls);

/* ---- the state ---- */

/* Rows of a heap page, and exact entries of a leaf (16 bytes or more each) */
#define ZM_MAX_ITEMS \
	(MaxHeapTuplesPerPage + \
	 BLCKSZ / (sizeof(IndexTupleData) + sizeof(ItemIdData)))

/* One row of the current group, in key order. */
typedef struct ZmItem
{
	ItemPointerData tid;		/* of the HOT chain's first tuple */
	bool		recheck;
	OffsetNumber visible;		/* of the tuple that whole-page scans return;
								 * invalid: an exact entry */
	int32		key;			/* in item_values, unless the kernel reads keys */
	int64		number;			/* the key otherwise */
} ZmItem;

typedef enum ZmPlace
{
	ZM_PLACE_NONE,				/* not begun */
	ZM_PLACE_GROUP,
	ZM_PLACE_BEFORE,			/* before the first row */
	ZM_PLACE_AFTER,				/* after the last row */
} ZmPlace;

/* Room for a copy of a few zones of a leaf, in the shape of a page. */
#define ZM_PART_SIZE 1024

/*
 * Room for a copy of a whole leaf, and two entries that are not of it.  One has
 * its line pointer beside those of a leaf that may be full.
 */
#define ZM_COPY_PAGE (BLCKSZ + MAXALIGN(sizeof(ItemIdData)))
#define ZM_COPY_SIZE (ZM_COPY_PAGE + 2 * MAXALIGN(ZM_MAX_ENTRY))

StaticAssertDecl(ZM_COPY_SIZE < 1 << 15, "a line pointer tells a place in it");

/* Walks groups (a zone and the exact entries up to the next) of ranges. */
typedef struct ZmCursor
{
	ZmSpace		space;
	ZmQuals		quals;
	ZmPlace		place;
	OffsetNumber zone;			/* of the current group */
	BlockNumber leaf_block;
	Page		leaf;			/* copy: whole or part */
	MemoryContext context;
	char	   *whole;			/* NULL before the first whole copy */
	ZmShared   *shared;			/* NULL: not a parallel scan */
	uint32		generation;		/* of the shared copy that the leaf is */
	bool		fresh;			/* the leaf was read after it */
	union
	{
		char		data[ZM_PART_SIZE];
		double		force_align_d;
		int64		force_align_i64;
	}			part;
} ZmCursor;

typedef struct ZmScan
{
	ZmCursor	cursor;
	ZmHeapKey	heap_key;
	bool		have_heap_key;
	bool		begun;
	bool		rows;			/* zm_get_row(): visibility is checked here */
	bool		visible_only;	/* here too: an index-only scan */
	BlockNumber skip_below;		/* groups of a zone alone whose page is before
								 * this block are passed over */
	Buffer		page_buf;		/* then: the zone's heap page */
	HeapTupleData tuple;		/* then: the row returned last */
	int64		groups;			/* loaded */
	int64		pages;			/* heap pages read */
	int64		exact;			/* exact entries met */
	MemoryContext group_context;	/* of one group's comparisons; NULL if keys
									 * are integers */
	int			nitems;
	int			item;			/* the one returned last */
	int			nkeys;			/* keys in item_values */
	int			items_room;		/* grows, up to ZM_MAX_ITEMS */
	ZmItem	   *items;
	Datum	   *item_values;	/* ncolumns per key; NULL before the first */
	bool	   *item_nulls;
	char	   *heap_page;		/* copy, where keys are not integers */
} ZmScan;

/* zm_parallel.c */
extern bool zm_parallel_step(ZmCursor *cursor, bool forward);

/* zm_cursor.c */
extern char *zm_cursor_whole(ZmCursor *cursor);
extern bool zm_cursor_next(ZmCursor *cursor);
extern bool zm_cursor_previous(ZmCursor *cursor);
extern OffsetNumber zm_cursor_group_end(ZmCursor *cursor);
extern BlockNumber zm_cursor_block(ZmCursor *cursor);
extern bool zm_cursor_exact(ZmCursor *cursor, OffsetNumber *from,
							OffsetNumber *to);
extern bool zm_cursor_repeats(ZmCursor *cursor, IndexTuple exact);

/* zm_scan.c */
extern bool zm_next_item(IndexScanDesc scan, ScanDirection direction);

/* zm_group.c */
extern void zm_group_load(IndexScanDesc scan, ZmScan *state);
extern bool zm_same_key(ZmScan *state, int a, int b);

/* zm_rows.c */
extern bool zm_exact_visible(IndexScanDesc scan, const ZmItem *item);
extern bool zm_is_current(IndexScanDesc scan, const ZmItem *item,
						  bool *doubt);

/* ---- zm_bounds.c: which keys of a heap page qualify ---- */

typedef struct ZmBounds
{
	const ZmCursor *cursor;

	/* as numbers, if keys are integers and nothing but a range is asked for */
	bool		fast;
	bool		empty;
	int64		low;			/* inclusive; above `high`: none qualifies */
	int64		high;

	/* the zone's bounds; NULL: none */
	IndexTuple	zone;
	IndexTuple	end;
	bool		have_zone;		/* the targets are made */
	ZmTarget	zone_lower;
	ZmTarget	zone_upper;
} ZmBounds;

extern void zm_bounds_init(ZmBounds *bounds, const ZmCursor *cursor,
						   IndexTuple zone, IndexTuple end);
extern bool zm_key_qualifies(ZmBounds *bounds, const Datum *values,
							 const bool *nulls);

#endif							/* ZM_SCAN_INT_H */
