/*-------------------------------------------------------------------------
 *
 * st_options.c
 *	  Options of tables: cache, inheritance by partitions, and changes of the
 *	  security label that holds them.
 *
 * Cache: a hash keyed by table.  pg_seclabel has no syscache, so whoever
 * changes a label sends a relcache invalidation of the table, and of all
 * below it if it is partitioned; the relcache callback marks entries stale.
 * An entry that depends on other tables (ancestors of a partition, the table
 * that a transient copy will replace) goes stale with any of those.
 *
 * Locks: reading takes none beyond the caller's on the table; changes are
 * made under the caller's ShareUpdateExclusiveLock.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "st_callbacks.h"
#include "st_compat.h"
#include "st_options.h"

/* Cache entries kept before stale ones are thrown away. */
#define MAX_CACHED_TABLES 1024

typedef struct OptionsEntry
{
	Oid			relid;			/* hash key */
	bool		valid;
	bool		dependent;		/* other tables' labels matter too */
	StOptions  *options;		/* in CacheMemoryContext */
} OptionsEntry;

static const StOptionSet *option_set = NULL;
static HTAB *options_cache = NULL;

/* Tables that some dependent entry depends on. */
static HTAB *options_parents = NULL;

/* Raised by every invalidation that may concern an entry being made. */
static uint64 invalidations = 0;

/* See st_options_expect(). */
static Oid	expected_relid = InvalidOid;
static List *expected_changes = NIL;

/* ---- cache ---- */

static void
forget_entries(bool all)
{
	HASH_SEQ_STATUS status;
	OptionsEntry *entry;

	hash_seq_init(&status, options_cache);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (all || entry->dependent)
			entry->valid = false;
}

static void
relcache_callback(Datum arg, Oid relid)
{
	OptionsEntry *entry;

	invalidations++;
	if (options_cache == NULL)
		return;
	if (!OidIsValid(relid))
	{
		forget_entries(true);
		return;
	}
	entry = hash_search(options_cache, &relid, HASH_FIND, NULL);
	if (entry != NULL)
		entry->valid = false;
	if (hash_search(options_parents, &relid, HASH_FIND, NULL) != NULL)
		forget_entries(false);
}

static HTAB *
create_oid_hash(const char *name, Size entrysize)
{
	HASHCTL		ctl;

	memset(&ctl, 0, sizeof(ctl));
	ctl.keysize = sizeof(Oid);
	ctl.entrysize = entrysize;
	ctl.hcxt = CacheMemoryContext;
	return hash_create(name, 32, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
st_options_init(const StOptionSet *set)
{
	Assert(option_set == NULL);
	option_set = set;
	st_callbacks_relcache(relcache_callback, (Datum) 0);
}

const StOptionSet *
st_options_set(void)
{
	return option_set;
}

static void
create_cache(void)
{
	if (options_cache != NULL)
		return;
	options_parents = create_oid_hash("Strata options: parents", sizeof(Oid));
	options_cache = create_oid_hash("Strata options", sizeof(OptionsEntry));
}

/* Throws away stale entries when there are many (dropped tables). */
static void
trim_cache(void)
{
	HASH_SEQ_STATUS status;
	OptionsEntry *entry;

	if (hash_get_num_entries(options_cache) < MAX_CACHED_TABLES)
		return;
	hash_seq_init(&status, options_cache);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		if (entry->valid)
			continue;
		pfree(entry->options);
		hash_search(options_cache, &entry->relid, HASH_REMOVE, NULL);
	}
}

/* ---- options in force ---- */

static ObjectAddress
label_address(Oid relid)
{
	ObjectAddress address;

	ObjectAddressSet(address, RelationRelationId, relid);
	return address;
}

/* Settings of the table's own label. */
static List *
own_settings(Oid relid, int elevel)
{
	ObjectAddress address = label_address(relid);
	char	   *label = GetSecurityLabel(&address, option_set->provider);

	if (label == NULL)
		return NIL;
	return st_option_parse_label(option_set, label, elevel);
}

/* settings with the changes of a user's command applied. */
static List *
apply_changes(List *settings, List *changes)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		DefElem    *change = lfirst(lc);
		const StOptionDef *def = st_option_find(option_set, change->defname);
		ListCell   *lc2;

		if (def == NULL)		/* reports the unknown name */
			(void) st_option_parse_label(option_set,
										 psprintf("%s=0", change->defname),
										 ERROR);
		foreach(lc2, settings)
		{
			if (((StOptionSetting *) lfirst(lc2))->def == def)
				settings = foreach_delete_current(settings, lc2);
		}
		if (change->arg != NULL)
		{
			StOptionSetting *setting = palloc(sizeof(StOptionSetting));

			setting->def = def;
			setting->text = defGetString(change);
			settings = lappend(settings, setting);
		}
	}
	return settings;
}

