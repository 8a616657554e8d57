/*-------------------------------------------------------------------------
 *
 * vx_delta_dict.h
 *	  Dictionaries for columns of the delta.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_DELTA_DICT_H
#define VX_DELTA_DICT_H

#include "postgres.h"

#include "vx_vector.h"

typedef struct VxDeltaDict VxDeltaDict;

/* For values of the given length, in the current memory context. */
extern VxDeltaDict *vx_delta_dict_create(int16 typlen);

/*
 * The code of a value that is not toasted, but may have a short header.
 * False, from then on always, if the column does not look like one with few
 * distinct values.
 */
extern bool vx_delta_dict_code(VxDeltaDict *dict, Datum value, uint32 *code);

extern bool vx_delta_dict_is_used(const VxDeltaDict *dict);

/* What the codes stand for; stays where it is, and grows. */
extern const VxDictionary *vx_delta_dict_values(const VxDeltaDict *dict);

#endif							/* VX_DELTA_DICT_H */
