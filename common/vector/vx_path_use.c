/*-------------------------------------------------------------------------
 *
 * vx_path_use.c
 *	  Which places of a document an expression looks at.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/jsonpath.h"
#include "utils/lsyscache.h"

#include "vx_path_use.h"
#include "st_compat.h"

/* Places of one expression; of more the whole document is taken. */
#define MAX_PLACES 32

static List *
make_place(VxPlaceUse use, List *keys)
{
	return lcons(makeInteger(use), list_copy(keys));
}

/* ---- chains: document -> 'a' -> 'b' ---- */

typedef struct Chain
{
	Var		   *document;
	List	   *keys;			/* Strings */
	bool		open;			/* no key of an object, but an element, was last */
} Chain;

static void
add_key(Chain *chain, const char *data, Size len)
{
	if (!chain->open)
		chain->keys = lappend(chain->keys, makeString(pnstrdup(data, len)));
}

static bool
add_text(Chain *chain, Const *key)
{
	text	   *t;

	if (!IsA(key, Const) || key->constisnull)
		return false;
	t = DatumGetTextPP(key->constvalue);
	add_key(chain, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
	return true;
}

static bool
add_array(Chain *chain, Const *keys)
{
	Datum	   *elems;
	bool	   *nulls;
	int			n;

	if (!IsA(keys, Const) || keys->constisnull)
		return false;
	deconstruct_array(DatumGetArrayTypeP(keys->constvalue), TEXTOID, -1, false,
					  TYPALIGN_INT, &elems, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			return false;
		add_key(chain, VARDATA_ANY(DatumGetPointer(elems[i])),
				VARSIZE_ANY_EXHDR(DatumGetPointer(elems[i])));
	}
	return true;
}

/* Function and arguments of a call of two. */
static bool
take_call(Node *node, Oid *funcid, List **args)
{
	if (IsA(node, OpExpr))
	{
		*funcid = ((OpExpr *) node)->opfuncid;
		*args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		*funcid = ((FuncExpr *) node)->funcid;
		*args = ((FuncExpr *) node)->args;
	}
	else
		return false;
	return *args != NIL;
}

static bool find_chain(Node *node, Chain *chain);

/* doc['a'][0]: what #> does. */
static bool
find_subscript(SubscriptingRef *ref, Chain *chain)
{
	ListCell   *lc;

	if (ref->refcontainertype != JSONBOID || ref->reflowerindexpr != NIL ||
		ref->refassgnexpr != NULL || !find_chain((Node *) ref->refexpr, chain))
		return false;
	foreach(lc, ref->refupperindexpr)
	{
		Const	   *key = lfirst(lc);

		if (key == NULL || !IsA(key, Const))
			return false;
		if (key->consttype != TEXTOID)
			chain->open = true;
		else if (!add_text(chain, key))
			return false;
	}
	return true;
}

/* One step of a chain; text: the last step may give text. */
static bool
find_step(Node *node, bool text, Chain *chain)
{
	Oid			funcid;
	List	   *args;

	if (!take_call(node, &funcid, &args) || list_length(args) != 2)
		return false;
	switch (funcid)
	{
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_EXTRACT_PATH_TEXT:
		case F_JSONB_ARRAY_ELEMENT_TEXT:
			if (!text)
				return false;
			break;
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_ARRAY_ELEMENT:
			break;
		default:
			return false;
	}
	if (!find_chain(linitial(args), chain))
		return false;
	switch (funcid)
	{
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_OBJECT_FIELD:
			return add_text(chain, lsecond(args));
		case F_JSONB_EXTRACT_PATH_TEXT:
		case F_JSONB_EXTRACT_PATH:
			return add_array(chain, lsecond(args));
		default:
			chain->open = true;
			return IsA(lsecond(args), Const);
	}
}

/* A document, or steps from one. */
static bool
find_chain(Node *node, Chain *chain)
{
	Var		   *var;

	check_stack_depth();
	while (IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (IsA(node, SubscriptingRef))
		return find_subscript((SubscriptingRef *) node, chain);
	if (!IsA(node, Var))
		return find_step(node, false, chain);
	var = (Var *) node;
	if (var->varattno <= 0 || getBaseType(var->vartype) != JSONBOID)
		return false;
	*chain = (Chain) {var, NIL, false};
	return true;
}

/* ---- json paths ---- */

typedef struct PathWalk
{
	List	   *keys;			/* in front of $ */
	List	   *current;		/* in front of @; NIL: of what is taken as a whole */
	bool		lax;
	bool		exists;			/* it matters whether the next path finds something */
	List	   *places;
} PathWalk;

static bool walk_path(PathWalk *walk, JsonPathItem *item);

static bool
walk_subscripts(PathWalk *walk, JsonPathItem *item)
{
	for (int i = 0; i < item->content.array.nelems; i++)
	{
		JsonPathItem from,
					to;
		bool		range = jspGetArraySubscript(item, &from, &to, i);

		if (!walk_path(walk, &from) || (range && !walk_path(walk, &to)))
			return false;
	}
	return true;
}

/* The keys behind an item, which is left on the last of them. */
static List *
walk_keys(JsonPathItem *item, List *keys)
{
	JsonPathItem next;

	while (jspGetNext(item, &next) && next.type == jpiKey)
	{
		int32		len;
		char	   *key = jspGetString(&next, &len);

		keys = lappend(keys, makeString(pnstrdup(key, len)));
		*item = next;
	}
	return keys;
}

static bool
add_walked(PathWalk *walk, VxPlaceUse use, List *keys)
{
	walk->places = list_append_unique(walk->places, make_place(use, keys));
	return keys != NIL && list_length(walk->places) <= MAX_PLACES;
}

/*
 * [*] behind keys, and what follows: keys, or a filter at the end.  False: elements
 * are looked at as a whole, and item stays.
 */
static bool
walk_elements(PathWalk *walk, JsonPathItem *item, List *keys, bool exists, bool *ok)
{
	JsonPathItem at;
	JsonPathItem filter;
	JsonPathItem arg;
	List	   *below = lappend(list_copy(keys), makeInteger(0));
	List	   *outer = walk->current;

	if (keys == NIL || !jspGetNext(item, &at) || at.type != jpiAnyArray)
		return false;
	below = walk_keys(&at, below);
	if (exists && jspGetNext(&at, &filter) && filter.type == jpiFilter &&
		!jspHasNext(&filter))
	{
		/* An array behind keys is filtered by its elements, whatever these are. */
		VxPlaceUse	use = IsA(llast(below), Integer) ? VX_USE_TYPE : VX_USE_KEYS;

		jspGetArg(&filter, &arg);
		walk->current = below;
		*ok = add_walked(walk, use, below) && walk_path(walk, &arg);
		walk->current = outer;
		*item = filter;
		return true;
	}
	if (IsA(llast(below), Integer))
		return false;
	*ok = add_walked(walk, VX_USE_VALUE, below);
	*item = at;
	return true;
}

/* $, and the keys behind it: item is left on the last of them. */
static bool
walk_root(PathWalk *walk, JsonPathItem *item)
{
	List	   *keys = list_copy(walk->keys);
	bool		exists = walk->exists;
	bool		ok;

	walk->exists = false;
	if (walk->lax)
		keys = walk_keys(item, keys);
	if (walk->lax && walk_elements(walk, item, keys, exists, &ok))
		return ok;
	return add_walked(walk, VX_USE_VALUE, keys);
}

/* @, and the keys behind it. */
static bool
walk_current(PathWalk *walk, JsonPathItem *item)
{
	List	   *keys;

	if (walk->current == NIL)
		return true;
	keys = walk_keys(item, list_copy(walk->current));
	/* elements as a whole are the array */
	if (IsA(llast(keys), Integer))
		keys = list_delete_last(keys);
	return add_walked(walk, VX_USE_VALUE, keys);
}

/* What stands within an item; it may be moved on.  False: it is not known. */
static bool
walk_item(PathWalk *walk, JsonPathItem *item)
{
	JsonPathItem arg;
	List	   *current;
	bool		known;

	switch (item->type)
	{
		case jpiRoot:
			return walk_root(walk, item);
		case jpiAnd:
		case jpiOr:
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
		case jpiAdd:
		case jpiSub:
		case jpiMul:
		case jpiDiv:
		case jpiMod:
		case jpiStartsWith:
			jspGetLeftArg(item, &arg);
			if (!walk_path(walk, &arg))
				return false;
			jspGetRightArg(item, &arg);
			return walk_path(walk, &arg);
		case jpiNot:
		case jpiIsUnknown:
		case jpiPlus:
		case jpiMinus:
			jspGetArg(item, &arg);
			return walk_path(walk, &arg);
		case jpiExists:
			jspGetArg(item, &arg);
			walk->exists = arg.type == jpiRoot;
			return walk_path(walk, &arg);
		case jpiFilter:
			current = walk->current;
			walk->current = NIL;
			jspGetArg(item, &arg);
			known = walk_path(walk, &arg);
			walk->current = current;
			return known;
		case jpiCurrent:
			return walk_current(walk, item);
		case jpiLikeRegex:
			jspInitByBuffer(&arg, item->base, item->content.like_regex.expr);
			return walk_path(walk, &arg);
		case jpiIndexArray:
			return walk_subscripts(walk, item);
		case jpiKeyValue:
			/* its ids are places in the bytes of the document */
			return false;
		case jpiNull:
		case jpiString:
		case jpiNumeric:
		case jpiBool:
		case jpiVariable:
		case jpiKey:
		case jpiAnyArray:
		case jpiAnyKey:
		case jpiAny:
		case jpiLast:
		case jpiType:
		case jpiSize:
		case jpiAbs:
		case jpiFloor:
		case jpiCeiling:
		case jpiDouble:
		case jpiDatetime:
			return true;
		default:
			return st_jsonpath_is_method(item->type);
	}
}

/* An item and those behind it. */
static bool
walk_path(PathWalk *walk, JsonPathItem *item)
{
	JsonPathItem at = *item;
	JsonPathItem next;

	check_stack_depth();
	for (;;)
	{
		if (!walk_item(walk, &at))
			return false;
		if (!jspGetNext(&at, &next))
			return true;
		at = next;
	}
}

/* What looks at places behind a chain is null where the chain's own value is. */
static void
add_existence(const Chain *chain, List **places)
{
	if (chain->keys != NIL)
		*places = list_append_unique(*places, make_place(VX_USE_TYPE, chain->keys));
}

/* Places that a json path looks at, from the end of a chain. */
static bool
path_places(Node *path, const Chain *chain, bool exists, List **places)
{
	PathWalk	walk = {.keys = chain->keys};
	JsonPath   *jp;
	JsonPathItem root;

	if (!IsA(path, Const) || ((Const *) path)->constisnull ||
		((Const *) path)->consttype != JSONPATHOID)
		return false;
	jp = DatumGetJsonPathP(((Const *) path)->constvalue);
	walk.lax = !chain->open && (jp->header & JSONPATH_LAX) != 0;
	jspInit(&root, jp);
	walk.exists = exists && root.type == jpiRoot;
	if (!walk_path(&walk, &root))
		return false;
	*places = walk.places;
	add_existence(chain, places);
	return true;
}

bool
vx_path_lax_keys(Node *path, List **keys)
{
	JsonPath   *jp;
	JsonPathItem at;
	JsonPathItem next;

	if (!IsA(path, Const) || ((Const *) path)->constisnull ||
		((Const *) path)->consttype != JSONPATHOID)
		return false;
	jp = DatumGetJsonPathP(((Const *) path)->constvalue);
	jspInit(&at, jp);
	if (at.type != jpiRoot || (jp->header & JSONPATH_LAX) == 0)
		return false;
	*keys = NIL;
	for (; jspGetNext(&at, &next); at = next)
	{
		int32		len;
		char	   *key;

		if (next.type != jpiKey)
			return false;
		key = jspGetString(&next, &len);
		*keys = lappend(*keys, makeString(pnstrdup(key, len)));
	}
	return *keys != NIL;
}

/* ---- @> ---- */

/* Scalars and arrays of the constant: each says what stands at a path. */
static bool
contain_places(JsonbContainer *c, const Chain *chain, List *keys, List **places)
{
	JsonbIterator *it = JsonbIteratorInit(c);
	JsonbValue	v;
	JsonbIteratorToken token = JsonbIteratorNext(&it, &v, false);

	check_stack_depth();
	if (token != WJB_BEGIN_OBJECT || chain->open || JsonContainerSize(c) == 0)
	{
		*places = lappend(*places, make_place(VX_USE_VALUE, keys));
		return keys != NIL && list_length(*places) <= MAX_PLACES;
	}
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_END_OBJECT)
	{
		List	   *inner;

		if (token != WJB_KEY)
			continue;
		inner = lappend(list_copy(keys),
						makeString(pnstrdup(v.val.string.val, v.val.string.len)));
		(void) JsonbIteratorNext(&it, &v, true);
		if (v.type == jbvBinary)
		{
			if (!contain_places(v.val.binary.data, chain, inner, places))
				return false;
			continue;
		}
		*places = lappend(*places, make_place(VX_USE_VALUE, inner));
		if (list_length(*places) > MAX_PLACES)
			return false;
	}
	return true;
}

/* @> and <@ with a document on the smaller side: it may have other keys or none. */
static bool
contained_places(JsonbContainer *c, const Chain *chain, List **places)
{
	JsonbIterator *it = JsonbIteratorInit(c);
	JsonbValue	v;
	JsonbIteratorToken token = JsonbIteratorNext(&it, &v, true);

	*places = list_make1(make_place(VX_USE_TYPE, chain->keys));
	if (token != WJB_BEGIN_OBJECT || chain->open)
	{
		*places = list_make1(make_place(VX_USE_VALUE, chain->keys));
		return chain->keys != NIL;
	}
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_END_OBJECT)
		if (token == WJB_KEY)
			*places = lappend(*places,
							  make_place(VX_USE_VALUE,
										 lappend(list_copy(chain->keys),
												 makeString(pnstrdup(v.val.string.val,
																	 v.val.string.len)))));
	return list_length(*places) <= MAX_PLACES;
}

