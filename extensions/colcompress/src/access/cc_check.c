/*-------------------------------------------------------------------------
 *
 * cc_check.c
 *	  Values of a column of a row group against what its zones claim.
 *
 * Decodes every vector.  Raises what the reader raises for damaged bytes;
 * returns what decodes but contradicts a zone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "cc_access.h"
#include "cc_vector.h"
#include "st_compat.h"

/* One column under check. */
typedef struct ColumnCheck
{
	Form_pg_attribute att;
	TypeCacheEntry *type;
	Oid			collation;
	bool		is_bpchar;
	int64		vecno;
	List	   *problems;		/* of CcProblem * */
} ColumnCheck;

static void add_problem(ColumnCheck *check, const char *fmt,...) pg_attribute_printf(2, 3);

static void
add_problem(ColumnCheck *check, const char *fmt,...)
{
	CcProblem  *problem = palloc(sizeof(CcProblem));
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		args;
		int			needed;

		va_start(args, fmt);
		needed = appendStringInfoVA(&buf, fmt, args);
		va_end(args);
		if (needed == 0)
			break;
		enlargeStringInfo(&buf, needed);
	}
	problem->vecno = check->vecno;
	problem->message = buf.data;
	check->problems = lappend(check->problems, problem);
}

/* Bytes of a varlena that count in comparisons: char(n) has blanks that do not. */
static StStr
comparable_bytes(const ColumnCheck *check, struct varlena *v)
{
	StStr		s;

	s.data = (const uint8_t *) VARDATA_ANY(v);
	s.len = VARSIZE_ANY_EXHDR(v);
	if (check->is_bpchar)
		s.len = bpchartruelen(VARDATA_ANY(v), s.len);
	return s;
}

/* memcmp; a prefix is less. */
static int
compare_bytes(StStr a, StStr b)
{
	int			c = memcmp(a.data, b.data, Min(a.len, b.len));

	if (c != 0)
		return c;
	return a.len < b.len ? -1 : (a.len > b.len ? 1 : 0);
}

static bool
starts_with(StStr s, StStr prefix)
{
	return s.len >= prefix.len && memcmp(s.data, prefix.data, prefix.len) == 0;
}

/* Order of value against bound, by bytes. */
static int
compare_strings(const ColumnCheck *check, Datum value, Datum bound,
				bool bound_truncated)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	struct varlena *b = PG_DETOAST_DATUM_PACKED(bound);
	StStr		s = comparable_bytes(check, v);
	StStr		limit = comparable_bytes(check, b);
	int			c = compare_bytes(s, limit);

	if (c > 0 && bound_truncated && starts_with(s, limit))
		c = 0;
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	if ((Pointer) b != DatumGetPointer(bound))
		pfree(b);
	return c;
}

/* Can the bounds of the zone be compared with values at all, here and now? */
static bool
can_compare(const ColumnCheck *check, const CcZone *zone)
{
	if (!zone->has_minmax)
		return false;
	if (zone->byte_order)
		return check->att->attlen == -1;
	return check->type->btree_opf == zone->opfamily &&
		OidIsValid(check->type->cmp_proc_finfo.fn_oid);
}

static void
check_bounds(ColumnCheck *check, const CcZone *zone, Datum value, int row)
{
	int			low;
	int			high;

	if (zone->byte_order)
	{
		low = compare_strings(check, value, zone->min, false);
		high = compare_strings(check, value, zone->max, zone->max_truncated);
	}
	else
	{
		low = DatumGetInt32(FunctionCall2Coll(&check->type->cmp_proc_finfo,
											  check->collation, value, zone->min));
		high = DatumGetInt32(FunctionCall2Coll(&check->type->cmp_proc_finfo,
											   check->collation, value, zone->max));
	}
	if (low < 0)
		add_problem(check, "value of row %d is less than its zone's minimum", row);
	if (high > 0)
		add_problem(check, "value of row %d is greater than its zone's maximum", row);
}

/* Compares the values of one vector with a zone, its own or the chunk's. */
static void
check_vector(ColumnCheck *check, const CcVector *vector, const CcZone *zone)
{
	bool		compare = can_compare(check, zone);
	int			nbefore = list_length(check->problems);

	for (int i = 0; i < vector->n; i++)
	{
		Datum		value;

		if (!compare || cc_vector_isnull(vector, i))
			continue;
		value = cc_vector_datum(vector, i);
		check_bounds(check, zone, value, i);
		if (list_length(check->problems) > nbefore)
			return;				/* one per vector tells enough */
	}
}

static uint32
count_nulls(const CcVector *vector)
{
	uint32		nnulls = 0;

	for (int i = 0; i < vector->n; i++)
		nnulls += cc_vector_isnull(vector, i);
	return nnulls;
}

/*
 * Checks column attno of the reader's row group.  Returns a list of
 * CcProblem *, in the current context, which also takes the work memory.
 */
List *
cc_check_column(Relation rel, StReader *reader, AttrNumber attno)
{
	ColumnCheck check = {0};
	CcZone		chunk_zone;
	bool		has_chunk_zone;
	uint32		nvectors = cc_reader_nvectors(reader);
	uint64		nnulls = 0;
	uint64		nrows = 0;

	check.att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	check.type = lookup_type_cache(check.att->atttypid,
								   TYPECACHE_BTREE_OPFAMILY | TYPECACHE_CMP_PROC_FINFO);
	check.collation = check.att->attcollation;
	check.is_bpchar = getBaseType(check.att->atttypid) == BPCHAROID;
	has_chunk_zone = cc_reader_zone(reader, attno, -1, &chunk_zone);

	for (uint32 v = 0; v < nvectors; v++)
	{
		const CcVector *vector = cc_reader_vector(reader, attno, v);
		uint32		vector_nulls = count_nulls(vector);
		CcZone		zone;

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
	return check.problems;
}
