/*-------------------------------------------------------------------------
 *
 * vx_regex_parse.c
 *	  From a pattern to a tree.
 *
 * Follows the lexical rules of the server's advanced regular expressions, for
 * the subset of vx_regex.h.  Whatever else stands in a pattern ends it: what
 * is an error is the server's to raise.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "vx_regex_int.h"

#define MAX_DEPTH	30
#define MAX_REPEAT	255			/* the server's */
#define MAX_RANGES	256

typedef struct Parser
{
	const char *s;
	const char *end;
	int			flags;
	int			depth;
	int			ngroups;
	bool		has_lazy;
} Parser;

static VxReNode *parse_alternatives(Parser *p);

static VxReNode *
make_node(VxReKind kind, List *parts)
{
	VxReNode   *node = palloc0(sizeof(VxReNode));
	ListCell   *lc;

	node->kind = kind;
	node->parts = parts;
	node->captures = kind == VX_RE_GROUP;
	foreach(lc, parts)
		node->captures |= ((VxReNode *) lfirst(lc))->captures;
	return node;
}

static bool
see(const Parser *p, char c)
{
	return p->s < p->end && *p->s == c;
}

static bool
eat(Parser *p, char c)
{
	if (!see(p, c))
		return false;
	p->s++;
	return true;
}

static uint32
take_character(Parser *p)
{
	uint32		c = (unsigned char) *p->s;
	int			len = 1;

	if (p->flags & VX_REGEX_UTF8)
	{
		len = Min(pg_utf_mblen((const unsigned char *) p->s), p->end - p->s);
		c = utf8_to_unicode((const unsigned char *) p->s);
	}
	p->s += len;
	return c;
}

/* ---- sets of characters ---- */

typedef struct CharSet
{
	int			n;
	VxReRange	ranges[MAX_RANGES];
} CharSet;

static uint32
last_character(const Parser *p)
{
	return p->flags & VX_REGEX_UTF8 ? 0x10FFFF : 0xFF;
}

static void
add_range(CharSet *set, uint32 first, uint32 last)
{
	Assert(set->n < MAX_RANGES);
	set->ranges[set->n].first = first;
	set->ranges[set->n++].last = last;
}

/* The part of a range that is between two letters, in the other case. */
static void
add_other_case(CharSet *set, uint32 first, uint32 last, uint32 a, uint32 z, int distance)
{
	first = Max(first, a);
	last = Min(last, z);
	if (first <= last)
		add_range(set, first + distance, last + distance);
}

static bool
add_characters(const Parser *p, CharSet *set, uint32 first, uint32 last)
{
	/* there is room for both cases, and for the complement */
	if (set->n >= MAX_RANGES - 4)
		return false;
	add_range(set, first, last);
	if (p->flags & VX_REGEX_ICASE)
	{
		add_other_case(set, first, last, 'a', 'z', 'A' - 'a');
		add_other_case(set, first, last, 'A', 'Z', 'a' - 'A');
	}
	return true;
}

static int
compare_ranges(const void *a, const void *b)
{
	uint32		x = ((const VxReRange *) a)->first;
	uint32		y = ((const VxReRange *) b)->first;

	return (x > y) - (x < y);
}

/* In order, and no two that touch. */
static void
normalize(CharSet *set)
{
	int			n = 0;

	qsort(set->ranges, set->n, sizeof(VxReRange), compare_ranges);
	for (int i = 0; i < set->n; i++)
	{
		if (n > 0 && set->ranges[i].first <= set->ranges[n - 1].last + 1)
			set->ranges[n - 1].last = Max(set->ranges[n - 1].last, set->ranges[i].last);
		else
			set->ranges[n++] = set->ranges[i];
	}
	set->n = n;
}

static void
complement(const Parser *p, CharSet *set)
{
	CharSet		others = {0};
	uint32		next = 1;

	normalize(set);
	for (int i = 0; i < set->n; i++)
	{
		if (set->ranges[i].first > next)
			add_range(&others, next, set->ranges[i].first - 1);
		next = set->ranges[i].last + 1;
	}
	if (next <= last_character(p))
		add_range(&others, next, last_character(p));
	*set = others;
}

static VxReNode *
make_chars(CharSet *set)
{
	VxReNode   *node = make_node(VX_RE_CHARS, NIL);

	normalize(set);
	node->nranges = set->n;
	node->ranges = palloc(sizeof(VxReRange) * (set->n + 1));
	memcpy(node->ranges, set->ranges, sizeof(VxReRange) * set->n);
	return node;
}

