/*-------------------------------------------------------------------------
 *
 * vx_agg_table.c
 *	  The hash table of groups: from words of keys to numbers of groups.
 *
 * Open addressing; a slot holds 32 bits of the hash and the group's number.
 * A group's words stand behind its states in its record, so that a row whose
 * group is not in the processor's caches waits for the slot and for the
 * record, and for nothing else.  Of a batch of rows all slots are asked for
 * before the first of them is looked at, and then all records.
 *
 * A single key whose values are numbered (vx_intern.c) needs no hashing: the
 * number is an index into by_number.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "vx_agg.h"
#include "vx_memory.h"

/* Groups that there is room for at first. */
#define INITIAL_GROUPS	64
#define MAX_INITIAL		(1 << 20)

/* Rows that are looked up together: their slots and records fit into the caches. */
#define BLOCK_ROWS		128

/* As many as the planner expects, within a quarter of the memory. */
static uint32
initial_groups(const VxGroups *groups)
{
	Size		bytes = groups->stride + sizeof(uint64) * 2;
	double		limit = (double) get_hash_memory_limit() / 4 / bytes;

	if (groups->nkeys == 0)
		return 1;
	return (uint32) Max(Min(Min(groups->expected, limit), MAX_INITIAL), INITIAL_GROUPS);
}

static inline bool
is_numbered(const VxGroups *groups)
{
	return groups->nkeys == 1 && !groups->keys[0].integer && !groups->of_sets;
}

void
vx_table_reset(VxGroups *groups)
{
	/* The arrays are in the context that the caller has reset. */
	groups->ngroups = 0;
	groups->capacity = initial_groups(groups);
	groups->states = vx_table_alloc(groups->mcxt, groups->stride * groups->capacity, false);
	groups->nslots = is_numbered(groups) ? INITIAL_GROUPS :
		pg_nextpower2_32(groups->capacity * 2);
	groups->slots = vx_table_alloc(groups->mcxt, sizeof(uint64) * groups->nslots, true);
	groups->by_number = NULL;
	groups->nnumbers = 0;
	groups->null_group = VX_NO_GROUP;
	groups->full = false;
}

static inline uint32
hash_words(const uint64 *words, int width)
{
	uint64		h = 0;

	for (int i = 0; i < width; i++)
	{
		h = (h ^ words[i]) * UINT64CONST(0x9E3779B97F4A7C15);
		h ^= h >> 32;
	}
	return h >> 32;
}

static void
grow_slots(VxGroups *groups)
{
	uint32		nslots = groups->nslots * 2;
	uint64	   *slots = vx_table_alloc(groups->mcxt, sizeof(uint64) * nslots, true);

	for (uint32 i = 0; i < groups->nslots; i++)
	{
		uint32		at = (groups->slots[i] >> 32) & (nslots - 1);

		if (groups->slots[i] == 0)
			continue;
		while (slots[at] != 0)
			at = (at + 1) & (nslots - 1);
		slots[at] = groups->slots[i];
	}
	pfree(groups->slots);
	groups->slots = slots;
	groups->nslots = nslots;
}

static uint32
add_group(VxGroups *groups, const uint64 *words)
{
	uint32		gid = groups->ngroups;
	char	   *record;

	if (gid == groups->capacity)
	{
		groups->capacity *= 2;
		groups->states = vx_table_grow(groups->states, groups->stride * groups->capacity);
	}
	record = vx_group_record(groups, gid);
	memcpy(record, groups->initial, groups->state_bytes);
	if (groups->nkeys > 0)
		memcpy(record + groups->state_bytes, words, sizeof(uint64) * groups->width);
	groups->ngroups++;
	return gid;
}

void
vx_groups_add_only(VxGroups *groups)
{
	(void) add_group(groups, NULL);
}

