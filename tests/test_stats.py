"""The view stats: what was done with each table, counted where it happens."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from pathlib import Path

import psycopg
import pytest
from strata import replica
from strata.wait import wait_until

GROUP = 10_000
ROWS = 3 * GROUP

COUNTERS = (
    "row_groups_read",
    "row_groups_pruned",
    "vectors_read",
    "vectors_pruned",
    "delta_rows_read",
    "cache_hits",
    "cache_misses",
    "compactions",
    "compacted_rows",
    "bytes_saved",
)


def stats(conn, am: str, table: str = "t") -> dict[str, int]:
    """Counters that are not 0."""
    row = conn.execute(
        f"SELECT {', '.join(COUNTERS)} FROM {am}.stats WHERE relation = %s::regclass",
        [table],
    ).fetchone()
    return (
        {} if row is None else {k: n for k, n in zip(COUNTERS, row, strict=True) if n}
    )


@pytest.fixture
def t(conn, am):
    """Three row groups, and counters at 0."""
    conn.execute(
        f"CREATE TABLE t (id int, v text) USING {am};"
        f"SELECT {am}.set_options('t', row_group_rows => {GROUP}, auto_compact => false)"
    )
    conn.execute(
        f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i"
    )
    conn.execute(f"CALL {am}.merge('t')")
    conn.execute(f"SELECT {am}.reset_stats()")
    assert stats(conn, am) == {}
    return conn


def test_scans(t, am, db):
    assert t.execute("SELECT count(v) FROM t WHERE id <= 5000").fetchone() == (5000,)
    found = stats(t, am)
    (groups,) = t.execute(f"SELECT row_groups FROM {am}.table_info('t')").fetchone()
    assert found["row_groups_read"] + found["row_groups_pruned"] == groups
    assert found["vectors_read"] >= 5
    assert found["vectors_pruned"] >= 4
    assert set(found) == {"row_groups_read", "row_groups_pruned", "vectors_read", "vectors_pruned"}  # fmt: skip
    # again, and by somebody else
    with db.connect() as other:
        other.execute("SELECT count(v) FROM t WHERE id <= 5000")
        # what it has not told yet it tells when it exits
        other.execute("SELECT count(v) FROM t WHERE id <= 5000")
    wait_until(
        lambda: stats(t, am) == {k: 3 * n for k, n in found.items()}, "its counts"
    )


def test_an_update_reads_no_row_group_twice(t, am):
    """Its scan has the old rows at hand; an index scan's reader is open."""
    t.execute("UPDATE t SET v = v || id WHERE id % 10 = 0")
    found = stats(t, am)
    assert found["row_groups_read"] >= 3
    assert "cache_misses" not in found
    assert "cache_hits" not in found

    t.execute("CREATE INDEX ON t (id)")
    t.execute("VACUUM ANALYZE t")
    t.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    t.execute(f"SELECT {am}.reset_stats()")
    done = t.execute("UPDATE t SET v = 'i' WHERE id BETWEEN 101 AND 108")
    assert done.rowcount == 8
    found = stats(t, am)
    # once by the scan, and for the row before which nothing was locked
    assert found["cache_hits"] + found.get("cache_misses", 0) <= 3


def test_a_session_tells_once_a_second(t, am, db):
    with db.connect() as other:
        began = time.monotonic()
        other.execute("SELECT count(v) FROM t WHERE id <= 5000")
        first = stats(t, am)
        assert first["row_groups_read"] > 0
        # a statement each until it tells of all before
        n, found = 1, first
        while found == first and n < 2000:
            other.execute(
                "SELECT count(v) FROM t WHERE id <= 5000; SELECT pg_sleep(0.01)"
            )
            n += 1
            found = stats(t, am)
        assert found == {k: n * c for k, c in first.items()}
        assert time.monotonic() - began > 1


def test_a_fresh_session_looks_first(t, am, db):
    """It has not counted anything, nor opened a table of ours."""
    t.execute("SELECT count(v) FROM t WHERE id <= 5000")
    found = stats(t, am)
    with db.connect() as other:
        assert stats(other, am) == found
    with db.connect() as other:
        assert entries(other, am) == entries(t, am)
    with db.connect() as other:
        other.execute(f"SELECT {am}.reset_stats()")
    assert stats(t, am) == {}


