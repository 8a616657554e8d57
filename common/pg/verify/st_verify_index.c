/*-------------------------------------------------------------------------
 *
 * st_verify_index.c
 *	  Compares an index with the rows of its table, for verify().
 *
 * Table and index are scanned with one snapshot.  The index must return as
 * many rows as the table has (of those that satisfy its predicate), and the
 * same ones, by a sum of hashes of their TIDs.  Each entry of a btree must
 * equal what its row gives.
 *
 * Possible for access methods that return rows one by one and can be scanned
 * without a condition: btree, GiST, SP-GiST.  The index's expressions are
 * evaluated: the caller has switched to the table's owner.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "st_compat.h"
#include "st_inspect.h"

/* Rows that one side has. */
typedef struct RowSet
{
	uint64		count;
	uint64		sum;			/* of hashes of TIDs */
} RowSet;

typedef struct IndexCheck
{
	Relation	rel;
	Relation	index;
	Snapshot	snapshot;
	IndexInfo  *info;
	EState	   *estate;
	ExprState  *predicate;
	TupleTableSlot *slot;
	RowSet		rows;
	RowSet		entries;
	uint64		wrong;			/* entries that differ from their row */
	ItemPointerData first_wrong;
} IndexCheck;

static void
row_set_add(RowSet *set, const ItemPointerData *tid)
{
	set->count++;
	set->sum += hash_bytes_extended((const unsigned char *) tid, sizeof(*tid), 0);
}

/* Full scans see every row only if the index may be used with the snapshot. */
static bool
can_check(Relation index)
{
	return index->rd_index->indisvalid && index->rd_index->indisready &&
		index->rd_indam->amgettuple != NULL && index->rd_indam->amoptionalkey &&
		!(index->rd_index->indcheckxmin &&
		  !TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
								 TransactionXmin));
}

static void
scan_rows(IndexCheck *check)
{
	ExprContext *econtext = GetPerTupleExprContext(check->estate);
	TableScanDesc scan = st_table_beginscan(check->rel, check->snapshot, 0, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, check->slot))
	{
		CHECK_FOR_INTERRUPTS();
		econtext->ecxt_scantuple = check->slot;
		if (ExecQual(check->predicate, econtext))
			row_set_add(&check->rows, &check->slot->tts_tid);
		ResetExprContext(econtext);
	}
	table_endscan(scan);
}

/* Does the entry hold what the row in the slot gives? */
static bool
entry_is_right(IndexCheck *check, IndexTuple itup)
{
	TupleDesc	desc = RelationGetDescr(check->index);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	FormIndexDatum(check->info, check->slot, check->estate, values, isnull);
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(check->index); i++)
	{
		bool		entry_isnull;
		Datum		entry = index_getattr(itup, i + 1, desc, &entry_isnull);

		if (isnull[i] != entry_isnull)
			return false;
		/* a name stands as a cstring in its index */
		if (isnull[i] || TupleDescAttr(desc, i)->atttypid == CSTRINGOID)
			continue;
		if (DatumGetInt32(FunctionCall2Coll(index_getprocinfo(check->index, i + 1, BTORDER_PROC),
											check->index->rd_indcollation[i],
											entry, values[i])) != 0)
			return false;
	}
	return true;
}

static void
scan_entries(IndexCheck *check)
{
	ExprContext *econtext = GetPerTupleExprContext(check->estate);
	bool		btree = check->index->rd_rel->relam == BTREE_AM_OID;
	IndexScanDesc scan = st_index_beginscan(check->rel, check->index, check->snapshot);

	scan->xs_want_itup = btree;
	index_rescan(scan, NULL, 0, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, check->slot))
	{
		MemoryContext oldcxt;

		CHECK_FOR_INTERRUPTS();
		row_set_add(&check->entries, &check->slot->tts_tid);
		econtext->ecxt_scantuple = check->slot;
		oldcxt = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (btree && !entry_is_right(check, scan->xs_itup) && check->wrong++ == 0)
			check->first_wrong = check->slot->tts_tid;
		MemoryContextSwitchTo(oldcxt);
		ResetExprContext(econtext);
	}
	index_endscan(scan);
}

static List *
conclude(const IndexCheck *check)
{
	const char *name = RelationGetRelationName(check->index);
	List	   *problems = NIL;

	if (check->entries.count < check->rows.count)
		problems = st_problem_add(problems, -1, "index \"%s\" lacks " UINT64_FORMAT " of " UINT64_FORMAT " rows",
								  name, check->rows.count - check->entries.count,
								  check->rows.count);
	else if (check->entries.count > check->rows.count)
		problems = st_problem_add(problems, -1, "index \"%s\" returns " UINT64_FORMAT " rows of " UINT64_FORMAT,
								  name, check->entries.count, check->rows.count);
	else if (check->entries.sum != check->rows.sum)
		problems = st_problem_add(problems, -1, "index \"%s\" returns other rows than the table has",
								  name);
	if (check->wrong > 0)
		problems = st_problem_add(problems, -1, "index \"%s\" has " UINT64_FORMAT " entries that differ from their rows, the first for row (%u,%u)",
								  name, check->wrong,
								  ItemPointerGetBlockNumber(&check->first_wrong),
								  ItemPointerGetOffsetNumber(&check->first_wrong));
	return problems;
}

List *
st_check_index(Relation rel, Oid indexoid, Snapshot snapshot)
{
	IndexCheck	check = {.rel = rel, .snapshot = snapshot};
	List	   *problems = NIL;

	check.index = index_open(indexoid, AccessShareLock);
	if (can_check(check.index))
	{
		check.info = BuildIndexInfo(check.index);
		check.estate = CreateExecutorState();
		check.predicate = ExecPrepareQual(check.info->ii_Predicate, check.estate);
		check.slot = table_slot_create(rel, NULL);
		scan_rows(&check);
		scan_entries(&check);
		problems = conclude(&check);
		ExecDropSingleTupleTableSlot(check.slot);
		FreeExecutorState(check.estate);
	}
	index_close(check.index, AccessShareLock);
	return problems;
}