/* ---- expressions ---- */

static bool
use_chain(const Chain *chain, VxPlaceUse how, Node *argument, VxPathUse *use)
{
	use->document = chain->document;
	use->argument = argument;
	if (chain->open)
		how = VX_USE_VALUE;
	use->places = list_make1(make_place(how, chain->keys));
	return chain->keys != NIL || how != VX_USE_VALUE;
}

static bool
use_json_path(Node *argument, Node *path, bool exists, VxPathUse *use)
{
	Chain		chain;

	if (!find_chain(argument, &chain) || !path_places(path, &chain, exists, &use->places))
		return false;
	use->document = chain.document;
	use->argument = argument;
	use->part = true;
	return true;
}

/*
 * Keys, or strings of an array, of which there is at least one, are asked for.  Other
 * keys would only tell that there is an object at all.
 */
static bool
use_some_keys(const Chain *chain, Node *keys, Node *argument, VxPathUse *use)
{
	Chain		behind = {chain->document, NIL, false};
	ListCell   *lc;

	if (chain->open || chain->keys == NIL ||
		!(exprType(keys) == TEXTOID ? add_text(&behind, (Const *) keys) :
		  add_array(&behind, (Const *) keys)) ||
		behind.keys == NIL || list_length(behind.keys) >= MAX_PLACES)
		return false;
	use->document = chain->document;
	use->argument = argument;
	use->places = list_make1(make_place(VX_USE_NO_OBJECT, chain->keys));
	foreach(lc, behind.keys)
		use->places = lappend(use->places,
							  make_place(VX_USE_THERE, lappend(list_copy(chain->keys),
															   lfirst(lc))));
	return true;
}

