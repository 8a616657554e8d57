"""Queries of files that are not ours: cold, hot, in parallel, and checked.

A query that ends in heap with an error (an integer that overflows) must end so in
every system; then it is not measured.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.compare import Mismatch, Result, compare
from bench.dataset import Dataset, Query
from bench.engines import Engine, QueryFailed, QueryTimeout
from bench.lab import Lab
from bench.load import timed_cell
from bench.measure import foreign
from bench.progress import progress
from bench.report import cell_text
from bench.results import ERROR, NOT_MEASURED, WRONG, Cell
from bench.sections import COLD
from bench.sqltext import Checked
from bench.systems import HEAP, System


def evict(*places: Path) -> None:
    """Take files, and all below directories, out of the system's cache."""
    for place in places:
        files = [place] if place.is_file() else place.rglob("*")
        for path in files:
            if path.is_file() and not path.is_symlink():
                handle = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(handle)
                    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(handle)


def cold(lab: Lab, dataset: Dataset, asked: Checked) -> None:
    """The first run of a query after the server's start, no file in memory."""
    lab.disconnect()
    lab.cluster.stop()
    evict(lab.cluster.data / "base", lab.scratch)
    lab.cluster.start()
    cells = {}
    for name, engine in lab.engines(dataset).items():
        engine.mode(0)
        cell = Cell(dataset.name, COLD, asked.query.name, name, "ms")
        text = engine.text(asked.query)
        seconds = timed_cell(cell, engine, text, lab.config.timeout)
        if seconds is not None:
            cell.samples.append(seconds * 1000)
        cells[name] = lab.results.add(cell)
    _all_fail(cells)
    progress(
        f"{dataset.name}: {COLD}: {asked.query.name}:",
        " · ".join(f"{n} {cell_text(c, cells[HEAP])}" for n, c in cells.items()),
    )


def _all_fail(cells: dict[str, Cell]) -> None:
    """Where heap ends in an error all must, and are not measured."""
    if cells[HEAP].status != ERROR:
        return
    for cell in cells.values():
        if cell.status == ERROR:
            cell.status = NOT_MEASURED
        else:
            cell.status, cell.note = WRONG, "no error as heap's"
            cell.samples.clear()


def impossible(lab: Lab, dataset: Dataset, asked: Checked) -> bool:
    """Did the cold run find that the query ends in an error everywhere?"""
    cells = lab.results.table(dataset.name, COLD).get(asked.query.name, {})
    return HEAP in cells and cells[HEAP].status == NOT_MEASURED


def hot(
    lab: Lab,
    dataset: Dataset,
    asked: Checked,
    section: str,
    workers: int = 0,
    systems: list[System] | None = None,
) -> None:
    """Measure and compare, as all queries are; what the timed text leaves open
    is compared once, beforehand."""
    if impossible(lab, dataset, asked):
        return
    engines = lab.engines(dataset, systems)
    for engine in engines.values():
        engine.mode(workers)
    name = asked.query.name
    for system, problem in _check(lab, engines, asked).items():
        cell = Cell(dataset.name, section, name, system, "ms", [], WRONG, problem)
        lab.results.add(cell)
        engines.pop(system)
    lab.measure(dataset, engines, asked.query, section)


def _result(engine: Engine, query: Query, timeout: float) -> Result | None:
    try:
        return engine.timed(engine.text(query), timeout)[0]
    except (QueryFailed, QueryTimeout):
        return None  # measuring it says so


def _check(lab: Lab, engines: dict[str, Engine], asked: Checked) -> dict[str, str]:
    """Differences from heap, by system, in what the timed query leaves open."""
    wrong = {}
    timeout = lab.config.timeout
    if asked.keyed:
        expected = _result(engines[HEAP], asked.keyed, timeout)
        for name, engine in engines.items():
            got = _result(engine, asked.keyed, timeout)
            if expected and got:
                try:
                    compare(asked.keyed, expected, got)
                except Mismatch as difference:
                    wrong[name] = str(difference)
    if asked.whole:
        for name, engine in engines.items():
            got = _result(engine, asked.query, timeout)
            if got and (problem := foreign(engines[HEAP], asked.whole, got, timeout)):
                wrong[name] = problem
    return wrong
