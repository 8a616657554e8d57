/*-------------------------------------------------------------------------
 *
 * cc_elements.c
 *	  Elements of arrays as vectors of their own: no array is put together.
 *
 * What stands at paths below an array has sub-columns with a value for each
 * element (cc_array.h).  A reader of elements stands for that column of
 * elements: it is asked for vectors and paths of it, whatever the number of
 * the column.  A path with the number of an element in it is one of elements,
 * too: of those with that number.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_path_int.h"
#include "vx_batch.h"
#include "st_compat.h"

/* A path through the arrays of a leaf. */
typedef struct CcElementPath
{
	int			leaf;
	int			depth;			/* keys in front of the number */
	uint32		number;
	VxPath		path;			/* what is behind it */
} CcElementPath;

/* More digits are not looked at: no array has so many elements. */
#define MAX_DIGITS 8

/* ---- elements of rows ---- */

/* Has a selected row something at the path that the leaf has not? */
static bool
any_elsewhere(StReader *r, CcChunk *chunk, const VxPath *path, const CcPathPlace *place,
			  int leaf, uint32 vecno, const uint64 *selection)
{
	const CcPathTree *tree = chunk->shred->tree;
	const CcPathNode *node = &tree->nodes[place->node];
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const VxVector *residue = cc_shred_vector(r, chunk, tree->nleaves, vecno, selection);
	uint64		own[VX_VALIDITY_WORDS];
	uint64		rest[VX_VALIDITY_WORDS];
	uint64		others[VX_VALIDITY_WORDS] = {0};

	cc_shred_leaf_rows(r, chunk, leaf, vecno, own);
	cc_path_valid(residue, n, rest);
	for (int i = 0; i < place->ncontainers; i++)
		cc_path_add_rows(r, chunk, place->containers[i], vecno, others);
	for (int i = 0; i < tree->nleaves; i++)
		if (i != leaf && (cc_leaf_in(&node->own, i) || cc_leaf_in(&node->below, i)))
			cc_path_add_rows(r, chunk, i, vecno, others);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		if ((selection[w] & others[w]) != 0)
			return true;
		for (uint64 left = selection[w] & rest[w] & ~own[w]; left != 0; left &= left - 1)
			if (cc_residue_may_have(path, residue, w * 64 + __builtin_ctzll(left)))
				return true;
	}
	return false;
}

/* The arrays at a path, where selected rows have nothing else there; or NULL. */
static CcChunk *
arrays_at(StReader *r, CcChunk *chunk, const VxPath *path, uint32 vecno,
		  const uint64 *selection)
{
	CcPathPlace place;
	CcChunk    *sub;
	int			leaf;

	if (chunk->shred == NULL)
		return NULL;
	cc_path_place(chunk->shred->tree, path->nkeys, path->keys, &place);
	if (place.node < 0)
		return NULL;
	leaf = chunk->shred->tree->nodes[place.node].leaf[CC_LEAF_JSON];
	sub = leaf < 0 ? NULL : cc_shred_chunk(r, chunk, leaf);
	if (sub == NULL || sub->array == NULL ||
		any_elsewhere(r, chunk, path, &place, leaf, vecno, selection))
		return NULL;
	return sub;
}

static StReader *
reader_of_elements(StReader *r, CcChunk *arrays)
{
	StReader   *reader = arrays->array->reader;

	if (reader == NULL)
	{
		CcChunk    *elements = cc_array_chunk_make(r, arrays, CC_ARRAY_ELEMENTS);

		reader = MemoryContextAllocZero(r->mcxt, sizeof(StReader));
		reader->of = r;
		reader->elements = elements;
		reader->nrows = elements->nrows;
		reader->nvectors = elements->nvectors;
		arrays->array->reader = reader;
	}
	return reader;
}

