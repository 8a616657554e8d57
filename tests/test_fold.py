"""Old deletions as bitmaps: folded by VACUUM, beside heap and beside writers."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import Counter

import psycopg
import pytest
from strata.cluster import WORKERS
from strata.threads import race_time, repeated
from strata.twin import Twin
from strata.wait import wait_until
from test_compact import statements
from test_crash import CrashDatabase, crash_database

ROWS = 30_000
FOLD = "VACUUM (INDEX_CLEANUP on) t"


@pytest.fixture
def database(make_cluster, am) -> CrashDatabase:
    return crash_database(make_cluster, am, "fold", max_prepared_transactions="5")


def entries(conn, table: str = "t") -> tuple[int, int]:
    """Deletions that are no bitmaps yet, and pieces, that the session sees."""
    toast = conn.execute(
        "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = %s::regclass", [table]
    ).fetchone()[0]
    return conn.execute(
        "SELECT count(*) FILTER (WHERE chunk_id BETWEEN 1500 AND 2499),"
        f" count(*) FILTER (WHERE chunk_id BETWEEN 2500 AND 2999) FROM {toast}"
    ).fetchone()


def check(twin: Twin, am: str) -> None:
    twin.check()
    assert twin.ours.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


@pytest.mark.parametrize("index", ["btree", "hash"])
def test_changes_and_folds_in_turn(database, rng, am, index):
    """Random changes of a table with folded rows, which heap makes, too."""
    twin = Twin(database, am)
    other = twin.session()
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
    twin.ours.execute(
        f"SELECT {am}.set_options('t', auto_compact => false, row_group_rows => 12000)"
    )
    twin.ok(f"CREATE INDEX ON t USING {index} (k)")
    twin.ok(
        f"INSERT INTO t SELECT i, i % 97, md5(i::text) FROM generate_series(1, {ROWS}) i"
    )
    folds = 0
    for turn in range(40):
        low = rng.randrange(ROWS)
        high = low + rng.choice((1, 20, 500, 9000))
        mod = rng.randrange(2, 30)
        changes = [
            f"DELETE FROM t WHERE id BETWEEN {low} AND {high} AND id % {mod} = 1",
            f"UPDATE t SET k = k + 1 WHERE id BETWEEN {low} AND {high} AND id % {mod} = 0",
            f"INSERT INTO t SELECT i, 5, 'again' FROM generate_series({low}, {high}) i"
            " ON CONFLICT (id) DO UPDATE SET k = t.k + 1, v = 'twice'",
            f"DELETE FROM t WHERE k = {rng.randrange(97)}",
        ]
        session = rng.choice((twin, other))
        ending = rng.choice(("COMMIT", "COMMIT", "ROLLBACK", None))
        if ending:
            session.ok("BEGIN")
        for change in rng.sample(changes, 2):
            if ending:
                session.ok("SAVEPOINT s")
            session.ok(change)
            if ending and rng.random() < 0.3:
                session.ok("ROLLBACK TO s")
        if rng.random() < 0.3 and ending:
            # what is in progress is not folded, what is older is
            (other if session is twin else twin).ours.execute(FOLD)
        if ending:
            session.ok(ending)
        if rng.random() < 0.5:
            twin.ours.execute(FOLD)
            tombstones, pieces = entries(twin.ours)
            assert tombstones == 0
            folds += pieces > 0
        if turn % 8 == 7:
            check(twin, am)
        if turn == 25:
            twin.ours.execute(f"CALL {am}.compact('t')")
    assert folds > 5
    check(twin, am)


def test_old_snapshots_beside_folds(database, am):
    """Each snapshot goes on to see what it saw, in heap and in ours."""
    twin = Twin(database, am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i")
    reads = [
        "SELECT count(*), sum(id) FROM t",
        "SELECT count(*), sum(id) FROM t WHERE id BETWEEN 5000 AND 5300",
    ]
    sessions = []
    for step in range(4):
        twin.ok(f"DELETE FROM t WHERE id % 11 = {step}")
        session = twin.session()
        session.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
        seen = [session.ok(read).rows for read in reads]
        sessions.append((session, seen))
        twin.ours.execute(FOLD)
        for session, seen in sessions:
            for read, rows in zip(reads, seen, strict=True):
                session.same(read)
                assert session.ok(read).rows == rows
    # one deletion is older than all of them, and only that one is folded
    tombstones, pieces = entries(twin.ours)
    assert tombstones > 0 and pieces > 0
    for session, _ in sessions:
        session.ok("COMMIT")
    twin.ours.execute(FOLD)
    assert entries(twin.ours)[0] == 0
    check(twin, am)


def test_counts_beside_folds_that_are_cancelled(database, seed, am):
    """No change is lost, and no row seen twice or not at all, whatever ends a fold."""
    rows, keys = 12_000, 3_000
    with database.connect() as conn:
        conn.execute("CREATE SCHEMA ours")
        conn.execute(f"CREATE TABLE ours.t (id int PRIMARY KEY, n int) USING {am}")
        conn.execute(
            f"INSERT INTO ours.t SELECT i, 0 FROM generate_series(1, {rows}) i"
        )
    done = Counter()

    def change_some(conn, rng) -> int:
        low = rng.randrange(2_000, 2_000 + keys)
        counted = conn.execute(
            f"UPDATE ours.t SET n = n + 1 WHERE id = {low} AND n >= 0"
        ).rowcount
        # rows go and come back, with what they had counted
        gone = conn.execute(
            f"DELETE FROM ours.t WHERE id BETWEEN {low} AND {low} + 5"
            " AND id % 3 = 0 RETURNING id, n"
        ).fetchall()
        for row in gone:
            conn.execute("INSERT INTO ours.t VALUES (%s, %s)", row)
        return counted

    def change(number: int) -> None:
        rng = random.Random(f"{seed}/{number}")
        end = time.monotonic() + race_time(6)
        with database.connect() as conn:
            while time.monotonic() < end:
                conn.execute("BEGIN")
                try:
                    counted = change_some(conn, rng)
                except psycopg.errors.DeadlockDetected:
                    counted = 0
                if counted and rng.random() < 0.8:
                    conn.execute("COMMIT")
                    done[number] += counted
                else:
                    conn.execute("ROLLBACK")

    def read(conn) -> None:
        conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        seen = {
            conn.execute(
                "SELECT count(*), count(DISTINCT id), sum(n) FROM ours.t"
            ).fetchone()
            for _ in range(3)
        }
        conn.execute("COMMIT")
        assert len(seen) == 1 and seen.pop()[:2] == (rows, rows)

    rng = random.Random(f"{seed}/fold")

    def fold(conn) -> None:
        # of the last round's timeout, which may end this statement as well
        with contextlib.suppress(psycopg.errors.QueryCanceled):
            conn.execute(f"SET statement_timeout = {rng.choice((0, 2, 5, 10, 20))}")
        try:
            conn.execute("VACUUM (INDEX_CLEANUP on) ours.t")
        except psycopg.errors.QueryCanceled:
            done["cancelled"] += 1
        else:
            done["folded"] += 1

    def load(conn) -> None:
        # so that there is a row group to fold in
        time.sleep(0.5)
        statements(f"CALL {am}.compact('ours.t')")(conn)

    writers = [threading.Thread(target=change, args=(i,)) for i in range(2)]
    with repeated(database, [read, fold, load]):
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    assert done["folded"] > 3 and done["cancelled"] > 0, done
    with database.connect() as conn:
        conn.execute("VACUUM (INDEX_CLEANUP on) ours.t")
        assert conn.execute(
            "SELECT count(*), count(DISTINCT id), sum(n) FROM ours.t"
        ).fetchone() == (rows, rows, done[0] + done[1])
        assert conn.execute(f"SELECT * FROM {am}.verify('ours.t')").fetchall() == []


def test_one_vacuum_folds_what_a_cancel_may_lose(database, am):
    """The rest is left to the next VACUUM, which need not look at the indexes again."""
    rows = 500_000
    with database.connect() as conn:
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY) USING {am}")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        conn.execute(f"INSERT INTO t SELECT generate_series(1, {rows})")
        conn.execute(f"SET {am}.enable_bulk_delete = off")  # for tombstones
        conn.execute("DELETE FROM t WHERE id % 4 <> 0")

        def index_pages() -> int:
            conn.execute("SELECT pg_stat_force_next_flush()")
            return conn.execute(
                "SELECT idx_blks_hit + idx_blks_read FROM pg_statio_user_indexes"
                " WHERE relid = 't'::regclass"
            ).fetchone()[0]

        def fold() -> tuple[int, int]:
            before = index_pages()
            conn.execute(FOLD)
            return entries(conn)[0], index_pages() - before

        tombstones, pages = fold()
        assert 50_000 < tombstones < 200_000 and pages > 500
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (rows // 4,)
        # an index that is made in between has the rows that are left
        conn.execute("CREATE INDEX ON t (id)")
        tombstones, pages = fold()
        assert tombstones == 0 and pages < 500
        conn.execute("SET enable_seqscan = off")
        assert conn.execute("SELECT count(*) FROM t WHERE id > 0").fetchone() == (
            rows // 4,
        )
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_a_crash_loses_no_deletion(database, rng, am):
    """Whatever of a fold is in WAL: tombstones or their bits."""
    twin = Twin(database, am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i")
    for crash in range(4):
        twin.ok(f"DELETE FROM t WHERE id % 13 = {crash}")
        if crash == 2:
            twin.ours.execute("CHECKPOINT")

        def fold(conn=twin.ours) -> None:
            with contextlib.suppress(psycopg.Error):
                conn.execute(FOLD)

        folding = threading.Thread(target=fold)
        folding.start()
        time.sleep(rng.random() * 0.05)
        database.cluster.crash()
        folding.join()
        twin = Twin(database, am)
        check(twin, am)
    twin.ours.execute(FOLD)
    assert entries(twin.ours)[0] == 0
    check(twin, am)


def test_prepared_deletions_are_folded_after_their_commit(database, am):
    twin = Twin(database, am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i")
    twin.ok("DELETE FROM t WHERE id % 7 = 0")
    for conn, name in ((twin.ours, "ours"), (twin.heap, "heap")):
        conn.execute("BEGIN")
        conn.execute("DELETE FROM t WHERE id % 7 = 1")
        conn.execute(f"PREPARE TRANSACTION '{name}'")
    twin.ours.execute(FOLD)
    tombstones, pieces = entries(twin.ours)
    assert (tombstones, pieces > 0) == (0, True)
    check(twin, am)
    for conn, name in ((twin.ours, "ours"), (twin.heap, "heap")):
        conn.execute(f"COMMIT PREPARED '{name}'")
    check(twin, am)
    assert entries(twin.ours)[0] > 0
    twin.ours.execute(FOLD)
    assert entries(twin.ours)[0] == 0
    check(twin, am)


def test_the_worker_folds(make_cluster, am):
    """No autovacuum, and somebody is in the way of compaction."""
    cluster = make_cluster("worker", **WORKERS)
    rows = 1_000_000
    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute(f"CREATE TABLE t (id int) USING {am}")
        conn.execute(f"INSERT INTO t SELECT generate_series(1, {rows})")
        # a tuple each: swaths would be too few to be worth it
        conn.execute(f"SET {am}.enable_bulk_delete = off")
        conn.execute("DELETE FROM t WHERE id % 16 = 0")
        with cluster.connect() as holder:
            # no row group is rewritten meanwhile
            holder.execute("BEGIN")
            holder.execute("SELECT FROM t WHERE id % 20000 = 1 FOR UPDATE")
            wait_until(lambda: entries(conn)[0] == 0, "the worker folds", 60)
            assert entries(conn)[1] > 100
            assert conn.execute(
                f"SELECT sum(deleted_rows) FROM {am}.row_groups('t')"
            ).fetchone() == (rows // 16 - 1000 // 16,)
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (rows - rows // 16,)

        # when nobody is in the way any more the table is as if loaded anew
        def tidy() -> bool:
            return conn.execute(
                f"SELECT sum(deleted_rows) < {rows} / 256 FROM {am}.row_groups('t')"
            ).fetchone()[0]

        wait_until(tidy, "the worker rewrites the row groups", 120)
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (rows - rows // 16,)
