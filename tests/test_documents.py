"""Paths of jsonb documents of every kind give what heap gives, errors included.

The documents are more than the generator of test_vector_queries makes: scalars,
arrays, objects of many keys, numbers of any precision, escapes, large values.
"""

from __future__ import annotations

import contextlib

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
    '{"a": [1, {"c": null}, [null]], "b": {"c": [null]}}',
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

# every kind of value at a, at a.b and below, often and seldom, and rare keys beside
NESTED = """CASE g % 13 WHEN 12 THEN jsonb '{}' ELSE jsonb_build_object('os', 'o' || g % 7, 'u', md5(g::text), 'v', g * 7) END
    || CASE g % 11
    WHEN 0 THEN jsonb '{"a": "key"}' WHEN 1 THEN '{"a": ["key", {"b": "x"}, 3]}' WHEN 2 THEN '{"a": null}'
    WHEN 3 THEN '{"a": {}}' WHEN 4 THEN jsonb_build_object('a', jsonb_build_object('c', g % 9)) WHEN 5 THEN '{"b": {"c": "deep"}}'
    ELSE jsonb_build_object('a', jsonb_build_object('b', CASE g % 9
        WHEN 0 THEN jsonb '"x"' WHEN 1 THEN '"y"' WHEN 2 THEN to_jsonb(g % 5) WHEN 3 THEN '{"key": 1, "c": [1, {"n": 7}]}'
        WHEN 4 THEN jsonb_build_object('key', jsonb_build_object('deep', g)) WHEN 5 THEN '[{"b": 1, "n": 5}, {"n": 9}, "key"]'
        WHEN 6 THEN 'true' WHEN 7 THEN 'null' ELSE to_jsonb('s' || g) END, 'l', CASE g % 4 WHEN 0 THEN '["en"]' WHEN 1 THEN '[]' ELSE '["de", "en"]' END::jsonb))
    END
    || CASE WHEN g % 97 = 0 THEN jsonb_build_object('rare', g) ELSE '{}' END
    || CASE WHEN g % 101 = 0 THEN jsonb '{"a": {"rare": [1], "b": {"rare": {"key": 2}, "key": "x"}}}' ELSE '{}' END"""

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
    """d <@ '{"a": 7, "os": "linux", "b": {}}'""",
    """'{"a": 7, "b": [1, 2]}' @> d""",
    """d -> 'a' <@ '{"b": 3, "l": ["de", "en"]}'""",
    """d -> 'a' -> 'l' <@ '["de", "en", 5]'""",
    """d <@ '[1, "a"]'""",
    """d -> 0 <@ '{"a": 1}'""",
    "length(d ->> 'a')",
    "coalesce(d ->> 'a', d -> 'b' ->> 'c')",
    "jsonb_typeof(d -> 'a')",
    "jsonb_typeof(d)",
    "jsonb_typeof(d -> 'a' -> 'b')",
    "jsonb_typeof(d #> '{a,b,c}')",
    "jsonb_typeof(d -> 'a' -> 0)",
    "jsonb_typeof(d['a']['b']['key'])",
    "(d -> 'a') ? 'key'",
    "(d -> 'a' -> 'b') ? 'key'",
    "(d -> 'a' -> 'b') ?| '{rare,c}'",
    "(d -> 'a' -> 'b') ?& '{key,c}'",
    "(d -> 'a' -> 0) ? 'key'",
    "(d -> 'a' -> 'b') IS NULL",
    "(d -> 'a') IS NOT NULL",
    "d - 'a'",
    "d - 'nothing'",
    "d - '{a,k3}'::text[]",
    "d - 'a' - 'b'",
    "d::text",
    "length(d::text)",
    "(d - 'a')::text",
    "(d -> 'a')::text",
    "(d #> '{b,c}')::text",
    "CASE WHEN jsonb_typeof(d) IN ('object', 'array') THEN d - 'a' END",
    "d - 'a' -> 'os'",
    "CASE WHEN jsonb_typeof(d) = 'object' AND jsonb_typeof(d -> 'a') = 'object' THEN d #- '{a,b}' END",
    "CASE WHEN jsonb_typeof(d) = 'object' AND jsonb_typeof(d -> 'a') = 'object' THEN (d #- '{a,b}' #- '{a,l}')::text END",
    "CASE WHEN jsonb_typeof(d) = 'object' AND jsonb_typeof(d #> '{a,b}') = 'object' THEN d #- '{a,b,key}' END",
    "CASE WHEN jsonb_typeof(d) = 'object' THEN d - 'a' - 'k57' END",
    "jsonb_strip_nulls(d)",
    "jsonb_strip_nulls(d)::text",
    "CASE WHEN jsonb_typeof(d) = 'object' THEN jsonb_strip_nulls(d - 'b')::text END",
    """(d -> 'a') @> '{"b": "x"}'""",
    """(d -> 'a' -> 'b') @> '{"key": 1}'""",
    """d @> '{"a": {"b": ["key"]}}'""",
    """d @> '{"a": {"b": {"rare": {}}, "l": ["en"]}}'""",
    """d @> '{"a": {}}'""",
    """d @? '$.a.b ? (@ == "x")'""",
    """d @? '$.a[*] ? (@.b == "x")'""",
    """d @? '$.a.b[*] ? (@.n > 5)'""",
    """d @? 'strict $.a.b'""",
    """d @? '$ ? (@.a.b == 3)'""",
    """d @@ '$.a.b == "x"'""",
    """d @@ '$.a.b == $.a.c || $.os starts with "o1"'""",
    """d @@ 'exists($.a.b.key.deep) && !($.rare > 0)'""",
    """d @@ '$.os like_regex "[12]$"'""",
    """(d -> 'a') @? '$.b'""",
    """(d -> 'a') @@ '$.b.key == 1'""",
    """(d -> 'a' -> 0) @? '$.b'""",
    """jsonb_path_exists(d, '$.a.b ? (@ > $min)', '{"min": 2}')""",
    """jsonb_path_exists(d, '$.a.b ? (@ == $v.os)', jsonb_build_object('v', d))""",
    """jsonb_path_exists(d, 'strict $.a.b', silent => true)""",
    """jsonb_path_match(d, '$.a.b == 3', silent => true)""",
    """jsonb_path_query_first(d, '$.a.b.type()')""",
    """jsonb_path_query_first(d, '$.a.l[last]')""",
    """jsonb_path_query_array(d, '$.a.*')""",
    """jsonb_path_query_array(d, '$.a.b.**')""",
    """jsonb_path_query_array(d, '$.a.keyvalue()')""",
    """jsonb_path_query_array(d, '$.a[$.b.c to last]', silent => true)""",
    """jsonb_path_query_array(d, '$.keyvalue().id')""",
]
# where SQL/JSON has them
STANDARD = [
    "json_value(d, '$.a.b')",
    "json_value(d, '$.a')",
    "json_value(d, '$.b.c')",
    "json_query(d, '$.a')",
    "json_query(d, '$.a.b')",
    "json_query(d, '$.b.c')::text",
    # After a row in error the server gives DEFAULT ON ERROR for a NULL document,
    # too: its result depends on the order of rows.
    "CASE WHEN d IS NOT NULL THEN json_value(d, '$.a.b' RETURNING int"
    " DEFAULT -1 ON EMPTY DEFAULT -2 ON ERROR) END",
    "CASE WHEN d IS NOT NULL THEN"
    " json_value(d, 'strict $.a.b' DEFAULT 'none' ON ERROR) END",
    "json_query(d, '$.a.l')",
    "json_query(d, '$.a.b[*].n' WITH WRAPPER)",
    "json_exists(d, '$.a.b[*] ? (@.n > $min)' PASSING 5 AS min)",
    "json_exists(d -> 'a', '$.b.key')",
]
# each raises where a document has something else
STRICT = [
    "jsonb_path_match(d, '$.a.b')",
    "jsonb_path_query_first(d, 'strict $.a.b')",
    "jsonb_path_query_first(d, '$.a.b.double()')",
    "jsonb_array_length(d -> 'a' -> 'l')",
    "jsonb_array_length(d -> 'a' -> 'b')",
    "d - 'os' - 0",
]
# the same, with an error of its own for each kind
STRICT_KINDS = ["d #- '{a,b}'", "(d #- '{a,b}')::text", "d - 'a' #- '{os,b}'"]
# functions that return rows, in the target list and beside the table
ROWS_OF = [
    ("jsonb_array_elements_text(d -> 'a' -> 'l')", "e"),
    ("jsonb_array_elements(d -> 'a' -> 'b')", "e"),
    ("jsonb_path_query(d, '$.a.b[*].n')", "e"),
    ("jsonb_path_query(d, '$.a.**')", "e"),
    ("jsonb_object_keys(d -> 'b')", "e"),
    ("jsonb_object_keys(d)", "e"),
    ("jsonb_each(d -> 'b')", "(e).value"),
]
ROWS_STANDARD = (
    "json_table(d, '$.a.b[*]' COLUMNS (o FOR ORDINALITY, n int PATH '$.n',"
    " b text PATH '$.b' DEFAULT '-' ON EMPTY)) AS e(o, n, b)"
)
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


