/*-------------------------------------------------------------------------
 *
 * cc_array_read.c
 *	  Reads arrays that are stored as lengths and elements.
 *
 * The arrays of a vector have elements of one vector of elements, or of
 * several.  These are decoded one after the other while arrays are written, so
 * that an array of any length needs room for itself and one vector.  The first
 * one and the last one may have elements of neighbours, too: they are decoded as
 * a whole, and found at hand by the next vector.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "cc_array_read.h"
#include "cc_shred_read.h"
#include "st_compat.h"
#include "st_int.h"

/* So few elements are taken one by one. */
#define FEW_ELEMENTS 16

/* Memory for arrays, at first. */
#define ARENA_BYTES (32 * 1024)

/* Elements between two looks at interrupts. */
#define INTERRUPT_ELEMENTS 1024

/* ---- meta ---- */

static void
read_before(StReader *r, CcChunk *chunk, CcArray *array, StByteReader *b)
{
	int64	   *before = palloc(ST_VECTOR_SIZE * sizeof(int64));
	uint64		len = st_read_varint(b);
	const uint8 *p = st_read_span(b, len);

	if (p == NULL ||
		st_int_decode(p, len, chunk->nvectors, (int64_t *) before) != ST_OK)
		cc_corrupt(r, "places of arrays");
	for (uint32 i = 0; i < chunk->nvectors; i++)
	{
		if (before[i] < (i == 0 ? 0 : before[i - 1]) || before[i] > array->nelements)
			cc_corrupt(r, "places of arrays");
		array->before[i] = (uint32) before[i];
	}
	array->before[chunk->nvectors] = array->nelements;
	if (array->before[0] != 0)
		cc_corrupt(r, "places of arrays");
	pfree(before);
}

void
cc_array_open(StReader *r, CcChunk *chunk, StByteReader *b)
{
	CcArray    *array = MemoryContextAllocZero(r->mcxt, sizeof(CcArray));
	uint64		nelements = st_read_varint(b);
	const uint8 *p;

	if (nelements == 0 || nelements > CC_ARRAY_MAX_ELEMENTS ||
		chunk->depth >= CC_ARRAY_MAX_DEPTH)
		cc_corrupt(r, "elements of arrays");
	array->nelements = nelements;
	array->places.vector = -1;
	array->before = MemoryContextAlloc(r->mcxt, (chunk->nvectors + 1) * sizeof(uint32));
	read_before(r, chunk, array, b);
	p = st_read_span(b, sizeof(array->entries));
	if (p == NULL)
		cc_corrupt(r, "elements of arrays");
	memcpy(array->entries, p, sizeof(array->entries));
	if (array->entries[CC_ARRAY_ELEMENTS].encoding == CC_ENC_NULLS ||
		array->entries[CC_ARRAY_ELEMENTS].nnulls > 0)
		cc_corrupt(r, "elements of arrays");
	chunk->array = array;
}

CcChunk *
cc_array_chunk_make(StReader *r, CcChunk *chunk, CcArrayPart part)
{
	const CcFooterColumn *e = &chunk->array->entries[part];
	bool		elements = part == CC_ARRAY_ELEMENTS;
	FormData_pg_attribute att;
	SfColumnType type;

	if (e->typid != JSONBOID || (!elements && e->encoding >= CC_ENC_SHRED))
		cc_corrupt(r, "elements of arrays");
	cc_builtin_attribute(JSONBOID, &att);
	sf_column_type(&att, &type);
	return cc_chunk_make(r, e, &type, elements ? chunk->array->nelements : chunk->nrows,
						 elements ? chunk->depth + 1 : CC_ARRAY_MAX_DEPTH);
}

CcChunk *
cc_array_chunk(StReader *r, CcChunk *chunk, CcArrayPart part)
{
	CcArray    *array = chunk->array;

	if (array->entries[part].encoding == CC_ENC_NULLS)
		return NULL;
	if (array->chunks[part] == NULL)
		array->chunks[part] = cc_array_chunk_make(r, chunk, part);
	return array->chunks[part];
}

