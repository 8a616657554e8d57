/*-------------------------------------------------------------------------
 *
 * cc_agg.h
 *	  The custom node that aggregates vectors.
 *
 *	 cc_agg_node.c		the node: reads batches, returns groups
 *	 cc_agg_feed.c		vectors of the rows of any plan
 *	 cc_agg_footer.c	what is known of whole row groups
 *	 cc_agg_input.c		arguments, filters and keys as vectors
 *	 cc_agg_group.c		from keys to group numbers
 *	 cc_agg_intern.c	distinct values of a key
 *	 cc_agg_trans.c		states of groups: made, advanced by a batch, finished
 *	 cc_agg_kernels.c	the loops that do it
 *	 cc_agg_numeric.c	sums and bounds of numerics
 *	 cc_agg_distinct.c	DISTINCT arguments
 *	 cc_agg_ordered.c	percentiles, mode
 *	 cc_agg_partial.c	states of groups on their way between parallel workers
 *	 cc_agg_spill.c		rows for whose groups there is no memory
 *	 cc_agg_server.c	aggregates that only the server can compute
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_AGG_H
#define CC_AGG_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "lib/stringinfo.h"
#include "nodes/extensible.h"

#include "cc_agg_kernels.h"
#include "cc_agg_path.h"
#include "cc_agg_spec.h"
#include "cc_expr.h"
#include "cc_scan.h"

/* No group number: the row's group has no room in memory. */
#define CC_NO_GROUP		PG_UINT32_MAX

/*
 * An expression over the table's columns, as a vector of the batch at hand.
 * Evaluated only for the rows that pass the filter.
 */
typedef struct CcAggInput
{
	Expr	   *expr;
	int			filter;			/* index of the input that is its filter, or -1 */
	AttrNumber	attno;			/* it is this column, or 0 */
	int			flags;			/* CC_EXPR_* */
	CcExpr	   *program;		/* else: compiled, or NULL */
	ExprState  *state;			/* else: row by row */
	int			ncolumns;
	AttrNumber *attnos;			/* columns that it refers to */
	Oid			type;			/* base type */
	int16		typlen;
	bool		typbyval;
	CcRep		rep;			/* of own */
	MemoryContext values_mcxt;	/* values by reference of own */
	CcVector	own;
	const CcVector *vector;		/* of the batch, or NULL: not evaluated yet */
} CcAggInput;

typedef struct CcServerAgg CcServerAgg;
typedef struct CcDistinct CcDistinct;

/* What is kept per group for one or more aggregates. */
typedef struct CcAggTrans
{
	CcTransKind kind;
	const Aggref *ref;			/* the first of them */
	int			ninputs;		/* arguments; 0: count(*) */
	int		   *inputs;
	int			filter;			/* index of an input, or -1 */
	Size		offset;			/* of the state in a group's record */
	int			scale;			/* CC_TRANS_*_NUMERIC: of the fast part; -1: not known */
	bool		from_footer;	/* has the row group at hand already */
	CcDistinct *distinct;		/* of the argument's values; NULL: all count */
	CcServerAgg *server;		/* CC_TRANS_SERVER */
} CcAggTrans;

/* One output column behind the keys. */
typedef struct CcAggOutput
{
	int			trans;
	CcAggSpec	spec;
	Oid			type;
	ExprState  *direct;			/* percentile's fraction, or NULL */
} CcAggOutput;

typedef struct CcIntern CcIntern;
typedef struct CcSpill CcSpill;

/* Key column of the groups. */
typedef struct CcAggKey
{
	int			input;
	bool		integer;		/* its word is the value, else the number of the value */
	CcIntern   *intern;

	/* word by code of a dictionary */
	uint64		dict_group;		/* row group it is for (CcSource.nopened) */
	const CcDictionary *dict;
	uint64		dict_made;		/* and its CcDictionary.made */
	uint32	   *dict_words;		/* CC_NO_WORD: not known yet */
	uint32		dict_capacity;

	/* range of local numbers in the direct table */
	bool		is_code;		/* codes of direct_dict */
	const CcDictionary *direct_dict;
	uint64		direct_made;
	int64		base;
	uint64		size;			/* local numbers, null's included */
} CcAggKey;

