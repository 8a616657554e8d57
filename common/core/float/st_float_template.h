/*-------------------------------------------------------------------------
 *
 * st_float_template.h
 *	  The encoding of one floating point type; included once per type.
 *
 * Parameters, undefined at the end:
 *
 *		FP(name)		name of a function for this type: st_f64_##name
 *		FP_TYPE			double or float
 *		FP_WORD			unsigned integer of the same size
 *		FP_WORD_BITS	its bits
 *		FP_UNPACK		st_bitunpack or st_bitunpack32
 *		FP_ALP_VALUES	st_alp_values or st_alp_values32
 *
 * Layout of a vector of n values; word: the value's bits:
 *
 *		u8			scheme
 *		constant:	word
 *		raw:		n words
 *		alp:		u8 mode, u16 k
 *					varint number of exceptions, u16 position of each, word
 *					of each
 *					st_int: n integers (anything at an exception)
 *		alprd:		u8 trailing zero bits that all words share and lack; 0x80
 *					set: the sign is the lowest bit
 *					u8 bits of the right parts
 *					st_bitpack: right parts
 *					left parts (st_float_left.c)
 *
 *-------------------------------------------------------------------------
 */
#define FP_BYTES ((size_t) (FP_WORD_BITS / 8))
#define FP_SIGN ((FP_WORD) 1 << (FP_WORD_BITS - 1))
#define FP_SIGN_LOW 0x80

/* scheme byte; that, mode and exponent */
#define FP_HEADER 1
#define FP_ALP_HEADER 4

ST_INLINE FP_WORD
FP(word) (FP_TYPE v)
{
	FP_WORD		word;

	memcpy(&word, &v, sizeof(word));
	return word;
}

/* By memory: a signalling NaN must not pass through a conversion. */
ST_INLINE void
FP(store) (FP_TYPE *dst, FP_WORD word)
{
	memcpy(dst, &word, sizeof(word));
}

size_t
FP(bound) (int n)
{
	return FP_HEADER + (n > 0 ? (size_t) n : 1) * FP_BYTES;
}

/* ---- ALP: encode ---- */

/* The integer of v, if it makes v again. */
ST_INLINE bool
FP(integer) (const StAlpParam *param, FP_TYPE v, int64_t *d)
{
	if (!st_alp_round((double) v * param->scale, d))
		return false;
	return FP(word) ((FP_TYPE) st_alp_value(param, *d)) == FP(word) (v);
}

/*
 * Estimated bits for the vector with these parameters, from the values of a
 * sample: the range of the integers, and exceptions.
 */
static uint64_t
FP(alp_estimate) (const StAlpParam *param, const FP_TYPE *sample, int m, int n)
{
	int64_t		min = INT64_MAX;
	int64_t		max = INT64_MIN;
	int			fit = 0;

	for (int i = 0; i < m; i++)
	{
		int64_t		d;

		if (!FP(integer) (param, sample[i], &d))
		{
			if ((i + 1 - fit) * 2 > m)
				return UINT64_MAX;
			continue;
		}
		fit++;
		min = d < min ? d : min;
		max = d > max ? d : max;
	}
	return ((uint64_t) n * (unsigned) fit *
			(unsigned) st_bit_width((uint64_t) max - (uint64_t) min) +
			(uint64_t) n * (unsigned) (m - fit) * (FP_WORD_BITS + 16)) /
		(unsigned) m;
}

/*
 * Lowest set bit of any finite value as a power of two, for the binary mode:
 * v is a multiple of 2^-k.  False if there is none, or no such k.
 */
static bool
FP(binary_exponent) (const FP_TYPE *v, int n, int *k)
{
	int			lowest = INT_MAX;

	for (int i = 0; i < n; i++)
	{
		double		wide = (double) v[i];
		uint64_t	word = st_load_u64(&wide);
		uint64_t	mantissa = word & ((UINT64_C(1) << 52) - 1);
		int			exponent = (int) (word >> 52 & 0x7ff);
		int			low;

		if (exponent == 0x7ff || exponent == 0)
			continue;			/* infinite, NaN, zero, denormal */
		low = exponent - 1075 +
			__builtin_ctzll(mantissa | UINT64_C(1) << 52);
		lowest = low < lowest ? low : lowest;
	}
	*k = -lowest;
	return lowest < 0 && -lowest <= ST_ALP_MAX_BINARY;
}

