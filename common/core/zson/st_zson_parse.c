/*-------------------------------------------------------------------------
 *
 * st_zson_parse.c
 *	  From JSON text to jsonb's binary image, for the texts that people have.
 *
 * The server's parser makes a token, a string and a tree node of each value
 * before it writes the image; most of the time of an INSERT goes there.  Here
 * the text is read once into an array of nodes, then the image is written
 * from it.  Whatever is unusual (\u, exponents, more digits than an int64
 * has, deep nesting, scalars alone) and every fault is ST_NOTFIT: the server's
 * parser is to read the text, and gives its result or its error.  So what is
 * JSON is decided there, and this file accepts a part of it only.
 *
 * The text is of the server's encoding, all of whose ASCII bytes are ASCII
 * characters.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "st_zson_format.h"

/* Levels of nesting; the stack of each is small. */
#define MAX_DEPTH 64

/* Digits that always fit into an int64. */
#define MAX_DIGITS 18

/* Objects of more keys are sorted by qsort(). */
#define INSERTION_KEYS 24

typedef struct Node
{
	const uint8_t *p;			/* string */
	int64_t		num;			/* number, without its point */
	uint32_t	len;			/* of the string; of a container: members */
	uint32_t	end;			/* number of the node behind it */
	uint32_t	type;			/* StJsonbType */
	bool		object;
	uint8_t		scale;
} Node;

typedef struct Parser
{
	const uint8_t *p;
	const uint8_t *end;
	Node	   *nodes;
	uint32_t	n;
	uint32_t	max;
	uint8_t    *side;			/* strings that had escapes */
	int			depth;
	/* writing */
	const Node **order;			/* a stack of keys */
	StJsonbWriter out;
} Parser;

/* A value takes two bytes of text, with what stands between it and the next. */
#define MAX_NODES(len) ((len) / 2 + 2)

/* An entry and a number of one digit take 12 bytes. */
#define IMAGE_BOUND(len) (8 * (len) + 64)

size_t
st_zson_parse_bound(size_t len)
{
	return IMAGE_BOUND(len) + MAX_NODES(len) * sizeof(Node) +
		MAX_NODES(len) * sizeof(Node *) + len + 64;
}

/* ---- reading ---- */

static inline void
skip_space(Parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' ||
							 *s->p == '\r'))
		s->p++;
}

/* The next character that is not space; 0 at the end. */
static inline int
peek(Parser *s)
{
	if (st_likely(s->p < s->end && *s->p > ' '))
		return *s->p;
	skip_space(s);
	return s->p < s->end ? *s->p : 0;
}

static inline Node *
new_node(Parser *s, uint32_t type)
{
	Node	   *node;

	if (st_unlikely(s->n >= s->max))
		return NULL;
	node = &s->nodes[s->n++];
	node->type = type;
	node->len = 0;
	node->end = s->n;
	return node;
}

/* What \c stands for, 0 if it is not one of the simple ones. */
static int
escaped(int c)
{
	switch (c)
	{
		case '"':
		case '\\':
		case '/':
			return c;
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		default:
			return 0;
	}
}

/* The rest of a string that has escapes: it is put together in side. */
static __attribute__((noinline)) bool
read_escapes(Parser *s, Node *node, const uint8_t *from)
{
	uint8_t    *out = s->side;

	node->p = out;
	for (;;)
	{
		int			c;

		memcpy(out, from, (size_t) (s->p - from));
		out += s->p - from;
		if (s->p >= s->end || *s->p < 0x20)
			return false;
		if (*s->p == '"')
			break;
		if (s->end - s->p < 2 || (c = escaped(s->p[1])) == 0)
			return false;
		*out++ = (uint8_t) c;
		from = s->p + 2;
		s->p = from + st_zson_plain_bytes(from, (size_t) (s->end - from));
	}
	s->p++;
	node->len = (uint32_t) (out - s->side);
	s->side = out;
	return true;
}

