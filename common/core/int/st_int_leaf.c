/*-------------------------------------------------------------------------
 *
 * st_int_leaf.c
 *	  Constant, raw, for and patched for: the choice among them, writing,
 *	  reading.
 *
 * All values are uint64 and all arithmetic is modulo 2^64; min and max are
 * signed because small numbers around zero should give a small range.
 *
 *-------------------------------------------------------------------------
 */
#include "st_int_leaf.h"

#include "st_bitpack.h"

/* Values looked at first, to see what patching could save. */
#define SAMPLE_SIZE 64

/* Values that are sorted to find their middle. */
#define MIDDLE_SIZE 24

/* Vectors shorter than this are not sampled but looked at as a whole. */
#define SAMPLE_FROM (2 * SAMPLE_SIZE)

/* ---- planning ---- */

/* Number of values by bits needed, relative to some anchor. */
typedef struct WidthHistogram
{
	uint16_t	count[65];
} WidthHistogram;

static size_t
for_size(int n, uint64_t base, int width)
{
	return 2 + (size_t) st_varint_size(st_zigzag_encode((int64_t) base)) +
		st_bitpack_size(n, width);
}

static size_t
pfor_size(int n, const StLeafPlan *p)
{
	return 3 + (size_t) st_varint_size(st_zigzag_encode((int64_t) p->base)) +
		(size_t) st_varint_size((uint64_t) p->nx) +
		st_bitpack_size(n, p->width) +
		st_bitpack_size(p->nx, st_bit_width((uint64_t) n - 1)) +
		st_bitpack_size(p->nx, p->xwidth);
}

/* Bits that hold x as a signed number; 0 for 0. */
ST_INLINE int
signed_width(int64_t x)
{
	return x == 0 ? 0 : st_bit_width((uint64_t) (x ^ (x >> 63))) + 1;
}

/*
 * Takes SAMPLE_SIZE of n values, one from each of as many equal stretches,
 * at changing places so that periods in the data do not mislead.
 */
static void
take_sample(const uint64_t *v, int n, uint64_t *sample)
{
	int			stretch = n / SAMPLE_SIZE;

	for (int s = 0; s < SAMPLE_SIZE; s++)
		sample[s] = v[s * stretch + s * 5 % stretch];
}

/*
 * Middle of the bulk of n values: halfway between the tenth and the
 * ninetieth percentile, of MIDDLE_SIZE of them at most.  Outliers do not
 * move it, and where most values are equal it is that value.
 */
