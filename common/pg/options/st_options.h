/*-------------------------------------------------------------------------
 *
 * st_options.h
 *	  Options of a table, kept as a security label (DESIGN I9).
 *
 * The label provider has the access method's name.  A label is plain text,
 * only what was set, in the order of the definitions:
 *
 *		compression=lz4 level=9 orderby='event_date DESC, "User"'
 *
 * pg_dump emits it before the data, rewrites and pg_upgrade keep it, DROP
 * removes it.  orderby names columns, also in its expressions, so that a label
 * means the same in a restored table whose attribute numbers differ; a rename
 * rewrites the label and a dropped column ends the list (st_options_column_*).
 *
 * A partition takes what its own label does not set from its parent's, and
 * so on upwards, at the moment of use: options of a partitioned table reach
 * the partitions that exist and those to come.
 *
 * This module registers no name or hook: the extension passes its set to
 * st_options_init() and registers the provider and its hooks itself.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_OPTIONS_H
#define ST_OPTIONS_H

#include "postgres.h"

#include "access/attnum.h"
#include "catalog/objectaccess.h"
#include "catalog/objectaddress.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "tcop/utility.h"
#include "utils/rel.h"

#define ST_MAX_ORDERBY INDEX_MAX_KEYS

typedef struct StOrderColumn
{
	AttrNumber	attno;			/* 0: an expression */
	const char *expr;			/* its text, for st_order_expr_analyse() */
	bool		desc;
	bool		nulls_first;
} StOrderColumn;

typedef struct StOrderBy
{
	int			ncolumns;		/* 0: no order */
	StOrderColumn columns[ST_MAX_ORDERBY];
} StOrderBy;

/*
 * What the store reads.  An access method with options of its own puts this
 * first in a larger struct and tells its size in the StOptionSet.
 */
typedef struct StOptions
{
	int			codec;			/* enum StCodec */
	int			level;			/* valid for the codec */
	int			row_group_rows; /* rows of a row group, at most */
	int			row_group_bytes;	/* bytes of values, at most */
	StOrderBy	orderby;
	bool		auto_compact;
	bool		logical_inserts;	/* loads are for logical decoding, too */
} StOptions;

typedef enum StOptionType
{
	ST_OPTION_BOOL,				/* field is bool */
	ST_OPTION_INT,				/* field is int */
	ST_OPTION_BYTES,			/* field is int; text may have a unit (kB, MB, GB) */
	ST_OPTION_ENUM,				/* field is int */
	ST_OPTION_ORDERBY,			/* field is StOrderBy */
	ST_OPTION_POLICY			/* no field: an interval, see st_options_policy_text() */
} StOptionType;

typedef struct StOptionEnum
{
	const char *name;			/* NULL ends the list */
	int			value;
} StOptionEnum;

typedef struct StOptionDef
{
	const char *name;
	StOptionType type;
	Size		offset;			/* of the field in the options struct */
	const char *default_text;	/* as a user would write it; "" if none */
	int			min;			/* INT, BYTES */
	int			max;
	const StOptionEnum *values; /* ENUM */
	const char *description;
} StOptionDef;

typedef struct StOptionSet
{
	const char *provider;		/* label provider = name of the access method */
	Size		size;			/* of the options struct */
	int			ndefs;
	const StOptionDef *defs;

	/*
	 * Checks and completes options that depend on each other.  isset[i] tells
	 * whether defs[i] was set; elevel is ERROR when a user sets them, else 0:
	 * then the function must repair what it cannot accept.
	 */
	void		(*complete) (StOptions *options, const bool *isset, int elevel);
} StOptionSet;

/* Once per backend, from _PG_init; set must live for ever. */
extern void st_options_init(const StOptionSet *set);
extern const StOptionSet *st_options_set(void);

/*
 * Options in force for a table (or partitioned table, or the transient copy
 * that a rewrite of a table fills).  Valid until the next call for any
 * relation: copy what must stay.  Reads the catalog if not cached.
 */
extern const StOptions *st_options_get(Relation rel);

/*
 * The same with changes that are made nowhere, palloc'd: what would be in
 * force.  changes as for st_options_change(); raises INVALID_PARAMETER_VALUE.
 */
extern const StOptions *st_options_with(Relation rel, List *changes);

/*
 * Text of option i in force for rel, for display; palloc'd.  *source: where it
 * comes from, "default", "parent" (label of an ancestor of the partition) or
 * "table" (its own label).
 */
extern char *st_options_text(Relation rel, int i, const char **source);

/*
 * What the table's own label says of an option of type ST_OPTION_POLICY, palloc'd;
 * NULL if nothing.  It is in force for the table itself alone: partitions do not
 * take it from their parent, and it is not among what is shown as options.
 */
extern char *st_options_policy_text(Oid relid, const char *name);

