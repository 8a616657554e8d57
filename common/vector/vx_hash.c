/*-------------------------------------------------------------------------
 *
 * vx_hash.c
 *	  Rows in memory, found by keys: the build side of a hash join.
 *
 * Rows stand one after another in blocks: a link, the hash, a mask of nulls,
 * and a word per column.  The table of hashes has open addressing and is
 * made when the number of rows is known.  A lookup takes a vector at a time,
 * and asks for the memory of all its slots before it reads the first.  Numbers
 * that lie close together, as those of primary keys do, need no table: they are
 * places of an array, and neighbours are found beside each other.
 *
 * Numerics of one scale that fit an int64 are kept as that, and strings of
 * few distinct values as codes, until a value comes that does not fit; then
 * the rows at hand are gone through once and changed (vx_hash_add.c).
 *
 * Memory: all of it in one context, which vx_hash_reset() empties.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_hash.h"
#include "vx_memory.h"
#include "st_checksum.h"
#include "st_numeric.h"

/* Rows ahead whose slot is asked for when the table is made. */
#define PREFETCH_ROWS	16

/* With it turned over, int64 are ordered as uint64 are. */
#define SIGN_BIT		(UINT64CONST(1) << 63)

static void
init_column(VxHashColumn *column, Form_pg_attribute attr)
{
	column->type = getBaseType(attr->atttypid);
	column->typlen = attr->attlen;
	column->byval = attr->attbyval;
}

VxHash *
vx_hash_create(TupleDesc desc, int nkeys, VxHashKey *keys, const Oid *eqops)
{
	VxHash	   *hash = palloc0(sizeof(VxHash));

	if (desc->natts > VX_HASH_MAX_COLUMNS)
		elog(ERROR, "%d columns are too many for a hash table of vectors", desc->natts);
	hash->mcxt = AllocSetContextCreate(CurrentMemoryContext, "vector hash table",
									   ALLOCSET_DEFAULT_SIZES);
	hash->ncolumns = desc->natts;
	hash->columns = palloc0(sizeof(VxHashColumn) * (desc->natts + 1));
	for (int i = 0; i < desc->natts; i++)
		init_column(&hash->columns[i], TupleDescAttr(desc, i));
	hash->nkeys = nkeys;
	hash->keys = keys;
	for (int i = 0; i < nkeys; i++)
	{
		Oid			left;
		Oid			right;

		hash->columns[keys[i].column].plain = true;
		hash->key_columns |= UINT64CONST(1) << keys[i].column;
		if (keys[i].kind != VX_KEY_SERVER)
			continue;
		if (!get_op_hash_functions(eqops[i], &left, &right))
			elog(ERROR, "could not find hash function for operator %u", eqops[i]);
		fmgr_info(left, &keys[i].probe_hash);
		fmgr_info(right, &keys[i].row_hash);
		fmgr_info(get_opcode(eqops[i]), &keys[i].equal);
	}
	hash->exact = nkeys == 1 && keys[0].kind == VX_KEY_INT;
	hash->row_size = offsetof(VxHashRow, values) + sizeof(Datum) * desc->natts;
	vx_hash_reset(hash);
	return hash;
}

/* The form in which the column's first values are kept. */
static void
reset_column(VxHash *hash, VxHashColumn *column)
{
	column->scale = -1;
	column->codes = NULL;
	column->by_code = NULL;
	column->rep = vx_type_rep(column->type, column->byval);
	if (column->plain || column->rep != VX_REP_DATUM)
		return;
	if (column->type == NUMERICOID)
		column->rep = VX_REP_DECIMAL64;
	else if (column->type == TEXTOID || column->type == VARCHAROID ||
			 column->type == BPCHAROID)
	{
		MemoryContext old = MemoryContextSwitchTo(hash->mcxt);

		column->codes = palloc0(sizeof(VxCodes));
		vx_codes_init(column->codes, hash->mcxt, column->type, column->typlen);
		column->rep = VX_REP_CODE;
		MemoryContextSwitchTo(old);
	}
}

void
vx_hash_reset(VxHash *hash)
{
	MemoryContextReset(hash->mcxt);
	hash->nrows = 0;
	hash->nblocks = 0;
	hash->blocks = NULL;
	hash->left = 0;
	hash->unseen = 0;
	hash->unique = true;
	hash->finished = false;
	hash->slots = NULL;
	hash->places = NULL;
	for (int i = 0; i < hash->ncolumns; i++)
		reset_column(hash, &hash->columns[i]);
}

/* ---- hashes ---- */

