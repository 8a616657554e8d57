/*-------------------------------------------------------------------------
 *
 * zm_options.h
 *	  Settings of the library, and storage parameters of a zonemap.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZM_OPTIONS_H
#define ZM_OPTIONS_H

#include "postgres.h"

#include "utils/rel.h"

#define ZM_DEFAULT_FILLFACTOR 90

extern void zm_options_init(void);
extern bytea *zm_options(Datum reloptions, bool validate);
extern int	zm_fillfactor(Relation index);

#endif							/* ZM_OPTIONS_H */
