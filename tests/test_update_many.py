"""UPDATE and MERGE of so many rows that new versions go to row groups: the same
as heap, and smaller than a delta."""

from __future__ import annotations

import random
import threading
import time

import psycopg
import pytest
from strata.threads import begun, race_time
from strata.twin import Twin
from strata.wait import wait_until

BULK = 20_000


@pytest.fixture
def t(twin: Twin) -> Twin:
    """Row groups and some delta; a unique and another index."""
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, amount int, note text)")
    twin.ok("CREATE INDEX ON t (k)")
    twin.ok(
        "INSERT INTO t SELECT i, i, i % 100, 'note ' || i % 300"
        f" FROM generate_series(1, {BULK}) i"
    )
    # its worker makes row groups, too
    twin.ours.execute(f"SELECT {twin.am}.set_options('t', auto_compact => false)")
    for i in range(10):
        twin.ok("INSERT INTO t VALUES (%s, %s, 1, 'delta')", [BULK + i + 1, -i])
    return twin


def last_group(twin: Twin, table: str = "t") -> int:
    """The newest row group, by its first row."""
    (row,) = twin.ours.execute(
        f"SELECT max(first_row) FROM {twin.am}.row_groups(%s::regclass)", [table]
    ).fetchone()
    return row


def bulk(twin: Twin, sql: str, params=None) -> None:
    """A statement that must put new versions into a row group."""
    before = last_group(twin)
    twin.ok(sql, params)
    assert last_group(twin) > before, f"no row group was made by {sql}"


def verify(twin: Twin, table: str = "t") -> None:
    twin.check(table)
    found = twin.ours.execute(
        f"SELECT * FROM {twin.am}.verify('ours.{table}')"
    ).fetchall()
    assert found == []


def test_rows_change_once(t):
    bulk(t, "UPDATE t SET amount = amount + 1")
    verify(t)
    bulk(t, "UPDATE t SET note = NULL WHERE id % 2 = 0")
    verify(t)
    t.ok("UPDATE t SET amount = -1 WHERE id BETWEEN 9000 AND 9010 RETURNING *")
    t.ok("DELETE FROM t WHERE id % 3 = 0")
    bulk(t, "UPDATE t SET id = -id, amount = amount * 2")
    verify(t)
    t.ok("VACUUM t")
    verify(t)
    t.ok("VACUUM FULL t")
    verify(t)


def test_table_stays_small(t):
    t.ours.execute("VACUUM FULL t")
    size = "SELECT pg_table_size('t')"
    (fresh,) = t.ours.execute(size).fetchone()
    bulk(t, "UPDATE t SET note = 'some other note ' || id")
    (after,) = t.ours.execute(size).fetchone()
    (heap,) = t.heap.execute(size).fetchone()
    # 2,000 versions are rows of the delta
    assert after - fresh < heap / 4


def test_an_index_that_leads_to_new_versions(t):
    """The command does not see what it has made (Halloween)."""
    for conn in t.conns.values():
        conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        conn.execute("SET colcompress.enable_custom_scan = off")
    bulk(t, "UPDATE t SET k = k + 500 WHERE k > 0")
    bulk(t, "UPDATE t SET k = k - 500 WHERE k > 0")
    verify(t)


def test_one_transaction(t):
    t.ok("BEGIN")
    bulk(t, "UPDATE t SET amount = amount + 1")
    t.check()
    t.ok("SAVEPOINT a")
    bulk(t, "UPDATE t SET amount = amount + 10 WHERE id > 5000")
    t.ok("DELETE FROM t WHERE id % 7 = 0")
    t.check()
    t.ok("ROLLBACK TO a")
    t.check()
    bulk(t, "UPDATE t SET amount = amount + 100 WHERE id > 5000")
    t.ok("SAVEPOINT b")
    bulk(t, "UPDATE t SET note = 'b' WHERE id % 2 = 1")
    t.ok("RELEASE b")
    t.ok("UPDATE t SET amount = 0 WHERE id IN (4999, 5001, 19999)")
    t.check()
    t.ok("COMMIT")
    verify(t)
    t.ok("BEGIN")
    bulk(t, "UPDATE t SET amount = amount + 1")
    t.ok("ROLLBACK")
    verify(t)


