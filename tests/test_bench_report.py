"""Tables and files of the report, and what the environment asks for."""

from __future__ import annotations

import csv
import json

import pytest

from bench.bars import bars
from bench.config import from_environment
from bench.report import (
    document,
    failures,
    table,
    write_csv,
    write_json,
)
from bench.results import WRONG, Cell, Results
from bench.systems import UnknownSystem, choose, provider
from bench.tables import markdown, plain


@pytest.fixture
def results() -> Results:
    found = Results(
        meta={"server": "PostgreSQL", "settings": {"fsync": "on"}},
        systems=["heap", "other"],
        texts=[("queries", "SELECT 1;")],
    )
    for name, heap, other in (("Q1", [100, 120, 110], [11]), ("Q2", [5], [])):
        for system, samples in (("heap", heap), ("other", other)):
            found.add(Cell("events", "serial", name, system, "ms", list(samples)))
    found.cells[-1].status = WRONG
    found.cells[-1].note = "expected 1, got 2"
    found.add(Cell("events", "size", "table", "heap", "MB", [341.0]))
    found.parts.append(
        {
            "dataset": "events",
            "system": "other",
            "column": "id",
            "encoding": "delta",
            "bytes": 1_500_000,
        }
    )
    return found


def test_bars_name_the_worst():
    found = Results(meta={"run": {"rows": 1_000_000}})

    def add(section: str, name: str, **medians: float) -> None:
        for system, median in medians.items():
            found.add(Cell("events", section, name, system, "ms", [median]))

    add("serial", "Q1", heap=40, colcompress=0.2, duckdb=0.3)  # 1 ms is allowed
    add("serial", "Q2", heap=40, colcompress=12, duckdb=3)
    add("serial", "K9", colcompress=5, duckdb=4)
    add("parallel", "Q1", colcompress=1.1)
    add("parallel", "Q2", colcompress=14)
    add("serial, documents by key", "text, 1 MB", heap=2, colcompress=2.5)
    add("size", "table", colcompress=37)
    for system, median in (("colcompress", 2.0), ("colcompress, 0.1 % deleted", 2.7)):
        found.add(
            Cell("events", "serial, 1 in 1,000 deleted", "Q1", system, "ms", [median])
        )
    header, *lines = bars(found)
    assert header[-1] == "met"
    assert [line[1:] for line in lines] == [
        ["", "2.00", "1", "NO"],  # sqrt(1/1 * 12/3)
        ["Q2", "4.00", "2", "NO"],
        ["K9", "1.25", "2", "yes"],
        ["Q2", "0.30", "1", "yes"],
        ["", "37.00", "38", "yes"],
        ["Q2", "1.06", "1", "NO"],
        ["Q1", "1.35", "1.3", "NO"],
        ["text, 1 MB", "1.25", "1.5", "yes"],
    ]
    assert bars(Results()) == [header]


def test_bars_of_sorted_heap():
    found = Results()

    def add(section: str, name: str, heap: float, ours: float) -> None:
        for system, median in (("heap", heap), ("sorted_heap", ours)):
            found.add(Cell("sorted", section, name, system, "", [median]))

    add("in order, buffers", "point", 4, 3)
    add("in order, TPS, prepared", "point, 1 client", 100, 101)
    add("in order, TPS, prepared", "point, 2 clients", 100, 99)
    add("in order, TPS, prepared", "wide, 1 client", 100, 150)
    add("5 % stray, TPS, simple", "wide, 4 clients", 100, 96)
    add("writes", "INSERT in order", 100, 120)
    add("writes", "random order: compact, or CLUSTER", 2, 8)
    add("writes", "random order: CLUSTER", 2, 2.4)
    add("size", "table, random order: compact, or CLUSTER", 52, 53)
    add("size", "index, random order: compact, or CLUSTER", 22, 0.4)
    latency = "latency of a writer at 1,000 TPS, 99.9th percentile"
    add(latency, "alone", 1, 10)
    add(latency, "beside compact() and VACUUM", 1, 99)
    assert [line[1:] for line in bars(found)[1:]] == [
        ["", "3.00", "3", "yes"],
        ["point", "0.75", "1", "yes"],
        ["point, 2 clients", "0.99", "at least 1", "NO"],
        ["wide, 1 client", "1.50", "at least 1.2", "yes"],
        ["wide, 4 clients", "0.96", "at least 0.95", "yes"],
        ["INSERT in order", "1.20", "at least 1", "yes"],
        ["random order: CLUSTER", "1.20", "1.1", "NO"],
        ["random order: compact, or CLUSTER", "4.00", "6", "yes"],
        ["", "0.72", "0.75", "yes"],
        ["", "0.02", "0.02", "yes"],
        ["", "99.00", "100", "yes"],
    ]


