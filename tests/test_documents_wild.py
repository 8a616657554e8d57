"""Documents that nobody should make come back as they were, in bounded memory, and
take no more room in sub-columns than they would take without."""

from __future__ import annotations

import contextlib
import os

import psycopg
import pytest

SLOW = bool(os.environ.get("SLOW"))
MB = 1024 * 1024
LARGE = (100 if SLOW else 6) * MB

# A document for each g, and how many of them.
WILD = {
    "10,000 keys": (2000, """SELECT jsonb_object_agg('k' || (g * 7919 + i * 104729) % 10000, md5((g * i)::text))
        FROM generate_series(1, 15) i"""),
    "keys that are data": (2000, """jsonb_build_object('of', jsonb_build_object(md5(g::text), g,
        md5((-g)::text), jsonb_build_object(md5((g + 7)::text), 'x')), 'n', g)"""),
    "some of 3,000 keys": (3000, """SELECT jsonb_object_agg('p' || i, g % i) FROM generate_series(1, 3000) i
        WHERE (g * i) % 997 < 4"""),
    "depth 100": (1500, """(repeat('{"a": {"b' || g % 3 || '": [', 33) || to_json(md5(g::text)) || repeat(']}}', 33))::jsonb"""),
    "depth 100 of objects": (1500, """(repeat('{"a": ', 99) || '{"n": ' || g || '}' || repeat(', "z": 1}', 99))::jsonb"""),
    "keys of 1 kB": (1500, """SELECT jsonb_object_agg(repeat('key ', 250) || i, md5((g + i)::text)) || jsonb_build_object('n', g)
        FROM generate_series(g % 5, g % 5 + 9) i"""),
    "numbers of 1,000 digits": (1500, """('{"a": ' || 1 + g % 9 || repeat((g * 7919 % 100000)::text, 200) || ', "b": 0.'
        || repeat((g * 104729 % 100000)::text, 200) || '1, "c": ' || g || '.' || repeat('0', 1000) || '}')::jsonb"""),
    "duplicates, escapes": (2000, r"""('{"a": 1, "a": "\u00e9\ud83d\ude00' || g || '", "\u0061\u0062": {"": ' || g || ', "": {"": [' || g
        || ', ""]}}, "": "\\\"\/\b\f\n\r\t", "ab\t": 1e' || g % 40 || ', "a": {"b": 1, "b": "' || md5(g::text) || '"}}')::jsonb"""),
    "one kind each": (2000, """SELECT jsonb_build_object('v', (ARRAY[to_jsonb(g), to_jsonb(md5(g::text)), 'null', 'true', '[]', '{}',
        jsonb_build_array(g, md5(g::text)), jsonb_build_object('v', g), '1e300', '""'])[1 + (g * 7919) % 10], 'w' || g % 50, g)"""),
    "hundreds of paths": (1500, """SELECT jsonb_object_agg('p' || i, CASE i % 3 WHEN 0 THEN to_jsonb(g % i)
        WHEN 1 THEN jsonb_build_object('x', g * i, 'y', i) ELSE to_jsonb(left(md5((g * i)::text), 6)) END)
        FROM generate_series(1, 250) i"""),
}  # fmt: skip
ASKED = [
    "d",
    "d -> 'a'",
    "d ->> 'n'",
    "d -> 'of'",
    "d ->> 'k7'",
    "d ->> 'p2999'",
    "d -> 'p7' -> 'y'",
    "d #> '{a,b0,0,a}'",
    "d #>> '{a,b}'",
    "d #> '{ab,\"\"}'",
    "d ->> ''",
    "d ->> (repeat('key ', 250) || 7)",
    "d #> array_fill('a'::text, ARRAY[99]) ->> 'n'",
    "d #> array_fill('a'::text, ARRAY[50]) ->> 'z'",
    "(d -> 'a')::numeric + 1",
    "(d ->> 'c')::numeric",
    "(d ->> 'n')::bigint",
    "d ? 'k77'",
    "d ?| ARRAY['k77', 'p3', repeat('key ', 250) || 3]",
    """d @> '{"n": 7}'""",
    """d @> '{"v": {"v": 17}}'""",
    """d @? '$.**.n ? (@ > 5)'""",
    """jsonb_path_query_array(d, '$.*.x')""",
    "jsonb_typeof(d -> 'v')",
    "d - 'a'",
]
DIGEST = "SELECT count(x), sum(hashtextextended(id || x::text, 0)) FROM (SELECT id, {} AS x FROM {}) q"


