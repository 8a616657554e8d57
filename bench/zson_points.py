"""zson against jsonb under pgbench: one key of a document by random id.

Twice: with everything in shared buffers, and with jsonb's table and index four times as large
as shared buffers, without the operating system's cache (debug_io_direct = data, from
PostgreSQL 16 on; else not measured), with the pages read for each.  The cluster is one of its own.
The systems take turns.
The classic document, the same in every row, is read in memory only, over all rows and over the
first 3,000.

    python3 -m bench.zson_points PG_CONFIG [kind ...]

Environment: ZSON_POINT_ROWS documents (20000; a kind takes a multiple of it), ZSON_POINT_TIME
seconds per round (5), ZSON_POINT_CLIENTS numbers of clients ("4"; the classic benchmark has
"1 2 4"), and what bench/zson.py takes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from bench import zson
from bench.lab import pgbench
from bench.measure import turns
from bench.report import terminal
from bench.results import NOT_MEASURED, Cell, Results
from bench.sections import KEY_BY_ID as SECTION
from bench.sections import LIMITED, PAGES

ROWS = int(os.environ.get("ZSON_POINT_ROWS", "20000"))
SECONDS = int(os.environ.get("ZSON_POINT_TIME", "5"))
ROUNDS = 3
CLIENTS = [int(n) for n in os.environ.get("ZSON_POINT_CLIENTS", "4").split()]

# kind: key, multiple of the rows
KINDS = {
    "metadata": ("campaign", 20),
    "github": ("type", 2.5),
    "consul": ("time", 0.5),
}
CLASSIC = "consul"
CLASSIC_FIRST = 3000
SYSTEMS = {zson.JSONB: "jsonb", zson.LZ4: "jsonb", zson.ZSON: "zson"}

# Smaller caches are full of the catalogs' pages.
LEAST_BUFFERS = 8 * 2**20


def _table(system: str) -> str:
    return f"t_{system.replace(' ', '_')}"


def _fill(cluster, kind: str, n: int) -> None:
    with cluster.connect() as conn:
        conn.execute("DROP EXTENSION IF EXISTS zson_dict CASCADE")
        conn.execute("CREATE EXTENSION zson_dict")
        conn.execute("DROP TABLE IF EXISTS examples")
        conn.execute("CREATE TABLE examples (doc jsonb)")
        zson.copy(conn, "examples", zson.texts(kind, min(n, 20000), 7))
        conn.execute("SELECT zson_train('examples', 'doc')")
        documents = zson.texts(kind, n, 11)
        for system, column_type in SYSTEMS.items():
            table = _table(system)
            conn.execute(f"DROP TABLE IF EXISTS {table}")
            conn.execute(
                f"CREATE TABLE {table} (id serial PRIMARY KEY, doc {column_type})"
            )
            if system == zson.LZ4:
                conn.execute(f"ALTER TABLE {table} ALTER doc SET COMPRESSION lz4")
            zson.copy(conn, table, documents)
            conn.execute(f"VACUUM (ANALYZE, FREEZE) {table}")
        conn.execute("CHECKPOINT")


def _pgbench(cluster, script: Path, clients: int, seconds: int) -> tuple[float, int]:
    """Transactions per second, and how many there were."""
    return pgbench(
        cluster, "postgres", "--protocol=prepared", f"--time={seconds}", f"--file={script}",
        clients=clients, timeout=60 + 2 * seconds,
    )  # fmt: skip


def _pages_read(cluster, system: str) -> int:
    """Pages of the system's table and its index that were read so far."""
    with cluster.connect() as conn:
        ((pages,),) = conn.execute(
            "SELECT heap_blks_read + idx_blks_read + coalesce(toast_blks_read, 0)"
            f" FROM pg_statio_user_tables WHERE relname = '{_table(system)}'"
        ).fetchall()
    return int(pages)


