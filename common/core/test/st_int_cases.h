/*-------------------------------------------------------------------------
 *
 * st_int_cases.h
 *	  Integer vectors of all kinds, for unit tests, golden bytes and
 *	  benchmarks: each case is a name and a rule for n values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_INT_CASES_H
#define ST_INT_CASES_H

#include "st_core.h"

typedef struct IntCase
{
	const char *name;			/* word for the file of golden bytes */
	const char *scheme;			/* expected for n = ST_VECTOR_SIZE */
	void		(*fill) (int64_t *v, int n);
} IntCase;

/* A generator of its own, so that golden cases do not depend on a seed. */
static inline uint64_t
case_random(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

#define DEFINE_CASE(name, ...) \
	static void \
	fill_##name(int64_t *v, int n) \
	{ \
		uint64_t	rng = 42; \
		int64_t		last = 0; \
		(void) last; \
		(void) rng; \
		for (int i = 0; i < n; i++) \
		{ \
			__VA_ARGS__ \
		} \
	}

#define RANDOM(limit) ((int64_t) (case_random(&rng) % (uint64_t) (limit)))

DEFINE_CASE(constant, v[i] = -7;)
DEFINE_CASE(constant_min, v[i] = INT64_MIN;)
DEFINE_CASE(small_range, v[i] = 1000000 + RANDOM(100);)
DEFINE_CASE(around_zero, v[i] = RANDOM(21) - 10;)
DEFINE_CASE(bits_33, v[i] = RANDOM(INT64_C(1) << 33);)
DEFINE_CASE(hash, v[i] = (int64_t) case_random(&rng);)
DEFINE_CASE(outliers_high, v[i] = RANDOM(16) + (i % 97 == 5 ? 1000000 : 0);)
DEFINE_CASE(outliers_low, v[i] = i % 200 == 7 ? INT64_MIN : RANDOM(1000);)
DEFINE_CASE(outliers_both, v[i] = i % 100 == 3 ? INT64_MIN :
			i % 100 == 60 ? INT64_MAX : 5000 + RANDOM(1024);)
DEFINE_CASE(mostly_one, v[i] = RANDOM(150) == 3 ? RANDOM(1000) : 77;)
DEFINE_CASE(sequence, v[i] = 100 + i;)
DEFINE_CASE(step_down, v[i] = -13 * (int64_t) i;)
DEFINE_CASE(sorted_gaps, v[i] = last += 1 + RANDOM(30);)
DEFINE_CASE(log_times, v[i] = last += (i == 0 ? INT64_C(700000000123456) :
										  900000 + RANDOM(1000) +
										  (i % 113 == 9 ? 500000000 : 0));)
DEFINE_CASE(parabola, v[i] = (int64_t) i * i * 5 + 3 * i + RANDOM(2);)
DEFINE_CASE(seconds, v[i] = (INT64_C(700000000) + RANDOM(86400)) * 1000000;)
DEFINE_CASE(minutes_sorted, v[i] = (last += RANDOM(9) + 1) * 60000000;)
DEFINE_CASE(minutes_curve, v[i] = ((int64_t) i * i * 9 + RANDOM(3)) * 60000000 + 17;)
DEFINE_CASE(minutes_outliers, v[i] = (RANDOM(16) + (i % 97 == 5 ? 9000000 : 0)) * 60000000;)
DEFINE_CASE(runs, v[i] = i % 50 == 0 ? last = RANDOM(100000) : last;)
DEFINE_CASE(runs_sorted, v[i] = i % 37 == 0 ? last += 1 + RANDOM(3) : last;)
DEFINE_CASE(status_codes, int64_t r = RANDOM(10); v[i] = r < 7 ? 200 :
			r < 8 ? 301 : r < 9 ? 404 : 500;)
DEFINE_CASE(few_ids, uint64_t id = (uint64_t) RANDOM(20) + 1;
			v[i] = (int64_t) case_random(&id);)
DEFINE_CASE(id_runs, uint64_t id = (uint64_t) RANDOM(5) + 1;
			v[i] = i % 6 == 0 ? last = (int64_t) case_random(&id) : last;)
DEFINE_CASE(wrap_around, v[i] = (int64_t) (UINT64_C(0x7fffffffffffff00) + (uint64_t) i);)
DEFINE_CASE(extremes, v[i] = i % 2 ? INT64_MAX : INT64_MIN;)
DEFINE_CASE(flags, v[i] = RANDOM(2);)

static const IntCase int_cases[] = {
	{"constant", "constant", fill_constant},
	{"constant-min", "constant", fill_constant_min},
	{"small-range", "for", fill_small_range},
	{"around-zero", "for", fill_around_zero},
	{"bits-33", "for", fill_bits_33},
	{"hash", "raw", fill_hash},
	{"outliers-high", "patched for", fill_outliers_high},
	{"outliers-low", "patched for", fill_outliers_low},
	{"outliers-both", "patched for", fill_outliers_both},
	{"mostly-one", "patched for", fill_mostly_one},
	{"sequence", "delta", fill_sequence},
	{"step-down", "delta", fill_step_down},
	{"sorted-gaps", "delta", fill_sorted_gaps},
	{"log-times", "delta", fill_log_times},
	{"parabola", "delta of delta", fill_parabola},
	{"seconds", "gcd for", fill_seconds},
	{"minutes-sorted", "gcd delta", fill_minutes_sorted},
	{"minutes-curve", "gcd delta of delta", fill_minutes_curve},
	{"minutes-outliers", "gcd patched for", fill_minutes_outliers},
	{"runs", "rle", fill_runs},
	{"runs-sorted", "rle", fill_runs_sorted},
	{"status-codes", "dictionary", fill_status_codes},
	{"few-ids", "dictionary", fill_few_ids},
	{"id-runs", "rle", fill_id_runs},
	{"wrap-around", "delta", fill_wrap_around},
	{"extremes", "gcd for", fill_extremes},
	{"flags", "for", fill_flags}
};

#define INT_NCASES ((int) (sizeof(int_cases) / sizeof(int_cases[0])))

#endif							/* ST_INT_CASES_H */
