/*-------------------------------------------------------------------------
 *
 * st_int.c
 *	  Decoding of integer vectors, access to one value, names of schemes.
 *
 * The input is hostile: every length is checked before it is used, nesting
 * is bounded by levels (st_int_format.h), and the work by ST_VECTOR_SIZE.
 * The encoder is in st_int_encode.c, the bit-level schemes in st_int_leaf.c.
 *
 *-------------------------------------------------------------------------
 */
#include "st_int_format.h"

static StStatus decode_level(StByteReader *r, int level, int n, uint64_t *v);

/* ---- delta, delta of delta ---- */

static StStatus
decode_delta(StByteReader *r, int n, uint64_t *v)
{
	uint64_t	value = (uint64_t) st_read_zigzag(r);
	StStatus	status = decode_level(r, ST_INT_LEVEL_LEAF, n, v);

	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
	{
		value += v[i];
		v[i] = value;
	}
	return ST_OK;
}

static StStatus
decode_delta2(StByteReader *r, int n, uint64_t *v)
{
	uint64_t	value = (uint64_t) st_read_zigzag(r);
	uint64_t	delta = (uint64_t) st_read_zigzag(r);
	StStatus	status = decode_level(r, ST_INT_LEVEL_LEAF, n, v);

	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
	{
		delta += v[i];
		value += delta;
		v[i] = value;
	}
	return ST_OK;
}

/* ---- gcd ---- */

static StStatus
decode_gcd(StByteReader *r, int n, uint64_t *v)
{
	uint64_t	divisor = st_read_varint(r);
	uint64_t	offset = st_read_varint(r);
	StStatus	status = decode_level(r, ST_INT_LEVEL_DELTA, n, v);

	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
		v[i] = offset + divisor * v[i];
	return ST_OK;
}

/* ---- run lengths ---- */

/* Values that expand_runs may write at once, a power of two. */
#define RUN_STEP 8

/*
 * Repeats value[r] length[r] times.  ST_CORRUPT unless the lengths are
 * positive and add up to n.  Runs are written in whole steps; what is
 * written too much is overwritten by the next run, and never lies behind
 * ST_VECTOR_SIZE.
 */
static StStatus
expand_runs(const uint64_t *value, const uint64_t *length, int nruns, int n,
			uint64_t *v)
{
	int			at = 0;

	for (int run = 0; run < nruns; run++)
	{
		uint64_t	x = value[run];
		int			end;

		if (length[run] == 0 || length[run] > (uint64_t) (n - at))
			return ST_CORRUPT;
		end = at + (int) length[run];
		if (end <= ST_VECTOR_SIZE - RUN_STEP)
			for (; at < end; at += RUN_STEP)
				for (int k = 0; k < RUN_STEP; k++)
					v[at + k] = x;
		else
			for (; at < end; at++)
				v[at] = x;
		at = end;
	}
	return at == n ? ST_OK : ST_CORRUPT;
}

/*
 * The counted list that a dictionary or run lengths begin with: sets *n to
 * its number of values, at most n_max, and *list to its bytes.
 */
static StStatus
read_list(StByteReader *r, int n_max, int *n, StByteReader *list)
{
	uint64_t	count = st_read_varint(r);
	uint64_t	len = st_read_varint(r);
	const uint8_t *bytes = st_read_span(r, len);

	if (bytes == NULL || count > (uint64_t) n_max)
		return ST_CORRUPT;
	*n = (int) count;
	st_reader_init(list, bytes, len);
	return ST_OK;
}

static StStatus
decode_runs(StByteReader *r, int n, uint64_t *v)
{
	uint64_t	value[ST_VECTOR_SIZE];
	uint64_t	length[ST_VECTOR_SIZE];
	StByteReader values;
	int			nruns;
	StStatus	status = read_list(r, n, &nruns, &values);

	if (status == ST_OK)
		status = decode_level(&values, ST_INT_LEVEL_DICT, nruns, value);
	if (status == ST_OK)
		status = decode_level(r, ST_INT_LEVEL_DICT, nruns, length);
	if (status == ST_OK)
		status = expand_runs(value, length, nruns, n, v);
	return status;
}

