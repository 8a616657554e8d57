/*-------------------------------------------------------------------------
 *
 * vx_agg.h
 *	  The custom node that aggregates vectors.
 *
 *	 vx_agg_node.c		the node: reads batches, returns groups
 *	 vx_agg_feed.c		vectors of the rows of any plan
 *	 vx_agg_unnest.c	vectors of the elements of arrays
 *	 vx_agg_arms.c		vectors of several plans, one after another
 *	 vx_agg_footer.c	what is known of whole row groups
 *	 vx_agg_input.c		arguments, filters and keys as vectors
 *	 vx_agg_group.c		from keys to group numbers
 *	 vx_agg_trans.c		states of groups: made, advanced by a batch, finished
 *	 vx_agg_kernels.c	the loops that do it
 *	 vx_agg_setop.c		INTERSECT and EXCEPT
 *	 vx_agg_linear.c	sums of x + c from the sum of x
 *	 vx_agg_numeric.c	sums and bounds of numerics
 *	 vx_agg_distinct.c	DISTINCT arguments
 *	 vx_agg_pairs.c		words that groups have seen
 *	 vx_agg_ordered.c	percentiles, mode
 *	 vx_agg_partial.c	states of groups on their way between parallel workers
 *	 vx_agg_state_parts.c	groups for which a final node has no memory
 *	 vx_agg_shared.c	partitions of groups that participants share, and shares of a key
 *	 vx_agg_spill.c		rows for whose groups there is no memory
 *	 vx_agg_server.c	aggregates that only the server can compute
 *	 vx_agg_dependent.c	columns that the keys determine
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_AGG_H
#define VX_AGG_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "lib/stringinfo.h"
#include "nodes/extensible.h"

#include "vx_agg_kernels.h"
#include "vx_agg_spec.h"
#include "vx_expr.h"
#include "vx_intern.h"
#include "vx_linear.h"
#include "vx_scan.h"

/* Parts that groups are divided into by a few bits of their hash, and again by the next. */
#define VX_AGG_PART_BITS	4
#define VX_AGG_PARTS		(1 << VX_AGG_PART_BITS)

/* So few groups stay in memory, whatever they take. */
#define VX_AGG_MIN_GROUPS	64

/* No group number: the row's group has no room in memory. */
#define VX_NO_GROUP		PG_UINT32_MAX

/*
 * An expression over the table's columns, as a vector of the batch at hand.
 * Evaluated only for the rows that pass the filter.
 */
typedef struct VxAggInput
{
	Expr	   *expr;
	int			filter;			/* index of the input that is its filter, or -1 */
	AttrNumber	attno;			/* it is this column, or 0 */
	int			flags;			/* VX_EXPR_* */
	VxExpr	   *program;		/* else; NULL in a final node, which has states */
	Oid			type;			/* base type */
	int16		typlen;
	bool		typbyval;
	const VxVector *vector;		/* of the batch, or NULL: not evaluated yet */
} VxAggInput;

typedef struct VxServerAgg VxServerAgg;
typedef struct VxDistinct VxDistinct;
typedef struct VxAggGuard VxAggGuard;

/* What is kept per group for one or more aggregates. */
typedef struct VxAggTrans
{
	VxTransKind kind;
	const Aggref *ref;			/* the first of them */
	int			ninputs;		/* arguments; 0: count(*) */
	int		   *inputs;
	int			filter;			/* index of an input, or -1 */
	Size		offset;			/* of the state in a group's record */
	int			scale;			/* VX_TRANS_*_NUMERIC: of the fast part; -1: not known */
	bool		from_footer;	/* has the row group at hand already */
	VxDistinct *distinct;		/* of the argument's values; NULL: all count */
	VxServerAgg *server;		/* VX_TRANS_SERVER */
	VxAggGuard *guard;			/* what linear expressions of the argument need, or NULL */
} VxAggTrans;

/* One output column behind the keys. */
typedef struct VxAggOutput
{
	int			trans;
	int64		factor;			/* of sums of integers: sum * factor + count * offset */
	int64		offset;
	VxAggSpec	spec;
	Oid			type;
	ExprState  *direct;			/* percentile's fraction, or NULL */
} VxAggOutput;

typedef struct VxSpill VxSpill;

