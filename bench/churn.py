"""UPDATE and DELETE of an indexed table, and what a full compaction makes of it.

Heap and the systems of ours load the same rows into a table with the key indexes.
One row in 1,000, chosen at random, is deleted; the queries of those that compact are
compared with those of a table into which the same rows were freshly loaded. Then 1 %
of the rows is updated, and 1 % deleted, a few times, the systems taking turns. Those
that compact do so to the end, and are compared with a fresh table once more.
"""

from __future__ import annotations

from bench.dataset import Dataset, Query
from bench.engines import PostgresEngine
from bench.lab import Lab
from bench.load import MB, create_table, digest, prewarm, timed_cell
from bench.measure import measure, turns
from bench.progress import progress
from bench.results import OK, Cell
from bench.sections import DELETED, SPRINKLED
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
        self.sprinkled: dict[str, PostgresEngine] = {}

    @staticmethod
    def _compacting(lab: Lab) -> list[System]:
        return [system for system in lab.keyed if system.compact]

    def _cell(self, lab: Lab, name: str, system: str, unit: str) -> Cell:
        return lab.results.add(Cell(self.dataset.name, SECTION, name, system, unit))

    def _load(
        self, engine: PostgresEngine, system: System, schema: str, source: str
    ) -> None:
        dataset = self.dataset
        create_table(engine, system, dataset, f"{schema}.{dataset.name}")
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

    def _fresh(self, lab: Lab, system: System) -> PostgresEngine:
        """Load the rows that are left anew, beside the changed table."""
        engine = _own(lab, self.dataset, system, FRESH)
        self._load(engine, system, FRESH, f"{CHURNED}.{self.dataset.name}")
        self._settle(engine)
        return engine

    def load(self, lab: Lab) -> None:
        """Load the tables, delete some rows."""
        name = self.dataset.name
        for system in lab.keyed:
            lab.engine(self.dataset, system).rows(f"CREATE SCHEMA {CHURNED}")
            lab.engine(self.dataset, system).rows(f"CREATE SCHEMA {FRESH}")
            engine = _own(lab, self.dataset, system, CHURNED)
            self.engines[system.name] = engine
            self._load(engine, system, CHURNED, f"public.{name}")
            self._settle(engine)
            engine.rows(
                f"DELETE FROM {name} WHERE"
                f" hashint8extended(({self.dataset.residue})::bigint, 78) % 1000 = 0"
            )
            engine.rows(f"ANALYZE {name}")
            progress(f"{name}: table to be changed: {system.name}")
        for system in self._compacting(lab):
            self.sprinkled[system.name] = self._fresh(lab, system)
            lab.results.systems.append(system.name + DELETED)

    def query_sprinkled(self, lab: Lab, query: Query) -> list[Cell]:
        """Measure one query on fresh tables and on those with deleted rows."""
        engines = {HEAP: self.engines[HEAP]}
        for name, fresh in self.sprinkled.items():
            engines[name] = fresh
            engines[name + DELETED] = self.engines[name]
        return self._measure(lab, query, engines, SPRINKLED)

    def change(self, lab: Lab) -> None:
        """UPDATE and DELETE."""
        name = self.dataset.name
        for label, sql, first in (
            ("UPDATE of 1 %", f"UPDATE {name} SET {self.dataset.update}", 0),
            ("DELETE of 1 %", f"DELETE FROM {name}", 50),
        ):
            cells = {s.name: self._cell(lab, label, s.name, "ms") for s in lab.keyed}
            for number in range(lab.config.load_runs):
                for system in turns(number, lab.keyed):
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
        for system in self._compacting(lab):
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
            self.sprinkled.pop(system.name).close()
            self.engines[system.name] = self._fresh(lab, system)
            self.engines[system.name + COMPACTED] = engine
            lab.results.systems.append(system.name + COMPACTED)
        for name, engine in self.engines.items():
            ((size,),) = engine.rows(f"SELECT pg_table_size('{self.dataset.name}')")
            self._cell(lab, "table", name, "MB").samples.append(size / MB)

    def _measure(
        self, lab: Lab, query: Query, engines: dict[str, PostgresEngine], section: str
    ) -> list[Cell]:
        cells = measure(query, engines, lab.config, self.dataset.name, section)
        for cell in cells:
            lab.results.add(cell)
        return cells

    def query(self, lab: Lab, query: Query) -> list[Cell]:
        """Measure one query on all of them."""
        return self._measure(lab, query, self.engines, SECTION)

    def check(self, lab: Lab) -> list[Cell]:
        """Compare every row, as a query."""
        return self.query(lab, digest(self.dataset.name))

    def discard(self) -> None:
        """Close the connections."""
        for engine in (*self.engines.values(), *self.sprinkled.values()):
            engine.close()
        self.engines.clear()
        self.sprinkled.clear()
