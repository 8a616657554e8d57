/*-------------------------------------------------------------------------
 *
 * cc_vector.h
 *	  The reader of row groups: vectors of columns, single values, and the
 *	  zones that tell what a vector or a whole column chunk holds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_VECTOR_H
#define CC_VECTOR_H

#include "postgres.h"

#include "st_core.h"
#include "st_store.h"
#include "st_zone.h"
#include "vx_format.h"

/*
 * Reader of one row group.  Column numbers are attribute numbers (1-based).
 * Vectors returned stay valid until the same column's next vector is asked
 * for, or close.  Zones' Datums stay valid until close.
 */
extern StReader *cc_reader_open(Relation rel, const StGroup *group, MemoryContext mcxt);
extern void cc_reader_close(StReader *r);

/* No value that was handed out is in use any more: their memory may be used again. */
extern void cc_reader_rescan(StReader *r);

/*
 * A reader kept from one statement to the next works with the relation given
 * last; its descriptor must be that of cc_reader_open's (drop the reader when
 * the relation's cache entry is invalidated).
 */
extern void cc_reader_attach(StReader *r, Relation rel);

/*
 * Sets the row type that values are returned in, before any is asked for.
 * Needed while ALTER TABLE rewrites a table: the relcache has the new types.
 */
extern void cc_reader_describe(StReader *r, TupleDesc desc);
extern uint32 cc_reader_nvectors(const StReader *r);
extern uint32 cc_reader_vector_rows(const StReader *r, uint32 vecno);

/* A vector's first row; of the one behind the last, the group's rows. */
extern uint32 cc_reader_vector_start(const StReader *r, uint32 vecno);

/* Decodes one vector of one column. */
extern const VxVector *cc_reader_vector(StReader *r, AttrNumber attno, uint32 vecno);

/*
 * The same for the rows with a bit in rows: what costs much per value, large
 * values and shredded documents, is made for no other row.  Those have
 * anything of the type's length, or an empty value.  Values stay valid as
 * above, also when the vector is asked for again with other rows.
 */
extern const VxVector *cc_reader_vector_selected(StReader *r, AttrNumber attno,
												 uint32 vecno, const uint64 *rows);

/* Do the column's values stand one by one, so that a vector saves nothing? */
extern bool cc_reader_is_large(StReader *r, AttrNumber attno, uint32 vecno);

/* vecno = -1: the whole column chunk.  False if nothing at all is known. */
extern bool cc_reader_zone(StReader *r, AttrNumber attno, int64 vecno, StZone *zone);
extern bool cc_reader_key_zone(StReader *r, const StOrderExpr *key, int64 vecno,
							   StZone *zone);

/*
 * Sum of the chunk's values that are not null, times 10^scale: of integers
 * (scale 0), and of numerics that have all one scale.  False: not kept.
 */
extern bool cc_reader_sum(StReader *r, AttrNumber attno, int128 *sum, int *scale);

/*
 * The sum of some rows' values (a bitmap of the group's rows), with how many
 * of them are null.  False: cc_reader_sum() knows no sum either.
 */
extern bool cc_reader_sum_rows(StReader *r, AttrNumber attno, const uint64 *rows,
							   int128 *sum, uint32 *nnulls);

/* One row's values: the index fetch.  Decodes only the blocks that hold it. */
extern void cc_reader_row(StReader *r, uint32 row, const bool *needed,
						  Datum *values, bool *isnull);

/* Vectors at paths of shredded documents; see VxFormat. */
extern const VxVector *cc_reader_path(StReader *r, VxPath *path, uint32 vecno,
									  const uint64 *selection);
extern const VxVector *cc_reader_path_numbers(StReader *r, VxPath *path, uint32 vecno,
											  const uint64 *selection);

/* Elements of arrays, without these; see VxFormat. */
extern bool cc_reader_elements(StReader *r, AttrNumber attno, const VxPath *path,
							   uint32 vecno, const uint64 *selection,
							   VxElementPlaces *places);

/* For EXPLAIN: bytes of encoded data that this reader has read and decoded. */
extern uint64 cc_reader_bytes_decoded(const StReader *r);

/* ---- for views ---- */

typedef struct CcChunkInfo
{
	const char *encoding;		/* standard word; static or until close */
	const char *codec;			/* "none" if no block has a frame */
	uint32		blocks;
	uint64		raw_bytes;		/* of vectors and large values, no frames */
	uint64		encoded_bytes;	/* on disk, meta included */
	uint32		nulls;
	uint32		distinct;		/* entries of the dictionary, 0 if none */
} CcChunkInfo;

/* What views show of a column: VxFormat. */
extern bool cc_reader_column_info(StReader *r, AttrNumber attno, VxColumnInfo *info);

#endif							/* CC_VECTOR_H */
