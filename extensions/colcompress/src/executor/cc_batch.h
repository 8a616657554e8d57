/*-------------------------------------------------------------------------
 *
 * cc_batch.h
 *	  A batch: the rows of one vector of a row group, with the columns that a
 *	  scan needs, and which of its rows are still selected.
 *
 * Columns are decoded when they are first asked for: a batch that loses all
 * its rows to a filter never decodes the columns behind it.  Large values and
 * shredded documents are made for the rows that are selected by then; rows
 * leave the selection, but none comes back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_BATCH_H
#define CC_BATCH_H

#include "postgres.h"

#include "nodes/bitmapset.h"
#include "port/pg_bitutils.h"

#include "cc_vector.h"

#define CC_SELECTION_WORDS (ST_VECTOR_SIZE / 64)

/* How one value of a decoded vector becomes a Datum. */
typedef enum CcAccess
{
	CC_ACCESS_NONE,				/* not decoded yet */
	CC_ACCESS_DIRECT,			/* the array holds Datums, or what looks like them */
	CC_ACCESS_CODE,				/* through the dictionary */
	CC_ACCESS_FLOAT4,
	CC_ACCESS_DECIMAL64,		/* written to the column's buffer */
	CC_ACCESS_DECIMAL128
} CcAccess;

typedef struct CcBatchColumn
{
	AttrNumber	attno;
	CcAccess	access;
	bool		has_nulls;
	const void *values;			/* the vector's array */
	const Datum *dict_values;	/* CC_ACCESS_CODE */
	const CcVector *vector;
	char	   *buffer;			/* one numeric: value of the current row */
} CcBatchColumn;

typedef struct CcBatch
{
	MemoryContext mcxt;			/* of the batch and its columns' buffers */
	int			natts;			/* of the relation */
	int			ncolumns;
	CcBatchColumn *columns;		/* ascending by attno */
	int16	   *column_of;		/* attno - 1 -> index in columns, or -1 */
	int			npaths;			/* path columns: numbers behind natts, */
	struct CcPath **paths;		/* in columns behind ncolumns */

	StReader   *reader;			/* of the row group at hand; NULL: other rows */
	struct CcDelta *delta;		/* these, where columns are not attached */
	uint32		vecno;
	int			nrows;
	uint64		first_row;		/* row number of the batch's first row */
	uint64		selection[CC_SELECTION_WORDS];	/* bit set = row selected */
} CcBatch;

/*
 * A batch of the given columns (attribute numbers) of rows with natts
 * attributes, in the current memory context.
 */
extern CcBatch *cc_batch_create(int natts, const Bitmapset *attnos);

/*
 * Gives the batch these path columns (cc_path_expr.h): path column i has
 * attribute number natts + 1 + i.
 */
extern void cc_batch_set_paths(CcBatch *batch, int npaths, struct CcPath **paths);

/* Path columns are not decoded for the rows at hand. */
extern void cc_batch_reset_paths(CcBatch *batch);

/* Moves on to another vector: all rows selected, nothing decoded. */
extern void cc_batch_set(CcBatch *batch, StReader *reader,
						 const StGroup *group, uint32 vecno);

/*
 * Moves on to n rows that are not those of a row group: all selected, no
 * column decoded.
 */
extern void cc_batch_set_rows(CcBatch *batch, int n);

/* Takes deleted rows away; deleted is the row group's bitmap. */
extern uint32 cc_batch_remove_deleted(CcBatch *batch, const uint64 *deleted);

/* Decodes a column of the batch if it is not yet. */
extern void cc_batch_decode(CcBatch *batch, CcBatchColumn *column);

/* Makes v the column's vector: cc_batch_decode() for rows from elsewhere. */
extern void cc_batch_attach(CcBatch *batch, CcBatchColumn *column, const CcVector *v);

static inline CcBatchColumn *
cc_batch_column(CcBatch *batch, AttrNumber attno)
{
	return &batch->columns[batch->column_of[attno - 1]];
}

/* The column's decoded vector. */
static inline const CcVector *
cc_batch_vector(CcBatch *batch, AttrNumber attno)
{
	CcBatchColumn *column = cc_batch_column(batch, attno);

	if (column->access == CC_ACCESS_NONE)
		cc_batch_decode(batch, column);
	return column->vector;
}

/* Writes a numeric to the column's buffer. */
extern Datum cc_batch_decimal(CcBatchColumn *column, int row);

/*
 * Value of a decoded column in one row of the batch.  A numeric stays valid
 * until the same column's next value is taken, all else until the batch
 * moves on.
 */
static inline void
cc_batch_value(CcBatchColumn *column, int row, Datum *value, bool *isnull)
{
	if (column->has_nulls && cc_vector_isnull(column->vector, row))
	{
		*value = (Datum) 0;
		*isnull = true;
		return;
	}
	*isnull = false;
	switch (column->access)
	{
		case CC_ACCESS_DIRECT:
			*value = ((const Datum *) column->values)[row];
			break;
		case CC_ACCESS_CODE:
			*value = column->dict_values[((const uint32 *) column->values)[row]];
			break;
		case CC_ACCESS_FLOAT4:
			*value = Float4GetDatum(((const float *) column->values)[row]);
			break;
		default:
			*value = cc_batch_decimal(column, row);
			break;
	}
}

static inline bool
cc_selection_is_empty(const uint64 *selection, int nrows)
{
	uint64		any = 0;

	for (int i = 0; i < (nrows + 63) / 64; i++)
		any |= selection[i];
	return any == 0;
}

static inline int
cc_selection_count(const uint64 *selection, int nrows)
{
	int			count = 0;

	for (int i = 0; i < (nrows + 63) / 64; i++)
		count += pg_popcount64(selection[i]);
	return count;
}

/* Positions of the selected rows; returns how many there are. */
extern int	cc_selection_rows(const uint64 *selection, int nrows, uint16 *rows);

#endif							/* CC_BATCH_H */
