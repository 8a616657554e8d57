/*-------------------------------------------------------------------------
 *
 * cc_inspect.c
 *	  Shows the sub-columns of documents.  Who may see what: st_inspect.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "cc_vector.h"
#include "st_compat.h"
#include "st_inspect.h"

PG_FUNCTION_INFO_V1(cc_document_paths);

static Datum
path_keys(const CcPathInfo *info)
{
	Datum	   *keys = palloc(info->nkeys * sizeof(Datum));

	for (int i = 0; i < info->nkeys; i++)
		keys[i] = PointerGetDatum(cstring_to_text_with_len((const char *) info->keys[i].data,
														   info->keys[i].len));
	return PointerGetDatum(construct_array(keys, info->nkeys, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

/* Keys are data: whoever may not see the column's values sees no paths. */
static void
put_paths(ReturnSetInfo *rsinfo, Relation rel, const StGroup *group, int groupno)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StReader   *reader = cc_reader_open(rel, group, CurrentMemoryContext);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		int			npaths;

		CHECK_FOR_INTERRUPTS();
		if (att->attisdropped || getBaseType(att->atttypid) != JSONBOID ||
			!st_may_see_values(rel, att->attnum))
			continue;
		npaths = cc_reader_npaths(reader, att->attnum);
		for (int p = 0; p < npaths; p++)
		{
			CcPathInfo	info;
			Datum		values[9];
			bool		nulls[9] = {0};

			cc_reader_path_info(reader, att->attnum, p, &info);
			values[0] = Int32GetDatum(groupno);
			values[1] = NameGetDatum(&att->attname);
			nulls[2] = info.nkeys == 0;
			if (!nulls[2])
				values[2] = path_keys(&info);
			values[3] = CStringGetTextDatum(info.kind);
			values[4] = CStringGetTextDatum(info.chunk.encoding);
			values[5] = CStringGetTextDatum(info.chunk.codec);
			values[6] = Int64GetDatum((int64) info.chunk.encoded_bytes);
			values[7] = Int64GetDatum((int64) info.chunk.nulls);
			values[8] = Int64GetDatum((int64) info.chunk.distinct);
			nulls[8] = info.chunk.distinct == 0;
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
		}
	}
	cc_reader_close(reader);
}

/*
 * document_paths(relation): row_group, column_name, path, kind, encoding,
 * codec, encoded_bytes, nulls, dictionary_values.
 */
Datum
cc_document_paths(PG_FUNCTION_ARGS)
{
	return st_show_groups(fcinfo, put_paths);
}
