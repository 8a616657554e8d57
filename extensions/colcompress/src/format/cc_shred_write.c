/*-------------------------------------------------------------------------
 *
 * cc_shred_write.c
 *	  jsonb documents of a column into sub-columns.
 *
 * A document is walked once.  The walk proves that its bytes are those that
 * the server's serialisation makes (st_jsonb.h), so that building it again
 * from its leaves gives the same bytes; a document of which that is not true
 * goes to the residue as it is.  Values are handed to the leaves only when
 * the walk has come to its end.
 *
 * Documents with the same keys share the mapping of keys to paths: it is
 * kept with the first one's keys, and compared instead of looked up.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_array.h"
#include "cc_shred.h"
#include "st_checksum.h"
#include "st_compat.h"
#include "st_yield.h"

/* Key mappings that are kept; more kinds of objects are looked up each time. */
#define MAX_TEMPLATES 1024
#define TEMPLATE_SLOTS 512

/* numeric's header: short form, sign, bits of the weight */
#define NUMERIC_FORM_MASK	0xC000
#define NUMERIC_SHORT		0x8000
#define NUMERIC_SHORT_SIGN	0x2000
#define NUMERIC_SHORT_WEIGHT 0x007F

/* Objects at one path that have the same keys. */
typedef struct Template
{
	struct Template *next;		/* of the slot */
	int			node;
	uint32		count;
	uint32		keys_len;
	const uint8 *entries;		/* of the keys */
	const uint8 *keys;
	int16	   *child;			/* node of each pair, or -1 */
} Template;

typedef struct Hit
{
	int			leaf;
	StJsonbItem item;
} Hit;

typedef struct Shredder
{
	CcPathTree *tree;
	CcColumn   *leaves;			/* and behind them the residue */
	Template  **last;			/* by node: template used last */
	Template   *slots[TEMPLATE_SLOTS];
	int			ntemplates;

	/* document at hand */
	int			nhits;
	Hit			hits[CC_SHRED_MAX_LEAVES];
	bool		complete;		/* its leaves are all of it */
	uint8	   *work;			/* residue under construction */
	Size		work_cap;
} Shredder;

/* ---- keys ---- */

static bool
template_matches(const Template *t, int node, const StJsonb *c)
{
	return t->node == node && t->count == c->count &&
		t->keys_len <= c->data_len &&
		memcmp(t->entries, c->entries, sizeof(uint32) * c->count) == 0 &&
		memcmp(t->keys, c->data, t->keys_len) == 0;
}

/* Looks all keys up.  NULL: they are not as the server writes them. */
static Template *
template_create(Shredder *s, int node, const StJsonb *c)
{
	Template   *t = palloc(sizeof(Template));
	StJsonbCursor at;

	if (st_jsonb_skip_keys(c, &at) != ST_OK)
		return NULL;
	t->node = node;
	t->count = c->count;
	t->keys_len = at.off;
	t->entries = c->entries;
	t->keys = c->data;
	t->child = palloc(Max(1, c->count) * sizeof(int16));
	at = (StJsonbCursor) {0, 0};
	for (uint32 i = 0; i < c->count; i++)
	{
		StJsonbItem key;

		if (st_jsonb_next(c, &at, &key) != ST_OK)
			return NULL;
		t->child[i] = cc_path_child(s->tree, node, (StStr) {key.data, key.len});
	}
	return t;
}

static Template *
find_template(Shredder *s, int node, const StJsonb *c)
{
	Template   *t = s->last[node];
	Template  **slot;

	if (t != NULL && template_matches(t, node, c))
		return t;
	slot = &s->slots[st_checksum64(c->entries, sizeof(uint32) * c->count,
								   node) % TEMPLATE_SLOTS];
	for (t = *slot; t != NULL; t = t->next)
	{
		if (template_matches(t, node, c))
			break;
	}
	if (t == NULL)
	{
		t = template_create(s, node, c);
		if (t == NULL || s->ntemplates >= MAX_TEMPLATES)
			return t;
		s->ntemplates++;
		t->next = *slot;
		*slot = t;
	}
	s->last[node] = t;
	return t;
}

