/*-------------------------------------------------------------------------
 *
 * sf_zone.h
 *	  Zone maps of a column of a row group: least and greatest values of its
 *	  vectors, in the order of a btree operator family.
 *
 * Strings are ordered bytewise and keep a prefix of SF_ZONE_PREFIX bytes, cut
 * at a character's boundary; a maximum that was cut is flagged.  bpchar is
 * taken without its trailing blanks, which do not count in comparisons.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_ZONE_H
#define SF_ZONE_H

#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "sf_type.h"
#include "st_bytes.h"
#include "st_store.h"
#include "st_str.h"
#include "st_zone.h"

/* Strings' zones keep prefixes of this many bytes. */
#define SF_ZONE_PREFIX		24

/* Longer bounds of other types of variable length are not kept at all. */
#define SF_ZONE_MAX_BYTES	256

/* Flags of a vector's bounds.  On disk: numbers never change. */
#define SF_ZONE_CUT		1		/* the maximum is a prefix */
#define SF_ZONE_UNKNOWN	2		/* there are no bounds */

/* How bounds stand in memory; on disk, each format has numbers of its own. */
typedef enum SfZoneKind
{
	SF_ZONE_NONE,
	SF_ZONE_INT64,				/* also decimals of one scale */
	SF_ZONE_INT128,
	SF_ZONE_FLOAT8,
	SF_ZONE_FLOAT4,
	SF_ZONE_STRING,				/* prefixes, in byte order */
	SF_ZONE_BYTES				/* whole values, in the type's own order */
} SfZoneKind;

/* PostgreSQL's order of floats: NaN equals itself and is above all else. */
#define SF_INT_LESS(a, b) ((a) < (b))
#define SF_FLOAT_LESS(a, b) (isnan(b) ? !isnan(a) : (a) < (b))

/* ---- writing ---- */

/* The string's length without trailing blanks. */
extern uint32 sf_zone_trimmed(const StStr *s);

/* Do codes of a sorted dictionary stand in the order that zones have? */
extern bool sf_zone_codes_ordered(const SfColumnType *type, const StStr *entries,
								  uint32 n);

/* Cuts to SF_ZONE_PREFIX bytes; true if something was lost. */
extern bool sf_zone_cut(const SfColumnType *type, StStr *s);

/* Values of a column, and the vectors that they are cut into. */
typedef struct SfZoneInput
{
	SfZoneKind	kind;
	const SfColumnType *type;
	const uint64 *valid;		/* bit set = not null; NULL: no nulls */
	const void *values;			/* an array of the kind: StStr for references */
	const uint32 *codes;		/* of strings, in a sorted dictionary; or NULL */
	const StStr *entries;
	uint32		nentries;
	uint32		max_len;		/* longer references give no bounds */
	int64		unknown;		/* flag of vectors of references without bounds */
	uint32		n;				/* vectors, */
	const uint32 *first;		/* and their first rows; n + 1 */
} SfZoneInput;

/* Appends all that follows the kind: sf_zone_write.c */
extern void sf_zones_write(const SfZoneInput *z, StringInfo meta);

/* ---- reading ---- */

typedef struct SfZoneBound
{
	union
	{
		int64	   *i64;
		int128	   *i128;
		double	   *f64;
		float	   *f32;
		StStr	   *str;
	}			u;
	Datum	   *datum;			/* made at first use */
	bool	   *made;
} SfZoneBound;

/*
 * Of n vectors, and behind all that there may be, as number SF_ZONE_WHOLE, of
 * the whole row group.  The owner sets what comes first.
 */
typedef struct SfZones
{
	SfZoneKind	kind;
	SfColumnType type;			/* of the column as it is now */
	int			scale;			/* of decimals */
	uint32		n;
	MemoryContext mcxt;

	Oid			opfamily;		/* that the bounds were made with */
	SfZoneBound min;
	SfZoneBound max;
	int64	   *flags;			/* strings, bytes; else NULL */
} SfZones;

#define SF_ZONE_WHOLE ST_VECTOR_SIZE

/* An array of integers, one for each vector; NULL if it is damaged. */
extern int64 *sf_zone_ints(StByteReader *b, uint32 n, MemoryContext mcxt);

/* All that follows the kind.  False if it is damaged. */
extern bool sf_zones_read(SfZones *z, StByteReader *b);

/*
 * Bounds of the whole, for vectors of which is_empty says that not all values
 * are null.  False as above.
 */
extern bool sf_zones_sum_up(SfZones *z, const bool *is_empty);

/* Shows bounds, if there are any.  False as above. */
extern bool sf_zones_get(SfZones *z, uint32 i, StZone *zone);

#endif							/* SF_ZONE_H */
