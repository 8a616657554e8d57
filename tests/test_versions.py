"""Data of version 1.0 under today's libraries, before and after its update.

The 1.0 that is meant is commit BASE of this repository, which wrote down the C
symbols that a released script names.  It is built here from git's history;
without that (a chroot, an archive) the tests are skipped.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest
from conftest import STORE_AMS
from strata.server import Server
from strata.twin import Twin
from test_upgrade import BULK, Upgraded, check, check_zson, fill, fill_zson

ROOT = Path(__file__).resolve().parent.parent
BASE = "b675ee7cdc6d9c0d29420a8607bfc521d3cd83c6"
EXTENSIONS = (*STORE_AMS, "sorted_heap", "zson_dict")

pytestmark = pytest.mark.slow

# What an extension consists of: each object with its comment and rights, and
# functions and views as their definition says.
MEMBERS = """
SELECT pg_describe_object(d.classid, d.objid, 0) AS object, obj_description(d.objid, d.classid::regclass::name),
  p.proacl::text, c.relacl::text, pg_get_viewdef(CASE WHEN c.relkind = 'v' THEN c.oid END),
  CASE WHEN p.prokind <> 'a' THEN pg_get_functiondef(p.oid) END
FROM pg_depend d
LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
WHERE d.deptype = 'e' AND d.refclassid = 'pg_extension'::regclass
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = %s)
ORDER BY 1"""


def git(*args: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, *args],
        capture_output=True,
        **kwargs,
    )


@pytest.fixture(scope="session")
def old_server(server, workdir) -> Server:
    """A copy of the server under test that has the extensions of BASE.  Workers of a
    test run share it."""
    if shutil.which("git") is None or git("cat-file", "-e", BASE).returncode != 0:
        pytest.skip("version 1.0 is built from git's history, which is not here")
    shared = workdir.parent if "STRATA_WORK" in os.environ else workdir
    found = shared / "pg_config-1.0"
    with (shared / "lock-1.0").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            found.write_text(build_old(server, shared / "tree-1.0", shared / "1.0"))
    return Server(found.read_text())


def build_old(server: Server, tree: Path, place: Path) -> str:
    """Build BASE in `tree`, unoptimised, for a server in `place`; that one's pg_config."""
    tree.mkdir()
    archive = git("archive", BASE, "common", "extensions", check=True)
    subprocess.run(["tar", "-x", "-C", tree], input=archive.stdout, check=True)
    pg_config = os.environ.get("STRATA_BUILD_PG_CONFIG", server.pg_config)
    copy = subprocess.run(
        [ROOT / "ci/server-copy.sh", pg_config, place],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    for extension in EXTENSIONS:
        for target in ("all", "install"):
            subprocess.run(
                ["make", "-s", "-j2", "-C", tree / "extensions" / extension, target]
                + [f"PG_CONFIG={pg_config}", f"DESTDIR={place}", "COPT=-O0"],
                check=True,
                capture_output=True,
            )
    return copy


def with_libraries(cluster, server: Server) -> None:
    """The same data directory under the libraries of another version."""
    cluster.stop()
    cluster.server = server
    cluster.start()


def create(cluster, name: str, *extensions: str, version: str) -> None:
    with cluster.connect() as conn:
        conn.execute(f"CREATE DATABASE {name}")
    with cluster.connect(name) as conn:
        for extension in extensions:
            conn.execute(f"CREATE EXTENSION {extension}")
    assert versions(cluster, name) == dict.fromkeys(extensions, version)


def versions(cluster, name: str) -> dict[str, str]:
    with cluster.connect(name) as conn:
        return dict(
            conn.execute(
                "SELECT extname, extversion FROM pg_extension WHERE extname <> 'plpgsql'"
            ).fetchall()
        )


def update(cluster, name: str) -> None:
    before = versions(cluster, name)
    with cluster.connect(name) as conn:
        for extension in before:
            conn.execute(f"ALTER EXTENSION {extension} UPDATE")
    assert versions(cluster, name) == dict.fromkeys(before, "1.1")


def members(cluster, name: str, extension: str) -> list[tuple]:
    with cluster.connect(name) as conn:
        return conn.execute(MEMBERS, [extension]).fetchall()


@pytest.fixture
def old(make_cluster, old_server):
    """A cluster that 1.0 made."""
    return (
        make_cluster("old", server=old_server, data=False, start=False).init().start()
    )


def test_update_makes_what_create_makes(old, server):
    """Functions, views, comments, rights: all as in a database that begins with 1.1."""
    create(old, "updated", *EXTENSIONS, version="1.0")
    with_libraries(old, server)
    create(old, "fresh", *EXTENSIONS, version="1.1")
    for extension in EXTENSIONS:
        assert members(old, "updated", extension) != members(old, "fresh", extension)
    update(old, "updated")
    for extension in EXTENSIONS:
        found = members(old, "updated", extension)
        expected = members(old, "fresh", extension)
        assert [row[0] for row in found] == [row[0] for row in expected]
        assert found == expected


def live_on(database: Upgraded, am: str, first: int) -> None:
    """Every kind of write, what SQL of 1.0 has for options, both compactions."""
    twin = Twin(database, am)
    twin.ok("UPDATE t SET n = n + 1 WHERE id % 3 = 0")
    twin.ok(f"DELETE FROM t WHERE id BETWEEN {first} AND {first + 800}")
    twin.ok(
        f"INSERT INTO t (id, v) SELECT {BULK} + {first} * 10 + i, 'new' FROM generate_series(1, 9000) i"
    )
    twin.ours.execute(
        f"SELECT {am}.set_options('t', row_group_rows => 4096, reset => '{{level}}')"
    )
    check(database.cluster, am)
    twin.ours.execute(f"CALL {am}.compact('t')")
    twin.ok("VACUUM t")
    check(database.cluster, am)
    twin.ours.execute(f"CALL {am}.merge('t')")
    check(database.cluster, am)
    for conn in twin.conns.values():
        conn.close()


def dumped(cluster, name: str) -> str:
    """What pg_dump says, but for keys that it makes up."""
    text = cluster.run("pg_dump", "-d", name).stdout
    return "\n".join(
        line
        for line in text.split("\n")
        if not line.startswith(("\\restrict", "\\unrestrict"))
    )


def test_tables_and_documents_of_1_0(old, server, old_server):
    """Read, written, verified, dumped: under later libraries with the SQL of 1.0,
    and with that of 1.1.  The older library with newer SQL says what it lacks."""
    for am in STORE_AMS:
        create(old, f"upgraded_{am}", am, version="1.0")
        twin = Twin(Upgraded(old, am), am)
        fill(twin, am)
        for conn in twin.conns.values():
            conn.close()
        check(old, am)
    fill_zson(Upgraded(old, STORE_AMS[0]))
    documents = check_zson(Upgraded(old, STORE_AMS[0]))
    dumps = {am: dumped(old, f"upgraded_{am}") for am in STORE_AMS}
    with_libraries(old, server)
    for am in STORE_AMS:
        database = Upgraded(old, am)
        check(old, am)
        assert dumped(old, database.name) == dumps[am]
        live_on(database, am, 100)
        with (
            database.connect() as conn,
            pytest.raises(psycopg.errors.UndefinedFunction),
        ):
            conn.execute(f"SELECT {am}.set_options('t', logical_inserts => true)")
    assert check_zson(Upgraded(old, STORE_AMS[0])) == documents
    for am in STORE_AMS:
        database = Upgraded(old, am)
        update(old, database.name)
        check(old, am)
        live_on(database, am, 2000)
        with database.connect() as conn:
            conn.execute(f"SELECT {am}.set_options('ours.t', logical_inserts => true)")
            conn.execute(f"SELECT {am}.fingerprint('ours.t')")
            conn.execute("CREATE TABLE heap.left AS TABLE ours.t")
            conn.execute(f"SELECT {am}.adopt('heap.left')")
        dumped(old, database.name)
    assert check_zson(Upgraded(old, STORE_AMS[0])) == documents
    with_libraries(old, old_server)
    for am in STORE_AMS:
        with Upgraded(old, am).connect() as conn:
            conn.execute("CREATE TABLE more (id int)")
            with pytest.raises(
                psycopg.errors.UndefinedFunction, match="could not find"
            ):
                conn.execute(f"SELECT {am}.adopt('more')")


def test_sorted_tables_of_1_0(old, server):
    """Rows in order and not, a unique zonemap, both compactions."""
    create(old, "sorted", "sorted_heap", version="1.0")
    rows = "SELECT i * 7919 % 30011 AS k, md5(i::text) AS v FROM generate_series(1, 30000) i"

    def look(conn) -> None:
        for query in (
            "SELECT count(*), min(v), max(v) FROM {} WHERE k BETWEEN 500 AND 900",
            "SELECT v FROM {} WHERE k = 4711",
            "SELECT count(*), sum(hashtext(v)) FROM {}",
        ):
            ours = conn.execute(query.format("t")).fetchall()
            assert ours == conn.execute(query.format("twin")).fetchall()
        problems = conn.execute(
            "SELECT * FROM sorted_heap.zonemap_verify('t_k_idx')"
        ).fetchall()
        assert problems == []

    with old.connect("sorted") as conn:
        conn.execute("CREATE TABLE t (k int, v text) USING sorted_heap")
        conn.execute("CREATE UNIQUE INDEX ON t USING zonemap (k)")
        conn.execute("CREATE INDEX ON t (v)")
        for table in ("t", "twin"):
            conn.execute(f"CREATE TABLE IF NOT EXISTS {table} (LIKE t)")
            conn.execute(f"INSERT INTO {table} {rows}")
            conn.execute(f"DELETE FROM {table} WHERE k % 11 = 3")
        look(conn)
    with_libraries(old, server)
    for turn in (1, 2):
        with old.connect("sorted") as conn:
            look(conn)
            for table in ("t", "twin"):
                conn.execute(f"UPDATE {table} SET v = v || 'x' WHERE k % 13 = {turn}")
                conn.execute(
                    f"INSERT INTO {table} SELECT 40000 * {turn} + i, 'new' FROM generate_series(1, 5000) i"
                )
            with pytest.raises(psycopg.errors.UniqueViolation):
                conn.execute("INSERT INTO t SELECT min(k) FROM t")
            look(conn)
            conn.execute("CALL sorted_heap.compact('t')")
            look(conn)
            conn.execute("CALL sorted_heap.merge('t')")
            conn.execute("VACUUM t")
            look(conn)
        old.run("pg_dump", "-d", "sorted")
        if turn == 1:
            update(old, "sorted")
    with old.connect("sorted") as conn:
        conn.execute("SELECT sorted_heap.adopt('twin')")
        look(conn)


def test_options_of_other_versions(conn, am):
    """SQL with fewer options than the library has, or one that it does not know."""
    symbol = {"colcompress": "cc", "rowcompress": "rc"}[am] + "_set_options"
    conn.execute(f"CREATE TABLE t (id int) USING {am}")
    for name, arguments in (
        ("older", "level integer DEFAULT NULL, reset text[] DEFAULT NULL"),
        ("newer", "colour text DEFAULT NULL, level integer DEFAULT NULL,"
         " reset text[] DEFAULT NULL"),
        ("nameless", "integer, text[]"),
    ):  # fmt: skip
        first = "regclass" if name == "nameless" else "relation regclass"
        conn.execute(
            f"CREATE FUNCTION {name}({first}, {arguments}) RETURNS void LANGUAGE c"
            f" AS '$libdir/{am}', '{symbol}'"
        )
    level = f"SELECT value, source FROM {am}.table_options('t'::regclass) WHERE name = 'level'"
    for name in ("older", "newer"):
        conn.execute(f"SELECT {name}('t', level => 7)")
        assert conn.execute(level).fetchone() == ("7", "table")
        conn.execute(f"SELECT {name}('t', reset => '{{level}}')")
        assert conn.execute(level).fetchone()[1] == "default"
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        conn.execute("SELECT newer('t', colour => 'red')")
    assert "logical_inserts" in caught.value.diag.message_hint
    with pytest.raises(psycopg.errors.InvalidFunctionDefinition) as caught:
        conn.execute("SELECT nameless('t', 7, NULL)")
    assert f"ALTER EXTENSION {am} UPDATE" in caught.value.diag.message_hint
