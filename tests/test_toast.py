"""The TOAST relation, where visibility tuples live: its size, its index.

merge writes it anew when it is mostly free (common/pg/compact/st_toast_pack.c).
"""

from __future__ import annotations

import contextlib
import threading
import time

import psycopg
import pytest
from strata import replica
from strata.threads import race_time, repeated
from strata.twin import PLANS, Session, Twin, settings
from strata.wait import wait_until

BULK = 15_000

# Access method of the tests on clusters of their own.
AM = "colcompress"

# Pages that a TOAST relation of few entries may have, its index included.
FEW = 12

# Free pages that are not worth a copy.
NOT_WORTH_IT = 16


class OwnDatabase:
    """What a Twin needs, on a cluster of the test's own."""

    def __init__(self, cluster, name: str = "toast") -> None:
        self.cluster = cluster
        self.name = name

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)


def make_database(cluster, am: str) -> OwnDatabase:
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE toast")
    with cluster.connect("toast") as conn:
        conn.execute(f"CREATE EXTENSION {am}")
    return OwnDatabase(cluster)


def toast_of(conn, table: str = "ours.t") -> tuple[str, str]:
    """The TOAST relation and its index."""
    return conn.execute(
        "SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text"
        " FROM pg_class c JOIN pg_index i ON i.indrelid = c.reltoastrelid"
        " WHERE c.oid = %s::regclass",
        [table],
    ).fetchone()


def toast_pages(conn, table: str = "ours.t") -> int:
    return sum(
        conn.execute("SELECT pg_relation_size(%s) / 8192", [name]).fetchone()[0]
        for name in toast_of(conn, table)
    )


def check_toast(conn, table: str = "ours.t") -> None:
    """The TOAST relation as amcheck sees it."""
    conn.execute("CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public")
    toast, index = toast_of(conn, table)
    conn.execute("SELECT public.bt_index_parent_check(%s, true, true)", [index])
    assert (
        conn.execute("SELECT * FROM public.verify_heapam(%s)", [toast]).fetchall() == []
    )


def load(twin: Twin) -> None:
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
    twin.ok("CREATE INDEX ON t (k)")
    twin.ok(
        f"INSERT INTO t SELECT i, i % 50, 'row ' || i FROM generate_series(1, {BULK}) i"
    )
    twin.ours.execute("VACUUM t")


def churn(twin: Twin, remainder: int = 0) -> None:
    """By commands that are small enough for a tombstone of each row."""
    for low in range(0, BULK + 1, 5000):
        twin.ok(
            f"UPDATE t SET k = k + 1 WHERE id % 3 = {remainder}"
            f" AND id BETWEEN {low} AND {low + 4999}"
        )
    twin.ok(f"DELETE FROM t WHERE id % 20 = {remainder}")


def lock_rows(twin: Twin) -> None:
    """An entry for each: VACUUM removes them, but leaves their index as large."""
    twin.ok("CREATE TABLE c (id int REFERENCES t)")
    twin.ok("INSERT INTO c SELECT id FROM t")
    twin.ok("DROP TABLE c")


def vacuum_and_merge(twin: Twin, table: str = "t") -> None:
    """VACUUM removes what nobody needs, merge packs what is left."""
    twin.ours.execute(f"VACUUM {table}")
    twin.ours.execute(f"CALL {twin.am}.merge('{table}')")


@pytest.fixture
def t(twin):
    load(twin)
    return twin


def test_what_a_step_has_set_is_not_left_to_the_caller(t):
    """Not even by the last step, which cannot pack beside a reader."""
    lock_rows(t)
    t.ours.execute("VACUUM t")
    t.ours.execute("CREATE TABLE seen (name text, setting text)")
    names = "('synchronous_commit'), ('transaction_isolation')"
    before = t.ours.execute(
        f"SELECT n, current_setting(n) FROM (VALUES {names}) v (n)"
    ).fetchall()
    with t.database.connect() as reader:
        reader.execute("BEGIN")
        reader.execute(f"SELECT count(*) FROM {toast_of(t.ours)[0]}")
        pages = toast_pages(t.ours)
        t.ours.execute(
            f"DO $$ BEGIN CALL {t.am}.merge('t'); INSERT INTO seen"
            f" SELECT n, current_setting(n) FROM (VALUES {names}) v (n); END $$"
        )
        assert toast_pages(t.ours) == pages
        reader.execute("COMMIT")
    assert t.ours.execute("SELECT * FROM seen").fetchall() == before
    t.ours.execute(f"CALL {t.am}.merge('t')")
    assert toast_pages(t.ours) < pages


