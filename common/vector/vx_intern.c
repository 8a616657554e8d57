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
#include "vx_memory.h"
#include "st_checksum.h"
#include "st_compat.h"

#define INITIAL_SLOTS 256

/* Bytes of a block of strings: each is twice as large as the last. */
#define MIN_BLOCK	(8 * 1024)
#define MAX_BLOCK	(1024 * 1024)

/* Values that are looked up together: what they point to fits into the caches. */
#define BLOCK_VALUES 128

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

	char	   *room;			/* for strings, of which many share a block */
	Size		left;
	Size		block_bytes;	/* of the next one */
	uint32		empty;			/* number of a string without bytes, once it is known */
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
	intern->slots = vx_table_alloc(intern->values_mcxt, sizeof(Slot) * nslots, false);
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
	intern->left = 0;
	intern->block_bytes = MIN_BLOCK;
	intern->empty = VX_NO_WORD;
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
	intern->values = vx_table_grow(intern->values, sizeof(Datum) * intern->capacity);
}

/* A copy with a plain header. */
static Datum
copy_string(VxIntern *intern, Datum value)
{
	Size		len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	Size		bytes = MAXALIGN(len + VARHDRSZ);
	char	   *copy;

	if (bytes > intern->left)
	{
		intern->left = Max(bytes, intern->block_bytes);
		intern->room = MemoryContextAllocHuge(intern->values_mcxt, intern->left);
		intern->block_bytes = Min(intern->block_bytes * 2, MAX_BLOCK);
	}
	copy = intern->room;
	intern->room += bytes;
	intern->left -= bytes;
	SET_VARSIZE(copy, len + VARHDRSZ);
	memcpy(VARDATA(copy), VARDATA_ANY(DatumGetPointer(value)), len);
	return PointerGetDatum(copy);
}

static uint32
add_value(VxIntern *intern, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(intern->values_mcxt);

	intern->values[intern->nvalues] = intern->typlen == -1 ?
		copy_string(intern, value) : datumCopy(value, intern->typbyval, intern->typlen);
	MemoryContextSwitchTo(old);
	return intern->nvalues++;
}

/* A function may return what it got from another table as it stood there. */
static inline Datum
plain_value(const VxIntern *intern, Datum value)
{
	if (intern->typlen == -1 && VARATT_IS_EXTENDED(DatumGetPointer(value)))
		return PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	return value;
}

uint32
vx_intern_hash(VxIntern *intern, Datum value)
{
	return hash_value(intern, plain_value(intern, value));
}

/* value: a plain one. */
static uint32
find_hashed(VxIntern *intern, Datum value, uint32 hash, bool add)
{
	uint32		at;

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

uint32
vx_intern(VxIntern *intern, Datum value, bool add)
{
	value = plain_value(intern, value);
	return find_hashed(intern, value, hash_value(intern, value), add);
}

/* The first value with that hash, or VX_NO_WORD. */
static inline uint32
first_with_hash(const VxIntern *intern, uint32 hash)
{
	uint32		mask = intern->nslots - 1;
	uint32		at = hash & mask;

	while (intern->slots[at].number != VX_NO_WORD && intern->slots[at].hash != hash)
		at = (at + 1) & mask;
	return intern->slots[at].number;
}

/* plain: values that are. */
static void
find_block(VxIntern *intern, const Datum *plain, int n, bool add, uint32 *numbers)
{
	uint32		hashes[BLOCK_VALUES];

	for (int i = 0; i < n; i++)
	{
		hashes[i] = hash_value(intern, plain[i]);
		__builtin_prefetch(&intern->slots[hashes[i] & (intern->nslots - 1)]);
	}
	for (int i = 0; i < n; i++)
	{
		numbers[i] = first_with_hash(intern, hashes[i]);
		if (numbers[i] != VX_NO_WORD)
			__builtin_prefetch(&intern->values[numbers[i]]);
	}
	for (int i = 0; i < n && !intern->typbyval; i++)
		if (numbers[i] != VX_NO_WORD)
			__builtin_prefetch(DatumGetPointer(intern->values[numbers[i]]));
	for (int i = 0; i < n; i++)
		if (numbers[i] == VX_NO_WORD ||
			!values_are_equal(intern, intern->values[numbers[i]], plain[i]))
			numbers[i] = find_hashed(intern, plain[i], hashes[i], add);
}

/* Many columns are empty in most rows.  One with a short header is looked for as any other. */
static inline bool
is_empty(const VxIntern *intern, Datum value)
{
	return intern->typlen == -1 && VARATT_IS_4B_U(DatumGetPointer(value)) &&
		VARSIZE_4B(DatumGetPointer(value)) == VARHDRSZ;
}

static uint32
number_of_empty(VxIntern *intern, Datum empty, bool add)
{
	if (intern->empty == VX_NO_WORD)
		intern->empty = vx_intern(intern, empty, add);
	return intern->empty;
}

void
vx_intern_many(VxIntern *intern, const Datum *values, int n, bool add, uint32 *numbers)
{
	Datum		plain[BLOCK_VALUES];
	uint32		found[BLOCK_VALUES];
	int			at[BLOCK_VALUES];
	int			nplain = 0;

	for (int i = 0; i < n; i++)
	{
		if (is_empty(intern, values[i]))
			numbers[i] = number_of_empty(intern, values[i], add);
		else
		{
			plain[nplain] = plain_value(intern, values[i]);
			at[nplain++] = i;
		}
		if (nplain < BLOCK_VALUES && i < n - 1)
			continue;
		find_block(intern, plain, nplain, add, found);
		for (int k = 0; k < nplain; k++)
			numbers[at[k]] = found[k];
		nplain = 0;
	}
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
