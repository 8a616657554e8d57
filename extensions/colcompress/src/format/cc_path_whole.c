/*-------------------------------------------------------------------------
 *
 * cc_path_whole.c
 *	  Whole shredded documents as text, and documents less some places.
 *
 * Both are made of sub-columns: of a place that goes nothing is read.  A document is
 * left to the operators (VX_PATH_REST) where there is more to it: an object would be
 * empty then, which stays; the residue or a container has something of what goes.
 * Of few rows all documents are left: what was taken of them one by one, from the
 * document, is not known from the leaves.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_path_int.h"
#include "cc_shred_text.h"
#include "vx_batch.h"
#include "st_compat.h"

typedef struct CcWhole
{
	CcLeafSet	gone;			/* leaves that are not part of it */
	CcLeafSet	containers;		/* those in which more of it may stand */
	bool		loses[CC_SHRED_MAX_NODES];	/* the object at a node loses some */
} CcWhole;

/* What the rows at hand are made of. */
typedef struct Rows
{
	StReader   *r;
	CcChunk    *chunk;
	VxPath	   *path;
	const CcWhole *whole;
	CcDocSource source;
	CcDocArena	arena;
	uint64		left[VX_VALIDITY_WORDS];	/* rows that are left to the operators, */
	uint64		lost[VX_VALIDITY_WORDS];	/* and that have something of what goes */
	uint64		valid[CC_SHRED_MAX_LEAVES][VX_VALIDITY_WORDS];	/* by leaf */
} Rows;

/* The leaves at a node and below it go; an object around them stays. */
static void
take_away(const CcPathTree *tree, int node, const CcLeafSet *gone, CcWhole *whole)
{
	for (int i = 0; i < CC_SHRED_MAX_LEAVES / 64; i++)
		whole->gone.words[i] |= gone->words[i];
	/* the document itself may be empty */
	if (tree->nodes[node].parent > 0)
		whole->loses[tree->nodes[node].parent] = true;
}

static void
take_away_place(const CcPathTree *tree, const VxPathPlace *place, CcWhole *whole)
{
	CcPathPlace at;

	cc_path_place(tree, place->nkeys, place->keys, &at);
	for (int i = 0; i < at.ncontainers; i++)
		cc_leaf_add(&whole->containers, at.containers[i]);
	if (at.node < 0)
		return;
	take_away(tree, at.node, &tree->nodes[at.node].own, whole);
	take_away(tree, at.node, &tree->nodes[at.node].below, whole);
}

static void
take_away_nulls(const CcPathTree *tree, CcWhole *whole)
{
	for (int leaf = 0; leaf < tree->nleaves; leaf++)
	{
		CcLeafSet	own = {{0}};

		if (tree->leaves[leaf].kind != CC_LEAF_NULL)
			continue;
		cc_leaf_add(&own, leaf);
		take_away(tree, tree->leaves[leaf].node, &own, whole);
	}
}

struct CcWhole *
cc_whole_create(StReader *r, CcChunk *chunk, const VxPath *path)
{
	const CcPathTree *tree = chunk->shred->tree;
	CcWhole    *whole = MemoryContextAllocZero(r->mcxt, sizeof(CcWhole));

	for (int i = 0; i < path->nplaces; i++)
		take_away_place(tree, &path->places[i], whole);
	if (path->no_nulls)
		take_away_nulls(tree, whole);
	return whole;
}

/* ---- which rows are left to the operators ---- */

/* Rows in which an object of leaves has lost them all. */
static void
leave_empty_objects(Rows *rows, uint32 n)
{
	const CcPathTree *tree = rows->source.tree;

	for (int node = 1; node < tree->nnodes; node++)
	{
		uint64		lost[VX_VALIDITY_WORDS] = {0};
		uint64		kept[VX_VALIDITY_WORDS] = {0};

		if (!rows->whole->loses[node])
			continue;
		for (int leaf = 0; leaf < tree->nleaves; leaf++)
		{
			uint64	   *found = cc_leaf_in(&rows->whole->gone, leaf) ? lost : kept;

			if (!cc_leaf_in(&tree->nodes[node].below, leaf))
				continue;
			for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
				found[w] |= rows->valid[leaf][w];
		}
		for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
			rows->left[w] |= lost[w] & ~kept[w];
	}
}

/* Selected rows of a vector of containers, in which there is a JSON null. */
static void
leave_nulls(Rows *rows, const VxVector *v, const uint64 *valid, const uint64 *selection)
{
	for (uint32 w = 0; w < CC_PATH_WORDS(v->n); w++)
	{
		for (uint64 left = selection[w] & valid[w] & ~rows->left[w]; left != 0;
			 left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);
			const struct varlena *value = cc_doc_varlena(v, w * 64 + bit);

			if (vx_has_json_null((const uint8 *) VARDATA(value), VARSIZE(value) - VARHDRSZ))
				rows->left[w] |= UINT64CONST(1) << bit;
		}
	}
}

/* Selected rows of which the residue has something of what goes. */
static void
leave_residues(Rows *rows, uint32 n, const uint64 *selection)
{
	uint64		valid[VX_VALIDITY_WORDS];

	if (rows->source.residue == NULL)
		return;
	cc_path_valid(rows->source.residue, n, valid);
	if (rows->path->no_nulls)
		leave_nulls(rows, rows->source.residue, valid, selection);
	for (uint32 w = 0; w < CC_PATH_WORDS(n) && rows->path->nplaces > 0; w++)
	{
		for (uint64 left = selection[w] & valid[w] & ~rows->left[w]; left != 0;
			 left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);
			const struct varlena *rest = cc_doc_residue(&rows->source, w * 64 + bit);

			if (vx_path_touches(rows->path, (const uint8 *) VARDATA(rest),
								VARSIZE(rest) - VARHDRSZ))
				rows->left[w] |= UINT64CONST(1) << bit;
		}
	}
}

