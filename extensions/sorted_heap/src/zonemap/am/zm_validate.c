/*-------------------------------------------------------------------------
 *
 * zm_validate.c
 *	  Checks an operator class for zonemap: it is a btree's.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type_d.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "zm_validate.h"

static bool
valid_function(Form_pg_amproc function)
{
	return function->amprocnum == BTORDER_PROC &&
		check_amproc_signature(function->amproc, INT4OID, true, 2, 2,
							   function->amproclefttype,
							   function->amprocrighttype);
}

static bool
valid_operator(Form_pg_amop operator)
{
	return operator->amopstrategy >= 1 &&
		operator->amopstrategy <= BTMaxStrategyNumber &&
		operator->amoppurpose == AMOP_SEARCH &&
		!OidIsValid(operator->amopsortfamily) &&
		check_amop_signature(operator->amopopr, BOOLOID,
							 operator->amoplefttype,
							 operator->amoprighttype);
}

/*
 * Five operators and the comparison of the class' own type; whatever else is
 * in the family has a btree's strategies and signatures, and operators between
 * two types a comparison of them.
 */
bool
zm_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	CatCList   *operators;
	CatCList   *functions;
	int			own_operators = 0;
	bool		valid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	operators = SearchSysCacheList1(AMOPSTRATEGY,
									ObjectIdGetDatum(class->opcfamily));
	functions = SearchSysCacheList1(AMPROCNUM,
									ObjectIdGetDatum(class->opcfamily));
	valid = OidIsValid(get_opfamily_proc(class->opcfamily, class->opcintype,
										 class->opcintype, BTORDER_PROC));
	for (int i = 0; i < functions->n_members; i++)
		if (!valid_function((Form_pg_amproc)
							GETSTRUCT(&functions->members[i]->tuple)))
			valid = false;
	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop operator = (Form_pg_amop)
			GETSTRUCT(&operators->members[i]->tuple);

		if (!valid_operator(operator) ||
			!OidIsValid(get_opfamily_proc(class->opcfamily,
										  operator->amoplefttype,
										  operator->amoprighttype,
										  BTORDER_PROC)))
			valid = false;
		if (operator->amoplefttype == class->opcintype &&
			operator->amoprighttype == class->opcintype)
			own_operators++;
	}
	if (own_operators != BTMaxStrategyNumber)
		valid = false;
	ReleaseCatCacheList(functions);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(tuple);
	if (!valid)
		ereport(INFO,
				errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				errmsg("operator class %u of access method zonemap is not like a btree's",
					   opclass));
	return valid;
}
