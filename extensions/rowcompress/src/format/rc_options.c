/*-------------------------------------------------------------------------
 *
 * rc_options.c
 *	  Definitions of rowcompress's table options.
 *
 * st_options.c keeps, inherits and caches them; here is only what they are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rc_format.h"
#include "rc_options.h"
#include "sf_options.h"
#include "st_codec.h"
#include "st_compat.h"

typedef struct RcOptions
{
	StOptions	base;			/* first: what the store reads */
	int			batch_bytes;
} RcOptions;

static const StOptionEnum codecs[] = {
	{"none", ST_CODEC_NONE},
	{"lz4", ST_CODEC_LZ4},
	{"zstd", ST_CODEC_ZSTD},
	{NULL, 0}
};

static const StOptionDef defs[] = {
	{
		.name = "compression",
		.type = ST_OPTION_ENUM,
		.offset = offsetof(RcOptions, base.codec),
		.default_text = "zstd",
		.values = codecs,
		.description = "codec of what the encodings leave compressible"
	},
	{
		/* the codec has the default, see complete() */
		.name = "level",
		.type = ST_OPTION_INT,
		.offset = offsetof(RcOptions, base.level),
		.default_text = "",
		.min = 1,
		.max = 22,
		.description = "effort of the codec: zstd 1 to 22, lz4 1 to 12"
	},
	{
		.name = "orderby",
		.type = ST_OPTION_ORDERBY,
		.offset = offsetof(RcOptions, base.orderby),
		.default_text = "",
		.description = "columns that rewrites of the table sort its rows by"
	},
	{
		.name = "batch_bytes",
		.type = ST_OPTION_BYTES,
		.offset = offsetof(RcOptions, batch_bytes),
		.default_text = "64kB",
		.min = 4 * 1024,
		.max = 1024 * 1024,
		.description = "bytes of rows that end a batch"
	},
	{
		.name = "row_group_rows",
		.type = ST_OPTION_INT,
		.offset = offsetof(RcOptions, base.row_group_rows),
		.default_text = "122880",
		.min = RC_MAX_BATCH_ROWS,
		.max = RC_MAX_ROWS,
		.description = "rows of a row group, at most"
	},
	{
		.name = "row_group_bytes",
		.type = ST_OPTION_BYTES,
		.offset = offsetof(RcOptions, base.row_group_bytes),
		.default_text = "64MB",
		.min = 64 * 1024,
		.max = 1024 * 1024 * 1024,
		.description = "bytes of values that end a row group"
	},
	{
		.name = "auto_compact",
		.type = ST_OPTION_BOOL,
		.offset = offsetof(RcOptions, base.auto_compact),
		.default_text = "on",
		.description = "whether background workers may compact the table"
	}
};

const StOptionSet rc_option_set = {
	.provider = "rowcompress",
	.size = sizeof(RcOptions),
	.ndefs = lengthof(defs),
	.defs = defs,
	.complete = sf_options_complete
};

void
rc_write_options(Relation rel, RcWriteOptions *options)
{
	const RcOptions *table = (const RcOptions *) st_options_get(rel);

	options->codec = table->base.codec;
	options->level = table->base.level;
	options->row_group_rows = table->base.row_group_rows;
	options->row_group_bytes = table->base.row_group_bytes;
	options->batch_bytes = table->batch_bytes;
}
