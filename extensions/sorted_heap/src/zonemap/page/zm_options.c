/*-------------------------------------------------------------------------
 *
 * zm_options.c
 *	  Storage parameters of zonemap indexes: fillfactor.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "utils/rel.h"

#include "zm_options.h"

typedef struct ZmOptions
{
	int32		vl_len_;
	int			fillfactor;
} ZmOptions;

static relopt_kind zm_relopt_kind;

void
zm_options_init(void)
{
	zm_relopt_kind = add_reloption_kind();
	add_int_reloption(zm_relopt_kind, "fillfactor",
					  "Packs leaf pages of the zonemap only to this percentage",
					  ZM_DEFAULT_FILLFACTOR, 10, 100,
					  ShareUpdateExclusiveLock);
}

bytea *
zm_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{"fillfactor", RELOPT_TYPE_INT, offsetof(ZmOptions, fillfactor)},
	};

	return build_reloptions(reloptions, validate, zm_relopt_kind,
							sizeof(ZmOptions), table, lengthof(table));
}

int
zm_fillfactor(Relation index)
{
	ZmOptions  *options = (ZmOptions *) index->rd_options;

	return options != NULL ? options->fillfactor : ZM_DEFAULT_FILLFACTOR;
}
