/*-------------------------------------------------------------------------
 *
 * st_zson_plan.c
 *	  Looks at all strings of an image before a document is written: which
 *	  are values of the dictionary, which fill its templates, which occur
 *	  more than once.
 *
 * Strings are planned in the order in which st_zson_encode.c writes them,
 * which may do so twice, with a tail and without.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_plan.h"

#include "st_checksum.h"

#define TABLE_SIZE (2 * ZS_PLAN_STRINGS)

/* Repeated strings whose number takes no byte of its own. */
#define SHORT_REPEATS 8

typedef struct Planner
{
	const StZsonEncoding *e;
	ZsPlan	   *plan;
	uint32_t	cap;
	int			depth;
} Planner;

size_t
st_zs_plan_bound(size_t len)
{
	if (len > ZS_PLAN_MAX_IMAGE)
		return 0;
	return (len / 4 + 1) * sizeof(ZsPlanned) +
		ZS_PLAN_STRINGS * sizeof(ZsPlanString) +
		TABLE_SIZE * sizeof(uint16_t) + ZS_MAX_REPEAT_BYTES + 32;
}

/* Number of the string in the plan, -1 if there are too many. */
static int
add_string(ZsPlan *plan, const StStr *s, const StZsonDict *dict)
{
	uint64_t	slot = st_checksum64(s->data, s->len, 4);
	ZsPlanString *string;
	unsigned	entry;

	for (;; slot++)
	{
		entry = plan->table[slot % TABLE_SIZE];
		if (entry == 0)
			break;
		string = &plan->strings[entry - 1];
		if (string->s.len == s->len &&
			memcmp(string->s.data, s->data, s->len) == 0)
		{
			string->count++;
			return (int) entry - 1;
		}
	}
	if (plan->nstrings == ZS_PLAN_STRINGS)
		return -1;
	string = &plan->strings[plan->nstrings++];
	*string = (ZsPlanString) {.s = *s,.count = 1,.repeat = -1};
	string->number = (int16_t) st_zs_string_number(dict, s);
	plan->table[slot % TABLE_SIZE] = (uint16_t) plan->nstrings;
	return (int) plan->nstrings - 1;
}

/* Makes the string a template, if one of its key's has its form. */
static bool
plan_template(Planner *pl, const StStr *s, int key, ZsPlanned *p)
{
	const StZsonDict *dict = pl->e->dict;
	StStr		fill[2];
	int			number = st_zson_template_find(dict, key, s, fill);

	if (number < 0)
		return false;
	p->nfill = (uint8_t) dict->templates[number].nholes;
	for (unsigned i = 0; i < p->nfill; i++)
	{
		int			string = add_string(pl->plan, &fill[i], dict);

		if (string < 0)
		{
			/* the first one is not used here after all */
			if (i > 0)
				pl->plan->strings[p->fill[0]].count--;
			return false;
		}
		p->fill[i] = (uint16_t) string;
	}
	for (unsigned i = 0; i < p->nfill; i++)
		pl->plan->strings[p->fill[i]].filled = true;
	p->kind = ZS_PLAN_TEMPLATE;
	p->number = (uint16_t) number;
	return true;
}

static bool
plan_string(Planner *pl, const StStr *s, int key)
{
	ZsPlan	   *plan = pl->plan;
	ZsPlanned  *p;
	int			number;

	if (plan->n == pl->cap)
		return false;
	p = &plan->planned[plan->n++];
	p->kind = ZS_PLAN_PLAIN;
	number = st_zs_string_number(pl->e->dict, s);
	if (number >= 0)
	{
		p->kind = ZS_PLAN_NUMBER;
		p->number = (uint16_t) number;
	}
	else if (!plan_template(pl, s, key, p) && s->len >= 2 &&
			 s->len <= ZS_MAX_PART)
	{
		number = add_string(plan, s, NULL);
		if (number >= 0)
		{
			p->kind = ZS_PLAN_STRING;
			p->number = (uint16_t) number;
		}
	}
	return true;
}

/* key: the number of the one that the container stands under, or -1. */
static bool
plan_container(Planner *pl, const uint8_t *image, int key)
{
	uint32_t	header = st_load_u32(image);
	uint32_t	n = header & ST_JSONB_COUNT_MASK;
	uint32_t	nkeys = header & ST_JSONB_OBJECT ? n : 0;
	const uint8_t *entries = image + 4;
	const uint8_t *data = entries + 4 * ((size_t) nkeys + n);
	uint32_t	off = 0;
	uint32_t	key_off = 0;

	if (!pl->e->enter(++pl->depth))
		return false;
	for (uint32_t i = 0; i < nkeys; i++)
	{
		ZsChild		skipped;

		zs_next_child(entries, data, i, &off, &skipped);
	}
	for (uint32_t i = 0; i < n; i++)
	{
		ZsChild		child;
		ZsChild		name = {0};
		StStr		s;

		if (nkeys > 0)
			zs_next_child(entries, data, i, &key_off, &name);
		zs_next_child(entries + 4 * (size_t) nkeys, data, i, &off, &child);
		if (child.type != ST_JSONB_STRING && child.type != ST_JSONB_CONTAINER)
			continue;
		if (nkeys > 0)
			key = st_zson_dict_key(pl->e->dict, name.data, name.len);
		s = (StStr) {child.data, child.len};
		if (child.type == ST_JSONB_CONTAINER ?
			!plan_container(pl, child.data, key) :
			!plan_string(pl, &s, key))
			return false;
	}
	pl->depth--;
	return true;
}

