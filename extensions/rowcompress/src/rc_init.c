/*-------------------------------------------------------------------------
 *
 * rc_init.c
 *	  Entry points of the library: what the server calls when it loads it,
 *	  and the functions that SQL has in common with other access methods.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "rc_batch.h"
#include "sf_library.h"

PG_MODULE_MAGIC;

SF_LIBRARY_FUNCTIONS(rc);

void
_PG_init(void)
{
	static const SfLibrary library = {
		.format = &rc_contract,
		.options = &rc_option_set,
		.worker = "rc_compact_worker_main",
		.footer_switch = "enable_footer_aggregates"
	};

	sf_library_init(&library);
}
