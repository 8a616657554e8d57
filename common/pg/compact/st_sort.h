/*-------------------------------------------------------------------------
 *
 * st_sort.h
 *	  Sorting rows by a table's option orderby.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SORT_H
#define ST_SORT_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "utils/rel.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

/*
 * A sort of slots of row type desc, whose first columns are those of rel,
 * with maintenance_work_mem; NULL if rel has no orderby.
 */
extern Tuplesortstate *st_sort_by_orderby(Relation rel, TupleDesc desc);

/* Identifies the orderby of rel, with its types; 0 if there is none. */
extern uint64 st_orderby_hash(Relation rel);

/*
 * Comparison of single rows by the orderby of rel (which has one), in the
 * current memory context.  Returns the number of columns; keys[i].ssup_attno
 * is the column that keys[i] compares.
 */
extern int	st_orderby_keys(Relation rel, SortSupport *keys);

#endif							/* ST_SORT_H */
