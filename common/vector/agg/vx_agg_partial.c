/*-------------------------------------------------------------------------
 *
 * vx_agg_partial.c
 *	  States of groups on their way between participants of a parallel plan.
 *
 * A participant returns, instead of groups, rows of one bytea each that hold
 * the states of many:
 *
 *		header | scale of each transition
 *		records of all groups, with the words of their keys
 *		per group: keys that are no integers
 *		per group: slow parts of numerics, values of DISTINCT and percentiles, states
 *		of the server's aggregates
 *
 * Records are copied as they stand in memory, since leader and workers run the
 * same library; where all keys are integers, that is all there is.  The words of
 * other keys mean nothing to the reader, who numbers values in its own way.
 * The same goes to disk where a final node has no memory for all groups
 * (vx_agg_state_parts.c), and to partitions (vx_agg_shared.c).
 *
 * Groups without keys come from every participant, with the states of no rows
 * if it had none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_agg.h"

/* A bytea is sent when it has so many bytes. */
#define CHUNK_BYTES		(32 * 1024)

typedef struct Header
{
	uint32		varlena;		/* length of it all */
	uint32		n;				/* groups */
	Size		keys_bytes;		/* behind the records, */
	Size		slow_bytes;		/* and behind those */
} Header;

static bool
is_numeric(const VxAggTrans *trans)
{
	return trans->kind == VX_TRANS_SUM_NUMERIC ||
		trans->kind == VX_TRANS_MIN_NUMERIC || trans->kind == VX_TRANS_MAX_NUMERIC;
}

void
vx_states_begin(VxStates *states)
{
	initStringInfo(&states->records);
	initStringInfo(&states->keys);
	initStringInfo(&states->slow);
	states->n = 0;
}

void
vx_states_reset(VxStates *states)
{
	resetStringInfo(&states->records);
	resetStringInfo(&states->keys);
	resetStringInfo(&states->slow);
	states->n = 0;
}

/* What of a group's states does not stand in its record. */
static void
write_slow_parts(VxAggState *state, StringInfo out, char *record, uint32 gid)
{
	for (int i = 0; i < state->ntrans; i++)
	{
		VxAggTrans *trans = &state->trans[i];
		void	   *s = record + trans->offset;

		if (trans->distinct)
			vx_distinct_write(state, trans->distinct, out, gid);
		else if (trans->kind == VX_TRANS_ORDERED)
			vx_ordered_write(out, s);
		else if (is_numeric(trans))
			vx_numeric_write(out, s);
		else if (trans->kind == VX_TRANS_SERVER)
			vx_server_agg_write(trans->server, out, s);
	}
}

void
vx_states_add(VxAggState *state, VxStates *states, uint32 gid)
{
	VxGroups   *groups = state->groups;
	const uint64 *words = vx_group_words(groups, gid);
	char	   *record = vx_group_record(groups, gid);

	enlargeStringInfo(&states->records, groups->stride);
	memcpy(states->records.data + states->records.len, record, groups->stride);
	states->records.len += groups->stride;
	for (int k = 0; k < groups->nkeys; k++)
	{
		const VxAggKey *key = &groups->keys[k];

		if (!key->integer && (words[groups->nkeys] & (UINT64CONST(1) << k)) == 0)
			vx_state_value_write(&states->keys, vx_intern_value(key->intern, words[k]),
								 &state->inputs[key->input]);
	}
	write_slow_parts(state, &states->slow, record, gid);
	states->n++;
}

static Size
header_bytes(const VxAggState *state)
{
	return sizeof(Header) + MAXALIGN(sizeof(int) * state->ntrans);
}

Size
vx_states_bytes(const VxAggState *state, const VxStates *states)
{
	return header_bytes(state) + states->records.len + states->keys.len + states->slow.len;
}

void
vx_states_write(const VxAggState *state, const VxStates *states, char *out)
{
	Header	   *header = (Header *) out;
	int		   *scales = (int *) (out + sizeof(Header));

	SET_VARSIZE(out, vx_states_bytes(state, states));
	header->n = states->n;
	header->keys_bytes = states->keys.len;
	header->slow_bytes = states->slow.len;
	for (int i = 0; i < state->ntrans; i++)
		scales[i] = state->trans[i].scale;
	out += header_bytes(state);
	memcpy(out, states->records.data, states->records.len);
	out += states->records.len;
	memcpy(out, states->keys.data, states->keys.len);
	out += states->keys.len;
	memcpy(out, states->slow.data, states->slow.len);
}

