/*-------------------------------------------------------------------------
 *
 * cc_hooks.h
 *	  What attaches colcompress to the server beside the table access method.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_HOOKS_H
#define CC_HOOKS_H

#include "postgres.h"

/* From _PG_init, after the other modules. */
extern void cc_hooks_init(void);

#endif							/* CC_HOOKS_H */
