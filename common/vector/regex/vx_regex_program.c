/*-------------------------------------------------------------------------
 *
 * vx_regex_program.c
 *	  From a tree to a program over bytes.
 *
 * Thompson's construction, from the end to the start: each piece is made with
 * what comes after it.  A set of characters of UTF-8 is a few sequences of
 * ranges of bytes.  Read backward, sequences and anchors are turned round.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "vx_regex_int.h"

#define NONE	PG_UINT16_MAX	/* no place in a program */

typedef struct Compiler
{
	VxReProgram *program;
	bool		utf8;
	bool		backward;
	bool		failed;			/* too large */
} Compiler;

static uint16
add(Compiler *c, VxReOp op, uint16 next, uint16 other)
{
	VxReProgram *program = c->program;
	VxReInst   *inst;

	if (program->n >= VX_RE_MAX_INSTS)
	{
		c->failed = true;
		return 0;
	}
	inst = &program->insts[program->n];
	inst->op = op;
	inst->next = next;
	inst->other = other;
	return program->n++;
}

static uint16
add_byte(Compiler *c, uint8 first, uint8 last, uint16 next)
{
	uint16		at = add(c, VX_OP_BYTE, next, NONE);

	c->program->insts[at].first = first;
	c->program->insts[at].last = last;
	return at;
}

/* Either of them, if both are there. */
static uint16
either(Compiler *c, uint16 one, uint16 two)
{
	return one == NONE ? two : add(c, VX_OP_SPLIT, one, two);
}

/* ---- characters ---- */

/* Characters of the same length all of whose bytes vary on their own. */
static uint16
add_sequence(Compiler *c, uint32 first, uint32 last, uint16 next)
{
	unsigned char lo[8];
	unsigned char hi[8];
	int			len;

	unicode_to_utf8(first, lo);
	unicode_to_utf8(last, hi);
	len = pg_utf_mblen(lo);
	for (int i = 0; i < len; i++)
	{
		int			at = c->backward ? i : len - 1 - i;

		next = add_byte(c, lo[at], hi[at], next);
	}
	return next;
}

static uint16 add_characters(Compiler *c, uint32 first, uint32 last, uint16 next, uint16 others);

/* first .. at, and what is behind it. */
static uint16
add_halves(Compiler *c, uint32 first, uint32 at, uint32 last, uint16 next, uint16 others)
{
	return add_characters(c, at + 1, last, next, add_characters(c, first, at, next, others));
}

/*
 * Any of these characters, or others: split until each part is a sequence.
 * At most six parts for each length.
 */
static uint16
add_characters(Compiler *c, uint32 first, uint32 last, uint16 next, uint16 others)
{
	static const uint32 lengths[] = {0x7F, 0x7FF, 0xFFFF};

	for (int i = 0; i < lengthof(lengths); i++)
		if (first <= lengths[i] && last > lengths[i])
			return add_halves(c, first, lengths[i], last, next, others);
	for (int bits = 6; bits <= 18 && last > 0x7F; bits += 6)
	{
		uint32		low = (1 << bits) - 1;

		if ((first & ~low) == (last & ~low))
			break;
		if ((first & low) != 0)
			return add_halves(c, first, first | low, last, next, others);
		if ((last & low) != low)
			return add_halves(c, first, (last & ~low) - 1, last, next, others);
	}
	return either(c, others, add_sequence(c, first, last, next));
}

static uint16
add_chars(Compiler *c, const VxReNode *node, uint16 next)
{
	uint16		all = NONE;

	for (int i = 0; i < node->nranges; i++)
	{
		const VxReRange *r = &node->ranges[i];

		if (c->utf8)
			all = add_characters(c, r->first, r->last, next, all);
		else
			all = either(c, all, add_byte(c, r->first, r->last, next));
	}
	/* nothing is in the set: a byte that no text has */
	return all == NONE ? add_byte(c, 0, 0, next) : all;
}

/* ---- structure ---- */

static uint16 add_node(Compiler *c, const VxReNode *node, uint16 next);

static uint16
add_parts(Compiler *c, List *parts, uint16 next)
{
	int			n = list_length(parts);

	for (int i = 0; i < n; i++)
		next = add_node(c, list_nth(parts, c->backward ? i : n - 1 - i), next);
	return next;
}

static uint16
add_repeat(Compiler *c, const VxReNode *node, uint16 next)
{
	const VxReNode *part = linitial(node->parts);

	if (node->most < 0)
	{
		uint16		loop = add(c, VX_OP_SPLIT, NONE, next);
		uint16		body = add_node(c, part, loop);

		c->program->insts[loop].next = body;
		next = loop;
	}
	for (int i = node->least; i < node->most && !c->failed; i++)
		next = add(c, VX_OP_SPLIT, add_node(c, part, next), next);
	for (int i = 0; i < node->least && !c->failed; i++)
		next = add_node(c, part, next);
	return next;
}

static uint16
add_node(Compiler *c, const VxReNode *node, uint16 next)
{
	uint16		all = NONE;
	ListCell   *lc;

	check_stack_depth();
	if (c->failed)
		return 0;
	switch (node->kind)
	{
		case VX_RE_EMPTY:
			return next;
		case VX_RE_CHARS:
			return add_chars(c, node, next);
		case VX_RE_BEGIN:
			return add(c, c->backward ? VX_OP_END : VX_OP_BEGIN, next, NONE);
		case VX_RE_END:
			return add(c, c->backward ? VX_OP_BEGIN : VX_OP_END, next, NONE);
		case VX_RE_CAT:
		case VX_RE_GROUP:
			return add_parts(c, node->parts, next);
		case VX_RE_ALT:
			foreach(lc, node->parts)
				all = either(c, all, add_node(c, lfirst(lc), next));
			return all;
		case VX_RE_REPEAT:
			return add_repeat(c, node, next);
	}
	return next;
}

VxReProgram *
vx_regex_program(List *parts, bool utf8, bool backward, bool search)
{
	VxReProgram *program = palloc0(sizeof(VxReProgram));
	Compiler	c = {program, utf8, backward, false};

	program->insts = palloc(sizeof(VxReInst) * VX_RE_MAX_INSTS);
	program->start = add_parts(&c, parts, add(&c, VX_OP_MATCH, NONE, NONE));
	if (search)
	{
		/* any bytes before it */
		uint16		loop = add(&c, VX_OP_SPLIT, program->start, NONE);
		uint16		any = add_byte(&c, 1, 255, loop);

		program->insts[loop].other = any;
		program->start = loop;
	}
	if (c.failed)
		return NULL;
	program->insts = repalloc(program->insts, sizeof(VxReInst) * program->n);
	return program;
}
