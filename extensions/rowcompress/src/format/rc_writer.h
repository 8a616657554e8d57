/*-------------------------------------------------------------------------
 *
 * rc_writer.h
 *	  Writer of row groups, as the store knows it (StFormat).
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_WRITER_H
#define RC_WRITER_H

#include "st_store.h"

extern StWriter *rc_writer_create(Relation rel, MemoryContext mcxt);
extern void rc_writer_add(StWriter *w, const Datum *values, const bool *isnull);
extern uint32 rc_writer_rows(const StWriter *w);
extern Size rc_writer_memory(const StWriter *w);
extern bool rc_writer_full(const StWriter *w);
extern void rc_writer_finish(StWriter *w, StImage *img, StGroup *group);

/* The most rows of a group, by the table's options. */
extern uint32 rc_max_rows(Relation rel);

#endif							/* RC_WRITER_H */
