"""estimate(): what it says of a table is what the table takes then."""

from __future__ import annotations

import contextlib

import psycopg
import pytest
from strata import replica
from strata.timing import ends_soon, reset_timeout

from bench import events

BAR = 0.10

# Row groups of this many rows: tables of some MB have more of them than a
# sample takes.
GROUP = 8192
ROWS = 16 * GROUP

WORDS = "(ARRAY['quick','lazy','deposits','requests','final','ironic','bold','even'])"


def word(salt: int) -> str:
    return f"{WORDS}[1 + (hashint4(g + {salt}) & 7)]"


# SQL of a row set of ROWS rows each.
SHAPES = {
    "events": events.row_select("1", str(ROWS)),
    "lineitem": f"""SELECT g / 4 AS orderkey, hashint4(g) & 65535 AS partkey, g % 4 AS line,
        (1 + (hashint4(g + 1) & 63))::numeric(15,2) AS quantity,
        round(((hashint4(g + 2) & 8388607) / 100.0)::numeric, 2) AS price,
        ((hashint4(g + 3) & 7) / 100.0)::numeric(15,2) AS discount,
        (ARRAY['A','N','R'])[1 + abs(hashint4(g + 4) % 3)] AS flag,
        date '1992-01-01' + (hashint4(g / 4) & 2047) AS shipdate,
        {" || ' ' || ".join(word(salt) for salt in range(10, 16))} AS comment
        FROM generate_series(1, {ROWS}) g""",
    "documents": f"""SELECT jsonb_build_object('did', 'did:plc:' || substr(md5((g * 7919 % 6000)::text), 1, 24),
        'time_us', 1732206349000000 + g * 137, 'kind', (ARRAY['commit','identity','account'])[1 + abs(hashint4(g) % 3)],
        'commit', jsonb_build_object('rev', '3lbh' || substr(md5('r' || g), 1, 9), 'cid', 'bafyrei' || md5('c' || g),
            'text', {word(1)} || ' ' || {word(2)} || CASE WHEN g % 5 = 0 THEN md5('t' || g) ELSE '' END)) AS doc
        FROM generate_series(1, {ROWS}) g""",
    # rows that grow along the table
    "growing": f"""SELECT g AS id, repeat({word(1)}, g / {GROUP}) || md5(g::text) AS t,
        CASE WHEN g > {ROWS // 2} THEN md5('x' || g) END AS later FROM generate_series(1, {ROWS}) g""",
    # values that heap keeps in TOAST
    "toasted": f"""SELECT g AS id, (SELECT string_agg(md5((g * 100 + i)::text) || {word(1)}, ' ')
        FROM generate_series(1, 80) i) AS t FROM generate_series(1, {ROWS // 16}) g""",
    "sparse": f"""SELECT CASE WHEN g % 97 = 0 THEN g END AS a, CASE WHEN g % 13 = 0 THEN md5(g::text) END AS b,
        NULL::int AS c, random() AS d, g % 3 = 0 AS e FROM generate_series(1, {ROWS}) g""",
}  # fmt: skip


def estimated(
    conn: psycopg.Connection, am: str, table: str, seconds: float = 0
) -> dict:
    """{what: {name: bytes}}, and the detail of "table" under "detail"."""
    result: dict = {}
    for what, name, _, size, detail in conn.execute(
        f"SELECT * FROM {am}.estimate(%s::regclass, seconds => %s)", [table, seconds]
    ).fetchall():
        result.setdefault(what, {})[name] = size
        if what == "table":
            result["detail"] = detail
    return result


def size(conn: psycopg.Connection, table: str) -> int:
    return conn.execute("SELECT pg_table_size(%s::regclass)", [table]).fetchone()[0]


def close(estimate: int, real: int, bar: float = BAR) -> bool:
    print(f"estimated {estimate:,}, really {real:,}: {estimate / real - 1:+.1%}")
    return abs(estimate - real) <= bar * real


def partition(conn, am: str, rows: str) -> None:
    """A heap table t whose row groups would have GROUP rows: options of a
    partitioned table reach partitions of any access method."""
    conn.execute("SET default_table_access_method = heap")
    conn.execute(f"CREATE TABLE first AS {rows}")
    conn.execute("CREATE TABLE t (LIKE first)")
    key = conn.execute("SELECT * FROM first LIMIT 0").description[0].name
    conn.execute(f"CREATE TABLE whole (LIKE first) PARTITION BY LIST ({key})")
    conn.execute(
        f"SELECT {am}.set_options('whole', row_group_rows => {GROUP}, auto_compact => false)"
    )
    conn.execute("ALTER TABLE whole ATTACH PARTITION t DEFAULT")
    conn.execute("INSERT INTO t SELECT * FROM first")
    conn.execute("DROP TABLE first")
    conn.execute("VACUUM ANALYZE t")


@pytest.mark.parametrize("shape", SHAPES)
def test_size(conn, am, shape):
    """A sample, then the table itself: adopted and compressed."""
    partition(conn, am, SHAPES[shape])
    before = size(conn, "t")
    guess = estimated(conn, am, "t")
    assert shape == "toasted" or guess["detail"].startswith("sample of ")
    assert size(conn, "t") == before
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(f"CALL {am}.merge('t')")
    groups, rows = conn.execute(
        f"SELECT row_groups, row_group_rows FROM {am}.table_info('t')"
    ).fetchone()
    assert rows == conn.execute("SELECT count(*) FROM t").fetchone()[0]
    assert groups > 10 or shape == "toasted"
    assert close(guess["table"][None], size(conn, "t"))


