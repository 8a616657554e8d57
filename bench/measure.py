"""Timing a query on all systems, interleaved, every result compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from bench.compare import Mismatch, Result, compare
from bench.config import Config
from bench.dataset import Query
from bench.engines import Engine, QueryFailed, QueryTimeout
from bench.results import ERROR, TIMEOUT, WRONG, Cell
from bench.systems import DUCKDB, HEAP, System

T = TypeVar("T")

SHORT_MS = 20.0  # a round of a query repeats it until about this much
MOST_REPEATS = 20


class _Contender:
    """A system at one query: its cell, and what is left of its budget."""

    def __init__(self, engine: Engine, cell: Cell, query: Query) -> None:
        self.engine = engine
        self.cell = cell
        self.sql = engine.text(query)
        self.spent = 0.0
        self.repeats = 1  # of the query in one round
        self.done = False

    def give_up(self, status: str, note: str) -> None:
        self.cell.status = status
        self.cell.note = note
        self.done = True

    def repeat_for(self, elapsed: float) -> None:
        """A query of `elapsed` milliseconds runs how often in a round?"""
        wanted = int(SHORT_MS / max(elapsed, 0.01))
        self.repeats = max(1, min(MOST_REPEATS, wanted))

    def run(self, timeout: float) -> tuple[Result | None, float]:
        """Run the query once; no result when it failed or timed out."""
        try:
            result, elapsed = self.engine.timed(self.sql, timeout)
        except QueryTimeout as reason:
            self.give_up(TIMEOUT, str(reason))
            return None, 0.0
        except QueryFailed as reason:
            self.give_up(ERROR, str(reason))
            return None, 0.0
        self.spent += elapsed / 1000
        return result, elapsed


def _check(query: Query, expected: Result, got: Result, contender: _Contender) -> None:
    try:
        compare(query, expected, got)
    except Mismatch as difference:
        contender.give_up(WRONG, str(difference))


def turns(number: int, items: Sequence[T]) -> list[T]:
    """The items for round `number`: each round begins with another one."""
    shift = number % len(items)
    return [*items[shift:], *items[:shift]]


def measure(
    query: Query,
    engines: dict[str, Engine],
    config: Config,
    dataset: str,
    section: str,
) -> list[Cell]:
    """Measure one query; a cell per system, in milliseconds.

    Every engine runs the query once to warm up, then `config.runs` rounds
    follow in which the systems take turns, each round starting with another
    one. Each result, warm-up included, is compared with heap's first; a
    system whose result differs is marked WRONG and runs no further. Heap must
    be among the engines; where it takes too long DuckDB's result is the one to
    compare with. Without any the others are marked ERROR.
    """
    contenders = [
        _Contender(engine, Cell(dataset, section, query.name, name, "ms"), query)
        for name, engine in engines.items()
    ]
    cells = [contender.cell for contender in contenders]

    heap = next(c for c in contenders if c.cell.system == HEAP)
    judged_by = [heap]
    expected, elapsed = heap.run(config.timeout)
    heap.repeat_for(elapsed)
    if heap.cell.status == TIMEOUT:
        for contender in contenders:
            if contender.cell.system == DUCKDB:
                judged_by.append(contender)
                expected, elapsed = contender.run(config.timeout)
                contender.repeat_for(elapsed)
    if expected is None:
        for contender in contenders:
            if contender not in judged_by:
                contender.give_up(ERROR, "no result of heap to compare with")
        return cells
    for contender in contenders:
        if contender in judged_by:
            continue
        got, elapsed = contender.run(config.timeout)
        if got is not None:
            contender.repeat_for(elapsed)
            _check(query, expected, got, contender)

    for number in range(config.runs):
        for contender in turns(number, contenders):
            for _ in range(contender.repeats):
                if contender.done:
                    break
                got, elapsed = contender.run(config.timeout)
                if got is None:
                    break
                contender.cell.samples.append(elapsed)
                _check(query, expected, got, contender)
            if contender.spent > config.cell:
                contender.done = True
    return cells


def _literal(value: object) -> str:
    return "NULL" if value is None else "'" + str(value).replace("'", "''") + "'"


def foreign(heap: Engine, whole: str, got: Result, timeout: float) -> str:
    """A row of the result that the whole query does not have in heap, if any."""
    if not got.rows:
        return ""
    names = [f"c{number}" for number in range(len(got.names))]
    rows = {
        tuple(v.decode() if isinstance(v, bytes) else v for v in row)
        for row in (got.texts or [tuple(map(_text, row)) for row in got.rows])
    }
    equal = " AND ".join(f"q.{n}::text IS NOT DISTINCT FROM w.{n}" for n in names)
    wanted = ", ".join(
        "(" + ", ".join(f"{_literal(v)}::text" for v in row) + ")" for row in rows
    )
    listed = ", ".join(names)
    sql = (
        f"SELECT DISTINCT w.* FROM ({whole}) AS q({listed})"
        f" JOIN (VALUES {wanted}) AS w({listed}) ON {equal}"
    )
    try:
        found, _ = heap.timed(sql, timeout)
    except QueryTimeout:
        return ""  # heap's own time limit: as for every query
    missing = rows - set(found.rows)
    return f"a row that heap does not have: {min(missing, key=str)}" if missing else ""


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def judge(systems: list[System], cells: list[Cell]) -> None:
    """Raise AssertionError naming every cell that fails the run: any wrong
    result, and an error of heap or of a system of this project."""
    strict = {s.name for s in systems if s.ours or s.name == HEAP}
    bad = [
        f"{cell.name}, {cell.system}: {cell.status}: {cell.note}"
        for cell in cells
        if cell.status == WRONG or (cell.status == ERROR and cell.system in strict)
    ]
    if bad:
        raise AssertionError("\n".join(bad))
