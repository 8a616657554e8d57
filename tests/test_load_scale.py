"""Loads with many subtransactions, many partitions, and many writers beside.

What a row or a subtransaction costs must not grow with how many there were, or
with how many tables the transaction has written to.  Processor time of the
backend is compared with that of a tenth of the work, with room: where something
is searched from end to end, the factor is 100, not 10.
"""

from __future__ import annotations

import re

import pytest
from strata import replica
from strata.threads import repeated
from strata.timing import processor
from strata.twin import Twin

TENTH, ALL = 1_000, 10_000
FACTOR = 30

# Ticks of a clock of 10 ms: what takes less than a few is taken for these.
SHORTEST = 0.05


@pytest.fixture
def t(twin: Twin) -> Twin:
    twin.run("CREATE TABLE t (id int, k int, v text)")
    return twin


def cost(conn, sql: str) -> float:
    before = processor(conn)
    conn.execute(sql)
    return max(processor(conn) - before, SHORTEST)


def blocks(body: str, first: int, last: int) -> str:
    """A subtransaction for each number i; every tenth is rolled back."""
    return (
        f"DO $$ BEGIN FOR i IN {first}..{last} LOOP BEGIN {body};"
        " IF i % 10 = 0 THEN RAISE EXCEPTION 'rolled back'; END IF;"
        " EXCEPTION WHEN raise_exception THEN NULL; END; END LOOP; END $$"
    )


IDLE = blocks("PERFORM 1", 1, 30_000)


def test_subtransactions(t):
    """Of a transaction that has row groups locked, and writes to two tables."""
    t.run("CREATE TABLE other (id int, v text)")
    t.ours.execute(f"SELECT {t.am}.set_options('t', row_group_rows => 1024)")
    t.run("INSERT INTO t SELECT i, i % 7, 'v' || i FROM generate_series(1, 200000) i")
    idle = cost(t.ours, IDLE)
    body = "INSERT INTO t VALUES (-i, i, 'new'); INSERT INTO other VALUES (i, 'v')"
    t.ok("BEGIN")
    t.ok("DELETE FROM t WHERE id % 900 = 1")
    tenth = cost(t.ours, blocks(body, 1, TENTH))
    whole = cost(t.ours, blocks(body, TENTH + 1, TENTH + ALL))
    for first, last in ((1, TENTH), (TENTH + 1, TENTH + ALL)):
        t.heap.execute(blocks(body, first, last))
    after = cost(t.ours, IDLE)
    t.ok(blocks("DELETE FROM t WHERE id = 1000 + i", 1, 20))
    t.check()
    t.ok("COMMIT")
    t.check()
    t.check("other")
    assert whole <= FACTOR * tenth, (tenth, whole)
    assert after <= 3 * idle, (idle, after)


def make_partitions(t: Twin, table: str, number: int) -> None:
    t.run(f"CREATE TABLE {table} (id int, k int, v text) PARTITION BY LIST (k)")
    t.run(
        f"DO $$ BEGIN FOR i IN 0..{number - 1} LOOP EXECUTE format('CREATE TABLE"
        f" {table}_%s PARTITION OF {table} FOR VALUES IN (%s)', i, i); END LOOP; END $$"
    )


@pytest.mark.slow
def test_partitions(twin):
    """Rows go to another partition each, and end up in row groups of each."""
    load = "INSERT INTO {0} SELECT i, i % {1}, 'v' || i FROM generate_series(1, 1100 * {1}) i"
    costs = []
    idle = cost(twin.ours, IDLE)
    for table, number in (("few", 100), ("many", 1000)):
        make_partitions(twin, table, number)
        twin.ok("BEGIN")
        costs.append(cost(twin.ours, load.format(table, number)))
        twin.heap.execute(load.format(table, number))
        after = cost(twin.ours, IDLE)
        twin.ok("COMMIT")
        twin.ok(f"SELECT k, count(*), sum(id), min(v), max(v) FROM {table} GROUP BY k")
    groups = twin.ours.execute(
        f"SELECT count(*) FROM generate_series(0, 999) i, {twin.am}.row_groups(('many_' || i)::regclass)"
    ).fetchone()[0]
    assert groups >= 1000
    assert costs[1] <= FACTOR * costs[0], costs
    assert after <= 3 * idle, (idle, after)


def test_others_extend_the_file_beside_a_row_group(make_cluster, am):
    """Pages of a row group are logged after the file's lock was given back: others
    log pages behind it meanwhile."""
    cluster = make_cluster("beside", max_wal_size="2GB")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        conn.execute("ALTER TABLE t ALTER v SET STORAGE plain")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        (path,) = conn.execute("SELECT pg_relation_filepath('t')").fetchone()
        relation = "1663/" + path.removeprefix("base/")

        def write(session) -> None:
            session.execute("INSERT INTO t VALUES (-1, repeat('w', 5000))")

        for _ in range(20):
            start = replica.lsn(cluster)
            with repeated(cluster, [write, write]):
                conn.execute(
                    "INSERT INTO t SELECT i, string_agg(md5((i * j)::text), '')"
                    " FROM generate_series(1, 4000) i, generate_series(1, 100) j GROUP BY i"
                )
            if pages_behind(cluster, relation, start):
                break
        else:
            pytest.fail("no page was made behind a row group that was being written")
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
        rows = conn.execute("SELECT count(*), sum(id) FROM t WHERE id > 0").fetchone()
        assert rows[0] % 4000 == 0 and rows[1] == rows[0] // 4000 * 4000 * 4001 // 2


def pages_behind(cluster, relation: str, start: str) -> bool:
    """Was a row's page logged before a row group's that is before it in the file?"""
    out = cluster.server.run(
        "pg_waldump", "-p", cluster.data / "pg_wal", "-s", start,
        "-e", replica.lsn(cluster), "-R", relation,
    ).stdout  # fmt: skip
    highest = -1
    for line in out.splitlines():
        block = re.search(r"blk (\d+)", line)
        if block is None or "fork" in line:
            continue
        if "INSERT+INIT" in line:
            highest = max(highest, int(block[1]))
        elif "desc: FPI" in line and int(block[1]) < highest:
            return True
    return False
