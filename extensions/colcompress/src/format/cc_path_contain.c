/*-------------------------------------------------------------------------
 *
 * cc_path_contain.c
 *	  "document @> constant" on shredded documents.
 *
 * The constant is an object of scalars and objects, so it says what stands
 * at some paths.  Each of these tests is decided by a leaf, or against it if
 * another leaf has the row's value there; where the value is in a container
 * above or in the residue, the operator is asked, with the document.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "cc_path_int.h"
#include "st_dict.h"
#include "st_numeric.h"

static StStr
text_bytes(Datum text)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(text);

	return (StStr) {(const uint8_t *) VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v)};
}

static bool
same_bytes(StStr a, StStr b)
{
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* The string's code in a sorted dictionary, or nvalues. */
static uint32
code_of(const VxDictionary *dict, StStr s)
{
	uint32		lo = 0;
	uint32		hi = dict->nvalues;

	while (lo < hi)
	{
		uint32		mid = lo + (hi - lo) / 2;
		StStr		value = text_bytes(dict->values[mid]);

		if (st_str_compare(&value, &s) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < dict->nvalues && same_bytes(text_bytes(dict->values[lo]), s))
		return lo;
	return dict->nvalues;
}

static void
equal_strings(const VxVector *v, StStr s, uint64 *equal)
{
	if (v->rep == VX_REP_CODE)
	{
		uint32		code = code_of(v->dict, s);

		for (int row = 0; row < v->n; row++)
			equal[row / 64] |= (uint64) (v->u.code[row] == code) << (row % 64);
		return;
	}
	for (int row = 0; row < v->n; row++)
	{
		if (!vx_vector_isnull(v, row) && same_bytes(text_bytes(v->u.datum[row]), s))
			equal[row / 64] |= UINT64CONST(1) << (row % 64);
	}
}

/* The constant as an integer of the vector's scale; false: it is none. */
static bool
scaled_constant(Datum num, int scale, int128 *value)
{
	int			from;

	if (!st_numeric_to_int128(num, value, &from))
		return false;
	for (; from < scale; from++)
	{
		if (__builtin_mul_overflow(*value, (int128) 10, value))
			return false;
	}
	for (; from > scale; from--)
	{
		if (*value % 10 != 0)
			return false;
		*value /= 10;
	}
	return true;
}

/* Rows whose number equals num, whatever their scale. */
static void
equal_numbers(const VxVector *v, Datum num, uint64 *equal)
{
	int128		value;

	if (v->rep == VX_REP_DECIMAL64 || v->rep == VX_REP_DECIMAL128)
	{
		if (!scaled_constant(num, v->scale, &value))
			return;
		for (int row = 0; row < v->n; row++)
		{
			int128		here = v->rep == VX_REP_DECIMAL64 ? v->u.i64[row] : v->u.i128[row];

			equal[row / 64] |= (uint64) (here == value) << (row % 64);
		}
		return;
	}
	for (int row = 0; row < v->n; row++)
	{
		if (!vx_vector_isnull(v, row) &&
			DatumGetBool(DirectFunctionCall2(numeric_eq, vx_vector_datum(v, row), num)))
			equal[row / 64] |= UINT64CONST(1) << (row % 64);
	}
}

/* Rows in which the leaf's value is the test's; nulls may be among them. */
static void
equal_rows(const VxPathTest *test, const VxVector *v, uint64 *equal)
{
	int64	   *num;

	switch (test->value.type)
	{
		case ST_JSONB_STRING:
			equal_strings(v, (StStr) {test->value.data, test->value.len}, equal);
			break;
		case ST_JSONB_NUMERIC:
			num = palloc(test->value.len);
			memcpy(num, test->value.data, test->value.len);
			equal_numbers(v, PointerGetDatum(num), equal);
			break;
		case ST_JSONB_NULL:
			memset(equal, 0xFF, CC_PATH_WORDS(v->n) * sizeof(uint64));
			break;
		default:
			for (int row = 0; row < v->n; row++)
				equal[row / 64] |= (uint64) ((v->u.i64[row] != 0) ==
											 (test->value.type == ST_JSONB_TRUE)) << (row % 64);
			break;
	}
}

static CcLeafKind
kind_of(uint32 type)
{
	switch (type)
	{
		case ST_JSONB_STRING:
			return CC_LEAF_STRING;
		case ST_JSONB_NUMERIC:
			return CC_LEAF_NUMERIC;
		case ST_JSONB_NULL:
			return CC_LEAF_NULL;
		default:
			return CC_LEAF_BOOL;
	}
}

/*
 * Takes rows that fail the test out of maybe; of those that are left, rows
 * that the test does not decide are set in doubt.
 */
static void
run_test(StReader *r, CcChunk *chunk, const VxPathTest *test, uint32 vecno,
		 const uint64 *selection, const uint64 *residue, uint64 *maybe, uint64 *doubt)
{
	uint32		n = cc_reader_vector_rows(r, vecno);
	CcLeafKind	kind = kind_of(test->value.type);
	uint64		equal[VX_VALIDITY_WORDS] = {0};
	uint64		valid[VX_VALIDITY_WORDS];
	CcPathPlace place;
	CcPathRows	rows;

	cc_path_place(chunk->shred->tree, test->nkeys, test->keys, &place);
	cc_path_rows(r, chunk, &place, vecno, selection, &rows);
	if (rows.leaf[kind] != NULL)
		equal_rows(test, rows.leaf[kind], equal);
	cc_path_valid(rows.leaf[kind], n, valid);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		uint64		open = ~rows.own[w] & ~rows.below[w] & (rows.inside[w] | residue[w]);

		maybe[w] &= (equal[w] & valid[w]) | open;
		doubt[w] |= open;
	}
}

const VxVector *
cc_path_contains(StReader *r, CcChunk *chunk, VxPath *path, uint32 vecno,
				 const uint64 *selection)
{
	uint32		n = cc_reader_vector_rows(r, vecno);
	VxVector   *v = vx_path_begin(path, VX_REP_INT64, n);
	uint64		maybe[VX_VALIDITY_WORDS];
	uint64		doubt[VX_VALIDITY_WORDS] = {0};
	uint64		residue[VX_VALIDITY_WORDS];

	memcpy(maybe, selection, CC_PATH_WORDS(n) * sizeof(uint64));
	cc_path_valid(cc_shred_vector(r, chunk, chunk->shred->tree->nleaves, vecno, selection),
				  n, residue);
	for (int i = 0; i < path->ntests; i++)
		run_test(r, chunk, &path->tests[i], vecno, selection, residue, maybe, doubt);

	v->has_nulls = cc_shred_validity(r, chunk, vecno, v->valid);
	for (uint32 row = 0; row < n; row++)
		v->u.i64[row] = (maybe[row / 64] >> (row % 64)) & 1;
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		for (uint64 left = maybe[w] & doubt[w]; left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			bool		isnull;

			if (!vx_vector_isnull(v, row))
				v->u.i64[row] =
					DatumGetBool(vx_path_call(path, cc_shred_document(r, chunk, vecno, row,
																	  selection),
											  &isnull));
		}
	}
	return v;
}
