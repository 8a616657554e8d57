"""A data directory goes from one kind of processor to another and back.

CARRY_FROM=dir  a data directory, of a server of this major on another processor: is
                read, verified, written on and compacted
CARRY_TO=dir    where it goes then, and where a new one goes if there is none before

`ci/arm64.sh` sets them.  Without them a directory is made, stopped and read here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import STORE_AMS
from strata.twin import Twin
from test_upgrade import Upgraded, check, check_zson, fill, fill_zson
from test_versions import live_on

pytestmark = pytest.mark.slow

# Types whose bytes a processor could make differently.
KINDS = """SELECT i, CASE WHEN i % 97 = 0 THEN 'NaN' WHEN i % 89 = 0 THEN '-Infinity'
    ELSE sin(i) * 10 ^ (i % 40 - 20) END, (i % 1000) / 8.0, md5(i::text)::uuid,
  timestamptz '2024-01-01' + i * interval '1 s', decode(md5(i::text), 'hex'),
  'grüße ' || i % 300, (i % 5 = 0)
FROM generate_series({0}::int, {0}::int + 20000) i"""

SORTED = (
    "SELECT i * 7919 % 30011 + {0}::int, md5(i::text) FROM generate_series(1, 30000) i"
)


def fill_kinds(twin: Twin) -> None:
    twin.ok(
        "CREATE TABLE kinds (id int, x float8, y float4, u uuid, at timestamptz,"
        " b bytea, s text, f boolean)"
    )
    twin.ok(f"INSERT INTO kinds {KINDS.format(1)}")


def fill_sorted(conn) -> None:
    conn.execute("CREATE EXTENSION sorted_heap")
    conn.execute("CREATE TABLE sorted (k int, v text) USING sorted_heap")
    conn.execute("CREATE UNIQUE INDEX ON sorted USING zonemap (k)")
    conn.execute("CREATE TABLE sorted_twin (k int, v text)")
    conn.execute("CREATE TABLE visits (number serial, server text)")
    write_sorted(conn, 0)


def write_sorted(conn, first: int) -> None:
    for table in ("sorted", "sorted_twin"):
        conn.execute(f"INSERT INTO {table} {SORTED.format(first)}")
        conn.execute(f"DELETE FROM {table} WHERE k % 11 = 3")


def check_sorted(conn) -> None:
    for query in (
        "SELECT count(*), min(v), max(v) FROM {} WHERE k BETWEEN 500 AND 900",
        "SELECT v FROM {} WHERE k = 4711",
        "SELECT count(*), sum(hashtext(v)) FROM {}",
    ):
        assert (
            conn.execute(query.format("sorted")).fetchall()
            == conn.execute(query.format("sorted_twin")).fetchall()
        )
    verify = "SELECT * FROM sorted_heap.zonemap_verify('sorted_k_idx')"
    assert conn.execute(verify).fetchall() == []


def make(cluster) -> None:
    """Tables and documents of every kind."""
    for am in STORE_AMS:
        database = Upgraded(cluster, am)
        with cluster.connect() as conn:
            conn.execute(f"CREATE DATABASE {database.name}")
        with database.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")
        twin = Twin(database, am)
        fill(twin, am)
        fill_kinds(twin)
        for conn in twin.conns.values():
            conn.close()
    fill_zson(Upgraded(cluster, STORE_AMS[0]))
    with Upgraded(cluster, STORE_AMS[0]).connect() as conn:
        fill_sorted(conn)


def look(cluster) -> list[tuple]:
    """Everything is as in heap; how the documents are stored."""
    for am in STORE_AMS:
        check(cluster, am)
        twin = Twin(Upgraded(cluster, am), am)
        twin.check("kinds")
        for condition in ("x > 0.5", "y < 40", "f", "s LIKE '%ße 1_'", "u > repeat('8', 32)::uuid"):  # fmt: skip
            twin.same(
                f"SELECT count(*), sum(y::float8), max(at) FROM kinds WHERE {condition}"
            )
        problems = twin.ours.execute(f"SELECT * FROM {am}.verify('kinds')").fetchall()
        assert problems == []
        for conn in twin.conns.values():
            conn.close()
    with Upgraded(cluster, STORE_AMS[0]).connect() as conn:
        check_sorted(conn)
    return check_zson(Upgraded(cluster, STORE_AMS[0]))


def write(cluster) -> None:
    """Every kind of write, and both compactions: row groups of this processor."""
    with Upgraded(cluster, STORE_AMS[0]).connect() as conn:
        (number,) = conn.execute(
            "INSERT INTO visits (server) VALUES (version()) RETURNING number"
        ).fetchone()
        write_sorted(conn, 100_000 * number)
        conn.execute("CALL sorted_heap.merge('sorted')")
        conn.execute("UPDATE docs SET z = j WHERE id % 5 <> 0 AND id % 3 = 0")
    for am in STORE_AMS:
        live_on(Upgraded(cluster, am), am, 1000 * number)
        twin = Twin(Upgraded(cluster, am), am)
        twin.ok(f"INSERT INTO kinds {KINDS.format(100_000 * number)}")
        twin.ok("DELETE FROM kinds WHERE id % 7 = 1")
        twin.ours.execute(f"CALL {am}.merge('kinds')")
        for conn in twin.conns.values():
            conn.close()


def copy(source: Path, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", source, place], check=True)


def test_data_of_another_processor(make_cluster, server):
    given, taken = os.environ.get("CARRY_FROM"), os.environ.get("CARRY_TO")
    cluster = make_cluster("carried", start=False, data=False)
    if given:
        copy(Path(given), cluster.data)
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", server.user, cluster.data], check=True)
    else:
        cluster.init()
    cluster.start()
    if not given:
        make(cluster)
        cluster.restart()
    stored = look(cluster)
    write(cluster)
    assert look(cluster) == stored
    cluster.stop()
    if taken:
        copy(cluster.data, Path(taken))
