/*-------------------------------------------------------------------------
 *
 * st_am_size.c
 *	  The planner's estimate of pages and rows.
 *
 * The estimate reads the metapage and nothing else, so that planning takes
 * as long for a thousand row groups as for one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "storage/bufpage.h"

#include "st_am.h"
#include "st_file.h"

/*
 * A table that outgrew the size at its last VACUUM or ANALYZE by this factor
 * is no more believed to have its old density.
 */
#define GROWTH_TRUSTED 1.1

/*
 * TableAmRoutine.relation_estimate_size
 *
 * As long as the table is about as large as VACUUM or ANALYZE found it, its
 * pages are assumed to hold as many rows each as then.  Pages of the delta
 * and of row groups differ in that by a factor of ten to a hundred, so a
 * table that grew is judged by its row numbers instead: as many were ever
 * given to rows of row groups.  That counts deleted rows until the next
 * VACUUM, and is far nearer than any density.
 *
 * Index-only scans find no visibility map bit for a virtual TID, so with row
 * groups no share of the pages counts as all-visible.
 */
void
st_am_relation_estimate_size(Relation rel, int32 *attr_widths,
							 BlockNumber *pages, double *tuples,
							 double *allvisfrac)
{
	BlockNumber relpages = (BlockNumber) rel->rd_rel->relpages;
	StMeta		meta;
	bool		grown;

	table_block_relation_estimate_size(rel, attr_widths, pages, tuples,
									   allvisfrac,
									   MAXALIGN(SizeofHeapTupleHeader) +
									   sizeof(ItemIdData),
									   BLCKSZ - SizeOfPageHeaderData);
	if (!st_meta_has_row_groups(rel, NULL))
		return;

	*allvisfrac = 0;
	grown = *pages > relpages * GROWTH_TRUSTED;
	if (!grown && rel->rd_rel->reltuples >= 0)
		return;
	st_meta_read(rel, &meta);
	if (rel->rd_rel->reltuples < 0)
		*tuples = (double) meta.next_row;
	else
		*tuples = Max(*tuples, (double) meta.next_row);
}
