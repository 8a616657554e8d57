"""REPACK of PostgreSQL 19 on tables of each access method."""

from __future__ import annotations

import psycopg
import pytest
from strata.twin import HEAP, OURS, Session

ROWS = 20_000
METHODS = ["colcompress", "rowcompress", "sorted_heap"]


@pytest.fixture
def twin(db, server):
    if server.major < 19:
        pytest.skip("REPACK came with PostgreSQL 19")
    conn = db.connect()
    for schema in (OURS, HEAP):
        conn.execute(f"CREATE SCHEMA {schema}")
    conn.execute("CREATE EXTENSION sorted_heap")

    def make(am: str) -> Session:
        twin = Session(db, am)
        twin.ok("CREATE TABLE t (id int PRIMARY KEY, k int, v text)")
        twin.ok(
            f"INSERT INTO t SELECT i, i % 77, 'v' || i FROM generate_series(1, {ROWS}) i"
        )
        twin.ok("CREATE INDEX t_k ON t (k)")
        twin.ok("DELETE FROM t WHERE id % 3 = 0")
        twin.ok("UPDATE t SET v = 'new' WHERE id % 50 = 1")
        return twin

    return make


def method(conn) -> tuple:
    return conn.execute(
        "SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = 't'::regclass"
    ).fetchone()


@pytest.mark.parametrize("am", METHODS)
def test_repack(twin, am):
    session = twin(am)
    before = session.ours.execute("SELECT pg_relation_size('t')").fetchone()
    for statement in ("REPACK t", "REPACK t USING INDEX t_k", "REPACK t USING INDEX"):
        session.run(statement)
        session.check()
        session.ok("INSERT INTO t SELECT max(id) + 1, 1, 'late' FROM t")
    assert session.ours.execute("SELECT pg_relation_size('t')").fetchone() < before
    assert method(session.ours) == (am,)


@pytest.mark.parametrize("am", METHODS)
def test_repack_concurrently(twin, am):
    """Refused; the hint of our stores names the way that works."""
    session = twin(am)
    with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
        session.ours.execute("REPACK (CONCURRENTLY) t")
    if am != "sorted_heap":
        hint = refused.value.diag.message_hint
        assert hint.startswith(f"CALL {am}.merge('ours.t') ")
        session.ours.execute(hint.split(" writes")[0])
    session.check()
    with pytest.raises(psycopg.errors.UndefinedTable):
        session.ours.execute("REPACK (CONCURRENTLY) nowhere")
