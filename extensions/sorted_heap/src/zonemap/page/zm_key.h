/*-------------------------------------------------------------------------
 *
 * zm_key.h
 *	  The key space of a zonemap index: comparison of keys, of positions in
 *	  the tree, and the kernel for integer-like keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_KEY_H
#define ZM_KEY_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/itup.h"
#include "fmgr.h"
#include "utils/rel.h"

#include "zm_page.h"

/* How a key that is one integer in ascending order is read. */
typedef enum ZmFast
{
	ZM_FAST_NONE,
	ZM_FAST_INT16,
	ZM_FAST_INT32,
	ZM_FAST_UINT32,
	ZM_FAST_INT64,
} ZmFast;

typedef struct ZmColumn
{
	FmgrInfo   *cmp;			/* the opclass' comparison, of the relcache */
	Oid			collation;
	bool		descending;
	bool		nulls_first;
	AttrNumber	heap_attno;
} ZmColumn;

typedef struct ZmSpace
{
	Relation	index;
	TupleDesc	desc;
	int			ncolumns;
	bool		toastable;		/* has columns of variable length */
	ZmFast		fast;
	ZmColumn	columns[INDEX_MAX_KEYS];
} ZmSpace;

typedef enum ZmTie
{
	ZM_TIE_BEFORE = -1,			/* before all equal keys */
	ZM_TIE_TID,
	ZM_TIE_AFTER,
} ZmTie;

/* One column of a bound; cmp compares a key of the index with value. */
typedef struct ZmPart
{
	Datum		value;
	bool		null;
	FmgrInfo   *cmp;
} ZmPart;

/*
 * A position in the tree: the key, or its first ncolumns columns, and a place
 * among the entries that are equal so far.  ncolumns = 0: an end of the tree.
 */
typedef struct ZmTarget
{
	int			ncolumns;
	ZmTie		tie;
	ItemPointerData tid;
	bool		fast;			/* number is the key */
	int64		number;
	ZmPart		parts[INDEX_MAX_KEYS];
} ZmTarget;

extern void zm_space_init(ZmSpace *space, Relation index);
extern void zm_target_from_values(const ZmSpace *space, ZmTarget *target,
								  Datum *values, bool *nulls, ZmTie tie,
								  ItemPointer tid);
extern void zm_target_from_entry(const ZmSpace *space, ZmTarget *target,
								 IndexTuple itup);

extern int	zm_compare_values(const ZmSpace *space, const Datum *avalues,
							  const bool *anulls, const Datum *bvalues,
							  const bool *bnulls);
extern int	zm_compare_key(const ZmSpace *space, const ZmTarget *target,
						   const Datum *values, const bool *nulls);
extern int	zm_compare_entry_key(const ZmSpace *space, const ZmTarget *target,
								 IndexTuple itup);
extern int	zm_compare(const ZmSpace *space, const ZmTarget *target,
					   IndexTuple itup);
extern OffsetNumber zm_search(const ZmSpace *space, Page page,
							  const ZmTarget *target);

/* The number of a key that is not null. */
static inline int64
zm_fast_datum(ZmFast fast, Datum value)
{
	switch (fast)
	{
		case ZM_FAST_INT16:
			return DatumGetInt16(value);
		case ZM_FAST_INT32:
			return DatumGetInt32(value);
		case ZM_FAST_UINT32:
			return DatumGetUInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/* The same, where it is stored. */
static inline int64
zm_fast_fetch(ZmFast fast, const void *stored)
{
	switch (fast)
	{
		case ZM_FAST_INT16:
			return *(const int16 *) stored;
		case ZM_FAST_INT32:
			return *(const int32 *) stored;
		case ZM_FAST_UINT32:
			return *(const uint32 *) stored;
		default:
			return *(const int64 *) stored;
	}
}

#endif							/* ZM_KEY_H */
