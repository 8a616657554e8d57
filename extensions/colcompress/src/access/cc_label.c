/*-------------------------------------------------------------------------
 *
 * cc_label.c
 *	  Label provider "colcompress", which keeps the options of tables, and the
 *	  object access hook that follows renamed and dropped columns.
 *
 * Everything that can rename or drop a column of a colcompress table has
 * opened the table before, which loads this library, so that the hook is
 * there without any preload.  The hook ignores all but columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "commands/seclabel.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

#include "cc_access.h"
#include "cc_options.h"

static object_access_hook_type prev_object_access_hook = NULL;

/* See cc_label_await_table(). */
static const char *awaited_name = NULL;
static List *awaited_changes = NIL;
static Oid	created_relid = InvalidOid;

/* Is the relation, made by the running command, the table waited for? */
static bool
is_awaited_table(Oid relid)
{
	Relation	classrel = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		result = false;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(classrel, ClassOidIndexId, true, SnapshotSelf,
							  1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		/* its sequences come first, its TOAST relation comes after */
		result = (form->relkind == RELKIND_RELATION ||
				  form->relkind == RELKIND_MATVIEW ||
				  form->relkind == RELKIND_PARTITIONED_TABLE) &&
			strcmp(NameStr(form->relname), awaited_name) == 0;
	}
	systable_endscan(scan);
	table_close(classrel, AccessShareLock);
	return result;
}

static void
object_access(ObjectAccessType access, Oid classId, Oid objectId, int subId,
			  void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, classId, objectId, subId, arg);

	if (classId != RelationRelationId)
		return;
	if (access == OAT_POST_ALTER && subId > 0)
		st_options_column_renamed(objectId, subId);
	else if (access == OAT_DROP && subId > 0)
		st_options_column_dropped(objectId, subId);
	else if (access == OAT_POST_CREATE && subId == 0 &&
			 awaited_name != NULL && is_awaited_table(objectId))
	{
		awaited_name = NULL;
		created_relid = objectId;
		st_options_expect(objectId, awaited_changes);
	}
}

void
cc_label_await_table(const char *relname, List *changes)
{
	awaited_name = relname;
	awaited_changes = changes;
	created_relid = InvalidOid;
}

Oid
cc_label_created(void)
{
	Oid			relid = created_relid;

	awaited_name = NULL;
	awaited_changes = NIL;
	created_relid = InvalidOid;
	st_options_expect(InvalidOid, NIL);
	return relid;
}

void
cc_label_init(void)
{
	st_options_init(&cc_option_set);
	register_label_provider(cc_option_set.provider, st_options_check_label);
	prev_object_access_hook = object_access_hook;
	object_access_hook = object_access;
}
