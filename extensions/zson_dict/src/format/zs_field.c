/*-------------------------------------------------------------------------
 *
 * zs_field.c
 *	  Members of a document's root by key.
 *
 * A session mostly asks for a few keys, in documents of few shapes.  Where a
 * key stands in a shape is remembered for all of its calls, not for those of
 * one query: a query by primary key makes just one.  The places are facts of
 * dictionaries, which never change; they are forgotten when a dictionary's
 * function does.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "st_bytes.h"
#include "zs_datum.h"

#define PLACES 8
#define PAIRS 32

typedef struct Place
{
	uint32		shape;			/* number + 1, 0: none */
	uint32		place;			/* in the shape; nkeys if it is not there */
	uint32		nkeys;
} Place;

/* A key of a dictionary; longer ones are looked up in the dictionary. */
typedef struct Field
{
	uint32		dict_id;		/* 0: free */
	int			key_id;
	Place		places[PLACES]; /* by the shape's lowest bits */
	uint32		len;
	uint8		key[52];
} Field;

/* A key may stand in either of two. */
static Field fields[PAIRS][2];
static const Field *last_field = &fields[0][0];

void
zs_forget_fields(void)
{
	memset(fields, 0, sizeof(fields));
}

static inline bool
is_field(const Field *field, uint32 dict_id, const StStr *key)
{
	uint32		n = key->len;

	if (field->dict_id != dict_id || field->len != n)
		return false;
	/* most keys: no call, words may overlap */
	if (n >= 4 && n <= 8)
		return st_load_u32(field->key) == st_load_u32(key->data) &&
			st_load_u32(field->key + n - 4) == st_load_u32(key->data + n - 4);
	return memcmp(field->key, key->data, n) == 0;
}

static inline Field *
field_pair(uint32 dict_id, const StStr *key)
{
	uint32		h = key->len + 5 * dict_id;

	if (key->len > 0)
		h += 3 * key->data[0] + 7 * key->data[key->len / 2] +
			11 * key->data[key->len - 1];
	return fields[h % PAIRS];
}

/* Returns what is known of the key, or NULL. */
static inline const Field *
known_field(uint32 dict_id, const StStr *key)
{
	const Field *pair;

	if (likely(is_field(last_field, dict_id, key)))
		return last_field;
	pair = field_pair(dict_id, key);
	if (is_field(&pair[0], dict_id, key))
		return last_field = &pair[0];
	return is_field(&pair[1], dict_id, key) ? (last_field = &pair[1]) : NULL;
}

/* Takes the place of the other one of its pair. */
static Field *
new_field(const ZsDoc *z, const StStr *key)
{
	Field	   *pair = field_pair(z->doc.dict_id, key);

	pair[1] = pair[0];
	memset(&pair[0], 0, sizeof(Field));
	pair[0].dict_id = z->doc.dict_id;
	pair[0].key_id = st_zson_dict_key(z->doc.dict, key->data, key->len);
	pair[0].len = key->len;
	memcpy(pair[0].key, key->data, key->len);
	return &pair[0];
}

static inline Field *
get_field(const ZsDoc *z, const StStr *key)
{
	Field	   *field;

	if (z->doc.dict_id == 0 || key->len > sizeof(field->key))
		return NULL;
	field = unconstify(Field *, known_field(z->doc.dict_id, key));
	return likely(field != NULL) ? field : new_field(z, key);
}

/* As st_zson_find(), for an object with a shape. */
static inline StStatus
find_in_shape(ZsDoc *z, Field *field, bool *found, StZsonValue *v)
{
	const StZsonShape *shape = z->root.shape;
	uint32		number = (uint32) (shape - z->doc.dict->shapes);
	Place	   *at = &field->places[number % PLACES];
	uint32		place = 0;

	if (likely(at->shape == number + 1))
		place = at->place;
	else
	{
		while (place < shape->nkeys && shape->keys[place] != field->key_id)
			place++;
		*at = (Place) {number + 1, place, shape->nkeys};
	}
	*found = place < shape->nkeys;
	return *found && v != NULL ?
		st_zson_at(&z->doc, &z->root, place, v) : ST_OK;
}

bool
zs_field(ZsDoc *z, const StStr *key, StZsonValue *v)
{
	StStatus	status;
	bool		found = false;

	do
	{
		Field	   *field;

		if (z->root.kind != ST_ZSON_OBJECT)
			return false;
		field = get_field(z, key);
		if (field != NULL && z->root.shape != NULL)
			status = find_in_shape(z, field, &found, v);
		else
			status = st_zson_find(&z->doc, &z->root, key,
								  field ? field->key_id :
								  st_zson_dict_key(z->doc.dict, key->data,
												   key->len), &found, v);
		if (status == ST_OK && found && v != NULL)
			status = zs_is_here(z, v);
	} while (unlikely(status != ST_OK) && zs_more(z, status));
	return found;
}

ZsQuick
zs_quick_field(Datum value, const StStr *key, ZsSpot *spot)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	const Field *field;
	const Place *at;

	if (VARATT_IS_EXTERNAL(v) || VARATT_IS_COMPRESSED(v))
		return ZS_QUICK_NO;
	spot->data = (const uint8 *) VARDATA_ANY(v);
	if (!st_zson_quick_open(spot->data, VARSIZE_ANY_EXHDR(v), &spot->doc))
		return ZS_QUICK_NO;
	field = known_field(spot->doc.dict_id, key);
	if (unlikely(field == NULL))
		return ZS_QUICK_NO;
	at = &field->places[spot->doc.shape % PLACES];
	if (at->shape != spot->doc.shape + 1 || at->nkeys > ST_ZSON_QUICK_KEYS)
		return ZS_QUICK_NO;
	if (at->place == at->nkeys)
		return ZS_QUICK_ABSENT;
	return st_zson_quick_at(&spot->doc, at->place, at->nkeys, &spot->p,
							&spot->n) ? ZS_QUICK_FOUND : ZS_QUICK_NO;
}
