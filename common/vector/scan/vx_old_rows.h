/*-------------------------------------------------------------------------
 *
 * vx_old_rows.h
 *	  A scan below UPDATE has the rows that it found at hand.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_OLD_ROWS_H
#define VX_OLD_ROWS_H

#include "postgres.h"

#include "st_old_rows.h"

/* For st_old_rows_register(). */
extern void *vx_old_rows_scan(ModifyTableState *mt, ResultRelInfo *info,
							  const bool *columns, StRowAtHand *row_at_hand);

#endif							/* VX_OLD_ROWS_H */
