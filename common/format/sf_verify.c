/*-------------------------------------------------------------------------
 *
 * sf_verify.c
 *	  verify(): values of a column of a row group against what its zones
 *	  claim.
 *
 * Decodes every vector, as a scan does.  Raises what the reader raises for
 * damaged bytes; returns what decodes but contradicts a zone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "sf_library.h"
#include "st_compat.h"

/* One column under check. */
typedef struct ColumnCheck
{
	StZoneCheck zone;
	int64		vecno;
	List	   *problems;		/* of StProblem * */
} ColumnCheck;

#define add_problem(check, ...) \
	((check)->problems = st_problem_add((check)->problems, (check)->vecno, __VA_ARGS__))

/* Compares the values of one vector with a zone, its own or the row group's. */
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

/* Adds a problem if the zone tells of other numbers of values and nulls. */
static void
check_counts(ColumnCheck *check, const StZone *zone, uint64 nrows, uint64 nnulls)
{
	if (zone->nrows != nrows || zone->nnulls != nnulls)
		add_problem(check, "zone tells of %u values and %u nulls where there are " UINT64_FORMAT " and " UINT64_FORMAT,
					zone->nrows, zone->nnulls, nrows, nnulls);
}

static uint32
count_nulls(const VxVector *vector)
{
	uint32		nnulls = 0;

	for (int i = 0; i < vector->n; i++)
		nnulls += vx_vector_isnull(vector, i);
	return nnulls;
}

List *
sf_check_column(Relation rel, const StGroup *group, AttrNumber attno)
{
	StReader   *reader = vx_format->store->reader_open(rel, group, CurrentMemoryContext);
	ColumnCheck check = {0};
	StZone		whole;
	bool		has_whole = vx_format->zone(reader, attno, -1, &whole);
	uint64		all[VX_VALIDITY_WORDS];
	uint64		nnulls = 0;
	uint64		nrows = 0;

	memset(all, 0xFF, sizeof(all));
	st_zone_check_init(&check.zone, TupleDescAttr(RelationGetDescr(rel), attno - 1));
	for (uint32 v = 0; v < vx_format->vectors(reader); v++)
	{
		const VxVector *vector = vx_format->vector(reader, attno, v, all);
		uint32		vector_nulls = count_nulls(vector);
		StZone		zone;

		CHECK_FOR_INTERRUPTS();
		check.vecno = v;
		if (vector->n != (int) vx_vector_rows(reader, v))
			add_problem(&check, "there are %d values where %u are expected",
						vector->n, vx_vector_rows(reader, v));
		if (vx_format->zone(reader, attno, v, &zone))
		{
			check_counts(&check, &zone, vector->n, vector_nulls);
			check_vector(&check, vector, &zone);
		}
		if (has_whole)
			check_vector(&check, vector, &whole);
		nnulls += vector_nulls;
		nrows += vector->n;
	}
	check.vecno = -1;
	if (has_whole)
		check_counts(&check, &whole, nrows, nnulls);
	vx_format->store->reader_close(reader);
	return check.problems;
}
