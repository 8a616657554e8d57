/*-------------------------------------------------------------------------
 *
 * zm_sort.c
 *	  The order of a zonemap as one that the server can sort by.
 *
 * The server sorts index tuples, and tables for CLUSTER, by btree indexes only.  A
 * zonemap keeps its order as a btree does: the same columns, comparison functions,
 * collations and options.  So a copy of its relation descriptor that says "btree"
 * does, for as long as the sort lasts.  It also names btree's operator family where
 * that has the same comparison function, for its faster sort support.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "catalog/pg_am_d.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "zm_build.h"

/* The btree family that orders a column as the zonemap does, or its own. */
static Oid
sort_family(Relation index, int column)
{
	Oid			type = index->rd_opcintype[column];
	Oid			family = lookup_type_cache(type,
										   TYPECACHE_BTREE_OPFAMILY)->btree_opf;

	if (OidIsValid(family) &&
		get_opfamily_proc(family, type, type, BTORDER_PROC) ==
		index_getprocid(index, column + 1, 1))
		return family;
	return index->rd_opfamily[column];
}

/* A descriptor of a zonemap to sort by, in current memory. */
Relation
zm_sort_order(Relation index)
{
	int			n = IndexRelationGetNumberOfKeyAttributes(index);
	Relation	order = palloc(sizeof(RelationData));

	*order = *index;
	order->rd_rel = palloc(sizeof(FormData_pg_class));
	*order->rd_rel = *index->rd_rel;
	order->rd_rel->relam = BTREE_AM_OID;
	order->rd_opfamily = palloc(n * sizeof(Oid));
	for (int i = 0; i < n; i++)
		order->rd_opfamily[i] = sort_family(index, i);
	return order;
}
