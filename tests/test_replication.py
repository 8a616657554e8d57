"""Standbys, promotion, rewinding, point-in-time recovery, logical replication.

Every cluster has a table of the access method and its heap twin in one database, so
that a copy of the cluster can be checked by itself.
"""

from __future__ import annotations

import contextlib
import threading

import psycopg
import pytest
from strata import replica
from strata.twin import Session, Twin
from strata.wait import wait_until

BULK = 20_000

CHURN = [
    f"INSERT INTO t SELECT i, md5(i::text), i % 7 FROM generate_series(1, {BULK}) i",
    "DELETE FROM t WHERE id % 10 = 3",
    "UPDATE t SET v = 'updated' WHERE id % 9 = 4",
    f"INSERT INTO t SELECT i, 'single', 0 FROM generate_series({BULK} + 1, {BULK} + 500) i",
    f"DELETE FROM t WHERE id < {BULK // 4}",
]


class ReplicaDatabase:
    """What a Twin or a Session needs, on a cluster of the test's own."""

    def __init__(self, cluster, name: str = "replica") -> None:
        self.cluster = cluster
        self.name = name

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)


@pytest.fixture
def make_database(make_cluster, am):
    """Factory of clusters with a database that has the extension."""

    def make(name: str, **settings) -> ReplicaDatabase:
        database = ReplicaDatabase(make_cluster(name, **settings))
        with database.cluster.connect() as conn:
            conn.execute("CREATE DATABASE replica")
        with database.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")
        return database

    return make


def fill(twin: Twin) -> None:
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text, k int)")
    twin.ok("CREATE INDEX ON t (v)")
    for statement in CHURN:
        twin.ok(statement)


def maintain(twin: Twin, am: str) -> None:
    """Everything that folds deletions, moves rows or reuses space on our side."""
    twin.ours.execute("VACUUM (INDEX_CLEANUP on) t")
    twin.ours.execute(f"CALL {am}.merge('t')")
    twin.ours.execute("VACUUM t")
    twin.ours.execute("VACUUM t")


def check(cluster, am: str) -> None:
    """The copy's table equals the copy's heap twin, and is sound."""
    database = ReplicaDatabase(cluster)
    Session(database, am).check()
    with database.connect() as conn:
        assert conn.execute(f"SELECT * FROM {am}.verify('ours.t')").fetchall() == []


def test_standby_follows_and_is_promoted(make_database, make_cluster, am):
    primary = make_database("primary")
    twin = Twin(primary, am)
    fill(twin)
    standby = replica.make_standby(primary.cluster, make_cluster("standby", data=False))
    replica.catch_up(primary.cluster, standby)
    check(standby, am)
    twin.ours.execute("VACUUM (INDEX_CLEANUP on) t")
    replica.catch_up(primary.cluster, standby)
    check(standby, am)

    maintain(twin, am)
    for statement in CHURN[1:3]:
        twin.ok(statement)
    twin.ok(f"INSERT INTO t SELECT -i, 'late', 1 FROM generate_series(1, {BULK}) i")
    maintain(twin, am)
    replica.catch_up(primary.cluster, standby)
    check(standby, am)

    with standby.connect() as conn:
        conn.execute("SELECT pg_promote()")
    promoted = Twin(ReplicaDatabase(standby), am)
    promoted.ok("DELETE FROM t WHERE id % 5 = 0")
    promoted.ok(
        f"INSERT INTO t SELECT i - {10 * BULK}, 'p', 2 FROM generate_series(1, {BULK}) i"
    )
    maintain(promoted, am)
    check(standby, am)


