/*-------------------------------------------------------------------------
 *
 * rc_type.c
 *	  From a column's type to how its values are held.
 *
 * Owns the mapping of types to kinds (RcKind) and the list of types that
 * get zones.  Zones are kept only for types whose order is the server's own
 * C code and depends on no setting: no function of a user ever runs inside
 * of the writer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "rc_format.h"
#include "st_compat.h"

/* btree operator families without a macro: fixed OIDs of pg_opfamily.dat */
#define OPF_FLOAT		1970
#define OPF_NUMERIC		1988
#define OPF_DATETIME	434
#define OPF_TIME		1996
#define OPF_TIMETZ		2000
#define OPF_INTERVAL	1982
#define OPF_CHAR		429
#define OPF_UUID		2968
#define OPF_MONEY		2099
#define OPF_MACADDR		1984
#define OPF_MACADDR8	3371
#define OPF_VARBIT		2002
#define OPF_BIT			423

/* byte_order: zones are prefixes; compare: of values passed by reference */
static const struct
{
	Oid			typid;
	Oid			opfamily;
	bool		byte_order;
	PGFunction	compare;
}			zoned_types[] =
{
	{BOOLOID, BOOL_BTREE_FAM_OID},
	{CHAROID, OPF_CHAR},
	{INT2OID, INTEGER_BTREE_FAM_OID},
	{INT4OID, INTEGER_BTREE_FAM_OID},
	{INT8OID, INTEGER_BTREE_FAM_OID},
	{OIDOID, OID_BTREE_FAM_OID},
	{DATEOID, OPF_DATETIME},
	{TIMESTAMPOID, OPF_DATETIME},
	{TIMESTAMPTZOID, OPF_DATETIME},
	{TIMEOID, OPF_TIME},
	{CASHOID, OPF_MONEY},
	{FLOAT4OID, OPF_FLOAT},
	{FLOAT8OID, OPF_FLOAT},
	{NUMERICOID, OPF_NUMERIC, false, numeric_cmp},
	{TIMETZOID, OPF_TIMETZ, false, timetz_cmp},
	{INTERVALOID, OPF_INTERVAL, false, interval_cmp},
	{INETOID, NETWORK_BTREE_FAM_OID, false, network_cmp},
	{CIDROID, NETWORK_BTREE_FAM_OID, false, network_cmp},
	{MACADDROID, OPF_MACADDR, false, macaddr_cmp},
	{MACADDR8OID, OPF_MACADDR8, false, macaddr8_cmp},
	{BITOID, OPF_BIT, false, bitcmp},
	{VARBITOID, OPF_VARBIT, false, bitcmp},
	{TEXTOID, TEXT_BTREE_FAM_OID, true},
	{VARCHAROID, TEXT_BTREE_FAM_OID, true},
	{BPCHAROID, BPCHAR_BTREE_FAM_OID, true},
	{BYTEAOID, BYTEA_BTREE_FAM_OID, true},
	{UUIDOID, OPF_UUID, true},
};

static RcKind
kind_of(Oid typid, int16 typlen, bool typbyval)
{
	if (typid == FLOAT8OID && typbyval)
		return RC_KIND_FLOAT8;
	if (typid == FLOAT4OID)
		return RC_KIND_FLOAT4;
	if (typid == NUMERICOID)
		return RC_KIND_NUMERIC;
	if (typbyval)
		return RC_KIND_INT;
	if (typlen == -1)
		return RC_KIND_BYTES;
	if (typlen == -2)
		return RC_KIND_CSTRING;
	return RC_KIND_FIXED;
}

void
rc_column_type(Form_pg_attribute att, RcColumnType *type)
{
	memset(type, 0, sizeof(*type));
	if (att->attisdropped)
	{
		type->kind = RC_KIND_ABSENT;
		return;
	}
	type->typid = getBaseType(att->atttypid);
	type->typlen = att->attlen;
	type->typbyval = att->attbyval;
	type->align = att->attalign == TYPALIGN_DOUBLE ? 8 :
		att->attalign == TYPALIGN_INT ? 4 :
		att->attalign == TYPALIGN_SHORT ? 2 : 1;
	type->kind = kind_of(type->typid, att->attlen, att->attbyval);
	/* oid and "char" order as unsigned; the rest by value is signed for us */
	type->is_signed = type->typid != OIDOID && type->typid != BOOLOID &&
		type->typid != CHAROID;

	for (int i = 0; i < lengthof(zoned_types); i++)
	{
		if (zoned_types[i].typid != type->typid)
			continue;
		type->opfamily = zoned_types[i].opfamily;
		type->byte_order = zoned_types[i].byte_order;
		type->compare = zoned_types[i].compare;
		break;
	}
}
