"""Rows in key order with little memory, and with a writer beside compaction.

Little memory: a server whose shared_buffers hold a quarter of heap's table and
btree together, and which reads past the system's cache; the same for both systems.

The writer: pgbench at 1,000 transactions per second, four updates to one insert,
alone and then beside compact() and VACUUM, again and again. Each update counts in
its row, so that a lost one would show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from bench.keyorder import (
    DATABASE,
    KEYED,
    NAME,
    ROW,
    cell_of,
    connect,
    run_pgbench,
)
from bench.lab import Lab, pgbench
from bench.measure import turns
from bench.points import DIRECT_FROM, little_memory
from bench.progress import progress
from bench.report import cell_text
from bench.results import ERROR, NOT_MEASURED, OK
from bench.rounds import percentile

SHARE = 4
STARVED = "a quarter of heap's table and btree in memory, TPS, prepared"
WRITER = "latency of a writer at 1,000 TPS, 99.9th percentile"
RATE = 1000
CLIENTS = 4


def steps(make: Callable[[str, Callable[[Lab], None]], object]) -> Iterator[object]:
    """The run's steps, after those of keyorder, whose tables they read."""
    yield make(f"{NAME}-little-memory", starved)
    yield make(f"{NAME}-writer", writer)


def starved(lab: Lab) -> None:
    """Point queries of the tables as compaction left them."""
    cells = {
        kind.name: cell_of(lab, STARVED, "point, 2 clients", kind, "TPS")
        for kind in KEYED
    }
    if lab.cluster.server.major < DIRECT_FROM:
        for cell in cells.values():
            cell.status, cell.note = NOT_MEASURED, f"needs PostgreSQL {DIRECT_FROM}"
        return
    heap = KEYED[0].table
    with connect(lab) as connection:
        ((size,),) = connection.execute(
            f"SELECT pg_relation_size('{heap}') + pg_indexes_size('{heap}')"
        ).fetchall()
    with little_memory(lab, int(size) // SHARE):
        for number in range(4):
            for kind in turns(number, KEYED):
                cell = cells[kind.name]
                script = (
                    f"\\set k random(1, {lab.config.rows})\n"
                    f"SELECT * FROM {kind.table} WHERE id = :k;\n"
                )
                if cell.status == OK:
                    run_pgbench(lab, cell, script, 2, lab.config.pgbench // 4)
                if number == 0:
                    cell.samples.clear()  # the first round fills the buffers
    ours = cells[KEYED[1].name]
    progress(f"{NAME}: {STARVED}:", cell_text(ours, cells[KEYED[0].name]))


def _write(lab: Lab, seconds: int) -> tuple[Counter, list[float]]:
    """Run the writer; transactions per script, and latencies in milliseconds."""
    scripts = {
        "update": f"\\set k random(1, {lab.config.rows})\n"
        "UPDATE t_online SET n = n + 1 WHERE id = :k;\n",
        "insert": "INSERT INTO t_online VALUES"
        " (nextval('t_online_id'), 'inserted beside it', 0);\n",
    }
    for name, text in scripts.items():
        (lab.scratch / f"writer-{name}.sql").write_text(text)
    prefix = lab.scratch / "writer-log"
    for old in lab.scratch.glob("writer-log.*"):
        old.unlink()
    pgbench(
        lab.cluster,
        DATABASE,
        "--protocol=prepared",
        f"--rate={RATE}",
        f"--time={seconds}",
        f"--file={lab.scratch / 'writer-update.sql'}@4",
        f"--file={lab.scratch / 'writer-insert.sql'}@1",
        "--log",
        f"--log-prefix={prefix}",
        clients=CLIENTS,
        timeout=lab.config.load_timeout,
    )
    done: Counter = Counter()
    latencies = []
    for log in lab.scratch.glob("writer-log.*"):
        for line in log.read_text().splitlines():
            _, _, microseconds, script, *_ = line.split()
            done["update" if script == "0" else "insert"] += 1
            latencies.append(int(microseconds) / 1000)
    return done, latencies


def _load(lab: Lab, connection) -> None:
    rows = lab.config.rows
    connection.execute("DROP TABLE IF EXISTS t_online")
    connection.execute("DROP SEQUENCE IF EXISTS t_online_id")
    connection.execute(f"CREATE SEQUENCE t_online_id START {rows + 1}")
    connection.execute(
        "CREATE TABLE t_online (id bigint, payload text, n int) USING sorted_heap"
    )
    connection.execute(
        f"INSERT INTO t_online SELECT g, {ROW}, 0 FROM generate_series(1, {rows}) g"
        " ORDER BY hashint8(g)"
    )
    connection.execute("CREATE INDEX t_online_key ON t_online USING zonemap (id)")
    connection.execute("VACUUM ANALYZE t_online")
    connection.execute("CHECKPOINT")


def writer(lab: Lab) -> None:
    """The writer alone, then beside compaction from random order; nothing lost."""
    kind = KEYED[1]
    seconds = max(3, 3 * lab.config.tpcb)
    total: Counter = Counter()
    reached = 0  # transactions of the writer alone: what the machine can do
    with connect(lab) as connection, ThreadPoolExecutor(1) as pool:
        _load(lab, connection)
        for name in ("alone", "beside compact() and VACUUM"):
            cell = cell_of(lab, WRITER, name, kind, "ms")
            task = pool.submit(_write, lab, seconds)
            rounds = 0
            while name != "alone" and (rounds == 0 or not task.done()):
                connection.execute("CALL sorted_heap.compact('t_online')")
                connection.execute("VACUUM t_online")
                rounds += 1
            done, latencies = task.result()
            total += done
            cell.samples.append(percentile(latencies, 0.999))
            cell.note = f"{len(latencies) / seconds:.0f} TPS reached"
            reached = reached or len(latencies)
            if len(latencies) < reached * 0.8:
                cell.status = ERROR
            progress(f"{NAME}: {WRITER}: {name}", cell_text(cell, None))
        found = connection.execute("SELECT count(*), sum(n) FROM t_online").fetchone()
        assert found == (lab.config.rows + total["insert"], total["update"]), found
        problems = connection.execute(
            "SELECT * FROM sorted_heap.zonemap_verify('t_online_key')"
        ).fetchall()
        assert not problems, problems
        connection.execute("DROP TABLE t_online")