@pytest.fixture(scope="module")
def schema(module_db, am):
    """Each access method has its tables in a schema of its own."""
    with contextlib.closing(module_db.cluster.connect(module_db.name)) as conn:
        conn.execute(f"CREATE SCHEMA made_{am}")
    return f"made_{am}"


def _connection(module_db, schema):
    conn = module_db.cluster.connect(module_db.name)
    conn.execute(f"SET search_path = {schema}, public")
    return contextlib.closing(conn)


@pytest.fixture
def conn(module_db, schema):
    with _connection(module_db, schema) as conn:
        yield conn


@pytest.fixture(scope="module")
def tables(module_db, schema, am):
    """Documents of one kind after the other, all sorts in turn, and few distinct
    ones: compressed, with nulls, and in the delta.  The tests of this file only
    read them."""
    with _connection(module_db, schema) as conn:
        return made_tables(conn, am)


def made_tables(conn, am):
    conn.execute("CREATE TABLE kinds (n int, d jsonb)")
    conn.execute(f"INSERT INTO kinds VALUES {values(DOCUMENTS)}")
    n = len(DOCUMENTS)
    queries = {
        "mixed": f"SELECT g AS id, CASE WHEN g % 3 = 0 THEN {MADE} ELSE d END AS d"
        f" FROM generate_series(1, {ROWS}) g JOIN kinds ON n = g / 3 % {n}",
        "blocks": f"SELECT g AS id, CASE WHEN g % 50 = 0 THEN {MADE} ELSE d END AS d"
        f" FROM generate_series(1, {ROWS}) g JOIN kinds ON n = g / 400 % {n}",
        "made": f"SELECT g AS id, {MADE} AS d FROM generate_series(1, {ROWS}) g",
        "nested": f"SELECT g AS id, {NESTED} AS d FROM generate_series(1, {ROWS}) g",
        "few": f"SELECT g AS id, d FROM generate_series(1, {ROWS}) g JOIN kinds ON n = g % 4 + 12",
        "delta": f"SELECT g AS id, CASE WHEN g % 3 = 0 THEN {MADE} ELSE d END AS d"
        f" FROM generate_series(1, 400) g JOIN kinds ON n = g % {n}",
    }
    for name, query in queries.items():
        conn.execute(f"CREATE TABLE heap_{name} AS {query} ORDER BY id")
        conn.execute(f"CREATE TABLE ours_{name} (id int, d jsonb) USING {am}")
        conn.execute(f"INSERT INTO ours_{name} SELECT * FROM heap_{name} ORDER BY id")
        conn.execute(f"ANALYZE ours_{name}, heap_{name}")
    if am == "colcompress":
        encoding = conn.execute(
            "SELECT encoding FROM colcompress.column_chunks('ours_nested')"
            " WHERE column_name = 'd'"
        )
        assert encoding.fetchall() == [("shredded",)]
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


