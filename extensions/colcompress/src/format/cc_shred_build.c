/*-------------------------------------------------------------------------
 *
 * cc_shred_build.c
 *	  jsonb documents from their leaves and residue, bit by bit as they were.
 *
 * Which leaves have a value in a row is the document's *shape*.  Documents
 * of one shape, that have no residue, begin with the same bytes: the number
 * of pairs, entries of keys, keys.  A shape keeps these blocks of all its
 * objects, so that building a document is copying them and appending values.
 * Documents with a residue are merged pair by pair.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "cc_shred.h"
#include "st_numeric.h"

/* Shapes that are kept; documents of others are merged with no residue. */
#define MAX_SHAPES 64

/* One step of building: begin an object, or append a leaf's value to it. */
typedef struct ShapeStep
{
	int			leaf;			/* or -1: an object follows */
	uint32		npairs;			/* of the object; its pairs are the next steps */
	uint32		block_len;
	uint8	   *block;
} ShapeStep;

typedef struct Shape
{
	int			node;
	CcLeafSet	present;
	StStatus	status;			/* ST_CORRUPT: there is no such document */
	int			nsteps;
	ShapeStep  *steps;
} Shape;

struct CcShapeCache
{
	MemoryContext mcxt;
	int			nshapes;
	int			last;
	Shape		shapes[MAX_SHAPES];
};

CcShapeCache *
cc_shape_cache_create(MemoryContext mcxt)
{
	CcShapeCache *cache = MemoryContextAllocZero(mcxt, sizeof(CcShapeCache));

	cache->mcxt = mcxt;
	return cache;
}

/* ---- values ---- */

static void
put_numeric(StJsonbWriter *w, StJsonbBuild *b, const VxVector *v, int row)
{
	size_t		from = w->len;

	if (v->rep != VX_REP_DECIMAL64 && v->rep != VX_REP_DECIMAL128)
	{
		struct varlena *num = cc_doc_varlena(v, row);

		if (VARSIZE(num) < VARHDRSZ + sizeof(uint16) && w->status == ST_OK)
			w->status = ST_CORRUPT;
		st_jsonb_put(w, b, ST_JSONB_NUMERIC, (uint8 *) num, VARSIZE(num));
		return;
	}
	st_jsonb_pad(w);
	if (!st_jsonb_room(w, ST_NUMERIC_MAX_BYTES))
		return;
	w->len += v->rep == VX_REP_DECIMAL64 ?
		st_numeric_write_int64(w->buf + w->len, v->u.i64[row], v->scale) :
		st_numeric_write_int128(w->buf + w->len, v->u.i128[row], v->scale);
	st_jsonb_entry(w, b, ST_JSONB_NUMERIC, from);
}

/* A value of that kind, no matter which. */
static void
put_any(CcLeafKind kind, StJsonbWriter *w, StJsonbBuild *b)
{
	size_t		from = w->len;

	switch (kind)
	{
		case CC_LEAF_STRING:
			st_jsonb_put(w, b, ST_JSONB_STRING, NULL, 0);
			break;
		case CC_LEAF_NUMERIC:
			st_jsonb_pad(w);
			if (!st_jsonb_room(w, ST_NUMERIC_MAX_BYTES))
				return;
			w->len += st_numeric_write_int64(w->buf + w->len, 0, 0);
			st_jsonb_entry(w, b, ST_JSONB_NUMERIC, from);
			break;
		case CC_LEAF_BOOL:
			st_jsonb_put(w, b, ST_JSONB_FALSE, NULL, 0);
			break;
		case CC_LEAF_NULL:
		case CC_LEAF_JSON:
			/* containers whose type matters are taken as they are */
			st_jsonb_put(w, b, ST_JSONB_NULL, NULL, 0);
			break;
	}
}

