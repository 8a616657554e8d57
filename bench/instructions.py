"""Instructions per row of some queries, counted by callgrind.

Times depend on the machine and on what else it does; the number of
instructions does not, so that a slower loop shows in any report. A single-user
backend runs each query under valgrind, on two tables of the same rows, one
twice as long as the other. The difference of the counts divided by that of the
rows is free of what a query costs however few rows there are. Counted is what
runs inside of PortalRun(), the executor without parsing and planning, in the
second run of a statement: by then everything is in memory.

valgrind translates no AVX-512, so the figures are those of the kernels that a
machine with AVX2 takes.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from strata.cluster import Cluster, running

from bench.compare import Mismatch, compare
from bench.dataset import Dataset, Query
from bench.engines import PostgresEngine
from bench.progress import progress
from bench.report import cell_text
from bench.results import ERROR, NOT_MEASURED, WRONG, Cell
from bench.systems import HEAP, System

if TYPE_CHECKING:
    from bench.lab import Lab

SECTION = "instructions"
SYSTEMS = (HEAP, "colcompress")
QUERIES = ("Q2", "Q3", "Q5", "Q9", "Q10")
ROWS = (100_000, 50_000)  # of the two tables
HEAP_ROWS = (20_000, 10_000)  # heap is slow, and its figure is for orientation
COUNTED = "PortalRun"
TIMEOUT = 300  # seconds of one system's queries under valgrind


def count_instructions(lab: Lab, dataset: Dataset) -> None:
    """A cell per system and query; the systems' answers are compared first."""
    systems = [s for s in lab.systems if s.name in SYSTEMS]
    queries = [q for q in dataset.queries if q.name in QUERIES]
    cells = {
        (system.name, query.name): lab.results.add(
            Cell(dataset.name, SECTION, query.name, system.name, "instructions")
        )
        for query in queries
        for system in systems
    }
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        for cell in cells.values():
            cell.status, cell.note = NOT_MEASURED, "valgrind is not installed"
        progress(f"{dataset.name}: instructions: not measured: no valgrind")
        return
    cluster = Cluster(
        lab.cluster.server,
        lab.scratch / "instructions",
        {"autovacuum": "off", "work_mem": "256MB", "jit": "off"}
        | {"shared_buffers": "256MB", "max_parallel_workers_per_gather": "0"},
    ).init()
    with running(cluster):
        _fill(cluster, dataset, systems)
        _compare(cluster, systems, queries, cells)
        cluster.stop()
        for system in systems:
            counted = [
                cells[system.name, query.name]
                for query in queries
                if cells[system.name, query.name].status != WRONG
            ]
            _count(cluster, valgrind, system, queries, counted)
            progress(
                f"{dataset.name}: instructions per row: {system.name}:",
                " · ".join(f"{c.name} {cell_text(c, None)}" for c in counted),
            )


def _sizes(system: System) -> tuple[int, int]:
    """Rows of the tables that the system's queries are counted on."""
    return HEAP_ROWS if system.name == HEAP else ROWS


def _schema(rows: int) -> str:
    """Name of the schema of the table with that many rows."""
    return f"rows_{rows}"


def _fill(cluster: Cluster, dataset: Dataset, systems: list[System]) -> None:
    with cluster.connect() as admin:
        for system in systems:
            admin.execute(f"CREATE DATABASE {system.name}")
    for system in systems:
        with cluster.connect(system.name) as own:
            if system.extension:
                own.execute(f"CREATE EXTENSION {system.extension}")
            for rows in {*_sizes(system), *ROWS}:
                own.execute(f"CREATE SCHEMA {_schema(rows)}")
                own.execute(f"SET search_path = {_schema(rows)}, public")
                own.execute(
                    f"CREATE TABLE {dataset.name} ({dataset.ddl}) USING {system.am}"
                )
                for statement in system.prepare_sql(dataset):
                    own.execute(statement)
                dataset.fill(own, dataset.name, rows, lambda text: None)
                own.execute(f"VACUUM (ANALYZE, FREEZE) {dataset.name}")


def _compare(
    cluster: Cluster,
    systems: list[System],
    queries: list[Query],
    cells: dict[tuple[str, str], Cell],
) -> None:
    """Mark the cells of queries whose answer is not heap's."""
    for rows in ROWS:
        expected = {}
        for system in systems:
            engine = PostgresEngine(cluster.dsn(system.name))
            engine.configure(search_path=_schema(rows))
            for query in queries:
                result, _ = engine.timed(query.sql, 60)
                try:
                    compare(query, expected.setdefault(query.name, result), result)
                except Mismatch as difference:
                    cell = cells[system.name, query.name]
                    cell.status, cell.note = WRONG, str(difference)
            engine.close()


def _script(queries: list[Query], system: System) -> list[str]:
    """The statements, one to a line, as the single-user backend wants them."""
    lines = []
    for rows in _sizes(system):
        lines.append(f"SET search_path = {_schema(rows)}, public")
        for query in queries:
            lines += [" ".join(query.sql.split())] * 2
    return lines


def _count(
    cluster: Cluster,
    valgrind: str,
    system: System,
    queries: list[Query],
    cells: list[Cell],
) -> None:
    """Run the queries of one system under valgrind; fill its cells."""
    server = cluster.server
    folder = server.own(cluster.directory / f"callgrind-{system.name}")
    out = folder / "out"
    lines = _script(queries, system)
    done = server.run(
        valgrind,
        "--tool=callgrind",
        f"--callgrind-out-file={out}",
        f"--toggle-collect={COUNTED}",
        f"--dump-after={COUNTED}",
        server.bindir / "postgres",
        "--single",
        "-D",
        cluster.data,
        system.name,
        input="\n".join(lines) + "\n",
        timeout=TIMEOUT,
        check=False,
    )
    counts = read_counts(out)
    if done.returncode != 0 or len(counts) != len(lines):
        for cell in cells:
            cell.status = ERROR
            cell.note = f"{len(counts)} counts: {done.stderr[-500:]}"
        return
    half = len(counts) // 2  # of each table: SET, then each query twice
    large, small = _sizes(system)
    for cell in cells:
        place = 2 + 2 * [query.name for query in queries].index(cell.name)
        fewer = counts[half + place]
        cell.samples.append((counts[place] - fewer) / (large - small))


def read_counts(out: Path) -> list[int]:
    """Instructions of each dump that callgrind wrote beside `out`, in order;
    the file `out` itself is what ran after the last statement."""
    counts = {}
    for name in os.listdir(out.parent):
        match = re.fullmatch(re.escape(out.name) + r"\.(\d+)", name)
        if match:
            text = (out.parent / name).read_text()
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
            counts[int(match[1])] = int(total[1]) if total else 0
    return [counts[number] for number in sorted(counts)]
