"""Faults that users of columnar tables have reported of others, one test each.

docs/testing.md lists them all; these are the ones that no other file covers.
"""

from __future__ import annotations

import contextlib
import threading

import psycopg
import pytest
from strata.timing import reset_timeout
from strata.wait import wait_until

BULK = 3000


@pytest.fixture
def t(twin):
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
    twin.ok("CREATE INDEX ON t (k)")
    twin.ok(
        f"INSERT INTO t SELECT i, i % 50, 'row ' || i FROM generate_series(1, {BULK}) i"
    )
    return twin


def test_columns_added_between_two_loads_of_a_transaction(t):
    load = "INSERT INTO t SELECT {0} + i, i, 'x'{1} FROM generate_series(1, 2500) i"
    for end in ("ROLLBACK", "COMMIT"):
        t.ok("BEGIN")
        t.ok(load.format(10000, ""))
        t.ok("ALTER TABLE t ADD COLUMN a int DEFAULT 7, ADD COLUMN b text")
        t.ok(load.format(20000, ", i, 'b'"))
        t.ok("ALTER TABLE t DROP COLUMN k, ADD COLUMN c int[] DEFAULT '{1,2}'")
        t.ok(
            "INSERT INTO t SELECT 30000 + i, 'y', i, 'c', ARRAY[i] FROM generate_series(1, 2500) i"
        )
        t.check()
        t.ok(end)
        t.check()


def test_unique_violation_across_statements_of_a_transaction(t):
    load = "INSERT INTO t SELECT {0} + i, i, 'x' FROM generate_series(1, 2500) i"
    for first, second in ((BULK, BULK + 2499), (BULK, 0), (-2500, -1)):
        t.ok("BEGIN")
        t.ok(load.format(first))
        t.ok("SAVEPOINT s")
        t.fails("23505", load.format(second))
        t.ok("ROLLBACK TO s")
        t.fails("23505", f"INSERT INTO t VALUES ({first + 2500}, 0, 'again')")
        t.ok("ROLLBACK TO s")
        t.ok(f"INSERT INTO t VALUES ({first + 2500}, 0, '') ON CONFLICT DO NOTHING")
        t.ok("COMMIT")
        t.check()
        t.ok(f"DELETE FROM t WHERE id > {BULK} OR id < 1")


def test_index_entries_live_for_old_snapshots(t):
    """Versions pile up under the same keys until btree deletes entries itself."""
    old = t.session()
    old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    queries = [
        "SELECT id, k FROM t WHERE k = 7",
        f"SELECT id, k FROM t WHERE id BETWEEN {BULK - 40} AND {BULK + 20}",
    ]
    for query in queries:
        old.ok(query)
    for i in range(30):
        t.ok(f"UPDATE t SET v = 'round {i}', k = k WHERE id % 3 = 1")
        t.ok(f"UPDATE t SET k = k + 50 - 100 * ({i} % 2) WHERE id > {BULK - 100}")
        if i % 10 == 5:
            t.ours.execute(f"CALL {t.am}.compact('t')")
            t.ok("VACUUM t")
    for query in queries:
        old.same(query, plans=("index scans", "bitmap scans", "no index"))
    old.ok("COMMIT")
    t.check()


def buffers(conn, query: str) -> int:
    """Pages that the query looks at, once its caches are warm."""
    for _ in range(2):
        ((plan,),) = conn.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}"
        ).fetchall()
    top = plan[0]["Plan"]
    return top["Shared Hit Blocks"] + top["Shared Read Blocks"]


def test_a_fetch_pays_for_the_deletions_near_it(twin):
    """Not for all of the row group, of which there are 20,000."""
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok("INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 60000) i")
    for i in range(40):  # those of neighbours are not side by side
        twin.ok(f"DELETE FROM t WHERE id % 3 = 0 AND id / 3 % 40 = {i}")
    conn = twin.ours
    for setting in ("enable_seqscan", "enable_bitmapscan", "enable_indexonlyscan"):
        conn.execute(f"SET {setting} = off")
    conn.execute(f"SET {twin.am}.enable_custom_scan = off")
    few = "SELECT v FROM t WHERE id IN ({})"
    scattered = few.format(", ".join(str(i * 2900 + 1) for i in range(1, 20)))
    twin.same(scattered)
    assert buffers(conn, scattered) < 19 * 12
    neighbours = "SELECT v FROM t WHERE id BETWEEN 30001 AND 30100"
    twin.same(neighbours)
    assert buffers(conn, neighbours) < 400
    twin.check()


