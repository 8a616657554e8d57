/*-------------------------------------------------------------------------
 *
 * vx_intern.c
 *	  Distinct values of a key, numbered as they come.
 *
 * A key that is no integer takes part in the hash table of groups as the
 * number of its value here.  The value that came first stands for all that
 * are equal to it, as in the server.  Strings under a deterministic collation
 * are compared as bytes; everything else by the query's own equality operator
 * and the hash function that goes with it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "vx_intern.h"
#include "st_checksum.h"
#include "st_compat.h"

#define INITIAL_SLOTS 256

/* Of a dictionary. */
#define MAX_VALUES	8192

/* So many distinct values are looked at before their share counts. */
#define FREE_VALUES	1024

typedef struct Slot
{
	uint32		hash;
	uint32		number;			/* VX_NO_WORD: free */
} Slot;

struct VxIntern
{
	MemoryContext values_mcxt;	/* all but this struct */
	Oid			type;			/* base type */
	Oid			collation;
	bool		bytes;
	int16		typlen;
	bool		typbyval;
	FmgrInfo	hash;
	FmgrInfo	equal;

	Slot	   *slots;
	uint32		nslots;			/* a power of two */
	uint32		nvalues;
	uint32		capacity;
	Datum	   *values;
};

VxIntern *
vx_intern_create(MemoryContext mcxt, Oid type, Oid eqop, Oid collation, bool bytes)
{
	VxIntern   *intern = palloc0(sizeof(VxIntern));
	Oid			left;
	Oid			right;

	if (!bytes)
	{
		if (!get_op_hash_functions(eqop, &left, &right))
			elog(ERROR, "could not find hash function for operator %u", eqop);
		fmgr_info(left, &intern->hash);
		fmgr_info(get_opcode(eqop), &intern->equal);
	}
	intern->values_mcxt = AllocSetContextCreate(mcxt,
												"vector group key values",
												ALLOCSET_DEFAULT_SIZES);
	intern->type = getBaseType(type);
	intern->collation = collation;
	intern->bytes = bytes;
	get_typlenbyval(type, &intern->typlen, &intern->typbyval);
	vx_intern_reset(intern);
	return intern;
}

static void
make_slots(VxIntern *intern, uint32 nslots)
{
	intern->slots = MemoryContextAllocHuge(intern->values_mcxt, sizeof(Slot) * nslots);
	memset(intern->slots, 0xFF, sizeof(Slot) * nslots);
	intern->nslots = nslots;
}

void
vx_intern_reset(VxIntern *intern)
{
	MemoryContextReset(intern->values_mcxt);
	make_slots(intern, INITIAL_SLOTS);
	intern->nvalues = 0;
	intern->capacity = INITIAL_SLOTS / 2;
	intern->values = MemoryContextAlloc(intern->values_mcxt,
										sizeof(Datum) * intern->capacity);
}

/* The bytes that decide about equality. */
static inline const char *
key_bytes(const VxIntern *intern, Datum value, int *len)
{
	const char *data;

	if (intern->typlen != -1)
	{
		*len = datumGetSize(value, false, intern->typlen);
		return DatumGetPointer(value);
	}
	data = VARDATA_ANY(DatumGetPointer(value));
	*len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	if (intern->type == BPCHAROID)
		*len = bpchartruelen(unconstify(char *, data), *len);
	return data;
}

static inline uint32
hash_value(VxIntern *intern, Datum value)
{
	if (intern->bytes)
	{
		int			len;
		const char *data = key_bytes(intern, value, &len);

		return (uint32) st_checksum64(data, len, 0);
	}
	/* Functions may hash to few bits; ours index by the low ones. */
	return murmurhash32(DatumGetUInt32(FunctionCall1Coll(&intern->hash, intern->collation,
														 value)));
}

static inline bool
values_are_equal(VxIntern *intern, Datum a, Datum b)
{
	if (intern->bytes)
	{
		int			alen;
		int			blen;
		const char *adata = key_bytes(intern, a, &alen);
		const char *bdata = key_bytes(intern, b, &blen);

		return alen == blen && memcmp(adata, bdata, alen) == 0;
	}
	return DatumGetBool(FunctionCall2Coll(&intern->equal, intern->collation, a, b));
}

static void
grow(VxIntern *intern)
{
	Slot	   *old = intern->slots;
	uint32		nold = intern->nslots;

	make_slots(intern, nold * 2);
	for (uint32 i = 0; i < nold; i++)
	{
		uint32		at = old[i].hash & (intern->nslots - 1);

		if (old[i].number == VX_NO_WORD)
			continue;
		while (intern->slots[at].number != VX_NO_WORD)
			at = (at + 1) & (intern->nslots - 1);
		intern->slots[at] = old[i];
	}
	pfree(old);
	intern->capacity = intern->nslots / 2;
	intern->values = repalloc_huge(intern->values, sizeof(Datum) * intern->capacity);
}

static uint32
add_value(VxIntern *intern, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(intern->values_mcxt);

	intern->values[intern->nvalues] = intern->typlen == -1 ?
		PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
		datumCopy(value, intern->typbyval, intern->typlen);
	MemoryContextSwitchTo(old);
	return intern->nvalues++;
}

uint32
vx_intern_hash(VxIntern *intern, Datum value)
{
	if (intern->typlen == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	return hash_value(intern, value);
}

uint32
vx_intern(VxIntern *intern, Datum value, bool add)
{
	uint32		hash;
	uint32		at;

	/* A function may return what it got from another table as it stood there. */
	if (intern->typlen == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	hash = hash_value(intern, value);
	if (intern->nvalues == intern->capacity)
		grow(intern);
	at = hash & (intern->nslots - 1);
	while (intern->slots[at].number != VX_NO_WORD)
	{
		if (intern->slots[at].hash == hash &&
			values_are_equal(intern, intern->values[intern->slots[at].number], value))
			return intern->slots[at].number;
		at = (at + 1) & (intern->nslots - 1);
	}
	if (!add)
		return VX_NO_WORD;
	intern->slots[at].hash = hash;
	intern->slots[at].number = add_value(intern, value);
	return intern->slots[at].number;
}

Datum *
vx_intern_values(const VxIntern *intern, uint32 *nvalues)
{
	*nvalues = intern->nvalues;
	return intern->values;
}

void
vx_codes_init(VxCodes *codes, MemoryContext mcxt, Oid type, int16 typlen)
{
	codes->values = vx_intern_create(mcxt, typlen == -1 ? BYTEAOID : type, InvalidOid,
									 InvalidOid, true);
	codes->dict.capacity = MAX_VALUES;
}

bool
vx_codes_find(VxCodes *codes, Datum value, uint32 *code)
{
	uint32		n = codes->dict.nvalues;
	Size		len = codes->values->typlen == -1 ?
		VARSIZE_ANY_EXHDR(DatumGetPointer(value)) : codes->values->typlen;
	bool		room;

	codes->nseen++;
	room = len <= VX_CODES_MAX_LENGTH && n < MAX_VALUES &&
		(n < FREE_VALUES || (uint64) n * 2 <= codes->nseen);
	*code = vx_intern(codes->values, value, room);
	codes->dict.values = vx_intern_values(codes->values, &codes->dict.nvalues);
	if (*code == VX_NO_WORD)
		codes->values = NULL;
	return *code != VX_NO_WORD;
}
