"""Extensions alone and together, in every order of loading and creating."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXTENSIONS = sorted(path.parent.name for path in ROOT.glob("extensions/*/Makefile"))
# Every extension comes first and last, before and after every other one.  (All
# permutations would take minutes and say no more.)
ORDERS = [
    tuple(order[i:] + order[:i])
    for order in (EXTENSIONS, EXTENSIONS[::-1])
    for i in range(len(order))
]
ORDERS = list(dict.fromkeys(ORDERS))
# Others that hook into the same places, where the server has them.
NEIGHBOURS = ["auto_explain", "pg_stat_statements"]


@pytest.fixture
def empty(cluster):
    """A database without any extension."""
    with cluster.connect() as admin:
        admin.execute("DROP DATABASE IF EXISTS loading WITH (FORCE)")
        admin.execute("CREATE DATABASE loading TEMPLATE template0")
    yield lambda: cluster.connect("loading")
    with cluster.connect() as admin:
        admin.execute("DROP DATABASE loading WITH (FORCE)")


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_alone(empty, extension):
    with empty() as conn:
        conn.execute(f"CREATE EXTENSION {extension}")
        conn.execute(f"DROP EXTENSION {extension}")
        conn.execute(f"CREATE EXTENSION {extension}")
        version, comment = conn.execute(
            "SELECT extversion, obj_description(oid, 'pg_extension') FROM pg_extension"
            " WHERE extname = %s",
            [extension],
        ).fetchone()
        assert version and comment


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_every_object_has_a_comment(empty, extension):
    """Functions, views, types and access methods say what they are."""
    with empty() as conn:
        conn.execute(f"CREATE EXTENSION {extension}")
        silent = conn.execute(
            "SELECT pg_describe_object(d.classid, d.objid, 0) FROM pg_depend d"
            " JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass"
            " WHERE d.deptype = 'e' AND e.extname = %s"
            " AND d.classid IN ('pg_proc'::regclass, 'pg_am'::regclass, 'pg_class'::regclass)"
            " AND obj_description(d.objid, d.classid::regclass::name) IS NULL",
            [extension],
        ).fetchall()
        assert silent == []


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_created_in_every_order(empty, order):
    with empty() as conn:
        for extension in order:
            conn.execute(f"CREATE EXTENSION {extension}")
        conn.execute("CREATE TABLE t (a int) USING colcompress")
        conn.execute("INSERT INTO t SELECT generate_series(1, 20000)")
    with empty() as conn:
        for extension in reversed(order):
            conn.execute(f"LOAD '{extension}'")
        assert conn.execute("SELECT sum(a) FROM t").fetchone() == (200010000,)


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("ours_first", [True, False])
def test_preloaded_in_every_order_with_neighbours(
    make_cluster, server, order, ours_first
):
    neighbours = [n for n in NEIGHBOURS if (server.pkglibdir / f"{n}.so").exists()]
    libraries = [*order, *neighbours] if ours_first else [*neighbours, *order]
    cluster = make_cluster("preload", shared_preload_libraries=", ".join(libraries))
    with cluster.connect() as conn:
        for extension in order:
            conn.execute(f"CREATE EXTENSION {extension}")
        conn.execute(
            "SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on"
        )
        conn.execute("CREATE TABLE t (a int, b text) USING colcompress")
        conn.execute("INSERT INTO t SELECT i, 'b' FROM generate_series(1, 20000) i")
        assert conn.execute("SELECT sum(a) FROM t WHERE a > 10").fetchone() == (
            200009945,
        )
        conn.execute("DELETE FROM t WHERE a % 2 = 0")
        assert conn.execute("SELECT count(*) FROM t").fetchone() == (10000,)


def test_first_statement_of_a_session(empty):
    """The library is not loaded yet when the first statement is planned."""
    with empty() as conn:
        conn.execute("CREATE EXTENSION colcompress")
        conn.execute("CREATE TABLE t (a int, b text) USING colcompress")
        conn.execute("CREATE TABLE p (a int) PARTITION BY RANGE (a)")
        conn.execute("CREATE TABLE p1 PARTITION OF p DEFAULT USING colcompress")
        conn.execute("CREATE VIEW v AS SELECT max(a) AS m FROM t WHERE b = 'b'")
        conn.execute("INSERT INTO t SELECT i, 'b' FROM generate_series(1, 20000) i")
        conn.execute("INSERT INTO p SELECT a FROM t")
    for statement, expected in [
        ("SELECT count(*) FROM t WHERE a > 19990", [(10,)]),
        ("SELECT count(*) FROM p WHERE a > 19990", [(10,)]),
        ("SELECT m FROM v", [(20000,)]),
        ("DELETE FROM t WHERE a = 5 RETURNING a", [(5,)]),
        ("UPDATE p SET a = 0 WHERE a = 7 RETURNING a", [(0,)]),
        ("TABLE colcompress.tables LIMIT 0", []),
    ]:
        with empty() as conn:
            assert conn.execute(statement).fetchall() == expected, statement


def test_drop_extension_refuses_while_tables_exist(empty):
    with empty() as conn:
        conn.execute("CREATE EXTENSION colcompress")
        conn.execute("CREATE TABLE t (a int) USING colcompress")
        with pytest.raises(Exception, match="depend"):
            conn.execute("DROP EXTENSION colcompress")
        conn.execute("DROP TABLE t")
        conn.execute("DROP EXTENSION colcompress")
