/*-------------------------------------------------------------------------
 *
 * rc_column.h
 *	  Values of one column of a row group under construction, and what
 *	  becomes of them.
 *
 *	 rc_column.c	buffers values until the group is full
 *	 rc_scheme.c	looks at all of them: dictionary, string scheme, codec
 *	 rc_cut.c		where batches end
 *	 rc_encode.c	one batch of them: a piece
 *	 rc_zone.c		least and greatest values of each batch
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_COLUMN_H
#define RC_COLUMN_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "rc_format.h"
#include "st_codec.h"
#include "st_float.h"
#include "st_int.h"
#include "st_str.h"

/* A large value, compressed as soon as it comes. */
typedef struct RcLarge
{
	uint32		stored;			/* equals the value's length: no frame */
	uint8		data[FLEXIBLE_ARRAY_MEMBER];
} RcLarge;

/* Codec and level of the table, working memory, room for a result. */
typedef struct RcCodec
{
	int			codec;
	int			level;
	StCodecCtx *ctx;
	MemoryContext mcxt;
	uint8	   *packed;
	Size		packed_cap;
	MemoryContext group_mcxt;	/* large values of the group */
} RcCodec;

/* Of all columns of the group. */
typedef struct RcTotals
{
	uint64		bytes;			/* of the values */
	Size		memory;			/* that the columns hold, */
	Size		large;			/* and of it large values, which the group keeps */
} RcTotals;

/* A dictionary of the codec, kept for the next group of a load. */
typedef struct RcTrained
{
	uint8	   *bytes;			/* NULL: none */
	Size		len;
	StCodecDict *digested;
	int			codec;
	int			level;
	uint32		permille;		/* what the sample shrank to */
} RcTrained;

/* Pieces of memory for bytes: they never move, the next group has them again. */
typedef struct RcArena
{
	uint8	  **pieces;
	int			npieces;
	int			nused;
	int			cap;
	uint8	   *next;			/* free bytes of the last used piece */
	Size		left;
} RcArena;

/*
 * Values of a column in row order.  Numbers repeat the value before at null
 * positions (0 at the start), which costs encodings nothing.  Bytes: data is
 * NULL for a null; it points to an RcLarge if len >= RC_LARGE_BYTES.
 */
typedef struct RcColumn
{
	SfColumnType type;
	SfStorage	storage;
	uint32		nrows;
	uint32		capacity;		/* rows that the arrays have room for */
	uint32		nnulls;
	uint32		nlarge;
	uint64		bytes;			/* of the values */
	uint64	   *valid;			/* bitmap, one bit a row */
	RcTotals   *totals;
	union
	{
		void	   *any;
		int64	   *i64;
		double	   *f64;
		float	   *f32;
		StStr	   *str;
	}			u;
	RcArena		arena;
	MemoryContext mcxt;

	/* what earlier groups and batches of the load have taught */
	StIntHint	ints;
	StFloatHint floats;
	uint8		skip_dictionary;	/* groups to go without a try, */
	uint8		wait_dictionary;	/* and after the next that fails */
	RcTrained	trained;
} RcColumn;

/* What the pieces of a column share. */
typedef struct RcScheme
{
	bool		dictionary;		/* codes stand for all values */
	uint32	   *codes;
	StStr	   *entries;
	uint32		nentries;
	StStrScheme *str;			/* for the values else */
	bool		framed;			/* raw, and codec frames pay */
	const RcTrained *trained;	/* dictionary of the codec, or NULL */
} RcScheme;

/* Batches of the group: first row of each, and one more for the end. */
typedef struct RcBatches
{
	uint32		n;
	uint32		first[RC_MAX_BATCHES + 1];
} RcBatches;

extern void rc_column_init(RcColumn *col, const SfColumnType *type, RcTotals *totals,
						   MemoryContext mcxt);

/* Makes the column empty, for the next group. */
extern void rc_column_reset(RcColumn *col);

/* Gives back what the column's memory context does not. */
extern void rc_column_release(RcColumn *col);

/* Returns the bytes by which heap's tuple would be longer for the value. */
extern Size rc_column_add(RcColumn *col, RcCodec *codec, Datum value, bool isnull);

/* Bits of rows [first, first + n), moved to the bottom; n <= RC_MAX_BATCH_ROWS. */
extern uint32 rc_column_validity(const RcColumn *col, uint32 first, uint32 n,
								 uint64 *words);

/*
 * Compresses n bytes into codec->packed.  Returns the length, or n if the
 * gain is too small.  dict may be NULL.
 */
extern Size rc_codec_frame(RcCodec *codec, const StCodecDict *dict,
						   const void *src, Size n);

/* Chooses; allocates in the current context. */
extern void rc_scheme_choose(RcColumn *col, RcCodec *codec, const RcBatches *batches,
							 RcScheme *scheme);
extern void rc_scheme_write(const RcColumn *col, RcCodec *codec,
							const RcScheme *scheme, StringInfo meta);

/*
 * Encodes rows [first, first + n) at the end of buf.  Their large values are
 * to be written at *large_off, which moves on by their bytes.
 */
extern void rc_piece_encode(RcColumn *col, RcCodec *codec, const RcScheme *scheme,
							uint32 first, uint32 n, uint64 *large_off, StringInfo buf);

/* Gives the large values of these rows to the image, and their memory back. */
extern void rc_large_write(RcColumn *col, uint32 first, uint32 n, StImage *img);

/* Strings in frames, as RC_ENC_FRAMES; returns the bytes written. */
extern Size rc_encode_frames(RcCodec *codec, const StCodecDict *dict,
							 const StStr *v, uint32 n, StringInfo buf);

/* st_str vector of n strings; returns the bytes written. */
extern Size rc_encode_strings(const StStrScheme *scheme, const StStr *v, uint32 n,
							  StringInfo buf);

/* Zones and null counts of all batches. */
extern void rc_zone_write(const RcColumn *col, const RcScheme *scheme,
						  const RcBatches *batches, StringInfo meta);

/* Room for need more bytes at the end of buf, which may grow past 1 GB. */
extern uint8 *rc_reserve(StringInfo buf, Size need);

#endif							/* RC_COLUMN_H */
