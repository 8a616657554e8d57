/*-------------------------------------------------------------------------
 *
 * vx_agg_group.c
 *	  From the keys of rows to numbers of groups.
 *
 * Every key of a row becomes a word of 64 bits: integers and what is ordered
 * like them are the word themselves, other values are numbered
 * (vx_intern.c).  A group is found by its words, and a mask of the keys
 * that are null, in a hash table (vx_agg_table.c).
 *
 * Most rows never get there.  Where the keys of a row group have few
 * combinations (codes of dictionaries, integers of a small range according to
 * the zones) a row's combination is an index into the direct table, which
 * holds the group's number; only the first row of a combination asks the hash
 * table.  The direct table is made anew for every row group whose
 * dictionaries differ, and kept when all keys are integers in its range.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "vx_agg.h"
#include "st_numeric.h"

/* Combinations that the direct table takes at most. */
#define MAX_DIRECT		((uint64) 256 * 1024)

VxGroups *
vx_groups_create(VxAggState *state, int nkeys, Size state_bytes)
{
	VxGroups   *groups = palloc0(sizeof(VxGroups));

	groups->mcxt = state->mcxt;
	groups->nkeys = nkeys;
	groups->keys = palloc0(sizeof(VxAggKey) * (nkeys + 1));
	groups->width = nkeys + 1;
	groups->state_bytes = state_bytes;
	groups->stride = state_bytes + (nkeys > 0 ? sizeof(uint64) * groups->width : 0);
	/* with partitions, there will be several tables */
	groups->expected = state->mode == VX_AGG_SHARED ? 0 : state->css.ss.ps.plan->plan_rows;
	groups->initial = palloc0(groups->stride);
	if (nkeys > 0)
		groups->batch_words = palloc(sizeof(uint64) * groups->width * ST_VECTOR_SIZE);
	return groups;
}

void
vx_groups_reset(VxGroups *groups)
{
	vx_table_reset(groups);
	groups->direct = NULL;
	groups->ndirect = 0;
	groups->direct_capacity = 0;
	groups->direct_group = 0;
	groups->direct_failed = false;
	for (int i = 0; i < groups->nkeys; i++)
		vx_key_reset(&groups->keys[i]);
}

static void
init_key(VxAggState *state, VxAggKey *key, int input, Oid eqop, MemoryContext mcxt)
{
	Expr	   *expr = state->inputs[input].expr;
	Oid			type = exprType((Node *) expr);
	Oid			collation = exprCollation((Node *) expr);

	key->input = input;
	key->integer = vx_is_integer_key(type, eqop);
	if (!key->integer)
		key->intern = vx_intern_create(mcxt, type, eqop, collation,
									   vx_is_bytes_key(type, eqop, collation));
}

void
vx_key_init(VxAggState *state, VxAggKey *key, int input, Oid eqop)
{
	init_key(state, key, input, eqop, state->keys_mcxt);
}

void
vx_key_copy(VxAggState *state, VxAggKey *key, const VxAggKey *from, Oid eqop,
			MemoryContext mcxt)
{
	init_key(state, key, from->input, eqop, mcxt);
}

void
vx_key_reset(VxAggKey *key)
{
	key->codes = (VxCodeWords) {0};
	key->decimals = NULL;
	key->size = 0;
	if (key->intern)
		vx_intern_reset(key->intern);
}

/* ---- words ---- */

#define DECIMAL_WORD_BITS	10

typedef struct VxDecimalWord
{
	int64		value;
	uint32		word;			/* VX_NO_WORD: free */
} VxDecimalWord;

/* Where the word of a decimal stands, if it was looked for lately. */
static VxDecimalWord *
decimal_word(VxAggState *state, VxAggKey *key, int64 value, int scale)
{
	Size		size = sizeof(VxDecimalWord) << DECIMAL_WORD_BITS;

	if (key->decimals == NULL || key->decimal_scale != scale)
	{
		if (key->decimals == NULL)
			key->decimals = MemoryContextAlloc(state->groups->mcxt, size);
		memset(key->decimals, 0xFF, size);
		key->decimal_scale = scale;
	}
	return &key->decimals[(uint64) value * UINT64CONST(0x9E3779B97F4A7C15) >>
						  (64 - DECIMAL_WORD_BITS)];
}

