"""A full disk: a statement ends in an ERROR, nothing is lost, and work goes on once
there is room.

The small disk is a tmpfs, on which a file leaves as many bytes as a test wants.  For
each statement that number grows, from none to as many as it takes, so that room runs
out in each of its phases.  The disk holds our table and temporary files; or all of
the data directory but WAL; or WAL alone, which ends in a PANIC of the server, as with
heap: then what was acknowledged has to be there after recovery.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import psycopg
import pytest
from strata.cluster import Cluster
from strata.twin import Twin, execute, same_rows

DISK = 256 << 20
DISK_FULL = "53100"
STEPS = int(os.environ.get("DISK_STEPS", "3"))
ROWS = 6_000
AMS = ("colcompress", "rowcompress", "sorted_heap")


class Disk:
    """A small file system."""

    def __init__(self, path: Path, server) -> None:
        self.path = server.own(path)
        self.filler = path / "filler"
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", path],
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
        server.own(path)

    def free(self) -> int:
        stat = os.statvfs(self.path)
        return stat.f_bavail * stat.f_frsize

    def fill(self, left: int) -> None:
        """Leave so many bytes."""
        self.empty()
        with open(self.filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(self.free() - left, 1))

    def empty(self) -> None:
        self.filler.unlink(missing_ok=True)

    def taken_by(self, action) -> int:
        """Bytes that are taken at most while an action runs."""
        least = before = self.free()
        done = threading.Event()

        def watch() -> None:
            nonlocal least
            while not done.is_set():
                least = min(least, self.free())
                time.sleep(0.001)

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            action()
        finally:
            done.set()
            thread.join()
        return before - min(least, self.free())

    def remove(self) -> None:
        subprocess.run(["umount", "-l", self.path], check=True)


@pytest.fixture
def disk(workdir, server):
    if os.getuid() != 0:
        pytest.skip("only root can mount a file system")
    if not shutil.which("mount"):
        pytest.skip("there is no command mount")
    disk = Disk(workdir / f"{len(list(workdir.iterdir()))}-disk", server)
    yield disk
    disk.remove()


@pytest.fixture(params=AMS)
def am(request, server) -> str:
    if not server.has_extension(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


class Database:
    """What a Twin needs."""

    def __init__(self, cluster: Cluster, am: str) -> None:
        self.cluster = cluster
        self.name = "small"
        with cluster.connect() as conn:
            conn.execute(f"CREATE DATABASE {self.name}")
        with self.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)


LOAD = (
    "INSERT INTO t SELECT i, i % 50, md5(i::text),"
    " repeat(md5(i::text), i % 40 / 39 * 90) FROM generate_series(1, {rows}) i"
)
SPREAD = "UPDATE t SET id = id * 7919 % 15013"


def statements(am: str) -> dict[str, tuple[list[str], str, str]]:
    """What comes before a statement; it; and what is heap's."""
    kind = "zonemap" if am == "sorted_heap" else "btree"
    load = LOAD.format(rows=ROWS)
    alone = {
        "load": load,
        "rows": (
            "DO $$ BEGIN FOR i IN 1 .. 900 LOOP INSERT INTO t VALUES"
            " (i + 100000, i, repeat(md5(i::text), 20), ''); END LOOP; END $$"
        ),
        "update": "UPDATE t SET k = k + 1, v = v || 'x' WHERE id % 2 = 0",
        "update of keys": SPREAD,
        "delete": "DELETE FROM t WHERE id % 5 = 1",
        "reindex": "REINDEX TABLE t",
        "vacuum full": "VACUUM FULL t",
    }
    found = {n: ([] if n == "load" else [load], sql, sql) for n, sql in alone.items()}
    spread = [load, f"{SPREAD} WHERE id % 3 = 0"]
    found["vacuum"] = (spread, "VACUUM (INDEX_CLEANUP on) t", "SELECT")
    for call in ("compact", "merge"):
        found[call] = (spread, f"CALL {am}.{call}('t')", "SELECT")
    for name, words in (("index", ""), ("index beside others", "CONCURRENTLY ")):
        index = f"CREATE INDEX {words}tk ON t USING {{}} (k, id)"
        found[name] = (spread, index.format(kind), index.format("btree"))
    return found


# What `make check` runs of them.
QUICK = ("load", "compact", "vacuum full")

# Each spills; the last ones by nodes of ours, where they are.
QUERIES = (
    "SELECT id, v FROM t ORDER BY v, id",
    "SELECT v, count(*), max(w) FROM t GROUP BY v",
    "SELECT a.id, b.v, b.w FROM t a JOIN t b ON a.v = b.v AND a.w = b.w",
    "SELECT id, sum(k) OVER (PARTITION BY w, v ORDER BY id) FROM t",
    "SELECT count(DISTINCT v), count(DISTINCT w) FROM t",
)


