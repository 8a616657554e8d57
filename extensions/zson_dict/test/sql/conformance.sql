-- What JSON is and what it is not: text by text, zson takes, refuses and gives back what jsonb does.
CREATE FUNCTION reads_as(type regtype, document text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT ($1::%s)::text', type) INTO result USING document;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;

CREATE TABLE conformance (id serial, document text);

-- structures, white space, literals
INSERT INTO conformance (document) SELECT unnest(ARRAY[
	'[]', '{}', '[ ]', '{ }', ' [] ', E'\t[\n]\r', '[[]   ]', '[""]', '[null, 1, "1", {}]', '[1,null,null,null,2]', '{"":0}', '{"a":[]}', '{"a":"b","a":"c"}', '{"a":"b","a":"b"}',
	'{"min": -1.0e+28, "max": 1.0e+28}', E'{\n"a": "b"\n}', '{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}', '{"asd":"sdf", "dfg":"fgh"}',
	'true', 'false', 'null', '"lonely"', '42', '-0.1', '"', '""', '', ' ', 'nul', 'truth', 'TRUE', 'NaN', '[NaN]', '[Infinity]', 'undefined', '[a]', '{a: "b"}', $j${'a':0}$j$, '{"a":"a" 123}', '{"a" b}', '{:"b"}', '{"a" "b"}', '{"a":', '{"a"', '{"a":1,}', '{"a":1,,"b":2}',
	'{"id":null,,,,,}', '{1:1}', '{[: "x"}', '{"a": true} "x"', '{"a":"b"}#', '{"a":"b"}/**/', '{"a":"b"}//', '[1,]', '[1,,2]', '[,1]', '["x",,]', '[1', '["x"', '["x"]]', '[1 true]', '[-]', '[*]', '[""],', '["",]', '[1}', ']', '[', '{', '}', '[[[[[]]]]', '{"a":[1,2}', '[\u000A""]', '["a', '1]', '{}}', '[true, fals]', '[][]', '*', '<.>', '[<null>]', '["asd]', E'["a\nb"]', E'["\t"]', E'[\f]', '123 45', '//x'
]);
-- numbers
INSERT INTO conformance (document) SELECT format('[%s]', n) FROM unnest(ARRAY[
	'0', '-0', '-0.0', '0.0', '0.00', '123', '-123', '1.5', '1e1', '1E1', '1e+1', '1E-2', '0e1', '0e+1', '123e45', '123e65', '1.0e-2', '-0.000000000000000000000000000000000000000000000000000000000000000000000000000001',
	'123.456789', '1.000000000000000005', '1e400', '-1e-400', '9007199254740993', '18446744073709551615', '18446744073709551616', '-9223372036854775809', '100000000000000000000', '0.1', '0.10', '00', '-01', '012', '.5', '-.5', '2.', '0.e1', '-2.', '1e', '1e+', '1eE2', '+1', '++1', '- 1', '0x1', '1_000', '1.2.3', '1a', '0.3e', '1.0e', 'Inf', '1 000', '１', '9.e+', '2.e3', '--1', '-1x', '1ea', '1e1000000', '1e131000', '1e131073'
]) n;
-- strings: escapes, surrogates, control characters
INSERT INTO conformance (document) SELECT format('["%s"]', s) FROM unnest(ARRAY[
	'\"\\\/\b\f\n\r\t', '\\u0000', '\u0041', '\u0000', '\u0001', '\u001f', '\u007f', '\u0080', '\u00e9', '\u2028\u2029', '\uD834\uDD1E', '\uD801\udc37', '\ud83d\ude39\ud83d\udc8d', '\uDBFF\uDFFE', '\uFDD0', '\uFFFE', '\uFFFF', '\u200B', '\uD800', '\uDC00', '\uDd1e\uD834', '\uD888\u1234', '\uD800\uD800\uDC00', '\uD800abc', '\uD83', '\u', '\u00', '\u00A', '\u00G0', '\x00', '\a', '\', '\\\', '\🌀', '\"', 'a/*b*/c', 'π', '⍂㈴⍂', '𝄞', U&'\2028', U&'\200B', 'ﬀ', '€𐍈', E'\x7f', ' ', 'é', U&'e\0301', '[[', '{}', 'null', '\u0022', '\u005C', '\ndone', '\u0009', E'\u0001', E'\u001f', 'new \u00A0line'
]) s;
-- special forms: hashes, numbers, times, UUIDs as strings, and what only looks like them
INSERT INTO conformance (document) SELECT format('{"v": "%s", "%1$s": ["%1$s"]}', s) FROM unnest(ARRAY[
	'00', '0', '007', '12345678901234567890', '99999999999999999999', '9999999999999999999', '10000000000000000000', 'abcdef', 'ABCDEF', 'deadbeefdeadbeef', 'deadbeefdeadbee', '0000000000000000000000000000000000000000',
	'00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'ffffffff-ffff-ffff-ffff-fffffffffff', 'FFFFFFFF-ffff-ffff-ffff-ffffffffffff', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '9999-12-31T23:59:59.999Z', '2023-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z', '2024-02-30T00:00:00Z', '2024-06-30T23:59:60Z', '2024-01-01T24:00:00Z', '2024-01-01 00:00:00Z', '2024-01-01T00:00:00', '2024-1-1T00:00:00Z', '1900-02-28T12:34:56Z', '1900-02-29T12:34:56Z', '2000-02-29T12:34:56Z'
]) s;
-- depth, size, number of members: around the limits of lengths and strides
INSERT INTO conformance (document) SELECT repeat('[', n) || repeat(']', n) FROM unnest(ARRAY[2, 31, 64, 500]) n;
INSERT INTO conformance (document) SELECT '[' || string_agg((i % 7)::text, ',') || ']' FROM unnest(ARRAY[31, 32, 33, 63, 64, 65, 128, 129, 1000]) n, generate_series(1, n) i GROUP BY n;
INSERT INTO conformance (document) SELECT '{' || string_agg(format('"%s": "%s"', 'k' || i, i), ',') || '}' FROM unnest(ARRAY[31, 32, 33, 63, 64, 65, 128, 129, 1000]) n, generate_series(1, n) i GROUP BY n;
INSERT INTO conformance (document) SELECT format('{"%s": "%1$s"}', repeat(c, n)) FROM unnest(ARRAY[1, 4, 5, 31, 32, 36, 37, 127, 128, 255, 256, 8191, 8192, 8193, 20000]) n, unnest(ARRAY['x', 'é', '\"', '\u0001']) c;

CREATE FUNCTION conforms(OUT documents bigint, OUT accepted bigint, OUT differ bigint, OUT of_them text) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE a !~ '^[0-9A-Z]{5}$'), count(*) FILTER (WHERE a <> b), string_agg(left(document, 40), ' ') FILTER (WHERE a <> b)
	FROM (SELECT document, reads_as('jsonb', document) AS a, reads_as('zson', document) AS b FROM conformance) d $$;
SELECT documents, accepted > 190 AS many_accepted, differ, of_them FROM conforms();

-- the same with a dictionary learned from them, and from others
CREATE TABLE accepted AS SELECT id, document::jsonb AS j FROM conformance WHERE reads_as('jsonb', document) !~ '^[0-9A-Z]{5}$';
DO $$ BEGIN PERFORM zson_learn('{{accepted, j}}', min_count => 1); END $$;
SELECT documents, accepted > 190 AS many_accepted, differ, of_them FROM conforms();
SELECT count(*) > 190 AS enough, count(*) FILTER (WHERE j::zson::jsonb <> j) AS differ, count(*) FILTER (WHERE (j::zson -> 'v')::text <> (j -> 'v')::text) AS member, count(*) FILTER (WHERE j::zson ->> 'v' <> j ->> 'v') AS member_text,
	count(*) FILTER (WHERE j::zson ->> 0 <> j ->> 0) AS element, count(*) FILTER (WHERE zson_send(j::zson) <> jsonb_send(j)) AS binary, count(*) FILTER (WHERE NOT j::zson @> j::zson) AS itself FROM accepted;
DROP TABLE conformance, accepted;
DROP FUNCTION conforms, reads_as;
