"""What tables that are written meanwhile are to reach: lines of bars.py's table."""

from __future__ import annotations

from collections.abc import Iterator

from bench.results import Results
from bench.sections import (
    ADOPT,
    AFTER,
    ANEW,
    BESIDE_ADOPT,
    FRESH,
    LAG,
    LIVE,
    LIVE_INDEX,
    LIVE_WRITERS,
    OVER_TIME,
    P999,
    PEAK,
    PERCENTILE,
    SWITCH,
    WORST,
)
from bench.systems import HEAP

COLUMNS = "colcompress"
OURS = (COLUMNS, "rowcompress")
ANALYTIC = ("sum", "group", "filter", "day")
BYTES = "bytes per row, of the fresh table's: worst"
LEAST = 0.1  # milliseconds: what is below is taken for that


def _figure(
    results: Results, section: str, name: str, system: str, dataset: str = LIVE
) -> float | None:
    cell = results.table(dataset, section).get(name, {}).get(system)
    return cell.median if cell else None


def _line(
    text: str, worst: str, value: float, bar: float, dataset: str = LIVE
) -> list[str]:
    met = "yes" if value <= bar else "NO"
    return [f"{dataset}: {text}", worst, f"{value:.2f}", f"{bar:.4g}", met]


def _largest(text: str, found: dict[str, float], bar: float) -> Iterator[list[str]]:
    if found:
        worst = max(found, key=found.__getitem__)
        yield _line(text, worst, found[worst], bar)


def _against_fresh(results: Results, system: str) -> dict[str, float]:
    """The worst probe of each query over what its fresh time allows."""
    found = {}
    for name in ANALYTIC:
        fresh = _figure(results, LIVE, f"{name}, {FRESH}", system)
        worst = _figure(results, LIVE, f"{name}, {WORST}", system)
        if fresh is not None and worst is not None:
            found[name] = worst / (2.5 * fresh + 10)
    return found


def _against_heap(
    results: Results, system: str, names: tuple[str, ...]
) -> dict[str, float]:
    """Ratios to heap's figures at the same moment."""
    found = {}
    for name in names:
        for moment, cells in results.table(LIVE, name + OVER_TIME).items():
            ours, heap = (cells.get(s) for s in (system, HEAP))
            if ours and heap and None not in (ours.median, heap.median):
                ratio = ours.median / max(heap.median, LEAST)
                found[f"{name}, {moment}"] = ratio
    return found


def _recovery(results: Results, system: str) -> dict[str, float]:
    """After the rest, over the same rows loaded anew."""
    found = {}
    for name in (*ANALYTIC, LIVE_INDEX, "table"):
        after, anew = (
            _figure(results, LIVE, f"{name}, {stage}", system)
            for stage in (AFTER, ANEW)
        )
        if after is not None and anew is not None:
            found[name] = max(after, LEAST) / max(anew, LEAST)
    return found


def _writers(results: Results, system: str) -> Iterator[list[str]]:
    ours, heap = (_figure(results, LIVE_WRITERS, P999, s) for s in (system, HEAP))
    if ours is not None and heap is not None:
        yield _line(f"{system}: writers: {P999}, ms", "", ours, 2 * heap + 2)
    lag = _figure(results, LIVE_WRITERS, LAG, system)
    if lag is not None:
        yield _line(f"{system}: writers: {LAG}, ms", "", lag, 100)


def _switch(results: Results, system: str) -> Iterator[list[str]]:
    """From heap and back: locks, the writers' latency, the room that it takes."""

    def figure(name: str) -> float | None:
        return _figure(results, SWITCH, name, system, SWITCH)

    for name in (ADOPT, BESIDE_ADOPT):
        if (value := figure(name)) is not None:
            yield _line(f"{system}: {name}, ms", "", value, 50, SWITCH)
    alone = figure(PERCENTILE.format("alone"))
    for command in ("merge", "release"):
        beside = figure(PERCENTILE.format(f"beside {command}"))
        if alone is not None and beside is not None:
            text = f"{system}: writers beside {command} / alone, 99th percentile"
            yield _line(text, "", beside / alone, 2, SWITCH)
        if (most := figure(PEAK.format(command))) is not None:
            text = f"{system}: {PEAK.format(command)}"
            yield _line(text, "", most, 1.15, SWITCH)


def bars(results: Results) -> list[list[str]]:
    """The lines of the systems of which there are figures."""
    lines = []
    for system in OURS:
        text = f"{system}: while written / 2.5 times fresh and 10 ms: worst"
        lines += _largest(text, _against_fresh(results, system), 1)
        if system == COLUMNS:
            shares = _against_heap(results, system, ANALYTIC)
            lines += _largest(f"{system}: while written / heap's: worst", shares, 1 / 3)
        ranges = _against_heap(results, system, (LIVE_INDEX,))
        lines += _largest(f"{system}: while written / heap's: worst", ranges, 2)
        size = _figure(results, LIVE, BYTES, system)
        if size is not None:
            lines.append(_line(f"{system}: {BYTES}", "", size, 2))
        lines += _writers(results, system)
        text = f"{system}: after the rest / loaded anew: worst"
        lines += _largest(text, _recovery(results, system), 1.2)
        lines += _switch(results, system)
    return lines
