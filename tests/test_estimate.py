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


# Indexes of a table of many kinds of columns: rows that share a key or do not, types
# whose equal values may differ, NULLs, what is included, a part, an expression.
BTREES = {
    "unique": "(id)", "random": "(i)", "few": "(grp)", "dates": "(d)", "words": "(t)", "wide": "(long)",
    "numeric": "(num)", "nulls": "(nul)", "nullwords": "(nulword)", "two": "(grp, id)", "sparse": "(d, grp)", "pair": "((id > 0), (i > 0))",
    "expression": "(lower(t))", "part": "(id) WHERE grp < 100", "given": "(nul) WHERE nul IS NOT NULL", "include": "(grp) INCLUDE (i)",
    "half": "(i) WITH (fillfactor = 50)", "alone": "(grp) WITH (deduplicate_items = off)",
}  # fmt: skip


def test_size_of_btrees(conn, am):
    """What they are when they are built, though they have grown since."""
    conn.execute(
        "CREATE TABLE t USING heap AS SELECT g AS id, hashint4(g) AS i, hashint4(g) & 1023 AS grp,"
        " date '2020-01-01' + g / 1000 AS d, 'word ' || (hashint4(g) & 4095) AS t, md5(g::text) || md5(g::text) AS long,"
        " (g % 5000) / 100.0 AS num, CASE WHEN g % 3 = 0 THEN g END AS nul,"
        " CASE WHEN g % 5 > 0 THEN 'w' || g % 50 END AS nulword FROM generate_series(1, 80000) g"
    )
    for name, what in BTREES.items():
        conn.execute(f"CREATE INDEX t_{name} ON t {what}")
    conn.execute("CREATE INDEX t_hash ON t USING hash (id)")
    assert set(estimated(conn, am, "t")["index"].values()) == {None}
    conn.execute("UPDATE t SET num = num + 1")
    conn.execute("VACUUM ANALYZE t")
    guess = estimated(conn, am, "t")["index"]
    grown = {
        name: conn.execute(f"SELECT pg_relation_size('t_{name}')").fetchone()[0]
        for name in BTREES
    }
    conn.execute("REINDEX TABLE t")
    assert guess["public.t_hash"] is None
    for name in BTREES:
        real = conn.execute(f"SELECT pg_relation_size('t_{name}')").fetchone()[0]
        assert close(guess[f"public.t_{name}"], real), name
        # a half-empty page has room for every key's next entry
        assert grown[name] > 1.2 * real or name == "half"


ORDERED = (
    "CREATE TABLE t USING heap AS SELECT g AS id, date '2020-01-01' + g / 5000 AS d,"
    " hashint4(g) AS i, md5(g::text) AS t FROM generate_series(1, 300000) g"
)


def zonemaps(conn: psycopg.Connection) -> dict:
    return {
        (what, name): (size, detail)
        for what, name, _, size, detail in conn.execute(
            "SELECT * FROM sorted_heap.estimate('t')"
        ).fetchall()
    }


def test_size_of_zonemaps(conn):
    """Of each btree what a zonemap takes, and an advice that can be followed."""
    conn.execute("CREATE EXTENSION sorted_heap")
    conn.execute(ORDERED)
    assert zonemaps(conn)["advice", "leave"] == (
        None,
        "rows are in the order of no index",
    )
    conn.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
    conn.execute("CREATE INDEX t_d ON t (d)")
    conn.execute("CREATE INDEX t_i ON t (i)")
    conn.execute("CREATE INDEX t_lower ON t (lower(t))")
    assert zonemaps(conn)["index", "public.t_d"] == (None, "ANALYZE the table first")
    conn.execute("VACUUM ANALYZE t")
    said = zonemaps(conn)
    assert said["index", "public.t_lower"][0] is None
    assert said["index", "public.t_pkey"][1] == (
        "rows are in its order; rows are unique by it: a zonemap stands beside it"
    )
    assert said["index", "public.t_i"][1] == "as a zonemap once rows are in its order"
    for column, index in (("id", "public.t_pkey"), ("d", "public.t_d")):
        conn.execute(f"CREATE INDEX zone ON t USING zonemap ({column})")
        assert close(said["index", index][0], size(conn, "zone"), 0.15)
        conn.execute("DROP INDEX zone")
    advice = said["advice", "adopt"][1]
    assert advice == (
        "SELECT sorted_heap.adopt('public.t'); CREATE INDEX ON public.t USING zonemap (d); DROP INDEX public.t_d;"
    )
    before = conn.execute("SELECT sum(id) FROM t WHERE d = '2020-01-09'").fetchone()
    conn.execute(advice)
    assert (
        conn.execute("SELECT sum(id) FROM t WHERE d = '2020-01-09'").fetchone()
        == before
    )
    # an index of another order is no reason to give up that of the rows
    said = zonemaps(conn)
    assert ("index", "public.t_d") not in said
    assert said["advice", "index"][1] == "CREATE INDEX ON public.t USING zonemap (id);"
    conn.execute("ALTER TABLE t DROP CONSTRAINT t_pkey")
    assert ("advice", "leave") in zonemaps(conn)


