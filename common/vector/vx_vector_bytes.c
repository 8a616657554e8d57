/*-------------------------------------------------------------------------
 *
 * vx_vector_bytes.c
 *	  Vectors as bytes, for shared memory and files.
 *
 *	 vector = | VectorHead | validity, if there are nulls | values | dictionary |
 *
 * Values by reference are offsets, zero for null, and bytes behind.  Behind codes
 * follow the values of their dictionary, likewise.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "vx_vector_bytes.h"

typedef struct VectorHead
{
	VxRep		rep;
	int16		scale;
	bool		has_nulls;
	uint32		nvalues;		/* of the dictionary */
} VectorHead;

Size
vx_bytes_room(VxBytes *b, Size size)
{
	Size		at = b->used;

	b->used += MAXALIGN(size);
	if (b->used > b->capacity)
	{
		b->capacity = Max(b->used, 2 * b->capacity);
		b->data = b->data ? repalloc_huge(b->data, b->capacity) :
			MemoryContextAllocHuge(b->mcxt, b->capacity);
	}
	return at;
}

Size
vx_bytes_add(VxBytes *b, const void *data, Size size)
{
	Size		at = vx_bytes_room(b, size);

	memcpy(b->data + at, data, size);
	return at;
}

/* Values by reference; zero: null. */
static void
add_values(VxBytes *b, int16 typlen, const Datum *values, int n)
{
	Size		offsets = vx_bytes_room(b, sizeof(Size) * n);

	for (int i = 0; i < n; i++)
	{
		Size		at = values[i] == 0 ? 0 :
			vx_bytes_add(b, DatumGetPointer(values[i]),
						 datumGetSize(values[i], false, typlen));

		((Size *) (b->data + offsets))[i] = at;
	}
}

static Size
element_bytes(VxRep rep)
{
	return rep == VX_REP_CODE ? sizeof(uint32) : rep == VX_REP_FLOAT4 ? sizeof(float) :
		sizeof(Datum);
}

/* Codes count the values that the vector has, which go to values; how many there are. */
static uint32
renumber_codes(VxBytes *b, VxVector *v)
{
	uint32	   *numbers = palloc0(sizeof(uint32) * (v->dict->nvalues + 1));
	uint32		nvalues = 0;

	for (int i = 0; i < v->n; i++)
	{
		uint32		code = v->u.code[i];

		if (vx_vector_isnull(v, i))
			continue;
		if (numbers[code] == 0)
		{
			b->values[nvalues++] = v->dict->values[code];
			numbers[code] = nvalues;
		}
		v->u.code[i] = numbers[code] - 1;
	}
	pfree(numbers);
	return nvalues;
}

void
vx_bytes_add_vector(VxBytes *b, VxVector *v)
{
	VectorHead	head = {0};

	head.rep = v->rep;
	head.scale = v->scale;
	head.has_nulls = v->has_nulls;
	if (v->rep == VX_REP_CODE)
		head.nvalues = renumber_codes(b, v);
	vx_bytes_add(b, &head, sizeof(head));
	if (v->has_nulls)
		vx_bytes_add(b, v->valid, sizeof(uint64) * ((v->n + 63) / 64));
	if (v->rep == VX_REP_DATUM)
		add_values(b, v->typlen, v->u.datum, v->n);
	else
		vx_bytes_add(b, v->u.datum, element_bytes(v->rep) * v->n);
	if (v->rep == VX_REP_CODE)
		add_values(b, v->typlen, b->values, head.nvalues);
}

/* What add_values() has written; what is behind the offsets is stepped over. */
static Datum *
take_values(char *start, char **at, int16 typlen, int n)
{
	const Size *offsets = vx_bytes_take(at, sizeof(Size) * n);
	Datum	   *values = palloc(sizeof(Datum) * (n + 1));

	for (int i = 0; i < n; i++)
	{
		values[i] = offsets[i] == 0 ? 0 : PointerGetDatum(start + offsets[i]);
		if (offsets[i] != 0)
			*at = start + offsets[i] + MAXALIGN(datumGetSize(values[i], false, typlen));
	}
	return values;
}

static const VxDictionary *
take_dictionary(char *start, char **at, int16 typlen, uint32 nvalues, uint64 number)
{
	VxDictionary *dict = palloc0(sizeof(VxDictionary));

	dict->nvalues = nvalues;
	dict->values = take_values(start, at, typlen, nvalues);
	dict->made = number;
	return dict;
}

void
vx_bytes_take_vector(char *start, char **at, int n, int16 typlen, uint64 number, VxVector *v)
{
	const VectorHead *head = vx_bytes_take(at, sizeof(VectorHead));

	v->rep = head->rep;
	v->n = n;
	v->scale = head->scale;
	v->typlen = typlen;
	v->has_nulls = head->has_nulls;
	if (v->has_nulls)
		memcpy(v->valid, vx_bytes_take(at, sizeof(uint64) * ((n + 63) / 64)),
			   sizeof(uint64) * ((n + 63) / 64));
	if (v->rep == VX_REP_DATUM)
		v->u.datum = take_values(start, at, typlen, n);
	else
		v->u.datum = vx_bytes_take(at, element_bytes(v->rep) * n);
	v->dict = v->rep == VX_REP_CODE ?
		take_dictionary(start, at, typlen, head->nvalues, number) : NULL;
}

void
vx_read_exactly(BufFile *file, void *bytes, Size size)
{
	if (BufFileRead(file, bytes, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read rows from a temporary file")));
}