/* Decodes the leaves that stay, and finds out which rows are left. */
static void
take_leaves(Rows *rows, uint32 vecno, uint32 n, const uint64 *selection)
{
	CcDocSource *source = &rows->source;

	for (int leaf = 0; leaf < source->tree->nleaves; leaf++)
	{
		const VxVector *v;

		if (cc_leaf_in(&rows->whole->gone, leaf))
		{
			cc_shred_leaf_rows(rows->r, rows->chunk, leaf, vecno, rows->valid[leaf]);
			for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
				rows->lost[w] |= rows->valid[leaf][w];
			continue;
		}
		v = source->leaf[leaf] = cc_shred_vector(rows->r, rows->chunk, leaf, vecno, selection);
		cc_path_valid(v, n, rows->valid[leaf]);
		if (cc_leaf_in(&rows->whole->containers, leaf))
			for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
				rows->left[w] |= rows->valid[leaf][w];
		if (rows->path->no_nulls && source->tree->leaves[leaf].kind == CC_LEAF_JSON && v != NULL)
			leave_nulls(rows, v, rows->valid[leaf], selection);
	}
	source->residue = cc_shred_vector(rows->r, rows->chunk, source->tree->nleaves, vecno,
									  selection);
	leave_empty_objects(rows, n);
	leave_residues(rows, n, selection);
}

/* ---- documents ---- */

static Datum
as_text(Rows *rows, const CcLeafSet *present, int row)
{
	VxText	   *text = &rows->path->text;

	vx_text_begin(text);
	cc_text_object(rows->r, &rows->source, cc_shred_texts(rows->r, rows->chunk), 0, present,
				   cc_doc_residue(&rows->source, row), row, text);
	return vx_text_finish(text);
}

/* Few rows: each document by itself, without decoding vectors; all of them of a REST. */
static void
one_by_one(Rows *rows, uint32 vecno, const uint64 *selection, VxVector *v)
{
	for (uint32 w = 0; w < CC_PATH_WORDS(v->n); w++)
	{
		for (uint64 left = selection[w]; left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);
			struct varlena *doc;

			if (v->has_nulls && vx_vector_isnull(v, row))
				continue;
			doc = (struct varlena *)
				DatumGetPointer(cc_shred_point(rows->r, rows->chunk, vecno, row));
			if (rows->path->kind == VX_PATH_REST)
				v->u.datum[row] = datumCopy(PointerGetDatum(doc), false, -1);
			else
				vx_path_put(rows->path, v, row, (const uint8 *) VARDATA(doc),
							VARSIZE(doc) - VARHDRSZ);
		}
	}
}

/* Decodes the leaves that go, too, if any of the selected rows is left to the operators. */
static bool
take_rest(Rows *rows, uint32 vecno, uint32 n, const uint64 *selection)
{
	const CcPathTree *tree = rows->source.tree;
	uint64		any = 0;

	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
		any |= selection[w] & rows->left[w];
	for (int leaf = 0; leaf < tree->nleaves && any != 0; leaf++)
		if (cc_leaf_in(&rows->whole->gone, leaf))
			rows->source.leaf[leaf] = cc_shred_vector(rows->r, rows->chunk, leaf, vecno,
													  selection);
	return any != 0;
}

const VxVector *
cc_path_whole(StReader *r, CcChunk *chunk, VxPath *path, CcWhole *whole, uint32 vecno,
			  const uint64 *selection)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	VxVector   *v = vx_path_begin(path, VX_REP_DATUM, n);
	Rows	   *rows = palloc0(sizeof(Rows));
	CcLeafSet  *present;
	bool		few;

	rows->r = r;
	rows->chunk = chunk;
	rows->path = path;
	rows->whole = whole;
	rows->source.tree = chunk->shred->tree;
	rows->source.shapes = chunk->shred->source.shapes;
	v->has_nulls = cc_shred_validity(r, chunk, vecno, v->valid);
	few = vx_selection_count(selection, n) <= VX_SPARSE_ROWS;
	if (few && chunk->vector != vecno)
	{
		one_by_one(rows, vecno, selection, v);
		return v;
	}
	if (few && path->kind == VX_PATH_REST)
		memcpy(rows->left, selection, sizeof(rows->left));
	take_leaves(rows, vecno, n, selection);
	if (path->kind == VX_PATH_REST && !take_rest(rows, vecno, n, selection))
	{
		v->has_nulls = true;
		memset(v->valid, 0, sizeof(v->valid));
		return v;
	}
	present = cc_shred_present(&rows->source, n);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		uint64		others = path->kind == VX_PATH_REST ? ~rows->left[w] : rows->left[w];

		CHECK_FOR_INTERRUPTS();
		for (uint64 left = selection[w] & (v->has_nulls ? v->valid[w] : ~UINT64CONST(0));
			 left != 0; left &= left - 1)
		{
			int			bit = __builtin_ctzll(left);
			int			row = w * 64 + bit;

			if ((others >> bit) & 1)
				vx_path_set_null(v, row);
			else if (cc_doc_residue(&rows->source, row) == NULL &&
					 cc_leaves_empty(&present[row]) && !vx_rows_isset(rows->lost, row))
				cc_corrupt(r, "sub-columns of a document");
			else if (path->kind == VX_PATH_PRINT)
				v->u.datum[row] = as_text(rows, &present[row], row);
			else
				v->u.datum[row] = cc_shred_object(r, &rows->source, 0, &present[row],
												  cc_doc_residue(&rows->source, row), row,
												  &rows->arena);
		}
	}
	return v;
}
