"""A retailer's warehouse of our own: 25 tables and 40 queries.

The tables with their primary keys; the queries serial and in parallel. How many lines
of sales there are is the run's rows; bench/warehouse_rows.py makes them, and
bench/warehouse.sql has the queries, which all systems take as they are. A query that
heap does not end within the time limit is compared with DuckDB's result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg

from bench.config import Config
from bench.lab import Lab
from bench.progress import progress
from bench.schema import Make, Schema
from bench.sections import PRIMARY, PRIMARY_PARALLEL, WAREHOUSE
from bench.sqltext import Checked, checked
from bench.warehouse_rows import tables

TEXTS = Path(__file__).with_suffix(".sql")
# A line that names the query and says what it asks, its text, a semicolon.
_QUERY = re.compile(r"^-- (W\d+): .+\n([^;]+);$", re.M)


def texts() -> dict[str, str]:
    """The queries' texts by name."""
    return dict(_QUERY.findall(TEXTS.read_text()))


def queries() -> list[Checked]:
    """The queries, in the order of the file."""
    return [checked(name, sql) for name, sql in texts().items()]


SCHEMA = Schema(
    WAREHOUSE,
    {name: (table.ddl, table.key, ()) for name, table in tables(1).items()},
)


def _make(lab: Lab) -> dict[str, Path]:
    """A file of each table's rows, made in a database that is dropped again."""
    base = lab.database(SCHEMA.data, None)
    files = {}
    with psycopg.connect(lab.cluster.dsn("postgres"), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {base}")
        with psycopg.connect(lab.cluster.dsn(base), autocommit=True) as connection:
            for name, table in tables(lab.config.rows).items():
                files[name] = lab.scratch / f"{WAREHOUSE}.{name}.csv"
                connection.execute(f"CREATE TABLE {name} ({table.ddl})")
                connection.execute(f"INSERT INTO {name} {table.select}")
                copy = f"COPY {name} TO '{files[name]}' (FORMAT csv, HEADER true)"
                rows = connection.execute(copy).rowcount
                progress(f"{WAREHOUSE}: {rows:,} rows of {name} made")
        admin.execute(f"DROP DATABASE {base}")
    return files


def _load(lab: Lab) -> None:
    lines = "\n".join(f"-- {name}\n{sql};" for name, sql in texts().items())
    lab.results.texts.append((f"{WAREHOUSE}: queries", lines))
    SCHEMA.load(lab, _make(lab))


def steps(config: Config, make: Make) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    some = queries()
    yield make(f"{WAREHOUSE}-load", _load)
    yield from SCHEMA.ask(make, some, PRIMARY)
    yield from SCHEMA.ask(make, some, PRIMARY_PARALLEL, config.workers)
    yield SCHEMA.discard(make)
