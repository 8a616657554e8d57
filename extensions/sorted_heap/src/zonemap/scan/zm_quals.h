/*-------------------------------------------------------------------------
 *
 * zm_quals.h
 *	  Scan keys as ranges of positions and filters.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_QUALS_H
#define ZM_QUALS_H

#include "postgres.h"

#include "access/skey.h"

#include "zm_key.h"

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

#endif							/* ZM_QUALS_H */
