/*-------------------------------------------------------------------------
 *
 * st_dict.h
 *	  Sorted dictionary of byte strings: distinct values and a code for each.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_DICT_H
#define ST_DICT_H

#include "st_core.h"

/* Bytes of working memory that st_dict_build() needs for n strings. */
extern size_t st_dict_worksize(size_t n);

/*
 * Finds the distinct strings among v[0 .. n), sorts them bytewise (memcmp,
 * then length: "a" before "ab") and numbers them in that order.
 *
 * v: strings; data NULL means null: it is not entered and its code is 0.
 * (An empty string has data that is not NULL.)
 * max_entries: more distinct ones than this end the search at once with
 * ST_NOTFIT, at the cost of having hashed the strings seen up to there.
 * work, worklen: at least st_dict_worksize(n) bytes, aligned to 8.
 * codes: n.  entries: max_entries; they point into the strings of v.
 * nentries: set to the number of distinct strings, 0 if all are null.
 *
 * ST_NOTFIT; ST_NOSPACE: worklen is too small.  n may be up to 2^31.
 */
extern StStatus st_dict_build(const StStr *v, size_t n, size_t max_entries,
							  void *work, size_t worklen,
							  uint32_t *codes, StStr *entries,
							  size_t *nentries);

/* memcmp, then length: the order of the entries. */
extern int	st_str_compare(const StStr *a, const StStr *b);

#endif							/* ST_DICT_H */
