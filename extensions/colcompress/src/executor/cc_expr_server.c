/*-------------------------------------------------------------------------
 *
 * cc_expr_server.c
 *	  Parts of expressions that the server's own executor evaluates: once
 *	  per distinct value of a dictionary, or row by row.
 *
 * By distinct value: a part that depends on one column alone is evaluated
 * when a selected row refers to a value for the first time in a row group,
 * and never for the rest of the dictionary, which holds values of deleted
 * and hidden rows too.  Results that are not passed by value make a
 * dictionary of their own.
 *
 * Memory: memos live in a context of their own until the next row group.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "cc_expr_int.h"
#include "cc_vec.h"

/* Codes by the bytes of their values, in a table without deletions. */
typedef struct cc_image_hash
{
	uint32		mask;			/* size - 1, a power of two less one */
	uint32	   *codes;			/* code + 1, or 0 */
	uint32	   *hashes;			/* by code */
} cc_image_hash;

static void
set_state(CcNode *node)
{
	MemoryContext oldcontext;

	if (node->state)
		return;
	oldcontext = MemoryContextSwitchTo(node->expr->set->mcxt);
	node->state = ExecInitExprWithParams((Expr *) node->clause,
										 node->expr->set->plan->state->es_param_list_info);
	MemoryContextSwitchTo(oldcontext);
}

/* The clause's value with what stands in the set's slot, in its context. */
static Datum
evaluate(CcNode *node, bool *isnull)
{
	CHECK_FOR_INTERRUPTS();
	return ExecEvalExprSwitchContext(node->state, node->expr->set->econtext, isnull);
}

/* ---- by distinct value ---- */

static const void *
image_of(const CcNode *node, Datum value, Size *len)
{
	*len = datumGetSize(value, false, node->typlen);
	return DatumGetPointer(value);
}

/* The code of a value in the memo's dictionary; a new one, if need be. */
static uint32
code_of(CcNode *node, CcMemo *memo, Datum value)
{
	cc_image_hash *images = memo->images;
	Size		len;
	const void *image = image_of(node, value, &len);
	uint32		hash = hash_bytes(image, len);
	uint32		code;

	for (uint32 at = hash & images->mask;; at = (at + 1) & images->mask)
	{
		Size		other_len;
		const void *other;

		if (images->codes[at] == 0)
		{
			code = memo->dict.nvalues;
			images->codes[at] = code + 1;
			break;
		}
		code = images->codes[at] - 1;
		if (images->hashes[code] != hash)
			continue;
		other = image_of(node, memo->dict.values[code], &other_len);
		if (len == other_len && memcmp(image, other, len) == 0)
			return code;
	}

	images->hashes[code] = hash;
	memo->dict.values[code] = PointerGetDatum(MemoryContextAlloc(memo->mcxt, len));
	memcpy(DatumGetPointer(memo->dict.values[code]), image, len);
	memo->dict.nvalues++;
	return code;
}

/* What there can be: a result for each value, and one for null. */
static void
make_images(CcMemo *memo, uint32 nvalues)
{
	cc_image_hash *images = MemoryContextAlloc(memo->mcxt, sizeof(cc_image_hash));
	static uint64 last_made = 0;
	uint32		size = 16;

	while (size < nvalues * 2)
		size *= 2;
	images->mask = size - 1;
	images->codes = MemoryContextAllocZero(memo->mcxt, sizeof(uint32) * size);
	images->hashes = MemoryContextAlloc(memo->mcxt, sizeof(uint32) * nvalues);
	memo->images = images;
	memo->dict.nvalues = 0;
	memo->dict.made = ++last_made;
	memo->dict.sorted = false;
	memo->dict.values = MemoryContextAlloc(memo->mcxt, sizeof(Datum) * nvalues);
}

static Size
memo_size(CcRep rep)
{
	return rep == CC_REP_FLOAT4 || rep == CC_REP_CODE ? sizeof(uint32) : sizeof(int64);
}

/* The form in which results are remembered. */
static CcRep
memo_rep(const CcNode *node)
{
	CcRep		rep = cc_node_rep(node);

	return rep == CC_REP_DATUM ? CC_REP_CODE : rep;
}

