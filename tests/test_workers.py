"""Background workers of auto_compact: who starts them, how many, what they leave."""

from __future__ import annotations

import contextlib
import time

import pytest
from strata.cluster import WORKERS
from strata.wait import wait_until
from test_crash import CrashDatabase


def test_auto_compact_runs_once_for_a_table(make_cluster, am):
    """Autovacuum finds a grown delta and starts a worker; options switch it off."""
    cluster = make_cluster(
        "auto",
        autovacuum="on",
        **WORKERS,
        autovacuum_naptime="1s",
        autovacuum_vacuum_insert_threshold=500,
        autovacuum_vacuum_insert_scale_factor=0,
    )
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE crash")
    database = CrashDatabase(cluster, am)
    with database.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        for name in ("t", "off"):
            conn.execute(f"CREATE TABLE {name} (id int PRIMARY KEY, v text) USING {am}")
            conn.execute(f"SELECT {am}.set_options('{name}', row_group_rows => 2000)")
        conn.execute(f"SELECT {am}.set_options('off', auto_compact => false)")
        for name in ("t", "off"):
            for n in range(8):
                conn.execute(
                    f"INSERT INTO {name} SELECT {n} * 1000 + i, md5(i::text)"
                    " FROM generate_series(1, 900) i"
                )

        most = 0

        def compacted() -> bool:
            nonlocal most
            workers = conn.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = %s"
                " AND state = 'active'",
                (f"{am} compaction",),
            ).fetchone()[0]
            most = max(most, workers)
            rows = conn.execute(
                f"SELECT sum(rows) FROM {am}.row_groups('t')"
            ).fetchone()[0]
            return (rows or 0) >= 6000

        wait_until(compacted, "the table is compacted", 60)
        assert most <= 1
        assert conn.execute(
            "SELECT count(*), count(DISTINCT id) FROM t"
        ).fetchone() == (7200, 7200)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
        assert conn.execute(f"SELECT * FROM {am}.row_groups('off')").fetchall() == []


def test_commit_of_many_rows_starts_one_worker(make_cluster, am):
    """Single-row inserts and no autovacuum: the session's own commit has them compacted."""
    cluster = make_cluster(
        "commit",
        **WORKERS,
        log_min_messages="debug1",
        max_prepared_transactions=2,
    )
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE crash")
    database = CrashDatabase(cluster, am)
    tables = ("t", "off", "undone", "prepared", "few", "temporary")
    rows = 10_000  # what a worker is worth
    with database.connect() as conn, database.connect() as other:
        conn.execute(f"CREATE EXTENSION {am}")
        for name in tables:
            temporary = "TEMP" if name == "temporary" else ""
            conn.execute(f"CREATE {temporary} TABLE {name} (id int) USING {am}")
            conn.execute(f"SELECT {am}.set_options('{name}', row_group_rows => 10000)")
        conn.execute(f"SELECT {am}.set_options('off', auto_compact => false)")
        start = cluster.log_size()

        def load(name: str, n: int, on=conn) -> None:
            on.execute(
                f"DO $$ BEGIN FOR i IN 1..{n // 500} LOOP INSERT INTO {name}"
                " SELECT generate_series(i * 500 - 499, i * 500); END LOOP; END $$"
            )

        def started(name: str) -> int:
            oid = conn.execute("SELECT %s::regclass::oid", (name,)).fetchone()[0]
            log = cluster.log_since(start, 10_000_000)
            return log.count(
                f' registering background worker "{am} compaction of relation {oid}"'
            )

        load("off", rows)
        load("temporary", rows)
        conn.execute("BEGIN")
        load("undone", rows)
        conn.execute("ROLLBACK")
        load("undone", 100)
        conn.execute("BEGIN")
        load("prepared", rows)
        conn.execute("PREPARE TRANSACTION 'p'")
        conn.execute("COMMIT PREPARED 'p'")
        # rows of rolled back subtransactions do not count, of released ones do
        for end in ("ROLLBACK TO s; RELEASE s", "RELEASE s"):
            conn.execute("BEGIN")
            load("few", 4_000)
            conn.execute("SAVEPOINT s")
            load("few", 6_500)
            conn.execute(end)
            conn.execute("COMMIT")
            if end == "RELEASE s":
                wait_until(
                    lambda: started("few") == 1, "a worker for it is started", 30
                )
            else:
                assert started("few") == 0

        # two sessions that commit at the same time: one works at most
        with conn.transaction(), other.transaction():
            conn.execute(
                f"DO $$ BEGIN FOR i IN 1..{rows} LOOP INSERT INTO t VALUES (i); END LOOP; END $$"
            )
            load("t", rows, other)
        most = 0

        def compacted() -> bool:
            nonlocal most
            workers = conn.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = %s"
                " AND state = 'active' AND query LIKE '%% ' || 't'::regclass::oid",
                (f"{am} compaction",),
            ).fetchone()[0]
            most = max(most, workers)
            return (
                conn.execute(f"SELECT sum(rows) FROM {am}.row_groups('t')").fetchone()[
                    0
                ]
                or 0
            ) >= rows

        wait_until(compacted, "the table is compacted", 60)
        assert most <= 1
        assert conn.execute("SELECT count(*), sum(id) FROM t").fetchone() == (
            2 * rows,
            rows * (rows + 1),
        )
        # the worker of the table before may be at work still, and finds this one
        assert started("t") <= 2
        for name in ("off", "undone", "prepared", "temporary"):
            assert started(name) == 0
        for name in ("off", "undone", "temporary"):
            assert (
                conn.execute(f"SELECT * FROM {am}.row_groups('{name}')").fetchall()
                == []
            )
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def in_delta(conn, am: str, table: str) -> int:
    """Rows of the table that are not in a row group."""
    return conn.execute(
        f"SELECT (SELECT count(*) FROM {table})"
        f" - coalesce(sum(rows - deleted_rows), 0)::int FROM {am}.row_groups('{table}')"
    ).fetchone()[0]