/* The integer of which vx_mix() has made it: by the inverse of its factor. */
static inline uint64
unmix(uint64 h)
{
	return vx_mix_by(h, UINT64CONST(0xcfee444d8b59a89b));
}

static inline uint64
combine(uint64 before, uint64 h)
{
	return vx_mix(before * UINT64CONST(0x9e3779b97f4a7c15) + h);
}

static inline struct varlena *
plain_bytes(Datum value, Oid type, char **data, int *len)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

	*data = VARDATA_ANY(v);
	*len = VARSIZE_ANY_EXHDR(v);
	if (type == BPCHAROID)
		*len = bpchartruelen(*data, *len);
	return v;
}

static uint64
hash_of_bytes(Datum value, Oid type)
{
	char	   *data;
	int			len;
	struct varlena *v = plain_bytes(value, type, &data, &len);
	uint64		h = st_checksum64(data, len, 0);

	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return h;
}

/* probe: the value is one that is looked for. */
static uint64
hash_of_value(VxHashKey *key, Datum value, bool probe)
{
	if (key->kind == VX_KEY_INT)
		return (uint64) vx_integer_of(probe ? key->probe_type : key->type, value);
	if (key->kind == VX_KEY_BYTES)
		return hash_of_bytes(value, probe ? key->probe_type : key->type);
	return DatumGetUInt32(FunctionCall1Coll(probe ? &key->probe_hash : &key->row_hash,
											key->collation, value));
}

bool
vx_hash_of_row(VxHash *hash, const Datum *values, const bool *isnull, uint64 *result)
{
	uint64		h = 0;

	for (int k = 0; k < hash->nkeys; k++)
	{
		VxHashKey  *key = &hash->keys[k];

		if (isnull[key->column])
			return false;
		h = combine(h, hash_of_value(key, values[key->column], false));
	}
	*result = h;
	return true;
}

/* Combines what one key adds. */
static void
hash_key(VxHashKey *key, const VxVector *v, bool probe, const uint64 *selection, int nwords,
		 uint64 *hashes)
{
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);

	if (key->kind == VX_KEY_INT)
	{
		Assert(v->rep == VX_REP_INT64);
		VX_FOREACH_ROW(row, selection, nwords)
			hashes[row] = combine(hashes[row], (uint64) v->u.i64[row]);
		return;
	}
	VX_FOREACH_ROW(row, selection, nwords)
		hashes[row] = combine(hashes[row],
							  hash_of_value(key, vx_vector_datum_in(v, row, buffer), probe));
}

void
vx_hash_of_vectors(VxHash *hash, const VxVector *const *vectors, bool probe, int nrows,
				   uint64 *selection, uint64 *hashes)
{
	int			nwords = (nrows + 63) / 64;

	for (int k = 0; k < hash->nkeys; k++)
		for (int w = 0; vectors[k]->has_nulls && w < nwords; w++)
			selection[w] &= vectors[k]->valid[w];
	memset(hashes, 0, sizeof(uint64) * nrows);
	for (int k = 0; k < hash->nkeys; k++)
		hash_key(&hash->keys[k], vectors[k], probe, selection, nwords, hashes);
}

/* ---- the table of hashes ---- */

static uint64
slots_needed(const VxHash *hash)
{
	return pg_nextpower2_64(Max(hash->nrows + hash->nrows / 2, 16));
}

Size
vx_hash_memory(const VxHash *hash)
{
	Size		used = MemoryContextMemAllocated(hash->mcxt, true);

	return hash->finished ? used : used + slots_needed(hash) * sizeof(VxHashSlot);
}

/* A row hangs in front of those with its hash. */
static inline void
hang_row(VxHash *hash, VxHashRow **place, VxHashRow *row)
{
	if (*place != NULL)
		hash->unique = false;
	row->next = *place;
	*place = row;
}

static bool
has_null_key(const VxHash *hash, const VxHashRow *row)
{
	return (row->nulls & hash->key_columns) != 0;
}

/*
 * Keys that are one integer, and lie close together, are places of an array, if
 * that is no larger than the table would be.
 */
static bool
keys_are_places(VxHash *hash)
{
	uint64		least = PG_UINT64_MAX;
	uint64		most = 0;

	if (!hash->exact)
		return false;
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		const VxHashRow *row = vx_hash_row(hash, i);
		uint64		key = unmix(row->hash) ^ SIGN_BIT;

		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		if (has_null_key(hash, row))
			continue;
		least = Min(least, key);
		most = Max(most, key);
	}
	if (least > most ||
		most - least >= slots_needed(hash) * sizeof(VxHashSlot) / sizeof(VxHashRow *))
		return false;
	hash->first_key = (int64) (least ^ SIGN_BIT);
	hash->nplaces = most - least + 1;
	return true;
}

