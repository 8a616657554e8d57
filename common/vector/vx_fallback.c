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
#include "nodes/extensible.h"
#include "nodes/value.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"

#include "vx_fallback.h"
#include "vx_format.h"
#include "vx_settings.h"

typedef struct Note
{
	const PlannerInfo *root;
	Relids		relids;
	const char *reason;
	bool		of_side;		/* of a join, which another side may save */
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

static void
add_note(PlannerInfo *root, Relids relids, const char *reason, bool of_side)
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
	note->of_side = of_side;
	notes = lappend(notes, note);
	MemoryContextSwitchTo(old);
}

void
vx_fallback(PlannerInfo *root, Relids relids, const char *reason)
{
	add_note(root, relids, reason, false);
}

void
vx_fallback_of_side(PlannerInfo *root, Relids relids, const char *reason)
{
	add_note(root, relids, reason, true);
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

static bool
has_join(const List *paths)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		while (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (IsA(path, CustomPath) &&
			strcmp(((CustomPath *) path)->methods->CustomName, vx_format->join_name) == 0)
			return true;
	}
	return false;
}

/* The relations have a path that is a join of vectors. */
static bool
are_joined(PlannerInfo *root, Relids relids)
{
	RelOptInfo *rel = find_join_rel(root, relids);

	return rel != NULL && (has_join(rel->pathlist) || has_join(rel->partial_pathlist));
}

/* There is another reason for the same join, which is the better one. */
static bool
has_better(const Note *of_side)
{
	ListCell   *lc;

	foreach(lc, notes)
	{
		const Note *note = lfirst(lc);

		if (note->root == of_side->root && !note->of_side &&
			bms_equal(note->relids, of_side->relids))
			return true;
	}
	return false;
}

static List *
take(PlannerInfo *root, const RelOptInfo *rel, List *result)
{
	ListCell   *lc;

	foreach(lc, notes)
	{
		Note	   *note = lfirst(lc);

		if (note->root != root || note->shown ||
			!(bms_is_member(rel->relid, note->relids) ||
			  bms_overlap(rel->top_parent_relids, note->relids)) ||
			(note->of_side && (has_better(note) || are_joined(root, note->relids))))
			continue;
		note->shown = true;
		result = lappend(result, makeString(unconstify(char *, note->reason)));
	}
	return result;
}

/* The relation that the query is in the one around it, or NULL. */
static const RelOptInfo *
as_subquery(const PlannerInfo *root)
{
	const PlannerInfo *around = root->parent_root;

	for (int relid = 1; around && relid < around->simple_rel_array_size; relid++)
		if (around->simple_rel_array[relid] != NULL &&
			around->simple_rel_array[relid]->subroot == root)
			return around->simple_rel_array[relid];
	return NULL;
}

List *
vx_fallback_take(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *result = NIL;

	if (notes == NIL)
		return NIL;
	for (; rel != NULL; rel = as_subquery(root), root = root->parent_root)
		result = take(root, rel, result);
	return result;
}
