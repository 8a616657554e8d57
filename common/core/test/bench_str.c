/*-------------------------------------------------------------------------
 *
 * bench_str.c
 *	  Size and speed of the string encodings on made-up columns.
 *
 *-------------------------------------------------------------------------
 */
#include <time.h>

#include "st_str.h"
#include "st_test.h"

#define VALUES (16 * ST_VECTOR_SIZE)

static StStr values[VALUES];
static char pool[VALUES * 256];
static char *pool_next;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

static int
make_md5(char *p, int i)
{
	uint64_t	high = test_random();
	uint64_t	low = test_random();

	(void) i;
	return sprintf(p, "%016llx%016llx", (unsigned long long) high,
				   (unsigned long long) low);
}

static int
make_uuid(char *p, int i)
{
	uint64_t	r = test_random();
	uint64_t	node = test_random() >> 16;

	(void) i;
	return sprintf(p, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned) r,
				   (unsigned) (r >> 48), (unsigned) (r >> 36 & 0xfff),
				   (unsigned) (r >> 52), (unsigned long long) node);
}

static int
make_digits(char *p, int i)
{
	(void) i;
	return sprintf(p, "%llu",
				   (unsigned long long) test_random_below(10000000000));
}

static int
make_url(char *p, int i)
{
	unsigned	page = (unsigned) test_random_below(5000);
	unsigned	user = (unsigned) test_random_below(100000);

	(void) i;
	return sprintf(p, "https://www.example.org/page/%u?user=%u", page, user);
}

static int
make_words(char *p, int i)
{
	static const char *const words[] = {
		"the", "quick", "market", "of", "under", "shipping", "and", "green",
		"was", "a", "to", "return", "between", "regular", "deposits",
		"carefully", "final", "packages", "sleep", "against", "requests"
	};
	int			len = 0;

	(void) i;
	for (int w = 4 + (int) test_random_below(8); w > 0; w--)
		len += sprintf(p + len, "%s ", words[test_random_below(21)]);
	return len;
}

static int
make_email(char *p, int i)
{
	unsigned	user = (unsigned) test_random_below(1000000);
	unsigned	host = (unsigned) test_random_below(20);

	(void) i;
	return sprintf(p, "user%u@mail%u.example.com", user, host);
}

static int
make_noise(char *p, int i)
{
	(void) i;
	for (int k = 0; k < 40; k++)
		p[k] = (char) test_random();
	return 40;
}

static void
bench(const char *name, int (*make) (char *, int))
{
	static uint8_t enc[16][ST_VECTOR_SIZE * 300];
	static uint8_t arena[ST_VECTOR_SIZE * 320];
	size_t		len[16];
	static uint32_t off[ST_VECTOR_SIZE];
	static uint32_t lens[ST_VECTOR_SIZE];
	StStrScheme scheme;
	double		t0;
	double		choose;
	double		encode;
	double		decode;
	double		at;
	size_t		raw = 0;
	size_t		total = 0;
	int			rounds = 20;

	pool_next = pool;
	for (int i = 0; i < VALUES; i++)
	{
		values[i].data = (uint8_t *) pool_next;
		values[i].len = (uint32_t) make(pool_next, i);
		pool_next += values[i].len;
		raw += values[i].len;
	}
	t0 = now();
	st_str_choose(values, VALUES, &scheme);
	choose = now() - t0;
	t0 = now();
	for (int v = 0; v < 16; v++)
	{
		if (st_str_encode(&scheme, values + v * ST_VECTOR_SIZE, ST_VECTOR_SIZE,
						  enc[v], sizeof(enc[v]), &len[v]) != ST_OK)
			abort();
		total += len[v];
	}
	encode = now() - t0;
	t0 = now();
	for (int k = 0; k < rounds; k++)
	{
		for (int v = 0; v < 16; v++)
		{
			if (st_str_decode(&scheme, enc[v], len[v], ST_VECTOR_SIZE, 4, 4,
							  arena, sizeof(arena), off, lens) != ST_OK)
				abort();
		}
	}
	decode = (now() - t0) / rounds;
	t0 = now();
	for (int i = 0; i < 1000; i++)
	{
		uint32_t	outlen;

		if (st_str_at(&scheme, enc[i % 16], len[i % 16], ST_VECTOR_SIZE,
					  (i * 37) % ST_VECTOR_SIZE, arena, sizeof(arena),
					  &outlen) != ST_OK)
			abort();
	}
	at = (now() - t0) / 1000;
	printf("%-8s %-8s %6.2f -> %6.2f bytes, choose %5.2f ms, encode %6.0f "
		   "MB/s, decode %6.0f MB/s, at %5.2f us\n",
		   name, st_str_scheme_name(&scheme), (double) raw / VALUES,
		   (double) total / VALUES, choose * 1e3, (double) raw / encode / 1e6,
		   (double) raw / decode / 1e6, at * 1e6);
}

int
main(void)
{
	bench("md5", make_md5);
	bench("uuid", make_uuid);
	bench("digits", make_digits);
	bench("url", make_url);
	bench("words", make_words);
	bench("email", make_email);
	bench("noise", make_noise);
	return 0;
}
