/*-------------------------------------------------------------------------
 *
 * sf_bytes.h
 *	  Small pieces of metas, as writers append them; and what readers say of
 *	  bytes that nobody wrote.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_BYTES_H
#define SF_BYTES_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "st_compat.h"
#include "st_store.h"
#include "st_str.h"

extern void sf_put_varint(StringInfo buf, uint64 v);

/* Bytes behind their length. */
extern void sf_put_bytes(StringInfo buf, const void *data, Size len);

/* Arrays of up to ST_VECTOR_SIZE values, behind their length in bytes. */
extern void sf_put_int_array(StringInfo buf, const int64 *v, int n);
extern void sf_put_wide_array(StringInfo buf, const int128 *v, int n);
extern void sf_put_float8_array(StringInfo buf, const double *v, int n);
extern void sf_put_float4_array(StringInfo buf, const float *v, int n);
extern void sf_put_string_array(StringInfo buf, const StStr *v, int n);

/* Makes *buf at least need bytes large, and least; contents are not kept. */
extern void sf_ensure(MemoryContext mcxt, uint8 **buf, Size *cap, Size need,
					  Size least);

pg_noreturn extern void sf_corrupt(Relation rel, const StGroup *group, const char *what);

/* Refuses a row group of a version above the one that is supported. */
extern void sf_check_version(Relation rel, const StGroup *group, uint32 version,
							 uint32 supported);

#endif							/* SF_BYTES_H */
