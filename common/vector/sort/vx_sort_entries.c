/*-------------------------------------------------------------------------
 *
 * vx_sort_entries.c
 *	  Ranks of values that are compared by a function: strings, mostly.
 *
 * Strings are first sorted by their bytes, eight at a time as a word: those that
 * agree so far by the next eight, behind all that they have in common.  With
 * the order of bytes (collation C) that is all.
 *
 * Other collations differ from bytes in some places only, mostly in those of
 * capitals and accents.  A sample tells how often.  Where it is not often, the sort of
 * bytes comes first, and one by the type's comparison behind it, which merges
 * halves and takes one comparison where they are in order already.  Else the words are
 * the type's abbreviated keys, if it has them, and only values that agree in these are
 * compared.  The server has none for collations of the C library, whose comparisons cost
 * so much that the sort of bytes pays then, too.
 *
 * What agrees with the value before it is marked, so that nothing is compared
 * again to give both one rank.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "port/pg_bswap.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "vx_radix.h"
#include "vx_sorter.h"
#include "st_compat.h"

/* Fewer words than this are sorted by comparison. */
#define FEW_WORDS		2048

/* Strings that so many sorts by a word have not told apart are compared. */
#define MOST_WORDS		32

/* Values of a sample, and comparisons that put it in order after its bytes, at most. */
#define SAMPLE			512
#define FEW_COMPARISONS (SAMPLE + SAMPLE / 2)

typedef struct EntrySort
{
	SortSupportData ssup;
	const Datum *entries;
	bool		is_string;		/* without zeros */
	bool		by_bytes;		/* compared as strings of bytes */
	bool		abbreviated;	/* words are abbreviated keys, */
	bool		by_word;		/* which are sorted as words */
	VxSortItem *spare;			/* as many as there are entries */
	uint64		ncompared;
} EntrySort;

#define ST_SORT sort_few_words
#define ST_ELEMENT_TYPE VxSortItem
#define ST_COMPARE(a, b) ((a)->word < (b)->word ? -1 : (a)->word > (b)->word)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

static void
sort_words(EntrySort *sort, VxSortItem *items, uint32 n)
{
	uint32		i = 1;

	while (i < n && items[i - 1].word <= items[i].word)
		i++;
	if (i >= n)
		return;
	if (n < FEW_WORDS)
		sort_few_words(items, n);
	else if (vx_radix_sort(items, sort->spare, n, 64) != items)
		memcpy(items, sort->spare, sizeof(VxSortItem) * n);
}

/* The items from start on that have one word end there. */
static uint32
end_of_word(const VxSortItem *items, uint32 start, uint32 n)
{
	uint32		end = start + 1;

	while (end < n && items[end].word == items[start].word)
		end++;
	return end;
}

/* ---- by comparison ---- */

static int
compare(EntrySort *sort, const VxSortItem *a, const VxSortItem *b)
{
	Datum		left = sort->entries[a->row];
	Datum		right = sort->entries[b->row];
	int			order = 0;

	CHECK_FOR_INTERRUPTS();
	sort->ncompared++;
	if (sort->abbreviated && !sort->by_word)
		order = ApplySortComparator((Datum) a->word, false, (Datum) b->word, false, &sort->ssup);
	return order != 0 ? order :
		ApplySortAbbrevFullComparator(left, false, right, false, &sort->ssup);
}

/* Two halves, each in order, where what agrees with the item before is marked. */
static void
merge(EntrySort *sort, VxSortItem *items, uint32 middle, uint32 n)
{
	VxSortItem *left = sort->spare;
	uint32		l = 0;
	uint32		r = middle;
	uint32		to = 0;
	int			order = 0;		/* of the next item of the left half and the right one's, */
	bool		known = false;	/* because one of them agrees with the item before */
	bool		tied = false;	/* the next item of the right half agrees with what went last */

	memcpy(left, items, sizeof(VxSortItem) * middle);
	while (l < middle && r < n)
	{
		if (!known)
			order = compare(sort, &left[l], &items[r]);
		if (order <= 0)
		{
			items[to++] = left[l++];
			known = l < middle && left[l].same;
			tied = order == 0;
		}
		else
		{
			items[r].same |= tied;
			items[to++] = items[r++];
			known = r < n && items[r].same;
			tied = false;
		}
	}
	if (r < n)
		items[r].same |= tied;
	memcpy(items + to, left + l, sizeof(VxSortItem) * (middle - l));
}

