"""Compaction beside writers and cancels; what it does to indexes."""

from __future__ import annotations

import contextlib
import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable

import psycopg
import pytest
from strata.cluster import WORKERS
from strata.threads import Job, race_time, repeated
from strata.timing import clock
from strata.twin import Twin
from strata.wait import wait_until
from test_crash import CrashDatabase, crash_database, verify
from test_workers import working

ROWS = 6000


@pytest.fixture
def database(make_cluster, am) -> CrashDatabase:
    return crash_database(make_cluster, am, "compact", full_page_writes="on")


def size(conn, table: str = "t") -> int:
    return conn.execute(f"SELECT pg_relation_size('{table}')").fetchone()[0]


def statements(*listed: str) -> Job:
    """A job that executes them on our table, one after another."""

    def job(conn) -> None:
        conn.execute("SET search_path = ours, public")
        for statement in listed:
            conn.execute(statement)

    return job


def bulk_table(conn, am: str) -> Callable[[], int]:
    """100,000 rows in ten row groups; returns what tells the size of its file."""
    conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, v text, k int) USING {am}")
    conn.execute(f"SELECT {am}.set_options('t', row_group_rows => 10000)")
    conn.execute(
        "INSERT INTO t SELECT i, md5(i::text), i % 100 FROM generate_series(1, 100000) i"
    )
    return lambda: conn.execute("SELECT pg_relation_size('t')").fetchone()[0]


