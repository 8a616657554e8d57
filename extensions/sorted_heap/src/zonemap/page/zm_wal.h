/*-------------------------------------------------------------------------
 *
 * zm_wal.h
 *	  Logged changes of pages.  zm_wal.c lists the records.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_WAL_H
#define ZM_WAL_H

#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "zm_page.h"

/* ---- changes of one leaf ---- */

extern void zm_log_add(Relation index, Buffer buf, IndexTuple itup,
					   OffsetNumber off);
extern void zm_log_replace(Relation index, Buffer buf, OffsetNumber off,
						   IndexTuple itup);
extern void zm_log_delete(Relation index, Buffer buf, OffsetNumber *offs,
						  int n);
extern void zm_log_image(Relation index, Buffer buf, Page image);

/* ---- changes of several pages, or of many entries, in one record ---- */

typedef struct GenericXLogState ZmChange;

extern ZmChange *zm_change_begin(Relation index);
extern Page zm_change_page(ZmChange *change, Buffer buf);
extern Page zm_change_moving(ZmChange *change, Buffer buf);
extern Page zm_change_all(ZmChange *change, Buffer buf);
extern void zm_change_image(ZmChange *change, Buffer buf, Page image);
extern void zm_change_end(ZmChange *change, bool changed);

/* ---- new indexes ---- */

extern void zm_log_index(Relation index);
extern void zm_log_new_page(Buffer buf);

#endif							/* ZM_WAL_H */
