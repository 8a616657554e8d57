/*-------------------------------------------------------------------------
 *
 * cc_shred_tree.c
 *	  Which paths of jsonb documents get a sub-column, and how the chosen
 *	  ones stand in a chunk's meta.
 *
 * A thousand documents from all over the column are walked; every path that
 * they have is counted by kind of value.  Leaves are taken where a fiftieth
 * of the documents has a value, the most frequent first.  An object whose
 * keys are all too rare (they are data, not names) becomes a leaf as a whole.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/memutils.h"

#include "cc_shred.h"
#include "sf_bytes.h"

/* Documents that are looked at, and the paths that are counted among them. */
#define SAMPLE_DOCS 1024
#define SAMPLE_NODES 2048

/* A leaf is in at least one of so many documents. */
#define LEAF_MIN_SHARE 50

/* Fewer documents than this are not worth it. */
#define MIN_DOCS 64

typedef struct SampleNode
{
	StStr		key;
	int			parent;
	int			depth;
	int			first_child;
	int			next_sibling;
	uint32		count[CC_LEAF_KINDS];
	uint32		objects;		/* objects with pairs, at this path */
	int			kinds;			/* chosen: bits by CcLeafKind */
	bool		kept;			/* has chosen leaves, here or below */
} SampleNode;

typedef struct Sample
{
	int			nnodes;
	SampleNode	nodes[SAMPLE_NODES];
	uint32		ndocs;
} Sample;

/* The child with that key; made if there is room for it, else -1. */
static int
sample_child(Sample *s, int parent, const StJsonbItem *key)
{
	SampleNode *node;
	int			i;

	for (i = s->nodes[parent].first_child; i >= 0; i = s->nodes[i].next_sibling)
	{
		if (s->nodes[i].key.len == key->len &&
			memcmp(s->nodes[i].key.data, key->data, key->len) == 0)
			return i;
	}
	if (s->nnodes == SAMPLE_NODES || key->len > CC_SHRED_MAX_KEY)
		return -1;
	i = s->nnodes++;
	node = &s->nodes[i];
	memset(node, 0, sizeof(*node));
	node->key.data = key->data;
	node->key.len = key->len;
	node->parent = parent;
	node->depth = s->nodes[parent].depth + 1;
	node->first_child = -1;
	node->next_sibling = s->nodes[parent].first_child;
	s->nodes[parent].first_child = i;
	return i;
}

static void sample_object(Sample *s, int node, const StJsonb *c);

static void
sample_value(Sample *s, int node, const StJsonbItem *item)
{
	SampleNode *n = &s->nodes[node];
	StJsonb		c;

	switch (item->type)
	{
		case ST_JSONB_STRING:
			n->count[CC_LEAF_STRING]++;
			break;
		case ST_JSONB_NUMERIC:
			n->count[CC_LEAF_NUMERIC]++;
			break;
		case ST_JSONB_FALSE:
		case ST_JSONB_TRUE:
			n->count[CC_LEAF_BOOL]++;
			break;
		case ST_JSONB_NULL:
			n->count[CC_LEAF_NULL]++;
			break;
		default:
			if (st_jsonb_open(item->data, item->len, &c) != ST_OK)
				return;
			if (!c.object || c.count == 0)
				n->count[CC_LEAF_JSON]++;
			else
			{
				n->objects++;
				if (n->depth < CC_SHRED_MAX_DEPTH)
					sample_object(s, node, &c);
			}
			break;
	}
}

/* Counts the pairs of an object at a path.  Damaged ones are not counted. */
static void
sample_object(Sample *s, int node, const StJsonb *c)
{
	StJsonbCursor keys = {0, 0};
	StJsonbCursor values;

	if (st_jsonb_skip_keys(c, &values) != ST_OK)
		return;
	for (uint32 i = 0; i < c->count; i++)
	{
		StJsonbItem key;
		StJsonbItem value;
		int			child;

		if (st_jsonb_next(c, &keys, &key) != ST_OK ||
			st_jsonb_next(c, &values, &value) != ST_OK)
			return;
		child = sample_child(s, node, &key);
		if (child >= 0)
			sample_value(s, child, &value);
	}
}