static inline bool
read_string(Parser *s)
{
	Node	   *node = new_node(s, ST_JSONB_STRING);
	const uint8_t *from = ++s->p;

	if (node == NULL)
		return false;
	s->p = from + st_zson_plain_bytes(from, (size_t) (s->end - from));
	if (st_unlikely(s->p >= s->end || *s->p != '"'))
		return read_escapes(s, node, from);
	node->p = from;
	node->len = (uint32_t) (s->p - from);
	s->p++;
	return true;
}

static bool
read_number(Parser *s)
{
	Node	   *node = new_node(s, ST_JSONB_NUMERIC);
	const uint8_t *p = s->p;
	bool		negative = *p == '-';
	const uint8_t *first;
	const uint8_t *point = NULL;
	uint64_t	v = 0;
	int			digits;

	if (node == NULL)
		return false;
	p += negative;
	first = p;
	/* 19 digits at most, which fit */
	for (; p < s->end && p - first <= MAX_DIGITS; p++)
	{
		unsigned	d = *p - (unsigned) '0';

		if (d <= 9)
			v = v * 10 + d;
		else if (*p == '.' && point == NULL)
			point = p;
		else
			break;
	}
	digits = (int) (p - first) - (point != NULL);
	node->scale = point != NULL ? (uint8_t) (p - point - 1) : 0;
	if (digits < 1 || digits > MAX_DIGITS || point == first ||
		(point != NULL && node->scale == 0) ||
		(*first == '0' && digits > 1 && point != first + 1) ||
		(negative && v == 0))
		return false;
	if (p < s->end && (*p == 'e' || *p == 'E' || *p == '.' ||
					   (*p >= '0' && *p <= '9')))
		return false;
	node->num = negative ? -(int64_t) v : (int64_t) v;
	s->p = p;
	return true;
}

static bool
read_word(Parser *s, const char *word, size_t len, uint32_t type)
{
	if ((size_t) (s->end - s->p) < len || memcmp(s->p, word, len) != 0)
		return false;
	s->p += len;
	return new_node(s, type) != NULL;
}

static bool read_container(Parser *s, bool object);

/* A value whose first character is c. */
static inline bool
read_value(Parser *s, int c)
{
	switch (c)
	{
		case '"':
			return read_string(s);
		case '{':
			return read_container(s, true);
		case '[':
			return read_container(s, false);
		case 't':
			return read_word(s, "true", 4, ST_JSONB_TRUE);
		case 'f':
			return read_word(s, "false", 5, ST_JSONB_FALSE);
		case 'n':
			return read_word(s, "null", 4, ST_JSONB_NULL);
		default:
			if (c == '-' || (c >= '0' && c <= '9'))
				return read_number(s);
			return false;
	}
}

static bool
read_container(Parser *s, bool object)
{
	Node	   *node = new_node(s, ST_JSONB_CONTAINER);
	int			close = object ? '}' : ']';
	uint32_t	members = 0;
	int			c;

	if (node == NULL || ++s->depth > MAX_DEPTH)
		return false;
	node->object = object;
	s->p++;
	c = peek(s);
	while (c != close || members > 0)
	{
		if (object)
		{
			if (c != '"' || !read_string(s) || peek(s) != ':')
				return false;
			s->p++;
			c = peek(s);
		}
		if (!read_value(s, c))
			return false;
		members++;
		c = peek(s);
		if (c == close)
			break;
		if (c != ',')
			return false;
		s->p++;
		c = peek(s);
	}
	s->p++;
	s->depth--;
	node->len = members;
	node->end = s->n;
	return true;
}

/* ---- writing ---- */

static inline int
compare_nodes(const Node *a, const Node *b)
{
	int			c;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	c = memcmp(a->p, b->p, a->len);
	if (c != 0)
		return c;
	/* of several, the last one counts: it comes first */
	return a > b ? -1 : a < b;
}

static int
compare_keys(const void *a, const void *b)
{
	return compare_nodes(*(const Node *const *) a, *(const Node *const *) b);
}

