/*-------------------------------------------------------------------------
 *
 * st_fsst_train.c
 *	  Builds FSST's symbol table from a sample.
 *
 * Five generations (see st_fsst.c for the paper).  Each encodes the sample
 * with the table so far and counts how often each symbol, each escaped byte
 * and each pair of neighbours came up.  The next table is the 255 of them
 * that cover most bytes: symbols may grow by being joined with what follows
 * them.  The last generation joins nothing: it drops what did not prove
 * useful.
 *
 * Instead of a 512 x 512 matrix, pairs are counted by sorting the positions
 * by the first of the two, so that all state (about 270 kB) fits on the
 * stack.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "st_str_internal.h"

#define GENERATIONS 5

/* A symbol 0 .. 254, or 256 + an escaped byte. */
#define NUM_TOKENS 512
#define TOKEN_ESCAPED 256

/* Separates strings in the token sequence. */
#define TOKEN_NONE 0xffff

/* Pairs that come up less often than this are noise. */
#define MIN_PAIR_COUNT 4

/*
 * There are at most NUM_TOKENS + 256 candidates from single tokens and
 * ST_FSST_SAMPLE / MIN_PAIR_COUNT from pairs.
 */
#define CANDIDATE_SLOTS 8192

typedef struct Candidate
{
	uint64_t	sym;
	uint32_t	gain;			/* bytes of the sample that it covers */
	uint32_t	len;			/* 0 = free slot */
} Candidate;

typedef struct TrainState
{
	StFsstEncoder enc;
	int			ntokens;
	uint16_t	tokens[ST_FSST_SAMPLE]; /* separators included */
	uint16_t	followers[ST_FSST_SAMPLE];	/* grouped by the token before */
	uint32_t	start[NUM_TOKENS + 1];	/* of each group of followers */
	uint32_t	count[NUM_TOKENS];
	uint32_t	first_byte[256];	/* how often a symbol began with it */
	Candidate	candidates[CANDIDATE_SLOTS];
} TrainState;

/* ---- counting ---- */

/* Encodes the sample into tokens and counts them. */
static void
count_tokens(TrainState *t, const StStr *sample, int n)
{
	size_t		room = ST_FSST_SAMPLE;	/* bytes of strings, separators */

	t->ntokens = 0;
	memset(t->count, 0, sizeof(t->count));
	memset(t->first_byte, 0, sizeof(t->first_byte));
	for (int i = 0; i < n; i++)
	{
		const uint8_t *p = sample[i].data;
		size_t		remaining = sample[i].len;

		if (room < 2)
			break;
		if (remaining == 0)
			continue;
		if (remaining > room - 1)
			remaining = room - 1;
		room -= remaining + 1;
		while (remaining > 0)
		{
			unsigned	len;
			unsigned	token;

			token = st_fsst_match(&t->enc, st_load_partial(p, remaining),
								  remaining, &len);
			if (token == ST_FSST_ESCAPE)
				token = TOKEN_ESCAPED + *p;
			else if (len > 1)
				t->first_byte[*p]++;
			t->count[token]++;
			t->tokens[t->ntokens++] = (uint16_t) token;
			p += len;
			remaining -= len;
		}
		t->tokens[t->ntokens++] = TOKEN_NONE;
	}
}

/* Groups the tokens that follow another by that other. */
static void
group_followers(TrainState *t)
{
	uint32_t	next[NUM_TOKENS];

	memset(t->start, 0, sizeof(t->start));
	for (int i = 0; i + 1 < t->ntokens; i++)
	{
		if (t->tokens[i] != TOKEN_NONE && t->tokens[i + 1] != TOKEN_NONE)
			t->start[t->tokens[i] + 1]++;
	}
	for (int k = 0; k < NUM_TOKENS; k++)
	{
		t->start[k + 1] += t->start[k];
		next[k] = t->start[k];
	}
	for (int i = 0; i + 1 < t->ntokens; i++)
	{
		if (t->tokens[i] != TOKEN_NONE && t->tokens[i + 1] != TOKEN_NONE)
			t->followers[next[t->tokens[i]]++] = t->tokens[i + 1];
	}
}

/* ---- candidates ---- */

