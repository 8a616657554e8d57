"""The run in one table: how many times better than heap, area by area, and what is not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bench.results import TIMEOUT, Cell, Results
from bench.sections import (
    CACHED,
    CLICKBENCH,
    DOCUMENTS,
    FOREIGN,
    HOT,
    HOT_PARALLEL,
    JSONB,
    PARALLEL,
    POINTS,
    PRIMARY,
    PRIMARY_PARALLEL,
    SERIAL,
    TPCH,
    WITH_KEYS,
    WRITES,
    ZSON,
)
from bench.systems import DUCKDB, HEAP, KNOWN

NOISE = 1.1  # how many times worse is worth a word
MOST = 6  # lines named per system


@dataclass(frozen=True)
class Area:
    """Some lines of the report that belong together.

    name                     in the verdict
    dataset, section, lines  patterns of names, as files have
    """

    name: str
    dataset: str
    section: str
    lines: str = "*"


AREAS = (
    Area("size of the table", "events", "size", "table"),
    Area("load", "events", "load", "INSERT*"),
    Area("events queries, serial", "events", SERIAL, "Q*"),
    Area("events queries, parallel", "events", PARALLEL, "Q*"),
    Area("flights queries, serial", "flights", SERIAL, "F*"),
    Area("rows by key", "events", WITH_KEYS, "K[1-8]"),
    Area("points by key, two clients", "events", POINTS, CACHED),
    Area("large values by key", "events", DOCUMENTS),
    Area("COPY", "events", WRITES, "COPY*"),
    Area("single-row INSERT", "events", WRITES, "single-row INSERT*"),
    Area("UPDATE", "events", WRITES, "UPDATE*"),
    Area("DELETE", "events", WRITES, "DELETE*"),
    Area("pgbench, scale 1", "pgbench", "scale 1, *"),
    Area("pgbench, scale 20", "pgbench", "scale 20, *"),
    Area("ClickBench, serial", CLICKBENCH, HOT),
    Area("ClickBench, parallel", CLICKBENCH, HOT_PARALLEL),
    Area("TPC-H, serial", TPCH, PRIMARY),
    Area("TPC-H, parallel", TPCH, PRIMARY_PARALLEL),
    Area("TPC-H, foreign-key indexes", TPCH, FOREIGN),
    Area("JSON documents, table", "zson *", "size", "table"),
    Area("JSON documents, access", "zson *", "access"),
)


def better(cell: Cell, base: Cell | None) -> float | None:
    """How many times better than the other; None where either has no figure."""
    if base is None or cell.median is None or base.median is None:
        return None
    ours, other = max(cell.median, 1e-9), max(base.median, 1e-9)
    return ours / other if cell.unit in ("TPS", "rows/s") else other / ours


def _lines(results: Results, area: Area) -> Iterator[tuple[str, dict[str, Cell]]]:
    for dataset, section in results.sections():
        if fnmatchcase(dataset, area.dataset) and fnmatchcase(section, area.section):
            kind = f"{dataset}: " if "*" in area.dataset else ""
            for name, cells in results.table(dataset, section).items():
                if fnmatchcase(name, area.lines):
                    yield kind + name, cells


def ratios(
    results: Results, area: Area, system: str, base: str = ""
) -> dict[str, float]:
    """How many times better than the base (heap or jsonb) by line."""
    found = {}
    for name, cells in _lines(results, area):
        other = cells.get(base or HEAP) or (None if base else cells.get(JSONB))
        cell = cells.get(system)
        if cell and cell is not other:
            value = better(cell, other)
            if value is not None:
                found[name] = value
    return found


def _text(found: dict[str, float]) -> str:
    if not found:
        return "-"
    mean = math.exp(sum(map(math.log, found.values())) / len(found))
    if len(found) == 1:
        return f"{mean:.2f}"
    worst = min(found, key=found.__getitem__)
    return f"{mean:.2f} (least {found[worst]:.2f}: {worst})"


def table(results: Results) -> list[list[str]]:
    """The verdict's table, the header first; the header alone where there is none."""
    systems = [
        name
        for name in results.systems
        if name == ZSON or (name in KNOWN and name != HEAP)
    ]
    rows = []
    for area in AREAS:
        texts = [_text(ratios(results, area, system)) for system in systems]
        if any(text != "-" for text in texts):
            rows.append([area.name, *texts])
    used = [
        number
        for number in range(1, len(systems) + 1)
        if any(row[number] != "-" for row in rows)
    ]
    header = ["times better than heap (JSON: than jsonb)", *systems]
    return [[row[0], *(row[number] for number in used)] for row in (header, *rows)]


def _worse(found: dict[str, float], area: Area) -> Iterator[tuple[float, str]]:
    for name, value in found.items():
        if value < 1 / NOISE:
            yield value, f"{area.name}: {name} ({1 / value:.1f} times)"


def losses(results: Results) -> list[str]:
    """What our systems lose, in words: against heap (jsonb), against DuckDB."""
    lines = []
    ours = [n for n in results.systems if n == ZSON or (n in KNOWN and KNOWN[n].ours)]
    for system in ours:
        for base, title in (("", "heap"), (DUCKDB, "DuckDB")):
            worse = sorted(
                item
                for area in AREAS
                for item in _worse(ratios(results, area, system, base), area)
            )
            if worse:
                than = "jsonb" if system == ZSON else title
                more = f"; and {len(worse) - MOST} more" if len(worse) > MOST else ""
                listed = ", ".join(text for _, text in worse[:MOST])
                lines.append(f"{system} is worse than {than} at {listed}{more}.")
        late = [
            f"{cell.dataset} {cell.name}"
            for cell in results.cells
            if cell.system == system and cell.status == TIMEOUT
        ]
        if late:
            lines.append(f"{system} did not end in time: {', '.join(late)}.")
    return lines