/*
 * Do neighbouring integers differ by fewer bits?  Then st_int_encode makes
 * less of them than alp_estimate says.
 */
static uint64_t
FP(alp_estimate_delta) (const StAlpParam *param, const FP_TYPE *v, int n)
{
	int			m = n < ST_ALP_SAMPLE ? n : ST_ALP_SAMPLE;
	int64_t		last = 0;
	uint64_t	widest = 0;

	for (int i = 0; i < m; i++)
	{
		int64_t		d;

		if (!FP(integer) (param, v[i], &d))
			continue;
		if (i > 0)
			widest |= st_zigzag_encode(d - last);
		last = d;
	}
	return (uint64_t) n * (unsigned) st_bit_width(widest);
}

/*
 * The best parameters for the vector, and the bits to expect; false if ALP
 * is no use.
 */
static bool
FP(alp_choose) (const FP_TYPE *v, int n, StAlpParam *best, uint64_t *estimate)
{
	FP_TYPE		sample[ST_ALP_SAMPLE];
	int			m = n < ST_ALP_SAMPLE ? n : ST_ALP_SAMPLE;
	uint64_t	best_bits = (uint64_t) n * FP_WORD_BITS;
	bool		found = false;
	int			binary_k;

	for (int i = 0; i < m; i++)
		sample[i] = v[(int64_t) i * n / m];
	for (int mode = ST_ALP_DIVIDE; mode <= ST_ALP_BINARY; mode++)
	{
		int			low = mode == ST_ALP_DIVIDE ? 0 : 1;
		int			high = ST_ALP_MAX_DECIMAL;

		if (mode == ST_ALP_BINARY)
		{
			if (!FP(binary_exponent) (v, n, &binary_k))
				break;
			low = high = binary_k;
		}
		for (int k = low; k <= high; k++)
		{
			StAlpParam	param;
			uint64_t	bits;

			if (!st_alp_param(mode, k, &param))
				continue;
			bits = FP(alp_estimate) (&param, sample, m, n);
			/* another mode must be better by more than chance */
			if (bits < best_bits && (!found || mode == best->mode ||
									 bits < best_bits - best_bits / 32))
			{
				best_bits = bits;
				*best = param;
				found = true;
			}
		}
	}
	if (found)
	{
		*estimate = FP(alp_estimate_delta) (best, v, n);
		if (best_bits < *estimate)
			*estimate = best_bits;
	}
	return found;
}

static StStatus
FP(alp_encode) (const FP_TYPE *v, int n, const StAlpParam *param,
				StFloatHint *hint, uint8_t *dst, size_t cap, size_t *len)
{
	int64_t		d[ST_VECTOR_SIZE];
	uint16_t	except[ST_VECTOR_SIZE];
	int			nexcept = 0;
	int			first = 0;		/* that is no exception */
	int64_t		last = 0;
	StByteWriter w;
	size_t		intlen;
	StStatus	status;

	for (int i = 0; i < n; i++)
	{
		if (!FP(integer) (param, v[i], &d[i]))
		{
			except[nexcept++] = (uint16_t) i;
			d[i] = last;
		}
		last = d[i];
	}
	/* the first values may have found no neighbour to copy */
	while (first < nexcept && except[first] == first)
		first++;
	for (int i = 0; i < first && first < n; i++)
		d[i] = d[first];

	if (cap < FP_ALP_HEADER)
		return ST_NOSPACE;
	dst[0] = ST_FLOAT_ALP;
	dst[1] = (uint8_t) param->mode;
	st_store_u16(dst + 2, (uint16_t) param->k);
	st_writer_init(&w, dst + FP_ALP_HEADER, cap - FP_ALP_HEADER);
	st_write_varint(&w, (uint64_t) nexcept);
	for (int k = 0; k < nexcept; k++)
		st_write_u16(&w, except[k]);
	for (int k = 0; k < nexcept; k++)
	{
		FP_WORD		word = FP(word) (v[except[k]]);

		st_write_bytes(&w, &word, sizeof(word));
	}
	if (w.status != ST_OK)
		return w.status;
	status = st_int_encode_next(d, n, hint ? &hint->ints : NULL, w.p,
								st_writer_left(&w), &intlen);
	*len = FP_ALP_HEADER + st_writer_len(&w) + intlen;
	return status;
}

