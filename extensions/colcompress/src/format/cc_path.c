/*-------------------------------------------------------------------------
 *
 * cc_path.c
 *	  Values at paths of shredded jsonb documents.
 *
 * A row's value is, in this order: that of a leaf at the path; the object of
 * the leaves that lie below the path, and of what the residue has there; in a
 * container above that was taken whole; in the residue, if there is one; or
 * nothing.  No document is put together.  Where the leaves of one kind have all values of a
 * vector, the result is the sub-column's own vector, codes of its dictionary
 * included.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "cc_path_int.h"
#include "cc_shred_text.h"
#include "st_compat.h"

/* A path in the tree of one chunk, kept with the chunk. */
typedef struct CcPathCache
{
	struct CcPathCache *next;
	uint64		id;
	CcPathPlace place;
	VxDictionary *json;			/* strings of the leaf's dictionary, as jsonb */
	struct CcPart *part;		/* of a PART */
	struct CcWhole *whole;		/* of one that vx_path_is_whole() */
	struct CcElementPath *element;	/* of one through an array, or NULL */
} CcPathCache;

/* "false", "true" as text, and as type bool prints them. */
static Datum bool_texts[2];
static Datum bool_letters[2];
static const VxDictionary bool_dictionary = {2, 0, true, bool_texts, 0};
static const VxDictionary letter_dictionary = {2, 0, true, bool_letters, 0};

static inline const VxDictionary *
dictionary_of_bools(const VxPath *path)
{
	return vx_path_is_json_value(path) ? &letter_dictionary : &bool_dictionary;
}

void
cc_path_place(const CcPathTree *tree, int nkeys, const StStr *keys, CcPathPlace *place)
{
	int			node = 0;

	place->ncontainers = 0;
	for (int i = 0; i < nkeys && node >= 0; i++)
	{
		if (tree->nodes[node].leaf[CC_LEAF_JSON] >= 0)
			place->containers[place->ncontainers++] = tree->nodes[node].leaf[CC_LEAF_JSON];
		node = cc_path_child(tree, node, keys[i]);
	}
	place->node = node;
}

void
cc_path_valid(const VxVector *v, uint32 n, uint64 *words)
{
	if (v == NULL)
		memset(words, 0, CC_PATH_WORDS(n) * sizeof(uint64));
	else if (v->has_nulls)
		memcpy(words, v->valid, CC_PATH_WORDS(n) * sizeof(uint64));
	else
		memset(words, 0xFF, CC_PATH_WORDS(n) * sizeof(uint64));
}

static void
add_valid(const VxVector *v, uint32 n, uint64 *words)
{
	uint64		valid[VX_VALIDITY_WORDS];

	if (v == NULL)
		return;
	cc_path_valid(v, n, valid);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
		words[w] |= valid[w];
}

void
cc_path_add_rows(StReader *r, CcChunk *chunk, int leaf, uint32 vecno, uint64 *words)
{
	uint64		valid[VX_VALIDITY_WORDS];

	cc_shred_leaf_rows(r, chunk, leaf, vecno, valid);
	for (uint32 w = 0; w < CC_PATH_WORDS(cc_chunk_vector_rows(chunk, vecno)); w++)
		words[w] |= valid[w];
}

void
cc_path_rows(StReader *r, CcChunk *chunk, const CcPathPlace *place, uint32 vecno,
			 const uint64 *selection, CcPathRows *rows)
{
	const CcPathTree *tree = chunk->shred->tree;
	uint32		n = cc_chunk_vector_rows(chunk, vecno);

	memset(rows, 0, sizeof(*rows));
	for (int i = 0; i < place->ncontainers; i++)
		cc_path_add_rows(r, chunk, place->containers[i], vecno, rows->inside);
	if (place->node < 0)
		return;
	for (int k = 0; k < CC_LEAF_KINDS; k++)
	{
		int			leaf = tree->nodes[place->node].leaf[k];

		if (leaf < 0)
			continue;
		rows->leaf[k] = cc_shred_vector(r, chunk, leaf, vecno, selection);
		add_valid(rows->leaf[k], n, rows->own);
	}
	for (int leaf = 0; leaf < tree->nleaves; leaf++)
	{
		if (cc_leaf_in(&tree->nodes[place->node].below, leaf))
			cc_path_add_rows(r, chunk, leaf, vecno, rows->below);
	}
}

/* ---- values of leaves ---- */

