/*-------------------------------------------------------------------------
 *
 * st_options_sql.c
 *	  Bodies of the SQL functions that set and show the options of a table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "st_compat.h"
#include "st_options.h"

void
st_check_owner(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)), name);
	pfree(name);
}

/* Opens what shall get options; only its owner may, and before any lock. */
static Relation
open_for_options(Oid relid)
{
	st_check_owner(relid);
	return relation_open(relid, ShareUpdateExclusiveLock);
}

/* Options to go back to their defaults; "all" stands for every one. */
static List *
reset_list(ArrayType *array)
{
	List	   *changes = NIL;
	Datum	   *names;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("name of an option to reset is null")));
		name = TextDatumGetCString(names[i]);
		if (strcmp(name, "all") != 0)
		{
			changes = lappend(changes, makeDefElem(name, NULL, -1));
			continue;
		}
		for (int d = 0; d < st_options_set()->ndefs; d++)
		{
			if (st_options_set()->defs[d].type != ST_OPTION_POLICY)
				changes = lappend(changes,
								  makeDefElem(pstrdup(st_options_set()->defs[d].name), NULL, -1));
		}
	}
	return changes;
}

/* Names of a function's arguments, in their order. */
static char **
argument_names(Oid function, int nargs)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid		   *types;
	char	  **names;
	char	   *modes;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	if (get_func_arg_info(tuple, &types, &names, &modes) != nargs || names == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function \"%s\" lacks names of arguments",
						get_func_name(function)),
				 errhint("Run ALTER EXTENSION %s UPDATE.", st_options_set()->provider)));
	ReleaseSysCache(tuple);
	return names;
}

/*
 * set_options(relation, one argument for each option, reset).  What an argument
 * is for is told by its name: the SQL of an older version lacks options of this
 * library, that of a newer one has some which are unknown here.
 */
Datum
st_options_set_function(FunctionCallInfo fcinfo)
{
	int			nargs = PG_NARGS();
	char	  **names = argument_names(fcinfo->flinfo->fn_oid, nargs);
	List	   *changes = NIL;
	Relation	rel;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation must not be null")));
	rel = open_for_options(PG_GETARG_OID(0));

	if (!PG_ARGISNULL(nargs - 1))
		changes = reset_list(PG_GETARG_ARRAYTYPE_P(nargs - 1));
	for (int i = 1; i < nargs - 1; i++)
	{
		Oid			output;
		bool		isvarlena;
		char	   *text;

		if (PG_ARGISNULL(i))
			continue;
		getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, i), &output, &isvarlena);
		text = OidOutputFunctionCall(output, PG_GETARG_DATUM(i));
		changes = lappend(changes, makeDefElem(names[i], (Node *) makeString(text), -1));
	}
	st_options_change(rel, changes);
	PG_RETURN_VOID();
}

Datum
st_options_table_function(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);

	InitMaterializedSRF(fcinfo, 0);
	if (rel == NULL)
		return (Datum) 0;
	for (int i = 0; i < st_options_set()->ndefs; i++)
	{
		const StOptionDef *def = &st_options_set()->defs[i];
		const char *source;
		Datum		values[5];
		bool		nulls[5] = {0};

		if (def->type == ST_OPTION_POLICY)
			continue;
		values[0] = CStringGetTextDatum(def->name);
		values[1] = CStringGetTextDatum(st_options_text(rel, i, &source));
		values[2] = CStringGetTextDatum(source);
		values[3] = CStringGetTextDatum(def->default_text);
		nulls[3] = def->default_text[0] == '\0';
		values[4] = CStringGetTextDatum(def->description);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
