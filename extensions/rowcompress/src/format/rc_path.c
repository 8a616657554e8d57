/*-------------------------------------------------------------------------
 *
 * rc_path.c
 *	  Values at paths of jsonb documents in codec frames.
 *
 * Only frames with a row that is asked for are unpacked, and documents are
 * looked at where they stand in them.  They are checked as they are walked.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "rc_reader.h"
#include "st_compat.h"

static bool
is_set(const uint64 *rows, uint32 row)
{
	return (rows[row >> 6] & (UINT64CONST(1) << (row & 63))) != 0;
}

const VxVector *
rc_batch_path(RcBatch *batch, VxPath *path, const uint64 *rows)
{
	RcPiece    *piece;
	MemoryContext old;
	VxVector   *v;

	if (path->kind == VX_PATH_PART || rc_column_is_missing(batch->reader, path->attno))
		return NULL;
	piece = rc_batch_piece(batch, path->attno);
	if (piece->encoding != RC_ENC_FRAMES || piece->nlarge > 0)
		return NULL;
	MemoryContextReset(path->mcxt);
	old = MemoryContextSwitchTo(path->mcxt);
	v = vx_path_begin_put(path, batch->nrows);
	v->has_nulls = piece->valid != NULL;
	if (v->has_nulls)
		memcpy(v->valid, piece->valid, (batch->nrows + 63) / 64 * sizeof(uint64));
	for (uint32 frame = 0; frame < piece->nframes; frame++)
	{
		uint32		first = piece->frames[frame];
		uint32		last = frame + 1 < piece->nframes ? piece->frames[frame + 1] : batch->nrows;
		const uint8 *bytes;

		while (first < last && !is_set(rows, first))
			first++;
		if (first == last)
			continue;
		CHECK_FOR_INTERRUPTS();
		bytes = rc_frame_bytes(batch, path->attno, piece, frame, &first, &last);
		vx_path_put_run(path, v, rows, first, last, bytes, piece->lens);
	}
	MemoryContextSwitchTo(old);
	return vx_path_finish(path);
}
