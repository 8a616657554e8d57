/*-------------------------------------------------------------------------
 *
 * st_int_distinct.c
 *	  Distinct values of an integer vector, by a small hash table.
 *
 *-------------------------------------------------------------------------
 */
#include "st_int_format.h"

/* At most a quarter full. */
#define TABLE_BITS 10
#define TABLE_SIZE (1 << TABLE_BITS)

_Static_assert(4 * ST_INT_DISTINCT_MAX <= TABLE_SIZE, "table too small");

/* Open addressing; a slot holds the number of a value plus one, 0 = free. */
typedef struct DistinctTable
{
	uint16_t	slot[TABLE_SIZE];
	int			nvalues;
	uint64_t	value[ST_INT_DISTINCT_MAX]; /* in order of appearance */
} DistinctTable;

/* Number of x among the table's values; -1 if there are max others already. */
static int
find_or_add(DistinctTable *table, uint64_t x, int max)
{
	uint32_t	at = (uint32_t) ((x * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS));

	while (table->slot[at] != 0)
	{
		int			number = table->slot[at] - 1;

		if (table->value[number] == x)
			return number;
		at = (at + 1) % TABLE_SIZE;
	}
	if (table->nvalues == max)
		return -1;
	table->value[table->nvalues] = x;
	table->slot[at] = (uint16_t) ++table->nvalues;
	return table->nvalues - 1;
}

/* Numbers of the table's values in ascending order of the values. */
static void
sort_numbers(const DistinctTable *table, uint16_t *number)
{
	for (int i = 0; i < table->nvalues; i++)
		number[i] = (uint16_t) i;
	/* Shell's sort */
	for (int gap = 121; gap > 0; gap /= 3)
		for (int i = gap; i < table->nvalues; i++)
		{
			uint16_t	x = number[i];
			int64_t		value = (int64_t) table->value[x];
			int			at = i;

			for (; at >= gap && (int64_t) table->value[number[at - gap]] > value;
				 at -= gap)
				number[at] = number[at - gap];
			number[at] = x;
		}
}

int
st_int_distinct(const uint64_t *v, int n, uint64_t *value, uint64_t *code)
{
	DistinctTable table;
	uint16_t	number[ST_INT_DISTINCT_MAX];
	uint16_t	rank[ST_INT_DISTINCT_MAX];
	int			max = n / 2 < ST_INT_DISTINCT_MAX ? n / 2 : ST_INT_DISTINCT_MAX;

	memset(table.slot, 0, sizeof(table.slot));
	table.nvalues = 0;
	for (int i = 0; i < n; i++)
	{
		int			found = find_or_add(&table, v[i], max);

		if (found < 0)
			return -1;
		code[i] = (uint64_t) found;
	}
	sort_numbers(&table, number);
	for (int i = 0; i < table.nvalues; i++)
	{
		value[i] = table.value[number[i]];
		rank[number[i]] = (uint16_t) i;
	}
	for (int i = 0; i < n; i++)
		code[i] = rank[code[i]];
	return table.nvalues;
}