static Sample *
take_sample(const StStr *docs, uint32 n)
{
	Sample	   *s = palloc(sizeof(Sample));
	uint32		step = Max(1, n / SAMPLE_DOCS);

	s->nnodes = 1;
	s->ndocs = 0;
	memset(&s->nodes[0], 0, sizeof(SampleNode));
	s->nodes[0].parent = s->nodes[0].first_child = s->nodes[0].next_sibling = -1;
	for (uint32 i = 0; i < n; i += step)
	{
		/* at changing places, so that periods in the data do not mislead */
		uint32		at = i + i * UINT32_C(2654435769) / 4096 % step;
		StJsonb		c;

		if (at >= n || docs[at].data == NULL)
			continue;
		s->ndocs++;
		if (st_jsonb_open(docs[at].data, docs[at].len, &c) == ST_OK && c.object)
			sample_object(s, 0, &c);
	}
	return s;
}

static int
compare_counts(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return x < y ? 1 : (x > y ? -1 : 0);
}

/*
 * The least count that a leaf must have: a share of the documents, and so
 * many that not too many leaves are left.
 */
static uint32
least_count(const Sample *s)
{
	uint32	   *counts = palloc(s->nnodes * CC_LEAF_KINDS * sizeof(uint32));
	uint32		least = Max(2, s->ndocs / LEAF_MIN_SHARE);
	int			n = 0;

	for (int i = 1; i < s->nnodes; i++)
	{
		for (int k = 0; k < CC_LEAF_KINDS; k++)
			counts[n++] = s->nodes[i].count[k];
	}
	qsort(counts, n, sizeof(uint32), compare_counts);
	if (n > CC_SHRED_MAX_LEAVES)
		least = Max(least, counts[CC_SHRED_MAX_LEAVES] + 1);
	pfree(counts);
	return least;
}

/*
 * Chooses leaves.  Nodes are made after their parents, so a walk from the end
 * meets children first.
 */
static int
choose_leaves(Sample *s)
{
	uint32		least = least_count(s);
	int			nleaves = 0;

	for (int i = s->nnodes - 1; i > 0; i--)
	{
		SampleNode *n = &s->nodes[i];

		if (!n->kept)
			n->count[CC_LEAF_JSON] += n->objects;
		for (int k = 0; k < CC_LEAF_KINDS; k++)
		{
			if (n->count[k] < least || nleaves == CC_SHRED_MAX_LEAVES)
				continue;
			n->kinds |= 1 << k;
			n->kept = true;
			nleaves++;
		}
		if (n->kept)
			s->nodes[n->parent].kept = true;
	}
	return nleaves;
}

/* Sorts the kept children of a node by key; returns how many there are. */
static int
sorted_children(const Sample *s, int node, int *children)
{
	int			n = 0;

	for (int i = s->nodes[node].first_child; i >= 0; i = s->nodes[i].next_sibling)
	{
		int			at = n;

		if (!s->nodes[i].kept)
			continue;
		for (; at > 0; at--)
		{
			const StStr *before = &s->nodes[children[at - 1]].key;

			if (st_jsonb_compare_keys(before->data, before->len,
									  s->nodes[i].key.data, s->nodes[i].key.len) < 0)
				break;
			children[at] = children[at - 1];
		}
		children[at] = i;
		n++;
	}
	return n;
}

static CcPathTree *
tree_create(int nnodes)
{
	CcPathTree *tree = palloc0(sizeof(CcPathTree));

	tree->nodes = palloc0(nnodes * sizeof(CcPathNode));
	tree->nnodes = 1;
	tree->nodes[0].parent = tree->nodes[0].first_child = tree->nodes[0].next_sibling = -1;
	for (int k = 0; k < CC_LEAF_KINDS; k++)
		tree->nodes[0].leaf[k] = -1;
	return tree;
}

/*
 * Appends a node with its leaves.  last is the sibling before it, or -1.
 * False if it cannot stand there.
 */
static bool
tree_add(CcPathTree *tree, int parent, int last, StStr key, int kinds)
{
	int			i = tree->nnodes++;
	CcPathNode *n = &tree->nodes[i];

	n->parent = parent;
	n->depth = tree->nodes[parent].depth + 1;
	n->first_child = n->next_sibling = -1;
	n->key = key;
	if (last >= 0)
	{
		const StStr *before = &tree->nodes[last].key;

		if (st_jsonb_compare_keys(before->data, before->len, key.data, key.len) >= 0)
			return false;
		tree->nodes[last].next_sibling = i;
	}
	else
		tree->nodes[parent].first_child = i;
	for (int k = 0; k < CC_LEAF_KINDS; k++)
	{
		n->leaf[k] = -1;
		if ((kinds & (1 << k)) == 0)
			continue;
		if (tree->nleaves == CC_SHRED_MAX_LEAVES)
			return false;
		n->leaf[k] = tree->nleaves;
		tree->leaves[tree->nleaves++] = (CcLeaf) {i, k};
		cc_leaf_add(&n->own, n->leaf[k]);
		for (int p = parent; p >= 0; p = tree->nodes[p].parent)
			cc_leaf_add(&tree->nodes[p].below, n->leaf[k]);
	}
	return true;
}