/* ---- dictionary ---- */

static StStatus
decode_dictionary(StByteReader *r, int n, uint64_t *v)
{
	uint64_t	value[ST_VECTOR_SIZE];
	StByteReader values;
	int			nvalues;
	uint64_t	max_code = 0;
	StStatus	status = read_list(r, n, &nvalues, &values);

	if (status == ST_OK)
		status = decode_level(&values, ST_INT_LEVEL_GCD, nvalues, value);
	if (status == ST_OK)
		status = decode_level(r, ST_INT_LEVEL_LEAF, n, v);
	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
		max_code = v[i] > max_code ? v[i] : max_code;
	if (n > 0 && max_code >= (uint64_t) nvalues)
		return ST_CORRUPT;
	for (int i = 0; i < n; i++)
		v[i] = value[v[i]];
	return ST_OK;
}

/* ---- whole vectors ---- */

/*
 * Decodes the rest of r, whose outermost scheme is of at most that level.
 * v has room for ST_VECTOR_SIZE values.
 */
static StStatus
decode_level(StByteReader *r, int level, int n, uint64_t *v)
{
	int			scheme = st_read_u8(r);

	if (st_leaf_scheme(scheme))
		return st_leaf_read(r, scheme, n, v);
	if (scheme == ST_INT_DELTA && level >= ST_INT_LEVEL_DELTA)
		return decode_delta(r, n, v);
	if (scheme == ST_INT_DELTA2 && level >= ST_INT_LEVEL_DELTA)
		return decode_delta2(r, n, v);
	if (scheme == ST_INT_GCD && level >= ST_INT_LEVEL_GCD)
		return decode_gcd(r, n, v);
	if (scheme == ST_INT_DICT && level >= ST_INT_LEVEL_DICT)
		return decode_dictionary(r, n, v);
	if (scheme == ST_INT_RLE && level >= ST_INT_LEVEL_RLE)
		return decode_runs(r, n, v);
	return ST_CORRUPT;
}

StStatus
st_int_decode(const uint8_t *src, size_t len, int n, int64_t *dst)
{
	StByteReader r;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	return decode_level(&r, ST_INT_LEVEL_RLE, n, (uint64_t *) dst);
}

StStatus
st_int_decode_u32(const uint8_t *src, size_t len, int n, uint32_t *dst)
{
	uint64_t	wide[ST_VECTOR_SIZE];
	uint64_t	all = 0;
	StByteReader r;
	StStatus	status;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	status = st_leaf_read32(&r, st_read_u8(&r), n, dst);
	if (status != ST_NOTFIT)
		return status;

	st_reader_init(&r, src, len);
	status = decode_level(&r, ST_INT_LEVEL_RLE, n, wide);
	if (status != ST_OK)
		return status;
	for (int i = 0; i < n; i++)
	{
		all |= wide[i];
		dst[i] = (uint32_t) wide[i];
	}
	return all <= UINT32_MAX ? ST_OK : ST_CORRUPT;
}

/* ---- one value ---- */

static StStatus get_level(StByteReader *r, int level, int n, int i,
						  uint64_t *out);

static StStatus
get_gcd(StByteReader *r, int n, int i, uint64_t *out)
{
	uint64_t	divisor = st_read_varint(r);
	uint64_t	offset = st_read_varint(r);
	StStatus	status = get_level(r, ST_INT_LEVEL_DELTA, n, i, out);

	if (status == ST_OK)
		*out = offset + divisor * *out;
	return status;
}

static StStatus
get_dictionary(StByteReader *r, int n, int i, uint64_t *out)
{
	StByteReader values;
	int			nvalues;
	uint64_t	code;
	StStatus	status = read_list(r, n, &nvalues, &values);

	if (status == ST_OK)
		status = get_level(r, ST_INT_LEVEL_LEAF, n, i, &code);
	if (status != ST_OK)
		return status;
	if (code >= (uint64_t) nvalues)
		return ST_CORRUPT;
	return get_level(&values, ST_INT_LEVEL_GCD, nvalues, (int) code, out);
}

