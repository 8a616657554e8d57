"""The queries on a table that is not fresh: rows of the delta, deleted rows.

A tenth of the rows, spread over the table, is inserted by small statements,
which a columnar table keeps as single rows; then 1 % of all rows, chosen at
random, is deleted. Nothing is compacted before the queries run.
"""

from __future__ import annotations

from bench.dataset import Dataset
from bench.lab import Lab
from bench.load import build_indexes, check_rows, create_table, settle
from bench.progress import progress
from bench.sections import DELTA as SECTION
from bench.systems import System

STATEMENT = 500  # rows per small INSERT: below what makes a row group
KEPT = "kept"


def make_delta(lab: Lab, dataset: Dataset) -> None:
    """Load the tables of heap and of ours anew, and age them."""
    if len(lab.keyed) < 2:
        return
    for system in lab.keyed:
        _age(lab, dataset, system)
        progress(f"{dataset.name}: delta and deleted rows: {system.name}")
    check_rows(lab, dataset, dataset.name, SECTION, "all rows read", lab.keyed)


def _age(lab: Lab, dataset: Dataset, system: System) -> None:
    engine = lab.engine(dataset, system)
    table, residue = dataset.name, dataset.residue
    engine.rows(f"DROP TABLE IF EXISTS {KEPT}")
    engine.rows(f"CREATE TABLE {KEPT} AS SELECT * FROM {table}")
    create_table(engine, system, dataset, table)
    engine.rows(
        f"INSERT INTO {table} SELECT * FROM {KEPT}"
        f" WHERE ({residue}) % 10 <> 3 ORDER BY {dataset.order}"
    )
    build_indexes(
        lab,
        dataset,
        system,
        dataset.indexes.get(system.indexes, ()),
        "indexes, for the delta",
    )
    engine.rows(
        f"CREATE TEMP TABLE small AS SELECT (row_number() OVER () - 1) / {STATEMENT}"
        f" AS part, r FROM {KEPT} AS r WHERE ({residue}) % 10 = 3"
    )
    engine.rows("CREATE INDEX ON small (part)")
    engine.rows(
        "DO $$ BEGIN"
        " FOR i IN 0 .. (SELECT coalesce(max(part), -1) FROM small) LOOP"
        f" INSERT INTO {table} SELECT (r).* FROM small WHERE part = i;"
        " COMMIT; END LOOP; END $$"
    )
    engine.rows(
        f"DELETE FROM {table} WHERE hashint8extended(({residue})::bigint, 77) % 100 = 0"
    )
    engine.rows(f"DROP TABLE small, {KEPT}")
    settle(lab, dataset, system)
