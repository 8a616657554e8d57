"""Paths of jsonb documents of every kind give what heap gives, errors included.

The documents are more than the generator of test_vector_queries makes: scalars,
arrays, objects of many keys, numbers of any precision, escapes, large values.
"""

from __future__ import annotations

import psycopg
import psycopg.sql
import pytest

ROWS = 8000
DOCUMENTS = [
    None,
    "null",
    '"a"',
    "42",
    "true",
    "[]",
    "{}",
    '["a", "b", {"a": 1}]',
    '[[["a"]]]',
    '{"a": null}',
    '{"a": true, "b": false}',
    '{"a": false}',
    r'{"a": "x\"\\\n\t\u00e9\u4e2d\ud83d\ude00"}',
    '{"a": 1.50, "b": 1.5}',
    '{"a": 1e400, "b": -0.000000000000000000000000000000000000000001}',
    '{"a": 12345678901234567890123456789012345678901234567890.1234567890}',
    '{"a": 0, "b": -0}',
    '{"a": 0.00}',
    '{"a": 7}',
    '{"a": "12"}',
    '{"a": " 12 "}',
    '{"a": {"b": {"c": "deep"}}}',
    '{"a": {"b": [1, 2, {"c": 3}]}}',
    '{"a": {"b": {}}}',
    '{"a": {"b": []}}',
    '{"a": {"0": "zero", "b": "b"}}',
    '{"a": [{"b": 1}, {"b": 2}]}',
    '{"a": ["zero", "one"]}',
    '{"": "empty", "a": ""}',
    '{"aa": 1, "ab": 2, "b": {"a": "x", "c": "deep"}}',
    '{"ab": 1, "ac": 2, "b": {"a": "x", "c": "deep"}}',
    '{"b": {"c": null}}',
    '{"b": "c", "c": "x"}',
    '{"os": "android", "a": 1}',
    '{"os": "ios", "a": 1.0}',
    '{"é": "key", "中": {"a": "b"}, "a": "u"}',
]
# objects of many keys: around the 32 of which one has an offset
MADE = """CASE g % 5
    WHEN 0 THEN (SELECT jsonb_object_agg('k' || i, i) FROM generate_series(1, 60 + g % 7) i)
    WHEN 1 THEN (SELECT jsonb_object_agg(repeat('k', i), repeat('v', i)) FROM generate_series(1, 31 + g % 4) i) || '{"a": 7}'
    WHEN 2 THEN (SELECT jsonb_object_agg(chr(96 + i), i) FROM generate_series(1, 14 + g % 5) i)
    WHEN 3 THEN jsonb_build_object('a', repeat('long ', 200 * (g % 12)), 'b', jsonb_build_object('c', 'deep'))
    ELSE jsonb_build_object('os', 'o' || g % 7, 'a', g, 'b', jsonb_build_object('c', g % 3, 'a', (g % 5)::text), 'c', 'x')
    END"""

EXPRESSIONS = [
    "d -> 'a'",
    "d ->> 'a'",
    "d -> 'a' -> 'b'",
    "d -> 'a' ->> 'b'",
    "d -> 'a' -> 'b' -> 'c'",
    "d -> 'b' ->> 'c'",
    "d #> '{a,b}'",
    "d #>> '{a,0}'",
    "d #>> '{a,0,b}'",
    "d #> '{0}'",
    "d #>> '{a,b,2,c}'",
    "d #> '{a,0}' ->> 'b'",
    "d['a']['b']",
    "d ->> ''",
    "d ->> 'é'",
    "d -> '中' ->> 'a'",
    "d ->> 'k57'",
    "d ->> 'kkk'",
    "d ->> 'p'",
    "d ? 'a'",
    "d ? ''",
    "d ?| '{a,zz}'",
    "d ?& '{a,b}'",
    """d @> '{"a": 1}'""",
    """d @> '{"a": 0}'""",
    """d @> '{"a": ""}'""",
    """d @> '{"a": null}'""",
    """d @> '{"a": true}'""",
    """d @> '{"a": 1.5, "b": 1.50}'""",
    """d @> '{"b": {"c": "deep"}}'""",
    """d @> '{"os": "android", "a": 1.00}'""",
    """d @> '{"b": {"c": 1}, "c": "x"}'""",
    """'{"a": 7}' <@ d""",
    "length(d ->> 'a')",
    "coalesce(d ->> 'a', d -> 'b' ->> 'c')",
    "jsonb_typeof(d -> 'a')",
]
# each of these raises on some documents, and on none of the rows that pass the condition
CASTS = [
    ("(d ->> 'a')::int", "d ->> 'a' ~ '^ ?[0-9]{1,5} ?$'"),
    ("(d ->> 'a')::float8", "d ->> 'a' ~ '^ ?[0-9]{1,5} ?$'"),
    ("(d ->> 'a')::numeric", "d ->> 'a' ~ '^ ?[0-9.]+ ?$'"),
    (
        "(d -> 'a')::int",
        "jsonb_typeof(d -> 'a') = 'number' AND d ->> 'a' !~ '..........'",
    ),
    ("(d -> 'a')::numeric", "jsonb_typeof(d -> 'a') = 'number'"),
    ("(d -> 'a' ->> 'b')::bool", "d -> 'a' ->> 'b' = 't'"),
]


def values(documents: list) -> str:
    rows = (
        f"({i}, {'NULL' if d is None else psycopg.sql.quote(d)})"
        for i, d in enumerate(documents)
    )
    return ", ".join(rows)


