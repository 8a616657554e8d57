/*-------------------------------------------------------------------------
 *
 * cc_options.c
 *	  Definitions of colcompress's table options.
 *
 * st_options.c keeps, inherits and caches them; here is only what they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_format.h"
#include "cc_options.h"
#include "sf_options.h"
#include "st_codec.h"
#include "st_compat.h"

static const StOptionEnum codecs[] = {
	{"none", ST_CODEC_NONE},
	{"lz4", ST_CODEC_LZ4},
	{"zstd", ST_CODEC_ZSTD},
	{NULL, 0}
};

static const StOptionEnum index_scans[] = {
	{"auto", VX_INDEX_SCAN_AUTO},
	{"on", VX_INDEX_SCAN_ON},
	{"off", VX_INDEX_SCAN_OFF},
	{"true", VX_INDEX_SCAN_ON},
	{"false", VX_INDEX_SCAN_OFF},
	{NULL, 0}
};

static const StOptionDef defs[] = {
	{
		.name = "compression",
		.type = ST_OPTION_ENUM,
		.offset = offsetof(StOptions, codec),
		.default_text = "zstd",
		.values = codecs,
		.description = "codec of what the encodings leave compressible"
	},
	{
		/* the codec has the default, see complete() */
		.name = "level",
		.type = ST_OPTION_INT,
		.offset = offsetof(StOptions, level),
		.default_text = "",
		.min = 1,
		.max = 22,
		.description = "effort of the codec: zstd 1 to 22, lz4 1 to 12"
	},
	{
		.name = "orderby",
		.type = ST_OPTION_ORDERBY,
		.offset = offsetof(StOptions, orderby),
		.default_text = "",
		.description = "columns that rewrites of the table sort its rows by"
	},
	{
		.name = "row_group_rows",
		.type = ST_OPTION_INT,
		.offset = offsetof(StOptions, row_group_rows),
		.default_text = "122880",
		.min = ST_VECTOR_SIZE,
		.max = CC_MAX_ROWS,
		.description = "rows of a row group, at most"
	},
	{
		.name = "row_group_bytes",
		.type = ST_OPTION_BYTES,
		.offset = offsetof(StOptions, row_group_bytes),
		.default_text = "64MB",
		.min = 64 * 1024,
		.max = 1024 * 1024 * 1024,
		.description = "bytes of values that end a row group"
	},
	{
		.name = "auto_compact",
		.type = ST_OPTION_BOOL,
		.offset = offsetof(StOptions, auto_compact),
		.default_text = "on",
		.description = "whether background workers may compact the table"
	},
	{
		.name = "index_scan",
		.type = ST_OPTION_ENUM,
		.offset = offsetof(CcOptions, index_scan),
		.default_text = "auto",
		.values = index_scans,
		.description = "whether the planner prefers indexes (on), avoids them (off) or reckons (auto)"
	}
};

const StOptionSet cc_option_set = {
	.provider = "colcompress",
	.size = sizeof(CcOptions),
	.ndefs = lengthof(defs),
	.defs = defs,
	.complete = sf_options_complete
};

void
cc_write_options(Relation rel, CcWriteOptions *options)
{
	const StOptions *table = st_options_get(rel);

	options->codec = table->codec;
	options->level = table->level;
	options->row_group_rows = table->row_group_rows;
	options->row_group_bytes = table->row_group_bytes;
}
