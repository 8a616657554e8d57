/*-------------------------------------------------------------------------
 *
 * rc_scheme.c
 *	  What the pieces of a column of bytes share, chosen from all values of
 *	  the row group.
 *
 * Three forms: codes of a sorted dictionary, where few distinct values
 * repeat; st_str vectors (alphabet, FSST) that give a value without its
 * neighbours; raw vectors inside of codec frames, one a piece, helped by a
 * dictionary of the codec where one that was trained on some batches makes
 * others enough smaller to pay for itself.  A sample of whole pieces decides,
 * as they will be written.
 *
 *	 scheme = | u8 parts | dictionary | string scheme | dictionary of codec |
 *	 dictionary = | entries v | bytes raw v | stored bytes, length first:
 *	              per 1,024 entries, length v and st_str raw vector |
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "rc_column.h"
#include "sf_bytes.h"
#include "st_compat.h"
#include "st_hint.h"
#include "st_yield.h"

/* A dictionary has at most these bytes. */
#define DICT_MAX_BYTES		(1024 * 1024)

/* Groups of a load that go without a try, after tries that have failed. */
#define MAX_WAIT_DICTIONARY	7

/* Pieces that are encoded to see how small they get. */
#define SAMPLE_PIECES		8

/* A dictionary of the codec: its size, and what it is trained on. */
#define TRAIN_DICT_BYTES	(16 * 1024)
#define TRAIN_BYTES			(192 * 1024)
#define TRAIN_MIN_BYTES		(256 * 1024)
#define TRAIN_MIN_BATCHES	(4 * SAMPLE_PIECES)

/* A dictionary of the group before is good if it packs nearly as well as there. */
#define TRAINED_SLACK(permille) ((permille) + (permille) / 16 + 2)

/* Short frames may take more than long ones: a fetch unpacks a twentieth. */
#define TRAINED_LOSS(size)	((size) + (size) / 8)

/* A value out of a frame costs the frame, one out of a vector only itself. */
#define FRAME_GAIN(size)	((size) + (size) / 12)

/* ---- dictionary ---- */

static void
write_dictionary(RcCodec *codec, const RcScheme *scheme, StringInfo meta)
{
	StringInfoData raw;
	Size		stored;

	sf_dictionary_encode(scheme->entries, scheme->nentries, &raw);
	stored = rc_codec_frame(codec, NULL, raw.data, raw.len);
	sf_dictionary_put(meta, scheme->nentries, &raw, codec->packed, stored);
}

/* ---- samples ---- */

/* The batch that is the i-th of n samples. */
static uint32
sample_batch(const RcBatches *batches, int i, int n)
{
	return (uint32) ((uint64) batches->n * (2 * i + 1) / (2 * n));
}

/* The values of a batch that are neither null nor large; returns how many. */
static int
batch_values(const RcColumn *col, const RcBatches *batches, uint32 batch, StStr *v)
{
	int			n = 0;

	for (uint32 row = batches->first[batch]; row < batches->first[batch + 1]; row++)
	{
		const StStr *s = &col->u.str[row];

		if (s->data != NULL && s->len < RC_LARGE_BYTES)
			v[n++] = *s;
	}
	return n;
}

/*
 * Bytes of the sample's pieces in frames, or as vectors of a scheme; *raw:
 * of its values.
 */
static Size
sample_size(const RcColumn *col, RcCodec *codec, const RcBatches *batches,
			const StStrScheme *scheme, const StCodecDict *dict, Size *raw)
{
	Size		size = 0;
	int			npieces = Min(SAMPLE_PIECES, batches->n);
	StStr	   *v = palloc(RC_MAX_BATCH_ROWS * sizeof(StStr));
	StringInfoData buf;

	*raw = 0;
	initStringInfo(&buf);
	for (int i = 0; i < npieces; i++)
	{
		int			n = batch_values(col, batches, sample_batch(batches, i, npieces), v);

		CHECK_FOR_INTERRUPTS();
		st_yield();
		if (n == 0)
			continue;
		for (int k = 0; k < n; k++)
			*raw += v[k].len;
		resetStringInfo(&buf);
		if (scheme)
			size += rc_encode_strings(scheme, v, n, &buf);
		else
			size += rc_encode_frames(codec, dict, v, n, &buf);
	}
	pfree(buf.data);
	pfree(v);
	return size;
}