def test_prepared_transactions(t):
    for end in ("ROLLBACK", "COMMIT"):
        for schema, conn in t.conns.items():
            conn.execute("BEGIN")
            conn.execute("UPDATE t SET amount = amount + 1 WHERE id % 3 > 0")
            conn.execute(f"PREPARE TRANSACTION 'many {schema}'")
        t.check()
        for schema, conn in t.conns.items():
            conn.execute(f"{end} PREPARED 'many {schema}'")
        verify(t)


def test_errors_in_the_middle(t):
    t.fails("22012", "UPDATE t SET amount = 1 / (id - 15000)")
    verify(t)
    t.fails("23505", "UPDATE t SET id = CASE WHEN id = 15000 THEN 7 ELSE id END")
    verify(t)
    t.fails(
        "57014",
        "UPDATE t SET amount = CASE WHEN id = 15000"
        " THEN pg_cancel_backend(pg_backend_pid())::int + pg_sleep(0.1)::text::int ELSE 1 END",
    )
    verify(t)
    t.ok(
        """
        DO $$
        BEGIN
            FOR i IN 0..1 LOOP
                BEGIN
                    UPDATE t SET amount = amount + 1;
                    UPDATE t SET amount = 1 / (id - 15000 - i * 10 * 1000);
                EXCEPTION WHEN division_by_zero THEN
                    UPDATE t SET note = 'caught' WHERE id % 5 > 0;
                END;
            END LOOP;
        END $$
        """
    )
    verify(t)


def test_functions_that_read_and_change_the_table(t):
    t.ok(
        """
        CREATE FUNCTION look(i int) RETURNS int LANGUAGE plpgsql AS $$
        DECLARE
            n int;
            m int;
        BEGIN
            IF i % 1000 = 0 THEN
                SELECT count(*), count(DISTINCT id) INTO n, m FROM t;
                IF n <> m THEN
                    RAISE EXCEPTION '% rows, % of them once', n, m;
                END IF;
                PERFORM * FROM t WHERE id = i + 1 FOR UPDATE;
                RETURN n;
            END IF;
            RETURN 0;
        END $$
        """
    )
    t.ok("UPDATE t SET amount = look(id)")
    verify(t)
    for change in ("UPDATE t SET note = 'x'", "DELETE FROM t"):
        t.ok("DROP FUNCTION IF EXISTS change")
        t.ok(
            f"""
            CREATE FUNCTION change(i int) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN
                IF i = 15000 THEN {change} WHERE id = i + 5; END IF;
                RETURN 0;
            END $$
            """
        )
        t.fails("27000", "UPDATE t SET amount = change(id)")
        verify(t)


def test_subqueries_on_the_same_table(t):
    bulk(
        t,
        "UPDATE t SET amount = (SELECT sum(amount) FROM t o WHERE o.id BETWEEN t.id AND t.id + 2)"
        " WHERE id < 8000",
    )
    bulk(t, "UPDATE t SET amount = o.amount FROM t o WHERE o.id = t.id + 1")
    t.ok("UPDATE t SET note = 'twice' FROM generate_series(1, 2) g WHERE t.id > 4000")
    verify(t)


def test_merge_and_upsert(t):
    bulk(
        t,
        "MERGE INTO t USING (SELECT i * 2 AS id FROM generate_series(1, 12000) i) s"
        " ON t.id = s.id WHEN MATCHED AND t.amount = 0 THEN DELETE"
        " WHEN MATCHED THEN UPDATE SET note = 'merged', amount = t.amount + 1"
        " WHEN NOT MATCHED THEN INSERT VALUES (s.id, 1, 1, 'new')",
    )
    verify(t)
    t.ok(
        "INSERT INTO t SELECT i, 0, 0, 'upserted' FROM generate_series(5000, 25000) i"
        " ON CONFLICT (id) DO UPDATE SET amount = t.amount + 1000, note = excluded.note"
    )
    verify(t)
    t.fails(
        "21000",
        "INSERT INTO t SELECT 1 + i % 9000, 0, 0, '' FROM generate_series(1, 12000) i"
        " ON CONFLICT (id) DO UPDATE SET amount = t.amount + 1",
    )
    t.fails(
        "21000",
        "MERGE INTO t USING (SELECT 1 + i % 9000 AS id FROM generate_series(1, 12000) i) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET amount = 1",
    )
    verify(t)