def expressions(conn) -> list[str]:
    return EXPRESSIONS + (STANDARD if conn.info.server_version >= 170000 else [])


def test_paths(conn, am, tables):
    for e in expressions(conn):
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


def test_errors(conn, am, tables):
    """What raises on one document raises the same here, and nothing else does."""
    for e in STRICT + STRICT_KINDS:
        one_error = e in STRICT
        e = e.replace("{", "{{").replace("}", "}}")
        if one_error:
            compare(conn, tables, f"SELECT count(({e})::text) FROM {{}}")
        for i in range(1, 60, 7):
            compare(
                conn,
                tables,
                f"SELECT id, {e} FROM {{}} WHERE id BETWEEN {i} AND {i + 1} ORDER BY id",
            )
            compare(
                conn,
                tables,
                f"SELECT count(*) FROM {{}} WHERE id = {i} AND ({e})::text > '1'",
            )


def test_few_rows_of_documents(conn, am, tables):
    """A document less a place, asked for of many rows of a vector and then of few, or
    the other way round: what is left to the operators is never lost."""
    lost = (
        "INSERT INTO {} SELECT g, (g % 33 <> 7)::int, CASE WHEN g % 33 = 7 THEN '{{\"a\": {{}}}}'"
        " ELSE jsonb_build_object('a', jsonb_build_object('b', g, 'c', 'z')) END"
        " || CASE WHEN g % 33 = 1 THEN '{{\"k\": 1}}' ELSE jsonb '{{}}' END"
        " FROM generate_series(1, 8000) g"
    )
    for table, using in (("few_heap", ""), ("few_ours", f"USING {am}")):
        conn.execute(f"CREATE TEMP TABLE {table} (id int, x int, d jsonb) {using}")
        conn.execute(lost.format(table))
        conn.execute(f"ANALYZE {table}")
    for query in (
        "SELECT id, (d #- '{{a,b}}')::text FROM {}"
        " WHERE CASE WHEN x = 1 THEN (d #- '{{a,b}}')::text = 'q' ELSE id % 33 = 7 END",
        "SELECT d, (d - 'k')::text FROM {} WHERE id BETWEEN 2050 AND 2068"
        " AND (x = 1 OR (d - 'k')::text <> 'q')",
        "SELECT id, d - 'k', (d #- '{{a,b}}')::text, d FROM {} WHERE id % 331 < 3"
        " AND (x = 0 OR (d - 'k')::text <> 'q' OR (d #- '{{a,b}}') ? 'a')",
    ):
        rows = [
            sorted(map(repr, conn.execute(query.format(table)).fetchall()))
            for table in ("few_heap", "few_ours")
        ]
        assert rows[0] == rows[1], query
    conn.execute("DROP TABLE few_heap, few_ours")


