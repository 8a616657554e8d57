/*-------------------------------------------------------------------------
 *
 * vx_regex_dfa.c
 *	  Runs a program of a regular expression over the bytes of a text.
 *
 * A state is a set of places in the program.  States and the steps between
 * them are made when they first come up, so each byte of a text costs a look
 * into a table, or once in a while a walk over the program.  Bytes that no
 * instruction tells apart share a column of the table.
 *
 * Memory is bounded: when states take too much, all are forgotten, and the
 * one at hand is made again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_regex_int.h"

/* States of an automaton, and bytes that their sets may take. */
#define MAX_STATES		512
#define MAX_SET_BYTES	(128 * 1024)
#define NSLOTS			(MAX_STATES * 2)

/* Bytes that are read without a look at interrupts. */
#define STRIDE			(64 * 1024)

/* States 0 and 1; all others are sets. */
#define UNKNOWN			0		/* in the table: not made yet */
#define DEAD			1		/* nothing can match any more */

typedef struct State
{
	const uint16 *insts;		/* where it stands: BYTE, END; ascending */
	int			n;
	bool		at_begin;		/* nothing has been read */
} State;

/* Of a state, in flags. */
#define MATCHES			0x01	/* the text up to here does */
#define MATCHES_AT_END	0x02	/* if it ends here */

struct VxReDfa
{
	const VxReProgram *program;
	MemoryContext mcxt;			/* of the automaton */
	MemoryContext sets_mcxt;	/* of the states' sets */
	Size		set_bytes;
	int			nclasses;
	uint8		classes[256];
	int			shift;			/* columns of the table: a power of two */
	int			nstates;
	State	   *states;
	uint8	   *flags;			/* by state */
	uint16	   *table;			/* by state and class */
	uint16	   *slots;			/* open addressing: states by their sets; 0: none */
	uint16		first[2];		/* state to begin with: amid a text, at its start */

	/* a set in the making */
	uint32		round;
	uint32	   *seen;			/* by instruction: the round it was met in */
	uint16	   *stack;
	uint16	   *set;
	int			nset;
	bool		found_match;
};

/* Bytes that are told apart start a class of their own. */
static void
make_classes(VxReDfa *dfa)
{
	bool		starts[257] = {false};

	for (int i = 0; i < dfa->program->n; i++)
	{
		const VxReInst *inst = &dfa->program->insts[i];

		if (inst->op == VX_OP_BYTE)
		{
			starts[inst->first] = true;
			starts[inst->last + 1] = true;
		}
	}
	dfa->nclasses = 1;
	for (int b = 0; b < 256; b++)
	{
		if (b > 0 && starts[b])
			dfa->nclasses++;
		dfa->classes[b] = dfa->nclasses - 1;
	}
	while ((1 << dfa->shift) < dfa->nclasses)
		dfa->shift++;
}

VxReDfa *
vx_regex_dfa(const VxReProgram *program, MemoryContext mcxt)
{
	VxReDfa    *dfa = MemoryContextAllocZero(mcxt, sizeof(VxReDfa));

	dfa->program = program;
	dfa->mcxt = mcxt;
	dfa->sets_mcxt = AllocSetContextCreate(mcxt, "regex states", ALLOCSET_DEFAULT_SIZES);
	make_classes(dfa);
	dfa->states = MemoryContextAllocZero(mcxt, sizeof(State) * MAX_STATES);
	dfa->flags = MemoryContextAllocZero(mcxt, MAX_STATES);
	dfa->table = MemoryContextAllocZero(mcxt, sizeof(uint16) * (MAX_STATES << dfa->shift));
	dfa->slots = MemoryContextAllocZero(mcxt, sizeof(uint16) * NSLOTS);
	dfa->seen = MemoryContextAllocZero(mcxt, sizeof(uint32) * program->n);
	dfa->stack = MemoryContextAlloc(mcxt, sizeof(uint16) * (program->n * 2 + 1));
	dfa->set = MemoryContextAlloc(mcxt, sizeof(uint16) * program->n);
	dfa->nstates = DEAD + 1;
	return dfa;
}

