/*-------------------------------------------------------------------------
 *
 * zs_dict.h
 *	  Dictionaries: where they are kept, and what a backend keeps of them.
 *
 * Dictionary n is the body of the function zson_dict.dictionary_<n>(), which
 * returns its bytes.  So every role can read it, whatever the snapshot (it is
 * catalog data: parallel workers, logical decoding, standbys), it is never
 * published, and pg_dump restores it before any table's rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZS_DICT_H
#define ZS_DICT_H

#include "postgres.h"

#include "st_zson.h"

#define ZS_SCHEMA "zson_dict"
#define ZS_DICT_PREFIX "dictionary_"

/* The first line of a dictionary's function. */
typedef struct ZsDictInfo
{
	uint32		id;
	Oid			funcid;
	bool		committed;		/* not of a transaction in progress */
	char	   *column;			/* "schema.table.column", "" for the default,
								 * NULL if it is not told */
	char	   *note;			/* when and from what it was learned */
	int			nroots;
	uint64	   *roots;			/* zs_root_hash() of frequent documents */
} ZsDictInfo;

/* The most root shapes that a dictionary names. */
#define ZS_MAX_ROOTS 64

/*
 * The digest of a dictionary, for reading or also for writing; valid until
 * ZS_DICT_PINNED other dictionaries have been asked for.  An error names the
 * id if it is missing or damaged.
 */
#define ZS_DICT_PINNED 8
extern const StZsonDict *zs_dict_read(uint32 id);
extern const StZsonDict *zs_dict_write(uint32 id);

/* The one that suits a jsonb image, NULL if there is none. */
extern const StZsonDict *zs_dict_route(const uint8 *image, Size len);

/* May zs_dict_route() give this one? */
extern bool zs_dict_is_chosen(uint32 id);

/* Hash of the keys of an image's root, 0 if that is no object. */
extern uint64 zs_root_hash(const uint8 *image);

/* All dictionaries, in order of their ids: list of ZsDictInfo. */
extern List *zs_dict_list(void);

/* Bytes of a dictionary: palloc'd varlena, NULL if there is none. */
extern bytea *zs_dict_fetch(uint32 id, Oid *funcid);

/* First line of a dictionary's function. */
extern char *zs_dict_describe(const ZsDictInfo *info);

/* StZsonAlloc; arg: a MemoryContext. */
extern void *zs_dict_alloc(void *arg, size_t size);

/* Bytes that the cache holds. */
extern Size zs_dict_cache_size(void);

#endif							/* ZS_DICT_H */