def test_rows_of_documents(conn, am, tables):
    """The scan hands up the parts that functions above it look at."""
    for f, value in ROWS_OF:
        f = f.replace("{", "{{").replace("}", "}}")
        text = f'({value})::text COLLATE "C"'
        for source in (f"(SELECT id, {f} AS e FROM {{}}) s", f"{{}}, {f} AS e"):
            compare(
                conn,
                tables,
                f"SELECT {text}, count(*), sum(id) FROM {source} GROUP BY 1 ORDER BY 1",
            )
            compare(
                conn,
                tables,
                f"SELECT id, {text} FROM {source} WHERE id % 7 < 3 ORDER BY 1, 2 LIMIT 300",
            )
    # other uses of the document beside: none of them may lose anything
    for select in (
        "d",
        "d -> 'b'",
        "d ->> 'os', count(d) OVER ()",
        "d = d",
        "s",
        "(SELECT d)",
    ):
        compare(
            conn,
            tables,
            f"SELECT id, {select}, e FROM {{}} s LEFT JOIN LATERAL jsonb_path_query(d, '$.a.b') e ON true"
            " WHERE id % 5 = 0 ORDER BY id, e LIMIT 500",
        )
    compare(
        conn,
        tables,
        "SELECT count(*) FROM {0} x JOIN {0} y ON x.d -> 'a' -> 'b' = y.d -> 'a' -> 'b'"
        " WHERE x.id < 200 AND y.id < 400",
    )
    if conn.info.server_version >= 170000:
        compare(
            conn,
            tables,
            f"SELECT id, o, n, b FROM {{}}, {ROWS_STANDARD} ORDER BY 1, 2 LIMIT 500",
        )


