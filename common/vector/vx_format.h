/*-------------------------------------------------------------------------
 *
 * vx_format.h
 *	  The contract between the vector engine and a format of row groups.
 *
 * The engine scans, filters, computes and aggregates vectors; a format knows
 * how its bytes become vectors.  Each library has one format, and sets it by
 * vx_init() (vx_engine.h) when it is loaded.
 *
 * A row group is cut into vectors, numbered from 0, of at most
 * ST_VECTOR_SIZE rows each.  They may have any number of rows and start at
 * any row: nobody but the format computes where.  Columns are attribute
 * numbers (1-based).
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_FORMAT_H
#define VX_FORMAT_H

#include "postgres.h"

#include "st_options.h"
#include "st_store.h"
#include "st_zone.h"
#include "vx_path.h"
#include "vx_vector.h"

struct VxNode;

/* What the planner shall think of index and bitmap scans of a table. */
typedef enum VxIndexScan
{
	VX_INDEX_SCAN_AUTO,			/* what costs less */
	VX_INDEX_SCAN_ON,			/* take one, where an index has a condition */
	VX_INDEX_SCAN_OFF			/* take none, where there is another way */
} VxIndexScan;

/*
 * For views: what a column of a row group is made of.  The numbers are the
 * format's own, in the order of its column_chunks(); below 0: none.
 */
#define VX_COLUMN_NUMBERS 5

typedef struct VxColumnInfo
{
	const char *encoding;		/* standard word; static or until close */
	const char *codec;			/* "none" if nothing has a frame */
	int64		numbers[VX_COLUMN_NUMBERS];
} VxColumnInfo;

/* What things cost, in cpu_tuple_cost (vx_cost.c). */
typedef struct VxCosts
{
	bool		reads_columns;	/* only the pages of needed columns are read */
	double		vector_bytes;	/* of rows in a vector; 0: it has ST_VECTOR_SIZE rows */
	bool		plain_rows;		/* the server's own scan pays for rows and columns, too */
	double		start;			/* of a scan */
	double		group;			/* looking into a row group, */
	double		chunk;			/* there at a column, */
	double		zone;			/* and at the zone of a vector */

	/* a row out of vectors, a column of it, and 64 bytes of that */
	double		row;
	double		column;
	double		width;

	/* the same for a node that takes vectors, of which no rows are made */
	double		vector_row;
	double		vector_column;
	double		vector_width;

	/* a fetch by TID; 0: the server's own costs of index scans are right */
	double		fetch;
	double		fetch_word;		/* of it, a value */
	double		fetch_byte;		/* a byte of a string */
	double		fetch_block;	/* a string that shares a block with many others */
	double		fetch_far;		/* a byte of a row group that is not at hand */
} VxCosts;

/*
 * Elements of the arrays that the rows of a vector have: they stand one behind
 * the other in vectors of their own, ST_VECTOR_SIZE in each but the last.
 */
typedef struct VxElementPlaces
{
	StReader   *reader;			/* of these, for vector(), vector_start(), path(), path_numbers() */
	uint32		start[ST_VECTOR_SIZE];	/* by row: number of its first element, */
	uint32		length[ST_VECTOR_SIZE]; /* and how many it has; 0 without an array */
} VxElementPlaces;