def test_bars_of_rowcompress():
    found = Results(meta={"run": {"rows": 1_000_000}})

    def add(section: str, name: str, **medians: float) -> None:
        for system, median in medians.items():
            found.add(Cell("events", section, name, system, "", [median]))

    add("load", "INSERT ... SELECT", heap=2, rowcompress=3.2)
    add("load", "indexes", heap=2, rowcompress=9)  # no bar
    add("size", "table", heap=341, rowcompress=46)
    add("serial", "Q1", heap=38, rowcompress=0.5, rowcompress_lz4=2.5)
    add("serial", "Q2", heap=100, rowcompress=150, rowcompress_lz4=150)
    add("serial", "Q5", heap=10, rowcompress=11)
    add("serial, with key indexes", "K2", heap=1, rowcompress=2)  # no bar
    add("serial, with key indexes", "K8", heap=20, rowcompress=120)
    add("serial, documents by key", "bytea, 1 MB", heap=2, rowcompress=3.2)
    points = "point SELECT by key, TPS, prepared, 2 clients"
    add(points, "all in memory", heap=100, rowcompress=60)
    add(points, "memory for an eighth of heap's table", heap=100, rowcompress=90)
    add("writes", "single-row INSERT, 1 client", heap=100, rowcompress=79)
    add("writes", "COPY from CSV", heap=100, rowcompress=10)  # no bar
    assert [line[1:] for line in bars(found)[1:]] == [
        ["INSERT ... SELECT", "1.60", "1.5", "NO"],
        ["", "46.00", "72", "yes"],
        ["", "0.50", "2", "yes"],
        ["Q2", "1.50", "2", "yes"],
        ["Q5", "1.10", "1", "NO"],
        ["", "2.50", "2", "NO"],
        ["Q2", "1.50", "1.3", "NO"],
        ["", "120.00", "150", "yes"],
        ["bytea, 1 MB", "1.60", "1.5", "NO"],
        ["", "0.60", "at least 0.5", "yes"],
        ["", "0.90", "at least 1", "NO"],
        ["", "0.79", "at least 0.8", "NO"],
    ]


def test_table_shows_median_and_ratio(results):
    assert table(results, "events", "serial") == [
        ["", "heap", "other"],
        ["Q1", "110", "11.0 (0.10)"],
        ["Q2", "5.00", "WRONG"],
    ]
    assert plain(table(results, "events", "serial")).splitlines()[0].split() == [
        "heap",
        "other",
    ]
    assert "| Q1 | 110 | 11.0 (0.10) |" in markdown(table(results, "events", "serial"))


def test_document_has_all_parts(results):
    text = document(results, [])
    for part in (
        "server: PostgreSQL",
        "fsync = on",
        "| id | 1.50 | delta |",
        "Q2, other: wrong: expected 1, got 2",
        "```sql\nSELECT 1;\n```",
    ):
        assert part in text
    assert len(failures(results)) == 1


def test_files(results, tmp_path):
    write_csv(results, tmp_path / "r.csv")
    with (tmp_path / "r.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 7
    assert rows[0]["value"] == "100"
    assert rows[-2]["status"] == WRONG and rows[-2]["value"] == ""
    write_json(results, tmp_path / "r.json")
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["cells"][0]["median"] == 110


def test_charts(results, tmp_path):
    pytest.importorskip("matplotlib")
    from bench.charts import draw

    charts = draw(results, tmp_path)
    # of the size heap alone has a figure
    assert [chart.name for chart in charts] == ["summary.png", "events-serial.png"]
    for chart in charts:
        assert chart.read_bytes().startswith(b"\x89PNG")
        assert "<svg" in chart.with_suffix(".svg").read_text()


def test_no_chart_is_too_wide(tmp_path):
    pytest.importorskip("matplotlib")
    from bench.charts import draw

    found = Results(systems=["heap", "colcompress", "rowcompress", "duckdb"])
    for number in range(43):
        for system in found.systems:
            found.add(Cell("x", "hot", f"q{number}", system, "ms", [number + 1]))
            name = f"{30 * number} s"
            found.add(Cell("x", "sum, over time", name, system, "ms", [number + 1]))
    found.add(Cell("events", "size", "table", "heap", "MB", [9]))
    found.add(Cell("events", "size", "table", "duckdb", "MB", [3]))
    charts = draw(found, tmp_path)
    assert [chart.name for chart in charts] == [
        "summary.png",
        "x-hot.png",
        "events-size.png",
        "x-over-time.png",
    ]
    for chart in charts:
        assert int.from_bytes(chart.read_bytes()[16:20], "big") <= 1600


def test_environment():
    assert from_environment({"DATASETS": "events"}).rows == 1_000_000
    assert from_environment({}).datasets == ("summary",)
    config = from_environment({"ROWS": "10_000_000", "SYSTEMS": "heap, x", "RUNS": "2"})
    assert (config.rows, config.runs) == (10_000_000, 2)
    assert config.systems == ("heap", "x")
    assert config.timeout == 600
    for bad in (
        {"ROWS": "many"},
        {"RUNS": "0"},
        {"WORKERS": "-1"},
        {"DATASETS": "taxi"},
        {"DATASETS": "summary events"},
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            from_environment(bad)


def names(systems) -> list[str]:
    return [system.name for system in systems]


def test_choice_of_systems():
    assert names(choose((), set().__contains__)) == ["heap", "duckdb"]
    assert names(choose((), {"colcompress", "storage_engine"}.__contains__)) == [
        "heap",
        "colcompress",
        "duckdb",
    ]
    assert names(choose(("duckdb", "mine"), {"mine"}.__contains__)) == [
        "heap",
        "duckdb",
        "mine",
    ]
    with pytest.raises(UnknownSystem, match="citus_columnar"):
        choose(("citus_columnar",), {"colcompress"}.__contains__)


def test_an_access_method_is_found_in_the_scripts(tmp_path):
    (tmp_path / "brought--1.0.sql").write_text(
        "create access method columns\n TYPE TABLE HANDLER h;"
    )
    assert provider(tmp_path, "columns") == "brought"
    assert provider(tmp_path, "column") == "column"
    (heap, system) = choose(
        ("columns",), {"brought"}.__contains__, lambda am: "brought"
    )
    assert (system.name, system.am, system.extension) == (
        "columns",
        "columns",
        "brought",
    )
