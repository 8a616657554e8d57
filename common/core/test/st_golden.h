/*-------------------------------------------------------------------------
 *
 * st_golden.h
 *	  Golden bytes: what a version of the format wrote must be readable for
 *	  ever.
 *
 * test/golden/<name>.golden holds one case: the values and the bytes that
 * the encoder made of them when the case was recorded.
 *
 *		"STGOLD1\n"
 *		u32			nvalues
 *		u32			bytes of values
 *		u32			bytes of encoding
 *		values, encoding
 *
 * A test calls golden_check() with today's values and encoding.  It fails if
 * the file's encoding does not decode to the file's values, or the values
 * differ from today's (the case itself was changed).  An encoding that
 * differs from today's is legal, as an encoder may get better; it is said,
 * so that nobody changes the format unawares.  ST_GOLDEN_WRITE=1 records
 * cases that have no file yet; existing files are never touched.
 *
 * Names end in the version of the format, "int-for-v1": a changed format
 * adds cases and keeps the old ones.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_GOLDEN_H
#define ST_GOLDEN_H

#include "st_test.h"

#define GOLDEN_MAGIC "STGOLD1\n"
#define GOLDEN_HEADER (8 + 3 * 4)

/*
 * Decodes src into out, which has room for cap bytes; sets *outlen.  The
 * form of the values is the caller's: golden_check compares bytes.
 */
typedef StStatus (*GoldenDecode) (const uint8_t *src, size_t len, uint32_t n,
								  uint8_t *out, size_t cap, size_t *outlen);

static int	golden_nchanged;

static void
golden_write(const char *path, uint32_t n, const void *values, size_t vlen,
			 const uint8_t *enc, size_t elen)
{
	uint8_t		header[GOLDEN_HEADER];
	FILE	   *f = fopen(path, "wb");

	memcpy(header, GOLDEN_MAGIC, 8);
	st_store_u32(header + 8, n);
	st_store_u32(header + 12, (uint32_t) vlen);
	st_store_u32(header + 16, (uint32_t) elen);
	if (f == NULL ||
		fwrite(header, 1, sizeof(header), f) != sizeof(header) ||
		fwrite(values, 1, vlen, f) != vlen ||
		fwrite(enc, 1, elen, f) != elen || fclose(f) != 0)
	{
		perror(path);
		exit(1);
	}
	printf("recorded %s\n", path);
}

static void
golden_compare(const char *path, FILE *f, uint32_t n,
			   const void *values, size_t vlen,
			   const uint8_t *enc, size_t elen, GoldenDecode decode)
{
	uint8_t		header[GOLDEN_HEADER];
	uint32_t	file_vlen;
	uint32_t	file_elen;
	uint8_t    *file_values;
	uint8_t    *file_enc;
	uint8_t    *out;
	size_t		outcap;
	size_t		outlen = 0;
	StStatus	status;

	CHECK_MSG(fread(header, 1, sizeof(header), f) == sizeof(header) &&
			  memcmp(header, GOLDEN_MAGIC, 8) == 0, "%s: header", path);
	file_vlen = st_load_u32(header + 12);
	file_elen = st_load_u32(header + 16);
	CHECK_MSG(st_load_u32(header + 8) == n && file_vlen == vlen,
			  "%s: case changed", path);
	if (file_vlen != vlen || file_elen > 1 << 24)
		return;

	/* some decoders may write a whole vector whatever n is */
	outcap = vlen + ST_VECTOR_SIZE * 16;
	file_values = malloc(vlen + 1);
	file_enc = malloc(file_elen ? file_elen : 1);
	out = malloc(outcap);
	if (file_values == NULL || file_enc == NULL || out == NULL)
		abort();
	CHECK_MSG(fread(file_values, 1, vlen, f) == vlen &&
			  fread(file_enc, 1, file_elen, f) == file_elen &&
			  fgetc(f) == EOF, "%s: length", path);
	CHECK_MSG(memcmp(file_values, values, vlen) == 0, "%s: case changed",
			  path);

	status = decode(file_enc, file_elen, n, out, outcap, &outlen);
	CHECK_MSG(status == ST_OK, "%s: status %d", path, (int) status);
	CHECK_MSG(status != ST_OK ||
			  (outlen == vlen && memcmp(out, file_values, vlen) == 0),
			  "%s: decodes to other values", path);

	if (file_elen != elen || memcmp(file_enc, enc, elen) != 0)
	{
		golden_nchanged++;
		printf("%s: the encoder's output changed (%u bytes then, %zu now)\n",
			   path, file_elen, elen);
	}
	free(file_values);
	free(file_enc);
	free(out);
}

/*
 * name: file name without directory and ".golden"; values: vlen bytes, n
 * values; enc: what today's encoder makes of them.
 */
static TEST_UNUSED void
golden_check(const char *name, uint32_t n, const void *values, size_t vlen,
			 const uint8_t *enc, size_t elen, GoldenDecode decode)
{
	char		path[512];
	FILE	   *f;

	snprintf(path, sizeof(path), "test/golden/%s.golden", name);
	f = fopen(path, "rb");
	if (f == NULL && getenv("ST_GOLDEN_WRITE") != NULL)
	{
		golden_write(path, n, values, vlen, enc, elen);
		f = fopen(path, "rb");
	}
	CHECK_MSG(f != NULL, "%s: no such file (ST_GOLDEN_WRITE=1 records it)",
			  path);
	if (f == NULL)
		return;
	golden_compare(path, f, n, values, vlen, enc, elen, decode);
	fclose(f);
}

#endif							/* ST_GOLDEN_H */
