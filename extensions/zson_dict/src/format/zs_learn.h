/*-------------------------------------------------------------------------
 *
 * zs_learn.h
 *	  From example documents to the bytes of a dictionary.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZS_LEARN_H
#define ZS_LEARN_H

#include "postgres.h"

#include "utils/jsonb.h"

#include "zs_dict.h"

typedef struct ZsLearnOptions
{
	int			min_length;		/* of strings, bytes */
	int			max_length;
	int			min_count;		/* documents that a key or string occurs in */
} ZsLearnOptions;

/* Bytes that the documents of the hold-out take. */
typedef struct ZsLearned
{
	bytea	   *blob;			/* NULL: nothing was gained */
	int			ntrain;
	int			nholdout;
	int64		jsonb_bytes;
	int64		before_bytes;	/* as they would be stored now */
	int64		after_bytes;
	int			nroots;
	uint64		roots[ZS_MAX_ROOTS];
} ZsLearned;

/*
 * Learns from every document but each fifth, and measures with those.  info:
 * text to be kept in the dictionary.
 */
extern void zs_learn(Jsonb *const *docs, int ndocs,
					 const ZsLearnOptions *options, const char *info,
					 ZsLearned *result);

#endif							/* ZS_LEARN_H */
