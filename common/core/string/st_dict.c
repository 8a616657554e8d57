/*-------------------------------------------------------------------------
 *
 * st_dict.c
 *	  Sorted dictionary of byte strings.
 *
 * Strings are hashed into an open-addressing table whose slots hold a part
 * of the hash and the number of the entry, in order of first appearance.
 * Afterwards the entries are sorted and the codes renumbered.  The table is
 * sized for max_entries, not for n, so that a column of few values stays in
 * the processor's cache.
 *
 * Working memory, in this order:
 *
 *		slots		capacity x 8 bytes
 *		sort items	2 x entries x 16 bytes (merge sort, two copies)
 *
 *-------------------------------------------------------------------------
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "st_dict.h"

/* Numbers of entries are below this, so that entry + 1 fits a slot. */
#define DICT_MAX_STRINGS ((size_t) 1 << 31)

typedef struct DictSlot
{
	uint32_t	tag;			/* upper half of the hash */
	uint32_t	entry;			/* number of the entry + 1; 0 = free */
} DictSlot;

/*
 * An element of the sort: the entry, and 8 bytes of it in comparable form,
 * from the first byte on that differs between entries.
 */
typedef struct DictItem
{
	uint64_t	prefix;
	uint32_t	entry;
} DictItem;

/* Power of two, at least twice the entries it is to hold. */
static size_t
dict_capacity(size_t entries)
{
	size_t		capacity = 16;

	while (capacity < 2 * entries)
		capacity *= 2;
	return capacity;
}

size_t
st_dict_worksize(size_t n)
{
	return dict_capacity(n) * sizeof(DictSlot) + 2 * n * sizeof(DictItem);
}

int
st_str_compare(const StStr *a, const StStr *b)
{
	uint32_t	len = a->len < b->len ? a->len : b->len;
	int			cmp = len > 0 ? memcmp(a->data, b->data, len) : 0;

	if (cmp != 0)
		return cmp;
	return a->len < b->len ? -1 : a->len > b->len;
}

/* Short strings are compared here: a call for each costs more than that. */
ST_INLINE bool
str_equal(const StStr *a, const StStr *b)
{
	uint32_t	len = a->len;

	if (len != b->len)
		return false;
	if (len > 16)
		return memcmp(a->data, b->data, len) == 0;
	if (len >= 8)
		return st_load_u64(a->data) == st_load_u64(b->data) &&
			st_load_u64(a->data + len - 8) == st_load_u64(b->data + len - 8);
	if (len >= 4)
		return st_load_u32(a->data) == st_load_u32(b->data) &&
			st_load_u32(a->data + len - 4) == st_load_u32(b->data + len - 4);
	for (uint32_t i = 0; i < len; i++)
	{
		if (a->data[i] != b->data[i])
			return false;
	}
	return true;
}

/* ---- collecting distinct strings ---- */

/*
 * Entry number of s, which is entered if it is new; UINT32_MAX if it is new
 * and there are max_entries already.
 */
ST_INLINE uint32_t
dict_enter(DictSlot *slots, size_t mask, const StStr *s,
		   StStr *entries, size_t *nentries, size_t max_entries)
{
	uint64_t	hash = XXH3_64bits(s->data, s->len);
	uint32_t	tag = (uint32_t) (hash >> 32);

	for (size_t pos = (size_t) hash & mask;; pos = (pos + 1) & mask)
	{
		DictSlot   *slot = &slots[pos];

		if (slot->entry == 0)
		{
			if (*nentries == max_entries)
				return UINT32_MAX;
			entries[(*nentries)++] = *s;
			slot->tag = tag;
			slot->entry = (uint32_t) *nentries;
			return slot->entry - 1;
		}
		if (slot->tag == tag && str_equal(&entries[slot->entry - 1], s))
			return slot->entry - 1;
	}
}

/* Codes in order of first appearance; the table must be all zero. */
static StStatus
dict_collect(const StStr *v, size_t n, size_t max_entries,
			 DictSlot *slots, size_t capacity,
			 uint32_t *codes, StStr *entries, size_t *nentries)
{
	const StStr *last = NULL;	/* runs of one value need no look-up */
	uint32_t	last_code = 0;

	*nentries = 0;
	for (size_t i = 0; i < n; i++)
	{
		if (v[i].data == NULL)
		{
			codes[i] = 0;
			continue;
		}
		if (last == NULL || !str_equal(last, &v[i]))
		{
			last_code = dict_enter(slots, capacity - 1, &v[i],
								   entries, nentries, max_entries);
			if (last_code == UINT32_MAX)
				return ST_NOTFIT;
			last = &v[i];
		}
		codes[i] = last_code;
	}
	return ST_OK;
}

