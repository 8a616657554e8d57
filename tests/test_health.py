"""health(): each finding is there when it should be, and gone after its SQL."""

from __future__ import annotations

import psycopg
import pytest
from strata.cluster import WORKERS
from strata.twin import execute
from strata.wait import wait_until


def flush(conn) -> None:
    """What the session has counted so far: else ANALYZE comes before it."""
    conn.execute("SELECT pg_stat_force_next_flush()")


def health(conn, am: str, of: str = "'t'", patience: str | None = None) -> dict:
    """Finding to (table, detail, value, threshold, sql)."""
    flush(conn)
    more = "" if patience is None else f", '{patience}'"
    rows = conn.execute(
        f"SELECT what, table_name::text, detail, value, threshold, sql FROM {am}.health({of}{more})"
    ).fetchall()
    found = {what: rest for what, *rest in rows}
    for what, (_, detail, value, threshold, sql) in found.items():
        assert detail and sql, what
        assert value is None or threshold is None or value > threshold, what
    return found


@pytest.fixture
def t(conn, am):
    return make_table(conn, am)


def make_table(conn, am):
    """An empty table t that nobody compacts."""
    conn.execute(f"CREATE TABLE t (id int, v text) USING {am}")
    conn.execute(
        f"SELECT {am}.set_options('t', auto_compact => false, row_group_rows => 8192)"
    )
    conn.execute("ALTER TABLE t SET (autovacuum_enabled = off)")
    return conn


def load(conn, first: int, rows: int, value: str = "md5(i::text)") -> None:
    conn.execute(
        f"INSERT INTO t SELECT i, {value} FROM generate_series({first}, {first + rows - 1}) i"
    )


def well(conn, am: str) -> None:
    flush(conn)
    conn.execute("ANALYZE t")
    assert health(conn, am) == {}


def mend(conn, am: str, what: str, **kwargs) -> None:
    """The finding's SQL, and it is gone."""
    found = health(conn, am, **kwargs)
    assert what in found, found
    conn.execute(found[what][-1])
    # a session that is to end does so a moment later
    wait_until(lambda: what not in health(conn, am, **kwargs), "it to be gone", 10)


def test_nothing_to_do(t, am):
    assert health(t, am) == {}
    load(t, 1, 20_000)
    t.execute(f"CALL {am}.merge('t')")
    well(t, am)
    assert health(t, am, "NULL") == {}


def test_statistics(t, am):
    load(t, 1, 20_000)
    t.execute(f"CALL {am}.merge('t')")
    assert health(t, am)["statistics"][1] == "never analyzed"
    mend(t, am, "statistics")
    well(t, am)
    load(t, 20_001, 9_000)
    assert "have changed" in health(t, am)["statistics"][1]
    mend(t, am, "statistics")


def test_delta(conn, am):
    conn.execute(
        "CREATE TABLE t USING heap AS SELECT i AS id, repeat(md5(i::text), 3) AS v"
        " FROM generate_series(1, 90000) i"
    )
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
    assert list(health(conn, am, "NULL")) == ["delta", "statistics"]
    mend(conn, am, "delta")
    well(conn, am)


def test_small_row_groups(t, am):
    for n in range(12):
        load(t, n * 3000, 3000)
    mend(t, am, "small row groups")
    well(t, am)


def test_orderby(t, am):
    load(t, 1, 50_000)
    t.execute(f"SELECT {am}.set_options('t', orderby => 'v')")
    mend(t, am, "orderby")
    well(t, am)


def test_deleted_rows(t, am):
    load(t, 1, 60_000)
    t.execute(f"CALL {am}.merge('t')")
    t.execute("DELETE FROM t WHERE id % 4 = 0")
    mend(t, am, "deleted rows")
    well(t, am)


