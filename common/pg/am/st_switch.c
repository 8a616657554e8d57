/*-------------------------------------------------------------------------
 *
 * st_switch.c
 *	  A table gets another access method where it is: what every such change
 *	  refuses, and what it does to the catalogs.
 *
 * For access methods whose rows are in heap's pages; also for sorted_heap,
 * which has nothing else.
 *
 * Lock: AccessExclusiveLock until the transaction ends, like ALTER TABLE.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "st_switch.h"

/* ---- what is refused ---- */

void
st_check_kind(Relation rel, const char *am_name)
{
	char		relkind = rel->rd_rel->relkind;

	if (relkind == RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned table",
						RelationGetRelationName(rel)),
				 errdetail("Its rows are in its partitions."),
				 errhint("Call adopt() for each of them.")));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table or materialized view",
						RelationGetRelationName(rel))));
	if (IsSystemRelation(rel))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied: \"%s\" is a system catalog",
						RelationGetRelationName(rel))));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a heap table",
						RelationGetRelationName(rel)),
				 errdetail("Its access method is \"%s\".",
						   get_am_name(rel->rd_rel->relam)),
				 errhint("ALTER TABLE ... SET ACCESS METHOD %s writes it anew.",
						 quote_identifier(am_name))));
}

/* pg_dump says nothing of such a table: a restored one would be heap. */
void
st_check_extension(Relation rel)
{
	Oid			extension = getExtensionOfObject(RelationRelationId,
												 RelationGetRelid(rel));

	if (OidIsValid(extension))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" belongs to extension \"%s\"",
						RelationGetRelationName(rel),
						get_extension_name(extension)),
				 errdetail("A dump leaves the access method of such a table to its extension."),
				 errhint("ALTER EXTENSION ... DROP TABLE takes it out of the extension.")));
}

/* ---- the change ---- */

void
st_switch_am(Relation rel, Oid am)
{
	Oid			relid = RelationGetRelid(rel);
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	Oid			before;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	form = (Form_pg_class) GETSTRUCT(tuple);
	before = form->relam;
	form->relam = am;
	CatalogTupleUpdate(pg_class, &tuple->t_self, tuple);
	if (changeDependencyFor(RelationRelationId, relid, AccessMethodRelationId,
							before, am) != 1)
		elog(ERROR, "could not change access method dependency for relation \"%s\"",
			 RelationGetRelationName(rel));
	heap_freetuple(tuple);
	table_close(pg_class, RowExclusiveLock);

	/* serializable readers of single rows have read the table as it was */
	TransferPredicateLocksToHeapRelation(rel);
	InvokeObjectPostAlterHook(RelationRelationId, relid, 0);
	CommandCounterIncrement();
}