def _rounds(
    cluster, directory: Path, kind: str, n: int, name: str, results: Results, warm: int
) -> None:
    """Reads among the first n documents, with each number of clients; of each turn, the first
    warm seconds do not count: the cache is full of another system's pages."""
    dataset = f"zson {kind}"
    for clients in CLIENTS:
        label = f"{name}, {clients} client{'s' if clients > 1 else ''}"
        cells = {
            system: results.add(Cell(dataset, SECTION, label, system, "TPS"))
            for system in SYSTEMS
        }
        reads = {
            system: Cell(dataset, SECTION, f"{label}: {PAGES}", system, "pages")
            for system in SYSTEMS
        }
        for number in range(ROUNDS + 1):
            for system, cell in turns(number, list(cells.items())):
                script = directory / f"{_table(system)}.sql"
                script.write_text(
                    f"\\set id random(1, {n})\n"
                    f"SELECT doc -> '{KINDS[kind][0]}' FROM {_table(system)} WHERE id = :id;\n"
                )
                script.chmod(0o644)
                if warm:
                    _pgbench(cluster, script, clients, warm)
                before = _pages_read(cluster, system)
                rate, transactions = _pgbench(cluster, script, clients, SECONDS)
                # the first round fills the caches
                if number > 0:
                    pages = _pages_read(cluster, system) - before
                    cell.samples.append(rate)
                    reads[system].samples.append(pages / transactions)
        if warm:
            results.cells += reads.values()


def _quarter(cluster) -> int:
    """Bytes of shared buffers that hold a quarter of jsonb's data."""
    table = _table(zson.JSONB)
    with cluster.connect() as conn:
        ((size,),) = conn.execute(
            f"SELECT pg_total_relation_size('{table}')"
        ).fetchall()
    return size // 4


def _has_direct_io(cluster) -> bool:
    with cluster.connect() as conn:
        found = conn.execute(
            "SELECT 1 FROM pg_settings WHERE name = 'debug_io_direct'"
        ).fetchall()
    return bool(found)


def measure(cluster, directory: Path, kind: str, results: Results) -> None:
    """Both settings, into cells of the results; the cluster runs, and is restarted."""
    n = max(1000, int(ROWS * KINDS[kind][1]))
    _fill(cluster, kind, n)
    _rounds(cluster, directory, kind, n, "in memory", results, 0)
    if kind == CLASSIC:
        first = min(n, CLASSIC_FIRST)
        _rounds(cluster, directory, kind, first, f"first {first} ids", results, 0)
        return
    buffers = _quarter(cluster)
    why = None
    if not _has_direct_io(cluster):
        why = "the server has no debug_io_direct"
    elif buffers < LEAST_BUFFERS:
        why = "jsonb's data are too small"
    if why:
        for system in SYSTEMS:
            results.add(
                Cell(
                    f"zson {kind}",
                    SECTION,
                    LIMITED,
                    system,
                    "TPS",
                    [],
                    NOT_MEASURED,
                    why,
                )
            )
        return
    usual = cluster.settings["shared_buffers"]
    cluster.configure(shared_buffers=f"{buffers // 1024}kB", debug_io_direct="data")
    cluster.restart()
    _rounds(cluster, directory, kind, n, LIMITED, results, SECONDS)
    cluster.configure(shared_buffers=usual, debug_io_direct=None)
    cluster.restart()


def run(server, results: Results, kinds: list[str]) -> None:
    """The kinds in a cluster of their own, on the server's programs."""
    from strata.cluster import Cluster, running

    with tempfile.TemporaryDirectory(prefix="zson-points-") as place:
        directory = Path(place)
        directory.chmod(0o755)
        settings = {
            "shared_buffers": "512MB",
            "autovacuum": "off",
            "synchronize_seqscans": "off",
        }
        with running(Cluster(server, directory / "cluster", settings).init()) as own:
            for kind in kinds:
                measure(own, directory, kind, results)


def available() -> list[str]:
    """Kinds whose data is there."""
    there = zson.available()
    return [kind for kind in KINDS if kind in there]


def main(pg_config: str, kinds: list[str]) -> None:
    """Measure and print."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from strata.server import Server

    results = Results(systems=list(SYSTEMS))
    run(Server(pg_config), results, kinds or available())
    print(terminal(results))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
