"""Policies of partitioned tables: partitions of age are adopted, merged, dropped.

Partitions are made around today, so that nobody has to turn a clock."""

from __future__ import annotations

import contextlib
import threading
import time

import psycopg
import pytest
from strata.twin import execute
from strata.wait import wait_until

# Days from today: lower and upper bound.
PARTITIONS = {"p0": (-100, -90), "p1": (-40, -30), "p2": (-10, -5), "p3": (-5, 5)}
ROWS = 6000


def bound(day: int) -> str:
    return f"((current_date + {day})::timestamp)"


def make(conn, name: str = "p", prefix: str = "", type_: str = "timestamptz") -> None:
    """A partitioned table with heap partitions and rows, and a heap table alike."""
    conn.execute(
        f"CREATE TABLE {name} (at {type_} NOT NULL, id int, v text) PARTITION BY RANGE (at)"
    )
    for partition, (low, high) in PARTITIONS.items():
        conn.execute(
            f"DO $$ BEGIN EXECUTE format('CREATE TABLE {prefix}{partition} PARTITION OF {name}"
            f" FOR VALUES FROM (%L) TO (%L) USING heap', {bound(low)}, {bound(high)}); END $$"
        )
        conn.execute(
            f"INSERT INTO {name} SELECT {bound(low)} + i * ({bound(high)} - {bound(low)}) / {ROWS},"
            f" i, md5(i::text) FROM generate_series(0, {ROWS - 1}) i"
        )
    conn.execute(f"CREATE TABLE {name}_twin AS TABLE {name}")


def methods(conn, name: str = "p") -> dict[str, str]:
    """Access method of each leaf partition."""
    return dict(
        conn.execute(
            "SELECT relname, amname FROM pg_partition_tree(%s) t JOIN pg_class c ON c.oid = t.relid"
            " JOIN pg_am a ON a.oid = relam WHERE isleaf ORDER BY 1",
            [name],
        ).fetchall()
    )


def runs(conn, am: str, name: str = "p") -> dict[tuple[str, str], tuple]:
    """(partition, action) to (outcome, started, message, failures)."""
    return {
        (partition.split(".")[-1], action): rest
        for partition, action, *rest in conn.execute(
            f"SELECT partition, action, outcome, started, message, failures FROM {am}.policy_runs"
            " WHERE parent = %s::regclass",
            [name],
        ).fetchall()
    }


def outcomes(conn, am: str, name: str = "p") -> dict[tuple[str, str], str]:
    return {key: found[0] for key, found in runs(conn, am, name).items()}


def same(conn, name: str = "p", since: int = -1000) -> None:
    """The rows from some day on are those of the twin, none more and none less."""
    one, other = (
        f"SELECT * FROM {table} WHERE at >= {bound(since)}"
        for table in (name, f"{name}_twin")
    )
    for a, b in ((one, other), (other, one)):
        assert conn.execute(
            f"SELECT count(*) FROM ({a} EXCEPT ALL {b}) d"
        ).fetchone() == (0,)


def set_policy(conn, am: str, name: str = "p", **settings: str) -> None:
    conn.execute(
        f"SELECT {am}.set_policy('{name}', "
        + ", ".join(f"{key} => {value}" for key, value in settings.items())
        + ", schedule => NULL)"
    )


def run(conn, am: str, name: str | None = None) -> None:
    of = "" if name is None else f"'{name}'"
    conn.execute(f"CALL {am}.run_policies({of})")


@pytest.fixture
def p(conn, am):
    make(conn)
    return conn


def test_partitions_come_of_age(p, am):
    """Adopted, merged and dropped when it is time, and nothing done twice."""
    set_policy(
        p, am, adopt_after="'20 days'", orderby="'at'", drop_after="'80 days'"
    )  # fmt: skip
    assert p.execute(
        f"SELECT parent::text, adopt_after::text, compact_every, orderby, drop_after::text,"
        f" owner, last_run, next_run < now() FROM {am}.policies"
    ).fetchall() == [("p", "20 days", None, "at", "80 days", "postgres", None, True)]
    run(p, am)
    assert methods(p) == {"p1": am, "p2": "heap", "p3": "heap"}
    same(p, since=-90)
    assert p.execute(f"SELECT row_group_rows, deleted_rows FROM {am}.table_info('p1')"
                     ).fetchone() == (ROWS, 0)  # fmt: skip
    assert p.execute(f"SELECT * FROM {am}.verify('p1')").fetchall() == []
    first = runs(p, am)
    assert {key: value[0] for key, value in first.items()} == {
        ("p0", "drop"): "done",
        ("p1", "adopt"): "done",
        ("p1", "merge"): "done",
    }
    for again in (None, "p"):
        run(p, am, again)
        assert runs(p, am) == first
    # the next one: p2 is adopted 20 days after its end
    assert p.execute(
        f"SELECT next_run = {bound(-5)} + interval '20 days', last_run IS NOT NULL FROM {am}.policies"
    ).fetchone() == (True, True)

    # another range, that ended longer ago
    p.execute("ALTER TABLE p DETACH PARTITION p2")
    p.execute("UPDATE p2 SET at = at - interval '50 days'")
    p.execute(
        f"UPDATE p_twin SET at = at - interval '50 days' WHERE at >= {bound(-10)} AND at < {bound(-5)}"
    )
    p.execute(
        "DO $$ BEGIN EXECUTE format('ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (%L) TO (%L)',"
        f" {bound(-60)}, {bound(-55)}); END $$"
    )
    run(p, am)
    assert methods(p) == {"p1": am, "p2": am, "p3": "heap"}
    same(p, since=-90)

    # no policy any more: nothing is done, and nothing undone
    assert p.execute(f"SELECT {am}.remove_policy('p')").fetchone() == (True,)
    assert p.execute(f"SELECT {am}.remove_policy('p')").fetchone() == (False,)
    assert p.execute(f"SELECT * FROM {am}.policies").fetchall() == []
    with pytest.raises(psycopg.errors.UndefinedObject, match="has no policy"):
        run(p, am, "p")
    run(p, am)
    assert methods(p) == {"p1": am, "p2": am, "p3": "heap"}
    same(p, since=-90)