def test_triggers(t):
    t.ok("CREATE TABLE seen (op text, id int, before int, after int) USING heap")
    t.ok(
        """
        CREATE FUNCTION after_row() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO seen SELECT 'row', OLD.id, OLD.amount, t.amount FROM t
            WHERE t.id = NEW.id;
            RETURN NULL;
        END $$
        """
    )
    t.ok(
        """
        CREATE FUNCTION after_all() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO seen SELECT 'all', count(*), sum(o.amount), sum(n.amount)
            FROM o JOIN n USING (id);
            RETURN NULL;
        END $$
        """
    )
    t.ok(
        "CREATE CONSTRAINT TRIGGER r AFTER UPDATE ON t DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW WHEN (NEW.id % 10 = 0) EXECUTE FUNCTION after_row()"
    )
    t.ok(
        "CREATE TRIGGER a AFTER UPDATE ON t REFERENCING OLD TABLE AS o NEW TABLE AS n"
        " EXECUTE FUNCTION after_all()"
    )
    t.ok("BEGIN")
    bulk(t, "UPDATE t SET amount = amount + 1")
    t.ok("UPDATE t SET amount = amount + 1 WHERE id IN (15000, 15010)")
    t.ok("COMMIT")
    verify(t)
    t.check("seen")
    t.ok(
        """
        CREATE FUNCTION before_row() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.id % 9 = 0 THEN RETURN NULL; END IF;
            NEW.note := OLD.note || '*';
            RETURN NEW;
        END $$
        """
    )
    t.ok(
        "CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION before_row()"
    )
    bulk(t, "UPDATE t SET amount = amount + 1")
    verify(t)
    t.check("seen")


def test_foreign_keys(t):
    """A table that is referred to goes the old way; one that refers does not."""
    t.ok("CREATE TABLE child (id int REFERENCES t ON UPDATE CASCADE, n int)")
    t.ok("CREATE INDEX ON child (id)")
    t.ok(f"INSERT INTO child SELECT i, i FROM generate_series(1, {BULK}) i")
    group, of_child = last_group(t), last_group(t, "child")
    t.ok("UPDATE t SET amount = amount + 1")
    assert last_group(t) == group
    t.ok("UPDATE child SET id = id + 1, n = -n")
    assert last_group(t, "child") > of_child
    t.fails("23503", "UPDATE child SET id = id + 100")
    t.ok("UPDATE t SET id = -id WHERE id > 17000")
    verify(t)
    verify(t, "child")


def test_deferred_unique_constraint(twin):
    twin.ok("CREATE TABLE t (k int UNIQUE DEFERRABLE INITIALLY DEFERRED, v int)")
    twin.ok(f"INSERT INTO t SELECT i, 0 FROM generate_series(1, {BULK}) i")
    twin.ok("BEGIN")
    bulk(twin, "UPDATE t SET k = k + 1")
    bulk(twin, "UPDATE t SET k = k - 1, v = 1")
    twin.ok("COMMIT")
    verify(twin)
    twin.ok("BEGIN")
    bulk(twin, "UPDATE t SET k = k - k % 2")
    twin.fails("23505", "COMMIT")
    verify(twin)


def test_partitions(twin):
    twin.ok("CREATE TABLE t (id int, part int, v text) PARTITION BY LIST (part)")
    for part in range(3):
        twin.ok(f"CREATE TABLE t{part} PARTITION OF t FOR VALUES IN ({part})")
    twin.ok(f"INSERT INTO t SELECT i, i % 2, 'a' FROM generate_series(1, {BULK}) i")
    before = last_group(twin, "t1")
    twin.ok("UPDATE t SET v = 'b'")
    assert last_group(twin, "t1") > before
    twin.ok("UPDATE t SET part = 2 WHERE id % 4 = 1")
    twin.ok("UPDATE t SET v = v || part, part = (part + 1) % 3 WHERE id % 3 = 0")
    for table in ("t", "t0", "t1", "t2"):
        twin.check(table)


