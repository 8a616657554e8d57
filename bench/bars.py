"""What each extension is to reach, and what a run found: one line per bar.

A bar whose figures a run did not take is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from bench import bars_live, bars_sql, bars_zson
from bench.events import EVENTS_DATA
from bench.flights import FLIGHTS_DATA
from bench.results import Results
from bench.sections import (
    CACHED,
    DELETED,
    DELTA,
    DOCUMENTS,
    PARALLEL,
    POINTS,
    SERIAL,
    SPRINKLED,
    STARVED,
    WITH_KEYS,
    WRITES,
)
from bench.systems import HEAP

OURS = "colcompress"
ROWS = "rowcompress"
ROWS_LZ4 = "rowcompress_lz4"
PEER = "duckdb"
FULL_ROWS = 1_000_000  # what the bar of the table's size is for
HEADER = ["bar", "worst", "figure", "bar", "met"]

Figures = dict[str, tuple[float, float]]

# Of rowcompress: queries without their own bar that are compared with heap's,
# the times heap's allowed by codec, and milliseconds allowed at FULL_ROWS: 25 us
# for each of some 2,000 and 6,000 batches visited, 60 us for all columns.
AGAINST_HEAP = ("Q2", "Q3", "Q4", "Q7", "Q9", "Q10")
CODECS = {ROWS: 2.0, ROWS_LZ4: 1.3}
BY_KEY = {"K1": 0.4, "K5": 2, "K7": 50, "K8": 150, "K7 rows": 120, "K8 rows": 360}

# Of sorted_heap: the names that bench.keyorder and bench.keyorder_online use,
# with the least share of btree's rate, and the times of CLUSTER allowed.
SORTED = "sorted"
SORTED_HEAP = "sorted_heap"
SORTED_STARVED = "a quarter of heap's table and btree in memory, TPS, prepared"
SORTED_WRITER = "latency of a writer at 1,000 TPS, 99.9th percentile"
SORTED_RATES = {
    "in order": {"point": 1, "narrow": 1, "medium": 1.2, "wide": 1.2},
    "5 % stray": {"": 0.95},
}
SORTED_TIMES = {
    "5 % stray: merge, or CLUSTER": 1,
    "random order: CLUSTER": 1.1,
    "random order: compact, or CLUSTER": 6,
}


def _pairs(
    results: Results, dataset: str, section: str, ours: str, other: str
) -> Figures:
    """Medians of two systems by query, of those that both have."""
    found = {}
    for name, cells in results.table(dataset, section).items():
        one, two = (cells.get(system) for system in (ours, other))
        if one and two and one.median is not None and two.median is not None:
            found[name] = (one.median, two.median)
    return found


def _only(figures: Figures, prefix: str) -> Figures:
    return {name: pair for name, pair in figures.items() if name.startswith(prefix)}


def _line(text: str, worst: str, value: float, bar: float) -> list[str]:
    return [text, worst, f"{value:.2f}", f"{bar:g}", "yes" if value <= bar else "NO"]


def _least(text: str, worst: str, value: float, bar: float) -> list[str]:
    met = "yes" if value >= bar else "NO"
    return [text, worst, f"{value:.2f}", f"at least {bar:g}", met]


def _mean(text: str, figures: Figures, bar: float, least: float) -> Iterator[list[str]]:
    """Geometric mean of the ratios; figures below `least` count as that."""
    if figures:
        logs = [math.log(max(a, least) / max(b, least)) for a, b in figures.values()]
        yield _line(f"{text}: geometric mean", "", math.exp(sum(logs) / len(logs)), bar)


def _worst(
    text: str, figures: Figures, bar: float, least: float = 0
) -> Iterator[list[str]]:
    """The worst ratio; where `bar` times the other is below `least` ms, that is
    what is allowed."""
    if figures:
        worst, value = max(
            ((name, a / max(b, least / bar, 1e-9)) for name, (a, b) in figures.items()),
            key=lambda item: item[1],
        )
        yield _line(f"{text}: worst", worst, value, bar)


def _parallel(results: Results, dataset: str) -> Iterator[list[str]]:
    """Against serial: 10 % or 1 ms more are allowed, as a share of what is."""
    serial = results.table(dataset, SERIAL)
    figures = {}
    for name, cells in results.table(dataset, PARALLEL).items():
        one, two = cells.get(OURS), serial.get(name, {}).get(OURS)
        if one and two and one.median is not None and two.median is not None:
            allowed = max(two.median * 1.1, two.median + 1)
            figures[name] = (one.median, allowed)
    yield from _worst(
        f"{dataset}: parallel / what serial allows (1.1 times or 1 ms more)", figures, 1
    )


def _load(results: Results, dataset: str) -> Iterator[list[str]]:
    load = _only(_pairs(results, dataset, "load", OURS, HEAP), "INSERT")
    yield from _worst(f"{dataset}: load / heap's", load, 1.5)
    table = results.table(dataset, "size").get("table", {}).get(OURS)
    rows = results.meta.get("run", {}).get("rows")
    if table and table.median is not None and rows == FULL_ROWS:
        yield _line(f"{dataset}: table, MB", "", table.median, 38)


def _rowcompress_keys(results: Results, dataset: str) -> Iterator[list[str]]:
    """What is allowed for a key by its indexes, in milliseconds."""
    for name, cells in results.table(dataset, WITH_KEYS).items():
        cell, allowed = cells.get(ROWS), BY_KEY.get(name)
        if allowed and cell and cell.median is not None:
            yield _line(f"{ROWS}: {dataset}: {name}, ms", "", cell.median, allowed)


def _rowcompress_rates(results: Results, dataset: str) -> Iterator[list[str]]:
    """Transactions per second against heap's."""
    for section, prefix, least in (
        (POINTS, CACHED, 0.5),
        (POINTS, STARVED, 1),
        (WRITES, "single-row INSERT", 0.8),
    ):
        figures = _only(_pairs(results, dataset, section, ROWS, HEAP), prefix)
        for name, (ours, heap) in figures.items():
            text = f"{ROWS}: {dataset}: {name}, TPS / heap's"
            yield _least(text, "", ours / heap, least)


