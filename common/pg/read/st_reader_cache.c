/*-------------------------------------------------------------------------
 *
 * st_reader_cache.c
 *	  Open readers of row groups, kept across statements.
 *
 * A row group never changes, so a reader (its footer, its decoded blocks) is
 * as good in the next transaction as in this one.  The key is the file, the
 * file's random incarnation and the group's first row, none of which is ever
 * used twice.  Says nothing about visibility: callers have seen the group's
 * descriptor with their snapshot.
 *
 * Memory is bounded by the setting cache_size: least recently used readers go
 * first, and all of them after a minute without use.  A timer looks for that.  A
 * session that is idle then frees its memory as it reads invalidations, in an
 * empty transaction.  What the readers leave of cache_size is spare: formats keep
 * there what is quickly read once more, and it goes before any reader does.
 *
 * After a relcache invalidation a reader is used again if the relation's row type
 * is what it was: that is all that it takes from the relation, and VACUUM of a table
 * that is written invalidates every few seconds.  A reader whose row() raised an
 * error is not used again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>

#include "access/xact.h"
#include "lib/ilist.h"
#include "storage/sinval.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "st_callbacks.h"
#include "st_counters.h"
#include "st_read.h"

/* Uses for a row each before the size of a reader is looked at. */
#define ST_USES_BEFORE_ACCOUNT	256

/* So many ticks of the timer without a use, and memory is given back. */
#define TICK_MS			20000
#define IDLE_TICKS		4

typedef struct StReaderKey
{
	RelFileLocator locator;
	uint64		incarnation;
	uint64		first_row;
} StReaderKey;

struct StCachedReader
{
	dlist_node	lru;			/* first = least recently used */
	StReaderKey key;
	Oid			relid;
	const StFormat *format;
	StReader   *reader;
	MemoryContext mcxt;			/* this struct lives there, too */
	uint32		nrows;			/* of the group */
	uint32		nuses;			/* since its size was looked at */
	Size		bytes;
	TupleDesc	desc;			/* for which it was opened */
	int			pins;
	bool		doubtful;		/* the relation's may be another one now */
	bool		dead;			/* not in the hash table any more */
	bool		busy;			/* inside of row(), or row() failed */
};

typedef struct StReaderEntry
{
	StReaderKey key;			/* first: hash key */
	StCachedReader *cached;
} StReaderEntry;

static HTAB *readers = NULL;
static StCachedReader *last_acquired = NULL;	/* is not dead */
static dlist_head lru_list = DLIST_STATIC_INIT(lru_list);
static Size cache_bytes = 0;

static MemoryContext spare_mcxt = NULL;
static Size spare_bytes = 0;
uint64		st_spare_epoch = 1;

int			st_cache_size_kb = 64 * 1024;

static TimeoutId timer = MAX_TIMEOUTS;	/* until there is one */
static volatile sig_atomic_t idle_ticks = 0;	/* since the last use */

static void
cached_free(StCachedReader *c)
{
	dlist_delete(&c->lru);
	cache_bytes -= c->bytes;
	c->format->reader_close(c->reader);
	MemoryContextDelete(c->mcxt);
}

/* Takes a reader out of the table; frees it unless it is in use. */
static void
cached_kill(StCachedReader *c)
{
	if (!c->dead)
		hash_search(readers, &c->key, HASH_REMOVE, NULL);
	if (c == last_acquired)
		last_acquired = NULL;
	c->dead = true;
	if (c->pins == 0)
		cached_free(c);
}

static void
measure(StCachedReader *c)
{
	Size		bytes = MemoryContextMemAllocated(c->mcxt, true);

	cache_bytes += bytes - c->bytes;
	c->bytes = bytes;
}

static void
spare_forget(void)
{
	if (spare_bytes == 0)
		return;
	MemoryContextReset(spare_mcxt);
	spare_bytes = 0;
	st_spare_epoch++;
}

static void
cache_trim(void)
{
	dlist_mutable_iter iter;

	spare_forget();
	dlist_foreach_modify(iter, &lru_list)
	{
		StCachedReader *c = dlist_container(StCachedReader, lru, iter.cur);

		/* its format may have freed some of it for others */
		measure(c);
		if (cache_bytes <= ST_READER_CACHE_BYTES)
			break;
		if (c->pins == 0)
			cached_kill(c);
	}
}

