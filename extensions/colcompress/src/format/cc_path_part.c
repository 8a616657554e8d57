/*-------------------------------------------------------------------------
 *
 * cc_path_part.c
 *	  Parts of shredded jsonb documents, of the leaves at some places alone.
 *
 * Leaves of few different values (codes of dictionaries, booleans, whether a
 * key is there) make a number of each row.  Documents of one number are equal,
 * so each is put together once in a row group, and the vector is one of codes:
 * an expression over it runs once for each.  Rows that have more (other
 * strings, numbers, containers, a residue that has something at the places) get
 * a document and a code of their own; where many rows of a vector do, or there
 * are too many codes, the vector is one of documents.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_path_int.h"
#include "st_compat.h"

/* Documents that are kept, those that are found by number, and their bytes. */
#define MAX_CODES	16384
#define MAX_NUMBERS	4096
#define MAX_BYTES	(4 * 1024 * 1024)

/* One row in so many may have a document of its own among codes. */
#define OWN_SHARE	4

#define SLOTS		(2 * MAX_NUMBERS)

typedef struct PartLeaf
{
	int			leaf;
	bool		value;			/* its value is looked at, */
	bool		type;			/* or that of arrays, none of which has elements, */
	VxPath	   *elements;		/* or arrays of parts of elements, */
	uint64		factor;			/* and is a digit of this worth; 0: it is not */
} PartLeaf;

typedef struct Slot
{
	uint64		number;
	uint32		code;			/* + 1; 0: free */
} Slot;

typedef struct CcPart
{
	int			nleaves;
	PartLeaf	leaves[CC_SHRED_MAX_LEAVES];
	CcDocSource source;			/* vector at hand */
	CcDocArena	arena;			/* of documents that are kept */
	Size		bytes;
	VxDictionary dict;
	uint32		nnumbers;
	Slot		slots[SLOTS];
} CcPart;

/* What the rows of a vector have. */
typedef struct PartRows
{
	uint64		number[ST_VECTOR_SIZE];
	uint64		own[VX_VALIDITY_WORDS]; /* the number does not say all */
	uint64		rest[VX_VALIDITY_WORDS];	/* the residue belongs to it */
	uint64		valid[CC_SHRED_MAX_LEAVES][VX_VALIDITY_WORDS];	/* by part leaf */
} PartRows;

/* ---- which leaves ---- */

typedef enum LeafNeed
{
	LEAF_NONE,
	LEAF_PRESENT,
	LEAF_TYPE,					/* of arrays that have elements of their own, */
	LEAF_ELEMENTS,				/* and parts of these */
	LEAF_VALUE
} LeafNeed;

/* What a place needs of a leaf that stands at it. */
static LeafNeed
own_need(VxPlaceUse use, CcLeafKind kind)
{
	switch (use)
	{
		case VX_USE_VALUE:
		case VX_USE_NO_OBJECT:
			return LEAF_VALUE;
		case VX_USE_KEYS:
			return kind == CC_LEAF_JSON || kind == CC_LEAF_STRING ? LEAF_VALUE : LEAF_PRESENT;
		case VX_USE_TYPE:
			return kind == CC_LEAF_JSON ? LEAF_TYPE : LEAF_PRESENT;
		case VX_USE_THERE:
			return LEAF_PRESENT;
	}
	pg_unreachable();
}

/* And of one that stands below it. */
static LeafNeed
below_need(VxPlaceUse use)
{
	return use == VX_USE_VALUE ? LEAF_VALUE : use == VX_USE_NO_OBJECT ? LEAF_NONE : LEAF_PRESENT;
}

