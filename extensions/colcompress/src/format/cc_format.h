/*-------------------------------------------------------------------------
 *
 * cc_format.h
 *	  colcompress's row-group format: the bytes on disk and what writer and
 *	  reader share.  Drawings and rules: README in this folder's parent.
 *
 *	 image = | chunk of column 1 | chunk of column 2 | ... | footer |
 *	 chunk = | blob region (large values) | block | block | ... | meta |
 *	 block = one or more encoded vectors, inside a codec frame if that pays
 *
 * The footer has one fixed-size entry per column; a chunk's meta is read
 * when the column is first asked for, so that a query on two columns of a
 * wide table reads two metas.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_FORMAT_H
#define CC_FORMAT_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "sf_options.h"
#include "sf_type.h"
#include "vx_format.h"

extern const StFormat cc_format;
extern const VxFormat cc_contract;
extern const StOptionSet cc_option_set;

/*
 * Version of the row-group format.  A change that an older build cannot
 * read raises it; readers refuse versions above their own, and read all
 * below.
 *
 *	1	first
 *	2	shredded jsonb (CC_ENC_SHRED)
 *	3	arrays of objects (CC_ENC_ARRAY); row groups without are of version 2
 */
#define CC_FORMAT_VERSION	3
#define CC_VERSION_NO_ARRAYS 2
#define CC_FOOTER_MAGIC		0x43434654	/* "TFCC" in the file */

/* Vectors per row group; also bounds every per-vector array of the meta. */
#define CC_MAX_VECTORS		ST_VECTOR_SIZE

/* A block holds whole vectors, up to about this many bytes if more than one. */
#define CC_BLOCK_TARGET		(64 * 1024)

/* A column whose values average more than this keeps each value apart. */
#define CC_BLOB_AVERAGE		(4 * 1024)

/* A codec frame must save at least one part in this many. */
#define CC_CODEC_MIN_GAIN	10

/* Shorter blocks and values are not given to a codec at all. */
#define CC_CODEC_MIN_BYTES	64

/* Encoding of a column chunk. */
typedef enum CcEncoding
{
	CC_ENC_NULLS = 0,			/* nothing but nulls */
	CC_ENC_INT = 1,				/* st_int vectors */
	CC_ENC_FLOAT8 = 2,			/* st_float vectors */
	CC_ENC_FLOAT4 = 3,
	CC_ENC_DECIMAL64 = 4,		/* st_int vectors, scale in the meta */
	CC_ENC_DECIMAL128 = 5,
	CC_ENC_DICT = 6,			/* sorted dictionary in the meta, codes as st_int vectors */
	CC_ENC_STR = 7,				/* st_str vectors, scheme in the meta */
	CC_ENC_BLOB = 8,			/* values one by one in the blob region */
	CC_ENC_SHRED = 9,			/* jsonb: sub-columns in the blob region (cc_shred.h) */
	CC_ENC_ARRAY = 10			/* jsonb: elements of arrays as a column (cc_array.h) */
} CcEncoding;

#define CC_MAX_ENCODING CC_ENC_ARRAY

/* First byte of a chunk's zone maps.  On disk: numbers never change. */
typedef enum CcZoneKind
{
	CC_ZONE_NONE = 0,
	CC_ZONE_INT64 = 1,			/* also decimals, of the chunk's scale */
	CC_ZONE_INT128 = 2,
	CC_ZONE_FLOAT8 = 3,
	CC_ZONE_FLOAT4 = 4,
	CC_ZONE_STRING = 5
} CcZoneKind;

typedef struct CcFooterHeader
{
	uint32		magic;
	uint16		version;
	uint16		natts;
	uint32		nrows;
	uint32		vector_size;
	uint64		checksum;		/* of the columns' entries */
} CcFooterHeader;

typedef struct CcFooterColumn
{
	uint64		chunk_off;		/* in the image */
	uint64		blob_len;		/* bytes of the blob region */
	uint64		blocks_len;		/* bytes of all blocks, as stored */
	uint32		meta_len;
	uint32		nnulls;
	Oid			typid;			/* of the column when it was written */
	uint8		kind;			/* SfKind */
	uint8		encoding;		/* CcEncoding */
	uint8		is_signed;		/* SF_KIND_INT: values were sign-extended */
	uint8		unused;
} CcFooterColumn;

StaticAssertDecl(sizeof(CcFooterHeader) == 24, "on-disk struct");
StaticAssertDecl(sizeof(CcFooterColumn) == 40, "on-disk struct");

#endif							/* CC_FORMAT_H */