static void
put_leaf(const CcDocSource *source, int leaf, int row, StJsonbWriter *w,
		 StJsonbBuild *b)
{
	const VxVector *v = source->leaf[leaf];
	struct varlena *value;

	if (v == NULL)
	{
		put_any(source->tree->leaves[leaf].kind, w, b);
		return;
	}
	switch (source->tree->leaves[leaf].kind)
	{
		case CC_LEAF_STRING:
			value = cc_doc_varlena(v, row);
			st_jsonb_put(w, b, ST_JSONB_STRING, (uint8 *) VARDATA(value),
						 VARSIZE(value) - VARHDRSZ);
			break;
		case CC_LEAF_NUMERIC:
			put_numeric(w, b, v, row);
			break;
		case CC_LEAF_BOOL:
			st_jsonb_put(w, b, v->u.i64[row] ? ST_JSONB_TRUE : ST_JSONB_FALSE, NULL, 0);
			break;
		case CC_LEAF_NULL:
			st_jsonb_put(w, b, ST_JSONB_NULL, NULL, 0);
			break;
		case CC_LEAF_JSON:
			value = cc_doc_varlena(v, row);
			st_jsonb_put(w, b, ST_JSONB_CONTAINER, (uint8 *) VARDATA(value),
						 VARSIZE(value) - VARHDRSZ);
			break;
	}
}

/* ---- shapes ---- */

StStatus
cc_node_value(const CcPathNode *n, const CcLeafSet *present, int *leaf)
{
	bool		inner = cc_leaves_overlap(&n->below, present);

	*leaf = -1;
	if (cc_leaves_overlap(&n->own, present))
	{
		for (int k = 0; k < CC_LEAF_KINDS; k++)
		{
			if (n->leaf[k] < 0 || !cc_leaf_in(present, n->leaf[k]))
				continue;
			if (*leaf >= 0 || inner)
				return ST_CORRUPT;
			*leaf = n->leaf[k];
		}
	}
	return *leaf >= 0 || inner ? ST_OK : ST_NOTFIT;
}

/* The bytes in front of the values of an object with these children. */
static void
make_block(const CcPathTree *tree, const int *children, ShapeStep *step,
		   MemoryContext mcxt)
{
	Size		cap = sizeof(uint32) * (1 + 2 * step->npairs);
	StJsonbWriter w;
	StJsonbBuild b;

	for (uint32 i = 0; i < step->npairs; i++)
		cap += tree->nodes[children[i]].key.len;
	step->block = MemoryContextAlloc(mcxt, cap);
	st_jsonb_writer_init(&w, step->block, cap);
	st_jsonb_begin(&w, &b, ST_JSONB_OBJECT, step->npairs);
	for (uint32 i = 0; i < step->npairs; i++)
	{
		StStr		key = tree->nodes[children[i]].key;

		st_jsonb_put(&w, &b, ST_JSONB_STRING, key.data, key.len);
	}
	Assert(w.status == ST_OK && w.len == cap);
	step->block_len = cap;
}

static StStatus
make_steps(const CcPathTree *tree, int node, Shape *shape, MemoryContext mcxt)
{
	int		   *children = palloc(tree->nnodes * sizeof(int));
	int		   *leaves = palloc(tree->nnodes * sizeof(int));
	ShapeStep  *step = &shape->steps[shape->nsteps++];
	StStatus	status = ST_OK;

	step->leaf = -1;
	step->npairs = 0;
	for (int c = tree->nodes[node].first_child; c >= 0; c = tree->nodes[c].next_sibling)
	{
		status = cc_node_value(&tree->nodes[c], &shape->present, &leaves[step->npairs]);
		if (status == ST_CORRUPT)
			return status;
		if (status == ST_OK)
			children[step->npairs++] = c;
	}
	make_block(tree, children, step, mcxt);
	status = ST_OK;
	for (uint32 i = 0; i < step->npairs && status == ST_OK; i++)
	{
		if (leaves[i] < 0)
			status = make_steps(tree, children[i], shape, mcxt);
		else
			shape->steps[shape->nsteps++].leaf = leaves[i];
	}
	pfree(children);
	pfree(leaves);
	return status;
}

/* The shape, made if it is new; NULL if there are too many. */
static const Shape *
find_shape(const CcDocSource *source, int node, const CcLeafSet *present)
{
	CcShapeCache *cache = source->shapes;
	Shape	   *shape = &cache->shapes[cache->last];

	if (cache->nshapes > 0 && shape->node == node &&
		cc_leaves_equal(&shape->present, present))
		return shape;
	for (int i = 0; i < cache->nshapes; i++)
	{
		if (cache->shapes[i].node == node &&
			cc_leaves_equal(&cache->shapes[i].present, present))
		{
			cache->last = i;
			return &cache->shapes[i];
		}
	}
	if (cache->nshapes == MAX_SHAPES)
		return NULL;
	shape = &cache->shapes[cache->nshapes];
	shape->node = node;
	shape->present = *present;
	shape->nsteps = 0;
	shape->steps = MemoryContextAlloc(cache->mcxt,
									  source->tree->nnodes * sizeof(ShapeStep));
	shape->status = make_steps(source->tree, node, shape, cache->mcxt);
	cache->last = cache->nshapes++;
	return shape;
}

