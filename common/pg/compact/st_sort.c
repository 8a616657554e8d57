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

#include "st_checksum.h"
#include "st_options.h"
#include "st_compact.h"

/* The comparison of one column of the order. */
typedef struct OrderKey
{
	Oid			type;
	Oid			collation;
	Oid			ordering;		/* operator */
	int16		attno;
	bool		desc;
	bool		nulls_first;
} OrderKey;

static int
order_keys(Relation rel, OrderKey *keys)
{
	const StOrderBy *orderby = &st_options_get(rel)->orderby;
	int			n = orderby->ncolumns;

	memset(keys, 0, ST_MAX_ORDERBY * sizeof(OrderKey));
	for (int i = 0; i < n; i++)
	{
		const StOrderColumn *column = &orderby->columns[i];
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel),
											  column->attno - 1);
		TypeCacheEntry *type = lookup_type_cache(att->atttypid,
												 TYPECACHE_LT_OPR |
												 TYPECACHE_GT_OPR);

		keys[i].attno = column->attno;
		keys[i].desc = column->desc;
		keys[i].nulls_first = column->nulls_first;
		keys[i].type = att->atttypid;
		keys[i].collation = att->attcollation;
		keys[i].ordering = column->desc ? type->gt_opr : type->lt_opr;
	}
	return n;
}

Tuplesortstate *
st_sort_by_orderby(Relation rel, TupleDesc desc)
{
	OrderKey	keys[ST_MAX_ORDERBY];
	int			n = order_keys(rel, keys);
	AttrNumber	attnos[ST_MAX_ORDERBY];
	Oid			operators[ST_MAX_ORDERBY];
	Oid			collations[ST_MAX_ORDERBY];
	bool		nulls_first[ST_MAX_ORDERBY];

	for (int i = 0; i < n; i++)
	{
		attnos[i] = keys[i].attno;
		operators[i] = keys[i].ordering;
		collations[i] = keys[i].collation;
		nulls_first[i] = keys[i].nulls_first;
	}
	return n == 0 ? NULL :
		tuplesort_begin_heap(desc, n, attnos, operators, collations, nulls_first,
							 maintenance_work_mem, NULL, TUPLESORT_NONE);
}

uint64
st_orderby_hash(Relation rel)
{
	OrderKey	keys[ST_MAX_ORDERBY];
	int			n = order_keys(rel, keys);

	return n == 0 ? 0 : Max(1, st_checksum64(keys, n * sizeof(OrderKey), n));
}

int
st_orderby_keys(Relation rel, SortSupport *result)
{
	OrderKey	keys[ST_MAX_ORDERBY];
	int			n = order_keys(rel, keys);
	SortSupport ssup = palloc0(Max(n, 1) * sizeof(SortSupportData));

	for (int i = 0; i < n; i++)
	{
		ssup[i].ssup_cxt = CurrentMemoryContext;
		ssup[i].ssup_collation = keys[i].collation;
		ssup[i].ssup_nulls_first = keys[i].nulls_first;
		ssup[i].ssup_attno = keys[i].attno;
		PrepareSortSupportFromOrderingOp(keys[i].ordering, &ssup[i]);
	}
	*result = ssup;
	return n;
}