/* One side of @> is a constant, the other one a chain. */
static bool
use_containment(Node *larger, Node *smaller, bool condition, VxPathUse *use)
{
	bool		is_larger = IsA(smaller, Const);
	const Const *constant = (const Const *) (is_larger ? smaller : larger);
	Chain		chain;
	JsonbContainer *root;

	use->argument = is_larger ? larger : smaller;
	use->part = true;
	if (!IsA(constant, Const) || constant->constisnull || !find_chain(use->argument, &chain))
		return false;
	use->document = chain.document;
	root = &DatumGetJsonbP(constant->constvalue)->root;
	if (!is_larger)
		return contained_places(root, &chain, &use->places);
	if (!contain_places(root, &chain, chain.keys, &use->places))
		return false;
	if (!condition)
		add_existence(&chain, &use->places);
	return true;
}

/* A call that is no step of a chain. */
static bool
use_call(Oid funcid, List *args, bool condition, VxPathUse *use)
{
	Node	   *first = linitial(args);
	Node	   *second = list_length(args) > 1 ? lsecond(args) : NULL;
	Chain		chain;

	switch (funcid)
	{
		case F_JSONB_TYPEOF:
		case F_JSONB_OBJECT_KEYS:
			use->part = true;
			return find_chain(first, &chain) && use_chain(&chain, VX_USE_TYPE, first, use);
		case F_JSONB_EXISTS:
		case F_JSONB_EXISTS_ANY:
		case F_JSONB_EXISTS_ALL:
			use->part = true;
			return find_chain(first, &chain) &&
				((condition && use_some_keys(&chain, second, first, use)) ||
				 use_chain(&chain, VX_USE_KEYS, first, use));
		case F_JSONB_CONTAINED:
			return use_containment(second, first, condition, use);
		case F_JSONB_CONTAINS:
			return use_containment(first, second, condition, use);
		case F_JSONB_PATH_EXISTS:
		case F_JSONB_PATH_EXISTS_TZ:
		case F_JSONB_PATH_EXISTS_OPR:
			return use_json_path(first, second, true, use);
		case F_JSONB_PATH_MATCH:
		case F_JSONB_PATH_MATCH_TZ:
		case F_JSONB_PATH_MATCH_OPR:
		case F_JSONB_PATH_QUERY:
		case F_JSONB_PATH_QUERY_TZ:
		case F_JSONB_PATH_QUERY_ARRAY:
		case F_JSONB_PATH_QUERY_ARRAY_TZ:
		case F_JSONB_PATH_QUERY_FIRST:
		case F_JSONB_PATH_QUERY_FIRST_TZ:
			return use_json_path(first, second, false, use);
		default:
			return false;
	}
}

