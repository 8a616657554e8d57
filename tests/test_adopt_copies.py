"""Tables that were adopted, over crashes and on copies of the server."""

from __future__ import annotations

import contextlib
import threading
import time

import psycopg
import pytest
from strata import replica
from strata.stages import STAGES, check_stages, end_stages, make_stages
from strata.switch import method
from strata.twin import Session, Twin
from strata.wait import wait_until
from test_adopt import BULK, adopt, change, whole
from test_crash import CrashDatabase, crash_database
from test_release import change_again, is_heap, release


def fill(twin: Twin, table: str = "t", kind: str = "") -> None:
    twin.ours.execute("SET default_table_access_method = heap")
    twin.ok(f"CREATE {kind} TABLE {table} (id int PRIMARY KEY, k int, v text)")
    twin.ok(
        f"INSERT INTO {table} SELECT i, i % 50, md5(i::text) FROM generate_series(1, {BULK}) i"
    )
    twin.ok(f"DELETE FROM {table} WHERE id % 9 = 0")


@pytest.mark.crash
@pytest.mark.parametrize("consistency", ["", "all"])
def test_crash(make_cluster, am, consistency):
    """Of the adoption, committed or not, of the compaction, of the metapage's move."""
    database = crash_database(
        make_cluster, am, "crash", wal_consistency_checking=consistency
    )
    cluster = database.cluster
    twin = Twin(database, am)
    fill(twin)
    twin.ours.execute("BEGIN")
    adopt(twin)
    with database.connect() as conn:
        conn.execute("CHECKPOINT")
    cluster.crash()

    twin = Twin(database, am)
    assert method(twin.ours) == "heap"
    twin.check()
    adopt(twin)
    cluster.crash()

    twin = Twin(database, am)
    assert method(twin.ours) == am
    whole(twin)
    change(twin)
    twin.ours.execute(f"CALL {am}.compact('t')")
    cluster.crash()

    twin = Twin(database, am)
    whole(twin)
    twin.ours.execute("VACUUM (INDEX_CLEANUP ON) t")
    cluster.crash()

    twin = Twin(database, am)
    whole(twin)
    twin.ours.execute(f"CALL {am}.merge('t')")
    cluster.crash()
    twin = Twin(database, am)
    whole(twin)
    twin.ok("INSERT INTO t SELECT -i, i FROM generate_series(1000, 5000) i")
    whole(twin)
    assert "inconsistent page found" not in cluster.log_since(0)


@pytest.mark.crash
def test_unlogged_table_is_empty_after_a_crash(make_cluster, am):
    database = crash_database(make_cluster, am, "unlogged")
    cluster = database.cluster
    twin = Twin(database, am)
    fill(twin, "t", "UNLOGGED")
    fill(twin, "u", "UNLOGGED")
    adopt(twin)
    twin.ours.execute("BEGIN")
    adopt(twin, "u")
    twin.ours.execute("ROLLBACK")
    cluster.crash()
    twin = Twin(database, am)
    for table in ("t", "u"):
        assert twin.ok(f"SELECT count(*) FROM {table}").rows == [(0,)]
        twin.ok(f"INSERT INTO {table} SELECT i, i FROM generate_series(1, {BULK}) i")
        twin.check(table)
    whole(twin)
    adopt(twin, "u")
    whole(twin, "u")


def test_standby(make_cluster, am):
    """A standby follows through every stage, with a session open all the time."""
    database = crash_database(make_cluster, am, "primary")
    primary = database.cluster
    twin = Twin(database, am)
    fill(twin)
    standby = make_cluster("standby", data=False)
    replica.make_standby(primary, standby)
    there = Session(CrashDatabase(standby, am), am)
    steps = (
        lambda: None,
        lambda: adopt(twin),
        lambda: change(twin),
        lambda: twin.ours.execute(f"CALL {am}.compact('t')"),
        lambda: twin.ours.execute("VACUUM (INDEX_CLEANUP ON) t"),
        lambda: twin.ours.execute(f"CALL {am}.merge('t')"),
        lambda: twin.ok("DELETE FROM t WHERE id % 4 = 1"),
        lambda: release(twin),
        lambda: twin.ok("UPDATE t SET k = k + 1 WHERE id % 4 = 2"),
    )
    for step in steps:
        step()
        replica.catch_up(primary, standby)
        there.check()


