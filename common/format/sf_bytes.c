/*-------------------------------------------------------------------------
 *
 * sf_bytes.c
 *	  Small pieces of metas, as writers append them; and what readers say of
 *	  bytes that nobody wrote.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "sf_bytes.h"
#include "st_bytes.h"
#include "st_float.h"
#include "st_int.h"
#include "st_options.h"
#include "st_file.h"

void
sf_put_varint(StringInfo buf, uint64 v)
{
	uint8		bytes[ST_VARINT_MAX];
	StByteWriter w;

	st_writer_init(&w, bytes, sizeof(bytes));
	st_write_varint(&w, v);
	appendBinaryStringInfo(buf, (char *) bytes, st_writer_len(&w));
}

void
sf_put_bytes(StringInfo buf, const void *data, Size len)
{
	sf_put_varint(buf, len);
	appendBinaryStringInfo(buf, data, len);
}

#define DEFINE_PUT_ARRAY(name, type, core_type, codec) \
void \
name(StringInfo buf, const type *v, int n) \
{ \
	uint8	   *bytes = palloc(codec##_bound(n)); \
	size_t		len; \
\
	if (codec##_encode((const core_type *) v, n, bytes, codec##_bound(n), &len) != ST_OK) \
		elog(ERROR, "could not encode an array of %d numbers", n); \
	sf_put_bytes(buf, bytes, len); \
	pfree(bytes); \
}

DEFINE_PUT_ARRAY(sf_put_int_array, int64, int64_t, st_int)
DEFINE_PUT_ARRAY(sf_put_wide_array, int128, StInt128, st_int128)
DEFINE_PUT_ARRAY(sf_put_float8_array, double, double, st_f64)
DEFINE_PUT_ARRAY(sf_put_float4_array, float, float, st_f32)

void
sf_put_string_array(StringInfo buf, const StStr *v, int n)
{
	StStrScheme *raw = palloc(sizeof(StStrScheme));
	uint8	   *bytes;
	size_t		bound;
	size_t		len;

	st_str_scheme_raw(raw);
	bound = st_str_bound(raw, v, n);
	bytes = palloc(bound);
	if (st_str_encode(raw, v, n, bytes, bound, &len) != ST_OK)
		elog(ERROR, "could not encode an array of %d strings", n);
	sf_put_bytes(buf, bytes, len);
	pfree(bytes);
	pfree(raw);
}

void
sf_ensure(MemoryContext mcxt, uint8 **buf, Size *cap, Size need, Size least)
{
	if (need <= *cap)
		return;
	if (*buf)
		pfree(*buf);
	*buf = NULL;
	*cap = 0;
	need = Max(need, least);
	*buf = MemoryContextAllocHuge(mcxt, need);
	*cap = need;
}

void
sf_corrupt(Relation rel, const StGroup *group, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("row group " UINT64_FORMAT " of table \"%s\" is damaged",
					group->first_row, RelationGetRelationName(rel)),
			 errdetail("The %s is not what was written (blocks %s).", what,
					   st_group_blocks(group))));
}

void
sf_check_version(Relation rel, const StGroup *group, uint32 version, uint32 supported)
{
	if (version > supported)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("row group " UINT64_FORMAT " of table \"%s\" has format version %u, but this library reads up to %u",
						group->first_row, RelationGetRelationName(rel),
						version, supported),
				 errhint("Install a newer version of %s.",
						 st_options_set()->provider)));
}