def insert_into_delta(conn, table: str, rows: int) -> None:
    """In commands that are too small for a row group."""
    for _ in range(rows // 500):
        conn.execute(
            f"INSERT INTO {table} SELECT i, md5(i::text) FROM generate_series(1, 500) i"
        )


def working(conn, am: str) -> int:
    return conn.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = %s",
        (f"{am} compaction",),
    ).fetchone()[0]


@pytest.mark.slow
def test_one_worker_serves_all_tables(make_cluster, am):
    """It is started for one table, and finds the others, which nobody asked for."""
    cluster = make_cluster("tables", **WORKERS)
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        tables = ["a", "b", "c", "d"]
        for table in tables:
            conn.execute(f"CREATE TABLE {table} (id int, v text) USING {am}")
        for table in tables[:3]:
            insert_into_delta(conn, table, 3000)
        assert [in_delta(conn, am, table) for table in tables] == [3000, 3000, 3000, 0]
        insert_into_delta(conn, "d", 12_000)
        most = 0

        def compacted() -> bool:
            nonlocal most
            most = max(most, working(conn, am))
            return all(in_delta(conn, am, table) == 0 for table in tables)

        wait_until(compacted, "all tables are compacted", 60)
        assert most == 1
        for table in tables:
            assert (
                conn.execute(f"SELECT * FROM {am}.verify('{table}')").fetchall() == []
            )
        wait_until(lambda: working(conn, am) == 0, "the worker leaves", 30)


@pytest.mark.slow
def test_workers_of_databases_take_turns(make_cluster, am):
    """One place for all, and each database has changes all the time."""
    cluster = make_cluster("turns", **WORKERS)
    names = ("one", "two", "three")
    with contextlib.ExitStack() as stack:
        admin = stack.enter_context(cluster.connect())
        connections = {}
        for name in names:
            admin.execute(f"CREATE DATABASE {name}")
            conn = connections[name] = stack.enter_context(cluster.connect(name))
            conn.execute(f"CREATE EXTENSION {am}")
            conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        served = dict.fromkeys(names, False)
        end = time.monotonic() + 180
        while time.monotonic() < end and not all(served.values()):
            for name, conn in connections.items():
                insert_into_delta(conn, "t", 10_000)
                # one at work, two that wait for its place, and those that come or go
                wait_until(lambda: working(admin, am) <= 3, "no more than three", 5)
                groups = conn.execute(
                    f"SELECT count(*) FROM {am}.row_groups('t')"
                ).fetchone()[0]
                served[name] |= groups > 0
        assert all(served.values())


