"""adopt(): a heap table becomes one of ours where it is, and stays equal to a
heap twin whatever is done to it before, meanwhile and afterwards."""

from __future__ import annotations

import itertools
import random
import time

import psycopg
import pytest
from strata.samples import NO_INPUT, SAMPLES
from strata.switch import depends, method, nothing_left
from strata.threads import begun, repeated
from strata.timing import reset_timeout
from strata.twin import Session, Twin, execute
from strata.wait import wait_until

BULK = 20_000


def adopt(twin: Twin, table: str = "t") -> None:
    file = "SELECT pg_relation_filenode(%s::regclass)"
    before = twin.ours.execute(file, [table]).fetchone()
    twin.ours.execute(f"SELECT {twin.am}.adopt(%s::regclass)", [table])
    after = twin.ours.execute(file, [table]).fetchone()
    assert before == after, "the table was written anew"


def whole(twin: Twin, table: str = "t") -> None:
    """Contents through every plan, and the table's own verifier."""
    twin.check(table)
    problems = twin.ours.execute(
        f"SELECT * FROM {twin.am}.verify(%s::regclass)", [table]
    ).fetchall()
    assert problems == []


def compress(twin: Twin, table: str = "t") -> None:
    twin.ours.execute(f"CALL {twin.am}.merge(%s::regclass)", [table])
    assert twin.row_groups(table) > 0
    whole(twin, table)


@pytest.fixture
def heaps(twin: Twin) -> Twin:
    """Both tables are heap until one of them is adopted."""
    twin.ours.execute("SET default_table_access_method = heap")
    return twin


@pytest.fixture
def t(heaps: Twin) -> Twin:
    """Updated, deleted, toasted and dead rows, four indexes."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text, big text)")
    heaps.ok(
        "INSERT INTO t SELECT i, i % 50, 'row ' || md5(i::text), CASE WHEN i % 400 = 0 THEN"
        " (SELECT string_agg(md5((i * g)::text), '') FROM generate_series(1, 150) g) END"
        f" FROM generate_series(1, {BULK}) i"
    )
    heaps.ok("CREATE INDEX ON t (k)")
    heaps.ok("CREATE INDEX ON t USING hash (v)")
    heaps.ok("CREATE INDEX ON t (upper(v)) WHERE k < 9")
    heaps.ok("DELETE FROM t WHERE id % 10 = 3")
    heaps.ok("UPDATE t SET v = 'updated ' || id WHERE id % 9 = 4")
    return heaps


def change(session: Session) -> None:
    """A little of everything, on whatever the table is made of."""
    session.ok("INSERT INTO t (id, k, v) VALUES (-1, 1, 'new')")
    session.ok("UPDATE t SET k = k + 1 WHERE id BETWEEN 1 AND 60")
    session.ok("UPDATE t SET v = 'again' WHERE id % 1000 = 7")
    session.ok("DELETE FROM t WHERE id % 500 = 11")
    session.fails("23505", "INSERT INTO t (id) VALUES (5)")
    session.ok("INSERT INTO t (id) VALUES (5) ON CONFLICT (id) DO UPDATE SET k = 99")


def test_life_of_an_adopted_table(t):
    adopt(t)
    assert method(t.ours) == t.am
    assert depends(t.ours) == 1
    whole(t)
    change(t)
    whole(t)
    compress(t)
    t.ok("DELETE FROM t WHERE id = -1")
    change(t)
    whole(t)
    t.ok("VACUUM t")
    whole(t)


def test_rows_of_block_0(t):
    """The page where tables of ours have their metapage has rows here."""
    adopt(t)
    t.same("SELECT id FROM t WHERE ctid < '(1,0)'")
    t.ok("SELECT count(*) FROM t WHERE ctid = '(0,1)'")
    compress(t)
    assert t.ours.execute("SELECT count(*) FROM t WHERE ctid < '(1,0)'").fetchone() == (
        0,
    )


def test_space_comes_back(t):
    heap_pages = t.ours.execute("SELECT pg_relation_size('t')").fetchone()[0]
    adopt(t)
    assert (
        t.ours.execute("SELECT pg_relation_size('t')").fetchone()[0]
        == heap_pages + 8192
    )
    compress(t)
    t.ours.execute("CREATE TABLE fresh AS TABLE t")
    t.ours.execute(f"ALTER TABLE fresh SET ACCESS METHOD {t.am}")
    size, fresh = t.ours.execute(
        "SELECT pg_relation_size('t'), pg_relation_size('fresh')"
    ).fetchone()
    assert size <= fresh * 1.3, f"{size} bytes, a fresh table has {fresh}"


def test_vacuum_spares_the_metapage(heaps):
    """It is the last page of a file whose others are empty."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 3000) i")
    adopt(heaps)
    heaps.ok("DELETE FROM t")
    for _ in range(2):
        heaps.ok("VACUUM (INDEX_CLEANUP ON) t")
        whole(heaps)
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 5000) i")
    compress(heaps)