/* ---- memory that is not used for a minute ---- */

static inline bool
has_memory(void)
{
	return spare_bytes > 0 || !dlist_is_empty(&lru_list);
}

/* In a signal handler.  A failed transaction block lets requests pass unheard. */
static void
timer_tick(void)
{
	if (idle_ticks < IDLE_TICKS)
		idle_ticks++;
	if (idle_ticks >= IDLE_TICKS)
		HandleCatchupInterrupt();
}

/* Errors stop all timers of a backend. */
static void
timer_start(void)
{
	if (timer == MAX_TIMEOUTS)
		timer = RegisterTimeout(USER_TIMEOUT, timer_tick);
	if (!get_timeout_active(timer))
		enable_timeout_every(timer,
							 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), TICK_MS),
							 TICK_MS);
}

/*
 * A failed transaction block stops the timer with each statement that it refuses,
 * and no XactCallback tells when it ends; its memory does.
 */
static bool failed = false;		/* timer_restart() will be called */

static void
timer_restart(void *arg)
{
	failed = false;
	if (has_memory())
		timer_start();
}

static void
timer_start_after_failure(void)
{
	static MemoryContextCallback restart = {.func = timer_restart};

	if (!failed)
		MemoryContextRegisterResetCallback(TopTransactionContext, &restart);
	failed = true;
}

/* At the end of a transaction: nothing is pinned. */
static void
give_back(void)
{
	dlist_mutable_iter iter;

	disable_timeout(timer, false);
	idle_ticks = 0;
	if (!has_memory())
		return;
	spare_forget();
	dlist_foreach_modify(iter, &lru_list)
		cached_kill(dlist_container(StCachedReader, lru, iter.cur));
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

void *
st_spare_alloc(Size len)
{
	void	   *bytes;

	if (cache_bytes + spare_bytes + len > ST_READER_CACHE_BYTES)
		spare_forget();
	if (cache_bytes + len > ST_READER_CACHE_BYTES)
		return NULL;
	if (spare_mcxt == NULL)
		spare_mcxt = AllocSetContextCreate(CacheMemoryContext, "spare of cached readers",
										   ALLOCSET_DEFAULT_SIZES);
	idle_ticks = 0;
	timer_start();
	bytes = MemoryContextAllocHuge(spare_mcxt, len);
	spare_bytes += len;
	return bytes;
}

static StReaderKey
reader_key(Relation rel, const StGroup *group)
{
	StReaderKey key;

	memset(&key, 0, sizeof(key));
	key.locator = st_relation_locator(rel);
	key.incarnation = group->incarnation;
	key.first_row = group->first_row;
	return key;
}

static StCachedReader *
cached_open(Relation rel, const StGroup *group, const StReaderKey *key)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "cached row group reader",
											   ALLOCSET_SMALL_SIZES);
	StCachedReader *c = MemoryContextAllocZero(mcxt, sizeof(StCachedReader));
	MemoryContext oldcxt;
	StReaderEntry *entry;

	c->key = *key;
	c->relid = RelationGetRelid(rel);
	c->format = st_relation_format(rel);
	c->mcxt = mcxt;
	c->nrows = group->nrows;
	oldcxt = MemoryContextSwitchTo(mcxt);
	c->desc = CreateTupleDescCopyConstr(RelationGetDescr(rel));
	MemoryContextSwitchTo(oldcxt);
	c->reader = c->format->reader_open(rel, group, mcxt);

	/* Nothing below fails after the entry is made. */
	entry = hash_search(readers, key, HASH_ENTER, NULL);
	entry->cached = c;
	MemoryContextSetParent(mcxt, CacheMemoryContext);
	dlist_push_tail(&lru_list, &c->lru);
	return c;
}

/* Can it be used for the relation as that is now? */
static bool
is_usable(StCachedReader *c, Relation rel)
{
	if (c->doubtful && equalTupleDescs(c->desc, RelationGetDescr(rel)))
		c->doubtful = false;
	return !c->doubtful && !c->busy;
}

