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
#include "st_options_order.h"
#include "st_options_shards.h"

/* Tables in the cache; when there are more, it begins anew. */
#define MAX_CACHED_TABLES 1024

typedef struct OptionsEntry
{
	Oid			relid;			/* hash key */
	bool		valid;
	bool		dependent;		/* other tables' labels matter too */
	StOptions  *options;
	MemoryContext exprs_mcxt;	/* of exprs; NULL: nobody has asked for them */
	List	   *exprs;			/* StOrderExpr of orderby */
} OptionsEntry;

static const StOptionSet *option_set = NULL;
static MemoryContext options_mcxt = NULL;	/* the cache and all in it */
static HTAB *options_cache = NULL;
static bool any_dependent = false;	/* and valid */

/* Raised by every invalidation that may concern an entry being made. */
static uint64 invalidations = 0;

/* ---- cache ---- */

/* A dependent entry goes with any table: what it depends on is not kept. */
static void
relcache_callback(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	OptionsEntry *entry;

	invalidations++;
	if (options_cache == NULL)
		return;
	if (OidIsValid(relid))
	{
		entry = hash_search(options_cache, &relid, HASH_FIND, NULL);
		if (entry != NULL)
			entry->valid = false;
		if (!any_dependent)
			return;
	}
	hash_seq_init(&status, options_cache);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		if (entry->dependent || !OidIsValid(relid))
			entry->valid = false;
	}
	any_dependent = false;
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
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(OptionsEntry)};

	if (options_mcxt == NULL)
		options_mcxt = AllocSetContextCreate(CacheMemoryContext, "options of tables",
											 ALLOCSET_SMALL_SIZES);
	MemoryContextReset(options_mcxt);
	ctl.hcxt = options_mcxt;
	options_cache = hash_create("Strata options", 32, &ctl,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
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
static char **
own_settings(Oid relid, int elevel)
{
	ObjectAddress address = label_address(relid);
	char	   *label = GetSecurityLabel(&address, option_set->provider);

	return st_option_parse_label(option_set, label == NULL ? "" : label, elevel);
}

/* Applies the changes of a user's command to the settings. */
static void
apply_changes(char **settings, List *changes)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		DefElem    *change = lfirst(lc);
		const StOptionDef *def = st_option_find(option_set, change->defname);

		if (def == NULL)		/* reports the unknown name */
			(void) st_option_parse_label(option_set,
										 psprintf("%s=0", change->defname),
										 ERROR);
		settings[def - option_set->defs] = change->arg == NULL ? NULL :
			defGetString(change);
	}
}

/*
 * The tables whose labels count for rel, nearest first: itself (or the table
 * that it is a transient copy or a shard of), then its ancestors if it is a
 * partition.
 */
static List *
label_tables(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	bool		ispartition = rel->rd_rel->relispartition;
	Oid			original = rel->rd_rel->relrewrite;
	Oid			table = st_options_table_of_shard(OidIsValid(original) ? original : relid);
	List	   *tables;

	if (OidIsValid(table))
		original = table;
	if (OidIsValid(original))
	{
		relid = original;
		ispartition = get_rel_relispartition(relid);
	}
	tables = list_make1_oid(relid);
	if (ispartition)
		tables = list_concat(tables, get_partition_ancestors(relid));
	return tables;
}

/* Merges settings of all label tables; sources (of ndefs) may be NULL. */
static char **
settings_in_force(List *tables, const char **sources)
{
	char	  **merged = palloc0(option_set->ndefs * sizeof(char *));
	ListCell   *lc;

	foreach(lc, tables)
	{
		char	  **own = own_settings(lfirst_oid(lc), WARNING);

		for (int i = 0; i < option_set->ndefs; i++)
		{
			if (merged[i] != NULL || own[i] == NULL)
				continue;
			merged[i] = own[i];
			if (sources != NULL)
				sources[i] = foreach_current_index(lc) == 0 ? "table" : "parent";
		}
	}
	return merged;
}

/* Fills options from defaults and settings. */
static void
make_options(Relation rel, char **settings, StOptions *options, int elevel)
{
	bool	   *isset = palloc0(option_set->ndefs * sizeof(bool));

	memset(options, 0, option_set->size);
	for (int i = 0; i < option_set->ndefs; i++)
	{
		const StOptionDef *def = &option_set->defs[i];

		if (def->default_text[0] != '\0')
			(void) st_option_store(def, def->default_text, rel, options, ERROR);
		isset[i] = settings[i] != NULL &&
			st_option_store(def, settings[i], rel, options, elevel);
	}
	if (option_set->complete != NULL)
		option_set->complete(options, isset, elevel);
	pfree(isset);
}

/* Puts the expressions of the new options into the cache's memory. */
static void
replace_options(StOptions *cached, const StOptions *options)
{
	for (int i = 0; i < cached->orderby.ncolumns; i++)
	{
		if (cached->orderby.columns[i].expr != NULL)
			pfree(unconstify(char *, cached->orderby.columns[i].expr));
	}
	cached->orderby.ncolumns = 0;	/* should memory run out below */
	memcpy(cached, options, option_set->size);
	cached->orderby.ncolumns = 0;
	for (int i = 0; i < options->orderby.ncolumns; i++)
	{
		const char *expr = options->orderby.columns[i].expr;

		if (expr != NULL)
			cached->orderby.columns[i].expr = MemoryContextStrdup(options_mcxt, expr);
		cached->orderby.ncolumns = i + 1;
	}
}

