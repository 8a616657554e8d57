/*-------------------------------------------------------------------------
 *
 * sh_tableam.h
 *	  Table access method sorted_heap: between its files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_TABLEAM_H
#define SH_TABLEAM_H

#include "postgres.h"

#include "access/genam.h"
#include "access/tableam.h"

#include "st_compat.h"

/* sh_tableam.c */
extern void sh_tableam_init(void);
extern const TableAmRoutine *sh_tableam_routine(void);

/* sh_place.c */
extern void sh_place_init(void);
extern Oid	sh_place_index(Relation heap);
extern StInsertOptions sh_place_slot(Relation heap, Oid indexoid, TupleTableSlot *slot,
						  StInsertOptions options, BlockNumber *wanted);
extern void sh_place_done(Relation heap, TupleTableSlot *slot,
						  BlockNumber wanted);
extern void sh_place_sort(Relation heap, Oid indexoid, TupleTableSlot **slots,
						  int nslots);

#endif							/* SH_TABLEAM_H */