/* ---- ALP-RD: encode ---- */

/* Bits that ALP-RD works on, between the sign and the zeros at the end. */
typedef struct FP(Cut)
{
	int			zeros;			/* trailing zero bits, dropped */
	bool		sign_low;		/* the sign is moved to the lowest bit */
	int			width;			/* of the words that are left */
} FP(Cut);

static void
FP(find_cut) (const FP_TYPE *v, int n, FP(Cut) *cut)
{
	FP_WORD		any = 0;
	FP_WORD		negative = 0;
	FP_WORD		positive = 0;

	for (int i = 0; i < n; i++)
	{
		FP_WORD		word = FP(word) (v[i]);

		any |= word & ~FP_SIGN;
		negative |= word & FP_SIGN;
		positive |= ~word & FP_SIGN;
	}
	cut->zeros = any == 0 ? 0 : __builtin_ctzll(any);
	cut->sign_low = negative != 0 && positive != 0;
	cut->width = FP_WORD_BITS - cut->zeros;
}

ST_INLINE FP_WORD
FP(cut_word) (const FP(Cut) *cut, FP_WORD word)
{
	if (!cut->sign_low)
		return word >> cut->zeros;
	return (FP_WORD) ((word & ~FP_SIGN) >> cut->zeros << 1) |
		(word >> (FP_WORD_BITS - 1));
}

ST_INLINE FP_WORD
FP(join_word) (int zeros, bool sign_low, FP_WORD cut)
{
	if (!sign_low)
		return (FP_WORD) (cut << zeros);
	return (FP_WORD) (cut >> 1 << zeros) |
		(FP_WORD) (cut << (FP_WORD_BITS - 1));
}

typedef struct FP(RdPlan)
{
	FP(Cut)		cut;
	StLeftPlan	left;
	uint64_t	word[ST_VECTOR_SIZE];	/* cut */
} FP(RdPlan);

static void
FP(alprd_plan) (const FP_TYPE *v, int n, FP(RdPlan) *plan)
{
	uint16_t	top[ST_VECTOR_SIZE];
	int			shift;

	FP(find_cut) (v, n, &plan->cut);
	shift = plan->cut.width > ST_LEFT_MAX_BITS ?
		plan->cut.width - ST_LEFT_MAX_BITS : 0;
	for (int i = 0; i < n; i++)
	{
		plan->word[i] = FP(cut_word) (&plan->cut, FP(word) (v[i]));
		top[i] = (uint16_t) (plan->word[i] >> shift);
	}
	st_left_plan(top, n, plan->cut.width, &plan->left);
}

static StStatus
FP(alprd_encode) (const FP(RdPlan) *plan, int n, uint8_t *dst, size_t cap,
				  size_t *len)
{
	const FP(Cut) *cut = &plan->cut;
	uint16_t	left[ST_VECTOR_SIZE];
	int			right_bits = cut->width - plan->left.bits;
	uint8_t    *right;
	StByteWriter w;

	for (int i = 0; i < n; i++)
		left[i] = (uint16_t)
			(right_bits < 64 ? plan->word[i] >> right_bits : 0);
	st_writer_init(&w, dst, cap);
	st_write_u8(&w, ST_FLOAT_ALPRD);
	st_write_u8(&w, (uint8_t)
				(cut->zeros | (cut->sign_low ? FP_SIGN_LOW : 0)));
	st_write_u8(&w, (uint8_t) right_bits);
	right = st_write_span(&w, st_bitpack_size(n, right_bits));
	if (right == NULL)
		return ST_NOSPACE;
	st_bitpack(plan->word, n, 0, right_bits, right);
	st_left_encode(&plan->left, left, n, &w);
	*len = st_writer_len(&w);
	return w.status;
}

