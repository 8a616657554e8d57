/*-------------------------------------------------------------------------
 *
 * sf_key.h
 *	  Zones of expressions that rows are sorted by (StKeys).
 *
 * They stand behind the footer of a row group's image, and know of its format
 * only where its vectors begin.  A row group without them, or with those of
 * other expressions, tells nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_KEY_H
#define SF_KEY_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "st_options.h"
#include "st_store.h"
#include "st_zone.h"

/* ---- writing: sf_key_write.c ---- */

typedef struct SfKeys SfKeys;

/* Values to come; all of it lives in mcxt.  Copies the keys. */
extern SfKeys *sf_keys_create(const StKeys *keys, MemoryContext mcxt);

/* The values of a row, one for each key. */
extern void sf_keys_add(SfKeys *keys, const Datum *values, const bool *isnull);

/* Bytes of what is kept; 0 for NULL. */
extern Size sf_keys_memory(const SfKeys *keys);

/*
 * Appends the zones of n vectors, whose first rows are given (n + 1), to the
 * image; nothing for NULL.  Comes behind the footer.
 */
extern void sf_keys_write(const SfKeys *keys, uint32 n, const uint32 *first,
						  StImage *img);

/* ---- reading: sf_key_read.c ---- */

typedef struct SfKeyZones SfKeyZones;

/*
 * The zone of an expression in a vector, or with vecno -1 in the row group;
 * false if there is none.  *zones, at first NULL, keeps what was read, in
 * mcxt.  Raises DATA_CORRUPTED.
 */
extern bool sf_key_zone(StReader *r, SfKeyZones **zones, Relation rel,
						const StGroup *group, MemoryContext mcxt,
						const StOrderExpr *key, int64 vecno, StZone *zone);

/* ---- both: the bytes ---- */

/*
 *	 section = | SfKeysHeader | key | key | ... |
 *	 key     = its length v, then
 *			   | id u64 | null counts of the vectors | kind u8 | zones |
 *
 * Null counts are an array behind its length in bytes, zones what
 * sf_zone_write.c tells.  A section of another magic is none.
 */
#define SF_KEYS_MAGIC 0x315A4B53	/* "SKZ1" in the file */

typedef struct SfKeysHeader
{
	uint32		magic;
	uint32		len;			/* of all keys */
	uint64		checksum;		/* of them */
} SfKeysHeader;

StaticAssertDecl(sizeof(SfKeysHeader) == 16, "on-disk struct");

/* On disk: numbers never change. */
typedef enum SfKeyZoneKind
{
	SF_KEY_ZONE_NONE = 0,
	SF_KEY_ZONE_INT = 1,
	SF_KEY_ZONE_FLOAT8 = 2,
	SF_KEY_ZONE_FLOAT4 = 3,
	SF_KEY_ZONE_STRING = 4,
	SF_KEY_ZONE_BYTES = 5
} SfKeyZoneKind;

#endif							/* SF_KEY_H */
