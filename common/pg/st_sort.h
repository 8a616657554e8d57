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
#include "utils/tuplesort.h"

/*
 * A sort of slots of row type desc, whose first columns are those of rel,
 * with maintenance_work_mem; NULL if rel has no orderby.
 */
extern Tuplesortstate *st_sort_by_orderby(Relation rel, TupleDesc desc);

#endif							/* ST_SORT_H */