/* Classes as the C locale has them. */
static bool
add_class(const Parser *p, CharSet *set, const char *name, int len)
{
	static const struct
	{
		const char *name;
		VxReRange	ranges[4];	/* up to one that is empty */
	}			classes[] = {
		{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
		{"alpha", {{'A', 'Z'}, {'a', 'z'}}},
		{"blank", {{' ', ' '}, {'\t', '\t'}}},
		{"digit", {{'0', '9'}}},
		{"lower", {{'a', 'z'}}},
		{"space", {{' ', ' '}, {'\t', '\r'}}},
		{"upper", {{'A', 'Z'}}},
		{"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
		{"word", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}},
	};

	if (!(p->flags & VX_REGEX_C_CLASSES))
		return false;
	for (int i = 0; i < lengthof(classes); i++)
	{
		if (strlen(classes[i].name) != len || memcmp(classes[i].name, name, len) != 0)
			continue;
		for (int j = 0; j < 4 && classes[i].ranges[j].first != 0; j++)
			if (!add_characters(p, set, classes[i].ranges[j].first, classes[i].ranges[j].last))
				return false;
		return true;
	}
	return false;
}

/* \d, \s, \w: with them, true; negated ones only outside of brackets. */
static bool
add_shorthand(const Parser *p, CharSet *set, char c)
{
	switch (c)
	{
		case 'd':
			return add_class(p, set, "digit", 5);
		case 's':
			return add_class(p, set, "space", 5);
		case 'w':
			return add_class(p, set, "word", 4);
		default:
			return false;
	}
}

/* What \c stands for, if that is one character. */
static bool
escaped_character(char c, uint32 *result)
{
	switch (c)
	{
		case 'n':
			*result = '\n';
			return true;
		case 't':
			*result = '\t';
			return true;
		case 'r':
			*result = '\r';
			return true;
		case 'f':
			*result = '\f';
			return true;
		default:
			*result = (unsigned char) c;
			return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9') &&
				!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
	}
}

static VxReNode *
parse_escape(Parser *p)
{
	CharSet		set = {0};
	uint32		c;
	char		letter;

	if (p->s >= p->end)
		return NULL;
	letter = *p->s++;
	if (escaped_character(letter, &c))
	{
		add_characters(p, &set, c, c);
		return make_chars(&set);
	}
	if (letter == 'D' || letter == 'S' || letter == 'W')
	{
		if (!add_shorthand(p, &set, letter - 'A' + 'a'))
			return NULL;
		complement(p, &set);
		return make_chars(&set);
	}
	return add_shorthand(p, &set, letter) ? make_chars(&set) : NULL;
}

/* A character of a bracket expression; false: it is something else. */
static bool
bracket_character(Parser *p, bool first, uint32 *c)
{
	if (p->s >= p->end || (see(p, ']') && !first))
		return false;
	if (see(p, '\\'))
	{
		if (p->end - p->s < 2 || !escaped_character(p->s[1], c))
			return false;
		p->s += 2;
		return true;
	}
	if (see(p, '[') && p->end - p->s > 1 &&
		(p->s[1] == '.' || p->s[1] == '=' || p->s[1] == ':'))
		return false;
	if (see(p, '-') && !first && !(p->end - p->s > 1 && p->s[1] == ']'))
		return false;
	*c = take_character(p);
	return true;
}

/* [:name:] or \w and the like, within brackets. */
static bool
bracket_class(Parser *p, CharSet *set)
{
	const char *name = p->s + 2;
	const char *end = name;

	if (p->end - p->s < 2)
		return false;
	if (see(p, '\\'))
	{
		p->s += 2;
		return add_shorthand(p, set, p->s[-1]);
	}
	if (p->s[0] != '[' || p->s[1] != ':')
		return false;
	while (end < p->end && *end >= 'a' && *end <= 'z')
		end++;
	if (p->end - end < 2 || end[0] != ':' || end[1] != ']')
		return false;
	p->s = end + 2;
	/* upper and lower are alpha then */
	return !(p->flags & VX_REGEX_ICASE) && add_class(p, set, name, end - name);
}

/* Behind the opening bracket. */
static VxReNode *
parse_bracket(Parser *p)
{
	CharSet		set = {0};
	bool		negated = eat(p, '^');
	bool		first = true;

	while (first || !see(p, ']'))
	{
		uint32		from;
		uint32		to;

		if (!bracket_character(p, first, &from))
		{
			if (!bracket_class(p, &set))
				return NULL;
			/* a range cannot start with a class */
			if (see(p, '-'))
				return NULL;
			first = false;
			continue;
		}
		first = false;
		to = from;
		if (see(p, '-') && p->end - p->s > 1 && p->s[1] != ']')
		{
			p->s++;
			/* a dash that ends a range is left to the server */
			if (see(p, '-') || !bracket_character(p, false, &to) || to < from)
				return NULL;
		}
		if (!add_characters(p, &set, from, to))
			return NULL;
	}
	p->s++;
	if (negated)
		complement(p, &set);
	return make_chars(&set);
}

/* ---- structure ---- */

static bool
take_number(Parser *p, int *number)
{
	const char *start = p->s;

	*number = 0;
	while (p->s < p->end && *p->s >= '0' && *p->s <= '9' && *number <= MAX_REPEAT)
		*number = *number * 10 + (*p->s++ - '0');
	return p->s > start && *number <= MAX_REPEAT;
}

/* Behind an atom.  False: not of the subset. */
static bool
parse_quantifier(Parser *p, VxReNode **atom)
{
	VxReNode   *node;
	int			least = 0;
	int			most = -1;

	if (eat(p, '*'))
		;
	else if (eat(p, '+'))
		least = 1;
	else if (eat(p, '?'))
		most = 1;
	else if (eat(p, '{'))
	{
		if (!take_number(p, &least))
			return false;
		most = least;
		if (eat(p, ','))
		{
			most = -1;
			if (!see(p, '}') && !take_number(p, &most))
				return false;
		}
		if ((most >= 0 && most < least) || !eat(p, '}'))
			return false;
	}
	else
		return true;
	if (eat(p, '?'))
		p->has_lazy = true;
	node = make_node(VX_RE_REPEAT, list_make1(*atom));
	node->least = least;
	node->most = most;
	*atom = node;
	/* one behind another is an error */
	return !see(p, '*') && !see(p, '+') && !see(p, '?') && !see(p, '{');
}

static VxReNode *
parse_group(Parser *p)
{
	bool		capturing = true;
	VxReNode   *inner;

	if (eat(p, '?'))
	{
		if (!eat(p, ':'))
			return NULL;
		capturing = false;
	}
	else
		p->ngroups++;
	if (++p->depth > MAX_DEPTH)
		return NULL;
	inner = parse_alternatives(p);
	p->depth--;
	if (inner == NULL || !eat(p, ')'))
		return NULL;
	return capturing ? make_node(VX_RE_GROUP, list_make1(inner)) : inner;
}

/* NULL: not of the subset.  Anchors take no quantifier. */
static VxReNode *
parse_piece(Parser *p)
{
	CharSet		set = {0};
	VxReNode   *atom;
	uint32		c;

	if (eat(p, '^') || eat(p, '$'))
	{
		atom = make_node(p->s[-1] == '^' ? VX_RE_BEGIN : VX_RE_END, NIL);
		return see(p, '*') || see(p, '+') || see(p, '?') || see(p, '{') ? NULL : atom;
	}
	if (see(p, '*') || see(p, '+') || see(p, '?') || see(p, '{'))
		return NULL;
	if (eat(p, '('))
		atom = parse_group(p);
	else if (eat(p, '['))
		atom = parse_bracket(p);
	else if (eat(p, '\\'))
		atom = parse_escape(p);
	else if (eat(p, '.'))
	{
		add_range(&set, 1, last_character(p));
		atom = make_chars(&set);
	}
	else
	{
		c = take_character(p);
		add_characters(p, &set, c, c);
		atom = make_chars(&set);
	}
	return atom != NULL && parse_quantifier(p, &atom) ? atom : NULL;
}

static VxReNode *
parse_branch(Parser *p)
{
	List	   *parts = NIL;

	while (p->s < p->end && !see(p, '|') && !see(p, ')'))
	{
		VxReNode   *piece = parse_piece(p);

		if (piece == NULL)
			return NULL;
		parts = lappend(parts, piece);
	}
	return make_node(parts == NIL ? VX_RE_EMPTY : VX_RE_CAT, parts);
}

static VxReNode *
parse_alternatives(Parser *p)
{
	List	   *branches = NIL;

	do
	{
		VxReNode   *branch = parse_branch(p);

		if (branch == NULL)
			return NULL;
		branches = lappend(branches, branch);
	} while (eat(p, '|'));
	return list_length(branches) == 1 ? linitial(branches) : make_node(VX_RE_ALT, branches);
}

VxReNode *
vx_regex_parse(const char *pattern, int len, int flags, int *ngroups, bool *has_lazy)
{
	Parser		p = {.s = pattern, .end = pattern + len, .flags = flags};
	VxReNode   *root;

	/* *** directs how the rest is to be read */
	if (len >= 3 && memcmp(pattern, "***", 3) == 0)
		return NULL;
	root = parse_alternatives(&p);
	*ngroups = p.ngroups;
	*has_lazy = p.has_lazy;
	return root != NULL && p.s == p.end ? root : NULL;
}
