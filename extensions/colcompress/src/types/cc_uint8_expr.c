/*-------------------------------------------------------------------------
 *
 * cc_uint8_expr.c
 *	  Kernels of vector expressions for colcompress.uint8.
 *
 * The type's functions are known by their addresses, as their OIDs differ
 * from database to database.  Vectors hold the bits of an unsigned number as
 * int64; both sides are widened to an int128.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_expr_int.h"
#include "cc_uint8.h"
#include "vx_vec.h"

static inline int128
value_of(int64 bits, int bytes)
{
	return bytes == 0 ? (int128) (uint64) bits : bits;
}

/* left OP right; results that are not a uint8 are suspect. */
static bool
uint8_arith(VxNode *node, const VxVector *const *args, const uint64 *rows, uint64 *suspect)
{
	const CcUint8Function *f = node->own;

	if (args[0]->rep != VX_REP_INT64 || args[1]->rep != VX_REP_INT64)
		return false;
	vx_node_begin(node, VX_REP_INT64);
	VX_FOREACH_ROW(row, rows, VX_EXPR_WORDS(node->expr))
	{
		int128		a = value_of(args[0]->u.i64[row], f->left_bytes);
		int128		b = value_of(args[1]->u.i64[row], f->right_bytes);
		int128		r = 0;
		bool		wrong = false;

		if (f->op == VX_MUL)
			wrong = __builtin_mul_overflow(a, b, &r);
		else
			r = f->op == VX_ADD ? a + b : a - b;
		node->out.u.i64[row] = (int64) (uint64) r;
		if (wrong || r < 0 || r > (int128) PG_UINT64_MAX)
			vx_rows_set(suspect, row);
	}
	return true;
}

#define COMPARE(op) \
	VX_FOREACH_ROW(row, rows, words) \
	{ \
		if (value_of(a->u.i64[row], f->left_bytes) op value_of(b->u.i64[row], f->right_bytes)) \
			vx_rows_set(bits, row); \
	}

static bool
uint8_compare(VxNode *node, const VxVector *a, const VxVector *b, const uint64 *rows,
				 uint64 *bits)
{
	const CcUint8Function *f = node->own;
	int			words = VX_EXPR_WORDS(node->expr);

	if (a->rep != VX_REP_INT64 || b->rep != VX_REP_INT64)
		return false;
	memset(bits, 0, words * sizeof(uint64));
	switch ((VxCompare) f->op)
	{
		case VX_LT:
			COMPARE(<);
			break;
		case VX_LE:
			COMPARE(<=);
			break;
		case VX_EQ:
			COMPARE(==);
			break;
		case VX_GE:
			COMPARE(>=);
			break;
		case VX_GT:
			COMPARE(>);
			break;
		default:
			COMPARE(!=);
			break;
	}
	return true;
}

void
cc_uint8_set_kernel(VxNode *node)
{
	const CcUint8Function *f = cc_uint8_function(node->flinfo->fn_addr);

	if (f == NULL)
		return;
	node->own = f;
	if (f->compares)
		node->compare = uint8_compare;
	else
		node->kernel = uint8_arith;
}
