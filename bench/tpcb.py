"""pgbench's own tables and scripts: TPC-B (sort of), simple update, select only.

Each system has a database with pgbench's tables in its access method, compacted after
they were filled. The systems take turns; at the end the balances must add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.lab import Lab, pgbench
from bench.load import MB
from bench.measure import turns
from bench.progress import progress
from bench.report import cell_text
from bench.results import OK, WRONG, Cell
from bench.systems import HEAP, System

NAME = "pgbench"
CLIENTS = 2
SCALES = (1, 20)
SESSION = {"synchronous_commit": "off"}
TABLES = ("accounts", "branches", "tellers", "history")
SCRIPTS = {
    "TPC-B": ("--builtin=tpcb-like",),
    "simple update": ("--builtin=simple-update",),
    "select only": ("--builtin=select-only", "--protocol=prepared"),
}


def steps(make: Callable[[str, Callable[[Lab], None]], object]) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    for scale in SCALES:
        yield make(f"{NAME}-{scale}", lambda lab, scale=scale: run(lab, scale))


def _database(system: System) -> str:
    return f"{NAME}_{system.name}"


def _fill(lab: Lab, system: System, scale: int) -> float:
    """Make pgbench's tables, compact them; their size in MB."""
    with lab.cluster.connect() as admin:
        admin.execute(f"CREATE DATABASE {_database(system)}")
    with lab.cluster.connect(_database(system)) as connection:
        if system.extension:
            connection.execute(f"CREATE EXTENSION {system.extension}")
        pgbench(
            lab.cluster,
            _database(system),
            "--initialize",
            "--quiet",
            f"--scale={scale}",
            clients=0,
            settings=SESSION | {"default_table_access_method": system.am},
            timeout=lab.config.load_timeout,
        )
        for table in TABLES if system.compact else ():
            connection.execute(system.compact.format(table=f"pgbench_{table}"))
        connection.execute("VACUUM (ANALYZE)")
        connection.execute("CHECKPOINT")
        ((size,),) = connection.execute(
            "SELECT pg_table_size('pgbench_accounts')"
        ).fetchall()
    return size / MB


def _sound(lab: Lab, system: System) -> bool:
    """Do accounts, tellers and branches agree?  simple update changes
    accounts alone, so they are compared by what was written in history."""
    with lab.cluster.connect(_database(system)) as connection:
        ((accounts, history, tellers, branches, rows),) = connection.execute(
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts),"
            " (SELECT coalesce(sum(delta), 0) FROM pgbench_history),"
            " (SELECT sum(tbalance) FROM pgbench_tellers),"
            " (SELECT sum(bbalance) FROM pgbench_branches),"
            " (SELECT count(*) FROM pgbench_history)"
        ).fetchall()
    return accounts == history and tellers == branches and rows > 0


def run(lab: Lab, scale: int) -> None:
    """All scripts at one scale."""
    section = f"scale {scale}, TPS, {CLIENTS} clients"
    cells: dict[tuple[str, str], Cell] = {}
    for system in lab.keyed:
        size = _fill(lab, system, scale)
        lab.results.add(
            Cell(NAME, "size", f"accounts, scale {scale}", system.name, "MB", [size])
        )
        for name in SCRIPTS:
            cells[name, system.name] = lab.results.add(
                Cell(NAME, section, name, system.name, "TPS")
            )
    for name, options in SCRIPTS.items():
        for number in range(lab.config.load_runs):
            for system in turns(number, lab.keyed):
                _measure(lab, system, cells[name, system.name], options)
        progress(
            f"{NAME}: scale {scale}: {name}:",
            " · ".join(
                f"{s.name} {cell_text(cells[name, s.name], cells[name, HEAP])}"
                for s in lab.keyed
            ),
        )
    for system in lab.keyed:
        if not _sound(lab, system):
            cell = cells["TPC-B", system.name]
            cell.status, cell.note = WRONG, "balances do not add up"
        with lab.cluster.connect() as admin:
            admin.execute(f"DROP DATABASE {_database(system)} (FORCE)")


def _measure(lab: Lab, system: System, cell: Cell, options: tuple[str, ...]) -> None:
    if cell.status == OK:
        lab.pgbench(
            cell,
            _database(system),
            f"--time={lab.config.tpcb}",
            *options,
            clients=CLIENTS,
            settings=SESSION,
        )
