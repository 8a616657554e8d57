/*-------------------------------------------------------------------------
 *
 * vx_expr_regex.c
 *	  Kernels of vector expressions for regular expressions.
 *
 * For constant patterns that vx_regex.h can show to be equal to the server's;
 * all others, and long texts, are left to the server.  A pattern is compiled
 * when its value is known, and again after a rescan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_expr_int.h"
#include "vx_regex.h"
#include "vx_settings.h"
#include "st_compat.h"

/* Longer texts are the server's, which refuses some of them. */
#define MAX_TEXT	(16 * 1024 * 1024)

/* op of a match */
#define NEGATED		0x01
#define ANY_CASE	0x02

/* What a node's constants say. */
typedef struct RegexCall
{
	uint64		generation;		/* of the constants */
	VxRegex    *regex;			/* NULL: the server's */
	const char *replacement;
	int			replacement_len;
	bool		has_escapes;	/* in the replacement */
	bool		global;			/* all matches are replaced */
	StringInfoData buffer;
} RegexCall;

/* The bytes of a constant argument; false: it is no constant, or toasted. */
static bool
constant_bytes(VxNode *node, int arg, const char **data, int *len)
{
	return vx_node_is_constant(node->args[arg]) &&
		vx_text_bytes(vx_eval_constant(node->args[arg], NULL), 0, data, len);
}

/* What the encoding and the collation allow; false: nothing. */
static bool
locale_flags(Oid collation, int *flags)
{
	if (!OidIsValid(collation) || !get_collation_isdeterministic(collation))
		return false;
	if (GetDatabaseEncoding() == PG_UTF8)
		*flags |= VX_REGEX_UTF8;
	else if (pg_database_encoding_max_length() > 1)
		return false;
	if (st_ctype_is_c(collation))
		*flags |= VX_REGEX_C_CLASSES;
	return true;
}

/* Does the replacement have \ at all, and \1 to \9? */
static bool
has_groups(const RegexCall *call)
{
	for (int i = 0; i + 1 < call->replacement_len; i++)
	{
		if (call->replacement[i] != '\\')
			continue;
		i++;
		if (call->replacement[i] >= '1' && call->replacement[i] <= '9')
			return true;
	}
	return false;
}

/* The arguments of regexp_replace() behind the pattern. */
static bool
prepare_replacement(VxNode *node, RegexCall *call, int *flags)
{
	const char *options;
	int			len;

	if (!constant_bytes(node, 2, &call->replacement, &call->replacement_len))
		return false;
	call->has_escapes = memchr(call->replacement, '\\', call->replacement_len) != NULL;
	if (has_groups(call))
		*flags |= VX_REGEX_CAPTURES;
	call->global = false;
	if (node->nargs > 3)
	{
		if (!constant_bytes(node, 3, &options, &len) || len > 1 || (len == 1 && *options != 'g'))
			return false;
		call->global = len == 1;
	}
	return true;
}

static void
compile(VxNode *node, RegexCall *call, int flags)
{
	const char *pattern;
	int			len;

	if (!vx_enable_regex || !locale_flags(node->fcinfo->fncollation, &flags) ||
		((flags & VX_REGEX_ICASE) && !(flags & VX_REGEX_C_CLASSES)) ||
		!constant_bytes(node, 1, &pattern, &len) ||
		(!(flags & VX_REGEX_EXISTS) && !prepare_replacement(node, call, &flags)))
		return;
	call->regex = vx_regex_compile(node->expr->set->mcxt, pattern, len, flags);
}

/* The compiled pattern, or NULL. */
static RegexCall *
prepare(VxNode *node, int flags)
{
	VxExprSet  *set = node->expr->set;
	RegexCall  *call = node->own_state;

	if (call == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(set->mcxt);

		call = node->own_state = palloc0(sizeof(RegexCall));
		initStringInfo(&call->buffer);
		MemoryContextSwitchTo(old);
	}
	if (call->generation != set->generation)
	{
		if (call->regex)
			vx_regex_free(call->regex);
		call->regex = NULL;
		compile(node, call, flags);
		call->generation = set->generation;
	}
	return call->regex ? call : NULL;
}