@pytest.mark.slow
def test_snapshot_on_the_standby_outlives_maintenance(make_database, make_cluster, am):
    """A query of an old snapshot gives heap's rows or is cancelled, never others.

    With no delay allowed the standby cancels whoever could miss a row; with
    feedback it makes the primary wait.
    """
    primary = make_database("primary")
    twin = Twin(primary, am)
    fill(twin)
    for feedback in ("off", "on"):
        standby = replica.make_standby(
            primary.cluster,
            make_cluster(
                f"standby-{feedback}",
                data=False,
                hot_standby_feedback=feedback,
                max_standby_streaming_delay="0" if feedback == "off" else "-1",
                wal_receiver_status_interval="1s",
            ),
        )
        replica.catch_up(primary.cluster, standby)
        reader = Session(ReplicaDatabase(standby), am)
        for conn in reader.conns.values():
            conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            conn.execute("SELECT count(*) FROM pg_class")
        if feedback == "on":
            with primary.connect() as conn:
                wait_until(
                    lambda conn=conn: conn.execute(
                        "SELECT count(*) FROM pg_stat_replication"
                        " WHERE backend_xmin IS NOT NULL"
                    ).fetchone()[0],
                    "feedback of the standby",
                )
        expected = reader.heap.execute("SELECT count(*), sum(id) FROM t").fetchone()
        for statement in CHURN[1:3]:
            twin.ok(statement)
        maintain(twin, am)
        # New row groups want the space of the old ones.
        twin.ok(f"DELETE FROM t WHERE v = '{feedback}'")
        twin.ok(
            f"INSERT INTO t SELECT (SELECT min(id) FROM t) - i, '{feedback}', 3"
            f" FROM generate_series(1, {BULK}) i"
        )
        maintain(twin, am)
        try:
            replica.catch_up(primary.cluster, standby)
            got = reader.ours.execute("SELECT count(*), sum(id) FROM t").fetchone()
        except (psycopg.errors.SerializationFailure, psycopg.OperationalError):
            assert feedback == "off"
        else:
            assert got == expected
        for conn in reader.conns.values():
            conn.close()
        check(standby, am)
        standby.stop("immediate")