/* ---- one document ---- */

/* Would the server write these digits, and do they stay what they are? */
static bool
numeric_is_canonical(const StJsonbItem *item)
{
	const uint8 *p = item->data + VARHDRSZ;
	uint32		len = item->len - VARHDRSZ;
	uint16		header = st_load_u16(p);

	if ((header & NUMERIC_FORM_MASK) != NUMERIC_SHORT || len % 2 != 0)
		return false;
	if (len == sizeof(uint16))
		return (header & (NUMERIC_SHORT_SIGN | NUMERIC_SHORT_WEIGHT)) == 0;
	return st_load_u16(p + sizeof(uint16)) != 0 && st_load_u16(p + len - sizeof(uint16)) != 0;
}

/* The leaf that takes the value at the node, or -1. */
static int
leaf_of(const CcPathNode *n, const StJsonbItem *item)
{
	switch (item->type)
	{
		case ST_JSONB_STRING:
			return n->leaf[CC_LEAF_STRING];
		case ST_JSONB_NUMERIC:
			return numeric_is_canonical(item) ? n->leaf[CC_LEAF_NUMERIC] : -1;
		case ST_JSONB_FALSE:
		case ST_JSONB_TRUE:
			return n->leaf[CC_LEAF_BOOL];
		case ST_JSONB_NULL:
			return n->leaf[CC_LEAF_NULL];
		default:
			return n->leaf[CC_LEAF_JSON];
	}
}

/* Is the value an object whose pairs have leaves of their own? */
static bool
is_inner(const CcPathNode *n, const StJsonbItem *item)
{
	uint32		header;

	if (item->type != ST_JSONB_CONTAINER || n->first_child < 0)
		return false;
	header = st_load_u32(item->data);
	return (header & ST_JSONB_OBJECT) != 0 && (header & ST_JSONB_COUNT_MASK) > 0;
}

/*
 * Collects what the leaves take of an object.  False if its bytes are not
 * those that building it again would give.
 */
static bool
walk_object(Shredder *s, int node, const uint8 *data, uint32 len)
{
	StJsonb		c;
	StJsonbCursor at;
	Template   *t;

	if (st_jsonb_open(data, len, &c) != ST_OK || !c.object)
		return false;
	t = find_template(s, node, &c);
	if (t == NULL)
		return false;
	at.i = c.count;
	at.off = t->keys_len;
	for (uint32 i = 0; i < c.count; i++)
	{
		StJsonbItem item;
		int			child = t->child[i];
		int			leaf = -1;

		if (st_jsonb_next(&c, &at, &item) != ST_OK)
			return false;
		if (child >= 0 && is_inner(&s->tree->nodes[child], &item))
		{
			if (!walk_object(s, child, item.data, item.len))
				return false;
			continue;
		}
		if (child >= 0)
			leaf = leaf_of(&s->tree->nodes[child], &item);
		if (leaf >= 0)
			s->hits[s->nhits++] = (Hit) {leaf, item};
		else
			s->complete = false;
	}
	return st_jsonb_finish(&c, &at) == ST_OK;
}

/* Is all of the value, at this node, in leaves? */
static bool
is_covered(Shredder *s, int node, const StJsonbItem *item)
{
	StJsonb		c;
	StJsonbCursor at;
	Template   *t;

	if (node < 0)
		return false;
	if (!is_inner(&s->tree->nodes[node], item))
		return leaf_of(&s->tree->nodes[node], item) >= 0;
	if (st_jsonb_open(item->data, item->len, &c) != ST_OK)
		return false;
	t = find_template(s, node, &c);
	at.i = c.count;
	at.off = t->keys_len;
	for (uint32 i = 0; i < c.count; i++)
	{
		StJsonbItem value;

		if (st_jsonb_next(&c, &at, &value) != ST_OK ||
			!is_covered(s, t->child[i], &value))
			return false;
	}
	return true;
}

