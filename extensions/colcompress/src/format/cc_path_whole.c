/*-------------------------------------------------------------------------
 *
 * cc_path_whole.c
 *	  Whole shredded documents as text, and documents less some of their keys.
 *
 * Both are made of sub-columns: of a key that goes nothing is read.  Of what no leaf
 * has (documents that are no objects, residues) the operators are asked.
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
	uint64		had_gone[VX_VALIDITY_WORDS];	/* rows with one of these leaves */
} Rows;

struct CcWhole *
cc_whole_create(StReader *r, CcChunk *chunk, const VxPath *path)
{
	const CcPathTree *tree = chunk->shred->tree;
	CcWhole    *whole = MemoryContextAllocZero(r->mcxt, sizeof(CcWhole));

	for (int i = 0; i < path->nkeys; i++)
	{
		int			child = cc_path_child(tree, 0, path->keys[i]);

		for (int leaf = 0; leaf < tree->nleaves && child >= 0; leaf++)
		{
			if (cc_leaf_in(&tree->nodes[child].own, leaf) ||
				cc_leaf_in(&tree->nodes[child].below, leaf))
				cc_leaf_add(&whole->gone, leaf);
		}
	}
	return whole;
}

/* The residue less the keys, as the operators leave it. */
static struct varlena *
residue_less(Rows *rows, const struct varlena *residue)
{
	const uint8 *data = (const uint8 *) VARDATA(residue);
	bool		isnull;

	if (vx_path_lacks(rows->path, data, VARSIZE(residue) - VARHDRSZ))
		return unconstify(struct varlena *, residue);
	return (struct varlena *)
		DatumGetPointer(vx_path_call(rows->path, PointerGetDatum(residue), &isnull));
}

/* present: leaves of the row that are part of it. */
static Datum
less_keys(Rows *rows, const CcLeafSet *present, int row)
{
	const struct varlena *residue = cc_doc_residue(&rows->source, row);
	bool		object = !cc_leaves_empty(present) || vx_rows_isset(rows->had_gone, row);

	if (residue != NULL && !object &&
		vx_path_is_scalar((const uint8 *) VARDATA(residue), VARSIZE(residue) - VARHDRSZ))
		return datumCopy(PointerGetDatum(residue), false, -1);
	if (residue != NULL)
		residue = residue_less(rows, residue);
	return cc_shred_object(rows->r, &rows->source, 0, present, residue, row, &rows->arena);
}

static Datum
as_text(Rows *rows, const CcLeafSet *present, int row)
{
	VxText	   *text = &rows->path->text;

	vx_text_begin(text);
	cc_text_object(rows->r, &rows->source, cc_shred_texts(rows->r, rows->chunk), 0, present,
				   cc_doc_residue(&rows->source, row), row, text);
	return vx_text_finish(text);
}

/* Few rows: each document by itself, without decoding vectors. */
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
			vx_path_put(rows->path, v, row, (const uint8 *) VARDATA(doc),
						VARSIZE(doc) - VARHDRSZ);
		}
	}
}

/* Vectors of the leaves that are part of it, and rows that have others. */
static void
take_leaves(Rows *rows, uint32 vecno, uint32 n, const uint64 *selection)
{
	CcDocSource *source = &rows->source;

	for (int leaf = 0; leaf < source->tree->nleaves; leaf++)
	{
		uint64		valid[VX_VALIDITY_WORDS];

		if (!cc_leaf_in(&rows->whole->gone, leaf))
		{
			source->leaf[leaf] = cc_shred_vector(rows->r, rows->chunk, leaf, vecno, selection);
			continue;
		}
		cc_shred_leaf_rows(rows->r, rows->chunk, leaf, vecno, valid);
		for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
			rows->had_gone[w] |= valid[w];
	}
	source->residue = cc_shred_vector(rows->r, rows->chunk, source->tree->nleaves, vecno,
									  selection);
}

const VxVector *
cc_path_whole(StReader *r, CcChunk *chunk, VxPath *path, CcWhole *whole, uint32 vecno,
			  const uint64 *selection)
{
	uint32		n = cc_reader_vector_rows(r, vecno);
	VxVector   *v = vx_path_begin(path, VX_REP_DATUM, n);
	Rows	   *rows = palloc0(sizeof(Rows));
	CcLeafSet  *present;

	*rows = (Rows) {.r = r, .chunk = chunk, .path = path, .whole = whole,
		.source = {.tree = chunk->shred->tree, .shapes = chunk->shred->source.shapes}};
	v->has_nulls = cc_shred_validity(r, chunk, vecno, v->valid);
	if (chunk->vector != vecno && vx_selection_count(selection, n) <= VX_SPARSE_ROWS)
	{
		one_by_one(rows, vecno, selection, v);
		return v;
	}
	take_leaves(rows, vecno, n, selection);
	present = cc_shred_present(&rows->source, n);
	for (uint32 w = 0; w < CC_PATH_WORDS(n); w++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 left = selection[w] & (v->has_nulls ? v->valid[w] : ~UINT64CONST(0));
			 left != 0; left &= left - 1)
		{
			int			row = w * 64 + __builtin_ctzll(left);

			if (cc_doc_residue(&rows->source, row) == NULL && cc_leaves_empty(&present[row]) &&
				!vx_rows_isset(rows->had_gone, row))
				cc_corrupt(r, "sub-columns of a document");
			v->u.datum[row] = path->kind == VX_PATH_LESS ?
				less_keys(rows, &present[row], row) : as_text(rows, &present[row], row);
		}
	}
	return v;
}