def test_shrinks_after_update_and_compaction(t):
    assert toast_pages(t.ours) <= FEW
    for remainder in (0, 1):
        churn(t, remainder)
        assert toast_pages(t.ours) > 40
        vacuum_and_merge(t)
        # VACUUM has folded the tombstones, so that little is left to pack
        assert toast_pages(t.ours) <= FEW + NOT_WORTH_IT
        check_toast(t.ours)
        t.check()
    t.ok(f"INSERT INTO t VALUES ({BULK + 1}, 1, 'delta')")
    t.fails("23505", "INSERT INTO t SELECT id, 1, 'x' FROM t WHERE id = 2")
    t.check()


def test_shrinks_after_foreign_key_checks(t):
    before = toast_pages(t.ours)
    t.ok("CREATE TABLE c (id int REFERENCES t)")
    t.ok("INSERT INTO c SELECT id FROM t")
    assert toast_pages(t.ours) > before + 60
    vacuum_and_merge(t)
    assert toast_pages(t.ours) == before
    check_toast(t.ours)
    t.fails("23503", "DELETE FROM t WHERE id = 5")
    t.check()


def test_tombstones_and_locks_move_along(t):
    """What is live in the TOAST relation is what it was, locks included."""
    other = t.session()
    old = t.session()
    # VACUUM would wait for the locks of others, to cut the file off
    t.ours.execute("ALTER TABLE t SET (vacuum_truncate = off)")
    # Many entries that go, and every hundredth a tombstone that stays.
    t.ok("CREATE TABLE c (id int REFERENCES t)")
    t.ok("INSERT INTO c SELECT id FROM t")
    t.ok("TRUNCATE c")
    t.ok("DELETE FROM t WHERE id % 100 = 1")
    t.ours.execute("VACUUM (PROCESS_TOAST false) t")
    pages = toast_pages(t.ours)
    old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.ok("SELECT count(*) FROM pg_am")
    t.ok("DELETE FROM t WHERE id % 100 = 2")

    # Not while anybody is at work there.
    other.ok("BEGIN")
    other.ok("SELECT id FROM t WHERE id = 5003 FOR UPDATE")
    t.ours.execute("SET lock_timeout = '10s'")
    vacuum_and_merge(t)
    assert toast_pages(t.ours) > pages / 3
    t.fails("55P03", "SELECT id FROM t WHERE id = 5003 FOR UPDATE NOWAIT")
    other.ok("COMMIT")

    vacuum_and_merge(t)
    assert toast_pages(t.ours) < pages / 4
    check_toast(t.ours)
    old.check()
    t.check()
    old.ok("COMMIT")
    t.ok("UPDATE t SET v = 'again' WHERE id % 100 = 3")
    t.check()


def test_unlogged_and_temporary_tables(t):
    for kind in ("UNLOGGED", "TEMP"):
        name = kind.lower()
        t.ok(f"CREATE {kind} TABLE {name} (id int PRIMARY KEY)")
        t.ok(f"INSERT INTO {name} SELECT generate_series(1, {BULK})")
        t.ok(f"CREATE {kind} TABLE c_{name} (id int REFERENCES {name})")
        t.ok(f"INSERT INTO c_{name} SELECT id FROM {name}")
        assert toast_pages(t.ours, name) > 60
        vacuum_and_merge(t, name)
        assert toast_pages(t.ours, name) <= FEW
        check_toast(t.ours, name)
        t.check(name)