/* ---- encode ---- */

static bool
FP(is_constant) (const FP_TYPE *v, int n)
{
	for (int i = 1; i < n; i++)
	{
		if (FP(word) (v[i]) != FP(word) (v[0]))
			return false;
	}
	return n > 0;
}

/*
 * Encodes by ALP or ALP-RD, whichever is smaller, into fewer than cap bytes.
 * Each is carried out only if its estimate is good enough; without try_alp,
 * ALP is not.
 */
static StStatus
FP(alp_or_alprd) (const FP_TYPE *v, int n, StFloatHint *hint, bool try_alp,
				  uint8_t *dst, size_t cap, size_t *len)
{
	uint8_t		other[FP_HEADER + ST_VECTOR_SIZE * sizeof(FP_TYPE)];
	size_t		otherlen;
	StAlpParam	param = {0};
	uint64_t	alp_bits = UINT64_MAX;
	FP(RdPlan)	plan;
	StStatus	status = ST_NOSPACE;

	/* real doubles never get as small as a third */
	if (try_alp && FP(alp_choose) (v, n, &param, &alp_bits) &&
		alp_bits < (uint64_t) n * FP_WORD_BITS / 3)
	{
		status = FP(alp_encode) (v, n, &param, hint, dst, cap, len);
		if (status == ST_OK && *len < cap / 3)
			return ST_OK;
	}
	FP(alprd_plan) (v, n, &plan);
	if (status != ST_OK && alp_bits < plan.left.total_bits)
		status = FP(alp_encode) (v, n, &param, hint, dst, cap, len);
	if (plan.left.total_bits / 8 < (status == ST_OK ? *len : cap) &&
		FP(alprd_encode) (&plan, n, other, status == ST_OK ? *len : cap,
						  &otherlen) == ST_OK)
	{
		memcpy(dst, other, otherlen);
		*len = otherlen;
		status = ST_OK;
	}
	return status;
}

StStatus
FP(encode) (const FP_TYPE *v, int n, uint8_t *dst, size_t cap, size_t *len)
{
	return FP(encode_next) (v, n, NULL, dst, cap, len);
}

StStatus
FP(encode_next) (const FP_TYPE *v, int n, StFloatHint *hint,
				 uint8_t *dst, size_t cap, size_t *len)
{
	size_t		raw = FP_HEADER + (size_t) n * FP_BYTES;
	bool		try_alp;
	StStatus	status;

	if (n < 0 || n > ST_VECTOR_SIZE)
		return ST_NOTFIT;
	if (cap < FP(bound) (n))
		return ST_NOSPACE;
	if (FP(is_constant) (v, n))
	{
		dst[0] = ST_FLOAT_CONSTANT;
		memcpy(dst + FP_HEADER, v, FP_BYTES);
		*len = FP_HEADER + FP_BYTES;
		return ST_OK;
	}
	if (n > 0)
	{
		try_alp = hint == NULL || st_hint_due(&hint->skip_alp);
		status = FP(alp_or_alprd) (v, n, hint, try_alp, dst, raw - 1, len);
		if (hint != NULL && try_alp)
			st_hint_learn(status == ST_OK && dst[0] == ST_FLOAT_ALP,
						  &hint->skip_alp, &hint->wait_alp, ST_HINT_MAX_WAIT);
		if (status == ST_OK)
			return ST_OK;
	}
	dst[0] = ST_FLOAT_RAW;
	if (n > 0)
		memcpy(dst + FP_HEADER, v, (size_t) n * FP_BYTES);
	*len = raw;
	return ST_OK;
}

/* ---- ALP: decode ---- */

typedef struct FP(Alp)
{
	StAlpParam	param;
	int			nexcept;
	const uint8_t *position;
	const uint8_t *word;
	const uint8_t *ints;
	size_t		intlen;
} FP(Alp);

