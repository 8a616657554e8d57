/*-------------------------------------------------------------------------
 *
 * cc_expr_uint8.c
 *	  Kernels of vector expressions for colcompress.uint8.
 *
 * The type's functions are known by their addresses, as their OIDs differ
 * from database to database.  Vectors hold the bits of an unsigned number as
 * int64; both sides are widened to an int128.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "cc_expr_int.h"
#include "cc_uint8.h"
#include "cc_vec.h"

static inline int128
value_of(int64 bits, int bytes)
{
	return bytes == 0 ? (int128) (uint64) bits : bits;
}

/* left OP right; results that are not a uint8 are suspect. */
static bool
uint8_arith(CcNode *node, const CcVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const CcUint8Function *f = node->uint8;

	if (args[0]->rep != CC_REP_INT64 || args[1]->rep != CC_REP_INT64)
		return false;
	cc_node_begin(node, CC_REP_INT64);
	CC_FOREACH_ROW(row, rows, CC_EXPR_WORDS(node->expr))
	{
		int128		a = value_of(args[0]->u.i64[row], f->left_bytes);
		int128		b = value_of(args[1]->u.i64[row], f->right_bytes);
		int128		r = 0;
		bool		wrong = false;

		if (f->op == CC_MUL)
			wrong = __builtin_mul_overflow(a, b, &r);
		else
			r = f->op == CC_ADD ? a + b : a - b;
		node->out.u.i64[row] = (int64) (uint64) r;
		if (wrong || r < 0 || r > (int128) PG_UINT64_MAX)
			cc_rows_set(suspect, row);
	}
	return true;
}

void
cc_uint8_set_kernel(CcNode *node)
{
	node->uint8 = cc_uint8_function(node->flinfo->fn_addr);
	if (node->uint8 && !node->uint8->compares)
		node->kernel = uint8_arith;
}

#define COMPARE(op) \
	CC_FOREACH_ROW(row, rows, words) \
	{ \
		if (value_of(a->u.i64[row], f->left_bytes) op value_of(b->u.i64[row], f->right_bytes)) \
			cc_rows_set(bits, row); \
	}

bool
cc_uint8_compare(CcNode *node, const CcVector *a, const CcVector *b, const uint64 *rows,
				 uint64 *bits)
{
	const CcUint8Function *f = node->uint8;
	int			words = CC_EXPR_WORDS(node->expr);

	if (a->rep != CC_REP_INT64 || b->rep != CC_REP_INT64)
		return false;
	memset(bits, 0, words * sizeof(uint64));
	switch ((CcCompare) f->op)
	{
		case CC_LT:
			COMPARE(<);
			break;
		case CC_LE:
			COMPARE(<=);
			break;
		case CC_EQ:
			COMPARE(==);
			break;
		case CC_GE:
			COMPARE(>=);
			break;
		case CC_GT:
			COMPARE(>);
			break;
		default:
			COMPARE(!=);
			break;
	}
	return true;
}
