/*-------------------------------------------------------------------------
 *
 * vx_intern.h
 *	  Distinct values of a type, numbered as they come.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_INTERN_H
#define VX_INTERN_H

#include "postgres.h"

#include "vx_vector.h"

#define VX_NO_WORD	PG_UINT32_MAX

typedef struct VxIntern VxIntern;

/*
 * Values of a type that differ under an equality operator, or with bytes by
 * their bytes, bpchar's without trailing blanks; eqop and collation mean
 * nothing then.  The struct is made in the current context, values in one
 * below mcxt.
 */
extern VxIntern *vx_intern_create(MemoryContext mcxt, Oid type, Oid eqop, Oid collation,
								  bool bytes);
extern void vx_intern_reset(VxIntern *intern);

/* Number of a value; VX_NO_WORD if it is new and not to be added. */
extern uint32 vx_intern(VxIntern *intern, Datum value, bool add);

/* The same of n values. */
extern void vx_intern_many(VxIntern *intern, const Datum *values, int n, bool add,
						   uint32 *numbers);
extern uint32 vx_intern_hash(VxIntern *intern, Datum value);

/* All of them by number, with plain headers; the array moves when it grows. */
extern Datum *vx_intern_values(const VxIntern *intern, uint32 *nvalues);

static inline Datum
vx_intern_value(const VxIntern *intern, uint32 number)
{
	uint32		nvalues;

	return vx_intern_values(intern, &nvalues)[number];
}

/*
 * A dictionary that grows as values come up, so that expressions run once per
 * value and keys of groups are indexes.  It gives up for good when there are
 * too many values, or long ones.
 */
typedef struct VxCodes
{
	VxIntern   *values;			/* NULL: given up, or never begun */
	VxDictionary dict;
	uint64		nseen;
} VxCodes;

#define VX_CODES_MAX_LENGTH 256

/* For values that are distinct by all their bytes, whatever the type. */
extern void vx_codes_init(VxCodes *codes, MemoryContext mcxt, Oid type, int16 typlen);

/* False, from then on always: there are too many values. */
extern bool vx_codes_find(VxCodes *codes, Datum value, uint32 *code);

#endif							/* VX_INTERN_H */
