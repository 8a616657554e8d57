/*-------------------------------------------------------------------------
 *
 * zm_stats.c
 *	  zonemap_stats(index): what a zonemap consists of.
 *
 * Reads pages one after the other, so that counts of an index that is being
 * written are of no one moment.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "zm_insert.h"
#include "zm_page.h"

PG_FUNCTION_INFO_V1(zm_stats);

typedef struct Counts
{
	uint32		levels;
	int64		leaves;
	int64		zones;
	int64		holes;
	int64		exact;
	int64		marks;
} Counts;

static void
count_page(Page page, Counts *counts)
{
	counts->levels = Max(counts->levels, ZmPageGetOpaque(page)->level + 1);
	if (!ZmPageIsLeaf(page))
		return;
	counts->leaves++;
	for (OffsetNumber off = ZmPageFirst(page);
		 off <= PageGetMaxOffsetNumber(page); off++)
	{
		IndexTuple	itup = ZmPageGetEntry(page, off);

		if (ZmIsMark(itup))
			counts->marks++;
		else if (!ZmIsZone(itup))
			counts->exact++;
		else if (ZmBlock(itup) == InvalidBlockNumber)
			counts->holes++;
		else
			counts->zones++;
	}
}

static Relation
open_zonemap(Oid oid)
{
	Oid			heap = IndexGetRelation(oid, true);
	Relation	index;

	if (!OidIsValid(heap))
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not an index",
					   get_rel_name(oid) ? get_rel_name(oid) : "?"));
	if (pg_class_aclcheck(heap, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(heap));
	index = relation_open(oid, AccessShareLock);
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->aminsert != zm_insert)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("index \"%s\" is not a zonemap",
					   RelationGetRelationName(index)));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary tables of other sessions"));
	return index;
}

/* zonemap_stats(index regclass) returns a row of counts */
Datum
zm_stats(PG_FUNCTION_ARGS)
{
	Relation	index = open_zonemap(PG_GETARG_OID(0));
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	Counts		counts = {0};
	TupleDesc	desc;
	Datum		values[7];
	bool		nulls[7] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (BlockNumber block = ZM_ROOT_BLOCK; block < nblocks; block++)
	{
		Buffer		buf = ReadBuffer(index, block);

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		if (!PageIsNew(BufferGetPage(buf)))
		{
			zm_page_check(index, buf);
			count_page(BufferGetPage(buf), &counts);
		}
		UnlockReleaseBuffer(buf);
	}
	relation_close(index, AccessShareLock);

	values[0] = Int32GetDatum(counts.levels);
	values[1] = Int64GetDatum(nblocks);
	values[2] = Int64GetDatum(counts.leaves);
	values[3] = Int64GetDatum(counts.zones);
	values[4] = Int64GetDatum(counts.holes);
	values[5] = Int64GetDatum(counts.exact);
	values[6] = Int64GetDatum(counts.marks);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