/*
 * Changes options of a table: changes is a list of DefElem with a String
 * argument, or none to go back to the default.  Checks ownership and every
 * value, raises INSUFFICIENT_PRIVILEGE, INVALID_PARAMETER_VALUE,
 * UNDEFINED_COLUMN or WRONG_OBJECT_TYPE.  The caller holds
 * ShareUpdateExclusiveLock on the table.  Closes rel: those of a distributed
 * table change by commands of their own.
 */
extern void st_options_change(Relation rel, List *changes);

/*
 * The same for a table that the running command is creating: its catalog rows
 * are not visible yet, and so nobody has any options of it in a cache.
 */
extern void st_options_set_new(Oid relid, List *changes);

/* Removes the options of a table that is to be ours no more. */
extern void st_options_remove(Oid relid);

/* Body of the label provider's check function: raises if label is not fit. */
extern void st_options_check_label(const ObjectAddress *object, const char *label);

/* Bodies of object access hooks for columns; cheap when there is no label. */
extern void st_options_column_altered(Oid relid, AttrNumber attno);
extern void st_options_column_dropped(Oid relid, AttrNumber attno);

/* ---- st_options_text.c: text forms, without catalog writes ---- */

/* NULL if there is no such option. */
extern const StOptionDef *st_option_find(const StOptionSet *set, const char *name);

/*
 * Label to settings: the text of each option, in the order of the definitions,
 * NULL where it is not set; palloc'd.  Unknown options and syntax errors are
 * reported at elevel; below ERROR the rest of the label is used.
 */
extern char **st_option_parse_label(const StOptionSet *set, const char *label, int elevel);

/* Settings to label; NULL if none is set. */
extern char *st_option_make_label(const StOptionSet *set, char **settings);

/*
 * Stores the value of text into its field of options.  False, or an error if
 * elevel is ERROR and not 0, when it is not a legal value.  rel gives the columns.
 */
extern bool st_option_store(const StOptionDef *def, const char *text, Relation rel,
							StOptions *options, int elevel);

/* The field's value as canonical text, palloc'd. */
extern char *st_option_value_text(const StOptionDef *def, const StOptions *options,
								  Relation rel);

/*
 * orderby text with column oldname called newname (NULL: the list ends
 * there); NULL if the text does not name it.
 */
extern char *st_option_orderby_rename(const char *text, const char *oldname,
									  const char *newname);

/*
 * orderby text that a user has written for rel in the form that is stored.
 * Raises what the server's parser raises, and if an expression is not fit.
 */
extern char *st_option_orderby_canonical(const char *text, Relation rel);

/* Does an expression of the stored orderby text use the column? */
extern bool st_option_orderby_computes(const char *text, const char *name);

/*
 * ---- st_order_expr.c ----
 *
 * A stored expression of orderby as one of the columns of rel, whose Vars have
 * varno 1; not planned.
 */
extern Expr *st_order_expr_analyse(Relation rel, const char *text);

/*
 * Identifies an analysed expression by its meaning: what it computes of which
 * columns (by number), with the types and collations that they have.
 */
extern uint64 st_order_expr_id(const Expr *expr);

/* May row groups have zones of it?  Not if its values may depend on settings. */
extern bool st_order_expr_is_zoned(const Expr *expr);

/* An expression of orderby of which row groups may have zones. */
typedef struct StOrderExpr
{
	uint64		id;				/* st_order_expr_id() */
	int			position;		/* in the order, from 0 */
	Expr	   *expr;			/* simplified as the planner does with conditions */
} StOrderExpr;

/*
 * List of StOrderExpr of the table, kept in the cache of options: to be copied
 * before anything else looks at options.
 */
extern List *st_options_order_exprs(Relation rel);

/* ---- st_options_ddl.c, st_options_sql.c: bodies of hooks and SQL functions ---- */

/* Of object_access_hook, after the previous hook was called. */
extern void st_options_object_access(ObjectAccessType access, Oid classId,
									 Oid objectId, int subId);

/* Of ProcessUtility_hook; next is the previous hook, or NULL. */
extern void st_options_utility(ProcessUtility_hook_type next, PlannedStmt *pstmt,
							   const char *queryString, bool readOnlyTree,
							   ProcessUtilityContext context, ParamListInfo params,
							   QueryEnvironment *queryEnv, DestReceiver *dest,
							   QueryCompletion *qc);

/* Raises an error unless the relation exists and the user owns it; takes no lock. */
extern void st_check_owner(Oid relid);

/*
 * set_options(relation, <one argument per option, in the order of the
 * definitions>, reset text[]): NULL leaves an option as it is.
 */
extern Datum st_options_set_function(FunctionCallInfo fcinfo);

/*
 * table_options(relation): name, value, source, default_value, description of
 * every option; no row if the table is gone.
 */
extern Datum st_options_table_function(FunctionCallInfo fcinfo);

#endif							/* ST_OPTIONS_H */