static Datum
scalar_json(JsonbValue *value)
{
	return JsonbPGetDatum(JsonbValueToJsonb(value));
}

static Datum
string_json(Datum text)
{
	JsonbValue	value;

	value.type = jbvString;
	value.val.string.val = VARDATA_ANY(DatumGetPointer(text));
	value.val.string.len = VARSIZE_ANY_EXHDR(DatumGetPointer(text));
	return scalar_json(&value);
}

/* A leaf's value in a row, as jsonb. */
static Datum
leaf_json(CcLeafKind kind, const VxVector *v, int row)
{
	JsonbValue	value;

	switch (kind)
	{
		case CC_LEAF_STRING:
			return string_json(vx_vector_datum(v, row));
		case CC_LEAF_NUMERIC:
			value.type = jbvNumeric;
			value.val.numeric = DatumGetNumeric(vx_vector_datum(v, row));
			return scalar_json(&value);
		case CC_LEAF_BOOL:
			value.type = jbvBool;
			value.val.boolean = v->u.i64[row] != 0;
			return scalar_json(&value);
		case CC_LEAF_NULL:
			value.type = jbvNull;
			return scalar_json(&value);
		case CC_LEAF_JSON:
			break;
	}
	return vx_vector_datum(v, row);
}

/* As jsonb prints it. */
static Datum
leaf_print(VxPath *path, CcLeafKind kind, const VxVector *v, int row)
{
	vx_text_begin(&path->text);
	cc_text_value(kind, v, row, &path->text);
	return vx_text_finish(&path->text);
}

/* As text; JSON null is null. */
static Datum
leaf_text(VxPath *path, CcLeafKind kind, const VxVector *v, int row, bool *isnull)
{
	switch (kind)
	{
		case CC_LEAF_STRING:
			return vx_vector_datum(v, row);
		case CC_LEAF_BOOL:
			return dictionary_of_bools(path)->values[v->u.i64[row] != 0];
		case CC_LEAF_NULL:
			*isnull = true;
			return (Datum) 0;
		case CC_LEAF_JSON:
			*isnull = vx_path_is_json_value(path);
			if (*isnull)
				return (Datum) 0;
			pg_fallthrough;
		default:
			return leaf_print(path, kind, v, row);
	}
}

/* As the path has it. */
static Datum
leaf_value(VxPath *path, CcLeafKind kind, const VxVector *v, int row, bool *isnull)
{
	if (path->kind == VX_PATH_JSON)
		return leaf_json(kind, v, row);
	if (path->kind == VX_PATH_PRINT)
		return leaf_print(path, kind, v, row);
	return leaf_text(path, kind, v, row, isnull);
}

/* The kind that alone has values in a vector; -1: none has; -2: several. */
static int
only_kind(const CcPathRows *rows)
{
	int			only = -1;

	for (int k = 0; k < CC_LEAF_KINDS; k++)
	{
		if (rows->leaf[k] == NULL)
			continue;
		if (only >= 0)
			return -2;
		only = k;
	}
	return only;
}

static void
copy_nulls(VxVector *v, const VxVector *from)
{
	v->has_nulls = from->has_nulls;
	if (v->has_nulls)
		memcpy(v->valid, from->valid, sizeof(v->valid));
}

/* Codes of a dictionary of strings, with the dictionary as jsonb. */
static const VxVector *
json_codes(StReader *r, VxPath *path, CcPathCache *cache, const VxVector *from)
{
	VxVector   *v;

	if (cache->json == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(r->mcxt);
		VxDictionary *dict = palloc0(sizeof(VxDictionary));

		dict->nvalues = from->dict->nvalues;
		dict->values = palloc(Max(1, dict->nvalues) * sizeof(Datum));
		for (uint32 i = 0; i < dict->nvalues; i++)
			dict->values[i] = string_json(from->dict->values[i]);
		cache->json = dict;
		MemoryContextSwitchTo(old);
	}
	v = vx_path_begin(path, VX_REP_CODE, from->n);
	v->u.code = from->u.code;
	v->dict = cache->json;
	copy_nulls(v, from);
	return v;
}

static const VxVector *
bool_codes(VxPath *path, const VxVector *from)
{
	VxVector   *v = vx_path_begin(path, VX_REP_CODE, from->n);

	for (int i = 0; i < from->n; i++)
		v->u.code[i] = from->u.i64[i] != 0;
	v->dict = dictionary_of_bools(path);
	copy_nulls(v, from);
	return v;
}

