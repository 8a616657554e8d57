/*-------------------------------------------------------------------------
 *
 * cc_stats.h
 *	  What views and the verifier ask of a reader.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_STATS_H
#define CC_STATS_H

#include "cc_vector.h"

typedef struct CcChunkInfo
{
	const char *encoding;		/* standard word; static or until close */
	const char *codec;			/* "none" if no block has a frame */
	uint32		blocks;
	uint64		raw_bytes;		/* of vectors and large values, no frames */
	uint64		encoded_bytes;	/* on disk, meta included */
	uint32		nulls;
	uint32		distinct;		/* entries of the dictionary, 0 if none */
	bool		has_sum;
	int128		sum;			/* ints; decimals times 10^scale */
} CcChunkInfo;

/* Attributes that the row group has (later ones get their missing value). */
extern int	cc_reader_natts(const StReader *r);

/* False if the group has no chunk for the column. */
extern bool cc_reader_chunk_info(StReader *r, AttrNumber attno, CcChunkInfo *info);

/* A sub-column of a shredded column (cc_shred.h). */
typedef struct CcPathInfo
{
	int			nkeys;			/* 0: the residue */
	StStr	   *keys;			/* bytes valid until close */
	const char *kind;			/* "string", "number", "boolean", "null", "json", "residue" */
	CcChunkInfo chunk;
} CcPathInfo;

/* Sub-columns of a column, residue included; 0 if it has none. */
extern int	cc_reader_npaths(StReader *r, AttrNumber attno);
extern void cc_reader_path_info(StReader *r, AttrNumber attno, int path, CcPathInfo *info);

#endif							/* CC_STATS_H */
