/*-------------------------------------------------------------------------
 *
 * cc_row_column.h
 *	  One column of rows as a vector: values put in one by one.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ROW_COLUMN_H
#define CC_ROW_COLUMN_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "cc_format.h"
#include "cc_vector.h"

typedef struct CcRowColumn
{
	AttrNumber	attno;
	CcKind		kind;
	int16		typlen;
	bool		is_signed;
	CcVector	v;
	int64	   *decimals;		/* numeric: scaled values, as long as they fit */
	Datum	   *datums;			/* numeric: the values as they came */
	bool		scaled;
	int			scale;			/* -1: no value yet */
} CcRowColumn;

/* In the current memory context. */
extern void cc_row_column_init(CcRowColumn *column, Form_pg_attribute attr);

/* All rows are null. */
extern void cc_row_column_reset(CcRowColumn *column);

/*
 * Sets the value at a row.  What it points to stays as long as the vector; a
 * numeric may have a short header, all else has a plain one.
 */
extern void cc_row_column_put(CcRowColumn *column, int row, Datum value);

static inline void
cc_row_column_put_null(CcRowColumn *column, int row)
{
	column->v.has_nulls = true;
}

/* Makes the vector of n rows. */
extern void cc_row_column_finish(CcRowColumn *column, int n);

#endif							/* CC_ROW_COLUMN_H */
