/*-------------------------------------------------------------------------
 *
 * cc_contract.c
 *	  What colcompress's format tells the vector engine (vx_format.h), and
 *	  the options of its tables.
 *
 * st_options.c keeps, inherits and caches options; here is only what they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_format.h"
#include "cc_uint8.h"
#include "cc_vector.h"
#include "sf_options.h"
#include "st_compat.h"

typedef struct CcOptions
{
	StOptions	store;			/* first: what the store reads */
	int			index_scan;		/* VxIndexScan */
} CcOptions;

static const StOptionEnum index_scans[] = {
	{"auto", VX_INDEX_SCAN_AUTO},
	{"on", VX_INDEX_SCAN_ON},
	{"off", VX_INDEX_SCAN_OFF},
	{"true", VX_INDEX_SCAN_ON},
	{"false", VX_INDEX_SCAN_OFF},
	{NULL, 0}
};

/* In the order in which labels and views show them. */
static const StOptionDef defs[] = {
	SF_FIRST_OPTIONS,
	SF_GROUP_OPTIONS,
	{
		.name = "index_scan",
		.type = ST_OPTION_ENUM,
		.offset = offsetof(CcOptions, index_scan),
		.default_text = "auto",
		.values = index_scans,
		.description = "whether the planner prefers indexes (on), avoids them (off) or reckons (auto)"
	},
	SF_POLICY_OPTIONS
};

const StOptionSet cc_option_set = {
	.provider = "colcompress",
	.size = sizeof(CcOptions),
	.ndefs = lengthof(defs),
	.defs = defs,
	.complete = sf_options_complete
};

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

static VxIndexScan
index_scan(Relation rel)
{
	return ((const CcOptions *) st_options_get(rel))->index_scan;
}

const VxFormat cc_contract = {
	.store = &cc_format,
	.scan_name = "ColcompressScan",
	.aggregate_name = "ColcompressAggregate",
	.setop_name = "ColcompressSetOp",
	.join_name = "ColcompressJoin",
	.append_name = "ColcompressAppend",
	.lookup_name = "ColcompressLookup",
	.window_name = "ColcompressSort",
	.vectors_name = "Vectors",
	.group_vectors = group_vectors,
	.vectors = cc_reader_nvectors,
	.vector_start = cc_reader_vector_start,
	.vector_of_row = vector_of_row,
	.vector = cc_reader_vector_selected,
	.is_large = cc_reader_is_large,
	.rescan = cc_reader_rescan,
	.bytes_decoded = cc_reader_bytes_decoded,
	.zone = cc_reader_zone,
	.key_zone = cc_reader_key_zone,
	.column_info = cc_reader_column_info,
	.sum = cc_reader_sum,
	.sum_rows = cc_reader_sum_rows,
	.path = cc_reader_path,
	.path_numbers = cc_reader_path_numbers,
	.elements = cc_reader_elements,
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
		.fetch = 40,
		.fetch_word = 0.5,
		.fetch_byte = 0.05,
		.fetch_block = 100,
		.fetch_far = 0.04,
	},
};
