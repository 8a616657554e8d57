/*-------------------------------------------------------------------------
 *
 * cc_shred_text.h
 *	  Text of shredded jsonb documents straight from their leaves.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_SHRED_TEXT_H
#define CC_SHRED_TEXT_H

#include "vx_json_text.h"
#include "cc_shred_read.h"

/* Templates of a chunk's documents. */
typedef struct CcTextCache CcTextCache;

extern CcTextCache *cc_shred_texts(StReader *r, CcChunk *chunk);

/* Appends a leaf's value, which the row has. */
extern void cc_text_value(CcLeafKind kind, const VxVector *v, int row, VxText *text);

/* Appends the text of what cc_shred_object() builds. */
extern void cc_text_object(StReader *r, const CcDocSource *source, CcTextCache *cache,
						   int node, const CcLeafSet *present,
						   const struct varlena *residue, int row, VxText *text);

#endif							/* CC_SHRED_TEXT_H */
