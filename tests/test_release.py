"""release(): the way back to heap, whatever is done to the table meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from strata.switch import method, nothing_left
from strata.threads import begun, repeated
from strata.timing import reset_timeout
from strata.twin import Outcome, Session, Twin, execute
from strata.wait import wait_until
from test_adopt import (
    BULK,
    adopt,
    all_heap,
    change,
    compress,
    filled,
    whole,
    writer,
)


@pytest.fixture
def heaps(twin: Twin) -> Twin:
    return all_heap(twin)


@pytest.fixture
def t(heaps: Twin) -> Twin:
    return filled(heaps)


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


@pytest.mark.parametrize("kept", ["hidden", "extents"])
def test_release_into_pages_that_are_free(heaps, kept):
    """Pages that the delta left empty: a merge that could not cut them off has hidden
    them from heap, VACUUM has made free extents of some."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 60000) i")
    adopt(heaps)
    stays = "ALTER TABLE t SET (vacuum_truncate = off)"
    if kept == "hidden":
        reader = heaps.session()
        reader.ok("BEGIN")
        reader.ok("SELECT 1 FROM t LIMIT 0")
        compress(heaps)
        reader.ok("COMMIT")
        heaps.ours.execute(stays)
    else:
        heaps.ours.execute(stays)
        compress(heaps)
        heaps.ours.execute("VACUUM (INDEX_CLEANUP ON) t")
    size = "SELECT pg_relation_size('t') / 8192"
    (merged,) = heaps.ours.execute(size).fetchone()
    release(heaps)
    is_heap(heaps)
    (after,) = heaps.ours.execute(size).fetchone()
    assert after <= merged


def test_release_at_a_slow_pace_keeps_nobody_waiting(heaps):
    """A step ends after a moment, however few rows it has moved."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 6000) i")
    adopt(heaps)
    compress(heaps)
    caller, other = heaps.session(), heaps.session()
    caller.ours.execute("SET vacuum_cost_delay = '20ms'")
    caller.ours.execute("SET vacuum_cost_limit = 200")
    released = begun(lambda: execute(caller.ours, f"CALL {heaps.am}.release('t')"))
    phase = f"SELECT phase FROM {heaps.am}.progress"
    moving = [("moving rows to the delta",)]
    wait_until(lambda: heaps.ours.execute(phase).fetchall() == moving, "rows to go")
    other.ours.execute("SET lock_timeout = '3s'")
    for row in range(3000, 0, -3):  # they meet
        other.ok(f"UPDATE t SET v = 'new' WHERE id = {row}")
    assert heaps.row_groups() > 0, "it was not slow"
    caller.ours.cancel()
    assert released().sqlstate == "57014"
    whole(heaps)
    release(heaps)
    is_heap(heaps)


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


def test_release_rests(t):
    """As vacuum_cost_delay says."""
    adopt(t)
    compress(t)
    caller = t.session().ours
    caller.execute("SET vacuum_cost_limit = 10000")
    caller.execute("SET vacuum_cost_delay = '100ms'")
    released = begun(lambda: caller.execute(f"CALL {t.am}.release('t')"))
    seen = f"SELECT phase, wait_event FROM {t.am}.progress JOIN pg_stat_activity USING (pid)"
    rest = ("moving rows to the delta", "VacuumDelay")
    wait_until(lambda: rest in t.ours.execute(seen).fetchall(), "a rest")
    released()
    is_heap(t)


def test_rows_with_many_keys_go_in_smaller_steps(heaps):
    """A step's entries of a GIN are made while its rows are held."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, words int[])")
    heaps.ok(
        "INSERT INTO t SELECT i, ARRAY(SELECT i * 100 + n FROM generate_series(1, 100) n)"
        " FROM generate_series(1, 2000) i"
    )
    heaps.ok("CREATE INDEX ON t USING gin (words)")
    adopt(heaps)
    compress(heaps)
    release(heaps)
    steps = "SELECT count(DISTINCT xmin::text) FROM t"
    assert heaps.ours.execute(steps).fetchone()[0] > 1
    is_heap(heaps)


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


