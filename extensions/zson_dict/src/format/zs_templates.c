/*-------------------------------------------------------------------------
 *
 * zs_templates.c
 *	  Learns templates: forms that strings under a key have in common, like
 *	  https://api.github.com/users/{}/followers.
 *
 * A string is words and what stands between them.  The first walk counts the
 * words under each key.  A word that stands in one of a hundred strings of
 * its key belongs to a form; the others, with what is between two of them,
 * are what differs, a hole.  The second walk counts the forms.
 *
 * Strings with a short form of their own (times, hashes, numbers) are left
 * alone.  Memory is bounded by the counters.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "zs_counter.h"
#include "zs_templates.h"

#define COUNTER_BYTES (16 * 1024 * 1024)

/* Strings that are looked at, bytes. */
#define MIN_STRING (ST_ZSON_TEMPLATE_MIN + 1)
#define MAX_STRING 512

/* Longer words are never part of a form. */
#define MAX_WORD 32

/* A word of a form stands in at least so many strings of its key. */
#define WORD_SHARE 100
#define WORD_MIN 8

/* Strings that have a form, at least. */
#define FORM_MIN 8

/* Every string is tried with all templates of its key. */
#define MAX_PER_KEY 16

#define BUDGET_TEMPLATES 16000

/* Stands for a hole: no JSON string has it. */
#define HOLE '\0'

struct ZsTemplates
{
	const StZsonDict *dict;
	ZsCounter	words;			/* behind the number of their key */
	ZsCounter	forms;			/* likewise */
	uint32	   *nstrings;		/* by key */
};

typedef struct Word
{
	const char *s;
	int			len;
	bool		is_word;		/* else one byte between words */
} Word;

/* ---- walking ---- */

void
zs_walk_scalars(JsonbContainer *jc, int key, const StZsonDict *dict,
				uint32 doc, ZsScalarFunction function, void *arg)
{
	JsonbIterator *it = JsonbIteratorInit(jc);
	JsonbValue	v;
	JsonbIteratorToken token;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = st_zson_dict_key(dict, v.val.string.val, v.val.string.len);
		else if (token != WJB_VALUE && token != WJB_ELEM)
			continue;
		else if (v.type == jbvBinary)
			zs_walk_scalars(v.val.binary.data, key, dict, doc, function, arg);
		else
			function(arg, key, &v, doc);
	}
}

/* ---- words ---- */

static bool
is_word_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c >= 0x80;
}

/* The next word, or the next byte between words; false at the end. */
static bool
next_word(const char **p, const char *end, Word *word)
{
	const char *start = *p;

	if (start == end)
		return false;
	word->is_word = is_word_byte(*start);
	do
		(*p)++;
	while (word->is_word && *p < end && is_word_byte(**p));
	word->s = start;
	word->len = *p - start;
	return true;
}

static bool
is_candidate(int key, const JsonbValue *v)
{
	StStr		s;

	if (key < 0 || v->type != jbvString ||
		v->val.string.len < MIN_STRING || v->val.string.len > MAX_STRING)
		return false;
	s = (StStr) {(const uint8_t *) v->val.string.val, v->val.string.len};
	return !st_zson_has_form(&s);
}

/* The key's number and the bytes: what is counted; returns the length. */
static uint32
keyed(char *dst, int key, const char *s, int len)
{
	uint16		number = (uint16) key;

	memcpy(dst, &number, sizeof(number));
	memcpy(dst + sizeof(number), s, len);
	return len + sizeof(number);
}

void
zs_templates_count_words(void *arg, int key, const JsonbValue *v, uint32 doc)
{
	ZsTemplates *t = arg;
	char		buf[MAX_WORD + sizeof(uint16)];
	const char *p;
	Word		word;

	if (!is_candidate(key, v))
		return;
	t->nstrings[key]++;
	p = v->val.string.val;
	while (next_word(&p, v->val.string.val + v->val.string.len, &word))
	{
		if (word.is_word && word.len <= MAX_WORD)
			zs_counter_add(&t->words, buf,
						   keyed(buf, key, word.s, word.len), doc);
	}
}

static bool
is_frequent(ZsTemplates *t, int key, const Word *word)
{
	char		buf[MAX_WORD + sizeof(uint16)];
	const ZsCount *count;

	if (word->len > MAX_WORD)
		return false;
	count = zs_counter_find(&t->words, buf,
							keyed(buf, key, word->s, word->len));
	return count != NULL &&
		count->count >= Max(WORD_MIN, t->nstrings[key] / WORD_SHARE);
}

/* ---- forms ---- */

/* The string's form; its length, 0 if it has none with one or two holes. */
static int
form_of(ZsTemplates *t, int key, const char *s, int len, char *form)
{
	const char *p = s;
	const char *from = s;		/* what has not been taken into the form */
	char	   *to = form;
	int			nholes = 0;
	bool		behind_hole = false;
	Word		word;

	while (next_word(&p, s + len, &word))
	{
		if (!word.is_word)
			continue;
		if (is_frequent(t, key, &word))
		{
			memcpy(to, from, p - from);
			to += p - from;
			behind_hole = false;
		}
		else if (!behind_hole)
		{
			memcpy(to, from, word.s - from);
			to += word.s - from;
			*to++ = HOLE;
			behind_hole = true;
			if (++nholes > 2)
				return 0;
		}
		from = p;
	}
	memcpy(to, from, s + len - from);
	to += s + len - from;
	if (nholes == 0 || to - form - nholes < ST_ZSON_TEMPLATE_MIN)
		return 0;
	return to - form;
}