def test_a_cancelled_scan_counts(t, am, db):
    t.execute("SET statement_timeout = '2s'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        t.execute(
            "SELECT count(v) FROM t WHERE id <= 25000 AND pg_sleep(id / 22000 * 60) IS NOT NULL"
        )
    t.execute("RESET statement_timeout")
    assert stats(t, am)["row_groups_read"] > 0


def test_two_libraries_in_one_session(conn, server):
    ams = ("colcompress", "rowcompress")
    if not all(map(server.has_extension, ams)):
        pytest.skip("one of them is not installed")
    for n, am in enumerate(ams, 1):
        conn.execute(f"CREATE TABLE of_{am} (id int) USING {am}")
        conn.execute(f"INSERT INTO of_{am} SELECT generate_series(1, {n})")
    for am in ams:
        conn.execute(f"SELECT count(*) FROM of_{am} WHERE id > 0")
    for n, am in enumerate(ams, 1):
        assert stats(conn, am, f"of_{am}") == {"delta_rows_read": n}
        assert len(entries(conn, am)) == 1


def test_rows_of_the_delta(t, am):
    t.execute("INSERT INTO t SELECT -i, '' FROM generate_series(1, 10) i")
    t.execute(f"SELECT {am}.reset_stats('t')")
    t.execute("SELECT count(v) FROM t WHERE id < 0")
    assert stats(t, am)["delta_rows_read"] == 10
    # the server's scan
    t.execute(f"SET {am}.enable_custom_scan = off")
    t.execute("SELECT count(v) FROM t WHERE id < 0")
    found = stats(t, am)
    assert found["delta_rows_read"] == 20
    assert found["row_groups_read"] >= 3


def test_fetches(t, am, db):
    t.execute("CREATE UNIQUE INDEX ON t (id)")
    t.execute(f"SELECT {am}.reset_stats()")
    with db.connect() as other:
        other.execute(f"SET enable_seqscan = off; SET {am}.enable_custom_scan = off")
        for i in range(1, 6):
            other.execute("SELECT v FROM t WHERE id = %s", [i])
        assert stats(other, am) == {"cache_misses": 1, "cache_hits": 4}
        assert stats(t, am) == {"cache_misses": 1, "cache_hits": 4}


def test_readers_outlive_vacuum_and_not_another_row_type(t, am, db):
    """VACUUM of a table that is written invalidates it every few seconds."""
    t.execute("CREATE UNIQUE INDEX ON t (id)")
    t.execute(f"SELECT {am}.reset_stats()")
    with db.connect() as other:
        other.execute(f"SET enable_seqscan = off; SET {am}.enable_custom_scan = off")

        def fetch(columns: str = "v") -> tuple:
            return other.execute(f"SELECT {columns} FROM t WHERE id = 7").fetchone()

        expected = fetch()
        for n in range(3):
            t.execute(
                f"INSERT INTO t SELECT -i - {n} * 1000, '' FROM generate_series(1, 500) i"
            )
            t.execute("VACUUM ANALYZE t")
            assert fetch() == expected
        assert stats(other, am)["cache_misses"] == 1

        t.execute("ALTER TABLE t ADD COLUMN w int DEFAULT 5")
        assert fetch("v, w") == (*expected, 5)
        t.execute("ALTER TABLE t DROP COLUMN w, ADD COLUMN w text DEFAULT 'new'")
        assert fetch("v, w") == (*expected, "new")
        assert stats(other, am)["cache_misses"] == 3
        t.execute("TRUNCATE t")
        t.execute("INSERT INTO t SELECT i, 'other' FROM generate_series(1, 5000) i")
        assert fetch("v, w") == ("other", "new")


def open_readers(conn) -> int:
    """Row groups that the session keeps open."""
    return conn.execute(
        "SELECT count(*) FROM pg_backend_memory_contexts"
        " WHERE name = 'cached row group reader'"
    ).fetchone()[0]


def test_cache_size(t, am, db):
    t.execute("CREATE UNIQUE INDEX ON t (id)")
    with db.connect() as other:
        other.execute(f"SET enable_seqscan = off; SET {am}.enable_custom_scan = off")

        def fetch_of_each_group() -> None:
            for i in range(7, ROWS, GROUP):
                other.execute("SELECT v FROM t WHERE id = %s", [i])

        fetch_of_each_group()
        assert open_readers(other) == ROWS // GROUP
        other.execute(f"SET {am}.cache_size = '64kB'")
        fetch_of_each_group()
        assert open_readers(other) <= 1


