"""Every type round-trips as in heap: through row groups and through the delta."""

from __future__ import annotations

import random

import pytest
from strata.samples import NO_INPUT, SAMPLES
from strata.twin import Twin

# Rows that a statement must write to make row groups rather than delta.
BULK = 20_000


@pytest.fixture(scope="module")
def types_twin(module_db, am) -> Twin:
    """One twin for all tests of this file, which drop their tables."""
    return Twin(module_db, am)


@pytest.fixture
def t(types_twin):
    yield types_twin
    for conn in types_twin.conns.values():
        conn.execute("ROLLBACK")
        conn.execute("DROP TABLE IF EXISTS t, seed CASCADE")


def bulk_and_delta(twin: Twin, column: str, values: list[str | None]) -> None:
    """Put the values into a column of that type, as row groups and as delta,
    and compare with heap after each step.

    The bulk has a stretch of every value alone, a mixture, NULLs in between
    and at the end, so that runs, dictionaries and plain storage are all met.
    """
    twin.ok(f"CREATE TABLE seed (n int, v {column}) USING heap")
    for number, value in enumerate(values):
        twin.ok("INSERT INTO seed VALUES (%s, %s)", [number, value])
    twin.ok(f"CREATE TABLE t (id int, v {column})")
    count = len(values)
    twin.ok(
        "INSERT INTO t SELECT i, v FROM generate_series(1, %s) i LEFT JOIN seed ON n = CASE"
        " WHEN i <= 8192 THEN i / 1100 %% %s"  # runs longer than a vector
        " WHEN i <= 16384 THEN (i * 7919) %% (%s + 1)"  # a mixture with NULLs
        " ELSE (i * 31) %% (%s * 3) END ORDER BY i",  # mostly NULL
        [BULK, count, count, count],
    )
    assert twin.row_groups() > 0
    twin.check()
    for number in range(count):
        twin.ok("INSERT INTO t SELECT -n, v FROM seed WHERE n = %s", [number])
    twin.ok("INSERT INTO t VALUES (0, NULL)")
    twin.check()
    twin.ok("UPDATE t SET v = (SELECT v FROM seed WHERE n = 0) WHERE id % 997 = 0")
    twin.check()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_built_in_type(t, name):
    known = t.heap.execute(
        "SELECT count(*) FROM pg_type WHERE typname = %s AND typnamespace = 'pg_catalog'::regnamespace",
        [name],
    ).fetchone()
    if known == (0,):
        pytest.skip(f"this server has no type {name}")
    if name == "xml" and t.run("SELECT '<a/>'::xml").sqlstate == "0A000":
        pytest.skip("this server was built without XML")
    bulk_and_delta(t, f'pg_catalog."{name}"', [*SAMPLES[name], None])


def test_samples_cover_every_type(t):
    """A base type, range or multirange without samples makes this fail."""
    names = t.heap.execute(
        "SELECT typname FROM pg_type WHERE oid < 16384 AND typtype IN ('b', 'r', 'm')"
        " AND typisdefined AND typcategory <> 'A' AND typname NOT LIKE '\\_%'"
        " AND typnamespace = 'pg_catalog'::regnamespace"
    ).fetchall()
    assert {name for (name,) in names} - set(SAMPLES) - NO_INPUT == set()


