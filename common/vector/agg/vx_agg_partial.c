/*-------------------------------------------------------------------------
 *
 * vx_agg_partial.c
 *	  States of groups on their way from parallel workers to the final node.
 *
 * A worker aggregates its share of the rows and returns, instead of groups,
 * rows of one bytea each that hold the states of many:
 *
 *		number of groups | scale of each transition | bytes of all keys
 *		per group: mask of null keys | keys
 *		per group: record | slow parts of numerics
 *
 * Keys stand together, so that the reader looks up the groups of a bytea at a
 * time.  The same goes to disk where a final node has no memory for all groups
 * (vx_agg_state_parts.c).
 *
 * Integer keys are words, others serialized values, since every participant
 * numbers them in its own way.  Leader and workers run the same library, so
 * records are copied as they are.  Groups without keys come from every
 * participant, with the states of no rows if it had none.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"

#include "vx_agg.h"

/* A bytea is sent when it has so many bytes. */
#define CHUNK_BYTES		(32 * 1024)

static bool
is_numeric(const VxAggTrans *trans)
{
	return trans->kind == VX_TRANS_SUM_NUMERIC ||
		trans->kind == VX_TRANS_MIN_NUMERIC || trans->kind == VX_TRANS_MAX_NUMERIC;
}

static void
write_datum(StringInfo out, Datum value, const VxAggInput *input)
{
	Size		size = datumEstimateSpace(value, false, input->typbyval, input->typlen);
	char	   *p;

	enlargeStringInfo(out, size);
	p = out->data + out->len;
	datumSerialize(value, false, input->typbyval, input->typlen, &p);
	out->len += size;
}

void
vx_states_begin(VxStates *states)
{
	initStringInfo(&states->keys);
	initStringInfo(&states->records);
	states->n = 0;
}

void
vx_states_add(VxAggState *state, VxStates *states, uint32 gid)
{
	VxGroups   *groups = state->groups;
	const uint64 *words = vx_group_words(groups, gid);
	char	   *record = vx_group_record(groups, gid);

	if (groups->nkeys > 0)
		appendBinaryStringInfo(&states->keys, (char *) &words[groups->nkeys], sizeof(uint64));
	for (int k = 0; k < groups->nkeys; k++)
	{
		const VxAggKey *key = &groups->keys[k];

		if (words[groups->nkeys] & (UINT64CONST(1) << k))
			continue;
		if (key->integer)
			appendBinaryStringInfo(&states->keys, (char *) &words[k], sizeof(uint64));
		else
			write_datum(&states->keys, vx_intern_value(key->intern, words[k]),
						&state->inputs[key->input]);
	}
	appendBinaryStringInfo(&states->records, record, groups->state_bytes);
	for (int i = 0; i < state->ntrans; i++)
		if (is_numeric(&state->trans[i]))
			vx_numeric_write(&states->records,
							 (VxNumericState *) (record + state->trans[i].offset));
	states->n++;
}

Size
vx_states_bytes(const VxStates *states)
{
	return (Size) states->keys.len + states->records.len;
}

Datum
vx_states_finish(VxAggState *state, VxStates *states)
{
	StringInfoData out;
	uint32		keys = states->keys.len;

	initStringInfo(&out);
	appendStringInfoSpaces(&out, VARHDRSZ);
	appendBinaryStringInfo(&out, (char *) &states->n, sizeof(uint32));
	for (int i = 0; i < state->ntrans; i++)
		appendBinaryStringInfo(&out, (char *) &state->trans[i].scale, sizeof(int));
	appendBinaryStringInfo(&out, (char *) &keys, sizeof(uint32));
	appendBinaryStringInfo(&out, states->keys.data, keys);
	appendBinaryStringInfo(&out, states->records.data, states->records.len);
	SET_VARSIZE(out.data, out.len);
	pfree(states->keys.data);
	pfree(states->records.data);
	return PointerGetDatum(out.data);
}

bool
vx_partial_write(VxAggState *state, Datum *result)
{
	VxGroups   *groups = state->groups;
	VxStates	states;

	if (state->next >= groups->ngroups)
		return false;
	vx_states_begin(&states);
	while (state->next < groups->ngroups && vx_states_bytes(&states) < CHUNK_BYTES)
		vx_states_add(state, &states, state->next++);
	*result = vx_states_finish(state, &states);
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

/* Words of a group's keys; returns what follows them. */
static const char *
read_keys(VxAggState *state, const char *p, uint64 *words)
{
	VxGroups   *groups = state->groups;

	memcpy(&words[groups->nkeys], p, sizeof(uint64));
	p += sizeof(uint64);
	for (int k = 0; k < groups->nkeys; k++)
	{
		VxAggKey   *key = &groups->keys[k];

		words[k] = 0;
		if (words[groups->nkeys] & (UINT64CONST(1) << k))
			continue;
		if (key->integer)
		{
			memcpy(&words[k], p, sizeof(uint64));
			p += sizeof(uint64);
		}
		else
		{
			char	   *at = unconstify(char *, p);
			bool		isnull;

			words[k] = vx_intern(key->intern, datumRestore(&at, &isnull), true);
			p = at;
		}
	}
	return p;
}

static const char *
merge_record(VxAggState *state, const int *scales, char *into, char *record, const char *p)
{
	memcpy(record, p, state->groups->state_bytes);
	p += state->groups->state_bytes;
	*(int64 *) into += *(int64 *) record;
	for (int i = 0; i < state->ntrans; i++)
	{
		VxAggTrans *trans = &state->trans[i];
		void	   *from = record + trans->offset;
		int64		count = *(int64 *) record - ((VxCountState *) from)->skipped;

		p = merge_state(state, trans, into + trans->offset, from, count, scales[i], p);
	}
	return p;
}

/* Groups of n keys that start at p, made if they are new. */
static uint32 *
find_groups(VxAggState *state, const char *p, uint32 n)
{
	VxGroups   *groups = state->groups;
	uint32	   *gids = palloc0(sizeof(uint32) * n);
	uint64	   *words;

	if (groups->nkeys == 0)
		return gids;
	words = palloc(sizeof(uint64) * groups->width * n);
	for (uint32 i = 0; i < n; i++)
		p = read_keys(state, p, words + (Size) i * groups->width);
	vx_groups_find_many(groups, words, n, gids);
	return gids;
}

void
vx_partial_merge(VxAggState *state, Datum value)
{
	const char *p = VARDATA_ANY(PG_DETOAST_DATUM_PACKED(value));
	int		   *scales = palloc(sizeof(int) * (state->ntrans + 1));
	char	   *record = palloc(state->groups->state_bytes);
	uint32	   *gids;
	uint32		keys;
	uint32		n;

	memcpy(&n, p, sizeof(n));
	p += sizeof(n);
	memcpy(scales, p, sizeof(int) * state->ntrans);
	p += sizeof(int) * state->ntrans;
	memcpy(&keys, p, sizeof(keys));
	p += sizeof(keys);
	gids = find_groups(state, p, n);
	p += keys;
	for (uint32 i = 0; i < n; i++)
		p = merge_record(state, scales, vx_group_record(state->groups, gids[i]), record, p);
}
