/*-------------------------------------------------------------------------
 *
 * cc_shred_read.c
 *	  Reads shredded jsonb: the sub-columns of a chunk, and documents.
 *
 * A sub-column is a column chunk like any other; it is opened when the first
 * value of it is asked for.  Documents are built vector by vector, or one by
 * one for single rows.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/memutils.h"

#include "cc_reader.h"
#include "cc_shred_read.h"
#include "st_compat.h"

void
cc_builtin_attribute(Oid type, Form_pg_attribute att)
{
	memset(att, 0, sizeof(*att));
	att->atttypid = type;
	att->attbyval = type == BOOLOID;
	att->attlen = type == BOOLOID ? 1 : -1;
	att->attalign = type == BOOLOID ? TYPALIGN_CHAR : TYPALIGN_INT;
	Assert(type == TEXTOID || type == NUMERICOID || type == BOOLOID || type == JSONBOID);
}

/* What a document costs at least, for a first guess of the size of some. */
#define GUESS_BYTES 128

/* Memory that an arena of documents takes at a time. */
#define ARENA_BLOCK (32 * 1024)

void
cc_shred_open(StReader *r, CcChunk *chunk, StByteReader *b)
{
	MemoryContext old = MemoryContextSwitchTo(r->mcxt);
	CcShred    *shred = palloc0(sizeof(CcShred));
	const uint8 *p;
	Size		len;

	shred->tree = cc_path_tree_read(b);
	if (shred->tree == NULL)
		cc_corrupt(r, "paths of a column");
	len = (shred->tree->nleaves + 1) * sizeof(CcFooterColumn);
	p = st_read_span(b, len);
	if (p == NULL)
		cc_corrupt(r, "paths of a column");
	shred->entries = palloc(len);
	memcpy(shred->entries, p, len);
	shred->chunks = palloc0((shred->tree->nleaves + 1) * sizeof(CcChunk *));
	shred->source.tree = shred->tree;
	shred->source.shapes = cc_shape_cache_create(r->mcxt);
	MemoryContextSwitchTo(old);
	chunk->shred = shred;
}

CcChunk *
cc_shred_chunk(StReader *r, CcChunk *chunk, int leaf)
{
	CcShred    *shred = chunk->shred;
	const CcFooterColumn *e = &shred->entries[leaf];
	Oid			type = leaf == shred->tree->nleaves ? JSONBOID :
		cc_leaf_type(shred->tree->leaves[leaf].kind);

	if (e->encoding == CC_ENC_NULLS)
		return NULL;
	if (shred->chunks[leaf] == NULL)
	{
		FormData_pg_attribute att;
		SfColumnType coltype;

		if (e->encoding == CC_ENC_SHRED || e->typid != type)
			cc_corrupt(r, "sub-column of a column");
		cc_builtin_attribute(type, &att);
		sf_column_type(&att, &coltype);
		shred->chunks[leaf] = cc_chunk_make(r, e, &coltype, chunk->nrows, chunk->depth);
	}
	return shred->chunks[leaf];
}

const VxVector *
cc_shred_vector(StReader *r, CcChunk *chunk, int leaf, uint32 vecno,
				const uint64 *rows)
{
	CcChunk    *sub = cc_shred_chunk(r, chunk, leaf);

	if (sub == NULL || sub->vectors[vecno].nnulls == cc_chunk_vector_rows(sub, vecno))
		return NULL;
	return cc_chunk_vector(r, sub, vecno, rows);
}

CcLeafSet *
cc_shred_present(const CcDocSource *source, uint32 n)
{
	CcLeafSet  *present = palloc(n * sizeof(CcLeafSet));
	CcLeafSet	always = {{0}};

	for (int leaf = 0; leaf < source->tree->nleaves; leaf++)
	{
		if (source->leaf[leaf] != NULL && !source->leaf[leaf]->has_nulls)
			cc_leaf_add(&always, leaf);
	}
	for (uint32 i = 0; i < n; i++)
		present[i] = always;
	for (int leaf = 0; leaf < source->tree->nleaves; leaf++)
	{
		const VxVector *v = source->leaf[leaf];
		int			word = leaf / 64;
		uint64		bit = UINT64CONST(1) << (leaf % 64);

		if (v == NULL || !v->has_nulls)
			continue;
		for (uint32 w = 0; w < (n + 63) / 64; w++)
		{
			for (uint64 left = v->valid[w]; left != 0; left &= left - 1)
			{
				uint32		row = w * 64 + __builtin_ctzll(left);

				if (row < n)
					present[row].words[word] |= bit;
			}
		}
	}
	return present;
}