static CcMemo *
memo_of(CcNode *node, const CcDictionary *source)
{
	CcExpr	   *expr = node->expr;
	CcMemo	   *memo = node->memo;
	uint32		nvalues = cc_dict_limit(source) + 1;

	if (memo == NULL)
	{
		memo = MemoryContextAllocZero(expr->set->mcxt, sizeof(CcMemo));
		memo->mcxt = AllocSetContextCreate(expr->set->mcxt,
										   "colcompress results by value",
										   ALLOCSET_DEFAULT_SIZES);
		node->memo = memo;
	}
	if (memo->source == source && memo->group == cc_batch_group(expr->batch) &&
		memo->generation == expr->set->generation)
		return memo;

	memo->source = NULL;
	MemoryContextReset(memo->mcxt);
	memo->known = MemoryContextAllocZero(memo->mcxt, nvalues);
	memo->values = MemoryContextAllocZero(memo->mcxt,
										  memo_size(memo_rep(node)) * nvalues);
	memo->any_null = false;
	memo->nknown = 0;
	memo->is_true = node->type == BOOLOID ?
		MemoryContextAllocZero(memo->mcxt, nvalues) : NULL;
	if (memo_rep(node) == CC_REP_CODE)
		make_images(memo, nvalues);
	memo->group = cc_batch_group(expr->batch);
	memo->generation = expr->set->generation;
	memo->source = source;
	return memo;
}

/* Remembers the result for a code; the one behind the last stands for null. */
static void
memo_fill(CcNode *node, CcMemo *memo, uint32 code)
{
	CcExprSet  *set = node->expr->set;
	AttrNumber	attno = node->memo_attno;
	bool		of_null = code == cc_dict_limit(memo->source);
	Datum		value;
	bool		isnull;

	set->slot->tts_values[attno - 1] = of_null ? (Datum) 0 : memo->source->values[code];
	set->slot->tts_isnull[attno - 1] = of_null;
	value = evaluate(node, &isnull);
	if (!isnull)
	{
		switch (memo_rep(node))
		{
			case CC_REP_INT64:
				((int64 *) memo->values)[code] = cc_datum_to_int(node->type, node->typlen, value);
				break;
			case CC_REP_FLOAT8:
				((double *) memo->values)[code] = DatumGetFloat8(value);
				break;
			case CC_REP_FLOAT4:
				((float *) memo->values)[code] = DatumGetFloat4(value);
				break;
			default:
				if (node->typlen == -1)
				{
					MemoryContext oldcontext =
						MemoryContextSwitchTo(set->econtext->ecxt_per_tuple_memory);

					value = PointerGetDatum(PG_DETOAST_DATUM(value));
					MemoryContextSwitchTo(oldcontext);
				}
				((uint32 *) memo->values)[code] = code_of(node, memo, value);
				break;
		}
	}
	ResetExprContext(set->econtext);
	memo->known[code] = isnull ? CC_MEMO_NULL : CC_MEMO_VALUE;
	memo->any_null |= isnull;
	if (!of_null)
		memo->nknown++;
	if (memo->is_true)
		memo->is_true[code] = !isnull && DatumGetBool(value);
}

/*
 * The memo of the column's dictionary, in which everything that the rows
 * refer to is known, and the rows' codes: of all rows, so that loops need not
 * look at the selection.  Null has the code behind the last.
 */
static CcMemo *
memo_for(CcNode *node, const CcVector *column, const uint64 *rows, const uint32 **codes,
		 uint32 *buffer)
{
	CcMemo	   *memo = memo_of(node, column->dict);
	uint32		of_null = cc_dict_limit(column->dict);
	int			words = CC_EXPR_WORDS(node->expr);

	set_state(node);
	*codes = column->u.code;
	if (column->has_nulls)
	{
		for (int i = 0; i < column->n; i++)
			buffer[i] = cc_vector_isnull(column, i) ? of_null : column->u.code[i];
		*codes = buffer;
	}
	if (memo->nknown < column->dict->nvalues ||
		(column->has_nulls && memo->known[of_null] == CC_MEMO_UNKNOWN))
	{
		CC_FOREACH_ROW(row, rows, words)
		{
			if (unlikely(memo->known[(*codes)[row]] == CC_MEMO_UNKNOWN))
				memo_fill(node, memo, (*codes)[row]);
		}
	}
	return memo;
}

