"""pg_upgrade from an older major, in copy and in link mode.

STRATA_OLD_PG_CONFIG names the older server, with the extensions installed (on a
Debian machine ci/old-server.sh makes one); without it the tests are skipped.
"""

from __future__ import annotations

import os

import pytest
from conftest import STORE_AMS
from strata.server import Server
from strata.stages import check_stages, end_stages, make_stages
from strata.twin import Session, Twin

BULK = 20_000
OLD = os.environ.get("STRATA_OLD_PG_CONFIG")

pytestmark = pytest.mark.skipif(not OLD, reason="STRATA_OLD_PG_CONFIG is not set")


class Upgraded:
    """What a Twin or a Session needs: the access method's own database."""

    def __init__(self, cluster, am: str) -> None:
        self.cluster = cluster
        self.name = f"upgraded_{am}"

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)


def fill(twin: Twin, am: str) -> None:
    """Row groups, deleted and updated rows, a delta, indexes, options, a lock."""
    twin.ok(
        "CREATE TABLE t (id int PRIMARY KEY, d date, v text, n numeric, m jsonb, a text[])"
    )
    twin.ours.execute(
        f"SELECT {am}.set_options('t', compression => 'lz4', orderby => 'd, id',"
        " row_group_rows => 8192)"
    )
    twin.ok(
        "INSERT INTO t SELECT i, date '2024-01-01' + i % 365, 'v' || i % 77, i * 0.25,"
        " jsonb_build_object('n', i % 9, 's', 'x' || i % 5), ARRAY['t' || i % 20]"
        f" FROM generate_series(1, {BULK}) i"
    )
    twin.ok("CREATE INDEX ON t USING gin (m)")
    twin.ok("CREATE INDEX ON t USING hash (v)")
    twin.ok("CREATE INDEX ON t (d, n) WHERE id % 2 = 0")
    twin.ok("DELETE FROM t WHERE id % 10 = 0")
    twin.ok("UPDATE t SET v = 'updated' WHERE id % 7 = 0")
    twin.ok(
        "INSERT INTO t SELECT -i, NULL, 'delta', i, '{}', '{}' FROM generate_series(1, 300) i"
    )
    twin.ok("ALTER TABLE t ADD COLUMN later int DEFAULT 5")
    twin.ok("CREATE TABLE doc (id int, body text)")
    twin.ok(
        "INSERT INTO doc SELECT i, repeat(md5(i::text), 3000) FROM generate_series(1, 40) i"
    )
    twin.ok("CREATE UNLOGGED TABLE u AS SELECT i FROM generate_series(1, 5000) i")
    twin.ok("VACUUM (FREEZE) t")


def check(cluster, am: str) -> None:
    session = Session(Upgraded(cluster, am), am)
    for table in ("t", "doc", "u"):
        session.check(table)
        problems = session.ours.execute(
            f"SELECT * FROM {am}.verify(%s::regclass)", [table]
        )
        assert problems.fetchall() == []
    session.same("SELECT id FROM t WHERE m @> '{\"n\": 3}'")
    options = session.ours.execute(
        f"SELECT name, value FROM {am}.options WHERE relation = 't'::regclass"
        " AND source = 'table' ORDER BY name"
    ).fetchall()
    assert dict(options)["orderby"] == "d, id"
    for conn in session.conns.values():
        conn.close()


def fill_zson(database: Upgraded) -> None:
    """Documents with and without a dictionary, some out of line, an index."""
    with database.connect() as conn:
        conn.execute("CREATE EXTENSION zson_dict")
        conn.execute("CREATE TABLE docs (id int, j jsonb, z zson)")
        conn.execute(
            "INSERT INTO docs SELECT i, jsonb_build_object('kind', 'event ' || i % 9, 'n', i,"
            " 'text', repeat(md5(i::text), 1 + i % 150)) FROM generate_series(1, 600) i"
        )
        conn.execute("UPDATE docs SET z = j WHERE id % 5 = 0")
        conn.execute("SELECT zson_train('docs', 'j')")
        conn.execute("UPDATE docs SET z = j WHERE id % 5 <> 0")
        conn.execute("CREATE INDEX ON docs USING gin (z)")


