/*-------------------------------------------------------------------------
 *
 * rc_cut.c
 *	  Where the batches of a row group end: at the end of a page, if they can.
 *
 * A fetch reads the pages of one batch, so a batch should be as large as one
 * page holds once it is encoded.  How large that is shows only when it is:
 * rows are proposed by what a byte of rows has taken so far, and proposed
 * anew, up to TRIES times, while the batch does not fit or leaves much of the
 * page empty.
 *
 * Bounds come first.  A batch ends at the latest when its rows weigh
 * batch_bytes, or are RC_MAX_BATCH_ROWS; if that is far less than a page,
 * several batches share one evenly.  A group has at most RC_MAX_BATCHES: the
 * loose batches, which were cut by weight as rows came, are never more, and
 * while just as many are left as the rest of them needs, a batch ends where
 * they do.  A group that takes more pages than it may have batches gets
 * batches of several pages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "rc_cut.h"
#include "st_compat.h"

/* Encodings of a batch, at most. */
#define TRIES 3

/* A first guess: what is learned from it is the density. */
#define FIRST_DENSITY 0.25
#define FIRST_SPREAD 0.02

/* A batch that fills less than this of its page is tried anew. */
#define GOOD_FILL 0.9

/* Of a page that the batches of a group should leave to chance. */
#define GROUP_FILL 0.9

static double
density_of(const RcCut *cut)
{
	return cut->density->bytes > 0 ? cut->density->bytes : FIRST_DENSITY;
}

uint64
rc_cut_group_weight(const RcDensity *density, uint32 page)
{
	if (density->bytes <= 0)
		return PG_UINT64_MAX;
	return (uint64) (GROUP_FILL * RC_MAX_BATCHES * page / density->bytes);
}

void
rc_cut_begin(RcCut *cut, const uint32 *weights, uint32 nrows, uint32 limit,
			 const RcBatches *loose, RcDensity *density, uint32 page,
			 RcBatches *batches)
{
	memset(cut, 0, sizeof(*cut));
	cut->weights = weights;
	cut->nrows = nrows;
	cut->limit = limit;
	cut->loose = loose;
	cut->density = density;
	cut->page = page;
	cut->batches = batches;
	for (uint32 i = 0; i < nrows; i++)
		cut->weight_left += weights[i];
	batches->n = 0;
	batches->first[0] = 0;
}

/* The loose batch that a row is in. */
static uint32
loose_batch(const RcCut *cut, uint32 row)
{
	uint32		lo = 0;
	uint32		hi = cut->loose->n;

	while (hi - lo > 1)
	{
		uint32		mid = lo + (hi - lo) / 2;

		if (cut->loose->first[mid] <= row)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Sets the least and the most rows of the batch; returns the weight of the most. */
static uint64
bound_rows(RcCut *cut)
{
	uint32		loose = loose_batch(cut, cut->first);
	uint32		left = RC_MAX_BATCHES - cut->batches->n;
	uint32		end = Min(cut->nrows, cut->first + RC_MAX_BATCH_ROWS);
	uint32		row = cut->first;
	uint64		weight = 0;

	Assert(left >= cut->loose->n - loose);
	while (row < end && weight < cut->limit)
		weight += cut->weights[row++];
	cut->most = row - cut->first;
	cut->least = 1;
	if (left == cut->loose->n - loose)
		cut->least = cut->loose->first[loose + 1] - cut->first;
	Assert(cut->least <= cut->most);
	return weight;
}

/* The share of a page that is left empty so that most batches fit at once. */
static double
margin(const RcCut *cut)
{
	return Min(0.15, Max(0.005, 2 * cut->density->spread));
}

/* Takes as many rows as should fit. */
static void
take_rows(RcCut *cut, double density)
{
	double		bytes = cut->target * (1 - margin(cut));
	uint64		weight = cut->weights[cut->first];
	uint32		n = 1;

	while (n < cut->most &&
		   (n < cut->least ||
			(weight + cut->weights[cut->first + n]) * density <= bytes))
		weight += cut->weights[cut->first + n++];
	cut->n = n;
	cut->weight = weight;
}

bool
rc_cut_propose(RcCut *cut, uint64 image_len)
{
	double		density = density_of(cut);
	double		room = cut->page - image_len % cut->page;
	double		pages_left;
	double		largest;
	uint32		share;

	cut->first = cut->batches->first[cut->batches->n];
	if (cut->first == cut->nrows)
		return false;
	largest = Max(1, bound_rows(cut) * density);
	if (room < cut->page / RC_GAP_SHARE)
		room = cut->page;		/* the rest stays empty */

	/* several pages, if there would be too many batches else */
	pages_left = cut->weight_left * density / cut->page;
	share = (uint32) (pages_left / (GROUP_FILL * (RC_MAX_BATCHES - cut->batches->n)));
	room += (double) share * cut->page;

	/* several batches on a page, if they must be short */
	if (cut->first + cut->most < cut->nrows)
		room /= ceil(room * (RC_GAP_SHARE - 1) / RC_GAP_SHARE / largest);

	cut->target = room;
	cut->tries = 0;
	take_rows(cut, density);
	return true;
}

/* What this batch tells about the next ones. */
static void
learn(RcCut *cut, double density)
{
	RcDensity  *known = cut->density;

	if (known->bytes <= 0)
	{
		known->bytes = density;
		known->spread = FIRST_SPREAD;
		return;
	}
	known->spread += (fabs(density / known->bytes - 1) - known->spread) / 16;
	known->bytes += (density - known->bytes) / 4;
}

bool
rc_cut_accept(RcCut *cut, Size len)
{
	double		density = (double) len / Max(cut->weight, 1);
	uint64		weight = cut->weight;
	uint32		n = cut->n;
	bool		too_long = len > cut->target && n > cut->least;
	bool		too_short = len < GOOD_FILL * cut->target && n < cut->most;

	if (cut->tries == 0)
		learn(cut, density);
	if (++cut->tries < TRIES && (too_long || too_short))
	{
		take_rows(cut, density);
		if (too_long ? cut->n < n : cut->n > n)
			return false;
		cut->n = n;
		cut->weight = weight;
	}
	cut->weight_left -= weight;
	cut->batches->first[++cut->batches->n] = cut->first + n;
	return true;
}