StCachedReader *
st_reader_acquire(Relation rel, const StGroup *group)
{
	StReaderKey key = reader_key(rel, group);
	StReaderEntry *entry;
	StCachedReader *c;

	if (readers == NULL)
	{
		HASHCTL		ctl;

		ctl.keysize = sizeof(StReaderKey);
		ctl.entrysize = sizeof(StReaderEntry);
		ctl.hcxt = CacheMemoryContext;
		readers = hash_create("row group readers", 64, &ctl,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}

	entry = hash_search(readers, &key, HASH_FIND, NULL);
	if (entry != NULL && !is_usable(entry->cached, rel))
	{
		cached_kill(entry->cached);
		entry = NULL;
	}
	if (entry != NULL)
	{
		c = entry->cached;
		dlist_delete(&c->lru);
		dlist_push_tail(&lru_list, &c->lru);
	}
	else
		c = cached_open(rel, group, &key);
	st_count(rel, entry != NULL ? ST_COUNT_CACHE_HITS : ST_COUNT_CACHE_MISSES, 1);

	c->pins++;
	c->format->reader_attach(c->reader, rel);
	last_acquired = c;
	idle_ticks = 0;
	timer_start();
	return c;
}

/*
 * The lookup of a group says which reader has a row; so does the reader that
 * was acquired last, if it has it.
 */
StCachedReader *
st_reader_acquire_last(Relation rel, uint64 row, uint64 *first_row)
{
	StCachedReader *c = last_acquired;
	uint64		incarnation;

	if (c == NULL || c->doubtful || c->busy || row - c->key.first_row >= c->nrows ||
		!RelFileLocatorEquals(c->key.locator, st_relation_locator(rel)) ||
		!st_meta_has_row_groups(rel, &incarnation) || incarnation != c->key.incarnation)
		return NULL;
	c->pins++;
	c->format->reader_attach(c->reader, rel);
	idle_ticks = 0;
	*first_row = c->key.first_row;
	return c;
}

bool
st_reader_account(StCachedReader *c)
{
	idle_ticks = 0;
	measure(c);
	if (cache_bytes + spare_bytes > ST_READER_CACHE_BYTES)
		cache_trim();
	return cache_bytes <= ST_READER_CACHE_BYTES;
}

void
st_reader_release(StCachedReader *c)
{
	c->pins--;
	if (c->dead && c->pins == 0)
		cached_free(c);
	else
		(void) st_reader_account(c);
}

void
st_reader_release_soon(StCachedReader *c)
{
	if (c->dead || ++c->nuses % ST_USES_BEFORE_ACCOUNT == 0)
		st_reader_release(c);
	else
		c->pins--;
}

void
st_reader_row(StCachedReader *c, uint32 row, const bool *needed,
			  Datum *values, bool *isnull)
{
	c->busy = true;
	c->format->reader_row(c->reader, row, needed, values, isnull);
	c->busy = false;
}

static void
reader_relcache_callback(Datum arg, Oid relid)
{
	dlist_iter	iter;

	dlist_foreach(iter, &lru_list)
	{
		StCachedReader *c = dlist_container(StCachedReader, lru, iter.cur);

		if (relid == InvalidOid || c->relid == relid)
			c->doubtful = true;
	}
}

/* Scans that ended in an error have left their pins. */
static void
reader_xact_callback(XactEvent event, void *arg)
{
	dlist_mutable_iter iter;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT &&
		event != XACT_EVENT_PREPARE && event != XACT_EVENT_PARALLEL_COMMIT &&
		event != XACT_EVENT_PARALLEL_ABORT)
		return;

	dlist_foreach_modify(iter, &lru_list)
	{
		StCachedReader *c = dlist_container(StCachedReader, lru, iter.cur);

		c->pins = 0;
		if (c->dead)
			cached_free(c);
		else if (c->busy)
			cached_kill(c);
	}

	if (timer == MAX_TIMEOUTS)
		return;
	if (idle_ticks >= IDLE_TICKS)
		give_back();
	else if (has_memory())
		timer_start();
	if (event == XACT_EVENT_ABORT)
		timer_start_after_failure();
}

void
st_reader_cache_init(void)
{
	st_callbacks_relcache(reader_relcache_callback, (Datum) 0);
	RegisterXactCallback(reader_xact_callback, NULL);
}
