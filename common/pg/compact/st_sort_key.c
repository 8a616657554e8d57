/*-------------------------------------------------------------------------
 *
 * st_sort_key.c
 *	  Values of several types as one string of bytes with the same order.
 *
 * A sort compares rows a hundred times where it writes them once.  With keys
 * of several columns each comparison looks for the columns in both rows; one
 * string behind the row is compared at once.
 *
 * A value begins with a byte that says whether it is null, and where nulls
 * go.  Integers and times stand with the highest byte first and the sign
 * turned over; floats likewise, negative ones with all bits turned over;
 * strings end with a zero, which none of them has.  A descending value has
 * its bytes turned over.  A beginning of the string has the same order, but for
 * rows that are equal so far.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "port/pg_bswap.h"
#include "utils/uuid.h"

#include "st_compat.h"
#include "st_sort_key.h"

/* First byte. */
#define NULL_FIRST	0
#define VALUE		1
#define NULL_LAST	2

bool
st_sort_key_is_supported(Oid type, Oid collation)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case UUIDOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
			return OidIsValid(collation) && st_collation_is_c(collation);
		default:
			return false;
	}
}

/* With the order of the values. */
static uint64
word_of_int(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

/* All NaN are equal and above all else; so are the two zeros among each other. */
static uint64
word_of_float(double value)
{
	uint64		bits;

	if (isnan(value))
		return PG_UINT64_MAX;
	value = value == 0 ? 0 : value;
	memcpy(&bits, &value, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64CONST(1) << 63;
}

static void
add_string(StringInfo key, Datum value)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

	appendBinaryStringInfo(key, VARDATA_ANY(v), Min(VARSIZE_ANY_EXHDR(v), ST_SORT_KEY_BYTES));
	appendStringInfoCharMacro(key, '\0');
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
}

static uint64
word_of(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
			return word_of_int(DatumGetBool(value));
		case INT2OID:
			return word_of_int(DatumGetInt16(value));
		case INT4OID:
		case DATEOID:
			return word_of_int(DatumGetInt32(value));
		case OIDOID:
			return word_of_int(DatumGetObjectId(value));
		case FLOAT4OID:
			return word_of_float(DatumGetFloat4(value));
		case FLOAT8OID:
			return word_of_float(DatumGetFloat8(value));
		default:
			return word_of_int(DatumGetInt64(value));
	}
}

static void
add_value(StringInfo key, Oid type, Datum value)
{
	uint64		word;

	switch (type)
	{
		case TEXTOID:
		case VARCHAROID:
			add_string(key, value);
			break;
		case UUIDOID:
			appendBinaryStringInfo(key, (char *) DatumGetUUIDP(value)->data, UUID_LEN);
			break;
		default:
			word = pg_hton64(word_of(type, value));
			appendBinaryStringInfo(key, (char *) &word, sizeof(word));
			break;
	}
}

void
st_sort_key_add(StringInfo key, Oid type, bool desc, bool nulls_first, Datum value,
				bool isnull)
{
	int			start = key->len + 1;

	appendStringInfoCharMacro(key, !isnull ? VALUE : nulls_first ? NULL_FIRST : NULL_LAST);
	if (isnull)
		return;
	add_value(key, type, value);
	for (int i = start; desc && i < key->len; i++)
		key->data[i] = ~key->data[i];
}
