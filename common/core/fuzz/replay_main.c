/*-------------------------------------------------------------------------
 *
 * replay_main.c
 *	  Runs a fuzz target over a corpus without libFuzzer.
 *
 *		replay_<name> DIRECTORY...
 *
 * Each file runs as it is, then (small ones) cut at every length and with
 * every byte changed in a few ways, within a budget of work, so that the
 * neighbourhood of the corpus is covered on every machine, clang or not.
 * Inputs are copied into blocks of exactly their size: the address sanitizer
 * sees a read past the end.  Prints the number of files; fails if a
 * directory holds none.
 *
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <limits.h>

#include "st_fuzz.h"

/* Neighbours tried per file: keeps make check short. */
#define MAX_NEIGHBOURS 600

static void
run_exact(const uint8_t *data, size_t size)
{
	uint8_t    *copy = malloc(size ? size : 1);

	if (copy == NULL)
		abort();
	if (size > 0)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void
run_neighbours(uint8_t *data, size_t size)
{
	static const uint8_t masks[] = {0x01, 0x80, 0xff};
	const size_t nmasks = sizeof(masks) / sizeof(masks[0]);
	size_t		total = size * (1 + nmasks);
	size_t		step = total / MAX_NEIGHBOURS + 1;

	/* an odd step, so that cuts and all masks get their turn */
	for (size_t k = 0; k < total; k += step | 1)
	{
		size_t		at = k / (1 + nmasks);
		size_t		what = k % (1 + nmasks);

		if (what == nmasks)
			run_exact(data, at);
		else
		{
			data[at] ^= masks[what];
			run_exact(data, size);
			data[at] ^= masks[what];
		}
	}
}

static void
run_file(const char *path)
{
	FILE	   *f = fopen(path, "rb");
	uint8_t    *data = NULL;
	size_t		size = 0;
	size_t		cap = 0;
	size_t		got;

	if (f == NULL)
	{
		perror(path);
		exit(1);
	}
	do
	{
		if (size == cap)
		{
			cap = cap ? 2 * cap : 65536;
			data = realloc(data, cap);
			if (data == NULL)
				abort();
		}
		got = fread(data + size, 1, cap - size, f);
		size += got;
	} while (got > 0);
	fclose(f);

	run_exact(data, size);
	run_neighbours(data, size);
	free(data);
}

static int
run_directory(const char *dirname)
{
	DIR		   *dir = opendir(dirname);
	struct dirent *entry;
	int			nfiles = 0;

	if (dir == NULL)
	{
		perror(dirname);
		exit(1);
	}
	while ((entry = readdir(dir)) != NULL)
	{
		char		path[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dirname, entry->d_name);
		run_file(path);
		nfiles++;
	}
	closedir(dir);
	return nfiles;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
	{
		int			nfiles = run_directory(argv[i]);

		printf("%s: %d inputs replayed\n", argv[i], nfiles);
		if (nfiles == 0)
			return 1;
	}
	return 0;
}
