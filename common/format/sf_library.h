/*-------------------------------------------------------------------------
 *
 * sf_library.h
 *	  A library with an access method on the store: what attaches it to the
 *	  server.
 *
 * The extension's _PG_init() calls sf_library_init().  SQL finds a C function
 * by a name that no other library has: the extension writes
 * SF_LIBRARY_FUNCTIONS(cc) once, outside of any function.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_LIBRARY_H
#define SF_LIBRARY_H

#include "postgres.h"

#include "st_functions.h"
#include "vx_format.h"

typedef struct SfLibrary
{
	const VxFormat *format;
	const StOptionSet *options; /* its provider is the access method's name */
	const char *worker;			/* entry point of workers */
	const char *footer_switch;	/* what enable_footer_aggregate is called here,
								 * if not so */
} SfLibrary;

/*
 * Takes hooks, and registers label provider, plan nodes and settings.  Called
 * when the library's own settings are registered: from here on, unknown ones
 * are errors.
 */
extern void sf_library_init(const SfLibrary *library);

/* What the handler of the access method returns. */
extern const TableAmRoutine *sf_tableam_routine(void);

/* column_chunks(relation): see VxColumnInfo. */
extern Datum sf_column_chunks(FunctionCallInfo fcinfo);

/* verify(relation), attno 0: zones of expressions: sf_verify.c */
extern List *sf_check_column(Relation rel, const StGroup *group, AttrNumber attno);

#define SF_LIBRARY_FUNCTIONS(c) \
	ST_STORE_FUNCTIONS(c); \
	ST_SQL_FUNCTION(c##_tableam_handler, PointerGetDatum(sf_tableam_routine())) \
	ST_SQL_FUNCTION(c##_column_chunks, sf_column_chunks(fcinfo)) \
	ST_SQL_FUNCTION(c##_estimate_sizes, \
					st_estimate_sizes_function(fcinfo, vx_format->store)) \
	ST_SQL_FUNCTION(c##_verify, st_verify_function(fcinfo, sf_check_column)) \
	extern PGDLLEXPORT void _PG_init(void)

#endif							/* SF_LIBRARY_H */