static void
forget_exprs(OptionsEntry *entry)
{
	if (entry->exprs_mcxt != NULL)
		MemoryContextDelete(entry->exprs_mcxt);
	entry->exprs_mcxt = NULL;
	entry->exprs = NIL;
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
	make_options(rel, settings_in_force(tables, NULL), options, 0);

	if (hash_get_num_entries(options_cache) >= MAX_CACHED_TABLES)
		create_cache();
	entry = hash_search(options_cache, &relid, HASH_ENTER, &found);
	if (!found)
	{
		entry->valid = false;
		entry->options = NULL;
		entry->exprs_mcxt = NULL;
	}
	forget_exprs(entry);
	if (entry->options == NULL)
		entry->options = MemoryContextAllocZero(options_mcxt, option_set->size);
	replace_options(entry->options, options);
	/* the entry of a shard in Citus's catalogs may come after the shard */
	entry->dependent = list_length(tables) > 1 || linitial_oid(tables) != relid ||
		st_options_may_be_shard(rel);
	entry->valid = before == invalidations;
	any_dependent |= entry->dependent;
	return entry;
}

const StOptions *
st_options_get(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	OptionsEntry *entry;
	MemoryContext work;
	MemoryContext old;

	if (options_cache == NULL)
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

static bool
orders_by_expressions(const StOrderBy *order)
{
	for (int i = 0; i < order->ncolumns; i++)
	{
		if (order->columns[i].expr != NULL)
			return true;
	}
	return false;
}

List *
st_options_order_exprs(Relation rel)
{
	const StOptions *options = st_options_get(rel);
	Oid			relid = RelationGetRelid(rel);
	uint64		before = invalidations;
	OptionsEntry *entry;
	StOrderBy	order;
	MemoryContext mcxt;
	MemoryContext old;
	List	   *exprs;

	if (!orders_by_expressions(&options->orderby))
		return NIL;
	entry = hash_search(options_cache, &relid, HASH_FIND, NULL);
	if (entry->exprs_mcxt != NULL)
		return entry->exprs;

	mcxt = AllocSetContextCreate(CurrentMemoryContext, "expressions of orderby",
								 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	/* analysis may renew the entry */
	order = options->orderby;
	for (int i = 0; i < order.ncolumns; i++)
	{
		if (order.columns[i].expr != NULL)
			order.columns[i].expr = pstrdup(order.columns[i].expr);
	}
	exprs = st_order_exprs_make(rel, &order);
	MemoryContextSwitchTo(old);

	/* else they are the caller's alone, and still mean what they say */
	entry = hash_search(options_cache, &relid, HASH_FIND, NULL);
	if (before == invalidations && entry != NULL && entry->exprs_mcxt == NULL)
	{
		MemoryContextSetParent(mcxt, options_mcxt);
		entry->exprs_mcxt = mcxt;
		entry->exprs = exprs;
	}
	return exprs;
}

const StOptions *
st_options_with(Relation rel, List *changes)
{
	char	  **settings = settings_in_force(label_tables(rel), NULL);
	StOptions  *options = palloc(option_set->size);

	apply_changes(settings, changes);
	make_options(rel, settings, options, ERROR);
	return options;
}

char *
st_options_text(Relation rel, int i, const char **source)
{
	const char **sources = palloc0(option_set->ndefs * sizeof(char *));

	(void) settings_in_force(label_tables(rel), sources);
	*source = sources[i] == NULL ? "default" : sources[i];
	return st_option_value_text(&option_set->defs[i], st_options_get(rel), rel);
}

char *
st_options_policy_text(Oid relid, const char *name)
{
	const StOptionDef *def = st_option_find(option_set, name);

	if (def == NULL || def->type != ST_OPTION_POLICY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a policy says nothing of \"%s\"", name)));
	return own_settings(relid, 0)[def - option_set->defs];
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
check_settings(Relation rel, char **settings)
{
	StOptions  *options = palloc(option_set->size);

	make_options(rel, settings, options, ERROR);
	pfree(options);
}

static void
write_label(Oid relid, char **settings)
{
	ObjectAddress address = label_address(relid);

	SetSecurityLabel(&address, option_set->provider,
					 st_option_make_label(option_set, settings));
	invalidate_tree(relid);
}

void
st_options_remove(Oid relid)
{
	ObjectAddress address = label_address(relid);

	SetSecurityLabel(&address, option_set->provider, NULL);
	invalidate_tree(relid);
}

/* An orderby that a user has written goes through the server's parser. */
static void
make_orders_canonical(Relation rel, char **settings)
{
	for (int i = 0; i < option_set->ndefs; i++)
	{
		if (settings[i] != NULL && option_set->defs[i].type == ST_OPTION_ORDERBY)
			settings[i] = st_option_orderby_canonical(settings[i], rel);
	}
}

/* Checks the settings, and brings them into their canonical form. */
static void
make_canonical(Relation rel, char **settings)
{
	StOptions  *options = palloc0(option_set->size);

	check_relkind(rel);
	make_orders_canonical(rel, settings);
	check_settings(rel, settings);
	for (int i = 0; i < option_set->ndefs; i++)
	{
		const StOptionDef *def = &option_set->defs[i];

		if (settings[i] == NULL || def->type == ST_OPTION_POLICY)
			continue;
		(void) st_option_store(def, settings[i], rel, options, ERROR);
		settings[i] = st_option_value_text(def, options, rel);
	}
	pfree(options);
}

void
st_options_change(Relation rel, List *changes)
{
	Oid			relid = RelationGetRelid(rel);
	char	  **settings;

	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	if (OidIsValid(st_options_table_of_shard(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a shard", RelationGetRelationName(rel)),
				 errhint("Set options of the distributed table \"%s\": its shards take them from there.",
						 get_rel_name(st_options_table_of_shard(relid)))));
	settings = own_settings(relid, WARNING);
	apply_changes(settings, changes);
	make_canonical(rel, settings);
	relation_close(rel, NoLock);
	if (st_options_is_distributed(relid))
		st_options_label_everywhere(relid, option_set->provider,
									st_option_make_label(option_set, settings));
	else
		write_label(relid, settings);
	CommandCounterIncrement();
}

void
st_options_set_new(Oid relid, List *changes)
{
	Relation	rel = relation_open(relid, AccessExclusiveLock);
	char	  **settings = palloc0(option_set->ndefs * sizeof(char *));

	apply_changes(settings, changes);
	make_canonical(rel, settings);
	write_label(relid, settings);
	relation_close(rel, NoLock);
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

/* ---- columns ---- */

static void
change_orderby_column(Oid relid, const char *oldname, const char *newname)
{
	char	  **settings = own_settings(relid, WARNING);

	for (int i = 0; i < option_set->ndefs; i++)
	{
		char	   *text = NULL;

		if (settings[i] != NULL && option_set->defs[i].type == ST_OPTION_ORDERBY)
			text = st_option_orderby_rename(settings[i], oldname, newname);
		if (text == NULL)
			continue;
		settings[i] = text[0] == '\0' ? NULL : text;
		write_label(relid, settings);
	}
}

/*
 * A type that is changed may make another expression of the text, or none: so
 * the server refuses it for generated columns, and we do.
 */
static void
check_type_change(Oid relid, const char *name)
{
	char	  **settings = own_settings(relid, WARNING);

	for (int i = 0; i < option_set->ndefs; i++)
	{
		if (settings[i] == NULL || option_set->defs[i].type != ST_OPTION_ORDERBY ||
			!st_option_orderby_computes(settings[i], name))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot alter type of a column used in an expression of option \"orderby\""),
				 errdetail("Column \"%s\" is used by %s.", name, settings[i]),
				 errhint("Change the option first: %s.set_options('%s', orderby => '').",
						 option_set->provider, get_rel_name(relid))));
	}
}