def test_workers_leave_places_to_others(make_cluster, am):
    """The server's launcher of logical replication has one of three places."""
    cluster = make_cluster("places", **WORKERS, max_worker_processes="3")
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        insert_into_delta(conn, "t", 12_000)
        time.sleep(3)
        assert (in_delta(conn, am, "t"), working(conn, am)) == (12_000, 0)
        conn.execute("ALTER SYSTEM SET max_worker_processes = 4")
        cluster.restart()
    with cluster.connect() as conn:
        insert_into_delta(conn, "t", 12_000)
        wait_until(lambda: in_delta(conn, am, "t") == 0, "the table is compacted", 60)


@pytest.mark.slow
def test_a_table_recovers_by_itself(make_cluster, am):
    """Changes of single rows, no autovacuum and no command: the worker alone brings
    deletions, delta and space back, also once an old snapshot has ended.  Its VACUUM
    has no workers of its own."""
    cluster = make_cluster("live", **WORKERS, min_parallel_index_scan_size="0")
    begin = cluster.log_size()
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE crash")
        conn.execute("ALTER DATABASE crash SET log_min_messages = 'debug2'")
    database = CrashDatabase(cluster, am)
    rows = 100_000
    with database.connect() as conn, database.connect() as old:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, k int, v text) USING {am}")
        conn.execute("CREATE INDEX ON t (k)")
        conn.execute(f"SELECT {am}.set_options('t', row_group_rows => 20000)")
        conn.execute(
            "INSERT INTO t SELECT i, i % 1000, md5(i::text)"
            f" FROM generate_series(1, {rows}) i"
        )
        fresh = conn.execute("SELECT pg_table_size('t')").fetchone()[0]
        conn.execute("CREATE TABLE twin AS SELECT * FROM t")
        conn.execute("ALTER TABLE twin ADD PRIMARY KEY (id)")

        def change(seed: int) -> None:
            for table in ("twin", "t"):
                conn.execute(
                    f"""DO $$ BEGIN FOR i IN 1..25000 LOOP
                          UPDATE {table} SET k = k + 1
                            WHERE id = (i::bigint * 7919 + {seed}) % {rows} + 1;
                          IF i % 5 = 0 THEN
                            DELETE FROM {table} WHERE id = (i::bigint * 104729 + {seed}) % {rows} + 1;
                            COMMIT;
                          END IF;
                        END LOOP; END $$"""
                )

        def state() -> tuple:
            return conn.execute(
                f"SELECT deleted_rows, rows, pg_table_size('t')"
                f" FROM (SELECT sum(deleted_rows)::int deleted_rows, sum(rows)::int AS rows"
                f" FROM {am}.row_groups('t')) g"
            ).fetchone()

        def recovered() -> bool:
            deleted, grouped, size = state()
            left = conn.execute("SELECT count(*) FROM t").fetchone()[0]
            return (
                deleted < rows / 8
                and left - (grouped - deleted) < 2000
                and size < 1.3 * fresh
            )

        for seed in (1, 2):
            if seed == 2:
                old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                before = old.execute("SELECT count(*), sum(k) FROM t").fetchone()
            change(seed)
            change(seed + 10)
            if seed == 2:
                time.sleep(5)
                assert (
                    old.execute("SELECT count(*), sum(k) FROM t").fetchone() == before
                )
                old.execute("COMMIT")
            wait_until(recovered, "the table recovers", 60, patience=1)
            assert conn.execute(
                "SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE twin) d"
            ).fetchone() == (0,)
            assert conn.execute(
                "SELECT (SELECT count(*) FROM t) = count(*) FROM twin"
            ).fetchone() == (True,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
    log = cluster.log_since(begin, 1_000_000_000)
    assert "index vacuuming" in log or "scanned index" in log
    assert "parallel vacuum worker" not in log
