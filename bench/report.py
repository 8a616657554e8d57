"""Tables for the terminal and Markdown, CSV and JSON files."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

from bench import verdict
from bench.bars import bars
from bench.config import SUMMARY
from bench.results import OK, Cell, Results
from bench.sections import JSONB, OVER_TIME
from bench.systems import HEAP
from bench.tables import markdown, plain

CAPTIONS = {
    "documents": "Documents",
    "live": "Before, while and after rows are written",
    "load": "Load, seconds (table without indexes; indexes apart)",
    "instructions": "Instructions per row, by callgrind (it knows no AVX-512: the kernels are those for AVX2)",
    "switch": "From heap and back, beside writers",
    "size": "Size, MB of 10^6 bytes",
    "writers": "Writers",
    "writes": "Write path",
}


def caption(dataset: str, section: str) -> str:
    """Title of a section's table."""
    text = CAPTIONS.get(section, f"Queries, {section}: median ms")
    if section.endswith(OVER_TIME):
        text = section[:1].upper() + section[1:]
    elif section.endswith("buffers"):
        text = f"Buffers per execution, {section.removesuffix(', buffers')}"
    elif ", TPS" in section:
        text = f"Transactions per second, {section.replace(', TPS', '')}"
    return f"{dataset}: {text}"


def chart_name(dataset: str, section: str) -> str:
    """Name of a section's chart, without its kind."""
    return f"{dataset}-{section}".replace(",", "").replace(" ", "-")


def figure(value: float) -> str:
    """A figure with three significant digits, no exponent."""
    if value == 0:
        return "0"
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    if value >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}"


def ratio(cell: Cell, heap: Cell | None) -> float | None:
    """The cell's figure divided by heap's; None where either has none."""
    if heap is None or not heap.median or cell.median is None:
        return None
    return cell.median / heap.median


def cell_text(cell: Cell | None, heap: Cell | None) -> str:
    """A cell as the tables show it: `12.3 (0.45)`, or why there is none."""
    if cell is None:
        return "-"
    if cell.status != OK:
        return cell.status.upper() if cell.status == "wrong" else cell.status
    if cell.median is None:
        return "-"
    text = figure(cell.median)
    against_heap = ratio(cell, heap)
    if cell.system in (HEAP, JSONB) or against_heap is None:
        return text
    return f"{text} ({against_heap:.2f})"


def table(results: Results, dataset: str, section: str) -> list[list[str]]:
    """The section's table as rows of text, the header first."""
    rows = results.table(dataset, section)
    systems = [
        name
        for name in results.systems
        if any(name in cells for cells in rows.values())
    ]
    units = {cell.unit for cells in rows.values() for cell in cells.values()}
    lines = [["", *systems]]
    for name, cells in rows.items():
        unit = next(iter(cells.values())).unit
        label = name if len(units) == 1 or not unit else f"{name}, {unit}"
        heap = cells.get(HEAP) or cells.get(JSONB)
        lines.append([label, *(cell_text(cells.get(s), heap) for s in systems)])
    return lines


def parts_table(results: Results, dataset: str, system: str) -> list[list[str]]:
    """Sizes by column of one system."""
    lines = [["column", "MB", "encodings"]]
    for part in results.parts:
        if (part["dataset"], part["system"]) == (dataset, system):
            lines.append(
                [
                    part["column"],
                    figure(part["bytes"] / 1e6),
                    part["encoding"] or "",
                ]
            )
    return lines


READING = (
    "In brackets: the figure divided by heap's (of documents: by jsonb's). For times and sizes less than"
    " 1 is better, for rates (rows/s, TPS) more than 1. `timeout`: cancelled"
    " at the statement timeout. `error`, `WRONG`: see Failures."
)


def _part_systems(results: Results) -> list[tuple[str, str]]:
    return list(
        dict.fromkeys((part["dataset"], part["system"]) for part in results.parts)
    )