/* False if r is not at differences whose sum is known without decoding them. */
static bool
get_delta(StByteReader r, int scheme, int n, int i, uint64_t *out)
{
	uint64_t	k = (uint64_t) i + 1;
	uint64_t	start = (uint64_t) st_read_zigzag(&r);
	uint64_t	delta = scheme == ST_INT_DELTA2 ? (uint64_t) st_read_zigzag(&r) : 0;
	uint64_t	sum;
	uint64_t	sum_of_sums;

	if (!st_leaf_sum(r, n, (int) k, &sum, &sum_of_sums))
		return false;
	*out = start + (scheme == ST_INT_DELTA ? sum : k * delta + sum_of_sums);
	return true;
}

/* False if r is not at few runs. */
static bool
get_run(StByteReader r, int n, int i, uint64_t *out)
{
	uint64_t	length[ST_VECTOR_SIZE];
	StByteReader values;
	int			nruns;

	if (read_list(&r, n, &nruns, &values) != ST_OK || nruns > ST_INT_FEW ||
		decode_level(&r, ST_INT_LEVEL_DICT, nruns, length) != ST_OK)
		return false;
	for (int run = 0; run < nruns; run++)
	{
		if ((uint64_t) i < length[run])
			return get_level(&values, ST_INT_LEVEL_DICT, nruns, run, out) == ST_OK;
		i -= (int) length[run];
	}
	return false;
}

static StStatus
get_decoded(StByteReader *r, int level, int n, int i, uint64_t *out)
{
	uint64_t	v[ST_VECTOR_SIZE];
	StStatus	status = decode_level(r, level, n, v);

	if (status == ST_OK)
		*out = v[i];
	return status;
}

/* Value i of the rest of r: see decode_level. */
static StStatus
get_level(StByteReader *r, int level, int n, int i, uint64_t *out)
{
	int			scheme = st_read_u8(r);

	if (st_leaf_scheme(scheme))
		return st_leaf_get(r, scheme, n, i, out);
	if (scheme == ST_INT_GCD && level >= ST_INT_LEVEL_GCD)
		return get_gcd(r, n, i, out);
	if (scheme == ST_INT_DICT && level >= ST_INT_LEVEL_DICT)
		return get_dictionary(r, n, i, out);
	if ((scheme == ST_INT_DELTA || scheme == ST_INT_DELTA2) &&
		level >= ST_INT_LEVEL_DELTA && get_delta(*r, scheme, n, i, out))
		return ST_OK;
	if (scheme == ST_INT_RLE && level >= ST_INT_LEVEL_RLE && get_run(*r, n, i, out))
		return ST_OK;
	/* the scheme is read again */
	r->p--;
	return get_decoded(r, level, n, i, out);
}

StStatus
st_int_at(const uint8_t *src, size_t len, int n, int i, int64_t *out)
{
	StByteReader r;

	if (n < 0 || n > ST_VECTOR_SIZE || i < 0 || i >= n)
		return ST_CORRUPT;
	st_reader_init(&r, src, len);
	return get_level(&r, ST_INT_LEVEL_RLE, n, i, (uint64_t *) out);
}

bool
st_int_at_decodes(const uint8_t *src, size_t len)
{
	StByteReader r;
	int			scheme;

	st_reader_init(&r, src, len);
	scheme = st_read_u8(&r);
	if (scheme == ST_INT_GCD)
	{
		(void) st_read_varint(&r);
		(void) st_read_varint(&r);
		scheme = st_read_u8(&r);
	}
	if (scheme == ST_INT_RLE)
		return st_read_varint(&r) > ST_INT_FEW;
	if (scheme != ST_INT_DELTA && scheme != ST_INT_DELTA2)
		return false;
	(void) st_read_zigzag(&r);
	if (scheme == ST_INT_DELTA2)
		(void) st_read_zigzag(&r);
	return !st_leaf_is_even(r);
}

bool
st_int_constant(const uint8_t *src, size_t len, int64_t *value)
{
	StByteReader r;

	st_reader_init(&r, src, len);
	if (st_read_u8(&r) != ST_INT_CONSTANT)
		return false;
	*value = st_read_zigzag(&r);
	return st_reader_finish(&r) == ST_OK;
}
