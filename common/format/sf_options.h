/*-------------------------------------------------------------------------
 *
 * sf_options.h
 *	  Options that the formats of row groups share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SF_OPTIONS_H
#define SF_OPTIONS_H

#include "st_options.h"

/* The level's place in the option set of a format. */
#define SF_OPTION_LEVEL 1

/*
 * For StOptionSet.complete: the level must be one of the codec's; not set, it
 * is the codec's default.
 */
extern void sf_options_complete(StOptions *options, const bool *isset, int elevel);

#endif							/* SF_OPTIONS_H */