def test_rollback_leaves_heap(t):
    for _ in range(3):
        t.ours.execute("BEGIN")
        adopt(t)
        # an aborted row group would leave index entries that heap cannot follow
        t.ours.execute(f"INSERT INTO t SELECT -i FROM generate_series(1, {BULK}) i")
        assert t.row_groups() == 0
        t.ours.execute("DELETE FROM t WHERE id % 2 = 0")
        t.ours.execute("ROLLBACK")
    assert method(t.ours) == "heap"
    assert depends(t.ours) == 0
    t.check()
    t.ok("VACUUM t")
    change(t)
    t.check()
    adopt(t)
    whole(t)
    compress(t)


def test_savepoint(t):
    t.ours.execute("BEGIN")
    t.ours.execute("SAVEPOINT s")
    adopt(t)
    t.ours.execute("ROLLBACK TO s")
    assert method(t.ours) == "heap"
    adopt(t)
    t.ours.execute("SAVEPOINT s")
    t.ours.execute(
        f"INSERT INTO t SELECT -i, i, 'lost' FROM generate_series(1, {BULK}) i"
    )
    t.ours.execute("ROLLBACK TO s")
    t.ours.execute("COMMIT")
    whole(t)
    compress(t)


def test_in_the_transaction_that_made_it(heaps):
    for conn in heaps.conns.values():
        conn.execute("BEGIN")
        conn.execute("CREATE TABLE t (id int PRIMARY KEY, v int)")
        conn.execute("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i")
    adopt(heaps)
    heaps.ok("UPDATE t SET v = -v WHERE id % 3 = 0")
    heaps.ok("INSERT INTO t SELECT -i, i FROM generate_series(1, 5000) i")
    for conn in heaps.conns.values():
        conn.execute("COMMIT")
    whole(heaps)
    compress(heaps)


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_tables_without_toast(heaps, rows):
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v int)")
    heaps.ok(f"INSERT INTO t SELECT i, i FROM generate_series(1, {rows}) i")
    adopt(heaps)
    whole(heaps)
    heaps.ok("INSERT INTO t SELECT -i, i FROM generate_series(1, 5000) i")
    compress(heaps)
    heaps.ok("TRUNCATE t")
    heaps.ok("INSERT INTO t SELECT -i, i FROM generate_series(1, 5000) i")
    whole(heaps)


@pytest.mark.parametrize("kind", ["TEMP", "UNLOGGED"])
def test_not_logged(heaps, kind):
    heaps.ok(f"CREATE {kind} TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, repeat('x', i) FROM generate_series(1, 5000) i")
    adopt(heaps)
    whole(heaps)
    heaps.ok("DELETE FROM t WHERE id % 7 = 0")
    compress(heaps)
    if kind == "UNLOGGED":
        heaps.ok("ALTER TABLE t SET LOGGED")
        whole(heaps)


def test_columns_of_every_sort(heaps):
    """Dropped, generated, identity, with a missing value, defaulted, domains, checks."""
    heaps.ok("CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0)")
    heaps.ok(
        "CREATE TABLE t (gone text, id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, a int,"
        " b int GENERATED ALWAYS AS (a * 2) STORED, e even, c text COLLATE \"C\" CHECK (c <> ''))"
    )
    heaps.ok(
        "INSERT INTO t (gone, a, e, c) SELECT 'x', i, i * 2, 'c' || i FROM generate_series(1, 4000) i"
    )
    heaps.ok("ALTER TABLE t DROP COLUMN gone")
    heaps.ok("ALTER TABLE t ADD COLUMN late text DEFAULT 'late'")
    adopt(heaps)
    whole(heaps)
    heaps.ok("INSERT INTO t (a, e, c) VALUES (7, 8, 'x')")
    heaps.fails("23514", "INSERT INTO t (a, e, c) VALUES (7, 9, 'x')")
    heaps.fails("23514", "INSERT INTO t (a, e, c) VALUES (7, 8, '')")
    compress(heaps)
    heaps.ok("ALTER TABLE t DROP COLUMN a CASCADE")
    whole(heaps)


def test_many_columns(heaps):
    columns = ", ".join(f"c{i} int2" for i in range(1600))
    heaps.ok(f"CREATE TABLE t ({columns})")
    heaps.ok("INSERT INTO t (c0, c1599) SELECT i, -i FROM generate_series(1, 300) i")
    adopt(heaps)
    heaps.ok("SELECT c0, c1, c1599 FROM t")
    heaps.ours.execute(f"CALL {heaps.am}.merge('t')")
    heaps.ok("SELECT c0, c1, c1599 FROM t")