def test_no_update_is_lost_and_no_row_doubled(database, seed, am):
    """Sessions count up the same few rows while the table is compacted."""
    with database.connect() as conn:
        conn.execute("CREATE SCHEMA ours")
        conn.execute(
            f"CREATE TABLE ours.t (id int PRIMARY KEY, n int, v text) USING {am}"
        )
        conn.execute(
            f"INSERT INTO ours.t SELECT i, 0, md5(i::text) FROM generate_series(1, {ROWS}) i"
        )
    done = Counter(dict.fromkeys(range(3), 0))

    def count(number: int) -> None:
        rng = random.Random(f"{seed}/{number}")
        with database.connect() as conn:
            end = time.monotonic() + race_time(4)
            while (now := time.monotonic()) < end or (
                done.total() <= 100 and now < end + 60
            ):
                low = rng.randrange(1, 400)
                form = rng.choice(
                    [
                        "UPDATE ours.t SET n = n + 1 WHERE id = {0}",
                        "UPDATE ours.t SET n = n + 1 WHERE id = {0} AND n >= 0 RETURNING n",
                        "WITH l AS (SELECT id FROM ours.t WHERE id = {0} FOR UPDATE)"
                        " UPDATE ours.t SET n = n + 1 FROM l WHERE t.id = l.id",
                        "INSERT INTO ours.t VALUES ({0}, 0, '') ON CONFLICT (id)"
                        " DO UPDATE SET n = t.n + 1",
                    ]
                )
                done[number] += conn.execute(form.format(low)).rowcount

    compaction = [f"CALL {am}.merge('ours.t')"]
    jobs = [statements(*compaction), statements(*compaction, "VACUUM ours.t")]
    with repeated(database, jobs):
        threads = [threading.Thread(target=count, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with database.connect() as conn:
        rows, ids, total = conn.execute(
            "SELECT count(*), count(DISTINCT id), sum(n) FROM ours.t"
        ).fetchone()
        assert (rows, ids, total) == (ROWS, ROWS, sum(done.values()))
        assert conn.execute(f"SELECT * FROM {am}.verify('ours.t')").fetchall() == []
    assert sum(done.values()) > 100


def test_repeatable_read_sees_the_same_rows_throughout(database, am):
    """A snapshot from before keeps its rows while they move, and each once."""
    twin = Twin(database, am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i")
    twin.ok("DELETE FROM t WHERE id % 5 = 0")
    reads = [
        "SELECT count(*), count(DISTINCT id), sum(id) FROM t",
        "SELECT count(*), sum(id) FROM t WHERE id BETWEEN 100 AND 200",
    ]
    with database.connect() as old, database.connect() as new:
        for conn in (old, new):
            conn.execute("SET search_path = ours, public")
            conn.execute("SET enable_seqscan = off")
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        expected = [old.execute(q).fetchone() for q in reads]
        for step in range(4):
            new.execute(f"CALL {am}.merge('t')")
            new.execute("VACUUM t")
            assert [old.execute(q).fetchone() for q in reads] == expected
            assert [new.execute(q).fetchone() for q in reads] == expected
            new.execute(f"UPDATE t SET v = v || 'x' WHERE id % 10 = {step}")
        old.execute("COMMIT")


def test_cancel_leaves_the_table_right(database, rng, am):
    twin = Twin(database, am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok("CREATE INDEX ON t (v)")
    for n in range(8):
        twin.ok(
            f"INSERT INTO t SELECT {n} * 100000 + i, md5(i::text) FROM generate_series(1, 3000) i"
        )
        twin.ok(f"DELETE FROM t WHERE id % 11 = {n % 11}")
        with database.connect() as conn:
            conn.execute("SET search_path = ours, public")
            conn.execute(f"SET statement_timeout = {rng.randrange(1, 60)}")
            with contextlib.suppress(psycopg.errors.QueryCanceled):
                conn.execute(f"CALL {am}.merge('t')")
    verify(database)
    twin.ours.execute(f"CALL {am}.merge('t')")
    twin.ours.execute("VACUUM t")
    verify(database)


def test_lock_timeout_is_honoured(database, am):
    with database.connect() as conn, database.connect() as other:
        conn.execute(f"CREATE TABLE t (id int) USING {am}")
        conn.execute("INSERT INTO t SELECT generate_series(1, 2000)")
        other.execute("BEGIN")
        other.execute("LOCK t IN SHARE UPDATE EXCLUSIVE MODE")
        conn.execute("SET lock_timeout = 100")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            conn.execute(f"CALL {am}.merge('t')")
        # nothing to do: no lock is needed
        other.execute("ROLLBACK")
        conn.execute(f"CALL {am}.merge('t')")
        other.execute("BEGIN")
        other.execute("LOCK t IN SHARE UPDATE EXCLUSIVE MODE")
        conn.execute(f"CALL {am}.merge('t')")
        other.execute("ROLLBACK")


@pytest.fixture
def tripping(database, am):
    """A connection, and a table t with an order that has room before its last row group;
    compaction of the row whose id stands in the table flag fails."""
    with database.connect() as conn:
        conn.execute("CREATE TABLE flag AS SELECT 0 AS at")
        conn.execute(
            "CREATE FUNCTION trip(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$"
            " BEGIN IF $1 = (SELECT at FROM public.flag) THEN RAISE 'tripped';"
            " END IF; RETURN $1; END $$"
        )
        conn.execute(f"CREATE TABLE t (id int, k int, v text) USING {am}")
        conn.execute(
            f"SELECT {am}.set_options('t', orderby => 'id', row_group_rows => 10000)"
        )
        conn.execute(
            "INSERT INTO t SELECT i, i % 7919, md5(i::text)"
            " FROM generate_series(1, 60000) i"
        )
        conn.execute("CREATE INDEX ON t (id)")
        conn.execute("CREATE INDEX ON t (trip(id))")
        conn.execute("UPDATE t SET v = 'x' || id WHERE id % 9 = 0")
        # All groups are behind the old ones now; then there is room before.
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("DELETE FROM t WHERE id BETWEEN 20001 AND 40000")
        for _ in range(2):
            conn.execute("VACUUM t")
        yield conn


def fail_merge(conn, am: str) -> None:
    # a row of the last row group, which merge moves
    conn.execute("UPDATE flag SET at = (SELECT id FROM t ORDER BY ctid DESC LIMIT 1)")
    with pytest.raises(psycopg.errors.RaiseException, match="tripped"):
        conn.execute(f"CALL {am}.merge('t')")
    conn.execute("UPDATE flag SET at = 0")


def check_rows_by_index(conn, am: str, rows: int) -> None:
    """By verify(), and each row once by its index."""
    assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
    conn.execute("SET enable_seqscan = off")
    conn.execute(f"SET {am}.enable_custom_scan = off")
    query = "SELECT count(*), count(DISTINCT (id, v)) FROM t WHERE id > 0"
    assert conn.execute(query).fetchone() == (rows, rows)


def test_row_numbers_are_used_once_though_merge_fails(tripping, am):
    """What a failed merge left in indexes must never point to other rows."""
    conn = tripping
    fail_merge(conn, am)
    # Rows change places in their group, too few of them for a rewrite.
    conn.execute(
        "DELETE FROM t WHERE ctid IN (SELECT ctid FROM t ORDER BY ctid DESC OFFSET 9960 LIMIT 40)"
    )
    before = size(conn)
    conn.execute(f"CALL {am}.merge('t')")
    conn.execute("VACUUM t")
    assert size(conn) < before
    check_rows_by_index(conn, am, 39960)


def test_merge_goes_on_after_merges_that_failed(tripping, am):
    """At another time, and for groups that are chosen for another reason."""
    conn = tripping
    for _ in range(4):
        fail_merge(conn, am)
    conn.execute(
        "INSERT INTO t SELECT 41000 + i * 10, 0, md5(i::text) FROM generate_series(1, 1900) i"
    )
    for _ in range(2):
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("VACUUM t")
    check_rows_by_index(conn, am, 41900)


def test_nothing_is_left_of_a_free_extent_that_was_cut_off(database, am):
    """A row group may lie where an extent was free that the end of the file then cut off."""
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE t (i int, v text) USING {am}")
        load = "INSERT INTO t SELECT i, md5(i::text) FROM generate_series({}, {}) i"
        for first in (1, 10001, 20001):
            conn.execute(load.format(first, first + 9999))
        conn.execute("DELETE FROM t WHERE i > 10000")
        conn.execute("VACUUM t")
        conn.execute(load.format(10001, 30000))
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_each_partition_is_sorted(database, am):
    """A call sorts groups of each table once, whatever it has done to another one."""
    with database.connect() as conn:
        conn.execute("CREATE TABLE t (part int, id int) PARTITION BY LIST (part)")
        for part in (1, 2, 3):
            conn.execute(
                f"CREATE TABLE t{part} PARTITION OF t FOR VALUES IN ({part}) USING {am};"
                f"INSERT INTO t{part} SELECT {part}, 5000 - i FROM generate_series(1, 5000) i"
            )
            conn.execute(f"CALL {am}.merge('t{part}')")
        conn.execute(f"SELECT {am}.set_options('t', orderby => 'id')")
        conn.execute(f"CALL {am}.compact('t')")
        assert conn.execute(
            "SELECT part, bool_and(id > before) FROM (SELECT part, id, lag(id)"
            " OVER (PARTITION BY part ORDER BY ctid) AS before FROM t) s GROUP BY 1 ORDER BY 1"
        ).fetchall() == [(1, True), (2, True), (3, True)]


def test_merge_ends_beside_loads_out_of_order(database, am):
    """Each load makes a row group that overlaps all others."""
    load = "INSERT INTO t SELECT i * 100000 + {}, md5(i::text) FROM generate_series(1, 2000) i"
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        conn.execute(
            f"SELECT {am}.set_options('t', orderby => 'id', row_group_rows => 2048, auto_compact => false)"
        )
        for number in range(10):
            conn.execute(load.format(number))
        loads = itertools.count(10)
        conn.execute("SET statement_timeout = '60s'")

        def load_one(other) -> None:
            other.execute(load.format(next(loads)))
            time.sleep(0.02)

        with repeated(database, [load_one]):
            conn.execute(f"CALL {am}.merge('t')")
        count = "SELECT count(*), count(DISTINCT id) FROM t"
        assert conn.execute(count).fetchone() == (next(loads) * 2000,) * 2
        conn.execute(f"CALL {am}.merge('t')")
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_merge_waits_for_a_long_snapshot_once(database, am):
    """Not before and after each VACUUM, and not at all for one of another database."""
    with database.connect() as conn, database.connect() as reader:
        file_size = bulk_table(conn, am)

        def merge() -> tuple[float, float]:
            start, busy = time.monotonic(), clock(conn)
            conn.execute(f"CALL {am}.merge('t')")
            return time.monotonic() - start, clock(conn) - busy

        conn.execute("DELETE FROM t WHERE id % 10 < 3")
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM pg_am")
        before = file_size()
        waited, busy = merge()
        assert waited >= 1
        assert busy < 5
        assert file_size() >= before
        reader.execute("COMMIT")
        with database.cluster.connect() as other:
            other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            other.execute("SELECT count(*) FROM pg_class")
            merge()
            assert file_size() < before
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (70_000,)


@pytest.mark.slow
def test_a_held_row_group_is_left_alone(make_cluster, am):
    """Somebody holds one of two small row groups: the worker does not write the
    other one again and again, and leaves once that has ended."""
    database = crash_database(make_cluster, am, "held", **WORKERS)
    with database.connect() as conn, database.connect() as holder:
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        for n in range(2):
            conn.execute(
                f"INSERT INTO t SELECT {n} * 10000 + i, md5(i::text)"
                " FROM generate_series(1, 6000) i"
            )
        assert len(conn.execute(f"SELECT * FROM {am}.row_groups('t')").fetchall()) == 2
        holder.execute("BEGIN")
        holder.execute("SELECT FROM t WHERE id = 1 FOR KEY SHARE")
        conn.execute(
            "DO $$ BEGIN FOR i IN 1..100 LOOP INSERT INTO t"
            " SELECT 100000 + i * 500 + j, 'x' FROM generate_series(1, 500) j;"
            " END LOOP; END $$"
        )

        wait_until(
            lambda: conn.execute(
                f"SELECT sum(rows) >= 50000 FROM {am}.row_groups('t')"
            ).fetchone()[0],
            "the delta is compacted",
            30,
        )
        size = conn.execute("SELECT pg_table_size('t')").fetchone()[0]
        position = conn.execute("SELECT pg_current_wal_lsn()").fetchone()[0]
        time.sleep(20)
        wrote, now = conn.execute(
            "SELECT pg_current_wal_lsn() - %s::pg_lsn, pg_table_size('t')", (position,)
        ).fetchone()
        assert wrote < 3 * size
        assert now < 1.5 * size
        holder.execute("COMMIT")
        wait_until(lambda: not working(conn, am), "the worker leaves", 60)
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (62000,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_a_locked_row_of_the_delta_is_no_reason_to_rewrite_a_group(database, am):
    """A small group would go together with it, were it free; it goes with the next."""
    groups = f"SELECT first_row, rows FROM {am}.row_groups('t')"
    with database.connect() as conn, database.connect() as other:
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, v text) USING {am}")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        conn.execute(
            "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 20000) i"
        )
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("INSERT INTO t VALUES (0, 'locked')")
        before = conn.execute(groups).fetchall()
        assert [rows for _, rows in before] == [20000]
        other.execute("BEGIN")
        other.execute("SELECT FROM t WHERE id = 0 FOR UPDATE")
        blocks = "SELECT pg_relation_size('t')"
        size_before = conn.execute(blocks).fetchone()
        conn.execute(f"CALL {am}.merge('t')")
        assert conn.execute(groups).fetchall() == before
        assert conn.execute(blocks).fetchone() == size_before
        other.execute("COMMIT")
        conn.execute(f"CALL {am}.merge('t')")
        assert [rows for _, rows in conn.execute(groups)] == [20001]
        assert conn.execute("SELECT v FROM t WHERE id = 0").fetchone() == ("locked",)


def test_rows_that_the_caller_has_locked_are_compacted(database, am):
    """By a foreign key, say: the procedure commits before its first step."""
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE p (id int PRIMARY KEY) USING {am}")
        conn.execute("CREATE TABLE c (id int REFERENCES p)")
        conn.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
        conn.execute(
            "DO $$ BEGIN INSERT INTO p SELECT generate_series(1, 500);"
            f" INSERT INTO c SELECT id FROM p; CALL {am}.merge('p'); END $$"
        )
        assert conn.execute(f"SELECT rows FROM {am}.row_groups('p')").fetchall() == [
            (500,)
        ]


@pytest.mark.parametrize("auto", [True, False], ids=["worker", "no worker"])
def test_merge_in_a_block_leaves_vacuum_to_a_worker(make_cluster, am, auto):
    """It says so, and the file gets as small; without workers it names the way."""
    database = crash_database(make_cluster, am, "compact", **WORKERS)
    notices = []
    with database.connect() as conn:
        conn.add_notice_handler(
            lambda said: notices.append((said.message_primary, said.message_hint))
        )
        size = bulk_table(conn, am)
        fresh = size()
        # Nobody starts a worker before merge does.
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        for low in range(0, 100_000, 5000):  # small commands write to the delta
            conn.execute(
                "UPDATE t SET k = k + 1 WHERE id % 3 = 0"
                f" AND id BETWEEN {low + 1} AND {low + 5000}"
            )
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => {auto})")
        assert size() > 1.3 * fresh
        conn.execute(f"DO $$ BEGIN CALL {am}.merge('t'); END $$")
        if auto:
            assert notices == [('VACUUM of "t" is left to a background worker', None)]
            wait_until(lambda: size() <= 1.3 * fresh, "the worker's VACUUM", 60)
            wait_until(lambda: not working(conn, am), "the worker leaves", 60)
        else:
            hint = "CALL merge on its own, or run VACUUM."
            assert notices == [('"t" is left larger than it needs to be', hint)]
            assert size() > 1.3 * fresh
            conn.execute(f"CALL {am}.merge('t')")
            assert size() <= 1.3 * fresh
        conn.execute(f"DO $$ BEGIN CALL {am}.merge('t'); END $$")
        assert len(notices) == 1, "there is nothing left to say"
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_a_step_in_vain_makes_no_index_entries(database, am):
    """Somebody takes a row's lock while its group is copied, and keeps it."""
    with (
        database.connect() as conn,
        database.connect() as holder,
        database.connect() as merger,
    ):
        # VACUUM would wait for the holder's lock, to cut the file off
        conn.execute(
            f"CREATE TABLE t (id int PRIMARY KEY, v text) USING {am}"
            " WITH (vacuum_truncate = off)"
        )
        conn.execute(
            "INSERT INTO t SELECT i, repeat(md5(i::text), 8)"
            " FROM generate_series(1, 100000) i"
        )
        conn.execute("DELETE FROM t WHERE id % 50 = 0")
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("DELETE FROM t WHERE id % 50 = 1")
        conn.execute("REINDEX TABLE t")
        groups = f"SELECT first_row, rows FROM {am}.row_groups('t')"
        before = (conn.execute(groups).fetchall(), size(conn, "t_pkey"))
        assert [rows for _, rows in before[0]] == [98_000]

        merge = threading.Thread(target=merger.execute, args=(f"CALL {am}.merge('t')",))
        merge.start()
        taken = (
            f"SELECT count(*) > 0 FROM {am}.compact_progress WHERE step_rows_taken > 0"
        )
        while not conn.execute(taken).fetchone()[0]:
            assert merge.is_alive()
        holder.execute("BEGIN")
        holder.execute("SELECT FROM t WHERE id = 2 FOR KEY SHARE")
        merge.join()
        assert (conn.execute(groups).fetchall(), size(conn, "t_pkey")) == before

        holder.execute("COMMIT")
        conn.execute(f"CALL {am}.merge('t')")
        assert [rows for _, rows in conn.execute(groups).fetchall()] == [96_000]
        count = "SELECT count(*) FROM t WHERE id > 0"
        assert conn.execute(count).fetchone() == (96_000,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_entries_are_made_in_the_order_of_keys(database, am):
    """Pages that a step adds to a btree stand in the file as their keys are ordered."""
    with database.connect() as conn:
        conn.execute("CREATE EXTENSION pageinspect")
        conn.execute(f"CREATE TABLE t (id int, k int) USING {am}")
        conn.execute(
            "INSERT INTO t SELECT i, i::bigint * 7919 % 60013"
            " FROM generate_series(1, 60000) i"
        )
        conn.execute("DELETE FROM t WHERE id % 3 = 0")
        conn.execute("CREATE INDEX k ON t (k) WITH (fillfactor = 100)")
        pages = size(conn, "k") // 8192
        conn.execute(f"CALL {am}.merge('t')")
        chain = conn.execute(
            """WITH RECURSIVE leaf (place, block, next) AS (
                 SELECT 1, blkno, btpo_next
                   FROM generate_series(1, %s) AS b, bt_page_stats('k', b)
                   WHERE type = 'l' AND btpo_prev = 0
                 UNION ALL SELECT place + 1, blkno, btpo_next
                   FROM leaf, bt_page_stats('k', next) WHERE next <> 0)
               SELECT block FROM leaf WHERE block >= %s ORDER BY place""",
            (pages - 1, pages),
        ).fetchall()
        assert len(chain) > pages / 2
        assert chain == sorted(chain)


def test_a_gin_gets_its_entries_together(database, am):
    """And not by its pending list, whose metapage is in WAL once for each row."""
    with database.connect() as conn:
        conn.execute("CREATE EXTENSION pg_walinspect")
        conn.execute(f"CREATE TABLE t (id int, words int[]) USING {am}")
        conn.execute("CREATE INDEX ON t USING gin (words)")
        for n in range(4):
            conn.execute(
                "INSERT INTO t SELECT i, ARRAY[i % 10, i % 100]"
                f" FROM generate_series({n * 500}, {n * 500 + 499}) i"
            )
        conn.execute("VACUUM t")  # the pending list of the rows' first places
        before = conn.execute("SELECT pg_current_wal_lsn()").fetchone()[0]
        conn.execute(f"CALL {am}.compact('t')")
        records = dict(
            conn.execute(
                'SELECT "resource_manager/record_type", count'
                " FROM pg_get_wal_stats(%s, pg_current_wal_flush_lsn(), true)",
                [before],
            ).fetchall()
        )
        moved = conn.execute(f"SELECT sum(rows) FROM {am}.row_groups('t')").fetchone()
        assert moved == (2000,)
        assert 0 < records["Gin/INSERT"] < 500, records
        # VACUUM notes the size of the index there
        assert records.get("Gin/UPDATE_META_PAGE", 0) < 5, records
        conn.execute("SET enable_seqscan = off")
        conn.execute(f"SET {am}.enable_custom_scan = off")
        assert conn.execute(
            "SELECT count(*) FROM t WHERE words @> '{7}'"
        ).fetchone() == (200,)


def test_pace(database, am):
    """As VACUUM's. It ends with the command, and with an error."""
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE t (id int, words int[]) USING {am}")
        conn.execute("CREATE INDEX ON t (id)")
        conn.execute("CREATE INDEX ON t USING gin (words)")

        def merge() -> float:
            conn.execute("TRUNCATE t")
            conn.execute(
                "INSERT INTO t SELECT i, ARRAY[i, i % 9] FROM generate_series(1, 900) i"
            )
            start = time.monotonic()
            conn.execute(f"CALL {am}.merge('t')")
            return time.monotonic() - start

        conn.execute("SET vacuum_cost_limit = 100")
        conn.execute("SET vacuum_cost_delay = '10ms'")
        # 1,800 keys and 900 rows, each found and put at the cost of 2 pages or more
        assert merge() > 0.36
        conn.execute("SET statement_timeout = '100ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            merge()
        conn.execute("RESET statement_timeout")
        conn.execute("SET vacuum_cost_delay = 0")
        assert min(merge() for _ in range(3)) < 0.3


def test_indexes_of_many_kinds_lead_to_rows_that_moved(database, am):
    """More entries than fit into memory; each index alone finds what the twin has."""
    indexes = {
        "UNIQUE INDEX ON t (id)": "id BETWEEN 5000 AND 9000",
        "UNIQUE INDEX ON t (half) INCLUDE (id)": "half > 7000",
        "INDEX ON t (nick DESC NULLS LAST, id)": "nick > 'nick5'",
        "INDEX ON t (long)": "long < repeat('3', 900)",
        "INDEX ON t (lower(long)) WHERE id % 3 = 1": (
            "lower(long) > repeat('7', 900) AND id % 3 = 1"
        ),
        "INDEX ON t (((id % 7)))": "id % 7 = 3",
        "INDEX ON t USING gin (words)": "words @> '{w5}'",
        "INDEX ON t USING gin (doc, tags) WITH (fastupdate = off)": (
            "doc @> '{\"n\": 5}' AND tags && '{3, 77}'"
        ),
        "INDEX ON t USING gin (to_tsvector('simple', nick)) WHERE id % 3 = 2": (
            "to_tsvector('simple', nick) @@ 'nick5 | nick61' AND id % 3 = 2"
        ),
        "INDEX ON t USING gist (place)": "place <@ box '((0,0),(30,300))'",
    }
    with database.connect() as conn:
        conn.execute("SET maintenance_work_mem = '1MB'")
        for table, access in (("twin", "heap"), ("t", am)):
            conn.execute(
                f"CREATE TABLE {table} (id int NOT NULL, half int, nick name, long text,"
                f" words text[], place point, doc jsonb, tags int[]) USING {access}"
            )
            # the first rows into a row group, the others into the delta
            for first, last in (
                (1, 6000),
                *((n, n + 499) for n in range(6001, 15000, 500)),
            ):
                conn.execute(
                    f"""INSERT INTO {table} SELECT i, CASE WHEN i % 2 = 0 THEN i END,
                          'nick' || i % 900, repeat(md5(i::text), 30),
                          ARRAY['w' || i % 50, 'w' || i % 7], point(i % 100, i % 1000),
                          jsonb_build_object('n', i % 11, 'k' || i % 300, i),
                          CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '{{}}'
                                     ELSE ARRAY[i % 90, NULL, i % 13] END
                        FROM generate_series({first}, {last}) i"""
                )
        for index in indexes:
            conn.execute(f"CREATE {index}")
        for table in ("twin", "t"):
            conn.execute(f"DELETE FROM {table} WHERE id % 5 = 0")
        conn.execute(f"CALL {am}.merge('t')")
        (delta,) = conn.execute(
            f"SELECT 12000 - sum(rows) FROM {am}.row_groups('t')"
        ).fetchone()
        assert delta == 0
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
        conn.execute("SET enable_seqscan = off")
        conn.execute(f"SET {am}.enable_custom_scan = off")
        for condition in indexes.values():
            ours, theirs = (
                f"SELECT id, half, nick, long FROM {table} WHERE {condition}"
                for table in ("t", "twin")
            )
            plan = conn.execute(f"EXPLAIN {ours}").fetchall()
            assert "Index" in str(plan), plan
            for one, other in ((ours, theirs), (theirs, ours)):
                rows = f"({one}) EXCEPT ALL ({other})"
                assert conn.execute(f"SELECT count(*) FROM ({rows}) d").fetchone() == (
                    0,
                )
        with pytest.raises(psycopg.errors.UniqueViolation):
            conn.execute("INSERT INTO t (id) VALUES (7001)")
        conn.execute("INSERT INTO t (id) VALUES (7000)")


def test_schedule_on_pg_cron(make_cluster, server, am):
    """Jobs of a real pg_cron, whose commands do what they should."""
    if not (server.pkglibdir / "pg_cron.so").exists():
        pytest.skip("pg_cron is not installed")
    cluster = make_cluster(
        "cron",
        **{"shared_preload_libraries": "pg_cron", "cron.database_name": "postgres"},
    )
    with cluster.connect() as conn:
        conn.execute("CREATE EXTENSION pg_cron")
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"""CREATE TABLE "a 'B'" (id int) USING {am}""")
        conn.execute("""INSERT INTO "a 'B'" SELECT generate_series(1, 900)""")
        table = """'"a ''B''"'"""
        for full in ("false", "true"):
            conn.execute(f"SELECT {am}.schedule({table}, '*/5 * * * *', {full})")
            jobs = conn.execute(
                f"SELECT relation::text, schedule, command FROM {am}.jobs"
            ).fetchall()
            assert [job[:2] for job in jobs] == [("""\"a 'B'\"""", "*/5 * * * *")]
            conn.execute(jobs[0][2])
        rows = conn.execute(
            f"SELECT sum(rows) FROM {am}.row_groups({table})"
        ).fetchone()
        assert rows == (900,)
        with pytest.raises(psycopg.Error):
            conn.execute(f"SELECT {am}.schedule({table}, 'never')")
        assert conn.execute(f"SELECT {am}.unschedule({table})").fetchone() == (True,)
        assert conn.execute(f"SELECT {am}.unschedule({table})").fetchone() == (False,)
        assert conn.execute(f"TABLE {am}.jobs").fetchall() == []
