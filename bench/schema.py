"""A data set of several tables: COPY, primary keys, sizes, every row compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench import asked
from bench.dataset import Dataset, Index
from bench.duck import DuckDBEngine
from bench.engines import Engine
from bench.lab import Lab
from bench.load import MB, check_rows, prewarm, timed_cell
from bench.measure import turns
from bench.progress import progress
from bench.results import OK, Cell
from bench.sqltext import Checked
from bench.systems import System

Make = Callable[[str, Callable[[Lab], None]], object]


@dataclass(frozen=True)
class Schema:
    """Tables that are loaded from CSV files, and queries of them all.

    name     the data set's
    tables   of each table its columns, as CREATE TABLE of all systems takes them;
             its primary key; foreign keys that do not begin the key
    """

    name: str
    tables: dict[str, tuple[str, str, tuple[str, ...]]]

    @property
    def data(self) -> Dataset:
        """What the laboratory knows of the data set: its name."""
        return Dataset(
            name=self.name,
            columns=(),
            duckdb=(),
            fill=lambda *args: None,
        )

    def load(self, lab: Lab, files: dict[str, Path]) -> None:
        """COPY of all tables from their files (with a header), the systems taking
        turns; keys; every row compared. The files are removed."""
        for system in lab.postgres:
            lab.create_database(self.data, system)
        copies = self._cells(lab, "COPY of all tables", lab.systems)
        for number in range(lab.config.load_runs):
            for system in turns(number, lab.systems):
                engine, cell = lab.engine(self.data, system), copies[system.name]
                self._create(engine, system)
                if cell.status == OK:
                    _sum(lab, cell, engine, _copy(files, system))
                progress(f"{self.name}: COPY: {system.name}", cell.note)
        for path in files.values():
            path.unlink()
        keys = self._cells(lab, "primary keys", lab.systems)
        for system in lab.systems:
            engine = lab.engine(self.data, system)
            _sum(lab, keys[system.name], engine, self._keys())
            if system.postgres:
                self._settle(lab, system)
            self._sizes(lab, system)
        for table in self.tables:
            check_rows(lab, self.data, table, "load", f"all rows of {table}")

    def foreign_indexes(self, lab: Lab) -> None:
        """Indexes on the foreign keys, of heap and the systems of ours."""
        cells = self._cells(lab, "foreign-key indexes", lab.keyed)
        for system in lab.keyed:
            engine = lab.engine(self.data, system)
            _sum(lab, cells[system.name], engine, self._foreign())
            self._settle(lab, system)

    def ask(
        self,
        make: Make,
        queries: list[Checked],
        section: str,
        workers: int = 0,
        keyed: bool = False,
    ) -> Iterator[object]:
        """Steps that measure the queries, `make` making each of its name and
        function; keyed: only the systems that got indexes on the foreign keys."""
        for one in queries:
            step = self._asking(one, section, workers, keyed)
            yield make(f"{self.name}-{section}-{one.query.name}", step)

    def _asking(
        self, one: Checked, section: str, workers: int, keyed: bool
    ) -> Callable[[Lab], None]:
        def run(lab: Lab) -> None:
            systems = lab.systems
            if keyed:  # and DuckDB without indexes, for what heap does not end in time
                systems = [s for s in lab.systems if s in lab.keyed or not s.postgres]
            asked.hot(lab, self.data, one, section, workers, systems)

        return run

    def discard(self, make: Make) -> object:
        """The step that drops everything."""
        return make(f"{self.name}-discard", lambda lab: lab.discard(self.data))

    def _create(self, engine: Engine, system: System) -> None:
        """The empty tables, anew."""
        if isinstance(engine, DuckDBEngine):
            engine.start_anew()
            engine.mode(0)
        for table, (columns, _, _) in self.tables.items():
            if system.postgres:
                engine.timed(f"DROP TABLE IF EXISTS {table}", 60)
            using = f" USING {system.am}" if system.postgres else ""
            engine.timed(f"CREATE TABLE {table} ({columns}){using}", 60)
            for statement in system.prepare:
                if "{order}" not in statement:
                    engine.timed(statement.format(table=table), 60)
        if system.postgres:
            engine.timed("CHECKPOINT", 600)

    def _keys(self) -> list[str]:
        return [
            Index(f"({key})", primary=True).create(table)
            for table, (_, key, _) in self.tables.items()
        ]

    def _foreign(self) -> list[str]:
        return [
            Index(f"btree ({key})").create(table)
            for table, (_, _, foreign) in self.tables.items()
            for key in foreign
        ]

    def _cells(self, lab: Lab, name: str, systems: list[System]) -> dict[str, Cell]:
        return {
            system.name: lab.results.add(
                Cell(self.name, "load", name, system.name, "s")
            )
            for system in systems
        }

    def _settle(self, lab: Lab, system: System) -> None:
        engine = lab.engine(self.data, system)
        for table in self.tables:
            engine.rows(f"VACUUM (ANALYZE) {table}")
        engine.rows("CHECKPOINT")
        for table in self.tables:
            prewarm(engine, table)

    def _sizes(self, lab: Lab, system: System) -> None:
        engine = lab.engine(self.data, system)
        if isinstance(engine, DuckDBEngine):
            figures = {"tables": engine.size()}
        else:
            listed = ", ".join(f"('{table}'::regclass)" for table in self.tables)
            ((tables, keys),) = engine.rows(
                "SELECT sum(pg_table_size(t)), sum(pg_indexes_size(t))"
                f" FROM (VALUES {listed}) AS v(t)"
            )
            figures = {"tables": int(tables), "primary keys": int(keys)}
        for name, size in figures.items():
            cell = Cell(self.name, "size", name, system.name, "MB", [size / MB])
            lab.results.add(cell)


def _sum(lab: Lab, cell: Cell, engine: Engine, statements: list[str]) -> None:
    """Add the seconds of all statements to the cell."""
    spent = []
    for sql in statements:
        seconds = timed_cell(cell, engine, sql, lab.config.load_timeout)
        if seconds is None:
            return
        spent.append(seconds)
    cell.samples.append(sum(spent))


def _copy(files: dict[str, Path], system: System) -> list[str]:
    form = "FORMAT csv, HEADER true" if system.postgres else "HEADER true"
    return [f"COPY {table} FROM '{path}' ({form})" for table, path in files.items()]
