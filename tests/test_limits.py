"""Bounds: memory under a limit, cancelling within a second, planning time.

SLOW=1 takes a million rows, values of nearly 1 GB and 10,000 row groups, else a
few percent of that.
"""

from __future__ import annotations

import contextlib
import os
import resource
import statistics
import threading

import psycopg
import pytest
from strata.timing import clock

SLOW = bool(os.environ.get("SLOW"))
ROWS = 1_000_000 if SLOW else 40_000
MB = 1024 * 1024

# What changes of ROWS rows may take beyond a scan: 100 bytes for each
# row would be 95 MB in the slow run.
LEFT = (64 if SLOW else 24) * MB


def fill(conn, am: str) -> None:
    conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, k int, v text) USING {am}")
    conn.execute(
        f"INSERT INTO t SELECT i, i % 1000, md5(i::text) FROM generate_series(1, {ROWS}) i"
    )


def status(conn, name: str) -> int:
    with open(f"/proc/{conn.info.backend_pid}/status") as file:
        return int(dict(line.split(":", 1) for line in file)[name].split()[0]) * 1024


@pytest.fixture
def limited(make_cluster, am):
    """Connects to a server whose processes may map only so much: limited(more)
    restarts it with that many bytes more than a backend at work maps already.
    Beyond that a statement fails with "out of memory"."""
    cluster = make_cluster("limited", fsync="off")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
    stack = contextlib.ExitStack()

    def connect(more: int, warm_up: str):
        with cluster.connect() as conn:
            conn.execute(warm_up)
            limit = status(conn, "VmSize") + more
        cluster.stop()
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
        try:
            cluster.start()  # its processes inherit the limit
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        conn = stack.enter_context(cluster.connect())
        stack.callback(lambda: print(f"VmPeak {status(conn, 'VmPeak') // MB} MB,",
            f"VmHWM {status(conn, 'VmHWM') // MB} MB, limit {limit // MB} MB"))  # fmt: skip
        return conn

    yield cluster, connect
    with contextlib.suppress(psycopg.Error):
        stack.close()


# ---- memory ----

CHANGES = [
    "DELETE FROM t WHERE id % 2 = 0",
    "DELETE FROM t WHERE id % 97 < 90",
    "SELECT count(*) FROM (SELECT FROM t FOR UPDATE OFFSET 0) x",
    "SELECT count(*) FROM (SELECT FROM t WHERE id > 0 ORDER BY id FOR KEY SHARE) x",
    "UPDATE t SET k = k + 1 WHERE id % 2 = 1",
]


def test_memory_of_changes_is_bounded(limited, am):
    cluster, connect = limited
    with cluster.connect() as conn:
        fill(conn, am)
    with connect(LEFT, "SELECT count(v) FROM t WHERE k = 1") as conn:
        conn.execute("SET work_mem = '4MB'")
        for change in CHANGES:
            conn.execute("BEGIN")
            conn.execute(change)
            conn.execute("ROLLBACK")
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("VACUUM t")
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (ROWS,)


def test_memory_of_1100_columns_is_bounded(limited, am):
    """All chunks of a row group are gathered at once: the group ends in time."""
    columns, rows = 1100, 20_000 if SLOW else 2_000
    _, connect = limited
    names = ", ".join(f"c{i} int" for i in range(columns))
    values = ", ".join(f"(i * {i + 1}) % 1000" for i in range(columns))
    with connect(400 * MB, f"CREATE TABLE wide (id int, {names}) USING {am}") as conn:
        conn.execute(
            f"INSERT INTO wide SELECT i, {values} FROM generate_series(1, {rows}) i"
        )
        conn.execute(f"CALL {am}.merge('wide')")
        got = conn.execute(
            "SELECT count(*), sum(c0), sum(c777), sum(c1099) FROM wide"
        ).fetchone()
    expected = [
        sum(i * (n + 1) % 1000 for i in range(1, rows + 1)) for n in (0, 777, 1099)
    ]
    assert got == (rows, *expected)


def test_memory_of_large_values_is_bounded(limited, am):
    """Values of which few fit into memory are loaded, read, moved, checked."""
    size = (999 if SLOW else 18) * MB
    _, connect = limited
    warm_up = f"CREATE TABLE big (id int, v text) USING {am}"
    with connect(6 * size + 64 * MB, warm_up) as conn:
        for i in range(1, 5):
            conn.execute(f"INSERT INTO big SELECT {i}, repeat('ab{i}', {size // 3})")
        conn.execute(f"CALL {am}.merge('big')")
        for i in range(1, 5):
            assert conn.execute(
                f"SELECT length(v), left(v, 3), right(v, 3) FROM big WHERE id = {i}"
            ).fetchone() == (size, f"ab{i}", f"ab{i}")
        assert conn.execute(f"SELECT * FROM {am}.verify('big')").fetchall() == []


# ---- cancelling ----

