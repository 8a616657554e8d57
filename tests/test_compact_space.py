"""Space of compacted tables: it is used again, and given back, whatever came between."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from strata.cluster import WORKERS
from strata.timing import reset_timeout
from strata.wait import wait_until
from test_compact import bulk_table, size
from test_crash import CrashDatabase, crash_database


@pytest.fixture
def database(make_cluster, am) -> CrashDatabase:
    return crash_database(make_cluster, am, "compact", full_page_writes="on")


def still_table(conn, am: str) -> Callable[[], int]:
    """As bulk_table(), and no worker comes."""
    size = bulk_table(conn, am)
    conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
    return size


def test_snapshots_know_of_a_vacuum_that_waits_to_cut_off(db, am):
    """It has a transaction id by then, with which it writes later: a snapshot that took
    that for ended would call rolled back what VACUUM commits."""
    with db.connect() as conn, db.connect() as reader, db.connect() as vacuum:
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        conn.execute("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 20000) i")
        for _ in range(20):  # few enough rows for the delta
            conn.execute(
                "INSERT INTO t SELECT -i, repeat('y', 900) FROM generate_series(1, 900) i"
            )
        conn.execute("VACUUM t")  # so that the next one writes nothing before
        conn.execute("DELETE FROM t WHERE id < 0")
        reader.execute("BEGIN")
        reader.execute("SELECT FROM t LIMIT 1")
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(vacuum.execute, "VACUUM t")
            pid = vacuum.info.backend_pid
            asks = f"SELECT backend_xid::text FROM pg_stat_activity WHERE pid = {pid}"
            wait_until(lambda: conn.execute(asks).fetchone() != (None,), "an id")
            xid = conn.execute(asks).fetchone()[0]
            conn.execute("SELECT pg_current_xact_id()")  # a later one, committed
            ended = conn.execute(
                "SELECT pg_visible_in_snapshot(%s::xid8, pg_current_snapshot())", (xid,)
            ).fetchone()
            running = not done.done()
            reader.execute("COMMIT")
            done.result()
        assert running
        assert ended == (False,)


@pytest.mark.slow
def test_space_is_used_again_and_given_back(database, am):
    """Rounds of updates, compaction and VACUUM; then everything is deleted."""
    with database.connect() as conn:
        size = still_table(conn, am)
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("VACUUM t")
        fresh, largest = size(), 0
        for n in range(40):
            conn.execute(f"UPDATE t SET v = md5(v), k = k + 1 WHERE id % 50 = {n % 50}")
            conn.execute(f"CALL {am}.compact('t')")
            conn.execute("VACUUM t")
            largest = max(largest, size())
        assert largest < 1.5 * fresh, f"{largest / fresh:.2f} times the fresh size"
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (100000,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []

        conn.execute("DELETE FROM t")
        conn.execute("VACUUM t")
        assert size() <= 2 * 8192
        conn.execute("INSERT INTO t SELECT i, 'x', 0 FROM generate_series(1, 20000) i")
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (20000,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_merge_puts_groups_where_those_were_that_it_replaced(database, am):
    """Of a table without an order: all groups are rewritten, one after another."""
    with database.connect() as conn:
        size = bulk_table(conn, am)
        conn.execute("VACUUM t")
        fresh = size()
        conn.execute("DELETE FROM t WHERE id % 20 = 0")
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("VACUUM t")
        assert size() < 1.2 * fresh, f"{size() / fresh:.2f} times the fresh size"
        assert conn.execute("SELECT count(*), sum(id) FROM t").fetchone() == (
            95000,
            sum(i for i in range(1, 100001) if i % 20),
        )
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


@pytest.mark.slow
def test_pages_that_merge_keeps_rows_away_from_are_offered_again(database, am):
    """By the next VACUUM; merge hides them, so that the file can be cut off soon."""
    few = 10  # that stay for rows
    offered = "SELECT count(*) FROM pg_freespace('t') WHERE avail > 0"
    with database.connect() as conn, database.connect() as reader:
        conn.execute("CREATE EXTENSION pg_freespacemap")
        conn.execute(
            "CREATE TABLE t WITH (autovacuum_enabled = off) AS"
            " SELECT i, md5(i::text) AS v FROM generate_series(1, 60000) i"
        )
        conn.execute(f"SELECT {am}.adopt('t')")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        reader.execute("BEGIN")
        reader.execute("LOCK TABLE t IN ACCESS SHARE MODE")  # it cannot be cut off now
        conn.execute(f"CALL {am}.merge('t')")
        assert conn.execute(offered).fetchone()[0] < few
        conn.execute("VACUUM (TRUNCATE off) t")
        assert conn.execute(offered).fetchone()[0] > 100
        reader.execute("COMMIT")
        conn.execute("VACUUM t")
        assert conn.execute(offered).fetchone()[0] < few
        assert conn.execute("SELECT count(*), sum(i) FROM t").fetchone() == (
            60_000,
            30_000 * 60_001,
        )


def pages_read(conn, query: str) -> int:
    """Pages that the statement looks at, found in memory or read."""
    [plan] = conn.execute(
        f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}"
    ).fetchone()[0]
    return plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]


def test_scans_pass_over_free_extents(database, am):
    """But not over what is there for their snapshot, nor what comes there for it."""
    query = "SELECT count(*), sum(id), max(v) FROM t WHERE k >= 0"
    with database.connect() as conn, database.connect() as old:
        size = still_table(conn, am)
        conn.execute("INSERT INTO t VALUES (0, 'delta', 0)")
        conn.execute("DELETE FROM t WHERE id BETWEEN 1 AND 80000")
        conn.execute("VACUUM t")
        conn.execute("VACUUM t")
        pages = size() // 8192
        assert pages_read(conn, query) < pages / 2
        conn.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        assert pages_read(conn, query) > pages * 0.8
        conn.execute("ROLLBACK")

        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        before = old.execute(query).fetchone()
        assert before[0] == 20001
        conn.execute(
            "INSERT INTO t SELECT i, md5(i::text), 1 FROM generate_series(1, 40000) i"
        )
        assert size() // 8192 < pages + 8, "the free extents were not used"
        assert old.execute(query).fetchone() == before
        assert conn.execute(query).fetchone()[0] == 60001
        old.execute("ROLLBACK")

        # the end of the file is cut off and becomes pages of the delta
        conn.execute("DELETE FROM t")
        conn.execute("VACUUM t")
        conn.execute("VACUUM t")
        assert size() // 8192 < pages / 2
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert old.execute(query).fetchone()[0] == 0
        for n in range(20):
            conn.execute(
                "INSERT INTO t SELECT i, repeat(md5(i::text), 20), 1"
                f" FROM generate_series({n} * 500 + 1, {n} * 500 + 500) i"
            )
        assert conn.execute(query).fetchone()[0] == 10000
        assert old.execute(query).fetchone()[0] == 0
        old.execute("ROLLBACK")
        assert old.execute(query).fetchone()[0] == 10000


def test_scans_find_own_rows_where_the_file_was_cut(database, am):
    """Although the snapshot still sees an entry that says the pages are free."""
    with database.connect() as conn, database.connect() as old:
        size = still_table(conn, am)
        conn.execute("DELETE FROM t")
        conn.execute("VACUUM (TRUNCATE off) t")
        conn.execute("VACUUM (TRUNCATE off) t")
        pages = size() // 8192
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT count(*) FROM pg_class")
        conn.execute(
            "INSERT INTO t SELECT i, md5(i::text), 1 FROM generate_series(1, 11000) i"
        )
        conn.execute("VACUUM t")
        assert size() // 8192 < pages / 2, "the file was not cut off"
        for n in range(20):
            old.execute(
                "INSERT INTO t SELECT i, repeat(md5(i::text), 20), 1"
                f" FROM generate_series({n} * 500 + 20001, {n} * 500 + 20500) i"
            )
        assert old.execute("SELECT count(*), min(id) FROM t").fetchone() == (
            10000,
            20001,
        )
        assert old.execute("UPDATE t SET k = 2").rowcount == 10000
        old.execute("COMMIT")
        assert conn.execute("SELECT count(*) FROM t WHERE k = 2").fetchone() == (10000,)


def test_images_of_the_delta_come_before_its_rows_are_deleted(database, am):
    """Writers wait for the WAL of all these deletions at once: it has no page in it."""
    with database.connect() as conn:
        conn.execute("CREATE EXTENSION pg_walinspect")
        conn.execute(
            "CREATE TABLE t WITH (autovacuum_enabled = off) AS"
            " SELECT i, md5(i::text) AS v FROM generate_series(1, 20000) i"
        )
        conn.execute(f"SELECT {am}.adopt('t')")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        conn.execute("VACUUM t")  # and no hint bit is left to be set
        conn.execute("CHECKPOINT")
        start = conn.execute("SELECT pg_current_wal_lsn()").fetchone()[0]
        conn.execute(f"CALL {am}.merge('t')")
        deletions, images = conn.execute(
            "SELECT count(*), sum(fpi_length)"
            " FROM pg_get_wal_records_info(%s, pg_current_wal_flush_lsn())"
            " WHERE resource_manager = 'Heap' AND record_type ~ 'DELETE|LOCK'",
            [start],
        ).fetchone()
        assert deletions >= 20_000
        assert images < 10 * 8192  # of the TOAST relation


@pytest.mark.slow
def test_merge_ends_what_writers_kept_one_before_from(database, am):
    """Free extents near the end are enough, but only the front makes the file short."""
    with database.connect() as conn, database.connect() as merging:
        conn.execute(
            "CREATE TABLE t WITH (autovacuum_enabled = off) AS SELECT i,"
            " md5(i::text) || md5((i + 1)::text) || md5((i + 2)::text) AS v"
            " FROM generate_series(1, 20000) i"
        )
        conn.execute("CREATE UNIQUE INDEX ON t (i)")
        conn.execute(f"SELECT {am}.adopt('t')")
        conn.execute(
            f"SELECT {am}.set_options('t', auto_compact => false, row_group_rows => 2000)"
        )
        merging.execute("SET vacuum_cost_delay = 1; SET vacuum_cost_limit = 50")
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(merging.execute, f"CALL {am}.merge('t')")
            key = 0
            while not call.done():
                key = (key + 7919) % 20000
                conn.execute("UPDATE t SET v = v WHERE i = %s", [key + 1])
            call.result()
        conn.execute(f"CALL {am}.merge('t')")
        size = conn.execute("SELECT pg_relation_size('t')").fetchone()[0]
        conn.execute(f"CREATE TABLE fresh USING {am} AS SELECT * FROM t")
        fresh = conn.execute("SELECT pg_relation_size('fresh')").fetchone()[0]
        assert size < 1.5 * fresh, f"{size / fresh:.2f} times the fresh size"
        assert conn.execute("SELECT count(*), sum(i) FROM t").fetchone() == (
            20_000,
            10_000 * 20_001,
        )
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


class Watched:
    """The file of t while a merge is at work."""

    def __init__(self, database: CrashDatabase, am: str) -> None:
        self.database = database
        self.am = am
        self.seen: list[tuple[int, int | None]] = []  # bytes; rows moved by steps
        self._ends = threading.Event()

    def __enter__(self) -> Watched:
        self._pool = ThreadPoolExecutor(1)
        self._task = self._pool.submit(self._look)
        return self

    def __exit__(self, *_) -> None:
        self._ends.set()
        self._pool.shutdown()
        self._task.result()

    def _look(self) -> None:
        with self.database.connect() as conn:
            while not self._ends.wait(0.02):
                self.seen.append(
                    conn.execute(
                        "SELECT pg_relation_size('t'),"
                        f" (SELECT max(delta_rows) FROM {self.am}.compact_progress)"
                    ).fetchone()
                )

    def moved(self) -> int:
        """How many rows have been moved so far."""
        return max((moved or 0 for _, moved in self.seen), default=0)

    def moved_before(self, size: float) -> int:
        """How many rows had been moved when the file was seen to be that short."""
        most = 0
        for now, moved in self.seen:
            most = max(most, moved or 0)
            if now < size:
                return most
        raise AssertionError(f"the file was never seen to be shorter than {size}")


# Values that row groups take a seventh of, and hardly any place for.
HASHES = (
    "(SELECT string_agg(repeat(md5(i || '.' || j), 4), '')"
    " FROM generate_series(1, 14) j)"
)
ONE_HASH = "repeat(md5(i::text), 55)"
# Values that row groups store as they are.
NOISE = (
    "(SELECT string_agg(sha256((i || '.' || j)::text::bytea), '')"
    " FROM generate_series(1, 55) j)"
)


def adopted_table(conn, am: str, rows: int, value: str) -> int:
    """Table t, all of whose rows were heap's; returns the bytes of its file."""
    conn.execute(
        "CREATE TABLE t WITH (autovacuum_enabled = off) AS"
        f" SELECT i, 0 AS n, {value} AS v"
        f" FROM generate_series(1, {rows}) i"
    )
    conn.execute("ALTER TABLE t ALTER v SET STORAGE MAIN, ADD PRIMARY KEY (i)")
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(
        f"SELECT {am}.set_options('t', auto_compact => false, row_group_rows => 5000)"
    )
    return conn.execute("SELECT pg_relation_size('t')").fetchone()[0]


