/*-------------------------------------------------------------------------
 *
 * st_options_text.c
 *	  Text forms of table options: the label, single values, and lists of
 *	  order columns.
 *
 * Reads no catalog other than the type cache and writes nothing.  Callers
 * choose by elevel whether bad input is an error (a user sets it) or is
 * skipped (it was stored by another version, or the table has changed).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/typcache.h"

#include "st_options.h"

/* One item of an order list, as text. */
typedef struct OrderItem
{
	char	   *name;
	bool		desc;
	bool		nulls_first;
} OrderItem;

const StOptionDef *
st_option_find(const StOptionSet *set, const char *name)
{
	for (int i = 0; i < set->ndefs; i++)
		if (strcmp(set->defs[i].name, name) == 0)
			return &set->defs[i];
	return NULL;
}

/* ---- label ---- */

static bool
is_bare_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

static const char *
skip_space(const char *p)
{
	while (scanner_isspace(*p))
		p++;
	return p;
}

/* Reads a bare or quoted value at *p; NULL at a syntax error. */
static char *
read_value(const char **p)
{
	StringInfoData buf;
	const char *s = *p;

	initStringInfo(&buf);
	if (*s != '\'')
	{
		while (is_bare_char(*s))
			appendStringInfoChar(&buf, *s++);
		*p = s;
		return buf.len > 0 ? buf.data : NULL;
	}
	for (s++;; s++)
	{
		if (*s == '\0')
			return NULL;
		if (*s == '\'' && *++s != '\'')
			break;
		appendStringInfoChar(&buf, *s);
	}
	*p = s;
	return buf.data;
}

static char *
read_key(const char **p)
{
	const char *start = *p;

	while (is_bare_char(**p))
		(*p)++;
	return pnstrdup(start, *p - start);
}

static void
report_unknown(const StOptionSet *set, const char *name, int elevel)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < set->ndefs; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", set->defs[i].name);
	ereport(elevel,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized %s option \"%s\"", set->provider, name),
			 errhint("Valid options are: %s.", names.data)));
}

char	  **
st_option_parse_label(const StOptionSet *set, const char *label, int elevel)
{
	char	  **settings = palloc0(set->ndefs * sizeof(char *));
	const char *p = skip_space(label);

	while (*p != '\0')
	{
		char	   *key = read_key(&p);
		char	   *value = NULL;
		const StOptionDef *def;

		if (key[0] != '\0' && *p == '=')
		{
			p++;
			value = read_value(&p);
		}
		if (value == NULL || (*p != '\0' && !scanner_isspace(*p)))
		{
			ereport(elevel,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid %s options label \"%s\"", set->provider, label),
					 errdetail("A label is a list of option=value separated by spaces, with values in single quotes where they are more than one word."),
					 errhint("Use %s.set_options() to change options.", set->provider)));
			return settings;
		}
		def = st_option_find(set, key);
		if (def == NULL)
			report_unknown(set, key, elevel);
		else
			settings[def - set->defs] = value;
		p = skip_space(p);
	}
	return settings;
}

static void
append_value(StringInfo buf, const char *value)
{
	bool		bare = value[0] != '\0';

	for (const char *p = value; *p; p++)
		bare = bare && is_bare_char(*p);
	if (bare)
		appendStringInfoString(buf, value);
	else
		appendStringInfoString(buf, quote_literal_cstr(value));
}

char *
st_option_make_label(const StOptionSet *set, char **settings)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < set->ndefs; i++)
	{
		if (settings[i] == NULL)
			continue;
		appendStringInfo(&buf, "%s%s=", buf.len > 0 ? " " : "",
						 set->defs[i].name);
		append_value(&buf, settings[i]);
	}
	return buf.len > 0 ? buf.data : NULL;
}

/* ---- order lists ---- */

/* Consumes the keyword (lower case) if it stands at *p as a whole word. */
static bool
read_keyword(const char **p, const char *keyword)
{
	Size		len = strlen(keyword);

	if (pg_strncasecmp(*p, keyword, len) != 0 || is_bare_char((*p)[len]))
		return false;
	*p = skip_space(*p + len);
	return true;
}

