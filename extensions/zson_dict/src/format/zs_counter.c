/*-------------------------------------------------------------------------
 *
 * zs_counter.c
 *	  A hash table of byte strings with counts, bounded in memory.
 *
 * Numbers of entries are stable; pointers to them are until the next one is
 * added.  When it is full, new strings are not counted any more: what is
 * frequent has mostly come early.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "st_checksum.h"
#include "zs_counter.h"

void
zs_counter_init(ZsCounter *c, Size max_bytes)
{
	memset(c, 0, sizeof(*c));
	c->context = CurrentMemoryContext;
	c->max_bytes = max_bytes;
	c->cap = 1024;
	c->mask = 2 * c->cap - 1;
	c->table = palloc0((c->mask + 1) * sizeof(uint32));
	c->entries = palloc(c->cap * sizeof(ZsCount));
}

static uint32 *
slot_of(ZsCounter *c, const void *data, uint32 len)
{
	uint64		slot = st_checksum64(data, len, 0);

	for (;; slot++)
	{
		uint32	   *place = &c->table[slot & c->mask];
		const StStr *s;

		if (*place == 0)
			return place;
		s = &c->entries[*place - 1].s;
		if (s->len == len && (len == 0 || memcmp(s->data, data, len) == 0))
			return place;
	}
}

static void
grow(ZsCounter *c)
{
	c->cap *= 2;
	c->mask = 2 * c->cap - 1;
	c->entries = repalloc_huge(c->entries, c->cap * sizeof(ZsCount));
	pfree(c->table);
	c->table = MemoryContextAllocZero(c->context,
									  (c->mask + 1) * sizeof(uint32));
	for (uint32 i = 0; i < c->n; i++)
		*slot_of(c, c->entries[i].s.data, c->entries[i].s.len) = i + 1;
}

const ZsCount *
zs_counter_find(ZsCounter *c, const void *data, uint32 len)
{
	uint32		number = *slot_of(c, data, len);

	return number == 0 ? NULL : &c->entries[number - 1];
}

ZsCount *
zs_counter_add(ZsCounter *c, const void *data, uint32 len, uint32 doc)
{
	uint32	   *place = slot_of(c, data, len);
	ZsCount    *entry;

	if (*place == 0)
	{
		uint8	   *copy;

		if (c->bytes + len + sizeof(ZsCount) > c->max_bytes)
			return NULL;
		if (c->n == c->cap)
		{
			grow(c);
			place = slot_of(c, data, len);
		}
		c->bytes += len + sizeof(ZsCount);
		copy = MemoryContextAlloc(c->context, len + 1);
		memcpy(copy, data, len);
		entry = &c->entries[c->n];
		*entry = (ZsCount) {.s = {copy, len},.last_doc = PG_UINT32_MAX};
		*place = ++c->n;
	}
	else
		entry = &c->entries[*place - 1];
	entry->count++;
	if (entry->last_doc != doc)
	{
		entry->last_doc = doc;
		entry->ndocs++;
	}
	return entry;
}