def check_rows(conn, rows: int, updates: int) -> None:
    """Is each row of adopted_table() there once, and each update of n?"""
    found = conn.execute("SELECT count(*), sum(i), sum(n) FROM t").fetchone()
    assert found == (rows, rows * (rows + 1) // 2, updates)


def check_table(conn, am: str, rows: int, updates: int) -> None:
    check_rows(conn, rows, updates)
    assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


@pytest.mark.slow
def test_merge_cuts_the_file_off_before_most_rows_are_moved(database, am):
    """Indexes grow with the rows that are moved, so disks need room for less."""
    rows = 60_000
    with database.connect() as conn:
        heap = adopted_table(conn, am, rows, HASHES)
        with Watched(database, am) as watched:
            conn.execute(f"CALL {am}.merge('t')")
        assert watched.moved_before(0.85 * heap) < 0.75 * rows
        assert max(now for now, _ in watched.seen) < 1.05 * heap
        assert conn.execute("SELECT pg_relation_size('t')").fetchone()[0] < 0.3 * heap
        check_table(conn, am, rows, 0)


@pytest.mark.slow
def test_merge_of_values_that_do_not_compress(database, am):
    """The end of the delta finds no room before it, and is taken in its turn."""
    rows = 40_000
    with database.connect() as conn:
        heap = adopted_table(conn, am, rows, NOISE)
        with Watched(database, am) as watched:
            conn.execute(f"CALL {am}.merge('t')")
        assert min(now for now, _ in watched.seen) > 0.85 * heap
        # the first VACUUM comes when 64 MB have been moved
        assert max(now for now, _ in watched.seen) < heap + (80 << 20)
        check_table(conn, am, rows, 0)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["old snapshot", "cancel"])
