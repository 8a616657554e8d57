/*-------------------------------------------------------------------------
 *
 * vx_expr_compare.c
 *	  Comparisons in vector expressions: numbers, times and booleans by
 *	  kernels, equality of strings by their bytes.
 *
 * Operators are known by their btree operator family.  Where the vectors at
 * hand are of a kind that no kernel takes, the rows go to the server's
 * function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "vx_expr_int.h"
#include "vx_vec.h"
#include "st_compat.h"
#include "st_qual.h"

/* Of pg_opfamily.dat; some have no symbol there. */
static const Oid families[] = {
	INTEGER_BTREE_FAM_OID,
	1970,						/* float_ops */
	1988,						/* numeric_ops */
	434,						/* datetime_ops */
	1996,						/* time_ops */
	BOOL_BTREE_FAM_OID,
	OID_BTREE_FAM_OID,
	429,						/* char_ops */
	2099,						/* money_ops */
	TEXT_BTREE_FAM_OID,
	BPCHAR_BTREE_FAM_OID,
	BYTEA_BTREE_FAM_OID,
	2968						/* uuid_ops */
};

static bool
find_strategy(Oid opno, Oid *family, int *strategy)
{
	Oid			negator = get_negator(opno);

	for (int i = 0; i < lengthof(families); i++)
	{
		*family = families[i];
		*strategy = get_op_opfamily_strategy(opno, families[i]);
		if (*strategy != 0)
			return true;
		if (OidIsValid(negator) &&
			get_op_opfamily_strategy(negator, families[i]) == BTEqualStrategyNumber)
		{
			*strategy = ST_NOT_EQUAL_STRATEGY;
			return true;
		}
	}
	return false;
}

/* Rows whose numbers compare as asked for; false: other kinds of vectors. */
static bool
compare_numbers(VxNode *node, const VxVector *const *args, const uint64 *rows,
				uint64 *bits)
{
	const VxVecKernels *k = vx_vec_kernels();
	VxPair		pair;
	int			n = args[0]->n;

	if (node->compare)
		return node->compare(node, args[0], args[1], rows, bits);
	if (!vx_pair_align(&pair, args[0], args[1], n))
		return false;
	if (pair.rep == VX_REP_INT64)
		k->compare_int64[node->op] (pair.a, pair.b, n, bits);
	else if (pair.rep == VX_REP_FLOAT8)
		k->compare_float8[node->op] (pair.a, pair.b, n, bits);
	else
		k->compare_int128[node->op] (pair.a, pair.b, n, bits);
	return true;
}

static inline Datum
bytes_datum(const VxVector *v, int row)
{
	return v->rep == VX_REP_CODE ? v->dict->values[v->u.code[row]] : v->u.datum[row];
}

static inline bool
is_plain(Datum value, Oid type)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);

	return type == UUIDOID || !VARATT_IS_EXTENDED(v) || VARATT_IS_SHORT(v);
}

/* Equality with one value: mostly the lengths differ. */
static bool
equals_constant(const VxVector *v, StStr constant, Oid type, const uint64 *rows, int words,
				uint64 *bits)
{
	VX_FOREACH_ROW(row, rows, words)
	{
		Datum		value = bytes_datum(v, row);
		const char *data = VARDATA_ANY(DatumGetPointer(value));

		if (!is_plain(value, type))
			return false;
		if (VARSIZE_ANY_EXHDR(DatumGetPointer(value)) == constant.len &&
			memcmp(data, constant.data, constant.len) == 0)
			vx_rows_set(bits, row);
	}
	return true;
}

/* Equality with a string without bytes, which many columns have in most rows. */
static bool
is_empty(const VxVector *v, Oid type, const uint64 *rows, int words, uint64 *bits)
{
	for (int w = 0; w < words; w++)
		for (uint64 left = rows[w]; left != 0; left &= left - 1)
		{
			int			i = __builtin_ctzll(left);
			Datum		value = bytes_datum(v, w * 64 + i);

			if (!is_plain(value, type))
				return false;
			bits[w] |= (uint64) (VARSIZE_ANY_EXHDR(DatumGetPointer(value)) == 0) << i;
		}
	return true;
}

/*
 * Strings by their bytes: equality under a deterministic collation, order
 * under C's.  node->kind says that this is allowed.
 */
