"""Rows in key order: sorted_heap and zonemap against heap with btree and BRIN.

A table (id bigint, payload text) of about 50 bytes a row is loaded in the order of
its key; then a twentieth of its rows comes again, elsewhere, at random; then a table
in random order is put in order. Point, narrow (100 rows), medium (5,000) and wide
(100,000) queries: time and buffers as EXPLAIN ANALYZE shows them, transactions per
second of pgbench. Beside that, rates of INSERT, times of compaction, and sizes.

The systems take turns. "heap" is heap with a btree: what figures are divided by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psycopg

from bench.lab import Lab
from bench.measure import turns
from bench.progress import progress
from bench.report import cell_text
from bench.results import OK, WRONG, Cell
from bench.systems import HEAP

NAME = "sorted"
DATABASE = "bench_sorted"
ROW = "substr(md5(g::text), 1, 15)"  # 52 bytes with header and line pointer


@dataclass(frozen=True)
class Kind:
    """A way to keep the table; `share`: of pgbench's transactions it runs."""

    name: str
    table: str
    access: str
    index: str
    share: float


KINDS = (
    Kind(HEAP, "t_btree", "heap", "btree (id)", 1.0),
    Kind("sorted_heap", "t_zonemap", "sorted_heap", "zonemap (id)", 1.0),
    Kind("heap, BRIN", "t_brin", "heap", "brin (id)", 0.02),
    Kind(
        "heap, BRIN multi",
        "t_multi",
        "heap",
        "brin (id int8_minmax_multi_ops)",
        0.02,
    ),
    Kind("heap, no index", "t_none", "heap", "", 0.0),
)
KEYED = KINDS[:2]

# name: rows, condition with the first key, share of pgbench's transactions
QUERIES = {
    "point": (1, "id = {k}", 1.0),
    "narrow": (100, "id BETWEEN {k} AND {k} + 99", 0.5),
    "medium": (5_000, "id BETWEEN {k} AND {k} + 4999", 0.05),
    "wide": (100_000, "id BETWEEN {k} AND {k} + 99999", 0.0025),
}


def _query(kind: Kind, name: str, key: str) -> str:
    rows, condition, _ = QUERIES[name]
    columns = "*" if rows <= 100 else "count(*), sum(length(payload))"
    return f"SELECT {columns} FROM {kind.table} WHERE {condition.format(k=key)}"


def steps(make: Callable[[str, Callable[[Lab], None]], object]) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    for name, function in (
        ("load", load),
        ("explain", _on("in order", explain)),
        ("pgbench", _on("in order", transactions)),
        ("stray", stray),
        ("stray-explain", _on("5 % stray", explain)),
        ("stray-pgbench", _on("5 % stray", transactions)),
        ("compaction", compaction),
    ):
        yield make(f"{NAME}-{name}", function)


def outline(make: Callable[[str, Callable[[Lab], None]], object]) -> Iterator[object]:
    """Of these the steps that take seconds."""
    yield make(f"{NAME}-load", load)
    yield make(f"{NAME}-explain", _on("in order", explain))
    yield end(make)


def end(make: Callable[[str, Callable[[Lab], None]], object]) -> object:
    """The step after all others that use the tables."""
    return make(f"{NAME}-discard", discard)


def _on(state: str, function: Callable[[Lab, str], None]) -> Callable[[Lab], None]:
    return lambda lab: function(lab, state)


def connect(lab: Lab) -> psycopg.Connection:
    connection = psycopg.connect(lab.cluster.dsn(DATABASE), autocommit=True)
    connection.execute("SET max_parallel_workers_per_gather = 0")
    return connection


def cell_of(lab: Lab, section: str, name: str, kind: Kind, unit: str) -> Cell:
    for cell in lab.results.cells:
        if (cell.dataset, cell.section, cell.name, cell.system) == (
            NAME,
            section,
            name,
            kind.name,
        ):
            return cell
    if kind.name not in lab.results.systems:
        lab.results.systems.append(kind.name)
    return lab.results.add(Cell(NAME, section, name, kind.name, unit))


