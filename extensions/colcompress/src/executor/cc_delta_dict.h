/*-------------------------------------------------------------------------
 *
 * cc_delta_dict.h
 *	  Dictionaries for columns of the delta.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_DELTA_DICT_H
#define CC_DELTA_DICT_H

#include "postgres.h"

#include "cc_vector.h"

typedef struct CcDeltaDict CcDeltaDict;

/* For values of the given length, in the current memory context. */
extern CcDeltaDict *cc_delta_dict_create(int16 typlen);

/*
 * The code of a value that is not toasted, but may have a short header.
 * False, from then on always, if the column does not look like one with few
 * distinct values.
 */
extern bool cc_delta_dict_code(CcDeltaDict *dict, Datum value, uint32 *code);

extern bool cc_delta_dict_is_used(const CcDeltaDict *dict);

/* What the codes stand for; stays where it is, and grows. */
extern const CcDictionary *cc_delta_dict_values(const CcDeltaDict *dict);

#endif							/* CC_DELTA_DICT_H */