def emptied(heaps: Twin) -> Twin:
    """Groups without rows, which the snapshot of the session returned keeps."""
    old, caller = heaps.session(), heaps.session()
    old.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.ok("SELECT 1")
    released = begun(lambda: execute(caller.ours, f"CALL {heaps.am}.release('t')"))
    live = f"SELECT sum(rows - deleted_rows) FROM {heaps.am}.row_groups('t')"
    wait_until(
        lambda: heaps.ours.execute(live).fetchone() == (0,), "groups without rows"
    )
    caller.ours.cancel()
    assert released().sqlstate == "57014"
    return old


def released_slowly(
    heaps: Twin, caller: Twin, newer: Twin | None = None
) -> Callable[[], Outcome]:
    """release(); returns while VACUUM of TOAST follows the one that drops the groups.
    A snapshot of newer, if any, is taken before and goes then."""
    old = emptied(heaps)
    caller.ours.execute("SET vacuum_cost_delay = '3ms'")
    caller.ours.execute("SET vacuum_cost_limit = 1")
    count = "SELECT vacuum_count FROM pg_stat_user_tables WHERE relid = 't'::regclass"
    (before,) = heaps.ours.execute(count).fetchone()
    released = begun(lambda: execute(caller.ours, f"CALL {heaps.am}.release('t')"))
    wait_until(
        lambda: heaps.ours.execute(count).fetchone()[0] >= before + 2, "two VACUUMs"
    )
    if newer is not None:
        newer.ok("BEGIN ISOLATION LEVEL REPEATABLE READ")
        newer.ok("SELECT 1")
    old.ok("COMMIT")
    groups = f"SELECT count(*) FROM {heaps.am}.row_groups('t')"
    wait_until(lambda: heaps.ours.execute(groups).fetchone() == (0,), "no groups")
    vacuums = (
        "SELECT FROM pg_stat_progress_vacuum WHERE relid = (SELECT reltoastrelid"
        " FROM pg_class WHERE oid = 't'::regclass)"
    )
    wait_until(lambda: heaps.ours.execute(vacuums).fetchall(), "VACUUM of TOAST")
    if newer is not None:
        newer.ok("COMMIT")
    return released


@pytest.mark.slow
def test_release_that_is_overtaken_before_it_gives_extents_up(heaps):
    """TRUNCATE and a load come between its sweep and its next step: where extents
    were free, row groups stand in the new file."""
    heaps.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    heaps.ok("INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 1500) i")
    adopt(heaps)
    compress(heaps)
    caller, filler, holder = (heaps.session() for _ in range(3))
    fills = (
        "BEGIN",
        "TRUNCATE t",
        # the first rows of a load go to the delta
        "INSERT INTO t SELECT i, CASE WHEN i > 1000 THEN (SELECT string_agg(md5((i * g)::text), '')"
        " FROM generate_series(1, 30) g) END FROM generate_series(1, 1500) i",
        "COMMIT",
    )
    (pid,) = caller.ours.execute("SELECT pg_backend_pid()").fetchone()
    released = released_slowly(heaps, caller)
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
    caller = heaps.session()
    released = released_slowly(heaps, caller, heaps.session())
    while method(heaps.ours) != "heap":
        time.sleep(0.001)
    caller.ours.cancel()  # the last VACUUM, which would remove them
    assert released().sqlstate == "57014"
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
    which finds nothing, by the look whether that is so, and by VACUUM. That comes first,
    in between, when they are gone, and last."""
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
    vacuums = "SELECT vacuum_count FROM pg_stat_user_tables WHERE relid = 't'::regclass"
    (vacuumed,) = conn.execute(vacuums).fetchone()
    release(heaps)
    conn.execute("SELECT pg_stat_clear_snapshot(), pg_stat_force_next_flush()")
    (after,) = conn.execute(read).fetchone()
    assert (after - before) / rows < 4.5
    assert conn.execute(vacuums).fetchone()[0] - vacuumed == 4
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
