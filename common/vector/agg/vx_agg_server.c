/*-------------------------------------------------------------------------
 *
 * vx_agg_server.c
 *	  Aggregates that only the server can compute: its transition function is
 *	  called row by row, with arguments out of vectors.
 *
 * Functions of aggregates ask their caller for the memory context in which
 * their state may live, and take an AggState for an answer; some also ask
 * which aggregate it is, by which they check the types of their arguments.
 * They get an AggState that is no plan node, but has what they look at: the
 * two expression contexts, and the Aggref.
 *
 * min and max of strings take a value that a group has had already for
 * nothing: of columns with a dictionary each group gets each code once per
 * row group.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "miscadmin.h"
#include "parser/parse_agg.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "vx_agg.h"
#include "st_compat.h"
#include "st_numeric.h"

/* Bits of the codes that groups have had; see had_code(). */
#define MAX_CODE_BITS	((uint64) 8 * 1024 * 1024)

typedef struct CodesHad
{
	bool		wanted;			/* the aggregate may leave repeated values out */
	uint64		group;			/* VxSource.nopened of the row group, or 0 */
	uint32		ncodes;			/* of its dictionary */
	uint64		nbits;			/* room in bits */
	uint64	   *bits;			/* by group number * ncodes + code */
} CodesHad;

struct VxServerAgg
{
	AggState   *caller;			/* what functions see */
	FmgrInfo	transfn;
	FmgrInfo	finalfn;
	bool		has_finalfn;
	int			nfinalargs;
	Oid			collation;
	int16		translen;
	bool		transbyval;
	Datum		initial;
	bool		initial_isnull;
	FunctionCallInfo call;		/* of the transition function */
	FmgrInfo	combinefn;
	FunctionCallInfo combine;	/* of it; NULL: there is none */
	MemoryContext mcxt;			/* of this struct */
	CodesHad	had;
};