ROWS_OF_JOINS = [
    "SELECT id, e::text FROM {0} s, jsonb_array_elements(d -> 'a' -> 'l') e",
    "SELECT id, k FROM {0} s, jsonb_object_keys(d -> 'a' -> 'b') k",
    "SELECT id, k, v::text FROM {0} s, jsonb_each(d #> '{{a,b}}') x(k, v)",
    "SELECT id, e FROM {0} s, jsonb_array_elements_text(d -> 'a' -> 1) e",
    "SELECT id, e::text FROM {0} s LEFT JOIN LATERAL jsonb_array_elements(d -> 'a' -> 'l') e ON e = '\"de\"'",
    "SELECT id, i, e::text FROM generate_series(1, 30) i LEFT JOIN ({0} s CROSS JOIN jsonb_array_elements(d -> 'a' -> 'l') e) ON id = i",
    "SELECT id, i, e::text FROM ({0} s CROSS JOIN jsonb_path_query(d, '$.a.b') e) FULL JOIN generate_series(8000, 8100) i ON id = i",
    "SELECT id FROM {0} s WHERE EXISTS (SELECT FROM jsonb_array_elements(d -> 'a' -> 'l') e WHERE e = '\"de\"')",
    "SELECT id FROM {0} s WHERE NOT EXISTS (SELECT FROM jsonb_array_elements(d -> 'a' -> 'l') e WHERE e = '\"de\"')",
    "SELECT id, (SELECT count(*) FROM jsonb_path_query(d, '$.a.b') e) FROM {0} s",
    "SELECT id, e::text FROM {0} s, jsonb_path_query(d, 'strict $.a.b.c', '{{}}', true) e",
    "SELECT id, e::text FROM {0} s, jsonb_path_query(d, 'strict $.a.b.c') e",
    "SELECT id, e::text FROM {0} s, jsonb_path_query(d, '$.a.b.double()') e",
    "SELECT id, e::text FROM {0} s, jsonb_path_query(d, '$.a.b ? (@ == $x)', '{{\"x\": 3}}') e",
    "SELECT s.id, e::text FROM {0} s JOIN {0} t ON s.id = t.id + 1, jsonb_path_query(s.d, '$.a.rare[*]') e WHERE t.id < 3000",
    "SELECT id, e::text, f::text FROM {0} s, jsonb_path_query(d, '$.a.l[*]') e, jsonb_path_query(d, '$.rare') f",
    "SELECT id, a, b FROM {0} s, ROWS FROM (jsonb_array_elements_text(d -> 'a' -> 'l'), generate_series(1, 2)) x(a, b)",
    "SELECT id, e::text, o FROM {0} s, jsonb_array_elements(d -> 'a' -> 'l') WITH ORDINALITY x(e, o)",
]


@pytest.mark.parametrize("parts", ["on", "off"])
def test_rows_of_joins(conn, am, tables, parts):
    """Documents without anything for the function leave where a join drops them, and nowhere else."""
    conn.execute(f"SET {am}.enable_document_parts = {parts}")
    for sql in ROWS_OF_JOINS:
        compare(conn, tables, f"SELECT * FROM ({sql}) q ORDER BY q::text LIMIT 400")
    plan = conn.execute(
        "EXPLAIN SELECT count(*) FROM ours_nested, jsonb_path_query(d, '$.a.rare') e,"
        " jsonb_array_elements(d -> 'a' -> 'l') f"
    ).fetchall()
    assert ("IS NOT NULL" in str(plan)) == (parts == "on")
    plan = conn.execute(
        "EXPLAIN SELECT count(*) FROM ours_nested, jsonb_path_query(d, '$.a.rare') e"
    ).fetchall()
    assert ("IS NOT FALSE" in str(plan)) == (parts == "on")


# each is a function that returns rows, and what groups are made of
ELEMENTS = [
    ("jsonb_object_keys(d) e", "e"),
    ("jsonb_object_keys(d -> 'b') e", "e"),
    ("jsonb_object_keys(d - 'os') e", "e"),
    ("jsonb_array_elements_text(d -> 'a' -> 'l') e", "e"),
    ("jsonb_array_elements_text(d -> 'a' -> 'b') e", "e, d ->> 'os'"),
    ("jsonb_array_elements(d -> 'a' -> 'b') e", "e ->> 'n'"),
    ("jsonb_array_elements(d #> '{{a,l}}') e", "e, d -> 'a' ? 'b'"),
    ("jsonb_array_elements(d) e", "e"),
    ("jsonb_each(d -> 'b') e", "key"),
    ("jsonb_each_text(d) e", "key"),
    ("jsonb_each_text(d -> 'a') e", "key, value"),
]
TYPED = "CASE jsonb_typeof({0}) WHEN '{1}' THEN {0} END"