def test_spare_memory(conn):
    """Bytes of single values stay while there is room, are right, and go first."""
    conn.execute("CREATE TABLE t (id int, v text) USING colcompress")
    conn.execute(
        "SELECT colcompress.set_options('t', compression => 'none', row_group_rows => 8192)"
    )
    conn.execute(
        "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000) i"
    )
    conn.execute("CREATE UNIQUE INDEX ON t (id)")
    conn.execute("SET enable_bitmapscan = off; SET enable_seqscan = off")

    def kept(size: str) -> list[int]:
        conn.execute(f"SET colcompress.cache_size = '{size}'")
        wrong = conn.execute(
            "SELECT count(*) FROM generate_series(1, 20000) i, LATERAL (SELECT i::bigint * 7919 % 100000 + 1 AS k) k"
            " WHERE (SELECT v FROM t WHERE id = k) IS DISTINCT FROM md5(k::text)"
        ).fetchone()
        assert wrong == (0,)
        return [
            conn.execute(
                "SELECT coalesce(sum(total_bytes), 0)::bigint FROM pg_backend_memory_contexts WHERE name = %s",
                [name],
            ).fetchone()[0]
            for name in ("spare of cached readers", "colcompress reader")
        ]

    spare, readers = kept("64MB")
    assert 1_500_000 < spare < 6_000_000
    spare, readers_then = kept("1MB")
    assert 0 < spare + readers_then < 1.3 * 1024 * 1024
    assert readers_then > 0.8 * readers
    assert kept("64kB")[0] < 70_000


@pytest.mark.slow
def test_memory_is_given_back_after_a_minute(t, am, db):
    """To the system, by a session that is idle, also after an error."""
    t.execute("CREATE UNIQUE INDEX ON t (id)")
    with db.connect() as other:
        pid = other.info.backend_pid
        other.execute(f"SET enable_seqscan = off; SET {am}.enable_custom_scan = off")
        other.execute("SET enable_bitmapscan = off")

        def resident() -> int:
            status = Path(f"/proc/{pid}/status").read_text()
            return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1])

        other.execute("SELECT id FROM t WHERE id = 7").fetchall()
        before = resident()
        other.execute(
            "SELECT max((SELECT v FROM t WHERE id = i * 7919 % 30000))"
            " FROM generate_series(1, 5000) i"
        )
        used = resident() - before
        assert used > 500
        # What a failed transaction block refuses stops the timers of a session.
        for sql in ("BEGIN", "SELECT 1 / 0", "SELECT 1", "ROLLBACK"):
            with contextlib.suppress(psycopg.Error):
                other.execute(sql)
        start = time.monotonic()
        wait_until(lambda: resident() - before < used / 2, "memory", timeout=120)
        assert time.monotonic() - start > 55
        assert open_readers(other) == 0
        spare = other.execute(
            "SELECT used_bytes FROM pg_backend_memory_contexts WHERE name = 'spare of cached readers'"
        ).fetchone()
        assert spare is None or spare[0] < 1000


def test_what_a_rollback_has_read_counts(t, am):
    t.execute("BEGIN")
    t.execute("SELECT count(v) FROM t WHERE id <= 5000")
    t.execute("ROLLBACK")
    assert stats(t, am)["row_groups_read"] > 0


def test_parallel_scans(t, am, db):
    t.execute("SELECT sum(length(v)) FROM t WHERE id % 3 = 0")
    serial = stats(t, am)
    t.execute(f"SELECT {am}.reset_stats('t')")
    with db.connect() as other:
        other.execute(
            "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
            "SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2"
        )
        query = "SELECT sum(length(v)) FROM t WHERE id % 3 = 0"
        plan = other.execute(f"EXPLAIN (ANALYZE, COSTS OFF) {query}").fetchall()
        assert re.search(r"Workers Launched: [1-9]", str(plan)), plan
    # a worker's part comes when its transaction has ended
    wait_until(lambda: stats(t, am) == serial, "what the workers have counted")


def test_compaction(t, am):
    size = "SELECT pg_relation_size('t')"
    t.execute("UPDATE t SET v = md5(v) WHERE id % 10 = 0")
    t.execute(f"SELECT {am}.reset_stats('t')")
    t.execute(f"CALL {am}.merge('t')")
    found = stats(t, am)
    assert found["compactions"] > 0
    assert found["compacted_rows"] >= ROWS / 10
    assert found["bytes_saved"] > 0
    assert t.execute(size).fetchone()[0] > 0


