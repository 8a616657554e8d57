"""The view progress: what each long command says while it is at work.

An expression index or a view computes f(id), which waits at one row for a lock
that the test holds: so a command stands still where the test wants it."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time

import psycopg
import pytest
from strata.wait import wait_until

ROWS = 60_000
GROUP = 10_000
STOP = 25_000

COLUMNS = (
    "relation::text, command, phase, rows_done, rows_total, bytes_done, bytes_total,"
    " rows_per_second, bytes_per_second, time_left IS NOT NULL, started <= phase_started"
)


def progress(conn, am: str) -> list[tuple]:
    return conn.execute(f"SELECT {COLUMNS} FROM {am}.progress").fetchall()


@pytest.fixture
def t(conn, am):
    """A heap table with an index on f(id)."""
    conn.execute(
        "CREATE FUNCTION f(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        f" IF id = {STOP} THEN PERFORM pg_advisory_xact_lock_shared(4711); END IF; RETURN id; END $$;"
        "CREATE TABLE t (id int, v text) USING heap;"
        f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, {ROWS}) i;"
        "CREATE INDEX t_f ON t (f(id)); ANALYZE t;"
        f"SELECT {am}.set_options('t', row_group_rows => {GROUP}, auto_compact => false)"
    )
    return conn


@contextlib.contextmanager
def running(db, conn, sql: str):
    """A command in a thread, stopped at the row; its errors are raised in the end."""
    errors = []
    with db.connect() as holder, db.connect() as runner:
        holder.execute("SELECT pg_advisory_lock(4711)")

        def go():
            try:
                runner.execute(sql)
            except psycopg.Error as error:
                errors.append(error)

        thread = threading.Thread(target=go)
        thread.start()
        try:
            yield runner, errors
        finally:
            holder.execute("SELECT pg_advisory_unlock(4711)")
            thread.join()
    if errors:
        raise errors[0]


def stopped(conn, am: str) -> tuple:
    """What it says when it waits for the lock."""
    wait_until(
        lambda: conn.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted"
        ).fetchone() == (1,),
        "the command to stop",
    )  # fmt: skip
    (row,) = progress(conn, am)
    return row


def test_merge_of_an_adopted_table(t, am, db):
    t.execute(f"SELECT {am}.adopt('t')")
    (size,) = t.execute("SELECT pg_relation_size('t')").fetchone()
    with running(db, t, f"CALL {am}.merge('t')"):
        row = stopped(t, am)
        assert row[:3] == ("t", "merge", "moving rows of the delta")
        rows, rows_total, done, total, rows_per_second, bytes_per_second, *rest = row[
            3:
        ]
        # two steps are done, and the rows of the third are copied
        # a step takes whole pages
        assert 3 * GROUP <= rows < 3 * GROUP + 1000 and rows_total is None
        assert size * 0.9 < total <= size
        assert 0.3 < done / total < 0.36
        assert rows_per_second > 0 and bytes_per_second > 0
        assert rest == [True, True]
        ((relation, steps, delta_rows),) = t.execute(
            f"SELECT relation::text, steps, delta_rows FROM {am}.compact_progress"
        ).fetchall()
        assert (relation, steps) == ("t", 2)
        assert 2 * GROUP <= delta_rows < rows
    assert progress(t, am) == []
    assert t.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_release(t, am, db):
    t.execute(f"SELECT {am}.adopt('t')")
    t.execute(f"CALL {am}.merge('t')")
    t.execute("DELETE FROM t WHERE id > 59000")
    with running(db, t, f"CALL {am}.release('t')"):
        row = stopped(t, am)
        assert row[:3] == ("t", "release", "moving rows to the delta")
        assert 0 < row[3] < row[4] == 59_000
        assert row[5:7] == (None, None) and row[9:] == (True, True)
        assert t.execute(f"SELECT * FROM {am}.compact_progress").fetchall() == []
    assert progress(t, am) == []
    assert t.execute("SELECT count(*), sum(id) FROM t").fetchone() == (59_000, 59_000 * 59_001 // 2)  # fmt: skip


def test_release_waits_for_others(t, am, db):
    """Then it goes on with the rows that are left."""
    t.execute(f"SELECT {am}.adopt('t')")
    t.execute(f"CALL {am}.merge('t')")
    with db.connect() as other:
        other.execute(f"BEGIN; SELECT FROM t WHERE id = {STOP} FOR UPDATE")
        with running(db, t, f"CALL {am}.release('t')"):
            wait_until(
                lambda: (
                    [row[:3] for row in progress(t, am)]
                    == [("t", "release", "waiting for other transactions")]
                ),
                "release to wait",
            )
            other.execute("ROLLBACK")
            row = stopped(t, am)
            assert row[:5] == ("t", "release", "moving rows to the delta", 0, 1)
    assert progress(t, am) == []


def test_verify(t, am, db):
    t.execute(f"SELECT {am}.adopt('t')")
    t.execute(f"CALL {am}.merge('t')")
    with running(db, t, f"SELECT * FROM {am}.verify('t')"):
        row = stopped(t, am)
        assert row[:3] == ("t", "verify", "reading indexes")
        assert row[6] == t.execute("SELECT pg_relation_size('t_f')").fetchone()[0]
    assert progress(t, am) == []


def test_fingerprint(t, am, db):
    t.execute("CREATE VIEW v AS SELECT f(id) AS n, v FROM t")
    with running(db, t, f"SELECT * FROM {am}.fingerprint('v')"):
        row = stopped(t, am)
        assert row[:3] == ("v", "fingerprint", "computing a fingerprint")
        assert STOP - 1000 <= row[3] <= STOP
    assert progress(t, am) == []


def test_fingerprint_of_workers(t, am, db):
    """What workers have added counts for their leader."""
    t.execute(
        "ALTER FUNCTION f PARALLEL SAFE; ALTER TABLE t SET (parallel_workers = 2)"
    )
    t.execute("CREATE VIEW v AS SELECT f(id) AS n, v FROM t")
    settings = (
        "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET parallel_leader_participation = off;"
        "SET min_parallel_table_scan_size = 0;"
    )
    with running(db, t, f"{settings} SELECT * FROM {am}.fingerprint('v')"):
        row = stopped(t, am)
        assert row[:2] == ("v", "fingerprint")
        # the other worker goes on to the end of the table
        wait_until(lambda: progress(t, am)[0][3] > ROWS / 2, "the other worker's rows")
    assert progress(t, am) == []


def test_adopt_waits_for_its_lock(t, am, db):
    with db.connect() as other, db.connect() as runner:
        other.execute("BEGIN; SELECT FROM t LIMIT 1")
        thread = threading.Thread(
            target=runner.execute, args=(f"SELECT {am}.adopt('t')",)
        )
        thread.start()
        wait_until(
            lambda: (
                [row[:3] for row in progress(t, am)]
                == [("t", "adopt", "waiting for a lock")]
            ),
            "adopt to wait",
        )
        other.execute("ROLLBACK")
        thread.join()
    assert progress(t, am) == []


def test_estimate(t, am, db):
    seen = {}
    with db.connect() as runner:

        def all_seen() -> bool:
            """One estimate, which may be too fast for us."""
            thread = threading.Thread(
                target=runner.execute,
                args=(f"SELECT * FROM {am}.estimate('t', seconds => 3)",),
            )
            thread.start()
            while thread.is_alive():
                for row in progress(t, am):
                    assert row[:2] == ("t", "estimate")
                    seen[row[2]] = max(row[3], seen.get(row[2], 0))
            thread.join()
            return "trying alternatives" in seen and seen.get("reading a sample", 0) > 0

        wait_until(all_seen, "both phases and rows to be seen")
    assert progress(t, am) == []


def test_an_error_ends_it(t, am, db):
    t.execute(f"SELECT {am}.adopt('t')")
    with (
        pytest.raises(psycopg.errors.QueryCanceled),
        running(db, t, f"CALL {am}.merge('t')") as (runner, errors),
    ):
        stopped(t, am)
        runner.cancel()
        wait_until(lambda: errors, "the cancelled call to end")
        assert progress(t, am) == []
        # nor is it taken for what the session does next
        t.execute(f"CREATE TABLE b (id int) USING {am}")
        with db.connect() as other:
            other.execute("BEGIN; SELECT FROM b")
            thread = threading.Thread(
                target=runner.execute, args=(f"CALL {am}.release('b')",)
            )
            thread.start()
            wait_until(lambda: progress(t, am), "release to wait")
            # for longer than some of its turns, after each of which the server
            # empties the place for a moment
            shown = [("b", "release", "waiting for a lock")]
            seen = []
            end = time.monotonic() + 0.7
            while time.monotonic() < end:
                seen.append([row[:3] for row in progress(t, am)])
            assert all(rows in ([], shown) for rows in seen)
            assert seen.count(shown) > len(seen) / 2
            other.execute("ROLLBACK")
            thread.join()
        assert progress(t, am) == []
    t.execute(f"CALL {am}.merge('t')")
    assert t.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []


def test_a_refused_command_says_nothing(t, am):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        t.execute(f"SELECT {am}.adopt('pg_class')")
    assert progress(t, am) == []


def test_who_sees_it(t, am, db):
    role = f"sees_{db.name}"
    t.execute(f"CREATE ROLE {role}")
    try:
        t.execute(f"SELECT {am}.adopt('t')")
        with running(db, t, f"CALL {am}.merge('t')"):
            stopped(t, am)
            t.execute(f"SET ROLE {role}")
            assert progress(t, am) == []
            t.execute(f"RESET ROLE; GRANT pg_read_all_stats TO {role}; SET ROLE {role}")
            assert len(progress(t, am)) == 1
            t.execute("RESET ROLE")
    finally:
        t.execute(f"RESET ROLE; DROP ROLE {role}")


def test_a_command_within_another_leaves_its_place_alone(t, am, db):
    """COPY has the session's place; what it copies says nothing, nor disturbs it."""
    t.execute(f"SELECT {am}.adopt('t')")
    t.execute(f"CALL {am}.merge('t')")
    with running(db, t, f"CREATE TABLE c AS SELECT * FROM {am}.verify('t')"):
        stopped(t, am)
    sql = f"COPY (SELECT * FROM {am}.verify('t')) TO PROGRAM 'cat > /dev/null'"
    with running(db, t, sql):
        wait_until(
            lambda: t.execute(
                "SELECT count(*) FROM pg_locks WHERE objid = 4711 AND NOT granted"
            ).fetchone() == (1,),
            "the command to stop",
        )  # fmt: skip
        assert progress(t, am) == []
        assert t.execute("SELECT command, type FROM pg_stat_progress_copy").fetchall() == [
            ("COPY TO", "PROGRAM")
        ]  # fmt: skip