def test_cursor_older_than_the_update(t):
    t.ok("BEGIN")
    t.ok("DECLARE c CURSOR FOR SELECT * FROM t ORDER BY id")
    t.ok("DECLARE u CURSOR FOR SELECT * FROM t WHERE id = 15000 FOR UPDATE")
    t.ok("FETCH 2 FROM c")
    t.ok("FETCH 1 FROM u")
    bulk(t, "UPDATE t SET amount = amount + 1")
    t.ok("FETCH 5 FROM c")
    t.ok("MOVE 14000 FROM c")
    t.ok("FETCH 5 FROM c")
    t.run("UPDATE t SET note = 'current' WHERE CURRENT OF u")
    t.run("COMMIT")
    verify(t)


def test_snapshots_of_other_sessions(t):
    old = t.session()
    old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.check()
    bulk(t, "UPDATE t SET amount = amount + 1")
    t.ok("VACUUM t")
    old.check()
    old.ok("SAVEPOINT s")
    for change in (
        "UPDATE t SET note = 'old' WHERE id = 15000",
        "DELETE FROM t WHERE id = 15000",
        "SELECT * FROM t WHERE id = 15000 FOR UPDATE",
        "UPDATE t SET note = 'old' WHERE id > 4000",
    ):
        old.fails("40001", change)
        old.ok("ROLLBACK TO s")
    old.ok("SELECT * FROM t WHERE id = 15000 FOR KEY SHARE")
    old.check()
    old.ok("COMMIT")
    old.check()


def test_returning_and_statistics(t):
    t.ok("BEGIN")
    t.ok(
        "UPDATE t SET amount = amount + 1 RETURNING id, amount, tableoid::regclass::text"
    )
    t.ok(
        "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_xact_user_tables"
        " WHERE relid = 't'::regclass"
    )
    rows = t.ours.execute(
        "UPDATE t SET amount = amount + 1 WHERE id > 5000 RETURNING id, ctid::text, xmin::text"
    ).fetchall()
    shown = t.ours.execute("SELECT id, ctid::text, xmin::text FROM t WHERE id > 5000")
    assert sorted(rows) == sorted(shown.fetchall())
    t.ours.execute("COMMIT")


def test_latest_version_of_a_tid(t):
    """currtid2() goes on through row groups."""
    (old,) = t.ours.execute("SELECT ctid::text FROM t WHERE id = 15000").fetchone()
    bulk(t, "UPDATE t SET amount = amount + 1")
    bulk(t, "UPDATE t SET amount = amount + 1")
    t.ok("UPDATE t SET amount = amount + 1 WHERE id = 15000")
    found = t.ours.execute(
        "SELECT id FROM t WHERE ctid = currtid2('ours.t', %s::tid)", [old]
    )
    assert found.fetchall() == [(15000,)]


def test_compaction_moves_new_versions(t):
    bulk(t, "UPDATE t SET amount = amount + 1 WHERE id % 2 = 0")
    t.ours.execute(f"CALL {t.am}.merge('t')")
    verify(t)
    bulk(t, "UPDATE t SET amount = amount + 1 WHERE id % 3 = 0")
    t.ours.execute(f"CALL {t.am}.compact('t')")
    verify(t)


# Rows that are dense, sparse and single in their vectors.
WIDE = 9_000
SOME = (
    "true",
    "id % 10 = 0",
    "id % 32 = 0",
    "id % 97 = 0",
    "id = 7500",
    "id BETWEEN 5000 AND 5019",
)


@pytest.fixture
def wide(twin: Twin) -> Twin:
    """Columns of all kinds, of which a new version keeps most: some added, one
    dropped, one generated, and values that stand alone."""
    twin.ok(
        "CREATE TABLE t (gone int, id int PRIMARY KEY, k int, c char(3), n numeric,"
        " f real, d date, b bool, s text, j jsonb, a text[], big text,"
        " g int GENERATED ALWAYS AS (k * 2) STORED)"
    )
    twin.ok(
        "INSERT INTO t SELECT i, i, i % 1000, i % 10, CASE WHEN i % 7 > 0 THEN i / 8.0 END,"
        " i / 3.0, date '2024-01-01' + i % 500, i % 3 = 0, md5(i::text),"
        " jsonb_build_object('i', i, 's', 'v' || i % 50, 'a', ARRAY[i, i + 1]),"
        " ARRAY['a' || i % 20, NULL], CASE WHEN i % 2000 = 0 THEN repeat(md5(i::text), 40000) END"
        f" FROM generate_series(1, {WIDE}) i"
    )
    twin.ok("ALTER TABLE t DROP COLUMN gone")
    twin.ok(
        "ALTER TABLE t ADD COLUMN late int DEFAULT 7, ADD COLUMN none text, ADD COLUMN j2 jsonb"
    )
    twin.ok("CREATE INDEX ON t (k)")
    return twin


