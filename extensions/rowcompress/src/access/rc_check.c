/*-------------------------------------------------------------------------
 *
 * rc_check.c
 *	  verify(): values of a column of a row group against what its zones
 *	  claim.
 *
 * Decodes every batch.  Raises what the reader raises for damaged bytes;
 * returns what decodes but contradicts a zone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "rc_batch.h"
#include "st_compat.h"
#include "st_inspect.h"

PG_FUNCTION_INFO_V1(rc_verify);

/* Values of one batch; returns the number of nulls. */
static uint32
check_batch(const StZoneCheck *check, RcBatch *batch, AttrNumber attno, uint32 nrows,
			const StZone *zone, const StZone *whole, int64 batchno, List **problems)
{
	const VxVector *v = rc_batch_vector(batch, attno);
	bool		use_zone = zone != NULL && st_zone_check_usable(check, zone);
	bool		use_whole = whole != NULL && st_zone_check_usable(check, whole);
	const char *wrong = NULL;
	uint32		nnulls = 0;

	for (uint32 i = 0; i < nrows; i++)
	{
		Datum		value;

		if (vx_vector_isnull(v, i))
		{
			nnulls++;
			continue;
		}
		value = rc_vector_value(batch, attno, v, i);
		if (wrong != NULL)
			continue;			/* one per batch tells enough */
		if (use_zone)
			wrong = st_zone_check_value(check, zone, value);
		if (wrong == NULL && use_whole)
			wrong = st_zone_check_value(check, whole, value);
		if (wrong != NULL)
			*problems = st_problem_add(*problems, batchno, "value of row %u is %s", i, wrong);
	}
	return nnulls;
}

static List *
check_column(Relation rel, const StGroup *group, AttrNumber attno)
{
	StReader   *reader = rc_reader_open(rel, group, CurrentMemoryContext);
	List	   *problems = NIL;
	uint64		total_nulls = 0;
	StZoneCheck check;
	StZone		whole;
	bool		has_whole = rc_reader_zone(reader, attno, -1, &whole);

	st_zone_check_init(&check, TupleDescAttr(RelationGetDescr(rel), attno - 1));
	for (uint32 b = 0; b < rc_reader_nbatches(reader); b++)
	{
		RcBatch    *batch = rc_batch_load(reader, b, true);
		uint32		nrows = rc_reader_batch_start(reader, b + 1) - rc_reader_batch_start(reader, b);
		StZone		zone;
		bool		has_zone = rc_reader_zone(reader, attno, b, &zone);
		uint32		nnulls;

		CHECK_FOR_INTERRUPTS();
		nnulls = check_batch(&check, batch, attno, nrows, has_zone ? &zone : NULL,
							 has_whole ? &whole : NULL, b, &problems);
		if (has_zone && zone.nnulls != nnulls)
			problems = st_problem_add(problems, b, "zone tells of %u nulls where there are %u",
									  zone.nnulls, nnulls);
		total_nulls += nnulls;
		rc_batch_free(batch);
	}
	if (has_whole && whole.nnulls != total_nulls)
		problems = st_problem_add(problems, -1, "footer tells of %u nulls where there are " UINT64_FORMAT,
								  whole.nnulls, total_nulls);
	rc_reader_close(reader);
	return problems;
}

Datum
rc_verify(PG_FUNCTION_ARGS)
{
	return st_verify_function(fcinfo, check_column);
}
