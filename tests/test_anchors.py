"""VACUUM removes what locks of rows in row groups have left, and keeps nobody waiting."""

from __future__ import annotations

import pytest
from strata.threads import begun
from strata.wait import wait_until
from test_crash import CrashDatabase, crash_database

FIRST = 50_000  # the first thousand rows of a load are in the delta
LOCKED = 300  # rows


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


def test_vacuum_that_wants_to_cut_off_the_file_has_no_anchor_in_hand(database, am):
    """It tries for five seconds, in vain; who locks a row meanwhile does not wait."""
    with (
        database.connect() as conn,
        database.connect() as reader,
        database.connect() as vacuum,
    ):
        locked_table(conn, am)
        conn.execute(
            "INSERT INTO t SELECT i, md5(i::text) FROM generate_series(100001, 200000) i"
        )
        conn.execute("DELETE FROM t WHERE id > 100000")
        reader.execute("BEGIN")
        reader.execute("LOCK TABLE t IN ACCESS SHARE MODE")
        pid = vacuum.info.backend_pid
        end = begun(lambda: vacuum.execute("VACUUM t"))
        wait_until(
            lambda: (
                conn.execute(
                    "SELECT FROM pg_stat_activity"
                    f" WHERE pid = {pid} AND wait_event = 'VacuumTruncate'"
                ).rowcount
            ),
            "VACUUM that tries to cut off the file",
        )
        conn.execute("SET lock_timeout = '3s'")
        conn.execute(f"SELECT 1 FROM t WHERE id = {FIRST} FOR KEY SHARE")
        end()