/* A numeric is made and looked for only if the decimal is not one of these. */
static uint32
number_of_decimal(VxAggState *state, VxAggKey *key, const VxVector *v, int row, bool add)
{
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);
	VxDecimalWord *known = decimal_word(state, key, v->u.i64[row], v->scale);
	uint32		word;

	if (known->word != VX_NO_WORD && known->value == v->u.i64[row])
		return known->word;
	word = vx_intern(key->intern, vx_vector_datum_in(v, row, buffer), add);
	if (word != VX_NO_WORD)
	{
		known->value = v->u.i64[row];
		known->word = word;
	}
	return word;
}

/* Makes room for the words of a dictionary, which may have grown. */
static void
grow_code_words(VxCodeWords *words, MemoryContext mcxt)
{
	uint32		capacity = Max(words->dict->nvalues, 16);
	uint32	   *grown;

	if (words->capacity > 0)
		capacity *= 2;
	grown = MemoryContextAllocHuge(mcxt, sizeof(uint32) * capacity);
	memset(grown, 0xFF, sizeof(uint32) * capacity);
	if (words->words)
	{
		memcpy(grown, words->words, sizeof(uint32) * words->capacity);
		pfree(words->words);
	}
	words->words = grown;
	words->capacity = capacity;
}

uint32 *
vx_code_word(VxCodeWords *words, MemoryContext mcxt, uint64 group, const VxDictionary *dict,
			 uint32 code)
{
	if (words->dict != dict || words->made != dict->made || words->group != group)
	{
		if (words->words)
			pfree(words->words);
		*words = (VxCodeWords) {.group = group, .dict = dict, .made = dict->made};
	}
	if (code >= words->capacity)
		grow_code_words(words, mcxt);
	return &words->words[code];
}

/*
 * Number of a dictionary's value, asked for once per row group; VX_NO_WORD
 * if it is new and not to be added.
 */
static uint32
code_word(VxAggState *state, VxAggKey *key, const VxVector *v, uint32 code, bool add)
{
	uint32	   *word = vx_code_word(&key->codes, state->groups->mcxt, state->producer->group,
									v->dict, code);

	if (*word == VX_NO_WORD)
		*word = vx_intern(key->intern, v->dict->values[code], add);
	return *word;
}

bool
vx_key_word(VxAggState *state, VxAggKey *key, const VxVector *v, int row, bool add,
			uint64 *word)
{
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);
	uint32		number;

	if (key->integer)
	{
		*word = v->u.i64[row];
		return true;
	}
	if (v->rep == VX_REP_CODE && state->producer != NULL)
		number = code_word(state, key, v, v->u.code[row], add);
	else if (v->rep == VX_REP_DECIMAL64)
		number = number_of_decimal(state, key, v, row, add);
	else
		number = vx_intern(key->intern, vx_vector_datum_in(v, row, buffer), add);
	*word = number;
	return number != VX_NO_WORD;
}

/*
 * Words of a row's keys, then the mask of those that are null.  False if a
 * value is new, so that there is no such group, and not to be added.
 */
static bool
row_words(VxAggState *state, int row, bool add, uint64 *words)
{
	VxGroups   *groups = state->groups;
	uint64		nulls = 0;

	for (int k = 0; k < groups->nkeys; k++)
	{
		VxAggKey   *key = &groups->keys[k];
		const VxVector *v = vx_agg_vector(state, key->input);

		words[k] = 0;
		if (vx_vector_isnull(v, row))
			nulls |= UINT64CONST(1) << k;
		else if (!vx_key_word(state, key, v, row, add, &words[k]))
			return false;
	}
	words[groups->nkeys] = nulls;
	return true;
}

static inline uint64
mix(uint64 hash, uint64 word)
{
	hash = (hash ^ word) * UINT64CONST(0x9E3779B97F4A7C15);
	return hash ^ hash >> 32;
}

static inline uint64
finish_hash(uint64 hash)
{
	return hash * UINT64CONST(0xD6E8FEB86659FD93);
}

