/*-------------------------------------------------------------------------
 *
 * cc_zone.h
 *	  How zone maps of a column chunk stand in its meta.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ZONE_H
#define CC_ZONE_H

/* First byte of a chunk's zone maps.  On disk: numbers never change. */
typedef enum CcZoneKind
{
	CC_ZONE_NONE = 0,
	CC_ZONE_INT64 = 1,			/* also decimals, of the chunk's scale */
	CC_ZONE_INT128 = 2,
	CC_ZONE_FLOAT8 = 3,
	CC_ZONE_FLOAT4 = 4,
	CC_ZONE_STRING = 5
} CcZoneKind;

#endif							/* CC_ZONE_H */
