/*-------------------------------------------------------------------------
 *
 * rc_frame.c
 *	  Values that stand in codec frames (RC_ENC_FRAMES).
 *
 * A piece has several frames of a few kilobytes; a value is there when its
 * frame is unpacked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "rc_reader.h"
#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_compat.h"

/*
 * Lengths and places.  Proves that frames cover all values, in order, and
 * lie inside of the piece.  Lengths are proved when a frame is unpacked: a
 * fetch adds up those of one frame only.
 */
void
rc_frames_locate(RcBatch *batch, RcPiece *piece, StByteReader *b)
{
	StReader   *r = batch->reader;
	uint32		n = batch->nrows;
	uint64		stored = 0;
	uint64		nframes;
	size_t		len;

	piece->lens = rc_batch_alloc(batch, n * sizeof(uint32));
	rc_take_u32_array(batch, b, piece->lens, n);
	nframes = st_read_varint(b);
	if (nframes == 0 || nframes > n)
		rc_corrupt(r, "frames of a batch");
	piece->nframes = nframes;
	piece->frames = rc_batch_alloc(batch, 2 * nframes * sizeof(uint32));
	rc_take_u32_array(batch, b, piece->frames, nframes);
	rc_take_u32_array(batch, b, piece->frames + nframes, nframes);
	piece->values = st_read_rest(b, &len);
	piece->len = len;
	for (uint32 i = 0; i < nframes; i++)
	{
		uint32		first = piece->frames[i];

		stored += piece->frames[nframes + i];
		if (first >= n || (i == 0 ? first != 0 : first <= piece->frames[i - 1]) ||
			stored > len)
			rc_corrupt(r, "frames of a batch");
		piece->frames[nframes + i] = (uint32) stored;
	}
	if (stored != len)
		rc_corrupt(r, "frames of a batch");
	piece->unpacked = rc_batch_alloc(batch, nframes * sizeof(uint8 *));
	memset(piece->unpacked, 0, nframes * sizeof(uint8 *));
}

uint32
rc_frames_length(const StReader *r, const RcPiece *piece, uint32 first, uint32 last)
{
	uint32		total = 0;

	for (uint32 i = first; i < last; i++)
	{
		if (piece->lens[i] >= RC_LARGE_BYTES)
			rc_corrupt(r, "lengths of a batch");
		total += piece->lens[i];
	}
	return total;
}

static uint8 *
unpack_frame(RcBatch *batch, AttrNumber attno, RcPiece *piece, uint32 frame,
			 uint32 first, uint32 last)
{
	StReader   *r = batch->reader;
	RcChunk    *chunk = rc_chunk_open(r, attno);
	uint32		n = piece->nframes;
	uint32		raw = rc_frames_length(r, piece, first, last);
	uint32		off = frame > 0 ? piece->frames[n + frame - 1] : 0;
	uint32		stored = piece->frames[n + frame] - off;
	uint8	   *to = rc_batch_alloc(batch, raw);
	StStatus	status = ST_OK;

	rc_chunk_scheme(r, chunk);
	if (stored == raw)
		memcpy(to, piece->values + off, raw);
	else if (stored > raw)
		status = ST_CORRUPT;
	else if (chunk->codec_dict)
		status = st_codec_decompress_dict(sf_codec_ctx_shared(), chunk->codec_dict,
										  piece->values + off, stored, to, raw);
	else
		status = st_codec_decompress(sf_codec_ctx_shared(), r->codec, piece->values + off, stored,
									 to, raw);
	if (status != ST_OK)
		rc_corrupt(r, "codec frame of a batch");
	r->bytes_decoded += raw;
	return to;
}

const uint8 *
rc_frame_bytes(RcBatch *batch, AttrNumber attno, RcPiece *piece, uint32 frame,
			   uint32 *first, uint32 *last)
{
	*first = piece->frames[frame];
	*last = frame + 1 < piece->nframes ? piece->frames[frame + 1] : batch->nrows;
	if (piece->unpacked[frame] == NULL)
		piece->unpacked[frame] = unpack_frame(batch, attno, piece, frame, *first, *last);
	return piece->unpacked[frame];
}

const uint8 *
rc_frame_value(RcBatch *batch, AttrNumber attno, RcPiece *piece, uint32 row, uint32 *len)
{
	const uint8 *bytes;
	uint32		lo = 0;
	uint32		hi = piece->nframes;
	uint32		first;
	uint32		last;

	while (hi - lo > 1)
	{
		uint32		mid = lo + (hi - lo) / 2;

		if (piece->frames[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	bytes = rc_frame_bytes(batch, attno, piece, lo, &first, &last);
	for (uint32 i = first; i < row; i++)
		bytes += piece->lens[i];
	*len = piece->lens[row];
	return bytes;
}
