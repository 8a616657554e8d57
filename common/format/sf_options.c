/*-------------------------------------------------------------------------
 *
 * sf_options.c
 *	  Options that the formats of row groups share.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "sf_options.h"
#include "st_codec.h"
#include "st_compat.h"

const StOptionEnum sf_codecs[] = {
	{"none", ST_CODEC_NONE},
	{"lz4", ST_CODEC_LZ4},
	{"zstd", ST_CODEC_ZSTD},
	{NULL, 0}
};

/* A level inherited from a table of another codec counts as not set. */
void
sf_options_complete(StOptions *options, const bool *isset, int elevel)
{
	int			codec = options->codec;

	if (isset[SF_OPTION_LEVEL] && codec != ST_CODEC_NONE &&
		st_codec_level_valid(codec, options->level))
		return;
	if (isset[SF_OPTION_LEVEL] && elevel >= ERROR)
		ereport(elevel,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("level %d is out of range for compression \"%s\"",
						options->level, st_codec_name(codec)),
				 codec == ST_CODEC_NONE ?
				 errdetail("Compression \"none\" has no levels.") :
				 errdetail("Valid levels are between 1 and %d.",
						   st_codec_level_max(codec)),
				 errhint("Set both options at once, or reset option \"level\".")));
	options->level = st_codec_level_default(codec);
}
