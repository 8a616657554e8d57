/*-------------------------------------------------------------------------
 *
 * st_insert.c
 *	  Inserts: into the delta, or into a row group under construction (I4).
 *
 * The first rows of a command are ordinary heap inserts, and so are
 * speculative ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"

#include "st_write.h"

/*
 * table_tuple_insert().
 */
void
st_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
				StInsertOptions options, struct BulkInsertStateData *bistate)
{
	StPending  *pending = st_pending_get(rel, cid);

	st_catalog_correct_flags(rel);
	if (pending == NULL ||
		st_pending_delta_share(pending, rel, 1, cid, options) == 1)
	{
		st_heapam()->tuple_insert(rel, slot, cid, options, bistate);
		st_delta_grew(rel, 1);
	}
	else
		st_pending_add(pending, rel, slot, cid, options);
}

/*
 * table_tuple_insert_speculative(): always into the delta.
 */
void
st_tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid,
							StInsertOptions options, struct BulkInsertStateData *bistate,
							uint32 token)
{
	st_catalog_correct_flags(rel);
	st_catalog_hold(rel);
	st_heapam()->tuple_insert_speculative(rel, slot, cid, options, bistate,
										  token);
	st_delta_grew(rel, 1);
}

/*
 * table_multi_insert().
 */
void
st_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
				CommandId cid, StInsertOptions options,
				struct BulkInsertStateData *bistate)
{
	StPending  *pending = st_pending_get(rel, cid);
	int			share = nslots;

	st_catalog_correct_flags(rel);
	if (pending != NULL)
		share = st_pending_delta_share(pending, rel, nslots, cid, options);
	if (share > 0)
	{
		st_heapam()->multi_insert(rel, slots, share, cid, options, bistate);
		st_delta_grew(rel, share);
	}
	for (int i = share; i < nslots; i++)
	{
		CHECK_FOR_INTERRUPTS();
		st_pending_add(pending, rel, slots[i], cid, options);
	}
}

/*
 * table_finish_bulk_insert().  Also runs after a rewrite of zero rows, which
 * must not leave a table without TOAST relation.
 */
void
st_finish_bulk_insert(Relation rel, StInsertOptions options)
{
	st_flush_pending(rel);
	st_catalog_ensure(rel);
	if (st_heapam()->finish_bulk_insert != NULL)
		st_heapam()->finish_bulk_insert(rel, options);
}
