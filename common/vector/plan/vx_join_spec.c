/*-------------------------------------------------------------------------
 *
 * vx_join_spec.c
 *	  How the keys of a hash join are compared.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"

#include "vx_agg_spec.h"
#include "vx_join_spec.h"

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

bool
vx_join_key_kind(Oid operator, Oid collation, Oid outer_type, Oid inner_type,
				 VxKeyKind *kind)
{
	Oid			outer = getBaseType(outer_type);
	Oid			inner = getBaseType(inner_type);
	Oid			left;
	Oid			right;

	if (operator >= FirstNormalObjectId || !op_strict(operator))
		return false;
	op_input_types(operator, &left, &right);
	if ((is_integer(outer) && is_integer(inner) && is_integer(left) && is_integer(right)) ||
		(outer == inner && left == outer && right == outer &&
		 vx_is_integer_key(outer, operator)))
	{
		*kind = VX_KEY_INT;
		return true;
	}
	if (left != right || !vx_is_bytes_key(left, operator, collation))
		return false;
	*kind = VX_KEY_BYTES;
	return (is_text(left) && is_text(outer) && is_text(inner)) ||
		(left == outer && left == inner);
}
