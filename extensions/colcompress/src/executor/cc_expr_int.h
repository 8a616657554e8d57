/*-------------------------------------------------------------------------
 *
 * cc_expr_int.h
 *	  Inside of vector expressions; users include cc_expr.h.
 *
 *	 cc_expr.c			sets and expressions: compile, evaluate, rescan
 *	 cc_expr_compile.c	from the server's expression tree to nodes
 *	 cc_expr_value.c	columns, constants, vectors and how values get into them
 *	 cc_expr_server.c	what the server evaluates: by distinct value, by row
 *	 cc_expr_call.c		functions with a kernel
 *	 cc_expr_logic.c	AND, OR, NOT, tests, IN
 *	 cc_expr_branch.c	CASE, COALESCE
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
#ifndef CC_EXPR_INT_H
#define CC_EXPR_INT_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/primnodes.h"

#include "cc_expr.h"

typedef struct CcNode CcNode;

struct CcExprSet
{
	MemoryContext mcxt;
	TupleDesc	desc;
	Index		varno;
	const AttrNumber *columns;	/* of Vars of varno, or NULL: as they are */
	PlanState  *plan;
	ExprContext *econtext;		/* the server evaluates here; reset per row */
	TupleTableSlot *slot;		/* virtual, of the table's columns */
	MemoryContext constant_mcxt;	/* values of constants, until rescan */
	uint64		generation;		/* counts rescans: older results are void */
	CcExpr	   *exprs;
	CcVector	no_rows;		/* what a constant gives where nobody asks for it */
};

struct CcExpr
{
	CcExprSet  *set;
	CcExpr	   *next;			/* of the set */
	int			flags;
	CcNode	   *root;
	Bitmapset  *columns;
	bool		vectorised;
	int			depth;			/* of the node that is being compiled */

	/* evaluation at hand */
	CcBatch    *batch;
	MemoryContext arena;		/* values that results point to */
	bool		safely;			/* leave to unknown what the server has to do */
	uint64		unknown[CC_SELECTION_WORDS];
};

/* Truth of the rows of a selection; both are subsets of it, and disjoint. */
typedef struct CcTruth
{
	uint64		istrue[CC_SELECTION_WORDS];
	uint64		isnull[CC_SELECTION_WORDS];
} CcTruth;

/* Results of the server by code of a dictionary. */
typedef struct CcMemo
{
	MemoryContext mcxt;			/* of the row group at hand */
	uint64		generation;
	uint64		group;
	const CcDictionary *source; /* NULL: nothing known */
	/* by code; the one behind the last stands for null */
	uint8	   *known;			/* CC_MEMO_* */
	void	   *values;			/* int64, double, float or code of dict */
	uint8	   *is_true;		/* of booleans: 0 or 1 */
	uint32		nknown;			/* of the source's values, without null */
	bool		any_null;		/* a result is */
	CcDictionary dict;			/* of results that are not passed by value */
	struct cc_image_hash *images;	/* codes of dict by their bytes */
} CcMemo;

typedef const CcVector *(*CcNodeEval) (CcNode *node, const uint64 *rows);
typedef void (*CcNodeTruth) (CcNode *node, const uint64 *rows, CcTruth *truth);

/*
 * A function's kernel: computes node->out for the given rows, which are those
 * where no argument is null.  Rows in doubt are set in suspect.  False: not
 * with these representations, nothing was done.
 */
typedef bool (*CcKernel) (CcNode *node, const CcVector *const *args,
						  const uint64 *rows, uint64 *suspect);

struct CcNode
{
	CcExpr	   *expr;
	Node	   *clause;			/* with the table's own attribute numbers */
	Oid			type;			/* base type of the result */
	int16		typlen;
	bool		typbyval;
	bool		any_scale;		/* CC_EXPR_ANY_SCALE holds for its result */
	CcNodeEval	eval;			/* one of the two is set */
	CcNodeTruth truth;

	int			ncolumns;		/* that the clause refers to */
	AttrNumber *attnos;
	ExprState  *state;			/* the server's way; made at first use */

	/* depends on one column: results by distinct value, if it has a dictionary */
	AttrNumber	memo_attno;
	CcMemo	   *memo;
	bool		path_number;	/* cast of it to numeric (cc_is_path_number()) */

	int			nargs;
	CcNode	  **args;