static void
make_bool_texts(void)
{
	if (bool_texts[1] == (Datum) 0)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		bool_letters[0] = CStringGetTextDatum("f");
		bool_letters[1] = CStringGetTextDatum("t");
		bool_texts[0] = CStringGetTextDatum("false");
		bool_texts[1] = CStringGetTextDatum("true");
		MemoryContextSwitchTo(old);
	}
}

/* ---- vectors ---- */

/* What rows have that no leaf at the path has. */
typedef struct Outside
{
	CcDocSource source;			/* leaves below the path, and the residue */
	CcDocArena	arena;
	const VxVector *containers[CC_SHRED_MAX_DEPTH + 1];
} Outside;

static Outside *
find_outside(StReader *r, CcChunk *chunk, const CcPathPlace *place, uint32 vecno,
			 const VxVector *residue, const uint64 *selection)
{
	const CcPathTree *tree = chunk->shred->tree;
	Outside    *outside = palloc0(sizeof(Outside));

	outside->source.tree = tree;
	outside->source.shapes = chunk->shred->source.shapes;
	outside->source.residue = residue;
	for (int i = 0; i < place->ncontainers; i++)
		outside->containers[i] = cc_shred_vector(r, chunk, place->containers[i], vecno,
												 selection);
	for (int leaf = 0; leaf < tree->nleaves && place->node >= 0; leaf++)
	{
		if (cc_leaf_in(&tree->nodes[place->node].below, leaf))
			outside->source.leaf[leaf] = cc_shred_vector(r, chunk, leaf, vecno, selection);
	}
	return outside;
}

/* The object that a row has at a place: of leaves below it, and of the residue. */
static Datum
object_below(StReader *r, CcChunk *chunk, VxPath *path, const CcPathPlace *place,
			 Outside *outside, int row)
{
	const CcDocSource *source = &outside->source;
	CcLeafSet	present = {{0}};

	for (int leaf = 0; leaf < source->tree->nleaves; leaf++)
	{
		if (source->leaf[leaf] != NULL && !vx_vector_isnull(source->leaf[leaf], row))
			cc_leaf_add(&present, leaf);
	}
	if (path->kind == VX_PATH_JSON)
		return cc_shred_object(r, source, place->node, &present, cc_doc_residue(source, row),
							   row, &outside->arena);
	vx_text_begin(&path->text);
	cc_text_object(r, source, cc_shred_texts(r, chunk), place->node, &present,
				   cc_doc_residue(source, row), row, &path->text);
	return vx_text_finish(&path->text);
}

/*
 * The value of a row that no leaf has: in a container above, or in the
 * residue.
 */
static Datum
outside_value(const CcPathTree *tree, VxPath *path, const CcPathPlace *place,
			  const Outside *outside, int row, bool *isnull)
{
	for (int i = 0; i < place->ncontainers; i++)
	{
		const VxVector *v = outside->containers[i];

		if (v != NULL && !vx_vector_isnull(v, row))
			return vx_path_call_behind(path,
									   tree->nodes[tree->leaves[place->containers[i]].node].depth,
									   vx_vector_datum(v, row), isnull);
	}
	return vx_path_call(path, vx_vector_datum(outside->source.residue, row), isnull);
}

/* A vector of Datums, row by row. */
static const VxVector *
mixed_values(StReader *r, CcChunk *chunk, VxPath *path, const CcPathPlace *place,
			 uint32 vecno, const CcPathRows *rows, const VxVector *residue,
			 const uint64 *selection)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	VxVector   *v = vx_path_begin(path, VX_REP_DATUM, n);
	Outside    *outside = find_outside(r, chunk, place, vecno, residue, selection);
	uint64		rest[VX_VALIDITY_WORDS];

	cc_path_valid(residue, n, rest);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		uint64		other = rows->inside[w] | rest[w];

		CHECK_FOR_INTERRUPTS();

		for (uint64 left = selection[w]; left != 0; left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);
			int			row = w * 64 + bit;
			bool		isnull = false;
			int			k = 0;

			v->u.datum[row] = (Datum) 0;
			while (k < CC_LEAF_KINDS &&
				   (rows->leaf[k] == NULL || vx_vector_isnull(rows->leaf[k], row)))
				k++;
			if (k < CC_LEAF_KINDS)
				v->u.datum[row] = leaf_value(path, k, rows->leaf[k], row, &isnull);
			else if (((rows->below[w] >> bit) & 1) && vx_path_is_json_value(path))
				isnull = true;
			else if ((rows->below[w] >> bit) & 1)
				v->u.datum[row] = object_below(r, chunk, path, place, outside, row);
			else if ((other >> bit) & 1)
				v->u.datum[row] = outside_value(chunk->shred->tree, path, place, outside,
												row, &isnull);
			else
				isnull = true;
			if (isnull)
				vx_path_set_null(v, row);
		}
	}
	return v;
}