def make_tables(twin: Twin) -> None:
    twin.ok("DROP TABLE IF EXISTS t")
    # only now it goes from the disk
    twin.ours.execute("CHECKPOINT")
    twin.ok("CREATE TABLE t (id int, k int, v text, w text)")
    twin.ok("ALTER TABLE t ALTER w SET STORAGE EXTERNAL")
    kind = "zonemap" if twin.am == "sorted_heap" else "btree"
    twin.ours.execute(f"CREATE INDEX ti ON t USING {kind} (id)")
    twin.heap.execute("CREATE INDEX ti ON t (id)")
    if twin.am != "sorted_heap":
        twin.ours.execute(
            f"SELECT {twin.am}.set_options('t', auto_compact => 'off',"
            " row_group_rows => 2500)"
        )


def sound(conn, am: str) -> None:
    query = f"SELECT * FROM {am}.verify('t')"
    if am == "sorted_heap":
        query = (
            "SELECT c.relname, z.* FROM pg_index i JOIN pg_class c ON c.oid = indexrelid"
            " JOIN pg_am a ON a.oid = relam, sorted_heap.zonemap_verify(indexrelid) z"
            " WHERE indrelid = 't'::regclass AND amname = 'zonemap' AND indisvalid"
        )
    assert conn.execute(query).fetchall() == []


def alike(twin: Twin) -> None:
    """Compares the tables by queries that need no room."""
    total = "SELECT count(*), sum(id), sum(k), sum(length(v)), sum(length(w)) FROM t"
    twin.same(total, plans=("any plan",))
    some = "SELECT id, k, v, md5(w) FROM t WHERE id BETWEEN 100 AND 400"
    twin.same(some, plans=("index scans", "bitmap scans"))


def is_refused(conn, sql: str) -> bool:
    """Whether a statement ended for lack of room; another error is a fault."""
    outcome = execute(conn, sql)
    assert outcome.sqlstate in (None, DISK_FULL), f"{sql}: {outcome}"
    return outcome.sqlstate is not None