/* Something known of a value by its code in the dictionary at hand. */
typedef struct VxCodeWords
{
	uint64		group;			/* row group it is for (VxSource.nopened) */
	const VxDictionary *dict;
	uint64		made;			/* and its VxDictionary.made */
	uint32	   *words;			/* VX_NO_WORD: not known yet */
	uint32		capacity;
} VxCodeWords;

/* Key column of the groups. */
typedef struct VxAggKey
{
	int			input;
	bool		integer;		/* its word is the value, else the number of the value */
	VxIntern   *intern;

	VxCodeWords codes;			/* word by code */

	/* numbers of the decimals of one scale that were looked for last, by their hash */
	struct VxDecimalWord *decimals;
	int			decimal_scale;

	/* range of local numbers in the direct table */
	bool		is_code;		/* codes of direct_dict */
	const VxDictionary *direct_dict;
	uint64		direct_made;
	int64		base;
	uint64		size;			/* local numbers, null's included */
} VxAggKey;

/* Groups in memory. */
typedef struct VxGroups
{
	MemoryContext mcxt;			/* all of it */
	int			nkeys;
	VxAggKey   *keys;
	int			width;			/* words per group: keys and a mask of nulls */

	double		expected;		/* groups, by the planner's estimate */
	uint32		ngroups;
	uint32		capacity;
	char	   *states;			/* records, by group number */
	Size		state_bytes;	/* of them the states, first of all the count of rows; */
	Size		stride;			/* the words of the keys follow */
	char	   *initial;		/* record of a new group */

	uint64	   *slots;			/* open addressing: hash << 32 | group + 1 */
	uint32		nslots;			/* a power of two */
	uint32	   *by_number;		/* of a single key's value: group, or VX_NO_GROUP */
	uint32		nnumbers;
	uint32		null_group;		/* of that key */
	uint64	   *batch_words;	/* of the batch at hand, row by row */

	/* by combination of local numbers of the keys, if there are few */
	uint32	   *direct;
	uint64		ndirect;		/* in use; 0: none */
	uint64		direct_capacity;
	uint64		direct_group;	/* row group it was made for */
	bool		direct_failed;	/* not for this row group */
	bool		full;			/* no memory for new groups */
	bool		of_sets;		/* words tell sets apart, too */

	uint32		gids[ST_VECTOR_SIZE];
} VxGroups;

typedef struct VxAggFeed VxAggFeed;
typedef struct VxAggUnnest VxAggUnnest;
typedef struct VxAggArms VxAggArms;
typedef struct VxAggSetOp VxAggSetOp;
typedef struct VxAggTopN VxAggTopN;
typedef struct VxStateParts VxStateParts;
typedef struct VxAggSets VxAggSets;
typedef struct VxAggShared VxAggShared;
typedef struct VxAggShares VxAggShares;

typedef struct VxAggState
{
	CustomScanState css;		/* must be first */

	VxAggMode	mode;
	bool		algebra;		/* sums of linear expressions from those of their base */
	PlanState  *below;			/* hands out vectors; NULL: rows or states come, */
	VxProducer *producer;		/* or rows from disk */
	VxScanState *scan;			/* it, if it is a scan, or NULL */
	VxAggFeed  *feed;			/* what makes vectors of those rows, or NULL */
	VxAggUnnest *unnest;		/* elements of arrays, or NULL */
	VxAggArms  *arms;			/* of a set operation, or NULL */
	VxAggSetOp *setop;			/* INTERSECT or EXCEPT of them, or NULL */
	List	   *operands;		/* and fused: in terms of the batch's columns, where */
	List	   *fused;			/* the planner saw others; else both are NIL */
	VxBatch    *batch;			/* the scan's or the feed's; NULL: states come */
	TupleDesc	desc;			/* of the rows that the batch stands for */
	int			npaths;			/* path columns that expressions may use */
	MemoryContext mcxt;			/* groups and what hangs on them */
	MemoryContext batch_mcxt;	/* while a batch is worked on */
	VxExprSet  *exprs;			/* compiled ones */

	int			ninputs;
	VxAggInput *inputs;
	int			ntrans;
	VxAggTrans *trans;
	int			noutputs;
	VxAggOutput *outputs;
	int			nderived;		/* of the outputs: sums of linear expressions */
	VxGroups   *groups;
	int			ndependents;	/* columns that the keys determine */
	int		   *dependents;		/* inputs */
	Size		dependents_at;	/* in a group's record */

	MemoryContext keys_mcxt;	/* values of keys and of DISTINCT arguments */
	VxSpill    *spill;			/* rows on disk, or NULL: never any */
	VxStateParts *state_parts;	/* a final node's: groups on disk, likewise */
	VxAggShared *shared;		/* partitions that participants share, or NULL */
	MemoryContext shared_mcxt;	/* what it has */
	uint64		nshared;		/* for EXPLAIN, when it is gone: states in them */
	VxAggShares *shares;		/* VX_AGG_SHARES: those of a key, or NULL */

	VxAggSets  *sets;			/* GROUPING SETS, or NULL */
	VxAggTopN  *topn;			/* only the first groups are wanted, or NULL */
	uint64		footer_group;	/* row group that from_footer is about; 0: none */
	bool		filled;			/* groups are complete */
	uint32		next;			/* that is to be returned */
} VxAggState;

