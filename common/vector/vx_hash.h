/*-------------------------------------------------------------------------
 *
 * vx_hash.h
 *	  Rows in memory, found by keys: the build side of a hash join.
 *
 * A row has some columns, in the forms that vectors have, so that a vector of
 * a column can be gathered from many rows.  Some columns are keys.  Rows are
 * added first; vx_hash_finish() makes the table of hashes, and then rows are
 * looked for.  Rows with one and the same hash hang on each other.
 *
 * Equality: integers by value, strings by their bytes where the type's
 * equality says so, all else by the server's functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef VX_HASH_H
#define VX_HASH_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "port/pg_bitutils.h"

#include "vx_batch.h"
#include "vx_intern.h"

/* Columns of a row at most: nulls are bits of a word, one of which is a flag. */
#define VX_HASH_MAX_COLUMNS	63
#define VX_HASH_MATCHED		(UINT64CONST(1) << 63)	/* for whoever looks rows up */

typedef struct VxHashRow
{
	struct VxHashRow *next;		/* with the same hash */
	uint64		hash;
	uint64		nulls;			/* bit by column */
	Datum		values[FLEXIBLE_ARRAY_MEMBER];
} VxHashRow;

/* How keys of both sides are compared. */
typedef enum VxKeyKind
{
	VX_KEY_INT,					/* as the int64 that vectors hold */
	VX_KEY_BYTES,				/* byte by byte; bpchar without trailing blanks */
	VX_KEY_SERVER				/* by functions of the server */
} VxKeyKind;

typedef struct VxHashKey
{
	VxKeyKind	kind;
	int			column;			/* of the rows */
	Oid			type;			/* base type of the rows' value */
	Oid			probe_type;		/* and of the value that is looked for */
	Oid			collation;
	FmgrInfo	row_hash;		/* VX_KEY_SERVER: of a row's value, */
	FmgrInfo	probe_hash;		/* of a value that is looked for, */
	FmgrInfo	equal;			/* (looked for, row's) */
} VxHashKey;

typedef struct VxHashColumn
{
	Oid			type;			/* base type */
	int16		typlen;
	bool		byval;
	bool		plain;			/* a key: Datums stay Datums */
	VxRep		rep;
	int			scale;			/* of decimals; -1: no value yet */
	VxCodes    *codes;			/* VX_REP_CODE */

	/* the dictionary that vectors came with last, and what is kept for its codes */
	const VxDictionary *dict;
	uint64		dict_made;
	uint64		dict_group;
	Datum	   *by_code;		/* 0: not known; NULL: there was none */
	uint32		ncodes;
} VxHashColumn;

typedef struct VxHashSlot
{
	uint64		hash;
	VxHashRow  *row;			/* NULL: free */
} VxHashSlot;

typedef struct VxHash
{
	MemoryContext mcxt;			/* rows and slots */
	int			ncolumns;
	VxHashColumn *columns;
	int			nkeys;
	VxHashKey  *keys;
	uint64		key_columns;	/* bit by column */
	bool		exact;			/* equal hashes are equal keys */

	Size		row_size;
	int			nblocks;		/* of rows */
	char	  **blocks;
	uint64		nrows;
	char	   *space;			/* for values by reference */
	Size		left;
	Size		unseen;			/* bytes of these since the caller looked at memory */
	bool		finished;		/* rows can be found */
	bool		unique;			/* finished: no two rows have one hash */
	uint64		nslots;			/* a power of two */
	VxHashSlot *slots;
	uint64		nplaces;
	VxHashRow **places;			/* or NULL: there are slots */
	int64		first_key;		/* of the first place */
} VxHash;

/* A bijection for each odd factor. */
static inline uint64
vx_mix_by(uint64 h, uint64 factor)
{
	h ^= h >> 32;
	h *= factor;
	h ^= h >> 32;
	h *= factor;
	return h ^ (h >> 32);
}

/* The hash of one integer stands for it. */
static inline uint64
vx_mix(uint64 h)
{
	return vx_mix_by(h, UINT64CONST(0xd6e8feb86659fd93));
}

/*
 * An empty table in the current memory context; desc: of the rows' columns.
 * The keys' column, kind, types, collation and, with VX_KEY_SERVER, operator
 * (of eqops) are given.
 */
extern VxHash *vx_hash_create(TupleDesc desc, int nkeys, VxHashKey *keys, const Oid *eqops);

extern void vx_hash_reset(VxHash *hash);

/* Hash of a row's keys; false: one of them is null. */
extern bool vx_hash_of_row(VxHash *hash, const Datum *values, const bool *isnull,
						   uint64 *result);

/*
 * Adds a row; what values point to is copied, detoasted.  A row with a null key
 * is not found, and only gone through.
 */
extern void vx_hash_add(VxHash *hash, uint64 hashed, const Datum *values,
						const bool *isnull);

/*
 * Adds the rows of a word of a selection, from row 64 * w on, out of vectors by
 * column.  group: tells apart what their dictionaries belong to.
 */
extern void vx_hash_add_vectors(VxHash *hash, const VxVector *const *vectors, uint64 group,
								const uint64 *hashes, int w, uint64 word);

/* Bytes in use, with those that vx_hash_finish() will take. */
extern Size vx_hash_memory(const VxHash *hash);

/* Makes rows be found. */
extern void vx_hash_finish(VxHash *hash);

/* The n-th row. */
static inline VxHashRow *
vx_hash_row(const VxHash *hash, uint64 n)
{
	return (VxHashRow *) (hash->blocks[n / ST_VECTOR_SIZE] +
						  (n % ST_VECTOR_SIZE) * hash->row_size);
}

/* Value of a column, in the form of a Datum of its type, in the current context. */
extern Datum vx_hash_value(const VxHash *hash, const VxHashRow *row, int column,
						   bool *isnull);

/*
 * Hashes of keys: vectors by key, for the selected rows.  Takes rows with a
 * null key out of the selection.  probe: keys are looked for, not added.
 */
extern void vx_hash_of_vectors(VxHash *hash, const VxVector *const *vectors, bool probe,
							   int nrows, uint64 *selection, uint64 *hashes);

/* For each selected row: the first row with its hash, or NULL. */
extern void vx_hash_find(const VxHash *hash, const uint64 *hashes, const uint64 *selection,
						 int nrows, VxHashRow **found);

/*
 * The row with these keys, none of which is null, or NULL.  Where several
 * have them, one of these.
 */
extern VxHashRow *vx_hash_lookup(VxHash *hash, const Datum *keys);

/* Hash of keys that are looked for; whether a row's values are equal to them. */
extern uint64 vx_hash_of_keys(VxHash *hash, const Datum *keys);
extern bool vx_hash_values_equal(VxHash *hash, const Datum *values, const Datum *keys);

/* Are its keys those at a row of the vectors? */
extern bool vx_hash_keys_equal(VxHash *hash, const VxHashRow *row,
							   const VxVector *const *vectors, int at);

/*
 * The column's values of n rows, NULL for null, as a vector: v, which has an
 * array of ST_VECTOR_SIZE values.
 */
extern void vx_hash_gather(const VxHash *hash, int column, VxHashRow *const *rows, int n,
						   VxVector *v);

#endif							/* VX_HASH_H */
