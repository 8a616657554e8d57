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
from collections.abc import Iterator
from pathlib import Path

from bench.config import Config
from bench.lab import Lab
from bench.progress import progress
from bench.schema import Make, Schema
from bench.sections import FOREIGN, PRIMARY, PRIMARY_PARALLEL, TPCH
from bench.sqltext import Checked, checked

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

SCHEMA = Schema(TPCH, TABLES)


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


def _make(lab: Lab) -> dict[str, Path]:
    """A file of each table's rows."""
    folder = lab.scratch / TPCH
    scale = f"--scale-factor={lab.config.scale:g}"
    command = [generator(), "csv", scale, f"--output-dir={folder}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    progress(f"{TPCH}: rows of scale factor {lab.config.scale:g} made")
    return {table: folder / f"{table}.csv" for table in TABLES}


def steps(config: Config, make: Make) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    some = queries(config.tpch)
    yield make(f"{TPCH}-load", lambda lab: SCHEMA.load(lab, _make(lab)))
    yield from SCHEMA.ask(make, some, PRIMARY)
    yield from SCHEMA.ask(make, some, PRIMARY_PARALLEL, config.workers)
    yield make(f"{TPCH}-foreign-indexes", SCHEMA.foreign_indexes)
    yield from SCHEMA.ask(make, some, FOREIGN, keyed=True)
    yield SCHEMA.discard(make)