static void
add_place(const CcPathTree *tree, const VxPathPlace *place, LeafNeed *need)
{
	VxPlaceUse	use = place->elements ? VX_USE_VALUE : place->use;
	CcPathPlace at;
	const CcPathNode *node;

	cc_path_place(tree, place->nkeys, place->keys, &at);
	for (int i = 0; i < at.ncontainers; i++)
		need[at.containers[i]] = LEAF_VALUE;
	if (at.node < 0)
		return;
	node = &tree->nodes[at.node];
	for (int leaf = 0; leaf < tree->nleaves; leaf++)
	{
		bool		own = cc_leaf_in(&node->own, leaf);

		if (!own && !cc_leaf_in(&node->below, leaf))
			continue;
		if (own && place->elements && tree->leaves[leaf].kind == CC_LEAF_JSON)
			need[leaf] = Max(need[leaf], LEAF_ELEMENTS);
		else if (own)
			need[leaf] = Max(need[leaf], own_need(use, tree->leaves[leaf].kind));
		else
			need[leaf] = Max(need[leaf], below_need(use));
	}
}

/* How many digits there are for a leaf, absence among them; 0: too many. */
static uint64
radix_of(StReader *r, CcChunk *chunk, const PartLeaf *l)
{
	int			leaf = l->leaf;
	CcChunk    *sub = cc_shred_chunk(r, chunk, leaf);

	if (l->elements != NULL)
		return 0;
	if (l->type)
		return cc_array_chunk(r, sub, CC_ARRAY_WHOLE) == NULL ? 2 : 0;
	if (!l->value)
		return 2;
	switch (chunk->shred->tree->leaves[leaf].kind)
	{
		case CC_LEAF_NULL:
			return 2;
		case CC_LEAF_BOOL:
			return 3;
		default:
			if (sub->entry->encoding != CC_ENC_DICT)
				return 0;
			return cc_chunk_dictionary(r, sub)->nvalues + UINT64CONST(1);
	}
}

/* The part of elements that a path looks at in arrays at a node. */
static VxPath *
part_of_elements(StReader *r, const CcPathTree *tree, int node, const VxPath *path)
{
	VxPath	   *elements = MemoryContextAllocZero(r->mcxt, sizeof(VxPath));
	MemoryContext old = MemoryContextSwitchTo(r->mcxt);

	elements->id = path->id;
	elements->kind = VX_PATH_PART;
	elements->places = palloc0(path->nplaces * sizeof(VxPathPlace));
	for (int i = 0; i < path->nplaces; i++)
	{
		const VxPathPlace *from = &path->places[i];
		VxPathPlace *place = &elements->places[elements->nplaces];
		CcPathPlace at;

		cc_path_place(tree, from->nkeys, from->keys, &at);
		if (at.node != node || !from->elements)
			continue;
		place->use = from->use;
		place->nkeys = from->nbelow;
		place->keys = from->below;
		place->hints = palloc0(Max(1, from->nbelow) * sizeof(StJsonbHint));
		elements->nplaces++;
	}
	elements->mcxt = AllocSetContextCreate(r->mcxt, "parts of elements",
										   ALLOCSET_SMALL_SIZES);
	elements->words = palloc0(ST_VECTOR_SIZE * sizeof(int64));
	elements->codes = palloc0(ST_VECTOR_SIZE * sizeof(uint32));
	MemoryContextSwitchTo(old);
	return elements;
}

/* CcElementVector */
static const VxVector *
element_parts(StReader *r, CcChunk *elements, uint32 vecno, const uint64 *selection,
			  void *path)
{
	return cc_chunk_path(r, elements, path, vecno, selection);
}

/* Has a leaf arrays whose elements have sub-columns? */
static bool
has_elements(StReader *r, CcChunk *sub)
{
	return sub->array != NULL && cc_array_chunk(r, sub, CC_ARRAY_ELEMENTS)->shred != NULL;
}

