/*-------------------------------------------------------------------------
 *
 * vx_batch.h
 *	  A batch: the rows of one vector of a row group, with the columns that a
 *	  scan needs, and which of its rows are still selected.
 *
 * Columns are decoded when they are first asked for: a batch that loses all
 * its rows to a filter never decodes the columns behind it.  Large values and
 * shredded documents are made for the rows that are selected by then; rows
 * leave the selection, also by the node above, but none comes back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_BATCH_H
#define VX_BATCH_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "nodes/bitmapset.h"
#include "port/pg_bitutils.h"

#include "vx_format.h"

#define VX_SELECTION_WORDS (ST_VECTOR_SIZE / 64)

/* How one value of a decoded vector becomes a Datum. */
typedef enum VxAccess
{
	VX_ACCESS_NONE,				/* not decoded yet */
	VX_ACCESS_DIRECT,			/* the array holds Datums, or what looks like them */
	VX_ACCESS_CODE,				/* through the dictionary */
	VX_ACCESS_FLOAT4,
	VX_ACCESS_DECIMAL			/* written to the column's buffer */
} VxAccess;

typedef struct VxBatchColumn
{
	AttrNumber	attno;
	VxAccess	access;
	bool		has_nulls;
	const void *values;			/* the vector's array */
	const Datum *dict_values;	/* VX_ACCESS_CODE */
	const VxVector *vector;
	char	   *buffer;			/* one numeric: value of the current row */
} VxBatchColumn;

typedef struct VxBatch VxBatch;
typedef const VxVector *(*VxPathVector) (VxBatch *batch, VxPath *path);
typedef const VxVector *(*VxRowsVector) (void *rows, AttrNumber attno);

struct VxBatch
{
	MemoryContext mcxt;			/* of the batch and its columns' buffers */
	int			natts;			/* of the relation */
	int			ncolumns;
	VxBatchColumn *columns;		/* ascending by attno */
	int16	   *column_of;		/* attno - 1 -> index in columns, or -1 */
	int			npaths;			/* path columns: numbers behind natts, */
	VxPath	  **paths;			/* in columns behind ncolumns */
	VxPathVector path_vector;	/* decodes them */

	StReader   *reader;			/* of the row group at hand; NULL: other rows */
	StReader   *documents;		/* of what paths are of: it, or one of elements, */
	AttrNumber	elements;		/* which are this column; 0: it */
	void	   *rows;			/* these, where columns are not attached, */
	VxRowsVector rows_vector;	/* and what makes vectors of them */
	uint32		vecno;
	uint32		start;			/* its first row, in the group */
	int			nrows;
	uint64		first_row;		/* row number of the batch's first row */
	uint64		selection[VX_SELECTION_WORDS];	/* bit set = row selected */
};

/*
 * A batch of the given columns (attribute numbers) of rows with natts
 * attributes, in the current memory context.
 */
extern VxBatch *vx_batch_create(int natts, const Bitmapset *attnos);

/*
 * Gives the batch these path columns (vx_path_expr.h): path column i has
 * attribute number natts + 1 + i.
 */
extern void vx_batch_set_paths(VxBatch *batch, int npaths, VxPath **paths,
							   VxPathVector path_vector);

/* Path columns are not decoded for the rows at hand. */
extern void vx_batch_reset_paths(VxBatch *batch);

/* Moves on to another vector: all rows selected, nothing decoded. */
extern void vx_batch_set(VxBatch *batch, StReader *reader,
						 const StGroup *group, uint32 vecno);

/*
 * Moves on to n rows that are not those of a row group: all selected, no
 * column decoded.
 */
extern void vx_batch_set_rows(VxBatch *batch, int n);

/* Takes deleted rows away; deleted is the row group's bitmap. */
extern uint32 vx_batch_remove_deleted(VxBatch *batch, const uint64 *deleted);

/* Puts a row of the batch into a slot; columns that the batch lacks are NULL. */
extern TupleTableSlot *vx_batch_fill_slot(VxBatch *batch, int row, TupleTableSlot *slot);

