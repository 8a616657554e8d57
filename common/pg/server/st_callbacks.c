/*-------------------------------------------------------------------------
 *
 * st_callbacks.c
 *	  Relcache invalidations, for any number of callers in one slot.
 *
 * A backend has ten slots for relcache callbacks, and dies when an eleventh is
 * asked for.  The server takes three of them, Citus five.  So the first library
 * of ours that is loaded takes one slot, and makes a list that later libraries
 * find under a rendezvous variable and add themselves to:
 *
 *		slot -> dispatch() of the first library
 *				list -> function, arg -> function, arg -> ...
 *						(first library)  (any library)
 *
 * The libraries may be of different builds: each carries its own copy of this
 * file.  They meet in the variable's name, which therefore stands for the
 * layout of the two structs below and for what dispatch() does.  A change of
 * either raises the number in the name.  Libraries with different numbers do
 * not see each other; each number takes one slot.
 *
 * Entries are never removed: the server never unloads a library.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "st_callbacks.h"

#define ST_CALLBACKS_NAME	"strata_relcache_callbacks_1"

typedef struct StCallback
{
	struct StCallback *next;
	RelcacheCallbackFunction function;
	Datum		arg;
} StCallback;

typedef struct StCallbackList
{
	StCallback *first;
} StCallbackList;

StaticAssertDecl(sizeof(StCallback) == 2 * sizeof(void *) + sizeof(Datum),
				 "layout of " ST_CALLBACKS_NAME);

static void
dispatch(Datum list, Oid relid)
{
	StCallback *callback = ((StCallbackList *) DatumGetPointer(list))->first;

	for (; callback != NULL; callback = callback->next)
		callback->function(callback->arg, relid);
}

/* The list that all libraries share, made if this is the first one. */
static StCallbackList *
find_list(void)
{
	void	  **variable = find_rendezvous_variable(ST_CALLBACKS_NAME);

	if (*variable == NULL)
	{
		StCallbackList *list = MemoryContextAllocZero(TopMemoryContext,
													  sizeof(StCallbackList));

		CacheRegisterRelcacheCallback(dispatch, PointerGetDatum(list));
		*variable = list;
	}
	return *variable;
}

void
st_callbacks_relcache(RelcacheCallbackFunction function, Datum arg)
{
	StCallback **end = &find_list()->first;
	StCallback *callback = MemoryContextAlloc(TopMemoryContext,
											  sizeof(StCallback));

	callback->next = NULL;
	callback->function = function;
	callback->arg = arg;
	while (*end != NULL)
		end = &(*end)->next;
	*end = callback;
}