@pytest.mark.parametrize("parts", ["on", "off"])
def test_elements_as_vectors(conn, am, tables, parts):
    """Elements and keys of documents, grouped; with errors, and with a condition."""
    conn.execute(f"SET {am}.enable_document_parts = {parts}")
    for call, keys in ELEMENTS:
        function, _, rest = call.partition("(")
        argument = rest.removesuffix(" e").removesuffix(")")
        kind = "array" if "array" in function else "object"
        for doc in (argument, TYPED.format(argument, kind)):
            rows = f"{{}}, {function}({doc}) e"
            compare(
                conn,
                tables,
                f"SELECT ({keys})::text, count(*), sum(id) FROM {rows}"
                f" GROUP BY {keys} ORDER BY 2, 3, 1",
            )
            compare(
                conn,
                tables,
                f"SELECT count(*), sum(length(({keys})::text)) FROM {rows}"
                f" WHERE ({keys})::text > 'c' AND id % 3 > 0",
            )
    conn.execute("CREATE TEMP TABLE one (d jsonb)")
    conn.execute(f"CREATE TEMP TABLE ours_one (d jsonb) USING {am}")
    for function, documents in (
        ("jsonb_object_keys", ("5", "[1]")),
        ("jsonb_each", ("5", "[1]")),
        ("jsonb_each_text", ("5", "[1]")),
        ("jsonb_array_elements", ("5", '{"a": 1}')),
        ("jsonb_array_elements_text", ("5", '{"a": 1}')),
    ):
        for document in documents:
            said = set()
            for table in ("one", "ours_one"):
                conn.execute(f"TRUNCATE {table}")
                conn.execute(
                    f"INSERT INTO {table} VALUES ({psycopg.sql.quote(document)})"
                )
                conn.execute(
                    f"INSERT INTO {table} SELECT NULL FROM generate_series(1, {ROWS})"
                )
                with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
                    conn.execute(f"SELECT count(*) FROM {table}, {function}(d)")
                said.add(str(error.value))
            assert len(said) == 1, said
    plan = conn.execute(
        "EXPLAIN (VERBOSE) SELECT key, count(*) FROM ours_nested, jsonb_each(d -> 'a')"
        " GROUP BY 1"
    ).fetchall()
    assert "Unnest: on vectors" in str(plan)
    # which documents are put together of no value
    assert ("d: keys of {a}" in str(plan)) == (parts == "on")


# Strings that are times, or look so, for casts by the session's settings.
# fmt: off
TIMES = [
    "2024-11-21T16:09:27.095Z", "2024-11-21T16:09:27Z", "2024-11-21T16:09:27.123456Z",
    "2024-02-29T00:00:00.1Z", "2024-11-21T16:09:27.1234567Z", "2024-11-21T16:09:27.Z",
    "2024-11-21T16:09:60Z", "2024-11-21T24:00:00Z", "2023-02-29T00:00:00Z",
    "2024-13-01T00:00:00Z", "2024-00-10T00:00:00Z", "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
    "1999-12-31T23:59:59.999999Z", "2000-01-01T00:00:00Z", "2024-11-21T16:09:27+09:00",
    "2024-11-21T16:09:27-03", "2024-11-21T16:09:27-00:30", "2024-11-21T16:09:27+16:00",
    "2024-11-21T16:09:27+9", "2024-11-21T16:09:27+0900", "2024-11-21T16:09:27",
    "2024-11-21T16:09:27.5", "2024-11-21T16:09", "2024-11-21T16:09Z", "2024-11-21",
    "24-11-21", "1970-01-01", "2024-11-21Z", "11/21/2024", "2024-11-21t16:09:27z",
    "2024-11-21T16:09:27ZZ", "+2024-11-21T16:09:27Z", "2024-1-1T16:09:27Z", "today",
    "x", "1969-12-31T23:59:59.000001Z", "1900-02-29", "2000-02-29",
    "2024-11-21T1x:09:27Z", "2024-11-21T16:09:27.12a", "2024-11-21 16:09:27+00",
    "2024-11-21 16:09:27", "2024-11-21 16:09:27 Z", "", " 2024-11-21",
]
# fmt: on