def _timed(connection, cell: Cell, sql: str, rows: int = 0) -> None:
    """Take seconds of a statement, or its rows per second."""
    ((start,),) = connection.execute("SELECT clock_timestamp()").fetchall()
    connection.execute(sql)
    ((end,),) = connection.execute("SELECT clock_timestamp()").fetchall()
    seconds = (end - start).total_seconds()
    cell.samples.append(rows / seconds if rows else seconds)
    progress(f"{NAME}: {cell.name}: {cell.system}", cell_text(cell, None))


def _create(connection, kind: Kind, table: str) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(
        f"CREATE TABLE {table} (id bigint, payload text) USING {kind.access}"
    )
    if kind.index:
        connection.execute(f"CREATE INDEX {table}_id ON {table} USING {kind.index}")


def _sizes(lab: Lab, connection, state: str) -> None:
    for kind in KINDS:
        ((table, indexes),) = connection.execute(
            f"SELECT pg_relation_size('{kind.table}'), pg_indexes_size('{kind.table}')"
        ).fetchall()
        for name, size in (("table", table), ("index", indexes)):
            cell = cell_of(lab, "size", f"{name}, {state}", kind, "MB")
            cell.samples.append(size / 1e6)


def load(lab: Lab) -> None:
    """INSERT ... SELECT in key order, into tables with their indexes."""
    with psycopg.connect(lab.cluster.dsn(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {DATABASE}")
    with connect(lab) as connection:
        connection.execute("CREATE EXTENSION sorted_heap")
        rows = lab.config.rows
        for number in range(lab.config.load_runs):
            for kind in turns(number, KINDS):
                _create(connection, kind, kind.table)
                connection.execute("CHECKPOINT")
                cell = cell_of(lab, "writes", "INSERT in order", kind, "rows/s")
                sql = f"SELECT g, {ROW} FROM generate_series(1, {rows}) g"
                _timed(connection, cell, f"INSERT INTO {kind.table} {sql}", rows)
        for kind in KINDS:
            connection.execute(f"VACUUM (ANALYZE) {kind.table}")
        _sizes(lab, connection, "in order")


def _plan_cost(connection, sql: str) -> tuple[float, float]:
    """Milliseconds and buffers of an execution."""
    ((plan,),) = connection.execute(
        f"EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) {sql}"
    ).fetchall()
    buffers = plan[0]["Plan"]
    return plan[0]["Execution Time"], (
        buffers["Shared Hit Blocks"] + buffers["Shared Read Blocks"]
    )


def explain(lab: Lab, state: str) -> None:
    """EXPLAIN ANALYZE in a session that has run such a query; results of all
    systems compared."""
    for name, (wanted, _, _) in QUERIES.items():
        if wanted * 2 > lab.config.rows:
            continue
        for number in range(lab.config.runs):
            key = 1 + (lab.config.rows - 2 * wanted) * (2 * number + 1) // (
                2 * lab.config.runs
            )
            expected = None
            for kind in turns(number, KINDS):
                sql = _query(kind, name, str(key))
                milliseconds = cell_of(lab, f"{state}, latency", name, kind, "ms")
                buffers = cell_of(lab, f"{state}, buffers", name, kind, "buffers")
                with connect(lab) as connection:
                    found = sorted(connection.execute(sql).fetchall())
                    spent, read = _plan_cost(connection, sql)
                expected = found if expected is None else expected
                if found != expected:
                    milliseconds.status = WRONG
                    raise AssertionError(f"{kind.name}: {sql}")
                milliseconds.samples.append(spent)
                buffers.samples.append(read)


def run_pgbench(
    lab: Lab, cell: Cell, script: str, clients: int, n: int, protocol: str = "prepared"
) -> None:
    lab.pgbench(
        cell,
        DATABASE,
        f"--transactions={n}",
        f"--protocol={protocol}",
        script=script,
        clients=clients,
        settings={"max_parallel_workers_per_gather": "0"},
    )


def transactions(lab: Lab, state: str) -> None:
    """pgbench, prepared and simple, with 1, 2 and 4 clients."""
    rows = lab.config.rows
    for name, (wanted, _, share) in QUERIES.items():
        if wanted * 2 > rows:
            continue
        for protocol in ("prepared", "simple"):
            for clients in (1, 2, 4):
                section = f"{state}, TPS, {protocol}"
                label = f"{name}, {clients} client{'s' if clients > 1 else ''}"
                for number in range(3):
                    for kind in turns(number, KINDS):
                        if kind.share * share == 0 or (kind.share < 1 and number):
                            continue
                        n = int(lab.config.pgbench / 4 * share * kind.share / clients)
                        script = f"\\set k random(1, {rows - wanted})\n" + _query(
                            kind, name, ":k"
                        )
                        cell = cell_of(lab, section, label, kind, "TPS")
                        if cell.status == OK:
                            run_pgbench(
                                lab, cell, script + ";\n", clients, max(n, 5), protocol
                            )
                base = cell_of(lab, section, label, KINDS[0], "TPS")
                ours = cell_of(lab, section, label, KINDS[1], "TPS")
                progress(f"{NAME}: {section}: {label}", cell_text(ours, base))


def stray(lab: Lab) -> None:
    """A twentieth more rows, with random keys."""
    with connect(lab) as connection:
        rows = lab.config.rows // 20
        connection.execute(
            "CREATE TABLE strays AS SELECT (random() * "
            f"{lab.config.rows})::bigint AS id, {ROW} AS payload"
            f" FROM generate_series(1, {rows}) g"
        )
        for kind in KINDS:
            connection.execute("CHECKPOINT")
            cell = cell_of(lab, "writes", "INSERT at random", kind, "rows/s")
            _timed(
                connection, cell, f"INSERT INTO {kind.table} SELECT * FROM strays", rows
            )
            connection.execute(f"VACUUM (ANALYZE) {kind.table}")
        _sizes(lab, connection, "5 % stray")


def compaction(lab: Lab) -> None:
    """From 5 % stray rows, and from random order, to order."""
    with connect(lab) as connection:
        btree, zonemap = KEYED
        stray = "5 % stray: merge, or CLUSTER"
        online = cell_of(lab, "writes", stray, zonemap, "s")
        _timed(connection, online, f"CALL sorted_heap.merge('{zonemap.table}')")
        connection.execute(f"VACUUM {zonemap.table}")
        offline = cell_of(lab, "writes", stray, btree, "s")
        _timed(connection, offline, f"CLUSTER {btree.table} USING {btree.table}_id")
        _sizes(lab, connection, stray)
        for name, calls in (
            (
                "random order: CLUSTER",
                {k.name: "CLUSTER {t} USING {t}_id" for k in KEYED},
            ),
            (
                "random order: compact, or CLUSTER",
                {
                    btree.name: "CLUSTER {t} USING {t}_id",
                    zonemap.name: "CALL sorted_heap.compact('{t}')",
                },
            ),
        ):
            for kind in KEYED:
                _create(connection, Kind("", "", kind.access, "", 0), kind.table)
                connection.execute(
                    f"INSERT INTO {kind.table} SELECT g, {ROW} FROM"
                    f" generate_series(1, {lab.config.rows}) g ORDER BY hashint8(g)"
                )
                connection.execute(
                    f"CREATE INDEX {kind.table}_id ON {kind.table} USING {kind.index}"
                )
                connection.execute("CHECKPOINT")
                _timed(
                    connection,
                    cell_of(lab, "writes", name, kind, "s"),
                    calls[kind.name].format(t=kind.table),
                )
                connection.execute(f"VACUUM (ANALYZE) {kind.table}")
            _sizes(lab, connection, name)
        problems = connection.execute(
            f"SELECT * FROM sorted_heap.zonemap_verify('{zonemap.table}_id')"
        ).fetchall()
        assert not problems, problems
        ((left, right),) = connection.execute(
            f"SELECT (SELECT sum(id) FROM {btree.table}),"
            f" (SELECT sum(id) FROM {zonemap.table})"
        ).fetchall()
        assert left == right


def discard(lab: Lab) -> None:
    """Free the space."""
    with psycopg.connect(lab.cluster.dsn(), autocommit=True) as admin:
        admin.execute(f"DROP DATABASE {DATABASE}")
