/*-------------------------------------------------------------------------
 *
 * vx_regex.c
 *	  Regular expressions: compile, search.
 *
 * The leftmost match is found from behind: the pattern, read backward, with
 * anything after it, says of every position whether a match starts there.
 * From the first of them the pattern runs forward to the last position where
 * it matches.
 *
 * Groups.  The server takes a pattern apart at its groups: what stands before
 * one, the group, what follows; each takes as much as leaves a match for the
 * rest.  So does this: from behind, for each part, the positions from which it
 * and all parts after it come to the end of the match; then forward, part
 * by part, the last of those positions.  That needs groups that stand in the
 * pattern itself, not within one another, an alternative or a repetition.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "vx_regex_int.h"

/* What stands before groups, they, and what follows them. */
#define MAX_PARTS	(2 * (VX_REGEX_SPANS - 1) + 1)

/* A piece of the pattern. */
typedef struct Part
{
	int			group;			/* its number, or 0 */
	VxReDfa    *forward;		/* the part */
	VxReDfa    *backward;		/* it and all that follow */
	uint64	   *starts;			/* positions from which they match */
} Part;

struct VxRegex
{
	MemoryContext mcxt;
	bool		utf8;
	bool		anchored;		/* matches start at the start of the text only */
	VxReDfa    *search;			/* anything, then the pattern */
	VxReDfa    *longest;		/* the pattern */
	VxReDfa    *behind;			/* backward, anything after it */
	int			nparts;			/* 0: groups are not wanted */
	Part		parts[MAX_PARTS];

	int			capacity;		/* bytes of text that bitmaps have room for */
	uint64	   *matches;		/* where matches start, */
	bool		matches_known;	/* in the text at hand */
};

static VxReDfa *
make_dfa(VxRegex *regex, List *parts, bool backward, bool search)
{
	VxReProgram *program = vx_regex_program(parts, regex->utf8, backward, search);

	return program ? vx_regex_dfa(program, regex->mcxt) : NULL;
}

/* ---- compilation ---- */

/* Adds a part, of one group or of pieces without any. */
static bool
add_part(VxRegex *regex, List *pieces, int from, int n, int group)
{
	Part	   *part = &regex->parts[regex->nparts];
	List	   *own = NIL;
	List	   *rest = NIL;

	if (n == 0)
		return true;
	if (regex->nparts >= MAX_PARTS)
		return false;
	for (int i = from; i < list_length(pieces); i++)
	{
		if (i < from + n)
			own = lappend(own, list_nth(pieces, i));
		rest = lappend(rest, list_nth(pieces, i));
	}
	part->group = group;
	part->forward = make_dfa(regex, own, false, false);
	part->backward = make_dfa(regex, rest, true, false);
	regex->nparts++;
	return part->forward != NULL && part->backward != NULL;
}

/* Takes the pattern apart at its groups; false: they are not that simple. */
static bool
make_parts(VxRegex *regex, const VxReNode *root)
{
	List	   *pieces = root->kind == VX_RE_CAT ? root->parts :
		list_make1(unconstify(VxReNode *, root));
	int			start = 0;
	int			group = 0;

	for (int i = 0; i < list_length(pieces); i++)
	{
		const VxReNode *piece = list_nth(pieces, i);

		if (!piece->captures)
			continue;
		if (piece->kind != VX_RE_GROUP || group + 1 >= VX_REGEX_SPANS ||
			((const VxReNode *) linitial(piece->parts))->captures ||
			!add_part(regex, pieces, start, i - start, 0) ||
			!add_part(regex, pieces, i, 1, ++group))
			return false;
		start = i + 1;
	}
	return add_part(regex, pieces, start, list_length(pieces) - start, 0);
}

/* Does every match start with ^ ? */
static bool
is_anchored(const VxReNode *node)
{
	ListCell   *lc;

	switch (node->kind)
	{
		case VX_RE_BEGIN:
			return true;
		case VX_RE_CAT:
		case VX_RE_GROUP:
			return is_anchored(linitial(node->parts));
		case VX_RE_ALT:
			foreach(lc, node->parts)
				if (!is_anchored(lfirst(lc)))
					return false;
			return true;
		default:
			return false;
	}
}

