/*-------------------------------------------------------------------------
 *
 * cc_shred.h
 *	  jsonb in sub-columns: the tree of paths that a chunk has columns for.
 *
 *	 chunk   = | sub-column | ... | residue | blocks: null bitmaps | meta |
 *
 * A *leaf* is a path and a kind of value: strings, numbers, booleans, nulls,
 * or containers taken whole (arrays, empty objects, objects too deep or too
 * varied).  Each leaf is a column chunk of its own (text, numeric, bool,
 * bool, jsonb), null where the document has no such value there.  What no
 * leaf takes is in the *residue*, a jsonb column: an object of the pairs that
 * are left, or, where no leaf has a value in the row, the document itself,
 * byte for byte.  A row whose leaves and residue are all null is null.  The
 * sub-column of containers may be one of arrays (cc_array.h).
 *
 * In the meta, as the chunk's extra part:
 *	 | nodes v | per node: parent v, kinds u8, key length v, key |
 *	 | a CcFooterColumn for each leaf, in order of nodes and kinds |
 *	 | a CcFooterColumn for the residue |
 * Node 0 is the root and not listed.  Nodes stand in preorder, children in
 * jsonb's order of keys, so a document's pairs are rebuilt in their order.
 *
 *	 cc_shred_tree.c	choosing the paths from a sample; meta
 *	 cc_shred_write.c	documents to leaves
 *	 cc_shred_build.c	leaves to documents
 *	 cc_shred_text.c	leaves to the text of documents
 *	 cc_shred_read.c	sub-columns of a chunk that is read
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_SHRED_H
#define CC_SHRED_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "cc_column.h"
#include "st_bytes.h"
#include "st_jsonb.h"

#define CC_SHRED_MAX_LEAVES	128
#define CC_SHRED_MAX_NODES	512
#define CC_SHRED_MAX_DEPTH	8
#define CC_SHRED_MAX_KEY	255

/* A sub-column's blocks are smaller: one document reads one of each. */
#define CC_SHRED_BLOCK		(16 * 1024)

/* Kinds of leaves.  Numbers are on disk: bits of a node's kinds. */
typedef enum CcLeafKind
{
	CC_LEAF_STRING = 0,
	CC_LEAF_NUMERIC = 1,
	CC_LEAF_BOOL = 2,
	CC_LEAF_NULL = 3,			/* JSON null: the sub-column holds true */
	CC_LEAF_JSON = 4
} CcLeafKind;

#define CC_LEAF_KINDS 5

/* A set of leaves. */
typedef struct CcLeafSet
{
	uint64		words[CC_SHRED_MAX_LEAVES / 64];
} CcLeafSet;

typedef struct CcPathNode
{
	int			parent;			/* of the root: -1 */
	int			depth;			/* of the root: 0 */
	int			first_child;	/* or -1 */
	int			next_sibling;	/* or -1 */
	StStr		key;
	int			leaf[CC_LEAF_KINDS];	/* or -1 */
	CcLeafSet	own;			/* leaves of the node itself */
	CcLeafSet	below;			/* leaves of the nodes below */
} CcPathNode;

typedef struct CcLeaf
{
	int			node;
	CcLeafKind	kind;
} CcLeaf;

typedef struct CcPathTree
{
	int			nnodes;
	int			nleaves;
	CcPathNode *nodes;
	CcLeaf		leaves[CC_SHRED_MAX_LEAVES];
} CcPathTree;

static inline void
cc_leaf_add(CcLeafSet *set, int leaf)
{
	set->words[leaf / 64] |= UINT64CONST(1) << (leaf % 64);
}

static inline bool
cc_leaf_in(const CcLeafSet *set, int leaf)
{
	return (set->words[leaf / 64] >> (leaf % 64)) & 1;
}

static inline bool
cc_leaves_overlap(const CcLeafSet *a, const CcLeafSet *b)
{
	return ((a->words[0] & b->words[0]) | (a->words[1] & b->words[1])) != 0;
}

static inline bool
cc_leaves_empty(const CcLeafSet *a)
{
	return (a->words[0] | a->words[1]) == 0;
}

static inline bool
cc_leaves_equal(const CcLeafSet *a, const CcLeafSet *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

/* The child of node with that key, or -1. */
extern int	cc_path_child(const CcPathTree *tree, int node, StStr key);

/* ---- cc_shred_tree.c ---- */

/*
 * The paths worth a sub-column, by a sample of the n documents (entries with
 * data NULL are null); NULL if there are none, or too little is in them.
 */
extern CcPathTree *cc_path_tree_choose(const StStr *docs, uint32 n);

extern void cc_path_tree_write(const CcPathTree *tree, StringInfo meta);

/* Allocates in the current context; NULL if the bytes are damaged. */
extern CcPathTree *cc_path_tree_read(StByteReader *b);

/* The type that a leaf's sub-column has. */
extern Oid	cc_leaf_type(CcLeafKind kind);

/* ---- cc_shred_write.c ---- */

/* A sub-column of that type, which is not taken apart any further. */
extern void cc_leaf_init(CcColumn *col, Oid type);

/*
 * Encodes a jsonb column shredded: sub-columns into the writer's blob region,
 * one vector of null bitmap each, meta into extra.  Returns false, with the
 * writer as it was, if that is not smaller than limit bytes.
 */
extern bool cc_shred_encode(CcColumn *col, CcChunkWriter *w, const StStr *docs,
							uint64 limit, StringInfo extra);

/* ---- cc_shred_build.c ---- */

typedef struct CcShapeCache CcShapeCache;

/*
 * Values of the leaves in some rows: vectors.  A leaf that is present in a row
 * but has no vector is one whose value nobody asks for: any of its kind is
 * written.
 */
typedef struct CcDocSource
{
	const CcPathTree *tree;
	const struct VxVector *leaf[CC_SHRED_MAX_LEAVES];
	const struct VxVector *residue; /* or NULL */
	CcShapeCache *shapes;
} CcDocSource;

extern CcShapeCache *cc_shape_cache_create(MemoryContext mcxt);

/*
 * What a node is in documents that have these leaves: ST_OK with *leaf set,
 * or with *leaf -1 for an object; ST_NOTFIT if it is not there at all;
 * ST_CORRUPT if it is two things at once.
 */
extern StStatus cc_node_value(const CcPathNode *n, const CcLeafSet *present, int *leaf);

/* A value of a leaf that is a varlena. */
static inline struct varlena *
cc_doc_varlena(const VxVector *v, int row)
{
	Datum		d = v->rep == VX_REP_CODE ? v->dict->values[v->u.code[row]] :
		v->u.datum[row];

	return (struct varlena *) DatumGetPointer(d);
}

/* The residue of a row, or NULL. */
extern const struct varlena *cc_doc_residue(const CcDocSource *source, int row);

/*
 * Writes the object at a node (0: the document) of a row: of the leaves that
 * are present there and, if residue is given, of what that has.  Without any it
 * is an empty object.  The writer's buffer must be aligned to 4.  ST_NOSPACE:
 * call again with more room.  ST_CORRUPT: leaves and residue do not fit
 * together.
 */
extern StStatus cc_doc_build(const CcDocSource *source, int node, const CcLeafSet *present,
							 const struct varlena *residue, int row, StJsonbWriter *w);

/* An attribute of one of the types of sub-columns: text, numeric, bool, jsonb. */
extern void cc_builtin_attribute(Oid type, Form_pg_attribute att);

#endif							/* CC_SHRED_H */
