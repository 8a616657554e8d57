/*-------------------------------------------------------------------------
 *
 * callback_slots.c
 *	  A neighbour that takes slots for relcache callbacks.
 *
 * When it is loaded, it takes as many as setting callback_slots.taken says.
 * Later, take_slots(integer) takes more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"
#include "utils/inval.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(take_slots);

extern PGDLLEXPORT void _PG_init(void);

static void
ignore(Datum arg, Oid relid)
{
}

static void
take(int slots)
{
	for (int i = 0; i < slots; i++)
		CacheRegisterRelcacheCallback(ignore, (Datum) 0);
}

void
_PG_init(void)
{
	const char *taken = GetConfigOption("callback_slots.taken", true, false);

	take(taken == NULL ? 0 : atoi(taken));
}

Datum
take_slots(PG_FUNCTION_ARGS)
{
	take(PG_GETARG_INT32(0));
	PG_RETURN_VOID();
}
