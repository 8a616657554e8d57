/*-------------------------------------------------------------------------
 *
 * zm_validate.h
 *	  Check of the operator classes of zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_VALIDATE_H
#define ZM_VALIDATE_H

#include "postgres.h"

extern bool zm_validate(Oid opclass);

#endif							/* ZM_VALIDATE_H */
