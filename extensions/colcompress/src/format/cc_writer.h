/*-------------------------------------------------------------------------
 *
 * cc_writer.h
 *	  Writer of row groups: the functions behind cc_format (st_store.h tells
 *	  what each does).
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_WRITER_H
#define CC_WRITER_H

#include "st_store.h"

extern StWriter *cc_writer_create(Relation rel, MemoryContext mcxt);
extern void cc_writer_add(StWriter *w, const Datum *values, const bool *isnull);
extern uint32 cc_writer_rows(const StWriter *w);
extern Size cc_writer_memory(const StWriter *w);
extern bool cc_writer_full(const StWriter *w);
extern void cc_writer_finish(StWriter *w, StImage *img, StGroup *group);
extern uint32 cc_max_rows(Relation rel);

#endif							/* CC_WRITER_H */