/* Writes the pairs of an object that no leaf has taken, of which there are. */
static void
write_rest(Shredder *s, int node, const StJsonb *c, StJsonbWriter *w,
		   StJsonbBuild *b)
{
	Template   *t = find_template(s, node, c);
	StJsonbItem *rest = palloc(c->count * sizeof(StJsonbItem));
	int		   *child = palloc(c->count * sizeof(int));
	StJsonbItem *keys = palloc(c->count * sizeof(StJsonbItem));
	StJsonbCursor key_at = {0, 0};
	StJsonbCursor at = {c->count, t->keys_len};
	uint32		n = 0;

	for (uint32 i = 0; i < c->count; i++)
	{
		(void) st_jsonb_next(c, &key_at, &keys[n]);
		(void) st_jsonb_next(c, &at, &rest[n]);
		child[n] = t->child[i];
		if (!is_covered(s, child[n], &rest[n]))
			n++;
	}
	st_jsonb_begin(w, b, ST_JSONB_OBJECT, n);
	for (uint32 i = 0; i < n; i++)
		st_jsonb_put(w, b, ST_JSONB_STRING, keys[i].data, keys[i].len);
	for (uint32 i = 0; i < n; i++)
	{
		StJsonb		inner;

		if (child[i] >= 0 && is_inner(&s->tree->nodes[child[i]], &rest[i]) &&
			st_jsonb_open(rest[i].data, rest[i].len, &inner) == ST_OK)
		{
			StJsonbBuild ib;

			write_rest(s, child[i], &inner, w, &ib);
			st_jsonb_put_child(w, b, &ib);
		}
		else
			st_jsonb_put(w, b, rest[i].type, rest[i].data, rest[i].len);
	}
	pfree(rest);
	pfree(child);
	pfree(keys);
}

/* The rest of a document is no longer than the document. */
static void
add_rest(Shredder *s, const StStr *doc)
{
	CcColumn   *residue = &s->leaves[s->tree->nleaves];
	StJsonbWriter w;
	StJsonbBuild b;
	StJsonb		c;

	if (s->work_cap < doc->len)
	{
		if (s->work)
			pfree(s->work);
		s->work_cap = Max(8192, 2 * (Size) doc->len);
		s->work = MemoryContextAllocHuge(CurrentMemoryContext, s->work_cap);
	}
	st_jsonb_writer_init(&w, s->work, s->work_cap);
	if (st_jsonb_open(doc->data, doc->len, &c) != ST_OK)
		elog(ERROR, "could not open a document again");
	write_rest(s, 0, &c, &w, &b);
	if (w.status != ST_OK)
		elog(ERROR, "could not write the rest of a document");
	cc_column_add_bytes(residue, w.buf, w.len);
}

static void
add_hit(Shredder *s, const Hit *hit)
{
	CcColumn   *col = &s->leaves[hit->leaf];
	const StJsonbItem *item = &hit->item;

	switch (s->tree->leaves[hit->leaf].kind)
	{
		case CC_LEAF_STRING:
		case CC_LEAF_JSON:
			cc_column_add_bytes(col, item->data, item->len);
			break;
		case CC_LEAF_NUMERIC:
			cc_column_add_numeric(col, item->data, item->len);
			break;
		case CC_LEAF_BOOL:
			cc_column_add(col, BoolGetDatum(item->type == ST_JSONB_TRUE), false);
			break;
		case CC_LEAF_NULL:
			cc_column_add(col, BoolGetDatum(true), false);
			break;
	}
}