const CcVector *
cc_eval_by_value(CcNode *node, const CcVector *column, const uint64 *rows)
{
	uint32		buffer[ST_VECTOR_SIZE];
	const uint32 *codes;
	CcMemo	   *memo = memo_for(node, column, rows, &codes, buffer);
	int			n = column->n;

	cc_node_begin(node, memo_rep(node));
	switch (node->out.rep)
	{
		case CC_REP_CODE:
			for (int i = 0; i < n; i++)
				node->out.u.code[i] = ((const uint32 *) memo->values)[codes[i]];
			node->out.dict = &memo->dict;
			break;
		case CC_REP_FLOAT4:
			for (int i = 0; i < n; i++)
				node->out.u.f32[i] = ((const float *) memo->values)[codes[i]];
			break;
		default:
			cc_vec_kernels()->gather_int64(memo->values, codes, n, node->out.u.i64);
			break;
	}
	if (memo->any_null)
		CC_FOREACH_ROW(row, rows, CC_EXPR_WORDS(node->expr))
		{
			if (memo->known[codes[row]] == CC_MEMO_NULL)
				cc_node_put(node, row, (Datum) 0, true);
		}
	return node->type == NUMERICOID ? cc_node_numerics(node, rows) : &node->out;
}

void
cc_truth_by_value(CcNode *node, const CcVector *column, const uint64 *rows, CcTruth *truth)
{
	uint32		buffer[ST_VECTOR_SIZE];
	const uint32 *codes;
	CcMemo	   *memo = memo_for(node, column, rows, &codes, buffer);

	cc_vec_kernels()->gather_bits(memo->is_true, codes, column->n, truth->istrue);
	for (int w = 0; w < CC_EXPR_WORDS(node->expr); w++)
		truth->istrue[w] &= rows[w];
	if (memo->any_null)
		CC_FOREACH_ROW(row, rows, CC_EXPR_WORDS(node->expr))
		{
			if (memo->known[codes[row]] == CC_MEMO_NULL)
				cc_rows_set(truth->isnull, row);
		}
}

/* ---- row by row ---- */

/* Copies a value that is passed by reference to the expression's arena. */
static Datum
keep_value(CcNode *node, Datum value)
{
	MemoryContext oldcontext;

	if (node->typbyval)
		return value;
	oldcontext = MemoryContextSwitchTo(node->expr->arena);
	if (node->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	else
		value = datumCopy(value, false, node->typlen);
	MemoryContextSwitchTo(oldcontext);
	return value;
}

const CcVector *
cc_eval_by_row(CcNode *node, const uint64 *rows)
{
	CcExpr	   *expr = node->expr;
	TupleTableSlot *slot = expr->set->slot;
	int			words = CC_EXPR_WORDS(expr);

	if (expr->safely)
	{
		for (int w = 0; w < words; w++)
			expr->unknown[w] |= rows[w];
		return cc_node_nulls(node);
	}
	set_state(node);
	for (int c = 0; c < node->ncolumns; c++)
		cc_batch_vector(expr->batch, node->attnos[c]);

	cc_node_begin(node, cc_node_rep(node));
	CC_FOREACH_ROW(row, rows, words)
	{
		Datum		value;
		bool		isnull;

		for (int c = 0; c < node->ncolumns; c++)
		{
			AttrNumber	attno = node->attnos[c];

			cc_batch_value(cc_batch_column(expr->batch, attno), row,
						   &slot->tts_values[attno - 1], &slot->tts_isnull[attno - 1]);
		}
		value = evaluate(node, &isnull);
		cc_node_put(node, row, isnull ? (Datum) 0 : keep_value(node, value), isnull);
		ResetExprContext(expr->set->econtext);
	}
	return node->type == NUMERICOID ? cc_node_numerics(node, rows) : &node->out;
}