static void
fill_places(VxHash *hash)
{
	hash->places = vx_table_alloc(hash->mcxt, sizeof(VxHashRow *) * hash->nplaces, true);
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		VxHashRow  *row = vx_hash_row(hash, i);

		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		if (!has_null_key(hash, row))
			hang_row(hash, &hash->places[unmix(row->hash) - (uint64) hash->first_key], row);
	}
}

static void
fill_slots(VxHash *hash)
{
	uint64		mask = slots_needed(hash) - 1;

	hash->nslots = mask + 1;
	hash->slots = vx_table_alloc(hash->mcxt, sizeof(VxHashSlot) * hash->nslots, true);
	for (uint64 i = 0; i < hash->nrows; i++)
	{
		VxHashRow  *row = vx_hash_row(hash, i);
		uint64		at = row->hash & mask;

		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		if (i + PREFETCH_ROWS < hash->nrows)
			__builtin_prefetch(&hash->slots[vx_hash_row(hash, i + PREFETCH_ROWS)->hash & mask],
							   1);
		if (has_null_key(hash, row))
			continue;
		while (hash->slots[at].row != NULL && hash->slots[at].hash != row->hash)
			at = (at + 1) & mask;
		hash->slots[at].hash = row->hash;
		hang_row(hash, &hash->slots[at].row, row);
	}
}

void
vx_hash_finish(VxHash *hash)
{
	if (keys_are_places(hash))
		fill_places(hash);
	else
		fill_slots(hash);
	hash->finished = true;
}

/* ---- finding them ---- */

static VxHashRow *
find_place(const VxHash *hash, uint64 hashed)
{
	uint64		at = unmix(hashed) - (uint64) hash->first_key;

	return at < hash->nplaces ? hash->places[at] : NULL;
}

static void
find_places(const VxHash *hash, const uint64 *hashes, const uint64 *selection, int nwords,
			VxHashRow **found)
{
	VX_FOREACH_ROW(row, selection, nwords)
	{
		uint64		at = unmix(hashes[row]) - (uint64) hash->first_key;

		if (at < hash->nplaces)
			__builtin_prefetch(&hash->places[at]);
	}
	VX_FOREACH_ROW(row, selection, nwords)
	{
		found[row] = find_place(hash, hashes[row]);
		__builtin_prefetch(found[row]);
	}
}

static inline VxHashRow *
find_slot(const VxHashSlot *slots, uint64 mask, uint64 hashed)
{
	uint64		at = hashed & mask;

	while (slots[at].row != NULL && slots[at].hash != hashed)
		at = (at + 1) & mask;
	return slots[at].row;
}

void
vx_hash_find(const VxHash *hash, const uint64 *hashes, const uint64 *selection,
			 int nrows, VxHashRow **found)
{
	int			nwords = (nrows + 63) / 64;
	const VxHashSlot *slots = hash->slots;
	uint64		mask = hash->nslots - 1;

	memset(found, 0, sizeof(VxHashRow *) * nrows);
	if (hash->places)
	{
		find_places(hash, hashes, selection, nwords, found);
		return;
	}
	VX_FOREACH_ROW(row, selection, nwords)
		__builtin_prefetch(&slots[hashes[row] & mask]);
	VX_FOREACH_ROW(row, selection, nwords)
	{
		found[row] = find_slot(slots, mask, hashes[row]);
		__builtin_prefetch(found[row]);
	}
}

static bool
bytes_equal(const VxHashKey *key, Datum probe, Datum value)
{
	char	   *a;
	char	   *b;
	int			alen;
	int			blen;

	(void) plain_bytes(probe, key->probe_type, &a, &alen);
	(void) plain_bytes(value, key->type, &b, &blen);
	return alen == blen && memcmp(a, b, alen) == 0;
}

static bool
key_equals(VxHash *hash, VxHashKey *key, const VxHashRow *row, Datum probe)
{
	Datum		value = row->values[key->column];
	bool		isnull;

	if (key->kind == VX_KEY_INT)
		return vx_integer_of(key->probe_type, probe) == (int64) value;
	if (key->kind == VX_KEY_BYTES)
		return bytes_equal(key, probe, value);
	value = vx_hash_value(hash, row, key->column, &isnull);
	return DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, probe, value));
}

