/*-------------------------------------------------------------------------
 *
 * vx_expr_text.c
 *	  Kernels of vector expressions for text: LIKE with literals between %s,
 *	  and length.
 *
 * For strings that stand in their vector as they are, and distinct values of
 * a dictionary.  Bytes are searched, which is
 * right in encodings where no character stands inside of another: UTF-8 and
 * those of one byte.  Patterns with _ or an escape are the server's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "mb/pg_wchar.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "vx_expr_int.h"
#include "st_compat.h"

/* Literals of a pattern that stand between its %s, in turn. */
#define MAX_LITERALS 8

typedef struct Pattern
{
	int			n;
	struct
	{
		const char *data;
		int			len;
	}			literals[MAX_LITERALS];
	int			len;			/* of all of them */
	bool		open_start;		/* something may stand before the first, */
	bool		open_end;		/* and behind the last */
} Pattern;

static bool
has_plain_bytes(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || pg_database_encoding_max_length() == 1;
}

bool
vx_text_bytes(const VxVector *v, int row, const char **data, int *len)
{
	struct varlena *value;

	if (vx_vector_isnull(v, row))
		return false;
	value = (struct varlena *) DatumGetPointer(vx_vector_datum(v, row));
	if (VARATT_IS_EXTENDED(value) && !VARATT_IS_SHORT(value))
		return false;
	*data = VARDATA_ANY(value);
	*len = VARSIZE_ANY_EXHDR(value);
	return true;
}

static bool
add_literal(Pattern *pattern, const char *data, int len)
{
	if (len == 0)
		return true;
	if (pattern->n == MAX_LITERALS)
		return false;
	pattern->literals[pattern->n].data = data;
	pattern->literals[pattern->n++].len = len;
	pattern->len += len;
	return true;
}

/* Takes LIKE's pattern apart at its %s; false: it is not that simple. */
static bool
parse_pattern(const VxVector *v, Pattern *pattern)
{
	const char *s;
	int			len;
	int			start = 0;

	if (!v->constant || !vx_is_bytes(v) || !vx_text_bytes(v, 0, &s, &len))
		return false;
	memset(pattern, 0, sizeof(*pattern));
	pattern->open_start = len > 0 && s[0] == '%';
	pattern->open_end = len > 0 && s[len - 1] == '%';
	for (int i = 0; i <= len; i++)
	{
		if (i < len && (s[i] == '_' || s[i] == '\\'))
			return false;
		if (i < len && s[i] != '%')
			continue;
		if (!add_literal(pattern, s + start, i - start))
			return false;
		start = i + 1;
	}
	return true;
}

/*
 * The first place of a literal in a string, or NULL.  Sixteen places at a
 * time are looked at where both the first and the last byte fit.
 */
static inline const char *
find_literal(const char *s, int len, const char *literal, int n)
{
#ifdef __SSE2__
	const __m128i first = _mm_set1_epi8(literal[0]);
	const __m128i last = _mm_set1_epi8(literal[n - 1]);
	int			places = len - n + 1;
	int			i = 0;

	for (; i + 16 <= places; i += 16)
	{
		__m128i		a = _mm_loadu_si128((const __m128i *) (s + i));
		__m128i		b = _mm_loadu_si128((const __m128i *) (s + i + n - 1));
		uint32		fits = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, first),
														   _mm_cmpeq_epi8(b, last)));

		for (; fits != 0; fits &= fits - 1)
		{
			const char *place = s + i + __builtin_ctz(fits);

			if (memcmp(place, literal, n) == 0)
				return place;
		}
	}
	for (; i < places; i++)
		if (s[i] == literal[0] && s[i + n - 1] == literal[n - 1] && memcmp(s + i, literal, n) == 0)
			return s + i;
	return NULL;
#else
	return memmem(s, len, literal, n);
#endif
}