/* A column name as SQL writes it; NULL at a syntax error. */
static char *
read_identifier(const char **p)
{
	const char *s = *p;
	StringInfoData buf;

	if (*s != '"')
	{
		while (IS_HIGHBIT_SET(*s) || *s == '$' ||
			   (is_bare_char(*s) && *s != '-' && *s != '.'))
			s++;
		if (s == *p || (**p >= '0' && **p <= '9') || **p == '$')
			return NULL;
		buf.data = downcase_truncate_identifier(*p, s - *p, false);
		*p = skip_space(s);
		return buf.data;
	}
	initStringInfo(&buf);
	for (s++;; s++)
	{
		if (*s == '\0')
			return NULL;
		if (*s == '"' && *++s != '"')
			break;
		appendStringInfoChar(&buf, *s);
	}
	if (buf.len == 0)
		return NULL;
	*p = skip_space(s);
	return buf.data;
}

/* "name [ASC | DESC] [NULLS {FIRST | LAST}]" */
static OrderItem *
read_order_item(const char **p)
{
	OrderItem  *item = palloc0(sizeof(OrderItem));

	item->name = read_identifier(p);
	if (item->name == NULL)
		return NULL;
	if (read_keyword(p, "desc"))
		item->desc = true;
	else
		(void) read_keyword(p, "asc");
	item->nulls_first = item->desc;
	if (read_keyword(p, "nulls"))
	{
		if (read_keyword(p, "first"))
			item->nulls_first = true;
		else if (read_keyword(p, "last"))
			item->nulls_first = false;
		else
			return NULL;
	}
	return item;
}

/* List of OrderItem *; *valid is false after a syntax error. */
static List *
parse_order(const char *text, bool *valid)
{
	List	   *items = NIL;
	const char *p = skip_space(text);

	*valid = true;
	if (*p == '\0')
		return NIL;
	for (;;)
	{
		OrderItem  *item = read_order_item(&p);

		if (item != NULL)
			items = lappend(items, item);
		if (item == NULL || (*p != ',' && *p != '\0'))
		{
			*valid = false;
			return items;
		}
		if (*p == '\0')
			return items;
		p = skip_space(p + 1);
	}
}

static char *
order_text(List *items)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, items)
	{
		OrderItem  *item = lfirst(lc);

		appendStringInfo(&buf, "%s%s%s", buf.len > 0 ? ", " : "",
						 quote_identifier(item->name),
						 item->desc ? " DESC" : "");
		if (item->nulls_first != item->desc)
			appendStringInfoString(&buf, item->nulls_first ?
								   " NULLS FIRST" : " NULLS LAST");
	}
	return buf.data;
}

char *
st_option_orderby_rename(const char *text, const char *oldname,
						 const char *newname)
{
	bool		valid;
	bool		found = false;
	List	   *items = parse_order(text, &valid);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, items)
	{
		OrderItem  *item = lfirst(lc);

		if (strcmp(item->name, oldname) == 0)
		{
			found = true;
			if (newname == NULL)
				break;
			item->name = pstrdup(newname);
		}
		result = lappend(result, item);
	}
	return found ? order_text(result) : NULL;
}

/* The attribute of that name, or an error, or NULL below ERROR. */
static Form_pg_attribute
find_order_column(Relation rel, const char *name, int elevel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att;
	}
	ereport(elevel,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" does not exist",
					name, RelationGetRelationName(rel)),
			 errdetail("Option \"orderby\" names columns of the table.")));
	return NULL;
}

/* Checks that rows can be ordered by the column. */
static bool
check_order_column(Relation rel, Form_pg_attribute att, int elevel)
{
	/* 'v': generated and not stored, from PostgreSQL 18 on */
	if (att->attgenerated == 'v')
	{
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot order table \"%s\" by virtual generated column \"%s\"",
						RelationGetRelationName(rel), NameStr(att->attname))));
		return false;
	}
	if (!OidIsValid(lookup_type_cache(att->atttypid, TYPECACHE_LT_OPR)->lt_opr))
	{
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot order table \"%s\" by column \"%s\"",
						RelationGetRelationName(rel), NameStr(att->attname)),
				 errdetail("Type %s has no default btree operator class.",
						   format_type_be(att->atttypid))));
		return false;
	}
	return true;
}

static bool
order_has_column(const StOrderBy *order, AttrNumber attno)
{
	for (int i = 0; i < order->ncolumns; i++)
		if (order->columns[i].attno == attno)
			return true;
	return false;
}

/*
 * Below ERROR the list ends before the first column that cannot be used.  Rows
 * in order of (a, b, c) are still in order of (a) when b is gone, but not in
 * order of (a, c).
 */
