/*-------------------------------------------------------------------------
 *
 * zs_get.h
 *	  Access by path, for operators and subscripts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZS_GET_H
#define ZS_GET_H

#include "postgres.h"

/* The value, zson, that a path of text Datums leads to. */
extern Datum zs_path_value(Datum value, const Datum *steps, int n,
						   bool *isnull);

#endif							/* ZS_GET_H */