def test_partitions_and_children(heaps):
    heaps.ok("CREATE TABLE p (id int, k int, PRIMARY KEY (id)) PARTITION BY RANGE (id)")
    heaps.ok("CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (5000)")
    heaps.ok("CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (5000) TO (10000)")
    heaps.ok("INSERT INTO p SELECT i, i % 9 FROM generate_series(0, 9999) i")
    adopt(heaps, "p1")
    heaps.ok("UPDATE p SET id = id + 10000 WHERE id = 4999 AND k < 0")
    heaps.ok("DELETE FROM p WHERE k = 3")
    heaps.ok("UPDATE p SET k = k + 1 WHERE id % 100 = 5")
    compress(heaps, "p1")
    heaps.check("p")
    heaps.ok("ALTER TABLE p DETACH PARTITION p1")
    whole(heaps, "p1")

    heaps.ok("CREATE TABLE a (x int)")
    heaps.ok("CREATE TABLE b (y int) INHERITS (a)")
    heaps.ok("INSERT INTO a SELECT generate_series(1, 2000)")
    heaps.ok("INSERT INTO b SELECT i, i FROM generate_series(1, 2000) i")
    adopt(heaps, "a")
    heaps.same("SELECT * FROM a")
    adopt(heaps, "b")
    compress(heaps, "b")
    heaps.same("SELECT x FROM a WHERE x % 5 = 0")


def test_foreign_keys_both_ways_and_triggers(heaps):
    heaps.ok("CREATE TABLE parent (id int PRIMARY KEY)")
    heaps.ok("INSERT INTO parent SELECT generate_series(1, 300)")
    heaps.ok(
        "CREATE TABLE t (id int PRIMARY KEY, p int REFERENCES parent ON DELETE CASCADE, n int DEFAULT 0)"
    )
    heaps.ok("CREATE TABLE child (t int REFERENCES t ON UPDATE CASCADE)")
    heaps.ok("INSERT INTO t SELECT i, i % 300 + 1 FROM generate_series(1, 3000) i")
    heaps.ok("INSERT INTO child SELECT i FROM generate_series(1, 3000, 7) i")
    heaps.ok(
        "CREATE FUNCTION bump() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN NEW.n := NEW.n + 1; RETURN NEW; END $$"
    )
    heaps.ok(
        "CREATE TRIGGER bump BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION bump()"
    )
    for step in range(2):
        if step == 0:
            adopt(heaps)
        else:
            compress(heaps)
        heaps.fails("23503", "INSERT INTO t (id, p) VALUES (-1, 1000)")
        heaps.fails("23503", "DELETE FROM t WHERE id = 1")
        heaps.ok(f"DELETE FROM child WHERE t = {8 + 7 * step}")
        heaps.ok(f"DELETE FROM t WHERE id = {8 + 7 * step}")
        heaps.ok(f"UPDATE t SET id = -id WHERE id IN ({29 + 7 * step}, 2, 3)")
        heaps.ok("INSERT INTO child VALUES (50)")
        heaps.check("child")
        whole(heaps)


def test_rewrites_afterwards(t):
    """Files made anew have their metapage at block 0; the old place is forgotten."""
    adopt(t)
    t.ok("VACUUM FULL t")
    whole(t)
    change(t)
    whole(t)
    t.ok("ALTER TABLE t ALTER COLUMN k TYPE bigint")
    whole(t)
    t.ours.execute("ALTER TABLE t SET ACCESS METHOD heap")
    t.check()
    adopt(t)
    whole(t)
    t.ok("CLUSTER t USING t_pkey")
    compress(t)
    t.ok("REINDEX TABLE t")
    t.ok("TRUNCATE t")
    t.ok("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i")
    whole(t)


def test_truncate_and_rollback(t):
    adopt(t)
    t.ok("BEGIN")
    t.ok("TRUNCATE t")
    t.ok("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i")
    t.check()
    t.ok("ROLLBACK")
    whole(t)
    change(t)
    compress(t)


def test_caches_of_other_sessions(t):
    """A session that has used the heap table, with a plan for it, goes on."""
    other = t.session()
    other.ok("PREPARE q AS SELECT count(*), sum(k) FROM t WHERE id < $1")
    other.ok("PREPARE u AS UPDATE t SET k = k + 1 WHERE id = $1")
    for _ in range(7):
        other.ok("EXECUTE q (5000)")
        other.ok("EXECUTE u (55)")
    adopt(t)
    other.ok("EXECUTE q (5000)")
    other.ok("EXECUTE u (55)")
    compress(t)
    other.ok("EXECUTE q (5000)")
    other.ok("EXECUTE u (55)")
    other.ok("INSERT INTO t SELECT -i, i FROM generate_series(1, 5000) i")
    t.ok("VACUUM t")
    other.ok("EXECUTE q (5000)")
    t.ours.execute(f"CALL {t.am}.merge('t')")
    other.ok("EXECUTE q (5000)")
    other.ok("INSERT INTO t SELECT -i, i FROM generate_series(5001, 9000) i")
    whole(t)


