/*-------------------------------------------------------------------------
 *
 * vx_regex_int.h
 *	  Inside of regular expressions; users include vx_regex.h.
 *
 *	 vx_regex.c			patterns: compile, search
 *	 vx_regex_parse.c	from the pattern to a tree
 *	 vx_regex_program.c	from a tree to a program over bytes
 *	 vx_regex_dfa.c		runs a program, states made as they come up
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_REGEX_INT_H
#define VX_REGEX_INT_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "vx_regex.h"

/* ---- trees ---- */

typedef enum VxReKind
{
	VX_RE_EMPTY,
	VX_RE_CHARS,				/* one character out of a set */
	VX_RE_BEGIN,				/* ^ */
	VX_RE_END,					/* $ */
	VX_RE_CAT,
	VX_RE_ALT,
	VX_RE_REPEAT,
	VX_RE_GROUP					/* that captures */
} VxReKind;

/* Characters first .. last. */
typedef struct VxReRange
{
	uint32		first;
	uint32		last;
} VxReRange;

typedef struct VxReNode
{
	VxReKind	kind;
	List	   *parts;			/* of CAT, ALT; one of REPEAT, GROUP */
	int			least;			/* REPEAT: how often, */
	int			most;			/* or -1: without bound */
	int			nranges;		/* CHARS: ascending, apart from each other */
	VxReRange  *ranges;
	bool		captures;		/* a GROUP is in it */
} VxReNode;

/* NULL: not of the subset.  Sets has_lazy: a quantifier is not greedy. */
extern VxReNode *vx_regex_parse(const char *pattern, int len, int flags, int *ngroups,
								bool *has_lazy);

/* ---- programs ---- */

typedef enum VxReOp
{
	VX_OP_BYTE,					/* first .. last, then next */
	VX_OP_SPLIT,				/* next and other */
	VX_OP_BEGIN,				/* at the start of the text: next */
	VX_OP_END,					/* at its end: next */
	VX_OP_MATCH
} VxReOp;

typedef struct VxReInst
{
	uint8		op;
	uint8		first;
	uint8		last;
	uint16		next;
	uint16		other;
} VxReInst;

#define VX_RE_MAX_INSTS	3000

typedef struct VxReProgram
{
	int			n;
	VxReInst   *insts;
	uint16		start;
} VxReProgram;

/*
 * The parts, one after another; backward: for texts that are read from their
 * end.  search: anything may stand before it.  NULL: too large.
 */
extern VxReProgram *vx_regex_program(List *parts, bool utf8, bool backward, bool search);

/* ---- automata ---- */

typedef struct VxReDfa VxReDfa;

extern VxReDfa *vx_regex_dfa(const VxReProgram *program, MemoryContext mcxt);

/* Does it match a text that starts at s, somewhere up to the end of it? */
extern bool vx_dfa_exists(VxReDfa *dfa, const char *s, int len);

/*
 * Longest match of text[start .. end) that starts there, or -1.  A match may
 * only end where allowed, if that is not NULL, has its bit set.
 */
extern int	vx_dfa_longest(VxReDfa *dfa, const char *text, int len, int start, int end,
						   const uint64 *allowed);

/*
 * Of a backward program: sets the bit of each position from which it comes to
 * end, and returns the first of them that is at or behind from, or -1.
 * starts: NULL, or room for end + 1 bits.  utf8: only where a character starts.
 */
extern int	vx_dfa_starts(VxReDfa *dfa, const char *text, int len, int from, int end,
						  bool utf8, uint64 *starts);

static inline bool
vx_re_bit(const uint64 *bits, int i)
{
	return (bits[i >> 6] & (UINT64CONST(1) << (i & 63))) != 0;
}

#endif							/* VX_REGEX_INT_H */