/* The whole document of a row that is not null. */
static StStatus
build_document(const CcDocSource *source, const CcLeafSet *present, int row,
			   StJsonbWriter *w)
{
	const struct varlena *residue = cc_doc_residue(source, row);

	if (residue == NULL && cc_leaves_empty(present))
		return ST_CORRUPT;
	return cc_doc_build(source, 0, present, residue, row, w);
}

/*
 * Appends the document of a row, one of n, as a varlena to the chunk's arena,
 * which may move; returns its offset.
 */
static Size
append_document(StReader *r, CcChunk *chunk, const CcDocSource *source,
				const CcLeafSet *present, int row, uint32 n, Size used)
{
	Size		start = MAXALIGN(used);

	for (;;)
	{
		StJsonbWriter w;
		StStatus	status = ST_NOSPACE;
		Size		cap;

		if (chunk->arena_cap > start + VARHDRSZ)
		{
			st_jsonb_writer_init(&w, chunk->arena + start + VARHDRSZ,
								 chunk->arena_cap - start - VARHDRSZ);
			status = build_document(source, present, row, &w);
		}
		if (status == ST_OK)
		{
			SET_VARSIZE(chunk->arena + start, w.len + VARHDRSZ);
			chunk->shred->used = start + VARHDRSZ + w.len;
			return start;
		}
		if (status != ST_NOSPACE)
			cc_corrupt(r, "sub-columns of a document");
		cap = Max(chunk->arena_cap * 2, (n + 1) * GUESS_BYTES);
		chunk->arena = chunk->arena == NULL ? MemoryContextAllocHuge(r->mcxt, cap) :
			repalloc_huge(chunk->arena, cap);
		chunk->arena_cap = cap;
	}
}

/*
 * Documents of a vector; the chunk's null bitmap is in its vector.  Rows that
 * nobody wants have an empty varlena, at the start of the arena.
 */
void
cc_shred_decode(StReader *r, CcChunk *chunk, uint32 vecno, uint32 n,
				const uint64 *rows, Datum *values)
{
	CcShred    *shred = chunk->shred;
	CcDocSource *source = &shred->source;
	int			nleaves = shred->tree->nleaves;
	CcLeafSet  *present;
	Size		used = VARHDRSZ;

	for (int leaf = 0; leaf < nleaves; leaf++)
		source->leaf[leaf] = cc_shred_vector(r, chunk, leaf, vecno, rows);
	source->residue = cc_shred_vector(r, chunk, nleaves, vecno, rows);
	present = cc_shred_present(source, n);
	for (uint32 i = 0; i < n; i++)
	{
		values[i] = (Datum) 0;
		if (vx_vector_isnull(&chunk->v, i) ||
			(rows != NULL && ((rows[i / 64] >> (i % 64)) & 1) == 0))
			continue;
		values[i] = append_document(r, chunk, source, &present[i], i, n, used);
		used = shred->used;
	}
	if (used == VARHDRSZ)
		cc_ensure(r, &chunk->arena, &chunk->arena_cap, VARHDRSZ);
	SET_VARSIZE(chunk->arena, VARHDRSZ);
	/* The arena stands still now: offsets become pointers. */
	for (uint32 i = 0; i < n; i++)
		values[i] += PointerGetDatum(chunk->arena);
	pfree(present);
}

