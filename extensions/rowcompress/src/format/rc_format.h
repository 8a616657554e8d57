/*-------------------------------------------------------------------------
 *
 * rc_format.h
 *	  rowcompress's row-group format: the bytes on disk and what writer and
 *	  reader share.
 *
 *	 image  = | batch | batch | ... | meta of column 1 | ... | footer |
 *	 batch  = | large values | directory | piece of column 1 | piece 2 | ... |
 *	 footer = | header | one entry per column | index of batches |
 *
 * A batch is a run of rows that fills a page, or takes about batch_bytes as
 * heap would store them if that is less.  Inside of it columns stand apart (PAX), each in a piece of its own:
 * a scan decodes the pieces it needs, a fetch reads one batch and takes one
 * value out of each piece.  What the pieces of a column share (dictionary,
 * string scheme, dictionary of the codec, zones) is in the column's meta.
 *
 *	 directory = end of each column's piece, u16 each, or u32 if the pieces
 *	             take more than 65,535 bytes; relative to the first piece
 *	 piece     = | u8 encoding and flags | null bitmap | places of large
 *	             values | values |, empty if all are null
 *	 index     = first row, offset and length of each batch, and the bytes of
 *	             its large values in front of it, as st_int vectors; zeros may
 *	             stand in front of a directory
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_FORMAT_H
#define RC_FORMAT_H

#include "postgres.h"

#include "access/tupdesc.h"

#include "sf_options.h"
#include "sf_type.h"
#include "sf_zone.h"
#include "vx_format.h"

extern const StFormat rc_format;
extern const VxFormat rc_contract;
extern const StOptionSet rc_option_set;

typedef struct RcOptions
{
	StOptions	store;			/* first: what the store reads */
	int			batch_bytes;
} RcOptions;

/*
 * Version of the row-group format.  A change that an older build cannot
 * read raises it; readers refuse versions above their own, and read all
 * below.
 */
#define RC_FORMAT_VERSION	1
#define RC_FOOTER_MAGIC		0x52434654	/* "TFCR" in the file */

/* Batches per row group, and rows per batch: both are one vector at most. */
#define RC_MAX_BATCHES		ST_VECTOR_SIZE
#define RC_MAX_BATCH_ROWS	ST_VECTOR_SIZE

/*
 * A batch that would touch one page more than it needs begins on the next
 * page, if no more than one part in so many is left empty for that.
 */
#define RC_GAP_SHARE		8

/* Values of at least so many bytes stand apart, each in its own frame. */
#define RC_LARGE_BYTES		(8 * 1024)

/* What a large value counts when a batch is measured: its place. */
#define RC_LARGE_WEIGHT		64

/*
 * Bytes of values in one codec frame: a fetch unpacks one.  Without a
 * dictionary of the codec, short frames would not compress.
 */
#define RC_FRAME_BYTES		3072
#define RC_FRAME_BYTES_ALONE	(32 * 1024)

/* A codec frame must save at least one part in this many. */
#define RC_CODEC_MIN_GAIN	10

/* Shorter pieces and values are not given to a codec at all. */
#define RC_CODEC_MIN_BYTES	48

/* Encoding of a piece: low bits of its first byte. */
typedef enum RcEncoding
{
	RC_ENC_INT = 1,				/* st_int vector */
	RC_ENC_FLOAT8 = 2,			/* st_float vector */
	RC_ENC_FLOAT4 = 3,
	RC_ENC_DECIMAL64 = 4,		/* scale as a varint, st_int vector */
	RC_ENC_DECIMAL128 = 5,
	RC_ENC_CODE = 6,			/* codes of the column's dictionary, st_int vector */
	RC_ENC_STR = 7,				/* st_str vector of the column's scheme */
	RC_ENC_FRAMES = 8			/* bytes as they are, in codec frames */
} RcEncoding;

#define RC_ENC_MASK			0x0F
#define RC_PIECE_NULLS		0x10	/* a null bitmap follows, behind its length as u16 */
#define RC_PIECE_LARGE		0x20	/* places of large values follow */
#define RC_PIECE_UNUSED		0xC0

/* Form of a column's zones: first byte of that part of its meta. */
typedef enum RcZoneKind
{
	RC_ZONE_NONE = 0,
	RC_ZONE_INT = 1,			/* st_int vectors */
	RC_ZONE_FLOAT8 = 2,			/* st_float vectors */
	RC_ZONE_FLOAT4 = 3,
	RC_ZONE_STRING = 4,			/* st_str vectors of prefixes, in byte order */
	RC_ZONE_BYTES = 5			/* st_str vectors of whole values */
} RcZoneKind;

#define RC_MAX_ZONE_KIND RC_ZONE_BYTES

/* The same in memory. */
extern const SfZoneKind rc_zone_kinds[];

/* Parts of the scheme in a column's meta: bits of its first byte. */
#define RC_SCHEME_DICT			0x01	/* sorted distinct values */
#define RC_SCHEME_STR			0x02	/* st_str scheme */
#define RC_SCHEME_CODEC_DICT	0x04	/* dictionary of the codec */
#define RC_SCHEME_ALL			0x07

typedef struct RcFooterHeader
{
	uint32		magic;
	uint16		version;
	uint16		natts;
	uint32		nrows;
	uint32		nbatches;
	uint32		index_len;		/* bytes behind the columns' entries */
	uint8		codec;			/* of all frames of the group */
	uint8		unused[3];
	uint64		checksum;		/* of the entries and the index */
} RcFooterHeader;

typedef struct RcFooterColumn
{
	uint64		meta_off;		/* in the image */
	uint32		zones_len;		/* zones and null counts come first, */
	uint32		scheme_len;		/* then dictionary, schemes */
	uint64		raw_bytes;		/* for views: values, */
	uint64		stored_bytes;	/* and what became of them, large ones included */
	uint32		nnulls;
	Oid			typid;			/* of the column when it was written */
	uint8		kind;			/* SfKind */
	uint8		is_signed;		/* SF_KIND_INT: values were sign-extended */
	uint8		unused[6];
} RcFooterColumn;

StaticAssertDecl(sizeof(RcFooterHeader) == 32, "on-disk struct");
StaticAssertDecl(sizeof(RcFooterColumn) == 48, "on-disk struct");

#endif							/* RC_FORMAT_H */