static void
add_candidate(TrainState *t, uint64_t sym, uint32_t len, uint32_t count)
{
	uint64_t	hash = (sym ^ len) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t	gain = count * len;

	/*
	 * A byte without a symbol costs two: symbols of one byte save as many
	 * bytes per use as those of two, and keep escapes, which decode slowly,
	 * rare.  The factor is the paper's authors'.
	 */
	if (len == 1)
		gain *= 8;
	for (uint32_t pos = (uint32_t) (hash >> 51);; pos++)
	{
		Candidate  *c = &t->candidates[pos % CANDIDATE_SLOTS];

		if (c->len == 0)
		{
			c->sym = sym;
			c->len = len;
		}
		if (c->sym == sym && c->len == len)
		{
			c->gain += gain;
			return;
		}
	}
}

static void
token_symbol(const StFsstTable *table, unsigned token,
			 uint64_t *sym, uint32_t *len)
{
	if (token >= TOKEN_ESCAPED)
	{
		*sym = token - TOKEN_ESCAPED;
		*len = 1;
	}
	else
	{
		*sym = table->sym[token];
		*len = table->len[token];
	}
}

static void
add_pairs(TrainState *t, const StFsstTable *table, unsigned token)
{
	uint32_t	count[NUM_TOKENS];
	uint64_t	sym;
	uint32_t	len;

	token_symbol(table, token, &sym, &len);
	if (len == 8 || t->start[token + 1] - t->start[token] < MIN_PAIR_COUNT)
		return;
	memset(count, 0, sizeof(count));
	for (uint32_t k = t->start[token]; k < t->start[token + 1]; k++)
		count[t->followers[k]]++;
	for (unsigned other = 0; other < NUM_TOKENS; other++)
	{
		uint64_t	sym2;
		uint32_t	len2;

		if (count[other] < MIN_PAIR_COUNT)
			continue;
		token_symbol(table, other, &sym2, &len2);
		if (len2 > 8 - len)
			len2 = 8 - len;
		add_candidate(t, sym | (sym2 & st_byte_mask(len2)) << (8 * len),
					  len + len2, count[other]);
	}
}

static void
collect_candidates(TrainState *t, const StFsstTable *table, bool join)
{
	memset(t->candidates, 0, sizeof(t->candidates));
	for (unsigned token = 0; token < NUM_TOKENS; token++)
	{
		uint64_t	sym;
		uint32_t	len;

		if (t->count[token] == 0)
			continue;
		token_symbol(table, token, &sym, &len);
		add_candidate(t, sym, len, t->count[token]);
		if (join)
			add_pairs(t, table, token);
	}
	/* single bytes stay in the race while longer symbols cover them */
	if (join)
	{
		for (unsigned b = 0; b < 256; b++)
		{
			if (t->first_byte[b] > 0)
				add_candidate(t, b, 1, t->first_byte[b]);
		}
	}
}

/* ---- the best 255 ---- */

/* A total order, best first, so that the table does not depend on hashing. */
static int
by_gain(const void *x, const void *y)
{
	const Candidate *a = x;
	const Candidate *b = y;

	if (a->gain != b->gain)
		return a->gain > b->gain ? -1 : 1;
	if (a->len != b->len)
		return a->len > b->len ? -1 : 1;
	return a->sym < b->sym ? -1 : a->sym > b->sym;
}

static void
select_best(TrainState *t, StFsstTable *table, uint32_t min_gain)
{
	Candidate  *best = t->candidates;
	uint32_t	n = 0;

	for (int k = 0; k < CANDIDATE_SLOTS; k++)
	{
		if (t->candidates[k].len > 0 && t->candidates[k].gain >= min_gain)
			best[n++] = t->candidates[k];
	}
	qsort(best, n, sizeof(Candidate), by_gain);
	memset(table, 0, sizeof(*table));
	table->nsym = n < ST_FSST_MAX_SYMBOLS ? n : ST_FSST_MAX_SYMBOLS;
	for (uint32_t i = 0; i < table->nsym; i++)
	{
		table->sym[i] = best[i].sym;
		table->len[i] = (uint8_t) best[i].len;
	}
}

void
st_fsst_train(const StStr *sample, int n, StFsstTable *table)
{
	TrainState	t;

	memset(table, 0, sizeof(*table));
	for (int generation = 0; generation < GENERATIONS; generation++)
	{
		bool		last = generation == GENERATIONS - 1;

		st_fsst_encoder_init(&t.enc, table);
		count_tokens(&t, sample, n);
		group_followers(&t);
		collect_candidates(&t, table, !last);
		/* a symbol costs its length + 1 in the saved table */
		select_best(&t, table, last ? 12 : 1);
	}
}