def test_size_of_a_small_table(conn, am):
    conn.execute("SET default_table_access_method = heap")
    conn.execute(
        "CREATE TABLE t AS SELECT g, 'nation ' || g FROM generate_series(1, 25) g"
    )
    guess = estimated(conn, am, "t")["table"][None]
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(f"CALL {am}.merge('t')")
    conn.execute("VACUUM t")
    assert close(guess, size(conn, "t"))


def test_size_of_columns(conn, am):
    """Every column's bytes, as the views of the format show them."""
    partition(conn, am, SHAPES["events"])
    guess = estimated(conn, am, "t")["column"]
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(f"CALL {am}.merge('t')")
    number = "encoded_bytes" if am == "colcompress" else "stored_bytes"
    real = dict(
        conn.execute(
            f"SELECT column_name, sum({number})::bigint FROM {am}.column_chunks('t') GROUP BY 1"
        ).fetchall()
    )
    assert guess.keys() == real.keys()
    for name, size_ in real.items():
        if size_ > sum(real.values()) / 20:  # less is no matter
            assert close(guess[name], size_), name


@pytest.mark.slow
def test_whole_table_of_any_method(conn, am):
    """A table that is small enough is encoded as a whole, whatever stores it,
    and so are its orders."""
    methods = ["heap", "colcompress", "rowcompress"]
    guesses = {}
    for method in methods:
        conn.execute(
            f"""CREATE TABLE {method} USING {method} AS
            SELECT hashint4(g) & 8191 AS device, md5((hashint4(g) & 8191)::text) AS model,
                md5((hashint4(g) & 8191) || 'f') AS firmware, g AS seq, repeat('long ', CASE WHEN g % 1000 = 0 THEN 3000 ELSE 0 END) || g AS t
            FROM generate_series(1, 150000) g"""
        )
        guesses[method] = estimated(conn, am, method, 600)
        assert guesses[method]["detail"] == "all 150000 rows"
    for method in methods[1:]:
        for what in ("column", "orderby", "compression"):
            assert guesses[method][what] == guesses["heap"][what], (method, what)
    for order, guess in guesses["heap"]["orderby"].items():
        conn.execute(f"CREATE TABLE sorted (LIKE heap) USING {am}")
        conn.execute(f"INSERT INTO sorted SELECT * FROM heap ORDER BY {order}")
        assert close(guess, size(conn, "sorted")), order
        conn.execute("DROP TABLE sorted")
    assert (
        guesses["heap"]["orderby"]["device"] < 0.9 * guesses["heap"]["table"][None]
    ), "the order that helps is not seen"


def test_sample_of_ours(conn, am):
    """Blocks of a table of ours are the file's, then those of row numbers."""
    conn.execute(f"CREATE TABLE t USING {am} AS {SHAPES['lineitem']}")
    conn.execute(f"SELECT {am}.set_options('t', row_group_rows => {GROUP})")
    conn.execute(f"CREATE TABLE again (LIKE t) USING {am}")
    conn.execute(f"SELECT {am}.set_options('again', row_group_rows => {GROUP})")
    conn.execute("INSERT INTO again SELECT * FROM t")
    conn.execute("ANALYZE t")
    guess = estimated(conn, am, "t")
    assert guess["detail"].startswith("sample of ")
    assert close(guess["table"][None], size(conn, "again"))


def test_empty_pages(conn, am):
    """A part without rows, where no run of the sample is."""
    partition(conn, am, SHAPES["lineitem"])
    conn.execute(f"DELETE FROM t WHERE orderkey BETWEEN {ROWS // 16} AND {ROWS // 8}")
    guess = estimated(conn, am, "t")
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(f"CALL {am}.merge('t')")
    assert close(guess["table"][None], size(conn, "t"))


def test_cancel(conn, am):
    """It stops within a second, whatever it is doing."""
    conn.execute(f"CREATE TABLE t USING heap AS {events.row_select('1', '150000')}")
    for delay in (0.1, 0.4, 0.8, 1.6):
        conn.execute(f"SET statement_timeout = '{delay} s'")
        with (
            ends_soon(conn, delay + 1),
            contextlib.suppress(psycopg.errors.QueryCanceled),
        ):
            conn.execute(f"SELECT * FROM {am}.estimate('t', seconds => 600)")
        reset_timeout(conn)
    assert conn.execute("SELECT count(*) FROM t").fetchone()[0] == 150000


@pytest.mark.slow
def test_standby(make_cluster, am):
    """A standby says what the primary says, and nothing is written by either."""
    primary = make_cluster("primary")
    with primary.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t USING heap AS {events.row_select('1', '20000')}")
        conn.execute("CREATE INDEX ON t USING brin (id)")
        conn.execute("VACUUM ANALYZE t")
        conn.execute("CHECKPOINT")
    standby = make_cluster("standby", data=False)
    replica.make_standby(primary, standby)
    replica.catch_up(primary, standby)
    query = f"SELECT * FROM {am}.estimate('t', seconds => 600)"
    schema = f"SELECT * FROM {am}.estimate_schema('public', 1000, 600)"
    with primary.connect() as here, standby.connect() as there:
        for sql in (query, schema):
            rows = there.execute(sql).fetchall()
            assert rows == here.execute(sql).fetchall()
            assert "prepare" in {cell for row in rows for cell in row}
        assert here.execute("SELECT pg_current_xact_id_if_assigned()").fetchone() == (
            None,
        )
