/*-------------------------------------------------------------------------
 *
 * cc_uint8_agg.c
 *	  sum and avg of colcompress.uint8.
 *
 * The sum is an int128, which 2^63 values cannot leave; results are exact
 * numerics, as those of int8 are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "cc_uint8.h"
#include "st_compat.h"
#include "st_numeric.h"

PG_FUNCTION_INFO_V1(cc_uint8_accum);
PG_FUNCTION_INFO_V1(cc_uint8_accum_inv);
PG_FUNCTION_INFO_V1(cc_uint8_combine);
PG_FUNCTION_INFO_V1(cc_uint8_serialize);
PG_FUNCTION_INFO_V1(cc_uint8_deserialize);
PG_FUNCTION_INFO_V1(cc_uint8_sum);
PG_FUNCTION_INFO_V1(cc_uint8_avg);

typedef struct Uint8Sum
{
	int128		sum;
	int64		count;
} Uint8Sum;

static Uint8Sum *
make_state(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return MemoryContextAllocZero(context, sizeof(Uint8Sum));
}

static Uint8Sum *
state_of(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : (Uint8Sum *) PG_GETARG_POINTER(arg);
}

Datum
cc_uint8_accum(PG_FUNCTION_ARGS)
{
	Uint8Sum   *state = state_of(fcinfo, 0);

	if (state == NULL)
		state = make_state(fcinfo);
	if (!PG_ARGISNULL(1))
	{
		state->sum += PG_GETARG_UINT8(1);
		state->count++;
	}
	PG_RETURN_POINTER(state);
}

/* For moving windows. */
Datum
cc_uint8_accum_inv(PG_FUNCTION_ARGS)
{
	Uint8Sum   *state = state_of(fcinfo, 0);

	if (state == NULL)
		elog(ERROR, "inverse transition of an aggregate without a state");
	if (!PG_ARGISNULL(1))
	{
		state->sum -= PG_GETARG_UINT8(1);
		state->count--;
	}
	PG_RETURN_POINTER(state);
}

Datum
cc_uint8_combine(PG_FUNCTION_ARGS)
{
	Uint8Sum   *state = state_of(fcinfo, 0);
	Uint8Sum   *other = state_of(fcinfo, 1);

	if (state == NULL)
		state = make_state(fcinfo);
	if (other)
	{
		state->sum += other->sum;
		state->count += other->count;
	}
	PG_RETURN_POINTER(state);
}

Datum
cc_uint8_serialize(PG_FUNCTION_ARGS)
{
	Uint8Sum   *state = (Uint8Sum *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	pq_begintypsend(&buf);
	pq_sendint64(&buf, state->count);
	pq_sendint64(&buf, (uint64) (state->sum >> 64));
	pq_sendint64(&buf, (uint64) state->sum);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
cc_uint8_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	Uint8Sum   *state;
	StringInfoData buf;
	uint64		high;

	if (!AggCheckCallContext(fcinfo, NULL))
		elog(ERROR, "aggregate function called in non-aggregate context");
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	state = palloc0(sizeof(Uint8Sum));
	state->count = pq_getmsgint64(&buf);
	high = pq_getmsgint64(&buf);
	state->sum = (int128) (((uint128) high << 64) | (uint64) pq_getmsgint64(&buf));
	pq_getmsgend(&buf);
	PG_RETURN_POINTER(state);
}

static Datum
numeric_of(int128 value)
{
	char	   *buf = palloc(ST_NUMERIC_MAX_BYTES);

	st_numeric_write_int128(buf, value, 0);
	return PointerGetDatum(buf);
}

Datum
cc_uint8_sum(PG_FUNCTION_ARGS)
{
	Uint8Sum   *state = state_of(fcinfo, 0);

	if (state == NULL || state->count == 0)
		PG_RETURN_NULL();
	return numeric_of(state->sum);
}

Datum
cc_uint8_avg(PG_FUNCTION_ARGS)
{
	Uint8Sum   *state = state_of(fcinfo, 0);

	if (state == NULL || state->count == 0)
		PG_RETURN_NULL();
	return DirectFunctionCall2(numeric_div, numeric_of(state->sum),
							   NumericGetDatum(int64_to_numeric(state->count)));
}