static StStatus
FP(alp_parse) (const uint8_t *src, size_t len, int n, FP(Alp) *a)
{
	StByteReader r;
	uint8_t		mode;
	uint16_t	k;
	uint64_t	nexcept;

	st_reader_init(&r, src, len);
	mode = st_read_u8(&r);
	k = st_read_u16(&r);
	nexcept = st_read_varint(&r);
	if (nexcept > (uint64_t) n)
		return ST_CORRUPT;
	a->nexcept = (int) nexcept;
	a->position = st_read_span(&r, 2 * nexcept);
	a->word = st_read_span(&r, nexcept * FP_BYTES);
	a->ints = st_read_rest(&r, &a->intlen);
	if (st_reader_finish(&r) != ST_OK ||
		!st_alp_param(mode, k, &a->param) ||
		!st_exceptions_valid(a->position, a->nexcept, n))
		return ST_CORRUPT;
	return ST_OK;
}

static StStatus
FP(alp_decode) (const uint8_t *src, size_t len, int n, FP_TYPE *dst)
{
	FP(Alp)		a;
	int64_t		d[ST_VECTOR_SIZE];
	StStatus	status = FP(alp_parse) (src, len, n, &a);

	if (status == ST_OK)
		status = st_int_decode(a.ints, a.intlen, n, d);
	if (status != ST_OK)
		return status;
	FP_ALP_VALUES(&a.param, d, n, dst);
	for (int k = 0; k < a.nexcept; k++)
		memcpy(&dst[st_load_u16(a.position + 2 * k)],
			   a.word + (size_t) k * FP_BYTES, FP_BYTES);
	return ST_OK;
}

static StStatus
FP(alp_at) (const uint8_t *src, size_t len, int n, int i, FP_TYPE *out)
{
	FP(Alp)		a;
	int64_t		d;
	int			k;
	StStatus	status = FP(alp_parse) (src, len, n, &a);

	if (status != ST_OK)
		return status;
	k = st_exception_find(a.position, a.nexcept, i);
	if (k >= 0)
	{
		memcpy(out, a.word + (size_t) k * FP_BYTES, FP_BYTES);
		return ST_OK;
	}
	status = st_int_at(a.ints, a.intlen, n, i, &d);
	if (status == ST_OK)
		*out = (FP_TYPE) st_alp_value(&a.param, d);
	return status;
}

/* ---- ALP-RD: decode ---- */

typedef struct FP(AlpRd)
{
	int			zeros;
	bool		sign_low;
	int			right_bits;
	const uint8_t *right;
	StByteReader left;
} FP(AlpRd);

static StStatus
FP(alprd_parse) (const uint8_t *src, size_t len, int n, FP(AlpRd) *a)
{
	uint8_t		first;

	st_reader_init(&a->left, src, len);
	first = st_read_u8(&a->left);
	a->zeros = first & ~FP_SIGN_LOW;
	a->sign_low = (first & FP_SIGN_LOW) != 0;
	a->right_bits = st_read_u8(&a->left);
	if (a->zeros >= FP_WORD_BITS || a->right_bits > FP_WORD_BITS)
		return ST_CORRUPT;
	a->right = st_read_span(&a->left, st_bitpack_size(n, a->right_bits));
	return a->left.status;
}

/* A left part where it belongs; bits that damage set too high are lost. */
ST_INLINE FP_WORD
FP(place_left) (uint16_t left, int right_bits)
{
	return right_bits < FP_WORD_BITS ? (FP_WORD) left << right_bits : 0;
}