bool
cc_residue_may_have(const VxPath *path, const VxVector *residue, int row)
{
	const struct varlena *rest = cc_doc_varlena(residue, row);

	return st_jsonb_find((const uint8 *) VARDATA(rest), VARSIZE(rest) - VARHDRSZ, path->keys[0],
						 &path->hints[0], NULL) != ST_NOTFIT;
}

/* Is there a selected row whose value is not that of a leaf, or may not be? */
static bool
any_outside(const VxPath *path, const CcPathRows *rows, const VxVector *residue, uint32 n,
			const uint64 *selection)
{
	uint64		rest[VX_VALIDITY_WORDS];

	cc_path_valid(residue, n, rest);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		uint64		others = selection[w] & ~rows->own[w];

		if ((others & (rows->below[w] | rows->inside[w])) != 0)
			return true;
		for (others &= rest[w]; others != 0; others &= others - 1)
			if (cc_residue_may_have(path, residue, w * 64 + __builtin_ctzll(others)))
				return true;
	}
	return false;
}

static const VxVector *
path_values(StReader *r, CcChunk *chunk, VxPath *path, CcPathCache *cache,
			uint32 vecno, const uint64 *selection)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const VxVector *residue = cc_shred_vector(r, chunk, chunk->shred->tree->nleaves, vecno,
											  selection);
	CcPathRows	rows;
	int			kind;

	cc_path_rows(r, chunk, &cache->place, vecno, selection, &rows);
	kind = only_kind(&rows);
	if (kind >= 0 && !any_outside(path, &rows, residue, n, selection))
	{
		const VxVector *leaf = rows.leaf[kind];

		if (kind == CC_LEAF_STRING && path->kind == VX_PATH_TEXT)
			return leaf;
		if (kind == CC_LEAF_STRING && path->kind == VX_PATH_JSON && leaf->rep == VX_REP_CODE)
			return json_codes(r, path, cache, leaf);
		if (kind == CC_LEAF_BOOL && path->kind == VX_PATH_TEXT)
			return bool_codes(path, leaf);
		if (kind == CC_LEAF_JSON && path->kind == VX_PATH_JSON)
			return leaf;
	}
	return mixed_values(r, chunk, path, &cache->place, vecno, &rows, residue, selection);
}

/* Rows whose document has the key at its top. */
static const VxVector *
path_exists(StReader *r, CcChunk *chunk, VxPath *path, CcPathCache *cache,
			uint32 vecno, const uint64 *selection)
{
	const CcPathTree *tree = chunk->shred->tree;
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const VxVector *residue = cc_shred_vector(r, chunk, chunk->shred->tree->nleaves, vecno,
											  selection);
	VxVector   *v = vx_path_begin(path, VX_REP_INT64, n);
	uint64		rest[VX_VALIDITY_WORDS];
	CcPathRows	rows;

	memset(&rows, 0, sizeof(rows));
	for (int leaf = 0; leaf < tree->nleaves && cache->place.node >= 0; leaf++)
	{
		if (cc_leaf_in(&tree->nodes[cache->place.node].own, leaf))
			cc_path_add_rows(r, chunk, leaf, vecno, rows.own);
		else if (cc_leaf_in(&tree->nodes[cache->place.node].below, leaf))
			cc_path_add_rows(r, chunk, leaf, vecno, rows.below);
	}
	cc_path_valid(residue, n, rest);
	v->has_nulls = cc_shred_validity(r, chunk, vecno, v->valid);
	for (uint32 row = 0; row < n; row++)
	{
		uint32		w = row / 64;

		v->u.i64[row] = ((rows.own[w] | rows.below[w]) >> (row % 64)) & 1;
	}
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		for (uint64 left = selection[w] & rest[w] & ~rows.own[w] & ~rows.below[w];
			 left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			bool		isnull;

			v->u.i64[row] = DatumGetBool(vx_path_call(path, vx_vector_datum(residue, row),
													  &isnull));
		}
	}
	return v;
}