bool
vx_path_use(Node *node, bool condition, VxPathUse *use)
{
	Oid			funcid;
	List	   *args;
	Chain		chain;
	Node	   *document;
	Node	   *path;

	memset(use, 0, sizeof(*use));
	if (IsA(node, NullTest) && !((NullTest *) node)->argisrow)
	{
		Node	   *arg = (Node *) ((NullTest *) node)->arg;

		if (!find_chain(arg, &chain))
			return false;
		(void) use_chain(&chain, VX_USE_TYPE, arg, use);
		use->part = chain.keys != NIL;
		if (!use->part && !chain.open)
			use->places = NIL;
		return use->part || use->places == NIL;
	}
	if (IsA(node, SubscriptingRef))
		return find_subscript((SubscriptingRef *) node, &chain) &&
			use_chain(&chain, VX_USE_VALUE, node, use);
	if (st_json_expr(node, &document, &path))
		return use_json_path(document, path, false, use);
	if (!take_call(node, &funcid, &args))
		return false;
	if (find_step(node, true, &chain))
		return use_chain(&chain, VX_USE_VALUE, node, use);
	return use_call(funcid, args, condition, use);
}

/* ---- queries ---- */

static bool
has_domain(List *types)
{
	ListCell   *lc;

	foreach(lc, types)
		if (get_typtype(lfirst_oid(lc)) == TYPTYPE_DOMAIN)
			return true;
	return false;
}

