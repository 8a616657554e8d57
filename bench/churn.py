"""UPDATE and DELETE of an indexed table, and what a full compaction makes of it.

Heap and the systems of ours load the same rows into a table with the key indexes.
1 % of the rows is updated, then 1 % deleted, a few times, the systems taking turns.
Those that compact then do so to the end; their size and queries are compared with
those of a table into which the same rows were freshly loaded.
"""

from __future__ import annotations

from bench.dataset import Dataset, Query
from bench.engines import PostgresEngine
from bench.lab import Lab
from bench.load import MB, create_table, digest, prewarm, timed_cell
from bench.measure import measure
from bench.progress import progress
from bench.results import OK, Cell
from bench.systems import HEAP, System

SECTION = "serial, compacted after change"
CHURNED = "churned"
FRESH = "fresh"
COMPACTED = ", compacted"


def _own(lab: Lab, dataset: Dataset, system: System, schema: str) -> PostgresEngine:
    """A connection of its own that finds the tables of one schema."""
    engine = PostgresEngine(lab.cluster.dsn(lab.database(dataset, system)))
    engine.mode(0)
    engine.configure(search_path=f"{schema}, public")
    return engine


class Churn:
    """The tables of a data set; each method is a step of the run."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.engines: dict[str, PostgresEngine] = {}

    def _cell(self, lab: Lab, name: str, system: str, unit: str) -> Cell:
        return lab.results.add(Cell(self.dataset.name, SECTION, name, system, unit))

    def _load(
        self, engine: PostgresEngine, system: System, schema: str, source: str
    ) -> None:
        dataset = self.dataset
        create_table(engine, system, dataset, f"{schema}.{dataset.name}")
        for statement in system.prepare_sql(dataset):
            engine.rows(statement)
        engine.rows(
            f"INSERT INTO {dataset.name} SELECT * FROM {source}"
            f" ORDER BY {dataset.order}"
        )
        for index in dataset.key_indexes:
            engine.rows(index.create(dataset.name))

    def _settle(self, engine: PostgresEngine) -> None:
        engine.rows(f"VACUUM (ANALYZE) {self.dataset.name}")
        engine.rows("CHECKPOINT")
        prewarm(engine, self.dataset.name)

    def change(self, lab: Lab) -> None:
        """Load, UPDATE and DELETE."""
        name = self.dataset.name
        for system in lab.keyed:
            lab.engine(self.dataset, system).rows(f"CREATE SCHEMA {CHURNED}")
            lab.engine(self.dataset, system).rows(f"CREATE SCHEMA {FRESH}")
            engine = _own(lab, self.dataset, system, CHURNED)
            self.engines[system.name] = engine
            self._load(engine, system, CHURNED, f"public.{name}")
            self._settle(engine)
        for label, sql, first in (
            ("UPDATE of 1 %", f"UPDATE {name} SET {self.dataset.update}", 0),
            ("DELETE of 1 %", f"DELETE FROM {name}", 50),
        ):
            cells = {s.name: self._cell(lab, label, s.name, "ms") for s in lab.keyed}
            for number in range(lab.config.load_runs):
                shift = number % len(lab.keyed)
                for system in lab.keyed[shift:] + lab.keyed[:shift]:
                    cell, engine = cells[system.name], self.engines[system.name]
                    where = f"({self.dataset.residue}) % 100 = {first + number}"
                    seconds = None
                    if cell.status == OK:
                        seconds = timed_cell(
                            cell, engine, f"{sql} WHERE {where}", lab.config.timeout
                        )
                    if seconds is not None:
                        cell.samples.append(seconds * 1000)
                    progress(f"{name}: {label}: {system.name}", cell.note)

    def compact(self, lab: Lab) -> None:
        """Compact to the end; load the same rows anew beside it."""
        for system in lab.keyed:
            if system.name == HEAP or system.compact is None:
                continue
            engine = self.engines[system.name]
            cell = self._cell(lab, "compaction", system.name + COMPACTED, "s")
            seconds = timed_cell(
                cell,
                engine,
                system.compact.format(table=self.dataset.name),
                lab.config.load_timeout,
            )
            if seconds is None:
                continue
            cell.samples.append(seconds)
            # twice: what the first frees, the second gives back
            self._settle(engine)
            self._settle(engine)
            fresh = _own(lab, self.dataset, system, FRESH)
            self._load(fresh, system, FRESH, f"{CHURNED}.{self.dataset.name}")
            self._settle(fresh)
            self.engines[system.name], self.engines[system.name + COMPACTED] = (
                fresh,
                engine,
            )
            lab.results.systems.append(system.name + COMPACTED)
        for name, engine in self.engines.items():
            ((size,),) = engine.rows(f"SELECT pg_table_size('{self.dataset.name}')")
            self._cell(lab, "table", name, "MB").samples.append(size / MB)

    def query(self, lab: Lab, query: Query) -> list[Cell]:
        """Measure one query on all of them."""
        cells = measure(query, self.engines, lab.config, self.dataset.name, SECTION)
        for cell in cells:
            lab.results.add(cell)
        return cells

    def check(self, lab: Lab) -> list[Cell]:
        """Compare every row, as a query."""
        return self.query(lab, digest(self.dataset.name))

    def discard(self) -> None:
        """Close the connections."""
        for engine in self.engines.values():
            engine.close()
        self.engines.clear()
