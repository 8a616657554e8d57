/*-------------------------------------------------------------------------
 *
 * st_zson_plan.h
 *	  How the strings of a document are going to be written: private to
 *	  st_zson_plan.c and st_zson_encode.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_ZSON_PLAN_H
#define ST_ZSON_PLAN_H

#include "st_zson_format.h"

/* Larger images are not planned: in them, zstd finds what repeats. */
#define ZS_PLAN_MAX_IMAGE (64 * 1024)

/* Different strings that are looked at for repeats; a power of two. */
#define ZS_PLAN_STRINGS 512

typedef enum ZsPlanKind
{
	ZS_PLAN_PLAIN,				/* by its bytes */
	ZS_PLAN_NUMBER,				/* value of the dictionary */
	ZS_PLAN_STRING,				/* string of the plan, perhaps repeated */
	ZS_PLAN_TEMPLATE			/* template, filled with strings of the plan */
} ZsPlanKind;

/* One string of the image. */
typedef struct ZsPlanned
{
	uint8_t		kind;
	uint8_t		nfill;
	uint16_t	number;			/* of the value, string, template */
	uint16_t	fill[2];
} ZsPlanned;

/* A string that may stand in several places. */
typedef struct ZsPlanString
{
	StStr		s;
	uint16_t	count;
	bool		filled;			/* it fills a hole */
	int16_t		number;			/* in the dictionary, or -1 */
	int16_t		repeat;			/* number among the repeated strings, or -1 */
} ZsPlanString;

typedef struct ZsPlan
{
	bool		made;			/* else every string is looked at for itself */
	uint32_t	n;
	uint32_t	at;				/* the next string to be written */
	ZsPlanned  *planned;
	uint32_t	nstrings;
	ZsPlanString *strings;
	uint16_t   *table;			/* number + 1 of a string by its hash */
	uint32_t	nrepeats;
	StStr		repeats;		/* as they stand in the document */
} ZsPlan;

/* Bytes of scratch space, aligned for pointers, for an image of len bytes. */
extern size_t st_zs_plan_bound(size_t len);

/*
 * Makes the plan for the image, within scratch; no plan if the dictionary
 * wants none.  ST_NOTFIT: too deep, or not an image.
 */
extern StStatus st_zs_plan(const StZsonEncoding *e, const uint8_t *image,
						   size_t len, uint8_t *scratch, ZsPlan *plan);

/* Writes a string that fills a hole of a template, or that is repeated. */
extern void st_zs_plan_put(const ZsPlan *plan, unsigned string,
						   const StZsonDict *dict, StByteWriter *w);

#endif							/* ST_ZSON_PLAN_H */