def test_indexes(conn, am, db):
    """Rows that were moved have left their old entries' room."""
    conn.execute(
        "CREATE TABLE t USING heap AS SELECT i AS id, hashint4(i) AS v FROM generate_series(1, 300000) i"
    )
    conn.execute("CREATE INDEX t_v ON t (v)")
    conn.execute("ALTER TABLE t ADD PRIMARY KEY (id)")
    # nothing is known of others
    conn.execute("CREATE INDEX t_hash ON t USING hash (v) WITH (fillfactor = 50)")
    assert conn.execute("SELECT pg_relation_size('t_hash') > 9000000").fetchone() == (
        True,
    )
    conn.execute("ANALYZE t")
    conn.execute(f"SELECT {am}.adopt('t')")
    conn.execute(f"CALL {am}.merge('t')")
    conn.execute("ANALYZE t")
    found = health(conn, am)["index"]
    assert "t_pkey has " in found[1] or "t_v has " in found[1]
    with db.connect() as other:
        other.execute("BEGIN")
        other.execute("REINDEX INDEX t_v")
        assert "index" not in health(conn, am)
        other.execute("ROLLBACK")
    for _ in range(2):
        if "index" in (now := health(conn, am)):
            conn.execute(now["index"][-1])
    assert "index" not in health(conn, am)


def test_free_space(t, am):
    t.execute(f"SELECT {am}.set_options('t', compression => 'none')")
    long = "(SELECT string_agg(md5((i * g)::text), '') FROM generate_series(1, 10) g)"
    load(t, 1, 60_000, long)
    load(t, 60_001, 60_000, long)
    t.execute("DELETE FROM t WHERE id <= 60000")
    t.execute("VACUUM t")
    before = t.execute("SELECT pg_relation_size('t')").fetchone()[0]
    mend(t, am, "free space")
    assert t.execute("SELECT pg_relation_size('t')").fetchone()[0] < before * 0.7
    well(t, am)


def test_old_deletions_and_toast(t, am):
    """Deletions one by one; what they leave in the TOAST relation."""
    load(t, 1, 200_000)
    t.execute(f"CALL {am}.merge('t')")
    t.execute("DELETE FROM t WHERE id % 18 = 0 RETURNING id").fetchall()
    mend(t, am, "old deletions")
    mend(t, am, "TOAST relation")
    well(t, am)


def test_old_snapshot(t, am, db):
    load(t, 1, 60_000)
    t.execute(f"CALL {am}.merge('t')")
    with db.connect() as other:
        (pid,) = other.execute("SELECT pg_backend_pid()").fetchone()
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t")
        t.execute("DELETE FROM t WHERE id % 4 = 0")
        t.execute(f"CALL {am}.merge('t')")
        assert "old snapshot" not in health(t, am)
        found = health(t, am, patience="0")["old snapshot"]
        assert str(pid) in found[1]
        mend(t, am, "old snapshot", patience="0")
        with pytest.raises(psycopg.OperationalError):
            other.execute("SELECT 1")
    t.execute(f"CALL {am}.merge('t')")
    well(t, am)


def test_a_prepared_transaction(t, am, db):
    load(t, 1, 60_000)
    t.execute(f"CALL {am}.merge('t')")
    t.execute("CREATE TABLE other (id int)")
    with db.connect() as other:
        other.execute("BEGIN")
        other.execute("INSERT INTO other VALUES (1)")
        other.execute("PREPARE TRANSACTION 'old one'")
    t.execute("DELETE FROM t WHERE id % 4 = 0")
    t.execute(f"CALL {am}.merge('t')")
    assert "old one" in health(t, am, patience="0")["old snapshot"][1]
    mend(t, am, "old snapshot", patience="0")


@pytest.mark.slow
def test_a_worker_that_waits(make_cluster, am):
    cluster = make_cluster("worker", **WORKERS)
    with cluster.connect() as conn, cluster.connect() as other:
        conn.execute(f"CREATE EXTENSION {am}")
        t = make_table(conn, am)
        t.execute(f"SELECT {am}.set_options('t', auto_compact => true)")
        load(t, 1, 60_000)
        other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t")
        t.execute("DELETE FROM t WHERE id % 4 = 0")
        found = wait_until(
            lambda: health(t, am, patience="0").get("worker"), "the worker to wait", 60
        )
        assert found[1] == "waits for old snapshots of it"
        assert t.execute(found[-1]).fetchall()
        other.execute("ROLLBACK")
        wait_until(
            lambda: "worker" not in health(t, am, patience="0"), "it to go on", 60
        )