def _rowcompress(results: Results, dataset: str) -> Iterator[list[str]]:
    """The bars of rowcompress; those in ms and MB hold for events of full size."""
    full = (
        dataset == EVENTS_DATA.name
        and results.meta.get("run", {}).get("rows") == FULL_ROWS
    )
    load = _only(_pairs(results, dataset, "load", ROWS, HEAP), "INSERT")
    yield from _worst(f"{ROWS}: {dataset}: load / heap's", load, 1.5)
    table = results.table(dataset, "size").get("table", {}).get(ROWS)
    if full and table and table.median is not None:
        yield _line(f"{ROWS}: {dataset}: table, MB", "", table.median, 72)
    for system, times in CODECS.items():
        pairs = _pairs(results, dataset, SERIAL, system, HEAP)
        if full and "Q1" in pairs:
            yield _line(f"{system}: {dataset}: Q1, ms", "", pairs["Q1"][0], 2)
        queries = {name: pairs[name] for name in AGAINST_HEAP if name in pairs}
        yield from _worst(f"{system}: {dataset}: serial / heap's", queries, times)
        pruned = {name: pairs[name] for name in ("Q5",) if name in pairs}
        yield from _worst(f"{system}: {dataset}: Q5 / heap's", pruned, 1)
    if full:
        yield from _rowcompress_keys(results, dataset)
    fetched = _pairs(results, dataset, DOCUMENTS, ROWS, HEAP)
    yield from _worst(
        f"{ROWS}: {dataset}: documents by key / heap's", fetched, 1.5, BY_KEY["K1"]
    )
    yield from _rowcompress_rates(results, dataset)


def _lowest(text: str, figures: Figures, least: float) -> Iterator[list[str]]:
    """The lowest ratio."""
    if figures:
        worst, value = min(
            ((name, ours / heap) for name, (ours, heap) in figures.items()),
            key=lambda item: item[1],
        )
        yield _least(f"{text}: lowest", worst, value, least)


