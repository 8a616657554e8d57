/*-------------------------------------------------------------------------
 *
 * vx_window.h
 *	  The custom node that sorts vectors and computes windows over the order.
 *
 *	 vx_window_node.c	the node: set up, rows for a node above, EXPLAIN
 *	 vx_window_input.c	from what is below to rows in memory, in order
 *	 vx_window_parts.c	parts of them, where they have no room
 *	 vx_window_first.c	rows that cannot be among the first of their partition
 *	 vx_window_frame.c	partitions, peers and frames
 *	 vx_window_func.c	functions over them, and their vectors
 *	 vx_window_output.c	batches of the node
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_WINDOW_H
#define VX_WINDOW_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "vx_expr.h"
#include "vx_producer.h"
#include "vx_row_column.h"
#include "vx_row_vectors.h"
#include "vx_sorter.h"
#include "vx_window_spec.h"

typedef struct VxWindow
{
	int			npartition;		/* keys in front */
	int			npeers;
	int			frame;			/* frameOptions */
	int64		start;
	int64		end;
	bool		needs_frame;	/* a function of it asks */
} VxWindow;

/* How results of a function stand in memory, by position. */
typedef enum VxResultForm
{
	VX_RESULT_INT,
	VX_RESULT_FLOAT,
	VX_RESULT_SUM,				/* int128 of a scale, with the count of its values */
	VX_RESULT_ROW				/* the row whose value it is; PG_UINT32_MAX: null */
} VxResultForm;

typedef struct VxWindowFunction
{
	VxWindowKind kind;
	int			window;
	int			column;			/* of the sorter: the argument, or -1 */
	int			other;			/* likewise: default or filter, or -1 */
	int			number;
	Form_pg_attribute attr;		/* of the result */
	VxResultForm form;
	int64	   *ints;
	double	   *floats;
	int128	   *sums;
	uint32	   *counts;
	uint32	   *rows;
	int			scale;
	const int64 *ranks;			/* least and greatest: of the argument, by row */
	VxRowColumn *mixed;			/* values of two columns */
} VxWindowFunction;

/* Of the partition at hand, by position; and what its functions work with. */
typedef struct VxFrames
{
	uint32		begin;			/* positions of the partition */
	uint32		end;
	uint32	   *peer_start;
	uint32	   *peer_end;
	uint32	   *start;			/* of the frame; NULL: no function asks */
	uint32	   *stop;
	uint32	   *groups;			/* starts of groups of peers, then the end */
	uint32		ngroups;
	int128	   *prefix;			/* sums, from 0, by position in the partition */
	uint32	   *prefix_count;
	uint32	   *queue;
} VxFrames;

typedef struct VxFirst VxFirst;
typedef struct VxWindowParts VxWindowParts;

/* A condition: program, or what the server evaluates row by row. */
typedef struct VxWindowQual
{
	VxExpr	   *program;
	ExprState  *state;
} VxWindowQual;