@pytest.mark.parametrize("way", ["scan", "index", "plain", "whole"])
def test_a_new_version_keeps_the_other_columns(wide, way):
    settings = {
        "scan": "SET enable_indexscan = off; SET enable_bitmapscan = off",
        "index": "SET enable_seqscan = off; SET enable_bitmapscan = off",
        "plain": f"SET {wide.am}.enable_custom_scan = off",
        "whole": f"SET {wide.am}.enable_partial_rows = off",
    }[way]
    wide.ours.execute(settings)
    for some in SOME:
        wide.ok(f"UPDATE t SET n = n + 1, k = k + 1 WHERE {some}")
        wide.ok(f"UPDATE t SET s = c, j2 = j WHERE id < 7000 AND {some}")
        wide.ok(f"UPDATE t SET none = j ->> 's' WHERE j ? 's' AND {some}")
        wide.ok(f"UPDATE t SET j2 = j -> 'a' WHERE id < 7000 AND {some}")
        wide.ok(f"UPDATE t SET s = big, none = 'x' WHERE id > 7000 AND {some}")
    verify(wide)
    wide.ok(
        "UPDATE t SET id = -id, k = DEFAULT, c = 'c', n = id, f = 1, d = d + 1, b = NOT b,"
        " s = 's', j = '1', a = '{}', big = NULL, late = late + 1, none = none || 'y'"
    )
    verify(wide)


def test_new_versions_of_joined_rows(wide):
    """The scan stands elsewhere when a row comes: hashed, sorted, rescanned."""
    wide.ok("CREATE TABLE s AS SELECT id, id % 10 AS k FROM t")
    for node in ("enable_hashjoin", "enable_mergejoin", "enable_nestloop"):
        for other in ("enable_hashjoin", "enable_mergejoin", "enable_nestloop"):
            for conn in wide.conns.values():
                conn.execute(f"SET {other} = {'on' if other == node else 'off'}")
        wide.ok(
            "UPDATE t SET s = t.s || s.k FROM s WHERE s.id = t.id AND s.k < 3 AND t.id < 5000"
        )
        wide.ok("UPDATE t SET b = true FROM (SELECT 30 * i AS id FROM generate_series(1, 300) i) s"
                " WHERE s.id = t.id")  # fmt: skip
    wide.check()
    wide.ok(
        "WITH x AS (UPDATE t SET k = k + 1 WHERE id % 3 = 0 RETURNING id, s)"
        " UPDATE t SET n = 0 FROM x WHERE x.id + 1 = t.id"
    )
    wide.ok(
        "WITH x AS (UPDATE t SET k = k + 1 WHERE id % 3 = 0)"
        " UPDATE t SET n = 1 WHERE id % 3 = 1"
    )
    verify(wide)


def test_functions_that_read_while_new_versions_are_made(wide):
    """A generated column and triggers read rows of the same row group, and
    change some."""
    wide.ok(
        """
        CREATE FUNCTION peek(i int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
        DECLARE
            l int;
        BEGIN
            SELECT length(s) + length(j::text) INTO l FROM t WHERE id = i % 50 + 1;
            RETURN l;
        END $$
        """
    )
    wide.ok(
        """
        CREATE FUNCTION before_row() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.id % 1000 = 1 THEN
                UPDATE t SET n = -1 WHERE id = -NEW.id;
                UPDATE t SET late = -1 WHERE id = NEW.id + 1;
            END IF;
            NEW.none := (SELECT s || (j ->> 's') FROM t WHERE id = NEW.id % 100 + 3);
            RETURN NEW;
        END $$
        """
    )
    wide.ok("ALTER TABLE t ADD COLUMN p text GENERATED ALWAYS AS (peek(k)) STORED")
    wide.ok("UPDATE t SET k = k + 1 WHERE id % 10 = 0")
    verify(wide)
    wide.ok(
        "CREATE TRIGGER b BEFORE UPDATE ON t FOR EACH ROW"
        " WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION before_row()"
    )
    wide.ok("UPDATE t SET k = k + 1 WHERE id % 5 = 1 AND id > 200")
    verify(wide)