def test_a_locked_table(t, am, db):
    """The others are still looked at."""
    t.execute("CREATE TABLE u (LIKE t) WITH (autovacuum_enabled = off)")
    t.execute(f"ALTER TABLE u SET ACCESS METHOD {am}")
    t.execute("INSERT INTO u SELECT i, 'x' FROM generate_series(1, 5000) i")
    with db.connect() as other:
        other.execute("BEGIN; LOCK TABLE t")
        found = health(t, am, "NULL")
        assert {what: rest[0] for what, rest in found.items()} == {
            "locked": "t",
            "statistics": "u",
        }
        assert t.execute(found["locked"][-1]).fetchall()
    flush(t)
    t.execute("ANALYZE u")
    assert health(t, am, "NULL") == {}


def test_partitions_and_their_policy(conn, am):
    conn.execute(
        "CREATE TABLE p (at date, id int) PARTITION BY RANGE (at);"
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') USING heap;"
        f"CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') USING {am};"
        "CREATE INDEX brin ON p1 USING brin (at);"
        "INSERT INTO p SELECT date '2020-01-01' + i % 700, i FROM generate_series(1, 9000) i"
    )
    flush(conn)
    conn.execute("ANALYZE p1")
    assert {what: rest[0] for what, rest in health(conn, am, "'p'").items()} == {"statistics": "p2"}  # fmt: skip
    conn.execute("ANALYZE p2")
    assert health(conn, am, "'p'") == {}
    conn.execute(
        f"SELECT {am}.set_policy('p', adopt_after => '1 day', schedule => NULL)"
    )
    conn.execute(f"CALL {am}.run_policies()")
    found = health(conn, am, "'p'")
    assert "brin" in found["policy"][1]
    assert health(conn, am, "NULL") == found
    # what is not wanted any more, or done by hand, is no finding
    conn.execute(f"SELECT {am}.remove_policy('p')")
    assert "policy" not in health(conn, am, "NULL")
    conn.execute(
        f"SELECT {am}.set_policy('p', adopt_after => '1 day', schedule => NULL)"
    )
    assert health(conn, am, "'p'") == found
    # nor does an error hide it, when nobody can say what is wanted
    conn.execute(
        f"ALTER FUNCTION {am}.policy_setting(regclass, text) RENAME TO policy_was_set"
    )
    assert health(conn, am, "NULL") == found
    conn.execute(
        f"ALTER FUNCTION {am}.policy_was_set(regclass, text) RENAME TO policy_setting"
    )
    conn.execute("DROP INDEX brin")
    conn.execute(f"BEGIN; SELECT {am}.adopt('p1')")
    assert "policy" not in health(conn, am, "'p'")
    conn.execute("ROLLBACK")
    assert health(conn, am, "'p'") == found
    conn.execute(found["policy"][-1])
    assert "policy" not in health(conn, am, "NULL")


def test_who_may_ask(t, am, db):
    load(t, 1, 20_000)
    role = f"asks_{db.name}"
    t.execute(f"CREATE ROLE {role}; CREATE TABLE h (a int)")
    try:
        t.execute(f"SET ROLE {role}")
        assert execute(t, f"SELECT * FROM {am}.health('t')").sqlstate == "42501"
        assert health(t, am, "NULL") == {}
        t.execute("RESET ROLE")
        t.execute(f"GRANT SELECT (id) ON t TO {role}")
        t.execute(f"SET ROLE {role}")
        assert list(health(t, am)) == ["statistics"]
        assert list(health(t, am, "NULL")) == ["statistics"]
    finally:
        t.execute("RESET ROLE")
        t.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")
    assert execute(t, f"SELECT * FROM {am}.health('h')").sqlstate == "42809"
