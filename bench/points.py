"""SELECT of one row by its unique key, as pgbench runs it: prepared, two clients.

Each table is compacted first. Once with everything in memory; then with memory for
an eighth of heap's table: a server with that much in shared_buffers which reads past
the system's cache (`debug_io_direct`), and whose sessions keep no more than 1 MB of
decoded batches. All systems get the same memory, whatever their own size is.
"""

from __future__ import annotations

import contextlib

from bench.dataset import Dataset
from bench.lab import Lab
from bench.load import settle
from bench.measure import turns
from bench.progress import progress
from bench.report import cell_text
from bench.results import ERROR, NOT_MEASURED, Cell
from bench.sections import CACHED, STARVED
from bench.sections import POINTS as SECTION
from bench.systems import HEAP, System

CLIENTS = 2
SHARE = 8
DIRECT_FROM = 18  # the server's first version whose direct reads are asynchronous


def _ask(lab: Lab, dataset: Dataset, system: System, cell: Cell) -> None:
    small = {"colcompress.cache_size": "1MB", "rowcompress.cache_size": "1MB"}
    lab.pgbench(
        cell,
        lab.database(dataset, system),
        f"--time={lab.config.tpcb}",
        script=f"\\set key random(1, {lab.config.rows})\n"
        f"SELECT * FROM {dataset.name} WHERE {dataset.unique_key} = :key;\n",
        clients=CLIENTS,
        settings=small if cell.name == STARVED else None,
    )


def _rounds(lab: Lab, dataset: Dataset, name: str) -> None:
    cells = {
        system.name: lab.results.add(
            Cell(dataset.name, SECTION, name, system.name, "TPS")
        )
        for system in lab.keyed
    }
    for number in range(lab.config.load_runs + 1):
        for system in turns(number, lab.keyed):
            cell = cells[system.name]
            if cell.status == ERROR:
                continue
            _ask(lab, dataset, system, cell)
            if number == 0:
                cell.samples.clear()  # reads the table into memory
    progress(
        f"{dataset.name}: {SECTION}: {name}:",
        " · ".join(f"{c.system} {cell_text(c, cells[HEAP])}" for c in cells.values()),
    )


def cached(lab: Lab, dataset: Dataset) -> None:
    """Compact the tables; everything in memory."""
    for system in lab.keyed:
        if system.compact:
            lab.engine(dataset, system).rows(system.compact.format(table=dataset.name))
            settle(lab, dataset, system)
    _rounds(lab, dataset, CACHED)


def little_memory(lab: Lab, size: int) -> contextlib.AbstractContextManager:
    """The server with `size` bytes of shared_buffers and no cache behind them."""
    buffers = f"{max(size, 1 << 20) // 1024}kB"
    return lab.server_with(shared_buffers=buffers, debug_io_direct="data")


def starved(lab: Lab, dataset: Dataset) -> None:
    """The same with little memory, where the server can read directly."""
    if lab.cluster.server.major < DIRECT_FROM:
        for system in lab.keyed:
            lab.results.add(
                Cell(
                    dataset.name,
                    SECTION,
                    STARVED,
                    system.name,
                    "TPS",
                    status=NOT_MEASURED,
                    note=f"needs PostgreSQL {DIRECT_FROM}",
                )
            )
        return
    heap = next(system for system in lab.keyed if system.name == HEAP)
    ((size,),) = lab.engine(dataset, heap).rows(
        f"SELECT pg_table_size('{dataset.name}')"
    )
    with little_memory(lab, int(size) // SHARE):
        _rounds(lab, dataset, STARVED)