struct CcPart *
cc_part_create(StReader *r, CcChunk *chunk, const VxPath *path)
{
	const CcPathTree *tree = chunk->shred->tree;
	CcPart	   *part = MemoryContextAllocZero(r->mcxt, sizeof(CcPart));
	LeafNeed	need[CC_SHRED_MAX_LEAVES] = {LEAF_NONE};
	uint64		factor = 1;

	for (int i = 0; i < path->nplaces; i++)
		add_place(tree, &path->places[i], need);
	for (int leaf = 0; leaf < tree->nleaves; leaf++)
	{
		PartLeaf   *l = &part->leaves[part->nleaves];
		CcChunk    *sub = cc_shred_chunk(r, chunk, leaf);
		uint64		radix;

		if (need[leaf] == LEAF_NONE || sub == NULL)
			continue;
		part->nleaves++;
		l->leaf = leaf;
		l->type = need[leaf] == LEAF_TYPE && sub->array != NULL;
		if (need[leaf] == LEAF_ELEMENTS && has_elements(r, sub))
			l->elements = part_of_elements(r, tree, tree->leaves[leaf].node, path);
		l->value = need[leaf] >= LEAF_TYPE && !l->type && l->elements == NULL;
		radix = radix_of(r, chunk, l);
		if (radix == 0 || factor > PG_UINT64_MAX / radix)
			continue;
		l->factor = factor;
		factor *= radix;
	}
	part->source.tree = tree;
	part->source.shapes = cc_shape_cache_create(r->mcxt);
	part->dict.capacity = MAX_CODES;
	part->dict.values = MemoryContextAlloc(r->mcxt, MAX_CODES * sizeof(Datum));
	return part;
}

/* ---- the rows of a vector ---- */

/* Adds a leaf's digits to the numbers of rows that have a value there. */
static void
add_digits(const PartLeaf *l, CcLeafKind kind, const VxVector *v, const uint64 *valid,
		   uint32 n, uint64 *number)
{
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		for (uint64 left = valid[w]; left != 0; left &= left - 1)
		{
			uint32		row = w * 64 + __builtin_ctzll(left);
			uint64		digit = 1;

			if (row >= n)
				break;
			if (l->value && kind == CC_LEAF_BOOL)
				digit += v->u.i64[row] != 0;
			else if (l->value && kind != CC_LEAF_NULL)
				digit += v->u.code[row];
			number[row] += l->factor * digit;
		}
	}
}

static void
take_leaves(StReader *r, CcChunk *chunk, CcPart *part, uint32 vecno,
			const uint64 *selection, PartRows *rows)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);

	for (int i = 0; i < part->nleaves; i++)
	{
		const PartLeaf *l = &part->leaves[i];
		CcLeafKind	kind = part->source.tree->leaves[l->leaf].kind;
		const VxVector *v = NULL;

		if (l->value)
		{
			v = cc_shred_vector(r, chunk, l->leaf, vecno, selection);
			cc_path_valid(v, n, rows->valid[i]);
		}
		else if (l->type)
		{
			v = cc_array_types(r, cc_shred_chunk(r, chunk, l->leaf), vecno, selection);
			cc_path_valid(v, n, rows->valid[i]);
		}
		else if (l->elements != NULL)
		{
			v = cc_array_parts(r, cc_shred_chunk(r, chunk, l->leaf), vecno, selection,
							   element_parts, l->elements);
			cc_path_valid(v, n, rows->valid[i]);
		}
		else
			cc_shred_leaf_rows(r, chunk, l->leaf, vecno, rows->valid[i]);
		part->source.leaf[l->leaf] = v;
		if (l->factor > 0)
			add_digits(l, kind, v, rows->valid[i], n, rows->number);
		else
			for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
				rows->own[w] |= rows->valid[i][w];
	}
}

/* Selected rows whose residue has something at the places. */
static void
take_residue(StReader *r, CcChunk *chunk, const VxPath *path, CcPart *part, uint32 vecno,
			 const uint64 *selection, PartRows *rows)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const VxVector *residue = cc_shred_vector(r, chunk, part->source.tree->nleaves, vecno,
											  selection);

	part->source.residue = residue;
	if (residue == NULL)
		return;
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		uint64		left = residue->has_nulls ? residue->valid[w] : ~UINT64CONST(0);

		for (left &= selection[w]; left != 0; left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);
			const struct varlena *rest = cc_doc_residue(&part->source, w * 64 + bit);

			if (vx_path_touches(path, (const uint8 *) VARDATA(rest),
								VARSIZE(rest) - VARHDRSZ))
				rows->rest[w] |= UINT64CONST(1) << bit;
		}
		rows->own[w] |= rows->rest[w];
	}
}

/* ---- documents ---- */