uint64
vx_group_hash(const VxGroups *groups, uint32 gid)
{
	uint64		hash = 0;

	for (int k = 0; k < groups->nkeys; k++)
	{
		const VxAggKey *key = &groups->keys[k];
		uint64		word = vx_group_words(groups, gid)[k];
		bool		isnull = (vx_group_words(groups, gid)[groups->nkeys] &
							  (UINT64CONST(1) << k)) != 0;

		hash = mix(hash, isnull ? 0 : key->integer ? word :
				   vx_intern_hash(key->intern, vx_intern_value(key->intern, word)));
	}
	return finish_hash(hash);
}

uint64
vx_groups_hash(VxAggState *state, int row)
{
	VxGroups   *groups = state->groups;
	char		buffer[ST_NUMERIC_MAX_BYTES] pg_attribute_aligned(MAXIMUM_ALIGNOF);
	uint64		hash = 0;

	for (int k = 0; k < groups->nkeys; k++)
	{
		VxAggKey   *key = &groups->keys[k];
		const VxVector *v = vx_agg_vector(state, key->input);
		uint64		word = 0;

		if (!vx_vector_isnull(v, row))
			word = key->integer ? (uint64) v->u.i64[row] :
				vx_intern_hash(key->intern, vx_vector_datum_in(v, row, buffer));
		hash = mix(hash, word);
	}
	return finish_hash(hash);
}

static uint32
group_of_row(VxAggState *state, int row)
{
	uint64		words[64];

	if (!row_words(state, row, !state->groups->full, words))
		return VX_NO_GROUP;
	return vx_groups_find(state->groups, words);
}

/* Of rows that are not null, in a dictionary. */
static void
code_words(VxAggState *state, VxAggKey *key, const VxVector *v, const uint16 *rows, int n,
		   bool add, uint64 *words, int width)
{
	if (n == 0)
		return;
	/* the first one sees to it that key->codes are this dictionary's */
	words[0] = code_word(state, key, v, v->u.code[rows[0]], add);
	for (int i = 1; i < n; i++)
	{
		uint32		code = v->u.code[rows[i]];
		uint32		word = code < key->codes.capacity ? key->codes.words[code] : VX_NO_WORD;

		words[(Size) i * width] = word != VX_NO_WORD ? word :
			code_word(state, key, v, code, add);
	}
}

void
vx_key_words(VxAggState *state, VxAggKey *key, const VxVector *v, const uint16 *rows, int n,
			 bool add, uint64 *words, int width)
{
	Datum		values[ST_VECTOR_SIZE];
	uint32		numbers[ST_VECTOR_SIZE];
	uint16		at[ST_VECTOR_SIZE];
	int			nvalues = 0;

	if (key->integer && !v->has_nulls)
	{
		for (int i = 0; i < n; i++)
			words[(Size) i * width] = v->u.i64[rows[i]];
		return;
	}
	if (v->rep == VX_REP_CODE && !v->has_nulls && state->producer != NULL)
	{
		code_words(state, key, v, rows, n, add, words, width);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		uint64	   *word = &words[(Size) i * width];

		*word = 0;
		if (vx_vector_isnull(v, rows[i]))
			continue;
		if (v->rep == VX_REP_DATUM)
		{
			values[nvalues] = v->u.datum[rows[i]];
			at[nvalues++] = i;
		}
		else
			(void) vx_key_word(state, key, v, rows[i], add, word);
	}
	if (nvalues == 0)
		return;
	vx_intern_many(key->intern, values, nvalues, add, numbers);
	for (int i = 0; i < nvalues; i++)
		words[(Size) at[i] * width] = numbers[i];
}

/* Words of a key of n rows, and which of them are null, into every width'th place. */
static void
fill_words(VxAggState *state, int k, const uint16 *rows, int n, bool add, uint64 *words)
{
	VxGroups   *groups = state->groups;
	const VxVector *v = vx_agg_vector(state, groups->keys[k].input);

	vx_key_words(state, &groups->keys[k], v, rows, n, add, words + k, groups->width);
	if (!v->has_nulls)
		return;
	for (int i = 0; i < n; i++)
		if (vx_vector_isnull(v, rows[i]))
			words[(Size) i * groups->width + groups->nkeys] |= UINT64CONST(1) << k;
}

