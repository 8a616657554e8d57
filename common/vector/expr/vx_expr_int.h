/*-------------------------------------------------------------------------
 *
 * vx_expr_int.h
 *	  Inside of vector expressions; users include vx_expr.h.
 *
 *	 vx_expr.c			sets and expressions: compile, evaluate, rescan
 *	 vx_expr_compile.c	from the server's expression tree to nodes
 *	 vx_expr_value.c	columns, constants, vectors and how values get into them
 *	 vx_expr_server.c	what the server evaluates: by distinct value, by row
 *	 vx_expr_call.c		functions with a kernel
 *	 vx_expr_logic.c	AND, OR, NOT, tests, IN
 *	 vx_expr_branch.c	CASE, COALESCE
 *	 vx_expr_iso.c		casts of text to dates and timestamps
 *
 * A node answers to one of two questions about the rows of a selection: what
 * are the values (a vector), or, of boolean nodes, which are true and which
 * are null (two bitmaps).  It implements one of them; the other is derived.
 *
 * Errors: a kernel never raises one.  It reports rows that look wrong (an
 * overflow, a zero divisor), and those go through the server's own function,
 * which raises the error or gives the right value after all.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_EXPR_INT_H
#define VX_EXPR_INT_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/primnodes.h"

#include "vx_expr.h"
#include "vx_vec.h"

typedef struct VxNode VxNode;

struct VxExprSet
{
	MemoryContext mcxt;
	TupleDesc	desc;
	Index		varno;
	PlanState  *plan;
	ExprContext *econtext;		/* the server evaluates here; reset per row */
	TupleTableSlot *slot;		/* virtual, of the table's columns */
	MemoryContext constant_mcxt;	/* values of constants, until rescan */
	uint64		generation;		/* counts rescans: older results are void */
	VxVector	no_rows;		/* what a constant gives where nobody asks for it */
};

struct VxExpr
{
	VxExprSet  *set;
	int			flags;
	VxNode	   *root;
	Bitmapset  *columns;
	bool		vectorised;
	int			depth;			/* of the node that is being compiled */

	/* evaluation at hand */
	VxBatch    *batch;
	MemoryContext arena;		/* values that results point to */
	AttrNumber	numbers;		/* path column whose numbers are there, or 0 */
	bool		safely;			/* leave to unknown what the server has to do */
	uint64		unknown[VX_SELECTION_WORDS];
};

/* Truth of the rows of a selection; both are subsets of it, and disjoint. */
typedef struct VxTruth
{
	uint64		istrue[VX_SELECTION_WORDS];
	uint64		isnull[VX_SELECTION_WORDS];
} VxTruth;

/* Results of the server by code of a dictionary. */
typedef struct VxMemo
{
	MemoryContext mcxt;			/* of the row group at hand */
	uint64		generation;
	uint64		group;
	const VxDictionary *source; /* NULL: nothing known */
	/* by code; the one behind the last stands for null */
	uint8	   *known;			/* VX_MEMO_* */
	void	   *values;			/* int64, double, float or code of dict */
	uint8	   *is_true;		/* of booleans: 0 or 1 */
	uint32		nknown;			/* of the source's values, without null */
	bool		any_null;		/* a result is */
	VxDictionary dict;			/* of results that are not passed by value */
	struct VxIntern *images;	/* codes of dict by their bytes */
} VxMemo;

typedef const VxVector *(*VxNodeEval) (VxNode *node, const uint64 *rows);
typedef void (*VxNodeTruth) (VxNode *node, const uint64 *rows, VxTruth *truth);

/*
 * A function's kernel: computes node->out for the given rows, which are those
 * where no argument is null.  Rows in doubt are set in suspect.  False: not
 * with these representations, nothing was done.
 */
typedef bool (*VxKernel) (VxNode *node, const VxVector *const *args,
						  const uint64 *rows, uint64 *suspect);

/* The rows for which a comparison is true; false as above. */
typedef bool (*VxCompareKernel) (VxNode *node, const VxVector *a, const VxVector *b,
								 const uint64 *rows, uint64 *bits);

struct VxNode
{
	VxExpr	   *expr;
	Node	   *clause;
	Oid			type;			/* base type of the result */
	int16		typlen;
	bool		typbyval;
	bool		any_scale;		/* VX_EXPR_ANY_SCALE holds for its result */
	VxNodeEval	eval;			/* one of the two is set */
	VxNodeTruth truth;

	int			ncolumns;		/* that the clause refers to */
	AttrNumber *attnos;
	ExprState  *state;			/* the server's way; made at first use */

	/* depends on one column: results by distinct value, if it has a dictionary */
	AttrNumber	memo_attno;
	VxMemo	   *memo;
	bool		path_number;	/* cast of it to a number (vx_is_path_number()), */
	const VxNode *number;		/* or one of the nodes below is that cast */

	int			nargs;
	VxNode	  **args;