def terminal(results: Results) -> str:
    """Everything as text."""
    blocks = [
        f"{caption(dataset, section)}\n{plain(table(results, dataset, section))}"
        for dataset, section in results.sections()
    ]
    for dataset, system in _part_systems(results):
        lines = plain(parts_table(results, dataset, system))
        blocks.append(f"{dataset}: {system} by column\n{lines}")
    if len(reached := bars(results)) > 1:
        blocks.append(plain(reached))
    blocks.append(READING.replace("`", ""))
    return "\n\n".join([*blocks, *verdict.blocks(results, plain)])


def failures(results: Results) -> list[str]:
    """One line per cell without a figure."""
    return [
        f"{cell.dataset}, {cell.section}, {cell.name}, {cell.system}:"
        f" {cell.status}: {cell.note}"
        for cell in results.cells
        if cell.status != OK
    ]


def document(results: Results, charts: list[Path]) -> str:
    """The Markdown report; `charts` lie beside it."""
    pictures = {chart.stem: f"![{chart.stem}]({chart.name})" for chart in charts}
    blocks = ["# Benchmark report", *verdict.blocks(results, markdown)]
    blocks += [pictures.pop(name) for name in list(pictures) if name == SUMMARY]
    blocks += [_meta(results), READING]
    for dataset, section in results.sections():
        blocks.append(f"## {caption(dataset, section)}")
        blocks.append(markdown(table(results, dataset, section)))
        if picture := pictures.pop(chart_name(dataset, section), ""):
            blocks.append(picture)
    for dataset, system in _part_systems(results):
        blocks.append(f"## {dataset}: {system} by column")
        blocks.append(markdown(parts_table(results, dataset, system)))
    if len(reached := bars(results)) > 1:
        blocks.append("## Bars")
        blocks.append(markdown(reached))
    failed = failures(results)
    if failed:
        blocks.append("## Failures")
        blocks.append("\n".join(f"- {line}" for line in failed))
    if pictures:
        blocks += ["## Over time", *pictures.values()]
    blocks.append("## Statements")
    blocks += [f"### {title}\n\n```sql\n{sql}\n```" for title, sql in results.texts]
    return "\n\n".join(blocks) + "\n"


def _meta(results: Results) -> str:
    return "\n".join(
        f"- {name}: {value}"
        if not isinstance(value, dict)
        else f"- {name}: " + ", ".join(f"{key} = {item}" for key, item in value.items())
        for name, value in results.meta.items()
    )


CSV_HEADER = (
    "dataset",
    "section",
    "name",
    "system",
    "unit",
    "round",
    "value",
    "status",
)


def write_csv(results: Results, path: Path) -> None:
    """One line per sample, and one for a cell without any."""
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(CSV_HEADER)
        for cell in results.cells:
            key = (
                cell.dataset,
                cell.section,
                cell.name,
                cell.system,
                cell.unit,
            )
            if not cell.samples:
                writer.writerow([*key, "", "", cell.status])
            for number, value in enumerate(cell.samples, 1):
                writer.writerow([*key, number, value, cell.status])


def write_json(results: Results, path: Path) -> None:
    """Versions, settings, and every cell with its samples and median."""
    path.write_text(json.dumps(results.as_dict(), indent=1) + "\n")


def overview(folder: Path) -> str:
    """The verdicts of the runs below a folder, as Markdown, with links to their
    reports."""
    blocks = ["# Benchmark, all data sets"]
    for path in sorted(folder.glob("*/latest/results.json")):
        results = Results.from_dict(json.loads(path.read_text()))
        name = path.parent.parent.name
        link = (path.parent / "report.md").relative_to(folder)
        blocks += [f"## {name}", *verdict.blocks(results, markdown)]
        blocks.append(f"[All of it]({link})")
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    (Path(sys.argv[1]) / "report.md").write_text(overview(Path(sys.argv[1])))
