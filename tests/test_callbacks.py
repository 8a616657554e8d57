"""All extensions in one slot for relcache callbacks, and each still called.

A backend has ten such slots, of which the server takes three.  The library
callback_slots takes six; the extensions have to do with the one that is left.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests" / "modules" / "callback_slots"
EXTENSIONS = sorted(path.parent.name for path in ROOT.glob("extensions/*/Makefile"))
# Each extension is the one that takes the slot, and the last to join.
ORDERS = [
    tuple(order[i:] + order[:i])
    for order in (EXTENSIONS, EXTENSIONS[::-1])
    for i in range(len(order))
]
TAKEN = 6

USE = {
    "colcompress": "SELECT sum(a) FROM colcompress_table WHERE a > 0",
    "rowcompress": "SELECT sum(a) FROM rowcompress_table WHERE a > 0",
    "sorted_heap": "INSERT INTO sorted_heap_table VALUES (1)",
    "zson_dict": """SELECT '{"a": 1}'::zson ->> 'a'""",
}


@pytest.fixture(scope="module")
def library(server, workdir):
    """callback_slots, built for the server."""
    pg_config = os.environ.get("STRATA_BUILD_PG_CONFIG", server.pg_config)
    headers = subprocess.check_output([pg_config, "--includedir-server"], text=True)
    if not (Path(headers.strip()) / "postgres.h").exists():
        pytest.skip("the server has no headers")
    directory = workdir / "callback_slots"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o755)
    done = subprocess.run(
        ["make", "-s", "-f", SOURCE / "Makefile", f"VPATH={SOURCE}"]
        + [f"PG_CONFIG={pg_config}"],
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return directory / "callback_slots.so"


def fill(conn, library) -> None:
    """Tables of each access method."""
    for extension in EXTENSIONS:
        conn.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
    conn.execute(
        f"CREATE FUNCTION take_slots(int) RETURNS void LANGUAGE c AS '{library}'"
    )
    for am in ("colcompress", "rowcompress"):
        conn.execute(f"CREATE TABLE {am}_table (a int) USING {am}")
        conn.execute(f"INSERT INTO {am}_table SELECT generate_series(1, 20000)")
    conn.execute("CREATE TABLE sorted_heap_table (a int) USING sorted_heap")
    conn.execute("CREATE INDEX zones ON sorted_heap_table USING zonemap (a)")
    conn.execute("INSERT INTO sorted_heap_table SELECT generate_series(1, 2000)")


def check_invalidations(conn, other) -> None:
    """What another session changes reaches each extension in this one."""
    for am in ("colcompress", "rowcompress"):
        table = f"{am}_table"
        groups = f"SELECT count(*) FROM {am}.row_groups('{table}')"
        fill = f"INSERT INTO {table} SELECT generate_series(1, 20480)"
        conn.execute(fill)
        (before,) = conn.execute(groups).fetchone()
        other.execute(f"SELECT {am}.set_options('{table}', row_group_rows => 2048)")
        conn.execute(fill)
        assert conn.execute(groups).fetchone() == (before + 10,)

        first_row = f"SELECT * FROM {table} WHERE ctid = '(2147483648,1)'"
        row = conn.execute(first_row).fetchone()
        misses = f"SELECT sum(cache_misses) FROM {am}.stats"
        (before,) = conn.execute(misses).fetchone()
        other.execute(f"ALTER TABLE {table} ADD COLUMN b int DEFAULT 5")
        assert conn.execute(first_row).fetchone() == (*row, 5)
        assert conn.execute(misses).fetchone() == (before + 1,)

    conn.execute("INSERT INTO sorted_heap_table VALUES (5)")
    other.execute("DROP INDEX zones")
    other.execute("CREATE INDEX zones ON sorted_heap_table USING zonemap (a)")
    conn.execute("INSERT INTO sorted_heap_table VALUES (5)")
    problems = "SELECT * FROM sorted_heap.zonemap_verify('zones')"
    assert conn.execute(problems).fetchall() == []


def check_slots(conn) -> None:
    """No slot is left: not one too many, and not one too few, is taken."""
    # The server takes two of its slots when they are needed first.
    conn.execute("SELECT pg_filenode_relation(0, 1)")
    conn.execute("SELECT DISTINCT relkind FROM pg_class")
    with pytest.raises(psycopg.Error, match="relcache_callback_list slots"):
        conn.execute("SELECT take_slots(1)")


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.parametrize("how", ["load", "preload", "use"])
def test_one_slot(db, library, order, how):
    with db.connect() as conn:
        fill(conn, library)
    options = f"-c callback_slots.taken={TAKEN}"
    if how == "preload":
        options += f" -c session_preload_libraries={library},{','.join(order)}"
    conn = db.connect(options=options)
    if how != "preload":
        conn.execute(f"LOAD '{library}'")
    for extension in order:
        conn.execute(f"LOAD '{extension}'" if how == "load" else USE[extension])
    for extension in EXTENSIONS:
        conn.execute(USE[extension])
    check_invalidations(conn, db.connect())
    check_slots(conn)


@pytest.mark.parametrize("order", ORDERS[:: len(EXTENSIONS)], ids="-".join)
def test_one_slot_of_a_server_with_all_preloaded(make_cluster, library, order):
    cluster = make_cluster(
        "slots",
        shared_preload_libraries=", ".join([*order, str(library)]),
        **{"callback_slots.taken": TAKEN},
    )
    with cluster.connect() as conn:
        fill(conn, library)
    with cluster.connect() as conn, cluster.connect() as other:
        for extension in order:
            conn.execute(USE[extension])
        check_invalidations(conn, other)
        check_slots(conn)