extern CustomScanMethods vx_agg_methods;
extern CustomScanMethods vx_setop_methods;

/* The node, if it is such an aggregation, or NULL. */
extern VxAggState *vx_agg_state(PlanState *ps);

/*
 * Where the entry of custom_scan_tlist comes from, if it is a key: column *attno of what
 * the child returns, or, if that is 0, the expression of the columns of its scan.
 * NULL: groups are not simply of rows with the same.
 */
extern Expr *vx_agg_key_source(VxAggState *state, int entry, PlanState **child,
							   AttrNumber *attno);

/* From vx_init(). */
extern void vx_agg_init(void);

/* ---- vx_agg_input.c ---- */

/* Number of the input for the expression; made if there is none yet. */
extern int	vx_agg_input(VxAggState *state, Expr *expr, int filter, int flags);

/* A new batch stands: nothing is evaluated. */
extern void vx_agg_inputs_reset(VxAggState *state);

/*
 * The input's vector.  Rows that the batch's selection, or the input's
 * filter, leaves out have undefined values.
 */
extern const VxVector *vx_agg_vector(VxAggState *state, int input);

/*
 * Rows of the batch that pass the filter, as a bitmap in result (with
 * filter -1: the batch's selection).
 */
extern void vx_agg_selection(VxAggState *state, int filter, uint64 *result);

/*
 * A value of the input's type on its way between participants, aligned as an integer
 * is; read returns what follows it.
 */
extern void vx_state_value_write(StringInfo out, Datum value, const VxAggInput *input);
extern const char *vx_state_value_read(const VxAggInput *input, const char *p, Datum *value);

/* ---- vx_agg_feed.c ---- */

/*
 * Vectors of the rows that a plan returns; columns as in vx_agg_spec.h,
 * operands: what they stand for.  Sets the state's batch and desc.
 */
extern VxAggFeed *vx_agg_feed_create(VxAggState *state, PlanState *child, List *operands,
									 List *columns);

/*
 * The node that hands out vectors from which the rows come, if they are that and
 * nothing else; then sets the state's operands and fused.  Or NULL.
 */
extern PlanState *vx_agg_fuse(VxAggState *state, PlanState *child, List *operands,
								List *columns);
extern Expr *vx_agg_fused(const VxAggState *state, Expr *operand);

/* The batch on the next rows; false at the end. */
extern bool vx_agg_feed_next(VxAggFeed *feed);
extern void vx_agg_feed_rescan(VxAggFeed *feed);

/* The column of the rows that is the expression's value. */
extern AttrNumber vx_agg_feed_column(const VxAggFeed *feed, const Expr *expr);

/* ---- vx_agg_unnest.c ---- */

/*
 * Vectors of the elements of arrays, if the rows of the child are unnest() of arrays in
 * vectors; arguments as of vx_agg_feed_create().  Sets the state's batch, desc,
 * producer, exprs, operands and fused.  Or NULL.
 */
extern VxAggUnnest *vx_agg_unnest_create(VxAggState *state, PlanState *child,
										 List *operands, List *columns);
extern bool vx_agg_unnest_next(VxAggUnnest *unnest);
extern void vx_agg_unnest_rescan(VxAggUnnest *unnest);

/* ---- vx_agg_arms.c ---- */

