/*-------------------------------------------------------------------------
 *
 * st_str_choose.c
 *	  Chooses the encoding of a string column chunk from a sample.
 *
 * Measures what each scheme would make of the sample.  Packing by alphabet
 * is preferred to FSST where they are close, as it decodes several times
 * faster; and either to raw only where it saves notably.
 *
 * Not considered here: dictionaries and the codecs.  Text with long repeats
 * from one string to the next (JSON, log lines) shrinks more under zstd when
 * it is raw than when it went through FSST first: the caller, who knows
 * whether a codec follows, compares.
 *
 *-------------------------------------------------------------------------
 */
#include "st_str_internal.h"

/* The most bytes and strings of the sample that are looked at. */
#define CHOOSE_BYTES 65536
#define CHOOSE_PIECES 2048

/* Longest piece taken of one string. */
#define PIECE_MAX 512

/* FSST must save this share of the bytes, and beat an alphabet by as much. */
#define FSST_MAX_PERMILLE 850
#define FSST_MARGIN_PERMILLE 900
#define ALPHABET_MAX_PERMILLE 900

typedef struct Pieces
{
	int			n;
	uint64_t	bytes;
	StStr		piece[CHOOSE_PIECES];
} Pieces;

static void
add_piece(Pieces *p, const StStr *s, uint64_t random)
{
	StStr		piece = *s;

	if (s->data == NULL)
		return;
	if (s->len > PIECE_MAX)
	{
		piece.data += random % (s->len - PIECE_MAX + 1);
		piece.len = PIECE_MAX;
	}
	p->bytes += piece.len;
	p->piece[p->n++] = piece;
}

/* A fixed sequence, so that the same data always makes the same bytes. */
static uint64_t
next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return *state >> 32;
}

/* Training looks at the first pieces only: they shall be like the others. */
static void
shuffle(StStr *v, int n, uint64_t *state)
{
	for (int i = n - 1; i > 0; i--)
	{
		int			k = (int) (next_random(state) % (unsigned) (i + 1));
		StStr		tmp = v[i];

		v[i] = v[k];
		v[k] = tmp;
	}
}

/*
 * The whole sample, shuffled, if it is small; else pieces of strings drawn
 * from all over it.
 */
static void
draw_pieces(const StStr *sample, int n, Pieces *p)
{
	uint64_t	state = 1;
	uint64_t	total = 0;

	p->n = 0;
	p->bytes = 0;
	for (int i = 0; i < n && total <= CHOOSE_BYTES; i++)
		total += sample[i].len > PIECE_MAX ? PIECE_MAX : sample[i].len;
	if (n <= CHOOSE_PIECES && total <= CHOOSE_BYTES)
	{
		for (int i = 0; i < n; i++)
			add_piece(p, &sample[i], next_random(&state));
		shuffle(p->piece, p->n, &state);
		return;
	}
	for (int draws = 0; draws < CHOOSE_PIECES && p->bytes < CHOOSE_BYTES;
		 draws++)
	{
		const StStr *s = &sample[next_random(&state) % (unsigned) n];

		add_piece(p, s, next_random(&state));
	}
}

static uint32_t
permille(uint64_t part, uint64_t whole)
{
	return (uint32_t) ((part * 1000 + whole - 1) / whole);
}

static uint32_t
measure_alphabet(const StAlphabet *a, const Pieces *p)
{
	uint64_t	bits = 0;

	for (int i = 0; i < p->n; i++)
		bits += st_alphabet_measure(a, &p->piece[i]);
	return permille(bits, p->bytes * 8);
}

/* Group sizes included: about half a byte for each short string. */
static uint32_t
measure_fsst(const StFsstTable *table, const Pieces *p)
{
	StFsstEncoder enc;
	uint8_t		codes[2 * PIECE_MAX];
	uint64_t	bytes = (uint64_t) p->n / 8;

	st_fsst_encoder_init(&enc, table);
	for (int i = 0; i < p->n; i++)
		bytes += (uint64_t) (st_fsst_encode_string(&enc, &p->piece[i], codes,
												   codes + sizeof(codes)) - codes);
	return permille(bytes, p->bytes);
}

void
st_str_choose(const StStr *sample, int n, StStrScheme *scheme)
{
	Pieces		p;
	uint32_t	alphabet = UINT32_MAX;
	uint32_t	fsst;
	StFsstTable table;

	st_str_scheme_raw(scheme);
	draw_pieces(sample, n, &p);
	if (p.bytes == 0)
		return;
	if (st_alphabet_learn(p.piece, p.n, &scheme->u.alphabet))
		alphabet = measure_alphabet(&scheme->u.alphabet, &p);
	st_fsst_train(p.piece, p.n, &table);
	fsst = measure_fsst(&table, &p);

	if (fsst <= FSST_MAX_PERMILLE &&
		(alphabet > ALPHABET_MAX_PERMILLE ||
		 (uint64_t) fsst * 1000 < (uint64_t) alphabet * FSST_MARGIN_PERMILLE))
	{
		scheme->kind = ST_STR_FSST;
		scheme->estimate_permille = fsst;
		scheme->u.fsst = table;
	}
	else if (alphabet <= ALPHABET_MAX_PERMILLE)
	{
		scheme->kind = ST_STR_ALPHABET;
		scheme->estimate_permille = alphabet;
	}
	else
		st_str_scheme_raw(scheme);
}
