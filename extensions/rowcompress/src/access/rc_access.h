/*-------------------------------------------------------------------------
 *
 * rc_access.h
 *	  What SQL reaches of rowcompress beside the table access method.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_ACCESS_H
#define RC_ACCESS_H

/* rc_label.c: options, their label provider and hooks. */
extern void rc_label_init(void);

/* rc_executor_start.c: what plans of the server need to be told. */
extern void rc_executor_start_init(void);

/* rc_auto_compact.c: background workers of option auto_compact. */
extern void rc_auto_compact_init(void);

#endif							/* RC_ACCESS_H */