def test_merge_is_disturbed_while_the_end_goes_first(database, am, how):
    """By a snapshot for which nothing becomes free, and by a cancel."""
    rows = 60_000
    with database.connect() as conn, database.connect() as other:
        heap = adopted_table(conn, am, rows, HASHES)
        pid = conn.info.backend_pid
        with ThreadPoolExecutor(1) as pool, Watched(database, am) as watched:
            merge = pool.submit(conn.execute, f"CALL {am}.merge('t')")
            # a sixteenth are the first rows; at most a quarter more are the last ones
            wait_until(
                lambda: watched.moved() > rows / 8 or merge.done(), "rows to be moved"
            )
            assert not merge.done()
            if how == "cancel":
                other.execute("SELECT pg_cancel_backend(%s)", [pid])
                with pytest.raises(psycopg.errors.QueryCanceled):
                    merge.result()
            else:
                other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
                check_rows(other, rows, 0)
                merge.result()
                check_rows(other, rows, 0)
                other.execute("COMMIT")
        check_table(conn, am, rows, 0)
        conn.execute("VACUUM t")
        conn.execute("UPDATE t SET n = 1 WHERE i % 100 = 0")
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
        conn.execute(f"CALL {am}.merge('t')")
        assert conn.execute("SELECT pg_relation_size('t')").fetchone()[0] < 0.3 * heap
        check_table(conn, am, rows, rows // 100)


@pytest.mark.slow
def test_merge_beside_writers_makes_the_file_short(database, am):
    """Early and in the end, though they write to pages all over the delta."""
    rows = 60_000
    ends = threading.Event()

    def write(seed: int) -> int:
        keys = random.Random(seed)
        done = 0
        with database.connect() as conn:
            while not ends.is_set():
                conn.execute(
                    "UPDATE t SET n = n + 1 WHERE i = %s", [keys.randint(1, rows)]
                )
                done += 1
                time.sleep(0.002)
        return done

    def linger() -> None:
        """Transactions that keep for a moment what was freed from being used."""
        with database.connect() as conn:
            while not ends.is_set():
                conn.execute("SELECT txid_current(), pg_sleep(0.05)")
                time.sleep(0.01)

    with database.connect() as conn:
        heap = adopted_table(conn, am, rows, ONE_HASH)
        conn.execute("SET vacuum_cost_delay = '0.5ms'; SET vacuum_cost_limit = 100")
        with ThreadPoolExecutor(3) as pool:
            writers = [pool.submit(write, seed) for seed in range(2)]
            lingers = pool.submit(linger)
            try:
                time.sleep(1)
                with Watched(database, am) as watched:
                    conn.execute(f"CALL {am}.merge('t')")
            finally:
                ends.set()
            lingers.result()
            done = sum(writer.result() for writer in writers)
        short = conn.execute("SELECT pg_relation_size('t')").fetchone()[0]
        assert short < 0.5 * heap, f"{short / heap:.2f} of heap's after {done} updates"
        assert watched.moved_before(0.95 * heap) < 0.75 * rows
        check_table(conn, am, rows, done)


@pytest.mark.slow
def test_merge_alone_brings_the_size_of_a_fresh_table_back(database, am):
    """It runs VACUUM, but in no transaction but its own."""
    with database.connect() as conn, database.connect() as old:
        bulk_table(conn, am)
        conn.execute("VACUUM t")

        def size() -> int:
            return conn.execute("SELECT pg_table_size('t')").fetchone()[0]

        fresh = size()
        calls = {
            f"CALL {am}.merge('t')": 1.12,  # but for a row group
            f"DO $$ BEGIN CALL {am}.merge('t'); END $$": 3,
            f"SET lock_timeout = 0; CALL {am}.merge('t')": None,
        }
        for number, (call, limit) in enumerate(calls.items()):
            for low in range(0, 100_000, 10_000):  # small commands write to the delta
                conn.execute(
                    f"UPDATE t SET k = k + 1 WHERE id % 10 = {number}"
                    f" AND id BETWEEN {low + 1} AND {low + 10_000}"
                )
            assert size() > 1.2 * fresh
            if limit is None:
                with pytest.raises(psycopg.errors.ActiveSqlTransaction):
                    conn.execute(call)
                continue
            conn.execute(call)
            assert size() < limit * fresh, call
            if limit > 2:
                assert size() > 1.2 * fresh, call
        # what an old snapshot needs stays, and is there
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert old.execute("SELECT sum(k) FROM t").fetchone() == (4980000,)
        conn.execute("UPDATE t SET k = k + 1 WHERE id % 10 = 5")
        conn.execute(f"CALL {am}.merge('t')")
        assert old.execute("SELECT sum(k) FROM t").fetchone() == (4980000,)
        old.execute("COMMIT")
        conn.execute("DELETE FROM t WHERE id % 10 = 6")
        conn.execute(f"CALL {am}.merge('t')")
        assert size() < 1.12 * fresh
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (90000,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_vacuum_beside_a_load_that_fails_loses_no_space(database, am):
    """VACUUM does not take the pages for settled, though the descriptor goes before the next."""
    with database.connect() as conn, database.connect() as loader:
        conn.execute(f"CREATE TABLE t (i int, v text) USING {am}")
        conn.execute(
            "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 5000) i"
        )
        conn.execute("VACUUM t")
        before = size(conn)
        loader.execute("BEGIN")
        loader.execute(
            "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(5001, 25000) i"
        )
        loader.execute("SELECT count(*) FROM t")
        conn.execute("VACUUM (TRUNCATE off) t")
        loader.execute("ROLLBACK")
        toast = conn.execute(
            "SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = 't'"
        ).fetchone()[0]
        conn.execute(f"VACUUM {toast}")
        for _ in range(2):
            conn.execute("VACUUM t")
        assert size(conn) <= before


def load_through_delta(conn, rows: int) -> None:
    """Commands of few rows each, in one transaction."""
    conn.execute(
        "DO $$ BEGIN FOR i IN 0.." + str(rows // 900 - 1) + " LOOP"
        " INSERT INTO t SELECT i * 900 + g, md5((i * 900 + g)::text), g"
        " FROM generate_series(1, 900) g; END LOOP; END $$"
    )


def test_table_shrinks_whose_rows_came_through_the_delta(database, am):
    """Empty pages of the delta become places for row groups."""
    with database.connect() as conn, database.connect() as old:
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, v text, k int) USING {am}")
        conn.execute(f"CREATE TABLE fresh (id int, v text, k int) USING {am}")
        load_through_delta(conn, 45000)
        conn.execute("INSERT INTO fresh TABLE t")
        before = conn.execute("TABLE fresh ORDER BY id").fetchall()
        assert size(conn) > 1.5 * size(conn, "fresh")

        # who has an old snapshot goes on reading the pages of the delta
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        assert old.execute("SELECT count(*) FROM fresh").fetchone() == (45000,)
        for _ in range(2):
            conn.execute(f"CALL {am}.merge('t')")
            conn.execute("VACUUM t")
        assert old.execute("TABLE t ORDER BY id").fetchall() == before
        old.execute("COMMIT")

        conn.execute("VACUUM t")
        # new rows of the delta, while free extents wait among its pages
        conn.execute(
            "INSERT INTO t SELECT 45000 + i, 'late', i FROM generate_series(1, 500) i"
        )
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("VACUUM t")
        assert size(conn) < 1.2 * size(conn, "fresh")
        conn.execute("DELETE FROM t WHERE id > 45000")
        assert conn.execute("TABLE t ORDER BY id").fetchall() == before
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []

        # nothing is left, also of a table that never had a row group
        conn.execute(f"CREATE TABLE small (id int, v text) USING {am}")
        conn.execute(
            "INSERT INTO small SELECT i, repeat('v', 500) FROM generate_series(1, 900) i"
        )
        conn.execute("DELETE FROM small")
        conn.execute("VACUUM small")
        assert size(conn, "small") <= 2 * 8192


def test_pages_of_a_killed_vacuum_are_found_again(database, rng, am):
    """kill -9 while VACUUM makes extents of empty pages: none is lost."""
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, v text, k int) USING {am}")
        load_through_delta(conn, 45000)
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute("CHECKPOINT")

    def vacuum() -> None:
        with contextlib.suppress(psycopg.Error), database.connect() as conn:
            while True:
                conn.execute("VACUUM t")

    for _ in range(3):
        thread = threading.Thread(target=vacuum)
        thread.start()
        time.sleep(rng.random() * 0.3)
        database.cluster.kill()
        thread.join()
        database.cluster.start()
    with database.connect() as conn:
        for _ in range(2):
            conn.execute("VACUUM t")
            conn.execute(f"CALL {am}.merge('t')")
        conn.execute("VACUUM t")
        conn.execute(f"CREATE TABLE fresh (LIKE t) USING {am}")
        conn.execute("INSERT INTO fresh TABLE t")
        assert size(conn) < 1.2 * size(conn, "fresh")
        assert conn.execute("SELECT count(*), sum(id) FROM t").fetchone() == (
            45000,
            45000 * 45001 // 2,
        )
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_cut_of_the_file_outlives_the_vacuum_that_made_it(database, am):
    """VACUUM is cancelled behind the cut: no free extent is where no file is."""
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
        conn.execute(f"SELECT {am}.set_options('t', row_group_rows => 2000)")

        def insert(first: int, last: int) -> None:
            conn.execute(
                "INSERT INTO t SELECT i, md5(i::text) || md5((-i)::text)"
                f" FROM generate_series({first}, {last}) i"
            )

        conn.execute(
            "INSERT INTO t SELECT -i, repeat('delta', 100) FROM generate_series(1, 900) i"
        )
        insert(1, 8000)
        # Two free extents at the end, the first one from an earlier VACUUM.
        conn.execute("DELETE FROM t WHERE id BETWEEN 5001 AND 7000")
        conn.execute("VACUUM t")
        conn.execute("DELETE FROM t WHERE id > 7000")
        path = (
            database.cluster.data
            / (conn.execute("SELECT pg_relation_filepath('t')").fetchone()[0])
        )
        before = path.stat().st_size
        pids, errors = [], []

        def vacuum() -> None:
            with database.connect() as other:
                pids.append(other.info.backend_pid)
                # Slow behind the cut, where it counts rows of the delta.
                other.execute("SET vacuum_cost_delay = 20")
                other.execute("SET vacuum_cost_limit = 1")
                try:
                    other.execute("VACUUM t")
                except psycopg.errors.QueryCanceled as error:
                    errors.append(error)

        thread = threading.Thread(target=vacuum)
        thread.start()
        while thread.is_alive() and path.stat().st_size == before:
            time.sleep(0.001)
        conn.execute("SELECT pg_cancel_backend(%s)", [pids[0]])
        thread.join()
        assert errors, "VACUUM was done before it could be cancelled"
        assert path.stat().st_size < before

        # The file grows again, then small groups look for a free extent.
        insert(10001, 14000)
        for first in (20001, 22001):
            insert(first, first + 1499)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
        assert conn.execute(
            "SELECT count(*), sum(id) FROM t WHERE id > 0"
        ).fetchone() == (
            12000,
            sum(range(1, 5001)) + sum(range(10001, 14001))
            + sum(range(20001, 21501)) + sum(range(22001, 23501)),
        )  # fmt: skip
        assert conn.execute(
            "SELECT count(*) FROM t"
            " WHERE v <> md5(id::text) || md5((-id)::text) AND id > 0"
        ).fetchone() == (0,)


@pytest.mark.slow
def test_one_merge_brings_all_space_back(make_cluster, rng, am):
    """Whatever came before it: workers, old snapshots, cancels, rolled-back loads."""
    cluster = make_cluster("space", **WORKERS)
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int, day date, k int, v text) USING {am}")
        conn.execute(
            f"SELECT {am}.set_options('t', orderby => 'day', row_group_rows => 10000)"
        )
        conn.execute("CREATE TABLE twin (LIKE t)")
        top = 0

        def load(rows: int) -> list[str]:
            return [
                f"INSERT INTO {table} SELECT i, date '2024-01-01' + i % 365, i % 50,"
                f" md5(i::text) FROM generate_series({top + 1}, {top + rows}) i"
                for table in ("t", "twin")
            ]

        def both(statements: list[str]) -> None:
            with conn.transaction():
                for statement in statements:
                    conn.execute(statement)

        def cancelled(statement: str) -> None:
            conn.execute(f"SET statement_timeout = {rng.randint(20, 300)}")
            with contextlib.suppress(psycopg.errors.QueryCanceled):
                conn.execute(statement)
            reset_timeout(conn)

        both(load(150_000))
        top += 150_000
        for _ in range(10):
            with cluster.connect() as old:
                if rng.random() < 0.3:
                    old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
                kind = rng.choice(
                    ["update", "delete", "load", "rollback", "cancel", "merge", "rest"]
                )
                n = rng.randint(5, 40)
                if kind == "update":
                    both(
                        [
                            f"UPDATE {x} SET k = k + 1 WHERE id % {n} = 1"
                            for x in ("t", "twin")
                        ]
                    )
                elif kind == "delete":
                    both([f"DELETE FROM {x} WHERE id % {n} = 2" for x in ("t", "twin")])
                elif kind == "load":
                    both(load(20_000))
                    top += 20_000
                elif kind == "rollback":
                    with conn.transaction(force_rollback=True):
                        conn.execute(load(50_000)[0])
                elif kind == "cancel":
                    # an UPDATE that ended in time has changed v as the twin's
                    cancelled("UPDATE t SET v = v || ''")
                elif kind == "merge":
                    cancelled(f"CALL {am}.merge('t')")
                else:
                    time.sleep(1)
        conn.execute(f"CALL {am}.merge('t')")
        conn.execute(f"CREATE TABLE fresh (LIKE t) USING {am}")
        conn.execute(
            f"SELECT {am}.set_options('fresh', orderby => 'day', row_group_rows => 10000)"
        )
        conn.execute("INSERT INTO fresh TABLE twin")
        conn.execute(f"CALL {am}.merge('fresh')")
        # a hole is shorter than a row group
        group = conn.execute(
            f"SELECT max(pages) FROM {am}.row_groups('fresh')"
        ).fetchone()[0]
        assert size(conn) <= 1.1 * size(conn, "fresh") + 8192 * group
        for one, other in (("t", "twin"), ("twin", "t")):
            assert conn.execute(
                f"SELECT count(*) FROM (TABLE {one} EXCEPT ALL TABLE {other}) d"
            ).fetchone() == (0,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
