-- Helpers of the other suites: documents as jsonb and as zson.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS zson_dict;
RESET client_min_messages;

CREATE TABLE corpus (id serial PRIMARY KEY, j jsonb, z zson);

-- Corner cases by hand.
INSERT INTO corpus (j) VALUES
	('null'), ('true'), ('false'), ('0'), ('-1'), ('1.50'), ('1e-20'), ('12345678901234567890123.456'),
	('""'), ('"a"'), ('"b"'), ('[]'), ('{}'), ('[[]]'), ('[{}]'), ('{"": {}}'), ('[null]'), ('[1]'),
	('{"a": 1}'), ('{"a": 1.0}'), ('{"a": 1.00}'), ('{"a": "1"}'), ('{"a": null}'), ('{"a": [1, 2, [3, {"b": 4}]]}'),
	('{"a": {"b": {"c": {"d": [0.000011121755379893715, -2.023610556800026e-05]}}}}'),
	('["a", "b", 1, 1.0, null, true, {"a": 1}, ["a"]]'), ('[0, -1, 255, 256, 65535, 65536, 4294967296, 9223372036854775807, -9223372036854775808, 9223372036854775808]'),
	('{"uuid": "550e8400-e29b-41d4-a716-446655440000", "sha": "68969ce5f4499cbe3a4f946917be2e580f1b1936", "num": "38472938475", "at": "2024-02-29T23:59:59Z", "ms": "2024-02-29T23:59:59.123Z"}'),
	('{"uuid": "550E8400-e29b-41d4-a716-446655440000", "sha": "68969CE5", "num": "038472938475", "at": "2023-02-29T23:59:59Z", "ms": "2024-02-29T25:59:59.123Z"}'),
	('{"ä": "ü€😀", "key with spaces": "line\nbreak \"quoted\" \\ \t", "a": "\u0001"}'),
	('{"a": 1, "b": 2, "a": 3}'), ('{"bb": 1, "a": 2, "ccc": 3, "B": 4}'),
	('1e1000'), ('{"n": [1e-1000, 123456789012345678901234567890e10, 0.0000, -0.10, 100000000000000000000]}');

-- Documents of one kind.
INSERT INTO corpus (j)
SELECT jsonb_build_object('os', (ARRAY['android', 'ios', 'windows', 'macos', 'linux'])[g % 5 + 1],
	'version', 120 + g % 8, 'app', (ARRAY['mobile', 'web', 'desktop', 'tv'])[g % 4 + 1],
	'revenue', round((g * 7919 % 50000) / 100.0, 2), 'premium', g % 7 = 0,
	'tags', CASE WHEN g % 3 = 0 THEN jsonb_build_array('x' || g % 4, g % 10) ELSE '[]' END,
	'user', jsonb_build_object('id', g, 'name', 'user ' || g, 'mail', md5(g::text) || '@example.org'))
FROM generate_series(1, 70) g;

-- Large ones: more than a page, many members, long strings, deep.
INSERT INTO corpus (j)
SELECT jsonb_build_object('many', (SELECT jsonb_agg(jsonb_build_object('n', i, 'text', repeat(md5((g * i)::text), 2))) FROM generate_series(1, 100) i),
	'wide', (SELECT jsonb_object_agg('key ' || i, i) FROM generate_series(1, 200) i), 'first', g, 'zzzzzzzzzzzzzzzzz', 'last')
FROM generate_series(1, 2) g;
INSERT INTO corpus (j) SELECT (repeat('[', 500) || repeat(']', 500))::jsonb;
INSERT INTO corpus (j) SELECT to_jsonb(repeat('long string ', 3000));
INSERT INTO corpus (j) SELECT jsonb_agg(i) FROM generate_series(1, 3000) i;

UPDATE corpus SET z = j;

-- Documents for which an expression over x differs between jsonb and zson; '=' stands for the type in casts.
CREATE FUNCTION differ(expression text, OUT documents bigint, OUT differ bigint, OUT of_them text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*), count(*) FILTER (WHERE a IS DISTINCT FROM b), left(string_agg(id::text, '','') FILTER (WHERE a IS DISTINCT FROM b), 40)
		FROM (SELECT id, (SELECT (%1$s)::text FROM (SELECT j AS x, j AS y) s) AS a, (SELECT (%2$s)::text FROM (SELECT z AS x, z AS y) s) AS b FROM corpus) d',
		replace(expression, '::T', '::jsonb'), replace(expression, '::T', '::zson'))
	INTO documents, differ, of_them;
END $$;

-- SQLSTATE of a statement that fails.
CREATE FUNCTION fails(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
