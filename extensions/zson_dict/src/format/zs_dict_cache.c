/*-------------------------------------------------------------------------
 *
 * zs_dict_cache.c
 *	  Digested dictionaries of this backend, and the choice of one for a new
 *	  document.
 *
 * A dictionary never changes, and its id is not given out again, not even
 * after a rollback.  But the extension may be dropped and created anew, or a
 * function be restored from a dump: when a digest's function has changed, it
 * is compared with it before it is used again.  The least recently used ones
 * go when all of them take more than CACHE_BYTES.
 *
 * The choice.  A document's root keys are hashed; the newest committed
 * dictionary of the column (or the default) that was learned from documents
 * with these keys takes it.  So a column needs no setting that a dump, a
 * rename or a partition could lose.  Documents with other keys take the
 * default dictionary, or the newest one where there is no default.  The table
 * of hashes is made anew when pg_proc changes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "st_checksum.h"
#include "st_compat.h"
#include "zs_datum.h"
#include "zs_dict.h"

#define CACHE_BYTES (3 * 1024 * 1024 + 512 * 1024)
#define CACHE_SLOTS 64
#define PACK_LEVEL 2

typedef struct Slot
{
	uint32		id;				/* 0: free */
	uint32		hashvalue;		/* of its function, in invalidations */
	bool		doubtful;		/* its function has changed since */
	uint64		used;			/* clock when it was last asked for */
	Size		bytes;
	MemoryContext context;
	StZsonDict	dict;
} Slot;

/* Number of no dictionary: nobody asks for that slot again. */
#define RETIRED PG_UINT32_MAX

static Slot slots[CACHE_SLOTS];
static Slot no_slot;
static Slot *last_slot = &no_slot;
static uint64 use_clock = 0;
static uint64 changes = 0;		/* of functions, that we heard of */

/* The dictionary for documents with these root keys, by their hash. */
typedef struct Route
{
	uint64		hash;
	uint32		id;
} Route;

static MemoryContext route_context = NULL;
static bool routes_valid = false;
static Route *routes = NULL;	/* sorted by hash */
static int	nroutes = 0;
static uint32 default_id = 0;

/* ---- invalidation ---- */

static void
proc_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	bool		ours = false;

	changes++;
	routes_valid = false;
	for (int i = 0; i < CACHE_SLOTS; i++)
	{
		if (slots[i].id != 0 &&
			(hashvalue == 0 || slots[i].hashvalue == hashvalue))
			slots[i].doubtful = ours = true;
	}
	if (ours)
	{
		last_slot = &no_slot;
		zs_forget_fields();
	}
}

static void
watch_functions(void)
{
	static bool registered = false;

	if (!registered)
		CacheRegisterSyscacheCallback(PROCOID, proc_changed, (Datum) 0);
	registered = true;
}

/* ---- digests ---- */

void *
zs_dict_alloc(void *arg, size_t size)
{
	return MemoryContextAllocZero((MemoryContext) arg, size);
}

static void
slot_measure(Slot *slot)
{
	slot->bytes = MemoryContextMemAllocated(slot->context, true);
	if (slot->dict.pack)
		slot->bytes += st_codec_dict_memory(slot->dict.pack);
	if (slot->dict.unpack)
		slot->bytes += st_codec_dict_memory(slot->dict.unpack);
}

static void
slot_free(Slot *slot)
{
	if (last_slot == slot)
		last_slot = &no_slot;
	st_codec_dict_free(slot->dict.pack);
	st_codec_dict_free(slot->dict.unpack);
	if (slot->context)
		MemoryContextDelete(slot->context);
	memset(slot, 0, sizeof(*slot));
}

/* Frees those not used for longest, until there is room, and gives a slot. */
static Slot *
slot_get(void)
{
	for (;;)
	{
		Slot	   *free_slot = NULL;
		Slot	   *oldest = NULL;
		Size		total = 0;

		for (int i = 0; i < CACHE_SLOTS; i++)
		{
			Slot	   *slot = &slots[i];

			total += slot->bytes;
			if (slot->id == 0)
				free_slot = slot;
			else if (slot->used + ZS_DICT_PINNED <= use_clock &&
					 (oldest == NULL || slot->used < oldest->used))
				oldest = slot;
		}
		if (free_slot != NULL && (total <= CACHE_BYTES || oldest == NULL))
			return free_slot;
		if (oldest == NULL)
			elog(ERROR, "no room for another dictionary");
		slot_free(oldest);
	}
}

