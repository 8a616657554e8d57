"""TPC-H: data by tpchgen-cli, queries from a directory's queries.json.

The eight tables with their primary keys, then with indexes on the foreign keys too;
the queries serial, and with primary keys alone in parallel. The file maps the
queries' numbers to their texts, which all systems take as they are. A query that heap
does not end within the time limit is compared with DuckDB's result.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import asked
from bench.config import Config
from bench.dataset import Dataset, Index
from bench.duck import DuckDBEngine
from bench.engines import Engine
from bench.lab import Lab
from bench.load import MB, check_rows, prewarm, timed_cell
from bench.measure import turns
from bench.progress import progress
from bench.results import OK, Cell
from bench.sections import FOREIGN, PRIMARY, PRIMARY_PARALLEL, TPCH
from bench.sqltext import Checked, checked
from bench.systems import System

MONEY = "numeric(15, 2)"

# table: columns; key; foreign keys that do not begin the key
TABLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "region": (
        "r_regionkey int NOT NULL, r_name text NOT NULL, r_comment text",
        "r_regionkey",
        (),
    ),
    "nation": (
        "n_nationkey int NOT NULL, n_name text NOT NULL, n_regionkey int NOT NULL,"
        " n_comment text",
        "n_nationkey",
        ("n_regionkey",),
    ),
    "part": (
        "p_partkey int NOT NULL, p_name text NOT NULL, p_mfgr text NOT NULL,"
        " p_brand text NOT NULL, p_type text NOT NULL, p_size int NOT NULL,"
        f" p_container text NOT NULL, p_retailprice {MONEY} NOT NULL,"
        " p_comment text NOT NULL",
        "p_partkey",
        (),
    ),
    "supplier": (
        "s_suppkey int NOT NULL, s_name text NOT NULL, s_address text NOT NULL,"
        f" s_nationkey int NOT NULL, s_phone text NOT NULL, s_acctbal {MONEY} NOT NULL,"
        " s_comment text NOT NULL",
        "s_suppkey",
        ("s_nationkey",),
    ),
    "partsupp": (
        "ps_partkey int NOT NULL, ps_suppkey int NOT NULL, ps_availqty int NOT NULL,"
        f" ps_supplycost {MONEY} NOT NULL, ps_comment text NOT NULL",
        "ps_partkey, ps_suppkey",
        ("ps_suppkey",),
    ),
    "customer": (
        "c_custkey int NOT NULL, c_name text NOT NULL, c_address text NOT NULL,"
        f" c_nationkey int NOT NULL, c_phone text NOT NULL, c_acctbal {MONEY} NOT NULL,"
        " c_mktsegment text NOT NULL, c_comment text NOT NULL",
        "c_custkey",
        ("c_nationkey",),
    ),
    "orders": (
        "o_orderkey bigint NOT NULL, o_custkey int NOT NULL,"
        f" o_orderstatus text NOT NULL, o_totalprice {MONEY} NOT NULL,"
        " o_orderdate date NOT NULL, o_orderpriority text NOT NULL,"
        " o_clerk text NOT NULL, o_shippriority int NOT NULL, o_comment text NOT NULL",
        "o_orderkey",
        ("o_custkey",),
    ),
    "lineitem": (
        "l_orderkey bigint NOT NULL, l_partkey int NOT NULL, l_suppkey int NOT NULL,"
        f" l_linenumber int NOT NULL, l_quantity {MONEY} NOT NULL,"
        f" l_extendedprice {MONEY} NOT NULL, l_discount {MONEY} NOT NULL,"
        f" l_tax {MONEY} NOT NULL, l_returnflag text NOT NULL,"
        " l_linestatus text NOT NULL, l_shipdate date NOT NULL,"
        " l_commitdate date NOT NULL, l_receiptdate date NOT NULL,"
        " l_shipinstruct text NOT NULL, l_shipmode text NOT NULL,"
        " l_comment text NOT NULL",
        "l_orderkey, l_linenumber",
        ("l_partkey, l_suppkey", "l_suppkey"),
    ),
}

DATA = Dataset(
    name=TPCH,
    columns=(),
    duckdb=(),
    fill=lambda *args: None,
    order="",
    queries=(),
    keys=(),
    indexes={},
    key_indexes=(),
    update="",
    residue="",
)


def queries(directory: Path) -> list[Checked]:
    """The file's queries, in the order of their numbers."""
    texts = json.loads((directory / "queries.json").read_text())
    return [checked(name, texts[name]) for name in sorted(texts, key=int)]


def generator() -> str:
    """The program that makes the data, of this Python's environment or the PATH."""
    name = "tpchgen-cli"
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise RuntimeError(f"{name} is not installed: pip install {name}")
    return found


