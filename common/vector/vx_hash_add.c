/*-------------------------------------------------------------------------
 *
 * vx_hash_add.c
 *	  Rows go into the table of a hash join: one by one, or out of vectors.
 *
 * Out of vectors, a column is added at a time for as many rows as a word of
 * the selection has.  What stands in the same form is copied as it is; a value
 * of a dictionary is looked for, or copied, once for all its rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "vx_hash.h"
#include "st_numeric.h"

/* Values by reference are put into pieces of this size. */
#define SPACE_BYTES		(64 * 1024)

/* First blocks are small: most tables are. */
#define FIRST_BLOCKS	16

/* ---- values ---- */

static void *
get_space(VxHash *hash, Size size)
{
	char	   *result;

	size = MAXALIGN(size);
	hash->unseen += size;
	if (size > SPACE_BYTES / 4)
		return MemoryContextAllocHuge(hash->mcxt, size);
	if (size > hash->left)
	{
		/* the table of a handful of rows takes little */
		hash->left = hash->nrows < ST_VECTOR_SIZE ? SPACE_BYTES / 4 : SPACE_BYTES;
		hash->space = MemoryContextAlloc(hash->mcxt, hash->left);
	}
	result = hash->space;
	hash->space += size;
	hash->left -= size;
	return result;
}

/* A copy with a plain header. */
static Datum
copy_value(VxHash *hash, const VxHashColumn *column, Datum value)
{
	struct varlena *v;
	Size		size;
	char	   *copy;

	if (column->typlen != -1)
	{
		size = datumGetSize(value, false, column->typlen);
		copy = get_space(hash, size);
		memcpy(copy, DatumGetPointer(value), size);
		return PointerGetDatum(copy);
	}
	v = PG_DETOAST_DATUM_PACKED(value);
	size = VARSIZE_ANY_EXHDR(v);
	copy = get_space(hash, size + VARHDRSZ);
	SET_VARSIZE(copy, size + VARHDRSZ);
	memcpy(VARDATA(copy), VARDATA_ANY(v), size);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return PointerGetDatum(copy);
}

/* The rows' values in the column become Datums. */
static void
make_datums(VxHash *hash, int column)
{
	VxHashColumn *c = &hash->columns[column];

	for (uint64 i = 0; i < hash->nrows; i++)
	{
		VxHashRow  *row = vx_hash_row(hash, i);
		bool		isnull;
		Datum		value = vx_hash_value(hash, row, column, &isnull);

		if (isnull)
			continue;
		if (c->rep == VX_REP_DECIMAL64)
		{
			row->values[column] = copy_value(hash, c, value);
			pfree(DatumGetPointer(value));
		}
		else
			row->values[column] = value;
	}
	c->rep = VX_REP_DATUM;
	if (c->by_code)
		memset(c->by_code, 0, sizeof(Datum) * c->ncodes);
}

/* False: it does not fit. */
static bool
put_decimal(VxHashColumn *column, Datum value, Datum *stored)
{
	int128		scaled;
	int			scale;

	if (!st_numeric_to_int128(value, &scaled, &scale) ||
		(column->scale >= 0 && column->scale != scale) ||
		scaled < PG_INT64_MIN || scaled > PG_INT64_MAX)
		return false;
	column->scale = scale;
	*stored = (Datum) (int64) scaled;
	return true;
}

/* Numerics of few digits may come compressed or from another table. */
static Datum
put_value(VxHash *hash, int number, Datum value)
{
	VxHashColumn *column = &hash->columns[number];
	Datum		stored;
	uint32		code;

	if (column->byval)
		return column->rep == VX_REP_INT64 ?
			(Datum) vx_datum_to_int(column->type, column->typlen, value) : value;
	if (column->rep == VX_REP_DECIMAL64 || column->rep == VX_REP_CODE)
	{
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
		if (column->rep == VX_REP_DECIMAL64 && put_decimal(column, value, &stored))
			return stored;
		if (column->rep == VX_REP_CODE && vx_codes_find(column->codes, value, &code))
			return (Datum) code;
		make_datums(hash, number);
	}
	return copy_value(hash, column, value);
}

/* ---- a row ---- */

/* All of its columns are null. */
static VxHashRow *
new_row(VxHash *hash, uint64 hashed)
{
	VxHashRow  *row;

	if (hash->nrows % ST_VECTOR_SIZE == 0)
	{
		int			n = hash->nblocks;

		if (n == 0)
			hash->blocks = MemoryContextAlloc(hash->mcxt, sizeof(char *) * FIRST_BLOCKS);
		else if (n >= FIRST_BLOCKS && (n & (n - 1)) == 0)
			hash->blocks = repalloc_huge(hash->blocks, sizeof(char *) * n * 2);
		hash->blocks[hash->nblocks++] =
			MemoryContextAlloc(hash->mcxt, hash->row_size * ST_VECTOR_SIZE);
	}
	row = vx_hash_row(hash, hash->nrows++);
	row->next = NULL;
	row->hash = hashed;
	row->nulls = (UINT64CONST(1) << hash->ncolumns) - 1;
	memset(row->values, 0, sizeof(Datum) * hash->ncolumns);
	return row;
}

