/*-------------------------------------------------------------------------
 *
 * cc_contract.c
 *	  What colcompress's format tells the vector engine (vx_format.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_contract.h"
#include "cc_format.h"
#include "cc_options.h"
#include "cc_uint8.h"
#include "cc_vector.h"

static uint32
group_vectors(const StGroup *group)
{
	return (group->nrows + ST_VECTOR_SIZE - 1) / ST_VECTOR_SIZE;
}

static uint32
vector_of_row(const StReader *r, uint32 row)
{
	return row / ST_VECTOR_SIZE;
}

static bool
is_large(StReader *r, AttrNumber attno, uint32 vecno)
{
	return cc_reader_is_large(r, attno);
}

static VxIndexScan
index_scan(Relation rel)
{
	return cc_index_scan_option(rel);
}

const VxFormat cc_contract = {
	.store = &cc_format,
	.scan_name = "ColcompressScan",
	.aggregate_name = "ColcompressAggregate",
	.vectors_name = "Vectors",
	.group_vectors = group_vectors,
	.vectors = cc_reader_nvectors,
	.vector_start = cc_reader_vector_start,
	.vector_of_row = vector_of_row,
	.vector = cc_reader_vector_selected,
	.is_large = is_large,
	.rescan = cc_reader_rescan,
	.bytes_decoded = cc_reader_bytes_decoded,
	.zone = cc_reader_zone,
	.sum = cc_reader_sum,
	.sum_rows = cc_reader_sum_rows,
	.path = cc_reader_path,
	.path_numbers = cc_reader_path_numbers,
	.set_kernel = cc_uint8_set_kernel,
	.index_scan = index_scan,
	.costs = {
		.reads_columns = true,
		.start = 200,
		.group = 1000,
		.chunk = 100,
		.zone = 5,
		.row = 0.3,
		.column = 0.02,
		.vector_row = 0.03,
		.vector_column = 0.01,
		.fetch = 1.0,
		.fetch_word = 0.5,
		.fetch_byte = 0.05,
		.fetch_block = 100,
	},
};
