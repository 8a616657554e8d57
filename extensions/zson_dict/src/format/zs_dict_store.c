/*-------------------------------------------------------------------------
 *
 * zs_dict_store.c
 *	  Reads dictionaries from pg_proc.
 *
 * A dictionary's function is made by zson_learn() and zson_train(): its body
 * is
 *
 *		/+ zson dictionary|column|note|hashes of root shapes +/
 *		SELECT pg_catalog.decode('...', 'base64')
 *
 * (with asterisks for the plus signs), and its name tells the id.  Only
 * functions in the schema zson_dict count, in which nobody but its owner may
 * create any.  Scans use the catalog snapshot and read nothing but pg_proc,
 * so that they work wherever the server itself can look up a function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "st_compat.h"
#include "zs_dict.h"

#define HEADER_BYTES 4096
#define HEADER_START "/* zson dictionary|"

/* Id that a function's name tells, 0 if it is none of ours. */
static uint32
id_of_name(const char *name)
{
	char	   *end;
	unsigned long id;

	if (strncmp(name, ZS_DICT_PREFIX, strlen(ZS_DICT_PREFIX)) != 0)
		return 0;
	name += strlen(ZS_DICT_PREFIX);
	if (*name < '1' || *name > '9')
		return 0;
	id = strtoul(name, &end, 10);
	return *end == '\0' && id <= PG_INT32_MAX ? (uint32) id : 0;
}

/* The next field of a header, which is cut off; NULL at the end. */
static char *
next_field(char **rest)
{
	char	   *field = *rest;
	char	   *bar;

	if (field == NULL)
		return NULL;
	bar = strchr(field, '|');
	*rest = bar ? bar + 1 : NULL;
	if (bar)
		*bar = '\0';
	return field;
}

/* Without a header of ours, a dictionary can be read but is never chosen. */
static void
parse_header(char *text, ZsDictInfo *info)
{
	char	   *rest;
	char	   *end = strstr(text, " */");

	info->column = NULL;
	info->note = "";
	info->roots = palloc(ZS_MAX_ROOTS * sizeof(uint64));
	if (end == NULL ||
		strncmp(text, HEADER_START, strlen(HEADER_START)) != 0)
		return;
	*end = '\0';
	rest = text + strlen(HEADER_START);
	info->column = next_field(&rest);
	info->note = rest ? next_field(&rest) : "";
	while (rest != NULL && *rest != '\0' && info->nroots < ZS_MAX_ROOTS)
	{
		info->roots[info->nroots++] = strtoull(rest, &rest, 16);
		if (*rest++ != ',')
			break;
	}
}

char *
zs_dict_describe(const ZsDictInfo *info)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, HEADER_START);
	for (const char *p = info->column; *p; p++)
		appendStringInfoChar(&buf, *p == '|' || *p == '*' ? '_' : *p);
	appendStringInfoChar(&buf, '|');
	for (const char *p = info->note; *p; p++)
		appendStringInfoChar(&buf, *p == '|' || *p == '*' ? '_' : *p);
	appendStringInfoChar(&buf, '|');
	for (int i = 0; i < info->nroots; i++)
		appendStringInfo(&buf, "%s%llx", i ? "," : "",
						 (unsigned long long) info->roots[i]);
	appendStringInfoString(&buf, " */\n");
	return buf.data;
}

static SysScanDesc
begin_scan(Relation procrel, const char *from, const char *last)
{
	ScanKeyData key[2];

	/* the scan's keys point to them */
	Name		low = palloc(sizeof(NameData));
	Name		high = palloc(sizeof(NameData));

	namestrcpy(low, from);
	namestrcpy(high, last);
	ScanKeyInit(&key[0], Anum_pg_proc_proname, BTGreaterEqualStrategyNumber,
				F_NAMEGE, NameGetDatum(low));
	ScanKeyInit(&key[1], Anum_pg_proc_proname, BTLessEqualStrategyNumber,
				F_NAMELE, NameGetDatum(high));
	return systable_beginscan(procrel, ProcedureNameArgsNspIndexId, true,
							  NULL, 2, key);
}

static int
compare_ids(const ListCell *a, const ListCell *b)
{
	uint32		x = ((ZsDictInfo *) lfirst(a))->id;
	uint32		y = ((ZsDictInfo *) lfirst(b))->id;

	return x < y ? -1 : x > y;
}

List *
zs_dict_list(void)
{
	Oid			nsp = get_namespace_oid(ZS_SCHEMA, true);
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *result = NIL;

	if (!OidIsValid(nsp))
		return NIL;
	rel = table_open(ProcedureRelationId, AccessShareLock);
	scan = begin_scan(rel, ZS_DICT_PREFIX, ZS_DICT_PREFIX ":");
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);
		uint32		id = id_of_name(NameStr(proc->proname));
		TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);
		ZsDictInfo *info;
		Datum		src;
		bool		isnull;

		src = heap_getattr(tuple, Anum_pg_proc_prosrc, RelationGetDescr(rel),
						   &isnull);
		if (id == 0 || proc->pronamespace != nsp || isnull ||
			proc->pronargs != 0)
			continue;
		info = palloc0(sizeof(ZsDictInfo));
		info->id = id;
		info->funcid = proc->oid;
		info->committed = !TransactionIdIsCurrentTransactionId(xmin);
		parse_header(text_to_cstring((text *)
									 PG_DETOAST_DATUM_SLICE(src, 0,
															HEADER_BYTES)),
					 info);
		result = lappend(result, info);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(result, compare_ids);
	return result;
}

/* The bytes in a function's body; NULL if it is not of our form. */
static bytea *
parse_body(Datum src)
{
	char	   *body = TextDatumGetCString(src);
	char	   *header = strstr(body, "*/");
	char	   *start = strchr(header ? header : body, '\'');
	char	   *end = start ? strchr(start + 1, '\'') : NULL;
	bytea	   *result;

	if (end == NULL)
		return NULL;
	result = DatumGetByteaP(DirectFunctionCall2(binary_decode,
												PointerGetDatum(cstring_to_text_with_len(start + 1, end - start - 1)),
												CStringGetTextDatum("base64")));
	pfree(body);
	return result;
}

bytea *
zs_dict_fetch(uint32 id, Oid *funcid)
{
	Oid			nsp = get_namespace_oid(ZS_SCHEMA, true);
	char		name[NAMEDATALEN];
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	bytea	   *result = NULL;

	if (!OidIsValid(nsp))
		return NULL;
	snprintf(name, sizeof(name), ZS_DICT_PREFIX "%u", id);
	rel = table_open(ProcedureRelationId, AccessShareLock);
	scan = begin_scan(rel, name, name);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);
		Datum		src;
		bool		isnull;

		if (proc->pronamespace != nsp || proc->pronargs != 0)
			continue;
		src = heap_getattr(tuple, Anum_pg_proc_prosrc, RelationGetDescr(rel),
						   &isnull);
		*funcid = proc->oid;
		if (!isnull)
			result = parse_body(src);
		break;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}