static void
forget_states(VxReDfa *dfa)
{
	MemoryContextReset(dfa->sets_mcxt);
	dfa->set_bytes = 0;
	memset(dfa->table, 0, sizeof(uint16) * (dfa->nstates << dfa->shift));
	memset(dfa->slots, 0, sizeof(uint16) * NSLOTS);
	dfa->nstates = DEAD + 1;
	dfa->first[0] = dfa->first[1] = UNKNOWN;
}

/* ---- making sets ---- */

static void
begin_set(VxReDfa *dfa)
{
	if (++dfa->round == 0)
	{
		memset(dfa->seen, 0, sizeof(uint32) * dfa->program->n);
		dfa->round = 1;
	}
	dfa->nset = 0;
	dfa->found_match = false;
}

/* Adds an instruction and all that is reached without a byte. */
static void
add_to_set(VxReDfa *dfa, uint16 start, bool at_begin, bool at_end)
{
	int			depth = 0;

	dfa->stack[depth++] = start;
	while (depth > 0)
	{
		uint16		at = dfa->stack[--depth];
		const VxReInst *inst = &dfa->program->insts[at];

		if (dfa->seen[at] == dfa->round)
			continue;
		dfa->seen[at] = dfa->round;
		switch (inst->op)
		{
			case VX_OP_MATCH:
				dfa->found_match = true;
				break;
			case VX_OP_SPLIT:
				dfa->stack[depth++] = inst->other;
				dfa->stack[depth++] = inst->next;
				break;
			case VX_OP_BEGIN:
				if (at_begin)
					dfa->stack[depth++] = inst->next;
				break;
			case VX_OP_END:
				if (at_end)
					dfa->stack[depth++] = inst->next;
				else
					dfa->set[dfa->nset++] = at;
				break;
			default:
				dfa->set[dfa->nset++] = at;
				break;
		}
	}
}

static int
compare_places(const void *a, const void *b)
{
	return *(const uint16 *) a - *(const uint16 *) b;
}

/* Would the text match if it ended where the set stands? */
static bool
would_match_at_end(VxReDfa *dfa, const uint16 *set, int n, bool at_begin)
{
	bool		found = false;

	for (int i = 0; i < n && !found; i++)
	{
		if (dfa->program->insts[set[i]].op != VX_OP_END)
			continue;
		begin_set(dfa);
		add_to_set(dfa, set[i], at_begin, true);
		found = dfa->found_match;
	}
	return found;
}

/* The state of the set that was made; UNKNOWN: there is no room for it. */
static uint16
state_of_set(VxReDfa *dfa, bool at_begin)
{
	int			n = dfa->nset;
	uint8		flags = dfa->found_match ? MATCHES | MATCHES_AT_END : 0;
	Size		bytes = sizeof(uint16) * n;
	uint32		slot;
	uint16	   *set;
	State	   *state;

	if (n == 0 && !flags)
		return DEAD;
	qsort(dfa->set, n, sizeof(uint16), compare_places);
	slot = hash_bytes((const unsigned char *) dfa->set, bytes) % NSLOTS;
	for (; dfa->slots[slot] != 0; slot = (slot + 1) % NSLOTS)
	{
		state = &dfa->states[dfa->slots[slot]];
		if (state->n == n && state->at_begin == at_begin &&
			((dfa->flags[dfa->slots[slot]] ^ flags) & MATCHES) == 0 &&
			memcmp(state->insts, dfa->set, bytes) == 0)
			return dfa->slots[slot];
	}
	if (dfa->nstates >= MAX_STATES || dfa->set_bytes + bytes > MAX_SET_BYTES)
		return UNKNOWN;
	dfa->set_bytes += bytes;
	set = MemoryContextAlloc(dfa->sets_mcxt, bytes + 1);
	memcpy(set, dfa->set, bytes);
	state = &dfa->states[dfa->nstates];
	state->insts = set;
	state->n = n;
	state->at_begin = at_begin;
	if (!flags && would_match_at_end(dfa, set, n, at_begin))
		flags = MATCHES_AT_END;
	dfa->flags[dfa->nstates] = flags;
	dfa->slots[slot] = dfa->nstates;
	return dfa->nstates++;
}