/* ---- places ---- */

/* NULL: all rows are. */
static inline bool
is_wanted(const uint64 *rows, uint32 i)
{
	return rows == NULL || (rows[i / 64] >> (i % 64)) & 1;
}

static const CcArrayPlaces *
get_places(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
		   const uint64 *valid)
{
	CcArray    *array = chunk->array;
	CcArrayPlaces *p = &array->places;
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	uint64		at = array->before[vecno];

	if (p->vector == vecno)
		return p;
	p->vector = -1;
	if (st_int_decode_u32(src, len, n, p->length) != ST_OK)
		cc_corrupt(r, "lengths of arrays");
	for (uint32 i = 0; i < n; i++)
	{
		p->start[i] = (uint32) at;
		if (p->length[i] == 0 || !is_wanted(valid, i))
			p->length[i] = CC_ARRAY_NOT_SPLIT;
		else
			at += --p->length[i];
		if (at > array->before[vecno + 1])
			cc_corrupt(r, "lengths of arrays");
	}
	if (at != array->before[vecno + 1])
		cc_corrupt(r, "lengths of arrays");
	p->vector = vecno;
	return p;
}

/* Places of a vector that is not decoded; valid, set if there are nulls, or NULL. */
static const CcArrayPlaces *
find_places(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 **valid)
{
	const CcVectorPlace *place = &chunk->vectors[vecno];
	uint64	   *words = chunk->array->valid;
	Size		len;
	const uint8 *src = cc_vector_bytes(r, chunk, vecno, &len);

	cc_take_validity(r, place, cc_chunk_vector_rows(chunk, vecno), &src, &len, words);
	*valid = place->nnulls > 0 ? words : NULL;
	return get_places(r, chunk, src, len, vecno, *valid);
}

bool
cc_array_places(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 *rows,
				uint32 *start, uint32 *length)
{
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const CcArrayPlaces *places;
	const uint64 *valid;

	memset(length, 0, n * sizeof(uint32));
	if (chunk->vectors[vecno].nnulls == n)
		return true;
	places = find_places(r, chunk, vecno, &valid);
	for (uint32 i = 0; i < n; i++)
	{
		if (!is_wanted(rows, i) || !is_wanted(valid, i))
			continue;
		if (places->length[i] == CC_ARRAY_NOT_SPLIT)
			return false;
		start[i] = places->start[i];
		length[i] = places->length[i];
	}
	return true;
}

const VxVector *
cc_array_types(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 *rows)
{
	/* a varlena of an array of no elements */
	static const uint32 empty[2] = {(VARHDRSZ + sizeof(uint32)) << 2, ST_JSONB_ARRAY};
	VxVector   *v = &chunk->array->types;
	CcChunk    *whole_chunk = cc_array_chunk(r, chunk, CC_ARRAY_WHOLE);
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const VxVector *whole = NULL;
	const CcArrayPlaces *places;
	const uint64 *valid;

	if (chunk->vectors[vecno].nnulls == n)
		return NULL;
	places = find_places(r, chunk, vecno, &valid);
	if (whole_chunk != NULL && whole_chunk->vectors[vecno].nnulls < n)
		whole = cc_chunk_vector(r, whole_chunk, vecno, rows);
	if (v->u.datum == NULL)
		v->u.datum = MemoryContextAlloc(r->mcxt, ST_VECTOR_SIZE * sizeof(Datum));
	v->rep = VX_REP_DATUM;
	v->typlen = -1;
	v->n = n;
	v->has_nulls = valid != NULL;
	if (valid != NULL)
		memcpy(v->valid, valid, sizeof(v->valid));
	for (uint32 i = 0; i < n; i++)
	{
		v->u.datum[i] = PointerGetDatum(empty);
		if (places->length[i] != CC_ARRAY_NOT_SPLIT || !is_wanted(valid, i))
			continue;
		if (whole == NULL || vx_vector_isnull(whole, i))
			cc_corrupt(r, "arrays that are kept whole");
		v->u.datum[i] = PointerGetDatum(cc_doc_varlena(whole, i));
	}
	return v;
}