/* Groups in memory. */
typedef struct CcGroups
{
	MemoryContext mcxt;			/* all of it */
	int			nkeys;
	CcAggKey   *keys;
	int			width;			/* words per group: keys and a mask of nulls */

	double		expected;		/* groups, by the planner's estimate */
	uint32		ngroups;
	uint32		capacity;
	uint64	   *words;			/* by group number */
	char	   *states;			/* records, by group number */
	Size		stride;			/* bytes of a record; first is the count of rows */
	char	   *initial;		/* record of a new group */

	uint64	   *slots;			/* open addressing: hash << 32 | group + 1 */
	uint32		nslots;			/* a power of two */

	/* by combination of local numbers of the keys, if there are few */
	uint32	   *direct;
	uint64		ndirect;		/* in use; 0: none */
	uint64		direct_capacity;
	uint64		direct_group;	/* row group it was made for */
	bool		direct_failed;	/* not for this row group */
	bool		full;			/* no memory for new groups */

	uint32		gids[ST_VECTOR_SIZE];
} CcGroups;

typedef struct CcAggFeed CcAggFeed;

typedef struct CcAggState
{
	CustomScanState css;		/* must be first */

	CcAggMode	mode;
	CcScanState *scan;			/* NULL: rows or states come from below */
	CcAggFeed  *feed;			/* what makes vectors of those rows, or NULL */
	List	   *operands;		/* and fused: in terms of the scan's columns, where */
	List	   *fused;			/* the planner saw rows; else both are NIL */
	CcBatch    *batch;			/* the scan's or the feed's; NULL: states come */
	TupleDesc	desc;			/* of the rows that the batch stands for */
	int			npaths;			/* path columns that expressions may use */
	MemoryContext mcxt;			/* groups and what hangs on them */
	MemoryContext batch_mcxt;	/* while a batch is worked on */
	ExprContext *econtext;		/* of expressions over rows */
	CcExprSet  *exprs;			/* compiled ones */

	int			ninputs;
	CcAggInput *inputs;
	int			ntrans;
	CcAggTrans *trans;
	int			noutputs;
	CcAggOutput *outputs;
	CcGroups   *groups;

	MemoryContext keys_mcxt;	/* values of keys and of DISTINCT arguments */
	CcSpill    *spill;			/* rows on disk, or NULL: never any */

	uint64		footer_group;	/* row group that from_footer is about; 0: none */
	bool		filled;			/* groups are complete */
	uint32		next;			/* that is to be returned */
} CcAggState;

extern const CustomScanMethods cc_agg_methods;

/* Registers the node; from _PG_init. */
extern void cc_agg_init(void);

/* ---- cc_agg_input.c ---- */

/* Number of the input for the expression; made if there is none yet. */
extern int	cc_agg_input(CcAggState *state, Expr *expr, int filter, int flags);

/* A new batch stands: nothing is evaluated. */
extern void cc_agg_inputs_reset(CcAggState *state);

/*
 * The input's vector.  Rows that the batch's selection, or the input's
 * filter, leaves out have undefined values.
 */
extern const CcVector *cc_agg_vector(CcAggState *state, int input);

/*
 * Rows of the batch that pass the filter, as a bitmap in result (with
 * filter -1: the batch's selection).
 */
extern void cc_agg_selection(CcAggState *state, int filter, uint64 *result);

/* A Datum of the input's type, which is by value, as vectors hold it. */
extern int64 cc_agg_integer(const CcAggInput *input, Datum value);

/* The vector's value at a row, not null; numerics are written to buffer. */
extern Datum cc_agg_datum(const CcVector *v, int row, void *buffer);

/* ---- cc_agg_feed.c ---- */