@pytest.mark.parametrize("many", [False, True])
def test_an_updater_waits_for_another_one(wide, many):
    """It goes on with the row's newest version, wherever that is."""
    some = "id % 2 = 0" if many else "id IN (7500, 7510)"
    for conn in wide.conns.values():
        conn.execute("BEGIN")
        conn.execute(f"UPDATE t SET s = s || 'first', k = 5 WHERE {some}")
    other = wide.session()
    update = "UPDATE t SET n = id, k = k + 1 WHERE id % 10 = 0"
    updated = [
        begun(lambda conn=conn: conn.execute(update).rowcount)
        for conn in other.conns.values()
    ]
    for name, conn in wide.conns.items():
        pid = other.conns[name].info.backend_pid
        wait_until(
            lambda pid=pid, conn=conn: conn.execute(
                "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s",
                [pid],
            ).fetchone()[0],
            "the other updater to wait",
        )
    wide.ok("COMMIT")
    assert {count() for count in updated} == {WIDE // 10}
    verify(wide)


def test_returning_shows_old_rows(wide):
    if wide.ours.info.server_version < 180000:
        pytest.skip("RETURNING knows OLD from 18 on")
    for some in SOME:
        wide.ok(
            f"UPDATE t SET k = k + 1, s = 'n' WHERE {some}"
            " RETURNING old.k, old.s, new.s, old.j, new.n, old.big IS NULL, old.tableoid > 0"
        )
    wide.ok("UPDATE t SET k = 0 WHERE id = 77 RETURNING old, new")
    verify(wide)


@pytest.mark.parametrize("seed", range(2))
def test_no_update_is_lost(twin, seed):
    """Sessions that add to rows of one table: each row has what was added."""
    rows = 9_000
    twin.ours.execute("CREATE TABLE t (id int PRIMARY KEY, v int)")
    twin.ours.execute(f"INSERT INTO t SELECT i, 0 FROM generate_series(1, {rows}) i")
    ends = time.monotonic() + race_time(8)
    added = []
    broken = []

    def work(number: int) -> None:
        rng = random.Random(seed * 100 + number)
        conn = twin.session().ours
        while time.monotonic() < ends and not broken:
            size = rng.choice((1, 1, 10, 3000, 6000))
            first = rng.randint(1, rows - size)
            where = f"id BETWEEN {first} AND {first + size}"
            total = 0
            try:
                conn.execute("BEGIN")
                for _ in range(rng.randint(1, 2)):
                    if rng.random() < 0.3:
                        conn.execute(
                            f"SELECT id FROM t WHERE {where} AND id % 50 = 0"
                            f" {rng.choice(('FOR UPDATE', 'FOR KEY SHARE', 'FOR SHARE'))}"
                        )
                    conn.execute("SAVEPOINT s")
                    done = conn.execute(f"UPDATE t SET v = v + 1 WHERE {where}")
                    if rng.random() < 0.2:
                        conn.execute("ROLLBACK TO s")
                    else:
                        total += done.rowcount
                if rng.random() < 0.2:
                    conn.execute("ROLLBACK")
                else:
                    conn.execute("COMMIT")
                    added.append(total)
            except psycopg.errors.DeadlockDetected:
                conn.execute("ROLLBACK")
            except Exception as error:  # noqa: BLE001
                broken.append(error)
                return

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    found = twin.ours.execute(
        "SELECT count(*), count(DISTINCT id), sum(v) FROM t"
    ).fetchone()
    assert found == (rows, rows, sum(added))
    assert added
    assert twin.ours.execute(f"SELECT * FROM {twin.am}.verify('t')").fetchall() == []