/* ---- elements ---- */

/* The elements of a vector's arrays, which are taken in order. */
typedef struct Taker
{
	StReader   *r;
	CcChunk    *elements;
	const CcArrayPlaces *places;
	uint32		n;				/* rows */
	const uint64 *rows;			/* wanted, or NULL */
	uint32		first_vector;	/* of elements, and the last one: */
	uint32		last_vector;
	bool		few;
	CcElementVector other;		/* gives vectors of other elements; or NULL */
	void	   *arg;
	uint8	  **arena;			/* of the arrays */
	Size	   *arena_cap;
	int64		vector;			/* at hand, or -1 */
	const VxVector *v;
} Taker;

static bool
are_few(const CcArrayPlaces *places, const uint64 *rows, uint32 n)
{
	uint64		sum = 0;

	for (uint32 i = 0; i < n && sum <= FEW_ELEMENTS; i++)
	{
		if (is_wanted(rows, i) && places->length[i] != CC_ARRAY_NOT_SPLIT)
			sum += places->length[i];
	}
	return sum <= FEW_ELEMENTS;
}

static void
begin_taking(Taker *g, StReader *r, CcChunk *chunk, const CcArrayPlaces *places,
			 const uint64 *rows)
{
	const uint32 *before = &chunk->array->before[places->vector];

	g->r = r;
	g->elements = cc_array_chunk(r, chunk, CC_ARRAY_ELEMENTS);
	g->places = places;
	g->n = cc_chunk_vector_rows(chunk, places->vector);
	g->rows = rows;
	g->first_vector = before[0] / ST_VECTOR_SIZE;
	g->last_vector = before[1] > before[0] ? (before[1] - 1) / ST_VECTOR_SIZE : g->first_vector;
	g->few = rows != NULL && are_few(places, rows, g->n);
	g->other = NULL;
	g->arena = &chunk->arena;
	g->arena_cap = &chunk->arena_cap;
	g->vector = -1;
}

/* Elements of a vector that the rows from the given one on want. */
static void
wanted_elements(const Taker *g, uint32 row, uint32 vecno, uint64 *words)
{
	uint64		first = (uint64) vecno * ST_VECTOR_SIZE;
	uint64		end = first + ST_VECTOR_SIZE;

	memset(words, 0, VX_VALIDITY_WORDS * sizeof(uint64));
	for (; row < g->n && g->places->start[row] < end; row++)
	{
		uint64		from = Max(g->places->start[row], first);
		uint64		to;

		if (g->places->length[row] == CC_ARRAY_NOT_SPLIT || !is_wanted(g->rows, row))
			continue;
		to = Min((uint64) g->places->start[row] + g->places->length[row], end);
		for (uint64 i = from; i < to; i++)
			words[(i - first) / 64] |= UINT64CONST(1) << ((i - first) % 64);
	}
}

/* An element of a row's array, until the next one is asked for. */
static const struct varlena *
take_element(Taker *g, uint32 row, uint32 element)
{
	uint32		vecno = element / ST_VECTOR_SIZE;
	uint64		words[VX_VALIDITY_WORDS];
	bool		isnull = false;

	if (g->few)
	{
		Datum		value = cc_chunk_value(g->r, g->elements, vecno,
										   element % ST_VECTOR_SIZE, &isnull);

		if (isnull)
			cc_corrupt(g->r, "elements of arrays");
		return (struct varlena *) DatumGetPointer(value);
	}
	if (g->vector != vecno)
	{
		bool		some = g->rows != NULL && vecno != g->first_vector && vecno != g->last_vector;

		if (some || g->other != NULL)
			wanted_elements(g, row, vecno, words);
		g->v = g->other != NULL ? g->other(g->r, g->elements, vecno, words, g->arg) :
			cc_chunk_vector(g->r, g->elements, vecno, some ? words : NULL);
		if (g->v->has_nulls)
			cc_corrupt(g->r, "elements of arrays");
		g->vector = vecno;
	}
	return cc_doc_varlena(g->v, element % ST_VECTOR_SIZE);
}