/*
 * The tables whose labels count for rel, nearest first: itself (or the table
 * that it is a transient copy of), then its ancestors if it is a partition.
 */
static List *
label_tables(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	bool		ispartition = rel->rd_rel->relispartition;
	List	   *tables;

	if (OidIsValid(rel->rd_rel->relrewrite))
	{
		relid = rel->rd_rel->relrewrite;
		ispartition = get_rel_relispartition(relid);
	}
	tables = list_make1_oid(relid);
	if (ispartition)
		tables = list_concat(tables, get_partition_ancestors(relid));
	return tables;
}

static List *
settings_of(Oid relid, int elevel)
{
	List	   *settings = own_settings(relid, elevel);

	if (relid == expected_relid)
		settings = apply_changes(settings, expected_changes);
	return settings;
}

/* Merges settings of all label tables; sources (of ndefs) may be NULL. */
static List *
settings_in_force(Relation rel, List *tables, StOptionSource *sources)
{
	List	   *merged = NIL;
	ListCell   *lc;

	foreach(lc, tables)
	{
		ListCell   *lc2;

		foreach(lc2, settings_of(lfirst_oid(lc), WARNING))
		{
			StOptionSetting *setting = lfirst(lc2);
			ListCell   *lc3;
			bool		known = false;

			foreach(lc3, merged)
				known = known ||
				((StOptionSetting *) lfirst(lc3))->def == setting->def;
			if (known)
				continue;
			merged = lappend(merged, setting);
			if (sources != NULL)
				sources[setting->def - option_set->defs] =
					foreach_current_index(lc) == 0 ? ST_SOURCE_TABLE : ST_SOURCE_PARENT;
		}
	}
	return merged;
}

/* Fills options from defaults and settings. */
static void
make_options(Relation rel, List *settings, StOptions *options, int elevel)
{
	bool	   *isset = palloc0(option_set->ndefs * sizeof(bool));
	ListCell   *lc;

	memset(options, 0, option_set->size);
	for (int i = 0; i < option_set->ndefs; i++)
	{
		const StOptionDef *def = &option_set->defs[i];

		if (def->default_text[0] != '\0')
			(void) st_option_store(def, def->default_text, rel, options, ERROR);
	}
	foreach(lc, settings)
	{
		StOptionSetting *setting = lfirst(lc);

		if (st_option_store(setting->def, setting->text, rel, options, elevel))
			isset[setting->def - option_set->defs] = true;
	}
	if (option_set->complete != NULL)
		option_set->complete(options, isset, elevel);
	pfree(isset);
}

static void
remember_parents(List *tables, Oid self)
{
	ListCell   *lc;

	foreach(lc, tables)
	{
		Oid			relid = lfirst_oid(lc);

		if (relid != self)
			(void) hash_search(options_parents, &relid, HASH_ENTER, NULL);
	}
}

/* Makes or renews the cache entry; work memory goes with the caller's. */
static OptionsEntry *
load_entry(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	StOptions  *options = palloc(option_set->size);
	List	   *tables;
	uint64		before;
	OptionsEntry *entry;
	bool		found;

	before = invalidations;
	tables = label_tables(rel);
	make_options(rel, settings_in_force(rel, tables, NULL), options,
				 list_member_oid(tables, expected_relid) ? ERROR : 0);

	trim_cache();
	remember_parents(tables, relid);
	entry = hash_search(options_cache, &relid, HASH_ENTER, &found);
	if (!found)
	{
		entry->valid = false;
		entry->options = NULL;
	}
	if (entry->options == NULL)
		entry->options = MemoryContextAlloc(CacheMemoryContext, option_set->size);
	memcpy(entry->options, options, option_set->size);
	entry->dependent = list_length(tables) > 1 || linitial_oid(tables) != relid;
	entry->valid = before == invalidations;
	return entry;
}

const StOptions *
st_options_get(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	OptionsEntry *entry;
	MemoryContext work;
	MemoryContext old;

	create_cache();
	entry = hash_search(options_cache, &relid, HASH_FIND, NULL);
	if (entry != NULL && entry->valid)
		return entry->options;

	work = AllocSetContextCreate(CurrentMemoryContext, "options",
								 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(work);
	entry = load_entry(rel);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(work);
	return entry->options;
}

char *
st_options_text(Relation rel, int i, StOptionSource *source)
{
	StOptionSource *sources = palloc0(option_set->ndefs * sizeof(StOptionSource));

	(void) settings_in_force(rel, label_tables(rel), sources);
	*source = sources[i];
	return st_option_value_text(&option_set->defs[i], st_options_get(rel), rel);
}

/* ---- changes ---- */

static void
invalidate_tree(Oid relid)
{
	List	   *relids = list_make1_oid(relid);
	ListCell   *lc;

	if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
		relids = find_all_inheritors(relid, NoLock, NULL);
	foreach(lc, relids)
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(lfirst_oid(lc))))
			CacheInvalidateRelcacheByRelid(lfirst_oid(lc));
	}
}

