"""Races of zonemaps that are stopped at a point, by a comparison that waits.

The key is text that compares without regard to case, so a comparison's arguments tell
who makes it: an entry with its own row ('Aa', 'Aa'); a new row with one that a check
has fetched ('aa', 'Aa').
"""

from __future__ import annotations

import contextlib
import threading

import psycopg
import pytest
from strata.wait import wait_until

STOP = 4711


@pytest.fixture
def database(db):
    with db.connect() as conn:
        conn.execute("CREATE EXTENSION sorted_heap")
        conn.execute(
            "CREATE FUNCTION stop_cmp(a text, b text) RETURNS int LANGUAGE plpgsql"
            " IMMUTABLE AS $$ BEGIN"
            " IF a || ' ' || b = current_setting('test.stop', true) THEN"
            f"  PERFORM pg_advisory_lock_shared({STOP});"
            f"  PERFORM pg_advisory_unlock_shared({STOP});"
            " END IF;"
            " RETURN bttextcmp(lower(a), lower(b)); END $$"
        )
        conn.execute(
            "CREATE OPERATOR CLASS stop_ops FOR TYPE text USING zonemap AS"
            " OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,"
            " FUNCTION 1 stop_cmp(text, text)"
        )
    return db


class Stopped:
    """A statement that waits in its own session at a comparison."""

    def __init__(self, database, at: str, sql: str) -> None:
        self.gate = database.connect()
        self.gate.execute(f"SELECT pg_advisory_lock({STOP})")
        self.conn = database.connect()
        self.conn.execute(f"SET test.stop = '{at}'")
        self.error: psycopg.Error | None = None
        self.thread = threading.Thread(target=self.run, args=(sql,))
        self.thread.start()
        waits = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            f" AND objid = {STOP}"
        )
        wait_until(
            lambda: (
                not self.thread.is_alive() or self.gate.execute(waits).fetchone()[0]
            ),
            "the comparison",
        )

    def run(self, sql: str) -> None:
        try:
            self.conn.execute(sql)
        except psycopg.Error as error:
            self.error = error

    def is_stopped(self) -> bool:
        return self.thread.is_alive()

    def go_on(self) -> psycopg.Error | None:
        self.gate.execute(f"SELECT pg_advisory_unlock({STOP})")
        self.thread.join()
        return self.error


@contextlib.contextmanager
def stopped(database, at: str, sql: str):
    statement = Stopped(database, at, sql)
    try:
        assert statement.is_stopped()
        yield statement
    finally:
        statement.go_on()


def sound(conn) -> None:
    assert (
        conn.execute("SELECT * FROM sorted_heap.zonemap_verify('ti')").fetchall() == []
    )


def test_a_tid_that_another_row_gets_amid_a_check(database):
    """Two dead rows have the key.  While the check looks at the first, VACUUM frees the
    place of the second, and a row of another key gets it."""
    with database.connect() as conn:
        conn.execute("CREATE TABLE t (k text, w text)")
        conn.execute("ALTER TABLE t ALTER w SET STORAGE PLAIN")
        conn.execute("CREATE UNIQUE INDEX ti ON t USING zonemap (k stop_ops)")
        # a page each, and rows out of order: the last two have entries of their own
        for key in ("m", "Aa", "zz", "aA"):
            conn.execute(f"INSERT INTO t VALUES ('{key}', repeat('w', 5000))")
            if key == "Aa":
                conn.execute("DELETE FROM t WHERE k = 'Aa'")
        conn.execute("DELETE FROM t WHERE k = 'aA'")
        conn.execute("INSERT INTO t VALUES ('y', repeat('w', 5000))")
        with stopped(database, "Aa Aa", "INSERT INTO t VALUES ('aa', '')") as check:
            conn.execute("VACUUM t")
            conn.execute("INSERT INTO t VALUES ('n', repeat('w', 5000))")
            assert conn.execute(
                "SELECT ctid::text FROM t WHERE k = 'n'"
            ).fetchone() == ("(3,1)",)
            assert check.go_on() is None
        assert conn.execute("SELECT k FROM t ORDER BY k COLLATE \"C\"").fetchall() == [
            ("aa",), ("m",), ("n",), ("y",), ("zz",)
        ]  # fmt: skip
        sound(conn)


