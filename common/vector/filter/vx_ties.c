/*-------------------------------------------------------------------------
 *
 * vx_ties.c
 *	  Strings whose first bytes are those of the worst of the n best.
 *
 * The rank of a string is its first eight bytes.  Where many strings begin
 * alike (addresses of one site), all of them have the worst rank that may be
 * among the first ones, and ranks leave nothing out.  So copies of the n best
 * strings of that rank are kept, in a heap.  When the worst rank improves,
 * they are of no use any more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "vx_ties.h"

/*
 * More strings, or longer ones, are not kept: then all of them pass.  Nor are more
 * than have room in work_mem (kilobytes) if all are so long.
 */
#define MAX_STRINGS	10000
#define MAX_LENGTH	1024

typedef struct Copy
{
	uint32		len;
	uint8		data[FLEXIBLE_ARRAY_MEMBER];
} Copy;

struct VxTies
{
	bool		descending;
	MemoryContext parent;
	MemoryContext mcxt;			/* heap and copies; NULL: none yet */
	int64		rank;			/* of the strings in the heap */
	uint64		n;
	binaryheap *heap;			/* the last of them first */
};

VxTies *
vx_ties_create(bool descending)
{
	VxTies	   *ties = palloc0(sizeof(VxTies));

	ties->descending = descending;
	ties->parent = CurrentMemoryContext;
	return ties;
}

void
vx_ties_rescan(VxTies *ties)
{
	if (ties->mcxt)
		MemoryContextDelete(ties->mcxt);
	ties->mcxt = NULL;
}

static inline StStr
copy_bytes(const Copy *copy)
{
	StStr		s = {.data = copy->data, .len = copy->len};

	return s;
}

/* < 0: a comes first. */
static inline int
compare_strings(const VxTies *ties, StStr a, StStr b)
{
	int			d = st_string_compare(a, b);

	return ties->descending ? -d : d;
}

static int
compare_copies(Datum a, Datum b, void *arg)
{
	return compare_strings(arg, copy_bytes((Copy *) DatumGetPointer(a)),
						   copy_bytes((Copy *) DatumGetPointer(b)));
}

static void
start_over(VxTies *ties, int64 rank, uint64 n)
{
	MemoryContext old;

	vx_ties_rescan(ties);
	ties->mcxt = AllocSetContextCreate(ties->parent, "vector sort ties",
									   ALLOCSET_SMALL_SIZES);
	ties->rank = rank;
	ties->n = n;
	old = MemoryContextSwitchTo(ties->mcxt);
	ties->heap = binaryheap_allocate((int) n, compare_copies, ties);
	MemoryContextSwitchTo(old);
}

static Datum
copy_string(VxTies *ties, StStr string)
{
	Copy	   *copy = MemoryContextAlloc(ties->mcxt, offsetof(Copy, data) + string.len);

	copy->len = string.len;
	memcpy(copy->data, string.data, string.len);
	return PointerGetDatum(copy);
}

bool
vx_ties_pass(VxTies *ties, int64 rank, uint64 n, StStr string)
{
	Copy	   *last;
	int			d;

	if (n > Min(MAX_STRINGS, (uint64) work_mem * 1024 / MAX_LENGTH))
		return true;
	if (ties->mcxt == NULL || ties->rank != rank || ties->n != n)
		start_over(ties, rank, n);
	if (ties->heap->bh_size < (int) n)
	{
		if (string.len <= MAX_LENGTH)
			binaryheap_add(ties->heap, copy_string(ties, string));
		return true;
	}
	last = (Copy *) DatumGetPointer(binaryheap_first(ties->heap));
	d = compare_strings(ties, string, copy_bytes(last));
	if (d < 0 && string.len <= MAX_LENGTH)
	{
		binaryheap_replace_first(ties->heap, copy_string(ties, string));
		pfree(last);
	}
	return d <= 0;
}
