"""Charts: bars of ratios to heap, and lines over time.

Bars lie, so that names and values can be read on a narrow screen and in print:
to the right of 1 is better than heap (of documents: than jsonb), whatever the
unit. The axis is logarithmic; a system has the same colour in all charts, and
heap with other indexes than usual has colours of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from bench import verdict
from bench.config import SUMMARY
from bench.report import CAPTIONS, caption, chart_name, figure
from bench.results import Cell, Results
from bench.sections import JSONB, OVER_TIME, ZSON
from bench.systems import DUCKDB, HEAP

DPI = 150
WIDTH = 7.0  # inches, of all charts
BAR = 0.19  # inches, of a bar
FONT = 8
COLOURS = {
    HEAP: "#444444",
    "colcompress": "#0072b2",
    "rowcompress": "#d55e00",
    "rowcompress_lz4": "#e69f00",
    "sorted_heap": "#009e73",
    DUCKDB: "#999999",
    ZSON: "#cc79a7",
    JSONB: "#666666",
}
OTHERS = ("#56b4e9", "#b8a000", "#7a5195", "#8c564b", "#17becf")

Rows = dict[str, dict[str, float]]


def draw(results: Results, folder: Path) -> list[Path]:
    """A PNG and an SVG of the verdict, of each section of queries and of sizes,
    and of each data set's figures over time; returns the PNGs' paths."""
    charts = []
    timed: dict[str, list[str]] = {}
    rows = verdict.means(results, HEAP) | verdict.means(results, JSONB)
    if rows:
        title = "Times better than heap (JSON documents: than jsonb)"
        charts.append(_bars(results, rows, title, verdict.short, folder / SUMMARY))
    for dataset, section in results.sections():
        if section.endswith(OVER_TIME):
            timed.setdefault(dataset, []).append(section)
        elif section not in CAPTIONS or section == "size":
            charts += _section(results, dataset, section, folder)
    for dataset, sections in timed.items():
        charts.append(_lines(results, dataset, sections, folder))
    return charts


def _colour(results: Results, system: str) -> str:
    strangers = [name for name in results.systems if name not in COLOURS]
    known = COLOURS.get(system)
    if not known and not system.startswith(f"{HEAP},"):
        known = COLOURS.get(system.split(",")[0])
    return known or OTHERS[strangers.index(system) % len(OTHERS)]


def _save(chart: Figure, path: Path) -> Path:
    chart.savefig(path.with_suffix(".png"), dpi=DPI)
    chart.savefig(path.with_suffix(".svg"))
    return path.with_suffix(".png")


def _section(results: Results, dataset: str, section: str, folder: Path) -> list[Path]:
    """A section's ratios; none where there is nothing to compare with."""
    rows: Rows = {}
    than = HEAP
    cells: dict[tuple[str, str], Cell] = {}
    for name, found in results.table(dataset, section).items():
        base = found.get(HEAP) or found.get(JSONB)
        than = base.system if base else than
        for system, cell in found.items():
            value = None if cell is base else verdict.better(cell, base)
            if value is not None:
                rows.setdefault(name, {})[system] = value
                cells[name, system] = cell
    if not rows:
        return []
    title = (
        f"{caption(dataset, section).split(': median')[0]}: times better than {than}"
    )

    def label(value: float, name: str = "", system: str = "") -> str:
        cell = cells[name, system]
        return f"{verdict.short(value)} ({figure(cell.median)} {cell.unit})"

    return [_bars(results, rows, title, label, folder / chart_name(dataset, section))]


def _bars(
    results: Results, rows: Rows, title: str, label: Callable[..., str], path: Path
) -> Path:
    """Groups of bars, one below the other, with their values; 1 is the base."""
    systems = [s for s in results.systems if any(s in found for found in rows.values())]
    places, y = [], 0.0
    values = [value for found in rows.values() for value in found.values()]
    chart = Figure(
        figsize=(WIDTH, 1.3 + BAR * (len(values) + 0.8 * len(rows))),
        layout="constrained",
    )
    axes = chart.subplots()
    shown: dict[str, object] = {}
    for name, found in rows.items():
        first = y
        for system in (s for s in systems if s in found):
            value = found[system]
            shown[system] = axes.barh(
                y,
                value - 1,
                left=1,
                height=0.85,
                color=_colour(results, system),
                alpha=0.55 if "," in system else 1,
            )
            text = label(value) if path.stem == SUMMARY else label(value, name, system)
            axes.annotate(
                f" {text} ",
                (max(value, 1), y),
                va="center",
                fontsize=FONT - 1,
            )
            y += 1
        places.append((first + y - 1) / 2)
        y += 0.8
    axes.set_xscale("log")
    low, high = min(values + [1]), max(values + [1])
    axes.set_xlim(low / 1.3, high * (high / low) ** 0.25 * 1.3)
    axes.axvline(1, color=COLOURS[HEAP], linewidth=1)
    axes.set_yticks(places, [_wrapped(name) for name in rows])
    axes.set_ylim(y, -1)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.tick_params(labelsize=FONT, which="both", axis="both", length=2)
    axes.tick_params(which="minor", labelbottom=high / low < 8)
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.grid(axis="x", linewidth=0.3)
    axes.set_axisbelow(True)
    chart.suptitle(title, fontsize=FONT + 2)
    chart.legend(
        list(shown.values()),
        list(shown),
        loc="outside right upper",
        fontsize=FONT,
        frameon=False,
    )
    return _save(chart, path)


def _wrapped(name: str, width: int = 24) -> str:
    """A name in lines that leave room for the bars."""
    lines = [""]
    for word in name.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def _lines(results: Results, dataset: str, sections: list[str], folder: Path) -> Path:
    """A panel per section; the rows' names begin with seconds."""
    chart = Figure(figsize=(WIDTH, 2.2 * len(sections)), layout="constrained")
    drawn: dict[str, object] = {}
    for section, axes in zip(
        sections, chart.subplots(len(sections), squeeze=False)[:, 0], strict=True
    ):
        rows = results.table(dataset, section)
        for system in results.systems:
            points = sorted(
                (float(name.split()[0]), cell.median)
                for name, cells in rows.items()
                if (cell := cells.get(system)) and cell.median is not None
            )
            if points:
                (drawn[system],) = axes.plot(
                    *zip(*points, strict=True),
                    marker=".",
                    color=_colour(results, system),
                )
        units = {cell.unit for cells in rows.values() for cell in cells.values()}
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.tick_params(labelsize=FONT - 1, which="both")
        axes.set_xlabel("seconds", fontsize=FONT)
        axes.set_ylabel(", ".join(sorted(units)), fontsize=FONT)
        axes.set_title(caption(dataset, section), fontsize=FONT)
        axes.grid(linewidth=0.3)
    chart.legend(
        list(drawn.values()),
        list(drawn),
        loc="outside right upper",
        fontsize=FONT,
        frameon=False,
    )
    return _save(chart, folder / f"{dataset}-over-time")
