"""What a run found out, in one place, ready to be reported."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field, fields
from typing import Any

OK = "ok"
TIMEOUT = "timeout"
ERROR = "error"
WRONG = "wrong"
NOT_MEASURED = "not measured"


@dataclass
class Cell:
    """One figure: a system at a query, a load, a write.

    dataset, section   which table, and which part of the report
    name               the query's or measure's name: the row of the report
    system             the column of the report
    samples            one figure per round, in `unit`
    unit               "ms", "s", "MB", "rows/s", "TPS", "bytes", "instructions"
    status             OK, TIMEOUT, ERROR, WRONG or NOT_MEASURED (the machine
                       lacks what it takes); only OK has a figure
    note               the error's or mismatch's message
    """

    dataset: str
    section: str
    name: str
    system: str
    unit: str
    samples: list[float] = field(default_factory=list)
    status: str = OK
    note: str = ""

    @property
    def median(self) -> float | None:
        """Median of the samples; None where there is no valid figure."""
        if self.status != OK or not self.samples:
            return None
        return statistics.median(self.samples)


@dataclass
class Results:
    """Everything a run measured.

    meta      versions, settings, machine
    systems   names in the order of the report's columns
    cells     all figures, in the order they were taken
    parts     size by column: dicts of dataset, system, column, encoding, bytes
    texts     what the report quotes: lists of (title, SQL)
    """

    meta: dict[str, Any] = field(default_factory=dict)
    systems: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, cell: Cell) -> Cell:
        """Keep a figure."""
        self.cells.append(cell)
        return cell

    def clear(self) -> None:
        """Forget what was measured."""
        self.cells.clear()
        self.parts.clear()
        self.texts.clear()

    def sections(self) -> list[tuple[str, str]]:
        """(dataset, section) pairs in the order they first appeared."""
        return list(dict.fromkeys((cell.dataset, cell.section) for cell in self.cells))

    def table(self, dataset: str, section: str) -> dict[str, dict[str, Cell]]:
        """The section's cells by name, then by system."""
        rows: dict[str, dict[str, Cell]] = {}
        for cell in self.cells:
            if (cell.dataset, cell.section) == (dataset, section):
                rows.setdefault(cell.name, {})[cell.system] = cell
        return rows

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Results:
        """What as_dict() gave; without texts."""
        known = {item.name for item in fields(Cell)}
        cells = [
            Cell(**{key: value for key, value in cell.items() if key in known})
            for cell in found["cells"]
        ]
        return cls(found["meta"], found["systems"], cells, found["parts"])

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "meta": self.meta,
            "systems": self.systems,
            "cells": [asdict(cell) | {"median": cell.median} for cell in self.cells],
            "parts": self.parts,
        }
