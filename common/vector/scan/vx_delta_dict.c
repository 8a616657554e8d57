/*-------------------------------------------------------------------------
 *
 * vx_delta_dict.c
 *	  Dictionaries for columns of the delta.
 *
 * Rows of the delta stand one by one on their pages.  Where a column has few
 * distinct values, giving them codes lets expressions run once per value, as
 * they do in row groups; an array or a string is compared with one hash.
 *
 * A dictionary belongs to one scan and keeps its codes over all of it.  Its
 * values are distinct by their bytes and not sorted.  A column with too many,
 * or long, ones gives up for the rest of the scan; so memory is bounded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "vx_delta_dict.h"
#include "st_checksum.h"
#include "st_compat.h"

#define MAX_VALUES	8192
#define MAX_LENGTH	256			/* bytes of a value */
#define NSLOTS		(2 * MAX_VALUES)

/* So many distinct values are looked at before their share counts. */
#define FREE_VALUES	1024

struct VxDeltaDict
{
	MemoryContext mcxt;
	int16		typlen;
	bool		given_up;
	uint64		nseen;			/* values asked for */
	VxDictionary dict;
	uint16	   *slots;			/* code + 1, or 0, by hash */
	uint32	   *hashes;			/* by code */
};

VxDeltaDict *
vx_delta_dict_create(int16 typlen)
{
	VxDeltaDict *dict = palloc0(sizeof(VxDeltaDict));

	dict->mcxt = CurrentMemoryContext;
	dict->typlen = typlen;
	dict->given_up = typlen == -2;	/* nobody has such columns */
	dict->dict.capacity = MAX_VALUES;
	return dict;
}

bool
vx_delta_dict_is_used(const VxDeltaDict *dict)
{
	return !dict->given_up;
}

const VxDictionary *
vx_delta_dict_values(const VxDeltaDict *dict)
{
	return &dict->dict;
}

static inline const char *
value_bytes(const VxDeltaDict *dict, Datum value, int *len)
{
	if (dict->typlen > 0)
	{
		*len = dict->typlen;
		return DatumGetPointer(value);
	}
	*len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	return VARDATA_ANY(DatumGetPointer(value));
}

/* Copy with a plain header. */
static Datum
copy_value(VxDeltaDict *dict, const char *data, int len)
{
	char	   *copy;

	if (dict->typlen > 0)
	{
		copy = MemoryContextAlloc(dict->mcxt, len);
		memcpy(copy, data, len);
	}
	else
	{
		copy = MemoryContextAlloc(dict->mcxt, VARHDRSZ + len);
		SET_VARSIZE(copy, VARHDRSZ + len);
		memcpy(VARDATA(copy), data, len);
	}
	return PointerGetDatum(copy);
}

static bool
has_room(const VxDeltaDict *dict, int len)
{
	uint32		n = dict->dict.nvalues;

	return len <= MAX_LENGTH && n < MAX_VALUES &&
		(n < FREE_VALUES || (uint64) n * 2 <= dict->nseen);
}

bool
vx_delta_dict_code(VxDeltaDict *dict, Datum value, uint32 *code)
{
	int			len;
	const char *data = value_bytes(dict, value, &len);
	uint32		hash = (uint32) st_checksum64(data, len, 0);
	uint32		at;

	if (dict->slots == NULL)
	{
		dict->slots = MemoryContextAllocZero(dict->mcxt, sizeof(uint16) * NSLOTS);
		dict->hashes = MemoryContextAlloc(dict->mcxt, sizeof(uint32) * MAX_VALUES);
		dict->dict.values = MemoryContextAlloc(dict->mcxt, sizeof(Datum) * MAX_VALUES);
	}
	dict->nseen++;
	for (at = hash % NSLOTS; dict->slots[at] != 0; at = (at + 1) % NSLOTS)
	{
		int			known_len;
		const char *known;

		*code = dict->slots[at] - 1;
		if (dict->hashes[*code] != hash)
			continue;
		known = value_bytes(dict, dict->dict.values[*code], &known_len);
		if (known_len == len && memcmp(known, data, len) == 0)
			return true;
	}
	if (!has_room(dict, len))
	{
		dict->given_up = true;
		return false;
	}
	*code = dict->dict.nvalues++;
	dict->slots[at] = *code + 1;
	dict->hashes[*code] = hash;
	dict->dict.values[*code] = copy_value(dict, data, len);
	return true;
}
