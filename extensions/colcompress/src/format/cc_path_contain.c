/*-------------------------------------------------------------------------
 *
 * cc_path_contain.c
 *	  "document @> constant" on shredded documents.
 *
 * The constant is an object of scalars and objects, so it says what stands
 * at some paths.  Each of these tests is decided by a leaf, or against it if
 * another leaf has the row's value there; where the value is in a container
 * above or in the residue, the operator is asked, with a document of what the
 * tests look at.
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

/* Leaves that a test looks at, for documents of them alone. */
static void
add_leaves(StReader *r, CcChunk *chunk, const CcPathPlace *place, uint32 vecno,
		   const uint64 *selection, const CcPathRows *rows, CcDocSource *source)
{
	for (int i = 0; i < place->ncontainers; i++)
		source->leaf[place->containers[i]] =
			cc_shred_vector(r, chunk, place->containers[i], vecno, selection);
	for (int k = 0; k < CC_LEAF_KINDS && place->node >= 0; k++)
	{
		int			leaf = source->tree->nodes[place->node].leaf[k];

		if (leaf >= 0)
			source->leaf[leaf] = rows->leaf[k];
	}
}

/*
 * Takes rows that fail the test out of maybe; of those that are left, rows
 * that the test does not decide are set in doubt.
 */
static void
run_test(StReader *r, CcChunk *chunk, const VxPathTest *test, uint32 vecno,
		 const uint64 *selection, const uint64 *residue, CcDocSource *source,
		 uint64 *maybe, uint64 *doubt)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
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
	add_leaves(r, chunk, &place, vecno, selection, &rows, source);
}

/* The operator, on what the tests look at in a row. */
static bool
ask_operator(StReader *r, VxPath *path, const CcDocSource *source, int row,
			 CcDocArena *arena)
{
	CcLeafSet	present = {{0}};
	bool		isnull;
	Datum		document;

	for (int leaf = 0; leaf < source->tree->nleaves; leaf++)
	{
		if (source->leaf[leaf] != NULL && !vx_vector_isnull(source->leaf[leaf], row))
			cc_leaf_add(&present, leaf);
	}
	document = cc_shred_object(r, source, 0, &present, cc_doc_residue(source, row), row,
							   arena);
	return DatumGetBool(vx_path_call(path, document, &isnull));
}

const VxVector *
cc_path_contains(StReader *r, CcChunk *chunk, VxPath *path, uint32 vecno,
				 const uint64 *selection)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	VxVector   *v = vx_path_begin(path, VX_REP_INT64, n);
	uint64		maybe[VX_VALIDITY_WORDS];
	uint64		doubt[VX_VALIDITY_WORDS] = {0};
	uint64		residue[VX_VALIDITY_WORDS];
	CcDocSource source = {0};
	CcDocArena	arena = {0};

	memcpy(maybe, selection, CC_PATH_WORDS(n) * sizeof(uint64));
	source.tree = chunk->shred->tree;
	source.shapes = chunk->shred->source.shapes;
	source.residue = cc_shred_vector(r, chunk, source.tree->nleaves, vecno, selection);
	cc_path_valid(source.residue, n, residue);
	for (int i = 0; i < path->ntests; i++)
		run_test(r, chunk, &path->tests[i], vecno, selection, residue, &source, maybe, doubt);

	v->has_nulls = cc_shred_validity(r, chunk, vecno, v->valid);
	for (uint32 row = 0; row < n; row++)
		v->u.i64[row] = (maybe[row / 64] >> (row % 64)) & 1;
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		for (uint64 left = maybe[w] & doubt[w]; left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);

			if (!vx_vector_isnull(v, row))
				v->u.i64[row] = ask_operator(r, path, &source, row, &arena);
		}
	}
	return v;
}