/*
 * The row of pg_attribute as the running command has left it; NULL if there
 * is none.
 */
static HeapTuple
current_column(Oid relid, AttrNumber attno)
{
	Relation	attrel = table_open(AttributeRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&key[1], Anum_pg_attribute_attnum, BTEqualStrategyNumber,
				F_INT2EQ, Int16GetDatum(attno));
	scan = systable_beginscan(attrel, AttributeRelidNumIndexId, true,
							  SnapshotSelf, 2, key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		tuple = heap_copytuple(tuple);
	systable_endscan(scan);
	table_close(attrel, AccessShareLock);
	return tuple;
}

/*
 * After ALTER TABLE has changed a column and before the next command: the
 * syscache still has the old column.
 */
void
st_options_column_altered(Oid relid, AttrNumber attno)
{
	HeapTuple	before = SearchSysCacheAttNum(relid, attno);
	HeapTuple	after = current_column(relid, attno);

	if (HeapTupleIsValid(before) && HeapTupleIsValid(after))
	{
		Form_pg_attribute old = (Form_pg_attribute) GETSTRUCT(before);
		Form_pg_attribute new = (Form_pg_attribute) GETSTRUCT(after);

		if (strcmp(NameStr(old->attname), NameStr(new->attname)) != 0)
			change_orderby_column(relid, NameStr(old->attname),
								  NameStr(new->attname));
		else if (old->atttypid != new->atttypid ||
				 old->attcollation != new->attcollation)
			check_type_change(relid, NameStr(old->attname));
	}
	if (HeapTupleIsValid(before))
		ReleaseSysCache(before);
}

/* Called before a column is dropped: takes it out of the option orderby. */
void
st_options_column_dropped(Oid relid, AttrNumber attno)
{
	char	   *name = get_attname(relid, attno, true);

	if (name != NULL)
		change_orderby_column(relid, name, NULL);
}
