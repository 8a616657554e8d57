"""adopt(): a heap table becomes one of ours where it is, and stays equal to a
heap twin whatever is done to it before, meanwhile and afterwards."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from strata.samples import NO_INPUT, SAMPLES
from strata.switch import depends, method
from strata.threads import begun, repeated
from strata.twin import Session, Twin, execute

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


def all_heap(twin: Twin) -> Twin:
    """Both tables are heap until one of them is adopted."""
    twin.ours.execute("SET default_table_access_method = heap")
    return twin


def filled(heaps: Twin) -> Twin:
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


@pytest.fixture
def heaps(twin: Twin) -> Twin:
    return all_heap(twin)


@pytest.fixture
def t(heaps: Twin) -> Twin:
    return filled(heaps)


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
