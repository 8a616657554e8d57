/*-------------------------------------------------------------------------
 *
 * vx_expr_time.c
 *	  Dates and timestamps in vector expressions: arithmetic kernels, and for
 *	  how long the result of a function that takes a time apart stays the
 *	  same.
 *
 * Infinite times and results that are out of range are left to the server.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "vx_expr_int.h"

#define ZONE_STEP	(15 * USECS_PER_MINUTE)

/* ---- kernels ---- */

static inline bool
is_finite_date(int64 date)
{
	return date != DATEVAL_NOBEGIN && date != DATEVAL_NOEND;
}

static inline bool
is_finite_timestamp(int64 timestamp)
{
	return timestamp != DT_NOBEGIN && timestamp != DT_NOEND;
}

static inline bool
is_days(int64 days)
{
	return days == (int32) days && IS_VALID_DATE((int32) days);
}

/* date + days, date - days; op: +1 or -1 */
VX_INT_KERNEL(date_plus_days, 2, !is_finite_date(a) || !is_days(a + node->op * b),
			  a + node->op * b)
VX_INT_KERNEL(date_minus_date, 2,
			  !is_finite_date(a) || !is_finite_date(b) || a - b != (int32) (a - b), a - b)

/* date to timestamp: its first moment */
VX_INT_KERNEL(date_to_timestamp, 1,
			  !is_finite_date(a) || a >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE,
			  a * USECS_PER_DAY)

/*
 * Microseconds of an interval, of its days and of the rest, signed by op.  False: it has
 * months or, with a time zone, days.
 */
static inline bool
interval_parts(const VxNode *node, Datum interval, int64 *days, int64 *rest)
{
	const Interval *span = DatumGetIntervalP(interval);

	if (span->month != 0 || (span->day != 0 && node->type == TIMESTAMPTZOID) ||
		span->time == PG_INT64_MIN || pg_mul_s64_overflow(span->day, USECS_PER_DAY, days))
		return false;
	*days *= node->op;
	*rest = span->time * node->op;
	return true;
}

/* timestamp + interval, - interval.  op: +1 or -1 */
static bool
timestamp_plus_interval(VxNode *node, const VxVector *const *args, const uint64 *rows,
						uint64 *suspect)
{
	const VxVector *spans = args[1];
	int64		days = 0;
	int64		rest = 0;

	if (args[0]->rep != VX_REP_INT64 || spans->rep != VX_REP_DATUM ||
		(spans->constant && !interval_parts(node, spans->u.datum[0], &days, &rest)))
		return false;
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		int64		timestamp = args[0]->u.i64[row];

		if (!is_finite_timestamp(timestamp) ||
			(!spans->constant && !interval_parts(node, spans->u.datum[row], &days, &rest)) ||
			pg_add_s64_overflow(timestamp, days, &timestamp) ||
			!IS_VALID_TIMESTAMP(timestamp) ||
			pg_add_s64_overflow(timestamp, rest, &node->out.u.i64[row]) ||
			!IS_VALID_TIMESTAMP(node->out.u.i64[row]))
			vx_rows_set(suspect, row);
	}
	return true;
}

/* interval * float8, where the interval is a constant without months and days. */
static bool
interval_times(VxNode *node, const VxVector *const *args, const uint64 *rows,
			   uint64 *suspect)
{
	const Interval *unit;
	Interval   *spans;

	if (args[0]->rep != VX_REP_DATUM || !args[0]->constant || args[1]->rep != VX_REP_FLOAT8)
		return false;
	unit = DatumGetIntervalP(args[0]->u.datum[0]);
	if (unit->month != 0 || unit->day != 0)
		return false;
	vx_node_begin(node, VX_REP_DATUM);
	spans = MemoryContextAllocZero(node->expr->arena, ST_VECTOR_SIZE * sizeof(Interval));
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		double		time = rint((double) unit->time * args[1]->u.f64[row]);

		/* not NaN, either */
		if (fabs(time) < (double) (PG_INT64_MAX / 2))
			spans[row].time = (int64) time;
		else
			vx_rows_set(suspect, row);
		node->out.u.datum[row] = IntervalPGetDatum(&spans[row]);
	}
	return true;
}

/* Seconds since 1970 to timestamptz: rows that are not clearly in range are suspect. */
static bool
seconds_to_timestamp(VxNode *node, const VxVector *const *args, const uint64 *rows,
					 uint64 *suspect)
{
	const double first = (double) SECS_PER_DAY * (DATETIME_MIN_JULIAN + 1 - UNIX_EPOCH_JDATE);
	const double last = (double) SECS_PER_DAY * (TIMESTAMP_END_JULIAN - 1 - UNIX_EPOCH_JDATE);

	if (args[0]->rep != VX_REP_FLOAT8)
		return false;
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		double		seconds = args[0]->u.f64[row];

		if (!(seconds > first && seconds < last))
		{
			vx_rows_set(suspect, row);
			continue;
		}
		seconds -= (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
		node->out.u.i64[row] = (int64) rint(seconds * USECS_PER_SEC);
	}
	return true;
}

