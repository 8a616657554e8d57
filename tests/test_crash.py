"""kill -9 of the server: after recovery a table equals its heap twin."""

from __future__ import annotations

import pytest
from strata.cluster import Cluster
from strata.twin import Twin

pytestmark = pytest.mark.crash

BULK = 20_000


class CrashDatabase:
    """What a Twin needs, on a cluster that dies and comes back."""

    def __init__(self, cluster: Cluster, am: str) -> None:
        self.cluster = cluster
        self.name = "crash"
        self.am = am

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)


def crash_database(make_cluster, am: str, name: str, **settings) -> CrashDatabase:
    """One on a cluster of its own, which has the extension."""
    cluster = make_cluster(name, **settings)
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE crash")
    database = CrashDatabase(cluster, am)
    with database.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
    return database


@pytest.fixture
def database(make_cluster, am) -> CrashDatabase:
    return crash_database(make_cluster, am, "crash", full_page_writes="on")


def verify(database: CrashDatabase) -> None:
    """Contents, every index and the table's own verifier."""
    Twin(database, database.am).check()
    with database.connect() as conn:
        found = conn.execute(f"SELECT * FROM {database.am}.verify('ours.t')").fetchall()
        assert found == []


def test_committed_rows_survive(database):
    twin = Twin(database, database.am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, {BULK}) i")
    twin.ok("DELETE FROM t WHERE id % 9 = 0")
    twin.ok("UPDATE t SET v = 'updated' WHERE id % 10 = 0")
    twin.ok("UPDATE t SET v = v || ' again' WHERE id % 10 > 0")
    twin.ok("INSERT INTO t VALUES (-1, 'delta')")
    database.cluster.crash()
    verify(database)
    twin = Twin(database, database.am)
    twin.ok("DELETE FROM t WHERE id % 11 = 0")
    twin.ok(
        f"INSERT INTO t SELECT i, 'again' FROM generate_series({BULK + 1}, {2 * BULK}) i"
    )
    database.cluster.crash()
    verify(database)


def test_uncommitted_rows_vanish(database):
    twin = Twin(database, database.am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, {BULK}) i")
    for conn in twin.conns.values():
        conn.execute("BEGIN")
        conn.execute(
            f"INSERT INTO t SELECT -i, 'lost' FROM generate_series(1, {BULK}) i"
        )
        conn.execute("DELETE FROM t WHERE id % 2 = 0")
        conn.execute("UPDATE t SET v = 'lost' WHERE id % 3 = 0")
    with database.connect() as conn:
        conn.execute("CHECKPOINT")
    database.cluster.crash()
    verify(database)
    twin = Twin(database, database.am)
    twin.ok(f"INSERT INTO t SELECT -i, 'found' FROM generate_series(1, {BULK}) i")
    twin.ok("VACUUM t")
    twin.check()


def test_prepared_transactions_survive(database):
    twin = Twin(database, database.am)
    twin.ok("CREATE TABLE t (id int, v text)")
    twin.ok(f"INSERT INTO t SELECT i, 'row' FROM generate_series(1, {BULK}) i")
    for end in ("COMMIT", "ROLLBACK"):
        twin = Twin(database, database.am)
        for schema, conn in twin.conns.items():
            conn.execute("BEGIN")
            conn.execute(
                f"INSERT INTO t SELECT -i, 'p' FROM generate_series(1, {BULK}) i"
            )
            conn.execute("DELETE FROM t WHERE id % 2 = 0")
            conn.execute(f"PREPARE TRANSACTION '{schema}'")
        database.cluster.crash()
        verify(database)
        twin = Twin(database, database.am)
        for schema, conn in twin.conns.items():
            conn.execute(f"{end} PREPARED '{schema}'")
        verify(database)


def test_unlogged_table_is_empty_after_a_crash(database):
    twin = Twin(database, database.am)
    twin.ok("CREATE UNLOGGED TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, 'row' FROM generate_series(1, {BULK}) i")
    database.cluster.crash()
    twin = Twin(database, database.am)
    assert twin.ok("SELECT count(*) FROM t").rows == [(0,)]
    twin.ok(f"INSERT INTO t SELECT i, 'new' FROM generate_series(1, {BULK}) i")
    twin.ok("INSERT INTO t VALUES (0, 'delta')")
    verify(database)


@pytest.mark.slow
def test_full_page_images_replay_as_written(make_cluster, am):
    """Recovery under wal_consistency_checking compares every page it replays."""
    cluster = make_cluster("consistency", wal_consistency_checking="all")
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE crash")
    database = CrashDatabase(cluster, am)
    with database.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
    twin = Twin(database, database.am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {BULK}) i")
    twin.ok("DELETE FROM t WHERE id % 9 = 0")
    twin.ok("UPDATE t SET v = 'updated' WHERE id % 10 = 0")
    twin.ok("UPDATE t SET v = v || ' again' WHERE id % 10 > 0")
    twin.ok("VACUUM t")
    twin.ok(f"INSERT INTO t SELECT -i, md5(i::text) FROM generate_series(1, {BULK}) i")
    cluster.crash()
    assert "inconsistent page found" not in cluster.log_since(0)
    verify(database)