Size
zs_dict_cache_size(void)
{
	Size		total = 0;

	for (int i = 0; i < CACHE_SLOTS; i++)
		total += slots[i].bytes;
	return total;
}

static void
damaged(uint32 id, StStatus status)
{
	if (status == ST_UNSUPPORTED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dictionary %u of zson was made by a newer version of the extension",
						id)));
	if (status == ST_NOMEM)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while loading dictionary %u of zson.", id)));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("dictionary %u of zson is damaged", id),
			 errhint("Restore the function %s.%s%u() from a dump.",
					 ZS_SCHEMA, ZS_DICT_PREFIX, id)));
}

/* The bytes of a dictionary, as its function gives them now. */
static bytea *
fetch(uint32 id, Oid *funcid)
{
	bytea	   *fetched;

	if (!IsTransactionState())
		elog(ERROR, "dictionaries of zson cannot be read outside of a transaction");
	watch_functions();
	fetched = zs_dict_fetch(id, funcid);
	if (fetched == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dictionary %u of zson does not exist", id),
				 errdetail("The value was stored with this dictionary and cannot be read without it."),
				 errhint("Restore the function %s.%s%u() from a dump.",
						 ZS_SCHEMA, ZS_DICT_PREFIX, id)));
	return fetched;
}

static Slot *
slot_load(uint32 id)
{
	Slot	   *slot = slot_get();
	MemoryContext context;
	uint64		before = changes;
	Oid			funcid;
	bytea	   *fetched = fetch(id, &funcid);
	uint8	   *blob;
	Size		len = VARSIZE_ANY_EXHDR(fetched);
	StZsonDict	dict;
	StStatus	status;

	/* a child of ours until it is whole, so that an error frees it */
	context = AllocSetContextCreate(CurrentMemoryContext, "zson dictionary",
									ALLOCSET_SMALL_SIZES);
	blob = MemoryContextAlloc(context, len + 8);
	memcpy(blob, VARDATA_ANY(fetched), len);
	pfree(fetched);
	status = st_zson_dict_load(&dict, id, blob, len, zs_dict_alloc, context);
	if (status != ST_OK)
		damaged(id, status);
	/* strings among the values are checked when they are read */
	for (uint32 i = 0; i < dict.nkeys; i++)
	{
		if (!zs_text_valid(dict.keys[i].data, dict.keys[i].len))
			damaged(id, ST_CORRUPT);
	}
	if (dict.zdictlen > 0)
	{
		dict.unpack = st_codec_dict_create(ST_CODEC_ZSTD, 0, ST_CODEC_UNPACK,
										   dict.zdict, dict.zdictlen);
		if (dict.unpack == NULL)
			damaged(id, ST_NOMEM);
	}
	MemoryContextSetParent(context, CacheMemoryContext);
	slot->dict = dict;
	slot->context = context;
	slot->id = id;
	slot->hashvalue = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(funcid));
	/* a change that came while we read counts */
	slot->doubtful = changes != before;
	slot_measure(slot);
	return slot;
}

/* Its function has changed: is it still the same dictionary? */
static bool
slot_still_holds(Slot *slot)
{
	uint64		before = changes;
	Oid			funcid;
	bytea	   *fetched = fetch(slot->id, &funcid);
	bool		same;

	same = VARSIZE_ANY_EXHDR(fetched) == slot->dict.len &&
		memcmp(VARDATA_ANY(fetched), slot->dict.blob, slot->dict.len) == 0;
	pfree(fetched);
	if (!same)
	{
		slot->id = RETIRED;
		return false;
	}
	slot->hashvalue = GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(funcid));
	slot->doubtful = changes != before;
	return true;
}

static inline Slot *
slot_of(uint32 id)
{
	Slot	   *slot = last_slot;

	if (unlikely(slot->id != id || id == 0))
	{
		slot = NULL;
		for (int i = 0; i < CACHE_SLOTS && slot == NULL; i++)
		{
			if (slots[i].id == id)
				slot = &slots[i];
		}
		if (slot == NULL || (slot->doubtful && !slot_still_holds(slot)))
			slot = slot_load(id);
		last_slot = slot;
		slot->used = ++use_clock;
	}
	return slot;
}

