/*-------------------------------------------------------------------------
 *
 * cc_init.c
 *	  Entry points of the library: what the server calls when it loads it,
 *	  and the functions that SQL has in common with other access methods.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "cc_format.h"
#include "sf_library.h"

PG_MODULE_MAGIC;

SF_LIBRARY_FUNCTIONS(cc);

void
_PG_init(void)
{
	static const SfLibrary library = {
		.format = &cc_contract,
		.options = &cc_option_set,
		.worker = "cc_compact_worker_main"
	};

	sf_library_init(&library);
}
