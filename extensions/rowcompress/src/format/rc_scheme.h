/*-------------------------------------------------------------------------
 *
 * rc_scheme.h
 *	  Parts of the scheme in a column's meta: bits of its first byte.
 *
 *-------------------------------------------------------------------------
 */
#ifndef RC_SCHEME_H
#define RC_SCHEME_H

/* On disk: numbers never change. */
#define RC_SCHEME_DICT			0x01	/* sorted distinct values */
#define RC_SCHEME_STR			0x02	/* st_str scheme */
#define RC_SCHEME_CODEC_DICT	0x04	/* dictionary of the codec */
#define RC_SCHEME_ALL			0x07

#endif							/* RC_SCHEME_H */