def outcome(conn, sql: str):
    try:
        return conn.execute(sql).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


def peak(conn) -> int:
    """Bytes of memory that this backend has had at most, but for what it shares."""
    with open(f"/proc/{conn.info.backend_pid}/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return (int(lines["VmHWM"].split()[0]) - int(lines["RssShmem"].split()[0])) * 1024


def size(conn, table: str) -> int:
    ((size,),) = conn.execute(f"SELECT pg_total_relation_size('{table}')")
    return size


@pytest.mark.parametrize("kind", WILD)
def test_wild_documents(db, conn, am, kind):
    rows, document = WILD[kind]
    conn.execute(
        f"CREATE TABLE heap AS SELECT g AS id, ({document}) AS d FROM generate_series(1, {rows}) g"
    )
    loader = db.connect()
    # documents in arrays have no sub-columns
    for table, typ, value in (("ours", "jsonb", "d"), ("plain", "jsonb[]", "ARRAY[d]")):
        loader.execute(f"CREATE TABLE {table} (id int, d {typ}) USING {am}")
        loader.execute(f"INSERT INTO {table} SELECT id, {value} FROM heap ORDER BY id")
        loader.execute(f"CALL {am}.merge('{table}')")
    assert size(conn, "ours") <= 1.1 * size(conn, "plain")
    for e in ASKED:
        ours, heap = (outcome(loader, DIGEST.format(e, t)) for t in ("ours", "heap"))
        assert ours == heap, e
    assert peak(loader) < 100 * MB
    assert conn.execute(f"SELECT * FROM {am}.verify('ours')").fetchall() == []


def test_memory_of_elements_is_bounded(db, conn, am):
    """Those of a batch are kept, not those of a document."""
    conn.execute(
        f"CREATE TABLE ours USING {am} AS SELECT g AS id, (SELECT jsonb_agg(i) FROM"
        " generate_series(1, CASE WHEN g % 500 = 0 THEN 200000 ELSE 10 END) i) AS d"
        " FROM generate_series(1, 1500) g"
    )
    with contextlib.closing(db.connect()) as reader:
        found = reader.execute(
            "SELECT sum(e::int) FROM ours, jsonb_array_elements(d) e"
        )
        assert found.fetchall() == [(3 * 200000 * 200001 // 2 + 1497 * 55,)]
        assert peak(reader) < 64 * MB


@pytest.mark.slow
def test_large_documents(db, conn, am):
    """Documents of which few fit into memory, among small ones."""
    large = f"""SELECT jsonb_build_object('n', g, 'a', jsonb_agg(jsonb_build_object('b', i, 'c', md5((g * i)::text))),
        'text', repeat('word ', {LARGE // 20})) FROM generate_series(1, {LARGE // 100}) i"""
    conn.execute("CREATE TABLE heap (id int, d jsonb)")
    conn.execute(
        "INSERT INTO heap SELECT g, CASE WHEN g % 500 = 7"
        f" THEN ({large}) ELSE jsonb_build_object('n', g) END FROM generate_series(1, 2000) g"
    )
    ((most,),) = conn.execute(
        "SELECT max(length(jsonb_send(d))) FROM heap WHERE id % 500 = 7"
    )
    with contextlib.closing(db.connect()) as loader:
        loader.execute(f"CREATE TABLE ours (id int, d jsonb) USING {am}")
        loader.execute("INSERT INTO ours SELECT * FROM heap ORDER BY id")
        loader.execute(f"CALL {am}.merge('ours')")
        for e in ("d", "d ->> 'n'", "d #> '{a,7,b}'", "length(d ->> 'text')"):
            ours, heap = (
                outcome(loader, DIGEST.format(e, t)) for t in ("ours", "heap")
            )
            assert ours == heap, e
        # heap's own answers take four times a document and its text
        assert peak(loader) < 64 * MB + 10 * most
    assert conn.execute(f"SELECT * FROM {am}.verify('ours')").fetchall() == []