static inline void
set_value(VxHashRow *row, int column, Datum stored)
{
	row->nulls &= ~(UINT64CONST(1) << column);
	row->values[column] = stored;
}

void
vx_hash_add(VxHash *hash, uint64 hashed, const Datum *values, const bool *isnull)
{
	VxHashRow  *row = new_row(hash, hashed);

	for (int i = 0; i < hash->ncolumns; i++)
		if (!isnull[i])
			set_value(row, i, put_value(hash, i, values[i]));
}

/* ---- rows of vectors ---- */

/* Room for what is kept by code; known: of the codes that there were. */
static void
make_by_code(VxHash *hash, VxHashColumn *column, uint32 ncodes, bool known)
{
	Datum	   *by_code = MemoryContextAllocExtended(hash->mcxt, sizeof(Datum) * ncodes,
													 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	if (known)
		memcpy(by_code, column->by_code, sizeof(Datum) * column->ncodes);
	if (column->by_code)
		pfree(column->by_code);
	column->by_code = by_code;
	column->ncodes = ncodes;
}

/* Before codes of the dictionary are added, so that a value is taken once. */
static void
use_dictionary(VxHash *hash, VxHashColumn *column, const VxDictionary *dict, uint64 group)
{
	uint32		limit = vx_dict_limit(dict) + 1;

	if (column->by_code && column->dict == dict && column->dict_made == dict->made &&
		column->dict_group == group)
	{
		/* that of an expression grows */
		if (limit > column->ncodes)
			make_by_code(hash, column, Max(limit, 2 * column->ncodes), true);
		return;
	}
	make_by_code(hash, column, limit, false);
	column->dict = dict;
	column->dict_made = dict->made;
	column->dict_group = group;
}

/* by_code has codes plus one, or pointers: nothing that is zero. */
static Datum
stored_of_code(VxHash *hash, int number, uint32 code)
{
	VxHashColumn *column = &hash->columns[number];
	Datum		known = column->by_code[code];
	Datum		stored;

	if (known != 0)
	{
		if (column->rep != VX_REP_CODE)
			return known;
		column->codes->nseen++;
		return known - 1;
	}
	stored = put_value(hash, number, column->dict->values[code]);
	/* the column may have another form by now */
	column->by_code[code] = column->rep == VX_REP_CODE ? stored + 1 : stored;
	return stored;
}

/* The vector's numbers are what the column keeps. */
static bool
is_same_form(VxHashColumn *column, const VxVector *v)
{
	if (v->rep != column->rep)
		return false;
	if (v->rep != VX_REP_DECIMAL64)
		return v->rep == VX_REP_INT64 || v->rep == VX_REP_FLOAT8;
	if (column->scale < 0)
		column->scale = v->scale;
	return column->scale == v->scale;
}

/* A word of the selection, which begins at row base: its values into the rows. */
static void
add_column(VxHash *hash, int number, const VxVector *v, int base, uint64 word,
		   VxHashRow *const *rows)
{
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);

	if (v->has_nulls)
		word &= v->valid[base / 64];
	if (word == 0)
		return;
	if (is_same_form(&hash->columns[number], v))
		for (; word != 0; word &= word - 1)
		{
			int			i = __builtin_ctzll(word);

			set_value(rows[i], number, (Datum) v->u.i64[base + i]);
		}
	else if (v->rep == VX_REP_CODE)
		for (; word != 0; word &= word - 1)
		{
			int			i = __builtin_ctzll(word);

			set_value(rows[i], number, stored_of_code(hash, number, v->u.code[base + i]));
		}
	else
		for (; word != 0; word &= word - 1)
		{
			int			i = __builtin_ctzll(word);
			Datum		value = vx_vector_datum_in(v, base + i, buffer);

			set_value(rows[i], number, put_value(hash, number, value));
		}
}

void
vx_hash_add_vectors(VxHash *hash, const VxVector *const *vectors, uint64 group,
					const uint64 *hashes, int w, uint64 word)
{
	VxHashRow  *rows[64];
	int			base = w * 64;

	for (uint64 left = word; left != 0; left &= left - 1)
	{
		int			i = __builtin_ctzll(left);

		rows[i] = new_row(hash, hashes[base + i]);
	}
	for (int c = 0; c < hash->ncolumns; c++)
	{
		if (vectors[c]->rep == VX_REP_CODE)
			use_dictionary(hash, &hash->columns[c], vectors[c]->dict, group);
		add_column(hash, c, vectors[c], base, word, rows);
	}
}