@pytest.fixture
def tables(conn, am):
    """Documents of one kind after the other, all sorts in turn, and few distinct
    ones: compressed, with nulls, and in the delta."""
    conn.execute(f"CREATE EXTENSION IF NOT EXISTS {am}")
    conn.execute("CREATE TABLE kinds (n int, d jsonb)")
    conn.execute(f"INSERT INTO kinds VALUES {values(DOCUMENTS)}")
    n = len(DOCUMENTS)
    queries = {
        "mixed": f"SELECT g AS id, CASE WHEN g % 3 = 0 THEN {MADE} ELSE d END AS d"
        f" FROM generate_series(1, {ROWS}) g JOIN kinds ON n = g / 3 % {n}",
        "blocks": f"SELECT g AS id, CASE WHEN g % 50 = 0 THEN {MADE} ELSE d END AS d"
        f" FROM generate_series(1, {ROWS}) g JOIN kinds ON n = g / 400 % {n}",
        "made": f"SELECT g AS id, {MADE} AS d FROM generate_series(1, {ROWS}) g",
        "few": f"SELECT g AS id, d FROM generate_series(1, {ROWS}) g JOIN kinds ON n = g % 4 + 12",
        "delta": f"SELECT g AS id, CASE WHEN g % 3 = 0 THEN {MADE} ELSE d END AS d"
        f" FROM generate_series(1, 400) g JOIN kinds ON n = g % {n}",
    }
    for name, query in queries.items():
        conn.execute(f"CREATE TABLE heap_{name} AS {query} ORDER BY id")
        conn.execute(f"CREATE TABLE ours_{name} (id int, d jsonb) USING {am}")
        conn.execute(f"INSERT INTO ours_{name} SELECT * FROM heap_{name} ORDER BY id")
        conn.execute(f"ANALYZE ours_{name}, heap_{name}")
    return list(queries)


def outcome(conn, sql: str):
    try:
        return conn.execute(sql).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


def compare(conn, tables: list[str], sql: str) -> None:
    for table in tables:
        ours = outcome(conn, sql.format(f"ours_{table}"))
        assert ours == outcome(conn, sql.format(f"heap_{table}")), (table, sql)


def test_paths(conn, am, tables):
    for e in EXPRESSIONS:
        e = e.replace("{", "{{").replace("}", "}}")
        compare(
            conn,
            tables,
            "SELECT md5(string_agg(id || coalesce(("
            + e
            + ")::text, 'NULL'), ',' ORDER BY id))"
            " FROM {}",
        )
        compare(
            conn,
            tables,
            "SELECT ("
            + e
            + ')::text COLLATE "C", count(*), min(id) FROM {} GROUP BY 1 ORDER BY 1',
        )
        compare(
            conn,
            tables,
            "SELECT count(*), sum(id) FROM {} WHERE id % 3 < 2"
            " AND ((" + e + ")::text > 'b' OR (" + e + ") IS NULL)",
        )


STRINGS = {
    "repeat": "'v' || g % 3",
    "many": "CASE WHEN g % 2 = 0 THEN 'v' || g % 3 ELSE 'w' || g END",
    "long": "repeat('v' || g % 5, CASE WHEN g > 9000 THEN 200 ELSE 1 END)",
}


def test_many_strings_at_a_path(conn, am):
    """Few strings have codes; of many, long ones and numbers nobody keeps a list."""
    for name, sql in STRINGS.items():
        value = f"CASE WHEN g % 5000 = 4999 THEN to_jsonb(g) ELSE to_jsonb({sql}) END"
        made = f"SELECT g AS id, jsonb_build_object('k', {value}, 'n', g) AS d"
        conn.execute(
            f"CREATE TABLE heap_{name} AS {made} FROM generate_series(1, 20000) g"
        )
        conn.execute(f"CREATE TABLE ours_{name} (id int, d jsonb) USING {am}")
        conn.execute(f"INSERT INTO ours_{name} SELECT * FROM heap_{name} ORDER BY id")
        conn.execute(f"ANALYZE ours_{name}, heap_{name}")
    key = "d ->> 'k'"
    for sql in (
        f"SELECT md5(string_agg(id || ({key}), ',' ORDER BY id)) FROM {{}}",
        f"SELECT {key}, count(*), sum(id) FROM {{}} GROUP BY 1 ORDER BY 1",
        f"SELECT {key}, id % 7, count(*) FROM {{}} GROUP BY 1, 2 ORDER BY 1, 2",
        f"SELECT count(DISTINCT {key}), max({key}), min(upper({key})) FROM {{}}",
        f"SELECT count(*), sum(id) FROM {{}} WHERE {key} = 'v1'",
        f"SELECT count(*), sum(id) FROM {{}} WHERE {key} LIKE '%1%' AND id > 700",
        f"SELECT id, {key} FROM {{}} WHERE {key} > 'v' ORDER BY 2, 1 LIMIT 20",
    ):
        compare(conn, list(STRINGS), sql)


def test_casts(conn, am, tables):
    for cast, condition in CASTS:
        condition = condition.replace("{", "{{").replace("}", "}}")
        compare(conn, tables, f"SELECT sum(id), max(({cast})::text) FROM {{}}")
        compare(conn, tables, f"SELECT count(*) FROM {{}} WHERE ({cast})::text > '1'")
        for i in range(0, 120, 7):
            compare(
                conn,
                tables,
                f"SELECT id, {cast} FROM {{}} WHERE id BETWEEN {i} AND {i + 2} ORDER BY id",
            )
        compare(
            conn,
            tables,
            f"SELECT count(*), count(x), md5(string_agg(x::text, ',' ORDER BY id)) FROM"
            f" (SELECT id, CASE WHEN {condition} THEN {cast} END AS x FROM {{}}) s",
        )
