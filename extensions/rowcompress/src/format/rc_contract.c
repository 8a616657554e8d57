/*-------------------------------------------------------------------------
 *
 * rc_contract.c
 *	  What rowcompress's format tells the vector engine (vx_format.h), and
 *	  the options of its tables.
 *
 * st_options.c keeps, inherits and caches options; here is only what they are.
 * A batch is the engine's vector.  It is read as a whole, a page or a few;
 * its columns are decoded one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rc_reader.h"
#include "sf_options.h"

/* In the order in which labels and views show them. */
static const StOptionDef defs[] = {
	SF_FIRST_OPTIONS,
	{
		.name = "batch_bytes",
		.type = ST_OPTION_BYTES,
		.offset = offsetof(RcOptions, batch_bytes),
		.default_text = "64kB",
		.min = 4 * 1024,
		.max = 1024 * 1024,
		.description = "bytes of rows that end a batch"
	},
	SF_GROUP_OPTIONS,
	SF_POLICY_OPTIONS
};

const StOptionSet rc_option_set = {
	.provider = "rowcompress",
	.size = sizeof(RcOptions),
	.ndefs = lengthof(defs),
	.defs = defs,
	.complete = sf_options_complete
};

/* The batch, with all its bytes; the one before goes. */
static RcBatch *
scan_batch(StReader *r, uint32 batchno)
{
	if (r->scanned != NULL && r->scanned->batchno == batchno)
		return r->scanned;
	if (r->scanned != NULL)
		rc_batch_free(r->scanned);
	r->scanned = NULL;
	r->scanned = rc_batch_load(r, batchno, true);
	r->scanned->scanned = true;
	return r->scanned;
}

static const VxVector *
batch_vector(StReader *r, AttrNumber attno, uint32 batchno, const uint64 *rows)
{
	return rc_batch_vector_selected(scan_batch(r, batchno), attno, rows);
}

static const VxVector *
batch_path(StReader *r, VxPath *path, uint32 batchno, const uint64 *selection)
{
	return rc_batch_path(scan_batch(r, batchno), path, selection);
}

static bool
is_large(StReader *r, AttrNumber attno, uint32 batchno)
{
	return r->has_large && !rc_column_is_missing(r, attno) &&
		rc_batch_piece(scan_batch(r, batchno), attno)->nlarge > 0;
}

const VxFormat rc_contract = {
	.store = &rc_format,
	.scan_name = "RowcompressScan",
	.aggregate_name = "RowcompressAggregate",
	.setop_name = "RowcompressSetOp",
	.join_name = "RowcompressJoin",
	.append_name = "RowcompressAppend",
	.lookup_name = "RowcompressLookup",
	.window_name = "RowcompressSort",
	.vectors_name = "Batches",
	.vectors = rc_reader_nbatches,
	.vector_start = rc_reader_batch_start,
	.vector_of_row = rc_reader_batch_of_row,
	.vector = batch_vector,
	.is_large = is_large,
	.bytes_decoded = rc_reader_bytes_decoded,
	.zone = rc_reader_zone,
	.key_zone = rc_reader_key_zone,
	.column_info = rc_reader_column_info,
	.path = batch_path,
	.costs = {
		.vector_bytes = 64 * 1024,
		.plain_rows = true,
		.group = 200,
		.zone = 1,
		.row = 0.4,
		.column = 0.03,
		.width = 0.03,
		.vector_row = 0.05,
		.vector_column = 0.02,
		.vector_width = 0.02,
	},
};