static void
check_function(Oid function, Oid role, ObjectType type)
{
	AclResult	result = st_function_aclcheck(function, role);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, type, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

void
vx_agg_check_rights(const Aggref *ref)
{
	check_function(ref->aggfnoid, GetUserId(), OBJECT_AGGREGATE);
}

static Oid
function_owner(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

static AggState *
make_caller(VxAggState *state, const Aggref *ref)
{
	AggState   *caller = makeNode(AggState);
	EState	   *estate = state->css.ss.ps.state;

	caller->ss.ps.state = estate;
	caller->ss.ps.plan = state->css.ss.ps.plan;
	caller->curaggcontext = CreateExprContext(estate);
	caller->tmpcontext = CreateExprContext(estate);
	caller->curpertrans = palloc0(sizeof(AggStatePerTransData));
	caller->curpertrans->aggref = unconstify(Aggref *, ref);
	/* so that final functions leave the state as it is */
	caller->curpertrans->aggshared = true;
	return caller;
}

static void
init_transition(VxServerAgg *agg, const Aggref *ref, Oid function, Oid *argtypes, int nargs)
{
	Expr	   *expr;

	build_aggregate_transfn_expr(argtypes, nargs, 0, false, ref->aggtranstype,
								 ref->inputcollid, function, InvalidOid, &expr, NULL);
	fmgr_info(function, &agg->transfn);
	fmgr_info_set_expr((Node *) expr, &agg->transfn);
	agg->call = palloc0(SizeForFunctionCallInfo(nargs + 1));
	InitFunctionCallInfoData(*agg->call, &agg->transfn, nargs + 1, ref->inputcollid,
							 (Node *) agg->caller, NULL);
}

/* A combine function is a transition function whose argument is another state. */
static void
init_combine(VxServerAgg *agg, const Aggref *ref, Oid function)
{
	Oid			type = ref->aggtranstype;
	Expr	   *expr;

	build_aggregate_transfn_expr(&type, 1, 0, false, type, ref->inputcollid, function,
								 InvalidOid, &expr, NULL);
	fmgr_info(function, &agg->combinefn);
	fmgr_info_set_expr((Node *) expr, &agg->combinefn);
	agg->combine = palloc0(SizeForFunctionCallInfo(2));
	InitFunctionCallInfoData(*agg->combine, &agg->combinefn, 2, ref->inputcollid,
							 (Node *) agg->caller, NULL);
}

static void
init_final(VxServerAgg *agg, const Aggref *ref, Oid function, Oid *argtypes, int nargs,
		   bool extra)
{
	Expr	   *expr;

	agg->has_finalfn = OidIsValid(function);
	agg->nfinalargs = extra ? nargs + 1 : 1;
	if (!agg->has_finalfn)
		return;
	build_aggregate_finalfn_expr(argtypes, agg->nfinalargs, ref->aggtranstype,
								 ref->aggtype, ref->inputcollid, function, &expr);
	fmgr_info(function, &agg->finalfn);
	fmgr_info_set_expr((Node *) expr, &agg->finalfn);
}

static void
init_value(VxServerAgg *agg, const Aggref *ref, HeapTuple tuple)
{
	Datum		initval = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval,
										  &agg->initial_isnull);
	Oid			input;
	Oid			ioparam;

	if (agg->initial_isnull)
		return;
	getTypeInputInfo(ref->aggtranstype, &input, &ioparam);
	agg->initial = OidInputFunctionCall(input, TextDatumGetCString(initval), ioparam, -1);
}

/* A strict function whose first value becomes the state needs one of its type. */
static void
check_first_value(const VxServerAgg *agg, const Aggref *ref, Oid *argtypes, int nargs)
{
	if (agg->transfn.fn_strict && agg->initial_isnull &&
		(nargs == 0 || !IsBinaryCoercible(argtypes[0], ref->aggtranstype)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("aggregate %u needs to have compatible input type and transition type",
						ref->aggfnoid)));
}

/*
 * Does the state stay the same when it meets a value again?  Not where
 * different strings are equal: the last of them stands for all.
 */
static bool
ignores_repeats(Oid function, Oid collation)
{
	switch (function)
	{
		case F_TEXT_LARGER:
		case F_TEXT_SMALLER:
		case F_BPCHAR_LARGER:
		case F_BPCHAR_SMALLER:
			return OidIsValid(collation) && get_collation_isdeterministic(collation);
		default:
			return false;
	}
}

VxServerAgg *
vx_server_agg_create(VxAggState *state, const Aggref *ref)
{
	VxServerAgg *agg = palloc0(sizeof(VxServerAgg));
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(ref->aggfnoid));
	Oid			owner = function_owner(ref->aggfnoid);
	Oid			argtypes[FUNC_MAX_ARGS];
	int			nargs = get_aggregate_argtypes(unconstify(Aggref *, ref), argtypes);
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", ref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	check_function(form->aggtransfn, owner, OBJECT_FUNCTION);
	if (OidIsValid(form->aggfinalfn))
		check_function(form->aggfinalfn, owner, OBJECT_FUNCTION);

	agg->caller = make_caller(state, ref);
	agg->collation = ref->inputcollid;
	get_typlenbyval(ref->aggtranstype, &agg->translen, &agg->transbyval);
	init_transition(agg, ref, form->aggtransfn, argtypes, nargs);
	/* who only writes states need not be allowed to */
	if ((state->mode == VX_AGG_FINAL || state->mode == VX_AGG_SHARED) &&
		vx_agg_server_combines(ref))
	{
		check_function(form->aggcombinefn, owner, OBJECT_FUNCTION);
		init_combine(agg, ref, form->aggcombinefn);
	}
	init_final(agg, ref, form->aggfinalfn, argtypes, nargs, form->aggfinalextra);
	init_value(agg, ref, tuple);
	check_first_value(agg, ref, argtypes, nargs);
	agg->mcxt = CurrentMemoryContext;
	agg->had.wanted = ignores_repeats(form->aggtransfn, ref->inputcollid);
	ReleaseSysCache(tuple);
	return agg;
}

void
vx_server_agg_initial(VxServerAgg *agg, void *agg_state)
{
	VxServerState *s = agg_state;

	/* A value by reference is copied when the function first runs. */
	s->value = agg->initial;
	s->isnull = agg->initial_isnull;
	s->not_started = agg->initial_isnull;
}

void
vx_server_agg_reset(VxServerAgg *agg)
{
	ReScanExprContext(agg->caller->curaggcontext);
	ReScanExprContext(agg->caller->tmpcontext);
	agg->had.group = 0;
}

Size
vx_server_agg_memory(const VxServerAgg *agg)
{
	return MemoryContextMemAllocated(agg->caller->curaggcontext->ecxt_per_tuple_memory,
									 true);
}