static Datum
make_document(StReader *r, CcPart *part, const PartRows *rows, int row, CcDocArena *arena)
{
	CcLeafSet	present = {{0}};
	bool		rest = (rows->rest[row / 64] >> (row % 64)) & 1;

	for (int i = 0; i < part->nleaves; i++)
	{
		if ((rows->valid[i][row / 64] >> (row % 64)) & 1)
			cc_leaf_add(&present, part->leaves[i].leaf);
	}
	return cc_shred_object(r, &part->source, 0, &present,
						   rest ? cc_doc_residue(&part->source, row) : NULL, row, arena);
}

static bool
has_room(const CcPart *part)
{
	return part->dict.nvalues < MAX_CODES && part->bytes < MAX_BYTES;
}

/* A document of the row that is kept, and its code. */
static uint32
keep_document(StReader *r, CcPart *part, const PartRows *rows, int row)
{
	MemoryContext old = MemoryContextSwitchTo(r->mcxt);
	Datum		doc = make_document(r, part, rows, row, &part->arena);

	MemoryContextSwitchTo(old);
	part->bytes += VARSIZE(DatumGetPointer(doc));
	part->dict.values[part->dict.nvalues] = doc;
	return part->dict.nvalues++;
}

/* The slot of a number, or a free one. */
static Slot *
find_slot(CcPart *part, uint64 number)
{
	uint32		i = (number * UINT64CONST(0x9E3779B97F4A7C15)) >> 32;

	for (;; i++)
	{
		Slot	   *slot = &part->slots[i % SLOTS];

		if (slot->code == 0 || slot->number == number)
			return slot;
	}
}

/* The code of a row; false if it gets none. */
static bool
code_of(StReader *r, CcPart *part, const PartRows *rows, int row, bool keep_own,
		uint32 *code)
{
	Slot	   *slot;

	if ((rows->own[row / 64] >> (row % 64)) & 1)
	{
		if (!keep_own || !has_room(part))
			return false;
		*code = keep_document(r, part, rows, row);
		return true;
	}
	slot = find_slot(part, rows->number[row]);
	if (slot->code == 0)
	{
		if (part->nnumbers == MAX_NUMBERS || !has_room(part))
			return false;
		part->nnumbers++;
		slot->number = rows->number[row];
		slot->code = keep_document(r, part, rows, row) + 1;
	}
	*code = slot->code - 1;
	return true;
}

static const VxVector *
fill_vector(StReader *r, CcChunk *chunk, VxPath *path, CcPart *part, uint32 vecno,
			const PartRows *rows, const uint64 *selection, bool keep_own)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	VxVector   *v = vx_path_begin(path, VX_REP_DATUM, n);
	CcDocArena	arena = {0};
	bool		coded = true;

	v->has_nulls = cc_shred_validity(r, chunk, vecno, v->valid);
	memset(path->codes, 0, ST_VECTOR_SIZE * sizeof(uint32));
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 left = selection[w] & (v->has_nulls ? v->valid[w] : ~UINT64CONST(0));
			 left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			uint32		code;

			if (code_of(r, part, rows, row, keep_own, &code))
			{
				path->codes[row] = code;
				v->u.datum[row] = part->dict.values[code];
				continue;
			}
			coded = false;
			v->u.datum[row] = make_document(r, part, rows, row, &arena);
		}
	}
	if (coded)
	{
		v->rep = VX_REP_CODE;
		v->u.code = path->codes;
		v->dict = &part->dict;
	}
	return v;
}

const VxVector *
cc_path_part(StReader *r, CcChunk *chunk, VxPath *path, CcPart *part, uint32 vecno,
			 const uint64 *selection)
{
	PartRows   *rows = palloc0(sizeof(PartRows));
	uint32		selected = 0;
	uint32		own = 0;

	take_leaves(r, chunk, part, vecno, selection, rows);
	take_residue(r, chunk, path, part, vecno, selection, rows);
	for (uint32 w = 0; w < CC_PATH_WORDS(cc_chunk_vector_rows(chunk, vecno)); w++)
	{
		selected += pg_popcount64(selection[w]);
		own += pg_popcount64(selection[w] & rows->own[w]);
	}
	return fill_vector(r, chunk, path, part, vecno, rows, selection,
					   own <= selected / OWN_SHARE);
}
