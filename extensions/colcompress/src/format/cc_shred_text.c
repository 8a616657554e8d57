/*-------------------------------------------------------------------------
 *
 * cc_shred_text.c
 *	  Text of shredded jsonb documents straight from their leaves.
 *
 * Documents of one shape (see cc_shred_build.c) that have no residue are the
 * same text but for the values of their leaves.  A template keeps what stands
 * between them: braces, keys, quotes, JSON nulls.  A document that no template
 * is made for is built, and printed then.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cc_shred_text.h"

/* Shapes that templates are kept for. */
#define MAX_TEMPLATES 64

/* Memory for a document that is built, at first. */
#define BUFFER_BYTES (32 * 1024)

/* Text, then the value of a leaf. */
typedef struct Step
{
	int			leaf;			/* -1: none, at the end */
	uint32		off;			/* of the text, */
	uint32		len;			/* and its length */
} Step;

typedef struct Template
{
	int			node;
	CcLeafSet	present;
	StStatus	status;			/* ST_CORRUPT: there is no such document */
	int			nsteps;
	Step	   *steps;
	VxText		text;
} Template;

struct CcTextCache
{
	MemoryContext mcxt;
	int			ntemplates;
	int			last;
	Template	templates[MAX_TEMPLATES];
	uint8	   *buffer;			/* of a document that is built */
	Size		cap;
};

CcTextCache *
cc_shred_texts(StReader *r, CcChunk *chunk)
{
	CcShred    *shred = chunk->shred;

	if (shred->texts == NULL)
	{
		shred->texts = MemoryContextAllocZero(r->mcxt, sizeof(CcTextCache));
		shred->texts->mcxt = r->mcxt;
	}
	return shred->texts;
}

/* ---- templates ---- */

/* The text so far, behind the last step's, is in front of that leaf. */
static void
end_step(Template *t, int leaf)
{
	Step	   *last = t->nsteps > 0 ? &t->steps[t->nsteps - 1] : NULL;
	Step	   *step = &t->steps[t->nsteps++];

	step->leaf = leaf;
	step->off = last != NULL ? last->off + last->len : 0;
	step->len = t->text.len - step->off;
}

static void
append(Template *t, const char *text)
{
	vx_text_append(&t->text, text, strlen(text));
}

static void
append_leaf(const CcPathTree *tree, int leaf, Template *t)
{
	switch (tree->leaves[leaf].kind)
	{
		case CC_LEAF_NULL:
			append(t, "null");
			break;
		case CC_LEAF_STRING:
			append(t, "\"");
			end_step(t, leaf);
			append(t, "\"");
			break;
		default:
			end_step(t, leaf);
			break;
	}
}

/* The object at a node of documents that have these leaves. */
static StStatus
append_object(const CcPathTree *tree, int node, Template *t)
{
	StStatus	status = ST_OK;
	bool		first = true;

	append(t, "{");
	for (int c = tree->nodes[node].first_child; c >= 0 && status == ST_OK;
		 c = tree->nodes[c].next_sibling)
	{
		int			leaf;

		status = cc_node_value(&tree->nodes[c], &t->present, &leaf);
		if (status == ST_NOTFIT)
		{
			status = ST_OK;
			continue;
		}
		if (status != ST_OK)
			break;
		append(t, first ? "\"" : ", \"");
		first = false;
		vx_text_escaped(&t->text, tree->nodes[c].key.data, tree->nodes[c].key.len);
		append(t, "\": ");
		if (leaf >= 0)
			append_leaf(tree, leaf, t);
		else
			status = append_object(tree, c, t);
	}
	append(t, "}");
	return status;
}

/* The template, made if it is new; NULL if there are too many. */
static const Template *
find_template(const CcDocSource *source, CcTextCache *cache, int node,
			  const CcLeafSet *present)
{
	Template   *t = &cache->templates[cache->last];
	MemoryContext old;

	if (cache->ntemplates > 0 && t->node == node && cc_leaves_equal(&t->present, present))
		return t;
	for (int i = 0; i < cache->ntemplates; i++)
	{
		t = &cache->templates[i];
		if (t->node == node && cc_leaves_equal(&t->present, present))
		{
			cache->last = i;
			return t;
		}
	}
	if (cache->ntemplates == MAX_TEMPLATES)
		return NULL;
	cache->last = cache->ntemplates++;
	t = &cache->templates[cache->last];
	old = MemoryContextSwitchTo(cache->mcxt);
	t->node = node;
	t->present = *present;
	t->steps = palloc((source->tree->nleaves + 1) * sizeof(Step));
	t->status = append_object(source->tree, node, t);
	end_step(t, -1);
	/* it stays as long as the row group is open, and nothing is added any more */
	t->text.start = t->text.block = repalloc(t->text.block, t->text.len);
	t->text.cap = t->text.len;
	MemoryContextSwitchTo(old);
	return t;
}