def _sorted_rates(results: Results) -> Iterator[list[str]]:
    """Transactions per second against heap's with a btree."""
    for state, names in SORTED_RATES.items():
        for protocol in ("prepared", "simple"):
            section = f"{state}, TPS, {protocol}"
            figures = _pairs(results, SORTED, section, SORTED_HEAP, HEAP)
            for prefix, least in names.items():
                text = f"{SORTED_HEAP}: {section} / btree's"
                yield from _lowest(text, _only(figures, prefix), least)
    figures = _pairs(results, SORTED, SORTED_STARVED, SORTED_HEAP, HEAP)
    yield from _lowest(f"{SORTED_HEAP}: a quarter in memory, TPS", figures, 1.3)
    inserts = _only(_pairs(results, SORTED, "writes", SORTED_HEAP, HEAP), "INSERT")
    yield from _lowest(f"{SORTED_HEAP}: INSERT, rows/s / btree's", inserts, 1)


def _sorted_heap(results: Results) -> Iterator[list[str]]:
    """The bars of sorted_heap and zonemap."""
    for state in ("in order", "5 % stray"):
        read = _pairs(results, SORTED, f"{state}, buffers", SORTED_HEAP, HEAP)
        if "point" in read:
            text = f"{SORTED_HEAP}: {state}, point: buffers"
            yield _line(text, "", read["point"][0], 3)
            yield from _worst(f"{text} / btree's", _only(read, "point"), 1)
    yield from _sorted_rates(results)
    writes = _pairs(results, SORTED, "writes", SORTED_HEAP, HEAP)
    for name, times in SORTED_TIMES.items():
        yield from _worst(f"{SORTED_HEAP}: {name}", _only(writes, name), times)
    size = _pairs(results, SORTED, "size", SORTED_HEAP, HEAP)
    for state in SORTED_TIMES:
        table, index = (size.get(f"{part}, {state}") for part in ("table", "index"))
        if table and index:
            text = f"{SORTED_HEAP}: {state}"
            share = (table[0] + index[0]) / (table[1] + index[1])
            yield _line(f"{text}: size / heap and btree's", "", share, 0.75)
            yield _line(f"{text}: index / btree's", "", index[0] / index[1], 0.02)
    writer = results.table(SORTED, SORTED_WRITER)
    cells = [
        writer.get(name, {}).get(SORTED_HEAP)
        for name in ("alone", "beside compact() and VACUUM")
    ]
    if all(cell and cell.median is not None for cell in cells):
        alone, beside = (cell.median for cell in cells)
        text = f"{SORTED_HEAP}: writer beside compaction, 99.9th percentile, ms"
        yield _line(text, "", beside, max(100, 3 * alone))


def bars(results: Results) -> list[list[str]]:
    """All bars of which there are figures, the header first."""
    lines = [HEADER]
    found = {cell.dataset for cell in results.cells}
    for dataset in (EVENTS_DATA.name, FLIGHTS_DATA.name):
        if dataset not in found:
            continue
        peer = _pairs(results, dataset, SERIAL, OURS, PEER)
        queries = _only(peer, "Q")
        lines += _mean(f"{dataset}: serial / DuckDB's", queries, 1, 1)
        lines += _worst(f"{dataset}: serial / DuckDB's", queries, 2, 1)
        groups = {
            name: pair
            for name, pair in peer.items()
            if name in ("K9", "K10", "K11", "K12")
        }
        lines += _worst(f"{dataset}: K9 to K12 / DuckDB's", groups, 2, 1)
        heap = _only(_pairs(results, dataset, SERIAL, OURS, HEAP), "Q")
        lines += _worst(f"{dataset}: serial / heap's", heap, 1)
        lines += _load(results, dataset)
        lines += _parallel(results, dataset)
        aged = _pairs(results, dataset, DELTA, OURS, HEAP)
        lines += _mean(f"{dataset}: delta and deleted / heap's", aged, 0.35, 0)
        lines += _worst(f"{dataset}: delta and deleted / heap's", aged, 0.8)
        sprinkled = _pairs(results, dataset, SPRINKLED, OURS + DELETED, OURS)
        lines += _worst(f"{dataset}: 0.1 % deleted / fresh", sprinkled, 1.3)
        fetched = _pairs(results, dataset, DOCUMENTS, OURS, HEAP)
        lines += _worst(f"{dataset}: documents by key / heap's", fetched, 1.5)
        lines += _rowcompress(results, dataset)
    lines += _sorted_heap(results)
    for more in (bars_live, bars_sql, bars_zson):
        lines += more.bars(results)
    return lines
