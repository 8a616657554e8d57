"""Loading the systems: times, indexes, sizes, and that all rows arrived."""

from __future__ import annotations

from bench.compare import Mismatch, compare
from bench.dataset import Dataset, Index, Query
from bench.duck import DuckDBEngine
from bench.engines import PostgresEngine, QueryFailed, QueryTimeout
from bench.lab import Lab
from bench.measure import turns
from bench.progress import progress
from bench.results import ERROR, TIMEOUT, WRONG, Cell
from bench.systems import HEAP, System

MB = 1_000_000


def digest(table: str) -> Query:
    """A query whose result differs when any value of any row does: the
    number of rows and the sum of a 64-bit hash of each row's text."""
    return Query(
        "all rows",
        "SELECT count(*), sum(hashtextextended(r::text, 0)::numeric)"
        f" FROM {table} AS r",
    )


def create_table(
    engine: PostgresEngine, system: System, dataset: Dataset, table: str
) -> None:
    """Make the empty table anew in the system's access method, and prepare it."""
    engine.rows(f"DROP TABLE IF EXISTS {table}")
    engine.rows(f"CREATE TABLE {table} ({dataset.ddl}) USING {system.am}")
    for statement in system.prepare_sql(dataset, table):
        engine.rows(statement)


def timed_cell(cell: Cell, engine, sql: str, timeout: float) -> float | None:
    """Run `sql`; seconds it took, or None with the cell's status saying why."""
    try:
        _, elapsed = engine.timed(sql, timeout)
    except QueryTimeout as reason:
        cell.status, cell.note = TIMEOUT, str(reason)
    except QueryFailed as reason:
        cell.status, cell.note = ERROR, str(reason)
    else:
        return elapsed / 1000
    return None


def load_rounds(lab: Lab, dataset: Dataset) -> None:
    """INSERT ... SELECT into tables without indexes, the systems taking
    turns; the tables of the last round stay. DuckDB loads the CSV file.

    `base` is in `dataset.order`, so a plain INSERT ... SELECT is a load in
    that order.
    """
    cells = {
        system.name: lab.results.add(
            Cell(dataset.name, "load", "INSERT ... SELECT", system.name, "s")
        )
        for system in lab.systems
    }
    for number in range(lab.config.load_runs):
        for system in turns(number, lab.systems):
            cell = cells[system.name]
            seconds = _load_once(lab, dataset, system, cell)
            if seconds is not None:
                cell.samples.append(seconds)
                progress(
                    f"{dataset.name}: load {number + 1} of"
                    f" {lab.config.load_runs}: {system.name} {seconds:.2f} s"
                )
            else:
                progress(f"{dataset.name}: load: {system.name} {cell.note}")


def _load_once(lab: Lab, dataset: Dataset, system: System, cell: Cell) -> float | None:
    engine = lab.engine(dataset, system)
    if isinstance(engine, DuckDBEngine):
        engine.start_anew()
        engine.mode(0)
        engine.timed(f"CREATE TABLE {dataset.name} ({dataset.duckdb_ddl})", 60)
        sql = dataset.duckdb_load(str(lab.csv(dataset)))
    else:
        create_table(engine, system, dataset, dataset.name)
        engine.rows("CHECKPOINT")
        sql = f"INSERT INTO {dataset.name} SELECT * FROM base"
    return timed_cell(cell, engine, sql, lab.config.load_timeout)


def check_rows(
    lab: Lab,
    dataset: Dataset,
    table: str,
    section: str,
    name: str,
    systems: list[System] | None = None,
) -> None:
    """Compare each system's whole table with heap's; a cell with the seconds
    of reading it all as text, WRONG where a value differs. Without `systems`
    all of PostgreSQL; heap must be the first."""
    query = digest(table)
    expected = None
    for system in systems or lab.postgres:
        cell = lab.results.add(Cell(dataset.name, section, name, system.name, "s"))
        try:
            result, elapsed = lab.engine(dataset, system).timed(
                query.sql, lab.config.load_timeout
            )
        except (QueryFailed, QueryTimeout) as reason:
            cell.status, cell.note = ERROR, str(reason)
            continue
        cell.samples.append(elapsed / 1000)
        if system.name == HEAP:
            expected = result
        elif expected is not None:
            try:
                compare(query, expected, result)
            except Mismatch as difference:
                cell.status, cell.note = WRONG, str(difference)
        progress(f"{dataset.name}: {name}: {system.name} {cell.status}")


def build_indexes(
    lab: Lab,
    dataset: Dataset,
    system: System,
    indexes: tuple[Index, ...],
    label: str,
) -> None:
    """Make the indexes, one cell per system with the seconds of them all."""
    engine = lab.engine(dataset, system)
    existing = engine.rows(
        "SELECT pg_get_indexdef(indexrelid) FROM pg_index"
        f" WHERE indrelid = '{dataset.name}'::regclass"
    )
    wanted = [
        index
        for index in indexes
        if not any(text.endswith(index.spec) for (text,) in existing)
    ]
    if not wanted:
        return
    cell = lab.results.add(Cell(dataset.name, "load", label, system.name, "s"))
    total = 0.0
    for index in wanted:
        seconds = timed_cell(
            cell, engine, index.create(dataset.name), lab.config.load_timeout
        )
        if seconds is None:
            return
        total += seconds
    cell.samples.append(total)
    progress(f"{dataset.name}: {label}: {system.name} {total:.2f} s")


def settle(lab: Lab, dataset: Dataset, system: System) -> None:
    """VACUUM ANALYZE the loaded table and read it into shared buffers."""
    engine = lab.engine(dataset, system)
    if not system.postgres:
        return
    engine.rows(f"VACUUM (ANALYZE) {dataset.name}")
    engine.rows("CHECKPOINT")
    prewarm(engine, dataset.name)


def prewarm(engine: PostgresEngine, table: str) -> None:
    """Read table, TOAST table and indexes into shared buffers."""
    engine.rows(
        "WITH heap AS (SELECT oid, reltoastrelid FROM pg_class"
        f" WHERE oid = '{table}'::regclass), data AS ("
        "SELECT oid FROM heap UNION ALL SELECT reltoastrelid FROM heap"
        " WHERE reltoastrelid <> 0) "
        "SELECT sum(pg_prewarm(r)) FROM (SELECT oid::regclass FROM data"
        " UNION ALL SELECT indexrelid::regclass FROM pg_index"
        " WHERE indrelid IN (SELECT oid FROM data)) AS x(r)"
    )


def sizes(lab: Lab, dataset: Dataset) -> None:
    """Cells of the tables' and the indexes' sizes, in MB of 10^6 bytes."""
    for system in lab.systems:
        engine = lab.engine(dataset, system)
        if not system.postgres:
            figures = {"table": engine.size()}
        else:
            ((table, indexes),) = engine.rows(
                f"SELECT pg_table_size('{dataset.name}'),"
                f" pg_indexes_size('{dataset.name}')"
            )
            figures = {"table": table, "indexes": indexes}
        for name, size in figures.items():
            lab.results.add(
                Cell(dataset.name, "size", name, system.name, "MB", [size / MB])
            )


def parts(lab: Lab, dataset: Dataset) -> None:
    """Sizes by column of the systems that can tell."""
    for system in lab.postgres:
        if system.parts is None:
            continue
        sql = system.parts.format(table=dataset.name)
        for column, encoding, size in lab.engine(dataset, system).rows(sql):
            lab.results.parts.append(
                {
                    "dataset": dataset.name,
                    "system": system.name,
                    "column": column,
                    "encoding": encoding,
                    "bytes": int(size),
                }
            )
