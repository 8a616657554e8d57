/*-------------------------------------------------------------------------
 *
 * st_sort.c
 *	  Sorting rows by a table's option orderby.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/typcache.h"

#include "st_options.h"
#include "st_sort.h"

Tuplesortstate *
st_sort_by_orderby(Relation rel, TupleDesc desc)
{
	const StOrderBy *orderby = &st_options_get(rel)->orderby;
	AttrNumber	attnos[ST_MAX_ORDERBY];
	Oid			operators[ST_MAX_ORDERBY];
	Oid			collations[ST_MAX_ORDERBY];
	bool		nulls_first[ST_MAX_ORDERBY];

	if (orderby->ncolumns == 0)
		return NULL;
	for (int i = 0; i < orderby->ncolumns; i++)
	{
		const StOrderColumn *column = &orderby->columns[i];
		Form_pg_attribute att = TupleDescAttr(desc, column->attno - 1);
		TypeCacheEntry *type = lookup_type_cache(att->atttypid,
												 TYPECACHE_LT_OPR |
												 TYPECACHE_GT_OPR);

		attnos[i] = column->attno;
		operators[i] = column->desc ? type->gt_opr : type->lt_opr;
		collations[i] = att->attcollation;
		nulls_first[i] = column->nulls_first;
	}
	return tuplesort_begin_heap(desc, orderby->ncolumns, attnos, operators,
								collations, nulls_first, maintenance_work_mem,
								NULL, TUPLESORT_NONE);
}