/*
 * Vectors of what the children return, whose first columns are the keys.  Sets the
 * state's batch, desc, producer, operands and fused: behind the keys stands
 * the number of the row's arm, an int4.
 */
extern VxAggArms *vx_agg_arms_create(VxAggState *state, List *children, List *keys);

/*
 * The batch on the next rows, all of one arm; false at the end, or before the second
 * arm if that does not matter.
 */
extern bool vx_agg_arms_next(VxAggArms *arms, const VxAggState *state);
extern void vx_agg_arms_rescan(VxAggArms *arms);

/* Number of the arm that is being read. */
extern int	vx_agg_arms_current(const VxAggArms *arms);

/* ---- vx_agg_setop.c ---- */

extern VxAggSetOp *vx_agg_setop_create(VxAggState *state, SetOpCmd cmd);

/* Bytes of a group's record. */
extern Size vx_agg_setop_layout(void);
extern void vx_agg_setop_reset(VxAggSetOp *setop);

/* Counts n rows of the batch for their groups; changes rows. */
extern void vx_agg_setop_advance(VxAggState *state, uint16 *rows, int n);

/* Whatever rows are still to be read, nothing comes out. */
extern bool vx_agg_setop_is_empty(const VxAggState *state);

/* All groups there may be have been made: rows that are still to be read make none. */
extern bool vx_agg_setop_is_complete(const VxAggState *state);

/* The group whose key is the next row; false at the end of those in memory. */
extern bool vx_agg_setop_next(VxAggState *state, uint32 *gid);

/* For EXPLAIN. */
extern const char *vx_agg_setop_name(const VxAggSetOp *setop);

/* ---- vx_agg_footer.c ---- */

/*
 * Without keys: takes what is known of the batch's row group, if that is new.
 * True: that was all that is wanted of it, and the batch is used up.
 */
extern bool vx_agg_footer(VxAggState *state);

/* Before the first batch: count(*) alone takes all row groups, unopened. */
extern void vx_agg_footer_rows(VxAggState *state);

/* ---- vx_agg_group.c ---- */

/* state_bytes: of the states in a group's record. */
extern VxGroups *vx_groups_create(VxAggState *state, int nkeys, Size state_bytes);
extern void vx_groups_reset(VxGroups *groups);

/*
 * Group numbers of n rows to groups->gids, one after another; rows: their
 * positions.  New groups are made as needed.  If there is no memory for any,
 * their rows go to disk and leave rows; returns how many are left.
 */
extern int	vx_groups_assign(VxAggState *state, uint16 *rows, int n);

/* The same, but no groups are made: rows that have none leave. */
extern int	vx_groups_assign_known(VxAggState *state, uint16 *rows, int n);

/* Hash of a row's, a group's keys, the same wherever equal keys come from. */
extern uint64 vx_groups_hash(VxAggState *state, int row);
extern uint64 vx_group_hash(const VxGroups *groups, uint32 gid);

/*
 * Word of a key's value (not null) at a row of its vector; false if the value
 * is new and not to be added.
 */
extern bool vx_key_word(VxAggState *state, VxAggKey *key, const VxVector *v, int row,
						bool add, uint64 *word);

/*
 * Words of n rows into every width'th place, 0 for a null, VX_NO_WORD for a
 * value that is new and not to be added.
 */
extern void vx_key_words(VxAggState *state, VxAggKey *key, const VxVector *v,
						 const uint16 *rows, int n, bool add, uint64 *words, int width);

/*
 * The word of a code: its place, in an array that mcxt has and the next call may move.
 * All zero at first; unknown words of another dictionary, or of another row group.
 */
extern uint32 *vx_code_word(VxCodeWords *words, MemoryContext mcxt, uint64 group,
							const VxDictionary *dict, uint32 code);

/* Forgets the values of a key. */
extern void vx_key_reset(VxAggKey *key);

/* A key of the same input, whose values are numbered anew, in mcxt. */
extern void vx_key_copy(VxAggState *state, VxAggKey *key, const VxAggKey *from, Oid eqop,
						MemoryContext mcxt);

/* A key, or an argument whose distinct values count. */
extern void vx_key_init(VxAggState *state, VxAggKey *key, int input, Oid eqop);

/* Value of a group's key. */
extern Datum vx_group_key(VxGroups *groups, uint32 gid, int key, bool *isnull);