	/* functions */
	FmgrInfo   *flinfo;
	FunctionCallInfo fcinfo;
	VxKernel	kernel;
	int			op;				/* the kernel's own */
	struct VxCache *cache;		/* functions without a kernel */
	const VxVector *given;		/* value of a stand-in */
	VxCompareKernel compare;	/* of a comparison of the format's own, or NULL */
	const void *own;			/* for it and its kernels */
	void	   *own_state;		/* what a kernel keeps from one batch to the next */

	/* constants: generation of the vector in out, 0 = not yet evaluated */
	uint64		generation;

	int			kind;			/* of logic nodes: BoolExprType and the like */

	/* result */
	VxVector	out;
	void	   *buffer;			/* out.u, when it is the node's own */
	Size		buffer_size;
};

#define VX_MEMO_UNKNOWN	0
#define VX_MEMO_NULL	1
#define VX_MEMO_VALUE	2
#define VX_MEMO_PENDING	3		/* about to be made known */

#define VX_EXPR_WORDS(expr) (((expr)->batch->nrows + 63) / 64)

/* ---- vx_expr.c ---- */

/*
 * Result of a node, by distinct value where that is possible, and its truth.
 * rows may be empty, in which case nothing is evaluated.
 */
extern const VxVector *vx_node_eval(VxNode *node, const uint64 *rows);
extern void vx_node_truth(VxNode *node, const uint64 *rows, VxTruth *truth);

/* ---- vx_expr_compile.c ---- */

extern VxNode *vx_node_compile(VxExpr *expr, Node *clause);

/* Its arguments, from a list of clauses. */
extern void vx_node_compile_args(VxNode *node, List *clauses);

/* VX_EXPR_ANY_SCALE for a node, and for what it passes on as it is. */
extern void vx_node_allow_any_scale(VxNode *node);

/* A node without a way to evaluate it yet. */
extern VxNode *vx_node_make(VxExpr *expr, Node *clause);

/* ---- vx_expr_value.c ---- */

extern const VxVector *vx_eval_column(VxNode *node, const uint64 *rows);
extern const VxVector *vx_eval_constant(VxNode *node, const uint64 *rows);

/*
 * Sets node->out up for values of a representation, with a buffer of the
 * node's own for the whole vector, no nulls.
 */
extern void vx_node_begin(VxNode *node, VxRep rep);

/* The representation in which single Datums of the node's type are put. */
static inline VxRep
vx_node_rep(const VxNode *node)
{
	return vx_type_rep(node->type, node->typbyval);
}

/* Puts a value into node->out at a row; by reference: the pointer as it is. */
extern void vx_node_put(VxNode *node, int row, Datum value, bool isnull);

/* Value of a vector as a Datum; numerics are written to the arena. */
extern Datum vx_expr_datum(VxExpr *expr, const VxVector *v, int row);

/*
 * A vector of numerics as scaled integers, if the rows' values are such: v
 * itself, or out set to the node's buffer.  NULL if they are not.
 */
extern const VxVector *vx_numerics_as_decimals(VxNode *node, const VxVector *v,
											   const uint64 *rows, bool any_scale);

/* node->out of numerics, as scaled integers if possible. */
extern const VxVector *vx_node_numerics(VxNode *node, const uint64 *rows);

/* Its value is the same for all rows, until the next rescan. */
static inline bool
vx_node_is_constant(const VxNode *node)
{
	return node->eval == vx_eval_constant;
}

/* The vector out of node, all null. */
extern const VxVector *vx_node_nulls(VxNode *node);

/* ---- vx_expr_server.c ---- */

extern const VxVector *vx_eval_by_value(VxNode *node, const VxVector *column,
										const uint64 *rows);
extern void vx_truth_by_value(VxNode *node, const VxVector *column,
							  const uint64 *rows, VxTruth *truth);
extern const VxVector *vx_eval_by_row(VxNode *node, const uint64 *rows);

/* Makes the executor's form of the clause, if there is none yet. */
extern void vx_node_set_state(VxNode *node);

/* Copies a value of the node that is passed by reference to mcxt. */
extern Datum vx_node_keep(VxNode *node, Datum value, MemoryContext mcxt);

/* ---- vx_expr_call.c ---- */

/*
 * Makes node a call of a function.  The arguments are compiled in; finds the
 * kernel, if there is one.  False: leave it to the server as it stands.
 */
extern bool vx_call_compile(VxNode *node, Oid funcid, List *args, Oid collation);

/* Calls the function for a row; the result is in the per-tuple context. */
extern Datum vx_call_row(VxNode *node, const VxVector *const *args, int row, bool *isnull);

/* rows that are not live are null in node->out, which has no nulls yet. */
extern void vx_node_set_nulls(VxNode *node, const uint64 *rows, const uint64 *live);

/* ---- vx_expr_iso.c: casts of text to dates and timestamps ---- */

extern bool vx_iso_compile(VxNode *node);

/* ---- kernels, by function ---- */

/*
 * A kernel of one or two integers, a and b: rows for which wrong holds are
 * suspect, all others get the result.
 */
