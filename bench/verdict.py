"""The run in one table: how many times better than heap, area by area, and what is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
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
    JSONBENCH,
    MORE_JSON,
    PARALLEL,
    POINTS,
    PRIMARY,
    PRIMARY_PARALLEL,
    SERIAL,
    TPCH,
    WAREHOUSE,
    WITH_KEYS,
    WRITES,
    ZSON,
)
from bench.systems import CLICKHOUSE, DECLARED, DUCKDB, HEAP, KNOWN, SORTED
from bench.tables import plain

NOISE = 1.1  # how many times worse is worth a word
RATES = {"TPS", "rows/s"}  # units of which more is better
PEERS = {
    HEAP: HEAP,
    DUCKDB: "DuckDB",
    CLICKHOUSE: "ClickHouse",
    DECLARED: "ClickHouse with declared paths",
}


@dataclass(frozen=True)
class Area:
    """Some lines of the report that belong together.

    name                     in the verdict
    dataset, section, lines  patterns of names, as files have
    base                     the system that the others are compared with
    """

    name: str
    dataset: str
    section: str
    lines: str = "*"
    base: str = HEAP


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
    Area("index on ordered keys, size", "sorted", "size", "index, in order"),
    Area("ordered keys, by key", "sorted", "in order, latency"),
    Area("ordered keys, INSERT", "sorted", "writes", "INSERT in order"),
    Area("ClickBench, serial", CLICKBENCH, HOT),
    Area("ClickBench, parallel", CLICKBENCH, HOT_PARALLEL),
    Area("JSONBench, table", JSONBENCH, "size", "table"),
    Area("JSONBench, load", JSONBENCH, "load", "load"),
    Area("JSONBench, five questions", JSONBENCH, HOT),
    Area("JSONBench, other questions", JSONBENCH, MORE_JSON),
    Area("TPC-H, serial", TPCH, PRIMARY),
    Area("TPC-H, parallel", TPCH, PRIMARY_PARALLEL),
    Area("TPC-H, foreign-key indexes", TPCH, FOREIGN),
    Area("warehouse, serial", WAREHOUSE, PRIMARY),
    Area("warehouse, parallel", WAREHOUSE, PRIMARY_PARALLEL),
    Area("JSON documents, table", "zson *", "size", "table", JSONB),
    Area("JSON documents, access", "zson *", "access", base=JSONB),
    Area("JSON documents, COPY", "zson *", "documents", "COPY", JSONB),
)


def better(cell: Cell, base: Cell | None) -> float | None:
    """How many times better than the other; None where either has no figure."""
    if base is None or cell.median is None or base.median is None:
        return None
    ours, other = max(cell.median, 1e-9), max(base.median, 1e-9)
    return ours / other if cell.unit in RATES else other / ours


def _lines(results: Results, area: Area) -> Iterator[tuple[str, dict[str, Cell]]]:
    for dataset, section in results.sections():
        if fnmatchcase(dataset, area.dataset) and fnmatchcase(section, area.section):
            kind = dataset.removeprefix(area.dataset.rstrip("*"))
            for name, cells in results.table(dataset, section).items():
                if fnmatchcase(name, area.lines):
                    yield f"{kind}: {name}" if kind else name, cells


def ratios(
    results: Results, area: Area, system: str, base: str = ""
) -> dict[str, float]:
    """How many times better than the base (heap or jsonb) by line."""
    found = {}
    for name, cells in _lines(results, area):
        other = cells.get(base or area.base)
        cell = cells.get(system)
        if cell and cell is not other:
            value = better(cell, other)
            if value is not None:
                found[name] = value
    return found


def mean(found: dict[str, float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, found.values())) / len(found))


def short(value: float) -> str:
    """A ratio with the digits that matter."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _text(found: dict[str, float]) -> str:
    if not found:
        return "-"
    if len(found) == 1:
        return short(mean(found))
    worst = min(found, key=found.__getitem__)
    return f"{short(mean(found))} ({short(found[worst])} {worst})"


def means(results: Results, base: str) -> dict[str, dict[str, float]]:
    """Geometric means of the areas with that base, by system."""
    rows = {}
    for area in AREAS:
        if area.base == base:
            found = {
                name: ratios(results, area, name) for name in _rated(results, base)
            }
            if cells := {name: mean(some) for name, some in found.items() if some}:
                rows[area.name] = cells
    return rows


def _rated(results: Results, base: str) -> list[str]:
    return [
        name
        for name in results.systems
        if (name == ZSON if base == JSONB else name != HEAP)
        and (base == JSONB or "," not in name)
    ]


def tables(results: Results) -> list[list[list[str]]]:
    """The verdict's tables, against heap and against jsonb, each with its header
    first; those without a line are left out."""
    found = []
    for base in (HEAP, JSONB):
        rows = means(results, base)
        systems = [
            name
            for name in _rated(results, base)
            if any(name in cells for cells in rows.values())
        ]
        lines = [[f"times better than {base}", *systems]]
        for area in AREAS:
            if area.base == base and area.name in rows:
                cells = [_text(ratios(results, area, name)) for name in systems]
                lines.append([area.name, *cells])
        if len(lines) > 1:
            found.append(lines)
    return found


def _lost(results: Results, area: Area, system: str, base: str) -> str:
    """What is lost in an area, in words; empty where nothing is."""
    found = ratios(results, area, system, base)
    worse = {name: 1 / value for name, value in found.items() if value < 1 / NOISE}
    if not worse:
        return ""
    worst = max(worse, key=worse.__getitem__)
    units = {
        cells[system].unit for name, cells in _lines(results, area) if name in worse
    }
    word = "larger" if units == {"MB"} else "fewer" if units <= RATES else "slower"
    much = f"{worse[worst]:.1f} times {word}"
    if len(found) == 1:
        return f"{area.name} ({much})"
    return f"{len(worse)} of {len(found)} {area.name} ({worst}: {much})"


def losses(results: Results) -> list[str]:
    """What our systems lose, in words: against heap (jsonb), against DuckDB."""
    lines = []
    ours = [
        name
        for name in results.systems
        if name in (ZSON, SORTED) or (name in KNOWN and KNOWN[name].ours)
    ]
    for system in ours:
        for base, title in ({JSONB: JSONB} if system == ZSON else PEERS).items():
            if base not in results.systems:
                continue
            areas = [area for area in AREAS if system == ZSON or area.base == HEAP]
            if not any(ratios(results, area, system, base) for area in areas):
                continue
            lost = [w for area in areas if (w := _lost(results, area, system, base))]
            words = "; ".join(lost) if lost else "nothing"
            lines.append(f"{system} loses to {title}: {words}.")
        late = [
            f"{cell.dataset} {cell.name}"
            for cell in results.cells
            if cell.system == system and cell.status == TIMEOUT
        ]
        if late:
            lines.append(f"{system} did not end in time: {', '.join(late)}.")
    return lines


READING = (
    "Geometric means; in brackets the least line of each area. More than 1 is better"
    " than what it is compared with, whatever the unit; lost is what is more than"
    f" {NOISE - 1:.0%} worse."
)


def blocks(results: Results, form: Callable[[list[list[str]]], str]) -> list[str]:
    """The verdict's tables in a form, and its words; nothing without a table."""
    shown = [form(lines) for lines in tables(results)]
    return [*shown, READING, *losses(results)] if shown else []


def text(results: Results) -> str:
    """The verdict for a terminal."""
    return "\n\n".join(blocks(results, plain))