static bool
compile(VxRegex *regex, const char *pattern, int len, int flags)
{
	int			ngroups;
	bool		has_lazy;
	VxReNode   *root = vx_regex_parse(pattern, len, flags, &ngroups, &has_lazy);
	List	   *all;

	if (root == NULL)
		return false;
	all = list_make1(root);
	regex->anchored = is_anchored(root);
	if (flags & VX_REGEX_EXISTS)
		return (regex->search = make_dfa(regex, all, false, !regex->anchored)) != NULL;
	if (has_lazy)
		return false;
	regex->longest = make_dfa(regex, all, false, false);
	regex->behind = make_dfa(regex, all, true, true);
	return regex->longest != NULL && regex->behind != NULL &&
		(ngroups == 0 || !(flags & VX_REGEX_CAPTURES) || make_parts(regex, root));
}

VxRegex *
vx_regex_compile(MemoryContext mcxt, const char *pattern, int len, int flags)
{
	MemoryContext own = AllocSetContextCreate(mcxt, "regex", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(own);
	VxRegex    *regex = palloc0(sizeof(VxRegex));
	bool		ok;

	regex->mcxt = own;
	regex->utf8 = (flags & VX_REGEX_UTF8) != 0;
	ok = compile(regex, pattern, len, flags);
	MemoryContextSwitchTo(old);
	if (ok)
		return regex;
	MemoryContextDelete(own);
	return NULL;
}

void
vx_regex_free(VxRegex *regex)
{
	MemoryContextDelete(regex->mcxt);
}

/* ---- searching ---- */

bool
vx_regex_matches(VxRegex *regex, const char *text, int len)
{
	return vx_dfa_exists(regex->search, text, len);
}

/* Makes bitmaps long enough; what was in them is lost. */
static void
set_capacity(VxRegex *regex, int len)
{
	Size		bytes;

	if (regex->matches != NULL && len <= regex->capacity)
		return;
	regex->capacity = Max(len, 4096);
	bytes = (regex->capacity / 64 + 1) * sizeof(uint64);
	if (regex->matches)
		pfree(regex->matches);
	regex->matches = MemoryContextAlloc(regex->mcxt, bytes);
	for (int i = 0; i < regex->nparts; i++)
	{
		if (regex->parts[i].starts)
			pfree(regex->parts[i].starts);
		regex->parts[i].starts = MemoryContextAlloc(regex->mcxt, bytes);
	}
}

/* First position at or behind from where a match starts, or -1. */
static int
find_start(VxRegex *regex, const char *text, int len, int from)
{
	if (regex->anchored)
		return from == 0 ? 0 : -1;
	if (from == 0)
	{
		regex->matches_known = false;
		return vx_dfa_starts(regex->behind, text, len, 0, len, regex->utf8, NULL);
	}
	/* more than one match is wanted: all starts at once */
	if (!regex->matches_known)
		(void) vx_dfa_starts(regex->behind, text, len, 0, len, regex->utf8, regex->matches);
	regex->matches_known = true;
	for (int i = from; i <= len; i++)
		if (vx_re_bit(regex->matches, i))
			return i;
	return -1;
}

static void
find_groups(VxRegex *regex, const char *text, int len, VxSpan *spans)
{
	int			at = spans[0].start;

	for (int i = 1; i < regex->nparts; i++)
		(void) vx_dfa_starts(regex->parts[i].backward, text, len, at, spans[0].end,
							 regex->utf8, regex->parts[i].starts);
	for (int i = 0; i < regex->nparts; i++)
	{
		const Part *part = &regex->parts[i];
		int			end = spans[0].end;

		if (i + 1 < regex->nparts)
			end = vx_dfa_longest(part->forward, text, len, at, end, regex->parts[i + 1].starts);
		if (end < 0)
			elog(ERROR, "parts of a regular expression do not match what it matches");
		if (part->group > 0)
		{
			spans[part->group].start = at;
			spans[part->group].end = end;
		}
		at = end;
	}
}

bool
vx_regex_find(VxRegex *regex, const char *text, int len, int from, VxSpan *spans)
{
	set_capacity(regex, len);
	for (int i = 0; i < VX_REGEX_SPANS; i++)
		spans[i].start = spans[i].end = -1;
	spans[0].start = find_start(regex, text, len, from);
	if (spans[0].start < 0)
		return false;
	spans[0].end = vx_dfa_longest(regex->longest, text, len, spans[0].start, len, NULL);
	if (spans[0].end < 0)
		return false;			/* an anchored pattern that does not match */
	if (regex->nparts > 0)
		find_groups(regex, text, len, spans);
	return true;
}