static bool
store_order(const char *text, Relation rel, StOrderBy *order, int elevel)
{
	bool		valid;
	List	   *items = parse_order(text, &valid);
	ListCell   *lc;

	order->ncolumns = 0;
	if (!valid)
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"orderby\": \"%s\"", text),
				 errdetail("Expected a list of column [ASC | DESC] [NULLS { FIRST | LAST }] separated by commas.")));
	foreach(lc, items)
	{
		OrderItem  *item = lfirst(lc);
		Form_pg_attribute att = find_order_column(rel, item->name, elevel);
		StOrderColumn *column;

		if (att == NULL || !check_order_column(rel, att, elevel))
			return false;
		if (order_has_column(order, att->attnum))
		{
			ereport(elevel,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" appears twice in option \"orderby\"",
							item->name)));
			return false;
		}
		if (order->ncolumns == ST_MAX_ORDERBY)
		{
			ereport(elevel,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("option \"orderby\" takes at most %d columns",
							ST_MAX_ORDERBY)));
			return false;
		}
		column = &order->columns[order->ncolumns++];
		column->attno = att->attnum;
		column->desc = item->desc;
		column->nulls_first = item->nulls_first;
	}
	return valid;
}

static char *
order_value_text(const StOrderBy *order, Relation rel)
{
	List	   *items = NIL;

	for (int i = 0; i < order->ncolumns; i++)
	{
		OrderItem  *item = palloc(sizeof(OrderItem));

		item->name = NameStr(TupleDescAttr(RelationGetDescr(rel),
										   order->columns[i].attno - 1)->attname);
		item->desc = order->columns[i].desc;
		item->nulls_first = order->columns[i].nulls_first;
		items = lappend(items, item);
	}
	return order_text(items);
}

/* ---- single values ---- */

static bool
store_int(const StOptionDef *def, const char *text, int *field, int elevel)
{
	const char *hint = NULL;
	int			flags = def->type == ST_OPTION_BYTES ? GUC_UNIT_BYTE : 0;
	int			value;

	if (!parse_int(text, &value, flags, &hint))
	{
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						def->name, text),
				 hint ? errhint("%s", _(hint)) : 0));
		return false;
	}
	if (value < def->min || value > def->max)
	{
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value %d is out of range for option \"%s\"",
						value, def->name),
				 errdetail("Valid values are between %d and %d.",
						   def->min, def->max)));
		return false;
	}
	*field = value;
	return true;
}

static bool
store_enum(const StOptionDef *def, const char *text, int *field, int elevel)
{
	StringInfoData names;

	for (const StOptionEnum *e = def->values; e->name != NULL; e++)
		if (pg_strcasecmp(e->name, text) == 0)
		{
			*field = e->value;
			return true;
		}
	initStringInfo(&names);
	for (const StOptionEnum *e = def->values; e->name != NULL; e++)
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", e->name);
	ereport(elevel,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", def->name, text),
			 errdetail("Valid values are %s.", names.data)));
	return false;
}

static bool
store_bool(const StOptionDef *def, const char *text, bool *field, int elevel)
{
	if (parse_bool(text, field))
		return true;
	ereport(elevel,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for boolean option \"%s\": \"%s\"",
					def->name, text)));
	return false;
}

bool
st_option_store(const StOptionDef *def, const char *text, Relation rel,
				StOptions *options, int elevel)
{
	char	   *field = (char *) options + def->offset;

	switch (def->type)
	{
		case ST_OPTION_BOOL:
			return store_bool(def, text, (bool *) field, elevel);
		case ST_OPTION_INT:
		case ST_OPTION_BYTES:
			return store_int(def, text, (int *) field, elevel);
		case ST_OPTION_ENUM:
			return store_enum(def, text, (int *) field, elevel);
		case ST_OPTION_ORDERBY:
			return store_order(text, rel, (StOrderBy *) field, elevel);
	}
	elog(ERROR, "unknown type %d of option \"%s\"", def->type, def->name);
	return false;
}

char *
st_option_value_text(const StOptionDef *def, const StOptions *options,
					 Relation rel)
{
	const char *field = (const char *) options + def->offset;

	switch (def->type)
	{
		case ST_OPTION_BOOL:
			return pstrdup(*(const bool *) field ? "on" : "off");
		case ST_OPTION_INT:
		case ST_OPTION_BYTES:
			return psprintf("%d", *(const int *) field);
		case ST_OPTION_ENUM:
			for (const StOptionEnum *e = def->values; e->name != NULL; e++)
				if (e->value == *(const int *) field)
					return pstrdup(e->name);
			break;
		case ST_OPTION_ORDERBY:
			return order_value_text((const StOrderBy *) field, rel);
	}
	elog(ERROR, "no text for option \"%s\"", def->name);
	return NULL;
}