static MemoryContext
state_context(const VxServerAgg *agg)
{
	return agg->caller->curaggcontext->ecxt_per_tuple_memory;
}

/* The function returned another value by reference than it was given. */
static Datum
keep_value(VxServerAgg *agg, VxServerState *s, Datum value, bool isnull)
{
	MemoryContext old = MemoryContextSwitchTo(state_context(agg));

	if (isnull)
		value = (Datum) 0;
	else if (!DatumIsReadWriteExpandedObject(value, false, agg->translen) ||
			 MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) != CurrentMemoryContext)
		value = datumCopy(value, agg->transbyval, agg->translen);
	if (!s->isnull && s->value != agg->initial)
	{
		if (DatumIsReadWriteExpandedObject(s->value, false, agg->translen))
			DeleteExpandedObject(s->value);
		else
			pfree(DatumGetPointer(s->value));
	}
	MemoryContextSwitchTo(old);
	return value;
}

static void
start_with(VxServerAgg *agg, VxServerState *s, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(state_context(agg));

	s->value = datumCopy(value, agg->transbyval, agg->translen);
	s->isnull = false;
	s->not_started = false;
	MemoryContextSwitchTo(old);
}

/* By the transition function, or the one that combines states. */
static void
advance_state(VxServerAgg *agg, FunctionCallInfo call, VxServerState *s)
{
	Datum		value;

	if (call->flinfo->fn_strict)
	{
		for (int i = 1; i < call->nargs; i++)
			if (call->args[i].isnull)
				return;
		if (s->not_started)
		{
			start_with(agg, s, call->args[1].value);
			return;
		}
		if (s->isnull)
			return;
	}

	/* The function may change a value by reference: the initial one is shared. */
	if (!agg->transbyval && !s->isnull && s->value == agg->initial && !agg->initial_isnull)
		start_with(agg, s, agg->initial);
	call->args[0].value = s->value;
	call->args[0].isnull = s->isnull;
	call->isnull = false;
	value = FunctionCallInvoke(call);
	if (!agg->transbyval && DatumGetPointer(value) != DatumGetPointer(s->value))
		value = keep_value(agg, s, value, call->isnull);
	s->value = value;
	s->isnull = call->isnull;
	s->not_started = false;
}

/* Are codes of the column's vector to be remembered? */
static bool
remembers_codes(VxAggState *state, VxAggTrans *trans, const VxVector *v)
{
	VxServerAgg *agg = trans->server;
	CodesHad   *had = &agg->had;
	const VxAggInput *input;

	if (!had->wanted || trans->ninputs != 1 || v->rep != VX_REP_CODE ||
		state->scan == NULL || vx_spill_is_input(state) || state->batch->reader == NULL)
		return false;
	/* only a column of the table has one dictionary for all of a row group */
	input = &state->inputs[trans->inputs[0]];
	if (input->attno == InvalidAttrNumber || input->attno > state->desc->natts)
		return false;
	if (had->group != state->scan->source->nopened || had->ncodes != v->dict->nvalues)
	{
		had->group = state->scan->source->nopened;
		had->ncodes = v->dict->nvalues;
		if (had->bits)
			memset(had->bits, 0, had->nbits / 8);
	}
	return true;
}

/* Remembers that the group has had the code; true if it was known. */
static bool
had_code(VxServerAgg *agg, uint32 gid, uint32 code)
{
	CodesHad   *had = &agg->had;
	uint64		bit = (uint64) gid * had->ncodes + code;
	uint64		mask = UINT64CONST(1) << (bit & 63);

	if (bit >= had->nbits)
	{
		uint64		nbits = Max(had->nbits, 4096);

		if (bit >= MAX_CODE_BITS)
			return false;
		while (nbits <= bit)
			nbits *= 2;
		if (had->bits == NULL)
			had->bits = MemoryContextAllocZero(agg->mcxt, nbits / 8);
		else
		{
			had->bits = repalloc(had->bits, nbits / 8);
			memset((char *) had->bits + had->nbits / 8, 0, (nbits - had->nbits) / 8);
		}
		had->nbits = nbits;
	}
	if (had->bits[bit >> 6] & mask)
		return true;
	had->bits[bit >> 6] |= mask;
	return false;
}

