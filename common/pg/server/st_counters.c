/*-------------------------------------------------------------------------
 *
 * st_counters.c
 *	  What was done with each table since a while, for the view stats.
 *
 * Each process counts for itself, table by table.  When a transaction ends, a
 * second or more after the last time, it adds that to numbers in shared memory,
 * and when it exits, and when it looks at them itself.  So counting costs some
 * instructions, and a lock is taken once a second.
 *
 * The shared part is a dynamic segment of fixed size that the first process
 * makes which has counted anything, so that nothing needs to be preloaded; it
 * lasts until the server stops.  Its handle stands in the part of the server's
 * own shared memory that is there for what did not ask in time.  Its name tells
 * the layout, because libraries of two versions may run at the same time.
 *
 * It has room for MAX_TABLES tables of all databases.  When it is full, a new
 * table takes the place of the one that was counted for least recently, which
 * is how tables that are gone leave.
 *
 * Counting is not worth an error: without a segment the numbers are lost, and the
 * next time tries again.  What raises one is memory of the process alone.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "st_compat.h"
#include "st_counters.h"

/* To be changed with Area, where its size does not change. */
#define LAYOUT		1

#define MAX_TABLES	2048
#define PUBLISH_MS	1000

typedef struct Shared
{
	uint64		key;			/* database, relation */
	TimestampTz last;			/* addition */
	TimestampTz since;			/* the first one, or a reset */
	int64		counts[ST_COUNTERS];
} Shared;

typedef struct Area
{
	LWLock		lock;
	int			used;
	Shared		tables[MAX_TABLES];
} Area;

/* Where it is, under AddinShmemInitLock. */
typedef struct Handle
{
	dsm_handle	segment;		/* or DSM_HANDLE_INVALID */
	int			tranche;		/* of its lock, or 0 */
} Handle;

typedef struct Local
{
	Oid			relid;			/* first: hash key */
	int64		counts[ST_COUNTERS];
	int64		changes[ST_COUNTERS];	/* which count once they are committed */
} Local;

static char area_name[NAMEDATALEN];
static Area *area = NULL;
static HTAB *locals = NULL;		/* since the last time */
static Local *latest = NULL;	/* that was counted for */
static Local *changed = NULL;	/* by this transaction */
static TimestampTz published = 0;

/* ---- in shared memory ---- */

/* Under AddinShmemInitLock; NULL: there are no more segments.  May raise an error. */
static Area *
open_area(void)
{
	bool		found;
	Handle	   *handle = ShmemInitStruct(area_name, sizeof(Handle), &found);
	dsm_segment *segment;
	Area	   *made;

	if (!found)
		*handle = (Handle) {.segment = DSM_HANDLE_INVALID};
	if (handle->tranche == 0)
		handle->tranche = st_new_tranche(area_name);
	st_register_tranche(handle->tranche, area_name);
	if (handle->segment != DSM_HANDLE_INVALID)
	{
		segment = dsm_attach(handle->segment);
		return segment == NULL ? NULL : dsm_segment_address(segment);
	}
	segment = dsm_create(sizeof(Area), DSM_CREATE_NULL_IF_MAXSEGMENTS);
	if (segment == NULL)
		return NULL;
	made = dsm_segment_address(segment);
	LWLockInitialize(&made->lock, handle->tranche);
	made->used = 0;
	dsm_pin_segment(segment);
	handle->segment = dsm_segment_handle(segment);
	return made;
}

/*
 * The mapping is no resource owner's, so it lasts as long as the process, and
 * an error leaves nothing behind that a transaction has to clean up after.
 */
static bool
have_area(void)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	uint32		holdoff;

	if (area != NULL || !IsUnderPostmaster)
		return area != NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	holdoff = InterruptHoldoffCount;
	CurrentResourceOwner = NULL;
	PG_TRY();
	{
		area = open_area();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
		InterruptHoldoffCount = holdoff;
	}
	PG_END_TRY();
	CurrentResourceOwner = owner;
	LWLockRelease(AddinShmemInitLock);
	return area != NULL;
}

static void
begin_anew(Shared *table, TimestampTz now)
{
	table->since = now;
	memset(table->counts, 0, sizeof(table->counts));
}

/* Under the lock: finds or makes a place. */
static Shared *
place_of(uint64 key, TimestampTz now)
{
	Shared	   *place = area->tables;

	for (int i = 0; i < area->used; i++)
	{
		if (area->tables[i].key == key)
			return &area->tables[i];
		if (area->tables[i].last < place->last)
			place = &area->tables[i];
	}
	if (area->used < MAX_TABLES)
		place = &area->tables[area->used++];
	place->key = key;
	begin_anew(place, now);
	return place;
}

static uint64
key_of(Oid relid)
{
	return ((uint64) MyDatabaseId << 32) | relid;
}

/* ---- in this process ---- */