def test_older_snapshot(t):
    """A snapshot from before the adoption reads the rows that it sees."""
    other = t.session()
    other.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.ok("SELECT 1")
    expected = t.heap.execute("SELECT count(*), sum(k) FROM t").fetchone()
    adopt(t)
    change(t)
    t.ours.execute(f"CALL {t.am}.compact('t')")
    got = other.ours.execute("SELECT count(*), sum(k) FROM t").fetchone()
    assert got == expected
    other.ok("COMMIT")
    compress(t)


def writer(number, rows):
    """Inserts, deletes and updates in both schemas; updates among so many rows."""
    keys = itertools.count((number + 1) * 1_000_000)

    def write(conn):
        key = next(keys)
        for schema in ("ours", "heap"):
            conn.execute(f"INSERT INTO {schema}.t (id, k) VALUES ({key}, 1)")
            conn.execute(f"DELETE FROM {schema}.t WHERE id = {key - 5}")
            conn.execute(f"UPDATE {schema}.t SET k = k + 1 WHERE id = {1 + key % rows}")

    return write


def test_beside_writers(t):
    """Writers are blocked for a moment and lose nothing, nor does adopt() starve."""

    with repeated(t.database, [writer(n, 90) for n in range(3)]):
        adopt(t)
        t.ours.execute(f"CALL {t.am}.compact('t')")
    compress(t)