static bool
compare_strings(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *bits)
{
	Oid			type = node->kind;
	int			words = VX_EXPR_WORDS(node->expr);

	if (!OidIsValid(type) || !vx_is_bytes(args[0]) || !vx_is_bytes(args[1]))
		return false;
	memset(bits, 0, words * sizeof(uint64));
	if ((node->op == VX_EQ || node->op == VX_NE) && args[1]->constant &&
		(type == TEXTOID || type == BYTEAOID) && is_plain(bytes_datum(args[1], 0), type))
	{
		StStr		constant = st_string_bytes(bytes_datum(args[1], 0), type);

		if (constant.len == 0 ? !is_empty(args[0], type, rows, words, bits) :
			!equals_constant(args[0], constant, type, rows, words, bits))
			return false;
		for (int w = 0; w < words && node->op == VX_NE; w++)
			bits[w] = ~bits[w];
		return true;
	}
	VX_FOREACH_ROW(row, rows, words)
	{
		Datum		x = bytes_datum(args[0], row);
		Datum		y = bytes_datum(args[1], row);
		StStr		a;
		StStr		b;
		bool		match;
		int			d;

		if (!is_plain(x, type) || !is_plain(y, type))
			return false;
		a = st_string_bytes(x, type);
		b = st_string_bytes(y, type);
		if (node->op == VX_EQ || node->op == VX_NE)
			match = (a.len == b.len && memcmp(a.data, b.data, a.len) == 0) ==
				(node->op == VX_EQ);
		else
		{
			d = st_string_compare(a, b);
			match = node->op == VX_LT ? d < 0 : node->op == VX_LE ? d <= 0 :
				node->op == VX_GE ? d >= 0 : d > 0;
		}
		if (match)
			vx_rows_set(bits, row);
	}
	return true;
}

/* The server's function: all the rows. */
static void
compare_by_server(VxNode *node, const VxVector *const *args, const uint64 *rows,
				  VxTruth *truth)
{
	VxExpr	   *expr = node->expr;
	int			words = VX_EXPR_WORDS(expr);

	if (expr->safely)
	{
		for (int w = 0; w < words; w++)
		{
			expr->unknown[w] |= rows[w];
			truth->isnull[w] |= rows[w];
		}
		return;
	}
	VX_FOREACH_ROW(row, rows, words)
	{
		bool		isnull;
		Datum		value = vx_call_row(node, args, row, &isnull);

		if (isnull)
			vx_rows_set(truth->isnull, row);
		else if (DatumGetBool(value))
			vx_rows_set(truth->istrue, row);
		ResetExprContext(expr->set->econtext);
	}
}

static void
truth_of_comparison(VxNode *node, const uint64 *rows, VxTruth *truth)
{
	const VxVector *args[2];
	uint64		live[VX_SELECTION_WORDS];
	uint64		bits[VX_SELECTION_WORDS];
	int			words = VX_EXPR_WORDS(node->expr);

	memcpy(live, rows, words * sizeof(uint64));
	for (int i = 0; i < 2; i++)
	{
		args[i] = vx_node_eval(node->args[i], rows);
		vx_rows_not_null(live, live, args[i], words);
	}
	for (int w = 0; w < words; w++)
	{
		truth->isnull[w] = rows[w] & ~live[w];
		if (node->expr->safely)
			live[w] &= ~node->expr->unknown[w];
	}
	if (vx_selection_is_empty(live, node->expr->batch->nrows))
		return;
	if (compare_numbers(node, args, live, bits) || compare_strings(node, args, live, bits))
		for (int w = 0; w < words; w++)
			truth->istrue[w] = bits[w] & live[w];
	else
		compare_by_server(node, args, live, truth);
}

static inline bool
is_string(Oid type, Oid kind)
{
	return type == kind || (type == VARCHAROID && kind == TEXTOID);
}

bool
vx_compare_set(VxNode *node, Oid opno)
{
	Oid			left = getBaseType(exprType(node->args[0]->clause));
	Oid			right = getBaseType(exprType(node->args[1]->clause));
	Oid			family;
	int			strategy;
	Oid			collation = node->fcinfo->fncollation;

	node->kind = InvalidOid;
	if (node->compare)
	{
		node->eval = NULL;
		node->truth = truth_of_comparison;
		return true;
	}
	if (!node->flinfo->fn_strict || !find_strategy(opno, &family, &strategy))
		return false;
	switch (family)
	{
		case INTEGER_BTREE_FAM_OID:
		case 1970:
			break;
		case TEXT_BTREE_FAM_OID:
		case BPCHAR_BTREE_FAM_OID:
			node->kind = family == TEXT_BTREE_FAM_OID ? TEXTOID : BPCHAROID;
			if (!is_string(left, node->kind) || !is_string(right, node->kind) ||
				!OidIsValid(collation) ||
				(strategy == BTEqualStrategyNumber || strategy == ST_NOT_EQUAL_STRATEGY ?
				 !get_collation_isdeterministic(collation) : !st_collation_is_c(collation)))
				return false;
			break;
		case BYTEA_BTREE_FAM_OID:
			node->kind = BYTEAOID;
			break;
		case 2968:
			node->kind = UUIDOID;
			break;
		default:
			if (left != right)
				return false;
			break;
	}
	node->op = strategy == ST_NOT_EQUAL_STRATEGY ? VX_NE : (VxCompare) (strategy - 1);
	node->eval = NULL;
	node->truth = truth_of_comparison;
	return true;
}
