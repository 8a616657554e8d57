"""A run of ClickBench in the form that its public site takes: one file per system."""

from __future__ import annotations

import json
from pathlib import Path

from bench.results import OK, Cell, Results
from bench.sections import CLICKBENCH, COLD, HOT
from bench.systems import DUCKDB, HEAP

HOT_RUNS = 2  # that the site shows, after the cold one


def _seconds(cell: Cell | None, number: int) -> float | None:
    """A round's seconds; None where there is none."""
    if cell is None or cell.status != OK or number >= len(cell.samples):
        return None
    return round(cell.samples[number] / 1000, 4)


def _sum(results: Results, section: str, system: str) -> float:
    cells = [c.get(system) for c in results.table(CLICKBENCH, section).values()]
    return sum(
        cell.median
        for cell in cells
        if cell and cell.median is not None and cell.name != "all rows read"
    )


def _title(system: str) -> str:
    if system == DUCKDB:
        return "DuckDB"
    return "PostgreSQL" if system == HEAP else f"PostgreSQL ({system})"


def entries(results: Results, date: str) -> dict[str, dict]:
    """The site's entry of each system that was measured."""
    cold, hot = (results.table(CLICKBENCH, section) for section in (COLD, HOT))
    found = {}
    for system in results.systems:
        if not any(system in cells for cells in cold.values()):
            continue
        rows = [
            [
                _seconds(cold[name].get(system), 0),
                *(
                    _seconds(hot.get(name, {}).get(system), number)
                    for number in range(HOT_RUNS)
                ),
            ]
            for name in cold
        ]
        column = system not in (HEAP, "sorted_heap")
        found[system] = {
            "system": _title(system),
            "date": date,
            "machine": results.meta.get("machine", ""),
            "cluster_size": 1,
            "proprietary": "no",
            "hardware": "cpu",
            "tuned": "no",
            "comment": f"{results.meta.get('run', {}).get('rows', '?')} rows, serial",
            "tags": ["C", "column-oriented" if column else "row-oriented"],
            "load_time": round(_sum(results, "load", system), 3),
            "data_size": round(_sum(results, "size", system) * 1e6),
            "result": rows,
        }
    return found


def write(results: Results, folder: Path, date: str) -> None:
    """A file per system, where ClickBench was measured."""
    for system, entry in entries(results, date).items():
        path = folder / f"{CLICKBENCH}-{system}.json"
        path.write_text(json.dumps(entry, indent=1) + "\n")
