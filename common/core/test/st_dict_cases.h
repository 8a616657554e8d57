/*-------------------------------------------------------------------------
 *
 * st_dict_cases.h
 *	  What the test and the fuzz target of dictionaries share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ST_DICT_CASES_H
#define ST_DICT_CASES_H

#include "st_dict.h"

/*
 * Position of the first entry >= key in sorted entries (nentries if none);
 * *found tells whether it equals key.
 */
static size_t
st_dict_search(const StStr *entries, size_t nentries, const StStr *key,
			   bool *found)
{
	size_t		low = 0;
	size_t		high = nentries;

	*found = false;
	while (low < high)
	{
		size_t		mid = low + (high - low) / 2;
		int			cmp = st_str_compare(&entries[mid], key);

		if (cmp == 0)
			*found = true;
		if (cmp < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

#endif							/* ST_DICT_CASES_H */