def test_bytes_saved_of_an_adopted_table(conn, am):
    conn.execute(
        "CREATE TABLE h (id int, v text) USING heap;"
        f"INSERT INTO h SELECT i, repeat('x', 100) FROM generate_series(1, {ROWS}) i"
    )
    (before,) = conn.execute("SELECT pg_relation_size('h')").fetchone()
    conn.execute(
        f"SELECT {am}.adopt('h'); SELECT {am}.set_options('h', auto_compact => false)"
    )
    conn.execute(f"CALL {am}.merge('h')")
    (after,) = conn.execute("SELECT pg_relation_size('h')").fetchone()
    found = stats(conn, am, "h")
    assert found["compacted_rows"] >= ROWS
    assert 0.9 * (before - after) < found["bytes_saved"] <= before


def test_bytes_saved_of_toasted_values(conn, am):
    rows, length = 400, 10_240
    conn.execute(
        "CREATE TABLE h (id int, v text) USING heap; ALTER TABLE h ALTER v SET STORAGE EXTERNAL;"
        f"INSERT INTO h SELECT i, (SELECT string_agg(md5(i::text || ' ' || j), '') FROM generate_series(1, {length // 32}) j)"
        f" FROM generate_series(1, {rows}) i"
    )
    conn.execute(
        f"SELECT {am}.adopt('h'); SELECT {am}.set_options('h', auto_compact => false)"
    )
    conn.execute(f"CALL {am}.merge('h')")
    found = stats(conn, am, "h")
    assert found["compacted_rows"] >= rows
    (after,) = conn.execute("SELECT pg_relation_size('h')").fetchone()
    saved = rows * length - after
    assert saved > 0 and abs(found["bytes_saved"] - saved) < saved / 10 + 100_000


def entries(conn, am: str) -> list[int]:
    return [
        oid
        for (oid,) in conn.execute(
            f"SELECT relid::bigint FROM {am}.table_counters() ORDER BY 1"
        ).fetchall()
    ]


def test_dropped_tables_are_left_out(t, am):
    t.execute("SELECT count(v) FROM t WHERE id <= 5000")
    found = stats(t, am)
    t.execute("BEGIN; DROP TABLE t")
    assert t.execute(f"SELECT * FROM {am}.stats").fetchall() == []
    t.execute("ROLLBACK")
    assert stats(t, am) == found
    t.execute("DROP TABLE t")
    assert t.execute(f"SELECT * FROM {am}.stats").fetchall() == []


@pytest.mark.slow
def test_more_tables_than_there_is_room_for(conn, am):
    """The table that was counted for least recently gives its place up."""
    if am != "colcompress":
        pytest.skip("the same code counts for all access methods")
    conn.execute(
        f"DO $$ BEGIN FOR i IN 1..2060 LOOP EXECUTE 'CREATE TABLE t' || i || ' (id int) USING {am}';"
        " IF i % 200 = 0 THEN COMMIT; END IF; END LOOP; END $$"
    )
    for i in range(1, 2061):
        conn.execute(f"INSERT INTO t{i} VALUES (1)")

    def counted() -> set[str]:
        """After what this session has counted is added."""
        query = f"SELECT relation::text FROM {am}.stats"
        return {name for (name,) in conn.execute(query)}

    first = range(1, 21)
    for tables in (first, range(21, 2061)):
        for i in tables:
            conn.execute(f"SELECT count(*) FROM t{i} WHERE id > 0")
        found = counted()
    lost = {f"t{i}" for i in range(1, 2061)} - found
    assert len(lost) == 2060 - 2048
    assert lost <= {f"t{i}" for i in first}
    table = min(lost)
    conn.execute(f"SELECT count(*) FROM {table} WHERE id > 0")
    assert stats(conn, am, table) == {"delta_rows_read": 1}


def test_without_track_counts(t, am):
    t.execute("SELECT count(v) FROM t WHERE id <= 5000")
    found = stats(t, am)
    # in the session that has just counted, and in its transaction
    t.execute("BEGIN; SELECT count(v) FROM t WHERE id <= 5000; SET track_counts = off")
    t.execute("SELECT count(v) FROM t WHERE id <= 5000; COMMIT")
    assert stats(t, am) == {k: 2 * n for k, n in found.items()}


def test_temporary_tables_are_left_out(conn, am):
    conn.execute(f"CREATE TEMP TABLE tt (id int) USING {am}")
    conn.execute("INSERT INTO tt VALUES (1); SELECT * FROM tt")
    assert entries(conn, am) == []