/* ~, !~, ~*, !~*, regexp_like() */
static bool
regex_match(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	RegexCall  *call;

	if (!vx_is_bytes(args[0]))
		return false;
	call = prepare(node, VX_REGEX_EXISTS | (node->op & ANY_CASE ? VX_REGEX_ICASE : 0));
	if (call == NULL)
		return false;
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		const char *s;
		int			len;

		if (vx_text_bytes(args[0], row, &s, &len) && len <= MAX_TEXT)
			node->out.u.i64[row] = vx_regex_matches(call->regex, s, len) !=
				((node->op & NEGATED) != 0);
		else
			vx_rows_set(suspect, row);
	}
	return true;
}

/* The replacement, with what its escapes stand for. */
static void
append_replacement(RegexCall *call, const char *text, const VxSpan *spans)
{
	const char *s = call->replacement;
	const char *end = s + call->replacement_len;

	while (s < end)
	{
		const VxSpan *span;

		if (!call->has_escapes || *s != '\\' || s + 1 == end ||
			!(s[1] == '\\' || s[1] == '&' || (s[1] >= '1' && s[1] <= '9')))
		{
			appendStringInfoCharMacro(&call->buffer, *s);
			s++;
			continue;
		}
		span = &spans[s[1] == '&' ? 0 : s[1] - '0'];
		if (s[1] == '\\')
			appendStringInfoCharMacro(&call->buffer, '\\');
		else if (span->start >= 0)
			appendBinaryStringInfo(&call->buffer, text + span->start, span->end - span->start);
		s += 2;
	}
}

/* Into the buffer.  False: there is no match. */
static bool
replace(RegexCall *call, const char *text, int len)
{
	VxSpan		spans[VX_REGEX_SPANS];
	int			copied = 0;
	int			from = 0;

	resetStringInfo(&call->buffer);
	while (from <= len && vx_regex_find(call->regex, text, len, from, spans))
	{
		appendBinaryStringInfo(&call->buffer, text + copied, spans[0].start - copied);
		append_replacement(call, text, spans);
		copied = from = spans[0].end;
		if (!call->global)
			break;
		/* behind an empty match, a character further */
		if (spans[0].start == from)
			from += from < len ? pg_mblen(text + from) : 1;
		CHECK_FOR_INTERRUPTS();
	}
	if (copied == 0 && call->buffer.len == 0 && spans[0].start < 0)
		return false;
	appendBinaryStringInfo(&call->buffer, text + copied, len - copied);
	return true;
}

static bool
regex_replace(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	RegexCall  *call;

	if (!vx_is_bytes(args[0]))
		return false;
	call = prepare(node, 0);
	if (call == NULL)
		return false;
	vx_node_begin(node, VX_REP_DATUM);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		const char *s;
		int			len;
		char	   *result;

		if (!vx_text_bytes(args[0], row, &s, &len) || len > MAX_TEXT)
		{
			vx_rows_set(suspect, row);
			continue;
		}
		if (replace(call, s, len))
		{
			s = call->buffer.data;
			len = call->buffer.len;
		}
		result = MemoryContextAlloc(node->expr->arena, len + VARHDRSZ);
		SET_VARSIZE(result, len + VARHDRSZ);
		memcpy(VARDATA(result), s, len);
		node->out.u.datum[row] = PointerGetDatum(result);
	}
	return true;
}

const VxKernelEntry vx_regex_kernels[] = {
	{F_TEXTREGEXEQ, regex_match, 0},
	{F_TEXTREGEXNE, regex_match, NEGATED},
	{F_TEXTICREGEXEQ, regex_match, ANY_CASE},
	{F_TEXTICREGEXNE, regex_match, ANY_CASE | NEGATED},
	{F_REGEXP_LIKE_TEXT_TEXT, regex_match, 0},
	{F_REGEXP_REPLACE_TEXT_TEXT_TEXT, regex_replace, 0},
	{F_REGEXP_REPLACE_TEXT_TEXT_TEXT_TEXT, regex_replace, 0},
	{InvalidOid, NULL, 0}
};
