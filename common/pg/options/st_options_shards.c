/*-------------------------------------------------------------------------
 *
 * st_options_shards.c
 *	  Options of tables that Citus has distributed.
 *
 * A distributed table has an empty relation of its name on every node, and
 * shards, which are ordinary tables named after it.  The label of the former
 * counts for the shards on the same node, at the moment of use: so those that
 * are made later, by a split or on another node, need nothing done for them.
 * What a shard's own label says is the copy that Citus made of the table's
 * when it made the shard, so it does not count.
 *
 * Nothing here needs Citus to be compiled or run: its catalogs are looked up
 * by name in pg_catalog, where only a superuser can have put them, and only
 * for tables whose name ends like a shard's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "st_error.h"
#include "st_options.h"
#include "st_options_shards.h"

/* Citus puts this before a shard's number if the name would be too long. */
#define LONG_NAME_HASH	9		/* _ and eight hexadecimal digits */

/*
 * Value of a column of the row of a catalog of Citus whose key is so; false
 * if there is no such row, or no Citus in this database.
 */
static bool
citus_lookup(const char *catalog, const char *index, const char *key_column,
			 RegProcedure equal, Datum key, const char *column, Datum *value)
{
	Oid			relid = get_relname_relid(catalog, PG_CATALOG_NAMESPACE);
	Oid			indexid = get_relname_relid(index, PG_CATALOG_NAMESPACE);
	Relation	rel;
	ScanKeyData scankey;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull = true;

	if (!OidIsValid(relid) || !OidIsValid(indexid))
		return false;
	rel = table_open(relid, AccessShareLock);
	ScanKeyInit(&scankey, get_attnum(relid, key_column), BTEqualStrategyNumber, equal, key);
	scan = systable_beginscan(rel, indexid, true, NULL, 1, &scankey);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		*value = heap_getattr(tuple, get_attnum(relid, column), RelationGetDescr(rel), &isnull);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return !isnull;
}

/* The number that ends the name of a shard, and where it begins; 0 if none. */
static int64
shard_number(const char *name, const char **end_of_table)
{
	const char *digits = name + strlen(name);
	int64		number = 0;

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (*digits == '\0' || digits - name < 2 || digits[-1] != '_' || strlen(digits) > 18)
		return 0;
	for (const char *p = digits; *p != '\0'; p++)
		number = number * 10 + (*p - '0');
	*end_of_table = digits - 1;
	return number;
}

bool
st_options_may_be_shard(Relation rel)
{
	const char *end;

	return shard_number(RelationGetRelationName(rel), &end) > 0;
}

/* Is name, up to end, what Citus makes of the table's name? */
static bool
named_after(const char *name, const char *end, const char *table)
{
	size_t		length = end - name;

	if (strncmp(name, table, length) == 0 && table[length] == '\0')
		return true;
	return strlen(table) > length && length > LONG_NAME_HASH &&
		strncmp(name, table, length - LONG_NAME_HASH) == 0;
}

Oid
st_options_table_of_shard(Oid relid)
{
	const char *name = get_rel_name(relid);
	const char *end;
	int64		number = name == NULL ? 0 : shard_number(name, &end);
	Datum		value;
	Oid			table;
	const char *table_name;

	if (number == 0 ||
		!citus_lookup("pg_dist_shard", "pg_dist_shard_shardid_index", "shardid",
					  F_INT8EQ, Int64GetDatum(number), "logicalrelid", &value))
		return InvalidOid;
	table = DatumGetObjectId(value);
	table_name = get_rel_name(table);
	if (table_name == NULL || get_rel_namespace(table) != get_rel_namespace(relid) ||
		!named_after(name, end, table_name))
		return InvalidOid;
	return table;
}

bool
st_options_is_distributed(Oid relid)
{
	Datum		value;

	return citus_lookup("pg_dist_partition", "pg_dist_partition_logical_relid_index",
						"logicalrelid", F_OIDEQ, ObjectIdGetDatum(relid), "partmethod", &value);
}

static void
run(const char *command)
{
	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "could not execute \"%s\"", command);
}

/* A table of the access method that has the provider's name: this, or a partition. */
static Oid
table_of_library(Oid relid, const char *provider)
{
	Oid			am = get_am_oid(provider, true);
	List	   *relids = find_all_inheritors(relid, AccessShareLock, NULL);
	Oid			found = InvalidOid;
	ListCell   *lc;

	foreach(lc, relids)
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_class form;

		if (!HeapTupleIsValid(tuple))
			continue;
		form = (Form_pg_class) GETSTRUCT(tuple);
		if (!OidIsValid(found) && form->relkind == RELKIND_RELATION && form->relam == am)
			found = form->oid;
		ReleaseSysCache(tuple);
	}
	return found;
}

/*
 * Citus takes SECURITY LABEL to all nodes, in the transaction.  There the
 * provider must be loaded: an ALTER TABLE that changes nothing goes ahead by
 * the same connections, of which sequential mode takes one for each node, and
 * opens a table of the provider's library.
 */
void
st_options_label_everywhere(Oid relid, const char *provider, const char *label)
{
	Oid			opened = table_of_library(relid, provider);
	int			nest = NewGUCNestLevel();

	(void) set_config_option("citus.multi_shard_modify_mode", "sequential", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	if (OidIsValid(opened))
		run(psprintf("ALTER TABLE %s RESET (strata_loads_its_library)", st_qualified_name(opened)));
	run(psprintf("SECURITY LABEL FOR %s ON TABLE %s IS %s", quote_identifier(provider),
				 st_qualified_name(relid), label == NULL ? "NULL" : quote_literal_cstr(label)));
	SPI_finish();
	AtEOXact_GUC(false, nest);
}