/*
 * Vectors of the rows that a plan returns; columns as in cc_agg_path.h,
 * operands: what they stand for.  Sets the state's batch and desc.
 */
extern CcAggFeed *cc_agg_feed_create(CcAggState *state, PlanState *child, List *operands,
									 List *columns);

/*
 * The scan of vectors that the rows come from, if they are that and nothing
 * else; then sets the state's operands and fused.  Or NULL.
 */
extern CcScanState *cc_agg_fuse(CcAggState *state, PlanState *child, List *operands,
								List *columns);
extern Expr *cc_agg_fused(const CcAggState *state, Expr *operand);

/* The batch on the next rows; false at the end. */
extern bool cc_agg_feed_next(CcAggFeed *feed);
extern void cc_agg_feed_rescan(CcAggFeed *feed);

/* The column of the rows that is the expression's value. */
extern AttrNumber cc_agg_feed_column(const CcAggFeed *feed, const Expr *expr);

/* ---- cc_agg_footer.c ---- */

/*
 * Without keys: takes what is known of the batch's row group, if that is new.
 * True: that was all that is wanted of it, and the batch is used up.
 */
extern bool cc_agg_footer(CcAggState *state);
extern void cc_agg_footer_init(void);

/* ---- cc_agg_group.c ---- */

extern CcGroups *cc_groups_create(CcAggState *state, int nkeys, Size stride);
extern void cc_groups_reset(CcGroups *groups);

/* Makes the only group of an aggregation without keys. */
extern void cc_groups_add_only(CcGroups *groups);

/*
 * Group numbers of n rows to groups->gids, one after another; rows: their
 * positions.  New groups are made as needed.  If there is no memory for any,
 * their rows go to disk and leave rows; returns how many are left.
 */
extern int	cc_groups_assign(CcAggState *state, uint16 *rows, int n);

/* Number of the group with these words; made if it is new. */
extern uint32 cc_groups_find(CcGroups *groups, const uint64 *words);

/* Hash of a row's keys, the same wherever equal keys come from. */
extern uint64 cc_groups_hash(CcAggState *state, int row);

/*
 * Word of a key's value (not null) at a row of its vector; false if the value
 * is new and not to be added.
 */
extern bool cc_key_word(CcAggState *state, CcAggKey *key, const CcVector *v, int row,
						bool add, uint64 *word);

/* Forgets the values of a key. */
extern void cc_key_reset(CcAggKey *key);

/* A key, or an argument whose distinct values count. */
extern void cc_key_init(CcAggState *state, CcAggKey *key, int input, Oid eqop);

/* Value of a group's key. */
extern Datum cc_group_key(CcGroups *groups, uint32 gid, int key, bool *isnull);

static inline char *
cc_group_record(const CcGroups *groups, uint32 gid)
{
	return groups->states + (Size) gid * groups->stride;
}

/* ---- cc_agg_intern.c ---- */

#define CC_NO_WORD	PG_UINT32_MAX

/*
 * Distinct values of a type under an equality operator, numbered as they
 * come.  bytes: equality is that of the bytes (cc_is_bytes_key()).
 */
extern CcIntern *cc_intern_create(MemoryContext mcxt, Oid type, Oid eqop, Oid collation,
								  bool bytes);
extern void cc_intern_reset(CcIntern *intern);

/* Number of a value; CC_NO_WORD if it is new and not to be added. */
extern uint32 cc_intern(CcIntern *intern, Datum value, bool add);
extern uint32 cc_intern_hash(CcIntern *intern, Datum value);
extern Datum cc_intern_value(const CcIntern *intern, uint32 number);

/* ---- cc_agg_trans.c ---- */

/* Number of the transition that serves the aggregate; made if there is none. */
extern int	cc_agg_trans(CcAggState *state, const Aggref *ref, const CcAggSpec *spec);

/* Lays out the records; returns their size. */
extern Size cc_agg_layout(CcAggState *state);

