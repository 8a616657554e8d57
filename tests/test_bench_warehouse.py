"""The data set warehouse: its tables, its queries, its bars."""

from __future__ import annotations

import re

import pytest

from bench.bars import bars
from bench.config import from_environment
from bench.results import Cell, Results
from bench.sqltext import columns, shape
from bench.warehouse_rows import CHANNELS, Size, tables

TABLES = tables(1000)


def test_tables_of_the_warehouse():
    assert len(TABLES) == 25
    for name, table in TABLES.items():
        found = columns(f"CREATE TABLE {name} ({table.ddl})")
        assert [column for column, _ in found] == [c for c, _, _ in table.columns]
        assert len(set(found)) == len(found)
        kinds = dict(found)
        for key in table.key.split(", "):
            assert kinds[key] == "int NOT NULL"


def test_keys_of_other_tables_have_one_name():
    known = {t.key for t in TABLES.values() if ", " not in t.key}
    own = {"ticket_id", "sent_day_id", "recipient_id", "first_day_id"}
    for table in TABLES.values():
        for name, kind, _ in table.columns:
            if name.endswith("_id"):
                assert name in known | own
                assert kind == "int"


def test_sizes_follow_the_sales():
    assert sum(CHANNELS.values()) == 1
    small, large = Size(1), Size(20_000_000)
    assert (small.items, small.customers, small.addresses) == (500, 500, 250)
    assert (large.items, large.customers) == (100_000, 1_000_000)
    ddl = {name: table.ddl for name, table in TABLES.items()}
    assert ddl == {name: table.ddl for name, table in tables(7).items()}


def test_streams_are_of_one_table():
    """Columns drawn alike would depend on each other; items' prices are to."""
    owners: dict[str, set[str]] = {}
    for name, table in TABLES.items():
        for stream in re.findall(r", (\d+)\) &", table.select):
            owners.setdefault(stream, set()).add(name)
    shared = {stream for stream, names in owners.items() if len(names) > 1}
    assert shared == {"61", "72"}


def test_queries_of_the_warehouse():
    pytest.importorskip("duckdb")  # the laboratory brings it
    from bench.warehouse import SCHEMA, queries

    found = queries()
    assert [one.query.name for one in found] == [f"W{n}" for n in range(1, 41)]
    for one in found:
        keys = shape(one.query.sql).keys
        assert len(one.query.order_by) == len(keys)
        assert one.keyed is None and not one.whole
        assert keys or not one.query.limited
    for table in SCHEMA.tables:
        assert any(re.search(rf"\b{table}\b", q.query.sql) for q in found), table


def test_bars_of_the_warehouse():
    found = Results()
    for name, heap, ours, duckdb in (("W1", 99, 9, 4), ("W2", 9, 19, 3)):
        for system, value in (
            ("heap", heap),
            ("colcompress", ours),
            ("duckdb", duckdb),
        ):
            cell = Cell(
                "warehouse", "primary keys, serial", name, system, "ms", [value]
            )
            found.add(cell)
    assert [line[1:] for line in bars(found)[1:]] == [
        ["", "3.16", "1.7", "NO"],  # sqrt(10/5 * 20/4)
        ["W2", "5.00", "8", "yes"],
        ["W2", "2.00", "1", "NO"],
    ]


def test_environment_of_the_warehouse():
    assert from_environment({"DATASETS": "warehouse", "ROWS": "5000"}).rows == 5000
