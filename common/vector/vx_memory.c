/*-------------------------------------------------------------------------
 *
 * vx_memory.c
 *	  Memory for tables that are looked into at random.
 *
 * Such a table touches all its pages soon.  Where the kernel gives large pages
 * to whoever asks (transparent_hugepage = madvise), one fault makes two
 * megabytes of it instead of four kilobytes, and a lookup finds its page in
 * the processor's list of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "utils/memutils.h"

#include "vx_memory.h"

#define LARGE_PAGE		((Size) 2 * 1024 * 1024)

/* The large pages that lie within. */
static void
ask_for_large_pages(char *start, Size bytes)
{
#ifdef MADV_HUGEPAGE
	char	   *first = (char *) TYPEALIGN(LARGE_PAGE, start);
	char	   *end = (char *) TYPEALIGN_DOWN(LARGE_PAGE, start + bytes);

	/* a kernel without them refuses, and all is as before */
	if (bytes >= 2 * LARGE_PAGE)
		(void) madvise(first, end - first, MADV_HUGEPAGE);
#endif
}

void *
vx_table_alloc(MemoryContext mcxt, Size bytes, bool zero)
{
	char	   *result = MemoryContextAllocHuge(mcxt, bytes);

	ask_for_large_pages(result, bytes);
	if (zero)
		memset(result, 0, bytes);
	return result;
}

void *
vx_table_grow(void *table, Size bytes)
{
	char	   *result = repalloc_huge(table, bytes);

	ask_for_large_pages(result, bytes);
	return result;
}