bool
cc_reader_elements(StReader *r, AttrNumber attno, const VxPath *path, uint32 vecno,
				   const uint64 *selection, VxElementPlaces *places)
{
	CcChunk    *chunk = cc_column_is_missing(r, attno) ? NULL : cc_chunk_open(r, attno);

	if (chunk != NULL && path != NULL)
		chunk = arrays_at(r, chunk, path, vecno, selection);
	if (chunk == NULL || chunk->array == NULL)
		return false;
	if (chunk->array->entries[CC_ARRAY_ELEMENTS].encoding != CC_ENC_SHRED ||
		!cc_array_places(r, chunk, vecno, selection, places->start, places->length))
		return false;
	places->reader = reader_of_elements(r, chunk);
	return true;
}

/* ---- elements by number ---- */

/* The number that a key is; false: none, or one that counts from the end. */
static bool
is_number(StStr key, uint32 *number)
{
	*number = 0;
	for (uint32 i = 0; i < key.len; i++)
	{
		if (key.data[i] < '0' || key.data[i] > '9')
			return false;
		*number = *number * 10 + (key.data[i] - '0');
	}
	return key.len > 0 && key.len <= MAX_DIGITS;
}

/* What is behind the first n keys of a path of one step that takes all keys. */
static void
path_behind(StReader *r, const VxPath *path, int n, VxPath *behind)
{
	VxPathStep *step = &behind->steps[0];

	*behind = *path;
	behind->nkeys -= n;
	behind->keys += n;
	behind->hints = palloc0(behind->nkeys * sizeof(StJsonbHint));
	step->arg = step->behind[n];
	step->behind += n;
	step->nkeys -= n;
	behind->mcxt = AllocSetContextCreate(r->mcxt, "path of elements", ALLOCSET_SMALL_SIZES);
	behind->call_mcxt = AllocSetContextCreate(r->mcxt, "path operators of elements",
											  ALLOCSET_SMALL_SIZES);
	behind->words = palloc0(ST_VECTOR_SIZE * sizeof(int64));
	behind->codes = palloc0(ST_VECTOR_SIZE * sizeof(uint32));
	/* what a path keeps between vectors is its own */
	memset(&behind->v, 0, sizeof(behind->v));
	memset(&behind->integers, 0, sizeof(behind->integers));
	memset(&behind->dictionary, 0, sizeof(behind->dictionary));
	behind->coded = false;
	memset(&behind->text, 0, sizeof(behind->text));
}

/* Are all keys of the path those of a #> or #>>? */
static bool
is_of_one_step(const VxPath *path)
{
	return path->kind <= VX_PATH_PRINT && !path->lax && path->nsteps == 1 &&
		path->steps[0].behind != NULL && path->steps[0].nkeys == path->nkeys;
}

struct CcElementPath *
cc_element_path_create(StReader *r, CcChunk *chunk, const VxPath *path,
					   const CcPathPlace *place)
{
	const CcPathTree *tree = chunk->shred->tree;
	CcElementPath *element;
	MemoryContext old;
	CcChunk    *arrays;
	uint32		number;
	int			depth;

	if (place->node >= 0 || place->ncontainers != 1 || !is_of_one_step(path))
		return NULL;
	depth = tree->nodes[tree->leaves[place->containers[0]].node].depth;
	arrays = cc_shred_chunk(r, chunk, place->containers[0]);
	if (depth + 1 >= path->nkeys || !is_number(path->keys[depth], &number) ||
		arrays == NULL || arrays->array == NULL ||
		cc_array_chunk(r, arrays, CC_ARRAY_ELEMENTS)->shred == NULL)
		return NULL;
	old = MemoryContextSwitchTo(r->mcxt);
	element = palloc0(sizeof(CcElementPath));
	element->leaf = place->containers[0];
	element->depth = depth;
	element->number = number;
	path_behind(r, path, depth + 1, &element->path);
	MemoryContextSwitchTo(old);
	return element;
}