/* ---- arrays ---- */

/* More room for the array that begins at start, of which len bytes are written. */
static void
more_room(Taker *g, Size start, Size len, StJsonbWriter *w)
{
	*g->arena_cap = Max(start + ARENA_BYTES, 2 * *g->arena_cap);
	*g->arena = *g->arena == NULL ? MemoryContextAllocHuge(g->r->mcxt, *g->arena_cap) :
		repalloc_huge(*g->arena, *g->arena_cap);
	st_jsonb_writer_init(w, *g->arena + start + VARHDRSZ, *g->arena_cap - start - VARHDRSZ);
	w->len = len;
}

static void
put_element(StJsonbWriter *w, StJsonbBuild *b, const struct varlena *element)
{
	const uint8 *data = (const uint8 *) VARDATA(element);
	uint32		len = VARSIZE(element) - VARHDRSZ;
	StJsonbCursor at = {0, 0};
	StJsonbItem item;
	StJsonb		c;

	if (st_jsonb_open(data, len, &c) != ST_OK)
		w->status = ST_CORRUPT;
	else if ((st_load_u32(data) & ST_JSONB_SCALAR) == 0)
		st_jsonb_put(w, b, ST_JSONB_CONTAINER, data, len);
	else if (st_jsonb_next(&c, &at, &item) != ST_OK)
		w->status = ST_CORRUPT;
	else
		st_jsonb_put(w, b, item.type, item.data, item.len);
}

/*
 * Appends the array of a row as a varlena to the arena, which may move;
 * returns where it begins, and sets *used to where it ends.
 */
static Size
append_array(Taker *g, uint32 row, Size *used)
{
	Size		start = MAXALIGN(*used);
	uint32		length = g->places->length[row];
	StJsonbWriter w;
	StJsonbBuild b;

	if (*g->arena_cap <= start + VARHDRSZ)
		more_room(g, start, 0, &w);
	st_jsonb_writer_init(&w, *g->arena + start + VARHDRSZ, *g->arena_cap - start - VARHDRSZ);
	st_jsonb_begin(&w, &b, ST_JSONB_ARRAY, length);
	while (w.status == ST_NOSPACE)
	{
		more_room(g, start, 0, &w);
		st_jsonb_begin(&w, &b, ST_JSONB_ARRAY, length);
	}
	for (uint32 i = 0; i < length; i++)
	{
		const struct varlena *element = take_element(g, row, g->places->start[row] + i);
		Size		len = w.len;

		if (i % INTERRUPT_ELEMENTS == 0)
			CHECK_FOR_INTERRUPTS();
		put_element(&w, &b, element);
		while (w.status == ST_NOSPACE)
		{
			more_room(g, start, len, &w);
			put_element(&w, &b, element);
		}
		if (w.status != ST_OK)
			cc_corrupt(g->r, "elements of arrays");
	}
	SET_VARSIZE(*g->arena + start, w.len + VARHDRSZ);
	*used = start + VARHDRSZ + w.len;
	return start;
}

/*
 * Arrays that are kept whole stay in the vector of their own chunk, which
 * stays as long.  Rows that nobody wants have an empty varlena, at the start of
 * the arena.
 */