@pytest.mark.crash
def test_recovery_to_points_in_the_middle_of_maintenance(
    make_database, make_cluster, server, workdir, am
):
    archive = server.own(workdir / f"archive-{am}")
    primary = make_database(
        "primary", archive_mode="on", archive_command=f"cp %p {archive}/%f",
    )  # fmt: skip
    twin = Twin(primary, am)
    fill(twin)
    backup = make_cluster("backup", data=False)
    replica.base_backup(primary.cluster, backup, "-X", "none")

    # Compaction moves rows and changes none: at any point the twins are equal.
    points, done = [], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            points.append(replica.lsn(primary.cluster))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        maintain(twin, am)
    finally:
        done.set()
        watcher.join()
    points = sorted(set(points))
    with primary.connect() as conn:
        conn.execute("CREATE TABLE after_the_point ()")
        (last,) = conn.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
        wait_until(lambda: (archive / last).exists(), "the archiver")

    for number, point in enumerate(points[:: max(1, len(points) // 2)]):
        copy = make_cluster(
            f"pitr-{number}", data=False, archive_mode="off",
            restore_command=f"cp {archive}/%f %p", recovery_target_lsn=point,
            recovery_target_action="promote", hot_standby="on",
        )  # fmt: skip
        copy.init(like=backup)
        server.touch(copy.data / "recovery.signal")
        copy.start()
        with copy.connect() as conn:
            wait_until(
                lambda conn=conn: (
                    not conn.execute("SELECT pg_is_in_recovery()").fetchone()[0]
                ),
                "the end of recovery",
            )
        with ReplicaDatabase(copy).connect() as conn:
            assert conn.execute("SELECT to_regclass('after_the_point')").fetchone() == (
                None,
            )
        check(copy, am)
        after = Twin(ReplicaDatabase(copy), am)
        after.ok("UPDATE t SET v = 'again' WHERE id % 4 = 0")
        maintain(after, am)
        check(copy, am)
        copy.stop("immediate")


def test_rewind_of_the_old_primary(make_database, make_cluster, am):
    primary = make_database("primary", wal_keep_size="256MB")
    twin = Twin(primary, am)
    fill(twin)
    standby = replica.make_standby(
        primary.cluster,
        make_cluster("standby", data=False, wal_keep_size="256MB"),
    )
    replica.catch_up(primary.cluster, standby)
    with standby.connect() as conn:
        conn.execute("SELECT pg_promote()")
        conn.execute("CHECKPOINT")
    # Both go on for a while; what the old primary did is to be undone.
    twin.ok(f"INSERT INTO t SELECT -i, 'lost', 9 FROM generate_series(1, {BULK}) i")
    maintain(twin, am)
    new = Twin(ReplicaDatabase(standby), am)
    new.ok("DELETE FROM t WHERE id % 3 = 0")
    new.ok(f"INSERT INTO t SELECT -i, 'kept', 8 FROM generate_series(1, {BULK}) i")
    maintain(new, am)
    for conn in twin.conns.values():
        conn.close()

    old = primary.cluster
    replica.rewind(old, standby)
    check(old, am)
    with primary.connect() as conn:
        assert conn.execute("SELECT count(*) FROM ours.t WHERE k = 9").fetchone() == (
            0,
        )


def test_a_subscriber_without_a_key(make_database, am):
    """It looks for a row from end to end, by values, in row groups and the delta."""
    publisher = make_database("publisher", wal_level="logical")
    subscriber = make_database("subscriber")
    for database in (publisher, subscriber):
        with database.connect() as conn:
            conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
            conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
            conn.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    left, right = publisher.connect(), subscriber.connect()
    rows = "SELECT i, 'row ' || i FROM generate_series(1, 3000) i"
    left.execute(f"INSERT INTO t {rows}")
    left.execute("INSERT INTO t SELECT 5000, 'twice' FROM generate_series(1, 2)")
    left.execute("CREATE PUBLICATION p FOR TABLE t")
    right.execute(
        f"CREATE SUBSCRIPTION s CONNECTION '{publisher.cluster.dsn('replica')}'"
        " PUBLICATION p"
    )

    def same() -> None:
        query = "SELECT id, v FROM t ORDER BY 1, 2"
        expected = left.execute(query).fetchall()
        wait_until(
            lambda: right.execute(query).fetchall() == expected, "the subscriber", 60
        )

    same()
    right.execute(f"CALL {am}.merge('t')")
    assert right.execute(f"SELECT sum(rows) FROM {am}.row_groups('t')").fetchone() == (
        3002,
    )
    one = "DELETE FROM t WHERE ctid = (SELECT min(ctid) FROM t WHERE id = 5000)"
    left.execute("DELETE FROM t WHERE id % 50 = 0 AND id < 5000")
    left.execute(one)
    same()
    # rows with the values of those whose deletion is folded, in row group and delta
    right.execute("VACUUM (INDEX_CLEANUP on) t")
    left.execute(one)
    same()
    left.execute(f"INSERT INTO t {rows} WHERE i % 50 = 0")
    left.execute("UPDATE t SET v = 'new ' || id WHERE id % 100 < 2")
    left.execute("DELETE FROM t WHERE id % 100 = 50")
    same()
    assert right.execute(f"SELECT problem FROM {am}.verify('t')").fetchall() == []
    right.execute("DROP SUBSCRIPTION s")


SLOW = """
CREATE TYPE slow;
CREATE FUNCTION slow_in(cstring) RETURNS slow LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION slow_out(slow) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE slow (INPUT = slow_in, OUTPUT = slow_out, LIKE = int4);
CREATE FUNCTION slow_eq(slow, slow) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	PERFORM pg_catalog.pg_advisory_xact_lock_shared(2);
	RETURN $1::text = $2::text;
END $$;
CREATE FUNCTION slow_hash(slow) RETURNS int LANGUAGE internal IMMUTABLE AS 'hashint4';
CREATE OPERATOR = (LEFTARG = slow, RIGHTARG = slow, FUNCTION = slow_eq, HASHES);
CREATE OPERATOR CLASS slow_ops DEFAULT FOR TYPE slow USING hash AS
	OPERATOR 1 =, FUNCTION 1 slow_hash(slow);
CREATE FUNCTION gate(k int, v slow) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF v::text = '9' THEN
		PERFORM pg_catalog.pg_advisory_xact_lock_shared(1);
	END IF;
	RETURN k;
END $$;
"""


@contextlib.contextmanager
def slow_subscriber(publisher, subscriber, am, *indexes: str):
    """Nine rows t(k, v) on both sides, REPLICA IDENTITY FULL; the two connections.

    The subscriber's search for a row stops where advisory lock 2 is held.
    """
    left, right = publisher.connect(), subscriber.connect()
    left.execute("CREATE TABLE t (k int, v int)")
    left.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    left.execute("INSERT INTO t SELECT 1, i FROM generate_series(1, 9) i")
    left.execute("CREATE PUBLICATION p FOR TABLE t")
    right.execute(SLOW)
    right.execute(f"CREATE TABLE t (k int, v slow) USING {am}")
    right.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
    for index in indexes:
        right.execute(f"CREATE INDEX ON t {index}")
    right.execute(
        f"CREATE SUBSCRIPTION s CONNECTION '{publisher.cluster.dsn('replica')}'"
        " PUBLICATION p"
    )
    wait_until(lambda: count(right) == 9, "the initial copy", 60)
    ready = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
    wait_until(lambda: right.execute(ready).fetchone()[0], "the subscription", 60)
    yield left, right
    right.execute("DROP SUBSCRIPTION s")


def count(conn, where: str = "true") -> int:
    return conn.execute(f"SELECT count(*) FROM t WHERE {where}").fetchone()[0]


def waiting(conn, key: int) -> bool:
    """Does somebody wait for that advisory lock?"""
    query = (
        "SELECT count(*) FROM pg_locks"
        " WHERE locktype = 'advisory' AND objid = %s AND NOT granted"
    )
    return conn.execute(query, [key]).fetchone()[0] > 0


def arrived(conn, value: int) -> None:
    wait_until(lambda: count(conn, f"v::text = '{value}'") > 0, "the subscriber", 60)


@pytest.mark.slow
def test_a_subscriber_finds_a_row_by_hash_that_is_being_moved(make_database, am):
    """A compaction has made entries of the copies, and commits amid the search.

    Among equal keys a hash index has the copies in front of the rows.
    """
    publisher = make_database("publisher", wal_level="logical")
    subscriber = make_database("subscriber")
    with subscriber.connect() as conn:
        if conn.info.server_version < 170000:
            pytest.skip("logical replication looks for rows by btrees only")
    indexes = ("USING hash (k)", "(gate(k, v))")
    with slow_subscriber(publisher, subscriber, am, *indexes) as (left, right):
        right.execute("SELECT pg_advisory_lock(1), pg_advisory_lock(2)")
        with subscriber.connect() as compactor:
            merge = threading.Thread(
                target=compactor.execute, args=(f"CALL {am}.merge('t')",)
            )
            merge.start()
            wait_until(lambda: waiting(right, 1), "the compaction", 60)
            left.execute("DELETE FROM t WHERE v = 1")
            wait_until(lambda: waiting(right, 2), "the search", 60)
            right.execute("SELECT pg_advisory_unlock(1)")
            merge.join()
        right.execute("SELECT pg_advisory_unlock(2)")
        left.execute("INSERT INTO t VALUES (1, 10)")
        arrived(right, 10)
        assert count(right) == 9


@pytest.mark.slow
def test_a_subscriber_without_a_key_finds_a_row_that_has_moved(make_database, am):
    """A compaction takes rows out of the delta and out of a row group, amid the search."""
    publisher = make_database("publisher", wal_level="logical")
    subscriber = make_database("subscriber")
    with slow_subscriber(publisher, subscriber, am) as (left, right):
        for key in (5, 7):
            # the first time from the delta, the second time from a row group
            left.execute(f"INSERT INTO t VALUES (1, {10 + key})")
            wait_until(lambda: count(right) == 10, "the subscriber", 60)
            right.execute("SELECT pg_advisory_lock(2)")
            left.execute("DELETE FROM t WHERE v = %s", [key])
            wait_until(lambda: waiting(right, 2), "the search", 60)
            right.execute(f"CALL {am}.merge('t')")
            right.execute("SELECT pg_advisory_unlock(2)")
            left.execute("DELETE FROM t WHERE v = %s", [10 + key])
            wait_until(lambda: count(right) < 10, "the subscriber", 60)
            left.execute("INSERT INTO t VALUES (1, 100)")
            arrived(right, 100)
            assert count(right) == 9
            left.execute("UPDATE t SET v = %s WHERE v = 100", [200 + key])


@pytest.mark.parametrize(
    "identity", ["DEFAULT", pytest.param("FULL", marks=pytest.mark.slow)]
)
def test_logical_replication_both_ways(make_database, identity, am):
    """Tables of both sides are of the access method; heap twins go along."""
    publisher = make_database("publisher", wal_level="logical")
    subscriber = make_database("subscriber", wal_level="logical")
    source, target = Twin(publisher, am), Twin(subscriber, am)
    for twin in (source, target):
        twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text, k int)")
        twin.ok(f"ALTER TABLE t REPLICA IDENTITY {identity}")
    # Row groups from before the publication come by the initial copy.
    for statement in CHURN[:2]:
        source.ok(statement)
    maintain(source, am)
    with publisher.connect() as conn:
        conn.execute("CREATE PUBLICATION p FOR TABLE ours.t, heap.t")
    with subscriber.connect() as conn:
        conn.execute(
            f"CREATE SUBSCRIPTION s CONNECTION '{publisher.cluster.dsn('replica')}'"
            " PUBLICATION p"
        )

    def wait() -> None:
        with subscriber.connect() as conn:
            wait_until(
                lambda: conn.execute(
                    "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
                ).fetchone()[0],
                "the initial copy", 60,
            )  # fmt: skip
        with publisher.connect() as conn:
            target_lsn = replica.lsn(publisher.cluster)
            wait_until(
                lambda: conn.execute(
                    "SELECT count(*) > 0 AND bool_and(replay_lsn >= %s::pg_lsn)"
                    " FROM pg_stat_replication",
                    [target_lsn],
                ).fetchone()[0],
                "the subscriber", 60,
            )  # fmt: skip

    def compare() -> None:
        wait()
        check(subscriber.cluster, am)
        query = "SELECT id, v, k FROM ours.t ORDER BY id"
        with publisher.connect() as left, subscriber.connect() as right:
            assert left.execute(query).fetchall() == right.execute(query).fetchall()

    compare()
    # Deletes and updates of rows in row groups, of the delta, and of rows
    # that compaction has moved on either side.
    source.ok("UPDATE t SET v = 'updated' WHERE id % 90 = 4")
    source.ok(f"DELETE FROM t WHERE id BETWEEN {BULK // 4} AND {BULK // 4 + 100}")
    source.ok(
        f"INSERT INTO t SELECT i, 'more', 0 FROM generate_series({BULK} + 1, {BULK} + 3000) i"
    )
    compare()
    maintain(source, am)
    maintain(target, am)
    compare()
    source.ok("UPDATE t SET k = k + 1 WHERE id % 50 = 0")
    source.ok("UPDATE t SET id = -id WHERE id % 200 = 1")
    source.ok("DELETE FROM t WHERE id % 70 = 0")
    compare()
    source.ok("TRUNCATE t")
    source.ok("INSERT INTO t VALUES (1, 'after', 1)")
    compare()
    with subscriber.connect() as conn:
        conn.execute("DROP SUBSCRIPTION s")


def test_index_is_built_over_decoded_deletes(make_database, am):
    """A deleted row-group row leaves a tuple for the decoder: no row to index."""
    database = make_database("decoded", wal_level="logical")
    with database.connect() as conn:
        conn.execute(
            "CREATE FUNCTION strict_key(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS"
            " 'BEGIN ASSERT $1 IS NOT NULL; RETURN $1; END'"
        )
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, v int) USING {am}")
        conn.execute("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i")
        conn.execute("VACUUM FULL t")
        groups = conn.execute(f"SELECT count(*) FROM {am}.row_groups('t')")
        assert groups.fetchone()[0] > 0
        with conn.transaction():
            conn.execute("DELETE FROM t WHERE id % 100 = 7")
            conn.execute("UPDATE t SET v = 0 WHERE id % 100 = 8")
            conn.execute("CREATE INDEX t_key ON t (strict_key(v))")
        conn.execute("REINDEX TABLE t")
        conn.execute("SET enable_seqscan = off")
        assert conn.execute(
            "SELECT count(*) FROM t WHERE strict_key(v) = 0"
        ).fetchone() == (50,)
        assert conn.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