void
zs_templates_count_forms(void *arg, int key, const JsonbValue *v, uint32 doc)
{
	ZsTemplates *t = arg;
	char		form[MAX_STRING + 2];
	char		buf[sizeof(form) + sizeof(uint16)];
	int			len;

	if (!is_candidate(key, v))
		return;
	len = form_of(t, key, v->val.string.val, v->val.string.len, form);
	if (len > 0)
		zs_counter_add(&t->forms, buf, keyed(buf, key, form, len), doc);
}

/* ---- choice ---- */

/* A form under a key. */
typedef struct Form
{
	StStr		s;
	uint16		key;
	uint32		fixed;			/* bytes beside the holes */
	double		gain;
} Form;

/* The string would take about half of its bytes, and two more now. */
static void
read_form(const ZsCount *count, Form *form)
{
	uint32		nholes = 0;

	memcpy(&form->key, count->s.data, sizeof(uint16));
	form->s = (StStr) {count->s.data + sizeof(uint16),
	count->s.len - sizeof(uint16)};
	for (uint32 i = 0; i < form->s.len; i++)
		nholes += form->s.data[i] == HOLE;
	form->fixed = form->s.len - nholes;
	form->gain = count->count * (form->fixed * 0.5 - 1 - nholes);
}

static int
by_gain(const void *a, const void *b)
{
	const Form *x = a;
	const Form *y = b;

	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) :
		st_zson_key_compare(&x->s, &y->s);
}

/* By key; what says more about the string is tried first. */
static int
by_key(const void *a, const void *b)
{
	const Form *x = a;
	const Form *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->fixed != y->fixed)
		return x->fixed > y->fixed ? -1 : 1;
	return st_zson_key_compare(&x->s, &y->s);
}

static void
set_template(StZsonTemplate *template, const StStr *form)
{
	uint32		from = 0;

	template->nholes = 0;
	for (uint32 i = 0; i <= form->len; i++)
	{
		if (i < form->len && form->data[i] != HOLE)
			continue;
		template->parts[template->nholes++] = (StStr) {form->data + from,
		i - from};
		from = i + 1;
	}
	template->nholes--;
}

/* Forms that save something, the best ones first. */
static Form *
useful_forms(ZsTemplates *t, uint32 *n)
{
	Form	   *forms = palloc((t->forms.n + 1) * sizeof(Form));

	*n = 0;
	for (uint32 i = 0; i < t->forms.n; i++)
	{
		if (t->forms.entries[i].count < FORM_MIN)
			continue;
		read_form(&t->forms.entries[i], &forms[*n]);
		if (forms[*n].gain > 0)
			(*n)++;
	}
	qsort(forms, *n, sizeof(Form), by_gain);
	return forms;
}

double
zs_templates_choose(ZsTemplates *t, StZsonParts *parts)
{
	uint32		n;
	Form	   *forms = useful_forms(t, &n);
	StZsonTemplate *templates = palloc(ST_ZSON_MAX_TEMPLATES *
									   sizeof(StZsonTemplate));
	StZsonKeyTemplate *keys = palloc((n + 1) * sizeof(StZsonKeyTemplate));
	uint8	   *nkey = palloc0(t->dict->nkeys + 1);
	ZsCounter	different;
	uint32		kept = 0;
	uint32		bytes = 0;
	double		gain = 0;

	zs_counter_init(&different, COUNTER_BYTES);
	for (uint32 i = 0; i < n && kept < ST_ZSON_MAX_KEY_TEMPLATES; i++)
	{
		Form	   *form = &forms[i];
		const ZsCount *known = zs_counter_find(&different, form->s.data,
											   form->s.len);

		if (nkey[form->key] == MAX_PER_KEY ||
			(known == NULL &&
			 (different.n == ST_ZSON_MAX_TEMPLATES ||
			  bytes + form->s.len > BUDGET_TEMPLATES)))
			continue;
		if (known == NULL)
		{
			set_template(&templates[different.n], &form->s);
			bytes += form->s.len;
			zs_counter_add(&different, form->s.data, form->s.len, 0);
		}
		nkey[form->key]++;
		gain += form->gain;
		forms[kept++] = *form;
	}
	qsort(forms, kept, sizeof(Form), by_key);
	for (uint32 i = 0; i < kept; i++)
	{
		const ZsCount *known = zs_counter_find(&different, forms[i].s.data,
											   forms[i].s.len);

		keys[i] = (StZsonKeyTemplate) {forms[i].key,
		(uint16) (known - different.entries)};
	}
	parts->templates = templates;
	parts->ntemplates = different.n;
	parts->key_templates = keys;
	parts->nkey_templates = kept;
	return gain;
}

/* ---- beginning ---- */

ZsTemplates *
zs_templates_begin(const StZsonDict *dict)
{
	ZsTemplates *t = palloc0(sizeof(ZsTemplates));

	t->dict = dict;
	zs_counter_init(&t->words, COUNTER_BYTES);
	zs_counter_init(&t->forms, COUNTER_BYTES);
	t->nstrings = palloc0((dict->nkeys + 1) * sizeof(uint32));
	return t;
}
