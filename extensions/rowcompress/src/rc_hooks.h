/*-------------------------------------------------------------------------
 *
 * rc_hooks.h
 *	  What attaches rowcompress to the server beside the table access method.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_HOOKS_H
#define RC_HOOKS_H

/* From _PG_init, after the other modules. */
extern void rc_hooks_init(void);

#endif							/* RC_HOOKS_H */