static inline char *
vx_group_record(const VxGroups *groups, uint32 gid)
{
	return groups->states + (Size) gid * groups->stride;
}

/* Words of its keys, then a mask of those that are null. */
static inline const uint64 *
vx_group_words(const VxGroups *groups, uint32 gid)
{
	return (const uint64 *) (vx_group_record(groups, gid) + groups->state_bytes);
}

/* ---- vx_agg_table.c ---- */

/* No groups, and room for as many as the planner expects. */
extern void vx_table_reset(VxGroups *groups);

/* Makes the only group of an aggregation without keys. */
extern void vx_groups_add_only(VxGroups *groups);

/*
 * Number of the group with these words; made, or if there is no room
 * VX_NO_GROUP, if it is new.  Find_many: of n times width words; add: new ones
 * are made.
 */
extern uint32 vx_groups_find(VxGroups *groups, const uint64 *words);
extern void vx_groups_find_many(VxGroups *groups, const uint64 *words, int n, bool add,
								uint32 *gids);

/* ---- vx_agg_trans.c ---- */

/* Number of the transition that serves the aggregate; made if there is none. */
extern int	vx_agg_trans(VxAggState *state, const Aggref *ref, const VxAggSpec *spec);

/* Lays out the records; returns their size. */
extern Size vx_agg_layout(VxAggState *state);

/* No groups, or if there are no keys, one. */
extern void vx_agg_start(VxAggState *state);

/* Advances all groups by the selected rows of the batch. */
extern void vx_agg_advance(VxAggState *state, const uint16 *rows, int n, bool all);

/* Result of an aggregate for a group, in the current memory context. */
extern Datum vx_agg_result(VxAggState *state, int output, uint32 gid, bool *isnull);

/* ---- vx_agg_dependent.c ---- */

/* entries: of the target list; offset: in a group's record.  Returns what follows them. */
extern Size vx_agg_dependents_init(VxAggState *state, const List *entries, Size offset);

/* Of n rows whose groups have been found, before which there were so many. */
extern void vx_agg_dependents_keep(VxAggState *state, uint32 before, const uint16 *rows,
								   int n);

/* The value of a group; lives as long as the group. */
extern Datum vx_agg_dependent(const VxAggState *state, int number, uint32 gid, bool *isnull);

/* ---- vx_agg_linear.c ---- */

/*
 * The aggregate of the base, if the argument is linear in one and that is
 * enough; changes spec to its.  Or NULL.
 */
extern const Aggref *vx_agg_linear_base(VxAggState *state, const Aggref *ref, VxAggSpec *spec,
										VxLinear *linear);

/* Has the transition of the base raise what the argument of ref would. */
extern void vx_agg_guard(VxAggState *state, VxAggTrans *trans, const Aggref *ref,
						 const VxLinear *linear);

/* Values within these bounds raise nothing. */
extern bool vx_agg_guard_allows(const VxAggTrans *trans, int64 least, int64 greatest);

/* Raises what there is to raise for n rows of the batch. */
extern void vx_agg_check_guards(VxAggState *state, const uint16 *rows, int n);

/* ---- vx_agg_numeric.c ---- */

extern void vx_numeric_advance(VxAggState *state, VxAggTrans *trans, const VxVector *v,
							   const VxAggRows *rows);
extern Datum vx_numeric_result(VxAggState *state, VxAggTrans *trans,
							   char *record, int64 count);

/* ---- vx_agg_distinct.c ---- */

extern VxDistinct *vx_distinct_create(VxAggState *state, int input, Oid eqop);
extern void vx_distinct_reset(VxAggState *state, VxDistinct *distinct);

/*
 * Of n rows, whose values in v are not null, keeps those whose value is the
 * first of its kind in its group; returns how many.  The others are counted
 * as skipped.
 */
extern int	vx_distinct_filter(VxAggState *state, VxAggTrans *trans, const VxVector *v,
							   uint16 *rows, uint32 *gids, int n);

/* Its values between participants; merge counts those that are known as skipped. */
extern void vx_distinct_write(VxAggState *state, VxDistinct *distinct, StringInfo out,
							  uint32 gid);
extern const char *vx_distinct_merge(VxAggState *state, VxAggTrans *trans, uint32 gid,
									 const char *p);

/* ---- vx_agg_ordered.c ---- */