def test_merge_beside_writers_ends_and_gives_space_back(heaps):
    """It takes what is there when it begins; rows that are written meanwhile do not
    lie where the file is to be cut off, nor does the metapage."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
    heaps.ok(
        "INSERT INTO t SELECT i, 0, repeat('row ', 30) FROM generate_series(1, 60000) i"
    )
    heaps.ok("VACUUM t")
    adopt(heaps)
    rng = random.Random(1)

    def write(conn):
        conn.execute(
            f"UPDATE ours.t SET k = k + 1 WHERE id = {rng.randrange(60000) + 1}"
        )
        time.sleep(0.005)

    size = "SELECT pg_relation_size('t')"
    (before,) = heaps.ours.execute(size).fetchone()
    heaps.ours.execute("SET statement_timeout = '60s'")
    updates = "SELECT sum(k) FROM t"
    with repeated(heaps.database, [write]):
        heaps.ours.execute(f"CALL {heaps.am}.merge('t')")
        (after,) = heaps.ours.execute(size).fetchone()
        (done,) = heaps.ours.execute(updates).fetchone()
    assert after < before / 2
    assert heaps.ours.execute(updates).fetchone()[0] >= done > 0
    heaps.ours.execute("UPDATE t SET k = 0 WHERE k <> 0")
    whole(heaps)


def test_lock_is_awaited_with_patience(t):
    other = t.session()
    other.ok("BEGIN")
    other.ok("SELECT count(*) FROM t")
    outcome = execute(t.ours, f"SELECT {t.am}.adopt('t', patience => '0.3 seconds')")
    assert outcome.sqlstate == "55P03"
    # nobody stands behind it meanwhile
    adopted = begun(lambda: adopt(t))
    third = t.session()
    third.ok("SET statement_timeout = '10s'")
    for _ in range(20):
        third.ok("SELECT count(*) FROM t WHERE id = 7")
    other.ok("COMMIT")
    adopted()
    assert method(t.ours) == t.am
    whole(t)


def test_what_hangs_on_the_table_stays(t):
    t.ok("COMMENT ON TABLE t IS 'a comment'")
    t.ok("ALTER TABLE t SET (fillfactor = 70, autovacuum_vacuum_threshold = 77)")
    t.ok("CREATE STATISTICS s ON k, v FROM t")
    t.ok("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
    t.ok("CREATE POLICY pol ON t USING (k < 40)")
    t.ok("GRANT SELECT ON t TO PUBLIC")
    t.ok("ANALYZE t")
    t.ours.execute("CREATE PUBLICATION pub FOR TABLE t")
    query = (
        "SELECT obj_description('t'::regclass), c.reloptions, c.relacl::text, c.relfrozenxid::text,"
        " c.relrowsecurity, c.reltuples, c.oid, c.reltoastrelid,"
        " (SELECT count(*) FROM pg_stats WHERE tablename = 't'),"
        " (SELECT array_agg(indexrelid ORDER BY 1) FROM pg_index WHERE indrelid = c.oid),"
        " (SELECT array_agg(prrelid) FROM pg_publication_rel)"
        " FROM pg_class c WHERE oid = 't'::regclass"
    )
    before = t.ours.execute(query).fetchone()
    adopt(t)
    assert t.ours.execute(query).fetchone() == before
    whole(t)


def test_dump(t, cluster):
    adopt(t)
    t.ours.execute(f"CALL {t.am}.compact('t', max_steps => 1)")
    text = cluster.run("pg_dump", "-t", "ours.t", t.database.name).stdout
    assert f"SET default_table_access_method = {t.am}" in text


# ---- release() ----


def release(twin: Twin, table: str = "t", **options) -> None:
    words = "".join(f", {name} => {value}" for name, value in options.items())
    twin.ours.execute(f"CALL {twin.am}.release(%s::regclass{words})", [table])


def is_heap(twin: Twin, table: str = "t") -> None:
    """A heap table equal to its twin, of which nothing is ours any more."""
    assert method(twin.ours, table) == "heap"
    twin.check(table)
    nothing_left(twin.ours, table)


def test_release_without_row_groups(t):
    adopt(t)
    t.ours.execute("BEGIN")
    t.ours.execute("SAVEPOINT s")
    release(t)
    t.ours.execute("ROLLBACK TO s")
    t.check()
    release(t)
    t.ours.execute("ROLLBACK")
    assert method(t.ours) == t.am
    whole(t)
    release(t, verify=True)
    is_heap(t)
    change(t)
    is_heap(t)


def test_release_of_row_groups(t):
    adopt(t)
    t.ours.execute(f"SELECT {t.am}.set_options('t', level => 3)")
    compress(t)
    t.ok("DELETE FROM t WHERE id % 4 = 2")
    t.ours.execute("VACUUM (INDEX_CLEANUP ON) t")
    change(t)
    t.ours.execute("BEGIN")
    outcome = execute(t.ours, f"CALL {t.am}.release('t')")
    assert outcome.sqlstate == "25001"
    t.ours.execute("ROLLBACK")
    release(t, verify=True)
    is_heap(t)
    change_again(t)
    t.ok("VACUUM t")
    is_heap(t)
    t.ours.execute(f"DROP EXTENSION {t.am}")
    t.check()


def change_again(session: Session) -> None:
    session.ok("DELETE FROM t WHERE id = -1")
    change(session)


@pytest.mark.slow
def test_there_and_back_and_there(t):
    for _ in range(3):
        adopt(t)
        compress(t)
        t.ok("DELETE FROM t WHERE id = -1")
        change(t)
        release(t)
        is_heap(t)
        t.ok("VACUUM t")
        t.ok("UPDATE t SET v = v || '!' WHERE id % 50 = 1")
    adopt(t)
    compress(t)
    t.ours.execute("CREATE TABLE fresh AS TABLE t")
    t.ours.execute(f"ALTER TABLE fresh SET ACCESS METHOD {t.am}")
    size, fresh = t.ours.execute(
        "SELECT pg_relation_size('t'), pg_relation_size('fresh')"
    ).fetchone()
    assert size <= fresh * 1.3, f"{size} bytes, a fresh table has {fresh}"


def test_release_of_a_table_made_for_us(twin):
    """Its metapage is at block 0, which heap then uses."""
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text, big text)")
    twin.ok(
        f"INSERT INTO t SELECT i, i % 7, md5(i::text) FROM generate_series(1, {BULK}) i"
    )
    assert twin.row_groups() > 0
    release(twin)
    is_heap(twin)
    change(twin)
    twin.ok("VACUUM t")
    is_heap(twin)
    release_of_none(twin)


def release_of_none(twin: Twin) -> None:
    outcome = execute(twin.ours, f"CALL {twin.am}.release('t')")
    assert outcome.sqlstate == "42809"


def test_release_finds_what_a_cancelled_load_left(t):
    """Index entries to rows of no row group, which VACUUM has no way to find."""
    adopt(t)
    compress(t)
    t.ours.execute("BEGIN")
    t.ours.execute(
        f"INSERT INTO t SELECT -i, i % 50, md5(i::text) FROM generate_series(100, {BULK}) i"
    )
    t.ours.execute("ROLLBACK")
    (toast,) = t.ours.execute(
        "SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = 't'::regclass"
    ).fetchone()
    t.ours.execute(f"VACUUM {toast}")
    release(t)
    is_heap(t)
    t.ok("INSERT INTO t (id, k) VALUES (-500, 1)")


def test_release_beside_writers(t):
    adopt(t)
    compress(t)
    with repeated(t.database, [writer(n, 9000) for n in range(2)]):
        release(t)
    is_heap(t)


def test_release_and_row_locks(t):
    """Locked rows and old snapshots are awaited, not broken; compact() undoes it."""
    adopt(t)
    compress(t)
    other = t.session()
    other.ok("BEGIN")
    other.ok("SELECT * FROM t WHERE id IN (5, 50) FOR UPDATE")
    outcome = execute(t.ours, f"CALL {t.am}.release('t', patience => '0.5 seconds')")
    assert outcome.sqlstate == "55P03"
    whole(t)
    other.ok("UPDATE t SET k = -1 WHERE id = 5")
    other.ok("COMMIT")
    whole(t)

    t.ok("INSERT INTO t SELECT -i, i FROM generate_series(1, 5000) i")
    # a snapshot whose transaction has not touched the table, so no lock tells
    other.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.ok("SELECT 1")
    expected = t.ok("SELECT count(*), sum(id) FROM t").rows
    t.ok("DELETE FROM t WHERE id % 11 = 0")
    outcome = execute(t.ours, f"CALL {t.am}.release('t', patience => '0.5 seconds')")
    assert outcome.sqlstate == "55P03"
    whole(t)
    assert other.ok("SELECT count(*), sum(id) FROM t").rows == expected
    other.ok("COMMIT")

    t.ours.execute(f"CALL {t.am}.merge('t')")
    whole(t)
    t.ok("INSERT INTO t SELECT -i, i FROM generate_series(6000, 9000) i")
    assert t.row_groups() > 0
    release(t)
    is_heap(t)


def test_release_of_a_table_that_is_filled_anew_meanwhile(t):
    """TRUNCATE gives it a file that knows nothing of a release, and a load makes
    row groups there."""
    adopt(t)
    compress(t)
    other, caller = t.session(), t.session()
    other.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.ok("SELECT 1")
    call = f"CALL {t.am}.release('t', patience => '20 seconds')"
    released = begun(lambda: execute(caller.ours, call))
    live = f"SELECT sum(rows - deleted_rows) FROM {t.am}.row_groups('t')"
    wait_until(lambda: t.ours.execute(live).fetchone() == (0,), "groups without rows")
    for sql in (
        "BEGIN",
        "TRUNCATE t",
        "INSERT INTO t SELECT -i, i FROM generate_series(1, 5000) i",
        "COMMIT",
    ):
        t.ok(sql)
    other.ok("COMMIT")
    assert released().sqlstate is None
    is_heap(t)


@pytest.mark.slow
def test_release_that_is_overtaken_before_it_gives_extents_up(heaps):
    """TRUNCATE and a load come between its sweep and its next step: where extents
    were free, row groups stand in the new file."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 1500) i")
    adopt(heaps)
    compress(heaps)
    caller, filler, holder = (heaps.session() for _ in range(3))
    # VACUUM of TOAST takes its time, so that the sweep finds the index locked
    caller.ours.execute("SET vacuum_cost_delay = '5ms'")
    caller.ours.execute("SET vacuum_cost_limit = 1")
    fills = (
        "BEGIN",
        "TRUNCATE t",
        # the first rows of a load go to the delta
        "INSERT INTO t SELECT i, CASE WHEN i > 1000 THEN (SELECT string_agg(md5((i * g)::text), '')"
        " FROM generate_series(1, 30) g) END FROM generate_series(1, 1500) i",
        "COMMIT",
    )
    (pid,) = caller.ours.execute("SELECT pg_backend_pid()").fetchone()
    call = f"CALL {heaps.am}.release('t')"
    released = begun(lambda: execute(caller.ours, call))
    vacuums = (
        "SELECT FROM pg_stat_progress_vacuum WHERE relid = (SELECT reltoastrelid"
        " FROM pg_class WHERE oid = 't'::regclass)"
    )
    wait_until(lambda: heaps.ours.execute(vacuums).fetchall(), "VACUUM of TOAST")
    holder.ours.execute("BEGIN; ALTER INDEX t_pkey SET TABLESPACE pg_default")
    waits = "SELECT relation::regclass::text FROM pg_locks WHERE NOT granted AND "
    wait_until(
        lambda: heaps.ours.execute(f"{waits} pid = {pid}").fetchall() == [("t_pkey",)],
        "the sweep to stop",
    )
    phase = f"SELECT phase FROM {heaps.am}.progress"
    assert heaps.ours.execute(phase).fetchall() == [("cleaning up",)]
    filled = begun(lambda: [execute(filler.ours, sql) for sql in fills])
    wait_until(
        lambda: ("t",) in heaps.ours.execute(f"{waits} pid <> {pid}").fetchall(),
        "TRUNCATE to be next",
    )
    holder.ours.execute("ROLLBACK")
    outcomes = [released(), *filled()]
    assert all(outcome.sqlstate is None for outcome in outcomes), outcomes
    for sql in fills:
        heaps.heap.execute(sql)
    is_heap(heaps)


