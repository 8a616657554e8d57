/*-------------------------------------------------------------------------
 *
 * st_error.c
 *	  From the status of a plain C routine to an error of the server, and
 *	  from an error to a value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "st_error.h"

/* The detail line: where the bytes lie. */
static int
errdetail_place(const char *what, BlockNumber block, uint64 offset)
{
	if (!BlockNumberIsValid(block))
		return errdetail("The damaged part is %s.", what);
	return errdetail("The damaged part is %s, byte " UINT64_FORMAT
					 " from the start of block %u.", what, offset, block);
}

void
st_raise_status(StStatus status, Relation rel, BlockNumber block,
				uint64 offset, const char *what)
{
	const char *name = RelationGetRelationName(rel);

	switch (status)
	{
		case ST_CORRUPT:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("relation \"%s\" has damaged data", name),
					 errdetail_place(what, block, offset)));
			break;
		case ST_UNSUPPORTED:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("relation \"%s\" has data of an unknown format",
							name),
					 errdetail("%s was written by a newer version or with a codec that this build lacks.",
							   what)));
			break;
		case ST_NOMEM:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Failed while processing %s of relation \"%s\".",
							   what, name)));
			break;
		case ST_OK:
		case ST_NOSPACE:
		case ST_NOTFIT:
			break;
	}
	elog(ERROR, "unexpected status %d for %s of relation \"%s\"",
		 (int) status, what, name);
}

ErrorData *
st_try(StTryStep step, void *arg, MemoryContext mcxt)
{
	MemoryContext old = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	PG_TRY();
	{
		step(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(old);
	CurrentResourceOwner = owner;
	return error;
}

char *
st_qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}
