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
	ST_PRED_UNKNOWN				/* nothing is known about this condition */
} StPredKind;

typedef struct StPred StPred;
struct StPred
{
	StPredKind	kind;

	/*
	 * The condition implies the predicate, but not the other way round: it
	 * may rule rows out and never proves that a row passes.
	 */
	bool		lossy;

	int			nargs;			/* AND, OR */
	StPred	  **args;

	AttrNumber	attno;			/* all others but UNKNOWN */
	Oid			coltype;		/* base type of the column */

	/* COMPARE, ANY, ALL: operator and the comparison functions behind it */
	Oid			opfamily;		/* btree */
	int			strategy;		/* BT*StrategyNumber or ST_NOT_EQUAL_STRATEGY */
	Oid			valtype;		/* the operator's input type on the value's side */
	Oid			collation;		/* of the comparison, InvalidOid if it has none */
	FmgrInfo	cmp;			/* (column, value) */
	FmgrInfo	cmp_values;		/* (value, value); ANY and ALL only */
	bool		string;			/* byte strings: compare by st_zone.c's rules */

	/* Right side: an expression without columns */
	ExprState  *expr;

	/* Its value, once evaluated is set.  COMPARE, PREFIX: one value. */
	bool		evaluated;
	bool		isnull;
	Datum		value;
	int			nvalues;		/* ANY, ALL: not null, ascending, distinct */
	Datum	   *values;
	bool		has_null;		/* ANY, ALL: there was a null among them */
};

/*
 * Makes a predicate of one qual of a scan, an implicitly ANDed clause.
 * varno is the scanned relation; parent is the plan state that owns the
 * expressions.  Allocates in the current memory context.  Returns NULL if
 * nothing at all can be said about the clause.
 */
extern StPred *st_pred_create(Expr *clause, Index varno, PlanState *parent);

/*
 * Evaluates the right sides below pred that were not yet.  econtext gives
 * parameters; results are copied into values_mcxt, which must live until
 * st_pred_reset().  May raise whatever the expressions raise.
 */
extern void st_pred_evaluate(StPred *pred, ExprContext *econtext,
							 MemoryContext values_mcxt);

/* Forgets evaluated values: the caller resets their context. */
extern void st_pred_reset(StPred *pred);

/* Adds the column numbers that pred looks at. */
extern Bitmapset *st_pred_columns(const StPred *pred, Bitmapset *columns);

#endif							/* ST_QUAL_H */