	/* functions */
	FmgrInfo   *flinfo;
	FunctionCallInfo fcinfo;
	CcKernel	kernel;
	int			op;				/* the kernel's own */
	struct CcCache *cache;		/* functions without a kernel */
	const CcVector *given;		/* value of a stand-in */
	const struct CcUint8Function *uint8;	/* a function of uint8, or NULL */

	/* constants: generation of the vector in out, 0 = not yet evaluated */
	uint64		generation;

	int			kind;			/* of logic nodes: BoolExprType and the like */

	/* result */
	CcVector	out;
	void	   *buffer;			/* out.u, when it is the node's own */
	Size		buffer_size;
};

#define CC_MEMO_UNKNOWN	0
#define CC_MEMO_NULL	1
#define CC_MEMO_VALUE	2

#define CC_EXPR_WORDS(expr) (((expr)->batch->nrows + 63) / 64)

/* ---- cc_expr.c ---- */

/*
 * Result of a node, by distinct value where that is possible, and its truth.
 * rows may be empty, in which case nothing is evaluated.
 */
extern const CcVector *cc_node_eval(CcNode *node, const uint64 *rows);
extern void cc_node_truth(CcNode *node, const uint64 *rows, CcTruth *truth);

/* ---- cc_expr_compile.c ---- */

extern CcNode *cc_node_compile(CcExpr *expr, Node *clause);

/* CC_EXPR_ANY_SCALE for a node, and for what it passes on as it is. */
extern void cc_node_allow_any_scale(CcNode *node);

/* A node without a way to evaluate it yet. */
extern CcNode *cc_node_make(CcExpr *expr, Node *clause);

/* ---- cc_expr_value.c ---- */

extern const CcVector *cc_eval_column(CcNode *node, const uint64 *rows);
extern const CcVector *cc_eval_constant(CcNode *node, const uint64 *rows);

/*
 * Sets node->out up for values of a representation, with a buffer of the
 * node's own for the whole vector, no nulls.
 */
extern void cc_node_begin(CcNode *node, CcRep rep);

/* The representation in which single Datums of the node's type are put. */
extern CcRep cc_node_rep(const CcNode *node);

/* Puts a value into node->out at a row; by reference: the pointer as it is. */
extern void cc_node_put(CcNode *node, int row, Datum value, bool isnull);

/* The int64 that vectors hold of a Datum passed by value, not a float. */
extern int64 cc_datum_to_int(Oid type, int16 typlen, Datum value);

/* Value of a vector as a Datum; numerics are written to the arena. */
extern Datum cc_expr_datum(CcExpr *expr, const CcVector *v, int row);

/*
 * A vector of numerics as scaled integers, if the rows' values are such: v
 * itself, or out set to the node's buffer.  NULL if they are not.
 */
extern const CcVector *cc_numerics_as_decimals(CcNode *node, const CcVector *v,
											   const uint64 *rows, bool any_scale);

/* node->out of numerics, as scaled integers if possible. */
extern const CcVector *cc_node_numerics(CcNode *node, const uint64 *rows);

/* The vector out of node, all null. */
extern const CcVector *cc_node_nulls(CcNode *node);

/* ---- cc_expr_server.c ---- */

extern const CcVector *cc_eval_by_value(CcNode *node, const CcVector *column,
										const uint64 *rows);
extern void cc_truth_by_value(CcNode *node, const CcVector *column,
							  const uint64 *rows, CcTruth *truth);
extern const CcVector *cc_eval_by_row(CcNode *node, const uint64 *rows);

/* ---- cc_expr_call.c ---- */

/*
 * Makes node a call of a function.  The arguments are compiled in; finds the
 * kernel, if there is one.  False: leave it to the server as it stands.
 */
extern bool cc_call_compile(CcNode *node, Oid funcid, List *args, Oid collation);

/* Calls the function for a row; the result is in the per-tuple context. */
extern Datum cc_call_row(CcNode *node, const CcVector *const *args, int row, bool *isnull);

/* rows that are not live are null in node->out, which has no nulls yet. */
extern void cc_node_set_nulls(CcNode *node, const uint64 *rows, const uint64 *live);

/* ---- kernels, by function ---- */

typedef struct CcKernelEntry
{
	Oid			funcid;
	CcKernel	kernel;
	int			op;
} CcKernelEntry;

