/*-------------------------------------------------------------------------
 *
 * sf_options.h
 *	  Options that the formats of row groups share: definitions to be listed
 *	  in a format's own, first those up to orderby.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_OPTIONS_H
#define SF_OPTIONS_H

#include "st_core.h"
#include "st_options.h"

/* Rows of a row group, at most. */
#define SF_MAX_ROWS ((uint32) ST_VECTOR_SIZE * ST_VECTOR_SIZE)

/* The level's place in the option set of a format. */
#define SF_OPTION_LEVEL 1

extern const StOptionEnum sf_codecs[];

/* compression, level, orderby; the codec has the level's default. */
#define SF_FIRST_OPTIONS \
	{ \
		.name = "compression", \
		.type = ST_OPTION_ENUM, \
		.offset = offsetof(StOptions, codec), \
		.default_text = "zstd", \
		.values = sf_codecs, \
		.description = "codec of what the encodings leave compressible" \
	}, \
	{ \
		.name = "level", \
		.type = ST_OPTION_INT, \
		.offset = offsetof(StOptions, level), \
		.default_text = "", \
		.min = 1, \
		.max = 22, \
		.description = "effort of the codec: zstd 1 to 22, lz4 1 to 12" \
	}, \
	{ \
		.name = "orderby", \
		.type = ST_OPTION_ORDERBY, \
		.offset = offsetof(StOptions, orderby), \
		.default_text = "", \
		.description = "columns that rewrites of the table sort its rows by" \
	}

/* row_group_rows, row_group_bytes, auto_compact, logical_inserts */
#define SF_GROUP_OPTIONS \
	{ \
		.name = "row_group_rows", \
		.type = ST_OPTION_INT, \
		.offset = offsetof(StOptions, row_group_rows), \
		.default_text = "122880", \
		.min = ST_VECTOR_SIZE, \
		.max = SF_MAX_ROWS, \
		.description = "rows of a row group, at most" \
	}, \
	{ \
		.name = "row_group_bytes", \
		.type = ST_OPTION_BYTES, \
		.offset = offsetof(StOptions, row_group_bytes), \
		.default_text = "64MB", \
		.min = 64 * 1024, \
		.max = 1024 * 1024 * 1024, \
		.description = "bytes of values that end a row group" \
	}, \
	{ \
		.name = "auto_compact", \
		.type = ST_OPTION_BOOL, \
		.offset = offsetof(StOptions, auto_compact), \
		.default_text = "on", \
		.description = "whether background workers may compact the table" \
	}, \
	{ \
		.name = "logical_inserts", \
		.type = ST_OPTION_BOOL, \
		.offset = offsetof(StOptions, logical_inserts), \
		.default_text = "on", \
		.description = "whether loads are for logical decoding, too" \
	}

/* What a partitioned table's policy says: st_policy.c */
#define SF_POLICY_OPTIONS \
	{ \
		.name = "adopt_after", \
		.type = ST_OPTION_POLICY, \
		.default_text = "" \
	}, \
	{ \
		.name = "compact_every", \
		.type = ST_OPTION_POLICY, \
		.default_text = "" \
	}, \
	{ \
		.name = "drop_after", \
		.type = ST_OPTION_POLICY, \
		.default_text = "" \
	}

/*
 * For StOptionSet.complete: the level must be one of the codec's; not set, it
 * is the codec's default.
 */
extern void sf_options_complete(StOptions *options, const bool *isset, int elevel);

#endif							/* SF_OPTIONS_H */
