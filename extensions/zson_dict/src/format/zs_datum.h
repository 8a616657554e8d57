/*-------------------------------------------------------------------------
 *
 * zs_datum.h
 *	  Values of type zson: opening one, making one, going to jsonb and back.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZS_DATUM_H
#define ZS_DATUM_H

#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/jsonb.h"

#include "st_compat.h"
#include "st_zson.h"

/*
 * An open value.  Of a value stored out of line only the beginning is
 * fetched, and more when it turns out to be needed; so pointers into the
 * document are valid until the next zs_more().
 */
typedef struct ZsDoc
{
	StZsonDoc	doc;
	StZsonValue root;
	struct varlena *toasted;	/* NULL: the whole value is in memory */
	bool		whole;
} ZsDoc;

/* StZsonEnter: guards the stack. */
extern bool zs_enter(int depth);

/* Text in the database's encoding? */
extern bool zs_text_valid(const uint8_t *s, size_t n);

extern void zs_open(ZsDoc *z, Datum value);

/* All of it will be needed: nothing is fetched by slices. */
extern void zs_open_whole(ZsDoc *z, Datum value);

/*
 * Is it worth trying again?  After ST_NOSPACE: fetches the rest, opens the
 * value anew, and says yes.  Any other status but ST_OK is raised as an error.
 */
extern bool zs_more(ZsDoc *z, StStatus status);

pg_noreturn extern void zs_raise(const StZsonDoc *doc, StStatus status);

/* ST_NOSPACE if the value's bytes are not all there. */
extern StStatus zs_is_here(const ZsDoc *z, const StZsonValue *v);

/* Results of the quick way to a member. */
typedef enum ZsQuick
{
	ZS_QUICK_NO,				/* not for this document: use zs_field() */
	ZS_QUICK_ABSENT,
	ZS_QUICK_FOUND
} ZsQuick;

typedef struct ZsSpot
{
	StZsonQuick doc;
	const uint8 *data;			/* the document */
	const uint8 *p;				/* the member */
	uint32		n;
} ZsSpot;

extern ZsQuick zs_quick_field(Datum value, const StStr *key, ZsSpot *spot);

/* A dictionary is not what it was: where its keys stand is forgotten. */
extern void zs_forget_fields(void);

/* The member alone; NULL: zs_field() has to do it. */
extern struct varlena *zs_quick_zson(const ZsSpot *spot);
extern text *zs_quick_text(const ZsSpot *spot);

/* Member of an object, element of an array; false: there is none. */
extern bool zs_field(ZsDoc *z, const StStr *key, StZsonValue *v);
extern bool zs_element(ZsDoc *z, int64 index, StZsonValue *v);

/* The value as jsonb, as zson (of its own), or as jsonb's ->> gives it. */
extern Jsonb *zs_value_jsonb(ZsDoc *z, const StZsonValue *v);
extern struct varlena *zs_value_zson(ZsDoc *z, const StZsonValue *v);
extern text *zs_value_text(ZsDoc *z, const StZsonValue *v);	/* NULL: null */
extern Numeric zs_value_numeric(const StZsonValue *v);

/* Bytes of a string, palloc'd if they do not stand in the document. */
extern StStr zs_value_string(ZsDoc *z, const StZsonValue *v);

/* Is the string this one? */
extern bool zs_value_equals(ZsDoc *z, const StZsonValue *v, const StStr *s);

extern Jsonb *zs_to_jsonb(Datum value);

/* ---- zs_text.c: jsonb's text ---- */

extern void zs_append_value(StringInfo out, ZsDoc *z, const StZsonValue *v);

/* The text of a whole value, and of a value within one. */
extern char *zs_to_cstring(Datum value);
extern text *zs_to_text(ZsDoc *z, const StZsonValue *v);

/* num * 10^-scale */
extern text *zs_decimal_text(int64 num, int scale);

/* ---- making one ---- */

/* NULL: without a dictionary. */
extern struct varlena *zs_from_image(const uint8 *image, Size len,
									 const StZsonDict *dict,
									 StZsonEncoding *stats);

/* With the dictionary that suits the document. */
extern struct varlena *zs_from_jsonb(const Jsonb *jb);

/* The same of JSON text, or NULL: it is for jsonb_in() to parse or refuse. */
extern struct varlena *zs_from_text(const char *text, Size len);

#endif							/* ZS_DATUM_H */
