"""pg_dump and pg_restore keep contents, access methods and options."""

from __future__ import annotations

import pytest
from strata.twin import Twin

BULK = 20_000


@pytest.fixture
def source(twin: Twin, am) -> Twin:
    twin.ok('CREATE TABLE t (id int PRIMARY KEY, "Day" date, v text, m jsonb)')
    twin.ours.execute(
        f"""SELECT {am}.set_options('t', compression => 'lz4', level => 9,
           orderby => '"Day" DESC, id', row_group_rows => 4096)"""
    )
    twin.ok(
        "INSERT INTO t SELECT i, date '2024-01-01' + i % 365, 'v' || i % 77,"
        f" jsonb_build_object('n', i) FROM generate_series(1, {BULK}) i"
    )
    twin.ok("DELETE FROM t WHERE id % 10 = 0")
    twin.ok("UPDATE t SET v = 'updated' WHERE id % 7 = 0")
    twin.ok("CREATE INDEX ON t USING gin (m)")
    twin.ok("CREATE MATERIALIZED VIEW mv AS SELECT v, count(*) AS n FROM t GROUP BY v")
    twin.ok("CREATE TABLE p (a int, b int) PARTITION BY LIST (a)")
    twin.ok("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)")
    twin.ok(f"INSERT INTO p SELECT 1, i FROM generate_series(1, {BULK}) i")
    return twin


def facts(conn, am) -> tuple:
    """Everything a restored database must have in common with its source."""
    conn.execute("SET search_path = ours, public")
    return (
        conn.execute(
            "SELECT c.oid::regclass::text, amname FROM pg_class c JOIN pg_am a ON a.oid = relam"
            " WHERE relnamespace = 'ours'::regnamespace AND relkind IN ('r', 'm') ORDER BY 1"
        ).fetchall(),
        conn.execute(
            f"SELECT relation::text, name, value, source FROM {am}.options ORDER BY 1, 2"
        ).fetchall(),
        sorted(conn.execute("SELECT t::text FROM ours.t").fetchall()),
        sorted(conn.execute("SELECT v, n FROM ours.mv").fetchall()),
        sorted(conn.execute("SELECT a, b FROM ours.p").fetchall()),
    )


@pytest.mark.parametrize("form", ["plain", "custom", "directory -j 2"])
def test_dump_and_restore(source, am, cluster, server, workdir, form):
    database = source.database
    target = f"{database.name}_restored"
    cluster.run("createdb", "-T", "template0", target)
    place = server.own(workdir / target) / "dump"
    try:
        if form == "plain":
            dump = cluster.run("pg_dump", database.name).stdout
            cluster.run(
                "psql",
                "-X",
                "-q",
                "-v",
                "ON_ERROR_STOP=1",
                "-f",
                "-",
                target,
                input=dump,
            )
        elif form == "custom":
            cluster.run("pg_dump", "-Fc", "-f", place, database.name)
            cluster.run("pg_restore", "--exit-on-error", "-d", target, place)
        else:
            cluster.run("pg_dump", "-Fd", "-j", 2, "-f", place, database.name)
            cluster.run("pg_restore", "--exit-on-error", "-j", 2, "-d", target, place)
        with cluster.connect(target) as restored:
            assert facts(restored, am) == facts(source.ours, am)
            (groups,) = restored.execute(
                f"SELECT count(*) FROM {am}.row_groups('ours.t') WHERE rows <= 4096"
            ).fetchone()
            assert groups >= BULK * 0.9 // 4096
            assert (
                restored.execute(f"SELECT * FROM {am}.verify('ours.t')").fetchall()
                == []
            )
    finally:
        cluster.run("dropdb", "--force", target)


def test_dump_as_inserts(source, am, cluster):
    """Rows one by one land in the delta, and are the same."""
    target = f"{source.database.name}_inserts"
    cluster.run("createdb", "-T", "template0", target)
    try:
        dump = cluster.run(
            "pg_dump", "--inserts", "--rows-per-insert=50", source.database.name
        )
        cluster.run(
            "psql",
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-f",
            "-",
            target,
            input=dump.stdout,
        )
        with cluster.connect(target) as restored:
            assert facts(restored, am) == facts(source.ours, am)
    finally:
        cluster.run("dropdb", "--force", target)