/* ---- sorting ---- */

/* Bytes that all entries begin with. */
static uint32_t
common_prefix(const StStr *entries, size_t n)
{
	uint32_t	len = n > 0 ? entries[0].len : 0;

	for (size_t i = 1; i < n && len > 0; i++)
	{
		uint32_t	same = 0;

		if (entries[i].len < len)
			len = entries[i].len;
		while (same < len && entries[i].data[same] == entries[0].data[same])
			same++;
		len = same;
	}
	return len;
}

/* 8 bytes from skip on, zero padded, as a number that sorts like them. */
static uint64_t
str_prefix(const StStr *s, uint32_t skip)
{
	uint64_t	prefix = 0;
	uint32_t	len = s->len - skip;

	if (len > 0)
		memcpy(&prefix, s->data + skip, len < 8 ? len : 8);
	return __builtin_bswap64(prefix);
}

ST_INLINE bool
item_less_equal(const DictItem *a, const DictItem *b, const StStr *entries)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	return st_str_compare(&entries[a->entry], &entries[b->entry]) <= 0;
}

/* Merges from[low .. mid) and from[mid .. high) into to[low .. high). */
static void
merge_runs(const DictItem *from, DictItem *to,
		   size_t low, size_t mid, size_t high, const StStr *entries)
{
	size_t		a = low;
	size_t		b = mid;

	for (size_t out = low; out < high; out++)
	{
		if (b == high ||
			(a < mid && item_less_equal(&from[a], &from[b], entries)))
			to[out] = from[a++];
		else
			to[out] = from[b++];
	}
}

/*
 * Merge sort, bottom up: no recursion, n log n comparisons in any case.
 * Returns the one of the two arrays that holds the result.
 */
static DictItem *
sort_items(DictItem *items, DictItem *other, size_t n, const StStr *entries)
{
	for (size_t width = 1; width < n; width *= 2)
	{
		DictItem   *swap = items;

		for (size_t low = 0; low < n; low += 2 * width)
		{
			size_t		mid = low + width < n ? low + width : n;
			size_t		high = mid + width < n ? mid + width : n;

			merge_runs(items, other, low, mid, high, entries);
		}
		items = other;
		other = swap;
	}
	return items;
}

/*
 * Sorts entries, and makes rank[old number] = new number.  items has room
 * for twice the entries; the free half keeps the entries meanwhile.
 */
static void
dict_sort(StStr *entries, size_t n, DictItem *items, uint32_t *rank)
{
	uint32_t	skip = common_prefix(entries, n);
	DictItem   *sorted;
	StStr	   *unsorted;

	_Static_assert(sizeof(StStr) <= sizeof(DictItem),
				   "entries are copied to where items were");
	for (size_t i = 0; i < n; i++)
	{
		items[i].prefix = str_prefix(&entries[i], skip);
		items[i].entry = (uint32_t) i;
	}
	sorted = sort_items(items, items + n, n, entries);
	unsorted = (StStr *) (void *) (sorted == items ? items + n : items);
	if (n > 0)
		memcpy(unsorted, entries, n * sizeof(StStr));
	for (size_t i = 0; i < n; i++)
	{
		entries[i] = unsorted[sorted[i].entry];
		rank[sorted[i].entry] = (uint32_t) i;
	}
}

StStatus
st_dict_build(const StStr *v, size_t n, size_t max_entries,
			  void *work, size_t worklen,
			  uint32_t *codes, StStr *entries, size_t *nentries)
{
	DictSlot   *slots = work;
	size_t		capacity;
	StStatus	status;

	*nentries = 0;
	if (n > DICT_MAX_STRINGS || worklen < st_dict_worksize(n))
		return ST_NOSPACE;
	if (max_entries > n)
		max_entries = n;
	capacity = dict_capacity(max_entries);
	memset(slots, 0, capacity * sizeof(DictSlot));
	status = dict_collect(v, n, max_entries, slots, capacity,
						  codes, entries, nentries);
	if (status != ST_OK)
		return status;

	/* the table is no longer needed: its place takes the new numbers */
	dict_sort(entries, *nentries, (DictItem *) (void *) (slots + capacity),
			  (uint32_t *) work);
	for (size_t i = 0; i < n; i++)
	{
		if (v[i].data != NULL)
			codes[i] = ((const uint32_t *) work)[codes[i]];
	}
	return ST_OK;
}