const StZsonDict *
zs_dict_read(uint32 id)
{
	return &slot_of(id)->dict;
}

const StZsonDict *
zs_dict_write(uint32 id)
{
	Slot	   *slot = slot_of(id);

	if (unlikely(slot->dict.shape_table == NULL))
	{
		StStatus	status;

		status = st_zson_dict_prepare_write(&slot->dict, zs_dict_alloc,
											slot->context);
		if (status != ST_OK)
			damaged(id, status);
		if (slot->dict.zdictlen > 0)
		{
			slot->dict.pack = st_codec_dict_create(ST_CODEC_ZSTD, PACK_LEVEL,
												   ST_CODEC_PACK,
												   slot->dict.zdict,
												   slot->dict.zdictlen);
			if (slot->dict.pack == NULL)
				damaged(id, ST_NOMEM);
		}
		slot_measure(slot);
	}
	return &slot->dict;
}

/* ---- routes ---- */

static int
compare_routes(const void *a, const void *b)
{
	const Route *x = a;
	const Route *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Later entries are of newer dictionaries, which win. */
static void
load_routes(void)
{
	MemoryContext old;
	List	   *list;
	ListCell   *lc;
	Route	   *all;
	int			n = 0;
	int			kept = 0;
	uint32		newest = 0;
	uint32		classic = 0;

	watch_functions();
	if (route_context == NULL)
		route_context = AllocSetContextCreate(CacheMemoryContext,
											  "zson routes",
											  ALLOCSET_SMALL_SIZES);
	/* an invalidation that comes while we read counts */
	routes_valid = true;
	PG_TRY();
	{
		list = zs_dict_list();
	}
	PG_CATCH();
	{
		routes_valid = false;
		PG_RE_THROW();
	}
	PG_END_TRY();

	routes = NULL;
	nroutes = 0;
	MemoryContextReset(route_context);
	old = MemoryContextSwitchTo(route_context);
	all = palloc(list_length(list) * ZS_MAX_ROOTS * sizeof(Route) + 1);
	MemoryContextSwitchTo(old);
	foreach(lc, list)
	{
		ZsDictInfo *info = lfirst(lc);

		/* one that may yet be rolled back is not written with */
		if (!info->committed)
		{
			routes_valid = false;
			continue;
		}
		if (info->column == NULL)
			continue;
		newest = info->id;
		if (info->column[0] == '\0')
			classic = info->id;
		for (int i = 0; i < info->nroots; i++)
			all[n++] = (Route) {info->roots[i], info->id};
	}
	qsort(all, n, sizeof(Route), compare_routes);
	for (int i = 0; i < n; i++)
	{
		if (i + 1 == n || all[i + 1].hash != all[i].hash)
			all[kept++] = all[i];
	}
	routes = all;
	nroutes = kept;
	default_id = classic != 0 ? classic : newest;
	list_free_deep(list);
}

uint64
zs_root_hash(const uint8 *image)
{
	uint32		header = st_load_u32(image);
	uint32		n = header & 0x0fffffff;
	uint32		off = 0;

	if ((header & 0x20000000) == 0 || n == 0)
		return 0;
	for (uint32 i = 0; i < n; i++)
	{
		uint32		entry = st_load_u32(image + 4 + 4 * (Size) i);

		off = entry & 0x80000000 ? entry & 0x0fffffff :
			off + (entry & 0x0fffffff);
	}
	return st_checksum64(image + 4 + 8 * (Size) n, off, n) | 1;
}

const StZsonDict *
zs_dict_route(const uint8 *image, Size len)
{
	uint64		hash;
	int			low = 0;
	int			high;

	if (unlikely(!routes_valid))
		load_routes();
	if (default_id == 0)
		return NULL;
	hash = zs_root_hash(image);
	high = nroutes;
	while (low < high)
	{
		int			mid = (low + high) / 2;

		if (routes[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < nroutes && routes[low].hash == hash)
		return zs_dict_write(routes[low].id);
	return zs_dict_write(default_id);
}

bool
zs_dict_is_chosen(uint32 id)
{
	if (!routes_valid)
		load_routes();
	for (int i = 0; i < nroutes; i++)
	{
		if (routes[i].id == id)
			return true;
	}
	return default_id == id;
}