def test_casts_to_times(conn, am):
    """Each string for itself, with errors; then those that are like each other."""
    strings = ", ".join(f"({psycopg.sql.quote(text)})" for text in TIMES)
    for name, method in (("heap_times", "heap"), ("ours_times", am)):
        conn.execute(f"CREATE TEMP TABLE {name} (d jsonb, s text) USING {method}")
        conn.execute(
            f"INSERT INTO {name} SELECT jsonb_build_object('at', s, 'n', g), s"
            f" FROM (VALUES {strings}) v(s), generate_series(1, {ROWS // len(TIMES)}) g"
        )
    plan = (
        "EXPLAIN (ANALYZE, VERBOSE) SELECT FROM ours_times"
        " WHERE s = '2024-11-21T16:09:27Z' AND {} > '2020-01-01'"
    )
    # of two columns, so that no dictionary can answer
    either = "(CASE WHEN d IS NOT NULL THEN s END)"
    for kind in ("timestamptz", "timestamp", "date"):
        vectors = str(conn.execute(plan.format(f"{either}::{kind}")).fetchall())
        assert "AND ((CASE" in vectors.partition("Run On Vectors")[2], vectors
    settings = (
        ("ISO, MDY", "UTC", "Default"),
        ("SQL, DMY", "Asia/Tokyo", "Default"),
        ("German", "America/St_Johns", "India"),
    )
    for style, zone, abbreviations in settings:
        conn.execute(f"SET DateStyle = {psycopg.sql.quote(style)}")
        conn.execute(f"SET TimeZone = {psycopg.sql.quote(zone)}")
        conn.execute(f"SET timezone_abbreviations = {psycopg.sql.quote(abbreviations)}")
        for kind in ("timestamptz", "timestamp", "date"):
            for text in TIMES:
                where = f"s = {psycopg.sql.quote(text)}"
                for value in ("s", "(d ->> 'at')"):
                    compare(
                        conn,
                        ["times"],
                        f"SELECT DISTINCT {value}::{kind}::text FROM {{}} WHERE {where}",
                    )
            compare(
                conn,
                ["times"],
                f"SELECT (d ->> 'at')::{kind}, count(*) FROM {{}}"
                " WHERE s ~ '^[12]...-11-..T..:..:..([.].{{1,6}})?Z$' AND s !~ ':60|T24'"
                " GROUP BY 1 ORDER BY 1",
            )


def test_few_expected_rows_are_not_sorted(conn, am, tables):
    """The server expects next to no rows of conditions on paths; many may come."""
    conditions = "d ->> 'os' <> '' AND d ->> 'k' = 'v' AND d -> 'a' ->> 'b' = 'c'"
    for keys in ("d ->> 'os'", "d ->> 'os', d -> 'a'"):
        for query in (
            f"SELECT {keys}, count(*) FROM ours_made WHERE {conditions} GROUP BY {keys}",
            f"SELECT DISTINCT {keys} FROM ours_made WHERE {conditions}",
        ):
            plan = str(conn.execute(f"EXPLAIN {query}").fetchall())
            assert f"{am.capitalize()}Aggregate" in plan, plan


def test_parts_are_handed_up(conn, am, tables):
    """A locked row is seen whole; a cursor that turns round sees what it saw."""
    sql = "SELECT id, jsonb_path_query(d, '$.a.b') FROM ours_nested"
    conn.execute("BEGIN")
    conn.execute(f"DECLARE c SCROLL CURSOR FOR {sql}")
    forth = conn.execute("FETCH 50 FROM c").fetchall()
    assert conn.execute("FETCH BACKWARD 49 FROM c").fetchall() == forth[-2::-1]
    conn.execute("COMMIT")
    compare(
        conn,
        ["nested"],
        "SELECT id, (d -> 'a') ? 'b', d FROM {} WHERE id < 30 ORDER BY id FOR UPDATE",
    )
    for name in ("path_columns", "document_parts"):
        on = conn.execute(f"{sql} ORDER BY 1, 2").fetchall()
        conn.execute(f"SET {am}.enable_{name} = off")
        assert conn.execute(f"{sql} ORDER BY 1, 2").fetchall() == on


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


def test_case_compares_with_made_documents(conn, am, server):
    """Their constructors have a placeholder of their own, which is not CASE's argument."""
    if server.major < 16:
        pytest.skip("SQL/JSON constructors came with PostgreSQL 16")
    for name, method in (("heap_cased", "heap"), ("ours_cased", am)):
        conn.execute(f"CREATE TEMP TABLE {name} (t text, k int) USING {method}")
        conn.execute(
            f"INSERT INTO {name} SELECT CASE WHEN g % 3 = 0"
            " THEN json_object('a': g % 7 RETURNING text) ELSE 'x' || g END, g % 7"
            f" FROM generate_series(1, {ROWS}) g"
        )
    compare(
        conn,
        ["cased"],
        "SELECT k, sum(CASE t WHEN json_object('a': k RETURNING text) THEN 1"
        " WHEN json_array(k RETURNING text) THEN 2 ELSE 0 END) FROM {} GROUP BY k ORDER BY k",
    )