/* jsonb_to_record() in FROM: it looks at the keys that its columns are named by. */
static bool
record_use(RangeTblFunction *function, VxPathUse *use)
{
	FuncExpr   *call = (FuncExpr *) function->funcexpr;
	Chain		chain;
	ListCell   *lc;

	memset(use, 0, sizeof(*use));
	if (!IsA(call, FuncExpr) || call->funcid != F_JSONB_TO_RECORD ||
		list_length(function->funccolnames) > MAX_PLACES ||
		!find_chain(linitial(call->args), &chain) || chain.open)
		return false;
	use->document = chain.document;
	use->argument = linitial(call->args);
	foreach(lc, function->funccolnames)
		use->places = lappend(use->places,
							  make_place(VX_USE_VALUE,
										 lappend(list_copy(chain.keys), lfirst(lc))));
	/* an object that has none of the keys is as good as none, unless nulls are refused */
	if (has_domain(function->funccoltypes))
		add_existence(&chain, &use->places);
	else if (chain.keys != NIL)
		use->places = lappend(use->places, make_place(VX_USE_NO_OBJECT, chain.keys));
	return use->places != NIL;
}

typedef struct QueryWalk
{
	Index		varno;
	AttrNumber	attno;
	Index		levelsup;		/* of the query whose columns are meant */
	Node	   *skip;
	List	   *places;
} QueryWalk;

