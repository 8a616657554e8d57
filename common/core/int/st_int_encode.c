/*-------------------------------------------------------------------------
 *
 * st_int_encode.c
 *	  Choice of an integer vector's scheme and encoding.
 *
 * Every scheme's exact size is computed from statistics of the vector, of
 * its differences and of the differences of these (extremes, widths), and
 * again of the quotients if the values have a common divisor.  Dictionary and
 * run-length encoding, where they have a chance, are carried out and
 * compared.  The smallest wins, the simpler one if equal, or nearly so in the
 * case of the dictionary.  The patched variants of long vectors are skipped
 * where a sample gives them no chance.
 *
 * The schemes nest in this order only, each level optional:
 *
 *		rle { dictionary { gcd { delta or delta of delta { leaf } } } }
 *
 * Stack: about 100 kB at the deepest point.
 *
 *-------------------------------------------------------------------------
 */
#include "st_bitpack.h"
#include "st_hint.h"
#include "st_int_format.h"

/* st_int_bound(ST_VECTOR_SIZE) as a constant. */
#define ENCODED_MAX (1 + 8 * ST_VECTOR_SIZE + ST_VARINT_MAX)

/* A leaf, perhaps under a difference scheme. */
typedef struct ChainPlan
{
	int			order;			/* 0 values, 1 delta, 2 delta of delta */
	uint64_t	start;			/* what decoding starts from */
	uint64_t	start_delta;	/* delta of delta */
	StLeafPlan	leaf;
	size_t		size;
} ChainPlan;

/* v[i] = offset + divisor * q[i], modulo 2^64. */
typedef struct Divisor
{
	uint64_t	divisor;		/* 1: none */
	uint64_t	offset;
	uint64_t	q[ST_VECTOR_SIZE];
} Divisor;

typedef struct Stats
{
	int64_t		min;
	int64_t		max;
	int			nruns;			/* runs of equal values */
	StIntHint  *hint;			/* of whole vectors, or NULL */
} Stats;

static void
collect_stats(const uint64_t *v, int n, Stats *stats)
{
	int64_t		min = (int64_t) v[0];
	int64_t		max = (int64_t) v[0];
	int			nruns = 1;

	for (int i = 1; i < n; i++)
	{
		int64_t		x = (int64_t) v[i];

		min = x < min ? x : min;
		max = x > max ? x : max;
		nruns += v[i] != v[i - 1];
	}
	stats->min = min;
	stats->max = max;
	stats->nruns = nruns;
	stats->hint = NULL;
}

/* ---- differences ---- */

/*
 * d[i] = v[i] - v[i-1] for 1 <= i < n, and d[0] = d[1], which costs no width
 * and lets decoding be one sum over n values from the start returned.
 */
static uint64_t
first_differences(const uint64_t *v, int n, uint64_t *d)
{
	for (int i = 1; i < n; i++)
		d[i] = v[i] - v[i - 1];
	d[0] = d[1];
	return v[0] - d[0];
}

/*
 * Likewise for the second differences of n >= 3 values: the first two
 * repeat the third.  Decoding adds d[i] to a delta and the delta to a value.
 */
static void
second_differences(const uint64_t *v, int n, uint64_t *d, ChainPlan *plan)
{
	for (int i = 2; i < n; i++)
		d[i] = v[i] - 2 * v[i - 1] + v[i - 2];
	d[0] = d[1] = d[2];
	plan->start_delta = v[1] - v[0] - 2 * d[0];
	plan->start = v[0] - (plan->start_delta + d[0]);
}

static void
difference_values(const uint64_t *v, int n, ChainPlan *plan, uint64_t *d)
{
	if (plan->order == 1)
		plan->start = first_differences(v, n, d);
	else
		second_differences(v, n, d, plan);
}