/* Groups that are new are made, or if they are not to be added, rows have none. */
static void
assign_many(VxAggState *state, const uint16 *rows, int n, bool add)
{
	VxGroups   *groups = state->groups;

	for (int i = 0; i < n; i++)
		groups->batch_words[(Size) i * groups->width + groups->nkeys] = 0;
	for (int k = 0; k < groups->nkeys; k++)
		fill_words(state, k, rows, n, add, groups->batch_words);
	vx_groups_find_many(groups, groups->batch_words, n, add, groups->gids);
}

/* ---- the direct table ---- */

/* Least and greatest value of an integer key in the row group at hand. */
static bool
zone_range(VxAggState *state, const VxAggInput *input, int64 *lo, int64 *hi)
{
	StZone		zone;

	/* columns of paths have numbers behind the table's, and no zones */
	if (input->attno == InvalidAttrNumber ||
		input->attno > state->desc->natts ||
		!vx_format->zone(state->batch->reader, input->attno, -1, &zone))
		return false;
	*lo = *hi = 0;
	if (zone.nnulls == zone.nrows)
		return true;
	if (!zone.has_minmax)
		return false;
	*lo = vx_datum_to_int(input->type, input->typlen, zone.min);
	*hi = vx_datum_to_int(input->type, input->typlen, zone.max);
	return *lo <= *hi;
}

/*
 * Range of local numbers of an integer key.  The range of the row groups
 * before is kept if it is wide enough.
 */
static bool
integer_range(VxAggState *state, VxAggKey *key, bool *changed)
{
	int64		lo;
	int64		hi;

	if (!zone_range(state, &state->inputs[key->input], &lo, &hi))
		return false;
	if (key->size > 0)
	{
		int64		last = key->base + (int64) (key->size - 2);

		if (lo >= key->base && hi <= last)
			return true;
		lo = Min(lo, key->base);
		hi = Max(hi, last);
	}
	if ((uint64) hi - (uint64) lo >= MAX_DIRECT)
		return false;
	key->base = lo;
	key->size = (uint64) hi - (uint64) lo + 2;
	*changed = true;
	return true;
}

/*
 * Sets up the direct table for the row group at hand.  False if its keys
 * have too many combinations, or values that have no local numbers.
 */
static bool
prepare_direct(VxAggState *state)
{
	VxGroups   *groups = state->groups;
	bool		changed = groups->ndirect == 0;
	uint64		product = 1;

	for (int k = 0; k < groups->nkeys; k++)
	{
		VxAggKey   *key = &groups->keys[k];

		if (key->integer)
		{
			key->is_code = false;
			if (!integer_range(state, key, &changed))
				return false;
		}
		else
		{
			const VxVector *v = vx_agg_vector(state, key->input);

			if (v->rep != VX_REP_CODE)
				return false;
			key->is_code = true;
			key->direct_dict = v->dict;
			key->direct_made = v->dict->made;
			/* A dictionary of an expression grows as values come up. */
			key->size = (uint64) v->dict->nvalues + 1;
			if (state->inputs[key->input].attno == InvalidAttrNumber || v->dict->capacity > 0)
				key->size += v->dict->nvalues + 14;
			changed = true;
		}
		product *= key->size;
		if (product > MAX_DIRECT)
			return false;
	}
	if (!changed)
		return true;

	if (product > groups->direct_capacity)
	{
		if (groups->direct)
			pfree(groups->direct);
		groups->direct = MemoryContextAlloc(groups->mcxt, sizeof(uint32) * product);
		groups->direct_capacity = product;
	}
	groups->ndirect = product;
	memset(groups->direct, 0xFF, sizeof(uint32) * product);
	return true;
}

/*
 * Adds a key's local numbers to the indexes of n rows.  What a vector holds
 * at rows that are null or not selected may be anything.  False if a value is
 * out of the key's range, or codes are another dictionary's: a path in
 * documents may hold strings in one vector, booleans in the next.
 */
