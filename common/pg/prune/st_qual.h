/*-------------------------------------------------------------------------
 *
 * st_qual.h
 *	  Conditions of a WHERE clause as predicates on single columns.
 *
 * A qual is taken apart once, when the executor starts: "column OP value",
 * IN lists, null tests, LIKE 'prefix%', AND and OR of these.  The right
 * sides (constants, parameters, stable expressions) are evaluated when they
 * are first needed, and again after st_pred_reset().  Zone tests (st_zone.h)
 * and vector filters of an access method read the same predicates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_QUAL_H
#define ST_QUAL_H

#include "postgres.h"

#include "access/stratnum.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"

#include "st_core.h"

/* Beside the btree strategies 1 to 5: the negator of equality. */
#define ST_NOT_EQUAL_STRATEGY	6

typedef enum StPredKind
{
	ST_PRED_AND,
	ST_PRED_OR,
	ST_PRED_COMPARE,			/* column OP value */
	ST_PRED_ANY,				/* column OP any of the values */
	ST_PRED_ALL,				/* column OP all of the values */
	ST_PRED_ISNULL,
	ST_PRED_NOTNULL,
	ST_PRED_PREFIX,				/* the string starts with the value's bytes */
	ST_PRED_VALUE				/* a condition without columns */
} StPredKind;

typedef struct StPred StPred;
struct StPred
{
	StPredKind	kind;

	/*
	 * The condition implies the predicate, but not the other way round: it
	 * may rule rows out and never proves that a row passes.  Says nothing
	 * about args; known of PREFIX only after st_pred_evaluate().
	 */
	bool		lossy;

	int			nargs;			/* AND, OR */
	StPred	  **args;

	AttrNumber	attno;			/* all others but VALUE */
	Oid			coltype;		/* base type of the column */

	/* COMPARE, ANY, ALL: operator and the comparison functions behind it */
	Oid			opfamily;		/* btree */
	int			strategy;		/* BT*StrategyNumber or ST_NOT_EQUAL_STRATEGY */
	Oid			valtype;		/* the operator's input type on the value's side */
	bool		string;			/* compared as bytes: the functions stay unset */
	bool		like;			/* PREFIX: the expression is a pattern of LIKE */
	FmgrInfo	cmp;			/* (column, value) */
	FmgrInfo	cmp_values;		/* (value, value) */

	/* Right side: an expression without columns; NULL if it is known */
	ExprState  *expr;
	ExprContext *econtext;
	MemoryContext values_mcxt;

	/*
	 * Its value, after st_pred_evaluate().  One value for COMPARE, PREFIX, VALUE
	 * and for ANY and ALL of an inequality, which is the array's extreme.
	 */
	bool		evaluated;
	bool		isnull;
	Datum		value;
	int			nvalues;		/* ANY, ALL: not null, ascending, distinct */
	Datum	   *values;
	bool		has_null;		/* ANY, ALL: there was a null among them */
	void	   *converted;		/* the values in a form of the caller's own */
};

/*
 * Makes a predicate of one qual of a scan, an implicitly ANDed clause.
 * varno is the scanned relation; parent is the plan state that owns the
 * expressions, its expression context gives their parameters.  Allocates in
 * the current memory context; values go to values_mcxt.  Returns NULL if
 * nothing at all can be said about the clause.
 */
extern StPred *st_pred_create(Expr *clause, Index varno, PlanState *parent,
							  MemoryContext values_mcxt);

/*
 * Evaluates the right side of one leaf, if it was not yet.  To be called
 * only when the value is needed: where the arguments of an OR are taken in
 * order, "$1 = 'all' OR n = $1::int" raises no error that a plain scan would
 * not.  May raise whatever the expression raises.
 */
extern void st_pred_evaluate(StPred *pred);

/*
 * Forgets the values, because parameters have changed.  The caller resets
 * values_mcxt.
 */
extern void st_pred_reset(StPred *pred);

/*
 * The bytes of a string value: varlena (not toasted), uuid.  For bpchar
 * trailing blanks, which its comparisons ignore, are left out.
 */
extern StStr st_string_bytes(Datum value, Oid type);

/* Order of byte strings: <0, 0, >0. */
extern int	st_string_compare(StStr a, StStr b);

static inline bool
st_string_starts_with(StStr str, StStr prefix)
{
	return str.len >= prefix.len && memcmp(str.data, prefix.data, prefix.len) == 0;
}

#endif							/* ST_QUAL_H */
