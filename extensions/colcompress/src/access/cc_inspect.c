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

#include "cc_array_read.h"
#include "cc_shred_read.h"
#include "st_compat.h"
#include "st_inspect.h"

PG_FUNCTION_INFO_V1(cc_document_paths);

/* A path: keys, and ELEMENTS for those of an array, of each level of arrays. */
#define MAX_KEYS ((CC_SHRED_MAX_DEPTH + 1) * (CC_ARRAY_MAX_DEPTH + 1))

static const StStr ELEMENTS = {(const uint8 *) "[]", 2};

/* The column that is being shown. */
typedef struct Shown
{
	ReturnSetInfo *rsinfo;
	StReader   *reader;
	int			groupno;
	Name		column;
	StStr		keys[MAX_KEYS];
} Shown;

static Datum
path_keys(const Shown *s, int nkeys)
{
	Datum	   *keys = palloc(nkeys * sizeof(Datum));

	for (int i = 0; i < nkeys; i++)
		keys[i] = PointerGetDatum(cstring_to_text_with_len((const char *) s->keys[i].data,
														   s->keys[i].len));
	return PointerGetDatum(construct_array(keys, nkeys, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

/*
 * Shows a sub-column; chunk is NULL if it is all null.  The columns of an
 * array's parts are shown by themselves: its own bytes are the lengths.
 */
static void
put_path(Shown *s, int nkeys, const char *kind, const CcFooterColumn *entry, CcChunk *chunk)
{
	CcChunkInfo info;
	Datum		values[9];
	bool		nulls[9] = {0};

	cc_chunk_describe(s->reader, entry, chunk, &info);
	if (entry->encoding == CC_ENC_ARRAY)
		info.encoded_bytes -= entry->blob_len;
	values[0] = Int32GetDatum(s->groupno);
	values[1] = NameGetDatum(s->column);
	nulls[2] = nkeys == 0 && strcmp(kind, "residue") == 0;
	if (!nulls[2])
		values[2] = path_keys(s, nkeys);
	values[3] = CStringGetTextDatum(kind);
	values[4] = CStringGetTextDatum(info.encoding);
	values[5] = CStringGetTextDatum(info.codec);
	values[6] = Int64GetDatum((int64) info.encoded_bytes);
	values[7] = Int64GetDatum((int64) info.nulls);
	values[8] = Int64GetDatum((int64) info.distinct);
	nulls[8] = info.distinct == 0;
	tuplestore_putvalues(s->rsinfo->setResult, s->rsinfo->setDesc, values, nulls);
}

static void put_documents(Shown *s, int nkeys, CcChunk *chunk);

/* Arrays at a path: lengths, those that are kept whole, what the elements have. */
static void
put_arrays(Shown *s, int nkeys, const CcFooterColumn *entry, CcChunk *chunk)
{
	const CcFooterColumn *parts = chunk->array->entries;
	CcChunk    *whole = cc_array_chunk(s->reader, chunk, CC_ARRAY_WHOLE);
	CcChunk    *elements = cc_array_chunk(s->reader, chunk, CC_ARRAY_ELEMENTS);

	put_path(s, nkeys, "array", entry, chunk);
	if (whole != NULL)
		put_path(s, nkeys, "json", &parts[CC_ARRAY_WHOLE], whole);
	s->keys[nkeys++] = ELEMENTS;
	if (elements->shred != NULL)
		put_documents(s, nkeys, elements);
	else if (elements->array != NULL)
		put_arrays(s, nkeys, &parts[CC_ARRAY_ELEMENTS], elements);
	else
		put_path(s, nkeys, "json", &parts[CC_ARRAY_ELEMENTS], elements);
}

/* Sub-columns of shredded documents below a path. */
static void
put_documents(Shown *s, int nkeys, CcChunk *chunk)
{
	static const char *const kinds[CC_LEAF_KINDS] = {
		[CC_LEAF_STRING] = "string",
		[CC_LEAF_NUMERIC] = "number",
		[CC_LEAF_BOOL] = "boolean",
		[CC_LEAF_NULL] = "null",
		[CC_LEAF_JSON] = "json"
	};
	const CcShred *shred = chunk->shred;
	const CcPathTree *tree = shred->tree;

	for (int leaf = 0; leaf < tree->nleaves; leaf++)
	{
		CcChunk    *sub = cc_shred_chunk(s->reader, chunk, leaf);
		int			node = tree->leaves[leaf].node;
		int			depth = tree->nodes[node].depth;

		for (int i = depth - 1; i >= 0; i--)
		{
			s->keys[nkeys + i] = tree->nodes[node].key;
			node = tree->nodes[node].parent;
		}
		if (sub != NULL && sub->array != NULL)
			put_arrays(s, nkeys + depth, &shred->entries[leaf], sub);
		else
			put_path(s, nkeys + depth, kinds[tree->leaves[leaf].kind], &shred->entries[leaf],
					 sub);
	}
	put_path(s, nkeys, "residue", &shred->entries[tree->nleaves],
			 cc_shred_chunk(s->reader, chunk, tree->nleaves));
}

/* Keys are data: whoever may not see the column's values sees no paths. */
static void
put_paths(ReturnSetInfo *rsinfo, Relation rel, const StGroup *group, int groupno)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Shown		shown = {.rsinfo = rsinfo, .groupno = groupno};

	shown.reader = cc_reader_open(rel, group, CurrentMemoryContext);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		CcChunk    *chunk;

		CHECK_FOR_INTERRUPTS();
		if (att->attisdropped || getBaseType(att->atttypid) != JSONBOID ||
			!st_may_see_values(rel, att->attnum))
			continue;
		shown.column = &att->attname;
		chunk = cc_chunk_open(shown.reader, att->attnum);
		if (chunk != NULL && chunk->shred != NULL)
			put_documents(&shown, 0, chunk);
		else if (chunk != NULL && chunk->array != NULL)
			put_arrays(&shown, 0, chunk->entry, chunk);
	}
	cc_reader_close(shown.reader);
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
