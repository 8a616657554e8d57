"""The verdict of a run, and how long a run still takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.config import Config, Live
from bench.report import document, terminal
from bench.results import TIMEOUT, Cell, Results
from bench.timing import Clock, duration, expected
from bench.verdict import losses, table


@pytest.fixture
def results() -> Results:
    found = Results(systems=["heap", "colcompress", "duckdb", "jsonb", "zson"])

    def add(dataset: str, section: str, name: str, unit: str, **medians: float) -> None:
        for system, median in medians.items():
            found.add(Cell(dataset, section, name, system, unit, [median]))

    add("events", "serial", "Q1", "ms", heap=40, colcompress=5, duckdb=5)
    add("events", "serial", "Q2", "ms", heap=40, colcompress=80, duckdb=10)
    add("events", "serial", "K9", "ms", heap=40, colcompress=1)  # no area's
    add("events", "serial, with key indexes", "K1", "ms", heap=1, colcompress=1.05)
    add("events", "serial, with key indexes", "K10", "ms", heap=9, colcompress=3)
    add("events", "writes", "COPY from CSV", "rows/s", heap=100, colcompress=50)
    add("zson github", "size", "table", "MB", jsonb=9, zson=3)
    add("zson consul", "size", "table", "MB", jsonb=8, zson=10)
    found.add(Cell("events", "serial", "Q3", "colcompress", "ms", [], TIMEOUT))
    return found


def test_table_of_the_verdict(results):
    assert table(results) == [
        ["times better than heap (JSON: than jsonb)", "colcompress", "duckdb", "zson"],
        [
            "events queries, serial",
            "2.00 (least 0.50: Q2)",
            "5.66 (least 4.00: Q2)",
            "-",
        ],
        ["rows by key", "0.95", "-", "-"],
        ["COPY", "0.50", "-", "-"],
        ["JSON documents, table", "-", "-", "1.55 (least 0.80: zson consul: table)"],
    ]
    assert len(table(Results(systems=["heap"]))) == 1


def test_what_is_lost_in_words(results):
    assert losses(results) == [
        "colcompress is worse than heap at COPY: COPY from CSV (2.0 times),"
        " events queries, serial: Q2 (2.0 times).",
        "colcompress is worse than DuckDB at events queries, serial: Q2 (8.0 times).",
        "colcompress did not end in time: events Q3.",
        "zson is worse than jsonb at JSON documents, table: zson consul: table"
        " (1.2 times).",
    ]


def test_report_begins_with_the_verdict(results):
    text = document(results, [])
    assert text.index("times better than heap") < text.index("## events")
    assert "colcompress is worse than DuckDB" in text
    assert terminal(results).endswith("(1.2 times).")


def test_time_left():
    clock = Clock(["events-serial-Q1", "events-serial-Q2", "sorted-load"], Config())
    assert clock.end("events-serial-Q1", 4.0) == ""  # too soon for a line
    assert clock.end("sorted-load", 120.0) == "step 2 of 3, about 4 s left"
    assert clock.end("events-serial-Q2", 2.0) == "step 3 of 3"
    assert clock.by_dataset() == {"events": 6.0, "sorted": 120.0}


def test_expected_times():
    config = replace(Config(), live=Live(minutes=2, rest=30))
    assert expected("live", config) == 4 * (120 + 30 + 60)
    assert expected("events-load", config) > expected("events-serial-Q1", config)
    longer = replace(config, tpcb=60)
    assert expected("pgbench-20", longer) > 10 * expected("pgbench-20", config)
    assert (duration(89), duration(150)) == ("about 89 s", "about 2 min")