static uint16
first_state(VxReDfa *dfa, bool at_begin)
{
	while (dfa->first[at_begin] == UNKNOWN)
	{
		begin_set(dfa);
		add_to_set(dfa, dfa->program->start, at_begin, false);
		dfa->first[at_begin] = state_of_set(dfa, at_begin);
		if (dfa->first[at_begin] == UNKNOWN)
			forget_states(dfa);
	}
	return dfa->first[at_begin];
}

/* The set behind a byte. */
static void
make_step(VxReDfa *dfa, const uint16 *insts, int n, uint8 byte)
{
	begin_set(dfa);
	for (int i = 0; i < n; i++)
	{
		const VxReInst *inst = &dfa->program->insts[insts[i]];

		if (inst->op == VX_OP_BYTE && inst->first <= byte && byte <= inst->last)
			add_to_set(dfa, inst->next, false, false);
	}
}

/* A step that is not in the table. */
static pg_noinline uint16
slow_step(VxReDfa *dfa, uint16 from, uint8 byte)
{
	uint16		to;

	CHECK_FOR_INTERRUPTS();
	make_step(dfa, dfa->states[from].insts, dfa->states[from].n, byte);
	to = state_of_set(dfa, false);
	if (to != UNKNOWN)
	{
		dfa->table[(from << dfa->shift) + dfa->classes[byte]] = to;
		return to;
	}
	/* the set stands in dfa->set, which nothing else touches */
	forget_states(dfa);
	return state_of_set(dfa, false);
}

static inline uint16
step(VxReDfa *dfa, uint16 state, uint8 byte)
{
	uint16		to = dfa->table[(state << dfa->shift) + dfa->classes[byte]];

	return likely(to != UNKNOWN) ? to : slow_step(dfa, state, byte);
}

/* ---- running ---- */

bool
vx_dfa_exists(VxReDfa *dfa, const char *s, int len)
{
	uint16		state = first_state(dfa, true);

	for (int start = 0; start < len; start += STRIDE)
	{
		int			end = Min(len, start + STRIDE);

		CHECK_FOR_INTERRUPTS();
		for (int i = start; i < end; i++)
		{
			if (state == DEAD || (dfa->flags[state] & MATCHES))
				return state != DEAD;
			state = step(dfa, state, (uint8) s[i]);
		}
	}
	return (dfa->flags[state] & MATCHES_AT_END) != 0;
}

int
vx_dfa_longest(VxReDfa *dfa, const char *text, int len, int start, int end,
			   const uint64 *allowed)
{
	uint16		state = first_state(dfa, start == 0);
	int			result = -1;

	for (int i = start;; i++)
	{
		if (state == DEAD)
			return result;
		if ((dfa->flags[state] & (i == len ? MATCHES_AT_END : MATCHES)) &&
			(allowed == NULL || vx_re_bit(allowed, i)))
			result = i;
		if (i >= end)
			return result;
		if (i % STRIDE == 0)
			CHECK_FOR_INTERRUPTS();
		state = step(dfa, state, (uint8) text[i]);
	}
}

/* The word of position i, and those down to that of from. */
static void
finish_bits(uint64 *starts, int i, int from, uint64 word)
{
	if ((i & 63) != 0)
		starts[i >> 6] = word;
	for (int w = (i >> 6) - 1; w >= from >> 6; w--)
		starts[w] = 0;
}

int
vx_dfa_starts(VxReDfa *dfa, const char *text, int len, int from, int end, bool utf8,
			  uint64 *starts)
{
	/* what is read from its end starts there */
	uint16		state = first_state(dfa, end == len);
	int			result = -1;
	uint64		word = 0;

	for (int i = end;; i--)
	{
		if ((dfa->flags[state] & (i == 0 ? MATCHES_AT_END : MATCHES)) &&
			!(utf8 && i < len && ((uint8) text[i] & 0xC0) == 0x80))
		{
			result = i;
			word |= UINT64CONST(1) << (i & 63);
		}
		/* bits before from, or where nothing matches any more, are all clear */
		if (starts && (i & 63) == 0)
		{
			starts[i >> 6] = word;
			word = 0;
		}
		if (i <= from || state == DEAD)
		{
			if (starts)
				finish_bits(starts, i, from, word);
			return result;
		}
		if (i % STRIDE == 0)
			CHECK_FOR_INTERRUPTS();
		state = step(dfa, state, (uint8) text[i - 1]);
	}
}