def test_release_of_a_new_file_lets_loads_write_to_the_delta(heaps):
    """So that it ends: of a file that TRUNCATE has made between two steps, too."""
    heaps.ours.execute(
        "CREATE FUNCTION f(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        " IF id = 4711 THEN PERFORM pg_advisory_lock_shared(4711);"
        " PERFORM pg_advisory_unlock_shared(4711); END IF; RETURN id; END $$"
    )
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 3000) i")
    adopt(heaps)
    compress(heaps)
    heaps.ours.execute("CREATE INDEX ON t (f(id))")
    caller, other, holder = (heaps.session() for _ in range(3))
    other.ok("BEGIN")
    other.ok("SELECT * FROM t WHERE id = 5 FOR UPDATE")
    call = f"CALL {heaps.am}.release('t')"
    released = begun(lambda: execute(caller.ours, call))
    phase = f"SELECT phase FROM {heaps.am}.progress"
    wait_until(
        lambda: (
            heaps.ours.execute(phase).fetchall()
            == [("waiting for other transactions",)]
        ),
        "release to wait",
    )
    other.ok("TRUNCATE t")
    other.ok("INSERT INTO t SELECT i, 'x' FROM generate_series(2001, 8000) i")
    # all of them are in the table now, and in its indexes
    other.ok("SELECT count(*) FROM t")
    holder.ours.execute("SELECT pg_advisory_lock(4711)")
    other.ok("COMMIT")
    wait_until(
        lambda: heaps.ours.execute(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ).fetchall(),
        "release to stop in a step",
    )
    before = heaps.row_groups()
    assert before > 0
    heaps.ok("INSERT INTO t SELECT -i, 'y' FROM generate_series(1, 6000) i")
    assert heaps.row_groups() == before
    holder.ours.execute("SELECT pg_advisory_unlock(4711)")
    assert released().sqlstate is None
    is_heap(heaps)