/* True: the walk is over, the whole document is needed. */
static bool
walk_query(Node *node, QueryWalk *walk)
{
	VxPathUse	use;

	if (node == NULL || node == walk->skip)
		return false;
	if (IsA(node, Query))
	{
		bool		whole;

		walk->levelsup++;
		whole = query_tree_walker((Query *) node, walk_query, walk, QTW_IGNORE_JOINALIASES);
		walk->levelsup--;
		return whole;
	}
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		return var->varno == (int) walk->varno && var->varlevelsup == walk->levelsup &&
			(var->varattno == walk->attno || var->varattno == 0);
	}
	if ((IsA(node, RangeTblFunction) ? record_use((RangeTblFunction *) node, &use) :
		 vx_path_use(node, false, &use)) && use.document->varno == (int) walk->varno &&
		use.document->varlevelsup == walk->levelsup &&
		use.document->varattno == walk->attno)
	{
		ListCell   *lc;
		Node	   *skip = walk->skip;
		bool		whole;

		foreach(lc, use.places)
			walk->places = list_append_unique(walk->places, lfirst(lc));
		if (list_length(walk->places) > MAX_PLACES)
			return true;
		if (use.argument == node)
			return false;
		walk->skip = use.argument;
		whole = expression_tree_walker(node, walk_query, walk);
		walk->skip = skip;
		return whole;
	}
	return expression_tree_walker(node, walk_query, walk);
}

bool
vx_path_query_use(Query *query, Index varno, AttrNumber attno, List **places)
{
	QueryWalk	walk = {varno, attno, 0, NULL, NIL};

	if (query_tree_walker(query, walk_query, &walk, QTW_IGNORE_JOINALIASES))
		return false;
	*places = walk.places;
	return true;
}