static inline bool
matches(const Pattern *pattern, const char *s, int len)
{
	int			from = 0;
	int			to = pattern->n;

	if (len < pattern->len || (pattern->n < 2 && !pattern->open_start && !pattern->open_end &&
							   len != pattern->len))
		return false;
	if (!pattern->open_start && from < to)
	{
		if (memcmp(s, pattern->literals[0].data, pattern->literals[0].len) != 0)
			return false;
		s += pattern->literals[0].len;
		len -= pattern->literals[0].len;
		from++;
	}
	if (!pattern->open_end && from < to)
	{
		to--;
		len -= pattern->literals[to].len;
		if (memcmp(s + len, pattern->literals[to].data, pattern->literals[to].len) != 0)
			return false;
	}
	/* the earliest place of each leaves most for the others */
	for (; from < to; from++)
	{
		int			n = pattern->literals[from].len;
		const char *place = n <= len ? find_literal(s, len, pattern->literals[from].data, n) : NULL;

		if (place == NULL)
			return false;
		len -= place + n - s;
		s = place + n;
	}
	return true;
}

/* Do strings compare by their bytes? */
static bool
is_by_bytes(VxNode *node, const VxVector *const *args)
{
	Oid			collation = node->fcinfo->fncollation;

	return vx_is_bytes(args[0]) && OidIsValid(collation) &&
		get_collation_isdeterministic(collation);
}

/* wanted: what the result is for a match */
static bool
match_rows(VxNode *node, const VxVector *v, const Pattern *pattern, bool wanted,
		   const uint64 *rows, uint64 *suspect)
{
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		const char *s;
		int			len;

		if (vx_text_bytes(v, row, &s, &len))
			node->out.u.i64[row] = matches(pattern, s, len) == wanted;
		else
			vx_rows_set(suspect, row);
	}
	return true;
}

/* op: 1 LIKE, 0 NOT LIKE */
static bool
text_like(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	Pattern		pattern;

	return is_by_bytes(node, args) && has_plain_bytes() && parse_pattern(args[1], &pattern) &&
		match_rows(node, args[0], &pattern, node->op, rows, suspect);
}

/* starts_with(string, prefix) and ^@ */
static bool
text_starts_with(VxNode *node, const VxVector *const *args, const uint64 *rows,
				 uint64 *suspect)
{
	Pattern		pattern = {.open_end = true};
	const char *prefix;
	int			len;

	return is_by_bytes(node, args) && args[1]->constant && vx_is_bytes(args[1]) &&
		vx_text_bytes(args[1], 0, &prefix, &len) && add_literal(&pattern, prefix, len) &&
		match_rows(node, args[0], &pattern, true, rows, suspect);
}

/* Characters of UTF-8: bytes that continue one are none of their own. */
static inline int
count_characters(const char *s, int len)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	int			n = len;
	int			i = 0;

	/* bytes that are 10xxxxxx, counted by eights: the sum stands in the highest byte */
	for (; i + 8 <= len; i += 8)
	{
		uint64		eight;

		memcpy(&eight, s + i, 8);
		n -= (((eight >> 7) & ~(eight >> 6) & ones) * ones) >> 56;
	}
	for (; i < len; i++)
		n -= (s[i] & 0xC0) == 0x80;
	return n;
}

/* op: 1 characters, 0 bytes */
static bool
text_length(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	bool		utf8 = node->op == 1 && pg_database_encoding_max_length() > 1;

	if (!vx_is_bytes(args[0]) || (node->op == 1 && !has_plain_bytes()))
		return false;
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		const char *s;
		int			len;

		if (!vx_text_bytes(args[0], row, &s, &len))
		{
			vx_rows_set(suspect, row);
			continue;
		}
		node->out.u.i64[row] = utf8 ? count_characters(s, len) : len;
	}
	return true;
}

const VxKernelEntry vx_text_kernels[] = {
	{F_TEXTLIKE, text_like, 1},
	{F_LIKE_TEXT_TEXT, text_like, 1},
	{F_BPCHARLIKE, text_like, 1},
	{F_BPCHARNLIKE, text_like, 0},
	{F_TEXTNLIKE, text_like, 0},
	{F_NOTLIKE_TEXT_TEXT, text_like, 0},
	{F_STARTS_WITH, text_starts_with, 0},
	{F_LENGTH_TEXT, text_length, 1},
	{F_TEXTLEN, text_length, 1},
	{F_CHAR_LENGTH_TEXT, text_length, 1},
	{F_CHARACTER_LENGTH_TEXT, text_length, 1},
	{F_OCTET_LENGTH_TEXT, text_length, 0},
	{InvalidOid, NULL, 0}
};
