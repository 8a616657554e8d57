"""VACUUM removes what locks of rows in row groups have left, and keeps nobody waiting."""

from __future__ import annotations

import pytest
from strata.threads import begun
from strata.wait import wait_until
from test_crash import CrashDatabase, crash_database

FIRST = 50_000  # the first thousand rows of a load are in the delta
LOCKED = 300  # rows
LOCK = f"SELECT 1 FROM t WHERE id = {FIRST} FOR KEY SHARE"


@pytest.fixture
def database(make_cluster, am) -> CrashDatabase:
    return crash_database(make_cluster, am, "anchors", full_page_writes="on")


def locked_table(conn, am: str) -> None:
    """A row group, some rows of which have anchors that nobody needs."""
    conn.execute(
        f"CREATE TABLE t (id int PRIMARY KEY, v text) USING {am}"
        " WITH (autovacuum_enabled = off)"
    )
    conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
    conn.execute(
        "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 100000) i"
    )
    conn.execute("VACUUM t")
    conn.execute(
        f"SELECT FROM t WHERE id BETWEEN {FIRST} AND {FIRST + LOCKED - 1} FOR KEY SHARE"
    )


def vacuum_beside(database, conn, begun_when: str, *settings: str) -> None:
    """A row's lock, from when VACUUM's session is as the condition says until it ends."""
    with database.connect() as other:
        for setting in settings:
            other.execute(f"SET {setting}")
        pid = other.info.backend_pid
        end = begun(lambda: other.execute("VACUUM t"))
        wait_until(
            lambda: conn.execute(f"SELECT {begun_when.format(pid=pid)}").fetchone()[0],
            "VACUUM that is where it should be",
        )
        conn.execute("SET lock_timeout = '3s'")
        conn.execute(LOCK)
        conn.execute("RESET lock_timeout")
        end()


def test_vacuum_that_wants_to_cut_off_the_file_has_no_anchor_in_hand(database, am):
    """It tries for five seconds, in vain; who locks a row meanwhile does not wait."""
    with database.connect() as conn, database.connect() as reader:
        locked_table(conn, am)
        conn.execute(
            "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(100001, 200000) i"
        )
        conn.execute("DELETE FROM t WHERE id > 100000")
        reader.execute("BEGIN")
        reader.execute("LOCK TABLE t IN ACCESS SHARE MODE")
        vacuum_beside(
            database,
            conn,
            "EXISTS (SELECT FROM pg_stat_activity"
            " WHERE pid = {pid} AND wait_event = 'VacuumTruncate')",
        )