static void
shred_document(Shredder *s, uint32 row, const StStr *doc)
{
	CcColumn   *residue = &s->leaves[s->tree->nleaves];
	StJsonb		c;
	bool		canonical;

	s->nhits = 0;
	s->complete = true;
	canonical = st_jsonb_open(doc->data, doc->len, &c) == ST_OK && c.object &&
		walk_object(s, 0, doc->data, doc->len);
	if (!canonical || s->nhits == 0)
	{
		cc_column_add_nulls(residue, row);
		cc_column_add_bytes(residue, doc->data, doc->len);
		return;
	}
	for (int i = 0; i < s->nhits; i++)
	{
		cc_column_add_nulls(&s->leaves[s->hits[i].leaf], row);
		add_hit(s, &s->hits[i]);
	}
	if (!s->complete)
	{
		cc_column_add_nulls(residue, row);
		add_rest(s, doc);
	}
}

/* ---- the chunk ---- */

void
cc_leaf_init(CcColumn *col, Oid type)
{
	FormData_pg_attribute att;

	cc_builtin_attribute(type, &att);
	cc_column_init(col, &att, CurrentMemoryContext);
	col->block_target = CC_SHRED_BLOCK;
	col->is_leaf = true;
	col->depth = CC_ARRAY_MAX_DEPTH;
}

static Shredder *
shred_column(CcPathTree *tree, const StStr *docs, uint32 n, int depth)
{
	Shredder   *s = palloc0(sizeof(Shredder));

	s->tree = tree;
	s->leaves = palloc((tree->nleaves + 1) * sizeof(CcColumn));
	s->last = palloc0(tree->nnodes * sizeof(Template *));
	for (int i = 0; i < tree->nleaves; i++)
	{
		cc_leaf_init(&s->leaves[i], cc_leaf_type(tree->leaves[i].kind));
		s->leaves[i].depth = depth;
	}
	cc_leaf_init(&s->leaves[tree->nleaves], JSONBOID);
	for (uint32 i = 0; i < n; i++)
	{
		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		st_yield();
		if (docs[i].data != NULL)
			shred_document(s, i, &docs[i]);
	}
	for (int i = 0; i <= tree->nleaves; i++)
		cc_column_add_nulls(&s->leaves[i], n);
	return s;
}

bool
cc_shred_encode(CcColumn *col, CcChunkWriter *w, const StStr *docs,
				uint64 limit, StringInfo extra)
{
	CcPathTree *tree = cc_path_tree_choose(docs, col->nrows);
	uint64		start = st_image_len(w->img);
	CcFooterColumn *entries;
	Shredder   *s;

	if (tree == NULL)
		return false;
	s = shred_column(tree, docs, col->nrows, col->depth);
	entries = palloc0((tree->nleaves + 1) * sizeof(CcFooterColumn));
	for (int i = 0; i <= tree->nleaves; i++)
	{
		cc_column_encode(&s->leaves[i], w->img, w->codec, w->level, w->codec_ctx,
						 &entries[i]);
		cc_column_free(&s->leaves[i]);
		col->has_arrays |= s->leaves[i].has_arrays;
		if (st_image_len(w->img) - start >= limit)
		{
			col->has_arrays = false;
			st_image_truncate(w->img, start);
			return false;
		}
	}
	w->blob_len += st_image_len(w->img) - start;

	for (uint32 first = 0; first < col->nrows; first += ST_VECTOR_SIZE)
	{
		uint32		n = Min(ST_VECTOR_SIZE, col->nrows - first);
		uint32		nnulls;
		uint8	   *dst = cc_chunk_reserve(w, CC_VALIDITY_BOUND);
		Size		prefix = cc_put_validity(col, first, n, &nnulls, dst);

		cc_chunk_add_vector(w, prefix, nnulls);
	}
	cc_path_tree_write(tree, extra);
	appendBinaryStringInfo(extra, (char *) entries,
						   (tree->nleaves + 1) * sizeof(CcFooterColumn));
	return true;
}