const VxKernelEntry vx_time_kernels[] = {
	{F_DATE_PLI, date_plus_days, 1},
	{F_DATE_MII, date_plus_days, -1},
	{F_DATE_MI, date_minus_date, 0},
	{F_TIMESTAMP_DATE, date_to_timestamp, 0},
	{F_TIMESTAMP_PL_INTERVAL, timestamp_plus_interval, 1},
	{F_TIMESTAMP_MI_INTERVAL, timestamp_plus_interval, -1},
	{F_TIMESTAMPTZ_PL_INTERVAL, timestamp_plus_interval, 1},
	{F_TIMESTAMPTZ_MI_INTERVAL, timestamp_plus_interval, -1},
	{F_INTERVAL_MUL, interval_times, 0},
	{F_TO_TIMESTAMP_FLOAT8, seconds_to_timestamp, 0},
	{InvalidOid, NULL, 0}
};

/* ---- steps ---- */

typedef struct TimeFunction
{
	Oid			funcid;
	bool		has_unit;		/* as its first argument */
	VxTimeStep	step;
	int64		width;			/* without a unit */
} TimeFunction;

static const TimeFunction functions[] = {
	{F_EXTRACT_TEXT_DATE, true, VX_STEP_NONE, 1},
	{F_EXTRACT_TEXT_TIMESTAMP, true, VX_STEP_LOCAL, 1},
	{F_DATE_PART_TEXT_TIMESTAMP, true, VX_STEP_LOCAL, 1},
	{F_DATE_TRUNC_TEXT_TIMESTAMP, true, VX_STEP_LOCAL, 1},
	{F_DATE_TIMESTAMP, false, VX_STEP_LOCAL, USECS_PER_DAY},
	{F_EXTRACT_TEXT_TIMESTAMPTZ, true, VX_STEP_ZONED, 1},
	{F_DATE_PART_TEXT_TIMESTAMPTZ, true, VX_STEP_ZONED, 1},
	{F_DATE_TRUNC_TEXT_TIMESTAMPTZ, true, VX_STEP_ZONED, 1},
	{F_DATE_TIMESTAMPTZ, false, VX_STEP_ZONED, ZONE_STEP},
	{F_TIMESTAMPTZ_DATE, false, VX_STEP_NONE, 1},
};

static const TimeFunction *
find_function(Oid funcid)
{
	for (int i = 0; i < lengthof(functions); i++)
		if (functions[i].funcid == funcid)
			return &functions[i];
	return NULL;
}

bool
vx_time_has_unit(Oid funcid)
{
	const TimeFunction *function = find_function(funcid);

	return function && function->has_unit;
}

bool
vx_time_is_known(Oid funcid)
{
	return find_function(funcid) != NULL;
}

/* Microseconds of local time that have the same value of a field. */
static int64
width_of_unit(const text *unit)
{
	char	   *name = downcase_truncate_identifier(VARDATA_ANY(unit),
													VARSIZE_ANY_EXHDR(unit), false);
	int			field;

	if (DecodeUnits(0, name, &field) != UNITS)
		return 1;
	switch (field)
	{
		case DTK_MILLENNIUM:
		case DTK_CENTURY:
		case DTK_DECADE:
		case DTK_YEAR:
		case DTK_ISOYEAR:
		case DTK_QUARTER:
		case DTK_MONTH:
		case DTK_WEEK:
		case DTK_DAY:
		case DTK_DOW:
		case DTK_ISODOW:
		case DTK_DOY:
			return USECS_PER_DAY;
		case DTK_HOUR:
			return USECS_PER_HOUR;
		case DTK_MINUTE:
			return USECS_PER_MINUTE;
		default:
			return 1;
	}
}

VxTimeStep
vx_time_step(Oid funcid, const text *unit, int64 *width)
{
	const TimeFunction *function = find_function(funcid);

	*width = unit && function->step != VX_STEP_NONE ? width_of_unit(unit) : function->width;
	if (function->step == VX_STEP_ZONED)
		*width = Min(*width, ZONE_STEP);
	return function->step;
}

/*
 * Local days, hours and quarters of an hour begin where the universal ones
 * of the given width do, if the offset is a multiple of it.
 */
bool
vx_time_is_steady(int64 start, int64 width)
{
	int64		seconds = start / USECS_PER_SEC;
	pg_time_t	t = seconds + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
	pg_time_t	boundary;
	long		offset_before;
	long		offset_after;
	int			dst;
	int			found;

	found = pg_next_dst_boundary(&t, &offset_before, &dst, &boundary,
								 &offset_after, &dst, session_timezone);
	if (found < 0 || (found > 0 && boundary < t + width / USECS_PER_SEC))
		return false;
	return offset_before % (width / USECS_PER_SEC) == 0;
}