uint64
vx_hash_of_keys(VxHash *hash, const Datum *keys)
{
	uint64		h = 0;

	for (int k = 0; k < hash->nkeys; k++)
		h = combine(h, hash_of_value(&hash->keys[k], keys[k], true));
	return h;
}

bool
vx_hash_values_equal(VxHash *hash, const Datum *values, const Datum *keys)
{
	for (int k = 0; k < hash->nkeys; k++)
	{
		VxHashKey  *key = &hash->keys[k];
		Datum		value = values[key->column];
		bool		equal;

		if (key->kind == VX_KEY_INT)
			equal = vx_integer_of(key->probe_type, keys[k]) == vx_integer_of(key->type, value);
		else if (key->kind == VX_KEY_BYTES)
			equal = bytes_equal(key, keys[k], value);
		else
			equal = DatumGetBool(FunctionCall2Coll(&key->equal, key->collation, keys[k], value));
		if (!equal)
			return false;
	}
	return true;
}

VxHashRow *
vx_hash_lookup(VxHash *hash, const Datum *keys)
{
	uint64		h = vx_hash_of_keys(hash, keys);
	VxHashRow  *row = hash->places ? find_place(hash, h) :
		find_slot(hash->slots, hash->nslots - 1, h);

	for (; row != NULL; row = row->next)
	{
		int			k = 0;

		while (k < hash->nkeys && key_equals(hash, &hash->keys[k], row, keys[k]))
			k++;
		if (k == hash->nkeys)
			break;
	}
	return row;
}

bool
vx_hash_keys_equal(VxHash *hash, const VxHashRow *row, const VxVector *const *vectors,
				   int at)
{
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);

	for (int k = 0; k < hash->nkeys; k++)
	{
		VxHashKey  *key = &hash->keys[k];
		const VxVector *v = vectors[k];
		bool		equal;

		if (key->kind == VX_KEY_INT)
			equal = v->u.i64[at] == (int64) row->values[key->column];
		else
			equal = key_equals(hash, key, row, vx_vector_datum_in(v, at, buffer));
		if (!equal)
			return false;
	}
	return true;
}

/* ---- values of rows ---- */

Datum
vx_hash_value(const VxHash *hash, const VxHashRow *row, int column, bool *isnull)
{
	const VxHashColumn *c = &hash->columns[column];
	Datum		value = row->values[column];
	VxVector	v;
	int64		number = (int64) value;

	*isnull = (row->nulls & (UINT64CONST(1) << column)) != 0;
	if (*isnull)
		return (Datum) 0;
	if (c->rep == VX_REP_CODE)
		return c->codes->dict.values[(uint32) value];
	if (c->rep != VX_REP_INT64 && c->rep != VX_REP_DECIMAL64)
		return value;
	v.rep = c->rep;
	v.scale = c->scale;
	v.typlen = c->typlen;
	v.u.i64 = &number;
	return vx_vector_datum(&v, 0);
}

/* Which of the rows have a value; sets validity. */
static void
gather_nulls(int column, VxHashRow *const *rows, int n, VxVector *v)
{
	uint64		bit = UINT64CONST(1) << column;

	v->has_nulls = false;
	for (int base = 0; base < n; base += 64)
	{
		uint64		word = 0;
		int			end = Min(n, base + 64);

		for (int i = base; i < end; i++)
			if (rows[i] != NULL && (rows[i]->nulls & bit) == 0)
				word |= UINT64CONST(1) << (i - base);
		v->valid[base / 64] = word;
		v->has_nulls |= pg_popcount64(word) != end - base;
	}
}

void
vx_hash_gather(const VxHash *hash, int column, VxHashRow *const *rows, int n, VxVector *v)
{
	const VxHashColumn *c = &hash->columns[column];

	v->rep = c->rep;
	v->n = n;
	v->constant = false;
	v->typlen = c->typlen;
	v->scale = Max(c->scale, 0);
	v->dict = c->rep == VX_REP_CODE ? &c->codes->dict : NULL;
	gather_nulls(column, rows, n, v);
	switch (c->rep)
	{
		case VX_REP_CODE:
			for (int i = 0; i < n; i++)
				v->u.code[i] = rows[i] ? (uint32) rows[i]->values[column] : 0;
			break;
		case VX_REP_FLOAT4:
			for (int i = 0; i < n; i++)
				v->u.f32[i] = rows[i] ? DatumGetFloat4(rows[i]->values[column]) : 0;
			break;
		default:
			for (int i = 0; i < n; i++)
				v->u.datum[i] = rows[i] ? rows[i]->values[column] : (Datum) 0;
			break;
	}
}