/* No groups, or if there are no keys, one. */
extern void cc_agg_start(CcAggState *state);

/* Advances all groups by the selected rows of the batch. */
extern void cc_agg_advance(CcAggState *state, const uint16 *rows, int n, bool all);

/* Result of an aggregate for a group, in the current memory context. */
extern Datum cc_agg_result(CcAggState *state, int output, uint32 gid, bool *isnull);

/* ---- cc_agg_numeric.c ---- */

extern void cc_numeric_advance(CcAggState *state, CcAggTrans *trans, const CcVector *v,
							   const CcAggRows *rows);
extern Datum cc_numeric_result(CcAggState *state, CcAggTrans *trans,
							   char *record, int64 count);

/* ---- cc_agg_distinct.c ---- */

extern CcDistinct *cc_distinct_create(CcAggState *state, int input, Oid eqop);
extern void cc_distinct_reset(CcDistinct *distinct);

/*
 * Of n rows, whose values in v are not null, keeps those whose value is the
 * first of its kind in its group; returns how many.  The others are counted
 * as skipped.
 */
extern int	cc_distinct_filter(CcAggState *state, CcAggTrans *trans, const CcVector *v,
							   uint16 *rows, uint32 *gids, int n);

/* ---- cc_agg_ordered.c ---- */

extern void cc_ordered_advance(CcAggState *state, CcAggTrans *trans, const CcVector *v,
							   const CcAggRows *rows);
extern Datum cc_ordered_result(CcAggState *state, const CcAggOutput *output,
							   void *agg_state, bool *isnull);

/* Between participants of a parallel aggregation. */
extern void cc_numeric_write(StringInfo out, const CcNumericState *s);
extern const char *cc_numeric_merge(CcAggState *state, CcAggTrans *trans,
									CcNumericState *into, const CcNumericState *from,
									int64 count, int scale, const char *bytes);

/* ---- cc_agg_partial.c ---- */

/* States of some groups, from state->next on, as a bytea; false at the end. */
extern bool cc_partial_write(CcAggState *state, Datum *result);

/* Merges what another participant has written. */
extern void cc_partial_merge(CcAggState *state, Datum value);

/* ---- cc_agg_spill.c ---- */

/* Memory of groups is used up. */
extern bool cc_spill_is_due(CcAggState *state);

/* Puts a row of the batch, whose keys have this hash, on disk. */
extern void cc_spill_row(CcAggState *state, int row, uint64 hash);

/*
 * Goes on to rows that are on disk: they are the input from now on.  False
 * if there are none left.
 */
extern bool cc_spill_next(CcAggState *state);

/* The scan's batch on the next rows of them; false at the end. */
extern bool cc_spill_next_batch(CcAggState *state);

/* The input are rows from disk. */
extern bool cc_spill_is_input(const CcAggState *state);

/* Drops everything on disk. */
extern void cc_spill_reset(CcAggState *state);

/* For EXPLAIN: rows written, and parts of them that were read back. */
extern void cc_spill_counts(const CcAggState *state, uint64 *rows, uint64 *parts);

/* ---- cc_agg_server.c ---- */

extern CcServerAgg *cc_server_agg_create(CcAggState *state, const Aggref *ref);
extern Size cc_server_agg_state_size(void);
extern void cc_server_agg_initial(CcServerAgg *agg, void *agg_state);
extern void cc_server_agg_advance(CcAggState *state, CcAggTrans *trans,
								  const CcAggRows *rows);
extern Datum cc_server_agg_result(CcAggState *state, CcAggTrans *trans, void *agg_state,
								  bool *isnull);
extern void cc_server_agg_reset(CcServerAgg *agg);
extern Size cc_server_agg_memory(const CcServerAgg *agg);

/* Raises an error unless the user may call the aggregate. */
extern void cc_agg_check_rights(const Aggref *ref);

/* cc_agg_explain.c */
extern void cc_agg_explain(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* CC_AGG_H */