def test_who_may_reset(t, am, db):
    role = f"resets_{db.name}"
    t.execute(f"CREATE ROLE {role}")
    try:
        t.execute("SELECT count(v) FROM t WHERE id <= 5000")
        before = stats(t, am)
        t.execute(f"SET ROLE {role}")
        assert stats(t, am) == before
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            t.execute(f"SELECT {am}.reset_stats()")
        t.execute("RESET ROLE")
        assert stats(t, am) == before
        since = t.execute(f"SELECT stats_since FROM {am}.stats").fetchone()
        t.execute(f"SELECT {am}.reset_stats()")
        assert stats(t, am) == {}
        assert t.execute(f"SELECT stats_since FROM {am}.stats").fetchone() > since
        t.execute("SELECT count(v) FROM t WHERE id <= 5000")
        t.execute(f"GRANT EXECUTE ON FUNCTION {am}.reset_stats(regclass) TO {role}")
        t.execute(f"SET ROLE {role}; SELECT {am}.reset_stats('t')")
        assert stats(t, am) == {}
    finally:
        t.execute(f"RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")


# ---- servers of their own ----


def small_table(cluster, am):
    conn = cluster.connect()
    conn.execute(
        f"CREATE EXTENSION {am}; CREATE TABLE t (id int) USING {am};"
        "INSERT INTO t SELECT generate_series(1, 10)"
    )
    return conn


@pytest.mark.crash
def test_first_use(make_cluster, am):
    """By a session that only looks, by several at once, and after a crash of one."""
    cluster = make_cluster("stats")
    small_table(cluster, am).close()
    with cluster.connect() as conn:
        assert stats(conn, am) == {}
    cluster.restart()
    barrier = threading.Barrier(4)

    def scan():
        with cluster.connect() as conn:
            barrier.wait()
            conn.execute("SELECT count(*) FROM t WHERE id > 0")

    threads = [threading.Thread(target=scan) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with cluster.connect() as conn:
        wait_until(
            lambda: stats(conn, am) == {"delta_rows_read": 40}, "what all have counted"
        )
        (pid,) = conn.execute("SELECT pg_backend_pid()").fetchone()
        os.kill(pid, signal.SIGKILL)

    def begins_anew() -> bool:
        with (
            contextlib.suppress(psycopg.OperationalError),
            cluster.connect() as conn,
        ):
            return stats(conn, am) == {}
        return False

    wait_until(begins_anew, "the server to have started again")
    with cluster.connect() as conn:
        conn.execute("SELECT count(*) FROM t WHERE id > 0")
        assert stats(conn, am) == {"delta_rows_read": 10}
        assert conn.execute("SELECT sum(id) FROM t").fetchone() == (55,)


def test_without_shared_memory(make_cluster, am):
    """Nothing fails but the counting, and that only as long as there is none."""
    cluster = make_cluster("stats")
    conn = small_table(cluster, am)
    segments = cluster.data / "pg_dynshmem"
    warnings = []
    conn.add_notice_handler(lambda notice: warnings.append(notice.message_primary))
    segments.chmod(0o500)
    try:
        for _ in range(3):
            assert conn.execute("SELECT sum(id) FROM t WHERE id > 0").fetchone() == (
                55,
            )
        conn.execute("BEGIN; SELECT sum(id) FROM t; DELETE FROM t WHERE id > 8; COMMIT")
        assert stats(conn, am) == {}
        assert warnings == ["counters of tables have no shared memory"]
        conn.execute(f"SELECT {am}.reset_stats()")
    finally:
        segments.chmod(0o700)
    assert conn.execute("SELECT sum(id) FROM t WHERE id > 0").fetchone() == (36,)
    assert stats(conn, am) == {"delta_rows_read": 8}
    conn.close()


@pytest.mark.slow
def test_standby(make_cluster, am):
    """It counts for itself."""
    primary = make_cluster("primary")
    conn = small_table(primary, am)
    conn.execute("SELECT count(*) FROM t WHERE id > 0")
    standby = make_cluster("standby", data=False)
    replica.make_standby(primary, standby)
    replica.catch_up(primary, standby)
    with standby.connect() as there:
        assert stats(there, am) == {}
        there.execute("SELECT count(*) FROM t WHERE id > 5")
        assert stats(there, am) == {"delta_rows_read": 10}
        there.execute(f"SELECT {am}.reset_stats()")
        assert stats(there, am) == {}
    assert stats(conn, am) == {"delta_rows_read": 10}
    conn.close()
