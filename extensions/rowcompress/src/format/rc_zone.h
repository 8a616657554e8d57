/*-------------------------------------------------------------------------
 *
 * rc_zone.h
 *	  Flags of a batch's bounds, in the zones of strings and bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_ZONE_H
#define RC_ZONE_H

/* On disk: numbers never change. */
#define RC_ZONE_CUT		1		/* the maximum is a prefix */
#define RC_ZONE_UNKNOWN	2		/* there are no bounds */

#endif							/* RC_ZONE_H */