def test_functions_that_catch_errors(t, am, db):
    """A subtransaction that ends with an error takes the session's place away."""
    t.execute(
        "CREATE OR REPLACE FUNCTION f(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        " IF id % 5000 = 0 THEN BEGIN PERFORM 1 / (id - id); EXCEPTION WHEN division_by_zero THEN NULL; END; END IF;"
        f" IF id = {STOP} THEN PERFORM pg_advisory_xact_lock_shared(4711); END IF; RETURN id; END $$"
    )
    t.execute(f"SELECT {am}.adopt('t')")
    with running(db, t, f"CALL {am}.merge('t')"):
        row = stopped(t, am)
        assert row[:3] == ("t", "merge", "moving rows of the delta")
        assert row[3] >= 3 * GROUP
    assert progress(t, am) == []


def test_a_command_that_fails_within_a_block(t, am, db):
    """Its end is that of the block; what comes then does not bring it back."""
    t.execute(f"SELECT {am}.adopt('t')")
    t.execute(f"CALL {am}.merge('t')")
    sql = f"""DO $$ BEGIN
        BEGIN
            SET LOCAL lock_timeout = '100ms';
            PERFORM FROM {am}.verify('t');
        EXCEPTION WHEN lock_not_available THEN NULL;
        END;
        BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END;
        PERFORM set_config('application_name', 'after it', false);
        PERFORM f({STOP});
    END $$"""
    with running(db, t, sql):
        wait_until(
            lambda: t.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'after it' AND wait_event = 'advisory'"
            ).fetchone() == (1,),
            "it to go on",
        )  # fmt: skip
        assert progress(t, am) == []