@pytest.mark.crash
def test_crashes_of_release(make_cluster, am, rng):
    """kill -9 at random moments; the table is its twin, and at last heap."""
    database = crash_database(make_cluster, am, "crash")
    cluster = database.cluster
    twin = Twin(database, am)
    fill(twin)
    adopt(twin)
    twin.ours.execute(f"CALL {am}.merge('t')")

    def call():
        with contextlib.suppress(psycopg.Error), database.connect() as conn:
            conn.execute(f"CALL {am}.release('ours.t')")

    for _ in range(4):
        thread = threading.Thread(target=call)
        thread.start()
        time.sleep(rng.random() * 1.5)
        cluster.crash()
        thread.join()
        twin = Twin(database, am)
        twin.check()
        if method(twin.ours) == "heap":
            break
        whole(twin)
    else:
        release(twin)
    is_heap(twin)
    cluster.crash()
    twin = Twin(database, am)
    is_heap(twin)


@pytest.mark.slow
def test_subscriber(make_cluster, am):
    """Logical replication goes on, and hears of the changes of rows alone."""
    database = crash_database(make_cluster, am, "publisher", wal_level="logical")
    twin = Twin(database, am)
    fill(twin)
    twin.ours.execute("CREATE PUBLICATION pub FOR TABLE ours.t")
    subscriber = make_cluster("subscriber")
    with subscriber.connect() as conn:
        conn.execute("CREATE SCHEMA ours")
        conn.execute("CREATE TABLE ours.t (id int PRIMARY KEY, k int, v text)")
        conn.execute(
            f"CREATE SUBSCRIPTION sub CONNECTION '{database.cluster.dsn(database.name)}' PUBLICATION pub"
        )
        query = "SELECT count(*), sum(id), sum(k), md5(string_agg(v, '' ORDER BY id)) FROM ours.t"
        steps = (
            lambda: adopt(twin),
            lambda: change(twin),
            lambda: twin.ours.execute(f"CALL {am}.merge('t')"),
            lambda: change_again(twin),
            lambda: release(twin),
            lambda: change_again(twin),
        )
        for step in steps:
            step()
            expected = twin.ours.execute(query).fetchone()
            wait_until(
                lambda expected=expected: conn.execute(query).fetchone() == expected,
                "the subscriber to have the same rows",
                60,
            )
        conn.execute("DROP SUBSCRIPTION sub")
    is_heap(twin)


@pytest.mark.slow
def test_copies_of_every_stage(make_cluster, am):
    """By pg_basebackup and by pg_dump: there the way goes on."""
    database = crash_database(make_cluster, am, "stages")
    source = database.cluster
    twin = Twin(database, am)
    make_stages(twin)
    copy = make_cluster("copy", data=False, start=False)
    replica.base_backup(source, copy, "-X", "stream").start()
    there = Twin(CrashDatabase(copy, am), am)
    check_stages(there, am)
    end_stages(there)

    dump = copy.directory / "dump"
    source.run("pg_dump", "-Fd", "-f", dump, database.name)
    with source.connect() as conn:
        conn.execute("CREATE DATABASE restored")
    source.run("pg_restore", "-e", "-d", "restored", dump)
    database = CrashDatabase(source, am)
    database.name = "restored"
    restored = Session(database, am)
    for table in STAGES:
        restored.check(table)
        expected = "heap" if table == "released" else am
        assert method(restored.ours, table) == expected
    check_stages(twin, am)


@pytest.mark.slow
def test_rewind_of_every_stage(make_cluster, am):
    """The old primary went to the end, the new one stayed: there it goes on."""
    settings = {"wal_keep_size": "256MB", "wal_log_hints": "on"}
    database = crash_database(make_cluster, am, "primary", **settings)
    old = database.cluster
    twin = Twin(database, am)
    make_stages(twin)
    new = make_cluster("standby", data=False, **settings)
    replica.make_standby(old, new)
    replica.catch_up(old, new)
    with new.connect() as conn:
        conn.execute("SELECT pg_promote()")
        conn.execute("CHECKPOINT")
    end_stages(twin)
    for conn in twin.conns.values():
        conn.close()
    replica.rewind(old, new)
    there = Session(database, am)
    check_stages(there, am)
    end_stages(Twin(CrashDatabase(new, am), am))
    replica.catch_up(new, old)
    for table in STAGES:
        there.check(table)
        assert method(there.ours, table) == "heap"