/* Adds what this process has counted, and forgets it. */
static void
publish(void)
{
	HASH_SEQ_STATUS scan;
	const Local *local;

	if (locals == NULL)
		return;
	published = GetCurrentTimestamp();
	hash_freeze(locals);
	if (have_area())
	{
		LWLockAcquire(&area->lock, LW_EXCLUSIVE);
		hash_seq_init(&scan, locals);
		while ((local = hash_seq_search(&scan)) != NULL)
		{
			Shared	   *place = place_of(key_of(local->relid), published);

			for (int c = 0; c < ST_COUNTERS; c++)
				place->counts[c] += local->counts[c];
			place->last = published;
		}
		LWLockRelease(&area->lock);
	}
	hash_destroy(locals);
	locals = NULL;
	latest = changed = NULL;
}

/* Changes count, or do not. */
static void
end_changes(bool committed)
{
	if (changed == NULL)
		return;
	for (int c = 0; committed && c < ST_COUNTERS; c++)
		changed->counts[c] += changed->changes[c];
	memset(changed->changes, 0, sizeof(changed->changes));
	changed = NULL;
}

/* Nothing here raises an error. */
static void
counters_xact_callback(XactEvent event, void *arg)
{
	if (locals == NULL ||
		(event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT &&
		 event != XACT_EVENT_PREPARE && event != XACT_EVENT_PARALLEL_COMMIT &&
		 event != XACT_EVENT_PARALLEL_ABORT))
		return;
	end_changes(event == XACT_EVENT_COMMIT);
	if (TimestampDifferenceExceeds(published, GetCurrentTimestamp(), PUBLISH_MS))
		publish();
}

static void
counters_exit(int code, Datum arg)
{
	publish();
}

static void
make_locals(void)
{
	static bool registered = false;
	HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(Local),
	.hcxt = TopMemoryContext};

	if (!registered)
	{
		RegisterXactCallback(counters_xact_callback, NULL);
		before_shmem_exit(counters_exit, 0);
		registered = true;
	}
	locals = hash_create("table counters", 32, &ctl,
						 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* NULL: it is not counted for. */
static Local *
find_local(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	bool		found;

	if (!pgstat_track_counts)
		return NULL;
	if (latest != NULL && latest->relid == relid)
		return latest;
	if (RelationUsesLocalBuffers(rel) || !IsUnderPostmaster)
		return NULL;
	if (locals == NULL)
		make_locals();
	latest = hash_search(locals, &relid, HASH_ENTER, &found);
	if (!found)
	{
		memset(latest->counts, 0, sizeof(latest->counts));
		memset(latest->changes, 0, sizeof(latest->changes));
	}
	return latest;
}

void
st_count(Relation rel, StCounter counter, int64 n)
{
	Local	   *local = find_local(rel);

	if (local != NULL)
		local->counts[counter] += n;
}

void
st_count_change(Relation rel, StCounter counter, int64 n)
{
	Local	   *local = find_local(rel);

	if (local == NULL)
		return;
	Assert(changed == NULL || changed == local);
	changed = local;
	local->changes[counter] += n;
}

void
st_counters_init(const char *name)
{
	snprintf(area_name, sizeof(area_name), "%s counters %d, %zu", name, LAYOUT, sizeof(Area));
}

/* ---- SQL ---- */

void
st_counters_function(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Shared	   *tables = palloc(MAX_TABLES * sizeof(Shared));
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	publish();
	if (!have_area())
	{
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("counters of tables have no shared memory")));
		return;
	}
	LWLockAcquire(&area->lock, LW_SHARED);
	n = area->used;
	memcpy(tables, area->tables, n * sizeof(Shared));
	LWLockRelease(&area->lock);
	for (int i = 0; i < n; i++)
	{
		const Shared *table = &tables[i];
		Datum		values[ST_COUNTERS + 2];
		bool		nulls[ST_COUNTERS + 2] = {0};

		if ((Oid) (table->key >> 32) != MyDatabaseId)
			continue;
		values[0] = ObjectIdGetDatum((Oid) table->key);
		for (int c = 0; c < ST_COUNTERS; c++)
			values[c + 1] = Int64GetDatum(table->counts[c]);
		values[ST_COUNTERS + 1] = TimestampTzGetDatum(table->since);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	pfree(tables);
}

void
st_counters_reset(FunctionCallInfo fcinfo)
{
	bool		all = PG_ARGISNULL(0);
	uint64		key = all ? 0 : key_of(PG_GETARG_OID(0));

	publish();
	if (!have_area())
		return;
	LWLockAcquire(&area->lock, LW_EXCLUSIVE);
	for (int i = 0; i < area->used; i++)
	{
		Shared	   *table = &area->tables[i];

		if (all ? (Oid) (table->key >> 32) == MyDatabaseId : table->key == key)
			begin_anew(table, GetCurrentTimestamp());
	}
	LWLockRelease(&area->lock);
}
