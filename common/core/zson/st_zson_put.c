/*-------------------------------------------------------------------------
 *
 * st_zson_put.c
 *	  Scalars as they stand in a document: by their number in the dictionary,
 *	  in a special form, in FSST codes, in codes of their bytes, or as they are.
 *
 *-------------------------------------------------------------------------
 */
#include "st_zson_format.h"

/* Strings of more bytes are never looked up in the dictionary. */
#define MAX_DICT_STRING 255

/* Longer strings are not packed. */
#define MAX_PACKED 2048

void
st_zs_put_plain_head(StByteWriter *w, size_t len)
{
	if (len < 32)
		st_write_u8(w, (uint8_t) (ZS_STR + len));
	else
	{
		st_write_u8(w, ZS_LONG_STR);
		st_write_varint(w, len);
	}
}

void
st_zs_put_plain(StByteWriter *w, const StStr *s)
{
	st_zs_put_plain_head(w, s->len);
	st_write_bytes(w, s->data, s->len);
}

StStatus
st_zson_encode_string(const StStr *s, uint8_t *dst, size_t cap, size_t *outlen)
{
	StByteWriter w;

	st_writer_init(&w, dst, cap);
	st_zs_put_plain(&w, s);
	*outlen = st_writer_len(&w);
	return w.status;
}

int
st_zs_string_number(const StZsonDict *dict, const StStr *s)
{
	uint8_t		plain[MAX_DICT_STRING + 8];
	size_t		n;
	int			number;

	if (dict == NULL || s->len > MAX_DICT_STRING || s->len == 0)
		return -1;
	st_zson_encode_string(s, plain, sizeof(plain), &n);
	number = st_zs_dict_value(dict, plain, n);
	return number >= 64 && n < 3 ? -1 : number;
}

void
st_zs_put_number(StByteWriter *w, int number)
{
	if (number < 64)
		st_write_u8(w, (uint8_t) (ZS_VALUE1 + number));
	else
	{
		st_write_u8(w, (uint8_t) (ZS_VALUE2 + ((number - 64) >> 8)));
		st_write_u8(w, (uint8_t) (number - 64));
	}
}

/* Bytes of a string's tag and length, of n bytes behind them. */
#define SHORT_HEAD(n) ((n) < 32 ? 1 : 1 + st_varint_size(n))
#define LONG_HEAD(n) (1 + st_varint_size(n))

/* Symbols or codes of bytes, whichever are shorter, if they save anything. */
bool
st_zs_put_packed(StByteWriter *w, const StZsonDict *dict, const StStr *s)
{
	uint8_t		symbols[512];
	size_t		room = s->len - 1 < sizeof(symbols) ? s->len - 1 :
		sizeof(symbols);
	uint8_t    *end = NULL;
	size_t		n;
	size_t		coded;

	if (dict == NULL || s->len < 2 || s->len > MAX_PACKED)
		return false;
	if (dict->fsst_encoder != NULL)
		end = st_fsst_encode_string(dict->fsst_encoder, s, symbols,
									symbols + room);
	n = end != NULL ? (size_t) (end - symbols) : 0;
	coded = st_zs_code_size(dict, s);
	if (coded > 0 && (n > 0 ? LONG_HEAD(coded) + coded < SHORT_HEAD(n) + n :
					  LONG_HEAD(coded) + coded < SHORT_HEAD(s->len) + s->len))
	{
		st_write_u8(w, ZS_CODE);
		st_write_varint(w, coded);
		st_zs_code_write(dict, s, coded, w);
		return true;
	}
	if (n == 0)
		return false;
	if (n < 32)
		st_write_u8(w, (uint8_t) (ZS_FSST + n));
	else
	{
		st_write_u8(w, ZS_LONG_FSST);
		st_write_varint(w, n);
	}
	st_write_bytes(w, symbols, n);
	return true;
}

bool
st_zson_has_form(const StStr *s)
{
	ZsForm		form;

	return st_zs_form_find(s, &form);
}

void
st_zs_put_string(StByteWriter *w, const StZsonDict *dict, const StStr *s)
{
	ZsForm		form;

	if (st_zs_form_find(s, &form))
	{
		st_write_u8(w, form.tag);
		st_write_bytes(w, form.payload, form.n);
	}
	else if (!st_zs_put_packed(w, dict, s))
		st_zs_put_plain(w, s);
}