extern const CcKernelEntry cc_arith_kernels[];	/* cc_expr_arith.c */
extern const CcKernelEntry cc_decimal_kernels[];	/* cc_expr_decimal.c */
extern const CcKernelEntry cc_time_kernels[];	/* cc_expr_time.c */
extern const CcKernelEntry cc_text_kernels[];	/* cc_expr_text.c */

/*
 * cc_expr_uint8.c: sets node->uint8 and the kernel, if the function is one of
 * that type's; the rows for which its comparison is true.
 */
extern void cc_uint8_set_kernel(CcNode *node);
extern bool cc_uint8_compare(CcNode *node, const CcVector *a, const CcVector *b,
							 const uint64 *rows, uint64 *bits);

/* Comparison operators: sets node->truth; cc_expr_compare.c. */
extern bool cc_compare_set(CcNode *node, Oid opno);

/*
 * Two vectors of numbers brought to one form, in which their values can be
 * compared and added: both int64, both int128, or both double.
 */
typedef struct CcPair
{
	CcRep		rep;			/* CC_REP_INT64, CC_REP_DECIMAL128, CC_REP_FLOAT8 */
	int			scale;			/* of numerics */
	const void *a;
	const void *b;
	int128		a_buffer[ST_VECTOR_SIZE];
	int128		b_buffer[ST_VECTOR_SIZE];
} CcPair;

/* False: at least one is of another kind, or the scales are too far apart. */
extern bool cc_pair_align(CcPair *pair, const CcVector *a, const CcVector *b, int n);

/*
 * cc_expr_cache.c: functions of one argument that varies, remembered by its
 * value.  Set: false if the node is no such call.  Allowed: whether that may
 * be done at present.  Eval: live are the rows without a null argument.
 */
typedef struct CcCache CcCache;
extern void cc_cache_set(CcNode *node, Oid funcid);
extern bool cc_cache_allowed(const CcNode *node);
extern const CcVector *cc_cache_eval(CcNode *node, const CcVector *const *args,
									 const uint64 *rows, const uint64 *live);

/* How the result of a function of time depends on its argument. */
typedef enum CcTimeStep
{
	CC_STEP_NONE,				/* not known to be the same for a while */
	CC_STEP_LOCAL,				/* by the local time, without a time zone */
	CC_STEP_ZONED				/* by the local time of the session's time zone */
} CcTimeStep;

/*
 * cc_expr_time.c: step of a function, and in *width the microseconds (days,
 * for a date) within which the result stays the same.  unit: constant of the
 * function's first argument, or NULL.
 */
extern CcTimeStep cc_time_step(Oid funcid, const text *unit, int64 *width);
extern bool cc_time_has_unit(Oid funcid);
extern bool cc_time_is_known(Oid funcid);

/* The session's time zone has one offset from start for width microseconds. */
extern bool cc_time_is_steady(int64 start, int64 width);

/* ---- cc_expr_logic.c, cc_expr_branch.c: true if the clause is theirs ---- */

extern bool cc_logic_compile(CcNode *node);
extern bool cc_branch_compile(CcNode *node);

/* ---- bitmaps ---- */

static inline bool
cc_rows_test(const uint64 *rows, int row)
{
	return (rows[row >> 6] >> (row & 63)) & 1;
}

static inline void
cc_rows_set(uint64 *rows, int row)
{
	rows[row >> 6] |= UINT64CONST(1) << (row & 63);
}

static inline void
cc_rows_clear(uint64 *rows, int row)
{
	rows[row >> 6] &= ~(UINT64CONST(1) << (row & 63));
}

/* for each row of a bitmap; words: its length */
#define CC_FOREACH_ROW(row, rows, words) \
	for (int row##_w = 0; row##_w < (words); row##_w++) \
		for (uint64 row##_left = (rows)[row##_w]; row##_left != 0; \
			 row##_left &= row##_left - 1) \
			for (int row = row##_w * 64 + __builtin_ctzll(row##_left), row##_once = 1; \
				 row##_once; row##_once = 0)

/* Rows that are not null in the vector; returns whether there are any. */
static inline bool
cc_rows_not_null(uint64 *to, const uint64 *rows, const CcVector *v, int words)
{
	uint64		any = 0;

	for (int w = 0; w < words; w++)
	{
		to[w] = v->has_nulls ? rows[w] & v->valid[w] : rows[w];
		any |= to[w];
	}
	return any != 0;
}

#endif							/* CC_EXPR_INT_H */
