/*-------------------------------------------------------------------------
 *
 * vx_agg_partial.c
 *	  States of groups on their way from parallel workers to the final node.
 *
 * A worker aggregates its share of the rows and returns, instead of groups,
 * rows of one bytea each that hold the states of many:
 *
 *		number of groups | scale of each transition
 *		per group: mask of null keys | keys | record | slow parts of numerics
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

static void
write_group(VxAggState *state, StringInfo out, uint32 gid)
{
	VxGroups   *groups = state->groups;
	const uint64 *words = vx_group_words(groups, gid);
	char	   *record = vx_group_record(groups, gid);

	if (groups->nkeys > 0)
		appendBinaryStringInfo(out, (char *) &words[groups->nkeys], sizeof(uint64));
	for (int k = 0; k < groups->nkeys; k++)
	{
		const VxAggKey *key = &groups->keys[k];

		if (words[groups->nkeys] & (UINT64CONST(1) << k))
			continue;
		if (key->integer)
			appendBinaryStringInfo(out, (char *) &words[k], sizeof(uint64));
		else
			write_datum(out, vx_intern_value(key->intern, words[k]),
						&state->inputs[key->input]);
	}
	appendBinaryStringInfo(out, record, groups->state_bytes);
	for (int i = 0; i < state->ntrans; i++)
		if (is_numeric(&state->trans[i]))
			vx_numeric_write(out, (VxNumericState *) (record + state->trans[i].offset));
}

bool
vx_partial_write(VxAggState *state, Datum *result)
{
	VxGroups   *groups = state->groups;
	StringInfoData out;
	uint32		n = 0;

	if (state->next >= groups->ngroups)
		return false;
	initStringInfo(&out);
	appendStringInfoSpaces(&out, VARHDRSZ);
	appendBinaryStringInfo(&out, (char *) &n, sizeof(n));
	for (int i = 0; i < state->ntrans; i++)
		appendBinaryStringInfo(&out, (char *) &state->trans[i].scale, sizeof(int));
	while (state->next < groups->ngroups && out.len < CHUNK_BYTES)
	{
		write_group(state, &out, state->next++);
		n++;
	}
	memcpy(out.data + VARHDRSZ, &n, sizeof(n));
	SET_VARSIZE(out.data, out.len);
	*result = PointerGetDatum(out.data);
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
merge_group(VxAggState *state, const int *scales, char *record, const char *p)
{
	VxGroups   *groups = state->groups;
	uint64		words[64];
	uint32		gid = 0;
	char	   *into;

	if (groups->nkeys > 0)
	{
		p = read_keys(state, p, words);
		gid = vx_groups_find(groups, words);
	}
	into = vx_group_record(groups, gid);
	memcpy(record, p, groups->state_bytes);
	p += groups->state_bytes;
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

void
vx_partial_merge(VxAggState *state, Datum value)
{
	const char *p = VARDATA_ANY(PG_DETOAST_DATUM_PACKED(value));
	int		   *scales = palloc(sizeof(int) * (state->ntrans + 1));
	char	   *record = palloc(state->groups->state_bytes);
	uint32		n;

	memcpy(&n, p, sizeof(n));
	p += sizeof(n);
	memcpy(scales, p, sizeof(int) * state->ntrans);
	p += sizeof(int) * state->ntrans;
	while (n-- > 0)
		p = merge_group(state, scales, record, p);
}