/* One value of a sub-column, as a vector of one row; false if it is null. */
static bool
point_vector(StReader *r, CcChunk *sub, uint32 vecno, uint32 i, VxVector *v,
			 Datum *value)
{
	bool		isnull = true;

	if (sub != NULL)
		*value = cc_chunk_value(r, sub, vecno, i, &isnull);
	if (isnull)
		return false;
	/* An int64 and a Datum are alike; numerics come as Datums. */
	v->rep = sub->type.kind == SF_KIND_INT ? VX_REP_INT64 : VX_REP_DATUM;
	if (v->rep == VX_REP_INT64)
		*value = DatumGetBool(*value);
	v->n = 1;
	v->has_nulls = false;
	v->u.datum = value;
	return true;
}

/* The document of one row that is not null. */
Datum
cc_shred_point(StReader *r, CcChunk *chunk, uint32 vecno, uint32 i)
{
	CcShred    *shred = chunk->shred;
	int			nleaves = shred->tree->nleaves;
	CcDocSource source = shred->source;
	VxVector   *vectors = palloc((nleaves + 1) * sizeof(VxVector));
	Datum	   *values = palloc((nleaves + 1) * sizeof(Datum));
	CcLeafSet	present = {{0}};

	/* The arena may hold the vector at hand. */
	chunk->vector = -1;
	source.residue = NULL;
	for (int leaf = 0; leaf <= nleaves; leaf++)
	{
		if (leaf < nleaves)
			source.leaf[leaf] = NULL;
		if (!point_vector(r, cc_shred_chunk(r, chunk, leaf), vecno, i,
						  &vectors[leaf], &values[leaf]))
			continue;
		if (leaf == nleaves)
			source.residue = &vectors[leaf];
		else
		{
			source.leaf[leaf] = &vectors[leaf];
			cc_leaf_add(&present, leaf);
		}
	}
	(void) append_document(r, chunk, &source, &present, 0, 1, 0);
	pfree(vectors);
	pfree(values);
	return PointerGetDatum(chunk->arena);
}

bool
cc_shred_validity(StReader *r, CcChunk *chunk, uint32 vecno, uint64 *valid)
{
	const uint8 *src;
	Size		len;

	if (chunk->vectors[vecno].nnulls == 0)
		return false;
	src = cc_vector_bytes(r, chunk, vecno, &len);
	cc_take_validity(r, &chunk->vectors[vecno], cc_chunk_vector_rows(chunk, vecno),
					 &src, &len, valid);
	return true;
}

void
cc_shred_leaf_rows(StReader *r, CcChunk *chunk, int leaf, uint32 vecno, uint64 *rows)
{
	CcChunk    *sub = cc_shred_chunk(r, chunk, leaf);
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	Size		size = (n + 63) / 64 * sizeof(uint64);

	if (sub == NULL || sub->vectors[vecno].nnulls == n)
		memset(rows, 0, size);
	else if (sub->vector == vecno && sub->v.has_nulls)
		memcpy(rows, sub->v.valid, size);
	else if (sub->vector == vecno || !cc_shred_validity(r, sub, vecno, rows))
		memset(rows, 0xFF, size);
}

Datum
cc_shred_object(StReader *r, const CcDocSource *source, int node, const CcLeafSet *present,
				const struct varlena *residue, int row, CcDocArena *arena)
{
	Size		block = ARENA_BLOCK;

	for (;;)
	{
		struct varlena *doc = (struct varlena *) arena->at;
		StJsonbWriter w;
		StStatus	status = ST_NOSPACE;

		if (arena->room > VARHDRSZ)
		{
			st_jsonb_writer_init(&w, (uint8 *) VARDATA(doc), arena->room - VARHDRSZ);
			status = cc_doc_build(source, node, present, residue, row, &w);
		}
		if (status == ST_OK)
		{
			Size		used = MAXALIGN(w.len + VARHDRSZ);

			SET_VARSIZE(doc, w.len + VARHDRSZ);
			arena->at += used;
			arena->room -= Min(used, arena->room);
			return PointerGetDatum(doc);
		}
		if (status != ST_NOSPACE)
			cc_corrupt(r, "sub-columns of a document");
		arena->at = MemoryContextAllocHuge(CurrentMemoryContext, block);
		arena->room = block;
		block *= 2;
	}
}