def test_what_is_left_open_ends_with_the_transaction(t, am):
    t.execute(f"BEGIN; SELECT {am}.fingerprint_progress('t', 5)")
    assert [row[:2] for row in progress(t, am)] == [("t", "fingerprint")]
    t.execute("COMMIT")
    assert progress(t, am) == []


def test_rows_grow_from_look_to_look(t, am, db):
    """Whatever rounds and phases there are, rows of a phase do not shrink."""
    t.execute("DROP INDEX t_f; CREATE INDEX ON t (id)")
    t.execute(f"SELECT {am}.adopt('t')")
    looks = []
    with db.connect() as runner:
        for _ in range(5):
            thread = threading.Thread(
                target=runner.execute, args=(f"CALL {am}.merge('t')",)
            )
            thread.start()
            while thread.is_alive():
                looks += t.execute(
                    f"SELECT phase_started, rows_done FROM {am}.progress"
                ).fetchall()
            thread.join()
            t.execute(
                f"UPDATE t SET v = md5(v) WHERE id % 3 = 0; DELETE FROM t WHERE id BETWEEN {GROUP} AND {2 * GROUP};"
                f"INSERT INTO t SELECT i, md5(i::text) FROM generate_series({GROUP}, {2 * GROUP}) i"
            )
    assert min(rows for _, rows in looks) >= 0
    for (phase, rows), (next_phase, next_rows) in itertools.pairwise(looks):
        assert phase != next_phase or rows <= next_rows


def test_verify_of_a_table_whose_index_has_no_file(t, am, db):
    """Progress asks for its size; that it cannot be read is a finding."""
    t.execute(f"SELECT {am}.adopt('t')")
    t.execute(f"CALL {am}.merge('t')")
    (path,) = t.execute("SELECT pg_relation_filepath('t_f')").fetchone()
    t.execute("CHECKPOINT")
    (db.cluster.data / path).unlink()
    with db.connect() as fresh:
        found = fresh.execute(f"SELECT problem FROM {am}.verify('t')").fetchall()
    # none, if all pages are in the server's memory
    assert all("could not open file" in problem for (problem,) in found)
    t.execute("REINDEX INDEX t_f")
    assert t.execute(f"SELECT * FROM {am}.verify('t')").fetchall() == []