static uint64_t
middle_of_bulk(const uint64_t *v, int n, uint64_t min)
{
	uint64_t	sorted[MIDDLE_SIZE];
	int			m = n < MIDDLE_SIZE ? n : MIDDLE_SIZE;
	uint64_t	low;
	uint64_t	high;

	sorted[0] = 0;
	for (int i = 0; i < m; i++)
	{
		uint64_t	x = v[i * n / m] - min;
		int			at = i;

		for (; at > 0 && sorted[at - 1] > x; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = x;
	}
	low = sorted[m / 10];
	high = sorted[m - 1 - m / 10];
	return min + low + (high - low) / 2;
}

/* Positions of the window of a patched frame of reference. */
typedef enum Anchor
{
	ANCHOR_MIN,					/* begins at the minimum */
	ANCHOR_MAX,					/* ends at the maximum */
	ANCHOR_MIDDLE				/* centred */
} Anchor;

#define NO_ANCHOR (-1)

/*
 * Histograms for all three anchors in one pass.  The counts of two
 * neighbours go to different tables, so that equal widths in a row do not
 * wait for each other.
 */
static void
count_all_widths(const uint64_t *v, int n, uint64_t min, uint64_t max,
				 uint64_t middle, WidthHistogram hist[3])
{
	WidthHistogram part[2][3];

	memset(part, 0, sizeof(part));
	for (int i = 0; i < n; i++)
	{
		WidthHistogram *h = part[i & 1];

		h[ANCHOR_MIN].count[st_bit_width(v[i] - min)]++;
		h[ANCHOR_MAX].count[st_bit_width(max - v[i])]++;
		h[ANCHOR_MIDDLE].count[signed_width((int64_t) (v[i] - middle))]++;
	}
	for (int a = 0; a < 3; a++)
		for (int width = 0; width <= 64; width++)
			hist[a].count[width] = (uint16_t)
				(part[0][a].count[width] + part[1][a].count[width]);
}

#define COUNT_WIDTHS(width) \
	do { \
		for (int i = 0; i < n; i++) \
			part[i & 1].count[width]++; \
	} while (0)

/* The histogram for one anchor. */
static void
count_widths(const uint64_t *v, int n, uint64_t min, uint64_t max,
			 uint64_t middle, Anchor anchor, WidthHistogram *hist)
{
	WidthHistogram part[2];

	memset(part, 0, sizeof(part));
	switch (anchor)
	{
		case ANCHOR_MIN:
			COUNT_WIDTHS(st_bit_width(v[i] - min));
			break;
		case ANCHOR_MAX:
			COUNT_WIDTHS(st_bit_width(max - v[i]));
			break;
		case ANCHOR_MIDDLE:
			COUNT_WIDTHS(signed_width((int64_t) (v[i] - middle)));
			break;
	}
	for (int width = 0; width <= 64; width++)
		hist->count[width] = (uint16_t)
			(part[0].count[width] + part[1].count[width]);
}

/* First value of the window of that width. */
static uint64_t
window_base(Anchor anchor, int width, uint64_t min, uint64_t max,
			uint64_t middle)
{
	switch (anchor)
	{
		case ANCHOR_MIN:
			return min;
		case ANCHOR_MAX:
			return max - ((UINT64_C(1) << width) - 1);
		default:
			return width == 0 ? middle :
				middle - (UINT64_C(1) << (width - 1));
	}
}

/*
 * Bits of the exceptions' high parts.  Where differences could leave the
 * range of int64, all remaining bits are kept, which is right modulo 2^64.
 */
static int
exception_width(uint64_t base, int width, uint64_t min, uint64_t max)
{
	int			below;
	int			above;

	if (max - min >= UINT64_C(1) << 62)
		return 64 - width;
	below = signed_width((int64_t) (min - base) >> width);
	above = signed_width((int64_t) (max - base) >> width);
	return below > above ? below : above;
}

/*
 * Improves *best, a plan for n values with these extremes, by a patched
 * frame of reference if one is smaller.  Looks at one anchor, or with
 * NO_ANCHOR at all of them; returns the one that was taken, or NO_ANCHOR.
 */
static int
plan_patched(const uint64_t *v, int n, uint64_t min, uint64_t max,
			 uint64_t middle, int anchor, StLeafPlan *best)
{
	int			full_width = st_bit_width(max - min);
	int			taken = NO_ANCHOR;
	WidthHistogram hist[3];

	if (anchor == NO_ANCHOR)
		count_all_widths(v, n, min, max, middle, hist);
	else
		count_widths(v, n, min, max, middle, (Anchor) anchor, &hist[anchor]);
	for (int a = ANCHOR_MIN; a <= ANCHOR_MIDDLE; a++)
	{
		if (anchor != NO_ANCHOR && a != anchor)
			continue;
		StLeafPlan	p = {.scheme = ST_INT_PFOR};

		p.nx = n;
		for (p.width = 0; p.width < full_width; p.width++)
		{
			p.nx -= hist[a].count[p.width];
			if (p.nx * 2 > n)
				continue;		/* other schemes are better at that */
			p.base = window_base((Anchor) a, p.width, min, max, middle);
			p.xwidth = exception_width(p.base, p.width, min, max);
			p.size = pfor_size(n, &p);
			if (p.size < best->size)
			{
				*best = p;
				taken = a;
			}
		}
	}
	return taken;
}

/*
 * Bytes of the best patched frame of reference for n values, parameters left
 * out, as far as a sample of them can tell, and its anchor.
 */
static size_t
estimate_patched(const uint64_t *sample, int n, uint64_t min, uint64_t max,
				 uint64_t middle, int *anchor)
{
	StLeafPlan	plan = {.size = SIZE_MAX};

	*anchor = plan_patched(sample, SAMPLE_SIZE, min, max, middle, NO_ANCHOR, &plan);
	if (*anchor == NO_ANCHOR)
		return SIZE_MAX;
	return (size_t) n * (size_t) (plan.width * SAMPLE_SIZE + plan.nx *
								  (plan.xwidth + st_bit_width((uint64_t) n - 1))) /
		(8 * SAMPLE_SIZE);
}

void
st_leaf_plan(const uint64_t *v, int n, int64_t smin, int64_t smax,
			 size_t limit, bool patches, StLeafPlan *plan)
{
	uint64_t	min = (uint64_t) smin;
	uint64_t	max = (uint64_t) smax;
	int			width = st_bit_width(max - min);
	size_t		raw_size = 1 + (size_t) n * 8;
	uint64_t	sample[SAMPLE_SIZE];
	uint64_t	middle;
	int			anchor = NO_ANCHOR;

	memset(plan, 0, sizeof(*plan));
	plan->base = min;
	if (width == 0)
	{
		plan->scheme = ST_INT_CONSTANT;
		plan->size = 1 + (size_t) st_varint_size(st_zigzag_encode(smin));
		return;
	}
	plan->scheme = ST_INT_FOR;
	plan->width = width;
	plan->size = for_size(n, min, width);
	if (plan->size >= raw_size)
	{
		plan->scheme = ST_INT_RAW;
		plan->size = raw_size;
	}
	if (!patches)
		return;

	if (n < SAMPLE_FROM)
		middle = middle_of_bulk(v, n, min);
	else
	{
		size_t		estimate;
		size_t		error = (size_t) n / 8;

		take_sample(v, n, sample);
		middle = middle_of_bulk(sample, SAMPLE_SIZE, min);
		estimate = estimate_patched(sample, n, min, max, middle, &anchor);
		/* it may be too high by a bit per value, or an eighth */
		if (error > estimate / 8)
			error = estimate / 8;
		if (estimate - error > (limit < plan->size ? limit : plan->size))
			return;
	}
	(void) plan_patched(v, n, min, max, middle, anchor, plan);
}

/* ---- writing ---- */

static void
write_packed(StByteWriter *w, const uint64_t *v, int n, uint64_t base,
			 int width)
{
	uint8_t    *p = st_write_span(w, st_bitpack_size(n, width));

	if (p)
		st_bitpack(v, n, base, width, p);
}

static void
write_patched(StByteWriter *w, const uint64_t *v, int n,
			  const StLeafPlan *plan)
{
	uint64_t	position[ST_VECTOR_SIZE];
	uint64_t	high[ST_VECTOR_SIZE];
	int			nx = 0;

	st_write_u8(w, (uint8_t) plan->width);
	st_write_u8(w, (uint8_t) plan->xwidth);
	st_write_zigzag(w, (int64_t) plan->base);
	st_write_varint(w, (uint64_t) plan->nx);
	write_packed(w, v, n, plan->base, plan->width);

	for (int i = 0; i < n; i++)
	{
		int64_t		above = (int64_t) (v[i] - plan->base) >> plan->width;

		position[nx] = (uint64_t) i;
		high[nx] = (uint64_t) above;
		nx += above != 0;
	}
	write_packed(w, position, nx, 0, st_bit_width((uint64_t) n - 1));
	write_packed(w, high, nx, 0, plan->xwidth);
}

void
st_leaf_write(StByteWriter *w, const uint64_t *v, int n,
			  const StLeafPlan *plan)
{
	st_write_u8(w, (uint8_t) plan->scheme);
	switch (plan->scheme)
	{
		case ST_INT_CONSTANT:
			st_write_zigzag(w, (int64_t) plan->base);
			break;
		case ST_INT_FOR:
			st_write_u8(w, (uint8_t) plan->width);
			st_write_zigzag(w, (int64_t) plan->base);
			write_packed(w, v, n, plan->base, plan->width);
			break;
		case ST_INT_PFOR:
			write_patched(w, v, n, plan);
			break;
		default:
			st_write_bytes(w, v, (size_t) n * 8);
			break;
	}
}

/* ---- reading ---- */

/* Parameters and payload of a packed leaf, checked against r's length. */
typedef struct PackedLeaf
{
	uint64_t	base;
	int			width;
	const uint8_t *low;			/* n * width bits */
	/* patched for */
	int			xwidth;
	int			nx;
	const uint8_t *position;	/* nx * position_width bits */
	int			position_width;
	const uint8_t *high;		/* nx * xwidth bits */
} PackedLeaf;

static StStatus
parse_packed(StByteReader *r, int scheme, int n, PackedLeaf *leaf)
{
	uint64_t	nx = 0;

	memset(leaf, 0, sizeof(*leaf));
	leaf->width = st_read_u8(r);
	if (scheme == ST_INT_PFOR)
		leaf->xwidth = st_read_u8(r);
	leaf->base = (uint64_t) st_read_zigzag(r);
	if (scheme == ST_INT_PFOR)
		nx = st_read_varint(r);
	/* no width beyond 64 either */
	if (leaf->xwidth > 64 - leaf->width || nx > (uint64_t) n)
		return ST_CORRUPT;
	leaf->nx = (int) nx;
	leaf->low = st_read_span(r, st_bitpack_size(n, leaf->width));
	if (scheme == ST_INT_PFOR)
	{
		leaf->position_width = n > 0 ? st_bit_width((uint64_t) n - 1) : 0;
		leaf->position = st_read_span(r, st_bitpack_size(leaf->nx, leaf->position_width));
		leaf->high = st_read_span(r, st_bitpack_size(leaf->nx, leaf->xwidth));
	}
	return st_reader_finish(r);
}

/* The signed high part of an exception, at its place in the value. */
ST_INLINE uint64_t
place_high(uint64_t high, const PackedLeaf *leaf)
{
	int			unused = 64 - leaf->xwidth;

	if (leaf->xwidth == 0)
		return 0;
	return (uint64_t) ((int64_t) (high << unused) >> unused) << leaf->width;
}

static StStatus
read_patches(const PackedLeaf *leaf, int n, uint64_t *v)
{
	uint32_t	position[ST_VECTOR_SIZE];
	uint64_t	high[ST_VECTOR_SIZE];
	int64_t		previous = -1;

	st_bitunpack32(leaf->position, leaf->nx, 0, leaf->position_width, position);
	st_bitunpack(leaf->high, leaf->nx, 0, leaf->xwidth, high);
	for (int x = 0; x < leaf->nx; x++)
	{
		if (position[x] >= (uint32_t) n || (int64_t) position[x] <= previous)
			return ST_CORRUPT;
		previous = position[x];
		v[position[x]] += place_high(high[x], leaf);
	}
	return ST_OK;
}

StStatus
st_leaf_read(StByteReader *r, int scheme, int n, uint64_t *v)
{
	PackedLeaf	leaf;
	const uint8_t *raw;
	StStatus	status;

	switch (scheme)
	{
		case ST_INT_CONSTANT:
			leaf.base = (uint64_t) st_read_zigzag(r);
			for (int i = 0; i < n; i++)
				v[i] = leaf.base;
			return st_reader_finish(r);
		case ST_INT_RAW:
			raw = st_read_span(r, (uint64_t) n * 8);
			status = st_reader_finish(r);
			if (status == ST_OK)
				memcpy(v, raw, (size_t) n * 8);
			return status;
		case ST_INT_FOR:
		case ST_INT_PFOR:
			status = parse_packed(r, scheme, n, &leaf);
			if (status != ST_OK)
				return status;
			st_bitunpack(leaf.low, n, leaf.base, leaf.width, v);
			return leaf.nx > 0 ? read_patches(&leaf, n, v) : ST_OK;
		default:
			return ST_CORRUPT;
	}
}

/*
 * Adds the patches to 32-bit values.  False if one does not fit, or if they
 * are damaged: st_leaf_read() is to tell.
 */
static bool
read_patches32(const PackedLeaf *leaf, int n, uint32_t *v)
{
	uint32_t	position[ST_VECTOR_SIZE];
	int64_t		previous = -1;

	st_bitunpack32(leaf->position, leaf->nx, 0, leaf->position_width, position);
	for (int x = 0; x < leaf->nx; x++)
	{
		uint64_t	high = st_bitpack_get(leaf->high, leaf->nx, leaf->xwidth, x);
		uint64_t	value;

		if (position[x] >= (uint32_t) n || (int64_t) position[x] <= previous)
			return false;
		previous = position[x];
		value = v[position[x]] + place_high(high, leaf);
		if (value > UINT32_MAX)
			return false;
		v[position[x]] = (uint32_t) value;
	}
	return true;
}

StStatus
st_leaf_read32(StByteReader *r, int scheme, int n, uint32_t *v)
{
	StByteReader copy = *r;
	PackedLeaf	leaf = {0};

	if (scheme == ST_INT_CONSTANT)
	{
		leaf.base = (uint64_t) st_read_zigzag(&copy);
		if (leaf.base > UINT32_MAX || st_reader_finish(&copy) != ST_OK)
			return ST_NOTFIT;
	}
	else if (scheme == ST_INT_FOR || scheme == ST_INT_PFOR)
	{
		if (parse_packed(&copy, scheme, n, &leaf) != ST_OK)
			return ST_NOTFIT;
		if (leaf.width > 32 || leaf.base > UINT32_MAX ||
			leaf.base + ((UINT64_C(1) << leaf.width) - 1) > UINT32_MAX)
			return ST_NOTFIT;
	}
	else
		return ST_NOTFIT;
	st_bitunpack32(leaf.low, n, (uint32_t) leaf.base, leaf.width, v);
	if (leaf.nx > 0 && !read_patches32(&leaf, n, v))
		return ST_NOTFIT;
	*r = copy;
	return ST_OK;
}

/* Adds the patch of value i, if it has one, to *out. */
static void
get_patch(const PackedLeaf *leaf, int i, uint64_t *out)
{
	int			first = 0;
	int			last = leaf->nx;

	while (first < last)
	{
		int			middle = (first + last) / 2;
		uint64_t	position = st_bitpack_get(leaf->position, leaf->nx,
											  leaf->position_width, middle);

		if (position == (uint64_t) i)
		{
			*out += place_high(st_bitpack_get(leaf->high, leaf->nx,
											  leaf->xwidth, middle), leaf);
			break;
		}
		if (position < (uint64_t) i)
			first = middle + 1;
		else
			last = middle;
	}
}

StStatus
st_leaf_get(StByteReader *r, int scheme, int n, int i, uint64_t *out)
{
	PackedLeaf	leaf;
	const uint8_t *raw;
	StStatus	status;

	switch (scheme)
	{
		case ST_INT_CONSTANT:
			*out = (uint64_t) st_read_zigzag(r);
			return st_reader_finish(r);
		case ST_INT_RAW:
			raw = st_read_span(r, (uint64_t) n * 8);
			status = st_reader_finish(r);
			if (status == ST_OK)
				*out = st_load_u64(raw + (size_t) i * 8);
			return status;
		case ST_INT_FOR:
		case ST_INT_PFOR:
			status = parse_packed(r, scheme, n, &leaf);
			if (status != ST_OK)
				return status;
			*out = leaf.base + st_bitpack_get(leaf.low, n, leaf.width, i);
			get_patch(&leaf, i, out);
			return ST_OK;
		default:
			return ST_CORRUPT;
	}
}

bool
st_leaf_is_even(StByteReader r)
{
	int			scheme = st_read_u8(&r);

	if (scheme != ST_INT_PFOR)
		return scheme == ST_INT_CONSTANT;
	if (st_read_u8(&r) != 0)
		return false;
	(void) st_read_u8(&r);
	(void) st_read_zigzag(&r);
	return st_read_varint(&r) <= ST_INT_FEW;
}

bool
st_leaf_sum(StByteReader r, int n, int k, uint64_t *sum, uint64_t *sum_of_sums)
{
	PackedLeaf	leaf = {0};
	uint64_t	count = (uint64_t) k;
	int			scheme;

	if (!st_leaf_is_even(r))
		return false;
	scheme = st_read_u8(&r);
	if (scheme == ST_INT_CONSTANT)
		leaf.base = (uint64_t) st_read_zigzag(&r);
	else
		(void) parse_packed(&r, scheme, n, &leaf);
	*sum = count * leaf.base;
	*sum_of_sums = count * (count + 1) / 2 * leaf.base;
	if (st_reader_finish(&r) != ST_OK)
		return false;
	for (int x = 0; x < leaf.nx; x++)
	{
		uint64_t	position = st_bitpack_get(leaf.position, leaf.nx,
											  leaf.position_width, x);
		uint64_t	high = st_bitpack_get(leaf.high, leaf.nx, leaf.xwidth, x);

		if (position >= count)
			break;
		*sum += place_high(high, &leaf);
		*sum_of_sums += place_high(high, &leaf) * (count - position);
	}
	return true;
}
