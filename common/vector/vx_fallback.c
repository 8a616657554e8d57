/*-------------------------------------------------------------------------
 *
 * vx_fallback.c
 *	  Why something is not done in vectors, for EXPLAIN (VERBOSE).
 *
 * What offers aggregations, joins and windows notes here why it offers none.  When a plan is made of the paths, each
 * scan of ours takes the reasons that are about its table, and keeps them.  Only what
 * cannot be is noted: not what was offered and cost more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/value.h"
#include "parser/parsetree.h"

#include "vx_fallback.h"
#include "vx_settings.h"

typedef struct Note
{
	const PlannerInfo *root;
	Relids		relids;
	const char *reason;
	bool		shown;
} Note;

static List *notes = NIL;		/* of the query that is being planned */

List *
vx_fallback_begin(void)
{
	List	   *before = notes;

	notes = NIL;
	return before;
}

void
vx_fallback_end(List *before)
{
	notes = before;
}

void
vx_fallback(PlannerInfo *root, Relids relids, const char *reason)
{
	MemoryContext old;
	Note	   *note;
	ListCell   *lc;

	if (!vx_explain_fallback)
		return;
	foreach(lc, notes)
	{
		note = lfirst(lc);
		if (note->root == root && strcmp(note->reason, reason) == 0)
			return;
	}
	/* GEQO has contexts of its own, of joins that it tries */
	old = MemoryContextSwitchTo(root->planner_cxt);
	note = palloc0(sizeof(Note));
	note->root = root;
	note->relids = bms_copy(relids);
	note->reason = pstrdup(reason);
	notes = lappend(notes, note);
	MemoryContextSwitchTo(old);
}

const char *
vx_fallback_names(PlannerInfo *root, Relids relids)
{
	StringInfoData names;
	int			relid = -1;

	initStringInfo(&names);
	while ((relid = bms_next_member(relids, relid)) >= 0)
		/* from 16 on, outer joins have numbers, too */
		if (root->simple_rel_array[relid] != NULL)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
							 planner_rt_fetch(relid, root)->eref->aliasname);
	return names.data;
}

List *
vx_fallback_take(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, notes)
	{
		Note	   *note = lfirst(lc);

		if (note->root != root || note->shown ||
			!(bms_is_member(rel->relid, note->relids) ||
			  bms_overlap(rel->top_parent_relids, note->relids)))
			continue;
		note->shown = true;
		result = lappend(result, makeString(unconstify(char *, note->reason)));
	}
	return result;
}