static bool
add_local_numbers(const VxAggKey *key, const VxVector *v, const uint16 *rows, int n,
				  bool first, uint32 *index)
{
	uint32		size = key->size;
	uint64		null = size - 1;

	if (key->is_code && (v->rep != VX_REP_CODE || v->dict != key->direct_dict ||
						 v->dict->made != key->direct_made))
		return false;
	if (!v->has_nulls)
		return key->is_code ?
			vx_agg_index_code(v->u.code, rows, n, null, size, first, index) :
			vx_agg_index_int64(v->u.i64, rows, n, key->base, null, size, first, index);

	for (int i = 0; i < n; i++)
	{
		int			row = rows ? rows[i] : i;
		uint64		local = null;

		if (!vx_vector_isnull(v, row))
		{
			local = key->is_code ? v->u.code[row] :
				(uint64) v->u.i64[row] - (uint64) key->base;
			if (local >= null)
				return false;
		}
		index[i] = (first ? 0 : index[i] * size) + (uint32) local;
	}
	return true;
}

static bool
assign_directly(VxAggState *state, const uint16 *rows, int n)
{
	VxGroups   *groups = state->groups;
	const uint16 *selected = n == state->batch->nrows ? NULL : rows;
	uint32		index[ST_VECTOR_SIZE];

	for (int k = 0; k < groups->nkeys; k++)
		if (!add_local_numbers(&groups->keys[k],
							   vx_agg_vector(state, groups->keys[k].input),
							   selected, n, k == 0, index))
			return false;

	if (vx_agg_lookup(groups->direct, index, n, groups->gids))
		return true;
	for (int i = 0; i < n; i++)
	{
		uint32	   *entry = &groups->direct[index[i]];

		if (*entry == VX_NO_GROUP)
			*entry = group_of_row(state, rows[i]);
		groups->gids[i] = *entry;
	}
	return true;
}

static void
assign(VxAggState *state, const uint16 *rows, int n)
{
	VxGroups   *groups = state->groups;

	if (state->batch->reader != NULL)
	{
		uint64		nopened = state->scan->source->nopened;

		if (groups->direct_group != nopened)
		{
			groups->direct_group = nopened;
			groups->direct_failed = !prepare_direct(state);
		}
		if (!groups->direct_failed)
		{
			if (assign_directly(state, rows, n))
				return;
			/* A dictionary has grown, or a column changed its form. */
			groups->direct_failed = !prepare_direct(state) ||
				!assign_directly(state, rows, n);
			if (!groups->direct_failed)
				return;
		}
		groups->ndirect = 0;
	}
	assign_many(state, rows, n, !groups->full);
}

/*
 * Rows without a group leave: to disk, if there is no memory for new groups, as
 * theirs may be there.
 */
static int
keep_grouped(VxAggState *state, uint16 *rows, int n)
{
	VxGroups   *groups = state->groups;
	int			kept = 0;

	for (int i = 0; i < n; i++)
	{
		uint16		row = rows[i];

		if (groups->gids[i] != VX_NO_GROUP)
		{
			groups->gids[kept] = groups->gids[i];
			rows[kept++] = row;
		}
		else if (groups->full)
			vx_spill_row(state, row, vx_groups_hash(state, row));
	}
	return kept;
}

int
vx_groups_assign(VxAggState *state, uint16 *rows, int n)
{
	assign(state, rows, n);
	return state->groups->full ? keep_grouped(state, rows, n) : n;
}

int
vx_groups_assign_known(VxAggState *state, uint16 *rows, int n)
{
	assign_many(state, rows, n, false);
	return keep_grouped(state, rows, n);
}

Datum
vx_group_key(VxGroups *groups, uint32 gid, int k, bool *isnull)
{
	const uint64 *words = vx_group_words(groups, gid);
	const VxAggKey *key = &groups->keys[k];

	*isnull = (words[groups->nkeys] & (UINT64CONST(1) << k)) != 0;
	if (*isnull)
		return (Datum) 0;
	return key->integer ? (Datum) words[k] : vx_intern_value(key->intern, words[k]);
}