static void
add_children(CcPathTree *tree, int parent, const Sample *s, int sample_node)
{
	int		   *children = palloc(s->nnodes * sizeof(int));
	int			n = sorted_children(s, sample_node, children);
	int			last = -1;

	for (int i = 0; i < n; i++)
	{
		const SampleNode *from = &s->nodes[children[i]];
		int			node = tree->nnodes;

		if (!tree_add(tree, parent, last, from->key, from->kinds))
			elog(ERROR, "paths of documents do not form a tree");
		last = node;
		add_children(tree, node, s, children[i]);
	}
	pfree(children);
}

CcPathTree *
cc_path_tree_choose(const StStr *docs, uint32 n)
{
	Sample	   *s = take_sample(docs, n);
	CcPathTree *tree = NULL;
	int			nkept = 1;

	if (s->ndocs >= MIN_DOCS && choose_leaves(s) > 0)
	{
		for (int i = 1; i < s->nnodes; i++)
			nkept += s->nodes[i].kept;
		if (nkept <= CC_SHRED_MAX_NODES)
		{
			tree = tree_create(nkept);
			add_children(tree, 0, s, 0);
		}
	}
	pfree(s);
	return tree;
}

int
cc_path_child(const CcPathTree *tree, int node, StStr key)
{
	int			i;

	for (i = tree->nodes[node].first_child; i >= 0; i = tree->nodes[i].next_sibling)
	{
		if (tree->nodes[i].key.len == key.len &&
			memcmp(tree->nodes[i].key.data, key.data, key.len) == 0)
			return i;
	}
	return -1;
}

void
cc_path_tree_write(const CcPathTree *tree, StringInfo meta)
{
	sf_put_varint(meta, tree->nnodes - 1);
	for (int i = 1; i < tree->nnodes; i++)
	{
		const CcPathNode *n = &tree->nodes[i];
		int			kinds = 0;

		for (int k = 0; k < CC_LEAF_KINDS; k++)
			kinds |= n->leaf[k] >= 0 ? 1 << k : 0;
		sf_put_varint(meta, n->parent);
		appendStringInfoChar(meta, (char) kinds);
		sf_put_bytes(meta, n->key.data, n->key.len);
	}
}

/*
 * The sibling that stands last below parent, or -1.  In preorder the parent
 * of a node is the node before it or one of that one's ancestors.
 */
static bool
find_sibling(const CcPathTree *tree, int parent, int *last)
{
	int			node = tree->nnodes - 1;

	*last = -1;
	while (node != parent)
	{
		if (node < 0)
			return false;
		*last = node;
		node = tree->nodes[node].parent;
	}
	return true;
}

CcPathTree *
cc_path_tree_read(StByteReader *b)
{
	uint64		n = st_read_varint(b);
	CcPathTree *tree;

	if (n >= CC_SHRED_MAX_NODES)
		return NULL;
	tree = tree_create(n + 1);
	for (uint64 i = 0; i < n; i++)
	{
		uint64		parent = st_read_varint(b);
		int			kinds = st_read_u8(b);
		uint64		len = st_read_varint(b);
		const uint8 *p = st_read_span(b, len);
		StStr		key;
		int			last;

		if (p == NULL || parent >= (uint64) tree->nnodes || len > CC_SHRED_MAX_KEY ||
			kinds >= 1 << CC_LEAF_KINDS ||
			tree->nodes[parent].depth >= CC_SHRED_MAX_DEPTH)
			return NULL;
		key.data = p;
		key.len = len;
		if (!find_sibling(tree, parent, &last) ||
			!tree_add(tree, parent, last, key, kinds))
			return NULL;
	}
	return tree;
}

Oid
cc_leaf_type(CcLeafKind kind)
{
	switch (kind)
	{
		case CC_LEAF_STRING:
			return TEXTOID;
		case CC_LEAF_NUMERIC:
			return NUMERICOID;
		case CC_LEAF_BOOL:
		case CC_LEAF_NULL:
			return BOOLOID;
		case CC_LEAF_JSON:
			break;
	}
	return JSONBOID;
}
