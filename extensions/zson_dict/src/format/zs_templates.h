/*-------------------------------------------------------------------------
 *
 * zs_templates.h
 *	  Learns templates: forms that strings under a key have in common.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ZS_TEMPLATES_H
#define ZS_TEMPLATES_H

#include "postgres.h"

#include "utils/jsonb.h"

#include "st_zson.h"

/*
 * Called for each scalar below a container. key is the number of the key that
 * it, or its array, stands under; -1 if there is none, or if the dictionary
 * does not have it.
 */
typedef void (*ZsScalarFunction) (void *arg, int key, const JsonbValue *v,
								  uint32 doc);

/* key: that of the container itself. */
extern void zs_walk_scalars(JsonbContainer *jc, int key,
							const StZsonDict *dict, uint32 doc,
							ZsScalarFunction function, void *arg);

typedef struct ZsTemplates ZsTemplates;

/* dict: the keys. */
extern ZsTemplates *zs_templates_begin(const StZsonDict *dict);

/* For two walks over all examples; arg: the ZsTemplates. */
extern void zs_templates_count_words(void *arg, int key, const JsonbValue *v,
									 uint32 doc);
extern void zs_templates_count_forms(void *arg, int key, const JsonbValue *v,
									 uint32 doc);

/*
 * Puts the templates that save most into parts; returns the bytes that they
 * save, roughly.
 */
extern double zs_templates_choose(ZsTemplates *t, StZsonParts *parts);

#endif							/* ZS_TEMPLATES_H */