extern void vx_ordered_advance(VxAggState *state, VxAggTrans *trans, const VxVector *v,
							   const VxAggRows *rows);
extern Datum vx_ordered_result(VxAggState *state, const VxAggOutput *output,
							   void *agg_state, bool *isnull);

/* Between participants of a parallel aggregation; merge returns what follows at p. */
extern void vx_ordered_write(StringInfo out, const VxOrderedState *s);
extern const char *vx_ordered_merge(VxAggState *state, VxOrderedState *into,
									const VxOrderedState *from, const char *p);
extern void vx_numeric_write(StringInfo out, const VxNumericState *s);
extern const char *vx_numeric_merge(VxAggState *state, VxAggTrans *trans,
									VxNumericState *into, const VxNumericState *from,
									int64 count, int scale, const char *bytes);

/* ---- vx_agg_partial.c ---- */

/* States of some groups on their way into a bytea, in the current context. */
typedef struct VxStates
{
	uint32		n;
	StringInfoData records;
	StringInfoData keys;
	StringInfoData slow;
} VxStates;

extern void vx_states_begin(VxStates *states);
extern void vx_states_reset(VxStates *states);
extern void vx_states_add(VxAggState *state, VxStates *states, uint32 gid);

/* What the bytea takes; and it, at a place that is aligned. */
extern Size vx_states_bytes(const VxAggState *state, const VxStates *states);
extern void vx_states_write(const VxAggState *state, const VxStates *states, char *out);

/* States of some groups, from state->next on, as a bytea; false at the end. */
extern bool vx_partial_write(VxAggState *state, Datum *result);

/* Merges what another participant has written, or went to disk: an aligned bytea. */
extern void vx_partial_merge(VxAggState *state, Datum value);
extern void vx_states_merge(VxAggState *state, char *into, char *from, int *scales);

/* ---- vx_agg_state_parts.c ---- */

/* There is no memory for more groups: writes all there are; then none are. */
extern bool vx_state_parts_are_due(VxAggState *state);
extern void vx_state_parts_write(VxAggState *state);

/* All states of the input are in: what is in memory is complete, or nothing. */
extern void vx_state_parts_end_input(VxAggState *state);

/* Goes on to the next part: it is the input from now on.  False: none is left. */
extern bool vx_state_parts_next(VxAggState *state);
extern bool vx_state_parts_are_input(const VxAggState *state);

/* The next states of it, in the slot's only column; NULL at the end. */
extern TupleTableSlot *vx_state_parts_read(VxAggState *state);

/* Drops everything on disk. */
extern void vx_state_parts_reset(VxAggState *state);

/* For EXPLAIN: groups written, and parts of them. */
extern void vx_state_parts_counts(const VxAggState *state, uint64 *groups, uint64 *nparts);

/* ---- vx_agg_shared.c ---- */

/* Callbacks of the executor, for a node that is aware of parallel plans. */
extern Size vx_agg_estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
extern void vx_agg_initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
								  void *coordinate);
extern void vx_agg_reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
									void *coordinate);
extern void vx_agg_initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void vx_agg_shutdown(CustomScanState *node);
extern void vx_agg_shared_rescan(VxAggState *state);

/*
 * The participant reads rows from now on, and writes states of its groups to
 * partitions.  False: all rows were read before it came.
 */
extern bool vx_agg_shared_begin(VxAggState *state);
extern bool vx_agg_shared_is_building(const VxAggState *state);

/* After nrows more rows: the table is large enough, and is to be written. */
extern bool vx_agg_shared_is_due(VxAggState *state, int nrows);

/* Adds states to a partition. */
extern void vx_agg_shared_put(VxAggState *state, int part, const VxStates *states);

/* Waits until all participants have written their states; nstates: of this one. */
extern void vx_agg_shared_end(VxAggState *state, uint64 nstates);
extern bool vx_agg_shared_is_built(const VxAggState *state);

/* Takes a partition, as the input from now on; false: none is left. */
extern bool vx_agg_shared_next(VxAggState *state);
extern bool vx_agg_shared_is_input(const VxAggState *state);

/* The next states of it; false at the end. */
extern bool vx_agg_shared_read(VxAggState *state, Datum *states);

/* A node of VX_AGG_SHARES, by the key of that number. */
extern VxAggShares *vx_agg_shares_create(int key);