static inline bool
words_are_equal(const uint64 *a, const uint64 *b, int width)
{
	for (int i = 0; i < width; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static uint32
find_hashed(VxGroups *groups, const uint64 *words, uint32 hash, bool add)
{
	uint32		at;
	uint32		gid;

	if (groups->ngroups >= groups->nslots / 2)
		grow_slots(groups);
	at = hash & (groups->nslots - 1);
	while (groups->slots[at] != 0)
	{
		if (groups->slots[at] >> 32 == hash)
		{
			gid = (uint32) groups->slots[at] - 1;
			if (words_are_equal(vx_group_words(groups, gid), words, groups->width))
				return gid;
		}
		at = (at + 1) & (groups->nslots - 1);
	}
	if (!add)
		return VX_NO_GROUP;
	gid = add_group(groups, words);
	groups->slots[at] = (uint64) hash << 32 | (gid + 1);
	return gid;
}

/* ---- a single key with numbers; null has the last one ---- */

#define NULL_NUMBER PG_UINT32_MAX

static inline uint32
number_of(const uint64 *words)
{
	return words[1] != 0 ? NULL_NUMBER : (uint32) words[0];
}

static void
grow_numbers(VxGroups *groups, uint32 number)
{
	uint32		n = Max(Max(groups->capacity, INITIAL_GROUPS), number + 1);

	n = Max(n, groups->nnumbers * 2);
	groups->by_number = groups->by_number == NULL ?
		vx_table_alloc(groups->mcxt, sizeof(uint32) * n, false) :
		vx_table_grow(groups->by_number, sizeof(uint32) * n);
	memset(groups->by_number + groups->nnumbers, 0xFF,
		   sizeof(uint32) * (n - groups->nnumbers));
	groups->nnumbers = n;
}

static uint32
find_numbered(VxGroups *groups, const uint64 *words, bool add)
{
	uint32		number = number_of(words);
	uint32	   *entry = &groups->null_group;

	/* a value that has no number: it looks like null's */
	if (words[1] == 0 && words[0] == VX_NO_WORD)
		return VX_NO_GROUP;
	if (number != NULL_NUMBER)
	{
		if (number >= groups->nnumbers)
			grow_numbers(groups, number);
		entry = &groups->by_number[number];
	}
	if (*entry == VX_NO_GROUP && add)
		*entry = add_group(groups, words);
	return *entry;
}

/* ---- look up ---- */

uint32
vx_groups_find(VxGroups *groups, const uint64 *words)
{
	bool		add = !groups->full;

	return is_numbered(groups) ? find_numbered(groups, words, add) :
		find_hashed(groups, words, hash_words(words, groups->width), add);
}

/* The first group with that hash, or VX_NO_GROUP. */
static inline uint32
first_with_hash(const VxGroups *groups, uint32 hash)
{
	uint32		mask = groups->nslots - 1;
	uint32		at = hash & mask;

	while (groups->slots[at] != 0 && groups->slots[at] >> 32 != hash)
		at = (at + 1) & mask;
	return (uint32) groups->slots[at] - 1;
}

static void
find_block_hashed(VxGroups *groups, const uint64 *words, int n, bool add, uint32 *gids)
{
	uint32		hashes[BLOCK_ROWS];
	int			width = groups->width;

	for (int i = 0; i < n; i++)
	{
		hashes[i] = hash_words(words + (Size) i * width, width);
		__builtin_prefetch(&groups->slots[hashes[i] & (groups->nslots - 1)]);
	}
	for (int i = 0; i < n; i++)
	{
		gids[i] = first_with_hash(groups, hashes[i]);
		if (gids[i] == VX_NO_GROUP)
			continue;
		__builtin_prefetch(vx_group_record(groups, gids[i]));
		__builtin_prefetch(vx_group_words(groups, gids[i]) + width - 1);
	}
	for (int i = 0; i < n; i++)
		if (gids[i] == VX_NO_GROUP ||
			!words_are_equal(vx_group_words(groups, gids[i]), words + (Size) i * width, width))
			gids[i] = find_hashed(groups, words + (Size) i * width, hashes[i], add);
}

static void
find_block_numbered(VxGroups *groups, const uint64 *words, int n, bool add, uint32 *gids)
{
	for (int i = 0; i < n; i++)
		if (number_of(words + i * 2) < groups->nnumbers)
			__builtin_prefetch(&groups->by_number[number_of(words + i * 2)]);
	for (int i = 0; i < n; i++)
		gids[i] = find_numbered(groups, words + i * 2, add);
}

void
vx_groups_find_many(VxGroups *groups, const uint64 *words, int n, bool add, uint32 *gids)
{
	for (int start = 0; start < n; start += BLOCK_ROWS)
	{
		const uint64 *block = words + (Size) start * groups->width;
		int			rows = Min(n - start, BLOCK_ROWS);

		if (is_numbered(groups))
			find_block_numbered(groups, block, rows, add, gids + start);
		else
			find_block_hashed(groups, block, rows, add, gids + start);
	}
}
