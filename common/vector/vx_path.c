/*-------------------------------------------------------------------------
 *
 * vx_path.c
 *	  Paths of jsonb documents: the operators themselves, and the vector of a
 *	  path.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_path.h"

Datum
vx_path_call(VxPath *path, Datum document, bool *isnull)
{
	Datum		value = document;

	*isnull = false;
	for (int i = 0; i < path->nsteps && !*isnull; i++)
	{
		VxPathStep *step = &path->steps[i];
		LOCAL_FCINFO(fcinfo, 2);

		InitFunctionCallInfoData(*fcinfo, &step->function, 2, step->collation, NULL, NULL);
		fcinfo->args[0].value = value;
		fcinfo->args[0].isnull = false;
		fcinfo->args[1].value = step->arg;
		fcinfo->args[1].isnull = false;
		value = FunctionCallInvoke(fcinfo);
		*isnull = fcinfo->isnull;
	}
	return value;
}

VxVector *
vx_path_begin(VxPath *path, VxRep rep, int n)
{
	VxVector   *v = &path->v;

	v->rep = rep;
	v->n = n;
	v->has_nulls = false;
	v->constant = false;
	v->scale = 0;
	v->typlen = rep == VX_REP_INT64 ? 1 : -1;
	v->u.i64 = path->words;
	memset(v->valid, 0xFF, sizeof(v->valid));
	return v;
}