typedef struct VxFormat
{
	const StFormat *store;		/* reader_open, reader_row, reader_close, ... */

	/* ---- names ---- */

	const char *scan_name;		/* of the custom scan nodes */
	const char *aggregate_name;
	const char *setop_name;
	const char *join_name;
	const char *append_name;
	const char *lookup_name;
	const char *window_name;
	const char *vectors_name;	/* "Vectors", for EXPLAIN */

	/* ---- vectors of a row group ---- */

	/*
	 * How many a row group has, before it is opened; NULL: nobody knows.
	 * EXPLAIN shows no total then.
	 */
	uint32		(*group_vectors) (const StGroup *group);

	uint32		(*vectors) (const StReader *r);

	/* A vector's first row, in the group; of vector vectors(): the group's rows. */
	uint32		(*vector_start) (const StReader *r, uint32 vecno);

	/* The vector that has a row of the group. */
	uint32		(*vector_of_row) (const StReader *r, uint32 row);

	/*
	 * Decodes one vector of one column.  What costs much per value (large
	 * values, shredded documents) is made for the rows with a bit in rows and
	 * for no other: those have anything of the type's length, or an empty
	 * value.  Valid until a vector of another number is asked for, of any
	 * column, or the close; values stay valid as long, also when the vector is
	 * asked for again with other rows.  Strings have plain headers.  Arrays have
	 * room for ST_VECTOR_SIZE values, whatever stands behind the last one: loops
	 * read on to there.
	 */
	const VxVector *(*vector) (StReader *r, AttrNumber attno, uint32 vecno,
							   const uint64 *rows);

	/*
	 * Do values of the vector stand one by one, so that decoding it saves
	 * nothing?  reader_row() gets them then.  NULL: none do.
	 */
	bool		(*is_large) (StReader *r, AttrNumber attno, uint32 vecno);

	/* A rescan: no value that was handed out is in use any more.  May be NULL. */
	void		(*rescan) (StReader *r);

	/* Bytes of encoded data that this reader has read and decoded. */
	uint64		(*bytes_decoded) (const StReader *r);

	/* ---- what is known without the values ---- */

	/*
	 * Of a vector, or with vecno -1 of the whole row group.  False if nothing
	 * at all is known.  Datums stay valid until close.
	 */
	bool		(*zone) (StReader *r, AttrNumber attno, int64 vecno, StZone *zone);

	/* The same of an expression that rows were sorted by. */
	bool		(*key_zone) (StReader *r, const StOrderExpr *key, int64 vecno,
							 StZone *zone);

	/*
	 * Sum of the row group's values that are not null, times 10^scale: of
	 * integers (scale 0), and of numerics that have all one scale.  False: not
	 * kept.  May be NULL.
	 */
	bool		(*sum) (StReader *r, AttrNumber attno, int128 *sum, int *scale);

	/*
	 * The sum of some rows' values (a bitmap of the group's rows), with how
	 * many of them are null.  False: sum() knows no sum either.  May be NULL.
	 */
	bool		(*sum_rows) (StReader *r, AttrNumber attno, const uint64 *rows,
							 int128 *sum, uint32 *nnulls);

	/* False if the row group does not have the column. */
	bool		(*column_info) (StReader *r, AttrNumber attno, VxColumnInfo *info);

	/* ---- paths of documents (vx_path.h) ---- */

	/*
	 * What stands at the path in the selected rows of a vector; other rows are
	 * undefined.  NULL if the vector's documents are to be looked at instead.
	 * Valid until the path's next vector, or the reader's next vector of that
	 * column.  Raises what the operator raises for a document, which is
	 * nothing.
	 */
	const VxVector *(*path) (StReader *r, VxPath *path, uint32 vecno,
							 const uint64 *selection);

	/*
	 * The numbers at a TEXT or JSON path, as numeric: the leaf's own vector, if
	 * every selected row has a number there, or null.  NULL if not.  May be NULL.
	 */
	const VxVector *(*path_numbers) (StReader *r, VxPath *path, uint32 vecno,
									 const uint64 *selection);

	/*
	 * Elements of the arrays in a jsonb column, or at a JSON path of its documents
	 * (path not NULL), in the selected rows of a vector.  The reader is valid as
	 * long as r.  False: the arrays are to be looked at.  May be NULL.
	 */
	bool		(*elements) (StReader *r, AttrNumber attno, const VxPath *path,
							 uint32 vecno, const uint64 *selection,
							 VxElementPlaces *places);

	/* ---- types of the extension's own ---- */

	/*
	 * A call of node->flinfo: sets node->kernel or node->compare, if there is
	 * a loop for it (vx_expr_int.h).  May be NULL.
	 */
	void		(*set_kernel) (struct VxNode *node);

	/* ---- planner ---- */

	VxIndexScan (*index_scan) (Relation rel);	/* NULL: VX_INDEX_SCAN_AUTO */
	VxCosts		costs;
} VxFormat;

/* The library's own. */
extern const VxFormat *vx_format;

/* Rows of a vector. */
static inline uint32
vx_vector_rows(const StReader *r, uint32 vecno)
{
	return vx_format->vector_start(r, vecno + 1) - vx_format->vector_start(r, vecno);
}

static inline VxIndexScan
vx_index_scan(Relation rel)
{
	return vx_format->index_scan ? vx_format->index_scan(rel) : VX_INDEX_SCAN_AUTO;
}

#endif							/* VX_FORMAT_H */
