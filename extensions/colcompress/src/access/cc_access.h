/*-------------------------------------------------------------------------
 *
 * cc_access.h
 *	  What SQL reaches of colcompress beside the table access method: options
 *	  (label provider, CREATE TABLE ... WITH) and functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef CC_ACCESS_H
#define CC_ACCESS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/rel.h"

/* cc_label.c: options, their label provider, the object access hook. */
extern void cc_label_init(void);

/*
 * The next table of that name that this backend creates gets these options
 * at once (list of DefElem); cc_label_created() returns it, or InvalidOid if
 * none was made, and ends the wait.
 */
extern void cc_label_await_table(const char *relname, List *changes);
extern Oid	cc_label_created(void);

/* cc_utility.c: options in CREATE TABLE and ALTER TABLE. */
extern void cc_utility_init(void);

/* cc_bitmap_scan.c: the executor's bitmap heap scans. */
extern void cc_bitmap_scan_init(void);

/* Opens a table of ours, AccessShareLock; raises WRONG_OBJECT_TYPE. */
extern Relation cc_open_table(Oid relid);

/* cc_check.c: one column of one row group against its zones. */
typedef struct CcProblem
{
	int64		vecno;			/* vector of the row group, or -1 */
	char	   *message;
} CcProblem;

struct StReader;
extern List *cc_check_column(Relation rel, struct StReader *reader, AttrNumber attno);

#endif							/* CC_ACCESS_H */
