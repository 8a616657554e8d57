"""Charts as people publish them: one group of bars per query, lines over time.

No chart is wider than 1,600 pixels: groups that do not fit go into rows below.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from bench.report import CAPTIONS, caption
from bench.results import Results
from bench.sections import OVER_TIME

WIDTH = 0.8  # of a group, where the distance of groups is 1
DPI = 120
WIDEST = 1600 / DPI  # inches
HEIGHT = 4.5


def draw(results: Results, folder: Path) -> list[Path]:
    """A PNG and an SVG per section of queries, and of the sizes, and one per
    data set of the figures over time; returns the PNGs' paths. Times are on a
    logarithmic axis."""
    charts = []
    timed: dict[str, list[str]] = {}
    for dataset, section in results.sections():
        if section.endswith(OVER_TIME):
            timed.setdefault(dataset, []).append(section)
            continue
        if section in CAPTIONS and section != "size":
            continue
        stem = f"{dataset}-{section}".replace(",", "").replace(" ", "-")
        path = folder / f"{stem}.png"
        _bars(results, dataset, section, path)
        charts.append(path)
    for dataset, sections in timed.items():
        path = folder / f"{dataset}-over-time.png"
        _lines(results, dataset, sections, path)
        charts.append(path)
    return charts


def _systems(results: Results, rows: dict) -> list[str]:
    return [
        name
        for name in results.systems
        if any(name in cells for cells in rows.values())
    ]


def _save(chart: Figure, path: Path) -> None:
    chart.tight_layout()
    chart.savefig(path, dpi=DPI)
    chart.savefig(path.with_suffix(".svg"))


def _bars(results: Results, dataset: str, section: str, path: Path) -> None:
    rows = results.table(dataset, section)
    systems = _systems(results, rows)
    group = 0.25 * (len(systems) + 1)
    fitting = max(1, int(WIDEST / group))
    panels = -(-len(rows) // fitting)
    each = -(-len(rows) // panels)
    chart = Figure(figsize=(min(WIDEST, max(6, group * each)), HEIGHT * panels))
    units = {cell.unit for cells in rows.values() for cell in cells.values()}
    for number, axes in enumerate(
        chart.subplots(panels, squeeze=False, sharey=True)[:, 0]
    ):
        names = list(rows)[number * each : (number + 1) * each]
        _groups(axes, {name: rows[name] for name in names}, systems, section)
        axes.set_xlim(-0.6, each - 0.4)
        axes.set_ylabel(", ".join(sorted(units)) + ", median")
        if number == 0:
            axes.set_title(caption(dataset, section))
            axes.legend(fontsize="small")
    _save(chart, path)


def _groups(axes, rows: dict, systems: list[str], section: str) -> None:
    bar = WIDTH / max(1, len(systems))
    for number, system in enumerate(systems):
        points = [
            (group + (number - (len(systems) - 1) / 2) * bar, cell.median)
            for group, cells in enumerate(rows.values())
            if (cell := cells.get(system)) and cell.median is not None
        ]
        axes.bar(
            [x for x, _ in points],
            [value for _, value in points],
            width=bar,
            label=system,
        )
    if section != "size":
        axes.set_yscale("log")
    axes.set_xticks(range(len(rows)), list(rows))
    axes.grid(axis="y", linewidth=0.3)
    axes.set_axisbelow(True)


def _lines(results: Results, dataset: str, sections: list[str], path: Path) -> None:
    """A panel per section; the rows' names begin with seconds."""
    height = -(-len(sections) // 2)
    chart = Figure(figsize=(10, 2.8 * height))
    panels = chart.subplots(height, 2, squeeze=False).flatten()
    for axes in panels[len(sections) :]:
        axes.set_visible(False)
    for section, axes in zip(sections, panels, strict=False):
        rows = results.table(dataset, section)
        for system in _systems(results, rows):
            points = [
                (float(name.split()[0]), cell.median)
                for name, cells in rows.items()
                if (cell := cells.get(system)) and cell.median is not None
            ]
            points.sort()
            axes.plot(*zip(*points, strict=True), marker=".", label=system)
        units = {cell.unit for cells in rows.values() for cell in cells.values()}
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.tick_params(labelsize="small", which="both")
        axes.set_xlabel("seconds", fontsize="small")
        axes.set_ylabel(", ".join(sorted(units)))
        axes.set_title(caption(dataset, section), fontsize="small")
        axes.grid(linewidth=0.3)
    panels[0].legend(fontsize="small")
    _save(chart, path)