/* What agrees with the item before is marked then; what is marked already stays behind it. */
static void
merge_sort(EntrySort *sort, VxSortItem *items, uint32 n)
{
	uint32		middle = n / 2;
	int			order;

	while (middle < n && items[middle].same)
		middle++;
	if (middle == n)
		middle = n / 2;
	while (middle > 0 && items[middle].same)
		middle--;
	if (middle == 0)
		return;
	merge_sort(sort, items, middle);
	merge_sort(sort, items + middle, n - middle);
	order = compare(sort, &items[middle - 1], &items[middle]);
	if (order == 0)
		items[middle].same = true;
	else if (order > 0)
		merge(sort, items, middle, n);
}

/* ---- by bytes ---- */

static inline const char *
string_at(const EntrySort *sort, uint32 entry, Size *size)
{
	const struct varlena *value = (const struct varlena *) DatumGetPointer(sort->entries[entry]);

	*size = VARSIZE_ANY_EXHDR(value);
	return VARDATA_ANY(value);
}

/* Eight bytes from one on, with zeros behind the end. */
static inline uint64
word_at(const EntrySort *sort, uint32 entry, Size from)
{
	Size		size;
	const char *s = string_at(sort, entry, &size);
	uint64		word = 0;

	if (size >= from + sizeof(word))
		memcpy(&word, s + from, sizeof(word));
	else if (size > from)
		memcpy(&word, s + from, size - from);
	return pg_ntoh64(word);
}

/* All agree in so many bytes: in how many more, if that is a word at least? */
static Size
common_bytes(const EntrySort *sort, const VxSortItem *items, uint32 n, Size from)
{
	Size		common;
	const char *first = string_at(sort, items[0].row, &common);

	for (uint32 i = 1; i < n && common >= from + sizeof(uint64); i++)
	{
		Size		size;
		const char *s = string_at(sort, items[i].row, &size);
		Size		at = from;

		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		common = Min(common, size);
		while (at + sizeof(uint64) <= common && memcmp(first + at, s + at, sizeof(uint64)) == 0)
			at += sizeof(uint64);
		while (at < common && first[at] == s[at])
			at++;
		common = at;
	}
	return common >= from + sizeof(uint64) ? common : from;
}

/* Strings that agree in so many bytes, and what is the same is marked. */
static void
sort_bytes(EntrySort *sort, VxSortItem *items, uint32 n, Size from, int nwords)
{
	uint32		end;

	CHECK_FOR_INTERRUPTS();
	if (nwords == MOST_WORDS)
	{
		merge_sort(sort, items, n);
		return;
	}
	from = common_bytes(sort, items, n, from);
	for (uint32 i = 0; i < n; i++)
	{
		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		items[i].word = word_at(sort, items[i].row, from);
	}
	sort_words(sort, items, n);
	for (uint32 start = 0; start < n; start = end)
	{
		end = end_of_word(items, start, n);
		if (end - start == 1)
			continue;
		if ((items[start].word & 0xFF) != 0)
			sort_bytes(sort, items + start, end - start, from + sizeof(uint64), nwords + 1);
		else
			/* they have ended */
			for (uint32 i = start + 1; i < end; i++)
				items[i].same = true;
	}
}

/* ---- which way ---- */

