/*-------------------------------------------------------------------------
 *
 * sf_type.c
 *	  From a column's type to how its values are held, and back.
 *
 * Owns the mapping of types to kinds (SfKind) and the list of types that
 * get zones.  Zones are kept only for types whose order is the server's own
 * C code and depends on no setting: no function of a user ever runs inside
 * of a writer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "sf_type.h"
#include "st_bytes.h"
#include "st_compat.h"
#include "st_str.h"

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

static SfKind
kind_of(Oid typid, int16 typlen, bool typbyval)
{
	if (typid == FLOAT8OID && typbyval)
		return SF_KIND_FLOAT8;
	if (typid == FLOAT4OID)
		return SF_KIND_FLOAT4;
	if (typid == NUMERICOID)
		return SF_KIND_NUMERIC;
	if (typbyval)
		return SF_KIND_INT;
	if (typlen == -1)
		return SF_KIND_BYTES;
	if (typlen == -2)
		return SF_KIND_CSTRING;
	return SF_KIND_FIXED;
}

bool
sf_encoding_fits(SfKind kind, int encoding)
{
	/* integers, floats, decimals of 64 and of 128 bits */
	static const SfKind kinds[] = {
		SF_KIND_ABSENT, SF_KIND_INT, SF_KIND_FLOAT8, SF_KIND_FLOAT4,
		SF_KIND_NUMERIC, SF_KIND_NUMERIC
	};

	if (encoding < lengthof(kinds))
		return encoding > 0 && kind == kinds[encoding];
	return encoding <= lengthof(kinds) + 2 && kind >= SF_KIND_NUMERIC;
}

SfStorage
sf_storage(SfKind kind)
{
	static const SfStorage storage[] = {
		SF_STORE_NONE, SF_STORE_INT64, SF_STORE_FLOAT8, SF_STORE_FLOAT4
	};

	return kind < lengthof(storage) ? storage[kind] : SF_STORE_BYTES;
}

void
sf_column_type(Form_pg_attribute att, SfColumnType *type)
{
	memset(type, 0, sizeof(*type));
	if (att->attisdropped)
	{
		type->kind = SF_KIND_ABSENT;
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

void
sf_expression_type(Oid typid, SfColumnType *type)
{
	FormData_pg_attribute att = {.atttypid = typid};

	get_typlenbyvalalign(typid, &att.attlen, &att.attbyval, &att.attalign);
	sf_column_type(&att, type);
}

int64
sf_change_sign(const SfColumnType *type, int64 v)
{
	switch (type->typlen)
	{
		case 1:
			return type->is_signed ? (int64) (int8) v : (int64) (uint8) v;
		case 4:
			return type->is_signed ? (int64) (int32) v : (int64) (uint32) v;
		default:
			return v;
	}
}

uint32
sf_value_room(const SfColumnType *type)
{
	switch (type->kind)
	{
		case SF_KIND_FIXED:
			return 0;
		case SF_KIND_CSTRING:
			return 1;			/* the terminator of the value before */
		default:
			return VARHDRSZ;
	}
}

uint32
sf_value_align(const SfColumnType *type)
{
	if (type->kind == SF_KIND_CSTRING)
		return 1;
	return type->kind == SF_KIND_FIXED ? type->align :
		Max(type->align, sizeof(int32));
}

Datum
sf_value_datum(const SfColumnType *type, uint8 *data, uint32 len)
{
	switch (type->kind)
	{
		case SF_KIND_FIXED:
			return PointerGetDatum(data);
		case SF_KIND_CSTRING:
			data[len] = '\0';
			return PointerGetDatum(data);
		default:
			SET_VARSIZE(data - VARHDRSZ, len + VARHDRSZ);
			return PointerGetDatum(data - VARHDRSZ);
	}
}

void
sf_value_datums(const SfColumnType *type, uint8 *arena, const uint32 *off,
				const uint32 *lens, uint32 n, Datum *values)
{
	if (type->kind == SF_KIND_FIXED || type->kind == SF_KIND_CSTRING)
	{
		for (uint32 i = 0; i < n; i++)
			values[i] = sf_value_datum(type, arena + off[i], lens[i]);
		return;
	}
	for (uint32 i = 0; i < n; i++)
	{
		uint8	   *header = arena + off[i] - VARHDRSZ;

		SET_VARSIZE(header, lens[i] + VARHDRSZ);
		values[i] = PointerGetDatum(header);
	}
}

/* ---- dictionaries ---- */

static bool
decode_part(const SfColumnType *type, StByteReader *b, const StStrScheme *raw,
			Datum *values, uint32 n, MemoryContext mcxt)
{
	uint32		off[ST_VECTOR_SIZE];
	uint32		lens[ST_VECTOR_SIZE];
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);
	uint32		room = sf_value_room(type);
	uint32		align = sf_value_align(type);
	size_t		need;
	uint8	   *arena;

	if (p == NULL || st_str_decoded_size(raw, p, len, n, room, align, &need) != ST_OK)
		return false;
	arena = MemoryContextAllocHuge(mcxt, need + 1);
	if (st_str_decode(raw, p, len, n, room, align, arena, need, off, lens) != ST_OK)
		return false;
	for (uint32 i = 0; i < n && type->kind == SF_KIND_FIXED; i++)
	{
		if (lens[i] != type->typlen)
			return false;
	}
	sf_value_datums(type, arena, off, lens, n, values);
	return true;
}

bool
sf_dictionary_decode(const SfColumnType *type, const uint8 *bytes, Size len,
					 uint32 n, Datum *values, MemoryContext mcxt)
{
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	bool		ok = true;
	StByteReader b;

	st_str_scheme_raw(raw);
	st_reader_init(&b, bytes, len);
	for (uint32 first = 0; first < n && ok; first += ST_VECTOR_SIZE)
		ok = decode_part(type, &b, raw, values + first,
						 Min(ST_VECTOR_SIZE, n - first), mcxt);
	pfree(raw);
	return ok && st_reader_finish(&b) == ST_OK;
}

/* ---- columns that a row group does not have ---- */

VxVector *
sf_missing_vector(TupleDesc desc, AttrNumber attno, bool added, MemoryContext mcxt)
{
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	VxVector   *v = palloc0(sizeof(VxVector));
	Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
	Oid			type = getBaseType(att->atttypid);
	bool		isnull = true;
	Datum		value = (Datum) 0;

	if (added)
		value = getmissingattr(desc, attno, &isnull);
	if (!isnull)
		value = datumCopy(value, att->attbyval, att->attlen);
	v->rep = vx_type_rep(type, att->attbyval);
	v->typlen = att->attlen;
	v->has_nulls = isnull;
	v->constant = !isnull;
	v->u.datum = palloc0(ST_VECTOR_SIZE * sizeof(Datum));
	for (int i = 0; !isnull && i < ST_VECTOR_SIZE; i++)
		vx_vector_put(v, type, i, value);
	MemoryContextSwitchTo(old);
	return v;
}