ARRAYS = {
    "int4[]": ["{}", "{1,2,3}", "{NULL,1,NULL}", "{{1,2},{3,4}}", "[5:6]={7,8}"],
    "text[]": ["{}", '{a,"b c",NULL,""}', "{" + ",".join(["tag"] * 500) + "}"],
    "numeric[]": ["{1.0,1.00,NaN}"],
    "float8[]": ["{-0,0,NaN,Infinity}"],
    "jsonb[]": ['{"{\\"a\\": 1}",null}'],
    "int4range[]": ['{"[1,2)",empty}'],
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_array(t, kind):
    bulk_and_delta(t, kind, [*ARRAYS[kind], None])


@pytest.fixture(scope="module", autouse=True)
def user_types(module_db):
    with module_db.cluster.connect(module_db.name) as conn:
        conn.execute(
            """
            CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
            CREATE TYPE pair AS (a int, b text);
            CREATE TYPE nest AS (p pair, m mood[], r numrange);
            CREATE DOMAIN positive AS int CHECK (VALUE > 0);
            CREATE DOMAIN short AS varchar(5) COLLATE "C";
            CREATE DOMAIN pairs AS pair[];
            CREATE TYPE floatrange AS RANGE (subtype = float8, subtype_diff = float8mi);
            CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2',
                                 deterministic = false);
            CREATE COLLATION german (provider = icu, locale = 'de');
            """
        )


OWN_TYPES = {
    "mood": ["sad", "ok", "happy"],
    "mood[]": ["{sad,happy}", "{}"],
    "pair": ["(1,x)", "(,)", '(5,"a ""b"" (c)")'],
    "nest": ['("(1,x)","{sad,ok}","[1,2)")', "(,,)"],
    "positive": ["1", "2147483647"],
    "short": ["", "abcde", "é"],
    "pairs": ['{"(1,a)","(,)"}', "{}"],
    "floatrange": ["[-0,0]", "empty", "(,)"],
    "floatmultirange": ["{[-1.5,2),[3,)}", "{}"],
    "varchar(7)": ["", "1234567", "a"],
    "char(4)": ["", "ab", "abcd"],
    "numeric(15,4)": ["0", "1.5", "99999999999.9999", "-0.0001", "NaN"],
    "numeric(5,-2)": ["100", "-99900", "0"],
    "numeric(3,6)": ["0.000999", "0", "-0.000001"],
    "timestamp(0)": ["2024-01-01", "2024-01-01 00:00:01"],
    "interval day to second(3)": ["1 day 02:03:04.567", "0"],
    "bit(9)": ["000000000", "111111111", "010101010"],
    "varbit(5)": ["", "1", "10101"],
    'text COLLATE "ci"': ["a", "A", "b", "B"],
    'text COLLATE "german"': ["ä", "a", "z", "Z"],
    'text COLLATE "C"': ["ä", "a", "z", "Z"],
}


@pytest.mark.parametrize("column", OWN_TYPES)
def test_user_type_or_modifier(t, column):
    bulk_and_delta(t, column, [*OWN_TYPES[column], None])


# ---- shapes of columns ----

COLUMNS = {
    "int ascending": ("int8", "i"),
    "int descending": ("int8", "-i * 3"),
    "int with gaps": ("int8", "i * 1000000007"),
    "int random": ("int8", "hashint8extended(i, 1)"),
    "int two values far apart": ("int8", "CASE i % 2 WHEN 0 THEN 9223372036854775807 ELSE -9223372036854775808 END"),
    "int outliers": ("int4", "CASE WHEN i % 1000 = 0 THEN 2000000000 ELSE i % 7 END"),
    "timestamps of a clock": ("timestamptz", "timestamptz '2024-01-01' + i * interval '30 s'"),
    "bool alternating": ("bool", "i % 2 = 0"),
    "bool rare": ("bool", "i % 5000 = 0"),
    "float decimal": ("float8", "round((hashint4(i::int) / 1e5)::numeric, 2)::float8"),
    "float random": ("float8", "hashint8extended(i, 2)::float8 / 3"),
    "float4 random": ("float4", "hashint4(i::int)::float4 / 7"),
    "float with specials": ("float8", "CASE i % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN 'infinity' WHEN 2 THEN '-0' ELSE i / 4.0 END"),
    "numeric money": ("numeric(15,4)", "(hashint4(i::int) / 7.0)::numeric(15,4)"),
    "numeric scales": ("numeric", "round(hashint4(i::int) / 7.0, (i % 12)::int)"),
    "numeric huge": ("numeric", "hashint8extended(i, 3)::numeric ^ 5"),
    "text unique hex": ("text", "md5(i::text)"),
    "text few": ("text", "'value ' || i % 30"),
    "text digits": ("text", "lpad((hashint4(i::int) & 65535)::text, 9, '0')"),
    "text urls": ("text", "'https://example.org/page/' || i % 3000 || '?q=' || hashint4(i::int)"),
    "text growing": ("text", "repeat('ab', (i % 200)::int)"),
    "text long": ("text", "repeat(md5(i::text), CASE WHEN i % 500 = 0 THEN 400 ELSE 1 END)"),
    "bytea random": ("bytea", "decode(md5(i::text) || md5((i + 1)::text), 'hex')"),
    "uuid": ("uuid", "md5(i::text)::uuid"),
    "jsonb alike": ("jsonb", "jsonb_build_object('os', 'os' || i % 5, 'n', i, 'f', i / 7.0, 'b', i % 2 = 0)"),
    "jsonb unlike": ("jsonb", "CASE i % 3 WHEN 0 THEN to_jsonb(i) WHEN 1 THEN jsonb_build_array(i, NULL) ELSE jsonb_build_object('k' || i % 100, i) END"),
    "text[] tags": ("text[]", "ARRAY['tag_' || i % 20, 'cat_' || i % 8]"),
    "only NULL": ("text", "NULL"),
    "only NULL numeric": ("numeric", "NULL"),
    "NULL but one": ("int4", "CASE WHEN i = 12345 THEN 7 END"),
    "NULL by vectors": ("int4", "CASE WHEN (i / 1024) % 2 = 0 THEN i END"),
    "constant": ("text", "'always the same'"),
}  # fmt: skip


@pytest.mark.parametrize("shape", COLUMNS)
def test_shape_of_values(t, shape):
    kind, expression = COLUMNS[shape]
    t.ok(f"CREATE TABLE t (id int, v {kind})")
    t.ok(
        f"INSERT INTO t SELECT i, {expression} FROM generate_series(1::int8, {BULK}) i"
    )
    assert t.row_groups() > 0
    t.check()
    t.same("SELECT count(v), min(id), max(id), sum(length(v::text)) FROM t")
    t.same("SELECT id, v::text FROM t WHERE id IN (1, 1024, 1025, 12345, 20000)")


def test_random_values_at_random_lengths(t, rng: random.Random):
    """Random bytes of random lengths around every size limit of varlenas."""
    t.ok("CREATE TABLE seed (v bytea) USING heap")
    t.ok("CREATE TABLE t (v bytea, s text)")
    lengths = [0, 1, 2, 125, 126, 127, 128, 2000, 2040, 8000, 8192, 70_000]
    values = [rng.randbytes(length) for length in lengths for _ in range(5)]
    values += [rng.randbytes(rng.randrange(300)) for _ in range(300)]
    for conn in t.conns.values():
        with conn.cursor() as cursor:
            cursor.executemany("INSERT INTO seed VALUES (%s)", [(v,) for v in values])
    t.ok(
        "INSERT INTO t SELECT v, encode(v, 'base64') FROM seed, generate_series(1, 40)"
    )
    assert t.row_groups() > 0
    t.check()


# ---- shapes of tables ----


def test_empty_table(t):
    t.ok("CREATE TABLE t (a int, b text)")
    t.check()
    t.ok("INSERT INTO t SELECT 1, 'x' WHERE false")
    t.check()
    t.same("SELECT max(a), count(b) FROM t WHERE a > 5")


def test_table_without_columns(t):
    t.ok("CREATE TABLE t ()")
    t.check()
    t.ok("INSERT INTO t DEFAULT VALUES")
    t.ok(f"INSERT INTO t SELECT FROM generate_series(1, {BULK})")
    t.check()
    t.ok("DELETE FROM t")
    t.check()


def test_all_columns_dropped(t):
    t.ok("CREATE TABLE t (a int, b text)")
    t.ok(f"INSERT INTO t SELECT i, i FROM generate_series(1, {BULK}) i")
    t.ok("ALTER TABLE t DROP a, DROP b")
    t.check()
    t.ok("ALTER TABLE t ADD c int DEFAULT 7")
    t.check()


def test_1600_columns(t):
    """The most columns that a table can have, half of them NULL in each row."""
    kinds = ["int4", "text", "float8", "bool", "date"]
    values = ["i", "'t' || i", "i / 2.0", "i % 2 = 0", "date '2024-01-01' + i"]
    columns = ", ".join(f"c{n} {kinds[n % 5]}" for n in range(1600))
    row = ", ".join(
        f"CASE WHEN (i + {n}) % 20 = 0 THEN {values[n % 5]} END" for n in range(1600)
    )
    t.ok(f"CREATE TABLE t ({columns})")
    t.ok(f"INSERT INTO t SELECT {row} FROM generate_series(1, 3) i")
    t.check()
    t.ok(f"INSERT INTO t SELECT {row} FROM generate_series(1, 12000) i")
    assert t.row_groups() > 0
    t.same("SELECT count(*), count(c0), sum(c5), count(c1599), max(c1596) FROM t")
    t.same("SELECT * FROM t WHERE c0 = 4000", plans=("any plan",))


def test_added_and_dropped_columns(t):
    """Columns that row groups and delta rows lack get their default."""
    t.ok("CREATE TABLE t (a int, b text, c float8)")
    insert = f"INSERT INTO t (a) SELECT i FROM generate_series(1, {BULK}) i"
    t.ok(insert)
    t.ok("INSERT INTO t VALUES (-1, 'delta', 1.5)")
    t.ok("ALTER TABLE t ADD d int DEFAULT 42")
    t.ok("ALTER TABLE t ADD e text DEFAULT 'e' || 1, ADD f numeric(9,2)")
    t.check()
    t.ok("INSERT INTO t (a, d) VALUES (-2, NULL)")
    t.ok("ALTER TABLE t DROP b")
    t.check()
    t.ok(insert)
    t.check()
    t.ok("ALTER TABLE t ADD b int[] DEFAULT '{1,2}', DROP a")
    t.ok("ALTER TABLE t ALTER d SET DEFAULT 5")
    t.ok("INSERT INTO t (c) VALUES (1)")
    t.check()
    t.same("SELECT d, e, b, count(*) FROM t WHERE d = 42 GROUP BY d, e, b")


def test_added_column_between_inserts_of_a_transaction(t):
    t.ok("CREATE TABLE t (a int)")
    t.ok("BEGIN")
    t.ok(f"INSERT INTO t SELECT generate_series(1, {BULK})")
    t.ok("ALTER TABLE t ADD b int DEFAULT 3")
    t.ok(f"INSERT INTO t SELECT i, i FROM generate_series(1, {BULK}) i")
    t.check()
    t.ok("COMMIT")
    t.check()


def test_volatile_default_rewrites(t):
    t.ok("CREATE TABLE t (a int)")
    t.ok(f"INSERT INTO t SELECT generate_series(1, {BULK})")
    t.ok("ALTER TABLE t ADD b int GENERATED BY DEFAULT AS IDENTITY")
    t.ok("ALTER TABLE t ADD c int GENERATED ALWAYS AS (a * 2) STORED")
    t.check()


def test_change_of_type(t):
    t.ok("CREATE TABLE t (a int, b varchar(10))")
    t.ok(f"INSERT INTO t SELECT i, i FROM generate_series(1, {BULK}) i")
    t.ok("ALTER TABLE t ALTER b TYPE text")
    t.ok("ALTER TABLE t ALTER a TYPE numeric USING a / 3.0")
    t.check()
    t.ok("INSERT INTO t VALUES (1.5, 'longer than ten characters')")
    t.check()


# ---- big values ----


@pytest.mark.slow
@pytest.mark.parametrize("way", ["row group", "delta"])
def test_value_of_300_mb(t, way):
    """Compared inside the server: by length, and by hash piece by piece."""
    t.ok("CREATE TABLE t (id int, v text)")
    if way == "row group":
        t.ok(
            "INSERT INTO t SELECT i, CASE i WHEN 5000 THEN repeat(md5('x'), 9830400)"
            f" ELSE 'small' END FROM generate_series(1, {BULK}) i"
        )
        assert t.row_groups() > 0
    else:
        t.ok("INSERT INTO t VALUES (5000, repeat(md5('x'), 9830400))")
    t.same("SELECT id, length(v) FROM t WHERE id = 5000", plans=("any plan",))
    t.same("SELECT md5(v) FROM t WHERE id = 5000", plans=("any plan",))
    t.same(
        "SELECT substr(v, 200000000, 100) FROM t WHERE id = 5000", plans=("any plan",)
    )


def test_many_big_values(t):
    """Values that no two of fit into a row group's memory, not compressible."""
    t.ok("CREATE TABLE t (id int, v bytea)")
    t.ok(
        "INSERT INTO t SELECT i, CASE WHEN i % 3000 = 0 THEN"
        " (SELECT decode(string_agg(md5((i::int8 * j)::text), ''), 'hex')"
        "  FROM generate_series(1, 400000) j)"
        f" END FROM generate_series(1, {BULK}) i"
    )
    assert t.row_groups() > 0
    t.same(
        "SELECT id, length(v), md5(v) FROM t WHERE v IS NOT NULL", plans=("any plan",)
    )
