/*-------------------------------------------------------------------------
 *
 * st_am_index_delete.c
 *	  Which index entries may go: heap decides for heap TIDs.
 *
 * Virtual TIDs are taken out before heap sees them: it would look for their
 * blocks.  They are never deletable here, because index fetches do not report
 * rows of row groups as dead to all (so none is ever marked in an index);
 * their entries go when VACUUM finds the row group or the row dead to all
 * (st_am_vacuum.c).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_store_int.h"

/*
 * TableAmRoutine.index_delete_tuples: shrinks delstate->deltids to what is
 * deletable and returns the conflict horizon for standbys.
 */
TransactionId
st_am_index_delete_tuples(Relation rel, TM_IndexDeleteOp *delstate)
{
	int			kept = 0;

	for (int i = 0; i < delstate->ndeltids; i++)
	{
		TM_IndexDelete *delete = &delstate->deltids[i];

		if (st_tid_is_virtual(&delete->tid))
		{
			Assert(!delstate->status[delete->id].knowndeletable);
			continue;
		}
		delstate->deltids[kept++] = *delete;
	}
	delstate->ndeltids = kept;
	if (kept == 0)
		return InvalidTransactionId;
	return heap_index_delete_tuples(rel, delstate);
}