def test_an_invalid_index_is_left_alone(t):
    """What a REINDEX CONCURRENTLY that failed leaves would not be rebuilt."""
    other = t.session()
    other.ok("BEGIN")
    other.ok("DELETE FROM t WHERE id = 5001")
    t.ours.execute("SET lock_timeout = '300ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        t.ours.execute(f"REINDEX INDEX CONCURRENTLY {toast_of(t.ours)[1]}")
    other.ok("ROLLBACK")
    t.ours.execute("RESET lock_timeout")
    t.ok("CREATE TABLE c (id int REFERENCES t)")
    t.ok("INSERT INTO c SELECT id FROM t")
    vacuum_and_merge(t)
    assert toast_pages(t.ours) > 30
    t.check()


def test_index_swapped_under_readers_and_writers(t, db):
    """REINDEX CONCURRENTLY swaps the index that is being opened."""
    numbers = iter(range(1, 10**9))

    def point(conn):
        i = next(numbers) % BULK + 1
        with conn.transaction():
            # A lock on the relation from before makes its list of indexes stale.
            conn.execute("SELECT v FROM ours.t WHERE id = %s", [i])
            conn.execute("SELECT count(*) FROM ours.t WHERE k = %s", [i % 50])

    def change(conn):
        i = next(numbers) % BULK + 1
        conn.execute("UPDATE ours.t SET v = v WHERE id = %s", [i])

    def vacuum(conn):
        conn.execute("VACUUM ours.t")

    index = toast_of(t.ours)[1]
    with repeated(db, [point, point, change, vacuum]) as stop:
        end = time.monotonic() + race_time(4)
        while time.monotonic() < end and not stop.is_set():
            t.ours.execute(f"REINDEX INDEX CONCURRENTLY {index}")
    check_toast(t.ours)
    t.check()


class Reindex:
    """REINDEX CONCURRENTLY of the index of the TOAST relation of ours.t, a
    step at a time.  Where it waits for transactions, one of ours holds it."""

    def __init__(self, conn, db) -> None:
        self.conn = conn  # who looks on
        self.db = db
        self.toast, self.old = toast_of(conn)
        self.thread = threading.Thread(target=self._run)
        self.errors: list[BaseException] = []

    def _run(self) -> None:
        try:
            with self.db.connect() as conn:
                conn.execute(f"REINDEX INDEX CONCURRENTLY {self.old}")
        except BaseException as error:
            self.errors.append(error)

    def until(self, flags: list[str]) -> None:
        """Its indexes by age: [r]eady and [v]alid; only live ones count."""
        wait_until(lambda: self._flags() == flags, f"indexes {flags}")

    def _flags(self) -> list[str]:
        return [
            row[0]
            for row in self.conn.execute(
                "SELECT CASE WHEN indisready THEN 'r' ELSE '' END"
                " || CASE WHEN indisvalid THEN 'v' ELSE '' END FROM pg_index"
                " WHERE indrelid = %s::regclass AND indislive ORDER BY indexrelid",
                [self.toast],
            )
        ]

    def end(self) -> None:
        self.thread.join(120)
        assert not self.thread.is_alive()
        assert self.errors == []


def hold_snapshot(conn) -> None:
    conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    conn.execute("SELECT count(*) FROM pg_am")


def wait_for_block(conn, *others) -> None:
    """Until somebody waits for one of the other sessions."""
    pids = [other.info.backend_pid for other in others]
    query = "SELECT FROM pg_stat_activity WHERE %s::int[] && pg_blocking_pids(pid)"
    wait_until(lambda: conn.execute(query, [pids]).rowcount > 0, f"a wait for {pids}")


def begin_and_open(session: Session) -> None:
    """Begins a transaction in which a cursor keeps the visibility tuples open."""
    session.ok("BEGIN")
    open_cursor(session)


def open_cursor(session: Session) -> None:
    with settings(session.ours, PLANS["index scans"]):
        session.ok(
            "DECLARE c CURSOR FOR SELECT * FROM t WHERE id BETWEEN 5001 AND 5500"
        )
    session.ours.execute("FETCH 1 FROM c")


def hear(session: Session) -> None:
    """A lock on a relation that was not locked: messages are handled."""
    session.ok("CREATE TEMP TABLE IF NOT EXISTS heard (i int)")


def test_index_seen_ready_too_late(t, db):
    """The flags of an index that is open are not read again by the server."""
    writer, reader = t.session(), t.session()
    snapshot = db.connect()
    for failing in (False, True):
        hold_snapshot(snapshot)
        writer.ok("BEGIN")
        writer.ok("DELETE FROM t WHERE id = 7001")
        reindex = Reindex(t.ours, db)
        reindex.thread.start()
        reindex.until(["rv", ""])
        begin_and_open(reader)
        writer.ok("ROLLBACK")
        reindex.until(["rv", "r"])
        hear(reader)
        if failing:
            reader.fails("22012", "SELECT 1 / 0")
        reader.ok("ROLLBACK")
        wait_for_block(t.ours, snapshot)
        # To be found in both: a deletion, a lock, and a value of the server's.
        reader.ok("DELETE FROM t WHERE id = %s" % (7100 + failing))
        reader.ok(
            "INSERT INTO t SELECT %s, 1, string_agg(md5(i::text), '')"
            " FROM generate_series(1, 400) i" % (90000 + failing)
        )
        snapshot.execute("COMMIT")
        reindex.end()
        check_toast(t.ours)
        t.check()


def test_index_seen_ready_too_late_by_an_insert(t, db):
    """The server toasts a value while one of ours has the index open, or after
    an error has closed it and another transaction has gone by."""
    writer, reader = t.session(), t.session()
    snapshot = db.connect()
    insert = (
        "INSERT INTO t SELECT %s, 1, string_agg(md5(i::text), '')"
        " FROM generate_series(1, 400) i"
    )
    for number, ending in enumerate(("open", "error", "savepoint")):
        hold_snapshot(snapshot)
        writer.ok("BEGIN")
        writer.ok("DELETE FROM t WHERE id = 7001")
        reindex = Reindex(t.ours, db)
        reindex.thread.start()
        reindex.until(["rv", ""])
        if ending == "savepoint":
            reader.ok("BEGIN")
            reader.ok("SAVEPOINT s")
            open_cursor(reader)
        else:
            begin_and_open(reader)
        writer.ok("ROLLBACK")
        reindex.until(["rv", "r"])
        hear(reader)
        if ending == "error":
            reader.fails("22012", "SELECT 1 / 0")
            reader.ok("ROLLBACK")
            reader.ok("SELECT 1")
        elif ending == "savepoint":
            reader.ok("ROLLBACK TO s")
            reader.ok("COMMIT")
        wait_for_block(t.ours, snapshot, *reader.conns.values())
        reader.ok(insert % (90000 + number))
        snapshot.execute("COMMIT")
        if ending == "open":
            reader.ok("COMMIT")
        reindex.end()
        check_toast(t.ours)
        t.check()


def test_index_seen_valid_too_late(t, db):
    """One that is open all the time, and the only one left in the end."""
    snapshot, holder, reader = db.connect(), db.connect(), t.session()
    hold_snapshot(snapshot)
    reindex = Reindex(t.ours, db)
    reindex.thread.start()
    reindex.until(["rv", "r"])
    wait_for_block(t.ours, snapshot)
    begin_and_open(reader)
    holder.execute("BEGIN")
    holder.execute(f"SELECT count(*) FROM {reindex.toast}")
    snapshot.execute("COMMIT")
    reindex.until(["r", "rv"])
    hear(reader)
    reader.ok("COMMIT")
    wait_for_block(t.ours, holder)
    begin_and_open(reader)
    holder.execute("COMMIT")
    reindex.until(["rv"])
    reader.ok("SELECT v FROM t WHERE id = 7001")
    reader.ok("UPDATE t SET v = 'new' WHERE id = 7001")
    reader.ok("COMMIT")
    reindex.end()
    check_toast(t.ours)
    t.check()


@pytest.mark.slow
@pytest.mark.crash
def test_killed_while_it_is_written_anew(make_cluster, rng):
    cluster = make_cluster("toast-crash", full_page_writes="on")
    database = make_database(cluster, AM)
    load(Twin(database, AM))
    for remainder in range(3):
        twin = Twin(database, AM)
        churn(twin, remainder)
        lock_rows(twin)
        twin.ours.execute(f"CALL {AM}.compact('t')")
        twin.ours.execute("VACUUM t")
        conn = database.connect()

        def merge(conn=conn):
            with contextlib.suppress(psycopg.Error):
                conn.execute(f"CALL {AM}.merge('ours.t')")

        start = time.monotonic()
        if remainder == 0:  # to learn how long it takes
            merge()
            took = time.monotonic() - start
        else:
            thread = threading.Thread(target=merge)
            thread.start()
            time.sleep(rng.uniform(0.5, 1.0) * took)
            cluster.crash()
            thread.join()
        twin = Twin(database, AM)
        twin.check()
        check_toast(twin.ours)
        assert twin.ours.execute(f"SELECT * FROM {AM}.verify('t')").fetchall() == []
    vacuum_and_merge(twin)
    assert toast_pages(twin.ours) <= FEW + NOT_WORTH_IT


@pytest.mark.slow
def test_standby_with_a_query_in_progress(make_cluster):
    """Redo of the new file, checked by the server; a snapshot goes on."""
    cluster = make_cluster("toast-primary", wal_consistency_checking="all")  # fmt: skip
    primary = make_database(cluster, AM)
    twin = Twin(primary, AM)
    load(twin)
    # no worker is to be quicker than the reader
    twin.ours.execute(f"SELECT {AM}.set_options('t', auto_compact => false)")
    churn(twin)
    vacuum_and_merge(twin)
    lock_rows(twin)
    for _ in range(2):
        # nothing is left to cut off, for which the reader could be in the way
        twin.ours.execute("VACUUM t")
    standby = replica.make_standby(cluster, make_cluster(
        "toast-standby", data=False, hot_standby_feedback="on",
        wal_receiver_status_interval="1s",
    ))  # fmt: skip
    replica.catch_up(cluster, standby)
    reader = Session(OwnDatabase(standby), AM)
    for conn in reader.conns.values():
        conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        conn.execute("DECLARE c CURSOR FOR SELECT id, k, v FROM t")
        conn.execute("FETCH 10 FROM c")
    wait_until(lambda: has_feedback(twin.ours), "the standby's feedback")
    before = toast_pages(twin.ours)
    twin.ours.execute(f"CALL {AM}.merge('t')")
    assert toast_pages(twin.ours) < before / 4
    replica.catch_up(cluster, standby)
    for conn in reader.conns.values():
        conn.execute("MOVE BACKWARD ALL FROM c")
    reader.ok("FETCH ALL FROM c")
    reader.ok("SELECT count(*), sum(k) FROM t")
    reader.ok("COMMIT")
    reader.check()
    with standby.connect() as conn:
        conn.execute("SELECT pg_promote()")
    promoted = Twin(OwnDatabase(standby), AM)
    churn(promoted, 1)
    promoted.check()
    check_toast(promoted.ours)


@pytest.mark.slow
@pytest.mark.parametrize("feedback", ["off", "on"])
def test_standby_with_a_snapshot_from_before(make_cluster, feedback):
    """A standby's snapshot tells later transactions apart, or conflicts.

    It does not hold back the primary's horizon without hot_standby_feedback, so
    that the tombstones of a later DELETE may be frozen in the new file.
    """
    cluster = make_cluster("toast-primary")
    twin = Twin(make_database(cluster, AM), AM)
    load(twin)
    lock_rows(twin)
    for _ in range(2):
        twin.ours.execute("VACUUM (TRUNCATE false) t")
    target = make_cluster(
        "toast-standby", data=False, hot_standby_feedback=feedback,
        wal_receiver_status_interval="1s", max_standby_streaming_delay="0",
    )  # fmt: skip
    standby = replica.make_standby(cluster, target)
    replica.catch_up(cluster, standby)
    reader = OwnDatabase(standby).connect()
    reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    reader.execute("SELECT count(*) FROM pg_am")
    if feedback == "on":
        wait_until(lambda: has_feedback(twin.ours), "the standby's feedback")

    twin.ok("DELETE FROM t WHERE id IN (5005, 5006, 5007)")
    before = toast_pages(twin.ours)
    twin.ours.execute(f"CALL {AM}.merge('t')")
    assert toast_pages(twin.ours) < before / 4
    replica.catch_up(cluster, standby)
    count = "SELECT count(*) FROM ours.t"
    if feedback == "on":
        assert reader.execute(count).fetchone()[0] == BULK
    else:
        with pytest.raises(psycopg.OperationalError, match="conflict with recovery"):
            reader.execute(count)
    Session(OwnDatabase(standby), AM).check()


def has_feedback(conn) -> bool:
    query = "SELECT bool_and(backend_xmin IS NOT NULL) FROM pg_stat_replication"
    return conn.execute(query).fetchone()[0]


def test_a_unique_check_waits_for_locks_before_it_has_an_index_page(make_cluster, am):
    """A check reads TOAST under the lock of an index page.  If it waited for another
    lock there, who has that one could not read the page, and nobody would notice."""
    database = make_database(make_cluster("order"), am)
    with database.connect() as holder, database.connect() as writer:
        holder.execute(f"CREATE TABLE t (id int PRIMARY KEY, v text) USING {am}")
        holder.execute(
            f"INSERT INTO t SELECT i, 'row' FROM generate_series(1, {BULK}) i"
        )
        _, index = toast_of(holder, "t")
        holder.execute("BEGIN")
        holder.execute(f"REINDEX INDEX {index}")
        (pid,) = writer.execute("SELECT pg_backend_pid()").fetchone()
        errors = []

        def insert() -> None:
            try:
                writer.execute("INSERT INTO t VALUES (77, 'again')")
            except psycopg.Error as error:
                errors.append(error)

        def read() -> None:
            holder.execute("SET enable_seqscan = off")
            query = "SELECT v FROM t WHERE id BETWEEN 70 AND 80"
            assert len(holder.execute(query).fetchall()) == 11

        threads = [threading.Thread(target=job, daemon=True) for job in (insert, read)]
        threads[0].start()
        with database.connect() as other:
            waiting = f"SELECT count(*) FROM pg_locks WHERE pid = {pid} AND NOT granted"
            wait_until(lambda: other.execute(waiting).fetchone()[0], "the insert")
        threads[1].start()
        threads[1].join(120)
        stuck = threads[1].is_alive()
        if stuck:
            database.cluster.kill()
        assert not stuck, "the reader waits for the page"
        holder.execute("ROLLBACK")
        threads[0].join()
        assert [error.sqlstate for error in errors] == ["23505"]