#define VX_INT_KERNEL(name, nargs, wrong, result) \
static bool \
name(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect) \
{ \
	if (!vx_are_int64(args, nargs)) \
		return false; \
	vx_node_begin(node, VX_REP_INT64); \
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr)) \
	{ \
		int64		a = args[0]->u.i64[row]; \
		int64		b = args[(nargs) - 1]->u.i64[row]; \
		(void) b; \
		if (wrong) \
			vx_rows_set(suspect, row); \
		else \
			node->out.u.i64[row] = (result); \
	} \
	return true; \
}

typedef struct VxKernelEntry
{
	Oid			funcid;
	VxKernel	kernel;
	int			op;
} VxKernelEntry;

extern const VxKernelEntry vx_arith_kernels[];	/* vx_expr_arith.c */
extern const VxKernelEntry vx_decimal_kernels[];	/* vx_expr_decimal.c */
extern const VxKernelEntry vx_time_kernels[];	/* vx_expr_time.c */
extern const VxKernelEntry vx_text_kernels[];	/* vx_expr_text.c */
extern const VxKernelEntry vx_regex_kernels[];	/* vx_expr_regex.c */

/* vx_expr_text.c.  Bytes of a string; false: it is null, or toasted. */
extern bool vx_text_bytes(const VxVector *v, int row, const char **data, int *len);

/*
 * vx_expr_arith.c.  A function that adds, subtracts or multiplies integers;
 * and 1 for a cast from one to another, -1 for a change of sign, else 0.
 */
extern bool vx_is_int_arith(Oid funcid, VxArith *arith);
extern int	vx_int_sign(Oid funcid);

/* Comparison operators: sets node->truth; vx_expr_compare.c. */
extern bool vx_compare_set(VxNode *node, Oid opno);

/*
 * Two vectors of numbers brought to one form, in which their values can be
 * compared and added: both int64, both int128, or both double.
 */
typedef struct VxPair
{
	VxRep		rep;			/* VX_REP_INT64, VX_REP_DECIMAL128, VX_REP_FLOAT8 */
	int			scale;			/* of numerics */
	const void *a;
	const void *b;
	int128		a_buffer[ST_VECTOR_SIZE];
	int128		b_buffer[ST_VECTOR_SIZE];
} VxPair;

/* False: at least one is of another kind, or the scales are too far apart. */
extern bool vx_pair_align(VxPair *pair, const VxVector *a, const VxVector *b, int n);

/*
 * vx_expr_cache.c: functions of one argument that varies, remembered by its
 * value.  Set: false if the node is no such call.  Allowed: whether that may
 * be done at present.  Eval: live are the rows without a null argument.
 */
typedef struct VxCache VxCache;
extern void vx_cache_set(VxNode *node, Oid funcid);
extern bool vx_cache_allowed(const VxNode *node);
extern const VxVector *vx_cache_eval(VxNode *node, const VxVector *const *args,
									 const uint64 *rows, const uint64 *live);

/* How the result of a function of time depends on its argument. */
typedef enum VxTimeStep
{
	VX_STEP_NONE,				/* not known to be the same for a while */
	VX_STEP_LOCAL,				/* by the local time, without a time zone */
	VX_STEP_ZONED				/* by the local time of the session's time zone */
} VxTimeStep;

/*
 * vx_expr_time.c: step of a known function, and in *width the microseconds (days,
 * for a date) within which the result stays the same.  unit: constant of the
 * function's first argument, or NULL.
 */
extern VxTimeStep vx_time_step(Oid funcid, const text *unit, int64 *width);
extern bool vx_time_has_unit(Oid funcid);
extern bool vx_time_is_known(Oid funcid);

/* The session's time zone has one offset from start for width microseconds. */
extern bool vx_time_is_steady(int64 start, int64 width);

/* ---- vx_expr_logic.c, vx_expr_branch.c: true if the clause is theirs ---- */

extern bool vx_logic_compile(VxNode *node);
extern bool vx_branch_compile(VxNode *node);

static inline int128
vx_power_of_ten(int n)
{
	int128		p = 1;

	while (n-- > 0)
		p *= 10;
	return p;
}

static inline bool
vx_are_int64(const VxVector *const *args, int nargs)
{
	for (int i = 0; i < nargs; i++)
		if (args[i]->rep != VX_REP_INT64)
			return false;
	return true;
}

/* Rows that are not null in the vector; returns whether there are any. */
static inline bool
vx_rows_not_null(uint64 *to, const uint64 *rows, const VxVector *v, int words)
{
	uint64		any = 0;

	for (int w = 0; w < words; w++)
	{
		to[w] = v->has_nulls ? rows[w] & v->valid[w] : rows[w];
		any |= to[w];
	}
	return any != 0;
}

/* ---- vx_expr_subplan.c ---- */

/* [NOT] column IN (SELECT ...) by a hash table, of columns of the set. */
extern bool vx_subplan_is_known(const VxExprSet *set, Node *clause);
extern bool vx_subplan_compile(VxNode *node);

#endif							/* VX_EXPR_INT_H */
