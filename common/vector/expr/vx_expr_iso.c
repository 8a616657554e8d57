/*-------------------------------------------------------------------------
 *
 * vx_expr_iso.c
 *	  Casts of text to timestamp with time zone, timestamp and date, of strings
 *	  in the form that programs write:
 *
 *	 2024-11-21T16:09:27.095Z		T or a blank, up to six digits of a second,
 *	 2024-11-21						Z, an offset like +09:00, or none
 *
 * Such a string means the same whatever DateStyle and TimeZone are (to timestamp
 * with time zone the ones with a zone are).  A batch with any other string is
 * the server's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "vx_expr_int.h"
#include "st_compat.h"

typedef struct Iso
{
	int64		local;			/* microseconds since 2000-01-01, by the clock there */
	int64		offset;			/* of the clock, in microseconds */
	bool		has_zone;
} Iso;

/* Reads n digits; -1: they are none. */
static inline int
digits(const char *s, int n)
{
	int			value = 0;

	for (int i = 0; i < n; i++)
	{
		unsigned	digit = (unsigned char) s[i] - '0';

		if (digit > 9)
			return -1;
		value = value * 10 + digit;
	}
	return value;
}

/* YYYY-MM-DD, of the years 1 to 9999 */
static inline bool
read_date(const char *s, int len, int64 *days)
{
	int			year;
	int			month;
	int			day;

	if (len < 10 || s[4] != '-' || s[7] != '-')
		return false;
	year = digits(s, 4);
	month = digits(s + 5, 2);
	day = digits(s + 8, 2);
	if (year < 1 || month < 1 || month > MONTHS_PER_YEAR || day < 1 ||
		day > day_tab[isleap(year)][month - 1])
		return false;
	*days = date2j(year, month, day) - POSTGRES_EPOCH_JDATE;
	return true;
}

/* Z, +HH or +HH:MM; all that is left */
static inline bool
read_zone(const char *s, int len, Iso *iso)
{
	int			hours;
	int			minutes = 0;

	iso->has_zone = len > 0;
	iso->offset = 0;
	if (len == 0 || (len == 1 && s[0] == 'Z'))
		return true;
	if ((s[0] != '+' && s[0] != '-') || (len != 3 && (len != 6 || s[3] != ':')))
		return false;
	hours = digits(s + 1, 2);
	if (len == 6)
		minutes = digits(s + 4, 2);
	if (hours < 0 || hours > 14 || minutes < 0 || minutes >= MINS_PER_HOUR)
		return false;
	iso->offset = hours * USECS_PER_HOUR + minutes * USECS_PER_MINUTE;
	if (s[0] == '-')
		iso->offset = -iso->offset;
	return true;
}

static bool
read_iso(const char *s, int len, Iso *iso)
{
	int64		days;
	int			hour;
	int			minute;
	int			second;
	int			at = 19;
	int64		fraction = 0;

	if (!read_date(s, len, &days))
		return false;
	if (len == 10)
	{
		*iso = (Iso) {days * USECS_PER_DAY, 0, false};
		return true;
	}
	if (len < 19 || (s[10] != 'T' && s[10] != ' ') || s[13] != ':' || s[16] != ':')
		return false;
	hour = digits(s + 11, 2);
	minute = digits(s + 14, 2);
	second = digits(s + 17, 2);
	if (hour < 0 || hour >= HOURS_PER_DAY || minute < 0 || minute >= MINS_PER_HOUR ||
		second < 0 || second >= SECS_PER_MINUTE)
		return false;
	if (at < len && s[at] == '.')
	{
		int			n = 0;

		while (n < 7 && at + 1 + n < len && s[at + 1 + n] >= '0' && s[at + 1 + n] <= '9')
			n++;
		if (n < 1 || n > 6)
			return false;
		fraction = digits(s + at + 1, n);
		at += 1 + n;
		for (; n < 6; n++)
			fraction *= 10;
	}
	iso->local = days * USECS_PER_DAY + hour * USECS_PER_HOUR + minute * USECS_PER_MINUTE +
		second * USECS_PER_SEC + fraction;
	return read_zone(s + at, len - at, iso);
}

/* The value of the node's type; false: the string is of another form. */
static inline bool
value_of(const VxNode *node, const char *s, int len, int64 *value)
{
	Iso			iso;

	if (!read_iso(s, len, &iso) || (node->type == TIMESTAMPTZOID && !iso.has_zone))
		return false;
	if (node->type == DATEOID)
		*value = (iso.local - (iso.local % USECS_PER_DAY + USECS_PER_DAY) % USECS_PER_DAY) /
			USECS_PER_DAY;
	else
		*value = iso.local - (node->type == TIMESTAMPTZOID ? iso.offset : 0);
	return true;
}

/* Z means what it should, by the settings as they are now. */
static bool
is_usual_zone(void)
{
	const char *abbreviations = GetConfigOption("timezone_abbreviations", true, false);

	return abbreviations != NULL && strcmp(abbreviations, "Default") == 0 &&
		!st_zone_knows("Z") && !st_zone_knows("T");
}

static const VxVector *
eval_iso(VxNode *node, const uint64 *rows)
{
	const VxVector *arg = vx_node_eval(node->args[0], rows);
	int			words = VX_EXPR_WORDS(node->expr);
	uint64		live[VX_SELECTION_WORDS];

	if (!is_usual_zone())
		return vx_eval_by_row(node, rows);
	vx_rows_not_null(live, rows, arg, words);
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, live, words)
	{
		const char *s;
		int			len;

		if (!vx_text_bytes(arg, row, &s, &len) ||
			!value_of(node, s, len, &node->out.u.i64[row]))
			return vx_eval_by_row(node, rows);
	}
	node->out.constant = false;
	node->out.typlen = node->typlen;
	vx_node_set_nulls(node, rows, live);
	return &node->out;
}

bool
vx_iso_compile(VxNode *node)
{
	const CoerceViaIO *cast = (const CoerceViaIO *) node->clause;

	if (!IsA(cast, CoerceViaIO) || exprType((const Node *) cast->arg) != TEXTOID ||
		(cast->resulttype != TIMESTAMPTZOID && cast->resulttype != TIMESTAMPOID &&
		 cast->resulttype != DATEOID))
		return false;
	vx_node_compile_args(node, list_make1(cast->arg));
	node->eval = eval_iso;
	return true;
}