static void
prepare(EntrySort *sort, const VxSortKey *key, Oid type, MemoryContext mcxt)
{
	SortSupport ssup = &sort->ssup;
	Oid			opfamily;
	Oid			opcintype;
	bool		descending;

	ssup->ssup_cxt = AllocSetContextCreate(mcxt, "vector sort comparison", ALLOCSET_DEFAULT_SIZES);
	ssup->ssup_collation = key->collation;
	ssup->ssup_attno = 1;
	ssup->abbreviate = true;
	PrepareSortSupportFromOrderingOp(key->sortop, ssup);
	/* so this is the one that compares values */
	if (ssup->abbrev_converter == NULL)
		ssup->abbrev_full_comparator = ssup->comparator;
	/* bytea may be cast to text so, but has zeros */
	sort->is_string = type == BPCHAROID ||
		(IsBinaryCoercible(type, TEXTOID) && TypeCategory(type) == TYPCATEGORY_STRING);
	sort->by_bytes = sort->is_string &&
		st_is_ordering_op(key->sortop, &opfamily, &opcintype, &descending) &&
		opcintype == TEXTOID &&
		(opfamily == TEXT_PATTERN_BTREE_FAM_OID ||
		 (opfamily == TEXT_BTREE_FAM_OID && OidIsValid(key->collation) &&
		  st_collation_is_c(key->collation)));
}

static void
start_items(VxSortItem *items, uint32 n, double step)
{
	for (uint32 i = 0; i < n; i++)
		items[i] = (VxSortItem) {.row = (uint32) (i * step)};
}

/* Do few comparisons put values in order that stand in the order of their bytes? */
static bool
is_near_bytes(EntrySort *sort, uint32 n)
{
	VxSortItem	sample[SAMPLE];

	if (n < SAMPLE)
		return true;
	start_items(sample, SAMPLE, (double) n / SAMPLE);
	sort_bytes(sort, sample, SAMPLE, 0, 0);
	sort->ncompared = 0;
	merge_sort(sort, sample, SAMPLE);
	return sort->ncompared < FEW_COMPARISONS;
}

static void
sort_abbreviated(EntrySort *sort, VxSortItem *items, uint32 n)
{
	uint32		end;

	sort->abbreviated = true;
	sort->by_word = sort->ssup.comparator == ssup_datum_unsigned_cmp;
	for (uint32 i = 0; i < n; i++)
	{
		if (i % ST_VECTOR_SIZE == 0)
			CHECK_FOR_INTERRUPTS();
		items[i].word = sort->ssup.abbrev_converter(sort->entries[i], &sort->ssup);
	}
	if (!sort->by_word)
	{
		merge_sort(sort, items, n);
		return;
	}
	sort_words(sort, items, n);
	for (uint32 start = 0; start < n; start = end)
	{
		end = end_of_word(items, start, n);
		if (end - start > 1 && sort->is_string)
			sort_bytes(sort, items + start, end - start, 0, 0);
		merge_sort(sort, items + start, end - start);
	}
}

uint32 *
vx_sorter_rank_entries(VxSorter *sorter, const VxSortKey *key, const Datum *entries, uint32 n)
{
	Size		bytes = sizeof(VxSortItem) * Max(n, 1);
	VxSortItem *items = MemoryContextAllocHuge(sorter->mcxt, bytes);
	EntrySort	sort = {.entries = entries};
	uint32	   *ranks;
	uint32		rank = 0;
	bool		descending;

	prepare(&sort, key, sorter->columns[key->column].type, sorter->mcxt);
	descending = sort.ssup.ssup_reverse;
	sort.ssup.ssup_reverse = false;
	sort.spare = MemoryContextAllocHuge(sorter->mcxt, bytes);
	start_items(items, n, 1);
	if (!sort.by_bytes && sort.ssup.abbrev_converter != NULL &&
		!(sort.is_string && is_near_bytes(&sort, n)))
		sort_abbreviated(&sort, items, n);
	else
	{
		if (sort.is_string && n > 0)
			sort_bytes(&sort, items, n, 0, 0);
		if (!sort.by_bytes)
			merge_sort(&sort, items, n);
	}
	pfree(sort.spare);
	ranks = MemoryContextAllocHuge(sorter->mcxt, sizeof(uint32) * Max(n, 1));
	for (uint32 i = 0; i < n; i++)
	{
		rank += i > 0 && !items[i].same;
		ranks[items[i].row] = descending ? n - rank : rank;
	}
	pfree(items);
	MemoryContextDelete(sort.ssup.ssup_cxt);
	return ranks;
}