def test_a_mark_that_goes_when_its_transaction_has_ended(database):
    """The check has fetched a row of a running transaction.  That commits, and the
    mark by which the row was published goes, because its leaf is full."""
    with database.connect() as conn, database.connect() as other:
        conn.execute("CREATE TABLE t (k text, v int)")
        conn.execute("CREATE UNIQUE INDEX ti ON t USING zonemap (k stop_ops)")
        conn.execute("INSERT INTO t VALUES ('a', 0)")
        marks = "SELECT marks FROM sorted_heap.zonemap_stats('ti')"
        other.execute("BEGIN")
        other.execute("INSERT INTO t VALUES ('Aa', 0)")
        # so that the check compares the keys of the rows
        other.execute("UPDATE t SET v = 1 WHERE k = 'Aa'")
        with stopped(database, "aa Aa", "INSERT INTO t VALUES ('aa', 0)") as check:
            other.execute("COMMIT")
            (before,) = conn.execute(marks).fetchone()
            number = 0
            while conn.execute(marks).fetchone()[0] >= before:
                before = max(before, conn.execute(marks).fetchone()[0])
                number += 1
                assert number < 2000
                conn.execute(f"INSERT INTO t VALUES ('b{number:05}', 0)")
            error = check.go_on()
            assert error is not None and error.sqlstate == "23505"
        query = "SELECT k FROM t WHERE lower(k) = 'aa'"
        assert conn.execute(query).fetchall() == [("Aa",)]
        sound(conn)


def test_cluster_of_a_table_whose_keys_compare_otherwise(database):
    """As after a new version of a collation: the index finds few rows, but rewriting
    keeps all, because it sorts."""
    with database.connect() as conn:
        conn.execute("CREATE TABLE t (k text, v int) USING sorted_heap")
        conn.execute("CREATE INDEX ti ON t USING zonemap (k stop_ops)")
        conn.execute(
            "INSERT INTO t SELECT 'k' || 10000 + i, i FROM generate_series(1, 5000) i"
        )
        conn.execute("VACUUM t")
        conn.execute(
            "CREATE OR REPLACE FUNCTION stop_cmp(a text, b text) RETURNS int"
            " LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN"
            " RETURN bttextcmp(reverse(a), reverse(b)); END $$"
        )
        for sql in ("CLUSTER t USING ti", "VACUUM FULL t", "CLUSTER t"):
            conn.execute(sql)
            found = conn.execute("SELECT count(*), sum(v) FROM t").fetchone()
            assert found == (5000, 12_502_500), sql
            sound(conn)


def test_notes_on_a_file_that_was_copied_with_its_lsns(make_cluster):
    """A table is moved, and changed in the same transaction, without WAL: pages have
    other rows than when their order was noted, and the same LSN."""
    cluster = make_cluster(
        "minimal", wal_level="minimal", max_wal_senders="0", wal_skip_threshold="0",
        allow_in_place_tablespaces="on",
    )  # fmt: skip
    with cluster.connect() as conn:
        conn.execute("CREATE EXTENSION sorted_heap")
        conn.execute("CREATE TABLESPACE other LOCATION ''")
        conn.execute("CREATE TABLE t (id int, v int)")
        conn.execute("INSERT INTO t SELECT i, 0 FROM generate_series(1, 2000) i")
        conn.execute("CREATE INDEX ti ON t USING zonemap (id)")
        (last,) = conn.execute(
            "SELECT count(*) FROM t WHERE ctid < '(1,0)'::tid"
        ).fetchone()
        # where a search in halves looks first
        middle = (1 + last + 1) // 2
        conn.execute(f"DELETE FROM t WHERE id = {middle}")
        conn.execute("VACUUM t")
        conn.execute("CHECKPOINT")
        conn.execute("SET enable_seqscan = off")
        conn.execute("SET enable_bitmapscan = off")

        def found() -> list[int]:
            return [
                id
                for (id,) in conn.execute(
                    "SELECT i FROM generate_series(1, 2000) i"
                    " WHERE EXISTS (SELECT FROM t WHERE id = i OFFSET 0)"
                ).fetchall()
            ]

        expected = [i for i in range(1, 2001) if i != middle]
        assert found() == expected
        lsn = "SELECT lsn FROM page_header(get_raw_page('t', 0))"
        conn.execute("CREATE EXTENSION pageinspect")
        before = conn.execute(lsn).fetchone()
        with conn.transaction():
            conn.execute("ALTER TABLE t SET TABLESPACE other")
            place = conn.execute(
                "INSERT INTO t VALUES (1000000, 1) RETURNING ctid::text"
            ).fetchone()
        assert place == (f"(0,{middle})",)
        assert conn.execute(lsn).fetchone() == before
        assert found() == expected
        sound(conn)
