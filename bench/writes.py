"""The write path: COPY, single-row INSERT, UPDATE and DELETE of 1 %.

It runs on tables of its own without indexes (but for the UPDATE of one row by
its key), the systems taking turns, and ends with a comparison of every row
with heap's.
"""

from __future__ import annotations

from bench.dataset import Dataset
from bench.lab import Lab
from bench.load import check_rows, create_table, timed_cell
from bench.measure import turns
from bench.progress import progress
from bench.results import OK, Cell
from bench.sections import WRITES as SECTION
from bench.systems import System

BULK = "bulk"  # the table COPY fills and UPDATE and DELETE change
SINGLE = "single"  # the table single-row INSERTs fill
CLIENTS = (1, 4)
POINTS = 100  # rows updated one by one


def _cells(lab: Lab, dataset: Dataset, name: str, unit: str) -> dict[str, Cell]:
    return {
        system.name: lab.results.add(
            Cell(dataset.name, SECTION, name, system.name, unit)
        )
        for system in lab.postgres
    }


def copy_rounds(lab: Lab, dataset: Dataset) -> None:
    """COPY of the CSV file into an empty table, in rows per second; the
    table of the last round stays for UPDATE and DELETE."""
    cells = _cells(lab, dataset, "COPY from CSV", "rows/s")
    sql = f"COPY {BULK} FROM '{lab.csv(dataset)}' (FORMAT csv)"
    for number in range(lab.config.load_runs):
        for system in turns(number, lab.postgres):
            engine = lab.engine(dataset, system)
            cell = cells[system.name]
            create_table(engine, system, dataset, BULK)
            engine.rows("CHECKPOINT")
            seconds = timed_cell(cell, engine, sql, lab.config.load_timeout)
            if seconds is not None:
                ((rows,),) = engine.rows(f"SELECT count(*) FROM {BULK}")
                cell.samples.append(rows / seconds)
            progress(
                f"{dataset.name}: COPY {number + 1} of"
                f" {lab.config.load_runs}: {system.name}",
                cell.note or f"{seconds:.2f} s",
            )
    check_rows(lab, dataset, BULK, SECTION, "all rows after COPY")


def change_rounds(lab: Lab, dataset: Dataset) -> None:
    """UPDATE, then DELETE, of every hundredth row, other rows each round."""
    statements = (
        ("UPDATE of 1 %", f"UPDATE {BULK} SET {dataset.update}", 0),
        ("DELETE of 1 %", f"DELETE FROM {BULK}", 50),
    )
    for name, sql, first in statements:
        cells = _cells(lab, dataset, name, "ms")
        for number in range(lab.config.load_runs):
            for system in turns(number, lab.postgres):
                cell = cells[system.name]
                if cell.status != OK:
                    continue
                seconds = timed_cell(
                    cell,
                    lab.engine(dataset, system),
                    f"{sql} WHERE ({dataset.residue}) % 100 = {first + number}",
                    lab.config.timeout,
                )
                if seconds is not None:
                    cell.samples.append(seconds * 1000)
                progress(
                    f"{dataset.name}: {name}: {system.name}",
                    cell.note or f"{seconds * 1000:.0f} ms",
                )
    check_rows(lab, dataset, BULK, SECTION, "all rows after UPDATE and DELETE")


def point_updates(lab: Lab, dataset: Dataset) -> None:
    """UPDATE of one row by its unique key, in the table the queries read,
    with its indexes: of the systems that have got the key indexes."""
    systems = lab.keyed
    cells = {
        system.name: lab.results.add(
            Cell(dataset.name, SECTION, "UPDATE of one row by key", system.name, "ms")
        )
        for system in systems
    }
    step = lab.config.rows // POINTS
    for number in range(1, POINTS + 1):
        sql = (
            f"UPDATE {dataset.name} SET {dataset.update}"
            f" WHERE {dataset.unique_key} = {number * step}"
        )
        for system in systems:
            cell = cells[system.name]
            if cell.status == OK:
                engine = lab.engine(dataset, system)
                seconds = timed_cell(cell, engine, sql, lab.config.timeout)
                if seconds is not None:
                    cell.samples.append(seconds * 1000)
    check_rows(
        lab, dataset, dataset.name, SECTION, "all rows after point UPDATEs", systems
    )


def single_rounds(lab: Lab, dataset: Dataset) -> None:
    """Single-row INSERTs by pgbench, each its own transaction, with
    synchronous_commit off: transactions per second, and bytes per row of the
    table after the last of them."""
    script = f"INSERT INTO {SINGLE} VALUES ({dataset.single_row});\n"
    for clients in CLIENTS:
        label = f"single-row INSERT, {clients} client" + "s" * (clients > 1)
        rates = _cells(lab, dataset, label, "TPS")
        for number in range(lab.config.load_runs):
            for system in turns(number, lab.postgres):
                cell = rates[system.name]
                _empty_single_table(lab, dataset, system)
                rate = lab.pgbench(
                    cell,
                    lab.database(dataset, system),
                    f"--transactions={lab.config.pgbench}",
                    script=script,
                    clients=clients,
                    settings={"synchronous_commit": "off"},
                )
                progress(
                    f"{dataset.name}: {label}: {system.name}",
                    cell.note or f"{rate:,.0f} TPS",
                )
    widths = _cells(lab, dataset, "bytes per single row", "bytes")
    rows = max(CLIENTS) * lab.config.pgbench
    for system in lab.postgres:
        engine = lab.engine(dataset, system)
        ((size,),) = engine.rows(f"SELECT pg_table_size('{SINGLE}')")
        widths[system.name].samples.append(size / rows)
        _count_groups(lab, dataset, system)
    check_rows(lab, dataset, SINGLE, SECTION, "all rows after INSERTs")


def _empty_single_table(lab: Lab, dataset: Dataset, system: System) -> None:
    engine = lab.engine(dataset, system)
    create_table(engine, system, dataset, SINGLE)
    engine.rows("DROP SEQUENCE IF EXISTS single_id")
    engine.rows("CREATE SEQUENCE single_id CACHE 1")


def _count_groups(lab: Lab, dataset: Dataset, system: System) -> None:
    """How many row groups the single rows left behind, where there are any:
    none is right, they belong into the row store beside them."""
    if system.groups is None:
        return
    cell = lab.results.add(
        Cell(
            dataset.name,
            SECTION,
            "row groups after single rows",
            system.name,
            "groups",
        )
    )
    ((groups,),) = lab.engine(dataset, system).rows(system.groups.format(table=SINGLE))
    cell.samples.append(groups)


def write_path(lab: Lab, dataset: Dataset) -> None:
    """All of it."""
    if dataset.unique_key:
        point_updates(lab, dataset)
    copy_rounds(lab, dataset)
    change_rounds(lab, dataset)
    if dataset.single_row:
        single_rounds(lab, dataset)
