/*-------------------------------------------------------------------------
 *
 * cc_type.c
 *	  From a column's type to how its values are held.
 *
 * Owns the mapping of types to kinds (CcKind) and the list of types that
 * get zones.  Zones are kept only for types whose order is the server's own
 * C code: no function of a user ever runs inside the writer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"

#include "cc_format.h"
#include "st_compat.h"

/* btree operator families of built-in types, fixed OIDs of pg_opfamily.dat */
#define OPF_INTEGER		INTEGER_BTREE_FAM_OID
#define OPF_TEXT		TEXT_BTREE_FAM_OID
#define OPF_BPCHAR		BPCHAR_BTREE_FAM_OID
#define OPF_BYTEA		BYTEA_BTREE_FAM_OID
#define OPF_BOOL		BOOL_BTREE_FAM_OID
#define OPF_OID			OID_BTREE_FAM_OID
#define OPF_FLOAT		1970
#define OPF_NUMERIC		1988
#define OPF_DATETIME	434
#define OPF_TIME		1996
#define OPF_CHAR		429
#define OPF_UUID		2968
#define OPF_MONEY		2099

static const struct
{
	Oid			typid;
	Oid			opfamily;
	bool		byte_order;
}			zoned_types[] =
{
	{BOOLOID, OPF_BOOL, false},
	{CHAROID, OPF_CHAR, false},
	{INT2OID, OPF_INTEGER, false},
	{INT4OID, OPF_INTEGER, false},
	{INT8OID, OPF_INTEGER, false},
	{OIDOID, OPF_OID, false},
	{DATEOID, OPF_DATETIME, false},
	{TIMESTAMPOID, OPF_DATETIME, false},
	{TIMESTAMPTZOID, OPF_DATETIME, false},
	{TIMEOID, OPF_TIME, false},
	{CASHOID, OPF_MONEY, false},
	{FLOAT4OID, OPF_FLOAT, false},
	{FLOAT8OID, OPF_FLOAT, false},
	{NUMERICOID, OPF_NUMERIC, false},
	{TEXTOID, OPF_TEXT, true},
	{VARCHAROID, OPF_TEXT, true},
	{BPCHAROID, OPF_BPCHAR, true},
	{BYTEAOID, OPF_BYTEA, true},
	{UUIDOID, OPF_UUID, true},
};

static CcKind
kind_of(Oid typid, int16 typlen, bool typbyval)
{
	if (typid == FLOAT8OID && typbyval)
		return CC_KIND_FLOAT8;
	if (typid == FLOAT4OID)
		return CC_KIND_FLOAT4;
	if (typid == NUMERICOID)
		return CC_KIND_NUMERIC;
	if (typbyval)
		return CC_KIND_INT;
	if (typlen == -1)
		return CC_KIND_BYTES;
	if (typlen == -2)
		return CC_KIND_CSTRING;
	return CC_KIND_FIXED;
}

void
cc_column_type(Form_pg_attribute att, CcColumnType *type)
{
	memset(type, 0, sizeof(*type));
	if (att->attisdropped)
	{
		type->kind = CC_KIND_ABSENT;
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
		if (zoned_types[i].typid == type->typid)
		{
			type->opfamily = zoned_types[i].opfamily;
			type->byte_order = zoned_types[i].byte_order;
			break;
		}
	}
}

void
cc_builtin_attribute(Oid type, Form_pg_attribute att)
{
	memset(att, 0, sizeof(*att));
	att->atttypid = type;
	att->attbyval = type == BOOLOID;
	att->attlen = type == BOOLOID ? 1 : -1;
	att->attalign = type == BOOLOID ? TYPALIGN_CHAR : TYPALIGN_INT;
	Assert(type == TEXTOID || type == NUMERICOID || type == BOOLOID || type == JSONBOID);
}
