/*-------------------------------------------------------------------------
 *
 * vx_sorter.h
 *	  Rows in memory, column by column, and their order by some of the columns.
 *
 *	 vx_sorter.c		rows go in and come out as vectors
 *	 vx_sort_words.c	keys as words whose unsigned order is the keys'
 *	 vx_sort_entries.c	ranks of values that are compared by a function
 *	 vx_radix.c			the sort of words
 *
 * Rows are numbered as they come.  After vx_sorter_sort() a position is that
 * of a row in the order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_SORTER_H
#define VX_SORTER_H

#include "postgres.h"

#include "vx_vector.h"
#include "vx_window_spec.h"

/* How values of a column stand in its array of int64. */
typedef enum VxStoreForm
{
	VX_STORE_INT,				/* as vectors hold them */
	VX_STORE_FLOAT,				/* bits of a double, of float4 too */
	VX_STORE_DECIMAL,			/* integers of the column's scale */
	VX_STORE_ENTRY				/* indexes of entries, which are Datums */
} VxStoreForm;

typedef struct VxStore
{
	Oid			type;			/* base type */
	int16		typlen;
	bool		byval;
	VxStoreForm form;
	int			scale;			/* VX_STORE_DECIMAL; -1: no value yet */
	int64	   *values;
	bool	   *nulls;			/* NULL: there are none */
	Datum	   *entries;
	uint32		nentries;
	uint32		max_entries;

	/* of the dictionary at hand */
	const VxDictionary *dict;
	uint64		dict_made;
	uint64		dict_group;
	uint32	   *dict_entries;	/* by code */
	uint32		ncodes;
} VxStore;

typedef struct VxSortKey
{
	int			column;
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
	bool		integral;		/* its operator is that of the numbers' own order */
	bool		descending;
} VxSortKey;

/* Words that keys are packed into, at most. */
#define VX_SORT_MAX_WORDS	(2 * VX_SORT_MAX_KEYS)

typedef struct VxSorter
{
	MemoryContext mcxt;			/* all rows; reset with them */
	Size		limit;			/* of its memory */
	Size		row_bytes;		/* what a row will take beside, from the sort on */
	int			ncolumns;
	VxStore    *columns;
	int			nkeys;
	VxSortKey  *keys;
	uint32		nrows;
	uint32		max_rows;
	char	   *values;			/* room for values by reference, */
	Size		values_left;	/* bytes */
	Size		peak;			/* bytes of memory while it sorted */

	/* sorted */
	uint32	   *order;			/* position -> row */
	int			nwords;
	uint64	   *words[VX_SORT_MAX_WORDS];	/* by position */
	/* bits of the words that the first keys have, by their number */
	uint64		masks[VX_SORT_MAX_KEYS + 1][VX_SORT_MAX_WORDS];
} VxSorter;

/*
 * An empty one, in the current memory context.  Columns have their types; keys
 * all but the last two fields.  row_bytes: what the caller will take for each
 * row when they are sorted.
 */
extern VxSorter *vx_sorter_create(int ncolumns, VxStore *columns, int nkeys, VxSortKey *keys,
								  Size limit, Size row_bytes);

/*
 * Adds rows of vectors, one by column; group tells apart what their
 * dictionaries belong to.  False if there is no more room: then the sorter
 * can only be reset.
 */
extern bool vx_sorter_add(VxSorter *sorter, const VxVector *const *vectors,
						  const uint16 *rows, int n, uint64 group);

extern void vx_sorter_reset(VxSorter *sorter);

extern void vx_sorter_sort(VxSorter *sorter);

/*
 * Values of a column in n rows, which are not all of the sorter's, as the vector v, which has an
 * array of ST_VECTOR_SIZE values of 16 bytes; a row of PG_UINT32_MAX is null.
 */
extern void vx_sorter_gather(const VxSorter *sorter, int column, const uint32 *rows, int n,
							 VxVector *v);

/* A value that is not null, in the current context if it is made. */
extern Datum vx_sorter_value(const VxSorter *sorter, int column, uint32 row);

static inline bool
vx_store_isnull(const VxStore *store, uint32 row)
{
	return store->nulls != NULL && store->nulls[row];
}

/* The keys in front, so many of them, are the same at a position and the one before. */
static inline bool
vx_sorter_same(const VxSorter *sorter, uint32 position, int nkeys)
{
	uint64		different = 0;

	for (int w = 0; w < sorter->nwords; w++)
		different |= (sorter->words[w][position] ^ sorter->words[w][position - 1]) &
			sorter->masks[nkeys][w];
	return different == 0;
}

/*
 * Values of a column that is ordered as numbers are, each as an int64 of the
 * same order; in an array of all rows, which may be the column's own.  NULL:
 * it has no such form.
 */
extern const int64 *vx_sorter_ranks(VxSorter *sorter, int column);

/* ---- vx_sort_words.c ---- */

/* Makes the words of all rows, by row. */
extern void vx_sorter_pack(VxSorter *sorter);

/* Bits that are used of a word. */
extern int	vx_sorter_bits(const VxSorter *sorter, int word);

/* Does the operator order a type as its numbers?  Sets whether it is >. */
extern bool vx_sort_is_integral(Oid type, Oid sortop, bool *descending);

/* ---- vx_sort_entries.c ---- */

/* The rank of each of n values of the key's column, one for those that agree; to be freed. */
extern uint32 *vx_sorter_rank_entries(VxSorter *sorter, const VxSortKey *key,
									  const Datum *entries, uint32 n);

#endif							/* VX_SORTER_H */