@pytest.mark.parametrize(
    ("relation", "error"),
    [("v", "42809"), ("ours", "42809"), ("secret", "42501"), (None, None)],
)
def test_zonemaps_refused(conn, relation, error):
    conn.execute("CREATE EXTENSION sorted_heap")
    conn.execute("CREATE VIEW v AS SELECT 1")
    conn.execute("CREATE TABLE ours (i int) USING colcompress")
    conn.execute("CREATE TABLE secret (i int)")
    conn.execute("CREATE ROLE estimate_nobody")
    try:
        conn.execute("SET ROLE estimate_nobody")
        query = ("SELECT count(*) FROM sorted_heap.estimate(%s::regclass)", [relation])
        if error is None:
            assert conn.execute(*query).fetchone() == (0,)
        else:
            with pytest.raises(psycopg.Error) as raised:
                conn.execute(*query)
            assert raised.value.sqlstate == error
    finally:
        conn.execute("RESET ROLE")
        conn.execute("DROP ROLE estimate_nobody")


def test_size_of_wide_keys(conn, am):
    """Statistics of values that are compressed in the index, or as they come: of more
    than a third of a page, a whole one, the part of it that a build fills."""
    conn.execute(
        "CREATE TABLE t USING heap AS SELECT repeat(md5(i::text), 120) AS third, repeat(md5(i::text), 300) AS page,"
        " (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 50) j) AS filled"
        " FROM generate_series(1, 2000) i"
    )
    conn.execute("ALTER TABLE t ALTER filled SET STORAGE PLAIN")
    conn.execute("CREATE INDEX t_third ON t (upper(third))")
    conn.execute("CREATE INDEX t_page ON t (upper(page))")
    conn.execute("CREATE INDEX t_ten ON t (filled) WITH (fillfactor = 10)")
    conn.execute("ANALYZE t")
    conn.execute("SET statement_timeout = '60s'")
    found = estimated(conn, am, "t")["index"]
    assert len(found) == 3
    for name, guess in found.items():
        assert 100 * 8192 < guess < 4000 * 8192, name


@pytest.mark.parametrize("kind", ["jsonb", "json", "text"])
def test_size_of_zson(conn, kind):
    """Documents with a dictionary, which is not kept; then as the advice says."""
    conn.execute("CREATE EXTENSION zson_dict")
    conn.execute(SHAPES["documents"].join(("CREATE TABLE t USING heap AS ", "")))
    conn.execute(f"ALTER TABLE t ALTER doc TYPE {kind} USING doc::{kind}")
    conn.execute("UPDATE t SET doc = NULL WHERE ctid < '(100,0)'")
    assert conn.execute(
        "SELECT documents FROM zson_estimate('t', 'doc')"
    ).fetchone() == (conn.execute("SELECT count(doc) FROM t").fetchone())
    conn.execute("VACUUM ANALYZE t")
    documents, now, guess, advice = conn.execute(
        "SELECT * FROM zson_estimate('t', 'doc')"
    ).fetchone()
    assert conn.execute("SELECT count(*) FROM zson_info()").fetchone() == (0,)
    exact = conn.execute(
        "SELECT count(doc), sum(pg_column_size(doc)) FROM t"
    ).fetchone()
    assert close(documents, exact[0], 0.05) and close(now, exact[1], 0.05)
    for statement in advice.split("; "):
        conn.execute(statement)
    real = conn.execute("SELECT sum(pg_column_size(doc)) FROM t").fetchone()[0]
    assert close(guess, real) and real < 0.75 * now
    again = conn.execute("SELECT * FROM zson_estimate('t', 'doc')").fetchone()
    assert again[3].startswith("leave: ")
    with pytest.raises(psycopg.errors.UndefinedColumn):
        conn.execute("SELECT * FROM zson_estimate('t', 'nothing')")


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