def test_merged_as_often_as_wished(p, am):
    set_policy(p, am, adopt_after="'20 days'", compact_every="'1 day'")
    p.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
    run(p, am)
    assert methods(p) == {"p0": am, "p1": am, "p2": "heap", "p3": "heap"}
    for table in ("p", "p_twin"):
        p.execute(f"DELETE FROM {table} WHERE id % 5 = 0")
    before = runs(p, am)
    run(p, am)
    assert runs(p, am) == before
    set_policy(p, am, adopt_after="'20 days'", compact_every="'0'")
    run(p, am)
    after = runs(p, am)
    for partition in ("p0", "p1"):
        assert after[partition, "merge"][1] > before[partition, "merge"][1]
        assert after[partition, "adopt"] == before[partition, "adopt"]
        assert p.execute(
            f"SELECT row_group_rows, deleted_rows FROM {am}.table_info('{partition}')"
        ).fetchone() == (ROWS * 4 // 5, 0)
    same(p)


def test_without_adoption(p, am):
    """compact_every alone is for partitions that are ours already, of any age."""
    p.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
    p.execute(f"SELECT {am}.adopt('p3')")
    set_policy(p, am, compact_every="'1 hour'")
    run(p, am)
    assert methods(p) == {"p0": "heap", "p1": "heap", "p2": "heap", "p3": am}
    assert outcomes(p, am) == {("p3", "merge"): "done"}
    assert p.execute(f"SELECT row_group_rows FROM {am}.table_info('p3')").fetchone() == (ROWS,)  # fmt: skip


def test_kinds_of_keys(conn, am):
    """What has an end in time, and when."""
    conn.execute("SET timezone = 'America/New_York'")
    ranges = f"SELECT partition::text, upper_bound::text FROM {am}.policy_ranges(%s, true) ORDER BY 1"

    def found(name):
        return conn.execute(ranges, [name]).fetchall()

    conn.execute(
        "CREATE TABLE d (a date, b int) PARTITION BY RANGE (a, b);"
        "CREATE TABLE d1 PARTITION OF d FOR VALUES FROM (MINVALUE, MINVALUE) TO ('2020-01-01', 7);"
        "CREATE TABLE d2 PARTITION OF d FOR VALUES FROM ('2021-01-01', 0) TO ('2022-01-01', MAXVALUE);"
        "CREATE TABLE d3 PARTITION OF d FOR VALUES FROM ('2022-01-02', 0) TO ('5874897-12-31', 0);"
        "CREATE TABLE d4 PARTITION OF d FOR VALUES FROM ('5874897-12-31', 0) TO ('infinity', 0);"
        "CREATE TABLE d5 PARTITION OF d FOR VALUES FROM ('infinity', 0) TO (MAXVALUE, MAXVALUE);"
        "CREATE TABLE d6 PARTITION OF d DEFAULT"
    )
    # the bound's own day belongs to it, but for MINVALUE
    assert found("d") == [("d1", "2020-01-02 00:00:00-05"), ("d2", "2022-01-02 00:00:00-05")]  # fmt: skip
    conn.execute(
        "CREATE TABLE h (a date, b int) PARTITION BY RANGE (a, b);"
        "CREATE TABLE h1 PARTITION OF h FOR VALUES FROM (MINVALUE, MINVALUE) TO ('2020-01-01', MINVALUE);"
        "CREATE TABLE i (a timestamp, b int) PARTITION BY RANGE (date_trunc('month', a), b);"
        "CREATE TABLE i1 PARTITION OF i FOR VALUES FROM ('2020-01-01', 0) TO ('2020-02-01', MINVALUE);"
        "CREATE TABLE i2 PARTITION OF i FOR VALUES FROM ('2020-02-01', 0) TO ('2020-03-01', MAXVALUE)"
    )
    assert found("h") == [("h1", "2020-01-01 00:00:00-05")]
    assert found("i") == [("i1", "2020-02-01 00:00:00-05")]
    conn.execute(
        "CREATE TABLE e (a timestamp) PARTITION BY RANGE ((a::date));"
        "CREATE TABLE e1 PARTITION OF e FOR VALUES FROM ('2020-07-01') TO ('2020-08-01')"
    )
    assert found("e") == [("e1", "2020-08-01 00:00:00-04")]
    conn.execute(
        "CREATE TABLE f (a timestamp) PARTITION BY RANGE (a);"
        "CREATE TABLE f1 PARTITION OF f FOR VALUES FROM ('-infinity') TO ('2020-08-01 12:00:01.5');"
        "CREATE TABLE f2 PARTITION OF f FOR VALUES FROM ('2020-08-01 12:00:01.5') TO ('294276-12-31')"
    )
    assert found("f") == [("f1", "2020-08-01 12:00:01.5-04")]
    conn.execute("CREATE TABLE g (a date) PARTITION BY RANGE (a)")
    assert found("g") == []
    for unfit in (
        "CREATE TABLE x (a date) PARTITION BY LIST (a)",
        "CREATE TABLE x (a date) PARTITION BY HASH (a)",
        "CREATE TABLE x (a int) PARTITION BY RANGE (a)",
        "CREATE TABLE x (a date)",
        "CREATE VIEW x AS SELECT 1",
    ):
        conn.execute(unfit)
        outcome = execute(conn, f"SELECT {am}.set_policy('x', adopt_after => '1 day')")
        assert outcome.sqlstate == "42809", unfit
        assert conn.execute(f"SELECT * FROM {am}.policy_ranges('x', false)").fetchall() == []  # fmt: skip
        conn.execute("DROP VIEW x" if "VIEW" in unfit else "DROP TABLE x")


def test_partitions_of_partitions(conn, am):
    """Leaves below an old range; the range as a whole is dropped."""
    conn.execute(
        "CREATE TABLE p (at date, id int) PARTITION BY RANGE (at);"
        "CREATE TABLE y1 PARTITION OF p FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') PARTITION BY HASH (id);"
        "CREATE TABLE y1a PARTITION OF y1 FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING heap;"
        "CREATE TABLE y1b PARTITION OF y1 FOR VALUES WITH (MODULUS 2, REMAINDER 1) USING heap;"
        "CREATE TABLE y2 PARTITION OF p FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') USING heap;"
        "CREATE TABLE rest PARTITION OF p DEFAULT USING heap;"
        "INSERT INTO p SELECT date '2020-01-01' + i % 900, i FROM generate_series(1, 9000) i"
    )
    before = conn.execute("SELECT count(*), sum(id) FROM p").fetchone()
    set_policy(conn, am, adopt_after="'1 year'")
    run(conn, am)
    assert methods(conn) == {"y1a": am, "y1b": am, "y2": am, "rest": "heap"}
    assert conn.execute("SELECT count(*), sum(id) FROM p").fetchone() == before
    # what is old enough for the one and not for the other
    days = conn.execute("SELECT current_date - date '2021-06-01'").fetchone()[0]
    set_policy(conn, am, drop_after=f"'{days} days'")
    run(conn, am)
    assert methods(conn) == {"y2": am, "rest": "heap"}
    assert conn.execute("SELECT min(at)::text FROM p").fetchone() == ("2021-01-01",)


# ---- what goes wrong ----


def test_a_partition_that_is_refused(p, am):
    """It stands in the record once; the others go on; when it fits it is adopted."""
    p.execute("CREATE INDEX brin ON p1 USING brin (at)")
    set_policy(p, am, adopt_after="'1 day'")
    warnings = []
    p.add_notice_handler(lambda notice: warnings.append(notice.message_primary))
    run(p, am)
    assert len([w for w in warnings if "is refused" in w and "brin" in w]) == 1
    assert methods(p) == {"p0": am, "p1": "heap", "p2": am, "p3": "heap"}
    first = runs(p, am)
    assert first["p1", "adopt"][0] == "refused"
    assert "brin" in first["p1", "adopt"][2] and "Drop it" in first["p1", "adopt"][2]
    run(p, am)
    assert runs(p, am) == first
    assert p.execute(
        f"SELECT next_run BETWEEN now() + interval '23 hours' AND now() + interval '1 day' FROM {am}.policies"
    ).fetchone() == (True,)
    p.execute("DROP INDEX brin")
    run(p, am, "p")
    assert methods(p)["p1"] == am
    assert runs(p, am)["p1", "adopt"][0] == "done"
    same(p)


@pytest.mark.slow
def test_a_partition_that_is_in_use(p, am, db):
    """Others are adopted; this one is tried again, not at once."""
    with db.connect() as other:
        other.execute("BEGIN; SELECT count(*) FROM p1")
        set_policy(p, am, adopt_after="'1 day'")
        run(p, am)
        assert methods(p) == {"p0": am, "p1": "heap", "p2": am, "p3": "heap"}
        failed = runs(p, am)["p1", "adopt"]
        assert failed[0] == "failed" and failed[3] == 1
        assert "could not obtain lock" in failed[2]
        run(p, am)
        assert runs(p, am)["p1", "adopt"] == failed
        other.execute("ROLLBACK")
    run(p, am, "p")
    assert methods(p)["p1"] == am
    assert runs(p, am)["p1", "adopt"][::3] == ["done", 0]
    same(p)


@pytest.mark.slow
def test_a_partition_that_others_read_is_not_dropped(p, am, db):
    set_policy(p, am, drop_after="'1 day'")
    with db.connect() as other:
        other.execute("BEGIN; SELECT count(*) FROM p1")
        run(p, am)
        # a table locked as the parent of all is in use by the reader of one, too
        assert outcomes(p, am)["p1", "drop"] == "failed"
        other.execute("ROLLBACK")
    run(p, am, "p")
    assert methods(p) == {"p3": "heap"}
    same(p, since=-5)


def test_what_depends_on_a_partition_stays(p, am):
    p.execute("CREATE VIEW v AS SELECT * FROM p0")
    set_policy(p, am, drop_after="'20 days'")
    run(p, am)
    assert methods(p) == {"p0": "heap", "p2": "heap", "p3": "heap"}
    assert "depend" in runs(p, am)["p0", "drop"][2]


def test_an_error_in_the_middle_of_a_merge(p, am):
    """The session goes on, with the next partition; the next run finishes."""
    p.execute(
        "CREATE FUNCTION f(id int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        " IF id = 77 AND EXISTS (SELECT FROM pg_class WHERE relname = 'fail') THEN RAISE 'not 77'; END IF;"
        " RETURN id; END $$"
    )
    p.execute("CREATE INDEX ON p0 (f(id))")
    p.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
    p.execute("CREATE TABLE public.fail ()")
    set_policy(p, am, adopt_after="'1 day'")
    run(p, am)
    assert methods(p) == {"p0": am, "p1": am, "p2": am, "p3": "heap"}
    found = runs(p, am)
    assert found["p0", "adopt"][0] == "done"
    assert found["p0", "merge"][0] == "failed" and found["p0", "merge"][2] == "not 77"
    assert found["p2", "merge"][0] == "done"
    assert p.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone() == (0,)  # fmt: skip
    same(p)
    for n in (2, 3):
        run(p, am, "p")
        assert runs(p, am)["p0", "merge"][3] == n
    p.execute("DROP TABLE public.fail")
    run(p, am, "p")
    assert runs(p, am)["p0", "merge"][::3] == ["done", 0]
    assert p.execute(f"SELECT row_group_rows FROM {am}.table_info('p0')").fetchone() == (ROWS,)  # fmt: skip
    assert p.execute(f"SELECT * FROM {am}.verify('p0')").fetchall() == []
    same(p)


@contextlib.contextmanager
def stuck(db, conn, am, table="p1"):
    """A run that waits in the middle, for a lock on a table; (its pid, its thread,
    its errors), and what lets it go on."""
    run(conn, am)
    set_policy(conn, am, adopt_after="'20 days'", compact_every="'0'")
    errors = []
    with db.connect() as holder, db.connect() as runner:
        holder.execute(f"BEGIN; LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
        conn.execute("DELETE FROM p WHERE id % 5 = 0")
        conn.execute("DELETE FROM p_twin WHERE id % 5 = 0")
        (pid,) = runner.execute("SELECT pg_backend_pid()").fetchone()

        def go():
            try:
                run(runner, am)
            except psycopg.Error as error:
                errors.append(error)

        thread = threading.Thread(target=go)
        thread.start()
        wait_until(
            lambda: conn.execute(
                "SELECT count(*) FROM pg_locks WHERE pid = %s AND NOT granted", [pid]
            ).fetchone() == (1,),
            "the run to wait",
        )  # fmt: skip
        try:
            yield pid, thread, errors, lambda: holder.execute("ROLLBACK")
        finally:
            holder.execute("ROLLBACK")
            thread.join()


@pytest.mark.parametrize("how", ["pg_cancel_backend", "pg_terminate_backend"])
def test_a_run_that_is_ended_in_the_middle(p, am, db, how):
    set_policy(p, am, adopt_after="'20 days'")
    p.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
    with stuck(db, p, am) as (pid, thread, errors, _):
        assert outcomes(p, am)["p1", "merge"] == "running"
        p.execute(f"SELECT {how}(%s)", [pid])
        thread.join()
        assert len(errors) == 1
        wait_until(
            lambda: (
                outcomes(p, am)["p1", "merge"]
                == ("failed" if "cancel" in how else "interrupted")
            ),
            "the outcome",
        )
        same(p)
    run(p, am, "p")
    assert outcomes(p, am)["p1", "merge"] == "done"
    assert p.execute(f"SELECT deleted_rows FROM {am}.table_info('p1')").fetchone() == (0,)  # fmt: skip
    same(p)


def test_two_runs_at_once(p, am, db):
    """The second leaves the policy out that is being run, and runs the others."""
    set_policy(p, am, adopt_after="'20 days'")
    make(p, "q", "q_")
    with stuck(db, p, am) as (_, thread, errors, release), db.connect() as second:
        set_policy(second, am, "q", adopt_after="'20 days'")
        notices = []
        second.add_notice_handler(lambda n: notices.append(n.message_primary))
        run(second, am)
        assert notices == ['policy of "p" is left out: another session is running it']
        assert methods(second, "q")["q_p1"] == am
        assert outcomes(p, am)["p1", "merge"] == "running"
        release()
        thread.join()
        assert errors == []
    assert outcomes(p, am)["p1", "merge"] == "done"
    same(p)
    same(p, "q")


def test_a_policy_that_is_gone_in_the_middle(p, am, db):
    """The run ends with the action that it is at."""
    set_policy(p, am, adopt_after="'20 days'")
    p.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
    with stuck(db, p, am, "p0") as (_, thread, errors, release):
        before = runs(p, am)["p1", "merge"]
        p.execute(f"SELECT {am}.remove_policy('p')")
        release()
        thread.join()
        assert errors == []
    assert outcomes(p, am)["p0", "merge"] == "done"
    assert runs(p, am)["p1", "merge"] == before
    same(p)


@pytest.mark.slow
def test_a_merge_does_not_wait_for_ever(p, am, db):
    """Ten seconds for a lock that somebody else keeps; the session's setting is as before."""
    set_policy(p, am, adopt_after="'20 days'")
    p.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
    with stuck(db, p, am, "p0") as (_, thread, errors, _):
        thread.join(30)
        assert not thread.is_alive() and errors == []
        found = runs(p, am)["p0", "merge"]
        assert found[0] == "failed" and "lock timeout" in found[2]
        assert outcomes(p, am)["p1", "merge"] == "done"
        p.execute("SET lock_timeout = '50ms'")
        run(p, am, "p")
        assert p.execute("SHOW lock_timeout").fetchone() == ("50ms",)
        assert runs(p, am)["p0", "merge"][3] == 2
        p.execute("RESET lock_timeout")
    run(p, am, "p")
    assert p.execute("SHOW lock_timeout").fetchone() == ("0",)
    assert runs(p, am)["p0", "merge"][::3] == ["done", 0]
    same(p)


def test_a_drop_that_is_put_off_meanwhile(p, am, db):
    """It is not done, and not recorded as done."""
    set_policy(p, am, drop_after="'80 days'")
    with db.connect() as other, db.connect() as runner:
        other.execute("BEGIN; SELECT count(*) FROM p0")
        thread = threading.Thread(target=run, args=(runner, am))
        thread.start()
        wait_until(
            lambda: outcomes(p, am).get(("p0", "drop")) == "running", "the drop to wait"
        )
        wait_until(
            lambda: p.execute(
                f"SELECT relation::text, command, phase FROM {am}.progress"
            ).fetchall() == [("p0", "drop", "waiting for a lock")],
            "its progress",
        )  # fmt: skip
        set_policy(p, am, drop_after="'200 days'")
        other.execute("ROLLBACK")
        thread.join()
    assert methods(p)["p0"] == "heap"
    assert runs(p, am) == {}
    assert p.execute(f"SELECT * FROM {am}.progress").fetchall() == []
    same(p)


@pytest.mark.crash
def test_kill_in_the_middle(make_cluster, am):
    """A crash during a run: the next run finishes it."""
    cluster = make_cluster("killed", fsync="on")

    class Killed:
        def connect(self):
            return cluster.connect()

    with cluster.connect() as conn:
        conn.execute(f"CREATE EXTENSION {am}")
        make(conn)
        conn.execute(f"SELECT {am}.set_options('p', auto_compact => false)")
        set_policy(conn, am, adopt_after="'20 days'")
        with contextlib.suppress(psycopg.OperationalError), stuck(Killed(), conn, am):
            cluster.kill()
    cluster.start()
    with cluster.connect() as conn:
        assert outcomes(conn, am)["p1", "merge"] == "interrupted"
        same(conn)
        run(conn, am, "p")
        assert outcomes(conn, am)["p1", "merge"] == "done"
        assert conn.execute(f"SELECT * FROM {am}.verify('p1')").fetchall() == []
        same(conn)


@pytest.mark.parametrize(
    ("call", "sqlstate"),
    [
        ("SELECT {am}.set_policy('p')", "22023"),
        ("SELECT {am}.set_policy(NULL, adopt_after => '1 day')", "22004"),
        ("SELECT {am}.set_policy('p', adopt_after => '-1 day')", "22023"),
        ("SELECT {am}.set_policy('p', drop_after => interval '3600000 mons -108000000 days')", "22023"),
        ("SELECT {am}.set_policy('p', adopt_after => '100000 years')", "22023"),
        ("SELECT {am}.set_policy('p', adopt_after => '9 days', drop_after => '8 days')", "22023"),
        ("SELECT {am}.set_policy('p', adopt_after => '9 days', orderby => 'nope')", "42703"),
        ("SECURITY LABEL FOR {am} ON TABLE p IS 'adopt_after=never'", "22007"),
        ("SECURITY LABEL FOR {am} ON TABLE p IS 'drop_after=''-1 s'''", "22023"),
        ("SELECT {am}.policy_setting('p', 'level')", "22023"),
        ("BEGIN; CALL {am}.run_policies()", "25001"),
        ("DO $$ BEGIN CALL {am}.run_policies(); END $$", "25001"),
        ("SET default_transaction_read_only = on; CALL {am}.run_policies()", "25006"),
        ("INSERT INTO {am}.policy_log VALUES (1, 1, 'drop', 'x', now(), now(), 'x', 'x', 1)", "42501"),
        ("SELECT {am}.policy_record(1, 1, 'x', 'drop', 'x', 'x')", "42501"),
        ("SELECT {am}.policy_tidy(1)", "42501"),
    ],
)  # fmt: skip
def test_what_is_refused(db, conn, am, call, sqlstate):
    conn.execute("CREATE TABLE p (at date) PARTITION BY RANGE (at)")
    role = f"owner_{db.name}"
    conn.execute(f"CREATE ROLE {role}; ALTER TABLE p OWNER TO {role}")
    try:
        conn.execute(f"LOAD '{am}'")
        conn.execute(f"SET ROLE {role}")
        statements = call.format(am=am).split("; ") if "DO" not in call else [call]
        for statement in statements[:-1]:
            conn.execute(statement)
        assert execute(conn, statements[-1].format(am=am)).sqlstate == sqlstate
    finally:
        conn.execute("ROLLBACK")
        conn.execute("RESET ALL; RESET ROLE")
        conn.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_a_partition_that_is_being_released(p, am, db):
    """merge() does not take back what somebody has begun."""
    set_policy(p, am, adopt_after="'1 day'", compact_every="'0 s'")
    run(p, am)
    with db.connect() as other:
        other.execute("BEGIN; SELECT FROM p1 LIMIT 1 FOR UPDATE")
        outcome = execute(p, f"CALL {am}.release('p1', patience => '0.1 s')")
        assert outcome.sqlstate == "55P03"
        other.execute("ROLLBACK")
    run(p, am)
    outcome, _, message = runs(p, am)["p1", "merge"][:3]
    assert outcome == "failed" and '"p1" is being released' in message
    p.execute(f"CALL {am}.release('p1')")
    assert methods(p)["p1"] == "heap"


def test_a_locked_table_ends_nobody_elses_run(p, am, db):
    """Its partitions are not looked at for long; other policies go on."""
    p.execute(
        "CREATE TABLE a (at date) PARTITION BY RANGE (at);"
        "CREATE TABLE a1 PARTITION OF a FOR VALUES FROM ('2020-01-01') TO ('2020-02-01') USING heap;"
        f"SELECT {am}.set_policy('a', adopt_after => '1 day', schedule => NULL)"
    )
    set_policy(p, am, adopt_after="'1 day'")
    with db.connect() as other:
        other.execute("BEGIN; LOCK TABLE a IN ACCESS EXCLUSIVE MODE")
        warnings = []
        p.add_notice_handler(lambda notice: warnings.append(notice.message_primary))
        began = time.monotonic()
        p.execute(f"CALL {am}.run_policies()")
        assert time.monotonic() - began < 30
        assert any(w.startswith('policy of "a" cannot be run') for w in warnings)
        other.execute("ROLLBACK")
    assert methods(p)["p1"] == am


# ---- rights ----


@pytest.fixture
def roles(db, am):
    """alice owns the table p, and a key and an index made of a function of hers."""
    conn = db.connect()
    alice, bob = f"alice_{db.name}", f"bob_{db.name}"
    for name in (alice, bob):
        conn.execute(f"CREATE ROLE {name}")
    conn.execute(f"GRANT CREATE ON SCHEMA public TO {alice}, {bob}")
    conn.execute(f"SET ROLE {alice}")
    conn.execute(
        "CREATE FUNCTION public.spy(date) RETURNS date IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        f" IF current_user <> '{alice}' THEN RAISE 'spy runs as %', current_user; END IF;"
        " RETURN $1; END $$"
    )
    conn.execute(
        "CREATE TABLE p (at date NOT NULL, id int) PARTITION BY RANGE (at);"
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') USING heap;"
        "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2021-01-01') TO ('2022-01-01') USING heap;"
        "CREATE INDEX ON p1 (spy(at));"
        "CREATE TABLE k (at date NOT NULL) PARTITION BY RANGE (coalesce(at, spy('2020-01-01')));"
        "CREATE TABLE k1 PARTITION OF k FOR VALUES FROM ('2020-01-01') TO ('2021-01-01') USING heap;"
        "INSERT INTO p SELECT date '2020-01-01' + i % 700, i FROM generate_series(1, 9000) i"
    )
    conn.execute(
        f"SELECT {am}.set_policy('k', adopt_after => '1 day', schedule => NULL)"
    )
    conn.execute("RESET ROLE")
    yield conn, alice, bob
    conn.execute("ROLLBACK; RESET ROLE")
    conn.execute(f"DROP OWNED BY {alice}, {bob} CASCADE; DROP ROLE {alice}, {bob}")


def as_role(conn, role: str, sql: str) -> str | None:
    """sqlstate of the statement as that role."""
    conn.execute(f"SET ROLE {role}")
    try:
        return execute(conn, sql).sqlstate
    finally:
        conn.execute("RESET ROLE")


def test_who_may_set_and_run(roles, am):
    conn, alice, bob = roles
    setting = f"SELECT {am}.set_policy('p', adopt_after => '1 year', schedule => NULL)"
    assert as_role(conn, bob, setting) == "42501"
    assert as_role(conn, bob, f"SECURITY LABEL FOR {am} ON TABLE p IS 'drop_after=1'") == "42501"  # fmt: skip
    assert as_role(conn, alice, setting) is None
    assert as_role(conn, bob, f"SELECT {am}.remove_policy('p')") == "42501"
    assert as_role(conn, bob, f"CALL {am}.run_policies('p')") == "42501"
    assert as_role(conn, bob, f"CALL {am}.run_policies()") is None
    assert methods(conn) == {"p1": "heap", "p2": "heap"}
    assert as_role(conn, alice, f"CALL {am}.run_policies()") is None
    assert methods(conn) == {"p1": am, "p2": am}
    assert conn.execute(f"SELECT row_group_rows > 0 FROM {am}.table_info('p1')").fetchone() == (True,)  # fmt: skip
    seen = f"SELECT count(*) FROM {am}.policy_runs"
    conn.execute(f"SET ROLE {bob}")
    assert conn.execute(seen).fetchone() == (0,)
    conn.execute(f"SET ROLE {alice}")
    assert conn.execute(seen).fetchone() == (6,)
    conn.execute("RESET ROLE")
    conn.execute(f"GRANT pg_read_all_stats TO {bob}")
    conn.execute(f"SET ROLE {bob}")
    assert conn.execute(seen).fetchone() == (6,)


def test_a_superuser_runs_nothing_of_the_owner(roles, am):
    """Functions in keys and indexes run as the owner; so does DROP."""
    conn, alice, bob = roles
    as_role(conn, alice, f"SELECT {am}.set_policy('p', adopt_after => '1 year', schedule => NULL)")  # fmt: skip
    # the spy would tell
    with pytest.raises(psycopg.errors.RaiseException, match="spy runs as postgres"):
        conn.execute("SELECT public.spy('2020-01-01')")
    with conn.cursor() as cursor:
        cursor.execute(f"SELECT parent::text FROM {am}.policies ORDER BY 1")
        assert cursor.fetchall() == [("k",), ("p",)]
    run(conn, am)
    assert methods(conn) == {"p1": am, "p2": am}
    assert set(outcomes(conn, am).values()) == {"done"}
    assert outcomes(conn, am, "k") == {("k1", "adopt"): "done", ("k1", "merge"): "done"}

    # a partition of somebody else: what alice could not do is not done for her
    conn.execute(f"ALTER TABLE p2 OWNER TO {bob}")
    conn.execute(f"REVOKE CREATE ON SCHEMA public FROM {alice}")
    as_role(conn, alice, f"SELECT {am}.set_policy('p', drop_after => '1 year', schedule => NULL)")  # fmt: skip
    run(conn, am)
    assert methods(conn) == {"p2": am}
    failed = runs(conn, am)["p2", "drop"]
    assert failed[0] == "failed" and "must be owner" in failed[2]


def test_the_owner_changes_no_settings(roles, db, am):
    """Functions in keys run while others look at policies; what they set ends with them."""
    conn, alice, _ = roles
    conn.execute(
        "CREATE FUNCTION public.setter(date) RETURNS date IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        " PERFORM set_config('search_path', 'planted', false), set_config('TimeZone', 'OFF-167', false),"
        " set_config('statement_timeout', '123456', false); RETURN $1; END $$;"
        f"SET ROLE {alice};"
        "CREATE TABLE public.a (at date NOT NULL) PARTITION BY RANGE (coalesce(at, public.setter('2020-01-01')));"
        "CREATE TABLE public.a1 PARTITION OF public.a FOR VALUES FROM ('2020-01-01') TO ('2020-02-01') USING heap;"
        f"SELECT {am}.set_policy('public.a', adopt_after => '1 day', schedule => NULL); RESET ROLE; RESET ALL"
    )
    names = "SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('search_path', 'TimeZone', 'statement_timeout') ORDER BY 1"
    for statement in (f"SELECT * FROM {am}.policies", f"CALL {am}.run_policies()"):
        fresh = db.connect()
        before = fresh.execute(names).fetchall()
        fresh.execute(statement)
        assert fresh.execute(names).fetchall() == before
    assert outcomes(conn, am, "a")["a1", "adopt"] == "done"


def test_one_owners_error_ends_nobody_elses_run(roles, db, am):
    """A key that cannot be simplified, an error that looks like a cancel."""
    conn, alice, _ = roles
    as_role(conn, alice, f"SELECT {am}.set_policy('p', adopt_after => '1 year', schedule => NULL)")  # fmt: skip
    conn.execute(
        "CREATE OR REPLACE FUNCTION public.spy(date) RETURNS date IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN"
        " IF current_user = 'postgres' THEN RETURN $1; END IF;"
        " RAISE 'no' USING ERRCODE = 'query_canceled'; END $$"
    )
    fresh = db.connect()
    warnings = []
    fresh.add_notice_handler(lambda notice: warnings.append(notice.message_primary))
    fresh.execute(f"CALL {am}.run_policies()")
    assert 'policy of "k" cannot be run: no' in warnings
    assert methods(conn)["p2"] == am


# ---- names ----


def test_renamed_and_dropped(p, am):
    set_policy(p, am, adopt_after="'20 days'")
    p.execute("CREATE SCHEMA \"a 'B'\"")
    p.execute("ALTER TABLE p SET SCHEMA \"a 'B'\"")
    p.execute('ALTER TABLE "a \'B\'".p RENAME TO "P q"')
    p.execute('ALTER TABLE p1 RENAME TO "P 1"')
    run(p, am)
    name = '"a \'B\'"."P q"'
    assert methods(p, name) == {"p0": am, "P 1": am, "p2": "heap", "p3": "heap"}
    assert outcomes(p, am, name)['"P 1"', "adopt"] == "done"
    make(p, "q", "q_")
    set_policy(p, am, "q", adopt_after="'20 days'")
    p.execute(f"DROP TABLE {name}")
    run(p, am)
    assert methods(p, "q")["q_p1"] == am
    assert p.execute(f"SELECT parent::text FROM {am}.policies").fetchall() == [("q",)]
    assert p.execute(
        f"SELECT count(*) FROM {am}.policy_log WHERE parent <> 'q'::regclass"
    ).fetchone() == (0,)


def test_the_record_is_bounded(p, am):
    """Of partitions that are gone the last hundred stay."""
    set_policy(p, am, drop_after="'1 day'")
    p.execute(
        f"INSERT INTO {am}.policy_log SELECT 'p'::regclass, 4000000000 + i, 'drop', 'gone', now() - i * interval '1 day',"
        " now(), 'done', NULL, 0 FROM generate_series(1, 500) i"
    )
    run(p, am)
    assert p.execute(
        f"SELECT count(*), count(*) FILTER (WHERE partition::bigint - 4000000000 BETWEEN 1 AND 100) FROM {am}.policy_log"
    ).fetchone() == (103, 100)


def test_dump_and_restore(p, am, db, cluster):
    set_policy(
        p, am, adopt_after="'20 days'", compact_every="'1 mon'", orderby="'at DESC, id'",
        drop_after="'2 years 01:00'",
    )  # fmt: skip
    run(p, am)
    columns = "parent::text, adopt_after, compact_every, orderby, drop_after, owner"
    policies = f"SELECT {columns} FROM {am}.policies"
    expected = p.execute(policies).fetchall()
    target = f"{db.name}_restored"
    cluster.run("createdb", "-T", "template0", target)
    try:
        dump = cluster.run("pg_dump", db.name).stdout
        cluster.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-", target, input=dump)  # fmt: skip
        with cluster.connect(target) as restored:
            assert restored.execute(policies).fetchall() == expected
            restored.execute(f"SELECT {am}.set_policy('p', adopt_after => '4 days', schedule => NULL)")  # fmt: skip
            run(restored, am)
            assert methods(restored) == {"p0": am, "p1": am, "p2": am, "p3": "heap"}
            assert set(outcomes(restored, am).values()) == {"done"}
            same(restored)
    finally:
        cluster.run("dropdb", "--force", target)


# ---- pg_cron ----


def test_without_pg_cron(p, am):
    notices = []
    p.add_notice_handler(lambda n: notices.append((n.message_primary, n.message_hint)))
    job = p.execute(f"SELECT {am}.set_policy('p', adopt_after => '1 day')").fetchone()
    assert job == (None,)
    assert len(notices) == 1 and "pg_cron is not installed" in notices[0][0]
    assert f"CALL {am}.run_policies()" in notices[0][1]


@pytest.mark.slow
def test_on_pg_cron(make_cluster, server, am):
    """One job for all policies of a user, which a real pg_cron runs."""
    if not (server.pkglibdir / "pg_cron.so").exists():
        pytest.skip("pg_cron is not installed")
    cluster = make_cluster(
        "cron",
        **{
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "postgres",
            "cron.use_background_workers": "on",
            "max_worker_processes": "20",
        },
    )
    with cluster.connect() as conn:
        conn.execute("CREATE EXTENSION pg_cron")
        conn.execute(f"CREATE EXTENSION {am}")
        make(conn)
        make(conn, "q", "q_")
        jobs = f"SELECT jobid, schedule, command FROM {am}.jobs"
        made = [
            conn.execute(
                f"SELECT {am}.set_policy('{name}', adopt_after => '20 days', schedule => '* * * * *')"
            ).fetchone()[0]
            for name in ("p", "q")
        ]
        assert made[0] == made[1]
        assert conn.execute(jobs).fetchall() == [
            (made[0], "* * * * *", f"CALL {am}.run_policies()")
        ]
        wait_until(
            lambda: outcomes(conn, am, "q").get(("q_p1", "merge")) == "done",
            "the job",
            100,
        )
        assert methods(conn) == {"p0": am, "p1": am, "p2": "heap", "p3": "heap"}
        assert methods(conn, "q")["q_p1"] == am
        same(conn)
        conn.execute(f"SELECT {am}.remove_policy('p')")
        assert len(conn.execute(jobs).fetchall()) == 1
        conn.execute(f"SELECT {am}.remove_policy('q')")
        assert conn.execute(jobs).fetchall() == []