def test_release_after_a_cancelled_vacuum(heaps):
    """VACUUM had begun to drop a row group; others have bitmaps of deleted rows."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, k int)")
    heaps.ok("INSERT INTO t SELECT i, i % 9 FROM generate_series(1, 8000) i")
    adopt(heaps)
    heaps.ours.execute(
        f"SELECT {heaps.am}.set_options('t', row_group_rows => 2000, orderby => 'id')"
    )
    compress(heaps)
    heaps.ok("DELETE FROM t WHERE id > 5000 AND id % 3 = 0")
    heaps.ours.execute("VACUUM (INDEX_CLEANUP ON) t")
    heaps.ok("DELETE FROM t WHERE id <= 2000 AND id % 2 = 0")
    heaps.ok("DELETE FROM t WHERE id <= 2000")
    (toast,) = heaps.ours.execute(
        "SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = 't'::regclass"
    ).fetchone()
    begun = (
        f"SELECT FROM {toast} WHERE chunk_id = 1000 AND get_byte(chunk_data, 2) & 4 > 0"
    )
    heaps.ours.execute("SET vacuum_cost_limit = 1")
    heaps.ours.execute("SET vacuum_cost_delay = '3ms'")
    for ms in range(20, 4000, 20):
        heaps.ours.execute(f"SET statement_timeout = {ms}")
        outcome = execute(heaps.ours, "VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF) t")
        reset_timeout(heaps.ours)
        assert outcome.sqlstate == "57014", f"{outcome} after {ms} ms"
        if heaps.ours.execute(begun).fetchall():
            break
    heaps.ours.execute("SET vacuum_cost_delay = 0")
    release(heaps)
    is_heap(heaps)


@pytest.mark.slow
def test_row_numbers_are_not_used_again(heaps):
    """Of the last life the TOAST relation still has tombstones, dead ones: a
    snapshot goes when VACUUM has looked who needs them."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, k int)")
    heaps.ok("INSERT INTO t SELECT i, i % 9 FROM generate_series(1, 6000) i")
    adopt(heaps)
    compress(heaps)
    heaps.ok("DELETE FROM t WHERE id % 3 = 0")
    heaps.ours.execute("VACUUM (INDEX_CLEANUP ON) t")
    first, second, caller = (heaps.session() for _ in range(3))
    first.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    first.ok("SELECT 1")
    caller.ours.execute("SET vacuum_cost_delay = '3ms'")
    caller.ours.execute("SET vacuum_cost_limit = 1")
    call = f"CALL {heaps.am}.release('t')"
    released = begun(lambda: caller.ours.execute(call))
    live = f"SELECT sum(rows - deleted_rows) FROM {heaps.am}.row_groups('t')"
    wait_until(
        lambda: heaps.ours.execute(live).fetchone() == (0,), "groups without rows"
    )
    second.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    second.ok("SELECT 1")
    first.ok("COMMIT")
    groups = f"SELECT count(*) FROM {heaps.am}.row_groups('t')"
    wait_until(lambda: heaps.ours.execute(groups).fetchone() == (0,), "no groups")
    vacuums = (
        "SELECT FROM pg_stat_progress_vacuum WHERE relid = (SELECT reltoastrelid"
        " FROM pg_class WHERE oid = 't'::regclass)"
    )
    wait_until(lambda: heaps.ours.execute(vacuums).fetchall(), "VACUUM of TOAST")
    second.ok("COMMIT")
    while method(heaps.ours) != "heap":
        time.sleep(0.001)
    caller.ours.cancel()  # the last VACUUM, which would remove them
    with pytest.raises(psycopg.errors.QueryCanceled):
        released()
    is_heap(heaps)

    heaps.ok("INSERT INTO t SELECT i, 0 FROM generate_series(3, 6000, 3) i")
    adopt(heaps)
    compress(heaps)
    (row,) = heaps.ours.execute(
        f"SELECT min(first_row) FROM {heaps.am}.row_groups('t')"
    ).fetchone()
    assert row >= 6000
    heaps.ok("DELETE FROM t WHERE id % 100 = 7")
    heaps.ours.execute("VACUUM (INDEX_CLEANUP ON) t")
    whole(heaps)
    release(heaps)
    is_heap(heaps)


