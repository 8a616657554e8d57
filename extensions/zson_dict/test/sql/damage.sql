-- Damaged bytes of stored values end in an error or in a valid value.
CREATE CAST (zson AS bytea) WITHOUT FUNCTION;
CREATE CAST (bytea AS zson) WITHOUT FUNCTION;
DO $$ BEGIN PERFORM zson_learn('{{corpus, j}}'); END $$;
UPDATE corpus SET z = j WHERE id % 2 = 0;

-- Reads a value in every way; 'value', or the SQLSTATE.
CREATE FUNCTION outcome(damaged bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	v zson := damaged::zson;
	t text;
BEGIN
	t := v::text;
	-- what is printed reads back as the same document
	IF t::jsonb <> v::jsonb THEN
		RETURN 'different';
	END IF;
	PERFORM v -> 'user' -> 'name', v -> 0, v #>> '{many,50,text}', v ? 'os', v @> '{"os": "ios"}', zson_hash(v), v -> 'tags' ->> -1, v -> 'wide' ->> 'key 77';
	RETURN 'value';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

-- every byte of some documents, some bytes of all, in two ways; and cut short
CREATE TABLE outcomes AS
SELECT outcome(set_byte(b, i, get_byte(b, i) # mask)) AS o
FROM (SELECT id, z::bytea AS b FROM corpus) c, generate_series(0, length(b) - 1, 1 + length(b) / 25) i, unnest(ARRAY[1, 128]) mask
UNION ALL
SELECT outcome(substr(b, 1, i)) FROM (SELECT id, z::bytea AS b FROM corpus) c, generate_series(0, length(b) - 1, 1 + length(b) / 10) i;

-- damaged; from a newer version; no such dictionary; too large
SELECT o FROM outcomes WHERE o NOT IN ('value', 'XX001', '0A000', '42704', '54000') GROUP BY 1;
SELECT count(*) > 3000 AS enough, count(*) FILTER (WHERE o = 'XX001') > 500 AS errors, count(*) FILTER (WHERE o = 'value') > 500 AS values FROM outcomes;

-- bytes that are no text in the database's encoding are damage, whoever reads them
CREATE FUNCTION reads(damaged bytea, expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	t text;
BEGIN
	EXECUTE format('SELECT (%s)::text FROM (SELECT $1::zson AS x) s', expression) INTO t USING damaged;
	RETURN t;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT e AS expression, reads(b, e) AS intact, reads(set_byte(b, position('\xc3'::bytea IN b), 255), e) AS string, reads(set_byte(b, position('\xc5'::bytea IN b), 255), e) AS key
FROM (SELECT '{"key \u0171": 1, "text": "b\u00f6se"}'::zson::bytea AS b) d,
	unnest(ARRAY['x', 'x::jsonb', 'x::json', $$x -> 'text'$$, $$x ->> 'text'$$, $$x ->> 'key ű'$$, $$x @> '{"text": "böse"}'$$]) e;

DROP TABLE outcomes;
DROP CAST (zson AS bytea);
DROP CAST (bytea AS zson);
