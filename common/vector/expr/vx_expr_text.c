/*-------------------------------------------------------------------------
 *
 * vx_expr_text.c
 *	  Kernels of vector expressions for text: LIKE with a plain pattern, and
 *	  length.
 *
 * For strings that stand in their vector as they are; those of a dictionary
 * are the server's, once per distinct value.  Bytes are searched, which is
 * right in encodings where no character stands inside of another: UTF-8 and
 * those of one byte.  Patterns with _ or an escape are the server's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "vx_expr_int.h"
#include "st_compat.h"

/* A pattern: literal, with % in front of it, behind it, or both. */
typedef struct Pattern
{
	const char *literal;
	int			len;
	bool		open_start;
	bool		open_end;
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
parse_pattern(const VxVector *v, Pattern *pattern)
{
	const char *s;
	int			len;

	if (!v->constant || !vx_is_bytes(v) || !vx_text_bytes(v, 0, &s, &len))
		return false;
	pattern->open_start = len > 0 && s[0] == '%';
	pattern->open_end = len > 1 && s[len - 1] == '%';
	pattern->literal = s + pattern->open_start;
	pattern->len = len - pattern->open_start - pattern->open_end;
	for (int i = 0; i < pattern->len; i++)
		if (pattern->literal[i] == '%' || pattern->literal[i] == '_' ||
			pattern->literal[i] == '\\')
			return false;
	return true;
}

static inline bool
matches(const Pattern *pattern, const char *s, int len)
{
	if (len < pattern->len)
		return false;
	if (pattern->open_start && pattern->open_end)
		return memmem(s, len, pattern->literal, pattern->len) != NULL;
	if (pattern->open_end)
		return memcmp(s, pattern->literal, pattern->len) == 0;
	if (pattern->open_start)
		return memcmp(s + len - pattern->len, pattern->literal, pattern->len) == 0;
	return len == pattern->len && memcmp(s, pattern->literal, len) == 0;
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
	Pattern		pattern = {NULL, 0, false, true};

	return is_by_bytes(node, args) && args[1]->constant && vx_is_bytes(args[1]) &&
		vx_text_bytes(args[1], 0, &pattern.literal, &pattern.len) &&
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