@pytest.mark.slow
def test_release_does_not_read_in_each_step_what_those_before_have_done(heaps):
    """Each tombstone is read four times when all rows have gone: by the last step,
    which finds nothing, by the look whether that is so, and by VACUUM."""
    rows, conn = 250_000, heaps.ours
    conn.execute(
        "CREATE TABLE t (id int) WITH (autovacuum_enabled = off, toast.autovacuum_enabled = off)"
    )
    conn.execute(f"INSERT INTO t SELECT generate_series(1, {rows})")
    adopt(heaps)
    conn.execute(
        f"SELECT {heaps.am}.set_options('t', row_group_rows => 10000, auto_compact => false)"
    )
    conn.execute(f"CALL {heaps.am}.merge('t')")
    read = (
        "SELECT sum(idx_tup_read)::bigint FROM pg_stat_all_indexes WHERE relid ="
        " (SELECT reltoastrelid FROM pg_class WHERE oid = 't'::regclass)"
    )
    conn.execute("SELECT pg_stat_clear_snapshot(), pg_stat_force_next_flush()")
    (before,) = conn.execute(read).fetchone()
    release(heaps)
    conn.execute("SELECT pg_stat_clear_snapshot(), pg_stat_force_next_flush()")
    (after,) = conn.execute(read).fetchone()
    assert (after - before) / rows < 4.5
    # tombstones took 14 MB of it
    size = (
        "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 't'::regclass"
    )
    assert conn.execute(size).fetchone()[0] < 100_000


def test_release_cancelled_anywhere(t, rng):
    adopt(t)
    compress(t)
    for attempt in range(25):
        t.ours.execute(f"SET statement_timeout = {rng.randrange(5, 2500)}")
        outcome = execute(t.ours, f"CALL {t.am}.release('t')")
        reset_timeout(t.ours)
        if outcome.sqlstate is None:
            break
        assert outcome.sqlstate == "57014", outcome
        if method(t.ours) == "heap":  # it ended in VACUUM, which comes last
            break
        if attempt % 5 == 0:
            whole(t)
    else:
        release(t)
    is_heap(t)


# ---- fingerprints ----


def fingerprint(twin: Twin, table: str) -> list[tuple]:
    return twin.ours.execute(
        f"SELECT * FROM {twin.am}.fingerprint(%s::regclass)", [table]
    ).fetchall()


def test_fingerprints_of_a_life(t):
    """Of our table and of the heap twin, at every stage."""
    same = lambda: fingerprint(t, "ours.t") == fingerprint(t, "heap.t")  # noqa: E731
    assert same()
    t.ours.execute(f"SELECT {t.am}.adopt('t', verify => true)")
    change(t)
    assert same()
    t.ours.execute(f"CALL {t.am}.compact('t')")
    assert same()
    t.ok("DELETE FROM t WHERE id % 3 = 0")
    t.ok("UPDATE t SET big = repeat('y', id) WHERE id % 5 = 0")
    t.ours.execute(f"CALL {t.am}.merge('t')")
    assert same()
    for setting in ("parallel_setup_cost", "parallel_tuple_cost"):
        t.ours.execute(f"SET {setting} = 0")
    t.ours.execute("SET min_parallel_table_scan_size = 0")
    assert same()
    t.ours.execute("UPDATE t SET k = k + 1 WHERE id = 7777")
    assert not same()


@pytest.mark.parametrize("type_", sorted(set(SAMPLES) - NO_INPUT))
def test_fingerprint_of_type(heaps, type_):
    """Rows in the delta, in row groups, and in heap; one value less."""
    if not heaps.ours.execute("SELECT to_regtype(%s)", [type_]).fetchone()[0]:
        pytest.skip("a type of later servers")
    if type_ == "xml" and heaps.run("SELECT '<a/>'::xml").sqlstate == "0A000":
        pytest.skip("this server was built without XML")
    heaps.ok(f'CREATE TABLE t (n int, v "{type_}", w "{type_}"[])')
    for value in SAMPLES[type_]:
        heaps.ok(f'INSERT INTO t SELECT i, %s::"{type_}", ARRAY[%s::"{type_}", NULL]'
                 " FROM generate_series(1, 300) i", [value, value])  # fmt: skip
    adopt(heaps)
    assert fingerprint(heaps, "ours.t") == fingerprint(heaps, "heap.t")
    heaps.ours.execute(f"CALL {heaps.am}.merge('t')")
    assert heaps.row_groups() > 0
    before = fingerprint(heaps, "ours.t")
    assert before == fingerprint(heaps, "heap.t")
    heaps.ours.execute("DELETE FROM t WHERE n = 5 AND v IS NOT NULL")
    assert fingerprint(heaps, "ours.t")[1][1] != before[1][1]
