/*-------------------------------------------------------------------------
 *
 * cc_check.c
 *	  verify(): values of a column of a row group against what its zones
 *	  claim.
 *
 * Decodes every vector.  Raises what the reader raises for damaged bytes;
 * returns what decodes but contradicts a zone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "cc_vector.h"
#include "st_compat.h"
#include "st_inspect.h"

PG_FUNCTION_INFO_V1(cc_verify);

/* One column under check. */
typedef struct ColumnCheck
{
	StZoneCheck zone;
	int64		vecno;
	List	   *problems;		/* of StProblem * */
} ColumnCheck;

#define add_problem(check, ...) \
	((check)->problems = st_problem_add((check)->problems, (check)->vecno, __VA_ARGS__))

/* Compares the values of one vector with a zone, its own or the chunk's. */
static void
check_vector(ColumnCheck *check, const VxVector *vector, const StZone *zone)
{
	bool		compare = st_zone_check_usable(&check->zone, zone);

	for (int i = 0; i < vector->n; i++)
	{
		const char *wrong;

		if (!compare || vx_vector_isnull(vector, i))
			continue;
		wrong = st_zone_check_value(&check->zone, zone, vx_vector_datum(vector, i));
		if (wrong == NULL)
			continue;
		add_problem(check, "value of row %d is %s", i, wrong);
		return;					/* one per vector tells enough */
	}
}

static uint32
count_nulls(const VxVector *vector)
{
	uint32		nnulls = 0;

	for (int i = 0; i < vector->n; i++)
		nnulls += vx_vector_isnull(vector, i);
	return nnulls;
}

static List *
check_column(Relation rel, const StGroup *group, AttrNumber attno)
{
	StReader   *reader = cc_reader_open(rel, group, CurrentMemoryContext);
	ColumnCheck check = {0};
	StZone		chunk_zone;
	bool		has_chunk_zone;
	uint32		nvectors = cc_reader_nvectors(reader);
	uint64		nnulls = 0;
	uint64		nrows = 0;

	st_zone_check_init(&check.zone, TupleDescAttr(RelationGetDescr(rel), attno - 1));
	has_chunk_zone = cc_reader_zone(reader, attno, -1, &chunk_zone);

	for (uint32 v = 0; v < nvectors; v++)
	{
		const VxVector *vector = cc_reader_vector(reader, attno, v);
		uint32		vector_nulls = count_nulls(vector);
		StZone		zone;

		CHECK_FOR_INTERRUPTS();
		check.vecno = v;
		if (vector->n != (int) cc_reader_vector_rows(reader, v))
			add_problem(&check, "vector has %d values where %u are expected",
						vector->n, cc_reader_vector_rows(reader, v));
		if (cc_reader_zone(reader, attno, v, &zone))
		{
			if (zone.nrows != vector->n || zone.nnulls != vector_nulls)
				add_problem(&check, "zone tells of %u values and %u nulls where there are %d and %u",
							zone.nrows, zone.nnulls, vector->n, vector_nulls);
			check_vector(&check, vector, &zone);
		}
		if (has_chunk_zone)
			check_vector(&check, vector, &chunk_zone);
		nnulls += vector_nulls;
		nrows += vector->n;
	}
	check.vecno = -1;
	if (has_chunk_zone && (chunk_zone.nrows != nrows || chunk_zone.nnulls != nnulls))
		add_problem(&check, "zone of the column chunk tells of %u values and %u nulls where there are " UINT64_FORMAT " and " UINT64_FORMAT,
					chunk_zone.nrows, chunk_zone.nnulls, nrows, nnulls);
	cc_reader_close(reader);
	return check.problems;
}

Datum
cc_verify(PG_FUNCTION_ARGS)
{
	return st_verify_function(fcinfo, check_column);
}