/* limit: a size that is reached already, by other means */
static void
plan_chain(const uint64_t *v, int n, const Stats *stats, size_t limit,
		   int max_order, bool patches, ChainPlan *best)
{
	memset(best, 0, sizeof(*best));
	st_leaf_plan(v, n, stats->min, stats->max, limit, patches, &best->leaf);
	best->size = best->leaf.size;

	for (int order = 1; order <= max_order && n > order; order++)
	{
		uint64_t	d[ST_VECTOR_SIZE];
		Stats		dstats;
		ChainPlan	plan = {.order = order};

		if (best->leaf.scheme == ST_INT_CONSTANT)
			break;
		if (best->size < limit)
			limit = best->size;
		difference_values(v, n, &plan, d);
		collect_stats(d, n, &dstats);
		st_leaf_plan(d, n, dstats.min, dstats.max, limit, patches, &plan.leaf);
		plan.size = plan.leaf.size + 1 +
			(size_t) st_varint_size(st_zigzag_encode((int64_t) plan.start));
		if (order == 2)
			plan.size += (size_t) st_varint_size(st_zigzag_encode((int64_t) plan.start_delta));
		if (plan.size < best->size)
			*best = plan;
		/* what swings from value to value swings more at every step */
		else if (st_bit_width((uint64_t) dstats.max - (uint64_t) dstats.min) >
				 st_bit_width((uint64_t) stats->max - (uint64_t) stats->min))
			break;
	}
}

static void
write_chain(StByteWriter *w, const uint64_t *v, int n, ChainPlan *plan)
{
	uint64_t	d[ST_VECTOR_SIZE];

	if (plan->order > 0)
	{
		difference_values(v, n, plan, d);
		st_write_u8(w, plan->order == 1 ? ST_INT_DELTA : ST_INT_DELTA2);
		st_write_zigzag(w, (int64_t) plan->start);
		if (plan->order == 2)
			st_write_zigzag(w, (int64_t) plan->start_delta);
		v = d;
	}
	st_leaf_write(w, v, n, &plan->leaf);
}

/* ---- common divisor ---- */

