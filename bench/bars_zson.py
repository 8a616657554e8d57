"""What zson is to reach, and what a run found: lines of bars.py's table."""

from __future__ import annotations

from collections.abc import Iterator

from bench.results import Results
from bench.sections import (
    BYTES,
    EXCESS,
    JSONB,
    JSONB_LZ4,
    KEY_BY_ID,
    LIMITED,
    MEMORY,
    OF_LIMIT,
    PAGES,
    ZSON,
)

AS_THE_LIMIT = ("metadata", "github", "300 B", "1 KB")
LARGE = ("4 KB", "50 KB")
TABLES = {"metadata": 0.45, "github": 0.35}
STARVED = {"metadata": 1.5, "github": 2.0}
CLASSIC_BYTES = 200
MORE_BYTES = 2
MOST_MEMORY = 4 * 2**20


def _figure(
    results: Results, kind: str, section: str, name: str, system: str = ZSON
) -> float | None:
    cell = results.table(f"zson {kind}", section).get(name, {}).get(system)
    return cell.median if cell else None


def _ratio(
    results: Results, kind: str, section: str, name: str, other: str
) -> float | None:
    """zson's figure divided by the other system's."""
    ours = _figure(results, kind, section, name)
    theirs = _figure(results, kind, section, name, other)
    return ours / theirs if ours is not None and theirs else None


def _line(text: str, value: float | None, bar: float, least: bool = False):
    if value is None:
        return
    met = value >= bar if least else value <= bar
    limit = f"at least {bar:g}" if least else f"{bar:.4g}"
    yield [f"zson: {text}", "", f"{value:.2f}", limit, "yes" if met else "NO"]


def _sizes(results: Results, kind: str) -> Iterator[list[str]]:
    documents = "documents"
    if kind in AS_THE_LIMIT:
        found = _figure(results, kind, documents, OF_LIMIT)
        yield from _line(f"{kind}: {OF_LIMIT}", found, 1.2)
    if kind == "consul":
        found = _figure(results, kind, documents, BYTES)
        yield from _line(f"{kind}: {BYTES}", found, CLASSIC_BYTES)
    if kind in LARGE:
        found = _ratio(results, kind, documents, BYTES, JSONB_LZ4)
        yield from _line(f"{kind}: {BYTES} / lz4's", found, 0.5)
    found = _figure(results, kind, documents, EXCESS)
    yield from _line(f"{kind}: {EXCESS}", found, MORE_BYTES)
    if kind in TABLES:
        found = _ratio(results, kind, "size", "table", JSONB)
        yield from _line(f"{kind}: table / jsonb's", found, TABLES[kind])
    found = _figure(results, kind, documents, MEMORY)
    yield from _line(f"{kind}: {MEMORY}, bytes", found, MOST_MEMORY)


def _access(results: Results, kind: str) -> Iterator[list[str]]:
    for name in ("-> first", "-> last", "->> last", "-> absent", "@>"):
        bar = 1.0
        if name == "-> absent":
            bar = 1 / 1.2
        if kind in LARGE and name != "@>":
            bar = 1 / 3
        found = _ratio(results, kind, "access", name, JSONB)
        yield from _line(f"{kind}: time of {name} / jsonb's", found, bar)
    found = _ratio(results, kind, "documents", "COPY", JSONB)
    yield from _line(f"{kind}: COPY, rate / jsonb's", found, 0.8, least=True)


def _points(results: Results, kind: str) -> Iterator[list[str]]:
    section = KEY_BY_ID
    for name in results.table(f"zson {kind}", section):
        if name.endswith(PAGES):
            continue
        bar = 1.0
        if name.startswith(LIMITED):
            bar = STARVED[kind]
        found = _ratio(results, kind, section, name, JSONB)
        text = f"{kind}: one key by id, {name}: TPS / jsonb's"
        yield from _line(text, found, bar, least=True)


def bars(results: Results) -> list[list[str]]:
    """The lines of all kinds of which there are figures."""
    lines = []
    kinds = dict.fromkeys(
        cell.dataset.removeprefix("zson ")
        for cell in results.cells
        if cell.dataset.startswith("zson ")
    )
    for kind in kinds:
        lines += _sizes(results, kind)
        lines += _access(results, kind)
        lines += _points(results, kind)
    return lines