def check_zson(database: Upgraded) -> list[tuple]:
    """The documents are jsonb's; how they are stored."""
    with database.connect() as conn:
        conn.execute("SET enable_seqscan = off")
        assert conn.execute(
            "SELECT count(*) FILTER (WHERE z::text <> j::text),"
            " count(*) FILTER (WHERE z ->> 'kind' <> j ->> 'kind') FROM docs"
        ).fetchone() == (0, 0)
        assert (
            conn.execute(
                'SELECT count(*) FROM docs WHERE z @> \'{"kind": "event 3"}\''
            ).fetchone()
            == conn.execute(
                'SELECT count(*) FROM docs WHERE j @> \'{"kind": "event 3"}\''
            ).fetchone()
        )
        stored = conn.execute(
            "SELECT s.dictionary, count(*), sum(s.bytes) FROM docs, zson_storage(z) s"
            " GROUP BY 1 ORDER BY 1 NULLS FIRST"
        ).fetchall()
        assert len(stored) == 2
        # the next dictionary has a number of its own
        assert conn.execute(
            "SELECT last_value >= (SELECT max(dictionary) FROM zson_info())"
            " FROM zson_dict.dictionary_id"
        ).fetchone() == (True,)
        return stored


def without_options(conn) -> None:
    """Some minor releases of Debian's 15 put an option of their own there that
    other majors refuse to restore."""
    conn.execute(
        "UPDATE pg_attribute SET attoptions = NULL WHERE attoptions IS NOT NULL"
    )


@pytest.mark.parametrize("mode", ["--copy", "--link"])
def test_pg_upgrade(make_cluster, server, workdir, mode):
    """One upgrade of a cluster that has a database for each access method."""
    older = Server(OLD)
    assert older.major < server.major
    ams = [
        am for am in STORE_AMS if older.has_extension(am) and server.has_extension(am)
    ]
    old = make_cluster("old", server=older, start=False, data=False)
    old.init()
    old.start()
    for am in ams:
        database = Upgraded(old, am)
        with old.connect() as conn:
            conn.execute(f"CREATE DATABASE {database.name}")
            (checksums,) = conn.execute("SHOW data_checksums").fetchone()
        assert checksums == "on"
        with database.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")
        twin = Twin(database, am)
        fill(twin, am)
        make_stages(twin)
        check(old, am)
        if am == ams[0]:
            fill_zson(database)
            documents = check_zson(database)
        for conn in twin.conns.values():
            without_options(conn)
            conn.close()
    for name in ("template1", "postgres"):
        with old.connect(name) as conn:
            without_options(conn)
    old.stop()

    new = make_cluster("new", start=False)
    place = server.own(workdir / f"upgrade{mode}")
    server.run(
        "pg_upgrade", "-b", older.bindir, "-B", server.bindir, "-d", old.data, "-D", new.data,
        "-U", "postgres", "-s", place, mode, "-j", 2, cwd=place, timeout=300,
    )  # fmt: skip
    new.start()
    assert check_zson(Upgraded(new, ams[0])) == documents
    for am in ams:
        check(new, am)
        after = Twin(Upgraded(new, am), am)
        after.ok("UPDATE t SET n = n + 1 WHERE id % 3 = 0")
        after.ok("DELETE FROM t WHERE id BETWEEN 100 AND 900")
        after.ok(
            f"INSERT INTO t (id, v) SELECT {BULK} + i, 'new' FROM generate_series(1, 9000) i"
        )
        after.ok("VACUUM t")
        check(new, am)
        after.ok("VACUUM FULL t")
        check(new, am)
        check_stages(after, am)
        end_stages(after)