/* ---- values ---- */

/* A string comes without quotes. */
static inline void
append_value(CcLeafKind kind, const VxVector *v, int row, VxText *text)
{
	struct varlena *value;

	switch (kind)
	{
		case CC_LEAF_STRING:
			value = cc_doc_varlena(v, row);
			vx_text_escaped(text, (uint8 *) VARDATA(value), VARSIZE(value) - VARHDRSZ);
			break;
		case CC_LEAF_NUMERIC:
			if (v->rep == VX_REP_DECIMAL64)
				vx_text_decimal64(text, v->u.i64[row], v->scale);
			else if (v->rep == VX_REP_DECIMAL128)
				vx_text_decimal128(text, v->u.i128[row], v->scale);
			else
				vx_text_numeric(text, cc_doc_varlena(v, row));
			break;
		case CC_LEAF_BOOL:
			if (v->u.i64[row])
				vx_text_append(text, "true", 4);
			else
				vx_text_append(text, "false", 5);
			break;
		case CC_LEAF_NULL:
			vx_text_append(text, "null", 4);
			break;
		case CC_LEAF_JSON:
			value = cc_doc_varlena(v, row);
			vx_text_container(text, (uint8 *) VARDATA(value), VARSIZE(value) - VARHDRSZ);
			break;
	}
}

void
cc_text_value(CcLeafKind kind, const VxVector *v, int row, VxText *text)
{
	if (kind == CC_LEAF_STRING)
		vx_text_append(text, "\"", 1);
	append_value(kind, v, row, text);
	if (kind == CC_LEAF_STRING)
		vx_text_append(text, "\"", 1);
}

/* By a template; false if there is none. */
static bool
append_by_template(StReader *r, const CcDocSource *source, CcTextCache *cache, int node,
				   const CcLeafSet *present, int row, VxText *text)
{
	const Template *t = find_template(source, cache, node, present);

	if (t == NULL)
		return false;
	if (t->status != ST_OK)
		cc_corrupt(r, "sub-columns of a document");
	for (int i = 0; i < t->nsteps; i++)
	{
		const Step *step = &t->steps[i];

		vx_text_append(text, t->text.start + step->off, step->len);
		if (step->leaf >= 0)
			append_value(source->tree->leaves[step->leaf].kind, source->leaf[step->leaf], row,
						 text);
	}
	return true;
}

/* The document built, in the cache's buffer. */
static StJsonbWriter
build(StReader *r, const CcDocSource *source, CcTextCache *cache, int node,
	  const CcLeafSet *present, const struct varlena *residue, int row)
{
	for (;;)
	{
		StJsonbWriter w;
		StStatus	status = ST_NOSPACE;

		if (cache->cap > 0)
		{
			st_jsonb_writer_init(&w, cache->buffer, cache->cap);
			status = cc_doc_build(source, node, present, residue, row, &w);
		}
		if (status == ST_OK)
			return w;
		if (status != ST_NOSPACE)
			cc_corrupt(r, "sub-columns of a document");
		if (cache->buffer != NULL)
			pfree(cache->buffer);
		cache->cap = Max(2 * cache->cap, BUFFER_BYTES);
		cache->buffer = MemoryContextAllocHuge(cache->mcxt, cache->cap);
	}
}

void
cc_text_object(StReader *r, const CcDocSource *source, CcTextCache *cache, int node,
			   const CcLeafSet *present, const struct varlena *residue, int row,
			   VxText *text)
{
	StJsonbWriter w;

	if (residue == NULL && append_by_template(r, source, cache, node, present, row, text))
		return;
	if (residue != NULL && node == 0 && cc_leaves_empty(present))
	{
		vx_text_container(text, (uint8 *) VARDATA(residue), VARSIZE(residue) - VARHDRSZ);
		return;
	}
	w = build(r, source, cache, node, present, residue, row);
	vx_text_container(text, w.buf, w.len);
}
