/*-------------------------------------------------------------------------
 *
 * st_sort_key.h
 *	  Values of several types as one string of bytes with the same order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_SORT_KEY_H
#define ST_SORT_KEY_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* Of a string so many bytes are kept, which mostly tell rows apart. */
#define ST_SORT_KEY_BYTES	256

/* type: a base type.  Strings are supported where bytes have the collation's order. */
extern bool st_sort_key_is_supported(Oid type, Oid collation);

/*
 * Appends a value, or at least ST_SORT_KEY_BYTES of it.  Strings of as many values of
 * the same types, with the same directions, are ordered by memcmp() as the values are,
 * as far as they differ in their first ST_SORT_KEY_BYTES.
 */
extern void st_sort_key_add(StringInfo key, Oid type, bool desc, bool nulls_first,
							Datum value, bool isnull);

#endif							/* ST_SORT_KEY_H */