static void
check_relkind(Relation rel)
{
	char		relkind = rel->rd_rel->relkind;

	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW &&
		relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table or materialized view",
						RelationGetRelationName(rel)),
				 errdetail("Options of %s are for tables, partitioned tables and materialized views.",
						   option_set->provider)));
	if (IsCatalogRelation(rel) || IsToastRelation(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a system table",
						RelationGetRelationName(rel))));
}

static void
check_settings(Relation rel, List *settings)
{
	StOptions  *options = palloc(option_set->size);

	make_options(rel, settings, options, ERROR);
	pfree(options);
}

/* Settings with every value in its canonical form. */
static List *
canonical_settings(Relation rel, List *settings)
{
	StOptions  *options = palloc0(option_set->size);
	ListCell   *lc;

	foreach(lc, settings)
	{
		StOptionSetting *setting = lfirst(lc);

		(void) st_option_store(setting->def, setting->text, rel, options, ERROR);
		setting->text = st_option_value_text(setting->def, options, rel);
	}
	pfree(options);
	return settings;
}

static void
write_label(Oid relid, List *settings)
{
	ObjectAddress address = label_address(relid);

	SetSecurityLabel(&address, option_set->provider,
					 st_option_make_label(option_set, settings));
	invalidate_tree(relid);
	CommandCounterIncrement();
}

void
st_options_change(Relation rel, List *changes)
{
	Oid			relid = RelationGetRelid(rel);
	List	   *settings;

	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	check_relkind(rel);
	settings = apply_changes(own_settings(relid, WARNING), changes);
	check_settings(rel, settings);
	write_label(relid, canonical_settings(rel, settings));
}

void
st_options_check_label(const ObjectAddress *object, const char *label)
{
	Relation	rel;

	if (object->classId != RelationRelationId || object->objectSubId != 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s labels are for tables only", option_set->provider),
				 errhint("Use %s.set_options() to change options of a table.",
						 option_set->provider)));
	/* SECURITY LABEL has locked the table */
	rel = relation_open(object->objectId, NoLock);
	check_relkind(rel);
	if (label != NULL)
		check_settings(rel, st_option_parse_label(option_set, label, ERROR));
	invalidate_tree(object->objectId);
	relation_close(rel, NoLock);
}

void
st_options_expect(Oid relid, List *changes)
{
	if (options_cache != NULL)
		forget_entries(true);
	expected_relid = relid;
	expected_changes = changes;
}

/* ---- columns ---- */

/* The setting of type ORDERBY among settings, or NULL. */
static StOptionSetting *
find_orderby(List *settings)
{
	ListCell   *lc;

	foreach(lc, settings)
	{
		StOptionSetting *setting = lfirst(lc);

		if (setting->def->type == ST_OPTION_ORDERBY)
			return setting;
	}
	return NULL;
}

static void
change_orderby_column(Oid relid, const char *oldname, const char *newname)
{
	List	   *settings = own_settings(relid, WARNING);
	StOptionSetting *orderby = find_orderby(settings);
	char	   *text;
	ObjectAddress address = label_address(relid);

	if (orderby == NULL)
		return;
	text = st_option_orderby_rename(orderby->text, oldname, newname);
	if (text == NULL)
		return;
	if (text[0] == '\0')
		settings = list_delete_ptr(settings, orderby);
	else
		orderby->text = text;
	SetSecurityLabel(&address, option_set->provider,
					 st_option_make_label(option_set, settings));
	invalidate_tree(relid);
}

/* Name of the column as the running command has left it, palloc'd. */
static char *
current_column_name(Oid relid, AttrNumber attno)
{
	Relation	attrel = table_open(AttributeRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *name = NULL;

	ScanKeyInit(&key[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_attribute_attnum, BTEqualStrategyNumber,
				F_INT2EQ, Int16GetDatum(attno));
	scan = systable_beginscan(attrel, AttributeRelidNumIndexId, true,
							  SnapshotSelf, 2, key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
	systable_endscan(scan);
	table_close(attrel, AccessShareLock);
	return name;
}

/*
 * After ALTER TABLE has changed a column and before the next command: the
 * syscache still has the old name.
 */
void
st_options_column_renamed(Oid relid, AttrNumber attno)
{
	char	   *oldname = get_attname(relid, attno, true);
	char	   *newname = current_column_name(relid, attno);

	if (oldname != NULL && newname != NULL && strcmp(oldname, newname) != 0)
		change_orderby_column(relid, oldname, newname);
}

/* Called before a column is dropped: takes it out of the option orderby. */
void
st_options_column_dropped(Oid relid, AttrNumber attno)
{
	char	   *name = get_attname(relid, attno, true);

	if (name != NULL)
		change_orderby_column(relid, name, NULL);
}
