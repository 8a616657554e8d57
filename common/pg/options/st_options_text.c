/*-------------------------------------------------------------------------
 *
 * st_options_text.c
 *	  Text forms of table options: the label and single values.
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
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "st_options_order.h"

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
	{
		if (set->defs[i].type != ST_OPTION_POLICY)
			appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", set->defs[i].name);
	}
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
	{
		/* as read_value() reads it: a backslash is nothing special */
		appendStringInfoChar(buf, '\'');
		for (const char *p = value; *p; p++)
		{
			if (*p == '\'')
				appendStringInfoChar(buf, '\'');
			appendStringInfoChar(buf, *p);
		}
		appendStringInfoChar(buf, '\'');
	}
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

/* Has no field; what is in a label has been checked when it was set. */
static bool
check_policy(const StOptionDef *def, const char *text, int elevel)
{
	Interval	most = {.month = 12 * 10000};
	Interval   *interval;
	Datum		value;

	if (elevel < ERROR)
		return true;
	value = DirectFunctionCall3(interval_in, CStringGetDatum(text),
								ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	interval = DatumGetIntervalP(value);
	/* A sum of a bound and fields of both signs may be no time that there is. */
	if (interval->month < 0 || interval->day < 0 || interval->time < 0 ||
		DatumGetBool(DirectFunctionCall2(interval_gt, value, IntervalPGetDatum(&most))))
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 0 and 10000 years", def->name)));
	return true;
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
			return st_order_store(text, rel, (StOrderBy *) field, elevel);
		case ST_OPTION_POLICY:
			return check_policy(def, text, elevel);
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
			return st_order_value_text((const StOrderBy *) field, rel);
		case ST_OPTION_POLICY:
			break;
	}
	elog(ERROR, "no text for option \"%s\"", def->name);
	return NULL;
}