/* Rows from the given one on whose element is in the vector; the row behind them. */
static uint32
take_elements(StReader *r, CcChunk *arrays, const CcElementPath *element,
			  const CcArrayPlaces *places, const uint64 *rows, uint32 row, VxVector *v)
{
	uint32		vecno = (places->start[row] + element->number) / ST_VECTOR_SIZE;
	uint64		selection[VX_VALIDITY_WORDS] = {0};
	uint32		end = row;
	const VxVector *values;

	for (; end < (uint32) v->n; end++)
	{
		uint32		at = places->start[end] + element->number;

		if (!vx_rows_isset(rows, end))
			continue;
		if (at / ST_VECTOR_SIZE != vecno)
			break;
		vx_rows_set(selection, at % ST_VECTOR_SIZE);
	}
	values = cc_chunk_path(r, cc_array_chunk(r, arrays, CC_ARRAY_ELEMENTS),
						   (VxPath *) &element->path, vecno, selection);
	for (; row < end; row++)
	{
		uint32		at = (places->start[row] + element->number) % ST_VECTOR_SIZE;

		if (!vx_rows_isset(rows, row))
			continue;
		/* the next vector of elements takes its place */
		v->valid[row / 64] |= UINT64CONST(1) << (row % 64);
		if (vx_vector_isnull(values, at))
			vx_path_set_null(v, row);
		else
			v->u.datum[row] = datumCopy(vx_vector_datum(values, at), false, -1);
	}
	return end;
}

/* Selected rows whose array has the element; those that are kept whole are asked. */
static void
take_arrays(StReader *r, CcChunk *arrays, VxPath *path, const CcElementPath *element,
			uint32 vecno, const uint64 *selection, VxVector *v)
{
	uint32		n = v->n;
	uint64		rows[VX_VALIDITY_WORDS] = {0};
	const VxVector *types = cc_array_types(r, arrays, vecno, selection);
	const CcArrayPlaces *places;

	if (types == NULL)
		return;
	places = &arrays->array->places;
	VX_FOREACH_ROW(row, selection, (int) CC_PATH_WORDS(n))
	{
		bool		isnull;

		if (vx_vector_isnull(types, row))
			continue;
		if (places->length[row] != CC_ARRAY_NOT_SPLIT)
		{
			if (element->number < places->length[row])
				vx_rows_set(rows, row);
			continue;
		}
		v->u.datum[row] = vx_path_call_behind(path, element->depth,
											  vx_vector_datum(types, row), &isnull);
		if (!isnull)
			v->valid[row / 64] |= UINT64CONST(1) << (row % 64);
	}
	for (uint32 row = 0; row < n;)
	{
		if (vx_rows_isset(rows, row))
			row = take_elements(r, arrays, element, places, rows, row, v);
		else
			row++;
	}
}

const VxVector *
cc_element_path(StReader *r, CcChunk *chunk, VxPath *path, const CcElementPath *element,
				uint32 vecno, const uint64 *selection)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	CcChunk    *arrays = cc_shred_chunk(r, chunk, element->leaf);
	const VxVector *residue = cc_shred_vector(r, chunk, chunk->shred->tree->nleaves, vecno,
											  selection);
	VxVector   *v = vx_path_begin(path, VX_REP_DATUM, n);
	uint64		inside[VX_VALIDITY_WORDS];
	uint64		rest[VX_VALIDITY_WORDS];

	v->has_nulls = true;
	memset(v->valid, 0, sizeof(v->valid));
	cc_shred_leaf_rows(r, chunk, element->leaf, vecno, inside);
	cc_path_valid(residue, n, rest);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		for (uint64 left = selection[w] & rest[w] & ~inside[w]; left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			bool		isnull;

			if (!cc_residue_may_have(path, residue, row))
				continue;
			v->u.datum[row] = vx_path_call(path, vx_vector_datum(residue, row), &isnull);
			if (!isnull)
				v->valid[w] |= UINT64CONST(1) << (row % 64);
		}
	}
	take_arrays(r, arrays, path, element, vecno, selection, v);
	return v;
}
