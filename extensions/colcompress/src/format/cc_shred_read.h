/*-------------------------------------------------------------------------
 *
 * cc_shred_read.h
 *	  Shredded chunks, for the rest of the reader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_SHRED_READ_H
#define CC_SHRED_READ_H

#include "cc_reader.h"
#include "cc_shred.h"

typedef struct CcShred
{
	CcPathTree *tree;
	CcFooterColumn *entries;	/* of the leaves, and of the residue */
	CcChunk   **chunks;			/* likewise, NULL until opened */
	CcDocSource source;			/* vector at hand */
	Size		used;			/* of the chunk's arena */
	struct CcPathCache *paths;	/* cc_path.c */
	struct CcTextCache *texts;	/* cc_shred_text.c; NULL until used */
} CcShred;

/* Parses what the meta of a shredded chunk has; from cc_chunk_make(). */
extern void cc_shred_open(StReader *r, CcChunk *chunk, StByteReader *b);

/* The chunk of a leaf, or of the residue (leaf = nleaves); NULL: all null. */
extern CcChunk *cc_shred_chunk(StReader *r, CcChunk *chunk, int leaf);

/* A vector of it, of large values in these rows; NULL if it is all null. */
extern const VxVector *cc_shred_vector(StReader *r, CcChunk *chunk, int leaf,
									   uint32 vecno, const uint64 *rows);

/* Documents of a vector's rows (NULL: all), and of one row, that are not null. */
extern void cc_shred_decode(StReader *r, CcChunk *chunk, uint32 vecno, uint32 n,
							const uint64 *rows, Datum *values);
extern Datum cc_shred_point(StReader *r, CcChunk *chunk, uint32 vecno, uint32 i);

/*
 * Null bitmap of a vector of documents, or of a leaf; false, and not set, if
 * none is.
 */
extern bool cc_shred_validity(StReader *r, CcChunk *chunk, uint32 vecno,
							  uint64 *valid);

/* Which leaves have a value in each of the n rows. */
extern CcLeafSet *cc_shred_present(const CcDocSource *source, uint32 n);

/* Rows that a leaf has a value in, which is not decoded. */
extern void cc_shred_leaf_rows(StReader *r, CcChunk *chunk, int leaf, uint32 vecno,
							   uint64 *rows);

/* Where documents are put one behind the other; all zero at first. */
typedef struct CcDocArena
{
	uint8	   *at;
	Size		room;
} CcDocArena;

/* As cc_doc_build(); memory comes from the current context. */
extern Datum cc_shred_object(StReader *r, const CcDocSource *source, int node,
							 const CcLeafSet *present, const struct varlena *residue,
							 int row, CcDocArena *arena);

#endif							/* CC_SHRED_READ_H */