/* Some values from all over the column, for the choice of a string scheme. */
static int
sample_values(const RcColumn *col, const RcBatches *batches, StStr *sample)
{
	int			nbatches = Min(SAMPLE_PIECES, batches->n);
	StStr	   *v = palloc(RC_MAX_BATCH_ROWS * sizeof(StStr));
	int			total = 0;

	for (int i = 0; i < nbatches; i++)
	{
		int			n = batch_values(col, batches, sample_batch(batches, i, nbatches), v);

		n = Min(n, ST_VECTOR_SIZE / nbatches);
		memcpy(sample + total, v, n * sizeof(StStr));
		total += n;
	}
	pfree(v);
	return total;
}

/* ---- dictionary of the codec ---- */

/* Trains on values of batches that the sample leaves out; returns the length. */
static Size
train(const RcColumn *col, const RcBatches *batches, uint8 *dict)
{
	int			nbatches = 2 * SAMPLE_PIECES;
	StStr	   *v = palloc(RC_MAX_BATCH_ROWS * sizeof(StStr));
	uint8	   *bytes = palloc(TRAIN_BYTES);
	size_t	   *sizes = palloc(nbatches * RC_MAX_BATCH_ROWS * sizeof(size_t));
	Size		used = 0;
	unsigned	nsamples = 0;
	size_t		len = 0;

	for (int i = 0; i < nbatches; i++)
	{
		uint32		batch = sample_batch(batches, i, nbatches);
		int			n = batch_values(col, batches, batch, v);
		Size		share = (TRAIN_BYTES - used) / (nbatches - i);
		Size		taken = 0;

		for (int k = 0; k < n && taken + v[k].len <= share; k++)
		{
			memcpy(bytes + used, v[k].data, v[k].len);
			sizes[nsamples++] = v[k].len;
			used += v[k].len;
			taken += v[k].len;
		}
	}
	if (nsamples == 0 ||
		st_codec_train(bytes, sizes, nsamples, dict, TRAIN_DICT_BYTES, &len) != ST_OK)
		len = 0;
	pfree(sizes);
	pfree(bytes);
	pfree(v);
	return len;
}

static void
forget_trained(RcColumn *col)
{
	rc_column_release(col);
	if (col->trained.bytes)
		pfree(col->trained.bytes);
	memset(&col->trained, 0, sizeof(col->trained));
}

