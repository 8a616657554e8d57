"""Loads with many subtransactions, many partitions, and many writers beside.

What a row or a subtransaction costs must not grow with how many there were, or
with how many tables the transaction has written to.  Processor time of the
backend is compared with that of a tenth of the work, with room: where something
is searched from end to end, the factor is 100, not 10.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
from pathlib import Path

import psycopg
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


WIDE = (
    "CREATE TABLE src AS SELECT i AS id, string_agg(md5((i * j)::text), '') AS v"
    " FROM generate_series(1, 12000) i, generate_series(1, 100) j GROUP BY i"
)
LOAD = "INSERT INTO t SELECT id, v FROM src"
JUMP = 1_000  # pages that a row group gets at once, and a row never


class Loads:
    """A table, and loads of one row group each that are stopped while they write it."""

    def __init__(self, cluster, am: str, path: Path | None = None) -> None:
        """Makes the table, unless it is told where its file is."""
        self.cluster = cluster
        self.am = am
        self.conn = cluster.connect()
        if path is not None:
            self.path = path
            return
        self.conn.execute(f"CREATE EXTENSION {am}")
        self.conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        self.conn.execute("ALTER TABLE t ALTER v SET STORAGE plain")
        self.conn.execute(WIDE)
        (path,) = self.conn.execute("SELECT pg_relation_filepath('t')").fetchone()
        self.path = Path(path)

    def pages(self) -> int:
        return os.stat(self.cluster.data / self.path).st_size // 8192

    def count(self, where: str) -> int:
        return self.conn.execute(f"SELECT count(*) FROM t WHERE {where}").fetchone()[0]

    def wrong(self) -> int:
        """Rows that are not as they were written, and what verify() finds."""
        (found,) = self.conn.execute(
            f"SELECT count(*) FROM {self.am}.verify('t')"
        ).fetchone()
        return found + self.count(
            "id > 0 AND NOT EXISTS (SELECT FROM src s WHERE s.id = t.id AND s.v = t.v)"
            " OR id < 0 AND v <> repeat('w', 5000)"
        )

    def load(self, meanwhile=None) -> range | None:
        """Loads; stands still as soon as the file has grown for the row group, until
        meanwhile(pid) has run, but for five seconds at most, as it may need what the
        load has locked.  A cancel may end it.  Returns the blocks that the file has
        grown by, None if the load was too fast."""
        with self.cluster.connect() as loader:
            pid = loader.info.backend_pid

            def run() -> None:
                with contextlib.suppress(psycopg.errors.QueryCanceled):
                    loader.execute(LOAD)

            grown = None
            last = size = self.pages()
            thread = threading.Thread(target=run)
            thread.start()
            while size - last < JUMP and thread.is_alive():
                last, size = size, self.pages()
            if thread.is_alive():
                os.kill(pid, signal.SIGSTOP)
                grown = range(last, size)
                other = threading.Thread(target=meanwhile, args=(pid,))
                other.start()
                other.join(5)
                os.kill(pid, signal.SIGCONT)
                other.join()
            thread.join()
        return grown


@pytest.fixture
def loads(make_cluster, am) -> Loads:
    return Loads(make_cluster("loads", max_wal_size="2GB"), am)


@pytest.mark.slow
def test_rows_of_others_get_pages_of_a_row_group(loads):
    """VACUUM takes pages that a load has made, and not written yet, for free ones, and
    rows go there: the load leaves them and begins anew behind."""

    def take(_pid: int) -> None:
        with loads.cluster.connect() as conn:
            conn.execute("VACUUM t")
            for _ in range(50):
                conn.execute("INSERT INTO t VALUES (-1, repeat('w', 5000))")

    for done in range(1, 21):
        grown = loads.load(take)
        assert loads.count("id > 0") == 12_000 * done
        assert loads.count("id < 0") % 50 == 0
        if grown is not None and loads.count(
            "id < 0 AND split_part(trim('(' FROM ctid::text), ',', 1)::bigint"
            f" BETWEEN {grown[0]} AND {grown[-1]}"
        ):
            break
    else:
        pytest.fail("no row has got a page of a row group that was being written")
    assert loads.wrong() == 0


@pytest.mark.slow
def test_pages_of_a_cancelled_load_are_used(loads, make_cluster):
    """Those that it had written, and those that it had not come to: by the next load,
    also of a standby that was promoted."""
    standby = replica.make_standby(loads.cluster, make_cluster("standby", data=False))

    def cancel(pid: int) -> None:
        with loads.cluster.connect() as conn:
            conn.execute("SELECT pg_cancel_backend(%s)", (pid,))

    for done in range(20):
        grown = loads.load(cancel)
        if loads.count("true") == 12_000 * done:
            break
    else:
        pytest.fail("no load was cancelled while it wrote its row group")
    loads.conn.execute(LOAD)
    loads.conn.execute("VACUUM t")
    replica.catch_up(loads.cluster, standby)
    with standby.connect() as conn:
        conn.execute("SELECT pg_promote()")
    for one in (loads, Loads(standby, loads.am, loads.path)):
        before = one.pages()
        one.conn.execute(LOAD)
        assert one.pages() - before < len(grown) / 10
        assert one.count("true") == 12_000 * (done + 2)
        assert one.wrong() == 0
