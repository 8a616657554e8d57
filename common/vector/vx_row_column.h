/*-------------------------------------------------------------------------
 *
 * vx_row_column.h
 *	  One column of rows as a vector: values put in one by one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_ROW_COLUMN_H
#define VX_ROW_COLUMN_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "vx_vector.h"

typedef struct VxRowColumn
{
	AttrNumber	attno;
	bool		numeric;
	bool		byval;
	int16		typlen;
	Oid			type;
	VxVector	v;
	int64	   *decimals;		/* numeric: scaled values, as long as they fit */
	Datum	   *datums;			/* numeric: the values as they came */
	bool		scaled;
	int			scale;			/* -1: no value yet */
} VxRowColumn;

/* In the current memory context. */
extern void vx_row_column_init(VxRowColumn *column, Form_pg_attribute attr);

/* All rows are null. */
extern void vx_row_column_reset(VxRowColumn *column);

/*
 * Sets the value at a row.  What it points to stays as long as the vector; a
 * numeric may have a short header, all else has a plain one.
 */
extern void vx_row_column_put(VxRowColumn *column, int row, Datum value);

static inline void
vx_row_column_put_null(VxRowColumn *column, int row)
{
	column->v.has_nulls = true;
}

/* Makes the vector of n rows. */
extern void vx_row_column_finish(VxRowColumn *column, int n);

#endif							/* VX_ROW_COLUMN_H */
