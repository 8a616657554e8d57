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
	/* char(n) has blanks that do not count, of all others every byte does */
	check->bytes_type = getBaseType(att->atttypid) == BPCHAROID ? BPCHAROID : TEXTOID;
}

/* Order of value against bound, by bytes. */
static int
compare_strings(const StZoneCheck *check, Datum value, Datum bound,
				bool bound_truncated)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	struct varlena *b = PG_DETOAST_DATUM_PACKED(bound);
	StStr		s = st_string_bytes(PointerGetDatum(v), check->bytes_type);
	StStr		limit = st_string_bytes(PointerGetDatum(b), check->bytes_type);
	int			c = st_string_compare(s, limit);

	if (c > 0 && bound_truncated && st_string_starts_with(s, limit))
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
