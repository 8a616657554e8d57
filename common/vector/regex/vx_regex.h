/*-------------------------------------------------------------------------
 *
 * vx_regex.h
 *	  Regular expressions of the server's usual kind, in linear time.
 *
 * The subset of the server's advanced regular expressions whose matches are
 * nothing but a question of language: literals, ., classes, alternation, ^ and
 * $ of the whole string, quantifiers, groups.  What cannot be shown to be
 * equal does not compile, and is the server's: back references, lookaround,
 * word boundaries, embedded options, classes that depend on a locale.
 *
 * Matches are the server's: the leftmost one, and of these the longest.  That
 * is the rule for all patterns without non-greedy quantifiers; a pattern that
 * has any may only be asked whether it matches.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_REGEX_H
#define VX_REGEX_H

#include "postgres.h"

typedef struct VxRegex VxRegex;

/* The whole match and \1 to \9. */
#define VX_REGEX_SPANS	10

/* Bytes of the text; start is -1 for what is not in the match. */
typedef struct VxSpan
{
	int			start;
	int			end;
} VxSpan;

#define VX_REGEX_UTF8		0x01	/* else a byte is a character */
#define VX_REGEX_C_CLASSES	0x02	/* classes of characters are those of ASCII */
#define VX_REGEX_ICASE		0x04	/* letters of ASCII alone have a case: only with C_CLASSES */
#define VX_REGEX_CAPTURES	0x08	/* spans of groups are wanted */
#define VX_REGEX_EXISTS		0x10	/* only vx_regex_matches() will be asked */

/*
 * Compiles a pattern into a context of its own below mcxt.  NULL if it is not
 * of the subset, or no valid pattern.
 */
extern VxRegex *vx_regex_compile(MemoryContext mcxt, const char *pattern, int len, int flags);
extern void vx_regex_free(VxRegex *regex);

/* Is there a match anywhere? */
extern bool vx_regex_matches(VxRegex *regex, const char *text, int len);

/*
 * The first match that starts at or behind from, with its groups if they are
 * wanted.  A search of the same text from 0 comes first.
 */
extern bool vx_regex_find(VxRegex *regex, const char *text, int len, int from, VxSpan *spans);

#endif							/* VX_REGEX_H */