/* Trains a dictionary of the codec for the column; false if that fails. */
static bool
make_trained(RcColumn *col, RcCodec *codec, const RcBatches *batches)
{
	RcTrained  *t = &col->trained;

	forget_trained(col);
	t->bytes = MemoryContextAlloc(col->mcxt, TRAIN_DICT_BYTES);
	t->len = train(col, batches, t->bytes);
	t->codec = codec->codec;
	t->level = codec->level;
	if (t->len == 0)
	{
		forget_trained(col);
		return false;
	}
	t->digested = st_codec_dict_create(codec->codec, codec->level, ST_CODEC_PACK,
									   t->bytes, t->len);
	if (t->digested == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	return true;
}

/* What the column's pieces take with its dictionary, by the sample. */
static Size
trained_size(RcColumn *col, RcCodec *codec, const RcBatches *batches, uint32 *permille)
{
	Size		raw;
	Size		size = sample_size(col, codec, batches, NULL, col->trained.digested, &raw);

	*permille = raw > 0 ? size * 1000 / raw : 0;
	return size + col->trained.len * SAMPLE_PIECES / batches->n;
}

/*
 * Finds a dictionary of the codec: that of the load's group before, if the
 * sample takes as little with it as there, else a new one.  *framed is the
 * sample's size with frames.  The dictionary is used if it makes that
 * smaller, or not much larger: frames are short then, and a fetch is
 * cheaper.
 */
static void
try_codec_dict(RcColumn *col, RcCodec *codec, const RcBatches *batches,
			   RcScheme *scheme, Size *framed)
{
	RcTrained  *t = &col->trained;
	Size		with = 0;
	uint32		permille;
	bool		again = false;

	if (codec->codec == ST_CODEC_NONE || batches->n < TRAIN_MIN_BATCHES ||
		col->bytes < TRAIN_MIN_BYTES)
		return;
	if (t->bytes && t->codec == codec->codec && t->level == codec->level)
	{
		with = trained_size(col, codec, batches, &permille);
		again = permille <= TRAINED_SLACK(t->permille);
	}
	if (!again)
	{
		if (!make_trained(col, codec, batches))
			return;
		with = trained_size(col, codec, batches, &t->permille);
	}
	if (with > TRAINED_LOSS(*framed))
		return;
	*framed = with;
	scheme->trained = t;
}

/* ---- the choice ---- */

static void
choose_strings(RcColumn *col, RcCodec *codec, const RcBatches *batches,
			   RcScheme *scheme)
{
	StStr	   *sample = palloc(ST_VECTOR_SIZE * sizeof(StStr));
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	StStrScheme *str = palloc(sizeof(StStrScheme));
	int			n = sample_values(col, batches, sample);
	Size		bytes;
	Size		plain;
	Size		framed;

	st_str_scheme_raw(raw);
	st_str_choose(sample, n, str);
	plain = sample_size(col, codec, batches, str, NULL, &bytes);
	framed = sample_size(col, codec, batches, NULL, NULL, &bytes);
	if (str->kind != ST_STR_ALPHABET || plain > framed)
		try_codec_dict(col, codec, batches, scheme, &framed);

	scheme->str = str;
	scheme->framed = FRAME_GAIN(framed) < plain;
	if (!scheme->framed)
		scheme->trained = NULL;
	else
		scheme->str = raw;
	pfree(sample);
}

void
rc_scheme_choose(RcColumn *col, RcCodec *codec, const RcBatches *batches,
				 RcScheme *scheme)
{
	memset(scheme, 0, sizeof(*scheme));
	if (col->storage != SF_STORE_BYTES || col->nnulls == col->nrows)
		return;
	if (col->type.kind == SF_KIND_NUMERIC)
	{
		scheme->str = palloc(sizeof(StStrScheme));
		st_str_scheme_raw(scheme->str);
		scheme->framed = true;
		return;
	}
	if (col->nlarge == 0 && st_hint_due(&col->skip_dictionary))
	{
		scheme->dictionary =
			sf_dictionary_build(col->u.str, col->nrows, col->bytes, DICT_MAX_BYTES,
								&scheme->codes, &scheme->entries, &scheme->nentries);
		st_hint_learn(scheme->dictionary, &col->skip_dictionary,
					  &col->wait_dictionary, MAX_WAIT_DICTIONARY);
	}
	if (!scheme->dictionary)
		choose_strings(col, codec, batches, scheme);
}

void
rc_scheme_write(const RcColumn *col, RcCodec *codec, const RcScheme *scheme,
				StringInfo meta)
{
	uint8		parts = 0;

	if (scheme->dictionary)
		parts |= RC_SCHEME_DICT;
	if (scheme->str)
		parts |= RC_SCHEME_STR;
	if (scheme->trained)
		parts |= RC_SCHEME_CODEC_DICT;
	if (parts == 0)
		return;
	appendStringInfoChar(meta, (char) parts);
	if (scheme->dictionary)
		write_dictionary(codec, scheme, meta);
	if (scheme->str)
		sf_put_scheme(meta, scheme->str);
	if (scheme->trained)
		sf_put_bytes(meta, scheme->trained->bytes, scheme->trained->len);
}