bool
vx_partial_write(VxAggState *state, Datum *result)
{
	VxGroups   *groups = state->groups;
	VxStates	states;
	char	   *out;

	if (state->next >= groups->ngroups)
		return false;
	vx_states_begin(&states);
	while (state->next < groups->ngroups && vx_states_bytes(state, &states) < CHUNK_BYTES)
		vx_states_add(state, &states, state->next++);
	out = palloc(vx_states_bytes(state, &states));
	vx_states_write(state, &states, out);
	*result = PointerGetDatum(out);
	return true;
}

/* Merges one transition's state that stands for count values. */
static const char *
merge_state(VxAggState *state, VxAggTrans *trans, void *into, void *from, int64 count,
			int scale, const char *bytes)
{
	VxInt64State *i = into;
	const VxInt64State *j = from;
	VxFloatState *f = into;
	const VxFloatState *g = from;
	VxAggRows	row = {.n = 1};

	((VxCountState *) into)->skipped += ((VxCountState *) from)->skipped;
	if (is_numeric(trans))
		return vx_numeric_merge(state, trans, into, from, count, scale, bytes);
	if (count == 0)
		return bytes;
	switch (trans->kind)
	{
		case VX_TRANS_SUM_INT:
			i->value = (int64) ((uint64) i->value + (uint64) j->value);
			break;
		case VX_TRANS_SUM_INT8:
			((VxInt128State *) into)->sum += ((VxInt128State *) from)->sum;
			break;
		case VX_TRANS_MIN_INT:
			i->value = Min(i->value, j->value);
			break;
		case VX_TRANS_MAX_INT:
			i->value = Max(i->value, j->value);
			break;
		case VX_TRANS_SUM_FLOAT4:
			((VxFloat4State *) into)->value += ((VxFloat4State *) from)->value;
			((VxFloat4State *) into)->special |= ((VxFloat4State *) from)->special;
			break;
		case VX_TRANS_SUM_FLOAT8:
			f->value += g->value;
			f->special |= g->special;
			break;
		case VX_TRANS_MIN_FLOAT:
			vx_agg_min_float8(into, 0, &row, &g->value);
			break;
		case VX_TRANS_MAX_FLOAT:
			vx_agg_max_float8(into, 0, &row, &g->value);
			break;
		default:
			break;
	}
	return bytes;
}

/*
 * The same within a process: the group's states into those of another table,
 * whose numerics have scales.
 */
void
vx_states_merge(VxAggState *state, char *into, char *from, int *scales)
{
	*(int64 *) into += *(int64 *) from;
	for (int i = 0; i < state->ntrans; i++)
	{
		VxAggTrans *trans = &state->trans[i];
		void	   *s = from + trans->offset;
		int64		count = *(int64 *) from - ((VxCountState *) s)->skipped;
		int			scale = trans->scale;
		StringInfoData slow = {0};

		if (is_numeric(trans) && ((VxNumericState *) s)->slow != NULL)
		{
			initStringInfo(&slow);
			vx_numeric_write(&slow, s);
		}
		trans->scale = scales[i];
		(void) merge_state(state, trans, into + trans->offset, s, count, scale, slow.data);
		scales[i] = trans->scale;
		trans->scale = scale;
	}
}

static inline bool
key_is_null(const VxGroups *groups, const uint64 *words, int k)
{
	return (words[groups->nkeys] & (UINT64CONST(1) << k)) != 0;
}

/* Numbers of a key's values, one for each group of n where it is not null, as words. */
static void
number_values(VxGroups *groups, int k, const Datum *values, uint64 *words, uint32 n)
{
	uint32	   *numbers = palloc(sizeof(uint32) * n);
	uint32		at = 0;

	for (uint32 i = 0; i < n; i++)
		at += !key_is_null(groups, words + (Size) i * groups->width, k);
	vx_intern_many(groups->keys[k].intern, values, at, true, numbers);
	at = 0;
	for (uint32 i = 0; i < n; i++, words += groups->width)
		if (!key_is_null(groups, words, k))
			words[k] = numbers[at++];
	pfree(numbers);
}

