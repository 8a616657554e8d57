/*-------------------------------------------------------------------------
 *
 * cc_path_int.h
 *	  What the files of paths share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_PATH_INT_H
#define CC_PATH_INT_H

#include "vx_path.h"
#include "cc_shred_read.h"

#define CC_PATH_WORDS(n) (((n) + 63) / 64)

/* Where keys lead in the tree of a chunk. */
typedef struct CcPathPlace
{
	int			node;			/* or -1: no leaf there */
	int			ncontainers;	/* leaves above it that may hold the value */
	int			containers[CC_SHRED_MAX_DEPTH + 1];
} CcPathPlace;

/* A place in one vector. */
typedef struct CcPathRows
{
	const VxVector *leaf[CC_LEAF_KINDS];	/* NULL: no value */
	uint64		own[VX_VALIDITY_WORDS]; /* rows with a value of a leaf */
	uint64		below[VX_VALIDITY_WORDS];	/* rows with an object of leaves */
	uint64		inside[VX_VALIDITY_WORDS];	/* rows with a container above */
} CcPathRows;

extern void cc_path_place(const CcPathTree *tree, int nkeys, const StStr *keys,
						  CcPathPlace *place);

/*
 * Decodes the leaves at a place (large values of the selected rows only), and
 * finds out which rows have what.
 */
extern void cc_path_rows(StReader *r, CcChunk *chunk, const CcPathPlace *place,
						 uint32 vecno, const uint64 *selection,
						 CcPathRows *rows);

/* Adds the rows that a leaf has a value in, which is not decoded. */
extern void cc_path_add_rows(StReader *r, CcChunk *chunk, int leaf, uint32 vecno,
							 uint64 *words);

/* Rows that a vector has a value in; none if it is NULL. */
extern void cc_path_valid(const VxVector *v, uint32 n, uint64 *words);

/* May the residue of a row have something there?  An object without the first key has not. */
extern bool cc_residue_may_have(const VxPath *path, const VxVector *residue, int row);

/* ---- cc_path_part.c: parts of documents ---- */

/* Kept for a PART as long as the row group is read. */
extern struct CcPart *cc_part_create(StReader *r, CcChunk *chunk, const VxPath *path);

extern const VxVector *cc_path_part(StReader *r, CcChunk *chunk, VxPath *path,
									struct CcPart *part, uint32 vecno,
									const uint64 *selection);

/* ---- cc_path_whole.c: whole documents ---- */

/* Kept for a path that vx_path_is_whole() as long as the row group is read. */
extern struct CcWhole *cc_whole_create(StReader *r, CcChunk *chunk, const VxPath *path);

extern const VxVector *cc_path_whole(StReader *r, CcChunk *chunk, VxPath *path,
									 struct CcWhole *whole, uint32 vecno,
									 const uint64 *selection);

extern const VxVector *cc_path_contains(StReader *r, CcChunk *chunk, VxPath *path,
										uint32 vecno, const uint64 *selection);

/* ---- cc_elements.c: paths through arrays ---- */

/*
 * Kept for a path with the number of an element in it, of arrays whose elements
 * have sub-columns, and keys behind, as long as the row group is read; NULL if
 * it is none.
 */
extern struct CcElementPath *cc_element_path_create(StReader *r, CcChunk *chunk,
													const VxPath *path,
													const CcPathPlace *place);

extern const VxVector *cc_element_path(StReader *r, CcChunk *chunk, VxPath *path,
									   const struct CcElementPath *element, uint32 vecno,
									   const uint64 *selection);

/* cc_path.c: cc_reader_path() of the documents in a shredded chunk. */
extern const VxVector *cc_chunk_path(StReader *r, CcChunk *chunk, VxPath *path,
									 uint32 vecno, const uint64 *selection);

#endif							/* CC_PATH_INT_H */