/* Takes a share, to read all rows for; false: none is left. */
extern bool vx_agg_shares_next(VxAggShares *shares);
extern bool vx_agg_shares_is_taken(const VxAggShares *shares);
extern void vx_agg_shares_rescan(VxAggShares *shares);

/* For EXPLAIN: rows of the largest share that this participant has grouped, if there are several. */
extern uint64 vx_agg_shares_most_rows(const VxAggShares *shares);

/* Of n rows of the batch, keeps those of the share, also in its selection; returns how many. */
extern int	vx_agg_shares_keep(VxAggState *state, uint16 *rows, int n);

/* ---- vx_agg_sets.c ---- */

/* nentries: of custom_scan_tlist before GROUPING().  NULL: there are no sets. */
extern VxAggSets *vx_agg_sets_create(VxAggState *state, int nkeys, int nentries);

/* No groups. */
extern void vx_agg_sets_start(VxAggState *state);

/* The groups in memory are complete: takes them into those of the sets. */
extern void vx_agg_sets_merge(VxAggState *state);

/* All rows are in: the sets' groups are the next to be returned; false: they were. */
extern bool vx_agg_sets_next(VxAggState *state);

/* GROUPING() number so and so of a group. */
extern int	vx_agg_sets_grouping(const VxAggState *state, uint32 gid, int number);
extern int	vx_agg_sets_ngroupings(const VxAggState *state);

/* ---- vx_agg_topn.c ---- */

/* NULL: all groups are wanted. */
extern VxAggTopN *vx_agg_topn_create(VxAggState *state);
extern void vx_agg_topn_rescan(VxAggTopN *topn);

/* The groups in memory are complete: finds out which may be among the first. */
extern void vx_agg_topn_start(VxAggState *state);
extern bool vx_agg_topn_passes(VxAggState *state, uint32 gid);

/* For EXPLAIN: the entry of custom_scan_tlist, and groups left out. */
extern int	vx_agg_topn_entry(const VxAggTopN *topn, uint64 *removed);

/* ---- vx_agg_spill.c ---- */

/* Bytes that groups take; and they are more than groups may take. */
extern Size vx_groups_memory(const VxAggState *state);
extern bool vx_spill_is_due(VxAggState *state);

/* Puts a row of the batch, whose keys have this hash, on disk. */
extern void vx_spill_row(VxAggState *state, int row, uint64 hash);

/*
 * Goes on to rows that are on disk: they are the input from now on.  False
 * if there are none left.
 */
extern bool vx_spill_next(VxAggState *state);

/* The scan's batch on the next rows of them; false at the end. */
extern bool vx_spill_next_batch(VxAggState *state);

/* The input are rows from disk. */
extern bool vx_spill_is_input(const VxAggState *state);

/* Drops everything on disk. */
extern void vx_spill_reset(VxAggState *state);

/* For EXPLAIN: rows written, and parts of them that were read back. */
extern void vx_spill_counts(const VxAggState *state, uint64 *rows, uint64 *parts);

/* ---- vx_agg_server.c ---- */

typedef struct VxServerState
{
	VxCountState count;			/* not used: nulls are the function's business */
	Datum		value;
	bool		isnull;
	bool		not_started;	/* strict function: the first value is the state */
} VxServerState;

extern VxServerAgg *vx_server_agg_create(VxAggState *state, const Aggref *ref);
extern void vx_server_agg_initial(VxServerAgg *agg, void *agg_state);
extern void vx_server_agg_advance(VxAggState *state, VxAggTrans *trans,
								  const VxAggRows *rows);
extern Datum vx_server_agg_result(VxAggState *state, VxAggTrans *trans, void *agg_state,
								  bool *isnull);

/* Its state between participants, if vx_agg_server_combines(); merge returns what follows at p. */
extern void vx_server_agg_write(const VxServerAgg *agg, StringInfo out, const void *agg_state);
extern const char *vx_server_agg_merge(VxServerAgg *agg, void *into, const void *from,
									   const char *p);
extern void vx_server_agg_reset(VxServerAgg *agg);
extern Size vx_server_agg_memory(const VxServerAgg *agg);

/* Raises an error unless the user may call the aggregate. */
extern void vx_agg_check_rights(const Aggref *ref);

#endif							/* VX_AGG_H */