/* Words of the keys of n groups, from records and the values at p. */
static uint64 *
read_words(VxAggState *state, const char *records, const char *p, uint32 n)
{
	VxGroups   *groups = state->groups;
	Size		bytes = sizeof(uint64) * groups->width;
	uint64	   *all = palloc(bytes * n);
	Datum	  **values = palloc0(sizeof(Datum *) * groups->nkeys);
	uint32	   *nvalues = palloc0(sizeof(uint32) * groups->nkeys);

	for (int k = 0; k < groups->nkeys; k++)
		if (!groups->keys[k].integer)
			values[k] = palloc(sizeof(Datum) * n);
	for (uint32 i = 0; i < n; i++)
	{
		uint64	   *words = all + (Size) i * groups->width;

		memcpy(words, records + i * groups->stride + groups->state_bytes, bytes);
		for (int k = 0; k < groups->nkeys; k++)
			if (values[k] && !key_is_null(groups, words, k))
				p = vx_state_value_read(&state->inputs[groups->keys[k].input], p,
										&values[k][nvalues[k]++]);
	}
	for (int k = 0; k < groups->nkeys; k++)
		if (values[k])
			number_values(groups, k, values[k], all, n);
	return all;
}

static const char *
merge_record(VxAggState *state, const int *scales, uint32 gid, char *from, const char *p)
{
	char	   *into = vx_group_record(state->groups, gid);

	*(int64 *) into += *(int64 *) from;
	for (int i = 0; i < state->ntrans; i++)
	{
		VxAggTrans *trans = &state->trans[i];
		void	   *s = from + trans->offset;
		int64		count = *(int64 *) from - ((VxCountState *) s)->skipped;

		if (trans->kind == VX_TRANS_ORDERED)
			p = vx_ordered_merge(state, (VxOrderedState *) (into + trans->offset), s, p);
		else if (trans->kind == VX_TRANS_SERVER)
			p = vx_server_agg_merge(trans->server, into + trans->offset, s, p);
		else
			p = merge_state(state, trans, into + trans->offset, s, count, scales[i], p);
		if (trans->distinct)
			p = vx_distinct_merge(state, trans, gid, p);
	}
	return p;
}

/* Nothing of a state stands elsewhere, so that a new group's is copied. */
static bool
are_plain(const VxAggState *state)
{
	for (int i = 0; i < state->ntrans; i++)
		if (is_numeric(&state->trans[i]) || state->trans[i].distinct ||
			state->trans[i].kind == VX_TRANS_ORDERED ||
			state->trans[i].kind == VX_TRANS_SERVER)
			return false;
	return true;
}

/* In a row, a bytea is not aligned as records are. */
static char *
aligned_states(Datum value)
{
	char	   *p = (char *) PG_DETOAST_DATUM(value);
	char	   *copy;

	if ((char *) MAXALIGN(p) == p)
		return p;
	copy = palloc(VARSIZE(p));
	memcpy(copy, p, VARSIZE(p));
	return copy;
}

void
vx_partial_merge(VxAggState *state, Datum value)
{
	VxGroups   *groups = state->groups;
	char	   *p = aligned_states(value);
	const Header *header = (const Header *) p;
	const int  *scales = (const int *) (p + sizeof(Header));
	char	   *records = p + header_bytes(state);
	char	   *keys = records + header->n * groups->stride;
	const char *slow = keys + header->keys_bytes;
	bool		plain = are_plain(state);
	uint32	   *gids = palloc0(sizeof(uint32) * (header->n + 1));

	if (groups->nkeys > 0)
		vx_groups_find_many(groups, read_words(state, records, keys, header->n), header->n,
							true, gids);
	for (uint32 i = 0; i < header->n; i++)
	{
		char	   *into = vx_group_record(groups, gids[i]);
		char	   *from = records + i * groups->stride;

		if (plain && *(int64 *) into == 0)
			memcpy(into, from, groups->state_bytes);
		else
			slow = merge_record(state, scales, gids[i], from, slow);
	}
}
