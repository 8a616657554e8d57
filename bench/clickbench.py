"""ClickBench: its table and queries, from a checkout of it or a directory like it.

    postgresql/create.sql, queries.sql   or  create.sql, queries.sql
    duckdb/create.sql, queries.sql       or  duckdb_create.sql, duckdb_queries.sql
                                         (without them DuckDB takes PostgreSQL's)
    hits.py ROWS OUT.csv                 makes rows where there is no file of them

None of its text is part of this project. Every system loads the same CSV file, which
PostgreSQL wrote, by COPY. Each query runs cold, then hot as all queries do, then in
parallel.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench import asked
from bench.config import Config
from bench.dataset import Dataset
from bench.duck import DuckDBEngine
from bench.lab import Lab
from bench.load import MB, check_rows, prewarm, timed_cell
from bench.measure import turns
from bench.progress import progress
from bench.results import Cell
from bench.sections import CLICKBENCH, HOT, HOT_PARALLEL
from bench.sqltext import Checked, checked, columns, statements
from bench.systems import System

TABLE = "hits"
CHUNK = 1 << 20  # bytes of a COPY


def _text(directory: Path, *names: str) -> str | None:
    for name in names:
        if (directory / name).is_file():
            return (directory / name).read_text()
    return None


def dataset(
    directory: Path, hits: Path | None = None, scratch: Path = Path()
) -> Dataset:
    """The table of the directory's files; `fill` takes the first rows of the file
    `hits`, or of one that it has made in `scratch`."""
    create = _text(directory, "postgresql/create.sql", "create.sql")
    if create is None:
        raise ValueError(f"CLICKBENCH: {directory}: no create.sql")
    duck = _text(directory, "duckdb/create.sql", "duckdb_create.sql") or create
    return Dataset(
        name=CLICKBENCH,
        columns=columns(create),
        duckdb=columns(duck),
        fill=lambda *args: _fill(directory, hits, scratch, *args),
    )


def queries(directory: Path) -> list[Checked]:
    """The directory's queries, by their numbers from 0."""
    text = _text(directory, "postgresql/queries.sql", "queries.sql")
    if text is None:
        raise ValueError(f"CLICKBENCH: {directory}: no queries.sql")
    duck = _text(directory, "duckdb/queries.sql", "duckdb_queries.sql")
    theirs = statements(duck) if duck else []
    names = tuple(name for name, _ in dataset(directory).columns)
    found = []
    for number, sql in enumerate(statements(text)):
        other = theirs[number] if number < len(theirs) else sql
        duckdb = other if other != sql else None
        found.append(checked(str(number), sql, duckdb, names))
    return found


def first_rows(lines, rows: int, quoted: bool) -> Iterator[bytes]:
    """Lines of the first rows of a file; in CSV a quoted value may hold the end
    of a line."""
    inside = False
    for line in lines:
        if quoted and line.count(b'"') % 2:
            inside = not inside
        yield line
        rows -= not inside
        if rows == 0:
            return


def _fill(
    directory: Path, hits: Path | None, scratch: Path, connection, table, rows, tell
) -> None:
    """COPY the first rows of the file, or rows that the directory's script makes."""
    made = None
    if hits is None:
        made = hits = scratch / "hits.csv"
        script = directory / "hits.py"
        if not script.is_file():
            raise ValueError(f"HITS=file is needed: {directory} has no hits.py")
        tell(f"{rows:,} rows are made by {script.name}")
        subprocess.run(
            [sys.executable, "-B", script, str(rows), made],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    quoted = hits.suffix == ".csv"
    kind = "csv" if quoted else "text"
    try:
        with (
            hits.open("rb") as file,
            connection.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN (FORMAT {kind})") as copy,
        ):
            for line in first_rows(file, rows, quoted):
                copy.write(line)
    finally:
        if made:
            made.unlink(missing_ok=True)
    ((found,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    tell(f"{found:,} rows")


def _load_once(lab: Lab, data: Dataset, system: System, cell: Cell) -> float | None:
    engine = lab.engine(data, system)
    csv = str(lab.csv(data))
    if isinstance(engine, DuckDBEngine):
        engine.start_anew()
        engine.mode(0)
        named = replace(data, name=TABLE)
        engine.timed(f"CREATE TABLE {TABLE} ({data.duckdb_ddl})", 60)
        sql = named.duckdb_load(csv)
    else:
        engine.rows(f"DROP TABLE IF EXISTS {TABLE}")
        engine.rows(f"CREATE TABLE {TABLE} ({data.ddl}) USING {system.am}")
        for statement in system.prepare:
            if "{order}" not in statement:
                engine.rows(statement.format(table=TABLE))
        engine.rows("CHECKPOINT")
        sql = f"COPY {TABLE} FROM '{csv}' (FORMAT csv)"
    return timed_cell(cell, engine, sql, lab.config.load_timeout)


def load(lab: Lab) -> None:
    """COPY, the systems taking turns; VACUUM, sizes, and every row compared."""
    data = dataset(lab.config.clickbench, lab.config.hits, lab.scratch)
    lab.setup(data, rows_stay=False)
    cells = {
        system.name: lab.results.add(Cell(CLICKBENCH, "load", "COPY", system.name, "s"))
        for system in lab.systems
    }
    for number in range(lab.config.load_runs):
        for system in turns(number, lab.systems):
            cell = cells[system.name]
            seconds = _load_once(lab, data, system, cell)
            if seconds is not None:
                cell.samples.append(seconds)
            progress(
                f"{CLICKBENCH}: COPY: {system.name}", cell.note or f"{seconds:.2f} s"
            )
    for system in lab.systems:
        engine = lab.engine(data, system)
        if isinstance(engine, DuckDBEngine):
            size = engine.size()
        else:
            cell = Cell(CLICKBENCH, "load", "VACUUM ANALYZE", system.name, "s")
            sql = f"VACUUM (ANALYZE) {TABLE}"
            seconds = timed_cell(cell, engine, sql, lab.config.load_timeout)
            if seconds is not None:
                cell.samples.append(seconds)
            lab.results.add(cell)
            ((size,),) = engine.rows(f"SELECT pg_table_size('{TABLE}')")
        lab.results.add(
            Cell(CLICKBENCH, "size", "table", system.name, "MB", [size / MB])
        )
    check_rows(lab, data, TABLE, "load", "all rows read")


def _warm(lab: Lab, data: Dataset) -> None:
    for system in lab.postgres:
        prewarm(lab.engine(data, system), TABLE)


def steps(
    config: Config, make: Callable[[str, Callable[[Lab], None]], object]
) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    data = dataset(config.clickbench)
    some = queries(config.clickbench)
    yield make(f"{CLICKBENCH}-load", load)
    for one in some:
        yield make(
            f"{CLICKBENCH}-cold-{one.query.name}",
            lambda lab, one=one: asked.cold(lab, data, one),
        )
    yield make(f"{CLICKBENCH}-warm", lambda lab: _warm(lab, data))
    for section, workers in ((HOT, 0), (HOT_PARALLEL, config.workers)):
        for one in some:
            yield make(
                f"{CLICKBENCH}-{section}-{one.query.name}",
                lambda lab, one=one, section=section, workers=workers: asked.hot(
                    lab, data, one, section, workers
                ),
            )
    yield make(f"{CLICKBENCH}-discard", lambda lab: lab.discard(data))