/* Decodes a column of the batch if it is not yet. */
extern void vx_batch_decode(VxBatch *batch, VxBatchColumn *column);

/* Makes v the column's vector: vx_batch_decode() for rows from elsewhere. */
extern void vx_batch_attach(VxBatch *batch, VxBatchColumn *column, const VxVector *v);

static inline VxBatchColumn *
vx_batch_column(VxBatch *batch, AttrNumber attno)
{
	return &batch->columns[batch->column_of[attno - 1]];
}

/* Are values of the column, of a row group, so large that they are made one by one? */
static inline bool
vx_batch_is_large(const VxBatch *batch, AttrNumber attno)
{
	return vx_format->is_large != NULL && batch->reader != NULL && attno <= batch->natts &&
		vx_format->is_large(batch->reader, attno, batch->vecno);
}

/* The column's decoded vector. */
static inline const VxVector *
vx_batch_vector(VxBatch *batch, AttrNumber attno)
{
	VxBatchColumn *column = vx_batch_column(batch, attno);

	if (column->access == VX_ACCESS_NONE)
		vx_batch_decode(batch, column);
	return column->vector;
}

/*
 * Value of a decoded column in one row of the batch.  A numeric stays valid
 * until the same column's next value is taken, all else until the batch
 * moves on.
 */
static inline void
vx_batch_value(VxBatchColumn *column, int row, Datum *value, bool *isnull)
{
	if (column->has_nulls && vx_vector_isnull(column->vector, row))
	{
		*value = (Datum) 0;
		*isnull = true;
		return;
	}
	*isnull = false;
	switch (column->access)
	{
		case VX_ACCESS_DIRECT:
			*value = ((const Datum *) column->values)[row];
			break;
		case VX_ACCESS_CODE:
			*value = column->dict_values[((const uint32 *) column->values)[row]];
			break;
		case VX_ACCESS_FLOAT4:
			*value = Float4GetDatum(((const float *) column->values)[row]);
			break;
		default:
			*value = vx_vector_datum_in(column->vector, row, column->buffer);
			break;
	}
}

static inline void
vx_rows_set(uint64 *rows, int row)
{
	rows[row >> 6] |= UINT64CONST(1) << (row & 63);
}

static inline bool
vx_rows_isset(const uint64 *rows, int row)
{
	return (rows[row >> 6] & (UINT64CONST(1) << (row & 63))) != 0;
}

static inline void
vx_rows_clear(uint64 *rows, int row)
{
	rows[row >> 6] &= ~(UINT64CONST(1) << (row & 63));
}

/* for each row of a bitmap; words: its length */
#define VX_FOREACH_ROW(row, rows, words) \
	for (int row##_w = 0; row##_w < (words); row##_w++) \
		for (uint64 row##_left = (rows)[row##_w]; row##_left != 0; \
			 row##_left &= row##_left - 1) \
			for (int row = row##_w * 64 + __builtin_ctzll(row##_left), row##_once = 1; \
				 row##_once; row##_once = 0)

static inline bool
vx_selection_is_empty(const uint64 *selection, int nrows)
{
	uint64		any = 0;

	for (int i = 0; i < (nrows + 63) / 64; i++)
		any |= selection[i];
	return any == 0;
}

static inline int
vx_selection_count(const uint64 *selection, int nrows)
{
	int			count = 0;

	for (int i = 0; i < (nrows + 63) / 64; i++)
		count += pg_popcount64(selection[i]);
	return count;
}

/*
 * Value of a row in any column, decoded if need be.  A VX_PATH_REST is null, and not
 * decoded, where its LESS has a value.
 */
extern void vx_batch_row_value(VxBatch *batch, AttrNumber attno, int row, Datum *value,
							   bool *isnull);

/*
 * Positions of the selected rows; returns how many there are.  rows has room for
 * ST_VECTOR_SIZE of them.
 */
extern int	vx_selection_rows(const uint64 *selection, int nrows, uint16 *rows);

#endif							/* VX_BATCH_H */