void
vx_server_agg_advance(VxAggState *state, VxAggTrans *trans, const VxAggRows *r)
{
	VxServerAgg *agg = trans->server;
	FunctionCallInfo call = agg->call;
	const VxVector *vectors[FUNC_MAX_ARGS];
	char		(*buffers)[ST_NUMERIC_MAX_BYTES] = palloc(ST_NUMERIC_MAX_BYTES *
														  (trans->ninputs + 1));
	MemoryContext temporary = agg->caller->tmpcontext->ecxt_per_tuple_memory;
	MemoryContext old;
	bool		once;

	for (int a = 0; a < trans->ninputs; a++)
		vectors[a] = vx_agg_vector(state, trans->inputs[a]);
	once = trans->ninputs > 0 && remembers_codes(state, trans, vectors[0]);

	old = MemoryContextSwitchTo(temporary);
	for (int i = 0; i < r->n; i++)
	{
		int			row = vx_agg_row(r, i);

		if (once && !vx_vector_isnull(vectors[0], row) &&
			had_code(agg, vx_agg_gid(r, i), vectors[0]->u.code[row]))
			continue;
		for (int a = 0; a < trans->ninputs; a++)
		{
			call->args[a + 1].isnull = vx_vector_isnull(vectors[a], row);
			call->args[a + 1].value = call->args[a + 1].isnull ? (Datum) 0 :
				vx_vector_datum_in(vectors[a], row, buffers[a]);
		}
		advance_state(agg, call, (VxServerState *) (vx_group_record(state->groups,
															vx_agg_gid(r, i)) +
											trans->offset));
		MemoryContextReset(temporary);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
}

/* How states are written. */
static VxAggInput
state_type(const VxServerAgg *agg)
{
	return (VxAggInput) {.typlen = agg->translen, .typbyval = agg->transbyval};
}

void
vx_server_agg_write(const VxServerAgg *agg, StringInfo out, const void *agg_state)
{
	const VxServerState *s = agg_state;
	VxAggInput	type = state_type(agg);

	if (s->isnull)
		return;
	if (agg->translen != -1)
		vx_state_value_write(out, s->value, &type);
	else
	{
		struct varlena *flat = PG_DETOAST_DATUM_PACKED(s->value);

		vx_state_value_write(out, PointerGetDatum(flat), &type);
		if ((Pointer) flat != DatumGetPointer(s->value))
			pfree(flat);
	}
}

const char *
vx_server_agg_merge(VxServerAgg *agg, void *into, const void *from, const char *p)
{
	const VxServerState *s = from;
	MemoryContext old = MemoryContextSwitchTo(agg->caller->tmpcontext->ecxt_per_tuple_memory);
	VxAggInput	type = state_type(agg);
	FunctionCallInfo call = agg->combine;

	/* the value itself is in another process */
	call->args[1].value = (Datum) 0;
	call->args[1].isnull = s->isnull;
	if (!s->isnull)
		p = vx_state_value_read(&type, p, &call->args[1].value);
	/* the type may want another alignment than it has there */
	if (!s->isnull && agg->translen == -1)
		call->args[1].value = datumCopy(call->args[1].value, false, -1);
	advance_state(agg, call, into);
	MemoryContextSwitchTo(old);
	MemoryContextReset(agg->caller->tmpcontext->ecxt_per_tuple_memory);
	return p;
}

Datum
vx_server_agg_result(VxAggState *state, VxAggTrans *trans, void *agg_state, bool *isnull)
{
	VxServerAgg *agg = trans->server;
	VxServerState *s = agg_state;
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	bool		anynull = s->isnull || agg->nfinalargs > 1;
	Datum		value = MakeExpandedObjectReadOnly(s->value, s->isnull, agg->translen);

	*isnull = s->isnull;
	if (!agg->has_finalfn)
		return value;

	InitFunctionCallInfoData(*call, &agg->finalfn, agg->nfinalargs, agg->collation,
							 (Node *) agg->caller, NULL);
	call->args[0].value = value;
	call->args[0].isnull = s->isnull;
	for (int i = 1; i < agg->nfinalargs; i++)
	{
		call->args[i].value = (Datum) 0;
		call->args[i].isnull = true;
	}
	*isnull = true;
	if (agg->finalfn.fn_strict && anynull)
		return (Datum) 0;
	value = FunctionCallInvoke(call);
	*isnull = call->isnull;
	return value;
}