def test_copy_makes_one_index_entry_for_each_row(t):
    t.ok("CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public")
    for conn in t.conns.values():
        with conn.cursor().copy("COPY t FROM STDIN") as copy:
            for i in range(BULK + 1, BULK + 4001):
                copy.write_row((i, i % 50, "copied"))
    t.ours.execute("SET enable_seqscan = off")
    t.ours.execute("SET enable_bitmapscan = off")
    for column, rows in (("id", BULK + 4000), ("k", BULK + 4000)):
        found = t.ours.execute(
            f"SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM t WHERE {column} >= 0"
            f" ORDER BY {column} OFFSET 0) x"
        ).fetchone()
        assert found == (rows, rows)
    for index in ("t_pkey", "t_k_idx"):
        t.ours.execute(f"SELECT bt_index_check('{index}', true)")
    t.check()


def test_memoize_and_nested_loops_with_new_parameters(t):
    t.ok("CREATE TABLE p (n int)")
    t.ok("INSERT INTO p SELECT i % 60 FROM generate_series(1, 400) i")
    t.ok("INSERT INTO t SELECT 9000 + i, i % 60, 'late' FROM generate_series(1, 70) i")
    t.ok("DELETE FROM t WHERE id % 7 = 0")
    t.ok("ANALYZE t")
    for conn in t.conns.values():
        for method in ("hashjoin", "mergejoin"):
            conn.execute(f"SET enable_{method} = off")
    for query in (
        "SELECT p.n, t.id FROM p JOIN t ON t.k = p.n",
        "SELECT p.n, x.* FROM p LEFT JOIN LATERAL (SELECT count(*), max(v) FROM t WHERE t.k = p.n) x ON true",
        "SELECT p.n, (SELECT min(id) FROM t WHERE k = p.n AND id > p.n * 10) FROM p",
        "SELECT p.n FROM p WHERE EXISTS (SELECT FROM t WHERE t.k = p.n + 5 OFFSET 0)",
    ):
        for memoize in ("on", "off"):
            for conn in t.conns.values():
                conn.execute(f"SET enable_memoize = {memoize}")
            t.same(query)


def test_compaction_sees_what_was_committed_while_it_waited(t):
    """It waits for the lock of the table, and takes its snapshot after that."""
    other = t.session()
    for sql in (
        "INSERT INTO t SELECT {0} + i, i % 50, 'meanwhile' FROM generate_series(1, 1500) i",
        "UPDATE t SET v = 'meanwhile' WHERE id % 3 = {0} % 3",
        "DELETE FROM t WHERE id % 5 = {0} % 5",
    ):
        for number in (5000, 7001):
            t.ok(f"UPDATE t SET v = v || '.' WHERE id % 9 = {number % 9}")
            other.ok("BEGIN")
            other.ok("LOCK t IN SHARE ROW EXCLUSIVE MODE")
            with contextlib.closing(t.session().ours) as compacting:
                thread = threading.Thread(
                    target=compacting.execute, args=(f"CALL {t.am}.merge('t')",)
                )
                thread.start()
                wait_until(
                    lambda pid=compacting.info.backend_pid: (
                        t.ours.execute(
                            "SELECT FROM pg_locks WHERE NOT granted AND pid = %s", [pid]
                        ).rowcount
                    ),
                    "the compaction to wait",
                )
                other.ok(sql.format(number))
                other.ok("COMMIT")
                thread.join()
            t.check()


def test_caches_of_other_backends_after_truncate(t):
    """Row numbers begin anew in a new file; readers are kept by backends."""
    other = t.session()
    reads = [
        "SELECT count(*), sum(k), min(v), max(v) FROM t",
        "SELECT * FROM t WHERE id = 2000",
        "SELECT id, v FROM t WHERE k = 17",
    ]
    for number in range(4):
        for query in reads:
            other.ok(query)
        if number % 2:
            t.ok("BEGIN")
        t.ok("TRUNCATE t")
        t.ok(
            f"INSERT INTO t SELECT i, i % 50, 'filled {number}/' || i FROM generate_series(1, {BULK}) i"
        )
        if number % 2:
            t.ok("SAVEPOINT s")
            t.ok("TRUNCATE t")
            t.ok("INSERT INTO t SELECT i, 3, 'x' FROM generate_series(1, 2900) i")
            for query in reads:
                t.ok(query)
            t.ok("ROLLBACK TO s")
            t.ok("COMMIT" if number == 1 else "ROLLBACK")
        for session in (t, other):
            for query in reads:
                session.ok(query)
            session.check()


