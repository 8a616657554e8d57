/*-------------------------------------------------------------------------
 *
 * st_options_shards.h
 *	  Options of tables that Citus has distributed: see st_options_shards.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_OPTIONS_SHARDS_H
#define ST_OPTIONS_SHARDS_H

#include "utils/relcache.h"

/* Does the table's name look like that of a shard? */
extern bool st_options_may_be_shard(Relation rel);

/*
 * The distributed table of which this is a shard on this node, or InvalidOid.
 * Reads catalogs; takes AccessShareLock on them.
 */
extern Oid	st_options_table_of_shard(Oid relid);

/* Is the table distributed, a reference table or a local one that Citus knows? */
extern bool st_options_is_distributed(Oid relid);

/*
 * Sets the table's label (NULL: removes it) on every node, through Citus and
 * in this transaction.  Runs commands; the caller holds a lock on the table.
 */
extern void st_options_label_everywhere(Oid relid, const char *provider, const char *label);

#endif							/* ST_OPTIONS_SHARDS_H */