void
cc_array_decode(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
				const uint64 *rows, Datum *values)
{
	const uint64 *valid = chunk->v.has_nulls ? chunk->v.valid : NULL;
	const CcArrayPlaces *places = get_places(r, chunk, src, len, vecno, valid);
	CcChunk    *whole_chunk = cc_array_chunk(r, chunk, CC_ARRAY_WHOLE);
	uint32		n = cc_chunk_vector_rows(chunk, vecno);
	const VxVector *whole = NULL;
	Size		used = VARHDRSZ;
	Taker		g;

	if (whole_chunk != NULL && whole_chunk->vectors[vecno].nnulls < n)
		whole = cc_chunk_vector(r, whole_chunk, vecno, rows);
	begin_taking(&g, r, chunk, places, rows);
	for (uint32 i = 0; i < n; i++)
	{
		values[i] = (Datum) 0;
		if (is_wanted(valid, i) && is_wanted(rows, i) &&
			places->length[i] != CC_ARRAY_NOT_SPLIT)
			values[i] = append_array(&g, i, &used);
	}
	cc_ensure(r, &chunk->arena, &chunk->arena_cap, VARHDRSZ);
	SET_VARSIZE(chunk->arena, VARHDRSZ);
	/* The arena stands still now: offsets become pointers. */
	for (uint32 i = 0; i < n; i++)
	{
		values[i] += PointerGetDatum(chunk->arena);
		if (!is_wanted(valid, i) || places->length[i] != CC_ARRAY_NOT_SPLIT)
			continue;
		if (whole == NULL || vx_vector_isnull(whole, i))
			cc_corrupt(r, "arrays that are kept whole");
		if (is_wanted(rows, i))
			values[i] = PointerGetDatum(cc_doc_varlena(whole, i));
	}
}

const VxVector *
cc_array_parts(StReader *r, CcChunk *chunk, uint32 vecno, const uint64 *rows,
			   CcElementVector vector, void *arg)
{
	CcArray    *array = chunk->array;
	/* those that are kept whole are in their places */
	const VxVector *types = cc_array_types(r, chunk, vecno, rows);
	VxVector   *v = &array->parts;
	Size		used = 0;
	Taker		g;

	if (types == NULL)
		return NULL;
	begin_taking(&g, r, chunk, &array->places, rows);
	g.few = false;
	g.other = vector;
	g.arg = arg;
	g.arena = &array->parts_arena;
	g.arena_cap = &array->parts_cap;
	if (v->u.datum == NULL)
		v->u.datum = MemoryContextAlloc(r->mcxt, ST_VECTOR_SIZE * sizeof(Datum));
	v->rep = VX_REP_DATUM;
	v->typlen = -1;
	v->n = types->n;
	v->has_nulls = types->has_nulls;
	memcpy(v->valid, types->valid, sizeof(v->valid));
	for (uint32 i = 0; i < g.n; i++)
	{
		if (is_wanted(rows, i) && g.places->length[i] != CC_ARRAY_NOT_SPLIT)
			v->u.datum[i] = append_array(&g, i, &used);
	}
	for (uint32 i = 0; i < g.n; i++)
	{
		if (is_wanted(rows, i) && g.places->length[i] != CC_ARRAY_NOT_SPLIT)
			v->u.datum[i] += PointerGetDatum(array->parts_arena);
		else
			v->u.datum[i] = types->u.datum[i];
	}
	return v;
}

Datum
cc_array_point(StReader *r, CcChunk *chunk, const uint8 *src, Size len, uint32 vecno,
			   uint32 i, const uint64 *valid)
{
	const CcArrayPlaces *places = get_places(r, chunk, src, len, vecno, valid);
	uint64		rows[VX_VALIDITY_WORDS] = {0};
	Size		used = 0;
	Taker		g;

	if (places->length[i] == CC_ARRAY_NOT_SPLIT)
	{
		CcChunk    *whole = cc_array_chunk(r, chunk, CC_ARRAY_WHOLE);
		bool		isnull = true;
		Datum		value = (Datum) 0;

		if (whole != NULL)
			value = cc_chunk_value(r, whole, vecno, i, &isnull);
		if (isnull)
			cc_corrupt(r, "arrays that are kept whole");
		return value;
	}
	rows[i / 64] = UINT64CONST(1) << (i % 64);
	begin_taking(&g, r, chunk, places, rows);
	/* the chunk's arena may hold the vector at hand */
	g.arena = &chunk->point;
	g.arena_cap = &chunk->point_cap;
	(void) append_array(&g, i, &used);
	return PointerGetDatum(chunk->point);
}