def run_out(twin: Twin, disk: Disk, name: str, steps: int) -> int:
    """One statement, again and again with more room.  Returns how often there was
    too little."""
    before, ours, heap = statements(twin.am)[name]

    def begin() -> None:
        make_tables(twin)
        for sql in before:
            twin.ok(sql)
        twin.ours.execute("CHECKPOINT")

    begin()
    taken = disk.taken_by(lambda: twin.ours.execute(ours))
    refusals = 0
    for step in range(steps + 1):
        begin()
        disk.fill(taken * step // steps)
        refused = is_refused(twin.ours, ours)
        if refused:
            refusals += 1
            alike(twin)
        disk.empty()
        sound(twin.ours, twin.am)
        if refused:
            twin.ours.execute("DROP INDEX IF EXISTS tk")
            twin.ours.execute(ours)
        twin.heap.execute(heap)
        sound(twin.ours, twin.am)
        twin.check()
    return refusals


SETTINGS = {
    "max_parallel_workers_per_gather": "0",
    "checkpoint_timeout": "1h",
}


@pytest.mark.parametrize(
    "name",
    [
        n if n in QUICK else pytest.param(n, marks=pytest.mark.slow)
        for n in statements("")
    ],
)
def test_tablespace(make_cluster, disk, am, name):
    cluster = make_cluster("full", **SETTINGS)
    place = cluster.server.own(disk.path / "space")
    with cluster.connect() as conn:
        conn.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
    twin = Twin(Database(cluster, am), am)
    twin.ours.execute("SET default_tablespace = small")
    refusals = run_out(twin, disk, name, STEPS)
    # these two need room now and then only
    assert refusals > 0 or name in ("delete", "vacuum")
    twin.ours.close()
    twin.heap.close()
    cluster.stop()


@pytest.mark.slow
def test_temporary_files(make_cluster, disk, am):
    """Sorts, hash tables of groups and of joins, windows: where there is no room, an
    ERROR that leaves nothing on the disk."""
    cluster = make_cluster("full", **SETTINGS)
    place = cluster.server.own(disk.path / "space")
    with cluster.connect() as conn:
        conn.execute(f"CREATE TABLESPACE small LOCATION '{place}'")
    twin = Twin(Database(cluster, am), am)
    make_tables(twin)
    twin.ok(LOAD.format(rows=5 * ROWS))
    twin.ok("ANALYZE t")
    refusals = 0
    for conn in twin.conns.values():
        conn.execute("SET temp_tablespaces = small")
        conn.execute("SET work_mem = '64kB'")
        conn.execute("SET hash_mem_multiplier = 1")
    for query in QUERIES:
        expected = twin.heap.execute(query).fetchall()
        twin.ours.execute(query)
        taken = disk.taken_by(lambda query=query: twin.ours.execute(query))
        free = disk.free()
        for step in range(STEPS + 1):
            disk.fill(taken * step // STEPS)
            outcome = execute(twin.ours, query)
            assert outcome.sqlstate in (None, DISK_FULL), f"{query}: {outcome}"
            refusals += outcome.sqlstate is not None
            disk.empty()
            assert disk.free() >= free
            if outcome.sqlstate is None:
                same_rows(outcome.rows, expected, query)
        same_rows(twin.ours.execute(query).fetchall(), expected, query)
    assert refusals >= len(QUERIES)
    for conn in twin.conns.values():
        conn.close()
    cluster.stop()


def move(cluster: Cluster, what: Path, to: Path) -> None:
    """Moves a directory of a stopped cluster; a link stays."""
    shutil.move(what, to)
    what.symlink_to(to)
    subprocess.run(["chown", "-R", cluster.server.user, to], check=True)
    subprocess.run(["chown", "-h", cluster.server.user, what], check=True)


@pytest.mark.slow
def test_data_directory(make_cluster, disk, am):
    """All but WAL: catalogs, transaction status, both tables."""
    cluster = make_cluster("full", start=False, **SETTINGS)
    move(cluster, cluster.data, disk.path / "data")
    move(cluster, cluster.data / "pg_wal", cluster.directory / "wal")
    cluster.start()
    twin = Twin(Database(cluster, am), am)
    refusals = 0
    for name in ("load", "update of keys", "compact", "index", "vacuum full"):
        refusals += run_out(twin, disk, name, max(STEPS // 2, 1))
    assert refusals > 0
    for conn in twin.conns.values():
        conn.close()
    cluster.stop()


@pytest.mark.crash
@pytest.mark.parametrize("segments", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_wal(make_cluster, disk, am, rng, segments):
    """The server gives up, as it has to; what was acknowledged is there, in both
    tables or in none."""
    cluster = make_cluster("full", start=False, max_wal_size="2GB", **SETTINGS)
    move(cluster, cluster.data / "pg_wal", disk.path / "wal")
    cluster.start()
    database = Database(cluster, am)
    twin = Twin(database, am)
    make_tables(twin)
    twin.ok(LOAD.format(rows=ROWS))
    twin.ours.execute("CREATE TABLE public.done (n int)")
    disk.fill((segments * 16 << 20) + rng.randrange(1 << 20))
    conn = twin.ours
    acknowledged = 0
    changes = (
        "INSERT INTO {s}.t SELECT {n} * 10000 + i, i, md5(i::text), ''"
        " FROM generate_series(1, 3000) i",
        "UPDATE {s}.t SET id = id + 1, v = v || 'y' WHERE k % 5 = {n} % 5",
        "DELETE FROM {s}.t WHERE id % 11 = {n} % 11",
    )
    with pytest.raises(psycopg.OperationalError):
        for number in range(1, 1000):
            with conn.transaction():
                for schema in ("ours", "heap"):
                    for change in changes:
                        conn.execute(change.format(s=schema, n=number))
                conn.execute(f"INSERT INTO public.done VALUES ({number})")
            acknowledged = number
            conn.execute(
                rng.choice(
                    (f"CALL {am}.compact('t')", f"CALL {am}.merge('t')", "VACUUM t")
                )
            )
    twin.heap.close()
    # Recovery needs room as well: the server may be gone for good.
    disk.empty()
    deadline = time.monotonic() + 60
    while cluster.postmaster() is not None and time.monotonic() < deadline:
        try:
            cluster.connect().close()
            break
        except psycopg.OperationalError:
            time.sleep(0.1)
    if cluster.postmaster() is None:
        cluster.start()
    twin = Twin(database, am)
    (number,) = twin.ours.execute(
        "SELECT coalesce(max(n), 0) FROM public.done"
    ).fetchone()
    assert number in (acknowledged, acknowledged + 1)
    sound(twin.ours, am)
    twin.check()
    twin.ok("UPDATE t SET k = k + 1")
    twin.ok(LOAD.format(rows=ROWS))
    twin.ours.execute(f"CALL {am}.merge('t')")
    sound(twin.ours, am)
    twin.check()
    for conn in twin.conns.values():
        conn.close()
    cluster.stop()