static void
build_shape(const CcDocSource *source, const Shape *shape, int *at, int row,
			StJsonbWriter *w, StJsonbBuild *b)
{
	const ShapeStep *object = &shape->steps[(*at)++];

	st_jsonb_begin_block(w, b, object->npairs, object->block, object->block_len);
	for (uint32 i = 0; i < object->npairs; i++)
	{
		const ShapeStep *step = &shape->steps[*at];

		if (step->leaf >= 0)
		{
			put_leaf(source, step->leaf, row, w, b);
			(*at)++;
		}
		else
		{
			StJsonbBuild child;

			build_shape(source, shape, at, row, w, &child);
			st_jsonb_put_child(w, b, &child);
		}
	}
}

/* ---- merging with a residue ---- */

/* A pair to be written: of a leaf, of an object with leaves, of the residue. */
typedef struct Pair
{
	StStr		key;
	int			node;			/* with leaves that are present, or -1 */
	int			leaf;			/* its only one, or -1 */
	bool		has_rest;
	StJsonbItem rest;			/* of the residue */
} Pair;

static StStatus
next_rest(const StJsonb *rest, StJsonbCursor *keys, StJsonbCursor *values,
		  Pair *pair)
{
	StJsonbItem key;

	pair->has_rest = keys->i < rest->count;
	if (!pair->has_rest)
		return ST_OK;
	if (st_jsonb_next(rest, keys, &key) != ST_OK ||
		st_jsonb_next(rest, values, &pair->rest) != ST_OK)
		return ST_CORRUPT;
	pair->key = (StStr) {key.data, key.len};
	pair->node = pair->leaf = -1;
	return ST_OK;
}

/* The next child with leaves that are present, from child on. */
static StStatus
next_node(const CcPathTree *tree, const CcLeafSet *present, int *child, int *leaf)
{
	for (; *child >= 0; *child = tree->nodes[*child].next_sibling)
	{
		StStatus	status = cc_node_value(&tree->nodes[*child], present, leaf);

		if (status != ST_NOTFIT)
			return status;
	}
	return ST_OK;
}

/* Lists the pairs of node's leaves and of the residue, in order of keys. */
static StStatus
list_pairs(const CcPathTree *tree, const CcLeafSet *present, int node,
		   const StJsonb *rest, Pair *pairs, uint32 *npairs)
{
	StJsonbCursor keys = {0, 0};
	StJsonbCursor values = {0, 0};
	int			child = tree->nodes[node].first_child;
	int			leaf;
	Pair		from_rest = {0};
	uint32		n = 0;

	if (rest != NULL &&
		(st_jsonb_skip_keys(rest, &values) != ST_OK ||
		 next_rest(rest, &keys, &values, &from_rest) != ST_OK))
		return ST_CORRUPT;
	if (next_node(tree, present, &child, &leaf) != ST_OK)
		return ST_CORRUPT;
	while (child >= 0 || from_rest.has_rest)
	{
		int			c = child < 0 ? 1 : -1;

		if (child >= 0 && from_rest.has_rest)
			c = st_jsonb_compare_keys(tree->nodes[child].key.data,
									  tree->nodes[child].key.len,
									  from_rest.key.data, from_rest.key.len);
		pairs[n].has_rest = false;
		if (c >= 0)
		{
			pairs[n] = from_rest;
			if (next_rest(rest, &keys, &values, &from_rest) != ST_OK)
				return ST_CORRUPT;
		}
		if (c <= 0)
		{
			pairs[n].key = tree->nodes[child].key;
			pairs[n].node = child;
			pairs[n].leaf = leaf;
			child = tree->nodes[child].next_sibling;
			if (next_node(tree, present, &child, &leaf) != ST_OK)
				return ST_CORRUPT;
		}
		n++;
	}
	*npairs = n;
	return ST_OK;
}

