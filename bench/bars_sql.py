"""What the queries of ClickBench, JSONBench, TPC-H and warehouse are to reach: lines of
bars.py's table."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bench.results import Results
from bench.sections import (
    CLICKBENCH,
    FOREIGN,
    HOT,
    HOT_PARALLEL,
    JSONBENCH,
    MADE,
    MORE_JSON,
    PRIMARY,
    PRIMARY_PARALLEL,
    TPCH,
    WAREHOUSE,
    WHOLE,
)
from bench.systems import CLICKHOUSE, DECLARED, DUCKDB, HEAP, SORTED

OURS = "colcompress"
MORE = 1.0  # milliseconds added to every time: short ones are noise

Figures = dict[str, tuple[float, float]]


def _pairs(
    results: Results, dataset: str, section: str, other: str, ours: str = OURS
) -> Figures:
    """Medians of ours and another system by name, of those that both have."""
    found = {}
    for name, cells in results.table(dataset, section).items():
        one, two = cells.get(ours), cells.get(other)
        if one and two and None not in (one.median, two.median):
            found[name] = (one.median, two.median)
    return found


def _line(text: str, worst: str, value: float, bar: float) -> list[str]:
    return [text, worst, f"{value:.2f}", f"{bar:g}", "yes" if value <= bar else "NO"]


def _ratios(figures: Figures) -> dict[str, float]:
    return {name: (a + MORE) / (b + MORE) for name, (a, b) in figures.items()}


def _mean(text: str, figures: Figures, bar: float) -> Iterator[list[str]]:
    if figures:
        logs = [math.log(ratio) for ratio in _ratios(figures).values()]
        value = math.exp(sum(logs) / len(logs))
        yield _line(f"{text}: geometric mean", "", value, bar)


def _worst(text: str, ratios: dict[str, float], bar: float) -> Iterator[list[str]]:
    if ratios:
        worst = max(ratios, key=ratios.__getitem__)
        yield _line(f"{text}: worst", worst, ratios[worst], bar)


def _against(
    results: Results, dataset: str, section: str, mean: float, worst: float | None
) -> Iterator[list[str]]:
    """Queries against DuckDB's."""
    figures = _pairs(results, dataset, section, DUCKDB)
    text = f"{dataset}: {section} / DuckDB's"
    yield from _mean(text, figures, mean)
    if worst is not None:
        yield from _worst(text, _ratios(figures), worst)


def _parallel(results: Results) -> Iterator[list[str]]:
    """Against serial: 10 % or 2 ms more are allowed, as a share of what is."""
    serial = results.table(CLICKBENCH, HOT)
    found = {}
    for name, cells in results.table(CLICKBENCH, HOT_PARALLEL).items():
        one, two = cells.get(OURS), serial.get(name, {}).get(OURS)
        if one and two and None not in (one.median, two.median):
            found[name] = one.median / max(two.median * 1.1, two.median + 2)
    text = f"{CLICKBENCH}: parallel / what serial allows (1.1 times or 2 ms more)"
    yield from _worst(text, found, 1)


def _jsonbench(results: Results) -> Iterator[list[str]]:
    """Against ClickHouse, sorted and with declared paths or both plain; jsonb's
    questions against heap's."""

    def pairs(section: str, other: str, ours: str = OURS) -> Figures:
        return _pairs(results, JSONBENCH, section, other, ours)

    for ours, other, bar in ((SORTED, DECLARED, 1), (OURS, CLICKHOUSE, 0.6)):
        text = f"{JSONBENCH}: {ours} / {other}'s"
        yield from _mean(text, pairs(HOT, other, ours), bar)
    text = f"{JSONBENCH}: {SORTED} / {DECLARED}'s"
    if size := pairs("size", DECLARED, SORTED).get("table"):
        yield _line(f"{text}: table", "", size[0] / size[1], 0.65)
    if load := pairs("load", DECLARED, SORTED).get("load"):
        yield _line(f"{text}: load", "", load[0] / load[1], 1)
    ratios = _ratios(pairs(MORE_JSON, HEAP))
    for prefix, text, bar in (
        (WHOLE, "whole documents", 0.7),
        (MADE, "documents put together", 1),
        ("", "other questions", 0.5),
    ):
        some = {
            name: ratios.pop(name) for name in list(ratios) if name.startswith(prefix)
        }
        yield from _worst(f"{JSONBENCH}: {text} / heap's", some, bar)


def bars(results: Results) -> list[list[str]]:
    """The lines of which there are figures."""
    lines = [*_against(results, CLICKBENCH, HOT, 0.9, 2)]
    lines += _against(results, CLICKBENCH, HOT_PARALLEL, 1.2, 3)
    lines += _parallel(results)
    size = _pairs(results, CLICKBENCH, "size", DUCKDB).get("table")
    if size:
        text = f"{CLICKBENCH}: table / DuckDB's file"
        lines.append(_line(text, "", size[0] / size[1], 0.63))
    load = _pairs(results, CLICKBENCH, "load", HEAP).get("COPY")
    if load:
        lines.append(_line(f"{CLICKBENCH}: COPY / heap's", "", load[0] / load[1], 1.3))
    lines += _jsonbench(results)
    lines += _against(results, TPCH, PRIMARY, 1.5, 4)
    lines += _against(results, TPCH, PRIMARY_PARALLEL, 2, None)
    lines += _against(results, WAREHOUSE, PRIMARY, 1.7, 8)
    for dataset, section in ((TPCH, PRIMARY), (TPCH, FOREIGN), (WAREHOUSE, PRIMARY)):
        figures = _pairs(results, dataset, section, HEAP)
        lines += _worst(f"{dataset}: {section} / heap's", _ratios(figures), 1)
    return lines