static CcPathCache *
find_cache(StReader *r, CcChunk *chunk, const VxPath *path)
{
	CcShred    *shred = chunk->shred;
	CcPathCache *cache;

	for (cache = shred->paths; cache != NULL; cache = cache->next)
	{
		if (cache->id == path->id)
			return cache;
	}
	cache = MemoryContextAllocZero(r->mcxt, sizeof(CcPathCache));
	cache->id = path->id;
	if (path->kind == VX_PATH_PART)
		cache->part = cc_part_create(r, chunk, path);
	else if (vx_path_is_whole(path))
		cache->whole = cc_whole_create(r, chunk, path);
	else
	{
		cc_path_place(shred->tree, path->nkeys, path->keys, &cache->place);
		cache->element = cc_element_path_create(r, chunk, path, &cache->place);
	}
	cache->next = shred->paths;
	shred->paths = cache;
	return cache;
}

/* The chunk of the path's documents, and the row group's reader; or NULL. */
static CcChunk *
documents_of(StReader **r, const VxPath *path)
{
	CcChunk    *chunk = (*r)->elements;

	if (chunk != NULL)
		*r = (*r)->of;
	else if (!cc_column_is_missing(*r, path->attno))
		chunk = cc_chunk_open(*r, path->attno);
	return chunk;
}

const VxVector *
cc_reader_path(StReader *r, VxPath *path, uint32 vecno, const uint64 *selection)
{
	CcChunk    *chunk = documents_of(&r, path);

	if (chunk == NULL || chunk->shred == NULL)
		return NULL;
	return cc_chunk_path(r, chunk, path, vecno, selection);
}

const VxVector *
cc_chunk_path(StReader *r, CcChunk *chunk, VxPath *path, uint32 vecno,
			  const uint64 *selection)
{
	CcPathCache *cache;
	MemoryContext old;
	const VxVector *v;

	make_bool_texts();
	MemoryContextReset(path->mcxt);
	old = MemoryContextSwitchTo(path->mcxt);
	if (vx_path_is_whole(path))
	{
		v = cc_path_whole(r, chunk, path, find_cache(r, chunk, path)->whole, vecno, selection);
		MemoryContextSwitchTo(old);
		return v;
	}
	switch (path->kind)
	{
		case VX_PATH_CONTAINS:
			v = cc_path_contains(r, chunk, path, vecno, selection);
			break;
		case VX_PATH_PART:
			v = cc_path_part(r, chunk, path, find_cache(r, chunk, path)->part, vecno,
							 selection);
			break;
		case VX_PATH_EXISTS:
			v = path_exists(r, chunk, path, find_cache(r, chunk, path), vecno, selection);
			break;
		default:
			cache = find_cache(r, chunk, path);
			v = cache->element != NULL ?
				cc_element_path(r, chunk, path, cache->element, vecno, selection) :
				path_values(r, chunk, path, cache, vecno, selection);
			break;
	}
	MemoryContextSwitchTo(old);
	return v;
}

const VxVector *
cc_reader_path_numbers(StReader *r, VxPath *path, uint32 vecno, const uint64 *selection)
{
	uint32		n = cc_reader_vector_rows(r, vecno);
	CcChunk    *chunk = documents_of(&r, path);
	const VxVector *numbers;
	CcPathRows	rows;
	uint64		valid[VX_VALIDITY_WORDS];
	uint64		others[VX_VALIDITY_WORDS];
	uint64		any = 0;

	if (chunk == NULL || chunk->shred == NULL ||
		(path->kind != VX_PATH_TEXT && path->kind != VX_PATH_JSON))
		return NULL;
	cc_path_rows(r, chunk, &find_cache(r, chunk, path)->place, vecno, selection, &rows);
	numbers = rows.leaf[CC_LEAF_NUMERIC];
	if (numbers == NULL)
		return NULL;
	cc_path_valid(numbers, n, valid);
	/* JSON null is null as text, and an error or null, by version, as jsonb */
	memset(others, 0, sizeof(others));
	if (path->kind == VX_PATH_TEXT)
		cc_path_valid(rows.leaf[CC_LEAF_NULL], n, others);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
		any |= selection[w] & rows.own[w] & ~valid[w] & ~others[w];
	if (any != 0 ||
		any_outside(path, &rows, cc_shred_vector(r, chunk, chunk->shred->tree->nleaves, vecno,
									   selection), n, selection))
		return NULL;
	return numbers;
}