typedef struct VxWindowState
{
	CustomScanState css;		/* must be first */
	VxProducer	producer;

	TupleDesc	desc;			/* columns from below, then functions */
	int			ncolumns;		/* from below */
	Bitmapset  *needed;			/* of desc, that anything above refers to */
	PlanState  *child;
	PlanState  *server;			/* the server's way */
	bool		by_server;		/* it is that */
	bool		ended;			/* the plan that is read has no more rows */

	/* what comes in */
	VxBatch    *input;
	VxProducer *source;			/* NULL: rows */
	AttrNumber *source_columns;
	VxRowVectors *rows;
	VxExprSet  *exprs;
	MemoryContext batch_mcxt;
	VxFirst    *first;			/* or NULL */
	int			ndistinct;		/* one row of those that agree in so many keys; or 0 */

	/* in memory */
	VxSorter   *sorter;
	int			nstored;		/* its columns */
	AttrNumber *stored_attno;	/* of the input, or 0: */
	VxExpr	  **stored_program;
	const VxVector **stored_vectors;
	int16	   *column_of;		/* column of desc -> of the sorter, or -1 */
	int			nwindows;
	VxWindow   *windows;
	int			nfunctions;
	VxWindowFunction *functions;
	bool		sorted;
	VxWindowParts *parts;		/* on disk, of which the sorter has one; or NULL */

	/* what goes out */
	uint32		position;		/* of the batch's first row */
	uint32		next;			/* behind it */
	VxVector  **vectors;
	VxExprSet  *output_exprs;
	MemoryContext output_mcxt;
	int			nquals;
	VxWindowQual *quals;
	VxRowVectors *server_rows;	/* the server's, as vectors */
	AttrNumber *server_columns;
	int			word;			/* for a node above that takes rows, */
	uint64		left;
	int64		at;				/* or the row that it was given last */

	/* for EXPLAIN */
	uint64		total_in;		/* rows, */
	uint64		total_dropped;	/* not among the first */
	uint64		batches;
	Size		peak;
	int			parts_on_disk;
	uint64		disk;			/* bytes of them */
} VxWindowState;

extern CustomScanMethods vx_window_methods;

/* From vx_init(). */
extern void vx_window_init(void);

/* ---- vx_window_input.c ---- */

extern void vx_window_input_init(VxWindowState *state);

/* Reads everything and sorts it; false: there is no room. */
extern bool vx_window_read(VxWindowState *state);

/* ---- vx_window_parts.c ---- */

/* Rows in memory go to parts on disk; false: they must not. */
extern bool vx_parts_put(VxWindowState *state);

/* All rows have come: loads the first part; false: not all parts have room in memory. */
extern bool vx_parts_end(VxWindowState *state);

/* Goes on to the next part (1), or back (-1); false: there is none. */
extern bool vx_parts_move(VxWindowState *state, int by);

/* There are none any more. */
extern void vx_parts_reset(VxWindowState *state);

/* ---- vx_window_first.c ---- */

/*
 * Of each partition, of rows that agree in the sorter's first npartition keys, only
 * the first limit rows are wanted.  NULL: such keys are not for us.
 */
extern VxFirst *vx_first_create(const VxSorter *sorter, int npartition, int limit);

/* Columns of the sorter that it looks at. */
extern bool vx_first_uses(const VxFirst *first, int column);

/*
 * Takes rows that are certainly behind the first ones of their partition out
 * of rows; returns how many are left.  vectors: by column of the sorter, those it uses.
 */
extern int	vx_first_select(VxFirst *first, const VxVector *const *vectors, uint16 *rows, int n,
							uint64 group);
extern void vx_first_reset(VxFirst *first);

/* ---- vx_window_frame.c ---- */

/* Arrays for the sorter's rows. */
extern VxFrames *vx_frames_create(const VxWindowState *state);

/* The partition that begins at begin; false: there is none. */
extern bool vx_frames_next(VxFrames *frames, const VxSorter *sorter, const VxWindow *window,
						   uint32 begin);

/* ---- vx_window_func.c ---- */

/* Computes all functions; false: a column has values that we do not add or compare. */
extern bool vx_window_compute(VxWindowState *state);

/* Results of n rows from a position on. */
extern void vx_window_result(VxWindowState *state, VxWindowFunction *function, uint32 position,
							 int n, VxVector *v);

/* ---- vx_window_output.c ---- */

extern void vx_window_output_init(VxWindowState *state);

/* Reads everything, when the first row is asked for. */
extern void vx_window_start(VxWindowState *state);

/* Makes the batch stand on the rows from a position on. */
extern void vx_window_show(VxWindowState *state, uint32 position);

/* The node's next batch. */
extern bool vx_window_next_batch(CustomScanState *node);

/* The server's next row; its columns in the slot of the node's rows. */
extern TupleTableSlot *vx_window_server_row(VxWindowState *state);

#endif							/* VX_WINDOW_H */