LOOPS = {
    "load": "INSERT INTO t SELECT -i, i % 1000, md5(i::text) FROM generate_series(1, 100000000) i",
    "scan": "SELECT count(*) FROM t a, t b WHERE a.v || b.v = 'x'",
    "sequential scan": "SELECT v FROM t WHERE md5(md5(md5(md5(v)))) = 'x'",
    "aggregate": "SELECT v, count(*), sum(k), max(id) FROM t GROUP BY v ORDER BY 2, 1 LIMIT 1",
    "distinct": "SELECT count(DISTINCT v), count(DISTINCT k) FROM t",
    "fetch by index": "SELECT sum(length(v)) FROM (SELECT v FROM t ORDER BY id OFFSET 0) x",
    "lock": "SELECT count(*) FROM (SELECT FROM t FOR UPDATE OFFSET 0) x",
    "delete": "DELETE FROM t WHERE k >= 0",
    "update": "UPDATE t SET v = md5(v)",
    "merge": "CALL {am}.merge('t')",
    "vacuum": "VACUUM t",
    "vacuum full": "VACUUM FULL t",
    "verify": "SELECT * FROM {am}.verify('t')",
    "analyze": "ANALYZE t",
    "index build": "CREATE INDEX ON t (v, k)",
    "concurrent index build": "CREATE INDEX CONCURRENTLY c ON t (v, k)",
}


# Seconds to the cancel, from early in a loop to late in it.
WAITS = (0.002, 0.01, 0.03, 0.1, 0.3, *((1, 3) if SLOW else ()))
# What would leave the others nothing to do, if it came to its end.
UNDONE = ("delete", "update")


def cancelled_after(conn, sql: str, wait: float) -> float | None:
    """Seconds from the cancel to its error; None if the statement was quicker."""
    sent = []

    def cancel() -> None:
        sent.append(clock(conn))
        conn.cancel()

    timer = threading.Timer(wait, cancel)
    timer.start()
    try:
        conn.execute(sql)
    except psycopg.errors.QueryCanceled:
        return clock(conn) - sent[0]
    finally:
        timer.cancel()
        timer.join()
    with contextlib.suppress(psycopg.Error):
        conn.execute("SELECT pg_sleep(0.02)")  # a cancel that came too late
    return None


def test_every_loop_is_cancelled_within_a_second(db, am):
    """Early in each, then later and later until it comes to its end."""
    latencies = {}
    with contextlib.closing(db.connect()) as conn:
        fill(conn, am)
        # work for merge, vacuum, verify
        conn.execute("DELETE FROM t WHERE id % 5 = 0")
        conn.execute("UPDATE t SET k = k + 1 WHERE id % 7 = 0")
        for name, pattern in LOOPS.items():
            sql = pattern.format(am=am)
            for wait in WAITS:
                undo = conn.transaction(force_rollback=True)
                with undo if name in UNDONE else contextlib.nullcontext():
                    after = cancelled_after(conn, sql, wait)
                with contextlib.suppress(psycopg.Error):
                    conn.execute("DROP INDEX IF EXISTS c")
                if after is None:
                    break
                latencies[name] = max(latencies.get(name, 0), after)
        found = conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall()
        assert found == []
    print({name: f"{seconds * 1000:.0f} ms" for name, seconds in latencies.items()})
    late = {name: s for name, s in latencies.items() if s > 1}
    assert not late
    assert len(latencies) >= len(LOOPS) - 6  # some may be quicker than 2 ms


# ---- planning ----

PLANNED = [
    "SELECT * FROM {t} WHERE id = 700",
    "SELECT sum(id) FROM {t} WHERE u = 5 AND id < 900",
    "SELECT u, count(*) FROM {t} GROUP BY u",
    "SELECT count(*) FROM {t} a JOIN {t} b ON a.id = b.u WHERE b.id < 50",
    "UPDATE {t} SET u = 1 WHERE id = 5",
]


def test_planning_time_does_not_grow_with_row_groups(db, am):
    """10 and 10,000 row groups (500 if not slow); rows of 70 kB fill them."""
    many = 10_000 if SLOW else 500
    with contextlib.closing(db.connect()) as conn:
        for name, groups in (("few", 10), ("many", many)):
            conn.execute(f"CREATE TABLE {name} (id int, u int, v text) USING {am}")
            conn.execute(f"SELECT {am}.set_options('{name}', row_group_bytes => 65536)")
            conn.execute(
                f"INSERT INTO {name} SELECT i, i % 100, repeat('x', 70000)"
                f" FROM generate_series(1, 1000 + {groups}) i"
            )
            conn.execute(f"CREATE UNIQUE INDEX ON {name} (id)")
            conn.execute(f"ANALYZE {name} (id, u)")
        counts = conn.execute(
            f"SELECT (SELECT count(*) FROM {am}.row_groups('few')),"
            f" (SELECT count(*) FROM {am}.row_groups('many'))"
        ).fetchone()
        assert counts[0] <= 20 and counts[1] >= 0.9 * many
        for query in PLANNED:
            times = {"few": [], "many": []}
            for _ in range(20):
                for name, taken in times.items():
                    plan = conn.execute(
                        f"EXPLAIN (SUMMARY, FORMAT JSON) {query.format(t=name)}"
                    ).fetchone()[0][0]
                    taken.append(plan["Planning Time"])
            least = {name: min(taken) for name, taken in times.items()}
            print(query, least, statistics.median(times["many"]))
            assert least["many"] < 2 * least["few"] + 0.1, query