def _make(lab: Lab) -> Path:
    folder = lab.scratch / TPCH
    scale = f"--scale-factor={lab.config.scale:g}"
    command = [generator(), "csv", scale, f"--output-dir={folder}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    progress(f"{TPCH}: rows of scale factor {lab.config.scale:g} made")
    return folder


def _create(engine: Engine, system: System) -> None:
    """The empty tables, anew."""
    if isinstance(engine, DuckDBEngine):
        engine.start_anew()
        engine.mode(0)
    for table, (columns, _, _) in TABLES.items():
        if system.postgres:
            engine.timed(f"DROP TABLE IF EXISTS {table}", 60)
        using = f" USING {system.am}" if system.postgres else ""
        engine.timed(f"CREATE TABLE {table} ({columns}){using}", 60)
        for statement in system.prepare:
            if "{order}" not in statement:
                engine.timed(statement.format(table=table), 60)
    if system.postgres:
        engine.timed("CHECKPOINT", 600)


def _sum(lab: Lab, cell: Cell, engine: Engine, statements: list[str]) -> None:
    """Add the seconds of all statements to the cell."""
    spent = []
    for sql in statements:
        seconds = timed_cell(cell, engine, sql, lab.config.load_timeout)
        if seconds is None:
            return
        spent.append(seconds)
    cell.samples.append(sum(spent))


def _copy(folder: Path, system: System) -> list[str]:
    form = "FORMAT csv, HEADER true" if system.postgres else "HEADER true"
    return [f"COPY {t} FROM '{folder / t}.csv' ({form})" for t in TABLES]


def _keys() -> list[str]:
    return [
        Index(f"({key})", primary=True).create(table)
        for table, (_, key, _) in TABLES.items()
    ]


def _foreign() -> list[str]:
    return [
        Index(f"btree ({key})").create(table)
        for table, (_, _, foreign) in TABLES.items()
        for key in foreign
    ]


def _cells(lab: Lab, name: str, systems: list[System]) -> dict[str, Cell]:
    return {
        system.name: lab.results.add(Cell(TPCH, "load", name, system.name, "s"))
        for system in systems
    }


def _settle(lab: Lab, system: System) -> None:
    engine = lab.engine(DATA, system)
    for table in TABLES:
        engine.rows(f"VACUUM (ANALYZE) {table}")
    engine.rows("CHECKPOINT")
    for table in TABLES:
        prewarm(engine, table)


def _sizes(lab: Lab, system: System) -> None:
    engine = lab.engine(DATA, system)
    if isinstance(engine, DuckDBEngine):
        figures = {"tables": engine.size()}
    else:
        listed = ", ".join(f"('{table}'::regclass)" for table in TABLES)
        ((tables, keys),) = engine.rows(
            "SELECT sum(pg_table_size(t)), sum(pg_indexes_size(t))"
            f" FROM (VALUES {listed}) AS v(t)"
        )
        figures = {"tables": int(tables), "primary keys": int(keys)}
    for name, size in figures.items():
        lab.results.add(Cell(TPCH, "size", name, system.name, "MB", [size / MB]))


def load(lab: Lab) -> None:
    """COPY of all tables, the systems taking turns; keys; every row compared."""
    folder = _make(lab)
    for system in lab.postgres:
        lab.create_database(DATA, system)
    copies = _cells(lab, "COPY of all tables", lab.systems)
    for number in range(lab.config.load_runs):
        for system in turns(number, lab.systems):
            engine, cell = lab.engine(DATA, system), copies[system.name]
            _create(engine, system)
            if cell.status == OK:
                _sum(lab, cell, engine, _copy(folder, system))
            progress(f"{TPCH}: COPY: {system.name}", cell.note)
    shutil.rmtree(folder)
    keys = _cells(lab, "primary keys", lab.systems)
    for system in lab.systems:
        _sum(lab, keys[system.name], lab.engine(DATA, system), _keys())
        if system.postgres:
            _settle(lab, system)
        _sizes(lab, system)
    for table in TABLES:
        check_rows(lab, DATA, table, "load", f"all rows of {table}")


def foreign_indexes(lab: Lab) -> None:
    """Indexes on the foreign keys, of heap and the systems of ours."""
    cells = _cells(lab, "foreign-key indexes", lab.keyed)
    for system in lab.keyed:
        _sum(lab, cells[system.name], lab.engine(DATA, system), _foreign())
        _settle(lab, system)


def _ask(
    one: Checked, section: str, workers: int, keyed: bool
) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        systems = lab.systems
        if keyed:  # and DuckDB without indexes, for what heap does not end in time
            systems = [s for s in lab.systems if s in lab.keyed or not s.postgres]
        asked.hot(lab, DATA, one, section, workers, systems)

    return run


def steps(
    config: Config, make: Callable[[str, Callable[[Lab], None]], object]
) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    some = queries(config.tpch)

    def ask(section: str, workers: int = 0, keyed: bool = False) -> Iterator[object]:
        for one in some:
            name = f"{TPCH}-{section}-{one.query.name}"
            yield make(name, _ask(one, section, workers, keyed))

    yield make(f"{TPCH}-load", load)
    yield from ask(PRIMARY)
    yield from ask(PRIMARY_PARALLEL, config.workers)
    yield make(f"{TPCH}-foreign-indexes", foreign_indexes)
    yield from ask(FOREIGN, keyed=True)
    yield make(f"{TPCH}-discard", lambda lab: lab.discard(DATA))
