"""The harness itself: what it promises must hold, or every other test is
worth little."""

from __future__ import annotations

import ast
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from conftest import STORE_AMS, is_left_out
from strata.storm import WRITES, Storm
from strata.twin import execute, same_rows


def test_server_runs_unprivileged_with_checksums(cluster, conn):
    assert conn.execute("SHOW data_checksums").fetchone() == ("on",)
    status = Path(f"/proc/{cluster.postmaster()}/status").read_text()
    uid = next(line for line in status.splitlines() if line.startswith("Uid:"))
    assert uid.split()[1] != "0"


def test_twin_sees_a_missing_row(twin):
    twin.ok("CREATE TABLE t (a int)")
    twin.ok("INSERT INTO t SELECT generate_series(1, 10)")
    twin.check()
    twin.ours.execute("DELETE FROM t WHERE a = 3")
    with pytest.raises(AssertionError, match="only in heap: 1 rows"):
        twin.check()


def test_twin_sees_a_doubled_row(twin):
    twin.ok("CREATE TABLE t (a int)")
    twin.ok("INSERT INTO t VALUES (1)")
    twin.ours.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(AssertionError, match="only in ours: 1 rows"):
        twin.check()


def test_twin_tells_minus_zero_and_null_apart():
    for left, right in [(0.0, -0.0), (None, ""), (1, "1"), (float("nan"), 0.0)]:
        with pytest.raises(AssertionError):
            same_rows([(left,)], [(right,)], "values")
    same_rows([(float("nan"),)], [(float("nan"),)], "NaN")


def test_twin_compares_errors_by_sqlstate(twin):
    twin.ok("CREATE TABLE t (a int)")
    twin.ours.execute("ALTER TABLE t ADD CHECK (a > 0)")
    with pytest.raises(AssertionError, match="error 23514"):
        twin.run("INSERT INTO t VALUES (-1)")


def test_twin_uses_the_access_method(twin):
    twin.ok("CREATE TABLE t (a int)")
    query = "SELECT amname FROM pg_class c JOIN pg_am am ON am.oid = relam WHERE c.oid = 't'::regclass"
    assert execute(twin.ours, query).rows == [(twin.am,)]
    assert execute(twin.heap, query).rows == [("heap",)]


def test_twin_looks_through_every_index(twin):
    twin.ok("CREATE TABLE t (a int, b text)")
    twin.ok("INSERT INTO t SELECT i % 50, 'b' || i FROM generate_series(1, 500) i")
    twin.ok("CREATE INDEX ON t (a)")
    twin.ok("CREATE INDEX ON t (b) WHERE a < 10")
    twin.ok("CREATE INDEX ON t USING hash (a)")
    twin.ok("CREATE INDEX ON t (lower(b) DESC)")
    twin.check()


@pytest.mark.crash
def test_crash_keeps_what_was_committed(make_cluster):
    cluster = make_cluster("crash")
    with cluster.connect() as conn:
        conn.execute("CREATE TABLE t AS SELECT 1 AS a")
        conn.execute("BEGIN; INSERT INTO t VALUES (2)")
        cluster.crash()
        with pytest.raises(psycopg.OperationalError):
            conn.execute("SELECT 1")
    with cluster.connect() as conn:
        assert conn.execute("SELECT a FROM t").fetchall() == [(1,)]


@pytest.mark.crash
def test_a_crashed_backend_is_noticed(make_cluster):
    cluster = make_cluster("alarm")
    start = cluster.log_size()
    with cluster.connect() as conn, cluster.connect() as other:
        assert cluster.alarms_since(start) == []
        os.kill(other.info.backend_pid, signal.SIGSEGV)
        with pytest.raises(psycopg.OperationalError):
            while True:
                conn.execute("SELECT pg_sleep(0.01)")
    assert any("signal 11" in line for line in cluster.alarms_since(start))


def test_seeds_reproduce_all_that_is_random():
    """Nothing draws from the generator that has no seed, but the seed itself."""
    unseeded = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(value=ast.Name(id="random"), attr=name):
                    bad = name != "Random"
                case ast.Call(func=ast.Attribute(attr="Random"), args=[]):
                    bad = True
                case ast.ImportFrom(module="random"):
                    bad = True
                case _:
                    continue
            if bad:
                unseeded.append(path.name)
    assert unseeded == ["conftest.py"]


def test_a_storm_draws_the_same_whoever_is_first():
    """What a session draws does not depend on whether another was quicker."""

    def kinds(begun: bool) -> list[str]:
        storm = Storm.__new__(Storm)
        storm.aim, storm.begun = "load", threading.Event()
        if begun:
            storm.begun.set()
        rng = random.Random("storm")
        return [storm.choose(rng, WRITES) for _ in range(200)]

    late, early = kinds(True), kinds(False)
    assert late == kinds(True)
    assert len(set(late)) > 5
    assert [
        (a, b) for a, b in zip(late, early, strict=True) if a != b and b != "load"
    ] == []
    assert early.count("load") > 100


def _item(nodeid: str, am: str | None, *marks: str) -> SimpleNamespace:
    return SimpleNamespace(
        nodeid=nodeid,
        callspec=SimpleNamespace(params={"am": am} if am else {"of": 1}),
        get_closest_marker=lambda name: name in marks or None,
    )


def test_a_quick_run_has_each_test_for_one_format():
    runs = Counter()
    for number in range(200):
        taken = [
            am
            for am in STORE_AMS
            if not is_left_out(_item(f"test_x.py::test_{number}[{am}-a]", am))
        ]
        assert len(taken) == 1
        runs.update(taken)
    assert min(runs.values()) > 60
    for am in ("sorted_heap", None):
        assert not is_left_out(_item(f"test_x.py::test_x[{am}]", am))
    assert is_left_out(_item("test_x.py::test_x", None, "slow"))