/* The object at node: its leaves that are present, and the pairs of rest. */
static StStatus
build_merged(const CcDocSource *source, const CcLeafSet *present, int node,
			 const StJsonb *rest, int row, StJsonbWriter *w, StJsonbBuild *b)
{
	uint32		npairs;
	Pair	   *pairs = palloc((source->tree->nnodes +
								(rest ? (Size) rest->count : 0)) * sizeof(Pair));
	StStatus	status = list_pairs(source->tree, present, node, rest, pairs, &npairs);

	if (status == ST_OK)
	{
		st_jsonb_begin(w, b, ST_JSONB_OBJECT, npairs);
		for (uint32 i = 0; i < npairs; i++)
			st_jsonb_put(w, b, ST_JSONB_STRING, pairs[i].key.data, pairs[i].key.len);
	}
	for (uint32 i = 0; status == ST_OK && i < npairs; i++)
	{
		const Pair *p = &pairs[i];
		StJsonbBuild child;
		StJsonb		inner;

		if (p->node < 0)
			st_jsonb_put(w, b, p->rest.type, p->rest.data, p->rest.len);
		else if (p->leaf >= 0)
		{
			if (p->has_rest)
				status = ST_CORRUPT;
			else
				put_leaf(source, p->leaf, row, w, b);
		}
		else
		{
			if (p->has_rest && (p->rest.type != ST_JSONB_CONTAINER ||
								st_jsonb_open(p->rest.data, p->rest.len, &inner) != ST_OK))
				status = ST_CORRUPT;
			else
				status = build_merged(source, present, p->node,
									  p->has_rest ? &inner : NULL, row, w, &child);
			if (status == ST_OK)
				st_jsonb_put_child(w, b, &child);
		}
	}
	pfree(pairs);
	return status;
}

const struct varlena *
cc_doc_residue(const CcDocSource *source, int row)
{
	if (source->residue == NULL || vx_vector_isnull(source->residue, row))
		return NULL;
	return cc_doc_varlena(source->residue, row);
}

/* The object that the residue has at a node: ST_NOTFIT if there is none. */
static StStatus
open_rest(const CcPathTree *tree, int node, const struct varlena *residue, StJsonb *rest)
{
	const uint8 *data = (const uint8 *) VARDATA(residue);
	uint32		len = VARSIZE(residue) - VARHDRSZ;
	int			path[CC_SHRED_MAX_DEPTH + 1];
	int			depth = 0;
	StStatus	status;

	for (int n = node; n > 0; n = tree->nodes[n].parent)
		path[depth++] = n;
	while (depth > 0)
	{
		StJsonbHint hint = {0};
		StJsonbItem item;

		status = st_jsonb_find(data, len, tree->nodes[path[--depth]].key, &hint, &item);
		if (status != ST_OK)
			return status;
		if (item.type != ST_JSONB_CONTAINER)
			return ST_CORRUPT;
		data = item.data;
		len = item.len;
	}
	status = st_jsonb_open(data, len, rest);
	return status == ST_OK && !rest->object ? ST_CORRUPT : status;
}

static StStatus
build_leaves(const CcDocSource *source, int node, const CcLeafSet *present, int row,
			 StJsonbWriter *w)
{
	const Shape *shape = find_shape(source, node, present);
	StJsonbBuild b;
	int			at = 0;

	if (shape == NULL)
		return build_merged(source, present, node, NULL, row, w, &b);
	if (shape->status == ST_OK)
		build_shape(source, shape, &at, row, w, &b);
	return shape->status;
}

StStatus
cc_doc_build(const CcDocSource *source, int node, const CcLeafSet *present,
			 const struct varlena *residue, int row, StJsonbWriter *w)
{
	StStatus	status = ST_NOTFIT;
	StJsonbBuild b;
	StJsonb		rest;

	if (residue != NULL && node == 0 && cc_leaves_empty(present))
	{
		Size		len = VARSIZE(residue) - VARHDRSZ;

		if (!st_jsonb_room(w, len))
			return ST_NOSPACE;
		memcpy(w->buf + w->len, VARDATA(residue), len);
		w->len += len;
		return ST_OK;
	}
	if (residue != NULL)
		status = open_rest(source->tree, node, residue, &rest);
	if (status == ST_OK)
		status = build_merged(source, present, node, &rest, row, w, &b);
	else if (status == ST_NOTFIT)
		status = build_leaves(source, node, present, row, w);
	return status != ST_OK ? status : w->status;
}