/* ---- repeated strings ---- */

void
st_zs_plan_put(const ZsPlan *plan, unsigned i, const StZsonDict *dict,
			   StByteWriter *w)
{
	const ZsPlanString *string = &plan->strings[i];

	if (string->number >= 0)
		st_zs_put_number(w, string->number);
	else if (string->repeat >= SHORT_REPEATS)
	{
		st_write_u8(w, ZS_REPEAT);
		st_write_u8(w, (uint8_t) string->repeat);
	}
	else if (string->repeat >= 0)
		st_write_u8(w, (uint8_t) (ZS_REPEAT0 + string->repeat));
	else
		st_zs_put_string(w, dict, &string->s);
}

/* The strings that occur most often first, in list; returns how many. */
static uint32_t
sort_repeated(const ZsPlan *plan, uint16_t *list)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < plan->nstrings; i++)
	{
		const ZsPlanString *string = &plan->strings[i];
		uint32_t	at;

		if (string->count < 2 || string->number >= 0 || string->s.len < 2)
			continue;
		if (n == ZS_MAX_REPEATS &&
			plan->strings[list[n - 1]].count >= string->count)
			continue;
		if (n < ZS_MAX_REPEATS)
			n++;
		for (at = n - 1; at > 0 &&
			 plan->strings[list[at - 1]].count < string->count; at--)
			list[at] = list[at - 1];
		list[at] = (uint16_t) i;
	}
	return n;
}

/*
 * Writes those that gain: a string of size bytes that stands in count places
 * stands once, and its number in all of them.
 */
static void
choose_repeats(ZsPlan *plan, const StZsonDict *dict, uint8_t *dst)
{
	uint16_t	list[ZS_MAX_REPEATS];
	uint32_t	n = sort_repeated(plan, list);
	int64_t		gain = 0;
	StByteWriter w;

	st_writer_init(&w, dst, ZS_MAX_REPEAT_BYTES);
	for (uint32_t i = 0; i < n; i++)
	{
		ZsPlanString *string = &plan->strings[list[i]];
		uint8_t    *start = w.p;
		int64_t		size;
		int64_t		refs = string->count *
			(plan->nrepeats < SHORT_REPEATS ? 1 : 2);

		st_zs_put_string(&w, dict, &string->s);
		if (w.status != ST_OK)
		{
			/* it does not fit, shorter ones may */
			w.p = start;
			w.status = ST_OK;
			continue;
		}
		size = w.p - start;
		if (size * (string->count - 1) <= refs)
		{
			w.p = start;
			continue;
		}
		gain += size * (string->count - 1) - refs;
		string->repeat = (int16_t) plan->nrepeats++;
	}
	plan->repeats = (StStr) {dst, (uint32_t) (w.p - dst)};
	/* the header grows by the bytes' number */
	if (gain > 2)
		return;
	for (uint32_t i = 0; i < plan->nstrings; i++)
		plan->strings[i].repeat = -1;
	plan->nrepeats = 0;
	plan->repeats.len = 0;
}

StStatus
st_zs_plan(const StZsonEncoding *e, const uint8_t *image, size_t len,
		   uint8_t *scratch, ZsPlan *plan)
{
	Planner		pl = {.e = e,.plan = plan,.cap = (uint32_t) (len / 4 + 1)};
	uint8_t    *p = scratch;

	memset(plan, 0, sizeof(*plan));
	if (e->dict == NULL || !e->dict->find_repeats ||
		len > ZS_PLAN_MAX_IMAGE || (st_load_u32(image) & ST_JSONB_SCALAR))
		return ST_OK;
	plan->made = true;
	plan->strings = (ZsPlanString *) p;
	p += ZS_PLAN_STRINGS * sizeof(ZsPlanString);
	plan->planned = (ZsPlanned *) p;
	p += pl.cap * sizeof(ZsPlanned);
	plan->table = (uint16_t *) p;
	memset(plan->table, 0, TABLE_SIZE * sizeof(uint16_t));
	p += TABLE_SIZE * sizeof(uint16_t);
	if (!plan_container(&pl, image, -1))
		return ST_NOTFIT;
	choose_repeats(plan, e->dict, p);
	return ST_OK;
}
