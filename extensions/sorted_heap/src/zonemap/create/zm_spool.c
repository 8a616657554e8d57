/*-------------------------------------------------------------------------
 *
 * zm_spool.c
 *	  Sorts exact entries by (key, TID).
 *
 * The server's sort for index tuples knows btree's and hash's only, so they
 * are sorted as rows of the key columns and the TID as a number.  That wants
 * "<" operators that a btree family has: opclasses of zonemap share theirs
 * with btree's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/tupdesc.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "zm_spool.h"

struct ZmSpool
{
	const ZmSpace *space;
	TupleTableSlot *slot;
	Tuplesortstate *sort;
	MemoryContext row;			/* the entry handed out last */
};

static TupleDesc
spool_desc(const ZmSpace *space)
{
	TupleDesc	desc = CreateTemplateTupleDesc(space->ncolumns + 1);

	for (int i = 0; i < space->ncolumns; i++)
		TupleDescCopyEntry(desc, i + 1, space->desc, i + 1);
	TupleDescInitEntry(desc, space->ncolumns + 1, "tid", INT8OID, -1, 0);
	return desc;
}

/* The operator that sorts a column in the index' order. */
static Oid
column_operator(const ZmSpace *space, int i)
{
	Relation	index = space->index;
	Oid			type = index->rd_opcintype[i];
	Oid			operator = get_opfamily_member(index->rd_opfamily[i], type,
											   type,
											   space->columns[i].descending ?
											   BTGreaterStrategyNumber :
											   BTLessStrategyNumber);

	if (!OidIsValid(operator))
		elog(ERROR, "missing operator for type %u in opfamily %u", type,
			 index->rd_opfamily[i]);
	return operator;
}

ZmSpool *
zm_spool_begin(const ZmSpace *space)
{
	ZmSpool    *spool = palloc(sizeof(ZmSpool));
	TupleDesc	desc = spool_desc(space);
	AttrNumber	attnos[INDEX_MAX_KEYS + 1];
	Oid			operators[INDEX_MAX_KEYS + 1];
	Oid			collations[INDEX_MAX_KEYS + 1];
	bool		nulls_first[INDEX_MAX_KEYS + 1];
	int			i;

	for (i = 0; i < space->ncolumns; i++)
	{
		attnos[i] = i + 1;
		operators[i] = column_operator(space, i);
		collations[i] = space->columns[i].collation;
		nulls_first[i] = space->columns[i].nulls_first;
	}
	attnos[i] = i + 1;
	operators[i] = Int8LessOperator;
	collations[i] = InvalidOid;
	nulls_first[i] = false;

	spool->space = space;
	spool->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	spool->sort = tuplesort_begin_heap(desc, i + 1, attnos, operators,
									   collations, nulls_first,
									   maintenance_work_mem, NULL,
									   TUPLESORT_NONE);
	spool->row = AllocSetContextCreate(CurrentMemoryContext, "zonemap spool",
									   ALLOCSET_SMALL_SIZES);
	return spool;
}

void
zm_spool_put(ZmSpool *spool, IndexTuple itup)
{
	TupleTableSlot *slot = spool->slot;
	int			n = spool->space->ncolumns;

	ExecClearTuple(slot);
	for (int i = 0; i < n; i++)
		slot->tts_values[i] = index_getattr(itup, i + 1, spool->space->desc,
											&slot->tts_isnull[i]);
	slot->tts_values[n] =
		Int64GetDatum(((int64) ItemPointerGetBlockNumber(&itup->t_tid) << 16) |
					  ItemPointerGetOffsetNumber(&itup->t_tid));
	slot->tts_isnull[n] = false;
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(spool->sort, slot);
}

void
zm_spool_sort(ZmSpool *spool)
{
	ExecClearTuple(spool->slot);
	tuplesort_performsort(spool->sort);
}

/* The next entry, valid until the next call; NULL at the end. */
IndexTuple
zm_spool_next(ZmSpool *spool)
{
	TupleTableSlot *slot = spool->slot;
	MemoryContext old;
	ItemPointerData tid;
	IndexTuple	itup;
	int64		number;

	if (!tuplesort_gettupleslot(spool->sort, true, false, slot, NULL))
		return NULL;
	slot_getallattrs(slot);
	number = DatumGetInt64(slot->tts_values[spool->space->ncolumns]);
	ItemPointerSet(&tid, (BlockNumber) (number >> 16),
				   (OffsetNumber) (number & 0xFFFF));
	MemoryContextReset(spool->row);
	old = MemoryContextSwitchTo(spool->row);
	itup = zm_form_exact(spool->space->index, slot->tts_values,
						 slot->tts_isnull, &tid);
	MemoryContextSwitchTo(old);
	return itup;
}

void
zm_spool_end(ZmSpool *spool)
{
	tuplesort_end(spool->sort);
	ExecDropSingleTupleTableSlot(spool->slot);
	MemoryContextDelete(spool->row);
	pfree(spool);
}
