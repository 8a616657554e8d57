/*-------------------------------------------------------------------------
 *
 * st_zone_check.c
 *	  Values against what their zone claims: for verify().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "st_compat.h"
#include "st_inspect.h"

void
st_zone_check_init(StZoneCheck *check, Form_pg_attribute att)
{
	check->att = att;
	check->type = lookup_type_cache(att->atttypid,
									TYPECACHE_BTREE_OPFAMILY | TYPECACHE_CMP_PROC_FINFO);
	check->collation = att->attcollation;
	check->is_bpchar = getBaseType(att->atttypid) == BPCHAROID;
}

/* Bytes of a varlena that count in comparisons: char(n) has blanks that do not. */
static StStr
comparable_bytes(const StZoneCheck *check, struct varlena *v)
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
compare_strings(const StZoneCheck *check, Datum value, Datum bound,
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

bool
st_zone_check_usable(const StZoneCheck *check, const StZone *zone)
{
	if (!zone->has_minmax)
		return false;
	if (zone->byte_order)
		return check->att->attlen == -1;
	return check->type->btree_opf == zone->opfamily &&
		OidIsValid(check->type->cmp_proc_finfo.fn_oid);
}

const char *
st_zone_check_value(const StZoneCheck *check, const StZone *zone, Datum value)
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
		return "less than its zone's minimum";
	if (high > 0)
		return "greater than its zone's maximum";
	return NULL;
}