/* Sorts keys and drops all but the last of equal ones; how many are left. */
static uint32_t
sort_keys(const Node **keys, uint32_t n)
{
	uint32_t	kept = 0;

	if (n <= INSERTION_KEYS)
	{
		for (uint32_t i = 1; i < n; i++)
		{
			const Node *key = keys[i];
			uint32_t	k = i;

			for (; k > 0 && compare_nodes(keys[k - 1], key) > 0; k--)
				keys[k] = keys[k - 1];
			keys[k] = key;
		}
	}
	else
		qsort(keys, n, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < n; i++)
	{
		if (kept == 0 || keys[kept - 1]->len != keys[i]->len ||
			memcmp(keys[kept - 1]->p, keys[i]->p, keys[i]->len) != 0)
			keys[kept++] = keys[i];
	}
	return kept;
}

static void write_container(Parser *s, const Node *node);

/* Writes a value as the next child of b. */
static inline void
write_node(Parser *s, StJsonbBuild *b, const Node *node)
{
	StJsonbWriter *w = &s->out;
	size_t		from = w->len;

	if (node->type == ST_JSONB_NUMERIC)
	{
		uint8_t    *to;
		size_t		n;

		st_jsonb_pad(w);
		if (!st_jsonb_room(w, 4 + ST_ZSON_NUMERIC_MAX))
			return;
		to = w->buf + w->len;
		n = 4 + st_zson_numeric_write(node->num, node->scale, to + 4);
		st_store_u32(to, (uint32_t) n << 2);
		w->len += n;
	}
	else if (node->type == ST_JSONB_CONTAINER)
		write_container(s, node);
	else
	{
		st_jsonb_put(w, b, node->type, node->p, node->len);
		return;
	}
	st_jsonb_entry(w, b, node->type, from);
}

/* Keys of an object, from the stack's top on; how many there are. */
static uint32_t
collect_keys(Parser *s, const Node *node)
{
	uint32_t	at = (uint32_t) (node - s->nodes) + 1;
	bool		sorted = true;

	for (uint32_t i = 0; i < node->len; i++)
	{
		s->order[i] = &s->nodes[at];
		/* equal ones compare as not sorted */
		sorted = sorted &&
			(i == 0 || compare_nodes(s->order[i - 1], s->order[i]) < 0);
		at = s->nodes[at + 1].end;
	}
	return sorted ? node->len : sort_keys(s->order, node->len);
}

static void
write_container(Parser *s, const Node *node)
{
	const Node **keys = s->order;
	uint32_t	n = node->object ? collect_keys(s, node) : node->len;
	const Node *member = node + 1;
	StJsonbBuild b;

	st_jsonb_begin(&s->out, &b, node->object ? ST_JSONB_OBJECT : ST_JSONB_ARRAY,
				   n);
	if (node->object)
	{
		for (uint32_t i = 0; i < n; i++)
			write_node(s, &b, keys[i]);
		s->order = keys + n;
		for (uint32_t i = 0; i < n; i++)
			write_node(s, &b, keys[i] + 1);
		s->order = keys;
		return;
	}
	for (uint32_t i = 0; i < n; i++, member = &s->nodes[member->end])
		write_node(s, &b, member);
}

StStatus
st_zson_parse(const uint8_t *text, size_t len, void *work, size_t cap,
			  const uint8_t **image, size_t *outlen)
{
	uint8_t    *at = work;
	Parser		s = {.p = text,.end = text + len};
	int			c;

	if (len > ST_ZSON_PARSE_MAX || cap < st_zson_parse_bound(len) ||
		(uintptr_t) work % sizeof(void *) != 0)
		return ST_NOTFIT;
	s.max = (uint32_t) MAX_NODES(len);
	s.nodes = (Node *) at;
	at += s.max * sizeof(Node);
	s.order = (const Node **) at;
	at += s.max * sizeof(Node *);
	st_jsonb_writer_init(&s.out, at, IMAGE_BOUND(len));
	s.side = at + IMAGE_BOUND(len);
	c = peek(&s);
	if ((c != '{' && c != '[') || !read_value(&s, c) || peek(&s) != 0 ||
		s.p < s.end)
		return ST_NOTFIT;
	write_container(&s, s.nodes);
	*image = s.out.buf;
	*outlen = s.out.len;
	return s.out.status == ST_OK ? ST_OK : ST_NOTFIT;
}