static StStatus
FP(alprd_decode) (const uint8_t *src, size_t len, int n, FP_TYPE *dst)
{
	FP(AlpRd)	a;
	uint16_t	dict[ST_LEFT_MAX_CODES];
	FP_WORD		left[ST_LEFT_MAX_CODES];
	uint8_t		code[ST_VECTOR_SIZE];
	FP_WORD		word[ST_VECTOR_SIZE];
	StLeftExceptions except;
	StStatus	status = FP(alprd_parse) (src, len, n, &a);

	if (status == ST_OK)
		status = st_left_decode(&a.left, n, dict, code, &except);
	if (status != ST_OK)
		return status;
	for (int k = 0; k < ST_LEFT_MAX_CODES; k++)
		left[k] = FP(place_left) (dict[k], a.right_bits);
	FP_UNPACK(a.right, n, 0, a.right_bits, word);

	/* exceptions first: their codes' left parts must not be added */
	for (int k = 0; k < except.n; k++)
	{
		int			i = st_load_u16(except.position + 2 * k);
		uint16_t	value = st_load_u16(except.value + 2 * k);

		word[i] |= FP(place_left) (value, a.right_bits);
		word[i] ^= left[code[i]];
	}
	if (a.zeros == 0 && !a.sign_low)
	{
		for (int i = 0; i < n; i++)
			FP(store) (&dst[i], word[i] ^ left[code[i]]);
		return ST_OK;
	}
	for (int i = 0; i < n; i++)
		FP(store) (&dst[i], FP(join_word) (a.zeros, a.sign_low,
										   word[i] ^ left[code[i]]));
	return ST_OK;
}

static StStatus
FP(alprd_at) (const uint8_t *src, size_t len, int n, int i, FP_TYPE *out)
{
	FP(AlpRd)	a;
	uint16_t	left = 0;
	FP_WORD		word;
	StStatus	status = FP(alprd_parse) (src, len, n, &a);

	if (status == ST_OK)
		status = st_left_at(&a.left, n, i, &left);
	if (status != ST_OK)
		return status;
	word = (FP_WORD) st_bitpack_get(a.right, n, a.right_bits, i) ^
		FP(place_left) (left, a.right_bits);
	FP(store) (out, FP(join_word) (a.zeros, a.sign_low, word));
	return ST_OK;
}

/* ---- decode ---- */

StStatus
FP(decode) (const uint8_t *src, size_t len, int n, FP_TYPE *dst)
{
	if (n < 0 || n > ST_VECTOR_SIZE || len < FP_HEADER)
		return ST_CORRUPT;
	len -= FP_HEADER;
	switch (src[0])
	{
		case ST_FLOAT_CONSTANT:
			if (len != FP_BYTES)
				return ST_CORRUPT;
			for (int i = 0; i < n; i++)
				memcpy(&dst[i], src + FP_HEADER, FP_BYTES);
			return ST_OK;
		case ST_FLOAT_RAW:
			if (len != (size_t) n * FP_BYTES)
				return ST_CORRUPT;
			if (n > 0)
				memcpy(dst, src + FP_HEADER, len);
			return ST_OK;
		case ST_FLOAT_ALP:
			return FP(alp_decode) (src + FP_HEADER, len, n, dst);
		case ST_FLOAT_ALPRD:
			return FP(alprd_decode) (src + FP_HEADER, len, n, dst);
		default:
			return ST_CORRUPT;
	}
}

StStatus
FP(at) (const uint8_t *src, size_t len, int n, int i, FP_TYPE *out)
{
	FP_TYPE		all[ST_VECTOR_SIZE];
	StStatus	status;

	if (n < 0 || n > ST_VECTOR_SIZE || i < 0 || i >= n || len < FP_HEADER)
		return ST_CORRUPT;
	if (src[0] == ST_FLOAT_ALP)
		return FP(alp_at) (src + FP_HEADER, len - FP_HEADER, n, i, out);
	if (src[0] == ST_FLOAT_ALPRD)
		return FP(alprd_at) (src + FP_HEADER, len - FP_HEADER, n, i, out);
	status = FP(decode) (src, len, n, all);
	if (status == ST_OK)
		memcpy(out, &all[i], FP_BYTES);
	return status;
}

#undef FP
#undef FP_TYPE
#undef FP_WORD
#undef FP_WORD_BITS
#undef FP_UNPACK
#undef FP_ALP_VALUES
#undef FP_BYTES
#undef FP_SIGN
#undef FP_SIGN_LOW
#undef FP_HEADER
#undef FP_ALP_HEADER
