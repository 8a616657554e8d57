"""Charts as people publish them: one group of bars per query."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from bench.report import CAPTIONS, caption
from bench.results import Results

WIDTH = 0.8  # of a group, where the distance of groups is 1


def draw(results: Results, folder: Path) -> list[Path]:
    """A PNG and an SVG per section of queries, and of the sizes; returns the
    PNGs' paths. Times are on a logarithmic axis."""
    charts = []
    for dataset, section in results.sections():
        if section in CAPTIONS and section != "size":
            continue
        stem = f"{dataset}-{section}".replace(",", "").replace(" ", "-")
        path = folder / f"{stem}.png"
        _bars(results, dataset, section, path)
        charts.append(path)
    return charts


def _bars(results: Results, dataset: str, section: str, path: Path) -> None:
    rows = results.table(dataset, section)
    systems = [
        name
        for name in results.systems
        if any(name in cells for cells in rows.values())
    ]
    bar = WIDTH / max(1, len(systems))
    chart = Figure(figsize=(max(6, 0.25 * len(rows) * (len(systems) + 1)), 4.5))
    axes = chart.subplots()
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
    units = {cell.unit for cells in rows.values() for cell in cells.values()}
    axes.set_ylabel(", ".join(sorted(units)) + ", median")
    axes.set_xticks(range(len(rows)), list(rows))
    axes.set_title(caption(dataset, section))
    axes.grid(axis="y", linewidth=0.3)
    axes.set_axisbelow(True)
    axes.legend(fontsize="small")
    chart.tight_layout()
    chart.savefig(path, dpi=120)
    chart.savefig(path.with_suffix(".svg"))
