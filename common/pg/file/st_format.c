/*-------------------------------------------------------------------------
 *
 * st_format.c
 *	  Which tables are ours, and in which format their row groups are.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_file.h"

bool
st_relation_needs_toast_table(Relation rel)
{
	return true;
}

const StFormat *
st_relation_format(Relation rel)
{
	if (rel->rd_tableam == NULL ||
		rel->rd_tableam->relation_needs_toast_table != st_relation_needs_toast_table)
		return NULL;
	return ((const StTableAm *) rel->rd_tableam)->format;
}