def test_helper_functions_give_no_rights(t, db):
    """Who may not read or does not own the table learns and changes nothing."""
    conn = t.ours
    role = f"nobody_{db.name}"
    conn.execute(f"CREATE ROLE {role}")
    try:
        conn.execute(f"GRANT USAGE ON SCHEMA ours, {t.am} TO {role}")
        conn.execute(f"SET ROLE {role}")
        for sql in (
            f"CALL {t.am}.compact('ours.t')",
            f"CALL {t.am}.merge('ours.t')",
            f"SELECT * FROM {t.am}.verify('ours.t')",
            f"SELECT {t.am}.set_options('ours.t', level => 3)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(sql)
        # What shows values is for those who may read them.
        for view in ("row_groups", "column_chunks"):
            with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
                rows = conn.execute(f"SELECT * FROM {t.am}.{view}('ours.t')").fetchall()
                assert "row 1" not in str(rows)
    finally:
        conn.execute("RESET ROLE")
        conn.execute(f"DROP OWNED BY {role}")
        conn.execute(f"DROP ROLE {role}")


def test_quoted_and_qualified_names(db, am):
    with contextlib.closing(db.connect()) as conn:
        conn.execute('CREATE SCHEMA "Odd ""schema"')
        name = '"Odd ""schema"."T.1 \'x"'
        literal = "'" + name.replace("'", "''") + "'"
        conn.execute(
            f'CREATE TABLE {name} ("Id" int PRIMARY KEY, "a.b" text) USING {am}'
        )
        conn.execute(
            f'SELECT {am}.set_options({literal}, row_group_rows => 1024, orderby => \'"a.b" DESC, "Id"\')'
        )
        conn.execute(
            f"INSERT INTO {name} SELECT i, 'v' || i % 7 FROM generate_series(1, 5000) i"
        )
        conn.execute(f'UPDATE {name} SET "a.b" = \'w\' WHERE "Id" % 10 = 0')
        conn.execute("SET search_path = ''")
        for sql in ("CALL {0}.compact({1})", "CALL {0}.merge({1})"):
            conn.execute(sql.format(am, literal))
        conn.execute(f"VACUUM FULL {name}")
        assert conn.execute(f"SELECT * FROM {am}.verify({literal})").fetchall() == []
        assert conn.execute(
            f'SELECT count(*), count(DISTINCT "Id"), count(*) FILTER (WHERE "a.b" = \'w\') FROM {name}'
        ).fetchone() == (5000, 5000, 500)
        rows = conn.execute(
            f"SELECT sum(rows) FROM {am}.row_groups({literal})"
        ).fetchone()
        assert rows == (5000,)


def test_procedures_keep_the_settings_of_the_session(t):
    """Timeouts above all: they have transactions of their own."""
    values = {
        "statement_timeout": "59s",
        "lock_timeout": "57s",
        "idle_in_transaction_session_timeout": "58s",
        "search_path": '"$user", ours',
        "default_transaction_isolation": "repeatable read",
        "role": "none",
        "work_mem": "5MB",
        "maintenance_work_mem": "33MB",
    }
    conn = t.ours
    for name, value in values.items():
        conn.execute(f"SELECT set_config('{name}', %s, false)", [value])
    for sql in (
        f"CALL {t.am}.compact('t')",
        "DELETE FROM t WHERE id % 3 = 0",
        f"CALL {t.am}.merge('t')",
        f"SELECT * FROM {t.am}.verify('t')",
    ):
        conn.execute(sql)
        got = {
            name: conn.execute(f"SELECT current_setting('{name}')").fetchone()[0]
            for name in values
        }
        assert got == values, sql
    assert conn.execute("SHOW transaction_isolation").fetchone() == ("repeatable read",)
    conn.execute("SET statement_timeout = '1min'")
    conn.execute("SET statement_timeout = 0")


def test_a_cancelled_verify_leaves_no_transaction_open(t):
    t.ok(
        "INSERT INTO t SELECT i, i % 50, md5(i::text) FROM generate_series(4000, 30000) i"
    )
    t.ours.execute("SET statement_timeout = '8ms'")
    with contextlib.suppress(psycopg.errors.QueryCanceled):
        for _ in range(20):
            t.ours.execute(f"SELECT * FROM {t.am}.verify('t')")
    reset_timeout(t.ours)
    assert t.ours.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
    assert t.ours.execute(f"SELECT * FROM {t.am}.verify('t')").fetchall() == []


def test_toast_is_reindexed_while_rows_are_locked_for_the_first_time(t):
    """A lock leaves a tuple in TOAST, which REINDEX must enter only once."""
    t.ok("INSERT INTO t SELECT i, 1, 'more' FROM generate_series(4000, 63999) i")
    t.ok("DELETE FROM t WHERE id BETWEEN 6000 AND 25999")
    stop = threading.Event()
    locked = []

    def lock(conn):
        for i in range(26000, 64000):
            if stop.is_set():
                break
            sql = "SELECT id FROM t WHERE id = %s FOR KEY SHARE"
            locked.extend(conn.execute(sql, [i]).fetchall())

    with contextlib.closing(t.session().ours) as locking:
        thread = threading.Thread(target=lock, args=(locking,))
        thread.start()
        try:
            for _ in range(3):
                t.ours.execute("REINDEX TABLE CONCURRENTLY t")
        finally:
            stop.set()
            thread.join()
    assert locked == [(26000 + i,) for i in range(len(locked))] != []
    assert t.ours.execute(f"SELECT * FROM {t.am}.verify('t')").fetchall() == []