static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0)
	{
		uint64_t	r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Multiplicative inverse of an odd number modulo 2^64 (Newton). */
static uint64_t
inverse(uint64_t odd)
{
	uint64_t	x = 3 * odd ^ 2;	/* right in 5 bits, doubled each step */

	for (int i = 0; i < 4; i++)
		x *= 2 - odd * x;
	return x;
}

/*
 * Greatest common divisor of the differences to min, of which one at least
 * is not 0; for most data it is 1 after a few values.  Division by the current candidate is a multiplication by its
 * inverse: a multiple gives the quotient, anything else a number greater
 * than any quotient (Granlund and Montgomery, PLDI 1994, section 9).
 */
static uint64_t
common_divisor(const uint64_t *v, int n, uint64_t min)
{
	uint64_t	g = 0;
	uint64_t	inv = 0;
	uint64_t	max_quotient = 0;
	int			shift = 0;

	for (int i = 0; i < n; i++)
	{
		uint64_t	u = v[i] - min;
		uint64_t	t = u * inv;

		t = t >> shift | t << (-shift & 63);
		if (g != 0 ? t <= max_quotient : u == 0)
			continue;
		g = gcd(u, g);
		if (g == 1)
			return 1;
		shift = __builtin_ctzll(g);
		inv = inverse(g >> shift);
		max_quotient = UINT64_MAX / g;
	}
	return g;
}

/* min rounded down to a multiple of g, divided by g. */
static uint64_t
floor_quotient(int64_t min, uint64_t g)
{
	uint64_t	magnitude;

	if (min >= 0)
		return (uint64_t) min / g;
	magnitude = 0 - (uint64_t) min;
	return 0 - (magnitude / g + (magnitude % g != 0));
}

static void
divide_values(const uint64_t *v, int n, const Stats *stats, Divisor *d)
{
	uint64_t	min = (uint64_t) stats->min;
	uint64_t	first;
	uint64_t	inv;
	int			shift;

	d->divisor = stats->min == stats->max ? 1 : common_divisor(v, n, min);
	if (d->divisor == 1)
		return;
	first = floor_quotient(stats->min, d->divisor);
	d->offset = min - first * d->divisor;
	d->q[0] = first;			/* for compilers that fear n could be 0 */
	shift = __builtin_ctzll(d->divisor);
	inv = inverse(d->divisor >> shift);
	for (int i = 0; i < n; i++)
		d->q[i] = first + ((v[i] - min) >> shift) * inv;
}

/* ---- whole vectors ---- */

/*
 * Encoders write v, 1 <= n <= ST_VECTOR_SIZE, with these statistics.  There
 * is room for the flat encoding of any vector; an alternative may be given
 * less, and fails if it does not fit.
 */
typedef void (*Encoder) (StByteWriter *w, const uint64_t *v, int n,
						 const Stats *stats);

/* Outliers may be few and far between: the longest wait for patches. */
#define MAX_WAIT_PATCHES 3

/* Gcd, differences, leaf, as is smallest. */
static void
encode_flat(StByteWriter *w, const uint64_t *v, int n, const Stats *stats)
{
	ChainPlan	plan;
	ChainPlan	qplan;
	Divisor		d;
	Stats		qstats;
	bool		chains = stats->hint == NULL ||
		st_hint_due(&stats->hint->skip_chains);
	int			max_order = chains ? 2 : 0;
	bool		patches = stats->hint == NULL ||
		st_hint_due(&stats->hint->skip_patches);
	bool		divided;

	divide_values(v, n, stats, &d);
	qplan.size = SIZE_MAX;
	qplan.order = 0;
	if (d.divisor > 1)
	{
		collect_stats(d.q, n, &qstats);
		plan_chain(d.q, n, &qstats, SIZE_MAX, max_order, patches, &qplan);
		qplan.size += 1 + (size_t) st_varint_size(d.divisor) +
			(size_t) st_varint_size(d.offset);
	}
	plan_chain(v, n, stats, qplan.size, max_order, patches, &plan);
	divided = plan.size > qplan.size;
	if (stats->hint != NULL && chains)
		st_hint_learn((divided ? &qplan : &plan)->order > 0, &stats->hint->skip_chains,
			  &stats->hint->wait_chains, ST_HINT_MAX_WAIT);
	if (stats->hint != NULL && patches)
		st_hint_learn((divided ? &qplan : &plan)->leaf.scheme == ST_INT_PFOR,
			  &stats->hint->skip_patches, &stats->hint->wait_patches,
			  MAX_WAIT_PATCHES);
	if (!divided)
	{
		write_chain(w, v, n, &plan);
		return;
	}
	st_write_u8(w, ST_INT_GCD);
	st_write_varint(w, d.divisor);
	st_write_varint(w, d.offset);
	write_chain(w, d.q, n, &qplan);
}

ST_INLINE size_t
written_since(const StByteWriter *w, const StByteWriter *before)
{
	return (size_t) (w->p - before->p);
}

/*
 * Replaces what was written to *w since it was as in *before by what encoder
 * writes, if that saves at least saving bytes.
 */
static void
encode_alternative(StByteWriter *w, const StByteWriter *before,
				   size_t saving, Encoder encoder,
				   const uint64_t *v, int n, const Stats *stats)
{
	uint8_t		bytes[ENCODED_MAX];
	StByteWriter other;

	/* what saves too little does not fit */
	st_writer_init(&other, bytes, written_since(w, before) - saving);
	encoder(&other, v, n, stats);
	if (other.status != ST_OK)
		return;
	*w = *before;
	st_write_bytes(w, bytes, st_writer_len(&other));
}

/* A counted list, behind its length: values of runs or of a dictionary. */
static void
write_list(StByteWriter *w, const uint64_t *value, int n, const Stats *stats,
		   Encoder encoder)
{
	uint8_t		bytes[ENCODED_MAX];
	StByteWriter list;

	st_writer_init(&list, bytes, sizeof(bytes));
	encoder(&list, value, n, stats);
	st_write_varint(w, (uint64_t) n);
	st_write_sized(w, bytes, st_writer_len(&list));
}

/* As a dictionary, or not fitting if there are too many distinct values. */
static void
encode_dictionary(StByteWriter *w, const uint64_t *v, int n,
				  const Stats *stats)
{
	uint64_t	value[ST_INT_DISTINCT_MAX];
	uint64_t	code[ST_VECTOR_SIZE];
	int			nvalues = st_int_distinct(v, n, value, code);
	StLeafPlan	plan;
	Stats		value_stats = *stats;

	value_stats.hint = NULL;
	if (nvalues < 0)
	{
		w->status = ST_NOSPACE;
		return;
	}
	st_write_u8(w, ST_INT_DICT);
	write_list(w, value, nvalues, &value_stats, encode_flat);
	st_leaf_plan(code, n, 0, nvalues - 1, SIZE_MAX, true, &plan);
	st_leaf_write(w, code, n, &plan);
}

/*
 * Flat, or as a dictionary if that saves a sixteenth: it is decoded several
 * times slower.
 */
static void
encode_values(StByteWriter *w, const uint64_t *v, int n, const Stats *stats)
{
	StByteWriter before = *w;
	StIntHint  *hint = stats->hint;
	size_t		size;

	encode_flat(w, v, n, stats);
	size = written_since(w, &before);
	/* two distinct values take a bit each */
	if (w->status != ST_OK || size <= (size_t) n / 8 + 8 ||
		(hint != NULL && !st_hint_due(&hint->skip_dictionary)))
		return;
	encode_alternative(w, &before, size / 16 + 1, encode_dictionary,
					   v, n, stats);
	if (hint != NULL)
		st_hint_learn(written_since(w, &before) < size, &hint->skip_dictionary,
			  &hint->wait_dictionary, ST_HINT_MAX_WAIT);
}

/*
 * Could run lengths get below size?  Tried if runs are two values long on
 * average.  With shorter ones, run values should take as many bits each as
 * the values do, and run lengths at least one.
 */
static bool
runs_promising(int n, int nruns, size_t size)
{
	size_t		run_bits = size * 8 * (size_t) nruns / (size_t) n +
		(size_t) nruns;

	return nruns * 2 <= n || (nruns < n && run_bits < size * 8);
}

static void
encode_runs(StByteWriter *w, const uint64_t *v, int n, const Stats *stats)
{
	uint64_t	value[ST_VECTOR_SIZE];
	uint64_t	length[ST_VECTOR_SIZE];
	Stats		value_stats = *stats;
	Stats		length_stats;
	int			run = 0;
	int			first = 0;

	value_stats.hint = NULL;

	for (int i = 1; i <= n; i++)
		if (i == n || v[i] != v[first])
		{
			value[run] = v[first];
			length[run] = (uint64_t) (i - first);
			run++;
			first = i;
		}

	st_write_u8(w, ST_INT_RLE);
	write_list(w, value, run, &value_stats, encode_values);
	collect_stats(length, run, &length_stats);
	encode_values(w, length, run, &length_stats);
}

size_t
st_int_bound(int n)
{
	/* raw, or the longest constant for n = 1 */
	return 1 + 8 * (size_t) n + ST_VARINT_MAX;
}

StStatus
st_int_encode(const int64_t *v, int n, uint8_t *dst, size_t cap, size_t *len)
{
	return st_int_encode_next(v, n, NULL, dst, cap, len);
}

StStatus
st_int_encode_next(const int64_t *v, int n, StIntHint *hint,
				   uint8_t *dst, size_t cap, size_t *len)
{
	const uint64_t *u = (const uint64_t *) v;
	uint8_t		bytes[ENCODED_MAX];
	bool		direct;
	StByteWriter w;
	StByteWriter before;
	Stats		stats;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_NOTFIT;
	/* the choice does not depend on cap */
	direct = cap >= st_int_bound(n);
	st_writer_init(&w, direct ? dst : bytes, direct ? cap : sizeof(bytes));
	before = w;
	if (n == 0)
	{
		st_write_u8(&w, ST_INT_CONSTANT);
		st_write_zigzag(&w, 0);
	}
	else
	{
		collect_stats(u, n, &stats);
		stats.hint = hint;
		encode_values(&w, u, n, &stats);
		if (runs_promising(n, stats.nruns, written_since(&w, &before)))
			encode_alternative(&w, &before, 1, encode_runs, u, n, &stats);
	}
	*len = st_writer_len(&w);
	if (*len > cap)
		return ST_NOSPACE;
	if (!direct)
		memcpy(dst, bytes, *len);
	return ST_OK;
}
