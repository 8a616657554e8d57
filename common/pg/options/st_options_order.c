/*-------------------------------------------------------------------------
 *
 * st_options_order.c
 *	  The option orderby: lists of columns and expressions.
 *
 * A stored list is read by a scanner of this file, which raises nothing: it
 * may have been stored by another version, or the table may have changed.
 * What a user writes goes through the server's parser once
 * (st_order_expr.c), and is stored with every expression in parentheses.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "st_options_order.h"

/* A character of a keyword or number. */
static bool
is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '_';
}

static const char *
skip_space(const char *p)
{
	while (scanner_isspace(*p))
		p++;
	return p;
}

/* Consumes the keyword (lower case) if it stands at *p as a whole word. */
static bool
read_keyword(const char **p, const char *keyword)
{
	Size		len = strlen(keyword);

	if (pg_strncasecmp(*p, keyword, len) != 0 || is_word_char((*p)[len]))
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
			   is_word_char(*s))
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

/*
 * What stands between the parenthesis at *p and the one that closes it.  The
 * server writes quotes within strings and names twice, so each toggles.
 */
static char *
read_parenthesized(const char **p)
{
	const char *start = *p + 1;
	int			depth = 0;
	char		quote = '\0';

	for (const char *s = *p; *s != '\0'; s++)
	{
		if (quote != '\0')
			quote = *s == quote ? '\0' : quote;
		else if (*s == '\'' || *s == '"')
			quote = *s;
		else if (*s == '(')
			depth++;
		else if (*s == ')' && --depth == 0)
		{
			*p = skip_space(s + 1);
			return pnstrdup(start, s - start);
		}
	}
	return NULL;
}

/* "{name | (expression)} [ASC | DESC] [NULLS {FIRST | LAST}]" */
static StOrderItem *
read_order_item(const char **p)
{
	StOrderItem *item = palloc0(sizeof(StOrderItem));

	if (**p == '(')
		item->expr = read_parenthesized(p);
	else
		item->name = read_identifier(p);
	if (item->name == NULL && item->expr == NULL)
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

/* List of StOrderItem *; *valid is false after a syntax error. */
List *
st_order_parse(const char *text, bool *valid)
{
	List	   *items = NIL;
	const char *p = skip_space(text);

	*valid = true;
	if (*p == '\0')
		return NIL;
	for (;;)
	{
		StOrderItem *item = read_order_item(&p);

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

char *
st_order_text(List *items)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, items)
	{
		StOrderItem *item = lfirst(lc);

		appendStringInfoString(&buf, buf.len > 0 ? ", " : "");
		if (item->expr != NULL)
			appendStringInfo(&buf, "(%s)", item->expr);
		else
			appendStringInfoString(&buf, quote_identifier(item->name));
		appendStringInfoString(&buf, item->desc ? " DESC" : "");
		if (item->nulls_first != item->desc)
			appendStringInfoString(&buf, item->nulls_first ?
								   " NULLS FIRST" : " NULLS LAST");
	}
	return buf.data;
}

/* Is the list one of plain columns, in the form that is stored? */
static bool
is_plain_list(const char *text)
{
	bool		valid;
	ListCell   *lc;

	foreach(lc, st_order_parse(text, &valid))
	{
		if (((StOrderItem *) lfirst(lc))->expr != NULL)
			return false;
	}
	return valid;
}

char *
st_option_orderby_canonical(const char *text, Relation rel)
{
	return is_plain_list(text) ? pstrdup(text) :
		st_order_text(st_order_parse_sql(rel, text));
}

static bool
list_has_name(List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

bool
st_option_orderby_computes(const char *text, const char *name)
{
	bool		valid;
	ListCell   *lc;

	foreach(lc, st_order_parse(text, &valid))
	{
		StOrderItem *item = lfirst(lc);

		if (item->expr != NULL &&
			list_has_name(st_order_expr_columns(item->expr), name))
			return true;
	}
	return false;
}

static bool
item_uses(const StOrderItem *item, const char *name)
{
	return item->expr == NULL ? strcmp(item->name, name) == 0 :
		list_has_name(st_order_expr_columns(item->expr), name);
}

char *
st_option_orderby_rename(const char *text, const char *oldname,
						 const char *newname)
{
	bool		valid;
	bool		found = false;
	List	   *items = st_order_parse(text, &valid);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, items)
	{
		StOrderItem *item = lfirst(lc);

		if (item_uses(item, oldname))
		{
			found = true;
			if (newname == NULL)
				break;
			if (item->expr != NULL)
				item->expr = st_order_expr_rename(item->expr, oldname, newname);
			else
				item->name = pstrdup(newname);
		}
		result = lappend(result, item);
	}
	return found ? st_order_text(result) : NULL;
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

/* Checks that rows can be ordered by the item, and stores it. */
static bool
store_item(const StOrderItem *item, Relation rel, const StOrderBy *order,
		   StOrderColumn *column, int elevel)
{
	Form_pg_attribute att;
	ListCell   *lc;

	memset(column, 0, sizeof(*column));
	column->desc = item->desc;
	column->nulls_first = item->nulls_first;
	if (item->expr != NULL)
	{
		foreach(lc, st_order_expr_columns(item->expr))
		{
			if (find_order_column(rel, lfirst(lc), elevel) == NULL)
				return false;
		}
		if (elevel >= ERROR)
			(void) st_order_expr_analyse(rel, item->expr);
		column->expr = item->expr;
		return true;
	}
	att = find_order_column(rel, item->name, elevel);
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
	column->attno = att->attnum;
	return true;
}

/*
 * Below ERROR the list ends before the first column that cannot be used.  Rows
 * in order of (a, b, c) are still in order of (a) when b is gone, but not in
 * order of (a, c).
 */
bool
st_order_store(const char *text, Relation rel, StOrderBy *order, int elevel)
{
	bool		valid;
	List	   *items = st_order_parse(text, &valid);
	ListCell   *lc;

	order->ncolumns = 0;
	if (!valid)
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"orderby\": \"%s\"", text),
				 errdetail("Expected a list of column [ASC | DESC] [NULLS { FIRST | LAST }] separated by commas, with expressions in parentheses.")));
	foreach(lc, items)
	{
		StOrderItem *item = lfirst(lc);

		if (order->ncolumns == ST_MAX_ORDERBY)
		{
			ereport(elevel,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("option \"orderby\" takes at most %d columns",
							ST_MAX_ORDERBY)));
			return false;
		}
		if (!store_item(item, rel, order, &order->columns[order->ncolumns],
						elevel))
			return false;
		order->ncolumns++;
	}
	return valid;
}

char *
st_order_value_text(const StOrderBy *order, Relation rel)
{
	List	   *items = NIL;

	for (int i = 0; i < order->ncolumns; i++)
	{
		StOrderItem *item = palloc0(sizeof(StOrderItem));

		if (order->columns[i].expr != NULL)
			item->expr = pstrdup(order->columns[i].expr);
		else
			item->name = NameStr(TupleDescAttr(RelationGetDescr(rel),
											   order->columns[i].attno - 1)->attname);
		item->desc = order->columns[i].desc;
		item->nulls_first = order->columns[i].nulls_first;
		items = lappend(items, item);
	}
	return st_order_text(items);
}

